"""Systems on their way to other processes: by the name of their class and their parameters."""

import sys
from dataclasses import fields
from importlib import import_module
from typing import Any, NamedTuple

from podium.engine.system import System
from podium.errors import ParameterError
from podium.systems import IN_FILE, load

OF_FILE = "podium_file_"  # how modules begin that a Python file was read as


class PortableSystem(NamedTuple):
    """A system, which is pickled as where its class is and its parameters."""

    system: System

    def __reduce__(self) -> tuple[Any, ...]:
        """Where the class is, and the parameters.

        Raises:
            ParameterError: no other process finds the class.
        """
        kind = type(self.system)
        module = kind.__module__
        if not is_portable(self.system):
            raise ParameterError(
                f"{self.system.name}: workers cannot import {kind.__qualname__} of {module}; "
                "put the class at the top of a module of its own, or rate with engine='local'"
            )
        if module.startswith(OF_FILE):
            module = f"{sys.modules[module].__file__}:{kind.__qualname__}"
        values = {setting.name: getattr(self.system, setting.name) for setting in fields(self.system)}
        return arrived, (module, kind.__qualname__, values)


def is_portable(system: System) -> bool:
    """Whether other processes find the system's class."""
    kind = type(system)
    return kind.__module__ != "__main__" and "<locals>" not in kind.__qualname__


def arrived(module: str, name: str, values: dict[str, Any]) -> PortableSystem:
    """A system that was pickled."""
    kind = load(module) if IN_FILE.fullmatch(module) else getattr(import_module(module), name)
    return PortableSystem(kind(**values))
