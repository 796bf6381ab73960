"""Pages that create, describe, rate, export, close and delete pools."""

import math
from dataclasses import fields
from functools import cache
from tempfile import SpooledTemporaryFile
from typing import Any, cast, get_args
from urllib.parse import quote

from fastapi import Response
from markupsafe import Markup

from podium.engine.system import System, as_setting, kinds
from podium.errors import ParameterError
from podium.ledger.leaderboard import instant
from podium.ledger.point_schemes import SCHEMES, read_scheme
from podium.ledger.reasons.standings import plain
from podium.log.display import TIERS, read_display
from podium.log.pools import NO_DESCRIPTION, DescriptionChanges, Order, Pool, PoolDescription, read_report_rules
from podium.pages.numbers import name_link
from podium.results.names import normalise
from podium.service.admin.forms import Choices, Done, Field, FormsPage, Item, Section, acts, shows
from podium.service.admin.intents import POOL_ADDRESS, Admin, AdminOfAll, Admission, Intent, SignedIn
from podium.service.http.requests import OpenFile, run_in
from podium.service.http.visitors import Form
from podium.service.web.boards import default_listing
from podium.service.web.rendering import PageRouter, PoolHeader, address, pool_header
from podium.store import Store
from podium.store.keys import ROLES
from podium.support.words import counted
from podium.systems import FITS, find, names, outsiders

DATES, NUMBERS = ("dated", "by dates"), ("sequence", "by numbers instead of dates")
ORDERS: Choices = (("", "as in the first results, or as you choose then"), DATES, NUMBERS)
SWITCH: Choices = (("", "no"), ("yes", "yes"))
SCHEME_CHOICES: Choices = (
    ("", "none, or your own below"),
    *((name, f"{name}: {points}") for name, points in SCHEMES.items()),
)
INTERVALS: Choices = (
    ("", "all on one day"), ("1d", "one day"), ("1w", "one week"), ("2w", "two weeks"), ("1mo", "one month"),
)  # fmt: skip
DROP = "drop="
READERS: Choices = (("no", "only with a key"), ("yes", "everybody"))
PREFIX = "set-"  # prefix of the fields for parameters
IN_MEMORY = 1_000_000  # number of bytes of an export to hold in memory
router = PageRouter(include_in_schema=False)


@cache
def system_choices() -> Choices:
    return tuple((known_system.name, known_system.title) for known_system in (*map(find, names()), *outsiders()[0]))


def system_guide() -> Choices:
    return tuple((find(name).title, words) for name, words in FITS.items())


def description_fields(says: PoolDescription, name: str = "its name") -> tuple[Field, ...]:
    contact = "An email address, or the address of a page."
    words, display, rules = says.points_scheme.split(), read_display(says.display), read_report_rules(says.reports)
    scheme = next((word.casefold() for word in words if word.casefold() in SCHEMES), "")
    drop = read_scheme(says.points_scheme).drop if words else None
    more = (word for word in words if word.casefold() != scheme and not word.startswith(DROP))
    factor = "" if display.factor == 1.0 else plain(display.factor)
    floor = "" if display.floor == -math.inf else plain(display.floor)
    tiers = (f"{tier}: {plain(least)}{'%' if is_share else ''}" for tier, least, is_share in display.tiers)
    share = f"{rules.share:.0%}".rstrip("%") if says.reports else ""
    hours = "" if rules.hours is None else str(rules.hours)
    standings, scores, reports = "Championship points", "Scale of scores, tiers and IDs", "Results that players report"
    return (
        Field("title", "Title", value=says.title, note=f"If empty, pages show {name}."),
        Field(
            "contact", "Contact for corrections", value=says.contact, most=500,
            example="stewards@example.org", note=contact,
        ),
        Field("player_word", "Word for a single player", value=says.player_word, most=40, example="player"),
        Field(
            "time_zone", "Time zone of dates", value=says.time_zone, example="UTC",
            note="For example: Europe/Berlin.",
        ),
        Field("public", "Who can read", value="yes" if says.public else "no", choices=READERS),
        Field("points_scheme", "Points for places", value=scheme, choices=SCHEME_CHOICES, group=standings),
        Field(
            "points_drop", "Worst results that do not count", value=str(drop or ""), kind="number",
            group=standings,
        ),
        Field(
            "points_more", "Your own points, and other rules", value=" ".join(more), most=500,
            example="10,6,3 teams=2 +pole=1", group=standings,
        ),
        Field(
            "factor", "Multiply scores by", value=factor, kind="number", example="1", group=scores,
        ),
        Field("floor", "Lowest score", value=floor, kind="number", group=scores),
        Field(
            "tiers", "Tiers: one per line, with the score where it begins", kind="lines",
            value="\n".join(tiers), most=1000, example="Bronze: 0\nSilver: 1400", group=scores,
        ),
        Field(
            "ids", "Show readers the IDs of players", value="yes" if display.shows_ids else "",
            choices=SWITCH, group=scores,
        ),
        Field(
            "reports", "Players can report results", value="yes" if share else "", choices=SWITCH,
            group=reports,
        ),
        Field(
            "share", "Percentage of the others who must confirm", value=share or "50", kind="number",
            group=reports,
        ),
        Field(
            "hours", "Hours until it counts without an objection", value=hours, kind="number",
            example="48", group=reports, note="If empty, it counts only when enough others have confirmed it.",
        ),
    )  # fmt: skip


