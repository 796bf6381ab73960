"""Log entries of a proposal, and the rows that are stored beside the log."""

from collections.abc import Mapping
from dataclasses import replace

import sqlalchemy as sa

from podium.log.log import RERATE, SUBMIT, Logged, append
from podium.log.pools import OrderKey, Pool, PoolView
from podium.log.schema import brought, event, merged, pools, season, sheet, witness
from podium.log.statements import insert, of_pool, upsert
from podium.pool.moves import Moves
from podium.pool.snapshot import REASONS, STATUSES, Snapshot
from podium.pool.witness import digests, part_of
from podium.store.writing.rating.events import (
    FIRST_PLACEHOLDER,
    RATED,
    EventRow,
    Proposal,
)

CORRECTED = ("seq", "content_seq", "started_at", "status", "reason", "present", "title", "url")  # of an event's row
FOLLOW_EVENT = (  # what sheets brought stays what they brought, in another order
    sa.update(brought)
    .where(
        of_pool(brought),
        brought.c.event_id == sa.bindparam("event"),
        brought.c.content_seq
        == sa.select(event.c.content_seq)
        .where(of_pool(event), event.c.event_id == sa.bindparam("event"))
        .scalar_subquery(),
    )
    .values(content_seq=sa.bindparam("new_content_seq"))
)
UPDATE_EVENT = (
    sa.update(event)
    .where(of_pool(event), event.c.event_id == sa.bindparam("event"))
    .values({name: sa.bindparam(f"new_{name}") for name in CORRECTED})
)


UPDATE_STATUS = (
    sa.update(event)
    .where(of_pool(event), event.c.event_id == sa.bindparam("event"))
    .values(status=sa.bindparam("status"), reason=sa.bindparam("reason"))
)
COUNT_WITNESS = sa.select(sa.func.count()).where(of_pool(witness), witness.c.part < sa.bindparam("first"))
DELETE_WITNESS = sa.delete(witness).where(of_pool(witness), witness.c.part >= sa.bindparam("first"))
SELECT_STATUSES = sa.select(event.c.event_id, event.c.status, event.c.reason).where(of_pool(event))


def record(proposal: Proposal) -> tuple[Proposal, Logged]:
    """Log what is proposed, and bring the tables up to date but for what rating gives."""
    pool, connection = proposal.pool, proposal.pool.connection
    logged = append(pool, proposal.kind, proposal.entries)
    numbers = {FIRST_PLACEHOLDER + k: seq for k, seq in enumerate(logged.seqs)}
    recorded = with_numbers(proposal, numbers)
    submitted = {each.subject for each in proposal.entries if (each.kind or proposal.kind) == SUBMIT}
    new = [each for event_id, each in recorded.events.items() if event_id in submitted]
    other = [each for event_id, each in recorded.events.items() if event_id not in submitted]
    if new:
        insert(connection, event, [(pool.id, *each[:-1]) for each in new])
    if other and recorded.changes_order:
        connection.execute(FOLLOW_EVENT, [event_changes(pool, each) for each in other])
    if other:
        connection.execute(UPDATE_EVENT, [event_changes(pool, each) for each in other])
    if recorded.merged is not None:
        connection.execute(sa.delete(merged).where(merged.c.pool_id == pool.id))
        rows = [{"pool_id": pool.id, "player_id": each, "into_id": end} for each, end in recorded.merged.items()]
        if rows:
            connection.execute(sa.insert(merged), rows)
    if recorded.season is not None:
        connection.execute(sa.insert(season), {"pool_id": pool.id} | recorded.season._asdict())
    if recorded.columns:
        connection.execute(sa.update(pools).where(pools.c.id == pool.id).values(dict(recorded.columns)))
    keep_sheet(recorded)
    return recorded, logged


def keep_sheet(proposal: Proposal) -> None:
    pool, kept = proposal.pool, proposal.sheet
    if kept is not None:
        upsert(pool.connection, sheet, [(pool.id, kept.name, kept.map)])
        upsert(pool.connection, brought, [(pool.id, kept.name, *each) for each in kept.events])


def with_numbers(proposal: Proposal, numbers: Mapping[int, int]) -> Proposal:
    events = {
        event_id: each._replace(
            seq=numbers.get(each.seq, each.seq), content_seq=numbers.get(each.content_seq, each.content_seq), body=None
        )
        for event_id, each in proposal.events.items()
    }
    affected = tuple(OrderKey(key.started_at, numbers.get(key.seq, key.seq)) for key in proposal.affected)
    kept = proposal.sheet
    if kept is not None:
        brought_now = [
            each._replace(content_seq=numbers.get(each.content_seq, each.content_seq)) for each in kept.events
        ]
        kept = kept._replace(events=brought_now)
    season_ = proposal.season
    begun = None if season_ is None else season_._replace(seq=numbers.get(season_.seq, season_.seq))
    return replace(proposal, events=events, affected=affected, season=begun, sheet=kept)


def event_changes(pool: Pool, each: EventRow) -> dict[str, object]:
    return {"pool": pool.id, "event": each.event_id} | {f"new_{name}": getattr(each, name) for name in CORRECTED}


def update_statuses(pool: PoolView, recorded: Proposal, moves: Moves) -> None:
    """Let the rows of events have the status that rating gives them."""
    events = moves.after.events
    rated = RATED, ""
    recorded_as = ((each, (row.status, row.reason)) for each, row in recorded.events.items())
    own = {events.find(each): status for each, status in recorded_as if status != rated}
    if recorded.kind == RERATE:  # an earlier version may have stored others
        own = {events.find(each): (status, reason) for each, status, reason in pool.run(SELECT_STATUSES)}
    rows = []
    for uid in own.keys() | moves.ratings.statuses.keys():
        status, reason = STATUSES[events.columns.value("status", uid)], REASONS[events.columns.value("reason", uid)]
        if own.get(uid) != (status, reason):
            rows.append({"pool": pool.id, "event": events.ids[uid], "status": status, "reason": reason})
    if rows:
        pool.connection.execute(UPDATE_STATUS, rows)


def store_witness(pool: PoolView, snapshot: Snapshot, first_row: int = 0) -> None:
    """Store the digests of the ledger from a row on, or of all rows if earlier digests are missing."""
    first = part_of(first_row)
    ((known,),) = pool.run(COUNT_WITNESS, first=first)
    first = first if known == first else 0
    pool.run(DELETE_WITNESS, first=first)
    insert(pool.connection, witness, [(pool.id, first + k, each) for k, each in enumerate(digests(snapshot, first))])
