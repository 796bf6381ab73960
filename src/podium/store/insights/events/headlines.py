"""What happened in events, a headline each: who won, and who gained or lost most."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from podium.ledger.reasons import wording
from podium.store.derive.proposal import RATED, VOIDED
from podium.store.insights.board_models import EntrantChange, EventHeadline
from podium.store.insights.events.sent_winners import Winners, sent_winners
from podium.store.log.players import names_of
from podium.store.log.pools import BOUND_KEY, Pool, key_of
from podium.store.read.events import same_event
from podium.store.sql.schema import change, event
from podium.store.sql.timestamps import instant
from podium.support.rounding import shown, shown_change, signed

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
    .join(change, sa.and_(change.c.generation_id == sa.bindparam("generation"), same_event(change, event)))
    .where(
        event.c.pool_id == sa.bindparam("pool"),
        event.c.status == RATED,
        # By their times, too: PostgreSQL cannot tell how few lie between two keys.
        event.c.started_at.between(sa.bindparam("started_at"), sa.bindparam("end_started_at")),
        change.c.started_at.between(sa.bindparam("started_at"), sa.bindparam("end_started_at")),
        key_of(event) >= BOUND_KEY,
        key_of(event) <= sa.tuple_(sa.bindparam("end_started_at"), sa.bindparam("end_seq")),
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
    """What happened in an event."""

    winners: tuple[str, ...]
    entrants: int
    changes: tuple[EntrantChange, ...] = ()  # of the winners, of who gained most, and of who lost most

    @property
    def most_gained(self) -> EntrantChange | None:
        """The largest gain, if anybody gained."""
        best = max(self.changes, key=lambda each: each.change, default=None)
        return best if best is not None and best.change > 0.0 else None

    @property
    def most_lost(self) -> EntrantChange | None:
        """The largest loss, if anybody lost."""
        worst = min(self.changes, key=lambda each: each.change, default=None)
        return worst if worst is not None and worst.change < 0.0 else None


def headlines(connection: sa.Connection, pool: Pool, rows: Sequence[Any]) -> tuple[EventHeadline, ...]:
    """A headline for each of some events, which follow one another, in their order.

    Args:
        rows: of the events, newest first.
    """
    if not rows:
        return ()
    notable = notable_entrants(connection, pool, rows)
    names = names_of(connection, pool, {each.player_id for entrants in notable.values() for each in entrants})
    undecided = [row for row in rows if not any(each.rank for each in notable.get(row.seq, ()))]
    sent, digits = sent_winners(connection, pool, undecided), pool.system.digits
    return tuple(
        headline(row, happening(notable.get(row.seq, ()), names, sent.get(row.event_id), digits), digits)
        for row in rows
    )


def notable_entrants(connection: sa.Connection, pool: Pool, rows: Sequence[Any]) -> dict[int, list[Any]]:
    """The winners of events and who moved most, in the order of their lines, by the number of the submission."""
    first, last = rows[-1], rows[0]
    params = {"pool": pool.id, "generation": pool.generation, "started_at": first.started_at, "seq": first.seq}
    params |= {"end_started_at": last.started_at, "end_seq": last.seq}
    notable: dict[int, list[Any]] = {}
    for each in connection.execute(SELECT_NOTABLE, params).all():
        notable.setdefault(each.seq, []).append(each)
    return notable


def happening(entrants: Sequence[Any], names: dict[int, str], sent: Winners | None, digits: int) -> Happening:
    """What happened in an event, by its notable entrants; who won as it was sent, where no rank is stored."""
    changes = tuple(entrant_change(names[each.player_id], each, digits) for each in entrants)
    winners = tuple(names[each.player_id] for each in entrants if each.rank == 1)
    if sent is not None:
        return Happening(sent.names, entrants[0].entrants if entrants else sent.entrants, changes)
    return Happening(winners, entrants[0].entrants, changes)


def entrant_change(name: str, row: Any, digits: int) -> EntrantChange:
    """An entrant's change from its row."""
    points = shown_change(row.rating_before, row.rating, digits)
    return EntrantChange(name, row.rating - row.rating_before, float(points))


def headline(row: Any, what: Happening, digits: int) -> EventHeadline:
    """An event's row with what happened in it."""
    return EventHeadline(
        row.event_id,
        row.title,
        row.url,
        instant(row.started_at),
        row.status,
        what.entrants,
        what.winners,
        what.most_gained,
        what.most_lost,
        headline_words(what, row.status, digits),
    )


def headline_words(what: Happening, status: str, digits: int) -> str:
    """What happened, in a sentence or two: "Dragana won, but lost 40.5 points.", "Ana won. Ben gained most, +8.0."."""
    sentences = [f"{winners_words(what.winners, what.entrants)}."] if what.winners else []
    if status != RATED:
        return " ".join([*sentences, "The result is void." if status == VOIDED else "It is not rated."])
    winner = next((each for each in what.changes if what.winners == (each.player,)), None)
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
    """Who won: "Ana won", "Ana and Ben drew", "Ana, Ben and 3 others won"."""
    if len(winners) == entrants > 1:
        return f"{wording.listed(winners)} drew" if entrants <= MOST_NAMED else f"All {entrants} drew"
    if len(winners) > MOST_NAMED:
        winners = [*winners[: MOST_NAMED - 1], f"{len(winners) - MOST_NAMED + 1} others"]
    return f"{wording.listed(winners)} won"
