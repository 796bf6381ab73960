"""Systems with a state per pool, such as an Elo whose stake depends on how surprising earlier results were."""

import copy
import io
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
import polars as pl
import pytest

import podium
from podium.analysis.conformance import History, compiled_equals_interpreted
from podium.engine.replay import replay
from podium.engine.rules import Comparison, Credit, compare, credit, in_pool, rate_event, rate_heats, update_state
from podium.engine.system import System, parameter
from podium.engine.tables.encoding import encode
from podium.errors import ParameterError, ResultsError, RuleError, UnknownError
from podium.probability.logistic import logistic, score


class Params(NamedTuple):
    stake: float


class State(NamedTuple):
    rating: float
    events: float


class Learnt(NamedTuple):
    day: float
    events: float
    surprise: float  # summed over events


@dataclass(frozen=True, slots=True)
class Tempo(System):
    name: ClassVar[str] = "tempo"
    state_type = State
    entering_type = State
    pool_state_type = Learnt
    reads_days: ClassVar[bool] = True

    stake: float = parameter(10.0, "points at stake in a pool without surprises", low=0.0, high=1e3)
    initial: float = parameter(1500.0, "a newcomer's rating")

    def params(self):
        return in_pool(Params(self.stake), *self.standing)

    def newcomer(self):
        return State(self.initial, 0.0)

    def new_pool(self):
        return Learnt(0.0, 0.0, 0.0)


@in_pool.register
def stake_in_pool(params: Params, pool, occasion):
    return Params(params.stake * (1.0 + pool[2]))


@compare.register
def points_from_pair(params: Params, a, b, mine, theirs, heat):
    expected, result = logistic(0.005 * (a.rating - b.rating)), score(mine.place, theirs.place)
    return Comparison(result, expected, params.stake), Comparison(1.0 - result, 1.0 - expected, params.stake)


@update_state.register
def add_points(params: Params, me, totals, entrant):
    return State(me.rating + totals.points, me.events + entrant.events)


@credit.register
def points_of(params: Params, me, totals, after, comparison):
    return Credit(comparison.weight, comparison.weight * (comparison.result - comparison.expected))


@rate_event.register
def rate_and_learn(params: Params, prototypes, columns, update, states, scratch, after, at):
    rate_heats(params, prototypes, columns, update, states, scratch, after, at)
    first = columns.entrants[update]
    size = columns.entrants[update + 1] - first
    moved = 0.0
    for i in range(size):
        moved += abs(after[at + i, 0] - states[columns.player[first + i], 0])
    scratch.pool[0] = columns.day[update]
    scratch.pool[1] += 1.0
    scratch.pool[2] += moved / (size * params.stake)


def season(events=12, pools=("one", "two")):
    rng = np.random.default_rng(4)
    return [
        {
            "event_id": f"e{number}",
            "pool": pools[number % len(pools)],
            "started_at": f"2025-01-{number + 1:02}T12:00:00Z",
            "player": f"p{player}",
            "position": place,
        }
        for number in range(events)
        for place, player in enumerate(rng.permutation(6)[:3], start=1)
    ]


ROWS = season()


@pytest.fixture(scope="module")
def rated():
    return podium.rate(ROWS, Tempo())


def by_event(rows):
    events = {}
    for row in rows:
        events.setdefault(row["event_id"], []).append(row)
    return list(events.values())


def test_only_a_pools_own_events_change_its_state(rated):
    one, two = (rated.pool_state(pool) for pool in ("one", "two"))
    assert isinstance(one, Learnt)
    assert one.events == two.events == 6.0
    assert one.surprise != two.surprise
    alone = podium.rate([row for row in ROWS if row["pool"] == "two"], Tempo())
    assert alone.pool_state() == two
    assert alone.history.rows() == rated.history.filter(pool="two").rows()


def test_each_event_is_rated_with_the_pool_state_before_it(rated):
    deltas = rated.history.filter(event_id="e0")["delta"].to_list()
    assert deltas == pytest.approx([10.0, 0.0, -10.0])
    assert rated.replayed.pool_history[0].tolist() == [pytest.approx(739252.5), 1.0, pytest.approx(2.0 / 3.0)]


def test_compiled_rules_and_threads_give_the_same_bits(rated):
    system = Tempo()
    assert compiled_equals_interpreted(History(system, ROWS)) is None
    events = encode(podium.read_results(ROWS), system)
    threads = replay(system, events, workers=2)
    for name in ("after", "pools", "pool_history"):
        assert getattr(threads, name).tobytes() == getattr(rated.replayed, name).tobytes()


