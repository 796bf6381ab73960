"""Large heats: lanes give exactly the results of the pair loop, and sums from 256 entrants on are within 1e-13."""

from datetime import UTC, datetime, timedelta
from unittest import mock

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import podium
from podium.analysis.conformance import interpreted
from podium.engine import heats as wide_heats
from podium.engine import replay as replaying
from podium.engine.heats import WideScratch, sums_up, wide_scratch
from podium.engine.inputs import Scratch
from podium.engine.large_heats import LARGE_HEAT
from podium.engine.replay import newcomers, replay, takes_sums
from podium.engine.rules import Comparison, compare
from podium.engine.tables.encoding import encode
from podium.systems import elo, find

START = datetime(2024, 2, 29, tzinfo=UTC)
BULK = 2048  # entrants, large enough for sums in Folyami too
SLOPE = np.longdouble(np.log(np.longdouble(10.0)) / 400)


def heat(event, positions, quits=(), teams=(), weight=1.0):
    """Return the rows of an event, given the players' positions, the quitters and the members of teams of two."""
    size = len(positions)
    return pl.DataFrame(
        {
            "event_id": [f"e{event}"] * size,
            "started_at": [START + timedelta(hours=event)] * size,
            "player": [f"p{k}" for k in range(size)],
            "position": [None if k in quits else int(each) for k, each in enumerate(positions)],
            "status": ["quit" if k in quits else "finished" for k in range(size)],
            "team": [f"t{k // 2}" if k in teams else None for k in range(size)],
            "weight": [weight] * size,
        },
        schema_overrides={"team": pl.String, "position": pl.Int64},
    )


def table(*heats):
    return podium.read_results(pl.concat(heats))


def use_pair_loop():
    """Rate every heat with the pair loop."""
    return mock.patch.object(replaying, "wide_scratch", lambda _system, _sizes, scratch: scratch)


def use_wide_heats():
    """Rate every wide heat with the kernel that also rates large heats."""
    return mock.patch.object(wide_heats, "large_room", lambda system, longest: system.large_heat_workspace(longest))


def rate_both_ways(system, events, start):
    with use_pair_loop():
        general = replay(system, events, start)
    with use_wide_heats():
        return general, replay(system, events, start)


def spread_states(system, players, seed=1):
    """Return states of players with different ratings, half of them newcomers."""
    rng = np.random.default_rng(seed)
    states = newcomers(system, players)
    states[:, 0] += rng.normal(0.0, 300.0, players)
    states[::2, system.column("events")] = 50.0
    return states


sizes = st.sampled_from([2, 15, 16, 17, 31, 32, 33, 47, 48, 49, 63, 64, 65])


@st.composite
def histories(draw):
    heats = []
    for number in range(draw(st.integers(1, 3))):
        size = draw(sizes)
        rng = np.random.default_rng(draw(st.integers(0, 99)))
        positions = rng.integers(1, draw(st.sampled_from([2, size, 10 * size])) + 1, size)
        quits = draw(st.sampled_from([(), (), (0,), (size - 1,)]))
        teams = draw(st.sampled_from([(), (), (0, 1, 2, 3)]))
        heats.append(
            heat(number, positions, quits, teams if size > 4 and not quits else (), draw(st.sampled_from([1.0, 2.5])))
        )
    return table(*heats)


@given(histories())
@settings(max_examples=30)
def test_lanes_give_the_bits_of_the_pair_loop(results):
    system = find("elo")()
    events = encode(results, system)
    general, wide = rate_both_ways(system, events, spread_states(system, events.player_names.len()))
    for one, other in ((general.states, wide.states), (general.after, wide.after), (general.before, wide.before)):
        assert one.tobytes() == other.tobytes()


def test_lanes_in_python_give_the_bits_of_the_pair_loop_for_glicko2():
    system = find("glicko2")()
    events = encode(table(heat(0, np.random.default_rng(1).integers(1, 30, 50), weight=0.5)), system)
    with use_pair_loop(), mock.patch("podium.analysis.conformance.scratch_for", replaying.scratch_for):
        general = interpreted(system, events)
    with mock.patch.object(wide_heats, "MIN_PAIRS", 0):
        wide = interpreted(system, events)
    assert general.after.tobytes() == wide.after.tobytes()


