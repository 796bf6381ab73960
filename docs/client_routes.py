"""Write the routes of the service's clients: the modules of `CLASSES` in `podium.client`.

They follow from the OpenAPI document, and `make docs` runs this file after `answers.py`. `podium.client.custom` has the
few routes whose arguments differ from their requests.
"""

import re
import textwrap
from typing import Any, NamedTuple

from answers import FOLDER, PAGES, WIDTH, modules, openapi_document, tidied, type_of

from podium.client.calls import IN_QUERY

PREFIX = "/api/v1"
CLASSES = {
    "reads": ("ReadRoutes", "The routes that read pools"),
    "pages": ("PageRoutes", "The routes that read pages and upcoming races"),
    "writes": ("WriteRoutes", "The routes that change pools"),
    "reports": ("ReportRoutes", "The routes for players' links and reports"),
}
CONVERTED = {"Rerated": ("int", "rerated"), "NewName": ("None", "nothing")}  # reduced by the client
POSITIONAL = {("create_key", "role"), ("fixture_stakes", "player")}  # positional although they have defaults
DATES = ("at", "day", "since")  # texts that may also be times or dates
HEAD = '''"""{doc}, as `make docs` writes them from the service's OpenAPI document."""

from collections.abc import Iterable
from datetime import date
from typing import Literal

{answers}
from podium.client.calls import Entrants, Moment, nothing, rerated, sends


class {name}:
    """{doc}."""

'''


class Argument(NamedTuple):
    """An argument of a route: its name, its type, its default if it has one, and its description."""

    name: str
    kind: str
    default: str | None
    description: str


DRY_RUN = Argument("dry_run", "bool", "False", "Save nothing.")
VERSION = Argument("version", "str | None", "None", "Version that the event had. Fail with 412 if it has changed.")


def argument(name: str, details: dict[str, Any], *, is_required: bool) -> Argument:
    """Return a parameter or a field of a body as an argument."""
    choices = [each for each in details.get("anyOf", [details]) if each.get("type") != "null"]
    schema, description = choices[0], details.get("description", "")
    default = details.get("default")
    if name in ("entrants", "players"):
        kind = "Entrants"
    elif schema["type"] == "array":
        kind, default = f"Iterable[{type_of(schema['items'])}]", ()
    elif schema.get("format") == "date-time":
        kind, default = "Moment", None  # the service has the same default
    else:
        kind = "date | str" if name in DATES else type_of(schema)
    if is_required:
        return Argument(name, kind, None, description)
    return Argument(name, f"{kind} | None" if default is None else kind, repr(default), description)


def fields(operation: dict[str, Any], schemas: dict[str, Any]) -> list[Argument]:
    """Return the fields of the body of a request."""
    if "requestBody" not in operation:
        return []
    schema = operation["requestBody"]["content"]["application/json"]["schema"]
    model = schemas[type_of(schema)]
    return [
        argument(name, each, is_required=name in model.get("required", ()))
        for name, each in model["properties"].items()
    ]


def parameters(operation: dict[str, Any], place: str) -> list[Argument]:
    """Return the parameters of a request in its path or in its query."""
    return [
        argument(each["name"], each["schema"], is_required=each.get("required", False))
        for each in operation.get("parameters", ())
        if each["in"] == place and (each["name"], each["schema"].get("type")) != ("since", "integer")
    ]


def answer_of(operation: dict[str, Any]) -> tuple[str, str, str]:
    """Return the type of the JSON in the answer, what a method returns, and the function that converts it, if any."""
    success = next(code for code in operation["responses"] if code.startswith("2"))
    content = operation["responses"][success].get("content", {})
    if not content:
        return "bytes", "None", "nothing"
    kind = type_of(content["application/json"]["schema"])
    return kind, *CONVERTED.get(kind, (kind, ""))


def returned(kind: str, schemas: dict[str, Any]) -> list[str]:
    """Return the lines of a docstring about an answer."""
    name = kind.removeprefix("list[").removesuffix("]")
    if name == "Rerated":
        text = "Number of history rows that changed, or would change."
    elif name not in schemas:
        text = "The list."
    else:
        text = str(schemas[name]["description"])
        if name != kind:
            text = f"A list. Each item is {text[0].lower()}{text[1:]}"
        text += f" It has the fields `{', '.join(schemas[name]['properties'])}`."
    return ["", "Returns:", *wrapped(text, "    ")]