def description_in(form: Form) -> DescriptionChanges:
    sent = {name: text[-1].strip() for name, text in form.fields.items() if text}
    points = [sent.get("points_scheme", ""), sent.get("points_more", "")]
    points += [f"{DROP}{sent['points_drop']}"] if sent.get("points_drop") else []
    display = [f"{name}={sent[name]}" for name in ("factor", "floor") if sent.get(name)]
    display += ["ids=public"] if sent.get("ids") else []
    display += [TIERS + ",".join(filter(None, sent["tiers"].splitlines()))] if sent.get("tiers") else []
    reports = [f"{sent.get('share', '')}%"] + ([f"{sent['hours']}h"] if sent.get("hours") else [])
    return {
        "title": form.text("title"),
        "contact": form.text("contact"),
        "player_word": form.text("player_word"),
        "time_zone": form.text("time_zone"),
        "public": form.text("public") == "yes",
        "points_scheme": " ".join(points).strip(),
        "display": " ".join(display),
        "reports": " ".join(reports) if sent.get("reports") else "",
    }


@shows(router, "/admin", SignedIn)
def admin_page(admission: Admission, _form: Form) -> FormsPage:
    opened = [pool for pool in admission.store.pools() if admission.key.may(ROLES[0], pool.name)]
    items = tuple(
        Item(
            header.title,
            note=header.system_title + (", closed" if pool.closed else ""),
            address=address("admin", header.name),
            tag="" if header.is_public else "private",
        )
        for pool, header in ((pool, pool_header(pool)) for pool in opened)
    )
    note = () if items else ("No pools yet.",)
    pools = Section("Pools", items=items, notes=note)
    create = Section(
        "Create a pool",
        action="/admin",
        fields=(
            Field("name", "Name, as used in addresses", required=True, example="karts"),
            Field("system", "Rated with", value="adaptive", choices=system_choices()),
            Field("order", "Order of events", choices=ORDERS),
            *description_fields(NO_DESCRIPTION),
        ),
        button="Create pool",
        guide=system_guide(),
        notes=(
            "You can change everything except the name later, and the order as long as there are fewer than 50 events.",
        ),
    )
    sections = (pools, create) if admission.key.may("admin", None) else (pools,)
    return FormsPage("Admin", sections=sections)


@acts(router, "/admin", admin_page, AdminOfAll)
def create(admission: Admission, form: Form) -> Done:
    name, system = normalise(form.text("name")), find(form.text("system"))()
    order = order_word(form.text("order")) if form.text("order") else None
    admission.store.create_pool(name, system, actor=admission.key.name, order=order, **description_in(form))
    sentence = f"The pool {name} is created and rated with {system.title}. Send its first results."
    return Done(address("admin", name), sentence)


