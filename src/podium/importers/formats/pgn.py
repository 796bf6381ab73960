"""Import chess games in PGN, using their tags and results. Moves are skipped.

Source: "Portable Game Notation Specification and Implementation Guide" (1994), and the tags of the Lichess database.
"""

import codecs
import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import BinaryIO

from podium.importers.collecting import Collector, Event
from podium.importers.sources import Source, refuse_file
from podium.importers.times import LocalTimes, of_utc
from podium.results.names import normalise

TAG = re.compile(r'^\[([A-Za-z0-9][A-Za-z0-9_+#=:-]*)\s+"([^\r]*)"\]\s*$')
ESCAPED = re.compile(r'\\(["\\])')
MARK = re.compile(r"[{();]|(?<![^\s{}()])(?:1-0|0-1|1/2-1/2|\*)(?![^\s{}();])")
COMMENT = re.compile(r"\{[^}]*\}")
POSITIONS = {"1-0": (1.0, 2.0), "0-1": (2.0, 1.0), "1/2-1/2": (1.0, 1.0)}
RESULTS = (*POSITIONS, "*")
LOSERS_STATUS = {"abandoned": "quit", "rules infraction": "disqualified"}
REQUIRED = ("White", "Black", "Result")
UNKNOWN = {
    "Event": "?",
    "Date": "????.??.??",
    "Round": "?",
    "White": "?",
    "Black": "?",
}  # results that the standard defines
LICHESS_EVENT = re.compile(r"^(?:rated|casual) (.+?) (?:game|tournament|swiss)\b", re.IGNORECASE)
LICHESS_SITE = re.compile(r"^https?://(?:www\.)?lichess\.org/", re.IGNORECASE)
LICHESS_SPEEDS = {30: "ultrabullet", 180: "bullet", 480: "blitz", 1500: "rapid"}  # speeds by upper limit in seconds
LICHESS_CLOCK = re.compile(r"^(\d+)\+(\d+)$")
TYPICAL_MOVES = 40  # number of moves in a typical game; each adds the increment
BYES = frozenset({"bye", "(bye)", "freilos", "spielfrei"})  # words in place of an opponent
URL = re.compile(r"^https?://(?:www\.)?(.+)$", re.IGNORECASE)
COMPUTER = re.compile(r"^lichess AI level \d+$")
DATE = re.compile(r"^(\d{4}|\?{1,4})(?:[./-](\d{1,2}|\?{1,2})(?:[./-](\d{1,2}|\?{1,2}))?)?$")
CLOCK = re.compile(r"^(\d{1,2}):(\d{2})(?::(\d{2}))?(?:\.\d+)?$")
MAX_TAGS = 60  # maximum number of tags of a game inside another game's unclosed comment
CHECKED_BYTES = 1 << 20  # number of bytes read at a time to find the encoding


@dataclass(slots=True)
class Game:
    event: Event  # its place is the game's first line
    tags: dict[str, tuple[str, str]] = field(default_factory=dict)  # value and place of each tag
    end: str | None = None
    moves: bool = False  # True if more than the tags has been read
    blank: bool = False  # True if a blank line followed the tags
    comment: int = 0  # line where the open comment began, or 0
    variations: list[int] = field(default_factory=list)  # lines where the open variations began

    def tag(self, name: str) -> str:
        return self.tags[name][0] if name in self.tags else ""

    def plain(self, name: str) -> str:
        return normalise(self.tag(name))

    def refuse(self, tag: str, value: str, remedy: str) -> None:
        place = self.tags[tag][1] if tag in self.tags else ""
        self.event.refuse(value, remedy, tag, place)


def read(files: Sequence[Source], collector: Collector) -> None:
    for source in files:
        tagged = False
        for game in games(source):
            tagged = tagged or bool(game.tags)
            take(game, collector)
        if not tagged:
            refuse_file(source.name, 'has no game. A game begins with tags such as [White "ana"].')


def games(source: Source) -> Iterator[Game]:
    """Split a file into its games. First, read the whole file once to find its encoding."""
    with source.open() as file:
        encoding = encoding_of(file)
    game: Game | None = None
    swallowed: list[tuple[int, str]] = []  # lines within an open comment that look like the tags of another game
    for number, line in lines(source, encoding):
        if game is not None and game.comment:
            swallowed = tags_within(number, line, swallowed)
            if begins_a_game(swallowed):
                yield game
                game = None
                for at, tag_line in swallowed:
                    game = next_line(game, source, at, tag_line)
                swallowed = []
                continue
        elif game is not None and line.startswith("[") and starts_game(game, line):
            yield game
            game = None
        game = next_line(game, source, number, line)
    if game is not None:
        yield game


