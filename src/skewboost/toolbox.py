"""The interface of the Matlab toolbox of [nyga2010]_, chapter 4: fourteen boosting methods behind three functions.

Use it to run scripts that were written for that toolbox. For anything new, use the estimators of skewboost directly:
every method here is one of them, and `METHODS` says which. Methods are the algorithms as the thesis prints them, also
where the estimator does something else by default (docs/as_printed.md). Only the votes ½ ln(p / (1 - p)) of leaves
(algorithms 5, 12 and 15), which are not defined where p is 0 or 1, are smoothed by 1/N.

Labels are -1 and +1 (0 is read as -1), and +1 is the positive class. Options that are on or off take True and False, or
Matlab's ``'yes'`` and ``'no'``.

References
----------
.. [nyga2010] D. Nyga, "Ensemble learning for classification of imbalanced data", Master's thesis, Technische
   Universität München (2010), chapter 4.

Examples
--------
The example of the thesis: two overlapping Gaussian clusters, and Discrete AdaBoost on stumps.

>>> import numpy as np
>>> from skewboost.toolbox import boost_eval, boost_learn, show_decision_boundary
>>> randn = np.random.default_rng(0).standard_normal
>>> N, M = 1000, 50
>>> X = np.vstack((randn((N, 2)), randn((N, 2)) + 3))
>>> Y = np.repeat([1, -1], N)
>>> X_test = np.vstack((randn((N, 2)), randn((N, 2)) + 3))
>>> boost = boost_learn(X, Y, "adaboost", "stump", M)
>>> ax = show_decision_boundary(boost, X, Y)
>>> F = boost_eval(boost, X_test, Y)
ada_boost on 2000 rows: error 0.018, precision 0.978, recall 0.985, F1 0.982
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from inspect import signature
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold

import skewboost as sb
from skewboost.boosting.variants.adacost import NO_COST
from skewboost.engine.table import take_rows
from skewboost.errors import InputError, InputTypeError
from skewboost.learners import Stump, Tree
from skewboost.metrics import Counts
from skewboost.parameters import integer
from skewboost.plots import DecisionBoundaryDisplay
from skewboost.plots.style import BLUE, RED, import_pyplot
from skewboost.typing import Array

__all__ = ["METHODS", "Boost", "Curves", "Method", "boost_eval", "boost_learn", "show_decision_boundary",
           "show_learning_curves"]  # fmt: skip


class Method(NamedTuple):
    """An estimator, and which of its parameters `c` is (None: it has none)."""

    estimator: Any
    c: str | None = None


METHODS = {
    "ada_boost": Method(sb.AdaBoostClassifier()),
    "real_boost": Method(sb.RealBoostClassifier()),
    "gentle_boost": Method(sb.GentleBoostClassifier()),
    "logit_boost": Method(sb.LogitBoostClassifier(max_step=None)),  # algorithm 7
    "ada_c1": Method(sb.AdaC1Classifier(alpha="nyga"), "cost"),  # equation (2.58)
    "ada_c2": Method(sb.AdaC2Classifier(), "cost"),
    "ada_c3": Method(sb.AdaC3Classifier(as_printed=True), "cost"),  # algorithm 11
    "ada_cost": Method(sb.AdaCostClassifier(initial="equal"), "cost"),  # algorithm 8 with the costs of section 3.3
    "cs_realboost": Method(sb.CSRAClassifier(as_printed=True), "cost"),  # algorithm 12
    "cs_gentleboost": Method(sb.CSGAClassifier(as_printed=True), "cost"),  # algorithm 13
    "cs_logitboost": Method(sb.CSLBClassifier(as_printed=True, max_step=None), "cost"),  # algorithm 14
    "rare_boost": Method(sb.RareBoostClassifier()),
    "adaboost_reg": Method(sb.AdaBoostRegClassifier(p=1.0), "C"),  # equation (2.80)
    "weight_boost": Method(sb.WeightBoostClassifier(), "beta"),
}
FITS_RESPONSES = ("logit_boost", "cs_logitboost")  # by least squares; the other methods fit labels
BASE_LEARNERS = ("stump", "cart", "svm")
# The size of CART, which the thesis does not give. Of 3, 4, 8 and 16 leaves 3 come closest to its table 3.2 on banana
# data for three of four algorithms, and are close to the best for the fourth (docs/reproductions/nyga-impact.md).
CART_LEAVES = 3
OPTIONS = ("c", "cv", "testdata", "plot", "boundary", "v", "random_state")


@dataclass(frozen=True, eq=False)
class Curves:
    """Error, precision, recall and F1 of the predictions after every round: arrays of length M.

    Where training ended before round M, the last value is repeated. A measure is NaN where it is not defined.
    """

    error: Array
    precision: Array
    recall: Array
    f1: Array

    @classmethod
    def of(cls, scores: Sequence[Array], Y: Array, M: int = 1) -> Curves:
        """The measures of sgn F for a sequence of scores F."""
        counts = [Counts.of(Y == 1, F >= 0) for F in scores]
        counts += counts[-1:] * (M - len(counts))
        return cls(*np.array([(c.error, c.precision, c.recall, c.f1) for c in counts], dtype=np.float64).T)

    @classmethod
    def mean(cls, curves: Sequence[Curves]) -> Curves:
        """The mean over folds, of those in which a measure is defined."""
        tables = np.ma.masked_invalid([[c.error, c.precision, c.recall, c.f1] for c in curves])
        return cls(*tables.mean(axis=0).filled(np.nan))

    def after(self, m: int) -> str:
        """The measures after round m as text. Rounds count from 1; -1 is the last."""
        n = len(self.error)
        if not (1 <= m <= n or m == -1):
            raise InputError(f"m={m!r} must be a round from 1 to {n}, or -1 for the last.")
        values = [getattr(self, name)[m - (m > 0)] for name in ("error", "precision", "recall", "f1")]
        texts = ["-" if value != value else f"{value:.3f}" for value in values]
        return "error {}, precision {}, recall {}, F1 {}".format(*texts)


@dataclass(frozen=True, eq=False)
class Boost:
    """The result of `boost_learn`.

    Attributes
    ----------
    method, baselearner, M, c
        The arguments.
    estimator : BoostingClassifier
        The model, trained on all rows.
    train : Curves
        Error, precision, recall and F1 on the training data after every round.
    test : Curves or None
        The same on `testdata`.
    cv_train, cv_test : Curves or None
        The means over the folds of cross-validation, on the training rows and on the held-out rows.
    """

    method: str
    baselearner: str
    M: int
    c: Any = field(repr=False)
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
    *pairs: Any,
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
        N observations of p variables.
    Y : array-like of shape (N,) or (N, 1)
        Labels -1 and +1; 0 is read as -1.
    method : str
        The boosting algorithm, one of `METHODS`; ``'adaboost'`` is ``'ada_boost'``.
    baselearner : {'stump', 'cart', 'svm'}
        The weak learner. The stump minimises the weighted error; CART is a tree of at most 3 leaves (`CART_LEAVES`)
        grown by Gini impurity; both try every cut. The SVM has lib-SVM's defaults (Gaussian kernel with γ = 1/p, C = 1)
        and does not work with the two LogitBoosts, which fit responses.
    M : int
        The number of rounds.
    *pairs
        Further options as pairs of names and values, as in Matlab: ``boost_learn(X, Y, 'ada_c2', 'stump', 5, 'c', 2)``.
        Each option may be given as a pair or as a keyword.
    c : float or array-like of shape (N,), optional
        For the cost-sensitive methods, the cost of a missed positive example relative to that of a false alarm, or one
        cost per row; for ``'ada_cost'``, the cost of a positive example, from 0 to 1, where negative ones cost 0
        (section 3.3), or one such cost per row; for ``'adaboost_reg'``, the C of the soft margin; for
        ``'weight_boost'``, β. The other methods have no parameter.
    cv : int, default=1
        The number of folds of a stratified cross-validation, whose result is printed; 1 for none.
    testdata : pair (X, Y), optional
        Other rows to measure the model on. The result is printed.
    plot, boundary : bool or {'yes', 'no'}, default=False
        Whether to call `show_learning_curves` and `show_decision_boundary` with the result.
    v : bool or {'yes', 'no'}, default=False
        Whether to show a progress bar and print the results on the training data and on every fold.
    random_state : int, RandomState or None, default=None
        Seeds the folds. It is not an option of the thesis.

    Returns
    -------
    Boost

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from skewboost.toolbox import boost_learn
    >>> X, benign = load_breast_cancer(return_X_y=True)
    >>> boost = boost_learn(X, 1 - benign, "cs_gentleboost", "stump", 30, c=5, cv=5, random_state=0)
    cs_gentleboost, 30 rounds, 5-fold cross-validation: error 0.032, precision 0.945, recall 0.972, F1 0.958
    """
    given = {"c": c, "cv": cv, "testdata": testdata, "plot": plot, "boundary": boundary, "v": v}
    return _learn(X, Y, method, baselearner, M, **_with_pairs(pairs, given | {"random_state": random_state}))


