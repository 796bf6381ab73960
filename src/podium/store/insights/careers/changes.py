"""A player's changes: all of them as columns of numbers, and pages of them line by line."""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import sqlalchemy as sa

from podium.errors import ParameterError
from podium.store.insights.player_models import ChangesPage, FormLine
from podium.store.log.pools import BOUND_KEY, FOREVER, OrderKey, Pool, key_of, key_params
from podium.store.read.states import states_of
from podium.store.rows.standings import get_standing
from podium.store.sql.among import among, values
from podium.store.sql.schema import change, event, log
from podium.store.sql.timestamps import instant
from podium.support.rounding import shown_change

EVER = -(2**62)  # microseconds: no change is older
LARGEST_NUMBER = 2**63  # what a database holds
SELECT_ROWS = sa.select(
    *(change.c[name] for name in ("started_at", "seq", "place", "rating_before", "rating", "rank", "field", "state"))
).where(change.c.generation_id == sa.bindparam("generation"), change.c.player_id == sa.bindparam("who"))
SELECT_CHANGES = SELECT_ROWS.where(change.c.started_at >= sa.bindparam("since")).order_by(
    change.c.started_at, change.c.seq
)
SELECT_CHANGES_BEFORE = (
    SELECT_ROWS.where(key_of(change) < BOUND_KEY)
    .order_by(change.c.started_at.desc(), change.c.seq.desc())
    .limit(sa.bindparam("top"))
)
SELECT_EVENT_NAMES = (  # by the numbers of their submissions, which are a key of the log
    sa.select(log.c.seq, event.c.event_id, event.c.title)
    .join(event, sa.and_(event.c.pool_id == log.c.pool_id, event.c.event_id == log.c.subject))
    .where(log.c.pool_id == sa.bindparam("pool"), among(log.c.seq))
)
EventNames = dict[int, tuple[str, str | None]]  # id and title by the number of the submission


class Career(NamedTuple):
    """Changes of one player in the order of rating, a column each."""

    started_at: npt.NDArray[np.int64]  # microseconds since 1970
    seq: npt.NDArray[np.int64]
    place: npt.NDArray[np.int64]  # 0 where a season began
    before: npt.NDArray[np.float64]
    after: npt.NDArray[np.float64]
    rank: npt.NDArray[np.int64]  # 0 where none is known
    field: npt.NDArray[np.int64]  # 0 where a season began
    states: npt.NDArray[np.float64]  # (rows, fields): after each

    @classmethod
    def of_rows(cls, pool: Pool, rows: Sequence[Any]) -> "Career":
        """The columns of rows of the ledger."""
        started_at, seq, place, before, after, rank, field, states = zip(*rows, strict=True) if rows else [()] * 8
        return cls(
            started_at=np.array(started_at, np.int64),
            seq=np.array(seq, np.int64),
            place=np.array(place, np.int64),
            before=np.array(before, np.float64),
            after=np.array(after, np.float64),
            rank=np.array([each or 0 for each in rank], np.int64),
            field=np.array(field, np.int64),
            states=states_of(pool, states),
        )

    def part(self, rows: Any) -> "Career":
        """Some of the changes."""
        return Career(*(column[rows] for column in self))

    def of_events(self) -> "Career":
        """The changes that events made."""
        return self.part(self.place > 0)

    @property
    def gain(self) -> npt.NDArray[np.float64]:
        """What each moved, in points."""
        return self.after - self.before

    def shown_gains(self, digits: int) -> list[float]:
        """What each moved as people read it, to so many decimals."""
        pairs = zip(self.before.tolist(), self.after.tolist(), strict=True)
        return [float(shown_change(before, after, digits)) for before, after in pairs]

    def deviations(self, pool: Pool) -> list[float | None]:
        """How uncertain the rating was after each; None where the system has no such number."""
        if "deviation" not in pool.system.state_type._fields:
            return [None] * self.seq.size
        return list(self.states[:, pool.system.column("deviation")].tolist())


def career_of(connection: sa.Connection, pool: Pool, number: int, since: int = EVER) -> Career:
    """A rated player's changes from a moment on, in microseconds since 1970."""
    params = {"generation": pool.generation, "who": number, "since": since}
    return Career.of_rows(pool, connection.execute(SELECT_CHANGES, params).all())


def event_names(connection: sa.Connection, pool: Pool, careers: Iterable[Career]) -> EventNames:
    """The ids and titles of the events in parts of careers; none of a season."""
    seqs = {seq for career in careers for seq in career.seq[career.place > 0].tolist()}
    return event_names_of(connection, pool, sorted(seqs))


def event_names_of(connection: sa.Connection, pool: Pool, seqs: Sequence[int]) -> EventNames:
    """The ids and titles of events by the numbers of their submissions."""
    rows = connection.execute(SELECT_EVENT_NAMES, {"pool": pool.id, "among": values(seqs)})
    return {row.seq: (row.event_id, row.title) for row in rows}


def form_lines(career: Career, names: EventNames, digits: int) -> tuple[FormLine, ...]:
    """The changes as lines."""
    columns = (career.started_at, career.seq, career.gain, career.after, career.rank, career.field)
    shown = career.shown_gains(digits)
    lines = []
    for k, (started_at, seq, gain, rating, rank, field) in enumerate(zip(*(c.tolist() for c in columns), strict=True)):
        event_id, title = names.get(seq, (None, None))
        lines.append(
            FormLine(event_id, title, instant(started_at), gain, shown[k], rating, rank or None, field or None)
        )
    return tuple(lines)


def changes_page(connection: sa.Connection, pool: Pool, name: str, before: str | None, top: int) -> ChangesPage:
    """So many of a player's changes, newest first.

    Args:
        before: the `next` of the page before; the newest where None.

    Raises:
        UnknownError: the player has no rating here.
        ParameterError: `before` is no cursor.
    """
    key = FOREVER if before is None else read_cursor(before)
    number = get_standing(connection, pool, name).player_id
    params = {"who": number, "top": top + 1} | key_params(pool, key)
    rows = connection.execute(SELECT_CHANGES_BEFORE, params).all()
    following = f"{rows[top - 1].started_at},{rows[top - 1].seq}" if len(rows) > top else None
    career = Career.of_rows(pool, rows[:top])
    return ChangesPage(form_lines(career, event_names(connection, pool, [career]), pool.system.digits), following)


def read_cursor(cursor: str) -> OrderKey:
    """The change that a page ended with.

    Raises:
        ParameterError: it is no cursor.
    """
    started_at, _, seq = cursor.partition(",")
    try:
        key = OrderKey(int(started_at), int(seq))
    except ValueError:
        key = OrderKey(LARGEST_NUMBER, 0)
    if max(map(abs, key)) >= LARGEST_NUMBER:
        raise ParameterError(f"{cursor!r} is not the `next` of a page")
    return key
