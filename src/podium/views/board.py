"""A board: the listed players in order, with their ranks and ratings."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from functools import cached_property
from typing import Any, NamedTuple, Self

import numpy as np

from podium.ledger.history import FINDING_EVENTS, can_be_provisional
from podium.log.players import names_of, unrated_error
from podium.log.pools import DAY, START, day_shown
from podium.log.statements import DAY_US, is_equipment
from podium.pool.columns import numbers_of
from podium.pool.snapshot import Event
from podium.pool.standings import Order, Standings, keys_of
from podium.support.arrays import Array, Mask
from podium.views.changes import Changes
from podium.views.details import details_by_number
from podium.views.names import number_of
from podium.views.player_models import Listing
from podium.views.reader import PoolAt

Place = tuple[float, int]  # a score and a player's number


class PlayerStanding(NamedTuple):
    """The current rank and rating of a player or a piece of equipment."""

    number: int
    player: str  # the name
    rating: float
    events: int
    last_played_at: datetime | None
    last_sequence: float | None
    provisional: bool
    deviation: float | None  # None if the system has no deviation
    ranked_by: float  # the value that determines ranks
    score: float  # the same, as the pool shows it
    tier: str | None

    @property
    def place(self) -> Place:
        """The player's place on a board."""
        return self.ranked_by, self.number


def standing_of(pool: PoolAt, name: str) -> PlayerStanding:
    """Return a player's current rank and rating.

    Raises:
        UnknownError: there is no such player, or the player has no rating.
    """
    number, standings = number_of(pool, name), pool.snapshot.standings
    entries = standings.find([number])
    if entries[0] < 0 or is_equipment(number):
        raise unrated_error(pool, name)
    return standings_of(pool, standings, entries)[0]


def standings_of(pool: PoolAt, standings: Standings, entries: Array) -> list[PlayerStanding]:
    """Return the standings of the players with these entries, in the order of the entries."""
    tiers = tier_scores(pool)
    numbers = numbers_of(standings.slots[entries]).tolist()
    names, deviations = names_of(pool, numbers), Changes(pool.snapshot, standings.rows[entries]).deviations
    columns = standings.ratings, standings.events, standings.played_at, standings.scores, ~established_in(standings)
    every = zip(numbers, *(column[entries].tolist() for column in columns), deviations, strict=True)
    return [
        PlayerStanding(
            number, names[number], rating, count, pool.moment(time), pool.sequence(time), provisional, deviation, score,
            *pool.shown_score(rating, deviation, tiers),
        )
        for number, rating, count, time, score, provisional, deviation in every
    ]  # fmt: skip


def established_in(standings: Standings) -> Mask:
    """Return a mask of the established ratings, by the system's own rule, or else from the fifth event on."""
    return standings.is_established if can_be_provisional(standings.system) else standings.events >= FINDING_EVENTS


def span_begins(pool: PoolAt, span: timedelta, until: int) -> int:
    """Return the start of a time span that ends at a given time. In a numbered pool, one event counts as one day."""
    if not pool.is_undated:
        return until - round(span / DAY * DAY_US)
    events, count = pool.snapshot.events, max(1, round(span / DAY))
    rated = np.flatnonzero(events.order.part("field", 0, events.position((until, 2**62))))
    if rated.size < count:
        return START.started_at
    return events.key(int(events.order.value("uid", rated[-count]))).started_at


EVERYBODY, ESTABLISHED = Listing(provisional=True), Listing()


def tier_scores(pool: PoolAt) -> Mapping[str, float]:
    """Resolve the pool's tiers, some of which may be a share of the best players.

    Returns:
        The least shown score of each tier, lowest first.
    """

    def find() -> Mapping[str, float]:
        board = Board.of(pool, ESTABLISHED)
        return pool.display.least_scores(board.standings.scores[board.entries].tolist())

    return pool.value(("tiers",), find) if pool.display.tiers else {}


class Position(NamedTuple):
    """The numbers of players above, below and at one place on a board."""

    before: int
    through: int  # players at the place
    above: int  # with a higher score


