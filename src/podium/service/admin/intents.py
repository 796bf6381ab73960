"""Changes that an admin previews before making them. Between the two forms, they wait in the database."""

import io
import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import asdict, replace
from datetime import datetime
from typing import Annotated, Any, TypeVar

import polars as pl
from fastapi import Depends, Request

from podium.log.pools import DATED, When
from podium.results.columns import SHARED
from podium.service.http.errors import AccessError
from podium.service.http.json import decode_name
from podium.service.http.keys import (
    KeyGuard,
    lacking,
    pool_in_path,
    refuse_backdated,
    refuse_backdated_results,
    refuse_backdating_limit,
)
from podium.service.http.requests import Threads
from podium.service.http.visitors import MAX_FORM_BYTES, Form, Session, find_visitor, read_form, refuse_forged
from podium.service.web.rendering import address
from podium.service.web.visiting import PoolRequest
from podium.store.keys import ApiKey
from podium.store.waiting import Owner, WaitingFile, keep_waiting, waiting_file
from podium.store.writing import accounts, administration, sheet_corrections, sheets, submission
from podium.store.writing.proposals import Act, Sheet
from podium.support.immutable import immutable
from podium.support.words import counted
from podium.systems import find
from podium.views.models import EventDetails

POOL_ADDRESS = "/admin/{pool}"
T = TypeVar("T")
SIGN_IN = "sign in with a key that allows this"


@immutable
class Admission(PoolRequest):
    """A request from a signed-in user, with the pool in its address. The user's key limits the possible changes."""

    key: ApiKey
    session: Session

    @property
    def threads(self) -> Threads:
        found: Threads = self.request.app.state.threads
        return found

    def may(self, role: str) -> bool:
        """Return True if the user's key has a role in the pool."""
        return self.key.may(role, self.pool)

    def address(self, *names: str) -> str:
        """Return the path of one of the admin's pages about the pool."""
        return address("admin", self.pool, *names)

    def write(self, act: Callable[..., T], *given: Any, **options: Any) -> T:
        """Change the pool with a method of the store, in the name of the visitor's key."""
        return act(self.store, self.pool, *given, actor=self.key.name, **options)

    def owner(self, use: str) -> Owner:
        """Return the owner of data that wait for this session's next form in this pool."""
        return Owner(self.key.id, self.session.token, self.pool, use)

    async def form(self, max_bytes: int = MAX_FORM_BYTES) -> Form:
        """Return a form that one of this session's pages sent. Its address may contain fields too."""
        form = await read_form(self.request, max_bytes)
        refuse_forged(self.request, self.session, form.text("token"))
        return replace(form, fields={**form.fields, **names_in_path(self.request)})

    def query(self) -> Form:
        """Return the address's query and the names in the address, in the same form as `form`."""
        sent = {name: (value,) for name, value in self.request.query_params.items()}
        return Form(sent | names_in_path(self.request))


def names_in_path(request: Request) -> dict[str, tuple[str]]:
    return {name: (decode_name(str(value)),) for name, value in request.path_params.items() if name != "pool"}


def admitting(role: str, *, of_all: bool = False) -> Callable[[Request], Awaitable[Admission]]:
    """Return a dependency that admits users whose key has a role in the route's pool or, if `of_all`, in all pools."""

    async def check(request: Request) -> Admission:
        visitor, pool = await find_visitor(request), pool_in_path(request)
        guard: KeyGuard = request.app.state.key_guard
        if visitor.key is None or visitor.session is None:
            raise await guard.refusal(request, 401, SIGN_IN)
        needed = None if of_all else pool
        if (of_all or pool is not None) and not visitor.key.may(role, needed):
            raise await guard.refusal(request, 403, lacking(role, needed))
        return Admission(request, request.app.state.store, pool or "", visitor.key, visitor.session)

    return check


SignedIn = Annotated[Admission, Depends(admitting("read"))]
Sender = Annotated[Admission, Depends(admitting("write"))]
Admin = Annotated[Admission, Depends(admitting("admin"))]
AdminOfAll = Annotated[Admission, Depends(admitting("admin", of_all=True))]


WRITE, ADMIN = "write", "admin"
ROWS = "rows"  # a frame of results, because a season's rows would take much memory as dictionaries
CHANGE = "change"  # purpose of the stored data
DATES, NUMBERS = {"by": "dates", "numbered": "dates"}, {"by": "numbers", "numbered": "numbers, not dates"}


