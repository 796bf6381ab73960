"""Corrections that say what they correct, and corrections that come twice."""

import pytest
from races import calling, event

from podium.systems import find

EVENT = "/api/v1/pools/main/events/e1"


@pytest.fixture
def store(sqlite_store):
    sqlite_store.create_pool("main", find("elo")())
    return sqlite_store


@pytest.fixture
def client(store):
    with calling(store) as opened:
        opened.post("/api/v1/pools/main/events", json={"events": [event(number) for number in range(3)]})
        yield opened


def test_of_two_who_correct_the_same_version_the_second_is_refused(client, store):
    read = {"If-Match": client.get(EVENT).headers["etag"]}
    assert client.put(EVENT, json=event(1, "cab"), headers=read).status_code == 200
    logged = store.version("main")
    refused = client.put(EVENT, json=event(1, "bac"), headers=read)
    assert (refused.status_code, refused.json()["title"]) == (412, "Precondition Failed")
    assert client.post(f"{EVENT}/void", headers=read).status_code == 412
    assert store.version("main") == logged
    current = {"If-Match": f'W/"x", {client.get(EVENT).headers["etag"]}'}
    assert client.post(f"{EVENT}/void", headers=current).status_code == 200
    assert client.put(EVENT, json=event(1, "bac"), headers=current).status_code == 412
    assert client.post(f"{EVENT}/restore", headers=current).status_code == 412
    assert client.post(f"{EVENT}/restore", headers={"If-Match": "*"}).status_code == 200
    assert client.put(EVENT, json=event(1, "bac"), headers=current).status_code == 200
    assert client.put(EVENT, json=event(1, "abc"), headers={"If-Match": "17"}).json()["field"] == "if-match"
    assert store.verify() == []


def test_the_same_correction_again_is_one_entry_of_the_log(client, store):
    """Also with the version that it had been of: the first answer may have been lost."""
    read = {"If-Match": client.get(EVENT).headers["etag"]}
    first = client.put(EVENT, json=event(1, "cab"), headers=read).json()
    logged = store.version("main")
    for headers in (read, {}):
        again = client.put(EVENT, json=event(1, "cab"), headers=headers)
        assert again.status_code == 200
        assert again.json() == first | {"duplicate": True, "rerated": 0}
    client.post(f"{EVENT}/void")
    assert client.post(f"{EVENT}/void", headers=read).json()["duplicate"]
    assert store.version("main") == logged + 1
    moved = client.put(EVENT, json=event(1, "cab", minute=7)).json()
    assert not moved["duplicate"]
    assert client.put(EVENT, json=event(1, "cab")).json()["duplicate"] is False
    assert store.version("main") == logged + 3
    assert store.verify() == []
