"""`podium import`, and `--format` on commands that accept results."""

import sqlite3

import polars as pl
import pytest
import typer
from commands import run
from importing import REPORT, WHOLE, ZAKSTUNTS, games, match, tournament, write_input

import podium
from podium.cli.commands import build
from podium.cli.terminal.options import SUFFIXES


def test_an_import_describes_and_writes_results_and_names(podium_command, tmp_path):
    report = write_input(tmp_path, "xonstat", REPORT.replace("P Ben=", "P bot#1\nP Ben="))
    out, names = tmp_path / "results.csv", tmp_path / "names.csv"
    status, output, errors = podium_command("import", "xonstat", report, "-o", out, "--names", names)
    assert (status, errors) == (0, "")
    assert output.splitlines() == ["imported: 2 rows, 1 event, 2 players", "dropped: 1 bot"]
    assert out.read_text().splitlines()[1].endswith(",dm,Xonotic,Ana=,1,20,finished,590.5,600,true")
    assert names.read_text().splitlines() == ["player,name,last_event_id", "Ana=,Ana^,My server/7.1767225600.000042"]


def test_a_dry_run_shows_the_first_rows_and_writes_nothing(podium_command, tmp_path):
    path = write_input(tmp_path, "pgn", games(*((number, "1-0") for number in range(9))))
    out = tmp_path / "results.csv"
    status, output, _ = podium_command("import", "pgn", path, "-o", out, "--dry-run")
    assert (status, out.exists()) == (0, False)
    assert "imported: 18 rows, 9 events, 2 players" in output
    assert output.count("lichess.org/") == 10


def test_invalid_input_writes_nothing_and_ends_with_status_2(podium_command, tmp_path):
    path = write_input(tmp_path, "zakstunts", ZAKSTUNTS + "C9,Cy,0,0,\n")
    out = tmp_path / "results.csv"
    status, output, errors = podium_command("import", "zakstunts", path, "-o", out)
    assert (status, output, out.exists()) == (2, "", False)
    assert errors.startswith(f"podium: {path} row 6, column Rank: '0.0' must be a number above 0\n")
    status, output, errors = podium_command("import", "zakstunts", path, "-o", out, "--skip-bad")
    assert (status, output.splitlines()[1]) == (0, "skipped: 1 bad event")
    assert errors == f"podium: skipped: {path} row 6, column Rank: '0.0' must be a number above 0\n"
    assert out.read_text().splitlines()[1:] == ["ZCTP1,zakstunts,Ana,1,finished", "ZCTP1,zakstunts,Ben,1,disqualified"]


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_written_files_can_be_read_back(suffix, podium_command, tmp_path):
    path = write_input(tmp_path, "challonge", tournament(match()))
    out = tmp_path / f"results{suffix}"
    assert podium_command("import", "challonge", path, "-o", out)[0] == 0
    imported = podium.importers.read_format("challonge", [path]).table
    read = podium.read_results(out, lenient=suffix == ".xlsx")  # workbooks are always read leniently
    assert read.frame.equals(podium.read_results(imported).frame)


