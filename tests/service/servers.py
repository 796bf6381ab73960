"""Start the service in separate processes, and connect clients to it."""

import random
import socket
import ssl
import sys
import time

import httpx2

PODIUM = [sys.executable, "-c", "from podium.cli import main; main()"]
LONG_S = 120.0
NO_TLS = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)  # shared, because each client would slowly create its own


def free_port():
    """Return a free port outside the range of outgoing connections."""
    while listens(port := random.randrange(20_000, 32_000)):  # noqa: S311
        pass
    return port


def listens(port):
    """Return True if a server listens at a port."""
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def until(find_it):
    """Call a function until its result is true, and return that result."""
    end = time.monotonic() + LONG_S
    while not (found := find_it()):
        assert time.monotonic() < end
        time.sleep(0.05)
    return found


def client_of(port, key=None):
    """Return a client of the server at a port, which sends a key."""
    headers = {} if key is None else {"Authorization": f"Bearer {key}"}
    return httpx2.Client(base_url=f"http://127.0.0.1:{port}", headers=headers, timeout=LONG_S, verify=NO_TLS)
