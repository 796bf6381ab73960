"""Every file of docs/examples-by-sport.md becomes a leaderboard with the commands on the page."""

import csv
import io
import re
import shlex
from pathlib import Path

import pytest
from workbooks import write_ods, write_xlsx

from podium.cli.commands import build

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "examples-by-sport.md").read_text(encoding="utf-8")
SECTIONS = {part.split("\n", 1)[0]: part for part in PAGE.split("\n## ")[1:]}
FILE = re.compile(r"`(\S+)`(?: in (\S+))?\n\n```\w+\n(.*?)```", re.DOTALL)


def write_file(path, encoding, text):
    rows = list(csv.reader(io.StringIO(text)))
    if path.suffix == ".xlsx":
        write_xlsx(path, Ergebnisse=rows)
    elif path.suffix == ".ods":
        write_ods(path, [[int(cell) if cell.isdecimal() else cell for cell in row] for row in rows])
        path.with_suffix(".csv").write_text(text, encoding="utf-8")
    else:
        path.write_text(text, encoding=encoding or "utf-8")


def test_the_page_has_fifteen_files():
    assert len(SECTIONS) == 15
    assert PAGE.split("\n\n")[1].startswith("These are fifteen files")


@pytest.mark.parametrize("title", SECTIONS)
def test_a_file_of_the_page_becomes_a_leaderboard(title, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    section = SECTIONS[title]
    for name, encoding, text in FILE.findall(section):
        write_file(tmp_path / name, encoding, text)
    first = None
    for command in re.findall(r"(?m)^    podium (.*)$", section):
        words = shlex.split(command)
        form = ["--format", "csv"] if words[0] == "leaderboard" else []
        build()([*words, *form], standalone_mode=False)
        out = capsys.readouterr().out
        first = first or (next(csv.DictReader(io.StringIO(out)))["player"] if form else None)
    written = re.search(r"(?m)^First: (.*)\.$", section)
    assert written is not None
    assert first == written[1]


def test_the_pages_map_is_valid():
    from podium.importers.tables.maps import build_map, tomllib

    page = (DOCS / "own-tables.md").read_text(encoding="utf-8")
    text = re.findall(r"```toml\n(.*?)```", page, re.DOTALL)[-1]
    assert set(build_map(tomllib.loads(text)).columns) >= {"event_id", "time_s", "score"}
