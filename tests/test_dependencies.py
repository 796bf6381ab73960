"""Every imported library is declared, in the base or in the extras of the code that imports it."""

import json
import os
import re
import subprocess
import sys
import tomllib
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, requires
from pathlib import Path

import pytest
from extent import FULL

from podium.cli.commands import COMMANDS

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "podium"
# The extras of code by folder or file. Each extra of a file must declare the file's imports.
EXTRAS = {
    "analysis/tuning.py": {"tune"},
    "cli/service": {"service"},
    "cli/terminal/options.py": {"excel"},
    "client": {"client"},
    "importers/sources.py": {"zstd"},
    "pages/environment.py": {"charts", "service"},
    "pages/share_picture.py": {"charts", "service"},
    "reporting": {"charts"},
    "service": {"service"},
    "sklearn.py": {"sklearn"},
    "log": {"service"},
    "pool": {"service"},
    "store": {"service"},
    "views": {"service"},
}

NAME = re.compile(r"[\w.-]+")
IMPORT = re.compile(r"^ *(?:import (\w+)|from (\w+)[\w.]* import )", re.MULTILINE)
DISTRIBUTIONS = {"sklearn": "scikit-learn", "vl_convert": "vl-convert-python"}  # modules with other names


def plain(name):
    """Return a distribution's normalized name (PEP 503)."""
    return re.sub(r"[-_.]+", "-", name).lower()


def declared():
    """Return the distributions that the base and each extra declare."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    client = tomllib.loads((ROOT / "client" / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    parts = {"base": project["dependencies"]} | project["optional-dependencies"] | {"client": client["dependencies"]}
    return {part: {plain(NAME.match(each)[0]) for each in lines} for part, lines in parts.items()}


def imported(path):
    """Return a file's top-level imports at any depth, except those of Python and Podium."""
    text = path.read_text(encoding="utf-8")
    found = {one or other for one, other in IMPORT.findall(text)}
    return {DISTRIBUTIONS.get(each, plain(each)) for each in found - sys.stdlib_module_names - {"podium"}}


def test_each_import_is_declared_for_its_code():
    by_part = declared()
    missing = set()
    for path in SOURCE.rglob("*.py"):
        name = path.relative_to(SOURCE).as_posix()
        extras = next((each for folder, each in EXTRAS.items() if name == folder or name.startswith(f"{folder}/")), ())
        parts = [by_part["base"] | by_part[extra] for extra in extras] or [by_part["base"]]
        missing |= {f"{name} imports {each}, which is not declared" for part in parts for each in imported(path) - part}
    assert missing == set()


def closure(names):
    """Return these distributions and their installed requirements."""
    found, waiting = set(), [*names]
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            with suppress(PackageNotFoundError):  # needed on another platform
                needed = [each for each in requires(name) or [] if "extra ==" not in each]
                waiting += [plain(NAME.match(each)[0]) for each in needed]
    return found


