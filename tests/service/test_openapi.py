"""The service against its OpenAPI document: valid and nearly valid requests get the documented answers."""

import importlib
import inspect
import json
import re
import sys
import typing
from datetime import UTC, datetime
from pathlib import Path

import jsonschema_rs
import pytest
import schemathesis
from extent import times
from hypothesis import HealthCheck, given, settings
from hypothesis.strategies import booleans
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import content_type_conformance, response_schema_conformance
from schemathesis.specs.openapi.checks import status_code_conformance as status_conformance
from starlette.testclient import TestClient

import podium
from podium.client.calls import Call
from podium.service import create_app
from podium.service.api import bodies
from podium.service.http.json import POOLS_PATH as POOLS
from podium.store import Store
from podium.store.keys import create_key
from podium.systems import find

EXAMPLES = times(5, 200)  # for each operation
PATIENCE_S = 60  # the first response of a kind can wait for a compiler
ROOT = Path(__file__).parents[2]
KNOWN = {
    "pool": "karts", "event_id": "race-1", "player": "ana", "match_id": "lobby-9", "season": "2025",
    "fixture_id": "race-9", "day": "2025-01-04", "table": "history", "kind": "csv", "secret": "podium_guessed",
    "number": 999_999_999, "report_id": "report-1", "answer": "accept", "by": "club",
}  # fmt: skip


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    store = Store(str(tmp_path_factory.mktemp("openapi") / "podium.db"))
    store.create_pool("karts", find("adaptive")(), points_scheme="f1", reports="50% 48h")
    for number in range(5):
        store.submit("karts", [
            {"event_id": f"race-{number}", "started_at": f"2025-01-0{1 + number}", "player": name, "position": place}
            for place, name in enumerate(("ana", "ben", "cleo"), start=1)
        ])  # fmt: skip
    store.register("karts", "lobby-9", ["ana", "ben"])
    store.plan_fixture("karts", "race-9", starts_at=datetime(2035, 1, 9, tzinfo=UTC), entrants=["ana", "ben"])
    store.begin_season("karts", "2025", datetime(2025, 1, 3, tzinfo=UTC), keep=0.5)
    store.keep_hindsight("karts")
    store.keep_hindsight("karts")
    app = create_app(store)
    app.state.key = create_key(store.engine, "admin", "admin")
    yield app
    store.close()


CHECKS = [not_a_server_error, status_conformance, content_type_conformance, response_schema_conformance]
DESTRUCTIVE = ("/merge", "/rename", "/anonymize", "/system")


@pytest.fixture(scope="module")
def operations(service):
    return [each.ok() for each in schemathesis.openapi.from_asgi("/api/openapi.json", service).get_all_operations()]


def test_existing_data_is_returned_as_documented(service, operations):
    """Every reading route returns existing data with status 200 and the documented schema."""
    reading = [each for each in operations if each.method == "get" and not each.path.endswith("/stream")]
    assert len(reading) > 15
    for operation in reading:
        names = {each.name: KNOWN[each.name] for each in operation.path_parameters}
        queries: dict[str, dict[str, object]] = {"compare": {"player": "ana", "other": "ben"}, "search": {"text": "an"}}
        queries["{pool}/stakes"] = {"entrants": ["ana", "ben"]}
        query = next((each for end, each in queries.items() if operation.path.endswith(f"/{end}")), {})
        case = operation.Case(
            path_parameters=names, query=query, headers={"Authorization": f"Bearer {service.state.key}"}
        )
        assert case.call_and_validate(checks=CHECKS, timeout=PATIENCE_S).status_code == 200


def test_every_operation_answers_as_documented(service, operations):
    assert len(operations) > 30

    def tried(operation):
        @settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
        @given(case=operation.as_strategy(), is_known=booleans())
        def send(case, is_known):
            if is_known and not operation.path.endswith(DESTRUCTIVE):  # an invented name rarely exists
                case.path_parameters |= {name: KNOWN[name] for name in case.path_parameters}
            if operation.path.endswith("/keys/{number}"):  # keep the key of this test
                case.path_parameters["number"] = KNOWN["number"]
            if case.path.endswith("/stream"):
                case.query["seconds"] = 0  # otherwise the stream would stay open
            case.headers["Authorization"] = f"Bearer {service.state.key}"
            case.call_and_validate(checks=CHECKS, timeout=PATIENCE_S)

        return send

    for operation in operations:
        tried(operation)()


def is_described(schema, schemas):
    """Return True if a schema describes a value down to its last field."""
    if "$ref" in schema:
        return is_described(schemas[schema["$ref"].rsplit("/", 1)[-1]], schemas)
    if "anyOf" in schema:
        return all(is_described(each, schemas) for each in schema["anyOf"])
    if schema.get("type") == "array":
        return is_described(schema["items"], schemas)
    if schema.get("type") == "object" and "properties" in schema:
        return all("description" in each and is_described(each, schemas) for each in schema["properties"].values())
    if schema.get("type") == "object":
        return is_described(schema["additionalProperties"], schemas)
    return schema.get("type") in ("string", "number", "integer", "boolean", "null")


def generator(name="answers"):
    """Import a script that writes a part of the clients, namely the types of responses or the routes."""
    sys.path.insert(0, str(ROOT / "docs"))
    try:
        return importlib.import_module(name)
    finally:
        sys.path.pop(0)


def test_every_response_is_described_to_its_last_field(service):
    document = service.openapi()
    found = {(method, path): schema for method, path, schema in generator().answers(document)}
    assert len(found) > 30
    vague = [each for each, schema in found.items() if not is_described(schema, document["components"]["schemas"])]
    assert vague == []