@immutable
class Kind:
    role: str  # required role
    act: Callable[[Mapping[str, Any]], Act]  # makes the change from its details
    heading: str  # this text and the next three contain names of details and of `Intent.words` in braces
    button: str
    done: str  # sentence about the result
    lands: tuple[str, ...] = ("events", "{event_id}")  # path, below the pool, of the page to show afterwards
    has_reason: bool = True


def sheet_in(details: Mapping[str, Any]) -> Sheet:
    name, map_, prefix = map(str, details["sheet"])
    return Sheet(name, map_, prefix, details.get("made") or {}, answer=str(details.get("answer", "")))


KINDS = {
    "submit": Kind(
        WRITE,
        lambda details: sheets.submit(
            details[ROWS], details.get("made_up", ""), sheet_in(details) if "sheet" in details else None,
            details.get("order"),
        ),
        "Check {results}", "Save results", "Saved. {events} received.", has_reason=False,
    ),
    "sheet": Kind(
        ADMIN,
        lambda details: sheet_corrections.amend_sheet(
            details[ROWS], sheet_in(details), details.get("made_up", ""), overrule=bool(details.get("overrule")),
            order=details.get("order"),
        ),
        "Update from {sheet}", "Correct these", "Saved. The pool now matches {sheet}.", ("events",), has_reason=False,
    ),
    "amend": Kind(
        ADMIN, lambda details: submission.amend(details[ROWS]),
        "Correct {event}", "Save correction", "Saved. {event} is corrected.",
    ),
    "void": Kind(
        ADMIN, lambda details: submission.void(details["event_id"]),
        "Void {event}", "Void event", "Saved. {event} no longer counts.",
    ),
    "void_player": Kind(
        ADMIN, lambda details: accounts.void_player(details["player"]),
        "Void all events of {player}", "Void these events", "Saved. No event of {player} counts.", ("events",),
    ),
    "withdraw": Kind(  # the sender withdraws a new result
        WRITE, lambda details: submission.void(details["event_id"], [details["version"]]),
        "Undo {event}", "Undo", "Undone. {event} does not count.", has_reason=False,
    ),
    "unvoid": Kind(
        ADMIN, lambda details: submission.unvoid(details["event_id"]),
        "Unvoid {event}", "Unvoid event", "Saved. {event} counts again.",
    ),
    "merge": Kind(
        ADMIN, lambda details: accounts.merge(details["player"], details["into"]),
        "Merge {player} into {into}", "Merge players", "Saved. {player} is merged into {into}.", ("players", "{into}"),
    ),
    "unmerge": Kind(
        ADMIN, lambda details: accounts.unmerge(details["player"]),
        "Undo the merge of {player}", "Undo the merge", "Saved. {player} is separate again.", ("players", "{player}"),
    ),
    "start": Kind(
        ADMIN, lambda details: accounts.set_starting_ratings([details]),
        "Starting rating of {player}", "Save", "Saved. {player} has this starting rating.", (),
    ),
    "season": Kind(
        ADMIN,
        lambda details: administration.begin_season(
            details["name"], when_in(details["starts_at"]), details["keep"], widens=details["widens"]
        ),
        "Begin season {name}", "Begin season", "Saved. Season {name} has begun.", (), has_reason=False,
    ),
    "configure": Kind(
        ADMIN, lambda details: administration.configure(find(details["system"]).from_text(details["parameters"])),
        "Rate with {title}", "Change system",
        "Saved. All events are rated with {title}, starting with the first event.", ("system",), has_reason=False,
    ),
    "order": Kind(
        ADMIN, lambda details: administration.set_order(
            details["order"], datetime.fromisoformat(details["start"]) if details["start"] else None, details["every"]
        ),
        "Order events by {by}", "Change order", "Saved. Events now have {numbered}.", ("events",), has_reason=False,
    ),
}  # fmt: skip


def when_in(value: str | When) -> When:
    """Return the start of an event from a JSON value, which is a date or a number."""
    return datetime.fromisoformat(value) if isinstance(value, str) else value


LINE_END = b"\n"  # never occurs in JSON on a single line


