"""The style sheet, the script and the mark, as pages have them."""

import re
from importlib.resources import files

COMMENT, BETWEEN = re.compile(r"/\*.*?\*/", re.DOTALL), re.compile(r"\s*([{};>])\s*|(?<=[:,])\s+")


def without_spaces(style: str) -> str:
    """A style sheet without comments, and without the spaces that only help to read it."""
    return BETWEEN.sub(r"\1", COMMENT.sub("", style)).replace(";}", "}").strip()


def static_content(name: str) -> bytes:
    """A file of the folder `static` as it is sent."""
    content = files("podium.pages").joinpath("static", name).read_bytes()
    return without_spaces(content.decode()).encode() if name.endswith(".css") else content
