"""Results that arrive together are stored together: whoever comes while a transaction runs shares the next one."""

import asyncio
from collections import defaultdict
from typing import Any

from fastapi.concurrency import run_in_threadpool

from podium.errors import PodiumError
from podium.service.http.problems import BusyError
from podium.store import Store
from podium.store.write.submission import Receipt, Submission

MOST_WAITING = 5_000  # events of a pool
MOST_TOGETHER = 1_000  # events of a transaction
Sent = tuple[Submission, frozenset[str], "asyncio.Future[list[Receipt]]"]  # with its events, and who waits for it


class Intake:
    """A queue a pool. Each submission is answered after its own commit; what is refused keeps nobody else's out."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._waiting: defaultdict[str, list[Sent]] = defaultdict(list)
        self._storing: dict[str, asyncio.Task[None]] = {}

    async def submit(self, pool: str, rows: Any, actor: str, match_ids: dict[str, str]) -> list[Receipt]:
        """Take results as `Store.submit` does.

        Raises:
            PodiumError: as there; or too much waits already.
        """
        events = frozenset(row["event_id"] for row in rows)
        if sum(len(each[1]) for each in self._waiting[pool]) + len(events) > MOST_WAITING:
            raise BusyError("too many results wait to be stored; send this again in a second")
        answer: asyncio.Future[list[Receipt]] = asyncio.get_running_loop().create_future()
        self._waiting[pool].append(((rows, actor, match_ids), events, answer))
        if pool not in self._storing:
            self._storing[pool] = asyncio.create_task(self._store_all(pool))
        return await answer

    async def _store_all(self, pool: str) -> None:
        """Store what waits, group after group, until nothing does."""
        group: list[Sent] = []
        try:
            while self._waiting[pool]:
                group = self._next_group(pool)
                told = await run_in_threadpool(self._store.submit_each, pool, [each[0] for each in group])
                for (_, _, answer), one in zip(group, told, strict=True):
                    if not answer.done():  # its sender may have gone
                        settle(answer, one)
        except BaseException as error:
            for _, _, answer in [*group, *self._waiting.pop(pool)]:
                if not answer.done():
                    answer.set_exception(error)
            raise
        finally:
            del self._storing[pool]
            if not self._waiting.get(pool):
                self._waiting.pop(pool, None)

    def _next_group(self, pool: str) -> list[Sent]:
        """Those who go together: first come, no event twice, and not too many."""
        group: list[Sent] = []
        rest: list[Sent] = []
        events: set[str] = set()
        for each in self._waiting[pool]:
            fits = not events & each[1] and (not group or len(events) + len(each[1]) <= MOST_TOGETHER)
            if fits and not rest:
                group.append(each)
                events |= each[1]
            else:
                rest.append(each)
        self._waiting[pool] = rest
        return group


def settle(answer: "asyncio.Future[list[Receipt]]", told: list[Receipt] | PodiumError) -> None:
    """Give an answer what it waits for."""
    if isinstance(told, PodiumError):
        answer.set_exception(told)
    else:
        answer.set_result(told)
