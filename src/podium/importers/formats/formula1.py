"""Formula 1 as in f1db and Ergast: each session of a race is an event, and each driver has a place or a status."""

import re
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any, NamedTuple

from podium.importers import times
from podium.importers.collecting import Collector, Event
from podium.importers.nodes import Node
from podium.importers.times import Duration

DAY = re.compile(r"^\d{4}-\d{2}-\d{2}$")
CLOCK = re.compile(r"^\d{2}:\d{2}(:\d{2})?Z?$")


class Session(NamedTuple):
    pool: str
    results: str  # table or path in a race that has its results
    date: str = "date"  # a session without a date has the race's, at 00:00 UTC
    time: str = "time"
    statuses: Mapping[str, str] = {}  # by word in place of a position
    is_timed: bool = True  # False for qualifying, whose times are from knock-out parts and do not order it


class Result(NamedTuple):
    row: Node
    driver: str
    team: str
    position: str
    millis: str
    time: str


class Races:
    """The events of an import. Rows may come from several files. A time with a sign is a gap to the leader."""

    def __init__(self, collector: Collector, time_of: Callable[[Result, Event], Duration | None]) -> None:
        self.collector, self.time_of = collector, time_of
        self.events: dict[str, Event] = {}
        self._times: dict[str, list[tuple[dict[str, Any], Duration]]] = {}

    def event(self, session: Session, race_id: str, start: Node, race: Node | None) -> Event:
        """Return the event of a session. `start` is the start of its results; `race` has its date."""
        name = f"{race_id}-{session.pool}"
        if name not in self.events:
            self.events[name] = Event(start.file, start.place, name, shared={"pool": session.pool})
            if race is not None:
                add_date(self.events[name], session, race)
        return self.events[name]

    def add(self, event: Event, session: Session, result: Result) -> None:
        """Add a driver with a place or a status. If a driver shared two cars, only the first row counts."""
        place = result.row.place
        if any(row["player"] == result.driver for row in event.rows):
            self.collector.drop("shared drive")
            return
        values: dict[str, Any] = {"team": result.team or None}
        has_place, words = is_whole(result.position), session.statuses
        if has_place:
            values |= {"position": float(result.position), "status": "finished"}
        elif result.position in words:
            values["status"] = words[result.position]
        else:
            remedy = f"is neither a place nor one of {', '.join(words)}" if words else "is not a place"
            event.refuse(result.position, remedy, "positionText", place)
        event.add(result.driver, values, place=place)
        time = self.time_of(result, event) if has_place and session.is_timed else None
        if time is not None and time.seconds:
            self._times.setdefault(event.event_id, []).append((event.rows[-1], time))

    def close(self) -> None:
        for name, event in self.events.items():
            finish_times = self._times.get(name, [])
            leader = min((time.seconds for _, time in finish_times if not time.sign), default=None)
            for row, time in finish_times:
                if not time.sign:
                    row["time_s"] = float(time.seconds)
                elif leader is not None:
                    row["time_s"] = float(leader + time.seconds)
            self.collector.take(event)
        self.events, self._times = {}, {}


def add_date(event: Event, session: Session, race: Node) -> None:
    day, clock = race[session.date].cell, race[session.time].cell
    if not day:
        day, clock = race["date"].cell, ""
    if DAY.match(day) and (not clock or CLOCK.match(clock)):
        event.started_at = times.of_iso(f"{day}T{clock.removesuffix('Z') or '00:00'}")
    if event.started_at is None:
        event.refuse(f"{day} {clock}".strip(), "is not a date and time", session.date)


def is_whole(text: str) -> bool:
    return text.isascii() and text.isdigit() and int(text[:15]) > 0


def of_millis(result: Result, column: str, event: Event) -> Duration | None:
    if not is_whole(result.millis):
        event.refuse(result.millis, "must be a whole number of milliseconds above 0", column, result.row.place)
        return None
    return Duration(Decimal(result.millis) / 1000)
