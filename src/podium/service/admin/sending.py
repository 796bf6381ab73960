"""Pages for uploading results and for correcting stored ones."""

import csv
import io
import threading
from collections.abc import Mapping
from functools import partial
from itertools import groupby
from typing import Any, Literal, cast

from fastapi import Response
from fastapi.concurrency import run_in_threadpool

from podium.errors import ParameterError, PodiumError, UnknownError
from podium.ledger.reasons.standings import WORDS, plain
from podium.results.column_guide import COMPARED
from podium.results.columns import DEFAULTS, SHARED, STATUSES, is_shared
from podium.service.admin.dry_run import look_at, look_at_sheet
from podium.service.admin.forms import shows
from podium.service.admin.intents import POOL_ADDRESS, Admin, Admission, Intent, Sender, rows_of
from podium.service.admin.reading import MAX_UPLOAD_BYTES, PASTED, RESULTS, Interview, Upload, formats, sheet_name
from podium.service.admin.uploads import UploadProcess, note_leaving
from podium.service.http.errors import AccessError, status_of
from podium.service.http.json import EventId
from podium.service.http.requests import in_background, run_in
from podium.service.http.visitors import Form
from podium.service.web.rendering import Page, PageRouter, pool_header, render
from podium.store import Store
from podium.store.waiting import WaitingFile, keep_waiting, waiting_file
from podium.support.immutable import immutable
from podium.views.models import EventDetails

OF_EVENT: tuple[str, ...] = ("started_at", "sequence", "title", "url", "mode", "ranked", "weight")
WHEN = ("started_at", "sequence")  # every event has one of these columns
OF_LINE = (
    "heat", "player", "team", "position", "time_s", "score", "team_score", "status", "played_s", "duration_s",
    "handicap", "side", "awards", "age_group",
)  # fmt: skip
ALWAYS = ("player", "status")  # columns that are always shown
WIDTHS = {
    "player": 14,
    "team": 8,
    "time_s": 7,
    "score": 5,
    "team_score": 5,
    "played_s": 7,
    "duration_s": 7,
    "awards": 12,
}
OTHER_WIDTH = 3  # width of other columns in characters
LABELS = {
    "started_at": "Start", "sequence": "Number", "title": "Title", "url": "Address of its page", "mode": "Mode",
    "ranked": "Ranked: true or false", "weight": "Weight", "heat": "Heat", "player": "Player", "team": "Team",
    "position": "Place", "time_s": "Time, s", "score": "Score", "team_score": "Score of the team",
    "status": "Status",
    "played_s": "Played, s", "duration_s": "Duration, s", "handicap": "Handicap", "side": "Side: home, away",
    "awards": "Awards", "age_group": "Age group",
}  # fmt: skip
CARRIED = ("title", "started_at", "every", "players", "format")  # fields that pass from form to form
WRITTEN = (*CARRIED, "pasted")
EMPTY_LINES = 3  # number of empty lines at the end
PLACES = "Mario Kart 28 Nov\n1. Ana\n2. Ben\n2. Cleo\nDan quit"  # an example
FILE = "file"  # purpose of the stored data
MAX_LINES = 1_000  # maximum number of lines in a form; longer events must be pasted


@immutable
class EventTable:
    """The content of an event as text."""

    event_id: str
    shared: Mapping[str, str]  # values that all lines share, by column
    columns: tuple[str, ...]
    lines: tuple[Mapping[str, str], ...]

    @property
    def is_long(self) -> bool:
        """Return True if the event has too many lines for a form."""
        return len(self.lines) > MAX_LINES

    @property
    def fields(self) -> tuple[tuple[str, str, str], ...]:
        shown = (name for name in OF_EVENT if name in self.shared or name not in WHEN)
        return tuple((name, LABELS[name], self.shared.get(name, "")) for name in shown)

    @property
    def headings(self) -> tuple[tuple[str, str, int], ...]:
        widths = {name: WIDTHS["team"] if is_shared(name) else WIDTHS.get(name, OTHER_WIDTH) for name in self.columns}
        labels = {name: LABELS.get(name) or name.removeprefix(SHARED).capitalize() for name in self.columns}
        return tuple((name, labels[name], width) for name, width in widths.items())

    @property
    def groups(self) -> list[tuple[str, list[tuple[int, Mapping[str, str]]]]]:
        """The numbered lines of each heat, winner first, with the heat, followed by a group of empty lines."""
        lines = list(enumerate((*self.lines, *({},) * EMPTY_LINES)))
        known, empty = lines[: len(self.lines)], lines[len(self.lines) :]
        return [
            *(
                (heat, sorted(group, key=lambda line: end_of(line[1])))
                for heat, group in groupby(known, key=lambda line: line[1].get("heat", ""))
            ),
            ("", empty),
        ]

    def csv(self) -> str:
        shared = {name: text for name, text in self.shared.items() if text}
        columns, file = ["event_id", *shared, *self.columns], io.StringIO()
        writer = csv.DictWriter(file, columns, extrasaction="ignore", lineterminator="\n")
        writer.writeheader()
        writer.writerows({**shared, **line, "event_id": self.event_id} for line in self.lines)
        return file.getvalue()


