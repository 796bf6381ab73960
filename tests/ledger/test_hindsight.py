"""Hindsight: it draws on what comes later, is as sure as it says, and changes no rating."""

import numpy as np
import polars as pl
import pytest

import podium
from podium.errors import ParameterError


def seasons(seed, players=60, events=1500):
    """Duels of players whose skills walk at random, in log-odds, drawn from the model; and the skills, by event."""
    rng = np.random.default_rng(seed)
    skill, rows, truth = rng.normal(0.0, 1.0, players), [], []
    for k in range(events):
        skill += rng.normal(0.0, 0.02, players)
        both = rng.choice(players, 2, replace=False)
        shown = skill[both] + rng.normal(0.0, 0.3, 2) + rng.logistic(0.0, 1.0, 2) / np.sqrt(2.0)
        for player, place in zip(both.tolist(), np.argsort(np.argsort(-shown)) + 1, strict=True):
            when = np.datetime64("2001-01-01") + np.timedelta64(int(k * 2), "D")
            rows.append({"event_id": f"e{k}", "started_at": when, "player": f"p{player}", "position": int(place)})
            truth.append({"event_id": f"e{k}", "player": f"p{player}", "skill": float(skill[player])})
    return pl.DataFrame(rows), pl.DataFrame(truth)


def test_skills_are_nearer_the_truth_than_the_ratings_of_the_day_and_as_sure_as_they_say():
    inside, before, after = [], [], []
    for seed in range(4):
        results, truth = seasons(seed)
        rated = podium.rate(results, "podium")
        known = rated.hindsight().frame.join(truth, on=["event_id", "player"])
        known = known.join(rated.history.select("event_id", "player", day="rating"), on=["event_id", "player"])
        skill = 173.7178 * (known["skill"] - known["skill"].mean()).to_numpy()
        level = 1500.0 + skill - skill.mean() + (known["rating"].mean() - 1500.0)
        off = known["rating"].to_numpy() - level
        inside.append((np.abs(off) < 1.96 * known["deviation"].to_numpy()).mean())
        after.append(np.sqrt((off**2).mean()))
        before.append(np.sqrt(((known["day"] - known["day"].mean()).to_numpy() - (skill - skill.mean())) ** 2).mean())
    assert np.mean(after) < 0.9 * np.mean(before)
    assert 0.9 < np.mean(inside) < 0.99


def test_the_last_event_leaves_everyone_where_the_filter_does_or_near():
    results = podium.simulate(players=12, events=120, entrants=4, seed=3).results
    rated = podium.rate(results, "podium")
    last = rated.hindsight().frame.group_by("player").last().join(rated.ratings, on="player", suffix="_day")
    assert np.corrcoef(last["rating"], last["rating_day"])[0, 1] > 0.9
    assert rated.ratings.equals(podium.rate(results, "podium").ratings)


def test_sides_and_cars_are_looked_back_on():
    rows = [
        {"event_id": f"e{k}", "player": f"p{(k + i) % 5}", "position": 1 + (i + k) % 3, "shared:car": f"c{i % 2}"}
        | ({"side": "white"} if i == 0 else {})
        for k in range(40)
        for i in range(3)
    ]
    known = podium.rate(rows, "podium:shared=car").hindsight()
    assert known.frame.height == 120
    assert known.frame["deviation"].min() > 0.0
    assert set(known.frame["player"]) == {f"p{k}" for k in range(5)}


@pytest.mark.parametrize("system", ["elo", "podium:modes=clay"])
def test_other_systems_say_that_they_cannot(system):
    rated = podium.rate(podium.simulate(players=4, events=4, seed=1).results, system)
    with pytest.raises(ParameterError, match="hindsight is for podium"):
        rated.hindsight()
