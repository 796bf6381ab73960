"""Who is on a board, by statements: the rows of a page, how many there are, and how many stand before a place.

A board of all, or of all who are settled, is counted by the counts of players per rating, which writers keep. Any other
is counted row by row, once for each version of the pool.
"""

import difflib
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

import sqlalchemy as sa

from podium.engine.tables.things import kind_and_name
from podium.log.log import newest_seq
from podium.log.pools import Pool, PoolView
from podium.log.schema import alias, merged, player, standing, thing
from podium.log.statements import among, of_generation, of_pool
from podium.results.names import search_key
from podium.store.following import PoolReader
from podium.store.reading.boards.ranks import (
    BOARD_CURSOR,
    BOARD_ORDER,
    IN_POOL,
    IS_SETTLED,
    Place,
    count_better,
    count_players,
    ranks_of,
    span_begins,
)
from podium.store.reading.events.headlines import newest_rated
from podium.store.reading.moments import T, VersionCache
from podium.store.reading.player_models import FoundPlayer, Listing, SharedThing
from podium.store.writing.rating.standing_rows import BOARD_COLUMNS, HAS_STANDING

ROWS = sa.select(*BOARD_COLUMNS).join(player, HAS_STANDING)
BEST_FIRST = standing.c.score.desc(), standing.c.player_id.desc()
TOP: sa.BindParameter[int] = sa.bindparam("top")


class Position(NamedTuple):
    through: int  # players up to the place, and with it
    above: int  # players who stand above it


class Statements(NamedTuple):
    """The statements of boards with the same rules, whatever their limits."""

    page: sa.Select[Any]
    page_after: sa.Select[Any]
    page_above: sa.Select[Any]  # from a place on towards the best
    chosen: sa.Select[Any]
    number: sa.Select[Any]
    position: sa.Select[Any]
    ranks: sa.Select[Any]
    tied_through: sa.Select[Any]  # those with the score of a place, down to the place


@cache
def statements(*, settled: bool | None, min_events: bool, active: bool) -> Statements:
    listed = [IN_POOL]
    if settled is not None:
        listed.append(IS_SETTLED if settled else standing.c.provisional.is_(sa.true()))
    if min_events:
        listed.append(standing.c.events >= sa.bindparam("min_events"))
    if active:
        listed.append(standing.c.played_at >= sa.bindparam("active_from"))
    rows, players = ROWS.where(*listed), sa.func.count()
    page = rows.order_by(*BEST_FIRST).limit(TOP)
    counted = sa.select(players).select_from(standing).where(*listed)
    rank = sa.func.rank().over(order_by=standing.c.score.desc())
    ranked = sa.select(standing.c.player_id, rank).where(*listed).subquery()
    score: sa.BindParameter[float] = sa.bindparam("score", type_=sa.Double())
    # One walk of all: that of those above by the index looks each of them up.
    counts: list[Any] = [players.filter(BOARD_ORDER >= BOARD_CURSOR), players.filter(standing.c.score > score)]
    return Statements(
        page,
        page.where(BOARD_ORDER < BOARD_CURSOR),
        rows.where(BOARD_ORDER > BOARD_CURSOR).order_by(standing.c.score, standing.c.player_id).limit(TOP),
        rows.where(among(standing.c.player_id)),
        counted,
        sa.select(*counts).select_from(standing).where(*listed),
        sa.select(ranked).where(among(ranked.c.player_id)),
        # A range, for the index of scores: SQLite takes the key for a score that is equal.
        counted.where(standing.c.score >= score, standing.c.score <= score).where(
            standing.c.player_id + 0 >= sa.bindparam("number")
        ),
    )


