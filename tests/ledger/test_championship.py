"""Championship standings: real seasons of Formula One, an independent calculation, and single rules."""

import random
from datetime import UTC, datetime, timedelta

import own_championship as own
import polars as pl
import pytest
from commands import run

import podium
from podium.errors import ParameterError
from podium.ledger.championship import championship
from podium.ledger.point_schemes import read_scheme

# The driver with the fastest lap of each race in 2021. It gave a point only in the first ten places.
FASTEST = """valtteri-bottas lewis-hamilton valtteri-bottas max-verstappen lewis-hamilton max-verstappen max-verstappen
lewis-hamilton max-verstappen sergio-perez pierre-gasly nikita-mazepin lewis-hamilton daniel-ricciardo lando-norris
valtteri-bottas lewis-hamilton valtteri-bottas sergio-perez max-verstappen lewis-hamilton max-verstappen"""
SEASONS = {
    "best 11 of 16": (1988, "f1-1961 best=11", {}, [("ayrton-senna", 90, 94), ("alain-prost", 87, 105)]),
    "half points in Australia": (
        1991, "f1-1991", {15: 0.5},
        [("ayrton-senna", 96, 96), ("nigel-mansell", 72, 72), ("riccardo-patrese", 53, 53)],
    ),
    "the points of today": (
        2010, "f1", {},
        [("sebastian-vettel", 256, 256), ("fernando-alonso", 252, 252), ("mark-webber", 242, 242),
         ("lewis-hamilton", 240, 240)],
    ),
    "sprints, half points in Belgium and fastest laps": (
        2021, "f1 sprint=3,2,1 +fastest_lap=1/10", {11: 0.5},
        [("max-verstappen", 395.5, 395.5), ("lewis-hamilton", 387.5, 387.5)],
    ),
}  # fmt: skip


def season_of(frame, year, weights):
    """Return the races of a year. A sprint is another heat of its race, and half points are a weight."""
    frame = frame.filter((pl.col("started_at").dt.year() == year) & (pl.col("pool") != "f1-qualifying"))
    kind = pl.col("pool").str.strip_prefix("f1-")
    frame = frame.with_columns(event_id=pl.col("event_id").str.split("-").list.first(), mode=kind, heat=kind, pool=None)
    ids = frame.filter(mode="race")["event_id"].unique(maintain_order=True).to_list()
    dates = frame.filter(mode="race").unique("event_id").select("event_id", "started_at")
    frame = frame.drop("started_at").join(dates, on="event_id", maintain_order="left")
    weight = pl.col("event_id").replace_strict({ids[k]: w for k, w in weights.items()}, default=1.0)
    fastest = pl.col("event_id").replace_strict(dict(zip(ids, FASTEST.split(), strict=False)), default=None)
    is_fastest = (pl.col("player") == fastest) & (pl.col("mode") == "race") & (pl.lit(year) == 2021)
    awards = pl.when(is_fastest).then(pl.lit("Fastest lap"))
    return podium.read_results(frame.with_columns(weight=weight, awards=awards)).frame


@pytest.mark.parametrize(("year", "scheme", "weights", "expected"), SEASONS.values(), ids=SEASONS)
def test_formula_one_seasons_have_their_real_standings(shared, year, scheme, weights, expected):
    frame = season_of(pl.read_parquet(shared("data/f1.parquet")), year, weights)
    table = championship(frame, read_scheme(scheme))
    found = [(row.name, row.points, sum(each.points for each in row.rounds)) for row in table.players[: len(expected)]]
    assert found == expected


def test_points_per_round_of_a_lead_add_up(shared):
    table = championship(
        season_of(pl.read_parquet(shared("data/f1.parquet")), 1988, {}), read_scheme("f1-1961 best=11")
    )
    for one, other in zip(table.players, table.players[1:], strict=False):
        assert one.lead.over == other.name
        assert sum((each.points for each in one.lead.rounds), 0.0) == one.lead.points == one.points - other.points
    senna = table.players[0]
    assert [each.dropped for each in senna.rounds].count(True) == 4  # of 15, because he was disqualified in Brazil
    assert senna.lead.sentence(senna.name) == "ayrton-senna is 3 points ahead of alain-prost."


