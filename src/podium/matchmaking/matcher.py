"""Matchmaking: a pure function of tickets and time that finds even matches for waiting players within a target wait.

The tickets of a region are sorted by rating. The number of skill groups equals the number of possible matches, so it
adapts to the population. Halfway through its target wait, a ticket accepts a spread as wide as one group. It accepts
less before, more afterwards, and any spread at the end. The longest-waiting tickets choose first, and choose their
nearest neighbours.
"""

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from podium.errors import ParameterError
from podium.kernels.compiled import compile_kernel, kernel
from podium.kernels.logarithm import LN_10
from podium.matchmaking.balancing import divide, divisible, empty_plan
from podium.support.answers import answer
from podium.support.arrays import Floats, Integers
from podium.support.immutable import immutable

TAKE_ANYONE_SHARE = 0.85  # share of the target wait after which a ticket accepts anyone: one more round is left
ANY_REGION_SHARE = 1.0  # share of the target wait after which regions are ignored and a match may be smaller


@immutable
class Ticket:
    """A waiting player."""

    player: str
    rating: float
    since: float  # start of the wait in seconds, on any clock
    deviation: float = 0.0  # deviation of the rating
    party: str | None = None  # the players of a party play together, on the same side
    region: str = ""


@immutable
class Policy:
    """The rules for matches."""

    size: int = 4  # number of players in a match
    teams: int = 0  # number of sides of equal size; 0 for no sides
    least: int = 0  # minimum number of players in a match after the target wait; 0: `size` if there are sides, else 2
    target_s: float = 40.0  # target wait in seconds
    scale: float = 400.0  # rating difference with odds of 10 to 1

    def __post_init__(self) -> None:
        sides = self.teams or 2
        if self.size < sides or self.size % (self.teams or 1):
            raise ParameterError(f"size is {self.size}; it must be a multiple of teams, and at least {sides}")
        if self.least == 0:
            object.__setattr__(self, "least", self.size if self.teams else sides)
        if not sides <= self.least <= self.size:
            raise ParameterError(f"least is {self.least}; it must be from {sides} to size")
        if self.teams == 1 or self.teams < 0:
            raise ParameterError(f"teams is {self.teams}; it must be 0, or at least 2")
        if not (0.0 < self.target_s < math.inf and 0.0 < self.scale < math.inf):
            raise ParameterError("target_s and scale must be positive numbers")


@answer
class Match:
    """A match.

    Attributes:
        players: The players in the match.
        teams: Teams with equal numbers of players, or single players if everyone plays individually.
        spread: The best rating minus the worst, in points.
        quality: 1 if all sides are equally likely to win, and close to 0 if one side is almost certain to win.
        waited_s: Number of seconds that the longest-waiting player has waited.
    """

    players: tuple[str, ...]
    teams: tuple[tuple[str, ...], ...]
    spread: float
    quality: float
    waited_s: float


class Waiting(NamedTuple):
    """Waiting tickets as arrays."""

    rating: Floats
    deviation: Floats
    since: Floats
    party: Integers  # equal within a party; unique for a single player
    region: Integers


class Matching(NamedTuple):
    """Matches as arrays."""

    match: Integers  # (tickets): number of the match, or -1 for no match
    side: Integers  # (tickets)
    spread: Floats  # (matches)
    quality: Floats
    waited_s: Floats


def match(tickets: Sequence[Ticket], now: float, policy: Policy | None = None) -> list[Match]:
    """Return the matches to start now. All other players keep waiting.

    The order of the tickets does not matter. 10,000 tickets take a tenth of a second.

    Args:
        tickets: The waiting players.
        now: The current time in seconds, on the same clock as the tickets.
        policy: The rules for matches.

    Raises:
        ParameterError: A player is waiting twice, a number is not finite, or a party is too large or spans two regions.
    """
    rule = policy or Policy()
    ordered = sorted(tickets, key=lambda ticket: (ticket.rating, ticket.player))
    matching = match_waiting(check_tickets(ordered, rule), now, rule)
    sides_of: list[list[list[str]]] = [
        [[] for _ in range(rule.teams or rule.size)] for _ in range(matching.spread.size)
    ]
    for ticket, number, side in zip(ordered, matching.match.tolist(), matching.side.tolist(), strict=True):
        if number >= 0:
            sides_of[number][side].append(ticket.player)
    matches = []
    for number, sides in enumerate(sides_of):
        teams = tuple(tuple(side) for side in sides if side)
        players = tuple(player for side in teams for player in side)
        figures = (float(column[number]) for column in (matching.spread, matching.quality, matching.waited_s))
        matches.append(Match(players, teams, *figures))
    return matches


