"""The command in a separate process ends at once, with complete output and its status."""

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
    """Run the command as its script does, after some other code, with buffered output."""
    command = [sys.executable, "-c", STARTED.format(before=before), *words]
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | streams
    environment = os.environ | {"PYTHONUNBUFFERED": ""}
    return subprocess.run(command, check=False, text=True, encoding="utf-8", env=environment, **streams)


def test_the_tested_function_is_the_projects_script():
    assert tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]["scripts"] == {"podium": "podium.cli:run"}


def test_python_runs_the_package_as_the_command():
    done = subprocess.run([sys.executable, "-m", "podium", "--version"], check=True, stdout=subprocess.PIPE, text=True)
    assert done.stdout == start("--version").stdout


def test_output_into_a_pipe_is_complete():
    """Python buffers output into a pipe, so the rest is written when it is flushed."""
    done = start("systems", "--format", "json")
    assert done.returncode == 0
    assert {system["name"] for system in json.loads(done.stdout)} >= {"elo", "trueskill"}


@pytest.mark.parametrize(("words", "status"), [(["check", "no such.csv"], 2), (["nothing"], 2), (["--version"], 0)])
def test_the_exit_status_is_the_commands(words, status):
    done = start(*words)
    assert done.returncode == status
    assert done.stderr.startswith("podium: ") == (status != 0)


def test_a_group_without_a_command_shows_its_help():
    assert start("pool").stderr == start("pool", "--help").stdout


def test_an_interrupted_command_says_what_is_kept():
    stop = "import podium.cli.rating as r; r.rated_file = lambda *_, **__: (_ for _ in ()).throw(KeyboardInterrupt)"
    done = start("rate", "results.csv", before=stop)
    assert (done.returncode, done.stdout) == (130, "")
    assert done.stderr.startswith("podium: interrupted. Finished files and database changes are kept; ")


def test_exit_handlers_run():
    done = start("--version", before="import atexit; atexit.register(lambda: print('registered'))")
    assert done.stdout.splitlines()[-1] == "registered"


def test_running_threads_finish():
    work = "import threading, time; threading.Timer(0.3, lambda: print('worked', file=sys.stderr)).start()"
    assert start("--version", before=work).stderr == "worked\n"


def test_loaded_objects_are_not_destroyed_one_by_one():
    end = "{'__del__': lambda self, write=os.write: write(2, b'apart')}"
    noticed = f"import os; loaded = type('Loaded', (), {end})()"
    assert start("--version", before=noticed).stderr == ""
    assert start("pool", "--help", before=noticed).stderr == "apart"  # a service command destroys them


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no full device")
def test_lost_output_is_an_error():
    with Path("/dev/full").open("w") as full:
        done = start("--version", stdout=full)
    assert (done.returncode, done.stderr) == (2, "podium: [Errno 28] No space left on device\n")


def test_a_command_loads_no_other_command():
    loaded = (
        "import atexit, sys; atexit.register(lambda: print(*(name for name in sys.modules if 'podium.cli' in name)))"
    )
    modules = start("rate", "--help", before=loaded).stdout.splitlines()[-1].split()
    assert "podium.cli.rating" in modules
    assert not {"podium.cli.demo", "podium.cli.publishing", "podium.cli.service.storing"} & set(modules)


@pytest.mark.parametrize("name", sorted(NAMES))
def test_a_command_has_the_same_help_alone_and_among_others(name):
    alone, among_all = (typer.main.get_command(app) for app in (build(name), build()))
    assert alone.list_commands(None) == [name]
    helps = [app.commands[name].get_help(typer.Context(app.commands[name])) for app in (alone, among_all)]
    assert helps[0] == helps[1]


def test_commands_with_a_service_or_database_are_long_lived():
    assert {"serve", "db", "demo", "ingest", "verify", "pool"} <= LONG_LIVED
    assert not LONG_LIVED & {name for _, name, _ in COMMANDS["Ratings"]}


def test_podium_without_a_command_explains_the_start_in_five_lines(podium_command):
    status, shown, errors = podium_command()
    assert (status, errors) == (0, "")
    assert len(shown.splitlines()) == 5
    assert max(map(len, shown.splitlines())) <= 100
    for words in ("podium demo", "podium rate FILE", "podium serve", "podium --help", "https://"):
        assert words in shown


def test_a_shell_completes_the_first_word():
    before = "import os; os.environ |= {'_PODIUM_COMPLETE': 'complete_bash', 'COMP_WORDS': 'podium rat'}; "
    assert start(before=before + "os.environ['COMP_CWORD'] = '1'").stdout.split() == ["rate"]


def test_the_list_of_commands_matches_the_commands():
    """The list is written without loading the commands."""
    found = start("--help")
    assert (found.returncode, found.stderr) == (0, "")
    assert found.stdout == start("--help", "--help").stdout  # this loads the commands


def test_the_version_and_the_first_lines_load_no_library():
    code = "import sys; from podium.cli import main\ntry: main()\nfinally: assert 'typer' not in sys.modules"
    for words in ([], ["--version"]):
        done = subprocess.run([sys.executable, "-c", code, *words], check=True, stdout=subprocess.PIPE, text=True)
        assert done.stdout.lower().startswith("podium")
