"""The fast reader of events gives the same results as the models and the rules for results."""

import json
import math
from datetime import UTC, datetime, timedelta

import pytest
from extent import times
from hypothesis import given, settings
from hypothesis import strategies as st

from podium.log.content import read_contents
from podium.service.api.bodies import Batch, Event, validate
from podium.service.api.receiving import SentEvents, parse_events, read_plain_events
from podium.service.http.json import RefusedError

FUTURE = (datetime.now(UTC) + timedelta(days=3)).isoformat()
DATES = [
    "2025-01-31T18:00:00Z", "2025-01-31T18:00:00.25+02:30", "1950-06-01T00:00:00Z", "2025-01-31T18:00:00.123456-03:30",
    "2025-01-31", "2025-01-31 18:00:00Z", "2025-01-31T18:00Z", "2025-01-31T18:00:00", "2025-01-31T24:00:00Z",
    "2025-02-30T18:00:00Z", "1899-12-31T23:59:59Z", "1900-01-01T00:30:00+01:00", "2200-01-01T00:00:00Z", FUTURE,
    "2025-01-31T18:00:00+02:99", "2025-01-31T18:00:00 UTC", "", 20250131, None, ["2025"],
]  # fmt: skip
NAMES = [
    "ana", "Ben O'Neil", 'q"uote\\', "x" * 200, "x" * 201, "x" * 1001, " ana", "", "雪", "a\tb", "é", 7, True, None,
]  # fmt: skip
NUMBERS = [1, 2.5, 0.1, 61.25, 0, -1, -0.0, 1e-300, 1e300, 2**53, 2**63, "2", True, None, [1]]
FIELDS = {
    "position": NUMBERS, "time_s": NUMBERS, "score": NUMBERS, "team_score": NUMBERS, "played_s": NUMBERS,
    "duration_s": NUMBERS, "heat": ["1", "Overall", "overall", "", None, 1], "team": ["red", None, " "],
    "status": ["finished", "quit", "left", None, 1], "handicap": [True, False, None, 1, 2.5], "surprise": [1],
}  # fmt: skip
OF_EVENTS = {
    "match_id": ["m1", "", " m", None, 3], "mode": ["grass", "Duel", None], "ranked": [True, False, None, 0],
    "weight": [1, 2.5, 0, 101, None, True], "title": ["Round 1", " Round", None, ""], "sequence": [1],
    "url": ["https://example.org/1", "ftp://x", "https://example.org/ä", None], "pool": ["main"],
}  # fmt: skip


def fields(draw, values, most, *, odd):
    """Draw some fields. The first values of each field are valid."""
    names = draw(st.lists(st.sampled_from(sorted(values)), unique=True, max_size=most))
    return {name: draw(st.sampled_from(values[name] if odd else values[name][:2])) for name in names}


@st.composite
def bodies(draw):
    """Draw one or several events, mostly valid, with any field that a body can have."""
    odd = draw(st.booleans())
    events = []
    for number in range(draw(st.integers(1, 3))):
        entries = [
            {"player": draw(st.sampled_from(NAMES)) if odd and draw(st.booleans()) else name}
            | {"position": place}
            | fields(draw, FIELDS, 2, odd=odd)
            for place, name in enumerate(draw(st.sampled_from(["ab", "abc", "aba"] if odd else ["ab", "abc"])), start=1)
        ]
        events.append(
            {"event_id": draw(st.sampled_from(["e0", "e1", " e", "é", 1])) if odd else f"e{number}"}
            | {"started_at": draw(st.sampled_from(DATES if odd else DATES[:4])), "entries": entries}
            | fields(draw, OF_EVENTS, 2, odd=odd)
        )
    return events[0] if len(events) == 1 and draw(st.booleans()) else {"events": events}


@settings(max_examples=times(100, 2000), deadline=None)
@given(bodies())
def test_the_fast_reader_agrees_with_the_models(body):
    plain = read_plain_events(json.loads(json.dumps(body)))
    if plain is None:
        return
    modelled = SentEvents.from_models(validate(body, Batch) if "events" in body else validate(body, Event))
    contents = read_contents(plain.rows, "main", lambda _column, _names: set())
    assert contents == read_contents(modelled.rows, "main", lambda _column, _names: set())
    assert plain.match_ids == modelled.match_ids
    assert [*plain.whens()] == [*modelled.whens()]
    assert [*contents] == [each["event_id"] for each in body.get("events", [body])]


def event(number, **more):
    entries = [{"player": name, "position": place, "time_s": 60.5 + place} for place, name in enumerate("abc", start=1)]
    return {"event_id": f"e{number}", "started_at": "2025-06-01T19:00:00Z", "match_id": "m", "entries": entries} | more


def test_the_fast_reader_reads_typical_events():
    assert read_plain_events(event(1)) is not None
    plain = read_plain_events({"events": [event(number) for number in range(1000)]})
    assert plain is not None
    assert len(plain.rows.columns["player"]) == 3000
    assert read_plain_events({"events": [event(number) for number in range(1001)]}) is None


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"events": [event(1), event(1)]}, "events[1].event_id"),
        ({"events": [event(1), event(2, started_at=FUTURE)]}, "events[1].started_at"),
        (event(1, surprise=1), "surprise"),
        ({"events": [event(1, entries=[])]}, "events[0].entries"),
        ({"events": {}}, "events"),
        ([], ""),
    ],
)  # fmt: skip
def test_the_models_reject_invalid_events(body, field):
    with pytest.raises(RefusedError) as refused:
        parse_events(json.dumps(body).encode())
    assert refused.value.field == field


@pytest.mark.parametrize(
    "text",
    [
        '{"event_id": "e", "event_id": "f", "entries": []}',
        '{"event_id" : "e", "event_id"\n: ":", "title": ":x"}',
        '{"event_id": "e", "event\\u005fid": "f"}',
        '{"a": {"b": 1, "b": 2}, "c": ":"}',
    ],
)
def test_a_repeated_key_is_found_in_any_notation(text):
    with pytest.raises(RefusedError, match="twice"):
        parse_events(text.encode())


def test_infinite_numbers_are_rejected():
    for number in ("1e999", "-1e400", str(10**400), "NaN", "Infinity"):
        text = json.dumps(event(1, weight=math.pi)).replace(str(math.pi), number)
        with pytest.raises(RefusedError):
            parse_events(text.encode())
