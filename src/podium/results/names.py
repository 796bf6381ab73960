"""Names: one rule for all of them, wherever they come in.

A name is normalised: in Unicode's form NFC, without spaces around it. It is refused where it shows nothing, where it
has characters that nobody sees (controls, direction controls, zero-width ones), and where it is longer than 200
characters. Joiners stay where Unicode's rules for identifiers have them: within words of scripts that need them, and
within emoji. What a name says is nobody's business: markup and statements are text like any other.
"""

import functools
import unicodedata
from collections.abc import Collection, Iterable
from operator import eq
from typing import Any
from urllib.parse import urlsplit

import polars as pl

from podium.errors import ParameterError

LONGEST = 200  # characters
LATIN = "\u024f"  # up to here every character that Python can print shows itself
SPACE_CODES = (*range(9, 14), 32, 0x85, 0xA0, 0x1680, *range(0x2000, 0x200B), 0x2028, 0x2029, 0x202F, 0x205F, 0x3000)
SPACES = "".join(map(chr, SPACE_CODES))  # the property White_Space; `str.strip` alone takes controls too
NOT_PLAIN = f"[^ -~]|^ | $|^$|^.{{{LONGEST + 1},}}"  # what needs more than this one quick look
CHUNK_NAMES = 1 << 17  # of a column that are looked at together, to hold few copies

# A joiner between letters: RFC 5892, A.1 and A.2, which are also Unicode's (UAX 31, 2.3). The Unicode Standard, 12.2,
# writes the Bengali r before y with one before the virama. Then emoji that are one picture (UTS 51, ED-16).
JOINED = r"""
    (?<=\p{ccc=Virama})[\u200C\u200D]
    | (?<=[\p{jt=L}\p{jt=D}]\p{jt=T}*)\u200C(?=\p{jt=T}*[\p{jt=R}\p{jt=D}])
    | (?<=\u09B0)\u200D(?=\u09CD)
    | (?<=\p{Extended_Pictographic}[\uFE0F\p{Emoji_Modifier}]*)\u200D(?=\p{Extended_Pictographic})
    | (?<=[^\s\p{Default_Ignorable_Code_Point}])\p{Variation_Selector}
    | (?<=\U0001F3F4)[\U000E0020-\U000E007E]+\U000E007F
"""
NONCHARACTERS = "\ufdd0-\ufdef" + "".join(f"{chr(code)}{chr(code + 1)}" for code in range(0xFFFE, 0x110000, 0x10000))
FILLERS = "\u115f\u1160\u3164\uffa0"  # as wide as a letter, and empty
REFUSED = rf"""
    (?P<control>[\p{{Cc}}\p{{Zl}}\p{{Zp}}])
    | (?P<surrogate>\p{{Cs}})
    | (?P<noncharacter>[{NONCHARACTERS}])
    | (?P<direction>\p{{Bidi_Control}})
    | (?P<joiner>\p{{Join_Control}})
    | (?P<invisible>[[\p{{Default_Ignorable_Code_Point}}\uFFF9-\uFFFB]--[{FILLERS}]])
"""
WORDS = {
    "control": "has a control character",
    "surrogate": "has half of a surrogate pair",
    "noncharacter": "has a Unicode noncharacter",
    "direction": "has a direction control, which nobody sees",
    "joiner": "has a joiner where no script and no emoji joins",
    "invisible": "has a character that nobody sees",
}
UNSEEN = ("C", "Z")  # general categories: controls, direction controls, what is unassigned; spaces of all kinds
EMPTY = r"^[\s\p{Z}\p{Default_Ignorable_Code_Point}\u2800]*$"


@functools.cache
def patterns() -> tuple[Any, Any, Any]:
    """What joins, what is refused, and what shows nothing; compiled when the first name is not plain."""
    import regex  # noqa: PLC0415  (most names are plain)

    joined, empty = regex.compile(JOINED, regex.VERBOSE), regex.compile(EMPTY)
    return joined, regex.compile(REFUSED, regex.VERBOSE | regex.VERSION1), empty


def are_plain(names: Collection[str]) -> bool:
    """Whether all of these are names that stay as they are, at one quick look; of others some may be so, too."""
    whole = "".join(names)
    if not whole.isascii() or not whole.isprintable() or "" in names:
        return False
    return max(map(len, names), default=0) <= LONGEST and all(map(eq, names, map(str.strip, names)))


def are_plain_texts(column: pl.Series) -> bool:
    """Whether all texts of a column are names that stay as they are, at one quick look at their bytes."""
    length: Any = column.str.len_bytes()
    if column.null_count() < column.len() and not 0 < length.min() <= length.max() <= LONGEST:
        return False
    letters: Any = column.cast(pl.Binary).cast(pl.List(pl.UInt8)).explode()
    first, last = letters.min(), letters.max()
    if first is None or last > ord("~") or first != ord(" "):
        return first is None or ord(" ") < first <= last <= ord("~")
    return not (column.str.starts_with(" ") | column.str.ends_with(" ")).any()


def normalise(name: str) -> str:
    """The name in form NFC, without spaces around it."""
    if not isinstance(name, str):
        raise ParameterError(f"a name is a text, and {name!r} is a {type(name).__name__}; give one name at a time")
    return name.strip(SPACES) if name.isascii() else unicodedata.normalize("NFC", name.strip(SPACES))


