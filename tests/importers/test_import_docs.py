"""The commands of docs/importers.md run on files as their producers write them."""

import re
import shlex
from pathlib import Path

import pytest

import podium
from podium.importers import FORMATS

ROOT = Path(__file__).parents[2]
COMMANDS = re.findall(r"(?m)^ {4}podium (.+)$", (ROOT / "docs" / "importers.md").read_text(encoding="utf-8"))


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_of_the_page_runs(command, podium_command, tmp_path, monkeypatch):
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    status, output, errors = podium_command(*shlex.split(command))
    assert (status, errors) == (0, ""), errors
    assert output
    if "-o results.csv" in command:
        rated = podium.rate("results.csv", "elo")
        assert rated.ratings["events"].min() >= 1
        assert rated.ratings.height >= 3


def test_the_page_has_a_command_for_every_format():
    assert {command.split()[1] for command in COMMANDS if command.startswith("import")} == set(FORMATS) - {"csv"}
