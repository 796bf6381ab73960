"""Chess games as PGN: the tags and how each game ended; moves are skipped.

Source: "Portable Game Notation Specification and Implementation Guide" (1994), and the words of the Lichess database.
"""

import codecs
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import BinaryIO

from podium.importers.collecting import Collector, Event
from podium.importers.importer import Imported
from podium.importers.moments import LocalTimes, of_utc
from podium.importers.options import Options
from podium.importers.sources import Source, refuse_file, sources
from podium.results.names import normalise

TAG = re.compile(r'^\[([A-Za-z0-9][A-Za-z0-9_+#=:-]*)\s+"([^\r]*)"\]\s*$')
ESCAPED = re.compile(r'\\(["\\])')
MARK = re.compile(r"[{();]|(?<![^\s{}()])(?:1-0|0-1|1/2-1/2|\*)(?![^\s{}();])")
POSITIONS = {"1-0": (1.0, 2.0), "0-1": (2.0, 1.0), "1/2-1/2": (1.0, 1.0)}
RESULTS = (*POSITIONS, "*")
LOSERS_STATUS = {"abandoned": "quit", "rules infraction": "disqualified"}
REQUIRED = ("White", "Black", "Result")
LICHESS_EVENT = re.compile(r"^(?:Rated|Casual) (.+?) (?:game|tournament|swiss)\b")
URL = re.compile(r"^https?://(?:www\.)?(.+)$", re.IGNORECASE)
COMPUTER = re.compile(r"^lichess AI level \d+$")
DATE = re.compile(r"^(\d{4}|\?{1,4})(?:[./-](\d{1,2}|\?{1,2})(?:[./-](\d{1,2}|\?{1,2}))?)?$")
CLOCK = re.compile(r"^(\d{1,2}):(\d{2})(?::(\d{2}))?(?:\.\d+)?$")
CHECKED_BYTES = 1 << 20  # read at once to learn the encoding


@dataclass(slots=True)
class Game:
    """A game as it stands in a file: its tags, each with its line, and how its moves end."""

    line: int
    tags: dict[str, tuple[str, int]] = field(default_factory=dict)
    faults: list[tuple[int, object, str]] = field(default_factory=list)  # line, value, what is wrong
    end: str | None = None
    moves: bool = False  # whether anything but tags was read
    blank: bool = False  # whether a blank line follows the tags
    comment: int = 0  # the line of the comment that is open
    variations: list[int] = field(default_factory=list)  # the lines of those that are open

    def tag(self, name: str) -> str:
        """The value of a tag, empty where it is missing."""
        return self.tags[name][0] if name in self.tags else ""


def read(files: Sequence[str], options: Options) -> Imported:
    """Import the games of PGN files.

    Returns:
        A row for each side of a game, and what is left out.

    Raises:
        FormatError: a file is no PGN.
        ParameterError: there is no such time zone.
    """
    collector, times = Collector(options), LocalTimes(options.timezone)
    for path in files:
        for source in sources(path):
            found = False
            for game in games(source):
                found = True
                take(game, source.name, collector, times)
            if not found:
                refuse_file(source.name, 'has no game; each begins with tags like [White "ana"]')
    collector.notes += times.notes()
    return collector.imported()


def games(source: Source) -> Iterator[Game]:
    """Split a file into its games, a line at a time; it is read once more before, for its encoding.

    Raises:
        FormatError: it does not begin as PGN does.
    """
    with source.open() as file:
        encoding = encoding_of(file)
    game: Game | None = None
    swallowed: list[tuple[int, str]] = []  # lines within an open comment that look like the tags of another game
    with source.open() as file:
        for number, line in enumerate(codecs.getreader(encoding)(file), start=1):
            if game is not None and game.comment:
                swallowed = tags_within(number, line, swallowed)
                if begins_a_game(swallowed):
                    yield game
                    game = None
                    for at, tag_line in swallowed:
                        game = next_line(game, at, tag_line)
                    swallowed = []
                    continue
            elif game is not None and line.startswith("[") and starts_anew(game, line):
                yield game
                game = None
            game = next_line(game, number, line)
    if game is not None:
        yield game


def encoding_of(file: BinaryIO) -> str:
    """UTF-16 by its mark; UTF-8 where the whole file is; else Latin-1, the standard's own."""
    start = file.read(CHECKED_BYTES)
    if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        while start:
            decoder.decode(start)
            start = file.read(CHECKED_BYTES)
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return "latin-1"
    return "utf-8-sig"
