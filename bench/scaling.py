"""Many pools by each executor: CPU seconds, start-up apart, peak memory, and whether they agree to the bit.

`python bench/scaling.py --data FOLDER` makes a dataset of 200 pools of 100,000 entries there, once, and rates it in one
process, in two, and by two workers of Dask, also with one of them killed in the middle; each in a process of its own,
in turns. On a busy machine only CPU seconds count: a worker's own, while it rates, beside those of `local`.
"""

import argparse
import hashlib
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
from memory import peak_mb

HERE = Path(__file__).resolve()
POOLS = 200
EVENTS, ENTRANTS, PLAYERS = 12_500, 8, 2_000  # of a pool
KILLED = "dask-killed"  # one of its workers, in the middle
ENGINES = ("local", "processes", "dask", KILLED)
WORKERS = 2


def pool_tables(pools: int, events: int) -> Iterator[pl.DataFrame]:
    from podium.analysis.simulation import simulate

    for pool in range(pools):
        season = simulate(seed=pool, events=events, entrants=ENTRANTS, players=PLAYERS, quits=0.0).results
        named = (pl.lit(f"pool-{pool:04}-") + pl.col("event_id")).alias("event_id")
        yield season.select(named, "started_at", "player", "position", pool=pl.lit(f"pool-{pool:04}"))


def make(folder: Path, pools: int, events: int) -> None:
    from podium.dataset import write

    began = time.process_time()
    dataset = write(pool_tables(pools, events), folder)
    print(f"{dataset}: simulated and written in {time.process_time() - began:.1f} CPU s, {peak_mb():.0f} MB at most")


def child(engine: str, folder: str, system: str, *, history: bool) -> None:
    """Rate by one engine, and tell what it took."""
    began = time.perf_counter()
    import podium

    with tempfile.TemporaryDirectory(dir=Path(folder).parent) as room:
        how = {"history_to": Path(room) / "history"} if history else {}
        if engine == KILLED:
            rated = rate_and_kill(folder, system, how)
        else:
            how |= {"workers": WORKERS} if engine != "local" else {}
            rated = podium.rate(folder, system, engine=engine, **how)
        manifest = Path(room) / "history" / "_history.json"
        written = [each["digest"] for each in json.loads(manifest.read_text())["files"]] if history else []
    digest = hashlib.blake2b(digest_size=8)
    for column in rated.states.iter_columns():
        digest.update(column.to_frame().hash_rows(seed=1).to_numpy().tobytes())
    digest.update("".join(written).encode())
    spent = rated.spent.values()
    workers: dict[int, float] = {}
    for each in spent:
        workers[each.process] = workers.get(each.process, 0.0) + each.cpu_s
    own, others = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    figures = {
        "digest": digest.hexdigest(),
        "rows": rated.dataset.rows,
        "rating_cpu_s": sum(workers.values()),
        "busiest_cpu_s": max(workers.values()),
        "all_cpu_s": own.ru_utime + own.ru_stime + others.ru_utime + others.ru_stime,
        "rating_wall_s": max(each.ended for each in spent) - min(each.began for each in spent),
        "wall_s": time.perf_counter() - began,
        "peak_mb": peak_mb(),
        "worker_peak_mb": others.ru_maxrss / 1024,
    }
    print(json.dumps(figures))


def rate_and_kill(folder: str, system: str, how: dict[str, Any]) -> Any:
    """Rate by two workers of Dask, one of which is killed in the middle."""
    import podium
    from podium.large import rating as pools
    from podium.large.executors import dask_workers
    from podium.systems import make_system

    with dask_workers(None, WORKERS) as workers:
        client = workers.client
        victims = [min(client.run(os.getpid).values())]

        def kill(done: int, pools: int) -> None:
            if victims and 2 * done >= pools:
                os.kill(victims.pop(), signal.SIGKILL)

        dataset, chosen = podium.dataset.open_dataset(folder), make_system(system)
        return pools.rate_dataset(dataset, chosen, "event", engine=client, progress=kill, **how)


def run_child(engine: str, folder: Path, system: str, *, history: bool) -> dict[str, float | str]:
    environment = os.environ | {"PYTHONPATH": str(HERE.parents[1] / "src")}
    if engine == "local":  # one core against one core
        environment |= {"POLARS_MAX_THREADS": "1"}
    command = [sys.executable, str(HERE), "--child", engine, str(folder), "--system", system]
    command += ["--history"] if history else []
    return json.loads(subprocess.run(command, check=True, capture_output=True, env=environment).stdout)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, help="where the dataset is made and stays; gone afterwards if not given")
    parser.add_argument("--pools", type=int, default=POOLS)
    parser.add_argument("--events", type=int, default=EVENTS, help="of a pool")
    parser.add_argument("--engines", default=",".join(ENGINES))
    parser.add_argument("--system", default="elo")
    parser.add_argument("--history", action="store_true", help="let the workers write the histories too")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--make", action="store_true", help="make the dataset, and no more")
    parser.add_argument("--child", nargs=2, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.child:
        child(*chosen.child, chosen.system, history=chosen.history)
        return
    with tempfile.TemporaryDirectory() as room:
        folder = (chosen.data or Path(room)) / f"pools-{chosen.pools}-{chosen.events}"
        if not folder.exists():
            folder.parent.mkdir(parents=True, exist_ok=True)
            make(folder, chosen.pools, chosen.events)
        best: dict[str, dict[str, float | str]] = {}
        for _ in range(0 if chosen.make else chosen.rounds):
            for engine in chosen.engines.split(","):
                figures = run_child(engine, folder, chosen.system, history=chosen.history)
                before = best.get(engine, figures)
                best[engine] = {name: min(before[name], value) for name, value in figures.items()}
    report(best)


def report(best: dict[str, dict[str, float | str]]) -> None:
    columns = ("rating_cpu_s", "busiest_cpu_s", "all_cpu_s", "rating_wall_s", "wall_s", "peak_mb", "worker_peak_mb")
    print(f"{'engine':11} {'digest':16} " + " ".join(f"{name:>14}" for name in columns))
    for engine, figures in best.items():
        print(f"{engine:11} {figures['digest']:16} " + " ".join(f"{figures[name]:14.2f}" for name in columns))
    if "local" in best:
        local = best["local"]
        for engine in best.keys() - {"local"}:
            each = best[engine]
            share, factor = local["rating_cpu_s"] / each["rating_cpu_s"], local["rating_cpu_s"] / each["busiest_cpu_s"]
            wall = local["rating_wall_s"] / each["rating_wall_s"]
            print(
                f"{engine}: throughput a core {share:.0%} of local's, {factor:.2f} times as fast by CPU seconds,",
                end=" ",
            )
            print(f"{wall:.2f} by the clock, start-up apart")
            print(f"{engine}: the same bits: {each['digest'] == local['digest']}")
        print(f"load average: {' '.join(f'{each:.1f}' for each in os.getloadavg())}")


if __name__ == "__main__":
    main()