@shows(router, POOL_ADDRESS, SignedIn)
def overview(admission: Admission, _form: Form) -> FormsPage:
    """Return a page that shows what the session's key allows in a pool."""
    pool = admission.store.pool(admission.pool)
    header, may_administer = pool_header(pool), admission.may("admin")
    base, events = admission.address(), f"{header.address}/events"

    def item(name: str, path: str, note: str) -> Item:
        return Item(name, address=path if path.startswith("/") else f"{base}/{path}", note=note)

    results = (item("Enter results from a file", "upload", "Or from pasted text. You see the effect first."),)
    log = item("Log", "log", "Who did what, when and why.")
    weekly = (
        item(
            "Enter a result",
            admission.path("tonight"),
            "Tap the names in finishing order, or paste lines from a chat.",
        ),
        item(
            "Plan a race", "races", "Its page shows what each place would be worth. You can change or cancel it there."
        ),
    )
    notes = ("This pool is closed. It can be read but not changed.",) if pool.closed else ()
    if not admission.may("write"):
        sign_in = item("Sign in", "/sign-in", "with a key that can send or correct results.")
        sections = [Section("Your options", notes=(*notes, "Your key can only read this pool."), items=(sign_in,))]
    elif not may_administer:
        sections = [
            Section("Every week", notes=notes, items=weekly, is_large=True),
            Section("Results", items=(*results, log)),
        ]
    else:
        correct = item(
            "Correct or void an event", events, "Choose it in the list of events, then “Correct this event”."
        )
        reported = item("Reported results", "reports", "Give players links to report results. Decide objections.")
        people = (
            item(header.words.capitalize(), "players", "Merge two accounts, rename, or anonymize."),
            item("Begin a season", "seasons", "Keep a part of each lead for a new season."),
            item("System", "system", "The rating system. You see the effect of a change first."),
        )
        access = (
            item("Keys", "keys", "For servers that send results, and for other admins."),
            item("Webhooks", "webhooks", "Send all changes to chats or programs."),
            item("Settings", "settings", "Title, contact, readers, export, closing and deletion."),
        )
        sections = [
            Section("Every week", notes=notes, items=(*weekly, correct), is_large=True),
            Section("Results", items=(*results, log, *((reported,) if pool.description.reports else ()))),
            Section(f"{header.words.capitalize()} and rating", items=people),
            Section("Access and settings", items=access),
        ]
    waiting = tuple(Item(match) for match in admission.store.waiting_matches(pool.name)[:50])
    sections += [Section("Matches waiting for a result", items=waiting)] if waiting else []
    return FormsPage(
        "Admin",
        pool=header,
        heading=f"Administer {header.title}",
        state=state_of(admission.store, pool, header),
        sections=tuple(sections),
        current="Overview",
    )


def state_of(store: Store, pool: Pool, header: PoolHeader) -> tuple[str, ...]:
    """Describe the last result, the next race, and the numbers of players and of waiting reports."""
    last = store.event_list(pool.name, top=1).events
    ahead = store.fixtures(pool.name, ahead=True, most=1)
    waiting = store.count_waiting_reports(pool.name)
    return (
        *(Markup("Last result: {} {}").format(header.event_link(event), header.on(event.when)) for event in last),
        *(
            Markup("Next race: {} {}").format(
                name_link(header.path("matches", race.fixture_id), race.title or race.fixture_id),
                header.on(race.starts_at),
            )
            for race in ahead
        ),
        counted(store.leaderboard(pool.name, default_listing(store, pool), top=1).rated, header.word),
        *([f"{counted(waiting, 'report')} to decide"] if waiting else []),
    )


@shows(router, POOL_ADDRESS + "/settings")
def settings_page(admission: Admission, _form: Form) -> FormsPage:
    """Return the page for a pool's settings, and for exporting, closing and deleting the pool."""
    pool = admission.store.pool(admission.pool)
    base = admission.address()
    says = Section(
        "Description",
        action=f"{base}/settings",
        fields=description_fields(pool.description, pool.name),
        button="Save settings",
        notes=("All changes are recorded in the log.",),
    )
    order = Section(
        "Order of events",
        action=f"{base}/order",
        fields=(
            Field("order", "Events are ordered", value=pool.order or "", choices=(DATES, NUMBERS)),
            Field(
                "started_at",
                "Date of the first event",
                kind="date",
                note="If empty, each event keeps the date it had before, or gets the date on which it was received.",
            ),
            Field("every", "Time between events", choices=INTERVALS),
        ),
        button="Check the changes",
        notes=("You can change this while there are fewer than 50 events.",),
    )
    note = "All results, corrections, settings and names, in a file that Podium can read again."
    file = Item(f"{pool.name}.jsonl", address=f"{base}/export", note=note)
    export = Section("Export", notes=("Everything, for a backup, or for another Podium service.",), items=(file,))
    if not pool.closed:
        notes = ("A closed pool can be read but not changed until it is reopened. Only closed pools can be deleted.",)
        ends = [Section("Close", action=f"{base}/close", button="Close pool", notes=notes, is_severe=True)]
    else:
        ends = [Section("Open again", action=f"{base}/reopen", button="Open pool")]
    if pool.closed and admission.key.may("admin", None):
        again = Field("name", f"Type {pool.name} again", required=True)
        notes = ("This deletes its results, ratings, log and its own keys. Only an export can bring them back.",)
        end = f"{base}/delete"
        title, button = "Delete permanently", "Delete pool"
        ends += [Section(title, action=end, fields=(again,), button=button, notes=notes, is_severe=True)]
    return FormsPage("Settings", pool=pool_header(pool), current="Settings", sections=(says, order, export, *ends))


