"""Small files that would take gigabytes or hours are rejected early with a clear message."""

import io
import json
import zipfile

import polars as pl
import pytest
from extent import times

import podium
from podium.errors import ParameterError, ResultsError
from podium.importers.grid import name_by_neighbours, number_repeats
from podium.importers.stored import ods_sheets, xlsx_box
from podium.results import columns
from podium.service.admin.reading import MAX_ENTRANTS, MAX_ROWS, read_file
from podium.service.admin.uploads import stored
from podium.service.api.bodies import MAX_ENTRIES

CELL = '<c r="{}" t="inlineStr"><is><t>x</t></is></c>'


def archive(path, **members):
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as opened:
        for name, text in members.items():
            opened.writestr(name, text)
    path.write_bytes(content.getvalue())
    return path


def test_a_sheet_with_few_cells_far_apart_is_rejected(tmp_path):
    far = f"<worksheet><sheetData>{CELL.format('A1')}{CELL.format('XFD1048576')}</sheetData></worksheet>"
    book = archive(tmp_path / "far.xlsx", **{"xl/worksheets/sheet1.xml": far})
    assert book.stat().st_size < 1_000
    with pytest.raises(ResultsError, match="spans 17,179,869,184 cells but fills only 2"):
        podium.read_results(str(book), lenient=True)
    cell = '<table-cell value-type="s" number-columns-repeated="16384"/>'
    row = f'<table-row number-rows-repeated="65536">{cell}</table-row>'
    sheet = f"<document><table>{row}</table></document>"
    book = archive(tmp_path / "far.ods", **{"content.xml": sheet})
    with pytest.raises(ResultsError, match="spans 1,073,741,824 cells but fills only 1"):
        podium.read_results(str(book), lenient=True)


def test_a_sheet_spans_from_its_first_cell_to_its_last():
    rows = '<x:row r="3"><x:c r="B3"/><x:c/><x:c r="AA3"/></x:row><x:row><x:c r="C4"/></x:row><cols/>'
    assert xlsx_box(rows.encode()) == (2 * 26, 4)
    assert xlsx_box(b"<sheetData/>") == (0, 0)
    full = '<table-row><table-cell value-type="s"/></table-row>'
    empty = '<table-row number-rows-repeated="1048575"><table-cell number-columns-repeated="16384"/></table-row>'
    sheets = ods_sheets(f"<d><table>{full}{empty}</table><table/></d>".encode())
    assert [(sheet.spanned, sheet.filled) for sheet in sheets] == [(1, 1), (0, 0)]


@pytest.mark.parametrize("lenient", [True, False])
def test_a_table_has_at_most_a_thousand_columns(tmp_path, lenient, monkeypatch):
    assert columns.MAX_COLUMNS == 1_000
    most = times(60, 1_000)
    monkeypatch.setattr(columns, "MAX_COLUMNS", most)
    for count in (most, most + 1):
        names = ["event_id", "player", "position", *(f"x{number}" for number in range(count - 3))]
        row = dict.fromkeys(names, "1") | {"event_id": "e"}
        rows = [row | {"player": player, "position": place} for place, player in ((1, "ana"), (2, "ben"))]
        files = {
            "r.csv": "\n".join(",".join(map(str, each)) for each in (names, *(each.values() for each in rows))),
            "r.json": json.dumps(rows),
            "r.jsonl": "\n".join(map(json.dumps, rows)),
        }
        paths = [tmp_path / name for name in (*files, "r.parquet")]
        for path, text in zip(paths, files.values(), strict=False):
            path.write_text(text, encoding="utf-8")
        pl.DataFrame(rows).write_parquet(paths[-1])
        for path in paths:
            if count > most:
                with pytest.raises(ResultsError, match=f"has more than {most:,} columns, or keys"):
                    podium.read_results(str(path), lenient=lenient)
            elif lenient:
                assert podium.read_results(str(path), lenient=True).frame.height == 2


def test_a_parquet_upload_of_too_many_rows_is_rejected_by_its_metadata():
    content = io.BytesIO()
    pl.select(pl.repeat("ana", MAX_ROWS + 1).alias("player")).write_parquet(content)
    assert len(content.getvalue()) < 100_000
    with stored(content.getvalue(), "r.parquet") as path, pytest.raises(ParameterError, match="100,001 rows"):
        read_file(path, "r.parquet", "results", "main")


def test_an_upload_has_the_same_limit_of_entrants_as_the_api():
    assert MAX_ENTRANTS == MAX_ENTRIES
    for entrants in (MAX_ENTRANTS, MAX_ENTRANTS + 1):
        lines = "".join(f"e1,p{number},{number}\n" for number in range(1, entrants + 1))
        with stored(f"event_id,player,position\n{lines}".encode(), "r.csv") as path:
            if entrants > MAX_ENTRANTS:
                with pytest.raises(ParameterError, match=r"event e1 has 10,001 entrants\. An event may have up to"):
                    read_file(path, "r.csv", "results", "main")
            else:
                assert len(read_file(path, "r.csv", "results", "main").rows) == entrants


def test_an_upload_of_games_is_rejected_as_soon_as_it_has_too_many_rows(monkeypatch):
    monkeypatch.setattr("podium.service.admin.reading.MAX_ROWS", 5)
    monkeypatch.setattr("podium.importers.collecting.CHUNK_ROWS", 4)
    games = '[White "a"]\n[Black "b"]\n[Result "1-0"]\n\n1-0\n\n' * 6 + "what is no game"
    with stored(games.encode(), "g.pgn") as path, pytest.raises(ParameterError, match="more than 5 rows"):
        read_file(path, "g.pgn", "pgn", "main")


def test_repeated_words_of_a_wide_header_are_numbered_quickly():
    names = [f"w{number // 2}" for number in range(40_000)]
    assert number_repeats(names)[-2:] == ["w19999 1", "w19999 2"]
    assert name_by_neighbours(["ana", *[""] * 40_000], ["ana"], [["1"] * 40_001])[-1] == ""


@pytest.mark.parametrize(("name", "form", "line"), [("r.csv", "results", "\n"), ("g.pgn", "pgn", "1-0\n")])
def test_an_upload_of_too_many_lines_is_rejected_before_it_is_read(name, form, line, tmp_path):
    path = tmp_path / name
    path.write_text("event_id,player,position\n" + 500_000 * line, encoding="utf-8")
    with pytest.raises(podium.PodiumError, match="more than 500,000 lines"):
        read_file(path, name, form, "main")
