"""The base class of rating systems: frozen, documented parameters, and properties that the engine reads."""

import functools
import math
import sys
import types
from collections.abc import Mapping, Sequence
from dataclasses import Field, field, fields, replace
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
from podium.probability.logistic import logistic_workspace
from podium.probability.ranks import GumbelPerformances, Performances
from podium.support.arrays import Array, Floats, Mask
from podium.support.immutable import immutable
from podium.support.words import in_words, suggestion

STEP = 1e-4  # difference in points between the two states used to measure a slope
ELO_SCALE = 400.0 / LN_10  # points per unit of log-odds
ROUNDING = 0.05  # in decimals: a scale this close below Elo's times a power of ten counts as that power
LARGEST = 1e9  # default bound of a parameter: larger ratings would lose their tenths of a point
BOOLEAN_WORDS = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}


def parameter(
    default: Any,
    help: str,  # noqa: A002  (the word that users read)
    *,
    unit: str = "",
    low: float = -LARGEST,
    high: float = LARGEST,
    choices: tuple[str, ...] = (),
    search: tuple[float, float] | tuple[()] | None = None,
) -> Any:
    """Declare a parameter of a system: its default, meaning and unit, and its (inclusive) range or allowed words.

    `search` is the range for tuning: by default, from an eighth of the default value to eight times that value. A
    parameter with an empty range is not tuned.
    """
    metadata = {"help": help, "unit": unit, "low": low, "high": high, "choices": choices, "search": search}
    return field(default=default, metadata=metadata)


def conservatism() -> Any:
    """Declare the `conservative` parameter, which affects ranks but not ratings. TrueSkill's leaderboards use 3."""
    return parameter(0.0, "number of deviations subtracted for ranking; does not change ratings", low=0.0, high=10.0)


@functools.lru_cache(256)  # needed whenever a number is displayed
def measure_scale(system: "System") -> float:
    """Return the points that mean odds of e to 1 between newcomers, from the slope of `expect` at equal ratings.

    The newcomers are always those of a new pool, so the scale does not depend on what a pool has learnt. If the slope
    is zero, Elo's scale is used.
    """
    new_pool = replace(system)  # the cache treats equal systems as one, whatever their pools have learnt
    params, newcomer = new_pool.params(), new_pool.newcomer()
    moved = {name: getattr(newcomer, name) + STEP for name in system.with_level}
    above, equal = (enter(params, state, PRESENT) for state in (newcomer._replace(**moved), newcomer))
    slope = (expect(params, above, equal) - expect(params, equal, above)) / (2.0 * STEP)
    return 0.25 / slope if slope > 0.0 else ELO_SCALE  # the logistic curve has a slope of a quarter


