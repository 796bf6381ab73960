"""Formula 1 since 1950, from a release of f1db: its CSV files in a folder or zip, or its single JSON file.

Source: f1db/f1db, releases `f1db-csv.zip` and `f1db-json-single.zip` (CC BY 4.0).
"""

from collections.abc import Iterable, Sequence

from podium.importers import times
from podium.importers.collecting import Collector, Event
from podium.importers.formats.formula1 import Races, Result, Session, of_millis
from podium.importers.nodes import Node, csv_rows
from podium.importers.sources import Source, decode, refuse_file, stem, strict_json
from podium.importers.times import Duration

STATUSES = {"DNF": "dnf", "NC": "dnf", "DSQ": "disqualified", "EX": "disqualified"} | dict.fromkeys(
    ("DNS", "DNQ", "DNPQ", "DNP"), "did_not_start"
)
RACES = "f1db-races"
COLUMNS = ("driverId", "constructorId", "positionText", "timeMillis", "time")
SESSIONS = {  # by path of the results in a race of the single JSON file
    "raceResults": Session("f1-race", "race-results", "date", "time", STATUSES),
    "sprintRaceResults": Session("f1-sprint", "sprint-race-results", "sprintRaceDate", "sprintRaceTime", STATUSES),
    "qualifyingResults": Session(
        "f1-qualifying", "qualifying-results", "qualifyingDate", "qualifyingTime", STATUSES, is_timed=False
    ),
}


def read(files: Sequence[Source], collector: Collector) -> None:
    found = {stem(source.name).lower(): source for source in reversed(files)}
    single = next((source for source in found.values() if is_json(source)), None)
    races = Races(collector, time_of)
    if RACES in found:
        read_tables(found, races)
    elif single is not None:
        read_single(single, races)
    else:
        refuse_file(files[0].name, "has neither f1db-races.csv nor f1db.json. Give a release of f1db.")


def is_json(source: Source) -> bool:
    return ".json" in source.name.lower()


def document(source: Source) -> Node:
    return Node(strict_json(decode(source.content(), source.name), source.name), "$", source.name)


def rows_of(source: Source, needed: Sequence[str]) -> Iterable[tuple[Node, str]]:
    """Return the rows of a CSV or JSON table, each with a description of its fault, or an empty text."""
    if not is_json(source):
        return csv_rows(source, needed)
    table = document(source)
    if not table.is_list:
        refuse_file(source.name, "is not a table of f1db, because it is not a list")
    return ((row, "" if row.is_object else "is not an object") for row in table)


def read_tables(tables: dict[str, Source], races: Races) -> None:
    known = {race["id"].cell: race for race, _ in rows_of(tables[RACES], ("id", "date"))}
    sessions = [session for session in SESSIONS.values() if f"{RACES}-{session.results}" in tables]
    if not sessions:
        refuse_file(tables[RACES].name, f"has no results next to it. Add {RACES}-race-results.")
    for session in sessions:
        source = tables[f"{RACES}-{session.results}"]
        for row, fault in rows_of(source, ("raceId", "positionText", "driverId", "constructorId")):
            race_id = row["raceId"].cell
            event = races.event(session, race_id, row, known.get(race_id))
            if fault:
                event.refuse(None, fault, place=row.place)
            elif race_id not in known:
                event.refuse(race_id, f"is not a race in {RACES}", "raceId", row.place)
            else:
                add(event, session, row, races)
    races.close()


def read_single(source: Source, races: Races) -> None:
    found = document(source)["races"]
    if not found.is_list:
        refuse_file(source.name, "is not a file of f1db, because it has no list races")
    for race in found:
        if not isinstance(race["id"].value, int | str):
            event = Event(race.file, race.place)
            event.refuse(race["id"].value if race.is_object else race.value, "is not a race with an ID")
            races.collector.refuse(event.faults)
            continue
        for path, session in SESSIONS.items():
            results = race[path]
            if results.value is None:
                continue
            event = races.event(session, str(race["id"].value), results, race)
            if not results.is_list:
                event.refuse_node(results, "must be a list of results")
            for row in results:
                if row.is_object:
                    add(event, session, row, races)
                else:
                    event.refuse_node(row, "is not a result")
        races.close()


def add(event: Event, session: Session, row: Node, races: Races) -> None:
    result = Result(row, *(row[name].cell for name in COLUMNS))
    if result.driver:
        races.add(event, session, result)
    else:
        event.refuse("", "is empty. Every result needs a driver.", "driverId", row.place)


def time_of(result: Result, event: Event) -> Duration | None:
    """Return a finisher's time from its milliseconds. Report a clock time that differs."""
    total = times.parse(result.time)
    if total is not None and total.sign:
        total = None  # a gap instead of a time
    if not result.millis:
        return total
    time = of_millis(result, "timeMillis", event)
    if time is not None and total is not None and total != time:
        remedy = f"differs from the {result.millis} milliseconds of the same result"
        event.refuse(result.time, remedy, "time", result.row.place)
    return time
