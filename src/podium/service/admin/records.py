"""The pages for a pool's log, players and seasons."""

from datetime import datetime
from typing import Annotated

import polars as pl
from fastapi import Query, Request, Response
from markupsafe import Markup

from podium.errors import ParameterError, PodiumError
from podium.importers import times
from podium.log.log import current_kind
from podium.log.players import IDS
from podium.log.pools import UNDATED, read_when
from podium.pages.numbers import day, percent
from podium.results.names import normalise
from podium.service.admin.dry_run import refusal
from podium.service.admin.forms import Done, Field, FormsPage, Item, Section, acts, shows
from podium.service.admin.intents import POOL_ADDRESS, Admin, Admission, Intent, Sender
from podium.service.http.requests import CurrentStore, run_in
from podium.service.http.visitors import Form
from podium.service.web.rendering import Page, PageRouter, go_on, pool_header, render
from podium.store import Store
from podium.store.writing.anonymizing import COPIES, Anonymization
from podium.views.details import DETAILS
from podium.views.events import EVENT_KINDS

PAGE_ENTRIES = 50
DEEDS = {  # descriptions of log entries, followed by their subject
    "submit": "Received the result",
    "amend": "Corrected",
    "move": "Moved among events with the same time",
    "void": "Voided",
    "unvoid": "Unvoided",
    "register": "Registered the match",
    "plan": "Planned the race",
    "cancel": "Cancelled the race",
    "merge": "Merged",
    "unmerge": "Undid the merge of",
    "rename": "Renamed a player to",
    "anonymize": "Removed the names of",
    "season": "Began the season",
    "configure": "Changed the system",
    "rerate": "Recalculated all ratings with a new version",
    "close": "Closed the pool",
    "reopen": "Opened the pool again",
    "describe": "Changed the description of the pool",
    "redact": "Removed a name from earlier entries",
    "start": "Set the starting rating of",
    "detail": "Changed details of",
    "blank": "Deleted the reason of the entry at place",
}
router = PageRouter(include_in_schema=False)


@router.page(POOL_ADDRESS + "/log")
def log(
    request: Request,
    admission: Sender,
    store: CurrentStore,
    before: Annotated[int | None, Query(ge=1, lt=2**63)] = None,
) -> Response:
    records = store.newest_log(admission.pool, before=before, most=PAGE_ENTRIES)
    page = Page(
        "log.html",
        "Log",
        pool=pool_header(store.pool(admission.pool)),
        current="Log",
        records=records,  # newest first
        of_events=tuple(map(current_kind, EVENT_KINDS)),  # kinds of entries about an event
        deeds=DEEDS,
        next=records[-1].seq if len(records) == PAGE_ENTRIES else None,
    )
    return render(request, page)


@router.post(POOL_ADDRESS + "/log/{seq}/blank")
async def blank_reason(request: Request, admission: Admin, seq: int) -> Response:
    await admission.form()
    try:
        await run_in(admission.threads.writing, admission.write, Store.blank_reason, seq)
    except PodiumError as error:
        return await refusal(admission, error, "Delete a reason")
    return go_on(request, admission.address("log"), f"The reason of entry {seq} is deleted.")


@shows(router, POOL_ADDRESS + "/players")
def players_page(admission: Admission, form: Form) -> FormsPage:
    """Return the forms for changing players. A link can name the player to rename."""
    pool, player = admission.header, "" if "token" in form.fields else form.text("player")
    base, word = admission.address(), pool.word

    def section(heading: str, path: str, button: str, note: str, *needed: tuple[str, str]) -> Section:
        inputs = tuple(
            Field(name, label, required=True, value=player if path == "rename" and name == "player" else "")
            for name, label in needed
        )
        is_severe = path in {"void", "anonymize"}
        return Section(
            heading, action=f"{base}/{path}", fields=inputs, button=button, notes=(note,), is_severe=is_severe
        )

    sections = (
        section(
            f"Merge two accounts of one {word}", "merge", "Check the changes",
            f"All results of both accounts will count for one {word}. You can undo this.",
            ("player", "Account to merge"), ("into", "Account to keep"),
        ),
        section(
            "Undo a merge", "unmerge", "Check the changes",
            "The account becomes separate again, as if it had never been merged.",
            ("player", "Account that was merged"),
        ),
        section(
            f"Void all events of a {word}", "void", "Check the changes",
            f"Events in which the {word} took part will no longer count for anybody.",
            ("player", "Name"),
        ),
        Section(
            f"Set the starting rating of a {word}",
            action=f"{base}/start",
            fields=(
                Field("player", "Name, known or new", required=True),
                Field("rating", "Rating", required=True),
                Field("deviation", "Deviation", note="If the system has one. If empty, it is a newcomer's."),
            ),
            button="Check the changes",
            notes=("It counts before the first event. All later ratings are recalculated.",),
        ),
        Section(
            f"Set details of a {word}",
            action=f"{base}/details",
            fields=(
                Field("player", "Name, known or new", required=True),
                *(Field(name, name.capitalize()) for name in DETAILS),
                *(Field(name, f"{name.capitalize()} ID") for name in IDS),
            ),
            button="Save details",
            notes=("Empty fields do not change. A dash removes a detail. Only admins see IDs.",),
        ),
        section(
            f"Rename a {word}", "rename", "Rename",
            "The name changes everywhere. No rating changes, and results under the old name still count.",
            ("player", "Old name"), ("name", "New name"),
        ),
        section(
            f"Anonymize a {word}", "forget", "Remove every name",
            "All names are deleted permanently, including from titles, IDs and reasons. The results are kept under a "
            f"number. {COPIES}",
            ("player", "Name"), ("again", "Name again"),
        ),
    )  # fmt: skip
    return FormsPage(pool.words.capitalize(), pool=pool, current="Players", sections=sections)


