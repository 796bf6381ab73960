"""Boards: who is listed and in which order. The search for players, and the equipment that is rated."""

import difflib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, Self

import numpy as np
import sqlalchemy as sa

from podium.engine.tables.things import kind_and_name
from podium.log.players import names_of
from podium.log.pools import PoolView
from podium.log.schema import alias, player
from podium.log.statements import of_pool
from podium.pool.columns import Array
from podium.pool.snapshot import Event
from podium.pool.standings import Standings
from podium.results.names import search_key
from podium.store.following import PoolReader
from podium.store.reading.boards.ranks import Place, PlayerStanding, count_better, span_begins, standings_of
from podium.store.reading.player_models import FoundPlayer, Listing, SharedThing

TOP: sa.BindParameter[int] = sa.bindparam("top")


class Position(NamedTuple):
    """How many players of a board stand before a place."""

    before: int
    through: int  # and at it
    above: int  # with a higher score


@dataclass(frozen=True)
class Board:
    """The players of a listing, best first."""

    pool: PoolReader
    listing: Listing
    standings: Standings

    @classmethod
    def of(cls, pool: PoolReader, listing: Listing) -> Self:
        """Return the board of today."""
        return cls(pool, listing, pool.snapshot.standings)

    @property
    def is_filtered(self) -> bool:
        """Whether somebody may be left out for another reason than a provisional rating."""
        return self.listing.min_events is not None or self.listing.active_within is not None

    @property
    def only_settled(self) -> bool:
        """Whether players with a provisional rating are left out."""
        return not self.listing.unsettled

    @property
    def newest(self) -> Event | None:
        """The pool's newest rated event, if there is one."""
        return self.pool.snapshot.events.newest_rated

    @cached_property
    def fits(self) -> Array:
        """Whether each entry of the standings fits the listing, provisional or not."""
        rules, fits = self.listing, self.standings.is_player
        if rules.min_events is not None:
            fits = fits & (self.standings.events >= rules.min_events)
        if rules.active_within is not None and self.newest is not None:
            first = span_begins(self.pool, rules.active_within, self.newest.started_at)
            fits = fits & (self.standings.played_at >= first)
        return fits

    @cached_property
    def is_listed(self) -> Array:
        """Whether each entry of the standings is on the board."""
        return self.fits & self.standings.is_settled if self.only_settled else self.fits

    @cached_property
    def entries(self) -> Array:
        """The listed entries of the standings, best first."""
        return self.best(self.is_listed)

    @cached_property
    def _falling(self) -> Array:
        return -self.standings.scores[self.entries]

    @property
    def size(self) -> int:
        """How many players are listed."""
        return int(self.entries.size)

    def best(self, chosen: Array) -> Array:
        """Return the entries for which `chosen` is true, best first."""
        best_first = self.standings.best_first
        return best_first[chosen[best_first]]

    def position(self, place: Place) -> Position:
        """Return how many players stand before a place, which need not be a player's."""
        score, number = place
        above, last = (int(np.searchsorted(self._falling, -score, side)) for side in ("left", "right"))
        tied = -self.standings.numbers[self.entries[above:last]]
        before, through = (above + int(np.searchsorted(tied, -number, side)) for side in ("left", "right"))
        return Position(before, through, above)

    def rows(self, first: int, last: int) -> list[tuple[int, PlayerStanding]]:
        """Return the rank of each player from one place of the board up to another, and how the player stands."""
        return self.ranked(self.entries[max(first, 0) : last])

    def ranked(self, entries: Array) -> list[tuple[int, PlayerStanding]]:
        """Return the rank of each of some listed entries, and how the player stands."""
        return [*zip(self.ranks(entries), standings_of(self.pool, self.standings.slots[entries]), strict=True)]

    def ranks(self, entries: Array) -> list[int]:
        """Return the ranks of some listed entries: 1 is best, equal scores share the best of theirs."""
        ranks: list[int] = (1 + np.searchsorted(self._falling, -self.standings.scores[entries])).tolist()
        return ranks

    def listed(self, numbers: Iterable[int]) -> Array:
        """Return the entries of those of some players who are listed, in the order of the players."""
        entries = np.array([self.standings.find(number) for number in numbers], np.int64)
        return entries[(entries >= 0) & self.is_listed[entries]] if self.is_listed.size else entries[:0]


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
SPACES = dict.fromkeys(map(ord, JOINTS), " ")


class Hit(NamedTuple):
    account: int
    former: str | None  # the name, where it is a former one
    distance: float  # from what was searched: the same, begins so, or more where it is only similar


def search(pools: Sequence[PoolReader], text: str, most: int) -> tuple[FoundPlayer, ...]:
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


def players(pool: PoolReader, hits: Sequence[Hit], most: int) -> list[tuple[float, FoundPlayer]]:
    """The players of names that were found, each once, the nearest names and then the best rated first."""
    if not hits:
        return []
    standings, merged = pool.snapshot.standings, pool.snapshot.merged
    number_of = {hit.account: merged.get(hit.account, hit.account) for hit in hits}
    names = names_of(pool, {*number_of, *number_of.values()})

    def is_former(hit: Hit) -> bool:  # whether the player has another name now than the one that was found
        return hit.former is not None or number_of[hit.account] != hit.account

    by_player: dict[int, Hit] = {}
    for hit in sorted(hits, key=lambda hit: (hit.distance, is_former(hit))):
        by_player.setdefault(number_of[hit.account], hit)
    found = []
    for number, hit in by_player.items():
        entry = standings.find(number)
        found.append((hit.distance, entry < 0, 0.0 if entry < 0 else -float(standings.scores[entry]), number, entry))
    answers = []
    for distance, is_unrated, _, number, entry in sorted(found, key=lambda each: each[:3])[:most]:
        hit, rating, rank = by_player[number], None, None
        if not is_unrated:
            rating = float(standings.ratings[entry])
            if standings.is_settled[entry]:
                rank = 1 + count_better(pool, standings.scores[entry], settled=True)
        former = (hit.former or names[hit.account]) if is_former(hit) else None
        is_similar = distance > IN_A_WORD
        answers.append((distance, FoundPlayer(pool.name, names[number], rating, rank, former, is_similar=is_similar)))
    return answers


def things(pool: PoolReader) -> tuple[SharedThing, ...]:
    """List what entrants share and the system rates; it has no rank among players.

    Returns:
        Everything that has been in a rated event: by kind as the system names them, most points first.
    """
    kinds, usual = pool.system.kinds, pool.system.newcomer().rating
    if not kinds:
        return ()
    standings = pool.snapshot.standings
    rated = standings_of(pool, standings.slots[~standings.is_player])
    found = [
        SharedThing(
            *kind_and_name(each.name),
            each.rating - usual,
            each.deviation,
            each.events,
            pool.moment(each.played_at),
            last_sequence=pool.sequence(each.played_at),
        )
        for each in rated
    ]
    return tuple(sorted(found, key=lambda each: (kinds.index(each.kind), -each.points, each.name)))
