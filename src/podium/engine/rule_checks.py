"""What a system's author got wrong, found in plain Python: one sentence with file and line, not numba's hundred.

Before a third party's system is compiled, its declarations are read and its rules run on three small events as
ordinary Python. What numba refuses after that is named by rule, file and line.
"""

import inspect
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from podium.engine import rules
from podium.engine.inputs import ABSENT, Columns, Entry, Heat, Occasion, comparable, empty_scratch, entrant_at, entry_at
from podium.engine.pool_state import new_pools
from podium.engine.rule_errors import (
    description,
    is_record,
    missing_field,
    rule_title,
    translate_errors,
    whereabouts,
)
from podium.engine.rules import overrides
from podium.engine.system import System, blank
from podium.engine.tables.sides import room_for_sides
from podium.errors import RuleError
from podium.kernels.compiled import RULES
from podium.kernels.records import read

PROBE_ENTRANTS = 3
_checked: set[tuple[Any, ...]] = set()


def check_rules(system: System) -> None:
    """Refuse a system whose declarations do not fit together, or whose rules do not run.

    A system is checked once, and again when a rule is registered anew. The rules of Podium's own are run by
    its tests instead.

    Raises:
        RuleError: the first thing wrong, with file and line.
    """
    key = (type(system),) if system.shipped else (type(system), *registered_rules(system))
    if key in _checked:
        return
    check_declarations(system)
    if not system.shipped:
        run_rules(system)
    _checked.add(key)


def registered_rules(system: System) -> tuple[Any, ...]:
    """The function of each rule that the system runs."""
    with translate_errors(system, type(system).params):
        kind = type(system.params())
    return tuple(rule.dispatch(kind) for rule in RULES)


def check_declarations(system: System) -> None:
    """Refuse a system that lacks a type, a newcomer, parameters or a rule."""
    cls = type(system)
    if not cls.name:
        raise RuleError(f'{whereabouts(cls)}: {cls.__name__} has no name; add name: ClassVar[str] = "my-system"')
    for kind in ("state_type", "entering_type", "evidence_type"):
        if not is_record(getattr(cls, kind, None)):
            raise RuleError(f"{whereabouts(cls)}: {cls.name} has no {kind}; set {kind} = a NamedTuple of floats")
    for field in ("rating", "events", cls.level, *cls.with_level):
        if field not in cls.state_type._fields:
            raise RuleError(f"{whereabouts(cls.state_type)}: {missing_field(cls.state_type, field)}")
    if "rating" not in cls.entering_type._fields:
        raise RuleError(f"{whereabouts(cls.entering_type)}: {missing_field(cls.entering_type, 'rating')}")
    check_newcomer(system)
    check_params(system)
    check_new_pool(system)
    check_registered(system)


def check_newcomer(system: System) -> None:
    """Refuse a newcomer that is not a state of finite floats."""
    cls = type(system)
    with translate_errors(system, cls.newcomer):
        newcomer = system.newcomer()
    if type(newcomer) is not cls.state_type:
        raise RuleError(
            f"{whereabouts(cls.newcomer)}: newcomer() returns {type(newcomer).__name__}, "
            f"but state_type is {cls.state_type.__name__}"
        )
    for field, value in zip(newcomer._fields, newcomer, strict=True):
        if not isinstance(value, float) or not np.isfinite(value):
            raise RuleError(
                f"{whereabouts(cls.newcomer)}: newcomer() gives {field} {value!r}; it must be a float, as 0.0 is"
            )


def check_new_pool(system: System) -> None:
    """Refuse a pool's state that is none of finite floats, or that no rule reads and moves."""
    cls = type(system)
    if cls.pool_state_type is None:
        return
    with translate_errors(system, cls.new_pool):
        pool = system.new_pool()
    if type(pool) is not cls.pool_state_type or not np.isfinite(np.array(pool, np.float64)).all():
        raise RuleError(
            f"{whereabouts(cls.new_pool)}: new_pool() returns {description(pool)}; it must return "
            f"{cls.pool_state_type.__name__} with finite floats"
        )
    for name in ("in_pool", "rate_event"):
        if not overrides(getattr(rules, name), system):
            raise RuleError(f"{whereabouts(cls)}: {cls.name} has a pool_state_type and no rule {name}")