def wrapped(text: str, indent: str = "") -> list[str]:
    """Return the lines of a text in the docstring of a method."""
    return textwrap.wrap(" ".join(text.split()), WIDTH - 8, initial_indent=indent, subsequent_indent=indent)


def docstring(operation: dict[str, Any], given: list[Argument], schemas: dict[str, Any]) -> str:
    """Return the docstring of a route, indented for a method."""
    kind, result, _ = answer_of(operation)
    lines = [line for text in operation["description"].split("\n\n") for line in ["", *wrapped(text)]][1:]
    described = [each for each in given if each.description and each.name != "pool"]
    lines += ["", "Args:"] if described else []
    for each in described:
        lines += textwrap.wrap(
            f"{each.name}: {each.description}", WIDTH - 8, initial_indent="    ", subsequent_indent=" " * 8
        )
    lines += returned(kind, schemas) if result != "None" else []
    end = [""] if len(lines) > 1 else []
    return textwrap.indent("\n".join(['"""' + lines[0], *lines[1:], *end]) + '"""', " " * 8)


def method_source(verb: str, path: str, operation: dict[str, Any], schemas: dict[str, Any]) -> str:
    """Return the source of the method that calls a route."""
    name = operation["operationId"]
    kind, result, conversion = answer_of(operation)
    of_path, of_query = parameters(operation, "path"), parameters(operation, "query")
    of_body = fields(operation, schemas)
    if kind == "Rerated":  # the client returns only a number
        of_query = [each for each in of_query if each.name not in ("dry_run", "effects_after")] + [DRY_RUN]
    has_version = any(each["in"] == "header" for each in operation.get("parameters", ()))
    given = [*of_path, *of_body, *of_query, *([VERSION] if has_version else [])]
    first = [each for each in given if each.default is None or (name, each.name) in POSITIONAL]
    named = [each for each in given if each not in first]
    heads = ["self", *map(declaration, first), *(["*", *map(declaration, named)] if named else [])]

    if (verb != "get" and {each.name for each in of_query} - IN_QUERY) or {each.name for each in of_body} & IN_QUERY:
        raise ValueError(f"{name}: `sends` would not know what belongs into the query and what into the body")
    words = [f'"{verb.upper()} {path.removeprefix(PREFIX)}"', *([kind, conversion] if conversion else [])]
    head = f"    @sends({', '.join(words)})\n    def {name}({', '.join(heads)}) -> {result}:"
    return f"{head}\n{docstring(operation, given, schemas)}\n"


def declaration(each: Argument) -> str:
    """Return an argument as the source in the head of a method."""
    return f"{each.name}: {each.kind}" + ("" if each.default is None else f" = {each.default}")


def routes(document: dict[str, Any]) -> dict[str, str]:
    """Return the modules of routes by name."""
    custom = re.findall(r"^    def (\w+)", (FOLDER / "custom.py").read_text(encoding="utf-8"), re.MULTILINE)
    methods: dict[str, list[str]] = {module: [] for module in CLASSES}
    for path, verbs in document["paths"].items():
        for verb, operation in verbs.items():
            if path.startswith(PREFIX) and operation["operationId"] not in ("stream", *custom):
                source = method_source(verb, path, operation, document["components"]["schemas"])
                methods[module_of(verb, operation)].append(source)
    types = {module: re.findall(r"^class (\w+)", source, re.MULTILINE) for module, source in modules(document).items()}
    imports = "\n".join(f"from podium.client.{module} import {', '.join(names)}" for module, names in types.items())
    return {
        module: tidied(HEAD.format(doc=doc, name=name, answers=imports) + "\n".join(methods[module]))
        for module, (name, doc) in CLASSES.items()
    }


def module_of(verb: str, operation: dict[str, Any]) -> str:
    """Return the module that has a route."""
    if "Players' reports" in operation["tags"]:
        return "reports"
    if verb == "get" and (operation["operationId"] in PAGES or "Upcoming races" in operation["tags"]):
        return "pages"
    return "reads" if verb == "get" else "writes"


if __name__ == "__main__":
    for module, source in routes(openapi_document()).items():
        (FOLDER / f"{module}.py").write_text(source, encoding="utf-8")
