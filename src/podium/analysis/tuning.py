"""Tune the parameters of a system: search on earlier results, and test on later results.

This needs the `tune` extra.
"""

import json
import math
import os
import re
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields, replace
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from podium.analysis.batched import can_share, sums_of_losses
from podium.analysis.evaluation import Evaluation, evaluate
from podium.analysis.scores import Window, judge_events, judged_heats
from podium.engine import rules
from podium.engine.system import System, kinds
from podium.engine.tables.encoding import Events, encode
from podium.errors import NotFiniteError, ParameterError, PodiumError, needs_extra
from podium.importers.tables import read_any
from podium.kernels.records import LANES
from podium.ledger.leaderboard import instant
from podium.results.consistency import in_sequence
from podium.results.reading import Results
from podium.support.arrays import Floats, Mask
from podium.support.immutable import immutable
from podium.systems import make_system

SEED = 1
SHARE = re.compile(r"(\d{1,3}(?:\.\d+)?)\s*%")
SEARCH_FACTOR = 8.0  # a parameter without its own range is searched from 1/8 to 8 times its default
NOT_SEARCHED = ("initial",)  # only shifts all ratings by the same amount
MIN_BATCHES = 8  # minimum number of batches, so that later candidates learn from earlier ones
LEARNT_SHARE = 0.5  # share of the training events to rate but not judge


class TuningError(PodiumError):
    """Tuning is not possible with this system or study."""


@immutable
class Tuned:
    """The result of a search."""

    system: System
    trials: int
    fitted: float  # log loss on the later part of the training events
    fitted_defaults: float
    test: Evaluation  # the default system, then the tuned system, on the events after training


def tune(
    results: Any,
    system: str | System = "elo",
    train_until: str | date | datetime = "60%",
    *,
    trials: int = 100,
    study: Path | None = None,
    progress: Callable[[int], None] | None = None,
) -> Tuned:
    """Search for the parameters of a system that give the lowest log loss.

    Args:
        results: Anything that `read_results` reads. Undated events are used in file order.
        system: System from which the search starts: a name, a string such as `elo:k=20`, or an instance. Parameters
            that are not tuned keep their values.
        train_until: End of the training events: a time, a date (which includes the whole day), or a share of the
            events, for example 60%. Later events are used only for the test.
        trials: Number of candidates, including those from a resumed study.
        study: SQLite file in which trials are saved, so that the search can be resumed.
        progress: Function that is called with the number of trials judged so far.

    Returns:
        The best system. Also, for this system and for the default parameters: the log loss on the later part of the
        training events, and the evaluation on the events after `train_until`. The search uses Optuna's TPE. Ratings are
        computed on all training events.

    Raises:
        ParameterError: There are no events before or after `train_until`, or no trials.
        RuleError: The system's own code fails.
        MissingExtraError: The `tune` extra is not installed.
        TuningError: The study belongs to a different search.
    """
    start = make_system(system)
    if not trials >= 1:
        raise ParameterError(f"trials is {trials}; it must be at least 1")
    checked = read_any(results)[0]
    dated = with_dates(checked)
    starts = starts_of(dated.frame)
    until = last_training(starts, train_until, are_dated=dated is checked)
    train = Results(dated.frame.filter(pl.col("started_at") <= until), dated.source)
    losses = Losses(train, middle_of_training(starts, until))
    (default_loss,) = losses.judge([start])
    best = run_search(start, losses, trials, study, progress or (lambda _: None))
    (fitted,) = losses.judge([best])
    if fitted >= default_loss:
        best, fitted = start, default_loss
    after = Window(since=until + timedelta(microseconds=1))
    test = evaluate(dated, [start, best], labels=["defaults", "tuned"], window=after)
    return Tuned(best, trials, fitted, default_loss, test)


