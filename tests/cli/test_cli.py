"""The commands, run as users run them."""

import json
from pathlib import Path

import polars as pl
import pytest
from commands import run

from podium.cli.judging import AUDIT_TABLES

SEASON = Path(__file__).parents[2] / "examples" / "season.csv"


@pytest.fixture(scope="module")
def karts(tmp_path_factory):
    path = tmp_path_factory.mktemp("karts") / "karts.csv"
    pl.read_csv(SEASON, infer_schema=False).filter(pl.col("pool") == "karts").write_csv(path)
    return path


def test_rate_writes_ratings_and_history_that_can_be_read_back(karts, tmp_path):
    outputs = {suffix: tmp_path / f"ratings{suffix}" for suffix in (".csv", ".parquet", ".json", ".jsonl", ".xlsx")}
    for out in outputs.values():
        run("rate", karts, "--system", "stk", "--ratings", out, "--history", tmp_path / "history.parquet")
    parquet = pl.read_parquet(outputs[".parquet"])
    assert parquet.columns[:4] == ["pool", "rank", "player", "rating"]
    assert parquet.columns[-4:] == ["events", "last_event_id", "last_played_at", "provisional"]
    for read, suffix in ((pl.read_csv, ".csv"), (pl.read_json, ".json"), (pl.read_ndjson, ".jsonl")):
        assert read(outputs[suffix])["rating"].to_list() == parquet["rating"].to_list()
    assert pl.read_excel(outputs[".xlsx"])["rating"].to_list() == pytest.approx(parquet["rating"].to_list(), rel=1e-15)
    history = pl.read_parquet(tmp_path / "history.parquet")
    assert history.columns[:6] == ["event_id", "pool", "started_at", "player", "rating_before", "delta"]


def test_a_past_leaderboard_equals_rating_up_to_its_date(karts, tmp_path):
    early = tmp_path / "early.csv"
    frame = pl.read_csv(karts, infer_schema=False)
    frame.filter(pl.col("started_at") <= "2025-06-30T23:59:59Z").write_csv(early)
    words = ("--system", "stk", "--format", "csv")
    assert run("leaderboard", karts, *words, "--at", "2025-06-30") == run("leaderboard", early, *words)


def test_an_explanation_adds_up(karts):
    event = pl.read_csv(karts)["event_id"][0]
    player = pl.read_csv(karts)["player"][0]
    explanation = json.loads(
        run("explain", karts, "-s", "stk", "--event", event, "--player", player, "--format", "json")
    )
    assert sum(row["contribution"] for row in explanation["rows"]) == pytest.approx(explanation["delta"], abs=1e-9)
    assert player in explanation["words"]
    newest = pl.read_csv(karts).filter(pl.col("player") == player)["event_id"][-1]
    words = ("explain", karts, "-s", "stk", "-p", player, "-f")
    assert run(*words, "json") == run(*words, "json", "-e", newest)
    reasons = json.loads(run(*words, "json"))["rows"]
    assert pl.read_csv(run(*words, "csv").encode())["contribution"].to_list() == [
        row["contribution"] for row in reasons
    ]
    imagined = run("explain", karts, "-s", "stk", "--event", event, "--player", player, "--what-if")
    assert f"What if {player} had …" in imagined or f"{player} won everything there was to win." in imagined


def test_hindsight_shows_all_events_one_day_and_the_best_ever(karts):
    every, day, best = (
        pl.read_csv(run("hindsight", karts, *words, "-f", "csv").encode())
        for words in ((), ("--at", "2025-06-30"), ("--best", "--pool", "karts"))
    )
    assert every.height == pl.read_csv(karts).height
    assert 0 < day.height == day["player"].n_unique() < best.height  # some players had not started yet
    assert (best["ahead"] - 2.0 * best["deviation"]).is_sorted(descending=True)


def test_standard_input_and_settings_are_accepted(karts):
    text = karts.read_text()
    one = run(
        "rate", "-", "-s", "folyami", "--set", "gamma_shape=1", "--set", "remoteness=none", "-f", "csv", stdin=text
    )
    assert one == run("rate", karts, "-s", "folyami", "--set", "gamma-shape=1", "--set", "remoteness=off", "-f", "csv")


def test_a_system_file_names_the_system(karts, tmp_path):
    file = tmp_path / "ours.toml"
    file.write_text('system = "elo"\n[parameters]\nk = 10\n')
    assert run("rate", karts, "--system-file", file, "-f", "csv") == run(
        "rate", karts, "-s", "elo", "--set", "k=10", "-f", "csv"
    )
    assert "(elo) differ. Name one system." in run("rate", karts, "-s", "stk", "--system-file", file, status=2)
    for text, message in (
        ("k = 10", "'k' is not a known name. Write system"),
        ("parameters = 1", "and a [parameters] table"),
    ):
        file.write_text(text)
        assert message in run("rate", karts, "--system-file", file, status=2)


