"""Whom a player met and how it went, from the explanations of the newest events; each is worked out once."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl
import sqlalchemy as sa

from podium.engine.tables.encoding import encode
from podium.errors import ParameterError
from podium.ledger.forecast import expected_score
from podium.log.content import read_bodies
from podium.log.log import bodies_of, newest_seq
from podium.log.players import known_numbers, merges, names_of, number_of
from podium.log.pools import Pool, newest_first, same_event
from podium.log.schema import change, correction, event, log
from podium.log.statements import of_generation, of_pool
from podium.pool.roster import as_table
from podium.results.reading import Results
from podium.store.following import PoolReader
from podium.store.reading.boards.ranks import rank
from podium.store.reading.events.events import explanation
from podium.store.reading.models import CommonEvent, ComparedPlayer, Comparison, Rivalry, answer_from
from podium.store.reading.moments import Answers, VersionCache
from podium.store.reading.player_models import RivalRow, Rivals, Scalp
from podium.store.reading.players.cards import event_names_of
from podium.store.reading.players.explanations import system_and_states
from podium.store.writing.rating.standing_rows import get_standing
from podium.support.words import shown_change

MOST_EVENTS = 100  # that are explained: a second or so, once
EVEN = 0.5  # the score of a draw; who is expected to score less is the underdog
NO_DUELS = np.empty((0, 4))
SELECT_NEWEST = (
    sa.select(*(change.c[name] for name in ("started_at", "seq", "rating_before", "rating")))
    .where(of_generation(change), change.c.player_id == sa.bindparam("who"), change.c.place > 0)
    .order_by(*newest_first(change))
    .limit(MOST_EVENTS)
)
SELECT_NEWEST_CORRECTION = sa.select(sa.func.max(correction.c.seq)).where(of_pool(correction))


class Upset(NamedTuple):
    expected: float
    opponent: int
    heat: str


class ExplainedEvent(NamedTuple):
    duels: npt.NDArray[np.float64]  # (duels, 4): the opponent's number, the score, the expected score, the points
    upset: Upset | None


def rivals(pool: PoolReader, answers: Answers, name: str) -> Rivals:
    """Show whom a player met in the newest events, up to a hundred; slow for the first time, then kept.

    Returns:
        Every opponent with the duels between them and their expected scores, and the best scalp.

    Raises:
        UnknownError: no such pool or player.
    """
    version = newest_seq(pool)
    cache = answers.rivals
    return cache.value((pool.id, name), version, lambda: duels_by_opponent(pool, name, cache))


def explained_events(pool: PoolReader, stands: Any, cache: VersionCache) -> dict[Any, ExplainedEvent]:
    """A player's newest events with their duels, by their rows in the ledger.

    One is explained anew only where it moved the player otherwise, or the pool was corrected since.
    """
    rows = pool.execute(SELECT_NEWEST, who=stands.player_id).all()
    corrected = pool.execute(SELECT_NEWEST_CORRECTION).scalar()
    key, version = (pool.id, stands.player_id), (pool.generation, corrected)
    known: dict[Any, ExplainedEvent] = cache.value(key, version, dict)
    ids = event_names_of(pool, [row.seq for row in rows if row not in known])
    events = {row: known[row] if row in known else duels_in_event(pool, ids[row.seq][0], stands.name) for row in rows}
    cache.keep(key, version, events)
    return events


def duels_in_event(pool: PoolReader, event_id: str, name: str) -> ExplainedEvent:
    rows = explanation(pool, event_id, name).rows
    columns = zip(
        *(rows[each].to_list() for each in ("opponent", "heat", "result", "expected", "contribution")), strict=True
    )
    duels = [each for each in columns if each[0] is not None]  # other causes have no opponent
    numbers = known_numbers(pool, sorted({each[0] for each in duels}))
    known = [(float(numbers[opponent]), *scores) for opponent, _, *scores in duels]
    upsets = [
        Upset(expected, numbers[opponent], heat or "")
        for opponent, heat, result, expected, _ in duels
        if result > EVEN > expected
    ]
    return ExplainedEvent(np.array(known, np.float64).reshape(-1, 4), min(upsets, default=None))


def duels_by_opponent(pool: PoolReader, name: str, cache: VersionCache) -> Rivals:
    events = explained_events(pool, get_standing(pool, name), cache)
    opponent, score, expected, points = np.concatenate([NO_DUELS, *(each.duels for each in events.values())]).T
    numbers, which = np.unique(opponent, return_inverse=True)
    together = np.concatenate([opponent[:0], *(np.unique(each.duels[:, 0]) for each in events.values())])
    names = names_of(pool, numbers.astype(np.int64).tolist())
    outcomes = score >= 0.0, score > EVEN, score == EVEN, score < EVEN
    columns = (
        np.unique(together, return_counts=True)[1],
        *(np.bincount(which[chosen], minlength=numbers.size) for chosen in outcomes),
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
        best_scalp=None if best is None else best_win(pool, *best, names),
    )


def best_win(pool: PoolReader, upset: Upset, row: Any, names: Mapping[int, str]) -> Scalp:
    event_id, title = event_names_of(pool, [row.seq])[row.seq]
    moment, number = pool.moment(row.started_at), pool.sequence(row.started_at)
    return Scalp(names[upset.opponent], event_id, title, moment, upset.heat, upset.expected, sequence=number)


MAX_MEETINGS = 1000  # newest meetings of two players that are listed, and as many are read at once
MAX_MEETINGS_BYTES = 16_000_000  # and no more of their newest events than this: some 250,000 entries
MAX_UNRANKED = 100  # newest meetings without ranks whose heats are counted
NO_HEATS = (0, 0, 0)


def comparison(pool: PoolReader, name: str, other: str) -> Comparison:
    """Put two players beside each other.

    Returns:
        Both as they stand, the expected score of the first, and their common events.

    Raises:
        UnknownError: no such pool or player.
        ParameterError: the two are one.
    """
    one, two = two_numbers(pool, name, other)
    listed: tuple[CommonEvent, ...] = ()
    heats = np.zeros(3, np.int64)
    with_bodies = common_events(pool, one, two).add_columns(log.c.body).join(log, log.c.seq == event.c.content_seq)
    with pool.connection.execute(with_bodies, execution_options={"stream_results": True}) as newest_first:
        for number, rows in enumerate(portions(newest_first)):
            scores = results_against(pool, [(row.body, row.started_at) for row in rows], one, two)
            heats += np.sum([scores[row.event_id] for row in rows], axis=0)
            listed = listed if number else tuple(common_event(pool, row, scores[row.event_id]) for row in rows)
    wins, draws, losses = heats.tolist()
    return Comparison(compared_players(pool, name, other), wins, draws, losses, listed)


def compared_players(pool: PoolReader, name: str, other: str) -> tuple[ComparedPlayer, ...]:
    both = (name, other)
    system, (mine, theirs) = system_and_states(pool, both)
    expected = expected_score(system, mine, theirs), expected_score(system, theirs, mine)
    return tuple(
        answer_from(ComparedPlayer, rank(pool, player), expected=score)
        for player, score in zip(both, expected, strict=True)
    )


def rivalry(pool: PoolReader, name: str, other: str, *, newest: int = 10) -> Rivalry:
    """Put two players beside each other at a glance.

    Args:
        newest: meetings to show.

    Returns:
        Both as they stand, who was ahead how often, and the newest meetings.

    Raises:
        UnknownError: no such pool or player.
        ParameterError: the two are one.
    """
    one, two = two_numbers(pool, name, other)
    rows = [row for row in pool.execute(common_events(pool, one, two)) if row.event_id is not None]
    unranked = [row for row in rows[newest:] if row.rank is None or row.other_rank is None]
    heats = [*rows[:newest], *unranked[:MAX_UNRANKED]]
    bodies = bodies_of(pool, [row.content_seq for row in heats])
    scores = results_against(pool, [(bodies[row.content_seq], row.started_at) for row in heats], one, two)
    ahead = [side_ahead(row.rank, row.other_rank, scores.get(row.event_id, NO_HEATS)) for row in rows]
    return Rivalry(
        players=compared_players(pool, name, other),
        meetings=len(rows),
        ahead=ahead.count(1),
        behind=ahead.count(-1),
        mean_lead=sum(row.rating_before - row.other_before for row in rows) / len(rows) if rows else None,
        newest=tuple(common_event(pool, row, scores[row.event_id]) for row in rows[:newest]),
        newest_ahead=tuple(ahead[:newest]),
    )


def side_ahead(own: int | None, theirs: int | None, heats: tuple[int, int, int]) -> int:
    """Who was ahead in an event: 1 the one, -1 the other, 0 neither; by ranks, or by heats where there are none."""
    if own is None or theirs is None:
        wins, _, losses = heats
        return (wins > losses) - (wins < losses)
    return (own < theirs) - (own > theirs)


def two_numbers(pool: PoolReader, name: str, other: str) -> tuple[int, int]:
    one, two = number_of(pool, name), number_of(pool, other)
    if one == two:
        raise ParameterError(f"{name!r} does not meet {other!r}: they are one player")
    return one, two


def common_events(pool: Pool, one: int, two: int) -> sa.Select[Any]:
    """The events in which two were rated, newest first, with what each did to both.

    The changes are joined first, from those of the one on: there are fewer of them than events. Where a season began
    there is no event.
    """
    own, theirs = change.alias(), change.alias()
    both = (
        sa.select(
            *(own.c[name] for name in ("started_at", "seq", "rating_before", "rating", "rank")),
            theirs.c.rating_before.label("other_before"),
            theirs.c.rating.label("other_rating"),
            theirs.c.rank.label("other_rank"),
        )
        .join_from(own, theirs, sa.and_(theirs.c.generation_id == own.c.generation_id, same_event(own, theirs)))
        .where(own.c.generation_id == pool.generation, own.c.player_id == one, theirs.c.player_id == two)
        .order_by(*newest_first(own))
        .subquery()
    )
    return (
        sa.select(both, event.c.event_id, event.c.content_seq, event.c.title)
        .join_from(both, event, sa.and_(event.c.pool_id == pool.id, same_event(event, both)), isouter=True)
        .order_by(*newest_first(both))
    )


def common_event(pool: Pool, row: Any, heats: tuple[int, int, int]) -> CommonEvent:
    return CommonEvent(
        row.event_id, pool.moment(row.started_at), *heats, row.rating - row.rating_before,
        row.other_rating - row.other_before, row.title, row.rank, row.other_rank, row.rating_before - row.other_before,
        float(shown_change(row.rating_before, row.rating, pool.system.digits)),
        float(shown_change(row.other_before, row.other_rating, pool.system.digits)),
        sequence=pool.sequence(row.started_at),
    )  # fmt: skip


def portions(rows: Iterable[Any]) -> Iterator[list[Any]]:
    """The rows, so many at a time as are read at once: `MAX_MEETINGS`, whose bodies are no larger than a limit."""
    size, portion = 0, list[Any]()
    for row in rows:
        size += len(row.body)
        if portion and (size > MAX_MEETINGS_BYTES or len(portion) == MAX_MEETINGS):
            yield portion
            size, portion = len(row.body), []
        portion.append(row)
    if portion:
        yield portion


def results_against(
    pool: PoolReader, bodies: Sequence[tuple[bytes, int]], one: int, two: int
) -> dict[str, tuple[int, int, int]]:
    """Heats won, drawn and lost by `one` against `two` in each event; none for team mates."""
    if not bodies:
        return {}
    merged = {str(gone): str(stays) for gone, stays in merges(pool).items()}
    table = read_bodies(bodies).with_columns(pl.col("player").replace(merged))
    events = encode(Results(as_table(pool, table), pool.name), pool.system)
    columns = events.columns
    heats = columns.entries if columns.entries.size else columns.entrants
    heat = np.repeat(np.arange(heats.size - 1), np.diff(heats))
    side = columns.side if columns.side.size else np.full(heat.size, -1)
    entries = pl.DataFrame(
        {
            "event_id": table["event_id"][events.entry_row.array],
            "player": table["player"][events.entry_row.array],
            "heat": heat,
            "place": columns.place,
            "side": side,
        }
    )
    first, second = (entries.filter(pl.col("player") == str(number)) for number in (one, two))
    both = first.join(second, on=["event_id", "heat"]).filter(
        (pl.col("side") < 0) | (pl.col("side") != pl.col("side_right"))
    )
    counts = both.group_by("event_id").agg(
        (pl.col("place") < pl.col("place_right")).sum().alias("wins"),
        (pl.col("place") == pl.col("place_right")).sum().alias("draws"),
        (pl.col("place") > pl.col("place_right")).sum().alias("losses"),
    )
    scores = {event_id: (wins, draws, losses) for event_id, wins, draws, losses in counts.iter_rows()}
    return {event_id: scores.get(event_id, NO_HEATS) for event_id in table["event_id"].unique()}
