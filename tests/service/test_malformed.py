"""Hundreds of submissions with one error each: every one is rejected with a precise error, and leaves no trace."""

import json

import pytest
from races import calling

from podium.service.api.dependencies import MAX_BODY_BYTES
from podium.store import Store
from podium.systems import find

ADDRESS = "/api/v1/pools/main/events"
TEXT = "texttexttext"
EVENT = {"event_id": "e1", "started_at": "2025-01-01T00:01:00Z"}
ENTRIES = [{"player": "a", "position": 1}, {"player": "b", "position": 2}]
GOOD = EVENT | {"entries": ENTRIES}

NAMES = ("event_id", "mode", "match_id", "player", "team", "heat")
POSITIVE, NOT_NEGATIVE, ANY = (
    ("position", "time_s", "weight"),
    ("played_s", "duration_s", "handicap"),
    ("score", "team_score"),
)
TRUTHS = ("ranked",)
OF_EVENT = ("event_id", "started_at", "mode", "match_id", "ranked", "weight", "entries")

NO_NUMBERS = (
    "NaN", "Infinity", "-Infinity", "1e999", "-1e999", "9223372036854775808", "-9223372036854775809", "1" * 400,
    "true", "false", '"1"', '"NaN"', '""', "[]", "[1]", "{}", '{"$gt": 0}', "0x10", "01", "1.", ".5", "+1", "1_000",
)  # fmt: skip
NO_TEXTS = ("1", "1.5", "true", "[]", '["a"]', "{}", '{"a": 1}', '""', '" "', '"\\ud800"', '"\\udfff"', '"a\\u0000b"')
UNSEEN = (
    "\u3164", "\u2800", "a\u200bb", "a\u200db", "a\u2060b", "\ufeffa", "a\u00adb",
    "a\u202ab", "a\u061cb", "a\u034fb", "a\ufff9b", "ana\u200c", "a\u2029b", "a\U000e0041b",
    "a\u0007b", "a\nb", "a\tb", "a\x1bb", "a\x7fb", "a\u0085b", "a\u200fb", "a\u202eb", "a\u2066b", "a\u2028b",
)  # fmt: skip
HOSTILE = (
    "<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "</td><b>", "<!-- x", "<?php x ?>", "<svg/onload=x>",
    "javascript:alert(1)", "&#60;b&#62;", "'; DROP TABLE log; --", "' OR '1'='1", "x'; DELETE FROM event",
    '" or 1=1 --', "1; UPDATE standing SET rating=0",
    "') UNION SELECT digest FROM api_key --", "x'--", "'; PRAGMA writable_schema=1",
)  # fmt: skip
NO_MOMENTS = (
    "null", "1", "1735689660", "true", "[]", "{}", '""', '"yesterday"', '"2025-13-01"', '"2025-02-30T00:00:00Z"',
    '"2025-01-01T25:00:00Z"', '"2025-01-01T00:00:00+99:00"', '"1735689660"', '"0001-01-01T00:00:00Z"',
    '"9999-12-31T23:59:59Z"', '"2150-01-01T00:00:00Z"', '"1850-01-01T00:00:00Z"',
    '"1700-01-01"', '"\\ud800"', '"2025-01-01T00:00:00Z; --"', '"<b>"',
)  # fmt: skip


def with_value(field, text):
    """Return a submission in which a field has exactly this JSON."""
    if field in OF_EVENT:
        body = json.dumps(GOOD | {field: TEXT})
    else:
        body = json.dumps(EVENT | {"entries": [ENTRIES[0] | {field: TEXT}, ENTRIES[1]]})
    return body.replace(json.dumps(TEXT), text).encode()


def bad_values():
    """Yield fields with invalid numbers and booleans: the error, the field that the answer must name, and the body."""
    for field in (*POSITIVE, *NOT_NEGATIVE, *ANY):
        for text in NO_NUMBERS if field != "handicap" else set(NO_NUMBERS) - {"true", "false"}:
            yield f"{field} {text[:20]}", field, with_value(field, text)
    for field in (*POSITIVE, *NOT_NEGATIVE):
        yield f"{field} -1", field, with_value(field, "-1")
    for field in POSITIVE:
        yield f"{field} 0", field, with_value(field, "0")
    for field in TRUTHS:
        for text in ("1", "0", '"true"', '"yes"', "[]", "{}", "1.0"):
            yield f"{field} {text}", field, with_value(field, text)


def bad_texts():
    """Yield fields with invalid names, statuses and times."""
    for field in NAMES:
        for text in (*NO_TEXTS, json.dumps("x" * 201)):
            yield f"{field} {text[:20]}", field, with_value(field, text)
        for name in UNSEEN:
            yield f"{field} {name!r}", field, with_value(field, json.dumps(name))
    for name in ("won", "FINISHED", "", *HOSTILE[:4]):
        yield f"status {name}", "status", with_value("status", json.dumps(name))
    for text in NO_MOMENTS[1:]:  # null means the time of arrival
        yield f"started_at {text}", "started_at", with_value("started_at", text)


