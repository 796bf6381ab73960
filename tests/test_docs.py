"""The code in the docs runs, and says what it says it says."""

import re
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[1]
BLOCK = re.compile(r"```python\n(.*?)```", re.DOTALL)
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
CODE = {page: BLOCK.findall(page.read_text(encoding="utf-8")) for page in PAGES}


@pytest.mark.parametrize("page", [page for page, blocks in CODE.items() if blocks], ids=lambda page: page.name)
def test_code_blocks_run_and_print_what_their_comments_say(page, capsys, monkeypatch):
    """The blocks of a page in turn, as someone pastes them."""
    monkeypatch.chdir(ROOT)
    module = ModuleType(f"docs_{page.stem.replace('-', '_')}")
    monkeypatch.setitem(sys.modules, module.__name__, module)
    for block in CODE[page]:
        exec(compile(block, page, "exec"), vars(module))  # noqa: S102
        promised = re.findall(r"print\(.*\)  # (.*)", block)
        assert capsys.readouterr().out.splitlines() == promised