def test_memory_for_wide_heats_is_allocated_only_if_it_pays():
    plain, glicko = Scratch(*(None,) * 5), find("glicko")()
    assert wide_scratch(find("elo")(), np.array([2, 31]), plain) is plain
    assert wide_scratch(find("elo")(), np.array([32]), plain) is plain
    assert wide_scratch(find("openskill-pl")(), np.array([9999]), plain) is plain
    assert isinstance(wide_scratch(glicko, np.full(300, 32), plain), WideScratch)
    assert wide_scratch(glicko, np.array([BULK]), plain).large == ()
    assert wide_scratch(find("elo")(), np.array([LARGE_HEAT]), plain).large != ()
    assert takes_sums(find("elo")(), encode(table(heat(0, range(1, LARGE_HEAT + 1))), find("elo")()).columns)


def exact_of_elo(x, place, finished, i):
    """Return the sum of result minus expected score over all opponents of entry `i`, and the sum of both."""
    others = (finished | finished[i]) & (np.arange(x.size) != i)
    exponent = np.minimum(SLOPE * (x[others].astype(np.longdouble) - x[i]), 11_000)  # the largest number's is 11,356
    expected = 1 / (1 + np.exp(exponent))
    result = np.where(place[i] < place[others], 1.0, np.where(place[i] > place[others], 0.0, 0.5))
    return float((result - expected).sum()), float((result + expected).sum())


FIELDS = {
    "normal": lambda rng, n: rng.normal(0.0, 300.0, n),
    "equal": lambda _, n: np.zeros(n),
    "outliers": lambda rng, n: np.concatenate([[-9000.0, 1e9, -4000.0, -1e9], rng.normal(0.0, 200.0, n - 4)]),
    "clusters": lambda rng, n: np.where(np.arange(n) % 2, 0.0, 40_000.0) + rng.normal(0.0, 200.0, n),
}
SHAPES = [(size, "normal") for size in (LARGE_HEAT - 1, LARGE_HEAT, LARGE_HEAT + 1, 10_000)]
SHAPES += [(LARGE_HEAT, name) for name in FIELDS if name != "normal"]


