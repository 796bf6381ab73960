"""Players found by how a name or one of its words begins, present or former; else by a similar name."""

import difflib
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import sqlalchemy as sa

from podium.results.names import search_key
from podium.store.insights.board_models import FoundPlayer
from podium.store.log.pools import Pool
from podium.store.read.boards import ranks_of
from podium.store.sql.among import among, values
from podium.store.sql.schema import alias, merged, player, standing

MOST_HITS = 100  # names of a pool that begin alike, of which the best rated are found
MOST_COMPARED = 1_000  # names of a pool that a name is compared with, where nothing is found
JOINTS = " -_.|[]/"  # between the words of a name
LEAST_SIMILAR = 0.7  # from 0 to 1, by `difflib`
EXACT, BEGINS, IN_A_WORD = 0.0, 1.0, 1.5  # how far a name is from what was searched
END = "\U0010ffff"  # after every character of a name
POOL: sa.BindParameter[int] = sa.bindparam("pool")
TOP: sa.BindParameter[int] = sa.bindparam("top")
Names = tuple[sa.Select[Any], ...]


def names_where(condition: Callable[[sa.Table], sa.ColumnElement[bool]]) -> Names:
    """The statements for the players' names that fit a condition, and for the former ones."""
    present = sa.select(player.c.id, player.c.folded, sa.null().label("name")).where(
        player.c.pool_id == POOL, condition(player)
    )
    former = sa.select(alias.c.player_id, alias.c.folded, alias.c.name).where(alias.c.pool_id == POOL, condition(alias))
    return present.order_by(player.c.folded).limit(TOP), former.order_by(alias.c.folded).limit(TOP)


def escaped(text: str) -> str:
    """The text in a pattern of LIKE."""
    return text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")


SELECT_BEGINNINGS = names_where(
    lambda table: sa.and_(table.c.folded >= sa.bindparam("first"), table.c.folded < sa.bindparam("last"))
)
SELECT_WORDS = names_where(
    lambda table: sa.and_(  # of the names that have the letters at all, those that have them behind a joint
        table.c.folded.contains(sa.bindparam("word"), autoescape=False, escape="\\"),
        sa.or_(
            *(
                table.c.folded.contains(sa.literal(escaped(joint)) + sa.bindparam("word"), escape="\\")
                for joint in JOINTS
            )
        ),
    )
)
PRESENT = player.alias("present")
PLAYS_ON_AS = sa.func.coalesce(merged.c.into_id, player.c.id)
HAS_STANDING = sa.and_(standing.c.generation_id == sa.bindparam("generation"), standing.c.player_id == PLAYS_ON_AS)
SELECT_PLAYERS = (
    sa.select(
        player.c.id,
        player.c.name,
        PRESENT.c.id.label("number"),
        PRESENT.c.name.label("present"),
        standing.c.rating,
        standing.c.provisional,
    )
    .outerjoin(merged, sa.and_(merged.c.pool_id == POOL, merged.c.player_id == player.c.id))
    .join(PRESENT, sa.and_(PRESENT.c.pool_id == POOL, PRESENT.c.id == PLAYS_ON_AS))
    .outerjoin(standing, HAS_STANDING)
    .where(player.c.pool_id == POOL, among(player.c.id))
)


SPACES = dict.fromkeys(map(ord, JOINTS), " ")


class Hit(NamedTuple):
    """A name that was found."""

    account: int
    folded: str
    former: str | None  # the name, where it is a former one
    distance: float  # from what was searched: the same, begins so, or more where it is only similar


def search(connection: sa.Connection, pools: Sequence[Pool], text: str, most: int) -> tuple[FoundPlayer, ...]:
    """Players of some pools by how a name begins, or a word in it; by similar names where none is found.

    Those called exactly so come first, then those whose name begins so, each the best ranked first; of similar names
    the nearest.
    """
    folded = search_key(" ".join(text.split()))
    if not folded:
        return ()
    for hits_of in (beginnings, similar):
        found = [
            each for pool in pools for each in players(connection, pool, hits_of(connection, pool, folded, most), most)
        ]
        if found:
            found.sort(key=lambda each: (each[0], each[1].rank is None, each[1].rank or 0))
            return tuple(each for _, each in found[:most])
    return ()


