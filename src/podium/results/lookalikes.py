"""Names that look alike: by case, by accents, or by characters that Unicode says are taken for each other.

The tables are Unicode's (UTS 39, confusables.txt), from the package confusable-homoglyphs. Names that look alike are
warned of and never refused: two players may be called so.
"""

import functools
import unicodedata
from collections.abc import Iterable

from podium.results.names import shown

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
        own = forms(name)
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
