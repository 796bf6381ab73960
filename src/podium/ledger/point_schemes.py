"""Points schemes for championships: points for places and awards, and the number of rounds that count."""

import math
from collections.abc import Mapping
from typing import NamedTuple

from podium.errors import ParameterError
from podium.support.immutable import immutable
from podium.support.words import suggestion

Points = tuple[float, ...]  # for the first place, the second, and so on

SCHEMES = {
    "f1": "25,18,15,12,10,8,6,4,2,1",  # since 2010
    "f1-2003": "10,8,6,5,4,3,2,1",
    "f1-1991": "10,6,4,3,2,1",
    "f1-1961": "9,6,4,3,2,1",
    "motogp": "25,20,16,13,11,10,9,8,7,6,5,4,3,2,1",
    "mario-kart": "15,12,10,9,8,7,6,5,4,3,2,1",
}
COUNTS = ("best", "drop", "teams", "rounds")
MAX_COUNT, MAX_PLACES, MAX_POINTS, MAX_CHARACTERS = 1_000, 1_000, 1_000_000, 500
HELP = (
    "Write a name or a list, then any settings, for example: f1 drop=2 teams=2 rounds=12 sprint=8,7,6 +fastest_lap=1/10"
)


class Award(NamedTuple):
    """The points for an award, such as the fastest lap."""

    points: float
    within: float = math.inf  # only for the first places, up to this one


@immutable
class Scheme:
    """The points scheme of a championship."""

    points: Points
    kinds: Mapping[str, Points]  # points for other kinds of races, by mode
    awards: Mapping[str, Award]
    text: str
    best: int | None = None  # number of rounds that count
    drop: int | None = None  # number of rounds that do not count
    teams: int | None = None  # number of members who score for a team in each round; None for all members
    rounds: int | None = None  # number of rounds in the season

    def counting(self, rounds: int) -> int:
        """Return the number of rounds that count in a season with this many rounds."""
        return self.best or max(rounds - (self.drop or 0), 1)

    def most(self, members: int | None = 1) -> float:
        """Return the most points that this many players can score together in a round with a race of each kind."""
        races = (sum(sorted(points, reverse=True)[:members]) for points in (self.points, *self.kinds.values()))
        return sum(races) + sum(max(award.points, 0.0) for award in self.awards.values())


def plain_key(text: str) -> str:
    """Return the name of a mode or an award in the form that schemes use."""
    return "_".join(text.casefold().replace("_", " ").split())


def read_scheme(text: str) -> Scheme:
    """Parse a scheme such as `f1 drop=2` or `10,8,6 sprint=3,2,1 +pole=1`.

    Raises:
        ParameterError: the text is not a valid scheme.
    """
    if len(text) > MAX_CHARACTERS:
        raise ParameterError(f"a points scheme has at most {MAX_CHARACTERS} characters. Leave out what is not needed.")
    name, *settings = text.split() or [""]
    listed = SCHEMES.get(name.casefold(), name)
    if not listed[:1].isdigit():
        known = ", ".join(SCHEMES)
        raise ParameterError(f"{name!r} is not a points scheme{suggestion(name, SCHEMES)} (schemes: {known}). {HELP}")
    kinds, awards, counts = dict[str, Points](), dict[str, Award](), dict[str, int]()
    for setting in settings:
        key, equals, value = setting.partition("=")
        if not (key.strip("+") and equals):
            raise ParameterError(f"{setting!r} is not a setting of a points scheme. {HELP}")
        if key in COUNTS:
            counts[key] = read_count(key, value)
        elif key.startswith("+"):
            own, slash, within = value.partition("/")
            limit = read_count(key, within) if slash else math.inf
            awards[plain_key(key[1:])] = Award(read_points(own)[0], limit)
        else:
            kinds[plain_key(key)] = read_points(value)
    if "best" in counts and "drop" in counts:
        raise ParameterError("best and drop contradict each other. Give one of them.")
    return Scheme(read_points(listed), kinds, awards, " ".join(text.split()), **counts)


def read_points(text: str) -> Points:
    try:
        points = tuple(float(value) for value in text.split(","))
    except ValueError:
        points = ()
    if not points or len(points) > MAX_PLACES or not all(abs(value) <= MAX_POINTS for value in points):
        raise ParameterError(f"{text!r} is not a list of points. Write numbers such as 25,18,15")
    return points


def read_count(key: str, text: str) -> int:
    if not (text.isdecimal() and 1 <= int(text) <= MAX_COUNT):
        raise ParameterError(f"{key}={text}: use a whole number from 1 to {MAX_COUNT:,}, for example {key}=2")
    return int(text)
