"""Corrections of a given version, and corrections that are sent twice."""

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


def test_the_second_correction_of_the_same_version_is_rejected(client, store):
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
    assert client.post(f"{EVENT}/unvoid", headers=current).status_code == 412
    assert client.post(f"{EVENT}/unvoid", headers={"If-Match": "*"}).status_code == 200
    assert client.put(EVENT, json=event(1, "bac"), headers=current).status_code == 200
    assert client.put(EVENT, json=event(1, "abc"), headers={"If-Match": "17"}).json()["field"] == "if-match"
    assert store.verify() == []


def test_a_repeated_correction_is_logged_once(client, store):
    """Without a version the repetition is a duplicate. With the old version it is rejected."""
    read = {"If-Match": client.get(EVENT).headers["etag"]}
    first = client.put(EVENT, json=event(1, "cab"), headers=read).json()
    logged = store.version("main")
    again = client.put(EVENT, json=event(1, "cab"))
    assert again.status_code == 200
    assert again.json() == first | {"duplicate": True, "rerated": 0}
    assert client.put(EVENT, json=event(1, "cab"), headers=read).status_code == 412
    client.post(f"{EVENT}/void")
    assert client.post(f"{EVENT}/void").json()["duplicate"]
    assert store.version("main") == logged + 1
    moved = client.put(EVENT, json=event(1, "cab", minute=7)).json()
    assert not moved["duplicate"]
    assert client.put(EVENT, json=event(1, "cab")).json()["duplicate"] is False
    assert store.version("main") == logged + 3
    assert store.verify() == []


@pytest.mark.parametrize("dry_run", ["true", "false"])
def test_every_correction_of_an_outdated_version_is_rejected(client, store, dry_run):
    """This includes a correction that somebody else has already made."""
    path = {"void": f"{EVENT}/void", "unvoid": f"{EVENT}/unvoid"}
    read = client.get(EVENT).headers["etag"]
    outdated = {"headers": {"If-Match": read}, "params": {"dry_run": dry_run}}
    client.post(path["void"])
    logged = store.version("main")
    assert client.post(path["void"], **outdated).status_code == 412
    assert client.post(path["unvoid"], **outdated).status_code == 412
    assert client.put(EVENT, json=event(1, "abc"), **outdated).status_code == 412
    voided = client.get(EVENT).headers["etag"]
    client.post(path["unvoid"])
    assert client.post(path["unvoid"], headers={"If-Match": voided}).status_code == 412
    assert client.post(path["unvoid"], headers={"If-Match": read}).json()["duplicate"]
    assert store.version("main") == logged + 1
    for tag in (f"W/{read}", '"none"'):  # a weak tag and an unknown one match no version
        assert client.put(EVENT, json=event(1, "abc"), headers={"If-Match": tag}).status_code == 412
