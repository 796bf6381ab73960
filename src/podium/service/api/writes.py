"""Routes that write data.

Each route parses its body strictly, and makes its changes in one transaction outside the event loop.
"""

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, replace
from datetime import datetime, timedelta
from typing import Annotated, Any, TypeVar, cast

from fastapi import Path, Query, Response
from fastapi.concurrency import run_in_threadpool
from pydantic import Field

from podium import systems
from podium.engine.system import System
from podium.log.database import read_transaction
from podium.log.pools import When
from podium.log.statements import now
from podium.service.api import bodies
from podium.service.api.dependencies import (
    AdminAct,
    RequestedAct,
    RequestedWrite,
    Sent,
    WriterAct,
    parsed,
)
from podium.service.api.receiving import SentEvents, parse_events
from podium.service.http.errors import error_responses
from podium.service.http.json import EventId, PlayerName, PoolName, RefusedError, SentName, json_response
from podium.service.http.keys import (
    find_visible_key,
    refuse_backdated,
    refuse_backdated_results,
    refuse_backdating_limit,
    refuse_new_key,
    visible_keys,
)
from podium.service.http.requests import (
    IfMatch,
    PoolRouter,
    made_of,
    run_in,
    versions_in,
)
from podium.store import keys as store_keys
from podium.store.writing import accounts, administration
from podium.store.writing.administration import RegisteredMatch
from podium.store.writing.anonymizing import Anonymization
from podium.store.writing.proposals import Act
from podium.store.writing.receipts import Receipt, Rerated
from podium.support.immutable import immutable
from podium.views.models import KeyDetails, PoolSummary, WebhookDetails

T = TypeVar("T")
router = PoolRouter()
REFUSALS_OF_CORRECTIONS = error_responses(412)  # besides the others
Reason = Annotated[str, Query(max_length=500, description="Reason to record in the log. It can be deleted later.")]
Kind = Annotated[
    str,
    Query(
        max_length=200,
        description="Kind of equipment, such as `car`, if the name belongs to equipment rather than a player.",
    ),
]
DryRun = Annotated[bool, Query(description="Store nothing. Return the totals and the 1,000 largest effects.")]
Number = Annotated[int, Path(ge=1, le=2**31 - 1, description="Number of the key or webhook.")]
ListsOnly = Annotated[bool, Query(description="Store nothing. Return the IDs that would be replaced.")]
EffectsAfter = Annotated[
    str | None,
    Query(
        description="Only for dry runs: the value of `next` in the previous receipt, to get the next smaller effects."
    ),
]


@immutable
class RerateAct(AdminAct):
    """A request that recalculates ratings, without the action itself."""

    dry_run: DryRun = False
    effects_after: EffectsAfter = None

    async def rerate(self, pool: str, act: Act, reason: str = "", *, since: When | None = None) -> Rerated:
        """Make a change or, with `dry_run`, return its effect without saving it.

        Args:
            since: the first event that it concerns. By default, it may concern all events.
        """
        if since is None:
            refuse_backdating_limit(self.request)
        else:
            refuse_backdated(self.request, [since])
        if self.dry_run:
            options: Any = {"dry_run": True, "effects_after": self.effects_after}
            return cast("Rerated", await run_in(self.threads.planning, self.store.run, pool, act, **options))
        return Rerated(await self.run(self.store.run, pool, act, reason=reason))


RequestedRerate = Annotated[RerateAct, made_of(RerateAct)]


@router.post("", status_code=201)
async def create_pool(act: RequestedAct, body: Sent[bodies.NewPool]) -> PoolSummary:
    """Create a pool."""
    system = requested_system(body)
    rest = body.model_dump(exclude={"name", "system", "parameters"})
    await act.run(act.store.create_pool, body.name, system, **rest)
    return await run_in_threadpool(act.store.pool_summary, body.name)


@router.patch("/{pool}")
async def describe_pool(pool: PoolName, act: RequestedAct, body: Sent[bodies.Description]) -> PoolSummary:
    """Change a pool's description and who can read it."""
    await act.run(act.store.describe_pool, pool, **body.model_dump())
    return await run_in_threadpool(act.store.pool_summary, pool)


