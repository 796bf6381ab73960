"""The sides of a match: as even as can be, parties together, and how even that is."""

import math
from typing import Any

from podium.compiled import compile_kernel, kernel


def _divide_matches(
    waiting: Any,
    units: Any,
    teams: int,
    slope: float,
    now: float,
    members: Any,
    filled: Any,
    lines: Any,
    made: Any,
) -> None:
    """The sides of every match, its spread, quality and wait."""
    for ticket in range(waiting.rating.size):
        number = made.match[ticket]
        if number >= 0:
            members[number, filled[number]] = ticket
            filled[number] += 1
    for number in range(filled.size):
        here = filled[number]
        low, high, longest = math.inf, -math.inf, 0.0
        for k in range(here):
            ticket = members[number, k]
            low, high = min(low, waiting.rating[ticket]), max(high, waiting.rating[ticket])
            longest = max(longest, now - waiting.since[ticket])
            made.side[ticket] = k
        if teams:
            balance(waiting, units, members[number], here, teams, lines, made.side)
        made.spread[number], made.waited_s[number] = high - low, longest
        sides = teams or here
        made.quality[number] = evenness(waiting, members[number], here, sides, slope, made.side, lines)


@kernel
def balance(waiting: Any, units: Any, members: Any, here: int, teams: int, lines: Any, side: Any) -> None:
    """Divide a match into sides of equal numbers and sums of ratings as near as can be, parties together.

    Large parties first, the strongest first among them, each to the side with fewest players, of those the weakest;
    then the exchange of two that helps most, until none does.
    """
    room = here // teams
    for team in range(teams):
        lines[team, 0] = lines[team, 1] = 0.0  # players, sum of ratings
    for k in range(here):
        side[members[k]] = -1
    for wanted in range(room, 0, -1):  # large parties first, while there is room for them
        for back in range(here):
            ticket = members[here - 1 - back]
            unit = units.of_ticket[ticket]
            if side[ticket] >= 0 or units.size[unit] != wanted:
                continue
            best = -1
            for team in range(teams):
                fewer = best < 0 or lines[team, 0] < lines[best, 0]
                if fewer or (lines[team, 0] == lines[best, 0] and lines[team, 1] < lines[best, 1]):
                    best = team
            for k in range(here):
                if units.of_ticket[members[k]] == unit:
                    side[members[k]] = best
                    lines[best, 0] += 1.0
                    lines[best, 1] += waiting.rating[members[k]]
    exchange(waiting, units, members, here, lines, side)


@kernel
def divisible(units: Any, chosen: Any, taken: int, players: int, teams: int, counts: Any) -> bool:
    """Whether `balance` finds sides of equal numbers for the units chosen."""
    if players % teams:
        return False
    room = players // teams
    for team in range(teams):
        counts[team] = 0
    for wanted in range(players, 0, -1):
        for k in range(taken):
            if units.size[chosen[k]] != wanted:
                continue
            best = 0
            for team in range(1, teams):
                best = team if counts[team] < counts[best] else best
            counts[best] += wanted
            if counts[best] > room:
                return False
    return True


@kernel
def exchange(waiting: Any, units: Any, members: Any, here: int, lines: Any, side: Any) -> None:
    """Exchange players alone between sides as long as the sides' sums come nearer."""
    for _ in range(here * here):
        best, one, two = 1e-9, -1, -1
        for i in range(here):
            a = members[i]
            for j in range(i + 1, here):
                b = members[j]
                alone = units.size[units.of_ticket[a]] == 1 and units.size[units.of_ticket[b]] == 1
                if side[a] == side[b] or not alone:
                    continue
                gap = lines[side[a], 1] - lines[side[b], 1]
                moved = 2.0 * (waiting.rating[a] - waiting.rating[b])
                gain = abs(gap) - abs(gap - moved)
                if gain > best:
                    best, one, two = gain, a, b
        if one < 0:
            return
        moved = waiting.rating[one] - waiting.rating[two]
        lines[side[one], 1] -= moved
        lines[side[two], 1] += moved
        side[one], side[two] = side[two], side[one]


@kernel
def evenness(waiting: Any, members: Any, here: int, sides: int, slope: float, side: Any, lines: Any) -> float:
    """The entropy of who wins over its largest: by Plackett and Luce from the sides' mean ratings.

    Uncertain ratings tell less: the slope is attenuated as in Glicko.
    """
    for team in range(sides):
        lines[team, 0] = lines[team, 1] = lines[team, 2] = 0.0
    for k in range(here):
        ticket = members[k]
        lines[side[ticket], 0] += 1.0
        lines[side[ticket], 1] += waiting.rating[ticket]
        lines[side[ticket], 2] += waiting.deviation[ticket] * waiting.deviation[ticket]
    best = -math.inf
    for team in range(sides):
        count = max(lines[team, 0], 1.0)
        variance = lines[team, 2] / (count * count)
        lines[team, 1] /= count
        lines[team, 2] = slope / math.sqrt(1.0 + 3.0 * slope * slope * variance / (math.pi * math.pi))
        best = max(best, lines[team, 1])
    total, weighed = 0.0, 0.0
    for team in range(sides):
        lead = lines[team, 2] * (lines[team, 1] - best)
        strength = math.exp(lead)
        total += strength
        weighed += strength * lead
    return (math.log(total) - weighed / total) / math.log(float(sides)) if sides > 1 else 1.0


divide = compile_kernel(_divide_matches)
