"""The system that a command rates with: of its options, the environment, the settings, or plain Elo."""

import functools
import os
import re
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from podium.cli.terminal.helping import Made
from podium.cli.terminal.options import SETTINGS, SYSTEM_FILE, SYSTEM_NAME
from podium.cli.terminal.settings import SettingsFile, find_settings
from podium.errors import ParameterError

if TYPE_CHECKING:
    from podium.engine.system import System


@functools.cache
def prepare() -> None:
    """Load the engine; once a process, and before anything compiles."""
    from podium.kernels.compiled import announce_compiling, compile_without_blas

    compile_without_blas()
    announce_compiling(say_that_it_compiles)


def say_that_it_compiles(found_later: bool) -> None:
    """Say on stderr why nothing happens for some seconds."""
    from podium.kernels.compiled import cache_folder

    if found_later:
        when = f"once for each system; later runs find the machine code in {cache_folder()}"
    else:
        when = "as in every run of a system of your own"
    typer.echo(f"podium: compiling, {when}", err=True)


SYSTEM_VARIABLE = "PODIUM_SYSTEM"
DEFAULT_SYSTEM = "elo"


def chosen_system(
    system: str | None = SYSTEM_NAME, settings: list[str] | None = SETTINGS, system_file: Path | None = SYSTEM_FILE
) -> "System":
    """The system that the options describe; `--set` goes before the file."""
    prepare()
    from podium.systems import load, name_and_value, split_settings

    own = dict(name_and_value(text) for text in settings or [])
    name_in_file, in_file = (None, {}) if system_file is None else read_system_file(system_file)
    if system is not None and name_in_file is not None:
        name, _ = split_settings(system)
        if name_in_file not in (name, load(name).name):
            raise ParameterError(f"--system {system} and {system_file}, which says {name_in_file}: name one system")
    text = system or name_in_file
    if text is None:
        return with_parameters(default_system(), in_file | own)
    return system_of(text, in_file | own)


SYSTEM: Any = Made(chosen_system)


def system_of(text: str, parameters: dict[str, Any]) -> "System":
    """The system of a text like `elo` or `elo:k=20`; parameters given beside it go before its own.

    Podium's own names, and those of parameters, are known in any case.
    """
    from podium.engine.rule_checks import check_rules
    from podium.systems import load, name_and_value, names, split_settings

    name, settings = split_settings(text)
    if name.lower() in names():
        name = name.lower()
    in_text = dict(name_and_value(part) for part in settings.split(",") if part.strip())
    kind = load(name)
    system = kind.from_text(to_spelling(kind, in_text | parameters))
    check_rules(system)
    return system


def to_spelling(kind: "type[System]", parameters: dict[str, Any]) -> dict[str, Any]:
    """The parameters by the names that the system has for them, whatever their case."""
    spelling = {each.name.lower(): each.name for each in fields(kind)}
    return {spelling.get(name.lower(), name): value for name, value in parameters.items()}


def with_parameters(system: "System", parameters: dict[str, Any]) -> "System":
    """The system, some of its parameters set anew."""
    if not parameters:
        return system
    known = {each.name: getattr(system, each.name) for each in fields(system)}
    return system.from_text(known | to_spelling(type(system), parameters))


def read_system_file(file: Path) -> tuple[str | None, dict[str, Any]]:
    """The name and parameters in a TOML file: `system = "…"` and a table `[parameters]`."""
    import tomllib

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


def default_system() -> "System":
    """The system where no option names one: what PODIUM_SYSTEM says, then the settings, then plain Elo."""
    in_environment = os.environ.get(SYSTEM_VARIABLE, "").strip()
    if in_environment:
        try:
            return system_of(in_environment, {})
        except ParameterError as error:
            raise ParameterError(f"{SYSTEM_VARIABLE}: {error}") from None
    settings = find_settings()
    text, parameters = settings.get("system") or DEFAULT_SYSTEM, settings.get("parameters") or {}
    if settings.path is not None and ".py" in text:
        refuse_foreign_code(settings)
        text = os.path.join(os.path.relpath(settings.path.parent), text)  # noqa: PTH118  (the text is no path alone)
    try:
        return system_of(text, parameters)
    except ParameterError as error:
        if settings.path is None:
            raise
        named = [name for name in parameters if re.search(rf"\b{re.escape(name)}\b", str(error))]
        raise settings.fault(f"parameters.{named[0]}" if named else "system", str(error)) from None


def refuse_foreign_code(settings: SettingsFile) -> None:
    """Refuse to run a file that another user's settings name, who may have put them in a folder above this one."""
    if os.name == "posix" and settings.path is not None and settings.path.stat().st_uid not in (os.getuid(), 0):
        raise settings.fault("system", "is another user's file, whose system is not run; name it with --system")