@immutable
class System(PoolReader):
    """A rating system: its parameters, which are checked when it is created, and the properties of its rules.

    A subclass defines `state_type`, `entering_type` and `evidence_type` (NamedTuples of floats). Its `newcomer` returns
    a newcomer's state. Its `params` converts the parameters to the NamedTuple for which its rules are registered.
    """

    name: ClassVar[str] = ""
    title: ClassVar[str] = ""
    for_players: ClassVar[str] = "Beat those rated above you and you gain more."
    source: ClassVar[str] = ""
    formulas: ClassVar[tuple[str, ...]] = ()

    state_type: ClassVar[type[Any]]
    entering_type: ClassVar[type[Any]]
    evidence_type: ClassVar[type[Any]] = Points

    # Types that are passed between the steps of a duel, or an empty tuple for pair rules that read only places and have
    # no branches. In both cases, a processor handles several duels at once. If None, duels are rated one by one.
    duel_types: ClassVar[tuple[type[Any], ...] | None] = None

    needs: ClassVar[tuple[str, ...]] = ()  # columns in which each finisher needs a value
    teams: ClassVar[bool] = True  # team mates share the team's result, and are not compared
    refuses_teams: ClassVar[bool] = False  # a heat between teams is an error
    rates_absent: ClassVar[bool] = False  # players who did not start are rated, and every two who started are compared
    reads_ages: ClassVar[bool] = False  # the age groups of players matter
    needs_finisher: ClassVar[bool] = False  # an event in which everyone quits is not rated
    unfinished: ClassVar[str] = (  # effect of a quit or dnf
        "It loses to everyone who finished the heat; two who did not finish are not compared."
    )
    winning_margin: ClassVar[str] = (  # effect of a win's margin
        "It does not: a narrow lead counts as much as a large one."
    )
    stakes: ClassVar[str] = (  # reasons why one event counts more than another
        "Every event counts the same, unless it was sent with a weight."
    )
    takes_periods: ClassVar[bool] = True  # can update ratings at the end of a day, week or month
    idles_by: ClassVar[str] = (
        "day"  # the unit of idle time, over which `idle_growth` increases a deviation: see `idle_unit`
    )
    conserves: ClassVar[bool] = False  # the points exchanged sum to zero
    weight_repeats: ClassVar[bool] = True  # a heat with weight two counts like the same heat held twice
    equals_drift: ClassVar[bool] = False  # by design, equal players who only play each other can all gain or lose
    better_in_fields: ClassVar[str] = ""  # the system to use for fields of three or more, in which this one overshoots
    game: ClassVar[str] = ""  # game for which the system was made
    ties_in_file_order: ClassVar[bool] = False  # tied players are compared with their neighbours in file order
    whole_numbers: ClassVar[tuple[str, ...]] = ("events",)
    min_events: ClassVar[int] = 0  # events before a player is on the leaderboard
    established_deviation: ClassVar[float | None] = None  # a rating with a larger deviation is provisional
    level: ClassVar[str] = "rating"  # field that a new season moves towards a newcomer's value
    limits: ClassVar[tuple[str, ...]] = ()  # deviations from the source's formulas, one sentence each
    instead: ClassVar[str] = ""  # advice if results drive players to a limit: "rate ... with ..."
    deviations: ClassVar[tuple[str, ...]] = ("deviation",)  # deviations of the rating, if the state has these fields
    with_level: ClassVar[tuple[str, ...]] = ("rating",)  # fields that shift with the rating, by the same points
    together: ClassVar[tuple[str, ...]] = ()  # fields that are meaningless without each other
    displayed: ClassVar[int | None] = None  # number of the state's first fields to display; None for all
    signed: ClassVar[tuple[str, ...]] = ()  # fields that may be negative, besides `with_level`
    most: ClassVar[Mapping[str, float]] = MappingProxyType({})  # upper bounds of the fields of a state

    @property
    def overall_set(self) -> bool:
        """True if an event with several heats is also compared by its overall result."""
        return False

    @property
    def idle_unit(self) -> str | None:
        """The unit of `Entrant.idle`, or None if idle time is not used, for example without `idle_growth`.

        The units are whole days ("day"), missed rating periods ("period"), seasons that have begun ("season"), and days
        with a fraction ("time"), in systems that update ratings after each event.
        """
        return self.idles_by if getattr(self, "idle_growth", None) else None

    @property
    def quits_later_heats(self) -> bool:
        """True if a player who quits one heat also loses every later heat."""
        return False

    @property
    def shipped(self) -> bool:
        """True if all rules are Podium's own. Their machine code is cached on disk, keyed by their sources."""
        return self.is_ours and version_of(type(self.params())) in SHIPPED

    @property
    def is_ours(self) -> bool:
        """True if the system comes with Podium, even if other packages registered rules for it."""
        return type(self).__module__.startswith("podium.systems.")

    @property
    def label(self) -> str:
        """The name with all parameters that differ from their defaults, as commands accept it: `elo:k=20`."""
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
        """Return the rules' parameters, including derived constants."""
        raise NotImplementedError

    def newcomer(self) -> Any:
        """Return the state of a player who has not played yet."""
        raise NotImplementedError

    @classmethod
    def column(cls, name: str) -> int:
        """Return the column of a field in a table of states."""
        index: int = cls.state_type._fields.index(name)
        return index

    def prototypes(self) -> tuple[Any, Any, Any]:
        """Return examples of the engine's NamedTuples: a newcomer's state, an entering state and zero evidence."""
        return self.newcomer(), zeros(self.entering_type), zeros(self.evidence_type)

    def arguments(self) -> tuple[Any, tuple[Any, Any, Any]]:
        """Return the first arguments of every kernel: the rules' parameters and the prototypes."""
        params = self.params()
        version = version_of(type(params))
        prototypes = self.prototypes()
        for kind in map(type, prototypes):
            if not kind.__module__.startswith("podium."):
                qualify(kind)
        return (params if version is type(params) else version(*params)), prototypes

    def large_heat_workspace(self, size: int) -> Any:
        """Return working memory for the rule for large heats: a NamedTuple of arrays, for up to `size` entrants."""
        return logistic_workspace(size)

    def performances(self, entering_states: Sequence[Any]) -> Performances:
        """Return the distribution of performances in a field, given the entering states. Lower performances are better.

        By default, it is a Plackett-Luce model, in which a player's strength is the log-odds against a newcomer. A
        system with its own model overrides this.
        """
        params, newcomer = self.params(), enter(self.params(), self.newcomer(), PRESENT)
        lead = np.array(
            [log_odds(expect(params, me, newcomer), expect(params, newcomer, me)) for me in entering_states]
        )
        return GumbelPerformances(-lead, np.ones(lead.size))

    def as_one(self, sides: Any, number: int) -> Any:  # noqa: ARG002  (a system's own reads them)
        """Return the entering state of a side as one player, or None if the system cannot treat sides as players."""
        return None

    @property
    def points_per_logit(self) -> float:
        """The system's scale: the number of points that mean odds of e to 1 between newcomers.

        If the odds are always even, it is Elo's scale.
        """
        return measure_scale(self)

    @property
    def digits(self) -> int:
        """The number of decimal places in displayed points: at least one, and as precise as one decimal in Elo."""
        return max(1, math.ceil(1.0 - ROUNDING - math.log10(self.points_per_logit / ELO_SCALE)))

    def season_begins(self, states: Floats, keep: float) -> Floats:
        """Return the states after a soft reset, in which each player keeps a share of their lead over a newcomer.

        Args:
            states: A float64 array of shape (players, fields), which is not changed.
            keep: The share of the lead to keep, from 0 (all start equal) to 1 (nothing changes).
        """
        level = self.column(self.level)
        moved = states.copy()
        shift = (keep - 1.0) * (states[:, level] - self.newcomer()[level])
        for name in self.with_level:
            moved[:, self.column(name)] += shift
        return moved

    def widen(self, states: Floats, before: Floats, keep: float) -> None:
        """Make each rating less certain by as many points as the new season moved it, up to a newcomer's deviation.

        In a system without deviations, events before the season no longer count towards `min_events`.

        Args:
            states: The states after `season_begins`. They are changed in place.
            before: The states before `season_begins`.
            keep: The share of each lead that `season_begins` kept.
        """
        level = self.column(self.level)
        taken = (1.0 - keep) * (before[:, level] - self.newcomer()[level])
        names = [name for name in self.deviations if name in self.state_type._fields]
        for name in names:
            deviation = states[:, self.column(name)]
            np.maximum(deviation, np.minimum(np.hypot(deviation, taken), self.newcomer().deviation), out=deviation)
        if not names and self.min_events and keep < 1.0:
            states[:, self.column("events")] = 0.0

    def is_provisional(self, states: Floats) -> Mask:
        """Return a mask of the players with a provisional rating. `states` has shape (players, fields)."""
        early = states[:, self.column("events")] < self.min_events
        if self.established_deviation is not None:
            early |= states[:, self.column("deviation")] > self.established_deviation
        return early

    def score(self, rating: Any, deviation: Any) -> Any:
        """Return the score that determines ranks, for numbers, arrays or columns: rating - conservative * deviation."""
        share = getattr(self, "conservative", 0.0)
        return rating - share * deviation if share else rating

    @property
    def ranking(self) -> str:
        """A sentence that explains the ranks, or an empty string if they depend only on the rating."""
        less = self.score(0.0, -1.0)
        return f"ranks follow the rating minus {less:g} times the deviation" if less else ""

    def scores(self, states: Floats) -> Floats:
        """Return the score that determines each player's rank, from states of shape (players, fields)."""
        columns = dict(zip(self.state_type._fields, states.T, strict=True))
        return self.score(columns["rating"], columns.get("deviation"))  # type: ignore[no-any-return]

    def at_limit(self, states: Floats) -> Mask:
        """Return a mask of the players whose ratings have reached a limit and therefore mean little.

        `states` has shape (players, fields).
        """
        return np.zeros(states.shape[0], np.bool_)

    def limit_notice(self, states: Floats) -> str | None:
        """Return a sentence with the number of players at a limit and an alternative.

        Return None if no player is at a limit.
        """
        count = int(self.at_limit(states).sum())
        if not count:
            return None
        return (
            f"{self.name}: {count:,} of {len(states):,} players are outside the range that the system can"
            f" rate; {self.instead}"
        )

    def shown(self, states: Floats) -> dict[str, Array]:
        """Return the fields of states as columns to display, with `rating` first. `states` has shape (rows, fields)."""
        columns: dict[str, Array] = {}
        for k, name in enumerate(self.state_type._fields[: self.displayed]):
            values = states[:, k]
            columns[name] = values.astype(np.int64) if name in self.whole_numbers else np.ascontiguousarray(values)
        return columns

    def unpacked(self, columns: dict[str, npt.NDArray[np.uint64]]) -> dict[str, Floats]:
        """Return the fields that `shown` packs into other columns, given those columns."""
        return {name: values.astype(np.float64) for name, values in columns.items() if name in self.state_type._fields}

    def filled_states(self, known: Mapping[str, Floats]) -> Floats:
        """Complete states of which only some fields are known.

        The other fields get a newcomer's values, shifted with the rating.

        Args:
            known: Fields by name: float64 arrays of shape (players,), with NaN for unknown values. `rating` is
                required, and must not contain NaN.

        Returns:
            A float64 array of shape (players, fields).
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
        """Create a system from settings, which may be values or strings.

        `none` switches off an optional setting.

        Raises:
            ParameterError: A setting does not exist, or its value is invalid.
        """
        known = {setting.name: setting for setting in fields(cls)}
        for name in settings:
            if name not in known:
                raise ParameterError(unknown_setting(cls, name, list(known)))
        return cls(**{name: parse_value(cls, known[name], value) for name, value in settings.items()})


def as_setting(value: Any) -> str:
    """Return a parameter's value as a user would write it."""
    return "none" if value is None else str(value).lower() if isinstance(value, bool) else str(value).removesuffix(".0")


