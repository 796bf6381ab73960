"""DWZ compared with six published changes, coefficients calculated by hand, and first ratings from a simple search."""

import math

import pytest

import podium
from podium.errors import ResultsError
from podium.systems import find


def tournament(*games, system="dwz", year=2018, ages=None, **start):
    """Return the states after one tournament of ana, given each opponent's rating (None: unrated) and her score."""
    ratings, rows = [{"player": "ana", **start}] if start else [], []
    ages = ages or {}
    for number, (rating, won) in enumerate(games):
        name = f"op{number:02}"
        ratings += [] if rating is None else [{"player": name, "rating": float(rating)}]
        shared = {"event_id": "open", "heat": f"{number}", "started_at": f"{year}-11-15"}
        for player, score in (("ana", won), (name, 1 - won)):
            rows.append(shared | {"player": player, "score": score} | ages.get(player, {}))
    rated = podium.rate(rows, system, start=ratings or None)
    explanation = rated.explain("open", "ana")
    assert explanation.rows["contribution"].sum() == pytest.approx(explanation.delta, abs=1e-9)
    return {row["player"]: row for row in rated.ratings.to_dicts()}


def expected(gap):
    return 0.5 * (1.0 + math.erf(gap / 400.0))  # Phi(gap / (200 sqrt 2))


@pytest.mark.parametrize(("won", "ana", "ben"), [(1, 1101, 1132), (0.5, 1035, 1177), (0, 985, 1232)])
@pytest.mark.parametrize("given", [{"birth_year": 1999}, {"age_group": 20}])
def test_published_changes(won, ana, ben, given):
    """sktroisdorf.de, 15 November 2018: 1000 against 1200, both up to 20 years old."""
    after = tournament((1200, won), rating=1000.0, ages={"ana": given, "op00": given})
    assert (after["ana"]["rating"], after["op00"]["rating"]) == (ana, ben)
    assert (after["ana"]["age_group"], after["ana"]["tournaments"]) == (20.0, 7.0)


@pytest.mark.parametrize(
    ("rating", "born", "index", "won", "coefficient"),
    [
        (1800, None, 6, 1, 25),  # 1.8^4 + 15 = 25.4976
        (1800, 1997, 6, 1, 20),  # 21 years old: 20.4976
        (1800, 1993, 6, 1, 20),  # 25
        (1800, 1992, 6, 1, 25),  # 26
        (1800, 1998, 6, 1, 14),  # 20: 15.4976 * 0.9
        (1800, 1998, 6, 0, 15),
        (1800, None, 2, 1, 10),  # twice five
        (2400, None, 6, 1, 30),
        (1200, None, 6, 0, 18),  # 17.0736 + exp(2 / 3) - 1
        (200, None, 6, 0, 150),
        (200, None, 1, 1, 5),
    ],
)
def test_coefficients(rating, born, index, won, coefficient):
    after = tournament(
        (rating, won),
        rating=float(rating),
        tournaments=float(index),
        ages={"ana": {"birth_year": born}} if born else None,
    )
    assert after["ana"]["rating"] == math.floor(rating + 800 * (won - 0.5) / (coefficient + 1) + 0.5)


def test_a_first_rating_has_an_expected_score_equal_to_the_score():
    opponents, scores = (1500, 1650, 1720, 1300, 1810), (1, 0.5, 0, 1, 0)
    found = min(range(800, 2500), key=lambda me: abs(sum(expected(me - each) for each in opponents) - sum(scores)))
    ana = tournament(*zip(opponents, scores, strict=True))["ana"]
    assert (ana["rating"], ana["rated"], ana["tournaments"]) == (found, 1, 1.0)
    low = [(700, 0), (750, 0), (650, 0), (800, 0), (720, 0.5)]
    found = min(range(2000), key=lambda me: abs(sum(expected(me - each) for each, _ in low) - 0.5))
    assert tournament(*low)["ana"]["rating"] == pytest.approx(700 + found / 8, abs=0.6)


@pytest.mark.parametrize("games", [[(1500, 1)] * 6, [(1500, 0)] * 6, [(1500, 1), (1500, 0)] * 2, [(None, 1)] * 8])
def test_a_first_rating_needs_five_games_and_a_mixed_score(games):
    ana = tournament(*games)["ana"]
    assert (ana["rating"], ana["rated"], ana["provisional"]) == (1000.0, 0, True)
    assert ana["first_games"] == len([rating for rating, _ in games if rating])


@pytest.mark.parametrize(("second", "rated"), [("2020-11-14", 1), ("2020-12-01", 0)])
def test_games_count_for_a_first_rating_for_two_years(second, rated):
    rows = [
        {"event_id": day, "heat": f"{k}", "started_at": day, "player": player, "score": score}
        for day, count in (("2018-11-15", 3), (second, 2))
        for k in range(count)
        for player, score in (("ana", k % 2), (f"{day}{k}", 1 - k % 2))
    ]
    start = [{"player": row["player"], "rating": 1500.0} for row in rows if row["player"] != "ana"]
    ratings = podium.rate(rows, "dwz", start=start).ratings
    assert ratings.filter(player="ana")["rated"].item() == rated


def test_the_system_without_first_ratings_passes_check_system():
    assert podium.check_system(find("dwz")(first_ratings=False, initial=1500.0), histories=2).kept


def test_results_keep_an_age_group_but_not_the_year_of_birth():
    rows = [
        {"event_id": event, "started_at": f"{event}-03-01", "player": player, "position": place, "birth_year": born}
        for event, year in (("2024", 2006), ("2025", None))
        for place, (player, born) in enumerate((("ana", year), ("ben", None)), 1)
    ]
    results = podium.read_results(rows)
    assert "birth_year" not in results.frame.columns
    assert results.frame["age_group"].to_list() == [18.0, None, None, None]
    ratings = podium.rate(results, "fide").ratings
    assert dict(ratings.select("player", "age_group").iter_rows()) == {"ana": 18.0, "ben": 0.0}
    for row in rows:
        del row["started_at"]
    with pytest.raises(ResultsError, match="column birth_year: needs the column started_at"):
        podium.read_results(rows)
