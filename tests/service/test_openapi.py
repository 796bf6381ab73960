"""The OpenAPI document against the service: whatever fits it, or nearly does, is answered as it says."""

import pytest
import schemathesis
from conftest import times
from hypothesis import HealthCheck, given, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import content_type_conformance, response_schema_conformance
from schemathesis.specs.openapi.checks import status_code_conformance as status_conformance

from podium.service import create_app
from podium.store import Store
from podium.store.keys import create_key
from podium.systems import find

EXAMPLES = times(12, 200)  # of every operation


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    store = Store(str(tmp_path_factory.mktemp("openapi") / "podium.db"))
    store.create_pool("karts", find("elo")())
    for number in range(5):
        store.submit("karts", [
            {"event_id": f"race-{number}", "started_at": f"2025-01-0{1 + number}", "player": name, "position": place}
            for place, name in enumerate(("ana", "ben", "cleo"), start=1)
        ])  # fmt: skip
    store.register("karts", "lobby-9", ["ana", "ben"])
    app = create_app(store)
    app.state.key = create_key(store.engine, "admin", "admin")
    yield app
    store.close()


CHECKS = [not_a_server_error, status_conformance, content_type_conformance, response_schema_conformance]
SHARDS = 4


@pytest.mark.parametrize("shard", range(SHARDS))
def test_every_operation_answers_as_documented(shard, service):
    document = schemathesis.openapi.from_asgi("/api/openapi.json", service)
    operations = [found.ok() for found in document.get_all_operations()]
    assert len(operations) > 30

    def tried(operation):
        @settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
        @given(case=operation.as_strategy())
        def ask(case):
            if case.path.endswith("/stream"):
                case.query["seconds"] = 0  # it would stay open
            case.headers["Authorization"] = f"Bearer {service.state.key}"
            case.call_and_validate(checks=CHECKS)

        return ask

    for operation in operations[shard::SHARDS]:
        tried(operation)()


def test_examples_of_the_document_are_taken(service):
    """What the document shows can be sent as it is."""
    from starlette.testclient import TestClient

    headers = {"Authorization": f"Bearer {service.state.key}"}
    schemas = service.openapi()["components"]["schemas"]
    example = schemas["Event"]["examples"][0]
    with TestClient(service, headers=headers) as client:
        assert client.post("/api/v1/pools/karts/events", json=example).status_code in (200, 201)
        assert (
            client.post("/api/v1/pools/karts/predict", json=schemas["PredictRequest"]["examples"][0]).status_code == 200
        )
        assert client.post("/api/v1/pools/karts/matchmaking", json=schemas["Tickets"]["examples"][0]).status_code == 200
        assert client.post("/api/v1/pools", json=schemas["NewPool"]["examples"][0] | {"name": "x"}).status_code == 201
