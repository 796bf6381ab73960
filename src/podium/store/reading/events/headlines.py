"""What happened in events, a headline each: who won, and who gained or lost most."""

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

import sqlalchemy as sa

from podium.errors import ParameterError
from podium.ledger.history import FINDING_EVENTS, can_be_unsettled
from podium.ledger.reasons import wording
from podium.log.log import newest_seq
from podium.log.players import names_of
from podium.log.pools import (
    BOUND_KEY,
    END_KEY,
    FOREVER,
    OrderKey,
    Pool,
    PoolView,
    key_of,
    newest_first,
    same_event,
)
from podium.log.schema import change, event, log, standing
from podium.log.statements import among, of_generation, of_players, of_pool
from podium.store.reading.boards.ranks import IS_SETTLED, span_begins
from podium.store.reading.events.events import Winners, sent_winners
from podium.store.reading.moments import Answers
from podium.store.reading.player_models import (
    AdjacentEvents,
    EntrantChange,
    EventHeadline,
    EventListPage,
    EventName,
    Mover,
    Movers,
    Surprise,
)
from podium.store.writing.rating.events import RATED, SUPERSEDED, VOIDED, get_event
from podium.support.words import listed, shown, shown_change, signed

MOST_NAMED = 3  # winners in a headline; of more the first two, and how many others
DELTA = change.c.rating - change.c.rating_before
OF_EVENT: Any = {"partition_by": (change.c.started_at, change.c.seq)}
ENTRANTS = (  # of the rated events from one key to another
    sa.select(
        *(change.c[name] for name in ("started_at", "seq", "player_id", "place", "rating_before", "rating", "rank")),
        sa.func.count().over(**OF_EVENT).label("entrants"),
        sa.func.row_number().over(**OF_EVENT, order_by=(DELTA.desc(), change.c.place)).label("gain"),
        sa.func.row_number().over(**OF_EVENT, order_by=(DELTA, change.c.place)).label("loss"),
    )
    .select_from(event)
    .join(change, sa.and_(of_generation(change), same_event(change, event)))
    .where(
        of_pool(event),
        event.c.status == RATED,
        of_players(change),
        # By their times, too: PostgreSQL cannot tell how few lie between two keys.
        event.c.started_at.between(sa.bindparam("started_at"), sa.bindparam("end_started_at")),
        change.c.started_at.between(sa.bindparam("started_at"), sa.bindparam("end_started_at")),
        key_of(event) >= BOUND_KEY,
        key_of(event) <= END_KEY,
    )
    .subquery()
)
SELECT_NOTABLE = (
    sa.select(ENTRANTS)
    .where(sa.or_(ENTRANTS.c.rank == 1, ENTRANTS.c.gain == 1, ENTRANTS.c.loss == 1))
    .order_by(ENTRANTS.c.started_at, ENTRANTS.c.seq, ENTRANTS.c.place)
)


@dataclass(frozen=True, slots=True)
class Happening:
    winners: tuple[str, ...]
    entrants: int
    changes: tuple[EntrantChange, ...] = ()  # of the winners, of who gained most, and of who lost most

    @property
    def most_gained(self) -> EntrantChange | None:
        best = max(self.changes, key=lambda each: each.change, default=None)
        return best if best is not None and best.change > 0.0 else None

    @property
    def most_lost(self) -> EntrantChange | None:
        worst = min(self.changes, key=lambda each: each.change, default=None)
        return worst if worst is not None and worst.change < 0.0 else None


def headlines(pool: PoolView, rows: Sequence[Any]) -> tuple[EventHeadline, ...]:
    """A headline for each of some events, which follow one another, in their order."""
    if not rows:
        return ()
    first, last = rows[-1], rows[0]
    params = {"started_at": first.started_at, "seq": first.seq, "end_started_at": last.started_at, "end_seq": last.seq}
    notable: dict[int, list[Any]] = {}  # winners, and who moved most, by the number of the submission
    for each in pool.execute(SELECT_NOTABLE, **params).all():
        notable.setdefault(each.seq, []).append(each)
    names = names_of(pool, {each.player_id for entrants in notable.values() for each in entrants})
    undecided = [row for row in rows if not any(each.rank for each in notable.get(row.seq, ()))]
    sent, digits = sent_winners(pool, undecided), pool.system.digits
    return tuple(
        headline(pool, row, happening(notable.get(row.seq, ()), names, sent.get(row.event_id), digits)) for row in rows
    )


