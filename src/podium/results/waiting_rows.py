"""Rows that wait for more, in a file: with where each comes from."""

from pathlib import Path

import polars as pl

from podium.errors import OutputError
from podium.results.places import Places
from podium.support.part_files import part_file

SOURCE, ROW = " source", " row"  # columns of a row's place: no column of results begins with a blank


def write_rows(path: Path, frame: pl.DataFrame, places: Places) -> None:
    """Write rows.

    Raises:
        OutputError: they cannot be written.
    """
    columns = [pl.Series(SOURCE, places.source), pl.Series(ROW, places.row)]
    with part_file(path, OutputError) as part:
        frame.hstack(columns).write_parquet(part, compression="lz4", statistics=False)


def read_rows(path: Path, sources: list[str]) -> tuple[pl.DataFrame, Places]:
    """Read rows again.

    Args:
        sources: the names of the tables that they come from.

    Raises:
        OSError: there is no such file.
        PolarsError: it is damaged.
    """
    table = pl.read_parquet(path)
    return table.drop(SOURCE, ROW), Places(sources, table[SOURCE].to_numpy(), table[ROW].to_numpy())