def check_tickets(tickets: Sequence[Ticket], policy: Policy) -> Waiting:
    """Check tickets, and return them as arrays."""
    names = [ticket.player for ticket in tickets]
    if len(set(names)) < len(names):
        twice = next(name for name, following in pairwise(sorted(names)) if name == following)
        raise ParameterError(f"{twice!r} is waiting twice")
    numbers = np.array([(t.rating, t.deviation, t.since) for t in tickets], np.float64).reshape(-1, 3)
    if not np.isfinite(numbers).all():
        bad = tickets[int(np.flatnonzero(~np.isfinite(numbers).all(axis=1))[0])]
        raise ParameterError(f"the ticket of {bad.player!r} has a number that is not finite")
    parties: dict[str, list[int]] = {}
    party = np.arange(len(tickets))
    for k, ticket in enumerate(tickets):
        if ticket.party is not None:
            parties.setdefault(ticket.party, []).append(k)
            party[k] = parties[ticket.party][0]
    largest = policy.size // policy.teams if policy.teams else policy.size
    for name, members in parties.items():
        if len(members) > largest:
            raise ParameterError(f"party {name!r} has {len(members)} players. A side has room for {largest}.")
        if len({tickets[k].region for k in members}) > 1:
            raise ParameterError(f"party {name!r} is waiting in two regions")
    regions = {name: number for number, name in enumerate(sorted({ticket.region for ticket in tickets}))}
    region = np.array([regions[ticket.region] for ticket in tickets], np.int64)
    return Waiting(numbers[:, 0].copy(), numbers[:, 1].copy(), numbers[:, 2].copy(), party, region)


def match_waiting(waiting: Waiting, now: float, policy: Policy) -> Matching:
    """Match tickets, which are arrays sorted by rating."""
    n = waiting.rating.size
    matching = Matching(np.full(n, -1), np.zeros(n, np.int64), np.empty(n), np.empty(n), np.empty(n))
    if n == 0:
        return matching
    lead, unit = np.unique(waiting.party, return_inverse=True)
    size = np.bincount(unit)
    rating = np.bincount(unit, waiting.rating) / size
    since = np.full(lead.size, np.inf)
    np.minimum.at(since, unit, waiting.since)
    order = np.lexsort((lead, rating))
    position = np.empty(order.size, np.int64)
    position[order] = np.arange(order.size)
    wait = np.maximum(now - since[order], 0.0)
    region = waiting.region[lead][order]
    units = Units(rating[order], size[order], wait, region, position[unit], np.argsort(-wait, kind="stable"))
    groups, chosen = np.full(order.size, -1), np.empty(order.size, np.int64)
    links = np.arange(-1, order.size - 1), np.arange(1, order.size + 1)
    limits = policy.size, max(policy.teams, 1), policy.least, policy.target_s
    counts = np.empty(max(policy.teams, 1), np.int64)
    count = _choose(units, group_widths(units, policy.size), *limits, *links, chosen, counts, groups)
    matching.match[:] = groups[units.of_ticket]
    slope = LN_10 / policy.scale
    members, filled = np.empty((count, policy.size), np.int64), np.zeros(count, np.int64)
    scratch = np.empty((policy.size, 3)), empty_plan(policy.size)
    divide(waiting, units, policy.teams, slope, now, members, filled, *scratch, matching)
    return Matching(
        matching.match, matching.side, matching.spread[:count], matching.quality[:count], matching.waited_s[:count]
    )


