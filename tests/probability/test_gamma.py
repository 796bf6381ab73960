"""Chances of a field compared with closed forms, enumeration and simulation."""

from itertools import permutations

import numpy as np
import pytest
import scipy
from hypothesis import given, settings
from hypothesis import strategies as st

import podium
from podium.engine.inputs import Entrant
from podium.engine.rules import enter, expect
from podium.probability.gamma import incomplete_beta, matched_slope, performances
from podium.probability.ranks import GumbelPerformances, NormalPerformances, field_strength
from podium.probability.ranks import rank_distribution as of_field
from podium.probability.uncertain import UncertainPerformances, uncertain_performances
from podium.systems import find, names

RATINGS = st.floats(0.0, 4000.0)
FIELDS = st.lists(RATINGS, min_size=2, max_size=12)
SHAPES = st.integers(1, 20)


def rank_distribution(ratings, shape=3):
    return of_field(performances(ratings, shape))


def race_strength(ratings, top=5):
    return field_strength(performances([*ratings, 1500.0]), top)


def win_probability(rating, opponent, shape):
    """The closed form of two entrants."""
    mine, theirs = performances([rating, opponent], shape).log_rate
    return float(incomplete_beta(1.0 / (1.0 + np.exp(min(theirs - mine, 700.0))), float(shape)))


def test_published_strengths():
    assert race_strength([2200, 2100, 1900, 1870, 1850], top=1) == pytest.approx(253.5154963, rel=1e-9)
    assert race_strength([2200, 2100, 1900, 1870, 1850, 1600]) == pytest.approx(6.2033251, rel=1e-8)
    assert race_strength([2200, 2100], top=5) == 1.0


@given(a=RATINGS, b=RATINGS)
def test_shape_one_is_elos_formula(a, b):
    assert win_probability(a, b, 1) == pytest.approx(1.0 / (1.0 + 10.0 ** ((b - a) / 400.0)), rel=1e-12)


@given(a=RATINGS, b=RATINGS, shape=SHAPES)
def test_two_entrants_have_the_closed_form(a, b, shape):
    chances = rank_distribution([a, b], shape)
    assert chances[0, 0] == pytest.approx(win_probability(a, b, shape), abs=1e-12)


@settings(max_examples=30)
@given(ratings=FIELDS, shape=SHAPES, seed=st.randoms(use_true_random=False))
def test_rows_and_columns_sum_to_one_and_order_does_not_matter(ratings, shape, seed):
    chances = rank_distribution(ratings, shape)
    assert np.allclose(chances.sum(axis=0), 1.0, atol=1e-12)
    assert np.allclose(chances.sum(axis=1), 1.0, atol=1e-12)
    order = list(range(len(ratings)))
    seed.shuffle(order)
    assert np.allclose(rank_distribution([ratings[i] for i in order], shape), chances[order], atol=1e-12)


@pytest.mark.parametrize("shape", [1, 3, 20])
def test_large_fields_of_any_spread_sum_to_one(shape):
    rng = np.random.default_rng(1)
    for low, high in ((0.0, 4000.0), (1499.0, 1501.0)):
        chances = rank_distribution(rng.uniform(low, high, 200), shape)
        assert np.allclose(chances.sum(axis=0), 1.0, atol=1e-9)
        assert np.allclose(chances.sum(axis=1), 1.0, atol=1e-9)


def test_shape_one_is_plackett_luce():
    """Enumerate all orders with the product of each winner's share of the remaining strength."""
    ratings = np.array([2100.0, 1900.0, 1500.0, 1450.0, 300.0])
    strength = 10.0 ** (ratings / 400.0)
    chances = np.zeros((5, 5))
    for order in permutations(range(5)):
        chance, left = 1.0, strength.sum()
        for i in order:
            chance *= strength[i] / left
            left -= strength[i]
        for rank, i in enumerate(order):
            chances[i, rank] += chance
    assert np.allclose(rank_distribution(ratings, 1), chances, atol=1e-10)


@pytest.mark.parametrize("shape", [2, 3, 8])
def test_the_chance_to_win_equals_its_integral(shape):
    """SciPy integrates a player's density times the others' survival functions."""
    ratings = np.array([1900.0, 1700.0, 1500.0, 1480.0, 1000.0])
    rate = np.exp(matched_slope(shape) * ratings)
    for i, win_chance in enumerate(rank_distribution(ratings, shape)[:, 0]):
        others = np.delete(rate, i)

        def both(u, mine=rate[i], others=others):
            x = np.exp(u)
            density = np.exp(shape * np.log(mine * x) - mine * x - scipy.special.gammaln(shape))  # in u, not in x
            return density * np.prod(scipy.special.gammaincc(shape, others * x))

        low, high = np.log(scipy.special.gammaincinv(shape, [1e-15, 1.0 - 1e-15]) / rate[i])
        value, _ = scipy.integrate.quad(both, low, high, epsabs=1e-13, epsrel=1e-12, limit=400)
        assert win_chance == pytest.approx(value, abs=1e-9)