def with_dates(results: Results) -> Results:
    """Return the results with dates.

    Undated events get dates one microsecond apart, sorted by `sequence` and then in file order.

    The dates are in the year 2, by which systems recognize events without dates.
    """
    if "started_at" in results.frame.columns:
        return results
    names = in_sequence(results.frame)["event_id"].unique(maintain_order=True)
    number = pl.col("event_id").cast(pl.Enum(names)).to_physical().cast(pl.Int64)
    instants = pl.datetime(2, 1, 1, time_unit="us", time_zone="UTC") + pl.duration(microseconds=number)
    return Results(results.frame.with_columns(started_at=instants), results.source)


def starts_of(frame: pl.DataFrame) -> pl.Series:
    """Return the start of each event, in order."""
    return frame.group_by("event_id").agg(pl.col("started_at").first())["started_at"].sort()


def last_training(starts: pl.Series, train_until: str | date | datetime, *, are_dated: bool = True) -> datetime:
    """Return the end of the training events, given a date or a share such as 60%.

    `starts` contains the starts of the events, in order.
    """
    share = SHARE.fullmatch(train_until.strip()) if isinstance(train_until, str) else None
    if share is None:
        if not are_dated:
            raise ParameterError(
                "train_until: a date requires the started_at column. Add it to the results, or use a share such as 60%."
            )
        return instant(train_until)
    count = math.floor(starts.len() * float(share[1]) / 100.0)
    if not 0 < count < starts.len():
        raise ParameterError(f"training until {train_until} leaves no events before or after it (of {starts.len()})")
    last: datetime = starts[count - 1]
    return last


def middle_of_training(starts: pl.Series, until: datetime) -> datetime:
    """Return the time from which on candidates are judged: the middle of the training events."""
    train = starts.filter(starts <= until)
    if train.is_empty() or train.len() == starts.len():
        ends: list[Any] = [] if starts.is_empty() else [starts.min(), starts.max()]
        span = " to ".join(f"{end:%Y-%m-%d}" for end in ends)
        raise ParameterError(
            f"training until {until:%Y-%m-%d} leaves no events before or after it. The events are from {span}."
        )
    middle: datetime = train[int(train.len() * LEARNT_SHARE)]
    return middle


class Losses:
    """The losses of candidates on the later training events.

    The events are encoded only once for all candidates that read them in the same way.
    """

    def __init__(self, train: Results, fit_since: datetime) -> None:
        self._train = train
        self._window = Window(since=fit_since)
        self._encoded: dict[Any, tuple[Events, Mask]] = {}  # events and the heats to judge

    def judge(self, candidates: Sequence[System]) -> list[float]:
        """Return the log loss of each candidate, or infinity if it is not a number."""
        alike: dict[Any, list[int]] = {}
        for k, candidate in enumerate(candidates):
            alike.setdefault(reading_key(candidate), []).append(k)
        batches = [same[first : first + LANES] for same in alike.values() for first in range(0, len(same), LANES)]
        for batch in batches:
            self._encode(candidates[batch[0]])
        with ThreadPoolExecutor(os.cpu_count() or 1) as threads:
            found = list(threads.map(self._sums, [[candidates[k] for k in batch] for batch in batches]))
        losses = [math.inf] * len(candidates)
        for batch, (sums, pairs) in zip(batches, found, strict=True):
            for k, loss, count in zip(batch, sums.tolist(), pairs.tolist(), strict=True):
                losses[k] = loss / count if count and math.isfinite(loss) else math.inf
        return losses

    def _sums(self, candidates: list[System]) -> tuple[Floats, Floats]:
        """Return the sums of losses and pairs for up to `LANES` candidates that read the events in the same way."""
        events, judged = self._encode(candidates[0])
        if can_share(candidates[0], events):
            sums, pairs = sums_of_losses(candidates, events, judged)
            return sums, np.full(len(candidates), pairs)
        found = [self._judge_alone(candidate, events) for candidate in candidates]
        return np.array([loss for loss, _ in found]), np.array([pairs for _, pairs in found])

    def _judge_alone(self, candidate: System, events: Events) -> tuple[float, float]:
        try:
            table = judge_events(events, candidate, self._window)[0]
        except NotFiniteError:
            return math.inf, 1.0
        return float(table["log_loss"].to_numpy().sum()), float(table["pairs"].to_numpy().sum())

    def _encode(self, system: System) -> tuple[Events, Mask]:
        key = reading_key(system)
        if key not in self._encoded:
            events = encode(self._train, system)
            self._encoded[key] = events, judged_heats(events, self._window, system)
        return self._encoded[key]


