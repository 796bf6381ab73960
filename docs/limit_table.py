"""The table of limits in service/limits.md, from the code that enforces them."""

import re

from podium.importers.sources import MAX_EXPANSION
from podium.ledger.reasons.what_if import MAX_IMAGINED
from podium.log import log, pools
from podium.results.columns import MAX_COLUMNS
from podium.service import watchers, webhooks
from podium.service.admin import reading, uploads
from podium.service.api import bodies, dependencies
from podium.service.http import json, keys
from podium.service.http.visitors import MAX_FORM_BYTES
from podium.service.server import MAX_CONNECTIONS, MAX_HEADER_BYTES, Phase
from podium.service.web.ahead.calendar import MAX_KEYLESS, MAX_WAITING, WAITING_S
from podium.service.web.chances import MAX_ENTRANTS
from podium.store.waiting import LEAST_SHARES, MAX_BYTES, WAITS_US
from podium.store.writing.execution import SHORT_EVENTS
from podium.views.races.ahead import MAX_STARTERS
from podium.views.rivals import MAX_MEETINGS

MARKS = "<!-- limits -->", "<!-- end of limits -->"


def bytes_of(count: float) -> str:
    """Return a number of bytes in readable units."""
    return f"{count / 1e6:g} MB" if count >= 1e6 else f"{count:,} bytes"  # noqa: PLR2004


LIMITS = (  # each limit: its subject, its value, and the result of exceeding it
    ("request headers", f"{bytes_of(MAX_HEADER_BYTES)}, {Phase.HEADERS.value:g} s", "connection closed"),
    ("body of an API request", bytes_of(dependencies.MAX_BODY_BYTES), "413"),
    ("time to send the body", f"{Phase.BODY.value:g} s", "connection closed"),
    ("events per request", f"{bodies.MAX_EVENTS:,}", "422"),
    ("entrants per event", f"{bodies.MAX_ENTRIES:,}", "422"),
    ("nesting of JSON; keys per object", f"{json.MAX_DEPTH}, {json.MAX_KEYS:,}", "422"),
    ("length of a name: as sent; as stored", f"{json.MAX_SENT_CHARACTERS:,}, 200 characters", "422"),
    (
        "length of a reason; of a pool's title or contact",
        f"{log.MAX_CHARACTERS}, {pools.MAX_CONTACT_CHARACTERS} characters",
        "422",
    ),
    (
        'entrants of an event with a "what if", in systems that compare each pair',
        f"{MAX_IMAGINED:,}",
        "422; missing on the page",
    ),
    ("events of a pool waiting to be stored", f"{dependencies.MAX_WAITING_EVENTS:,}", "503, `Retry-After`"),
    ("events recalculated in one step", f"{SHORT_EVENTS:,}", "recalculated in the background"),
    ("players in a prediction, in the API", f"{bodies.MAX_PREDICTED}", "422"),
    ("players in a prediction, on the page", f"{MAX_ENTRANTS}", "only the first ones are predicted"),
    ("players in a table of stakes: with a key; without", f"{MAX_STARTERS}, {MAX_KEYLESS}", "422"),
    ("requests waiting for such a table; how long they wait", f"{MAX_WAITING}, {WAITING_S:g} s", "503, `Retry-After`"),
    ("tickets in a matchmaking request", f"{bodies.MAX_TICKETS:,}", "422"),
    ("events listed in a comparison of two players", f"{MAX_MEETINGS:,}", "only the newest are listed"),
    ("connections", f"{MAX_CONNECTIONS:,}", "the connection that has waited longest is closed"),
    ("streams; streams without a key", f"{watchers.MAX_LISTENERS:,}, {watchers.MAX_KEYLESS_LISTENERS}", "503"),
    (
        "rejected requests from one address",
        f"{keys.REFUSED_BURST:g}, then {keys.REFUSED_PER_S:g} per second",
        "429, `Retry-After`",
    ),
    ("URL-encoded form", bytes_of(MAX_FORM_BYTES), "413"),
    ("uploaded file", bytes_of(reading.MAX_UPLOAD_BYTES), "413"),
    (
        "compressed upload; its growth when unpacked",
        f"{bytes_of(reading.MAX_COMPRESSED_BYTES)}, {MAX_EXPANSION} times",
        "422",
    ),
    (
        "files waiting for your confirmation: time; size per key; total size",
        f"{WAITS_US // 3_600_000_000} hour, {bytes_of(MAX_BYTES // LEAST_SHARES)}, {bytes_of(MAX_BYTES)}",
        "404; the key's oldest file is dropped",
    ),
    ("uploads per key waiting to be read; how long they wait", f"1, {uploads.WAITING_S:g} s", "503, `Retry-After`"),
    ("rows in an upload; columns in any file", f"{reading.MAX_ROWS:,}, {MAX_COLUMNS:,}", "422"),
    (
        "time and memory to read an upload",
        f"{uploads.READING_S:g} s ({uploads.WAITING_S:g} s if others wait), {bytes_of(uploads.MAX_RESIDENT)}",
        "422",
    ),
    ("time to answer a webhook delivery", f"{webhooks.EXCHANGE_S:g} s", "tried again later"),
)


def with_limits(text: str) -> str:
    """Return a page with the table between its marks."""
    begin, end = MARKS
    rows = [f"| {thing} | {limit} | {beyond} |" for thing, limit, beyond in LIMITS]
    table = "\n".join([begin, "| limit | at most | if exceeded |", "|---|---|---|", *rows, end])
    return re.sub(f"{begin}.*{end}", lambda _: table, text, flags=re.DOTALL)
