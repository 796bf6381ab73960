"""The system `adaptive` compared with its measured prototype, and the exact derivatives of its learning."""

import copy
import functools
import itertools
import math
import pickle
from datetime import UTC, datetime, timedelta
from itertools import chain

import numpy as np
import polars as pl
import pytest

import podium
from podium.engine import rules
from podium.engine.inputs import PRESENT, Occasion
from podium.engine.replay import newcomers, replay, scratch_for
from podium.engine.tables.encoding import encode
from podium.engine.tables.equipment import MARK
from podium.errors import ParameterError
from podium.kernels.records import read
from podium.ledger.history import events_of_updates
from podium.systems import _adaptive_update, make_system
from podium.systems._adaptive_state import FILTERED, MEANS, SCALE, SIDE_VARIANCE, THETA, TICK, readings
from podium.systems.adaptive import Adaptive

STILL = 1e200  # a curvature so high that theta never moves


def mixed_season(events=60, players=9, modes=(None,), cars=0):
    """Return races of two to five over nine years, in one or two heats, weeks apart, with quits and ties.

    With cars, two entrants of each race drive one, and the first in a heat of every other event has the first move.
    """
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
                    | ({"shared:car": f"car {(place + number) // 2 % cars}"} if cars else {})
                    | ({"side": "white"} if cars and number % 2 and place == 1 + heat else {})
                )
    return podium.read_results(pl.DataFrame(rows, infer_schema_length=None))


def count_of(system):
    """Return the number of a pool's parameters, including those of the side that begins."""
    names = system.pool_state_type._fields[THETA:]
    return next(k for k, name in enumerate(names) if name.startswith("m_"))


def start_of(system):
    """Return the start values of the parameters."""
    return np.array(system.new_pool())[THETA : THETA + count_of(system)]