@router.put("/{pool}/system")
async def configure(pool: PoolName, act: RequestedRerate, body: Sent[bodies.Configuration]) -> Rerated:
    """Rate a pool again from its first event, with another system or different parameters."""
    system = requested_system(body)
    return await act.rerate(pool, administration.configure(system))


@router.put("/{pool}/order")
async def set_order(pool: PoolName, act: RequestedRerate, body: Sent[bodies.NewOrder]) -> Rerated:
    """Order a pool's events by date or by number. This is possible only while the pool has fewer than 50 events."""
    return await act.rerate(pool, administration.set_order(body.order, body.started_at, body.every))


@router.post("/{pool}/seasons", status_code=201)
async def begin_season(pool: PoolName, act: RequestedRerate, body: Sent[bodies.NewSeason]) -> Rerated:
    """Begin a season at a date or event: reduce every lead over a newcomer to a given share."""
    return await act.rerate(
        pool, administration.begin_season(body.name, body.when, body.keep, widens=body.widens), since=body.when
    )


def requested_system(body: bodies.NewPool | bodies.Configuration) -> System:
    return systems.find(body.system).from_text(body.parameters)


@router.post(
    "/{pool}/events",
    status_code=201,
    response_model=list[Receipt],
    responses={200: {"model": list[Receipt], "description": "Every event is a duplicate."}},
)
async def submit(
    pool: PoolName,
    act: RequestedWrite,
    sent: Annotated[SentEvents, parsed(parse_events, bodies.Event, bodies.Batch)],
    *,
    dry_run: DryRun = False,
    effects_after: EffectsAfter = None,
) -> Response:
    """Submit one event, or several events that are saved together or not at all. A duplicate gets status 200."""
    refuse_backdated(act.request, sent.whens())
    if sent.match_ids:
        await run_in_threadpool(refuse_backdated_results, act.request, act.store, pool, sent.match_ids.values())
    if dry_run:
        receipts = await run_in(
            act.threads.planning,
            act.store.submit,
            pool,
            sent.rows,
            match_ids=sent.match_ids,
            received=now(),
            dry_run=True,
            effects_after=effects_after,
        )
    else:
        receipts = await act.request.app.state.intake.submit(pool, sent.rows, act.key, sent.match_ids)
    if sent.details:
        receipts[0] = await with_details(act, pool, receipts[0], sent.details, dry_run=dry_run)
    if dry_run:
        return json_response(list[Receipt], receipts)
    act.request.app.state.metrics.count_receipts(pool, receipts)
    return json_response(list[Receipt], receipts, 200 if all(receipt.duplicate for receipt in receipts) else 201)


async def with_details(
    act: WriterAct, pool: str, receipt: Receipt, details: Sequence[Mapping[str, str]], *, dry_run: bool
) -> Receipt:
    """Store the details of players that came with results. Return the receipt with warnings about them."""
    if dry_run:
        notes = await run_in(act.threads.planning, act.store.preview_details, pool, details)
    else:
        notes = await act.run(act.store.take_details, pool, details)
    return replace(receipt, warnings=(*receipt.warnings, *notes))


@immutable
class Correction(AdminAct):
    """A correction of an event, without the action itself."""

    if_match: IfMatch = None
    reason: Reason = ""
    dry_run: DryRun = False
    effects_after: EffectsAfter = None

    async def correct(
        self,
        pool: str,
        event_id: str,
        act: Callable[..., Receipt],
        content: Any,
        details: Sequence[Mapping[str, str]] = (),
    ) -> Response:
        """Run the correction, or preview its effect, and return the receipt."""
        correction = functools.partial(
            act, pool, content, actor=self.key, reason=self.reason, versions=versions_in(self.if_match),
            dry_run=self.dry_run, effects_after=self.effects_after,
        )  # fmt: skip
        if self.request.state.key.backdating_limit_s is not None:
            event = await run_in_threadpool(self.store.event, pool, event_id)
            refuse_backdated(self.request, [event.when])
            sent = self.request, self.store, pool, [event.match_id]
            await run_in_threadpool(refuse_backdated_results, *sent)
        receipt = await run_in(self.threads.planning if self.dry_run else self.threads.writing, correction)
        if not self.dry_run:
            self.request.app.state.metrics.rerated.labels(pool).inc(receipt.rerated)
        if details:
            receipt = await with_details(self, pool, receipt, details, dry_run=self.dry_run)
        return json_response(Receipt, receipt)


