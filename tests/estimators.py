"""Public estimators in the configurations that laws are about, and the data of these laws."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

import skewboost as sb
from skewboost.errors import CostWarning
from skewboost.goals import GoalNotMetWarning, LittleUseWarning, RepeatedRowsWarning
from skewboost.learners import Tree

TOLD = (CostWarning, GoalNotMetWarning, LittleUseWarning, RepeatedRowsWarning)  # of what is not the matter of a law


@dataclass(frozen=True)
class Configured:
    """An estimator with its parameters, and the laws that it does not obey, each with the reason."""

    name: str
    make: Callable[..., Any]
    many: bool = False  # whether it takes more than two classes
    table: bool = True  # whether it takes missing values and categories
    slow: bool = False  # whether its fit takes long
    foreign: bool = False  # whether it trains an estimator of scikit-learn
    but: tuple[tuple[str, str], ...] = ()

    def __str__(self) -> str:
        return self.name

    def exempt(self, law: str) -> str | None:
        """Why it does not obey a law; None if it does."""
        return dict(self.but).get(law)


def portfolio(**params: Any) -> Any:
    """A portfolio that is trained in no time."""
    return sb.SkewBoostClassifier(**{"effort": "quick", "random_state": 0, **params})


def search(estimator: Any, goal: str = "recall >= 60%", **params: Any) -> Any:
    """A goal search of few points."""
    return sb.GoalSearchCV(
        estimator, goal, **{"allow_unmet": True, "cv": 2, "max_points": 4, "random_state": 0, **params}
    )


def real() -> Any:
    """A booster that is trained in no time."""
    return sb.RealBoostClassifier(n_estimators=6)


def csra() -> Any:
    """A booster with costs that is trained in no time."""
    return sb.CSRAClassifier(n_estimators=6)


REFERRAL = "precision >= 30% and referred_share <= 40%"

FOLDS = "folds depend on the order and the number of rows"
DRAWN = "rows are drawn class by class"
CERTIFIED = "rows are held out of the search by chance, and equal rows are no further evidence"

ROWS = ("order", "repetition")


def not_of(laws: tuple[str, ...], reason: str) -> tuple[tuple[str, str], ...]:
    return tuple((law, reason) for law in laws)


PORTFOLIOS = [
    Configured("portfolio", lambda **p: portfolio(**p), many=True),
    Configured("portfolio, default effort", lambda **p: portfolio(**{"effort": "default", **p}), many=True, slow=True),
    Configured("portfolio, thorough", lambda **p: portfolio(**{"effort": "thorough", **p}), many=True, slow=True),
    Configured("portfolio, cost", lambda **p: portfolio(cost=7, **p)),
    Configured("portfolio, equal costs", lambda **p: portfolio(cost=1, **p)),
    Configured("portfolio, referral", lambda **p: portfolio(cost=7, reject_cost=0.4, **p)),
    Configured("portfolio, monotonic", lambda **p: portfolio(monotonic_cst=[1, 0, 0, 0], **p), table=False),
    Configured("portfolio, additive", lambda **p: portfolio(interaction_cst="no_interactions", **p), many=True),
    Configured("portfolio, goal", lambda **p: portfolio(goal="recall >= 50%", **p), but=not_of(ROWS, CERTIFIED)),
    Configured(
        "portfolio, goal and cost",
        lambda **p: portfolio(goal="expected_cost <= 2.5", cost=7, **p),
        but=not_of(ROWS, CERTIFIED),
    ),
    Configured(
        "portfolio, goal with referral",
        lambda **p: portfolio(goal="recall >= 30% and referred_share <= 60%", **p),
        but=not_of(ROWS, CERTIFIED),
    ),
]
SEARCHES = [
    Configured("search", lambda **p: search(csra(), **p), but=not_of(ROWS, CERTIFIED)),
    Configured("search, no certificate", lambda **p: search(csra(), confidence=None, **p), but=not_of(ROWS, FOLDS)),
    Configured(
        "search, cost only", lambda **p: search(csra(), tune="cost", confidence=None, **p), but=not_of(ROWS, FOLDS)
    ),
    Configured("search, rounds", lambda **p: search(real(), tune_rounds=True, **p), but=not_of(ROWS, CERTIFIED)),
    Configured("search, referral", lambda **p: search(csra(), REFERRAL, **p), but=not_of(ROWS, CERTIFIED)),
    Configured("search, counts", lambda **p: search(csra(), weights="counts", **p), but=not_of(ROWS, CERTIFIED)),
    Configured("search of a portfolio", lambda **p: search(portfolio(cost=1), **p), but=not_of(ROWS, CERTIFIED)),
    Configured(
        "search of a portfolio, no certificate",
        lambda **p: search(portfolio(cost=1), confidence=None, **p),
        but=not_of(ROWS, FOLDS),
    ),
    Configured(
        "search of a portfolio, referral",
        lambda **p: search(portfolio(), REFERRAL, **p),
        but=not_of(ROWS, CERTIFIED),
    ),
    Configured(
        "search of a portfolio, cost",
        lambda **p: search(portfolio(), "expected_cost <= 2.5", cost=7, **p),
        but=not_of(ROWS, CERTIFIED),
    ),
    Configured(
        "search of a regression",
        lambda **p: search(LogisticRegression(), tune="threshold", **p),
        table=False,
        foreign=True,
        but=not_of(ROWS, CERTIFIED),
    ),
]
AROUND = [
    Configured("least risk", lambda **p: sb.MinimumRiskClassifier(real(), cost=7, **p)),
    Configured("least risk of a portfolio", lambda **p: sb.MinimumRiskClassifier(portfolio(), **p), many=True),
    Configured(
        "least risk of a search",
        lambda **p: sb.MinimumRiskClassifier(search(portfolio(), confidence=None), cost=3, **p),
        but=not_of(ROWS, FOLDS),
    ),
    Configured(
        "least risk, calibrated",
        lambda **p: sb.MinimumRiskClassifier(real(), calibrate="sigmoid", cv=2, **p),
        slow=True,  # in other processes
        but=not_of(ROWS, FOLDS),
    ),
    Configured(
        "bags",
        lambda **p: sb.UnderBaggingClassifier(real(), n_estimators=3, **{"random_state": 0, **p}),
        but=(("order of classes", DRAWN),),
    ),
    Configured(
        "bags of portfolios",
        lambda **p: sb.UnderBaggingClassifier(portfolio(), n_estimators=2, **{"random_state": 0, **p}),
        many=True,
        but=(("order of classes", DRAWN),),
    ),
    Configured(
        "bags of searches",
        lambda **p: sb.UnderBaggingClassifier(
            search(portfolio(), confidence=None), n_estimators=2, **{"random_state": 0, **p}
        ),
        but=(*not_of(ROWS, FOLDS), ("order of classes", DRAWN)),
    ),
    Configured("code", lambda **p: sb.CodeMatrixClassifier(csra(), code="one_vs_rest", **p), many=True),
    Configured(
        "code of portfolios", lambda **p: sb.CodeMatrixClassifier(portfolio(), code="one_vs_rest", **p), many=True
    ),
    Configured(
        "cascade",
        lambda **p: sb.CascadeClassifier(real(), n_stages=2, detection_rate=0.8, **{"random_state": 0, **p}),
        but=not_of(ROWS, CERTIFIED),
    ),
    Configured(
        "pasted votes",
        lambda **p: sb.PastingVotesClassifier(n_estimators=4, bite_size=60, **{"random_state": 0, **p}),
        many=True,
        table=False,
        foreign=True,
        but=(("order of classes", DRAWN),),
    ),
    Configured(
        "votes of portfolios",
        lambda **p: sb.PastingVotesClassifier(portfolio(), n_estimators=3, bite_size=60, **{"random_state": 0, **p}),
        many=True,
        but=(("order of classes", DRAWN),),
    ),
]
BOOSTERS = [
    Configured("CSRA", lambda **p: sb.CSRAClassifier(n_estimators=8, cost=5, **p)),
    Configured("AdaBoostMH", lambda **p: sb.AdaBoostMHClassifier(n_estimators=8, **p), many=True),
    Configured("LogitBoost of trees", lambda **p: sb.LogitBoostClassifier(estimator=Tree(), n_estimators=4, **p)),
    Configured(
        "CGAda, calibrated",
        lambda **p: sb.CGAdaClassifier(n_estimators=8, calibrate="isotonic", **{"random_state": 0, **p}),
        but=(*not_of(ROWS, FOLDS), ("sum", "calibrated scores are not a sum of the votes")),
    ),
    Configured("alternating tree", lambda **p: sb.AlternatingTreeClassifier(max_rounds=5, cost=3, **p)),
    Configured("RUSBoost", lambda **p: sb.RUSBoostClassifier(n_estimators=5, **{"random_state": 0, **p})),
    Configured(
        "SMOTEBoost", lambda **p: sb.SMOTEBoostClassifier(n_estimators=3, **{"random_state": 0, **p}), table=False
    ),
    Configured("DataBoostIM", lambda **p: sb.DataBoostIMClassifier(n_estimators=3, **{"random_state": 0, **p})),
]
CONFIGURED = [*PORTFOLIOS, *SEARCHES, *AROUND, *BOOSTERS]


def each(law: str | None = None, among: list[Configured] = CONFIGURED, **has: bool) -> pytest.MarkDecorator:
    """Every configured estimator that obeys a law, and can do what is asked for."""
    kept = [c for c in among if all(getattr(c, name) == value for name, value in has.items())]
    kept = [c for c in kept if law is None or c.exempt(law) is None]
    cases = [pytest.param(c, marks=pytest.mark.slow) if c.slow else c for c in kept]
    return pytest.mark.parametrize("configured", cases, ids=str)


@contextmanager
def without_words() -> Iterator[None]:
    """Raise warnings, except those of this package that are not the matter of a law."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for category in TOLD:
            warnings.simplefilter("ignore", category)
        yield


