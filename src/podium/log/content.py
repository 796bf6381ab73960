"""The stored content of an event: its checked rows, each as one line of JSON.

Numbers are read back exactly as they were.
"""

import functools
import json
import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import chain, islice, pairwise, repeat
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from podium.engine.tables.equipment import called, equipment_name
from podium.errors import Fault, ResultsError
from podium.ledger.reasons.standings import plain
from podium.log.log import keyed_digest
from podium.log.pools import DATED, UNDATED, Order, number_at, time_of
from podium.log.statements import instant
from podium.results.columns import ALL, DEFAULTS, FILLED, FOR_PAGES, SHARED, TYPES, Known, is_shared
from podium.results.consistency import SEQUENCE, in_sequence
from podium.results.names import normalise
from podium.results.plain_rows import PlainRows, read_plainly
from podium.results.reading import Results, read_results
from podium.support.immutable import immutable

SCHEMA = {
    name: pl.Int64 if name == "player" else TYPES[name]
    for name in ALL
    if name not in ("pool", SEQUENCE, "started_at", *FOR_PAGES)
}  # columns that are stored elsewhere, or on which ratings do not depend
DEFAULT_POOL = DEFAULTS["pool"]
REPEATED = 4  # with this many repetitions per value on average, each distinct value is encoded only once
JSON_BOOLEANS = {True: "true", False: "false"}
ENCODERS: dict[Any, Callable[[Any], str]] = {pl.Float64: float.__repr__, pl.Boolean: JSON_BOOLEANS.__getitem__}
LOGGED_HANDICAP = "true"  # a handicap of 1, as before handicaps were numbers
encode_text = json.encoder.encode_basestring  # like json.dumps without ensure_ascii
# written separately, as the first and last columns of a row
SEPARATE_COLUMNS = ("event_id", "player")
SLICE_ROWS = 8_192  # rows of a table that are in Python's lists at once
# in a line of JSON; cannot match within a string, as above
PAGE_FIELDS = re.compile(r',"(?:title|url)":"(?:[^"\\]|\\.)*"')
shared_names = re.compile(rb'"(shared:[^"\\]+)":').findall  # in lines of JSON, where texts escape quotes
# columns with the same value in all rows of an event
EVENT_COLUMNS = (SEQUENCE, "event_id", "started_at", "mode", "ranked", "weight")


class Content(NamedTuple):
    """The content of an event: its rows without players, and the players, either as names or as numbers."""

    event_id: str
    order: Order | None  # dated or numbered; None if neither
    started_at: int  # microseconds since 1970, as in `podium.log.pools`; 0 if there is neither
    fields: tuple[str, ...]  # of each row, in JSON: what follows the ID and the date, up to the player
    players: tuple[str, ...]
    title: str | None = None  # only in the first line, as is the address
    url: str | None = None
    sent: "Content | None" = None  # with the names before normalisation, if any changed
    is_placed: bool = False  # True if the store added the date or number
    shared: tuple[dict[str, str], ...] = ()  # names of equipment by column, for each row; empty without equipment

    @property
    def names(self) -> list[str]:
        """The names of players and equipment, in the order of their numbers."""
        return [*self.players, *chain.from_iterable(row.values() for row in self.shared)]

    @property
    def begin(self) -> str:
        """The beginning of each row: the ID, and the date or number."""
        return head_begin(self.event_id, self.order, self.started_at)

    def at(self, order: Order, started_at: int) -> "Content":
        """Return the content. If it was sent without a date or number, add one."""
        if self.order is not None:
            return self
        sent = self.sent and self.sent.at(order, started_at)
        return self._replace(order=order, started_at=started_at, is_placed=True, sent=sent)

    def undated(self) -> "Content":
        """Return the content with its date or number removed."""
        return self._replace(order=None, started_at=0, sent=self.sent and self.sent.undated())

    def renamed(self, event_id: str) -> "Content":
        """Return the content with a different ID."""
        if event_id == self.event_id:
            return self
        return self._replace(event_id=event_id, sent=self.sent and self.sent.renamed(event_id))

    def without_texts(self) -> "Content":
        """Return the content without the texts that pages show."""
        first, *rest = self.fields
        return self._replace(fields=(PAGE_FIELDS.sub("", first), *rest), title=None, url=None)

    def called(self, names: Mapping[str, str]) -> "Content":
        shared = tuple({column: names.get(name, name) for column, name in row.items()} for row in self.shared)
        return self._replace(players=tuple(names.get(name, name) for name in self.players), shared=shared)

    def row(self, number: int) -> dict[str, Any]:
        """Return a row without player and equipment."""
        row: dict[str, Any] = json.loads(f"{self.begin}{self.fields[number]}}}")
        return row

    def quit_lines(self, absent: Iterable["Absent"]) -> str:
        """Return a line for each registered entrant who is missing from the result and so quit in the first heat."""
        lines = ""
        for entrant in absent:
            first = self.row(0)
            row = {name: first[name] for name in (*EVENT_COLUMNS, "heat") if name in first} | {"status": "quit"}
            row |= ({} if entrant.team is None else {"team": entrant.team}) | {"player": entrant.player}
            lines += json.dumps(row, ensure_ascii=False, separators=(",", ":")) + "\n"
        return lines


