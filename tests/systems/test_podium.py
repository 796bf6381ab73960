"""Podium against its measured prototype, and what makes its learning right: exact derivatives, and readings."""

import copy
import functools
import itertools
import math
import pickle
from datetime import UTC, datetime, timedelta

import numpy as np
import polars as pl
import pytest

import podium
from podium.engine import rules
from podium.engine.inputs import PRESENT, Occasion
from podium.engine.replay import newcomers, replay, scratch_for
from podium.engine.tables.encoding import encode
from podium.errors import ParameterError
from podium.kernels.records import read
from podium.systems import _podium_state, make_system
from podium.systems._podium_state import MEANS, PARAMETERS, SCALE, START, THETA, TICK
from podium.systems.podium import Podium

STILL = 1e200  # a curvature under which theta never moves
THETA_NAMES = ("spread", "event", "day", "noise", "growth", "ageing", "dnf", "reach")  # of the prototype


def mixed_season(events=60, players=9, modes=(None,)):
    """Fields of two to five, in up to two heats, weeks apart, with quits and ties, over nine years."""
    rng, day = np.random.default_rng(11), 0.0
    rows = []
    for number in range(events):
        day += float(rng.exponential(55.0))
        field = rng.permutation(players)[: rng.integers(2, 6)]
        for heat in range(int(rng.integers(1, 3))):
            order = np.argsort(rng.gumbel(size=field.size) - 0.4 * field)
            for place, entrant in enumerate(order.tolist(), 1):
                rows.append(
                    {
                        "event_id": f"e{number}",
                        "started_at": np.datetime64("2001-01-01") + np.timedelta64(int(day * 86400), "s"),
                        "heat": str(heat),
                        "player": f"p{field[entrant]}",
                        "position": None if place == field.size and number % 4 == 0 else max(place - number % 2, 1),
                        "status": "dnf" if place == field.size and number % 4 == 0 else "finished",
                        "mode": modes[number % len(modes)],
                    }
                )
    return podium.read_results(pl.DataFrame(rows, infer_schema_length=None))


def pool_of(system, theta=None, curvature=None):
    """A pool's state at other parameters, or with so much curvature."""
    pool = np.array(system.new_pool())
    count = sum(not name.startswith("m_") for name in system.pool_state_type._fields) - THETA
    if theta is not None:
        pool[THETA : THETA + count] = theta
    if curvature is not None:
        pool[THETA + count :] = np.eye(count)[np.tril_indices(count)] * curvature
    return pool[None]


def read_states(system, states, pool):
    """Everybody's mean and variance as theta reads them, without time passing: (players, 2) each."""
    bound = system.within(pool, Occasion(0.0, -1.0))
    entering = [rules.enter(bound.params(), read(states, k, system.newcomer()), PRESENT) for k in range(len(states))]
    return np.array([[each.mean_reading, each.variance_reading] for each in entering])


def skills(system, states):
    """Everybody's mean and variance in log-odds: (players, 2)."""
    return np.stack([(states[:, 0] - system.initial) / SCALE, (states[:, 1] / SCALE) ** 2], axis=1)


@functools.cache
def rated_history(path):
    """Of ZakStunts, which has no dates, as the prototype dates it: 30.4 days apart."""
    results = pl.read_parquet(path)
    number = pl.col("event_id").rle_id()
    day = pl.duration(microseconds=(number * 30.4 * 86_400_000_000).cast(pl.Int64))
    return podium.rate(results.with_columns(pl.col("started_at").fill_null(pl.datetime(1990, 1, 1) + day)), "podium")


@pytest.fixture(params=["zakstunts", "speedway"])
def measured(request, shared):
    """What the prototype gave, by kind, and the history as it is rated; a meeting of speedway is one event."""

    def reference(kind):
        return pl.read_csv(shared(f"truth/golden/core_{request.param}_{kind}.csv"))

    return reference, rated_history(shared(f"data/{request.param}.parquet"))


