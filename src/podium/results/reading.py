"""Read results tables from files and frames, and check every cell.

If anything is invalid, the whole table is rejected.
"""

import io
import json
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from podium.errors import CANNOT_BE_READ, SHOWN_FAULTS, Fault, ResultsError
from podium.results.columns import (
    ALL,
    MAX_KINDS,
    NUMBERS,
    REQUIRED,
    TEXTS,
    TYPES,
    Known,
    in_order,
    is_shared,
    none_known,
    normalise_table,
    refuse_wide,
    text_of_number,
)
from podium.results.consistency import contradictions
from podium.results.hashing import Numbered, number_names, number_runs
from podium.results.plain_rows import DELIMITERS, from_csv, read_plainly
from podium.support.addresses import download, is_https
from podium.support.words import counted, table_html

NO_TEXT = (bool, np.bool_, list, tuple, dict, set, frozenset, bytes, bytearray, np.ndarray)
SURROGATE = "contains half of a surrogate pair, which is not text"


class Repeating(dict[str, Any]):
    """A JSON object in which a key appears twice."""

    key: str = ""


def repeated_key(pairs: list[tuple[str, Any]]) -> str | None:
    """Return the first key that appears twice in an object."""
    seen: set[str] = set()
    return next((key for key, _ in pairs if key in seen or seen.add(key)), None)  # type: ignore[func-returns-value]


def from_json(text: str, table_name: str, *, lines: bool) -> pl.DataFrame:
    repeating: list[Repeating] = []

    def make_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        whole = dict(pairs)
        if len(whole) == len(pairs):
            return whole
        marked = Repeating(whole)
        marked.key = repeated_key(pairs) or ""
        repeating.append(marked)
        return marked

    read = json.JSONDecoder(parse_constant=refused_constant, object_pairs_hook=make_object).decode
    rows: list[Any] = []
    try:
        if lines:
            rows.extend(read(line) for line in text.split("\n") if line.strip())
        else:
            rows = read(text)
    except (ValueError, RecursionError) as error:
        line = len(rows) + 1 if lines else None
        raise ResultsError(table_name, [Fault(line, None, None, f"is not JSON ({first_line(error)})")]) from None
    if not isinstance(rows, list):
        raise ResultsError.whole(table_name, "must be an array of objects, one per row")
    if repeating:
        raise ResultsError(table_name, repeated_keys(rows))
    return from_records(rows, table_name)


def repeated_keys(rows: list[Any]) -> Iterator[Fault]:
    """Yield an error for each row in which a key appears twice in an object, at any depth."""
    for number, row in enumerate(rows, start=1):
        for json_object in objects_within(row):
            if isinstance(json_object, Repeating):
                yield Fault(number, shown_name(json_object.key), None, "appears twice in one object")


def objects_within(value: Any) -> Iterator[Any]:
    """Yield the objects within a JSON value, outermost first."""
    waiting = [value]
    while waiting:
        inner = waiting.pop()
        if isinstance(inner, dict):
            yield inner
            waiting.extend(inner.values())
        elif isinstance(inner, list):
            waiting.extend(inner)


def refused_constant(word: str) -> float:
    """Raise an error for NaN or Infinity, which do not exist in JSON."""
    message = f"{word} is not a JSON number"
    raise ValueError(message)


def from_records(rows: list[Any], table_name: str) -> pl.DataFrame:
    for number, row in enumerate(rows, start=1):
        if not isinstance(row, dict):
            raise ResultsError(table_name, [Fault(number, None, None, "must be an object with the columns as names")])
    names = list(dict.fromkeys(name for row in rows for name in row))
    refuse_wide(names, table_name)
    unreadable = [name for name in names if not isinstance(name, str) or shown_name(name) != name]
    if unreadable:
        raise ResultsError(table_name, unknown_columns([shown_name(name) for name in unreadable]))
    return pl.DataFrame([column_of(name, [row.get(name) for row in rows], table_name) for name in names])


def shown_name(name: Any) -> str:
    """Return a column's name in the form for messages."""
    return str(name).encode("utf-8", "backslashreplace").decode()


