"""Follow the steps of a documentation page in order.

Blocks of `python` are run, and every `print(…)  # text` must print its text. In a block of `console`, each line that
begins with `$ ` is a command. The lines below it are the terminal's output: notes, then results. `…` stands for any
text, also for any number of lines. A block of text under a line with only `` `name` `` is a file.

    python tests/walkthrough.py PAGE FOLDER    # every command in a shell, with the installed `podium`
"""

import io
import os
import re
import shlex
import subprocess
import sys
import time
import urllib.request
from contextlib import ExitStack, redirect_stdout
from importlib import invalidate_caches
from pathlib import Path
from types import ModuleType

BLOCK = re.compile(r"^(?:`(?P<file>[\w.-]+)`\n\n)?```(?P<kind>\w+)\n(?P<text>.*?)^```$", re.DOTALL | re.MULTILINE)
OUTPUT = re.compile(r"print\(.*\)  # (.*)")
ADDRESS = "127.0.0.1:8000"


def blocks(page):
    """Return a page's blocks with actions: a file's name or None, then python, console or text, and the content."""
    found = [each.group("file", "kind", "text") for each in BLOCK.finditer(page.read_text(encoding="utf-8"))]
    return [(file, kind, text) for file, kind, text in found if file or kind in {"python", "console"}]


def sessions(text):
    """Return a console block's commands with their output lines."""
    for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        command, _, shown = part.partition("\n")
        yield command, shown.strip("\n")


def matches(shown, output):
    """Return True if a terminal shows the output on the page."""
    lines = [r"(.*\n)*?" if line == "…" else re.escape(line).replace("…", ".*") + "\n" for line in shown.splitlines()]
    tidy = "".join(f"{line.rstrip()}\n" for line in output.strip("\n").splitlines())
    return not shown or re.fullmatch("".join(lines), tidy) is not None


class Walk:
    """A page as its reader follows it, in the current folder.

    Args:
        page: of the documentation.
        command: runs a line of a terminal and returns its output.
        address: of the service; the page says 127.0.0.1:8000.
    """

    def __init__(self, page, command, address=ADDRESS):
        self.page, self.command, self.address = page, command, address
        self.module = ModuleType(f"docs_{page.stem.replace('-', '_')}")

    def follow(self):
        """Run every block of the page."""
        for file, kind, text in blocks(self.page):
            if file:
                Path(file).write_text(text, encoding="utf-8")
            elif kind == "python":
                self.run_code(text)
            else:
                for command, shown in sessions(text):
                    output = self.command(command.replace(ADDRESS, self.address))
                    assert matches(shown, output), f"{command}\nshould show:\n{shown}\nbut shows:\n{output}"

    def run_code(self, text):
        """Run a block after the previous ones, as if somebody pasted it."""
        out = io.StringIO()
        code = compile(text.replace(ADDRESS, self.address), self.page, "exec")
        with redirect_stdout(out):
            exec(code, vars(self.module))  # noqa: S102
        printed, written = out.getvalue().splitlines(), OUTPUT.findall(text)
        assert printed == written, f"{self.page.name}:\n{text}\nprints {printed}"


def start_service(words, address):
    """Start `podium serve`, and return once it answers."""
    server = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    for _ in range(1000):
        assert server.poll() is None, "podium serve has stopped"
        try:
            urllib.request.urlopen(f"http://{address}/healthz", timeout=5).close()
        except OSError:
            time.sleep(0.05)
        else:
            return server
    server.kill()
    raise TimeoutError("podium serve does not answer")


def stopping(server):
    """Return a function that stops a service."""

    def stop():
        server.terminate()
        server.wait(30)

    return stop


def walk_in_a_shell(page, folder):
    """Follow a page with the installed commands, and print every command with its output."""
    os.chdir(folder)
    write = sys.stdout.write
    with ExitStack() as running:

        def command(line):
            write(f"$ {line}\n")
            if line.startswith("podium serve"):
                running.callback(stopping(start_service(shlex.split(line), ADDRESS)))
                return ""
            done = subprocess.run(line, shell=True, capture_output=True, text=True, check=False)  # noqa: S602
            notes = [each for each in done.stderr.splitlines() if not each.startswith("podium: compiling")]
            assert done.returncode == 0, done.stderr
            invalidate_caches()  # the list of importable modules, after an installation
            write(done.stderr + done.stdout)
            return "\n".join([*notes, done.stdout])

        walk = Walk(page, command)
        sys.modules[walk.module.__name__] = walk.module
        walk.follow()
    write(f"{page.name}: everything went as it stands there\n")


if __name__ == "__main__":
    walk_in_a_shell(Path(sys.argv[1]).resolve(), sys.argv[2])
