"""TrueSkill against the trueskill package, and where the package's arithmetic ends."""

import math
from typing import Any

import numpy as np
import polars as pl
import pytest
import trueskill as package
from scipy import special
from weng_lin import PLAYERS, season, table

import podium
from podium.probability import normal


@pytest.mark.parametrize("seed", range(6))
def test_equals_the_trueskill_package(seed):
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


def density(x):
    """Of the standard normal distribution."""
    return math.exp(-0.5 * x * x) / math.sqrt(2.0 * math.pi)


@pytest.mark.parametrize("seed", range(3))
def test_partial_play_equals_the_trueskill_package(seed):
    """The package's weights are the parts of the game that players were there for; with SciPy's distribution.

    The package's own distribution function has an error of 1e-7, to which small parts are sensitive. Its choice of
    SciPy takes the same functions by way of `scipy.stats`, a hundred times as slow.
    """
    rng = np.random.default_rng(seed)
    environment = package.TrueSkill(backend=(special.ndtr, density, special.ndtri))
    known = {player: environment.create_rating() for player in PLAYERS}
    rows = []
    for number, teams, ranks in season(seed, 30):
        parts = [tuple(rng.choice([0.25, 0.5, 1.0]) for _ in team) for team in teams]
        groups = [tuple(known[player] for player in team) for team in teams]
        for team, new in zip(teams, environment.rate(groups, ranks=ranks, weights=parts), strict=True):
            known.update(zip(team, new, strict=True))
        for k, (team, rank, there) in enumerate(zip(teams, ranks, parts, strict=True)):
            for player, part in zip(team, there, strict=True):
                times = {"played_s": 600.0 * part, "duration_s": 600.0}
                row = {"event_id": f"e{number}", "player": player, "team": f"t{k}", "position": rank + 1}
                rows.append(row | times)
    rated = podium.rate(rows, "trueskill").ratings
    for player, rating, deviation in rated.select("player", "rating", "deviation").iter_rows():
        assert rating == pytest.approx(known[player].mu, rel=1e-6, abs=1e-6)
        assert deviation == pytest.approx(known[player].sigma, rel=1e-6)
    whole = podium.rate(rows, "trueskill", partial_play=False).ratings
    assert whole["rating"].to_list() != rated["rating"].to_list()


def test_the_tails_are_stable():
    """50 deviations up and losing; a draw margin of next to nothing."""
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
    """The strongest always loses: ten thousand random upsets between players far apart."""
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
