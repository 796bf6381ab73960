"""The store as its users see it: what is done to pools is done whole, each in its transactions, or not at all."""

import logging
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from functools import partial
from typing import Any, Unpack, cast

from podium.engine.system import System
from podium.errors import PodiumError
from podium.log import log
from podium.log.database import UnavailableError, write_transaction
from podium.log.files import truncate_wal
from podium.log.heads import forget_head
from podium.log.players import provisional_numbers
from podium.log.pools import (
    NO_DESCRIPTION,
    DescriptionChanges,
    Order,
    Pool,
    When,
    locked_pool,
    refuse_closed,
    refuse_unwritable,
)
from podium.store import kept
from podium.store.following import PoolReader, newest_place
from podium.store.reading import hindsight, pool_facts, previews
from podium.store.reading.moments import reads, writes
from podium.store.reading.previews import Act
from podium.store.reading.reader import Reader
from podium.store.writing import (
    accounts,
    administration,
    anonymizing,
    execution,
    fixtures,
    pool_files,
    submission,
)
from podium.store.writing.execution import Propose
from podium.store.writing.mending import SheetChanges
from podium.store.writing.proposals import Sheet
from podium.store.writing.receipts import Done, Receipt, Rerated
from podium.store.writing.submission import Submission, VoidingOptions

LOGGER = logging.getLogger(__name__)