@immutable
class Absent:
    """A registered entrant who is missing from the result of a match."""

    player: int
    team: str | None


def json_lines(
    contents: Collection[Content], write: Callable[[str], Any], begins: Iterable[str] | None = None
) -> list[str]:
    """Return the lines of JSON of each content, all of which are made at once.

    Args:
        write: function that returns the text or number to write for a player or a piece of equipment.
        begins: for each content, the text with which its lines begin. Default: the ID, and the date or number.
    """
    sizes = [len(content.fields) for content in contents]
    begins = [content.begin for content in contents] if begins is None else begins
    fields = chain.from_iterable(content.fields for content in contents)
    ends: Iterable[Any] = map(write, chain.from_iterable(content.players for content in contents))
    if any(content.shared for content in contents):
        every_shared = chain.from_iterable(content.shared or repeat({}, len(content.fields)) for content in contents)
        equipment = ("".join(f',"{name}":{write(row[name])}' for name in row) for row in every_shared)
        ends = map("{}{}".format, ends, equipment)
    rows = zip(chain.from_iterable(map(repeat, begins, sizes)), fields, ends, strict=True)
    lines = iter([f'{begin}{own_fields},"player":{end}}}\n' for begin, own_fields, end in rows])
    return ["".join(islice(lines, size)) for size in sizes]


def digests_of(contents: Collection[Content], secret: bytes) -> list[bytes]:
    """Return the digest of each content as sent, with names instead of numbers, keyed with the pool's secret."""
    begins = [head_begin(content.event_id, None, 0) if content.is_placed else content.begin for content in contents]
    return [keyed_digest(text.encode(), secret) for text in json_lines(contents, encode_text, begins)]


def check_results(rows: Any, pool: str, known: Known) -> Results:
    """Check results for one pool, and sort them as in the log: by `sequence`, and then in file order.

    Events of other pools are rejected. An event that has no date keeps its number.
    """
    results = read_results(rows, known=known)
    frame = results.frame
    other_pools = frame["pool"].filter(~frame["pool"].is_in([pool, normalise(pool), DEFAULT_POOL]))
    if other_pools.len():
        raise other_pool_error(results.source, other_pools[0], pool)
    sent = None if results.sent is None else as_logged(results.sent)
    return Results(as_logged(frame), results.source, sent)


def as_logged(frame: pl.DataFrame) -> pl.DataFrame:
    """Return the rows sorted by `sequence`. Only events without dates keep this column."""
    if SEQUENCE not in frame.columns:
        return frame
    return in_sequence(frame) if "started_at" in frame.columns else frame.sort(SEQUENCE, maintain_order=True)


def other_pool_error(source: str, name: str, pool: str) -> ResultsError:
    """Return the error for a row that names a different pool from the one to which it was sent."""
    return ResultsError(source, [Fault(None, "pool", name, f"is not {pool}, where the event was sent")])


def read_contents(rows: Any, pool: str, known: Known) -> dict[str, Content]:
    """Check results for one pool as `check_results` does, and return each event's content by ID, in row order."""
    contents = plain_contents(rows, pool)
    return contents_of(check_results(rows, pool, known)) if contents is None else contents


def plain_contents(rows: Any, pool: str) -> dict[str, Content] | None:
    """Return each event's content by ID, in row order, or None unless the rows are simple and valid."""
    plain = rows if isinstance(rows, PlainRows) else read_plainly(rows)
    if plain is None:
        return None
    others = plain.pools - {pool, DEFAULT_POOL}
    if others and isinstance(rows, PlainRows):
        raise other_pool_error("results", min(others), pool)
    return None if others else contents_in([plain.columns])