def end_of(line: Mapping[str, str]) -> tuple[bool, float]:
    """Return the key that sorts the lines of a heat, winner first. Lines without a readable value come last."""
    column = next((name for name in COMPARED if line.get(name)), "")
    try:
        value = float(line.get(column, ""))
    except ValueError:
        return True, 0.0
    return line.get("status") not in ("", DEFAULTS["status"]), -value if column.endswith("score") else value


def table_of(details: EventDetails) -> EventTable:
    first = details.entries[0]
    values = {name: getattr(details, name, None) or getattr(first, name, None) for name in OF_EVENT}
    shared = {name: cell(value) for name, value in values.items() if value is not None}
    if details.started_at is not None:
        shared["started_at"] = details.started_at.isoformat()
    rows = rows_of(details)
    names = (*OF_LINE, *sorted({name for row in rows for name in row if is_shared(name)}))
    lines = tuple({name: cell(row.get(name)) for name in names} for row in rows)
    used = {name for name in names if any(line[name] for line in lines)} | {*ALWAYS}
    used |= set() if used & {*COMPARED} else {COMPARED[0]}
    columns = tuple(name for name in names if name in used)
    return EventTable(details.event_id, shared, columns, lines)


def table_in(form: Form, event_id: str) -> EventTable:
    """Return the event in a form, without lines that are empty, marked to be removed, or without a name."""
    columns = tuple(name for name in form.fields.get("column", ()) if name in OF_LINE or is_shared(name))
    count, known = min(form.number("lines"), MAX_LINES + EMPTY_LINES), form.number("known")
    lines = [{name: form.stripped(f"{name}-{k}") for name in columns} for k in range(count)]
    kept = (
        line
        for k, line in enumerate(lines)
        if not form.text(f"remove-{k}") and (line.get("player") or (k >= known and is_filled(line)))
    )
    shared = {name: form.stripped(name) for name in OF_EVENT if name in form.fields}
    return EventTable(event_id, shared, columns, tuple(kept))


def is_filled(line: Mapping[str, str]) -> bool:
    """Return True if an empty line has been filled in."""
    return any(text for name, text in line.items() if (name, text) != ("status", DEFAULTS["status"]))


