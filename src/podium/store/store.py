"""The store. Every change to a pool is made completely or not at all."""

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import partial, wraps
from typing import Any, TypeVar, Unpack

from podium.engine.system import System
from podium.errors import PodiumError
from podium.log import log
from podium.log.chain import forget_head
from podium.log.database import UnavailableError, write_transaction
from podium.log.files import truncate_wal
from podium.log.pools import NO_DESCRIPTION, DescriptionChanges, Order, locked_pool, refuse_closed
from podium.store import hindsight, kept, pool_facts
from podium.store.following import PoolReader, newest_place
from podium.store.moments import reads, writes
from podium.store.reader import Reader
from podium.store.writing import (
    accounts,
    administration,
    anonymizing,
    execution,
    fixtures,
    pool_files,
    previews,
    reports,
    sheet_corrections,
    sheets,
    submission,
)
from podium.store.writing.proposals import Act, Proposal, Sheet, StaleError
from podium.store.writing.receipts import Receipt
from podium.store.writing.sheet_corrections import SheetChanges
from podium.store.writing.submission import Submission

LOGGER = logging.getLogger(__name__)
T = TypeVar("T")
OPTIONS = ("actor", "reason", "dry_run", "effects_after")  # of every act, as for `Store.run`


def acts(make: Callable[..., Act], answer: type[T]) -> Callable[..., T]:
    """Return a store method that makes a change to a pool, which is found by name, and returns this type of answer."""

    @wraps(make)
    def act(store: Any, pool_name: str, /, *args: Any, **given: Any) -> Any:
        options = {name: given.pop(name) for name in OPTIONS if name in given}
        return store.run(pool_name, make(*args, **given), **options)

    return act


