"""The peers: each rates the same fields through its own public interface.

A contender is a function of `Fields` that prepares (not timed) and returns the function to time.
"""

from collections.abc import Callable

from events import Fields

Timed = Callable[[], object]


def openskill_pl(races: Fields) -> Timed:
    """Run the openskill package's Plackett-Luce with teams of one."""
    from openskill.models import PlackettLuce

    model = PlackettLuce()
    ratings = [model.rating() for _ in range(races.players)]
    order = races.player.tolist()

    def run() -> None:
        for race in order:
            for player, (after,) in zip(race, model.rate([[ratings[player]] for player in race]), strict=True):
                ratings[player] = after

    return run


def trueskill(races: Fields) -> Timed:
    """Run the trueskill package with teams of one."""
    import trueskill as package

    environment = package.TrueSkill()
    ratings = [environment.create_rating() for _ in range(races.players)]
    order = races.player.tolist()

    def run() -> None:
        for race in order:
            for player, (after,) in zip(race, environment.rate([(ratings[player],) for player in race]), strict=True):
                ratings[player] = after

    return run


def elote_elo(races: Fields) -> Timed:
    """Run the elote package's Elo on duels."""
    from elote import EloCompetitor

    competitors = [EloCompetitor(initial_rating=1500) for _ in range(races.players)]
    order = races.player.tolist()

    def run() -> None:
        for winner, loser in order:
            competitors[winner].beat(competitors[loser])

    return run


def glicko2_package(races: Fields) -> Timed:
    """Run the glicko2 package with one rating period per match."""
    from glicko2 import Player

    players = [Player() for _ in range(races.players)]
    order = races.player.tolist()

    def run() -> None:
        for winner, loser in order:
            a, b = players[winner], players[loser]
            of_a, of_b = (a.rating, a.rd), (b.rating, b.rd)
            a.update_player([of_b[0]], [of_b[1]], [1])
            b.update_player([of_a[0]], [of_a[1]], [0])

    return run


def elo_mmr(system: str) -> Callable[[Fields], Timed]:
    """Run a system of Elo-MMR-Py (Rust) on all contests in one call."""

    def ready(races: Fields) -> Timed:
        from elo_mmr_py import Contest, rate_latest

        contests = [
            Contest(
                standings=[(str(player), place, place) for place, player in enumerate(race)],
                name=str(number),
                time_seconds=60 * number,
            )
            for number, race in enumerate(races.player.tolist())
        ]
        return lambda: rate_latest(contests, system=system)

    return ready


def riix_elo(races: Fields) -> Timed:
    """Run the riix package's Elo on arrays."""
    import numpy as np
    from riix.models.elo import Elo

    model = Elo(competitors=list(range(races.players)), k=24.0)
    outcomes = np.ones(races.player.shape[0])
    return lambda: model.iterative_update(races.player, outcomes)
