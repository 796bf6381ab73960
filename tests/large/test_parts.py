"""Results rated part by part give the bits of the whole, and what does not fit together is refused."""

import threading
import weakref
from datetime import timedelta

import numpy as np
import polars as pl
import pytest
from duel_rows import START, duels
from extent import several, times
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal
from strategies import histories

import podium
from podium.large import slices
from podium.systems import names

PERIODS = [*times([], [("elo", "event")]), ("elo", "1d"), ("glicko2", "1w"), ("stk", "event")]


@pytest.fixture
def small_slices(monkeypatch):
    monkeypatch.setattr(slices, "SLICE_ROWS", 7)
    monkeypatch.setattr(slices, "FEW_ROWS", 5)


def sorted_history(history):
    """By pool, as parts have it, in the order of rating within each."""
    return history.sort("pool", maintain_order=True)


def assert_same(parts, whole):
    """Every change and every state to the bit."""
    rated = list(parts)
    history = pl.concat([part.history for part in rated])
    assert_frame_equal(sorted_history(history), sorted_history(whole.history), check_exact=True)
    assert_frame_equal(rated[-1].states, whole.states, check_exact=True)
    assert rated[-1].ratings.equals(whole.ratings)
    return rated


@pytest.mark.parametrize(("name", "period"), PERIODS)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=6)
@given(rows=histories(heats=2, most=12), data=st.data())
def test_parts_give_the_bits_of_the_whole(small_slices, name, period, rows, data):
    frame = podium.read_results(rows).frame
    whole = podium.rate(frame, name, period=period)
    assert_same(podium.rate_stream(frame, name, period=period), whole)
    cuts = sorted(data.draw(st.lists(st.integers(0, frame.height), max_size=3)))
    pieces = [frame[a:b] for a, b in zip([0, *cuts], [*cuts, frame.height], strict=True)]
    assert_same(podium.rate_stream(pieces, name, period=period), whole)


@pytest.mark.parametrize("name", several(names()))
def test_every_system_goes_on_from_part_to_part(small_slices, name):
    rows = history_of_all_kinds()
    whole = podium.rate(rows, name)
    parts = assert_same(podium.rate_stream(podium.read_results(rows), name), whole)
    assert len(parts) > 3
    forecasts = [rated.predict(["ana", "雪"], pool="one") for rated in (parts[-1], whole)]
    assert forecasts[0].entrants.equals(forecasts[1].entrants)


def history_of_all_kinds():
    """Two pools, teams of two in one, heats, ties and quits."""
    rng = np.random.default_rng(7)
    rows = []
    for number in range(14):
        field = rng.permutation(["ana", "ben", "cleo", "dov", "雪", "eva"])[:4]
        for heat in ("1", "2"):
            for k, player in enumerate(field):
                quits = rng.integers(6) == 0
                rows.append({
                    "event_id": f"e{number}",
                    "started_at": (START + timedelta(days=3 * number)).isoformat(),
                    "pool": "one" if number % 3 else "two",
                    "heat": heat,
                    "team": str(k % 2) if number % 4 == 0 else None,
                    "player": str(player),
                    "status": "quit" if quits else "finished",
                    "time_s": None if quits else float(60 + rng.integers(5)),
                    "score": None if quits else int(rng.integers(9)),
                    "played_s": 500.0,
                    "duration_s": 600.0,
                })  # fmt: skip
    return rows


def test_results_without_dates_are_rated_in_their_order(small_slices):
    frame = duels(40).drop("started_at")
    assert_same(podium.rate_stream(frame), podium.rate(frame))


def test_saved_ratings_begin_a_stream_as_they_begin_a_table(small_slices, tmp_path):
    before, after = duels(20, pools=2), duels(30, pools=2, first=20)
    podium.rate(before, "glicko2").save(tmp_path / "spring.parquet")
    for start in (tmp_path / "spring.parquet", podium.rate(before, "glicko2")):
        parts = assert_same(
            podium.rate_stream(after, "glicko2", start=start), podium.rate(after, "glicko2", start=start)
        )
    assert parts[-1].states.equals(podium.rate(pl.concat([before, after]), "glicko2").states)
    with pytest.raises(podium.ResultsError, match="is before the newest event of the saved ratings"):
        list(podium.rate_stream(before, "glicko2", start=tmp_path / "spring.parquet"))


