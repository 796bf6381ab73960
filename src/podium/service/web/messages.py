"""Short messages about a pool: new results, the largest changes with their reasons, and upcoming races."""

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple
from unicodedata import bidirectional

from podium.ledger.reasons import Explanation
from podium.ledger.reasons.explaining import explain
from podium.log.log import AMEND, PLAN, SEASON, SUBMIT, UNVOID, VOID, entries_after
from podium.log.statements import microseconds
from podium.pages.numbers import minute_words, shortened
from podium.pool.snapshot import RATED, STATUSES, Event
from podium.service.web.rendering import PoolHeader, pool_address, pool_header
from podium.store.following import PoolReader
from podium.support.words import counted, listed
from podium.views.board import ESTABLISHED, Board, PlayerStanding, tier_scores
from podium.views.events import changes_by, rated_event, system_and_states_before, titles_of
from podium.views.names import find_event
from podium.views.races import records as entries
from podium.views.races.fixtures import PLANNED, Fixture, fixtures, get_fixture

if TYPE_CHECKING:
    from podium.views.changes import Change

LARGEST = 3  # number of changes to explain per message
MAX_SINGLE = 3  # maximum number of new results with separate messages; more results share one message
MAX_NAME = 60  # maximum length of a name or title
MAX_WINNERS = 3  # maximum number of winners to name
CORRECTED = {AMEND: "was corrected", VOID: "was voided", UNVOID: "counts again"}
FROM_RIGHT = ("R", "AL")  # Unicode classes of right-to-left letters


class Message(NamedTuple):
    """A message about a pool. The texts in it have no markup."""

    seq: int  # newest log entry that this or an earlier message covers
    title: str
    lines: tuple[str, ...]
    path: str  # path of the page for the link
    event_id: str = ""  # event whose result card to show


class News(NamedTuple):
    """The messages about some entries of a pool's log."""

    messages: tuple[Message, ...]
    newest_seq: int  # number of the newest of these entries
    leader: int | None  # number of the current leader


def news_after(pool: PoolReader, after: int, leader: int | None, announced_until: int, *, most: int) -> News:
    """Return the news of a pool as messages.

    Args:
        after: Number of the newest log entry that the chat knows.
        leader: Number of the leader when the newest message was sent, or None if there was no leader.
        announced_until: Time in microseconds since 1970. Races that start before it have been announced in the chat. A
            race that is planned later for such a time is announced immediately.
        most: Maximum number of log entries to read.

    Returns:
        The messages, oldest first. Entries that are not of interest to players have no message.
    """
    found = entries_after(pool, after, most)
    if not found:
        return News((), after, leader)
    header = pool_header(pool)
    results = [row for row in found if row.kind == SUBMIT and is_rated(find_event(pool, row.subject))]
    is_summary = len(results) > MAX_SINGLE
    if is_summary:
        messages = [summarise_results(pool, header, results)]
    else:
        messages = [describe_result(pool, header, row) for row in results]
    for row in found:
        if row.kind in CORRECTED:
            messages.append(describe_correction(pool, header, row))
        elif row.kind == SEASON:
            title = f"{header.title}: the season {plain(row.subject)}"
            messages.append(Message(row.seq, title, champion(pool, header, row.subject), header.address))
        elif row.kind == PLAN:
            race = get_fixture(pool, row.subject)
            if race.status == PLANNED and microseconds(race.starts_at) < announced_until:
                messages.append(announce_race(header, race, row.seq))
    messages.sort(key=lambda message: message.seq)
    # a summary covers entries between other messages' entries, so progress counts only when all are sent
    if is_summary:
        messages = [message._replace(seq=after) for message in messages]
    first = leader_of(pool)
    now_leads = None if first is None else first.number
    if messages and first is not None and leader not in (None, now_leads):
        last = messages[-1]
        line = f"{show_name(first.player)} now leads with {header.score(first)}."
        messages[-1] = last._replace(lines=(*last.lines, line))
    return News(tuple(messages), found[-1].seq, now_leads)


MAX_PROMOTED = 10  # players named in a message


def leader_of(pool: PoolReader) -> PlayerStanding | None:
    """Return the player who leads the leaderboard."""
    return next((standing for _, standing in Board.of(pool, ESTABLISHED).rows(0, 1)), None)


def is_rated(event: Event) -> bool:
    return event.status == STATUSES[RATED]


def plain(text: str) -> str:
    """Return a name or title, shortened if it is too long."""
    return shortened(text, MAX_NAME)


def show_name(player: str) -> str:
    """Return a name for use in a sentence, such that a right-to-left name does not reorder the words around it."""
    name = plain(player)
    is_from_right = any(bidirectional(letter) in FROM_RIGHT for letter in name)
    return f"\N{FIRST STRONG ISOLATE}{name}\N{POP DIRECTIONAL ISOLATE}" if is_from_right else name


def card_path(pool_name: str, event_id: str) -> str:
    """Return the path of an event's result card."""
    return f"{pool_address(pool_name, 'cards', event_id)}.png"


def title_of(pool: PoolReader, event: Event) -> str:
    return plain(titles_of(pool, [event.content_seq])[event.content_seq].title or event.event_id)


def headline_of(winners: Sequence[str]) -> str:
    """Return a headline such as "Ana won", or an empty string if nobody won."""
    if not winners:
        return ""
    shown = [show_name(player) for player in winners[:MAX_WINNERS]]
    others = len(winners) - len(shown)
    return f"{listed([*shown, counted(others, 'other')] if others else shown)} won"


