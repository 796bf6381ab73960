"""The rule that all names must follow.

Names are normalized to Unicode NFC, without leading or trailing spaces. A name is rejected if it has no visible
characters, if it contains invisible characters (controls, direction controls, zero-width characters), or if it has more
than 200 characters. Joiners are allowed where Unicode's rules for identifiers allow them, within words in scripts that
need them, and within emoji. The content of a name does not matter, so markup and SQL are ordinary text.
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
LATIN = "\u024f"  # every printable character up to this one is visible
SPACE_CODES = (*range(9, 14), 32, 0x85, 0xA0, 0x1680, *range(0x2000, 0x200B), 0x2028, 0x2029, 0x202F, 0x205F, 0x3000)
# characters with the property White_Space; `str.strip` would also remove controls
SPACES = "".join(map(chr, SPACE_CODES))
NOT_PLAIN = f"[^ -~]|^ | $|^$|^.{{{LONGEST + 1},}}"  # matches names that need more than this quick test
CHUNK_NAMES = 1 << 17  # number of names in a column to test together, so that only a few are copied

# Joiners between letters by RFC 5892, A.1 and A.2, which are also Unicode's (UAX 31, 2.3). Then the Bengali r before y,
# with a joiner before the virama (Unicode Standard, 12.2). Then emoji that form one picture (UTS 51, ED-16).
JOINED = r"""
    (?<=\p{ccc=Virama})[\u200C\u200D]
    | (?<=[\p{jt=L}\p{jt=D}]\p{jt=T}*)\u200C(?=\p{jt=T}*[\p{jt=R}\p{jt=D}])
    | (?<=\u09B0)\u200D(?=\u09CD)
    | (?<=\p{Extended_Pictographic}[\uFE0F\p{Emoji_Modifier}]*)\u200D(?=\p{Extended_Pictographic})
    | (?<=[^\s\p{Default_Ignorable_Code_Point}])\p{Variation_Selector}
    | (?<=\U0001F3F4)[\U000E0020-\U000E007E]+\U000E007F
"""
NONCHARACTERS = "\ufdd0-\ufdef" + "".join(f"{chr(code)}{chr(code + 1)}" for code in range(0xFFFE, 0x110000, 0x10000))
FILLERS = "\u115f\u1160\u3164\uffa0"  # as wide as a letter, but invisible
REFUSED = rf"""
    (?P<control>[\p{{Cc}}\p{{Zl}}\p{{Zp}}])
    | (?P<surrogate>\p{{Cs}})
    | (?P<noncharacter>[{NONCHARACTERS}])
    | (?P<direction>\p{{Bidi_Control}})
    | (?P<joiner>\p{{Join_Control}})
    | (?P<invisible>[[\p{{Default_Ignorable_Code_Point}}\uFFF9-\uFFFB]--[{FILLERS}]])
