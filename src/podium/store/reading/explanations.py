"""Why events moved ratings, as the HTTP API, commands and pages tell it."""

from dataclasses import dataclass, replace
from typing import NamedTuple

from podium.engine.replay import NEVER
from podium.ledger.performance import PerformanceRating, performance
from podium.ledger.reasons import DuelCount, Explanation
from podium.ledger.reasons.explaining import explain, find_entrant
from podium.ledger.reasons.what_if import WhatIf, is_quickly_imagined, what_if
from podium.ledger.stakes import Stakes
from podium.log.pools import Pool
from podium.pool.snapshot import RATED, STATUSES
from podium.results.derived_heats import OVERALL
from podium.store.following import PoolReader
from podium.store.reading.ahead import promise_of
from podium.store.reading.log import CorrectionRecord, event_record
from podium.support.answers import answer, described
from podium.support.collector import paused_collection
from podium.views.events import (
    RatedEvent,
    changes_by,
    details_of,
    replay_of,
)
from podium.views.headlines import events_beside
from podium.views.models import EventDetails, answer_from, rows_as
from podium.views.names import find_event, name_of
from podium.views.player_models import AdjacentEvents
from podium.views.results import event_results


@answer
class Reason:
    """A part of a change: a comparison with an opponent, or another cause."""

    player: str = described("The player whose rating changed.")
    opponent: str | None = described("The opponent; null for another cause.")
    heat: str | None = described("The heat; empty where the event has one only.")
    result: float | None = described("The score against the opponent, from 0 to 1.")
    expected: float | None = described("The score that was expected, from 0 to 1.")
    weight: float | None = described("How many times the comparison counts.")
    contribution: float = described("What it adds to the change, in points.")
    cause: str = described("`opponent`, or what else moved the rating.")
    gap: float | None = described("How far above the player the opponent was rated, in points.")
    group: int = described("The number of its group, from 0.")
    shown: float = described("The contribution as people read it.")


@answer
class ReasonGroup:
    """Reasons that belong together: a heat, an opponent, a band of strength, or another cause."""

    kind: str = described("What they have in common: `heat`, `opponent`, `band` or `cause`.")
    label: str = described("What it is called.")
    result: str = described("How the player did in it, in words; empty for a cause.")
    duels: int = described("Duels in it.")
    expected: float = described("Duels that the ratings promised.")
    won: float = described("Duels won; a draw is a half.")
    points: float = described("What it adds to the change, in points.")
    shown: float = described("The points as people read them; they add up to the change.")


@answer
class ShownChange:
    """A change as people read it; before and change add up to after."""

    before: float = described("The rating before.")
    change: float = described("The change.")
    after: float = described("The rating after.")


@answer
class StandingLine:
    """A player's line in a heat, or in the overall result."""

    heat: str | None = described("The heat; null where the event has one only.")
    player: str = described("The player.")
    team: str | None = described("The team, if any.")
    place: int | None = described("The place; ties share the best of theirs.")
    status: str = described("What became of the player, as it was sent.")
    score: float | None = described("The score, as it was sent.")
    time_s: float | None = described("The time in seconds, as it was sent.")
    gap_s: float | None = described("The seconds behind the first.")


@answer
class ExplainedChange:
    """Why an event moved a player's rating."""

    event_id: str = described("The event.")
    player: str = described("The player's name as it is now.")
    rating_before: float = described("The rating before, in points.")
    delta: float = described("The change, in points: the sum of the contributions.")
    words: str = described("The reasons in a few sentences.")
    outcome: str = described("How the player did; empty where nobody was compared.")
    verdict: str = described("Place and change in a sentence.")
    cause: str = described("What moved the rating most, in a sentence; empty where nothing did.")
    shown: ShownChange = described("The change as people read it.")
    groups: tuple[ReasonGroup, ...] = described("The reasons, a few groups of them.")
    duels: DuelCount = described("Duels won, and expected.")
    ranked_by: str = described("What decided the event, in a sentence.")
    standings: tuple[StandingLine, ...] = described("Who stood where in the event.")
    method: str = described("How a change is divided that is no sum over duels; else empty.")
    shared: str = described("What the result was worth to what the player had, or empty.")
    reasons: tuple[Reason, ...] = described("Every reason.")


@answer
class AlternativeChange:
    """What an event would have done with one thing changed."""

    words: str = described("What is changed.")
    delta: float = described("The change then, in points.")
    shown: float = described("The change as people read it.")
    better: float = described("How much more that is than it was, as people read it.")


@answer
class AlternativeChanges:
    """An event as it was for a player, and as it would have been."""

    event_id: str = described("The event.")
    player: str = described("The player's name as it is now.")
    rating_before: float = described("The rating before, in points.")
    delta: float = described("The change as it was, in points.")
    shown: float = described("The change as people read it.")
    alternatives: tuple[AlternativeChange, ...] = described("One thing changed each.")


