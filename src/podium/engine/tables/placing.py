"""Calculate places within heats, for single players and teams.

The code is compiled, because a history can have millions of heats.
"""

from typing import Any, NamedTuple

import numpy as np

from podium.kernels.compiled import compile_kernel, kernel, run_by_steps
from podium.kernels.decimal_sums import decimal_sum

COMPILED_MIN_ENTRIES = 100_000  # number of entries that justifies loading a kernel
MAX_MOVES = 32  # insertion-sort moves per entry before another sort takes over


class Reported(NamedTuple):
    """The results of each entry, heat by heat. An empty array stands for an absent column."""

    heats: Any  # int64 (heats + 1): offsets of each heat's entries
    finished: Any  # bool (entries), default True
    position: Any  # float64 (entries), NaN if unknown, like the columns below
    score: Any
    time_s: Any
    team: Any  # int32 (entries), equal for team mates, negative for none
    team_score: Any


class Places(NamedTuple):
    """The places of all entries. See `inputs.Entry`."""

    place: Any
    rank: Any  # 0 if it equals the place, -1 for a player who did not start
    opponents: Any  # empty if all entries of each heat are compared
    side: Any  # int32: equal for team mates in a team heat, else unique; empty without teams


@kernel
def known(column: Any, finished: Any, start: int, stop: int) -> bool:
    """Return True if every finisher in the heat has a number in this column."""
    if column.size == 0:
        return False
    for i in range(start, stop):
        if (finished.size == 0 or finished[i]) and np.isnan(column[i]):
            return False
    return True


@kernel
def own_results(reported: Reported, start: int, stop: int, result: Any) -> None:
    """Fill `result` (lower is better) with each finisher's position, or else with the score, time or team score."""
    finished = reported.finished
    for i in range(start, stop):
        result[i - start] = 0.0
    if known(reported.position, finished, start, stop):
        for i in range(start, stop):
            result[i - start] = reported.position[i]
    elif known(reported.score, finished, start, stop):
        for i in range(start, stop):
            result[i - start] = -reported.score[i]
    elif known(reported.time_s, finished, start, stop):
        for i in range(start, stop):
            result[i - start] = reported.time_s[i]
    elif known(reported.team_score, finished, start, stop):
        for i in range(start, stop):
            result[i - start] = -reported.team_score[i]


@kernel
def team_results(reported: Reported, start: int, stop: int, result: Any, scores: Any) -> bool:
    """Fill `result` with the result of each entry's team. Return False if the heat is not between teams.

    A team's result is its `team_score`, or else the position that its finishers share, or else the sum of its scores.
    If team mates have different places, they raced individually, and `team` is only a label. `scores` is scratch
    memory.
    """
    several = False
    for i in range(start, stop):
        several = several or reported.team[i] != reported.team[start]
    if not several:
        return False
    finished = reported.finished
    if known(reported.team_score, finished, start, stop):
        for i in range(start, stop):
            result[i - start] = -reported.team_score[i]
        return True
    if reported.position.size and known(reported.position, finished, start, stop):
        return common_positions(reported, start, stop, result)
    if not known(reported.score, finished, start, stop):
        return False
    for i in range(start, stop):
        team, count, first = reported.team[i], 0, i
        for j in range(start, stop):
            if i == j or (team >= 0 and team == reported.team[j]):
                first = min(first, j)
                if not np.isnan(reported.score[j]):
                    scores[count] = reported.score[j]
                    count += 1
        result[i - start] = -decimal_sum(scores, count) if first == i else result[first - start]
    return True


@kernel
def common_positions(reported: Reported, start: int, stop: int, result: Any) -> bool:
    """Fill `result` with the common position of each team's finishers. Return False if they differ."""
    shared = False
    for i in range(start, stop):
        result[i - start] = reported.position[i]
        for j in range(start, stop):
            mates = i != j and reported.team[i] >= 0 and reported.team[i] == reported.team[j]
            if mates and (reported.finished.size == 0 or (reported.finished[i] and reported.finished[j])):
                if reported.position[i] != reported.position[j]:
                    return False
                shared = True
    return shared


