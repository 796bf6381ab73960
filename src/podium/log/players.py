"""Players and shared equipment, which the log refers to by number. Names are stored only here.

Only hashes of removed names and IDs are stored, keyed with the pool's secret. Senders may still use them. Results under
a removed name count for the anonymized player. A replaced ID still refers to the same event, fixture, match or season.

The name of a piece of equipment comes from `podium.engine.tables.equipment.equipment_name`. No player can have such a
name.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, count
from typing import Any, Literal, NamedTuple

import sqlalchemy as sa

from podium.engine.tables.equipment import MARK, kind_and_name
from podium.errors import ParameterError, UnknownError
from podium.log.log import keyed_digest
from podium.log.pools import Pool, PoolView
from podium.log.schema import alias, equipment, player, removed
from podium.log.statements import FIRST_EQUIPMENT, among, insert, is_equipment, of_pool, upsert
from podium.results.mentions import words_in
from podium.results.names import admit, are_alike, key, normalise, refusal, search_key
from podium.support.words import PAIR, WRITTEN_OUT

IDS = ("discord", "steam", "fide")  # programs whose IDs are former names such as discord:123, for admins only
MAX_CONFUSABLES = 20  # maximum number of names with the same key to compare with a newcomer's name
SELECT_NUMBERS = sa.select(player.c.name, player.c.id).where(of_pool(player), among(player.c.name))
SELECT_EQUIPMENT_NUMBERS = sa.select(equipment.c.name, equipment.c.id).where(
    of_pool(equipment), among(equipment.c.name)
)
SELECT_ALL_EQUIPMENT = sa.select(equipment.c.id, equipment.c.name).where(of_pool(equipment))
SELECT_EQUIPMENT = SELECT_ALL_EQUIPMENT.where(among(equipment.c.id))
NEWEST_EQUIPMENT = sa.func.coalesce(sa.func.max(equipment.c.id), FIRST_EQUIPMENT)
SELECT_NEWEST_EQUIPMENT = sa.select(NEWEST_EQUIPMENT).where(of_pool(equipment))
UPDATE_EQUIPMENT = (
    sa.update(equipment)
    .where(of_pool(equipment), equipment.c.id == sa.bindparam("who"))
    .values(name=sa.bindparam("new_name"))
)
SELECT_FORMER_NUMBERS = sa.select(alias.c.name, alias.c.player_id.label("id")).where(
    of_pool(alias), among(alias.c.name)
)
SELECT_ALL_NAMES = sa.select(player.c.id, player.c.name).where(of_pool(player))
SELECT_NAMES = SELECT_ALL_NAMES.where(among(player.c.id))
SELECT_NEWEST_NUMBER = sa.select(sa.func.coalesce(sa.func.max(player.c.id), 0)).where(of_pool(player))
OF_PLAYER = sa.and_(of_pool(alias), alias.c.player_id == sa.bindparam("player"))
SELECT_ALIASES = sa.select(alias.c.name).where(OF_PLAYER)
DELETE_ALIASES = sa.delete(alias).where(OF_PLAYER)
UPDATE_NAME = (
    sa.update(player)
    .where(of_pool(player), player.c.id == sa.bindparam("who"))
    .values({column: sa.bindparam(f"new_{column}") for column in ("name", "lookalike", "folded")})
)
SELECT_CONFUSABLES = sa.select(player.c.name, player.c.lookalike).where(of_pool(player), among(player.c.lookalike))


class Numbered(NamedTuple):
    """The result of looking up players by name."""

    numbers: dict[str, int]  # numbers by given name
    newcomers: dict[int, str]  # names of players who are not stored yet
    names: dict[int, str]  # includes players who were looked up by their present name


def name_columns(name: str) -> dict[str, str]:
    """Return the columns of a player's row that are derived from the name, in the table's order."""
    return {"name": name, "lookalike": key(name), "folded": search_key(name)}


def update_name(pool: PoolView, number: int, name: str) -> None:
    whose: dict[str, Any] = {"pool": pool.id, "who": number}
    if is_equipment(number):
        pool.connection.execute(UPDATE_EQUIPMENT, whose | {"new_name": name})
        return
    columns = {f"new_{column}": value for column, value in name_columns(name).items()}
    pool.connection.execute(UPDATE_NAME, whose | columns)


def exact_numbers(pool: PoolView, names: Sequence[str]) -> dict[str, int]:
    """Return the numbers of the players who have, or once had, exactly these names."""
    numbers = current_numbers(pool, names)
    unknown = [name for name in names if name not in numbers]
    if unknown:
        numbers |= dict(pool.run(SELECT_FORMER_NUMBERS, among=unknown))
    return numbers


def current_numbers(pool: PoolView, names: Sequence[str]) -> dict[str, int]:
    equipment = [name for name in names if name.startswith(MARK)]
    if equipment:
        found = pool.run(SELECT_EQUIPMENT_NUMBERS, among=equipment)
        players = [name for name in names if not name.startswith(MARK)]
        return dict(found) | (current_numbers(pool, players) if players else {})
    return dict(pool.run(SELECT_NUMBERS, among=names))


def known_numbers(pool: PoolView, names: Sequence[str]) -> dict[str, int]:
    """Return the numbers of players who have or had these names, exactly or after normalization, by name."""
    numbers = exact_numbers(pool, names)
    normal = {name: normalise(name) for name in names if name not in numbers and not name.startswith(MARK)}
    changed = {name: normalised for name, normalised in normal.items() if name != normalised}
    if changed:
        by_normal = exact_numbers(pool, list(changed.values()))
        numbers |= {name: by_normal[normalised] for name, normalised in changed.items() if normalised in by_normal}
    return numbers


def sent_numbers(pool: PoolView, names: Sequence[str]) -> dict[str, int]:
    """Return the numbers of the players to whom a sender refers, by a known name or by a removed name."""
    numbers = known_numbers(pool, names)
    unknown = [name for name in names if name not in numbers and not name.startswith(MARK)]
    return numbers | removed_players(pool, unknown)


def admit_names(pool: PoolView, names: Sequence[str], what: str = "player") -> list[str]:
    """Return the normalized names. A name that exactly matches a player's name is not changed."""
    changed = [name for name in names if normalise(name) != name or refusal(name)]
    known = exact_numbers(pool, changed) if changed else {}
    return [name if name in known else admit(name, what) for name in names]


