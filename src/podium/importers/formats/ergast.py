"""Formula 1 in Ergast's tables: its last dump as CSV, or the JSON of its API, which Jolpica still offers.

Source: ergast.com's database guide, and jolpica/jolpica-f1.
"""

from collections.abc import Sequence

from podium.importers import times
from podium.importers.collecting import Collector, Event
from podium.importers.formats.formula1 import Races, Result, Session, of_millis
from podium.importers.nodes import Node, csv_rows, documents
from podium.importers.sources import Source, refuse_file, stem
from podium.importers.times import Duration

STATUSES = {
    "R": "dnf", "N": "dnf", "D": "disqualified", "E": "disqualified", "F": "did_not_start", "W": "did_not_start",
}  # fmt: skip
TABLES = (
    Session("f1-race", "results", statuses=STATUSES),
    Session("f1-sprint", "sprint_results", "sprint_date", "sprint_time", STATUSES),
    Session("f1-qualifying", "qualifying", "quali_date", "quali_time", is_timed=False),
)
ANSWERS = (
    Session("f1-race", "Results", statuses=STATUSES),
    Session("f1-sprint", "SprintResults", "Sprint.date", "Sprint.time", STATUSES),
    Session("f1-qualifying", "QualifyingResults", "Qualifying.date", "Qualifying.time", is_timed=False),
)
PUBLIC_NAMES = {"drivers": ("driverId", "driverRef"), "constructors": ("constructorId", "constructorRef")}


def read(files: Sequence[Source], collector: Collector) -> None:
    races = Races(collector, time_of)
    answers = [source for source in files if any(suffix in source.name.lower() for suffix in (".json", ".ndjson"))]
    tables = {stem(source.name).lower(): source for source in files if source not in answers}
    if "races" in tables:
        read_tables(tables, races)
    elif not answers:
        refuse_file(files[0].name, "has no races.csv. Give the folder with Ergast's tables.")
    for source in answers:
        read_answers(source, races)
    races.close()


def read_tables(tables: dict[str, Source], races: Races) -> None:
    sessions = [session for session in TABLES if session.results in tables]
    missing = next((name for name in (PUBLIC_NAMES if sessions else ["results"]) if name not in tables), None)
    if missing is not None:
        refuse_file(tables["races"].name, f"needs {missing}.csv in the same folder")
    known = {row["raceId"].cell: row for row, _ in csv_rows(tables["races"], ("raceId", "date"))}
    drivers, teams = (
        {row[key].cell: row[name].cell for row, _ in csv_rows(tables[table], (key, name))}
        for table, (key, name) in PUBLIC_NAMES.items()
    )
    for session in sessions:
        position = "positionText" if session.statuses else "position"
        needed = ("raceId", "driverId", "constructorId", position)
        for row, uneven in csv_rows(tables[session.results], needed):
            race_id, driver, team, place = (row[name].cell for name in needed)
            event = races.event(session, race_id, row, known.get(race_id))
            if uneven:
                event.refuse(None, uneven, place=row.place)
                continue
            if race_id not in known:
                event.refuse(race_id, "is not in races.csv", "raceId", row.place)
            if driver not in drivers:
                event.refuse(driver, "is not in drivers.csv", "driverId", row.place)
            if team and team not in teams:
                event.refuse(team, "is not in constructors.csv", "constructorId", row.place)
            if driver in drivers:
                millis, time = row["milliseconds"].cell, row["time"].cell
                races.add(event, session, Result(row, drivers[driver], teams.get(team, ""), place, millis, time))


def read_answers(source: Source, races: Races) -> None:
    for root in documents(source, races.collector.refuse):
        found = root["MRData.RaceTable.Races"]
        if not found.is_list:
            refuse_file(source.name, f"is not a response of Ergast's API. It has no list {found.place}")
        for race in found:
            name = "-".join(race[part].text or "" for part in ("season", "round"))
            for session in ANSWERS:
                if race[session.results].is_list:
                    event = races.event(session, name, race[session.results], race)
                    for row in race[session.results]:
                        add(event, session, row, races)


def add(event: Event, session: Session, row: Node, races: Races) -> None:
    driver = row["Driver.driverId"]
    if not driver.text:
        event.refuse_node(driver, "must be the ID of a driver")
        return
    place = row["positionText"].cell or row["position"].cell
    rest = (row[path].cell for path in ("Time.millis", "Time.time"))
    races.add(event, session, Result(row, driver.text, row["Constructor.constructorId"].cell, place, *rest))


def time_of(result: Result, event: Event) -> Duration | None:
    """Return a finisher's time, or the gap to the leader."""
    if result.millis:
        return of_millis(result, "milliseconds", event)
    time = times.parse(result.time)
    if time is None and result.time and not times.is_lapped(result.time):
        event.refuse(result.time, "is not a time", "time", result.row.place)
    return time
