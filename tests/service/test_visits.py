"""Read access: public pools, browser sessions, and facts that strangers must not learn."""

import json
import re
import shutil
from base64 import urlsafe_b64decode

import pytest
import sqlalchemy as sa
from races import event, rows
from starlette.testclient import TestClient

import podium
from podium.log.players import is_reserved
from podium.service import create_app
from podium.service.http import keys as access
from podium.service.http import visitors
from podium.service.web.rendering import STATIC_ADDRESS
from podium.store import Store, keys
from podium.store.keys import create_key, rotate_session_secret
from podium.systems import find

BASE = "/api/v1/pools"


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    """Return a database with a private and a public pool, which every test copies."""
    path = tmp_path_factory.mktemp("visits") / "podium.db"
    opened = Store(str(path))
    opened.create_pool("main", find("elo")())
    opened.create_pool("open", find("elo")(), public=True)
    for pool in ("main", "open"):
        opened.submit(pool, rows(1, "abc"))
    opened.close()
    return path


@pytest.fixture
def store(filled, tmp_path):
    opened = Store(str(shutil.copy(filled, tmp_path)))
    yield opened
    opened.close()


def pass_a_second(monkeypatch):
    """Make the service check again what it caches for a second."""
    for module in (access, visitors, visitors):
        monkeypatch.setattr(module, "KEY_CACHE_S", 0.0)


READS = (
    "", "/leaderboard", "/distribution", "/players/a", "/players/a/neighbours", "/players/a/ranks", "/events/e1",
    "/compare?player=a&other=b", "/events/e1/players/a", "/events/e1/players/a/what-if", "/matches", "/seasons",
    "/snapshots", "/export/results.csv", "/stream?seconds=0",
)  # fmt: skip


def test_strangers_can_read_only_public_pools(store):
    with TestClient(create_app(store)) as client:
        statuses = {client.get(f"{BASE}/open{path}").status_code for path in READS}
        assert statuses == {200}
        assert client.post(f"{BASE}/open/predict", json={"entrants": ["a", "b"]}).status_code == 200
        private = {client.get(f"{BASE}/{pool}{path}").status_code for pool in ("main", "none") for path in READS[:4]}
        assert private == {401}
        assert client.get(BASE).status_code == 401
        assert client.get(f"{BASE}/open/log").status_code == 401
        assert client.post(f"{BASE}/open/events", json=event(2)).status_code == 401
        assert client.patch(f"{BASE}/open", json={"public": False}).status_code == 401


def test_making_a_pool_private_takes_effect_within_a_second(store, monkeypatch):
    with TestClient(create_app(store)) as client:
        assert client.get(f"{BASE}/open/leaderboard").status_code == 200
        store.describe_pool("open", public=False)
        pass_a_second(monkeypatch)
        assert client.get(f"{BASE}/open/leaderboard").status_code == 401


HTML = {"Accept": "text/html"}


@pytest.fixture
def browser(store):
    with TestClient(create_app(store), headers=HTML, base_url="https://podium.test") as client:
        yield client


def urlsafe(text):
    """Decode a part of a cookie from Base64."""
    return urlsafe_b64decode(text + "=" * (-len(text) % 4))


def token_in(text):
    return re.search(r'name="token" value="([^"]+)"', text)[1]


def test_the_session_cookie_does_not_contain_the_key(store, browser):
    secret = create_key(store.engine, "ana & ben", "read", "main")
    page = browser.get("/sign-in?next=/main")
    assert 'name="next" value="/main"' in page.text
    answer = browser.post("/sign-in", data={"key": f" {secret} ", "next": "/main"}, follow_redirects=False)
    assert (answer.status_code, answer.headers["location"]) == (303, "/main")
    (cookie,) = answer.headers.get_list("set-cookie")
    assert {"HttpOnly", "Path=/", "SameSite=lax", "Secure"} <= {each.strip() for each in cookie.split(";")}
    claims = json.loads(urlsafe(cookie.split("=", 1)[1].split(".")[0]))
    assert claims[:2] == [1, keys.fingerprint(keys.digest(secret))]
    assert len(claims) == 3  # the third is a nonce
    assert secret not in cookie
    assert browser.get(f"{BASE}/main/leaderboard").status_code == 200  # the cookie is enough for reading
    assert browser.post(f"{BASE}/main/events", json=event(2)).status_code == 401  # but not for writing
    assert "ana &amp; ben" in browser.get("/sign-in").text


