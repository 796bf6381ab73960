"""What every rating system is: frozen parameters with their meaning, and facts that the engine reads."""

import functools
import math
import sys
import types
from collections.abc import Mapping, Sequence
from dataclasses import Field, dataclass, field, fields
from types import MappingProxyType
from typing import Any, ClassVar, Self, get_args, get_type_hints

import numpy as np
import numpy.typing as npt

from podium.engine.inputs import PRESENT
from podium.engine.pool_state import PoolReader
from podium.engine.rules import Points, enter, expect
from podium.errors import ParameterError
from podium.kernels.compiled import SHIPPED, qualify, version_of
from podium.kernels.logarithm import LN_10
from podium.probability.logistic import room_for_logistic_sums
from podium.probability.ranks import GumbelPerformances, Performances
from podium.support.words import suggestion

STEP = 1e-4  # points over which a slope is taken
ELO_SCALE = 400.0 / LN_10  # points for odds of e to 1
ROUNDING = 0.05  # of a decimal: scales so close to a power of ten below Elo's are that power
LARGEST = 1e9  # a parameter that says nothing of its range: beyond, ratings lose their tenths of a point
BOOLEAN_WORDS = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}


def parameter(
    default: Any,
    help: str,  # noqa: A002  (the word that users read)
    *,
    unit: str = "",
    low: float = -LARGEST,
    high: float = LARGEST,
    choices: tuple[str, ...] = (),
    search: tuple[float, float] | None = None,
) -> Any:
    """A setting of a system: its default, meaning, unit, and the closed range or the words it may take.

    `search` is where tuning looks; where None, from an eighth of the default to eight times it.
    """
    metadata = {"help": help, "unit": unit, "low": low, "high": high, "choices": choices, "search": search}
    return field(default=default, metadata=metadata)


def conservatism() -> Any:
    """The setting of a system with deviations, which moves ranks and no rating; TrueSkill's own boards have it at 3."""
    return parameter(0.0, "deviations taken off where players are ranked; moves no rating", low=0.0, high=10.0)


@functools.lru_cache(256)  # needed at each number
def measure_scale(system: "System") -> float:
    """Points between newcomers that make the odds e to 1, by the slope of `expect` at equals; Elo's without one."""
    params, newcomer = system.params(), system.newcomer()
    moved = {name: getattr(newcomer, name) + STEP for name in system.with_level}
    above, equal = (enter(params, state, PRESENT) for state in (newcomer._replace(**moved), newcomer))
    slope = (expect(params, above, equal) - expect(params, equal, above)) / (2.0 * STEP)
    return 0.25 / slope if slope > 0.0 else ELO_SCALE  # the logistic curve's own slope is a quarter