def check_params(system: System) -> None:
    """Refuse parameters that are not a NamedTuple of numbers."""
    cls = type(system)
    with translate_errors(system, cls.params):
        params = system.params()
    if not is_record(type(params)):
        raise RuleError(f"{whereabouts(cls.params)}: params() returns {type(params).__name__}, not a NamedTuple")
    for field, value in params._asdict().items():
        if not isinstance(value, bool | int | float):
            raise RuleError(f"{whereabouts(cls.params)}: params() gives {field} {value!r}; it must be a number")


def check_registered(system: System) -> None:
    """Refuse a system that lacks a rule, or has one whose arguments are not the rule's."""
    cls, kind = type(system), type(system.params())
    for rule in RULES:
        if overrides(rule, system):
            required = list(inspect.signature(rule).parameters)
            declared = list(inspect.signature(rule.dispatch(kind)).parameters)
            if declared != required:
                raise RuleError(
                    f"{whereabouts(rule.dispatch(kind))}: {rule_title(rule, system)} takes ({', '.join(declared)}); "
                    f"it must take ({', '.join(required)}), by these names"
                )
    by_events, by_heats = overrides(rules.rate_event, system), overrides(rules.judge_heat, system)
    register = f"register it for {kind.__name__}"
    if by_heats and not by_events:
        raise RuleError(f"{whereabouts(cls)}: {cls.name} has judge_heat; {register} with rate_heats as rate_event")
    needed: tuple[Any, ...] = () if by_events else (rules.compare, rules.settle)
    for rule in needed:
        if not overrides(rule, system):
            raise RuleError(f"{whereabouts(cls)}: {cls.name} has no rule {rule.__name__}; {register}, or rate_event")
    if not overrides(rules.expect, system) and not overrides(rules.compare, system):
        raise RuleError(f"{whereabouts(cls)}: {cls.name} has no rule expect, nor compare to take it from; {register}")


def run_rules(system: System) -> None:
    """Run every rule in plain Python on events of three: a plain one, a tie, and one with a quitter who was away.

    Raises:
        RuleError: a rule raises an error, or returns another type than the system declares.
    """
    states = [system.newcomer()] * PROBE_ENTRANTS
    for columns in probe_events():
        if overrides(rules.rate_event, system):
            states = run_event(system, columns, states)
        else:
            states = run_pairs(system, columns, states)


def probe_events() -> Iterator[Columns]:
    """Events of three, as the engine hands them to the rules."""
    blank_columns = dict.fromkeys(Columns._fields, ABSENT)
    first_three = np.arange(PROBE_ENTRANTS)
    plain = Columns(**blank_columns)._replace(
        entrants=np.array([0, PROBE_ENTRANTS]),
        player=first_three,
        place=first_three + 1.0,
        time_s=np.array([60.0, 61.0, 63.0]),
        score=np.array([20.0, 10.0, 5.0]),
        played_s=np.full(PROBE_ENTRANTS, 600.0),
        duration_s=np.full(PROBE_ENTRANTS, 600.0),
        day=np.array([739_000.0]),
    )
    yield plain
    yield plain._replace(place=np.array([1.5, 1.5, 3.0]), rank=np.array([1.0, 1.0, 3.0]))
    away = np.array([0.0, 0.0, 7.0])
    quitter = np.array([0.0, 0.0, 1.0])
    yield plain._replace(
        finished=1.0 - quitter,
        quit=quitter,
        idle=away,
        time_s=np.array([60.0, 61.0, np.nan]),
        opponents=np.full(PROBE_ENTRANTS, 2.0),
    )


