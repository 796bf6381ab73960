"""Encode a checked results table as events: strings become integers, in the columns that kernels read."""

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from podium.engine.inputs import ABSENT, Columns
from podium.engine.rule_checks import check_rules
from podium.engine.system import System
from podium.engine.tables import selection
from podium.engine.tables.equipment import equipment_of, seats, with_equipment
from podium.engine.tables.placing import Places, Reported, place_heats
from podium.errors import Fault, ParameterError, ResultsError
from podium.results.columns import BEGINNING
from podium.results.hashing import Numbered, index_type, run_bounds
from podium.results.reading import Results
from podium.support.arrays import Array, Floats, Integers, Mask
from podium.support.immutable import immutable


def frozen(values: Array, dtype: type[Any] = np.float64) -> Array:
    """Make the array contiguous and read-only, so that kernels get the same types for every table."""
    column = np.ascontiguousarray(values, dtype).view()
    column.flags.writeable = False
    return column


# All columns empty, so that kernels assume the defaults.
NO_COLUMNS = Columns(
    **dict.fromkeys(Columns._fields, frozen(ABSENT))
    | dict.fromkeys(("entrants", "heats", "entries"), frozen(ABSENT, np.int64))
    | dict.fromkeys(("player", "entrant", "side", "shared"), frozen(ABSENT, np.int32))
)


@immutable
class Pool:
    """A pool's share of the columns: updates `first` to `last`, and players `first_player` to `last_player`."""

    name: str
    first: int
    last: int
    first_player: int
    last_player: int


@immutable
class LedgerRows:
    """The entrant of each row in the history. Rows are ordered by event and then by file order."""

    row: selection.Positions  # row of the results table: the player's first row in the event
    entrant: selection.Positions
    ends_period: Mask | None  # marks a player's last row in a period; None: all rows


@immutable
class Events:
    """All data that a replay reads, pool by pool, and the links back to the results."""

    results: Results
    columns: Columns
    pools: tuple[Pool, ...]
    player_names: pl.Series  # name of each (pool, player), pool by pool
    ledger: LedgerRows
    entry_row: selection.Positions  # (entries): row of the results table, from 0
    entry_heat: pl.Series | None  # (entries): the heat's name; None if the table has none


@immutable
class Entrants:
    """The players in each update and in each event, in file order."""

    update: Integers  # (rows) update of the row: an event or a rating period, from 0
    first_row: Integers  # (entrants) first row of the entrant
    of_row: Integers  # (rows) entrant of the row
    pair_row: Integers  # (pairs of event and player) first row of the pair
    offsets: Integers  # (updates + 1) offsets into the entrants


def encode(results: Results, system: System, period: str = selection.EVENT, numbered: Numbered | None = None) -> Events:
    """Encode the results that a system counts."""
    check_rules(system)
    takes_periods = system.takes_periods and system.idle_unit != "time"
    if selection.check_period(period) != selection.EVENT and not takes_periods:
        raise ParameterError(
            f"{system.name} has no rating periods: it updates ratings after each event. Leave out the period."
        )
    rows = selection.rated_rows(results, system, numbered)
    numbers = selection.period_numbers(rows.frame, period)
    entrants = entrants_of(rows, numbers)
    heat = None if rows.heat is None and numbers is None else run_numbers(rows.event, rows.heat)
    entries = entrants.offsets if heat is None else offsets(heat)
    row, finishes = rows.row, selection.finish_mask(rows.frame)
    columns = {
        **entrant_columns(rows, system, entrants, numbers, finishes),
        **entry_columns(rows, system, entrants, entries, finishes),
        "day": update_days(rows, entrants) if system.reads_days else frozen(ABSENT),
        "heats": frozen(ABSENT if heat is None else offsets(entrants.update[offsets(heat)[:-1]]), np.int64),
        "entries": frozen(ABSENT if heat is None else entries, np.int64),
    }
    if system.refuses_teams and columns["side"].size:
        first = int(row[int(np.argmax(columns["side"] >= 0))]) + 1
        remedy = f"{system.name} does not rate teams. Remove the column team, or choose another system."
        raise ResultsError(results.source, [Fault(first, "team", None, remedy)])
    pools, names, of_row = pool_slices(rows, entrants.update), rows.player_names, entrants.of_row
    equipment = equipment_of(rows, system.kinds) if system.kinds else None
    if equipment is not None:
        seated = seats(rows, equipment)
        moved, of_row = with_equipment(columns, entrants.update, of_row, equipment, seated)
        moved["entries"] = entries
        if heat is None:
            moved["heats"] = np.arange(entries.size)
        columns |= {name: frozen(values, getattr(NO_COLUMNS, name).dtype.type) for name, values in moved.items()}
        names = seated.names(names, equipment.names)
        pools = pool_slices(rows, entrants.update, seated.before)
    return Events(
        results=results,
        columns=NO_COLUMNS._replace(**columns),
        pools=pools,
        player_names=names,
        ledger=ledger_rows(rows, replace(entrants, of_row=of_row), row, whole=numbers is None),
        entry_row=selection.Positions.of(row),
        entry_heat=None if rows.heat is None else rows.frame["heat"].fill_null(""),
    )


