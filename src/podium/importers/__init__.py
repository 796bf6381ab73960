"""From foreign formats, and tables of any shape, to the results table.

imported = podium.importers.read_format("pgn", ["games.pgn"], podium.importers.Options(skip_bad=True))
rated = podium.rate(imported.table, "elo")
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from podium.errors import FormatError as FormatError
from podium.importers.registry import FORMATS as FORMATS
from podium.importers.registry import Options as Options

if TYPE_CHECKING:
    from podium.importers.collecting import Imported
    from podium.importers.reading import read_format

__all__ = ["FORMATS", "FormatError", "Imported", "Options", "read_format"]
_HOMES = {"Imported": "collecting", "read_format": "reading"}


def __getattr__(name: str) -> Any:
    """The public names, imported when they are first used: `podium --help` needs no Polars."""
    if name not in _HOMES:
        message = f"module 'podium.importers' has no attribute {name!r}"
        raise AttributeError(message)
    return getattr(import_module(f"podium.importers.{_HOMES[name]}"), name)