RequestedCorrection = Annotated[Correction, made_of(Correction)]


@router.put(
    "/{pool}/events/{event_id}",
    response_model=Receipt,
    responses=REFUSALS_OF_CORRECTIONS,
)
async def amend(
    pool: PoolName,
    event_id: EventId,
    correction: RequestedCorrection,
    body: Sent[bodies.Event],
) -> Response:
    """Correct an event, and recalculate all later ratings."""
    if body.event_id != event_id:
        raise RefusedError("event_id", "is not the event in the address")
    if body.match_id is not None:
        raise RefusedError("match_id", "cannot be changed. Leave it out of the correction.")
    refuse_backdated(correction.request, body.whens())
    return await correction.correct(pool, event_id, correction.store.amend, body.rows(), body.details())


@router.post("/{pool}/events/{event_id}/void", response_model=Receipt, responses=REFUSALS_OF_CORRECTIONS)
async def void(pool: PoolName, event_id: EventId, correction: RequestedCorrection) -> Response:
    """Void an event. It no longer counts, but its content is kept."""
    return await correction.correct(pool, event_id, correction.store.void, event_id)


@router.post("/{pool}/events/{event_id}/unvoid", response_model=Receipt, responses=REFUSALS_OF_CORRECTIONS)
async def unvoid(pool: PoolName, event_id: EventId, correction: RequestedCorrection) -> Response:
    """Make a voided event count again."""
    return await correction.correct(pool, event_id, correction.store.unvoid, event_id)


@router.post("/{pool}/matches", status_code=201)
async def register(pool: PoolName, act: RequestedWrite, body: Sent[bodies.NewMatch]) -> RegisteredMatch:
    """Register a match that is starting.

    Its result counts only once, and a player missing from the result counts as having quit.
    """
    entrants = [entrant.model_dump() for entrant in body.entrants]
    return await act.run(act.store.register, pool, body.match_id, entrants, held_s=body.expires_in_s)


@router.post("/{pool}/merge")
async def merge(
    pool: PoolName,
    act: RequestedRerate,
    body: Sent[bodies.Merge],
    *,
    kind: Kind = "",
    reason: Reason = "",
) -> Rerated:
    """Merge one player's results into another's."""
    return await act.rerate(pool, accounts.merge(body.player, body.into, kind), reason)


@router.post("/{pool}/players/{player}/unmerge")
async def unmerge(
    pool: PoolName, player: PlayerName, act: RequestedRerate, *, kind: Kind = "", reason: Reason = ""
) -> Rerated:
    """Separate a merged account again, as if it had never been merged."""
    return await act.rerate(pool, accounts.unmerge(player, kind), reason)


@router.post("/{pool}/players/{player}/void")
async def void_player(pool: PoolName, player: PlayerName, act: RequestedRerate, *, reason: Reason = "") -> Rerated:
    """Void every rated event of a player, for example after a ban."""
    return await act.rerate(pool, accounts.void_player(player), reason)


class StartingRating(bodies.Strict):
    """The rating with which a player enters the first event, and the deviation if the system has one."""

    player: SentName
    rating: float
    deviation: float | None = None


class StartingRatings(bodies.Strict):
    """Starting ratings of players."""

    players: list[StartingRating] = Field(min_length=1, max_length=10_000, description="The players, who may be new.")


@router.put("/{pool}/starting-ratings")
async def set_starting_ratings(
    pool: PoolName, act: RequestedRerate, body: Sent[StartingRatings], *, reason: Reason = ""
) -> Rerated:
    """Set the ratings with which players enter their first events, and recalculate all later ratings."""
    rows = [player.model_dump() for player in body.players]
    return await act.rerate(pool, accounts.set_starting_ratings(rows), reason)


@router.post("/{pool}/players/{player}/rename")
async def rename(
    pool: PoolName,
    player: PlayerName,
    act: RequestedAct,
    body: Sent[bodies.NewName],
    *,
    kind: Kind = "",
) -> bodies.NewName:
    """Rename a player everywhere. Ratings do not change."""
    await act.run(act.store.rename, pool, player, body.name, kind=kind)
    return body