def beginnings(connection: sa.Connection, pool: Pool, folded: str, most: int) -> list[Hit]:
    """The names that begin so; where they are fewer than wanted, those with a word that does, too."""
    params = {"first": folded, "last": folded + END, "top": MOST_HITS}
    begun = names(connection, pool, SELECT_BEGINNINGS, params)
    hits = [Hit(account, name, former, EXACT if name == folded else BEGINS) for account, name, former in begun]
    if len(hits) >= most:  # which those with a word would stand behind; to find these takes a look at every name
        return hits
    words = names(connection, pool, SELECT_WORDS, {"word": escaped(folded), "top": MOST_HITS})
    return hits + [Hit(account, name, former, IN_A_WORD) for account, name, former in words]


def similar(connection: sa.Connection, pool: Pool, folded: str, _most: int) -> list[Hit]:
    """The names that are near, or one of their words is, of those with a word that begins with the same letter."""
    letter, params = folded[0], {"top": MOST_COMPARED}
    rows = names(connection, pool, SELECT_BEGINNINGS, params | {"first": letter, "last": letter + END})
    rows += names(connection, pool, SELECT_WORDS, params | {"word": escaped(letter)})
    matcher, hits = difflib.SequenceMatcher(autojunk=False), []
    matcher.set_seq2(folded)
    for account, name, former in rows[:MOST_COMPARED]:
        nearest = max(ratio(matcher, each) for each in {name, *name.translate(SPACES).split()})
        if nearest >= LEAST_SIMILAR:
            hits.append(Hit(account, name, former, BEGINS + 2.0 - nearest))
    return hits


def ratio(matcher: "difflib.SequenceMatcher[str]", word: str) -> float:
    """How alike a word is to what is searched, from 0 to 1; 0 where it is too far off to be shown."""
    matcher.set_seq1(word)
    if min(matcher.real_quick_ratio(), matcher.quick_ratio()) < LEAST_SIMILAR:
        return 0.0
    return matcher.ratio()


def names(connection: sa.Connection, pool: Pool, statements: Names, params: dict[str, Any]) -> list[Any]:
    """The account, folded name, and former name of those found by statements, present names first."""
    return [row for each in statements for row in connection.execute(each, {"pool": pool.id} | params)]


def players(connection: sa.Connection, pool: Pool, hits: Sequence[Hit], most: int) -> list[tuple[float, FoundPlayer]]:
    """The players of names that were found, each once, the nearest names and then the best rated first.

    Returns:
        So many at most, each with how far the name is from what was searched.
    """
    if not hits:
        return []
    params = {"pool": pool.id, "generation": pool.generation, "among": values({hit.account for hit in hits})}
    row_of = {row.id: row for row in connection.execute(SELECT_PLAYERS, params)}
    by_player: dict[int, tuple[Hit, Any]] = {}
    for hit in sorted(hits, key=lambda hit: (hit.distance, is_former(hit, row_of[hit.account]))):
        row = row_of[hit.account]
        by_player.setdefault(row.number, (hit, row))
    chosen = sorted(
        by_player.values(), key=lambda each: (each[0].distance, each[1].rating is None, -(each[1].rating or 0.0))
    )[:most]
    settled = [row.number for _, row in chosen if row.rating is not None and not row.provisional]
    ranks = ranks_of(connection, pool, settled, settled=True)
    return [(hit.distance, found_player(pool, hit, row, ranks.get(row.number))) for hit, row in chosen]


def is_former(hit: Hit, row: Any) -> bool:
    """Whether a player has another name now than the one that was found."""
    return hit.former is not None or row.number != hit.account


def found_player(pool: Pool, hit: Hit, row: Any, rank: int | None) -> FoundPlayer:
    """A player by a name that was found."""
    former = (hit.former or row.name) if is_former(hit, row) else None
    return FoundPlayer(pool.name, row.present, row.rating, rank, former, is_similar=hit.distance > IN_A_WORD)
