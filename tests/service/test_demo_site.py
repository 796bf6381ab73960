"""The example season as a live service: one command starts it, and it cleans up after itself."""

import os
import re
import signal
import socket
import subprocess
import sys
from urllib.request import urlopen

import pytest

from podium.cli.demo import HOST, listening_socket
from podium.errors import PodiumError

START_S = 120  # on a busy machine that compiles first


def fetch(address):
    with urlopen(address, timeout=START_S) as answer:  # noqa: S310  (a local address)
        return answer.read().decode()


def test_the_demo_serves_the_season_until_it_is_interrupted(tmp_path):
    command = [sys.executable, "-c", "from podium.cli import main; main()", "demo", "--serve"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, encoding="utf-8", env=os.environ | {"TMPDIR": str(tmp_path)}
    ) as demo:
        try:
            printed = ""
            while "Ctrl-C" not in printed:
                line = demo.stdout.readline()
                assert line, printed
                printed += line
            _, board, _, why, _, race, running = re.findall(r"http://\S+(?=  )", printed)
            board, why, race, running = (fetch(each) for each in (board, why, race, running))
            assert [each.name for each in tmp_path.glob("podium-demo-*/*.db")] == ["podium.db"]
            demo.send_signal(signal.SIGINT)
            rest = demo.stdout.read()
            assert demo.wait(START_S) == 0
        finally:
            demo.kill()
    assert "since 16" in board
    assert "Dragana</bdi> won, but lost 40.5 points." in why
    assert "What each place would be worth" in race
    assert "If it ended now" in running
    assert rest == "The demo has ended, and its database is deleted.\n"
    assert [*tmp_path.iterdir()] == []


def test_another_port_is_chosen_only_without_an_explicit_port(monkeypatch):
    with socket.socket() as other:
        other.bind((HOST, 0))
        other.listen()
        taken = other.getsockname()[1]
        with pytest.raises(PodiumError, match=f"port {taken} of {HOST} cannot be used"):
            listening_socket(taken)
        monkeypatch.setattr("podium.cli.demo.PORT", taken)
        with listening_socket(None) as free:
            assert free.getsockname()[1] not in {0, taken}
