"""Find mentions of names in texts, regardless of case, accents and the characters between words.

A mention contains all words of a name, in order or with the last words first ("van der Berg, Ana"). The characters
between them do not matter: "ana_sample", "AnaSample" and "ana%20sample" mention Ana Sample. Names with fewer than five
letters are found only as separate words. Names with a single letter and numbers with fewer than five digits are not
searched for.
"""

import functools
import unicodedata
from collections.abc import Iterable
from itertools import accumulate
from typing import Any
from urllib.parse import unquote

from podium.results.names import normalise, search_key

LONG = 5  # minimum number of letters for a name to be found within a longer word
SIGNS = bytes(code for code in range(128) if not chr(code).isalnum())
BETWEEN = r"[\W_]+"
EDGES = r"(?<=\p{Ll})(?=\p{Lu})|(?<=\p{N})(?=\p{L})|(?<=\p{L})(?=\p{N})|(?<=\p{Lo})|(?=\p{Lo})"  # Lo: without case


@functools.cache
def patterns() -> tuple[Any, Any]:
    import regex  # noqa: PLC0415  (few users of Podium ever remove a name)

    return regex.compile(BETWEEN, regex.VERSION1), regex.compile(f"{BETWEEN}|{EDGES}", regex.VERSION1)


def plain(text: str) -> str:
    """Return the text without accents or percent-encoding."""
    text = unquote(text) if "%" in text else text
    if text.isascii():
        return text
    return "".join(letter for letter in unicodedata.normalize("NFKD", text) if not unicodedata.combining(letter))


def words_in(text: str) -> list[str]:
    return [search_key(word) for word in patterns()[1].split(plain(text)) if word]


class Mentions:
    """A search for texts that mention at least one of several names."""

    def __init__(self, names: Iterable[str]) -> None:
        words = {name: words_in(name) for name in names}
        orders = (some[first:] + some[:first] for some in words.values() for first in range(len(some)))
        forms = {"".join(order) for order in orders}
        self.forms = [form for form in forms if len(form) > 1 and not (form.isdigit() and len(form) < LONG)]
        self._signs = [normalise(name) for name, some in words.items() if not some]  # names that contain no letters

    def may_be_in(self, text: str) -> bool:
        """Return False if a quick check shows that the text does not mention any of the names."""
        text = plain(text)
        if text.isascii():  # like most entries of a log
            letters = text.lower().encode().translate(None, SIGNS).decode()
        else:
            letters = patterns()[0].sub("", search_key(text))
        return any(form in letters for form in self.forms) or any(form in text for form in self._signs)

    def __contains__(self, text: str) -> bool:
        words = words_in(text)
        letters, edges = "".join(words), {0, *accumulate(map(len, words))}
        if any(is_mentioned(form, letters, edges) for form in self.forms if form in letters):
            return True
        return any(sign in normalise(text) for sign in self._signs)


def is_mentioned(form: str, letters: str, edges: set[int]) -> bool:
    start = letters.find(form)
    while start >= 0:
        stop = start + len(form)
        genitive = letters[stop : stop + 1] == "s" and stop + 1 in edges
        long = len(form) >= LONG
        begins = start in edges or (long and not form[0].isdigit())
        ends = stop in edges or genitive or (long and not form[-1].isdigit())
        if begins and ends:
            return True
        start = letters.find(form, start + 1)
    return False
