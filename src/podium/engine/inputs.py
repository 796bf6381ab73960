"""The columns that kernels read, and what they say of an entrant, an entry or a heat."""

from typing import Any, NamedTuple

import numpy as np

from podium.kernels.compiled import kernel

OTHER_MODE, TIME_TRIAL, DUEL = 0.0, 1.0, 2.0
MODES = {"time-trial": TIME_TRIAL, "duel": DUEL}


class Entrant(NamedTuple):
    """A player in one event, or in one rating period."""

    events: float  # rated events in the period; 1 where every event settles
    quit: float  # 1 when the player quit a heat, else 0
    idle: float  # whole days (whole periods) missed since the player's last; 0 for a newcomer
    kind: float = 0.0  # 0 for a player; from 1 for a thing that entrants share, by its place in the system's `shared`


PRESENT = Entrant(1.0, 0.0, 0.0)  # someone about to play one event, after no idle time


class Entry(NamedTuple):
    """A player's line in one heat; NaN where the results have none."""

    finished: float  # 1, or 0 for a quit
    place: float  # 1 is best; ties share the mean of their places, and so do all who quit: the last ones
    rank: float  # 1 and 1 and 3: ties share the best of their places
    time_s: float
    score: float
    played_s: float
    duration_s: float
    handicap: float  # 1 or 0
    opponents: float  # how many entries this one is compared with


class Heat(NamedTuple):
    """What all entries of a heat share."""

    entries: float
    mode: float  # TIME_TRIAL, DUEL or OTHER_MODE


class Occasion(NamedTuple):
    """When and in what mode an event is held, for systems whose pools have a state."""

    day: float  # whole and part, since the year 1 began; NaN without a date
    mode: float  # of its first heat, as the system numbers modes; below 0 for no mode in particular


class Columns(NamedTuple):
    """The columns of `Events` that the compiled loop reads. A column of no entries is at its default."""

    entrants: Any  # int64 (settlements + 1): the entrants of a settlement (an event or period) in the arrays below
    player: Any  # int32 (entrants): row of the player's state
    played_events: Any  # float64 (entrants), default 1
    quit: Any  # float64 (entrants), default 0
    idle: Any  # float64 (entrants), default 0
    kind: Any  # float64 (entrants), default 0: what each is; things that players share stand behind all players
    sought: Any  # float64 (entrants), default 1: 0 of one whose new state nobody reads, which may stay any finite one
    heats: Any  # int64 (settlements + 1): the heats of a settlement; default: one heat each
    entries: Any  # int64 (heats + 1): the entries of a heat; default: `entrants`
    entrant: Any  # int32 (entries): which entrant of the settlement; default: the entry itself
    side: Any  # int32 (entries): equal for team mates; default: nobody has one
    mode: Any  # float64 (heats), default OTHER_MODE
    weight: Any  # float64 (heats), default 1: how many times each comparison counts
    finished: Any  # float64 (entries), default 1
    place: Any  # float64 (entries)
    rank: Any  # float64 (entries), default `place`
    time_s: Any  # as the columns below: float64 (entries), default NaN
    score: Any
    played_s: Any
    duration_s: Any
    handicap: Any  # default 0
    opponents: Any  # default: all other entries
    home: Any  # float64 (entries), default 0: 1 of the side that begins, or is at home
    shared: Any  # int32 (entries x kinds): which entrant of the settlement is shared, -1 for none; default: none is
    day: Any  # float64 (settlements): days since the year 1 began, NaN without a date; default: of no system's interest


# Which of them have a value an entrant, a heat, an entry, a settlement; the others are offsets into these.
ENTRANT_COLUMNS = ("player", "played_events", "quit", "idle", "kind", "sought")
HEAT_COLUMNS = ("mode", "weight")
SETTLEMENT_COLUMNS = ("day",)
SHARED_COLUMNS = ("shared",)  # as many values an entry as there are kinds of things
ENTRY_COLUMNS = (
    *("entrant", "side", "finished", "place", "rank", "time_s", "score", "played_s", "duration_s", "handicap"),
    *("opponents", "home"),
)
ABSENT = np.empty(0)  # a column at its default


LINE = 16  # numbers in a line of scratch: a whole Entry, or what a system notes of a team


class Scratch(NamedTuple):
    """Room that `rate_event` may write: a row for each entrant (`lines`: each entry) of the widest settlement."""

    entering_states: Any  # float64 (entrants, fields of an entering state)
    sums: Any  # float64 (entrants, fields of the evidence)
    lines: Any  # float64 (entries, LINE)
    room: Any  # float64 (entrants and more, numbers): as wide and as long as the system's `room` says
    pool: Any  # float64 (fields of the pool's state): as it is now; `rate_event` moves it; no numbers without a state
    sides: Any = ()  # `Sides` for systems that rate sides as one


