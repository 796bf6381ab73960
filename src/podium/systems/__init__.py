"""The registry of rating systems.

The registry is this folder: a file `my_system.py` that ends in `SYSTEM = …` defines the system `my-system`.

Installed packages can add systems through entry points in the `podium.systems` group, but they cannot replace Podium's
own systems.
"""

import functools
import importlib
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from podium.errors import DOCS, ParameterError, PodiumError
from podium.support.words import suggestion

if TYPE_CHECKING:  # completing a name in a shell must not load the engine
    from podium.engine.system import System

IN_FILE = re.compile(r"(?P<file>.+\.py)(?::(?P<name>[^:=,]*))?(?::(?P<settings>.*))?", re.DOTALL)
FORMER_NAMES = {"podium": "adaptive"}  # still accepted everywhere, but never written

FITS = {  # the results for which a system is made, ordered by community
    "irating": "Sim racing leagues that know iRating.",
    "fide": "Chess clubs and federations.",
    "dwz": "Chess clubs in Germany.",
    "uscf": "Chess clubs in the United States.",
    "glicko2": "Online chess and other duels, if some players play rarely and others improve fast.",
    "glicko": "Duels, if some players play rarely.",
    "egf": "Go clubs, with handicap stones.",
    "elo": "Football leagues, drop-in evenings, clubs and small leagues. Everyone can check a change by hand.",
    "adaptive": "Leagues with many events. It tunes itself to their results.",
    "elo-mmr": "Battle royale and contests with hundreds of entrants, if one bad day should cost little.",
    "codeforces": "Contests with hundreds of entrants.",
    "openskill-pl": "Teams and changing partners.",
    "trueskill": "Teams, and games with draws.",
    "openskill-bt": "Small fields, alone or in teams.",
    "openskill-bt-part": "Large fields, alone or in teams.",
    "openskill-tm": "Small fields in which draws are frequent.",
    "openskill-tm-part": "Large fields in which draws are frequent.",
    "folyami": "Races with 5 to 50 entrants.",
    "trials": "Evenings with several heats.",
    "stk": "Races in which times matter, if every finisher has one.",
    "stk-rd": "Races in which times matter and many entrants quit.",
    "xonstat": "Games that players join late or leave early.",
    "xonstat-2015": "Old Xonotic leaderboards that you want to reproduce.",
}


@functools.cache
def names() -> tuple[str, ...]:
    """Return the names of Podium's own systems, sorted."""
    files = Path(__file__).parent.glob("[!_]*.py")
    return tuple(sorted(file.stem.replace("_", "-") for file in files))


def current_name(name: str) -> str:
    """Return the current name of a renamed system. Other names are returned unchanged."""
    return FORMER_NAMES.get(name, name)


def find(name: str) -> "type[System]":
    """Return the class of a system that comes with Podium or with an installed package.

    Raises:
        ParameterError: There is no system with that name.
        RuleError: A package offers the system, but importing it fails.
    """
    name = current_name(name)
    if name in names():
        module = importlib.import_module(f"podium.systems.{name.replace('-', '_')}")
        system: type[System] = module.SYSTEM
        return system
    from podium.systems import _third_party as third_party  # noqa: PLC0415  (packages are searched for other names)

    offers = third_party.offers()
    if name in offers:
        return third_party.load_offered(name, offers[name])
    if IN_FILE.fullmatch(name):
        raise ParameterError(
            f"{name!r} is a file, and only commands run files. In Python, import its class and pass an "
            f"instance. For a pool, install it as a package with an entry point ({DOCS}/own-system.md)."
        )
    known = sorted({*names(), *offers})
    hint = suggestion(name.replace("_", "-"), known)
    raise ParameterError(f"{name!r} is not a system{hint} (systems: {', '.join(known)})")


