"""The five systems of Weng and Lin, whose types look alike."""

import math

import numpy as np
import pytest
from openskill.models import (
    BradleyTerryFull,
    BradleyTerryPart,
    PlackettLuce,
    ThurstoneMostellerFull,
    ThurstoneMostellerPart,
)
from weng_lin import PLAYERS, season, table

import podium
from podium.engine.inputs import LINE
from podium.engine.tables.teams import MU, RANK, SHRINK, VARIANCE
from podium.kernels.compiled import compile_kernel
from podium.kernels.records import LANES
from podium.systems import find, names
from podium.systems._weng_lin import BLOCK, CUBED, WIDE, judge_in_lanes, judge_wide

FAMILY = [name for name in names() if name.startswith("openskill-")]


@pytest.mark.parametrize("name", FAMILY)
def test_two_processes_share_the_cache_but_not_the_rules(name, compiled):
    """Systems with similar types must not run each other's machine code, not even from the disk."""
    rows = [{"event_id": "e", "player": player, "position": place} for place, player in enumerate("abc", 1)]
    mine = podium.rate(rows, name).ratings["rating"].to_list()
    for other in FAMILY:
        if other != name:
            assert podium.rate(rows, other).ratings["rating"].to_list() != mine


@pytest.mark.parametrize("name", ["openskill-bt", "openskill-tm"])
def test_wide_fields_have_the_bits_of_the_pair_loop(name):
    """In kernels and in Python, with ties, and with a last block of lanes that is not full."""
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


def per_teams(c, k, mu, sigma_squared, team, rank, weights=None):
    return 1.0 / k


def one(c, k, mu, sigma_squared, team, rank, weights=None):
    return 1.0


MODELS = {
    "openskill-pl": PlackettLuce,
    "openskill-bt": BradleyTerryFull,
    "openskill-bt-part": BradleyTerryPart,
    "openskill-tm": ThurstoneMostellerFull,
    "openskill-tm-part": ThurstoneMostellerPart,
}


@pytest.mark.parametrize(
    ("settings", "options"),
    [
        ("gamma=1/teams", {"gamma": per_teams}),
        ("gamma=1,beta=0,deviation=6,tau=0.6", {"gamma": one, "beta": 0.0, "sigma": 6.0, "tau": 0.6}),
        ("limit_sigma=true,tau=2", {"limit_sigma": True, "tau": 2.0}),
    ],
)
@pytest.mark.parametrize("name", MODELS)
def test_options_equal_those_of_the_openskill_package(name, settings, options):
    """Two to eight sides with ties and teams. Each event starts from the package's ratings."""
    model = MODELS[name](**options)
    known = {player: model.rating() for player in PLAYERS}
    for event, every, places in season(3, 12):
        teams, ranks = every[:8], places[:8]
        after = model.rate([[known[player] for player in team] for team in teams], ranks=ranks)
        start = [{"player": player, "rating": each.mu, "deviation": each.sigma} for player, each in known.items()]
        live = podium.Live(f"{name}:{settings}", start=start)
        live.rate(table([(event, teams, ranks)]))
        for team, new in zip(teams, after, strict=True):
            known.update(zip(team, new, strict=True))
            for player in team:
                mine = live.ratings["default", player]
                assert mine.rating == pytest.approx(known[player].mu, rel=1e-12, abs=1e-11)
                assert mine.deviation == pytest.approx(known[player].sigma, rel=1e-12, abs=1e-12)


def test_ranked_play_of_osu():
    """OpenSkill with beta 0 and gamma 1, for two newcomers."""
    rows = [{"event_id": "e", "player": player, "position": place} for place, player in enumerate("ab", 1)]
    rated = podium.rate(rows, "openskill-pl:initial=1500,deviation=150,beta=0,tau=15,gamma=1")
    assert rated.ratings["rating"].to_list() == pytest.approx([1553.297514013, 1446.702485987], abs=1e-8)
    assert rated.ratings["deviation"].to_list() == pytest.approx([141.011967577] * 2, abs=1e-8)


@pytest.mark.parametrize("name", FAMILY)
def test_a_limited_deviation_never_grows_and_explanations_add_up(name):
    start = [{"player": player, "rating": 25.0, "deviation": 0.5} for player in "ab"]
    rows = [{"event_id": "e", "player": player, "position": place} for place, player in enumerate("ab", 1)]
    limited, free = (
        podium.rate(rows, name, start=start, tau=0.5, limit_sigma=limit).ratings["deviation"][0]
        for limit in (True, False)
    )
    assert limited == pytest.approx(0.5, rel=1e-12)
    assert free == pytest.approx(math.sqrt(0.5), abs=1e-3)
    system = find(name)(limit_sigma=True, gamma="1/teams", beta=0.0, tau=1.0)
    assert podium.check_system(system, histories=2).kept
