"""Count the functions that run for a posted result, for the player's page after it, and for `podium rate`.

    python bench/ways.py [--list]

The script counts calls of Python functions under `podium`, in order of time and in all threads. It leaves out the
bodies of modules and classes, templates and kernels. Lambdas and comprehensions are part of the function around them. A
coroutine that continues counts as called. A package is a folder of the second level, such as `store/log`. A change of
package is a call from one package to another; the same two functions count once, even in a loop. The result and the
page are the second of their kind, in a pool of the example season in SQLite. The last column counts the files that the
process has imported. `--list` prints the files of each way in the order of their first calls.
"""

import argparse
import inspect
import io
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from contextlib import redirect_stdout, suppress
from multiprocessing import get_context
from pathlib import Path
from types import FrameType
from typing import NamedTuple

from starlette.testclient import TestClient

import podium

ROOT = f"{Path(podium.__file__).parent}{os.sep}"
SEASON = Path(__file__).resolve().parents[1] / "examples" / "season.csv"
COMMAND = [sys.executable, "-c", "from podium.cli import main; main()"]
POOL, PLAYERS = "karts", ("Ana", "Chidi", "Dragana", "Mateo")
FORGETTING_S = 2.0  # keys and a pool's settings are cached for a second


class Function(NamedTuple):
    """A function: its file under `podium`, its first line and its name."""

    file: str
    line: int
    name: str

    @property
    def package(self) -> str:
        """Its folder of the second level, or the file itself directly under `podium`."""
        return "/".join(self.file.split("/")[:-1][:2]) or self.file


class Call(NamedTuple):
    """A call and its caller. A thread's first call and a library's calls have no caller."""

    caller: Function | None
    called: Function


Ways = dict[str, list[Call]]


class Trace:
    """The calls of Podium's functions, in this thread and in those that start later."""

    def __init__(self) -> None:
        self.calls: list[Call] = []
        threading.setprofile(self.note)
        sys.setprofile(self.note)

    def note(self, frame: FrameType, event: str, _: object) -> None:
        """Record a call."""
        called = function_of(frame)
        if event == "call" and called is not None:
            outer = frame.f_back
            self.calls.append(Call(None if outer is None else function_of(outer), called))

    def take(self) -> list[Call]:
        """Return the calls since the last time."""
        taken, self.calls = self.calls, []
        return taken


def function_of(frame: FrameType) -> Function | None:
    """Return the Podium function that a frame runs."""
    code = frame.f_code
    is_function = code.co_flags & inspect.CO_OPTIMIZED and not code.co_name.startswith("<")  # not the body of a class
    if not is_function or not code.co_filename.startswith(ROOT) or not code.co_filename.endswith(".py"):
        return None
    return Function(Path(code.co_filename.removeprefix(ROOT)).as_posix(), code.co_firstlineno, code.co_qualname)


def podium_rate() -> Ways:
    from podium.cli import main

    run("rate", SEASON)  # compiles
    sys.argv = ["podium", "rate", str(SEASON)]
    trace = Trace()
    with redirect_stdout(io.StringIO()), suppress(SystemExit):
        main()
    return {"podium rate": trace.take()}


def service() -> Ways:
    head, *rows = SEASON.read_text(encoding="utf-8").splitlines()
    with tempfile.TemporaryDirectory() as folder:
        database, results = Path(folder) / "podium.db", Path(folder) / "results.csv"
        results.write_text("\n".join([head, *(row for row in rows if f",{POOL}," in row)]), encoding="utf-8")
        run("pool", "create", POOL, "--system", "stk", "--public", "--db", database)
        run("ingest", results, "--pool", POOL, "--db", database)
        key = run("key", "create", "server", "--pool", POOL, "--db", database).strip()
        return requests(str(database), key)


def run(*words: object) -> str:
    return subprocess.run([*COMMAND, *map(str, words)], check=True, capture_output=True, text=True).stdout


def requests(database: str, key: str) -> Ways:
    from podium.kernels import compiled
    from podium.service import create_app
    from podium.store import Store

    compiled.MAX_INTERPRETED = 0  # kernels are machine code, as in a service that has run for a while
    store, trace = Store(database), Trace()
    client = TestClient(create_app(store), headers={"Authorization": f"Bearer {key}"})
    entries = [{"player": name, "position": place, "time_s": 60.0 + place} for place, name in enumerate(PLAYERS, 1)]
    for day, player in enumerate(PLAYERS[:2], start=1):
        result = {"event_id": f"race {day}", "started_at": f"2026-02-0{day}T12:00:00Z", "entries": entries}
        time.sleep(FORGETTING_S)
        trace.take()
        client.post(f"/api/v1/pools/{POOL}/events", json=result).raise_for_status()
        posted = trace.take()
        time.sleep(FORGETTING_S)
        client.get(f"/{POOL}/players/{player}", headers={"Accept": "text/html"}).raise_for_status()
        shown = trace.take()
    store.close()
    return {"a result": posted, "the player's page after it": shown, "both": posted + shown}


def measured(way: Callable[[], Ways]) -> tuple[Ways, int]:
    """Return the calls of each way, and the number of files imported after them."""
    calls = way()
    files = {str(getattr(module, "__file__", "")) for module in [*sys.modules.values()]}
    return calls, sum(file.startswith(ROOT) for file in files)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--list", action="store_true", help="print the files of each way")
    listed, files = parser.parse_args().list, []
    print(f"{'':28}functions   files   packages   changes of package   imported")
    with ProcessPoolExecutor(1, get_context("spawn"), max_tasks_per_child=1) as process:
        for ways, imported in process.map(measured, (service, podium_rate)):
            for name, calls in ways.items():
                functions = [each.called for each in calls]
                first = {each.file: each.name for each in reversed(functions)}
                changes = {each for each in calls if each.caller and each.caller.package != each.called.package}
                counts = len({*functions}), len(first), len({each.package for each in functions}), len(changes)
                print("{:28}{:9}{:8}{:11}{:21}{:11}".format(name, *counts, imported))
                files += [
                    f"\n{name}",
                    *(f"  {file:44} {first[file]}" for file in dict.fromkeys(each.file for each in functions)),
                ]
    print(*files if listed else (), sep="\n", end="")


if __name__ == "__main__":
    main()
