"""The parts of a change that people are shown: by heat, by opponent, or by how strong the opponents are."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from podium.engine.system import ELO_SCALE, System
from podium.ledger.reasons.duels import Duel
from podium.ledger.reasons.shares import MOST_PARTS
from podium.support.rounding import shown

HEAT, OPPONENT, BAND, CAUSE = "heat", "opponent", "band", "cause"  # a duel's own row has the cause OPPONENT
NEAR, FAR = 50.0, 200.0  # gaps between bands on Elo's scale; on others those of the same expected scores


@dataclass(frozen=True, slots=True)
class Group:
    """One part of a change."""

    kind: str  # HEAT, OPPONENT, BAND or CAUSE
    label: str  # "Heat 2", "Overall", "Chidi", "200 or more below Dragana", "Base points"
    result: str  # how the player did: "quit, lost all 5"; empty for a cause
    duels: int
    expected: float  # duels that the ratings promised
    won: float  # duels won; a draw is a half
    points: float
    shown: Decimal  # the points as people read them; those of all groups add up to the change as shown


@dataclass(frozen=True, slots=True)
class Heading:
    """What the duels of a part have in common."""

    kind: str
    heats: tuple[int, ...] = ()  # of the events' columns
    edges: tuple[Decimal | None, Decimal | None] = (None, None)  # of a band: from the first on, up to below the second


@dataclass(frozen=True, slots=True)
class Partition:
    """Which duels share a part."""

    headings: list[Heading]
    members: list[list[int]]  # of each heading, numbers of duels

    def among(self, before: Sequence[int], after: Sequence[int]) -> "Partition":
        """Return the partition of some of the duels, each known by its entry; a part without duels is gone."""
        number_of = {entry: number for number, entry in enumerate(after)}
        members = [[number_of[before[k]] for k in each if before[k] in number_of] for each in self.members]
        pairs = [(heading, each) for heading, each in zip(self.headings, members, strict=True) if each]
        return Partition([heading for heading, _ in pairs], [each for _, each in pairs])


def partition(
    duels: Sequence[Duel], leads: dict[int, float], overall: set[int], system: System, most: int
) -> Partition:
    """The duels by heat; in one heat by opponent, where they are few; else in bands of strength.

    Args:
        leads: how far above the player each opponent was rated, in points.
        overall: the heats that are an overall result.
        most: the parts that a system can share a change among; a system that is a sum over pairs has no limit.
    """
    heats = sorted({duel.heat for duel in duels})
    if len(heats) > 1:
        headings = [Heading(HEAT, heats=run) for run in runs_of_heats(heats, overall, most)]
        part_of = {heat: k for k, heading in enumerate(headings) for heat in heading.heats}
        return Partition(headings, members_of([part_of[duel.heat] for duel in duels], len(headings)))
    if len(duels) <= min(MOST_PARTS, most):
        headings = [Heading(OPPONENT) for _ in duels]
        return Partition(headings, [[k] for k in range(len(duels))])
    edges = band_edges(system, most)
    limits = [None, *edges, None]
    digits = system.digits - 1
    gaps = [shown(leads[duel.opponent], digits) for duel in duels]
    members = members_of([sum(gap >= edge for edge in edges) for gap in gaps], len(edges) + 1)
    bands = [(Heading(BAND, edges=(limits[k], limits[k + 1])), each) for k, each in enumerate(members) if each]
    return Partition([heading for heading, _ in bands], [each for _, each in bands])


def runs_of_heats(heats: list[int], overall: set[int], most: int) -> list[tuple[int, ...]]:
    """The heats in at most so many runs of neighbours; an overall result is one of its own where there is room."""
    if len(heats) <= most:
        return [(heat,) for heat in heats]
    last = [heats[-1:]] if heats[-1] in overall and most > 1 else []
    rest = heats[: len(heats) - len(last)]
    count = most - len(last)
    cuts = [len(rest) * k // count for k in range(count + 1)]
    return [tuple(run) for run in [*(rest[cuts[k] : cuts[k + 1]] for k in range(count)), *last]]


def members_of(parts: Sequence[int], count: int) -> list[list[int]]:
    """The numbers of those in each part."""
    members: list[list[int]] = [[] for _ in range(count)]
    for number, part in enumerate(parts):
        members[part].append(number)
    return members


def band_edges(system: System, most: int) -> list[Decimal]:
    """The gaps at which bands begin, lowest first: five bands, or as many as there may be parts."""
    scale, digits = system.points_per_logit / ELO_SCALE, system.digits - 1
    unit = Decimal(1).scaleb(-digits)
    near, far = (shown(float(f"{gap * scale:.2g}"), digits) for gap in (NEAR, FAR))
    if most >= 5:  # noqa: PLR2004  (bands)
        return [unit - far, unit - near, near, far]
    return [unit - near, near] if most >= 3 else [Decimal(0)]  # noqa: PLR2004  (bands)
