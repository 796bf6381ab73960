"""How ratings of a pool work: three pictures, questions with their answers, settings, formulas and source."""

import threading
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import ClassVar, NamedTuple

from fastapi import Request, Response

from podium.pages.careers import Picture
from podium.pages.environment import Setting, settings
from podium.service.http.stores import CurrentStore
from podium.service.web.addresses import PageRouter
from podium.service.web.rendering import Page, pool_frame, render
from podium.service.web.rules.examples import find_examples
from podium.service.web.rules.pictures import pictures
from podium.service.web.rules.questions import Question, questions
from podium.service.web.visiting import VisiblePool
from podium.store import Store

MAX_PAGES = 256
router = PageRouter()


@dataclass(frozen=True, slots=True, kw_only=True)
class RulesPage(Page):
    """How ratings of a pool work."""

    template: ClassVar[str] = "system.html"

    pictures: tuple[Picture, ...]
    counted_on: date
    questions: tuple[Question, ...]
    settings: tuple[Setting, ...]
    formulas: tuple[str, ...]
    limits: tuple[str, ...]
    source: str
    system: str  # its name in commands and documentation


class Written(NamedTuple):
    """A page, and the log entry and day that it is as of."""

    entry: int
    day: date
    page: RulesPage


class RulesPages:
    """The page of each pool, which looks for examples in its newest events; written anew once something is logged."""

    def __init__(self) -> None:
        self._pages: dict[str, Written] = {}
        self._writing = threading.Lock()

    def page(self, store: Store, pool_name: str) -> RulesPage:
        """Return the page of a pool; one is written at a time.

        Raises:
            UnknownError: there is no such pool.
        """
        entry, today = store.version(pool_name), datetime.now(UTC).date()
        with self._writing:
            known = self._pages.get(pool_name)
            if known is None or known[:2] != (entry, today):
                if len(self._pages) >= MAX_PAGES:
                    self._pages.clear()
                known = self._pages[pool_name] = Written(entry, today, rules_page(store, pool_name, entry))
            return known.page


@router.pool_page("/system")
def rules(request: Request, visit: VisiblePool, store: CurrentStore) -> Response:
    """How ratings of a pool work."""
    pages: RulesPages = request.app.state.rules_pages
    return render(request, pages.page(store, visit.pool))


def rules_page(store: Store, pool_name: str, newest_entry: int) -> RulesPage:
    """What the page of a pool shows.

    Args:
        newest_entry: of its log, read before.
    """
    pool, facts = store.pool(pool_name), store.pool_facts(pool_name)
    frame, system = pool_frame(pool), pool.system
    return RulesPage(
        title=f"How {frame.title} ratings work",
        description=frame.sentence,
        pool=frame,
        tab="system",
        newest_entry=newest_entry,
        pictures=pictures(frame, facts),
        counted_on=facts.day,
        questions=questions(frame, system, facts, find_examples(store, pool_name, frame.digits)),
        settings=settings(system),
        formulas=system.formulas,
        limits=system.limits,
        source=system.source,
        system=system.name,
    )