@immutable
class Intent:
    """A change with all its data: a frame of rows, and JSON."""

    name: str  # one of KINDS
    details: Mapping[str, Any]

    @property
    def kind(self) -> Kind:
        return KINDS[self.name]

    @property
    def heading(self) -> str:
        return self.kind.heading.format_map(self.words())

    @property
    def done(self) -> str:
        return self.kind.done.format_map(self.words())

    def words(self) -> dict[str, Any]:
        """Return the names for sentences about the change."""
        words = {"event": self.details.get("title") or self.details.get("event_id"), **self.details}
        if ROWS in words:
            number = words[ROWS]["event_id"].n_unique()
            words["events"] = counted(number, "event")
            titles = words[ROWS].get_column("title", default=None)
            words["event"] = (None if titles is None else titles[0]) or words["event"]
            words["results"] = "your result" if number == 1 else f"your {number:,} results"
        if "sheet" in words:
            words["sheet"] = words["sheet"][0]
        if self.name == "configure":
            words["title"] = find(words["system"]).title
        if self.name == "order":
            words |= DATES if words["order"] == DATED else NUMBERS
        return words

    def landing(self, answer: Any) -> tuple[str, ...]:
        """Return the path, below the pool, of the page to show after the change."""
        words = self.words()
        if isinstance(answer, list):  # receipts
            if len(answer) != 1:
                return ("events",)
            words["event_id"] = answer[0].event_id
        return tuple(template.format_map(words) for template in self.kind.lands)

    def act(self) -> Act:
        return self.kind.act(self.details)

    def keep(self, admission: Admission) -> str:
        """Store the change for the form that confirms it, and return its number."""
        content = io.BytesIO()
        content.write(json.dumps({name: value for name, value in self.details.items() if name != ROWS}).encode())
        if ROWS in self.details:
            content.write(LINE_END)
            self.details[ROWS].write_parquet(content)
        return keep_waiting(admission.store.engine, admission.owner(CHANGE), WaitingFile(self.name, content.getvalue()))


def kept_intent(admission: Admission, number: str) -> Intent:
    """Return the change to which a form from this session and pool refers."""
    name, content = waiting_file(admission.store.engine, admission.owner(CHANGE), number)
    others, _, rows = content.partition(LINE_END)
    return Intent(name, json.loads(others) | ({ROWS: pl.read_parquet(rows)} if rows else {}))


UNDONE_BY = {"void": "unvoid", "unvoid": "void", "merge": "unmerge", "amend": "amend"}


def undo_of(admission: Admission, intent: Intent) -> str:
    """Store the change that would undo this one, and return its number. Return an empty string if there is no undo."""
    if intent.name not in UNDONE_BY:
        return ""
    details = {name: intent.details[name] for name in ("event_id", "title", "player") if name in intent.details}
    if intent.name == "amend":
        event = admission.store.event(admission.pool, details["event_id"])
        details[ROWS] = pl.DataFrame(rows_of(event), infer_schema_length=None)
    return Intent(UNDONE_BY[intent.name], details).keep(admission)


def rows_of(details: EventDetails) -> list[dict[str, Any]]:
    """Return an event's content as rows of a results table, in a form suitable for JSON."""
    event = {"event_id": details.event_id, "title": details.title, "url": details.url, "sequence": details.sequence}
    event["started_at"] = None if details.started_at is None else details.started_at.isoformat()
    rows = []
    for entry in details.entries:
        row = asdict(entry)
        row |= {f"{SHARED}{kind}": name for kind, name in (row.pop("shared", None) or {}).items()}
        rows.append({name: value for name, value in (row | event).items() if value is not None})
    return rows


def refuse_beyond_key(admission: Admission, intent: Intent) -> None:
    """Reject changes for which the session's key lacks the role, and events before the key's backdating limit."""
    request, store, pool, details = admission.request, admission.store, admission.pool, intent.details
    if not admission.may(intent.kind.role):
        raise AccessError(403, lacking(intent.kind.role, pool))
    if admission.key.backdating_limit_s is None:
        return
    if intent.name in ("sheet", "merge", "unmerge", "void_player", "start", "configure", "order"):
        refuse_backdating_limit(request)
    starts = [details["starts_at"]] if "starts_at" in details else []
    for name in {"started_at", "sequence"} & {*details[ROWS].columns} if ROWS in details else ():
        starts.extend(details[ROWS][name].drop_nulls().unique())
    refuse_backdated(request, map(when_in, starts))
    if "event_id" in details:
        event = store.event(pool, details["event_id"])
        refuse_backdated(request, [event.when])
        refuse_backdated_results(request, store, pool, [event.match_id])
