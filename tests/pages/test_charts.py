"""Charts stretch without distortion, have labels, and stay inside their frame."""

import xml.etree.ElementTree as ET
from datetime import UTC, datetime, timedelta

import pytest

from podium.ledger.pair_predictions import ReliabilityBin
from podium.pages.charts import (
    MAX_DOTS,
    HistoryLine,
    HistoryPoint,
    expected_curve,
    history_chart,
    reliability_curve,
)
from podium.pages.drawing import dates, distribution_bars, round_values, share_bar, signed_bar, split_bar
from podium.support.words import MINUS

START = datetime(2020, 1, 5, tzinfo=UTC)


def line(ratings, player="Zoë", days=7, deviation=None):
    return HistoryLine(
        player,
        [
            HistoryPoint(
                START + timedelta(days=days * k), rating, deviation, f"/bikes/events/{k}/Zo%C3%AB", f"Race {k}"
            )
            for k, rating in enumerate(ratings)
        ],
    )


def parsed(drawing):
    root = ET.fromstring(str(drawing))  # noqa: S314  (our own)
    assert "viewBox" not in root.attrib
    assert root.get("aria-label") or root.get("aria-hidden") == "true"
    assert not [each for each in root.iter() if "style" in each.attrib]
    for each in root.iter():
        for name in ("x", "x1", "x2", "cx", "width"):
            value = each.get(name)
            if value and value.endswith("%"):
                assert 0.0 <= float(value[:-1]) <= 100.0, (each.tag, name, value)
    return root


def places_of(root, css):
    """Return every point of the path of a class."""
    (path,) = [each for each in root.iter("path") if each.get("class") == css]
    pairs = path.get("d").strip("MZ").replace("M", "L").split("L")
    return [tuple(float(number) for number in pair.split()) for pair in pairs]


def test_a_history_links_its_events_and_labels_the_highest_and_newest_rating():
    drawing = history_chart([line([1500.0, 1620.4, 1580.2, 1541.6])], "Rating of Zoë", digits=1)
    root = parsed(drawing)
    links = list(root.iter("a"))
    assert [each.get("href") for each in links] == [f"/bikes/events/{k}/Zo%C3%AB" for k in range(4)]
    assert root.get("role") == "group"
    assert {"highest 1620", "1542"} <= {each.text for each in root.iter("text")}
    outline = places_of(root, "line")
    assert [x for x, _ in outline] == [0.0, 333.0, 667.0, 1000.0]
    heights = [y for _, y in outline]
    assert sorted(range(4), key=lambda k: heights[k]) == [1, 2, 3, 0]  # higher ratings are further up


def test_the_band_leaves_out_points_more_than_twice_as_uncertain_as_the_newest():
    points = [HistoryPoint(START + timedelta(days=k), 1500.0 + 10 * k, 350.0 / (k + 1)) for k in range(20)]
    root = parsed(history_chart([HistoryLine("Ana", points)], "Rating of Ana", digits=1))
    band = places_of(root, "band")
    assert len(band) == 22  # both sides of 11 points
    assert all(0.0 <= y <= 256.0 for _, y in band)
    upper, lower = band[10], band[11]
    assert upper[0] == lower[0] == 1000.0
    middle = places_of(root, "line")[19][1]
    assert lower[1] - middle == pytest.approx(middle - upper[1], abs=0.11)


def test_some_events_are_linked_including_the_newest():
    drawing = history_chart([line([1500.0 + k % 90 for k in range(300)])], "Rating", digits=1)
    root = parsed(drawing)
    links = list(root.iter("a"))
    assert MAX_DOTS * 0.8 < len(links) <= MAX_DOTS
    assert links[-1].get("href") == "/bikes/events/299/Zo%C3%AB"
    assert sum(each.get("class") != "desk" for each in links) == 2  # on a phone: the highest and the newest


@pytest.mark.parametrize("ratings", [[1500.0], [1500.0, 1500.0], [0.0], [-3.2, -3.1]])
def test_one_event_and_equal_ratings_are_drawn(ratings):
    root = parsed(history_chart([line(ratings)], "Rating", digits=2))
    assert all(0.0 <= y <= 256.0 for _, y in places_of(root, "line"))
    assert len([each.text for each in root.iter("text")]) == len({each.text for each in root.iter("text")})


def test_results_without_dates_are_numbered():
    points = [HistoryPoint(k, 1500.0 + k) for k in range(1, 41)]
    root = parsed(history_chart([HistoryLine("Ana", points)], "Rating", digits=1))
    assert "event 10" in {each.text for each in root.iter("text")}


def test_two_players_differ_in_name_and_dashes_and_names_are_escaped():
    strange = '<b onload="x">&'
    drawing = history_chart(
        [line([1500.0, 1600.0], strange), line([1500.0, 1400.0], "N" * 200)], f"{strange} and N", digits=1
    )
    root = parsed(drawing)
    assert [each.get("class") for each in root.iter("path")] == ["line b", "line"]
    words = [each.text for each in root.iter("text")]
    assert strange in words
    assert "N" * 23 + "…" in words
    assert "<b" not in str(drawing)


