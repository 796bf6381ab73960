"""Formula 1 since 1950, as a release of f1db has it: its CSV in a folder or a zip, or its single JSON.

Source: f1db/f1db, releases `f1db-csv.zip` and `f1db-json-single.zip` (CC BY 4.0).
"""

import re
from collections.abc import Callable, Iterator, Sequence
from decimal import Decimal
from typing import Any, NamedTuple

from podium.importers import times
from podium.importers.collecting import Collector, Event
from podium.importers.sources import Source, csv_records, decode, refuse_file, stem, strict_json

STATUSES = {"DNF": "dnf", "NC": "dnf", "DSQ": "disqualified", "EX": "disqualified"} | dict.fromkeys(
    ("DNS", "DNQ", "DNPQ", "DNP"), "did_not_start"
)
NEEDED = ("raceId", "positionText", "driverId", "constructorId")


class Session(NamedTuple):
    pool: str
    table: str
    key: str
    date: str
    time: str
    timed: bool = True  # whether its times order it; those of knock-out qualifying do not
    session: str = ""  # the object with date and time in JSON, where it is not the race


SESSIONS = (
    Session("f1-race", "race-results", "raceResults", "date", "time"),
    Session("f1-sprint", "sprint-race-results", "sprintRaceResults", "sprintRaceDate", "sprintRaceTime"),
    Session(
        "f1-qualifying", "qualifying-results", "qualifyingResults", "qualifyingDate", "qualifyingTime", timed=False
    ),
)
RACES = "f1db-races"
DAY = re.compile(r"^\d{4}-\d{2}-\d{2}$")
CLOCK = re.compile(r"^\d{2}:\d{2}(:\d{2})?Z?$")


def read(files: Sequence[Source], collector: Collector) -> None:
    found = {stem(source.name).lower(): source for source in reversed(files)}
    single = next((source for source in found.values() if ".json" in source.name.lower()), None)
    if RACES in found:
        read_tables(found, collector)
    elif single is not None:
        read_single(single, collector)
    else:
        refuse_file(files[0].name, "holds no f1db: neither f1db-races.csv nor f1db.json is there")


def records(source: Source, needed: Sequence[str]) -> Iterator[tuple[str, dict[str, str], str]]:
    """The rows of a table of f1db, as CSV or as JSON: the place of each, its cells, and what is wrong with it."""
    if ".json" not in source.name.lower():
        yield from csv_records(source, needed)
        return
    rows = strict_json(decode(source.content(), source.name), source.name)
    if not isinstance(rows, list):
        refuse_file(source.name, "is no table of f1db: it is no list")
    for number, row in enumerate(rows):
        cells = as_cells(row) if isinstance(row, dict) else {}
        yield f"$[{number}]", cells, "" if isinstance(row, dict) else "is no object"


def read_tables(tables: dict[str, Source], collector: Collector) -> None:
    races = {cells.get("id", ""): cells for _, cells, _ in records(tables[RACES], ("id", "date"))}
    names = {f"{RACES}-{session.table}": session for session in SESSIONS if f"{RACES}-{session.table}" in tables}
    if not names:
        refuse_file(tables[RACES].name, f"stands alone; {RACES}-{SESSIONS[0].table} belongs beside it")
    for name, session in names.items():
        source = tables[name]
        events: dict[str, Event] = {}
        for place, cells, uneven in records(source, NEEDED):
            race_id = cells.get("raceId", "")
            if race_id not in events:
                events[race_id] = begin(session, race_id, races.get(race_id), Event(source.name, place))
            event = events[race_id]
            if uneven:
                event.refuse(None, uneven, place=place)
            elif race_id not in races:
                event.refuse(race_id, f"is no race of {RACES}", "raceId", place)
            else:
                add(session, cells, place, event, collector)
        for event in events.values():
            collector.take(event)


def read_single(source: Source, collector: Collector) -> None:
    document = strict_json(decode(source.content(), source.name), source.name)
    races = document.get("races") if isinstance(document, dict) else None
    if not isinstance(races, list):
        refuse_file(source.name, "is no f1db: it has no list races")
    for number, race in enumerate(races):
        place = f"$.races[{number}]"
        if not isinstance(race, dict) or not isinstance(race.get("id"), int | str):
            event = Event(source.name, place)
            event.refuse(race if not isinstance(race, dict) else race.get("id"), "is no race with an id")
            collector.refuse(event.faults)
            continue
        for session in SESSIONS:
            if race.get(session.key) is not None:
                collector.take(session_of(session, race, Event(source.name, f"{place}.{session.key}"), collector))


