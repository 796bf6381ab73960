"""The dry run before every change, and the change itself."""

import logging
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from fastapi import Request, Response
from fastapi.concurrency import run_in_threadpool

from podium.errors import Fault, PodiumError, ResultsError
from podium.log.players import known_numbers
from podium.results.names import normalise
from podium.service.admin.intents import (
    ADMIN,
    POOL_ADDRESS,
    Admission,
    Intent,
    Sender,
    kept_intent,
    refuse_beyond_key,
    sheet_in,
    undo_of,
)
from podium.service.http.errors import status_of
from podium.service.http.json import RefusedError
from podium.service.http.requests import CurrentStore, run_in
from podium.service.web.rendering import Page, PageRouter, go_on, pool_address, pool_header, render
from podium.store import Store
from podium.store.reading.previews import MovedRating, Preview
from podium.store.writing.proposals import StaleError
from podium.store.writing.receipts import Receipt
from podium.store.writing.sheet_corrections import SheetChanges
from podium.store.writing.sheets import SheetError
from podium.support.words import shown_change

OK, CONFLICT = 200, 409
VERSION = re.compile("[0-9]{1,18}")
LOGGER = logging.getLogger(__name__)
MAX_ROWS = 100  # listed ratings and sent events
LABELS = {"again": "Add again", "skip": "Skip", "corrected": "The old sheet, corrected", "new": "A new sheet"}
MAX_NAMES = 30  # of players whose ratings hardly change
router = PageRouter(prefix=POOL_ADDRESS, include_in_schema=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class DryRunPage(Page, template="dry_run.html"):
    """The preview of a change, and the form that stores it."""

    intent: Intent
    number: str  # of the stored intent
    preview: Preview
    reason: str
    is_stale: bool  # True if something else changed since the last preview
    notes: tuple[str, ...]  # how a file was read
    rows: tuple[tuple[MovedRating, Decimal | None], ...]  # with changes as shown; None for new or deleted ratings
    hardly: tuple[str, ...]  # players whose change is too small to show
    unit: Decimal  # smallest change shown
    sent: tuple[Receipt, ...]  # of new events
    warnings: tuple[str, ...]
    meant: tuple[tuple[str, str], ...]  # new players with similar known names
    max_rows: int = MAX_ROWS
    max_names: int = MAX_NAMES

    @property
    def changes(self) -> SheetChanges | None:
        """The changes of a sheet that was sent before."""
        return self.preview.answer if isinstance(self.preview.answer, SheetChanges) else None

    @property
    def new_events(self) -> frozenset[str]:
        """The events that have no page yet."""
        new = () if self.changes is None else self.changes.new
        return frozenset((*new, *(each.event_id for each in self.sent if not each.duplicate)))


@dataclass(frozen=True, slots=True, kw_only=True)
class RefusalPage(Page, template="refusal.html"):
    """The reason why nothing was stored."""

    faults: tuple[Fault, ...] = ()  # in a file
    source: str = ""  # its name
    detail: str = ""
    number: str = ""  # of the stored results, for a prefix or an answer
    prefix: str = ""
    question: str = ""
    answers: tuple[tuple[str, str], ...] = ()  # with labels


async def look_at(
    request: Request,
    store: Store,
    admission: Admission,
    intent: Intent,
    *,
    number: str = "",
    notes: tuple[str, ...] = (),
    reason: str = "",
    is_stale: bool = False,
    refused: Callable[[PodiumError], Awaitable[Response]] | None = None,
) -> Response:
    """Return the preview of an intent, or its error, on a separate page or from `refused`.

    Args:
        number: Number of the intent, if it is already stored.
    """

    def find_effect() -> DryRunPage:
        refuse_beyond_key(request, store, admission, intent)
        seen, pool = store.preview(admission.pool, intent.act()), store.pool(admission.pool)
        rows = [(each, change_of(each, pool.system.digits)) for each in seen.ratings]
        receipts: tuple[Receipt, ...] = tuple(seen.answer) if isinstance(seen.answer, list) else ()
        return DryRunPage(
            title=f"{intent.heading}: dry run",
            pool=pool_header(pool),
            intent=intent,
            number=number or intent.keep(store, admission),
            preview=seen,
            reason=reason,
            is_stale=is_stale,
            notes=(*notes, seen.notice) if seen.notice else notes,
            rows=tuple(row for row in rows if row[1] != 0),
            hardly=tuple(moved.player for moved, change in rows if change == 0),
            unit=Decimal(1).scaleb(-pool.system.digits),
            sent=receipts,
            warnings=tuple(warning for each in receipts for warning in each.warnings)[:MAX_ROWS],
            meant=meant_players(store, admission.pool, [each.player for each in seen.ratings if each.before is None]),
        )

    try:
        page = await run_in(request.app.state.threads.planning, find_effect)
    except PodiumError as error:
        return await (refused(error) if refused else refusal(request, store, admission, error, intent.heading, intent))
    return render(request, page, status=CONFLICT if is_stale else OK)


def meant_players(store: Store, pool: str, new: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """Return those of the first new names that look like known ones, and these."""
    found = ((name, store.search(name, [pool], most=1)) for name in new[:MAX_NAMES])
    return tuple((name, others[0].player) for name, others in found if others and others[0].is_similar)


def change_of(moved: MovedRating, digits: int) -> Decimal | None:
    """Return the change of a rating as shown. None if it is new or deleted."""
    return None if moved.before is None or moved.after is None else shown_change(moved.before, moved.after, digits)


async def look_at_sheet(
    request: Request, store: Store, admission: Admission, details: Mapping[str, Any], notes: tuple[str, ...] = ()
) -> Response:
    """Return the preview of a sheet: its new events, or all changes if it was sent before."""
    sent, amended = Intent("submit", details), Intent("sheet", details)
    may_amend = admission.key.may(amended.kind.role, admission.pool) and admission.key.backdating_limit_s is None
    known = await run_in_threadpool(store.sheets, admission.pool)

    async def refused(error: PodiumError) -> Response:
        asks = isinstance(error, SheetError) and error.answers
        if not may_amend or asks or details.get("made") or not isinstance(error, SheetError):
            return await refusal(request, store, admission, error, sent.heading, sent)
        return await look_at(request, store, admission, amended, notes=(error.what, *notes))

    is_known = any(each.name == details["sheet"][0] for each in known) and not details.get("made")
    if may_amend and (is_known or details.get("is_corrected")):
        return await look_at(request, store, admission, amended, notes=notes)
    return await look_at(request, store, admission, sent, notes=notes, refused=refused)


@router.post("/sheet")
async def look_again(request: Request, admission: Sender, store: CurrentStore) -> Response:
    """Preview a sheet again, to overrule corrections by hand or to add a prefix to its events."""
    form = await admission.form(request)
    intent = await run_in(request.app.state.threads.planning, kept_intent, store, admission, form.text("number"))
    if "sheet" not in intent.details:
        raise RefusedError("number", "this is not a sheet. Open its page again, and send it from there.")
    sheet, prefix = sheet_in(intent.details), normalise(form.text("prefix"))
    if prefix:
        sheet = sheet._replace(name=prefix + sheet.name.removeprefix(sheet.prefix), prefix=prefix)
    details = {**intent.details, "sheet": [*sheet[:3]], "overrule": bool(form.text("overrule"))}
    if answer := form.text("answer"):
        details |= {"is_corrected": True} if answer == "amend" else {"answer": answer}
    return await look_at_sheet(request, store, admission, details)


@router.post("/apply")
async def apply(request: Request, admission: Sender, store: CurrentStore) -> Response:
    """Store a previewed change. If something else changed since, show the preview again."""
    form = await admission.form(request)
    number = form.text("number")
    intent = await run_in(request.app.state.threads.planning, kept_intent, store, admission, number)
    reason, sent = form.text("reason").strip(), form.text("version")
    if "version" not in form.fields or (intent.kind.has_reason and not reason):
        return await look_at(request, store, admission, intent, number=number)
    version = int(sent) if VERSION.fullmatch(sent) else 0

    def run() -> tuple[str, Mapping[str, str], Any]:
        refuse_beyond_key(request, store, admission, intent)
        undo, names = undo_of(store, admission, intent), names_to_give(store, admission, intent)
        done = store.run(admission.pool, intent.act(), version=version, actor=admission.key.name, reason=reason)
        return undo, names, done

    try:
        undo, names, answer = await run_in(request.app.state.threads.writing, run)
    except StaleError:
        return await look_at(request, store, admission, intent, number=number, reason=reason, is_stale=True)
    except PodiumError as error:
        return await refusal(request, store, admission, error, intent.heading, intent)
    count(request, admission.pool, answer)
    await run_in(request.app.state.threads.writing, name_players, store, admission, names)
    path = pool_address(admission.pool, *intent.kind.lands(intent.details, answer))
    return go_on(request, path, intent.kind.done(intent.details), undo)


def names_to_give(store: Store, admission: Admission, intent: Intent) -> Mapping[str, str]:
    """Return the names that came with players' IDs. Only an admin's key may rename known players."""
    names: Mapping[str, str] = intent.details.get("names", {})
    if not names or admission.key.may(ADMIN, admission.pool):
        return names
    with store.reading(admission.pool) as pool:
        known = known_numbers(pool, [*names])
    return {player: name for player, name in names.items() if player not in known}


def name_players(store: Store, admission: Admission, names: Mapping[str, str]) -> None:
    """Rename players to the names that came with their IDs. The results stay stored even if this fails."""
    if names:
        try:
            store.name_players(admission.pool, names, actor=admission.key.name)
        except PodiumError as error:
            LOGGER.warning("pool %s: players could not get the names in a file: %s", admission.pool, error)


def count(request: Request, pool: str, answer: Any) -> None:
    """Count stored and recalculated events."""
    if isinstance(answer, list):
        request.app.state.metrics.count_receipts(pool, answer)
    elif isinstance(answer, SheetChanges):
        request.app.state.metrics.rerated.labels(pool).inc(answer.totals.changes)
    else:
        rerated = answer.rerated if isinstance(answer, Receipt) else int(answer)
        request.app.state.metrics.rerated.labels(pool).inc(rerated)


async def refusal(
    request: Request, store: Store, admission: Admission, error: PodiumError, heading: str, intent: Intent | None = None
) -> Response:
    """Return a page with the reason why nothing was stored."""
    prefix = error.prefix if isinstance(error, SheetError) else ""
    may_amend = admission.key.may(ADMIN, admission.pool) and admission.key.backdating_limit_s is None
    every = error.answers.items() if isinstance(error, SheetError) else ()
    answers = tuple((each, LABELS[label]) for label, each in every if each != "amend" or may_amend)
    page = RefusalPage(
        title=heading,
        pool=pool_header(await run_in_threadpool(store.pool, admission.pool)),
        faults=error.faults if isinstance(error, ResultsError) else (),
        source=error.source if isinstance(error, ResultsError) else "",
        detail=error.what if isinstance(error, SheetError) else "" if isinstance(error, ResultsError) else str(error),
        number=await run_in_threadpool(intent.keep, store, admission) if (prefix or answers) and intent else "",
        prefix=prefix,
        question=error.question if isinstance(error, SheetError) else "",
        answers=answers,
    )
    return render(request, page, status=status_of(error))