@acts(router, POOL_ADDRESS + "/merge", players_page)
def merge(_admission: Admission, form: Form) -> Intent:
    return Intent("merge", {name: form.stripped(name) for name in ("player", "into")})


@acts(router, POOL_ADDRESS + "/unmerge", players_page)
def unmerge(_admission: Admission, form: Form) -> Intent:
    return Intent("unmerge", {"player": form.stripped("player")})


@acts(router, POOL_ADDRESS + "/void", players_page)
def void_player(_admission: Admission, form: Form) -> Intent:
    return Intent("void_player", {"player": form.stripped("player")})


@acts(router, POOL_ADDRESS + "/start", players_page)
def set_start(_admission: Admission, form: Form) -> Intent:
    return Intent("start", {name: form.stripped(name) or None for name in ("player", "rating", "deviation")})


@acts(router, POOL_ADDRESS + "/details", players_page)
def set_details(admission: Admission, form: Form) -> Done:
    sent = {name: form.stripped(name) for name in ("player", *DETAILS, *IDS)}
    row = {name: "" if text == "-" else text for name, text in sent.items() if text}
    admission.write(Store.set_details, [row])
    return Done(admission.address("players"), f"The details of {sent['player']} are stored.")


@acts(router, POOL_ADDRESS + "/rename", players_page)
def rename(admission: Admission, form: Form) -> Done:
    player, name = form.stripped("player"), normalise(form.text("name"))
    admission.write(Store.rename, player, name)
    return Done(admission.path("players", name), f"{player} is now called {name}.")


@acts(router, POOL_ADDRESS + "/forget", players_page)
def forget(admission: Admission, form: Form) -> Done | FormsPage:
    store, player = admission.store, form.stripped("player")
    if form.stripped("again") != player:
        raise ParameterError("the two names differ. Type the same name twice, because this cannot be undone")
    seen = store.anonymization(admission.pool, player)
    if seen.ids and form.text("ids") != str(len(seen.ids)):
        return ids_page(admission, player, seen)
    name = admission.write(Store.anonymize, player)
    return Done(admission.path("players", name), f"All names are removed. The player is now {name}.")


def ids_page(admission: Admission, player: str, seen: Anonymization) -> FormsPage:
    """Return a page that lists the IDs that contain the name, and asks for confirmation."""
    sent = {"player": player, "again": player, "ids": str(len(seen.ids))}
    fields = tuple(Field(name, "", value=value, hidden=True) for name, value in sent.items())
    ask = Section(
        "These IDs contain the name",
        action=admission.address("forget"),
        fields=fields,
        button="Replace them and remove all names",
        notes=("Senders can still use the old IDs for these events.", str(seen)),
        items=tuple(Item(old, note=f"gets the ID {new}") for old, new in seen.ids.items()),
    )
    return FormsPage(f"Anonymize {player}", pool=admission.header, current="Players", sections=(ask,))


@shows(router, POOL_ADDRESS + "/seasons")
def seasons_page(admission: Admission, _form: Form) -> FormsPage:
    pool = admission.header
    starts = "Number of its first event" if pool.is_undated else f"Start ({pool.zone}), not in the future"
    share = "How much of each lead to keep (%)"
    example = "If newcomers have 1500: with 50, a player at 1700 starts at 1600. With 0, everyone starts level."
    faster = "Less certain ratings move faster in the first events of the season."
    begin = Section(
        "Begin a season",
        action=admission.address("seasons"),
        fields=(
            Field("name", "Name", required=True, example="2026"),
            Field("starts_at", starts, required=True, kind="number" if pool.is_undated else "date"),
            Field("keep", share, required=True, value="50", kind="number", note=example),
            Field("widens", "Ratings become", choices=WIDENS, note=faster),
        ),
        button="Check the changes",
    )
    items = tuple(
        Item(
            season.name,
            note=Markup("{}, {} of each lead kept").format(day(pool.local(season.when)), percent(season.keep)),
        )
        for season in admission.store.seasons(pool.name)
    )
    known = Section("Seasons so far", items=items, notes=() if items else ("No seasons yet.",))
    return FormsPage("Seasons", pool=pool, current="Seasons", sections=(begin, known))


WIDENS = ("yes", "less certain"), ("no", "unchanged")


def as_typed(text: str, today: str) -> str:
    """Convert a date that a person typed, such as today or 28.11.2026, to ISO 8601.

    Return other texts unchanged.
    """
    if text.casefold() == "today":
        return today
    found = [times.by_format(pl.Series([text]), form).item() for form in times.fitting(pl.Series([text]))]
    return found[0].isoformat() if len({*found}) == 1 and found[0] is not None else text


@acts(router, POOL_ADDRESS + "/seasons", seasons_page)
def begin_season(admission: Admission, form: Form) -> Intent:
    try:
        keep = float(form.text("keep")) / 100.0
    except ValueError:
        raise ParameterError("the percentage to keep must be a number from 0 to 100") from None
    order, text = admission.store.order(admission.pool), form.stripped("starts_at")
    header = admission.header
    starts = read_when(order, text if order == UNDATED else as_typed(text, header.today), zone=header.zone)
    when = starts.isoformat() if isinstance(starts, datetime) else starts
    return Intent(
        "season",
        {"name": form.stripped("name"), "starts_at": when, "keep": keep, "widens": form.text("widens") != "no"},
    )
