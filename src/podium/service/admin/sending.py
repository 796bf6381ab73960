"""Uploading results, and correcting those that are stored."""

import threading
from dataclasses import dataclass
from typing import Any, ClassVar

from fastapi import Request, Response
from fastapi.concurrency import run_in_threadpool

from podium.errors import Fault, ParameterError, PodiumError, ResultsError
from podium.service.admin.admission import POOL_ADDRESS, Admin, Admission, Sender
from podium.service.admin.dry_run import look_at
from podium.service.admin.intents import Intent
from podium.service.admin.tables import EventTable, table_in, table_of
from podium.service.admin.upload_process import UploadProcess, note_leaving
from podium.service.admin.uploads import MAX_UPLOAD_BYTES, PASTED, RESULTS, Upload, formats
from podium.service.http.background import in_background
from podium.service.http.paths import EventId
from podium.service.http.problems import status_of
from podium.service.http.stores import CurrentStore
from podium.service.http.threads import Threads, run_in
from podium.service.web.addresses import PageRouter
from podium.service.web.rendering import Page, pool_frame, render
from podium.store import Store

router = PageRouter(prefix=POOL_ADDRESS, include_in_schema=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class UploadPage(Page):
    """Where a file of results is chosen, or its text is pasted."""

    template: ClassVar[str] = "upload.html"

    title: str = "Send results"
    token: str
    formats: tuple[tuple[str, str], ...] = tuple(formats().items())
    chosen: str = RESULTS
    pasted: str = ""  # again, where it was refused
    max_megabytes: int = MAX_UPLOAD_BYTES // 1_000_000
    source: str = ""
    faults: tuple[Fault, ...] = ()
    refusal: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class EventFormPage(Page):
    """An event as a table that can be filled in otherwise."""

    template: ClassVar[str] = "event_form.html"

    token: str
    table: EventTable
    pasted: str
    is_voided: bool
    faults: tuple[Fault, ...] = ()
    refusal: str = ""


@router.page("/upload")
def upload_page(request: Request, admission: Sender, store: CurrentStore) -> Response:
    """The form that takes results."""
    page = UploadPage(pool=pool_frame(store.pool(admission.pool)), token=admission.session.token)
    return render(request, page)


@router.post("/upload")
async def upload(request: Request, admission: Sender, store: CurrentStore) -> Response:
    """Show what a file would do; nothing is stored."""
    form = await admission.form(request, MAX_UPLOAD_BYTES)
    chosen, pasted = form.text("format") or RESULTS, form.text("pasted")
    content, name = (pasted.encode(), PASTED) if form.file is None else (form.file.content, form.file.name)
    try:
        if not content.strip():
            raise ParameterError("choose a file, or paste its text")
        by_name = form.text("players") == "name"
        sent = await read_apart(request, content, name, chosen, admission.pool, by_name=by_name)
    except PodiumError as error:
        pool = await run_in_threadpool(store.pool, admission.pool)
        page = UploadPage(
            pool=pool_frame(pool),
            token=admission.session.token,
            chosen=chosen,
            pasted=pasted,
            source=name,
            faults=error.faults if isinstance(error, ResultsError) else (),
            refusal="" if isinstance(error, ResultsError) else str(error),
        )
        return render(request, page, status=status_of(error))
    intent = Intent("submit", {"rows": sent.rows, "names": dict(sent.names)})
    return await look_at(request, store, admission, intent, notes=sent.notes)


async def read_apart(request: Request, *sent: Any, **options: Any) -> Upload:
    """Read an upload in the process that reads them, until its sender leaves.

    Raises:
        PodiumError: it is refused.
    """
    threads: Threads = request.app.state.threads
    left = threading.Event()
    uploads: UploadProcess = request.app.state.uploads
    async with in_background(note_leaving(request, left)):
        return await run_in(threads.uploading, uploads.read, left, *sent, **options)


@router.page("/events/{event_id}")
def event_form(request: Request, admission: Admin, event_id: EventId, store: CurrentStore) -> Response:
    """An event as it stands, to be corrected."""
    return render(request, event_form_page(store, admission, event_id))


@router.post("/events/{event_id}")
async def amend(request: Request, admission: Admin, event_id: EventId, store: CurrentStore) -> Response:
    """Show what another content of an event would do; nothing is stored."""
    form = await admission.form(request, MAX_UPLOAD_BYTES)
    pasted = form.text("pasted")
    table = table_in(form, event_id)
    content = (pasted or table.csv()).encode()
    try:
        sent = await read_apart(request, content, PASTED, RESULTS, admission.pool, strict=not pasted)
        refuse_other_events(sent, event_id)
    except PodiumError as error:
        filled = None if pasted else table
        page = await run_in_threadpool(
            event_form_page, store, admission, event_id, table=filled, pasted=pasted, error=error
        )
        return render(request, page, status=status_of(error))
    intent = Intent("amend", {"event_id": event_id, "rows": sent.rows})
    return await look_at(request, store, admission, intent, notes=sent.notes)


@router.post("/events/{event_id}/void")
async def void(request: Request, admission: Admin, event_id: EventId, store: CurrentStore) -> Response:
    """Show what it would do if an event counted for nothing; nothing is stored."""
    await admission.form(request)
    return await look_at(request, store, admission, Intent("void", {"event_id": event_id}))


@router.post("/events/{event_id}/restore")
async def restore(request: Request, admission: Admin, event_id: EventId, store: CurrentStore) -> Response:
    """Show what it would do if a voided event counted again; nothing is stored."""
    await admission.form(request)
    return await look_at(request, store, admission, Intent("restore", {"event_id": event_id}))


def event_form_page(
    store: Store,
    admission: Admission,
    event_id: str,
    *,
    table: EventTable | None = None,
    pasted: str = "",
    error: PodiumError | None = None,
) -> EventFormPage:
    """The form of an event: as it is stored, or as it was filled in and refused.

    Raises:
        UnknownError: no such pool or event.
    """
    pool, details = store.pool(admission.pool), store.event(admission.pool, event_id)
    stored = table_of(details)
    return EventFormPage(
        title=f"Correct {event_id}",
        pool=pool_frame(pool),
        token=admission.session.token,
        table=table or stored,
        pasted=pasted or stored.csv(),
        is_voided=details.status == "voided",
        faults=error.faults if isinstance(error, ResultsError) else (),
        refusal="" if error is None or isinstance(error, ResultsError) else str(error),
    )


def refuse_other_events(sent: Upload, event_id: str) -> None:
    """Refuse a correction that is of another event, or of several.

    Raises:
        ParameterError: it is.
    """
    others = {row["event_id"] for row in sent.rows} - {event_id}
    if others:
        raise ParameterError(f"the event of every line is {event_id}, not {min(others)}")
