"""Systems with the parameters of docs/tuned.toml, and what is left of `podium`'s lead over each on the later part."""

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
WITH_MODES = {"atp": {"modes": "clay/grass/hard"}}  # histories whose events have modes
Settings = dict[str, Any]


def stored() -> dict[str, dict[str, Settings]]:
    """The tuned parameters by history and system."""
    return tomllib.loads(FILE.read_text(encoding="utf-8")) if FILE.exists() else {}


def tuned_system(name: str, settings: Settings) -> System:
    """The system with stored parameters, of which "none" is a switched-off one."""
    return find(name)(**{key: None if value == "none" else value for key, value in settings.items()})


def later_events(results: podium.Results, train_until: str) -> pl.Series:
    """The events after the training part."""
    dated = with_dates(results)
    end = last_training(starts_of(dated.frame), train_until)
    return dated.frame.filter(pl.col("started_at") > end)["event_id"].unique()


def later_heats(events: Events, later: pl.Series) -> npt.NDArray[np.bool_]:
    """The heats, (heats), of these events that are judged."""
    columns = events.columns
    starts = (columns.entries if columns.entries.size else columns.entrants)[:-1]
    heats: npt.NDArray[np.bool_] = (
        held_heats(events)
        & events.results.frame["event_id"][events.entry_row[starts]].is_in(later.implode()).to_numpy()
    )
    return heats


def judge_later(results: podium.Results, system: System, later: pl.Series) -> pl.DataFrame:
    """The sums of each later event; all events are learnt, and the system sees the table as it is."""
    events = encode(results, system)
    return judge_heats(events, system, HeatSelection(later_heats(events, later)))[0]


def log_loss(table: pl.DataFrame) -> float:
    """The mean over pairs."""
    return float(table["log_loss"].sum() / table["pairs"].sum())


def against_tuned(results: podium.Results, key: str) -> list[str]:
    """The lines that set `podium`, untuned, beside every other system tuned on the training part."""
    history = HISTORIES[key]
    later = later_events(results, history.train_until)
    own = judge_later(results, history.system(SELF_TUNING), later)
    rows = [other_row(results, later, own, name, settings) for name, settings in stored()[key].items()]
    rows.sort()
    lines = [
        "### Beside the tuned",
        "",
        f"Every other system's parameters are searched on {history.past} ({history.trials} trials); all are judged",
        f"on the later ones. There `{SELF_TUNING}`, for which nothing is searched, has a log loss of",
        f"{log_loss(own):.4f}.",
    ]
    if key in WITH_MODES:
        modes = judge_later(results, find(SELF_TUNING)(**WITH_MODES[key]), later)
        lines.append(
            f"With `modes={WITH_MODES[key]['modes']}` it has {log_loss(modes):.4f}, {gap(modes, own)} of that without."
        )
    lines += ["", "| system | defaults | tuned | podium less tuned |", "|---|---|---|---|"]
    return lines + [text for _, text in rows]


def other_row(
    results: podium.Results, later: pl.Series, own: pl.DataFrame, name: str, settings: Settings
) -> tuple[float, str]:
    """A system's tuned log loss, and its row."""
    try:
        untuned = f"{log_loss(judge_later(results, find(name)(), later)):.4f}"
    except NotFiniteError:
        untuned = "none"
    table = judge_later(results, tuned_system(name, settings), later)
    loss = log_loss(table)
    return loss, f"| {name} | {untuned} | {loss:.4f} | {gap(own, table)} |"


def gap(table: pl.DataFrame, first: pl.DataFrame) -> str:
    """The log loss less another's, with its interval."""
    less = interval(losses_of_both(table, first, "pair").sort("event_id").drop("event_id").to_numpy())
    return f"{less['log_loss']:+.4f} ({less['low']:+.4f} to {less['high']:+.4f})"


def tunable(results: podium.Results) -> list[str]:
    """The systems that these results serve, but for the one that tunes itself."""
    served = []
    for name in names():
        try:
            encode(results, find(name)())
        except podium.ResultsError:
            continue
        served.append(name)
    return [name for name in served if name != SELF_TUNING]
