"""Whom a player met and how it went, from the explanations of the newest events; each is worked out once."""

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import sqlalchemy as sa

from podium.store.insights.careers.changes import event_names_of
from podium.store.insights.player_models import RivalRow, Rivals, Scalp
from podium.store.insights.version_cache import VersionCache
from podium.store.log.log import newest_seq
from podium.store.log.players import known_numbers, names_of
from podium.store.log.pools import Pool
from podium.store.read.events import explanation
from podium.store.rows.standings import get_standing
from podium.store.sql.schema import change, correction
from podium.store.sql.timestamps import instant

MOST_EVENTS = 100  # that are explained: a second or so, once
EVEN = 0.5  # the score of a draw; who is expected to score less is the underdog
NO_DUELS = np.empty((0, 4))
SELECT_NEWEST = (
    sa.select(*(change.c[name] for name in ("started_at", "seq", "rating_before", "rating")))
    .where(
        change.c.generation_id == sa.bindparam("generation"),
        change.c.player_id == sa.bindparam("who"),
        change.c.place > 0,
    )
    .order_by(change.c.started_at.desc(), change.c.seq.desc())
    .limit(MOST_EVENTS)
)
SELECT_NEWEST_CORRECTION = sa.select(sa.func.max(correction.c.seq)).where(correction.c.pool_id == sa.bindparam("pool"))


class Upset(NamedTuple):
    """The least expected duel that was won in an event."""

    expected: float
    opponent: int
    heat: str


class ExplainedEvent(NamedTuple):
    """A player's duels in an event."""

    duels: npt.NDArray[np.float64]  # (duels, 4): the opponent's number, the score, the expected score, the points
    upset: Upset | None


class RivalCache(VersionCache):
    """The rivals of the players who were looked at last, by name, and their explained events, by number."""

    MOST = 256  # of some 100 kB each


def rivals(connection: sa.Connection, pool: Pool, name: str, cache: RivalCache) -> Rivals:
    """Whom a player met in the newest events, and how it went.

    Raises:
        UnknownError: the player has no rating here.
        StoreError: another revision of the arithmetic rated the pool.
    """
    version = newest_seq(connection, pool)
    return cache.value((pool.id, name), version, lambda: duels_by_opponent(connection, pool, name, cache))


def explained_events(
    connection: sa.Connection, pool: Pool, stands: Any, cache: RivalCache
) -> dict[Any, ExplainedEvent]:
    """A player's newest events with their duels, by their rows in the ledger.

    One is explained anew only where it moved the player otherwise, or the pool was corrected since.
    """
    rows = connection.execute(SELECT_NEWEST, {"generation": pool.generation, "who": stands.player_id}).all()
    corrected = connection.execute(SELECT_NEWEST_CORRECTION, {"pool": pool.id}).scalar()
    key, version = (pool.id, stands.player_id), (pool.generation, corrected)
    known: dict[Any, ExplainedEvent] = cache.value(key, version, dict)
    ids = event_names_of(connection, pool, [row.seq for row in rows if row not in known])
    events = {
        row: known[row] if row in known else duels_in_event(connection, pool, ids[row.seq][0], stands.name)
        for row in rows
    }
    cache.keep(key, version, events)
    return events


def duels_in_event(connection: sa.Connection, pool: Pool, event_id: str, name: str) -> ExplainedEvent:
    """A player's duels in an event, as its explanation has them."""
    rows = explanation(connection, pool, event_id, name).rows
    columns = zip(
        *(rows[each].to_list() for each in ("opponent", "heat", "result", "expected", "contribution")), strict=True
    )
    duels = [each for each in columns if each[0] is not None]  # other causes have no opponent
    numbers = known_numbers(connection, pool, sorted({each[0] for each in duels}))
    known = [(float(numbers[opponent]), *scores) for opponent, _, *scores in duels]
    upsets = [
        Upset(expected, numbers[opponent], heat or "")
        for opponent, heat, result, expected, _ in duels
        if result > EVEN > expected
    ]
    return ExplainedEvent(np.array(known, np.float64).reshape(-1, 4), min(upsets, default=None))


def duels_by_opponent(connection: sa.Connection, pool: Pool, name: str, cache: RivalCache) -> Rivals:
    """The duels of a player's newest events, opponent by opponent.

    Raises:
        UnknownError: the player has no rating here.
        StoreError: another revision of the arithmetic rated the pool.
    """
    events = explained_events(connection, pool, get_standing(connection, pool, name), cache)
    opponent, score, expected, points = np.concatenate([NO_DUELS, *(each.duels for each in events.values())]).T
    numbers, which = np.unique(opponent, return_inverse=True)
    together = np.concatenate([opponent[:0], *(np.unique(each.duels[:, 0]) for each in events.values())])
    names = names_of(connection, pool, numbers.astype(np.int64).tolist())
    columns = (
        np.unique(together, return_counts=True)[1],
        *(np.bincount(which[chosen], minlength=numbers.size) for chosen in outcomes(score)),
        *(np.bincount(which, weights=each, minlength=numbers.size) for each in (score, expected, points)),
    )
    rows = [
        RivalRow(names[int(number)], *cells)
        for number, *cells in zip(numbers, *(column.tolist() for column in columns), strict=True)
    ]
    upsets = [(event.upset, row) for row, event in events.items() if event.upset is not None]
    best = min(upsets, key=lambda each: (each[0].expected, each[1].started_at, each[1].seq), default=None)
    return Rivals(
        events=len(events),
        duels=score.size,
        won=math.fsum(score.tolist()),
        expected=math.fsum(expected.tolist()),
        opponents=tuple(sorted(rows, key=lambda row: (-row.met, -abs(row.points), row.opponent))),
        best_scalp=None if best is None else scalp(connection, pool, *best, names),
    )


def outcomes(score: npt.NDArray[np.float64]) -> tuple[npt.NDArray[np.bool_], ...]:
    """Which duels there were, which were won, drawn and lost."""
    return score >= 0.0, score > EVEN, score == EVEN, score < EVEN


def scalp(connection: sa.Connection, pool: Pool, upset: Upset, row: Any, names: Mapping[int, str]) -> Scalp:
    """The least expected duel that was won, with its event."""
    event_id, title = event_names_of(connection, pool, [row.seq])[row.seq]
    return Scalp(names[upset.opponent], event_id, title, instant(row.started_at), upset.heat, upset.expected)
