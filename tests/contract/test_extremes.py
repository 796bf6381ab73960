"""Accepted events give finite ratings or a clear error, and no kernel reads outside its arrays."""

import ast
import inspect
import math
import os
import re
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from extent import times
from extremes import STANDING_FOR_PAIRWISE, at_bound, extreme_events, rate_all

import podium
from podium.analysis.batched import can_share, sums_of_losses
from podium.analysis.evaluation import evaluate
from podium.analysis.scores import Window, judged_heats
from podium.engine.large_heats import judge_large_heat
from podium.engine.rules import overrides, rate_event
from podium.engine.system import kinds
from podium.engine.tables.encoding import encode
from podium.errors import NotFiniteError, ParameterError, PodiumError, ResultsError
from podium.kernels import compiled
from podium.systems import find, names

TESTS = Path(__file__).parents[1]
every_system = pytest.mark.parametrize("name", names())
OWN_LOOPS = (rate_event, judge_large_heat)
PAIRWISE = [name for name in names() if not any(overrides(rule, find(name)()) for rule in OWN_LOOPS)]
# Rules of pairwise systems get numbers and no tables, so one system covers every index. The others have
# a kernel each: the test runs those that share the least, and `make soak` runs all.
# Two pairwise systems use tables: elo has one for the home side, and fide has several.
WITH_TABLES = [STANDING_FOR_PAIRWISE, "fide"]
CHECKED = times(["codeforces", *WITH_TABLES, "openskill-pl", "adaptive"], names())


def exploding(weight=1.0, count=400):
    """Return races of three players out of six."""
    rng = np.random.default_rng(1)
    return [
        {"event_id": f"e{k}", "player": f"p{player}", "position": place, "weight": weight}
        for k in range(count)
        for place, player in enumerate(rng.permutation(6)[:3], start=1)
    ]


def far_apart(system, rating, other):
    """Return live ratings in which ana and ben are this far apart."""
    state = find(system)().newcomer()._asdict()
    start = pl.DataFrame([state | {"player": name, "rating": mine} for name, mine in (("ana", rating), ("ben", other))])
    return podium.Live(system, start=start)


DUEL = [{"event_id": "e", "player": "ana", "position": 1}, {"event_id": "e", "player": "ben", "position": 2}]


@every_system
@pytest.mark.parametrize("bound", ["default", "low", "high"])
@pytest.mark.usefixtures("in_python")
def test_extreme_events_give_finite_ratings_or_are_rejected(name, bound):
    system = at_bound(name, bound)
    assert system is not None
    ratings, _ = rate_all(system, extreme_events(times(100, 10_000), seed=7))
    assert ratings or bound == "high"  # nobody has played long enough at the high bound
    for state in ratings.values():
        assert all(math.isfinite(number) for number in state)


@every_system
def test_extreme_events_have_the_bits_of_machine_code_in_python(name, monkeypatch):
    system, events = find(name)(), [*extreme_events(40, seed=2)]
    monkeypatch.setattr(compiled, "_interpreted", {})
    monkeypatch.setattr(compiled, "is_stored", lambda *_: False)
    in_python = rate_all(system, events)
    with compiled.compiling_at_once():
        assert rate_all(system, events) == in_python


@every_system
def test_every_number_has_a_minimum_and_a_maximum(name):
    for setting in fields(find(name)):
        if {float, int} & set(kinds(find(name), setting)):
            low, high = setting.metadata["low"], setting.metadata["high"]
            assert math.isfinite(low)
            assert math.isfinite(high)
            for beyond in (math.nextafter(low, -math.inf), math.nextafter(high, math.inf), math.inf, math.nan):
                with pytest.raises(ParameterError, match=setting.name):
                    find(name)(**{setting.name: beyond})


def test_a_weight_has_a_maximum():
    with pytest.raises(ResultsError, match=r"row 1, column weight: 500\.0 must be a number above 0 and at most 100"):
        podium.rate(exploding(500.0), "openskill-pl")
    assert podium.rate(exploding(100.0), "openskill-pl").ratings["rating"].is_finite().all()


def test_plackett_luce_works_over_any_gap():
    """An upset over 20,000 points has the effect of one over 4,000, and a certain win changes nothing."""
    far, near = (far_apart("openskill-pl", 0.0, gap).rate(DUEL)["delta"].to_list() for gap in (20_000.0, 4_000.0))
    assert far == pytest.approx(near, rel=1e-9)
    assert far[0] > 1.0
    assert far_apart("openskill-pl", 20_000.0, 0.0).rate(DUEL)["delta"].to_list() == pytest.approx([0.0, 0.0])


