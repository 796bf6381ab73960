"""Check a system before it is compiled: read its declarations, and run its rules once as plain Python.

An error message is one sentence with the author's file and line, instead of a hundred lines from numba.
"""

import inspect
from collections.abc import Iterator
from functools import partial
from itertools import combinations
from math import isfinite
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
from podium.engine.system import System
from podium.engine.tables.sides import empty_sides
from podium.errors import RuleError
from podium.kernels.compiled import RULES

FIELD = 3  # entrants in the events on which rules are tried
FOR_POOLS: tuple[Any, ...] = (rules.in_pool, rules.rate_event)
FOR_PAIRS: tuple[Any, ...] = (rules.compare, rules.update_state)
_checked: set[tuple[Any, ...]] = set()


def check_rules(system: System) -> None:
    """Check a system once, and again whenever one of its rules is replaced.

    Podium's tests check its own rules instead.

    Raises:
        RuleError: a check fails. The message has the first error, with its file and line.
    """
    key = (type(system),) if system.shipped else (type(system), *registered_rules(system))
    if key not in _checked:
        check_declarations(system)
        if not system.shipped:
            run_rules(system)
        _checked.add(key)


def registered_rules(system: System) -> tuple[Any, ...]:
    """Return the function of each rule that the system runs."""
    with translate_errors(system, type(system).params):
        kind = type(system.params())
    return tuple(rule.dispatch(kind) for rule in RULES)


def require(is_fine: Any, subject: Any, sentence: str) -> None:
    """Raise a RuleError that points to the line of a class or function if a check fails."""
    if not is_fine:
        raise RuleError(f"{whereabouts(subject)}: {sentence}")


def check_declarations(system: System) -> None:
    """Check that the types, the newcomer, the parameters, the pool state and the rules exist and match."""
    cls = type(system)
    require(cls.name, cls, f'{cls.__name__} has no name; add name = "my-system"')
    for kind in ("state_type", "entering_type", "evidence_type"):
        is_there = is_record(getattr(cls, kind, None))
        require(is_there, cls, f"{cls.name} has no {kind}; set {kind} = a NamedTuple of floats")
    needed = [(cls.state_type, field) for field in ("rating", "events", cls.level, *cls.with_level)]
    for record, field in (*needed, (cls.entering_type, "rating")):
        require(field in record._fields, record, missing_field(record, field))
    check_record(system, cls.newcomer, cls.state_type)
    check_record(system, cls.params)
    if cls.pool_state_type is not None:
        check_record(system, cls.new_pool, cls.pool_state_type)
        for rule in FOR_POOLS:
            is_there = overrides(rule, system)
            require(is_there, cls, f"{cls.name} has a pool_state_type but no rule {rule.__name__}")
    check_registered(system)


def check_record(system: System, method: Any, declared: Any = None) -> None:
    """Check that a method returns a NamedTuple of numbers.

    If the system declares its type, they must be finite floats.
    """
    with translate_errors(system, method):
        record = method(system)
    name, kinds, remedy = f"{method.__name__}()", bool | int | float, "a number"
    fits = is_record(type(record))
    if declared is not None:
        kinds, remedy, fits = float, "a finite float, such as 0.0", type(record) is declared
    must = "a NamedTuple" if declared is None else f"{declared.__name__} with finite floats"
    require(fits, method, f"{name} returns {description(record)}; it must return {must}")
    for field, value in record._asdict().items():
        fits = isinstance(value, kinds) and (declared is None or isfinite(value))
        require(fits, method, f"{name} gives {field} {value!r}; it must be {remedy}")


def check_registered(system: System) -> None:
    """Check that no rule is missing and that each function takes the arguments of its rule."""
    cls, kind = type(system), type(system.params())
    own = [rule for rule in RULES if overrides(rule, system)]
    for rule in own:
        function = rule.dispatch(kind)
        taken, needed = (", ".join(inspect.signature(signature_of).parameters) for signature_of in (function, rule))
        sentence = f"{rule_title(rule, system)} takes ({taken}); it must take ({needed}), with these names"
        require(taken == needed, function, sentence)
    register, by_events = f"register it for {kind.__name__}", rules.rate_event in own
    is_whole = by_events or rules.judge_heat not in own
    require(is_whole, cls, f"{cls.name} has judge_heat; {register} with rate_heats as rate_event")
    for rule in () if by_events else FOR_PAIRS:
        require(rule in own, cls, f"{cls.name} has no rule {rule.__name__}; {register}, or rate_event")
    can_expect = rules.expect in own or rules.compare in own
    require(can_expect, cls, f"{cls.name} has no rule expect, and no compare to derive it from; {register}")


def run_rules(system: System) -> None:
    """Run every rule in plain Python on three small events: a plain event, a tie, and a quit after a break.

    Raises:
        RuleError: a rule raises an error or returns a type other than the one that the system declares.
    """
    run = run_event if overrides(rules.rate_event, system) else run_pairs
    for columns in small_events():
        run(system, columns)


