"""Faults at random points of random histories lose nothing, count nothing twice and leave a valid store."""

import signal
from contextlib import closing
from random import Random

import faults
import pytest
import sqlalchemy as sa
from extent import in_turn, times
from faults import Killed, at_step, copy_files, file_of, kill, revive
from histories import POOL, any_rows, new_store, next_act, truth_of
from killed import do_next_act, status_of
from races import ratings

from podium.errors import PodiumError
from podium.log import database
from podium.log.database import StoreError, UnavailableError
from podium.store import Store, backup
from podium.store.writing import execution

ACTS = 14  # per history
MAX_STEP = 30  # statements and commits per act; some acts have fewer
KINDS = ("sqlite", "postgresql")
POISON = (
    {"weight": 1e150},
    {"time_s": float("nan")},
    {"player": "a\x00b"},
    {"started_at": "yesterday"},
    {"position": -1},
    {"surprise": 1},
)


class History:
    """A store that suffers faults, and a model of everything it acknowledged."""

    def __init__(self, store: Store, seed: int) -> None:
        self.store, self.seed = store, seed
        self.truth = truth_of(seed)
        self.acts, self.dice = Random(seed), Random(f"faults of {seed}")  # noqa: S311
        self.outcomes: list[bool] = []

    def close(self):
        """Close the remaining store."""
        self.store.close()

    def next_act(self):
        """Return the next act, and the model after it."""
        act = next_act(self.acts, self.truth)
        after = self.truth.copied()
        act.model(after)
        return act, after

    def log_length(self):
        """Return the number of entries in the log."""
        with self.store.engine.connect() as connection:
            return connection.execute(sa.text("SELECT count(*) FROM log")).scalar_one()

    def finish(self, after, *, is_done):
        """Continue from an act's outcome, and compare the store with the model."""
        self.outcomes.append(is_done)
        if is_done:
            self.truth = after
        assert ratings(self.store) == self.truth.ratings()
        assert self.store.verify() == []

    def refused(self, act, after):
        """Return True if an act can be rejected, because a player would be in an event twice or an id does not fit."""
        rows_of = [[after.resolved(row["player"]) for row in each["rows"]] for each in after.events.values()]
        is_twice = any(len(set(players)) < len(players) for players in rows_of)  # this includes voided events
        return is_twice or act.name in ("merge", "unmerge", "rename", "season", "snapshot")

    def run(self, act, after):
        """Run an act without a fault, and return True if it was done."""
        try:
            act.run(self.store)
        except UnavailableError:
            raise
        except PodiumError:
            assert self.refused(act, after)
            return False
        assert after.possible()
        return True

    def undisturbed(self):
        """Run an act without a fault."""
        act, after = self.next_act()
        self.finish(after, is_done=self.run(act, after))

    def passing(self):
        """Run an act during a temporary fault. It succeeds, is rejected, or can be repeated."""
        fault = self.dice.choice(faults.PASSING)
        act, after = self.next_act()
        before = self.log_length()
        try:
            with fault(self.store, self.dice.randint(1, MAX_STEP)):
                is_done = self.run(act, after)
        except UnavailableError:
            self.again(act, after, before, may_be_done=fault is faults.dropped_connection)
        else:
            self.finish(after, is_done=is_done)

    def again(self, act, after, before, *, may_be_done):
        """Find out if an unacknowledged act was done. Repeat it if not, or if repeating is harmless."""
        was_done = self.log_length() > before
        assert may_be_done or not was_done
        assert ratings(self.store) == (after if was_done else self.truth).ratings()
        assert self.store.verify() == []
        is_done = self.run(act, after) if act.is_repeatable or not was_done else True
        assert is_done or not was_done
        self.finish(after, is_done=is_done)

    def killed(self):
        """Run an act during which the process ends."""
        act, after = self.next_act()
        before = self.log_length()
        try:
            with at_step(self.store.engine, self.dice.randint(1, MAX_STEP), kill(self.store)):
                is_done = self.run(act, after)
        except Killed:
            self.store = revive(self.store)
            self.again(act, after, before, may_be_done=True)
        else:
            self.finish(after, is_done=is_done)

    def process_killed(self):
        """Run an act in a new process, which is killed."""
        act, after = self.next_act()
        before = self.log_length()
        url = self.store.engine.url.render_as_string(hide_password=False)
        self.store.close()
        status = status_of(do_next_act, url, self.seed, self.outcomes, self.dice.randint(1, MAX_STEP))
        assert status in (-signal.SIGKILL, 0)
        self.store = Store(url)
        self.again(act, after, before, may_be_done=True)

    def poisoned(self):
        """Send an unstorable event among others, which must be stored."""
        number = len(self.truth.events)
        good = [any_rows(self.acts, self.truth, number, 2 * number)]
        good.append(any_rows(self.acts, self.truth, number + 1, 2 * number))
        bad = any_rows(self.acts, self.truth, number + 2, 2 * number)
        bad[0] |= self.dice.choice(POISON)
        sent = [(rows, "", {}) for rows in (good[0], bad, good[1])]
        after = self.truth.copied()
        for k, rows in enumerate(good):
            after.upsert(f"e{number + k}", rows)
        if not after.possible():
            return
        first, error, last = self.store.submit_each(POOL, sent)
        assert isinstance(error, PodiumError)
        assert [receipt.event_id for receipts in (first, last) for receipt in receipts] == [
            f"e{number}",
            f"e{number + 1}",
        ]
        self.finish(after, is_done=True)

    def stale_wal(self):
        """Restore a copy next to leftover files: it must fail and leave them unchanged."""
        if self.store.engine.dialect.name != "sqlite":
            return self.undisturbed()
        path = file_of(self.store)
        copied, crashed = (path.with_name(f"{path.name}.{len(self.outcomes)}.{what}") for what in ("copy", "crashed"))
        backup.back_up(str(path), copied)
        at_copy = self.truth.copied()
        self.undisturbed()
        copy_files(path, crashed)
        crashed.unlink()
        left = {each: each.read_bytes() for each in faults.files_of(crashed)}
        if left:
            with pytest.raises(StoreError, match="is left over from an earlier"):
                backup.restore(copied, str(crashed))
            assert {each: each.read_bytes() for each in faults.files_of(crashed)} == left
        for each in left:
            each.unlink()
        assert backup.restore(copied, str(crashed)).differences == ()
        with closing(Store(str(crashed))) as restored:
            assert ratings(restored) == at_copy.ratings()
        return None


