"""Races to come: the calendar, for people and for their calendars; a player's next race; and the stakes that are kept.

One table of stakes at a time is worked out for a pool, and a minute old one may be shown.
"""

import threading
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Final, NamedTuple

from fastapi import Request, Response
from markupsafe import Markup

from podium.errors import PodiumError
from podium.ledger.imagined import TWO, place_words
from podium.ledger.stakes import MOST_EXACT, Stakes
from podium.pages.numbers import Shape, change, minute, named, percent, rating
from podium.service.http.requests import CurrentStore, from_state
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
from podium.store import Store
from podium.store.reading.moments import VersionCache
from podium.store.writing.fixtures import CANCELLED, Fixture
from podium.support.words import counted, shown_change

MOST_AGE_S: Final = 60.0
MOST_TABLES: Final = 256


class Aged(NamedTuple):
    """Stakes, and since when there may be newer results."""

    stakes: Stakes
    age_s: float  # 0 where they are as of now


class KeptStakes:
    """The stakes of races that were looked at lately."""

    def __init__(self) -> None:
        self._tables = VersionCache(most=MOST_TABLES)
        self._turns: defaultdict[str, threading.Lock] = defaultdict(threading.Lock)

    def of_race(
        self, store: Store, pool: str, planned: Fixture, player: str | None, *, heats: int = 1, is_fixture: bool = True
    ) -> Aged:
        """Return the stakes of a race as it is planned, of its first entrant or of a player, at most a minute old.

        Args:
            is_fixture: whether the store knows it by its id; else it is a registered match.
        """
        members = planned.members

        def find() -> Stakes:
            if is_fixture:
                return store.stakes(pool, fixture=planned.fixture_id, player=player, heats=heats)
            return store.stakes(pool, player=player, sides=members, heats=heats)

        return self.find(store, pool, (planned.fixture_id, planned.starts_at, str(members), player, heats), find)

    def find(self, store: Store, pool: str, key: tuple[Any, ...], find: Callable[[], Stakes]) -> Aged:
        """Return the stakes of a race of a pool, at most a minute old.

        Args:
            key: what race, and whose table.
            find: works them out.
        """
        version = store.version(pool)
        found = self._kept(pool, key, version)
        if found is None:
            with self._turns[pool]:
                found = self._kept(pool, key, version)  # by who had the turn before
                if found is None:
                    found = Aged(find(), 0.0)
                    self._tables.keep((pool, key), None, (version, time.monotonic(), found.stakes))
        return found

    def _kept(self, pool: str, key: tuple[Any, ...], version: int) -> Aged | None:
        kept = self._tables.value((pool, key), None, lambda: None)
        if kept is None:
            return None
        of_version, made, table = kept
        age_s = 0.0 if of_version == version else time.monotonic() - made
        return Aged(table, age_s) if age_s <= MOST_AGE_S else None


CurrentStakes = Annotated[KeptStakes, from_state("stakes")]


MOST_AHEAD = 10  # races to come, among which the player's is looked for


@dataclass(frozen=True, slots=True)
class Upcoming:
    """A player's next race."""

    pool: PoolHeader
    race: Fixture
    is_entrant: bool
    stakes: Stakes | None  # None where they take longer than a page may, or there are none
    waits: bool  # whether they take longer

    @property
    def link(self) -> Markup:
        """The race, as a link to its page."""
        address = pool_address(self.pool.name, "matches", self.race.fixture_id)
        return Shape('<a href="{}">{}</a>').format(address, named(self.race.title or self.race.fixture_id))

    def note(self) -> Markup:
        """When it is and who starts, and what it would bring."""
        size = "whoever comes" if self.race.entrants is None else counted(len(self.race.entrants), self.pool.word)
        entered = "" if self.is_entrant or self.race.entrants is None else ", not entered"
        return Shape("{}, {}{}.{}").format(minute(self.race.starts_at), size, entered, self.promise())

    def promise(self) -> str:
        """Which places gain, and what the likeliest brings; empty where that is not known."""
        lines = self.lines()
        if self.stakes is None or not lines:
            return ""
        likeliest = max(lines, key=lambda line: float(line["chance"] or 0.0))
        place, digits = place_words(likeliest["place"], self.stakes.sides), self.stakes.digits
        moved = change(shown_change(likeliest["rating"] - likeliest["delta"], likeliest["rating"], digits), digits)
        return f" {self.stakes.headline()} Likeliest, {percent(likeliest['chance'])}: {place}, {moved}."

    def reach(self, above: float) -> Markup:
        """The least result that brings so high a rating; or what the best one brings."""
        lines = self.lines()
        if self.stakes is None or not lines:
            return Markup("")
        enough = [line for line in lines if line["rating"] >= above]
        line = enough[-1] if enough else lines[0]
        place = place_words(line["place"], self.stakes.sides)
        if self.stakes.sides == TWO:
            what = f"A {place}"
        else:
            what = f"{place} place" + (" or better" if enough and line is not lines[0] else "")
        end = "" if enough else ", which is not enough"
        return Shape("{} in {} would bring {}{}.").format(
            what, self.link, rating(line["rating"], self.pool.digits - 1), end
        )

    def lines(self) -> list[dict[str, Any]]:
        """The lines of the places, the best first."""
        return [] if self.stakes is None else [line for line in self.stakes.lines() if line["place"] is not None]


def upcoming(store: Store, kept: KeptStakes, pool: PoolHeader, player: str, *, draws: bool) -> Upcoming | None:
    """The next race of a player, or of all, if any is planned. `draws` allows what takes longer than a page."""
    ahead = store.fixtures(pool.name, ahead=True, most=MOST_AHEAD)
    own = [each for each in ahead if any(player == starter.player for starter in each.entrants or ())]
    race = next(iter([*own, *ahead]), None)
    if race is None:
        return None
    if not own or len(race.sides) < 2:  # noqa: PLR2004  (nobody to meet)
        return Upcoming(pool, race, bool(own), None, waits=False)
    if len(race.sides) > MOST_EXACT and not draws:
        return Upcoming(pool, race, True, None, waits=True)
    try:
        stakes = kept.of_race(store, pool.name, race, player).stakes
    except PodiumError:  # the page of the race says why
        stakes = None
    return Upcoming(pool, race, True, stakes, waits=False)


router = PageRouter()
CALENDAR_PAST, CALENDAR_MOST = 50, 200


@dataclass(frozen=True, slots=True, kw_only=True)
class CalendarPage(Page, template="calendar.html"):
    """The races to come, and those that were planned."""

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
