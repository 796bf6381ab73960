"""Explain why events changed ratings, for the HTTP API, commands and pages."""

from dataclasses import replace

from podium.ledger.performance import PerformanceRating, performance
from podium.ledger.reasons import DuelCount, Explanation
from podium.ledger.reasons.explaining import explain, find_entrant
from podium.ledger.reasons.what_if import WhatIf, is_quickly_imagined, what_if
from podium.ledger.stakes import Stakes
from podium.log.pools import Pool
from podium.pool.snapshot import RATED, STATUSES, Event
from podium.support.answers import answer
from podium.support.collector import paused_collection
from podium.support.immutable import immutable
from podium.views.events import (
    Replay,
    changes_by,
    details_of,
    is_first,
    rated_event,
)
from podium.views.headlines import events_beside
from podium.views.models import EventDetails, answer_from, rows_as
from podium.views.names import find_event, name_of, number_of
from podium.views.player_models import AdjacentEvents
from podium.views.races.ahead import stakes_before_event
from podium.views.races.records import CorrectionRecord, event_record
from podium.views.reader import PoolAt
from podium.views.results import event_results


@answer
class Reason:
    """A part of a change: a comparison with an opponent, or another cause.

    Attributes:
        player: The player whose rating changed.
        opponent: Opponent. Null for other causes.
        heat: Heat. Empty if the event has only one heat.
        result: The score against the opponent, from 0 to 1.
        expected: The expected score, from 0 to 1.
        weight: Weight of the comparison.
        contribution: Contribution to the change, in points.
        cause: `opponent`, or another cause of the change.
        gap: Rating of the opponent minus that of the player, in points.
        group: Number of the group to which the reason belongs, counting from 0.
        shown: The contribution in points, rounded for display.
    """

    player: str
    opponent: str | None
    heat: str | None
    result: float | None
    expected: float | None
    weight: float | None
    contribution: float
    cause: str
    gap: float | None
    group: int
    shown: float


@answer
class ReasonGroup:
    """Reasons that belong together: a heat, an opponent, a group of opponents of similar strength, or another cause.

    Attributes:
        kind: Kind of group: `heat`, `opponent`, `band` or `cause`.
        label: Label of the group.
        result: Result as text, such as "won 4 of 5". Empty if the group is not about opponents.
        duels: Number of duels in the group.
        expected: Number of duels the player was expected to win.
        won: Number of duels won. A draw counts as half.
        points: Contribution to the change, in points.
        shown: Points rounded for display. They add up to the displayed change.
    """

    kind: str
    label: str
    result: str
    duels: int
    expected: float
    won: float
    points: float
    shown: float


@answer
class ShownChange:
    """A change as it is displayed. `before` and `change` add up to `after`.

    Attributes:
        before: The rating before the change.
        change: The change.
        after: The rating after the change.
    """

    before: float
    change: float
    after: float


@answer
class StandingLine:
    """A player's line in a heat, or in the overall result.

    Attributes:
        heat: Heat. Null if the event has only one heat.
        player: The player.
        team: The team, if any.
        place: Place. Ties share the best place.
        status: Finish status as submitted.
        score: The score, as submitted.
        time_s: The time in seconds, as submitted.
        gap_s: Number of seconds behind the winner.
    """

    heat: str | None
    player: str
    team: str | None
    place: int | None
    status: str
    score: float | None
    time_s: float | None
    gap_s: float | None


@answer
class ExplainedChange:
    """The reasons why an event changed a player's rating.

    Attributes:
        event_id: The event.
        player: The player's current name.
        rating_before: The rating before the change, in points.
        delta: The change, in points. It is the sum of all contributions.
        words: The reasons in a few sentences.
        outcome: The player's outcome, as text. Empty if the player was not compared with anyone.
        verdict: A sentence about the player's place and rating change.
        cause: Sentence about the main reason. Empty if there is no main reason.
        shown: The change, rounded for display.
        groups: The reasons, combined into a few groups.
        duels: Number of duels that the player won, and the number expected.
        ranked_by: Sentence about the rule that decided the order.
        standings: Rows of the result.
        method: How the change is divided among the reasons if it is not a sum over duels. Otherwise empty.
        shared: Sentence about the change in the rating of the player's equipment, or empty.
        reasons: All the reasons, one by one.
    """

    event_id: str
    player: str
    rating_before: float
    delta: float
    words: str
    outcome: str
    verdict: str
    cause: str
    shown: ShownChange
    groups: tuple[ReasonGroup, ...]
    duels: DuelCount
    ranked_by: str
    standings: tuple[StandingLine, ...]
    method: str
    shared: str
    reasons: tuple[Reason, ...]


@answer
class AlternativeChange:
    """The effect that an event would have had if one thing had been different.

    Attributes:
        words: A description of what is different.
        delta: The rating change that would have resulted, in points.
        shown: The change, rounded for display.
        better: Difference from the actual change in points, rounded for display. Negative if worse.
    """

    words: str
    delta: float
    shown: float
    better: float