def column_of(name: str, values: list[Any], table_name: str) -> pl.Series:
    """Return a column of values in their common type.

    If the types differ, return strings, each in its original form.
    """
    kinds = {type(value) for value in values} - {type(None)}
    if name in TEXTS and not kinds <= {str}:
        return texts(name, values, table_name)
    try:
        if name not in NUMBERS or bool not in kinds:
            return pl.Series(name, values, strict=True)
    except UnicodeEncodeError:
        raise ResultsError(table_name, half_pairs(name, values)) from None
    except (TypeError, OverflowError, pl.exceptions.PolarsError):
        pass  # the values have several types
    return pl.Series(name, [None if value is None else shown_name(value) for value in values], pl.String)


def half_pairs(name: str, values: Iterable[Any]) -> Iterator[Fault]:
    """Yield an error for each string that cannot be encoded."""
    for row, value in enumerate(values, start=1):
        if isinstance(value, str) and shown_name(value) != value:
            yield Fault(row, name, None, SURROGATE)


def texts(name: str, values: list[Any], table_name: str) -> pl.Series:
    """Return a column of names in their original form, in which some names may be numbers."""
    faults: list[Fault] = []
    written: list[str | None] = []
    for row, value in enumerate(values, start=1):
        nothing = value is None or (isinstance(value, float) and value != value)  # noqa: PLR0124  (NaN: pandas' empty)
        if isinstance(value, NO_TEXT):
            faults.append(Fault(row, name, value, "is not text; give text or a number"))
        elif isinstance(value, float) and not nothing:
            try:
                written.append(text_of_number(float(value)))
            except ValueError as error:
                faults.append(Fault(row, name, value, str(error)))
        else:
            written.append(None if nothing else str(value))
        if len(faults) > SHOWN_FAULTS:
            break
    faults += half_pairs(name, values)
    if faults:
        raise ResultsError(table_name, faults)
    return pl.Series(name, written, pl.String)


STDIN = "-"
MAX_STDIN_BYTES = 500_000_000
PARQUET_ERRORS = (pl.exceptions.PolarsError, pl.exceptions.PanicException)  # damaged files can cause the second
WORKBOOKS = (b"PK\x03\x04", b"\xd0\xcf\x11\xe0")  # first bytes of .xlsx and .ods files, and of .xls files


@dataclass(frozen=True, slots=True, repr=False)
class Results:
    """A checked results table, with its rows in file order.

    `frame` has the columns that contain values, and always `event_id`, `player`, `pool` and `status`. `sent` is the
    same data with the names as they were sent, or None if every name was already normalized. `notes` describe how a
    table in another layout was read, with one line per note. `made` contains the event IDs that Podium generated, each
    with its round or game number or an empty string. `details` are clubs and other details of players in the table, as
    `Store.set_details` takes them.
    """

    frame: pl.DataFrame
    source: str
    sent: pl.DataFrame | None = None
    notes: tuple[str, ...] = ()
    made: Mapping[str, str] = field(default_factory=dict)
    details: tuple[Mapping[str, str], ...] = ()

    def __repr__(self) -> str:
        events, players = (self.frame[name].n_unique() for name in ("event_id", "player"))
        sizes = counted(self.frame.height, "row"), counted(events, "event"), counted(players, "player")
        return f"Results({self.source}: {', '.join(sizes)})"

    def _repr_html_(self) -> str:
        return table_html(repr(self), self.frame)


def read_results(source: Any, *, name: str | None = None, known: Known = none_known) -> Results:
    return source if isinstance(source, Results) else read_numbered(source, name, known)[0]


def read_numbered(source: Any, name: str | None = None, known: Known = none_known) -> tuple[Results, Numbered]:
    """Read and check results as `read_results` does, and return the event numbers that the check needs anyway."""
    plain = read_plainly(source)
    if plain is not None:
        return Results(frame_of(plain.columns), name or "results"), number_names(plain.columns["event_id"])
    return read_table(source, name, known)


def frame_of(columns: Mapping[str, list[Any]]) -> pl.DataFrame:
    return pl.DataFrame([pl.Series(name, values, TYPES[name], strict=True) for name, values in columns.items()])


