"""Events with their content, changes and reasons; the changes of one player, and of all; and who met whom."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from decimal import Decimal
from typing import Any, NamedTuple, Self

import numpy as np
import polars as pl
import sqlalchemy as sa

from podium.engine.replay import Replayed
from podium.engine.tables.encoding import Events
from podium.engine.tables.selection import UNRATED_STATUS
from podium.engine.tables.things import names_in
from podium.errors import ParameterError, UnknownError
from podium.ledger.reasons import Explanation
from podium.ledger.reasons.explaining import explain
from podium.ledger.reasons.what_if import MOST_IMAGINED, WhatIf, is_quickly_imagined, what_if
from podium.live import Live
from podium.log.content import read_bodies
from podium.log.log import REGISTER, RESTORE, SEASON, VOID, WITH_CONTENT, bodies_of, entries_after, newest_seq
from podium.log.players import known_numbers, merges, names_of, number_of, unrated_error
from podium.log.pools import FOREVER, OrderKey, Pool, PoolView, newest_first, refuse_other_arithmetic, same_event
from podium.log.schema import change, event
from podium.log.statements import is_thing, of_generation, of_players, of_pool
from podium.pool.roster import as_table
from podium.results.columns import UTC
from podium.results.derived_heats import OVERALL, overall_rows
from podium.results.reading import Results
from podium.store.reading.models import CareerChange, EventDetails, ResultRow, rows_as
from podium.store.reading.moments import Answers
from podium.store.reading.player_models import Encounters
from podium.store.writing.rating.events import (
    RATED,
    SELECT_MOVED,
    Change,
    changes_from,
    changes_of,
    get_event,
    version_of,
)
from podium.store.writing.rating.ledger_rows import newest_pool_state
from podium.store.writing.rating.rating import with_names
from podium.store.writing.rating.standing_rows import Standing, standings_before, states_of, stored_standings

EVENT_KINDS = (*WITH_CONTENT, VOID, RESTORE)
SELECT_CAREER = (
    sa.select(event.c.event_id, change.c.started_at, change.c.rating_before, change.c.rating, change.c.seq)
    .outerjoin(event, sa.and_(of_pool(event), same_event(event, change)))
    .where(of_generation(change), change.c.player_id == sa.bindparam("who"))
    .order_by(*newest_first(change))
    .limit(sa.bindparam("top"))
)


def event_details(pool: PoolView, event_id: str) -> EventDetails:
    """Show an event with its content and changes.

    Returns:
        Its content, status and changes.

    Raises:
        UnknownError: no such pool or event.
    """
    row = get_event(pool, event_id)
    return details_of(pool, row, event_results(pool, row), changes_of(pool, OrderKey(row.started_at, row.seq)))


def details_of(pool: Pool, row: Any, results: Results, changes: Sequence[Change]) -> EventDetails:
    return EventDetails(
        row.event_id, row.seq, pool.moment(row.started_at), row.title, row.url, row.status, row.reason, row.match_id,
        row.content_seq != row.seq, version_of(row), rows_as(ResultRow, results.frame), tuple(changes),
        sequence=pool.sequence(row.started_at),
    )  # fmt: skip


def event_results(pool: PoolView, known: Any) -> Results:
    """The rows of an event, players by name."""
    (body,) = bodies_of(pool, [known.content_seq]).values()
    return Results(as_table(pool, with_names(pool, read_bodies([(body, known.started_at)]))), pool.name)


def news(pool: PoolView, after: int, most: int = 100) -> list[dict[str, Any]]:
    """List what happened since an entry of the log.

    Args:
        after: the sequence number of that entry.
        most: entries to list.

    Returns:
        A dict an entry, oldest first.
    """
    entries = []
    for row in entries_after(pool, after, most):
        one: dict[str, Any] = {"seq": row.seq, "kind": row.kind}
        if row.kind in EVENT_KINDS:
            known = get_event(pool, row.subject)
            changes = changes_of(pool, OrderKey(known.started_at, known.seq))
            one |= {"event_id": row.subject, "status": known.status, "reason": known.reason}
            one["changes"] = [asdict(each) for each in changes]
        elif row.kind == REGISTER:
            one["match_id"] = row.subject
        elif row.kind == SEASON:
            one["season"] = row.subject
        entries.append(one)
    return entries


def explanation(pool: PoolView, event_id: str, name: str) -> Explanation:
    """Say why a player's rating moved in an event, exactly.

    Returns:
        The change in points, every reason as a row, and the reasons in a sentence.

    Raises:
        UnknownError: no such pool or event, or the player is not rated in it.
    """
    return explain(pool.system, *rated_event(pool, event_id), name_of(pool, name))


def alternatives(pool: PoolView, event_id: str, name: str) -> WhatIf:
    """Show what an event would have done to a player's rating with one thing changed.

    Returns:
        The change as it was, and with each heat won, each quit a finish, and all heats won.

    Raises:
        UnknownError: no such pool or event, or the player is not rated in it.
        ParameterError: the field is too large to be rated again while somebody waits.
    """
    events, replayed, event_id = rated_event(pool, event_id)
    if not is_quickly_imagined(pool.system, events):
        raise ParameterError(
            f"event {event_id!r} has {len(replayed.before):,} entrants; what would have been is worked out here for "
            f"{MOST_IMAGINED:,}; `podium explain --what-if` has no such limit"
        )
    return what_if(pool.system, events, replayed, event_id, name_of(pool, name))


def rated_event(pool: PoolView, event_id: str) -> tuple[Events, Replayed, str]:
    """An event as its pool has rated it, by `replay_of`, and the id that it has now."""
    refuse_other_arithmetic(pool)
    row = get_event(pool, event_id)
    if row.status != RATED:
        raise UnknownError(f"event {event_id!r} is not rated: {row.reason}")
    found = replay_of(pool, row, event_results(pool, row))
    return found.events, found.replayed, row.event_id


class Before(NamedTuple):
    """How some players and things stood before a position, and their pool."""

    numbers: dict[str, int]  # by name, of the accounts that they play on as
    standings: dict[int, Standing]  # none of a newcomer
    pool_state: bytes | None

    @classmethod
    def of(cls, pool: PoolView, names: Sequence[str], key: OrderKey) -> Self:
        merged = merges(pool)
        numbers = {name: merged.get(number, number) for name, number in known_numbers(pool, names).items()}
        known = stored_standings(pool, {*numbers.values()})
        newest = newest_pool_state(pool, key)
        before = known if key == FOREVER else standings_before(pool, known, key)
        return cls(numbers, before, None if newest is None else newest.state)


@dataclass(frozen=True, slots=True)
class RatedEvent:
    """An event as its pool has rated it."""

    row: Any
    results: Results
    before: Before
    moved: Sequence[Any]  # as `SELECT_MOVED` has it
    events: Events
    replayed: Replayed  # as the ledger has it

    def changes(self, pool: Pool) -> list[Change]:
        names = {number: name for name, number in self.before.numbers.items()}
        return changes_from(pool, names, [tuple(each) for each in self.moved if not is_thing(each.player_id)])


def replay_of(pool: PoolView, row: Any, results: Results) -> RatedEvent:
    """A rated event encoded, and what its replay gave."""
    names = [*dict.fromkeys(results.frame["player"].to_list()), *names_in(results.frame, pool.system.kinds)]
    key = OrderKey(row.started_at, row.seq)
    before, moved = Before.of(pool, names, key), pool.fetch(SELECT_MOVED, **key._asdict())
    known = {name: before.standings.get(number) for name, number in before.numbers.items()}
    live = Live(pool.system)
    seats = {(pool.name, name): (each.state, each.played_at) for name, each in known.items() if each is not None}
    live.resume(seats, {} if before.pool_state is None else {pool.name: before.pool_state})
    events, standing = live.standing(results)
    place = {number: k for k, (number, *_) in enumerate(moved)}
    order = [place[before.numbers[name]] for name in events.player_names[events.columns.player].to_list()]
    ratings, states = np.array([each.rating_before for each in moved]), states_of(pool, [each.state for each in moved])
    replayed = replace(standing, before=ratings[order], after=states[order])
    return RatedEvent(row, results, before, moved, events, replayed)


def name_of(pool: PoolView, name: str) -> str:
    """The present name of the player that a name means."""
    (present,) = names_of(pool, [number_of(pool, name)]).values()
    return present


def career(pool: PoolView, name: str, top: int = 1000) -> tuple[CareerChange, ...]:
    """Show a player's newest changes.

    Args:
        top: changes to show.

    Returns:
        The changes, newest first; those of seasons have no event.

    Raises:
        UnknownError: no such pool or player.
    """
    rows = pool.execute(SELECT_CAREER, who=number_of(pool, name), top=top).all()
    if not rows:
        raise unrated_error(pool, name)
    return tuple(
        CareerChange(
            event_id, pool.moment(started_at), before, rating - before, rating, sequence=pool.sequence(started_at)
        )
        for event_id, started_at, before, rating, _ in rows
    )


def history(pool: PoolView) -> pl.DataFrame:
    """Read every change as the ledger has it.

    Returns:
        A row for each player of each event, as `podium.rate(…).history` has it.
    """
    changes = (
        sa.select(
            event.c.event_id, change.c.started_at, change.c.player_id, change.c.rating_before,
            change.c.rating, change.c.state,
        )
        .outerjoin(event, sa.and_(event.c.pool_id == pool.id, same_event(event, change)))
        .where(change.c.generation_id == pool.generation, of_players(change))
        .order_by(change.c.started_at, change.c.seq, change.c.place, change.c.player_id)
    )  # fmt: skip
    rows = pool.execute(changes).all()
    names = names_of(pool)
    shown = pool.system.shown(states_of(pool, [row.state for row in rows]))
    moments = [None if pool.is_counted else row.started_at for row in rows]
    return pl.DataFrame(
        {
            "event_id": pl.Series([row.event_id for row in rows], dtype=pl.String),
            "pool": pl.repeat(pool.name, len(rows), dtype=pl.String, eager=True),
            "started_at": pl.Series(moments, dtype=pl.Int64).cast(UTC),
            "player": pl.Series([names[row.player_id] for row in rows], dtype=pl.String),
            "rating_before": pl.Series([row.rating_before for row in rows], dtype=pl.Float64),
            "delta": pl.Series([row.rating - row.rating_before for row in rows], dtype=pl.Float64),
            **{name: pl.Series(column) for name, column in shown.items()},
        }
    )


Line = dict[str, Any]


class Winners(NamedTuple):
    names: tuple[str, ...]
    entrants: int


def sent_winners(pool: PoolView, rows: Sequence[Any]) -> dict[str, Winners]:
    """Who won each of some events, by the event; nobody where nothing says who."""
    if not rows:
        return {}
    bodies = bodies_of(pool, [row.content_seq for row in rows])
    frame = with_names(pool, read_bodies((bodies[row.content_seq], row.started_at) for row in rows))
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
    best = min(results, default=None)
    return tuple(line["player"] for line, each in zip(finishers, results, strict=False) if each == best)


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


MOST_EVENTS, MOST_MET = 100, 4_000  # events, and entrants of them, that are looked at
MOST_NAMED = 3
OWN = (
    sa.select(change.c.generation_id, change.c.started_at, change.c.seq, change.c.rank)
    .where(of_generation(change), change.c.player_id == sa.bindparam("who"), change.c.rank.is_not(None))
    .order_by(*newest_first(change))
    .limit(sa.bindparam("top"))
    .subquery()
)
AHEAD = sa.func.sum(sa.case((change.c.rank > OWN.c.rank, 1), else_=0))
BEHIND = sa.func.sum(sa.case((change.c.rank < OWN.c.rank, 1), else_=0))
SELECT_MET = (
    sa.select(change.c.player_id, sa.func.count().label("met"), AHEAD.label("ahead"), BEHIND.label("behind"))
    .select_from(OWN)
    .join(change, sa.and_(change.c.generation_id == OWN.c.generation_id, same_event(change, OWN)))
    .where(change.c.player_id != sa.bindparam("who"), change.c.rank.is_not(None))
    .group_by(change.c.player_id)
    .having(sa.func.count() > 1)
)


def encounters(pool: PoolView, answers: Answers, number: int, fields: list[int]) -> tuple[Encounters, ...]:
    """Up to three whom a player finished ahead of more often than behind, then the one who leads most.

    The largest lead stands first, and nobody is among them who was met once. `fields` are how many entrants each of the
    player's events had, newest first.
    """
    total, top = 0, 0
    for field in fields[:MOST_EVENTS]:
        total += field
        if total > MOST_MET:
            break
        top += 1

    def find() -> tuple[Encounters, ...]:
        met = pool.fetch(SELECT_MET, who=number, top=top)
        rows = sorted(met, key=lambda row: (row.behind - row.ahead, -row.met, row.player_id))
        chosen = [row for row in rows[:MOST_NAMED] if row.ahead > row.behind]
        chosen += [row for row in rows[-1:] if row.behind > row.ahead]
        names = names_of(pool, {row.player_id for row in chosen})
        return tuple(Encounters(names[row.player_id], row.met, row.ahead, row.behind) for row in chosen)

    key = ("encounters", pool.id, pool.generation, number)
    return answers.value(key, newest_seq(pool), find)