def test_standard_input_and_output_are_supported(tmp_path):
    piped = run("import", "pgn", "-", "-o", "-", stdin=games(("a", "1-0")))
    assert piped.splitlines()[0] == "event_id,started_at,pool,mode,player,position,status,ranked"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("import", "pgnn", "FILE", "-o", "out.csv"), "'pgnn' is not a format; did you mean 'pgn'?"),
        (
            ("import", "pgn", "FILE"),
            "no output file is named. Write the results with --out FILE, or see them with --dry-run.",
        ),
        (("import", "pgn", "FILE", "-o", "out.xyz"), "the suffix must be one of .csv"),
        (
            ("import", "zakstunts", "FILE", "-o", "FILE"),
            "this command already reads or writes this file",
        ),
        (
            ("import", "zakstunts", "FILE", "-o", "out.csv", "--names", "out.csv"),
            "out.csv: this command already reads or",
        ),
        (("import", "stk", "FILE", "-o", "out.csv", "--timezone", "Mars/Base"), "there is no time zone 'Mars/Base'"),
        (("import", "stk", "FILE", "-o", "out.csv", "--player", "fide"), "stk has no FIDE IDs"),
        (("import", "stk", "FILE", "-o", "out.csv", "--map", "x.toml"), "stk needs no map. Maps are for tables (csv)."),
        (("import", "pgn", "nowhere.pgn", "-o", "out.csv"), "nowhere.pgn: cannot be read"),
        (("rate", "FILE", "--format", "pgm", "-s", "elo"), "did you mean 'pgn'?"),
        (("rate", "FILE", "--format", "pgn", "--format", "stk", "-s", "elo"), "FILE has only one format. Name one."),
        (("rate", "FILE", "--format", "zakstunts", "--map", "x.toml", "-s", "elo"), "Maps are for tables (csv)"),
        (("plot", "expected", "--format", "pgn"), "--format and --map need a FILE. Add the file name."),
    ],
)
def test_wrong_usage_gives_one_line(words, message, podium_command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = write_input(tmp_path, "zakstunts", ZAKSTUNTS)
    status, output, errors = podium_command(*(str(path) if word == "FILE" else word for word in words))
    assert (status, output) == (2, "")
    assert message in errors
    assert list(tmp_path.iterdir()) == [path]


def test_every_command_with_results_reads_other_formats():
    """The options show it: a command with FILE has `--format` and `--map`."""
    commands = typer.main.get_command(build())
    taking = set()
    for name, command in getattr(commands, "commands", {}).items():
        parameters = {each.name for each in command.params}
        if "file" in parameters:
            taking.add(name)
            assert {"formats", "map_file"} <= parameters, name
    assert taking == {
        "rate", "leaderboard", "explain", "check", "evaluate", "tune", "audit", "predict", "strength", "recovery-test",
        "plot", "report", "ingest", "amend", "site", "stakes", "hindsight", "standings", "seed",
    }  # fmt: skip


def test_rating_another_format_gives_its_results_ratings(podium_command, tmp_path):
    path, out = write_input(tmp_path, "racetime", WHOLE["racetime"]), tmp_path / "results.csv"
    assert podium_command("import", "racetime", path, "-o", out)[0] == 0
    words = ("-s", "elo", "-f", "csv")
    foreign = podium_command("leaderboard", path, "--format", "racetime", *words)
    assert foreign == podium_command("leaderboard", out, *words)
    assert foreign[1].startswith("pool,rank,player,rating")
    assert "2 players: all good" in podium_command("check", path, "--format", "racetime")[1]


def test_ingest_uses_the_players_names(podium_command, tmp_path):
    """Later results with an id still count for its player. A name that is taken is rejected with a message."""
    url = f"sqlite:///{tmp_path}/podium.db"
    assert podium_command("pool", "create", "dm", "--system", "elo", "--db", url)[0] == 0
    results, names = tmp_path / "results.csv", tmp_path / "names.csv"
    named = REPORT.replace("i 2\n", "i 2\nn 007\n").replace("n ^x0FFAna^^", "n 007").replace("1767225600.000042", "{}")
    for number in ("1767225600.000042", "1767312000.000043"):
        path = write_input(tmp_path, "xonstat", named.replace("{}", number))
        assert podium_command("import", "xonstat", path, "-o", results, "--names", names)[0] == 0
        words = ("ingest", results, "--pool", "dm", "--names", names, "--db", url, "-f", "json")
        status, output, errors = podium_command(*words)
        assert (status, pl.read_json(output.encode())["players"].to_list()) == (0, [2])
        assert errors.startswith("podium: Ben= is not called '007': there is already a player '007'")
    with sqlite3.connect(tmp_path / "podium.db") as connection:
        assert {name for (name,) in connection.execute("SELECT name FROM player")} == {"007", "Ben="}
    connection.close()
    wrong = podium_command("ingest", results, "--pool", "dm", "--names", results, "--db", url)
    assert (wrong[0], "needs the player and name columns" in wrong[2]) == (2, True)


def test_ingest_reads_another_format(podium_command, tmp_path):
    url = f"sqlite:///{tmp_path}/podium.db"
    assert podium_command("pool", "create", "dm", "--system", "elo", "--db", url)[0] == 0
    path = write_input(tmp_path, "xonstat", REPORT)
    words = ("ingest", path, "--format", "xonstat", "--pool", "dm", "--db", url, "--format", "json")
    status, output, errors = podium_command(*words)
    assert (status, errors) == (0, "")
    assert pl.read_json(output.encode())["status"].to_list() == ["rated"]
    capture = REPORT.replace("G dm", "G ctf").replace("000042", "000043")
    log = "".join(f"----- BEGIN REQUEST BODY -----\n{each}----- END REQUEST BODY -----\n" for each in (REPORT, capture))
    write_input(tmp_path, "xonstat", log)
    status, output, errors = podium_command(*words)
    assert (status, pl.read_json(output.encode())["duplicate"].to_list()) == (0, [True])
    assert errors == f"podium: {path}: ignored events of other pools: 1 of ctf\n"
    write_input(tmp_path, "xonstat", capture)
    status, output, errors = podium_command(*words)
    assert (status, errors) == (2, f"podium: {path}: has no events of pool dm, only 1 of ctf\n")


def test_a_terminal_asks_about_unclear_columns(podium_command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "club.csv"
    path.write_text("Datum;Heim;Gast;Ergebnis\n3/4/2025;Ana;Ben;3:1\n;Ana;Cy;2:2\n")
    status, _, errors = podium_command("import", path)
    assert (status, list(tmp_path.iterdir())) == (2, [path])
    assert f"Type podium import {path.name} --set 'source.fill=[\"Datum\"]'" in errors
    shown = run("import", str(path), "--set", 'source.fill=["Datum"]', "--set", "columns.started_at.format=%d/%m/%Y")
    assert f"the map is saved in {tmp_path}/club.toml. Use it: podium rate {path} --map {tmp_path}/club.toml" in shown
    rated = podium_command("leaderboard", path, "--map", "club.toml", "-s", "elo", "-f", "csv")
    assert (rated[0], rated[1].splitlines()[1].split(",")[2]) == (0, "Ana")
    (tmp_path / "club.toml").unlink()
    answers = iter((7, 1, 2))
    monkeypatch.setattr("typer.prompt", lambda *_, **__: next(answers))
    for stream in ("stdin", "stdout"):
        monkeypatch.setattr(f"sys.{stream}.isatty", lambda: True, raising=False)
    status, output, _ = podium_command("import", path)
    assert status == 0
    assert output.count("columns.started_at.format = ") == 2
    assert 'format = "%m/%d/%Y"' in (tmp_path / "club.toml").read_text()
    assert podium_command("import", path, "--no-input", "--dry-run")[0] == 2


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("import", "csv", "FILE", "--set", "decimal", "--dry-run"), "write a key of a map and its value"),
        (("import", "pgn", "FILE", "--set", "source.sheet=A", "--dry-run"), "--set is only for tables (csv)"),
        (("import", "FILE", "--set", "source.shet=A"), "'shet' is not known; did you mean 'sheet'?"),
    ],
)
def test_unknown_map_keys_are_rejected(words, message, podium_command, tmp_path):
    path = write_input(tmp_path, "zakstunts", ZAKSTUNTS)
    status, _, errors = podium_command(*(str(path) if word == "FILE" else word for word in words))
    assert (status, message in errors) == (2, True), errors
