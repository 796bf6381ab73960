"""Fair shares of a change that is not a sum over pairs: each part's mean effect over all orders of adding the parts.

Source: L. S. Shapley, "A Value for n-Person Games" (1953). The event is rated with every coalition of up to `MAX_PARTS`
parts of the field. All coalitions form one table of events, which the replay's kernel rates in a single call.
"""

import math
from collections.abc import Sequence
from decimal import Decimal
from typing import Any, NamedTuple

import numpy as np

from podium.engine import inputs
from podium.engine.replay import Replayed, by_columns, replay_updates
from podium.engine.system import System
from podium.engine.tables.encoding import frozen
from podium.support.arrays import Floats, Integers, Mask
from podium.support.words import shown_parts

WHOLE = 2**53  # in units: a double cannot represent every whole number above this
MAX_PARTS = 8  # most parts for which all coalitions (256) are rated
MAX_BLOCKS = 100  # most opponents or blocks of opponents to leave out one at a time
QUICK_WORK = 1.1e5  # pairs that can be rated again in about 10 ms; limits the number of parts
FEW_PARTS = 5
MAX_WORK = 2e7  # most pairs to rate again; large fields get fewer parts and larger blocks
COUNTED_ANEW = ("entrant", "opponents", "place", "rank")  # columns recalculated for the entries that remain


class Part(NamedTuple):
    """A part of the field whose share is calculated."""

    entries: Sequence[int] | Integers  # entries that are missing without this part
    members: Sequence[int] | Integers  # the entries that divide its share, neighbours together
    alone: bool  # members are left out of this part only, not out of the whole field


class RatingUpdate(NamedTuple):
    """One update in the columns: its entrants, and the entries of each heat."""

    columns: inputs.Columns
    number: int
    entrants: tuple[int, int]  # the first entrant, and the entrant after the last
    first_heat: int
    start: Integers  # (heats): the first entry of each heat
    stop: Integers
    entrant: Integers  # (entries): the entrant of each entry


def update_of(columns: inputs.Columns, number: int) -> RatingUpdate:
    first, last = int(columns.entrants[number]), int(columns.entrants[number + 1])
    if not columns.heats.size:
        return RatingUpdate(
            columns, number, (first, last), number, np.array([first]), np.array([last]), np.arange(first, last)
        )
    heats = slice(int(columns.heats[number]), int(columns.heats[number + 1]))
    start, stop = columns.entries[heats], columns.entries[heats.start + 1 : heats.stop + 1]
    entrant = first + columns.entrant[int(start[0]) : int(stop[-1])].astype(np.int64)
    return RatingUpdate(columns, number, (first, last), heats.start, start, stop, entrant)


def affordable_parts(update: RatingUpdate) -> int:
    """Return the number of parts whose coalitions can all be rated: `MAX_PARTS`, or fewer for large fields."""
    sizes = (update.stop - update.start).astype(np.float64)
    pairs = 0.5 * float(sizes @ sizes)  # pairs in an average coalition, which has half of the heats or of the field
    quick, most = (int(math.log2(max(1.0, work / pairs))) for work in (QUICK_WORK, MAX_WORK))
    return max(1, min(MAX_PARTS, max(quick, FEW_PARTS), most))


def fair_shares(
    system: System, update: RatingUpdate, entrant: int, states: Any, change: float, parts: Sequence[Part]
) -> tuple[float, list[list[float]]]:
    """Return the change without any of the parts, and the shares of each part's members."""
    if not parts:
        return change, []
    coalitions = np.arange(2 ** len(parts) - 1)  # all but the full coalition, whose worth is the change itself
    base, size = int(update.start[0]), update.entrant.size
    within = np.ones((coalitions.size, size), np.bool_)
    for number, part in enumerate(parts):
        without = np.flatnonzero((coalitions >> number) & 1 == 0)
        within[np.ix_(without, np.array(part.entries) - base)] = False
    blocks = [blocks_of(part.members, parts, update) for part in parts]
    whole = np.ones(size, np.bool_)
    left_out = []
    for number, (part, blocks_of_part) in enumerate(zip(parts, blocks, strict=True)):
        for block in blocks_of_part if len(blocks_of_part) > 1 else []:
            present = (within[1 << number] if part.alone and len(parts) > 1 else whole).copy()
            present[np.array(block) - base] = False
            left_out.append(present)
    changes = changes_among(system, update, entrant, states, np.array([*within, *left_out]))
    worth = np.append(changes[: coalitions.size], change)
    values = shapley_values(worth)
    rest = iter(changes[coalitions.size :].tolist())
    of_members = []
    for number, (part, blocks_of_part) in enumerate(zip(parts, blocks, strict=True)):
        share, of_part = values[number], float(worth[1 << number]) if part.alone else change
        effects = [of_part - next(rest) for _ in blocks_of_part] if len(blocks_of_part) > 1 else [share]
        of_blocks = divided(share, effects)
        of_members.append(
            [points / len(block) for points, block in zip(of_blocks, blocks_of_part, strict=True) for _ in block]
        )
    return float(worth[0]), of_members


