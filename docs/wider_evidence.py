"""What results say beside their order, tried on a plain form of `podium`'s filter: its parameters are given, and stay.

Times, and parts played. Every trial is judged on the later half of a training part.
"""

import math
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

import numba
import numpy as np
import numpy.typing as npt
import polars as pl
from public_histories import HISTORIES

import podium
from podium.analysis.evaluation import INTERVAL, RESAMPLES, SEED
from podium.analysis.simulation import simulate
from podium.analysis.tuning import last_training, middle_of_training, starts_of
from podium.engine.inputs import comparable, entries_of, heats_of, part_at, slot_at
from podium.engine.tables.encoding import Events, encode
from podium.ledger.pair_predictions import held_heats
from podium.systems import find

ORDER, SOFT, FURTHER, PART = range(4)  # what an entry's number does to the evidence of a pair
VARIANCES = 3.0 / np.pi**2  # of the normal, for those of the logistic
YEAR, GROWTH_DAYS, DECADE = 365.25, 800.0, 3652.5
SEASONS = range(1, 11)  # seeds of simulated seasons
Floats = npt.NDArray[np.float64]


class Parameters(NamedTuple):
    """The filter's parameters, in log-odds, days and years."""

    spread: float
    event: float
    day: float
    noise: float
    growth: float
    ageing: float
    unfinished: float
    reach: float


class Trial(NamedTuple):
    """How the evidence of a pair is read."""

    kind: int = ORDER
    strength: float = 0.0


class Heats(NamedTuple):
    """What the filter reads beside the columns of events."""

    day: Floats  # (settlements)
    number: Floats  # (entries) a time over the mean gap of its heat, or a part played; NaN where not known
    judged: npt.NDArray[np.bool_]  # (heats)


class History(NamedTuple):
    """Events of a training part, and the parameters of each pool."""

    events: Events
    heats: Heats
    parameters: list[Parameters]


@numba.njit
def weigh(trial: Trial, mine: float, theirs: float, result: float) -> tuple[float, float]:
    """The result and the weight of a pair whose entries have these numbers."""
    if trial.kind == PART:
        return result, min(mine, theirs) ** trial.strength
    if trial.kind == ORDER or np.isnan(mine) or np.isnan(theirs):
        return result, 1.0
    if trial.kind == SOFT:
        return 0.5 + 0.5 * np.tanh(trial.strength * (theirs - mine)), 1.0
    return result, (1.0 + trial.strength * abs(theirs - mine)) / (1.0 + trial.strength)


@numba.njit
def run_filter(  # noqa: C901  (the loop over a history, in the order of its steps)
    columns: Any, heats: Heats, parameters: Parameters, trial: Trial, first: int, last: int, losses: Any
) -> None:
    """Add up the log loss, (heats, 2) with the number of pairs, of settlements `first` to `last`."""
    p, players = parameters, columns.player.max() + 1
    mean, variance = np.zeros(players), np.full(players, p.spread)
    first_day, last_day = np.full(players, np.nan), np.zeros(players)
    for settlement in range(first, last):
        start, stop = columns.entrants[settlement], columns.entrants[settlement + 1]
        size, today = stop - start, heats.day[settlement]
        m, v, surprise, information = np.zeros(size), np.zeros(size), np.zeros(size), np.zeros(size)
        for i in range(size):
            k = columns.player[start + i]
            if np.isnan(first_day[k]):
                first_day[k] = today
            else:
                days, age = today - last_day[k], today - first_day[k]
                variance[k] += p.event + p.day * days
                mean[k] += days / YEAR * (p.growth * np.exp(-age / GROWTH_DAYS) - p.ageing * min(age / DECADE, 2.0))
            last_day[k] = today
            m[i], v[i] = mean[k], variance[k]
        first_heat, after_last = heats_of(columns, settlement)
        for heat in range(first_heat, after_last):
            begin, end = entries_of(columns, heat)
            for i in range(begin, end):
                for j in range(i + 1, end):
                    if not comparable(columns, i, j):
                        continue
                    a, b = slot_at(columns, i, start), slot_at(columns, j, start)
                    gap = columns.place[j] - columns.place[i]
                    result = 1.0 if gap > 0.0 else 0.0 if gap < 0.0 else 0.5
                    gap_m = m[a] - m[b]
                    lead = gap_m / np.sqrt(1.0 + VARIANCES * (v[a] + v[b] + 2.0 * p.noise))
                    if heats.judged[heat]:
                        losses[heat, 0] += result * np.log1p(np.exp(-lead)) + (1.0 - result) * np.log1p(np.exp(lead))
                        losses[heat, 1] += 1.0
                    seen, weight = weigh(trial, heats.number[i], heats.number[j], result)
                    weight /= 1.0 + (np.pi * max(abs(gap) - 1.0, 0.0) / (p.reach * (end - begin))) ** 2
                    if columns.finished.size and not (columns.finished[i] and columns.finished[j]):
                        weight *= p.unfinished
                    for me, sign, score, doubt in ((a, 1.0, seen, v[b]), (b, -1.0, 1.0 - seen, v[a])):
                        g = 1.0 / np.sqrt(1.0 + VARIANCES * (doubt + p.noise))
                        expected = 1.0 / (1.0 + np.exp(-g * sign * gap_m))
                        surprise[me] += weight * g * (score - expected)
                        information[me] += weight * g * g * expected * (1.0 - expected)
        for i in range(size):
            k = columns.player[start + i]
            shrink = 1.0 + (v[i] + p.noise) * information[i]
            mean[k] += variance[k] * surprise[i] / shrink
            variance[k] -= variance[k] ** 2 * information[i] / shrink