def run_numbers(*keys: Array | None) -> Integers:
    """Number the runs of rows with equal keys: 0, 1, 2, ...

    If there is only one key, it must be in ascending order.
    """
    present = [key for key in keys if key is not None]
    changed = np.zeros(present[0].size, np.bool_)
    for key in present:
        changed[1:] |= key[1:] != key[:-1]
    key = present[0]
    if len(present) == 1 and key.size and key[0] == 0 and key[-1] == np.count_nonzero(changed):
        return key  # the key already ascends in steps of one
    return np.cumsum(changed, dtype=index_type(changed.size))


def offsets(number: Integers) -> Integers:
    """Return the first row with each number, followed by the end. `number` rises from 0 in steps of one."""
    return np.flatnonzero(run_bounds(number))


def entrants_of(rows: selection.Rows, numbers: Integers | None) -> Entrants:
    update = run_numbers(rows.event) if numbers is None else run_numbers(rows.pool, numbers)
    if rows.heat is None and numbers is None:
        every = np.arange(rows.event.size, dtype=index_type(rows.event.size))
        return Entrants(update, every, every, every, offsets(update))
    first_row, of_row = first_rows(update, rows.player, rows.row)
    pair_row, _ = first_rows(rows.event, rows.player, rows.row)
    return Entrants(update, first_row, of_row, pair_row, offsets(update[first_row]))


def first_rows(unit: Integers, player: Integers, row: Integers) -> tuple[Integers, Integers]:
    """Return each player's first row in each unit, by unit and then by file order, and its index for every row."""
    kind = index_type(unit.size)
    order = np.lexsort((row, unit)).astype(kind)
    key = (unit.astype(np.int64) * (int(player.max(initial=0)) + 1) + player)[order]
    _, first, inverse = np.unique(key, return_index=True, return_inverse=True)
    rank = np.empty(first.size, kind)
    rank[np.argsort(first)] = np.arange(first.size)
    number = np.empty(unit.size, kind)
    number[order] = rank[inverse]
    return order[np.sort(first)], number


def entrant_columns(
    rows: selection.Rows, system: System, entrants: Entrants, numbers: Integers | None, finishes: Mask
) -> dict[str, Any]:
    player = selection.Positions.of(entrants.first_row).take(rows.player)
    size = entrants.first_row.size
    played = np.bincount(entrants.of_row[entrants.pair_row], minlength=size) if numbers is not None else ABSENT
    unfinished = ~finishes
    quits = np.bincount(entrants.of_row, weights=unfinished, minlength=size) > 0 if unfinished.any() else ABSENT
    clock = None if system.idle_unit is None else idle_clock(rows, system, numbers)
    idle = (
        ABSENT if clock is None else idle_units(player, *appearances(clock, entrants), whole=system.idle_unit != "time")
    )
    if system.idle_unit == "period" and idle.size:
        idle = np.maximum(idle - 1.0, 0.0)  # no period is missed between two consecutive ones
    return {
        "entrants": frozen(entrants.offsets, np.int64),
        "player": frozen(player, np.int32),
        "played_events": frozen(played),
        "quit": frozen(quits),
        "idle": frozen(idle),
        "age_group": frozen(age_groups(rows.frame, entrants) if system.reads_ages else ABSENT),
    }


