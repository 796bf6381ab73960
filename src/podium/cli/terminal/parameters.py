"""What the values of a command's parameters become, without Pydantic, which Typer loads to look at any.

Nearly every value is fine as it is: a text for a text, or a default. Any other is for Typer.
"""

from typing import Any


class Coercion:
    """Takes the values that are fine, in the place of Typer's own, which is made when another comes."""

    def coerce(self, value: Any, param: Any, ctx: Any) -> Any:
        """The value of a parameter, as Typer has it.

        Raises:
            BadParameter: it does not fit.
        """
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