def test_ratings_deviations_and_readings_are_the_prototype_s(measured):
    reference, rated = measured
    pool = rated.system.within(rated.replayed.pools[0])
    everyone = rated.states.join(reference("ratings"), on="player", suffix="_then", validate="1:1")
    assert everyone.height == rated.states.height
    for column in ("rating", "deviation", "events"):
        assert everyone[column].to_numpy() == pytest.approx(everyone[f"{column}_then"].to_numpy(), abs=1e-6)
    known = reference("readings")
    states = rated.states.join(known, on="player", maintain_order="right").select(rated.system.state_type._fields)
    brought = [rules.enter(pool.params(), rated.system.state_type(*row), PRESENT) for row in states.iter_rows()]
    assert [SCALE * me.mean_reading for me in brought] == pytest.approx(known["x_rating"].to_list(), abs=1e-6)
    assert [me.variance_reading for me in brought] == pytest.approx(known["x_variance"].to_list(), abs=1e-6)


def test_theta_is_the_prototype_s_after_every_event(measured):
    reference, rated = measured
    theta = reference("theta")
    mine = rated.replayed.pool_history[:, THETA : THETA + PARAMETERS]
    assert np.abs(mine - theta.select(THETA_NAMES).to_numpy()).max() < 1e-6
    assert rated.pool_state().spread == mine[-1, 0]


def test_changes_and_their_reasons_are_the_prototype_s(measured):
    reference, rated = measured
    deltas = reference("deltas")
    first = rated.history.head(deltas.height)
    assert first["player"].to_list() == deltas["player"].to_list()
    assert (first["delta"] - deltas["by_time"] - deltas["by_opponents"]).abs().max() < 1e-6
    by_opponent = {
        key: (points["points"].sum(), points.height)
        for key, points in reference("contributions").group_by("event", "player", "opponent")
    }
    compared = 0
    for event, player, by_time in deltas.select("event", "player", "by_time").head(60).iter_rows():
        explanation = rated.explain(event, player)
        assert explanation.rows["contribution"].sum() == pytest.approx(explanation.delta, abs=1e-9)
        reasons = explanation.rows.group_by("cause", "opponent").agg(pl.col("contribution").sum(), pl.len())
        for cause, opponent, contribution, duels in reasons.iter_rows():
            if cause == "time":
                assert contribution == pytest.approx(by_time, abs=1e-6)
                continue
            points, written = by_opponent.get((event, player, opponent), (0.0, 0))
            if written == duels:  # the file ends within an event
                assert contribution == pytest.approx(points, abs=1e-6)
                compared += 1
    assert compared > 100


def test_predictions_are_the_prototype_s(measured):
    reference, rated = measured
    keys = ["event_id", "player", "opponent"]
    known = reference("contributions").rename({"event": "event_id", "expected": "then"})
    known = known.with_columns(row=pl.int_range(pl.len()).over(keys))
    pairs = rated.predictions().with_columns(row=pl.int_range(pl.len()).over(keys))
    both = pairs.join(known, on=[*keys, "row"])
    assert both.height == known.height // 2
    assert (both["expected"] - both["then"]).abs().max() < 1e-6


def test_a_duel_s_forecast_is_its_expected_score(measured):
    _, rated = measured
    one, two = rated.ratings["player"][0], rated.ratings["player"][7]
    forecast = rated.predict([one, two])
    chances = dict(forecast.entrants.select("player", "win").iter_rows())
    assert chances[one] == pytest.approx(rated.expected(one, two), abs=1e-6)
    assert forecast.pairs["expected"].sum() == pytest.approx(1.0)


SEASON = mixed_season()
CLAY = mixed_season(modes=("Clay", "grass", None, "Clay"))
SYSTEMS = {"core": (Podium(), SEASON), "modes": (Podium(modes="clay, grass"), CLAY)}


@pytest.fixture(scope="module", params=SYSTEMS)
def case(request):
    """A system, its events, and its parameters' number."""
    system, results = SYSTEMS[request.param]
    return system, encode(results, system), PARAMETERS + (system.modes is not None)


