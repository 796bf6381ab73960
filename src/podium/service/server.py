"""The server that runs the service, alone or in several workers: its limits, its log, and how it stops."""

import json
import logging
import os
import signal
import socket
import sys
import threading
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from multiprocessing import connection, parent_process
from typing import Any

import sqlalchemy as sa
import uvicorn
from fastapi import FastAPI

from podium.errors import ParameterError, PodiumError
from podium.kernels.compiled import compile_without_blas
from podium.rating import rate
from podium.service.app import create_app
from podium.service.connections import LimitedProtocol, Phase
from podium.service.http.folders import temporary_folder
from podium.service.http.logs import LOG_CONFIG
from podium.service.metrics import SHARED_FOLDER
from podium.store import Store
from podium.store.sql.database import full_url
from podium.support.collector import keep_loaded

MAX_CONNECTIONS = 2_000
SPARE_FILES = 128  # open files that are no connections
GRACE_S = 3  # for requests that are being answered when the service stops


def max_connections() -> int:
    """How many connections there may be, after raising the limit of open files as far as it goes."""
    try:
        import resource  # noqa: PLC0415  (there is none on Windows)
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
    """Return what the server needs to know beside the app."""
    return {
        "host": host,
        "port": port,
        "http": LimitedProtocol,
        "ws": "none",
        "proxy_headers": bool(trusted_proxies),
        "forwarded_allow_ips": [*trusted_proxies],
        "limit_concurrency": max_connections() + 1,  # the one above is answered 503
        "timeout_keep_alive": int(Phase.IDLE.value),
        "timeout_graceful_shutdown": GRACE_S,
        "log_config": LOG_CONFIG,
        "access_log": False,
        "server_header": False,
    }


def run(app: FastAPI, host: str, port: int, trusted_proxies: Sequence[str]) -> None:
    """Serve until a signal ends it."""
    uvicorn.run(app, workers=1, **server_options(host, port, trusted_proxies))


def run_on(app: FastAPI, listener: socket.socket) -> None:
    """Serve until a signal ends it, on a socket that is bound already."""
    host, port = listener.getsockname()[:2]
    uvicorn.Server(uvicorn.Config(app, **server_options(host, port, ()))).run([listener])


SETTINGS = "PODIUM_WORKER"  # the environment variable by which settings come to workers
HEALTH_CHECK_S = 60  # within which a worker answers its parent, on a machine that is busy
LOGGER = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class WorkerSettings:
    """What a worker needs to know."""

    url: str  # of the database
    private_webhooks: bool = False
    log_requests: bool = True


def refuse_workers(url: str, count: int) -> None:
    """Refuse several workers where one file has one writer."""
    if sa.make_url(full_url(url)).get_backend_name() == "sqlite":
        raise ParameterError(
            f"--workers {count} takes PostgreSQL, and the database is SQLite: its one file has one writer at a time, "
            "and more workers would only wait for each other. Name a PostgreSQL with --db postgresql+psycopg://…, or "
            "leave --workers out"
        )


def prepare_kernels(store: Store) -> None:
    """Compile the kernels of every pool's system, so that workers find them in the cache."""
    for system in {pool.system for pool in store.pools()}:
        rows = [
            {"event_id": "1", "started_at": "2026-01-01", "player": name, "position": place, "time_s": 60.0 + place}
            for place, name in enumerate("abc", start=1)
        ]
        try:
            rate(rows, system)
        except PodiumError as error:  # as of a system that asks for more of results; its workers compile
            LOGGER.debug("%s is compiled by the workers: %s", system, error)


def run_workers(settings: WorkerSettings, count: int, host: str, port: int, trusted_proxies: Sequence[str]) -> None:
    """Serve with so many workers until a signal ends it; one that dies is replaced."""
    with temporary_folder() as folder:
        os.environ |= {SETTINGS: json.dumps(asdict(settings)), SHARED_FOLDER: str(folder)}
        uvicorn.run(
            f"{__name__}:worker_app",
            factory=True,
            workers=count,
            timeout_worker_healthcheck=HEALTH_CHECK_S,
            **server_options(host, port, trusted_proxies),
        )


def worker_app() -> FastAPI:
    """Return the service as a worker has it, by the settings in the environment."""
    settings = WorkerSettings(**json.loads(os.environ[SETTINGS]))
    compile_without_blas()
    end_with_parent()
    app = create_app(
        Store(settings.url, must_exist=True),
        daily=True,
        close=True,
        private_webhooks=settings.private_webhooks,
        request_log=sys.stderr if settings.log_requests else None,
    )
    keep_loaded()
    return app


def end_with_parent() -> None:
    """Stop this worker when its parent is no more, even if it was killed: nobody else would."""
    parent = parent_process()
    if parent is None:
        return
    sentinel = parent.sentinel

    def wait() -> None:
        connection.wait([sentinel])
        signal.raise_signal(signal.SIGTERM)

    threading.Thread(target=wait, name="end with parent", daemon=True).start()
