"""Options that several commands share, and the system they describe."""

import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from podium.cli.show import Format
from podium.errors import ParameterError

if TYPE_CHECKING:
    from podium.engine.system import System

SystemName = Annotated[
    str | None,
    typer.Option(
        "--system", "-s", help="The rating system; `podium systems` lists them, my.py:Class is one in a file."
    ),
]
Settings = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE", help="Set a parameter; none switches off what can be. May repeat."),
]
SystemFile = Annotated[
    Path | None, typer.Option("--system-file", metavar="TOML", help="Load the system's name and parameters.")
]
Period = Annotated[str, typer.Option("--period", help="When ratings settle: event, 1d, 1w, 1mo, or a multiple.")]
Start = Annotated[
    str | None,
    typer.Option(
        "--start",
        metavar="RATINGS",
        help="Continue from these ratings: what --ratings wrote (.parquet keeps every state whole), or a table with "
        "pool, player, rating and what else is known.",
    ),
]
Shape = Annotated[Format, typer.Option("--format", "-f", help="What to print.")]


def chosen_system(name: str | None, settings: list[str] | None, file: Path | None) -> "System":
    """The system that the options describe; `--set` goes before the file.

    Raises:
        ParameterError: no system or two different ones, or a setting that does not fit.
        RuleError: the code of a system that is not Podium's own is at fault.
    """
    from podium.engine.rule_checks import check_rules
    from podium.kernels.compiled import load_without_blas
    from podium.systems import load

    load_without_blas()
    parameters: dict[str, Any] = {}
    if file is not None:
        name_in_file, parameters = read_system_file(file)
        if name is not None and name_in_file is not None and name_in_file not in (name, load(name).name):
            raise ParameterError(f"--system {name} and {file}, which says {name_in_file}: name one system")
        name = name or name_in_file
    if name is None:
        raise ParameterError("name the rating system with --system (`podium systems` lists them)")
    system = load(name).from_text(parameters | dict(name_and_value(text) for text in settings or []))
    check_rules(system)
    return system


def name_and_value(text: str) -> tuple[str, str]:
    """The name and value of a `--set`.

    Raises:
        ParameterError: there is no `=`.
    """
    name, equals, value = text.partition("=")
    if not equals or not name.strip():
        raise ParameterError(f"--set {text}: write it as NAME=VALUE")
    return name.strip().replace("-", "_"), value.strip()


def read_system_file(file: Path) -> tuple[str | None, dict[str, Any]]:
    """The name and parameters in a TOML file: `system = "…"` and a table `[parameters]`.

    Raises:
        ParameterError: it cannot be read, or holds something else.
    """
    try:
        document = tomllib.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise ParameterError(f"{file}: {error.strerror or error}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ParameterError(f"{file}: is not TOML: {error}") from error
    unknown = set(document) - {"system", "name", "parameters"}
    if unknown:
        raise ParameterError(f'{file}: {min(unknown)!r} is not known; write system = "…" and [parameters]')
    name, parameters = document.get("system", document.get("name")), document.get("parameters", {})
    if not isinstance(name, str | None) or not isinstance(parameters, dict):
        raise ParameterError(f'{file}: write system = "…" and a table [parameters]')
    return name, parameters
