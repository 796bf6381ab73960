"""The record of an event: its submission, and what was done to it since, line by line."""

import json
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from podium.ledger.reasons.standings import STATUS_WORDS, plain
from podium.store.derive.events import get_event
from podium.store.insights.fact_models import CorrectedLine, CorrectionRecord
from podium.store.log.content import DEFAULTS
from podium.store.log.log import WITH_CONTENT
from podium.store.log.players import merges, names_of
from podium.store.log.pools import Pool
from podium.store.read.events import EVENT_KINDS
from podium.store.read.log_listing import SELECT_RECORDS
from podium.store.sql.schema import log

SELECT_RECORDS_OF_EVENT = (
    SELECT_RECORDS.add_columns(log.c.body)
    .where(log.c.subject == sa.bindparam("event"), log.c.kind.in_(EVENT_KINDS))
    .order_by(log.c.seq)
)
OF_EVENT = ("title", "url", "started_at", "mode", "ranked", "weight")  # the same in every row of an event
OF_LINE = (
    "status", "position", "time_s", "score", "team", "team_score", "played_s", "duration_s", "handicap",
)  # fmt: skip
LABELS = {
    "title": "title", "url": "address", "started_at": "start", "mode": "mode", "weight": "weight", "position": "place",
    "time_s": "time", "score": "score", "team": "team", "team_score": "team's score", "played_s": "played",
    "duration_s": "duration",
}  # fmt: skip
TRUTH_WORDS = {"ranked": ("unranked", "ranked"), "handicap": ("no handicap", "handicap")}
SECONDS = ("time_s", "played_s", "duration_s")
FINISHED = "finished"
Line = dict[str, Any]
LineKey = tuple[str | None, int]  # heat and player


def event_record(connection: sa.Connection, pool: Pool, event_id: str) -> tuple[CorrectionRecord, ...]:
    """An event's submission, and what was done to it since, oldest first.

    Raises:
        UnknownError: there is no such event.
    """
    get_event(connection, pool, event_id)
    rows = connection.execute(SELECT_RECORDS_OF_EVENT, {"pool": pool.id, "event": event_id}).all()
    contents = [lines_of(row.body) if row.kind in WITH_CONTENT else None for row in rows]
    numbers = {line["player"] for lines in contents if lines is not None for line in lines}
    merged = merges(connection, pool)
    names = names_of(connection, pool, {merged.get(number, number) for number in numbers})
    name_of = {number: names[merged.get(number, number)] for number in numbers}
    records, before = [], None
    for row, after in zip(rows, contents, strict=True):
        corrected = () if before is None or after is None else tuple(corrected_lines(before, after, name_of))
        before = before if after is None else after
        records.append(
            CorrectionRecord(
                row.seq,
                row.kind,
                datetime.fromisoformat(row.received_at),
                row.actor,
                row.reason,
                row.events,
                row.players,
                row.largest,
                corrected,
            )
        )
    return tuple(records)


def lines_of(body: bytes) -> list[Line]:
    """The rows of an event's content."""
    return [json.loads(line) for line in body.decode().split("\n") if line]


def corrected_lines(before: list[Line], after: list[Line], name_of: Mapping[int, str]) -> Iterator[CorrectedLine]:
    """What is another in an event's content: of the event itself first, then line by line, those that are gone last."""
    of_event = words(before[0], after[0], OF_EVENT)
    if of_event is not None:
        yield CorrectedLine(None, None, *of_event)
    old, new = by_key(before), by_key(after)
    for key, line in new.items():
        heat, number = key
        if key not in old:
            yield CorrectedLine(heat, name_of[number], None, in_words(line, {}, OF_LINE))
            continue
        of_line = words(old[key], line, OF_LINE)
        if of_line is not None:
            yield CorrectedLine(heat, name_of[number], *of_line)
    for key, line in old.items():
        if key not in new:
            yield CorrectedLine(key[0], name_of[key[1]], in_words(line, {}, OF_LINE), None)


def by_key(lines: list[Line]) -> dict[LineKey, Line]:
    """The lines by heat and player."""
    return {(line.get("heat"), line["player"]): line for line in lines}


def words(before: Line, after: Line, columns: tuple[str, ...]) -> tuple[str, str] | None:
    """What is another of two lines, as it was and as it is, in words; None where nothing is."""
    if all(cell(before, name) == cell(after, name) for name in columns):
        return None
    return in_words(before, after, columns), in_words(after, before, columns)


def cell(line: Line, name: str) -> Any:
    """A cell of a line; what a line leaves out has its default."""
    return line.get(name, FINISHED if name == "status" else DEFAULTS.get(name))


def in_words(line: Line, other: Line, columns: tuple[str, ...]) -> str:
    """What a line says otherwise than another, or alone: "quit", "place 2, score 30", "no score"."""
    if other:
        names = [name for name in columns if cell(line, name) != cell(other, name)]
    else:
        names = [name for name in columns if line.get(name) is not None]
    present = [cell_words(name, cell(line, name)) for name in names if cell(line, name) not in (None, FINISHED)]
    absent = (
        FINISHED if "status" in names else ", ".join(f"no {LABELS[name]}" for name in names if cell(line, name) is None)
    )
    return ", ".join(present) or absent


def cell_words(name: str, value: Any) -> str:
    """A cell in words."""
    if name == "status":
        return STATUS_WORDS[value]
    if name in TRUTH_WORDS:
        return TRUTH_WORDS[name][value]
    text = plain(value) if isinstance(value, float) else str(value)
    return f"{LABELS[name]} {text}{' s' if name in SECONDS else ''}"