@router.post("/{pool}/players/{player}/anonymize")
async def anonymize(
    pool: PoolName, player: PlayerName, act: RequestedAct, *, dry_run: ListsOnly = False
) -> Anonymization:
    """Remove every name a player has had, including from titles, IDs and reasons. Ratings do not change."""
    seen = await run_in(act.threads.planning, act.store.anonymization, pool, player)
    return seen if dry_run else replace(seen, name=await act.run(act.store.anonymize, pool, player))


def details(kind: type[T], stored: Any, **others: Any) -> T:
    """Return a response with the stored fields, after converting times from text."""
    found = {field.name: getattr(stored, field.name, None) for field in fields(kind)} | others  # type: ignore[arg-type]
    times = {name: datetime.fromisoformat(text) for name, text in found.items() if text and name in TIMES}
    return kind(**found | times)


TIMES = ("created_at", "expires_at", "revoked_at", "last_used_at", "failing_since")


def webhook_details(webhook: store_keys.Webhook, secret: str | None = None) -> WebhookDetails:
    return details(WebhookDetails, webhook, url=webhook.shown_url, secret=secret)


@router.post("/{pool}/keys", status_code=201)
async def create_key(pool: PoolName, act: RequestedAct, body: Sent[bodies.NewKey]) -> KeyDetails:
    """Create a key. The response shows the key only once, and Podium stores only a hash of it."""
    opened = None if body.all_pools else pool
    refuse_new_key(act.request.state.key, opened)
    lifetime = None if body.expires_in_days is None else timedelta(days=body.expires_in_days)

    def create() -> KeyDetails:
        engine = act.store.engine
        act.store.pool(pool)  # refuses an unknown one
        secret = store_keys.create_key(
            engine,
            body.name,
            body.role,
            opened,
            body.per_second,
            lifetime=lifetime,
            backdating_limit_s=body.backdating_limit_s,
        )
        with read_transaction(engine) as connection:
            return details(KeyDetails, store_keys.find_key(connection, secret), secret=secret)

    return await run_in(act.threads.writing, create)


@router.get("/{pool}/keys")
async def keys(pool: PoolName, act: RequestedAct) -> list[KeyDetails]:
    """List the keys of a pool, including revoked ones.

    If your key covers all pools, the list also includes the other keys that do.
    """

    def read() -> list[KeyDetails]:
        act.store.pool(pool)
        return [details(KeyDetails, key) for key in visible_keys(act.store, act.request.state.key, pool)]

    return await run_in_threadpool(read)


@router.delete("/{pool}/keys/{number}", status_code=204)
async def revoke_key(pool: PoolName, number: Number, act: RequestedAct) -> None:
    """Revoke a key. Requests with this key are rejected from then on."""

    def revoke() -> None:
        store_keys.revoke_key(act.store.engine, find_visible_key(act.store, act.request.state.key, pool, number).id)

    await run_in(act.threads.writing, revoke)


@router.post("/{pool}/webhooks", status_code=201)
async def create_webhook(pool: PoolName, act: RequestedAct, body: Sent[bodies.NewWebhook]) -> WebhookDetails:
    """Send everything that happens in a pool to a URL. The response shows the signing secret only once."""

    def create() -> WebhookDetails:
        created = store_keys.create_webhook(act.store.engine, pool, body.url, form=body.format or "")
        return webhook_details(created, created.secret if created.format == store_keys.JSON else None)

    return await run_in(act.threads.writing, create)


@router.get("/{pool}/webhooks")
async def webhooks(pool: PoolName, act: RequestedAct) -> list[WebhookDetails]:
    """List the webhooks of a pool, with their latest errors."""

    def read() -> list[WebhookDetails]:
        act.store.pool(pool)
        return [webhook_details(webhook) for webhook in store_keys.list_webhooks(act.store.engine, pool)]

    return await run_in_threadpool(read)


@router.delete("/{pool}/webhooks/{number}", status_code=204)
async def delete_webhook(pool: PoolName, number: Number, act: RequestedAct) -> None:
    """Delete a webhook. Nothing more is sent to it."""

    def delete() -> None:
        store_keys.delete_webhook(act.store.engine, store_keys.find_webhook(act.store.engine, pool, number).id)

    await run_in(act.threads.writing, delete)