@kernel
def sort_by_heap(order: Any, count: int, result: Any) -> None:
    """Sort the first `count` numbers by result with heapsort, lowest first. The order of ties is undefined."""
    for step in range(count + count // 2):  # count / 2 steps build the heap, the others move the largest to the end
        top, end = count // 2 - 1 - step, count
        if top < 0:
            top, end = 0, count - 1 - (step - count // 2)
            order[0], order[end] = order[end], order[0]
        child = 2 * top + 1
        while child < end:
            if child + 1 < end and result[order[child]] < result[order[child + 1]]:
                child += 1
            if result[order[top]] >= result[order[child]]:
                break
            order[top], order[child] = order[child], order[top]
            top, child = child, 2 * child + 1


@kernel
def rank_finishers(reported: Reported, start: int, stop: int, result: Any, order: Any, places: Places) -> None:
    """Write a heat's places as given in `result`. Finishers come first; everyone who quit shares the last places.

    Insertion sort is used, because heats are short and mostly in order already. `order` is scratch memory.
    """
    count, moves = 0, 0
    for i in range(stop - start):
        if reported.finished.size and not reported.finished[start + i]:
            continue
        slot = count
        while slot > 0 and moves < MAX_MOVES * (stop - start) and result[order[slot - 1]] > result[i]:
            order[slot] = order[slot - 1]
            slot -= 1
            moves += 1
        order[slot] = i
        count += 1
    if moves >= MAX_MOVES * (stop - start):
        sort_by_heap(order, count, result)
    first = 0
    while first < count:
        last = first
        while last + 1 < count and result[order[last + 1]] == result[order[first]]:
            last += 1
        for k in range(first, last + 1):
            places.place[start + order[k]] = 0.5 * (first + last) + 1.0
            if last > first:
                places.rank[start + order[k]] = first + 1.0
        first = last + 1
    for i in range(start, stop):
        if reported.finished.size and not reported.finished[i]:
            places.place[i] = 0.5 * (count + 1 + stop - start)
            places.rank[i] = count + 1.0


@kernel
def count_opponents(reported: Reported, start: int, stop: int, places: Places) -> None:
    """Write each entry's number of opponents in a heat without teams. Two players who both quit are not compared."""
    if places.opponents.size == 0:
        return
    finishers = 0
    for i in range(start, stop):
        finishers += 1 if reported.finished.size == 0 or reported.finished[i] else 0
    for i in range(start, stop):
        finishes = reported.finished.size == 0 or reported.finished[i]
        places.opponents[i] = stop - start - 1.0 if finishes else float(finishers)


@kernel
def count_other_sides(reported: Reported, start: int, stop: int, places: Places) -> None:
    """Write each entry's number of opponents in a team heat. Team mates, and pairs who both quit, are not compared."""
    for i in range(start, stop):
        finishes = reported.finished.size == 0 or reported.finished[i]
        count = 0.0
        for j in range(start, stop):
            are_compared = finishes or reported.finished[j]
            if i != j and places.side[i] != places.side[j] and are_compared:
                count += 1.0
        places.opponents[i] = count


@kernel
def place_alone(reported: Reported, start: int, stop: int, result: Any, order: Any, places: Places) -> None:
    """Write the places of a heat without teams."""
    own_results(reported, start, stop, result)
    for i in range(start, stop if places.side.size else start):
        places.side[i] = start - i - 1
    rank_finishers(reported, start, stop, result, order, places)
    count_opponents(reported, start, stop, places)


def _place_lone(reported: Reported, result: Any, order: Any, places: Places) -> None:
    for heat in range(reported.heats.size - 1):
        place_alone(reported, reported.heats[heat], reported.heats[heat + 1], result, order, places)


def _place_teams(reported: Reported, result: Any, scores: Any, order: Any, places: Places) -> None:
    for heat in range(reported.heats.size - 1):
        start, stop = reported.heats[heat], reported.heats[heat + 1]
        if not team_results(reported, start, stop, result, scores):
            place_alone(reported, start, stop, result, order, places)
            continue
        for i in range(start, stop):
            places.side[i] = start - i - 1 if reported.team[i] < 0 else reported.team[i]
        rank_finishers(reported, start, stop, result, order, places)
        count_other_sides(reported, start, stop, places)


def _stand_in_order(heats: Any, position: Any) -> bool:
    """Return True if the positions of every heat are 1, 2, 3, ... in file order."""
    for heat in range(heats.size - 1):
        for i in range(heats[heat], heats[heat + 1]):
            if position[i] != i - heats[heat] + 1.0:
                return False
    return True


# There are two kernels, because most histories have no teams, and the kernel without teams compiles in half the time.
_compiled_place_lone = compile_kernel(_place_lone)
_compiled_place_teams = compile_kernel(_place_teams)
stand_in_order = compile_kernel(_stand_in_order)


def place_heats(reported: Reported, *, teams: bool, started: Any = None) -> Places:
    """Return the places of all entries in every heat.

    Args:
        teams: True if team mates share a result.
        started: A mask of the entries that started, for systems that rate absent players.
    """
    size = int(reported.heats[-1])
    sides = size if teams and reported.team.size else 0
    may_stand_in_order = (
        size >= COMPILED_MIN_ENTRIES and not sides and not reported.finished.size and reported.position.size
    )
    if may_stand_in_order and stand_in_order(reported.heats, reported.position):
        return Places(reported.position, np.broadcast_to(0.0, size), np.empty(0), np.empty(0, np.int32))
    compared = size if sides or reported.finished.size else 0
    places = Places(np.empty(size), np.zeros(size), np.empty(compared), np.empty(sides, np.int32))
    widest = int(np.diff(reported.heats).max(initial=0))
    result, order = np.empty(widest), np.empty(widest, np.int64)
    if teams and reported.team.size:
        run_by_steps(_compiled_place_teams, size * widest, reported, result, np.empty(widest), order, places)
    else:
        run_by_steps(_compiled_place_lone, size, reported, result, order, places)
    return places if started is None or not reported.finished.size else place_absent(places, reported, started)


def place_absent(places: Places, reported: Reported, started: Any) -> Places:
    """Return the places for systems that rate absent players and compare all pairs who started.

    Players who did not start fill gaps between the finishers' positions. The remaining ones are last.
    """
    heats, finished = reported.heats[:-1], reported.finished
    heat = np.repeat(np.arange(heats.size), np.diff(reported.heats))

    def of_heat(ufunc: Any, values: Any) -> Any:
        """Return the sum or maximum over each entry's heat."""
        return ufunc.reduceat(values, heats)[heat]

    starters, absent = (of_heat(np.add, mask.astype(np.int64)) for mask in (started, ~started))
    position = np.where(finished, reported.position if reported.position.size else np.nan, 0.0)
    keeps_gaps = of_heat(np.maximum, position) <= starters + absent  # NaN is not
    rank = np.where(places.rank > 0.0, places.rank, places.place)
    ahead = np.where(keeps_gaps & finished, np.clip(position - rank, 0.0, absent), 0.0)
    last = of_heat(np.maximum, ahead)
    retired = started & ~finished
    places.place[retired] -= 0.5 * absent[retired]
    ahead[retired] = last[retired]
    places.place[started] += ahead[started]
    places.rank[places.rank > 0.0] += ahead[places.rank > 0.0]
    places.opponents[:] = starters - started
    for i in np.flatnonzero(~started).tolist():
        others = slice(reported.heats[heat[i]], reported.heats[heat[i] + 1])
        number = 1 + int((~started[others.start : i]).sum())
        places.place[i] = number + (started[others] & (ahead[others] < number)).sum()
        places.rank[i] = -1.0
    return places
