"""podium.toml, PODIUM_SYSTEM and the default system; `podium init`, shell completion, and the first run."""

import json
import os
from pathlib import Path
from types import SimpleNamespace

import polars as pl
import pytest
from commands import run

from podium.cli import demo, systems
from podium.cli.terminal import show
from podium.cli.terminal.app import find_settings
from podium.cli.terminal.options import say_that_it_compiles
from podium.errors import MissingExtraError

RACE = Path(__file__).parents[2] / "examples" / "race.csv"
SEASON = RACE.with_name("season.csv")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Return a folder for podium.toml, and run commands in a folder below it."""
    below = tmp_path / "club" / "2026"
    below.mkdir(parents=True)
    monkeypatch.chdir(below)
    monkeypatch.delenv("PODIUM_SYSTEM", raising=False)
    return below.parent


def write(folder, text):
    (folder / "podium.toml").write_text(text, encoding="utf-8")


def ratings(*words):
    return run("rate", *words, "-f", "csv")


def test_commands_use_elo_without_a_named_system(folder):
    assert ratings(RACE) == ratings(RACE, "-s", "elo")
    assert run("rate", RACE).startswith("elo\n")
    assert run("evaluate", RACE) == run("evaluate", RACE, "-s", "elo")


def test_settings_of_a_folder_apply_below_it(folder):
    (folder / "data").mkdir()
    (folder / "data" / "races.csv").write_bytes(RACE.read_bytes())
    write(folder, 'system = "elo"\nfile = "data/races.csv"\n[parameters]\nk = 40\n[leaderboard]\ntop = 1\n')
    assert ratings() == ratings(RACE, "-s", "elo:k=40") != ratings(RACE, "-s", "elo")
    assert run("leaderboard").splitlines()[0] == "elo:k=40"
    assert len(run("leaderboard", "-f", "csv").splitlines()) == 2
    assert "all good" in run("check")
    run("plot", "histories")
    assert Path("histories.svg").exists()


def test_options_override_the_environment_which_overrides_settings(folder, monkeypatch):
    write(folder, 'system = "elo:k=40"\nperiod = "1d"\n[leaderboard]\ntop = 1\n')
    assert ratings(RACE) == ratings(RACE, "-s", "elo:k=40", "--period", "1d")
    assert ratings(RACE, "--set", "Scale=300") == ratings(RACE, "-s", "elo:k=40,scale=300")
    assert ratings(RACE, "-s", "elo", "--period", "event") != ratings(RACE, "-s", "elo:k=40", "--period", "event")
    assert len(run("leaderboard", RACE, "--top", "3", "-f", "csv").splitlines()) == 4
    monkeypatch.setenv("PODIUM_SYSTEM", "elo:k=10")
    assert ratings(RACE) == ratings(RACE, "-s", "elo:k=10")
    assert ratings(RACE, "-s", "elo:k=5") != ratings(RACE)


def test_format_and_map_apply_only_to_the_settings_own_file(folder):
    (folder / "own.csv").write_text("Race,Driver,Pos\n1,Ana,1\n1,Ben,2\n")
    (folder / "own.toml").write_text('[columns]\nevent_id = "Race"\nplayer = "Driver"\nposition = "Pos"\n')
    write(folder, 'file = "own.csv"\nmap = "own.toml"\n')
    assert "Ana" in ratings()
    assert ratings(RACE) == run("rate", RACE, "-s", "elo", "-f", "csv")
    write(folder, 'map = "own.toml"\n')
    assert "Ana" in ratings("../own.csv")


def test_settings_name_the_pool_and_the_database(folder):
    write(folder, 'pool = "karts"\ndb = "club.db"\n')
    run("pool", "create", "karts")
    assert (folder / "club.db").exists()
    assert json.loads(run("pool", "list", "-f", "json"))[0]["system"] == "elo"
    assert "'race-17'" in run("void", "--event", "race-17", status=2)
    assert run("leaderboard", SEASON, "-f", "csv") == run("leaderboard", SEASON, "--pool", "karts", "-f", "csv")
    write(folder, "")
    assert "Name it with --pool" in run("void", "--event", "race-17", status=2)


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("system = elo\n", None, "is not TOML"),
        ('file = "a.csv"\n\nsytem = "elo"\n', 3, "sytem is not a setting; did you mean 'system'?"),
        ("# ours\nsystem = 3\n", 2, "system is 3; it must be text"),
        ('[parameters]\nk = 20\n[leaderboard]\ntop = "ten"\n', 4, "top is 'ten'; it must be a number"),
        ("[leaderboard]\ntopp = 3\n", 2, "topp is not a setting; did you mean 'top'?"),
        ('system = "eloo"\n', 1, "'eloo' is not a system; did you mean 'elo'?"),
        ("[parameters]\n\nk = -1\n", 3, "k is -1"),
        ('format = "pgnn"\n', 1, "'pgnn' is not a format; did you mean 'pgn'?"),
        ('period = "3x"\n', 1, "period '3x' is not a time span"),
        ("[leaderboard]\nmax_deviation = nan\n", 2, "max_deviation is nan; it must be 0 or more"),
        ("[leaderboard]\ntop = 0\n", 2, "top is 0; it must be 1 or more"),
        ('[leaderboard]\nactive_within = "soon"\n', 2, "'soon' is not a time span"),
        ("parameters = 3\n", 1, "it must be a table of the system's parameters"),
    ],
)
def test_errors_in_the_settings_name_the_line(folder, text, line, message):
    write(folder, text)
    where = f"{folder / 'podium.toml'}: " if line is None else f"{folder / 'podium.toml'}, line {line}: "
    shown = run("rate", RACE, status=2)
    assert shown.startswith(f"podium: {where}")
    assert message in shown
    assert "Usage" in run("rate", "--help")  # help needs no settings


@pytest.mark.skipif(os.name != "posix" or os.getuid() != 0, reason="only root can give a file to another user")
def test_another_users_settings_run_no_code(folder):
    (folder / "own.py").write_text("raise SystemExit('ran')\n")
    write(folder, 'system = "own.py:Own"\n')
    os.chown(folder / "podium.toml", 65534, 65534)
    assert "the file belongs to another user" in run("rate", RACE, status=2)


def test_init_accepts_answers_as_options(folder):
    assert "podium.toml is written" in run("init", "--file", RACE, "--system", "elo:k=20", "--pool", 'the "best"')
    settings = find_settings()
    assert (settings.get("system"), settings.get("file"), settings.get("pool")) == ("elo:k=20", str(RACE), 'the "best"')
    assert "already exists" in run("init", status=2)
    run("init", "--force")
    assert find_settings().values == {"system": "elo"}
    assert "'eloo' is not a system" in run("init", "--force", "-s", "eloo", status=2)
    assert find_settings().values == {"system": "elo"}


def test_init_asks_four_questions_in_a_terminal(folder, monkeypatch):
    answers = iter(["races.csv", "", "elo", "karts"])
    questions = []

    def prompt(question, default):
        questions.append(question)
        return next(answers) or default

    monkeypatch.setattr(systems.typer, "prompt", prompt)
    monkeypatch.setattr(systems.sys, "stdin", SimpleNamespace(isatty=lambda: True))
    systems.init(None, None, None, None, force=False)
    assert questions == list(systems.QUESTIONS.values())
    assert find_settings().values == {"file": "races.csv", "system": "elo", "pool": "karts"}


def test_a_shell_completes_systems_without_loading_the_engine(monkeypatch):
    """A shell asks with environment variables."""
    monkeypatch.setenv("_PODIUM_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", "podium rate results.csv --system gl")
    monkeypatch.setenv("COMP_CWORD", "4")
    assert run("rate").split() == ["glicko", "glicko2"]
    monkeypatch.setenv("COMP_WORDS", "podium plot ga")
    monkeypatch.setenv("COMP_CWORD", "2")
    assert run("plot").split() == ["gamma"]


def test_the_demo_starts_with_an_explanation_and_needs_no_chart(folder, monkeypatch):
    def refuse(*_):
        raise MissingExtraError("a chart", "charts")

    monkeypatch.setattr(demo, "draw", refuse)
    monkeypatch.setattr("podium.systems.names", lambda: ("trials",))  # one of the demo's systems
    shown = run("demo")
    assert shown.startswith("Why did the winner lose points?")
    assert shown.splitlines()[-2:] == [
        "No chart is drawn: a chart needs the extra 'charts': pip install 'podium-ratings[charts]'",
        "To see its pages in your browser: podium demo --serve",
    ]
    assert list(Path.cwd().iterdir()) == []


def test_tables_show_a_count_of_disconnects_and_csv_the_bits(capsys):
    board = pl.DataFrame({"player": ["ana"], "disconnects": pl.Series([4295036928], dtype=pl.UInt64)})
    show.show(board, show.Format.table)
    show.show(board, show.Format.csv)
    assert capsys.readouterr().out.split() == [
        "player",
        "disconnects",
        "ana",
        "3",
        "player,disconnects",
        "ana,4295036928",
    ]


def test_the_first_run_announces_compiling(capsys):
    from podium.kernels.compiled import announce_compiling, compile_kernel

    found_later = []
    announce_compiling(found_later.append)
    for _ in range(2):
        compile_kernel(double, cached=False)(2.0)
    assert found_later == [False]
    for later, text in (
        (True, "once per system; later runs use"),
        (False, "as in every run with your own system"),
    ):
        say_that_it_compiles(later)
        assert f"podium: compiling, {text}" in capsys.readouterr().err


def double(x):
    return 2.0 * x


EVIL = "from pathlib import Path\nPath(__file__).with_name('ran').touch()\n"


def test_code_named_in_settings_runs_only_when_trusted(folder):
    (folder / "own.py").write_text(EVIL)
    write(folder, 'system = "own.py:Own"\n')
    for words in (("rate", RACE), ("leaderboard", RACE), ("evaluate", RACE), ("rate", RACE, "--set", "k=3")):
        message = run(*words, status=2)
        assert "line 1: it names Python code" in message
        assert "`podium trust`" in message
    assert not (folder / "ran").exists()
    assert "may run" in run("trust")
    run("rate", RACE, status=2)  # the file has no system
    assert (folder / "ran").exists()


@pytest.mark.parametrize("changed", ["own.py", "podium.toml"])
def test_a_changed_file_is_no_longer_trusted(folder, changed):
    (folder / "own.py").write_text(EVIL)
    write(folder, 'system = "own.py:Own"\n')
    run("trust")
    with (folder / changed).open("a") as file:
        file.write("# more\n")
    assert "changed since" in run("rate", RACE, status=2)
    assert not (folder / "ran").exists()
    run("trust")
    assert "changed since" not in run("rate", RACE, status=2)


def test_a_system_file_runs_only_trusted_code(folder):
    (folder / "own.py").write_text(EVIL)
    tuned = folder / "tuned.toml"
    tuned.write_text(f'system = "{folder / "own.py"}:Own"\n')
    assert f"`podium trust {tuned}`" in run("rate", RACE, "--system-file", tuned, status=2)
    assert not (folder / "ran").exists()
    run("trust", tuned)
    run("rate", RACE, "--system-file", tuned, status=2)
    assert (folder / "ran").exists()


def test_trust_reports_missing_settings_and_code(folder):
    assert "podium init" in run("trust", status=2)
    write(folder, 'system = "elo"\n')
    assert "names no Python code" in run("trust")
    write(folder, 'system = "none.py"\n')
    assert "none.py: No such file" in run("trust", status=2)