def test_live_ratings_copies_and_files_continue_with_the_same_bits(rated, tmp_path):
    live, parts = podium.Live(Tempo()), []
    assert live.pool_state() == Tempo().new_pool()
    for number, event in enumerate(by_event(ROWS)):
        if number == 5:
            live.save(tmp_path / "live.zip")
            live = podium.Live.load(tmp_path / "live.zip", Tempo())
        if number == 8:
            kept = live.pool_state("one")
            copy.copy(live).rate(event)
            live = copy.deepcopy(live)
            assert live.pool_state("one") == kept
        parts.append(live.rate(event))
    assert pl.concat(parts).rows() == rated.history.rows()
    assert [live.pool_state(pool) for pool in ("one", "two")] == [rated.pool_state(pool) for pool in ("one", "two")]
    with pytest.raises(ParameterError, match="pool: the results contain more than one pool"):
        live.pool_state()


def test_explaining_an_event_does_not_change_the_pool():
    live = podium.Live(Tempo())
    first, second = by_event(season(2, ("one",)))
    live.rate(first)
    before = live.pool_state()
    explanation = live.explain(second, "e1", second[0]["player"])
    assert live.what_if(second, "e1", second[-1]["player"]).alternatives[0].delta > 0.0
    assert live.pool_state() == before
    assert explanation.delta == live.rate(second)["delta"][0]
    assert live.pool_state() != before


def test_explanations_use_the_pool_state_before_the_event(rated):
    for event, player, delta in rated.history.select("event_id", "player", "delta").iter_rows():
        explanation = rated.explain(event, player)
        assert explanation.rows["contribution"].sum() == pytest.approx(delta, abs=1e-9)
        assert rated.what_if(event, player).delta == delta


@pytest.mark.parametrize("kind", ["rated", "frame", "parquet", "csv", "live"])
def test_saved_ratings_include_the_pool_states(rated, kind, tmp_path):
    half = podium.rate(ROWS[:18], Tempo())
    half.save(tmp_path / "half.parquet")
    half.states.write_csv(tmp_path / "half.csv")
    start: dict[str, Any] = {
        "rated": half,
        "frame": half.states,
        "parquet": tmp_path / "half.parquet",
        "csv": tmp_path / "half.csv",
    }
    if kind == "live":
        live = podium.Live(Tempo(), start=half)
        changes = live.rate(ROWS[18:])
        assert live.pool_state("two") == rated.pool_state("two")
        assert changes["rating"].to_list() == rated.history["rating"][18:].to_list()
        return
    rest = podium.rate(ROWS[18:], Tempo(), start=start[kind])
    assert rest.replayed.pools.tobytes() == rated.replayed.pools.tobytes()
    assert rest.history["rating"].to_list() == rated.history["rating"][18:].to_list()
    alone = podium.rate([row for row in ROWS[18:] if row["pool"] == "one"], Tempo(), start=start[kind])
    assert alone.pool_state("two") == half.pool_state("two")


def test_a_pool_with_two_states_is_rejected(rated):
    states = rated.states
    broken = states.with_columns(pool_events=pl.int_range(pl.len()).cast(pl.Float64))
    with pytest.raises(ResultsError, match=r"row 2, column pool_events.*the same on every row of the pool"):
        podium.rate(ROWS, Tempo(), start=broken)
    with pytest.raises(ResultsError, match=r"pool_surprise: is missing, but needed with pool_day"):
        podium.rate(ROWS, Tempo(), start=states.drop("pool_surprise"))
    without = podium.rate(ROWS, Tempo(), start=states.select("pool", "player", "rating"))
    assert without.start.pools == {}


def test_expected_scores_use_their_pools_state(rated):
    """The stake changes no chance in this system, so the test inspects the system itself."""
    bound = Tempo().within(rated.pool_state("two"))
    assert bound.params().stake == 10.0 * (1.0 + rated.pool_state("two").surprise)
    assert bound == Tempo()
    assert (repr(bound), bound.label, hash(bound)) == (repr(Tempo()), "tempo", hash(Tempo()))
    assert Tempo().params().stake == 10.0


def test_systems_without_pool_state_have_no_pool_columns():
    elo = podium.rate(ROWS, "elo")
    assert elo.replayed.pools.shape == (2, 0)
    assert elo.replayed.pool_history.shape == (12, 0)
    assert elo.pool_state("one") == ()
    assert not [name for name in elo.states.columns if name.startswith("pool_")]
    with pytest.raises(UnknownError):
        elo.pool_state("three")


def test_a_pool_state_of_the_wrong_type_is_rejected():
    class Idle(Tempo):
        name: ClassVar[str] = "idle"

        def new_pool(self):
            return (0.0, 0.0, 0.0)

    with pytest.raises(RuleError, match=r"new_pool\(\) returns .*; it must return Learnt"):
        podium.rate(ROWS, Idle())


def test_undated_events_have_no_day():
    rows = [{name: row[name] for name in row if name != "started_at"} for row in ROWS]
    assert np.isnan(encode(podium.read_results(rows), Tempo()).columns.day).all()
    assert encode(podium.read_results(ROWS), podium.systems.find("elo")()).columns.day.size == 0


def test_states_can_be_written_as_csv_text(rated):
    text = io.StringIO(rated.states.write_csv())
    assert "pool_surprise" in text.getvalue().splitlines()[0]
