"""Write the types of the service's answers for its clients: `answers.py` and its neighbours in `podium.client`.

Also record an example of each answer for the OpenAPI document.

    python docs/answers.py

They follow from the OpenAPI document, as `TypedDict`. Never edit them by hand.
"""

import json
import re
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Iterable, Iterator
from contextlib import closing
from datetime import UTC, datetime
from http import HTTPStatus
from pathlib import Path
from typing import Any

from podium.service.api import pages
from podium.service.http.json import POOLS_PATH

SOURCE = Path(__file__).parents[1] / "src" / "podium"
FOLDER = SOURCE / "client"
EXAMPLES = SOURCE / "service" / "api" / "examples.json"
MODULES = {  # of answers that are not in an earlier module, by the group of their operations
    None: ("answers", "The service's answers"),
    "chances": ("chance_answers", "The service's answers about chances and upcoming races"),
    "pages": ("page_answers", "The service's answers about pages, rankings and reports"),
}
TAGS = {"Predictions": "chances", "Upcoming races": "chances", "Earlier ranks": "pages", "Players' reports": "pages"}
PAGES = {route.name for route in pages.router.routes}
IMPORTS = ("from datetime import date, datetime", "from typing import Literal, NotRequired, TypedDict")
TYPES = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "null": "None"}
FORMATS = {"date-time": "datetime", "date": "date"}
WIDTH = 120
REFERENCE = re.compile(r"#/components/schemas/(\w+)")


def openapi_document() -> dict[str, Any]:
    """Return the service's OpenAPI document."""
    from podium.service import create_app
    from podium.store import Store

    with tempfile.TemporaryDirectory() as folder, closing(Store(f"{folder}/podium.db")) as store:
        document: dict[str, Any] = create_app(store).openapi()
        return document


