"""`docs/results.md` and `podium columns` describe columns, statuses and quits correctly."""

import io
import re
from pathlib import Path

import polars as pl
import pytest
from commands import run

import podium
from podium.engine.system import System
from podium.errors import MORE_ON_COLUMNS
from podium.results import column_guide, columns
from podium.support.words import column_texts
from podium.systems import find, names

PAGE = (Path(__file__).parents[2] / "docs" / "results.md").read_text(encoding="utf-8")
WORKED = re.compile(
    r"```text\n(.*?)```\n\n    podium rate examples/(\S+) --system (\S+)\n\n((?:\|[^\n]*\n)+)", re.DOTALL
)
COLUMN = {column.name: column for column in column_guide.COLUMNS}
PAIRWISE = ("elo", "glicko", "glicko2", "folyami", "stk", "stk-rd", "trials", "xonstat", "xonstat-2015")


def race(*entries, event="e1", **more):
    """Return an event from (player, status) in the order of places, with all columns that any system needs."""
    return [
        {
            "event_id": event,
            "player": player,
            "status": status,
            "position": place if status == "finished" else None,
            "time_s": 60.0 + place if status == "finished" else None,
            "score": 10.0 - place,
            "played_s": 600.0,
            "duration_s": 600.0,
        }
        | more
        for place, (player, status) in enumerate(entries, start=1)
    ]


def test_exactly_the_known_columns_are_described():
    assert tuple(COLUMN) == columns.ALL
    assert tuple(status.name for status in column_guide.STATUSES) == columns.STATUSES


def test_described_types_and_defaults_equal_the_readers():
    kinds = {"number above 0": columns.POSITIVE, "number, 0 or more": columns.NOT_NEGATIVE, "number": columns.NUMBERS}
    for kind, members in kinds.items():
        assert {name for name, column in COLUMN.items() if column.type == kind} <= set(members)
    assert {name for name, column in COLUMN.items() if column.type.startswith("number")} == set(columns.NUMBERS)
    assert {name for name, column in COLUMN.items() if column.type == "true or false"} == set(columns.TRUTHS)
    assert {name for name, column in COLUMN.items() if column.type == "text"} == {*columns.TEXTS} - {"side"}
    assert {name for name, column in COLUMN.items() if column.default == column_guide.NO_DEFAULT} == set(
        columns.REQUIRED
    )
    assert {name: COLUMN[name].default for name in columns.DEFAULTS} == columns.DEFAULTS


@pytest.mark.parametrize("name", [name for name in columns.ALL if name != "birth_year"])  # tables do not keep it
def test_examples_can_be_read(name):
    cells = {"event_id": "e", "player": "p"} | {name: COLUMN[name].example}
    text = f"{','.join(cells)}\n{','.join(cells.values())}\n"
    assert name in podium.read_results(io.BytesIO(text.encode())).frame.columns


@pytest.mark.parametrize("name", names())
def test_columns_name_the_systems_that_need_them(name):
    for column in find(name).needs:
        if column not in ("played_s", "duration_s"):
            assert re.search(rf"{name}( needs it|\.)", COLUMN[column].meaning)


def test_the_page_has_five_worked_files():
    assert len(WORKED.findall(PAGE)) == 5


@pytest.mark.parametrize(("text", "file", "system", "table"), WORKED.findall(PAGE))
def test_a_worked_file_has_the_ratings_on_the_page(text, file, system, table):
    assert (Path(__file__).parents[2] / "examples" / file).read_text(encoding="utf-8") == text
    ratings = podium.rate(io.BytesIO(text.encode()), system).ratings
    rated = map("| {} | {} | {} |".format, ratings["player"], column_texts(ratings["rating"]), ratings["events"])
    assert table.strip().splitlines()[2:] == [*rated]


def test_worked_ratings_by_hand():
    assert "| Dev | 75.0 | 1 |" in PAGE  # 100 - 200 * 0.25 * 0.5
    assert "| Ben | 1488.0 | 1 |" in PAGE  # 1500 - 24 * 0.5
    assert "| Ana | 1500.0 | 1 |" in PAGE  # four games won and four lost, all against 1500