def race(event, *players, **more):
    return [{"event_id": event, "player": name, "position": place} | more for place, name in enumerate(players, 1)]


def standings(rows, scheme, **more):
    return championship(podium.read_results(rows).frame, read_scheme(scheme), **more)


def points(table):
    return {row.name: row.points for row in table.players}


def test_a_season_equals_a_calculation_within_the_test():
    """Twelve rounds of two classes, with three dropped rounds and two counting members per team."""
    dice, names = random.Random(73), [f"p{k:02}" for k in range(14)]  # noqa: S311
    teams, given = {name: f"t{k % 4}" for k, name in enumerate(names)}, [10, 7, 5, 3, 2, 1]
    for cars in (names[:8], names[8:]):
        scored, rows, won = {name: [] for name in cars}, [], {name: [] for name in cars}
        for number in range(12):
            present = dice.sample(cars, len(cars) - dice.randrange(3))
            order, out = present[1:], present[:1]
            began = datetime(2026, 1, 4, tzinfo=UTC) + timedelta(weeks=number)
            event = {"event_id": f"r{number}", "started_at": began}
            rows += [
                {**event, "player": name, "position": place, "team": teams[name], "status": "finished"}
                for place, name in enumerate(order, 1)
            ]
            rows += [{**event, "player": name, "team": teams[name], "status": "dnf"} for name in out]
            for name in cars:
                place = order.index(name) if name in order else 99
                scored[name].append(given[place] if place < len(given) else 0)
                won[name] += [place + 1] if name in order else []
        best = {name: sum(sorted(each)[3:]) for name, each in scored.items()}
        keys = {name: (best[name], [won[name].count(place) for place in range(1, 15)]) for name in cars}
        table = standings(rows, "10,7,5,3,2,1 drop=3 teams=2")
        assert points(table) == best
        assert [keys[row.name] for row in table.players] == sorted(keys.values(), reverse=True)
        for team in table.teams:
            members = [scored[name] for name in cars if teams[name] == team.name]
            assert team.points == sum(sum(sorted(each)[-2:]) for each in zip(*members, strict=True))


@pytest.mark.parametrize("group", ["GT3", "GT4", None])
def test_a_season_equals_an_independent_calculation(group):
    rows = [row for row in own.season() if group in (None, row[2])]
    results = [
        {"event_id": str(number), "sequence": number, "player": name, "team": team, "position": place}
        | {"status": "finished" if place else "dnf"}
        for number, name, _, team, place in rows
    ]
    table = standings(results, f"f1 drop={own.DROPS} teams={own.BEST_OF_TEAM}")
    expected = own.standings(own.place_points(rows))
    assert [(row.name, row.points) for row in table.players] == [(name, total) for name, total, _, _ in expected]
    for row, (_, _, points, dropped) in zip(table.players, expected, strict=True):
        assert {int(each.event_id): each.points for each in row.rounds if each.points} == {
            number: each for number, each in enumerate(points, start=1) if each
        }
        # of rounds with equal points, any one may be dropped
        left_out = sorted(each.points for each in row.rounds if each.dropped and each.points)
        assert left_out == sorted(points[number - 1] for number in dropped if points[number - 1])
    assert {row.name: row.points for row in table.teams} == own.teams(rows)


def test_equal_points_are_decided_by_better_places():
    rows = [*race("1", "a", "b", "c"), *race("2", "c", "b", "a")]
    table = standings(rows, "3,2,1")
    assert [(row.rank, row.name) for row in table.players] == [(1, "a"), (1, "c"), (3, "b")]
    assert table.players[0].lead.sentence("a") == "a and c have the same points, so their places decide."


def test_tied_players_share_the_points_of_their_places():
    rows = race("1", "a", "b", "c", "d")
    rows[2]["position"] = 2
    assert points(standings(rows, "10,6,3,1")) == {"a": 10, "b": 4.5, "c": 4.5, "d": 1}


def test_team_mates_with_one_result_score_for_their_place():
    rows = [
        {"event_id": "1", "player": name, "team": name[0], "team_score": score, "score": 0.0}
        for name, score in [("a1", 5), ("a2", 5), ("b1", 3), ("b2", 3), ("c1", 4)]
    ]
    table = standings(rows, "10,6,3 teams=1")
    assert points(table) == {"a1": 10, "a2": 10, "c1": 6, "b1": 3, "b2": 3}
    assert [(team.name, team.points) for team in table.teams] == [("a", 10), ("c", 6), ("b", 3)]


