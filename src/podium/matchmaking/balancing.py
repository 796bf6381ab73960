"""Divide a match into sides of similar strength, keeping parties together, and measure how even the sides are."""

import math
from typing import Any, NamedTuple

import numpy as np

from podium.kernels.compiled import compile_kernel, kernel

MAX_SEARCHED_UNITS = 10  # largest match, in units (parties and single players), for which all divisions are tried
TIED_POINTS = 1e-9  # differences in rating points that count as ties
MAX_PAIRED_UNITS = 24  # largest match, in units, in which two units of a side are exchanged together
MAX_STEPS = 256  # maximum number of steps in the search for a group to exchange


class Plan(NamedTuple):
    """The units (parties and single players) of one match, and their sides."""

    unit: Any  # int64 (units)
    size: Any  # int64 (units): number of players
    total: Any  # float64 (units): sum of ratings
    side: Any  # int64 (units)
    best: Any  # int64 (units): best sides, or best group
    stack: Any  # int64 (units): the group in the search, or the number of sides used before a unit
    before: Any  # float64 (units): the rating sum of the unit's side before adding the unit
    unit_of: Any  # int64 (players)


def empty_plan(size: int) -> Plan:
    """Return memory for the plan of a match of `size` players."""
    unit, count, side, best, stack, unit_of = np.zeros((6, size), np.int64)
    return Plan(unit, count, np.zeros(size), side, best, stack, np.zeros(size), unit_of)


def _divide_matches(
    waiting: Any,
    units: Any,
    teams: int,
    slope: float,
    now: float,
    members: Any,
    filled: Any,
    lines: Any,
    plan: Any,
    matching: Any,
) -> None:
    """Compute the sides, spread, quality and wait of every match."""
    for ticket in range(waiting.rating.size):
        number = matching.match[ticket]
        if number >= 0:
            members[number, filled[number]] = ticket
            filled[number] += 1
    for number in range(filled.size):
        players = filled[number]
        low, high, longest = math.inf, -math.inf, 0.0
        for k in range(players):
            ticket = members[number, k]
            low, high = min(low, waiting.rating[ticket]), max(high, waiting.rating[ticket])
            longest = max(longest, now - waiting.since[ticket])
            matching.side[ticket] = k
        if teams:
            balance(waiting, units, members[number], players, teams, lines, plan, matching.side)
        matching.spread[number], matching.waited_s[number] = high - low, longest
        sides = teams or players
        matching.quality[number] = evenness(waiting, members[number], players, sides, slope, matching.side, lines)


@kernel
def balance(waiting: Any, units: Any, members: Any, players: int, teams: int, lines: Any, plan: Any, side: Any) -> None:
    """Divide a match into sides of equal size with rating sums as equal as possible, keeping parties together.

    Units are first assigned and then exchanged. Afterwards, if there are at most `MAX_SEARCHED_UNITS` units, all
    divisions are searched.
    """
    count = fill_plan(waiting, units, members, players, plan)
    side_size = players // teams
    assign_sides(plan, count, teams, side_size, lines)
    exchange(plan, count, teams, lines)
    if count <= MAX_SEARCHED_UNITS:
        search(plan, count, teams, side_size, lines)
    for k in range(players):
        side[members[k]] = plan.side[plan.unit_of[k]]


@kernel
def fill_plan(waiting: Any, units: Any, members: Any, players: int, plan: Any) -> int:
    """Write the units of a match in the order of their strongest members. Return the number of units."""
    count = 0
    for back in range(players):
        k = players - 1 - back  # tickets are sorted by rating
        unit = units.of_ticket[members[k]]
        row = count
        if units.size[unit] > 1:
            row = 0
            while row < count and plan.unit[row] != unit:
                row += 1
        if row == count:
            plan.unit[row], plan.size[row], plan.total[row] = unit, units.size[unit], 0.0
            count += 1
        plan.unit_of[k] = row
        plan.total[row] += waiting.rating[members[k]]
    return count


@kernel
def search(plan: Any, count: int, teams: int, side_size: int, lines: Any) -> None:
    """Try each division into sides of `side_size` players that may be better than the current one.

    The best division has the smallest range of rating sums. Among equal ranges, it has the smallest sum of squares.
    """
    mean = 0.0
    for team in range(teams):
        mean += lines[team, 1] / teams
    least, least_squares = min_range(lines, teams, side_size, mean), squared_distances(lines, teams, mean)
    copy_numbers(plan.side, plan.best, count)
    for team in range(teams):
        lines[team, 0] = lines[team, 1] = 0.0  # number of players, sum of ratings
    plan.side[0], plan.stack[0] = -1, 0
    k = 0
    while k >= 0:
        if not to_next_side(plan, k, teams, side_size, lines):
            k -= 1
        elif min_range(lines, teams, side_size, mean) > least + TIED_POINTS:
            continue
        elif k + 1 < count:
            k += 1
            plan.side[k], plan.stack[k] = -1, max(plan.stack[k - 1], plan.side[k - 1] + 1)
        else:
            width, squares = min_range(lines, teams, side_size, mean), squared_distances(lines, teams, mean)
            if width < least - TIED_POINTS or squares < least_squares - TIED_POINTS:
                least, least_squares = min(width, least), squares
                copy_numbers(plan.side, plan.best, count)
    copy_numbers(plan.best, plan.side, count)


