"""Formula 1 in the tables of Ergast: its frozen dump as CSV, or the JSON of its interface, which Jolpica still serves.

Source: ergast.com's database guide, and jolpica/jolpica-f1.
"""

from collections.abc import Iterator, Sequence

from podium.importers import times
from podium.importers.collecting import Collector, Event
from podium.importers.formats.f1db import Result, Session, add_driver, date_of, of_millis
from podium.importers.sources import Source, csv_records, refuse_file, stem
from podium.importers.trees import Node, documents

NULL = "\\N"
STATUSES = {
    "R": "dnf", "N": "dnf", "D": "disqualified", "E": "disqualified", "F": "did_not_start", "W": "did_not_start",
}  # fmt: skip


SESSIONS = (
    Session("f1-race", "results", "Results", "date", "time"),
    Session("f1-sprint", "sprint_results", "SprintResults", "sprint_date", "sprint_time", session="Sprint"),
    Session("f1-qualifying", "qualifying", "QualifyingResults", "quali_date", "quali_time", session="Qualifying"),
)
QUALIFYING = SESSIONS[2]


class Heats:
    """The events of an import, whose rows may stand in several files, and their times, of which some are gaps."""

    def __init__(self, collector: Collector) -> None:
        self.collector = collector
        self.events: dict[str, Event] = {}
        self._times: dict[str, list[tuple[int, times.Duration]]] = {}

    def event(self, session: Session, race: str, source: str, place: str) -> tuple[Event, bool]:
        name = f"{race}-{session.pool}"
        new = name not in self.events
        if new:
            self.events[name] = Event(source, place, name, shared={"pool": session.pool})
        return self.events[name], new

    def add(self, session: Session, result: Result, event: Event) -> None:
        statuses = {} if session is QUALIFYING else STATUSES
        add_driver(event, result, statuses, lambda: self._time_s(result, event) if statuses else None, self.collector)

    def _time_s(self, result: Result, event: Event) -> float | None:
        """The time of a finisher; a gap waits for the leader's."""
        time = times.parse(result.time)
        if result.millis:
            seconds = of_millis(result.millis, "milliseconds", result.place, event)
            if seconds is None:
                return None
            time = times.Duration(seconds)
        elif time is None:
            if result.time and not times.is_lapped(result.time):
                event.refuse(result.time, "is no time", "time", result.place)
            return None
        self._times.setdefault(event.event_id, []).append((len(event.rows), time))
        return float(time.seconds) if not time.sign else None

    def close(self) -> None:
        for name, event in self.events.items():
            finish_times = self._times.get(name, [])
            leader = min((time.seconds for _, time in finish_times if not time.sign), default=None)
            for row, time in finish_times:
                if time.sign and leader is not None:
                    event.rows[row]["time_s"] = float(leader + time.seconds)
            self.collector.take(event)


def read(files: Sequence[Source], collector: Collector) -> None:
    heats = Heats(collector)
    tables = {stem(source.name).lower(): source for source in files if not is_json(source)}
    if "races" in tables:
        read_tables(tables, heats)
    elif not any(map(is_json, files)):
        refuse_file(files[0].name, "holds none of Ergast's tables: races.csv is missing")
    for source in filter(is_json, files):
        read_json(source, heats)
    heats.close()


def is_json(source: Source) -> bool:
    return any(suffix in source.name.lower() for suffix in (".json", ".ndjson"))


def read_tables(tables: dict[str, Source], heats: Heats) -> None:
    wanted = [session for session in SESSIONS if session.table in tables]
    needed = ["drivers", "constructors"] if wanted else [SESSIONS[0].table]
    missing = next((name for name in needed if name not in tables), None)
    if missing is not None:
        refuse_file(tables["races"].name, f"needs {missing}.csv beside it")
    races = dict(keyed(tables["races"], "raceId", ("date",)))
    drivers = {key: row["driverRef"] for key, row in keyed(tables["drivers"], "driverId", ("driverRef",))}
    constructors = dict(keyed(tables["constructors"], "constructorId", ("constructorRef",)))
    for session in wanted:
        source = tables[session.table]
        position = "position" if session is QUALIFYING else "positionText"
        for place, raw, uneven in csv_records(source, ("raceId", "driverId", "constructorId", position)):
            cells = without_null(raw)
            race_id, driver, constructor = (cells.get(name, "") for name in ("raceId", "driverId", "constructorId"))
            event, new = heats.event(session, race_id, source.name, place)
            if new and race_id in races:
                date_of(event, session, races[race_id], "date")
            if uneven:
                event.refuse(None, uneven, place=place)
                continue
            for name, key, known in (("raceId", race_id, races), ("driverId", driver, drivers)):
                if key not in known:
                    event.refuse(key, f"is in no row of {name.removesuffix('Id')}s.csv", name, place)
            if constructor and constructor not in constructors:
                event.refuse(constructor, "is in no row of constructors.csv", "constructorId", place)
            if driver in drivers:
                team = constructors.get(constructor, {}).get("constructorRef", "")
                millis, time = cells.get("milliseconds", ""), cells.get("time", "")
                result = Result(place, drivers[driver], team, cells.get(position, ""), millis, time)
                heats.add(session, result, event)


def keyed(source: Source, key: str, columns: Sequence[str]) -> Iterator[tuple[str, dict[str, str]]]:
    for _, raw, _ in csv_records(source, (key, *columns)):
        cells = without_null(raw)
        yield cells.get(key, ""), {name: cells.get(name, "") for name in (*cells, *columns)}


def without_null(cells: dict[str, str]) -> dict[str, str]:
    return {name: "" if cell == NULL else cell.strip() for name, cell in cells.items()}


def read_json(source: Source, heats: Heats) -> None:
    for root in documents(source, heats.collector):
        races = root.get("MRData").get("RaceTable").get("Races")
        if not isinstance(races.value, list):
            refuse_file(source.name, f"is no answer of Ergast's interface: it has no list {races.place}")
        for race in races:
            name = "-".join(race.get(part).text() or "" for part in ("season", "round"))
            for session in SESSIONS:
                if isinstance(race.get(session.key).value, list):
                    read_session(session, name, race, source.name, heats)


def read_session(session: Session, name: str, race: Node, source: str, heats: Heats) -> None:
    event, new = heats.event(session, name, source, race.get(session.key).place)
    if new:
        own = race.get(session.session) if session.session else race
        days = {session.date: own.get("date").text() or "", session.time: own.get("time").text() or ""}
        date_of(event, session, days | {"race": race.get("date").text() or ""}, "race")
    for row in race.get(session.key):
        driver = row.get("Driver").get("driverId")
        if not driver.text():
            event.refuse(driver.value, "must be the id of a driver", place=driver.place)
            continue
        position = row.get("positionText").text() or row.get("position").text() or ""
        team, time = row.get("Constructor").get("constructorId").text() or "", row.get("Time")
        millis, clock = time.get("millis").text() or "", time.get("time").text() or ""
        heats.add(session, Result(row.place, driver.text() or "", team, position, millis, clock), event)
