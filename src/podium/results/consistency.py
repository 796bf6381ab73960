"""Contradictions between cells that are valid individually. Each rule is a function that begins with a cheap test."""

from collections.abc import Iterator

import numpy as np
import polars as pl

from podium.errors import SHOWN_FAULTS, Fault
from podium.results.column_guide import COMPARED
from podium.results.columns import BEGINNING, FOR_PAGES
from podium.results.hashing import as_indices, index_type, number_runs, surely_distinct_within
from podium.results.plain_rows import is_better_and_slower
from podium.support.arrays import Array, Integers, Mask

MAX_FAULTS = SHOWN_FAULTS + 1  # maximum number of errors to find per rule: one more than are displayed
NOTHING_COMPARES = "nothing determines the order of the finishers"
REMEDY = "give each a position, a score or a time_s, or a status (dnf, quit, …) to those who did not finish"


def contradictions(frame: pl.DataFrame, event: Integers | None = None) -> Iterator[Fault]:
    """Yield the contradictions between rows for one rule after another.

    `event` contains the event number of each row, or is None if events are not numbered.
    """
    if frame.is_empty():
        return
    table = with_ids(frame, event)
    rules = two_values_an_event, twice_in_a_heat, two_modes, uneven_team_scores, two_sides_begin
    for rule in (*rules, positions_against_times, nothing_to_compare):
        yield from rule(table)


def with_ids(frame: pl.DataFrame, event: Integers | None = None) -> pl.DataFrame:
    """Return the frame with `row` (from 1), `event`, and `unit`, the number of the heat across all events."""
    event = number_runs(frame["event_id"]).code if event is None else event
    unit = event
    if "heat" in frame.columns:
        heats = number_runs(frame["heat"].fill_null("")).code
        most = int(heats.max()) + 1
        unit = event.astype(index_type((int(event.max()) + 1) * most)) * most + heats
    return frame.with_row_index("row", 1).hstack([pl.Series("event", event), pl.Series("unit", unit)])


def two_values_an_event(table: pl.DataFrame) -> Iterator[Fault]:
    """Yield an error if an event has more than one start, sequence, pool, weight, title or address."""
    for column in ("started_at", "sequence", "pool", "weight", *FOR_PAGES):
        if column not in table.columns or table.select(pl.col(column).eq_missing(pl.col(column).first()).all()).item():
            continue
        yield from differing_values(table.drop_nulls(column), column)


def differing_values(table: pl.DataFrame, column: str) -> Iterator[Fault]:
    """Yield the rows in which a column's value differs from that in an earlier row of the same event."""
    step = np.diff(table["event"].to_numpy())
    if (step >= 0).all():  # the rows of each event are consecutive
        values = table[column].to_physical()
        if not ((values[1:] != values[:-1]).to_numpy() & (step == 0)).any():
            return
    elif table.select("event", column).unique().height == table["event"].n_unique():
        return
    first = pl.col(column).first().over("event")
    differing = table.with_columns(first=first).filter(pl.col(column) != pl.col("first"))
    for row, event, value, other in differing.select("row", "event_id", column, "first").head(MAX_FAULTS).iter_rows():
        yield Fault(
            row, column, str(value), f"differs from {str(other)!r} earlier in event {event}; an event can have only one"
        )


def twice_in_a_heat(table: pl.DataFrame) -> Iterator[Fault]:
    """Yield an error if a player has more than one row in a heat."""
    if surely_distinct_within(table["player"], table["unit"].to_numpy()):
        return
    again = table.filter(~pl.struct("unit", "player").is_first_distinct())
    for row, event, player in again.select("row", "event_id", "player").head(MAX_FAULTS).iter_rows():
        yield Fault(row, "player", player, f"appears twice in one heat of event {event}")


def two_modes(table: pl.DataFrame) -> Iterator[Fault]:
    if "mode" not in table.columns:
        return
    mode = pl.col("mode").fill_null("")
    differing = table.filter(mode != mode.first().over("unit"))
    for row, event, value in differing.select("row", "event_id", "mode").head(MAX_FAULTS).iter_rows():
        yield Fault(row, "mode", value, f"differs from an earlier row of the same heat of event {event}")


def uneven_team_scores(table: pl.DataFrame) -> Iterator[Fault]:
    """Yield an error if team mates have different team scores."""
    if "team" not in table.columns or "team_score" not in table.columns:
        return
    scored = table.filter(pl.col("team").is_not_null() & pl.col("team_score").is_not_null())
    differing = scored.filter(pl.col("team_score") != pl.col("team_score").first().over("unit", "team"))
    for row, team, value in differing.select("row", "team", "team_score").head(MAX_FAULTS).iter_rows():
        yield Fault(row, "team_score", value, f"differs from an earlier row of team {team} in the same heat")


def two_sides_begin(table: pl.DataFrame) -> Iterator[Fault]:
    """Yield an error if more than one player, or more than one team, in a heat is at home or moves first."""
    if "side" not in table.columns:
        return
    team = pl.col("team").fill_null("") if "team" in table.columns else pl.lit("")
    alone = pl.when(team == "").then(pl.col("player")).otherwise(team)
    sided = table.with_columns(alone=alone, begins=pl.col("side").is_in(BEGINNING).fill_null(value=False))
    first = pl.col("alone").filter("begins").first().over("unit")
    differing = sided.filter(first.is_not_null() & (pl.col("begins") != (pl.col("alone") == first)))
    for row, event, value in differing.select("row", "event_id", "side").head(MAX_FAULTS).iter_rows():
        remedy = (
            f"is next to another in one heat of event {event}: only one player, or all members of one team, can be"
            " home or white"
        )
        yield Fault(row, "side", value, remedy)


