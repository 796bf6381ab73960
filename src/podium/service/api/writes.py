"""The routes that write: each body read strictly, each change one transaction off the event loop."""

from collections.abc import Sequence
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import JSONResponse

from podium import systems
from podium.engine.system import System
from podium.service.api.bodies import read_body, request_body
from podium.service.api.dependencies import Admin, CurrentIntake, CurrentMetrics, CurrentStore, Writer
from podium.service.api.models import (
    Batch,
    Configuration,
    Day,
    Event,
    MatchOut,
    Merge,
    NewMatch,
    NewName,
    NewPool,
    NewSeason,
    PoolOut,
    Receipt,
    Rerated,
)
from podium.service.http.paths import POOLS_PATH, EventId, PlayerName, PoolName
from podium.service.http.problems import WRITE_ERRORS, error_responses
from podium.service.http.strict_json import RefusedError
from podium.service.metrics import Metrics
from podium.store.derive import snapshots
from podium.store.write.receipts import Receipt as StoreReceipt

router = APIRouter(prefix=POOLS_PATH)
REFUSALS = error_responses(*WRITE_ERRORS)
EVENT_OR_BATCH: type[Event | Batch] = Event
DryRun = Annotated[bool, Query(description="Return every change that would follow, and store nothing.")]


@router.post("", status_code=201, responses=REFUSALS, tags=["pools"], openapi_extra=request_body(NewPool))
async def create_pool(request: Request, store: CurrentStore, key: Admin) -> PoolOut:
    """Open a ladder."""
    body = await read_body(request, NewPool)
    system = requested_system(body)
    await run_in_threadpool(store.create_pool, body.name, system, actor=key)
    return PoolOut(name=body.name, system=system.name, parameters=body.parameters)


@router.put("/{pool}/system", responses=REFUSALS, tags=["pools"], openapi_extra=request_body(Configuration))
async def configure(request: Request, pool: PoolName, store: CurrentStore, key: Admin) -> Rerated:
    """Rate a ladder with another system, or other parameters, from its first event on."""
    system = requested_system(await read_body(request, Configuration))
    return Rerated(rerated=await run_in_threadpool(store.configure, pool, system, actor=key))


@router.post(
    "/{pool}/seasons", status_code=201, responses=REFUSALS, tags=["seasons"], openapi_extra=request_body(NewSeason)
)
async def begin_season(request: Request, pool: PoolName, store: CurrentStore, key: Admin) -> Rerated:
    """Shrink every lead over a newcomer to a share of itself, from a moment on."""
    body = await read_body(request, NewSeason)
    rerated = await run_in_threadpool(store.begin_season, pool, body.name, body.starts_at, keep=body.keep, actor=key)
    return Rerated(rerated=rerated)


@router.post("/{pool}/snapshots", responses=REFUSALS, tags=["daily ranks"], openapi_extra=request_body(Day))
async def take_snapshot(request: Request, pool: PoolName, store: CurrentStore, _key: Admin) -> dict[str, int]:
    """Store the ranks at 00:00 UTC of a day (today), and of days that a correction changed; players per day."""
    body = await read_body(request, Day)
    players_by_day = await run_in_threadpool(
        store.snapshot, pool, None if body.day is None else snapshots.parse_day(body.day)
    )
    return {str(snapshots.date_of(day)): players for day, players in players_by_day.items()}


def requested_system(body: NewPool | Configuration) -> System:
    """Return the system that a body describes."""
    return systems.find(body.system).from_text(body.parameters)


@router.post(
    "/{pool}/events",
    status_code=201,
    response_model=list[Receipt],
    tags=["events"],
    responses=REFUSALS | {200: {"model": list[Receipt], "description": "Every event is a duplicate."}},
    openapi_extra=request_body(Event, Batch),
)
async def submit(
    request: Request,
    pool: PoolName,
    store: CurrentStore,
    intake: CurrentIntake,
    metrics: CurrentMetrics,
    key: Writer,
    *,
    dry_run: DryRun = False,
) -> JSONResponse:
    """Submit one event, or several of which all are stored or none; a duplicate is answered with 200."""
    body = await read_body(request, EVENT_OR_BATCH, events=Batch)
    events = body.events if isinstance(body, Batch) else [body]
    refuse_repeated(events)
    rows = [row for each in events for row in each.rows()]
    match_ids = {each.event_id: each.match_id for each in events if each.match_id is not None}
    if dry_run:
        receipts = await run_in_threadpool(store.submit, pool, rows, match_ids=match_ids, dry_run=True)
        return JSONResponse([receipt_json(each) for each in receipts], 200)
    receipts = await intake.submit(pool, rows, key, match_ids)
    count_receipts(metrics, pool, receipts)
    return JSONResponse(
        [receipt_json(each) for each in receipts], 200 if all(each.duplicate for each in receipts) else 201
    )


def count_receipts(metrics: Metrics, pool: str, receipts: Sequence[StoreReceipt]) -> None:
    """Count what became of events that were sent."""
    for each in receipts:
        metrics.events.labels(pool, "duplicate" if each.duplicate else each.status).inc()
    metrics.rerated.labels(pool).inc(max((each.rerated for each in receipts), default=0))


