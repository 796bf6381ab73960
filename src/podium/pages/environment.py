"""The templates' environment: every text is escaped, a name that is not there is an error, numbers have one format."""

from typing import Any

from podium.errors import needs_extra
from podium.ledger.reasons.what_if import ordinal
from podium.ledger.reasons.wording import capitalised
from podium.pages import numbers
from podium.pages.addresses import part
from podium.pages.drawing.sparks import spark

FILTERS = {
    "as_deviation": numbers.deviation,
    "as_percent": numbers.percent,
    "capitalised": capitalised,
    "change": numbers.change,
    "clock": numbers.clock,
    "counted": numbers.counted,
    "day": numbers.day,
    "direction": numbers.direction,
    "duration": numbers.duration,
    "halves": numbers.halves,
    "in_sentence": numbers.in_sentence,
    "moved": numbers.moved,
    "named": numbers.named,
    "number": numbers.number,
    "ordinal": ordinal,
    "part": part,
    "plural": numbers.plural,
    "rating": numbers.rating,
    "short_day": numbers.short_day,
}
FUNCTIONS = {"spark": spark}  # pictures that templates draw of numbers


def create_environment(*packages: str) -> Any:
    """An environment for the templates of some packages, each in its folder `templates`, and for `parts.html`.

    Raises:
        MissingExtraError: neither the extra `service` nor `charts` is installed.
    """
    with needs_extra("service", "a page"):
        import jinja2  # noqa: PLC0415  (an extra)
    loaders = [jinja2.PackageLoader(package, "templates") for package in (*packages, "podium.pages")]
    environment = jinja2.Environment(
        loader=jinja2.ChoiceLoader(loaders),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= FILTERS
    environment.globals |= FUNCTIONS
    return environment