def counted_mask(table: pl.DataFrame) -> Mask:
    """Return a mask of the rows that belong to ranked finishers."""
    finished = table.select(pl.col("status") == "finished").to_series().to_numpy()
    return finished & table["ranked"].to_numpy() if "ranked" in table.columns else finished


def finishers(table: pl.DataFrame) -> pl.DataFrame:
    """Return the rows that belong to ranked finishers."""
    counted = counted_mask(table)
    return table if counted.all() else table.filter(pl.Series(counted))


def positions_against_times(table: pl.DataFrame) -> Iterator[Fault]:
    """Yield an error if a player with a better position has a longer time."""
    if "position" not in table.columns or "time_s" not in table.columns:
        return
    counted = counted_mask(table)
    if not is_better_and_slower(*(table[name].to_numpy()[counted] for name in ("unit", "position", "time_s"))):
        return
    both = finishers(table).filter(pl.col("position").is_not_null() & pl.col("time_s").is_not_null())
    ordered = both.sort("unit", "position", "time_s")
    slowest = pl.col("time_s").cum_max().over("unit", "position")
    best = pl.col("time_s").cum_max().over("unit")
    slower = ordered.with_columns(own=slowest, best=best).filter(pl.col("best") > pl.col("own"))
    if slower.is_empty():
        return
    for row, position, time_s in slower.sort("row").select("row", "position", "time_s").head(MAX_FAULTS).iter_rows():
        remedy = f"contradicts time_s {time_s:g}: a better position in the heat has a longer time"
        yield Fault(row, "position", position, remedy)


def nothing_to_compare(table: pl.DataFrame) -> Iterator[Fault]:
    """Yield an error unless all finishers in a heat have a position, a score or a time, or their teams have scores."""
    for row, event in bare_heats(table).select("row", "event_id").head(MAX_FAULTS).iter_rows():
        yield Fault(row, None, None, f"{NOTHING_COMPARES} of this heat of event {event}; {REMEDY}")


def bare_heats(table: pl.DataFrame) -> pl.DataFrame:
    """Return the heats in which the finishers cannot be compared."""
    comparable = [column for column in COMPARED if column in table.columns]
    for column in comparable[:3]:
        if column != "team_score" and table[column].null_count() == 0:
            return table.head(0).select("unit", "row", "event_id")
    known = [pl.col(column).is_not_null().all().alias(column) for column in comparable]
    heats = finishers(table).group_by("unit").agg(pl.col("row").first(), pl.col("event_id").first(), pl.len(), *known)
    bare = heats.filter(pl.col("len") > 1).filter(
        ~pl.any_horizontal([pl.lit(value=False), *(expression.meta.output_name() for expression in known)])
    )
    return bare.sort("row").select("unit", "row", "event_id")


SEQUENCE = "sequence"


def order_keys(frame: pl.DataFrame, first: Integers) -> tuple[Array, ...]:
    """Return the keys by which events are ordered, with the most important first and the order in the file last.

    Args:
        first: the first row of each event, in file order, as an array of shape (events,).
    """
    at = as_indices(first)
    keys: list[Array] = []
    if "started_at" in frame.columns:
        keys.append(frame["started_at"][at].cast(pl.Int64).to_numpy())
    if SEQUENCE in frame.columns:
        keys.append(frame[SEQUENCE][at].to_numpy())
    return (*keys, np.arange(first.size, dtype=first.dtype))


def in_sequence(frame: pl.DataFrame) -> pl.DataFrame:
    """Return the rows sorted by `sequence` and then by file order, without the column `sequence`."""
    return frame.sort(SEQUENCE, maintain_order=True).drop(SEQUENCE) if SEQUENCE in frame.columns else frame


def tie_notice(frame: pl.DataFrame) -> str | None:
    """Return a sentence with the number of dated events that are ordered only by their place in the file, or None."""
    if "started_at" not in frame.columns:
        return None
    moment = [name for name in ("pool", "started_at", SEQUENCE) if name in frame.columns]
    first = as_indices(number_runs(frame["event_id"]).first)
    events = frame.select(pl.col(name).gather(first) for name in moment)
    if (np.diff(events["started_at"].cast(pl.Int64).to_numpy()) > 0).all():
        return None
    tied = int((events.group_by(moment).len()["len"].replace(1, 0)).sum())
    if not tied:
        return None
    shared, remedy = "start", "a column sequence, with a number for each event, would decide instead"
    if SEQUENCE in moment:
        shared, remedy = "start and sequence", "give each its own sequence to decide otherwise"
    subject = f"{tied:,} of {events.height:,} events share their {shared} with another"
    return f"{subject}: they are rated in the order of the file ({remedy})"


def size_notice(frame: pl.DataFrame) -> str | None:
    """Return a sentence with the number of matches between two teams of different sizes, if these are over half.

    If a table has playing times, these show who played, so the result is None.
    """
    if "team" not in frame.columns or "played_s" in frame.columns:
        return None
    keys = [name for name in ("event_id", "heat") if name in frame.columns]
    teams = frame.drop_nulls("team").group_by(*keys, "team").len()
    matches = teams.group_by(keys).agg(teams=pl.len(), uneven=pl.col("len").min() < pl.col("len").max())
    matches = matches.filter(pl.col("teams") == 2)  # noqa: PLR2004  (two teams)
    uneven = int(matches["uneven"].sum())
    if 2 * uneven <= matches.height:
        return None
    return (
        f"sides differ in size in {uneven:,} of {matches.height:,} matches; adaptive:size=true uses that, but only if "
        "these are the sizes at the start (listed substitutes would reveal the result: add played_s instead)"
    )
