"""The scikit-learn classifier: scikit-learn's checks, and Podium's additions."""

import warnings

import numpy as np
import pytest

import podium


def test_the_checks_of_scikit_learn_pass():
    from any_columns import OfAnyColumns
    from sklearn.utils.estimator_checks import check_estimator

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        outcomes = check_estimator(OfAnyColumns(), on_fail=None)
    failed = {each["check_name"]: str(each["exception"]) for each in outcomes if each["status"] == "failed"}
    assert failed == {}
    assert sum(each["status"] == "passed" for each in outcomes) > 40


def test_rows_that_are_not_duels_are_rejected():
    from sklearn.exceptions import NotFittedError

    from podium.sklearn import DuelClassifier

    with pytest.raises(ValueError, match=r"X has 3 feature\(s\), but a duel has 2"):
        DuelClassifier().fit([["ana", "ben", "cy"]], [1])
    with pytest.raises(ValueError, match="appears twice in one heat"):
        DuelClassifier().fit([["ana", "ana"]], [1])
    with pytest.raises(ValueError, match="Only binary classification is supported"):
        DuelClassifier().fit([["ana", "ben"]] * 3, ["won", "lost", "drawn"])
    with pytest.raises(podium.ParameterError, match="did you mean 'elo'"):
        DuelClassifier("el0").fit([["ana", "ben"]], [1])
    with pytest.raises(NotFittedError):
        DuelClassifier().predict([["ana", "ben"]])


def test_probabilities_match_the_ratings():
    from podium.sklearn import DuelClassifier

    duels, results = [["ana", "ben"], ["ben", "cy"], ["cy", "ana"]], [1, 0.5, 0]
    classifier = DuelClassifier("glicko2:tau=0.4").fit(duels, results)
    rows = [
        {"event_id": str(k), "player": name, "score": score}
        for k, (pair, result) in enumerate(zip(duels, results, strict=True))
        for name, score in zip(pair, (result, 1 - result), strict=True)
    ]
    rated = podium.rate(rows, "glicko2", tau=0.4)
    assert classifier.rated_.ratings["rating"].to_list() == rated.ratings["rating"].to_list()
    assert classifier.classes_.tolist() == [0, 1]
    lost, won = classifier.predict_proba([["ana", "stranger"]])[0]
    assert (won, lost) == (rated.expected("ana", "stranger"), 1.0 - won)


def test_a_search_in_time_order_finds_a_parameter():
    from sklearn.metrics import log_loss
    from sklearn.model_selection import GridSearchCV, TimeSeriesSplit

    from podium.sklearn import DuelClassifier

    season = podium.simulate(players=12, events=300, entrants=2, quits=0.0, seed=3).results
    pairs = season.filter(season["event_id"].is_duplicated())["player"].to_numpy().reshape(-1, 2)
    won = (season["time_s"].to_numpy().reshape(-1, 2) @ [-1.0, 1.0] > 0).astype(int)
    search = GridSearchCV(
        DuelClassifier(), {"system": ["elo:k=1", "elo:k=40"]}, cv=TimeSeriesSplit(3), scoring="neg_log_loss"
    ).fit(pairs, won)
    assert search.best_params_ == {"system": "elo:k=40"}
    assert search.best_score_ > -np.log(2.0)
    assert log_loss(won, search.predict_proba(pairs)) < np.log(2.0)


def test_numeric_ids_stay_distinct_and_a_missing_one_is_rejected():
    from podium.sklearn import DuelClassifier

    ids = np.array([[1234567.0, 1.0], [1234568.0, 1.0], [0.25, 2e16]])
    model = DuelClassifier().fit(ids, [1, 0, 1])
    assert set(model.rated_.ratings["player"]) == {"1234567", "1", "1234568", "0.25", "20000000000000000"}
    whole = DuelClassifier().fit(ids[:2].astype(np.int64), [1, 0])
    assert (whole.predict_proba(ids[:2]) == DuelClassifier().fit(ids[:2], [1, 0]).predict_proba(ids[:2])).all()
    with pytest.raises(ValueError, match="X: row 1 has None"):
        DuelClassifier().fit(np.array([["a", "b"], ["c", None]], object), [1, 0])