def bad_shapes():
    """Yield submissions with missing, unknown or repeated fields."""
    for field in ("event_id", "entries"):
        yield f"no {field}", field, json.dumps({key: GOOD[key] for key in GOOD if key != field}).encode()
        yield f"{field} null", field, with_value(field, "null")
    for field in ("colour", "Event_id", "__proto__", "pool", "", "rating", "<b>", "\u202e"):
        yield f"unknown {field!r}", None, json.dumps(GOOD | {field: 1}).encode()
        entries = [ENTRIES[0] | {field: 1}]
        yield f"unknown in an entry {field!r}", None, json.dumps(EVENT | {"entries": entries}).encode()
    for text in ("[]", "{}", '"a"', "[1]", "[[]]", "[null]", "[{}]", '[{"position": 1}]'):
        yield f"entries {text}", None, with_value("entries", text)
    once = json.dumps(GOOD)
    for field in ("event_id", "started_at", "entries", "player", "position"):
        yield f"{field} twice", field, once.replace(f'"{field}": ', f'"{field}": "x", "{field}": ', 1).encode()


def whole_bodies():
    """Yield bodies that are invalid as a whole."""
    good = json.dumps(GOOD)
    texts = ["", " ", "{", "}", "[]", "1", '"a"', "null", "true", "{}", good[:-1], good + good, good + "x", "'" + good]
    for text in texts:
        yield f"body {text[:20]!r}", None, text.encode()
    for raw in (
        b"9" * 5_000,
        b"\xff",
        b"\xef\xbb\xbf{}",
        good.encode("utf-16"),
        good.encode().replace(b'"a"', b'"\xff"'),
    ):
        yield f"bytes {raw[:8]!r}", None, raw
    for depth in (40, 5_000, 200_000):
        yield f"{depth} arrays deep", None, b"[" * depth + b"]" * depth
        yield f"{depth} objects deep", None, b'{"a":' * depth + b"1" + b"}" * depth
    yield "deep in a field", None, with_value("team", "[" * 60 + "]" * 60)
    for size in (MAX_BODY_BYTES + 1, 2 * MAX_BODY_BYTES):
        yield f"{size} bytes of nothing", None, b" " * size
        yield f"{size} bytes of name", None, with_value("player", json.dumps("x" * size))
    yield "10,001 entries", "entries", json.dumps(EVENT | {"entries": [ENTRIES[0]] * 10_001}).encode()
    yield "1,001 events", "events", json.dumps({"events": [GOOD] * 1_001}).encode()


def contradictions():
    """Yield submissions whose parts are valid separately but contradict each other."""
    first, second = ENTRIES
    bodies = {
        "player twice": GOOD | {"entries": [first, first]},
        "positions against times": GOOD | {"entries": [first | {"time_s": 9.0}, second | {"time_s": 8.0}]},
        "nobody": {"events": []},
        "an event twice": {"events": [GOOD, GOOD]},
        "one wrong of two": {"events": [GOOD, GOOD | {"event_id": "e2", "entries": [first | {"position": 0}, second]}]},
        "an event beside events": GOOD | {"events": [GOOD]},
        "a match that was not registered": GOOD | {"match_id": "m"},
        "scores of a team differ": GOOD
        | {"entries": [{"player": n, "team": "t", "team_score": k} for k, n in enumerate("abc")]},
    }
    for what, body in bodies.items():
        yield what, None, json.dumps(body).encode()


KINDS = (bad_values, bad_texts, bad_shapes, whole_bodies, contradictions)


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    opened = Store(str(tmp_path_factory.mktemp("malformed") / "podium.db"))
    opened.create_pool("main", find("elo")())
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def client(store):
    with calling(store, "write") as opened:
        yield opened


def test_there_are_at_least_five_hundred_cases():
    assert len({body for kind in KINDS for _, _, body in kind()}) >= 500


@pytest.mark.parametrize("kind", KINDS)
def test_a_malformed_submission_is_rejected_and_leaves_no_trace(kind, client, store):
    before = store.version("main")
    for what, field, body in kind():
        answer = client.post(ADDRESS, content=body, headers={"Content-Type": "application/json"})
        problem = answer.json()
        assert 400 <= answer.status_code < 500, (what, answer.text)
        assert problem["status"] == answer.status_code, what
        assert problem["detail"], what
        no_json = any(
            words in problem["detail"] for words in ("not JSON", "not a JSON number", "digits", "larger than")
        )
        if field is not None and not no_json:
            assert field in problem.get("field", ""), (what, problem)
        assert store.version("main") == before, what
