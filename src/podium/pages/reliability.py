"""The reliability of expected scores, as text and as a picture."""

from collections.abc import Iterable, Sequence

from markupsafe import Markup

from podium.ledger.pair_predictions import ReliabilityBin
from podium.pages.charts import reliability_curve
from podium.pages.numbers import percent
from podium.support.immutable import immutable
from podium.support.words import counted

FAVOURED = 0.7  # expected score with which a player counts as a favourite
MIN_DUELS = 100  # number of duels that makes a mean meaningful


@immutable
class Picture:
    heading: str
    drawing: Markup
    caption: str


@immutable
class Trust:
    """Expected and actual wins of favourites. The number of duels is 0 if too few are known."""

    expected: float = 0.0
    won: float = 0.0
    duels: int = 0

    @property
    def words(self) -> str:
        """A sentence about a pool's favourites, or an empty string if too little is known."""
        if not self.duels:
            return ""
        gap = round(100 * self.won) - round(100 * self.expected)
        if abs(gap) < 2:  # noqa: PLR2004  (per cent)
            return "in this pool favourites win about as often as expected"
        return f"in this pool favourites win {'more' if gap > 0 else 'less'} than expected"


def trust_of(bins: Iterable[ReliabilityBin]) -> Trust:
    """Add up the expected and actual wins of favourites."""
    favoured = [bin_ for bin_ in bins if bin_.expected >= FAVOURED]
    duels = sum(bin_.duels for bin_ in favoured)
    if duels < MIN_DUELS:
        return Trust()
    expected = sum(bin_.expected * bin_.duels for bin_ in favoured) / duels
    return Trust(expected, sum(bin_.observed * bin_.duels for bin_ in favoured) / duels, duels)


def surest_favourites(bins: Iterable[ReliabilityBin]) -> ReliabilityBin | None:
    """Return the bin with the highest expected score among those that have enough duels, or None."""
    enough = [bin_ for bin_ in bins if bin_.duels >= MIN_DUELS and bin_.expected >= FAVOURED]
    return enough[-1] if enough else None


def findings(bins: Sequence[ReliabilityBin]) -> str:
    """Return sentences about the clearest favourites and about all favourites, or "" if too little is known."""
    sure, every = surest_favourites(bins), trust_of(bins)
    if sure is None:
        return ""
    return (
        f"Of those given {percent(sure.expected)}, {percent(sure.observed)} won. All favourites, from "
        f"{percent(FAVOURED)} on, were expected to win {percent(every.expected)} and won {percent(every.won)}: "
        f"{every.words}."
    )


def reliability_picture(all_bins: Sequence[ReliabilityBin]) -> Picture:
    """Return a picture of observed scores by expected score."""
    heading = "Do the predictions come true?"
    bins = [bin_ for bin_ in all_bins if bin_.duels]
    if len(bins) < 2:  # noqa: PLR2004  (a line)
        return Picture(heading, Markup(""), "")
    duels = counted(sum(bin_.duels for bin_ in bins), "duel")
    guide = (
        f"Horizontal: the predicted chance. Vertical: how often it came true, over {duels} seen from"
        " both sides. Larger dots mean"
        " more duels, and the line through a dot covers 19 out of 20 cases."
    )
    caption = f"{findings(bins) or 'There are too few duels to tell yet.'} {guide}"
    drawing = reliability_curve(bins, "How often duels were won, by the predicted chance")
    return Picture(heading, drawing, caption)
