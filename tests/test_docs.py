"""The documentation's commands and examples work, and show the documented output."""

import re
import shlex
import shutil
import socket
import subprocess
import sys
import threading
import time
from contextlib import ExitStack
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

import pytest
import uvicorn
from commands import streams
from walkthrough import Walk, blocks, matches, sessions

from podium.cli import main
from podium.cli.service import storing
from podium.service import server

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
RUN = [page for page in PAGES if {"python", "console"} & {kind for _, kind, _ in blocks(page)}]
START_S = 20


def serve(words, running):
    """Run `podium serve` in a thread, because a new process would load everything again."""
    served = []
    with (
        mock.patch.object(sys, "argv", ["podium", *words]),
        mock.patch.object(storing, "atexit", SimpleNamespace(register=running.callback)),
        mock.patch.object(server, "keep_loaded"),
        mock.patch.object(server, "run", lambda *given: served.append(given)),
        pytest.raises(SystemExit) as stopped,
    ):
        main()
    assert stopped.value.code == 0
    ((app, *given),) = served
    options = server.server_options(*given) | {"log_config": None}
    service = uvicorn.Server(uvicorn.Config(app, **options))
    thread = threading.Thread(target=service.run)
    thread.start()
    running.callback(thread.join)
    running.callback(setattr, service, "should_exit", True)
    started = time.monotonic()
    while not service.started:
        assert time.monotonic() - started < START_S, "the service does not start"
        time.sleep(0.01)


@pytest.mark.parametrize("page", RUN, ids=lambda page: page.stem)
def test_the_steps_of_a_page_work(page, tmp_path, monkeypatch):
    """Run a page's blocks in order, in a folder with the examples. Only a fresh machine tests installing."""
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = str(probe.getsockname()[1])
    with ExitStack() as running:

        def command(line):
            line, _, file = line.partition(" > ")
            name, *words = shlex.split(line)
            if name == "pip":
                return ""
            if name == "podium" and words[0] == "serve":
                serve([*words, "--port", port], running)
                return ""
            if name != "podium":
                return subprocess.run(line, shell=True, capture_output=True, text=True, check=True).stdout  # noqa: S602
            notes, output = streams(*words)
            if file:
                Path(file).write_text(output, encoding="utf-8")
                return notes
            return notes + output

        walk = Walk(page, command, f"127.0.0.1:{port}")
        monkeypatch.setitem(sys.modules, walk.module.__name__, walk.module)
        walk.follow()


def test_console_blocks_are_compared_with_terminal_output():
    block = "$ podium one\n2 …\n\n…\nlast\n$ podium two\n"
    assert list(sessions(block)) == [("podium one", "2 …\n\n…\nlast"), ("podium two", "")]
    assert matches("2 …\n\n…\nlast", "2 players  \n\na\nb\nlast\n\n")
    assert matches("…\nlast", "last\n")
    assert not matches("2 …\nlast", "2 players\nand\nlast\n")
    assert not matches("last", "last but one\n")


def test_every_tutorial_is_tested():
    tutorials = sorted((ROOT / "docs" / "tutorials").glob("*.md"))
    assert len(tutorials) == 4
    for page in tutorials:
        assert page in RUN
        assert re.search(r"^\$ podium ", page.read_text(encoding="utf-8"), re.MULTILINE), page
