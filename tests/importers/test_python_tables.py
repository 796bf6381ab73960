"""Paths, frames and rows in Python are read as the command line reads a file."""

import io
import warnings
from datetime import timedelta
from functools import partial

import polars as pl
import pytest

import podium

FOOTBALL = """Div,Date,HomeTeam,AwayTeam,FTHG,FTAG,FTR
E0,11/08/2023,Burnley,Man City,0,3,A
E0,12/08/2023,Arsenal,Nott'm Forest,2,1,H
E0,12/08/2023,Bournemouth,West Ham,1,1,D
E0,19/08/2023,Man City,Arsenal,2,1,H
"""
MATCHES = pl.read_csv(io.StringIO(FOOTBALL))
DAY = {"from": "Date", "format": "%d/%m/%Y"}
UNDERSTOOD = "read Date, HomeTeam, AwayTeam, FTHG, FTAG as one match per row"


def ratings(source):
    with pytest.warns(UserWarning, match=UNDERSTOOD):
        return podium.rate(source).ratings


@pytest.fixture
def path(tmp_path):
    (tmp_path / "E0.csv").write_text(FOOTBALL, encoding="utf-8")
    return tmp_path / "E0.csv"


SOURCES = {
    "polars": lambda: MATCHES,
    "lazy": MATCHES.lazy,
    "pandas": MATCHES.to_pandas,
    "pandas with an index": lambda: MATCHES.to_pandas().set_index("Date"),
    "pandas with categories": lambda: MATCHES.to_pandas().astype({"HomeTeam": "category"}),
    "arrow": MATCHES.to_arrow,
    "rows": MATCHES.to_dicts,
    "stream": lambda: io.BytesIO(FOOTBALL.encode()),
}


@pytest.mark.parametrize("name", SOURCES)
def test_rate_reads_frames_and_rows_like_the_file(name, path):
    assert ratings(SOURCES[name]()).equals(ratings(path))


def test_all_functions_that_take_results_accept_any_shape(path):
    with pytest.warns(UserWarning, match=UNDERSTOOD):
        forecast = podium.predict(MATCHES, ["Arsenal", "Burnley"])
    assert forecast.players == ("Arsenal", "Burnley")
    with pytest.warns(UserWarning, match=UNDERSTOOD):
        assert podium.evaluate(path, "elo").scores["pairs"].to_list() == [4]
    with pytest.warns(UserWarning, match=UNDERSTOOD):
        assert podium.Live("elo").rate(MATCHES).height == 8
    with pytest.warns(UserWarning, match=UNDERSTOOD):
        assert podium.audit(MATCHES).months["newcomers"].sum() == 6


def test_typed_columns_mean_the_same_as_their_text():
    days = pl.col("Date").str.to_date("%d/%m/%Y")
    rating = ["player", "rating"]
    expected = ratings(MATCHES).select(rating)
    assert ratings(MATCHES.with_columns(days)).select(rating).equals(expected)
    assert (
        ratings(MATCHES.with_columns(days.cast(pl.Datetime("us", "UTC"))).to_pandas()).select(rating).equals(expected)
    )
    times = pl.DataFrame(
        {"Race": ["r"] * 3, "Driver": ["a", "b", "c"], "Time": [timedelta(seconds=k) for k in (62, 61.5, 63)]}
    )
    assert podium.read_results(times, lenient=True).frame["time_s"].to_list() == [62.0, 61.5, 63.0]
    places = pl.DataFrame({"Player": ["a", "b", "c"], "R1": [1.0, 2.0, float("nan")], "R2": [2, 1, 3]})
    assert podium.read_results(places.to_pandas(), lenient=True).frame.height == 5


def test_results_that_were_already_read_give_no_warning():
    results = podium.read_results(MATCHES, lenient=True)
    assert results.notes[0].startswith(UNDERSTOOD)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert podium.rate(results).event_count == 4


def test_nested_rows_are_read_as_json():
    race = [{"name": "ana", "place": 1}, {"name": "ben", "place": 2}]
    with pytest.warns(UserWarning, match="name as player"):
        assert podium.rate([{"event": "r1", "results": race}, {"event": "r2", "results": race}]).event_count == 2


