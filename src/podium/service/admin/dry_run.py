"""The dry run that comes before everything, and what is stored once it was seen."""

import logging
import re
from collections.abc import Awaitable, Callable, Mapping
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
from podium.store.writing.mending import SheetChanges
from podium.store.writing.proposals import StaleError
from podium.store.writing.receipts import Receipt
from podium.store.writing.sheets import SheetError
from podium.support.words import shown_change

OK, CONFLICT = 200, 409
VERSION = re.compile("[0-9]{1,18}")
LOGGER = logging.getLogger(__name__)
MAX_ROWS = 100  # that are listed of ratings and of events that were sent
LABELS = {"again": "Add again", "skip": "Skip", "corrected": "The old sheet, corrected", "new": "A new sheet"}
MAX_NAMES = 30  # of players whose ratings hardly move
router = PageRouter(prefix=POOL_ADDRESS, include_in_schema=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class DryRunPage(Page, template="dry_run.html"):
    """What would be other, and the form that stores it."""

    intent: Intent
    number: str  # of the change that is kept
    preview: Preview
    reason: str
    is_stale: bool  # whether something else was done since it was looked at before
    notes: tuple[str, ...]  # what was understood of a file, or left aside
    rows: tuple[tuple[MovedRating, Decimal | None], ...]  # with changes as shown; None of one that is new or gone
    hardly: tuple[str, ...]  # who moves by less than is shown
    unit: Decimal  # what is shown at least
    sent: tuple[Receipt, ...]  # events that would be new
    warnings: tuple[str, ...]
    meant: tuple[tuple[str, str], ...]  # new players, and whom each may be by a slip of the pen
    max_rows: int = MAX_ROWS
    max_names: int = MAX_NAMES

    @property
    def changes(self) -> SheetChanges | None:
        """What becomes of the events of a sheet that was sent before."""
        return self.preview.answer if isinstance(self.preview.answer, SheetChanges) else None

    @property
    def new_events(self) -> frozenset[str]:
        """Those that have no page yet."""
        new = () if self.changes is None else self.changes.new
        return frozenset((*new, *(each.event_id for each in self.sent if not each.duplicate)))


@dataclass(frozen=True, slots=True, kw_only=True)
class RefusalPage(Page, template="refusal.html"):
    """Why nothing was stored."""

    faults: tuple[Fault, ...] = ()  # of a file
    source: str = ""  # its name
    detail: str = ""
    number: str = ""  # of the kept results, which another prefix would make other events or a question is about
    prefix: str = ""
    question: str = ""
    answers: tuple[tuple[str, str], ...] = ()  # each with its label


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
    """Return the dry run of an intent, or why it is refused: on a page of its own, or as `refused` has it.

    Args:
        number: of the intent, if it is kept already.
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
            meant=meant_players(store, admission.pool, seen),
        )

    try:
        page = await run_in(request.app.state.threads.planning, find_effect)
    except PodiumError as error:
        return await (refused(error) if refused else refusal(request, store, admission, error, intent.heading, intent))
    return render(request, page, status=CONFLICT if is_stale else OK)


def meant_players(store: Store, pool: str, preview: Preview) -> tuple[tuple[str, str], ...]:
    """The first players who would be new and are called nearly like another, each with that one."""
    new = [each.player for each in preview.ratings if each.before is None][:MAX_NAMES]
    found = ((name, store.search(name, [pool], most=1)) for name in new)
    return tuple((name, others[0].player) for name, others in found if others and others[0].is_similar)


def change_of(moved: MovedRating, digits: int) -> Decimal | None:
    """How far a rating would move, as shown; None where it is new or gone."""
    return None if moved.before is None or moved.after is None else shown_change(moved.before, moved.after, digits)


async def look_at_sheet(
    request: Request, store: Store, admission: Admission, details: Mapping[str, Any], notes: tuple[str, ...] = ()
) -> Response:
    """Return the dry run of a sheet: of its new events, or where it was sent before of all that is other in it."""
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
    """Show what a sheet does where it overrules corrections by hand, or where its events have a prefix."""
    form = await admission.form(request)
    intent = await run_in(request.app.state.threads.planning, kept_intent, store, admission, form.text("number"))
    if "sheet" not in intent.details:
        raise RefusedError("number", "this is not of a sheet; open its page again and send it from there")
    sheet, prefix = sheet_in(intent.details), normalise(form.text("prefix"))
    if prefix:
        sheet = sheet._replace(name=prefix + sheet.name.removeprefix(sheet.prefix), prefix=prefix)
    details = {**intent.details, "sheet": [*sheet[:3]], "overrule": bool(form.text("overrule"))}
    if answer := form.text("answer"):
        details |= {"is_corrected": True} if answer == "amend" else {"answer": answer}
    return await look_at_sheet(request, store, admission, details)


@router.post("/apply")
async def apply(request: Request, admission: Sender, store: CurrentStore) -> Response:
    """Store what was seen; or show the dry run again where something else was done since."""
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
    """Return the names that came with players' ids; only an admin's key renames players who are in the pool."""
    names: Mapping[str, str] = intent.details.get("names", {})
    if not names or admission.key.may(ADMIN, admission.pool):
        return names
    with store.reading(admission.pool) as pool:
        known = known_numbers(pool, [*names])
    return {player: name for player, name in names.items() if player not in known}


def name_players(store: Store, admission: Admission, names: Mapping[str, str]) -> None:
    """Call players by the names that came with their ids; the results are stored, whatever becomes of that."""
    if names:
        try:
            store.name_players(admission.pool, names, actor=admission.key.name)
        except PodiumError as error:
            LOGGER.warning("pool %s: players could not be called by the names of a file: %s", admission.pool, error)


def count(request: Request, pool: str, answer: Any) -> None:
    """Count what was stored, or rated again."""
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
    """Return why nothing was stored, as a page."""
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