@pytest.mark.parametrize("name", names())
@pytest.mark.parametrize("status", ["disqualified", "did_not_start"])
def test_disqualified_and_absent_players_do_not_affect_others(name, status):
    entries = [("a", "finished"), ("b", "finished"), ("c", "quit")]
    with_row = podium.rate(race(*entries, ("d", status)), name).ratings
    if status == "did_not_start" and find(name).rates_absent:
        assert with_row["rating"].min() == with_row.filter(player="d")["rating"].item()
        return
    assert with_row.equals(podium.rate(race(*entries), name).ratings)


@pytest.mark.parametrize("name", names())
def test_a_dnf_costs_the_same_as_a_quit(name):
    def ratings(status):
        heats = [race(("a", "finished"), ("b", status), ("c", "finished"), heat=heat) for heat in ("1", "2")]
        heats[1][1]["status"] = "finished"
        heats[1][1] |= {"position": 2.0, "time_s": 62.0}
        return podium.rate(heats[0] + heats[1], name).ratings

    assert ratings("dnf").equals(ratings("quit"))


@pytest.mark.parametrize("heat", ["1", None])
def test_only_a_quit_can_also_lose_later_heats(heat):
    def later(status, policy):
        first = race(("a", "finished"), ("b", "finished"), ("c", status), heat=heat)
        second = race(("c", "finished"), ("a", "finished"), ("b", "finished"), heat="2")
        rows = podium.rate(first + second, "trials", quit_policy=policy).explain("e1", "c").rows
        return set(rows.filter(pl.col("heat") == "2")["result"])

    assert later("quit", "remaining") == {0.0}
    assert later("dnf", "remaining") == {1.0}
    assert later("quit", "heat") == {1.0}


@pytest.mark.parametrize("name", names())
def test_an_event_that_nobody_finished(name):
    rated = podium.rate(race(("a", "quit"), ("b", "dnf")), name)
    if find(name).needs_finisher:
        assert rated.ratings.is_empty()
        return
    assert rated.ratings["events"].to_list() == [1, 1]
    assert find(name).rates_absent or (rated.explain("e1", "a").rows["cause"] != "opponent").all()


@pytest.mark.parametrize("name", PAIRWISE)
def test_a_quitter_loses_to_all_finishers_and_meets_no_other_quitter(name):
    rated = podium.rate(race(("a", "finished"), ("b", "finished"), ("c", "quit"), ("d", "dnf")), name)
    met = rated.explain("e1", "c").rows.filter(pl.col("cause") == "opponent")
    assert sorted(met["opponent"]) == ["a", "b"]
    assert set(met["result"]) == {0.0}


@pytest.mark.parametrize(
    "name", [name for name in names() if find(name).unfinished.startswith(("It is ranked", "It sh"))]
)
def test_quitters_share_the_last_rank(name):
    def ratings(statuses, positions):
        rows = race(*zip("abcd", statuses, strict=True))
        return podium.rate([row | {"position": at} for row, at in zip(rows, positions, strict=True)], name).ratings

    finished = ["finished"] * 4
    tied = ratings(finished, [1, 2, 3, 3])
    assert ratings(["finished", "finished", "quit", "dnf"], [1, 2, None, None]).equals(tied)


@pytest.mark.parametrize("name", [name for name in names() if "quits a team" in find(name).unfinished])
def test_a_player_who_quits_a_team_is_rated_apart_from_it(name):
    def ratings(team):
        rows = race(("a", "finished"), ("b", "quit"), ("c", "finished"), ("d", "finished"))
        teams = ["red", team, "blue", "blue"]
        scores = [3.0, 3.0 if team == "red" else None, 1.0, 1.0]
        more = [{"team": each, "team_score": score} for each, score in zip(teams, scores, strict=True)]
        given = [row | {"position": None} | extra for row, extra in zip(rows, more, strict=True)]
        return podium.rate(given, name).ratings

    assert ratings("red").equals(ratings(None))


