"""Preview every change with a dry run before making it."""

import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any

import polars as pl
from fastapi import Response
from fastapi.concurrency import run_in_threadpool

from podium.errors import PodiumError
from podium.log.players import known_numbers
from podium.results.names import normalise
from podium.service.admin.intents import (
    ADMIN,
    POOL_ADDRESS,
    ROWS,
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
from podium.service.http.requests import run_in
from podium.service.web.rendering import Page, PageRouter, go_on, pool_header, render
from podium.store import Store
from podium.store.writing.previews import MovedRating
from podium.store.writing.proposals import StaleError
from podium.store.writing.receipts import Receipt
from podium.store.writing.sheet_corrections import SheetChanges
from podium.store.writing.sheets import SheetError
from podium.support.words import shown_change

OK, CONFLICT = 200, 409
LOGGER = logging.getLogger(__name__)
MAX_ROWS = 100  # maximum number of ratings and of sent events to list
LABELS = {
    "again": "Add again",
    "skip": "Skip",
    "corrected": "A corrected version of the old sheet",
    "new": "A new sheet",
}
RESULT_COLUMNS = {
    "heat": "Heat",
    "position": "Place",
    "player": "",
    "team": "Team",
    "score": "Score",
    "time_s": "Time, s",
}
MAX_NAMES = 30  # maximum number of named players whose ratings hardly change
router = PageRouter(prefix=POOL_ADDRESS, include_in_schema=False)


async def look_at(
    admission: Admission,
    intent: Intent,
    *,
    number: str = "",
    notes: tuple[str, ...] = (),
    reason: str = "",
    is_stale: bool = False,
    refused: Callable[[PodiumError], Awaitable[Response]] | None = None,
) -> Response:
    """Return the page with the effects of an intent, or with its error. `refused` shows the error on the form's page.

    Args:
        number: Number of the intent, if it is already stored.
    """
    store, request = admission.store, admission.request

    def find_effect() -> Page:
        refuse_beyond_key(admission, intent)
        seen, pool = store.preview(admission.pool, intent.act()), store.pool(admission.pool)
        on_details = store.preview_details(admission.pool, intent.details.get("details", ()))
        rows = [(rating, change_of(rating, pool.system.digits)) for rating in seen.ratings]
        receipts: list[Receipt] = seen.answer if isinstance(seen.answer, list) else []
        # the changes from a resubmitted sheet
        changes = seen.answer if isinstance(seen.answer, SheetChanges) else None
        result = result_lines(intent)
        new_events = {
            *(changes.new if changes else ()),
            *(receipt.event_id for receipt in receipts if not receipt.duplicate),
        }
        confirmed = intent.details.get("sure", ())
        new_players = [
            rating.player for rating in seen.ratings if rating.before is None and rating.player not in confirmed
        ]
        return Page(
            "dry_run.html",
            f"{intent.heading}: dry run",
            pool=pool_header(pool),
            intent=intent,
            number=number or intent.keep(admission),
            preview=replace(seen, is_repeat=seen.is_repeat and not on_details),
            reason=reason,
            is_stale=is_stale,
            notes=(*notes, *filter(None, [seen.notice]), *on_details[:MAX_ROWS]),
            result=result,
            result_columns={
                name: title for name, title in RESULT_COLUMNS.items() if any(name in row for row in result)
            },
            moves={moved.player: (moved, change) for moved, change in rows},
            rows=[row for row in rows if row[1] != 0],  # rounded for display; None for new or deleted ratings
            hardly=[moved.player for moved, change in rows if change == 0],
            unit=Decimal(1).scaleb(-pool.system.digits),
            changes=changes,
            older_events=[event for event in seen.events if event.event_id not in new_events],
            newer=len(new_events),
            sent=receipts,
            warnings=[*dict.fromkeys(warning for receipt in receipts for warning in receipt.warnings)][:MAX_ROWS],
            max_rows=MAX_ROWS,
            max_names=MAX_NAMES,
            meant=dict(meant_players(store, admission.pool, new_players)),
            can_rename=is_one_result(intent),
        )

    try:
        page = await run_in(admission.threads.planning, find_effect)
    except PodiumError as error:
        return await (refused(error) if refused else refusal(admission, error, intent.heading, intent))
    return render(request, page, status=CONFLICT if is_stale else OK)


def meant_players(store: Store, pool: str, new: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """Return the first new names that look like known players, with these players."""
    found = ((name, store.search(name, [pool], most=1)) for name in new[:MAX_NAMES])
    return tuple((name, others[0].player) for name, others in found if others and others[0].is_similar)


def result_lines(intent: Intent) -> list[dict[str, Any]]:
    """Return the rows of a sent event in the order read. Return no rows for several events, or for too many rows."""
    rows = intent.details.get(ROWS) if intent.name == "submit" else None
    if rows is None or rows["event_id"].n_unique() > 1 or rows.height > MAX_ROWS:
        return []
    return [{name: value for name, value in row.items() if value is not None} for row in rows.iter_rows(named=True)]


def is_one_result(intent: Intent) -> bool:
    """Return True if the intent stores the result of one event, whose players its sender can still name."""
    return intent.name in ("submit", "amend") and intent.details[ROWS]["event_id"].n_unique() == 1


def with_answers(intent: Intent, title: str, meant: str, sure: str) -> Intent:
    """Return the result of one event with the answers that its sender has given on the page of the dry run.

    Args:
        meant: A new name and the name of the known player, separated by a tab. Empty to change no player.
        sure: A new name that is right.
    """
    if not is_one_result(intent):
        return intent
    details = dict(intent.details)
    if title:
        details[ROWS] = details[ROWS].with_columns(title=pl.lit(title))
    if sure:
        details["sure"] = [*details.get("sure", ()), sure]
    if meant:
        new, _, known = meant.partition("\t")
        details[ROWS] = details[ROWS].with_columns(pl.col("player").replace(new, known))
        rows = details.get("details", ())
        details["details"] = [row | {"player": known} if row["player"] == new else row for row in rows]
    return replace(intent, details=details)


def change_of(moved: MovedRating, digits: int) -> Decimal | None:
    """Return a rating change rounded for display, or None if the rating is new or deleted."""
    return None if moved.before is None or moved.after is None else shown_change(moved.before, moved.after, digits)


async def look_at_sheet(admission: Admission, details: Mapping[str, Any], notes: tuple[str, ...] = ()) -> Response:
    """Return the preview of a sheet. It shows the new events, or all changes if the sheet has been sent before."""
    sent, amended = Intent("submit", details), Intent("sheet", details)
    may_amend = admission.may(ADMIN) and admission.key.backdating_limit_s is None
    known = await run_in_threadpool(admission.store.sheets, admission.pool)

    async def refused(error: PodiumError) -> Response:
        asks = isinstance(error, SheetError) and error.answers
        if not may_amend or asks or details.get("made") or not isinstance(error, SheetError):
            return await refusal(admission, error, sent.heading, sent)
        return await look_at(admission, amended, notes=(error.what, *notes))

    is_known = any(sheet.name == details["sheet"][0] for sheet in known) and not details.get("made")
    if may_amend and (is_known or details.get("is_corrected")):
        return await look_at(admission, amended, notes=notes)
    return await look_at(admission, sent, notes=notes, refused=refused)


@router.post("/sheet")
async def look_again(admission: Sender) -> Response:
    """Preview a sheet again: overruling corrections made by hand, or with a prefix for its events."""
    form = await admission.form()
    intent = await run_in(admission.threads.planning, kept_intent, admission, form.text("number"))
    if "sheet" not in intent.details:
        raise RefusedError("number", "this is not a sheet. Open its page again, and send it from there.")
    sheet, prefix = sheet_in(intent.details), normalise(form.text("prefix"))
    if prefix:
        sheet = sheet._replace(name=prefix + sheet.name.removeprefix(sheet.prefix), prefix=prefix)
    details = {**intent.details, "sheet": [*sheet[:3]], "overrule": bool(form.text("overrule"))}
    if answer := form.text("answer"):
        details |= {"is_corrected": True} if answer == "amend" else {"answer": answer}
    return await look_at_sheet(admission, details)


@router.post("/apply")
async def apply(admission: Sender) -> Response:
    """Make a previewed change. If something else has changed in the meantime, show the preview again."""
    form, threads = await admission.form(), admission.threads
    number = form.text("number")
    intent = await run_in(threads.planning, kept_intent, admission, number)
    reason, meant, sure = (form.stripped(name) for name in ("reason", "meant", "sure"))
    intent = with_answers(intent, form.stripped("title"), meant, sure)
    if meant or sure:
        return await look_at(admission, intent, reason=reason)
    if "version" not in form.fields or (intent.kind.has_reason and not reason):
        return await look_at(admission, intent, number=number)
    version = form.number("version")

    def run() -> tuple[str, Mapping[str, str], Any]:
        refuse_beyond_key(admission, intent)
        undo, names = undo_of(admission, intent), names_to_give(admission, intent)
        done: Any = admission.write(Store.run, intent.act(), version=version, reason=reason, listed=0)
        return undo, names, done

    try:
        undo, names, answer = await run_in(threads.writing, run)
    except StaleError:
        return await look_at(admission, intent, number=number, reason=reason, is_stale=True)
    except PodiumError as error:
        return await refusal(admission, error, intent.heading, intent)
    count(admission, answer)
    refusals = await run_in(
        threads.writing, store_names_and_details, admission, names, intent.details.get("details", ())
    )
    path = admission.path(*intent.landing(answer))
    return go_on(admission.request, path, " ".join([intent.done, *refusals]), undo)


def names_to_give(admission: Admission, intent: Intent) -> Mapping[str, str]:
    """Return the names for players' IDs. Only an admin's key can rename known players."""
    names: Mapping[str, str] = intent.details.get("names", {})
    if not names or admission.may(ADMIN):
        return names
    with admission.store.reading(admission.pool) as pool:
        known = known_numbers(pool, [*names])
    return {player: name for player, name in names.items() if player not in known}


def store_names_and_details(
    admission: Admission, names: Mapping[str, str], details: Sequence[Mapping[str, str]]
) -> list[str]:
    """Rename players from their IDs to their names, and set their details. If this fails, the results stay stored.

    Returns:
        A sentence for each name or detail that could not be stored.
    """
    store, pool, actor = admission.store, admission.pool, admission.key.name
    refusals = []
    try:
        refusals += store.name_players(pool, names, actor=actor) if names else []
        refusals += store.take_details(pool, details, actor=actor) if details else []
    except PodiumError as error:
        LOGGER.warning("pool %s: players could not get the names and details in a file: %s", pool, error)
        refusals.append(str(error))
    return refusals


def count(admission: Admission, answer: Any) -> None:
    """Count the stored events and the recalculated events."""
    metrics, pool = admission.request.app.state.metrics, admission.pool
    if isinstance(answer, list):
        metrics.count_receipts(pool, answer)
    elif isinstance(answer, SheetChanges):
        metrics.rerated.labels(pool).inc(answer.totals.changes)
    else:
        metrics.rerated.labels(pool).inc(answer.rerated if isinstance(answer, Receipt) else int(answer))


async def refusal(admission: Admission, error: PodiumError, heading: str, intent: Intent | None = None) -> Response:
    """Return a page that explains why nothing was stored, and asks the questions that only the sender can answer."""
    may_amend = admission.may(ADMIN) and admission.key.backdating_limit_s is None
    posed = error if isinstance(error, SheetError) else None
    every = posed.answers.items() if posed else ()
    answers = [(kind, LABELS[label]) for label, kind in every if kind != "amend" or may_amend]
    prefix = posed.prefix if posed else ""
    page = Page(
        "refusal.html",
        heading,
        pool=await run_in_threadpool(lambda: admission.header),
        error=posed.what if posed else error,
        number=await run_in_threadpool(intent.keep, admission) if (prefix or answers) and intent else "",
        prefix=prefix,
        question=posed.question if posed else "",
        answers=answers,
    )
    return render(admission.request, page, status=status_of(error))
