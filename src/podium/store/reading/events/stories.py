"""An event as its page tells of it: what happened, and why it moved the rating of one player."""

from collections.abc import Sequence
from dataclasses import dataclass

import sqlalchemy as sa

from podium.ledger.performance import PerformanceRating, performance
from podium.ledger.reasons import Explanation
from podium.ledger.reasons.explaining import explain, find_entrant
from podium.ledger.reasons.what_if import WhatIf, what_if
from podium.ledger.stakes import Stakes
from podium.results.derived_heats import OVERALL
from podium.store.log.pools import Pool, other_arithmetic
from podium.store.reading.ahead import promise_of
from podium.store.reading.events.events import details_of, entrants_before, event_results, name_of
from podium.store.reading.events.headlines import events_beside
from podium.store.reading.log import CorrectionRecord, event_record
from podium.store.reading.models import EventDetails
from podium.store.reading.moments import Answers
from podium.store.reading.player_models import AdjacentEvents
from podium.store.writing.rating.events import get_event


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
    waits: str = ""  # why an event that is rated cannot be explained at the moment


def event_story(
    connection: sa.Connection, pool: Pool, answers: Answers, event_id: str, player: str | None = None
) -> EventStory:
    """Tell of an event, and why it moved the rating of one player.

    Args:
        player: whose change is explained; the one that surprises most where None.

    Returns:
        Its content and changes, the explanation and what might have been, and what was done to it.

    Raises:
        UnknownError: no such pool or event, or the player is not rated in it.
    """
    return event_stories(connection, pool, answers, event_id, [player])[0]


def event_stories(
    connection: sa.Connection, pool: Pool, answers: Answers, event_id: str, players: Sequence[str | None]
) -> list[EventStory]:
    """Tell of an event once for each of some players.

    Args:
        players: whose changes are explained; the one that surprises most for None.

    Returns:
        A story each, as `event_story` has it.

    Raises:
        UnknownError: no such pool or event, or a player is not rated in it.
    """
    row = get_event(connection, pool, event_id)
    results = event_results(connection, pool, row)
    details, record = details_of(connection, pool, row, results), event_record(connection, pool, event_id)
    beside = events_beside(connection, pool, row)
    waits = other_arithmetic(pool)
    if waits or not details.changes:
        return [EventStory(pool, details, record, beside, waits=waits)] * len(players)
    live = entrants_before(connection, pool, row, results)
    newcomers = {each.player for each in details.changes} - {each for _, each in live.ratings}
    events, replayed = live.advance(results)  # of an event that the pool has rated
    moved = max(details.changes, key=lambda each: abs(each.delta)).player
    stories = list[EventStory]()
    for player in players:
        name = None if player is None else name_of(connection, pool, player)
        known = next((each for each in stories[:1] if each.player == name), None)  # whom an event's own page is about
        if known is not None:
            stories.append(known)
            continue
        explanation = explain(pool.system, events, replayed, event_id, name or moved)
        if name is None and (against := surprise(explanation, details)) not in {"", moved}:
            explanation = explain(pool.system, events, replayed, event_id, against)
        imagined = what_if(pool.system, events, replayed, event_id, explanation.player)
        is_first = explanation.player in newcomers
        _, _, entrant, _ = find_entrant(events, event_id, explanation.player)
        played = performance(pool.system, events, replayed, entrant)
        promise = promise_of(connection, pool, answers, row, results.frame, explanation.player)
        about = explanation.player, explanation, imagined, is_first, played, promise
        stories.append(EventStory(pool, details, record, beside, *about))
    return stories


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