def test_folyamis_quitter_loses_most_to_the_last_finisher():
    rated = podium.rate(race(("a", "finished"), ("b", "finished"), ("c", "quit"), ("d", "quit")), "folyami")
    lost = dict(rated.explain("e1", "c").rows.select("opponent", "contribution").iter_rows())
    assert lost["b"] < lost["a"] < 0.0


def stake(rows, system, player="b"):
    """Return the weight of a player's only comparison."""
    return podium.rate(rows, system).explain("e1", player).rows.filter(pl.col("cause") == "opponent")["weight"].item()


def test_stks_quitter_has_the_stake_of_a_race_of_500_seconds():
    slow = [
        row | {"time_s": time_s}
        for row, time_s in zip(race(("a", "finished"), ("b", "finished")), (400.0, 600.0), strict=True)
    ]
    assert stake(race(("a", "finished"), ("b", "quit")), "stk") == stake(slow, "stk")


def test_stk_rds_quits_count_as_a_time_a_fifth_longer_and_are_remembered():
    slow = race(("a", "finished"), ("b", "finished"))
    slow[1]["time_s"] = 1.2 * slow[0]["time_s"]
    assert stake(race(("a", "finished"), ("b", "quit")), "stk-rd") == stake(slow, "stk-rd")
    season = [row for n in range(4) for row in race(("a", "finished"), ("b", "quit"), event=f"e{n}")]
    history = podium.rate(season, "stk-rd").history.filter(pl.col("player") == "b")
    assert history["disconnects"].to_list() == [0b1, 0b11, 0b111, 0b1111]
    deviations = history["deviation"].to_list()
    assert 1000.0 == deviations[0] == deviations[1] < deviations[2] < deviations[3]


def test_trials_quitter_loses_the_heat_and_scores_nothing_in_it():
    rows = podium.rate(io.BytesIO(WORKED.findall(PAGE)[3][0].encode()), "trials").explain("cup", "Ana").rows
    results = {heat: set(rows.filter(pl.col("heat") == heat)["result"]) for heat in ("1", "2", "3", "overall")}
    assert results == {"1": {1.0}, "2": {0.0}, "3": {1.0}, "overall": {0.0}}


def test_xonstats_quitter_risks_the_part_played():
    rows = race(("a", "finished"), ("b", "quit"))
    rows[1]["played_s"] = 150.0
    assert stake(rows, "xonstat") == 0.25 * stake(race(("a", "finished"), ("b", "quit")), "xonstat")


@pytest.mark.parametrize(("played_s", "duration_s"), [(119.0, 119.0), (250.0, 600.0), (None, 600.0)])
def test_xonstat_2015_leaves_out_players_who_played_too_little(played_s, duration_s):
    rows = race(("a", "finished"), ("b", "finished"), ("c", "quit"))
    rows[2] |= {"played_s": played_s, "duration_s": duration_s}
    rated = podium.rate(rows, "xonstat-2015")
    assert sorted(rated.ratings["player"]) == ["a", "b"]


def test_every_system_states_the_cost_of_a_quit():
    assert all(find(name).unfinished.endswith(".") for name in names())
    others = {name for name in names() if find(name).unfinished != System.unfinished}
    assert others == set(names()) - {"dwz", "egf", "elo", "fide", "glicko", "glicko2", "uscf"}


@pytest.mark.parametrize("text", ["event_id,posision\na,1\n", "event_id,player,status\na,b,DNQ\n", ""])
def test_every_error_ends_with_a_reference_to_the_columns(text):
    with pytest.raises(podium.ResultsError) as caught:
        podium.read_results(io.BytesIO(text.encode()))
    assert str(caught.value).splitlines()[-1] == MORE_ON_COLUMNS
    assert len(str(caught.value).splitlines()) == len(caught.value.faults) + 1


def test_the_command_fits_80_columns_and_suggests_similar_names(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    for name in ([], *([name] for name in columns.ALL)):
        shown = run("columns", *name)
        assert max(map(len, shown.splitlines())) <= 80
        if name:
            assert " ".join(COLUMN[name[0]].meaning.split()) in " ".join(shown.split())
    assert "did you mean 'position'?" in run("columns", "posision", status=2)
