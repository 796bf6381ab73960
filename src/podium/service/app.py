"""The service over a store: its routes, error handlers and metrics put together."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from itertools import chain
from typing import Any, TextIO

from fastapi import FastAPI
from fastapi.routing import APIRoute
from starlette.routing import BaseRoute

from podium import __version__
from podium.service.admin import connections, dry_run, first_link, pools, records, sending
from podium.service.admin import races as race_forms
from podium.service.admin.uploads import UploadProcess
from podium.service.api import fixtures, pages, reads, receiving, status, streams, writes
from podium.service.api.bodies import REQUEST_MODELS, schemas
from podium.service.api.dependencies import BoardCache, Intake
from podium.service.http.errors import ERROR_HANDLERS, problem
from podium.service.http.json import PathMiddleware
from podium.service.http.keys import KeyGuard
from podium.service.http.logs import CompressionMiddleware, RequestLog
from podium.service.http.requests import RequestMiddleware, Threads, in_background, run_in, share_threads
from podium.service.http.visitors import COOKIE, Sessions, Visibility
from podium.service.metrics import Metrics
from podium.service.upkeep import Upkeep
from podium.service.watchers import Announcements, Watchers
from podium.service.web import boards, chances, front, players, rendering, sharing, spread, visiting
from podium.service.web import events as event_pages
from podium.service.web.ahead import calendar, races
from podium.service.web.ahead.calendar import KeptStakes
from podium.service.web.rules import page as rules
from podium.service.webhooks import Webhooks
from podium.store import Store
from podium.store.log.database import Turn
from podium.store.reading.moments import VersionCache
from podium.support.part_files import remove_left_over

API = writes, reads, fixtures, pages, streams, status, receiving
ADMIN = pools, sending, records, connections, race_forms, dry_run
PAGES = (  # in the order of trying
    rendering, visiting, first_link, front, boards, spread, event_pages, players, chances, races, calendar, rules,
    sharing,
)  # fmt: skip
MOST_RULES_PAGES = 256  # pools
END_S = 10.0  # that whoever still reads has, once the service has ended
MOST_PICTURES = 256  # that are kept, of some 130 kB each
ABOUT = """Results go in once, ratings come out, and each point has its reason.

Requests take a key, as `Authorization: Bearer KEY`; `/healthz`, `/readyz`, this page and reads of a public ladder need
none. Errors are problem+json (RFC 9457) and name the field. A result may be sent several times: its `event_id` counts
once. Every answer has an `X-Request-Id`, the sender's where there was one, which stands in the service's log.
"""


def create_app(
    store: Store,
    *,
    daily: bool = False,
    close: bool = False,
    private_webhooks: bool = False,
    request_log: TextIO | None = None,
) -> FastAPI:
    """Return the service over a store.

    Args:
        daily: store the ranks of 00:00 UTC every day, send webhooks, and do what else is due.
    """

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[dict[str, Any]]:
        remove_left_over()
        watchers: Watchers = app.state.watchers
        watchers.open()
        try:
            async with AsyncExitStack() as running:
                await running.enter_async_context(in_background(share_threads()))
                await running.enter_async_context(announcements.running())
                await running.enter_async_context(metrics.sharing())
                if daily:
                    await running.enter_async_context(looking_after(app, private_webhooks=private_webhooks))
                yield {"end_streams": watchers.close}
        finally:
            watchers.close()
            app.state.uploads.end()
            if log is not None:
                log.write()
            if close:
                await run_in(threads.keeping, store.close, END_S)

    def observe_write(pool: str, waited_s: float, held_s: float) -> None:
        metrics.observe_write(pool, waited_s, held_s)
        announcements.note_write(pool)

    app = FastAPI(
        lifespan=lifespan,
        title="Podium",
        version=__version__,
        description=ABOUT,
        docs_url=None,  # the framework's needs a script from elsewhere
        redoc_url=None,
        openapi_url="/api/openapi.json",
        exception_handlers=rendering.with_pages(ERROR_HANDLERS),
    )
    threads, metrics = Threads(), Metrics()
    announcements = Announcements(store, threads)
    log = None if request_log is None else RequestLog(request_log)
    app.state.store, app.state.private_webhooks = store, private_webhooks
    app.state.threads = threads
    app.state.metrics = metrics
    app.state.key_guard = KeyGuard(store, threads)
    app.state.sessions = Sessions(store, threads)
    app.state.visibility = Visibility(store, threads)
    app.state.pictures = VersionCache(most=MOST_PICTURES)
    app.state.intake = Intake(store, threads)
    app.state.uploads = UploadProcess()
    app.state.watchers = Watchers(store, threads, announcements)
    app.state.board_cache = BoardCache(store)
    app.state.front_pages = front.FrontPages(store)
    app.state.stakes = KeptStakes()
    app.state.rules_pages = VersionCache(most=MOST_RULES_PAGES)
    store.observe_write = observe_write
    metrics.add_part("podium_waiting_events", "Events that wait to be stored", app.state.intake.waiting_events)
    # Flat: FastAPI searches an included router slower.
    for module in (*API, *ADMIN):
        app.router.routes.extend(module.router.routes)
    app.router.routes.extend(sorted(chain.from_iterable(each.router.routes for each in PAGES), key=precedence))
    app.add_middleware(CompressionMiddleware, session_cookie=COOKIE)
    app.add_middleware(PathMiddleware, refusal=problem)
    app.add_middleware(RequestMiddleware, observe=metrics.observe_request, log=log)
    add_request_models(app)
    return app


@asynccontextmanager
async def looking_after(app: FastAPI, *, private_webhooks: bool) -> AsyncIterator[None]:
    """Do what one process does for all that serve the store, as long as it is this one's turn."""
    store, threads, metrics = app.state.store, app.state.threads, app.state.metrics
    turn = Turn(store.engine)
    upkeep = Upkeep(store, threads, app.state.key_guard, metrics, turn)
    webhooks = Webhooks(store, metrics, turn, allow_private=private_webhooks)
    try:
        async with upkeep.running(), webhooks.running():
            yield
    finally:
        turn.release()


def precedence(route: BaseRoute) -> int:
    """When the route of a page is tried: below `/p` first, and a pool's name last, which may be anything."""
    path = route.path if isinstance(route, APIRoute) else ""
    return 0 if path.startswith("/p/") else 2 if path.startswith("/{pool}") else 1


def add_request_models(app: FastAPI) -> None:
    """Add the models that routes read themselves to the OpenAPI document."""
    build_document = app.openapi

    def openapi() -> dict[str, Any]:
        if app.openapi_schema is None:
            build_document()["components"]["schemas"].update(
                schemas((*REQUEST_MODELS, *fixtures.REQUEST_MODELS))
            )  # the document is cached by now
        return app.openapi_schema or {}

    app.openapi = openapi  # type: ignore[method-assign]
