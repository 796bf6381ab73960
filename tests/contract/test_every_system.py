"""Requirements for every rating system in the registry."""

import os
import re
import shutil
import subprocess
import sys
from dataclasses import fields
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from operator import itemgetter

import numpy as np
import polars as pl
import pytest
from extent import times
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from strategies import histories

import podium
from podium.analysis import conformance
from podium.analysis.conformance import History
from podium.engine import rules
from podium.engine.inputs import PRESENT
from podium.kernels.compiled import HOME, WITHOUT_KERNELS, digest
from podium.systems import find, names

pytestmark = pytest.mark.usefixtures("compiled")
every_system = pytest.mark.parametrize("name", names())


APART = (conformance.compiled_equals_interpreted, conformance.row_order_changes_only_rounding)  # these change the order
COMPILED = [check for check in conformance.OF_ANY_HISTORY if check not in APART]


def faults_of(checks, history):
    """Return the failures by check."""
    found = {check.__name__: check(history) for check in checks}
    return {name: fault for name, fault in found.items() if fault is not None}


def has_nearly_equal_players(history):
    """Return True if two players had nearly the same raw rating, perhaps at different times.

    The published deviation of stk-rd jumps where a result is as surprising as a win between equals. Rounding alone then
    decides on which side of the jump it is, so the order of rows matters.
    """
    start = history.system.newcomer().raw_rating  # players who have only quit are equal in any order
    rows = history.rated.history.filter(pl.col("raw_rating") != start).select("player", "raw_rating").rows()
    ordered = sorted({*rows}, key=itemgetter(1))
    return any(one[0] != two[0] and two[1] - one[1] < 1e-6 for one, two in pairwise(ordered))


@every_system
@settings(max_examples=times(3, 400))
@given(rows=histories(heats=2), seed=st.randoms(use_true_random=False))
def test_a_system_meets_the_common_requirements(name, rows, seed):
    history = History(find(name)(), rows)
    if name == "stk-rd":
        assume(not has_nearly_equal_players(history))

    def any_order_of_rows_changes_only_rounding(history):
        return conformance.another_order_changes_only_rounding(history, lambda rows: seed.sample(rows, len(rows)))

    assert faults_of([*COMPILED, any_order_of_rows_changes_only_rounding], history) == {}


def growing_idle(name):
    """Return the system with every growth during idle time switched on."""
    switches = [each for each in fields(find(name)) if each.name in ("idle_growth", "drift")]
    return find(name)(**{each.name: True if isinstance(each.default, bool) else 7.5 for each in switches})


GROWING = [name for name in names() if growing_idle(name).idle_unit is not None]
ERAS = [datetime(year, month, 3, 5, tzinfo=UTC) for year, month in ((1950, 5), (1968, 1), (1969, 12), (2019, 1))]


@pytest.mark.parametrize("era", times(ERAS[::2], ERAS), ids=lambda era: f"{era:%Y-%m}")
@pytest.mark.parametrize("name", GROWING)
@settings(max_examples=times(2, 40))
@given(rows=histories(heats=2), gaps=st.lists(st.integers(0, 40 * 24), min_size=8, max_size=8))
def test_live_equals_replay_with_growth_during_idle_time(name, era, rows, gaps):
    """The events are days apart, before, across and after 1970."""
    hours = {f"e{number}": sum(gaps[: number + 1]) for number in range(8)}
    rows = [row | {"started_at": (era + timedelta(hours=hours[row["event_id"]])).isoformat()} for row in rows]
    live = podium.Live(growing_idle(name))
    events = list(dict.fromkeys(row["event_id"] for row in rows))
    parts = [live.rate([row for row in rows if row["event_id"] in some]) for some in (events[:2], *zip(events[2:]))]
    replayed = podium.rate(rows, growing_idle(name))
    assert pl.concat(parts).rows() == replayed.history.rows()


DAILY = [name for name in GROWING if growing_idle(name).idle_unit == "day" and find(name).takes_periods]
DAILY = [name for name in DAILY if "deviation" in find(name).state_type._fields]


