"""The house rules that no linter knows."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCES = sorted((ROOT / "src").rglob("*.py"))


def docs_builder():
    found = importlib.util.spec_from_file_location("docs_build", ROOT / "docs" / "build.py")
    assert found is not None
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module


def test_the_written_pages_are_what_the_code_says():
    """`make docs` writes them anew."""
    for path, text in docs_builder().pages().items():
        assert path.read_text(encoding="utf-8") == text, f"{path.name} is old: run make docs"


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.name)
def test_no_file_holds_two_concepts(path):
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 400


def test_help_loads_no_engine():
    check = "import sys, podium.cli.app; print(sorted({'numba', 'polars', 'altair'} & set(sys.modules)))"
    told = subprocess.run([sys.executable, "-c", check], check=True, capture_output=True, text=True)
    assert told.stdout.strip() == "[]"


def test_a_picture_is_drawn_anew_only_when_what_it_shows_has_changed(tmp_path):
    builder = docs_builder()
    chart, path = builder.histories(), tmp_path / "histories.svg"
    builder.draw(chart, path)
    first = path.read_bytes()
    path.write_bytes(b"drawn with other fonts" + first)
    builder.draw(builder.histories(), path)
    assert path.read_bytes() == b"drawn with other fonts" + first
    builder.draw(chart.properties(title="another"), path)
    assert path.read_bytes() not in (first, b"drawn with other fonts" + first)


def test_the_drawn_picture_shows_what_it_would_show_today(tmp_path):
    builder = docs_builder()
    path = tmp_path / "histories.svg"
    builder.draw(builder.histories(), path)
    digest = path.read_text(encoding="utf-8").splitlines()[-1]
    assert builder.PICTURE.read_text(encoding="utf-8").splitlines()[-1] == digest, "run make docs"
