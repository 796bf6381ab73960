"""What every rating system owes, found by itself in the registry."""

import os
import shutil
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

sys.path.insert(0, str(Path(__file__).parents[1]))
from strategies import histories

import podium
from podium import conformance, rules
from podium.compiled import HOME
from podium.entries import PRESENT
from podium.systems import find, names

every_system = pytest.mark.parametrize("name", names())


COMPILED = [check for check in conformance.OF_ANY_HISTORY if check is not conformance.compiled_equals_interpreted]


@every_system
@pytest.mark.parametrize("check", COMPILED, ids=lambda check: check.__name__)
@given(rows=histories(heats=2))
def test_a_system_keeps_what_every_system_owes(name, check, rows):
    assert check(find(name)(), rows) is None


@every_system
@settings(max_examples=15)
@given(rows=histories(heats=2, most=4))
def test_compiled_equals_interpreted_to_the_bit(name, rows):
    assert conformance.compiled_equals_interpreted(find(name)(), rows) is None


@every_system
@pytest.mark.parametrize("check", conformance.OF_PLAIN_HISTORY, ids=lambda check: check.__name__)
@given(rows=histories(quits=False))
def test_a_system_keeps_what_its_class_says(name, check, rows):
    assert check(find(name)(), rows) is None


@every_system
def test_a_system_passes_the_check_that_authors_run(name):
    checked = podium.check_system(find(name)(), histories=2)
    assert checked.system == name
    assert len(checked.kept) == len({*checked.kept}) == 13


@every_system
@given(rows=histories(heats=2), seed=st.randoms(use_true_random=False))
def test_any_order_of_rows_changes_nothing_but_rounding(name, rows, seed):
    mixed = conformance.by_event(rows)
    for event in mixed:
        seed.shuffle(event)
    assert conformance.row_order_changes_only_rounding(find(name)(), [row for event in mixed for row in event]) is None


@every_system
def test_an_event_where_nobody_counts_changes_nothing(name):
    row = {"event_id": "a", "player": "ana", "time_s": 60, "score": 1, "played_s": 600, "duration_s": 600}
    rows = [row, row | {"player": "ben", "status": "did_not_start"}, row | {"player": "cleo", "ranked": False}]
    rated = podium.rate(rows, name)
    assert rated.history.height == rated.ratings.height == 0


@every_system
def test_extreme_ratings_stay_finite(name):
    system = find(name)
    base = {"time_s": 60, "score": 1, "played_s": 600, "duration_s": 600}
    rows = [
        base | {"event_id": f"e{n}", "player": player, "time_s": 60 + (player == "ben"), "score": int(player == "ana")}
        for n in range(3000)
        for player in ("ana", "ben")
    ]
    start = min(1e6, next(setting for setting in fields(system) if setting.name == "initial").metadata["high"])
    floor = {"floor": None} if "floor" in {setting.name for setting in fields(system)} else {}
    rated = podium.rate(rows, system(initial=start, **floor))
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
    with pytest.raises(podium.ParameterError, match="did you mean initial"):
        find(name).from_text({"inital": "1"})


def test_an_edited_rule_is_compiled_anew(tmp_path):
    """Another process rates with a copy of the package, before and after an edit of a rule."""
    shutil.copytree(HOME, tmp_path / "podium")
    rows = [{"event_id": "a", "player": "x", "position": 1}, {"event_id": "a", "player": "y", "position": 2}]
    program = f"import podium; print(podium.rate({rows!r}, 'elo').ratings['rating'].to_list())"
    environment = {**os.environ, "PYTHONPATH": str(tmp_path), "PODIUM_CACHE_DIR": str(tmp_path / "cache")}

    def rated():
        run = [sys.executable, "-c", program]
        return subprocess.run(run, check=True, capture_output=True, text=True, env=environment).stdout.strip()

    assert rated() == "[1512.0, 1488.0]"
    rule = tmp_path / "podium" / "systems" / "elo.py"
    rule.write_text(rule.read_text().replace("me.rating + totals.points,", "me.rating + 2.0 * totals.points,"))
    assert rated() == "[1524.0, 1476.0]"
