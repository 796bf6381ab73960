"""The house rules that no linter knows."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

from podium.systems import names

ROOT = Path(__file__).parents[1]
SOURCES = sorted((ROOT / "src").rglob("*.py"))


def docs_builder():
    found = importlib.util.spec_from_file_location("docs_build", ROOT / "docs" / "build.py")
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module


def test_the_written_pages_are_what_the_code_says():
    """`make docs` writes them anew."""
    for path, text in docs_builder().pages().items():
        assert path.exists(), f"{path.name} is missing: run make docs"
        assert path.read_text(encoding="utf-8") == text, f"{path.name} is old: run make docs"


@pytest.mark.parametrize("name", names())
def test_every_system_has_tests_of_its_own(name):
    path = ROOT / "tests" / "systems" / f"test_{name.replace('-', '_')}.py"
    assert path.exists(), f"{name} has no tests of its own: write {path.relative_to(ROOT)}"
    assert "def test_" in path.read_text(encoding="utf-8"), f"{path.relative_to(ROOT)} tests nothing"


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.name)
def test_no_file_holds_two_concepts(path):
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 400


def test_help_loads_no_engine():
    check = "import sys, podium.cli.app; print(sorted({'numba', 'polars', 'altair'} & set(sys.modules)))"
    told = subprocess.run([sys.executable, "-c", check], check=True, capture_output=True, text=True)
    assert told.stdout.strip() == "[]"