def test_ten_million_simulated_races_agree():
    """Every cell is within four standard errors."""
    ratings, shape, runs = np.array([1750.0, 1600.0, 1500.0, 1420.0]), 3, 10_000_000
    rate = np.exp(matched_slope(shape) * ratings)
    rng = np.random.default_rng(2)
    seen = np.zeros((4, 4))
    for _ in range(10):
        drawn = (rng.standard_gamma(shape, (runs // 10, 4)) / rate).T.copy()
        for i in range(4):
            ahead = np.zeros(drawn.shape[1], np.int8)
            for other in drawn:
                ahead += other < drawn[i]
            seen[i] += np.bincount(ahead, minlength=4)
    chances = rank_distribution(ratings, shape)
    error = np.sqrt(chances * (1.0 - chances) / runs)
    assert (np.abs(seen / runs - chances) <= 4.0 * error + 1e-12).all()
    assert np.allclose(chances.sum(axis=1), 1.0, atol=1e-12)


def test_gumbel_and_normal_fields():
    """Equal scales have closed forms in both families. A larger scale gives more wins and more last places."""
    for kind, chance in (
        (GumbelPerformances, 1.0 / (1.0 + np.exp(-1.3))),
        (NormalPerformances, scipy.stats.norm.cdf(0.65)),
    ):
        width = 1.0 if kind is GumbelPerformances else np.sqrt(2.0)
        chances = of_field(kind(np.array([-1.3, 0.0]), np.full(2, width)))
        assert chances[0, 0] == pytest.approx(chance, abs=1e-12)
    chances = of_field(NormalPerformances(np.zeros(5), np.array([9.0, 1.0, 1.0, 1.0, 1.0])))
    assert chances[0, 0] > chances[1, 0]
    assert chances[0, 4] > chances[1, 4]
    far = of_field(NormalPerformances(np.array([0.0, 4000.0, 8000.0]), np.array([1.0, 2.0, 1e-3])))
    assert np.allclose(far, np.eye(3), atol=1e-12)


@pytest.mark.parametrize("name", names())
def test_every_system_predicts_a_pair_by_its_expected_score(name):
    system = find(name)()
    params, newcomer = system.params(), system.newcomer()
    key = "raw_rating" if "raw_rating" in newcomer._fields else "rating"
    for lead in (0.0, 0.4, 3.0):
        width = getattr(newcomer, "deviation", 200.0)
        better = newcomer._replace(**{key: getattr(newcomer, key) + lead * width})
        a, b = (enter(params, each, Entrant(1.0, 0.0, 0.0)) for each in (better, newcomer))
        chances = of_field(system.performances([a, b, b]))
        assert np.allclose(chances.sum(axis=0), 1.0, atol=1e-9)
        pair = of_field(system.performances([a, b]))
        assert pair[0, 0] == pytest.approx(expect(params, a, b), abs=1e-9)


# System, scale of the lead between established players, and the deviation of normal skill for a deviation of 1.
LOGISTIC_DEVIATION = np.pi / np.sqrt(3.0)
MODELS = [
    ("glicko", 400.0 / np.log(10.0), 1.0),
    ("glicko2", 400.0 / np.log(10.0), 1.0),
    ("elo-mmr", np.sqrt(2.0 * 6.0) * 80.0 / LOGISTIC_DEVIATION, 1.0),
    ("openskill-bt", np.sqrt(2.0) * 25.0 / 6.0, LOGISTIC_DEVIATION),
    ("openskill-bt-part", np.sqrt(2.0) * 25.0 / 6.0, LOGISTIC_DEVIATION),
    ("openskill-pl", np.sqrt(2.0) * 25.0 / 6.0, LOGISTIC_DEVIATION),
]


def entering(system, leads, widths):
    """Return entering states from leads and deviations, both in units of a newcomer's deviation."""
    params, newcomer = system.params(), system.newcomer()
    unit = newcomer.deviation
    states = (
        newcomer._replace(rating=newcomer.rating + lead * unit, deviation=width * unit)
        for lead, width in zip(leads, widths, strict=True)
    )
    return [enter(params, state, Entrant(1.0, 0.0, 0.0)) for state in states]


@pytest.mark.parametrize("name", [name for name, _, _ in MODELS])
def test_an_uncertain_player_is_not_the_favourite_of_a_duel(name):
    """1500 with a deviation of 350 against 1500 with 30 is even. Unequal pairs have their expected score."""
    system = find(name)()
    for lead in (0.0, 0.3, -0.8, 2.0):
        a, b = entering(system, [lead, 0.0], [1.0, 30.0 / 350.0])
        chance = of_field(system.performances([a, b]))[0, 0]
        assert chance == pytest.approx(expect(system.params(), a, b), abs=1e-12)
        assert lead != 0.0 or chance == pytest.approx(0.5, abs=1e-12)


@pytest.mark.parametrize(("name", "noise", "share"), MODELS)
def test_a_field_of_uncertain_players_agrees_with_simulation(name, noise, share):
    """Normal skills and Gumbel noise of ten players, equal or not: within four standard errors."""
    system, runs, rng = find(name)(), 250_000, np.random.default_rng(5)
    for leads, widths in (
        ([0.0] * 10, [1.0] + [30.0 / 350.0] * 9),
        (np.linspace(1.2, -1.2, 10), [0.1, 1.0, 0.3, 0.1, 0.6, 0.2, 1.0, 0.1, 0.4, 0.8]),
    ):
        entering_states = entering(system, leads, widths)
        chances = of_field(system.performances(entering_states))
        mean = np.array([getattr(entering, "mu", entering.rating) for entering in entering_states])
        spread = share * np.array(
            [getattr(entering, "phi", getattr(entering, "deviation", 0.0)) for entering in entering_states]
        )
        unit = noise / 173.7178 if name == "glicko2" else noise  # the states of glicko2 have their own scale
        drawn = rng.normal(mean, spread, (runs, 10)) + unit * rng.gumbel(size=(runs, 10))
        places = np.argsort(np.argsort(-drawn, axis=1), axis=1)
        for i in range(10):
            seen = np.bincount(places[:, i], minlength=10) / runs
            assert (np.abs(seen - chances[i]) <= 4.0 * np.sqrt(chances[i] * (1.0 - chances[i]) / runs) + 1e-12).all()


@pytest.mark.parametrize("spread", [0.0, 1e-6, 0.1, 0.33, 0.34, 1.0, 2.0, 40.0])
def test_skill_and_noise_have_the_distribution_of_their_sum(spread):
    """SciPy integrates on both sides of the value at which the sum changes its nodes."""
    field = UncertainPerformances(np.zeros(1), np.array([spread]), 1.0)
    for t in (-4.0 - 4.0 * spread, -1.0, 0.0, 0.7, 1.5 + 2.0 * spread):

        def below(z, t=t):
            return -np.expm1(-np.exp(min(t - spread * z, 700.0))) * scipy.stats.norm.pdf(z)

        def beside(v, t=t):
            return np.exp(v - np.exp(v)) * scipy.stats.norm.cdf((t - v) / spread)

        ends = {"epsabs": 1e-14, "epsrel": 1e-12, "limit": 400}
        value, _ = (
            scipy.integrate.quad(below, -9.0, 9.0, **ends)
            if spread < 1.5
            else scipy.integrate.quad(beside, -40.0, 4.0, **ends)
        )
        assert field.cdf(np.array([t]))[0, 0] == pytest.approx(value, abs=2e-12)
    edges = field.support()
    u = np.linspace(edges[0][0], edges[1][0], 20_001)
    densities = field.pdf(u)[:, 0]
    assert np.trapezoid(densities, u) == pytest.approx(1.0, abs=1e-9)
    below_u = scipy.integrate.cumulative_simpson(densities, x=u, initial=0.0)
    assert np.allclose(below_u, field.cdf(u)[:, 0], atol=1e-6)


def test_a_large_field_of_uncertain_players_adds_up():
    rng = np.random.default_rng(6)
    field = uncertain_performances(
        rng.normal(1500.0, 300.0, 200).tolist(), rng.uniform(0.0, 700.0, 200).tolist(), 173.7
    )
    chances = of_field(field)
    assert np.allclose(chances.sum(axis=0), 1.0, atol=1e-11)
    assert np.allclose(chances.sum(axis=1), 1.0, atol=1e-11)


def test_a_third_entrant_hardly_changes_a_pair():
    """A duel uses the system's own curve and a larger field the integral. They differ by at most 0.023."""
    system = find("glicko")()
    worst = 0.0
    for lead in np.linspace(0.0, 6.0, 13):
        for width in (0.1, 0.5, 1.0):
            a, b, hopeless = entering(system, [lead, 0.0, -60.0], [1.0, width, 0.1])
            pair = of_field(system.performances([a, b, hopeless]))[0, 0]
            worst = max(worst, abs(pair - expect(system.params(), a, b)))
    assert 0.015 < worst < 0.023


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: rank_distribution([]),
        lambda: rank_distribution([1500.0, np.nan]),
        lambda: rank_distribution([1500.0, 1400.0], 0),
        lambda: rank_distribution([1500.0, 1400.0], 2.5),
    ],
)
def test_invalid_arguments_are_rejected(wrong):
    with pytest.raises(podium.ParameterError):
        wrong()


def test_a_single_entrant_is_first():
    assert rank_distribution([1500.0]).tolist() == [[pytest.approx(1.0, abs=1e-12)]]


def test_normal_performances_have_the_distribution_of_scipy():
    field = NormalPerformances(np.array([0.0, 1.5, -40.0]), np.array([1.0, 0.3, 5.0]))
    u = np.linspace(-60.0, 20.0, 401)
    expected = scipy.special.ndtr((u[:, None] - field.location) / field.scale)
    np.testing.assert_allclose(field.cdf(u), expected, rtol=0.0, atol=1e-15)