_DEFAULTS = {name: signature(boost_learn).parameters[name].default for name in OPTIONS}


def _with_pairs(pairs: Sequence[Any], options: dict[str, Any]) -> dict[str, Any]:
    """Return the options with those that are given as pairs of names and values."""
    if len(pairs) % 2:
        raise InputError(f"{pairs[-1]!r} is left over of the pairs of names and values.",
                         "Give a value after each name, as in 'c', 2.")  # fmt: skip
    found = dict(options)
    for position, (name, value) in enumerate(zip(pairs[::2], pairs[1::2])):
        if not isinstance(name, str) or name not in OPTIONS:
            raise InputError(f"{name!r} is not the name of an option.", f"Choose one of {', '.join(OPTIONS)}.")
        if name in pairs[: 2 * position : 2] or options[name] is not _DEFAULTS[name]:
            raise InputError(f"{name!r} is given twice.", "Give each option once, as a pair or as a keyword.")
        found[name] = value
    return found


def _learn(
    X: Any,
    Y: Any,
    method: str,
    baselearner: str,
    M: int,
    *,
    c: Any,
    cv: int,
    testdata: tuple[Any, Any] | None,
    plot: bool | str,
    boundary: bool | str,
    v: bool | str,
    random_state: Any,
) -> Boost:
    plot, boundary, v = (_switch(*s) for s in (("plot", plot), ("boundary", boundary), ("v", v)))
    if not integer(1).passes(cv):
        raise InputError(
            f"cv={cv!r} must be an integer >= 1, the number of folds.", "Set cv=1 for no cross-validation."
        )
    if cv == 1 and random_state is not None:
        raise InputError(f"random_state={random_state!r} has no effect with cv=1.", "Leave it out, or set cv=5.")
    if plot or boundary:
        import_pyplot()  # fail before the training if Matplotlib is missing
    Y = _labels("Y", Y)
    unfitted, costs = _estimator(method, baselearner, M, c, v)
    method = "ada_boost" if method == "adaboost" else method
    model = unfitted.fit(X, Y, **costs)
    title = f"{method}, {M} rounds"
    train = _curves(model, X, Y, f"{title}, training data" if v else "")
    test = None
    if testdata is not None:
        test = _curves(model, testdata[0], _labels("Y of testdata", testdata[1]), f"{title}, test data")
    folds = _cross_validate(unfitted, X, Y, costs, cv, random_state, title, v) if cv > 1 else (None, None)
    boost = Boost(method, baselearner, M, c, model, train, test, *folds)
    if plot:
        show_learning_curves(boost)
    if boundary:
        show_decision_boundary(boost, X, Y)
    return boost


