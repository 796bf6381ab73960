"""The order of events: by start, sequence and file, with a notice if only the file decides."""

import copy
import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

import podium
from podium.analysis.evaluation import evaluate
from podium.analysis.tuning import with_dates
from podium.cli.commands import build
from podium.results.consistency import tie_notice
from podium.results.reading import read_results
from podium.service.api.bodies import Event, validate
from podium.service.http.json import RefusedError
from podium.systems import find

DAY = "2025-01-01T00:00:00Z"
KEYS = ["event_id", "player"]


def duel(number, first, second, **shared):
    return [{"event_id": str(number), "player": name, "position": place, **shared} for place, name in
            enumerate((first, second), start=1)]  # fmt: skip


ROUNDS = [("ana", "ben"), ("ben", "cy"), ("cy", "ana"), ("ana", "cy")]


def season(order, **shared):
    return [row for k in order for row in duel(k, *ROUNDS[k], sequence=k + 0.5, **shared)]


@pytest.mark.parametrize("shared", [{}, {"started_at": DAY}])
@given(order=st.permutations(range(len(ROUNDS))), period=st.sampled_from(["event", "1w"]))
def test_a_sequence_decides_in_any_order_of_the_file(shared, order, period):
    period = period if shared else "event"
    plain = podium.rate(
        [{k: v for k, v in row.items() if k != "sequence"} for row in season(range(4), **shared)],
        "glicko",
        period=period,
    )
    rated = podium.rate(season(order, **shared), "glicko", period=period)
    assert rated.ratings.sort("player").equals(plain.ratings.sort("player"))
    columns = ["event_id", "player", "rating_before", "delta"]
    history = rated.history.select(columns)
    assert history["event_id"].unique(maintain_order=True).to_list() == list("0123")
    assert history.sort(KEYS).equals(plain.history.select(columns).sort(KEYS))
    scores = [evaluate(rows, [find("elo")()]).scores for rows in (season(order, **shared), season(range(4), **shared))]
    assert scores[0]["log_loss"].to_list() == pytest.approx(scores[1]["log_loss"].to_list(), rel=1e-12)
    assert list(
        with_dates(read_results(season(order))).frame.sort("started_at")["event_id"].unique(maintain_order=True)
    ) == (list("0123"))


def test_the_start_counts_before_the_sequence():
    rows = duel("late", "ana", "ben", started_at="2025-01-02", sequence=1) + duel(
        "early", "ben", "ana", started_at="2025-01-01", sequence=2
    )
    assert podium.rate(rows, "elo").history["event_id"].to_list() == ["early", "early", "late", "late"]


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ("e,ana,1,1\ne,ben,2,2", "row 2, column sequence: 2.0 differs from 1.0"),
        ("e,ana,1,1\ne,ben,2,", "row 2, column sequence: is empty; give it on every row or on none"),
        ("e,ana,1,x\ne,ben,2,1", "row 1, column sequence: 'x' must be a number"),
        ("e,ana,1,inf\ne,ben,2,inf", "column sequence: 'inf' must be a number"),
    ],
)
def test_an_invalid_sequence_is_rejected(rows, words):
    text = f"event_id,player,position,sequence\n{rows}\n"
    with pytest.raises(podium.ResultsError) as caught:
        read_results(io.BytesIO(text.encode()), name="r.csv")
    assert words in str(caught.value).replace("'2.0'", "2.0").replace("'1.0'", "1.0")


def test_events_with_the_same_start_are_counted():
    def notice(rows):
        return tie_notice(read_results(rows).frame)

    tied = duel(1, "a", "b", started_at=DAY) + duel(2, "a", "b", started_at=DAY)
    apart = duel(3, "a", "b", started_at="2025-02-01")
    assert "2 of 3 events share their start with another" in notice(tied + apart)
    assert notice(apart) is None
    assert notice(season(range(4))) is None
    assert notice(season(range(4), started_at=DAY)) is None
    same = duel(1, "a", "b", started_at=DAY, sequence=1) + duel(2, "a", "b", started_at=DAY, sequence=1)
    assert "2 of 2 events share their start and sequence" in notice(same)
    pools = duel(1, "a", "b", started_at=DAY, pool="x") + duel(2, "a", "b", started_at=DAY, pool="y")
    assert notice(pools) is None


@pytest.mark.parametrize("command", [["check"], ["rate", "--system", "elo", "--format", "json"]])
def test_check_and_rate_report_that_the_file_decides(command, tmp_path, capsys):
    source = tmp_path / "r.json"
    source.write_text(json.dumps(duel(1, "a", "b", started_at=DAY) + duel(2, "a", "b", started_at=DAY)))
    build()([command[0], str(source), *command[1:]], standalone_mode=False)
    printed = capsys.readouterr()
    stream = printed.out if command[0] == "check" else printed.err
    assert "2 of 2 events share their start with another: they are rated in the order of the file" in stream
    assert command[0] == "check" or json.loads(printed.out)


def test_live_follows_the_sequence():
    live = podium.Live("elo")
    live.rate(season([1, 0], started_at=DAY))
    assert {seat[1]: state.rating for seat, state in live.ratings.items()} == dict(
        podium.rate(season([0, 1], started_at=DAY), "elo").ratings.select("player", "rating").iter_rows()
    )
    begun = copy.deepcopy(live)
    live.rate(season([3], started_at=DAY))
    with pytest.raises(podium.ResultsError, match=r"sequence: .*is before the latest event"):
        live.rate(season([2], started_at=DAY))
    begun.rate(season([2], started_at=DAY))
    begun.rate(duel("more", "ana", "ben", started_at=DAY))


def test_a_store_logs_by_sequence_but_does_not_store_it(sqlite_store):
    sqlite_store.create_pool("karts", find("elo")())
    receipts = sqlite_store.submit("karts", season([2, 0, 3, 1], started_at=DAY))
    assert [each.event_id for each in sorted(receipts, key=lambda each: each.seq)] == list("0123")
    rated = podium.rate(season(range(4), started_at=DAY), "elo")
    ratings = {row["player"]: row["rating"] for row in rated.ratings.iter_rows(named=True)}
    assert {change.player: change.rating for change in receipts[-1].changes}.items() <= ratings.items()
    again = sqlite_store.submit("karts", season([0, 1, 2, 3], started_at=DAY))
    assert all(each.duplicate for each in again)
    assert sqlite_store.verify() == []


@pytest.mark.parametrize("where", ["event", "entry"])
def test_the_service_accepts_no_sequence(where):
    event = {"event_id": "e", "started_at": DAY, "entries": [{"player": "ana"}, {"player": "ben"}]}
    (event if where == "event" else event["entries"][1])["sequence"] = 1
    with pytest.raises(RefusedError, match="sequence: can be used only in files"):
        validate(event, Event).rows()
