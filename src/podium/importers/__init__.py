"""Import results from files of other programs, and from tables of any shape.

imported = podium.importers.read_format("pgn", ["games.pgn"], podium.importers.Options(skip_bad=True))
rated = podium.rate(imported.table, "elo")
"""

from podium.errors import FormatError as FormatError
from podium.importers.options import Imported as Imported
from podium.importers.options import Options as Options
from podium.importers.registry import FORMATS as FORMATS
from podium.importers.registry import read_format as read_format

__all__ = ["FORMATS", "FormatError", "Imported", "Options", "read_format"]