def write_pools(folder):
    """A folder a pool, the names that Hive gives them, one with a space."""
    for name, frame in duels(60, pools=3).partition_by("pool", as_dict=True).items():
        part = folder / f"pool={name[0].replace(' ', '%20')}" / "part-0.parquet"
        part.parent.mkdir()
        frame.drop("pool").write_parquet(part)
    return podium.rate(duels(60, pools=3))


def test_a_folder_of_pools_is_rated_as_one_table(small_slices, tmp_path, monkeypatch):
    monkeypatch.setattr(slices, "SLICE_ROWS", 15)
    whole = write_pools(tmp_path)
    rated = podium.rate(tmp_path)
    assert isinstance(rated, podium.RatedParts)
    assert repr(rated) == repr(whole)
    assert rated.ratings.equals(whole.ratings)
    assert_frame_equal(sorted_history(rated.history), sorted_history(whole.history), check_exact=True)
    for rules in ({}, {"min_events": 20}, {"at": "2025-01-02"}, {"active_within": "1d"}, {"pool": "pool 1", "top": 2}):
        assert_frame_equal(rated.leaderboard(**rules), whole.leaderboard(**rules))
    assert str(rated.explain("e31", whole.history.filter(event_id="e31")["player"][0])) == str(
        whole.explain("e31", whole.history.filter(event_id="e31")["player"][0])
    )
    assert rated.expected("player 1", "player 2", pool="pool 0") == whole.expected("player 1", "player 2", "pool 0")
    assert rated.pool() == whole.pool()
    assert rated.newcomers(["player 1", "playr 2"]) == whole.newcomers(["player 1", "playr 2"])
    assert rated.predictions().height == whole.predictions().height
    assert rated.strengths().sort("event_id").equals(whole.strengths().sort("event_id"))
    with pytest.raises(podium.UnknownError, match="no event 'e99'"):
        rated.what_if("e99", "player 1")
    with pytest.raises(podium.ParameterError, match="rate_stream gives them part by part"):
        podium.audit(rated)


def test_a_folder_goes_on_from_saved_ratings(small_slices, tmp_path):
    before, after = duels(20, pools=2), duels(30, pools=2, first=20)
    after.write_parquet(tmp_path / "after.parquet")
    start = podium.rate(before)
    rated, whole = podium.rate(tmp_path, start=start), podium.rate(after, start=start)
    assert rated.states.equals(whole.states)
    assert rated.leaderboard().equals(whole.leaderboard())
    rated.save(tmp_path / "saved.parquet")
    assert pl.read_parquet(tmp_path / "saved.parquet").equals(whole.states)


def test_a_folder_without_a_row_knows_nobody(tmp_path):
    duels(3).clear().write_parquet(tmp_path / "empty.parquet")
    rated = podium.rate(tmp_path)
    assert rated.ratings.height == rated.history.height == rated.leaderboard().height == 0
    assert repr(rated) == "Rated(elo: 0 events, 0 players, 0 pools)"


def test_a_folder_without_results_is_refused(tmp_path):
    with pytest.raises(podium.ResultsError, match="is a folder without a Parquet file"):
        podium.rate(tmp_path)
    (tmp_path / "b.parquet").write_bytes(b"PAR1 no more")
    with pytest.raises(podium.ResultsError, match=r"b\.parquet: is not a Parquet file"):
        podium.rate(tmp_path)


def test_parts_out_of_order_are_refused_by_file_and_row(small_slices, tmp_path):
    frame = duels(30)
    frame[20:].write_parquet(tmp_path / "1.parquet")
    frame[:20].write_parquet(tmp_path / "2.parquet")
    with pytest.raises(podium.ResultsError, match=r"2\.parquet row 1, column started_at: .* sort them by started_at"):
        podium.rate(tmp_path)


