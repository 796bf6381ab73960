"""The table of limits in service.md, read from the code that keeps them."""

import re

from podium.importers.sources import MAX_EXPANSION
from podium.ledger.reasons.what_if import MOST_IMAGINED
from podium.log import log, pools
from podium.results.columns import MAX_COLUMNS
from podium.service import watchers, webhooks
from podium.service.admin import reading, uploads
from podium.service.api import bodies, dependencies
from podium.service.http import json, keys
from podium.service.http.visitors import MAX_FORM_BYTES
from podium.service.server import MAX_CONNECTIONS, MAX_HEADER_BYTES, Phase
from podium.service.web.ahead.calendar import MOST_KEYLESS, MOST_WAITING, WAITING_S
from podium.service.web.chances import MOST_ENTRANTS
from podium.store.reading.ahead import MOST_STARTERS
from podium.store.reading.players.rivals import MAX_MEETINGS
from podium.store.waiting import LEAST_SHARES, MOST_BYTES, WAITS_US
from podium.store.writing.execution import SHORT_EVENTS

MARKS = "<!-- limits -->", "<!-- end of limits -->"


def bytes_of(count: float) -> str:
    """A number of bytes, as people read it."""
    return f"{count / 1e6:g} MB" if count >= 1e6 else f"{count:,} bytes"  # noqa: PLR2004


LIMITS = (  # what is limited, to how much, and what is beyond
    ("headers of a request", f"{bytes_of(MAX_HEADER_BYTES)}, {Phase.HEADERS.value:g} s", "the connection is closed"),
    ("the body of a request to the API", bytes_of(bodies.MAX_BODY_BYTES), "413"),
    ("a body on its way", f"{Phase.BODY.value:g} s", "the connection is closed"),
    ("events of one request", f"{bodies.MAX_EVENTS:,}", "422"),
    ("entrants of an event, also of an uploaded one", f"{bodies.MAX_ENTRIES:,}", "422"),
    ("objects within objects of JSON, keys of one", f"{json.MAX_DEPTH}, {json.MAX_KEYS:,}", "422"),
    ("a name as it is sent, and as it is kept", f"{json.MAX_SENT_CHARACTERS:,}, 200 characters", "422"),
    (
        "a reason, a title or contact of a ladder",
        f"{log.MAX_CHARACTERS}, {pools.MAX_CONTACT_CHARACTERS} characters",
        "422",
    ),
    (
        "entrants of an event of which it is worked out what would have been",
        f"{MOST_IMAGINED:,} where each pair is compared",
        "422; left out of the page",
    ),
    ("events of a ladder that wait to be stored", f"{dependencies.MAX_WAITING_EVENTS:,}", "503, `Retry-After`"),
    ("events that are rated again at once", f"{SHORT_EVENTS:,}", "worked out beside the ladder's other results"),
    ("players to predict, through the API", f"{bodies.MAX_PREDICTED}", "422"),
    ("players to predict, on the page", f"{MOST_ENTRANTS}", "the first of them are predicted"),
    (
        "players of a race in a table of stakes, and without a key",
        f"{MOST_STARTERS}, {MOST_KEYLESS}",
        "422",
    ),
    ("requests that wait for such tables, and how long", f"{MOST_WAITING}, {WAITING_S:g} s", "503, `Retry-After`"),
    ("tickets of matchmaking", f"{bodies.MAX_TICKETS:,}", "422"),
    ("meetings of two that are listed", f"{MAX_MEETINGS:,}", "counted, and the newest listed"),
    ("connections", f"{MAX_CONNECTIONS:,}", "who has waited longest makes room"),
    ("streams, and those without a key", f"{watchers.MAX_LISTENERS:,}, {watchers.MAX_KEYLESS_LISTENERS}", "503"),
    (
        "refused requests of an address",
        f"{keys.REFUSED_BURST:g}, then {keys.REFUSED_PER_S:g} a second",
        "429, `Retry-After`",
    ),
    ("a form that is URL-encoded", bytes_of(MAX_FORM_BYTES), "413"),
    ("an uploaded file", bytes_of(reading.MAX_UPLOAD_BYTES), "413"),
    (
        "one that is compressed, and what it becomes",
        f"{bytes_of(reading.MAX_COMPRESSED_BYTES)}, {MAX_EXPANSION} times its size",
        "422",
    ),
    (
        "files and changes between two forms: time, size for one key, size for all (compressed)",
        f"{WAITS_US // 3_600_000_000} hour, {bytes_of(MOST_BYTES // LEAST_SHARES)}, {bytes_of(MOST_BYTES)}",
        "404; the key's oldest go first",
    ),
    (
        "uploaded files of one key that wait to be read, and how long",
        f"1, {uploads.WAITING_S:g} s",
        "503, `Retry-After`",
    ),
    ("rows of an uploaded file, columns of any", f"{reading.MAX_ROWS:,}, {MAX_COLUMNS:,}", "422"),
    (
        "reading an uploaded file",
        f"{uploads.READING_S:g} s ({uploads.WAITING_S:g} s if others wait), {bytes_of(uploads.MAX_RESIDENT)} of memory",
        "422",
    ),
    ("a delivery to a webhook", f"{webhooks.EXCHANGE_S:g} s", "it has failed, and is tried again"),
)


def with_limits(text: str) -> str:
    """A page with the table between its marks."""
    begin, end = MARKS
    rows = [f"| {what} | {limit} | {beyond} |" for what, limit, beyond in LIMITS]
    table = "\n".join([begin, "| limit | at most | beyond |", "|---|---|---|", *rows, end])
    return re.sub(f"{begin}.*{end}", lambda _: table, text, flags=re.DOTALL)
