"""Would one factor for chances that are shown serve, learnt as results come, and never part of the ratings?

Of pairs it multiplies log-odds; of a field, where the favourite's chance is Luce's, the mean log-odds of each. It is
learnt by Newton's steps on its logarithm from all earlier events, and judged on the later part of each history.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl
from public_histories import HISTORIES, SELF_TUNING, History
from tuned import later_events

import podium
from podium.analysis.evaluation import INTERVAL, RESAMPLES, SEED
from podium.analysis.predictions import BINS, MIN_PROBABILITY

PRIOR_DEVIATION = 0.2  # of the factor's logarithm
FEWEST = 3  # entrants of a field
Floats = npt.NDArray[np.float64]


class Learner:
    """A factor, by what came so far."""

    def __init__(self) -> None:
        self.logarithm, self.precision = 0.0, PRIOR_DEVIATION**-2

    @property
    def factor(self) -> float:
        """By which log-odds are multiplied."""
        return float(np.exp(self.logarithm))

    def learn(self, gradient: float, curvature: float) -> None:
        """Take one step, by the derivatives of the log likelihood by the factor."""
        self.precision += self.factor**2 * curvature
        self.logarithm += self.factor * gradient / self.precision


class Judged(NamedTuple):
    """What a factor does on the later part."""

    loss: Floats  # (events) the sum over pairs or heats, as it is
    learnt: Floats  # the same, with the factor
    count: Floats  # (events)
    before: float  # how far chances are from shares, as `calibration_error` has it; or the favourite's mean chance
    after: float
    factor: float  # in the end

    def row(self, title: str) -> list[str]:
        """Its row of the table."""
        less, random = self.learnt - self.loss, np.random.default_rng(SEED)
        rows = random.integers(0, less.size, (RESAMPLES, less.size))
        low, high = np.quantile(less[rows].sum(axis=1) / self.count[rows].sum(axis=1), INTERVAL)
        gap = f"{less.sum() / self.count.sum():+.4f} ({low:+.4f} to {high:+.4f})"
        loss = f"{self.loss.sum() / self.count.sum():.4f}"
        return [title, f"{self.factor:.2f}", loss, gap, f"{self.before:.4f}", f"{self.after:.4f}"]


def read(folder: Path) -> Iterator[tuple[str, History, pl.DataFrame, pl.DataFrame]]:
    """Each history's title, itself, its results and the predictions of its pairs; in `late` whether they are judged."""
    for history in HISTORIES.values():
        results = history.read(folder)
        pairs = podium.rate(results, history.system(SELF_TUNING)).predictions()
        chance = pl.col("expected").clip(MIN_PROBABILITY, 1.0 - MIN_PROBABILITY)
        pairs = pairs.with_columns(
            late=pl.col("event_id").is_in(later_events(results, history.train_until).to_list()),
            log_odds=chance.log() - (1.0 - chance).log(),
        )
        yield history.title.split(",")[0], history, results.frame, pairs


def bounds(number: Floats) -> Iterator[tuple[int, int]]:
    """From where to where each run of equal numbers goes."""
    ends = np.flatnonzero(np.diff(number, append=np.inf)) + 1
    return zip(np.concatenate([[0], ends[:-1]]).tolist(), ends.tolist(), strict=True)


def table(rows: list[list[str]], before: str) -> list[str]:
    """The rows in Markdown."""
    head = ["history", "factor", "log loss", "with the factor", before, "with the factor"]
    return [f"| {' | '.join(head)} |", "|---" * len(head) + "|", *(f"| {' | '.join(row)} |" for row in rows)]


def factors_of_pairs(folder: Path) -> list[str]:
    """What a factor of pairs' log-odds does."""
    rows = [judge_pairs(pairs).row(title) for title, _, _, pairs in read(folder)]
    return table(rows, "calibration error")


