"""Import results from other programs' files, and from tables in any layout.

imported = podium.importers.read_format("pgn", ["games.pgn"], podium.importers.Options(skip_bad=True))
rated = podium.rate(imported.table, "elo")
"""

from typing import TYPE_CHECKING, Any

from podium.errors import FormatError as FormatError
from podium.importers.options import FORMATS as FORMATS
from podium.importers.options import Imported as Imported
from podium.importers.options import Options as Options

if TYPE_CHECKING:
    from podium.importers.tables.read_sheet import read_format as read_format

__all__ = ["FORMATS", "FormatError", "Imported", "Options", "read_format"]


def __getattr__(name: str) -> Any:
    """Load the readers only when the first file is read, because quick commands then start faster."""
    if name != "read_format":
        raise AttributeError(name)
    from podium.importers.tables.read_sheet import read_format  # noqa: PLC0415

    return read_format