AMBIGUOUS = pl.DataFrame({"Race": ["r", "r"], "Driver": ["a", "b"], "Pos": [1, 2], "Date": ["3/11/2024"] * 2})


def test_a_question_can_be_answered_in_python():
    with pytest.raises(podium.ResultsError, match=r"start with the day or the month\. Give podium"):
        podium.rate(AMBIGUOUS.to_pandas())
    read = podium.read_results(AMBIGUOUS, answers=["columns.started_at.format=%d/%m/%Y"])
    assert read.frame["started_at"].dt.to_string("%Y-%m-%d").to_list() == ["2024-11-03"] * 2


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ([{"event_id": "r", "player": "a", "position": 1}] * 2, "row 2, column player: 'a' appears twice"),
        ([], "is empty"),
        (pl.DataFrame(), "is empty"),
        (io.BytesIO(b"\n"), "is empty"),
        ("nowhere.csv", "cannot be read"),
        (5, "is not a table"),
        (["a"], "row 1: must be an object"),
    ],
)
def test_an_unreadable_table_is_a_clear_error(source, message):
    with pytest.raises(podium.ResultsError, match=message):
        podium.rate(source)


def places(results):
    return podium.rate(results).history.select("player", "delta").rows()


def test_home_and_away_columns_give_the_sheets_ratings():
    read = partial(podium.from_matches, MATCHES, home="HomeTeam", away="AwayTeam", date=DAY)
    by_scores, by_results = read(scores=("FTHG", "FTAG")), read(result="FTR")
    sheet = podium.read_results(MATCHES, lenient=True)
    assert places(by_scores) == places(by_results) == places(sheet)
    assert by_scores.frame["side"].to_list() == ["home", "away"] * 4


def test_winners_may_have_drawn():
    table = pl.DataFrame({"w": ["a", "b", "a"], "l": ["b", "c", "c"], "draw": [True, False, None]})
    read = podium.from_matches(table, winner="w", loser="l", draw="draw")
    assert read.frame["position"].to_list() == [1, 1, 1, 2, 1, 2]


def test_teams_at_home_and_away_have_team_scores():
    table = pl.DataFrame({"a1": ["a"], "a2": ["b"], "b1": ["c"], "b2": ["d"], "x": [3], "y": [1]})
    read = podium.from_matches(table, home=["a1", "a2"], away=["b1", "b2"], scores=("x", "y"))
    assert read.frame["team_score"].to_list() == [3, 3, 1, 1]
    assert read.frame["team"].n_unique() == 2


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"home": "HomeTeam", "away": "AwayTeam"}, "Give it scores="),
        ({"home": "HomeTeam", "away": "AwayTeam", "scores": ("FTHG", "FTAG"), "result": "FTR"}, "Give it scores="),
        ({"home": "HomeTeam", "away": "AwayTeam", "scores": ("FTHG",)}, "Give it scores="),
        ({"home": "HomeTeam", "away": "AwayTeam", "result": "FTR", "draw": "FTR"}, "Give it scores="),
        ({"winner": "HomeTeam", "loser": "AwayTeam", "result": "FTR"}, "Give it draw=COLUMN, or nothing"),
        ({"home": "HomeTeam", "loser": "AwayTeam", "result": "FTR"}, "Name winner and loser, or home and away"),
        ({"winner": "HomeTeam", "home": "HomeTeam", "away": "AwayTeam"}, "Name winner and loser, or home and away"),
        ({}, "Name winner and loser, or home and away"),
    ],
)
def test_matches_with_unclear_sides_or_results_are_rejected(given, message):
    with pytest.raises(podium.ParameterError, match=message):
        podium.from_matches(MATCHES, **given)


def test_a_retirement_in_a_combined_result_is_rejected():
    table = pl.DataFrame({"home": ["a", "b"], "away": ["b", "c"], "result": ["1-0", "ret."]})
    with pytest.raises(podium.ResultsError, match=r"column result: 'ret\.' does not say who won"):
        podium.from_matches(table, home="home", away="away", result="result")
    sides = [{"player": each, "score": {"from": ["result"], "as": "result"}} for each in ("home", "away")]
    with pytest.raises(podium.ResultsError, match=r"'ret\.' does not say who won"):
        podium.read_results(table, map={"layout": {"kind": "wide", "sides": sides}, "columns": {"event_id": "{row}"}})
