"""The store as its users see it: what goes into the log, each in one transaction, done whole or not at all."""

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from podium.engine.system import System
from podium.store.derive import snapshots
from podium.store.log import players, reasons
from podium.store.log.log import PSEUDONYMISE, RENAME, append, json_entry
from podium.store.log.pools import Pool, lock_pool, refuse_closed, refuse_other_arithmetic
from podium.store.log.reasons import admit_reason
from podium.store.read.event_reader import EventReader
from podium.store.sql.database import UnavailableError, write_transaction
from podium.store.sql.files import truncate_wal
from podium.store.write import accounts, administration, pool_import, registrations, submission
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
    def writing(
        self, pool_name: str, *, dry_run: bool = False, even_closed: bool = False
    ) -> Iterator[tuple[sa.Connection, Pool]]:
        """A transaction that has a pool to itself; with `dry_run` one that leaves nothing.

        Args:
            pool_name: the pool.
            dry_run: roll back in the end.
            even_closed: for what a closed pool takes, too: nothing that moves a rating.

        Raises:
            StoreError: another revision of the arithmetic rated the pool, or it is closed.
        """
        with self.locking(pool_name, dry_run=dry_run) as (connection, pool):
            refuse_other_arithmetic(pool)
            if not even_closed:
                refuse_closed(pool)
            yield connection, pool

    @contextmanager
    def locking(self, pool_name: str, *, dry_run: bool = False) -> Iterator[tuple[sa.Connection, Pool]]:
        """As `writing`, whatever rated the pool and whether or not it is closed."""
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
        with self.locking(pool_name) as (connection, pool):  # every event is rated anew, whatever rated it before
            refuse_closed(pool)
            return len(administration.configure(connection, pool, system, actor).written)

    def close_pool(self, pool_name: str, *, actor: str = "") -> bool:
        """Take nothing more for a pool; it can be read, and opened again.

        Names are still forgotten, and daily ranks stored: neither moves a rating.

        Returns:
            Whether it was open.
        """
        with self.writing(pool_name, even_closed=True) as (connection, pool):
            return administration.set_closed(connection, pool, actor, closed=True)

    def reopen_pool(self, pool_name: str, *, actor: str = "") -> bool:
        """Open a closed pool again.

        Returns:
            Whether it was closed.
        """
        with self.writing(pool_name, even_closed=True) as (connection, pool):
            return administration.set_closed(connection, pool, actor, closed=False)

    def delete_pool(self, pool_name: str) -> None:
        """Delete a closed pool: its log, all that derives from it, and the keys that opened it alone.

        Raises:
            StoreError: it is not closed.
        """
        with self.locking(pool_name) as (connection, pool):
            administration.delete(connection, pool)
        truncate_wal(self.engine)

    def import_pool(
        self, lines: Iterable[str], *, name: str | None = None, source: str = "the export"
    ) -> pool_import.Imported:
        """Store a pool that `export_pool` wrote, rate it, and compare all of it with its log.

        Args:
            lines: of the export.
            name: of the pool; that which it had where None.
            source: what errors call the lines.

        Returns:
            The pool's name, the head of its log, and how many events and changes were compared.

        Raises:
            StoreError: the lines are no pool's, the chain is broken, or there is a pool of that name.
            ParameterError: the pool's system or name is none.
        """
        with write_transaction(self.engine) as connection:
            return pool_import.import_lines(connection, lines, source, name)

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

    def amend(self, pool_name: str, rows: Any, *, actor: str = "", reason: str = "", dry_run: bool = False) -> Receipt:
        """Correct an event; every rating becomes what it would have been.

        Args:
            reason: why, for the log; it may be blanked later.
            rows: the event as it should have been, as `podium.rate` takes results.

        Returns:
            A receipt; with `dry_run` it has every change that would come.

        Raises:
            UnknownError: no such pool or event.
            ResultsError: the rows are refused, or are not one event.
        """
        with self.writing(pool_name, dry_run=dry_run) as (connection, pool):
            return submission.amend(connection, pool, rows, actor, reason=admit_reason(reason), dry_run=dry_run)

    def void(
        self, pool_name: str, event_id: str, *, actor: str = "", reason: str = "", dry_run: bool = False
    ) -> Receipt:
        """Let an event count for nothing; its content stays in the log.

        Args:
            reason: why, for the log; it may be blanked later.

        Returns:
            A receipt; with `dry_run` it has every change that would come.

        Raises:
            UnknownError: no such pool or event.
        """
        with self.writing(pool_name, dry_run=dry_run) as (connection, pool):
            return submission.set_voided(
                connection, pool, event_id, actor, voided=True, reason=admit_reason(reason), dry_run=dry_run
            )

    def restore(
        self, pool_name: str, event_id: str, *, actor: str = "", reason: str = "", dry_run: bool = False
    ) -> Receipt:
        """Let a voided event count again.

        Args:
            reason: why, for the log; it may be blanked later.

        Returns:
            A receipt; with `dry_run` it has every change that would come.

        Raises:
            UnknownError: no such pool or event.
        """
        with self.writing(pool_name, dry_run=dry_run) as (connection, pool):
            return submission.set_voided(
                connection, pool, event_id, actor, voided=False, reason=admit_reason(reason), dry_run=dry_run
            )

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

    def merge(self, pool_name: str, name: str, into: str, *, actor: str = "", reason: str = "") -> int:
        """Let one player's results be another's, from the first on.

        Args:
            reason: why, for the log; it may be blanked later.

        Returns:
            How many rows of the ledger changed.

        Raises:
            UnknownError: no such pool, or no such player has a rating.
            StoreError: they are one, or either was merged away itself.
            ResultsError: they met in an event that counts.
        """
        with self.writing(pool_name) as (connection, pool):
            rerated = accounts.merge(connection, pool, name, into, actor, admit_reason(reason))
            return len(rerated.written) if rerated else 0

    def unmerge(self, pool_name: str, name: str, *, actor: str = "", reason: str = "") -> int:
        """Let a merged account be a player of its own again, as if that merge had never been.

        Results that came under its name since are its own too; accounts that were merged into it before stay so.

        Args:
            reason: why, for the log; it may be blanked later.

        Returns:
            How many rows of the ledger changed; 0 where it is a player of its own already.

        Raises:
            UnknownError: no such pool or player.
            StoreError: the account was never merged into another.
        """
        with self.writing(pool_name) as (connection, pool):
            rerated = accounts.unmerge(connection, pool, name, actor, admit_reason(reason))
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

    def pseudonymise(self, pool_name: str, name: str, *, actor: str = "") -> str:
        """Forget every name that a player had, everywhere, and every reason that has one in it. No rating moves.

        Returns:
            The pseudonym.

        Raises:
            UnknownError: no such pool or player.
        """
        with self.writing(pool_name, even_closed=True) as (connection, pool):
            pseudonym = players.pseudonymise(connection, pool, name)
            append(connection, pool, PSEUDONYMISE, [json_entry(str(pseudonym.number), None, actor)])
            reasons.blank_naming(connection, pool, pseudonym.forgotten, actor)
        truncate_wal(self.engine)  # which has the name; a reader may put it off, to `close` at the latest
        return pseudonym.name

    def blank_reason(self, pool_name: str, seq: int, *, actor: str = "") -> None:
        """Forget the reason that a correction was given; that it was blanked is in the log.

        Args:
            seq: the number of the correction's log entry.

        Raises:
            UnknownError: no such pool, or the entry has no reason.
        """
        with self.writing(pool_name, even_closed=True) as (connection, pool):
            reasons.blank(connection, pool, seq, actor)
        truncate_wal(self.engine)

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
        with self.writing(pool_name, even_closed=True) as (connection, pool):
            return {each: snapshots.take(connection, pool, each) for each in snapshots.due_days(connection, pool, day)}
