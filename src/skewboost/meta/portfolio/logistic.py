"""Logistic regression on the codes of a table, as a family of a portfolio.

Trees need many splits for what a weighted sum of columns says at once, and few positives do not support many splits. So
a portfolio has a linear member, too. A column of numbers is represented by the mean of each of its bins, standardised;
a category, and a missing value, by an indicator of its own. The score is then a sum of functions of one column's code,
that is a tree per column, and everything that knows trees knows it: files, exports, explanations.

The coefficients minimise the log-loss plus an L2 penalty, which is chosen on folds: the largest one that is not worse
than the best by more than a standard error. Several classes are fitted one against the others. With fewer examples of
a class than columns, a regression is too sure whatever the folds say of its penalty [peduzzi1996]_; the score of that
class is then a constant, and if that is so for all, there is no regression.

References
----------
.. [peduzzi1996] P. Peduzzi, J. Concato, E. Kemper, T. R. Holford, A. R. Feinstein, "A simulation study of the number of
   events per variable in logistic regression analysis", Journal of Clinical Epidemiology 49 (1996) 1373-1379.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.special import expit

from skewboost.engine.binning import Feature
from skewboost.engine.boundary import MISSING, N_CODES
from skewboost.engine.draws import uniform
from skewboost.engine.newton import Trees
from skewboost.engine.partition import View
from skewboost.engine.scoring import power_of_two
from skewboost.engine.table import Nominal
from skewboost.fold_rows import Fold
from skewboost.typing import Array

PENALTIES = (100.0, 10.0, 1.0, 0.1, 0.01)  # of squared coefficients of standardised columns, in examples
FARTHEST = 4.0  # standard deviations: numbers beyond are not distinguished
MOST_ROWS = 20_000  # that coefficients are fitted to
MOST_PRODUCTS = 5e7  # … times the square of the number of coefficients; fewer rows are used with many columns
MANY_COLUMNS = 1000  # which take long to look at: if there are too many in any case, this is not done
ENOUGH_ROWS = 2000  # if not even these can be used, there is no regression
MOST_STEPS = 30
LEAST_CURVATURE = 1e-10


@dataclass(frozen=True)
class Design:
    """The columns of the regression: a function of the code of one feature each."""

    features: Array  # [column]
    values: Array  # [column, code], standardised

    @property
    def n_columns(self) -> int:
        """The number of columns."""
        return len(self.features)

    def matrix(self, view: View) -> Array:
        """Return the values ``[row, column]`` with a column of ones before them."""
        columns = (view.lookup(j, own) for j, own in zip(self.features.tolist(), self.values))
        return np.column_stack([np.ones(view.n_rows), *columns])

    def tables(self, coefficients: Array) -> dict[int, Array]:
        """Return what each feature adds, ``[code, output]``, given coefficients ``[column, output]``."""
        return {
            j: self.values[self.features == j].T @ coefficients[self.features == j]
            for j in np.unique(self.features).tolist()
        }


def design_of(view: View, weights: Array) -> Design:
    """Return the columns for a table of examples."""
    assert view.bins is not None
    features, values = [], []
    for j, feature in enumerate(view.bins.features):
        counts = np.bincount(view.column(j), weights, minlength=N_CODES)
        found = _functions(view, j, feature, counts, weights)
        features += [j] * len(found)
        values += found
    return Design(np.array(features, dtype=np.int64), np.array(values).reshape(-1, N_CODES))


def _functions(view: View, j: int, feature: Feature, counts: Array, weights: Array) -> list[Array]:
    """Return the functions of the codes of a feature that the regression may add up; their means are zero.

    Indicators are not scaled, so that the penalty holds back the effects of rare categories.
    """
    known = np.flatnonzero(counts[:MISSING])
    if not len(known):
        return []
    numbers = not feature.nominal or bool(feature.shared)
    alone = [] if numbers else known.tolist()
    alone += [MISSING] if counts[MISSING] else []
    found = [np.asarray(np.arange(N_CODES) == code, dtype=np.float64) for code in alone]
    found = [own - np.average(own, weights=counts) for own in (found[:1] if len(found) == 2 else found)]
    if numbers and len(known) > 1:
        heights = _heights(view, j, counts, weights)[known]
        heights -= np.average(heights, weights=counts[known])
        heights /= np.sqrt(np.average(heights**2, weights=counts[known]))
        own = np.interp(np.arange(N_CODES), known, np.clip(heights, -FARTHEST, FARTHEST))
        own[MISSING] = 0.0
        found.append(own)
    return [own for own in found if np.ptp(own) > 0]


def _heights(view: View, j: int, counts: Array, weights: Array) -> Array:
    """Return a number for each code: the mean of its bin, or for statistics of categories, their mean rank."""
    column = view.table.column(j)
    if isinstance(column, Nominal):
        return np.asarray(np.cumsum(counts) - counts / 2)
    x = np.asarray(column, dtype=np.float64)
    finite = np.isfinite(x)
    unit = power_of_two(np.abs(x[finite]).max(initial=0.0))  # sums must not overflow
    low, high = x[finite].min(initial=0.0) / unit, x[finite].max(initial=0.0) / unit
    scaled = np.clip(np.nan_to_num(x / unit, nan=0.0, posinf=high, neginf=low), low, high)
    sums = np.bincount(view.column(j), weights * scaled, minlength=N_CODES)
    return np.asarray(np.divide(sums, counts, out=np.zeros(N_CODES), where=counts > 0))


@dataclass(frozen=True)
class Regression:
    """A fitted regression."""

    design: Design
    constant: Array  # [output]
    coefficients: Array  # [column, output]
    scores: Array  # of rows that were not fitted to, [row, output]

    def trees(self, view: View, weights: Array) -> Trees:
        """Return a tree per feature."""
        assert view.bins is not None
        n_features = len(view.bins.features)
        made, importances = [], np.zeros(n_features)
        for j, table in self.design.tables(self.coefficients).items():
            counts = np.bincount(view.column(j), weights, minlength=N_CODES)
            mean = np.average(table, axis=0, weights=counts)
            importances[j] = np.average((table - mean) ** 2, axis=0, weights=counts).sum()
            made.append(tree_of_codes(j, view.bins.features[j], table, counts))
        joined = Trees.joined([Trees(importances=np.zeros(n_features), **arrays) for arrays in made])
        return replace(joined, importances=importances)

    def directions_hold(self, monotonic: tuple[int, ...] | None) -> bool:
        """Whether the slopes have the signs of monotonic constraints."""
        if monotonic is None:
            return True
        for j, table in self.design.tables(self.coefficients[:, :1]).items():
            heights = table[:MISSING, 0]
            if monotonic[j] and (monotonic[j] * np.diff(heights) < 0).any():
                return False
        return True


def fit_regression(
    view: View, classes: Array, n_outputs: int, weights: Array, folds: list[Fold], seed: int
) -> Regression | str:
    """Fit the regression, or say why there is none. If there are many rows, it is fitted to some of them."""
    outputs = [1] if n_outputs == 1 else list(range(n_outputs))
    n_examples = np.bincount(classes, weights, minlength=len(outputs))
    examples = np.minimum(n_examples, n_examples.sum() - n_examples)
    fewest = float(np.sort(n_examples)[-2])  # of several classes, the second most frequent one
    assert view.bins is not None
    n_numbers = int((~view.bins.nominal & (view.bins.n_bins > 1)).sum())  # each of which has a coefficient
    if n_numbers > max(MANY_COLUMNS, examples[outputs].max()):
        return f"there are {fewest:.6g} examples of a class for {n_numbers} or more coefficients"
    design = design_of(view, weights)
    n, limit = view.n_rows, min(MOST_ROWS, MOST_PRODUCTS / (1 + design.n_columns) ** 2)
    enough = examples >= design.n_columns
    if not design.n_columns:
        return "no column varies"
    if not enough[outputs].any():
        return f"there are {fewest:.6g} examples of a class for {design.n_columns} coefficients"
    if limit < min(n, ENOUGH_ROWS):
        return f"it would take too long with {design.n_columns} coefficients"
    rows = np.flatnonzero(uniform(seed, np.arange(n)) < limit / n)
    A = design.matrix(view)
    beta, scores = np.zeros((A.shape[1], n_outputs)), np.zeros((n, n_outputs))
    for j, k in enumerate(outputs):
        used = A.shape[1] if enough[k] else 1
        beta[:used, j], scores[:, j] = _fit_one(A[:, :used], classes == k, weights, folds, rows)
    return Regression(design, beta[0], beta[1:], scores)


def _fit_one(A: Array, positive: Array, weights: Array, folds: list[Fold], rows: Array) -> tuple[Array, Array]:
    """Return the coefficients for one class against the others, the constant first, and held-out scores.

    Coefficients are fitted to some `rows`, or those of them in the training rows of a fold.
    """
    y, beta = positive.astype(np.float64), np.zeros(A.shape[1])
    tried: list[tuple[Array, Array]] = []
    losses: list[Array] = []  # of the rows that were held out
    for penalty in PENALTIES:  # each solution is the start of the next
        beta = minimise(A[rows], y[rows], weights[rows], penalty, beta)
        total, count = np.zeros(len(y)), np.zeros(len(y))
        for training, held_out in folds:
            own = np.intersect1d(training, rows)
            total[held_out] += A[held_out] @ minimise(A[own], y[own], weights[own], penalty, beta)
            count[held_out] += 1.0
        known = count > 0
        scores = np.divide(total, count, out=np.full(len(y), np.nan), where=known)
        tried.append((beta, scores))
        losses.append((weights * np.logaddexp(0.0, np.where(positive, -total, total) / np.maximum(count, 1.0)))[known])
        if len(losses) - 3 >= int(np.argmin([own.sum() for own in losses])):
            break  # smaller penalties will not be better
    return tried[_most_cautious(losses)]


def _most_cautious(losses: list[Array]) -> int:
    """Return the first choice whose losses are not higher than the best ones by more than a standard error."""
    best = losses[int(np.argmin([own.sum() for own in losses]))]
    for k, own in enumerate(losses):
        more = own - best
        if more.sum() <= np.sqrt(len(more)) * more.std():
            return k
    raise AssertionError


def minimise(A: Array, y: Array, weights: Array, penalty: float, start: Array) -> Array:
    """Return the coefficients that minimise the log-loss plus the penalty, by Newton's method."""
    ridge = np.full(A.shape[1], penalty)
    ridge[0] = 1e-6 * penalty  # the constant is free

    def objective(beta: Array) -> float:
        s = A @ beta
        return float(weights @ np.logaddexp(0.0, np.where(y > 0, -s, s)) + 0.5 * (ridge @ beta**2))

    beta, value = start, objective(start)
    for _ in range(MOST_STEPS):
        q = expit(A @ beta)
        slope = A.T @ (weights * (q - y)) + ridge * beta
        direction = cho_solve(cho_factor(_hessian(A, q, weights, ridge)), slope)
        step = 1.0
        while (new := objective(beta - step * direction)) > value and step > 1e-6:
            step /= 2.0
        if new >= value:
            break
        decrease, beta, value = value - new, beta - step * direction, new
        if decrease < 1e-7 * abs(value) + 1e-9:
            break
    return beta


