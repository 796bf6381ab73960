"""The routes that write: each body read strictly, each change one transaction off the event loop."""

from collections.abc import Sequence
from typing import Annotated, Any

from fastapi import FastAPI, Query, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import JSONResponse

from podium import systems
from podium.engine.system import System
from podium.service.api.batching import Intake
from podium.service.api.bodies import body_of, request_body
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
from podium.service.http.access import require_role
from podium.service.http.paths import EventId, Player, Pool
from podium.service.http.problems import WRITING, answers
from podium.service.http.strict_json import RefusedError
from podium.service.metrics import Metrics
from podium.store import Store
from podium.store.derive import snapshots
from podium.store.write.submission import Receipt as Taken

BASE = "/api/v1/pools"
REFUSALS = answers(*WRITING)
ONE: type[Event | Batch] = Event
DryRun = Annotated[bool, Query(description="Tell every change that would come, and store nothing.")]


def add_writes(app: FastAPI, store: Store, metrics: Metrics) -> None:
    """The routes that write."""
    add_pools(app, store)
    add_events(app, store, Intake(store), metrics)
    add_corrections(app, store, metrics)
    add_matches(app, store)
    add_players(app, store)


def add_pools(app: FastAPI, store: Store) -> None:
    """Pools, their systems and seasons, and daily ranks."""

    @app.post(BASE, status_code=201, responses=REFUSALS, tags=["pools"], openapi_extra=request_body(NewPool))
    async def create_pool(request: Request, key: str = require_role("admin")) -> PoolOut:
        """Open a ladder."""
        told = await body_of(request, NewPool)
        made = made_system(told)
        await run_in_threadpool(store.create_pool, told.name, made, actor=key)
        return PoolOut(name=told.name, system=made.name, parameters=told.parameters)

    @app.put(f"{BASE}/{{pool}}/system", responses=REFUSALS, tags=["pools"], openapi_extra=request_body(Configuration))
    async def configure(request: Request, pool: Pool, key: str = require_role("admin")) -> Rerated:
        """Rate a ladder with another system, or other parameters, from its first event on."""
        made = made_system(await body_of(request, Configuration))
        return Rerated(rerated=await run_in_threadpool(store.configure, pool, made, actor=key))

    @app.post(f"{BASE}/{{pool}}/seasons", status_code=201, responses=REFUSALS, tags=["seasons"],
              openapi_extra=request_body(NewSeason))  # fmt: skip
    async def begin_season(request: Request, pool: Pool, key: str = require_role("admin")) -> Rerated:
        """Shrink every lead over a newcomer to a share of itself, from a moment on."""
        told = await body_of(request, NewSeason)
        rerated = await run_in_threadpool(
            store.begin_season, pool, told.name, told.starts_at, keep=told.keep, actor=key
        )
        return Rerated(rerated=rerated)

    @app.post(f"{BASE}/{{pool}}/snapshots", responses=REFUSALS, tags=["daily ranks"], openapi_extra=request_body(Day))
    async def take_snapshot(request: Request, pool: Pool, _key: str = require_role("admin")) -> dict[str, int]:
        """Keep the ranks of a day's 00:00 UTC, today's if not told, and take spoilt days again; players per day."""
        told = (await body_of(request, Day)).day
        taken = await run_in_threadpool(store.snapshot, pool, None if told is None else snapshots.day_told(told))
        return {str(snapshots.date_of(day)): players for day, players in taken.items()}


def made_system(told: NewPool | Configuration) -> System:
    """The system that a body describes."""
    return systems.find(told.system).from_text(told.parameters)


def add_events(app: FastAPI, store: Store, intake: Intake, metrics: Metrics) -> None:
    """Results."""

    @app.post(f"{BASE}/{{pool}}/events", status_code=201, response_model=list[Receipt], tags=["events"],
              responses=answers(*WRITING, 503) | {200: {"model": list[Receipt], "description": "Known already."}},
              openapi_extra=request_body(Event, Batch))  # fmt: skip
    async def submit(
        request: Request, pool: Pool, *, dry_run: DryRun = False, key: str = require_role("write")
    ) -> JSONResponse:
        """Submit one event, or several that are taken together; the same again is answered with 200."""
        told = await body_of(request, ONE, events=Batch)
        events = told.events if isinstance(told, Batch) else [told]
        refuse_repeated(events)
        rows = [row for each in events for row in each.rows()]
        match_ids = {each.event_id: each.match_id for each in events if each.match_id is not None}
        if dry_run:
            found = await run_in_threadpool(store.submit, pool, rows, match_ids=match_ids, dry_run=True)
            return JSONResponse([receipt_json(each) for each in found], 200)
        found = await intake.submit(pool, rows, key, match_ids)
        for each in found:
            metrics.events.labels(pool, "duplicate" if each.duplicate else each.status).inc()
        metrics.rerated.labels(pool).inc(max((each.rerated for each in found), default=0))
        return JSONResponse(
            [receipt_json(each) for each in found], 200 if all(each.duplicate for each in found) else 201
        )


