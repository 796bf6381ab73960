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


class Columns(NamedTuple):
    """The columns of `Events` that the compiled loop reads. A column of no entries is at its default."""

    entrants: Any  # int64 (settlements + 1): the entrants of a settlement (an event or period) in the arrays below
    player: Any  # int32 (entrants): row of the player's state
    played_events: Any  # float64 (entrants), default 1
    quit: Any  # float64 (entrants), default 0
    idle: Any  # float64 (entrants), default 0
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


LINE = 16  # numbers in a line of scratch: a whole Entry, or what a system notes of a team


class Scratch(NamedTuple):
    """Room that `rate_event` may write: a row for each entrant (`lines`: each entry) of the widest settlement."""

    entering_states: Any  # float64 (entrants, fields of an entering state)
    sums: Any  # float64 (entrants, fields of the evidence)
    lines: Any  # float64 (entries, LINE)


@kernel
def plain(events: Any) -> bool:
    """Whether every event is one heat, settles by itself, and nobody has a team, quits or was idle."""
    heats = events.heats.size + events.weight.size + events.side.size + events.finished.size + events.opponents.size
    entrants = events.played_events.size + events.quit.size + events.idle.size
    return bool(heats + entrants + events.handicap.size + events.rank.size == 0)


@kernel
def plain_entry(events: Any, i: int) -> Entry:
    """Entry `i` of a plain table, in a heat of two."""
    return Entry(
        1.0,
        events.place[i],
        events.place[i],
        events.time_s[i] if events.time_s.size else np.nan,
        events.score[i] if events.score.size else np.nan,
        events.played_s[i] if events.played_s.size else np.nan,
        events.duration_s[i] if events.duration_s.size else np.nan,
        0.0,
        1.0,
    )


@kernel
def comparable(events: Any, i: int, j: int) -> bool:
    """Whether two entries of a heat say anything about each other: not team mates, not both unfinished."""
    if events.side.size and events.side[i] == events.side[j]:
        return False
    return not events.finished.size or bool(events.finished[i] or events.finished[j])


@kernel
def nobody_finished(events: Any, start: int, stop: int) -> bool:
    """Whether everyone quit a heat: it says nothing of anyone."""
    if events.finished.size == 0:
        return False
    finishers = 0.0
    for i in range(start, stop):
        finishers += events.finished[i]
    return bool(finishers == 0.0)


@kernel
def slot_at(events: Any, entry: int, first: int) -> int:
    """Which entrant of the settlement an entry belongs to, counting from 0."""
    return events.entrant[entry] if events.entrant.size else entry - first


@kernel
def mode_at(events: Any, heat: int) -> float:
    """The mode of a heat."""
    return events.mode[heat] if events.mode.size else 0.0


@kernel
def weight_at(events: Any, heat: int) -> float:
    """How many times each comparison of a heat counts."""
    return events.weight[heat] if events.weight.size else 1.0


@kernel
def part_at(events: Any, i: int) -> float:
    """The part of the game that entry `i` was there for."""
    return part_played(
        events.played_s[i] if events.played_s.size else np.nan,
        events.duration_s[i] if events.duration_s.size else np.nan,
    )


@kernel
def part_played(played_s: float, duration_s: float) -> float:
    """The part of the game that a player was there for; all of it where that is not known."""
    if duration_s > 0.0 and played_s >= 0.0:
        return min(1.0, played_s / duration_s)
    return 1.0


@kernel
def entrant_at(events: Any, i: int) -> Entrant:
    """Entrant `i` of all."""
    return Entrant(
        events.played_events[i] if events.played_events.size else 1.0,
        events.quit[i] if events.quit.size else 0.0,
        events.idle[i] if events.idle.size else 0.0,
    )


@kernel
def entry_at(events: Any, i: int, size: float) -> Entry:
    """Entry `i` of all, in a heat of `size`."""
    return Entry(
        events.finished[i] if events.finished.size else 1.0,
        events.place[i],
        events.rank[i] if events.rank.size else events.place[i],
        events.time_s[i] if events.time_s.size else np.nan,
        events.score[i] if events.score.size else np.nan,
        events.played_s[i] if events.played_s.size else np.nan,
        events.duration_s[i] if events.duration_s.size else np.nan,
        events.handicap[i] if events.handicap.size else 0.0,
        events.opponents[i] if events.opponents.size else size - 1.0,
    )
