"""Read results from any table: a results table, a table with a map, or a table with known columns or headings.

Modules for other layouts are imported only when a table needs them. Most tables do not, and quick commands start faster
without these modules.
"""

import io
import warnings
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from podium.errors import ParameterError, ResultsError
from podium.results.parquet_files import ParquetFiles, is_several
from podium.results.reading import STDIN, Results, read_numbered, standard_input
from podium.results.reading import read_results as read_strictly
from podium.support.addresses import is_https

if TYPE_CHECKING:
    from podium.importers.tables.open_table import Names
    from podium.results.hashing import Numbered


def read_results(
    source: Any,
    *,
    name: str | None = None,
    columns: Mapping[str, Any] | None = None,
    ignore: "Names" = (),
    map: Mapping[str, Any] | str | Path | None = None,  # noqa: A002  (as on the command line)
    lenient: bool = False,
    answers: Iterable[str] = (),
) -> Results:
    """Read and check results.

    Args:
        source: A path (.csv, .parquet, .json, .jsonl; `-` is standard input), a folder of Parquet files or a pattern
            such as `results/*.parquet`, a binary file, a pandas, Polars or Arrow frame, rows as dicts, or `Results`.
        name: Name of the table in messages. Default: the file's name.
        columns: Meaning of the table's columns: for each results column, the name of a column in the table, or a rule
            as in a map. Other columns that have the name of a results column keep that meaning.
        ignore: Columns to ignore, or `rest` to ignore all columns without a meaning.
        map: A complete map: the path of a TOML file, or its content. It cannot be combined with `columns`.
        lenient: True to also read tables in other layouts, if their headings and cells are clear. The result's `notes`
            explain how the table was read.
        answers: Answers to the questions that a lenient reading asks, such as `columns.started_at.format=%d/%m/%Y`.

    Returns:
        The checked table, with rows in the order of the source.

    Raises:
        ResultsError: The table is invalid. The message lists up to 20 errors.
        ParameterError: The map is invalid, or names unknown columns.
    """
    if map is not None and (columns is not None or ignore):
        raise ParameterError("give a map or columns, not both. A map describes the whole table.")
    if map is None and columns is None and not ignore:
        if lenient or answers or is_several(source):
            return read_leniently(source, name, answers)[0]
        return read_strictly(source, name=name)
    from podium.importers.tables import maps, open_table  # noqa: PLC0415

    if map is None:
        return open_table.read_columns(source, columns or {}, ignore, name)
    mapping = maps.build_map(map) if isinstance(map, Mapping) else maps.load_map(Path(map))
    return open_table.read_mapped(source, mapping, name)


def read_any(source: Any) -> "tuple[Results, Numbered | None]":
    """Read and check results in any layout. If it is not a results table, a warning explains how it was read.

    Returns:
        The results, and the event numbers if the table was read without changes.
    """
    results, numbered = read_leniently(source)
    if source is not results:
        for note in results.notes:
            warnings.warn(f"{results.source}: {note}", stacklevel=3)
    return results, numbered


def read_leniently(
    source: Any, name: str | None = None, answers: Iterable[str] = ()
) -> "tuple[Results, Numbered | None]":
    """Read a results table without changes. If this fails because of a different layout, use its headings and cells."""
    if isinstance(source, Results):
        return source, None
    if is_several(source):
        files = ParquetFiles(source)
        return files.check(files.read())
    path = str(source) if isinstance(source, str | Path) else None
    content = standard_input() if path == STDIN else source.read() if hasattr(source, "read") else None
    if name is None:
        given = getattr(source, "name", "results") if path is None else Path(path).name
        name = "standard input" if path == STDIN else str(given)
    if not answers:
        try:
            return read_numbered(source if content is None else io.BytesIO(content), name)
        except ResultsError:
            if path is not None and content is None and not (is_https(path) or Path(path).is_file()):
                raise

    from podium.importers.tables.open_table import read_frame, read_understood  # noqa: PLC0415

    if path is None and content is None:
        return read_frame(source, name, answers), None
    return read_understood(path or name, name, content, answers), None
