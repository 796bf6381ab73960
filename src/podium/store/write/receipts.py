"""What became of events that were sent or corrected, as it is answered."""

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Any, NamedTuple

import sqlalchemy as sa

from podium.store.derive.events import Change, changes_of, get_event
from podium.store.derive.rerating import Rerated
from podium.store.derive.standings import Ledger
from podium.store.log.chain import Head
from podium.store.log.players import names_of
from podium.store.log.pools import OrderKey, Pool
from podium.store.sql.schema import event


class Effect(NamedTuple):
    """What becomes of a change of another event; None where there was, or is to be, none."""

    event_id: str | None  # None: a season began
    player: str
    rating_was: float | None
    rating: float | None


@dataclass(frozen=True, slots=True)
class Receipt:
    """What became of an event that was sent."""

    event_id: str
    seq: int  # of its submission
    status: str  # rated, unrated, voided, superseded
    reason: str  # why it is not rated; empty where it is
    duplicate: bool  # it was known, with this very content
    changes: tuple[Change, ...]  # of this event
    rerated: int  # ledger rows of other events that changed with it
    effects: tuple[Effect, ...] = ()  # those rows, where nothing was to be stored
    warnings: tuple[str, ...] = ()  # of new players whose names look like others in the pool
    head: Head | None = None  # of the log, the event in it; None of a dry run


def receipts(
    connection: sa.Connection,
    pool: Pool,
    keys: Mapping[str, OrderKey],
    rerated: Rerated | None,
    head: Head,
    *,
    duplicates: AbstractSet[str] = frozenset(),
    warnings: Mapping[str, tuple[str, ...]] | None = None,
    dry_run: bool = False,
) -> list[Receipt]:
    """A receipt for each event, in the order of the keys.

    Args:
        rerated: what was rated; None where nothing had to be.
        head: of the log.
        duplicates: events that were known with this very content.
        warnings: of events with new players whose names look like others.
        dry_run: list the effects, since nothing is to be stored.
    """
    statuses = rerated.statuses if rerated else {}
    changes = changes_among(connection, pool, {keys[each] for each in keys if each in statuses}, rerated)
    own = {tuple(key) for event_id, key in keys.items() if event_id not in duplicates}
    others = sum((at, seq) not in own for at, seq, _ in rerated.written) if rerated else 0
    effects = effects_of(connection, pool, rerated) if rerated and dry_run else ()
    answers = []
    for event_id, key in keys.items():
        duplicate = event_id in duplicates
        if event_id in statuses:
            (status, reason), event_changes = statuses[event_id], changes[key]
        else:  # rating did not look at it: it is voided or superseded, or a duplicate from before the first that moved
            row = get_event(connection, pool, event_id)
            status, reason, event_changes = row.status, row.reason, changes_of(connection, pool, key)
        warned = (warnings or {}).get(event_id, ())
        rows_changed = 0 if duplicate else others
        answers.append(
            Receipt(
                event_id,
                key.seq,
                status,
                reason,
                duplicate,
                event_changes,
                rows_changed,
                effects,
                warned,
                None if dry_run else head,
            )
        )
    return answers


def changes_among(
    connection: sa.Connection, pool: Pool, keys: AbstractSet[OrderKey], rerated: Rerated | None
) -> dict[OrderKey, tuple[Change, ...]]:
    """The changes of events that were rated just now, in the order of their rows; no statement reads them again."""
    if not keys or rerated is None:
        return {}
    rows: dict[Any, list[tuple[int, int, Any]]] = {key: [] for key in keys}
    for (at, seq, number), row in rerated.new.items():
        if (at, seq) in rows:
            rows[at, seq].append((row.place, number, row))
    names = names_of(connection, pool, {number for each in rows.values() for _, number, _ in each})
    return {
        key: tuple(
            Change(names[number], row.rating_before, row.rating, row.rating - row.rating_before)
            for _, number, row in sorted(each)
        )
        for key, each in rows.items()
    }


def effects_of(connection: sa.Connection, pool: Pool, rerated: Rerated) -> tuple[Effect, ...]:
    """Every change that is other than it was, in the order of rating."""
    keys = sorted([*rerated.written, *(rerated.old.keys() - rerated.new.keys())])
    first = keys[0][0] if keys else 0
    selected = sa.select(event.c.seq, event.c.event_id).where(event.c.pool_id == pool.id, event.c.started_at >= first)
    ids = {row.seq: row.event_id for row in connection.execute(selected)}
    names = names_of(connection, pool, {number for _, _, number in keys})
    return tuple(
        Effect(ids.get(key[1]), names[key[2]], rating_in(rerated.old, key), rating_in(rerated.new, key)) for key in keys
    )


def rating_in(ledger: Ledger, key: tuple[int, int, int]) -> float | None:
    """The rating of a row, where there is one."""
    return ledger[key].rating if key in ledger else None
