"""The search for players, and the list of rated equipment."""

import difflib
import math
from collections.abc import Callable, Sequence
from functools import cache
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np
import sqlalchemy as sa

from podium.engine.tables.equipment import kind_and_name
from podium.log.players import names_of
from podium.log.pools import PoolView
from podium.log.schema import alias, player
from podium.log.statements import of_pool
from podium.results.names import search_key
from podium.views.board import ESTABLISHED, Board, standings_of
from podium.views.models import answer_from
from podium.views.player_models import Equipment, FoundPlayer
from podium.views.reader import PoolAt

TOP: sa.BindParameter[int] = sa.bindparam("top")


MAX_HITS = 100  # maximum number of names with the same beginning, among which the best rated are found
MAX_COMPARED = 1_000  # maximum number of names to compare with a search text that matches no name
JOINTS = " -_.|[]/"  # characters between the words of a name
LEAST_SIMILAR = 0.7  # from 0 to 1, by `difflib`
EXACT, BEGINS, IN_A_WORD = 0.0, 1.0, 1.5  # distance between a name and the search text
END = "\U0010ffff"  # sorts after every character of a name
Names = tuple[sa.Select[Any], ...]


def names_where(condition: Callable[[sa.Table], sa.ColumnElement[bool]]) -> Names:
    """Return SQL statements that find players' current and former names that meet a condition."""
    present = sa.select(player.c.id, player.c.folded, sa.null().label("name")).where(of_pool(player), condition(player))
    former = sa.select(alias.c.player_id, alias.c.folded, alias.c.name).where(of_pool(alias), condition(alias))
    return present.order_by(player.c.folded).limit(TOP), former.order_by(alias.c.folded).limit(TOP)


def escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")


SELECT_BEGINNINGS = names_where(
    lambda table: sa.and_(table.c.folded >= sa.bindparam("first"), table.c.folded < sa.bindparam("last"))
)
SELECT_WORDS = names_where(
    lambda table: sa.and_(  # among the names that contain the letters, those that have them at the start of a word
        table.c.folded.contains(sa.bindparam("word"), autoescape=False, escape="\\"),
        sa.or_(
            *(
                table.c.folded.contains(sa.literal(escaped(joint)) + sa.bindparam("word"), escape="\\")
                for joint in JOINTS
            )
        ),
    )
)
SPACES = dict.fromkeys(map(ord, JOINTS), " ")


class Hit(NamedTuple):
    account: int
    former: str | None  # the matching name, if it is a former name
    distance: float  # distance from the search text: exact, a matching start, or larger for a similar name


def search(pools: Sequence[PoolAt], text: str, most: int) -> tuple[FoundPlayer, ...]:
    """Search for players in the given pools by the start of a name, or by the start of a word in it.

    If nothing matches, find similar names. Exact matches come first, then names that start with the text. Each group is
    sorted by rank. Similar names are sorted by similarity.
    """
    folded = search_key(" ".join(text.split()))
    if not folded:
        return ()
    for hits_of in (beginnings, similar):
        found = [hit for pool in pools for hit in players(pool, hits_of(pool, folded, most), most)]
        if found:
            found.sort(key=lambda hit: (hit[0], hit[1].rank is None, hit[1].rank or 0))
            return tuple(hit for _, hit in found[:most])
    return ()


def beginnings(pool: PoolView, folded: str, most: int) -> list[Hit]:
    """Return the names that start with this text.

    If there are too few, add names in which a word starts with it.
    """
    params = {"first": folded, "last": folded + END, "top": MAX_HITS}
    begun = names(pool, SELECT_BEGINNINGS, params)
    hits = [Hit(account, former, EXACT if name == folded else BEGINS) for account, name, former in begun]
    if len(hits) >= most:  # names that match by a word would come last, and finding them means looking at every name
        return hits
    words = names(pool, SELECT_WORDS, {"word": escaped(folded), "top": MAX_HITS})
    return hits + [Hit(account, former, IN_A_WORD) for account, _, former in words]


