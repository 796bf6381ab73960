"""Systems that are not Podium's own: a class in a Python file, and the entry points of installed packages."""

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
    """The system of that name in a Python file, or the only one that it has. The file is run."""
    module = module_of(Path(file))
    systems = {
        own: each
        for own, each in vars(module).items()
        if isinstance(each, type) and issubclass(each, System) and each.__module__ == module.__name__
    }
    choices = ", ".join(systems) or "no subclass of podium.engine.system.System"
    name = name or (next(iter(systems)) if len(systems) == 1 else "")
    if name not in systems:
        wrong = f"has no system {name!r}" if name else "has not one system; write PATH.py:CLASS"
        raise ParameterError(f"{file} {wrong} (it has {choices})")
    return systems[name]


def module_of(file: Path) -> ModuleType:
    """The module that a Python file is; it runs again only when its text has changed."""
    try:
        source = file.read_bytes()
    except OSError as error:
        raise ParameterError(f"{file}: {error.strerror or error}") from error
    digest = hashlib.blake2b(str(file.resolve()).encode() + b"\0" + source, digest_size=8).hexdigest()
    name = f"podium_file_{digest}"
    if name in sys.modules:
        return sys.modules[name]
    module = ModuleType(name)
    module.__file__ = str(file)
    sys.modules[name] = module  # a dataclass looks up its own module
    try:
        # Not by an import's loader: its bytecode on disk is known by second and size, which an edit may leave alike.
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
    """The systems that installed packages offer, by name."""
    points: dict[str, list[EntryPoint]] = {}
    for each in sorted(entry_points(group=GROUP), key=lambda point: (point.name, point.value)):
        points.setdefault(each.name, []).append(each)
    return points


def load_offered(name: str, points: list[EntryPoint]) -> type[System]:
    """The system that a package offers under a name."""
    if len({point.value for point in points}) > 1:
        packages = " and ".join(package_of(point) for point in points)
        raise ParameterError(f"{packages} both offer a system {name!r}; uninstall one")
    point = points[0]
    try:
        system = point.load()
    except Exception as error:
        raise RuleError(f"{package_of(point)}: {point.value}: {type(error).__name__}: {error}") from None
    if not (isinstance(system, type) and issubclass(system, System)):
        raise ParameterError(f"{package_of(point)}: {point.value} is not a subclass of podium.engine.system.System")
    if system.name != name:
        raise ParameterError(
            f"{package_of(point)}: the entry point is called {name!r} and the system {system.name!r}; "
            "give both one name, by which a pool finds it again"
        )
    return system


def package_of(point: EntryPoint) -> str:
    """The package that an entry point comes with."""
    return point.dist.name if point.dist is not None else point.value


OF_FILE = "podium_file_"  # how modules begin that a Python file was read as


class PortableSystem(NamedTuple):
    """A system, which is pickled as where its class is and its parameters."""

    system: System

    def __reduce__(self) -> tuple[Any, ...]:
        """Where the class is, and the parameters."""
        kind = type(self.system)
        module = kind.__module__
        if not is_portable(self.system):
            raise ParameterError(
                f"{self.system.name}: workers cannot import {kind.__qualname__} of {module}. "
                "Put the class at the top of a module of its own."
            )
        if module.startswith(OF_FILE):
            module = str(sys.modules[module].__file__)
        values = {setting.name: getattr(self.system, setting.name) for setting in fields(self.system)}
        return arrived, (module, kind.__qualname__, values)


def is_portable(system: System) -> bool:
    """Whether other processes find the system's class."""
    kind = type(system)
    return kind.__module__ != "__main__" and "<locals>" not in kind.__qualname__


def arrived(module: str, name: str, values: dict[str, Any]) -> PortableSystem:
    """A system that was pickled."""
    kind = load_file(module, name) if module.endswith(".py") else getattr(import_module(module), name)
    return PortableSystem(kind(**values))
