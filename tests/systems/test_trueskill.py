"""TrueSkill compared with the trueskill package, and cases beyond the package's precision."""

import math
from statistics import NormalDist
from typing import Any

import numpy as np
import polars as pl
import pytest
import trueskill as package
from weng_lin import PLAYERS, season, table

import podium
from podium.probability import normal


@pytest.mark.parametrize("seed", range(6))
def test_ratings_equal_the_trueskill_package(seed):
    events = list(season(seed, 40))
    environment = package.TrueSkill()
    known = {player: environment.create_rating() for player in PLAYERS}
    for _, teams, ranks in events:
        after = environment.rate([tuple(known[player] for player in team) for team in teams], ranks=ranks)
        for team, new in zip(teams, after, strict=True):
            known.update(zip(team, new, strict=True))
    rated = podium.rate(table(events), "trueskill").ratings
    for player, rating, deviation in rated.select("player", "rating", "deviation").iter_rows():
        assert rating == pytest.approx(known[player].mu, rel=1e-6, abs=1e-6)
        assert deviation == pytest.approx(known[player].sigma, rel=1e-6)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("drawn", [False, True])
def test_partial_play_of_two_teams_equals_the_closed_form(seed, drawn):
    """Two teams need no iteration: c^2 = sum of w^2 (sigma^2 + beta^2), margin = t beta sqrt(sum of w^2)."""
    rng, normal_law = np.random.default_rng(seed), NormalDist()
    system = podium.systems.find("trueskill")()
    teams = [[f"{team}{k}" for k in range(1 + seed + (team == "b"))] for team in "ab"]
    parts = {name: part for team in teams for name, part in zip(team, rng.uniform(0.05, 1.0, len(team)), strict=True)}
    states = {name: (25.0 + 3.0 * rng.standard_normal(), rng.uniform(1.0, 8.0)) for name in parts}
    start = [{"player": name, "rating": mu, "deviation": sigma} for name, (mu, sigma) in states.items()]
    rows = [
        {"event_id": "e", "player": name, "team": f"{k}", "position": 1 if drawn else k + 1}
        | {"played_s": 600.0 * parts[name], "duration_s": 600.0}
        for k, team in enumerate(teams)
        for name in team
    ]
    variance = {name: sigma**2 + system.tau**2 for name, (_, sigma) in states.items()}
    c = math.sqrt(sum(parts[name] ** 2 * (variance[name] + system.beta**2) for name in parts))
    lead = sum((1 if name in teams[0] else -1) * parts[name] * states[name][0] for name in parts)
    margin = normal_law.inv_cdf(0.5 * (system.draw_probability + 1.0)) * system.beta
    margin *= math.sqrt(sum(part**2 for part in parts.values()))
    corrections = normal.draw_corrections if drawn else normal.win_corrections
    v, w = corrections(lead / c, margin / c)
    for player, rating, deviation in (
        podium.rate(rows, "trueskill", start=start).ratings.select("player", "rating", "deviation").iter_rows()
    ):
        share = parts[player] * variance[player] / c
        sign = 1.0 if player in teams[0] else -1.0
        assert rating == pytest.approx(states[player][0] + sign * share * v, rel=1e-9)
        left = variance[player] * (1.0 - share * parts[player] / c * w)
        assert deviation == pytest.approx(math.sqrt(left), rel=1e-9)


@pytest.mark.parametrize("part", [0.5, 1 / 3, 1e-3, 1e-6, 0.0])
@pytest.mark.parametrize("positions", ["1122", "1111", "1234", "1335"])
def test_a_match_that_all_played_equally_long_counts_in_full(part, positions):
    """This also holds if seconds are mixed with milliseconds, or if the server reports 0 for everyone."""
    teams = [{"team": name} for name in "aabb"] if positions in ("1122", "1111") else [{}] * 4
    rows: list[dict[str, Any]] = [
        {"event_id": "e", "player": player, "position": int(position)} | team
        for player, position, team in zip("abcd", positions, teams, strict=True)
    ]
    played = [row | {"played_s": 600.0 * part, "duration_s": 600.0} for row in rows]
    assert podium.rate(played, "trueskill").ratings.equals(podium.rate(rows, "trueskill").ratings)


def test_players_with_less_playing_time_move_less():
    """The three others played the entire match. `partial_play=false` counts everyone in full."""
    rows = [
        {"event_id": "e", "player": player, "team": team, "position": position, "played_s": played, "duration_s": 600}
        for player, team, position, played in (("a", "x", 1, 600), ("b", "x", 1, 150), ("c", "y", 2, 600))
    ]
    rated = podium.rate([*rows, rows[2] | {"player": "d"}], "trueskill").history["delta"].to_list()
    assert 0.0 < rated[1] < 0.5 * rated[0]
    whole = podium.rate([*rows, rows[2] | {"player": "d"}], "trueskill", partial_play=False).history["delta"].to_list()
    assert whole[0] == whole[1]
    never = podium.rate([rows[0], rows[1] | {"played_s": 0}, rows[2]], "trueskill").history["delta"].to_list()
    assert abs(never[1]) < 1e-2 * never[0]


def test_extreme_results_have_stable_changes():
    """A favourite by 50 deviations loses, and a draw margin is nearly zero."""
    assert normal.hazard(-50.0) == pytest.approx(50.0 + 1.0 / 50.0 - 2.0 / 50.0**3, rel=1e-9)
    assert normal.win_corrections(-50.0, 0.0)[0] == normal.hazard(-50.0)
    assert 0.0 <= normal.win_corrections(-50.0, 0.0)[1] <= 1.0
    assert normal.draw_corrections(1.0, 1e-9)[0] == pytest.approx(-1.0, rel=1e-6)
    assert normal.draw_corrections(50.0, 1e-9)[0] == pytest.approx(-50.0, rel=1e-5)
    assert normal.draw_corrections(0.0, 0.5)[0] == 0.0
    for x in np.linspace(-3.0, 3.0, 13):
        inside = normal.distribution(0.5 - x) - normal.distribution(-0.5 - x)
        v = (normal.pdf(-0.5 - x) - normal.pdf(0.5 - x)) / inside
        assert normal.draw_corrections(x, 0.5)[0] == pytest.approx(v, rel=1e-9, abs=1e-12)
        edge = ((0.5 - x) * normal.pdf(0.5 - x) - (-0.5 - x) * normal.pdf(-0.5 - x)) / inside
        assert normal.draw_corrections(x, 0.5)[1] == pytest.approx(v * v + edge, rel=1e-9)


@pytest.mark.parametrize("name", ["trueskill", "openskill-pl", "openskill-bt", "openskill-tm", "glicko", "glicko2"])
def test_extreme_events_give_finite_states(name):
    """The strongest always loses in ten thousand random upsets between players far apart."""
    rng = np.random.default_rng(7)
    matches = 10_000
    pair = np.sort(rng.permuted(np.tile(np.arange(40), (matches, 1)), axis=1)[:, :2], axis=1)
    order = np.where(rng.random(matches)[:, None] < 0.97, pair, pair[:, ::-1])
    rows = pl.DataFrame(
        {
            "event_id": pl.Series(np.repeat(np.arange(matches), 2)).cast(pl.String),
            "player": pl.Series(order.ravel()).cast(pl.String),
            "position": np.tile([1, 2], matches),
        }
    )
    options: dict[str, Any] = {"draw_probability": 1e-9, "deviation": 500.0} if name == "trueskill" else {}
    ratings = podium.rate(rows, name, **options).ratings
    assert all(math.isfinite(value) for value in [*ratings["rating"], *ratings["deviation"]])
    assert ratings["deviation"].min() > 0.0