def make_system(system: "str | System", parameters: Mapping[str, Any] | None = None) -> "System":
    """Return a system, given its name, a string such as `elo:k=20,scale=300`, or an instance, which is returned as is.

    Args:
        parameters: Further parameters, by name. Not allowed with an instance.

    Raises:
        ParameterError: The system or a parameter does not exist, a value is invalid, or a parameter is given twice.
        RuleError: The system's own code fails.
    """
    from podium.engine.rule_checks import check_rules  # noqa: PLC0415  (loads the engine, which `names` does not need)
    from podium.engine.system import System  # noqa: PLC0415

    given = dict(parameters or {})
    if isinstance(system, str):
        name, text = split_settings(system)
        settings = settings_in(text)
        twice = sorted(settings.keys() & given)
        if twice:
            raise ParameterError(f"{system} already sets {twice[0]}. Give it once.")
        return find(name).from_text(settings | given)
    if not isinstance(system, System):
        given_as = f"the class {system.__name__}: call it" if isinstance(system, type) else f"a {type(system).__name__}"
        raise ParameterError(f"a system is a name, such as 'elo' or 'elo:k=20', or an instance of one, not {given_as}")
    check_rules(system)
    if given:
        raise ParameterError(f"{system.name} is already an instance. Pass parameters with a system's name instead.")
    return system


def settings_in(text: str) -> dict[str, str]:
    """Return the settings in a string such as `k=20,scale=300`, by name."""
    pairs = [name_and_value(part) for part in text.split(",") if part.strip()]
    settings = dict(pairs)
    if len(settings) < len(pairs):
        raise ParameterError(f"{text} sets a parameter twice. Give each parameter once.")
    return settings


def name_and_value(text: str) -> tuple[str, str]:
    """Split a setting such as `k=20` into its name and value."""
    name, equals, value = text.partition("=")
    if not equals or not name.strip():
        raise ParameterError(f"{text.strip()!r} is not a setting. Write NAME=VALUE, for example k=20.")
    return name.strip().replace("-", "_"), value.strip()


def load(text: str) -> "type[System]":
    """Return the class of a system, given its name or a Python file such as `my.py:Stakes`, which is run.

    Raises:
        ParameterError: The system does not exist, or it has the name of one of Podium's own systems.
        RuleError: Running the file fails.
    """
    match = IN_FILE.fullmatch(text)
    if match is None:
        return find(text)
    if match["settings"]:
        raise ParameterError(f"{text!r} has settings, which a system from a file cannot have. Write PATH.py:CLASS.")
    from podium.systems import _third_party as third_party  # noqa: PLC0415  (as above)

    system = third_party.load_file(match["file"], match["name"])
    if current_name(system.name) in names():
        raise ParameterError(f"{text}: Podium already has a system {system.name!r}. Choose another name.")
    return system


@functools.cache
def package_version(name: str) -> str:
    """Return the name and version of the package that a system comes from, or an empty string for Podium's own."""
    if name in names():
        return ""
    from podium.systems import _third_party as third_party  # noqa: PLC0415  (as above)

    points = third_party.offers().get(name, [])
    return " ".join(f"{third_party.package_of(point)} {point.dist.version if point.dist else ''}" for point in points)


def split_settings(text: str) -> tuple[str, str]:
    """Split `elo:k=20,scale=300` or `my.py:Stakes:stake=5` into the system and its settings."""
    match = IN_FILE.fullmatch(text)
    if match is not None:
        system = f"{match['file']}:{match['name']}" if match["name"] else match["file"]
        return system, match["settings"] or ""
    name, _, settings = text.partition(":")
    return name.strip(), settings


def outsiders() -> "tuple[list[type[System]], list[str]]":
    """Return the systems of installed packages, and for each system that cannot be used, the reason."""
    from podium.systems import _third_party as third_party  # noqa: PLC0415  (as above)

    systems, refusals = [], []
    for name, points in third_party.offers().items():
        if current_name(name) in names():
            packages = " and ".join(third_party.package_of(point) for point in points)
            refusals.append(f"{packages} offers a system {name!r}, which is the name of one of Podium's own")
            continue
        try:
            systems.append(third_party.load_offered(name, points))
        except PodiumError as error:
            refusals.append(str(error))
    return systems, refusals
