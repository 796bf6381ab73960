"""The wheels: their metadata, their files and their long descriptions."""

import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))
from hatch_build import absolute_links  # noqa: E402


def test_links_of_the_long_description_are_absolute():
    text = absolute_links((ROOT / "README.md").read_text(encoding="utf-8"), "https://example.org/podium", "1.2.3")
    targets = re.findall(r"\]\(([^)]+)\)", text)
    assert len(targets) > 15
    assert [each for each in targets if not each.startswith("https://")] == []
    for each in targets:
        path = re.fullmatch(r"https://example\.org/podium/(?:blob|raw)/v1\.2\.3/([^#]+)(?:#.*)?", each)
        assert path is None or (ROOT / path[1]).exists(), each


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[a](docs/b.md#c)", "[a](https://r/blob/v1/docs/b.md#c)"),
        ("![a](b.png)", "![a](https://r/raw/v1/b.png)"),
        ("[![a](b.png)](c.md)", "[![a](https://r/raw/v1/b.png)](https://r/blob/v1/c.md)"),
        ("[a](https://b.example/c) [d](#e) [f](mailto:g@h)", "[a](https://b.example/c) [d](#e) [f](mailto:g@h)"),
        ("[a\nb](c.md), x[0](1)", "[a\nb](https://r/blob/v1/c.md), x[0](https://r/blob/v1/1)"),
    ],
)
def test_relative_links_lead_to_the_tag(text, expected):
    assert absolute_links(text, "https://r", "1") == expected