def cell(value: Any) -> str:
    """Return a value in the form that people write, or an empty string."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return plain(value) if isinstance(value, float) else str(value)


router = PageRouter(prefix=POOL_ADDRESS, include_in_schema=False)


@shows(router, "/upload", Sender)
def upload_page(admission: Admission, form: Form) -> Page:
    """Return the page for uploading a file of results or pasting text, with the values entered earlier."""
    return Page(
        "upload.html",
        "Enter results",
        pool=admission.header,
        formats=formats(),
        chosen=form.text("format") or RESULTS,
        form={name: form.text(name) for name in WRITTEN},
        current="Enter results",
        today=admission.header.today,
        places=PLACES,
        max_megabytes=MAX_UPLOAD_BYTES // 1_000_000,
        source="",
        error="",
    )


@router.post("/upload")
async def upload(admission: Sender) -> Response:
    """Preview a file, or ask questions about it. Nothing is stored yet."""
    form = await admission.form(MAX_UPLOAD_BYTES)
    file = form.file or WaitingFile("", form.text("pasted").encode())
    return await show_sent(admission, form, file)


@router.post("/upload/{number}")
async def answer(admission: Sender, number: str) -> Response:
    """Preview a waiting file with the chosen answers, or ask more questions."""
    form = await admission.form()
    try:
        threads = admission.threads.writing
        file = await run_in(threads, waiting_file, admission.store.engine, admission.owner(FILE), number)
    except UnknownError as error:
        page = await run_in_threadpool(upload_page, admission, Form({}))
        page.error = error
        return render(admission.request, page, status=status_of(error))
    return await show_sent(admission, form, file, number)


async def show_sent(admission: Admission, form: Form, file: WaitingFile, number: str = "") -> Response:
    """Return the preview of a file, its open questions, or its error.

    A file with unanswered questions is stored until they are answered.
    """
    store, name = admission.store, file.name or PASTED
    try:
        if form.file and form.stripped("pasted"):
            raise ParameterError("you chose a file and also pasted text. Clear the text, or choose no file")
        if not file.content.strip():
            raise ParameterError("choose a file, or paste its text")
        pool = await run_in_threadpool(store.pool, admission.pool)
        sent = await read_apart(
            admission,
            file.content,
            name,
            form.text("format") or RESULTS,
            admission.pool,
            by_name=form.text("players") == "name",
            title=form.stripped("title"),
            start="" if pool.is_undated else form.stripped("started_at"),
            today=pool_header(pool).today,
            every="" if pool.is_undated else form.stripped("every"),
            asks_order=pool.order is None,
            kept="" if form.text("anew") else await run_in_threadpool(kept_map, store, admission.pool, file.name),
            answers=[answer for answer in form.fields.get("answer", ()) if answer],
        )
        if isinstance(sent, Interview):
            keep = partial(keep_waiting, store.engine, admission.owner(FILE), file)
            page = Page(
                "questions.html",
                f"What {name} means",
                pool=pool_header(pool),
                name=name,
                number=number or await run_in(admission.threads.writing, keep),
                interview=sent,
                form={name: form.text(name) for name in CARRIED},
            )
            return render(admission.request, page, status=422 if sent.faults else 200)
    except PodiumError as error:
        page = await run_in_threadpool(upload_page, admission, form)
        page.source, page.error = name, error
        answer = render(admission.request, page, status=status_of(error))
        if isinstance(error, AccessError) and error.retry_after_s:
            answer.headers["Retry-After"] = str(error.retry_after_s)
        return answer
    details: dict[str, Any] = {"rows": sent.rows, "names": dict(sent.names), "made_up": sent.made_up}
    details["details"] = [*sent.details]
    sheet = [sheet_name(name) if file.name else "", sent.map, ""]
    details |= {"sheet": sheet, "made": dict(sent.made)}
    details |= {} if sent.order is None else {"order": sent.order}
    return await look_at_sheet(admission, details, sent.notes)


def kept_map(store: Store, pool: str, name: str) -> str:
    """Return the map that a pool has stored for a file, or an empty string."""
    return next((sheet.map for sheet in store.sheets(pool) if name and sheet.name == sheet_name(name)), "")


async def read_apart(admission: Admission, *sent: Any, **options: Any) -> Upload | Interview:
    """Read an upload in the reading process when its turn comes, while its sender waits."""
    left = threading.Event()
    uploads: UploadProcess = admission.request.app.state.uploads
    turn = uploads.turns.take(admission.pool, admission.key.id)
    async with in_background(note_leaving(admission.request, left)), turn:
        return await run_in(admission.threads.uploading, uploads.read, left, *sent, **options)


@shows(router, "/events/{event_id}")
def event_form(admission: Admission, form: Form) -> Page:
    """Return a page with an event as an editable table."""
    details = admission.store.event(admission.pool, form.text("event_id"))
    stored = table_of(details)
    return Page(
        "event_form.html",
        f"Correct {details.title or details.event_id}",
        pool=admission.header,
        name=details.title or details.event_id,
        table=stored,
        known=len(stored.lines),  # the form adds empty lines
        empty_lines=EMPTY_LINES,
        when=admission.header.local(details.when),
        statuses=[(status, WORDS.get(status, status)) for status in STATUSES],
        pasted=stored.csv(),
        is_voided=details.status == "voided",
        error="",
    )


@router.post("/events/{event_id}")
async def amend(admission: Admin, event_id: EventId) -> Response:
    """Preview a correction of an event, without storing it."""
    form = await admission.form(MAX_UPLOAD_BYTES)
    pasted, table = form.text("pasted"), table_in(form, event_id)
    content = (pasted or table.csv()).encode()
    try:
        read = await read_apart(admission, content, PASTED, RESULTS, admission.pool, strict=not pasted)
        sent = cast("Upload", read)
        others = {*sent.rows["event_id"]} - {event_id}
        if others:
            raise ParameterError(f"every row must belong to event {event_id}, not {min(others)}")
    except PodiumError as error:
        page = await run_in_threadpool(event_form, admission, form)
        page.error, page.pasted = error, pasted or page.pasted
        page.table = page.table if pasted else table
        return render(admission.request, page, status=status_of(error))
    details = {"event_id": event_id, "rows": sent.rows, "details": [*sent.details]}
    return await look_at(admission, Intent("amend", details), notes=sent.notes)


@router.post("/events/{event_id}/{act}")
async def change_status(admission: Admin, event_id: EventId, act: Literal["void", "unvoid"]) -> Response:
    """Preview voiding an event, or unvoiding it, without storing it."""
    form = await admission.form()
    return await look_at(admission, Intent(act, {"event_id": event_id, "title": form.text("title")}))
