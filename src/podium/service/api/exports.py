"""Whole tables as files."""

import tempfile
from collections.abc import Iterator
from typing import IO, Annotated, Literal

import polars as pl
from fastapi import APIRouter, Query
from fastapi.responses import StreamingResponse

from podium.service.api.dependencies import CurrentStore, Reader
from podium.service.http.paths import POOLS_PATH, PoolName
from podium.service.http.problems import READ_ERRORS, error_responses, success_response

CHUNK_BYTES = 64 * 1024
MEDIA_TYPES = {"csv": "text/csv; charset=utf-8", "parquet": "application/vnd.apache.parquet"}
# What spreadsheets take for the start of a formula, of full width too, and after semicolons that part cells.
FORMULA_START = r"^[;\s]*[=+\-@\x{FF1D}\x{FF0B}\x{FF0D}\x{FF20}]|^[\t\r]"
router = APIRouter(prefix=POOLS_PATH)
Guard = Annotated[
    bool,
    Query(
        description="In CSV, put an apostrophe before text that a spreadsheet would take for a formula: text that "
        "begins with =, +, -, @ or a tab, be it after semicolons. Switch it off for programs, Podium among them."
    ),
]


@router.get(
    "/{pool}/export/{table}.{kind}",
    response_class=StreamingResponse,
    tags=["pools"],
    responses=error_responses(*READ_ERRORS) | success_response("A file.", *MEDIA_TYPES.values()),
)
def export(
    pool: PoolName,
    table: Literal["results", "history"],
    kind: Literal["csv", "parquet"],
    store: CurrentStore,
    _key: Reader,
    *,
    guard: Guard = True,
) -> StreamingResponse:
    """The results that count, or every change of a rating, as a file."""
    frame = store.results(pool).frame if table == "results" else store.history(pool)
    if kind == "csv" and guard:
        frame = guard_formulas(frame)
    headers = {"Content-Disposition": f'attachment; filename="{table}.{kind}"'}
    return StreamingResponse(chunks(table_file(frame, kind)), media_type=MEDIA_TYPES[kind], headers=headers)


def guard_formulas(frame: pl.DataFrame) -> pl.DataFrame:
    """Put an apostrophe before each text that would be a formula in a spreadsheet; numbers stay as they are."""
    text = pl.col(pl.String)
    return frame.with_columns(pl.when(text.str.contains(FORMULA_START)).then("'" + text).otherwise(text).name.keep())


def table_file(frame: pl.DataFrame, kind: str) -> IO[bytes]:
    """Return a table as an open file that is deleted when it is closed."""
    file = tempfile.TemporaryFile()  # noqa: SIM115  (closed by whoever reads it)
    if kind == "csv":
        frame.write_csv(file)
    else:
        frame.write_parquet(file)
    file.seek(0)
    return file


def chunks(file: IO[bytes]) -> Iterator[bytes]:
    """Yield a file in chunks."""
    with file:
        while chunk := file.read(CHUNK_BYTES):
            yield chunk