@pytest.mark.parametrize(("size", "shape"), SHAPES)
def test_elo_of_a_large_heat_equals_the_exact_sum(size, shape):
    system, rng = find("elo")(k=1.0, initial=0.0, pairs="sum"), np.random.default_rng(size)
    ratings, positions = FIELDS[shape](rng, size), rng.integers(1, size // 2, size)
    quits = set(range(0, size, 97))
    events = encode(table(heat(0, positions, quits)), system)
    start = newcomers(system, size)
    start[:, 0] = ratings
    columns = events.columns
    change = replay(system, events, start).states[:, 0] - ratings
    finished = columns.finished != 0.0
    for i in [0, 1, 2, 3, 97, *rng.choice(size, 12), int(columns.place.argmin())]:
        wanted, volume = exact_of_elo(ratings, columns.place, finished, i)
        assert abs(change[i] - wanted) <= 1e-13 * volume + 2.0 * np.spacing(abs(ratings[i]))


def exact_of_folyami(system, states, columns, i):
    """Return the points and stakes of entry `i` by Folyami's text, with shape 3 and newcomers' own factor."""
    place, others = columns.place, (columns.finished != 0.0) | (columns.finished[i] != 0.0)
    others &= np.arange(place.size) != i
    params = system.params()
    w = 1 / (1 + np.exp(np.longdouble(params.slope) * (states[others, 0].astype(np.longdouble) - states[i, 0])))
    expected = w**3 * (10 - 15 * w + 6 * w**2)
    result = np.where(place[i] < place[others], 1.0, np.where(place[i] > place[others], 0.0, 0.5))
    factor = np.exp(np.longdouble(params.growth) * np.maximum(params.window - states[:, 1], 0))
    factor = factor[i] if factor[i] > 1.0 else 1 / factor[others]
    gap = np.longdouble(np.pi) / 22 * (place[i] - place[others])
    stakes = params.k * factor / (gap * gap + 1)
    return float((stakes * (result - expected)).sum()), float(stakes.sum())


@pytest.mark.parametrize("ties", [1, 2])
@pytest.mark.parametrize("events", [50.0, 3.0])
def test_folyami_of_a_large_heat_equals_the_exact_sum_relative_to_its_stakes(ties, events):
    system, rng = find("folyami")(), np.random.default_rng(ties)
    results = table(heat(0, rng.permutation(BULK) // ties + 1, {3, 500}))
    encoded, start = encode(results, system), newcomers(system, BULK)
    start[:, 0] += rng.normal(0.0, 300.0, BULK)
    start[:, 1] = np.where(np.arange(BULK) % 4, 50.0, events)
    change = replay(system, encoded, start).states[:, 0] - start[:, 0]
    for i in [0, 3, 4, 500, *rng.choice(BULK, 12)]:
        wanted, stakes = exact_of_folyami(system, start, encoded.columns, i)
        assert abs(change[i] - wanted) <= 1e-13 * stakes + 2.0 * np.spacing(start[i, 0])


def test_compiled_sums_give_the_bits_of_python():
    system = find("elo")()
    events = encode(table(heat(0, np.arange(1, LARGE_HEAT + 1), quits={5})), system)
    assert interpreted(system, events).after.tobytes() == replay(system, events).after.tobytes()


LARGE = [("elo", LARGE_HEAT), ("folyami", BULK)]


@pytest.mark.parametrize(("name", "large"), LARGE)
def test_large_heats_are_the_same_live_and_explained_in_full(name, large):
    rng = np.random.default_rng(4)
    heats = [heat(k, rng.permutation(size) + 1, {7, 8}) for k, size in enumerate((40, large, large + 1))]
    rated, live = podium.rate(pl.concat(heats), name), podium.Live(name)
    history = pl.concat([live.rate(each) for each in heats])
    assert history["rating"].to_list() == rated.history["rating"].to_list()
    explanation = rated.explain("e2", "p12")
    assert explanation.rows.height == large
    assert float(explanation.rows["contribution"].sum()) == pytest.approx(explanation.delta, abs=1e-9)


@pytest.mark.parametrize(("name", "large"), LARGE)
def test_row_order_of_large_heats_changes_only_rounding(name, large):
    rng = np.random.default_rng(5)
    rows = heat(0, rng.permutation(large) // 2 + 1, {3})
    one, other = (podium.rate(each, name).ratings.sort("player")["rating"] for each in (rows, rows[::-1]))
    np.testing.assert_allclose(one.to_numpy(), other.to_numpy(), rtol=1e-12)


@pytest.mark.parametrize("size", [2, 40, 5000])
def test_a_shuffled_field_has_the_places_of_a_sorted_one(size):
    rows = heat(0, np.random.default_rng(size).permutation(size) // 2 + 1)
    mixed, in_order = (
        encode(podium.read_results(each), find("elo")()).columns for each in (rows, rows.sort("position"))
    )
    position = rows["position"].to_numpy()
    np.testing.assert_array_equal(np.sort(mixed.place), in_order.place)
    assert (np.diff(mixed.place[np.argsort(position, kind="stable")]) >= 0.0).all()
    shared = np.bincount(position)[position] == 2
    np.testing.assert_array_equal(mixed.place, np.where(shared, 2.0 * position - 0.5, 2.0 * position - 1.0))


class Params(elo.Params):
    """Elo's parameters with a rule of their own for pairs."""


@compare.register
def compare_as_equal(params: Params, a, b, mine, theirs, heat):
    return Comparison(0.5, 0.5, 1.0), Comparison(0.5, 0.5, 1.0)


class Derived(elo.Elo):
    """Elo with its own rule for pairs."""

    __slots__ = ()
    name = "derived"

    def params(self):
        return Params(*super().params())


def test_a_system_with_its_own_rule_for_pairs_does_not_inherit_the_sums():
    assert sums_up(find("elo")())
    assert sums_up(find("folyami")())
    assert not sums_up(Derived())
    assert not sums_up(find("glicko")())
