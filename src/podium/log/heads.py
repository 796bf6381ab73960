"""The newest heads of all logs, in a file next to an SQLite database.

If a `-wal` file is truncated or damaged, SQLite silently drops the last transactions in it. The log then ends before
its saved head.
"""

import json
from contextlib import suppress

import sqlalchemy as sa

from podium.errors import PodiumError
from podium.log.chain import newest_head, parse_head
from podium.log.database import StoreError, read_transaction
from podium.log.files import file_of, heads_beside
from podium.log.log import head_fault
from podium.log.pools import every_pool
from podium.support.part_files import part_file


def kept_heads(engine: sa.Engine) -> dict[str, str]:
    """Return the saved head of each pool in the form PLACE:HASH. The result is empty if no heads have been saved."""
    database = file_of(engine.url)
    if database is None or not heads_beside(database).exists():
        return {}
    path = heads_beside(database)
    try:
        heads = json.loads(path.read_text(encoding="utf-8"))
        return {str(name): str(parse_head(head)) for name, head in heads.items()}
    except (OSError, ValueError, AttributeError, PodiumError) as error:
        raise StoreError(f"{path}: cannot be read ({error}). Delete it; podium serve writes it again.") from None


def lost_heads(engine: sa.Engine, pool_name: str | None = None) -> list[str]:
    """Return a sentence about each pool whose log no longer contains the saved head."""
    try:
        heads = kept_heads(engine)
    except StoreError as error:
        return [str(error)]
    with read_transaction(engine) as connection:
        pools = {pool.name: pool for pool in every_pool(connection)} if heads else {}
        faults = {
            name: head_fault(pools[name], parse_head(head)) if name in pools else "there is no such pool any more"
            for name, head in heads.items()
            if pool_name in (None, name)
        }
    beside = f"{engine.url.database}-heads"
    return [
        f"{name}: {fault}; {beside} has the head {heads[name]}. Restore a backup, or delete {beside} to accept it."
        for name, fault in faults.items()
        if fault
    ]


def keep_heads(engine: sa.Engine) -> None:
    """Save the newest head of each log next to the database, unless the log no longer contains its saved head."""
    database = file_of(engine.url)
    if database is None or not database.exists():
        return
    lost = lost_heads(engine)
    if lost:
        raise StoreError("\n".join(lost))
    with read_transaction(engine) as connection:
        write(engine, {pool.name: str(newest_head(pool)) for pool in every_pool(connection)})


def forget_head(engine: sa.Engine, pool_name: str) -> None:
    """Remove the saved head of a deleted pool."""
    with suppress(StoreError):  # `podium verify` reports a file that cannot be read
        write(engine, {name: head for name, head in kept_heads(engine).items() if name != pool_name})


def write(engine: sa.Engine, heads: dict[str, str]) -> None:
    database = file_of(engine.url)
    chained = {name: head for name, head in heads.items() if not head.startswith("0:")}
    if database is not None and chained != kept_heads(engine):
        with part_file(heads_beside(database), StoreError, private=True) as part:
            part.write_text(json.dumps(chained), encoding="utf-8")
