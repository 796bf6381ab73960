"""The service as an admin starts it: no arguments, a first key, results in, a kill, and nothing lost."""

import re
import socket
import subprocess
import sys
import time

import httpx2

from podium.store import Store

PODIUM = [sys.executable, "-c", "from podium.cli import main; main()"]


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def test_serve_works_with_no_arguments_but_a_port(tmp_path):
    port = free_port()
    command = [*PODIUM, "serve", "--port", str(port)]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, text=True) as server:
        try:
            key = re.search(r"podium_\S+", server.stdout.readline())[0]
            base = f"http://127.0.0.1:{port}"
            with httpx2.Client(base_url=base, headers={"Authorization": f"Bearer {key}"}) as client:
                for _ in range(200):
                    try:
                        client.get("/healthz").raise_for_status()
                        break
                    except httpx2.TransportError:
                        time.sleep(0.05)
                client.post("/api/v1/pools", json={"name": "main", "system": "elo"}).raise_for_status()
                for number in range(5):
                    entries = [{"player": name, "position": place} for place, name in enumerate("ab", start=1)]
                    event = {"event_id": f"e{number}", "started_at": f"2025-01-01T00:0{number}:00Z", "entries": entries}
                    assert client.post("/api/v1/pools/main/events", json=event).status_code == 201
                assert client.get("/api/openapi.json").json()["info"]["title"] == "Podium"
        finally:
            server.kill()
    store = Store(str(tmp_path / "podium.db"))
    assert store.results("main").frame["event_id"].n_unique() == 5
    assert store.verify() == []
    store.close()
