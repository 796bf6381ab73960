"""The columns that kernels read, and the entrants, entries and heats stored in them."""

from typing import Any, NamedTuple

import numpy as np

from podium.kernels.compiled import by_reference, kernel

OTHER_MODE, TIME_TRIAL, DUEL = 0.0, 1.0, 2.0
MODES = {"time-trial": TIME_TRIAL, "duel": DUEL}


class Entrant(NamedTuple):
    """A player in one event, or in one rating period."""

    events: float  # rated events in the period; 1 without rating periods
    quit: float  # 1 when the player quit a heat, else 0
    idle: float  # days or periods, as in `System.idle_unit`, since the player last took part; 0 for a newcomer
    kind: float = 0.0  # 0 for a player; for equipment, the number of its kind in the system's `shared`
    age_group: float = 0.0  # oldest age in the player's group, by year of birth; 0 if unknown


PRESENT = Entrant(1.0, 0.0, 0.0)  # a player about to play one event, with no idle time


class Entry(NamedTuple):
    """A player's result in one heat. Values that are missing from the results are NaN."""

    finished: float  # 1 if the player finished, else 0
    place: float  # 1 is best; ties share the mean of their places, and quitters that of the last places
    rank: float  # ties share the best of their places: 1, 1, 3
    time_s: float
    score: float
    played_s: float
    duration_s: float
    handicap: float  # handicap stones, or 1 with any other handicap
    opponents: float  # number of entries that this entry is compared with
    home: float = 0.0  # 1 at home, in systems that read it


class Heat(NamedTuple):
    """The values that apply to all entries of a heat."""

    entries: float
    mode: float  # TIME_TRIAL, DUEL or OTHER_MODE


class Occasion(NamedTuple):
    """The time and mode of an event, for systems whose pools have a state."""

    day: float  # days since the start of the year 1, with a fraction; NaN without a date
    mode: float  # mode of the first heat, by the system's numbers; below 0 for no particular mode


@by_reference
class Columns(NamedTuple):
    """The columns of `Events` that kernels read. An empty column stands for its default value in every row."""

    entrants: Any  # int64 (updates + 1): offsets of each update (event or period) into the entrants
    player: Any  # int32 (entrants): row that holds the player's state
    played_events: Any  # float64 (entrants), default 1
    quit: Any  # float64 (entrants), default 0
    idle: Any  # float64 (entrants), default 0
    kind: Any  # float64 (entrants), default 0: see `Entrant.kind`; equipment comes after all players
    sought: Any  # float64 (entrants), default 1; 0 if nobody reads the new state, which may then be anything finite
    age_group: Any  # float64 (entrants), default 0; in systems that read it
    heats: Any  # int64 (updates + 1): offsets into the heats; default: one heat each
    entries: Any  # int64 (heats + 1): offsets into the entries; default: `entrants`
    entrant: Any  # int32 (entries): entrant of the update, from 0; default: the entry itself
    side: Any  # int32 (entries): equal for team mates; default: no teams
    mode: Any  # float64 (heats), default OTHER_MODE
    weight: Any  # float64 (heats), default 1: number of times that each comparison counts
    finished: Any  # float64 (entries), default 1
    place: Any  # float64 (entries)
    rank: Any  # float64 (entries), default `place`
    time_s: Any  # like the columns below: float64 (entries), default NaN
    score: Any
    played_s: Any
    duration_s: Any
    handicap: Any  # default 0
    opponents: Any  # default: all other entries
    home: Any  # float64 (entries), default 0: 1 for the side that starts or is at home
    surplus: Any  # float64 (entries), default 0: ln(n / m) in the larger of two sides, of n players against m
    shared: Any  # int32 (entries x kinds): the equipment, an entrant of the update, or -1; default: no equipment
    day: Any  # float64 (updates): days since the start of the year 1, NaN without a date; default: not read