def reading_key(system: System) -> Any:
    """Return a key that is equal for candidates that read the events in the same way."""
    chooses = rules.overrides(rules.counts, system)
    read = system.overall_set, system.quits_later_heats, system.idle_unit, system.rates_margins, system.rates_sizes
    return *read, system.params() if chooses else None


def run_search(
    system: System, losses: Losses, trials: int, path: Path | None, progress: Callable[[int], None]
) -> System:
    """Search for the best candidate. Draw and judge one batch of candidates at a time."""
    with needs_extra("tune", "tuning"):
        import optuna  # noqa: PLC0415  (an extra)
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    space = optuna.create_study().ask()
    candidate_from_trial(system, space)
    if all(isinstance(value, bool) for value in space.params.values()):
        raise ParameterError(f"{system.name} has nothing to tune. Compare it with `podium evaluate` instead.")
    batch_size = os.cpu_count() or 1
    if can_share(system):
        batch_size = LANES * min(batch_size, max(1, trials // (MIN_BATCHES * LANES)))
    study = open_study(optuna, system.name, path)
    trial_count = len(study.get_trials(deepcopy=False))
    while trial_count < trials:
        batch = [study.ask() for _ in range(min(batch_size, trials - trial_count))]
        candidates = [candidate_from_trial(system, trial) for trial in batch]
        for trial, loss in zip(batch, losses.judge(candidates), strict=True):
            study.tell(trial, loss)
        trial_count += len(batch)
        progress(trial_count)
    return replace(system, **study.best_params)


def open_study(optuna: Any, name: str, path: Path | None) -> Any:
    """Open a new or existing study. Its file is open only during reads and writes."""
    import sqlalchemy as sa  # noqa: PLC0415  (it comes with optuna, and is slow to load)

    sampler = optuna.samplers.TPESampler(seed=SEED, multivariate=False)
    try:
        storage = path and optuna.storages.RDBStorage(f"sqlite:///{path}", {"poolclass": sa.NullPool})
        return optuna.create_study(study_name=name, storage=storage, sampler=sampler, load_if_exists=True)
    except Exception as error:
        raise TuningError(f"{path}: is not a study that can be resumed ({type(error).__name__})") from error


def candidate_from_trial(system: System, trial: Any) -> System:
    """Return the candidate that a trial describes."""
    values: dict[str, Any] = {}
    for setting in fields(system):
        value, may_be = getattr(system, setting.name), kinds(type(system), setting)
        search = setting.metadata["search"]
        if setting.name in NOT_SEARCHED or search == () or (value is None and search is None):
            continue
        if bool in may_be:
            values[setting.name] = trial.suggest_categorical(setting.name, [True, False])
        elif setting.metadata["choices"]:
            values[setting.name] = trial.suggest_categorical(setting.name, list(setting.metadata["choices"]))
        elif search is not None:
            values[setting.name] = trial.suggest_float(setting.name, *search)
        elif value and str not in may_be:
            low = max(setting.metadata["low"], value / SEARCH_FACTOR)
            high = min(setting.metadata["high"], value * SEARCH_FACTOR)
            if int in may_be:
                values[setting.name] = trial.suggest_int(setting.name, max(1, math.ceil(low)), math.floor(high))
            elif 0.0 < low < high:
                values[setting.name] = trial.suggest_float(setting.name, low, high, log=True)
    return replace(system, **values)


def as_toml(system: System) -> str:
    """Return the content of a `--system-file`: the name, and every parameter ("none" if it is switched off)."""
    lines = [f"system = {json.dumps(system.name)}", "", "[parameters]"]
    for setting in fields(system):
        value = getattr(system, setting.name)
        lines.append(f"{setting.name} = {json.dumps('none' if value is None else value)}")
    return "\n".join(lines) + "\n"
