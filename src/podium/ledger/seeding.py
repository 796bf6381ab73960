"""Seeds of a tournament: players in order of their scores, with bracket lines, groups and pairs for the next round."""

import math
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from itertools import product
from typing import Any

import polars as pl

from podium.engine.system import System
from podium.errors import ParameterError
from podium.support.answers import answer

MAX_GROUPS = 1_000
MAX_PROTECTED = 4  # number of rounds of a bracket
MAX_EXCHANGES, MAX_TRIALS, WEAKEST = 200, 30_000, 3  # exchanges; pairs to try; players to consider for each exchange
REPORT_NAME = 33  # number of characters for a name in a tournament report


@answer
class Seed:
    """A player's place in a tournament.

    Attributes:
        seed: Seed. The highest score has seed 1, and players without results come last.
        player: Name of the player.
        rating: Rating. Null for players without results.
        line: Line in a bracket, counted from the top. The best seeds meet as late as possible.
        group: Group, if there are groups. Groups are filled in snake order: 1 2 3, 3 2 1, 1 2 3.
        opponent: Opponent of similar strength in a round of pairs; if possible, one whom the player has not met. Null
            for a bye.
    """

    seed: int
    player: str
    rating: float | None
    line: int
    group: int | None
    opponent: str | None


def seeds(
    system: System,
    states: Mapping[str, Any],
    met: Collection[frozenset[str]] = (),
    groups: int | None = None,
    protect: int = 0,
) -> tuple[Seed, ...]:
    """Return the seeds of a tournament, best first.

    Args:
        system: the rating system.
        states: the state of each player. Newcomers keep their order.
        met: pairs of players who should not meet again in the next round.
        groups: the number of groups. Default: no groups.
        protect: number of rounds of the bracket in which these pairs should not meet, whoever wins.
    """
    if not 0 <= protect <= MAX_PROTECTED:
        raise ParameterError(f"protect={protect}: use a number of rounds from 0 to {MAX_PROTECTED}")
    if groups is not None and not 1 <= groups <= MAX_GROUPS:
        raise ParameterError(f"groups={groups}: use a number from 1 to {MAX_GROUPS:,}")

    def key(player: str) -> float:
        state = states[player]
        return -float(system.score(state.rating, getattr(state, "deviation", None))) if state.events else math.inf

    order = sorted(states, key=key)
    lines = {player: line for line, player in enumerate(fill_bracket(order, met, protect), start=1)}
    opponents = {one: other for pair in pairs(order, met) for one, other in (pair, pair[::-1])}
    return tuple(
        Seed(
            seed=seed,
            player=player,
            rating=float(states[player].rating) if states[player].events else None,
            line=lines[player],
            group=None if groups is None else snake_group(seed, groups),
            opponent=opponents.get(player),
        )
        for seed, player in enumerate(order, start=1)
    )


def tournament_report(found: Sequence[Seed], title: str, starts_at: datetime | None = None) -> str:
    """Return seeds as a FIDE tournament report (TRF16), from which programs such as JaVaFo and bbpPairings pair rounds.

    The number of rounds is that of a knockout. Newcomers have no rating.

    Raises:
        ParameterError: a name is too long for this format.
    """
    lines = [f"012 {title}", "" if starts_at is None else f"042 {starts_at:%Y/%m/%d}"]
    lines += [f"XXR {max(1, (len(found) - 1).bit_length())}", "XXC white1"]
    for each in found:
        if len(each.player) > REPORT_NAME:
            raise ParameterError(
                f"{each.player}: TRF has {REPORT_NAME} characters for a name. Rename the player, or use CSV."
            )
        rating = "" if each.rating is None else min(max(round(each.rating), 0), 9_999)
        number = f"{each.seed:4}"
        lines.append(f"001 {number}{'':6}{each.player:{REPORT_NAME}} {rating:>4}{'':28} 0.0 {number}")
    return "".join(f"{line}\n" for line in lines if line)


def bracket(count: int) -> list[int]:
    """Return the seeds on the lines of a bracket, such as 1 4 2 3. Lines above the count are byes."""
    lines = [1]
    while len(lines) < count:
        lines = [each for seed in lines for each in (seed, 2 * len(lines) + 1 - seed)]
    return lines


def fill_bracket(order: Sequence[str], met: Collection[frozenset[str]], rounds: int) -> list[str]:
    """Return the player on each line of a bracket, so that those who met cannot meet in the first rounds.

    The players who can meet in these rounds are on one block of lines. Players change lines only within a tier (seeds 3
    and 4, 5 to 8, 9 to 16, ...), so that the best still meet late. Some rematches may be left. Byes are empty.
    """
    block, seed_on = 2**rounds, bracket(len(order))
    lines = sorted(range(len(seed_on)), key=seed_on.__getitem__)[: len(order)]  # in the order of the seeds
    placed, seen = [order[seed - 1] if seed <= len(order) else "" for seed in seed_on], set[tuple[str, ...]]()

    def clashes(*changed: int) -> int:
        begins = [(line, line - line % block) for line in changed]
        return sum(frozenset((placed[line], player)) in met for line, k in begins for player in placed[k : k + block])

    def exchange(one: int, other: int) -> None:
        placed[one], placed[other] = placed[other], placed[one]

    for _ in range(min(MAX_EXCHANGES, MAX_TRIALS // (WEAKEST * len(order) + 1))):
        seen.add(tuple(placed))
        found = []
        weakest = [(place, line) for place, line in enumerate(lines) if clashes(line)][-WEAKEST:]
        for (place, one), (other_place, other) in product(weakest, enumerate(lines)):
            if place == other_place or place.bit_length() != other_place.bit_length():
                continue
            before = clashes(one, other)
            exchange(one, other)
            change = clashes(one, other) - before
            if change <= 0 and tuple(placed) not in seen:
                found.append((change, abs(place - other_place), one, other))
            exchange(one, other)
        if not found:
            break
        exchange(*min(found)[2:])
    return placed


def snake_group(seed: int, groups: int) -> int:
    row, column = divmod(seed - 1, groups)
    return 1 + (column if row % 2 == 0 else groups - 1 - column)


def pairs(order: Sequence[str], met: Collection[frozenset[str]]) -> list[tuple[str, str]]:
    """Pair each player with the nearest one whom the player has not met. If the number is odd, the last has a bye."""
    waiting, found = list(order[: len(order) // 2 * 2]), list[tuple[str, str]]()
    while waiting:
        first = waiting.pop(0)
        second = next((player for player in waiting if frozenset((first, player)) not in met), waiting[0])
        waiting.remove(second)
        found.append((first, second))
    for number, pair in enumerate(found):
        if frozenset(pair) in met:
            exchange(found, number, met)
    return found


def exchange(found: list[tuple[str, str]], number: int, met: Collection[frozenset[str]]) -> None:
    """Exchange players of a pair that has met before with the nearest pair, so that neither pair has met."""
    one, two = found[number]
    for other in sorted(range(len(found)), key=lambda place: abs(place - number)):
        three, four = found[other]
        for pair, rest in (((one, three), (two, four)), ((one, four), (two, three))):
            if other != number and frozenset(pair) not in met and frozenset(rest) not in met:
                found[number], found[other] = pair, rest
                return


def meetings(frame: pl.DataFrame) -> set[frozenset[str]]:
    """Return the pairs of players who have been the only two in a heat."""
    heat = [name for name in ("event_id", "heat") if name in frame.columns]
    heats = frame.group_by(heat).agg("player")["player"]
    return {frozenset(pair) for pair in heats.filter(heats.list.len() == 2)}  # noqa: PLR2004
