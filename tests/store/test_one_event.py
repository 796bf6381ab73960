"""Rating one event from its rows gives exactly the same snapshot as rating it as a batch."""

from datetime import UTC, datetime, timedelta
from itertools import permutations
from unittest import mock

import numpy as np
import pytest
from extent import several, times
from hypothesis import given, settings
from hypothesis import strategies as st

from podium.engine.heats import encode_small, entries_of
from podium.engine.tables.encoding import encode
from podium.log.content import json_lines, read_contents
from podium.log.pools import Pool
from podium.pool.fold import Draft, Entry
from podium.pool.rating import MAX_SINGLE_ROWS, Rater, rate
from podium.pool.roster import as_results
from podium.pool.snapshot import EVENT_TYPES, POSITION_TYPES, ROW_TYPES, empty
from podium.systems import find, make_system, names

START = datetime(2025, 6, 1, 12, tzinfo=UTC)
PARAMETERS: dict[str, dict] = {"stk-rd": {"idle_growth": True}, "glicko": {"idle_growth": 10.0}}
ENCODED = ("elo", "stk-rd", "glicko", "adaptive")
NUMBERS = {name: k for k, name in enumerate("abcdefgh", start=1)}
DAYS = st.sampled_from([0.0, 0.5, 1.0, 40.0, -3.0, -60.0])  # days from one event to the next


def pool_of(name):
    return Pool(1, "main", find(name)(**PARAMETERS.get(name, {})), b"secret")


@st.composite
def events(draw, event_id="e", when=START, system=""):
    """Draw the rows of a valid event, with any field that it may have."""
    chosen = draw(st.permutations(list(NUMBERS)))[: draw(st.integers(1, 8))]
    shared = {"event_id": event_id, "started_at": when}
    shared |= draw(
        st.sampled_from([{}, {}, {"mode": "time-trial"}, {"mode": "grass"}, {"weight": 2.5}, {"ranked": False}])
    )
    rows = []
    for place, name in enumerate(chosen, start=1):
        own = {"player": name, "position": max(1, place - draw(st.integers(0, 1))), "time_s": 60.0 + place}
        status = draw(st.sampled_from(["finished"] * 6 + ["quit", "dnf", "did_not_start", "disqualified"]))
        if status != "finished":
            own = {"player": name, "status": status, "played_s": 30.0}
        own |= draw(st.sampled_from([{}, {}, {"handicap": True}, {"score": 1.5 * place}, {"duration_s": 90.0}]))
        if system.startswith("xonstat"):
            own |= {"score": draw(st.sampled_from([1.5, -2.0])) * place, "played_s": 90.0, "duration_s": 120.0}
        rows.append(shared | own)
    return rows


def body_of(rows):
    (content,) = read_contents(rows, "main", lambda _column, _names: set()).values()
    (text,) = json_lines([content], NUMBERS.__getitem__)
    return text.encode()


def follow(snapshot, *entries):
    """Return the snapshot after following several log entries together."""
    draft = Draft.of(snapshot)
    draft.follow(entries)
    return rate(draft)


def bits(snapshot):
    """Return every column of a snapshot."""
    events, rows = snapshot.events, snapshot.rows
    columns = {name: events.columns.part(name) for name in EVENT_TYPES}
    columns |= {f"order {name}": events.order.part(name) for name in POSITION_TYPES}
    columns |= {f"row {name}": rows.part(name) for name in (*ROW_TYPES, "state")}
    columns["newest"] = np.trim_zeros(snapshot.newest.part("row") + 1, "b")  # without slots that are no longer used
    if snapshot.pool.system.pool_fields:
        columns["learnt"] = snapshot.learnt.part()
    return {name: (column.dtype, column.shape, column.tobytes()) for name, column in columns.items()}


@st.composite
def histories(draw, system):
    """Draw log entries: events in order or late, corrections, voids and a merge."""
    entries, when, strangers = [], START, {*permutations(NUMBERS, 2)}
    for number in range(draw(st.integers(1, 5))):
        rows = draw(events(f"e{number}", when, system))
        entries.append(("submit", f"e{number}", body_of(rows)))
        strangers -= {*permutations([row["player"] for row in rows], 2)}
        when += timedelta(days=draw(DAYS))
    last = f"e{len(entries) - 1}"
    more = draw(st.sampled_from(["", "", "amend", "void", "restore", *["merge"] * bool(strangers)]))
    if more == "amend":
        entries.append(("amend", last, body_of(draw(events(last, when, system)))))
    elif more in ("void", "restore"):
        entries += [("void", last, b"null"), ("restore", last, b"null")][: 1 + (more == "restore")]
    elif more == "merge":
        one, other = (NUMBERS[name] for name in draw(st.sampled_from(sorted(strangers))))
        entries.append(("merge", str(one), b'{"into": %d}' % other))
        entries.append(("submit", "after", body_of(draw(events("after", when, system)))))
    return [Entry(seq, *each) for seq, each in enumerate(entries, start=2)]


