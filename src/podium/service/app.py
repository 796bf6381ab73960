"""The service for a store: its routes, error handlers, metrics, and the upkeep, which runs once a minute."""

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from importlib.resources import files
from typing import Annotated, Any, TextIO, TypeVar

from fastapi import FastAPI, Header
from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute
from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from podium import __version__
from podium.errors import PodiumError
from podium.log.chain import keep_heads
from podium.log.database import UpkeepLock
from podium.log.files import truncate_wal
from podium.results.column_guide import COLUMNS
from podium.service.admin import connections, dry_run, first_link, link_page, pools, records, sending, tonight
from podium.service.admin import races as race_forms
from podium.service.admin import reports as report_forms
from podium.service.admin.uploads import UploadProcess
from podium.service.api import fixtures, pages, reads, receiving, status, writes
from podium.service.api import players as player_routes
from podium.service.api.dependencies import Intake
from podium.service.http import requests
from podium.service.http.errors import ERROR_HANDLERS, MEDIA_TYPE, RequestLog, problem
from podium.service.http.json import PathMiddleware
from podium.service.http.keys import KeyGuard
from podium.service.http.visitors import COOKIE, CachedValue, Sessions
from podium.service.metrics import Metrics
from podium.service.watchers import Announcements, Watchers
from podium.service.web import (
    boards,
    chances,
    distribution,
    home,
    players,
    rendering,
    seasons,
    sharing,
    visiting,
)
from podium.service.web import events as event_pages
from podium.service.web.ahead import calendar, races
from podium.service.web.ahead.calendar import KeptStakes
from podium.service.web.rules import page as rules
from podium.service.webhooks import Webhooks
from podium.store import Store
from podium.store.kept import NIGHTLY_ENTRIES
from podium.store.keys import forget_budgets, revoke_expired
from podium.store.waiting import forget_waiting
from podium.support.part_files import remove_left_over
from podium.views.models import LogEntry

CHECK_INTERVAL_S = 60.0
FACTS, HINDSIGHT, SNAPSHOTS = "facts", "hindsight", "snapshots"  # names of tasks in metrics
HEADLINES, KEYS, REPORTS = "headlines", "keys", "reports"
LEFT_OVERS, FILES, TURN, HEADS = "left-overs", "files", "turn", "heads"
LOGGER = logging.getLogger(__name__)
T = TypeVar("T")


class Upkeep:
    """Calculates and stores facts and hindsight, revokes expired keys, and stores when keys were last used."""

    def __init__(
        self,
        store: Store,
        threads: requests.Threads,
        key_guard: KeyGuard,
        metrics: Metrics,
        turn: UpkeepLock,
        front_pages: home.FrontPages,
    ) -> None:
        self._store, self._threads, self._key_guard, self._metrics = store, threads, key_guard, metrics
        self._turn, self._front_pages = turn, front_pages

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        try:
            async with requests.in_background(self._run()):
                yield
        finally:
            await self._do(KEYS, self._key_guard.store_last_uses)
            await self._do(HEADLINES, self._front_pages.keep)
            await self._do(HEADS, keep_heads, self._store.engine)

    async def _run(self) -> None:
        while True:
            has_turn = await self._do(TURN, self._turn.acquire)
            if has_turn:
                await self._look_after()
            await self._do(KEYS, self._key_guard.store_last_uses)
            await asyncio.sleep(CHECK_INTERVAL_S)
            await self._do(HEADLINES, self._front_pages.keep)
            if has_turn:
                await self._do(SNAPSHOTS, self._store.keep_large_snapshots)
                await self._keep_facts()  # takes seconds, so a new service answers requests first

    async def _do(self, task: str, work: Callable[..., T], *sent: Any) -> T | None:
        """Run a task. Errors are logged and counted instead of raised, and the next round repeats the task."""
        try:
            return await requests.run_in(self._threads.keeping, work, *sent)
        except PodiumError as error:
            LOGGER.warning("%s: failed: %s", task, error)
        except Exception:
            LOGGER.exception("%s: failed", task)
        self._metrics.upkeep_failures.labels(task).inc()
        return None

    async def _look_after(self) -> None:
        expired = await self._do(KEYS, revoke_expired, self._store.engine)
        if expired:
            LOGGER.info("%d %s expired", expired, "key" if expired == 1 else "keys")
        await self._do(LEFT_OVERS, forget_budgets, self._store.engine)
        await self._do(LEFT_OVERS, forget_waiting, self._store.engine)
        for pool in await self._do(REPORTS, self._store.pools) or ():
            if pool.description.reports and not pool.closed:
                receipts = await self._do(REPORTS, self._store.count_reports, pool.name)
                self._metrics.count_receipts(pool.name, receipts or ())
        await self._do(HEADS, keep_heads, self._store.engine)
        await self._do(FILES, truncate_wal, self._store.engine, 0)  # the file may still contain an anonymized name

    async def _keep_facts(self) -> None:
        """Calculate the facts for each pool if they are due."""
        for pool in [pool.name for pool in await self._do(FACTS, self._store.pools) or ()]:
            if await self._do(FACTS, self._store.keep_facts, pool):
                LOGGER.info("pool %s: facts calculated", pool)
                await self._do(SNAPSHOTS, partial(self._store.keep_snapshot, pool, entries=NIGHTLY_ENTRIES))
            if await self._do(HINDSIGHT, self._store.keep_hindsight, pool):
                LOGGER.info("pool %s: hindsight calculated", pool)


