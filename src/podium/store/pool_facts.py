"""Facts from a pool's whole history, calculated overnight, or on request from fewer events."""

import json
import statistics
from datetime import date

import numpy as np

from podium.analysis.evaluation import share_interval
from podium.analysis.predictions import BINS, HeatSelection, predict
from podium.analysis.scores import Window, judged_heats
from podium.engine.inputs import PRESENT
from podium.engine.rules import enter, expect
from podium.engine.system import ELO_SCALE
from podium.ledger.pair_predictions import ReliabilityBin
from podium.ledger.performance import Bound, performances
from podium.ledger.reasons import Explanation
from podium.log.log import newest_head
from podium.log.players import names_of
from podium.log.pools import Pool, PoolView, date_of, refuse_other_arithmetic, settings_of, today
from podium.log.statements import FIRST_EQUIPMENT
from podium.pool.rating import numbers_in, results_of
from podium.store import kept
from podium.store.following import PoolReader
from podium.support.answers import answer, as_json, from_json
from podium.support.arrays import Floats
from podium.support.immutable import immutable
from podium.views.changes import career_of
from podium.views.events import explanation, newest_rated_positions, rated_event, replays


@answer
class Performance:
    """An entrant's performance in one event.

    Attributes:
        player: The entrant.
        performance: Rating at which the expected score equals the actual score. Null if the player was not compared
            with anyone.
        bound: `at least` if all duels were won, `at most` if all were lost. Otherwise null.
    """

    player: str
    performance: float | None
    bound: Bound | None


@answer
class EventField:
    """The strength of an event's field, and the performance of each entrant.

    Attributes:
        players: Number of entrants who were rated.
        mean_rating: The mean of these entrants' ratings before the event, in points.
        performances: Performance rating of each entrant, in the order of the result.
    """

    players: int
    mean_rating: float
    performances: tuple[Performance, ...]


@answer
class ExpectedPoint:
    """The expected score against the median established player or, if there is none, against a newcomer.

    Attributes:
        gap: The player's lead over the opponent, in points.
        expected: The expected score, from 0 to 1.
    """

    gap: float
    expected: float


@answer
class WeightPoint:
    """The effect of one duel on players in their n-th rated event, estimated from a sample.

    Attributes:
        event_number: Position of this event among the player's rated events, counting from 1.
        points: The largest change in the median player's rating from a single duel, in points.
        players: Number of players on whom the median is based.
    """

    event_number: int
    points: float
    players: int


@answer
class PoolFacts:
    """Facts from a pool's whole history, as of a given day.

    Attributes:
        day: Day of the calculation.
        events: Number of rated events covered: all, or the latest ones in a large pool.
        players: Number of players in these events.
        duels: Number of duels in these events. Events with over 1,000 entrants are left out.
        expected: Expected score for each rating lead.
        weights: Rating change from one duel, by number of events played.
        reliability: Expected scores compared with actual scores.
    """

    day: date
    events: int
    players: int
    duels: int
    expected: tuple[ExpectedPoint, ...]
    weights: tuple[WeightPoint, ...]
    reliability: tuple[ReliabilityBin, ...]


@answer
class FairExpectation:
    """A player's expected number of wins in an event, and a more realistic estimate.

    Attributes:
        duels: Number of duels in which the player took part.
        expected: Number of duels the player was expected to win.
        fair: Number of wins suggested by similar duels in this pool. Null if there are too few such duels.
        example: Outcome of the largest group of similar duels in this pool. Null if there are too few such duels.
    """

    duels: int
    expected: float
    fair: float | None
    example: ReliabilityBin | None


@immutable
class Effort:
    """The amount of work for facts."""

    events: int  # number of newest events to use
    players: int  # number of players for each point of the weights
    rows: int = 20_000  # maximum number of changes in these events


AT_NIGHT = Effort(events=20_000, players=25, rows=1_000_000)
WHEN_READ = Effort(events=1_000, players=5)

SIDES = 2  # each duel counts from both sides
LARGE_FIELD = 1_000  # a larger event is not split into duels, because that takes seconds