class Units(NamedTuple):
    """Units (single players and parties), sorted by mean rating."""

    rating: Any  # float64 (units)
    size: Any  # int64: players
    wait: Any  # float64: wait of the longest-waiting member, in seconds
    region: Any  # int64
    of_ticket: Any  # int64 (tickets)
    by_wait: Any  # int64 (units): units sorted by wait, the longest first


def group_widths(units: Units, size: int) -> Floats:
    """Return each region's width of a skill group: the range of the middle 90 % divided by the number of groups."""
    widths = np.empty(int(units.region.max()) + 1)
    for region in range(widths.size):
        in_region = units.region == region
        rating, players = units.rating[in_region], float(units.size[in_region].sum())
        low, high = (rating[int(q * (rating.size - 1))] for q in (0.05, 0.95)) if rating.size else (0.0, 0.0)
        widths[region] = (high - low) / max(1.0, players // size)
    return widths


def _choose_groups(
    units: Any,
    widths: Any,
    size: int,
    teams: int,
    least: int,
    target_s: float,
    before: Any,
    after: Any,
    chosen: Any,
    counts: Any,
    groups: Any,
) -> int:
    """Write the match number of each unit. Return the number of matches. `before` and `after` link the free units."""
    n = units.rating.size
    count = 0
    for k in range(n):
        anchor = units.by_wait[k]
        if groups[anchor] >= 0:
            continue
        anywhere = units.wait[anchor] >= ANY_REGION_SHARE * target_s
        reach = allowed_spread(units.wait[anchor], target_s, widths[units.region[anchor]])
        taken, players = gather(units, anchor, reach, size, teams, anywhere, before, after, chosen)
        enough = players == size or (anywhere and players >= least)
        if not (enough and divisible(units, chosen, taken, players, teams, counts)):
            continue
        for i in range(taken):
            unit = chosen[i]
            groups[unit] = count
            if before[unit] >= 0:
                after[before[unit]] = after[unit]
            if after[unit] < n:
                before[after[unit]] = before[unit]
        count += 1
    return count


@kernel
def allowed_spread(wait: float, target_s: float, width: float) -> float:
    """Return the spread that a ticket accepts, which is one group's width halfway through its target wait."""
    part = wait / (TAKE_ANYONE_SHARE * target_s)
    return width * part / (1.0 - part) if part < 1.0 else math.inf


@kernel
def gather(
    units: Any,
    anchor: int,
    reach: float,
    size: int,
    teams: int,
    anywhere: bool,  # noqa: FBT001  (positional for numba)
    before: Any,
    after: Any,
    chosen: Any,
) -> tuple[int, int]:
    """Gather the anchor and its nearest suitable units within `reach`.

    Return the number of units and the number of players.
    """
    n = units.rating.size
    chosen[0] = anchor
    taken, players = 1, units.size[anchor]
    low, high = units.rating[anchor], units.rating[anchor]
    left, right = before[anchor], after[anchor]
    space = size // teams  # a party must fit into one side
    while players < size:
        while left >= 0 and not fits(units, anchor, left, size - players, space, anywhere):
            left = before[left]
        while right < n and not fits(units, anchor, right, size - players, space, anywhere):
            right = after[right]
        down = units.rating[anchor] - units.rating[left] if left >= 0 else math.inf
        up = units.rating[right] - units.rating[anchor] if right < n else math.inf
        if min(down, up) == math.inf:
            break
        nearest = left if down <= up else right
        if max(high, units.rating[nearest]) - min(low, units.rating[nearest]) > reach:
            break
        low, high = min(low, units.rating[nearest]), max(high, units.rating[nearest])
        chosen[taken] = nearest
        taken += 1
        players += units.size[nearest]
        if down <= up:
            left = before[left]
        else:
            right = after[right]
    return taken, players


@kernel
def fits(units: Any, anchor: int, other: int, free: int, space: int, anywhere: bool) -> bool:  # noqa: FBT001
    """Return True if a unit may join the anchor: its size fits, and its region is the same or no longer matters."""
    same = anywhere or units.region[anchor] == units.region[other]
    return bool(same and units.size[other] <= min(free, space))


_choose = compile_kernel(_choose_groups)
