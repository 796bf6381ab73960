"""A rating period with more rows than are held: rated piece by piece, each read three times."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import polars as pl

from podium.engine.long_periods import PeriodSums
from podium.engine.replay import NEVER, States, newcomers
from podium.engine.system import System
from podium.engine.tables.encoding import encode
from podium.errors import ParameterError
from podium.ledger.saved import Start
from podium.rated.rated import Rated
from podium.results.long_periods import LongPart
from podium.results.reading import Results

if TYPE_CHECKING:
    from podium.ledger.reasons.explanation import Explanation
    from podium.ledger.reasons.what_if import WhatIf

IN_PIECES = "the rating period of event {!r} has more rows than are held at a time; rate it as one table to explain it"


@dataclass(frozen=True, repr=False)
class RatedPiece(Rated):
    """Some events of a rating period, whose changes come of all its events."""

    def explain(self, event_id: str, player: str) -> "Explanation":  # noqa: ARG002
        """Refuse: a change comes of events that are not here.

        Raises:
            ParameterError: always.
        """
        raise ParameterError(IN_PIECES.format(event_id))

    def what_if(self, event_id: str, player: str) -> "WhatIf":  # noqa: ARG002
        """Refuse: a change comes of events that are not here.

        Raises:
            ParameterError: always.
        """
        raise ParameterError(IN_PIECES.format(event_id))


def rate_long_period(
    part: LongPart, system: System, period: str, begin: Callable[[Results], Start | None]
) -> Iterator[Rated]:
    """Rate a period.

    Args:
        begin: where players stand before it, which checks that a piece may follow.

    Returns:
        Its pieces: what settles in each is a player's last event of the period.

    Raises:
        ResultsError: a finisher lacks what the system needs.
        NotFiniteError: a new state is not finite.
    """
    sums = PeriodSums(system, period)
    standing: Start | None = None
    for piece in part.pieces():
        with piece.in_tables():
            standing = begin(piece.results)
            sums.count(encode(piece.results, system, period, piece.numbered))
    sums.bring(*brought(part.pool, sums.names, system, standing))
    for number, piece in enumerate(part.pieces()):
        events = encode(piece.results, system, period, piece.numbered)
        sums.judge(events, first=number == 0, last=number == sums.pieces - 1)
    for number, piece in enumerate(part.pieces()):
        events = encode(piece.results, system, period, piece.numbered)
        columns, settles, replayed = sums.rated(events, number)
        events = replace(events, columns=columns, ledger=replace(events.ledger, settles=settles))
        rated = RatedPiece(system, period, events, replayed, standing)
        standing = rated.standing()
        del events, piece, replayed
        yield rated
        del rated


def brought(
    pool: str, names: list[str], system: System, standing: Start | None
) -> tuple[States, npt.NDArray[np.int64]]:
    """The states of a pool's players, and when each was seen last: (players, fields), (players)."""
    if standing is None:
        return newcomers(system, len(names)), np.full(len(names), NEVER)
    seats = pl.DataFrame(
        {"player": pl.Series(names, dtype=pl.String), "pool": pl.Series([pool]).new_from_index(0, len(names))}
    )
    rows = standing.rows_of(seats)
    return standing.states_of(system, rows), standing.seen_of(rows)
