"""The store as its users see it: what goes into the log, each in one transaction, done whole or not at all."""

import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from podium.engine.system import System
from podium.store.derive import snapshots
from podium.store.log import players
from podium.store.log.log import PSEUDONYMISE, RENAME, append, json_entry
from podium.store.log.pools import Pool, lock_pool, refuse_other_arithmetic
from podium.store.read.event_reader import EventReader
from podium.store.sql.database import UnavailableError, write_transaction
from podium.store.sql.files import truncate_wal
from podium.store.write import accounts, administration, naming, registrations, submission
from podium.store.write.receipts import Receipt
from podium.store.write.registrations import HOLD_S, RegisteredMatch
from podium.store.write.submission import Submission

LOGGER = logging.getLogger(__name__)


class Store(EventReader):
    """Pools of results with their ratings, in a database.

    Every method is one transaction: done whole, or not at all. Writers to a pool take turns. All that take a pool's
    name raise `UnknownError` where there is none. With `dry_run` a correction lists its effects and stores nothing.
    """

    @contextmanager
    def writing(self, pool_name: str, *, dry_run: bool = False) -> Iterator[tuple[sa.Connection, Pool]]:
        """A transaction that has a pool to itself; with `dry_run` one that leaves nothing.

        Raises:
            StoreError: another revision of the arithmetic rated the pool.
        """
        with self.locking(pool_name, dry_run=dry_run) as (connection, pool):
            refuse_other_arithmetic(pool)
            yield connection, pool

    @contextmanager
    def locking(self, pool_name: str, *, dry_run: bool = False) -> Iterator[tuple[sa.Connection, Pool]]:
        """As `writing`, also where another arithmetic rated the pool: for what rates it from its first event on."""
        with write_transaction(self.engine, dry_run=dry_run) as connection:
            yield connection, lock_pool(connection, pool_name)
        self.writes[pool_name] += not dry_run

    # Pools

    def create_pool(self, name: str, system: System, *, actor: str = "") -> None:
        """Open a ladder.

        Raises:
            StoreError: there is one of that name.
            ParameterError: the rule for names refuses it.
        """
        with write_transaction(self.engine) as connection:
            administration.create(connection, name, system, actor)

    def configure(self, pool_name: str, system: System, *, actor: str = "") -> int:
        """Rate a pool with another system from its first event on.

        Returns:
            How many rows of the ledger changed.

        Raises:
            ResultsError: an event lacks what the system needs.
        """
        with self.locking(pool_name) as (connection, pool):
            return len(administration.configure(connection, pool, system, actor).written)

    def begin_season(self, pool_name: str, name: str, starts: datetime, *, keep: float, actor: str = "") -> int:
        """Shrink every lead over a newcomer to the share `keep` at a moment.

        Args:
            starts: the moment, with its zone.
            keep: from 0 (all start level) to 1 (nothing changes).

        Returns:
            How many rows of the ledger changed.

        Raises:
            ParameterError: the share is not from 0 to 1.
            StoreError: there is another season of that name.
        """
        with self.writing(pool_name) as (connection, pool):
            rerated = administration.begin_season(connection, pool, name, starts, keep, actor)
            return len(rerated.written) if rerated else 0

    # Results

    def submit(
        self,
        pool_name: str,
        rows: Any,
        *,
        actor: str = "",
        match_ids: Mapping[str, str] | None = None,
        dry_run: bool = False,
    ) -> list[Receipt]:
        """Take the results of one event or several; each once, however often it is sent.

        Args:
            actor: who sent it, for the log.
            dry_run: store nothing, and list every change that would come.
            rows: as `podium.rate` takes results; `started_at` is required.
            match_ids: the registered match of each event that is the result of one.

        Returns:
            A receipt for each event, in the order of the rows.

        Raises:
            ResultsError: the rows are refused, or an event lacks what the system needs.
            ConflictError: an event is known with other content; `amend` corrects one.
            UnknownError: no such pool or match.
            StoreError: a match has expired.
        """
        with self.writing(pool_name, dry_run=dry_run) as (connection, pool):
            return submission.submit(connection, pool, rows, actor, match_ids or {}, dry_run=dry_run)

    def submit_each(self, pool_name: str, sent: Sequence[Submission]) -> list[list[Receipt] | Exception]:
        """Take what several sent, in one transaction if all of it can be taken.

        What one of them raises, whatever it is, keeps nobody else's results out. No event may be in two of them.

        Args:
            sent: the rows, actor and match ids of each.

        Returns:
            In the order of `sent`: each one's receipts, or what it raised; a `PodiumError` where it was refused.
        """
        try:
            if len(sent) > 1:
                with self.writing(pool_name) as (connection, pool):
                    return [*submission.submit_together(connection, pool, sent)]
        except UnavailableError as error:
            return [error] * len(sent)  # each alone would wait for it as long again
        except Exception as error:  # noqa: BLE001  (raised again below, where its sender is known)
            # Fall through: the transaction took nothing, and the error does not say whose rows are at fault. Each is
            # taken alone below, which refuses the faulty ones, with an error of their own, and stores the others.
            LOGGER.debug("pool %s: %d submissions are taken one by one, not together: %s", pool_name, len(sent), error)
        outcomes: list[list[Receipt] | Exception] = []
        for rows, actor, match_ids in sent:
            try:
                outcomes.append(self.submit(pool_name, rows, actor=actor, match_ids=match_ids))
            except UnavailableError as error:
                return [*outcomes, *[error] * (len(sent) - len(outcomes))]
            except Exception as error:  # noqa: BLE001  (its sender is answered with it, the others with their receipts)
                outcomes.append(error)
        return outcomes

    def amend(self, pool_name: str, rows: Any, *, actor: str = "", dry_run: bool = False) -> Receipt:
        """Correct an event; every rating becomes what it would have been.

        Args:
            rows: the event as it should have been, as `podium.rate` takes results.

        Returns:
            A receipt; with `dry_run` it has every change that would come.

        Raises:
            UnknownError: no such pool or event.
            ResultsError: the rows are refused, or are not one event.
        """
        with self.writing(pool_name, dry_run=dry_run) as (connection, pool):
            return submission.amend(connection, pool, rows, actor, dry_run=dry_run)

    def void(self, pool_name: str, event_id: str, *, actor: str = "", dry_run: bool = False) -> Receipt:
        """Let an event count for nothing; its content stays in the log.

        Returns:
            A receipt; with `dry_run` it has every change that would come.

        Raises:
            UnknownError: no such pool or event.
        """
        with self.writing(pool_name, dry_run=dry_run) as (connection, pool):
            return submission.void(connection, pool, event_id, actor, dry_run=dry_run)

    def restore(self, pool_name: str, event_id: str, *, actor: str = "", dry_run: bool = False) -> Receipt:
        """Let a voided event count again.

        Returns:
            A receipt; with `dry_run` it has every change that would come.

        Raises:
            UnknownError: no such pool or event.
        """
        with self.writing(pool_name, dry_run=dry_run) as (connection, pool):
            return submission.restore(connection, pool, event_id, actor, dry_run=dry_run)

    def register(
        self, pool_name: str, match_id: str, entrants: Sequence[Any], *, held_s: float = HOLD_S, actor: str = ""
    ) -> RegisteredMatch:
        """Register a match that starts: its result counts once, and who is missing from it has quit.

        Args:
            entrants: names, or a `player` and a `team` each.
            held_s: seconds that it waits for a result; a match without one costs nobody anything.

        Returns:
            The match as it stands.

        Raises:
            ParameterError: no entrants, one twice, or a `held_s` that is not above 0 or over 31 days.
            ResultsError: one player stands there twice, by two names.
            StoreError: a match of that id has other entrants.
        """
        with self.writing(pool_name) as (connection, pool):
            registrations.register(connection, pool, match_id, entrants, held_s, actor)
            return registrations.match_of(connection, pool, match_id)

    # Players

    def merge(self, pool_name: str, name: str, into: str, *, actor: str = "") -> int:
        """Let one player's results be another's, from the first on.

        Returns:
            How many rows of the ledger changed.

        Raises:
            UnknownError: no such pool, or no such player has a rating.
            StoreError: they are one, or either was merged away itself.
            ResultsError: they met in an event that counts.
        """
        with self.writing(pool_name) as (connection, pool):
            rerated = accounts.merge(connection, pool, name, into, actor)
            return len(rerated.written) if rerated else 0

    def unmerge(self, pool_name: str, name: str, *, actor: str = "") -> int:
        """Let a merged account be a player of its own again, as if that merge had never been.

        Results that came under its name since are its own too; accounts that were merged into it before stay so.

        Returns:
            How many rows of the ledger changed; 0 where it is a player of its own already.

        Raises:
            UnknownError: no such pool or player.
            StoreError: the account was never merged into another.
        """
        with self.writing(pool_name) as (connection, pool):
            rerated = accounts.unmerge(connection, pool, name, actor)
            return len(rerated.written) if rerated else 0

    def rename(self, pool_name: str, name: str, new: str, *, actor: str = "") -> None:
        """Call a player otherwise, everywhere; no rating moves, and results under the old name are still theirs.

        Raises:
            UnknownError: no such pool or player.
            StoreError: another player has the name.
        """
        with self.writing(pool_name) as (connection, pool):
            number = players.rename(connection, pool, name, new)
            append(connection, pool, RENAME, [json_entry(str(number), None, actor)])  # no name goes into the log

    def name_players(self, pool_name: str, names: Mapping[str, str], *, actor: str = "") -> list[str]:
        """Call players by the names that an import has for their ids; results under the ids are still theirs.

        Args:
            names: by id; players who are not in the pool are left aside.

        Returns:
            Why a player is not called so, a sentence each.
        """
        with self.writing(pool_name) as (connection, pool):
            return naming.name_players(connection, pool, names, actor)

    def pseudonymise(self, pool_name: str, name: str, *, actor: str = "") -> str:
        """Forget every name that a player had, everywhere. No rating moves.

        Returns:
            The pseudonym.

        Raises:
            UnknownError: no such pool or player.
        """
        with self.writing(pool_name) as (connection, pool):
            number, pseudonym = players.pseudonymise(connection, pool, name)
            append(connection, pool, PSEUDONYMISE, [json_entry(str(number), None, actor)])
        truncate_wal(self.engine)  # which has the name; a reader may put it off, to `close` at the latest
        return pseudonym

    def snapshot(self, pool_name: str, day: int | None = None) -> dict[int, int]:
        """Keep the ranks of a day's 00:00 UTC, and take again what a correction has spoilt.

        Args:
            day: since 1970; today where None. Nothing is done for a day that has them.

        Returns:
            Players ranked, by day since 1970; empty where nothing was due.

        Raises:
            ParameterError: the day is in the future.
        """
        with self.reading(pool_name) as (connection, pool):
            if not snapshots.due_days(connection, pool, day):
                return {}
        with self.writing(pool_name) as (connection, pool):
            return {each: snapshots.take(connection, pool, each) for each in snapshots.due_days(connection, pool, day)}
