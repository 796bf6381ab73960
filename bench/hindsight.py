"""Compare hindsight with other packages on hidden results: `python bench/hindsight.py DATA HISTORY [PEER ...]`.

The script hides a random tenth of the events. It prints the log loss of their pairs: the filter's, from all earlier
events including hidden ones, and that of hindsight, from all other events, earlier and later. It also prints the CPU
seconds of one run. Podium uses its defaults and what it learns without the hidden events. Each peer uses the best
parameters of a grid, chosen on the hidden events. TrueSkill Through Time reads whole fields, the others read pairs. The
peers are optional: `pip install trueskillthroughtime kickscore whole-history-rating`.

`python bench/hindsight.py duels COUNT PLAYERS` runs hindsight on random duels, and prints its seconds and megabytes.
"""

import math
import resource
import sys
import time
from bisect import bisect_right
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl

import podium
from podium.engine.replay import replay
from podium.engine.tables.encoding import encode
from podium.ledger.hindsight import heat_bounds, heats_in, visits_by_player, visits_of
from podium.ledger.smoothing.propagation import learn, widen
from podium.systems import _adaptive_state, find
from podium.systems._adaptive_state import SIDE_MEAN, C

SHARE, SEED, MIN_CHANCE, DRAW = 10, 1, 1e-3, 0.5
FILES = {
    "tennis": "data/atp.parquet",
    "f1": "data/f1.parquet",
    "zakstunts": "data/zakstunts.parquet",
    "chess": "truth/data/tcec.parquet",
    "snooker": "truth/data/snooker.parquet",
}
MONTH_DAYS = 30.4  # between races without dates


class Case(NamedTuple):
    """A history and its hidden events."""

    results: pl.DataFrame
    pairs: pl.DataFrame  # of all events: event_id, player, opponent, expected, result, day, left_out

    @property
    def kept(self) -> pl.DataFrame:
        """The pairs that are not hidden, in order of time."""
        return self.pairs.filter(~pl.col("left_out"))


Chance = Callable[[str, str, float], float]  # expected score, from both names and the day


def load(data: Path, name: str) -> pl.DataFrame:
    """Return a history's results: the finishers, one day per event."""
    rows = pl.read_parquet(data / FILES[name])
    if name == "tennis":
        rows = rows.filter(pl.col("started_at").dt.year().is_between(1990, 1999))
    if name == "f1":
        rows = rows.filter(pl.col("pool") == "f1-race")
    if name == "zakstunts":
        number = pl.col("event_id").rle_id().cast(pl.Float64)
        moment = pl.lit(0).cast(pl.Datetime("us", "UTC")) + pl.duration(seconds=number * MONTH_DAYS * 86_400)
        rows = rows.with_columns(started_at=moment)
    if "status" in rows.columns:
        rows = rows.filter(pl.col("status").is_null() | (pl.col("status") == "finished"))
    wanted = ("event_id", "started_at", "heat", "player", "position", "score", "side")
    rows = rows.select(each for each in wanted if each in rows.columns)
    return rows.select(each for each in rows.columns if rows[each].null_count() < rows.height)


