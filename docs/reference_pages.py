"""The pages of the reference that are read from the code: Python's public names, and the addresses of the service."""

import inspect
from collections.abc import Iterator
from types import ModuleType
from typing import Any

from answers import openapi_document, type_of

import podium
import podium.sklearn

NAMES_OF = {  # the names that a group has; every other one is under the last title
    "Rating": (
        "rate",
        "Rated",
        "rate_parts",
        "rate_pools",
        "predict",
        "Live",
        "RatedEvent",
        "PlayerChange",
        "Explanation",
        "WhatIf",
        "Stakes",
        "Forecast",
    ),
    "Results": ("read_results", "from_matches", "Results"),
    "Science": (
        "evaluate",
        "Evaluation",
        "Window",
        "tune",
        "Tuned",
        "audit",
        "Audit",
        "simulate",
        "Scenario",
        "Simulated",
    ),
    "Charts, and systems of your own": ("plot", "check_system", "SystemCheck"),
    "The client of the service": ("Client", "AsyncClient"),
    "Errors": (),
}


def python_page() -> str:
    """Every public name, for Sphinx to describe: `podium` is lazy, so that `automodule` would find none of them."""
    grouped = {name for names in NAMES_OF.values() for name in names}
    lines = ["# Python", "", "Everything in `podium.__all__`, and the classifier for scikit-learn.", ""]
    for title, names in NAMES_OF.items():
        chosen = names or tuple(name for name in podium.__all__ if name not in grouped)
        lines += [f"## {title}", "", *(line for name in chosen for line in directive(podium, name))]
    lines += ["## For scikit-learn", "", *directive(podium.sklearn, "DuelClassifier", "fit, predict_proba, predict")]
    return "\n".join(lines).rstrip() + "\n"


def directive(module: ModuleType, name: str, members: str = "") -> list[str]:
    """What has a name described, and of a class these members; all that are public where none are named."""
    described = getattr(module, name)
    if not inspect.isclass(described):
        kind, options = "autofunction", []
    elif issubclass(described, Exception):
        kind, options = "autoexception", [":show-inheritance:"]
    else:
        inherits = name.endswith("Client") or name in ("Rated", "Live")  # the client's routes; where players stand
        inherited = [":inherited-members:"] if inherits else []
        kind, options = "autoclass", [f":members: {members}".rstrip(), *inherited]
    return ["```{eval-rst}", f".. {kind}:: {module.__name__}.{name}", *(f"   {each}" for each in options), "```", ""]


def http_page() -> str:
    """Every address of the service, from its OpenAPI document."""
    document = openapi_document()
    operations = [
        (method.upper(), path, operation)
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
    ]
    refusals = common_refusals([operation for _, _, operation in operations])
    lines = [
        "# HTTP",
        "",
        "The addresses of `podium serve`, from the document that it serves at `/api/openapi.json`; `/api/docs` has",
        "them with examples. Requests have `Authorization: Bearer KEY`, bodies are JSON.",
        "",
        "Most of them may also answer:",
        "",
        "| status | meaning |",
        "|---|---|",
        *(f"| {status} | {in_a_cell(meaning)} |" for status, meaning in refusals.items()),
        "",
    ]
    for tag in dict.fromkeys(operation["tags"][0] for _, _, operation in operations):
        lines += [f"## {tag.capitalize()}", ""]
        for method, path, operation in operations:
            if operation["tags"][0] == tag:
                lines += [*operation_lines(method, path, operation, refusals), ""]
    lines += ["## What goes in and out", ""]
    for name, schema in sorted(document["components"]["schemas"].items()):
        if "properties" in schema:
            lines += [*schema_lines(name, schema), ""]
    return "\n".join(lines).rstrip() + "\n"


def common_refusals(operations: list[dict[str, Any]]) -> dict[str, str]:
    """The refusals of most operations: status and meaning, which is the same in each."""
    every = [dict(refusals_of(operation)) for operation in operations]
    meanings = {status: meaning for each in every for status, meaning in each.items()}
    return {
        status: meaning
        for status, meaning in sorted(meanings.items())
        if sum(each.get(status) == meaning for each in every) > len(every) / 2
    }


def refusals_of(operation: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Every refusal: status and meaning."""
    for status, answer in operation["responses"].items():
        if not status.startswith("2"):
            yield status, answer["description"]


def operation_lines(method: str, path: str, operation: dict[str, Any], refusals: dict[str, str]) -> Iterator[str]:
    """What an operation does, takes and answers."""
    yield f"### `{method} {path}`"
    yield ""
    yield in_a_cell(operation.get("description", operation["summary"]))
    yield ""
    parameters = operation.get("parameters", [])
    body = operation.get("requestBody")
    if body:
        kinds = ", ".join(linked(content["schema"]) for content in body["content"].values())
        yield f"Body: {kinds}{'' if body.get('required') else ', or none'}."
        yield ""
    if parameters:
        yield "| parameter | in | type | default | meaning |"
        yield "|---|---|---|---|---|"
        for each in parameters:
            schema = each["schema"]
            default = "required" if each["required"] else shown(schema.get("default"))
            meaning = in_a_cell(each.get("description", ""))
            yield f"| `{each['name']}` | {each['in']} | {linked(schema)} | {default} | {meaning} |"
        yield ""
    yield "| status | answer |"
    yield "|---|---|"
    for status, answer in sorted(operation["responses"].items()):
        if status.startswith("2"):
            contents = answer.get("content", {})
            kinds = [linked(each["schema"]) if each.get("schema") else f"`{kind}`" for kind, each in contents.items()]
            yield f"| {status} | {', '.join(kinds) or 'nothing'} |"
        elif refusals.get(status) != answer["description"]:
            yield f"| {status} | {answer['description']} |"


def schema_lines(name: str, schema: dict[str, Any]) -> Iterator[str]:
    """The fields of a body."""
    yield f"### {name}"
    yield ""
    if schema.get("description"):
        yield in_a_cell(schema["description"])
        yield ""
    yield "| field | type | default | meaning |"
    yield "|---|---|---|---|"
    for field, each in schema["properties"].items():
        default = "required" if field in schema.get("required", ()) else shown(each.get("default"))
        yield f"| `{field}` | {linked(each)} | {default} | {in_a_cell(each.get('description', ''))} |"


def linked(schema: dict[str, Any]) -> str:
    """A type, with a link where it is described below."""
    if "$ref" in schema:
        name = type_of(schema)
        return f"[{name}](#{name.lower()})"
    if "anyOf" in schema:
        return " or ".join(linked(each) for each in schema["anyOf"])
    if schema.get("type") == "array":
        return f"list of {linked(schema.get('items', {}))}"
    if "enum" in schema:
        return ", ".join(f"`{each}`" for each in schema["enum"])
    if "const" in schema:
        return f"`{schema['const']}`"
    return {"null": "nothing"}.get(schema.get("type", ""), schema.get("format") or schema.get("type") or "anything")


def shown(default: object) -> str:
    """A default in a cell."""
    return "" if default is None else f"`{default}`"


def in_a_cell(text: str) -> str:
    """A text on one line, whose bars part no cells."""
    return " ".join(text.split()).replace("|", "\\|")
