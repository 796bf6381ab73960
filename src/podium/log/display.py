"""How a pool shows scores (their scale, and tiers), and whether readers see IDs of players."""

import functools
import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from podium.errors import ParameterError
from podium.support.immutable import immutable
from podium.support.words import shown

MAX_CHARACTERS, MAX_TIERS, MAX_TIER_CHARACTERS = 1_000, 50, 40
TIERS = "tiers="
HELP = "Write it like: factor=100 floor=0 ids=public tiers=Bronze:0,Silver:1400"


class Tier(NamedTuple):
    """A named range of scores."""

    name: str
    least: float  # the least shown score, or the share of the best players in percent
    is_share: bool


@immutable
class Display:
    """The scale of the scores that a pool shows, and its tiers."""

    text: str = ""
    factor: float = 1.0
    floor: float = -math.inf
    tiers: tuple[Tier, ...] = ()
    shows_ids: bool = False  # True if readers see the players' IDs in other programs

    def score(self, score: float) -> float:
        """Return the score that is shown for the score that decides the rank."""
        return max(self.floor, self.factor * score)

    def digits(self, digits: int) -> int:
        """Return the number of decimals of shown scores, for ratings that are shown with this many decimals."""
        return max(0, digits - math.floor(math.log10(self.factor)))

    def least_scores(self, ranked: Sequence[float]) -> dict[str, float]:
        """Return the least shown score of each tier, lowest first.

        Args:
            ranked: the scores that decide the ranks of all players with a rank, best first.
        """
        found = dict[str, float]()
        for name, least, is_share in self.tiers:
            last = max(0, int(len(ranked) * least / 100) - 1)  # the last player in the tier
            of_player = self.score(ranked[last]) if is_share and ranked else math.inf
            found[name] = of_player if is_share else least
        return dict(sorted(found.items(), key=lambda tier: tier[1]))

    def tier(self, score: float, digits: int, least_scores: Mapping[str, float]) -> str | None:
        """Return the highest tier that a shown score reaches, or None.

        Args:
            digits: number of decimals of shown ratings.
        """
        reached = [
            name for name, least in least_scores.items() if score >= least or shown(score, self.digits(digits)) >= least
        ]
        return reached[-1] if reached else None


@functools.lru_cache(maxsize=1_000)
def read_display(text: str) -> Display:
    """Return what a text such as `factor=100 floor=0 tiers=Bronze:0,Silver:1400` describes.

    Raises:
        ParameterError: the text is not such a description.
    """
    if len(text) > MAX_CHARACTERS:
        raise ParameterError(f"display: has {len(text):,} characters. Use at most {MAX_CHARACTERS:,}.")
    settings, mark, listed = text.partition(TIERS)
    found, shows_ids = {"factor": 1.0, "floor": -math.inf}, "ids=public" in settings.split()
    for setting in settings.split():
        if setting == "ids=public":
            continue
        name, _, value = setting.partition("=")
        if name not in found:
            raise ParameterError(f"display: {setting!r} is not known. {HELP}")
        found[name] = read_number(value)
    if found["factor"] <= 0.0:
        raise ParameterError(f"display: the factor must be above 0. {HELP}")
    tiers = read_tiers(listed) if mark else ()
    return Display(" ".join(text.split()), **found, tiers=tiers, shows_ids=shows_ids)


def read_tiers(text: str) -> tuple[Tier, ...]:
    tiers = dict[str, Tier]()
    for part in text.split(","):
        name, _, least = part.rpartition(":")
        if not name.strip() or len(name.strip()) > MAX_TIER_CHARACTERS or name.strip() in tiers:
            raise ParameterError(f"display: {part.strip()!r} is not a tier with its own short name. {HELP}")
        number, is_share = read_number(least.strip().removesuffix("%")), least.strip().endswith("%")
        if is_share and not 0.0 < number <= 100.0:  # noqa: PLR2004
            raise ParameterError(f"display: {part.strip()!r} must be above 0% and at most 100%. {HELP}")
        tiers[name.strip()] = Tier(name.strip(), number, is_share)
    if len(tiers) > MAX_TIERS:
        raise ParameterError(f"display: {len(tiers)} tiers are too many. Use at most {MAX_TIERS}.")
    return tuple(tiers.values())


def read_number(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not abs(number) <= 1e9:  # noqa: PLR2004
        raise ParameterError(f"display: {text!r} is not a number. {HELP}")
    return number
