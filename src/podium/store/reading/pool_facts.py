"""What a pool's whole history shows: worked out at night and kept, or from fewer events when it is read."""

import json
import statistics
from dataclasses import dataclass
from datetime import date

import numpy as np
import numpy.typing as npt
import polars as pl

from podium.analysis.evaluation import share_interval
from podium.analysis.predictions import BINS, HeatSelection, predict
from podium.analysis.scores import Window, judged_heats
from podium.engine.inputs import PRESENT
from podium.engine.rules import enter, expect
from podium.engine.system import ELO_SCALE
from podium.ledger.pair_predictions import ReliabilityBin
from podium.ledger.performance import Bound, performances
from podium.ledger.reasons import Explanation
from podium.log.chain import newest_head
from podium.log.players import names_of
from podium.log.pools import Pool, PoolView, date_of, refuse_other_arithmetic, settings_of, today
from podium.log.statements import FIRST_THING
from podium.pool.columns import Array, slots_of
from podium.pool.rating import numbers_in, results_of, roster_before
from podium.pool.roster import as_results
from podium.pool.snapshot import RATED, SEASON, Snapshot
from podium.store import kept
from podium.store.following import PoolReader
from podium.support.answers import answer, as_json, described, from_json
from podium.views.changes import career_of
from podium.views.events import explanation, rated_event


@answer
class Performance:
    """How well an entrant played in one event."""

    player: str = described("The entrant.")
    performance: float | None = described(
        "The rating whose expected score is the actual one; null where nobody was compared."
    )
    bound: Bound | None = described(
        "`at least` where every duel was won, `at most` where every duel was lost; else null."
    )


@answer
class EventField:
    """How strong the field of an event was, and how well each played in it."""

    players: int = described("Entrants who were rated.")
    mean_rating: float = described("The mean of their ratings before it, in points.")
    performances: tuple[Performance, ...] = described("Of each, in the order of the event's rows.")


@answer
class PromisePoint:
    """What a lead promises the middle settled player over an equal; a newcomer where nobody is settled."""

    gap: float = described("Points by which a player is ahead.")
    expected: float = described("The expected score, from 0 to 1.")


@answer
class WeightPoint:
    """How far a duel moved players in their n-th rated event, by some who are spread over all."""

    event_number: int = described("Which rated event of a player it was, from 1.")
    points: float = described("The most that one duel moved the middle player.")
    players: int = described("How many players it is the middle of.")


@answer
class PoolFacts:
    """What a pool's whole history shows, as of a day."""

    day: date = described("The day on which it was worked out.")
    events: int = described("Rated events that were counted: all, or the newest of a large pool.")
    players: int = described("Players in them.")
    duels: int = described("Duels in them; events of over 1,000 entrants have none here.")
    promise: tuple[PromisePoint, ...] = described("What a lead in points promises.")
    weights: tuple[WeightPoint, ...] = described("How far one duel moves a player, by event.")
    reliability: tuple[ReliabilityBin, ...] = described("Whether promises came true.")


@answer
class FairExpectation:
    """A player's duels in an event, as they were promised and as such promises come true in the pool."""

    duels: int = described("Duels of the player.")
    promised: float = described("Duels that the ratings promised.")
    fair: float | None = described("Duels that would have been fair to expect; null where too few such are known.")
    example: ReliabilityBin | None = described(
        "What came of promises like most of these; null where nothing is fair to say."
    )


@dataclass(frozen=True, slots=True)
class Effort:
    events: int  # the newest
    players: int  # for each point of the weights
    rows: int = 20_000  # changes of these events


AT_NIGHT = Effort(events=20_000, players=25, rows=1_000_000)
WHEN_READ = Effort(events=1_000, players=5)

SIDES = 2  # from which each duel is counted
LARGE_FIELD = 1_000  # entrants beyond whom an event is not taken apart: its duels take seconds


def promise_outcomes(pool: PoolReader, most: Effort) -> tuple[int, int, npt.NDArray[np.float64]]:
    """How many of the newest rated events were judged, of how many players; and of each bin, (bins, 3), sums.

    Those are of duels, from both sides, of what was expected, and of scores.
    """
    snapshot, order = pool.snapshot, pool.snapshot.events.order
    positions = newest_rated_positions(snapshot, most)
    table = results_of(snapshot, order.at("uid", positions))
    position_of = dict(zip(order.at("uid", positions).tolist(), positions.tolist(), strict=True))
    is_season = snapshot.events.columns.at("status", order.part("uid")) == SEASON
    seasons_before = np.cumsum(is_season)[positions]
    bins = np.zeros((BINS, 3))
    for season in np.unique(seasons_before).tolist():  # in which no lead shrinks
        uids = order.at("uid", positions[seasons_before == season])
        for run in runs_to_judge(table.filter(pl.col("uid").is_in(uids.tolist()))):
            start = position_of[run["uid"][0]]
            roster = roster_before(snapshot, start, slots_of(np.unique(numbers_in(run))))
            events, replayed = roster.advance(as_results(pool, run), run["started_at"])
            entries = events.columns.entries if events.columns.entries.size else events.columns.entrants
            chosen = judged_heats(events, Window()) & (np.diff(entries) <= LARGE_FIELD)
            if chosen.any():
                bins += predict(pool.system, events, HeatSelection(chosen), replayed).bins
    players = np.unique(numbers_in(table)) < FIRST_THING
    return positions.size, int(players.sum()), bins