def blocks_of(members: Sequence[int] | Integers, parts: Sequence[Part], update: RatingUpdate) -> list[list[int]]:
    """Return the groups of a part's members to leave out in turn: single members or, in large fields, blocks."""
    total = sum(len(part.members) for part in parts)
    field = float((update.stop - update.start).max())
    most = min(MAX_BLOCKS, max(len(parts), int(MAX_WORK / field**2)))
    count = len(members) if total <= most else max(1, most * len(members) // total)
    return [block.tolist() for block in np.array_split(np.array(members), count)]


def shapley_values(worth: Floats) -> list[float]:
    """Return the Shapley value of each part.

    The values add up to the worth of the full coalition minus that of the empty one.

    Args:
        worth: the worth of each coalition, an array of shape (2^parts,). Bit k of an index is set if part k is in the
            coalition.
    """
    parts = worth.size.bit_length() - 1
    coalitions = np.arange(worth.size)
    sizes = ((coalitions[:, None] >> np.arange(parts)) & 1).sum(axis=1)
    orders = np.array([1.0 / (parts * math.comb(parts - 1, size)) for size in range(parts)])
    values = []
    for part in range(parts):
        without = coalitions[(coalitions >> part) & 1 == 0]
        gain = worth[without | (1 << part)] - worth[without]
        values.append(float(gain @ orders[sizes[without]]))
    return values


def divided(share: float, effects: list[float]) -> list[float]:
    """Divide a share among effects.

    Every effect is adjusted by the same proportion of its absolute size, so effects may have different signs.
    """
    size = sum(map(abs, effects))
    if size == 0.0:
        return [share / len(effects)] * len(effects)
    factor = (share - sum(effects)) / size
    return [effect + factor * abs(effect) for effect in effects]


def changes_among(system: System, update: RatingUpdate, entrant: int, states: Any, present: Mask) -> Floats:
    """Return an entrant's change with each set of entries, rated as one table. `present` is a (sets, entries) mask."""
    columns, first = update.columns, update.entrants[0]
    sets = len(present)
    slot = update.entrant - first
    entering = np.zeros((sets, update.entrants[1] - first), np.bool_)
    of_set, entry = np.nonzero(present)
    entering[of_set, slot[entry]] = True
    entering[:, entrant - first] = True
    at = np.cumsum(entering, axis=1) - 1
    offsets = np.concatenate([[0], np.cumsum(entering.sum(axis=1))])
    entrants = first + np.nonzero(entering)[1]
    table = table_of_sets(update, present, entrant, entrants, at[of_set, slot[entry]], offsets)
    moved = Replayed(
        states[columns.player[entrants]],
        np.empty(entrants.size),
        by_columns(entrants.size, states.shape[1]),
        pools=np.tile(system.standing[0], (sets, 1)),
    )
    for first_set, last_set in [(k, k + 1) for k in range(sets)] if system.pool_fields else [(0, sets)]:
        replay_updates(system, table, first_set, last_set, moved, first_set)
    mine = offsets[:-1] + at[:, entrant - first]
    changes: Floats = moved.after[mine, system.column("rating")] - moved.before[mine]
    return changes


def table_of_sets(
    update: RatingUpdate, present: Mask, entrant: int, entrants: Any, slots: Any, offsets: Any
) -> inputs.Columns:
    """Return a table with one update per set of entries, without empty heats or gaps in the ranks."""
    columns = update.columns
    base = int(update.start[0])
    entries = base + np.nonzero(present)[1]
    lengths = np.add.reduceat(present, update.start - base, axis=1, dtype=np.int64)
    of_heat = np.nonzero(lengths)[1]
    ends = np.concatenate([[0], np.cumsum(lengths[lengths > 0])])
    rank, place = reranked(columns.place[entries], np.repeat(np.arange(of_heat.size), np.diff(ends)))
    rows_of = {
        inputs.ENTRANT_COLUMNS: entrants,
        inputs.ENTRY_COLUMNS: entries,
        inputs.HEAT_COLUMNS: update.first_heat + of_heat,
        inputs.UPDATE_COLUMNS: np.full(len(present), update.number),
    }
    known = {name: (getattr(columns, name), rows) for names, rows in rows_of.items() for name in names}
    taken = {name: column[rows] for name, (column, rows) in known.items() if column.size and name not in COUNTED_ANEW}
    taken |= {
        "player": np.arange(entrants.size),
        "sought": 1.0 * (entrants == entrant),
        "entrants": offsets,
        "heats": np.concatenate([[0], np.cumsum((lengths > 0).sum(axis=1))]),
        "entries": ends,
        "entrant": slots,
        "rank": rank,
        "place": place,
    }
    return columns._replace(
        opponents=frozen(inputs.ABSENT),
        **{name: frozen(values, getattr(columns, name).dtype.type) for name, values in taken.items()},
    )


def reranked(places: Any, heat: Any) -> tuple[Any, Any]:
    """Return new ranks and places within each heat. Ties share the best rank and the mean place."""
    order = np.lexsort((places, heat))
    sorted_places, sorted_heat = places[order], heat[order]
    position = np.arange(order.size)
    new_heat = np.diff(sorted_heat, prepend=-1) != 0
    new_run = new_heat | (np.diff(sorted_places, prepend=np.nan) != 0.0)
    starts = position[new_run]
    run = np.cumsum(new_run) - 1
    ends = np.append(starts[1:], order.size)
    before = position[new_heat][np.cumsum(new_heat) - 1]
    rank, place = np.empty(order.size), np.empty(order.size)
    rank[order] = starts[run] - before + 1.0
    place[order] = 0.5 * (starts[run] + ends[run] - 1.0) - before + 1.0
    return rank, place


def shown_table(
    cells: Sequence[Sequence[float]], rows: Sequence[Decimal], columns: Sequence[Decimal], digits: int
) -> list[list[Decimal]]:
    """Round a table so that its rows and its columns both add up to displayed totals.

    Each row is rounded by the largest-remainder method. Then units are moved within rows, from columns with too many
    units to columns with too few, by the moves with the smallest error. If a cell is too large for a double to hold
    these digits, only the rows add up.

    Args:
        cells: rows of equal length. Rows and columns add up to their totals, apart from the rounding of the totals.
        rows: the totals of the rows.
        columns: the totals of the columns.
        digits: the number of decimal places.

    Raises:
        ValueError: the totals of the rows and of the columns have different sums.
    """
    if sum(rows, Decimal(0)) != sum(columns, Decimal(0)):
        raise ValueError("the totals of the rows and of the columns have different sums")
    unit = Decimal(1).scaleb(-digits)
    table = [shown_parts(row, total, digits) for row, total in zip(cells, rows, strict=True)]
    if any(abs(cell / unit) >= WHOLE for row in table for cell in row):
        return table
    counts = np.array([[int(cell / unit) for cell in row] for row in table], np.int64).reshape(len(table), -1)
    wanted = np.array([int(total / unit) for total in columns], np.int64)
    exact = np.array(cells, np.float64).reshape(counts.shape) / float(unit)
    while (surplus := counts.sum(axis=0) - wanted).any():
        move_unit(counts, exact, surplus)
    return [[int(count) * unit for count in row] for row in counts]


def move_unit(counts: "Integers", exact: "Floats", surplus: "Integers") -> None:
    """Move a unit from a column with too many units to a column with too few, through other columns if that costs less.

    The cost of a step is the amount that it adds to the squared errors of the cells. The cheapest path is found with
    the Bellman-Ford algorithm.
    """
    error = counts - exact
    steps = error[:, None, :] - error[:, :, None]  # cost of moving from one column to another, in each row
    cheapest = steps.argmin(axis=0)
    costs = 2.0 + 2.0 * np.take_along_axis(steps, cheapest[None], axis=0)[0]
    distance = np.where(surplus > 0, 0.0, np.inf)
    before = np.full(surplus.size, -1)
    for _ in range(surplus.size):
        through = distance[:, None] + costs
        nearest = through.argmin(axis=0)
        shorter = through.min(axis=0) < distance - 1e-9
        if not shorter.any():
            break
        distance = np.where(shorter, through.min(axis=0), distance)
        before = np.where(shorter, nearest, before)
    column = int(np.where(surplus < 0, distance, np.inf).argmin())
    while before[column] >= 0:
        source = int(before[column])
        row = cheapest[source, column]
        counts[row, source] -= 1
        counts[row, column] += 1
        column = source
