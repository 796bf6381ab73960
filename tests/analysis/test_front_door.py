"""What a data scientist calls: names and texts for systems, tables for results, and metrics of one's own."""

import numpy as np
import polars as pl
import pytest
from extent import times

import podium

SEASON = podium.simulate(players=12, events=60, entrants=5, heats=2, teams=0, seed=5).results


@pytest.mark.parametrize("system", times(["elo", "elo-mmr"], ["elo", "glicko2", "elo-mmr"]))
@pytest.mark.parametrize("period", ["event", "1w"])
def test_predictions_are_the_pairs_that_an_evaluation_judges(system, period):
    if (system, period) == ("elo-mmr", "1w"):
        with pytest.raises(podium.ParameterError, match="takes no rating period"):
            podium.rate(SEASON, system, period=period)
        return
    pairs = podium.rate(SEASON, system, period=period).predictions()
    assert pairs.columns == ["event_id", "heat", "pool", "started_at", "player", "opponent", "expected", "result"]
    chance, won = pairs["expected"].to_numpy(), pairs["result"].to_numpy()
    loss = -np.mean(won * np.log(chance) + (1.0 - won) * np.log1p(-chance))
    judged = podium.evaluate(SEASON, system, period=period).scores.row(0, named=True)
    assert pairs.height == judged["pairs"]
    assert loss == pytest.approx(judged["log_loss"], rel=1e-12)


def test_a_prediction_is_what_was_expected_before_the_event():
    events = SEASON["event_id"].unique(maintain_order=True)
    until = SEASON.filter(pl.col("event_id").is_in(events[:40].implode()))
    pairs = podium.rate(SEASON, "glicko2").predictions().filter(event_id=events[40])
    before = podium.rate(until, "glicko2")
    for player, opponent, expected in pairs.select("player", "opponent", "expected").iter_rows():
        assert expected == pytest.approx(before.expected(player, opponent), abs=2e-3)  # which counts no idle days


def test_team_mates_and_those_who_both_quit_are_no_pair():
    rows = [
        {"event_id": "a", "player": "ana", "team": "x", "position": 1},
        {"event_id": "a", "player": "ben", "team": "x", "position": 1},
        {"event_id": "a", "player": "cy", "team": "y", "position": 2},
        {"event_id": "b", "player": "ana", "position": 1},
        {"event_id": "b", "player": "ben", "status": "dnf"},
        {"event_id": "b", "player": "cy", "status": "quit"},
    ]
    pairs = podium.rate(rows, "elo").predictions()
    found = {
        (event, frozenset((a, b)), won)
        for event, a, b, won in pairs.select("event_id", "player", "opponent", "result").iter_rows()
    }
    assert found == {
        ("a", frozenset({"ana", "cy"}), 1.0),
        ("a", frozenset({"ben", "cy"}), 1.0),
        ("b", frozenset({"ana", "ben"}), 1.0),
        ("b", frozenset({"ana", "cy"}), 1.0),
    }
    nothing = podium.rate([row | {"ranked": False} for row in rows], "elo").predictions()
    assert nothing.is_empty()


def test_a_metric_of_ones_own_is_a_column_over_the_judged_pairs():
    from sklearn.metrics import roc_auc_score

    window = podium.Window(since=SEASON["started_at"].to_list()[SEASON.height // 2], min_events=3)
    metrics = {
        "auc": lambda result, expected: roc_auc_score(result > 0.5, expected),
        "pairs_seen": lambda result, _: result.size,
    }
    scores = podium.evaluate(SEASON, ["elo:k=20", "trueskill"], window=window, metrics=metrics).scores
    assert scores["system"].to_list() == ["elo:k=20", "trueskill"]
    assert scores["pairs_seen"].to_list() == scores["pairs"].to_list()
    assert scores["auc"].is_between(0.5, 1.0).all()


def test_a_text_has_the_parameters_of_a_system():
    by_text, by_name = podium.rate(SEASON, "elo:k=20,scale=300"), podium.rate(SEASON, "elo", k=20, scale=300)
    assert by_text.ratings.equals(by_name.ratings)
    assert podium.rate(SEASON, "elo:k=20", scale=300).ratings.equals(by_name.ratings)
    with pytest.raises(podium.ParameterError, match="elo:k=20 gives k already"):
        podium.rate(SEASON, "elo:k=20", k=30)
    with pytest.raises(podium.ParameterError, match="'k' is not a setting; write it as NAME=VALUE"):
        podium.evaluate(SEASON, "elo:k")
    with pytest.raises(podium.ParameterError, match="there is no system to judge"):
        podium.evaluate(SEASON, [])


def test_audit_predict_tune_and_plot_take_tables_and_names(tmp_path):
    rated = podium.rate(SEASON, "glicko2")
    assert podium.audit(SEASON, "glicko2").months.equals(podium.audit(rated).months)
    names = SEASON["player"].unique().sort().to_list()[:3]
    assert podium.predict(SEASON, names, "glicko2").ranks.equals(rated.predict(names).ranks)
    tuned = podium.tune(SEASON, "elo", "70%", trials=3)
    assert tuned.test.scores["system"].to_list() == ["defaults", "tuned"]
    page = tmp_path / "histories.html"
    podium.plot("histories", rated, players=names, out=page)
    text = page.read_text(encoding="utf-8")
    assert "<script" not in text
    assert "http" not in text.replace("http://www.w3.org", "")
    for name in names:
        assert name in text
    with pytest.raises(podium.UnknownError, match="there is no player 'nobody'"):
        podium.plot("histories", rated, players=["nobody"])
    with pytest.raises(podium.ParameterError, match="there is no chart 'history'; did you mean 'histories'"):
        podium.plot("history", rated)
    with pytest.raises(podium.ParameterError, match="histories is drawn from results"):
        podium.plot("histories")


def test_a_season_is_simulated_by_its_settings():
    assert podium.simulate(events=5, seed=2).results.equals(podium.simulate(podium.Scenario(events=5, seed=2)).results)
    with pytest.raises(podium.ParameterError, match="'evnets' is not a setting of a season"):
        podium.simulate(evnets=5)