def test_the_environment_names_the_system_or_causes_an_error(karts, monkeypatch):
    monkeypatch.setenv("PODIUM_SYSTEM", "stk")
    assert run("rate", karts, "-f", "csv") == run("rate", karts, "-s", "stk", "-f", "csv")
    monkeypatch.setenv("PODIUM_SYSTEM", "eloo")
    assert run("rate", karts, status=2).startswith("podium: PODIUM_SYSTEM: 'eloo' is not a system")


def test_column_flags_read_any_table(tmp_path):
    path = tmp_path / "meets.csv"
    path.write_text("Meet,Day,Who,Came,Marks,Gang\nA,1,Ana,1,7,x\nA,1,Ben,2,5,y\nA,2,Ben,1,9,y\nA,2,Ana,2,8,x\n")
    words = ("--player", "Who", "--team", "Gang", "--event", "Meet,Day")
    placed, scored = (
        pl.read_csv(run("import", path, *words, *column, "-o", "-").encode())
        for column in (("--position", "Came"), ("--score", "Marks"))
    )
    assert placed.select("event_id", "player", "team").equals(scored.select("event_id", "player", "team"))
    assert placed.select("event_id", "team", "player").row(0) == ("A-1", "x", "Ana")
    assert placed["position"].to_list() == [1, 2, 1, 2]
    assert scored["score"].to_list() == [7.0, 5.0, 9.0, 8.0]
    path.write_text("Who,A,B\nAna,7,9\nBen,8,1\n")
    grid = run("import", path, "--grid", "--player", "Who", "--score", "cell", "-o", "-")
    assert pl.read_csv(grid.encode())["score"].to_list() == [7.0, 8.0, 9.0, 1.0]


def test_check_and_systems_show_their_output(karts):
    assert "all good" in run("check", karts)
    assert "xonstat-2015" in run("systems")
    assert "remoteness" in run("systems", "folyami")
    assert json.loads(run("systems", "stk", "--format", "json"))["newcomer"]["rating"] == 2000.0


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("rate", "missing.csv", "-s", "elo"), "podium: missing.csv: cannot be read"),
        (("rate", SEASON, "-s", "eloo"), "did you mean 'elo'?"),
        (("rate",), "FILE is missing"),
        (("leaderboard", SEASON, "--columns", "playr"), "--columns playr: is not a column; did you mean 'player'?"),
        (("pool", "configure", "karts"), "the new system is missing"),
        (("rate", SEASON, "-s", "elo", "--set", "k=-1"), "k is -1.0; it must be a number from 0 to"),
        (("rate", SEASON, "-s", "elo", "--set", "k"), "Write NAME=VALUE"),
        (("rate", SEASON, "-s", "elo", "--period", "1x"), "is not a time span"),
        (("rate", SEASON, "-s", "elo", "--ratings", "out.txt"), "the suffix must be one of"),
        (
            ("rate", SEASON, "-s", "elo", "--ratings", "x.csv", "--history", "x.csv"),
            "this command already reads or writes this file",
        ),
        (("rate", SEASON, "-s", "stk"), "stk needs it for every finisher"),
        (("explain", SEASON, "-s", "elo", "--event", "nope", "--player", "Ivo"), "event 'nope' is not in"),
        (("explain", SEASON, "-s", "elo", "--player", "ivo"), "'ivo' is not rated; did you mean 'Ivo'?"),
        (("hindsight", SEASON, "-s", "glicko2"), "hindsight is for adaptive"),
        (("leaderboard", SEASON, "-s", "elo", "--pool", "nope"), "pool 'nope' does not exist"),
        (("leaderboard", SEASON, "-s", "elo", "--max-deviation", "5"), "has no deviation"),
        (
            ("leaderboard", SEASON, "-s", "glicko2", "--max-deviation", "-1"),
            "max_deviation: -1.0 is too small. It must be 0 or more",
        ),
        (("strength", SEASON, "--probe", "nan"), "Invalid value for '--probe': nan must be a number below 2^63"),
        (("pool", "log", "x", "--after", "9" * 30), "999 must be a number below 2^63"),
        (
            ("lab", "matchmaking", "--minutes", "1e9"),
            "minutes is 1000000000.0; it must be above 0, and at most 100,000",
        ),
        (("key", "create", "x", "--rate", "nan"), "'--rate': nan must be a number below 2^63"),
        (("lab", "matchmaking", "--population", "2.5"), "'2.5'; write whole numbers separated by commas"),
        (("lab", "matchmaking", "--population", "9" * 30), "cannot be simulated; it must be from 2"),
        (("simulate", "--set", "spread=1e300"), "spread is 1e+300; it must be a number from 0.000000001 to 1 billion"),
        (("recovery-test", SEASON), "the true skills are missing. Give them with --skills FILE."),
        (
            ("recovery-test", SEASON, "-s", "elo", "-s", "stk", "--set", "k=1"),
            "--set works with a single system. For several, write --system NAME:",
        ),
        (
            ("import", SEASON, "--map", "x.toml", "--date", "Day"),
            "--map describes the whole table. Leave out the options",
        ),
        (("hindsight", SEASON, "--best", "--at", "2025-06-30"), "--best covers all dates. Leave out --at or --best."),
        (("site", SEASON, "--pool", "nope"), "has no pool 'nope'"),
        (("import", SEASON, "--winner", "player"), "--winner and --loser must be used together. Give both."),
        (("import", SEASON, "--grid"), "--grid also needs --player COLUMN, the column with the players' names."),
        (
            ("import", SEASON, "--gap-to-winner"),
            "--gap-to-winner also needs --time COLUMN, the column with times and gaps.",
        ),
        (
            ("import", SEASON, "--sides", "a,b"),
            "--sides A,B also needs the result: --result COLUMN (of the first side) or --scores A,B.",
        ),
        (("rate", "http://example.org/x.csv"), "http://example.org/x.csv: is not an https address."),
        (("import", "http://example.org/x.trf"), "http://example.org/x.trf: is not an https address."),
        (("recovery-test", SEASON, "--skills", "x.txt"), "x.txt: the suffix must be one of"),
        (("recovery-test", SEASON, "--skills", "none.csv"), "none.csv: cannot be read (No such file"),
        (
            ("check", SEASON, "--map", "x.toml", "--fix", "x.csv"),
            "--fix works only with results files. For a format or a map, use podium import",
        ),
        (("rate", SEASON, "--system-file", SEASON), "season.csv: is not TOML: "),
        (("rate", SEASON, "--system-file", "none.toml"), "none.toml: No such file or directory"),
        (("serve", "--pool", "nope"), "No such option: --pool"),
        (("verify", "--db", "none.db"), "none.db"),
        (("frobnicate",), "No such command"),
        (("rate", SEASON, "--nope"), "No such option"),
    ],
)
def test_wrong_usage_gives_one_line_and_status_2(words, expected):
    message = run(*words, status=2)
    assert expected in message
    assert all(line.startswith("podium: ") for line in message.splitlines())