@pytest.mark.parametrize("system", several(names()))
@settings(max_examples=times(12, 300), deadline=None)
@given(st.data())
def test_single_events_give_exactly_the_ratings_of_a_batch(system, data):
    entries = data.draw(histories(system))
    alone = batch = empty(pool_of(system))
    for entry in entries:
        alone, ratings = follow(alone, entry)
        with mock.patch.object(Rater, "rate_single", return_value=False):
            batch, expected = follow(batch, entry)
        assert bits(alone) == bits(batch)
        found = ratings.statuses, ratings.twice, ratings.errors.keys()
        assert found == (expected.statuses, expected.twice, expected.errors.keys())
    with mock.patch.object(Rater, "rate_single", return_value=False):
        whole, _ = follow(empty(pool_of(system)), *entries)
    assert bits(alone) == bits(whole)


@pytest.mark.parametrize(
    ("system", "columns"),
    [
        ("xonstat", {"position": [1, 2, 3], "played_s": [0.0] * 3, "duration_s": [600.0] * 3}),
        ("elo:margin=root", {"time_s": [60.0, 64.0, 80.0]}),  # margins of time
        ("elo:margin=root", {"score": [9.0, 4.0, 0.0], "status": ["finished", "finished", "quit"]}),
        ("elo:margin=root", {"position": [1, 2, 3], "score": [9.0, 4.0, None]}),
    ],
)
def test_a_single_event_uses_times_and_margins_as_a_batch_does(system, columns):
    rows = [
        {"event_id": "e", "started_at": START, "player": name} | {column: each[k] for column, each in columns.items()}
        for k, name in enumerate("abc")
    ]
    start, entry = empty(Pool(1, "main", make_system(system), b"secret")), Entry(2, "submit", "e", body_of(rows))
    alone, _ = follow(start, entry)
    with mock.patch.object(Rater, "rate_single", return_value=False):
        batch, _ = follow(start, entry)
    assert bits(alone) == bits(batch)


@pytest.mark.parametrize("system", ENCODED)
@settings(max_examples=20, deadline=None)
@given(events())
def test_the_columns_match_the_encoding(system, rows):
    pool = pool_of(system)
    snapshot, _ = follow(empty(pool), Entry(2, "submit", "e", body_of(rows)))
    given_rows = snapshot.contents.rows(0)
    entries = entries_of(given_rows, pool.system)
    if entries is None:
        return
    started_at = np.array([snapshot.events.columns.value("started_at", 0)])
    table = snapshot.contents.table(np.array([0]), event_id=np.array(["e"]), started_at=started_at)
    expected = encode(as_results(pool, table), pool.system).columns
    seen = np.full(len(entries), started_at[0])
    found = encode_small(given_rows, entries, pool.system, "main", int(started_at[0]), seen)
    for name, mine, theirs in zip(found._fields, found, expected, strict=True):
        assert (mine.dtype, mine.flags.writeable) == (theirs.dtype, theirs.flags.writeable), name
        assert np.array_equal(mine, theirs, equal_nan=True), name


@pytest.mark.parametrize(
    ("more", "is_alone"),
    [({}, True), ({"weight": 2.0}, True), ({"heat": "1"}, False), ({"team": "red"}, False), ({"ranked": False}, False)],
)
def test_a_race_is_rated_from_its_rows(more, is_alone):
    rows = [
        {"event_id": "e", "started_at": START, "player": name, "position": place} | more
        for place, name in enumerate("abc", 1)
    ]
    outcomes = note_singles(lambda: follow(empty(pool_of("elo")), Entry(2, "submit", "e", body_of(rows))))
    assert outcomes == [is_alone]


def note_singles(act):
    """Return the outcome of each attempt to rate a single event from its rows."""
    outcomes, rate_single = [], Rater.rate_single

    def note(rater, uid):
        outcomes.append(rate_single(rater, uid))
        return outcomes[-1]

    with mock.patch.object(Rater, "rate_single", note):
        act()
    return outcomes


def test_a_large_event_is_rated_as_a_batch():
    for size, is_alone in ((MAX_SINGLE_ROWS, True), (MAX_SINGLE_ROWS + 1, False)):
        numbers = {f"p{k}": k for k in range(1, size + 1)}
        rows = [{"event_id": "e", "started_at": START, "player": name, "position": k} for name, k in numbers.items()]
        contents = read_contents(rows, "main", lambda _column, _names: set()).values()
        (text,) = json_lines(contents, numbers.__getitem__)
        entry = Entry(2, "submit", "e", text.encode())
        assert note_singles(lambda entry=entry: follow(empty(pool_of("elo")), entry)) == [is_alone]


def test_several_events_are_rated_as_a_batch():
    bodies = [
        body_of([
            {"event_id": f"e{k}", "started_at": START + timedelta(days=k), "player": name, "position": place}
            for place, name in enumerate("abc", 1)
        ])
        for k in range(3)
    ]  # fmt: skip
    entries = [Entry(2 + k, "submit", f"e{k}", body) for k, body in enumerate(bodies)]
    assert note_singles(lambda: follow(empty(pool_of("elo")), *entries)) == []
