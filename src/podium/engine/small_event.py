"""One event of a few who race alone, encoded from its rows without a table: a table takes its time however small.

What is not as plain as that is for `podium.engine.encoding`, whose columns these are to the bit.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from podium.engine.encoding import frozen, place_columns
from podium.engine.inputs import ABSENT, Columns
from podium.engine.periods import DAY_US, DAYS_TO_1970
from podium.engine.placing import Reported, place_heats
from podium.engine.rule_checks import check_rules
from podium.engine.rules import counts, overrides
from podium.engine.selection import UNFINISHED_STATUS, UNRATED_STATUS
from podium.engine.system import System

Row = Mapping[str, Any]
NOT_PLAIN = {"heat", "team", "team_score"}
NO_SLOTS = frozen(ABSENT, np.int32)
NO_OFFSETS = frozen(ABSENT, np.int64)
NOTHING = frozen(ABSENT)


def entries_of(rows: Sequence[Row], system: System) -> Sequence[Row] | None:
    """The rows of an event that are rated; None where it is not plain, or might not be rated.

    Args:
        rows: of a checked event, with `player`, `status`, and of other columns those that have a value.
    """
    if overrides(counts, system) or any(row.keys() & NOT_PLAIN or not row.get("ranked", True) for row in rows):
        return None
    entries = [row for row in rows if row["status"] not in UNRATED_STATUS]
    finishers = [row for row in entries if row["status"] == "finished"]
    is_rated = len(entries) > 1 and (finishers or not system.needs_finisher)
    if not is_rated or any(row.get(name) is None for name in system.needs for row in finishers):
        return None
    return entries


def encode_small(
    rows: Sequence[Row], entries: Sequence[Row], system: System, pool: str, started_at: int, seen: npt.NDArray[np.int64]
) -> Columns:
    """Encode an event.

    Args:
        rows: of the event.
        entries: those that are rated, by `entries_of`.
        system: that rates it.
        pool: its name.
        started_at: microseconds since 1970.
        seen: when each entrant's event before was, so too; `started_at` where there was none: (entrants).
    """
    check_rules(system)
    size = len(entries)
    offsets = frozen(np.array([0, size]), np.int64)
    finishes = np.array([row["status"] not in UNFINISHED_STATUS for row in entries])
    given = {name for row in rows for name in row}

    def column(name: str) -> Any:
        if name not in given:
            return NOTHING
        return frozen(np.array([np.nan if row.get(name) is None else row[name] for row in entries], np.float64))

    has_quit = not finishes.all()
    reported = Reported(
        heats=offsets,
        finished=frozen(finishes if has_quit else ABSENT, np.bool_),
        position=column("position"),
        score=column("score"),
        time_s=column("time_s"),
        team=NO_SLOTS,
        team_score=NOTHING,
    )
    mode = system.mode_number(entries[0].get("mode") or pool)
    weight = entries[0].get("weight") or 1.0
    idle = np.maximum((started_at - seen) // DAY_US, 0) if system.idle_unit == "day" else ABSENT
    return Columns(
        entrants=offsets,
        player=frozen(np.arange(size), np.int32),
        played_events=NOTHING,
        quit=frozen(~finishes if has_quit else ABSENT),
        idle=frozen(idle),
        entrant=NO_SLOTS,
        finished=frozen(reported.finished),
        **place_columns(place_heats(reported, teams=system.teams), reported),
        mode=frozen(np.array([mode]) if mode else ABSENT),
        weight=frozen(np.array([weight]) if weight != 1.0 else ABSENT),
        time_s=reported.time_s,
        score=reported.score,
        played_s=column("played_s"),
        duration_s=column("duration_s"),
        handicap=frozen(np.array([row.get("handicap", False) for row in entries])) if "handicap" in given else NOTHING,
        day=frozen(np.array([started_at / DAY_US + DAYS_TO_1970])) if system.reads_days else NOTHING,
        heats=NO_OFFSETS,
        entries=NO_OFFSETS,
    )
