"""Headlines for events, which name the winners and the largest changes."""

import math
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta

import numpy as np
import sqlalchemy as sa

from podium.ledger.reasons import wording
from podium.log.players import names_of
from podium.log.pools import Pool
from podium.log.schema import log
from podium.log.statements import among, instant, microseconds, of_pool
from podium.pool.columns import NONE
from podium.pool.snapshot import RATED, STATUSES, UNRATED, VOIDED, Event, Snapshot
from podium.support.arrays import Array, Mask
from podium.support.words import listed, shown, signed
from podium.views.board import established_in, span_begins
from podium.views.changes import Changes
from podium.views.events import Titles, Winners, sent_winners, titles_of
from podium.views.names import find_event
from podium.views.player_models import (
    AdjacentEvents,
    EntrantChange,
    EventHeadline,
    EventListPage,
    EventName,
    Mover,
    Movers,
    Surprise,
)
from podium.views.reader import PoolAt, read_cursor

MAX_NAMED = 3  # maximum number of winners in a headline; if there are more, it names two and counts the rest


def headlines(pool: PoolAt, events: Sequence[Event]) -> tuple[EventHeadline, ...]:
    """Return a headline for each of these events."""
    positions = np.array([event.position for event in events], np.int64)
    every, event = Changes.by_events(pool.snapshot, positions)
    counts = np.bincount(event, minlength=len(events)).tolist()
    is_notable = every.rank == 1
    for gain in (every.gain, -every.gain):
        best_first = np.lexsort((-gain, event))
        is_notable[best_first[np.flatnonzero(np.diff(event, prepend=NONE))]] = True
    notable = every.at(is_notable)
    names = names_of(pool, {*notable.numbers.tolist()})
    entrants: list[list[tuple[EntrantChange, int]]] = [[] for _ in events]  # each change with the rank
    columns = event[is_notable].tolist(), notable.numbers.tolist(), notable.gain.tolist(), notable.rank.tolist()
    for k, number, gain, rank, points in zip(*columns, notable.shown, strict=True):
        entrants[k].append((EntrantChange(names[number], gain, float(points)), rank))
    undecided = [event for event, some in zip(events, entrants, strict=True) if not any(rank for _, rank in some)]
    sent, titles = sent_winners(pool, undecided), titles_of(pool, [event.content_seq for event in events])
    return tuple(
        headline(pool, event, titles[event.content_seq], some, count, sent.get(event.event_id))
        for event, some, count in zip(events, entrants, counts, strict=True)
    )


def headline(
    pool: Pool,
    event: Event,
    titles: Titles,
    notable: Sequence[tuple[EntrantChange, int]],
    count: int,
    sent: Winners | None,
) -> EventHeadline:
    """Return the headline of an event.

    Args:
        pool: the pool.
        event: the event.
        titles: the event's title and web address.
        notable: the changes of the winners and of the players who gained and lost most, each with the rank.
        count: number of rated entrants.
        sent: the winners according to the results, used if no ranks are stored.
    """
    changes = [change for change, _ in notable]
    winners = tuple(change.player for change, rank in notable if rank == 1) if sent is None else sent.names
    entrants = count or (0 if sent is None else sent.entrants)
    gained = max((change for change in changes if change.change > 0.0), key=lambda change: change.change, default=None)
    lost = min((change for change in changes if change.change < 0.0), key=lambda change: change.change, default=None)
    words = headline_words(winners, entrants, changes, gained, event.status, pool.system.digits)
    return EventHeadline(
        event.event_id, *titles, pool.moment(event.started_at), event.status, entrants, winners, gained, lost, words,
        sequence=pool.sequence(event.started_at),
    )  # fmt: skip


def headline_words(
    winners: Sequence[str],
    entrants: int,
    changes: Sequence[EntrantChange],
    best: EntrantChange | None,
    status: str,
    digits: int,
) -> str:
    """Return one or two sentences, such as "Dragana won, but lost 40.5 points." or "Ana won.

    Ben gained most, +8.0.".
    """
    sentences = [f"{winners_words(winners, entrants)}."] if winners else []
    if status != STATUSES[RATED]:
        return " ".join([*sentences, "The result is void." if status == STATUSES[VOIDED] else "It is not rated."])
    winner = next((change for change in changes if winners == (change.player,)), None)
    loser = next((change for change in changes if entrants == 2 and change is not winner), None)  # noqa: PLR2004
    if winner is not None and (loser is not None or winner.shown < 0.0):
        result = f"beat {loser.player}" if loser is not None and winner.shown >= 0.0 else "won"
        return wording.verdict(winner.player, result, shown(winner.shown, digits))
    if best is not None and best.shown > 0.0:
        points = signed(shown(best.shown, digits))
        if best is winner:
            return f"{winner.player} won and gained most, {points}."
        sentences.append(f"{best.player} gained most, {points}.")
    return " ".join(sentences)


