"""The dry run that comes before everything, and what is stored once it was seen."""

import logging
import re
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any, ClassVar

from fastapi import Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import RedirectResponse

from podium.errors import Fault, PodiumError, ResultsError
from podium.pages.numbers import counted
from podium.service.admin.intents import POOL_ADDRESS, Admission, Intent, Sender, refuse_beyond_key, unpack
from podium.service.admin.uploads import MAX_UPLOAD_BYTES
from podium.service.http.errors import AccessError, TooLargeError, status_of
from podium.service.http.threads import CurrentStore, Threads, run_in
from podium.service.web.rendering import Page, PageRouter, address, pool_frame, render
from podium.store import Store
from podium.store.log.pools import Pool
from podium.store.rating.events import StaleError
from podium.store.reading.pools.models import CorrectedLine
from podium.store.reading.previews import MovedRating, Preview
from podium.store.writing.receipts import Receipt
from podium.support.rounding import shown, shown_change

SEE_OTHER, OK, CONFLICT = 303, 200, 409
MAX_PACKED_BYTES = MAX_UPLOAD_BYTES - 100_000  # of a form that is sent back, beside its other fields
VERSION = re.compile("[0-9]{1,18}")
LOGGER = logging.getLogger(__name__)
MAX_ROWS = 100  # that are listed of ratings and of events that were sent
MAX_NAMES = 30  # of players whose ratings hardly move
router = PageRouter(prefix=POOL_ADDRESS, include_in_schema=False)


@dataclass(frozen=True, slots=True)
class RatingRow:
    """A rating of today that would be another, as shown."""

    player: str
    before: Decimal | None
    after: Decimal | None
    change: Decimal | None
    rank_before: int | None
    rank_after: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class DryRunPage(Page):
    """What would be other, and the form that stores it."""

    template: ClassVar[str] = "dry_run.html"

    heading: str
    token: str
    kind: str
    button: str  # what it does, and how much that moves
    has_reason: bool
    packed: str
    preview: Preview
    reason: str = ""
    is_stale: bool = False  # whether something else was done since it was looked at before
    notes: tuple[str, ...] = ()  # what was understood of a file, or left aside
    about: str = ""  # the event that it is about, if it is about one
    rows: tuple[RatingRow, ...] = ()
    more_rows: int = 0  # that are not listed
    hardly: tuple[str, ...] = ()  # who moves by less than is shown
    more_hardly: int = 0
    unit: Decimal = Decimal(0)  # what is shown at least
    sent: tuple[Receipt, ...] = ()  # the first events that would be new
    more_sent: int = 0
    new_events: frozenset[str] = frozenset()  # that have no page yet
    warnings: tuple[str, ...] = ()
    meant: tuple[tuple[str, str], ...] = ()  # new players, and whom each may be by a slip of the pen

    @property
    def newcomers(self) -> int:
        """How many have no rating today."""
        return sum(each.before is None for each in self.preview.ratings)

    @property
    def lines(self) -> tuple[CorrectedLine, ...]:
        """What would be another in the event."""
        return self.preview.lines


@dataclass(frozen=True, slots=True, kw_only=True)
class RefusalPage(Page):
    """Why nothing was stored."""

    template: ClassVar[str] = "refusal.html"

    heading: str
    faults: tuple[Fault, ...] = ()  # of a file
    source: str = ""  # its name
    detail: str = ""
    back: str = ""


async def look_at(
    request: Request,
    store: Store,
    admission: Admission,
    intent: Intent,
    *,
    notes: tuple[str, ...] = (),
    reason: str = "",
    is_stale: bool = False,
) -> Response:
    """Return the dry run of an intent, or why it is refused."""
    threads: Threads = request.app.state.threads

    def find_effect() -> DryRunPage:
        refuse_beyond_key(request, store, admission, intent)
        seen = store.preview(admission.pool, intent.act())
        page = dry_run_page(store.pool(admission.pool), admission, intent, seen)
        meant = meant_players(store, admission.pool, seen)
        learnt = (seen.notice,) if seen.notice else ()
        return replace(page, notes=notes + learnt, reason=reason, is_stale=is_stale, meant=meant)

    try:
        page = await run_in(threads.planning, find_effect)
    except PodiumError as error:
        return await refusal(request, store, admission, error, intent.heading)
    return render(request, page, status=CONFLICT if is_stale else OK)