@dataclass(frozen=True, slots=True)
class Board:
    """The board of a listing at one moment of a pool."""

    pool: PoolReader
    listing: Listing
    cache: VersionCache
    version: int
    newest: Any  # row of the pool's newest rated event; None where there is none
    params: dict[str, Any]

    @property
    def is_filtered(self) -> bool:
        """Whether some are left out for another reason than that they are not settled."""
        return self.listing.min_events is not None or self.listing.active_within is not None

    @property
    def only_settled(self) -> bool:
        return not self.listing.unsettled

    def statements(self, *, settled: bool | None) -> Statements:
        rules = {"min_events": self.listing.min_events, "active": self.listing.active_within}
        return statements(settled=settled, **{name: limit is not None for name, limit in rules.items()})

    @property
    def own(self) -> Statements:
        return self.statements(settled=True if self.only_settled else None)

    def rows(self, after: Place | None, top: int) -> list[Any]:
        """So many rows from a place on, best first."""
        return self.all_of(self.own.page, top=top) if after is None else self.at(self.own.page_after, after, top=top)

    def rows_above(self, place: Place, top: int) -> list[Any]:
        """So many rows above a place, the nearest first."""
        return self.at(self.own.page_above, place, top=top)

    def rows_of(self, players: Iterable[int]) -> list[Any]:
        """The rows of those of some players who are listed, in no order."""
        return self.all_of(self.own.chosen, among=players)

    def unsettled_rows(self, top: int) -> list[Any]:
        return self.all_of(self.statements(settled=False).page, top=top)

    def ranks_of(self, players: Collection[int]) -> dict[int, int]:
        """The ranks of some players who are listed, by number."""
        if not self.is_filtered:
            return ranks_of(self.pool, players, settled=self.only_settled)
        return self.cached(
            "ranks", tuple(players), lambda: dict(map(tuple, self.all_of(self.own.ranks, among=players)))
        )

    def count(self) -> int:
        if not self.is_filtered:
            return count_players(self.pool, settled=self.only_settled)
        return self.cached("count", None, lambda: int(self.all_of(self.own.number)[0][0]))

    def position(self, place: Place) -> Position:
        if self.is_filtered:
            return self.cached("position", place, lambda: Position(*self.at(self.own.position, place)[0]))
        above = count_better(self.pool, place[0], settled=self.only_settled)
        return Position(above + self.at(self.own.tied_through, place)[0][0], above)

    def know_position(self, place: Place, position: Position) -> None:
        """Take a position that is known from the rows before it, so that they need not be counted again."""
        if self.is_filtered:
            self.cache.keep(self.key("position", place), self.version, position)

    def key(self, kind: str, place: object) -> tuple[object, ...]:
        return kind, self.pool.id, self.pool.generation, self.listing, place

    def cached(self, kind: str, place: object, find: Callable[[], T]) -> T:
        return self.cache.value(self.key(kind, place), self.version, find)

    def at(self, statement: sa.Select[Any], place: Place, **params: Any) -> list[Any]:
        return self.all_of(statement, score=place[0], number=place[1], **params)

    def all_of(self, statement: sa.Select[Any], **params: Any) -> list[Any]:
        return list(self.pool.execute(statement, **self.params, **params))


def open_board(pool: PoolReader, listing: Listing, cache: VersionCache) -> Board:
    newest = newest_rated(pool)
    params: dict[str, Any] = {"min_events": listing.min_events}
    if listing.active_within is not None:
        params["active_from"] = 0 if newest is None else span_begins(pool, listing.active_within, newest.started_at)
    return Board(pool, listing, cache, newest_seq(pool), newest, params)


MOST_HITS = 100  # names of a pool that begin alike, of which the best rated are found
MOST_COMPARED = 1_000  # names of a pool that a name is compared with, where nothing is found
JOINTS = " -_.|[]/"  # between the words of a name
LEAST_SIMILAR = 0.7  # from 0 to 1, by `difflib`
EXACT, BEGINS, IN_A_WORD = 0.0, 1.0, 1.5  # how far a name is from what was searched
END = "\U0010ffff"  # after every character of a name
Names = tuple[sa.Select[Any], ...]


def names_where(condition: Callable[[sa.Table], sa.ColumnElement[bool]]) -> Names:
    """The statements for the players' names that fit a condition, and for the former ones."""
    present = sa.select(player.c.id, player.c.folded, sa.null().label("name")).where(of_pool(player), condition(player))
    former = sa.select(alias.c.player_id, alias.c.folded, alias.c.name).where(of_pool(alias), condition(alias))
    return present.order_by(player.c.folded).limit(TOP), former.order_by(alias.c.folded).limit(TOP)


def escaped(text: str) -> str:
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
STANDING_OF_ACCOUNT = sa.and_(of_generation(standing), standing.c.player_id == PLAYS_ON_AS)
SELECT_PLAYERS = (
    sa.select(
        player.c.id,
        player.c.name,
        PRESENT.c.id.label("number"),
        PRESENT.c.name.label("present"),
        standing.c.rating,
        standing.c.provisional,
        standing.c.score,
    )
    .outerjoin(merged, sa.and_(of_pool(merged), merged.c.player_id == player.c.id))
    .join(PRESENT, sa.and_(of_pool(PRESENT), PRESENT.c.id == PLAYS_ON_AS))
    .outerjoin(standing, STANDING_OF_ACCOUNT)
    .where(of_pool(player), among(player.c.id))
)


SPACES = dict.fromkeys(map(ord, JOINTS), " ")


class Hit(NamedTuple):
    account: int
    former: str | None  # the name, where it is a former one
    distance: float  # from what was searched: the same, begins so, or more where it is only similar


def search(pools: Sequence[PoolView], text: str, most: int) -> tuple[FoundPlayer, ...]:
    """Players of some pools by how a name begins, or a word in it; by similar names where none is found.

    Those called exactly so come first, then those whose name begins so, each the best ranked first; of similar names
    the nearest.
    """
    folded = search_key(" ".join(text.split()))
    if not folded:
        return ()
    for hits_of in (beginnings, similar):
        found = [each for pool in pools for each in players(pool, hits_of(pool, folded, most), most)]
        if found:
            found.sort(key=lambda each: (each[0], each[1].rank is None, each[1].rank or 0))
            return tuple(each for _, each in found[:most])
    return ()


