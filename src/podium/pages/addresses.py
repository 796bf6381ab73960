"""Names as parts of addresses."""

from typing import Final
from urllib.parse import quote

BEFORE_DOTS: Final = "\x1e"  # stands before a name of dots, which browsers take for a step to the folder above


def part(name: object) -> str:
    """A name, of any letters, as one part of an address."""
    text = str(name)
    return quote(f"{BEFORE_DOTS}{text}" if text in {".", ".."} else text, safe="")