def judge_pairs(pairs: pl.DataFrame) -> Judged:
    """Learn and judge the factor of pairs; an event of n pairs says as much as √n."""
    result, log_odds = pairs["result"].to_numpy(), pairs["log_odds"].to_numpy()
    late, sums, scaled, learner = pairs["late"].to_numpy(), [], log_odds.copy(), Learner()
    for begin, end in bounds(pairs["event_id"].rle_id().to_numpy()):
        x, s = log_odds[begin:end], result[begin:end]
        scaled[begin:end] = learner.factor * x
        if late[begin]:
            sums.append((loss(x, s), loss(learner.factor * x, s), end - begin))
        p, weight = 1.0 / (1.0 + np.exp(-learner.factor * x)), (end - begin) ** -0.5
        learner.learn(weight * (x * (s - p)).sum(), weight * (x * x * p * (1.0 - p)).sum())
    errors = [calibration_error(each[late], result[late]) for each in (log_odds, scaled)]
    return Judged(*np.array(sums).T, *errors, learner.factor)


def loss(log_odds: Floats, result: Floats) -> float:
    """The log loss of scores, added up."""
    return float((np.logaddexp(0.0, log_odds) - result * log_odds).sum())


def calibration_error(log_odds: Floats, result: Floats) -> float:
    """The mean distance of chance and share over tenths, both sides of every pair counted."""
    p = 1.0 / (1.0 + np.exp(-np.concatenate([log_odds, -log_odds])))
    s = np.concatenate([result, 1.0 - result])
    tenth = np.minimum((p * BINS).astype(int), BINS - 1)
    return float(np.abs(np.bincount(tenth, p, BINS) - np.bincount(tenth, s, BINS)).sum() / p.size)


def factors_of_wins(folder: Path) -> list[str]:
    """What a factor of a field's strengths does to the chance to win it."""
    rows = []
    for title, _, frame, pairs in read(folder):
        fields = fields_of(frame, pairs)
        if fields.height:
            rows.append(judge_wins(fields).row(title))
    return table(rows, "what favourites' chances lack")


def fields_of(frame: pl.DataFrame, pairs: pl.DataFrame) -> pl.DataFrame:
    """A row an entrant of each heat with one winner: the mean log-odds against the others, and whether it won."""
    if "position" not in frame.columns:
        return pl.DataFrame()
    heat = ["event_id", "heat"] if "heat" in pairs.columns else ["event_id"]
    back = pairs.select(*heat, "late", player="opponent", log_odds=-pl.col("log_odds"))
    both = pl.concat([pairs.select(*heat, "late", "player", "log_odds"), back])
    strengths = both.group_by(*heat, "player", maintain_order=True).agg(
        pl.col("late").first(), strength=pl.col("log_odds").sum() / (pl.len() + 1)
    )
    won = frame.select(*heat, "player", won=(pl.col("position") == 1).fill_null(value=False))
    numbered = pairs.select(heat).unique(maintain_order=True).with_row_index("number")
    fields = strengths.join(won, on=[*heat, "player"]).join(numbered, on=heat).sort("number", maintain_order=True)
    return fields.filter((pl.len().over("number") >= FEWEST) & (pl.col("won").sum().over("number") == 1))


def judge_wins(fields: pl.DataFrame) -> Judged:
    """Learn and judge the factor of fields."""
    strength, won, late = (fields[name].to_numpy() for name in ("strength", "won", "late"))
    sums, lacks, learner = [], [], Learner()
    for begin, end in bounds(fields["number"].to_numpy().astype(float)):
        x, winner = strength[begin:end], int(won[begin:end].argmax())
        plain, scaled = shares(x), shares(learner.factor * x)
        if late[begin]:
            best = int(x.argmax())
            sums.append((-np.log(plain[winner]), -np.log(scaled[winner]), 1.0))
            lacks.append(((best == winner) - plain[best], (best == winner) - scaled[best]))
        mean = float((scaled * x).sum())
        learner.learn(x[winner] - mean, float((scaled * x * x).sum()) - mean * mean)
    return Judged(*np.array(sums).T, *np.array(lacks).mean(axis=0).tolist(), learner.factor)


def shares(strength: Floats) -> Floats:
    """Luce's chances to win."""
    worth = np.exp(strength - strength.max())
    return worth / worth.sum()