def curvature_in(system):
    """Return the place of the curvature in a pool's state."""
    count = count_of(system)
    return slice(THETA + count, THETA + count + count * (count + 1) // 2)


def pool_of(system, theta=None, curvature=None):
    """Return a pool's state with other parameters or another curvature."""
    pool, count = np.array(system.new_pool()), count_of(system)
    if theta is not None:
        pool[THETA : THETA + count] = theta
    if curvature is not None:
        pool[curvature_in(system)] = np.eye(count)[np.tril_indices(count)] * curvature
    return pool[None]


def read_states(system, states, pool):
    """Return the readings of all means and variances without elapsed time: (players, 2)."""
    params, count = system.within(pool, Occasion(0.0, -1.0)).params(), count_of(system)
    everyone = [read(states, k, system.newcomer()) for k in range(len(states))]
    return np.array([readings(params, me, MEANS, count) for me in everyone])


def skills(system, states):
    """Return all means and variances in log-odds: (players, 2)."""
    return np.stack([(states[:, 0] - system.initial) / SCALE, (states[:, FILTERED] / SCALE) ** 2], axis=1)


@functools.cache
def rated_history(path, system):
    """Rate a history. ZakStunts has no dates, so events are 30.4 days apart, as in the prototype."""
    results = pl.read_parquet(path)
    number = pl.col("event_id").rle_id()
    day = pl.duration(microseconds=(number * 30.4 * 86_400_000_000).cast(pl.Int64))
    dated = results.with_columns(pl.col("started_at").fill_null(pl.datetime(1990, 1, 1) + day))
    return podium.rate(dated.drop("odds", "team_name", strict=False), system)


HISTORIES = {
    "zakstunts": ("data/zakstunts", "adaptive"),
    "tcec": ("truth/data/tcec", "adaptive"),
    "volley_players": ("truth/data/volley_players", "adaptive:shared=team"),
}


@pytest.fixture(params=HISTORIES)
def measured(request, shared):
    """Return the prototype's measurements by kind, and the rated history."""
    path, system = HISTORIES[request.param]

    def reference(kind):
        return pl.read_csv(shared(f"truth/fourth_golden/{request.param}_{kind}.csv"))

    return reference, rated_history(shared(f"{path}.parquet"), system)


def sorted_states(frame, columns):
    """Return states sorted by rating, because players of two pools may share a name."""
    return frame.select(columns).sort(columns).to_numpy()


def test_ratings_and_deviations_equal_the_prototypes(measured):
    reference, rated = measured
    columns, known = ["rating", "deviation", "events"], reference("ratings")
    is_player = ~pl.col("state").str.contains(r"^(team|side) \d+$")
    states = rated.states.with_columns(deviation="filtered").join(rated.ratings, on=["pool", "player"], how="semi")
    assert sorted_states(states, columns) == pytest.approx(sorted_states(known.filter(is_player), columns), abs=1e-6)
    equipment = [
        (state[0] - 1500.0, state[FILTERED], state[2])
        for name, state in zip(rated.events.player_names, rated.replayed.states, strict=True)
        if name.startswith(MARK)
    ]
    teams = known.filter(pl.col("state").str.starts_with("team "))
    assert len(equipment) == teams.height
    if equipment:
        assert np.array(sorted(equipment)) == pytest.approx(sorted_states(teams, columns), abs=1e-6)
    sides = [(SCALE * pool[4], SCALE * math.sqrt(pool[5])) for pool in rated.replayed.pools if pool[SIDE_VARIANCE] > 0]
    expected = known.filter(pl.col("state").str.contains(r"^side \d+$")).select("rating", "deviation").iter_rows()
    assert list(chain(*sorted(sides))) == pytest.approx(list(chain(*sorted(expected))), abs=1e-6)


def test_readings_equal_the_prototypes(measured):
    reference, rated = measured
    known = reference("ratings").select("state", "x_rating", "x_variance")
    once = rated.states.filter(pl.len().over("player") == 1)  # in the last pool, whose theta the prototype reads
    states = once.filter(pool=rated.events.pools[-1].name).join(known, left_on="player", right_on="state")
    assert states.height > 100
    system = rated.system.within(rated.replayed.pools[-1])
    for row in states.iter_rows(named=True):
        me = rules.enter(
            system.params(), system.state_type(*(row[name] for name in system.state_type._fields)), PRESENT
        )
        assert SCALE * me.mean_reading == pytest.approx(row["x_rating"], abs=1e-6)


def test_theta_equals_the_prototypes(measured):
    reference, rated = measured
    theta = reference("theta")
    update_numbers = events_of_updates(rated.events).select("update", event="event_id")
    both = theta.join(update_numbers, on="event", maintain_order="left")
    mine = rated.replayed.pool_history[both["update"].to_numpy(), THETA : THETA + theta.width - 1]
    assert np.abs(mine - theta.drop("event").to_numpy()).max() < 1e-6


def test_changes_and_their_reasons_equal_the_prototypes(measured):
    reference, rated = measured
    deltas = reference("deltas").join(rated.history, left_on=["event", "state"], right_on=["event_id", "player"])
    assert deltas.height > 100
    assert (deltas["delta"] - deltas["by_time"] - deltas["by_opponents"]).abs().max() < 1e-6
    assert (deltas["before"] - deltas["rating_before"]).abs().max() < 1e-6
    for event, player, delta in deltas.select("event", "state", "delta").head(40).iter_rows():
        explanation = rated.explain(event, player)
        assert explanation.delta == delta
        assert explanation.rows["contribution"].sum() == pytest.approx(delta, abs=1e-9)


def test_contributions_and_predictions_equal_the_prototypes(shared):
    rated = rated_history(shared("data/zakstunts.parquet"), "adaptive")
    keys = ["event_id", "player", "opponent"]
    known = pl.read_csv(shared("truth/fourth_golden/zakstunts_contributions.csv")).rename({"event": "event_id"})
    known = known.with_columns(row=pl.int_range(pl.len()).over(keys))
    pairs = rated.predictions().with_columns(row=pl.int_range(pl.len()).over(keys))
    both = pairs.join(known, on=[*keys, "row"], suffix="_then")
    assert both.height == known.height // 2
    assert (both["expected"] - both["expected_then"]).abs().max() < 1e-6
    whole = known.group_by("event_id", "player").agg(pl.col("points").sum(), pl.len()).head(20)
    compared = 0
    for event, player, points, count in whole.iter_rows():
        mine = rated.explain(event, player).rows.filter(pl.col("cause") != "time")
        if mine.height == count:  # the file ends within an event
            assert mine["contribution"].sum() == pytest.approx(points, abs=1e-6)
            compared += 1
    assert compared > 10


def test_a_duels_forecast_is_its_expected_score(measured):
    _, rated = measured
    pool = rated.events.pools[0].name
    one, two = rated.ratings.filter(pool=pool)["player"][[0, 7]]
    forecast = rated.predict([one, two], pool=pool)
    chances = dict(forecast.entrants.select("player", "win").iter_rows())
    assert chances[one] + (forecast.draw or 0.0) / 2.0 == pytest.approx(rated.expected(one, two, pool), abs=1e-6)
    assert forecast.pairs["expected"].sum() == pytest.approx(1.0)


SEASON = mixed_season()
CLAY = mixed_season(modes=("Clay", "grass", None, "Clay"))
CARS = mixed_season(cars=3)
SYSTEMS = {
    "core": (Adaptive(), SEASON),
    "modes": (Adaptive(modes="clay, grass"), CLAY),
    "units": (Adaptive(shared="car"), CARS),
}


@pytest.fixture(scope="module", params=SYSTEMS)
def case(request):
    """Return a system, its events, and the number of parameters with an effect. The last two are for the side only."""
    system, results = SYSTEMS[request.param]
    return system, encode(results, system), count_of(system) - (0 if request.param == "units" else 2)


def derivatives(system, states, count):
    """Return the derivatives of all means and variances by each parameter: (players, 2, parameters)."""
    columns = count_of(system) + 1
    return np.stack([states[:, at : at + count] for at in (MEANS + 1, MEANS + columns + 1)], axis=1)


def test_derivatives_equal_central_differences(case):
    system, events, count = case
    start = start_of(system)
    start[4], start[5] = 0.05, 0.02  # otherwise growth and ageing would have no effect
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


def test_theta_follows_the_slope_of_the_log_loss(case):
    """With a curvature so large that theta hardly moves, M times the summed steps is minus the slope of the loss."""
    system, events, count = case
    large, start, whole = 1e6, start_of(system), count_of(system)
    replayed = replay(system, events, None, pool_of(system, start, large))
    history = np.concatenate([pool_of(system, start, large), replayed.pool_history])
    summed = np.zeros(whole)
    for before, after in itertools.pairwise(history):
        curvature = np.zeros((whole, whole))
        curvature[np.tril_indices(whole)] = after[curvature_in(system)]
        curvature = curvature + np.tril(curvature, -1).T
        summed += curvature @ (after - before)[THETA : THETA + whole]

    def loss(theta):
        rated = podium.Rated(system, "event", events, replay(system, events, None, pool_of(system, theta, STILL)))
        pairs = rated.predictions()
        size = pl.len().over("event_id", "heat")  # number of pairs, without pairs of two players who did not finish
        entries = (pl.lit(1.0) + (1.0 + 8.0 * size).sqrt()) / 2.0
        gain = pl.col("result") * pl.col("expected").log() + (1.0 - pl.col("result")) * (1.0 - pl.col("expected")).log()
        return -pairs.select((gain * (2.0 / entries).sqrt()).sum()).item()

    for k in range(count):
        step = np.eye(whole)[k] * 1e-4
        slope = (loss(start + step) - loss(start - step)) / 2e-4
        assert summed[k] == pytest.approx(-slope, rel=2e-3, abs=1e-3)


def test_a_fixed_theta_leaves_no_reading(case):
    system, events, _ = case
    pool = pool_of(system, curvature=STILL)
    replayed = replay(system, events, None, pool)
    start = start_of(system)
    assert replayed.pools[0, THETA : THETA + start.size] == pytest.approx(start, rel=0.0, abs=1e-150)
    assert np.abs(read_states(system, replayed.states, replayed.pools[0])).max() < 1e-12


def test_a_reading_predicts_the_state_under_another_theta(case, monkeypatch):
    """If theta jumps halfway, state plus reading is, to first order, the state under the new theta from the start."""
    monkeypatch.setattr(_adaptive_update, "LINGER", 1.0)
    monkeypatch.setattr(_adaptive_update, "MODE_TOLERANCE", 1e-10)  # each step must reach its mode
    system, events, count = case
    every, newcomer_states = range(12), newcomers(system, events.player_names.len())  # plain Python is slow
    first, then = every[:7], every[7:]

    def started(theta):
        return pool_of(system, theta, STILL)[0]

    theta, learnt = start_of(system), slice(THETA, curvature_in(system).stop)
    theta[4], theta[5] = 0.05, 0.02
    half_way, pool_half_way = in_python(system, events, newcomer_states, started(theta), first)
    old = skills(system, in_python(system, events, half_way, pool_half_way, then)[0])
    for k in range(count):
        jumped = theta.copy()
        jumped[k] += 1e-4
        new = skills(system, in_python(system, events, newcomer_states, started(jumped), every)[0])
        pool = pool_half_way.copy()
        pool[learnt] = started(jumped)[learnt]
        states, pool = in_python(system, events, half_way, pool, then)
        jump = skills(system, states)
        moved = np.abs(new - old).max()
        assert moved > 1e-9
        off = np.abs(jump + read_states(system, states, pool) - new).max()
        assert off <= 1e-4 * moved + 1e-13


def in_python(system, events, states, pool, updates):
    """Rate some of the events in plain Python, starting from these states, and return states and pool."""
    states, columns = states.copy(), events.columns
    scratch = scratch_for(system, columns, 0, columns.entrants.size - 1, pool.copy())
    after = np.empty((scratch.entering_states.shape[0], states.shape[1]))
    for update in updates:
        params = rules.params_in_pool(system.params(), columns, update, scratch.pool)
        rules.rate_event(params, system.prototypes(), columns, update, states, scratch, after, 0)
        players = columns.player[columns.entrants[update] : columns.entrants[update + 1]]
        states[players] = after[: players.size]
    return states, scratch.pool


def test_live_ratings_count_undated_events_as_replay_does():
    """Each pool counts its own events, and a month passes between two events of a player."""
    frame = SEASON.frame.drop("started_at")
    whole, live = podium.rate(frame, "adaptive"), podium.Live("adaptive")
    parts = [live.rate(event) for event in frame.partition_by("event_id", maintain_order=True)]
    assert pl.concat(parts).rows() == whole.history.rows()
    assert live.pool_state() == whole.pool_state()
    assert whole.pool_state().day == 60 * TICK
    gap = math.exp(whole.pool_state().gap)
    fields = frame.group_by("event_id").agg(pl.col("player").n_unique())["player"]
    assert gap == pytest.approx(frame["player"].n_unique() / fields.mean(), rel=0.5)


def duels(events, begin=None, days=30.4, first=0):
    """Return duels with or without dates, in which Ana beats Ben two times in three."""
    rows = [
        {"event_id": f"e{first + k}", "player": player, "position": 1 + ((player == "ana") == (k % 3 == 0))}
        | ({} if begin is None else {"started_at": begin + timedelta(days=days * k)})
        for k in range(events)
        for player in ("ana", "ben")
    ]
    return pl.DataFrame(rows)


def test_a_month_passes_between_undated_events_of_a_player():
    counted, dated = (podium.rate(duels(40, begin), "adaptive") for begin in (None, datetime(1990, 1, 1, tzinfo=UTC)))
    assert counted.history["rating"].to_list() == pytest.approx(dated.history["rating"].to_list(), abs=1e-6)
    assert counted.history["deviation"].to_list() == pytest.approx(dated.history["deviation"].to_list(), abs=1e-6)


@pytest.mark.parametrize("begin", [datetime(1950, 5, 13, tzinfo=UTC), datetime(2025, 1, 1, tzinfo=UTC)])
def test_no_time_passes_from_undated_events_to_the_first_dated_event(begin, tmp_path):
    rated = podium.rate(duels(30), "adaptive")
    before = dict(rated.ratings.select("player", "deviation").iter_rows())
    rated.save(tmp_path / "ratings.parquet")
    later = duels(30, begin, days=10.0, first=30)
    on_file = podium.rate(later, "adaptive", start=tmp_path / "ratings.parquet")
    live = podium.Live("adaptive")
    changes = [live.rate(event) for event in (duels(30), later.head(2), later.tail(-2))]
    assert pl.concat(changes[1:])["rating"].to_list() == on_file.history["rating"].to_list()
    assert on_file.history["delta"].abs().max() < 60.0
    for player, deviation in on_file.history.head(2).select("player", "deviation").iter_rows():
        assert deviation < before[player] + 1.0


def test_undated_events_are_judged_as_they_are_predicted():
    results = podium.simulate(players=8, events=90, entrants=2, seed=4).results.drop("started_at")
    judged = podium.rate(results, "adaptive").predictions()
    chance, won = judged["expected"].to_numpy(), judged["result"].to_numpy()
    loss = -np.mean(won * np.log(chance) + (1.0 - won) * np.log1p(-chance))
    assert podium.evaluate(results, "adaptive").scores["log_loss"][0] == pytest.approx(loss, abs=1e-12)


def test_modes_survive_copies_and_live_ratings_equal_a_replay():
    system = Adaptive(modes="clay, grass")
    assert (system.modes, system.label) == ("clay/grass", "adaptive:modes=clay/grass")
    for same in (copy.deepcopy(system), pickle.loads(pickle.dumps(system)), make_system(system.label)):  # noqa: S301
        assert same == system
        assert type(same) is type(system)
    assert make_system("adaptive") == Adaptive(modes="") == Adaptive(modes=None)
    assert type(Adaptive()) is Adaptive
    whole, live = podium.rate(CLAY, system), podium.Live(system)
    parts = [live.rate(event) for event in CLAY.frame.partition_by("event_id", maintain_order=True)]
    assert pl.concat(parts).rows() == whole.history.rows()
    assert live.pool_state() == whole.pool_state()
    for event, player, delta in whole.history.select("event_id", "player", "delta").tail(40).iter_rows():
        assert whole.explain(event, player).rows["contribution"].sum() == pytest.approx(delta, abs=1e-9)


def test_cars_and_the_first_move_are_equal_live_and_are_not_players():
    whole, live = podium.rate(CARS, "adaptive:shared=car"), podium.Live("adaptive:shared=car")
    parts = [live.rate(event) for event in CARS.frame.partition_by("event_id", maintain_order=True)]
    assert pl.concat(parts).rows() == whole.history.rows()
    assert live.pool_state() == whole.pool_state()
    assert live.pool_state().side_variance > 0.0
    assert set(whole.ratings["player"]) == set(live.leaderboard()["player"]) == set(CARS.frame["player"])
    for event, player, delta in whole.history.select("event_id", "player", "delta").tail(40).iter_rows():
        assert whole.explain(event, player).rows["contribution"].sum() == pytest.approx(delta, abs=1e-9)


def test_a_player_is_expected_to_do_better_in_a_suitable_mode():
    duels = [
        {"event_id": f"e{k}", "mode": mode, "player": player, "position": 1 + (player == loser)}
        for k in range(40)
        for mode, loser in [("clay", "ben") if k % 2 else ("grass", "ana")]
        for player in ("ana", "ben")
    ]
    chance_of_ana = pl.when(pl.col("player") == "ana").then("expected").otherwise(1.0 - pl.col("expected"))
    plain, known = (
        podium.rate(duels, system).predictions().select(chance_of_ana).to_series()
        for system in ("adaptive", Adaptive(modes="clay,grass"))
    )
    assert known[39] > 0.6 > plain[39]
    assert known[38] < 0.4 < plain[38]


def test_without_growth_time_changes_no_rating():
    rated = podium.rate(SEASON, Adaptive(growth=False))
    assert rated.pool_state().growth == rated.pool_state().ageing == 0.0
    for event, player in rated.history.select("event_id", "player").tail(20).iter_rows():
        assert "time" not in rated.explain(event, player).rows["cause"].to_list()
    causes = [
        podium.rate(SEASON, "adaptive").explain(event, player).rows["cause"].to_list()
        for event, player in rated.history.select("event_id", "player").tail(5).iter_rows()
    ]
    assert any("time" in each for each in causes)


def test_a_new_season_shrinks_means_and_their_derivatives():
    """Deviations, variances and the pool's state stay."""
    live = podium.Live("adaptive")
    live.rate(SEASON)
    pool, system = live.pool_state(), live.system
    _, before, after = live.reset(0.5)
    assert live.pool_state() == pool
    columns = count_of(system) + 1
    assert (after[:, 0] - 1500.0).tolist() == pytest.approx((0.5 * (before[:, 0] - 1500.0)).tolist())
    assert after[:, MEANS : MEANS + columns].tolist() == (0.5 * before[:, MEANS : MEANS + columns]).tolist()
    assert after[:, MEANS + columns :].tolist() == before[:, MEANS + columns :].tolist()
    readings = [read_states(system, states, np.array(pool)) for states in (before, after)]
    assert readings[1][:, 0] == pytest.approx(0.5 * readings[0][:, 0])


def test_a_starting_deviation_is_kept():
    start = [{"player": "ana", "rating": 1700.0, "deviation": 60.0}, {"player": "ben", "rating": 1700.0}]
    duel = [{"event_id": "e", "player": "ana", "position": 2}, {"event_id": "e", "player": "ben", "position": 1}]
    moved = podium.rate(duel, "adaptive", start=start).history
    delta = dict(zip(moved["player"], moved["delta"].abs(), strict=True))
    assert 5.0 < delta["ana"] < 0.2 * delta["ben"]


def test_modes_must_be_text():
    with pytest.raises(ParameterError, match=r"modes is 3; it must be a text or none"):
        Adaptive(modes=3)  # type: ignore[arg-type]
