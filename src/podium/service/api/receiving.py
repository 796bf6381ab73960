"""Receive results: match reports from Xonotic servers, and events in request bodies.

Source: XonStat's submission code. Responses to reports are plain text, which the game only logs.
"""

import base64
import os
import re
import shutil
import subprocess
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from functools import wraps
from itertools import chain, repeat
from typing import Annotated, Any, NamedTuple, Self

import polars as pl
from fastapi import APIRouter, Header, Path, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import PlainTextResponse

from podium.errors import FormatError, ParameterError, PodiumError, UnknownError
from podium.importers.collecting import Collector
from podium.importers.formats import xonstat
from podium.importers.options import Options
from podium.log.statements import instant, microseconds
from podium.results.columns import UTC as INSTANT
from podium.results.names import are_plain
from podium.results.plain_rows import READ, PlainRows, check_plainly
from podium.service.api.bodies import (
    MAX_ENTRIES,
    MAX_EVENTS,
    Batch,
    Entry,
    Event,
    validate,
)
from podium.service.api.dependencies import MAX_BODY_BYTES
from podium.service.http.errors import DESCRIPTIONS, MEDIA_TYPE, WRITE_ERRORS, AccessError, podium_error
from podium.service.http.json import EARLIEST, LATEST, MAX_CLOCK_LEAD, RefusedError, loads
from podium.service.http.keys import refuse_backdated
from podium.service.http.requests import CurrentThreads, operation_id, run_in
from podium.service.http.visitors import CurrentKeyGuard, read_bytes
from podium.store import Store
from podium.store.keys import ApiKey
from podium.support.collector import paused_collection
from podium.support.part_files import temporary_folder
from podium.views.names import find_event

router = APIRouter(prefix="/submit/xonstat", generate_unique_id_function=operation_id)
BODY = {"requestBody": {"required": True, "content": {"text/plain": {"schema": {"type": "string"}}}}}
ANSWERS: dict[int | str, dict[str, Any]] = {
    code: {"content": {"text/plain": {}, MEDIA_TYPE: {}}, "description": DESCRIPTIONS[code]} for code in WRITE_ERRORS
}
TOOL = "crypto-keygen-standalone"
PUBLIC_KEY_VARIABLE = "PODIUM_D0_PUBLIC_KEY"  # file with the key that signs servers' keys
PUBLIC_KEY = "key_0.d0pk"
LIMIT_S = 10.0
FINGERPRINT = re.compile(r"^[A-Za-z0-9+/]{43}=$")
Secret = Annotated[str, Path(min_length=1, description="Key with the `write` role for the pool of that game type.")]
Signature = Annotated[str, Header(alias="X-D0-Blind-ID-Detached-Signature", description="Signature in base64.")]


def in_text(route: Callable[..., Awaitable[str]]) -> Callable[..., Awaitable[PlainTextResponse]]:
    """Make a route respond with the outcome or the error of a report as text."""

    @wraps(route)
    async def answer(request: Request, **given: Any) -> PlainTextResponse:
        try:
            return PlainTextResponse(await route(request=request, **given))
        except PodiumError as error:
            refusal = await podium_error(request, error)
            headers = {name: value for name, value in refusal.headers.items() if not name.startswith("content-")}
            return PlainTextResponse(f"{error}\n", refusal.status_code, headers)

    return answer


@router.post("", response_model=None, response_class=PlainTextResponse, responses=ANSWERS, openapi_extra=BODY)
@in_text
async def submit_signed(
    request: Request, threads: CurrentThreads, guard: CurrentKeyGuard, signature: Signature = ""
) -> str:
    """Submit a report that is signed by a Xonotic server. The report's game type determines the pool."""
    body = await read_bytes(request, MAX_BODY_BYTES)
    fingerprint = await run_in(threads.verifying, verify_signature, body, request.url.query, signature)
    if fingerprint is None:
        message = "the signature is missing or could not be verified. Put a key at the end of the address."
        raise await guard.refusal(request, 401, message)
    return await store_report(request, body, fingerprint)


