"""The kernel for runs of duels gives exactly the results of the general kernel, and stops at the same errors."""

from datetime import UTC, datetime, timedelta
from unittest import mock

import numpy as np
import polars as pl
import pytest
from bits import same_bits, same_numbers
from extent import times
from hypothesis import given, settings
from hypothesis import strategies as st

import podium
from podium.engine import replay as replaying
from podium.engine.inputs import Entry, Heat, mode_at, plain_entry
from podium.engine.lanes import CACHED, SEATS, is_far
from podium.engine.replay import goes_in_lanes, newcomers, replay
from podium.engine.rules import rate_two
from podium.engine.tables.encoding import encode
from podium.errors import NotFiniteError
from podium.kernels.records import LANES
from podium.systems import find, names

PLAYERS = [f"p{number}" for number in range(40)]
START = datetime(1949, 12, 30, tzinfo=UTC)
SERVED = set(names()) - {"codeforces", "elo-mmr", "adaptive", "xonstat-2015", "irating", "fide", "dwz", "uscf"}
# One system per kind of kernel: with and without lanes, with pair sums and with its own rule for two players. `make
# soak` runs all.
RUN = times(["elo", "glicko2", "openskill-bt", "stk-rd", "trueskill"], sorted(SERVED))
every_served = pytest.mark.parametrize("name", RUN)


def table(matches, system=None):
    """Return a results table. A match is its players and a number: below 0 if the first won, 0 for a draw."""
    whole_game = {"played_s": 600.0, "duration_s": 600.0} if system is not None and "played_s" in system.needs else {}
    rows = []
    for number, (players, result) in enumerate(matches):
        for place, player in zip((1 + (result > 0), 1 + (result < 0), 3), players, strict=False):
            shared = {"event_id": f"e{number}", "started_at": START + timedelta(hours=9 * number), "mode": "duel"}
            rows.append(
                shared | whole_game | {"player": player, "position": place, "time_s": 60.0 + place, "score": 9 - place}
            )
    return podium.read_results(pl.DataFrame(rows))


def random_matches(count, players=PLAYERS, seed=5):
    rng = np.random.default_rng(seed)
    return [(rng.choice(players, 2, replace=False).tolist(), int(rng.integers(-1, 2))) for _ in range(count)]


def rate_by_general_kernel(system, events):
    """Rate the events with the general kernel only."""
    with mock.patch.object(replaying, "MIN_DUELS", 1 << 60):
        return replay(system, events)


def rate_by_both_kernels(system, events):
    """Rate the events with the general kernel and with the kernel for duels."""
    with mock.patch.object(replaying, "MIN_DUELS", 1):
        return rate_by_general_kernel(system, events), replay(system, events)


def count_in_duels(system, events):
    """Count the updates that the kernel for duels rates."""
    with mock.patch.object(replaying, "MIN_DUELS", 1):
        runs = [run for pool in events.pools for run in replaying.runs(system, events.columns, pool.first, pool.last)]
    return sum(run.last - run.first for run in runs if run.duels)


@every_served
@settings(max_examples=10)
@given(data=st.data())
def test_duel_kernel_gives_the_bits_of_the_general_kernel(name, data):
    pair = st.lists(
        st.sampled_from(PLAYERS[: data.draw(st.sampled_from([3, 40]))]), min_size=2, max_size=2, unique=True
    )
    matches = data.draw(st.lists(st.tuples(pair, st.integers(-1, 1)), min_size=1, max_size=40))
    system = find(name)()
    events = encode(table(matches, system), system)
    assert same_bits(*rate_by_both_kernels(system, events))


@pytest.mark.parametrize("name", names())
def test_most_systems_use_the_duel_kernel(name):
    system = find(name)()
    events = encode(table(random_matches(60), system), system)
    assert count_in_duels(system, events) == (60 if name in SERVED else 0)


@every_served
def test_duel_kernel_gives_the_same_bits_for_many_duels(name):
    system = find(name)()
    for players in (PLAYERS, PLAYERS[:4]):
        events = encode(table(random_matches(1_500, players), system), system)
        assert count_in_duels(system, events) == 1_500
        general, by_duels = rate_by_both_kernels(system, events)
        assert same_bits(general, by_duels)


