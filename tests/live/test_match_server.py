"""Live ratings in a match server: leaderboards and predictions between matches, and matches as plain objects."""

from html import escape
from typing import Any

import polars as pl
import pytest
from polars.testing import assert_frame_equal
from sentences import history

import podium
from podium.support.words import MINUS
from podium.systems import find

TWO = [
    {"event_id": "m1", "player": "ana", "position": 1},
    {"event_id": "m1", "player": "ben", "position": 2},
]


def live_after(system, rows=None):
    """Return live ratings after each event of a history was rated separately."""
    live = podium.Live(system)
    frame = (history() if rows is None else podium.read_results(rows)).frame
    for _, event in frame.group_by("event_id", maintain_order=True):
        live.rate(event)
    return live


@pytest.mark.parametrize("system", ["elo", "folyami", "glicko2"])
def test_leaderboard_and_predictions_equal_those_of_a_replay(system):
    """The systems keep a peak or not, and one has its own rule for listed players."""
    live, rated = live_after(system), podium.rate(history(), system)
    assert_frame_equal(live.leaderboard(), rated.leaderboard(), check_exact=True)
    rules: dict[str, Any] = {"min_events": 9, "active_within": "60d", "top": 5, "pool": "default"}
    assert_frame_equal(live.leaderboard(**rules), rated.leaderboard(**rules), check_exact=True)
    field = ["Ana", "Ben", "nobody yet"]
    assert live.expected("Ana", "Ben") == rated.expected("Ana", "Ben") != 0.5
    assert_frame_equal(live.predict(field).entrants, rated.predict(field).entrants, check_exact=True)


def test_the_leaderboard_continues_from_saved_ratings():
    first, later = TWO, [row | {"event_id": "m2"} for row in reversed(TWO)]
    rated = podium.rate(later, start=podium.rate(first))
    live = podium.Live(start=podium.rate(first))
    assert live.leaderboard()["player"].to_list() == ["ana", "ben"]
    live.rate(later)
    assert_frame_equal(live.leaderboard(), rated.leaderboard(), check_exact=True)


def test_before_any_event_the_leaderboard_is_empty_and_chances_are_even():
    live = podium.Live("folyami")
    assert live.leaderboard().is_empty()
    assert live.leaderboard().columns == podium.rate(TWO, "folyami").leaderboard().columns
    assert live.expected("ana", "ben") == 0.5
    assert live.predict(["ana", "ben"]).entrants["win"].to_list() == pytest.approx([0.5, 0.5])


def test_with_several_pools_one_must_be_chosen():
    live = podium.Live()
    live.rate_one("m1", ["ana", "ben"], pool="duels")
    live.rate_one("m2", ["ben", "ana"], pool="races")
    assert live.expected("ana", "ben", pool="duels") > 0.5 > live.expected("ana", "ben", pool="races")
    assert live.leaderboard(pool="races")["player"].to_list() == ["ben", "ana"]
    with pytest.raises(
        podium.ParameterError, match=r"pool: the results contain more than one pool. Choose one: duels, races"
    ):
        live.expected("ana", "ben")
    with pytest.raises(
        podium.ParameterError, match=r"pool: the results contain more than one pool. Choose one: duels, races"
    ):
        live.predict(["ana", "ben"])
    with pytest.raises(podium.UnknownError, match="pool 'karts' does not exist"):
        live.predict(["ana", "ben"], pool="karts")
    with pytest.raises(podium.UnknownError, match="pool 'karts' does not exist"):
        live.leaderboard(pool="karts")
    with pytest.raises(podium.UnknownError, match="pool 'typo' does not exist"):
        podium.rate(TWO).expected("ana", "ben", pool="typo")


def test_explaining_a_possible_event_adds_no_player():
    live = podium.Live()
    assert live.explain(TWO, "m1", "ana").delta > 0
    assert live.ratings == {}


COLUMNS = ("player", "team", "position", "score")
MATCHES = [  # teams, the outcome, and the equivalent rows of a results table
    ([["ana"], ["ben"]], {"ranks": [1, 2]}, [("ana", None, 1, None), ("ben", None, 2, None)]),
    (["ana", "ben"], {}, [("ana", None, 1, None), ("ben", None, 2, None)]),
    (["ana", "ben"], {"ranks": [5, 0]}, [("ana", None, 2, None), ("ben", None, 1, None)]),
    (["ana", "ben"], {"ranks": [7, 7]}, [("ana", None, 1, None), ("ben", None, 1, None)]),
    (["ana", "ben"], {"scores": [1, 1]}, [("ana", None, None, 1.0), ("ben", None, None, 1.0)]),
    (
        [["ana", "cy"], "ben"],
        {"ranks": [2, 1]},
        [("ana", "1", 2, None), ("cy", "1", 2, None), ("ben", "2", 1, None)],
    ),
]


