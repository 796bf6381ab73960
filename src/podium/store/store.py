"""The store as its users see it: what goes into the log, each in one transaction, and what is read."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from typing import Any

import polars as pl
import sqlalchemy as sa

from podium.errors import Fault, ResultsError, UnknownError
from podium.rated import Rated, rate
from podium.results import Results
from podium.store import boards
from podium.store.content import checked, difference, digest, events_of
from podium.store.database import StoreError, locked, opened, reading
from podium.store.rerating import MERGE, START, VOIDED, Key, Pool, Rerated, chunks, found_pool, merges, rerate, suffix
from podium.store.schema import event, log, pool
from podium.store.verification import differences
from podium.systems.base import System

AMEND, RESTORE, SUBMIT, VOID = "amend", "restore", "submit", "void"
LONGEST = 200  # letters of a name


class ConflictError(StoreError):
    """The event is there already, with other content."""


@dataclass(frozen=True, slots=True)
class Receipt:
    """What became of an event that was sent."""

    event_id: str
    seq: int  # of its submission
    status: str  # rated, unrated, voided
    reason: str  # why it is not rated; empty where it is
    duplicate: bool  # it was known, with this very content
    changes: pl.DataFrame  # player, rating_before, rating, delta: of this event
    rerated: int  # ledger rows of other events that changed with it


class Store:
    """Pools of results with their ratings, in a database.

    Every method is one transaction: done whole, or not at all. Writers to a pool take turns.
    """

    def __init__(self, url: str) -> None:
        """Open the database, and bring its schema up to date.

        Args:
            url: a path of an SQLite file, or a URL of SQLAlchemy.

        Raises:
            StoreError: it cannot be opened.
        """
        self.engine = opened(url)

    def close(self) -> None:
        """Let the connections go."""
        self.engine.dispose()

    def create_pool(self, name: str, system: System) -> None:
        """Open a ladder.

        Raises:
            StoreError: there is one of that name, or the name is empty or too long.
        """
        if not name.strip() or len(name) > LONGEST:
            raise StoreError(f"a pool's name has 1 to {LONGEST} letters")
        parameters = {each.name: getattr(system, each.name) for each in fields(system)}
        told = {name: "none" if value is None else value for name, value in parameters.items()}
        with self.engine.begin() as connection:
            if found_pool(connection, name):
                raise StoreError(f"there is a pool {name!r} already")
            row = {"name": name, "system": system.name, "parameters": json.dumps(told)}
            connection.execute(sa.insert(pool), row)

    def pools(self) -> list[Pool]:
        """Every pool, by name."""
        with reading(self.engine).connect() as connection:
            return [Pool.loaded(row) for row in connection.execute(sa.select(pool).order_by(pool.c.name))]

    def submit(self, pool_name: str, rows: Any, *, actor: str = "") -> list[Receipt]:
        """Take the results of one event or several; each once, however often it is sent.

        Args:
            rows: as `podium.rate` takes results; `started_at` is required.

        Raises:
            UnknownError: no such pool.
            ResultsError: the rows are refused, or an event lacks what the system needs.
            ConflictError: an event is known with other content; `amend` corrects one.
        """
        with self.writing(pool_name) as (connection, of):
            told = events_of(checked(rows, of.name))
            known = known_events(connection, of, list(told))
            for row in known.values():
                refuse_other(connection, row, told[row.event_id][1])
            fresh = {event_id: each for event_id, each in told.items() if event_id not in known}
            receipts = added(connection, of, fresh, actor) if fresh else {}
            return [
                receipts[event_id] if event_id in fresh else receipt(connection, of, event_id, None, duplicate=True)
                for event_id in told
            ]

    def amend(self, pool_name: str, rows: Any, *, actor: str = "") -> Receipt:
        """Correct an event; every rating becomes what it would have been.

        Raises:
            UnknownError: no such pool or event.
            ResultsError: the rows are refused, or are not one event.
        """
        with self.writing(pool_name) as (connection, of):
            results = checked(rows, of.name)
            told = events_of(results)
            if len(told) != 1:
                raise ResultsError(results.source, [Fault(None, "event_id", None, "an amendment is of one event")])
            ((event_id, (started_at, content)),) = told.items()
            known = wanted_event(connection, of, event_id)
            old = Key(known.started_at, known.seq)
            (seq,) = append(connection, of, AMEND, {event_id: content}, actor).values()
            moved = {"content_seq": seq, "started_at": started_at}
            connection.execute(sa.update(event).where(same_event(of, event_id)).values(moved))
            new = Key(started_at, known.seq)
            return receipt(connection, of, event_id, rerate(connection, of, min(old, new)))

    def void(self, pool_name: str, event_id: str, *, actor: str = "") -> Receipt:
        """Let an event count for nothing; its content is kept.

        Raises:
            UnknownError: no such pool or event.
        """
        return self._mark(pool_name, event_id, VOID, VOIDED, actor)

    def restore(self, pool_name: str, event_id: str, *, actor: str = "") -> Receipt:
        """Let a voided event count again.

        Raises:
            UnknownError: no such pool or event.
        """
        return self._mark(pool_name, event_id, RESTORE, "", actor)

    def _mark(self, pool_name: str, event_id: str, kind: str, status: str, actor: str) -> Receipt:
        with self.writing(pool_name) as (connection, of):
            known = wanted_event(connection, of, event_id)
            key = Key(known.started_at, known.seq)
            if (known.status == VOIDED) == (status == VOIDED):
                return receipt(connection, of, event_id, None, duplicate=True)
            append(connection, of, kind, {event_id: b""}, actor)
            marked = {"status": status, "reason": "voided" if status else ""}
            connection.execute(sa.update(event).where(same_event(of, event_id)).values(marked))
            return receipt(connection, of, event_id, rerate(connection, of, key))

    def merge(self, pool_name: str, name: str, into: str, *, actor: str = "") -> int:
        """Let one player's results be another's, from the first on; how many ledger rows changed.

        Raises:
            UnknownError: no such pool, or no such player has a rating.
            StoreError: they are one, or `into` was merged away itself.
            ResultsError: they met in an event.
        """
        with self.writing(pool_name) as (connection, of):
            gone = merges(connection, of.id)
            if name == into:
                raise StoreError(f"{name!r} cannot be merged into itself")
            for each in (name, into):
                if each in gone:
                    raise StoreError(f"{each!r} was merged into {gone[each]!r}")
            boards.rank(connection, of, into)  # raises where there is no such player
            first = boards.first_event(connection, of, name)
            if first is None:
                raise boards.not_rated(of, name)
            append(connection, of, MERGE, {name: into.encode()}, actor)
            return len(rerate(connection, of, first).written)

    def leaderboard(self, pool_name: str, *, top: int = 100, after: tuple[float, int] | None = None) -> pl.DataFrame:
        """A page of the leaderboard; see `podium.store.boards.page`.

        Raises:
            UnknownError: no such pool.
        """
        with self.reading_pool(pool_name) as (connection, of):
            return boards.page(connection, of, top, after)

    def rank(self, pool_name: str, name: str) -> dict[str, Any]:
        """A player's rank, rating and percentile; see `podium.store.boards.rank`.

        Raises:
            UnknownError: no such pool or player.
        """
        with self.reading_pool(pool_name) as (connection, of):
            return boards.rank(connection, of, name)

    def player(self, pool_name: str, name: str) -> pl.DataFrame:
        """A player's history, newest first.

        Raises:
            UnknownError: no such pool or player.
        """
        with self.reading_pool(pool_name) as (connection, of):
            return boards.career(connection, of, name)

    def results(self, pool_name: str) -> Results:
        """The results that count, as they stand: a table that any replay rates to the same bits.

        Raises:
            UnknownError: no such pool.
        """
        with self.reading_pool(pool_name) as (connection, of):
            return standing_results(connection, of)

    def rated(self, pool_name: str) -> Rated:
        """The pool rated anew from its results: history, explanations, predictions, as the library has them.

        Raises:
            UnknownError: no such pool.
        """
        with self.reading_pool(pool_name) as (connection, of):
            return rate(standing_results(connection, of), of.system)

    def verify(self, pool_name: str | None = None) -> list[str]:
        """What differs between the log rated anew and what is kept, bit for bit; nothing where all is well.

        Raises:
            UnknownError: no such pool.
        """
        names = [each.name for each in self.pools()] if pool_name is None else [pool_name]
        told = []
        for name in names:
            with self.reading_pool(name) as (connection, of):
                told += differences(connection, of)
        return told

    @contextmanager
    def writing(self, pool_name: str) -> Iterator[tuple[sa.Connection, Pool]]:
        """A transaction that has a pool to itself."""
        with self.engine.begin() as connection:
            of = wanted_pool(connection, pool_name)
            locked(connection, of.id)
            yield connection, of

    @contextmanager
    def reading_pool(self, pool_name: str) -> Iterator[tuple[sa.Connection, Pool]]:
        """A transaction that sees one moment of a pool."""
        with reading(self.engine).connect() as connection:
            yield connection, wanted_pool(connection, pool_name)


def wanted_pool(connection: sa.Connection, name: str) -> Pool:
    """The pool of that name.

    Raises:
        UnknownError: there is none.
    """
    found = found_pool(connection, name)
    if found is None:
        raise UnknownError(f"there is no pool {name!r}")
    return found


def append(connection: sa.Connection, of: Pool, kind: str, bodies: dict[str, bytes], actor: str) -> dict[str, int]:
    """Write log entries; their sequence numbers by subject, drawn while the pool is locked."""
    if not bodies:
        return {}
    now = datetime.now(UTC).isoformat(timespec="microseconds")
    shared = {"pool_id": of.id, "kind": kind, "received_at": now, "actor": actor}
    rows = [{"subject": subject, "body": body, "digest": digest(body)} | shared for subject, body in bodies.items()]
    numbers = connection.execute(sa.insert(log).returning(log.c.seq, sort_by_parameter_order=True), rows).scalars()
    return dict(zip(bodies, numbers, strict=True))


def known_events(connection: sa.Connection, of: Pool, event_ids: list[str]) -> dict[str, Any]:
    """The rows of those events that there are."""
    found: dict[str, Any] = {}
    for some in chunks(event_ids):
        told = sa.select(event).where(event.c.pool_id == of.id, event.c.event_id.in_(some))
        found |= {row.event_id: row for row in connection.execute(told)}
    return found


def same_event(of: Pool, event_id: str) -> sa.ColumnElement[bool]:
    """The row of an event."""
    return sa.and_(event.c.pool_id == of.id, event.c.event_id == event_id)


def wanted_event(connection: sa.Connection, of: Pool, event_id: str) -> Any:
    """An event's row.

    Raises:
        UnknownError: there is none.
    """
    found = connection.execute(sa.select(event).where(same_event(of, event_id))).first()
    if found is None:
        raise UnknownError(f"there is no event {event_id!r} in pool {of.name!r}")
    return found


def refuse_other(connection: sa.Connection, known: Any, content: bytes) -> None:
    """Refuse content that is neither what an event was submitted with nor what it is now.

    Raises:
        ConflictError: it is neither.
    """
    told = sa.select(log.c.seq, log.c.body, log.c.digest).where(log.c.seq.in_([known.seq, known.content_seq]))
    rows = connection.execute(told.order_by(log.c.seq)).all()
    if digest(content) not in [row.digest for row in rows]:
        raise ConflictError(
            f"event {known.event_id!r} is known with other content: {difference(rows[-1].body, content)}"
        )


def receipt(
    connection: sa.Connection, of: Pool, event_id: str, done: Rerated | None, *, duplicate: bool = False
) -> Receipt:
    """What became of an event that was there."""
    row = wanted_event(connection, of, event_id)
    key = Key(row.started_at, row.seq)
    others = sum((at, seq) != key for at, seq, _ in done.written) if done else 0
    return Receipt(event_id, row.seq, row.status, row.reason, duplicate, boards.changes_of(connection, of, key), others)


def added(connection: sa.Connection, of: Pool, fresh: dict[str, tuple[int, bytes]], actor: str) -> dict[str, Receipt]:
    """Log and rate events that are new, each its start and content; their receipts."""
    seqs = append(connection, of, SUBMIT, {event_id: content for event_id, (_, content) in fresh.items()}, actor)
    keys = {event_id: Key(fresh[event_id][0], seq) for event_id, seq in seqs.items()}
    shared = {"pool_id": of.id, "status": "", "reason": ""}
    rows = [shared | {"event_id": name, "content_seq": key.seq} | key._asdict() for name, key in keys.items()]
    connection.execute(sa.insert(event), rows)
    done = rerate(connection, of, min(keys.values()))
    own = boards.changes_by_event(done, set(keys.values()))
    others = len(done.written) - sum(each.height for each in own.values())
    return {
        name: Receipt(name, key.seq, *done.marks[name], False, own.get(key, boards.NO_CHANGES), others)
        for name, key in keys.items()
    }


def standing_results(connection: sa.Connection, of: Pool) -> Results:
    """The results that count."""
    return Results(suffix(connection, of, START)[0], of.name)
