"""The parameters of a system as people read them."""

from dataclasses import dataclass, fields

from podium.engine.system import System


@dataclass(frozen=True, slots=True)
class Setting:
    """A parameter of the system, as it is set."""

    name: str
    meaning: str
    value: str
    is_default: bool


def settings(system: System) -> tuple[Setting, ...]:
    """The parameters of a system, as they are set."""
    return tuple(
        Setting(
            each.name,
            each.metadata["help"],
            value_words(getattr(system, each.name), each.metadata["unit"]),
            getattr(system, each.name) == each.default,
        )
        for each in fields(system)
    )


def value_words(value: object, unit: str) -> str:
    """A setting's value as people read it."""
    if value is None or isinstance(value, bool):
        return "on" if value else "off"
    text = f"{value:.10g}" if isinstance(value, float) else str(value)
    return f"{text} {unit}".rstrip()
