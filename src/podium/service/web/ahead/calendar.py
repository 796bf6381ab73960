"""Upcoming races for calendar programs, and cached tables with the effects of places.

Only one table of effects is calculated at a time. A displayed table may be up to a minute old.
"""

import threading
import time
from collections.abc import Callable, Sequence
from typing import Annotated, Any, Final, NamedTuple

from fastapi import Response

from podium.errors import ParameterError
from podium.ledger.forecast import Member
from podium.ledger.stakes import Stakes
from podium.service.http.errors import BusyError
from podium.service.http.requests import from_state
from podium.service.web import rendering
from podium.service.web.visiting import VisiblePool
from podium.store import Store
from podium.views.races.fixtures import CANCELLED, Fixture

MAX_AGE_S: Final = 60.0
MAX_WAITING: Final = 8  # maximum number of requests that wait for a table or calculate one; each occupies a thread
WAITING_S: Final = 5.0  # chosen so that a table is ready within 10 s
MAX_KEYLESS: Final = 64  # maximum number of players in a table for visitors without a key
BUSY: Final = "Too many people are waiting for forecasts. Look again in a few seconds."


class Aged(NamedTuple):
    """Stakes, and the time for which they have been out of date."""

    stakes: Stakes
    age_s: float  # 0 if there are no newer results


class KeptStakes:
    """The stakes of recently viewed races."""

    def __init__(self) -> None:
        self._turn = threading.Lock()
        self._places = threading.Semaphore(MAX_WAITING)

    def of_race(
        self,
        store: Store,
        pool: str,
        planned: Fixture,
        player: str | Member | None,
        *,
        heats: int = 1,
        is_fixture: bool = True,
        has_key: bool = False,
    ) -> Aged:
        """Return the stakes of a planned race or a registered match. They are at most a minute out of date."""
        refuse_large_field(sum(map(len, planned.members)), has_key=has_key)
        members = planned.members

        def find() -> Stakes:
            if is_fixture:
                return store.stakes(pool, fixture=planned.fixture_id, player=player, heats=heats)
            return store.stakes(pool, player=player, sides=members, heats=heats)

        return self.find(store, pool, (planned.fixture_id, planned.starts_at, str(members), str(player), heats), find)

    def find(self, store: Store, pool: str, key: tuple[Any, ...], find: Callable[[], Stakes]) -> Aged:
        """Return the stakes for the race and player in `key`. They are at most a minute out of date."""
        edition = store.edition(pool)
        found = self._kept(store, pool, key, edition)
        if found is not None:
            return found
        if not self._places.acquire(blocking=False):
            raise BusyError(BUSY)
        try:
            if not self._turn.acquire(timeout=WAITING_S):
                raise BusyError(BUSY)
            try:
                found = self._kept(store, pool, key, edition)  # the previous request has calculated them
                if found is None:
                    found = Aged(find(), 0.0)
                    store.answers.keep(("stakes", pool, key), None, (edition, time.monotonic(), found.stakes))
                return found
            finally:
                self._turn.release()
        finally:
            self._places.release()

    def _kept(self, store: Store, pool: str, key: tuple[Any, ...], edition: str) -> Aged | None:
        kept = store.answers.value(("stakes", pool, key), None, lambda: None)
        if kept is None:
            return None
        of_edition, made, table = kept
        age_s = 0.0 if of_edition == edition else time.monotonic() - made
        return Aged(table, age_s) if age_s <= MAX_AGE_S else None


def refuse_large_field(players: int, *, has_key: bool) -> None:
    """Reject a race that is too large for a visitor without a key."""
    if players > MAX_KEYLESS and not has_key:
        raise ParameterError(
            f"There are {players} players. A table for more than {MAX_KEYLESS} players needs a key. Send a key, or "
            "name fewer players."
        )


CurrentStakes = Annotated[KeptStakes, from_state("stakes")]


router = rendering.PageRouter()
CALENDAR_MOST = 200


@router.pool_page("/calendar.ics")
def calendar_file(visit: VisiblePool) -> Response:
    """Return the upcoming races for calendar programs, in the format of RFC 5545."""
    pool = visit.header
    planned = visit.store.fixtures(visit.pool, most=CALENDAR_MOST, newest=True)
    text = ics(pool, planned, rendering.origin_of(visit.request), visit.store.version(visit.pool))
    return Response(text.encode(), media_type="text/calendar; charset=utf-8")


def ics(pool: rendering.PoolHeader, planned: Sequence[Fixture], origin: str, version: int) -> str:
    """Return the text of a calendar with RFC 5545's line ends, in lines of at most 75 octets."""
    lines = ["BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//Podium//Podium//EN", f"NAME:{ics_text(pool.title)}"]
    for race in planned:
        address = f"{origin}{pool.path('matches', race.fixture_id)}"
        start = f"{race.starts_at:%Y%m%dT%H%M%SZ}"
        lines += [
            "BEGIN:VEVENT",
            f"UID:{ics_text(address)}",
            f"DTSTAMP:{start}",
            f"DTSTART:{start}",
            f"SEQUENCE:{version}",
            f"SUMMARY:{ics_text(race.title or race.fixture_id)}",
            f"URL:{address}",
            f"STATUS:{'CANCELLED' if race.status == CANCELLED else 'CONFIRMED'}",
            "END:VEVENT",
        ]
    return "".join(f"{folded}\r\n" for line in [*lines, "END:VCALENDAR"] for folded in folds(line))


def ics_text(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace(";", "\\;").replace(",", "\\,")
    return escaped.replace("\n", "\\n").replace("\r", "")


MAX_OCTETS = 75


def folds(line: str) -> list[str]:
    """Divide a line into pieces of at most 75 octets. All pieces except the first begin with a space."""
    pieces, piece = list[str](), ""
    for letter in line:
        if len((piece + letter).encode()) > MAX_OCTETS:
            pieces.append(piece)
            piece = " "
        piece += letter
    return [*pieces, piece]
