"""Results of two sides as people write them: 1-0, ½:½, 3:1, 6:4 7:5; and cells of Swiss lists, 4w1."""

import re
from typing import NamedTuple

NUMBER = r"\d+(?:\.\d+)?"
PAIR = re.compile(rf"({NUMBER})\s*[-:/]\s*({NUMBER})")
BRACKETS = re.compile(r"\(\d+(?:[-:]\d+)?\)|[\[\]]")  # points of a tie-break
GAME = re.compile(rf"0*(\d+)[a-z-]([+=-]|{NUMBER}|[wldhfuz])", re.IGNORECASE)  # a colour has a letter
ALONE = re.compile(r"[-+]?(?:0|0\.5|1|1\.0)?[-+=*]*")  # what stands for a bye, or a round without a game
POINTS = {"=": 0.5, "w": 1.0, "d": 0.5, "l": 0.0}
WHOLE = (0.0, 0.5, 1.0)  # of one game
Result = tuple[float | None, float | None]


def plain(text: str) -> str:
    """A result with halves as decimals and one kind of dash."""
    text = re.sub(r"(\d)\s*½", r"\1.5", text.strip()).replace("½", "0.5")
    text = re.sub(r"\b1\s*/\s*2\b", "0.5", text)
    text = text.replace(",", ".") if re.fullmatch(r"\d+,\d+", text) else re.sub(r"(?<!\d)0,5(?!\d)", "0.5", text)
    return re.sub(r"[\u2010-\u2015\u2212]", "-", text)


def parse_result(text: str) -> Result | None:
    """What two sides have of a result: points, or of several sets how many each won; None where it is none.

    A number alone is the first side's; the second's is known of a single game, in which both share a point.
    """
    bare = plain(BRACKETS.sub(" ", text))
    pairs = [(float(one), float(other)) for one, other in PAIR.findall(bare)]
    if not pairs:
        own = float(bare) if re.fullmatch(NUMBER, bare) else None
        return None if own is None else (own, 1.0 - own if own in WHOLE else None)
    if PAIR.sub("", bare).strip(" ,;.|"):
        return None
    if len(pairs) == 1:
        return pairs[0]
    return float(sum(one > other for one, other in pairs)), float(sum(other > one for one, other in pairs))


def mirrored(text: str) -> str | None:
    """The result as the other side has it."""
    own, other = parse_result(text) or (None, None)
    return {"+": "-", "-": "+"}.get(text) if other is None else f"{other:g}:{own:g}"


class Game(NamedTuple):
    """A cell of a Swiss list: the opponent's number, and the points; none of them for a forfeit."""

    opponent: str
    points: float | None


def parse_game(text: str) -> Game | None:
    """Read a cell of a Swiss list: `4w1`, `12b½`; None for a round without an opponent.

    Raises:
        ValueError: it is neither.
    """
    bare = plain(text).replace(" ", "")
    match = GAME.fullmatch(bare)
    if match is None:
        if ALONE.fullmatch(bare) or bare.isalpha():
            return None
        raise ValueError(text)
    number, result = match[1], match[2].lower()
    if not int(number):
        return None
    points = POINTS.get(result, float(result) if re.fullmatch(NUMBER, result) else None)
    if points is not None and points not in WHOLE:
        raise ValueError(text)
    return Game(number, points)
