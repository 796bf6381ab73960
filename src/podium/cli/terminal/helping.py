"""Commands: help under the headings of what they are for, examples below the options, and what several options make.

Typer's own panels need Rich, which takes longer to load than all the rest.
"""

import functools
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

import typer
from typer.core import TyperCommand, TyperGroup


@dataclass(frozen=True)
class Made:
    """The default of a command's parameter that several options make: those that `make` takes.

    They stand where the parameter does; where `last`, all but FILE stand behind the command's own options.
    """

    make: Callable[..., Any]
    last: bool = False

    def options(self) -> Mapping[str, inspect.Parameter]:
        return inspect.signature(self.make).parameters

    def of(self, values: Mapping[str, Any]) -> Any:
        return self.make(**{name: values[name] for name in self.options()})


def with_options(command: Callable[..., None]) -> Callable[..., None]:
    """The command with the options that make its parameters in the place of those."""
    own = inspect.signature(command).parameters
    makers = {name: each.default for name, each in own.items() if isinstance(each.default, Made)}
    if not makers:
        return command
    options: dict[str, inspect.Parameter] = {}
    last: dict[str, inspect.Parameter] = {}
    for name, each in own.items():
        for option, parameter in (makers[name].options() if name in makers else {name: each}).items():
            place = last if name in makers and makers[name].last and option != "file" else options
            place.setdefault(option, parameter)

    @functools.wraps(command)
    def run(**values: Any) -> None:
        command(**{name: makers[name].of(values) if name in makers else values[name] for name in own})

    parameters = [each.replace(kind=inspect.Parameter.KEYWORD_ONLY) for each in (options | last).values()]
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {each.name: each.annotation for each in parameters}
    return run


class Coercion:
    """Takes the values that are fine, in the place of Typer's own, which is made when another comes."""

    def coerce(self, value: Any, param: Any, ctx: Any) -> Any:
        if value is None:
            return () if param.multiple or param.nargs == -1 else None
        if type(value) is param.type_descriptor.annotation and (type(value) is not str or value.isprintable()):
            return value
        param._runtime_param = None  # noqa: SLF001  (Typer's own is made)
        return param.get_runtime_param().coerce(value, param=param, ctx=ctx)


class Quick:
    """A command or group whose parameters take what is fine; of a Typer that has no such step, all is as it was."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        for each in self.get_params(ctx):  # type: ignore[attr-defined]
            if hasattr(each, "_runtime_param") and hasattr(each, "get_runtime_param"):
                each._runtime_param = Coercion()  # noqa: SLF001  (what Typer would make)
        return super().parse_args(ctx, args)  # type: ignore[misc,no-any-return]


_Function = TypeVar("_Function", bound=Callable[..., Any])


def examples(*lines: str) -> Callable[[_Function], _Function]:
    """Give a command lines that show its use."""

    def attach(command: _Function) -> _Function:
        command.examples = lines  # type: ignore[attr-defined]
        return command

    return attach


class Command(Quick, TyperCommand):
    """A command whose help ends with examples."""

    def format_epilog(self, _ctx: Any, formatter: Any) -> None:
        lines = getattr(self.callback, "examples", ())
        if lines:
            with formatter.section("Examples"):
                for line in lines:
                    formatter.write(f"{'':{formatter.current_indent}}{line}\n")


class Group(Quick, TyperGroup):
    """Commands under the headings that they have in `rich_help_panel`."""

    def list_commands(self, _ctx: Any) -> list[str]:
        return list(self.commands)

    def format_commands(self, _ctx: Any, formatter: Any) -> None:
        """Write the commands, a section for each heading."""
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
        """Add a command, and lines that show its use."""
        add = super().command(name, cls=Command, **settings)
        return lambda command: add(with_options(examples(*lines)(command) if lines else command))