def test_names_of_systems_and_parameters_ignore_case(karts):
    assert run("rate", karts, "-s", "Elo", "--set", "K=30", "-f", "csv") == run(
        "rate", karts, "-s", "elo:k=30", "-f", "csv"
    )


@pytest.mark.parametrize("typed", [("rate", "none.csv"), ("rate", "none.parquet"), ("rate", "none.pgn", "-f", "pgn")])
def test_a_missing_file_gives_only_advice_about_its_path(typed):
    (line,) = run(*typed, status=2).splitlines()
    assert line.startswith(f"podium: {typed[1]}: cannot be read (No such file or directory")
    assert line.endswith("). Check the path.")


@pytest.mark.parametrize(
    ("rows", "reason"),
    [("r1,ana,1\n", "the only event has a single entrant"), ("", "it has a header but no rows")],
)
def test_results_that_cannot_be_rated_are_explained(podium_command, tmp_path, rows, reason):
    path = tmp_path / "results.csv"
    path.write_text(f"event_id,player,position\n{rows}")
    status, shown, why = podium_command("rate", path)
    assert (status, shown.splitlines()[0]) == (0, "elo")
    assert f"results.csv: nothing here can be rated: {reason}" in why
    status, _, why = podium_command("plot", "histories", path)
    assert status == 2
    assert f"podium: there is no rated event: {reason}" in why
    for command in ("site", "report"):
        status, _, why = podium_command(command, path, "--out", tmp_path / command)
        assert (status, (tmp_path / command).exists()) == ((0, True) if rows else (2, False))
        assert bool(rows) != ("has no results to publish. Choose another file." in why)


def test_audit_shows_every_table_below_its_title(karts, tmp_path):
    """One player gets 90 % of the points from one opponent, so this finding's table appears."""
    path = tmp_path / "duels.json"
    duels = [(f"e{n:03}", "ann" if n % 2 else "bob") for n in range(200)]
    rows = [
        {"event_id": event, "player": player, "position": 1 if player == winner else 2}
        for event, winner in duels
        for player in ("ann", "bob")
    ]
    path.write_text(json.dumps(rows))
    assert "Points by month" in run("audit", path, "--system", "elo")
    fields_of_audit = json.loads(run("audit", path, "--system", "elo", "--format", "json"))
    assert set(fields_of_audit) == set(AUDIT_TABLES)
