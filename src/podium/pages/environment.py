"""The environment for templates. All text is escaped, unknown names are errors, and numbers have a single format."""

import re
from dataclasses import fields
from importlib.resources import files
from typing import Any

from podium.engine.system import System
from podium.errors import needs_extra
from podium.ledger.reasons.standings import plain
from podium.ledger.reasons.wording import heat_words
from podium.pages import numbers
from podium.pages.drawing import share_bar, signed_bar, spark
from podium.support import words
from podium.support.words import capitalised, part, plural, shown

FILTERS = {
    "as_percent": numbers.percent,
    "capitalised": capitalised,
    "change": numbers.change,
    "second": numbers.second,
    "counted": words.counted,
    "day": numbers.day,
    "direction": numbers.direction,
    "halves": numbers.halves,
    "hour": numbers.hour,
    "heat_words": heat_words,
    "in_sentence": numbers.in_sentence,
    "minute": numbers.minute,
    "named": numbers.named,
    "number": numbers.number,
    "ordinal": words.ordinal_number,
    "part": part,
    "plain": plain,
    "plural": plural,
    "points": numbers.points,
    "rating": numbers.rating,
    "start": numbers.start,
    "short_day": numbers.short_day,
    "shown": shown,
    "until": numbers.until,
}
FUNCTIONS = {"share_bar": share_bar, "signed_bar": signed_bar, "spark": spark}


def create_environment(*packages: str) -> Any:
    """Return an environment for `parts.html` and the templates in the `templates` folders of some packages."""
    with needs_extra("service", "a page"):
        import jinja2  # noqa: PLC0415  (an extra)
    loaders = [jinja2.PackageLoader(package, "templates") for package in (*packages, "podium.pages")]
    environment = jinja2.Environment(
        loader=jinja2.ChoiceLoader(loaders),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        auto_reload=False,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= FILTERS
    environment.globals |= FUNCTIONS
    return environment


def settings(system: System) -> tuple[tuple[str, str, str, bool], ...]:
    """Return a system's settings: for each, the name, the meaning, the value as text, and True if it is the default."""
    return tuple(
        (
            setting.name,
            setting.metadata["help"],
            value_words(getattr(system, setting.name), setting.metadata["unit"]),
            getattr(system, setting.name) == setting.default,
        )
        for setting in fields(system)
    )


def value_words(value: object, unit: str) -> str:
    """Return the value of a setting as people would write it."""
    if value is None or isinstance(value, bool):
        return "on" if value else "off"
    text = f"{value:.10g}" if isinstance(value, float) else str(value)
    return f"{text} {unit}".rstrip()


COMMENT, BETWEEN = re.compile(r"/\*.*?\*/", re.DOTALL), re.compile(r"\s*([{};>~/])\s*|(?<=[:,])\s+")
INDENT = re.compile(r"(?m)^\s+")


def without_spaces(style: str) -> str:
    """Return a style sheet without comments and unnecessary spaces."""
    return BETWEEN.sub(r"\1", COMMENT.sub("", style)).replace(";}", "}").strip()


def static_content(name: str) -> bytes:
    """Return the content to send for a file in the `static` folder. Style sheets and scripts are minified."""
    content = files("podium.pages").joinpath("static", name).read_bytes()
    if name.endswith(".css"):
        return without_spaces(content.decode()).encode()
    if name.endswith(".js"):
        return INDENT.sub("", COMMENT.sub("", content.decode())).encode()
    return content
