"""What headings mean, in fifteen languages: results columns, the parts of a match, rounds; and the words of cells."""

import re
import tomllib
import unicodedata
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from podium.results.column_guide import COLUMNS

WORDS = tomllib.loads(Path(__file__).with_name("words.toml").read_text(encoding="utf-8"))
SYNONYMS, SIDES, OTHERWISE = WORDS["columns"], WORDS["sides"], WORDS["otherwise"]
DOUBTFUL, WEAK, YEARS, PAIRING, LAPS_WORDS, GOALS, ROUND, WON, PAIRS, BEAT, PLAYED, UNPLAYED_WORDS, AND, CLASSES = (
    WORDS["heads"][key].split()
    for key in ("doubtful", "weak", "years", "pairing", "laps", "goals", "rounds", "won",
                "pairs", "beat", "played", "unplayed", "and", "classes")
)  # fmt: skip
OUTCOMES, FLAGS = ({float(points): words for points, words in WORDS[name].items()} for name in ("outcomes", "flags"))
MONTHS = tuple(WORDS["months"].values())
A_NAME = re.compile(r"_(?:user|player|display|full)?_?name$")
SIDE = re.compile(r"(?:p|player|team|side)?_?([12ab])_(.+)|(.+?)_?([12ab])")  # of a head like Player 1 or Team B
ROUND_HEAD = re.compile(
    rf"(?:[a-z]{{1,8}}_?)?fina(?:l|le|ale)|(?:(?:{'|'.join(ROUND)})_*)?\d{{1,2}}_*(?:{'|'.join(ROUND)})?"
)
BYE = (
    r"(?i)^(bye|spielfrei|freilos|exempte?|descansa|libre|ripos[ao]|pauza|wolny los|vrij|isento|folga|vapaa|huili|-+)$"
)
FORFEIT = (
    r"(?i)^(?:[+-] ?[-:/]? ?[+-]{1,2}|[+-]|.*(?:^|[\d½ (+-])(?:ff?|kl?|wo|w\.\s?o|w/o|walkover|walkower|forfeit|"
    r"forfait|kampflos|kont\w*|hükmen|incomparecencia|reglementair|falta de comparência|luovutus|"
    r"bez gry|no show)\.?\)?)$"
)
LETTERS = str.maketrans({"ß": "ss", "ł": "l", "\u0131": "i"})  # that no form takes apart
LEAST_NEAR = 5  # letters of a heading that another may nearly be
FAR = 8  # letters from which two may differ


def fold(heading: str) -> str:
    """A heading without case, accents, blanks and marks: what the table of headings has."""
    plain = unicodedata.normalize("NFKD", heading.strip().casefold().translate(LETTERS))
    letters = "".join(each for each in plain if not unicodedata.combining(each))
    if letters in ("#", "№"):
        return "#"
    return re.sub(r"[^\w#]+", "_", letters).strip("_")


@cache
def meanings() -> dict[str, str]:
    """The results column of each heading, folded."""
    table = {word: column for column, words in SYNONYMS.items() for word in words.replace("|", " ").split()}
    table |= {column.name: column.name for column in COLUMNS}
    return {word.replace("_", ""): column for word, column in table.items()} | table


def encoding_of(headings: Iterable[str]) -> str | None:
    """The encoding of text that is not UTF-8, by the language of its headings; None where that says nothing."""
    folded = {fold(each) for each in headings}
    groups = [words.split("|") for words in (*SYNONYMS.values(), *SIDES.values()) if "|" in words]
    western, polish = ({word for group in groups for word in "".join(group[n : n + 1]).split()} for n in (1, 2))
    return "cp1250" if folded & (polish - western) else "cp1252" if folded & western else None


@cache
def sides() -> dict[str, str]:
    """The part in a match of each heading, folded."""
    return {word: part for part, words in SIDES.items() for word in words.replace("|", " ").split()}


def side_of(heading: str) -> str | None:
    """What a heading is of a match: winner, loser, first, second, result, or the score of the first or second."""
    word = fold(heading)
    part = sides().get(word) or sides().get(A_NAME.sub("", word))
    if part is not None:
        return part
    numbered = SIDE.fullmatch(word)
    if numbered is not None:
        number, base = numbered[1] or numbered[4], numbered[2] or numbered[3]
        if sides().get(base) in ("winner", "loser", "first", "second"):  # one of several
            return sides()[base]
        place = "first" if number in ("1", "a") else "second"
        if meanings().get(base) in ("player", "team") or base in PAIRS:
            return place
        if base in GOALS or sides().get(base) == "result":
            return f"score of {place}"
    over, _, last = word.rpartition("_")
    if over in PAIRING or meanings().get(over) in ("player", "team", "event_id"):
        return sides().get(last) if sides().get(last) in ("first", "second", "winner", "loser") else None
    for goal in GOALS:
        if word.split("_") in (["winner", goal], ["loser", goal]):
            return None
        rest = re.sub(rf"_?{goal}_?", "", word, count=1)
        if rest != word and sides().get(rest) in ("first", "second"):
            return f"score of {sides()[rest]}"
    return None


def is_pairing(heading: str) -> bool:
    """Whether a heading is of the two sides of a match."""
    word = fold(heading)
    return word in PAIRING or meanings().get(word) == "event_id"


def is_round(heading: str) -> bool:
    """Whether a heading is a round's, by its number."""
    return ROUND_HEAD.fullmatch(fold(heading)) is not None


def is_total(name: str) -> bool:
    """Whether a sheet or column sums others up."""
    return any(sides().get(word) == "total" for word in fold(name).split("_"))


def is_heading(text: str) -> bool:
    """Whether a cell is a heading that tables of results have."""
    word = fold(text)
    is_known = word in meanings() or sides().get(word, "total") != "total" or side_of(text) is not None
    return is_known or (is_round(text) and not text.strip().isdecimal())


def near_miss(heading: str, words: Iterable[str]) -> str | None:
    """The word that a heading is but a slip of the hand away from; one letter, or two in long words."""
    word = fold(heading)
    for each in words:
        allowed = 0 if len(each) < LEAST_NEAR else 1 if len(each) < FAR else 2
        numbered = word.rstrip("0123456789_") == each or word.removesuffix("s") in (each, "player", "driver", "team")
        if allowed and not numbered and abs(len(word) - len(each)) <= allowed and distance(word, each) <= allowed:
            return each
    return None


def distance(one: str, other: str) -> int:
    """How many letters are to be put in, left out, changed, or swapped with the next."""
    before: list[int] = []
    row = list(range(len(other) + 1))
    for i, letter in enumerate(one, start=1):
        last, before, row = before, row, [i]
        for j, own in enumerate(other, start=1):
            cost = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (letter != own))
            if i > 1 and j > 1 and letter == other[j - 2] and one[i - 2] == own:
                cost = min(cost, last[j - 2] + 1)
            row.append(cost)
    return row[-1]