def beginnings(pool: PoolView, folded: str, most: int) -> list[Hit]:
    """The names that begin so; where they are fewer than wanted, those with a word that does, too."""
    params = {"first": folded, "last": folded + END, "top": MOST_HITS}
    begun = names(pool, SELECT_BEGINNINGS, params)
    hits = [Hit(account, former, EXACT if name == folded else BEGINS) for account, name, former in begun]
    if len(hits) >= most:  # which those with a word would stand behind; to find these takes a look at every name
        return hits
    words = names(pool, SELECT_WORDS, {"word": escaped(folded), "top": MOST_HITS})
    return hits + [Hit(account, former, IN_A_WORD) for account, _, former in words]


def similar(pool: PoolView, folded: str, _most: int) -> list[Hit]:
    """The names that are near, or one of their words is, of those with a word that begins with the same letter."""
    letter, params = folded[0], {"top": MOST_COMPARED}
    rows = names(pool, SELECT_BEGINNINGS, params | {"first": letter, "last": letter + END})
    rows += names(pool, SELECT_WORDS, params | {"word": escaped(letter)})
    matcher, hits = difflib.SequenceMatcher(autojunk=False), []
    matcher.set_seq2(folded)
    for account, name, former in rows[:MOST_COMPARED]:
        nearest = max(ratio(matcher, each) for each in {name, *name.translate(SPACES).split()})
        if nearest >= LEAST_SIMILAR:
            hits.append(Hit(account, former, BEGINS + 2.0 - nearest))
    return hits


def ratio(matcher: "difflib.SequenceMatcher[str]", word: str) -> float:
    """How alike a word is to what is searched, from 0 to 1; 0 where it is too far off to be shown."""
    matcher.set_seq1(word)
    return 0.0 if min(matcher.real_quick_ratio(), matcher.quick_ratio()) < LEAST_SIMILAR else matcher.ratio()


def names(pool: PoolView, statements: Names, params: dict[str, Any]) -> list[Any]:
    """The account, folded name, and former name of those found by statements, present names first."""
    return [row for each in statements for row in pool.execute(each, **params)]


def players(pool: PoolView, hits: Sequence[Hit], most: int) -> list[tuple[float, FoundPlayer]]:
    """The players of names that were found, each once, the nearest names and then the best rated first."""
    if not hits:
        return []
    row_of = {row.id: row for row in pool.execute(SELECT_PLAYERS, among={hit.account for hit in hits})}
    by_player: dict[int, tuple[Hit, Any]] = {}
    for hit in sorted(hits, key=lambda hit: (hit.distance, is_former(hit, row_of[hit.account]))):
        row = row_of[hit.account]
        by_player.setdefault(row.number, (hit, row))
    chosen = sorted(
        by_player.values(), key=lambda each: (each[0].distance, each[1].score is None, -(each[1].score or 0.0))
    )[:most]
    settled = [row.number for _, row in chosen if row.rating is not None and not row.provisional]
    ranks = ranks_of(pool, settled, settled=True)
    return [(hit.distance, found_player(pool, hit, row, ranks.get(row.number))) for hit, row in chosen]


def is_former(hit: Hit, row: Any) -> bool:
    """Whether a player has another name now than the one that was found."""
    return hit.former is not None or row.number != hit.account


def found_player(pool: Pool, hit: Hit, row: Any, rank: int | None) -> FoundPlayer:
    former = (hit.former or row.name) if is_former(hit, row) else None
    return FoundPlayer(pool.name, row.present, row.rating, rank, former, is_similar=hit.distance > IN_A_WORD)


SELECT_RATED = (
    sa.select(thing.c.name, *(standing.c[name] for name in ("rating", "deviation", "events", "played_at")))
    .join(standing, sa.and_(of_generation(standing), standing.c.player_id == thing.c.id))
    .where(of_pool(thing))
)


def things(pool: PoolView) -> tuple[SharedThing, ...]:
    """List what entrants share and the system rates; it has no rank among players.

    Returns:
        Everything that has been in a rated event: by kind as the system names them, most points first.
    """
    kinds, usual = pool.system.kinds, pool.system.newcomer().rating
    rows = pool.execute(SELECT_RATED).all() if kinds else ()
    found = [
        SharedThing(
            *kind_and_name(row.name),
            row.rating - usual,
            row.deviation,
            row.events,
            pool.moment(row.played_at),
            last_sequence=pool.sequence(row.played_at),
        )
        for row in rows
    ]
    return tuple(sorted(found, key=lambda each: (kinds.index(each.kind), -each.points, each.name)))
