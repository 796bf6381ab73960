"""Wheels of this tree, and environments with them, for tests and `make release-check`."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
UV = Path(sys.executable).with_name("uv")


def run(*command, stdout=None, cwd=None):
    """Run a command outside this tree's sources, and return its piped output. Fail if it fails."""
    inherited = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    environment = inherited | {"UV_SYSTEM_CERTS": "true"}
    words = [*map(str, command)]
    done = subprocess.run(
        words, check=True, env=environment, text=True, stdin=subprocess.DEVNULL, stdout=stdout, cwd=cwd
    )
    return done.stdout


def build(folder):
    """Build both wheels into a folder without a network, and return the engine's and the client's."""
    words = "build", "--quiet", "--no-build-isolation", "--python", sys.executable, "--wheel", "--out-dir", folder
    for project in (ROOT, ROOT / "client"):
        run(UV, *words, project)
    (engine,), (client,) = folder.glob("podium_ratings-*.whl"), folder.glob("podium_client-*.whl")
    return engine, client


def make_environment(folder):
    """Create an environment without packages, and return its Python."""
    run(UV, "venv", "--quiet", "--python", sys.executable, folder)
    return folder / "bin" / "python"


def pip(python, *words):
    """Install or uninstall packages in an environment."""
    run(UV, "pip", words[0], "--quiet", "--python", python, *words[1:])