def happening(entrants: Sequence[Any], names: dict[int, str], sent: Winners | None, digits: int) -> Happening:
    """What happened in an event, by its notable entrants; who won as it was sent, where no rank is stored."""
    changes = tuple(
        EntrantChange(names[each.player_id], each.rating - each.rating_before, float(points))
        for each in entrants
        for points in [shown_change(each.rating_before, each.rating, digits)]
    )
    winners = tuple(names[each.player_id] for each in entrants if each.rank == 1)
    if sent is not None:
        return Happening(sent.names, entrants[0].entrants if entrants else sent.entrants, changes)
    return Happening(winners, entrants[0].entrants, changes)


def headline(pool: Pool, row: Any, what: Happening) -> EventHeadline:
    return EventHeadline(
        row.event_id, row.title, row.url, pool.moment(row.started_at), row.status, what.entrants, what.winners,
        what.most_gained, what.most_lost, headline_words(what, row.status, pool.system.digits),
        sequence=pool.sequence(row.started_at),
    )  # fmt: skip


def headline_words(what: Happening, status: str, digits: int) -> str:
    """What happened, in a sentence or two: "Dragana won, but lost 40.5 points.", "Ana won. Ben gained most, +8.0."."""
    sentences = [f"{winners_words(what.winners, what.entrants)}."] if what.winners else []
    if status != RATED:
        return " ".join([*sentences, "The result is void." if status == VOIDED else "It is not rated."])
    winner = next((each for each in what.changes if what.winners == (each.player,)), None)
    loser = next((each for each in what.changes if what.entrants == 2 and each is not winner), None)  # noqa: PLR2004
    if winner is not None and loser is not None and winner.shown >= 0.0:
        moved = ", ".join(signed(shown(each.shown, digits)) for each in (winner, loser))
        return f"{winner.player} beat {loser.player}: {moved}."
    if winner is not None and winner.shown < 0.0:
        return wording.verdict(winner.player, "won", shown(winner.shown, digits))
    best = what.most_gained
    if best is not None and best.shown > 0.0:
        points = signed(shown(best.shown, digits))
        if best is winner:
            return f"{winner.player} won and gained most, {points}."
        sentences.append(f"{best.player} gained most, {points}.")
    return " ".join(sentences)


def winners_words(winners: Sequence[str], entrants: int) -> str:
    """Who won: "Ana won", "Ana was alone", "Ana and Ben drew", "Ana, Ben and 3 others won"."""
    if entrants == 1:
        return f"{winners[0]} was alone"
    if len(winners) == entrants > 1:
        return f"{listed(winners)} drew" if entrants <= MOST_NAMED else f"All {entrants} drew"
    if len(winners) > MOST_NAMED:
        winners = [*winners[: MOST_NAMED - 1], f"{len(winners) - MOST_NAMED + 1} others"]
    return f"{listed(winners)} won"


MAX_NUMBER = 2**62  # below it are all starts and numbers of log entries
SELECT_EVENTS = (
    sa.select(event)
    .where(of_pool(event), event.c.status != SUPERSEDED, key_of(event) < BOUND_KEY)
    .order_by(*newest_first(event))
    .limit(sa.bindparam("top"))
)
SELECT_NEWEST_RATED = (
    sa.select(event).where(of_pool(event), event.c.status == RATED).order_by(*newest_first(event)).limit(1)
)
COUNT_EVENTS = sa.select(sa.func.count()).select_from(event).where(of_pool(event))
OTHERS = [*map(sa.literal, (VOIDED, SUPERSEDED))]
COUNTING = sa.select(event).where(of_pool(event), event.c.status.not_in(OTHERS)).limit(1)
SELECT_PREVIOUS = COUNTING.where(key_of(event) < BOUND_KEY).order_by(*newest_first(event))
SELECT_NEXT = COUNTING.where(key_of(event) > BOUND_KEY).order_by(event.c.started_at, event.c.seq)


def newest_rated(pool: PoolView) -> Any:
    """The row of the newest rated event; None where there is none."""
    return pool.execute(SELECT_NEWEST_RATED).first()


