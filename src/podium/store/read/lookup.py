"""What is read of events and of players against each other: contents, reasons, meetings, the whole history."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl
import sqlalchemy as sa

from podium.engine.encoding import encode
from podium.errors import ParameterError, UnknownError
from podium.kernels.records import read
from podium.ledger.explanation import Explanation
from podium.ledger.forecast import forecast
from podium.ledger.leaderboard import Eligibility
from podium.live import Live
from podium.results.names import normalise
from podium.results.reading import Results
from podium.store.derive.events import changes_of, get_event
from podium.store.derive.rerating import named, tabled
from podium.store.derive.standings import kept_standings, standings_before
from podium.store.log.content import UTC, unpacked
from podium.store.log.log import AMEND, REGISTER, RESTORE, SEASON, SUBMIT, VOID, entries_after
from podium.store.log.players import known_numbers, merges, names_of, number_of
from podium.store.log.pools import Key, Pool, refuse_other_arithmetic
from podium.store.read.boards import eligible_board, rank, same_event, states_of
from podium.store.sql.schema import change, event, log, season
from podium.store.sql.timestamps import instant

EVENT_KINDS = (SUBMIT, AMEND, VOID, RESTORE)
SELECT_BODY = sa.select(log.c.body).where(log.c.seq == sa.bindparam("number"))
MAX_MEETINGS = 1000  # newest meetings of two players that are listed


def event_results(connection: sa.Connection, pool: Pool, known: Any) -> Results:
    """The rows of an event, players by name."""
    body = connection.execute(SELECT_BODY, {"number": known.content_seq}).scalar_one()
    return Results(tabled(pool, named(connection, pool, unpacked([(body, known.started_at)]))), pool.name)


def event_details(connection: sa.Connection, pool: Pool, event_id: str) -> dict[str, Any]:
    """`event_id, seq, started_at, status, reason, match_id, corrected, entries, changes` of an event.

    Raises:
        UnknownError: there is none.
    """
    row = get_event(connection, pool, event_id)
    frame = event_results(connection, pool, row).frame.drop("pool", "event_id", "started_at")
    entries = [{name: value for name, value in each.items() if value is not None} for each in frame.to_dicts()]
    return {
        "event_id": event_id,
        "seq": row.seq,
        "started_at": instant(row.started_at),
        "status": row.status,
        "reason": row.reason,
        "match_id": row.match_id,
        "corrected": row.content_seq != row.seq,
        "entries": entries,
        "changes": [each._asdict() for each in changes_of(connection, pool, Key(row.started_at, row.seq))],
    }


def news(connection: sa.Connection, pool: Pool, after: int, most: int) -> list[dict[str, Any]]:
    """Entries of the log above a number, without who acted; with an event's status and changes as they are now."""
    entries = []
    for row in entries_after(connection, pool, after, most):
        one: dict[str, Any] = {"seq": row.seq, "kind": row.kind}
        if row.kind in EVENT_KINDS:
            known = get_event(connection, pool, row.subject)
            changes = changes_of(connection, pool, Key(known.started_at, known.seq))
            one |= {"event_id": row.subject, "status": known.status, "reason": known.reason}
            one["changes"] = [each._asdict() for each in changes]
        elif row.kind == REGISTER:
            one["match_id"] = row.subject
        elif row.kind == SEASON:
            one["season"] = row.subject
        entries.append(one)
    return entries


def explanation(connection: sa.Connection, pool: Pool, event_id: str, name: str) -> Explanation:
    """Why a player's rating moved in an event, from the states before it.

    Raises:
        UnknownError: there is no such event, or the player is not rated in it.
        StoreError: another revision of the arithmetic rated the pool, so that reasons would not add up to the change.
    """
    refuse_other_arithmetic(pool)
    row = get_event(connection, pool, event_id)
    if row.status != "rated":
        raise UnknownError(f"event {event_id!r} is not rated: {row.reason}")
    results = event_results(connection, pool, row)
    numbers = known_numbers(connection, pool, results.frame["player"].unique().to_list())
    stood = kept_standings(connection, pool, numbers.values())
    before = standings_before(connection, pool, stood, Key(row.started_at, row.seq))
    known = {(pool.name, each): before[number] for each, number in numbers.items() if number in before}
    live = Live(pool.system)
    live.resume({seat: (last.state, last.played_at) for seat, last in known.items()})
    (player_name,) = names_of(connection, pool, [number_of(connection, pool, name)]).values()
    return live.explain(results, event_id, player_name)


def player_states(connection: sa.Connection, pool: Pool, names: Sequence[str]) -> list[Any]:
    """Each player's state, as NamedTuples; a newcomer's for whoever has none."""
    merged = merges(connection, pool)
    numbers = {name: merged.get(number, number) for name, number in known_numbers(connection, pool, names).items()}
    packed = {number: each.state for number, each in kept_standings(connection, pool, set(numbers.values())).items()}
    newcomer = pool.system.newcomer()
    return [
        read(np.frombuffer(packed[numbers[name]], "<f8")[None], 0, newcomer)
        if numbers.get(name) in packed
        else newcomer
        for name in names
    ]


