"""Compare Podium's speed with an earlier revision's: `make bench AGAINST=REVISION`.

Each revision runs its own sources and its own bench files in a separate process. The two take turns on every row, so
that a busy machine slows both. A ratio is the speed of this tree divided by the revision's in one round: above 1 is
faster. Both use the same environment and therefore the same libraries.
"""

import argparse
import io
import json
import os
import selectors
import signal
import statistics
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from fnmatch import fnmatch
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
ROUNDS = 11
ROW_S = 60.0  # a row ends after this time if it has had MIN_ROUNDS
MIN_ROUNDS = 3
ANSWER_S = 600.0  # longest wait for an answer from a process
SLOWER = 0.97  # a row is slower if its upper quartile is below this

Speeds = Mapping[str, float]


class Spread(NamedTuple):
    """Median and quartiles of a row's ratios."""

    low: float
    lower_quartile: float
    median: float
    upper_quartile: float
    high: float
    rounds: int

    @property
    def slower(self) -> bool:
        """Return True if the row is slower by more than the spread explains."""
        return self.upper_quartile < SLOWER


class Matched(NamedTuple):
    """The rows that both revisions have, in the order of the second, and the rows that only one has."""

    both: list[str]
    only_before: list[str]
    only_now: list[str]


def match_rows(before: Sequence[str], now: Sequence[str]) -> Matched:
    return Matched(
        [name for name in now if name in before],
        [name for name in before if name not in now],
        [name for name in now if name not in before],
    )


def round_ratios(rounds: Sequence[tuple[Speeds, Speeds]]) -> dict[str, list[float]]:
    """Return the ratio, now divided by before, of every row that both have in a round."""
    ratios: dict[str, list[float]] = {}
    for before, now in rounds:
        for name in match_rows(list(before), list(now)).both:
            ratios.setdefault(name, []).append(now[name] / before[name])
    return ratios


def spread(ratios: Sequence[float]) -> Spread:
    quartiles = statistics.quantiles(ratios, n=4, method="inclusive") if len(ratios) > 1 else list(ratios) * 3
    return Spread(min(ratios), quartiles[0], quartiles[1], quartiles[2], max(ratios), len(ratios))


class RowError(Exception):
    """A row that a revision could not measure."""


class Side:
    """The process of one revision, which measures on request."""

    def __init__(self, name: str, tree: Path) -> None:
        self.name = name
        command = [sys.executable, str(Path(__file__).with_name("timing.py")), str(tree / "bench")]
        environment = os.environ | {"PYTHONPATH": str(tree / "src"), "PYTHONUNBUFFERED": "1"}
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment, start_new_session=True
        )

    def answer(self) -> object:
        """Return the next answer of the process."""
        assert self.process.stdout is not None  # noqa: S101 it is a pipe
        with selectors.DefaultSelector() as ready:
            ready.register(self.process.stdout, selectors.EVENT_READ)
            line = self.process.stdout.readline() if ready.select(ANSWER_S) else ""
        if not line:
            raise SystemExit(f"{self.name}: its process ended, or was silent for {ANSWER_S:.0f} s; see above")
        return json.loads(line)

    def measure(self, row: str) -> Speeds:
        """Return the speeds from one measurement of a row."""
        assert self.process.stdin is not None  # noqa: S101 it is a pipe
        print(row, file=self.process.stdin, flush=True)
        answer = self.answer()
        if not isinstance(answer, dict):
            raise RowError(f"{self.name}: {answer}")
        return answer

    def stop(self) -> None:
        """End the process and its children."""
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


@contextmanager
def check_out(revision: str) -> Iterator[Path]:
    """Yield a folder with the files of a revision, and remove it afterwards."""
    git = ["git", "-C", str(ROOT), "archive", "--format=tar", revision]
    archive = subprocess.run(git, check=False, capture_output=True)
    if archive.returncode:
        raise SystemExit(f"{revision} is not a revision of this repository: {archive.stderr.decode().strip()}")
    with tempfile.TemporaryDirectory(prefix="podium-bench-") as folder:
        with tarfile.open(fileobj=io.BytesIO(archive.stdout)) as files:
            files.extractall(folder, filter="data")
        yield Path(folder)


def take_turns(before: Side, now: Side, row: str, rounds: int) -> dict[str, Spread]:
    """Measure a row on both sides by turns, after a first round that compiles and is not counted."""
    before.measure(row)
    now.measure(row)
    measured: list[tuple[Speeds, Speeds]] = []
    started = time.perf_counter()
    for number in range(rounds):
        if number >= MIN_ROUNDS and time.perf_counter() - started > ROW_S:
            break
        if number % 2:
            faster = now.measure(row)
            measured.append((before.measure(row), faster))
        else:
            measured.append((before.measure(row), now.measure(row)))
    return {name: spread(ratios) for name, ratios in round_ratios(measured).items()}


def line(name: str, row: Spread) -> str:
    return (
        f"{name:46} {row.median:7.3f}  {row.lower_quartile:.3f} to {row.upper_quartile:.3f}  "
        f"{row.low:.3f} to {row.high:.3f} {row.rounds:7}{'  SLOWER' if row.slower else ''}"
    )


def compare_trees(revision: str, pattern: str, rounds: int) -> bool:
    """Print the ratio of every row, and return True if every common row was measured and none is slower."""
    with ExitStack() as stack:
        tree = stack.enter_context(check_out(revision))
        before, now = Side(revision, tree), Side("this tree", ROOT)
        for side in (before, now):
            stack.callback(side.stop)
        names = [[str(name) for name in side.answer() if fnmatch(name, pattern)] for side in (before, now)]
        rows = match_rows(*names)
        print(f"{'this tree by ' + revision:46} {'median':>7}  {'quartiles':14}  {'all':14} {'rounds':>7}")
        fine = bool(rows.both)
        for row in rows.both:
            try:
                for name, ratios in take_turns(before, now, row, rounds).items():
                    print(line(name, ratios), flush=True)
                    fine = fine and not ratios.slower
            except RowError as problem:
                print(f"{row:46} {problem}", flush=True)
                fine = False
        for name in rows.only_before:
            print(f"{name:46} only in {revision}")
        for name in rows.only_now:
            print(f"{name:46} only in this tree")
        if not rows.both:
            print(f"no common row matches {pattern!r}; this tree has: {', '.join(names[1]) or 'none'}")
    return fine


def main() -> None:
    """Compare, and exit with 1 if a row is slower by more than its spread."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("revision", help="a commit, branch or tag of this repository")
    parser.add_argument("--rows", default="*", help="only rows whose names match, for example 'races of 8*'")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="rounds for each row, after one that compiles")
    chosen = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # end the processes and remove the folder then too
    sys.exit(not compare_trees(chosen.revision, chosen.rows, max(1, chosen.rounds)))


if __name__ == "__main__":
    main()
