"""What an event is, its result and what might have been, as its page shows them."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from decimal import Decimal
from statistics import fmean
from typing import Any

from podium.ledger.reasons.what_if import WhatIf
from podium.ledger.reasons.wording import capitalised
from podium.pages.numbers import counted, rating
from podium.pages.result_table import ResultTable, result_table
from podium.results.derived_heats import OVERALL
from podium.service.web.rendering import PoolFrame
from podium.store.insights.event_story import EventStory
from podium.store.read.models import ResultRow
from podium.support.rounding import shown_change

TAGS = {"rated": "valid", "voided": "void"}
AS_SENT = "Ranked as sent"


@dataclass(frozen=True, slots=True)
class EventHead:
    """What an event is."""

    event_id: str
    heading: str  # its title, or its id
    has_title: bool
    url: str  # of a page about it; empty where there is none
    started_at: datetime
    size: str  # "6 riders, 4 heats"
    mean_rating: float | None  # of those who are rated, before it
    tag: str
    reason: str  # why it is not rated; empty where it is


@dataclass(frozen=True, slots=True)
class Imagined:
    """One thing changed, and the change then."""

    words: str
    change: Decimal
    difference: str  # "14.5 better"


def event_head(pool: PoolFrame, story: EventStory) -> EventHead:
    """What an event is."""
    details = story.details
    heats = {entry.heat for entry in details.entries} - {None, OVERALL}
    size = [counted(len({entry.player for entry in details.entries}), pool.word)]
    size += [counted(len(heats), "heat")] if len(heats) > 1 else []
    before = [change.rating_before for change in details.changes]
    return EventHead(
        event_id=details.event_id,
        heading=details.title or details.event_id,
        has_title=details.title is not None,
        url=details.url or "",
        started_at=details.started_at,
        size=", ".join(size),
        mean_rating=fmean(before) if before else None,
        tag=TAGS.get(details.status, "not rated"),
        reason=reason_of(story),
    )


def reason_of(story: EventStory) -> str:
    """Why an event is not rated, in a sentence without its full stop; empty where it is."""
    if story.details.status != "voided":
        return capitalised(story.details.reason)
    why = next((entry.reason for entry in reversed(story.record) if entry.kind == "void"), None)
    return f"The event is void{f': {why}' if why else ''}"


def result_of(story: EventStory) -> ResultTable:
    """The result of an event, by the standings that its change was explained with, or else as it was sent."""
    details, explanation, digits = story.details, story.explanation, story.pool.system.digits
    before = {each.player: each.rating_before for each in details.changes}
    changes = {each.player: shown_change(each.rating_before, each.rating, digits) for each in details.changes}
    if explanation is None:
        lines: Sequence[Mapping[str, Any]] = [sent_line(entry) for entry in details.entries]
        basis = AS_SENT
    else:
        lines, basis = explanation.standings.to_dicts(), explanation.ranked_by.partition(":")[0].rstrip(".")
    if basis == AS_SENT and story.record:
        basis = f"Ranked as received from {story.record[0].actor or 'a command'}"
    return result_table(lines, before, changes, story.player, f"{basis}." if basis else "")


def sent_line(entry: ResultRow) -> Mapping[str, Any]:
    """A line as it was sent."""
    line = asdict(entry)
    place = None if entry.position is None else int(entry.position)
    return line | {"place": place, "status": entry.status or "finished", "gap_s": None}


def performance_words(story: EventStory) -> str:
    """How well a player played in an event, in a sentence; empty where nobody was compared."""
    played = story.performance
    if played is None or played.rating is None:
        return ""
    bound = f"{played.bound} " if played.bound else ""
    level = f"{bound}{rating(played.rating, story.pool.system.digits - 1)}"
    return f"{story.player} played like {level} here: who has that rating is expected to win as many of these duels."


def imagined_changes(imagined: WhatIf) -> tuple[Imagined, ...]:
    """What might have been, with the difference in words."""
    return tuple(Imagined(each.words, each.shown, difference_words(each.better)) for each in imagined.alternatives)


def difference_words(better: Decimal) -> str:
    """How much better or worse another change would have been."""
    return f"{abs(better)} {'better' if better > 0 else 'worse'}" if better else "no different"
