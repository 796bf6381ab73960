"""The properties that every rating system must have. `check_system` and Podium's own tests check them.

A check takes a history and the system that rated it. It returns a sentence about the failure, or None.
"""

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import polars as pl

from podium.engine import rules
from podium.engine.inputs import PRESENT
from podium.engine.pool_state import new_pools
from podium.engine.replay import Replayed, newcomers, replay, scratch_for
from podium.engine.rule_checks import check_declarations, run_rules
from podium.engine.system import System
from podium.errors import RuleError
from podium.kernels.compiled import compiling_at_once
from podium.ledger.reasons.duels import OPPONENT
from podium.live import Live
from podium.rated import Rated
from podium.rating import rate
from podium.results.reading import read_results

Row = dict[str, Any]
KEYS = ["pool", "event_id", "player"]
ROUNDING = 1e-9  # in points: rounding caused by the order of a sum
SUM_ROUNDING = 1e-7  # the same, summed over an event
HISTORIES = 12
EVENTS, MANY_EVENTS = 8, 400  # events of a history
FIELD = 6  # players of a history
GAPS = (-2000.0, -300.0, -1.0, 0.0, 1.0, 300.0, 2000.0)


@dataclass(frozen=True)
class History:
    """The rows of events in order, and a system. The rows are read and rated once for all checks."""

    system: System
    rows: list[Row]

    @functools.cached_property
    def table(self) -> pl.DataFrame:
        """The rows as a results table."""
        return read_results(self.rows).frame

    @functools.cached_property
    def events(self) -> list[pl.DataFrame]:
        """The rows of each event, in event order."""
        return self.table.partition_by("event_id", maintain_order=True)

    @functools.cached_property
    def rated(self) -> Rated:
        """All rows, rated at once."""
        return rate(self.table, self.system)


Check = Callable[[History], str | None]


@dataclass(frozen=True, slots=True)
class SystemCheck:
    """The result of all checks."""

    system: str
    histories: int
    entries: int  # number of rows in all histories
    kept: tuple[str, ...]  # the properties that the system has, as sentences

    def __str__(self) -> str:
        properties = "\n".join(f"  {property_}" for property_ in self.kept)
        return f"{self.system}: {self.histories} random histories, {self.entries} entries\n{properties}"


def check_system(system: System, *, histories: int = HISTORIES, seed: int = 1) -> SystemCheck:
    """Check the required properties of a rating system on random histories, after trying its rules in plain Python.

    Args:
        system: The system, as an instance.
        histories: Number of random histories. Each has eight events, with ties, quits, heats and two pools.
        seed: Random seed of the histories.

    Returns:
        The properties that were checked, and the amount of data.

    Raises:
        RuleError: A property fails. The message has one line per failing property, with the first place where it fails.
    """
    check_declarations(system)
    run_rules(system)
    rng = np.random.default_rng(seed)
    faults: dict[str, str | None] = {check.__name__: check(system) for check in OF_SYSTEM}
    entries = 0
    for number in range(histories):
        plain = number % 2 == 0
        rows = random_rows(rng, EVENTS, system, heats=1 if plain else 2, quits=not plain)
        entries += len(rows)
        history = History(system, rows)
        for check in (*OF_ANY_HISTORY, *(OF_PLAIN_HISTORY if plain else ())):
            faults[check.__name__] = faults.get(check.__name__) or check(history)
    rows = random_rows(rng, MANY_EVENTS, system, heats=2, quits=True)
    faults["many events"] = states_are_finite(History(system, rows))
    failures = [f"{system.name}: {fault}" for fault in faults.values() if fault]
    if failures:
        raise RuleError("\n".join(failures))
    properties: list[Callable[..., str | None]] = [*OF_SYSTEM, *OF_ANY_HISTORY, *OF_PLAIN_HISTORY]
    kept = [(check.__doc__ or "").partition("\n")[0].rstrip(".") for check in properties]
    return SystemCheck(system.name, histories + 1, entries + len(rows), tuple(kept))


def random_rows(rng: np.random.Generator, count: int, system: System, *, heats: int, quits: bool) -> list[Row]:
    """Return rows for `count` events of two to five entrants, with ties, two pools, three modes and all columns."""
    rows: list[Row] = []
    start = datetime(2025, 1, 1, tzinfo=UTC)
    for number in range(count):
        shared = {
            "event_id": f"e{number}",
            "started_at": (start + timedelta(hours=7 * number)).isoformat(),
            "pool": str(rng.choice(["one", "two"])),
            "mode": str(rng.choice(["time-trial", "normal", "duel"])),
            "weight": float(rng.choice([1.0, 1.0, 2.0, 0.5])),
        }
        field = rng.permutation(FIELD)[: rng.integers(2, FIELD)]
        for heat in range(int(rng.integers(1, heats + 1))):
            for player in field.tolist():
                row = shared | {"heat": str(heat + 1), "player": f"p{player}", "duration_s": 600.0}
                row["played_s"] = float(rng.choice([130.0, 400.5, 600.0]))
                row["status"] = "quit" if quits and rng.integers(6) == 0 else "finished"
                if row["status"] == "finished":
                    row["time_s"] = float(rng.choice([60.0, 61.0, 61.5, 90.25, 400.0]))
                    row["score"] = int(rng.integers(-3, 21))
                    if "position" in system.needs:
                        row["position"] = int(rng.integers(1, 6))
                rows.append(row)
    return rows


