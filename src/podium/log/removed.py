"""The names and IDs that have been removed from a pool. Only their hashes are stored, keyed with the pool's secret.

Senders may still use removed names and IDs. Results under a removed name count for the anonymized player. A replaced ID
still refers to the same event, fixture, match or season.
"""

from collections.abc import Iterable, Mapping
from itertools import chain
from typing import Any, Literal

import sqlalchemy as sa

from podium.log.log import keyed_digest
from podium.log.pools import PoolView
from podium.log.schema import removed
from podium.log.statements import among, of_pool, upsert
from podium.results.mentions import words_in
from podium.results.names import normalise, search_key

Kind = Literal["player", "spelling", "id", "mention"]
MAX_WORDS = 6  # maximum number of words in a name that is searched for in texts
HAS_REMOVED = sa.select(removed.c.pool_id).where(of_pool(removed)).limit(1)
SELECT_REMOVED = sa.select(removed.c.hash, removed.c.player_id, removed.c.public_id).where(
    of_pool(removed), among(removed.c.hash)
)
DELETE_REMOVED = sa.delete(removed).where(of_pool(removed), removed.c.hash == sa.bindparam("given"))


def removed_hash(pool: PoolView, kind: Kind, text: str) -> str:
    """Return the keyed hash of a name or an ID."""
    return keyed_digest(f"{kind} {normalise(text)}".encode(errors="surrogatepass"), pool.secret).hex()


def removed_players(pool: PoolView, names: Iterable[str]) -> dict[str, int]:
    """Return the numbers of the anonymized players who had these names, by name.

    If nobody had exactly this name, case, accents and repeated spaces are ignored.
    """
    given = [*names]
    exact = rows_of(pool, "player", given)
    spellings = {name: spelling(name) for name in given if name not in exact}
    alike = rows_of(pool, "spelling", {*spellings.values()})
    found = exact | {name: alike[text] for name, text in spellings.items() if text in alike}
    return {name: row[1] for name, row in found.items()}


def spelling(name: str) -> str:
    """Return a name without case, accents and repeated spaces."""
    return " ".join(search_key(name).split())


def public_ids(pool: PoolView, ids: Iterable[str]) -> dict[str, str]:
    """Return the IDs that have replaced these IDs, by old ID, without IDs that were never replaced."""
    return {text: row[2] for text, row in rows_of(pool, "id", ids).items()}


def public_id(pool: PoolView, text: str) -> str:
    """Return the ID that has replaced this one, or the same ID if it was never replaced."""
    return public_ids(pool, [text]).get(text, text)


def mentions_removed(pool: PoolView, *texts: str | None) -> bool:
    """Return True if any of the texts mentions a removed name."""
    every = [words_in(text) for text in texts if text]
    spans = {
        "".join(words[start:stop])
        for words in every
        for start in range(len(words))
        for stop in range(start + 1, min(start + MAX_WORDS, len(words)) + 1)
    }
    return bool(rows_of(pool, "mention", spans))


def has_removed(pool: PoolView) -> bool:
    return bool(pool.run(HAS_REMOVED))


def rows_of(pool: PoolView, kind: Kind, texts: Iterable[str]) -> dict[str, Any]:
    given = [*texts]
    if not given or not has_removed(pool):
        return {}
    hashes = {text: removed_hash(pool, kind, text) for text in given}
    found = {row[0]: row for row in pool.run(SELECT_REMOVED, among={*hashes.values()})}
    return {text: found[hashed] for text, hashed in hashes.items() if hashed in found}


def keep_removed(pool: PoolView, players: Mapping[str, int], ids: Mapping[str, str], forms: Iterable[str]) -> None:
    """Store hashes: of removed names, with their players; of replaced IDs; and of the forms of names in texts."""
    named = ((pool.id, removed_hash(pool, "player", name), number, None) for name, number in players.items())
    spelled = {spelling(name): number for name, number in players.items()}
    alike = ((pool.id, removed_hash(pool, "spelling", text), number, None) for text, number in spelled.items())
    replaced = ((pool.id, removed_hash(pool, "id", old), None, new) for old, new in ids.items())
    mentioned = ((pool.id, removed_hash(pool, "mention", form), None, None) for form in forms)
    upsert(pool.connection, removed, chain(named, alike, replaced, mentioned))


def give_back(pool: PoolView, name: str) -> None:
    """Delete the hash of a removed name, because a player has that name again."""
    for given in (removed_hash(pool, "player", name), removed_hash(pool, "spelling", spelling(name))):
        pool.run(DELETE_REMOVED, given=given)