def losses_of(history: History, trial: Trial) -> Floats:
    """The log loss and pairs of each judged event, pools apart, (events, 2)."""
    events, heats = history.events, history.heats
    losses = np.zeros((heats.judged.size, 2))
    for pool, parameters in zip(events.pools, history.parameters, strict=True):
        run_filter(events.columns, heats, parameters, trial, pool.first, pool.last, losses)
    starts = events.columns.heats if events.columns.heats.size else np.arange(heats.judged.size + 1)
    by_event = np.add.reduceat(losses, starts[:-1], axis=0)
    return by_event[by_event[:, 1] > 0.0]


def gain(trial: Floats, plain: Floats) -> tuple[float, float, float]:
    """The log loss less that of the plain filter, with an interval by bootstrap over events."""
    random = np.random.default_rng(SEED)
    less, pairs = trial[:, 0] - plain[:, 0], plain[:, 1]
    rows = random.integers(0, less.size, (RESAMPLES, less.size))
    low, high = np.quantile(less[rows].sum(axis=1) / pairs[rows].sum(axis=1), INTERVAL)
    return float(less.sum() / pairs.sum()), float(low), float(high)


def times_over_gaps(events: Events) -> Floats:
    """Each finisher's time over the mean gap between two of its heat; NaN where not known."""
    columns = events.columns
    entries = columns.entries if columns.entries.size else columns.entrants
    times = np.full(int(entries[-1]), np.nan)
    for begin, end in zip(entries[:-1].tolist(), entries[1:].tolist(), strict=True):
        known = columns.time_s[begin:end][~np.isnan(columns.time_s[begin:end])]
        if known.size > 1 and np.ptp(known) > 0.0:
            gap = np.abs(known[:, None] - known).sum() / (known.size * (known.size - 1))
            times[begin:end] = columns.time_s[begin:end] / gap
    return times


def training_history(results: podium.Results, train_until: datetime, numbers: str) -> History:
    """The training part of results, judged on its later half; `numbers` is `times` or `parts`."""
    train = podium.Results(results.frame.filter(pl.col("started_at") <= train_until), results.source)
    events = encode(train, find("elo")())
    columns = events.columns
    entries = columns.entries if columns.entries.size else columns.entrants
    starts = train.frame["started_at"][events.entry_row[entries[:-1]]]
    heats_of_settlement = columns.heats[:-1] if columns.heats.size else np.arange(columns.entrants.size - 1)
    microseconds = starts.cast(pl.Int64).to_numpy()[heats_of_settlement]
    heats = Heats(
        day=microseconds / (timedelta(days=1) / timedelta(microseconds=1)),
        number=times_over_gaps(events) if numbers == "times" else parts_played(events),
        judged=held_heats(events) & (starts >= middle_of_training(starts_of(results.frame), train_until)).to_numpy(),
    )
    return History(events, heats, learnt_parameters(train))


