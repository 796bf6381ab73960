"""The command that describes the columns of a results file."""

import textwrap
from collections.abc import Iterator
from typing import Annotated

import typer

from podium.cli.terminal.completion import complete_column
from podium.cli.terminal.helping import examples
from podium.cli.terminal.show import did_you_mean
from podium.errors import ParameterError
from podium.results.column_guide import COLUMNS, STATUSES, Column

WIDTH = 80
INDENT = 12  # room for the longest name and two blanks


@examples("podium columns", "podium columns status")
def columns(
    name: Annotated[
        str | None,
        typer.Argument(help="A column, to see its unit, default and an example.", autocompletion=complete_column),
    ] = None,
) -> None:
    """Describe the columns of a results file, or one of them."""
    lines = overview() if name is None else detail(find(name))
    typer.echo("\n".join(lines))


def find(name: str) -> Column:
    """The column of that name.

    Raises:
        ParameterError: no column is called that.
    """
    by_name = {column.name: column for column in COLUMNS}
    word = name.strip().lower()
    if word not in by_name:
        hint = did_you_mean(word, list(by_name))
        raise ParameterError(f"{name!r} is not a column of a results file{hint} ({', '.join(by_name)})")
    return by_name[word]


def overview() -> Iterator[str]:
    """Every column in a sentence or two."""
    yield "A results file has one row for each event, heat and entrant."
    yield "event_id and player are required; podium columns NAME says more of one."
    yield ""
    for column in COLUMNS:
        yield from entry(column.name, column.meaning)


def detail(column: Column) -> Iterator[str]:
    """All that is known of a column."""
    yield f"{column.name}: {column.type}"
    yield from textwrap.wrap(column.meaning, WIDTH)
    yield ""
    if column.unit:
        yield from entry("unit", column.unit)
    yield from entry("if absent", column.default)
    yield from entry("example", column.example)
    if column.name == "status":
        yield ""
        for status in STATUSES:
            yield from textwrap.wrap(f"{status.name}: {status.meaning} {status.cost}", WIDTH, subsequent_indent="  ")
        yield ""
        yield "What a quit or dnf costs in a system: podium systems NAME"


def entry(name: str, text: str) -> list[str]:
    """A name and a text beside it, within the width."""
    return textwrap.wrap(text, WIDTH, initial_indent=name.ljust(INDENT), subsequent_indent=" " * INDENT)
