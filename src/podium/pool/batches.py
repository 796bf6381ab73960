"""Rate consecutive events with the engine, and convert the ratings to rows of the ledger."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import polars as pl

from podium.engine.replay import Replayed
from podium.engine.tables.encoding import Events as Encoded
from podium.errors import NotFiniteError
from podium.ledger.history import changes
from podium.ledger.reasons.standings import event_ranks
from podium.log.pools import Pool
from podium.pool.columns import slots_of
from podium.pool.roster import Roster, as_results, entrant_numbers
from podium.pool.snapshot import REASONS, Season
from podium.results.hashing import index_type, run_bounds, surely_distinct_within
from podium.support.arrays import Array

EVENTS_AFTER_ERROR = 64  # number of events to rate together after an event that cannot be rated
NOT_FINITE, PLAYER_TWICE = REASONS.index("not_finite"), REASONS.index("player_twice")
Rows = dict[str, Array]


@dataclass
class Batch:
    """The ledger rows of consecutive events, and the pool's state after them."""

    # one entry per part, with the columns of `ROW_TYPES`, `state` and `field`
    rows: list[Rows] = field(default_factory=list)
    learnt: dict[int, Array] = field(default_factory=dict)  # state of the pool after each event, by uid
    errors: dict[int, NotFiniteError] = field(default_factory=dict)  # by uid; these events change nothing


def rate_batch(pool: Pool, roster: Roster, table: pl.DataFrame, batch: Batch) -> None:
    """Rate the events of a table, leaving out events whose ratings would not be finite numbers.

    Args:
        table: results in the order of rating, with `uid`, and with the uid in `event_id`.
        batch: the batch to which the rows are added.
    """
    uids = table["uid"].unique(maintain_order=True).to_numpy()
    start, count = 0, uids.size
    while start < uids.size:
        chosen = uids[start : start + count]
        try:
            rate_events(pool, roster, table if chosen.size == uids.size else of_events(table, chosen), batch)
        except NotFiniteError as error:
            wrong = int(str(error.event_id))
            place = int(np.flatnonzero(chosen == wrong)[0])
            if place:
                rate_events(pool, roster, of_events(table, chosen[:place]), batch)
            batch.errors[wrong] = error
            start, count = start + place + 1, EVENTS_AFTER_ERROR
        else:
            start, count = start + chosen.size, 2 * count


def of_events(table: pl.DataFrame, uids: Array) -> pl.DataFrame:
    """Return the rows of a table that belong to these events."""
    return table.filter(pl.col("uid").is_in(uids.tolist()))


def rate_events(pool: Pool, roster: Roster, table: pl.DataFrame, batch: Batch) -> None:
    """Rate all events of a table, or change nothing if one of them cannot be rated.

    Raises:
        NotFiniteError: a rating would not be a finite number.
    """
    encoded, replayed = roster.advance(as_results(pool, table), table["started_at"])
    before, after = changes(pool.system, encoded, replayed)
    uid = table["uid"].to_numpy()[encoded.ledger.row.array]
    starts = np.flatnonzero(np.diff(uid, prepend=-1))
    ranks = event_ranks(encoded)
    rows = {
        "event": uid, "slot": slots_of(table["player"].cast(pl.Int64).to_numpy()[encoded.ledger.row.array]),
        "rank": ranks.rank, "field": ranks.field, "before": before, "state": after,
        "place": np.arange(1, uid.size + 1) - np.repeat(starts, np.diff(starts, append=uid.size)),
    }  # fmt: skip
    if encoded.columns.kind.size:
        rows = with_equipment(rows, starts, encoded, replayed)
    batch.rows.append(rows)
    if replayed.pool_history.size:
        batch.learnt.update(zip(uid[starts].tolist(), replayed.pool_history, strict=True))


def with_equipment(rows: Rows, starts: Array, encoded: Encoded, replayed: Replayed) -> Rows:
    """Insert the rows of equipment after the players' rows of each event."""
    where = np.flatnonzero(encoded.columns.kind)
    numbers = entrant_numbers(encoded.player_names)[encoded.columns.player[where]]
    event = np.searchsorted(encoded.columns.entrants, where, "right") - 1  # each event is rated separately,
    order = np.lexsort((numbers, event))  # no matter which other events are in the batch
    where, event, numbers = where[order], event[order], numbers[order]
    sizes = np.diff(starts, append=rows["event"].size)
    equipment = {
        "event": rows["event"][starts[event]],
        "slot": slots_of(numbers),
        "rank": np.zeros(where.size, np.int64), "field": rows["field"][starts[event]],
        "before": replayed.before[where], "state": replayed.after[where], "place": sizes[event] + 1,
    }  # fmt: skip
    order = np.argsort(np.concatenate([np.repeat(np.arange(starts.size), sizes), event]), kind="stable")
    return {name: np.concatenate([rows[name], equipment[name]])[order] for name in rows}


def rows_of_season(uid: int, roster: Roster, season: Season) -> Rows:
    """Start a season in a roster, and return a row for every player who has a rating."""
    numbers, before, after = roster.reset(season)
    none = np.zeros(numbers.size, np.int64)
    return {
        "event": np.full(numbers.size, uid), "slot": slots_of(numbers), "rank": none, "field": none, "place": none,
        "before": before[:, roster.system.column("rating")], "state": after,
    }  # fmt: skip


def joined(parts: list[Rows], width: int) -> Rows:
    """Return the rows of all parts, concatenated. Each state has `width` fields."""
    if not parts:
        empty = np.empty(0, np.int64)
        names = "event", "slot", "rank", "field", "place"
        return dict.fromkeys(names, empty) | {"before": np.empty(0), "state": np.empty((0, width))}
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def players_twice(table: pl.DataFrame) -> dict[int, int]:
    """Return, by uid, the number of the first player who appears twice in a heat, for events with such a player."""
    has_heats, uid = "heat" in table.columns, table["uid"].to_numpy()
    places = table["player"]
    if has_heats:
        places = places.cast(pl.String) + "\n" + table["heat"].fill_null("")
    if surely_distinct_within(places, np.cumsum(run_bounds(uid)[:-1], dtype=index_type(uid.size))):
        return {}
    doubles = table.filter(table.select("uid", "player", *(["heat"] if has_heats else [])).is_duplicated())
    return {player: int(number) for player, number in reversed(doubles.select("uid", "player").rows())}


def reasons_of(pool: Pool, table: pl.DataFrame, unrated: list[int]) -> Mapping[int, int]:
    """Return the reason why each of these events is not rated, as a code of `REASONS`, by uid."""
    rows = of_events(table, np.array(unrated))
    ranked = pl.col("ranked").any() if "ranked" in table.columns else pl.lit(value=True)
    finished = (pl.col("status") == "finished").any()
    found = {}
    for uid, is_ranked, has_finisher in rows.group_by("uid").agg(ranked=ranked, finished=finished).iter_rows():
        lacks_finisher = pool.system.needs_finisher and not has_finisher
        reason = "unranked" if not is_ranked else "nobody_finished" if lacks_finisher else "too_few_entrants"
        found[uid] = REASONS.index(reason)
    return found
