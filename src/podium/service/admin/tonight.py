"""The page on which a result is entered by tapping names in finishing order.

The form has a line for each name, with a place: a number, a status, or nothing for players who did not take part. A
script lets people tap the names instead of choosing numbers.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

import polars as pl
from fastapi import Response

from podium.errors import ParameterError, PodiumError
from podium.importers import times
from podium.ledger.leaderboard import instant
from podium.log.players import known_numbers
from podium.log.pools import Pool
from podium.results.names import normalise
from podium.service.admin.dry_run import change_of, count, look_at, meant_players
from podium.service.admin.intents import ROWS, Admission, Intent, Sender, refuse_beyond_key, rows_of
from podium.service.http.errors import status_of
from podium.service.http.requests import CurrentStore, run_in
from podium.service.http.visitors import Form
from podium.service.web.rendering import Page, PageRouter, go_on, pool_address, pool_header, render
from podium.store.writing.submission import ConflictError
from podium.support.words import signed

MAX_NAMES = 40  # number of names offered for tapping
NEW_NAMES = 3  # number of lines for new names
MAX_LINES = 1_000
STATUSES = {"dnf": "did not finish", "did_not_start": "did not start"}
TEAMS, DRAW = "teams", "draw"  # places are those of teams; with a draw, they only number the teams
NUMBER = re.compile("[1-9][0-9]{0,4}")
VALUES = {"time_s": "Time", "score": "Score"}  # columns that the page can fill in
TAPPED = {"event_id", "started_at", "sequence", "title", "url", "player", "position", "status", "team"}
router = PageRouter(include_in_schema=False)


@dataclass(frozen=True, slots=True)
class ResultLine:
    """A name, and how the player finished."""

    name: str
    place: str = ""
    value: str = ""  # a time or score, if the system needs one
    change: str = ""  # change that the result would make, as shown


@dataclass(frozen=True, slots=True)
class ResultForm:
    """The form of a result, as it was filled in."""

    event_id: str
    lines: tuple[ResultLine, ...]
    amends: str = ""  # not empty if the event is already stored
    date: str = ""  # the chosen day
    today: str = ""  # the day offered by the form; on this day, the event started at `at`
    at: str = ""
    title: str = ""
    teams: str = ""
    sure: tuple[str, ...] = ()  # new names that the sender has confirmed


def read_result(form: Form) -> ResultForm:
    """Read the fields of the form."""
    lines = int(form.text("lines")) if NUMBER.fullmatch(form.text("lines")) else 0
    cells = [
        [form.text(f"{name}-{k}").strip() for name in ("name", "place", "value")] for k in range(min(lines, MAX_LINES))
    ]
    texts = {name: form.text(name).strip() for name in ("event_id", "amends", "date", "today", "at", "title", "teams")}
    named = tuple(ResultLine(normalise(name), *rest) for name, *rest in cells if name)
    return ResultForm(lines=named, sure=form.fields.get("sure", ()), **texts)


def rows_in(
    result: ResultForm, pool: Pool, column: str, stored: Mapping[str, Mapping[str, Any]]
) -> list[dict[str, Any]]:
    """Return the result as rows of a results table.

    Args:
        result: the form that was filled in.
        pool: the pool.
        column: the column to which the values belong.
        stored: if the event is being corrected, its present rows, by player.

    Raises:
        ParameterError: a line or the date cannot be read, or fewer than two names have a place.
    """
    shared: dict[str, Any] = {"event_id": result.event_id} | ({"title": result.title} if result.title else {})
    if stored:
        kept = next(iter(stored.values()))
        shared |= {name: kept[name] for name in ("started_at", "sequence", "url") if name in kept}
    elif not pool.is_undated:
        moment = result.at if result.date == result.today else result.date
        shared["started_at"] = instant(moment, whole_day=False).isoformat()
    rows = [shared | {"player": line.name} | end_of(line, result.teams, column) for line in result.lines if line.place]
    if len(rows) < 2:  # noqa: PLR2004
        raise ParameterError("A result needs at least two names. Tap them in finishing order.")
    return rows


def end_of(line: ResultLine, teams: str, column: str) -> dict[str, Any]:
    """Return how a player finished, as columns of a row."""
    if line.place in STATUSES:
        return {"status": line.place}
    if not NUMBER.fullmatch(line.place):
        raise ParameterError(f"{line.name}: {line.place!r} is not a place. Choose a number.")
    end: dict[str, Any] = {"position": 1 if teams == DRAW else int(line.place)}
    end |= {"team": line.place} if teams else {}
    return end | ({column: value_of(line, column)} if line.value and column else {})


def value_of(line: ResultLine, column: str) -> float:
    """Return the value in a line: a time in seconds, or a score."""
    if column == "time_s":
        found = times.parse(line.value)
        if found is None:
            raise ParameterError(f"{line.name}: {line.value!r} is not a time. Write it like 1:23.456.")
        return float(found.seconds)
    try:
        return float(line.value.replace(",", "."))
    except ValueError:
        raise ParameterError(f"{line.name}: {line.value!r} is not a score. Write a number.") from None


@router.pool_page("/tonight")
def tonight(admission: Sender, store: CurrentStore, event: str = "") -> Response:
    """Show the form with the names that played most often recently, or with a stored event."""
    visit = replace(admission, store=store)
    return form_response(visit, stored_result(visit, event) if event else new_result(visit))


@router.pool_page("/tonight", takes_form=True)
async def enter(admission: Sender) -> Response:
    """Preview the effect of a result, or store it."""
    form = await admission.form()
    result, threads = read_result(form), admission.threads
    if form.text("act") == "look":
        return await run_in(threads.planning, preview_result, admission, result)
    if not result.amends:
        return await run_in(threads.writing, save, admission, result)
    try:
        intent = await run_in(threads.planning, intent_of, admission, result)
    except PodiumError as error:
        return await run_in(threads.planning, form_response, admission, result, error)
    return await look_at(admission, intent)


def new_result(admission: Admission) -> ResultForm:
    """Return an empty form with the current date, the next ID, and the title and teams of the newest events."""
    store = admission.store
    pool, now = store.pool(admission.pool), datetime.now(UTC).replace(microsecond=0)
    today = "" if pool.is_undated else pool_header(pool).today
    newest = store.event_list(admission.pool, top=2).events
    titles = {event.title or "" for event in newest}
    has_teams = bool(newest) and all(row.team for row in store.event(admission.pool, newest[0].event_id).entries)
    return ResultForm(
        event_id=store.next_event_id(admission.pool, today),
        lines=tuple(map(ResultLine, store.frequent_players(admission.pool, MAX_NAMES))),
        date=today,
        today=today,
        at=now.isoformat(),
        title=titles.pop() if len(titles) == 1 and len(newest) > 1 else "",
        teams=TEAMS if has_teams else "",
    )


def stored_result(admission: Admission, event_id: str) -> ResultForm:
    """Return the form for an event that is already stored."""
    details = admission.store.event(admission.pool, event_id)
    rows = rows_of(details)
    if not can_be_tapped(rows):
        raise ParameterError(f"Event {event_id} has more data than places. Correct it in its table.")
    lines = tuple(ResultLine(row["player"], str(int(row.get("position", 0)) or row["status"])) for row in rows)
    offered = set(admission.store.frequent_players(admission.pool, MAX_NAMES)) - {line.name for line in lines}
    teams = TEAMS if any("team" in row for row in rows) else ""
    return ResultForm(
        event_id, (*lines, *map(ResultLine, sorted(offered))), "yes", title=details.title or "", teams=teams
    )


def can_be_tapped(rows: list[dict[str, Any]]) -> bool:
    """Return True if an event has only places, so that the page can enter them."""
    return all(
        row.keys() <= TAPPED and (float(row.get("position") or 0.5).is_integer() or row.get("status") in STATUSES)
        for row in rows
    )


def intent_of(admission: Admission, result: ResultForm) -> Intent:
    """Return the change that a form requests."""
    store = admission.store
    pool = store.pool(admission.pool)
    stored = {}
    if result.amends:
        stored = {row["player"]: row for row in rows_of(store.event(admission.pool, result.event_id))}
    rows = pl.DataFrame(rows_in(result, pool, value_column(pool), stored), infer_schema_length=None)
    return Intent("amend", {"event_id": result.event_id, ROWS: rows}) if stored else Intent("submit", {ROWS: rows})


def value_column(pool: Pool) -> str:
    """Return the column of times or scores that the pool's system needs, or an empty string."""
    return next((name for name in pool.system.needs if name in VALUES), "")


