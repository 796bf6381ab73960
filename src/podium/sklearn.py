"""A scikit-learn classifier that predicts duels from ratings. It needs the `sklearn` extra."""

from typing import Any, Self

import numpy as np
import numpy.typing as npt
import polars as pl

from podium.engine.system import System
from podium.errors import ResultsError, needs_extra
from podium.rating import rate
from podium.support.arrays import Array, Floats
from podium.systems import make_system

with needs_extra("sklearn", "a classifier for scikit-learn"):
    from sklearn.base import BaseEstimator, ClassifierMixin
    from sklearn.utils.multiclass import check_classification_targets
    from sklearn.utils.validation import check_is_fitted, validate_data

COLUMNS = 2  # columns of X: a player and the opponent
LOST, DRAWN, WON = 0.0, 0.5, 1.0


class DuelClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Predict the winner of a duel from ratings that are learnt from earlier duels.

    Args:
        system: the name of a system, a name with parameters such as `elo:k=20`, or an instance.

    Attributes:
        classes_: an array of shape (2,): the class that means a loss, and then the class that means a win.
        rated_: a `podium.Rated` with ratings, history and explanations.
        n_features_in_: 2.
    """

    def __init__(self, system: str | System = "elo") -> None:
        self.system = system

    def fit(self, X: Any, y: Any) -> Self:  # noqa: N803  (scikit-learn's name)
        """Learn ratings from duels.

        Args:
            X: an array of shape (duels, 2): the player and the opponent, by name or number, in the order in which the
                duels were played.
            y: an array of shape (duels,): the player's results. They are either two classes, of which the greater means
                a win, or 0 for a loss, 0.5 for a draw and 1 for a win.

        Returns:
            The classifier.

        Raises:
            ValueError: X does not have two columns, y has more than two classes, or a name is invalid.
            ParameterError: the system does not exist.
        """
        names, y = validate_data(self, X, y, dtype=None, ensure_all_finite=True, ensure_min_samples=1)
        players = self.duels_of(names)
        scores, self.classes_ = scores_of(np.asarray(y))
        count = players.shape[0]
        places = np.stack([2.0 - scores, 1.0 + scores], axis=1)  # 1 and 2, or 1.5 each
        duels = pl.DataFrame(
            {
                "event_id": np.repeat(np.arange(count), 2).astype(str),
                "player": players.ravel(),
                "position": np.where(places == 1.0 + DRAWN, 1.0, places).ravel(),
            },
            schema={"event_id": pl.String, "player": pl.String, "position": pl.Float64},
        )
        try:
            self.rated_ = rate(duels, make_system(self.system))
        except ResultsError as error:
            raise ValueError(str(error)) from error
        return self

    def predict_proba(self, X: Any) -> Floats:  # noqa: N803
        """Predict the probabilities of losing and winning.

        Args:
            X: an array of shape (duels, 2): the player and the opponent. Unknown players count as newcomers.

        Returns:
            An array of shape (duels, 2): the probability of each of `classes_`. Half of the probability of a draw is
            added to each of them.

        Raises:
            NotFittedError: `fit` has not been called.
            ValueError: X does not have two columns.
        """
        check_is_fitted(self)
        players = self.duels_of(validate_data(self, X, dtype=None, reset=False))
        won = np.array([self.rated_.expected(player, opponent) for player, opponent in players], np.float64)
        return np.stack([1.0 - won, won], axis=1)

    def predict(self, X: Any) -> Array:  # noqa: N803
        """Predict the results of duels.

        Args:
            X: an array of shape (duels, 2): the player and the opponent.

        Returns:
            An array of shape (duels,): the more likely of `classes_`, or the greater one if they are equally likely.

        Raises:
            NotFittedError: `fit` has not been called.
            ValueError: X does not have two columns.
        """
        won = self.predict_proba(X)[:, 1] >= DRAWN
        classes: Array = self.classes_[won.astype(np.int64)]
        return classes

    @staticmethod
    def duels_of(pairs: Array) -> npt.NDArray[np.str_]:
        """Return the names in X as strings.

        Args:
            pairs: an array of shape (duels, 2): names or numbers. Whole numbers are written without decimals.

        Returns:
            An array of shape (duels, 2): the player and the opponent.

        Raises:
            ValueError: X does not have two columns, or a name is missing.
        """
        if pairs.shape[1] != COLUMNS:
            raise ValueError(
                f"X has {pairs.shape[1]} feature(s), but a duel has {COLUMNS}. Give two columns: the player and the "
                "opponent."
            )
        names = pairs.ravel().tolist()
        if None in names:
            raise ValueError(f"X: row {names.index(None) // COLUMNS} has None for a player. Leave out the duel.")
        texts = [str(int(name)) if isinstance(name, float) and name.is_integer() else str(name) for name in names]
        return np.array(texts, dtype=np.str_).reshape(pairs.shape)

    def __sklearn_tags__(self) -> Any:
        """Return the tags for scikit-learn: names are strings, there are two classes, and the order of rows matters."""
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        tags.classifier_tags.multi_class = False
        tags.classifier_tags.poor_score = True  # for columns that are not players
        return tags


def scores_of(results: Array) -> tuple[Floats, Array]:
    """Return the score of each duel, and the two classes: loss and win.

    Raises:
        ValueError: there are more than two classes, and they are not 0, 0.5 and 1.
    """
    if results.dtype.kind in "iuf" and np.isin(results, (LOST, DRAWN, WON)).all():
        whole = results.dtype if np.isin(results, (LOST, WON)).all() else np.int64
        return results.astype(np.float64), np.array([LOST, WON]).astype(whole)
    check_classification_targets(results)
    classes = np.unique(results)
    if classes.size > COLUMNS:
        raise ValueError(
            f"Only binary classification is supported. The type of the target is multiclass ({classes.size} classes). "
            "Give losses and wins, or 0, 0.5 and 1 if duels can be drawn."
        )
    if classes.size < COLUMNS:
        raise ValueError(f"y has only one class, {classes[0]!r}. Give losses and wins, or 0, 0.5 and 1.")
    return (results == classes[1]).astype(np.float64), classes
