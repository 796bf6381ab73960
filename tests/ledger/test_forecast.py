"""Predictions and strengths of fields, from the current ratings."""

import json
import math

import numpy as np
import polars as pl
import pytest

import podium
from podium.cli.commands import build
from podium.cli.demo import season_path
from podium.engine.inputs import PRESENT
from podium.engine.rules import enter
from podium.engine.system import System
from podium.probability.gamma import performances
from podium.probability.ranks import field_strength
from podium.systems import find, names

ROWS = [
    {"event_id": f"e{number}", "player": player, "position": place}
    for number in range(8)
    for place, player in enumerate(("ana", "Sö, Jr", "cleo", "dov"), start=1)
]


@pytest.mark.parametrize("name", [name for name in names() if not find(name).needs])
def test_every_system_predicts_a_field(name):
    forecast = podium.rate(ROWS, name).predict(["ana", "cleo", "nobody yet"], top=2)
    assert forecast.entrants["player"][0] == "ana"
    assert forecast.entrants["win"].sum() == pytest.approx(1.0, abs=1e-9)
    assert forecast.entrants["top"].sum() == pytest.approx(2.0, abs=1e-9)
    assert forecast.entrants["mean_rank"].sum() == pytest.approx(6.0, abs=1e-9)
    assert forecast.entrants.filter(player="nobody yet")["events"].to_list() == [0]
    assert forecast.ranks.group_by("rank").agg(pl.col("chance").sum())["chance"].to_list() == pytest.approx([1.0] * 3)
    both = dict(forecast.pairs.select(pl.concat_str("player", "opponent", separator="-"), "expected").iter_rows())
    assert both["ana-cleo"] + both["cleo-ana"] == pytest.approx(1.0)


@pytest.mark.parametrize("name", [name for name in names() if not find(name).needs])
def test_every_system_predicts_sides(name):
    rated = podium.rate(ROWS, name)
    forecast = rated.predict(sides=[["dov", "ana"], ["cleo", "nobody yet"]], top=1)
    label, other = "dov, ana", "cleo, nobody yet"
    expected = {player: score for player, _, score in forecast.pairs.iter_rows()}
    assert expected[label] + expected[other] == pytest.approx(1.0)
    if find(name).as_one is System.as_one:
        duels = [rated.expected(mine, theirs) for mine in ("dov", "ana") for theirs in ("cleo", "nobody yet")]
        assert expected[label] == pytest.approx(np.mean(duels), abs=1e-12)
        wins = dict(forecast.entrants.select("player", "win").iter_rows())
        assert wins == pytest.approx(expected, abs=1e-9)
    assert forecast.newcomers == ("nobody yet",)
    assert forecast.entrants.filter(player=other)["events"].to_list() == [0]
    both = rated.predict(["ana"], sides=[["Sö, Jr", "cleo"], ["dov"]])
    assert both.entrants["win"].sum() == pytest.approx(1.0, abs=1e-9)
    assert both.ranks.height == 9


@pytest.mark.parametrize(("name", "noise"), [("trueskill", 2), ("openskill-tm", 1)])
def test_win_chances_of_sides_equal_those_of_random_performances(name, noise):
    """TrueSkill adds noise for each player, Weng and Lin for each team."""
    rated = podium.rate(ROWS, name)
    system, sides = rated.system, [["ana", "dov", "cleo"], ["Sö, Jr", "new"], ["newer"]]
    known = {
        player: system.state_type(mean, deviation, 0.0)
        for player, mean, deviation in rated.ratings.select("player", "rating", "deviation").iter_rows()
    }
    rng, shape = np.random.default_rng(1), (200_000,)
    performances = np.stack(
        [
            np.sum(
                [
                    rng.normal(state.rating, np.hypot(state.deviation, system.tau), shape)
                    for state in (known.get(player, system.newcomer()) for player in side)
                ],
                axis=0,
            )
            + rng.normal(0.0, system.beta * np.sqrt(len(side) if noise > 1 else 1.0), shape)
            for side in sides
        ]
    )
    forecast = rated.predict(sides=sides)
    drawn = np.bincount(performances.argmax(axis=0), minlength=3) / shape[0]
    found = dict(forecast.entrants.select("player", "win").iter_rows())
    assert [found[", ".join(side)] for side in sides] == pytest.approx(drawn.tolist(), abs=0.004)
    ahead = (performances[0] > performances[1]).mean()
    assert forecast.pairs.filter(player="ana, dov, cleo", opponent="Sö, Jr, new")["expected"].item() == pytest.approx(
        ahead, abs=0.004
    )


