"""An event's content as it is kept: its checked rows, a line of JSON each, whose numbers read back to the same bits."""

import io
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl

from podium.errors import Fault, ResultsError
from podium.results.columns import ALL, NUMBERS, REQUIRED, TRUTHS, Known
from podium.results.event_order import SEQUENCE, in_sequence
from podium.results.names import normalise
from podium.results.reading import Results, read_results
from podium.store.log.log import digest
from podium.store.sql.timestamps import instant

TYPES = {name: pl.Float64 if name in NUMBERS else pl.Boolean if name in TRUTHS else pl.String for name in ALL}
SCHEMA = {
    name: pl.Int64 if name == "player" else TYPES[name] for name in ALL if name not in ("pool", SEQUENCE)
}  # the pool is the log's, and the order of the log is the sequence
UTC = pl.Datetime("us", "UTC")
FEW = 1000  # rows
TRUTH = {True: "true", False: "false"}
SHOWN: dict[pl.DataType, Callable[[Any], str]] = {pl.Float64(): float.__repr__, pl.Boolean(): TRUTH.__getitem__}
QUOTED = json.encoder.encode_basestring  # a text in JSON, as json.dumps has it where it need not be ASCII
USUAL = {"ranked": True, "handicap": False, "weight": 1.0}  # what an event means that does not say
SHARED = ("event_id", "started_at", "mode", "ranked", "weight")  # the same in every row of an event


@dataclass(frozen=True, slots=True)
class Content:
    """One event: each row but for its player, and the players, who are named or numbered when it is written."""

    event_id: str
    started_at: int  # microseconds since 1970, UTC
    heads: tuple[str, ...]  # JSON objects without their last brace
    players: tuple[str, ...]
    sent: "Content | None" = None  # the same with names as they came, where any was not in its normal form

    def digest(self) -> bytes:
        """What tells it from other content: of its names, not of the players' numbers."""
        return digest(b"".join(line(head, name) for head, name in zip(self.heads, self.players, strict=True)))

    def body(self, numbers: Mapping[str, int], absent: Iterable["Absent"] = ()) -> bytes:
        """Its lines with the players' numbers, and a line of a quit for everyone who should have been there."""
        lines = [line(head, numbers[name]) for head, name in zip(self.heads, self.players, strict=True)]
        return b"".join([*lines, *(self.quit_line(each) for each in absent)])

    def quit_line(self, absent: "Absent") -> bytes:
        """The line of a registered entrant whom the result does not have: who quit in the first heat."""
        first = json.loads(self.heads[0] + "}")
        told = {name: first[name] for name in (*SHARED, "heat") if name in first} | {"status": "quit"}
        if absent.team is not None:
            told["team"] = absent.team
        return line(written(told), absent.player)


@dataclass(frozen=True, slots=True)
class Absent:
    """A registered entrant who is not in a result."""

    player: int
    team: str | None


def line(head: str, player: str | int) -> bytes:
    """A row with its player."""
    told = QUOTED(player) if isinstance(player, str) else player
    return f'{head},"player":{told}}}\n'.encode()


def written(row: dict[str, Any]) -> str:
    """A row, without its last brace."""
    return json.dumps(row, ensure_ascii=False, separators=(",", ":"))[:-1]


def checked(rows: Any, pool: str, known: Known) -> Results:
    """Results for one pool, checked, in the order in which they are logged: by `sequence`, then as they came.

    An event may not be in another pool, and must say when it started.

    Args:
        known: see `podium.results.reading.read_results`.

    Raises:
        ResultsError: they are refused; all faults are named.
    """
    results = read_results(rows, known=known)
    frame = results.frame
    if "started_at" not in frame.columns and frame.height:
        raise ResultsError(results.source, [Fault(1, "started_at", None, "is missing; a live event says when it was")])
    other = frame["pool"].filter(~frame["pool"].is_in([pool, normalise(pool), "default"]))
    if other.len():
        raise ResultsError(results.source, [Fault(None, "pool", other[0], f"is not {pool}, where the event was sent")])
    sent = None if results.sent is None else in_sequence(results.sent)
    return Results(in_sequence(frame), results.source, sent)