def fitted(clf: Any, X: Any, y: Any, **params: Any) -> Any:
    """Fit without a word."""
    with without_words():
        return clf.fit(X, y, **params)


def rows(n: int = 240, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Four columns of numbers, all different rows, about a third positives."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    X[:, 2] = np.round(X[:, 2], 1)
    y = X[:, 0] + 0.6 * X[:, 1] * (X[:, 2] > 0) + 0.7 * rng.normal(size=n) > 0.5
    return X, y.astype(int)


def table(n: int = 240, seed: int = 0) -> tuple[pd.DataFrame, np.ndarray]:
    """Numbers, categories and text, with missing cells."""
    X, y = rows(n, seed)
    rng = np.random.default_rng(seed + 1)
    found = pd.DataFrame(X[:, :2], columns=["size", "age"])
    found["kind"] = pd.Categorical(np.array(["low", "mid", "high"])[np.digitize(X[:, 2], [-0.5, 0.5])])
    found["note"] = pd.Series(np.where(X[:, 3] > 0, "a", "b"), dtype=object)
    found.loc[rng.random(n) < 0.1, "age"] = np.nan
    found.loc[rng.random(n) < 0.1, "note"] = None
    return found, y


def three(X: Any, y: np.ndarray) -> np.ndarray:
    """Three classes."""
    numbers = X.iloc[:, 0].to_numpy() if hasattr(X, "iloc") else X[:, 0]
    return np.where(numbers < -0.6, 2, y)


ANSWERS = ("predict", "predict_proba", "decision_function", "expected_costs", "contributions")


def answers(clf: Any, X: Any) -> dict[str, np.ndarray]:
    """All that a model says of rows."""
    return {name: np.asarray(getattr(clf, name)(X)) for name in ANSWERS if hasattr(clf, name)}


def assert_same(a: dict[str, np.ndarray], b: dict[str, np.ndarray], **tolerance: float) -> None:
    """Compare answers: exactly, or with a tolerance of numbers."""
    assert a.keys() == b.keys()
    for name, values in a.items():
        if tolerance and values.dtype.kind == "f":
            np.testing.assert_allclose(values, b[name], err_msg=name, **tolerance)
        else:
            np.testing.assert_array_equal(values, b[name], err_msg=name)
