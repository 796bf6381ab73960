"""Performance ratings compared with each system's published expected score."""

import math

import numpy as np
import pytest

import podium
from podium.ledger.performance import AT_LEAST, AT_MOST, performance, performances
from podium.systems import find


def rated(system, *events):
    rows = [
        {"event_id": f"e{number}", "player": name, "position": float(place)} | more.get(name, {})
        for number, (order, more) in enumerate(events)
        for name, place in order.items()
    ]
    return podium.rate(rows, find(system)())


def found(result, event_id):
    """Return each player's performance in an event."""
    frame = result.events.results.frame
    row = int((frame["event_id"] == event_id).arg_max())
    entrant = result.events.ledger.entrant.at(int(np.argmax(result.events.ledger.row.array == row)))
    return {each.player: each for each in performances(result.system, result.events, result.replayed, entrant)}


def states_before(result, names, events):
    """Return the players' states after the first events."""
    first = result.history.filter(result.history["event_id"].is_in(events))
    return {name: first.filter(first["player"] == name).to_dicts()[-1] for name in names}


ORDERS = (
    ({"ana": 1, "ben": 2, "cleo": 3, "dov": 4}, {}),
    ({"dov": 1, "ana": 2, "ben": 3}, {}),
    ({"ben": 1, "ana": 2, "dov": 2, "cleo": 4}, {}),
)
SCORES = {"ben": 3.0, "ana": 1.5, "dov": 1.5, "cleo": 0.0}  # of the last race
SCALE = 400.0 / math.log(10.0)


def elo(rating, _me, opponent):
    return 1.0 / (1.0 + 10.0 ** ((opponent["rating"] - rating) / 400.0))


def glicko2(rating, _me, opponent):
    """Calculate Glickman's step 3, in which g depends only on the opponent."""
    phi = opponent["deviation"] / SCALE
    return 1.0 / (1.0 + math.exp(-(rating - opponent["rating"]) / SCALE / math.sqrt(1.0 + 3.0 * phi**2 / math.pi**2)))


@pytest.mark.parametrize("expected", [elo, glicko2])
def test_the_expected_score_at_the_performance_is_the_actual_score(expected):
    result = rated(expected.__name__, *ORDERS)
    before = states_before(result, SCORES, ["e0", "e1"])
    for name, each in found(result, "e2").items():
        opponents = [before[other] for other in SCORES if other != name]
        score = {3.0: 2.5, 0.0: 0.5}.get(SCORES[name], SCORES[name])  # a full score is a bound half a duel below
        assert each.bound == {3.0: AT_LEAST, 0.0: AT_MOST}.get(SCORES[name])
        assert sum(expected(each.rating, before[name], one) for one in opponents) == pytest.approx(score, abs=1e-7)


def test_systems_without_expected_scores_use_chances_to_win():
    """TrueSkill's skills and performances are normal."""
    result = rated("trueskill", *ORDERS)
    before, system = states_before(result, SCORES, ["e0", "e1"]), result.system
    above = found(result, "e2")

    def expected(rating, me, other):
        spread = math.sqrt(me["deviation"] ** 2 + other["deviation"] ** 2 + 2 * system.beta**2 + 2 * system.tau**2)
        return 0.5 * (1.0 + math.erf((rating - other["rating"]) / spread / math.sqrt(2.0)))

    for name in ("ana", "dov"):
        me = before[name]
        total = sum(expected(above[name].rating, me, before[other]) for other in SCORES if other != name)
        assert total == pytest.approx(1.5, abs=1e-6)
        assert above[name].bound is None


def test_every_heat_counts_and_players_without_a_win_have_a_bound():
    """Two heats of two and their overall result are three duels, of which two are won."""
    rows = [
        {"event_id": "e0", "heat": f"{heat}", "player": name, "score": score}
        for heat, scores in enumerate(((9, 1), (9, 1), (1, 2)))
        for name, score in zip(("ana", "ben"), scores, strict=True)
    ]
    both = found(podium.rate(rows, find("trials")()), "e0")
    assert both["ana"].rating > 1500 > both["ben"].rating
    assert both["ana"].bound is both["ben"].bound is None
    quits = {"ben": {"position": None, "status": "quit"}, "cleo": {"position": None, "status": "quit"}}
    three = found(rated("elo", ({"ana": 1, "ben": 2, "cleo": 3}, quits)), "e0")
    assert [(three[name].bound, round(three[name].rating, 6)) for name in ("ben", "cleo")] == [(AT_MOST, 1500.0)] * 2
    assert three["ana"].rating == pytest.approx(1500 + 400 * math.log10(3.0))  # three of four


def test_a_score_beyond_the_expected_maximum_gives_a_bound():
    """XonStat of 2015 expects at most ten of eleven, so 2.9 of three gives a lower bound."""
    order = {name: place for place, name in enumerate(("ana", "ben", "cleo", "dov"), start=1)}
    scores = {"ana": {"score": 290.0}, "ben": {"score": 10.0}, "cleo": {"score": 10.0}, "dov": {"score": 10.0}}
    result = rated(
        "xonstat-2015",
        (order, {name: each | {"played_s": 600.0, "duration_s": 600.0} for name, each in scores.items()}),
    )
    best = found(result, "e0")["ana"]
    assert best.bound == AT_LEAST
    assert 1.0 / (1.0 + 10.0 ** (-(best.rating - 100.0) / 400.0)) == pytest.approx(10.0 / 11.0, abs=1e-4)


@pytest.mark.parametrize(
    ("name", "period"),
    [("elo", "event"), ("glicko2", "event"), ("glicko2", "2d"), ("trueskill", "event"), ("adaptive", "event")],
)
def test_one_players_performance_equals_the_one_calculated_for_all(name, period):
    """For systems with pairs, with chances and with a pool's state, and for heats with quits and absent players."""
    rng = np.random.default_rng(5)
    rows = [
        {
            "event_id": f"e{event}",
            "started_at": f"2024-01-0{event + 1}T12:00:00Z",
            "heat": str(heat),
            "player": f"p{player}",
            "score": float(rng.integers(0, 9)),
            "status": "quit" if rng.random() < 0.2 else "finished",
        }
        for event in range(3)
        for heat in range(3)
        for player in rng.choice(8, 5, replace=False)
    ]
    system = find(name)()
    result = podium.rate(rows, system, period=period)
    events, replayed = result.events, result.replayed
    for first, last in zip(events.columns.entrants[:-1], events.columns.entrants[1:], strict=True):
        everyone = performances(system, events, replayed, int(first))
        assert [performance(system, events, replayed, each) for each in range(first, last)] == everyone
        assert len({each.rating for each in everyone}) > 2