@answer
class AlternativeChanges:
    """The effect of an event on a player, and the effect it would have had with different results.

    Attributes:
        event_id: The event.
        player: The player's current name.
        rating_before: The rating before the change, in points.
        delta: The actual change, in points.
        shown: The change, rounded for display.
        alternatives: The alternatives. In each, one thing is different.
    """

    event_id: str
    player: str
    rating_before: float
    delta: float
    shown: float
    alternatives: tuple[AlternativeChange, ...]


def explained_change(explanation: Explanation) -> ExplainedChange:
    shown = (explanation.shown_before, explanation.shown_change, explanation.shown_after)
    return answer_from(
        ExplainedChange,
        explanation,
        words=explanation.summary,
        shown=ShownChange(*map(float, shown)),
        groups=tuple(answer_from(ReasonGroup, group, shown=float(group.shown)) for group in explanation.groups),
        standings=rows_as(StandingLine, explanation.standings),
        reasons=rows_as(Reason, explanation.rows),
    )


def alternative_changes(imagined: WhatIf) -> AlternativeChanges:
    alternatives = tuple(
        answer_from(AlternativeChange, alternative, shown=float(alternative.shown), better=float(alternative.better))
        for alternative in imagined.alternatives
    )
    return answer_from(AlternativeChanges, imagined, shown=float(imagined.shown), alternatives=alternatives)


@immutable
class EventStory:
    """An event, and why it moved the rating of one player."""

    pool: Pool
    details: EventDetails
    record: tuple[CorrectionRecord, ...]
    beside: AdjacentEvents
    player: str = ""  # the player whose change is explained; empty if no change is explained
    explanation: Explanation | None = None
    imagined: WhatIf | None = None
    is_first: bool = False  # True if it was the player's first rated event
    has_start: bool = False  # True if it was the player's first rated event, and the organiser had set a rating
    performance: PerformanceRating | None = None  # the player's performance in the event
    stakes_before: Stakes | None = None  # effect of each place before the event; None for several heats


def event_story(pool: PoolAt, event_id: str, player: str | None = None) -> EventStory:
    """Return an event, and the reasons for one player's rating change.

    Args:
        pool: the pool.
        event_id: the ID of the event.
        player: the player whose change to explain. Default: the player with the most surprising change.

    Returns:
        The event's results and changes, the explanation, the what-if changes, and the corrections made to the event.

    Raises:
        UnknownError: the pool or the event does not exist, or the event does not rate the player.
    """
    with paused_collection():
        story = EventStory(pool, *pool.value(("event", event_id), lambda: read_event(pool, event_id)))
        if story.details.status != STATUSES[RATED]:
            return story
        return explained_story(pool, story, *rated_event(pool, event_id), player)


def read_event(pool: PoolAt, event_id: str) -> tuple[EventDetails, tuple[CorrectionRecord, ...], AdjacentEvents]:
    """Return the parts of an event's story that are the same for every player."""
    event = find_event(pool, event_id)
    results, record, beside = event_results(pool, [event]), event_record(pool, event_id), events_beside(pool, event)
    return details_of(pool, event, results, changes_by(pool, event)), record, beside


def explained_story(pool: PoolAt, story: EventStory, event: Event, replay: Replay, player: str | None) -> EventStory:
    details = story.details
    present = {change.player for change in details.changes}
    moved = max(details.changes, key=lambda change: abs(change.delta)).player
    name = moved if player is None else player if player in present else name_of(pool, player)
    replayed, (events, _, event_id) = (pool.system, *replay), replay
    explanation = explain(*replayed, name)
    if player is None and (against := surprise(explanation, details)) not in {"", moved}:
        explanation = explain(*replayed, against)
    name = explanation.player
    number = number_of(pool, name)
    first = is_first(pool, number, event)
    return replace(
        story,
        player=name,
        explanation=explanation,
        imagined=what_if(*replayed, name) if is_quickly_imagined(pool.system, events) else None,
        is_first=first,
        has_start=first and number in pool.snapshot.starts,
        performance=performance(*replayed[:3], find_entrant(events, event_id, name)[2]),
        stakes_before=stakes_before_event(pool, event, name),
    )


def surprise(explanation: Explanation, details: EventDetails) -> str:
    """Return the winner who lost most points, or the last player who gained most.

    Return an empty string if there is no such player.
    """
    places = explanation.places
    worst = max(places.values(), default=1)
    against = [
        change
        for change in details.changes
        if (places.get(change.player) == 1 and change.delta < 0.0)
        or (places.get(change.player) == worst and change.delta > 0.0)
    ]
    return max(against, key=lambda change: abs(change.delta)).player if worst > 1 and against else ""
