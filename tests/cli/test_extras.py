"""What needs a library that is not installed says which extra to install."""

import subprocess
import sys
from pathlib import Path

import pytest

import podium
from podium.errors import MissingExtraError, PodiumError

SEASON = Path(__file__).parents[2] / "examples" / "season.csv"


@pytest.mark.parametrize(
    ("library", "words", "message"),
    [
        ("sqlalchemy", ("pool", "list"), "a store needs the extra 'service': pip install 'podium-ratings[service]'"),
        ("uvicorn", ("serve",), "the service needs the extra 'service': pip install 'podium-ratings[service]'"),
        ("altair", ("plot", "remoteness"), "a chart needs the extra 'charts': pip install 'podium-ratings[charts]'"),
        ("jinja2", ("report", SEASON, "-s", "elo"), "a report needs the extra 'charts'"),
        ("optuna", ("tune", SEASON, "-s", "elo", "--train-until", "60%"), "tuning needs the extra 'tune'"),
    ],
)  # fmt: skip
def test_a_command_names_the_extra_that_it_needs(library, words, message, tmp_path):
    start = f"import sys; sys.modules[{library!r}] = None; from podium.cli import main; main()"
    command = [sys.executable, "-c", start, *map(str, words)]
    completed = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert (completed.returncode, completed.stdout) == (2, "")
    assert f"podium: {message}" in completed.stderr
    assert list(tmp_path.iterdir()) == []


def test_the_client_names_the_extra_that_it_needs(monkeypatch):
    monkeypatch.setitem(sys.modules, "httpx2", None)
    with pytest.raises(MissingExtraError, match="the client needs the extra 'client'") as caught:
        podium.Client("http://127.0.0.1:1", "key")
    assert isinstance(caught.value, PodiumError)
