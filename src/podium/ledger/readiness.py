"""What of results can be rated, and what each system would still need of them."""

from collections.abc import Iterator

import polars as pl

from podium.engine.tables.selection import UNRATED_STATUS
from podium.results.reading import Results
from podium.systems import find, names


def why_nothing_counts(frame: pl.DataFrame) -> str | None:
    """Why no event of checked results can be rated; None where one can."""
    counts = ~pl.col("status").is_in(UNRATED_STATUS)
    if "ranked" in frame.columns:
        counts &= pl.col("ranked")
    events = frame.group_by("event_id").agg(
        entries=pl.col("player").filter(counts).n_unique(), rows=pl.col("player").n_unique()
    )
    if events.is_empty():
        return "it has a header and no rows"
    if (events["entries"] > 1).any():
        return None
    single = int((events["rows"] <= 1).sum())
    if single == events.height:
        subject = "the one event has" if single == 1 else f"each of the {single:,} events has"
        return f"{subject} a single entrant, and a rating needs two who met"
    return (
        f"no event has two entries that count ({events.height:,} events; disqualified, did_not_start and rows that are "
        "not ranked do not count)"
    )


def needs(results: Results) -> Iterator[str]:
    """What systems would need that the results do not have, a line for each lack."""
    finishers = results.frame.filter(pl.col("status") == "finished")
    if "ranked" in finishers.columns:
        finishers = finishers.filter("ranked")
    lacks: dict[tuple[str, ...], list[str]] = {}
    for name in names():
        missing = [column for column in find(name).needs if count_lacking(finishers, column)]
        lacking = tuple(lack(finishers, column) for column in missing)
        if lacking:
            lacks.setdefault(lacking, []).append(name)
    for columns, systems in lacks.items():
        yield f"{', '.join(systems)} would need of every finisher: {', '.join(columns)}"


def count_lacking(finishers: pl.DataFrame, column: str) -> int:
    """How many finishers have no value in a column."""
    return int(finishers[column].null_count()) if column in finishers.columns else finishers.height


def lack(finishers: pl.DataFrame, column: str) -> str:
    """A column that finishers lack, and how many do, where others have it."""
    count = count_lacking(finishers, column)
    return column if count == finishers.height else f"{column} (lacking in {count:,} of {finishers.height:,})"