def read_table(source: Any, name: str | None, known: Known) -> tuple[Results, Numbered]:
    """Read and check any table, and number its events."""
    frame, table_name = loaded(source, name)
    faults = header_faults(frame)
    if faults:
        raise ResultsError(table_name, faults)
    columns = [frame[column] for column in reversed(in_order(frame.columns))]
    del frame
    whole = []
    while columns:
        whole.append(columns.pop().rechunk())  # makes each column contiguous; the old one is freed before the next
    frame = pl.DataFrame(whole)
    checked, cell_faults, sent = normalise_table(frame, known)
    del frame  # frees the original columns
    refuse(table_name, iter(cell_faults))
    events = number_runs(checked["event_id"])
    refuse(table_name, contradictions(checked, events.code))
    return Results(checked, table_name, sent), events


def refuse(source: str, faults: Iterator[Fault]) -> None:
    """If the table has errors, raise a single error that lists them all."""
    first = next(faults, None)
    if first is not None:
        raise ResultsError(source, chain([first], faults))


def header_faults(frame: pl.DataFrame) -> list[Fault]:
    """Return errors for columns that are unknown, and for required columns that are missing."""
    faults = unknown_columns([column for column in frame.columns if column not in ALL and not is_shared(column)])
    shared = [column for column in frame.columns if is_shared(column)]
    remedy = f"is one kind of equipment too many; a table can have at most {MAX_KINDS}"
    faults += [Fault(None, column, None, remedy) for column in shared[MAX_KINDS:]]
    missing = [column for column in REQUIRED if column not in frame.columns]
    ways = f"; podium.read_results(…, columns={{{missing[0]!r}: …}}) says which column it is" if missing else ""
    renaming = ways if faults else ""
    return faults + [Fault(None, column, None, f"is missing; every row needs it{renaming}") for column in missing]


def unknown_columns(columns: list[str]) -> list[Fault]:
    """Return an error for each column that does not belong in a results table.

    The errors that are displayed include suggestions.
    """
    # leaves two for other errors
    faults = [unknown_column(column) for column in columns[: SHOWN_FAULTS - 2]]
    more = f"{len(columns) - len(faults):,} more columns are unknown; " if len(columns) > len(faults) else ""
    known = f"{more}a results table's columns are {', '.join(ALL)}; read_results(…, ignore='rest') ignores others"
    return [*faults, Fault(None, None, None, known)] if faults else []


def unknown_column(column: str) -> Fault:
    """Return the error for an unknown column, including a suggestion."""
    mark = next((mark for mark in DELIMITERS if mark in column and mark != ","), None)
    if mark is not None:
        remedy = f"is a whole header: its cells are separated by a {DELIMITERS[mark]} instead of a comma"
        return Fault(None, column, None, remedy)
    from podium.results.headings import column_meant_by  # noqa: PLC0415  (most tables do not need these words)

    meaning = column_meant_by(column)
    hint = f"; did you mean {meaning}?" if meaning else ""
    return Fault(None, column, None, f"is not a column of a results table{hint}")


def loaded(source: Any, name: str | None) -> tuple[pl.DataFrame, str]:
    """Return the table without checking it, and its name."""
    if isinstance(source, str | Path):
        return load_path(str(source), name)
    if isinstance(source, pl.LazyFrame):
        return source.collect(), name or "results"
    if isinstance(source, pl.DataFrame):
        return with_types(source, name or "results"), name or "results"
    if hasattr(source, "read"):
        table_name = name or getattr(source, "name", "results")
        return parse_bytes(source.read(), str(table_name)), str(table_name)
    if isinstance(source, list | tuple):
        return from_records(list(source), name or "results"), name or "results"
    return from_any_frame(source, name or "results"), name or "results"


def from_any_frame(source: Any, table_name: str) -> pl.DataFrame:
    """Convert a frame of any type that narwhals supports to Polars."""
    import narwhals as nw  # noqa: PLC0415  (only for frames from other libraries)

    try:
        frame = nw.from_native(source, pass_through=True)
        if not isinstance(frame, nw.DataFrame | nw.LazyFrame):
            if not hasattr(source, "__arrow_c_stream__"):
                table = "its `results`" if hasattr(source, "results") else "a path, a dataframe or rows as dicts"
                raise ResultsError.whole("results", f"a {type(source).__name__} is not a table. Give {table}.")
            frame = nw.from_arrow(source, backend="polars")  # the frame came from batches of Arrow data
        eager = frame.collect() if isinstance(frame, nw.LazyFrame) else frame
        has_twice = len(set(eager.columns)) < len(eager.columns)
    except (nw.exceptions.DuplicateError, pl.exceptions.DuplicateError):
        has_twice = True
    if has_twice:
        raise ResultsError.whole("results", "two columns have the same name")
    try:
        return with_types(eager.to_polars(), table_name)
    except (TypeError, ValueError):  # Arrow raises this for a column with several types
        return pl.DataFrame([column_of(column, eager[column].to_list(), table_name) for column in eager.columns])


