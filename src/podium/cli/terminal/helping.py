"""Help: commands under the headings of what they are for, and examples below each command's options.

Typer's own panels need Rich, which takes longer to load than all the rest.
"""

from collections.abc import Callable
from typing import Any, TypeVar

import typer
from typer.core import TyperCommand, TyperGroup


class Coercion:
    """Takes the values that are fine, in the place of Typer's own, which is made when another comes."""

    def coerce(self, value: Any, param: Any, ctx: Any) -> Any:
        """The value of a parameter, as Typer has it."""
        if value is None:
            return () if param.multiple or param.nargs == -1 else None
        if type(value) is param.type_descriptor.annotation and (type(value) is not str or value.isprintable()):
            return value
        param._runtime_param = None  # noqa: SLF001  (Typer's own is made)
        return param.get_runtime_param().coerce(value, param=param, ctx=ctx)


def load_lazily(parameters: list[Any]) -> None:
    """Let parameters take what is fine; of a Typer that has no such step, all is as it was."""
    for each in parameters:
        if hasattr(each, "_runtime_param") and hasattr(each, "get_runtime_param"):
            each._runtime_param = Coercion()  # noqa: SLF001  (what Typer would make)


_Function = TypeVar("_Function", bound=Callable[..., Any])


def examples(*lines: str) -> Callable[[_Function], _Function]:
    """Give a command lines that show its use."""

    def attach(command: _Function) -> _Function:
        command.examples = lines  # type: ignore[attr-defined]
        return command

    return attach


class Command(TyperCommand):
    """A command whose help ends with examples."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the values of the parameters, those of Typer's own included."""
        load_lazily(self.get_params(ctx))
        return super().parse_args(ctx, args)

    def format_epilog(self, _ctx: Any, formatter: Any) -> None:
        """Write the examples, a line each."""
        lines = getattr(self.callback, "examples", ())
        if lines:
            with formatter.section("Examples"):
                for line in lines:
                    formatter.write(f"{'':{formatter.current_indent}}{line}\n")


class Group(TyperGroup):
    """Commands under the headings that they have in `rich_help_panel`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the values of the parameters, those of Typer's own included."""
        load_lazily(self.get_params(ctx))
        return super().parse_args(ctx, args)

    def list_commands(self, _ctx: Any) -> list[str]:
        """List the names of the commands in the order in which they were added."""
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
    """A group of Podium's commands."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(
            cls=Group,
            no_args_is_help=True,
            rich_markup_mode=None,
            pretty_exceptions_enable=False,
            context_settings={"help_option_names": ["-h", "--help"]},
            **settings,
        )

    def command(self, name: str | None = None, **settings: Any) -> Callable[[Any], Any]:
        """Add a command."""
        return super().command(name, cls=Command, **settings)
