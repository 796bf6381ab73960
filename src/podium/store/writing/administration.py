"""Changes to a whole pool: its seasons, system, order and description, and closing or deleting it.

All of these changes except deletion are logged.
"""

import json
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields, replace
from datetime import UTC, datetime
from typing import Any, Unpack

import numpy as np
import polars as pl
import sqlalchemy as sa

from podium.engine.system import System
from podium.engine.tables.equipment import TEAM
from podium.errors import DOCS, ParameterError
from podium.ledger.reasons.standings import plain
from podium.live import refuse_share
from podium.log.content import head_begin, start_in
from podium.log.database import StoreError, delete_former_rows
from podium.log.log import (
    AMEND,
    CLOSE,
    CONFIGURE,
    DESCRIBE,
    REGISTER,
    REOPEN,
    SEASON,
    WITH_CONTENT,
    LogEntry,
    append,
    contents_of,
    json_entry,
)
from podium.log.players import admit_entrants, names_of, numbers_of, public_id, refuse_reserved
from podium.log.pools import (
    DATED,
    NUMBER_US,
    START,
    UNDATED,
    UNDATED_BODY,
    DescriptionChanges,
    Order,
    OrderKey,
    PoolDescription,
    PoolView,
    When,
    number_at,
    season_time,
    settings_of,
)
from podium.log.schema import api_key, log, pools
from podium.log.statements import instant, metadata, microseconds, now, of_pool
from podium.pool.snapshot import SEASON as SEASON_STATUS
from podium.pool.snapshot import STATUSES, Event
from podium.results.derived_heats import made_up, with_made_dates
from podium.results.names import admit, normalise
from podium.store.following import PoolReader
from podium.store.writing.proposals import Act, Proposal
from podium.store.writing.submission import find_registration, get_registration, refuse_entrant_twice
from podium.support.answers import answer, described
from podium.systems import find
from podium.version import ARITHMETIC
from podium.views.names import SUPERSEDED, VOIDED

SECRET_BYTES = 32


def create(
    connection: sa.Connection, name: str, system: System, actor: str, description: PoolDescription, order: Order | None
) -> None:
    refuse_reserved(normalise(name))
    pool = insert_pool(connection, name, system)
    append(pool, CONFIGURE, [system_entry(system, actor, order)])
    describe(pool, description, actor)


def describe(pool: PoolView, description: PoolDescription, actor: str) -> None:
    """Set the description of a pool, unless it already has this description."""
    if description != pool.description:
        append(pool, DESCRIBE, [json_entry("", asdict(description), actor)])
        pool.update(**description.columns())


def describe_pool(pool: PoolView, *, actor: str = "", **changes: Unpack[DescriptionChanges]) -> PoolDescription:
    """Change a pool's description or visibility, even if the pool is closed.

    Args:
        pool: the pool.
        actor: the sender, for the log.
        changes: `title`, `contact` (an email address or a page), `player_word` ("rider"), `time_zone`
            ("Europe/Berlin"), `points_scheme` ("f1 drop=2"), `display` ("factor=100 tiers=Bronze:0,Silver:1400"),
            `reports` ("50% 48h") and `public`. Omitted fields keep their values; an empty string clears a
            field.

    Returns:
        The complete description.

    Raises:
        ParameterError: a value is invalid.
    """
    description = pool.description.changed(**changes)
    describe(pool, description, actor)
    return description


def insert_pool(connection: sa.Connection, name: str, system: System) -> PoolView:
    """Store a new pool with an empty log."""
    name, secret = admit(name, "a pool's name"), secrets.token_bytes(SECRET_BYTES)
    row = configuration(system) | {"name": name, "secret": secret}
    try:  # no query may come before this one, because another transaction might create the pool in between
        (number,) = connection.execute(sa.insert(pools).returning(pools.c.id), row).scalars()
    except sa.exc.IntegrityError:
        raise StoreError(f"there is already a pool {name!r}") from None
    return PoolView(number, name, system, secret, connection=connection)


def configure(system: System) -> Act:
    """Change the pool's rating system, and recalculate ratings from its first event on. No reason is logged.

    Returns:
        The act. Its answer is the number of changed rows of the ledger.

    Raises:
        ResultsError: an event lacks values that the system needs.
    """

    def propose(pool: PoolReader, actor: str, _reason: str) -> Proposal:
        entry = system_entry(system, actor, pool.order)
        rated, columns = replace(pool, system=system, arithmetic=ARITHMETIC), configuration(system)
        return Proposal(rated, CONFIGURE, (entry,), columns=columns, refuses_unrateable=False)

    return propose