def sign_in(browser, store, role="admin", pool=None):
    """Sign in with a new key, and return its number."""
    secret = create_key(store.engine, role, role, pool)
    assert browser.post("/sign-in", data={"key": secret}, follow_redirects=False).status_code == 303
    return keys.list_keys(store.engine)[-1].id


def test_responses_except_static_files_are_compressed_unless_signed_in(store, browser):
    secret = create_key(store.engine, "reader", "read", "main")
    gzip = {"Accept-Encoding": "gzip"}
    keyed = browser.get(f"{BASE}/main/events/e1", headers=gzip | {"Authorization": f"Bearer {secret}"})
    assert keyed.status_code == 200
    assert ("content-encoding" in keyed.headers) is (len(keyed.content) >= 1024)
    assert browser.get("/open", headers=gzip).headers["content-encoding"] == "gzip"
    sign_in(browser, store)
    for path in ("/open", "/main", "/admin"):
        assert "content-encoding" not in browser.get(path, headers=gzip).headers
    assert browser.get(f"{STATIC_ADDRESS}/podium.css", headers=gzip).headers["content-encoding"] == "gzip"


def test_a_session_ends_by_revocation_rotation_or_expiry(store, browser, monkeypatch):
    leaderboard = f"{BASE}/main/leaderboard"
    pass_a_second(monkeypatch)
    number = sign_in(browser, store)
    assert browser.get(leaderboard).status_code == 200
    keys.revoke_key(store.engine, number)
    assert browser.get(leaderboard).status_code == 401

    sign_in(browser, store)
    rotate_session_secret(store.engine)
    assert browser.get(leaderboard).status_code == 401

    sign_in(browser, store)
    monkeypatch.setattr(visitors, "SESSION_S", -1)
    assert browser.get(leaderboard).status_code == 401


def test_an_old_session_cannot_use_a_new_key_of_the_same_number(store, browser, monkeypatch):
    pass_a_second(monkeypatch)
    number = sign_in(browser, store, "read", "open")
    store.close_pool("open")
    store.delete_pool("open")
    create_key(store.engine, "another", "admin")
    assert keys.list_keys(store.engine)[-1].id == number
    assert browser.get(f"{BASE}/main/leaderboard").status_code == 401


def test_forged_cookies_are_rejected(store, browser):
    sign_in(browser, store)
    real = browser.cookies[visitors.COOKIE]
    middle = len(real) - 10  # within the signature; its last letter has unused bits
    altered = real[:middle] + ("A" if real[middle] != "A" else "B") + real[middle + 1 :]
    for cookie in ("x", real[:-1], altered, "a" * 1000, real.replace(".", "..")):
        browser.cookies.clear()
        answer = browser.get(f"{BASE}/main/leaderboard", headers={"Cookie": f"{visitors.COOKIE}={cookie}"})
        assert answer.status_code == 401


@pytest.mark.parametrize(
    "headers",
    [{"Origin": "https://evil.test"}, {"Origin": "null"}, {"Sec-Fetch-Site": "cross-site"},
     {"Sec-Fetch-Site": "same-site", "Origin": "https://podium.test"}],
)  # fmt: skip
def test_other_sites_cannot_sign_anybody_in_or_out(store, browser, headers):
    secret = create_key(store.engine, "a", "admin")
    refused = browser.post("/sign-in", data={"key": secret}, headers=headers, follow_redirects=False)
    assert refused.status_code == 403
    assert visitors.COOKIE not in browser.cookies
    sign_in(browser, store)
    token = token_in(browser.get("/sign-out").text)
    assert browser.post("/sign-out", data={"token": token}, headers=headers).status_code == 403
    assert browser.post("/sign-out", data={"token": token[:-1]}).status_code == 403
    assert visitors.COOKIE in browser.cookies
    own = {"Origin": "https://podium.test"}
    assert browser.post("/sign-out", data={"token": token}, headers=own, follow_redirects=False).status_code == 303
    assert visitors.COOKIE not in browser.cookies


def test_failed_sign_ins_are_limited(browser, store):
    statuses = [browser.post("/sign-in", data={"key": f"podium_{k}"}).status_code for k in range(40)]
    assert statuses[:30] == [401] * 30
    assert set(statuses[31:]) == {429}