@pytest.fixture
def impatient(monkeypatch):
    """Limit every wait for a lock to 50 ms."""
    monkeypatch.setattr(database, "PRAGMAS", (*database.PRAGMAS, "busy_timeout=50"))
    monkeypatch.setenv("PGOPTIONS", "-c lock_timeout=50")


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize(  # each system with and without rating before the lock; the same for undated events
    ("kind", "seed"), in_turn(KINDS, times([0, 3, 4, 7], range(250)))
)
def test_faults_lose_nothing(new_url, kind, seed, monkeypatch):
    if seed % 2:  # a fault can strike during the rating outside the lock, or just before the lock
        monkeypatch.setattr(execution, "SHORT_EVENTS", 2)
    with closing(History(new_store(new_url(kind), seed), seed)) as history:
        steps = [history.undisturbed, history.passing, history.passing, history.killed]
        steps += [history.poisoned, history.stale_wal]
        for _ in range(ACTS):
            history.dice.choice(steps)()


@pytest.mark.parametrize("kind", KINDS)
def test_a_killed_process_loses_nothing(new_url, kind):
    for seed in range(0, times(5, 40), times(4, 2)):
        with closing(History(new_store(new_url(kind), seed), seed)) as history:
            for _ in range(6):
                history.undisturbed()
            history.process_killed()
