"""Charts of rating histories."""

import re
import struct
from datetime import UTC, datetime, timedelta

import pytest

import podium
from podium.errors import ParameterError
from podium.reporting.histories import HEIGHT, established_rows, line_points, rating_histories, spread
from podium.reporting.plotting import as_page, as_svg

UNDATED = [{"event_id": e, "player": p, "position": k + 1} for e in "ab" for k, p in enumerate(["Zoë", "Ben"])]


def test_a_line_begins_at_the_initial_rating_and_ends_after_the_last_event():
    rated = podium.rate(UNDATED, "elo")
    numbered = rated.history.with_columns(number=podium.rate(UNDATED, "elo").history["event_id"].rle_id().cast(int) + 1)
    points = line_points(numbered, "number").filter(player="Zoë")
    assert points["when"].to_list() == [0, 1, 2, 3]
    assert points["rating"][0] == 1500.0
    assert points["rating"][-1] == rated.ratings.filter(player="Zoë")["rating"][0]


def test_simultaneous_events_are_one_point():
    start = datetime(2024, 5, 1, tzinfo=UTC)
    rows = [
        row | {"event_id": f"{k}{row['event_id']}", "started_at": start + timedelta(days=k)}
        for k in (0, 1)
        for row in UNDATED
    ]
    points = line_points(podium.rate(rows, "elo").history, "started_at").filter(player="Ben")
    assert points["when"].to_list() == [start, start, start + timedelta(days=1), start + timedelta(days=1)]


def test_lines_leave_out_the_first_five_events():
    rows = [{"event_id": f"{k}", "player": p, "position": i} for k in range(7) for i, p in enumerate("ab", start=1)]
    history = podium.rate(
        [*rows, {"event_id": "8", "player": "c", "position": 1}, rows[0] | {"event_id": "8"}], "glicko2"
    )
    kept = established_rows(history.history)
    assert kept["player"].to_list().count("a") == 3
    assert kept["rating_before"][0] == kept["rating"][0]
    assert kept["player"].to_list().count("c") == 1


def test_names_at_line_ends_do_not_overlap_and_stay_inside():
    places = spread([1500.0, 1500.0, 1501.0, 1400.0], 1390.0, 1510.0)
    gaps = [b - a for a, b in zip(sorted(places), sorted(places)[1:], strict=False)]
    assert min(gaps) >= 14.0 * 120.0 / HEIGHT - 1e-9
    assert min(spread([0.0] * 5, 0.0, 1.0)) >= 0.0


def test_each_player_has_a_colour_and_the_axis_has_whole_numbers():
    chart = rating_histories(podium.rate(UNDATED, "elo").history, ["Ben", "Zoë"], "Elo")
    svg = as_svg(chart)
    assert 'stroke="#0072b2"' in svg
    assert 'stroke="#d55e00"' in svg
    assert not re.search(r">\d+\.5<", svg)


def test_the_title_says_who_leads_and_the_subtitle_has_the_months_drawn(tmp_path):
    results = podium.simulate(players=8, events=60, entrants=4, seed=1).results
    chart = podium.plot("histories", podium.rate(results, "glicko2"), out=tmp_path / "chart.png")
    assert struct.unpack(">II", (tmp_path / "chart.png").read_bytes()[16:24]) == (1600, 900)
    title = chart.to_dict()["layer"][0]["title"]
    first, second = podium.rate(results, "glicko2").leaderboard().head(2).select("player", "rating").rows()
    ahead = round(first[1]) - round(second[1])
    assert title["text"] == f"{first[0]} leads with {first[1]:.0f}, {ahead} points ahead of {second[0]}"
    assert title["subtitle"].startswith("Glicko-2: 8 of 8 players, ")
    alone = podium.plot("histories", results, "glicko2", players=[second[0]]).to_dict()["layer"][0]["title"]
    assert alone["text"] == f"{second[0]} has {second[1]:.0f}"


def test_a_page_has_a_drawing_for_a_phone_and_uses_the_pages_colours():
    page = as_page(rating_histories(podium.rate(UNDATED, "elo").history, ["Ben"], "<b>"), "<b>")
    assert page.count("<svg") == 2
    assert "currentColor" in page
    assert "prefers-color-scheme: dark" in page
    assert "<b>" not in page.replace("&lt;b&gt;", "")


def test_the_lines_of_many_players_all_differ():
    players = [f"player {k}" for k in range(20)]
    rows = [{"event_id": "e", "player": player, "position": k} for k, player in enumerate(players, start=1)]
    svg = as_svg(rating_histories(podium.rate(rows, "elo").history, players, "Elo"))
    lines = re.findall(r'<path aria-label="[^"]*player: [^"]*"[^>]* (stroke="#\w+"[^>]*)/?>', svg)
    assert len({re.sub(r'stroke-(width|opacity)="[^"]*"', "", each) for each in lines}) == len(players)


@pytest.mark.parametrize("dated", [True, False])
def test_hindsight_is_dashed_with_its_band_inside_the_chart(dated):
    results = podium.simulate(players=5, events=20, entrants=3, seed=1).results
    rated = podium.rate(results if dated else results.drop("started_at"), "adaptive")
    chart = podium.plot("histories", rated, hindsight=True).to_dict()
    band, dashed = chart["layer"][:2]
    assert (band["mark"]["type"], dashed["mark"]["strokeDash"]) == ("area", [5, 3])
    rows = chart["data"]["values"]
    low, high = dashed["encoding"]["y"]["scale"]["domain"]
    assert len(rows) == 60
    assert all(low < row["low"] < row["rating"] < row["high"] < high for row in rows)
    assert "stroke-dasharray" in as_svg(podium.plot("histories", rated, hindsight=True))


def test_hindsight_is_an_error_for_other_systems_and_charts():
    with pytest.raises(ParameterError, match="hindsight is for adaptive"):
        podium.plot("histories", UNDATED, "glicko2", hindsight=True)
    with pytest.raises(ParameterError, match="only histories can show it, not distribution"):
        podium.plot("distribution", UNDATED, "adaptive", hindsight=True)
