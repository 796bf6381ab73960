"""Write the types of the service's answers for its clients: `answers.py` and its neighbours in `podium.client`.

    python docs/answers.py

They follow from the OpenAPI document, as `TypedDict`. Never edit them by hand.
"""

import json
import re
import tempfile
import textwrap
from collections.abc import Iterable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parents[1] / "src" / "podium" / "client"
MODULES = {  # by the tag of the operations whose answers are in none of those before
    None: ("answers", "The service's answers"),
    "chances": ("chance_answers", "The service's answers about chances and upcoming races"),
    "pages": ("page_answers", "The service's answers with what pages show"),
}
TOGETHER = {"fixtures": "chances"}  # tags whose answers stand with those of another
TYPING = ("Literal", "NotRequired", "TypedDict")
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
    text = "\n\n\n".join(classes)
    origins = {"datetime": [*FORMATS.values()], "typing": [*TYPING]}
    own = {f"podium.client.{module}": names for module, names in known.items()}
    blocks = []
    code = re.sub(r'#.*|""".*?"""', "", text)  # descriptions use some of these names as words
    for block in (origins, own):
        used = {
            name: sorted(each for each in words if re.search(rf"\b{each}\b", code)) for name, words in block.items()
        }
        lines = [f"from {name} import {', '.join(words)}" for name, words in used.items() if words]
        blocks += ["\n".join(lines)] if lines else []
    return (
        "\n\n".join([f'"""{doc}, as `make docs` writes them from its OpenAPI document."""', *blocks])
        + f"\n\n\n{text}\n"
    )


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
            if tag == tag_of(document["paths"][path][method.lower()]):
                for name in REFERENCE.findall(str(schema)):
                    add(name, tag)
    known: dict[str, list[str]] = {}
    sources = {}
    for tag, (name, doc) in MODULES.items():
        sources[name] = module_source(doc, classes[tag].values(), known)
        known[name] = [*classes[tag]]
    return sources


def tag_of(operation: dict[str, Any]) -> str | None:
    """Return the tag whose module has an operation, if any."""
    tags = (TOGETHER.get(tag, tag) for tag in operation.get("tags", ()))
    return next((tag for tag in tags if tag in MODULES), None)


if __name__ == "__main__":
    for name, text in modules(openapi_document()).items():
        (FOLDER / f"{name}.py").write_text(text, encoding="utf-8")
