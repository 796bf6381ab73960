"""Generated club sheets from `sheet_generator.py` are read correctly, and ambiguous ones are rejected."""

from collections import Counter
from dataclasses import replace
from datetime import datetime

import polars as pl
import pytest
from extent import FULL, times
from sheet_author import OUT, WORDS
from sheet_generator import LAYOUTS, write_sheet
from sheet_judging import CRASHED, REFUSED, RIGHT, WRONG, events_of, first_difference, judge, tally

COUNT = times(60, 200)
LEAST_RIGHT = 0.95  # of the unambiguous sheets: the lowest share among five seeds


@pytest.fixture(scope="module", params=range(1, 6 if FULL else 2))
def judged(request, tmp_path_factory):
    """Return each sheet of a seed, the outcome of reading it, and the reason."""
    folder = tmp_path_factory.mktemp("sheets")
    sheets = [write_sheet(request.param, number, folder) for number in range(COUNT)]
    return [(sheet, *judge(sheet.path, sheet.truth)) for sheet in sheets]


def test_no_sheet_is_read_incorrectly_without_a_message(judged):
    wrong = [f"{sheet.path.name}: {reason}" for sheet, outcome, reason in judged if outcome in (WRONG, CRASHED)]
    assert wrong == []


def test_most_unambiguous_sheets_are_read(judged):
    counts = Counter(outcome for _, outcome, _ in judged)
    share = counts[RIGHT] / (counts[RIGHT] + counts[REFUSED])
    assert share >= LEAST_RIGHT, tally([(sheet.layout, outcome) for sheet, outcome, _ in judged])


def test_the_sheets_have_all_layouts_languages_and_file_types(judged):
    names = [sheet.path.name for sheet, _, _ in judged]
    assert {sheet.layout for sheet, _, _ in judged} == set(LAYOUTS)
    assert {name.rsplit(" ", 1)[1].split(".")[0] for name in names} == set(WORDS)
    assert {name.rsplit(".", 1)[1] for name in names} == {"csv", "tsv", "xlsx", "ods", "trf"}
    assert sum(bool(sheet.truth.ask) for sheet, _, _ in judged) <= COUNT / 10


def as_table(truth):
    """Return the results table of a truth."""
    rows = [
        {
            "event_id": f"{number}",
            "started_at": moment(event.dates[-1]),
            "heat": f"{heat_number}",
            "player": name,
            "team": " / ".join(names) if len(names) > 1 else None,
            "position": None if rank == OUT else float(rank),
            "status": "dnf" if rank == OUT else "finished",
        }
        for number, event in enumerate(truth.events)
        for heat_number, heat in enumerate(event.heats)
        for names, rank in heat
        for name in names
    ]
    return pl.DataFrame(rows, infer_schema_length=None)


def moment(written):
    """Return a truth's date as a time."""
    return None if written is None else datetime.fromisoformat(f"{written}-01-01" if len(written) == 4 else written)


@pytest.mark.parametrize("number", range(40))
def test_only_the_true_table_is_judged_right(number, tmp_path):
    truth = write_sheet(7, number, tmp_path).truth
    table = as_table(truth)
    assert first_difference(events_of(table), truth) == ""
    mirrored = table.with_columns(
        position=pl.when(pl.col("position") == 1).then(9).when(pl.col("position") == 2).then(0.5).otherwise("position")
    )
    assert first_difference(events_of(mirrored), truth) != ""
    assert first_difference(events_of(table.filter(pl.col("event_id") != "0")), truth) != ""
    later = table.with_columns(started_at=pl.lit(datetime(2040, 2, 1), pl.Datetime))  # noqa: DTZ001  (as the others)
    assert first_difference(events_of(later), truth) != ""
    shown = table.with_columns(pl.col("player").str.replace("^", "Dr. "))
    assert first_difference(events_of(shown), truth) != ""
    one = table.with_columns(event_id=pl.lit("all"), heat=pl.col("event_id") + "." + pl.col("heat"))
    assert len(truth.events) == 1 or first_difference(events_of(one), truth) != ""


def test_games_of_a_list_may_be_events_but_those_of_a_crosstable_may_not(tmp_path):
    truths = [write_sheet(7, number, tmp_path).truth for number in range(40)]
    for truth in truths:
        split = as_table(truth).with_columns(event_id=pl.col("event_id") + "." + pl.col("heat"))
        several = any(len(event.heats) > 1 for event in truth.events)
        assert (first_difference(events_of(split), truth) == "") == (not truth.grouped or not several)
    assert {truth.grouped for truth in truths} == {True, False}


def test_reading_an_ambiguous_sheet_is_judged_wrong(tmp_path):
    path = tmp_path / "plain.csv"
    path.write_text("Event,Name,Place\nA,Ana,1\nA,Ben,2\n", encoding="utf-8")
    truth = write_sheet(7, 0, tmp_path).truth
    assert judge(path, replace(truth, ask="anything"))[0] == WRONG


def test_a_seed_gives_the_same_sheets(tmp_path):
    folders = [tmp_path / name for name in ("one", "two")]
    for folder in folders:
        folder.mkdir()
    for number in range(40):
        one, two = (write_sheet(3, number, folder) for folder in folders)
        assert one.truth == two.truth
        assert one.path.name == two.path.name
        if one.path.suffix in (".csv", ".tsv", ".trf"):
            assert one.path.read_bytes() == two.path.read_bytes()
    assert write_sheet(4, 0, tmp_path).truth != write_sheet(3, 0, tmp_path).truth