def split(results: pl.DataFrame) -> Case:
    """Return the pairs that the filter compares, with a tenth of the events marked as hidden."""
    pairs = podium.rate(results, "adaptive").predictions()
    ids = pairs["event_id"].unique(maintain_order=True)
    out = np.random.default_rng(SEED).choice(ids.len(), ids.len() // SHARE, replace=False)
    day = pl.col("started_at").dt.epoch("us") / 86.4e9
    pairs = pairs.with_columns(day=day - day.min(), left_out=pl.col("event_id").is_in(ids[out].to_list()))
    return Case(results, pairs)


def loss(chances: pl.Series, results: pl.Series) -> float:
    """Return the mean log loss of scores."""
    p = chances.to_numpy().clip(MIN_CHANCE, 1.0 - MIN_CHANCE)
    s = results.to_numpy()
    return float(-(s * np.log(p) + (1.0 - s) * np.log1p(-p)).mean())


def ours(case: Case) -> tuple[float, float]:
    """Return Podium's result: it learns without the hidden events, and filters them with random results."""
    out = set(case.pairs.filter("left_out")["event_id"])
    is_out = pl.col("event_id").is_in(list(out))
    column = "score" if "score" in case.results.columns else "position"
    lot = pl.col(column).shuffle(SEED).over("event_id")
    system = find("adaptive")()
    learnt = podium.rate(case.results.filter(~is_out), system).replayed.pools
    events = encode(
        podium.read_results(case.results.with_columns(pl.when(is_out).then(lot).otherwise(column).alias(column))),
        system,
    )
    seconds = math.inf
    for _ in range(2):  # the first run compiles
        started = time.process_time()
        replayed = replace(replay(system, events), pools=learnt)
        event_of = events.results.frame["event_id"].gather(events.ledger.row.array)
        entrant = events.ledger.entrant.array
        update = np.searchsorted(events.columns.entrants, np.arange(events.columns.player.size), "right") - 1
        silent = np.zeros(events.columns.entrants.size - 1, bool)
        silent[update[entrant[event_of.is_in(list(out)).to_numpy()]]] = True
        way = visits_by_player(events)
        visits, heats = visits_of(system, events, replayed, way), heats_in(system, events, replayed, way)
        heats.weight[np.repeat(silent, np.diff(heat_bounds(events)))] = 0.0
        heats.worth[heats.weight == 0.0] = 0.0
        sweeps = learn(heats, visits, way, learnt[:, _adaptive_state.THETA :])
        widen(heats, visits, way)
        seconds = min(seconds, time.process_time() - started)
    ahead, visit = replayed.pool_history[update[entrant], SIDE_MEAN], np.argsort(way.order)[entrant]
    white = (events.results.frame["side"] == "white") if "side" in events.results.frame.columns else None
    home = white.gather(events.ledger.row.array).fill_null(value=False).to_numpy() if white is not None else 0.0
    player = events.results.frame["player"].gather(events.ledger.row.array)
    known = pl.DataFrame(
        {
            "event_id": event_of,
            "player": player,
            "mean": visits.mean[visit] + ahead * home,
            "variance": visits.variance[visit],
        }
    )
    both = case.pairs.filter("left_out").join(known.unique(["event_id", "player"]), on=["event_id", "player"])
    both = both.join(
        known.unique(["event_id", "player"]),
        left_on=["event_id", "opponent"],
        right_on=["event_id", "player"],
        suffix="_b",
    )
    spread = pl.col("variance") + pl.col("variance_b") + 2.0 * float(heats.numbers[0, 0])
    chance = 1.0 / (1.0 + (-(pl.col("mean") - pl.col("mean_b")) / (1.0 + C * spread).sqrt()).exp())
    print(f"  {sweeps} sweeps, {both.height:,} pairs judged")
    return loss(both.select(chance.alias("p"))["p"], both["result"]), seconds


def between(curve: list[tuple[float, float, float]], day: float, a_day: float) -> tuple[float, float]:
    """Return mean and variance of a random walk on a day, from the neighbouring days."""
    k = bisect_right(curve, (day, math.inf, math.inf))
    if k == 0 or k == len(curve):
        at, mean, variance = curve[min(k, len(curve) - 1)] if k == 0 else curve[-1]
        return mean, variance + a_day * abs(day - at)
    (t0, m0, v0), (t1, m1, v1) = curve[k - 1], curve[k]
    w = (day - t0) / (t1 - t0)
    bridge = a_day * (day - t0) * (t1 - day) / (t1 - t0)
    return m0 + w * (m1 - m0), ((1.0 - w) * math.sqrt(v0) + w * math.sqrt(v1)) ** 2 + bridge


def through_time(case: Case, gamma: float, sigma: float) -> Chance:
    """Run TrueSkill Through Time for ten iterations."""
    from trueskillthroughtime import History

    days = case.pairs.select("event_id", "day").unique()
    kept = case.results.join(days, on="event_id").filter(
        pl.col("event_id").is_in(case.kept["event_id"].unique().to_list())
    )
    keys = ["event_id", "heat"] if "heat" in kept.columns else ["event_id"]
    best = -pl.col("position").cast(pl.Float64) if "position" in kept.columns else pl.col("score")
    heats = (
        kept.sort("day", maintain_order=True)
        .group_by(keys, maintain_order=True)
        .agg("player", best.alias("best"), pl.col("day").first())
    )
    heats = heats.filter(pl.col("player").list.len() > 1)
    drawn = float((case.kept["result"] == DRAW).mean())  # type: ignore[arg-type]
    composition = [[[name] for name in names] for names in heats["player"]]
    places = [list(each) for each in heats["best"]]
    times = [round(each) for each in heats["day"]]
    history = History(composition, places, times, sigma=sigma, beta=1.0, gamma=gamma, p_draw=drawn)
    history.convergence(iterations=10, verbose=False)
    curves = {name: [(t, g.mu, g.sigma**2) for t, g in curve] for name, curve in history.learning_curves().items()}
    new = [(0.0, 0.0, sigma**2)]

    def chance(a: str, b: str, day: float) -> float:
        (ma, va), (mb, vb) = (
            between(curves.get(name, new), day, gamma**2 if name in curves else 0.0) for name in (a, b)
        )
        return 0.5 * (1.0 + math.erf((ma - mb) / math.sqrt(2.0 * (2.0 + va + vb))))

    return chance


def whole_history(case: Case, w2: float) -> Chance:
    """Run Whole-History Rating on pairs."""
    from whr import WHR

    base = WHR({"w2": w2})
    for a, b, result, day in case.kept.select("player", "opponent", "result", "day").rows():
        base.create_game(a, b, "B" if result == 1.0 else "W" if result == 0.0 else "D", round(day), 0)
    base.auto_iterate(time_limit=600)
    unit = math.log(10.0) / 400.0
    curves = {
        name: [(each.day, each.r, each.uncertainty) for each in player.days] for name, player in base.players.items()
    }

    def chance(a: str, b: str, day: float) -> float:
        (ma, va), (mb, vb) = (between(curves.get(name, [(0.0, 0.0, 1.0)]), day, w2 * unit * unit) for name in (a, b))
        return 1.0 / (1.0 + math.exp(-(ma - mb) / math.sqrt(1.0 + math.pi / 8.0 * (va + vb))))

    return chance


def kickscore(case: Case, a_year: float, start: float) -> Chance:
    """Run Kickscore on pairs, with a Wiener process."""
    import kickscore as ks

    has_ties = bool((case.kept["result"] == DRAW).any())
    model = ks.TernaryModel(margin=0.7, obs_type="logit") if has_ties else ks.BinaryModel(obs_type="logit")
    for name in {*case.pairs["player"], *case.pairs["opponent"]}:
        model.add_item(name, kernel=ks.kernel.Constant(var=start) + ks.kernel.Wiener(var=a_year, t0=0.0))
    for a, b, result, day in case.kept.select("player", "opponent", "result", "day").rows():
        names = ([a], [b]) if result >= DRAW else ([b], [a])
        model.observe(*names, t=day / 365.25, **({"tie": result == DRAW} if has_ties else {}))
    model.fit(max_iter=30)

    def chance(a: str, b: str, day: float) -> float:
        found = model.probabilities([a], [b], t=day / 365.25)
        return found[0] + (0.5 * found[1] if has_ties else 0.0)

    return chance


def grids() -> Iterator[tuple[str, Callable[..., Chance], list[tuple[float, ...]]]]:
    """Return each peer with the parameters to try."""
    yield "ttt", through_time, [(0.015, 1.0), (0.03, 1.0), (0.03, 2.0), (0.06, 2.0)]
    yield "whr", whole_history, [(5.0,), (20.0,), (60.0,), (200.0,)]
    yield "kickscore", kickscore, [(0.1, 1.0), (0.3, 1.0), (1.0, 1.0), (0.3, 3.0)]


def main(data: Path, name: str, peers: list[str]) -> None:
    """Print the log loss and CPU seconds of each package."""
    case = split(load(data, name))
    judged = case.pairs.filter("left_out")
    print(name, case.results.height, "rows", case.kept.height, "pairs kept", judged.height, "judged", flush=True)
    print(f"  filter {loss(judged['expected'], judged['result']):.4f}", flush=True)
    print("  hindsight {:.4f} {:.2f} s".format(*ours(case)), flush=True)
    for peer, fit, grid in grids():
        for parameters in grid if peer in peers else ():
            started = time.process_time()
            try:
                chance: Any = fit(case, *parameters)
            except (ArithmeticError, ValueError) as error:  # for example a singular matrix
                print(f"  {peer} {parameters} failed: {error}", flush=True)
                continue
            seconds = time.process_time() - started
            rows = judged.select("player", "opponent", "day").rows()
            found = pl.Series([chance(*row) for row in rows])
            print(f"  {peer} {parameters} {loss(found, judged['result']):.4f} {seconds:.1f} s", flush=True)


def peak_mb() -> float:
    """Return the peak memory of this process."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def duels(count: int, players: int) -> pl.DataFrame:
    """Return duels of players with normal skills in log-odds, one every quarter of an hour."""
    rng = np.random.default_rng(SEED)
    skill, first = rng.normal(0.0, 1.0, players), rng.integers(0, players, count)
    second = (first + rng.integers(1, players, count)) % players
    wins = rng.random(count) < 1.0 / (1.0 + np.exp(skill[second] - skill[first]))
    number = pl.Series(np.repeat(np.arange(count), 2))
    return pl.DataFrame(
        {
            "event_id": number.cast(pl.String),
            "started_at": pl.select(
                pl.datetime(1990, 1, 1, time_zone="UTC") + pl.duration(minutes=15 * number)
            ).to_series(),
            "player": pl.Series(np.column_stack([first, second]).ravel()).cast(pl.String),
            "position": np.column_stack([2 - wins, 1 + wins]).ravel(),
        }
    )


def look_back(count: int, players: int) -> None:
    """Print what hindsight of random duels costs beyond rating them."""
    podium.rate(duels(100, 10), "adaptive").hindsight()  # loads compiled code
    rated = podium.rate(duels(count, players), "adaptive")
    before, started, began = peak_mb(), time.perf_counter(), time.process_time()
    sweeps = rated.hindsight().sweeps
    took, cpu = time.perf_counter() - started, time.process_time() - began
    print(f"{count:,} duels of {players:,}: {sweeps} sweeps, {took:.1f} s, {cpu:.1f} s of the processor")
    print(f"  {before:,.0f} MB at most when rated, {peak_mb():,.0f} MB after")


if __name__ == "__main__":
    if sys.argv[1] == "duels":
        look_back(int(sys.argv[2]), int(sys.argv[3]))
    else:
        main(Path(sys.argv[1]), sys.argv[2], sys.argv[3:])