def count_events(pool: PoolView) -> int:
    """Count the events of a pool, whatever became of them.

    Returns:
        Their number.
    """
    return int(pool.execute(COUNT_EVENTS).scalar_one())


def event_list(pool: PoolView, *, before: str | None = None, top: int = 50) -> EventListPage:
    """List events with a headline each.

    Args:
        before: the `next` of the page before; the first page where None.
        top: events of the page.

    Returns:
        The events, newest first.

    Raises:
        ParameterError: `before` is no cursor.
    """
    key = read_cursor(before, "a page of events") if before else FOREVER
    found = pool.execute(SELECT_EVENTS, top=top + 1, **key._asdict()).all()
    rows = found[:top]
    following = f"{rows[-1].started_at},{rows[-1].seq}" if len(found) > top else None
    return EventListPage(headlines(pool, rows), following)


def read_cursor(cursor: str, page: str) -> OrderKey:
    started_at, _, seq = cursor.partition(",")
    try:
        key = OrderKey(int(started_at), int(seq))
    except ValueError:
        key = FOREVER
    if max(map(abs, key)) >= MAX_NUMBER:
        raise ParameterError(f"{cursor!r} is not the `next` of {page}")
    return key


def adjacent_events(pool: PoolView, event_id: str) -> AdjacentEvents:
    """Name the events before and after an event.

    Returns:
        Both, as far as there are any.

    Raises:
        UnknownError: no such pool or event.
    """
    return events_beside(pool, get_event(pool, event_id))


def events_beside(pool: PoolView, row: Any) -> AdjacentEvents:
    """As `adjacent_events`, of an event's row."""
    selects = SELECT_PREVIOUS, SELECT_NEXT
    beside = (pool.fetch(each, started_at=row.started_at, seq=row.seq) for each in selects)
    return AdjacentEvents(*(event_name(pool, rows[0]) if rows else None for rows in beside))


def event_name(pool: Pool, row: Any) -> EventName:
    moment, number = pool.moment(row.started_at), pool.sequence(row.started_at)
    return EventName(row.event_id, row.title, moment, sequence=number)


SELECT_MOMENTS = (
    sa.select(event.c.event_id, event.c.started_at, log.c.received_at)
    .join(log, log.c.seq == event.c.seq)
    .where(of_pool(event), among(event.c.event_id))
)


def event_moments(pool: PoolView, event_ids: Collection[str]) -> dict[str, datetime]:
    """Say when events were, also beside those of other pools.

    Returns:
        When each started; in a counted pool, when it was received.
    """
    rows = pool.execute(SELECT_MOMENTS, among=event_ids)
    return {row.event_id: pool.moment(row.started_at) or datetime.fromisoformat(row.received_at) for row in rows}


WITHIN = (
    of_generation(change),
    change.c.started_at >= sa.bindparam("since"),
    change.c.place > 0,
    of_players(change),
)
SUM = sa.func.sum(DELTA).label("change")
SUMS = (
    sa.select(change.c.player_id, sa.func.count().label("events"), SUM)
    .where(*WITHIN)
    .group_by(change.c.player_id + 0, change.c.player_id)  # by no index: that of players has all of their changes
    .limit(sa.bindparam("most"))
)
SELECT_GAINED = SUMS.having(SUM > 0.0).order_by(SUM.desc(), change.c.player_id)
SELECT_LOST = SUMS.having(SUM < 0.0).order_by(SUM, change.c.player_id)
SELECT_CHANGES_OF = sa.select(change.c.player_id, change.c.rating_before, change.c.rating).where(
    *WITHIN, among(change.c.player_id)
)
RANKED = (
    sa.select(
        *(change.c[name] for name in ("started_at", "seq", "player_id", "rating_before", "rating", "rank", "field")),
        change.c.place,
        DELTA.label("delta"),
        sa.func.max(change.c.rank).over(**OF_EVENT).label("last"),
    )
    .where(*WITHIN)
    .subquery()
)
WON_AND_LOST = sa.and_(RANKED.c.rank == 1, RANKED.c.last > 1, RANKED.c.delta < 0.0)
LAST_AND_GAINED = sa.and_(RANKED.c.rank == RANKED.c.last, RANKED.c.rank > 1, RANKED.c.delta > 0.0)
SETTLED = sa.case(
    (sa.bindparam("least_events") > 0, standing.c.events >= sa.bindparam("least_events")), else_=IS_SETTLED
)
SELECT_SURPRISE = (
    sa.select(RANKED, SETTLED.label("settled"))
    .join(
        standing,
        sa.and_(of_generation(standing), standing.c.player_id == RANKED.c.player_id),
    )
    .order_by(
        sa.case((SETTLED, 0), else_=1),
        sa.case((sa.or_(WON_AND_LOST, LAST_AND_GAINED), 0), else_=1),
        sa.func.abs(RANKED.c.delta).desc(),
        RANKED.c.started_at.desc(),
        RANKED.c.seq.desc(),
        RANKED.c.place,
    )
    .limit(1)
)
MOST_CHANGES = 20_000  # changes, the newest, among which a surprise is sought: a week of a busy server has millions
SELECT_OLDEST = (
    sa.select(change.c.started_at).where(*WITHIN).order_by(*newest_first(change)).offset(sa.bindparam("above")).limit(1)
)
SPREAD_SUMS = sa.select(
    sa.func.count(), sa.func.avg(standing.c.rating), sa.func.avg(standing.c.rating * standing.c.rating)
).where(of_generation(standing), of_players(standing))
SELECT_EVENT = sa.select(event.c.event_id, event.c.title).where(of_pool(event), key_of(event) == BOUND_KEY)