def contents_of(results: Results) -> dict[str, Content]:
    contents = contents_in(map(column_lists, results.frame.iter_slices(SLICE_ROWS)))
    if results.sent is None:
        return contents
    sent = contents_in(map(column_lists, results.sent.iter_slices(SLICE_ROWS)))
    return {event_id: content._replace(sent=sent[event_id]) for event_id, content in contents.items()}


def column_lists(frame: pl.DataFrame) -> dict[str, list[Any]]:
    """Return the columns of a checked table, with `started_at` in microseconds since 1970."""
    return {column.name: column.to_physical().to_list() for column in frame}


def contents_in(parts: Iterable[Mapping[str, list[Any]]]) -> dict[str, Content]:
    """Return each event's content by ID, in row order. The rows come as columns, in one or more parts."""
    order: Order | None = None
    started_at = dict[str, int]()
    fields, players, shared = (defaultdict[str, list[Any]](list) for _ in range(3))
    texts: dict[str, dict[str, str]] = {name: {} for name in FOR_PAGES}
    for columns in parts:
        order, starts = starts_in(columns)
        others = [
            json_fields(name, columns[name]) for name in SCHEMA if name in columns and name not in SEPARATE_COLUMNS
        ]
        same = dict[str, str]()  # one object for equal texts, which takes less memory
        every_field = [same.setdefault(text, text) for text in map("".join, zip(*others, strict=True))]
        every_player = [same.setdefault(name, name) for name in columns["player"]]
        every_shared = equipment_in(columns)
        for event_id, first, stop in spans_of(columns["event_id"]):
            fields[event_id].extend(every_field[first:stop])
            players[event_id].extend(every_player[first:stop])
            shared[event_id].extend(every_shared[first:stop])
            started_at.setdefault(event_id, starts[first])
        for name in FOR_PAGES:
            if name in columns:
                texts[name] = first_values(columns, name) | texts[name]
    for name, values in texts.items():
        for event_id, value in values.items():
            fields[event_id][0] += f',"{name}":{encode_text(value)}'
    return {
        event_id: Content(
            event_id,
            order,
            start,
            tuple(fields[event_id]),
            tuple(players[event_id]),
            title=texts["title"].get(event_id),
            url=texts["url"].get(event_id),
            shared=tuple(shared[event_id]) if any(shared[event_id]) else (),
        )
        for event_id, start in started_at.items()
    }


def equipment_in(columns: Mapping[str, list[Any]]) -> list[dict[str, str]]:
    """Return each row's equipment by column, under its stored names. The result is empty if no row has equipment."""
    given = [
        (name, [None if name_ is None else equipment_name(name.removeprefix(SHARED), name_) for name_ in values])
        for name, values in sorted(columns.items())
        if is_shared(name)
    ]
    if not given:
        return []
    rows = zip(*(values for _, values in given), strict=True)
    return [{name: value for (name, _), value in zip(given, row, strict=True) if value is not None} for row in rows]


def starts_in(columns: Mapping[str, list[Any]]) -> tuple[Order | None, list[int]]:
    """Return the order (by date or number) of checked rows, and the start of each row in microseconds since 1970."""
    if "started_at" in columns:
        return DATED, columns["started_at"]
    if SEQUENCE in columns:
        times = {number: time_of(number) for number in dict.fromkeys(columns[SEQUENCE])}
        return UNDATED, [times[number] for number in columns[SEQUENCE]]
    return None, [0] * len(columns["event_id"])


@functools.lru_cache(maxsize=1_024)  # the lines and the digests of a batch have the same ones
def head_begin(event_id: str, order: Order | None, started_at: int) -> str:
    """Return the fields of a row up to the date or number, which are the same in all rows of an event.

    Args:
        started_at: Microseconds since 1970, as in `podium.log.pools`.
    """
    number = f'"{SEQUENCE}":{plain(number_at(started_at))},' if order == UNDATED else ""
    date = f',"started_at":"{iso_text(started_at)}"' if order == DATED else ""
    return f'{{{number}"event_id":{encode_text(event_id)}{date}'


def iso_text(microseconds: int) -> str:
    """Return a time as `datetime.isoformat` writes it in UTC, but four times as fast."""
    return f"{str(np.datetime64(microseconds, 'us')).removesuffix('.000000')}+00:00"