def winners_words(winners: Sequence[str], entrants: int) -> str:
    """Return the winners as a phrase: "Ana won", "Ana was alone", "Ana and Ben drew", "Ana, Ben and 3 others won"."""
    if entrants == 1:
        return f"{winners[0]} was alone"
    if len(winners) == entrants > 1:
        return f"{listed(winners)} drew" if entrants <= MAX_NAMED else f"All {entrants} drew"
    if len(winners) > MAX_NAMED:
        winners = [*winners[: MAX_NAMED - 1], f"{len(winners) - MAX_NAMED + 1} others"]
    return f"{listed(winners)} won"


def count_events(pool: PoolAt) -> int:
    """Count all events in a pool, whatever their status.

    Returns:
        The number of events.
    """
    events = pool.snapshot.events
    return events.size - len(events.seasons)


def event_list(pool: PoolAt, *, before: str | None = None, top: int = 50) -> EventListPage:
    """List events, each with a headline.

    Args:
        before: the `next` value of the previous page, or None for the first page.
        top: number of events per page.

    Returns:
        The events, newest first.

    Raises:
        ParameterError: `before` is not a cursor.
    """
    events = pool.snapshot.events
    end = events.position(read_cursor(before, "a page of events", int, int)) if before else events.order.size
    found = events.first(range(end)[::-1], top + 1, RATED, UNRATED, VOIDED)
    following = f"{found[top - 1].started_at},{found[top - 1].seq}" if len(found) > top else None
    return EventListPage(headlines(pool, found[:top]), following)


def adjacent_events(pool: PoolAt, event_id: str) -> AdjacentEvents:
    """Return the events immediately before and after an event.

    Returns:
        Both events. Either is None if there is no such event.

    Raises:
        UnknownError: there is no such pool or event.
    """
    return events_beside(pool, find_event(pool, event_id))


def events_beside(pool: PoolAt, event: Event) -> AdjacentEvents:
    """Return the events before and after this one."""
    events = pool.snapshot.events
    positions = range(event.position)[::-1], range(event.position + 1, events.order.size)
    beside = [next(iter(events.first(position, 1, RATED, UNRATED)), None) for position in positions]
    titles = titles_of(pool, [event.content_seq for event in beside if event is not None])
    return AdjacentEvents(*(None if event is None else event_name(pool, event, titles) for event in beside))


def event_name(pool: Pool, event: Event, titles: Mapping[int, Titles]) -> EventName:
    moment, number = pool.moment(event.started_at), pool.sequence(event.started_at)
    return EventName(event.event_id, titles[event.content_seq].title, moment, sequence=number)


SELECT_RECEIVED = sa.select(log.c.seq, log.c.received_at).where(of_pool(log), among(log.c.seq))


def event_moments(pool: PoolAt, event_ids: Collection[str]) -> dict[str, datetime]:
    """Return the times of events, for sorting them together with the events of other pools.

    Returns:
        The time at which each event started or, in a numbered pool, was received.
    """
    events = pool.snapshot.events
    found = {event_id: events.key(uid) for event_id in event_ids if (uid := events.find(event_id)) >= 0}
    if not pool.is_undated:
        return {event_id: instant(key.started_at) for event_id, key in found.items()}
    received_at = dict(pool.run(SELECT_RECEIVED, among=[key.seq for key in found.values()]))
    return {event_id: datetime.fromisoformat(received_at[key.seq]) for event_id, key in found.items()}


# maximum number of recent changes to search for a surprise; a busy server has millions per week
MAX_CHANGES = 20_000
ROUNDING = 1e-3  # upper bound, in points, for the error of a sum of many changes


def movers(pool: PoolAt, *, days: int = 7, most: int = 10) -> Movers:
    """Return the largest rating changes in the last days before the pool's latest event, and the biggest surprise.

    Args:
        days: the number of days or, in a numbered pool, of events.
        most: maximum number of players who gained, and of players who lost, to return.

    Returns:
        The sum of each player's changes, largest first.
    """
    return pool.value(("movers", days, most), lambda: find_movers(pool, days, most))


def gains_since(snapshot: Snapshot, time: int) -> Changes:
    """Return the players' changes from events that started at this time or later."""
    first = snapshot.row_at(snapshot.events.position((time, 0)))
    return Changes(snapshot, range(first, snapshot.rows.size)).without_seasons.of_players


def find_movers(pool: PoolAt, days: int, most: int) -> Movers:
    """Return the players with the largest total changes up to the latest rated event, and the biggest surprise."""
    newest = pool.snapshot.events.newest_rated
    if newest is None:
        return Movers(None, (), (), None, 0.0)
    since = span_begins(pool, timedelta(days=days), newest.started_at)
    gains = gains_since(pool.snapshot, since)
    found = *most_moved(pool, gains, most), surprise(pool, gains), spread(pool.snapshot)
    return Movers(pool.moment(since), *found, since_sequence=pool.sequence(since))


