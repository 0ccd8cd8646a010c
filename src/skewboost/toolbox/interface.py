"""`boost_learn` and `boost_eval`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold

from skewboost.errors import InputError, InputTypeError
from skewboost.plots.style import import_pyplot
from skewboost.toolbox import checks
from skewboost.toolbox.toolbox_measures import Curves, Measures
from skewboost.toolbox.toolbox_methods import base_learner, check_c, check_method, make
from skewboost.typing import Array


class Rows(NamedTuple):
    """Examples, with labels -1 and +1 and, where it is not one for all, with what each of them costs."""

    X: Array
    Y: Any
    c: float | Array | None = None

    def take(self, chosen: Array) -> Rows:
        """Some of them."""
        return Rows(self.X[chosen], self.Y[chosen], self.c[chosen] if isinstance(self.c, np.ndarray) else self.c)

    def fit(self, booster: Any) -> Any:
        """Train; a cost that is one for all is in the booster already."""
        costs = {"sample_cost": self.c} if isinstance(self.c, np.ndarray) else {}
        return booster.fit(self.X, self.Y, **costs)


@dataclass(frozen=True, eq=False)
class Boost:
    """What `boost_learn` returns: the model, and what was measured on the way.

    Attributes
    ----------
    method, baselearner, M, c
        As they were given; c is None where the method has no parameter.
    estimator : BoostingClassifier
        The model, trained on all rows; its labels are -1 and +1.
    train : Curves
        Error, precision, recall and F1 on the training data after every round.
    test : Curves or None
        The same on `testdata`.
    cv_train, cv_test : Curves or None
        The same in cross-validation, on the rows that were trained on and on those that were held out: means over the
        folds. They are about K other models of which nothing else is kept.
    """

    method: str
    baselearner: str
    M: int
    c: float | Array | None = field(repr=False)
    estimator: Any = field(repr=False)
    train: Curves = field(repr=False)
    test: Curves | None = field(default=None, repr=False)
    cv_train: Curves | None = field(default=None, repr=False)
    cv_test: Curves | None = field(default=None, repr=False)


def boost_learn(
    X: Any,
    Y: Any,
    method: str,
    baselearner: str,
    M: int,
    *,
    c: Any = None,
    cv: int = 1,
    testdata: tuple[Any, Any] | None = None,
    plot: bool | str = False,
    boundary: bool | str = False,
    v: bool | str = False,
    random_state: Any = None,
) -> Boost:
    """Train an ensemble, and measure it after every round.

    Parameters
    ----------
    X : array-like of shape (N, p)
        N observations of p variables: numbers, of which some may be missing (NaN) unless the base learner is an SVM.
    Y : array-like of shape (N,) or (N, 1)
        Labels -1 and +1; 0 is read as -1.
    method : str
        The boosting algorithm, one of `METHODS`: ``'ada_boost'`` (or ``'adaboost'``), ``'real_boost'``,
        ``'gentle_boost'``, ``'logit_boost'``, ``'ada_c1'``, ``'ada_c2'``, ``'ada_c3'``, ``'ada_cost'``,
        ``'cs_realboost'``, ``'cs_gentleboost'``, ``'cs_logitboost'``, ``'rare_boost'``, ``'adaboost_reg'``,
        ``'weight_boost'``.
    baselearner : {'stump', 'cart', 'svm'}
        What a round fits. The stump minimises the weighted error, and may put all rows into one class; CART is a tree
        of at most 4 leaves grown by Gini impurity; the SVM has lib-SVM's defaults (Gaussian kernel with γ = 1/p,
        C = 1), and is for the methods that fit labels, which are all but the two LogitBoosts.
    M : int
        The number of rounds.
    c : float or array-like of shape (N,), optional
        Needed by the cost-sensitive methods, where a number is the cost of missing a positive example, a false alarm
        costing 1, and a vector has one cost per row; by ``'adaboost_reg'``, where it is the C of the soft margin; and
        by ``'weight_boost'``, where it is β. The other methods take none. Where an algorithm is for costs of at most 1
        (AdaC3 and AdaCost) larger ones are divided by the largest. AdaCost works best well below that, as with
        ``np.where(Y == 1, 0.2, 0.1)``: where a class costs 1 its steps may be negative from the start.
    cv : int, default=1
        K-fold cross-validation by stratified sampling, the result of which is printed; 1 for none.
    testdata : pair (X, Y), optional
        Other rows to measure the model on; the result is printed.
    plot : bool or {'yes', 'no'}, default=False
        Draw training and test error, and precision, recall and F1, over the rounds; means over the folds if there are
        any. See `show_learning_curves`.
    boundary : bool or {'yes', 'no'}, default=False
        Draw F with the training data, if there are two features. See `show_decision_boundary`.
    v : bool or {'yes', 'no'}, default=False
        Verbose: a progress bar for every training (on stderr), and the result on the training data and on every fold.
    random_state : int, RandomState or None, default=None
        Seeds the folds. It is no option of the thesis.

    Returns
    -------
    Boost

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from skewboost.toolbox import boost_learn
    >>> X, benign = load_breast_cancer(return_X_y=True)
    >>> boost = boost_learn(X, 1 - benign, "cs_gentleboost", "stump", 30, c=5, cv=5, random_state=0)
    cs_gentleboost, 30 rounds, 5-fold cross-validation: error 0.033, precision 0.950, recall 0.962, F1 0.956
    >>> print(boost.cv_test.after(10))
    error 0.046, precision 0.920, recall 0.962, F1 0.940
    """
    name = check_method(method)
    learner = base_learner(baselearner, name)
    given, M = X, checks.check_rounds(M)
    X, Y = checks.check_rows("", X, Y)
    checks.check_both_classes("Y", Y)
    rows = Rows(X, Y, check_c(c, name, len(X)))
    folds = checks.check_cv(cv, Y)
    others = None if testdata is None else Rows(*checks.check_testdata(testdata, X.shape[1]))
    plot, boundary, v = (checks.check_switch(*s) for s in (("plot", plot), ("boundary", boundary), ("v", v)))
    _check_effects(boundary, folds, random_state, X.shape[1])
    for table in (rows, others):
        _check_missing(baselearner, table)
    if plot or boundary:
        from skewboost.toolbox import pictures

        import_pyplot()  # before the training, so that nobody waits for a picture that cannot be drawn
    model = rows.fit(make(name, learner, M, rows.c, v))
    said = f"{name}, {M} rounds"
    train = _measured(model, rows, M, f"{said}, training data" if v else "")
    test = None if others is None else _measured(model, others, M, f"{said}, test data")
    averages = _cross_validated(model, rows, folds, random_state, said, v) if folds > 1 else (None, None)
    boost = Boost(name, baselearner, M, rows.c, model, train, test, *averages)
    if plot:
        pictures.show_learning_curves(boost)
    if boundary:
        pictures.show_decision_boundary(boost, given, Y)
    return boost


def _check_effects(boundary: bool, folds: int, random_state: Any, n_features: int) -> None:
    """Refuse options that would do nothing."""
    if boundary and n_features != 2:
        raise InputError(
            f"boundary=True draws a plane, but X has {n_features} features. Leave it out, or give two columns of X."
        )
    if folds == 1 and random_state is not None:
        raise InputError(
            f"random_state={random_state!r} has no effect: it seeds the folds, and cv=1 makes none. Leave it out, "
            "or give cv=5."
        )


def _check_missing(baselearner: str, rows: Rows | None) -> None:
    if baselearner == "svm" and rows is not None and np.isnan(rows.X).any():
        raise InputError(
            "X has missing values, which baselearner='svm' cannot use. Fill them in, or choose 'stump' or 'cart'."
        )


def _measured(model: Any, rows: Rows, M: int, told: str) -> Curves:
    """The curves of a model on some rows; their end is printed after `told`, if that is anything."""
    curves = Curves.of(model, rows.X, rows.Y == 1, M)
    if told:
        print(f"{told}: {curves.after(-1)}")
    return curves


def _cross_validated(
    model: Any, rows: Rows, folds: int, random_state: Any, said: str, v: bool
) -> tuple[Curves, Curves]:
    """Means over the folds of the curves on the rows that were trained on, and on those that were held out."""
    inside, outside, M = [], [], model.n_estimators
    splits = StratifiedKFold(folds, shuffle=True, random_state=random_state).split(rows.X, rows.Y)
    for k, (used, held_out) in enumerate(splits, 1):
        fold = rows.take(used).fit(clone(model))
        inside.append(_measured(fold, rows.take(used), M, ""))
        outside.append(_measured(fold, rows.take(held_out), M, f"{said}, fold {k} of {folds}" if v else ""))
    means = Curves.mean(inside), Curves.mean(outside)
    print(f"{said}, {folds}-fold cross-validation: {means[1].after(-1)}")
    return means


def boost_eval(boost: Boost, X: Any, Y: Any = None) -> Array:
    """The responses F(x) of the ensemble; given true labels, print what they are worth.

    Parameters
    ----------
    boost : Boost
        What `boost_learn` has returned.
    X : array-like of shape (N, p)
        Observations.
    Y : array-like of shape (N,) or (N, 1), optional
        Labels -1 and +1 (0 is read as -1). Then error, precision, recall and F1 are printed; ``Measures.of(Y == 1, F)``
        has them as numbers.

    Returns
    -------
    ndarray of shape (N,)
        F(x). Its sign is the predicted class, with zero for +1; its size is the confidence.

    Examples
    --------
    >>> from skewboost.toolbox import boost_eval, boost_learn
    >>> X, Y = [[1.0], [2.0], [3.0], [4.0]], [-1, 1, 1, -1]
    >>> boost = boost_learn(X, Y, "gentle_boost", "stump", 4)
    >>> F = boost_eval(boost, X, Y)
    gentle_boost on 4 rows: error 0.000, precision 1.000, recall 1.000, F1 1.000
    >>> F.round(1)
    array([-1. ,  1.6,  1.6, -1.5])
    """
    check_boost(boost)
    X = checks.check_matrix("X", X)
    labels = None if Y is None else checks.check_labels("Y", Y, len(X))
    _check_missing(boost.baselearner, Rows(X, labels))
    F = np.asarray(boost.estimator.decision_function(X))
    if labels is not None:
        print(f"{boost.method} on {len(X)} rows: {Measures.of(labels == 1, F)}")
    return F


def check_boost(boost: Any) -> None:
    """Raise unless it is a model of the toolbox."""
    if not isinstance(boost, Boost):
        raise InputTypeError(f"boost must be what boost_learn returns; got {type(boost).__name__}.")