def lines(source: Source, encoding: str) -> Iterator[tuple[int, str]]:
    with io.TextIOWrapper(source.open(), encoding, newline="\n") as text:
        try:
            yield from enumerate(text, start=1)
        except UnicodeDecodeError as error:
            refuse_file(source.name, f"is not {encoding.upper()} text ({error.reason})")


def encoding_of(file: BinaryIO) -> str:
    """Return the encoding: UTF-16 if the file has its mark, UTF-8 if the whole file is valid, or else PGN's Latin-1."""
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


def starts_game(game: Game, line: str) -> bool:
    """Return True if a line that begins with a bracket is the first tag of a new game."""
    if game.moves:
        return True
    tag = TAG.match(line)
    return game.blank and tag is not None and tag[1] in game.tags


def tags_within(number: int, line: str, before: list[tuple[int, str]]) -> list[tuple[int, str]]:
    """Return the lines of a comment, up to this line, that look like a section of tags."""
    if TAG.match(line.rstrip("\r\n")):
        return [*before[-MAX_TAGS:], (number, line)]
    return before if not line.strip() else []


def begins_a_game(lines: list[tuple[int, str]]) -> bool:
    """Return True if lines in a comment are another game's tags, which means that the comment was never closed."""
    names = {tag[1] for _, line in lines if (tag := TAG.match(line.rstrip("\r\n")))}
    return names.issuperset(REQUIRED)


def next_line(game: Game | None, source: Source, number: int, line: str) -> Game | None:
    """Read a line of a game, or the first line of a new game. Between games, return None."""
    if game is None:
        if not line.strip() or line.startswith("%"):
            return None
        game = Game(Event(source.name, f"line {number}"))
    if "\0" in line:
        game.event.refuse("\0", "is a NUL character, which is not text", place=f"line {number}")
    if game.comment:
        read_moves(game, number, line)
    elif line.startswith("["):
        read_tag(game, number, line)
    elif not line.strip():
        game.blank = True
    elif not line.startswith("%"):
        game.moves = game.moves or bool(game.tags) or not line.lstrip().startswith((";", "{"))  # more than a comment
        read_moves(game, number, line)
    return game


def read_tag(game: Game, number: int, line: str) -> None:
    tag = TAG.match(line.rstrip("\r\n"))
    if tag is None:
        game.event.refuse(line.strip(), 'is not a tag. Write it like [White "ana"].', place=f"line {number}")
    elif tag[1] in game.tags:
        game.event.refuse(line.strip(), f"is a second {tag[1]} tag in the same game", place=f"line {number}")
    else:
        game.tags[tag[1]] = ESCAPED.sub(r"\1", tag[2]), f"line {number}"


def read_moves(game: Game, number: int, line: str) -> None:
    """Read a line of moves to find comments, variations and the result."""
    if not game.comment and ";" not in line:
        closed = line.rfind("}") + 1  # after this, each brace would start another search for an end
        line = COMMENT.sub(" ", line[:closed]) + line[closed:]
    at = 0
    while True:
        if game.comment:
            at = line.find("}", at) + 1
            if not at:
                return
            game.comment = 0
        mark = MARK.search(line, at)
        if mark is None or mark[0] == ";":
            return
        at = mark.end()
        if mark[0] == "{":
            game.comment = number
        elif mark[0] == "(":
            game.variations.append(number)
        elif mark[0] == ")":
            del game.variations[-1:]
        elif not game.variations:
            game.end = mark[0]


def take(game: Game, collector: Collector) -> None:
    event = game.event
    if not game.tags and not game.moves and not event.faults and not game.comment:
        return  # only a comment
    check(game)
    if not event.faults:
        event.started_at = started_at(game, collector.times)
    if event.faults:
        collector.refuse(event.faults)
        return
    reason = reason_to_drop(game)
    if reason:
        collector.drop(reason)
        return
    event.event_id = event_id(game, collector)
    is_ranked = not game.tag("Event").lower().startswith("casual ")
    event.shared = {"pool": pool(game), "mode": mode(game), "ranked": is_ranked}
    add_sides(game, collector)
    collector.take(event)


def check(game: Game) -> None:
    """Report tags that are missing, and results that contradict each other."""
    event = game.event
    for name in REQUIRED:
        if name not in game.tags:
            event.refuse(None, f"the game has no {name} tag")
    for what, line in (("comment", game.comment), ("variation", next(iter(game.variations), 0))):
        if line:
            event.refuse(None, f"a {what} that begins on this line is never closed", place=f"line {line}")
    if "Result" not in game.tags or game.comment or game.variations:
        return
    result = game.tag("Result")
    if result not in RESULTS:
        game.refuse("Result", result, f"is not a result ({', '.join(RESULTS)})")
    elif game.end is None:
        game.refuse("Result", result, "is missing at the end of the moves")
    elif game.end != result:
        game.refuse("Result", result, f"differs from {game.end} at the end of the moves")
    white = game.plain("White")
    if white == game.plain("Black") and white not in ("", "?") and not COMPUTER.match(white):
        game.refuse("Black", white, "plays both sides")