def newest_rated_positions(snapshot: Snapshot, most: Effort) -> Array:
    """The positions of the newest rated events, of which there are so many at most, with so many changes."""
    order = snapshot.events.order
    rated = np.flatnonzero(snapshot.events.columns.at("status", order.part("uid")) == RATED)
    lengths = np.diff(order.part("stop"), prepend=0)[rated]
    count = int(np.searchsorted(np.cumsum(lengths[::-1]), most.rows, "right"))
    return rated[rated.size - min(count, most.events, rated.size) :]


def runs_to_judge(table: pl.DataFrame) -> list[pl.DataFrame]:
    """The rows of events between those of which no heat is to be taken apart: how these ended is stored."""
    heats = [name for name in ("uid", "heat") if name in table.columns]
    smallest = table.select("uid", pl.len().over(heats)).select(pl.col("len").min().over("uid")).to_series()
    run = (smallest > LARGE_FIELD).rle_id().alias("run")
    return table.with_columns(run).filter(smallest <= LARGE_FIELD).partition_by("run", include_key=False)


def reliability(bins: npt.NDArray[np.float64]) -> tuple[ReliabilityBin, ...]:
    return tuple(
        ReliabilityBin(expected / count, result / count, *share_interval(result / count, count), round(count))
        for count, expected, result in bins.tolist()
        if count
    )


EVENT_NUMBERS = (1, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 50, 100)  # of which the picture has a point


def weights(pool: PoolReader, most: int) -> tuple[WeightPoint, ...]:
    """How far the most moving duel of their n-th rated event moved so many players, at most, for some n."""
    standings = pool.snapshot.standings
    numbers, events = standings.numbers[standings.is_player], standings.events[standings.is_player]
    points = []
    for number in EVENT_NUMBERS:
        players = numbers[events >= number].tolist()
        spread = np.linspace(0, len(players) - 1, min(most, len(players))).round().astype(np.int64)
        moved = [largest_duel(pool, players[k], number) for k in spread.tolist()]
        known = [each for each in moved if each is not None]
        if known:
            points.append(WeightPoint(number, statistics.median(known), len(known)))
    return tuple(points)


def largest_duel(pool: PoolReader, player: int, number: int) -> float | None:
    """The most that one duel of a player's n-th rated event moved the rating; None where nobody is compared."""
    events = pool.snapshot.events
    nth = career_of(pool.snapshot, player).without_seasons.at(slice(number - 1, number))
    (event,) = events.at(nth.positions)
    if events.order.value("field", event.position) > LARGE_FIELD:
        return None
    (name,) = names_of(pool, [player]).values()
    rows = explanation(pool, event.event_id, name).rows
    duels = rows.filter(rows["opponent"].is_not_null())["contribution"].abs().to_list()
    return max(duels, default=None)


GAPS = range(-800, 801, 40)  # points of Elo by which a player is ahead
MIDDLE_OF = 10_000  # settled players of whom the middle one is taken
GROWTH = 0.1  # of the log, up to which facts that were worked out before are still shown


@dataclass(frozen=True, slots=True)
class KeptFacts:
    facts: PoolFacts
    system: str  # and its parameters, as JSON
    place: int  # of the log's newest entry
    seq: int  # of the same

    def is_fresh(self, pool: PoolView) -> bool:
        """Whether they are of the pool as it is, but for a tenth of its log."""
        place = newest_head(pool).place
        return self.system == system_text(pool) and place <= self.place * (1.0 + GROWTH)


def system_text(pool: Pool) -> str:
    return json.dumps([pool.system.name, settings_of(pool.system)])


def find_facts(pool: PoolReader, effort: Effort) -> KeptFacts:
    refuse_other_arithmetic(pool)
    events, players, bins = promise_outcomes(pool, effort)
    facts = PoolFacts(
        day=date_of(today()),
        events=events,
        players=players,
        duels=round(bins[:, 0].sum()) // SIDES,
        promise=promise(pool),
        weights=weights(pool, effort.players),
        reliability=reliability(bins),
    )
    return KeptFacts(facts, system_text(pool), newest_head(pool).place, pool.snapshot.seq)


