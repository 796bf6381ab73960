"""Commands: their help with headings and examples, parameters made from several options, and `podium.toml`.

Typer's own panels need Rich, which takes longer to load than everything else.

`podium.toml` has defaults for values that neither an option nor the environment provides. The file is in the working
folder or in the nearest folder above it. Its paths are relative to its own folder.
"""

import functools
import inspect
import math
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import typer
from typer.core import TyperCommand, TyperGroup

from podium.errors import ParameterError
from podium.support.words import suggestion


def option(meaning: str, *names: str, **settings: Any) -> Any:
    """Return an option without a default value."""
    return typer.Option(None, *names, help=meaning, **settings)


def flag(name: str, meaning: str) -> Any:
    """Return an option that is either given or not."""
    return typer.Option(False, name, help=meaning)


@dataclass(frozen=True)
class Made:
    """The default of a parameter that is made from several options, which are the parameters of `make`.

    The options replace the parameter. If `last`, all of them except FILE follow the command's own options. `then`
    converts the resulting value.
    """

    make: Callable[..., Any]
    last: bool = False
    then: Callable[[Any], Any] | None = None

    def options(self) -> Mapping[str, inspect.Parameter]:
        return inspect.signature(self.make).parameters

    def of(self, values: Mapping[str, Any]) -> Any:
        made = self.make(**{name: values[name] for name in self.options()})
        return made if self.then is None else self.then(made)


def with_options(command: Callable[..., None]) -> Callable[..., None]:
    """Return the command with its `Made` parameters replaced by their options."""
    own = inspect.signature(command).parameters
    makers = {name: parameter.default for name, parameter in own.items() if isinstance(parameter.default, Made)}
    if not makers:
        return command
    options: dict[str, inspect.Parameter] = {}
    last: dict[str, inspect.Parameter] = {}
    for name, given in own.items():
        for option, parameter in (makers[name].options() if name in makers else {name: given}).items():
            place = last if name in makers and makers[name].last and option != "file" else options
            place.setdefault(option, parameter)

    @functools.wraps(command)
    def run(**values: Any) -> None:
        command(**{name: makers[name].of(values) if name in makers else values[name] for name in own})

    parameters = [parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY) for parameter in (options | last).values()]
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return run


class Coercion:
    """A converter that accepts valid values directly. Typer's own converter handles other values."""

    def coerce(self, value: Any, param: Any, ctx: Any) -> Any:
        if value is None:
            return () if param.multiple or param.nargs == -1 else None
        if type(value) is param.type_descriptor.annotation and (type(value) is not str or value.isprintable()):
            return value
        param._runtime_param = None  # noqa: SLF001  (Typer makes its own)
        return param.get_runtime_param().coerce(value, param=param, ctx=ctx)


