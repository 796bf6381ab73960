"""The registry: the folder itself. A file `my_system.py` that ends in `SYSTEM = …` is the system `my-system`."""

import functools
import importlib
from difflib import get_close_matches
from pathlib import Path

from podium.errors import ParameterError
from podium.systems.base import System

NOT_SYSTEMS = {"__init__", "base"}


@functools.cache
def names() -> tuple[str, ...]:
    """The systems there are, by name."""
    files = Path(__file__).parent.glob("[!_]*.py")
    return tuple(sorted(file.stem.replace("_", "-") for file in files if file.stem not in NOT_SYSTEMS))


def find(name: str) -> type[System]:
    """The class of a system; call it with parameters.

    Raises:
        ParameterError: there is none of that name.
    """
    if name not in names():
        near = get_close_matches(name.lower().replace("_", "-"), names(), 1, 0.5)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise ParameterError(f"{name!r} is not a system{hint} (there are {', '.join(names())})")
    module = importlib.import_module(f"podium.systems.{name.replace('-', '_')}")
    system: type[System] = module.SYSTEM
    return system