@pytest.mark.parametrize("name", DAILY)
def test_idle_days_count_from_the_last_event_of_the_last_period(name):
    """The first of January's two events can be on any day of the month and in any row of the file."""
    duel = [{"player": "ana", "position": 1}, {"player": "ben", "position": 2}]

    def rated(*days):
        rows = [row | {"event_id": event, "started_at": f"2025-{day}T12:00:00Z"} for event, day in days for row in duel]
        return podium.rate(rows, growing_idle(name), period="1mo")

    late = rated(("a", "01-31"), ("b", "01-31"), ("c", "02-01"))
    spread = rated(("a", "01-01"), ("b", "01-31"), ("c", "02-01"))
    states = [each.ratings.drop("last_event", strict=False).rows() for each in (late, spread)]
    assert states[0] == states[1]
    mixed = rated(("b", "01-31"), ("a", "01-01"), ("c", "02-01"))
    assert mixed.ratings["deviation"].to_list() == late.ratings["deviation"].to_list()
    explanation = spread.explain("c", "ana")
    assert explanation.delta == spread.history.filter(event_id="c", player="ana")["delta"][0]
    assert explanation.rows["contribution"].sum() == pytest.approx(explanation.delta, abs=1e-9)


@every_system
@settings(max_examples=times(4, 100))
@given(rows=histories(heats=2, most=4))
def test_compiled_code_equals_interpreted_code(name, rows):
    assert conformance.compiled_equals_interpreted(History(find(name)(), rows)) is None


@pytest.mark.parametrize("name", [name for name in names() if find(name).conserves or find(name).weight_repeats])
@settings(max_examples=times(5, 400))
@given(rows=histories(quits=False))
def test_a_system_meets_the_requirements_of_its_class(name, rows):
    assert faults_of(conformance.OF_PLAIN_HISTORY, History(find(name)(), rows)) == {}


@every_system
def test_a_system_passes_the_authors_check(name):
    checked = podium.check_system(find(name)(), histories=times(1, 12))
    assert checked.system == name
    assert len(checked.kept) == len({*checked.kept}) == 13


@every_system
def test_a_season_adds_uncertainty_for_the_lost_lead(name):
    """The limit is a newcomer's deviation. Without deviations, `min_events` starts again or nothing changes."""

    def event(event_id, order):
        return [
            {"event_id": event_id, "player": player, "position": place, "score": 10.0 - place, "time_s": 300.0 + place,
             "played_s": 600.0, "duration_s": 600.0}
            for place, player in enumerate(order, 1)
        ]  # fmt: skip

    live = podium.Live(name)
    for number in range(9):
        live.rate(event(f"e{number}", "abc"))
    system, (_, before, after) = live.system, live.reset(0.5, widens=True)
    plain, level = system.season_begins(before, 0.5), system.column(system.level)
    if "deviation" not in system.state_type._fields:
        assert (after == plain).all() == (system.min_events == 0)
        unrated = system.is_provisional(before).all()  # in fide, if nobody has met a rated player
        assert system.is_provisional(after).all() == (unrated or system.min_events > 0)
        return
    column, newcomer = system.column("deviation"), system.newcomer()
    wider = np.hypot(before[:, column], 0.5 * (before[:, level] - newcomer[level]))
    assert after[:, column] == pytest.approx(np.maximum(before[:, column], np.minimum(wider, newcomer.deviation)))
    assert (after[:, column] > before[:, column]).any()
    assert np.isfinite(after).all()
    assert (system.season_begins(before, 1.0) == before).all()
    live.rate(event("next", "cba"))


@every_system
def test_an_event_without_counting_entrants_changes_nothing(name):
    row = {"event_id": "a", "player": "ana", "time_s": 60, "score": 1, "played_s": 600, "duration_s": 600}
    rows = [row, row | {"player": "ben", "status": "did_not_start"}, row | {"player": "cleo", "ranked": False}]
    rated = podium.rate(rows, name)
    if find(name).rates_absent:
        assert rated.history["delta"].to_list() == [0.0, 0.0]
    else:
        assert rated.history.height == rated.ratings.height == 0


@every_system
def test_extreme_ratings_stay_finite(name):
    system = find(name)
    base = {"time_s": 60, "score": 1, "played_s": 600, "duration_s": 600}
    rows = [
        {**base, "event_id": f"e{n}", "player": player, "time_s": 60 + (player == "ben"), "score": int(player == "ana")}
        for n in range(3000)
        for player in ("ana", "ben")
    ]
    start = min(1e6, next(setting for setting in fields(system) if setting.name == "initial").metadata["high"])
    floor = {"floor": None} if "floor" in {setting.name for setting in fields(system)} else {}
    rated = podium.rate(rows, system.from_text({"initial": start, **floor}))
    assert np.isfinite(rated.replayed.after).all()


