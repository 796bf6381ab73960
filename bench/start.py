"""Measure a warm `podium rate` of a small table, and for comparison `import numba, polars`, which it needs.

`python bench/start.py TABLE` measures this tree. With `--base FOLDER` it takes turns with the sources of another tree.
A run that does not count compiles the kernels. Sources are compiled to bytecode before, as an installation does.
"""

import argparse
import compileall
import os
import resource
import statistics
import subprocess
import sys
import time
from pathlib import Path

COMMAND = "from podium.cli import run; run()"
IMPORTS = "import numba, polars"
ROUNDS = 10


def seconds(program: str, words: list[str], sources: str) -> tuple[float, float]:
    """Return the CPU and wall seconds of a Python program in a separate process."""
    environment = os.environ | {"PYTHONPATH": sources}
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run([sys.executable, "-c", program, *words], check=True, capture_output=True, env=environment)
    wall, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, wall


def main() -> None:
    """Measure, and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("table")
    parser.add_argument("--base", help="sources of another tree to compare with")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    chosen = parser.parse_args()
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    trees = {"base": chosen.base} if chosen.base else {}
    trees["this tree"] = str(Path(__file__).resolve().parents[1] / "src")
    programs = {name: (COMMAND, ["rate", chosen.table], sources) for name, sources in trees.items()}
    programs[IMPORTS] = (IMPORTS, [], "")
    for sources in trees.values():
        compileall.compile_dir(sources, quiet=1)
    for program in programs.values():
        seconds(*program)
    spent = {name: [] for name in programs}
    for _ in range(chosen.rounds):
        for name, program in programs.items():
            spent[name].append(seconds(*program))
    print(f"{'':22} {'CPU s, best':>12} {'median':>7} {'wall s, best':>13} {'median':>7}")
    for name, rounds in spent.items():
        (cpu, wall) = zip(*rounds, strict=True)
        best = f"{name:22} {min(cpu):12.3f} {statistics.median(cpu):7.3f}"
        print(f"{best} {min(wall):13.3f} {statistics.median(wall):7.3f}")


if __name__ == "__main__":
    main()