@pytest.mark.parametrize(("teams", "outcome", "rows"), MATCHES)
def test_a_match_of_teams_is_rated_like_its_rows(teams, outcome, rows):
    """Ranks may start anywhere, equal ranks tie, and a higher score wins."""
    table = pl.DataFrame(rows, COLUMNS, orient="row", infer_schema_length=None)
    apart = podium.Live("trueskill")
    expected = apart.rate(table.select(pl.lit("m1").alias("event_id"), *[c for c in table if c.null_count() < c.len()]))
    match = podium.Live("trueskill").rate_one("m1", teams, **outcome)
    assert match.rated
    assert [len(team) for team in match.teams] == [1 if isinstance(team, str) else len(team) for team in teams]
    assert list(match.players) == [name for name, *_ in rows]
    for name, delta, rating in expected.select("player", "delta", "rating").iter_rows():
        assert (match.players[name].delta, match.players[name].rating) == (delta, rating)
    assert match.players["ana"].state == apart.ratings["default", "ana"]
    assert isinstance(match.players["ana"].state, find("trueskill").state_type)


def test_team_scores_decide_between_teams():
    live = podium.Live("trueskill")
    match = live.rate_one("m1", [["ana", "ben"], ["cy", "dev"]], scores=[0, 3], started_at="2024-05-01")
    assert match.players["cy"].delta > 0 > match.players["ana"].delta
    assert live.leaderboard()["last_played_at"].dt.year().to_list() == [2024] * 4


def test_an_unranked_match_changes_no_rating():
    match = podium.Live().rate_one("m1", ["ana", "ben"], ranked=False)
    assert not match.rated
    assert [(each.rating, each.delta) for each in match.players.values()] == [(1500.0, 0.0)] * 2


@pytest.mark.parametrize(
    ("teams", "outcome", "message"),
    [
        ([], {}, "an event needs teams, and every team needs a player"),
        ([["ana"], []], {}, "an event needs teams, and every team needs a player"),
        ("ab", {}, "an event needs teams, and every team needs a player"),  # not two players called a and b
        ([1, 2], {}, "an event needs teams, and every team needs a player"),
        (["ana", "ben"], {"ranks": [1]}, "ranks: 1 numbers for 2 teams"),
        (["ana", "ben"], {"scores": [1.0, float("nan")]}, "scores: nan is not a number"),
        (["ana", "ben"], {"ranks": ["1", "2"]}, "ranks: '1' is not a number"),
        (["ana", "ben"], {"position": 1}, "position: this column cannot be combined with teams"),
        (["ana", "ana"], {}, "'ana' appears twice"),
        (["ana", "ben"], {"laps": 3}, "is not a column of a results table"),
    ],
)
def test_an_invalid_match_is_rejected_and_changes_nothing(teams, outcome, message):
    live = podium.Live()
    with pytest.raises(podium.PodiumError, match=message):
        live.rate_one("m1", teams, **outcome)
    assert live.ratings == {}
    live.rate_one("m1", ["ana", "ben"])
    with pytest.raises(podium.ResultsError, match="was rated before"):
        live.rate_one("m1", ["ana", "ben"])


def test_notebook_output_is_short_and_escaped():
    rows = [row | {"player": f"<b>{row['player']}</b>"} for row in TWO]
    rated, live, many = podium.rate(rows, k=30), podium.Live(k=30), podium.rate(history())
    match = live.rate_one("m1", [str(row["player"]) for row in rows])
    why, imagined = rated.explain("m1", "<b>ana</b>"), rated.what_if("m1", "<b>ben</b>")
    chances = many.predict(["Ana", "Ben", "Cleo", "Dev"])
    assert repr(rated) == "Rated(elo:k=30: 1 event, 2 players, 1 pool)"
    assert repr(live) == "Live(elo:k=30: 2 players, 1 event, 1 pool)"
    assert repr(match) == "RatedEvent(m1: <b>ana</b> 1515.0 (+15.0), <b>ben</b> 1485.0 (-15.0))"
    assert repr(why) == "Explanation(<b>ana</b> in m1: 1500.0 +15.0 = 1515.0)"
    assert repr(imagined) == f"WhatIf(<b>ben</b> in m1: {MINUS}15.0, 1 alternative)"
    assert repr(rated.results) == "Results(results: 2 rows, 1 event, 2 players)"
    assert repr(chances).startswith("Forecast(")
    assert repr(chances).endswith(", 1 more)")
    for each in (rated, live, why, imagined, rated.results, rated.predict(["<b>ana</b>", "cy"])):
        assert len(repr(each)) < 100
        html = each._repr_html_()
        assert "&lt;b&gt;" in html
        assert "<b>ana" not in html
    assert len(repr(many)) < 100
    stakes = rated.stakes(["<b>ana</b>", "cy"], "cy")
    assert escape(repr(stakes)) in stakes._repr_html_()
    assert "<table" in stakes._repr_html_()