@kernel
def copy_numbers(source: Any, target: Any, count: int) -> None:
    """Copy the first numbers of an array into another."""
    for k in range(count):
        target[k] = source[k]


@kernel
def to_next_side(plan: Any, k: int, teams: int, side_size: int, lines: Any) -> bool:
    """Move a unit to the next side with space for it. Return True if there is such a side."""
    team = plan.side[k]
    if team >= 0:
        lines[team, 0] -= plan.size[k]
        lines[team, 1] = plan.before[k]
    last = min(plan.stack[k], teams - 1)  # empty sides are equivalent, so only the first is tried
    team += 1
    while team <= last and lines[team, 0] + plan.size[k] > side_size:
        team += 1
    if team > last:
        return False
    plan.side[k], plan.before[k] = team, lines[team, 1]
    lines[team, 0] += plan.size[k]
    lines[team, 1] += plan.total[k]
    return True


@kernel
def min_range(lines: Any, teams: int, side_size: int, mean: float) -> float:
    """Return the smallest possible range of the sums, given the sides that are already full."""
    low, high, left, open_sides = math.inf, -math.inf, 0.0, 0
    for team in range(teams):
        if lines[team, 0] == side_size:
            low, high = min(low, lines[team, 1]), max(high, lines[team, 1])
            left += mean - lines[team, 1]
        else:
            open_sides += 1
    if open_sides:  # one of them will get at least their mean, and another at most their mean
        share = mean + left / open_sides
        low, high = min(low, share), max(high, share)
    return high - low


@kernel
def squared_distances(lines: Any, teams: int, mean: float) -> float:
    """Return the sum of the squared distances between the sides' sums and their mean."""
    squares = 0.0
    for team in range(teams):
        squares += (lines[team, 1] - mean) * (lines[team, 1] - mean)
    return squares


@kernel
def assign_sides(plan: Any, count: int, teams: int, side_size: int, lines: Any) -> None:
    """Assign units to sides, the largest parties first, and then by strength.

    Each unit goes to the smallest side, and among equally small sides to the weakest.

    If `divisible` is true, this fills the sides evenly.
    """
    for team in range(teams):
        lines[team, 0] = lines[team, 1] = 0.0  # players, sum of ratings
    for target_size in range(side_size, 0, -1):
        for row in range(count):
            if plan.size[row] != target_size:
                continue
            best = 0
            for team in range(1, teams):
                fewer = lines[team, 0] < lines[best, 0]
                if fewer or (lines[team, 0] == lines[best, 0] and lines[team, 1] < lines[best, 1]):
                    best = team
            plan.side[row] = best
            lines[best, 0] += target_size
            lines[best, 1] += plan.total[row]


@kernel
def divisible(units: Any, chosen: Any, taken: int, players: int, teams: int, counts: Any) -> bool:
    """Return True if `balance` can divide the chosen units into sides of equal size."""
    if players % teams:
        return False
    side_size = players // teams
    for team in range(teams):
        counts[team] = 0
    for target_size in range(players, 0, -1):
        for k in range(taken):
            if units.size[chosen[k]] != target_size:
                continue
            best = 0
            for team in range(1, teams):
                best = team if counts[team] < counts[best] else best
            counts[best] += target_size
            if counts[best] > side_size:
                return False
    return True


@kernel
def exchange(plan: Any, count: int, teams: int, lines: Any) -> None:
    """Exchange units between sides as long as this brings their sums closer.

    First, exchange two units of the same size. Then exchange one or two units of a side, including a party, for the
    same number of players on another side.
    """
    for _ in range(count * count):
        if not exchange_equals(plan, count, lines) and not exchange_groups(plan, count, teams, lines):
            return


