"""The page of an event, and why it moved one player's rating."""

from dataclasses import dataclass
from typing import Annotated, ClassVar

from fastapi import Query, Request, Response

from podium.pages.environment import part
from podium.pages.result_table import DuelTable, ResultTable, duel_table
from podium.pages.why import WhyView, why_view
from podium.service.http.paths import EventId, PlayerName
from podium.service.http.stores import CurrentStore
from podium.service.web.addresses import PageRouter
from podium.service.web.events.contacts import contact_address
from podium.service.web.events.fairness import Fairness, fairness
from podium.service.web.events.heads import (
    EventHead,
    Imagined,
    event_head,
    imagined_changes,
    performance_words,
    result_of,
)
from podium.service.web.rendering import Page, pool_frame, render, unchanged
from podium.service.web.visiting import VisiblePool, Visit
from podium.store import Store
from podium.store.derive.snapshots import today
from podium.store.insights.board_models import EventName
from podium.store.insights.event_story import EventStory
from podium.store.insights.fact_models import CorrectionRecord, FairExpectation
from podium.store.insights.facts.fairness import fair_expectation

FirstRow = Annotated[int | None, Query(alias="from", ge=1, le=10**9)]
router = PageRouter()


@dataclass(frozen=True, slots=True, kw_only=True)
class EventPage(Page):
    """An event, and why it moved one player's rating."""

    template: ClassVar[str] = "event.html"

    event: EventHead
    address: str
    is_about_player: bool  # whether the address names the player
    result: ResultTable
    player: str  # whose change is explained; empty where none is
    is_first: bool  # whether it was the player's first rated event
    performance: str  # how well the player played in it, in a sentence; empty where that is not known
    why: WhyView | None
    waits: str  # why there is none, where the event is rated
    imagined: tuple[Imagined, ...]
    record: tuple[CorrectionRecord, ...]
    contact: str  # where a wrong result is reported; empty where nobody is named
    duels: DuelTable | None
    fairness: Fairness | None
    previous: EventName | None
    next: EventName | None
    why_address: str  # to be shared; empty where no change is explained
    may_correct: bool  # whether whoever looks may

    @property
    def corrections(self) -> tuple[CorrectionRecord, ...]:
        """What was done to it since it was received."""
        return self.record[1:]


@router.pool_page("/events/{event_id}")
def event(
    request: Request, visit: VisiblePool, event_id: EventId, store: CurrentStore, first: FirstRow = None
) -> Response:
    """The event, with the change that surprises most."""
    return event_response(request, store, visit, event_id, None, first or 1)


@router.pool_page("/events/{event_id}/{player}")
def why(
    request: Request,
    visit: VisiblePool,
    event_id: EventId,
    player: PlayerName,
    store: CurrentStore,
    first: FirstRow = None,
) -> Response:
    """Why the event moved a player's rating."""
    return event_response(request, store, visit, event_id, player, first)


def event_response(
    request: Request, store: Store, visit: Visit, event_id: str, player: str | None, first: int | None
) -> Response:
    """The page of an event, unless the visitor has it already.

    Args:
        first: the row of the result that the page begins with; the player's page of it where None.
    """
    what = f"{event_id}\0{player}\0{first}"
    version = f"{store.version(visit.pool)} {today()} {what}"  # what is fair is worked out anew each day
    same = unchanged(request, version)
    if same is not None:
        return same
    story = store.event_story(visit.pool, event_id, player)
    expectation = None
    if story.explanation is not None:
        expectation = fair_expectation(store.pool_facts(visit.pool), story.explanation)
    page = event_page(visit, story, expectation, first, is_about_player=player is not None)
    return render(request, page, version=version)


def event_page(
    visit: Visit, story: EventStory, expectation: FairExpectation | None, first: int | None, *, is_about_player: bool
) -> EventPage:
    """The page of what an event tells, and of what would have been fair to expect."""
    pool, details, explanation = pool_frame(story.pool), story.details, story.explanation
    head = event_head(pool, story)
    address = f"{pool.address}/events/{part(details.event_id)}"
    why_address = f"{address}/{part(story.player)}" if story.player else ""
    view = None if explanation is None else why_view(explanation)
    title = head.heading if explanation is None else f"{explanation.verdict.rstrip('.')} · {head.heading}"
    description = head.reason if explanation is None else f"{explanation.verdict} {explanation.cause}"
    return EventPage(
        title=title if is_about_player else head.heading,
        description=description,
        pool=pool,
        tab="events",
        event=head,
        address=address,
        is_about_player=is_about_player,
        result=result_of(story).page(first),
        player=story.player,
        is_first=story.is_first,
        performance=performance_words(story),
        why=view,
        waits=story.waits,
        imagined=() if story.imagined is None else imagined_changes(story.imagined),
        record=story.record,
        contact=contact_address(pool.contact, pool.name, details.event_id, story.player),
        duels=None if explanation is None else duel_table(explanation),
        fairness=None if expectation is None else fairness(pool, story, expectation),
        previous=story.beside.previous,
        next=story.beside.next,
        why_address=why_address,
        picture=f"{why_address}/picture.png" if why_address else "",
        may_correct=visit.visitor.may("admin", visit.pool),
    )
