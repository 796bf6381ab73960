"""Import games that a SuperTuxKart server stored, from its SQLite database or from an SQL dump.

Source: `doc/fork/Database specifications.md` of kimden/stk-code, versions 1 to 3 of the table of results.
"""

import re
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import datetime
from itertools import groupby
from typing import Any, NamedTuple

from podium.importers.collecting import Collector, Event
from podium.importers.sources import SQLITE, Source, decode, refuse_file
from podium.importers.stored import connect, quoted
from podium.importers.times import LocalTimes, of_utc

TABLE = re.compile(r"^(?:v[0-9]+_)?(.*)_results$")
GAME_KEY = ("time", "venue", "mode")  # games have no number, but a server ends at most one game per second
NEEDED = ("time", "venue", "mode", "username", "result")
USED = (
    *NEEDED, "visible", "is_quit", "is_not_full", "online_id", "team", "handicap", "game_duration", "when_joined",
    "when_left", "game_event",
)  # fmt: skip
RACES = ("normal", "time-trial", "follow-the-leader")  # SuperTuxKart itself rates these together
CAPTURES = ("ctf", "capture-the-flag")
SCORED_BY_EVENTS = ("soccer", *CAPTURES)
TEAMS = {0: "red", 1: "blue"}
TIME = re.compile(r"^[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}$")
MAX_STEPS = 100_000_000  # maximum number of steps that SQLite's virtual machine may take for a dump
MAX_VALUE_BYTES = 1_000_000
# The actions that a dump needs. A dump must not access other files, or run forever.
DUMP_ACTIONS = frozenset(
    getattr(sqlite3, f"SQLITE_{name}")
    for name in (
        "CREATE_INDEX", "CREATE_TABLE", "CREATE_VIEW", "DELETE", "DROP_INDEX", "DROP_TABLE", "DROP_VIEW", "FUNCTION",
        "INSERT", "READ", "REINDEX", "SELECT", "TRANSACTION", "UPDATE", "ANALYZE", "ALTER_TABLE",
    )
)  # fmt: skip


class Row(NamedTuple):
    place: str
    cells: dict[str, Any]

    def number(self, name: str) -> float | None:
        value = self.cells.get(name)
        try:
            number = float(value) if isinstance(value, int | float | str) else None
        except (ValueError, OverflowError):
            return None
        return number if number is not None and abs(number) < float("inf") else None

    def known(self, name: str) -> float | None:
        """Return the number if it is 0 or more. Negative numbers mean "unknown", so return None for them."""
        number = self.number(name)
        return number if number is not None and number >= 0.0 else None

    @property
    def is_goal(self) -> bool:
        return self.number("game_event") == 1.0

    @property
    def has_left(self) -> bool:
        return 1.0 in (self.number("is_not_full"), self.number("is_quit"))


def read(files: Sequence[Source], collector: Collector) -> None:
    for source in files:
        content = source.content()
        is_database = content.startswith(SQLITE)
        try:
            with connect(content if is_database else b"", source.name) as connection:
                if not is_database:
                    run_dump(connection, source)
                connection.text_factory = lambda raw: raw.decode("utf-8", "surrogateescape")
                read_database(connection, source.name, collector)
        except (sqlite3.Error, sqlite3.Warning) as error:
            refuse_file(source.name, f"cannot be read as an SQLite database ({error})")


def run_dump(connection: sqlite3.Connection, source: Source) -> None:
    """Run a dump in an in-memory database that cannot access anything else."""
    script = decode(source.content(), source.name)
    if "create table" not in script.lower():
        refuse_file(source.name, "is neither an SQLite database nor a dump of one")

    def decide(action: int, *_: Any) -> int:
        if action == sqlite3.SQLITE_PRAGMA:
            return sqlite3.SQLITE_IGNORE
        return sqlite3.SQLITE_OK if action in DUMP_ACTIONS else sqlite3.SQLITE_DENY

    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MAX_VALUE_BYTES)
    connection.set_authorizer(decide)
    connection.set_progress_handler(lambda: 1, MAX_STEPS)
    connection.executescript(script)
    connection.set_authorizer(None)
    connection.set_progress_handler(None, 0)


def read_database(connection: sqlite3.Connection, file: str, collector: Collector) -> None:
    names = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    tables = sorted(name for name in names if TABLE.match(name))
    if not tables:
        remedy = "has no table of results (v%_results). Only kimden's fork of SuperTuxKart stores results."
        refuse_file(file, remedy)
    for table in tables:
        columns = [row[1] for row in connection.execute(f"PRAGMA table_info({quoted(table)})")]
        missing = next((name for name in NEEDED if name not in columns), None)
        if missing is not None:
            refuse_file(file, f"has a table {table} without the column {missing}")
        server = (TABLE.match(table) or [""] * 2)[1]
        # Version 3 stores local times. Earlier versions store SQLite's own times, which are in UTC.
        zone = collector.times if "game_duration" in columns else None
        rows = rows_of(connection, table, [name for name in USED if name in columns])
        for _, rows_of_game in groupby(rows, key=lambda row: [row.cells[name] for name in GAME_KEY]):
            take(list(rows_of_game), server, file, zone, collector)