@kernel
def exchange_equals(plan: Any, count: int, lines: Any) -> bool:
    """Make the most helpful exchange of two units of equal size. Return True if there is one."""
    best, one, two = TIED_POINTS, -1, -1
    for a in range(count):
        for b in range(a + 1, count):
            if plan.side[a] == plan.side[b] or plan.size[a] != plan.size[b]:
                continue
            gap = lines[plan.side[a], 1] - lines[plan.side[b], 1]
            gain = abs(gap) - abs(gap - 2.0 * (plan.total[a] - plan.total[b]))
            if gain > best:
                best, one, two = gain, a, b
    if one < 0:
        return False
    to, back = plan.side[two], plan.side[one]
    move(plan, one, to, lines)
    move(plan, two, back, lines)
    return True


@kernel
def exchange_groups(plan: Any, count: int, teams: int, lines: Any) -> bool:
    """Exchange one or two units, including a party, for a group from another side, if this helps.

    Return True if it does.
    """
    best, one, two, to = TIED_POINTS, -1, -1, -1
    for a in range(count):
        for b in range(a, count if count <= MAX_PAIRED_UNITS else a + 1):
            if plan.side[a] != plan.side[b] or (plan.size[a] == 1 and plan.size[b] == 1):
                continue
            for team in range(teams):
                if team == plan.side[a]:
                    continue
                gap = lines[plan.side[a], 1] - lines[team, 1]
                miss, _ = find_group(plan, count, team, a, b, gap)
                gain = abs(gap) - 2.0 * miss
                if gain > best:
                    best, one, two, to = gain, a, b, team
    if one < 0:
        return False
    back = plan.side[one]
    _, members = find_group(plan, count, to, one, two, lines[back, 1] - lines[to, 1])
    for k in range(members):
        move(plan, plan.best[k], back, lines)
    move(plan, one, to, lines)
    if two != one:
        move(plan, two, to, lines)
    return True


@kernel
def find_group(plan: Any, count: int, team: int, one: int, two: int, gap: float) -> tuple[float, int]:
    """Find a group to exchange for one or two units of another side. That side's rating sum is higher by `gap`.

    The group has the same number of players, and brings the sums as close together as possible. The search stops after
    `MAX_STEPS` steps.

    Returns:
        Half of the remaining gap (infinite if there is no group), and the number of units in `plan.best`.
    """
    players, target_total = plan.size[one], plan.total[one] - 0.5 * gap
    if two != one:
        players, target_total = players + plan.size[two], target_total + plan.total[two]
    nearest, members = math.inf, 0
    depth, row, size, total = 0, 0, 0, 0.0
    for _ in range(MAX_STEPS):
        if row < count:
            if plan.side[row] == team and size + plan.size[row] <= players:
                plan.stack[depth] = row
                depth += 1
                size += plan.size[row]
                total += plan.total[row]
                if size == players and abs(target_total - total) < nearest:
                    nearest, members = abs(target_total - total), depth
                    copy_numbers(plan.stack, plan.best, depth)
            row += 1
        if row == count or size == players:
            if depth == 0:
                break
            depth -= 1
            row = plan.stack[depth]
            size -= plan.size[row]
            total -= plan.total[row]
            row += 1
    return nearest, members


@kernel
def move(plan: Any, row: int, to: int, lines: Any) -> None:
    """Move a unit to another side."""
    lines[plan.side[row], 1] -= plan.total[row]
    lines[to, 1] += plan.total[row]
    plan.side[row] = to


@kernel
def evenness(waiting: Any, members: Any, players: int, sides: int, slope: float, side: Any, lines: Any) -> float:
    """Return the winner's entropy divided by its maximum, using a Plackett-Luce model of the sides' ratings.

    Uncertain ratings contain less information, so both sides' deviations reduce a lead, as in Glicko's expected score.
    """
    for team in range(sides):
        lines[team, 0] = lines[team, 1] = lines[team, 2] = 0.0
    for k in range(players):
        ticket = members[k]
        lines[side[ticket], 0] += 1.0
        lines[side[ticket], 1] += waiting.rating[ticket]
        lines[side[ticket], 2] += waiting.deviation[ticket] * waiting.deviation[ticket]
    best = 0
    for team in range(sides):
        count = max(lines[team, 0], 1.0)
        lines[team, 1] /= count
        lines[team, 2] /= count * count
        best = team if lines[team, 1] > lines[best, 1] else best
    total, weighed = 0.0, 0.0
    for team in range(sides):
        variance = lines[team, 2] + lines[best, 2]
        attenuated = slope / math.sqrt(1.0 + 3.0 * slope * slope * variance / (math.pi * math.pi))
        lead = attenuated * (lines[team, 1] - lines[best, 1])
        strength = math.exp(lead)
        total += strength
        weighed += strength * lead
    return (math.log(total) - weighed / total) / math.log(float(sides)) if sides > 1 else 1.0


divide = compile_kernel(_divide_matches)
