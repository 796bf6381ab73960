"""How well a system predicts the results of a report, in words, numbers and a picture."""

from dataclasses import dataclass

from podium.analysis.evaluation import evaluate, share_interval
from podium.errors import ParameterError
from podium.pages.careers import Picture, reliability_picture
from podium.rated import Rated
from podium.systems import find

BASELINE = "elo"
DECIMALS = 4
MEASURES = {  # by the column of scores: what people call it, and what it says
    "events": ("Events", "that were predicted, each before it was learnt."),
    "pairs": ("Pairs", "of entrants that were compared in them."),
    "log_loss": (
        "Log loss",
        "how surprising the results were; lower is better, and saying one half each time gives 0.6931.",
    ),
    "brier": ("Brier score", "the mean square of the error; lower is better, and one half each time gives 0.25."),
    "accuracy": ("Accuracy", "how often the favourite of a pair was ahead; higher is better."),
    "calibration_error": ("Calibration error", "how far promises were from what came true, on average; 0 is best."),
    "kendall_tau": (
        "Kendall’s tau",  # noqa: RUF001  (typography)
        "how far results followed the order of the ratings: 1 wholly, 0 not at all, below 0 the other way round.",
    ),
}


@dataclass(frozen=True, slots=True)
class Measure:
    """A number of how well systems predict."""

    name: str
    meaning: str
    values: tuple[str, ...]  # one a system


@dataclass(frozen=True, slots=True)
class Bin:
    """Duels in which about the same score was promised."""

    expected: float
    observed: float
    lowest: float
    highest: float
    duels: int


@dataclass(frozen=True, slots=True)
class Fit:
    """How well the system predicts, beside Elo."""

    systems: tuple[str, ...]
    measures: tuple[Measure, ...]
    picture: Picture


def fit(rated: Rated) -> Fit | None:
    """How well the system predicts what it was given, in all pools; None where there is nothing to predict."""
    systems = [rated.system] if rated.system.name == BASELINE else [rated.system, find(BASELINE)()]
    try:
        judged = evaluate(rated.results, systems, period=rated.period)
    except ParameterError:
        return None
    scores = judged.scores
    measures = tuple(
        Measure(words, meaning, tuple(value_words(value) for value in scores[name].to_list()))
        for name, (words, meaning) in MEASURES.items()
    )
    bins = [
        Bin(row["expected"], row["actual"], *share_interval(row["actual"], row["pairs"]), row["pairs"])
        for row in judged.reliability.filter(system=scores["system"][0]).iter_rows(named=True)
    ]
    picture = reliability_picture(bins, "in these results")
    return Fit(tuple(scores["system"].to_list()), measures, picture)


def value_words(value: float | None) -> str:
    """A score as people read it."""
    if value is None:
        return ""
    return f"{value:,}" if isinstance(value, int) else f"{value:.{DECIMALS}f}".replace("-", "\N{MINUS SIGN}")