def expected_and_actual(pool: PoolReader, most: Effort) -> tuple[int, int, Floats]:
    """Return the numbers of events and players that are covered, and the sums, an array of shape (bins, 3).

    The sums are the number of duels, their expected scores and their actual scores, counted from both sides.
    """
    positions = newest_rated_positions(pool.snapshot, most.events, most.rows)
    table = results_of(pool.snapshot, pool.snapshot.events.order.at("uid", positions))
    bins = np.zeros((BINS, 3))
    for events, replayed in replays(pool, positions, table, LARGE_FIELD):
        entries = events.columns.entries if events.columns.entries.size else events.columns.entrants
        chosen = judged_heats(events, Window()) & (np.diff(entries) <= LARGE_FIELD)
        if chosen.any():
            bins += predict(pool.system, events, HeatSelection(chosen), replayed).bins
    players = np.unique(numbers_in(table)) < FIRST_EQUIPMENT
    return positions.size, int(players.sum()), bins


def reliability(bins: Floats) -> tuple[ReliabilityBin, ...]:
    return tuple(
        ReliabilityBin(expected / count, result / count, *share_interval(result / count, count), round(count))
        for count, expected, result in bins.tolist()
        if count
    )


EVENT_NUMBERS = (1, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 50, 100)  # event numbers at which the picture has a point


def weights(pool: PoolReader, most: int) -> tuple[WeightPoint, ...]:
    """Return, for some n, the effect of the most important duel in the n-th rated event of up to `most` players."""
    standings = pool.snapshot.standings
    numbers, events = standings.numbers[standings.is_player], standings.events[standings.is_player]
    points = []
    for number in EVENT_NUMBERS:
        players = numbers[events >= number].tolist()
        spread = np.linspace(0, len(players) - 1, min(most, len(players))).round().astype(np.int64)
        moved = [largest_duel(pool, players[k], number) for k in spread.tolist()]
        known = [weight for weight in moved if weight is not None]
        if known:
            points.append(WeightPoint(number, statistics.median(known), len(known)))
    return tuple(points)


def largest_duel(pool: PoolReader, player: int, number: int) -> float | None:
    """Return the largest effect of any duel in a player's n-th rated event, or None if nobody was compared."""
    events = pool.snapshot.events
    nth = career_of(pool.snapshot, player).without_seasons.at(slice(number - 1, number))
    (event,) = events.at(nth.positions)
    if events.order.value("field", event.position) > LARGE_FIELD:
        return None
    (name,) = names_of(pool, [player]).values()
    rows = explanation(pool, event.event_id, name).rows
    duels = rows.filter(rows["opponent"].is_not_null())["contribution"].abs().to_list()
    return max(duels, default=None)


GAPS = range(-800, 801, 40)  # leads in Elo points
MIDDLE_OF = 10_000  # maximum number of established players to use for the median
GROWTH = 0.1  # share by which the log may grow before stored facts are no longer used


@immutable
class KeptFacts:
    """Stored facts, and the log for which they were calculated."""

    facts: PoolFacts
    system: str  # and its parameters, as JSON
    place: int  # place of the newest log entry
    seq: int  # number of the newest log entry

    def is_fresh(self, pool: PoolView) -> bool:
        """Return True if the facts cover at least 90 % of the pool's current log."""
        place = newest_head(pool).place
        return self.system == system_text(pool) and place <= self.place * (1.0 + GROWTH)


def system_text(pool: Pool) -> str:
    return json.dumps([pool.system.name, settings_of(pool.system)])


def find_facts(pool: PoolReader, effort: Effort) -> KeptFacts:
    refuse_other_arithmetic(pool)
    events, players, bins = expected_and_actual(pool, effort)
    facts = PoolFacts(
        day=date_of(today()),
        events=events,
        players=players,
        duels=round(bins[:, 0].sum()) // SIDES,
        expected=expected_points(pool),
        weights=weights(pool, effort.players),
        reliability=reliability(bins),
    )
    return KeptFacts(facts, system_text(pool), newest_head(pool).place, pool.snapshot.seq)


def pool_facts(pool: PoolReader) -> PoolFacts:
    """Return facts about ratings from a pool's whole history.

    Returns:
        The expected score by lead, the effect of one duel, and expected against actual scores. They were calculated at
        night. If the pool has grown by a tenth since then, they are calculated from the newest events.
    """
    known = kept_facts(pool)
    if known is not None and known.is_fresh(pool):
        return known.facts
    key, answers = ("facts", pool.secret), pool.answers  # another pool may get the number of a deleted one
    found = answers.value(key, pool.system, lambda: find_facts(pool, WHEN_READ))
    if not found.is_fresh(pool):
        found = find_facts(pool, WHEN_READ)
        answers.keep(key, pool.system, found)
    return found.facts


