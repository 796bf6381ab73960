"""The commands' output on a terminal of 80 columns matches the golden files."""

import shlex

import polars as pl
import pytest
import typer
from screens import COMMANDS, HELP, TABLES, help_screens, table_screens, words_of_commands

from podium.cli.commands import build
from podium.cli.terminal import show
from podium.cli.terminal.show import Format

ROWS = {
    "rank": [1, 2],
    "player": ["Anastasia Pavlyuchenkova-Kovalevskaya", "雪"],
    "rating": [1530.25, 980.0],
    "deviation": [30.0, 35.0],
    "events": [12, 9],
    "provisional": [False, False],
    "pool": ["karts", "karts"],
    "last_event_id": ["2025-autumn-final-heat-3", "x"],
    "note": ["", ""],
}


def test_the_help_of_every_command_is_unchanged():
    """`python tests/screens.py` updates it."""
    assert help_screens() == HELP.read_text(encoding="utf-8")


@pytest.mark.parametrize("system", COMMANDS)
def test_the_tables_of_commands_are_unchanged(system):
    assert table_screens(system) in TABLES.read_text(encoding="utf-8")


def test_every_line_of_help_and_tables_fits_80_columns():
    for line in (HELP.read_text(encoding="utf-8") + TABLES.read_text(encoding="utf-8")).splitlines():
        assert len(line) <= 80 or line.startswith("season.csv: ")  # a message of `podium check`, which does not wrap


def test_every_command_has_valid_examples():
    root = typer.main.get_command(build())
    for words in words_of_commands():
        command = root
        for word in words:
            command = command.commands[word]
        if hasattr(command, "commands"):
            continue
        assert command.callback.examples, words
        for line in command.callback.examples:
            assert len(line) <= 78
            typed = shlex.split(line.split(" > ")[0])
            assert tuple(typed[1 : 1 + len(words)]) == words
            command.make_context(words[-1], typed[1 + len(words) :])


def shown(capsys, **options):
    """Return the lines of a table."""
    show.show(pl.DataFrame(ROWS), Format.table, **options)
    return capsys.readouterr().out.splitlines()


@pytest.mark.parametrize("width", [40, 60, 80])
def test_names_never_shrink(capsys, monkeypatch, width):
    monkeypatch.setenv("COLUMNS", str(width))
    lines = shown(capsys)
    assert any("Anastasia Pavlyuchenkova-Kovalevskaya" in line for line in lines)
    assert any("雪" in line for line in lines)
    assert any("1530.2" in line for line in lines)
    assert any("not shown: last_event_id" in line for line in lines)


def test_constant_columns_are_left_out_and_mentioned(capsys, monkeypatch):
    monkeypatch.delenv("COLUMNS", raising=False)
    lines = shown(capsys)
    assert lines[0].split() == ["rank", "player", "rating", "±", "events"]
    assert lines[-2:] == ["in every row: pool karts", "not shown: last_event_id. See all with --format csv"]


def test_piped_output_is_plain_and_complete(capsys, monkeypatch):
    """Text is aligned, without boxes or trailing blanks. All numbers of a column have the same decimals."""
    monkeypatch.delenv("COLUMNS", raising=False)
    assert shown(capsys)[1:3] == [
        "   1  Anastasia Pavlyuchenkova-Kovalevskaya  1530.2  ±60      12",
        "   2  雪                                      980.0  ±70       9",
    ]


def test_columns_are_chosen_by_name(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "30")
    assert [line.split() for line in shown(capsys, columns="pool, provisional,rank")] == [
        ["pool", "provisional", "rank"], ["karts", "1"], ["karts", "2"]
    ]  # fmt: skip
    assert shown(capsys, columns="all")[0].split() == list(ROWS)
    show.show(pl.DataFrame(ROWS), Format.csv, columns="player,events")
    assert capsys.readouterr().out.splitlines()[0] == "player,events"


def test_a_table_of_constant_columns_shows_them_all(capsys):
    show.show(pl.DataFrame({"players": [["ana", "ben"], ["ana", "ben"]], "size": [2, 2]}), Format.table)
    assert capsys.readouterr().out.splitlines() == ["players   size", "ana, ben     2", "ana, ben     2"]


def test_a_table_without_rows_shows_its_headings(capsys):
    show.show(pl.DataFrame(ROWS).clear(), Format.table)
    assert capsys.readouterr().out.split()[:3] == ["rank", "player", "rating"]


@pytest.mark.parametrize(
    ("values", "texts"),
    [
        ([1.0, 0.5, 0.1264], ["1.0000", "0.5000", "0.1264"]),
        ([-6.02, 0.5, None], ["-6.02", "0.50", ""]),
        (([["Pérez", "Ben"]]), ["Pérez, Ben"]),
        ([float("nan"), 2.0], ["nan", "2.00"]),
        ([True, False], ["yes", ""]),
    ],
)
def test_a_columns_values_have_one_format(values, texts):
    assert show.as_column(pl.Series("x", values, strict=False)).texts == texts


def test_times_are_shown_only_if_needed():
    days = pl.Series("x", ["2025-03-01 00:00", "2025-03-02 00:00"]).str.to_datetime()
    assert show.as_column(days).texts == ["2025-03-01", "2025-03-02"]
    times = pl.Series("x", ["2025-03-01 18:00", None]).str.to_datetime()
    assert show.as_column(times).texts == ["2025-03-01 18:00", ""]
    assert show.with_days(show.as_column(times)).texts == ["2025-03-01", ""]