def age_groups(frame: pl.DataFrame, entrants: Entrants) -> Floats:
    """Return each entrant's age group, or 0 if it is unknown. Empty if all are unknown."""
    if "age_group" not in frame.columns:
        return ABSENT
    groups = np.zeros(entrants.first_row.size)
    np.maximum.at(groups, entrants.of_row, frame["age_group"].fill_null(0.0).to_numpy())
    return groups


def idle_clock(rows: selection.Rows, system: System, numbers: Integers | None) -> Integers | None:
    """Return the time of each row, scaled so that `DAY_US` is one unit of idle time, or None if times are unknown."""
    if system.idle_unit == "period":
        return None if numbers is None else numbers.astype(np.int64) * selection.DAY_US
    if system.idle_unit == "season" and rows.started_at is not None:
        return selection.season_numbers(rows.started_at, system.season_month) * selection.DAY_US
    return rows.started_at


def update_days(rows: selection.Rows, entrants: Entrants) -> Floats:
    """Return the day of each update's first row, with a fraction. Days count from the year 1, so all are positive."""
    return frozen(days_of(rows, offsets(entrants.update)[:-1]))


def days_of(rows: selection.Rows, chosen: Integers) -> Floats:
    """Return the days of some rows, counted from the year 1."""
    if rows.started_at is None:
        return np.full(chosen.size, np.nan)
    return rows.started_at[chosen] / selection.DAY_US + selection.DAYS_TO_1970


def appearances(clock: Integers, entrants: Entrants) -> tuple[Integers, Integers]:
    """Return the times of each entrant's first and last rows. They differ if a rating period has several events."""
    first = np.empty(entrants.first_row.size, np.int64)
    last = np.empty(entrants.first_row.size, np.int64)
    last[entrants.of_row] = clock  # rows are sorted by time, and the last assignment wins
    first[entrants.of_row[::-1]] = clock[::-1]
    return first, last


def idle_units(player: Integers, first: Integers, last: Integers, *, whole: bool) -> Floats:
    """Return each entrant's idle time since the player's previous update, in units of `DAY_US`, or 0 for newcomers."""
    order = np.lexsort((np.arange(player.size), player))
    idle = np.zeros(player.size)
    same = player[order][1:] == player[order][:-1]
    gap = first[order][1:] - last[order][:-1]
    units = gap // selection.DAY_US if whole else gap / selection.DAY_US
    idle[order[1:]] = np.where(same, np.maximum(units, 0), 0)
    return idle


def entry_columns(
    rows: selection.Rows, system: System, entrants: Entrants, entries: Integers, finishes: Mask
) -> dict[str, Any]:
    """Return the columns that have one value per entry or heat."""
    frame = rows.frame
    takes_teams = system.teams or system.refuses_teams
    reported = reported_results(frame, entries, finishes, teams=takes_teams)
    started = (frame["status"] != selection.ABSENT_STATUS).to_numpy() if system.rates_absent else None
    places = place_heats(reported, teams=takes_teams, started=started)
    plain = rows.event.size == entrants.first_row.size
    slot = (
        entrants.of_row - entrants.offsets[entrants.update] if not plain or entries is not entrants.offsets else ABSENT
    )
    handicap = frame["handicap"].to_numpy().astype(np.float64) if "handicap" in frame.columns else ABSENT
    return {
        "entrant": frozen(slot, np.int32),
        "finished": frozen(reported.finished if started is None else ABSENT if started.all() else started),
        **place_columns(places, reported),
        "mode": mode_numbers(rows, entries, system),
        "weight": heat_weights(frame, entries),
        "time_s": reported.time_s,
        "score": margin_scores(reported, places) if system.rates_margins else reported.score,
        "played_s": frozen(stated_times(selection.float_column(frame, "played_s"), entries, system)),
        "duration_s": frozen(selection.float_column(frame, "duration_s")),
        "handicap": frozen(handicap),
        "home": frozen(home_entries(frame) if system.reads_home else ABSENT),
        "surplus": frozen(surpluses(reported, places) if system.rates_sizes else ABSENT),
    }


