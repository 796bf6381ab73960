"""Responses about players who met, and about chances in a race between players."""

from datetime import datetime

from podium.ledger.forecast import Forecast
from podium.support.answers import answer, described
from podium.views.models import STARTED, PlayerRank, Started, rows_as


@answer
class ComparedPlayer(PlayerRank):
    """The rank and rating of one of the two players who are compared.

    Attributes:
        expected: Expected score against the other player, from 0 to 1.
    """

    expected: float


@answer
class CommonEvent(Started):
    """An event in which two players met. Heats in which they were team mates are not counted.

    Attributes:
        event_id: The event.
        wins: Number of heats that the first player won.
        draws: Number of heats that were drawn.
        losses: Number of heats that the first player lost.
        delta: The first player's rating change in the event, in points.
        other_delta: Rating change of the other player, in points.
        title: Title of the event, or null.
        rank: Rank of the first player in the event. Null if unknown.
        other_rank: Rank of the other player in the event.
        lead: Lead of the first player over the other before the event, in points.
        shown: The first player's change, rounded for display.
        other_shown: The other player's change, rounded for display.
    """

    event_id: str
    started_at: datetime | None = described(STARTED)
    wins: int
    draws: int
    losses: int
    delta: float
    other_delta: float
    title: str | None
    rank: int | None
    other_rank: int | None
    lead: float
    shown: float
    other_shown: float


@answer
class Comparison:
    """A comparison of two players.

    Attributes:
        players: Both players, in the order of the request.
        wins: Number of heats that the first player won, in all events in which both took part.
        draws: Number of heats that were drawn.
        losses: Number of heats that the first player lost.
        meetings: The latest events in which both players took part, newest first.
        draw: The chance that a duel of the two is drawn, from 0 to 1. Only in pools with drawn duels.
    """

    players: tuple[ComparedPlayer, ...]
    wins: int
    draws: int
    losses: int
    meetings: tuple[CommonEvent, ...]
    draw: float | None = None


@answer
class Rivalry:
    """A short comparison of two players."""

    players: tuple[ComparedPlayer, ...]  # both players, in the order of the request
    meetings: int
    ahead: int  # number of them in which the first player was ahead
    behind: int  # number of them in which the other player was ahead
    mean_lead: float | None  # the first player's lead in rating before the meetings; None if there are none
    newest: tuple[CommonEvent, ...]  # newest first
    newest_ahead: tuple[int, ...]  # player ahead in each of these: 1 the first, -1 the other, 0 neither
    draw: float | None  # the chance that a duel is drawn; None in pools without drawn duels


@answer
class RivalRow:
    """A player's duels against one opponent: a duel is one heat, or the overall result of several heats.

    Attributes:
        opponent: The opponent.
        events: Number of events in which the two players were compared.
        met: Number of duels between them. Duels that neither of them finished do not count.
        won: Number of duels in which the player scored more than half a point.
        drawn: Number of duels in which both scored half a point.
        lost: Number of duels in which the player scored less than half a point.
        score: Sum of the scores. A draw counts as half.
        expected: The sum of the expected scores.
        points: Points that the duels added to the player's rating.
    """

    opponent: str
    events: int
    met: int
    won: int
    drawn: int
    lost: int
    score: float
    expected: float
    points: float


@answer
class BestWin(Started):
    """The most surprising duel that a player won.

    Attributes:
        opponent: The opponent.
        event_id: The event.
        title: Title, or null.
        heat: Heat. Empty if the event has only one heat.
        expected: The expected score, from 0 to 1.
    """

    opponent: str
    event_id: str
    title: str | None
    started_at: datetime | None = described(STARTED)
    heat: str
    expected: float


@answer
class Rivals:
    """A player's opponents across the most recent events that have explanations.

    Attributes:
        events: Number of events that are counted: the latest ones, up to 100.
        duels: Number of duels in these events.
        won: Number of duels won. A draw counts as half.
        expected: Number of duels the player was expected to win.
        opponents: Opponents, most frequent first.
        best_win: The least expected win, or null.
    """

    events: int
    duels: int
    won: float
    expected: float
    opponents: tuple[RivalRow, ...]
    best_win: BestWin | None


@answer
class EntrantChances:
    """An entrant's chances against the other entrants.

    Attributes:
        player: The entrant.
        rating: The rating, in points.
        events: Number of rated events in which the player has taken part. 0 for a newcomer.
        win: The chance of winning, from 0 to 1.
        top: The chance of finishing in a top place, from 0 to 1.
        mean_rank: The player's average predicted rank.
        draw: The chance of a draw, from 0 to 1. Only for two sides, in pools with drawn duels.
    """

    player: str
    rating: float
    events: int
    win: float
    top: float
    mean_rank: float
    draw: float | None = None


@answer
class RankChance:
    """The chance that an entrant takes a given rank.

    Attributes:
        player: The entrant.
        rank: Rank; 1 is the best.
        chance: The chance of this rank, from 0 to 1.
    """

    player: str
    rank: int
    chance: float


@answer
class PairChance:
    """The expected score of one entrant against another in a heat.

    Attributes:
        player: The player.
        opponent: The opponent.
        expected: The player's expected score, from 0 to 1.
    """

    player: str
    opponent: str
    expected: float


@answer
class FieldChances:
    """Each entrant's chances against the others.

    Attributes:
        entrants: The entrants, most likely winner first.
        newcomers: Entrants who have not played before, including misspelt names.
        ranks: The chance of every rank, for each entrant.
        pairs: The expected score of each entrant against each other entrant.
    """

    entrants: tuple[EntrantChances, ...]
    newcomers: tuple[str, ...]
    ranks: tuple[RankChance, ...]
    pairs: tuple[PairChance, ...]


def field_chances(forecast: Forecast) -> FieldChances:
    """Return each entrant's chances against the others, row by row."""
    return FieldChances(
        rows_as(EntrantChances, forecast.entrants),
        forecast.newcomers,
        rows_as(RankChance, forecast.ranks),
        rows_as(PairChance, forecast.pairs),
    )
