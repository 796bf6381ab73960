"""The code in the docs runs, and says what it says it says."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
BLOCK = re.compile(r"```python\n(.*?)```", re.DOTALL)
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCKS = [(page.name, block) for page in PAGES for block in BLOCK.findall(page.read_text(encoding="utf-8"))]


@pytest.mark.parametrize(("page", "block"), BLOCKS, ids=[page for page, _ in BLOCKS])
def test_code_blocks_run_and_print_what_their_comments_say(page, block, capsys, monkeypatch):
    monkeypatch.chdir(ROOT)
    exec(compile(block, page, "exec"), {"__name__": f"docs_{page.partition('.')[0].replace('-', '_')}"})  # noqa: S102
    promised = re.findall(r"print\(.*\)  # (.*)", block)
    assert capsys.readouterr().out.splitlines() == promised