@dataclass(frozen=True, slots=True)
class System(PoolReader):
    """A rating system: parameters, checked once when it is created, and facts about its rules.

    A subclass names its `state_type`, `entering_type` and `evidence_type` (NamedTuples of floats), gives a newcomer's
    state, and turns its parameters into the NamedTuple that its rules are registered for.
    """

    name: ClassVar[str] = ""
    title: ClassVar[str] = ""
    for_players: ClassVar[str] = "Beat those rated above you and you gain more."
    source: ClassVar[str] = ""
    formulas: ClassVar[tuple[str, ...]] = ()

    state_type: ClassVar[type[Any]]
    entering_type: ClassVar[type[Any]]
    evidence_type: ClassVar[type[Any]] = Points

    # The types between the steps of a duel (see `steps`), or none for pairs whose rules read only places and have
    # no branches: either way a processor takes several duels at once. None: they go one after the other.
    duel_types: ClassVar[tuple[type[Any], ...] | None] = None

    needs: ClassVar[tuple[str, ...]] = ()  # columns that every finisher must fill
    teams: ClassVar[bool] = True  # team mates are not compared, and share the team's result
    needs_finisher: ClassVar[bool] = False  # an event that everyone quits is not rated
    unfinished: ClassVar[str] = (  # what a quit or dnf costs
        "It loses to everyone who finished the heat; two who did not finish are not compared."
    )
    margin: ClassVar[str] = "It does not: ahead is ahead, by a hair or by a lap."  # whether it matters by how much
    stakes: ClassVar[str] = (  # what makes one event count more than another
        "Every event counts the same, unless it was sent with a weight."
    )
    takes_periods: ClassVar[bool] = True  # may settle at the end of a day, week or month
    idles_by: ClassVar[str] = "day"  # or by "period": what a setting `idle_growth` makes a deviation grow
    conserves: ClassVar[bool] = False  # the exchange sums to zero
    weight_repeats: ClassVar[bool] = True  # a heat of weight two counts as the heat held twice
    equals_drift: ClassVar[bool] = False  # by design, equals who play only each other gain or lose points together
    better_in_fields: ClassVar[str] = ""  # the system that suits more than two in a heat, where this one overshoots
    game: ClassVar[str] = ""  # whose community devised it
    ties_in_file_order: ClassVar[bool] = False  # who ties is linked to neighbours in the order of the file
    whole_numbers: ClassVar[tuple[str, ...]] = ("events",)
    min_events: ClassVar[int] = 0  # before a player stands on the leaderboard
    settled_deviation: ClassVar[float | None] = None  # above it a rating is provisional
    level: ClassVar[str] = "rating"  # the field that a new season draws towards a newcomer's
    limits: ClassVar[tuple[str, ...]] = ()  # where the rules stop short of their source's formulas, a sentence each
    instead: ClassVar[str] = ""  # what suits results that drive players to a limit: "rate ... with ..."
    with_level: ClassVar[tuple[str, ...]] = ("rating",)  # the fields that move by as many points
    together: ClassVar[tuple[str, ...]] = ()  # fields of which one says nothing without the others
    signed: ClassVar[tuple[str, ...]] = ()  # fields that may be negative, beside those of `with_level`
    most: ClassVar[Mapping[str, float]] = MappingProxyType({})  # what fields of a state may be at most

    @property
    def overall_set(self) -> bool:
        """Whether an event of several heats is compared once more, by its overall result."""
        return False

    @property
    def idle_unit(self) -> str | None:
        """What `Entrant.idle` counts: "day", "period", or None where it is not read, as without an `idle_growth`."""
        return self.idles_by if getattr(self, "idle_growth", None) else None

    @property
    def quits_later_heats(self) -> bool:
        """Whether quitting one heat loses every later one too."""
        return False

    @property
    def shipped(self) -> bool:
        """Whether all its rules are Podium's own, whose machine code is kept on disk, keyed by their sources."""
        return self.is_ours and version_of(type(self.params())) in SHIPPED

    @property
    def is_ours(self) -> bool:
        """Whether Podium comes with it; a stranger may have registered rules for it all the same."""
        return type(self).__module__.startswith("podium.systems.")

    @property
    def label(self) -> str:
        """The name, with the parameters that are not the default: `elo:k=20`, as a command takes it."""
        own = [
            f"{setting.name}={as_setting(getattr(self, setting.name))}"
            for setting in fields(self)
            if getattr(self, setting.name) != setting.default
        ]
        return f"{self.name}:{','.join(own)}" if own else self.name

    def __post_init__(self) -> None:
        for setting in fields(self):
            if setting.name in reserved_names():
                raise ParameterError(
                    f"{type(self).__qualname__}: every system has an attribute {setting.name!r}, so no parameter may "
                    f"have that name. Rename the parameter, for example to my_{setting.name}."
                )
            value = valid_value(type(self), setting, getattr(self, setting.name))
            object.__setattr__(self, setting.name, value)

    def params(self) -> Any:
        """The numbers that the rules read, constants derived once."""
        raise NotImplementedError

    def newcomer(self) -> Any:
        """The state of a player who has not played."""
        raise NotImplementedError

    @classmethod
    def column(cls, name: str) -> int:
        """Which column of a table of states holds this field."""
        index: int = cls.state_type._fields.index(name)
        return index

    def prototypes(self) -> tuple[Any, Any, Any]:
        """An example of each NamedTuple the engine handles: a newcomer, an entering state, and no evidence."""
        return self.newcomer(), blank(self.entering_type), blank(self.evidence_type)

    def arguments(self) -> tuple[Any, tuple[Any, Any, Any]]:
        """What every kernel takes first: the numbers that the rules read, and the prototypes."""
        params = self.params()
        version = version_of(type(params))
        prototypes = self.prototypes()
        for kind in map(type, prototypes):
            if not kind.__module__.startswith("podium."):
                qualify(kind)
        return (params if version is type(params) else version(*params)), prototypes

    def large_heat_room(self, size: int) -> Any:
        """Scratch that the rule for large heats writes, a NamedTuple of arrays, for heats of up to so many entrants."""
        return room_for_logistic_sums(size)

    def performances(self, entering_states: Sequence[Any]) -> Performances:
        """How the players of a field perform, from what each brings: lower is better.

        By default as a field does whose pairs the system's `expect` explains: each one's log-odds against a
        newcomer are its strength in Plackett and Luce's model. A system with a model of its own says so.
        """
        params, newcomer = self.params(), enter(self.params(), self.newcomer(), PRESENT)
        lead = np.array(
            [log_odds(expect(params, me, newcomer), expect(params, newcomer, me)) for me in entering_states]
        )
        return GumbelPerformances(-lead, np.ones(lead.size))

    def as_one(self, sides: Any, number: int) -> Any:  # noqa: ARG002  (a system's own reads them)
        """What a side of several brings, were it one player; None where a side is no sum of its members."""
        return None

    @property
    def points_per_logit(self) -> float:
        """The system's scale: points between newcomers that make the odds e to 1; Elo's where the odds stay even."""
        return measure_scale(self)

    @property
    def digits(self) -> int:
        """Decimals of points that people read, at least one: the last is worth no more than Elo's first."""
        return max(1, math.ceil(1.0 - ROUNDING - math.log10(self.points_per_logit / ELO_SCALE)))

    def season_begins(self, states: npt.NDArray[np.float64], keep: float) -> npt.NDArray[np.float64]:
        """The states after a soft reset: each keeps a share of its lead over a newcomer, and all else that is known.

        Args:
            states: (players, fields) float64; not changed.
            keep: the share, from 0 (all start level) to 1 (nothing changes).
        """
        level = self.column(self.level)
        moved = states.copy()
        shift = (keep - 1.0) * (states[:, level] - self.newcomer()[level])
        for name in self.with_level:
            moved[:, self.column(name)] += shift
        return moved

    def unsettled(self, states: npt.NDArray[np.float64]) -> npt.NDArray[np.bool_]:
        """Which players' ratings are not settled yet; `states` is (players, fields)."""
        early = states[:, self.column("events")] < self.min_events
        if self.settled_deviation is not None:
            early |= states[:, self.column("deviation")] > self.settled_deviation
        return early

    def score(self, rating: Any, deviation: Any) -> Any:
        """What ranks follow, of numbers, arrays or columns: the rating, less `conservative` deviations where set."""
        share = getattr(self, "conservative", 0.0)
        return rating - share * deviation if share else rating

    @property
    def ranking(self) -> str:
        """What ranks follow where that is not the rating alone, in words; empty where it is."""
        less = self.score(0.0, -1.0)
        return f"ranks follow the rating less {less:g} times the deviation" if less else ""

    def scores(self, states: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """What ranks follow, (players), of states, (players, fields)."""
        columns = dict(zip(self.state_type._fields, states.T, strict=True))
        return self.score(columns["rating"], columns.get("deviation"))  # type: ignore[no-any-return]

    def at_limit(self, states: npt.NDArray[np.float64]) -> npt.NDArray[np.bool_]:
        """Which players are at one of the `limits`, where ratings say little; `states` is (players, fields)."""
        return np.zeros(states.shape[0], np.bool_)

    def limit_notice(self, states: npt.NDArray[np.float64]) -> str | None:
        """How many players are at a limit and what suits such results; None where none is."""
        count = int(self.at_limit(states).sum())
        if not count:
            return None
        return f"{self.name}: {count:,} of {len(states):,} players are beyond what the system can rate; {self.instead}"

    def shown(self, states: npt.NDArray[np.float64]) -> dict[str, npt.NDArray[Any]]:
        """The state's fields as columns for people, `rating` first; `states` is (rows, fields)."""
        columns: dict[str, npt.NDArray[Any]] = {}
        for k, name in enumerate(self.state_type._fields):
            values = states[:, k]
            columns[name] = values.astype(np.int64) if name in self.whole_numbers else np.ascontiguousarray(values)
        return columns

    def unpacked(self, columns: dict[str, npt.NDArray[np.uint64]]) -> dict[str, npt.NDArray[np.float64]]:
        """The fields of the state in those columns of `shown` that are no field themselves."""
        return {name: values.astype(np.float64) for name, values in columns.items() if name in self.state_type._fields}

    def filled_states(self, known: Mapping[str, npt.NDArray[np.float64]]) -> npt.NDArray[np.float64]:
        """Whole states from what is known of players; the rest is a newcomer's, at the height of the rating.

        Args:
            known: fields by name, each (players) float64, NaN where not known; `rating` always is.

        Returns:
            (players, fields) float64.
        """
        newcomer = self.newcomer()
        rating = known["rating"]
        states = np.tile(np.array(newcomer, np.float64), (rating.size, 1))
        for k, name in enumerate(self.state_type._fields):
            if name in self.with_level:
                states[:, k] += rating - newcomer.rating
            if name == "peak":
                states[:, k] = np.maximum(states[:, k], rating)
            if name in known:
                states[:, k] = np.where(np.isnan(known[name]), states[:, k], known[name])
        return states

    @classmethod
    def from_text(cls, settings: dict[str, Any]) -> Self:
        """A system from settings by name, each a value or the text of one; `none` switches off what can be.

        Raises:
            ParameterError: an unknown setting, or a value that does not fit.
        """
        known = {setting.name: setting for setting in fields(cls)}
        for name in settings:
            if name not in known:
                raise ParameterError(unknown_setting(cls, name, list(known)))
        return cls(**{name: parse_value(cls, known[name], value) for name, value in settings.items()})


def as_setting(value: Any) -> str:
    """A parameter's value as a user writes it."""
    return "none" if value is None else str(value).lower() if isinstance(value, bool) else str(value).removesuffix(".0")


def log_odds(chance: float, other: float) -> float:
    """The logarithm of chance / other, which sum to 1, from the smaller, whose digits are all there."""
    least = max(min(chance, other), sys.float_info.min)
    lower = math.log(least) - math.log1p(-least)
    return lower if chance <= other else -lower


def blank(kind: type[Any]) -> Any:
    """A NamedTuple of zeros."""
    return kind(*(0.0,) * len(kind._fields))


@functools.cache
def hints(cls: Any) -> dict[str, Any]:
    """The types of a system's settings."""
    return get_type_hints(cls)


@functools.cache
def reserved_names() -> frozenset[str]:
    """Return the names of all attributes that every system has; no parameter may take one."""
    return frozenset((*dir(System), *hints(System)))


def kinds(cls: type[System], setting: Field[Any]) -> tuple[type, ...]:
    """The types a setting may have, `NoneType` among them where it can be switched off."""
    hint = hints(cls)[setting.name]  # type: ignore[arg-type]
    return tuple(get_args(hint)) if isinstance(hint, types.UnionType) else (hint,)


def valid_value(cls: type[System], setting: Field[Any], value: Any) -> Any:
    """The value, if it fits the setting; a ParameterError where it is of another type, or out of range."""
    may_be = kinds(cls, setting)
    if value is None and type(None) in may_be:
        return None
    if bool in may_be and isinstance(value, bool | np.bool_):
        return bool(value)
    if str in may_be and isinstance(value, str) and value in (setting.metadata["choices"] or (value,)):
        return value
    if isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool):
        low, high = setting.metadata["low"], setting.metadata["high"]
        if float in may_be and low <= value <= high and math.isfinite(value):
            return float(value)
        if int in may_be and low <= value <= high and float(value).is_integer():
            return int(value)
    raise ParameterError(f"{cls.name}: {setting.name} is {value!r}; it must be {allowed(cls, setting)}")