def session_of(session: Session, race: dict[str, Any], event: Event, collector: Collector) -> Event:
    begin(session, str(race["id"]), as_cells(race), event)
    rows = race[session.key]
    if not isinstance(rows, list):
        event.refuse(rows, "must be a list of results")
        return event
    for number, row in enumerate(rows):
        place = f"{event.place}[{number}]"
        if isinstance(row, dict):
            add(session, as_cells(row), place, event, collector)
        else:
            event.refuse(row, "is no result", place=place)
    return event


def as_cells(value: dict[str, Any]) -> dict[str, str]:
    """The plain values of an object as texts, nothing for null."""
    return {key: "" if each is None else str(each) for key, each in value.items() if not isinstance(each, dict | list)}


def begin(session: Session, race_id: str, race: dict[str, str] | None, event: Event) -> Event:
    event.event_id, event.shared = f"{race_id}-{session.pool}", {"pool": session.pool}
    if race is not None:
        date_of(event, session, race, "date")
    return event


def date_of(event: Event, session: Session, race: dict[str, str], fallback: str) -> None:
    """Give an event its moment: the session's own, else the day of the race at 00:00 UTC."""
    day, clock = race.get(session.date, ""), race.get(session.time, "")
    if not day:
        day, clock = race.get(fallback, ""), ""
    if DAY.match(day) and (not clock or CLOCK.match(clock)):
        event.started_at = times.of_iso(f"{day}T{clock.removesuffix('Z') or '00:00'}")
    if event.started_at is None:
        event.refuse(f"{day} {clock}".strip(), "is no day and time of its race", session.date)


class Result(NamedTuple):
    place: str
    driver: str
    constructor: str
    position: str
    millis: str
    time: str


def add(session: Session, row: dict[str, str], place: str, event: Event, collector: Collector) -> None:
    names = ("driverId", "constructorId", "positionText", "timeMillis", "time")
    result = Result(place, *(row.get(name, "") for name in names))
    if not result.driver:
        event.refuse("", "is empty; every result needs a driver", "driverId", place)
        return
    add_driver(event, result, STATUSES, lambda: time_s(result, event) if session.timed else None, collector)


def add_driver(
    event: Event, result: Result, statuses: dict[str, str], time: Callable[[], float | None], collector: Collector
) -> None:
    """Add a driver with a place or a status; the first row alone of one who drove two cars."""
    if result.driver in event.players:
        collector.drop("shared drive")
        return
    values: dict[str, Any] = {"team": result.constructor or None}
    if is_whole(result.position):
        values |= {"position": float(result.position), "status": "finished", "time_s": time() or None}
    elif result.position in statuses:
        values["status"] = statuses[result.position]
    else:
        known = f"is neither a place nor one of {', '.join(statuses)}" if statuses else "is no place"
        event.refuse(result.position, known, "positionText", result.place)
    event.add(result.driver, values, place=result.place)


def is_whole(text: str) -> bool:
    return text.isascii() and text.isdigit() and int(text[:15]) > 0


def of_millis(text: str, column: str, place: str, event: Event) -> Decimal | None:
    if not is_whole(text):
        event.refuse(text, "must be a whole number of milliseconds above 0", column, place)
        return None
    return Decimal(text) / 1000


def time_s(result: Result, event: Event) -> float | None:
    """A finisher's time in seconds: of its milliseconds, which its clock time must not contradict."""
    total = times.parse(result.time)
    if total is not None and total.sign:
        total = None  # a gap, where a time was to stand
    if not result.millis:
        return None if total is None else float(total.seconds)
    seconds = of_millis(result.millis, "timeMillis", result.place, event)
    if seconds is not None and total is not None and total.seconds != seconds:
        remedy = f"is not {result.millis} milliseconds, which stand beside it"
        event.refuse(result.time, remedy, "time", result.place)
    return None if seconds is None else float(seconds)