def configuration(system: System) -> dict[str, Any]:
    return {"system": system.name, "parameters": json.dumps(settings_of(system)), "arithmetic": ARITHMETIC}


def system_entry(system: System, actor: str, order: Order | None) -> LogEntry:
    refuse_nameless(system)
    # the order must come first, because only the first bytes are read for it
    ordered = {} if order is None else {"order": order}
    return json_entry("", ordered | {"system": system.name, "parameters": settings_of(system)}, actor)


def refuse_nameless(system: System) -> None:
    """Reject a system that its name will not identify later, such as one in a file or another program's class."""
    try:
        registered: Any = find(system.name)
    except ParameterError:
        registered = ()  # a type without instances
    if TEAM in system.kinds:
        raise ParameterError(
            f"{system.name}: shared=team works only for files. In a pool, use a shared:club column and shared=club."
        )
    own = {field.name: getattr(system, field.name) for field in fields(system)}
    if not (isinstance(system, registered) and type(registered(**own)) is type(system)):
        raise ParameterError(
            f"{system.name!r} cannot rate a pool, because a server finds systems by name. Use one of Podium's "
            f"systems, or install a package with an entry point ({DOCS}/own-system.md)."
        )


def begin_season(name: str, starts: When, keep: float, *, widens: bool = True) -> Act:
    """Begin a season, multiplying every lead over a newcomer by a share. No reason is logged.

    Args:
        name: the name of the season.
        starts: the time, or the number of the first event in a pool without dates.
        keep: the share of every lead to keep, from 0 (all start equal) to 1 (ratings do not change).
        widens: True to make ratings less certain by the points that are taken from them.

    Returns:
        The act. Its answer is the number of changed rows of the ledger.

    Raises:
        ParameterError: the share is not from 0 to 1.
        StoreError: another season with that name exists.
    """
    admitted = admit(name, "a season's name")
    refuse_share(keep)
    if isinstance(starts, datetime) and starts > datetime.now(UTC):
        raise ParameterError(f"{starts} is in the future. Begin the season at that time.")
    order, at = DATED if isinstance(starts, datetime) else UNDATED, season_time(starts)

    def propose(pool: PoolReader, actor: str, _reason: str) -> Proposal:
        season, events = public_id(pool, admitted), pool.snapshot.events
        if order != (pool.order or DATED):
            needed = "the number of its first event" if pool.is_undated else "a date"
            raise ParameterError(f"the start of a season of pool {pool.name!r} must be {needed}")
        if pool.is_undated and at >= ((events.newest_start or 0) // NUMBER_US + 1) * NUMBER_US:
            raise ParameterError(
                f"no. {plain(number_at(at))} is later than the next event. Begin the season at that event."
            )
        known = next((uid for uid, season_ in events.seasons.items() if season_.name == season), None)
        if known is not None:
            if (events.key(known).started_at, *events.seasons[known][1:]) == (at, keep, widens):
                return Proposal(pool, SEASON)
            raise StoreError(f"there is already a season {season!r}")
        entry = json_entry(season, {"started_at": at, "keep": keep, "widens": widens}, actor)
        return Proposal(pool, SEASON, (entry,), refuses_unrateable=False)

    return propose


MAX_EVENTS = 50  # the order of a pool with this many events cannot be changed
SELECT_ALL_CONTENTS = (
    sa.select(log.c.subject, log.c.body, log.c.received_at)
    .where(of_pool(log), log.c.kind.in_(WITH_CONTENT))
    .order_by(log.c.seq)
)


def set_order(order: Order, start: datetime | None = None, every: str = "") -> Act:
    """Order a pool's events by dates or by numbers, with one amendment per event. No reason is logged.

    Args:
        order: `dated` or `sequence`.
        start: the date of the first event. If None, each event gets the date that it had earlier, or else the date on
            which it was received.
        every: the time between consecutive events, such as 1w, or an empty string if all took place on one day.

    Returns:
        The act. Its answer is the number of changed rows of the ledger.

    Raises:
        StoreError: the pool has 50 events or more, or a season.
    """

    def propose(pool: PoolReader, actor: str, _reason: str) -> Proposal:
        if order == pool.order:
            return Proposal(pool, CONFIGURE)
        rows = events_to_order(pool, order)
        if order == UNDATED:
            starts, why = [NUMBER_US * number for number in range(1, len(rows) + 1)], "numbered, without dates"
        elif start is None:
            starts, why = in_order(rows, dates_in_log(pool)), "dated as before, or as it was received"
        else:
            ids = pl.DataFrame({"event_id": [row.event_id for row in rows]}, {"event_id": pl.String})
            made = with_made_dates(ids, start, every)["started_at"].to_physical()
            starts, why = in_order(rows, dict(zip(ids["event_id"], made, strict=True))), made_up(start, every)
        contents = contents_of(pool, [row.content_seq for row in rows])
        entries = [system_entry(pool.system, actor, order)]
        for row, at in zip(rows, starts, strict=True):
            was, begin = head_begin(row.event_id, pool.order, row.started_at), head_begin(row.event_id, order, at)
            body, digest = contents[row.content_seq]
            moved = body.replace(was.encode(), begin.encode())
            reason = f"order of the pool: {why}"
            entries.append(LogEntry(row.event_id, moved, actor, digest, row.match_id, row.present, reason, AMEND))
        return Proposal(replace(pool, order=order), CONFIGURE, tuple(entries), sets_order=True)

    return propose


def events_to_order(pool: PoolReader, order: Order) -> list[Event]:
    """Return the events of a pool whose order can be changed.

    Raises:
        StoreError: the pool has 50 events or more, or a season.
    """
    if order != (pool.order or DATED) and pool.snapshot.events.seasons:
        raise StoreError(
            f"pool {pool.name!r} has a season, so its order cannot change. Send its events to a new pool with the "
            f"order {order}"
        )
    events = pool.snapshot.events
    found = events.at(np.arange(min(events.size, MAX_EVENTS + len(events.seasons))))
    rows = [event for event in found if event.status != STATUSES[SEASON_STATUS]][:MAX_EVENTS]
    if len(rows) == MAX_EVENTS:
        raise StoreError(
            f"pool {pool.name!r} has {MAX_EVENTS} events or more, so its order cannot change. Send them to a new pool "
            f"with the order {order}"
        )
    return rows


def dates_in_log(pool: PoolReader) -> dict[str, int]:
    """Return each event's newest date in the log, or else its time of receipt, in microseconds since 1970."""
    dates: dict[str, int] = {}
    for subject, body, received_at in pool.execute(SELECT_ALL_CONTENTS):
        if body.startswith(UNDATED_BODY):
            dates.setdefault(subject, microseconds(datetime.fromisoformat(received_at)))
        else:
            dates[subject] = start_in(json.loads(body.partition(b"\n")[0]))
    return dates


def in_order(rows: Sequence[Event], dates: Mapping[str, int]) -> list[int]:
    """Return dates that keep events in their order.

    Each event keeps its own date, or gets the earliest date that is late enough.
    """
    last = OrderKey(START.started_at, 0)
    starts = []
    for row in rows:
        at = max(dates[row.event_id], last.started_at + (row.seq < last.seq))
        last = OrderKey(at, row.seq)
        starts.append(at)
    return starts


def close_pool(pool: PoolView, *, actor: str = "") -> bool:
    """Close a pool, so that it accepts no more changes. It can still be read, and reopened later.

    Names can still be deleted, and daily ranks are still stored, because neither affects ratings.

    Returns:
        True if the pool was open.
    """
    return set_closed(pool, actor, closed=True)


def reopen_pool(pool: PoolView, *, actor: str = "") -> bool:
    """Reopen a closed pool.

    Returns:
        True if the pool was closed.
    """
    return set_closed(pool, actor, closed=False)


def set_closed(pool: PoolView, actor: str, *, closed: bool) -> bool:
    """Close a pool, so that it accepts no more changes, or reopen it. Return False if it already was in that state."""
    if pool.closed == closed:
        return False
    append(pool, CLOSE if closed else REOPEN, [json_entry("", None, actor)])
    pool.update(closed=closed)
    return True


def delete(pool: PoolView) -> None:
    if not pool.closed:
        raise StoreError(
            f"Pool {pool.name!r} is open. Close it first with `podium pool close`, so that no one writes to it."
        )
    connection = pool.connection
    delete_former_rows(connection, [pool.id])
    for table in reversed(metadata.sorted_tables):
        if "pool_id" in table.c:
            connection.execute(sa.delete(table).where(table.c.pool_id == pool.id))
    connection.execute(sa.delete(api_key).where(api_key.c.pool == pool.name))
    connection.execute(sa.delete(pools).where(pools.c.id == pool.id))


OPEN, REPORTED, EXPIRED = "open", "reported", "expired"
HOLD_S = 86_400.0  # default time, in seconds, for which a match waits for its result
MAX_HOLD_S = 31 * HOLD_S
MAX_WAITING = 1_000  # maximum number of matches to list


@answer
class RegisteredMatch:
    """A registered match.

    Attributes:
        match_id: The match.
        entrants: Current names of the players in the match.
        expires_at: Time until which the match waits for a result.
        results: IDs of the events with the match's result, starting with the event that counts.
    """

    match_id: str
    entrants: tuple[str, ...]
    expires_at: datetime
    status: str = described("Status.", enum=[OPEN, REPORTED, EXPIRED])
    results: tuple[str, ...]


def register(
    pool: PoolReader, match_id: str, entrants: Sequence[Any], *, held_s: float = HOLD_S, actor: str = ""
) -> RegisteredMatch:
    """Register a match that is about to start.

    Only the first result of the match counts. Entrants who are missing from it are treated as having quit.

    Args:
        pool: the pool.
        match_id: the ID of the match.
        entrants: the entrants, as names or as dicts with `player` and `team`.
        held_s: number of seconds to wait for a result. If none arrives, nobody loses points.
        actor: the sender, for the log.

    Returns:
        The match.

    Raises:
        ParameterError: there are no entrants, one is repeated, or `held_s` is not above 0 and at most 31 days.
        ResultsError: the same player is entered twice under two names.
        StoreError: a match with that ID has different entrants.
    """
    _, names, teams = admit_entrants(pool, entrants)
    match_id = public_id(pool, admit(match_id, "a match's id"))
    if not names or len(set(names)) < len(names):
        raise ParameterError("entrants: a match needs at least one, and each may appear only once")
    if not 0.0 < held_s <= MAX_HOLD_S:
        raise ParameterError(
            f"a match can wait for its result for more than 0 and up to {MAX_HOLD_S:.0f} seconds, not {held_s}"
        )
    numbers = numbers_of(pool, names)
    entrants_by_number = [{"player": numbers[name], "team": team} for name, team in zip(names, teams, strict=True)]
    known = find_registration(pool, match_id)
    if known is not None:
        if known.entrants != entrants_by_number:
            raise StoreError(f"match {match_id!r} is already registered with different entrants")
        return match_of(pool, match_id)
    refuse_entrant_twice(pool, match_id, names, numbers)
    if pool.snapshot.events.fixtures.find(match_id) >= 0:
        raise StoreError(
            f"match {match_id!r}: there is already a fixture with that ID, and its result is the event with that ID"
        )
    expires_at = now() + round(held_s * 1e6)
    body = {"entrants": entrants_by_number, "expires_at": expires_at}
    append(pool, REGISTER, [json_entry(match_id, body, actor)])
    present = names_of(pool, numbers.values())
    return RegisteredMatch(match_id, tuple(present[numbers[player]] for player in names), instant(expires_at), OPEN, ())


def match_of(pool: PoolReader, match_id: str) -> RegisteredMatch:
    """Return a registered match with its outcome.

    Returns:
        The match with its entrants, state and expiry, and the event that is its result.

    Raises:
        UnknownError: the pool or the match does not exist.
    """
    match_id = public_id(pool, match_id)
    found, events = get_registration(pool, match_id), pool.snapshot.events
    numbers = [entrant["player"] for entrant in found.entrants]
    names = names_of(pool, numbers)
    results = sorted(
        events.of_uids(events.results_of(found.number)), key=lambda match: (-(match.present or 0), match.seq)
    )
    others = [result.event_id for result in results if result.status in (VOIDED, SUPERSEDED)]
    standing = [result.event_id for result in results if result.event_id not in others]
    status = REPORTED if results else EXPIRED if found.expires_at < now() else OPEN
    return RegisteredMatch(
        match_id, tuple(names[number] for number in numbers), instant(found.expires_at), status, (*standing, *others)
    )


def waiting_matches(pool: PoolReader) -> list[str]:
    """List the matches that are still waiting for a result.

    Returns:
        The IDs of the matches, sorted by expiry.
    """
    matches = pool.snapshot.events.matches
    expires_at, result = (matches.columns.part(name) for name in ("expires_at", "result"))
    waiting = np.flatnonzero((expires_at >= now()) & (result < 0))
    first = waiting[np.argsort(expires_at[waiting], kind="stable")[:MAX_WAITING]]
    return [matches.ids[number] for number in first.tolist()]
