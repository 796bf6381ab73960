"""Changes that an admin previews before storing. They are kept in the database between the two forms."""

import io
import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Annotated, Any

import polars as pl
from fastapi import Depends, Request

from podium.log.pools import DATED, When
from podium.results.columns import SHARED
from podium.service.http.errors import AccessError
from podium.service.http.keys import (
    KeyGuard,
    lacking,
    pool_in_path,
    refuse_backdated,
    refuse_backdated_results,
    refuse_backdating_limit,
)
from podium.service.http.visitors import MAX_FORM_BYTES, Form, Session, find_visitor, read_form, refuse_forged
from podium.store import Store
from podium.store.keys import ApiKey
from podium.store.waiting import Owner, WaitingFile, keep_waiting, waiting_file
from podium.store.writing import accounts, administration, ordering, sheet_corrections, sheets, submission
from podium.store.writing.proposals import Act, Sheet
from podium.support.words import counted
from podium.systems import find
from podium.views.models import EventDetails

POOL_ADDRESS = "/admin/{pool}"
SIGN_IN = "sign in with a key that may do this"


@dataclass(frozen=True, slots=True)
class Admission:
    """A signed-in user and the pool in the address. The key limits what the user may change."""

    key: ApiKey
    session: Session
    pool: str = ""  # empty if the address names none

    def owner(self, use: str) -> Owner:
        """Return the owner of data that waits for the next form of this session and pool."""
        return Owner(self.key.id, self.session.token, self.pool, use)

    async def form(self, request: Request, max_bytes: int = MAX_FORM_BYTES) -> Form:
        """Return a form sent by a page of this session."""
        form = await read_form(request, max_bytes)
        refuse_forged(request, self.session, form.text("token"))
        return form


def admitting(role: str, *, of_all: bool = False) -> Callable[[Request], Awaitable[Admission]]:
    """Return a dependency that admits users whose key has a role in the route's pool, or in all pools."""

    async def check(request: Request) -> Admission:
        visitor, pool = await find_visitor(request), pool_in_path(request)
        guard: KeyGuard = request.app.state.key_guard
        if visitor.key is None or visitor.session is None:
            raise await guard.refusal(request, 401, SIGN_IN)
        needed = None if of_all else pool
        if (of_all or pool is not None) and not visitor.key.may(role, needed):
            raise await guard.refusal(request, 403, lacking(role, needed))
        return Admission(visitor.key, visitor.session, pool or "")

    return check


SignedIn = Annotated[Admission, Depends(admitting("read"))]
Sender = Annotated[Admission, Depends(admitting("write"))]
Admin = Annotated[Admission, Depends(admitting("admin"))]
AdminOfAll = Annotated[Admission, Depends(admitting("admin", of_all=True))]


WRITE, ADMIN = "write", "admin"
CHANGE = "change"  # purpose of the stored data


@dataclass(frozen=True, slots=True)
class Kind:
    role: str  # required role
    act: Callable[[Mapping[str, Any]], Act]  # from its details
    heading: Callable[[Mapping[str, Any]], str]
    button: str
    lands: Callable[[Mapping[str, Any], Any], tuple[str, ...]]  # path below the pool, from details and answer
    done: Callable[[Mapping[str, Any]], str]  # sentence about the result
    has_reason: bool = True


def events_in(details: Mapping[str, Any]) -> set[str]:
    return {*details["rows"]["event_id"]}


def event_path(_details: Mapping[str, Any], answer: Any) -> tuple[str, ...]:
    receipts = answer if isinstance(answer, list) else [answer]
    return ("events", receipts[0].event_id) if len(receipts) == 1 else ("events",)


def sheet_in(details: Mapping[str, Any]) -> Sheet:
    name, map_, prefix = map(str, details["sheet"])
    return Sheet(name, map_, prefix, details.get("made") or {}, answer=str(details.get("answer", "")))


KINDS = {
    "submit": Kind(
        WRITE,
        lambda details: sheets.submit(
            details["rows"], details.get("made_up", ""), sheet_in(details) if "sheet" in details else None,
            details.get("order"),
        ),
        lambda details: f"Store {counted(len(events_in(details)), 'event')}",
        "Store results", event_path, lambda details: f"Stored. {counted(len(events_in(details)), 'event')} came in.",
        has_reason=False,
    ),
    "sheet": Kind(
        ADMIN, lambda details: sheet_corrections.amend_sheet(
            details["rows"], sheet_in(details), details.get("made_up", ""), overrule=bool(details.get("overrule")),
            order=details.get("order"),
        ),
        lambda details: f"Update from {sheet_in(details).name}", "Correct these", lambda *_: ("events",),
        lambda details: f"Stored. The pool now equals {sheet_in(details).name}.", has_reason=False,
    ),
    "amend": Kind(
        ADMIN, lambda details: submission.amend(details["rows"]), lambda details: f"Correct {details['event_id']}",
        "Store correction", event_path, lambda details: f"Stored. {details['event_id']} is corrected.",
    ),
    "void": Kind(
        ADMIN, lambda details: submission.void(details["event_id"]), lambda details: f"Void {details['event_id']}",
        "Void event", event_path, lambda details: f"Stored. {details['event_id']} no longer counts.",
    ),
    "withdraw": Kind(  # the sender of a new result takes it back
        WRITE, lambda details: submission.void(details["event_id"], [details["version"]]),
        lambda details: f"Undo {details['event_id']}", "Undo", event_path,
        lambda details: f"Undone. {details['event_id']} does not count.", has_reason=False,
    ),
    "unvoid": Kind(
        ADMIN, lambda details: submission.unvoid(details["event_id"]), lambda details: f"Unvoid {details['event_id']}",
        "Unvoid event", event_path, lambda details: f"Stored. {details['event_id']} counts again.",
    ),
    "merge": Kind(
        ADMIN, lambda details: accounts.merge(details["player"], details["into"]),
        lambda details: f"Merge {details['player']} into {details['into']}", "Merge players",
        lambda details, _: ("players", details["into"]),
        lambda details: f"Stored. {details['player']} is merged into {details['into']}.",
    ),
    "unmerge": Kind(
        ADMIN, lambda details: accounts.unmerge(details["player"]),
        lambda details: f"Undo the merge of {details['player']}", "Undo the merge",
        lambda details, _: ("players", details["player"]),
        lambda details: f"Stored. {details['player']} is separate again.",
    ),
    "season": Kind(
        ADMIN,
        lambda details: administration.begin_season(
            details["name"], when_in(details["starts_at"]), details["keep"]
        ),
        lambda details: f"Begin season {details['name']}", "Begin season",
        lambda *_: (), lambda details: f"Stored. Season {details['name']} has begun.", has_reason=False,
    ),
    "configure": Kind(
        ADMIN, lambda details: administration.configure(find(details["system"]).from_text(details["parameters"])),
        lambda details: f"Rate with {find(details['system']).title}", "Change system",
        lambda *_: ("system",),
        lambda details: f"Stored. All events are rated with {find(details['system']).title}, from the first event on.",
        has_reason=False,
    ),
    "order": Kind(
        ADMIN, lambda details: ordering.set_order(
            details["order"], datetime.fromisoformat(details["start"]) if details["start"] else None, details["every"]
        ),
        lambda details: f"Order events by {'dates' if details['order'] == DATED else 'numbers'}", "Change order",
        lambda *_: ("events",),
        lambda details: f"Stored. Events now have {'dates' if details['order'] == DATED else 'numbers, not dates'}.",
        has_reason=False,
    ),
}  # fmt: skip