def test_plackett_luce_of_a_duel_is_bradley_terry_at_any_gap():
    """With gamma = sigma / c the models agree on duels (Weng and Lin's algorithms 1 and 4 with k = 2)."""
    for gap in (0.0, 100.0, 4_000.0, 4_300.0, 5_000.0, 20_000.0):
        one, two = (far_apart(name, 0.0, gap).rate(DUEL) for name in ("openskill-pl", "openskill-bt"))
        assert one["rating"].to_list() == pytest.approx(two["rating"].to_list(), rel=1e-12, abs=1e-9)
        assert one["deviation"].to_list() == pytest.approx(two["deviation"].to_list(), rel=1e-12)


@pytest.mark.parametrize("name", ["glicko2", "trials"])
def test_an_upset_over_a_huge_gap_conserves_points(name):
    gained, lost = far_apart(name, -2000.0, 5000.0).rate(DUEL)["delta"].to_list()
    assert gained > 1.0
    assert lost == pytest.approx(-gained, rel=1e-6)


BAD = "e17"


def by_score():
    """Return a system that divides by whole seconds, and accepts entries without any."""
    return find("xonstat-2015")(least_played_s=0.0, least_part=0.0)


def dividing_by_nothing(bad=BAD):
    """Return events, one of which ended in less than a second."""
    seconds = {True: {"played_s": 0.5, "duration_s": 0.5}, False: {"played_s": 9.0, "duration_s": 9.0}}
    return [row | seconds[row["event_id"] == bad] | {"score": 4.0 - row["position"]} for row in exploding(count=30)]


def test_a_replay_stops_at_an_infinite_rating_and_names_it():
    with pytest.raises(NotFiniteError, match=r"xonstat-2015: event 'e17' would leave 'p\d' with") as stopped:
        podium.rate(dividing_by_nothing(), by_score())
    assert isinstance(stopped.value, PodiumError)
    assert stopped.value.player in {row["player"] for row in dividing_by_nothing() if row["event_id"] == BAD}


def test_live_stops_at_the_same_event_without_any_change():
    rows = dividing_by_nothing()
    live = podium.Live(by_score())
    live.rate(rows[: 3 * 17])
    before = live.ratings
    with pytest.raises(NotFiniteError, match="event 'e17'"):
        live.rate([*rows[3 * 17 : 3 * 18], rows[3 * 17] | {"player": "new", "position": 4, "score": 0.0}])
    assert live.ratings == before
    live.rate(rows[3 * 18 :])


def test_an_evaluation_stops_at_the_same_event():
    with pytest.raises(NotFiniteError, match="xonstat-2015: event 'e17'"):
        evaluate(dividing_by_nothing(), [by_score()])


def test_tuning_gives_a_candidate_with_infinite_ratings_an_infinite_loss():
    system = by_score()
    assert can_share(system)
    for bad, finite in ((BAD, False), ("none", True)):
        events = encode(podium.read_results(dividing_by_nothing(bad)), system)
        losses, _ = sums_of_losses([system, system], events, judged_heats(events, Window()))
        assert np.isfinite(losses).tolist() == [finite, finite]
        assert not np.isnan(losses).any()


def indexed(source):
    """Yield the lines in a system's rules and helpers that use an index."""
    for function in ast.walk(ast.parse(source)):
        if isinstance(function, ast.FunctionDef):
            marks = [ast.unparse(each) for each in function.decorator_list]
            for statement in function.body if re.search(r"\bkernel\b|\.register\b", " ".join(marks)) else ():
                yield from (each.lineno for each in ast.walk(statement) if isinstance(each, ast.Subscript))


def test_rules_of_pairwise_systems_use_no_index():
    sources = {name: Path(inspect.getfile(find(name))).read_text(encoding="utf-8") for name in names()}
    found = {name: list(indexed(source)) for name, source in sources.items()}
    assert [name for name in PAIRWISE if found[name]] == WITH_TABLES
    assert set(WITH_TABLES) <= set(CHECKED)
    assert found["codeforces"]


# In Python, NumPy checks every index. One system is compiled with these checks, and `make soak` compiles all.
INTERPRETED, COMPILED = "NUMBA_DISABLE_JIT", "NUMBA_BOUNDSCHECK"
WAYS = times(
    [(INTERPRETED, CHECKED[::2]), (INTERPRETED, CHECKED[1::2]), (COMPILED, [STANDING_FOR_PAIRWISE])],
    [(COMPILED, CHECKED[::2]), (COMPILED, CHECKED[1::2])],
)


@pytest.mark.parametrize(("way", "some"), WAYS, ids=[f"{way}-{some[0]}" for way, some in WAYS])
def test_no_kernel_reads_outside_its_arrays(way, some):
    environment = {name: value for name, value in os.environ.items() if name not in (INTERPRETED, COMPILED)}
    words = [sys.executable, str(TESTS / "extremes.py"), *some]
    done = subprocess.run(words, check=False, capture_output=True, text=True, env=environment | {way: "1"})
    assert done.returncode == 0, done.stderr[-2000:]
