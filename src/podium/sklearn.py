"""A rating system as scikit-learn has its estimators: duels go in, chances come out. Needs the extra `sklearn`."""

from typing import Any, Self

import numpy as np
import numpy.typing as npt
import polars as pl

from podium.engine.system import System
from podium.errors import ResultsError, needs_extra
from podium.rating import rate
from podium.systems import make_system

with needs_extra("sklearn", "a classifier for scikit-learn"):
    from sklearn.base import BaseEstimator, ClassifierMixin
    from sklearn.utils.multiclass import check_classification_targets
    from sklearn.utils.validation import check_is_fitted, validate_data

COLUMNS = 2  # of X: a player and the opponent
LOST, DRAWN, WON = 0.0, 0.5, 1.0


class DuelClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Predicts who wins a duel, by ratings that are learnt from duels in the order of the rows.

    Args:
        system: a system's name, a text such as `elo:k=20`, or an instance.

    After `fit` it has `classes_`, (2,): the result of a player who lost, then of one who won; `rated_`, a
    `podium.Rated` with ratings, history and explanations; and `n_features_in_`, 2.
    """

    def __init__(self, system: str | System = "elo") -> None:
        self.system = system

    def fit(self, X: Any, y: Any) -> Self:  # noqa: N803  (scikit-learn's name)
        """Learn ratings from duels.

        Args:
            X: (duels, 2): a player and the opponent, by name or number; later rows were played later.
            y: (duels): whether the player won. Two classes, of which the greater is a win; or 0, 0.5 for a draw and 1.

        Returns:
            The classifier.

        Raises:
            ValueError: X has not two columns, y has more classes, or a name is refused.
            ParameterError: there is no such system.
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

    def predict_proba(self, X: Any) -> npt.NDArray[np.float64]:  # noqa: N803
        """Predict duels.

        Args:
            X: (duels, 2): a player and the opponent; whoever is unknown is a newcomer.

        Returns:
            (duels, 2): the chance of each of `classes_`, a draw counted half to either.

        Raises:
            NotFittedError: `fit` was not called.
            ValueError: X has not two columns.
        """
        check_is_fitted(self)
        players = self.duels_of(validate_data(self, X, dtype=None, reset=False))
        won = np.array([self.rated_.expected(player, opponent) for player, opponent in players], np.float64)
        return np.stack([1.0 - won, won], axis=1)

    def predict(self, X: Any) -> npt.NDArray[Any]:  # noqa: N803
        """Predict who wins.

        Args:
            X: (duels, 2): a player and the opponent.

        Returns:
            (duels): the likelier of `classes_`; the greater between equals.

        Raises:
            NotFittedError: `fit` was not called.
            ValueError: X has not two columns.
        """
        won = self.predict_proba(X)[:, 1] >= DRAWN
        classes: npt.NDArray[Any] = self.classes_[won.astype(np.int64)]
        return classes

    @staticmethod
    def duels_of(pairs: npt.NDArray[Any]) -> npt.NDArray[np.str_]:
        """Read the names in X.

        Args:
            pairs: (duels, 2): names, or numbers, of which whole ones have no decimals.

        Returns:
            (duels, 2): the player and the opponent.

        Raises:
            ValueError: X has not two columns, or a name is missing.
        """
        if pairs.shape[1] != COLUMNS:
            raise ValueError(
                f"X has {pairs.shape[1]} feature(s), but a duel has {COLUMNS}: the player and the opponent"
            )
        names = pairs.ravel().tolist()
        if None in names:
            raise ValueError(f"row {names.index(None) // COLUMNS} of X has None for a player; leave the duel out")
        texts = [str(int(each)) if isinstance(each, float) and each.is_integer() else str(each) for each in names]
        return np.array(texts, dtype=np.str_).reshape(pairs.shape)

    def __sklearn_tags__(self) -> Any:
        """What scikit-learn should know: names are texts, there are two classes, and the rows' order counts."""
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        tags.classifier_tags.multi_class = False
        tags.classifier_tags.poor_score = True  # of columns that are no players
        return tags


def scores_of(results: npt.NDArray[Any]) -> tuple[npt.NDArray[np.float64], npt.NDArray[Any]]:
    """The score of each duel, and the classes: a loss, and a win.

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
            f"Only binary classification is supported. The type of the target is multiclass ({classes.size} classes): "
            "a duel is lost or won, or 0, 0.5 and 1 where it may be drawn"
        )
    if classes.size < COLUMNS:
        raise ValueError(f"y has one class only, {classes[0]!r}; give losses and wins, or 0, 0.5 and 1")
    return (results == classes[1]).astype(np.float64), classes