def test_a_name_is_at_the_end_of_its_line():
    early = HistoryLine("Nico", [HistoryPoint(START + timedelta(days=30 * k), 1400.0 + 10 * k) for k in range(40)])
    late = HistoryLine("Max", [HistoryPoint(START + timedelta(days=900 + 30 * k), 1380.0 + 10 * k) for k in range(50)])
    root = parsed(history_chart([early, late], "Nico and Max", digits=1, height=216))
    labels = {each.text: float(each.get("y")) for each in root.iter("text")}
    ends = [float(each.get("d").rsplit(None, 1)[-1].rpartition("L")[2].split(",")[-1]) for each in root.iter("path")]
    assert abs(labels["Nico"] - ends[0]) < 40.0
    assert abs(labels["Max"] - ends[1]) < 40.0


def test_a_phone_has_fewer_long_date_labels():
    root = parsed(history_chart([line([1500.0 + k for k in range(48)])], "Rating", digits=1))
    months = [each for each in root.iter("text") if each.text.startswith(("Jan", "Mar", "May", "Jul", "Sep", "Nov"))]
    assert len([each for each in months if each.get("class") != "desk"]) <= 3


def test_without_points_there_is_no_drawing():
    assert history_chart([HistoryLine("Ana", [])], "Rating", digits=1) == ""
    assert distribution_bars([], 50.0, None, "Players") == ""


@pytest.mark.parametrize(
    "days", [0.0, 0.01, 0.4, 1.0, 3.0, 20.0, 61.0, 200.0, 400.0, 999.0, 1001.0, 5000.0, 40_000.0, 700_000.0]
)
def test_date_labels_are_within_the_period_and_few(days):
    since = START + timedelta(days=2, hours=7) if days < 100_000 else datetime(1, 3, 1, tzinfo=UTC)
    steps = dates(since, since + timedelta(days=days))
    assert len(steps) <= 11
    assert len({each.label for each in steps}) == len(steps)
    assert all(since.timestamp() <= each.value <= (since + timedelta(days=days)).timestamp() for each in steps)
    if days > 60:
        assert len(steps) >= 2


@pytest.mark.parametrize("days", [1, 11, 80, 4000])
def test_dates_end_with_the_calendar(days):
    last = datetime(9999, 12, 31, 23, tzinfo=UTC)
    since = last - timedelta(days=days)
    assert all(since.timestamp() <= each.value <= last.timestamp() for each in dates(since, last))


@pytest.mark.parametrize(("low", "high"), [(0.0, 1.0), (1432.1, 1951.7), (-0.03, 0.02), (1e8, 1e8 + 1), (5.0, 5.0)])
def test_round_values_are_within_the_range_and_few(low, high):
    values = round_values(low, high, 5)
    assert 1 <= len(values) <= 6
    assert all(low - 1e-9 <= each <= high + 1e-9 for each in values)


def test_requested_expected_scores_are_marked():
    points = [(gap, 1.0 / (1.0 + 10.0 ** (-gap / 400.0))) for gap in range(-600, 601, 50)]
    root = parsed(expected_curve(points, {0: "50%", 200: "76%", 400: "91%"}, "Chance"))
    assert {"equal", "+300", f"{MINUS}600", "50%", "76%", "91%"} <= {each.text for each in root.iter("text")}
    assert [each.get("cx") for each in root.iter("circle")] == ["50%", "66.67%", "83.33%"]
    assert [y for _, y in places_of(root, "line")] == sorted((y for _, y in places_of(root, "line")), reverse=True)


def test_dots_of_more_duels_are_larger_and_have_their_interval():
    known = (0.1, 0.2, 10), (0.5, 0.5, 1000), (0.9, 0.8, 100)
    bins = [
        ReliabilityBin(expected, observed, observed - 0.1, observed + 0.1, duels) for expected, observed, duels in known
    ]
    root = parsed(reliability_curve(bins, "Predictions"))
    radii = [float(each.get("r")) for each in root.iter("circle")]
    assert radii[0] < radii[2] < radii[1] == 7.0
    spreads = [each for each in root.iter("line") if each.get("class") == "line"]
    assert [each.get("x1") for each in spreads] == ["10%", "50%", "90%"]
    assert {"what was expected", "what happened"} <= {each.text for each in root.iter("text")}


def test_bars_have_one_scale_with_losses_to_the_left():
    gain, loss = (parsed(signed_bar(value, -5.0, 15.0)) for value in (15.0, -5.0))
    (up,), (down,) = gain.findall("rect"), loss.findall("rect")
    assert (up.get("class"), up.get("x"), up.get("width")) == ("up", "25%", "75%")
    assert (down.get("class"), down.get("x"), down.get("width")) == ("down", "0%", "25%")
    assert parsed(signed_bar(0.0, 0.0, 0.0)).findall("rect") == []
    assert [each.get("width") for each in parsed(share_bar(0.2, within=0.54)).findall("rect")] == ["54%", "20%"]


@pytest.mark.parametrize("share", [0.0, 0.001, 0.585, 1.0])
def test_both_parts_of_a_split_bar_fill_it(share):
    first, second = parsed(split_bar(share, "Max 59%, Lando 41%")).findall("rect")
    end = float(second.get("x")[:-1]) + float(second.get("width")[:-1])
    assert end == pytest.approx(100.0)
    assert float(first.get("width")[:-1]) <= float(second.get("x")[:-1])


def test_the_players_own_bar_is_highlighted():
    root = parsed(distribution_bars([(1400.0, 3), (1450.0, 12), (1500.0, 5)], 50.0, 1462.0, "Players by rating"))
    assert [each.get("class") for each in root.findall("rect")] == ["bar b", "bar", "bar b"]
    assert "you" in {each.text for each in root.iter("text")}