class Store(Reader):
    """Pools of results with their ratings, in a database.

    What a method does is done whole, or not at all. Writers to a pool take turns. All that take a pool's
    name raise `UnknownError` where there is none. With `dry_run` a correction stores nothing and waits
    for nobody: it says how much would move, and lists the largest effects; `effects_after` lists those that follow.
    """

    def _run(
        self,
        pool_name: str,
        propose: Propose,
        admit_pool: Callable[[Pool], None] = refuse_unwritable,
        *,
        dry_run: bool = False,
        effects_after: str | None = None,
    ) -> Done:
        """Do what is proposed to a pool that is admitted, or only say what that would do."""
        if dry_run:

            def look(pool: PoolReader) -> Done:
                admit_pool(pool)
                return execution.dry_run(pool, propose, effects_after)

            return self.read_pool(pool_name, look, as_stored=True)
        self.follow(pool_name)
        read = partial(self.read_pool, pool_name, as_stored=True)
        return execution.run(read, partial(self.locking, pool_name), propose, admit_pool)

    # Results

    def submit(
        self,
        pool_name: str,
        rows: Any,
        *,
        actor: str = "",
        match_ids: Mapping[str, str] | None = None,
        received: int | None = None,
        reason: str = "",
        sheet: Sheet | None = None,
        order: Order | None = None,
        dry_run: bool = False,
        effects_after: str | None = None,
    ) -> list[Receipt]:
        """Take the results of one event or several; each once, however often it is sent.

        Args:
            actor: who sent it, for the log.
            dry_run: store nothing, and list the largest changes that would come in the first receipt.
            effects_after: of a dry run, the `next` of the page of effects before.
            rows: as `podium.rate` takes results; a pool's first event settles whether all have a `started_at` or none.
            order: of a pool without events, if the rows have neither `started_at` nor `sequence`.
            match_ids: the registered match of each event that is the result of one.
            received: microseconds since 1970, when dated events without a `started_at` were; refused where None.
            reason: for the log: what was made up, as dates.
            sheet: what the events came in, for `amend_sheet`.

        Returns:
            A receipt for each event, in the order of the rows.

        Raises:
            UndatedError: an event has no date, and nothing says when it was, or that the events are only numbered.
            ResultsError: the rows are refused, or an event lacks what the system needs, or the dates of the others.
            ConflictError: an event is known with other content; `amend` corrects one.
            UnknownError: no such pool or match.
            StoreError: a match has expired.
        """
        propose = previews.submit(rows, reason, sheet, order, match_ids, received)(actor, "")
        return [*self._run(pool_name, propose, dry_run=dry_run, effects_after=effects_after).receipts]

    def amend_sheet(
        self,
        pool_name: str,
        rows: Any,
        *,
        sheet: Sheet,
        actor: str = "",
        reason: str = "",
        overrule: bool = False,
        order: Order | None = None,
        dry_run: bool = False,
    ) -> SheetChanges:
        """Make a pool what it would be, had a sheet that is sent again always been as it is now.

        What is new is taken, what differs is amended, what is gone is voided, all or nothing. What people corrected or
        voided in the pool stays so, unless the sheet is to `overrule` them.

        Returns:
            How many events are the same, and which are new, other, gone or kept.
        """
        propose = previews.amend_sheet(rows, sheet, overrule=overrule, order=order)(actor, reason)
        return cast("SheetChanges", self._run(pool_name, propose, dry_run=dry_run).answer)

    def submit_each(
        self, pool_name: str, sent: Sequence[Submission | tuple[Any, ...]], *, leave_long: bool = False
    ) -> list[list[Receipt] | Exception]:
        """Take what several sent, in one transaction if all of it can be taken.

        What one of them raises keeps nobody else's results out. No event may be in two of them. With `leave_long`
        what takes more than a short transaction is left for `submit`.

        Returns:
            In their order: each one's receipts, or what it raised; a `LongWorkError` where it is left.
        """
        try:
            self.follow(pool_name)
            if len(sent) > 1:
                with self.writing(pool_name) as pool:
                    done = execution.execute(pool, partial(submission.submit, submissions=sent))
                return [*done.by_sender(len(sent))]
        except UnavailableError as error:
            return [error] * len(sent)  # each alone would wait for it as long again
        except Exception as error:  # noqa: BLE001  (raised again below, where its sender is known)
            LOGGER.debug("pool %s: %d submissions are taken one by one, not together: %s", pool_name, len(sent), error)
        outcomes: list[list[Receipt] | Exception] = []
        for each in sent:
            try:
                outcomes.append(self._submit_one(pool_name, each, leave_long=leave_long))
            except UnavailableError as error:
                return [*outcomes, *[error] * (len(sent) - len(outcomes))]
            except Exception as error:  # noqa: BLE001  (its sender is answered with it, the others with their receipts)
                outcomes.append(error)
        return outcomes

    def _submit_one(self, pool_name: str, sent: Submission | tuple[Any, ...], *, leave_long: bool) -> list[Receipt]:
        propose = partial(submission.submit, submissions=[sent])
        if not leave_long:
            return [*self._run(pool_name, propose).receipts]
        with self.writing(pool_name) as pool:
            return [*execution.execute(pool, propose).receipts]

    def amend(
        self,
        pool_name: str,
        rows: Any,
        *,
        actor: str = "",
        reason: str = "",
        versions: Collection[str] | None = None,
        dry_run: bool = False,
        effects_after: str | None = None,
    ) -> Receipt:
        """Correct an event; every rating becomes what it would have been. Content that it has already is a duplicate.

        Args:
            reason: why, for the log; it may be blanked later.
            rows: the event as it should have been, as `podium.rate` takes results.
            versions: those that the correction may be of, as `event` has them; any where None.

        Returns:
            A receipt; with `dry_run` it has the largest changes that would come.

        Raises:
            UnknownError: no such pool or event.
            ResultsError: the rows are refused, or are not one event.
            StaleError: the event has another version.
        """
        propose = previews.amend(rows, versions)(actor, reason)
        return self._run(pool_name, propose, dry_run=dry_run, effects_after=effects_after).receipts[0]

    def void(self, pool_name: str, event_id: str, **options: Unpack[VoidingOptions]) -> Receipt:
        """Let an event count for nothing; its content stays in the log.

        Args:
            options: `actor`, `reason`, `versions`, `dry_run` and `effects_after`, as of `amend`.

        Returns:
            A receipt; with `dry_run` it has the largest changes that would come.

        Raises:
            UnknownError: no such pool or event.
            StaleError: the event has another version.
        """
        return self._set_voided(pool_name, previews.void, event_id, **options)

    def unvoid(self, pool_name: str, event_id: str, **options: Unpack[VoidingOptions]) -> Receipt:
        """Let a voided event count again; all else is as of `void`.

        Returns:
            A receipt; with `dry_run` it has the largest changes that would come.
        """
        return self._set_voided(pool_name, previews.unvoid, event_id, **options)

    def _set_voided(
        self,
        pool_name: str,
        act: Callable[[str, Collection[str] | None], Act],
        event_id: str,
        *,
        actor: str = "",
        reason: str = "",
        versions: Collection[str] | None = None,
        **how: Any,
    ) -> Receipt:
        """Let an event count for nothing, or again."""
        return self._run(pool_name, act(event_id, versions)(actor, reason), **how).receipts[0]

    register, post_places, tap = writes(administration.register), writes(fixtures.post_places), writes(fixtures.tap)
    plan_fixture, cancel_fixture = writes(fixtures.plan_fixture), writes(fixtures.cancel_fixture)
    preview = reads(previews.preview, as_stored=True)

    def run(self, pool_name: str, act: Act, *, version: int, actor: str = "", reason: str = "") -> Any:
        """Do what was previewed, as it was seen, or not at all.

        Args:
            act: of `podium.store.reading.previews`.
            version: of the log that it was looked at with.
            reason: why, for the log; it may be blanked later.

        Returns:
            The act's answer: a receipt, several, or how many rows of the ledger changed.

        Raises:
            StaleError: something else was done to the pool since.
            PodiumError: the act is refused.
        """
        propose = partial(previews.propose_at, propose=act(actor, reason), version=version)
        return self._run(pool_name, propose).answer

    def dry_run(self, pool_name: str, act: Act, *, effects_after: str | None = None) -> Rerated:
        """Say how much an act would move, and list the largest effects. Nothing is stored, and nobody waits.

        Args:
            act: of `podium.store.reading.previews`.
            effects_after: the `next` of the page of effects before.

        Returns:
            How many rows of the ledger would change, how much would move, and the largest effects.

        Raises:
            PodiumError: the act is refused, as it would be if it were carried out.
        """
        with self.reading(pool_name) as pool:
            refuse_closed(pool)
            return execution.rerated(pool, execution.plan(pool, act("", "")(pool, provisional_numbers)), effects_after)

    # Players

    rename, name_players = writes(accounts.rename_player), writes(accounts.name_players)
    anonymize = writes(anonymizing.anonymize, even_closed=True, forgets=True)
    anonymization = reads(anonymizing.anonymization)
    blank_reason = writes(log.blank_reason, even_closed=True, forgets=True)

    def merge(self, pool_name: str, name: str, into: str, *, kind: str = "", actor: str = "", reason: str = "") -> int:
        """Let one player's results be another's, from the first on; or one thing's, of a `kind` of shared things.

        Returns:
            How many rows of the ledger changed.

        Raises:
            UnknownError: no such pool, or no such player has a rating.
            StoreError: they are one, or either was merged away itself.
            ResultsError: they met in an event that counts.
        """
        return self._run(pool_name, previews.merge(name, into, kind)(actor, reason)).written

    def unmerge(self, pool_name: str, name: str, *, kind: str = "", actor: str = "", reason: str = "") -> int:
        """Let a merged account be a player of its own again, as if that merge had never been; or a thing of a `kind`.

        Results that came under its name since are its own too; accounts that were merged into it before stay so.

        Returns:
            How many rows of the ledger changed; 0 where it is a player of its own already.

        Raises:
            UnknownError: no such pool or player.
            StoreError: the account was never merged into another.
        """
        return self._run(pool_name, previews.unmerge(name, kind)(actor, reason)).written

    # Pools

    describe_pool = writes(administration.describe_pool, even_closed=True)
    close_pool = writes(administration.close_pool, even_closed=True)
    reopen_pool = writes(administration.reopen_pool, even_closed=True)

    def create_pool(
        self,
        name: str,
        system: System,
        *,
        actor: str = "",
        order: Order | None = None,
        **description: Unpack[DescriptionChanges],
    ) -> None:
        """Open a ladder.

        Args:
            order: of its events: `dated`, or `sequence` if they have numbers and no dates. None leaves it to the first.
            description: as `describe_pool` takes it.

        Raises:
            StoreError: there is one of that name.
            ParameterError: the rule for names refuses it, a page of the service has its address, or a text of the
                description is not what it has to be.
        """
        admitted = NO_DESCRIPTION.changed(**description)
        with write_transaction(self.engine) as connection:
            administration.create(connection, name, system, actor, admitted, order)

    def configure(self, pool_name: str, system: System, *, actor: str = "") -> int:
        """Rate a pool with another system from its first event on.

        Returns:
            How many rows of the ledger changed.

        Raises:
            ResultsError: an event lacks what the system needs.
        """
        return self._run(pool_name, previews.configure(system)(actor, ""), refuse_closed).written

    def set_order(
        self,
        pool_name: str,
        order: Order,
        *,
        start: datetime | None = None,
        every: str = "",
        actor: str = "",
        dry_run: bool = False,
    ) -> int:
        """Order a pool of fewer than 50 events by dates or by numbers, in one transaction.

        Args:
            order: `dated` or `sequence`.
            start: the date of the first event; if None, each event gets its earlier date, or that of receipt.
            every: the time from each event to the next, such as 1w; empty if all were on one day.

        Returns:
            How many rows of the ledger changed.

        Raises:
            StoreError: the pool has 50 events or more, or a season.
        """
        return self._run(pool_name, previews.set_order(order, start, every)(actor, ""), dry_run=dry_run).written

    def begin_season(self, pool_name: str, name: str, starts: When, *, keep: float, actor: str = "") -> int:
        """Shrink every lead over a newcomer to the share `keep` at a moment, or before an event.

        Args:
            starts: the moment, with its zone, or the number of the first event.
            keep: from 0 (all start level) to 1 (nothing changes).

        Returns:
            How many rows of the ledger changed.

        Raises:
            ParameterError: the share is not from 0 to 1.
            StoreError: there is another season of that name.
        """
        return self._run(pool_name, previews.begin_season(name, starts, keep)(actor, "")).written

    def delete_pool(self, pool_name: str) -> None:
        """Delete a closed pool: its log, all that derives from it, and the keys that opened it alone.

        Raises:
            StoreError: it is not closed.
        """
        with locked_pool(self.engine, pool_name, self.observe_write) as pool:
            administration.delete(pool)
        truncate_wal(self.engine)
        forget_head(self.engine, pool_name)
        self.snapshots.forget(pool_name)

    def import_pool(
        self, lines: Iterable[str], *, name: str | None = None, source: str = "the export"
    ) -> pool_files.Imported:
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
            return pool_files.import_lines(connection, lines, source, name)

    # Upkeep

    def keep_snapshot(self, pool_name: str, *, entries: int) -> bool:
        """Keep a pool's snapshot in the database, if a start would read more than `entries` of its log.

        Returns:
            True if it was due.
        """
        with self.reading(pool_name) as pool:
            if not kept.is_due(pool, entries):
                return False
            place, snapshot = newest_place(pool), pool.snapshot
        return place.hash is not None and kept.write_snapshot(self.engine, pool, place.hash, snapshot)

    def keep_large_snapshots(self) -> None:
        """Keep the snapshots that are held, as far as they are due."""
        for name in self.snapshots.large(kept.ENTRIES):
            self.keep_snapshot(name, entries=kept.ENTRIES)

    def close(self, patience_s: float = 0.0) -> None:
        """Keep the snapshots that are due, and let the connections go."""
        with suppress(PodiumError):  # a later start reads the log
            self.keep_large_snapshots()
        super().close(patience_s)

    def keep_headline(self, pool_name: str, version: int, body: bytes) -> None:
        """Keep what the first page says of a pool, unless the pool has a newer version by now."""
        with self.writing(pool_name, even_closed=True) as pool:
            if newest_place(pool).seq == version:
                kept.write(pool, kept.HEADLINE, version, {kept.HEAD: body})

    keep_hindsight = hindsight.keep

    def keep_facts(self, pool_name: str) -> bool:
        """Work out what `pool_facts` shows, from much of the history, and keep it; once a day, and after a new system.

        Returns:
            Whether it was due.
        """
        found = self.read_pool(pool_name, pool_facts.find_due)
        if found is not None:
            with self.writing(pool_name, even_closed=True) as pool:
                pool_facts.keep(pool, found)
        return found is not None