def run_pairs(system: System, columns: Columns, states: list[Any]) -> list[Any]:
    """The states after an event of a system that is a sum over pairs; each rule's answer is checked."""
    params, run = system.params(), partial(run_rule, system)
    facts = [entrant_at(columns, i) for i in range(PROBE_ENTRANTS)]
    entries = [Entry(*map(float, entry_at(columns, i, float(PROBE_ENTRANTS)))) for i in range(PROBE_ENTRANTS)]
    heat = Heat(float(PROBE_ENTRANTS), 0.0)
    for entry in entries:
        run(rules.counts, params, entry, heat)
    entering_states = [
        run(rules.enter, params, me, fact, returns=system.entering_type) for me, fact in zip(states, facts, strict=True)
    ]
    sums = [blank(system.evidence_type)] * PROBE_ENTRANTS
    seen: list[list[Any]] = [[] for _ in entering_states]
    for i in range(PROBE_ENTRANTS):
        for j in range(i + 1, PROBE_ENTRANTS):
            if not comparable(columns, i, j):
                continue
            both = run(rules.compare, params, entering_states[i], entering_states[j], entries[i], entries[j], heat)
            for me, comparison in zip((i, j), pair_of_comparisons(system, both), strict=True):
                more = run(rules.evidence, params, comparison, returns=system.evidence_type)
                sums[me] = system.evidence_type(*(a + b for a, b in zip(sums[me], more, strict=True)))
                seen[me].append(comparison)
    run_expect(system, params, entering_states)
    after = []
    for me, entering, totals, fact, comparisons in zip(states, entering_states, sums, facts, seen, strict=True):
        state = run(rules.settle, params, entering, totals, fact, returns=system.state_type)
        for comparison in comparisons:
            run(rules.credit, params, entering, totals, state, comparison, returns=rules.Credit)
        run(rules.causes, params, me, entering, totals, state)
        after.append(state)
    return after


def run_event(system: System, columns: Columns, states: list[Any]) -> list[Any]:
    """The states after an event of a system with a `rate_event` of its own."""
    run = partial(run_rule, system)
    pool = new_pools(system, 1)[0]
    base = system.params()
    params = run(rules.in_pool, base, pool, Occasion(float(columns.day[0]), 0.0), returns=type(base))
    prototypes = newcomer, _, _ = system.prototypes()
    entering_states = [
        run(rules.enter, params, me, entrant_at(columns, i), returns=system.entering_type)
        for i, me in enumerate(states)
    ]
    sides = room_for_sides(PROBE_ENTRANTS, len(prototypes[1])) if system.rates_sides else ()
    scratch = empty_scratch(prototypes, system.room, 4 * PROBE_ENTRANTS, PROBE_ENTRANTS, pool, sides)
    after = np.zeros((PROBE_ENTRANTS, len(newcomer)))
    run(rules.rate_event, params, prototypes, columns, 0, np.array(states, np.float64), scratch, after, 0)
    run_expect(system, params, entering_states)
    return [read(after, i, newcomer) for i in range(PROBE_ENTRANTS)]


def run_expect(system: System, params: Any, entering_states: list[Any]) -> None:
    """The expected score of the first against the second."""
    expected = run_rule(system, rules.expect, params, entering_states[0], entering_states[1])
    if not isinstance(expected, int | float):
        rule = rules.expect if overrides(rules.expect, system) else rules.compare
        raise RuleError(
            f"{whereabouts(rule.dispatch(type(system.params())))}: {rule_title(rule, system)} gives the expected score "
            f"{expected!r}; it must be a number from 0 to 1"
        )


def pair_of_comparisons(system: System, both: Any) -> tuple[Any, Any]:
    """What `compare` returned, if it is one comparison for each side."""
    function = rules.compare.dispatch(type(system.params()))
    sides = both if isinstance(both, tuple) and not hasattr(both, "_fields") else ()
    if len(sides) == 2 and all(hasattr(each, "result") and hasattr(each, "expected") for each in sides):  # noqa: PLR2004
        return sides[0], sides[1]
    raise RuleError(
        f"{whereabouts(function)}: {rule_title(rules.compare, system)} returns {description(both)}; it must return two "
        "comparisons, for a and for b: Comparison(result, expected, weight), Comparison(…)"
    )


def run_rule(system: System, rule: Any, params: Any, *arguments: Any, returns: type[Any] | None = None) -> Any:
    """What a rule returns in plain Python; a RuleError where it raises, or does not return what the system declares."""
    function = rule.dispatch(type(params))
    with translate_errors(system, function, rule):
        value = rule(params, *arguments)
    if returns is not None and type(value) is not returns:
        subject = type(system) if function.__module__ == rules.__name__ else function  # the class that goes without it
        raise RuleError(
            f"{whereabouts(subject)}: {rule_title(rule, system)} returns {description(value)}; "
            f"{system.name} declares {returns.__name__.rpartition('.')[2]}"
        )
    return value
