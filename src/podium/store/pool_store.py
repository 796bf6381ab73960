"""Pools as a whole: opened, configured, closed, carried to another database; and how anything is written to one."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Any, TypeVar, Unpack

import sqlalchemy as sa

from podium.engine.system import System
from podium.store.log.pools import (
    SILENT,
    DescriptionChanges,
    Pool,
    PoolDescription,
    WriteObserver,
    ignore_times,
    locked_pool,
    refuse_closed,
    refuse_other_arithmetic,
    refuse_unwritable,
)
from podium.store.previews import Act, Preview, at_version, preview
from podium.store.rating.generations import clear_unread
from podium.store.reading.insights import StoryReader
from podium.store.sql.database import write_transaction
from podium.store.sql.files import truncate_wal
from podium.store.writing import administration, execution, pool_import, staging
from podium.store.writing.execution import Prepare

T = TypeVar("T")


class PoolStore(StoryReader):
    """Pools that are read, and administered."""

    observe_write: WriteObserver = staticmethod(ignore_times)  # a service counts the times

    @contextmanager
    def writing(self, pool_name: str, *, even_closed: bool = False) -> Iterator[tuple[sa.Connection, Pool]]:
        """A transaction that has a pool to itself.

        Args:
            pool_name: the pool.
            even_closed: for what a closed pool takes, too: nothing that moves a rating.

        Raises:
            StoreError: another revision of the arithmetic rated the pool, or it is closed.
        """
        with locked_pool(self.engine, pool_name, self.observe_write) as (connection, pool):
            (refuse_other_arithmetic if even_closed else refuse_unwritable)(pool)
            yield connection, pool
        self.writes[pool_name] += 1

    def _execute(
        self, pool_name: str, prepare: Prepare[T], admit_pool: Callable[[Pool], None] = refuse_unwritable
    ) -> T:
        """Do what is prepared to a pool that is admitted."""
        answer = staging.run(self.engine, pool_name, prepare, admit_pool, self.observe_write)
        self.writes[pool_name] += 1
        return answer

    def _run_or_dry_run(self, pool_name: str, prepare: Prepare[T], effects_after: str | None, *, dry_run: bool) -> T:
        """Do what is prepared, or only say what it would do."""
        if not dry_run:
            return self._execute(pool_name, prepare)
        with self.reading(pool_name) as (connection, pool):
            refuse_unwritable(pool)
            return execution.dry_run(connection, pool, prepare, effects_after)

    def preview(self, pool_name: str, act: Act) -> Preview:
        """Look at what an act would do; nothing is stored, and nobody waits.

        Args:
            act: of `podium.store.previews`.

        Returns:
            What would be another, and the version of the log that it was looked at with.

        Raises:
            PodiumError: the act is refused, as it would be if it were carried out.
        """
        with self.reading(pool_name) as (connection, pool):
            refuse_unwritable(pool)
            return preview(connection, pool, act)

    def carry_out(self, pool_name: str, act: Act, *, version: int, actor: str = "", reason: str = "") -> Any:
        """Do what was previewed, as it was seen, or not at all.

        Args:
            act: of `podium.store.previews`.
            version: of the log that it was looked at with.
            reason: why, for the log; it may be blanked later.

        Returns:
            The act's answer: a receipt, several, or how many rows of the ledger changed.

        Raises:
            StaleError: something else was done to the pool since.
            PodiumError: the act is refused.
        """
        return self._execute(pool_name, at_version(act(actor, reason), version))

    def clear_unread(self) -> int:
        """Delete what corrections have left behind that nobody reads any more, in short transactions.

        Returns:
            How many generations of a pool's ledger there were.
        """
        return clear_unread(self.engine)

    # Pools

    def create_pool(
        self, name: str, system: System, *, actor: str = "", **description: Unpack[DescriptionChanges]
    ) -> None:
        """Open a ladder.

        Args:
            description: as `describe_pool` takes it.

        Raises:
            StoreError: there is one of that name.
            ParameterError: the rule for names refuses it, a page of the service has its address, or a text of the
                description is not what it has to be.
        """
        admitted = SILENT.changed(**description)
        with write_transaction(self.engine) as connection:
            administration.create(connection, name, system, actor, admitted)

    def describe_pool(
        self, pool_name: str, *, actor: str = "", **changes: Unpack[DescriptionChanges]
    ) -> PoolDescription:
        """Change what a pool says of itself, or who may read it; a closed one takes that, too.

        Args:
            changes: `title`, `contact` (a mail address or that of a page) and `player_word` ("rider"), of which an
                empty one is removed, and whether it is `public`; what is left out stays.

        Returns:
            All that it says now.

        Raises:
            UnknownError: there is no such pool.
            ParameterError: a text is not what it has to be.
        """
        with self.writing(pool_name, even_closed=True) as (connection, pool):
            description = pool.description.changed(**changes)
            administration.describe(connection, pool, description, actor)
        return description

    def configure(self, pool_name: str, system: System, *, actor: str = "") -> int:
        """Rate a pool with another system from its first event on.

        Returns:
            How many rows of the ledger changed.

        Raises:
            ResultsError: an event lacks what the system needs.
        """
        return self._execute(pool_name, administration.reconfiguration(system, actor), refuse_closed)

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
        with locked_pool(self.engine, pool_name, self.observe_write) as (connection, pool):
            administration.delete(connection, pool)
        self.writes[pool_name] += 1
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
        return self._execute(pool_name, administration.new_season(name, starts, keep, actor))