def derivatives(system, states, count):
    """Of everybody's skill: mean and variance by each parameter, (players, 2, parameters)."""
    columns = count + 1
    return np.stack([states[:, MEANS : MEANS + count], states[:, MEANS + columns : MEANS + columns + count]], axis=1)


def test_derivatives_are_those_of_central_differences(case):
    system, events, count = case
    start = START[:count].copy()
    start[4], start[5] = 0.05, 0.02  # or neither growth nor ageing would move anything
    exact = derivatives(system, replay(system, events, None, pool_of(system, start, STILL)).states, count)
    assert (np.abs(exact).max(axis=(0, 1)) > 1e-4).all()
    for k in range(count):
        ends = []
        for step in (1e-5, -1e-5):
            moved = start.copy()
            moved[k] += step
            ends.append(skills(system, replay(system, events, None, pool_of(system, moved, STILL)).states))
        slope = (ends[0] - ends[1]) / 2e-5
        assert np.abs(slope - exact[:, :, k]).max() < 1e-5 * np.abs(exact[:, :, k]).max() + 1e-9


def test_theta_steps_along_the_slope_of_the_log_loss(case):
    """With a curvature so large that theta hardly moves, M times the steps is what the loss loses by theta."""
    system, events, count = case
    large, start = 1e6, START[:count].copy()
    replayed = replay(system, events, None, pool_of(system, start, large))
    history = np.concatenate([pool_of(system, start, large), replayed.pool_history])
    summed = np.zeros(count)
    for before, after in itertools.pairwise(history):
        curvature = np.zeros((count, count))
        curvature[np.tril_indices(count)] = after[THETA + count :]
        curvature = curvature + np.tril(curvature, -1).T
        summed += curvature @ (after - before)[THETA : THETA + count]

    def loss(theta):
        rated = podium.Rated(system, "event", events, replay(system, events, None, pool_of(system, theta, STILL)))
        pairs = rated.predictions()
        size = pl.len().over("event_id", "heat")  # of pairs; two who did not finish are none of them
        entries = (pl.lit(1.0) + (1.0 + 8.0 * size).sqrt()) / 2.0
        gain = pl.col("result") * pl.col("expected").log() + (1.0 - pl.col("result")) * (1.0 - pl.col("expected")).log()
        return -pairs.select((gain * (2.0 / entries).sqrt()).sum()).item()

    for k in range(count):
        step = np.eye(count)[k] * 1e-4
        slope = (loss(start + step) - loss(start - step)) / 2e-4
        assert summed[k] == pytest.approx(-slope, rel=2e-3, abs=1e-3)


def test_a_still_theta_leaves_no_reading(case):
    system, events, _ = case
    pool = pool_of(system, curvature=STILL)
    replayed = replay(system, events, None, pool)
    assert replayed.pools[0, THETA : THETA + PARAMETERS] == pytest.approx(START[:PARAMETERS], rel=0.0, abs=1e-150)
    assert np.abs(read_states(system, replayed.states, replayed.pools[0])).max() < 1e-12


def test_a_reading_is_what_another_theta_would_have_given(case, monkeypatch):
    """Theta jumps half way: state and reading are then the state under the new theta from the start, to first order."""
    monkeypatch.setattr(_podium_state, "LINGER", 1.0)
    system, events, count = case
    half = 30

    def run(first, then):
        return in_python(system, events, pool_of(system, first, STILL)[0], pool_of(system, then, STILL)[0], half)

    theta = START[:count].copy()
    theta[4], theta[5] = 0.05, 0.02
    old = skills(system, run(theta, theta)[0])
    for k in range(count):
        jumped = theta.copy()
        jumped[k] += 1e-4
        new = skills(system, run(jumped, jumped)[0])
        states, pool = run(theta, jumped)
        jump = skills(system, states)
        moved = np.abs(new - old).max()
        assert moved > 1e-9
        off = np.abs(jump + read_states(system, states, pool) - new).max()
        assert off <= 1e-4 * moved + 1e-13


