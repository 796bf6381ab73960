"""Collect events from a source. Complete events become rows of a results table, and other events are counted."""

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from podium.errors import Fault, ParameterError
from podium.importers.options import Imported, Options
from podium.importers.times import LocalTimes
from podium.results.columns import ALL, TYPES, UTC, normalise_table
from podium.results.consistency import contradictions
from podium.results.names import LONGEST, normalise, refusal

# Extra columns that are used while the table is collected:
FILE, EVENT_PLACE, PLACE, NAME = "file", "place of the event", "place of the row", "name of the player"
CHUNK_ROWS = 100_000  # number of rows in lists before they become a frame, which needs a tenth of the memory
SHOWN_CHARACTERS = 100  # maximum number of characters of a bad value to display
MAX_FAULTS = 10_000  # further errors are only counted


@dataclass(slots=True)
class Event:
    """An event during its reading from a source.

    `started_at` is in microseconds since 1970, and `shared` applies to all rows.
    """

    file: str
    place: str
    event_id: str = ""
    started_at: int | None = None
    shared: dict[str, Any] = field(default_factory=dict)
    rows: list[dict[str, Any]] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)

    def refuse(self, value: object, remedy: str, column: str | None = None, place: str = "") -> None:
        """Report a value that breaks the format's rules. The whole event will be left out."""
        self.faults.append(Fault(None, column, shortened(value), remedy, place or self.place, self.file))

    def add(self, player: str, values: dict[str, Any], *, name: str | None = None, place: str = "") -> None:
        shown = None if name is None else encodable(normalise(name))
        self.rows.append({**values, "player": player, NAME: shown, PLACE: place or self.place})


class Collector:
    def __init__(self, options: Options) -> None:
        self.options, self.times = options, LocalTimes(options.timezone)
        self.dropped: Counter[str] = Counter()
        self._bad: list[Fault] = []
        self._bad_events = 0
        self._rows: list[tuple[Any, ...]] = []
        self._chunks: list[pl.DataFrame] = []
        self.made: dict[str, str] = {}  # event IDs that Podium made, as in `Results.made`
        self._repeats: Counter[str] = Counter()  # by used ID
        self._contents: dict[str, int] = {}  # hash by event ID, to recognize repeated events

    def drop(self, reason: str, count: int = 1) -> None:
        """Count valid records that contain no result."""
        if count:
            self.dropped[reason] += count

    def refuse(self, faults: list[Fault]) -> None:
        """Leave out an event that breaks the format's rules."""
        self._bad += faults[: MAX_FAULTS - len(self._bad)]
        self._bad_events += 1

    def unused_id(self, name: str) -> str:
        """Return a name or, if another event has it, the first of name #2, name #3 and so on that is not taken."""
        unused = name
        while unused in self._contents:
            self._repeats[name] += 1
            unused = f"{name} #{self._repeats[name] + 1}"
        return unused

    def take(self, event: Event) -> None:
        if self.options.forfeits == "drop":
            finishing = [row for row in event.rows if row.get("status") != "quit"]
            self.drop("forfeit", len(event.rows) - len(finishing))
            event.rows = finishing
        if self.options.player == "name" and not event.faults:
            call_by_name(event)
        check_texts(event)
        if event.faults:
            self.refuse(event.faults)
            return
        whole = event.shared | {"event_id": event.event_id, "started_at": event.started_at}
        whole |= {FILE: encodable(event.file), EVENT_PLACE: event.place}
        rows = [tuple(map((whole | row).get, SCHEMA)) for row in event.rows]
        content = hash(tuple(row[: len(ALL)] for row in rows))
        if self._contents.get(event.event_id) == content:
            self.drop("repeated")
        elif event.event_id in self._contents:
            remedy = "appears twice, with different content. Give each event its own ID."
            event.refuse(event.event_id, remedy, "event_id")
            self.refuse(event.faults)
        elif len(rows) < 2:
            self.drop("too few")
        else:
            self._contents[event.event_id] = content
            self._rows += rows
            if len(self._rows) >= CHUNK_ROWS:
                self._flush()

    def _flush(self) -> None:
        frame = pl.DataFrame(self._rows, schema=SCHEMA, orient="row")
        self._chunks.append(frame.with_columns(pl.col("started_at").cast(UTC)))
        self._rows = []
        rows = sum(chunk.height for chunk in self._chunks)
        if self.options.most_rows is not None and rows > self.options.most_rows:
            raise ParameterError(f"the file has more than {self.options.most_rows:,} rows. Send it in parts.")

    def imported(self) -> Imported:
        self._flush()
        table = pl.concat(self._chunks)
        table = self._without_undated(table)
        table = self._without_contradictions(table)
        named = table.filter(pl.col(NAME).is_not_null()).sort("started_at", maintain_order=True, nulls_last=True)
        last = named.group_by("player", maintain_order=True).agg(pl.col(NAME, "event_id").last())
        filled = [name for name in ALL if name in ("event_id", "player") or table[name].null_count() < table.height]
        names = {player: (name, event_id) for player, name, event_id in last.iter_rows()}
        skipped = self._bad_events if self.options.skip_bad else 0
        notes = self.times.notes()
        return Imported(table.select(filled), dict(self.dropped), tuple(self._bad), skipped, names, notes, self.made)

    def _without_undated(self, table: pl.DataFrame) -> pl.DataFrame:
        undated = table["started_at"].is_null()
        if undated.all():
            return table
        first = table.filter(undated).unique("event_id", keep="first", maintain_order=True)
        for event_id, file, place in first.select("event_id", FILE, EVENT_PLACE).iter_rows():
            remedy = "has no date, but other events do. Give every event a date, or none."
            self.refuse([Fault(None, "started_at", event_id, remedy, place, file)])
        return table.filter(~undated)

    def _without_contradictions(self, table: pl.DataFrame) -> pl.DataFrame:
        """Leave out events whose rows contradict each other. Checks report only the first errors, so repeat them."""
        while not table.is_empty():
            filled = (table[name] for name in ALL if table[name].null_count() < table.height)
            checked = normalise_table(pl.DataFrame(filled))
            faults = checked.faults or list(contradictions(checked.frame.drop("ranked", strict=False)))  # all rows
            if not faults:
                break
            found: dict[str, list[Fault]] = {}
            for fault in faults:
                event_id, place, file = table.select("event_id", PLACE, FILE).row((fault.row or 1) - 1)
                found.setdefault(event_id, []).append(fault._replace(row=None, place=place, file=file))
            for own in found.values():
                self.refuse(own)
            table = table.filter(~pl.col("event_id").is_in([*found]))
        return table