def test_awards_count_only_for_finishers_in_the_first_places():
    rows = race("1", "a", "b", "c", "d")
    for row, awards in zip(rows, ["Pole", "fastest_lap", "fastest lap, pole", None], strict=True):
        row["awards"] = awards
    rows[0] |= {"position": None, "status": "dnf"}
    assert points(standings(rows, "10,6,3 +fastest_lap=2/1 +pole=1")) == {"b": 12, "c": 7, "d": 3, "a": 1}


def test_an_overall_result_replaces_the_points_of_its_heats():
    heats = [*race("1", "a", "b", heat="1"), *race("1", "a", "b", heat="2")]
    assert points(standings(heats, "10,6")) == {"a": 20, "b": 12}
    assert points(standings([*heats, *race("1", "b", "a", heat="overall")], "10,6")) == {"b": 10, "a": 6}


def test_a_player_is_uncatchable_only_when_nobody_can_overtake():
    rows = [*race("1", "a", "b", "c"), *race("2", "a", "b", "c")]
    three, four = (standings(rows, f"10,6,1 rounds={rounds}") for rounds in (3, 4))
    assert [(row.reachable, row.uncatchable) for row in three.players] == [(30, False), (22, False), (12, False)]
    assert (four.remaining, four.points_left, four.players[1].uncatchable) == (2, 20, False)
    over = standings([*rows, *race("3", "a", "b", "c")], "10,6,1 rounds=4 drop=1")
    assert [(row.points, row.reachable, row.uncatchable) for row in over.players] == [
        (30, 30, True), (18, 22, True), (3, 12, False),
    ]  # fmt: skip
    assert standings(rows, "10,6,1").players[0].reachable is None


def test_unranked_and_disqualified_rows_score_nothing():
    rows = race("1", "a", "b", "c", "d", status="finished", ranked=True)
    rows[0] |= {"status": "disqualified"}
    rows[1] |= {"ranked": False}
    assert points(standings(rows, "10,6,1")) == {"c": 10, "d": 6}
    assert points(standings([row | {"status": "dnf"} for row in rows], "10,6,1")) == {"a": 0, "c": 0, "d": 0}


@pytest.mark.parametrize(
    "text", ["", "f2", "10,x", "10 best=0", "10 drop", "10 =3", "10 +=3", "nan", "10 best=1 drop=1", "10 +pole=1/x"]
)
def test_invalid_schemes_are_rejected(text):
    with pytest.raises(ParameterError):
        read_scheme(text)


def test_the_command_shows_the_table_and_the_reason(tmp_path):
    file = tmp_path / "league.csv"
    rows = [
        *race("Oak Park", "Ana", "Ben", "Cleo"),
        *race("Hillside", "Ben", "Ana", "Cleo"),
        *race("Dale", "Ana", "Ben"),
    ]
    dated = [row | {"started_at": f"202{5 + (row['event_id'] == 'Dale')}-06-01"} for row in rows]
    pl.DataFrame(dated).write_csv(file)
    assert run("standings", file, "--scheme", "10,6,4", "--best", "2") == (
        "10,6,4 points, best 2 of 3 rounds, newest first\n"
        "rank  player  points  wins  Dale  Hillside  Oak Park\n"
        "   1  Ana         20     2    10       (6)        10\n"
        "   2  Ben         16     1   (6)        10         6\n"
        "   3  Cleo         8     0     ·         4         4\n\n"
    )
    assert "\n1,Ana,16,1,,,false,10,6\n" in run("standings", file, "--scheme", "10,6,4", "--season", 2025, "-f", "csv")
    why = run("standings", file, "--scheme", "10,6,4", "--season", "2026-01-01/2026-12-31", "--player", "Ana")
    assert why == "Ana is 4 points ahead of Ben.\n  Dale  +4\n"
    assert "no event has such a date" in run("standings", file, "--season", "last", status=2)
    assert "did you mean 'Ben'" in run("standings", file, "--player", "Bem", status=2)