def most_moved(pool: PoolAt, gains: Changes, most: int) -> tuple[tuple[Mover, ...], tuple[Mover, ...]]:
    """Return the players who gained most and the players who lost most, largest total first."""
    sums = np.bincount(gains.numbers, gains.gain)
    is_near = np.zeros(sums.size, np.bool_)
    for sign in (1.0, -1.0):
        is_near[nearly_most(sign * sums, most)] = True
    near, points = gains.at(is_near[gains.numbers]), dict[int, list[float]]()
    for number, gain in zip(near.numbers.tolist(), near.gain.tolist(), strict=True):
        points.setdefault(number, []).append(gain)
    exact = {number: math.fsum(some) for number, some in points.items()}
    lost, gained = (
        sorted((sign * total, number) for number, total in exact.items() if sign * total < 0.0)[:most]
        for sign in (1.0, -1.0)
    )
    names = names_of(pool, [number for _, number in (*gained, *lost)])
    best, worst = (
        tuple(
            Mover(names[number], len(points[number]), exact[number], near.at(near.numbers == number).shown_sum)
            for _, number in some
        )
        for some in (gained, lost)
    )
    return best, worst


def nearly_most(sums: Array, most: int) -> Array:
    """Return the players whose totals could be among the `most` largest after exact addition."""
    if not most or sums.size <= most:
        return np.arange(min(most, sums.size))
    least = np.partition(sums, -most)[-most]
    return np.flatnonzero(sums >= max(least, 0.0) - ROUNDING)


def surprise(pool: PoolAt, gains: Changes) -> Surprise | None:
    """Return the most surprising change, or None.

    Prefer established players, and changes that contradict the result.
    """
    if not len(gains):
        return None
    snapshot = pool.snapshot
    events = snapshot.events
    if len(gains) > MAX_CHANGES:
        uid = gains.uids[-MAX_CHANGES]
        gains = gains_since(snapshot, events.columns.value("started_at", uid))
    uids, rank, points = gains.uids, gains.rank, gains.gain
    starts = np.flatnonzero(np.diff(uids, prepend=NONE))
    last = np.repeat(np.maximum.reduceat(rank, starts), np.diff(starts, append=uids.size))
    against = ((rank == 1) & (last > 1) & (points < 0.0)) | ((rank == last) & (rank > 1) & (points > 0.0))
    established = established_now(pool, gains)
    rows = np.arange(points.size)
    for is_preferred in (established, against):
        rows = rows[is_preferred[rows]] if is_preferred[rows].any() else rows
    largest = np.abs(points[rows])
    rows = rows[largest == largest.max()]
    row = int(rows[np.searchsorted(rows, starts[np.searchsorted(starts, rows[-1], "right") - 1])])
    return surprise_in(pool, gains, row, is_established=bool(established[row]))


def surprise_in(pool: PoolAt, gains: Changes, row: int, *, is_established: bool) -> Surprise:
    """Return the most surprising of these changes."""
    events, rank = pool.snapshot.events, int(gains.rank[row])
    event = events.event_of(int(gains.uids[row]))
    (name,), (change,) = names_of(pool, [int(gains.numbers[row])]).values(), gains.at([row]).shown
    ((title, _),) = titles_of(pool, [event.content_seq]).values()
    return Surprise(
        event.event_id, title, pool.moment(event.started_at), name,
        float(gains.gain[row]), float(change), is_established,
        rank or None, int(events.order.value("field", event.position)) or None,
        sequence=pool.sequence(event.started_at),
    )  # fmt: skip


def largest_gains(pool: PoolAt, until: datetime, most: int = 8) -> tuple[Surprise, ...]:
    """Return the results that gained established players most points in seven days, or in seven numbered events.

    Args:
        until: the end of the seven days.
        most: maximum number of results.

    Returns:
        The results, largest gain first.
    """
    newest, snapshot = pool.snapshot.events.newest_rated, pool.snapshot
    if newest is None:
        return ()
    end = newest.started_at if pool.is_undated else microseconds(until)
    gains = gains_since(snapshot, span_begins(pool, timedelta(days=7), end))
    established = established_now(pool, gains)
    rows = np.flatnonzero(established & (gains.gain > 0.0))
    largest = rows[np.argsort(-gains.gain[rows], kind="stable")[:most]].tolist()
    return tuple(surprise_in(pool, gains, row, is_established=True) for row in largest)


def established_now(pool: PoolAt, gains: Changes) -> Mask:
    """Return a mask of the changes whose players now have an established rating."""
    standings = pool.snapshot.standings
    return established_in(standings)[np.searchsorted(standings.numbers, gains.numbers)]


def spread(snapshot: Snapshot) -> float:
    """Return the standard deviation of the ratings in a pool, or 0 if there are fewer than two ratings."""
    ratings = snapshot.standings.ratings[snapshot.standings.is_player]
    return float(ratings.std()) if ratings.size > 1 else 0.0