def pool_facts(pool: PoolReader) -> PoolFacts:
    """Show what a pool's whole history says of its ratings.

    Returns:
        What leads promise, how far duels move players, and whether promises come true: as it was worked out at
        night, or from the newest events where that is not so or the pool has grown by a tenth since.
    """
    known = kept_facts(pool)
    if known is not None and known.is_fresh(pool):
        return known.facts
    key, answers = ("facts", pool.secret), pool.answers  # a later pool may get the number of one that is gone
    found = answers.value(key, pool.system, lambda: find_facts(pool, WHEN_READ))
    if not found.is_fresh(pool):
        found = find_facts(pool, WHEN_READ)
        answers.keep(key, pool.system, found)
    return found.facts


def kept_facts(pool: PoolView) -> KeptFacts | None:
    found = kept.read(pool, kept.FACTS)
    return None if found is None else from_json(KeptFacts, found.body)


def find_due(pool: PoolReader) -> KeptFacts | None:
    """Work out facts if none were worked out today, or by another system; else return None."""
    known = kept_facts(pool)
    if known is not None and known.facts.day == date_of(today()) and known.system == system_text(pool):
        return None
    return find_facts(pool, AT_NIGHT)


def keep(pool: PoolView, found: KeptFacts) -> None:
    kept.write(pool, kept.FACTS, found.seq, {kept.HEAD: as_json(found)})


def promise(pool: PoolReader) -> tuple[PromisePoint, ...]:
    """What a lead promises the middle settled player over an equal, or a newcomer where nobody is settled."""
    system, newcomer = pool.snapshot.system_at(pool.snapshot.events.order.size), pool.system.newcomer()
    standings = pool.snapshot.standings
    settled = standings.rows[standings.is_player & standings.is_settled][:MIDDLE_OF]
    states = pool.snapshot.rows.at("state", settled)
    even = type(newcomer)(*np.median(states, axis=0).tolist()) if settled.size else newcomer
    params, scale = system.params(), system.points_per_logit / ELO_SCALE
    points = []
    for gap in (float(f"{elo_gap * scale:.3g}") for elo_gap in GAPS):
        ahead = even._replace(**{name: getattr(even, name) + gap for name in system.with_level})
        sides = (enter(params, each, PRESENT) for each in (ahead, even))
        points.append(PromisePoint(gap, float(expect(params, *sides))))
    return tuple(points)


def event_field(pool: PoolReader, event_id: str) -> EventField:
    """Show how strong the field of an event was, and how well each played in it.

    Returns:
        The mean rating before it, and each one's performance rating.

    Raises:
        UnknownError: no such pool or event, or it is not rated.
    """
    return pool.value(("field", event_id), lambda: rated_field(pool, event_id))


def rated_field(pool: PoolReader, event_id: str) -> EventField:
    events, replayed, _ = rated_event(pool, event_id)
    rated = performances(pool.system, events, replayed, entrant=0)
    return EventField(
        len(rated),
        float(replayed.before.mean()),
        tuple(Performance(each.player, each.rating, each.bound) for each in rated),
    )


def fair_expectation_of(pool: PoolReader, event_id: str, name: str) -> FairExpectation:
    """Say what would have been fair to expect of a player in an event, by what comes of such promises in the pool.

    Returns:
        The duels that were promised, and those that would have been fair to expect where enough such are known.

    Raises:
        UnknownError: no such pool or event, or the player is not rated in it.
    """
    return fair_expectation(pool_facts(pool), explanation(pool, event_id, name))


MIN_DUELS = 100  # of a bin that says something


def fair_expectation(facts: PoolFacts, explanation: Explanation) -> FairExpectation:
    """Correct each duel's promise by what comes of such promises in the pool.

    Between the means of two bins the correction goes in a straight line; beyond all of them it stays as it is. Nothing
    is fair to say without a duel, or where a bin on either side of one has fewer than 100.
    """
    promised = np.array([each for each in explanation.rows["expected"].to_list() if each is not None])
    count, total = promised.size, float(promised.sum())
    if not count or not facts.reliability:
        return FairExpectation(count, total, None, None)
    means = np.array([each.expected for each in facts.reliability])
    surplus = np.array([each.observed - each.expected for each in facts.reliability])
    enough = np.array([each.duels >= MIN_DUELS for each in facts.reliability])
    above = np.minimum(np.searchsorted(means, promised), means.size - 1)
    below = np.maximum(np.searchsorted(means, promised, side="right") - 1, 0)
    if not (enough[above].all() and enough[below].all()):
        return FairExpectation(count, total, None, None)
    fair = np.clip(promised + np.interp(promised, means, surplus), 0.0, 1.0)
    nearest = np.abs(promised[:, None] - means).argmin(axis=1)
    example = facts.reliability[int(np.bincount(nearest).argmax())]
    return FairExpectation(count, total, float(fair.sum()), example)
