"""The contenders of each shape in `make bench`, and the speeds that skillratings reached."""

from collections.abc import Callable
from typing import NamedTuple

import limits
import numpy as np
import peers
from events import TENNIS, Fields, duels_with_draws, fields, tennis

import podium
from podium.engine.pool_state import new_pools
from podium.engine.replay import Replayed, by_columns, newcomers, replay_updates
from podium.engine.tables.encoding import encode
from podium.systems import make_system

Ready = Callable[[Fields], peers.Timed]
Contenders = dict[str, tuple[Ready, int]]  # by name: the preparation, and the number of events

MILLION = 1_000_000


class Shape(NamedTuple):
    """Events of one shape and their contenders, the first of which is the base of the ratios."""

    events: Callable[[], Fields]
    contenders: Contenders


def states_after(system, columns, first, last, states):
    """Return the states after updates `first` to `last`, without keeping the changes. The given states change."""
    nothing = Replayed(states, np.empty(0), by_columns(0, states.shape[1]), pools=new_pools(system, 1))
    replay_updates(system, columns, first, last, nothing)
    return states


def podium_kernel(system: str) -> Ready:
    """Return a contender that only replays a system: the table is read and encoded before."""

    def ready(races: Fields) -> peers.Timed:
        instance = make_system(system)
        columns = encode(podium.read_results(races.table()), instance).columns
        events = races.player.shape[0]
        return lambda: states_after(instance, columns, 0, events, newcomers(instance, races.players))

    return ready


def podium_kernels(events: int, *systems: str) -> Contenders:
    return {f"Podium {system}": (podium_kernel(system), events) for system in systems}


LIMITS: Contenders = {"loop by hand, Elo": (limits.elo, MILLION), "states touched only": (limits.memory_walk, MILLION)}
DUEL_PEERS: Contenders = {
    "riix Elo": (peers.riix_elo, 200_000),
    "elote Elo": (peers.elote_elo, 20_000),
    "glicko2 package": (peers.glicko2_package, 4_000),
}
DUELS: Contenders = (
    LIMITS
    | DUEL_PEERS
    | podium_kernels(MILLION, "elo", "stk", "folyami", "glicko", "glicko2")
    | podium_kernels(MILLION, "openskill-bt", "openskill-pl", "openskill-tm", "trueskill")
    | podium_kernels(MILLION, "egf", "uscf", "dwz:first_ratings=false", "fide:first_ratings=false")
    | podium_kernels(MILLION, "glicko2:period_days=4.66505")
)
RACES: Contenders = {
    "loop in C, Plackett-Luce": (limits.plackett_luce_in_c, 200_000),
    "openskill Plackett-Luce": (peers.openskill_pl, 4_000),
    "trueskill": (peers.trueskill, 200),
    "Elo-MMR-Py mmx-fast": (peers.elo_mmr("mmx-fast"), 4_000),
    **podium_kernels(200_000, "elo", "stk", "folyami", "glicko2", "openskill-pl", "openskill-bt", "irating"),
    **podium_kernels(50_000, "trueskill", "elo-mmr"),
}
LARGE: Contenders = {
    "loop in C, Plackett-Luce": (limits.plackett_luce_in_c, 200),
    "openskill Plackett-Luce": (peers.openskill_pl, 1),
    **podium_kernels(200, "openskill-pl", "openskill-bt-part"),
    **podium_kernels(20, "openskill-bt", "elo"),
}
IN_ORDER: Contenders = (
    LIMITS
    | {
        "loop in C, Elo": (limits.elo_in_c, MILLION),
        "loop in C, Bradley-Terry": (limits.bradley_terry_in_c, MILLION),
    }
    | DUEL_PEERS
    | {
        "openskill Plackett-Luce": (peers.openskill_pl, 20_000),
        "trueskill": (peers.trueskill, 1_000),
        "Elo-MMR-Py mmx-fast": (peers.elo_mmr("mmx-fast"), 20_000),
    }
    | podium_kernels(193_725, "elo", "glicko", "glicko2", "openskill-bt", "openskill-pl", "trueskill", "elo-mmr")
)

SHAPES: dict[str, Shape] = {
    "duels": Shape(lambda: fields(MILLION, 2), DUELS),
    "duels, a fifth drawn": Shape(
        lambda: duels_with_draws(MILLION), LIMITS | podium_kernels(MILLION, "elo", "openskill-bt", "trueskill")
    ),
    "duels, 1,000,000 players": Shape(
        lambda: fields(MILLION, 2, MILLION),
        LIMITS | podium_kernels(MILLION, "elo", "glicko2", "openskill-bt", "trueskill"),
    ),
    "races of 8": Shape(lambda: fields(200_000, 8), RACES),
    "races of 1,000": Shape(lambda: fields(200, 1000), LARGE),
}
if TENNIS.exists():
    SHAPES["duels, men's tennis"] = Shape(tennis, IN_ORDER)

# Events per second of the Rust library skillratings 0.28.2: the best of three builds (plain, native, and native with
# link-time optimization), on random pairs of 10,000 players. Measured on 21 November 2026 on one core of a
# fifth-generation EPYC, on which `limits.elo` reached `LIMIT_THERE`. This bench does not need Cargo's registry.
SKILLRATINGS = {
    ("duels", "Podium elo"): 94.7e6,
    ("duels", "Podium glicko2"): 4.96e6,
    ("duels", "Podium openskill-bt"): 56.3e6,
    ("duels", "Podium trueskill"): 8.1e6,
    ("races of 8", "Podium openskill-bt"): 1.107e6,
    ("races of 8", "Podium glicko2"): 0.475e6,
    ("races of 8", "Podium trueskill"): 56.5e3,
    ("races of 1,000", "Podium openskill-bt"): 66.0,
}
LIMIT_THERE = 165e6
