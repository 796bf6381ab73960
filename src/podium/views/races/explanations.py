"""Explain why events changed ratings, for the HTTP API, commands and pages."""

from dataclasses import replace

from podium.engine.replay import NEVER
from podium.ledger.performance import PerformanceRating, performance
from podium.ledger.reasons import DuelCount, Explanation
from podium.ledger.reasons.explaining import explain, find_entrant
from podium.ledger.reasons.what_if import WhatIf, is_quickly_imagined, what_if
from podium.ledger.stakes import Stakes
from podium.log.pools import Pool
from podium.pool.snapshot import RATED, STATUSES
from podium.support.answers import answer, described
from podium.support.collector import paused_collection
from podium.support.immutable import immutable
from podium.views.events import (
    RatedEvent,
    changes_by,
    details_of,
    rated_event,
)
from podium.views.headlines import events_beside
from podium.views.models import EventDetails, answer_from, rows_as
from podium.views.names import find_event, name_of
from podium.views.player_models import AdjacentEvents
from podium.views.races.ahead import stakes_before_event
from podium.views.races.records import CorrectionRecord, event_record
from podium.views.reader import PoolAt
from podium.views.results import event_results


@answer
class Reason:
    """A part of a change: a comparison with an opponent, or another cause."""

    player: str = described("The player whose rating changed.")
    opponent: str | None = described("Opponent. Null for other causes.")
    heat: str | None = described("Heat. Empty if the event has only one heat.")
    result: float | None = described("The score against the opponent, from 0 to 1.")
    expected: float | None = described("The expected score, from 0 to 1.")
    weight: float | None = described("Weight of the comparison.")
    contribution: float = described("Contribution to the change, in points.")
    cause: str = described("`opponent`, or another cause of the change.")
    gap: float | None = described("Rating of the opponent minus that of the player, in points.")
    group: int = described("Number of the group to which the reason belongs, counting from 0.")
    shown: float = described("The contribution in points, rounded for display.")


@answer
class ReasonGroup:
    """Reasons that belong together: a heat, an opponent, a group of opponents of similar strength, or another cause."""

    kind: str = described("Kind of group: `heat`, `opponent`, `band` or `cause`.")
    label: str = described("Label of the group.")
    result: str = described('Result as text, such as "won 4 of 5". Empty if the group is not about opponents.')
    duels: int = described("Number of duels in the group.")
    expected: float = described("Number of duels the player was expected to win.")
    won: float = described("Number of duels won. A draw counts as half.")
    points: float = described("Contribution to the change, in points.")
    shown: float = described("Points rounded for display. They add up to the displayed change.")


@answer
class ShownChange:
    """A change as it is displayed. `before` and `change` add up to `after`."""

    before: float = described("The rating before the change.")
    change: float = described("The change.")
    after: float = described("The rating after the change.")


@answer
class StandingLine:
    """A player's line in a heat, or in the overall result."""

    heat: str | None = described("Heat. Null if the event has only one heat.")
    player: str = described("The player.")
    team: str | None = described("The team, if any.")
    place: int | None = described("Place. Ties share the best place.")
    status: str = described("Finish status as submitted.")
    score: float | None = described("The score, as submitted.")
    time_s: float | None = described("The time in seconds, as submitted.")
    gap_s: float | None = described("Number of seconds behind the winner.")


@answer
class ExplainedChange:
    """The reasons why an event changed a player's rating."""

    event_id: str = described("The event.")
    player: str = described("The player's current name.")
    rating_before: float = described("The rating before the change, in points.")
    delta: float = described("The change, in points. It is the sum of all contributions.")
    words: str = described("The reasons in a few sentences.")
    outcome: str = described("The player's outcome, as text. Empty if the player was not compared with anyone.")
    verdict: str = described("A sentence about the player's place and rating change.")
    cause: str = described("Sentence about the main reason. Empty if there is no main reason.")
    shown: ShownChange = described("The change, rounded for display.")
    groups: tuple[ReasonGroup, ...] = described("The reasons, combined into a few groups.")
    duels: DuelCount = described("Number of duels that the player won, and the number expected.")
    ranked_by: str = described("Sentence about the rule that decided the order.")
    standings: tuple[StandingLine, ...] = described("Rows of the result.")
    method: str = described(
        "How the change is divided among the reasons if it is not a sum over duels. Otherwise empty."
    )
    shared: str = described("Sentence about the change in the rating of the player's equipment, or empty.")
    reasons: tuple[Reason, ...] = described("All the reasons, one by one.")


@answer
class AlternativeChange:
    """The effect that an event would have had if one thing had been different."""

    words: str = described("A description of what is different.")
    delta: float = described("The rating change that would have resulted, in points.")
    shown: float = described("The change, rounded for display.")
    better: float = described("Difference from the actual change in points, rounded for display. Negative if worse.")


@answer
class AlternativeChanges:
    """The effect of an event on a player, and the effect it would have had with different results."""

    event_id: str = described("The event.")
    player: str = described("The player's current name.")
    rating_before: float = described("The rating before the change, in points.")
    delta: float = described("The actual change, in points.")
    shown: float = described("The change, rounded for display.")
    alternatives: tuple[AlternativeChange, ...] = described("The alternatives. In each, one thing is different.")


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
        return explained_story(pool, story, rated_event(pool, event_id), player)


def read_event(pool: PoolAt, event_id: str) -> tuple[EventDetails, tuple[CorrectionRecord, ...], AdjacentEvents]:
    """Return the parts of an event's story that are the same for every player."""
    event = find_event(pool, event_id)
    results, record, beside = event_results(pool, [event]), event_record(pool, event_id), events_beside(pool, event)
    return details_of(pool, event, results, changes_by(pool, event)), record, beside


def explained_story(pool: PoolAt, story: EventStory, event: RatedEvent, player: str | None) -> EventStory:
    details, event_id = story.details, event.event.event_id
    present = {change.player for change in details.changes}
    moved = max(details.changes, key=lambda change: abs(change.delta)).player
    name = moved if player is None else player if player in present else name_of(pool, player)
    replayed = pool.system, *event.replay
    explanation = explain(*replayed, name)
    if player is None and (against := surprise(explanation, details)) not in {"", moved}:
        explanation = explain(*replayed, against)
    name = explanation.player
    return replace(
        story,
        player=name,
        explanation=explanation,
        imagined=what_if(*replayed, name) if is_quickly_imagined(pool.system, event.events) else None,
        is_first=bool(event.before.roster.played_at[event.before.rows([name])[0]] == NEVER),
        has_start=event.before.entered_with(name) is not None,
        performance=performance(*replayed[:3], find_entrant(event.events, event_id, name)[2]),
        stakes_before=stakes_before_event(pool, event.event, event.results, name, event.before),
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