def test_periods_that_part_by_part_would_settle_twice_are_refused(small_slices):
    frame = duels(72)
    with pytest.raises(podium.ResultsError, match="sort them by started_at"):
        list(podium.rate_stream([frame[48:], frame[:48]], "glicko2", period="1d"))


@pytest.mark.parametrize("dated", [True, False])
def test_an_id_that_comes_again_is_refused_in_the_end(small_slices, dated):
    frame = duels(30).with_columns(event_id=pl.col("event_id").replace("e25", "e3"))
    frame = frame if dated else frame.drop("started_at")
    rated = podium.rate_stream(frame)
    with pytest.raises(podium.ResultsError, match="row 51, column event_id: is the id of an event that results, row 7"):
        list(rated)


def test_dates_in_some_parts_only_are_refused(small_slices):
    with pytest.raises(podium.ResultsError, match="column started_at: is in some parts of the results only"):
        list(podium.rate_stream([duels(4), duels(4, first=4).drop("started_at")]))


def test_faults_have_the_rows_of_their_tables(small_slices):
    frame = duels(30).with_columns(position=pl.when(pl.int_range(60) == 41).then(-1).otherwise("position"))
    with pytest.raises(podium.ResultsError, match="row 42, column position: -1 must be a number above 0"):
        list(podium.rate_stream(frame))
    twice = duels(30).with_columns(
        player=pl.when(pl.int_range(60) == 41).then(pl.col("player").shift(1)).otherwise("player")
    )
    with pytest.raises(podium.ResultsError, match=r"row 42, column player: .* appears twice in one heat of event e20"):
        list(podium.rate_stream(twice))
    with pytest.raises(
        podium.ResultsError, match="part 2 row 1, column time_s: is empty; stk needs it for every finisher"
    ):
        list(podium.rate_stream([duels(3).with_columns(time_s=1.0), duels(3, first=3)], "stk"))


def test_parts_that_lack_what_others_say_take_the_default(small_slices):
    first, second = duels(6), duels(6, first=6)
    whole = pl.concat([first, second.with_columns(ranked=True, weight=2.0)], how="diagonal")
    parts = [first, second.with_columns(ranked=pl.lit(value=True), weight=2.0)]
    assert_same(podium.rate_stream(parts), podium.rate(whole))


def test_a_part_is_not_held_while_the_next_is_rated(small_slices):
    earlier = []
    for part in podium.rate_stream(duels(60)):
        assert [each() for each in earlier] == [None] * len(earlier)
        earlier.append(weakref.ref(part))
        del part
    assert len(earlier) > 10


def test_one_slice_is_read_ahead(small_slices, tmp_path, monkeypatch):
    read = []
    read_slice = slices.read_slice

    def note_and_read(table, name, first, constants):
        read.append(first)
        return read_slice(table, name, first, constants)

    monkeypatch.setattr(slices, "read_slice", note_and_read)
    duels(60).write_parquet(tmp_path / "duels.parquet")
    for number, _ in enumerate(podium.rate_stream(tmp_path / "duels.parquet")):
        assert len(read) <= number + 3
    assert read == list(range(0, 120, 7))


def test_who_reads_no_further_waits_for_no_slice():
    """Python's collector may close the reader in a thread that holds what joining another takes."""
    goes_on, read = threading.Event(), threading.Event()

    def wait():
        goes_on.wait(10.0)
        read.set()

    reader = slices.read_ahead(iter([lambda: 1, wait]))
    assert next(reader) == 1
    reader.close()
    assert not read.is_set()
    goes_on.set()
    assert read.wait(10.0)


def test_columns_of_one_value_are_texts_like_others():
    history = podium.rate(duels(3).drop("pool")).history
    assert history.schema["pool"] == pl.String
    assert pl.concat([history, podium.rate(duels(4, pools=2)).history])["pool"].n_unique() == 3
