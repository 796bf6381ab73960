"""Parameters that fit a league: searched on its past results, tested on the later. Needs the extra `tune`."""

import json
import math
import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, fields
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

import polars as pl

from podium import rules
from podium.errors import ParameterError, PodiumError
from podium.evaluation import Evaluation, Window, evaluate, judge_events, mean
from podium.events import Events, encode
from podium.leaderboard import instant
from podium.results import Results
from podium.systems.base import System, kinds

SEED = 1
WIDTH = 8.0  # a parameter without a range of its own is searched from an eighth to eight times its default
NOT_SEARCHED = ("initial",)  # moves every rating alike
FIT_FROM = 0.5  # the share of the training events that is only learnt, not judged


class TuningError(PodiumError):
    """Tuning cannot be done."""


@dataclass(frozen=True, slots=True)
class Tuned:
    """What the search found."""

    system: System
    trials: int
    fitted: float  # log loss on the later part of the training events
    fitted_defaults: float
    test: Evaluation  # the defaults, then the tuned, on the untouched part


@dataclass(frozen=True, slots=True)
class Split:
    """The training events, and the instants that part what is fitted and what is tested."""

    train: Results
    fit_since: datetime
    train_until: datetime


def tune(
    results: Results,
    system: System,
    train_until: str | date | datetime,
    *,
    trials: int = 100,
    study: Path | None = None,
    progress: Callable[[int], None] | None = None,
) -> Tuned:
    """Search the system's parameters for the least log loss.

    Args:
        system: where the search starts; what is not searched stays as it is here.
        train_until: the last training instant; a plain date counts the whole day. Later events are only tested.
        trials: how many candidates in all, those of a resumed study among them.
        study: an SQLite file to keep the trials in, and to go on from.
        progress: called with the number of trials done.

    Raises:
        ParameterError: results without dates, or nothing before or after `train_until`.
        TuningError: the extra is not installed, or the study is of another search.
    """
    split = parted(results, instant(train_until))
    encodings = Encodings(split.train)
    window = Window(since=split.fit_since)

    def loss_of(candidate: System) -> float:
        table, _ = judge_events(encodings.of(candidate), candidate, window)
        found = mean(table, "log_loss", "pairs", "pair") if table.height else None
        return math.inf if found is None or math.isnan(found) else found

    begun = loss_of(system)
    best = searched(system, loss_of, trials, study, progress or (lambda _: None))
    if loss_of(best) >= begun:
        best = system
    after = Window(since=split.train_until + timedelta(microseconds=1))
    test = evaluate(results, [system, best], labels=["defaults", "tuned"], window=after)
    return Tuned(best, trials, loss_of(best), begun, test)


def parted(results: Results, until: datetime) -> Split:
    """The training part of the results, and its middle."""
    if "started_at" not in results.frame.columns:
        raise ParameterError("tuning needs started_at in the results, to part the past from what came after")
    train = results.frame.filter(pl.col("started_at") <= until)
    if train.is_empty() or train.height == results.frame.height:
        ends: Any = results.frame.select(first=pl.col("started_at").min(), last=pl.col("started_at").max()).row(0)
        span = " to ".join(f"{end:%Y-%m-%d}" for end in ends)
        raise ParameterError(f"--train-until {until:%Y-%m-%d} parts nothing; the results go from {span}")
    starts = train.group_by("event_id").agg(pl.col("started_at").first())["started_at"].sort()
    middle = starts[int(starts.len() * FIT_FROM)]
    return Split(Results(train, results.source), middle, until)


class Encodings:
    """Encoded events, once for all candidates that read the results alike."""

    def __init__(self, results: Results) -> None:
        self.results = results
        self._known: dict[Any, Events] = {}

    def of(self, system: System) -> Events:
        """The events as the system reads them."""
        params = system.params()
        chooses = rules.counts.dispatch(type(params)) is not rules.counts.dispatch(object)
        key = (system.overall_set, system.quits_later_heats, system.idle_unit, params if chooses else None)
        if key not in self._known:
            self._known[key] = encode(self.results, system)
        return self._known[key]


def searched(
    system: System,
    loss_of: Callable[[System], float],
    trials: int,
    path: Path | None,
    progress: Callable[[int], None],
) -> System:
    """The best of so many candidates; a batch of as many as there are cores is asked for and judged at once."""
    try:
        import optuna  # noqa: PLC0415  (an extra)
    except ImportError:
        raise TuningError("tuning needs an extra: pip install 'podium-ratings[tune]'") from None
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    cores = os.cpu_count() or 1
    with opened(optuna, system.name, path) as study:
        done = len(study.get_trials(deepcopy=False))
        with ThreadPoolExecutor(cores) as threads:
            while done < trials:
                asked = [study.ask() for _ in range(min(cores, trials - done))]
                candidates = [suggested(system, trial) for trial in asked]
                for trial, loss in zip(asked, threads.map(loss_of, candidates), strict=True):
                    study.tell(trial, loss)
                done += len(asked)
                progress(done)
        return with_settings(system, study.best_params)


@contextmanager
def opened(optuna: Any, name: str, path: Path | None) -> Iterator[Any]:
    """The study, new or gone on with."""
    sampler = optuna.samplers.TPESampler(seed=SEED, multivariate=False)
    storage = None if path is None else f"sqlite:///{path}"
    try:
        study = optuna.create_study(study_name=name, storage=storage, sampler=sampler, load_if_exists=True)
    except Exception as error:
        raise TuningError(f"{path}: is not a study that can be gone on with ({type(error).__name__})") from error
    yield study


def suggested(system: System, trial: Any) -> System:
    """The candidate that a trial describes."""
    told: dict[str, Any] = {}
    for setting in fields(system):
        value, may_be = getattr(system, setting.name), kinds(type(system), setting)
        search = setting.metadata["search"]
        if setting.name in NOT_SEARCHED or (value is None and search is None):
            continue
        if bool in may_be:
            told[setting.name] = trial.suggest_categorical(setting.name, [True, False])
        elif setting.metadata["choices"]:
            told[setting.name] = trial.suggest_categorical(setting.name, list(setting.metadata["choices"]))
        elif search is not None:
            told[setting.name] = trial.suggest_float(setting.name, *search)
        elif value:
            low = max(setting.metadata["low"], value / WIDTH)
            high = min(setting.metadata["high"], value * WIDTH)
            if int in may_be:
                told[setting.name] = trial.suggest_int(setting.name, max(1, math.ceil(low)), math.floor(high))
            elif 0.0 < low < high:
                told[setting.name] = trial.suggest_float(setting.name, low, high, log=True)
    return with_settings(system, told)


def with_settings(system: System, told: dict[str, Any]) -> System:
    """The system with some parameters changed."""
    own = {setting.name: getattr(system, setting.name) for setting in fields(system)}
    return type(system)(**(own | told))


def as_toml(system: System) -> str:
    """The file that `--system-file` reads: the name and every parameter; a switched-off one as "none"."""
    lines = [f"system = {json.dumps(system.name)}", "", "[parameters]"]
    for setting in fields(system):
        value = getattr(system, setting.name)
        lines.append(f"{setting.name} = {json.dumps('none' if value is None else value)}")
    return "\n".join(lines) + "\n"