def with_types(frame: pl.DataFrame, table_name: str) -> pl.DataFrame:
    """Convert columns of Python objects in the frame to proper types."""
    objects = [column for column, kind in frame.schema.items() if kind == pl.Object]
    return frame.with_columns(column_of(column, frame[column].to_list(), table_name) for column in objects)


def load_path(path: str, name: str | None) -> tuple[pl.DataFrame, str]:
    """Load the table in a file, or from standard input if the path is `-`."""
    if path == STDIN:
        return parse_bytes(standard_input(), "standard input"), "standard input"
    table_name = name or Path(path).name
    refuse_other_source(path)
    try:
        if path.lower().endswith(".parquet"):
            table = pl.scan_parquet(path, glob=False)
            schema = table.collect_schema()
            refuse_wide(schema, table_name)
            # Each column is made contiguous in turn, so that memory holds the chunks of only one column at a time.
            return pl.DataFrame([table.select(name).collect().to_series().rechunk() for name in schema]), table_name
        content = download(path) if is_https(path) else Path(path).read_bytes()
        return parse_bytes(content, table_name), table_name
    except OSError as error:
        remedy = f"{CANNOT_BE_READ} ({error.strerror or error}). Check the path."
    except PARQUET_ERRORS as error:
        remedy = f"is not a Parquet file ({first_line(error)})"
    raise ResultsError.whole(path, remedy)


def standard_input() -> bytes:
    """Return the content of standard input, which could be an endless device."""
    content = sys.stdin.buffer.read(MAX_STDIN_BYTES + 1)
    if len(content) > MAX_STDIN_BYTES:
        remedy = f"has more than {MAX_STDIN_BYTES // 1_000_000} MB. Save it as a file, and name that file."
        raise ResultsError.whole("standard input", remedy)
    return content


def refuse_other_source(path: str) -> None:
    """Raise an error if a web address cannot be read, or if a path is an endless device such as /dev/zero."""
    if "://" in path and not is_https(path) and not path.lower().endswith(".parquet"):
        raise ResultsError.whole(path, "is not an https address. Download the file, and name that.")
    place = Path(path)
    if place.is_char_device() or place.is_block_device():
        raise ResultsError.whole(path, "is a device. Give a file, or - for standard input.")


def first_line(error: BaseException) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]


def parse_parquet(content: bytes, table_name: str) -> pl.DataFrame:
    try:
        refuse_wide(pl.read_parquet_schema(io.BytesIO(content)), table_name)
        return pl.read_parquet(io.BytesIO(content))
    except PARQUET_ERRORS as error:
        raise ResultsError.whole(table_name, f"is not a Parquet file ({first_line(error)})") from None


def parse_bytes(content: bytes, table_name: str) -> pl.DataFrame:
    """Read a table in any format. The first bytes and the file name identify the format."""
    if content.startswith(b"PAR1"):
        return parse_parquet(content, table_name)
    if content.startswith(WORKBOOKS):
        remedy = "is a workbook or an archive, not text; save the sheet as CSV UTF-8, or read it leniently"
        raise ResultsError.whole(table_name, remedy)
    text = content.removeprefix(b"\xef\xbb\xbf")
    try:
        decoded = text.decode()
    except UnicodeDecodeError as error:
        raise ResultsError.whole(table_name, f"is not UTF-8 text (byte {error.start}). Save it as CSV UTF-8.") from None
    start = decoded.lstrip()[:1]
    if table_name.endswith(".json") or start == "[":
        return from_json(decoded, table_name, lines=start == "{")
    if table_name.endswith((".jsonl", ".ndjson")) or start == "{":
        return from_json(decoded, table_name, lines=True)
    if not start:
        raise ResultsError.whole(table_name, "is empty. It needs a header with event_id and player.")
    return from_csv(text, table_name)