def refuse_repeated(events: Sequence[Event]) -> None:
    """Refuse a batch with two events of one id: their rows would become one event.

    Raises:
        RefusedError: an id stands twice.
    """
    seen: set[str] = set()
    for k, each in enumerate(events):
        if each.event_id in seen:
            raise RefusedError(f"events[{k}].event_id", "stands twice in the batch; each event has an id of its own")
        seen.add(each.event_id)


def add_corrections(app: FastAPI, store: Store, metrics: Metrics) -> None:
    """Corrections of events."""

    @app.put(f"{BASE}/{{pool}}/events/{{event_id}}", response_model=Receipt, responses=REFUSALS, tags=["events"],
             openapi_extra=request_body(Event))  # fmt: skip
    async def amend(
        request: Request, pool: Pool, event_id: EventId, *, dry_run: DryRun = False, key: str = require_role("admin")
    ) -> JSONResponse:
        """Correct an event; every rating becomes what it would have been."""
        told = await body_of(request, Event)
        if told.event_id != event_id:
            raise RefusedError("event_id", "is not the event of the address")
        if told.match_id is not None:
            raise RefusedError("match_id", "is kept as it was submitted; leave it out of an amendment")
        return corrected(pool, await run_in_threadpool(store.amend, pool, told.rows(), actor=key, dry_run=dry_run))

    @app.post(f"{BASE}/{{pool}}/events/{{event_id}}/void", response_model=Receipt, responses=REFUSALS, tags=["events"])
    def void(
        pool: Pool, event_id: EventId, *, dry_run: DryRun = False, key: str = require_role("admin")
    ) -> JSONResponse:
        """Let an event count for nothing; its content is kept."""
        return corrected(pool, store.void(pool, event_id, actor=key, dry_run=dry_run))

    @app.post(
        f"{BASE}/{{pool}}/events/{{event_id}}/restore", response_model=Receipt, responses=REFUSALS, tags=["events"]
    )
    def restore(
        pool: Pool, event_id: EventId, *, dry_run: DryRun = False, key: str = require_role("admin")
    ) -> JSONResponse:
        """Let a voided event count again."""
        return corrected(pool, store.restore(pool, event_id, actor=key, dry_run=dry_run))

    def corrected(pool: str, told: Taken) -> JSONResponse:
        if not told.effects:
            metrics.rerated.labels(pool).inc(told.rerated)
        return JSONResponse(receipt_json(told))


def add_matches(app: FastAPI, store: Store) -> None:
    """Matches that start."""

    @app.post(f"{BASE}/{{pool}}/matches", status_code=201, responses=REFUSALS, tags=["matches"],
              openapi_extra=request_body(NewMatch))  # fmt: skip
    async def register(request: Request, pool: Pool, key: str = require_role("write")) -> MatchOut:
        """Register a match that starts: its result counts once, and who is missing from it has quit."""
        told = await body_of(request, NewMatch)
        entrants = [each.model_dump() for each in told.entrants]
        kept = await run_in_threadpool(
            store.register, pool, told.match_id, entrants, held_s=told.expires_in_s, actor=key
        )
        return MatchOut.model_validate(kept, from_attributes=True)


def add_players(app: FastAPI, store: Store) -> None:
    """Who players are."""

    @app.post(f"{BASE}/{{pool}}/merge", responses=REFUSALS, tags=["players"], openapi_extra=request_body(Merge))
    async def merge(request: Request, pool: Pool, key: str = require_role("admin")) -> Rerated:
        """Let one player's results be another's."""
        told = await body_of(request, Merge)
        return Rerated(rerated=await run_in_threadpool(store.merge, pool, told.player, told.into, actor=key))

    @app.post(f"{BASE}/{{pool}}/players/{{player}}/rename", responses=REFUSALS, tags=["players"],
              openapi_extra=request_body(NewName))  # fmt: skip
    async def rename(request: Request, pool: Pool, player: Player, key: str = require_role("admin")) -> NewName:
        """Call a player otherwise, everywhere; no rating moves."""
        told = await body_of(request, NewName)
        await run_in_threadpool(store.rename, pool, player, told.name, actor=key)
        return told

    @app.post(f"{BASE}/{{pool}}/players/{{player}}/pseudonymise", responses=REFUSALS, tags=["players"])
    def pseudonymise(pool: Pool, player: Player, key: str = require_role("admin")) -> NewName:
        """Forget every name that a player had, everywhere; no rating moves."""
        return NewName(name=store.pseudonymise(pool, player, actor=key))


def receipt_json(told: Taken) -> dict[str, Any]:
    """A receipt as the service gives it."""
    return {
        "event_id": told.event_id,
        "seq": told.seq,
        "status": told.status,
        "reason": told.reason,
        "duplicate": told.duplicate,
        "changes": [each._asdict() for each in told.changes],
        "rerated": told.rerated,
        "effects": [each._asdict() for each in told.effects],
        "warnings": list(told.warnings),
    }