@every_system
@given(gap=st.floats(-2000, 2000))
def test_expected_scores_of_both_sides_add_up_to_one(name, gap):
    assert conformance.expected_scores_add_up(find(name)(), (gap,)) is None


@every_system
@given(gap=st.floats(1e-6, 2000))
def test_the_higher_rated_is_the_favourite(name, gap):
    system = find(name)()
    newcomer = system.newcomer()
    moved = newcomer._replace(**{field: getattr(newcomer, field) + gap for field in system.with_level})
    a, b = (rules.enter(system.params(), state, PRESENT) for state in (moved, newcomer))
    assert rules.expect(system.params(), a, b) > 0.5 > rules.expect(system.params(), b, a)


@every_system
def test_a_system_survives_repr_and_text(name):
    system = find(name)()
    assert conformance.text_gives_the_system_back(system) is None
    with pytest.raises(podium.ParameterError, match="did you mean 'initial'"):
        find(name).from_text({"inital": "1"})


KERNEL = """
from podium.engine.rules import update_state
from podium.kernels.compiled import compile_kernel

def _moved(params, me, totals, entrant):
    return update_state(params, me, totals, entrant).rating

moved = compile_kernel(_moved)
"""
PROGRAM = """
from podium.engine.inputs import PRESENT
from podium.engine.rules import Points
from podium.moved import moved
from podium.systems import find

params, (newcomer, _, _) = find("elo")().arguments()
print(moved(params, newcomer, Points(12.0), PRESENT))
"""


def test_an_edited_rule_is_compiled_again(tmp_path):
    """Another process runs a copied package's kernel, before and after edits of a rule and of its constant."""
    package, cache = tmp_path / "podium", tmp_path / "cache"
    shutil.copytree(HOME, package, ignore=shutil.ignore_patterns("__pycache__"))
    (package / "moved.py").write_text(KERNEL)
    # Python's cache treats a source with the same length and the same time in seconds as unchanged.
    environment = {**os.environ, "PYTHONPATH": str(tmp_path), "PYTHONDONTWRITEBYTECODE": "1"}
    environment["PODIUM_CACHE_DIR"] = str(cache)

    def moved():
        run = [sys.executable, "-c", PROGRAM]
        return subprocess.run(run, check=True, capture_output=True, text=True, env=environment).stdout.strip()

    assert moved() == "1512.0"
    rule, shared = (package / "systems" / name for name in ("elo.py", "_shared.py"))
    shared.write_text("FACTOR = 2.0\n")  # a module that imports nothing
    source = rule.read_text().replace("me.rating + totals.points,", "me.rating + FACTOR * totals.points,")
    rule.write_text(source.replace("\n\nfrom ", "\n\nfrom podium.systems._shared import FACTOR\nfrom ", 1))
    assert moved() == "1524.0"
    shared.write_text("FACTOR = 3.0\n")
    assert moved() == "1536.0"
    assert len(list(cache.rglob("*.nbi"))) == 3  # the cache distinguished the three


def test_the_cache_key_covers_every_source_file_with_kernels(tmp_path):
    copy = tmp_path / "podium"
    shutil.copytree(HOME, copy, ignore=shutil.ignore_patterns("__pycache__", *WITHOUT_KERNELS))
    begun = digest(copy)
    assert begun == digest()  # this does not depend on the package's path
    files, edited = sorted(copy.rglob("*.py")), {begun}
    for file in files:
        source = file.read_bytes()
        file.write_bytes(source + b"LIMIT = 1\n")
        edited.add(digest(copy))
        file.write_bytes(source)
    assert len(edited) == 1 + len(files)
    assert digest(copy) == begun
    (copy / "systems" / "_shared.py").write_text("")
    assert digest(copy) != begun


def test_kernels_are_only_in_the_packages_of_the_cache_key():
    for room in WITHOUT_KERNELS:
        for file in (HOME / room).rglob("*.py"):
            assert not re.search(
                r"compile_kernel|\bkernel\b|njit|register_jitable", file.read_text(encoding="utf-8")
            ), file