@acts(router, POOL_ADDRESS + "/settings", settings_page)
def describe(admission: Admission, form: Form) -> Done:
    """Change a pool's description, or whether everyone can read it."""
    now = admission.write(Store.describe_pool, **description_in(form))
    readers = "everybody can" if now.public else "only users with a key can"
    sentence = f"Saved. The pool is called {now.title or admission.pool}, and {readers} read it."
    return Done(admission.address("settings"), sentence)


@acts(router, POOL_ADDRESS + "/order", settings_page)
def set_order(_admission: Admission, form: Form) -> Intent:
    every, started_at = (form.stripped(name) for name in ("every", "started_at"))
    if every and not started_at:
        raise ParameterError("the time between events needs the date of the first event. Add it")
    start = instant(started_at, whole_day=False).isoformat() if started_at else ""
    return Intent("order", {"order": order_word(form.text("order")), "start": start, "every": every})


def order_word(text: str) -> Order:
    if text not in get_args(Order):
        raise ParameterError(f"{text!r} is not an order of events. Choose dated or sequence")
    return cast("Order", text)


@acts(router, POOL_ADDRESS + "/close", settings_page)
def close(admission: Admission, _form: Form) -> Done:
    admission.write(Store.close_pool)
    sentence = "The pool is closed. It can be read but not changed."
    return Done(admission.address("settings"), sentence)


@acts(router, POOL_ADDRESS + "/reopen", settings_page)
def reopen(admission: Admission, _form: Form) -> Done:
    admission.write(Store.reopen_pool)
    return Done(admission.address("settings"), "The pool is open again.")


@acts(router, POOL_ADDRESS + "/delete", settings_page, AdminOfAll)
def delete(admission: Admission, form: Form) -> Done:
    if normalise(form.text("name")) != admission.pool:
        raise ParameterError(f"{form.text('name')!r} is not the pool's name. Type {admission.pool} to delete it")
    admission.store.delete_pool(admission.pool)
    return Done("/admin", f"The pool {admission.pool} and all its data are deleted.")


@router.get(POOL_ADDRESS + "/export")
async def export(admission: Admin) -> Response:
    """Return a pool as a file, in the same form as `podium pool export`."""

    def write() -> "SpooledTemporaryFile[bytes]":  # the file is completed first, because readers may be slow
        file = SpooledTemporaryFile(IN_MEMORY)  # noqa: SIM115  (closed after sending)
        file.writelines(line.encode() for line in admission.store.export_pool(admission.pool))
        file.seek(0)
        return file

    file = await run_in(admission.threads.planning, write)
    headers = {"Content-Disposition": f"attachment; filename*=UTF-8''{quote(admission.pool, safe='')}.jsonl"}
    return OpenFile(file, "application/jsonl", headers)


@shows(router, POOL_ADDRESS + "/system")
def system_page(admission: Admission, form: Form) -> FormsPage:
    """Return the page for a system's parameters.

    The parameters are the pool's own if the system is the pool's, or if no system is named.
    """
    pool, name = admission.store.pool(admission.pool), form.text("system")
    chosen = pool.system if name in ("", pool.system.name) else find(name)()
    path = admission.address("system")
    choose = Section(
        "Choose a system",
        action=path,
        method="get",
        fields=(Field("system", "Rated with", value=chosen.name, choices=system_choices()),),
        button="Show its settings",
        guide=system_guide(),
    )
    note = "All ratings are recalculated, starting with the first event. You see the changes before anything is saved."
    change = Section(
        f"{chosen.title}: settings",
        action=path,
        fields=(Field("system", "", value=chosen.name, hidden=True), *parameter_fields(chosen)),
        button="Check the changes",
        notes=(note,),
    )
    return FormsPage(
        "System",
        pool=pool_header(pool),
        heading=f"Rated with {pool.system.title}",
        current="System",
        sections=(choose, change),
    )


def parameter_fields(system: System) -> tuple[Field, ...]:
    def words(each: Any) -> Choices:
        choices = each.metadata["choices"] or (("true", "false") if bool in kinds(type(system), each) else ())
        return tuple((choice, choice) for choice in choices)

    return tuple(
        Field(
            PREFIX + field.name,
            f"{field.name}: {field.metadata['help']}" + (f" ({unit})" if (unit := field.metadata["unit"]) else ""),
            value=as_setting(getattr(system, field.name)),
            choices=words(field),
        )
        for field in fields(system)
    )


@acts(router, POOL_ADDRESS + "/system", system_page)
def configure(_admission: Admission, form: Form) -> Intent:
    sent = {name.removeprefix(PREFIX): form.stripped(name) for name in form.fields if name.startswith(PREFIX)}
    return Intent("configure", {"system": form.text("system"), "parameters": sent})
