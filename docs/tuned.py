"""Systems with the parameters of docs/tuned.toml, and the lead of `adaptive` over each on the later part."""

import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl
from public_histories import HISTORIES, SELF_TUNING

import podium
from podium.analysis.evaluation import interval
from podium.analysis.predictions import HeatSelection
from podium.analysis.scores import judge_heats, losses_of_both
from podium.analysis.tuning import last_training, starts_of, with_dates
from podium.engine.system import System
from podium.engine.tables.encoding import Events, encode
from podium.errors import NotFiniteError
from podium.ledger.pair_predictions import held_heats
from podium.systems import find, names

FILE = Path(__file__).with_name("tuned.toml")
Settings = dict[str, Any]


def stored() -> dict[str, dict[str, Settings]]:
    """Return the tuned parameters by history and system."""
    return tomllib.loads(FILE.read_text(encoding="utf-8")) if FILE.exists() else {}


def tuned_system(name: str, settings: Settings) -> System:
    """Return the system with stored parameters; "none" switches a parameter off."""
    return find(name)(**{key: None if value == "none" else value for key, value in settings.items()})


def later_events(results: podium.Results, train_until: str) -> pl.Series:
    """Return the events after the training part."""
    dated = with_dates(results)
    end = last_training(starts_of(dated.frame), train_until)
    return dated.frame.filter(pl.col("started_at") > end)["event_id"].unique()


def later_heats(events: Events, later: pl.Series) -> npt.NDArray[np.bool_]:
    """Return True for each judged heat of these events, (heats)."""
    columns = events.columns
    starts = (columns.entries if columns.entries.size else columns.entrants)[:-1]
    heats: npt.NDArray[np.bool_] = (
        held_heats(events)
        & events.results.frame["event_id"][events.entry_row[starts]].is_in(later.implode()).to_numpy()
    )
    return heats


def judge_later(results: podium.Results, system: System, later: pl.Series) -> pl.DataFrame:
    """Return the sums of each later event. The system learns from all events of the unchanged table."""
    events = encode(results, system)
    return judge_heats(events, system, HeatSelection(later_heats(events, later)))[0]


def log_loss(table: pl.DataFrame) -> float:
    """Return the mean log loss over pairs."""
    return float(table["log_loss"].sum() / table["pairs"].sum())


def against_tuned(results: podium.Results, key: str) -> list[list[str]]:
    """Return a row for each tuned system, the best first, with `adaptive`'s lead on the later part."""
    history = HISTORIES[key]
    later = later_events(results, history.train_until)
    own = judge_later(results, history.system(SELF_TUNING), later)
    rows = []
    for name, settings in stored()[key].items():
        try:
            untuned = f"{log_loss(judge_later(results, find(name)(), later)):.4f}"
        except NotFiniteError:
            untuned = ""
        table = judge_later(results, tuned_system(name, settings), later)
        rows.append([name, untuned, f"{log_loss(table):.4f}", f"{log_loss(own):.4f}", *gap(own, table)])
    return sorted(rows, key=lambda row: row[2])


def gap(table: pl.DataFrame, first: pl.DataFrame) -> list[str]:
    """Return the difference of two log losses, and the ends of its interval."""
    less = interval(losses_of_both(table, first, "pair").sort("event_id").drop("event_id").to_numpy())
    return [f"{less[key]:.4f}" for key in ("log_loss", "low", "high")]


def tunable(results: podium.Results) -> list[str]:
    """Return the systems that can rate these results, except the one that tunes itself."""
    served = []
    for name in names():
        try:
            encode(results, find(name)())
        except podium.ResultsError:
            continue
        served.append(name)
    return [name for name in served if name != SELF_TUNING]
