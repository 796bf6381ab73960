"""The page for entering a result by tapping names in finishing order.

The form has a line for each name and its place: a number, a status, or nothing for players who did not take part. A
script lets people tap names instead of choosing numbers.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import polars as pl
from fastapi import Response
from fastapi.responses import RedirectResponse

from podium.errors import ParameterError, PodiumError
from podium.importers import times
from podium.ledger.leaderboard import instant
from podium.log.players import known_numbers
from podium.log.pools import Pool
from podium.pages.numbers import is_date
from podium.results.names import normalise
from podium.service.admin.dry_run import change_of, count, look_at, meant_players
from podium.service.admin.forms import moment_in
from podium.service.admin.intents import ROWS, Admission, Intent, Sender, refuse_beyond_key, rows_of
from podium.service.http.errors import status_of
from podium.service.http.json import not_in_the_future
from podium.service.http.requests import CurrentStore, run_in
from podium.service.http.visitors import Form
from podium.service.web.rendering import SEE_OTHER, Page, PageRouter, address, go_on, pool_header, render
from podium.service.web.visiting import PoolRequest
from podium.store.writing.submission import ConflictError
from podium.support.immutable import immutable
from podium.support.words import shown_change, signed
from podium.views.races.fixtures import CANCELLED, REPORTED, Fixture

MAX_NAMES = 40  # number of names to offer for tapping
NEW_NAMES = 3  # number of lines for new names
MAX_LINES = 300  # each has a choice of as many places
MAX_ENTRANTS = MAX_LINES - MAX_NAMES - NEW_NAMES
STATUSES = {"dnf": "quit", "did_not_start": "did not start"}
TEAMS, DRAW = "teams", "draw"  # the places belong to teams; in a draw, they only number the teams
NUMBER = re.compile("[1-9][0-9]{0,4}")
VALUES = {"time_s": "Time", "score": "Score"}  # columns that the page can fill
ENDS = {"position", "status", "team"}
TAPPED = {"event_id", "started_at", "sequence", "title", "url", "player", *ENDS}
router = PageRouter(include_in_schema=False)


@immutable
class ResultLine:
    """A name, and the player's place or status."""

    name: str
    place: str = ""
    value: str = ""  # a time or score, if the system needs one
    change: str = ""  # the change that the result would make, rounded for display


@immutable
class ResultForm:
    """The form for a result, with its content."""

    event_id: str
    lines: tuple[ResultLine, ...]
    amends: str = ""  # not empty if the event is already stored
    race: str = ""  # ID of the planned race, if this is its result; lines are then sides, and the date is planned
    date: str = ""  # the chosen day, or day and time
    today: str = ""  # the date that the form offers; on this date, the event started at `at`
    at: str = ""
    title: str = ""
    teams: str = ""
    sure: tuple[str, ...] = ()  # new names that the sender has confirmed


def read_result(form: Form) -> ResultForm:
    """Read the fields of the form."""
    lines = int(form.text("lines")) if NUMBER.fullmatch(form.text("lines")) else 0
    cells = [
        [form.stripped(f"{name}-{k}") for name in ("name", "place", "value")] for k in range(min(lines, MAX_LINES))
    ]
    texts = {
        name: form.stripped(name) for name in ("event_id", "amends", "race", "date", "today", "at", "title", "teams")
    }
    named = tuple(ResultLine(normalise(name), *rest) for name, *rest in cells if name)
    return ResultForm(lines=named, sure=form.fields.get("sure", ()), **texts)