def refuse_repeated(events: Sequence[Event]) -> None:
    """Refuse a batch with two events of one id: their rows would become one event.

    Raises:
        RefusedError: an id appears twice.
    """
    seen: set[str] = set()
    for k, each in enumerate(events):
        if each.event_id in seen:
            raise RefusedError(f"events[{k}].event_id", "appears twice in the batch; each event needs an id of its own")
        seen.add(each.event_id)


@router.put(
    "/{pool}/events/{event_id}",
    response_model=Receipt,
    responses=REFUSALS,
    tags=["events"],
    openapi_extra=request_body(Event),
)
async def amend(
    request: Request,
    pool: PoolName,
    event_id: EventId,
    store: CurrentStore,
    metrics: CurrentMetrics,
    key: Admin,
    *,
    dry_run: DryRun = False,
) -> JSONResponse:
    """Correct an event; every rating becomes what it would have been."""
    body = await read_body(request, Event)
    if body.event_id != event_id:
        raise RefusedError("event_id", "is not the event of the address")
    if body.match_id is not None:
        raise RefusedError("match_id", "stays as it was submitted; leave it out of an amendment")
    receipt = await run_in_threadpool(store.amend, pool, body.rows(), actor=key, dry_run=dry_run)
    return correction_response(metrics, pool, receipt)


@router.post("/{pool}/events/{event_id}/void", response_model=Receipt, responses=REFUSALS, tags=["events"])
def void(
    pool: PoolName,
    event_id: EventId,
    store: CurrentStore,
    metrics: CurrentMetrics,
    key: Admin,
    *,
    dry_run: DryRun = False,
) -> JSONResponse:
    """Void an event: it counts for nothing, and its content stays."""
    return correction_response(metrics, pool, store.void(pool, event_id, actor=key, dry_run=dry_run))


@router.post("/{pool}/events/{event_id}/restore", response_model=Receipt, responses=REFUSALS, tags=["events"])
def restore(
    pool: PoolName,
    event_id: EventId,
    store: CurrentStore,
    metrics: CurrentMetrics,
    key: Admin,
    *,
    dry_run: DryRun = False,
) -> JSONResponse:
    """Restore a voided event: it counts again."""
    return correction_response(metrics, pool, store.restore(pool, event_id, actor=key, dry_run=dry_run))


def correction_response(metrics: Metrics, pool: str, receipt: StoreReceipt) -> JSONResponse:
    """Return a correction's receipt, and count what it rated again; a dry run counts nothing."""
    if not receipt.effects:
        metrics.rerated.labels(pool).inc(receipt.rerated)
    return JSONResponse(receipt_json(receipt))


@router.post(
    "/{pool}/matches", status_code=201, responses=REFUSALS, tags=["matches"], openapi_extra=request_body(NewMatch)
)
async def register(request: Request, pool: PoolName, store: CurrentStore, key: Writer) -> MatchOut:
    """Register a match that starts: its result counts once, and who is missing from it has quit."""
    body = await read_body(request, NewMatch)
    entrants = [each.model_dump() for each in body.entrants]
    match = await run_in_threadpool(store.register, pool, body.match_id, entrants, held_s=body.expires_in_s, actor=key)
    return MatchOut.model_validate(match, from_attributes=True)


@router.post("/{pool}/merge", responses=REFUSALS, tags=["players"], openapi_extra=request_body(Merge))
async def merge(request: Request, pool: PoolName, store: CurrentStore, key: Admin) -> Rerated:
    """Let one player's results be another's."""
    body = await read_body(request, Merge)
    return Rerated(rerated=await run_in_threadpool(store.merge, pool, body.player, body.into, actor=key))


@router.post("/{pool}/players/{player}/unmerge", responses=REFUSALS, tags=["players"])
def unmerge(pool: PoolName, player: PlayerName, store: CurrentStore, key: Admin) -> Rerated:
    """Let a merged account be a player of its own again, as if that merge had never been."""
    return Rerated(rerated=store.unmerge(pool, player, actor=key))


@router.post(
    "/{pool}/players/{player}/rename", responses=REFUSALS, tags=["players"], openapi_extra=request_body(NewName)
)
async def rename(request: Request, pool: PoolName, player: PlayerName, store: CurrentStore, key: Admin) -> NewName:
    """Give a player another name, everywhere; no rating moves."""
    body = await read_body(request, NewName)
    await run_in_threadpool(store.rename, pool, player, body.name, actor=key)
    return body


@router.post("/{pool}/players/{player}/pseudonymise", responses=REFUSALS, tags=["players"])
def pseudonymise(pool: PoolName, player: PlayerName, store: CurrentStore, key: Admin) -> NewName:
    """Forget every name that a player had, everywhere; no rating moves."""
    return NewName(name=store.pseudonymise(pool, player, actor=key))


def receipt_json(receipt: StoreReceipt) -> dict[str, Any]:
    """Return a receipt as JSON."""
    return {
        "event_id": receipt.event_id,
        "seq": receipt.seq,
        "status": receipt.status,
        "reason": receipt.reason,
        "duplicate": receipt.duplicate,
        "changes": [each._asdict() for each in receipt.changes],
        "rerated": receipt.rerated,
        "effects": [each._asdict() for each in receipt.effects],
        "warnings": list(receipt.warnings),
    }
