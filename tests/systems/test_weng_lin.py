"""The five systems of Weng and Lin, whose types look alike."""

import numpy as np
import pytest

import podium
from podium.engine.inputs import LINE
from podium.engine.tables.teams import MU, RANK, SHRINK, VARIANCE
from podium.kernels.compiled import compile_kernel
from podium.kernels.records import LANES
from podium.systems import find, names
from podium.systems._weng_lin import BLOCK, CUBED, WIDE, judge_in_lanes, judge_wide

FAMILY = [name for name in names() if name.startswith("openskill-")]


@pytest.mark.parametrize("name", FAMILY)
def test_two_processes_share_the_cache_and_not_the_rules(name):
    """Systems whose types look alike must not run each other's machine code, nor from the disk."""
    rows = [{"event_id": "e", "player": player, "position": place} for place, player in enumerate("abc", 1)]
    mine = podium.rate(rows, name).ratings["rating"].to_list()
    for other in FAMILY:
        if other != name:
            assert podium.rate(rows, other).ratings["rating"].to_list() != mine


@pytest.mark.parametrize("name", ["openskill-bt", "openskill-tm"])
def test_wide_fields_are_judged_to_the_bits_of_pair_after_pair(name):
    """In kernels and in Python, with ties, and where the last block of lanes is not full."""
    params, rng = find(name)().params(), np.random.default_rng(7)
    for teams in (WIDE, WIDE + 5):
        lines = np.zeros((teams, LINE))
        lines[:, MU], lines[:, VARIANCE] = rng.normal(25.0, 8.0, teams), rng.uniform(1.0, 70.0, teams)
        lines[:, RANK] = 1 + np.arange(teams) // 3 * 3
        lines[:, CUBED] = np.sqrt(lines[:, VARIANCE]) * lines[:, VARIANCE]
        for by_pairs, wide in ((_by_pairs, judge_wide), (compiled_by_pairs, compiled_wide)):
            expected, judged = lines.copy(), lines.copy()
            by_pairs(params, expected, teams, np.ones((BLOCK, LANES)))
            wide(params, judged, teams, np.empty((teams + BLOCK, LANES)))
            assert np.array_equal(judged, expected)
            assert judged[:, SHRINK].all()


def _by_pairs(params, lines, teams, lanes):
    i, q = 0, 1
    while i < teams - 1:
        i, q = judge_in_lanes(params, lines, teams, lanes, teams, i, q)


def _wide(params, lines, teams, lanes):
    judge_wide(params, lines, teams, lanes)


compiled_by_pairs, compiled_wide = (compile_kernel(judge, cached=False) for judge in (_by_pairs, _wide))
