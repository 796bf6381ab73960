"""Results as they are uploaded or pasted: a file of any format that the importers know, as rows."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import polars as pl

import podium
from podium.errors import ParameterError, ResultsError
from podium.importers.collecting import shortened
from podium.importers.reading import read_format
from podium.importers.registry import FORMATS, Options
from podium.results.columns import DEFAULTS
from podium.service.http.temporary import temporary_folder

MAX_UPLOAD_BYTES = 8_000_000
MAX_COMPRESSED_BYTES = 1_000_000  # which may become a hundred times as large
COMPRESSED = (b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"PK")  # gzip, Zstandard, zip and workbooks
PARQUET = b"PAR1"
MAX_ROWS = 100_000
RESULTS = "results"  # a table, whose headings say what its columns mean
TABLES = "csv"  # the importer's name for the same, by a map
SAFE_MARKS = "._-"
PASTED = "pasted.csv"


@dataclass(frozen=True, slots=True)
class Upload:
    """What a file has of a pool's results."""

    rows: list[dict[str, Any]]
    names: Mapping[str, str]  # what players are called, by the ids that the results have
    notes: tuple[str, ...]  # what was understood or left aside, a line each


def formats() -> dict[str, str]:
    """What a file may be: title by name."""
    known = {name: each.title for name, each in FORMATS.items() if name != TABLES}
    return {RESULTS: "a table of results, as CSV, a workbook, Parquet or JSON", **known}


@contextmanager
def stored(content: bytes, name: str) -> Iterator[Path]:
    """A file in a folder of its own, as long as it is read."""
    with temporary_folder() as folder:
        path = folder / safe_name(name)
        path.write_bytes(content)
        yield path


def read_file(path: Path, name: str, form: str, pool: str, *, by_name: bool = False, strict: bool = False) -> Upload:
    """Read results for a pool.

    Args:
        path: in a folder of its own, by `stored`.
        name: of the file, as its sender calls it.
        form: one of `formats`.
        pool: whose results are taken, where the file has those of several.
        by_name: whether players are called by their names where the file has ids, too.
        strict: whether a table is taken to the letter alone.

    Raises:
        ResultsError: it is refused; its faults name the file as its sender does.
        ParameterError: there is no such format, or the file has no events of that pool, or too many rows.
    """
    if form not in formats():
        raise ParameterError(f"{form!r} is not a format; it is one of {', '.join(formats())}")
    refuse_large(path)
    try:
        if form == RESULTS:
            results = podium.read_results(str(path), lenient=not strict)
            return Upload(rows_of(results.frame), {}, results.notes)
        imported = read_format(form, [str(path)], Options(player="name" if by_name else "id"))
        frame, note = of_pool(podium.read_results(imported.table, name=name).frame, pool, name)
    except ResultsError as error:
        raise called(error, f"{path.parent}/", str(path), name) from None
    dropped = tuple(f"left out: {count:,} {reason}" for reason, count in imported.dropped.items())
    names = {player: called for player, (called, _) in imported.names.items()}
    return Upload(rows_of(frame), names, (*imported.notes, *dropped, *note))


def refuse_large(path: Path) -> None:
    """Refuse a compressed file that may become too large, and a Parquet file whose few bytes stand for too many rows.

    Raises:
        ParameterError: it is one.
    """
    with path.open("rb") as file:
        head = file.read(len(PARQUET))
    if head.startswith(COMPRESSED) and path.stat().st_size > MAX_COMPRESSED_BYTES:
        raise ParameterError(f"a compressed file may have {MAX_COMPRESSED_BYTES // 1_000_000} MB; send it unpacked")
    if head == PARQUET:
        with suppress(pl.exceptions.PolarsError):  # which its reader refuses by name
            refuse_many(pl.scan_parquet(path).select(pl.len()).collect().item())


def refuse_many(rows: int) -> None:
    """Refuse more rows than an upload may have.

    Raises:
        ParameterError: there are more.
    """
    if rows > MAX_ROWS:
        raise ParameterError(
            f"the file has {rows:,} rows; an upload may have {MAX_ROWS:,}: send it in parts, or by podium ingest"
        )


def called(error: ResultsError, folder: str, path: str, name: str) -> ResultsError:
    """A refusal that calls the file what its sender does."""

    def of_sender(text: str) -> str:
        return name if text in (path, Path(path).name) else text.removeprefix(folder)

    faults = [fault._replace(file=of_sender(fault.file), value=shortened(fault.value)) for fault in error.faults]
    return type(error)(of_sender(error.source), faults)


def safe_name(name: str) -> str:
    """A file's name without what a folder could make of it; its ending stays, which says what it is."""
    letters = "".join(each if each.isalnum() or each in SAFE_MARKS else "_" for each in Path(name).name)
    return letters.lstrip(".")[-100:] or PASTED


def of_pool(frame: pl.DataFrame, pool: str, name: str) -> tuple[pl.DataFrame, tuple[str, ...]]:
    """Those rows of a table that are a pool's, and a note on the others; all where the table has no pools.

    Raises:
        ParameterError: it has others alone.
    """
    if (frame["pool"] == DEFAULTS["pool"]).all():
        return frame, ()
    own = frame.filter(pl.col("pool") == pool)
    others = frame.filter(pl.col("pool") != pool)["pool"].unique(maintain_order=True).to_list()
    if own.is_empty():
        raise ParameterError(f"{name}: has no event of pool {pool}, but of {', '.join(others)}")
    return own, (f"left aside: the events of {', '.join(others)}",) if others else ()


def rows_of(frame: pl.DataFrame) -> list[dict[str, Any]]:
    """The rows of a checked table as JSON has them, without what is empty.

    Raises:
        ParameterError: there are too many.
    """
    refuse_many(frame.height)
    return [
        {name: json_value(value) for name, value in row.items() if value is not None}
        for row in frame.drop("pool").to_dicts()
    ]


def json_value(value: Any) -> Any:
    """A cell as JSON has it."""
    return value.isoformat() if isinstance(value, datetime) else value