def similar(pool: PoolView, folded: str, _most: int) -> list[Hit]:
    """Return names that are similar to the search text, or that contain a similar word.

    Only words with the same first letter are compared.
    """
    letter, params = folded[0], {"top": MAX_COMPARED}
    rows = names(pool, SELECT_BEGINNINGS, params | {"first": letter, "last": letter + END})
    if len(rows) < MAX_COMPARED:  # finding words takes a look at every name
        rows += names(pool, SELECT_WORDS, params | {"word": escaped(letter)})
    matcher, hits = difflib.SequenceMatcher(autojunk=False), []
    matcher.set_seq2(folded)

    @cache
    def ratio(word: str) -> float:  # from 0 to 1, or 0 if the word differs too much
        matcher.set_seq1(word)
        if matcher.real_quick_ratio() < LEAST_SIMILAR or matcher.quick_ratio() < LEAST_SIMILAR:
            return 0.0
        return matcher.ratio()

    for account, name, former in rows[:MAX_COMPARED]:
        nearest = max(map(ratio, {name, *name.translate(SPACES).split()}))
        if nearest >= LEAST_SIMILAR:
            hits.append(Hit(account, former, BEGINS + 2.0 - nearest))
    return hits


def names(pool: PoolView, statements: Names, params: dict[str, Any]) -> list[Any]:
    """Return the account, folded name and former name of the players found by the statements, current names first."""
    return [row for statement in statements for row in pool.execute(statement, **params)]


def players(pool: PoolAt, hits: Sequence[Hit], most: int) -> list[tuple[float, FoundPlayer]]:
    """Return the players with matching names, each only once, sorted by similarity and then by rating."""
    if not hits:
        return []
    standings, merged = pool.snapshot.standings, pool.snapshot.merged
    number_of = {hit.account: merged.get(hit.account, hit.account) for hit in hits}
    names, established = names_of(pool, {*number_of, *number_of.values()}), Board.of(pool, ESTABLISHED)

    def is_former(hit: Hit) -> bool:  # True if the player's name now differs from the matching name
        return hit.former is not None or number_of[hit.account] != hit.account

    by_player: dict[int, Hit] = {}
    for hit in sorted(hits, key=lambda hit: (hit.distance, is_former(hit))):
        by_player.setdefault(number_of[hit.account], hit)
    answers = []
    for (number, hit), entry in zip(by_player.items(), standings.find([*by_player]).tolist(), strict=True):
        score, rating, rank = -math.inf, None, None
        if entry >= 0:
            score, rating = float(standings.scores[entry]), float(standings.ratings[entry])
            rank = 1 + int(established.count_above(score)) if standings.is_established[entry] else None
        former = (hit.former or names[hit.account]) if is_former(hit) else None
        is_similar = hit.distance > IN_A_WORD
        found = FoundPlayer(pool.name, names[number], rating, rank, former, is_similar=is_similar)
        answers.append((hit.distance, -score, found))
    return [(distance, found) for distance, _, found in sorted(answers, key=itemgetter(0, 1))[:most]]


def equipment(pool: PoolAt) -> tuple[Equipment, ...]:
    """List the equipment that the system rates. Equipment has no ranks.

    Returns:
        The equipment used in rated events, grouped by kind in the system's order, with the most points first.
    """
    kinds, usual = pool.system.kinds, pool.system.newcomer().rating
    if not kinds:
        return ()
    standings = pool.snapshot.standings
    rated = standings_of(pool, standings, np.flatnonzero(~standings.is_player))
    named = ((row, *kind_and_name(row.player)) for row in rated)
    found = [answer_from(Equipment, row, kind=kind, name=name, points=row.rating - usual) for row, kind, name in named]
    return tuple(sorted(found, key=lambda item: (kinds.index(item.kind), -item.points, item.name)))