@dataclass(frozen=True)
class Board:
    """The players in a listing, best first."""

    pool: PoolAt
    listing: Listing
    standings: Standings

    @classmethod
    def of(cls, pool: PoolAt, listing: Listing) -> Self:
        """Return the current board."""
        return cls(pool, listing, pool.snapshot.standings)

    @property
    def is_filtered(self) -> bool:
        """True if the listing has other rules besides the one for provisional ratings."""
        rules = self.listing
        return rules.min_events is not None or rules.active_within is not None or bool(rules.details)

    @property
    def newest(self) -> Event | None:
        """The pool's latest rated event, or None."""
        return self.pool.snapshot.events.newest_rated

    @cached_property
    def fits(self) -> Array:
        """A mask of the standings' entries that match the listing, including provisional ones."""
        rules, fits = self.listing, self.standings.is_player
        if rules.min_events is not None:
            fits = fits & (self.standings.events >= rules.min_events)
        if rules.active_within is not None and self.newest is not None:
            first = span_begins(self.pool, rules.active_within, self.newest.started_at)
            fits = fits & (self.standings.played_at >= first)
        if rules.details:
            found, wanted = details_by_number(self.pool), {*rules.details}
            numbers = [number for number, details in found.items() if wanted <= {*details.items()}]
            fits = fits & np.isin(self.standings.numbers, numbers)
        return fits

    @cached_property
    def is_listed(self) -> Array:
        """A mask of the standings' entries that are on the board."""
        return self.fits if self.listing.provisional else self.fits & self.standings.is_established

    @cached_property
    def order(self) -> Order:
        """The listed players, best first."""
        if self.is_filtered:
            return self.pool.value(("order", self.listing), lambda: self.standings.order.where(self.is_listed))
        return self.standings.order if self.listing.provisional else self.standings.established

    @property
    def entries(self) -> Array:
        """The listed entries of the standings, best first."""
        return self.order.entries

    @property
    def size(self) -> int:
        """The number of listed players."""
        return int(self.entries.size)

    def position(self, place: Place) -> Position:
        """Return the numbers of players above, below and at a place, which need not be the place of a player."""
        key = keys_of(*place)
        before, through = (int(np.searchsorted(self.order.keys, key, side)) for side in ("left", "right"))
        return Position(before, through, int(self.count_above(place[0])))

    def cursor(self, index: int) -> str:
        """Return the cursor of the page after the player at this index of the board."""
        entry = self.entries[index]
        return f"{self.standings.scores[entry].item()!r},{self.standings.numbers[entry]}"

    def rows(self, first: int, last: int) -> list[tuple[int, PlayerStanding]]:
        """Return the rank, rating and state of each player between two places on the board."""
        return self.ranked(self.entries[max(first, 0) : last])

    def ranked(self, entries: Array) -> list[tuple[int, PlayerStanding]]:
        """Return the rank, rating and state for each of these listed entries."""
        return [*zip(self.ranks(entries), standings_of(self.pool, self.standings, entries), strict=True)]

    def ranks(self, entries: Array) -> list[int]:
        """Return the ranks of these listed entries.

        The best rank is 1, and equal scores share the best of their ranks.
        """
        ranks: list[int] = (1 + self.count_above(self.standings.scores[entries])).tolist()
        return ranks

    def count_above(self, scores: Any) -> Any:
        """Return for each of these scores the number of players on the board with a higher score."""
        return np.searchsorted(self.order.keys, keys_of(scores, np.inf))

    def listed(self, numbers: Sequence[int]) -> Array:
        """Return the entries of the listed players among these, in the order of `numbers`."""
        entries = self.standings.find(numbers)
        entries = entries[entries >= 0]
        return entries[self.is_listed[entries]]


class EarlierRanks(NamedTuple):
    """The ranks that players had before the latest event."""

    day: date | int | None  # day or, without dates, event number; None if nobody had a rank
    ranks: dict[int, int]

    @property
    def date(self) -> date | None:
        """The day, or None in pools without dates."""
        return None if isinstance(self.day, int) else self.day

    @property
    def number(self) -> int | None:
        """The number of an event in a pool without dates."""
        return self.day if isinstance(self.day, int) else None

    def move(self, number: int, rank: int | None) -> tuple[int | None, bool]:
        """Return the number of ranks by which a player has moved up, and True if the player is new on the board."""
        if self.day is None or rank is None:
            return None, False
        earlier = self.ranks.get(number)
        return (None, True) if earlier is None else (earlier - rank, False)


NO_RANKS = EarlierRanks(None, {})


def earlier_ranks(board: Board, players: Sequence[int]) -> EarlierRanks:
    """Return the ranks that players had at the start of the latest event's day, or None for a filtered board."""
    pool, newest, start = board.pool, board.newest, board.pool.snapshot.day_start
    if newest is None or start is None or not start.slots.size or board.is_filtered:
        return NO_RANKS
    then = replace(board, standings=start)
    entries = then.listed(players)
    ranks = dict(zip(start.numbers[entries].tolist(), then.ranks(entries), strict=True))
    return EarlierRanks(day_shown(pool.order, newest.started_at // pool.unit_us), ranks)


def listed_count(pool: PoolAt, listing: Listing = ESTABLISHED) -> int:
    """Count the players on a board.

    Args:
        listing: the players to list. Default: players with an established rating.

    Returns:
        The number of players.
    """
    return Board.of(pool, listing).size