def live_equals_replay(history: History) -> str | None:
    """Check that rating event by event gives the same bits as rating all at once."""
    live = Live(history.system)
    parts = [live.rate(event) for event in history.events]
    return first_difference(pl.concat(parts), history.rated.history, "live", "at once")


def compiled_equals_interpreted(history: History) -> str | None:
    """Check that compiled rules give the same bits as the same rules in Python."""
    system, events = history.system, history.rated.events
    with compiling_at_once():
        compiled = replay(system, events)
    plain = interpreted(system, events)
    differs = np.argwhere(compiled.after.view(np.int64) != plain.after.view(np.int64))
    if not differs.size and compiled.before.tobytes() == plain.before.tobytes():
        return None
    entrant, field = differs[0] if differs.size else (0, 0)
    player = events.player_names[int(events.columns.player[entrant])]
    return (
        f"{system.state_type._fields[field]} of {player} is {compiled.after[entrant, field]!r} compiled and "
        f"{plain.after[entrant, field]!r} in Python; write w * w instead of w**2, and compare values with if"
    )


def interpreted(system: System, events: Any) -> Replayed:
    """Replay the events in plain Python."""
    params, prototypes = system.params(), system.prototypes()
    columns, pools = events.columns, new_pools(system, len(events.pools))
    states = newcomers(system, events.player_names.len())
    count = int(columns.entrants[-1])
    replayed = Replayed(states, np.empty(count), np.empty((count, states.shape[1])))
    rating = system.column("rating")
    updates = columns.entrants.size - 1
    scratch = scratch_for(system, columns, 0, updates, np.empty(0))
    for number, update in (
        (k, update) for k, pool in enumerate(events.pools) for update in range(pool.first, pool.last)
    ):
        first, last = int(columns.entrants[update]), int(columns.entrants[update + 1])
        own = rules.params_in_pool(params, columns, update, pools[number])
        rules.rate_event(
            own, prototypes, columns, update, states, scratch._replace(pool=pools[number]), replayed.after, first
        )
        replayed.before[first:last] = states[columns.player[first:last], rating]
        states[columns.player[first:last]] = replayed.after[first:last]
    return replayed