def log_odds(chance: float, other: float) -> float:
    """Return ln(chance / other). The two sum to 1. Only the smaller one is used, because it is more precise."""
    smaller = max(min(chance, other), sys.float_info.min)
    lower = math.log(smaller) - math.log1p(-smaller)
    return lower if chance <= other else -lower


def zeros(kind: type[Any]) -> Any:
    """Return a NamedTuple of zeros."""
    return kind(*(0.0,) * len(kind._fields))


@functools.cache
def hints(cls: Any) -> dict[str, Any]:
    """Return the types of a system's settings, by name."""
    return get_type_hints(cls)


@functools.cache
def reserved_names() -> frozenset[str]:
    """Return the names of the attributes that every system has, which no parameter may use."""
    return frozenset((*dir(System), *hints(System)))


def kinds(cls: type[System], setting: Field[Any]) -> tuple[type, ...]:
    """Return the types of a setting, with `NoneType` if it can be switched off."""
    hint = hints(cls)[setting.name]  # type: ignore[arg-type]
    return tuple(get_args(hint)) if isinstance(hint, types.UnionType) else (hint,)


def valid_value(cls: type[System], setting: Field[Any], value: Any) -> Any:
    """Return the value if it is valid for the setting.

    Raise ParameterError if its type is wrong or it is out of range.
    """
    may_be = kinds(cls, setting)
    if value is None and type(None) in may_be:
        return None
    if bool in may_be and isinstance(value, bool | np.bool_):
        return bool(value)
    if str in may_be and isinstance(value, str) and value in (setting.metadata["choices"] or (value,)):
        return value
    if str in may_be and f"{value}" in setting.metadata["choices"]:
        return f"{value}"
    if isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool):
        low, high = setting.metadata["low"], setting.metadata["high"]
        if float in may_be and low <= value <= high and math.isfinite(value):
            return float(value)
        if int in may_be and low <= value <= high and float(value).is_integer():
            return int(value)
    raise ParameterError(f"{cls.name}: {setting.name} is {value!r}; it must be {allowed(cls, setting)}")


def parse_value(cls: type[System], setting: Field[Any], value: Any) -> Any:
    """Convert a string to a value of the setting's type. Return other values unchanged."""
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
    """Describe the values allowed for a setting: "a number from 0 to 500 points, or none (what it means)"."""
    facts, may_be = setting.metadata, kinds(cls, setting)
    parts = []
    if float in may_be or int in may_be:
        kind = "a number" if float in may_be else "a whole number"
        unit = f" {facts['unit']}" if facts["unit"] else ""
        parts.append(f"{kind} from {in_words(facts['low'])} to {in_words(facts['high'])}{unit}")
    if bool in may_be:
        parts.append("true or false")
    parts.extend(facts["choices"] or (("a text",) if str in may_be else ()))
    if type(None) in may_be:
        parts.append("none")
    words = f"{', '.join(parts[:-1])} or {parts[-1]}" if len(parts) > 1 else parts[0]
    return f"{words} ({facts['help']})"


def unknown_setting(cls: type[System], name: str, known: list[str]) -> str:
    """Return the message about a setting that does not exist."""
    return f"{cls.name} has no parameter {name!r}{suggestion(name, known)} (it has {', '.join(known)})"