def test_a_large_field_has_the_pairs_of_a_small_one():
    rated = podium.rate(ROWS, "glicko2")
    strangers = [f"p{number:03}" for number in range(96)]
    field = rated.predict([*strangers, "ana", "Sö, Jr", "cleo", "dov"])
    few = rated.predict(["ana", "Sö, Jr", "cleo", "dov", "p000"])
    shared = field.pairs.join(few.pairs, on=["player", "opponent"])
    assert shared.height == 20
    assert shared["expected"].equals(shared["expected_right"])
    assert field.chances.sum(axis=1) == pytest.approx(np.ones(100), abs=1e-9)
    assert field.chances.sum(axis=0) == pytest.approx(np.ones(100), abs=1e-9)


def test_invalid_fields_are_rejected():
    rated = podium.rate(ROWS, "elo")
    for sides in ([["ana", "dov"]], [["ana", "dov"], ["ana"]], [["ana"], []], ["ana", "dov"]):
        with pytest.raises(podium.ParameterError):
            rated.predict(sides=sides)
    for field in ([], ["ana"], ["ana", "ana"]):
        with pytest.raises(podium.ParameterError):
            rated.predict(field)
    with pytest.raises(podium.UnknownError):
        rated.predict(["ana", "dov"], pool="elsewhere")


def test_strengths_use_the_ratings_before_the_race():
    rated = podium.rate(ROWS, "folyami")
    strengths = rated.strengths(top=1)
    assert strengths["event_id"].to_list() == [f"e{number}" for number in range(8)]
    for row in strengths.iter_rows(named=True):
        before = rated.history.filter(event_id=row["event_id"])["rating_before"].to_list()
        assert row["strength"] == pytest.approx(field_strength(performances([*before, 1500.0]), 1), rel=1e-9)
        assert row["mean_rating"] == pytest.approx(sum(before) / 4.0)
    assert rated.strengths(top=5)["strength"].to_list() == [1.0] * 8
    assert (rated.strengths(top=1, probe=2000.0)["strength"] < strengths["strength"]).all()
    with pytest.raises(podium.ParameterError, match="probe: nan is not a rating"):
        rated.strengths(probe=math.nan)
    assert podium.rate(ROWS[:1], "folyami").strengths().schema == strengths.schema  # nobody met anybody


@pytest.mark.parametrize("name", ["stk-rd", "trueskill"])
def test_the_mean_rating_is_the_mean_of_shown_ratings(name):
    """This holds even if the rating is not the first field of a state."""
    rated = podium.rate([row | {"time_s": 60.0 + row["position"]} for row in ROWS], name)
    strengths = rated.strengths(top=1)
    before = rated.history.group_by("event_id", maintain_order=True).agg(pl.col("rating_before").mean())
    assert strengths["mean_rating"].to_list() == pytest.approx(before["rating_before"].to_list())


def test_the_commands_print_predictions_and_strengths(tmp_path, capsys):
    table, chart = tmp_path / "results.json", tmp_path / "strength.svg"
    table.write_text(json.dumps(ROWS))
    options = ["--system", "folyami", "--format", "json"]
    build()(["predict", str(table), *options, "--entrants", 'ana,"Sö, Jr"', "--entrants", "dov"], standalone_mode=False)
    output = json.loads(capsys.readouterr().out)
    assert [row["player"] for row in output["entrants"]] == ["ana", "Sö, Jr", "dov"]
    build()(["strength", str(table), *options, "--chart", str(chart)], standalone_mode=False)
    assert len(json.loads(capsys.readouterr().out)) == 8
    assert chart.read_text().startswith("<svg")
    with pytest.raises(podium.ParameterError, match="no entrants are named"):
        build()(["predict", str(table), "--system", "elo"], standalone_mode=False)


def predicted(capsys, *arguments):
    """Run the command, and return its players and its text on stderr."""
    build()(["predict", *arguments, "--system", "elo", "--format", "json"], standalone_mode=False)
    printed = capsys.readouterr()
    return [row["player"] for row in json.loads(printed.out)["entrants"]], printed.err


