"""The registry: the folder itself. A file `my_system.py` that ends in `SYSTEM = …` is the system `my-system`.

Installed packages add theirs by entry points of the group `podium.systems`; one of Podium's own names is never theirs.
"""

import functools
import importlib
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from podium.errors import ParameterError, PodiumError
from podium.support.words import suggestion

if TYPE_CHECKING:  # a shell that completes a name waits for no engine
    from podium.engine.system import System

IN_FILE = re.compile(r"(?P<file>.+\.py)(?::(?P<name>[^:=,]*))?(?::(?P<settings>.*))?", re.DOTALL)


@functools.cache
def names() -> tuple[str, ...]:
    """Podium's own systems, by name."""
    files = Path(__file__).parent.glob("[!_]*.py")
    return tuple(sorted(file.stem.replace("_", "-") for file in files))


def find(name: str) -> "type[System]":
    """The class of a system, Podium's own or an installed package's; call it with parameters.

    Raises:
        ParameterError: there is none of that name.
        RuleError: a package offers it, and cannot be imported.
    """
    if name in names():
        module = importlib.import_module(f"podium.systems.{name.replace('-', '_')}")
        system: type[System] = module.SYSTEM
        return system
    from podium.systems import _outside as outside  # noqa: PLC0415  (packages are searched for a name of theirs only)

    offers = outside.offers()
    if name in offers:
        return outside.load_offered(name, offers[name])
    if IN_FILE.fullmatch(name):
        raise ParameterError(
            f"{name!r} is a file; only a command runs one. In Python, import its class and give an "
            "instance; for a pool, install it as a package with an entry point (docs/own-system.md)"
        )
    known = sorted({*names(), *offers})
    hint = suggestion(name.replace("_", "-"), known)
    raise ParameterError(f"{name!r} is not a system{hint} (there are {', '.join(known)})")


def make_system(system: "str | System", parameters: Mapping[str, Any] | None = None) -> "System":
    """The system of a name, a text such as `elo:k=20,scale=300`, or the one given.

    Args:
        parameters: more of its parameters, by name.

    Raises:
        ParameterError: no such system or parameter, a value that does not fit, a parameter twice, or parameters
            beside a system.
        RuleError: the system's own code is at fault.
    """
    from podium.engine.rule_checks import check_rules  # noqa: PLC0415  (loads the engine, which names do without)
    from podium.engine.system import System  # noqa: PLC0415

    given = dict(parameters or {})
    if isinstance(system, str):
        name, text = split_settings(system)
        settings = dict(map(name_and_value, filter(str.strip, text.split(","))))
        twice = sorted(settings.keys() & given)
        if twice:
            raise ParameterError(f"{system} gives {twice[0]} already; give it once")
        return find(name).from_text(settings | given)
    if not isinstance(system, System):
        what = f"the class {system.__name__}: call it" if isinstance(system, type) else f"a {type(system).__name__}"
        raise ParameterError(f"a system is a name, such as 'elo' or 'elo:k=20', or an instance of one, not {what}")
    check_rules(system)
    if given:
        raise ParameterError(f"{system.name} is an instance already; give parameters with a name, not with a system")
    return system


def name_and_value(text: str) -> tuple[str, str]:
    """The name and value of a setting such as `k=20`."""
    name, equals, value = text.partition("=")
    if not equals or not name.strip():
        raise ParameterError(f"{text.strip()!r} is not a setting; write it as NAME=VALUE")
    return name.strip().replace("-", "_"), value.strip()


def load(text: str) -> "type[System]":
    """The class of a system by its name, or in a Python file that is run: `my.py:Stakes`.

    Raises:
        ParameterError: there is none, or it has the name of one of Podium's own.
        RuleError: the file cannot be run.
    """
    match = IN_FILE.fullmatch(text)
    if match is None:
        return find(text)
    if match["settings"]:
        raise ParameterError(f"{text!r} is not a file's system; write PATH.py:CLASS")
    from podium.systems import _outside as outside  # noqa: PLC0415  (as above)

    system = outside.load_file(match["file"], match["name"])
    if system.name in names():
        raise ParameterError(f"{text}: {system.name!r} is the name of one of Podium's own systems; choose another")
    return system


@functools.cache
def package_version(name: str) -> str:
    """Return the package that a system comes with, and its version; an empty text for Podium's own systems."""
    if name in names():
        return ""
    from podium.systems import _outside as outside  # noqa: PLC0415  (as above)

    points = outside.offers().get(name, [])
    return " ".join(f"{outside.package_of(each)} {each.dist.version if each.dist else ''}" for each in points)


def split_settings(text: str) -> tuple[str, str]:
    """A system and its settings from one text: `elo:k=20,scale=300` or `my.py:Stakes:stake=5`."""
    match = IN_FILE.fullmatch(text)
    if match is not None:
        system = f"{match['file']}:{match['name']}" if match["name"] else match["file"]
        return system, match["settings"] or ""
    name, _, settings = text.partition(":")
    return name.strip(), settings


def outsiders() -> "tuple[list[type[System]], list[str]]":
    """The systems of installed packages, and why others that they offer cannot be used."""
    from podium.systems import _outside as outside  # noqa: PLC0415  (as above)

    systems, refusals = [], []
    for name, points in outside.offers().items():
        if name in names():
            packages = " and ".join(outside.package_of(point) for point in points)
            refusals.append(f"{packages} offers a system {name!r}, which is the name of one of Podium's own")
            continue
        try:
            systems.append(outside.load_offered(name, points))
        except PodiumError as error:
            refusals.append(str(error))
    return systems, refusals
