"""The reference: Python's public names, the commands, and the endpoints of the service, all from the code."""

import inspect
import json
from collections import Counter
from collections.abc import Iterator
from types import ModuleType
from typing import Any, NamedTuple

import typer
from answers import openapi_document, type_of

import podium
import podium.sklearn
from podium.cli.commands import build

COMMON = 3  # from this many commands on, a common option is described once for all
HELP = "--help"
OFTEN = 3  # from this many endpoints on, a common parameter is described once for all

NAMES_OF = {  # the names of each group; every other name is under the last title
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
    """Return a directive for every public name; `podium` is lazy, so Sphinx' `automodule` would find no names."""
    grouped = {name for names in NAMES_OF.values() for name in names}
    lines = ["# Python", "", "Everything in `podium.__all__`, and the classifier for scikit-learn.", ""]
    for title, names in NAMES_OF.items():
        chosen = names or tuple(name for name in podium.__all__ if name not in grouped)
        lines += [f"## {title}", "", *(line for name in chosen for line in directive(podium, name))]
    lines += ["## For scikit-learn", "", *directive(podium.sklearn, "DuelClassifier", "fit, predict_proba, predict")]
    return "\n".join(lines).rstrip() + "\n"


def directive(module: ModuleType, name: str, members: str = "") -> list[str]:
    """Return the directive that describes a name and, for a class, these members [default: all public ones]."""
    described = getattr(module, name)
    if not inspect.isclass(described):
        kind, options = "autofunction", []
    elif issubclass(described, Exception):
        kind, options = "autoexception", [":show-inheritance:"]
    else:
        inherits = name.endswith("Client") or name in ("Rated", "Live")  # the client's routes, methods about players
        inherited = [":inherited-members:"] if inherits else []
        kind, options = "autoclass", [f":members: {members}".rstrip(), *inherited]
    return ["```{eval-rst}", f".. {kind}:: {module.__name__}.{name}", *(f"   {each}" for each in options), "```", ""]


class Command(NamedTuple):
    """A command as its help shows it."""

    usage: str
    help: str
    options: list[tuple[str, str]]
    examples: tuple[str, ...]


def command_page() -> str:
    """Return the help of every command, with options that many commands share described once."""
    known = commands()
    count = Counter(option for command in known for option in command.options)
    common = often(count, COMMON)
    lines = [
        "# Commands",
        "",
        "`podium COMMAND --help` shows these texts in the terminal.",
        "",
        "## Common options",
        "",
        "Many commands share these options and arguments. Below, each command lists the ones that it has after “Also”.",
        "",
        *option_lines(common),
        "",
    ]
    for command in known:
        own = [option for option in command.options if option not in common]
        shared = [f"`{short_name(option[0])}`" for option in common if option in command.options]
        usage = command.usage.replace(" [OPTIONS]", "")
        title = usage.partition(" [")[0].partition(" {")[0]
        lines += [f"## {title}", ""]
        lines += [f"    {usage}", ""] if usage != title else []
        lines += [command.help, "", *option_lines(own), *[""] * bool(own)]
        lines += [f"Also: {', '.join(shared)}", ""] if shared else []
        lines += [*(f"    {example}" for example in command.examples), ""] if command.examples else []
    return "\n".join(lines).rstrip() + "\n"


def often(count: "Counter[tuple[str, str]]", least: int) -> list[tuple[str, str]]:
    """Return the texts that occur at least this often, by name, with the most frequent text of each name."""
    texts: dict[str, str] = {}
    for (name, text), times in count.most_common():
        if times >= least:
            texts.setdefault(name, text)
    return list(texts.items())


def short_name(name: str) -> str:
    """Return `--system` for `-s, --system NAME`, and `FILE` for `FILE <str>`."""
    words = name.split()
    return next((word for word in words if word.startswith("--")), words[0])


def option_lines(options: list[tuple[str, str]]) -> list[str]:
    """Return options and arguments as a list in Markdown, without the type of arguments that are strings."""
    return [f"- `{name if name.startswith('-') else name.removesuffix(' <str>')}`: {text}" for name, text in options]


def commands() -> list[Command]:
    """Return every command, each group before its members."""

    def below(command: Any, words: str) -> Iterator[Command]:
        context = type(command).context_class(command, info_name=words)
        usage = " ".join((words, *command.collect_usage_pieces(context)))
        text = "\n\n".join(" ".join(part.split()) for part in (command.help or "").split("\n\n"))
        records = filter(None, (each.get_help_record(context) for each in command.get_params(context)))
        options = [(name, " ".join(meaning.split())) for name, meaning in records if name != HELP]
        yield Command(usage, text, options, getattr(command.callback, "examples", ()))
        for name, each in getattr(command, "commands", {}).items():
            yield from below(each, f"{words} {name}")

    return list(below(typer.main.get_command(build()), "podium"))


def http_page() -> str:
    """Return every endpoint of the service, with an example, from its OpenAPI document."""
    document = openapi_document()
    operations = [
        (method.upper(), path, operation)
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
    ]
    parameters = Counter(
        (each["name"], in_a_cell(each.get("description", "")))
        for _, _, operation in operations
        for each in operation.get("parameters", ())
    )
    common = often(parameters, OFTEN)
    lines = [
        "# HTTP API",
        "",
        "The endpoints of `podium serve`. Its page `/api/docs` describes every field. Code generators read",
        "`/api/openapi.json`. Reading public pools needs no key.",
        "",
        "    curl http://127.0.0.1:8000/api/v1/pools/karts/leaderboard?top=3",
        "",
        "Every answer about a pool has a `Pool-Version` header. Pass it as `since` to wait for a result that you sent.",
        "The leaderboard carries an `ETag`; send it as `If-None-Match` to save traffic.",
        "",
    ]
    for tag in document["tags"]:
        lines += [f"## {tag['name']}", "", tag["description"], ""]
        for method, path, operation in operations:
            if operation["tags"] == [tag["name"]]:
                lines += [*operation_lines(method, path, operation, common, document), ""]
    lines += [
        "## Shared parameters",
        "",
        "| parameter | meaning |",
        "|---|---|",
        *(f"| `{name}` | {text} |" for name, text in common),
        "",
        "## Errors",
        "",
        "| status | meaning |",
        "|---|---|",
        *(f"| {status} | {in_a_cell(meaning)} |" for status, meaning in refusals(operations)),
    ]
    return "\n".join(lines) + "\n"


def refusals(operations: list[tuple[str, str, dict[str, Any]]]) -> list[tuple[str, str]]:
    """Return each status of an error with the meaning that most endpoints give it."""
    meanings: dict[str, Counter[str]] = {}
    for _, _, operation in operations:
        for status, answer in operation["responses"].items():
            if not status.startswith("2"):
                meanings.setdefault(status, Counter())[answer["description"]] += 1
    return [(status, found.most_common(1)[0][0]) for status, found in sorted(meanings.items())]


def operation_lines(
    method: str, path: str, operation: dict[str, Any], common: list[tuple[str, str]], document: dict[str, Any]
) -> Iterator[str]:
    """Yield the purpose, the example, the parameters and the answer of an endpoint."""
    yield f"### `{method} {path}`"
    yield ""
    yield in_a_cell(operation.get("description", operation["summary"]))
    yield ""
    parameters = [
        (each["name"], in_a_cell(each.get("description", "")), each) for each in operation.get("parameters", ())
    ]
    address, body = example_address(path, operation.get("parameters", ())), example_body(operation, document)
    if body or address != path:
        yield from (f"    {method} {address}", *[f"    {body}"] * bool(body), "")
    beside = [(name, text) for name, text, each in parameters if each["in"] != "path"]
    yield from (f"- `{name}`: {text}" for name, text in beside if (name, text) not in common)
    shared = ", ".join(f"`{name}`" for name, text in beside if (name, text) in common)
    successes = (each for status, each in operation["responses"].items() if status[0] == "2")
    answers = sorted({shown(content) for each in successes for content in each.get("content", {}).items()})
    yield f"- Response: {', '.join(answers) or 'none'}." + f" [Shared](#shared-parameters): {shared}." * bool(shared)


def example_address(path: str, parameters: Any) -> str:
    """Return an endpoint's address with the examples of its parameters in place."""
    for each in parameters:
        if each["in"] == "path":
            examples = each["schema"].get("examples") or each["schema"].get("enum") or [each["name"]]
            path = path.replace(f"{{{each['name']}}}", str(examples[0]))
    return path


def example_body(operation: dict[str, Any], document: dict[str, Any]) -> str:
    """Return the example of an endpoint's body, if it has one."""
    for content in operation.get("requestBody", {}).get("content", {}).values():
        kinds = content.get("schema", {})
        for kind in kinds.get("anyOf", [kinds]):
            if "$ref" in kind:
                for example in document["components"]["schemas"][type_of(kind)].get("examples", ()):
                    return json.dumps(example, ensure_ascii=False)
    return ""


def shown(content: tuple[str, dict[str, Any]]) -> str:
    """Return the kind of an answer: its schema, or its media type."""
    kind, details = content
    schema = details.get("schema") or {}
    if schema.get("type") == "array":
        return f"list of `{type_of(schema['items'])}`"
    return f"`{type_of(schema)}`" if "$ref" in schema else f"`{kind}`"


def in_a_cell(text: str) -> str:
    """Return a text on one line, with bars escaped for a table."""
    return " ".join(text.split()).replace("|", "\\|")