def rows_in(
    result: ResultForm, pool: Pool, column: str, kept: Mapping[str, Any], race: Fixture | None
) -> list[dict[str, Any]]:
    """Return the result as rows of a results table.

    Args:
        result: the form that was filled in.
        pool: the pool.
        column: the column to which the values belong.
        kept: the number and web address of the event to correct.
        race: the planned race, if any.

    Raises:
        ParameterError: a line or the date cannot be read, or fewer than two names have a place.
    """
    shared: dict[str, Any] = {"event_id": result.event_id, **kept} | ({"title": result.title} if result.title else {})
    if race is not None and not pool.is_undated:
        shared["started_at"] = race.starts_at.isoformat()
    elif not pool.is_undated:
        zone, is_typed = pool.description.zone, result.date != result.today
        moment = moment_in(result.date, zone, not_in_the_future) if is_typed else instant(result.at, whole_day=False)
        shared["started_at"] = moment.isoformat()
    sides = sides_of(race)
    planned = {} if race is None else {starter.player: starter.columns for starter in race.entrants or ()}
    rows = [
        shared | {"player": player} | end_of(line, result.teams, column) | planned.get(player, {})
        for line in result.lines
        if line.place
        for player in sides.get(line.name, [line.name])
    ]
    if len(rows) < 2:  # noqa: PLR2004
        raise ParameterError("A result needs at least two names. Tap them in finishing order.")
    return rows


def sides_of(race: Fixture | None) -> dict[str, list[str]]:
    """Return the sides of a planned race, by their text in the form."""
    return {} if race is None else {", ".join(side): side for side in race.sides}


def end_of(line: ResultLine, teams: str, column: str) -> dict[str, Any]:
    """Return the columns of a row that show how a player finished."""
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
def tonight(admission: Sender, store: CurrentStore, event: str = "", race: str = "") -> Response:
    """Show the form with the names that played most often recently, with a stored event, or with a planned race."""
    visit = replace(admission, store=store)
    if event and not can_be_tapped(rows_of(store.event(visit.pool, event))):
        return RedirectResponse(address("admin", visit.pool, "events", event), SEE_OTHER)
    found = stored_result(visit, event) if event else race_result(visit, race) if race else new_result(visit)
    return form_response(visit, found)


@router.pool_page("/tonight", takes_form=True)
async def enter(admission: Sender) -> Response:
    """Preview the effect of a result, or store it."""
    form = await admission.form()
    result, threads = read_result(form), admission.threads
    if form.text("act") == "look":
        return await run_in(threads.writing if result.race else threads.planning, preview_result, admission, result)
    if not result.amends:
        return await run_in(threads.writing, save, admission, result)
    try:
        intent = await run_in(threads.planning, intent_of, admission, result)
    except PodiumError as error:
        return await run_in(threads.planning, form_response, admission, result, error)
    return await look_at(admission, intent)


def new_result(request: PoolRequest) -> ResultForm:
    """Return an empty form with the current date, the next ID, and the title and teams of the newest events."""
    store, name = request.store, request.pool
    pool, now = store.pool(name), datetime.now(UTC).replace(microsecond=0)
    today = "" if pool.is_undated else pool_header(pool).today
    newest = store.event_list(name, top=2).events
    titles = {event.title or "" for event in newest}
    has_teams = bool(newest) and all(row.team for row in store.event(name, newest[0].event_id).entries)
    return ResultForm(
        event_id=store.next_event_id(name, today),
        lines=tuple(map(ResultLine, store.frequent_players(name, MAX_NAMES))),
        date=today,
        today=today,
        at=now.isoformat(),
        title=titles.pop() if len(titles) == 1 and len(newest) > 1 else "",
        teams=TEAMS if has_teams else "",
    )


def stored_result(admission: Admission, event_id: str) -> ResultForm:
    """Return the form for an event that is already stored."""
    details, zone = admission.store.event(admission.pool, event_id), admission.header.zone
    rows, started_at = rows_of(details), details.started_at
    teams, lines = lines_in(rows)
    date = at = ""
    if started_at is not None:
        date = str(started_at.date()) if is_date(started_at) else f"{started_at.astimezone(zone):%Y-%m-%dT%H:%M}"
        at = started_at.isoformat()
    return ResultForm(
        event_id,
        (*lines, *offered(admission, lines)),
        "yes",
        date=date,
        today=date,
        at=at,
        title=details.title or "",
        teams=teams,
    )


def offered(request: PoolRequest, lines: Iterable[ResultLine]) -> tuple[ResultLine, ...]:
    """Return lines for the most frequent players who have no line yet."""
    known = {line.name for line in lines}
    frequent = request.store.frequent_players(request.pool, MAX_NAMES)
    return tuple(ResultLine(name) for name in frequent if name not in known)


