"""The pictures of the toolbox. Curves and classes differ in shape too, so that they need no colour."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from skewboost.errors import InputError
from skewboost.names import literal, shortened, shown
from skewboost.plots.decision_boundary_display import DecisionBoundaryDisplay
from skewboost.plots.style import BLUE, RED, import_pyplot
from skewboost.toolbox import checks
from skewboost.toolbox.interface import Boost, check_boost
from skewboost.toolbox.toolbox_measures import Curves, Measures
from skewboost.typing import Array

NAMES = {"stump": "stumps", "cart": "trees", "svm": "SVMs"}


class Pair(NamedTuple):
    """Curves to be compared: inside training and, where there are any, outside it."""

    title: str
    measured_on: str
    train: Curves
    held_out: Curves | None


def show_learning_curves(boost: Boost) -> Any:
    """Draw error, and precision, recall and F1, over the rounds.

    Parameters
    ----------
    boost : Boost
        What `boost_learn` has returned.

    Returns
    -------
    matplotlib.figure.Figure
        A row of two panels for cross-validation (means over the folds), and one for the test data; if there was
        neither, one for the training data. Call ``matplotlib.pyplot.show()`` to see it where that does not happen by
        itself.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from skewboost.toolbox import boost_learn, show_learning_curves
    >>> X, benign = load_breast_cancer(return_X_y=True)
    >>> figure = show_learning_curves(boost_learn(X, 1 - benign, "real_boost", "stump", 30))
    """
    check_boost(boost)
    pairs = _pairs(boost)
    figure = import_pyplot().figure(figsize=(10, 0.6 + 3.8 * len(pairs)), layout="constrained")
    axes = figure.subplots(len(pairs), 2, squeeze=False, sharex=True)
    for (left, right), pair in zip(axes, pairs):
        _error_panel(left, pair)
        _measures_panel(right, pair)
    for ax in axes[-1]:
        ax.set_xlabel("rounds")
    figure.suptitle(_title(boost))
    return figure


def _pairs(boost: Boost) -> list[Pair]:
    pairs = []
    if boost.cv_train is not None:
        pairs.append(Pair("mean over the folds of cross-validation", "held-out folds", boost.cv_train, boost.cv_test))
    if boost.test is not None:
        pairs.append(Pair("training and test data", "test data", boost.train, boost.test))
    return pairs or [Pair("training data", "training data", boost.train, None)]


def _title(boost: Boost) -> str:
    c = f", c = {boost.c:g}" if isinstance(boost.c, float) else ""
    n = boost.estimator.n_estimators_
    ended = "" if n == boost.M else f" (of {boost.M}, training ended early)"
    return f"{boost.method}{c}: {n} {NAMES[boost.baselearner]}{ended}"


def _error_panel(ax: Any, pair: Pair) -> None:
    _curve(ax, pair.train.error, "training", BLUE, "--", "s")
    highest = float(pair.train.error.max())
    if pair.held_out is not None:
        _curve(ax, pair.held_out.error, pair.measured_on, RED, "-", "o")
        highest = max(highest, float(pair.held_out.error.max()))
        ax.legend(frameon=False, handlelength=3)
    ax.set_ylim(0, 1.06 * highest or 1.0)  # from zero, and with room for the markers at the top
    _title_of_panel(ax, f"Error: {pair.title}")


def _measures_panel(ax: Any, pair: Pair) -> None:
    curves = pair.train if pair.held_out is None else pair.held_out
    _curve(ax, curves.precision, "precision", BLUE, "--", "s")
    _curve(ax, curves.recall, "recall", RED, "-.", "^")
    _curve(ax, curves.f1, "F1", "black", "-", "o")
    ax.legend(frameon=False, handlelength=3)
    _title_of_panel(ax, f"Precision, recall and F1 of class +1: {pair.measured_on}")


def _curve(ax: Any, values: Array, label: str, colour: str, line: str, marker: str) -> None:
    marked = np.unique(np.linspace(0, len(values) - 1, 9).round().astype(int)).tolist()
    style = {"color": colour, "linestyle": line, "marker": marker, "markevery": marked, "markersize": 5}
    ax.plot(np.arange(1, len(values) + 1), values, label=label, **style)


def _title_of_panel(ax: Any, text: str) -> None:
    ax.set_title(text, size=11)
    ax.spines[["top", "right"]].set_visible(False)
    ax.xaxis.get_major_locator().set_params(integer=True)


def show_decision_boundary(boost: Boost, X: Any, Y: Any) -> Any:
    """Draw what an ensemble makes of two features, with examples on top.

    The deeper the colour, the larger is |F(x)|, the confidence; the line is where F is zero. A point is the larger, the
    larger is exp(-yF): the weight that the exponential loss gives it, which for ``'ada_boost'``, ``'real_boost'``,
    ``'gentle_boost'`` and ``'rare_boost'`` is its weight in the next round. So the large ones are those that the
    ensemble gets wrong, or barely right.

    Parameters
    ----------
    boost : Boost
        What `boost_learn` has returned for two features.
    X : array-like of shape (N, 2)
        Examples to draw, those of training or others; the names of its columns, if it has any, are those of the axes.
    Y : array-like of shape (N,) or (N, 1)
        Their labels, -1 and +1; 0 is read as -1.

    Returns
    -------
    matplotlib.axes.Axes
        Call ``matplotlib.pyplot.show()`` to see it where that does not happen by itself.

    Examples
    --------
    >>> import numpy as np
    >>> from skewboost.toolbox import boost_learn, show_decision_boundary
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> Y = np.where(X[:, 0] * X[:, 1] > 0, 1, -1)
    >>> ax = show_decision_boundary(boost_learn(X, Y, "real_boost", "cart", 20), X, Y)
    """
    check_boost(boost)
    points, labels = checks.check_rows("", X, Y)
    for name, n in (("boost was trained on", boost.estimator.n_features_in_), ("X has", points.shape[1])):
        if n != 2:
            raise InputError(f"show_decision_boundary draws a plane, but {name} {n} features. Give two columns of X.")
    ax = import_pyplot().subplots(figsize=(7.6, 6.6), layout="constrained")[1]
    # an SVM is smooth, and slow: every cell is compared with every support vector of every round
    n = 150 if boost.baselearner == "svm" else 300
    display = DecisionBoundaryDisplay.from_estimator(
        boost.estimator, points, labels, grid=n, max_points=len(labels), pos_label=1, ax=ax
    )
    F = np.asarray(boost.estimator.decision_function(points))
    for axis, name in zip((ax.xaxis, ax.yaxis), getattr(X, "columns", ("x1", "x2"))):
        axis.set_label_text(literal(shortened(shown(name), 40)))
    ax.set_title("", loc="left")
    ax.set_title(f"{_title(boost)}\n{Measures.of(labels == 1, F)}", size=11)
    return display.ax_
