"""Write the types of the service's answers, for its clients: `src/podium/client/answers.py`.

    python docs/answers.py

They are what the OpenAPI document says of the answers, as `TypedDict`, and never written by hand.
"""

import json
import re
import tempfile
import textwrap
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

MODULE = Path(__file__).parents[1] / "src" / "podium" / "client" / "answers.py"
HEAD = '''"""The service's answers, as `make docs` writes them from its OpenAPI document."""

from datetime import date, datetime
from typing import Literal, NotRequired, TypedDict
'''
TYPES = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "null": "None"}
FORMATS = {"date-time": "datetime", "date": "date"}
WIDTH = 120
REFERENCE = re.compile(r"#/components/schemas/(\w+)")


def openapi_document() -> dict[str, Any]:
    """The service's OpenAPI document."""
    from podium.service import create_app
    from podium.store import Store

    with tempfile.TemporaryDirectory() as folder, closing(Store(f"{folder}/podium.db")) as store:
        document: dict[str, Any] = create_app(store).openapi()
        return document


def answers(document: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Every operation that succeeds with JSON: method, path, and the schema of the answer."""
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            success = min(code for code in operation["responses"] if code.startswith("2"))
            content = operation["responses"][success].get("content", {})
            if "application/json" in content:
                yield method.upper(), path, content["application/json"]["schema"]


def type_of(schema: dict[str, Any]) -> str:
    """A schema as a type.

    Raises:
        ValueError: it says nothing of the value.
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
    raise ValueError(f"the schema {schema} does not say what the value is")


def class_lines(name: str, schema: dict[str, Any]) -> list[str]:
    """The class of an object, its fields described: beside them, or above them where there is no room."""
    lines = [f"class {name}(TypedDict):", *textwrap.wrap(f'"""{schema["description"]}"""', WIDTH - 4), ""]
    for field, details in schema["properties"].items():
        kind, text = type_of(details), details["description"]
        line = f"{field}: {kind if field in schema.get('required', ()) else f'NotRequired[{kind}]'}"
        if len(f"    {line}  # {text}") <= WIDTH:
            lines.append(f"{line}  # {text}")
        else:
            lines += [*(f"# {part}" for part in textwrap.wrap(text, WIDTH - 6)), line]
    return [lines[0], *(f"    {each}" if each else "" for each in lines[1:])]


def source(document: dict[str, Any]) -> str:
    """The module: a class for every object in an answer, each after those that it contains."""
    schemas, classes = document["components"]["schemas"], {}

    def add(name: str) -> None:
        if name not in classes:
            for each in REFERENCE.findall(str(schemas[name])):
                add(each)
            classes[name] = "\n".join(class_lines(name, schemas[name]))

    for _, _, schema in answers(document):
        for name in REFERENCE.findall(str(schema)):
            add(name)
    return "\n\n\n".join([HEAD.rstrip(), *classes.values()]) + "\n"


if __name__ == "__main__":
    MODULE.write_text(source(openapi_document()), encoding="utf-8")