API = writes, reads, player_routes, fixtures, pages, status, receiving
ADMIN = pools, sending, records, connections, race_forms, report_forms, dry_run
PAGES = (  # in the order of matching
    rendering, visiting, first_link, home, boards, seasons, distribution, event_pages, players, chances,
    races, calendar, rules, sharing, tonight, link_page,
)  # fmt: skip
END_S = 10.0  # time for the last readers to finish after the service has ended
ABOUT = """Send each result once, and get ratings with a reason for every point.

Requests need a key, sent as `Authorization: Bearer KEY`. Only `/healthz`, `/readyz`, this page and reading public
pools work without a key. Errors are problem+json (RFC 9457) and name the field. You can send a result several times:
its `event_id` counts only once. Every response has an `X-Request-Id`: yours if you sent one, otherwise a new one. The
service's log also contains it.
"""


def create_app(
    store: Store,
    *,
    daily: bool = False,
    close: bool = False,
    private_webhooks: bool = False,
    address: str = "",
    request_log: TextIO | None = None,
) -> FastAPI:
    """Return the app that serves a store.

    Args:
        daily: True to calculate facts and hindsight every day, to send webhooks, and to do all other upkeep.
        address: Scheme and host at which browsers reach the service, for links in messages and feeds.
    """

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[dict[str, Any]]:
        remove_left_over()
        watchers: Watchers = app.state.watchers
        watchers.open()
        try:
            async with AsyncExitStack() as running:
                await running.enter_async_context(requests.in_background(requests.share_threads()))
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
                await requests.run_in(threads.keeping, store.close, END_S)

    app = FastAPI(
        lifespan=lifespan,
        servers=[{"url": address or "/"}],
        title="Podium",
        version=__version__,
        description=ABOUT,
        docs_url=None,  # the framework's page needs a script from another site
        redoc_url=None,
        openapi_url="/api/openapi.json",
        exception_handlers={error: rendering.page_or_problem(handler) for error, handler in ERROR_HANDLERS.items()},
    )
    threads, metrics = requests.Threads(), Metrics()
    announcements = Announcements(store, threads, metrics)
    log = None if request_log is None else RequestLog(request_log)
    app.state.store, app.state.private_webhooks, app.state.address = store, private_webhooks, address
    app.state.threads = threads
    app.state.metrics = metrics
    app.state.key_guard = KeyGuard(store, threads)
    app.state.sessions = Sessions(store, threads)
    app.state.public_pools = CachedValue(threads, store.public_pools)
    app.state.intake = Intake(store, threads)
    app.state.uploads = UploadProcess()
    app.state.watchers = Watchers(store, threads, announcements)
    app.state.front_pages = home.FrontPages(store)
    app.state.stakes = KeptStakes()
    store.observe_write = announcements.note_write
    metrics.add_part("podium_waiting_events", "Events waiting to be stored", app.state.intake.waiting_events)
    about = "Bytes of memory for snapshots of pools, or for cached responses if no pool is named"
    metrics.add_part("podium_held_bytes", about, store.held_bytes, mode="liveall")
    # All routes are flat, because FastAPI searches included routers more slowly.
    for module in (*API, *ADMIN):
        app.router.routes.extend(module.router.routes)
    app.router.routes.extend(rendering.in_order(page.router for page in PAGES))
    app.add_middleware(requests.CompressionMiddleware, session_cookie=COOKIE)
    app.add_middleware(PathMiddleware, refusal=problem)
    app.add_middleware(requests.RequestMiddleware, observe=metrics.observe_request, log=log)
    complete_document(app)
    return app


