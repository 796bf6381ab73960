"""The log rated anew, from nothing, against everything that is kept: bit for bit."""

from typing import Any

import numpy as np
import sqlalchemy as sa

from podium.live import Live
from podium.store.rerating import START, Key, Ledger, Pool, Row, bucket, ledger_from, rated, suffix
from podium.store.schema import player, rank_count, standing

MOST = 20  # differences that are told


def differences(connection: sa.Connection, of: Pool) -> list[str]:
    """What differs, the first few, in words; nothing where all is well."""
    table, keys = suffix(connection, of, START)
    found = connection.execute(sa.select(player.c.id, player.c.name).where(player.c.pool_id == of.id)).all()
    ids = {row.name: row.id for row in found}
    unknown = sorted(set(table["player"]) - set(ids))
    if unknown:
        return [f"{of.name}: player {unknown[0]!r} of the log is not kept"]
    truth = rated(of, Live(of.system), table, keys, ids)
    names = {row.id: row.name for row in found}
    told = [*ledger_differences(of, names, ledger_from(connection, of.id, START), truth)]
    told += standing_differences(connection, of, names, truth)
    return told[:MOST]


def ledger_differences(of: Pool, names: dict[int, str], kept: Ledger, truth: Ledger) -> list[str]:
    """Rows of the ledger."""
    told = []
    for key in sorted(kept.keys() | truth.keys()):
        was, is_ = kept.get(key), truth.get(key)
        if was is None or is_ is None or not same(was, is_):
            what = "is kept and should not be" if is_ is None else "is not kept" if was is None else "is another"
            told.append(f"{of.name}: the change of {names[key[2]]!r} in the event of log entry {key[1]} {what}")
    return told


def same(one: Row, two: Row) -> bool:
    """Whether two rows have the same bits."""
    bits = [np.array([row.rating_before, row.rating]).tobytes() for row in (one, two)]
    return bits[0] == bits[1] and one.state == two.state and one.place == two.place


def standing_differences(connection: sa.Connection, of: Pool, names: dict[int, str], truth: Ledger) -> list[str]:
    """States, and counts of ranks."""
    newest: dict[int, tuple[Key, Row]] = {}
    for (at, seq, number), row in sorted(truth.items(), key=lambda item: item[0]):
        newest[number] = (Key(at, seq), row)
    kept: dict[int, Any] = {
        row.player_id: row for row in connection.execute(sa.select(standing).where(standing.c.pool_id == of.id))
    }
    told = []
    for number in sorted(newest.keys() | kept.keys()):
        held = kept.get(number)
        if number not in newest:
            told.append(f"{of.name}: the state of {names[number]!r} is kept and should not be")
        elif held is None or (held.state, held.started_at, held.seq) != (newest[number][1].state, *newest[number][0]):
            told.append(f"{of.name}: the state of {names[number]!r} is not the last of the ledger")
    counts: dict[int, int] = {}
    for _, last in newest.values():
        counts[bucket(last.rating)] = counts.get(bucket(last.rating), 0) + 1
    found = sa.select(rank_count).where(rank_count.c.pool_id == of.id)
    kept_counts = {row.bucket: row.players for row in connection.execute(found)}
    for at in sorted(counts.keys() | kept_counts.keys()):
        if counts.get(at, 0) != kept_counts.get(at, 0):
            is_, was = counts.get(at, 0), kept_counts.get(at, 0)
            told.append(f"{of.name}: {was} players are counted from {at} to {at + 1}, and there are {is_}")
    return told