def _estimator(method: Any, baselearner: Any, M: int, c: Any, v: bool) -> tuple[Any, dict[str, Any]]:
    """The unfitted estimator, and the costs per row for its `fit` if there are any."""
    name = "ada_boost" if method == "adaboost" else method  # the thesis uses both spellings
    if not isinstance(name, str) or name not in METHODS:
        raise InputError(f"method={method!r} is not a method of the toolbox.", f"Choose one of {', '.join(METHODS)}.")
    if baselearner not in BASE_LEARNERS:
        raise InputError(f"baselearner={baselearner!r} is unknown.", f"Choose one of {', '.join(BASE_LEARNERS)}.")
    responses = name in FITS_RESPONSES
    learner: Any = Stump(max_bins=None) if responses else Stump(criterion="error", constant=True, max_bins=None)
    if baselearner == "cart":
        learner = Tree(criterion=None if responses else "gini", max_leaf_nodes=CART_LEAVES, max_bins=None)
    elif baselearner == "svm":
        from sklearn.svm import SVC

        if responses:
            raise InputError(f"baselearner='svm' predicts labels, but method={name!r} fits responses.",
                             "Choose 'stump' or 'cart', or another method.")  # fmt: skip
        learner = SVC(kernel="rbf", gamma="auto")
    chosen = METHODS[name]
    if chosen.c is None and c is not None:
        raise InputError(f"c={c!r} has no effect, because method={name!r} has no parameter.", "Leave c out.")
    if chosen.c is not None and c is None:
        raise InputError(f"method={name!r} needs c, the parameter `{chosen.c}` of {type(chosen.estimator).__name__}.")
    if name == "ada_cost":
        c = _adacost_costs(c)
    per_row = chosen.c == "cost" and np.ndim(c) > 0
    own = {} if chosen.c is None or per_row else {chosen.c: c}
    booster = clone(chosen.estimator).set_params(estimator=learner, n_estimators=M, pos_label=1, verbose=int(v), **own)
    return booster, {"sample_cost": np.column_stack((np.ravel(c), np.ravel(c)))} if per_row else {}


