"""Who won events that have no ranks, by their results as they were sent."""

from collections.abc import Sequence
from decimal import Decimal
from typing import Any, NamedTuple

import polars as pl
import sqlalchemy as sa

from podium.engine.tables.selection import UNRATED_STATUS
from podium.results.derived_heats import OVERALL, overall_rows
from podium.store.derive.rating import with_names
from podium.store.log.content import read_bodies
from podium.store.log.pools import Pool
from podium.store.sql.among import among, values
from podium.store.sql.schema import log

SELECT_BODIES = sa.select(log.c.seq, log.c.body).where(among(log.c.seq))
Line = dict[str, Any]


class Winners(NamedTuple):
    """Who won an event, and of how many."""

    names: tuple[str, ...]
    entrants: int


def sent_winners(connection: sa.Connection, pool: Pool, rows: Sequence[Any]) -> dict[str, Winners]:
    """Who won each of some events, by the event; nobody where nothing says who.

    Args:
        rows: of the events.
    """
    if not rows:
        return {}
    selected = connection.execute(SELECT_BODIES, {"among": values([row.content_seq for row in rows])})
    bodies = dict(selected.all())
    frame = with_names(connection, pool, read_bodies((bodies[row.content_seq], row.started_at) for row in rows))
    counting = frame.with_row_index("row").filter(~pl.col("status").is_in(UNRATED_STATUS))
    if "heat" in counting.columns:
        counting = pl.concat([counting, overall_rows(counting)], how="diagonal")
    lines: dict[str, list[Line]] = {row.event_id: [] for row in rows}
    for line in counting.iter_rows(named=True):
        lines[line["event_id"]].append(line)
    return {
        event_id: Winners(winners(every), len({line["player"] for line in every})) for event_id, every in lines.items()
    }


def winners(lines: Sequence[Line]) -> tuple[str, ...]:
    """Who won an event: by its overall result, or by its only heat."""
    heats = {line.get("heat") or "" for line in lines}
    deciding = heats & {OVERALL} or (heats if len(heats) == 1 else set())
    finishers = [line for line in lines if (line.get("heat") or "") in deciding and line["status"] == "finished"]
    results = sent_results(finishers)
    return tuple(line["player"] for line, each in zip(finishers, results, strict=False) if each == min(results))


def sent_results(finishers: Sequence[Line]) -> list[Decimal]:
    """The result of each finisher, lower is better: the team's score, the place, the score or the time; none without.

    Scores of a team are added up where it has none of its own.
    """
    for name, sign in (("team_score", -1), ("position", 1), ("score", -1), ("time_s", 1)):
        sent = [line.get(name) for line in finishers]
        if all(each is not None for each in sent):
            results = [sign * Decimal(str(each)) for each in sent]
            return team_sums(finishers, results) if name == "score" else results
    return []


def team_sums(finishers: Sequence[Line], results: Sequence[Decimal]) -> list[Decimal]:
    """Results, those of a team added up; a player without one is alone."""
    sides = [(line.get("team"), line["player"] if line.get("team") is None else None) for line in finishers]
    sums = dict.fromkeys(sides, Decimal(0))
    for side, result in zip(sides, results, strict=True):
        sums[side] += result
    return [sums[side] for side in sides]