def start_in(row: Mapping[str, Any]) -> int:
    """Return the start of a logged row's event, in microseconds since 1970."""
    return time_of(row[SEQUENCE] if SEQUENCE in row else datetime.fromisoformat(row["started_at"]))


def spans_of(ids: Sequence[str]) -> Iterator[tuple[str, int, int]]:
    """Yield each run of rows with the same ID: the ID, the first row, and the row after the last one."""
    begins = [row for row, (one, other) in enumerate(pairwise(ids), start=1) if one != other]
    for first, stop in pairwise([0, *begins, len(ids)]):
        yield ids[first], first, stop


def first_values(columns: Mapping[str, list[Any]], name: str) -> dict[str, str]:
    """Return the first value of a column in each event, by event ID. Events without a value are left out."""
    values: dict[str, str] = {}
    for event_id, value in zip(columns["event_id"], columns[name], strict=True):
        if value is not None:
            values.setdefault(event_id, value)
    return values


def row_set(text: str) -> tuple[str, ...]:
    """Return the sorted rows of an event's content, without the page texts of the first row.

    If the sets are equal, the contents are the same, regardless of the order of their rows.
    """
    first, *rest = text.removesuffix("\n").split("\n")
    return "".join(PAGE_FIELDS.findall(first)), *sorted([PAGE_FIELDS.sub("", first), *rest])


def json_fields(name: str, values: list[Any]) -> list[str]:
    """Return a column's values as JSON fields, each preceded by a comma.

    Nulls and default values become empty strings.
    """
    prefix, default = f',"{name}":', FILLED.get(name)
    encode = encode_handicap if name == "handicap" else ENCODERS.get(TYPES[name], encode_text)
    distinct = {*values}
    if 0.0 in distinct or REPEATED * len(distinct) > len(values):  # -0.0 and 0.0 are equal as keys
        return ["" if value is None or value == default else prefix + encode(value) for value in values]
    fields = {value: "" if value is None or value == default else prefix + encode(value) for value in distinct}
    return [*map(fields.__getitem__, values)]


def encode_handicap(stones: float) -> str:
    return LOGGED_HANDICAP if stones == 1.0 else float.__repr__(stones)


def holds_player_numbers(name: str) -> bool:
    """Return True if a column of logged rows contains numbers instead of names."""
    return name == "player" or is_shared(name)


def lines_of(body: bytes) -> list[dict[str, Any]]:
    """Return the rows of an event's content."""
    return [json.loads(line) for line in body.decode().split("\n") if line]


def numbers_in(rows: Iterable[Mapping[str, Any]]) -> set[int]:
    """Return the numbers of the players and the equipment in rows."""
    return {value for row in rows for name, value in row.items() if holds_player_numbers(name)}


def difference(old: bytes, names: Mapping[int, str], new: Content) -> str:
    """Describe the first difference between new content and the stored lines."""
    old_rows = lines_of(old)
    ends = zip(new.players, new.shared or [{}] * len(new.players), strict=True)
    new_rows = [new.row(number) | {"player": name} | shared for number, (name, shared) in enumerate(ends)]
    for row in old_rows:
        row.update({name: names[row[name]] for name in row if holds_player_numbers(name)})
    if len(old_rows) != len(new_rows):
        return f"it has {len(new_rows)} rows, but had {len(old_rows)}"
    pairs = enumerate(zip(old_rows, new_rows, strict=True))
    first = next((k for k, (old_row, new_row) in pairs if old_row != new_row), 0)
    old_row, new_row = old_rows[first], new_rows[first]
    other = [name for name in {**new_row, **old_row} if new_row.get(name) != old_row.get(name)]
    hint = (
        ""
        if other not in (["started_at"], [SEQUENCE])
        else '; a different event needs its own ID, such as "2027/Round 1"'
    )
    return f"row {first + 1} is {row_text(new_row, other)}, and was {row_text(old_row, other)}{hint}"


def row_text(row: dict[str, Any], other: Sequence[str]) -> str:
    found = {name: row.get(name, "missing") for name in dict.fromkeys(["player", *other])}
    if isinstance(found.get("started_at"), int):
        found["started_at"] = instant(found["started_at"]).isoformat()
    return ", ".join(f"{name} {called(value) if is_shared(name) else value}" for name, value in found.items())
