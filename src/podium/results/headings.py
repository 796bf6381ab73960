"""The meaning of words in cells, and of headings in 26 languages: results columns, parts of a match, and rounds."""

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
DISTANCES, STARTS, QUARTERS, BESIDE_TIMES, LEGS, WEIGHTS, PEGS, LANES, SETS, EITHER, LESS, THREES, COUPLES, BOARDS = (
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
        "couples",
        "boards",
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
MET = ("first", "second", "winner", "loser", "opponent")  # the parts of a match that name a side
A_NAME = re.compile(r"_(?:user|player|display|full)?_?name$")
SIDE = re.compile(r"(?:p|player|team|side)?_?(?:([12ab])_|([12])(?=\D))(.+)|(.+?)_?([12abx])")  # Player 1 or Team B
MEMBER_OF_SIDE = re.compile(rf"^(.+(?:_[12ab]|[12]))_(?:{'|'.join(PAIRS)})_?[12ab]$")  # team_a_player_1
MEMBER = re.compile(
    rf"(?<![a-z])((?:{'|'.join(PAIRS)})_?(?:[12](?=_?[ab]$)|[ab](?=_?[12]$))).*"
)  # a heading for a member of a side: p1a
ROUND_HEAD = re.compile(
    rf"(?:[a-z]{{1,8}}_?)?fina(?:l|le|ale)|(?:(?:{'|'.join(ROUND)})_*)?\d{{1,2}}_*(?:{'|'.join(ROUND)})?"
)
# between the two names of a pair
MATES = rf"(?i)\s*[/&+\uFF0F\uFF06\uFF0B]\s*|\s+(?:{'|'.join(HEADS['and'])}|with|mit|avec|con)\s+"
BYE = rf"(?i)^({'|'.join(HEADS['bye'])}|wolny los|-+)$"
NAMELESS = rf"(?:{'|'.join(HEADS['nobody'])}|n\.?n\.?)"
NOBODY = rf"(?i)^(?:.*[/&+]\s*)?{NAMELESS}(?:\s*[/&+].*)?$"
ABSENT = rf"{BYE}|{NOBODY}"
FORFEIT = (
    r"(?i)^(?:[+-] ?[-:/]? ?[+-]{1,2}|[+-]|.*(?:^|[\d½ (+-])(?:ff?|kl?|wo|w\.\s?o|w/o|kont\w*|bez gry|no show|"
    rf"falta de comparência|{'|'.join(HEADS['forfeit'])})(?:\.?\)?|[.:]? +\d+ ?[-:] ?\d+))$"
)
NOT_PLAYED = rf"(?i)^(?:.*\W)?(?:{'|'.join(HEADS['forfeit'])})(?:\W.*)?$"  # in a remark
LETTERS = str.maketrans({"ß": "ss", "ł": "l", "\u0131": "i"})  # letters that Unicode does not decompose
MIN_LETTERS, LONG_WORD = 5, 8  # minimum lengths of a heading with one typing error, and with two
MIN_LIKENESS = 0.8  # minimum similarity of two words


def written_out(patterns: Mapping[str, str], known: Mapping[str, str]) -> dict[str, str]:
    """Expand patterns that refer to other patterns, such as {day}."""
    found = {**known}
    for name, pattern in patterns.items():
        found[name] = reduce(lambda text, own: text.replace(f"{{{own[0]}}}", own[1]), found.items(), pattern)
    return found


def fold(heading: str) -> str:
    """Return a heading without case, accents, spaces and punctuation, as in the table of headings."""
    plain = unicodedata.normalize("NFKD", heading.strip().casefold().translate(LETTERS))
    letters = "".join(letter for letter in plain if not unicodedata.combining(letter))
    if letters in ("#", "№"):
        return "#"
    return re.sub(r"[^\w#]+", "_", letters).strip("_")


@cache
def meanings() -> dict[str, str]:
    """Return the results column for each folded heading."""
    table = {word: column for column, words in SYNONYMS.items() for word in words.replace("|", " ").split()}
    table |= {column.name: column.name for column in COLUMNS}
    return {word.replace("_", ""): column for word, column in table.items()} | table


def known_column(heading: str) -> str | None:
    """Return the results column that a heading means, or None if the heading is not in the table."""
    return meanings().get(fold(heading))


def encoding_of(headings: Iterable[str]) -> str | None:
    """Return the encoding of a text that is not UTF-8, based on the language of its headings, or None."""
    folded = {fold(heading) for heading in headings}
    groups = [words.split("|") for words in (*SYNONYMS.values(), *SIDES.values()) if "|" in words]
    western, polish = ({word for group in groups for word in "".join(group[n : n + 1]).split()} for n in (1, 2))
    return "cp1250" if folded & (polish - western) else "cp1252" if folded & western else None


def has_foreign_heading(headings: Iterable[str]) -> bool:
    """Return True if headings include a known word in another alphabet."""
    known = (word for word in (*meanings(), *sides()) if len(word) > 1 and not word.isascii())
    return not {*known}.isdisjoint(map(fold, headings))


@cache
def detail_words() -> dict[str, str]:
    """Return the detail of a player for each folded heading."""
    return {word: detail for detail, words in WORDS["details"].items() for word in words.split()}


def detail_of(heading: str) -> str | None:
    """Return the detail of a player that a column has if it says nothing about results, or None."""
    return detail_words().get(fold(heading))


@cache
def sides() -> dict[str, str]:
    """Return the part of a match for each folded heading."""
    return {word: part for part, words in SIDES.items() for word in words.replace("|", " ").split()}


def side_of(heading: str) -> str | None:
    """Return the part of a match that a heading means: winner, loser, first, second, result, or a side's score."""
    word = fold(heading)
    part = sides().get(word) or sides().get(A_NAME.sub("", word))
    if part is not None:
        return part
    numbered = SIDE.fullmatch(MEMBER.sub(r"\1", MEMBER_OF_SIDE.sub(r"\1", word)))
    if numbered is not None:
        number, base = numbered[1] or numbered[2] or numbered[5], numbered[3] or numbered[4]
        if sides().get(base) in ("winner", "loser", "first", "second"):  # one of several columns
            return sides()[base]
        place = "first" if number in ("1", "a") else "second"
        if meanings().get(base) in ("player", "team") or base in PAIRS:
            return place
        if base in GOALS or sides().get(base) == "result":
            return f"score of {place}"
    over, _, last = word.rpartition("_")
    if over in PAIRING or meanings().get(over) in ("player", "team", "event_id"):
        return sides().get(last) if sides().get(last) in ("first", "second", "winner", "loser") else None
    for goal in (goal for goal in GOALS if goal in word):
        rest = re.sub(rf"_?{goal}_?", "", word, count=1)
        if sides().get(rest) in ("first", "second", "winner", "loser"):
            return f"score of {sides()[rest]}"
    return None


def is_pairing(heading: str) -> bool:
    """Return True if a heading means both sides of a match."""
    word = fold(heading)
    return word in PAIRING or meanings().get(word) == "event_id"


def is_round(heading: str) -> bool:
    """Return True if a heading is the number of a round."""
    return ROUND_HEAD.fullmatch(fold(heading)) is not None


def is_total(name: str) -> bool:
    """Return True if the name of a sheet or column means a total."""
    return any(sides().get(word) == "total" for word in fold(name).split("_"))


def is_statistic(text: str) -> bool:
    """Return True if a cell is the label of a summary or a record, for example `Course record (2019)`."""
    word = re.sub(r"[\d_]+$", "", fold(text))
    return word in HEADS["statistics"] or sides().get(word) == "total"


def is_heading(text: str) -> bool:
    """Return True if a cell is a heading that is common in results tables."""
    word = fold(text)
    is_known = word in meanings() or sides().get(word, "total") != "total" or side_of(text) is not None
    return is_known or (is_round(text) and not text.strip().lstrip("+-\u2212").isdecimal())


def column_meant_by(heading: str) -> str | None:
    """Return the results column that a heading means, in any language, and allowing for typing errors."""
    return known_column(heading) or near_miss(heading, ALL)


def near_miss(heading: str, words: Iterable[str]) -> str | None:
    """Return the word that a heading misspells by one letter or, for long words, by up to two letters."""
    word = fold(heading)
    alike = (
        known
        for known in words
        if len(known) >= MIN_LETTERS and abs(len(word) - len(known)) <= 1 + (len(known) >= LONG_WORD)
    )
    alike = (known for known in alike if known[0] == word[:1])
    numbered = {word.rstrip("0123456789_"), word.removesuffix("s")}
    near = [known for known in alike if known not in numbered and numbered.isdisjoint({"player", "driver", "team"})]
    return next(iter(get_close_matches(word, near, 1, MIN_LIKENESS)), None)
