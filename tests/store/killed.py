"""Work on a store in separate processes that are killed. Each process starts with all of Podium loaded.

Loading Python and Podium takes longer than the work, so one process loads them once and forks.
"""

import multiprocessing
import os
import signal
from contextlib import suppress
from random import Random

PROCESSES = multiprocessing.get_context("forkserver")
PROCESSES.set_forkserver_preload(["podium.store.backup", "podium.store.backup"])


def status_of(act, *arguments):
    """Run a function in a new process, and return its exit status. A signal is a negative number."""
    process = PROCESSES.Process(target=act, args=arguments)
    process.start()
    process.join(120)
    return process.exitcode


def end(_connection=None):
    """End this process at once, without any cleanup."""
    os.kill(os.getpid(), signal.SIGKILL)


def submit_without_end(url, number, output):
    """Submit events from a number on, and print the acknowledged ones."""
    from podium.store import Store

    store = Store(url)
    while True:
        store.submit(
            "main",
            [
                {"event_id": f"e{number}", "started_at": "2025-01-01T00:00:00Z", "player": name, "position": place}
                for place, name in enumerate("abc", start=1)
            ],
        )
        output.send(number)
        number += 1


def upgrade_half(url):
    """Upgrade a store's pools, and die before the second one is finished."""
    from podium.store import Store, upgrading
    from podium.store.writing import execution

    plain = execution.record

    def record(proposal):
        done = plain(proposal)
        if proposal.pool.name == "sixties":
            end()
        return done

    execution.record = record
    list(upgrading.upgrade_pools(Store(url), "killed"))


def restore_half(point, count, copy, target):
    """Restore a copy, and die when a function is called for the given time."""
    from podium.store import backup
    from podium.support import part_files

    module = part_files if point == "synchronise" else backup
    plain, calls = getattr(module, point), []

    def killed(*words, **named):
        calls.append(words)
        if len(calls) == count:
            end()
        return plain(*words, **named)

    setattr(module, point, killed)
    backup.restore(copy, target)


def do_next_act(url, seed, outcomes, step):
    """Run the next act of a history, given which earlier acts happened, and die at one of its steps."""
    from faults import at_step
    from histories import next_act, truth_of

    from podium.errors import PodiumError
    from podium.store import Store

    store, acts, truth = Store(url), Random(seed), truth_of(seed)  # noqa: S311
    for is_done in outcomes:
        act = next_act(acts, truth)
        if is_done:
            act.model(truth)
    with at_step(store.engine, step, end), suppress(PodiumError):  # a surviving process may get an error
        next_act(acts, truth).run(store)


def amend_sheet_half(url, rows, sheet, step):
    """Send a sheet again, and die at one step."""
    from faults import at_step

    from podium.store import Store

    store = Store(url)
    with at_step(store.engine, step, end):
        store.amend_sheet("main", rows, sheet=sheet)


def post_places_half(url, step):
    """Post a race's current places, and die at one step."""
    from faults import at_step

    from podium.store import Store

    store = Store(url)
    with at_step(store.engine, step, end):
        store.post_places("main", "e9", ["c", "a"], by_hand=True)
