"""An error about a missing library names the extra to install."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

import podium
from podium.errors import MissingExtraError, PodiumError

SEASON = Path(__file__).parents[2] / "examples" / "season.csv"


CASES = [
    ("sqlalchemy", ("pool", "list"), "a store needs the extra 'service': pip install 'podium-ratings[service]'"),
    ("altair", ("plot", "remoteness"), "a chart needs the extra 'charts': pip install 'podium-ratings[charts]'"),
    ("jinja2", ("report", SEASON, "-s", "elo"), "a report needs the extra 'service'"),
    ("optuna", ("tune", SEASON, "-s", "elo", "--train-until", "60%"), "tuning needs the extra 'tune'"),
    ("uvicorn", ("serve",), "the service needs the extra 'service': pip install 'podium-ratings[service]'"),
]
WITHOUT_EACH = """
import io, json, sys
from contextlib import redirect_stderr, redirect_stdout
from podium.cli import main
ends = []
for library, words in json.loads(sys.argv[1]):
    assert library not in sys.modules
    sys.modules[library] = None
    sys.argv[1:], out, err = words, io.StringIO(), io.StringIO()
    try:
        with redirect_stdout(out), redirect_stderr(err):
            main()
    except SystemExit as end:
        ends.append((end.code, out.getvalue(), err.getvalue()))
    del sys.modules[library]
print(json.dumps(ends))
"""


def test_a_command_names_its_missing_extra(tmp_path):
    """A process that has loaded no library runs the commands without each library in turn."""
    cases = json.dumps([(library, [*map(str, words)]) for library, words, _ in CASES])
    command = [sys.executable, "-c", WITHOUT_EACH, cases]
    completed = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, cwd=tmp_path)
    for (_, _, message), (status, out, err) in zip(CASES, json.loads(completed.stdout), strict=True):
        assert (status, out) == (2, "")
        assert f"podium: {message}" in err
    assert list(tmp_path.iterdir()) == []


def test_the_client_names_its_missing_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "podium.client", None)
    with pytest.raises(MissingExtraError, match="the client needs the extra 'client'") as caught:
        podium.Client("http://127.0.0.1:1", "key")
    assert isinstance(caught.value, PodiumError)