def _adacost_costs(c: Any) -> Any:
    """The costs of AdaCost: those of the classes, the negative one's being 0, or one per row."""
    each = np.asarray(c, dtype=np.float64) if np.asarray(c).dtype.kind in "biuf" else np.array(np.nan)
    if not ((each >= 0) & (each <= 1)).all():
        raise InputError(f"c={c!r} has costs that are not numbers from 0 to 1, as method='ada_cost' needs them.",
                         "Divide them by the largest.")  # fmt: skip
    if each.ndim == 0:
        return {-1: 0.0, 1: float(each)}
    return np.maximum(each, NO_COST)  # a class may have the cost 0, a row needs one above it


def _labels(name: str, Y: Any) -> Array:
    """Labels as a vector of -1 and +1."""
    labels = np.ravel(Y)
    known = np.isin(labels, (-1, 0, 1)) if labels.dtype.kind in "biuf" else np.zeros(len(labels), dtype=bool)
    if not known.all() or {-1, 0} <= set(labels.tolist()):
        raise InputError(f"{name} has other labels than -1 and +1, or 0 and 1.", "Recode them.")
    return np.where(labels == 1, 1, -1)


def _switch(name: str, value: Any) -> bool:
    if isinstance(value, bool | np.bool_):
        return bool(value)
    if isinstance(value, str) and value in ("yes", "no"):
        return value == "yes"
    raise InputError(f"{name}={value!r} must be True or False, or 'yes' or 'no'.")


def _curves(model: Any, X: Any, Y: Array, title: str = "") -> Curves:
    """The curves of a fitted model on some rows; the last values are printed under the title, if there is one."""
    curves = Curves.of(list(model.staged_decision_function(X)), Y, model.n_estimators)
    if title:
        print(f"{title}: {curves.after(-1)}")
    return curves


def _cross_validate(
    model: Any, X: Any, Y: Array, costs: dict[str, Array], cv: int, random_state: Any, title: str, v: bool
) -> tuple[Curves, Curves]:
    """The mean curves over the folds, on the training rows and on the held-out rows."""
    train, test = [], []
    rarest = np.unique(Y, return_counts=True)[1].min()
    if cv > rarest:
        raise InputError(f"cv={cv} is more than the {rarest} rows of the rarer class.", f"Set cv={rarest} or less.")
    splits = StratifiedKFold(cv, shuffle=True, random_state=random_state).split(np.zeros(len(Y)), Y)
    for k, (used, held_out) in enumerate(splits, 1):
        rows = take_rows(X, used)
        fold = clone(model).fit(rows, Y[used], **{name: values[used] for name, values in costs.items()})
        train.append(_curves(fold, rows, Y[used]))
        test.append(_curves(fold, take_rows(X, held_out), Y[held_out], f"{title}, fold {k} of {cv}" if v else ""))
    means = Curves.mean(train), Curves.mean(test)
    print(f"{title}, {cv}-fold cross-validation: {means[1].after(-1)}")
    return means