def reason_to_drop(game: Game) -> str:
    """Return the reason why a game does not count, or an empty string if it counts."""
    if game.tag("Result") == "*":
        return "no result"
    if any(game.plain(side).lower() in BYES for side in ("White", "Black")):
        return "bye"
    return "unterminated" if game.tag("Termination").strip().lower() == "unterminated" else ""


def event_id(game: Game, collector: Collector) -> str:
    """Return the address of a game, or an ID made from its tags. Repeated IDs are numbered."""
    addresses = (URL.match(game.tag(name).strip()) for name in ("GameURL", "Link", "Site"))
    address = next((match[1] for match in addresses if match), None)
    name = collector.unused_id(address or "/".join(game.tag(tag) or unknown for tag, unknown in UNKNOWN.items()))
    if address is None:
        number = game.plain("Round").strip("?-")
        collector.made[name] = f"round {number}" if number else ""
    return name


def started_at(game: Game, times: LocalTimes) -> int | None:
    """Return the start of a game in microseconds.

    It comes from the UTC tags if they are complete, or else from the local tags.
    """
    utc, is_exact = moment(game, "UTCDate", "UTCTime")
    if utc is not None and is_exact:
        return of_utc(utc)
    local, has_time = moment(game, "Date", "Time")
    if local is not None and has_time:
        return times.microseconds(local)
    day = local or utc
    return None if day is None else of_utc(day)


def moment(game: Game, date_tag: str, clock_tag: str) -> tuple[datetime | None, bool]:
    """Return the time in two tags, or None if the year is unknown.

    Also return True if it includes the time of day.
    """
    text, clock_text = game.tag(date_tag).strip(), game.tag(clock_tag).strip()
    date, clock = DATE.match(text or "????"), CLOCK.match(clock_text)
    if date is None:
        game.refuse(date_tag, text, "is not a date. Write it like 2026.02.03.")
        return None, False
    if "?" in date[1]:
        return None, False
    month, day = (1 if part is None or "?" in part else int(part) for part in (date[2], date[3]))
    try:
        midnight = datetime(int(date[1]), month, day)  # noqa: DTZ001  (the caller knows the time zone)
    except ValueError:
        game.refuse(date_tag, text, "does not exist in the calendar")
        return None, False
    if clock is None:
        if clock_text.strip("?:-."):
            game.refuse(clock_tag, clock_text, "is not a time. Write it like 20:15:00.")
        return midnight, False
    hour, minute, second = (int(part or 0) for part in clock.groups())
    try:
        return midnight.replace(hour=hour, minute=minute, second=second), True
    except ValueError:
        game.refuse(clock_tag, clock_text, "is not a time of day")
        return None, False


def pool(game: Game) -> str:
    """Return the pool: the speed that Lichess states, the variant, the speed by Lichess's rule, or `chess`."""
    lichess = LICHESS_EVENT.match(game.tag("Event"))
    if lichess:
        return lichess[1].strip().lower()
    variant = game.plain("Variant").lower()
    if variant not in ("", "?", "standard"):
        return variant
    if not LICHESS_SITE.match(game.tag("Site").strip()):
        return "chess"
    clock = LICHESS_CLOCK.match(mode(game) or "")
    if clock is None:
        return "correspondence"
    seconds = int(clock[1]) + TYPICAL_MOVES * int(clock[2])
    return next((speed for limit, speed in LICHESS_SPEEDS.items() if seconds < limit), "classical")


def mode(game: Game) -> str | None:
    control = game.plain("TimeControl")
    return control if control not in ("", "-", "?") else None


def add_sides(game: Game, collector: Collector) -> None:
    positions = POSITIONS[game.tag("Result")]
    losers_status = LOSERS_STATUS.get(game.tag("Termination").strip().lower(), "finished")
    for side, position, other in zip(("White", "Black"), positions, reversed(positions), strict=True):
        name = game.plain(side)
        player = game.plain(f"{side}FideId") if collector.options.player == "fide" else name
        if COMPUTER.match(name):
            collector.drop("computer")
        elif name in ("", "?"):
            collector.drop("unknown player")
        elif player in ("", "?", "0", "-"):
            collector.drop("no FIDE id")
        else:
            status = losers_status if position > other else "finished"
            values = {"position": position if status == "finished" else None, "status": status}
            game.event.add(player, values, name=name if player != name else None, place=game.tags[side][1])
