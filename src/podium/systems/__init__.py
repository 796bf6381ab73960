"""The registry: the folder itself. A file `my_system.py` that ends in `SYSTEM = …` is the system `my-system`.

Installed packages add theirs by entry points of the group `podium.systems`; one of Podium's own names is never theirs.
"""

import functools
import importlib
import re
from difflib import get_close_matches
from pathlib import Path

from podium.engine.system import System
from podium.errors import ParameterError, PodiumError

IN_FILE = re.compile(r"(?P<file>.+\.py)(?::(?P<name>[^:=,]*))?(?::(?P<settings>.*))?", re.DOTALL)


@functools.cache
def names() -> tuple[str, ...]:
    """Podium's own systems, by name."""
    files = Path(__file__).parent.glob("[!_]*.py")
    return tuple(sorted(file.stem.replace("_", "-") for file in files))


def find(name: str) -> type[System]:
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
    near = get_close_matches(name.lower().replace("_", "-"), known, 1, 0.5)
    hint = f"; did you mean {near[0]!r}?" if near else ""
    raise ParameterError(f"{name!r} is not a system{hint} (there are {', '.join(known)})")


def load(text: str) -> type[System]:
    """The class of a system by its name, or in a Python file that is run: `my.py:Stakes`.

    Raises:
        ParameterError: there is none, or it has the name of one of Podium's own.
        RuleError: the file cannot be run.
    """
    if not IN_FILE.fullmatch(text):
        return find(text)
    from podium.systems import _outside as outside  # noqa: PLC0415  (as above)

    system = outside.load_file(text)
    if system.name in names():
        raise ParameterError(f"{text}: {system.name!r} is the name of one of Podium's own systems; choose another")
    return system


def split_settings(text: str) -> tuple[str, str]:
    """A system and its settings from one text: `elo:k=20,scale=300` or `my.py:Stakes:stake=5`."""
    match = IN_FILE.fullmatch(text)
    if match is not None:
        system = f"{match['file']}:{match['name']}" if match["name"] else match["file"]
        return system, match["settings"] or ""
    name, _, settings = text.partition(":")
    return name.strip(), settings


def outsiders() -> tuple[list[type[System]], list[str]]:
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
