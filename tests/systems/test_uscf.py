"""US Chess compared with the published examples of the approximation, and the conditions of its bonus."""

import math

import pytest

import podium


def played(*games, settings="uscf", **start):
    """Return ana's rating after one event, given her opponents' ratings and her scores."""
    ratings, rows = [{"player": "ana", **start}] if start else [], []
    for number, (rating, won) in enumerate(games):
        name = f"op{rating}"
        ratings += [{"player": name, "rating": float(rating)}]
        shared = {"event_id": "open", "heat": f"{number}"}
        rows += [shared | {"player": "ana", "score": won}, shared | {"player": name, "score": 1 - won}]
    by_name = {each["player"]: each for each in ratings}
    rated = podium.rate(rows, settings, start=[*by_name.values()])
    explanation = rated.explain("open", "ana")
    assert explanation.rows["contribution"].sum() == pytest.approx(explanation.delta, abs=1e-9)
    return rated.ratings.filter(player="ana").row(0, named=True), explanation


def test_a_new_rating_is_the_mean_of_performances():
    """Glickman's example: 1500 from 6 games; 1400 won, 1550 lost, 1650 drawn."""
    ana, _ = played((1400, 1), (1550, 0), (1650, 0.5), rating=1500.0, games=6.0)
    assert ana["rating"] == pytest.approx((6 * 1500 + 1400 + 1550 + 1650) / 9, abs=1e-9)  # 1511.111
    assert (ana["games"], ana["provisional"]) == (9.0, True)


@pytest.mark.parametrize(("settings", "after"), [("uscf:bonus=12", 1464.804888), ("uscf", 1460.804888)])
def test_an_established_rating_can_get_a_bonus(settings, after):
    """1300 from 45 games, 3.5 of 4 against 1250, 1400, 1500 and 1550. The bonus of 12 is a test of skillratings."""
    ana, explanation = played(
        (1250, 1), (1400, 1), (1500, 1), (1550, 0.5), settings=settings, rating=1300.0, games=45.0
    )
    assert ana["rating"] == pytest.approx(after, abs=1e-6)
    assert explanation.rows["weight"][0] == pytest.approx(44.182115, abs=1e-6)
    assert "bonus_points" in explanation.rows["cause"].to_list()


def test_k_uses_the_effective_number_of_games():
    """N' of 1700 after 30 games is 20.0117867, and above 2355 it is at most 50."""
    for rating, games, counted in ((1700, 30.0, 20.0117867), (2400, 99.0, 50.0), (2400, 30.0, 30.0)):
        ana, _ = played((rating, 1), rating=float(rating), games=games)
        assert ana["rating"] - rating == pytest.approx(400 / (counted + 1), abs=1e-6)


def test_unrated_players_get_a_performance_rating():
    ana, _ = played((1400, 1), (1500, 1), (1600, 0))
    assert ana["rating"] == pytest.approx(1500 + 400 / 3)


COUNTED = 50 / math.sqrt(0.662 + 0.00000739 * (2569 - 1300) ** 2)  # N' of 1300


def gained(*opponents):
    """Return the points for winning all games, from 1300 after 45 games."""
    return played(*[(rating, 1) for rating in opponents], rating=1300.0, games=45.0)[0]["rating"] - 1300


def test_no_bonus_for_two_games_or_three_against_one_opponent():
    assert gained(1350, 1300) == pytest.approx(without_bonus(1350, 1300))
    assert gained(1300, 1300, 1300) == pytest.approx(without_bonus(1300, 1300, 1300))


def without_bonus(*opponents):
    expected = sum(1 / (1 + 10 ** ((rating - 1300) / 400)) for rating in opponents)
    return 800 / (COUNTED + len(opponents)) * (len(opponents) - expected)


def test_a_bonus_is_possible_with_two_games_against_each_opponent():
    points = without_bonus(1350, 1250, 1250)
    assert gained(1350, 1250, 1250) == pytest.approx(2 * points - 14 * math.sqrt(4))


def test_no_rating_falls_below_100():
    ana, explanation = played(*[(110, 0)] * 4, rating=101.0, games=9.0)
    assert ana["rating"] == 100.0
    assert "floor" in explanation.rows["cause"].to_list()