SCHEMA: dict[str, Any] = {name: TYPES[name] for name in ALL} | {"started_at": pl.Int64, "handicap": pl.Boolean}
SCHEMA |= dict.fromkeys((FILE, EVENT_PLACE, PLACE, NAME), pl.String)


def encodable(text: str) -> str:
    """Replace unpaired surrogates, which cannot be encoded, with question marks."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def shortened(value: object) -> object:
    text = value if isinstance(value, str) else repr(value)
    return value if len(text) <= SHOWN_CHARACTERS else f"{text[:SHOWN_CHARACTERS]}…"


def call_by_name(event: Event) -> None:
    """Replace player IDs with display names. Report two players in the event who have the same name."""
    ids: dict[str, str] = {}
    for row in event.rows:
        name = row[NAME] or row["player"]
        if ids.setdefault(name, row["player"]) != row["player"]:
            remedy = f"is the name of two players in event {event.event_id}; import players by ID"
            event.refuse(name, remedy, "player", row[PLACE])
        row["player"], row[NAME] = name, None


def check_texts(event: Event) -> None:
    """Report texts that cannot be stored in a results table, and normalize the names of players."""
    texts = [("event_id", event.event_id, event.place)]
    texts += [(name, value, event.place) for name, value in event.shared.items() if isinstance(value, str)]
    for row in event.rows:
        texts += [(name, row[name], row[PLACE]) for name in ("player", "team") if row.get(name) is not None]
    for column, text, place in texts:
        if text.isascii() and text.isprintable() and 0 < len(text) <= LONGEST and text[0] != " " != text[-1]:
            continue
        reason = refusal(normalise(text))
        if reason:
            event.refuse(text, reason, column, place)
    for row in event.rows:
        row["player"] = normalise(row["player"])