def when_in(value: str | When) -> When:
    """Return the start of an event from JSON: a date, or a number."""
    return datetime.fromisoformat(value) if isinstance(value, str) else value


LINE_END = b"\n"  # never within JSON on one line
ROWS = "rows"  # a frame of results, because dictionaries of a season's rows take much memory


@dataclass(frozen=True, slots=True)
class Intent:
    """A change with all its data: a frame of rows, and JSON."""

    name: str  # one of KINDS
    details: Mapping[str, Any]

    @property
    def kind(self) -> Kind:
        return KINDS[self.name]

    @property
    def heading(self) -> str:
        return self.kind.heading(self.details)

    def act(self) -> Act:
        return self.kind.act(self.details)

    def keep(self, store: Store, admission: Admission) -> str:
        """Store the change for the form that confirms it, and return its number."""
        content = io.BytesIO()
        content.write(json.dumps({name: value for name, value in self.details.items() if name != ROWS}).encode())
        if ROWS in self.details:
            content.write(LINE_END)
            self.details[ROWS].write_parquet(content)
        return keep_waiting(store.engine, admission.owner(CHANGE), WaitingFile(self.name, content.getvalue()))


def kept_intent(store: Store, admission: Admission, number: str) -> Intent:
    """Return the change that a form of this session and pool names."""
    name, content = waiting_file(store.engine, admission.owner(CHANGE), number)
    others, _, rows = content.partition(LINE_END)
    return Intent(name, json.loads(others) | ({ROWS: pl.read_parquet(rows)} if rows else {}))


UNDONE_BY = {"void": "unvoid", "unvoid": "void", "merge": "unmerge", "amend": "amend"}


def undo_of(store: Store, admission: Admission, intent: Intent) -> str:
    """Store the change that would undo another, and return its number. Empty if nothing can undo it."""
    if intent.name not in UNDONE_BY:
        return ""
    details = {name: intent.details[name] for name in ("event_id", "player") if name in intent.details}
    if intent.name == "amend":
        details[ROWS] = frame_of(store.event(admission.pool, details["event_id"]))
    return Intent(UNDONE_BY[intent.name], details).keep(store, admission)


def rows_of(details: EventDetails) -> list[dict[str, Any]]:
    """Return the content of an event as rows of a results table for JSON."""
    event = {"event_id": details.event_id, "title": details.title, "url": details.url, "sequence": details.sequence}
    event["started_at"] = None if details.started_at is None else details.started_at.isoformat()
    rows = []
    for each in details.entries:
        row = asdict(each)
        row |= {f"{SHARED}{kind}": name for kind, name in (row.pop("shared", None) or {}).items()}
        rows.append({name: value for name, value in (row | event).items() if value is not None})
    return rows


def frame_of(details: EventDetails) -> pl.DataFrame:
    """The content of an event as a table of results."""
    return pl.DataFrame(rows_of(details), infer_schema_length=None)


def refuse_beyond_key(request: Request, store: Store, admission: Admission, intent: Intent) -> None:
    """Reject acts without the needed role, and events before the backdating limit of the session's key."""
    pool = admission.pool
    if not admission.key.may(intent.kind.role, pool):
        raise AccessError(403, lacking(intent.kind.role, pool))
    if admission.key.backdating_limit_s is None:
        return
    details = intent.details
    if intent.name in ("sheet", "merge", "unmerge", "configure", "order"):
        refuse_backdating_limit(request)
    starts = [details["starts_at"]] if "starts_at" in details else []
    for name in {"started_at", "sequence"} & {*details[ROWS].columns} if ROWS in details else ():
        starts.extend(details[ROWS][name].drop_nulls().unique())
    refuse_backdated(request, map(when_in, starts))
    if "event_id" in details:
        event = store.event(pool, details["event_id"])
        refuse_backdated(request, [event.when])
        refuse_backdated_results(request, store, pool, [event.match_id])