@router.post("/{secret}", response_model=None, response_class=PlainTextResponse, responses=ANSWERS, openapi_extra=BODY)
@in_text
async def submit_with_key(request: Request, secret: Secret, guard: CurrentKeyGuard) -> str:
    """Submit a report from a Xonotic server, with a key at the end of the address.

    The report's game type determines the pool.
    """
    key = request.state.key = await guard.key(secret)
    if key is None:
        raise await guard.refusal(request, 401, "the key at the end of the address is unknown, expired or revoked")
    await guard.count(key)
    body = await read_bytes(request, MAX_BODY_BYTES)
    return await store_report(request, body, key.name, key)


def verify_signature(body: bytes, query: str, signature: str) -> str | None:
    tool = shutil.which(TOOL)
    try:
        detached = base64.b64decode(signature, validate=True)
    except ValueError:
        return None
    if tool is None or not detached:
        return None
    with temporary_folder() as folder:
        signed, sealed = folder / "body", folder / "signature"
        signed.write_bytes(body + b"\0" + query.encode())
        sealed.write_bytes(detached)
        key = os.environ.get(PUBLIC_KEY_VARIABLE, PUBLIC_KEY)
        command = [tool, "-p", key, "-d", str(signed), "-s", str(sealed)]
        try:
            done = subprocess.run(command, capture_output=True, timeout=LIMIT_S, check=False)  # noqa: S603  (fixed)
        except (OSError, subprocess.TimeoutExpired):
            return None
    verdict, fingerprint, *_ = [*done.stdout.decode("ascii", "replace").split(), "", ""]
    verified = done.returncode == 0 and verdict == "1" and FINGERPRINT.match(fingerprint) is not None
    return fingerprint if verified else None