def in_python(system, events, first, then, half):
    """The states after the events, rated in plain Python, and the pool; `then` is the pool's state from `half` on."""
    states, columns = newcomers(system, events.player_names.len()), events.columns
    last = columns.entrants.size - 1
    scratch = scratch_for(system, columns, 0, last, first.copy())
    after = np.empty((scratch.entering_states.shape[0], states.shape[1]))
    for settlement in range(last):
        if settlement == half:
            scratch.pool[THETA:] = then[THETA:]
        params = rules.params_in_pool(system.params(), columns, settlement, scratch.pool)
        rules.rate_event(params, system.prototypes(), columns, settlement, states, scratch, after, 0)
        players = columns.player[columns.entrants[settlement] : columns.entrants[settlement + 1]]
        states[players] = after[: players.size]
    return states, scratch.pool


def test_live_keeps_the_clock_of_results_without_dates():
    """Events are counted in each pool, however they come; a month passes between a player's own."""
    frame = SEASON.frame.drop("started_at")
    whole, live = podium.rate(frame, "podium"), podium.Live("podium")
    parts = [live.rate(event) for event in frame.partition_by("event_id", maintain_order=True)]
    assert pl.concat(parts).rows() == whole.history.rows()
    assert live.pool_state() == whole.pool_state()
    assert whole.pool_state().day == 60 * TICK
    gap = math.exp(whole.pool_state().gap)
    fields = frame.group_by("event_id").agg(pl.col("player").n_unique())["player"]
    assert gap == pytest.approx(frame["player"].n_unique() / fields.mean(), rel=0.5)


def duels(events, begin=None, days=30.4, first=0):
    """Ana beats Ben two times in three, at dates so far apart, or without any."""
    rows = [
        {"event_id": f"e{first + k}", "player": player, "position": 1 + ((player == "ana") == (k % 3 == 0))}
        | ({} if begin is None else {"started_at": begin + timedelta(days=days * k)})
        for k in range(events)
        for player in ("ana", "ben")
    ]
    return pl.DataFrame(rows)


def test_a_month_passes_between_the_undated_events_of_a_player():
    counted, dated = (podium.rate(duels(40, begin), "podium") for begin in (None, datetime(1990, 1, 1, tzinfo=UTC)))
    assert counted.history["rating"].to_list() == pytest.approx(dated.history["rating"].to_list(), abs=1e-6)
    assert counted.history["deviation"].to_list() == pytest.approx(dated.history["deviation"].to_list(), abs=1e-6)


@pytest.mark.parametrize("begin", [datetime(1950, 5, 13, tzinfo=UTC), datetime(2025, 1, 1, tzinfo=UTC)])
def test_no_time_passes_from_undated_events_to_the_first_that_has_a_date(begin, tmp_path):
    rated = podium.rate(duels(30), "podium")
    before = dict(rated.ratings.select("player", "deviation").iter_rows())
    rated.save(tmp_path / "ratings.parquet")
    later = duels(30, begin, days=10.0, first=30)
    on_file = podium.rate(later, "podium", start=tmp_path / "ratings.parquet")
    live = podium.Live("podium")
    changes = [live.rate(event) for event in (duels(30), later.head(2), later.tail(-2))]
    assert pl.concat(changes[1:])["rating"].to_list() == on_file.history["rating"].to_list()
    assert on_file.history["delta"].abs().max() < 60.0
    for player, deviation in on_file.history.head(2).select("player", "deviation").iter_rows():
        assert deviation < before[player] + 1.0


def test_undated_events_are_tuned_as_they_are_judged():
    results = podium.simulate(players=8, events=90, entrants=2, seed=4).results.drop("started_at")
    tuned = podium.tune(results, "podium", "50%", trials=1)
    pairs = podium.rate(results, "podium").predictions()
    later = results["event_id"].unique(maintain_order=True)[45:]
    judged = pairs.filter(pl.col("event_id").is_in(later.implode()))
    chance, won = judged["expected"].to_numpy(), judged["result"].to_numpy()
    loss = -np.mean(won * np.log(chance) + (1.0 - won) * np.log1p(-chance))
    assert tuned.test.scores["log_loss"][0] == pytest.approx(loss, abs=1e-12)