def race_result(request: PoolRequest, race_id: str) -> ResultForm:
    """Return the form for the result of a planned race, with the places so far."""
    race, stands = request.store.fixture(request.pool, race_id), request.store.places(request.pool, race_id)
    if race.status in (REPORTED, CANCELLED):
        raise ParameterError(f"Race {race_id} {'already has a result' if race.status == REPORTED else 'is cancelled'}.")
    if len(race.sides) > MAX_ENTRANTS:
        raise ParameterError(f"Race {race_id} has more than {MAX_ENTRANTS} entrants. Enter its result from a file.")
    in_place, out, waiting = race.standing(stands.places, stands.out) if stands else race.standing()
    ends = [*((str(place), side) for place, side in enumerate(in_place, 1)), *(("dnf", side) for side in out)]
    lines = [ResultLine(", ".join(side), place) for place, side in [*ends, *(("", side) for side in waiting)]]
    if race.entrants is None:
        lines.extend(offered(request, lines))
    return ResultForm(race.fixture_id, tuple(lines), race=race.fixture_id, title=race.title or "")


def post_standing(admission: Admission, result: ResultForm, race: Fixture) -> None:
    """If the places so far have changed, show them to everyone who follows a race."""
    sides = sides_of(race)
    placed = sorted((line for line in result.lines if NUMBER.fullmatch(line.place)), key=lambda line: int(line.place))
    gone = [line for line in result.lines if line.place == "dnf"]
    places, out = (tuple(sides.get(line.name, [line.name])[0] for line in some) for some in (placed, gone))
    stands = admission.store.places(admission.pool, race.fixture_id)
    if (places, out) != ((stands.places, stands.out) if stands else ((), ())):
        admission.store.post_places(admission.pool, race.fixture_id, places, out=out, by_hand=True)


def planned_race(request: PoolRequest, result: ResultForm) -> Fixture | None:
    return request.store.fixture(request.pool, result.race) if result.race else None


def lines_in(rows: Sequence[Mapping[str, Any]]) -> tuple[str, tuple[ResultLine, ...]]:
    """Return who plays in an event, as the form calls it, and a line for each row."""
    sides = {(row.get("team"), row.get("position")) for row in rows}
    is_draw = len(sides) > 1 and {position for _, position in sides} == {1}
    teams = "" if {team for team, _ in sides} == {None} else DRAW if is_draw else TEAMS
    places = (
        str(row.get("team"))
        if teams == DRAW
        else row["status"]
        if row["status"] in STATUSES
        else f"{row.get('position', 0):g}"
        for row in rows
    )
    return teams, tuple(ResultLine(row["player"], place) for row, place in zip(rows, places, strict=True))


def can_be_tapped(rows: Sequence[Mapping[str, Any]]) -> bool:
    """Return True if the page can show everything in an event, and the event has few entrants."""
    teams, lines = lines_in(rows)
    return len(rows) <= MAX_ENTRANTS and all(
        row.keys() <= TAPPED
        and (line.place in STATUSES or NUMBER.fullmatch(line.place))
        and {"status": "finished"} | end_of(line, teams, "") == {name: row[name] for name in ENDS & row.keys()}
        for row, line in zip(rows, lines, strict=True)
    )


def intent_of(admission: Admission, result: ResultForm, race: Fixture | None = None) -> Intent:
    """Return the change that a form requests."""
    store = admission.store
    pool, kept = store.pool(admission.pool), dict[str, Any]()
    if result.amends:
        first = rows_of(store.event(admission.pool, result.event_id))[0]
        kept = {name: first[name] for name in ("sequence", "url") if name in first}
    sent = rows_in(result, pool, value_column(pool), kept, race)
    rows = pl.DataFrame(sent, infer_schema_length=None)
    details = {"event_id": result.event_id, ROWS: rows}
    return Intent("amend", details) if result.amends else Intent("submit", {ROWS: rows})


def value_column(pool: Pool) -> str:
    """Return the column of times or scores that the pool's system needs, or an empty string."""
    return next((name for name in pool.system.needs if name in VALUES), "")