@pytest.mark.parametrize("text", ["//evil.test", "https://evil.test", "/\\evil.test", "evil", "", "/\t/evil", "/é"])
def test_redirects_stay_on_this_site(text):
    assert visitors.own_path(text) == "/"
    assert visitors.own_path("/main/players/a%2Fb?most=3#why") == "/main/players/a%2Fb?most=3#why"


def test_a_private_pool_looks_like_a_missing_pool(store, browser, monkeypatch):
    """Visitors without a key to the pool cannot learn that it exists."""
    pass_a_second(monkeypatch)

    def seen():
        answers = [
            browser.get(f"/{pool}{page}") for pool in ("main", "none") for page in ("", "/players/a", "/events/e1")
        ]
        texts = {each.text.replace("none", "main") for each in answers[:1] + answers[3:4]}
        return {each.status_code for each in answers}, len(texts)

    assert seen() == ({401}, 1)
    assert browser.get("/open").status_code == 200
    sign_in(browser, store, "read", "open")
    assert seen() == ({403}, 1)
    assert browser.get("/open").status_code == 200
    sign_in(browser, store, "read", "main")
    assert browser.get("/main").status_code == 200
    assert browser.get("/none").status_code == 403
    sign_in(browser, store, "admin")
    assert browser.get("/none").status_code == 404


def test_signing_in_leads_to_the_requested_page(browser):
    page = browser.get("/main/players/a%2Fb")
    assert page.status_code == 401
    assert 'name="next" value="/main/players/a%2Fb"' in page.text
    assert browser.get("/main", headers={"Accept": "application/json"}).json()["status"] == 401


def test_a_pool_cannot_have_the_name_of_a_page(store):
    for name in ("admin", "Static", " find ", "p"):
        with pytest.raises(podium.ParameterError, match="is the address of a page"):
            store.create_pool(name, find("elo")())
    starts = {path.split("/")[1] for each in create_app(store).routes if (path := getattr(each, "path", ""))}
    assert {each for each in starts if each and not is_reserved(each)} == {"{pool}"}


def test_an_old_pool_with_the_name_of_a_page_has_another_address(store, browser):
    with store.engine.begin() as connection:
        connection.execute(sa.text("UPDATE pool SET name = 'find' WHERE name = 'open'"))
    assert browser.get("/find/events").status_code == 404
    assert browser.get("/p/find/events").status_code == 200
    assert 'href="/p/find/events/e1' in browser.get("/p/find/events").text
    assert browser.get("/p/open").status_code == 401


def test_scripts_of_other_sites_can_read_only_public_pools(store):
    """The service ignores any cookie or key that comes with such a request."""
    key = create_key(store.engine, "admin", "admin")
    with TestClient(create_app(store), base_url="https://podium.test") as client:
        signed_in = client.post("/sign-in", data={"key": key}, follow_redirects=False).cookies
        cookie = "; ".join(f"{name}={value}" for name, value in signed_in.items())
        elsewhere, known, unknown = "https://elsewhere.test", f"Bearer {key}", "Bearer wrong"
        values = (("Origin", elsewhere), ("Authorization", known), ("Authorization", unknown), ("Cookie", cookie))
        senders = [{}, *({name: value} for name, value in values)]
        client.cookies.clear()
        for path in (*READS, "/players/nobody"):
            answers = [client.get(f"{BASE}/open{path}", headers=headers) for headers in senders]
            assert {each.headers.get("access-control-allow-origin") for each in answers} == {"*"}, path
            assert len({each.status_code for each in answers}) == 1
            assert not any("set-cookie" in each.headers for each in answers)
            bodies = {each.text for each in answers if each.status_code == 200}
            assert len(bodies) == (0 if path == "/players/nobody" else 1), path
        for path in ("/open/log", "/main", "/main/leaderboard", "/none", ""):
            for headers in senders:
                assert "access-control-allow-origin" not in client.get(f"{BASE}{path}", headers=headers).headers, path
        assert "access-control-allow-origin" not in client.post(f"{BASE}/open/events", json=event(2)).headers
        assert client.options(f"{BASE}/open/events", headers={"Origin": "https://elsewhere.test"}).status_code == 405
