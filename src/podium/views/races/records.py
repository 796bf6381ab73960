"""The log for admins: every action with its author, time, reason and effect on ratings."""

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from itertools import chain
from typing import Any

import sqlalchemy as sa

from podium.engine.tables.equipment import called, kind_and_name
from podium.ledger.reasons.standings import STATUS_WORDS, plain
from podium.log.content import lines_of, numbers_in
from podium.log.log import (
    ANONYMIZE,
    DETAIL,
    MERGE,
    RENAME,
    START,
    SUBMIT,
    UNMERGE,
    WITH_CONTENT,
    current_kind,
    whole_body,
)
from podium.log.players import names_of
from podium.log.pools import PoolView
from podium.log.schema import correction, log, reason
from podium.log.statements import of_pool
from podium.results.columns import FILLED, SHARED, is_shared
from podium.support.answers import answer
from podium.views.events import EVENT_KINDS
from podium.views.models import LogRecord, Moved, answer_from
from podium.views.names import find_event, present_names
from podium.views.reader import PoolAt


@answer
class CorrectedLine:
    """A line of an event's content that a correction changed.

    Attributes:
        heat: Heat. Null if the event has only one heat.
        player: Player. Null for changes to the event itself.
        before: Former values as text. Null for a new row.
        after: New values as text. Null for a removed row.
    """

    heat: str | None
    player: str | None
    before: str | None
    after: str | None


@answer
class CorrectionRecord:
    """The submission of an event, or a later action on it.

    Attributes:
        seq: The number of the log entry.
        kind: Kind of change: submit, amend, move, void or unvoid.
        received_at: When the entry was received.
        actor: Name of the key, or the name given to the command.
        reason: Reason. Null if no reason was given, or if it was deleted.
        events: Number of events in which a change was recalculated. Null if unknown.
        players: Number of players for whom a change was recalculated. Null if unknown.
        largest: Largest difference in any rating, in points. Null if unknown.
        lines: Changes to the event's content.
    """

    seq: int
    kind: str
    received_at: datetime
    actor: str
    reason: str | None
    events: int | None
    players: int | None
    largest: float | None
    lines: tuple[CorrectedLine, ...]


SELECT_RECORDS = (
    sa.select(
        *(log.c[name] for name in ("seq", "place", "hash", "kind", "subject", "received_at", "actor")),
        sa.case((log.c.kind == MERGE, log.c.body)).label("merge"),
        reason.c.text.label("reason"),
        *(correction.c[name] for name in ("events", "players", "largest")),
    )
    .outerjoin(reason, sa.and_(reason.c.pool_id == log.c.pool_id, reason.c.seq == log.c.seq))
    .outerjoin(correction, sa.and_(correction.c.pool_id == log.c.pool_id, correction.c.seq == log.c.seq))
    .where(of_pool(log))
)
SELECT_ENTRIES = SELECT_RECORDS.where(log.c.seq > sa.bindparam("after")).order_by(log.c.seq).limit(sa.bindparam("most"))

SELECT_NEWEST_ENTRIES = (
    SELECT_RECORDS.where(log.c.seq < sa.bindparam("before")).order_by(log.c.seq.desc()).limit(sa.bindparam("most"))
)
OF_PLAYERS = (MERGE, UNMERGE, RENAME, ANONYMIZE, START, DETAIL)
NO_END = 2**62


def listing(pool: PoolView, *, after: int = 0, most: int = 100) -> tuple[LogRecord, ...]:
    """List the log entries after a given number, oldest first.

    Args:
        pool: the pool.
        after: the number.
        most: maximum number of entries.

    Returns:
        The entries without their content, but with their reasons, unless these were deleted. Corrections include their
        effect, except in imported pools.
    """
    return records(pool, pool.execute(SELECT_ENTRIES, after=after, most=most).all())


def newest_listing(pool: PoolView, *, before: int | None = None, most: int = 100) -> tuple[LogRecord, ...]:
    """List the log entries before a given number, newest first.

    Args:
        pool: the pool.
        before: the number. Default: start with the newest entry.
        most: maximum number of entries.

    Returns:
        The entries, in the form that `log` returns.
    """
    end = NO_END if before is None else before
    return records(pool, pool.execute(SELECT_NEWEST_ENTRIES, before=end, most=most).all())


def records(pool: PoolView, rows: Sequence[Any]) -> tuple[LogRecord, ...]:
    into = {row.seq: int(json.loads(row.merge)["into"]) for row in rows if row.merge is not None}
    players = {row.seq: int(row.subject) for row in rows if row.kind in OF_PLAYERS}
    found = names_of(pool, {*into.values(), *players.values()}) if players else {}
    names = {number: called(name) for number, name in found.items()}
    return tuple(
        answer_from(
            LogRecord,
            row,
            kind=current_kind(row.kind),
            hash=None if row.hash is None else row.hash.hex(),
            player=names.get(players.get(row.seq, 0)),
            into=names.get(into.get(row.seq, 0)),
            received_at=datetime.fromisoformat(row.received_at),
            moved=None if row.events is None else Moved(row.events, row.players, row.largest),
        )
        for row in rows
    )