def refusal(name: str) -> str:
    """Why a normalised name is none, as the end of a sentence; empty where it is one."""
    if len(name) > LONGEST:
        return f"has {len(name)} characters; a name has up to {LONGEST}"
    if name and name.isprintable() and max(name) <= LATIN:
        return ""
    joined, refused, empty = patterns()
    match = refused.search(name) and refused.search(joined.sub("", name))
    if match:
        return f"{WORDS[match.lastgroup]} (U+{ord(match[0]):04X}); leave it out"
    if empty.match(name):
        return f"shows nothing{f' (U+{ord(name[0]):04X})' if name else ''}; a name has something to see"
    return ""


def is_page_address(text: str) -> bool:
    """Whether a text is the address of a page, with http or https, and nothing in it that nobody sees."""
    if any(unicodedata.category(each)[0] in UNSEEN for each in text):
        return False
    try:
        parts = urlsplit(text)
        host = parts.hostname
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and bool(host) and parts.username is None


def admit(name: str, what: str = "name") -> str:
    normal = normalise(name)
    reason = refusal(normal)
    if reason:
        raise ParameterError(f"{what}: {shown(name)} {reason}")
    return normal


def shown(name: str) -> str:
    """A name that is refused, so that a message shows what nobody sees in it."""
    text = ascii(name)
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"


def normalise_column(column: pl.Series) -> tuple[pl.Series, dict[str, str]]:
    """Names, normalised, and why any of them is refused, by the name as it came."""
    if all(are_plain_texts(column[first : first + CHUNK_NAMES]) for first in range(0, column.len(), CHUNK_NAMES)):
        return column, {}
    suspect = column.str.contains(NOT_PLAIN)
    other = column.filter(suspect).unique().to_list()
    normal = {name: normalise(name) for name in other}
    reasons = {name: refusal(each) for name, each in normal.items()}
    changed = {name: each for name, each in normal.items() if name != each}
    settled = column.replace(changed) if changed else column
    return settled, {name: reason for name, reason in reasons.items() if reason}


Table = dict[int, str]
STROKED = str.maketrans(  # letters that Unicode does not take apart, by those that people type instead
    {"æ": "ae", "ð": "d", "đ": "d", "ħ": "h", "ł": "l", "ø": "o", "œ": "oe", "þ": "th", "ŧ": "t"}
    | {"\N{LATIN SMALL LETTER DOTLESS I}": "i"}
)


@functools.cache
def prototypes() -> Table:
    """What each character is taken for (UTS 39, 4): the one that most others are taken for, where it is not itself."""
    from confusable_homoglyphs.confusables import confusables_data  # noqa: PLC0415  (a large table, rarely needed)

    taken: Table = {}
    for one, others in confusables_data.items():
        first = others[0]["c"]
        if len(one) != 1 or len(others) > 1:
            continue  # the one that others are taken for
        pair = len(confusables_data.get(first, ())) == 1
        if not pair or first < one:
            taken[ord(one)] = first
    return taken


@functools.cache
def classes() -> Table:
    """One character for all that are alike by case or by their looks, in any number of steps."""
    parent: dict[str, str] = {}

    def root(one: str) -> str:
        while (above := parent.get(one, one)) != one:
            one = above
        return one

    pairs = [(chr(code), other) for code, other in prototypes().items() if len(other) == 1]
    pairs += [(each, each.casefold()) for pair in pairs for each in pair if len(each.casefold()) == 1]
    for one, other in pairs:
        low, high = sorted((root(one), root(other)))
        parent[high] = low
    return {ord(one): root(one) for one in parent}


@functools.cache
def foreign() -> Table:
    """The prototypes of characters beyond ASCII."""
    return {code: other for code, other in prototypes().items() if code > 127}  # noqa: PLR2004  (the end of ASCII)


def fold(name: str) -> str:
    """The name without case and accents."""
    if name.isascii():
        return name.lower()
    spread = unicodedata.normalize("NFKD", name.casefold())
    return "".join(each for each in spread if not unicodedata.combining(each))


def search_key(name: str) -> str:
    """What a name is searched by: without case, accents and strokes, of letters in other forms, too."""
    return fold(fold(name)).translate(STROKED)


def skeleton(name: str) -> str:
    """What the name is taken for (UTS 39, 4)."""
    return unicodedata.normalize("NFD", unicodedata.normalize("NFD", name).translate(prototypes()))


def key(name: str) -> str:
    """What all names that are alike share, and some that are not: what is looked up first."""
    return fold(fold(name.translate(foreign())).replace("m", "rn").translate(classes()))


def forms(name: str) -> tuple[str, str, str]:
    """What names that are alike have one of in common."""
    return fold(name), skeleton(name), fold(name.translate(foreign()))


def are_alike(one: str, other: str) -> bool:
    """Whether two names differ in case, accents or confusable characters alone."""
    return any(mine == yours for mine, yours in zip(forms(one), forms(other), strict=True))


def pairs_alike(names: Iterable[str]) -> list[tuple[str, str]]:
    """Names that look like one before them, each with that one."""
    seen: tuple[dict[str, str], ...] = ({}, {}, {})
    alike = []
    for name in names:
        own = forms(" ".join(name.split()))
        like = next((known[form] for known, form in zip(seen, own, strict=True) if form in known), None)
        if like is not None and like != name:
            alike.append((name, like))
        for known, form in zip(seen, own, strict=True):
            known.setdefault(form, name)
    return alike


def warning(name: str, like: str) -> str:
    """A sentence about two names that look alike; with escapes where people could not tell them apart."""
    one, other = (repr(each) if fold(name) == fold(like) else shown(each) for each in (name, like))
    return f"player {one} looks like {other}; if they are one, write the two alike"