def boost_eval(boost: Boost, X: Any, Y: Any = None) -> Array:
    """The scores F(x) of the ensemble; given true labels, print error, precision, recall and F1.

    Parameters
    ----------
    boost : Boost
        The result of `boost_learn`.
    X : array-like of shape (N, p)
        Observations.
    Y : array-like of shape (N,) or (N, 1), optional
        Labels -1 and +1; 0 is read as -1.

    Returns
    -------
    ndarray of shape (N,)
        F(x). Its sign is the predicted class (+1 at zero), its size the confidence.
    """
    _check_boost(boost)
    F = np.asarray(boost.estimator.decision_function(X))
    if Y is not None:
        print(f"{boost.method} on {len(F)} rows: {Curves.of([F], _labels('Y', Y)).after(-1)}")
    return F


def show_learning_curves(boost: Boost) -> Any:
    """Draw error, and precision, recall and F1, over the rounds.

    There is a row of two panels for cross-validation and one for the test data; without either, one for the training
    data. Returns the Matplotlib figure.
    """
    _check_boost(boost)
    rows: list[Any] = [("cross-validation", boost.cv_train, boost.cv_test), ("test data", boost.train, boost.test)]
    rows = [row for row in rows if row[2] is not None] or [("training data", boost.train, None)]
    figure = import_pyplot().figure(figsize=(10, 0.6 + 3.8 * len(rows)), layout="constrained")
    for (left, right), (name, train, test) in zip(figure.subplots(len(rows), 2, squeeze=False, sharex=True), rows):
        rounds, measured = np.arange(1, boost.M + 1), test or train
        left.plot(rounds, train.error, "--", color=BLUE, label="training")
        if test is not None:
            left.plot(rounds, test.error, color=RED, label=name)
        for measure, style, colour in (("precision", "--", BLUE), ("recall", "-.", RED), ("f1", "-", "black")):
            right.plot(rounds, getattr(measured, measure), style, color=colour, label=measure)
        left.set(title="Error", ylim=(0, None), xlabel="rounds")
        right.set(title=f"Precision, recall and F1 of class +1: {name}", xlabel="rounds")
        for ax in (left, right):
            ax.spines[["top", "right"]].set_visible(False)
            ax.legend(frameon=False)
    figure.suptitle(_title(boost))
    return figure


def show_decision_boundary(boost: Boost, X: Any, Y: Any) -> Any:
    """Draw F for two features as colour, the boundary F = 0, and examples sized by exp(-yF).

    X has two columns, Y their labels. Returns the Matplotlib axes.
    """
    _check_boost(boost)
    if (n := boost.estimator.n_features_in_) != 2:
        raise InputError(f"boost was trained on {n} features, but a decision boundary needs two.")
    F, labels = boost_eval(boost, X), _labels("Y", Y)
    ax = import_pyplot().subplots(figsize=(7.6, 6.6), layout="constrained")[1]
    DecisionBoundaryDisplay.from_estimator(boost.estimator, X, labels, max_points=len(labels), pos_label=1, ax=ax)
    ax.set_title("", loc="left")
    ax.set_title(f"{_title(boost)}\n{Curves.of([F], labels).after(-1)}", size=11)
    return ax


def _title(boost: Boost) -> str:
    c = f", c = {boost.c:g}" if np.ndim(boost.c) == 0 and boost.c is not None else ""
    return f"{boost.method}{c}: {boost.estimator.n_estimators_} rounds of {boost.baselearner}"


def _check_boost(boost: Any) -> None:
    if not isinstance(boost, Boost):
        raise InputTypeError(f"boost must be the result of boost_learn; got {type(boost).__name__}.")