def test_modes_live_equals_replay_and_survive_copies():
    system = Podium(modes="clay, grass")
    assert (system.modes, system.label) == ("clay/grass", "podium:modes=clay/grass")
    for same in (copy.deepcopy(system), pickle.loads(pickle.dumps(system)), make_system(system.label)):  # noqa: S301
        assert same == system
        assert type(same) is type(system)
    assert make_system("podium") == Podium(modes="") == Podium(modes=None)
    assert type(Podium()) is Podium
    whole, live = podium.rate(CLAY, system), podium.Live(system)
    parts = [live.rate(event) for event in CLAY.frame.partition_by("event_id", maintain_order=True)]
    assert pl.concat(parts).rows() == whole.history.rows()
    assert live.pool_state() == whole.pool_state()
    for event, player, delta in whole.history.select("event_id", "player", "delta").tail(40).iter_rows():
        assert whole.explain(event, player).rows["contribution"].sum() == pytest.approx(delta, abs=1e-9)


def test_a_player_is_expected_to_do_better_in_the_mode_that_suits():
    duels = [
        {"event_id": f"e{k}", "mode": mode, "player": player, "position": 1 + (player == loser)}
        for k in range(40)
        for mode, loser in [("clay", "ben") if k % 2 else ("grass", "ana")]
        for player in ("ana", "ben")
    ]
    chance_of_ana = pl.when(pl.col("player") == "ana").then("expected").otherwise(1.0 - pl.col("expected"))
    plain, known = (
        podium.rate(duels, system).predictions().select(chance_of_ana).to_series()
        for system in ("podium", Podium(modes="clay,grass"))
    )
    assert known[39] > 0.6 > plain[39]
    assert known[38] < 0.4 < plain[38]


def test_without_growth_time_moves_no_rating():
    rated = podium.rate(SEASON, Podium(growth=False))
    assert rated.pool_state().growth == rated.pool_state().ageing == 0.0
    for event, player in rated.history.select("event_id", "player").tail(20).iter_rows():
        assert "time" not in rated.explain(event, player).rows["cause"].to_list()
    causes = [
        podium.rate(SEASON, "podium").explain(event, player).rows["cause"].to_list()
        for event, player in rated.history.select("event_id", "player").tail(5).iter_rows()
    ]
    assert any("time" in each for each in causes)


def test_a_new_season_shrinks_means_with_all_that_theta_does_to_them():
    """Deviations, variances and the pool stay, and so do odds of players who are level."""
    live = podium.Live("podium")
    live.rate(SEASON)
    pool, system = live.pool_state(), live.system
    _, before, after = live.reset(0.5)
    assert live.pool_state() == pool
    columns = PARAMETERS + 1
    assert (after[:, 0] - 1500.0).tolist() == pytest.approx((0.5 * (before[:, 0] - 1500.0)).tolist())
    assert after[:, MEANS : MEANS + columns].tolist() == (0.5 * before[:, MEANS : MEANS + columns]).tolist()
    assert after[:, MEANS + columns :].tolist() == before[:, MEANS + columns :].tolist()
    readings = [read_states(system, states, np.array(pool)) for states in (before, after)]
    assert readings[1][:, 0] == pytest.approx(0.5 * readings[0][:, 0])


def test_who_has_a_deviation_to_start_from_keeps_it():
    start = [{"player": "ana", "rating": 1700.0, "deviation": 60.0}, {"player": "ben", "rating": 1700.0}]
    duel = [{"event_id": "e", "player": "ana", "position": 2}, {"event_id": "e", "player": "ben", "position": 1}]
    moved = podium.rate(duel, "podium", start=start).history
    delta = dict(zip(moved["player"], moved["delta"].abs(), strict=True))
    assert 5.0 < delta["ana"] < 0.2 * delta["ben"]


def test_modes_are_text():
    with pytest.raises(ParameterError, match=r"modes is 3; it must be a text or none"):
        Podium(modes=3)  # type: ignore[arg-type]
