"""The command in a process of its own: it leaves at once, with all that it wrote and its status."""

import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import typer

from podium.cli.commands import COMMANDS, LONG_LIVED, NAMES, build

PROJECT = Path(__file__).parents[2] / "pyproject.toml"
STARTED = "import sys; {before}; from podium.cli import run; run()"


def start(*words, before="pass", **streams):
    """Run the command as its script does, after some other code; what it writes waits in buffers."""
    command = [sys.executable, "-c", STARTED.format(before=before), *words]
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | streams
    environment = os.environ | {"PYTHONUNBUFFERED": ""}
    return subprocess.run(command, check=False, text=True, encoding="utf-8", env=environment, **streams)


def test_the_script_is_what_is_tested_here():
    assert tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]["scripts"] == {"podium": "podium.cli:run"}


def test_python_runs_the_package_as_the_command():
    done = subprocess.run([sys.executable, "-m", "podium", "--version"], check=True, stdout=subprocess.PIPE, text=True)
    assert done.stdout == start("--version").stdout


def test_output_into_a_pipe_is_whole():
    """Into a pipe Python writes only what fills a buffer; the rest when it is flushed."""
    done = start("systems", "--format", "json")
    assert done.returncode == 0
    assert {system["name"] for system in json.loads(done.stdout)} >= {"elo", "trueskill"}


@pytest.mark.parametrize(("words", "status"), [(["check", "no such.csv"], 2), (["nothing"], 2), (["--version"], 0)])
def test_the_status_is_that_of_the_command(words, status):
    done = start(*words)
    assert done.returncode == status
    assert done.stderr.startswith("podium: ") == (status != 0)


def test_a_group_alone_shows_its_help_as_it_is():
    assert start("pool").stderr == start("pool", "--help").stdout


def test_what_is_interrupted_says_what_it_leaves():
    stop = "import podium.cli.rating as r; r.rated_file = lambda *_, **__: (_ for _ in ()).throw(KeyboardInterrupt)"
    done = start("rate", "results.csv", before=stop)
    assert (done.returncode, done.stdout) == (130, "")
    assert done.stderr.startswith("podium: interrupted. Finished files and database changes are kept; ")


def test_what_is_to_be_done_at_the_end_is_done():
    done = start("--version", before="import atexit; atexit.register(lambda: print('registered'))")
    assert done.stdout.splitlines()[-1] == "registered"


def test_a_thread_at_work_ends_its_work():
    work = "import threading, time; threading.Timer(0.3, lambda: print('worked', file=sys.stderr)).start()"
    assert start("--version", before=work).stderr == "worked\n"


def test_python_does_not_take_apart_what_is_loaded():
    end = "{'__del__': lambda self, write=os.write: write(2, b'apart')}"
    noticed = f"import os; loaded = type('Loaded', (), {end})()"
    assert start("--version", before=noticed).stderr == ""
    assert start("pool", "--help", before=noticed).stderr == "apart"  # a command of the service


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no full device")
def test_output_that_nobody_takes_is_not_lost_in_silence():
    with Path("/dev/full").open("w") as full:
        done = start("--version", stdout=full)
    assert (done.returncode, done.stderr) == (2, "podium: [Errno 28] No space left on device\n")


def test_a_command_loads_no_other():
    loaded = (
        "import atexit, sys; atexit.register(lambda: print(*(name for name in sys.modules if 'podium.cli' in name)))"
    )
    modules = start("rate", "--help", before=loaded).stdout.splitlines()[-1].split()
    assert "podium.cli.rating" in modules
    assert not {"podium.cli.demo", "podium.cli.publishing", "podium.cli.service.storing"} & set(modules)


@pytest.mark.parametrize("name", sorted(NAMES))
def test_a_command_alone_is_what_it_is_among_all(name):
    alone, among_all = (typer.main.get_command(app) for app in (build(name), build()))
    assert alone.list_commands(None) == [name]
    helps = [app.commands[name].get_help(typer.Context(app.commands[name])) for app in (alone, among_all)]
    assert helps[0] == helps[1]


def test_what_serves_or_holds_a_database_is_long_lived():
    assert {"serve", "db", "demo", "ingest", "verify", "pool"} <= LONG_LIVED
    assert not LONG_LIVED & {name for _, name, _ in COMMANDS["Ratings"]}


def test_podium_alone_says_in_five_lines_how_to_begin(podium_command):
    status, shown, errors = podium_command()
    assert (status, errors) == (0, "")
    assert len(shown.splitlines()) == 5
    assert max(map(len, shown.splitlines())) <= 100
    for words in ("podium demo", "podium rate FILE", "podium serve", "podium --help", "https://"):
        assert words in shown


def test_a_shell_completes_a_line_without_words():
    before = "import os; os.environ |= {'_PODIUM_COMPLETE': 'complete_bash', 'COMP_WORDS': 'podium rat'}; "
    assert start(before=before + "os.environ['COMP_CWORD'] = '1'").stdout.split() == ["rate"]


def test_the_list_of_commands_has_the_lines_that_the_commands_have():
    """It is written without loading them."""
    found = start("--help")
    assert (found.returncode, found.stderr) == (0, "")
    assert found.stdout == start("--help", "--help").stdout  # which loads them


def test_the_version_and_the_first_lines_load_no_library_of_the_commands():
    code = "import sys; from podium.cli import main\ntry: main()\nfinally: assert 'typer' not in sys.modules"
    for words in ([], ["--version"]):
        done = subprocess.run([sys.executable, "-c", code, *words], check=True, stdout=subprocess.PIPE, text=True)
        assert done.stdout.lower().startswith("podium")
