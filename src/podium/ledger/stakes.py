"""The effect of each place in an upcoming race, averaged over the possible finishing orders of the other entrants."""

import functools
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl

from podium.errors import ParameterError
from podium.ledger import hypothetical_race
from podium.ledger.forecast import Member, names_of_field
from podium.ledger.hypothetical_race import Race
from podium.probability.draws import draw_chance
from podium.probability.ranks import Orders, order_chances, rank_distribution, sample_orders
from podium.support.arrays import Floats, Integers, Mask
from podium.support.words import counted, table_html

MAX_EXACT = 6  # with up to this many sides, every order of the others is rated
FIRST_DRAWS, MAX_DRAWS, DRAWS_OF_OTHERS = 8, 4096, 16
MANY_SIDES, FIRST_OF_MANY = 100, 4  # beyond this many sides, a few draws are usually accurate enough, but take seconds
TABLE_TOLERANCE = 0.01  # twice the standard error must be below this share of a table's range
BUDGET_S, BUDGET_SIDES, BUDGET_GROWTH, MAX_BUDGET_S = 0.3, 22.0, 1.25, 2.0  # 0.3 s at 22 sides, 2 s at 100 and beyond
SHARE_OF_TABLE, SHARE_OF_OTHERS = 0.55, 0.2  # shares of the time for drawing orders and rating them
LIKELY = 0.05  # smallest probability of a place to mention to a player
SEED = 41
LOSS_LIMIT = -1e-9  # a change above this limit does not count as a loss
LINE = {
    "player": pl.String, "place": pl.Float64, "chance": pl.Float64, "delta": pl.Float64, "rating": pl.Float64,
    "rank": pl.Int64, "error": pl.Float64,
}  # fmt: skip
STARTER = {"player": pl.String, "rating": pl.Float64, "rank": pl.Int64, "win": pl.Float64, "break_even": pl.Int64}
Row = dict[str, Any]
MAX_HEATS = 100
MAX_CELLS = 4_000_000  # most numbers in states for one call of the engine


@dataclass(frozen=True, slots=True)
class StakesGrid:
    count_above: Callable[[Floats], Integers]  # counts outside players with higher scores
    is_listed: Mask  # (players in the race): True if listed today
    will_be_listed: Mask  # (players in the race): True if listed after the race

    def ranks(self, mine: Floats, rivals: Floats) -> Integers:
        """Return the rank of each score in `mine` among the players outside the race and the `rivals` in its row."""
        ranks: Integers = 1 + self.count_above(mine) + (rivals > mine[:, None]).sum(axis=1)
        return ranks