"""
WORDS = {
    "control": "contains a control character",
    "surrogate": "contains half of a surrogate pair",
    "noncharacter": "contains a Unicode noncharacter",
    "direction": "contains a direction control, which is invisible",
    "joiner": "contains a joiner in a place where no script or emoji uses one",
    "invisible": "contains an invisible character",
}
UNSEEN = ("C", "Z")  # general categories: controls, direction controls, unassigned; spaces of all kinds
EMPTY = r"^[\s\p{Z}\p{Default_Ignorable_Code_Point}\u2800]*$"


@functools.cache
def patterns() -> tuple[Any, Any, Any]:
    """Return the patterns of joiners, rejected characters and invisible characters.

    They are compiled only when the first unusual name appears.
    """
    import regex  # noqa: PLC0415  (most names are plain)

    joined, empty = regex.compile(JOINED, regex.VERBOSE), regex.compile(EMPTY)
    return joined, regex.compile(REFUSED, regex.VERBOSE | regex.VERSION1), empty


def are_plain(names: Collection[str]) -> bool:
    """Return True if a quick test shows that no name needs a change, and False if some might need one."""
    whole = "".join(names)
    if not whole.isascii() or not whole.isprintable() or "" in names:
        return False
    return max(map(len, names), default=0) <= LONGEST and all(map(eq, names, map(str.strip, names)))


def are_plain_texts(column: pl.Series) -> bool:
    """Return True if a quick test of the bytes shows that no string in a column needs a change."""
    length: Any = column.str.len_bytes()
    if column.null_count() < column.len() and not 0 < length.min() <= length.max() <= LONGEST:
        return False
    letters: Any = column.cast(pl.Binary).cast(pl.List(pl.UInt8)).explode()
    first, last = letters.min(), letters.max()
    if first is None or last > ord("~") or first != ord(" "):
        return first is None or ord(" ") < first <= last <= ord("~")
    return not (column.str.starts_with(" ") | column.str.ends_with(" ")).any()


def normalise(name: str) -> str:
    """Return a name in Unicode NFC, without leading or trailing spaces."""
    if not isinstance(name, str):
        raise ParameterError(
            f"a name must be a string, but {name!r} is a {type(name).__name__}. Give one name at a time."
        )
    return name.strip(SPACES) if name.isascii() else unicodedata.normalize("NFC", name.strip(SPACES))


def refusal(name: str) -> str:
    """Return why a normalized name is invalid, as the end of a sentence, or an empty string if it is valid."""
    if len(name) > LONGEST:
        return f"has {len(name)} characters; a name can have up to {LONGEST}"
    if name and name.isprintable() and max(name) <= LATIN:
        return ""
    joined, refused, empty = patterns()
    match = refused.search(name) and refused.search(joined.sub("", name))
    if match:
        return f"{WORDS[match.lastgroup]} (U+{ord(match[0]):04X}); leave it out"
    if empty.match(name):
        return f"shows nothing{f' (U+{ord(name[0]):04X})' if name else ''}; a name needs visible characters"
    return ""


def is_page_address(text: str) -> bool:
    """Return True if a string is an http or https address without invisible characters."""
    if any(unicodedata.category(character)[0] in UNSEEN for character in text):
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
    """Return a rejected name with the invisible characters escaped."""
    text = ascii(name)
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"


def normalise_column(column: pl.Series) -> tuple[pl.Series, dict[str, str]]:
    """Return the normalized names in a column, and the reason for rejecting each invalid name."""
    if all(are_plain_texts(column[first : first + CHUNK_NAMES]) for first in range(0, column.len(), CHUNK_NAMES)):
        return column, {}
    suspect = column.str.contains(NOT_PLAIN)
    other = column.filter(suspect).unique().to_list()
    normal = {name: normalise(name) for name in other}
    reasons = {name: refusal(normalised) for name, normalised in normal.items()}
    changed = {name: normalised for name, normalised in normal.items() if name != normalised}
    normalised = column.replace(changed) if changed else column
    return normalised, {name: reason for name, reason in reasons.items() if reason}


Table = dict[int, str]
STROKED = str.maketrans(  # letters that Unicode does not decompose, and the letters that people type instead
    {"æ": "ae", "ð": "d", "đ": "d", "ħ": "h", "ł": "l", "ø": "o", "œ": "oe", "þ": "th", "ŧ": "t"}
    | {"\N{LATIN SMALL LETTER DOTLESS I}": "i"}
)


@functools.cache
def prototypes() -> Table:
    """Return the prototypes (UTS 39, 4) of characters that differ from their prototype."""
    from confusable_homoglyphs.confusables import confusables_data  # noqa: PLC0415  (a large table, rarely needed)

    taken: Table = {}
    for one, others in confusables_data.items():
        first = others[0]["c"]
        if len(one) != 1 or len(others) > 1:
            continue  # this is a prototype itself
        pair = len(confusables_data.get(first, ())) == 1
        if not pair or first < one:
            taken[ord(one)] = first
    return taken


@functools.cache
def classes() -> Table:
    """Return one character for each class of characters that are directly or indirectly alike in case or appearance."""
    parent: dict[str, str] = {}

    def root(one: str) -> str:
        while (above := parent.get(one, one)) != one:
            one = above
        return one

    pairs = [(chr(code), other) for code, other in prototypes().items() if len(other) == 1]
    pairs += [(one, one.casefold()) for pair in pairs for one in pair if len(one.casefold()) == 1]
    for one, other in pairs:
        low, high = sorted((root(one), root(other)))
        parent[high] = low
    return {ord(one): root(one) for one in parent}


@functools.cache
def foreign() -> Table:
    """Return the prototypes of non-ASCII characters."""
    return {code: other for code, other in prototypes().items() if code > 127}  # noqa: PLR2004  (the end of ASCII)


def fold(name: str) -> str:
    """Return a name without case or accents."""
    if name.isascii():
        return name.lower()
    spread = unicodedata.normalize("NFKD", name.casefold())
    return "".join(character for character in spread if not unicodedata.combining(character))


def search_key(name: str) -> str:
    """Return the key under which a name is searched: without case, accents, strokes and alternative letter forms."""
    return fold(fold(name)).translate(STROKED)


def skeleton(name: str) -> str:
    """Return the skeleton of a name, as defined in UTS 39, 4."""
    return unicodedata.normalize("NFD", unicodedata.normalize("NFD", name).translate(prototypes()))


def key(name: str) -> str:
    """Return a key that all similar names share, for a first lookup. Some other names share it as well."""
    return fold(fold(name.translate(foreign())).replace("m", "rn").translate(classes()))


def forms(name: str) -> tuple[str, str, str]:
    """Return three forms of a name. Similar names have at least one form in common."""
    return fold(name), skeleton(name), fold(name.translate(foreign()))


def are_alike(one: str, other: str) -> bool:
    """Return True if two names differ only in case, accents or confusable characters."""
    return any(mine == yours for mine, yours in zip(forms(one), forms(other), strict=True))


def pairs_alike(names: Iterable[str]) -> list[tuple[str, str]]:
    """Return the names that look like an earlier name, each with that earlier name."""
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
    """Return a sentence about two names that look alike. Names that look identical are escaped."""
    one, other = (repr(spelling) if fold(name) == fold(like) else shown(spelling) for spelling in (name, like))
    return f"player {one} looks like {other}; if they are the same player, write both names the same way"