def test_unknown_names_are_reported_with_a_similar_one(tmp_path, capsys):
    table = tmp_path / "results.json"
    table.write_text(
        json.dumps([row | {"pool": "a"} for row in ROWS] + [row | {"pool": "b", "event_id": "b"} for row in ROWS[:3]])
    )
    file = str(table)
    players, warning = predicted(capsys, file, "--entrants", "ana,clello,nobody at all", "--pool", "a")
    assert players[0] == "ana"
    assert warning.splitlines() == [
        f"podium: clello is not in pool a of {file} (did you mean cleo?); predicted as a newcomer",
        f"podium: nobody at all is not in pool a of {file}; predicted as a newcomer",
    ]
    assert predicted(capsys, file, "--entrants", "ana,dov", "--pool", "a") == (["ana", "dov"], "")
    _, warning = predicted(capsys, file, "--entrants", "ana,dov", "--pool", "b")
    assert warning == f"podium: dov is not in pool b of {file}; predicted as a newcomer\n"


def test_an_entrant_is_one_name_even_with_commas(tmp_path, capsys):
    table = tmp_path / "results.json"
    table.write_text(json.dumps(ROWS))
    both = ["--entrant", " Sö, Jr ", "--entrants", "cleo,dov", "--entrant", "ana"]
    assert predicted(capsys, str(table), *both) == (["ana", "Sö, Jr", "cleo", "dov"], "")
    sides = ["--side", 'ana,"Sö, Jr"', "--side", "cleo , dov,", "--entrants", "new"]
    players, warning = predicted(capsys, str(table), *sides)
    assert players == ["ana, Sö, Jr", "new", "cleo, dov"]
    assert "new is not in" in warning


def test_newcomers_come_with_similar_known_names():
    rated = podium.rate(ROWS, "elo")
    assert rated.newcomers(["ana", "Cléo", "Zed"]) == {"Cléo": "cleo", "Zed": None}


def test_the_strength_of_uncertain_fields_is_one_over_the_chance():
    """A newcomer wins 0.2030 of the simulated races against nine established equals with the same skills and noise."""
    rated = podium.rate(
        [{"event_id": "e", "player": f"p{k}", "position": 1} for k in range(9)], "glicko", deviation=30.0
    )
    established, newcomer = rated.system, podium.rate(ROWS, "glicko").system.newcomer()
    params = established.params()
    nine = [enter(params, established.newcomer(), PRESENT)] * 9
    field = established.performances([*nine, enter(params, newcomer, PRESENT)])
    assert field_strength(field, 1) == pytest.approx(1.0 / 0.2030, rel=2e-3)
    assert field_strength(established.performances(nine + nine[:1]), 1) == pytest.approx(10.0, rel=1e-9)


def test_every_event_of_the_season_has_a_strength():
    rated = podium.rate(season_path(), "folyami")
    strengths = rated.strengths(top=3)
    assert strengths["event_id"].to_list() == rated.history["event_id"].unique(maintain_order=True).to_list()
    assert (strengths["strength"] >= 1.0).all()


def duels(*results):
    """Return duels of Ana against Ben, in which Ana scores 1, 0.5 or 0."""
    return [
        {"event_id": f"e{number:03}", "player": player, "position": place}
        for number, result in enumerate(results)
        for player, place in (("ana", 1 if result else 2), ("ben", 2 if result == 1 else 1))
    ]


@pytest.mark.parametrize("name", ["elo", "trueskill"])
def test_a_duel_can_end_in_a_draw_if_the_pool_has_draws(name):
    rated = podium.rate(duels(*[1, 0.5, 0.5, 0, 1, 0.5] * 20), name)
    forecast = rated.predict(["ben", "ana"], top=1)
    expected = rated.expected("ana", "ben")
    wins = dict(forecast.entrants.select("player", "win").iter_rows())
    assert 0.4 < forecast.draw < 0.55
    assert wins["ana"] + forecast.draw / 2.0 == pytest.approx(expected)
    assert sum(wins.values()) + forecast.draw == pytest.approx(1.0)
    assert forecast.entrants["top"].to_list() == forecast.entrants["win"].to_list()
    assert f", draw {forecast.draw:.1%}, " in repr(forecast)
    chances = rated.stakes(["ana", "ben"], "ana").frame.select("place", "chance")
    assert dict(chances.iter_rows()) == pytest.approx({1.0: wins["ana"], 1.5: forecast.draw, 2.0: wins["ben"]})
    assert rated.predict(["ana", "ben", "cleo"]).draw is None
    undrawn = podium.rate(duels(*[1, 0] * 10), name).predict(["ana", "ben"])
    assert "draw" not in undrawn.entrants.columns


def test_the_chance_of_a_draw_uses_only_the_newest_thousand_events():
    assert podium.rate(duels(0.5, *[1, 0] * 500), "elo").predict(["ana", "ben"]).draw is None
    assert podium.rate(duels(0.5, *[1, 0] * 499, 1), "elo").predict(["ana", "ben"]).draw is not None
