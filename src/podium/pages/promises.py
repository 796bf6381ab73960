"""Whether promises come true, in words and a picture."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from podium.ledger.pair_predictions import ReliabilityBin
from podium.pages.charts import reliability_curve
from podium.support.words import counted

FAVOURED = 0.7  # of a duel: who is expected to win so often is a favourite
MIN_DUELS = 100  # of which a mean says something


@dataclass(frozen=True, slots=True)
class Picture:
    heading: str
    drawing: Markup
    caption: str


@dataclass(frozen=True, slots=True)
class Trust:
    """What favourites were promised, and how often they won; 0 duels where too little is known."""

    promised: float = 0.0
    won: float = 0.0
    duels: int = 0

    @property
    def words(self) -> str:
        """How favourites do in a pool; empty where too little is known."""
        if not self.duels:
            return ""
        gap = per_cent(self.won) - per_cent(self.promised)
        if abs(gap) < 2:  # noqa: PLR2004  (per cent)
            return "in this pool favourites win about as often as promised"
        return f"in this pool favourites win {'more' if gap > 0 else 'less'} than promised"


def trust_of(bins: Iterable[ReliabilityBin]) -> Trust:
    """What favourites were promised in all, and how often they won."""
    favoured = [each for each in bins if each.expected >= FAVOURED]
    duels = sum(each.duels for each in favoured)
    if duels < MIN_DUELS:
        return Trust()
    promised = sum(each.expected * each.duels for each in favoured) / duels
    return Trust(promised, sum(each.observed * each.duels for each in favoured) / duels, duels)


def surest_favourites(bins: Iterable[ReliabilityBin]) -> ReliabilityBin | None:
    """Of those who were promised most, the bin of enough duels to say something; None where there is none."""
    enough = [each for each in bins if each.duels >= MIN_DUELS and each.expected >= FAVOURED]
    return enough[-1] if enough else None


def findings(bins: Sequence[ReliabilityBin]) -> str:
    """What came of promises to the surest favourites, and to all; empty where too little is known."""
    sure, every = surest_favourites(bins), trust_of(bins)
    if sure is None:
        return ""
    return (
        f"Of those promised {per_cent(sure.expected)} %, {per_cent(sure.observed)} % won. All favourites, from "
        f"{per_cent(FAVOURED)} % on, were promised {per_cent(every.promised)} % and won {per_cent(every.won)} %: "
        f"{every.words}."
    )


def per_cent(share: float) -> int:
    return round(100 * share)


def reliability_picture(all_bins: Sequence[ReliabilityBin]) -> Picture:
    """Whether promises came true."""
    heading = "Do the promises come true?"
    bins = [each for each in all_bins if each.duels]
    if len(bins) < 2:  # noqa: PLR2004  (a line)
        return Picture(heading, Markup(""), "")
    caption = (
        "Across: the chance that was promised. Up: how often it came true, of "
        f"{counted(sum(each.duels for each in bins), 'duel')} seen from both sides; the larger the dot, the more, and "
        "the line through it holds 19 times in 20."
    )
    sure = surest_favourites(bins)
    label = "How often duels were won, by the chance that was promised"
    if sure is not None:
        caption += f" {findings(bins)}"
        label += f": of {per_cent(sure.expected)} % promised, {per_cent(sure.observed)} % came true"
    return Picture(heading, reliability_curve(bins, label), caption)