@dataclass(frozen=True, repr=False)
class Stakes:
    """The effect of each place in an upcoming race, averaged over the others' finishing orders by probability."""

    table: tuple[Row, ...]  # one row for each chosen player and place
    starters: tuple[Row, ...]  # the entrants, highest rating first
    sides: int
    heats: int
    draws: int  # number of finishing orders of the others that were rated
    is_exact: bool  # True if these are all possible orders
    digits: int  # number of decimals in displayed points
    lines_from: str | None = None  # event from which the times or scores are taken
    notice: str | None = None  # the reason why there is no table
    assumption: str = ""  # a sentence about the times, scores or margin assumed for the places

    @functools.cached_property
    def frame(self) -> pl.DataFrame:
        """Return the table: player, place, chance, delta, rating, rank, error.

        The place of a quit is null, and half places mean draws.
        """
        return pl.DataFrame(self.table, LINE, orient="row")

    @functools.cached_property
    def field(self) -> pl.DataFrame:
        """Return the entrants: player, rating, rank, win, break_even.

        `break_even` is the lowest finishing place that costs no points, or null if every place costs points.
        """
        return pl.DataFrame(self.starters, STARTER, orient="row")

    def __repr__(self) -> str:
        players = self.frame["player"].n_unique()
        return f"Stakes({counted(self.sides, 'side')}, {counted(players, 'player')}: {self.method})"

    def _repr_html_(self) -> str:
        """Return the table for notebooks."""
        return table_html(repr(self), self.frame)

    @functools.cached_property
    def error(self) -> float:
        """Return twice the largest standard error of any change in the table, or 0 if every order was rated."""
        error: float = self.frame["error"].max() or 0.0  # type: ignore[assignment]
        return error

    @property
    def method(self) -> str:
        """Return a sentence about the method and its accuracy."""
        return self.notice or hypothetical_race.method(
            self.draws, self.error, self.digits, self.assumption, is_exact=self.is_exact
        )

    def lines(self, player: str | None = None) -> list[dict[str, Any]]:
        """Return the rows of one player's table.

        Returns:
            One dict per row, with the best place first. If `player` is None, the rows are those of the first player.
        """
        chosen = next((line["player"] for line in self.table), None) if player is None else player
        return [{**line} for line in self.table if line["player"] == chosen]

    def in_words(self) -> pl.DataFrame:
        """Return the table with places as text.

        Returns:
            The table with places such as "3rd", "draw" and "quit".
        """
        words = [hypothetical_race.place_words(place, self.sides) for place in self.frame["place"]]
        return self.frame.with_columns(place=pl.Series(words, dtype=pl.String))

    def headline(self, player: str | None = None) -> str:
        """Return a sentence about the places that gain points.

        Returns:
            The sentence.
        """
        return self.notice or hypothetical_race.headline(self.lines(player), self.sides, self.digits)

    @property
    def favourite(self) -> str:
        """Return the player who is most likely to win."""
        starter = max(self.starters, key=lambda starter: float(starter["win"]))
        return str(starter["player"])

    def outlook(self, player: str | None = None, whom: str = "you") -> str | None:
        """Return a sentence about the best likely place, in which `whom` stands for the player.

        Returns:
            One sentence about the best likely place, or about the most likely place if no place is likely. None if the
            table is empty.
        """
        lines = [line for line in self.lines(player) if line["chance"] is not None]
        if not lines:
            return None
        likeliest = max(lines, key=lambda line: float(line["chance"]))
        best = next((line for line in lines if line["chance"] >= LIKELY), likeliest)
        rank = next(starter["rank"] for starter in self.starters if starter["player"] == best["player"])
        return hypothetical_race.outlook(best, self.sides, rank, whom)

    def to_dict(self) -> dict[str, Any]:
        """Return the table as JSON values.

        Returns:
            `stakes` and `field`, with one entry per row, and the method.
        """
        plain = {name: getattr(self, name) for name in ("sides", "heats", "draws", "is_exact", "lines_from", "notice")}
        return {"stakes": self.frame.to_dicts(), "field": self.field.to_dicts()} | plain | {"error": self.error}


