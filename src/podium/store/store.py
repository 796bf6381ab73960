"""The store as its users see it: what goes into the log, each in one transaction, done whole or not at all."""

import logging
from collections.abc import Collection, Mapping, Sequence
from typing import Any, TypedDict, Unpack

from podium.store.log import log, players
from podium.store.log import players as naming
from podium.store.log.log import PSEUDONYMISE, RENAME, admit_reason, append, json_entry
from podium.store.pool_store import PoolStore
from podium.store.rating import facts
from podium.store.rating.events import get_event, version_of
from podium.store.reading.pools import pool_facts
from podium.store.sql.database import UnavailableError
from podium.store.sql.files import truncate_wal
from podium.store.writing import accounts, administration, execution, submission
from podium.store.writing.administration import HOLD_S, RegisteredMatch
from podium.store.writing.receipts import Receipt
from podium.store.writing.submission import Submission

LOGGER = logging.getLogger(__name__)


class VoidingOptions(TypedDict, total=False):
    """By whom and why an event is voided or restored, of which versions it may be, and whether nothing is stored."""

    actor: str
    reason: str
    versions: Collection[str] | None
    dry_run: bool
    effects_after: str | None


class Store(PoolStore):
    """Pools of results with their ratings, in a database.

    What a method does is done whole, or not at all. Writers to a pool take turns. All that take a pool's
    name raise `UnknownError` where there is none. With `dry_run` a correction stores nothing and waits
    for nobody: it says how much would move, and lists the largest effects; `effects_after` lists those that follow.
    """

    # Results

    def submit(
        self,
        pool_name: str,
        rows: Any,
        *,
        actor: str = "",
        match_ids: Mapping[str, str] | None = None,
        dry_run: bool = False,
        effects_after: str | None = None,
    ) -> list[Receipt]:
        """Take the results of one event or several; each once, however often it is sent.

        Args:
            actor: who sent it, for the log.
            dry_run: store nothing, and list the largest changes that would come in the first receipt.
            effects_after: of a dry run, the `next` of the page of effects before.
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
        prepare = submission.submission(rows, actor, match_ids or {})
        return self._run_or_dry_run(pool_name, prepare, effects_after, dry_run=dry_run)

    def submit_each(
        self, pool_name: str, sent: Sequence[Submission], *, leave_long: bool = False
    ) -> list[list[Receipt] | Exception]:
        """Take what several sent, in one transaction if all of it can be taken.

        What one of them raises, whatever it is, keeps nobody else's results out. No event may be in two of them.

        Args:
            sent: the rows, actor and match ids of each.
            leave_long: whether to leave what takes more than a short transaction, for `submit`.

        Returns:
            In the order of `sent`: each one's receipts, or what it raised; a `PodiumError` where it was refused, a
            `LongWorkError` where it is left.
        """
        try:
            if len(sent) > 1:
                with self.writing(pool_name) as (connection, pool):
                    return [*execution.execute(connection, pool, submission.submissions_together(sent))]
        except UnavailableError as error:
            return [error] * len(sent)  # each alone would wait for it as long again
        except Exception as error:  # noqa: BLE001  (raised again below, where its sender is known)
            # Fall through: the transaction took nothing, and the error does not say whose rows are at fault. Each is
            # taken alone below, which refuses the faulty ones, with an error of their own, and stores the others.
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

    def _submit_one(self, pool_name: str, sent: Submission, *, leave_long: bool) -> list[Receipt]:
        rows, actor, match_ids = sent
        if not leave_long:
            return self.submit(pool_name, rows, actor=actor, match_ids=match_ids)
        with self.writing(pool_name) as (connection, pool):
            return execution.execute(connection, pool, submission.submission(*sent))

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
            versions: those that the correction may be of, as `event_version` has them; any where None.

        Returns:
            A receipt; with `dry_run` it has the largest changes that would come.

        Raises:
            UnknownError: no such pool or event.
            ResultsError: the rows are refused, or are not one event.
            StaleError: the event has another version.
        """
        prepare = submission.amendment(rows, actor, admit_reason(reason), versions=versions)
        return self._run_or_dry_run(pool_name, prepare, effects_after, dry_run=dry_run)

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
        return self._set_voided(pool_name, event_id, voided=True, **options)

    def restore(self, pool_name: str, event_id: str, **options: Unpack[VoidingOptions]) -> Receipt:
        """Let a voided event count again.

        Args:
            options: `actor`, `reason`, `versions`, `dry_run` and `effects_after`, as of `amend`.

        Returns:
            A receipt; with `dry_run` it has the largest changes that would come.

        Raises:
            UnknownError: no such pool or event.
            StaleError: the event has another version.
        """
        return self._set_voided(pool_name, event_id, voided=False, **options)

    def _set_voided(
        self,
        pool_name: str,
        event_id: str,
        *,
        voided: bool,
        actor: str = "",
        reason: str = "",
        versions: Collection[str] | None = None,
        dry_run: bool = False,
        effects_after: str | None = None,
    ) -> Receipt:
        """Let an event count for nothing, or again."""
        prepare = submission.voiding(event_id, actor, voided=voided, reason=admit_reason(reason), versions=versions)
        return self._run_or_dry_run(pool_name, prepare, effects_after, dry_run=dry_run)

    def event_version(self, pool_name: str, event_id: str) -> str:
        """Say which version of an event there is, for a correction of it and no other.

        Returns:
            The version: another once the event is amended, voided or restored.

        Raises:
            UnknownError: no such pool or event.
        """
        with self.reading(pool_name) as (connection, pool):
            return version_of(get_event(connection, pool, event_id))

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
            administration.register(connection, pool, match_id, entrants, held_s, actor)
            return administration.match_of(connection, pool, match_id)

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
        return self._execute(pool_name, accounts.merging(name, into, actor, admit_reason(reason)))

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
        return self._execute(pool_name, accounts.unmerging(name, actor, admit_reason(reason)))

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
        """Forget every name that a player had, everywhere, and every reason that has one in it. No rating moves.

        Returns:
            The pseudonym.

        Raises:
            UnknownError: no such pool or player.
        """
        with self.writing(pool_name, even_closed=True) as (connection, pool):
            pseudonym = players.pseudonymise(connection, pool, name)
            append(connection, pool, PSEUDONYMISE, [json_entry(str(pseudonym.number), None, actor)])
            log.blank_naming(connection, pool, pseudonym.forgotten, actor)
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
            log.blank(connection, pool, seq, actor)
        truncate_wal(self.engine)

    def snapshot(self, pool_name: str, day: int | None = None) -> dict[int, int]:
        """Keep the ranks of a day's 00:00 UTC, and take again what a correction has spoilt, a day a transaction.

        Args:
            day: since 1970; today where None. Nothing is done for a day that has them.

        Returns:
            Players ranked, by day since 1970; empty where nothing was due.

        Raises:
            ParameterError: the day is in the future.
        """
        with self.reading(pool_name) as (connection, pool):
            due = facts.due_days(connection, pool, day)
        players: dict[int, int] = {}
        for each in due:  # other writers have their turn between two days
            with self.writing(pool_name, even_closed=True) as (connection, pool):
                if each in facts.due_days(connection, pool, each):
                    players[each] = facts.take(connection, pool, each)
        return players

    def keep_facts(self, pool_name: str) -> bool:
        """Work out what `pool_facts` shows, from much of the history, and keep it; once a day, and after a new system.

        Returns:
            Whether it was due.

        Raises:
            StoreError: another revision of the arithmetic rated the pool.
        """
        with self.reading(pool_name) as (connection, pool):
            if not pool_facts.are_due(connection, pool):
                return False
            found = pool_facts.find_facts(connection, pool, pool_facts.AT_NIGHT)
        with self.writing(pool_name, even_closed=True) as (connection, pool):
            pool_facts.keep(connection, pool, found)
        return True