def answers(document: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Yield every operation that answers with JSON: method, path, and the schema of the answer."""
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            success = min(code for code in operation["responses"] if code.startswith("2"))
            content = operation["responses"][success].get("content", {})
            if "application/json" in content:
                yield method.upper(), path, content["application/json"]["schema"]


# Values in example requests for a pool with three races.
NAMES = {
    "pool": "karts", "event_id": "race-2", "player": "ana", "match_id": "lobby-9", "season": "2026",
    "fixture_id": "race-18", "day": "2025-06-02", "other": "ben", "text": "an", "entrants": ["ana", "ben"],
    "before": True,
}  # fmt: skip
ENDS = "void", "merge", "rename", "anonymize", "cancel", "order"  # of paths that change the answers of other paths
FINISHES = ("ana", "ben", "cleo"), ("ben", "ana", "cleo"), ("ana", "cleo", "ben"), ("cleo", "ben", "ana")
MAX_ITEMS = 2  # of a list in an example


def recorded_examples() -> dict[str, Any]:
    """Return an answer of a small pool for each schema of an answer."""
    from starlette.testclient import TestClient

    from podium.service import create_app
    from podium.store import Store
    from podium.store.keys import create_key

    found: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder, closing(Store(f"{folder}/podium.db")) as store:
        app = create_app(store)
        document = app.openapi()
        schemas = document["components"]["schemas"]
        headers = {"Authorization": f"Bearer {create_key(store.engine, 'docs', 'admin')}"}
        with TestClient(app, headers=headers) as client:
            request = schemas["NewPool"]["examples"][0]
            note_example(found, document["paths"][POOLS_PATH]["post"], client.post(POOLS_PATH, json=request))
        store.describe_pool("karts", points_scheme="f1", reports="50% 48h")
        store.submit("karts", [  # a year of weekly races, after which ratings change little
            {"event_id": f"2024-{week}", "started_at": f"2024-{week // 4 + 1:02}-{week % 4 * 7 + 1:02}"}
            | {"player": name, "position": place}
            for week in range(48)
            for place, name in enumerate(FINISHES[week % len(FINISHES)], start=1)
        ])  # fmt: skip
        for number, winner in enumerate(("ana", "ben", "ana"), start=1):
            rest = [name for name in ("ana", "ben", "cleo") if name != winner]
            store.submit("karts", [
                {"event_id": f"race-{number}", "started_at": f"2025-06-0{number}", "player": name, "position": place}
                for place, name in enumerate((winner, *rest), start=1)
            ])  # fmt: skip
        store.register("karts", "lobby-9", ["ana", "ben"])
        ana, *_ = store.change_links("karts", "give")
        player = store.player_with("karts", ana.path.rpartition("/")[2])
        rows = [{"event_id": "e", "player": name, "position": place} for place, name in enumerate(("ana", "ben"), 1)]
        today = datetime.now(UTC).isoformat()
        store.add_report("karts", player, [row | {"started_at": today} for row in rows], form="1")
        operations = [
            (method, path, operation)
            for path, methods in document["paths"].items()
            for method, operation in methods.items()
            if method != "delete" and not path.endswith("/stream")
        ]
        operations.sort(key=lambda each: (each[1].endswith(ENDS), each[0] == "get"))
        with TestClient(app, headers=headers) as client:
            for method, path, operation in operations:
                if {*re.findall(r"{(\w+)}", path)} <= {*NAMES}:
                    named = [each["name"] for each in operation.get("parameters", ()) if each["in"] == "query"]
                    models = REFERENCE.findall(str(operation.get("requestBody")))
                    body = schemas[models[0]]["examples"][0] if models else None
                    sent = {name: NAMES[name] for name in named if name in NAMES}
                    answer = client.request(method, path.format_map(NAMES), params=sent, json=body)
                    note_example(found, operation, answer)
    return dict(sorted(found.items()))


def note_example(found: dict[str, Any], operation: dict[str, Any], answer: Any) -> None:
    """Keep an answer as the example of its schema, if it is the first one."""
    content = operation["responses"].get(str(answer.status_code), {}).get("content", {}).get("application/json")
    schema = content["schema"] if content and answer.status_code < HTTPStatus.MULTIPLE_CHOICES else {}
    value = answer.json() if schema else None
    if schema.get("type") == "array" and value:
        schema, value = schema["items"], value[0]
    if "$ref" in schema and isinstance(value, dict):
        if "secret" in value:
            value["secret"] = "shown once"  # noqa: S105  (none)
        found.setdefault(type_of(schema), shortened(value))


def shortened(value: Any) -> Any:
    """Return a JSON value with short lists and rounded numbers."""
    if isinstance(value, float):
        return round(value, 3)
    if isinstance(value, dict):
        return {name: shortened(item) for name, item in value.items()}
    return [shortened(item) for item in value[:MAX_ITEMS]] if isinstance(value, list) else value


def type_of(schema: dict[str, Any]) -> str:
    """Return a schema as a type.

    Raises:
        ValueError: the schema has no type.
    """
    if "$ref" in schema:
        return schema["$ref"].rsplit("/", 1)[-1]
    if "anyOf" in schema:
        return " | ".join(type_of(each) for each in schema["anyOf"])
    if "enum" in schema:
        return f"Literal[{', '.join(json.dumps(each) for each in schema['enum'])}]"
    if schema.get("type") == "array":
        return f"list[{type_of(schema['items'])}]"
    if schema.get("type") == "object" and isinstance(schema.get("additionalProperties"), dict):
        return f"dict[str, {type_of(schema['additionalProperties'])}]"
    if schema.get("type") in TYPES:
        return FORMATS.get(schema.get("format", ""), TYPES[schema["type"]])
    raise ValueError(f"The schema {schema} has no type. Describe the value in the model.")


def class_lines(name: str, schema: dict[str, Any]) -> list[str]:
    """Return the class of an object, with each field's description after the field, or above it if it is long."""
    lines = [f"class {name}(TypedDict):", *textwrap.wrap(f'"""{schema["description"]}"""', WIDTH - 4), ""]
    for field, details in schema["properties"].items():
        kind, text = type_of(details), details["description"]
        line = f"{field}: {kind if field in schema.get('required', ()) else f'NotRequired[{kind}]'}"
        if len(f"    {line}  # {text}") <= WIDTH:
            lines.append(f"{line}  # {text}")
        else:
            lines += [*(f"# {part}" for part in textwrap.wrap(text, WIDTH - 6)), line]
    return [lines[0], *(f"    {each}" if each else "" for each in lines[1:])]


def module_source(doc: str, classes: Iterable[str], known: dict[str, list[str]]) -> str:
    """Return the source of a module of classes, with the imports that they need.

    Args:
        known: the classes of other modules, by module.
    """
    own = [f"from podium.client.{module} import {', '.join(names)}" for module, names in known.items()]
    head = f'"""{doc}, as `make docs` writes them from its OpenAPI document."""\n\n' + "\n".join([*IMPORTS, *own])
    return tidied("\n\n\n".join([head, *classes]))


def tidied(source: str) -> str:
    """Return source as the formatter writes it, without unused imports."""
    ruff = Path(sys.executable).with_name("ruff")
    for words in (("check", "--quiet", "--select", "F401,I", "--fix"), ("format", "--quiet")):
        source = subprocess.run([ruff, *words, "-"], input=source, capture_output=True, text=True, check=True).stdout
    return source


def modules(document: dict[str, Any]) -> dict[str, str]:
    """Return the modules by name. Each class follows the classes that it contains."""
    schemas = document["components"]["schemas"]
    classes: dict[str | None, dict[str, str]] = {tag: {} for tag in MODULES}

    def add(name: str, tag: str | None) -> None:
        if not any(name in known for known in classes.values()):
            for each in REFERENCE.findall(str(schemas[name])):
                add(each, tag)
            classes[tag][name] = "\n".join(class_lines(name, schemas[name]))

    for tag in MODULES:
        for method, path, schema in answers(document):
            if tag == group_of(document["paths"][path][method.lower()]):
                for name in REFERENCE.findall(str(schema)):
                    add(name, tag)
    known: dict[str, list[str]] = {}
    sources = {}
    for tag, (name, doc) in MODULES.items():
        sources[name] = module_source(doc, classes[tag].values(), known)
        known[name] = [*classes[tag]]
    return sources


def group_of(operation: dict[str, Any]) -> str | None:
    """Return the group whose module has the answer of an operation."""
    return "pages" if operation["operationId"] in PAGES else TAGS.get(operation["tags"][0])


if __name__ == "__main__":
    EXAMPLES.write_text(json.dumps(recorded_examples(), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    for name, text in modules(openapi_document()).items():
        (FOLDER / f"{name}.py").write_text(text, encoding="utf-8")