def stakes(
    race: Race,
    chosen: Sequence[str],
    board: StakesGrid,
    *,
    heats: int = 1,
    draws: bool = False,
    nu: float = 0.0,
    stable: bool = False,
) -> Stakes:
    """Return the effect that each place would have on the chosen entrants.

    The player is moved to each place in turn. The others finish in an order drawn from the system's own model, without
    the player. Each row is a mean over orders, which are the same for all places.

    With up to `MAX_EXACT` sides, every order is rated and weighted by its probability. Otherwise orders are drawn until
    twice the standard error is below 1 % of the table's range, or the time is up. For a rank, the new rating
    is compared with the other players' mean ratings, each over the same finishing orders. All ranks use today's
    deviations.

    Args:
        race: the upcoming race.
        chosen: the players for whom to calculate a table.
        board: the current leaderboard.
        heats: number of heats in the race, from 1 to 100. Everybody takes the same place in each heat.
        draws: True if two players can draw, which adds a row to the table of a duel.
        nu: Davidson's nu, the frequency of draws. If 0, half of each draw counts as a win.
        stable: True to calculate only stable values. Orders are drawn until the table is accurate, without a time
            limit, and `break_even` is calculated only for the chosen players.

    Raises:
        ParameterError: there are fewer than two sides, a name is repeated, or the number of heats is not from 1 to 100.
    """
    names_of_field([[Member(name) for name in side] for side in race.sides])
    if not 1 <= heats <= MAX_HEATS:
        raise ParameterError(f"heats: {heats} is not a number of heats. Choose a whole number from 1 to {MAX_HEATS}.")
    race = race if heats == race.heats else replace(race, heats=heats)  # the same race keeps what it has calculated
    digits, sides = race.system.digits, len(race.sides)
    draw = draw_chance(float(race.ranks[0, 0]), nu) if draws and sides == 2 and nu > 0.0 else None  # noqa: PLR2004
    ranks = race.ranks - 0.5 * (draw or 0.0)
    if race.system.needs and race.lines is None:
        lacking = " and ".join(name.removesuffix("_s") for name in race.system.needs)
        earlier = "and the pool has no earlier race with values for each place"
        notice = f"{race.system.title} rates by {lacking}, {earlier}."
        field = field_of(race, ranks, board, [None] * len(race.players))
        return Stakes((), field, sides, heats, 0, False, digits, None, notice)
    budget = min(MAX_BUDGET_S, BUDGET_S * max(1.0, sides / BUDGET_SIDES) ** BUDGET_GROWTH)
    tables = [Table(race, race.players.index(name), draws=draws) for name in chosen]
    for table in tables:
        table.fill(math.inf if stable else SHARE_OF_TABLE * budget)
    first = tables[0]
    known = {table.number: table.break_even() for table in tables}
    others = [] if stable else [k for k in range(len(race.players)) if k not in known]
    known |= break_evens(race, others, first, SHARE_OF_OTHERS * budget)
    places = [known.get(k) for k in range(len(race.players))]
    lines = tuple(line for table in tables for line in table.lines(ranks, draw, board))
    drawn = max(table.draws for table in tables)
    event_id, assumption = (race.lines.event_id, race.lines.assumption) if race.lines else (None, "")
    facts = sides, heats, drawn, is_exact(race), digits, event_id, None, assumption
    return Stakes(lines, field_of(race, ranks, board, places), *facts)


def waiting_sides(race: Race, order: Sequence[int], out: Sequence[int]) -> list[int]:
    """Return the sides that do not have a place and have not quit."""
    decided = {*order, *out}
    return [side for side in range(len(race.sides)) if side not in decided]


def changes_now(race: Race, order: Sequence[int], out: Sequence[int]) -> dict[str, float | None]:
    """Return the change that every player, by name, would get if the race ended now, or None if unrated.

    Sides without a place come after those in `order`, with the highest rated first. Those in `out` do not finish.
    """
    level = [race.before[race.side_of == side].mean() for side in range(len(race.sides))]
    waiting = waiting_sides(race, order, out)
    finishers = [*order, *sorted(waiting, key=lambda player: -level[player])]
    places = np.full((1, len(race.sides)), np.nan)
    places[0, finishers] = np.arange(1.0, len(finishers) + 1.0)
    changes = race.changes(race.ended(*out), places)[0].tolist()
    seats = [k for side in [*finishers, *out] for k in np.flatnonzero(race.side_of == side).tolist()]
    return {race.players[k]: None if math.isnan(changes[k]) else changes[k] for k in seats}


def likely_places(race: Race, order: Sequence[int], out: Sequence[int]) -> dict[str, int]:
    """Return the most likely place of each side that does not have one yet, placed after the sides in `order`."""
    waiting = waiting_sides(race, order, out)
    ranks = rank_distribution(race.performances(waiting)).argmax(axis=1) if waiting else np.zeros(0, np.int64)
    likely = zip(waiting, (len(order) + 1 + ranks).tolist(), strict=True)
    return {name: place for side, place in likely for name in race.sides[side]}


def is_exact(race: Race) -> bool:
    return len(race.sides) <= MAX_EXACT


def field_of(race: Race, ranks: Floats, board: StakesGrid, places: Sequence[int | None]) -> tuple[Row, ...]:
    """Return the entrants, best first: `player, rating, rank, win, break_even`. Only listed players have a rank."""
    scores = race.system.scores(race.states)
    now = board.ranks(scores, np.tile(scores[board.is_listed], (len(race.players), 1))).tolist()
    listed = [rank if is_listed else None for rank, is_listed in zip(now, board.is_listed, strict=True)]
    columns = race.players, race.before.tolist(), listed, ranks[race.side_of, 0].tolist(), places
    rows = (dict(zip(STARTER, row, strict=True)) for row in zip(*columns, strict=True))
    return tuple(sorted(rows, key=lambda line: -float(line["rating"])))


