"""How many threads read at once: few, for they take turns at the interpreter, and each turn costs time.

SQLite lets go of the interpreter with every row, so sixteen readers who all run hand it on at every row: together they
read half as much as two or three who take in the next when they are done.
"""

import asyncio

from anyio.to_thread import current_default_thread_limiter

AT_ONCE = 3  # beside those that take long
LOOK_S = 0.05  # between two looks at who reads; whoever is there at both takes long


async def share_threads() -> None:
    """Let few of the framework's threads run at a time; one that takes long keeps no other waiting.

    It goes on until it is cancelled, and leaves as many threads as there were.
    """
    limiter = current_default_thread_limiter()
    most, readers = limiter.total_tokens, frozenset[object]()
    try:
        while True:
            before, readers = readers, frozenset(limiter.statistics().borrowers)
            limiter.total_tokens = min(most, AT_ONCE + len(before & readers))
            await asyncio.sleep(LOOK_S)
    finally:
        limiter.total_tokens = most