def explained_change(explanation: Explanation) -> ExplainedChange:
    shown = (explanation.shown_before, explanation.shown_change, explanation.shown_after)
    return answer_from(
        ExplainedChange,
        explanation,
        words=explanation.summary,
        shown=ShownChange(*map(float, shown)),
        groups=tuple(answer_from(ReasonGroup, each, shown=float(each.shown)) for each in explanation.groups),
        standings=rows_as(StandingLine, explanation.standings),
        reasons=rows_as(Reason, explanation.rows),
    )


def alternative_changes(imagined: WhatIf) -> AlternativeChanges:
    alternatives = tuple(
        answer_from(AlternativeChange, each, shown=float(each.shown), better=float(each.better))
        for each in imagined.alternatives
    )
    return answer_from(AlternativeChanges, imagined, shown=float(imagined.shown), alternatives=alternatives)


@dataclass(frozen=True, slots=True)
class EventStory:
    """An event, and why it moved the rating of one player."""

    pool: Pool
    details: EventDetails
    record: tuple[CorrectionRecord, ...]
    beside: AdjacentEvents
    player: str = ""  # whose change is explained; empty where no change is
    explanation: Explanation | None = None
    imagined: WhatIf | None = None
    is_first: bool = False  # whether it was the player's first rated event
    performance: PerformanceRating | None = None  # how well the player played in it
    promise: Stakes | None = None  # what each place had promised the player; None of several heats


def event_story(pool: PoolReader, event_id: str, player: str | None = None) -> EventStory:
    """Tell of an event, and why it moved the rating of one player.

    Args:
        player: whose change is explained; the one that surprises most where None.

    Returns:
        Its content and changes, the explanation and what might have been, and what was done to it.

    Raises:
        UnknownError: no such pool or event, or the player is not rated in it.
    """
    with paused_collection():
        event = pool.value(("event", event_id), lambda: read_event(pool, event_id))
        story = EventStory(pool, event.details, event.record, event.beside)
        return story if event.rated is None else explained_story(pool, story, event.rated, player)


class ReadEvent(NamedTuple):
    """What is read of an event, whoever's change is explained."""

    details: EventDetails
    record: tuple[CorrectionRecord, ...]
    beside: AdjacentEvents
    rated: RatedEvent | None  # None where nothing is explained


def read_event(pool: PoolReader, event_id: str) -> ReadEvent:
    event = find_event(pool, event_id)
    results, record, beside = event_results(pool, [event]), event_record(pool, event_id), events_beside(pool, event)
    rated = replay_of(pool, event, results) if event.status == STATUSES[RATED] else None
    return ReadEvent(details_of(pool, event, results, changes_by(pool, event)), record, beside, rated)


def explained_story(pool: PoolReader, story: EventStory, event: RatedEvent, player: str | None) -> EventStory:
    details, event_id = story.details, event.event.event_id
    present = {each.player for each in details.changes}
    moved = max(details.changes, key=lambda each: abs(each.delta)).player
    name = moved if player is None else player if player in present else name_of(pool, player)
    replayed = pool.system, event.events, event.replayed, event_id
    found = find_entrant(event.events, event_id, name)
    explanation = explain(*replayed, found[1], found)
    if player is None and (against := surprise(explanation, details)) not in {"", moved}:
        found = find_entrant(event.events, event_id, against)
        explanation = explain(*replayed, against, found)
    name = explanation.player
    return replace(
        story,
        player=name,
        explanation=explanation,
        imagined=what_if(*replayed, name, found=found) if is_quickly_imagined(pool.system, event.events) else None,
        is_first=bool(event.before.roster.played_at[event.before.rows([name])[0]] == NEVER),
        performance=performance(*replayed[:3], found[2]),
        promise=promise_of(pool, event.event, event.results, name, event.before),
    )


def surprise(explanation: Explanation, details: EventDetails) -> str:
    """Who won and lost most, or came last and gained most; empty where nobody did."""
    lines = [line for line in explanation.standings.to_dicts() if line["place"] is not None]
    heats = {line["heat"] for line in lines}
    deciding = OVERALL if OVERALL in heats else None
    places = {line["player"]: line["place"] for line in lines if line["heat"] == deciding or len(heats) == 1}
    worst = max(places.values(), default=1)
    against = [
        each
        for each in details.changes
        if (places.get(each.player) == 1 and each.delta < 0.0)
        or (places.get(each.player) == worst and each.delta > 0.0)
    ]
    return max(against, key=lambda each: abs(each.delta)).player if worst > 1 and against else ""
