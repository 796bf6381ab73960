"""Events in a pool that illustrate answers to questions, explained for one of their players."""

from collections.abc import Iterator, Sequence
from decimal import Decimal

from podium.ledger.reasons import Explanation
from podium.ledger.reasons.what_if import Alternative
from podium.log.pools import time_of
from podium.store import Store
from podium.store.reading.pool_facts import LARGE_FIELD
from podium.support.immutable import immutable
from podium.support.words import shown_change
from podium.views.models import EventDetails
from podium.views.player_models import EventHeadline, ListedRow, Listing

SEARCHED = 50  # number of newest events to search
READ = 8  # number of newest events to read completely
QUIT = ("quit", "dnf")


@immutable
class Example:
    """An event's effect on a player, with the reasons."""

    headline: EventHeadline
    explanation: Explanation


@immutable
class Examples:
    """Examples of events and players in a pool. Missing examples are None."""

    latest: EventHeadline | None = None
    newest: Example | None = None  # the largest loss or, if nobody lost, the largest gain
    winner: Example | None = None  # the same event for its winner
    won_yet_lost: Example | None = None
    quit: tuple[Example, Alternative | None] | None = None  # a player who did not finish, and the effect of finishing
    exchange: tuple[EventHeadline, Decimal, Decimal] | None = None  # sums of gains and losses, as displayed
    unrated: EventHeadline | None = None
    best: ListedRow | None = None
    longest_away: ListedRow | None = None  # someone on the first page of the board
    provisional: ListedRow | None = None
    listed: int = 0
    players: int = 0
    has_teams: bool = False


def find_examples(store: Store, pool_name: str, digits: int) -> Examples:
    """Find examples among a pool's newest events and on its board."""
    board = store.leaderboard(pool_name, Listing(), top=50)
    headlines = store.event_list(pool_name, top=SEARCHED).events
    latest = [headline for headline in headlines if headline.status == "rated"]
    rated = [event for event in latest if event.entrants <= LARGE_FIELD] or latest
    read = [store.event(pool_name, event.event_id) for event in rated[:READ]]
    moved = (rated[0].most_lost or rated[0].most_gained) if rated else None
    return Examples(
        latest=next(iter(latest), None),
        newest=None if moved is None else explained(store, pool_name, rated[0], moved.player),
        winner=explained(store, pool_name, rated[0], rated[0].winners[0]) if rated and rated[0].winners else None,
        won_yet_lost=won_yet_lost(store, pool_name, rated, read, digits),
        quit=quit_example(store, pool_name, rated, read),
        exchange=exchange(rated[0], read[0], digits) if rated else None,
        unrated=next((headline for headline in headlines if headline.status == "unrated"), None),
        best=board.players[0] if board.players else None,
        longest_away=min(board.players, key=lambda event: time_of(event.last_when), default=None),
        provisional=board.provisional[0] if board.provisional else None,
        listed=board.listed,
        players=board.rated,
        has_teams=any(entry.team for details in read for entry in details.entries),
    )


def explained(store: Store, pool_name: str, headline: EventHeadline, player: str) -> Example:
    return Example(headline, store.explain(pool_name, headline.event_id, player))


def won_yet_lost(
    store: Store, pool_name: str, rated: Sequence[EventHeadline], read: Sequence[EventDetails], digits: int
) -> Example | None:
    """Return the newest event whose winner lost most points, or else the event that cost a winner most."""
    for headline in rated:
        lost = headline.most_lost
        if lost is not None and headline.winners == (lost.player,):
            return explained(store, pool_name, headline, lost.player)
    losses = [
        (shown_change(change.rating_before, change.rating, digits), k, change.player)
        for k, details in enumerate(read)
        for change in details.changes
        if rated[k].winners == (change.player,)
    ]
    points, k, player = min(losses, default=(0, 0, ""))
    return explained(store, pool_name, rated[k], player) if points < 0 else None


def unfinished(details: EventDetails) -> Iterator[str]:
    """Yield the rated players who did not finish a heat of an event, starting with those who quit."""
    rated = {change.player for change in details.changes}
    for status in QUIT:
        yield from (entry.player for entry in details.entries if entry.status == status and entry.player in rated)


def quit_example(
    store: Store, pool_name: str, rated: Sequence[EventHeadline], read: Sequence[EventDetails]
) -> tuple[Example, Alternative | None] | None:
    for headline, details in zip(rated, read, strict=False):
        player = next(unfinished(details), None)
        if player is not None:
            # quit heats come first
            alternatives = store.what_if(pool_name, headline.event_id, player).alternatives
            return explained(store, pool_name, headline, player), next(iter(alternatives), None)
    return None


def exchange(headline: EventHeadline, details: EventDetails, digits: int) -> tuple[EventHeadline, Decimal, Decimal]:
    """Return the sums of gains and losses in an event, calculated from the displayed changes."""
    changes = [shown_change(change.rating_before, change.rating, digits) for change in details.changes]
    nothing = Decimal(0)
    gained, lost = (sum((change for change in changes if sign * change > 0), nothing) for sign in (1, -1))
    return headline, gained, -lost
