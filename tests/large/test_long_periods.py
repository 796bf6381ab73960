"""A rating period of more rows than are held gives the bits of the period as one."""

import polars as pl
import pytest
from duel_rows import duels
from polars.testing import assert_frame_equal
from test_parts import assert_same, history_of_all_kinds, small_slices  # noqa: F401  (a fixture)

import podium
from podium.large import long_periods
from podium.large.long_periods import RatedPiece

pytestmark = pytest.mark.usefixtures("small_slices", "few_rows_held")


@pytest.fixture
def few_rows_held(monkeypatch):
    monkeypatch.setattr(long_periods, "LONG_ROWS", 10)


def pieces_of(parts):
    return [isinstance(part, RatedPiece) for part in parts]


@pytest.mark.parametrize(("system", "period"), [("elo", "1mo"), ("trueskill:idle_growth=20", "2w")])
def test_periods_in_pieces_give_the_bits_of_the_whole(system, period):
    rows = podium.read_results(history_of_all_kinds())  # two pools, teams, heats, ties, quits; three days apart
    parts = assert_same(podium.rate_stream(rows, system, period=period), podium.rate(rows, system, period=period))
    assert sum(pieces_of(parts)) > 4
    assert not all(pieces_of(parts))


def test_periods_in_pieces_go_on_from_saved_ratings_and_checkpoints(tmp_path):
    before, after = duels(30, pools=2), duels(60, pools=2, first=31 * 24)
    podium.rate(before, "trueskill:idle_growth=20", period="1mo").save(tmp_path / "before.parquet")
    after.write_parquet(tmp_path / "after.parquet")
    options = {"period": "1mo", "start": tmp_path / "before.parquet"}
    whole = podium.rate(after, "trueskill:idle_growth=20", **options)
    place = {"checkpoint": tmp_path / "state", "history_to": tmp_path / "history", "every": 1}
    for killed_after in (1, 3, 7, 12, 1000):  # some of them between the pieces of a period
        stream = podium.rate_stream(tmp_path / "after.parquet", "trueskill:idle_growth=20", **options, **place)
        for part, _ in zip(stream, range(killed_after), strict=False):
            states = part.states
        stream.close()
    histories = [pl.read_parquet(path) for path in sorted((tmp_path / "history").iterdir())]
    assert_frame_equal(
        pl.concat(histories).sort("pool", maintain_order=True),
        whole.history.sort("pool", maintain_order=True),
        check_exact=True,
    )
    assert_frame_equal(states, whole.states, check_exact=True)


def test_a_piece_does_not_say_why():
    parts = [part for part in podium.rate_stream(duels(60), period="1mo") if isinstance(part, RatedPiece)]
    event, player = parts[0].history.select("event_id", "player").row(0)
    for ask in (parts[0].explain, parts[0].what_if):
        with pytest.raises(podium.ParameterError, match="has more rows than are held at a time; rate it as one table"):
            ask(event, player)


def test_a_long_period_out_of_order_is_refused():
    frame = duels(60)
    swapped = pl.concat([frame[60:90], frame[:60], frame[90:]])
    with pytest.raises(podium.ResultsError, match="stands after a later event of its rating period"):
        list(podium.rate_stream(swapped, period="1mo"))


def test_faults_of_pieces_have_the_rows_of_their_tables():
    twice = duels(60).with_columns(
        player=pl.when(pl.int_range(120) == 41).then(pl.col("player").shift(1)).otherwise("player")
    )
    with pytest.raises(podium.ResultsError, match=r"row 42, column player: .* appears twice in one heat of event e20"):
        list(podium.rate_stream(twice, period="1mo"))
    with pytest.raises(podium.ResultsError, match="row 1, column time_s: stk needs it"):
        list(podium.rate_stream(duels(60).with_columns(time_s=pl.lit(None, pl.Float64)), "stk", period="1mo"))


def test_long_periods_of_two_pools_that_end_together():
    whole = duels(60, pools=2)
    parts = [whole[:120], whole[120:]]
    assert_same(podium.rate_stream(parts, period="1mo"), podium.rate(whole, period="1mo"))