def form_response(
    admission: Admission,
    result: ResultForm,
    error: PodiumError | None = None,
    meant: tuple[tuple[str, str], ...] = (),
) -> Response:
    """Return the page with the form, together with questions or an error."""
    pool = admission.store.pool(admission.pool)
    column = value_column(pool)
    page = Page(
        "tonight.html",
        title=f"Correct {result.event_id}" if result.amends else "Enter a result",
        pool=pool_header(pool),
        result=result,
        value_name=VALUES.get(column, ""),
        # needed by the system, but missing on this page
        lacking=tuple(name for name in pool.system.needs if name != column),
        is_new=pool.order is None,
        meant=meant,  # new names, each with a known one that it resembles
        refusal="" if error is None else str(error),
        new_names=NEW_NAMES,
        statuses=STATUSES,
    )
    return render(admission.request, page, status=200 if error is None else status_of(error))


def preview_result(admission: Admission, result: ResultForm) -> Response:
    """Return the form with the change that the result would make for each name."""
    store = admission.store
    try:
        intent = intent_of(admission, result)
        refuse_beyond_key(admission, intent)
        seen = store.preview(admission.pool, intent.act())
    except PodiumError as error:
        return form_response(admission, result, error)
    digits = store.pool(admission.pool).system.digits
    moved = {rating.player: change_of(rating, digits) for rating in seen.ratings}
    changes = {name: "new" if change is None else signed(change) for name, change in moved.items()}
    lines = tuple(replace(line, change=changes.get(line.name, "") if line.place else "") for line in result.lines)
    return form_response(admission, replace(result, lines=lines))