def explain_largest(pool: PoolReader, event: Event) -> tuple[list[Explanation], tuple[str, ...]]:
    """Return the explanations of the largest changes in an event, and a line of text about each."""
    _, replayed = rated_event(pool, event.event_id)
    largest = sorted(changes_by(pool, event), key=lambda change: -abs(change.delta))[:LARGEST]
    explanations = [explain(pool.system, *replayed, change.player) for change in largest]
    lines = []
    for explanation in explanations:
        reason = f"{explanation.verdict} {explanation.cause}".strip().replace(
            explanation.player, show_name(explanation.player)
        )
        lines.append(f"{reason} Now {explanation.shown_after}.")
    return explanations, tuple(lines)


def describe_result(pool: PoolReader, header: PoolHeader, row: Any) -> Message:
    event = find_event(pool, row.subject)
    explanations, lines = explain_largest(pool, event)
    lines = (*lines, *promotions(pool, [event]))
    won = headline_of(explanations[0].winners)
    title = f"{title_of(pool, event)}: {won}" if won else title_of(pool, event)
    return Message(row.seq, title, lines, header.path("events", event.event_id), event.event_id)


def summarise_results(pool: PoolReader, header: PoolHeader, rows: Sequence[Any]) -> Message:
    """Describe several results that arrived together, and name the players whose ratings changed most."""
    newest: dict[str, Change] = {}
    moved: dict[str, float] = {}
    for event in sorted((find_event(pool, row.subject) for row in rows), key=lambda event: event.position):
        for change in changes_by(pool, event):
            newest[change.player] = change
            moved[change.player] = moved.get(change.player, 0.0) + change.delta
    most = sorted(moved, key=lambda player: -abs(moved[player]))[:LARGEST]
    lines = tuple(
        f"{show_name(player)} {header.change(moved[player])}, now {header.rating(newest[player].rating)}."
        for player in most
    )
    lines = (*lines, *promotions(pool, [find_event(pool, row.subject) for row in rows]))
    return Message(rows[-1].seq, f"{header.title}: {len(rows)} new results", lines, f"{header.address}/events")


def promotions(pool: PoolReader, events: Sequence[Event]) -> tuple[str, ...]:
    """Return a line about the players who have reached a higher tier by these events, if there are any."""
    if not pool.display.tiers:
        return ()
    least_scores = tier_scores(pool)
    order = [None, *least_scores]
    positions = [event.position for event in events]
    players = list(dict.fromkeys(change.player for event in events for change in changes_by(pool, event)))
    before, after = (
        system_and_states_before(pool, players, position)[1] for position in (min(positions), max(positions) + 1)
    )
    promoted = list[str]()
    for player in players:
        tiers = [
            pool.shown_score(state[player].rating, getattr(state[player], "deviation", None), least_scores)[1]
            for state in (before, after)
        ]
        if before[player].events and order.index(tiers[1]) > order.index(tiers[0]):
            promoted.append(f"{show_name(player)} ({tiers[1]})")
    return (f"Promoted: {', '.join(promoted[:MAX_PROMOTED])}.",) if promoted else ()


def describe_correction(pool: PoolReader, header: PoolHeader, row: Any) -> Message:
    event = find_event(pool, row.subject)
    (record,) = entries.listing(pool, after=row.seq - 1, most=1)
    lines = []
    if record.moved is not None and record.moved.players:
        players, largest = counted(record.moved.players, header.word), header.change(record.moved.largest).lstrip("+")
        lines.append(f"The ratings of {players} changed by up to {largest} points.")
    if is_rated(event):
        lines += explain_largest(pool, event)[1]
    title, path = f"{title_of(pool, event)} {CORRECTED[row.kind]}", header.path("events", event.event_id)
    return Message(row.seq, title, tuple(lines), path, event.event_id if is_rated(event) else "")


def champion(pool: PoolReader, header: PoolHeader, name: str) -> tuple[str, ...]:
    """Return a line about the leader before a season began, if there was one."""
    events = pool.snapshot.events
    begins = next(events.key(uid) for uid, season in events.seasons.items() if season.name == name)
    board = Board(pool, ESTABLISHED, pool.snapshot.standings_at(events.position(begins)))
    return tuple(
        f"{show_name(who.player)} finished the previous season on top with {header.score(who)}."
        for _, who in board.rows(0, 1)
    )


def upcoming(pool: PoolReader, since: datetime, until: datetime) -> tuple[tuple[datetime, Message], ...]:
    """Return the start and the message for each race that starts in a time span, earliest first."""
    header = pool_header(pool)
    ahead = fixtures(pool, since=since, ahead=True)
    return tuple((race.starts_at, announce_race(header, race, 0)) for race in ahead if race.starts_at < until)


def announce_race(header: PoolHeader, race: Fixture, seq: int) -> Message:
    lines = [f"It starts on {minute_words(race.starts_at.astimezone(header.zone))}."]
    if race.sides:
        lines.append(f"Entered: {listed([' and '.join(map(show_name, side)) for side in race.sides])}.")
    title = f"{header.title}: {plain(race.title or race.fixture_id)} is coming up"
    return Message(seq, title, tuple(lines), header.path("matches", race.fixture_id))