def contents_of(results: Results) -> dict[str, Content]:
    """Each event's content by its id, in the order of the rows."""
    contents = contents_in(results.frame)
    if results.sent is None:
        return contents
    sent = contents_in(results.sent)
    return {each: replace(content, sent=sent[each]) for each, content in contents.items()}


def contents_in(frame: pl.DataFrame) -> dict[str, Content]:
    """Each event's content by its id, in the order of a checked table's rows."""
    if frame.is_empty():
        return {}
    starts = frame["started_at"].to_physical().to_list()
    moments = {start: f',"started_at":"{instant(start).isoformat()}"' for start in set(starts)}
    cells = [
        [moments[start] for start in starts] if name == "started_at" else pieces(frame[name])
        for name in SCHEMA
        if name in frame.columns and name != "player"
    ]
    heads: dict[str, list[str]] = {}
    told: dict[str, list[str]] = {}
    first: dict[str, int] = {}
    players = frame["player"].to_list()
    for event_id, player, start, *parts in zip(frame["event_id"].to_list(), players, starts, *cells, strict=True):
        heads.setdefault(event_id, []).append("{" + "".join(parts)[1:])
        told.setdefault(event_id, []).append(player)
        first.setdefault(event_id, start)
    return {each: Content(each, first[each], tuple(heads[each]), tuple(told[each])) for each in heads}


def pieces(column: pl.Series) -> list[str]:
    """A column's values as parts of JSON objects, each after a comma; nothing where it is empty or as usual."""
    name, usual = f',"{column.name}":', USUAL.get(column.name)
    shown = SHOWN.get(column.dtype, QUOTED)
    return ["" if value is None or value == usual else name + shown(value) for value in column.to_list()]


def unpacked(events: Iterable[tuple[bytes, int]]) -> pl.DataFrame:
    """The rows of many events, one after the other, as a checked results table has them, but for the pool.

    Args:
        events: the body and the start of each; players are told by number, as text.
    """
    told = list(events)
    text = b"".join(body for body, _ in told)
    sizes = [body.count(b"\n") for body, _ in told]
    columns = few_rows(text) if sum(sizes) <= FEW else many_rows(text)
    starts = np.repeat(np.array([start for _, start in told], np.int64), sizes)
    columns["started_at"] = pl.Series("started_at", starts).cast(UTC)
    for name, value in USUAL.items():
        if 0 < columns[name].null_count() < len(columns[name]):
            columns[name] = columns[name].fill_null(value)
    present = [name for name in SCHEMA if name in REQUIRED or columns[name].null_count() < len(columns[name])]
    return pl.DataFrame([columns[name] for name in present])


def few_rows(text: bytes) -> dict[str, pl.Series]:
    """The columns of lines of JSON; for one event quicker than Polars, which hands the text to another thread."""
    rows = json.loads(b"[" + text[:-1].replace(b"\n", b",") + b"]")  # no line has a newline within
    columns = {name: pl.Series(name, [row.get(name) for row in rows], kind) for name, kind in SCHEMA.items()}
    return columns | {"player": pl.Series("player", [str(row["player"]) for row in rows], pl.String)}


def many_rows(text: bytes) -> dict[str, pl.Series]:
    """The columns of many lines of JSON, read by Polars."""
    frame = pl.read_ndjson(io.BytesIO(text), schema=SCHEMA)
    return {name: frame[name] for name in SCHEMA} | {"player": frame["player"].cast(pl.String)}


def difference(old: bytes, names: Mapping[int, str], new: Content) -> str:
    """Where new content differs first from the lines that are kept, for people."""
    was = [json.loads(each) for each in old.decode().split("\n") if each]
    now = [json.loads(line(head, name)) for head, name in zip(new.heads, new.players, strict=True)]
    for row in was:
        row["player"] = names[row["player"]]
    if len(was) != len(now):
        return f"it has {len(now)} rows, and had {len(was)}"
    row = next((k for k, pair in enumerate(zip(was, now, strict=True)) if pair[0] != pair[1]), 0)
    return f"row {row + 1} is {shown(now[row])}, and was {shown(was[row])}"


def shown(row: dict[str, Any]) -> str:
    """A row, for people."""
    return ", ".join(f"{name} {value}" for name, value in row.items() if name not in ("event_id", "started_at"))
