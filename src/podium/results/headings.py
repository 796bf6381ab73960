"""What headings mean, in 25 languages: results columns, the parts of a match, rounds; and the words of cells."""

import re
import tomllib
import unicodedata
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from functools import cache, reduce
from pathlib import Path

from podium.results.column_guide import COLUMNS
from podium.results.columns import ALL

WORDS = tomllib.loads(Path(__file__).with_name("words.toml").read_text(encoding="utf-8"))
SYNONYMS, SIDES, OTHERWISE = WORDS["columns"], WORDS["sides"], WORDS["otherwise"]
HEADS = {key: words.split() for key, words in WORDS["heads"].items()}
DISTANCES, STARTS, QUARTERS, BESIDE_TIMES, LEGS, WEIGHTS, PEGS, LANES, SETS, EITHER, LESS, THREES = (
    {*HEADS[key]}
    for key in [
        "distances",
        "starts",
        "quarters",
        "beside_times",
        "legs",
        "weights",
        "pegs",
        "lanes",
        "sets",
        "either",
        "less",
        "threes",
    ]
)
DOUBTFUL, WEAK, YEARS, CLASSES, PAIRING, PAIRS, AND, LAPS_WORDS, PLAYED, UNPLAYED_WORDS = (
    HEADS[key]
    for key in ["doubtful", "weak", "years", "classes", "pairing", "pairs", "and", "laps", "played", "unplayed"]
)
GOALS, SHORT, PENALTY, LATER, WON, BEAT, LOST, DREW, ROUND = (
    HEADS[key] for key in ["goals", "short", "penalty", "later", "won", "beat", "lost", "drew", "rounds"]
)
PLACES = {word: int(place) for place, words in WORDS["places"].items() for word in words.split()}
OUTCOMES, FLAGS = ({float(points): words for points, words in WORDS[name].items()} for name in ("outcomes", "flags"))
CODES = WORDS["codes"]
FINISHED = {*WORDS["finished"]["words"].split()}
OUTCOME_LETTERS = HEADS["letters"]
MONTHS = tuple(WORDS["months"].values())
MET = ("first", "second", "winner", "loser", "opponent")  # sides of a match
A_NAME = re.compile(r"_(?:user|player|display|full)?_?name$")
SIDE = re.compile(r"(?:p|player|team|side)?_?([12ab])_(.+)|(.+?)_?([12abx])")  # of a head like Player 1 or Team B
MEMBER_OF_SIDE = re.compile(rf"^(.+_[12ab])_(?:{'|'.join(PAIRS)})_?[12ab]$")  # team_a_player_1
MEMBER = re.compile(
    rf"(?<![a-z])((?:{'|'.join(PAIRS)})_?(?:[12](?=_?[ab]$)|[ab](?=_?[12]$))).*"
)  # and of one of it: p1a
ROUND_HEAD = re.compile(
    rf"(?:[a-z]{{1,8}}_?)?fina(?:l|le|ale)|(?:(?:{'|'.join(ROUND)})_*)?\d{{1,2}}_*(?:{'|'.join(ROUND)})?"
)
# between the members of a pair
MATES = rf"(?i)\s*[/&+\uFF0F\uFF06\uFF0B]\s*|\s+(?:{'|'.join(HEADS['and'])}|with|mit|avec|con)\s+"
BYE = rf"(?i)^({'|'.join(HEADS['bye'])}|wolny los|-+)$"
NAMELESS = rf"(?:{'|'.join(HEADS['nobody'])}|n\.?n\.?)"
NOBODY = rf"(?i)^(?:.*[/&+]\s*)?{NAMELESS}(?:\s*[/&+].*)?$"
ABSENT = rf"{BYE}|{NOBODY}"
FORFEIT = (
    r"(?i)^(?:[+-] ?[-:/]? ?[+-]{1,2}|[+-]|.*(?:^|[\d½ (+-])(?:ff?|kl?|wo|w\.\s?o|w/o|kont\w*|bez gry|no show|"
    rf"falta de comparência|{'|'.join(HEADS['forfeit'])})\.?\)?)$"
)
LETTERS = str.maketrans({"ß": "ss", "ł": "l", "\u0131": "i"})  # that no form takes apart
LEAST_NEAR, FAR = 5, 8  # letters of a heading that another may nearly be, and from which two may differ
NEAR = 0.8  # of the letters that two words share


def written_out(patterns: Mapping[str, str], known: Mapping[str, str]) -> dict[str, str]:
    """Patterns with others, as {day}, in full."""
    found = {**known}
    for name, pattern in patterns.items():
        found[name] = reduce(lambda text, own: text.replace(f"{{{own[0]}}}", own[1]), found.items(), pattern)
    return found


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
    numbered = SIDE.fullmatch(MEMBER.sub(r"\1", MEMBER_OF_SIDE.sub(r"\1", word)))
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
    for goal in (each for each in GOALS if each in word):
        if word.split("_") in (["winner", goal], ["loser", goal]):
            return None
        rest = re.sub(rf"_?{goal}_?", "", word, count=1)
        if sides().get(rest) in ("first", "second"):
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


def is_statistic(text: str) -> bool:
    """Whether a cell stands before what results come to, or before a record, as in `Course record (2019)`."""
    word = re.sub(r"[\d_]+$", "", fold(text))
    return word in HEADS["statistics"] or sides().get(word) == "total"


def is_heading(text: str) -> bool:
    """Whether a cell is a heading that tables of results have."""
    word = fold(text)
    is_known = word in meanings() or sides().get(word, "total") != "total" or side_of(text) is not None
    return is_known or (is_round(text) and not text.strip().lstrip("+-\u2212").isdecimal())


def column_meant_by(heading: str) -> str | None:
    """The column of a results table that a heading means in some language, or is but a slip of the hand away from."""
    return meanings().get(fold(heading)) or near_miss(heading, ALL)


def near_miss(heading: str, words: Iterable[str]) -> str | None:
    """The word that a heading is but a slip of the hand away from; one letter, or two in long words."""
    word = fold(heading)
    alike = (each for each in words if len(each) >= LEAST_NEAR and abs(len(word) - len(each)) <= 1 + (len(each) >= FAR))
    alike = (each for each in alike if each[0] == word[:1])
    numbered = {word.rstrip("0123456789_"), word.removesuffix("s")}
    near = [each for each in alike if each not in numbered and numbered.isdisjoint({"player", "driver", "team"})]
    return next(iter(get_close_matches(word, near, 1, NEAR)), None)
