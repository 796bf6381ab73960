"""What became of events that were sent or corrected, as it is answered."""

from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from itertools import islice

import sqlalchemy as sa

from podium.store.log.chain import Head
from podium.store.log.players import names_of
from podium.store.log.pools import OrderKey, Pool
from podium.store.rating.events import EVENT_STATUSES, FIRST_PLACEHOLDER, Change, changes_from, changes_of, get_event
from podium.store.rating.rerating import Effect, Totals
from podium.store.writing.execution import Done


@dataclass(frozen=True, slots=True)
class Receipt:
    """What became of an event that was sent."""

    event_id: str = field(metadata={"description": "The event."})
    seq: int = field(metadata={"description": "The number of its submission in the log; 0 in a dry run of a new one."})
    status: str = field(
        metadata={"description": "What became of it.", "json_schema_extra": {"enum": [*EVENT_STATUSES]}}
    )
    reason: str = field(metadata={"description": "Why it is not rated; empty where it is."})
    duplicate: bool = field(metadata={"description": "Whether it was known, with this very content."})
    changes: tuple[Change, ...] = field(
        metadata={"description": "Its own changes of ratings, in the order of its rows."}
    )
    rerated: int = field(metadata={"description": "How many changes of other events it moved."})
    effects: tuple[Effect, ...] = field(
        metadata={"description": "Of a dry run, on its first receipt: the largest changes that would move."}
    )
    totals: Totals | None = field(metadata={"description": "Of a dry run, on its first receipt: how much would move."})
    next: str | None = field(metadata={"description": "For `effects_after`; null where no effect follows."})
    warnings: tuple[str, ...] = field(metadata={"description": "Which new players have names like those of others."})
    head: Head | None = field(
        metadata={"description": "Keep it: `podium verify --head` finds what was removed since. Null in a dry run."}
    )
    notice: str = field(
        default="",
        metadata={"description": "Where a system learns from its pool: what a late result or a correction moves."},
    )


def receipts(
    connection: sa.Connection,
    pool: Pool,
    keys: Mapping[str, OrderKey],
    done: Done,
    *,
    duplicates: AbstractSet[str] = frozenset(),
    warnings: Mapping[str, tuple[str, ...]] | None = None,
) -> list[Receipt]:
    """A receipt for each event, in the order of the keys; effects stand in the first."""
    rerated, proposal = done.rerated, done.proposal
    statuses = rerated.statuses if rerated else {}
    changes = changes_among(connection, pool, [keys[each] for each in keys if each in statuses], done)
    own = [key for event_id, key in keys.items() if event_id not in duplicates]
    others = rerated.written - sum(rerated.written_at[key] for key in own) if rerated else 0
    answers = []
    for event_id, key in keys.items():
        duplicate = event_id in duplicates
        if event_id in statuses:
            (status, reason), event_changes = statuses[event_id], changes[key]
        elif (
            proposal is not None and event_id in proposal.events and not proposal.events[event_id].counts
        ):  # it is voided or superseded now
            row, event_changes = proposal.events[event_id], ()
            status, reason = row.status, row.reason
        else:  # rating did not look at it: a duplicate from before the first that moved, or only its title is new
            row = get_event(connection, pool, event_id)
            status, reason, event_changes = row.status, row.reason, changes_of(connection, pool, key)
        warned = (warnings or {}).get(event_id, ())
        rows_changed = 0 if duplicate else others
        seq = key.seq if key.seq < FIRST_PLACEHOLDER else 0
        answers.append(
            Receipt(
                event_id=event_id,
                seq=seq,
                status=status,
                reason=reason,
                duplicate=duplicate,
                changes=event_changes,
                rerated=rows_changed,
                effects=(),
                totals=None,
                next=None,
                warnings=warned,
                head=done.head,
                notice="" if duplicate or rerated is None else rerated.notice,
            )
        )
    if done.effects is not None and answers:
        effects = done.effects
        answers[0] = replace(answers[0], effects=effects.listed, totals=effects.totals, next=effects.next)
    return answers


def changes_among(
    connection: sa.Connection, pool: Pool, keys: Iterable[OrderKey], done: Done
) -> dict[OrderKey, tuple[Change, ...]]:
    """The changes of events that were rated just now, in the order of their rows; no statement reads them again."""
    if done.rerated is None:
        return {}
    rows = {key: done.rerated.rows.get(key, ()) for key in keys}
    numbers = {number for moved in rows.values() for number, *_ in moved}
    names = dict(done.proposal.names) if done.proposal else {}
    if numbers - names.keys():
        names |= names_of(connection, pool, numbers - names.keys())
    made = iter(changes_from(pool, names, [each for moved in rows.values() for each in moved]))
    return {key: tuple(islice(made, len(moved))) for key, moved in rows.items()}
