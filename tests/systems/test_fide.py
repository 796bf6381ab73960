"""FIDE's rating compared with the table of the regulations, and with changes and first ratings calculated by hand."""

import math

import pytest

import podium
from podium.systems import find
from podium.systems.fide import GAPS, tabulated


def games(*results, day="2025-11-{:02}", period="1mo", **start):
    """Return the ratings after games of ana, given each opponent's rating (None: unrated) and her score."""
    rows, ratings = [], [{"player": "ana", **start}] if start else []
    for number, (rating, won) in enumerate(results):
        name = f"op{number:02}"
        ratings += [] if rating is None else [{"player": name, "rating": float(rating)}]
        shared = {"event_id": f"g{number:02}", "started_at": day.format(1 + number % 28)}
        rows += [shared | {"player": "ana", "score": won}, shared | {"player": name, "score": 1 - won}]
    rated = podium.rate(rows, "fide", period=period, start=ratings or None)
    return rated, rated.ratings.filter(player="ana").row(0, named=True)


def test_the_table_rises_by_a_hundredth_above_each_bound():
    assert len(GAPS) == 50
    for hundredths, bound in enumerate(GAPS.tolist(), 50):
        assert (tabulated(bound), tabulated(bound + 1)) == (hundredths / 100, (hundredths + 1) / 100)
        assert tabulated(-bound) == pytest.approx(1 - hundredths / 100)
    assert tabulated(0.0) == 0.5


def test_the_limit_of_400_points_depends_on_the_players_own_rating_and_the_day():
    def expected(day, player):
        rated, _ = games((2400, 0.5), day=day, rating=2813.0)
        return rated.explain("g00", player).rows["expected"][0]

    assert (expected("2025-11-{:02}", "ana"), expected("2025-11-{:02}", "op00")) == (0.93, pytest.approx(0.08))
    assert expected("2025-09-{:02}", "ana") == 0.92


@pytest.mark.parametrize(
    ("start", "k"),
    [
        ({"rating": 2100.0, "events": 29.0}, 40),
        ({"rating": 2100.0, "events": 30.0}, 20),
        ({"rating": 2390.0, "events": 99.0, "peak": 2400.0}, 10),
        ({"rating": 2400.0, "events": 3.0}, 10),
    ],
)
def test_k_by_experience(start, k):
    _, ana = games((start["rating"], 1), **start)
    assert ana["rating"] == start["rating"] + k / 2


@pytest.mark.parametrize(("peak", "group", "k"), [(2290.0, 18, 40), (2290.0, 20, 20), (2300.0, 18, 20)])
def test_k_of_juniors(peak, group, k):
    _, ana = games((2100, 1), rating=2100.0, events=99.0, peak=peak, age_group=float(group))
    assert ana["rating"] == 2100.0 + k / 2


def test_k_times_games_is_at_most_700():
    _, ana = games(*[(2100, 1)] * 39, rating=2100.0, events=99.0)
    assert ana["rating"] == 2100 + math.floor(17 * 39 / 2 + 0.5)


def test_changes_are_rounded_once_per_period_and_halves_away_from_zero():
    """For a draw with .75 expected 10 (.5 - .75) = -2.5, which becomes -3. Two such games cost 5."""
    assert games((2210, 0.5), rating=2400.0, events=50.0)[1]["rating"] == 2397.0
    assert games((2210, 0.5), (2210, 0.5), rating=2400.0, events=50.0)[1]["rating"] == 2395.0


def test_first_ratings():
    """Regulations 8.2: 3 points of 5, opponents' sum 9507: Ra 1872.43, p .57. Five wins against 1800: p .86."""
    assert games((1900, 1), (1901, 1), (1902, 1), (1902, 0), (1902, 0))[1]["rating"] == 1922.0
    assert games(*[(1800, 1)] * 5)[1]["rating"] == 2109.0
    _, four = games(*[(1800, 1)] * 4)
    assert (four["rated"], four["provisional"], four["first_games"]) == (0, True, 4.0)
    assert games(*[(2600, 1)] * 9)[1]["rating"] == 2200.0
    low = games(*[(1400, 0)] * 6, (1400, 0.5))[1]
    assert (low["rated"], low["rating"]) == (0, 1800.0)


def test_games_before_a_first_rating_are_pooled_for_26_months():
    def rated(*months):
        rows = [
            {"event_id": f"{month}", "started_at": month, "player": player, "score": won}
            for month in months
            for player, won in (("ana", 1), (f"op{month}", 0))
        ]
        start = [{"player": f"op{month}", "rating": 1800.0} for month in months]
        return podium.rate(rows, "fide", period="1mo", start=start).ratings.filter(player="ana")["rated"].item()

    months = ["2024-01-05", "2024-03-05", "2024-09-05", "2025-06-05", "2026-02-05"]
    assert rated(*months) == 1
    assert rated("2023-11-05", *months[1:]) == 0


def test_a_first_event_without_points_and_unrated_opponents_do_not_count():
    rows = [(1800, 0)] * 3
    assert games(*rows)[1]["first_games"] == 0.0
    _, ana = games((None, 1), (None, 0), rating=2000.0, events=40.0)
    assert (ana["rating"], ana["games"]) == (2000.0, 40.0)


def test_a_rating_below_1400_is_dropped_and_explained():
    rated, ana = games((1401, 0), rating=1401.0, events=40.0)
    assert (ana["rated"], ana["rating"], ana["games"]) == (0, 1800.0, 41.0)
    rows = rated.explain("g00", "ana").rows
    assert rows["contribution"].sum() == pytest.approx(rated.history.filter(player="ana")["delta"].item())
    assert "below_the_floor" in rows["cause"].to_list()


def test_the_system_without_first_ratings_passes_check_system():
    assert podium.check_system(find("fide")(first_ratings=False, initial=1500.0), histories=2).kept


@pytest.mark.parametrize(
    ("text", "k"), [("elo:k_new=40,new=2,k=20", (40, 40, 20)), ("elo:k_top=10,top=1511", (24, 10, 10))]
)
def test_elo_by_experience(text, k):
    """A draw against the strongest of three equals, then wins. Each change uses the k for the events before it."""
    live = podium.Live(text)
    for number, mine in enumerate(k):
        before = live.ratings["default", "ana"].rating if number else 1500.0
        expected = live.expected("ana", f"op{number}") if number else 0.5
        (ana,), _ = live.rate_one(f"g{number}", ["ana", f"op{number}"]).teams
        assert ana.rating - before == pytest.approx(mine * (1 - expected), abs=1e-9)


def test_elo_by_experience_passes_check_system():
    system = find("elo").from_text({"k_new": "40", "k_top": "10", "top": "1520"})
    assert system.label == "elo:k_new=40,k_top=10,top=1520"
    assert podium.check_system(system, histories=2).kept
    assert type(find("elo")()) is find("elo")
