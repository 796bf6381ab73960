"""Sheets as clubs write them, from `sheet_generator.py`: what is read is true, and what nobody can know is refused."""

from collections import Counter
from dataclasses import replace
from datetime import datetime

import polars as pl
import pytest
from extent import FULL, times
from sheet_generator import LAYOUTS, write_sheet
from sheet_hand import OUT, WORDS
from sheet_judging import CRASHED, REFUSED, RIGHT, WRONG, events_of, first_difference, judge, tally

COUNT = times(120, 200)
LEAST_RIGHT = 0.95  # of the sheets that say one thing: what the reader reaches with the least of five seeds


@pytest.fixture(scope="module", params=range(1, 6 if FULL else 2))
def judged(request, tmp_path_factory):
    """Each sheet of a seed, its outcome and what there is to say of it."""
    folder = tmp_path_factory.mktemp("sheets")
    sheets = [write_sheet(request.param, number, folder) for number in range(COUNT)]
    return [(sheet, *judge(sheet.path, sheet.truth)) for sheet in sheets]


def test_no_sheet_is_read_wrong_without_a_word(judged):
    wrong = [f"{sheet.path.name}: {reason}" for sheet, outcome, reason in judged if outcome in (WRONG, CRASHED)]
    assert wrong == []


def test_most_sheets_that_say_one_thing_are_read(judged):
    counts = Counter(outcome for _, outcome, _ in judged)
    share = counts[RIGHT] / (counts[RIGHT] + counts[REFUSED])
    assert share >= LEAST_RIGHT, tally([(sheet.layout, outcome) for sheet, outcome, _ in judged])


def test_the_sheets_are_of_all_layouts_languages_and_kinds(judged):
    names = [sheet.path.name for sheet, _, _ in judged]
    assert {sheet.layout for sheet, _, _ in judged} == set(LAYOUTS)
    assert {name.rsplit(" ", 1)[1].split(".")[0] for name in names} == set(WORDS)
    assert {name.rsplit(".", 1)[1] for name in names} == {"csv", "tsv", "xlsx", "ods", "trf"}
    assert sum(bool(sheet.truth.ask) for sheet, _, _ in judged) <= COUNT / 10


def as_table(truth):
    """The results table that says what is true."""
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
    """A date of a truth as a moment."""
    return None if written is None else datetime.fromisoformat(f"{written}-01-01" if len(written) == 4 else written)


@pytest.mark.parametrize("number", range(40))
def test_the_truth_is_judged_right_and_every_other_table_wrong(number, tmp_path):
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


def test_a_list_may_be_an_event_a_game_and_a_crosstable_may_not(tmp_path):
    truths = [write_sheet(7, number, tmp_path).truth for number in range(40)]
    for truth in truths:
        split = as_table(truth).with_columns(event_id=pl.col("event_id") + "." + pl.col("heat"))
        several = any(len(event.heats) > 1 for event in truth.events)
        assert (first_difference(events_of(split), truth) == "") == (not truth.grouped or not several)
    assert {truth.grouped for truth in truths} == {True, False}


def test_a_sheet_that_nobody_can_read_is_wrong_where_it_is_read(tmp_path):
    path = tmp_path / "plain.csv"
    path.write_text("Event,Name,Place\nA,Ana,1\nA,Ben,2\n", encoding="utf-8")
    truth = write_sheet(7, 0, tmp_path).truth
    assert judge(path, replace(truth, ask="anything"))[0] == WRONG


def test_a_seed_draws_the_same_sheets(tmp_path):
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
