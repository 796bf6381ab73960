"""The server that runs the service: its limits, its log, and how it stops."""

import socket
import time
from collections.abc import Sequence

import uvicorn
from fastapi import FastAPI

from podium.service.connections import LimitedProtocol, Phase
from podium.service.http.logs import LOG_CONFIG

MAX_CONNECTIONS = 2_000
SPARE_FILES = 128  # open files that are no connections
GRACE_S = 3  # for requests that are being answered when the service stops
CHECK_TICKS = 10  # of a tenth of a second


class Server(uvicorn.Server):
    """Closes connections whose clients take too long, and ends streams before it waits for the rest."""

    async def on_tick(self, counter: int) -> bool:
        """Look at the connections once a second; whether to stop."""
        if counter % CHECK_TICKS == 0:
            now = time.monotonic()
            for each in [*self.server_state.connections]:
                if isinstance(each, LimitedProtocol):
                    each.close_if_late(now)
        return await super().on_tick(counter)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Stop: no new connections, no streams; what is being answered has a little time."""
        app: FastAPI = self.config.app  # type: ignore[assignment]
        app.state.watchers.close()
        await super().shutdown(sockets)


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


def server_config(app: FastAPI, host: str, port: int, trusted_proxies: Sequence[str]) -> uvicorn.Config:
    """Return what the server needs to know.

    Args:
        trusted_proxies: addresses or networks whose `X-Forwarded-For` names the client; nobody else's is read.
    """
    return uvicorn.Config(
        app,
        host=host,
        port=port,
        http=LimitedProtocol,
        ws="none",
        proxy_headers=bool(trusted_proxies),
        forwarded_allow_ips=[*trusted_proxies],
        limit_concurrency=max_connections() + 1,  # the one above is answered 503
        timeout_keep_alive=int(Phase.IDLE.value),
        timeout_graceful_shutdown=GRACE_S,
        log_config=LOG_CONFIG,
        access_log=False,
        server_header=False,
    )


def run(app: FastAPI, host: str, port: int, trusted_proxies: Sequence[str]) -> None:
    """Serve until a signal ends it."""
    Server(server_config(app, host, port, trusted_proxies)).run()


def run_on(app: FastAPI, listener: socket.socket) -> None:
    """Serve until a signal ends it, on a socket that is bound already."""
    host, port = listener.getsockname()[:2]
    Server(server_config(app, host, port, ())).run([listener])