def small_events() -> Iterator[Columns]:
    """Yield events with three players, in the form that the engine passes to the rules."""
    first_three = np.arange(FIELD)
    plain = Columns(**dict.fromkeys(Columns._fields, ABSENT))._replace(
        entrants=np.array([0, FIELD]),
        player=first_three,
        place=first_three + 1.0,
        time_s=np.array([60.0, 61.0, 63.0]),
        score=np.array([20.0, 10.0, 5.0]),
        played_s=np.full(FIELD, 600.0),
        duration_s=np.full(FIELD, 600.0),
        day=np.array([739_000.0]),
    )
    yield plain
    yield plain._replace(place=np.array([1.5, 1.5, 3.0]), rank=np.array([1.0, 1.0, 3.0]))
    quitter = np.array([0.0, 0.0, 1.0])
    yield plain._replace(
        finished=1.0 - quitter,
        quit=quitter,
        idle=7.0 * quitter,
        time_s=np.array([60.0, 61.0, np.nan]),
        opponents=np.full(FIELD, 2.0),
    )


def run_pairs(system: System, columns: Columns) -> None:
    """Run the rules of a system that sums over pairs."""
    params, newcomer, run = system.params(), system.newcomer(), partial(run_rule, system)
    heat, present = Heat(float(FIELD), 0.0), [entrant_at(columns, i) for i in range(FIELD)]
    entries = [Entry(*map(float, entry_at(columns, i, heat.entries))) for i in range(FIELD)]
    entering = [run(rules.enter, params, newcomer, rival, returns=system.entering_type) for rival in present]
    for entry in entries:
        run(rules.counts, params, entry, heat)
    for i, j in combinations(range(FIELD), 2):
        if not comparable(columns, i, j):
            continue
        both = run(rules.compare, params, entering[i], entering[j], entries[i], entries[j], heat)
        check_comparisons(system, both)
        for me, comparison in zip((i, j), both, strict=True):
            totals = run(rules.evidence, params, comparison, returns=system.evidence_type)
            after = run(rules.update_state, params, entering[me], totals, present[me], returns=system.state_type)
            run(rules.credit, params, entering[me], totals, after, comparison, returns=rules.Credit)
            run(rules.causes, params, newcomer, entering[me], totals, after)
    run_expect(system, params, entering)


def run_event(system: System, columns: Columns) -> None:
    """Run the rules of a system that has its own `rate_event`."""
    run, pool, base = partial(run_rule, system), new_pools(system, 1)[0], system.params()
    params = run(rules.in_pool, base, pool, Occasion(float(columns.day[0]), 0.0), returns=type(base))
    newcomer, entering, _ = prototypes = system.prototypes()
    sides = empty_sides(FIELD, len(entering)) if system.rates_sides else ()
    scratch = empty_scratch(prototypes, system.workspace, 4 * FIELD, FIELD, pool, sides)
    states = np.tile(np.array(system.newcomer(), np.float64), (FIELD, 1))
    run(rules.rate_event, params, prototypes, columns, 0, states, scratch, np.zeros((FIELD, len(newcomer))), 0)
    me, kind = system.newcomer(), system.entering_type
    run_expect(system, params, [run(rules.enter, params, me, entrant_at(columns, i), returns=kind) for i in range(2)])


def run_expect(system: System, params: Any, entering: list[Any]) -> None:
    """Run the rule for the first player's expected score against the second."""
    expected = run_rule(system, rules.expect, params, entering[0], entering[1])
    rule = rules.expect if overrides(rules.expect, system) else rules.compare
    sentence = f"{rule_title(rule, system)} gives the expected score {expected!r}; it must be a number from 0 to 1"
    require(isinstance(expected, int | float), rule.dispatch(type(system.params())), sentence)


def check_comparisons(system: System, both: Any) -> None:
    """Check that `compare` returned a comparison for each side."""
    sides = both if isinstance(both, tuple) and not is_record(type(both)) else ()
    fits = len(sides) == 2 and all(hasattr(side, "result") and hasattr(side, "expected") for side in sides)  # noqa: PLR2004
    sentence = (
        f"{rule_title(rules.compare, system)} returns {description(both)}; it must return two comparisons, for a and "
        "for b: Comparison(result, expected, weight), Comparison(…)"
    )
    require(fits, rules.compare.dispatch(type(system.params())), sentence)


def run_rule(system: System, rule: Any, params: Any, *arguments: Any, returns: type[Any] | None = None) -> Any:
    """Run a rule in plain Python, and return its result.

    Raises:
        RuleError: the rule raises an error or returns a type other than the one that the system declares.
    """
    function = rule.dispatch(type(params))
    with translate_errors(system, function, rule):
        value = rule(params, *arguments)
    declared = type(value) if returns is None else returns
    subject = type(system) if function.__module__ == rules.__name__ else function  # the rule has only a default
    name = declared.__name__.rpartition(".")[2]
    sentence = f"{rule_title(rule, system)} returns {description(value)}; {system.name} declares {name}"
    require(type(value) is declared, subject, sentence)
    return value