def rows_of(connection: sqlite3.Connection, table: str, columns: Sequence[str]) -> Iterator[Row]:
    """Yield rows game by game, as they were written or, without a rowid, by time and player.

    SQLite sorts them.
    """
    chosen = ", ".join(map(quoted, columns))
    numbers = {"rowid": "rowid", "row": "row_number() OVER (ORDER BY time, username)"}
    for word, number in numbers.items():
        statement = (
            f"WITH numbered AS (SELECT {number} AS number, {chosen} FROM {quoted(table)}) "  # noqa: S608  (quoted)
            f"SELECT number, {chosen} FROM numbered "
            f"ORDER BY min(number) OVER (PARTITION BY {', '.join(GAME_KEY)}), number"
        )
        try:
            found = connection.execute(statement)
        except sqlite3.OperationalError:
            if word == "row":
                raise
            continue
        for count, *cells in found:
            yield Row(f"table {table}, {word} {count}", dict(zip(columns, cells, strict=True)))
        return


def take(rows: Sequence[Row], server: str, file: str, zone: LocalTimes | None, collector: Collector) -> None:
    shown = [row for row in rows if row.number("visible") != 0.0]
    goals = [row for row in shown if row.is_goal]
    collector.drop("hidden", len(rows) - len(shown))
    collector.drop("game event", len(goals))
    if not shown:
        return
    event = begin(shown[0], server, file, zone)
    players: dict[str, list[Row]] = {}
    for row in shown:
        name = row.cells["username"]
        if row.is_goal:
            continue
        if not isinstance(name, str) or not name.strip():
            event.refuse(name, "must be the name of a player", "username", row.place)
            continue
        is_guest = row.number("online_id") == 0.0 and not name.startswith("* ")
        players.setdefault(f"* {name}" if is_guest else name, []).append(row)
    if not players and not event.faults:
        return
    scores = team_scores(event, [row for own in players.values() for row in own], goals)
    for player, own in players.items():
        add(player, own, scores, event)
    collector.take(event)


def begin(row: Row, server: str, file: str, zone: LocalTimes | None) -> Event:
    time, venue, mode = (row.cells[name] for name in GAME_KEY)
    duration = row.known("game_duration")
    # Version 1 stores only races, with a number for each mode.
    pool = "race" if mode in RACES or isinstance(mode, int) else str(mode)
    shared = {"pool": pool, "mode": str(mode), "duration_s": duration}
    event = Event(file, row.place, f"{server}/{time}/{venue}", shared=shared)
    if not isinstance(mode, str | int) or mode == "":
        event.refuse(mode, "must be the mode of a game", "mode", row.place)
    moment = None
    with suppress(ValueError):
        if isinstance(time, str) and TIME.match(time):
            local = datetime.fromisoformat(time)
            moment = of_utc(local) if zone is None else zone.microseconds(local)
    if moment is None:
        event.refuse(time, "must be a time such as 2026-06-01 18:05:00", "time", row.place)
    else:
        event.started_at = moment - round((duration or 0.0) * 1_000_000)
    return event


def add(player: str, rows: list[Row], scores: dict[str, float], event: Event) -> None:
    """Add a player. In a game for points, add up all the periods during which the player took part."""
    first, last = rows[0], rows[-1]
    is_race = event.shared["pool"] == "race"
    for row in rows[1:] if is_race else ():
        event.refuse(player, "appears twice in one race", "username", row.place)
    for row in rows:
        if row.number("result") is None:
            event.refuse(row.cells["result"], "must be a number", "result", row.place)
    values = race_values(last, event) if is_race else points_values(rows, event)
    if "handicap" in last.cells:
        values["handicap"] = any((row.number("handicap") or 0.0) > 0.0 for row in rows)
    team = last.number("team")
    values["team"] = None if team is None else TEAMS.get(int(team))
    values["team_score"] = scores.get(values["team"] or "")
    event.add(player, values, place=first.place)


def race_values(row: Row, event: Event) -> dict[str, Any]:
    result, played = row.number("result") or 0.0, played_s([row])
    if row.has_left:
        return {"status": "quit", "played_s": result if played is None and result > 0.0 else played}
    if result <= 0.0:
        event.refuse(row.cells["result"], "must be above 0 for a finisher", "result", row.place)
    return {"status": "finished", "time_s": result, "played_s": played}


def points_values(rows: list[Row], event: Event) -> dict[str, Any]:
    left = max((time for row in rows if (time := row.known("when_left")) is not None), default=None)
    duration = event.shared["duration_s"]
    has_quit = left is not None and duration is not None and left < duration
    score = sum(row.number("result") or 0.0 for row in rows)
    return {"status": "quit" if has_quit else "finished", "score": score, "played_s": played_s(rows)}


def played_s(rows: list[Row]) -> float | None:
    spans = [(row.known("when_joined"), row.known("when_left")) for row in rows]
    known = [left - joined for joined, left in spans if joined is not None and left is not None]
    return sum(known) if len(known) == len(rows) else None


def team_scores(event: Event, rows: list[Row], goals: list[Row]) -> dict[str, float]:
    """Return each team's goals or captures, or nothing if they are not stored.

    In soccer, 1 is a goal by the player's team, and -1 is an own goal. In captures, 1 means red, and -1 means blue.
    """
    mode = event.shared["mode"]
    if mode not in SCORED_BY_EVENTS or not any("game_event" in row.cells for row in rows):
        return {}
    if not goals and any(row.number("result") for row in rows):
        return {}
    scores = dict.fromkeys(TEAMS.values(), 0.0)
    for row in goals:
        team, result = row.number("team"), row.number("result") or 0.0
        side = 0 if mode in CAPTURES else team
        if side in TEAMS and result:
            scores[TEAMS[int(side) if result > 0.0 else 1 - int(side)]] += 1.0
    return scores
