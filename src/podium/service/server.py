"""The server, which runs the service with one or more workers: its limits, its log, and its shutdown.

No client can block others, because the number of connections and the time for headers, bodies and idling are limited.
"""

import heapq
import json
import logging
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Sequence
from enum import Enum
from multiprocessing import connection, parent_process
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
import uvicorn
from fastapi import FastAPI
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.supervisors import multiprocess

from podium.errors import ParameterError, PodiumError
from podium.kernels.compiled import compile_without_blas
from podium.log.database import full_url
from podium.rating import rate
from podium.service.app import create_app
from podium.service.http.errors import LOG_CONFIG
from podium.service.metrics import SHARED_FOLDER
from podium.store import Store
from podium.support.collector import keep_loaded
from podium.support.part_files import temporary_folder

MAX_HEADER_BYTES = 65_536
ROOM_PART = 64  # share of the connections to close at the limit; finding many takes as long as finding one
WRITE_TIMEOUT_S = 60.0  # maximum time for which a client may stop reading
CLOCK_S = 0.01  # tolerance of timers
AGAIN_S = 1.0  # time until the next check of a client whom the service makes wait
TOO_LARGE = (
    b"HTTP/1.1 431 Request Header Fields Too Large\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"  # RFC 6585
)


class Phase(Enum):
    """The phase of a connection. Its value is the number of seconds that the client has."""

    HEADERS = 10.0  # from the connection, or from the first byte of a later request, to the end of the headers
    BODY = 30.0
    ANSWER = float("inf")
    IDLE = 60.0  # between requests