def new_names(admission: Admission, result: ResultForm) -> list[str]:
    """Return the names that are new to the pool and that the sender has not confirmed."""
    names = [line.name for line in result.lines if line.place]
    with admission.store.reading(admission.pool) as pool:
        known = known_numbers(pool, names)
    return [name for name in names if name not in known and name not in result.sure]


def save(admission: Admission, result: ResultForm) -> Response:
    """Store a result and redirect to its page, or ask about a new name that resembles a known one.

    If a form is sent twice, both have the same ID and content, so the result counts only once.
    """
    store = admission.store
    try:
        intent = intent_of(admission, result)
        refuse_beyond_key(admission, intent)
        meant = meant_players(store, admission.pool, new_names(admission, result))
        if meant:
            return form_response(admission, result, meant=meant)
        receipts = store.submit(admission.pool, intent.details[ROWS], actor=admission.key.name)
    except ConflictError:
        other = replace(result, event_id=store.next_event_id(admission.pool, result.event_id.partition(" #")[0]))
        known = ConflictError(
            f"{result.event_id} was saved in the meantime with another result. If yours is a"
            " different race, save"
            " it again."
        )
        return form_response(admission, other, known)
    except PodiumError as error:
        return form_response(admission, result, error)
    count(admission, receipts)
    event_id, undo, sentence = receipts[0].event_id, "", "This result was already saved. It counts only once."
    if not receipts[0].duplicate:  # a sender may take back a result only if it was new
        details = {"event_id": event_id, "version": store.event(admission.pool, event_id).version}
        undo, sentence = Intent("withdraw", details).keep(admission), "Stored."
    return go_on(admission.request, pool_address(admission.pool, "events", event_id), sentence, undo)
