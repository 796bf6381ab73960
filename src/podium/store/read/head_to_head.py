"""Two players against each other: the events in which they met, and their chances."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import polars as pl
import sqlalchemy as sa

from podium.engine.encoding import encode
from podium.errors import ParameterError
from podium.ledger.forecast import forecast
from podium.results.reading import Results
from podium.store.derive.rating import as_table
from podium.store.log.content import read_bodies
from podium.store.log.players import merges, number_of
from podium.store.log.pools import Pool
from podium.store.read.boards import rank
from podium.store.read.events import same_event
from podium.store.read.models import CommonEvent, ComparedPlayer, Comparison, extended
from podium.store.read.states import player_states
from podium.store.sql.schema import change, event, log
from podium.store.sql.timestamps import instant

MAX_MEETINGS = 1000  # newest meetings of two players that are listed
MAX_MEETINGS_BYTES = 16_000_000  # and no more of their newest events than this: some 250,000 entries


def comparison(connection: sa.Connection, pool: Pool, name: str, other: str) -> Comparison:
    """Two players, each with rank and expected score against the other; the heats between them; and their events.

    Raises:
        UnknownError: there is no such player.
        ParameterError: the two are one.
    """
    met = meetings(connection, pool, name, other)
    both = (name, other)
    chances = forecast(pool.system, both, player_states(connection, pool, both), top=1)
    expected = {one: score for one, _, score in chances.pairs.iter_rows()}
    players = [extended(ComparedPlayer, rank(connection, pool, each), expected=expected[each]) for each in both]
    wins, draws, losses = (sum(getattr(each, name) for each in met) for name in ("wins", "draws", "losses"))
    return Comparison(tuple(players), wins, draws, losses, met)


def meetings(connection: sa.Connection, pool: Pool, name: str, other: str) -> tuple[CommonEvent, ...]:
    """The events in which two met, newest first.

    Raises:
        UnknownError: there is no such player.
        ParameterError: the two are one.
    """
    one, two = number_of(connection, pool, name), number_of(connection, pool, other)
    if one == two:
        raise ParameterError(f"{name!r} does not meet {other!r}: they are one player")
    own, theirs = change.alias(), change.alias()
    common = (
        sa.select(
            event.c.event_id,
            event.c.started_at,
            log.c.body,
            (own.c.rating - own.c.rating_before).label("delta"),
            (theirs.c.rating - theirs.c.rating_before).label("other_delta"),
        )
        .select_from(own)
        .join(theirs, sa.and_(theirs.c.generation_id == own.c.generation_id, same_event(own, theirs)))
        .join(event, sa.and_(event.c.pool_id == pool.id, same_event(event, own)))
        .join(log, log.c.seq == event.c.content_seq)
        .where(own.c.generation_id == pool.generation, own.c.player_id == one, theirs.c.player_id == two)
        .order_by(event.c.started_at.desc(), event.c.seq.desc())
        .limit(MAX_MEETINGS)
    )
    with connection.execute(common, execution_options={"stream_results": True}) as newest_first:
        rows = rows_within(MAX_MEETINGS_BYTES, newest_first)
    scores = results_against(connection, pool, [(row.body, row.started_at) for row in rows], one, two)
    return tuple(
        CommonEvent(row.event_id, instant(row.started_at), *scores[row.event_id], row.delta, row.other_delta)
        for row in rows
    )


def rows_within(limit_bytes: int, rows: Iterable[Any]) -> list[Any]:
    """The first rows whose bodies are together no larger than a limit."""
    size, within = 0, []
    for row in rows:
        size += len(row.body)
        if size > limit_bytes:
            break
        within.append(row)
    return within


def results_against(
    connection: sa.Connection, pool: Pool, bodies: Sequence[tuple[bytes, int]], one: int, two: int
) -> dict[str, tuple[int, int, int]]:
    """Heats won, drawn and lost by `one` against `two` in each event; none for team mates."""
    if not bodies:
        return {}
    merged = {str(gone): str(stays) for gone, stays in merges(connection, pool).items()}
    table = read_bodies(bodies).with_columns(pl.col("player").replace(merged))
    events = encode(Results(as_table(pool, table), pool.name), pool.system)
    columns = events.columns
    heats = columns.entries if columns.entries.size else columns.entrants
    heat = np.repeat(np.arange(heats.size - 1), np.diff(heats))
    side = columns.side if columns.side.size else np.full(heat.size, -1)
    entries = pl.DataFrame(
        {
            "event_id": table["event_id"][events.entry_row],
            "player": table["player"][events.entry_row],
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
    return {event_id: scores.get(event_id, (0, 0, 0)) for event_id in table["event_id"].unique()}