def movers(pool: PoolView, answers: Answers, *, days: int = 7, most: int = 10) -> Movers:
    """Show who moved most in the days up to the pool's newest event, and the surprise among the changes.

    Args:
        days: how many; of a counted pool, how many events.
        most: players to list on either side.

    Returns:
        Sums of changes, largest first.
    """
    key = "movers", pool.id, pool.generation, days, most
    return answers.value(key, newest_seq(pool), lambda: find_movers(pool, days, most))


def find_movers(pool: PoolView, days: int, most: int) -> Movers:
    """Who moved most in so many days up to the newest rated event, and the surprise of these days."""
    newest = newest_rated(pool)
    if newest is None:
        return Movers(None, (), (), None, 0.0)
    since = span_begins(pool, timedelta(days=days), newest.started_at)
    params: dict[str, Any] = {"since": since, "most": most}
    gained, lost = (pool.execute(select, **params).all() for select in (SELECT_GAINED, SELECT_LOST))
    numbers = [row.player_id for row in (*gained, *lost)]
    names = names_of(pool, numbers)
    shown, digits = dict[int, Decimal](), pool.system.digits  # the sums of changes as each of them is shown
    changes = pool.execute(SELECT_CHANGES_OF, **params, among=numbers).all()
    for number, before, rating in changes:
        shown[number] = shown.get(number, Decimal(0)) + shown_change(before, rating, digits)
    best, worst = (
        tuple(Mover(names[row.player_id], row.events, row.change, float(shown[row.player_id])) for row in rows)
        for rows in (gained, lost)
    )
    found = best, worst, surprise(pool, since), spread(pool)
    return Movers(pool.moment(since), *found, since_sequence=pool.sequence(since))


def surprise(pool: PoolView, since: int) -> Surprise | None:
    """The largest change of a settled player, against the result if there is one, or else of any; None without one."""
    least_events = 0 if can_be_unsettled(pool.system) else FINDING_EVENTS
    oldest = pool.execute(SELECT_OLDEST, since=since, above=MOST_CHANGES - 1).scalar()
    row = pool.execute(SELECT_SURPRISE, since=since if oldest is None else oldest, least_events=least_events).first()
    if row is None:
        return None
    (name,) = names_of(pool, [row.player_id]).values()
    (of,) = pool.execute(SELECT_EVENT, started_at=row.started_at, seq=row.seq).all()
    points = float(shown_change(row.rating_before, row.rating, pool.system.digits))
    return Surprise(
        of.event_id, of.title, pool.moment(row.started_at), name, row.delta, points, bool(row.settled), row.rank,
        row.field, sequence=pool.sequence(row.started_at),
    )  # fmt: skip


def spread(pool: PoolView) -> float:
    """The standard deviation of a pool's ratings; 0 where there are fewer than two."""
    count, mean, mean_square = pool.execute(SPREAD_SUMS).one()
    return math.sqrt(max(0.0, mean_square - mean * mean)) if count > 1 else 0.0
