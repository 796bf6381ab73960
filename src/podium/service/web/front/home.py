"""The first page: the surprise of the week with its reasons, a card a pool, and the newest events."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar, Final

from podium.errors import PodiumError
from podium.pages.why import WhyView, why_view
from podium.service.web.addresses import pool_address
from podium.service.web.boards.leaderboard import SPANS, default_span
from podium.service.web.rendering import Page, PoolFrame, pool_frame
from podium.store import Store
from podium.store.insights.board_models import EventHeadline, ListedRow, Listing, Surprise

WEEK_S: Final = 7 * 86_400.0
MAX_CARDS: Final = 6
MAX_OTHER_POOLS: Final = 200
TOP: Final = 3
NEWEST_EVENTS: Final = 8


@dataclass(frozen=True, slots=True)
class PoolCard:
    """A pool at a glance."""

    pool: PoolFrame
    players: int
    events: int
    top: tuple[ListedRow, ...]
    newest: tuple[EventHeadline, ...]
    surprise: Surprise | None
    spread: float  # of the pool's ratings, so that surprises of several compare

    @property
    def surprise_size(self) -> tuple[bool, bool, float]:
        """How much of a surprise the pool has: of the settled, against the result, then by its share of the spread."""
        surprise = self.surprise
        if surprise is None:
            return False, False, 0.0
        won_and_lost = surprise.rank == 1 and surprise.change < 0.0
        last_and_gained = surprise.rank is not None and surprise.rank == surprise.field and surprise.change > 0.0
        share = abs(surprise.change) / self.spread if self.spread else 0.0
        return surprise.settled, won_and_lost or last_and_gained, share


@dataclass(frozen=True, slots=True)
class ExplainedSurprise:
    """The surprise of the week, with its reasons."""

    pool: PoolFrame
    event_id: str
    started_at: datetime
    why: WhyView

    @property
    def event_address(self) -> str:
        """Of the whole event."""
        return pool_address(self.pool.name, "events", self.event_id)

    @property
    def address(self) -> str:
        """Of the reasons."""
        return pool_address(self.pool.name, "events", self.event_id, self.why.player)


@dataclass(frozen=True, slots=True, kw_only=True)
class HomePage(Page):
    """The first page."""

    template: ClassVar[str] = "home.html"

    surprise: ExplainedSurprise | None
    cards: tuple[PoolCard, ...]
    other_pools: tuple[PoolFrame, ...]  # beyond those with a card
    lines: tuple[tuple[PoolFrame, EventHeadline], ...]  # the newest events of all


def pool_card(store: Store, name: str) -> PoolCard:
    """A pool at a glance.

    Raises:
        UnknownError: there is no such pool.
    """
    pool = store.pool(name)
    movers = store.movers(name, most=1)
    board = store.listed_board(name, Listing(active_within=SPANS[default_span(store, pool)]), top=TOP)
    return PoolCard(
        pool=pool_frame(pool),
        players=board.players,
        events=store.event_count(name),
        top=board.rows,
        newest=store.event_list(name, top=NEWEST_EVENTS).events,
        surprise=movers.surprise,
        spread=movers.spread,
    )


def home_page(store: Store, cards: Iterable[PoolCard]) -> HomePage:
    """What the first page shows of the pools that a visitor may see."""
    newest_first = sorted(cards, key=newest_moment, reverse=True)
    lines = [(card.pool, event) for card in newest_first for event in card.newest]
    lines.sort(key=lambda line: line[1].started_at, reverse=True)
    return HomePage(
        title="Every point has its reason",
        description="Ratings for races and games, rated live: which heat and which opponent made each change.",
        surprise=explained_surprise(store, newest_first),
        cards=tuple(newest_first[:MAX_CARDS]),
        other_pools=tuple(card.pool for card in newest_first[MAX_CARDS : MAX_CARDS + MAX_OTHER_POOLS]),
        lines=tuple(lines[:NEWEST_EVENTS]),
    )


def newest_moment(card: PoolCard) -> float:
    """When a pool's newest event started, in seconds since 1970; before all others where it has none."""
    return card.newest[0].started_at.timestamp() if card.newest else float("-inf")


def explained_surprise(store: Store, cards: Sequence[PoolCard]) -> ExplainedSurprise | None:
    """The largest surprise of the pools that played in the same week as the one that played last.

    Args:
        store: of the pools.
        cards: the one with the newest event first.
    """
    newest = newest_moment(cards[0]) if cards else 0.0
    surprising = [card for card in cards if card.surprise and newest - newest_moment(card) <= WEEK_S]
    for card in sorted(surprising, key=lambda each: each.surprise_size, reverse=True):
        surprise = card.surprise
        if surprise is None:
            continue
        try:
            why = why_view(store.explain(card.pool.name, surprise.event_id, surprise.player))
        except PodiumError:  # corrected meanwhile, or rated by another revision of the arithmetic
            continue
        return ExplainedSurprise(card.pool, surprise.event_id, surprise.started_at, why)
    return None