class LimitedProtocol(HttpToolsProtocol):
    """HTTP/1.1 on one of up to `limit_concurrency` connections.

    At the limit, a new connection replaces the connections that have waited longest for their clients. If the service
    is answering all of them, the new one gets a 503 response. A connection checks its own timeouts, so it works with
    any ASGI server. When the server stops, the first connection to shut down calls `end_streams` from the app's
    lifespan.
    """

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self.write_paused_at: float | None = None
        self.header_bytes = 0
        self.next_look: asyncio.TimerHandle | None = None
        self.enter(Phase.HEADERS)
        if self.limit_concurrency is not None and len(self.connections) >= self.limit_concurrency:
            self.make_room(max(1, self.limit_concurrency // ROOM_PART))

    def make_room(self, count: int) -> None:
        """Close this many other connections: those that have waited longest for their clients."""
        others = (
            protocol for protocol in self.connections if isinstance(protocol, LimitedProtocol) and protocol is not self
        )
        waiting = (other for other in others if other.waits())
        for protocol in heapq.nsmallest(count, waiting, key=lambda protocol: protocol.since):
            protocol.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self.look_after(float("inf"))

    def shutdown(self) -> None:
        """Close the connection because the server is stopping.

        Streams end first, because they would otherwise run for hours.
        """
        end_streams = self.app_state.get("end_streams")
        if end_streams is not None:
            end_streams()
        super().shutdown()

    def enter(self, phase: Phase) -> None:
        self.phase, self.since = phase, time.monotonic()
        self.look_after(phase.value)

    def look_after(self, seconds: float) -> None:
        """Check after this time, but not earlier, whether the client is late. If the time is infinite, never check."""
        if self.next_look is not None:
            self.next_look.cancel()
        is_never = seconds == float("inf")
        self.next_look = None if is_never else self.loop.call_later(seconds + CLOCK_S, self.look)

    def look(self) -> None:
        """Close the connection if its client is late. If the client is waiting for the service, check again later."""
        self.next_look = None
        self.close_if_late(time.monotonic())
        is_watched = self.waits() or self.write_paused_at is not None
        if is_watched and not self.transport.is_closing():
            self.look_after(AGAIN_S)

    def waits(self) -> bool:
        return self.phase is not Phase.ANSWER

    def close_if_late(self, now: float) -> None:
        # the service, not the client, has paused the transfer
        is_held_back = self.phase is Phase.BODY and self.flow.read_paused
        is_late = now - self.since > self.phase.value and not is_held_back
        reads_nothing = self.write_paused_at is not None and now - self.write_paused_at > WRITE_TIMEOUT_S
        if is_late or reads_nothing:
            self.abort()

    def abort(self) -> None:
        self.connections.discard(self)  # immediate, so that it no longer counts
        self.transport.abort()

    def data_received(self, data: bytes) -> None:
        """Accept data from the client, but reject endless headers."""
        if self.phase is Phase.IDLE:
            self.enter(Phase.HEADERS)
        super().data_received(data)
        self.header_bytes = self.header_bytes + len(data) if self.phase is Phase.HEADERS else 0
        if self.header_bytes > MAX_HEADER_BYTES:
            self.transport.write(TOO_LARGE)
            self.transport.close()

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self.enter(Phase.HEADERS)

    def on_header(self, name: bytes, value: bytes) -> None:
        """Accept a header, but ignore headers after the body."""
        if self.phase is Phase.HEADERS:
            super().on_header(name, value)

    def on_headers_complete(self) -> None:
        self.enter(Phase.BODY)
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        """Pass the complete request to the service or, if it has already been answered, wait for the client."""
        super().on_message_complete()
        self.enter(Phase.IDLE if self.cycle.response_complete else Phase.ANSWER)

    def on_response_complete(self) -> None:
        """Wait for the client's next request, unless it has already arrived."""
        is_last = not self.pipeline
        super().on_response_complete()
        if is_last and self.phase is Phase.ANSWER:
            self.enter(Phase.IDLE)

    def pause_writing(self) -> None:
        super().pause_writing()
        self.write_paused_at = time.monotonic()
        if self.next_look is None:
            self.look_after(WRITE_TIMEOUT_S)

    def resume_writing(self) -> None:
        super().resume_writing()
        self.write_paused_at = None


MAX_CONNECTIONS = 2_000
SPARE_FILES = 128  # number of open files other than connections
GRACE_S = 3  # time for unfinished requests when the service stops


def max_connections() -> int:
    """Raise the limit on open files as far as possible, and return the maximum number of connections."""
    try:
        import resource  # noqa: PLC0415  (missing on Windows)
    except ImportError:
        return MAX_CONNECTIONS
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = MAX_CONNECTIONS + SPARE_FILES
    if soft != resource.RLIM_INFINITY and soft < needed:
        soft = needed if hard == resource.RLIM_INFINITY else min(needed, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        return max(1, soft - SPARE_FILES)
    return MAX_CONNECTIONS


def server_options(host: str, port: int, trusted_proxies: Sequence[str]) -> dict[str, Any]:
    return {
        "host": host,
        "port": port,
        "http": LimitedProtocol,
        "ws": "none",
        "proxy_headers": bool(trusted_proxies),
        "forwarded_allow_ips": [*trusted_proxies],
        "limit_concurrency": max_connections() + 1,  # the additional connection gets a 503 response
        "timeout_keep_alive": int(Phase.IDLE.value),
        "timeout_graceful_shutdown": GRACE_S,
        "log_config": LOG_CONFIG,
        "access_log": False,
        "server_header": False,
    }


def run(app: FastAPI, host: str, port: int, trusted_proxies: Sequence[str]) -> None:
    uvicorn.run(app, workers=1, **server_options(host, port, trusted_proxies))


def run_on(app: FastAPI, listener: socket.socket) -> None:
    host, port = listener.getsockname()[:2]
    uvicorn.Server(uvicorn.Config(app, **server_options(host, port, ()))).run([listener])


SETTINGS = "PODIUM_WORKER"  # environment variable that contains the settings of workers
HEALTH_CHECK_S = 60  # time within which a worker answers its parent, even on a busy machine
LOGGER = logging.getLogger(__name__)


def refuse_workers(url: str, count: int) -> None:
    """Reject several workers for an SQLite database, because only one process at a time can write to its file."""
    if sa.make_url(full_url(url)).get_backend_name() == "sqlite":
        raise ParameterError(
            f"--workers {count} needs PostgreSQL, but the database is SQLite. SQLite allows only one writer at a time, "
            "so extra workers would only wait for each other. Use --db postgresql+psycopg://…, or leave out --workers."
        )


def prepare_kernels(store: Store) -> None:
    """Compile the kernels for every pool's system, so that workers find them in the cache."""
    for system in {pool.system for pool in store.pools()}:
        rows = [
            {"event_id": "1", "started_at": "2026-01-01", "player": name, "position": place, "time_s": 60.0 + place}
            for place, name in enumerate("abc", start=1)
        ]
        try:
            rate(rows, system)
        except PodiumError as error:  # for example, a system with special results, which its workers will compile
            LOGGER.debug("%s is compiled by the workers: %s", system, error)


class Worker(multiprocess.Process):
    """A worker whose parent notices its end even while waiting for its answer."""

    def start(self) -> None:
        super().start()
        self.child_conn.close()  # only the worker keeps it open; otherwise, a killed worker would just seem slow


def run_workers(count: int, host: str, port: int, trusted_proxies: Sequence[str], **settings: str | float) -> None:
    """Serve with this many workers until a signal arrives. Dead workers are replaced.

    `settings` are for `worker_app`.
    """
    with temporary_folder() as folder:
        os.environ |= {SETTINGS: json.dumps(settings), SHARED_FOLDER: str(folder)}
        multiprocess.Process = Worker  # type: ignore[misc]
        uvicorn.run(
            f"{__name__}:worker_app",
            factory=True,
            workers=count,
            timeout_worker_healthcheck=HEALTH_CHECK_S,
            **server_options(host, port, trusted_proxies),
        )


def live_app(store: Store, *, memory: int, private_webhooks: bool, address: str, log_requests: bool) -> FastAPI:
    """Return the app of a service with its own upkeep, which closes the store when it ends."""
    store.limit_memory(memory)
    log = sys.stderr if log_requests else None
    app = create_app(store, daily=True, close=True, private_webhooks=private_webhooks, address=address, request_log=log)
    keep_loaded()
    return app


def worker_app() -> FastAPI:
    settings = json.loads(os.environ[SETTINGS])
    compile_without_blas()
    end_with_parent()
    return live_app(Store(settings.pop("url"), must_exist=True), **settings)


def end_with_parent() -> None:
    """Stop this worker when its parent ends, even if the parent is killed."""
    parent = parent_process()
    if parent is None:
        return
    sentinel = parent.sentinel

    def wait() -> None:
        connection.wait([sentinel])
        signal.raise_signal(signal.SIGTERM)

    threading.Thread(target=wait, name="end with parent", daemon=True).start()


if TYPE_CHECKING:
    import asyncio