def test_the_clients_types_and_routes_match_the_document(service):
    document = service.openapi()
    sources = generator().modules(document) | generator("client_routes").routes(document)
    assert len(sources) == 7
    for name, source in sources.items():
        written = (ROOT / "src" / "podium" / "client" / f"{name}.py").read_text(encoding="utf-8")
        assert written == source, "run make docs"


FOR_WATCHERS = {("GET", "/healthz"), ("GET", "/readyz"), ("GET", "/metrics")}
FOR_GAME_SERVERS = {("POST", "/submit/xonstat"), ("POST", "/submit/xonstat/{secret}")}
NOT_IN_THE_CLIENTS = FOR_WATCHERS | FOR_GAME_SERVERS | {("GET", f"{POOLS}/{{pool}}/stream")}


def test_the_clients_have_every_route_with_its_response_type(service):
    """Each call must match an operation's method and path, and its name must match the operation's ID."""
    module, document = generator(), service.openapi()
    typed = {(method, path): module.type_of(schema) for method, path, schema in module.answers(document)}
    operations = {(method.upper(), path) for path, methods in document["paths"].items() for method in methods}
    calls, ids = {}, {}
    for name, build in inspect.getmembers(podium.Client, inspect.isfunction):
        needed = [each for each in inspect.signature(build).parameters.values() if each.default is each.empty]
        values = {
            "events": {},
            "event": {"event_id": "e"},
            "entrants": ["a", "b"],
            "players": [],
            "tickets": [],
            "keep": 0.5,
        }
        if not name.startswith("_") and name not in ("send", "close"):
            named = {each.name: values.get(each.name, "x") for each in needed[1:] if each.kind is not each.VAR_KEYWORD}
            call = build(None, **named)
            assert isinstance(call, Call)
            calls[call.method, f"/api/v1{call.path}"] = call.kind
            ids[call.method, f"/api/v1{call.path}"] = name
            assert set(re.findall(r"{(\w+)}", call.path)) == set(call.names)
    assert set(calls) == operations - NOT_IN_THE_CLIENTS
    assert ids == {key: document["paths"][key[1]][key[0].lower()]["operationId"] for key in calls}
    for operation, kind in calls.items():
        shown = kind.__name__ if isinstance(kind, type) and not typing.get_args(kind) else str(kind)
        assert re.sub(r"[a-z_]+\.", "", shown) == typed.get(operation, "bytes")


def test_operation_ids_are_the_names_of_their_functions(service):
    paths = service.openapi()["paths"]
    ids = {(name.upper(), path): each["operationId"] for path, known in paths.items() for name, each in known.items()}
    routes = [route for route in service.routes if getattr(route, "include_in_schema", False)]
    functions = {(method, route.path_format): route.endpoint.__name__ for route in routes for method in route.methods}
    assert ids == {key: functions[key] for key in ids}
    assert len(set(ids.values())) == len(ids)


RARE = {"BestEverBoard", "HindsightPoint", "GroupRank", "Match", "Places", "Equipment"}  # these need longer histories


def test_response_examples_fit_their_schemas(service):
    """`python docs/answers.py` records them."""
    document = service.openapi()
    schemas = document["components"]["schemas"]
    shown = {each.get("items", each).get("$ref", "").rpartition("/")[2] for *_, each in generator().answers(document)}
    assert {name for name in shown - {""} if "examples" not in schemas[name]} <= RARE
    for name in shown - {""} - RARE:
        validator = jsonschema_rs.validator_for(
            {"$ref": f"#/components/schemas/{name}", "components": {"schemas": schemas}}
        )
        assert [each.message for each in validator.iter_errors(schemas[name]["examples"][0])] == [], name


def test_bodies_name_the_limits_of_texts(service):
    fields = service.openapi()["components"]["schemas"]["NewPool"]["properties"]
    texts = {name: fields[name].get("anyOf", [fields[name]])[0] for name in ("name", "title", "contact", "player_word")}
    limits = {name: text["maxLength"] for name, text in texts.items()}
    assert limits == {"name": 200, "title": 200, "contact": 500, "player_word": 40}


def test_request_examples_belong_to_bodies(service):
    assert bodies.EXAMPLES.keys() <= service.openapi()["components"]["schemas"].keys()


def test_each_operation_says_which_key_it_needs(service):
    document = service.openapi()
    assert document["servers"] == [{"url": "/"}]
    assert document["components"]["securitySchemes"]["key"]["scheme"] == "bearer"
    client = TestClient(service)
    service.state.key_guard._budgets.take = take_nothing  # do not limit rejected requests in this test
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            open_to_all = operation["security"] == [] or {} in operation["security"]
            address = path.format_map(KNOWN)
            if "/stream" not in path and "/submit/" not in path:
                status = client.request(method, address).status_code
                is_refused = status in (401, 403)
                assert is_refused if not open_to_all else operation["security"] or not is_refused, (method, path)
            if {} in operation["security"]:
                assert "{pool}" in path


async def take_nothing(*_):
    return 0


def test_webhooks_send_documented_fields(service):
    schemas = service.openapi()["components"]["schemas"]
    body = service.openapi()["webhooks"]["log-entry"]["post"]["requestBody"]["content"]["application/json"]["schema"]
    validator = jsonschema_rs.validator_for(body | {"components": {"schemas": schemas}})
    entries = service.state.store.news("karts", 0)
    assert {"submit", "register", "season"} <= {each["kind"] for each in entries}
    fields = {*schemas["LogEntry"]["properties"]}
    for each in entries:
        sent = json.loads(json.dumps({"pool": "karts"} | each))
        assert [error.message for error in validator.iter_errors(sent)] == []
        assert {*sent} <= fields


def test_the_documents_examples_are_accepted(service):
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
