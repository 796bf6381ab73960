"""The sides of a match: as even as can be, parties together, and how even that is."""

import math
from typing import Any, NamedTuple

import numpy as np

from podium.kernels.compiled import compile_kernel, kernel

MAX_SEARCHED_UNITS = 10  # parties and players alone of a match whose sides are searched whole
TIED_POINTS = 1e-9  # rating points that make no difference
MAX_PAIRED_UNITS = 24  # parties and players alone of a match in which two of a side are exchanged together
MAX_STEPS = 256  # of the search for a group to exchange


class Plan(NamedTuple):
    """Room for the parties and players alone of one match, and where they go."""

    unit: Any  # int64 (units)
    size: Any  # int64 (units): players
    total: Any  # float64 (units): sum of ratings
    side: Any  # int64 (units)
    best: Any  # int64 (units): sides, or those of a group
    stack: Any  # int64 (units): a group being searched, or the sides in use before a unit
    before: Any  # float64 (units): the sum of its side before a unit
    unit_of: Any  # int64 (players)


def empty_plan(size: int) -> Plan:
    """Room for a match of so many players."""
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
    """The sides of every match, its spread, quality and wait."""
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
    """Divide a match into sides of equal numbers and sums of ratings as near as can be, parties together.

    They are placed and then exchanged; up to `SEARCHED` parties and players alone are then searched whole.
    """
    count = fill_plan(waiting, units, members, players, plan)
    room = players // teams
    assign_sides(plan, count, teams, room, lines)
    exchange(plan, count, teams, lines)
    if count <= MAX_SEARCHED_UNITS:
        search(plan, count, teams, room, lines)
    for k in range(players):
        side[members[k]] = plan.side[plan.unit_of[k]]


@kernel
def fill_plan(waiting: Any, units: Any, members: Any, players: int, plan: Any) -> int:
    """Write down the parties and players alone of a match, the strongest member's first; how many they are."""
    count = 0
    for back in range(players):
        k = players - 1 - back  # tickets stand in order of rating
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
def search(plan: Any, count: int, teams: int, room: int, lines: Any) -> None:
    """Try every division into sides of `room` players that may be better than the present one: each once.

    The best has the least range of the sides' sums of ratings, of those of one range the least sum of squares.
    """
    mean = 0.0
    for team in range(teams):
        mean += lines[team, 1] / teams
    least, least_squares = least_range(lines, teams, room, mean), squared_distances(lines, teams, mean)
    copy_numbers(plan.side, plan.best, count)
    for team in range(teams):
        lines[team, 0] = lines[team, 1] = 0.0  # players, sum of ratings
    plan.side[0], plan.stack[0] = -1, 0
    k = 0
    while k >= 0:
        if not to_next_side(plan, k, teams, room, lines):
            k -= 1
        elif least_range(lines, teams, room, mean) > least + TIED_POINTS:
            continue
        elif k + 1 < count:
            k += 1
            plan.side[k], plan.stack[k] = -1, max(plan.stack[k - 1], plan.side[k - 1] + 1)
        else:
            width, squares = least_range(lines, teams, room, mean), squared_distances(lines, teams, mean)
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
def to_next_side(plan: Any, k: int, teams: int, room: int, lines: Any) -> bool:
    """Take a unit from its side to the next with room for it; whether there is one."""
    team = plan.side[k]
    if team >= 0:
        lines[team, 0] -= plan.size[k]
        lines[team, 1] = plan.before[k]
    last = min(plan.stack[k], teams - 1)  # sides without players are all alike: only the first of them is tried
    team += 1
    while team <= last and lines[team, 0] + plan.size[k] > room:
        team += 1
    if team > last:
        return False
    plan.side[k], plan.before[k] = team, lines[team, 1]
    lines[team, 0] += plan.size[k]
    lines[team, 1] += plan.total[k]
    return True


@kernel
def least_range(lines: Any, teams: int, room: int, mean: float) -> float:
    """The least range that the sums can have, given those of the sides that are full."""
    low, high, left, open_sides = math.inf, -math.inf, 0.0, 0
    for team in range(teams):
        if lines[team, 0] == room:
            low, high = min(low, lines[team, 1]), max(high, lines[team, 1])
            left += mean - lines[team, 1]
        else:
            open_sides += 1
    if open_sides:  # one of them will have their mean at least, another at most
        share = mean + left / open_sides
        low, high = min(low, share), max(high, share)
    return high - low


@kernel
def squared_distances(lines: Any, teams: int, mean: float) -> float:
    """The sum of squares of the distances of the sides' sums from their mean."""
    squares = 0.0
    for team in range(teams):
        squares += (lines[team, 1] - mean) * (lines[team, 1] - mean)
    return squares


@kernel
def assign_sides(plan: Any, count: int, teams: int, room: int, lines: Any) -> None:
    """Large parties first, the strongest first among them, each to the side with fewest players, of those the weakest.

    `divisible` says that this fills the sides evenly.
    """
    for team in range(teams):
        lines[team, 0] = lines[team, 1] = 0.0  # players, sum of ratings
    for target_size in range(room, 0, -1):
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
    """Whether `balance` finds sides of equal numbers for the units chosen."""
    if players % teams:
        return False
    room = players // teams
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
            if counts[best] > room:
                return False
    return True


@kernel
def exchange(plan: Any, count: int, teams: int, lines: Any) -> None:
    """Exchange between sides what brings their sums nearest, as long as anything does.

    First two of one size; then a party, alone or with another of its side, for whoever are as many together.
    """
    for _ in range(count * count):
        if not exchange_equals(plan, count, lines) and not exchange_groups(plan, count, teams, lines):
            return


@kernel
def exchange_equals(plan: Any, count: int, lines: Any) -> bool:
    """Exchange the two of one size that help most, if any do."""
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
    """Exchange the one or two of a side and the group of another that help most, a party being among them."""
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
    """Find whom of a side to exchange for one or two of another whose sum of ratings is higher by a gap.

    They are as many players together, and bring the sums nearest; after `MAX_STEPS` steps the nearest so far.

    Returns:
        Half the gap that is left, infinite where there are none; and how many are written to `plan.best`.
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
    """Put a party or a player alone on another side."""
    lines[plan.side[row], 1] -= plan.total[row]
    lines[to, 1] += plan.total[row]
    plan.side[row] = to


@kernel
def evenness(waiting: Any, members: Any, players: int, sides: int, slope: float, side: Any, lines: Any) -> float:
    """The entropy of who wins over its largest: by Plackett and Luce from the sides' leads over the best.

    Uncertain ratings tell less: each lead is attenuated by both sides' deviations, as in Glicko's expected score.
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
