"""What a notebook shows of an object: a line, and a table where there is one."""

from collections.abc import Iterable
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl


def counted(count: int, noun: str) -> str:
    """So many of something, in words."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def table_html(heading: str, table: "pl.DataFrame") -> str:
    return f"<p>{escape(heading)}</p>{table._repr_html_()}"


def lines_html(heading: str, lines: Iterable[tuple[str, str]]) -> str:
    """A heading, and a table of words and the numbers beside them."""
    rows = "".join(
        f'<tr><td style="text-align:left;white-space:pre">{escape(words)}</td>'
        f'<td style="text-align:right">{escape(numbers)}</td></tr>'
        for words, numbers in lines
    )
    return f"<p>{escape(heading)}</p><table>{rows}</table>"
