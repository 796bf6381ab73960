"""Import Formula 1 results from f1db and Ergast.

Each session of a race is an event, and each driver has a place or a status. Sources: f1db/f1db, releases `f1db-csv.zip`
and `f1db-json-single.zip` (CC BY 4.0), as tables or as one JSON file. Ergast's last dump as tables, or the JSON of its
API, which Jolpica still offers. See ergast.com's database guide and jolpica/jolpica-f1.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Any, NamedTuple

from podium.importers import times
from podium.importers.collecting import Collector, Event
from podium.importers.sources import Source, decode, refuse_file, stem, strict_json
from podium.importers.times import Duration
from podium.importers.trees import Node, csv_rows, documents

DAY = re.compile(r"^\d{4}-\d{2}-\d{2}$")
CLOCK = re.compile(r"^\d{2}:\d{2}(:\d{2})?Z?$")
JSON = (".json", ".ndjson")


class Session(NamedTuple):
    pool: str
    results: str  # path to the results of the session within a race
    date: str = "date"  # a session that has no date gets the race's date at 00:00 UTC
    time: str = "time"
    statuses: Mapping[str, str] = {}  # statuses, by the word in place of a position
    is_timed: bool = True  # False for qualifying, whose times come from knock-out parts and do not determine the order


class Form(NamedTuple):
    """The paths to the values in a row of results, and the tables with races and names."""

    driver: str
    team: str
    place: tuple[str, ...]  # the first path that has a value counts
    millis: str
    time: str
    has_gaps: bool  # True if times may be gaps to the leader
    races: str = ""
    race_id: str = ""  # column of the table of races
    unknown: str = ""  # advice for a race that is missing in the table of races
    # for each table, the columns with the ID in the results and with the public name
    names: Mapping[str, tuple[str, str]] = {}


F1DB_STATUSES = {"DNF": "dnf", "NC": "dnf", "DSQ": "disqualified", "EX": "disqualified"} | dict.fromkeys(
    ("DNS", "DNQ", "DNPQ", "DNP"), "did_not_start"
)
RACES = "f1db-races"
F1DB = Form(
    "driverId", "constructorId", ("positionText",), "timeMillis", "time", has_gaps=False, races=RACES, race_id="id",
    unknown=f"is not a race in {RACES}",
)  # fmt: skip
F1DB_SESSIONS = {  # by results table
    f"{RACES}-race-results": Session("f1-race", "raceResults", "date", "time", F1DB_STATUSES),
    f"{RACES}-sprint-race-results": Session(
        "f1-sprint", "sprintRaceResults", "sprintRaceDate", "sprintRaceTime", F1DB_STATUSES
    ),
    f"{RACES}-qualifying-results": Session(
        "f1-qualifying", "qualifyingResults", "qualifyingDate", "qualifyingTime", F1DB_STATUSES, is_timed=False
    ),
}
STATUSES = {
    "R": "dnf", "N": "dnf", "D": "disqualified", "E": "disqualified", "F": "did_not_start", "W": "did_not_start",
}  # fmt: skip
TABLES = Form(
    "driverId", "constructorId", ("positionText", "position"), "milliseconds", "time", has_gaps=True, races="races",
    race_id="raceId", unknown="is not in races.csv",
    names={"drivers": ("driverId", "driverRef"), "constructors": ("constructorId", "constructorRef")},
)  # fmt: skip
TABLE_SESSIONS = {
    "results": Session("f1-race", "", statuses=STATUSES),
    "sprint_results": Session("f1-sprint", "", "sprint_date", "sprint_time", STATUSES),
    "qualifying": Session("f1-qualifying", "", "quali_date", "quali_time", is_timed=False),
}
ANSWERS = TABLES._replace(
    driver="Driver.driverId", team="Constructor.constructorId", millis="Time.millis", time="Time.time"
)
ANSWER_SESSIONS = (
    Session("f1-race", "Results", statuses=STATUSES),
    Session("f1-sprint", "SprintResults", "Sprint.date", "Sprint.time", STATUSES),
    Session("f1-qualifying", "QualifyingResults", "Qualifying.date", "Qualifying.time", is_timed=False),
)


def read_f1db(files: Sequence[Source], collector: Collector) -> None:
    tables = {stem(source.name).lower(): source for source in reversed(files)}
    single = next((source for source in tables.values() if is_json(source)), None)
    if RACES in tables:
        if F1DB_SESSIONS.keys().isdisjoint(tables):
            refuse_file(tables[RACES].name, f"has no results next to it. Add {RACES}-race-results.")
        read_tables(tables, F1DB, F1DB_SESSIONS, Races(collector))
    elif single is not None:
        read_f1db_document(single, Races(collector))
    else:
        refuse_file(files[0].name, "has neither f1db-races.csv nor f1db.json. Give a release of f1db.")


def read_tables(tables: Mapping[str, Source], form: Form, sessions: Mapping[str, Session], races: "Races") -> None:
    """Read tables of results, adding the dates of their races and the public names of drivers and teams."""
    known = {race[form.race_id].cell: race for race, _ in rows_of(tables[form.races], (form.race_id, "date"))}
    names = {
        key: {row[key].cell: row[name].cell for row, _ in rows_of(tables[table], (key, name))}
        for table, (key, name) in form.names.items()
    }
    for table, session in sessions.items():
        place = form.place[0 if session.statuses else -1]
        for row, fault in rows_of(tables[table], ("raceId", form.driver, form.team, place)) if table in tables else ():
            race_id = row["raceId"].cell
            event = races.event(session, race_id, row, known.get(race_id))
            if fault:
                event.refuse(None, fault, place=row.place)
                continue
            driver, team = row[form.driver].cell, row[form.team].cell
            lacking = [("raceId", race_id, form.unknown)] if race_id not in known else []
            lacking += [
                (key, row[key].cell, f"is not in {other}.csv")
                for other, (key, _) in form.names.items()
                if row[key].cell not in names[key] and (row[key].cell or key == form.driver)
            ]
            for key, value, remedy in lacking:
                event.refuse(value, remedy, key, row.place)
            if not lacking:
                known_drivers, known_teams = (names.get(key, {}) for key in (form.driver, form.team))
                races.add(event, session, form, row, known_drivers.get(driver, driver), known_teams.get(team, team))
    races.close()


def read_f1db_document(source: Source, races: "Races") -> None:
    found = whole_document(source)["races"]
    if not found.is_list:
        refuse_file(source.name, "is not an f1db file, because it has no races list")
    for race in found:
        if isinstance(race["id"].value, int | str):
            read_race(race, str(race["id"].value), F1DB, F1DB_SESSIONS.values(), races)
        else:
            event = Event(race.file, race.place)
            event.refuse(race["id"].value if race.is_object else race.value, "is not a race with an ID")
            races.collector.refuse(event.faults)
    races.close()


def read_race(race: Node, race_id: str, form: Form, sessions: Iterable[Session], races: "Races") -> None:
    """Read a race that contains the results of its sessions."""
    for session in sessions:
        results = race[session.results]
        if results.value is None:
            continue
        event = races.event(session, race_id, results, race)
        if not results.is_list:
            event.refuse_node(results, "must be a list of results")
        for row in results:
            if row.is_object:
                races.add(event, session, form, row, row[form.driver].cell, row[form.team].cell)
            else:
                event.refuse_node(row, "is not a result")


def is_json(source: Source) -> bool:
    return any(suffix in source.name.lower() for suffix in JSON)


def whole_document(source: Source) -> Node:
    return Node(strict_json(decode(source.content(), source.name), source.name), "$", source.name)


def rows_of(source: Source, needed: Sequence[str]) -> Iterable[tuple[Node, str]]:
    """Return the rows of a CSV or JSON table, each with a description of its error, or with an empty string."""
    if not is_json(source):
        return csv_rows(source, needed)
    table = whole_document(source)
    if not table.is_list:
        refuse_file(source.name, "is not an f1db table, because it is not a list")
    return ((row, "" if row.is_object else "is not an object") for row in table)


def read_ergast(files: Sequence[Source], collector: Collector) -> None:
    races = Races(collector)
    answers = [*filter(is_json, files)]
    tables = {stem(source.name).lower(): source for source in files if source not in answers}
    if TABLES.races in tables:
        sessions = {name: session for name, session in TABLE_SESSIONS.items() if name in tables}
        missing = next((name for name in (TABLES.names if sessions else ["results"]) if name not in tables), None)
        if missing is not None:
            refuse_file(tables[TABLES.races].name, f"needs {missing}.csv in the same folder")
        read_tables(tables, TABLES, sessions, races)
    elif not answers:
        refuse_file(files[0].name, "has no races.csv. Give the folder with Ergast's tables.")
    for source in answers:
        for root in documents(source, collector.refuse):
            found = root["MRData.RaceTable.Races"]
            if not found.is_list:
                refuse_file(source.name, f"is not an Ergast API response. It has no list {found.place}")
            for race in found:
                race_id = "-".join(race[part].text or "" for part in ("season", "round"))
                read_race(race, race_id, ANSWERS, ANSWER_SESSIONS, races)
    races.close()


class Races:
    """The events of an import. Their rows may come from several files.

    A time with a sign is a gap to the leader.
    """

    def __init__(self, collector: Collector) -> None:
        self.collector = collector
        self.events: dict[str, Event] = {}
        self._times: dict[str, list[tuple[dict[str, Any], Duration]]] = {}

    def event(self, session: Session, race_id: str, start: Node, race: Node | None) -> Event:
        """Return the event for a session.

        `start` is the start time from the session's results, and `race` contains the race's date.
        """
        name = f"{race_id}-{session.pool}"
        if name not in self.events:
            self.events[name] = Event(start.file, start.place, name, shared={"pool": session.pool})
            if race is not None:
                add_date(self.events[name], session, race)
        return self.events[name]

    def add(self, event: Event, session: Session, form: Form, row: Node, driver: str, team: str) -> None:
        """Add a driver with a place or a status. If a driver used two cars, only the driver's first row counts."""
        if not driver:
            event.refuse("", "is empty. Every result needs a driver.", form.driver, row.place)
            return
        if any(known["player"] == driver for known in event.rows):
            self.collector.drop("shared drive")
            return
        place = next(filter(None, (row[path].cell for path in form.place)), "")
        values: dict[str, Any] = {"team": team or None}
        has_place, words = is_whole(place), session.statuses
        if has_place:
            values |= {"position": float(place), "status": "finished"}
        elif place in words:
            values["status"] = words[place]
        else:
            remedy = f"is neither a place nor one of {', '.join(words)}" if words else "is not a place"
            event.refuse(place, remedy, "positionText", row.place)
        event.add(driver, values, place=row.place)
        time = time_of(event, form, row) if has_place and session.is_timed else None
        if time is not None and time.seconds:
            self._times.setdefault(event.event_id, []).append((event.rows[-1], time))

    def close(self) -> None:
        for name, event in self.events.items():
            finish_times = self._times.get(name, [])
            leader = min((time.seconds for _, time in finish_times if not time.sign), default=None)
            for row, time in finish_times:
                base = leader if time.sign else Decimal(0)
                row["time_s"] = None if base is None else float(base + time.seconds)
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


def time_of(event: Event, form: Form, row: Node) -> Duration | None:
    """Return a finisher's time or gap. Report a time that is invalid or differs from the milliseconds."""
    millis, written = row[form.millis].cell, row[form.time].cell
    total = times.parse(written)
    if total is not None and total.sign and not form.has_gaps:
        total = None
    if not millis:
        if form.has_gaps and total is None and written and not times.is_lapped(written):
            event.refuse(written, "is not a time", "time", row.place)
        return total
    if not is_whole(millis):
        remedy = "must be a whole number of milliseconds above 0"
        event.refuse(millis, remedy, form.millis.replace("Time.millis", "milliseconds"), row.place)
        return None
    time = Duration(Decimal(millis) / 1000)
    if not form.has_gaps and total is not None and total != time:
        remedy = f"differs from the {millis} milliseconds of the same result"
        event.refuse(written, remedy, "time", row.place)
    return time


def is_whole(text: str) -> bool:
    return text.isascii() and text.isdigit() and int(text[:15]) > 0
