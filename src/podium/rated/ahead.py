"""What lies ahead of rated results: where players stand, and the stakes of a race to come."""

from collections.abc import Sequence
from datetime import date, datetime
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from podium.engine.replay import NEVER
from podium.engine.system import System
from podium.kernels.records import read
from podium.ledger import forecast
from podium.ledger.hypothetical_race import Race, has_draws, last_lines
from podium.ledger.leaderboard import instant
from podium.ledger.stakes import Stakes, StakesGrid, stakes
from podium.results.columns import DEFAULTS
from podium.results.names import admit

if TYPE_CHECKING:
    from podium.rated.rated import Rated


def standing_of(rated: "Rated", names: Sequence[str], pool: str | None) -> tuple[System, list[Any]]:
    """The system in the pool of that name, or in the only one there is, and the states of players there."""
    chosen, standing = pool_among(rated, pool), rated.final_state()
    known = standing.players.with_row_index("row").filter(pl.col("player").is_in([*names]), pool=chosen or "")
    rows = dict(known.select("player", "row").iter_rows())
    newcomer = rated.system.newcomer()
    found = [read(standing.states, rows[name], newcomer) if name in rows else newcomer for name in names]
    return forecast.system_in(rated.system, standing.pools, chosen), found


def field_standing(
    rated: "Rated",
    entrants: Sequence[forecast.Named],
    sides: Sequence[Sequence[forecast.Named]],
    player: str | None,
    pool: str | None,
) -> tuple[System, list[list[forecast.Member]], dict[str, Any]]:
    """The system in a pool, each side's members, a player who joins them, and the states of all and what they share."""
    field = forecast.field_of(entrants, sides, lambda names: [admit(each, "entrant") for each in names])
    joining = None if player is None else admit(player, "entrant")
    if joining is not None and not any(each.player == joining for side in field for each in side):
        field.append([forecast.Member(joining)])
    names = forecast.names_to_rate(field, rated.system.kinds)
    system, found = standing_of(rated, names, pool)
    states = dict(zip(names, found, strict=True))
    forecast.refuse_slips(field, forecast.played(states), lambda _: rated.final_state().players["player"])
    return system, field, states


def pool_among(rated: "Rated", pool: str | None) -> str | None:
    """The pool of that name, or the only one; None where nobody is rated."""
    return forecast.only_pool(rated.final_state().players["pool"].unique(maintain_order=True).to_list(), pool)


def stakes_after(
    rated: "Rated",
    entrants: Sequence[forecast.Named],
    sides: Sequence[Sequence[forecast.Named]],
    player: str | None,
    pool: str | None,
    heats: int,
    at: str | date | datetime | None,
) -> Stakes:
    """The stakes of a race of a pool, the only one where it has no name, after the last event."""
    system, field, states = field_standing(rated, entrants, sides, player, pool)
    starts = forecast.names_of_field(field)
    chosen = starts if player is None else [admit(player, "entrant")]
    name = pool_among(rated, pool) or DEFAULTS["pool"]
    players = rated.ratings.filter(pool=name)
    played = players["last_played_at"]
    seen = dict(zip(players["player"], played.cast(pl.Int64).fill_null(NEVER), strict=True))
    when = played.max() if at is None else instant(at, whole_day=False)
    race = Race(
        system=system,
        pool=name,
        sides=tuple(tuple(each.player for each in side) for side in field),
        states=np.array([states[each] for each in starts], np.float64),
        period=rated.period,
        started_at=when if isinstance(when, datetime) else None,
        seen=np.array([seen.get(each, NEVER) for each in starts], np.int64),
        lines=last_lines(system, rated.events, name, len(field)),
        given={each.player: each for side in field for each in side if each.shared or each.side},
        things={each: states[each] for each in forecast.things_of(field, system.kinds)},
    )
    score: pl.Expr = system.score(pl.col("rating"), pl.col("deviation"))
    others = np.sort(players.filter(~pl.col("player").is_in(starts)).select(score).to_series().to_numpy())
    board = StakesGrid(
        lambda scores: others.size - np.searchsorted(others, scores, side="right"),
        is_listed=np.isin(starts, players["player"].to_list()),
        will_be_listed=np.ones(len(starts), np.bool_),
    )
    return stakes(race, chosen, board, heats=heats, draws=has_draws(rated.events, name))
