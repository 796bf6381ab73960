"""The server that runs the service: its limits, its log, and how it stops."""

import socket
from collections.abc import Sequence
from typing import Any

import uvicorn
from fastapi import FastAPI

from podium.service.connections import LimitedProtocol, Phase
from podium.service.http.logs import LOG_CONFIG

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
    """Return what the server needs to know beside the app.

    Args:
        trusted_proxies: addresses or networks whose `X-Forwarded-For` names the client; nobody else's is read.
    """
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
