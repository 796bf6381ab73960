"""iRating compared with both examples of irating-rs 0.1.0 (32-bit floats, within 1e-4) and with its formula."""

import math
import random

import pytest

import podium

B = 1600.0 / math.log(2.0)
LARGE = (
    7526, 5982, 5463, 4279, 4137, 4044, 3891, 3612, 3147, 2823, 2715, 2603, 2512, 2352,
    2227, 2195, 2166, 2089, 1773, 1772, 1752, 1748, 1705, 1662, 1622, 1537, 1464, 1203,
)  # fmt: skip
AFTER = (
    7544, 6008, 5488, 4317, 4170, 4072, 3915, 3635, 3173, 2851, 2738, 2622, 2527, 2362,
    2236, 2197, 2162, 2080, 1767, 1759, 1732, 1721, 1672, 1623, 1578, 1488, 1411, 1152,
)  # fmt: skip


def race(ratings, absent=(), tied=()):
    """Return the starting ratings, and the rows by place. Entrants in `tied` share the place of the one before."""
    start = [{"player": f"p{k:02}", "rating": float(rating)} for k, rating in enumerate(ratings)]
    rows = [
        {"event_id": "e", "player": f"p{k:02}"}
        | ({"status": "did_not_start"} if k in absent else {"position": k + 1 - (k in tied)})
        for k in range(len(ratings))
    ]
    return rows, start


def changes(rows, start):
    return podium.rate(rows, "irating", start=start).history.sort("player")["delta"].to_list()


def by_formula(ratings, places, absent):
    """Return the changes by the spreadsheet's formula, in a loop over all drivers."""
    n, q = len(ratings), len(absent)
    e = [math.exp(-rating / B) for rating in ratings]
    expected = [sum((1 - a) * b / ((1 - b) * a + (1 - a) * b) for b in e) - 0.5 for a in e]
    moved = [
        (n - place - mine - ((n - q / 2) / 2 - place) / 100) * 200 / (n - q)
        for place, mine in zip(places, expected, strict=True)
    ]
    gained = sum(moved[k] for k in range(n) if k not in absent)
    owed = sum(expected[k] for k in absent)
    return [-gained * expected[k] / owed if k in absent else moved[k] for k in range(n)]


def test_the_first_published_example():
    published = [76.78915537, 16.82839599, 4.83526571, 11.09826278, -6.86475291, -102.68632694]
    found = changes(*race((3203, 3922, 2974, 1739, 1250, 2588), absent={5}))
    assert found == pytest.approx(published, abs=1e-4)
    assert sum(found) == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize("position", [None, 14])
def test_the_second_example_keeps_the_gap_of_the_driver_who_did_not_start(position):
    rows, start = race(LARGE, absent={13})
    rows[13]["position"] = position
    found = changes(rows, start)
    assert [round(before + moved) for before, moved in zip(LARGE, found, strict=True)] == list(AFTER)


def test_changes_of_equals_at_1500_add_up_to_one():
    assert changes(*race([1500] * 4)) == pytest.approx([74.5, 25.0, -24.5, -74.0], abs=1e-9)


@pytest.mark.parametrize("seed", range(6))
def test_every_field_follows_the_formula(seed):
    """The fields have ties, non-starters among or behind the others, and rows in any order."""
    draw = random.Random(seed)  # noqa: S311
    ratings = [draw.randint(1, 6000) for _ in range(draw.randint(3, 20))]
    absent = {*draw.sample(range(len(ratings)), len(ratings) // 4)}
    tied = {len(ratings) - 1} - absent - {k + 1 for k in absent}
    rows, start = race(ratings, absent, tied)
    places = [k + 1.0 for k in range(len(ratings))]
    for k in tied:
        places[k] = places[k - 1] = k + 0.5
    draw.shuffle(rows)
    assert changes(rows, start) == pytest.approx(by_formula(ratings, places, absent), abs=1e-9)


def test_retired_drivers_share_the_last_places_of_the_starters():
    rows, start = race([1350] * 5)
    for k, status in ((2, "dnf"), (3, "quit"), (4, "did_not_start")):
        rows[k] = {"event_id": "e", "player": f"p{k:02}", "status": status}
    assert changes(rows, start) == pytest.approx(by_formula([1350] * 5, [1, 2, 3.5, 3.5, 5], {4}), abs=1e-9)


def test_a_lone_starter_changes_nothing():
    assert changes(*race([2000, 1500, 1200], absent={1, 2})) == [0.0, 0.0, 0.0]


def test_a_heat_with_only_a_driver_who_did_not_start_changes_nothing():
    rows = [{"event_id": "e", "heat": "1", "player": name, "position": place} for place, name in enumerate("abc", 1)]
    absent = {"event_id": "e", "heat": "2", "player": "a", "status": "did_not_start"}
    assert podium.rate([*rows, absent], "irating").ratings.equals(podium.rate(rows, "irating").ratings)


def test_no_rating_falls_below_one():
    rows, start = race([1.0, 1.0, 0.0])
    rated = podium.rate(rows, "irating", start=start)
    assert rated.ratings["rating"].min() == 1.0
    explanation = rated.explain("e", "p02")
    assert explanation.rows["contribution"].sum() == pytest.approx(explanation.delta, abs=1e-9)


def test_explanations_and_live_ratings_include_drivers_who_did_not_start():
    rows, start = race(LARGE, absent={13, 27})
    rated = podium.rate(rows, "irating", start=start)
    assert podium.Live("irating", start=start).rate(rows)["rating"].to_list() == rated.history["rating"].to_list()
    for player, delta in rated.history.select("player", "delta").iter_rows():
        assert rated.explain("e", player).rows["contribution"].sum() == pytest.approx(delta, abs=1e-9)
    assert rated.explain("e", "p13").summary.endswith("Not starting cost them all.")


def test_teams_that_share_a_place_are_an_error():
    rows, start = race([1350] * 4)
    labelled = [row | {"team": f"t{k // 2}"} for k, row in enumerate(rows)]
    assert changes(labelled, start) == changes(rows, start)
    with pytest.raises(podium.ResultsError, match=r"row 1, column team: irating does not rate teams"):
        changes([row | {"position": 1 + k // 2} for k, row in enumerate(labelled)], start)