def form_response(
    admission: Admission,
    result: ResultForm,
    error: PodiumError | None = None,
    meant: tuple[tuple[str, str], ...] = (),
) -> Response:
    """Return the page with the form as a response."""
    page = form_page(admission, result, error, meant)
    return render(admission.request, page, status=200 if error is None else status_of(error))


def form_page(
    request: PoolRequest,
    result: ResultForm,
    error: PodiumError | None = None,
    meant: tuple[tuple[str, str], ...] = (),
) -> Page:
    """Return the page with the form, together with questions or an error."""
    pool = request.store.pool(request.pool)
    column = value_column(pool)
    return Page(
        "tonight.html",
        f"Correct {result.title or result.event_id}" if result.amends else "Enter a result",
        pool=pool_header(pool),
        result=result,
        value_name=VALUES.get(column, ""),
        # needed by the system, but missing on this page
        lacking=tuple(name for name in pool.system.needs if name != column),
        is_new=pool.order is None,
        meant=meant,  # new names, each with the known name that it resembles
        refusal="" if error is None else str(error),
        new_names=NEW_NAMES,
        statuses=STATUSES,
        action="",  # address of the form, if it is not this page's
    )


def preview_result(admission: Admission, result: ResultForm) -> Response:
    """Return the form, with the change that the result would make for each name."""
    store = admission.store
    try:
        race = planned_race(admission, result)
        if race is not None:
            post_standing(admission, result, race)
        intent = intent_of(admission, result, race)
        refuse_beyond_key(admission, intent)
        seen = store.preview(admission.pool, intent.act())
    except PodiumError as error:
        return form_response(admission, result, error)
    digits = store.pool(admission.pool).system.digits
    moved = {rating.player: change_of(rating, digits) for rating in seen.ratings}
    changes = {name: "new" if change is None else signed(change) for name, change in moved.items()}
    if result.amends:  # the points for the event itself
        stored = {each.player: shown_change(each.rating_before, each.rating, digits) for each in seen.answer.changes}
        changes = {name: signed(change) for name, change in stored.items()}
    sides = sides_of(race)
    lines = tuple(
        replace(line, change=changes.get(sides.get(line.name, [line.name])[0], "") if line.place else "")
        for line in result.lines
    )
    return form_response(admission, replace(result, lines=lines))


def new_names(admission: Admission, result: ResultForm, race: Fixture | None) -> list[str]:
    """Return the names that are new to the pool and that the sender has not confirmed."""
    sides = sides_of(race)
    names = [line.name for line in result.lines if line.place and line.name not in sides]
    with admission.store.reading(admission.pool) as pool:
        known = known_numbers(pool, names)
    return [name for name in names if name not in known and name not in result.sure]


def save(admission: Admission, result: ResultForm) -> Response:
    """Store a result and redirect to its page, or ask about a new name that resembles a known name.

    If a form is sent twice, both copies have the same ID and content, so the result counts only once.
    """
    store = admission.store
    try:
        race = planned_race(admission, result)
        intent = intent_of(admission, result, race)
        refuse_beyond_key(admission, intent)
        meant = meant_players(store, admission.pool, new_names(admission, result, race))
        if meant:
            return form_response(admission, result, meant=meant)
        receipts = store.submit(admission.pool, intent.details[ROWS], actor=admission.key.name)
    except ConflictError as error:
        if result.race:
            return form_response(admission, result, error)
        other = replace(result, event_id=store.next_event_id(admission.pool, result.event_id.partition(" #")[0]))
        known = ConflictError(
            f"{result.event_id} was saved in the meantime with another result. If yours is a different race, save it "
            "again."
        )
        return form_response(admission, other, known)
    except PodiumError as error:
        return form_response(admission, result, error)
    count(admission, receipts)
    event_id, undo, sentence = receipts[0].event_id, "", "This result was already saved. It counts only once."
    if not receipts[0].duplicate:  # a sender may withdraw a result only if it was new
        version = store.event(admission.pool, event_id).version
        details = {"event_id": event_id, "title": result.title, "version": version}
        undo, sentence = Intent("withdraw", details).keep(admission), "Saved."
    return go_on(admission.request, admission.path("events", event_id), sentence, undo)