def parse_value(cls: type[System], setting: Field[Any], value: Any) -> Any:
    """Read the value that a text stands for, by the setting's type; other values as they are."""
    if not isinstance(value, str):
        return value
    may_be, word = kinds(cls, setting), value.strip().lower()
    if word in ("none", "off") and type(None) in may_be:
        return None
    if bool in may_be and word in BOOLEAN_WORDS:
        return BOOLEAN_WORDS[word]
    if float in may_be or int in may_be:
        try:
            return float(word)
        except ValueError:
            return value
    return word if str in may_be else value


def allowed(cls: type[System], setting: Field[Any]) -> str:
    """What a setting may be, in words: "a number from 0 to 500 points, or none (what it means)"."""
    facts, may_be = setting.metadata, kinds(cls, setting)
    parts = []
    if float in may_be or int in may_be:
        kind = "a number" if float in may_be else "a whole number"
        span = f" from {facts['low']:g} to {facts['high']:g}"
        unit = f" {facts['unit']}" if facts["unit"] else ""
        parts.append(f"{kind}{span}{unit}")
    if bool in may_be:
        parts.append("true or false")
    parts.extend(facts["choices"] or (("a text",) if str in may_be else ()))
    if type(None) in may_be:
        parts.append("none")
    words = f"{', '.join(parts[:-1])} or {parts[-1]}" if len(parts) > 1 else parts[0]
    return f"{words} ({facts['help']})"


def unknown_setting(cls: type[System], name: str, known: list[str]) -> str:
    """The message about a setting that does not exist."""
    return f"{cls.name} has no parameter {name!r}{suggestion(name, known)} (it has {', '.join(known)})"