def _hessian(A: Array, q: Array, weights: Array, ridge: Array) -> Array:
    curvature = weights * np.maximum(q * (1.0 - q), LEAST_CURVATURE)
    H = (A * curvature[:, None]).T @ A
    H[np.diag_indices_from(H)] += ridge
    return np.asarray(H)


def tree_of_codes(j: int, feature: Feature, table: Array, counts: Array) -> dict[str, Array]:
    """Return the arrays of a tree that gives each code of a feature the values of a table, ``[code, output]``.

    Its first node sends missing values to the right, and the others halve the codes.
    """
    left: list[list[int]] = []  # the codes that a node sends to the left
    links: list[tuple[int, int]] = []
    leaves: list[list[int]] = []

    def leaf(codes: list[int]) -> int:
        leaves.append(codes)
        return ~(len(leaves) - 1)

    def node(codes: list[int], others: list[int]) -> int:
        k = len(left)
        left.append(codes)
        links.append((0, 0))
        links[k] = grown(codes), grown(others)
        return k

    def grown(codes: list[int]) -> int:
        half = len(codes) // 2
        return leaf(codes) if (table[codes] == table[codes[0]]).all() else node(codes[:half], codes[half:])

    node(list(range(feature.n_bins)), [MISSING])
    by_order, n = not feature.nominal or feature.ordered, len(left)
    sets = np.zeros((0 if by_order else n, N_CODES), dtype=np.bool_)
    for row, codes in zip(sets, left):
        row[codes] = True
    return {
        "first_node": np.array([0, n]),
        "first_leaf": np.array([0, len(leaves)]),
        "feature": np.full(n, j),
        "threshold": np.array([codes[-1] if by_order else -1 for codes in left]),
        "which": np.full(n, -1) if by_order else np.arange(n),
        "missing_left": np.zeros(n, dtype=np.int64),
        "links": np.array(links),
        "sets": sets,
        "values": np.array([table[codes[0]] for codes in leaves]),
        "covers": np.array([counts[codes].sum() for codes in leaves]),
    }