def learnt_parameters(results: podium.Results) -> list[Parameters]:
    """What `podium` has made of each pool's parameters in the end, in the order of the encoded pools."""
    rated = podium.rate(results, "podium")
    learnt = [rated.system.pool_state_type(*numbers) for numbers in rated.replayed.pools.tolist()]  # type: ignore[misc]
    return [
        Parameters(
            *(math.exp(each) for each in (pool.spread, pool.event, pool.idle_day, pool.noise)),
            pool.growth,
            pool.ageing,
            *(math.exp(each) for each in (pool.unfinished, pool.reach)),
        )
        for pool in learnt
    ]


def parts_played(events: Events) -> Floats:
    """The part of its game that each entry was there for."""
    return np.array([part_at(events.columns, i) for i in range(events.entry_row.size)])


def part_season(seed: int, races: int = 1000, players: int = 200, field: int = 8) -> pl.DataFrame:
    """A season in which a quarter of the entries leave early, and points come with the time played."""
    random = np.random.default_rng(seed)
    skill = random.normal(0.0, 1.0, players)
    entrants = np.array([random.choice(players, field, replace=False) for _ in range(races)])
    performance = skill[entrants] + random.normal(0.0, 0.5, (races, field)) + random.gumbel(size=(races, field))
    early = random.random((races, field)) < 0.25  # noqa: PLR2004  (a quarter)
    part = np.where(early, random.uniform(0.1, 0.9, (races, field)), 1.0)
    score = np.exp(0.5 * performance) * part
    start = datetime(2020, 1, 1)  # noqa: DTZ001  (read as UTC)
    return pl.DataFrame(
        {
            "event_id": [f"game-{k // field}" for k in range(races * field)],
            "started_at": [start + timedelta(hours=12 * (k // field)) for k in range(races * field)],
            "player": [f"player {k}" for k in entrants.ravel().tolist()],
            "score": score.ravel(),
            "played_s": 600.0 * part.ravel(),
            "duration_s": 600.0,
        }
    )


def wider_evidence(folder: Path) -> list[str]:
    """The lines of the trials."""
    formula_1 = HISTORIES["f1"]
    results = podium.read_results(folder / formula_1.file)
    until = last_training(starts_of(results.frame), formula_1.train_until)
    races = podium.read_results(results.frame.filter(pl.col("pool") == "f1-race"))
    driven = training_history(races, until, "times")
    timed = [season_history(simulate(seed=seed).results, "times") for seed in SEASONS]
    parted = [season_history(part_season(seed), "parts") for seed in SEASONS]
    rows = []
    for title, kind, strengths in (
        ("a narrow win is part of a draw", SOFT, (1.0, 2.0, 4.0, 8.0)),
        ("a clear win counts more", FURTHER, (0.3, 1.0, 3.0)),
    ):
        for strength in strengths:
            trial = Trial(kind, strength)
            real = interval(gain(losses_of(driven, trial), losses_of(driven, Trial())))
            rows += [(f"{title}, {strength:g}", "Formula 1, races", real)]
            rows += [(f"{title}, {strength:g}", "seasons of eight", over_seasons(timed, trial))]
    for strength in (0.5, 1.0, 2.0):
        played = over_seasons(parted, Trial(PART, strength))
        rows.append(
            (f"smaller part played, to the power {strength:g}", "seasons of eight, a quarter leave early", played)
        )
    head = ["evidence", "tried on", "changes the log loss by"]
    return [f"| {' | '.join(head)} |", "|---" * len(head) + "|", *(f"| {' | '.join(row)} |" for row in rows)]


def season_history(rows: pl.DataFrame, numbers: str) -> History:
    """A simulated season's first three fifths."""
    results = podium.read_results(rows)
    return training_history(results, last_training(starts_of(results.frame), "60%"), numbers)


def over_seasons(histories: list[History], trial: Trial) -> str:
    """The mean gain over seasons."""
    return mean_interval(np.array([gain(losses_of(each, trial), losses_of(each, Trial()))[0] for each in histories]))


def mean_interval(gains: Floats) -> str:
    """The mean of gains, with twice its standard error on either side."""
    mean, error = float(gains.mean()), float(gains.std(ddof=1)) / gains.size**0.5
    return interval((mean, mean - 2.0 * error, mean + 2.0 * error))


def interval(figures: tuple[float, float, float]) -> str:
    """A gain as the tables show it."""
    mean, low, high = figures
    return f"{mean:+.4f} ({low:+.4f} to {high:+.4f})"
