"""Podium's commands, run as a terminal runs them."""

import subprocess
import sys

PODIUM = [sys.executable, "-c", "from podium.cli import main; main()"]


def run(*words, status=0, stdin=None):
    done = subprocess.run([*PODIUM, *map(str, words)], capture_output=True, text=True, input=stdin, check=False)
    assert done.returncode == status, done.stderr
    assert "Traceback" not in done.stderr
    return done.stdout if status == 0 else done.stderr