class Table:
    def __init__(self, race: Race, number: int, *, draws: bool) -> None:
        self.race, self.number, self.side = race, number, int(race.side_of[number])
        sides = len(race.sides)
        self.others = [side for side in range(sides) if side != self.side]
        self.places = [1.0, 1.5, 2.0] if draws and sides == 2 else [float(k) for k in range(1, sides + 1)]  # noqa: PLR2004
        quit_race = race.ended(self.side) if sides > 2 else None  # noqa: PLR2004  (in a duel it is the loss)
        self.quit = quit_race if quit_race is not None and number in race.seats(quit_race) else None
        self.moved: list[Floats] = []  # arrays of shape (orders, lines, players)
        self.weights: Floats | None = None
        self.seconds_a_draw = 0.0

    @property
    def draws(self) -> int:
        return sum(len(changes) for changes in self.moved)

    def fill(self, budget_s: float) -> None:
        """Rate every order of the others, or draw orders until the table is accurate or the time is up."""
        begin = time.perf_counter()
        performances = self.race.performances(self.others)
        if is_exact(self.race):
            orders, self.weights = order_chances(performances)
            self.moved.append(self.rate(orders))
            return
        generator = np.random.default_rng(SEED)
        wanted = FIRST_DRAWS if len(self.race.sides) <= MANY_SIDES else FIRST_OF_MANY
        while wanted > 0:
            self.moved.append(self.rate(sample_orders(performances, generator.random((wanted, len(self.others))))))
            spent_s = time.perf_counter() - begin
            self.seconds_a_draw = spent_s / self.draws
            left = (budget_s - spent_s) / self.seconds_a_draw
            wanted = int(min(self.draws_lacking(), left, MAX_DRAWS - self.draws))

    def draws_lacking(self) -> int:
        """Estimate how many more orders are needed until the table is accurate."""
        mean, error = self.mine()
        widest = float(error.max())
        close = TABLE_TOLERANCE * float(np.ptp(mean))
        if widest <= close or widest == 0.0:
            return 0
        more = self.draws * (widest / close) ** 2 - self.draws if close > 0.0 else math.inf
        return max(1, math.ceil(min(more, 3.0 * self.draws)))

    def rate(self, orders: Orders) -> Floats:
        """Return the changes for each place of the player and each order of the others: (orders, lines, players)."""
        count, lines = len(orders), len(self.places)
        behind = np.argsort(orders, axis=1) + 1.0  # the places of the others, without the player
        places = np.empty((count, lines, len(self.race.sides)))
        for k, place in enumerate(self.places):
            is_draw = place != int(place)
            places[:, k, self.others] = 1.0 if is_draw else behind + (behind >= place)
            places[:, k, self.side] = 1.0 if is_draw else place
        moved = changes_in_parts(self.race, self.race.whole, places.reshape(count * lines, -1))
        whole = moved.reshape(count, lines, -1)
        if self.quit is None:
            return whole
        places = np.full((count, len(self.race.sides)), np.nan)
        places[:, self.others] = behind
        return np.concatenate([whole, changes_in_parts(self.race, self.quit, places)[:, None]], axis=1)

    def means(self) -> Floats:
        """Return all players' mean changes, as an array of shape (lines, players)."""
        every = np.concatenate(self.moved)
        weights = np.full(len(every), 1.0 / len(every)) if self.weights is None else self.weights / self.weights.sum()
        return np.tensordot(weights, every, 1)

    def mine(self) -> tuple[Floats, Floats]:
        """Return the player's mean change for each line, and twice its standard error."""
        own = np.concatenate([changes[:, :, self.number] for changes in self.moved])
        if self.weights is not None:
            return self.means()[:, self.number], np.zeros(own.shape[1])
        return own.mean(axis=0), 2.0 * own.std(axis=0, ddof=1) / math.sqrt(len(own))

    def break_even(self) -> int | None:
        """Return the lowest place that costs no points, or None if even first place costs points."""
        loses = np.flatnonzero(self.mine()[0][: len(self.places)] < LOSS_LIMIT)
        place = int(self.places[-1]) if not loses.size else int(math.ceil(self.places[loses[0]]) - 1)
        return place or None

    def lines(self, ranks: Floats, draw: float | None, board: StakesGrid) -> list[Row]:
        """Return the table: `player, place, chance, delta, rating, rank, error`. `draw` is the chance of a draw."""
        mean, error = self.mine()
        scores, rating = self.race.system.scores(self.race.states), self.race.before[self.number]
        chance = [float(ranks[self.side, int(place) - 1]) if place == int(place) else draw for place in self.places]
        then = scores + self.means()
        rivals = [k for k in np.flatnonzero(board.will_be_listed) if k != self.number]
        rank = board.ranks(scores[self.number] + mean, then[:, rivals])
        numbers = (column.tolist() for column in (mean, rating + mean, rank, error))
        quits, name = [None] * (len(mean) - len(self.places)), self.race.players[self.number]
        rows = zip([*self.places, *quits], [*chance, *quits], *numbers, strict=True)
        return [dict(zip(LINE, (name, *row), strict=True)) for row in rows]