@pytest.fixture(scope="module")
def tennis(shared):
    """Return the last years of a real history of duels."""
    return podium.read_results(pl.read_parquet(shared("data/atp.parquet")).tail(24_000))


@pytest.mark.parametrize("name", [name for name in RUN if not find(name).needs])  # they need times or scores
def test_duel_kernel_gives_the_same_bits_for_tennis(name, tennis):
    system = find(name)()
    events = encode(tennis, system)
    assert count_in_duels(system, events) == 12_000
    assert same_bits(*rate_by_both_kernels(system, events))


@pytest.mark.parametrize("name", sorted(SERVED))
def test_rules_for_two_players_give_the_same_bits_in_python(name):
    system = find(name)()
    matches = random_matches(60, PLAYERS[:6])
    events = encode(table(matches, system), system)
    columns, params = events.columns, system.params()
    states = [system.newcomer()] * events.player_names.len()
    for i in range(0, 2 * len(matches), 2):
        one, other = columns.player[i : i + 2]
        mine, theirs = (Entry(*map(float, plain_entry(columns, k))) for k in (i, i + 1))
        heat = Heat(2.0, float(mode_at(columns, i // 2)))
        states[one], states[other] = rate_two(params, states[one], states[other], mine, theirs, heat)
    assert same_numbers(np.array(states), rate_by_general_kernel(system, events).states)


def test_only_long_runs_of_duels_use_the_duel_kernel():
    three = (PLAYERS[:3], -1)
    matches = [*random_matches(3), three, *random_matches(7), three, three, *random_matches(5), *random_matches(4)]
    system = find("elo")()
    events = encode(table([(players, -1) for players, _ in matches]), system)
    with mock.patch.object(replaying, "MIN_DUELS", 5):
        runs = list(replaying.runs(system, events.columns, 0, len(matches)))
    assert runs == [(0, 4, False), (4, 11, True), (11, 13, False), (13, 22, True)]
    assert same_bits(*rate_by_both_kernels(system, events))


def test_a_mean_size_of_two_does_not_make_duels():
    system = find("elo")()
    matches = [*random_matches(5), (PLAYERS[:3], -1), *random_matches(6)]
    columns = encode(table([(players, -1) for players, _ in matches]), system).columns
    offsets = np.cumsum([0, *(len(players) for players, _ in matches)])
    offsets[7:] -= 1  # three entrants, then one
    assert offsets[-1] == 2 * len(matches)
    with mock.patch.object(replaying, "MIN_DUELS", 5):
        runs = list(replaying.runs(system, columns._replace(entrants=offsets), 0, len(matches)))
    assert runs == [(0, 5, True), (5, 7, False), (7, 12, True)]


def errors_of_both_kernels(name, matches, start):
    """Return the errors of both kernels for events that lead to a non-finite state."""
    system = find(name)()
    events = encode(table(matches, system), system)
    found = []
    for least in (1, 1 << 60):
        states = newcomers(system, events.player_names.len())
        for number in start:
            states[events.columns.player[number], 0] = np.inf
        with mock.patch.object(replaying, "MIN_DUELS", least), pytest.raises(NotFiniteError) as error:
            replay(system, events, states)
        found.append((error.value.update, error.value.entrant, str(error.value)))
    return found


@pytest.mark.parametrize("winner", [0, 1])
@pytest.mark.parametrize("name", ["elo", "glicko2", "openskill-bt"])
def test_both_kernels_name_the_same_non_finite_state(name, winner):
    matches = [([a, b], -1) for (a, b), _ in random_matches(30)]
    by_duels, general = errors_of_both_kernels(name, matches, [20 + winner])
    assert by_duels == general


@pytest.mark.parametrize("name", ["elo", "openskill-bt"])
def test_the_first_non_finite_state_is_named_even_if_later_duels_are_rated_first(name):
    # The same two players meet repeatedly, while the other players' batches fill up and are rated.
    twice = [(PLAYERS[:2], -1)] * 6
    others = [([PLAYERS[k], PLAYERS[k + 1]], -1) for k in range(2, 38, 2)]
    by_duels, general = errors_of_both_kernels(name, [*twice, *others, *others], [10, 12, 40])
    assert by_duels == general
    by_duels, general = errors_of_both_kernels(name, [*twice, *others, *twice, *others], [14, 38])
    assert by_duels == general


@pytest.mark.parametrize("name", ["elo", "trueskill"])
def test_repeated_duels_of_one_pair_keep_the_same_bits(name):
    rng = np.random.default_rng(8)
    matches = []
    for _ in range(900):
        few = rng.random() < 0.4
        pair = PLAYERS[:2] if few else rng.choice(PLAYERS[2:], 2, replace=False).tolist()
        matches.append((pair, int(rng.integers(-1, 2))))
    system = find(name)()
    assert same_bits(*rate_by_both_kernels(system, encode(table(matches, system), system)))


def numbered_duels(numbers, rng):
    """Return a results table of duels with random winners, from two player numbers per duel."""
    event = np.arange(numbers.size) // 2
    rows = pl.DataFrame(
        {
            "event_id": event.astype(str),
            "started_at": np.datetime64(START.replace(tzinfo=None), "us") + event * np.timedelta64(1, "h"),
            "player": numbers.astype(str),
            "position": rng.permuted(np.tile([1, 2], (event[-1] + 1, 1)), axis=1).ravel(),
        }
    )
    return podium.read_results(rows)


@pytest.mark.parametrize("name", ["elo", "openskill-bt"])
def test_players_who_share_a_seat_keep_separate_ratings(name):
    first = np.arange(2 * SEATS + 8)
    few = np.array([0, 1, 2, SEATS, SEATS + 1, 2 * SEATS])
    rng = np.random.default_rng(9)
    often = np.concatenate([rng.choice(few, 2, replace=False) for _ in range(500)])
    system = find(name)()
    assert same_bits(*rate_by_both_kernels(system, encode(numbered_duels(np.concatenate([first, often]), rng), system)))


@pytest.mark.parametrize("name", ["elo", "openskill-bt"])
def test_duels_of_more_players_than_the_cache_holds_keep_the_same_bits(name):
    rng = np.random.default_rng(10)
    everyone = rng.permutation(CACHED // 2 + 2)
    again = np.concatenate([rng.permutation(everyone) for _ in range(2)])
    system = find(name)()
    events = encode(numbered_duels(np.concatenate([everyone, again]), rng), system)
    states = newcomers(system, events.player_names.len())
    assert is_far(states)
    assert goes_in_lanes(system)
    assert same_bits(*rate_by_both_kernels(system, events))


@pytest.mark.parametrize("name", ["elo", "openskill-bt"])
def test_batches_with_and_without_repeated_players_keep_the_same_bits(name):
    """Most batches have no repeated player. A few players return after every distance."""
    rng = np.random.default_rng(11)
    numbers = np.concatenate([rng.permutation(400) for _ in range(20)])
    for distance in range(1, 4 * LANES):
        at = int(rng.integers(distance, numbers.size))
        if at // 2 != (at - distance) // 2 and numbers[at - distance] != numbers[at ^ 1]:
            numbers[at] = numbers[at - distance]
    system = find(name)()
    assert same_bits(*rate_by_both_kernels(system, encode(numbered_duels(numbers, rng), system)))


@pytest.mark.parametrize("name", ["elo", "openskill-bt"])
@pytest.mark.parametrize("wrong", [0, 31, 32, 75, 79])
def test_a_non_finite_state_is_found_in_batches_without_repeated_players(name, wrong):
    matches = [([f"q{k}", f"q{k + 1}"], -1) for k in range(0, 80, 2)]
    by_duels, general = errors_of_both_kernels(name, matches, [wrong])
    assert by_duels == general
    assert by_duels[:2] == (wrong // 2, wrong)


def test_systems_derived_from_one_with_its_own_rules_use_the_general_kernel():
    assert replaying.rates_two(find("openskill-bt")())
    kind = type("Params", (type(find("openskill-bt")().params()),), {})
    assert not replaying.rates_two(mock.Mock(params=lambda: kind(*find("openskill-bt")().params()), pool_fields=0))
