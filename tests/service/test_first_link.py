"""The link for the first admin: where `serve` prints it, and who can open it how often."""

import re
import time

import pytest
from starlette.testclient import TestClient

from podium.cli.service.serving import show_first_link
from podium.service import create_app
from podium.service.admin.first_link import VALID_S, first_path
from podium.service.http.visitors import COOKIE
from podium.store.keys import create_key, list_keys, revoke_key

HERE = ("127.0.0.1", 50_000)


@pytest.fixture
def store(sqlite_store):
    sqlite_store.app = create_app(sqlite_store)
    return sqlite_store


def browser(store, address="http://127.0.0.1:8000", client=HERE, **headers):
    return TestClient(store.app, base_url=address, client=client, headers={"Accept": "text/html"} | headers)


def test_the_link_signs_in_and_shows_a_key_once(store):
    path, here = first_path(store.engine), browser(store)
    opened = here.get(path)
    (secret,) = re.findall(r'value="(podium_[^"]+)"', opened.text)
    assert (opened.status_code, opened.headers["cache-control"]) == (200, "no-store")
    (key,) = list_keys(store.engine)
    assert (key.role, key.pool, key.expires_at) == ("admin", None, None)
    assert COOKIE in here.cookies
    assert here.get("/admin").status_code == 200
    for each in (here, browser(store)):
        again = each.get(path)
        assert again.status_code == 403
        assert 'value="podium_' not in again.text
    assert browser(store).post("/sign-in", data={"key": secret}, follow_redirects=False).status_code == 303
    revoke_key(store.engine, key.id)
    assert browser(store).get(path).status_code == 403  # although no admin remains
    assert len(list_keys(store.engine)) == 1


def test_an_expired_or_forged_link_and_a_second_admin_are_rejected(store, monkeypatch):
    path = first_path(store.engine)
    assert browser(store).get(path[:-2] + "xx").status_code == 403
    assert browser(store).get("/sign-in/first").status_code == 403
    assert browser(store).head(path).status_code == 405
    assert browser(store, **{"Sec-Purpose": "prefetch;prerender"}).get(path).status_code == 403
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + VALID_S + 2)
    assert browser(store).get(path).status_code == 403
    monkeypatch.undo()
    create_key(store.engine, "server", "write")  # not an admin
    create_key(store.engine, "another", "admin", lifetime=None)
    assert browser(store).get(path).status_code == 403
    assert len(list_keys(store.engine)) == 2


@pytest.mark.parametrize(
    ("options", "opens"),
    [
        ({}, True),
        ({"address": "http://localhost:8000"}, True),
        ({"address": "http://[::1]:8000", "client": ("::1", 1)}, True),
        ({"address": "https://podium.test", "client": ("203.0.113.9", 1)}, True),
        ({"address": "http://podium.test"}, False),
        ({"client": ("203.0.113.9", 1)}, False),
        ({"X-Forwarded-For": "203.0.113.9"}, False),
        ({"Via": "1.1 proxy"}, False),
        ({"User-Agent": "Mozilla/5.0 (X11)"}, False),  # a browser on another machine, through a bare proxy_pass
        ({"User-Agent": "Mozilla/5.0 (X11)", "Sec-Fetch-Site": "none"}, True),  # a browser on this machine
    ],
)
def test_the_link_opens_only_locally_or_over_https(store, options, opens):
    assert browser(store, **options).get(first_path(store.engine)).status_code == (200 if opens else 403)
    assert len(list_keys(store.engine)) == opens


@pytest.mark.parametrize(
    ("host", "terminal", "address"),
    [
        ("127.0.0.1", True, "http://127.0.0.1:8000/"), ("0.0.0.0", True, "http://127.0.0.1:8000/"),  # noqa: S104
        ("::1", True, "http://[::1]:8000/"), ("192.0.2.1", True, None), ("127.0.0.1", False, None),
    ],
)  # fmt: skip
def test_the_link_is_printed_only_to_a_terminal(store, capsys, monkeypatch, host, terminal, address):
    monkeypatch.setattr("sys.stdout.isatty", lambda: terminal)
    show_first_link(store, host, 8000)
    shown = capsys.readouterr().out
    assert list_keys(store.engine) == []
    if address is None:
        assert "podium key create" in shown
        assert "/sign-in/" not in shown
    else:
        link = shown.split()[-1]
        assert link.startswith(address)
        assert browser(store, **({"client": ("::1", 1)} if "::1" in host else {})).get(link).status_code == 200
    create_key(store.engine, "another", "admin")
    show_first_link(store, host, 8000)
    assert capsys.readouterr().out == ""
