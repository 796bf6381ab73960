"""Rating periods: the time of rating updates, and the effect of idleness."""

import math

import pytest

import podium
from podium.engine.tables.encoding import encode
from podium.systems import find
from podium.systems.glicko import Q, attenuation


def duels(*dates, winner="ana", loser="ben"):
    return [
        {"event_id": f"d{number}", "started_at": date, "player": player, "position": place}
        for number, date in enumerate(dates)
        for place, player in enumerate((winner, loser), start=1)
    ]


def ratings(rows, system, **options):
    return dict(podium.rate(rows, system, **options).ratings.select("player", "rating").iter_rows())


def test_a_period_compares_with_the_ratings_at_its_start():
    """Each of two wins gives 12 points in one month. With updates after every event the second gives less."""
    rows = duels("2025-03-01", "2025-03-30")
    assert ratings(rows, "elo", period="1mo") == {"ana": 1524.0, "ben": 1476.0}
    assert ratings(rows, "elo")["ana"] == pytest.approx(1512.0 + 24.0 * (1.0 - 1.0 / (1.0 + 10.0 ** (-24.0 / 400.0))))


def test_days_weeks_and_months_follow_the_calendar():
    sunday_and_monday = duels("2025-03-30", "2025-03-31")
    assert ratings(sunday_and_monday, "elo", period="1w") == ratings(sunday_and_monday, "elo", period="1d")
    saturday_and_sunday = duels("2025-03-29", "2025-03-30")
    assert ratings(saturday_and_sunday, "elo", period="1w")["ana"] == 1524.0


def test_periods_of_one_event_equal_updates_after_every_event():
    rows = duels("2025-01-05", "2025-02-05", "2025-03-05")
    assert ratings(rows, "glicko2", period="1mo") == ratings(rows, "glicko2")


def test_missed_periods_widen_the_deviation():
    """Three missed months add three times the variance of one (Glicko-2, step 6)."""
    deviations = {}
    for missed, month in ((0, "02"), (1, "03"), (3, "05")):
        rows = duels("2025-01-05") + [
            {"event_id": "last", "started_at": f"2025-{month}-05", "player": player, "position": 1}
            for player in ("ana", "cho")
        ]
        rated = podium.rate(rows, "glicko2", period="1mo", volatility=1.0, tau=1e-3)
        first, last = (rated.history.filter(player="ana", event_id=event) for event in ("d0", "last"))
        deviations[missed] = first["deviation"][0], last["deviation"][0]
    assert deviations[0][0] == deviations[1][0] == deviations[3][0]
    assert deviations[0][1] < deviations[1][1] < deviations[3][1]


def test_idle_days_count_from_the_last_event_of_the_last_period():
    """Events on 1 and 31 January and 1 February: one idle day, although January is one rating update."""
    rows = duels("2025-01-01", "2025-01-31", "2025-02-01")
    events = encode(podium.read_results(rows), find("glicko")(idle_growth=30.0), "1mo")
    assert events.columns.idle.tolist() == [0.0, 0.0, 1.0, 1.0]
    history = podium.rate(rows, "glicko", period="1mo", idle_growth=30.0).history
    january = history.filter(event_id="d1", player="ana")
    (february,) = history.filter(event_id="d2", player="ana").rows(named=True)
    wide = math.sqrt(january["deviation"][0] ** 2 + 30.0**2)  # step 1, t = 1
    g = attenuation(wide)
    expected = 1.0 / (1.0 + math.exp(-g * Q * 2.0 * (january["rating"][0] - 1500.0)))
    variance = 1.0 / (1.0 / wide**2 + (Q * g) ** 2 * expected * (1.0 - expected))
    assert february["deviation"] == pytest.approx(math.sqrt(variance), rel=1e-12)
    assert february["delta"] == pytest.approx(Q * variance * g * (1.0 - expected), rel=1e-12)


def test_idle_days_count_to_the_first_event_of_the_next_period():
    """Events on 31 January, then 28 and 1 February in this order: still one idle day."""
    rows = duels("2025-02-28", "2025-01-31", "2025-02-01", "2025-04-02")
    events = encode(podium.read_results(rows), find("glicko")(idle_growth=30.0), "1mo")
    assert events.columns.idle.tolist() == [0.0, 0.0, 1.0, 1.0, 33.0, 33.0]


def test_a_player_is_updated_once_per_period():
    rated = podium.rate(duels("2025-03-01", "2025-03-02"), "elo", period="1mo")
    deltas = rated.history.filter(player="ana")["delta"].to_list()
    assert deltas == [0.0, 24.0]
    assert math.fsum(rated.history["delta"]) == 0.0


def test_a_system_without_periods_rejects_a_period():
    with pytest.raises(podium.ParameterError, match="updates ratings after each event"):
        podium.rate(duels("2025-03-01"), "stk-rd", period="1w")