SELECT_RECORDS_OF_EVENT = (
    SELECT_RECORDS.add_columns(whole_body)
    .where(log.c.subject == sa.bindparam("event"), log.c.kind.in_([*map(sa.literal, EVENT_KINDS)]))
    .order_by(log.c.seq)
)
# columns with the same value in every row of an event
OF_EVENT = ("title", "url", "started_at", "mode", "ranked", "weight")
OF_LINE = (
    "status", "position", "time_s", "score", "team", "team_score", "played_s", "duration_s", "handicap", "side",
    "awards", "age_group",
)  # fmt: skip
LABELS = {
    "title": "title", "url": "address", "started_at": "start", "mode": "mode", "weight": "weight", "position": "place",
    "time_s": "time", "score": "score", "team": "team", "team_score": "team's score", "played_s": "played",
    "duration_s": "duration", "side": "side", "awards": "awards",
    "age_group": "age group",
}  # fmt: skip
TRUTH_WORDS = {"ranked": ("unranked", "ranked"), "handicap": ("no handicap", "handicap")}
SECONDS = ("time_s", "played_s", "duration_s")
FINISHED = "finished"
Line = dict[str, Any]
LineKey = tuple[str | None, int]  # heat and player


SELECT_MADE_UP = (
    sa.select(reason.c.text)
    .join(log, log.c.seq == reason.c.seq)
    .where(of_pool(reason), log.c.kind == SUBMIT)
    .group_by(reason.c.text)
    .order_by(sa.func.min(log.c.seq))
)


def made_up(pool: PoolView) -> tuple[str, ...]:
    """List the values that were filled in when results were sent, such as dates.

    Returns:
        One sentence per note, in the order in which they were logged.
    """
    return tuple(pool.execute(SELECT_MADE_UP).scalars())


def event_record(pool: PoolAt, event_id: str) -> tuple[CorrectionRecord, ...]:
    """List the submission of an event and all later actions on it.

    Returns:
        The event's submission, followed by each correction with its reason and the changed lines, oldest first.

    Raises:
        UnknownError: the pool or the event does not exist.
    """
    event = find_event(pool, event_id).event_id
    rows = [row for row in pool.execute(SELECT_RECORDS_OF_EVENT, event=event) if row.seq <= pool.snapshot.seq]
    contents = [lines_of(row.body) if row.kind in WITH_CONTENT else None for row in rows]
    name_of = names_in(pool, [content for content in contents if content is not None])
    records, before = [], None
    for row, after in zip(rows, contents, strict=True):
        corrected = () if before is None or after is None else tuple(corrected_lines(before, after, name_of))
        before = before if after is None else after
        received_at = datetime.fromisoformat(row.received_at)
        kind = current_kind(row.kind)
        records.append(answer_from(CorrectionRecord, row, kind=kind, received_at=received_at, lines=corrected))
    return tuple(records)


def names_in(pool: PoolAt, contents: list[list[Line]]) -> dict[int, str]:
    """Return the names for the numbers in an event's contents.

    With only one version of the content, the event was never corrected, and no name is needed.
    """
    if len(contents) < 2:  # noqa: PLR2004
        return {}
    numbers = numbers_in(chain.from_iterable(contents))
    return {number: kind_and_name(name)[1] for number, name in present_names(pool, numbers).items()}


def corrected_lines(before: list[Line], after: list[Line], name_of: Mapping[int, str]) -> Iterator[CorrectedLine]:
    """Yield the differences in an event's content: the event itself, then its lines, and finally removed lines."""
    shared = sorted({name for line in (*before, *after) for name in line if is_shared(name)})
    before, after = (
        [line | {name: name_of[line[name]] for name in shared if name in line} for line in lines]
        for lines in (before, after)
    )
    of_event, columns = words(before[0], after[0], OF_EVENT), (*OF_LINE, *shared)
    if of_event is not None:
        yield CorrectedLine(None, None, *of_event)
    old, new = by_key(before), by_key(after)
    for key, line in new.items():
        heat, number = key
        if key not in old:
            yield CorrectedLine(heat, name_of[number], None, in_words(line, {}, columns))
            continue
        of_line = words(old[key], line, columns)
        if of_line is not None:
            yield CorrectedLine(heat, name_of[number], *of_line)
    for key, line in old.items():
        if key not in new:
            yield CorrectedLine(key[0], name_of[key[1]], in_words(line, {}, columns), None)


def by_key(lines: list[Line]) -> dict[LineKey, Line]:
    return {(line.get("heat"), line["player"]): line for line in lines}


def words(before: Line, after: Line, columns: tuple[str, ...]) -> tuple[str, str] | None:
    """Return the differences between two lines as two strings (before and after), or None if the lines are equal."""
    if all(cell(before, name) == cell(after, name) for name in columns):
        return None
    return in_words(before, after, columns), in_words(after, before, columns)


def cell(line: Line, name: str) -> Any:
    """Return a value in a line, or the default if the line leaves it out."""
    return line.get(name, FINISHED if name == "status" else FILLED.get(name))


def in_words(line: Line, other: Line, columns: tuple[str, ...]) -> str:
    """Describe the values in which a line differs from another: "quit", "place 2, score 30", "no score"."""
    if other:
        names = [name for name in columns if cell(line, name) != cell(other, name)]
    else:
        names = [name for name in columns if line.get(name) is not None]
    present = [cell_words(name, cell(line, name)) for name in names if cell(line, name) not in (None, FINISHED)]
    lacking = [label_of(name) for name in names if cell(line, name) is None]
    absent = FINISHED if "status" in names else ", ".join(f"no {label}" for label in lacking)
    return ", ".join(present) or absent


def label_of(name: str) -> str:
    return LABELS.get(name, name.removeprefix(SHARED))


def cell_words(name: str, value: Any) -> str:
    if name == "status":
        return STATUS_WORDS[value]
    if name in TRUTH_WORDS and value in (0, 1):
        return TRUTH_WORDS[name][int(value)]
    text = plain(value) if isinstance(value, float) else str(value)
    return f"{label_of(name)} {text}{' s' if name in SECONDS else ''}"