EntrantRows = Sequence[Mapping[str, Any]]  # each has `player`, and may have `team` and more


def admit_entrants(
    pool: PoolView, entrants: Sequence[Any], what: str = "player"
) -> tuple[EntrantRows, list[str], list[str | None]]:
    """Return entrants, which are names or dicts, as rows, with their admitted names and teams."""
    rows = [entrant if isinstance(entrant, Mapping) else {"player": entrant} for entrant in entrants]
    names = admit_names(pool, [str(row["player"]) for row in rows], what)
    return rows, names, [None if row.get("team") is None else admit(str(row["team"]), "team") for row in rows]


def names_like(pool: PoolView, name: str) -> list[str]:
    """Return a few names that begin or end like a name, or that contain all its parts if it names a pair.

    Names that may only spell umlauts differently, such as Mueller and Müller, are also returned.
    """
    folded, column = search_key(name), player.c.folded
    middle, size = len(folded) // 2, len(folded)
    begins = column.startswith(folded[: max(middle - 1, 1)], autoescape=True)
    ends = column.endswith(folded[middle + 1 :], autoescape=True)
    has_words = sa.and_(*(column.contains(word, autoescape=True) for word in PAIR.split(folded)))
    alike = sa.and_(sa.func.length(column).between(size - 2, size + 2), sa.or_(begins, ends))
    escaped = re.sub(r"[\\%_]", r"\\\g<0>", name.casefold().translate(WRITTEN_OUT))
    has_umlauts = column.like(search_key(re.sub("(?<=[aou])e|(?<=a)a", "%", escaped)), escape="\\")
    found = sa.select(player.c.name).where(of_pool(player), sa.or_(alike, has_words, has_umlauts))
    return list(pool.execute(found).scalars())


def numbers_of(pool: PoolView, names: Iterable[str]) -> dict[str, int]:
    """Return the numbers of players by name. Newcomers get new numbers."""
    numbered = provisional_numbers(pool, names)
    insert_players(pool, numbered.newcomers.items())
    return numbered.numbers


def insert_players(pool: PoolView, names: Iterable[tuple[int, str]]) -> None:
    """Insert new players and equipment, each with a number and a name."""
    rows = [*names]
    players = [(pool.id, number, *name_columns(name).values()) for number, name in rows if not is_equipment(number)]
    insert(pool.connection, player, players)
    insert(pool.connection, equipment, [(pool.id, number, name) for number, name in rows if is_equipment(number)])


def provisional_numbers(pool: PoolView, names: Iterable[str]) -> Numbered:
    """Return the numbers of players by name. Newcomers get the numbers that they would have if they were stored now.

    Nothing is stored.
    """
    distinct = list(dict.fromkeys(names))
    current = current_numbers(pool, distinct)
    others = [name for name in distinct if name not in current]
    numbers = current | sent_numbers(pool, others) if others else current
    newcomers: dict[int, str] = {}
    new_names = [name for name in others if name not in numbers]
    if new_names:
        has_equipment = any(name.startswith(MARK) for name in new_names)
        next_numbers = count(newest_number(pool) + 1), count((newest_equipment(pool) if has_equipment else 0) + 1)
        newcomers = {next(next_numbers[name.startswith(MARK)]): name for name in new_names}
        numbers = numbers | {name: number for number, name in newcomers.items()}
    return Numbered(numbers, newcomers, {number: name for name, number in current.items()} | newcomers)