def dry_run_page(pool: Pool, admission: Admission, intent: Intent, preview: Preview) -> DryRunPage:
    """The page of a preview."""
    packed = intent.packed()
    if len(packed) > MAX_PACKED_BYTES:
        raise TooLargeError("that is too much to be shown first; send it in parts, or by podium ingest")
    digits, totals = pool.system.digits, preview.totals
    rows = [rating_row(each, digits) for each in preview.ratings]
    moving = [each for each in rows if each.change != 0]
    hardly = [each.player for each in rows if each.change == 0]
    receipts: tuple[Receipt, ...] = tuple(preview.answer) if isinstance(preview.answer, list) else ()
    moved = f"{counted(totals.events, 'event')}, {counted(len(rows), 'rating')}"
    return DryRunPage(
        title=f"{intent.heading}: dry run",
        pool=pool_frame(pool),
        heading=intent.heading,
        token=admission.session.token,
        kind=intent.name,
        button=f"{intent.kind.button}: {moved}",
        has_reason=intent.kind.has_reason,
        packed=packed,
        preview=preview,
        about=str(intent.details.get("event_id", "")),
        rows=tuple(moving[:MAX_ROWS]),
        more_rows=max(0, len(moving) - MAX_ROWS),
        hardly=tuple(hardly[:MAX_NAMES]),
        more_hardly=max(0, len(hardly) - MAX_NAMES),
        unit=Decimal(1).scaleb(-digits),
        sent=receipts[:MAX_ROWS],
        more_sent=max(0, len(receipts) - MAX_ROWS),
        new_events=frozenset(each.event_id for each in receipts if not each.duplicate),
        warnings=tuple(warning for each in receipts for warning in each.warnings)[:MAX_ROWS],
    )


def meant_players(store: Store, pool: str, preview: Preview) -> tuple[tuple[str, str], ...]:
    """The first players who would be new and are called nearly like another, each with that one."""
    new = [each.player for each in preview.ratings if each.before is None][:MAX_NAMES]
    found = ((name, store.search(name, [pool], most=1)) for name in new)
    return tuple((name, others[0].player) for name, others in found if others and others[0].is_similar)


def rating_row(moved: MovedRating, digits: int) -> RatingRow:
    """A rating that would move, rounded so that the row adds up."""
    before, after = (None if each is None else shown(each, digits) for each in (moved.before, moved.after))
    is_known = moved.before is not None and moved.after is not None
    change = shown_change(moved.before or 0.0, moved.after or 0.0, digits) if is_known else None
    return RatingRow(moved.player, before, after, change, moved.rank_before, moved.rank_after)


@router.post("/apply")
async def apply(request: Request, admission: Sender, store: CurrentStore) -> Response:
    """Store what was seen; or show the dry run again where something else was done since."""
    threads: Threads = request.app.state.threads
    form = await admission.form(request, MAX_UPLOAD_BYTES)
    intent = await run_in(threads.planning, unpack, form.text("kind"), form.text("details"))
    reason, sent = form.text("reason").strip(), form.text("version")
    if intent.kind.has_reason and not reason:
        return await look_at(request, store, admission, intent)
    version = int(sent) if VERSION.fullmatch(sent) else 0

    def carry_out() -> Any:
        refuse_beyond_key(request, store, admission, intent)
        actor = admission.key.name
        return store.carry_out(admission.pool, intent.act(), version=version, actor=actor, reason=reason)

    try:
        answer = await run_in(threads.writing, carry_out)
    except StaleError:
        return await look_at(request, store, admission, intent, reason=reason, is_stale=True)
    except PodiumError as error:
        return await refusal(request, store, admission, error, intent.heading)
    count(request, admission.pool, answer)
    await run_in(threads.writing, name_players, store, admission, intent)
    return RedirectResponse(address("admin", admission.pool, "log", done="yes"), SEE_OTHER)


def name_players(store: Store, admission: Admission, intent: Intent) -> None:
    """Call players by the names that came with their ids; the results are stored, whatever becomes of that."""
    names = intent.details.get("names")
    if isinstance(names, dict) and names:
        called = {str(player): str(name) for player, name in names.items()}
        try:
            store.name_players(admission.pool, called, actor=admission.key.name)
        except PodiumError as error:
            LOGGER.warning("pool %s: players could not be called by the names of a file: %s", admission.pool, error)


def count(request: Request, pool: str, answer: Any) -> None:
    """Count what was stored, or rated again."""
    if isinstance(answer, list):
        request.app.state.metrics.count_receipts(pool, answer)
    else:
        rerated = answer.rerated if isinstance(answer, Receipt) else int(answer)
        request.app.state.metrics.rerated.labels(pool).inc(rerated)


async def refusal(
    request: Request, store: Store, admission: Admission, error: PodiumError, heading: str, back: str = ""
) -> Response:
    """Return why nothing was stored, as a page."""
    is_of_file = isinstance(error, ResultsError)
    page = RefusalPage(
        title=heading,
        pool=pool_frame(await run_in_threadpool(store.pool, admission.pool)),
        heading=heading,
        faults=error.faults if isinstance(error, ResultsError) else (),
        source=error.source if isinstance(error, ResultsError) else "",
        detail="" if is_of_file else str(error),
        back=back or address("admin", admission.pool),
    )
    return render(request, page, status=error.status if isinstance(error, AccessError) else status_of(error))