async def store_report(request: Request, body: bytes, sender: str, key: ApiKey | None = None) -> str:
    """Store a report. The IDs of its events start with the sender's name. The sender may also send a key."""
    store, intake, metrics = (getattr(request.app.state, name) for name in ("store", "intake", "metrics"))
    pool, rows, reason = await run_in_threadpool(read_report, request, store, body, sender, key, time.time_ns() // 1000)
    if not rows:
        return f"dropped: {reason}\n"
    receipts = await intake.submit(pool, rows, sender, {})
    metrics.count_receipts(pool, receipts)
    return "".join(
        f"{'duplicate' if receipt.duplicate else receipt.status}: {receipt.event_id}\n" for receipt in receipts
    )


def read_report(
    request: Request, store: Store, body: bytes, sender: str, key: ApiKey | None, received_us: int
) -> tuple[str, list[dict[str, Any]], str]:
    """Read a report. Return its pool and rows, or the reason why it has no rows.

    Args:
        received_us: Time of receipt, in microseconds since 1970. A match whose ID has no time has just ended.

    Raises:
        FormatError: The body is not a report.
        AccessError: The key does not permit writing to that pool, or that far back.
    """
    report = xonstat.parse(list(enumerate(body.split(b"\n"), start=1)), "report")
    if report.event.faults:
        raise FormatError("report", report.event.faults)
    pool = report.game_type
    if pool not in {pool.name for pool in store.pools()}:
        raise ParameterError(f"there is no pool {pool!r} for this type of game. Create it, or correct the type.")
    if key is not None and not key.may("write", pool):
        raise AccessError(403, f"this requires a key with the write role for pool {pool}")
    collector = Collector(Options())
    xonstat.take(report, collector, sender, received_us)
    imported = collector.imported()
    if imported.bad:
        raise FormatError("report", imported.bad)
    table = imported.table
    if key is not None and table.height:
        refuse_backdated(request, table["started_at"])
    if table.height and not xonstat.tells_start(report):
        started = stored_start(store, pool, table["event_id"][0])
        if started is not None:  # the same report again
            table = table.with_columns(started_at=pl.lit(started).cast(INSTANT))
    return pool, table.to_dicts(), ", ".join(f"{count} {reason}" for reason, count in imported.dropped.items())


def stored_start(store: Store, pool: str, event_id: str) -> int | None:
    """Return the start of a stored event in microseconds since 1970, or None if it is not stored."""
    with suppress(UnknownError), store.reading(pool) as found:
        started: int = find_event(found, event_id).started_at
        return started
    return None


REQUIRED = frozenset({"event_id", "started_at", "entries"})
EVENT_FIELDS, ENTRY_FIELDS = frozenset(Event.model_fields) - {"sequence"}, READ.intersection(Entry.model_fields)
EVENT_COLUMNS = EVENT_FIELDS & READ
is_date = re.compile(
    r"\d{4}-\d{2}-\d{2}T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,6})?(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)"
).fullmatch


def parse_events(body: bytes) -> "SentEvents":
    with paused_collection():
        value = loads(body)
        plain = read_plain_events(value)
        if plain is not None:
            return plain
        is_batch = isinstance(value, dict) and "events" in value
        return SentEvents.from_models(validate(value, Batch) if is_batch else validate(value, Event))


class SentEvents(NamedTuple):
    """The events in one body, which have different IDs."""

    rows: PlainRows | list[dict[str, Any]]  # of a results table
    match_ids: dict[str, str]  # registered match by event, for results of such matches
    starts: Sequence[datetime | int | float]  # dates or numbers of events; integers are microseconds since 1970
    details: Sequence[dict[str, str]] = ()  # of players

    @classmethod
    def from_models(cls, body: Event | Batch) -> Self:
        """Return the events of a body that the models have accepted."""
        events = body.events if isinstance(body, Batch) else [body]
        refuse_repeated(events)
        return cls(
            [row for event in events for row in event.rows()],
            {event.event_id: event.match_id for event in events if event.match_id is not None},
            [when for event in events for when in event.whens()],
            [details for event in events for details in event.details()],
        )

    def whens(self) -> Iterator[datetime | float]:
        """Yield the dates or numbers of the events that have them."""
        return (instant(start) if isinstance(start, int) else start for start in self.starts)


def refuse_repeated(events: Sequence[Event]) -> None:
    """Reject a batch in which two events have the same ID, because their rows would become one event."""
    seen: set[str] = set()
    for k, event in enumerate(events):
        if event.event_id in seen:
            raise RefusedError(f"events[{k}].event_id", "appears twice in the batch. Give each event its own ID.")
        seen.add(event.event_id)


def read_plain_events(value: Any) -> SentEvents | None:
    """Return the events of a body that is obviously valid, or None if the models must decide."""
    events = value["events"] if type(value) is dict and value.keys() == {"events"} else [value]
    if type(events) is not list or not 0 < len(events) <= MAX_EVENTS or {*map(type, events)} != {dict}:
        return None
    if not all(event.keys() >= REQUIRED for event in events) or not set().union(*events) <= EVENT_FIELDS:
        return None
    every_entries = [event["entries"] for event in events]
    if {*map(type, every_entries)} != {list} or not all(0 < len(entries_) <= MAX_ENTRIES for entries_ in every_entries):
        return None
    entries = [*chain.from_iterable(every_entries)]
    if {*map(type, entries)} != {dict} or not set().union(*entries) <= ENTRY_FIELDS:
        return None
    ids, dates = ([event[name] for event in events] for name in ("event_id", "started_at"))
    if {*map(type, ids)} | {*map(type, dates)} != {str} or len({*ids}) < len(ids) or not all(map(is_date, dates)):
        return None
    match_ids = plain_match_ids(events)
    if match_ids is None:
        return None
    rows = check_plainly(columns_of(events, entries, [*map(len, every_entries)]))
    if rows is None:
        return None
    moments = dict(zip(rows.columns["event_id"], rows.columns["started_at"], strict=True))
    latest = microseconds(datetime.now(UTC) + MAX_CLOCK_LEAD)
    if min(moments.values()) < microseconds(EARLIEST) or max(moments.values()) > min(latest, microseconds(LATEST) - 1):
        return None
    return SentEvents(rows, match_ids, [*moments.values()])


def plain_match_ids(events: Sequence[Mapping[str, Any]]) -> dict[str, str] | None:
    """Return by event ID the match to which each event with a match result belongs.

    Return None if the models must decide.
    """
    match_ids = {event["event_id"]: event["match_id"] for event in events if event.get("match_id") is not None}
    if not match_ids:
        return {}
    is_text = {*map(type, match_ids.values())} == {str}
    return match_ids if is_text and are_plain(match_ids.values()) else None


def columns_of(
    events: Sequence[Mapping[str, Any]], entries: Sequence[Mapping[str, Any]], sizes: Sequence[int]
) -> dict[str, list[Any]]:
    """Return the columns of a results table, each with one value per entry."""
    columns = {
        name: [*chain.from_iterable(map(repeat, [event.get(name) for event in events], sizes))]
        for name in EVENT_COLUMNS & set[str]().union(*events)
    }
    return columns | {name: [entry.get(name) for entry in entries] for name in set[str]().union(*entries)}
