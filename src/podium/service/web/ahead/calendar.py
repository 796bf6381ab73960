"""The calendar of a pool: the races to come, and those that were planned; for people, and for their calendars."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from fastapi import Request, Response

from podium.service.http.threads import CurrentStore
from podium.service.web.rendering import (
    Page,
    PageRouter,
    PoolHeader,
    address,
    origin_of,
    pool_address,
    pool_header,
    render,
)
from podium.service.web.visiting import VisiblePool
from podium.store.writing.fixtures import CANCELLED, Fixture

router = PageRouter()
CALENDAR_PAST, CALENDAR_MOST = 50, 200


@dataclass(frozen=True, slots=True, kw_only=True)
class CalendarPage(Page):
    """The races to come, and those that were planned."""

    template: ClassVar[str] = "calendar.html"

    title: str = "Calendar"
    ahead: tuple[Fixture, ...]
    others: tuple[Fixture, ...]  # the newest first
    plan_address: str  # where whoever may plans one


@router.pool_page("/calendar")
def calendar(request: Request, visit: VisiblePool, store: CurrentStore) -> Response:
    """The races to come, and those that were planned."""
    ahead = store.fixtures(visit.pool, ahead=True, most=CALENDAR_MOST)
    known = {each.fixture_id for each in ahead}
    others = [
        each for each in store.fixtures(visit.pool, most=CALENDAR_MOST, newest=True) if each.fixture_id not in known
    ]
    pool = pool_header(store.pool(visit.pool))
    page = CalendarPage(
        pool=pool,
        tab="calendar",
        newest_entry=store.version(visit.pool),
        ahead=ahead,
        others=tuple(others[:CALENDAR_PAST]),
        plan_address=address("admin", pool.name, "races") if visit.visitor.may("write", pool.name) else "",
    )
    return render(request, page)


@router.pool_page("/calendar.ics")
def calendar_file(request: Request, visit: VisiblePool, store: CurrentStore) -> Response:
    """The races to come for calendars, by RFC 5545."""
    pool = pool_header(store.pool(visit.pool))
    planned = store.fixtures(visit.pool, most=CALENDAR_MOST, newest=True)
    text = ics(pool, planned, origin_of(request), store.version(visit.pool))
    return Response(text.encode(), media_type="text/calendar; charset=utf-8", headers={"Cache-Control": "no-cache"})


def ics(pool: PoolHeader, planned: Sequence[Fixture], origin: str, version: int) -> str:
    """The text of a calendar; lines end as RFC 5545 has it, and none is longer than 75 octets."""
    lines = ["BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//Podium//Podium//EN", f"NAME:{ics_text(pool.title)}"]
    for each in planned:
        address = f"{origin}{pool_address(pool.name, 'matches', each.fixture_id)}"
        start = f"{each.starts_at:%Y%m%dT%H%M%SZ}"
        lines += [
            "BEGIN:VEVENT",
            f"UID:{ics_text(address)}",
            f"DTSTAMP:{start}",
            f"DTSTART:{start}",
            f"SEQUENCE:{version}",
            f"SUMMARY:{ics_text(each.title or each.fixture_id)}",
            f"URL:{address}",
            f"STATUS:{'CANCELLED' if each.status == CANCELLED else 'CONFIRMED'}",
            "END:VEVENT",
        ]
    return "".join(f"{folded}\r\n" for line in [*lines, "END:VCALENDAR"] for folded in folds(line))


def ics_text(text: str) -> str:
    """A text as a calendar has it."""
    escaped = text.replace("\\", "\\\\").replace(";", "\\;").replace(",", "\\,")
    return escaped.replace("\n", "\\n").replace("\r", "")


MOST_OCTETS = 75


def folds(line: str) -> list[str]:
    """A line in pieces of at most 75 octets, each but the first after a blank."""
    pieces, piece = list[str](), ""
    for letter in line:
        if len((piece + letter).encode()) > MOST_OCTETS:
            pieces.append(piece)
            piece = " "
        piece += letter
    return [*pieces, piece]
