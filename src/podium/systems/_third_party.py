"""Load third-party systems: classes in Python files, and classes that installed packages offer as entry points."""

import hashlib
import sys
import traceback
from dataclasses import fields
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from podium.engine.system import System
from podium.errors import ParameterError, PodiumError, RuleError

GROUP = "podium.systems"


def load_file(file: str, name: str | None) -> type[System]:
    """Run a Python file, and return its system with this name, or its only system."""
    module = module_of(Path(file))
    systems = {
        key: value
        for key, value in vars(module).items()
        if isinstance(value, type) and issubclass(value, System) and value.__module__ == module.__name__
    }
    choices = ", ".join(systems) or "no subclass of podium.engine.system.System"
    name = name or (next(iter(systems)) if len(systems) == 1 else "")
    if name not in systems:
        wrong = f"has no system {name!r}" if name else "does not have exactly one system. Write PATH.py:CLASS"
        raise ParameterError(f"{file} {wrong} (it has {choices})")
    return systems[name]


def module_of(file: Path) -> ModuleType:
    """Run a Python file as a module. A file whose content has not changed is not run again."""
    try:
        source = file.read_bytes()
    except OSError as error:
        raise ParameterError(f"{file}: {error.strerror or error}") from error
    digest = hashlib.blake2b(str(file.resolve()).encode() + b"\0" + source, digest_size=8).hexdigest()
    name = f"{FILE_PREFIX}{digest}"
    if name in sys.modules:
        return sys.modules[name]
    module = ModuleType(name)
    module.__file__ = str(file)
    sys.modules[name] = module  # a dataclass looks up its own module
    try:
        # Importlib reuses bytecode if the modification second and the size are the same, which can happen after an
        # edit.
        exec(compile(source, str(file), "exec"), vars(module))  # noqa: S102  (the user named the file to be run)
    except Exception as error:
        del sys.modules[name]
        if isinstance(error, PodiumError):
            raise
        raise RuleError(f"{line_of(error, file)}: {type(error).__name__}: {error}") from None
    return module


def line_of(error: Exception, file: Path) -> str:
    if isinstance(error, SyntaxError):
        return f"{error.filename}:{error.lineno}"
    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame.lineno for frame in frames if Path(frame.filename).resolve() == file.resolve()]
    return f"{file}:{lines[-1]}" if lines else str(file)


def offers() -> dict[str, list[EntryPoint]]:
    """Return the entry points of installed packages, by system name."""
    points: dict[str, list[EntryPoint]] = {}
    for point in sorted(entry_points(group=GROUP), key=lambda point: (point.name, point.value)):
        points.setdefault(point.name, []).append(point)
    return points


def load_offered(name: str, points: list[EntryPoint]) -> type[System]:
    """Import the system that a package offers under a name."""
    if len({point.value for point in points}) > 1:
        packages = " and ".join(package_of(point) for point in points)
        raise ParameterError(f"{packages} both offer a system {name!r}. Uninstall one of them.")
    point = points[0]
    try:
        system = point.load()
    except Exception as error:
        raise RuleError(f"{package_of(point)}: {point.value}: {type(error).__name__}: {error}") from None
    if not (isinstance(system, type) and issubclass(system, System)):
        raise ParameterError(f"{package_of(point)}: {point.value} is not a subclass of podium.engine.system.System")
    if system.name != name:
        raise ParameterError(
            f"{package_of(point)}: the entry point is called {name!r}, but the system is called {system.name!r}."
            " Give both the same name, so that pools can find the system."
        )
    return system


def package_of(point: EntryPoint) -> str:
    """Return the name of the package that declares an entry point."""
    return point.dist.name if point.dist is not None else point.value


FILE_PREFIX = "podium_file_"  # prefix of the names of modules that were run from a file


class PortableSystem(NamedTuple):
    """A system that is pickled as its parameters and the location of its class."""

    system: System

    def __reduce__(self) -> tuple[Any, ...]:
        """Return the location of the class, and the parameters."""
        kind = type(self.system)
        module = kind.__module__
        if not is_portable(self.system):
            raise ParameterError(
                f"{self.system.name}: workers cannot import {kind.__qualname__} of {module}. Define the class at"
                " the top level of a module."
            )
        if module.startswith(FILE_PREFIX):
            module = str(sys.modules[module].__file__)
        values = {setting.name: getattr(self.system, setting.name) for setting in fields(self.system)}
        return unpickled, (module, kind.__qualname__, values)


def is_portable(system: System) -> bool:
    """Return True if other processes can import the system's class."""
    kind = type(system)
    return kind.__module__ != "__main__" and "<locals>" not in kind.__qualname__


def unpickled(module: str, name: str, values: dict[str, Any]) -> PortableSystem:
    """Rebuild a system from its pickled form."""
    kind = load_file(module, name) if module.endswith(".py") else getattr(import_module(module), name)
    return PortableSystem(kind(**values))