def surpluses(reported: Reported, places: Places) -> Floats:
    """Return ln(n / m) for entries on a side of n players against a smaller side of m, otherwise 0.

    The array is empty if there are no teams.
    """
    if not places.side.size:
        return np.empty(0)
    heats = np.repeat(np.arange(reported.heats.size - 1), np.diff(reported.heats))
    entries = pl.DataFrame({"heat": heats, "side": places.side, "place": places.place})
    side, n = pl.struct("side", "place"), pl.len().over("heat", "side", "place")
    larger = (side.n_unique().over("heat") == 2) & (2 * n > pl.len().over("heat"))  # noqa: PLR2004  (two sides)
    surplus = (n / (pl.len().over("heat") - n)).log()
    return entries.select(pl.when(larger).then(surplus).otherwise(0.0)).to_series().to_numpy()


def margin_scores(reported: Reported, places: Places) -> Floats:
    """Return the numbers whose differences are margins: scores (the side's score in team heats), or negative times.

    A number is NaN if the entry did not finish, or if any finisher in the heat lacks a score or time.
    """
    size, counts = int(reported.heats[-1]), np.diff(reported.heats)
    heat = np.repeat(np.arange(counts.size), counts)
    finished = reported.finished if reported.finished.size else np.ones(size, np.bool_)

    def complete(column: Floats) -> Floats:
        if not column.size:
            return np.full(size, np.nan)
        lacking = np.bincount(heat, np.isnan(column) & finished) > 0.0
        return np.where(lacking[heat] | ~finished, np.nan, column)

    score, time_s = complete(reported.score), complete(reported.time_s)
    if places.side.size:
        key = heat * (size + int(places.side.max()) + 1) + places.side + size  # a side is at least -size
        _, side = np.unique(key, return_inverse=True)
        team_score, summed = complete(reported.team_score), np.bincount(side, score)[side]
        score = np.where(np.isnan(team_score) | (places.side < 0), summed, team_score)
    return frozen(np.where(np.isnan(score), -time_s, score))


def reported_results(frame: pl.DataFrame, entries: Integers, finishes: Mask, *, teams: bool) -> Reported:
    """Return the results of a table's rows, heat by heat. `teams` is True if team mates share a result."""
    return Reported(
        heats=frozen(entries, np.int64),
        finished=frozen(finishes if not finishes.all() else ABSENT, np.bool_),
        position=frozen(selection.float_column(frame, "position")),
        score=frozen(selection.float_column(frame, "score")),
        time_s=frozen(selection.float_column(frame, "time_s")),
        team=frozen(team_codes(frame) if teams else ABSENT, np.int32),
        team_score=frozen(selection.float_column(frame, "team_score")),
    )


def stated_times(played: Floats, entries: Integers, system: System) -> Floats:
    """Return each entry's playing time. Times that are all 0 in a heat were not recorded, and become NaN."""
    if played.size and "played_s" not in system.needs:
        stated = np.add.reduceat(played != 0.0, entries[:-1]) > 0  # NaN is not 0 either
        return np.where(np.repeat(stated, np.diff(entries)), played, np.nan)
    return played


def home_entries(frame: pl.DataFrame) -> Floats:
    """Return 1 for each entry on a side that is at home or moves first, otherwise 0.

    The array is empty if there is no such side.
    """
    if "side" not in frame.columns:
        return np.empty(0)
    return frame["side"].is_in(BEGINNING).fill_null(value=False).cast(pl.Float64).to_numpy()


def place_columns(places: Places, reported: Reported) -> dict[str, Any]:
    """Return the columns of places. Columns with only default values stay empty."""
    teamed = bool((places.side >= 0).any())
    place = reported.position if np.array_equal(places.place, reported.position) else frozen(places.place)
    rank = (
        np.where(places.rank == 0.0, places.place, np.maximum(places.rank, 0.0)) if places.rank.any() else places.place
    )
    return {
        "place": place,
        "rank": frozen(ABSENT if np.array_equal(rank, places.place) else rank),
        "side": frozen(places.side if teamed else ABSENT, np.int32),
        "opponents": frozen(places.opponents if teamed or reported.finished.size else ABSENT),
    }