def prefix_and_rest_equal_the_whole(history: History) -> str | None:
    """Check that rating a first part and then the rest gives the same bits as rating everything at once."""
    events, whole = history.rated.events, history.rated.replayed
    live = Live(history.system)
    parts = history.events
    for some in (parts[: len(parts) // 2], parts[len(parts) // 2 :]):
        if some:
            live.rate(pl.concat(some))
    for pool in events.pools:
        for player in range(pool.first_player, pool.last_player):
            name = events.player_names[player]
            known = np.array(live.ratings[pool.name, name], np.float64)
            if known.tobytes() != whole.states[player].tobytes():
                return f"{name} ends at {whole.states[player, 0]!r}, but at {known[0]!r} if half is rated first"
    return None


def explanations_add_up(history: History) -> str | None:
    """Check that the reasons for a change add up to it."""
    rated = history.rated
    for event, player, delta in rated.history.select("event_id", "player", "delta").iter_rows():
        explanation = rated.explain(event, player)
        total = float(explanation.rows["contribution"].sum())
        if explanation.delta != delta or not abs(total - delta) < ROUNDING:
            return (
                f"{player}'s change in {event} is {delta!r} and its reasons add up to {total!r}; "
                "register credit, and register causes for points that come from no opponent"
            )
        if player not in explanation.summary:
            return f"the explanation of {player}'s change in {event} does not name {player}"
    return None


def row_order_changes_only_rounding(history: History) -> str | None:
    """Check that the order of an event's rows affects only rounding."""
    return another_order_changes_only_rounding(history, lambda rows: rows[::-1])


def another_order_changes_only_rounding(history: History, reorder: Callable[[range], Sequence[int]]) -> str | None:
    """Check that reordering the rows of each event with `reorder` affects only rounding."""
    rated = history.rated
    if rated.system.ties_in_file_order and rated.events.columns.rank.size:
        return None
    mixed = pl.concat([event[list(reorder(range(event.height)))] for event in history.events])
    one, two = (replayed.history.sort(KEYS) for replayed in (rated, rate(mixed, history.system)))
    off = ~np.isclose(two["rating"], one["rating"], rtol=ROUNDING, atol=ROUNDING)
    if not off.any():
        return None
    first = one.row(int(np.argmax(off)), named=True)
    return (
        f"{first['player']}'s rating in {first['event_id']} changes if the rows are in a different order; compare"
        " must treat a and b alike"
    )


def names_do_not_matter(history: History) -> str | None:
    """Check that renamed players get the same ratings."""
    renamed = pl.Series("player", [name[::-1] + "'" for name in history.table["player"]])
    again = rate(history.table.with_columns(renamed), history.system)
    one, two = (replayed.history["rating"].to_list() for replayed in (history.rated, again))
    return None if one == two else "players with different names get different ratings"


def pools_are_independent(history: History) -> str | None:
    """Check that a pool's ratings do not depend on other pools."""
    together = history.rated.history.sort(KEYS)
    apart = [rate(pool, history.system).history for pool in history.table.partition_by("pool", maintain_order=True)]
    return first_difference(pl.concat(apart).sort(KEYS), together, "its pool alone", "with the others")


def threads_give_the_same_bits(history: History) -> str | None:
    """Check that several threads give the same bits as one."""
    system, events = history.system, history.rated.events
    same = replay(system, events, workers=2).after.tobytes() == replay(system, events).after.tobytes()
    return None if same else "two threads give different ratings from one"


def states_are_finite(history: History) -> str | None:
    """Check that every number of every state is finite."""
    rated = history.rated
    bad = np.argwhere(~np.isfinite(rated.replayed.after))
    if not bad.size:
        return None
    entrant, field = bad[0]
    player = rated.events.player_names[int(rated.events.columns.player[entrant])]
    value = rated.replayed.after[entrant, field]
    return f"{rated.system.state_type._fields[field]} of {player} becomes {value}"


def exchange_is_conserved(history: History) -> str | None:
    """Check that the points exchanged by opponents sum to zero, in systems that conserve them.

    Points that no opponent gives (base points) do not count. No player quits in these rows.
    """
    if not history.system.conserves:
        return None
    rated = history.rated
    for (event,), changes in rated.history.group_by("event_id", maintain_order=True):
        total = 0.0
        for player in changes["player"]:
            reasons = rated.explain(str(event), player).rows
            total += float(reasons.filter(pl.col("cause") == OPPONENT)["contribution"].sum())
        if not abs(total) < SUM_ROUNDING:
            return f"event {event} creates {total!r} points; set conserves = False, or fix compare"
    return None


def weight_counts_as_repeats(history: History) -> str | None:
    """Check that a heat of weight two counts like the same heat held twice, in systems that guarantee this.

    No player quits in these rows.
    """
    system = history.system
    if not system.weight_repeats:
        return None
    once = history.table.with_columns(weight=2.0)
    twice = [history.table.with_columns(weight=1.0, heat=pl.lit(heat)) for heat in ("1", "2")]
    one, two = (rate(rows, system).ratings.sort("pool", "player") for rows in (once, pl.concat(twice)))
    if one["player"].to_list() != two["player"].to_list():
        return "a heat of weight two rates different players than the same heat held twice"
    off = ~np.isclose(one["rating"], two["rating"], rtol=1e-12)
    if not off.any():
        return None
    return (
        f"{one['player'][int(np.argmax(off))]}'s rating after heats of weight two differs from the rating after each"
        " was held twice"
    )


def expected_scores_add_up(system: System, gaps: tuple[float, ...] = GAPS) -> str | None:
    """Check that both sides' expected scores sum to 1, and that the lower-rated side is never the favourite."""
    params, state = system.params(), system.newcomer()
    for gap in gaps:
        moved = {field: getattr(state, field) + gap for field in system.with_level}
        a, b = (rules.enter(params, side, PRESENT) for side in (state._replace(**moved), state))
        mine, theirs = rules.expect(params, a, b), rules.expect(params, b, a)
        if not abs(mine + theirs - 1.0) < 1e-12:  # noqa: PLR2004  (rounding)
            return f"at a gap of {gap:g} points the expected scores are {mine!r} and {theirs!r}: they must add up to 1"
        if (mine - 0.5) * gap < 0.0:
            return f"with {gap:+g} points the expected score is {mine!r}: on the wrong side of one half"
    return None


def text_gives_the_system_back(system: System) -> str | None:
    """Check that a system can be written as text and read back, as a store does."""
    settings = {setting.name: getattr(system, setting.name) for setting in fields(system)}
    text = {name: "none" if value is None else str(value) for name, value in settings.items()}
    return (
        None
        if type(system).from_text(text) == system
        else "its parameters change when they are written as text and read back"
    )


def first_difference(one: pl.DataFrame, two: pl.DataFrame, first: str, second: str) -> str | None:
    """Describe the first difference between two histories."""
    if one.height != two.height:
        return f"{one.height} changes {first}, {two.height} {second}"
    for a, b in zip(one.iter_rows(named=True), two.iter_rows(named=True), strict=True):
        if a != b:
            return f"{a['player']}'s rating in {a['event_id']} is {a['rating']!r} {first}, {b['rating']!r} {second}"
    return None


OF_SYSTEM = (expected_scores_add_up, text_gives_the_system_back)
OF_ANY_HISTORY: tuple[Check, ...] = (
    compiled_equals_interpreted,
    live_equals_replay,
    prefix_and_rest_equal_the_whole,
    explanations_add_up,
    row_order_changes_only_rounding,
    names_do_not_matter,
    pools_are_independent,
    threads_give_the_same_bits,
    states_are_finite,
)
OF_PLAIN_HISTORY: tuple[Check, ...] = (exchange_is_conserved, weight_counts_as_repeats)  # need one heat and no quits