@asynccontextmanager
async def looking_after(app: FastAPI, *, private_webhooks: bool) -> AsyncIterator[None]:
    """Run the upkeep for all processes that serve the store, while it is this process's turn."""
    store, threads, metrics = app.state.store, app.state.threads, app.state.metrics
    turn = UpkeepLock(store.engine)
    upkeep = Upkeep(store, threads, app.state.key_guard, metrics, turn, app.state.front_pages)
    webhooks = Webhooks(store, metrics, turn, allow_private=private_webhooks, address=app.state.address)
    try:
        async with upkeep.running(), webhooks.running():
            yield
    finally:
        turn.release()


def send_entry(
    entry: LogEntry,
    webhook_id: Annotated[str, Header(description="Number of the entry; the same for every attempt.")],
    webhook_timestamp: Annotated[int, Header(description="Time of the attempt in seconds since 1970.")],
    webhook_signature: Annotated[
        str, Header(description="`v1,` followed by the HMAC-SHA256 of `id.timestamp.body` in base64.")
    ],
) -> None:
    """A log entry that is sent to a webhook.

    Entries are sent in log order. Each entry is sent again until the receiver responds with a status from 200 to 299.
    """


JSON = "application/json"
KEY_HELP = "A key from `podium key create`. Reading public pools does not require a key."
EXAMPLES = json.loads(files("podium.service.api").joinpath("examples.json").read_bytes())  # of answers


def complete_document(app: FastAPI) -> None:
    """Add groups, titles, examples, keys, webhooks and the models that routes parse to the OpenAPI document."""
    build_document = app.openapi
    app.webhooks.post("log-entry", tags=["Webhooks"], operation_id="log_entry")(send_entry)

    def openapi() -> dict[str, Any]:
        if app.openapi_schema is None:
            document = build_document()  # cached by now
            models = document["components"]["schemas"]
            scheme = {"type": "http", "scheme": "bearer", "description": KEY_HELP}
            document["components"]["securitySchemes"] = {"key": scheme}
            document["tags"] = [{"name": name, "description": group["about"]} for name, group in status.GROUPS.items()]
            titles = {
                call: {"tags": [name], "summary": title}
                for name, group in status.GROUPS.items()
                for call, title in group["calls"].items()
            }
            for route in app.routes:
                if isinstance(route, APIRoute) and route.include_in_schema:
                    is_of_pool = "{pool}" in route.path_format  # only a pool can be public
                    needed = [
                        dependency for dependency in marked(route.dependant, "security") if dependency or is_of_pool
                    ]
                    sent = marked(route.dependant, "models")
                    models |= schemas(sent) if sent else {}
                    for method in route.methods or ():
                        operation = document["paths"][route.path_format][method.lower()]
                        operation["security"] = needed
                        operation |= titles[operation["operationId"]]
                        operation |= {"requestBody": request_body(sent)} if sent else {}
                        for response in operation["responses"].values():
                            content = response.get("content", {})
                            if {MEDIA_TYPE, JSON} <= content.keys():  # the framework adds the model as another type
                                response["content"] = {MEDIA_TYPE: content[JSON]}
            for name in models.keys() & EXAMPLES:
                models[name]["examples"] = [EXAMPLES[name]]
        return app.openapi_schema or {}

    app.openapi = openapi  # type: ignore[method-assign]


def request_body(models: Sequence[type[BaseModel]]) -> dict[str, Any]:
    """Return the OpenAPI description of a body that may be any of these models."""
    references = [{"$ref": f"#/components/schemas/{model.__name__}"} for model in models]
    schema = references[0] if len(references) == 1 else {"anyOf": references}
    return {"required": True, "content": {"application/json": {"schema": schema}}}


def schemas(models: Iterable[type[BaseModel]]) -> dict[str, Any]:
    """Return the OpenAPI schemas of models that routes parse themselves, and of the models within them.

    A field without a description gets the first sentence about the column of its name.
    """
    validated: list[Any] = [(model, "validation") for model in sorted(models, key=lambda model: model.__name__)]
    _, document = models_json_schema(validated, ref_template="#/components/schemas/{model}")
    definitions: dict[str, Any] = document["$defs"]
    meanings = {column.name: column.meaning.partition(". ")[0].rstrip(".") + "." for column in COLUMNS}
    for definition in definitions.values():
        for name, field in definition.get("properties", {}).items():
            if name in meanings:
                field.setdefault("description", meanings[name])
    return definitions


def marked(dependant: Dependant, name: str) -> Sequence[Any]:
    """Return the marks on a route's dependencies: the key that they need (`security`), or the `models` of the body."""
    for dependency in dependant.dependencies:
        found: Sequence[Any] = getattr(dependency.call, name, None) or marked(dependency, name)
        if found:
            return found
    return ()