def team_codes(frame: pl.DataFrame) -> npt.NDArray[np.int32]:
    """Return the number of each row's team, or -1 without a team. The array is empty if the table has no teams."""
    if "team" not in frame.columns:
        return np.empty(0, np.int32)
    names = frame["team"].drop_nulls().unique()
    codes = frame["team"].cast(pl.Enum(names)).to_physical().cast(pl.Int32).fill_null(-1)
    return np.ascontiguousarray(codes.to_numpy(), np.int32)


def in_pools(frame: pl.DataFrame, pool: pl.Expr) -> pl.DataFrame:
    """Move results to other pools, but keep modes that follow from the names of their pools."""
    mode = pl.col("mode").fill_null(pl.col("pool")) if "mode" in frame.columns else pl.col("pool")
    return frame.with_columns(mode=mode, pool=pool)


def mode_numbers(rows: selection.Rows, entries: Integers, system: System) -> Floats:
    """Return the number of each heat's mode, from the `mode` column or else from the pool's name."""
    frame, mode, names = rows.frame, pl.col("pool"), rows.pool_names
    if "mode" in frame.columns:
        mode = pl.col("mode").fill_null(pl.col("pool"))
        names = [*names, *frame["mode"].drop_nulls().unique().to_list()]
    known = {name: system.mode_number(name) for name in names}
    numbers = np.zeros(entries.size - 1)
    if any(known.values()):
        first = frame.select(mode.gather(entries[:-1])).to_series()
        numbers = first.replace_strict(known, return_dtype=pl.Float64).to_numpy()
    numbers = system.modes_on(numbers, lambda: days_of(rows, entries[:-1]))
    return frozen(numbers if numbers.any() else ABSENT)


def heat_weights(frame: pl.DataFrame, entries: Integers) -> Floats:
    """Return how many times each heat's comparisons count. The array is empty if all count once."""
    weights = selection.float_column(frame, "weight")
    first = np.nan_to_num(weights[entries[:-1]], nan=1.0) if weights.size else ABSENT
    return frozen(first if (first != 1.0).any() else ABSENT)


def pool_slices(rows: selection.Rows, update: Integers, before: Integers | None = None) -> tuple[Pool, ...]:
    """Return each pool's updates and players.

    `before` has length pools + 1 and counts the equipment before each pool.
    """
    pools = []
    starts = np.array([0, rows.pool.size]) if len(rows.pool_names) == 1 else offsets(rows.pool)
    for first, stop in zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True):
        if first == stop:
            continue
        players = rows.player[first:stop]
        pool = int(rows.pool[first])
        span = int(update[first]), int(update[stop - 1]) + 1
        shift, end = (0, 0) if before is None else (int(before[pool]), int(before[pool + 1]))
        pools.append(Pool(rows.pool_names[pool], *span, int(players.min()) + shift, int(players.max()) + 1 + end))
    return tuple(pools)


def ledger_rows(rows: selection.Rows, entrants: Entrants, file_row: Integers, *, whole: bool) -> LedgerRows:
    """Return the rows of the history: one per event and player, by event across all pools and then by file order."""
    of_pair = selection.Positions.of(entrants.pair_row)
    entrant = of_pair.take(entrants.of_row)
    ends_period = None
    if not whole:
        last = np.empty(entrants.first_row.size, np.int64)
        last[entrant] = np.arange(entrant.size)  # the last assignment wins
        ends_period = last[entrant] == np.arange(entrant.size)
    row, when = of_pair.take(file_row), of_pair.take(rows.when)
    if (when[1:] >= when[:-1]).all() and len(rows.pool_names) == 1:
        return LedgerRows(selection.Positions.of(row), selection.Positions.of(entrant), ends_period)
    order = np.lexsort((row, when)).astype(row.dtype)
    ends_period = None if ends_period is None else ends_period[order]
    return LedgerRows(selection.Positions.of(row[order]), selection.Positions.of(entrant[order]), ends_period)