def changes_in_parts(race: Race, ended: Any, places: Floats) -> Floats:
    """Return `Race.changes` for many races, in as many calls as memory requires."""
    most = max(1, MAX_CELLS // (race.states.size * race.heats))
    return np.concatenate([race.changes(ended, places[first : first + most]) for first in range(0, len(places), most)])


def break_evens(race: Race, numbers: Sequence[int], table: Table, budget_s: float) -> dict[int, int | None]:
    """Search for the lowest place that costs each player no points. The result is None if even a win costs points.

    If orders are drawn, they are drawn only once, and each player is left out in turn.
    """
    sides = len(race.sides)
    if not numbers:
        return {}
    if is_exact(race):
        without = {side: [k for k in range(sides) if k != side] for side in range(sides)}
        found = {side: order_chances(race.performances(others)) for side, others in without.items()}
        orders = {side: np.array(without[side])[rows] for side, (rows, _) in found.items()}
        weights = {side: chances / chances.sum() for side, (_, chances) in found.items()}
    else:
        races_a_draw = len(numbers) * math.ceil(math.log2(sides + 1))
        affordable = int(budget_s / (races_a_draw * table.seconds_a_draw / len(table.places)))
        count = max(1, min(DRAWS_OF_OTHERS, table.draws, affordable))
        every = sample_orders(race.performances(range(sides)), np.random.default_rng(SEED).random((count, sides)))
        orders = {side: every[every != side].reshape(count, sides - 1) for side in range(sides)}
        weights = dict.fromkeys(range(sides), np.full(count, 1.0 / count))
    side_of = race.side_of[list(numbers)].tolist()
    low, high = np.zeros(len(numbers), np.int64), np.full(len(numbers), sides)
    while rest := np.flatnonzero(low < high).tolist():
        middle = (low + high + 1) // 2
        races = [with_place(orders[side_of[k]], side_of[k], int(middle[k])) for k in rest]
        moved = np.split(changes_in_parts(race, race.whole, np.concatenate(races)), np.cumsum([*map(len, races)])[:-1])
        for k, changes in zip(rest, moved, strict=True):
            loses = weights[side_of[k]] @ changes[:, numbers[k]] < LOSS_LIMIT
            low[k], high[k] = (low[k], middle[k] - 1) if loses else (middle[k], high[k])
    return {number: int(place) or None for number, place in zip(numbers, low, strict=True)}


def with_place(orders: Orders, side: int, place: int) -> Floats:
    """Return the places after moving one side to a place in each order: an array of shape (orders, sides)."""
    return np.argsort(np.insert(orders, place - 1, side, axis=1), axis=1).astype(np.float64) + 1.0
