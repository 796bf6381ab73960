"""HTTP routes that read players, events and pools return the store's values, with types in both clients."""

from dataclasses import asdict
from datetime import date

import httpx2
import pytest
from races import rows
from starlette.testclient import TestClient

import podium
from podium.client import ClientError
from podium.service import create_app
from podium.store.keys import create_key
from podium.systems import find


class Inside(httpx2.BaseTransport):
    """A transport that hands requests to the service in this process."""

    def __init__(self, app):
        self.client = TestClient(app)

    def handle_request(self, request):
        answer = self.client.request(request.method, str(request.url), headers=dict(request.headers))
        headers = {"content-type": answer.headers["content-type"]}
        return httpx2.Response(answer.status_code, content=answer.content, headers=headers)


@pytest.fixture
def store(sqlite_store):
    sqlite_store.create_pool("main", find("trials")())
    for number in range(7):
        sqlite_store.submit("main", rows(number, ["ana", "ben", "雪"][:: (-1) ** number], minute=1440 * number))
    sqlite_store.void("main", "e3", reason="rain")
    return sqlite_store


def as_json(value):
    """Return a read model as the client sees it, with lists instead of tuples."""
    if isinstance(value, dict):
        omitted = {"sequence", "last_sequence", "first_sequence", "since_sequence", "details"}  # if they are None
        return {name: as_json(each) for name, each in value.items() if each is not None or name not in omitted}
    return [as_json(each) for each in value] if isinstance(value, list | tuple) else value


def test_clients_return_the_values_of_the_store(store):
    key = create_key(store.engine, "reader", "read")
    with podium.Client("http://testserver", key, transport=Inside(create_app(store))) as client:
        assert client.player_card("main", "雪") == as_json(asdict(store.player_card("main", "雪")))
        curve = client.rating_curve("main", "ana")
        assert curve == [as_json(asdict(each)) for each in store.rating_curve("main", "ana")]
        day = curve[2]["started_at"].date()
        assert client.rating_curve("main", "ana", since=day) == [
            each for each in curve if each["started_at"].date() >= day
        ]
        assert client.rating_curve("main", "ana", since=date(2100, 1, 1)) == []
        page = client.player_changes("main", "ana", top=4)
        assert page == as_json(asdict(store.player_changes("main", "ana", top=4)))
        rest = client.player_changes("main", "ana", cursor=page["next"])
        assert [row["event_id"] for row in page["rows"] + rest["rows"]] == ["e6", "e5", "e4", "e2", "e1", "e0"]
        assert client.rivals("main", "ana") == as_json(asdict(store.rivals("main", "ana")))
        assert client.event_field("main", "e2") == as_json(asdict(store.event_field("main", "e2")))
        record = client.event_record("main", "e3")
        assert record == [as_json(asdict(each)) for each in store.event_record("main", "e3")]
        assert [each["reason"] for each in record] == [None, "rain"]
        assert client.facts("main") == as_json(asdict(store.pool_facts("main")))
        fair = client.fair_expectation("main", "e2", "ben")
        assert fair == as_json(asdict(store.fair_expectation("main", "e2", "ben")))
        for refused, status in (
            (lambda: client.player_card("main", "nobody"), 404),
            (lambda: client.rivals("other", "ana"), 404),
            (lambda: client.event_field("main", "e3"), 404),
            (lambda: client.player_changes("main", "ana", cursor="x"), 422),
            (lambda: client.rating_curve("main", "ana", since="soon"), 422),
            (lambda: client.rating_curve("main", "ana", most=3), 422),
        ):
            with pytest.raises(ClientError) as error:
                refused()
            assert error.value.status == status