def newest_number(pool: PoolView) -> int:
    """Return the number of the newest player of a locked pool, or 0."""
    ((number,),) = pool.run(SELECT_NEWEST_NUMBER)
    return int(number)


def newest_equipment(pool: PoolView) -> int:
    return int(pool.execute(SELECT_NEWEST_EQUIPMENT).scalar_one())


def confusables_of(pool: PoolView, names: Sequence[str]) -> dict[str, str]:
    """Return the names that look like another player's name in the pool, each with the name that it resembles."""
    keys = {name: key(name) for name in names if not name.startswith(MARK)}
    known: dict[str, list[str]] = {}
    for row in pool.execute(SELECT_CONFUSABLES, among=set(keys.values())) if names else ():
        known.setdefault(row.lookalike, []).append(row.name)
    for name, own in keys.items():  # newcomers are not stored yet
        if name not in known.setdefault(own, []):
            known[own].append(name)
    confusables = {}
    for name, own in keys.items():
        others = (other for other in known.get(own, ())[:MAX_CONFUSABLES] if other != name and are_alike(name, other))
        confusable = next(others, None)
        if confusable is not None:
            confusables[name] = confusable
    return confusables


def names_of(pool: PoolView, numbers: Iterable[int] | None = None) -> dict[int, str]:
    """Return the names of these players and equipment, by number. Default: all players."""
    if numbers is None:
        return dict(pool.run(SELECT_ALL_NAMES))
    every = [*numbers]
    equipment = [number for number in every if is_equipment(number)]
    names = dict(pool.run(SELECT_NAMES, among=every))
    if equipment:
        names |= dict(pool.run(SELECT_EQUIPMENT, among=equipment))
    return names


def equipment_of(pool: PoolView) -> dict[int, str]:
    return dict(pool.execute(SELECT_ALL_EQUIPMENT).all())


def unrated_error(pool: Pool, name: str) -> UnknownError:
    kind, bare = kind_and_name(name)
    return UnknownError(f"there is no {kind or 'rated player'} {bare!r} in pool {pool.name!r}")


def insert_aliases(pool: PoolView, aliases: Iterable[tuple[str, int]]) -> None:
    rows = [
        {"pool_id": pool.id, "name": name, "player_id": number}
        | {"folded": None if is_equipment(number) or is_id(name) else search_key(name)}
        for name, number in aliases
    ]
    if rows:
        pool.connection.execute(sa.insert(alias), rows)


def is_id(name: str) -> bool:
    """Return True if a name is an ID in another program, such as discord:123."""
    return name.startswith(tuple(f"{program}:" for program in IDS))


def forget_alias(pool: PoolView, name: str) -> None:
    """Delete a former name, so that another player can use it."""
    pool.connection.execute(sa.delete(alias).where(alias.c.pool_id == pool.id, alias.c.name == name))


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
    exact = removed_rows(pool, "player", given)
    spellings = {name: spelling(name) for name in given if name not in exact}
    alike = removed_rows(pool, "spelling", {*spellings.values()})
    found = exact | {name: alike[text] for name, text in spellings.items() if text in alike}
    return {name: row[1] for name, row in found.items()}


def spelling(name: str) -> str:
    """Return a name without case, accents and repeated spaces."""
    return " ".join(search_key(name).split())


def public_ids(pool: PoolView, ids: Iterable[str]) -> dict[str, str]:
    """Return the IDs that have replaced these IDs, by old ID, without IDs that were never replaced."""
    return {text: row[2] for text, row in removed_rows(pool, "id", ids).items()}


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
    return bool(removed_rows(pool, "mention", spans))


def has_removed(pool: PoolView) -> bool:
    return bool(pool.run(HAS_REMOVED))


def removed_rows(pool: PoolView, kind: Kind, texts: Iterable[str]) -> dict[str, Any]:
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


# A pool's pages are at /{pool}, so this list must contain the first segment of every other address. An older pool with
# such a name is at /p/{pool}, where every pool can be found.
RESERVED = frozenset(
    {
        ".well-known", "about", "admin", "api", "apple-touch-icon.png", "docs", "embed", "favicon.ico", "feed.xml",
        "find", "healthz", "help", "login", "logout", "manifest.json", "metrics", "openapi.json", "p", "pools",
        "readyz", "robots.txt", "search", "security.txt", "service-worker.js", "sign-in", "sign-out", "sitemap.xml",
        "static", "submit",
    }
)  # fmt: skip


def is_reserved(pool_name: str) -> bool:
    return pool_name.casefold() in RESERVED


def refuse_reserved(pool_name: str) -> None:
    """Raise an error if a pool's name is also the address of one of the service's pages."""
    if is_reserved(pool_name):
        raise ParameterError(
            f"a pool's name: {pool_name!r} is the address of a page of the service. Use another name, and give the "
            "pool this one as its title."
        )
