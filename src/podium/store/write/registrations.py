"""Matches that a server registers when they start: one result counts, and who is missing from it has quit."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from podium.errors import ParameterError, UnknownError
from podium.results.names import admit
from podium.store.derive.proposal import SUPERSEDED, VOIDED, EventRow
from podium.store.log.content import Absent, Content
from podium.store.log.log import REGISTER, append, json_entry
from podium.store.log.players import admit_names, merges, names_of, numbers_of
from podium.store.log.pools import OrderKey, Pool
from podium.store.sql.database import StoreError
from podium.store.sql.schema import event, log, registration
from podium.store.sql.timestamps import instant, now
from podium.store.write.one_player import refuse_entrant_twice

OPEN, REPORTED, EXPIRED = "open", "reported", "expired"
HOLD_S = 86_400.0  # seconds that a match waits for its result, by default
MAX_HOLD_S = 31 * HOLD_S
SELECT_REGISTRATION = (
    sa.select(registration.c.seq, registration.c.expires_at, log.c.body)
    .join(log, log.c.seq == registration.c.seq)
    .where(registration.c.pool_id == sa.bindparam("pool"), registration.c.match_id == sa.bindparam("match"))
)
SELECT_RESULTS = (
    sa.select(event)
    .where(event.c.pool_id == sa.bindparam("pool"), event.c.match_id == sa.bindparam("match"))
    .order_by(event.c.present.desc(), event.c.seq)
)


@dataclass(frozen=True, slots=True)
class RegisteredMatch:
    """A match that was registered."""

    match_id: str = field(metadata={"description": "The match."})
    entrants: tuple[str, ...] = field(metadata={"description": "Who plays, by their names as they are now."})
    expires_at: datetime = field(metadata={"description": "Until when it waits for a result."})
    status: str = field(
        metadata={"description": "What became of it.", "json_schema_extra": {"enum": [OPEN, REPORTED, EXPIRED]}}
    )
    results: tuple[str, ...] = field(metadata={"description": "Its results, the event that counts first."})


def register(
    connection: sa.Connection, pool: Pool, match_id: str, entrants: Sequence[Any], held_s: float, actor: str
) -> None:
    """Register a match, once.

    Args:
        entrants: names, or a `player` and a `team` each.
        held_s: seconds that it waits for a result.

    Raises:
        ParameterError: no entrants, one twice, a name that the rule refuses, or a time that is not above 0 and up to
            31 days.
        ResultsError: one player stands there twice, by two names.
        StoreError: a match of that id has other entrants.
    """
    rows = [each if isinstance(each, Mapping) else {"player": each} for each in entrants]
    names = admit_names(connection, pool, [str(each["player"]) for each in rows])
    teams = [None if each.get("team") is None else admit(str(each["team"]), "team") for each in rows]
    admit(match_id, "a match's id")
    if not names or len(set(names)) < len(names):
        raise ParameterError("entrants: a match has one at least, and none twice")
    if not 0.0 < held_s <= MAX_HOLD_S:
        raise ParameterError(f"a match waits for its result above 0 and up to {MAX_HOLD_S:.0f} seconds, not {held_s}")
    numbers = numbers_of(connection, pool, names)
    entrants_by_number = [{"player": numbers[name], "team": team} for name, team in zip(names, teams, strict=True)]
    known = connection.execute(SELECT_REGISTRATION, {"pool": pool.id, "match": match_id}).first()
    if known is not None:
        if json.loads(known.body)["entrants"] != entrants_by_number:
            raise StoreError(f"match {match_id!r} is registered already, with other entrants")
        return
    refuse_entrant_twice(connection, pool, match_id, names, numbers)
    expires_at = now() + round(held_s * 1e6)
    body = {"entrants": entrants_by_number, "expires_at": expires_at}
    (seq,), _ = append(connection, pool, REGISTER, [json_entry(match_id, body, actor)])
    registration_row = {"pool_id": pool.id, "match_id": match_id, "seq": seq, "expires_at": expires_at}
    connection.execute(sa.insert(registration), registration_row)


def get_registration(connection: sa.Connection, pool: Pool, match_id: str) -> Any:
    """A registration's row, with its body.

    Raises:
        UnknownError: there is none.
    """
    row = connection.execute(SELECT_REGISTRATION, {"pool": pool.id, "match": match_id}).first()
    if row is None:
        raise UnknownError(f"no match {match_id!r} is registered in pool {pool.name!r}")
    return row


def match_of(connection: sa.Connection, pool: Pool, match_id: str) -> RegisteredMatch:
    """A match, and what came of it.

    Raises:
        UnknownError: there is none.
    """
    row = get_registration(connection, pool, match_id)
    numbers = [each["player"] for each in json.loads(row.body)["entrants"]]
    names = names_of(connection, pool, numbers)
    results = connection.execute(SELECT_RESULTS, {"pool": pool.id, "match": match_id}).all()
    standing = [each.event_id for each in results if each.status not in (VOIDED, SUPERSEDED)]
    others = [each.event_id for each in results if each.event_id not in standing]
    status = REPORTED if results else EXPIRED if row.expires_at < now() else OPEN
    return RegisteredMatch(
        match_id, tuple(names[each] for each in numbers), instant(row.expires_at), status, (*standing, *others)
    )


def waiting_matches(connection: sa.Connection, pool: Pool) -> list[str]:
    """The ids of the matches that wait for a result, the first to expire first."""
    reported = sa.exists().where(event.c.pool_id == pool.id, event.c.match_id == registration.c.match_id)
    unreported = (
        sa.select(registration.c.match_id)
        .where(registration.c.pool_id == pool.id, registration.c.expires_at >= now(), ~reported)
        .order_by(registration.c.expires_at)
        .limit(1000)
    )
    return list(connection.execute(unreported).scalars())


def attendance(
    connection: sa.Connection,
    pool: Pool,
    match_id: str | None,
    content: Content,
    numbers: Mapping[str, int],
    *,
    late: bool,
) -> tuple[int | None, list[Absent]]:
    """How many of a match's entrants a result has, and who is missing from it; None and nobody without a match.

    Args:
        late: whether a result is taken after the match expired.

    Raises:
        UnknownError: the match is not registered.
        StoreError: it has expired.
    """
    if match_id is None:
        return None, []
    row = get_registration(connection, pool, match_id)
    if row.expires_at < now() and not late:
        raise StoreError(f"match {match_id!r} has expired; if the result should count, send it without match_id")
    merged = merges(connection, pool)
    players_present = {merged.get(numbers[name], numbers[name]) for name in content.players}
    entrants = {merged.get(each["player"], each["player"]): each for each in json.loads(row.body)["entrants"]}
    absent = [
        Absent(each["player"], each["team"]) for number, each in entrants.items() if number not in players_present
    ]
    return len(entrants) - len(absent), absent


def choose_result(
    connection: sa.Connection, pool: Pool, match_id: str | None, events: dict[str, EventRow]
) -> list[OrderKey]:
    """Let the result with most of the entrants stand, the first of equals.

    Args:
        connection: only reads.
        pool: of the match.
        match_id: of the match; nothing is done where None.
        events: those that are to be new or other, by id; those that it moves are added.

    Returns:
        The positions of those that it moved.
    """
    if match_id is None:
        return []
    stored = connection.execute(SELECT_RESULTS, {"pool": pool.id, "match": match_id}).all()
    results = {row.event_id: EventRow.from_row(row) for row in stored}
    results |= {each.event_id: each for each in events.values() if each.match_id == match_id}
    moved, first = [], True
    for each in sorted(results.values(), key=lambda each: (-(each.present or 0), each.seq)):
        if each.status == VOIDED:
            continue
        if first == (each.status == SUPERSEDED):
            status = "" if first else SUPERSEDED
            events[each.event_id] = each._replace(status=status, reason=status)
            moved.append(each.key)
        first = False
    return moved
