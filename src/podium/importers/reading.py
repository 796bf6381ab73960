"""The front door: a format's name and files in, a results table out."""

from collections.abc import Sequence
from dataclasses import replace
from difflib import get_close_matches
from importlib import import_module
from pathlib import Path

from podium.errors import FormatError, ParameterError
from podium.importers.collecting import Imported
from podium.importers.registry import FORMATS, Options

PLAYERS = ("id", "name", "fide")
FORFEITS = ("keep", "drop")


def read_format(name: str, files: Sequence[str | Path], options: Options | None = None) -> Imported:
    """Import files of a format.

    Args:
        name: of the format, as `FORMATS` has it.
        files: paths of files or folders, in the order of their events; `-` is standard input.
        options: what a user may decide; the defaults where None.

    Returns:
        A results table, with what is dropped, bad and skipped.

    Raises:
        FormatError: a file is not of that format, or breaks its rules and bad events are not skipped,
            or nothing is left without them.
        ParameterError: there is no such format, or an option does not fit it.
    """
    options = options or Options()
    check_options(name, options)
    options = replace(options, map=FORMATS[name].map or options.map)
    imported: Imported = import_module(f"podium.importers.{FORMATS[name].module}").read(
        [str(file) for file in files], options
    )
    if imported.bad and (not options.skip_bad or imported.table.is_empty()):
        raise FormatError(str(files[0]), imported.bad)
    return imported


def check_options(name: str, options: Options) -> None:
    """Check that there is such a format, and that it knows what is chosen.

    Raises:
        ParameterError: there is none, or it does not.
    """
    if name not in FORMATS:
        near = get_close_matches(name.lower(), FORMATS, 1, 0.5)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise ParameterError(f"{name!r} is not a format{hint} ({', '.join(FORMATS)})")
    if options.player not in PLAYERS:
        raise ParameterError(f"player is {options.player!r}; it must be one of {', '.join(PLAYERS)}")
    if options.forfeits not in FORFEITS:
        raise ParameterError(f"forfeits is {options.forfeits!r}; it must be one of {', '.join(FORFEITS)}")
    if options.player == "fide" and name != "pgn":
        raise ParameterError(f"{name} has no FIDE ids; players can be called by them in pgn only")
    if options.map is not None and name != "csv":
        raise ParameterError(f"a map is for tables (csv); {name} needs none")