# Columns with one value per entrant, heat, update or entry. The other columns are offsets into these.
ENTRANT_COLUMNS = ("player", "played_events", "quit", "idle", "kind", "sought", "age_group")
HEAT_COLUMNS = ("mode", "weight")
UPDATE_COLUMNS = ("day",)
SHARED_COLUMNS = ("shared",)  # one value per entry and kind of equipment
ENTRY_COLUMNS = (
    *("entrant", "side", "finished", "place", "rank", "time_s", "score", "played_s", "duration_s", "handicap"),
    *("opponents", "home", "surplus"),
)
ABSENT = np.empty(0)  # a column with its default value


LINE = 16  # numbers in a line of the scratch: an Entry, or the values of a team


@by_reference
class Scratch(NamedTuple):
    """Memory that `rate_event` may use, large enough for the widest update.

    `lines` has one row per entry, and the other arrays have one row per entrant.
    """

    entering_states: Any  # float64 (entrants, fields of an entering state)
    sums: Any  # float64 (entrants, fields of the evidence)
    lines: Any  # float64 (entries, LINE)
    workspace: Any  # float64, of the shape that `System.workspace` gives
    pool: Any  # float64 (fields of the pool's state), which `rate_event` updates; empty without a state
    sides: Any = ()  # `Sides` for systems that rate sides as one


def empty_scratch(
    prototypes: Any, workspace: tuple[int, int], widest: int, longest: int, pool: Any, sides: Any
) -> Scratch:
    """Return scratch memory for updates of up to `widest` entrants and heats of up to `longest` entries.

    Args:
        prototypes: A newcomer's state, an entering state and zero evidence.
        workspace: As in `System.workspace`.
        pool: The pool's state, not a copy of it.
    """
    _, entering, zero_evidence = prototypes
    columns, extra_rows = workspace
    return Scratch(
        entering_states=np.empty((widest, len(entering))),
        sums=np.empty((widest, len(zero_evidence))),
        lines=np.empty((longest, LINE)),
        workspace=np.empty((widest + extra_rows, columns)),
        pool=pool,
        sides=sides,
    )


@kernel
def finisher(
    place: float,
    time_s: float = np.nan,
    score: float = np.nan,
    played_s: float = np.nan,
    duration_s: float = np.nan,
    opponents: float = 1.0,
) -> Entry:
    """Return the entry of a player who finished without a tie or handicap. By default, the heat has two players."""
    return Entry(1.0, place, place, time_s, score, played_s, duration_s, 0.0, opponents, 0.0)


@kernel
def heats_of(columns: Any, update: int) -> tuple[int, int]:
    """Return the range of heats in a rating update: the first heat, and the heat after the last one."""
    if columns.heats.size:
        return columns.heats[update], columns.heats[update + 1]
    return update, update + 1


@kernel
def entries_of(columns: Any, heat: int) -> tuple[int, int]:
    """Return the range of entries in a heat: the first entry, and the entry after the last one."""
    if columns.entries.size:
        return columns.entries[heat], columns.entries[heat + 1]
    return columns.entrants[heat], columns.entrants[heat + 1]


@kernel
def plain(columns: Any) -> bool:
    """Return True if every event is one heat, rated on its own, without teams, handicaps, quits or idle time."""
    heats = (
        columns.heats.size + columns.weight.size + columns.side.size + columns.finished.size + columns.opponents.size
    )
    heats += columns.home.size + columns.shared.size
    entrants = columns.played_events.size + columns.quit.size + columns.idle.size + columns.age_group.size
    return bool(heats + entrants + columns.handicap.size == 0)


@kernel
def plain_entry(columns: Any, i: Any) -> Entry:
    """Return entry `i` of a plain table, in a heat of two. `i` is (duel, side) if the columns have two dimensions."""
    return Entry(
        1.0,
        columns.place[i],
        rank_at(columns, i),
        columns.time_s[i] if columns.time_s.size else np.nan,
        columns.score[i] if columns.score.size else np.nan,
        columns.played_s[i] if columns.played_s.size else np.nan,
        columns.duration_s[i] if columns.duration_s.size else np.nan,
        0.0,
        1.0,
        0.0,
    )