class Quick:
    """A command or group that converts values quickly. If Typer lacks this step, nothing changes."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        for parameter in self.get_params(ctx):  # type: ignore[attr-defined]
            if hasattr(parameter, "_runtime_param") and hasattr(parameter, "get_runtime_param"):
                parameter._runtime_param = Coercion()  # noqa: SLF001  (in place of Typer's)
        return super().parse_args(ctx, args)  # type: ignore[misc,no-any-return]


_Function = TypeVar("_Function", bound=Callable[..., Any])


def examples(*lines: str) -> Callable[[_Function], _Function]:
    """Add example lines to a command."""

    def attach(command: _Function) -> _Function:
        command.examples = lines  # type: ignore[attr-defined]
        return command

    return attach


LARGEST = 2**63  # too large for databases


class Command(Quick, TyperCommand):
    """A command that limits numbers, reports interruptions, and ends its help with examples."""

    def invoke(self, ctx: Any) -> Any:
        for option in self.params:
            value = ctx.params.get(option.name or "")
            if isinstance(value, int | float) and not abs(value) < LARGEST:
                raise typer.BadParameter(f"{value} must be a number below 2^63.", ctx, option)  # type: ignore[arg-type]
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            raise typer.Abort from None  # Typer would not report it

    def format_epilog(self, _ctx: Any, formatter: Any) -> None:
        lines = getattr(self.callback, "examples", ())
        if lines:
            with formatter.section("Examples"):
                for line in lines:
                    formatter.write(f"{'':{formatter.current_indent}}{line}\n")


class Group(Quick, TyperGroup):
    """Commands under the headings in `rich_help_panel`."""

    def list_commands(self, _ctx: Any) -> list[str]:
        return list(self.commands)

    def format_commands(self, _ctx: Any, formatter: Any) -> None:
        """Write the commands, in one section per heading."""
        headings: dict[str, list[tuple[str, str]]] = {}
        widest = max(map(len, self.commands))  # one width under all headings
        room = formatter.width - 6 - widest
        for name, command in self.commands.items():
            heading = getattr(command, "rich_help_panel", None) or "Commands"
            headings.setdefault(heading, []).append((name.ljust(widest), command.get_short_help_str(room)))
        for heading, rows in headings.items():
            with formatter.section(heading):
                formatter.write_dl(rows)


class App(typer.Typer):
    def __init__(self, **settings: Any) -> None:
        super().__init__(
            cls=Group,
            no_args_is_help=True,
            rich_markup_mode=None,
            pretty_exceptions_enable=False,
            context_settings={"help_option_names": ["-h", "--help"]},
            **settings,
        )

    def command(self, name: str | None = None, *lines: str, **settings: Any) -> Callable[[Any], Any]:
        """Add a command, with example lines."""
        add = super().command(name, cls=Command, **settings)
        return lambda command: add(with_options(examples(*lines)(command) if lines else command))


FILE_NAME = "podium.toml"
MEANINGS = {
    "system": "the rating system: a name, elo:k=20, or my.py:Class",
    "file": "the results that commands read",
    "format": "the format of file, if it is not a results table",
    "map": "the map that describes the file's columns",
    "period": "the rating period",
    "pool": "the default pool",
    "db": "the database of the service",
    "parameters": "a table of the system's parameters",
    "leaderboard": "a table of rules for leaderboards: min_events, max_deviation, active_within, top",
}
LEADERBOARD = {"min_events": (int,), "max_deviation": (int, float), "active_within": (str,), "top": (int,)}
LEAST = {"min_events": 0, "max_deviation": 0, "top": 1}
TABLES = ("parameters", "leaderboard")


@dataclass(frozen=True)
class SettingsFile:
    """The content of a settings file. It is empty if there is no file."""

    path: Path | None = None
    text: str = ""
    values: Mapping[str, Any] = field(default_factory=dict)

    def get(self, name: str) -> Any:
        """Return a value such as `system` or `leaderboard.top`, or None if the file lacks it."""
        table, _, key = name.rpartition(".")
        values = self.values.get(table, {}) if table else self.values
        return values.get(key)

    def path_of(self, name: str) -> Path | None:
        """Return a path, relative to the working folder."""
        value = self.get(name)
        return None if value is None or self.path is None else Path(os.path.relpath(self.path.parent / value))

    def fault(self, name: str, message: str) -> ParameterError:
        """Return an error about a value, with its line."""
        return ParameterError(f"{self.path}, line {self.line(name)}: {message}")

    def line(self, name: str) -> int:
        """Return the line of a value, or of the first word that may be its name."""
        table, _, key = name.rpartition(".")
        header = ""
        for number, line in enumerate(self.text.splitlines(), start=1):
            begins_table = re.match(r"\s*\[+\s*([^\]]*?)\s*\]", line)
            if begins_table is not None:
                header = begins_table[1].strip("\"'")
                if header == name:
                    return number
            if re.match(rf"\s*[\"']?(?:{re.escape(table)}\.)?{re.escape(key)}[\"']?\s*[.=]", line) and header in (
                table,
                "",
            ):
                return number
        return 1


def find_settings() -> SettingsFile:
    """Find the settings that apply in the working folder."""
    working = Path.cwd()
    paths = [folder / FILE_NAME for folder in (working, *working.parents)]
    path = next((candidate for candidate in paths if candidate.is_file()), None)
    return SettingsFile() if path is None else read_settings(path)


def read_settings(path: Path) -> SettingsFile:
    import tomllib

    try:
        text = path.read_text(encoding="utf-8")
        values = tomllib.loads(text)
    except OSError as error:
        raise ParameterError(f"{path}: cannot be read ({error.strerror or error})") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ParameterError(f"{path}: is not TOML: {error}") from None
    settings = SettingsFile(path, text, values)
    refuse_unknown(settings, "", values, MEANINGS)
    for name, value in values.items():
        if name in TABLES and not isinstance(value, dict):
            raise settings.fault(name, f"{name} is {value!r}; it must be {MEANINGS[name]}")
        if name not in TABLES and not (isinstance(value, str) and value):
            raise settings.fault(name, f"{name} is {value!r}; it must be text: {MEANINGS[name]}")
    check_leaderboard(settings)
    from podium.importers import FORMATS

    if settings.get("format") not in (None, *FORMATS):
        known = f"is not a format{suggestion(settings.get('format'), list(FORMATS))} ({', '.join(FORMATS)})"
        raise settings.fault("format", f"{settings.get('format')!r} {known}")
    if "period" in values:
        from podium.engine.tables.selection import check_period

        check(settings, "period", check_period)
    return settings


def check_leaderboard(settings: SettingsFile) -> None:
    rules = settings.get("leaderboard") or {}
    refuse_unknown(settings, "leaderboard.", rules, LEADERBOARD)
    for name, value in rules.items():
        is_text = LEADERBOARD[name] == (str,)
        fits = isinstance(value, LEADERBOARD[name]) and not isinstance(value, bool)
        if not fits:
            kind = "text such as 90d" if is_text else "a number"
            raise settings.fault(f"leaderboard.{name}", f"{name} is {value!r}; it must be {kind}")
        if not is_text and not LEAST[name] <= value < math.inf:
            raise settings.fault(f"leaderboard.{name}", f"{name} is {value}; it must be {LEAST[name]} or more")
    if "active_within" in rules:
        from podium.ledger.leaderboard import span

        check(settings, "leaderboard.active_within", span)


def check(settings: SettingsFile, name: str, parse: Callable[[str], Any]) -> None:
    try:
        parse(settings.get(name))
    except ParameterError as error:
        raise settings.fault(name, str(error)) from None


def refuse_unknown(settings: SettingsFile, table: str, values: Mapping[str, Any], known: Mapping[str, Any]) -> None:
    """Reject unknown names."""
    for name in values:
        if name not in known:
            hint = suggestion(name, list(known))
            raise settings.fault(f"{table}{name}", f"{name} is not a setting{hint} (settings: {', '.join(known)})")


def from_settings(name: str) -> Callable[[typer.Context, typer.CallbackParam, Any], Any]:
    """Return an option callback that takes a missing value from the settings."""

    def take(context: typer.Context, parameter: typer.CallbackParam, value: Any) -> Any:
        source = context.get_parameter_source(parameter.name or "")
        if context.resilient_parsing or source is None or source.name != "DEFAULT":
            return value
        own = find_settings().get(name)
        return value if own is None else own

    return take


def database_of_settings(context: typer.Context, parameter: typer.CallbackParam, value: Any) -> Any:
    """Return the URL of a database in the same way as `from_settings`.

    An SQLite path is relative to the working folder.
    """
    url = from_settings("db")(context, parameter, value)
    return url if url == value or "://" in url else str(find_settings().path_of("db"))


def pool_of_settings() -> str:
    pool = find_settings().get("pool")
    if pool is None:
        raise typer.BadParameter(f"the pool is missing. Name it with --pool, or as pool in {FILE_NAME}.")
    return str(pool)
