"""Run Podium's commands as a terminal does, but in this process, because Python starts more slowly than most run."""

import io
import sys
from contextlib import ExitStack, redirect_stderr, redirect_stdout
from types import SimpleNamespace
from unittest import mock

import pytest

from podium.cli import main
from podium.cli.service import storing


def run(*words, status=0, stdin=""):
    """Run a command, and return its output, or its errors if it should fail."""
    err, out = streams(*words, status=status, stdin=stdin)
    return out if status == 0 else err


def streams(*words, status=0, stdin=""):
    """Run a command, and return its errors and its output."""
    out, err = io.StringIO(), io.StringIO()
    typed = io.TextIOWrapper(io.BytesIO(stdin.encode()), encoding="utf-8")
    with ExitStack() as process, redirect_stdout(out), redirect_stderr(err):
        process.enter_context(mock.patch.object(sys, "argv", ["podium", *map(str, words)]))
        process.enter_context(mock.patch.object(sys, "stdin", typed))
        # The work that a command leaves for the end of its process runs at the end of this block.
        process.enter_context(mock.patch.object(storing, "atexit", SimpleNamespace(register=process.callback)))
        with pytest.raises(SystemExit) as stopped:
            main()
    assert stopped.value.code == status, err.getvalue()
    return err.getvalue(), out.getvalue()