class Store(Reader):
    """Pools of results with their ratings, in a database.

    Each change is made completely or not at all. Writers to a pool take turns. Methods that take a pool's name raise
    `UnknownError` if it does not exist. With `dry_run`, a correction stores nothing and does not wait. It returns
    totals and the largest effects. Pass `next` from the previous page as `effects_after` to get more effects.
    """

    def run(
        self,
        pool_name: str,
        act: Act,
        *,
        actor: str = "",
        reason: str = "",
        version: int | None = None,
        dry_run: bool = False,
        effects_after: str | None = None,
        listed: int | None = None,
    ) -> Any:
        """Make a change to a pool or, with `dry_run`, return its effects without storing anything.

        Args:
            pool_name: the pool.
            act: the change.
            actor: the sender, for the log.
            reason: the reason for the log. It can be deleted later.
            version: the version of the log for which the change was previewed. Default: any.
            dry_run: True to store nothing. The first receipt has the largest changes.
            effects_after: for a dry run, `next` from the previous page of effects.
            listed: number of receipts that list their rating changes, unless it is a dry run. Default: all.

        Returns:
            The result of the change: one receipt, several receipts, or the number of changed ledger rows. A dry run
            returns the totals and the largest effects with this number.

        Raises:
            StaleError: the pool has changed since the preview.
            PodiumError: the change is invalid.
        """
        admitted = log.admit_reason(reason)

        def propose(pool: PoolReader) -> Proposal:
            refuse_closed(pool)  # acts that need ratings refuse those of another arithmetic
            if version is not None and pool.version() != version:
                raise StaleError(f"Pool {pool_name!r} has changed since the preview. Check the new effect first.")
            return act(pool, actor, admitted)

        read = partial(self.read_pool, pool_name, as_stored=True)
        if dry_run:
            return read(lambda pool: execution.dry_run(pool, propose, effects_after))
        self.follow(pool_name)
        return execution.run(read, partial(self.locking, pool_name), propose, listed=listed).answer

    # Results

    def submit(
        self,
        pool_name: str,
        rows: Any,
        *,
        match_ids: Mapping[str, str] | None = None,
        received: int | None = None,
        reason: str = "",
        sheet: Sheet | None = None,
        order: Order | None = None,
        **options: Any,
    ) -> list[Receipt]:
        """Store and rate the results of one or more events. Repeated results are stored only once.

        Args:
            pool_name: the pool.
            rows: results, as for `podium.rate`. The first event of a pool decides whether all events have `started_at`.
            match_ids: for each event that is the result of a registered match, the ID of that match.
            received: time of receipt in microseconds since 1970, for dated events without `started_at`.
            reason: a note for the log about values that were filled in, such as dates.
            sheet: the sheet that contains the events.
            order: the order of a pool without events, if the rows have neither `started_at` nor `sequence`.
            options: `actor`, `dry_run` and `effects_after`, as for `run`.

        Returns:
            A receipt for each event, in the order of the rows.

        Raises:
            UndatedError: an event has no date, and the pool's order is not known.
            ResultsError: the rows are invalid, or an event lacks a date or values that the system needs.
            ConflictError: an event exists with different content. Correct it with `amend`.
            UnknownError: the pool or a match does not exist.
            StoreError: a match has expired.
        """
        act = sheets.submit(rows, reason, sheet, order, match_ids, received)
        receipts: list[Receipt] = self.run(pool_name, act, **options)
        return receipts

    def submit_each(
        self, pool_name: str, sent: Sequence[Submission | tuple[Any, ...]], *, leave_long: bool = False
    ) -> list[list[Receipt] | Exception]:
        """Store results from several senders, in one transaction if all are valid.

        An error in one submission does not affect the others. No event may be in two submissions. With `leave_long`,
        submissions that are too large for a short transaction are left to `submit`.

        Returns:
            The receipts or the error for each sender, in order. A `LongWorkError` marks submissions that were left.
        """
        try:
            if not self.snapshots.holds(pool_name):
                self.follow(pool_name)  # reads the log before the pool is locked
            if len(sent) > 1:
                return [*self._submit_all(pool_name, sent)]
        except UnavailableError as error:
            return [error] * len(sent)  # retrying each submission would wait just as long again
        except Exception as error:  # noqa: BLE001  (raised again below, where its sender is known)
            LOGGER.debug("pool %s: %d submissions are taken one by one, not together: %s", pool_name, len(sent), error)
        outcomes: list[list[Receipt] | Exception] = []
        for one in sent:
            try:
                outcomes += self._submit_all(pool_name, [one]) if leave_long else [self._submit(pool_name, one)]
            except UnavailableError as error:
                return [*outcomes, *[error] * (len(sent) - len(outcomes))]
            except Exception as error:  # noqa: BLE001  (its sender is answered with it, the others with their receipts)
                outcomes.append(error)
        return outcomes

    def _submit_all(self, pool_name: str, sent: Sequence[Submission | tuple[Any, ...]]) -> list[list[Receipt]]:
        with self.writing(pool_name) as pool:
            done = execution.execute(pool, partial(submission.submit, submissions=sent))
        return done.by_sender(len(sent))

    def _submit(self, pool_name: str, sent: Submission | tuple[Any, ...]) -> list[Receipt]:
        receipts: list[Receipt] = self.run(pool_name, lambda pool, *_logged: submission.submit(pool, [sent]))
        return receipts

    amend, amend_sheet = acts(submission.amend, Receipt), acts(sheet_corrections.amend_sheet, SheetChanges)
    void, unvoid = acts(submission.void, Receipt), acts(submission.unvoid, Receipt)
    register, post_places = writes(administration.register), writes(fixtures.post_places)
    plan_fixture, cancel_fixture = writes(fixtures.plan_fixture), writes(fixtures.cancel_fixture)
    preview = reads(previews.preview, as_stored=True)

    # Players

    rename, name_players = writes(accounts.rename_player), writes(accounts.name_players)
    set_details, take_details = writes(accounts.set_details), writes(accounts.take_details)
    preview_details = reads(accounts.preview_details)
    anonymize = writes(anonymizing.anonymize, even_closed=True, forgets=True)
    anonymization = reads(anonymizing.anonymization)
    blank_reason = writes(log.blank_reason, even_closed=True, forgets=True)

    merge, unmerge = acts(accounts.merge, int), acts(accounts.unmerge, int)

    # Reports of players

    change_links, add_report = writes(reports.change_links), writes(reports.add_report)
    answer_report = writes(reports.answer_report)

    def count_reports(self, pool_name: str) -> list[Receipt]:
        """Count the reports of a pool to which nobody has objected in time.

        If an event is invalid, for example because two of its players were merged, the organiser decides about its
        report.

        Returns:
            The receipts of the events.
        """
        receipts: list[Receipt] = []
        with self.writing(pool_name) as pool:
            due = reports.due_reports(pool)
        for report_id in due:
            try:
                with self.writing(pool_name) as pool:
                    receipts += reports.count_due(pool, report_id)
            except UnavailableError:
                raise
            except PodiumError as error:
                LOGGER.warning("pool %s: %s does not count: %s", pool_name, report_id, error)
                with self.writing(pool_name) as pool:
                    reports.dispute(pool, report_id)
        return receipts

    # Pools

    describe_pool = writes(administration.describe_pool, even_closed=True)
    close_pool = writes(administration.close_pool, even_closed=True)
    reopen_pool = writes(administration.reopen_pool, even_closed=True)
    configure, set_order = acts(administration.configure, int), acts(administration.set_order, int)
    begin_season = acts(administration.begin_season, int)

    def create_pool(
        self,
        name: str,
        system: System,
        *,
        actor: str = "",
        order: Order | None = None,
        **description: Unpack[DescriptionChanges],
    ) -> None:
        """Create a pool.

        Args:
            name: the name of the pool.
            system: the rating system.
            actor: the sender, for the log.
            order: the order of events: `dated`, or `sequence` for numbers without dates. Default: the first event
                decides.
            description: settings, as in `describe_pool`.

        Raises:
            StoreError: a pool of that name exists.
            ParameterError: the name is invalid or is the address of a page, or a text in the description is invalid.
        """
        admitted = NO_DESCRIPTION.changed(**description)
        with write_transaction(self.engine) as connection:
            administration.create(connection, name, system, actor, admitted, order)

    def delete_pool(self, pool_name: str) -> None:
        """Delete a closed pool: its log, all data derived from the log, and the keys that are only for this pool.

        Raises:
            StoreError: the pool is not closed.
        """
        with locked_pool(self.engine, pool_name, self.observe_write) as pool:
            administration.delete(pool)
        truncate_wal(self.engine)
        forget_head(self.engine, pool_name)
        self.snapshots.forget(pool_name)

    def import_pool(
        self, lines: Iterable[str], *, name: str | None = None, source: str = "the export"
    ) -> pool_files.Imported:
        """Import a pool that was exported with `export_pool`, rate it, and compare it with its log.

        Args:
            lines: the lines of the export.
            name: the name of the pool. Default: its name in the export.
            source: the name of the source, for error messages.

        Returns:
            The pool's name, the head of its log, and the numbers of compared events and changes.

        Raises:
            StoreError: the lines are not an export, the chain is broken, or a pool of that name exists.
            ParameterError: the pool's system or name is invalid.
        """
        with write_transaction(self.engine) as connection:
            return pool_files.import_lines(connection, lines, source, name)

    # Upkeep

    def keep_snapshot(self, pool_name: str, *, entries: int) -> bool:
        """Store a pool's snapshot in the database, if loading the pool would read more than `entries` log entries.

        Returns:
            True if the snapshot was due.
        """
        with self.reading(pool_name) as pool:
            if not kept.is_due(pool, entries):
                return False
            place, snapshot = newest_place(pool), pool.snapshot
        return place.hash is not None and kept.write_snapshot(self.engine, pool, place.hash, snapshot)

    def keep_large_snapshots(self) -> None:
        """Store all due snapshots that are in memory."""
        for name in self.snapshots.large(kept.ENTRIES):
            self.keep_snapshot(name, entries=kept.ENTRIES)

    def close(self, patience_s: float = 0.0) -> None:
        """Store the snapshots that are due, and close the connections."""
        with suppress(PodiumError):  # the next start reads the log instead
            self.keep_large_snapshots()
        super().close(patience_s)

    def keep_headline(self, pool_name: str, edition: str, body: bytes) -> None:
        """Store the text about a pool for the first page, unless the pool has another edition by now."""
        with self.writing(pool_name, even_closed=True) as pool:
            if pool.edition() == edition:
                kept.write(pool, kept.HEADLINE, pool.version(), {kept.HEAD: body})

    keep_hindsight = hindsight.keep

    def keep_facts(self, pool_name: str) -> bool:
        """Calculate and store the facts for `pool_facts`, once a day and after a change of system.

        Returns:
            True if the calculation was due.
        """
        found = self.read_pool(pool_name, pool_facts.find_due)
        if found is not None:
            with self.writing(pool_name, even_closed=True) as pool:
                pool_facts.keep(pool, found)
        return found is not None