def meetings(connection: sa.Connection, pool: Pool, name: str, other: str) -> list[dict[str, Any]]:
    """`event_id, started_at, wins, draws, losses, delta, other_delta` of the events in which two met, newest first.

    Wins, draws and losses are by heat, the first player's.

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
        .join(theirs, same_event(own, theirs))
        .join(event, same_event(event, own))
        .join(log, log.c.seq == event.c.content_seq)
        .where(own.c.pool_id == pool.id, own.c.player_id == one, theirs.c.player_id == two)
        .order_by(event.c.started_at.desc(), event.c.seq.desc())
        .limit(MAX_MEETINGS)
    )
    rows = connection.execute(common).all()
    scores = results_against(connection, pool, [(row.body, row.started_at) for row in rows], one, two)
    return [
        {"event_id": row.event_id, "started_at": instant(row.started_at)}
        | dict(zip(("wins", "draws", "losses"), scores[row.event_id], strict=True))
        | {"delta": row.delta, "other_delta": row.other_delta}
        for row in rows
    ]


def comparison(connection: sa.Connection, pool: Pool, name: str, other: str) -> dict[str, Any]:
    """`players`, each with rank and expected score against the other; `wins, draws, losses`; and the `meetings`.

    Raises:
        UnknownError: there is no such player.
        ParameterError: the two are one.
    """
    met = meetings(connection, pool, name, other)
    both = (name, other)
    chances = forecast(pool.system, both, player_states(connection, pool, both), top=1)
    expected = {one: score for one, _, score in chances.pairs.iter_rows()}
    totals = {what: sum(each[what] for each in met) for what in ("wins", "draws", "losses")}
    players = [rank(connection, pool, each) | {"expected": expected[each]} for each in both]
    return {"players": players, **totals, "meetings": met}


def results_against(
    connection: sa.Connection, pool: Pool, bodies: Sequence[tuple[bytes, int]], one: int, two: int
) -> dict[str, tuple[int, int, int]]:
    """Heats won, drawn and lost by `one` against `two` in each event; none for team mates."""
    if not bodies:
        return {}
    merged = {str(gone): str(stays) for gone, stays in merges(connection, pool).items()}
    table = unpacked(bodies).with_columns(pl.col("player").replace(merged))
    events = encode(Results(tabled(pool, table), pool.name), pool.system)
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


def history(connection: sa.Connection, pool: Pool) -> pl.DataFrame:
    """Every change in the ledger, in the order of rating, with the columns of `podium.rate(…).history`."""
    changes = (
        sa.select(
            event.c.event_id, change.c.started_at, change.c.player_id, change.c.rating_before,
            change.c.rating, change.c.state,
        )
        .outerjoin(event, same_event(event, change))
        .where(change.c.pool_id == pool.id)
        .order_by(change.c.started_at, change.c.seq, change.c.place, change.c.player_id)
    )  # fmt: skip
    rows = connection.execute(changes).all()
    names = names_of(connection, pool)
    shown = pool.system.shown(states_of(pool, [row.state for row in rows]))
    return pl.DataFrame(
        {
            "event_id": pl.Series([row.event_id for row in rows], dtype=pl.String),
            "pool": pl.repeat(pool.name, len(rows), dtype=pl.String, eager=True),
            "started_at": pl.Series([row.started_at for row in rows], dtype=pl.Int64).cast(UTC),
            "player": pl.Series([names[row.player_id] for row in rows], dtype=pl.String),
            "rating_before": pl.Series([row.rating_before for row in rows], dtype=pl.Float64),
            "delta": pl.Series([row.rating - row.rating_before for row in rows], dtype=pl.Float64),
            **{name: pl.Series(column) for name, column in shown.items()},
        }
    )


def seasons(connection: sa.Connection, pool: Pool) -> list[dict[str, Any]]:
    """The seasons, oldest first: `name, starts_at, keep`."""
    selected = sa.select(season).where(season.c.pool_id == pool.id).order_by(season.c.started_at, season.c.seq)
    return [
        {"name": row.name, "starts_at": instant(row.started_at), "keep": row.keep}
        for row in connection.execute(selected)
    ]


def season_board(connection: sa.Connection, pool: Pool, name: str) -> pl.DataFrame:
    """How the board stood when a season ended, just before the next; as it stands where none came after it.

    Raises:
        UnknownError: there is none of that name.
    """
    listed = seasons(connection, pool)
    names = [each["name"] for each in listed]
    position = next((names.index(each) for each in (name, normalise(name)) if each in names), None)
    if position is None:
        raise UnknownError(f"there is no season {name!r} in pool {pool.name!r}")
    after = listed[position + 1]["starts_at"] if position + 1 < len(listed) else None
    return eligible_board(connection, pool, Eligibility(), after, before=True)