@kernel
def comparable(columns: Any, i: int, j: int) -> bool:
    """Return True if two entries of a heat are compared: they are not team mates, and at least one finished.

    In systems that rate absent players, everyone who started is treated here as a finisher.
    """
    if columns.side.size and columns.side[i] == columns.side[j]:
        return False
    return not columns.finished.size or bool(columns.finished[i] or columns.finished[j])


@kernel
def nobody_finished(columns: Any, start: int, stop: int) -> bool:
    """Return True if everyone quit a heat. Such a heat provides no evidence."""
    if columns.finished.size == 0:
        return False
    finishers = 0.0
    for i in range(start, stop):
        finishers += columns.finished[i]
    return bool(finishers == 0.0)


@kernel
def slot_at(columns: Any, entry: int, first: int) -> int:
    """Return the entrant to which an entry belongs, counting from 0 within its update."""
    return columns.entrant[entry] if columns.entrant.size else entry - first


@kernel
def mode_at(columns: Any, heat: int) -> float:
    """Return the mode of a heat."""
    return columns.mode[heat] if columns.mode.size else 0.0


@kernel
def weight_at(columns: Any, heat: int) -> float:
    """Return how many times each comparison of a heat counts."""
    return columns.weight[heat] if columns.weight.size else 1.0


@kernel
def occasion_at(columns: Any, update: int) -> Occasion:
    """Return the time and mode of a rating update's event."""
    first = columns.heats[update] if columns.heats.size else update
    return Occasion(columns.day[update] if columns.day.size else np.nan, mode_at(columns, first))


@kernel
def rank_at(columns: Any, i: Any) -> float:
    """Return the rank of entry `i`. Ties share the best of their places."""
    rank: float = columns.rank[i] if columns.rank.size else columns.place[i]
    return rank


@kernel
def part_at(columns: Any, i: int) -> float:
    """Return the part of the game that entry `i` played."""
    return part_played(
        columns.played_s[i] if columns.played_s.size else np.nan,
        columns.duration_s[i] if columns.duration_s.size else np.nan,
    )


@kernel
def part_played(played_s: float, duration_s: float) -> float:
    """Return the part of the game that a player played, or 1 if unknown."""
    if duration_s > 0.0 and played_s >= 0.0:
        return min(1.0, played_s / duration_s)
    return 1.0


@kernel
def entrant_at(columns: Any, i: int) -> Entrant:
    """Return entrant `i` of the table."""
    return Entrant(
        columns.played_events[i] if columns.played_events.size else 1.0,
        columns.quit[i] if columns.quit.size else 0.0,
        columns.idle[i] if columns.idle.size else 0.0,
        columns.kind[i] if columns.kind.size else 0.0,
        columns.age_group[i] if columns.age_group.size else 0.0,
    )


@kernel
def is_sought(columns: Any, i: int) -> bool:
    """Return True if the new state of entrant `i` of the table is needed."""
    return not columns.sought.size or bool(columns.sought[i])


@kernel
def entry_at(columns: Any, i: int, size: float) -> Entry:
    """Return entry `i` of the table, in a heat of `size` entries."""
    return Entry(
        columns.finished[i] if columns.finished.size else 1.0,
        columns.place[i],
        columns.rank[i] if columns.rank.size else columns.place[i],
        columns.time_s[i] if columns.time_s.size else np.nan,
        columns.score[i] if columns.score.size else np.nan,
        columns.played_s[i] if columns.played_s.size else np.nan,
        columns.duration_s[i] if columns.duration_s.size else np.nan,
        columns.handicap[i] if columns.handicap.size else 0.0,
        columns.opponents[i] if columns.opponents.size else size - 1.0,
        columns.home[i] if columns.home.size else 0.0,
    )
