"""All that can be checked of a database: its file, the chain of each pool's log, and what derives from the logs."""

from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import sqlalchemy as sa

from podium.errors import UnknownError
from podium.store.log import log
from podium.store.log.chain import Head
from podium.store.log.pools import every_pool, get_pool, other_arithmetic
from podium.store.rating.verification import Verification, differences
from podium.store.sql.database import UnavailableError, read_transaction, reading_once
from podium.store.sql.files import integrity_faults


def verify_database(engine: sa.Engine, pool_name: str | None = None, heads: Sequence[Head] = ()) -> Verification:
    """Let a database check itself, check the chains of its logs, and compare what is kept with the logs rated anew.

    It takes, returns and raises what `Reader.verification` does.
    """
    with ThreadPoolExecutor(1) as thread:  # which is waited for, whatever comes of the comparison
        integrity_check = thread.submit(integrity_faults, engine)
        compared = compare_pools(engine, pool_name, heads)
        faults = [f"the database is damaged: {each}" for each in integrity_check.result()]
    return replace(compared, differences=(*faults, *compared.differences))


def compare_pools(engine: sa.Engine, pool_name: str | None, heads: Sequence[Head]) -> Verification:
    """Check the chains of logs, and compare what is kept with the logs rated anew, as `verify_database` does."""
    found, waits, notes = list[str](), list[str](), list[str]()
    compared: Counter[str] = Counter()
    head_faults: dict[str, dict[Head, str]] = {}  # by pool, why its log is not one that had a head
    try:
        names = pool_names(engine) if pool_name is None else [pool_name]
    except sa.exc.DatabaseError as error:
        names = []
        found.append(f"the pools cannot be read ({error.orig})")
    for name in names:
        try:
            with read_transaction(engine) as connection, reading_once(connection):
                pool = get_pool(connection, name)
                reason = other_arithmetic(pool)
                if reason:
                    waits.append(f"{name}: the pool {reason}")
                head_faults[name] = {head: log.head_fault(connection, pool, head) for head in heads}
                notes.append(log.head_note(connection, pool))
                found.extend(f"{name}: {each}" for each in log.chain_faults(connection, pool))
                found.extend(differences(connection, pool, compared))
        except (UnavailableError, UnknownError):
            raise
        except Exception as error:
            found.append(f"{name}: cannot be verified further ({type(error).__name__}: {first_line(error)})")
    for head in heads:
        reasons = [f"{name}: {each[head]}" if each[head] else "" for name, each in head_faults.items()]
        if all(reasons):
            found.append(reasons[0] if len(reasons) == 1 else f"no pool's log has the head {head}")
    counts = len(names), compared["events"], compared["changes"]
    return Verification(*counts, tuple(found), tuple(waits), tuple(notes))


def pool_names(engine: sa.Engine) -> list[str]:
    """The names of the pools, in their order."""
    with read_transaction(engine) as connection:
        return [each.name for each in every_pool(connection)]


def first_line(error: Exception) -> str:
    """The first line of what an error says, without the statement that a database failed at."""
    return str(getattr(error, "orig", None) or error).partition("\n")[0]