def empty_scratch(prototypes: Any, room: tuple[int, int], widest: int, longest: int, pool: Any, sides: Any) -> Scratch:
    """Room for so many entrants in a settlement and entries in a heat, and the state of the pool itself.

    Args:
        prototypes: a newcomer, an entering state, and no evidence.
        room: as `System.room`.
    """
    _, entering, zero_evidence = prototypes
    numbers, beside = room
    return Scratch(
        entering_states=np.empty((widest, len(entering))),
        sums=np.empty((widest, len(zero_evidence))),
        lines=np.empty((longest, LINE)),
        room=np.empty((widest + beside, numbers)),
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
    """The line of one who finished alone at a place, without a handicap; in a heat of two unless there are more."""
    return Entry(1.0, place, place, time_s, score, played_s, duration_s, 0.0, opponents)


@kernel
def heats_of(columns: Any, settlement: int) -> tuple[int, int]:
    """The heats of a settlement: the first, and the one after the last."""
    if columns.heats.size:
        return columns.heats[settlement], columns.heats[settlement + 1]
    return settlement, settlement + 1


@kernel
def entries_of(columns: Any, heat: int) -> tuple[int, int]:
    """The entries of a heat: the first, and the one after the last."""
    if columns.entries.size:
        return columns.entries[heat], columns.entries[heat + 1]
    return columns.entrants[heat], columns.entrants[heat + 1]


@kernel
def plain(columns: Any) -> bool:
    """Whether every event is one heat, settles by itself, and nobody has a team, a handicap, quits or was idle."""
    heats = (
        columns.heats.size + columns.weight.size + columns.side.size + columns.finished.size + columns.opponents.size
    )
    heats += columns.home.size + columns.shared.size
    entrants = columns.played_events.size + columns.quit.size + columns.idle.size
    return bool(heats + entrants + columns.handicap.size == 0)


@kernel
def plain_entry(columns: Any, i: Any) -> Entry:
    """Entry `i` of a plain table, in a heat of two; by duel and side where the columns are."""
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
    )


@kernel
def comparable(columns: Any, i: int, j: int) -> bool:
    """Whether two entries of a heat say anything about each other: not team mates, not both unfinished."""
    if columns.side.size and columns.side[i] == columns.side[j]:
        return False
    return not columns.finished.size or bool(columns.finished[i] or columns.finished[j])


@kernel
def nobody_finished(columns: Any, start: int, stop: int) -> bool:
    """Whether everyone quit a heat: it says nothing of anyone."""
    if columns.finished.size == 0:
        return False
    finishers = 0.0
    for i in range(start, stop):
        finishers += columns.finished[i]
    return bool(finishers == 0.0)


@kernel
def slot_at(columns: Any, entry: int, first: int) -> int:
    """Which entrant of the settlement an entry belongs to, counting from 0."""
    return columns.entrant[entry] if columns.entrant.size else entry - first


@kernel
def mode_at(columns: Any, heat: int) -> float:
    """The mode of a heat."""
    return columns.mode[heat] if columns.mode.size else 0.0


@kernel
def weight_at(columns: Any, heat: int) -> float:
    """How many times each comparison of a heat counts."""
    return columns.weight[heat] if columns.weight.size else 1.0


@kernel
def occasion_at(columns: Any, settlement: int) -> Occasion:
    """When and in what mode a settlement's event is held."""
    first = columns.heats[settlement] if columns.heats.size else settlement
    return Occasion(columns.day[settlement] if columns.day.size else np.nan, mode_at(columns, first))


@kernel
def rank_at(columns: Any, i: Any) -> float:
    """The rank of entry `i`: ties share the best of their places."""
    rank: float = columns.rank[i] if columns.rank.size else columns.place[i]
    return rank


@kernel
def part_at(columns: Any, i: int) -> float:
    """The part of the game that entry `i` was there for."""
    return part_played(
        columns.played_s[i] if columns.played_s.size else np.nan,
        columns.duration_s[i] if columns.duration_s.size else np.nan,
    )


@kernel
def part_played(played_s: float, duration_s: float) -> float:
    """The part of the game that a player was there for; all of it where that is not known."""
    if duration_s > 0.0 and played_s >= 0.0:
        return min(1.0, played_s / duration_s)
    return 1.0


@kernel
def entrant_at(columns: Any, i: int) -> Entrant:
    """Entrant `i` of all."""
    return Entrant(
        columns.played_events[i] if columns.played_events.size else 1.0,
        columns.quit[i] if columns.quit.size else 0.0,
        columns.idle[i] if columns.idle.size else 0.0,
        columns.kind[i] if columns.kind.size else 0.0,
    )


@kernel
def is_sought(columns: Any, i: int) -> bool:
    """Whether the new state of entrant `i` of all is read."""
    return not columns.sought.size or bool(columns.sought[i])


@kernel
def entry_at(columns: Any, i: int, size: float) -> Entry:
    """Entry `i` of all, in a heat of `size`."""
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
    )