def kept_facts(pool: PoolView) -> KeptFacts | None:
    found = kept.read(pool, kept.FACTS)
    return None if found is None else from_json(KeptFacts, found.body)


def find_due(pool: PoolReader) -> KeptFacts | None:
    """Calculate the facts of a pool. Return None if they were already calculated today with the same system."""
    known = kept_facts(pool)
    if known is not None and known.facts.day == date_of(today()) and known.system == system_text(pool):
        return None
    return find_facts(pool, AT_NIGHT)


def keep(pool: PoolView, found: KeptFacts) -> None:
    kept.write(pool, kept.FACTS, found.seq, {kept.HEAD: as_json(found)})


def expected_points(pool: PoolReader) -> tuple[ExpectedPoint, ...]:
    """Return the expected scores by lead over the median established player or, if there is none, over a newcomer."""
    system, newcomer = pool.snapshot.system_at(pool.snapshot.events.order.size), pool.system.newcomer()
    standings = pool.snapshot.standings
    established = standings.rows[standings.is_player & standings.is_established][:MIDDLE_OF]
    states = pool.snapshot.rows.at("state", established)
    even = type(newcomer)(*np.median(states, axis=0).tolist()) if established.size else newcomer
    params, scale = system.params(), system.points_per_logit / ELO_SCALE
    points = []
    for gap in (float(f"{elo_gap * scale:.3g}") for elo_gap in GAPS):
        ahead = even._replace(**{name: getattr(even, name) + gap for name in system.with_level})
        sides = (enter(params, entrant, PRESENT) for entrant in (ahead, even))
        points.append(ExpectedPoint(gap, float(expect(params, *sides))))
    return tuple(points)


def event_field(pool: PoolReader, event_id: str) -> EventField:
    """Return the strength of an event's field, and each entrant's performance in it.

    Returns:
        The mean rating before the event, and each entrant's performance rating.

    Raises:
        UnknownError: the pool or the event does not exist, or the event is not rated.
    """
    return pool.value(("field", event_id), lambda: rated_field(pool, event_id))


def rated_field(pool: PoolReader, event_id: str) -> EventField:
    _, (events, replayed, _) = rated_event(pool, event_id)
    rated = performances(pool.system, events, replayed, entrant=0)
    return EventField(
        len(rated),
        float(replayed.before.mean()),
        tuple(Performance(row.player, row.rating, row.bound) for row in rated),
    )


def fair_expectation_of(pool: PoolReader, event_id: str, name: str) -> FairExpectation:
    """Return a realistic number of wins for a player in an event, based on similar duels in the pool.

    Returns:
        The expected number of wins, and the realistic number if enough similar duels are known.

    Raises:
        UnknownError: the pool or the event does not exist, or the event does not rate the player.
    """
    return fair_expectation(pool_facts(pool), explanation(pool, event_id, name))


MIN_DUELS = 100  # minimum number of duels for a meaningful bin


def fair_expectation(facts: PoolFacts, explanation: Explanation) -> FairExpectation:
    """Correct the expected score of each duel by the outcomes of similar duels in the pool.

    The correction is interpolated linearly between the means of two bins, and is constant beyond the outermost bins.
    The result is None if there are no duels, or if a bin next to a duel has fewer than 100 duels.
    """
    expected = np.array([row for row in explanation.rows["expected"].to_list() if row is not None])
    count, total = expected.size, float(expected.sum())
    if not count or not facts.reliability:
        return FairExpectation(count, total, None, None)
    means = np.array([bin_.expected for bin_ in facts.reliability])
    surplus = np.array([bin_.observed - bin_.expected for bin_ in facts.reliability])
    enough = np.array([bin_.duels >= MIN_DUELS for bin_ in facts.reliability])
    above = np.minimum(np.searchsorted(means, expected), means.size - 1)
    below = np.maximum(np.searchsorted(means, expected, side="right") - 1, 0)
    if not (enough[above].all() and enough[below].all()):
        return FairExpectation(count, total, None, None)
    fair = np.clip(expected + np.interp(expected, means, surplus), 0.0, 1.0)
    nearest = np.abs(expected[:, None] - means).argmin(axis=1)
    example = facts.reliability[int(np.bincount(nearest).argmax())]
    return FairExpectation(count, total, float(fair.sum()), example)