SHEET = "Race,Date,Place,Driver\n" + "".join(
    f"{race},2025-03-{race:02},{place},{driver}\n"
    for race in range(1, 13)
    for place, driver in enumerate(("Ana", "Bo", "Cy")[race % 3 :] + ("Ana", "Bo", "Cy")[: race % 3], start=1)
)
QUICK = [
    ("check", "r.csv"),
    ("columns",),
    ("import", "r.csv", "-o", "t.csv"),
    ("leaderboard", "r.csv"),
    ("standings", "r.csv"),
    ("explain", "r.csv", "--event", "12", "--player", "Ana"),
    ("systems", "elo"),
    ("plot", "remoteness"),
    ("report", "r.csv"),
    ("site", "r.csv", "-o", "web"),
    ("init", "--file", "r.csv"),
    ("trust",),
    ("tune", "r.csv", "-s", "elo", "--train-until", "60%"),
    ("pool", "list"),
    ("key", "list"),
    ("db", "init"),
    ("verify",),
    ("ingest", "r.csv"),
    ("serve",),
]
LINES = [
    *QUICK,
    ("rate", "r.csv", "--history", "h.csv"),
    ("predict", "r.csv", "--entrants", "Ana,Bo"),
    ("stakes", "r.csv", "--entrants", "Ana,Bo"),
    ("seed", "r.csv", "--names"),
    ("strength", "r.csv"),
    ("hindsight", "r.csv"),
    ("audit", "r.csv"),
    ("evaluate", "r.csv", "-s", "elo"),
    ("simulate", "-o", "s.csv", "--skills", "k.csv", "--set", "players=6", "--set", "events=60"),
    ("recovery-test", "s.csv", "--skills", "k.csv", "-s", "elo"),
]
BARE = """
import io, json, sys, traceback
from contextlib import redirect_stderr, redirect_stdout

absent, lines = map(json.loads, sys.argv[1:])
sys.modules |= dict.fromkeys(absent)  # which Python takes for modules that it cannot find
from podium.cli import main
ends = []
for words in lines:
    sys.argv[1:], out, err = words, io.StringIO(), io.StringIO()
    try:
        with redirect_stdout(out), redirect_stderr(err):
            main()
    except SystemExit as end:
        ends.append((end.code, err.getvalue()))
    except BaseException:
        ends.append((99, traceback.format_exc()))
print(json.dumps(ends))
"""


def refuse_crashes(lines, ends):
    """Fail if a command neither worked nor named the extra that it needs."""
    bad = [
        (words, status, err)
        for words, (status, err) in zip(lines, ends, strict=True)
        if (status or 0) != 0 and not (status == 2 and "needs the extra" in err)
    ]
    assert bad == []


def test_the_lines_cover_all_commands_without_a_store():
    tried = {words[0] for words in LINES}
    rows = {name for heading, rows in COMMANDS.items() if heading != "Live service" for _, name, _ in rows}
    assert rows - tried == {"lab", "demo"}


def test_without_extras_commands_run_or_name_their_extra(tmp_path):
    """The process cannot import the libraries of any extra."""
    (tmp_path / "r.csv").write_text(SHEET, encoding="utf-8")
    lines = LINES if FULL else QUICK
    modules = {name: module for module, name in DISTRIBUTIONS.items()}
    absent = {each for path in SOURCE.rglob("*.py") for each in imported(path)} - closure(declared()["base"])
    assert {"jinja2", "sqlalchemy"} <= absent
    command = [
        sys.executable,
        "-c",
        BARE,
        json.dumps([modules.get(each, each.replace("-", "_")) for each in absent]),
        json.dumps(lines),
    ]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, cwd=tmp_path)
    refuse_crashes(lines, json.loads(done.stdout))


@pytest.mark.skipif(not FULL, reason="an environment takes a minute: make soak makes one")
def test_from_the_bare_wheel_commands_run_or_name_their_extra(tmp_path):
    """The environment has this tree's wheel and its required packages."""
    uv, wheels, home = Path(sys.executable).with_name("uv"), tmp_path / "wheels", tmp_path / "home"
    home.mkdir()
    (home / "r.csv").write_text(SHEET, encoding="utf-8")
    subprocess.run([uv, "build", "--quiet", "--wheel", "--out-dir", wheels, ROOT], check=True)
    subprocess.run([uv, "venv", "--quiet", "--python", sys.executable, tmp_path / "bare"], check=True)
    python = tmp_path / "bare" / "bin" / "python"
    (wheel,) = wheels.glob("*.whl")
    subprocess.run([uv, "pip", "install", "--quiet", "--python", python, wheel], check=True)
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    command = [python, "-c", BARE, "[]", json.dumps([*LINES, ("demo",)])]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, cwd=home, env=environment)
    *ends, demo = json.loads(done.stdout)
    refuse_crashes(LINES, ends)
    assert demo[0] in (None, 0), demo
