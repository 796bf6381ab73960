"""EGF compared with numbers calculated from the published formulas of 2021, with handicap stones."""

import pytest

import podium


def game(ana, ben, won, system="egf", **more):
    """Return the ratings after one game, and the explanation for ana."""
    rows = [
        {"event_id": "g", "player": "ana", "score": won} | {name: values[0] for name, values in more.items()},
        {"event_id": "g", "player": "ben", "score": 1 - won} | {name: values[1] for name, values in more.items()},
    ]
    start = [{"player": "ana", "rating": float(ana)}, {"player": "ben", "rating": float(ben)}]
    rated = podium.rate(rows, system, start=start)
    explanation = rated.explain("g", "ana")
    assert explanation.rows["contribution"].sum() == pytest.approx(explanation.delta, abs=1e-9)
    return rated.history.sort("player")["rating"].to_list(), explanation.rows


@pytest.mark.parametrize(
    ("ana", "ben", "won", "after"),
    [(2100, 2100, 1, 2109.3062461), (2674.564, 2611.051, 0, 2670.45617061712), (0, 0, 0, -38.605176)],
)
def test_changes_by_the_formulas(ana, ben, won, after):
    (found, _), _ = game(ana, ben, won)
    assert found == pytest.approx(after, abs=1e-6)


def test_changes_of_both_sides_and_their_parts():
    found, rows = game(1000, 1300, 1)
    assert found == pytest.approx([1039.434117, 1273.566470], abs=1e-6)
    assert rows["cause"].to_list() == ["opponent", "bonus_points"]
    _, rows = game(2674.564, 2611.051, 0)
    assert rows["expected"][0] == pytest.approx(0.66307498608, abs=1e-10)
    assert rows["weight"][0] == pytest.approx(6.19790061339, abs=1e-10)


@pytest.mark.parametrize(
    ("handicap", "expected"),
    [((None, None), 0.2732225596), ((None, True), 0.2394753104), ((1, 0), 0.3048132438), (("no", "yes"), 0.2394753104)],
)
def test_handicap_stones(handicap, expected):
    _, rows = game(1000, 1300, 1, handicap=handicap)
    assert rows["expected"][0] == pytest.approx(expected, abs=1e-10)


def test_four_stones_are_worth_350_points():
    _, rows = game(1000, 1350, 1, handicap=(4, 0))
    assert rows["expected"][0] == pytest.approx(0.5, abs=1e-12)


def test_a_tournament_class_is_a_weight():
    (whole, _), _ = game(1000, 1300, 1)
    (half, _), _ = game(1000, 1300, 1, weight=(0.5, 0.5))
    assert half - 1000 == pytest.approx((whole - 1000) / 2)


def test_rating_limits():
    assert game(-899, -899, 0)[0][0] == -900.0
    with pytest.raises(podium.ResultsError, match="rating"):
        game(3300, 2100, 1)


def test_a_handicap_must_be_a_number():
    rows = [{"event_id": "e", "player": player, "handicap": stones} for player, stones in (("a", 2.5), ("b", None))]
    assert podium.read_results([row | {"score": 1} for row in rows]).frame["handicap"].to_list() == [2.5, 0.0]
    for wrong in (-1, "many"):
        with pytest.raises(podium.ResultsError, match=r"column handicap: .* must be a number, 0 or more"):
            podium.read_results([row | {"score": 1, "handicap": wrong} for row in rows])
