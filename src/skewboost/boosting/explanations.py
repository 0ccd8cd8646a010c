"""Explanations: exact contributions of the features to the score F."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from sklearn.utils.validation import check_is_fitted

from skewboost.boosting.link import TwoClasses
from skewboost.boosting.prediction import PredictionMixin
from skewboost.boosting.whole_columns import on_whole_columns
from skewboost.engine.binning import Feature
from skewboost.engine.boundary import MISSING
from skewboost.engine.explaining import Explainer
from skewboost.engine.partition import View
from skewboost.engine.scoring import LineTerm
from skewboost.engine.shapley import Conjunctive
from skewboost.errors import InputError
from skewboost.names import spell
from skewboost.typing import Array

INSTEAD = (
    "Use a tool that only looks at predictions: sklearn.inspection.permutation_importance, "
    "sklearn.inspection.partial_dependence, or the shap package with clf.decision_function."
)


@dataclass(frozen=True, eq=False)
class ShapeFunction:
    """The contribution of one feature to the score F, as a function of its value.

    It is a callable. Its mean over the training examples, counted by `sample_weight`, is zero.

    Attributes
    ----------
    feature : int
        The index of the column.
    name : str
        Its name; ``"x0"``, ``"x1"``, … if columns have no names.
    kind : {"numeric", "nominal", "line"}
        A step function, a value per category, or a straight line.
    edges : ndarray of shape (n_steps - 1,)
        The steps of a numeric function: ``values[k]`` applies to ``edges[k - 1] < x <= edges[k]``. Neighbouring bins of
        equal value are merged.
    categories : tuple of str
        The categories of a nominal feature, in the order of `values`.
    rest : frozenset of str
        Rare categories that share the last of `values`, which then has one more entry than `categories`.
    values : ndarray
        The values of the function; for a line the intercept.
    slope : float
        The slope of a line ``slope * x + values[0]``, otherwise 0.
    lines : tuple of LineTerm
        The terms of a line, without `missing_value`. They are accurate also for columns with values far from zero.
    support : ndarray
        The number of training examples for each of `values`; where categories share a code, equal parts of its number.
    missing_value : float
        The value for missing values, and for categories that were not seen in training.
    missing_support : float
        The number of training examples with a missing value.
    observed : tuple of float or None
        The range of the training data; for lines only.
    exact : bool
        Whether the functions of all features add up to F. False for trees that test several features: then it is the
        mean effect of this feature with the others unknown, without interactions.
    """

    feature: int
    name: str
    kind: Literal["numeric", "nominal", "line"]
    values: Array
    support: Array
    missing_value: float
    missing_support: float
    edges: Array
    categories: tuple[str, ...] = ()
    rest: frozenset[str] = frozenset()
    lines: tuple[LineTerm, ...] = ()
    observed: tuple[float, float] | None = None
    exact: bool = True

    def __call__(self, x: Any) -> Array:
        """Evaluate the function at numbers or categories; NaN and None are missing values."""
        if self.kind == "nominal":
            known: dict[str | None, float] = dict(zip(self.categories, self.values.tolist()))
            if self.rest:
                known.update(dict.fromkeys(self.rest, float(self.values[-1])))
            cells = np.asarray(x, dtype=object)
            names = [None if c is None or (isinstance(c, float) and c != c) else spell(c) for c in cells.flat]
            return np.array([known.get(c, self.missing_value) for c in names]).reshape(cells.shape)
        numbers = np.asarray(x, dtype=np.float64)
        if self.kind == "line":
            present = np.where(np.isnan(numbers), 0.0, np.sum([line.at(numbers) for line in self.lines], axis=0))
            return np.asarray(self.missing_value + present)
        step = self.values[np.searchsorted(self.edges, np.where(np.isnan(numbers), 0.0, numbers))]
        return np.where(np.isnan(numbers), self.missing_value, step)

    @property
    def slope(self) -> float:
        """The slope of a line, otherwise 0."""
        return sum(line.slope for line in self.lines)


class ExplanationMixin(PredictionMixin):
    """The explanation methods of boosters."""

    @property
    def baseline_(self) -> Any:
        """The mean of F over the training examples, to which `contributions` are relative; one per class of many."""
        means = self._sign * np.array([e.mean for e in self._explainers("baseline_", AttributeError)])
        return float(means[0]) if len(means) == 1 else means

    def contributions(self, X: Any) -> Array:
        r"""Return the contribution of each feature to the score of each row, relative to the mean score.

        They are the Shapley values [lundberg2017]_ of the features, computed exactly:

        .. math:: F(x) = \text{baseline\_} + \sum_j \phi_j(x) .

        With stumps, histograms and lines F is a sum of functions of one feature, and :math:`\phi_j` is the centred
        function of feature j (`shape_functions`). The value of a leaf of a tree is shared among the features on its
        path, by the path-dependent expectation of [lundberg2018]_: unknown features follow the distribution of the
        training examples at their test. The contributions of a tree therefore depend on its structure, not only on its
        predictions.

        F is the score of the ensemble. It equals `decision_function`, except for `AdaMECClassifier`, which adds half of
        ln(C+/C-), and for calibrated models.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            Rows to explain, with the columns of the training data.

        Returns
        -------
        ndarray of shape (n_samples, n_features), or (n_samples, n_features, n_classes) of a variant for many classes
            Positive values favour ``classes_[1]``, or the class of the last axis. Rows sum to F minus `baseline_`.

        References
        ----------
        .. [lundberg2017] S. M. Lundberg, S.-I. Lee, "A unified approach to interpreting model predictions", Advances in
           Neural Information Processing Systems (2017).
        .. [lundberg2018] S. M. Lundberg, G. G. Erion, S.-I. Lee, "Consistent individualized feature attribution for
           tree ensembles", arXiv:1802.03888 (2018).

        Examples
        --------
        >>> import numpy as np
        >>> from skewboost import RealBoostClassifier
        >>> from skewboost.datasets import load_rare_cancer
        >>> X, y = load_rare_cancer()
        >>> clf = RealBoostClassifier(estimator="tree", n_estimators=20).fit(X, y)
        >>> phi = clf.contributions(X)
        >>> phi.shape == X.shape
        True
        >>> bool(np.allclose(phi.sum(axis=1) + clf.baseline_, clf.decision_function(X)))
        True
        """
        explainers = self._explainers("contributions")
        table = self._new_rows(X)
        view = View(self._engine(), table, explainers[0].bins)
        found = [self._sign * e.contributions(view) for e in explainers]
        return found[0] if len(found) == 1 else np.stack(found, axis=-1)

    def shape_functions(self) -> list[Any]:
        r"""Return the contribution of each feature to the score as a function of its value.

        Boosted stumps, histograms and lines are additive models,

        .. math:: F(x) = \text{baseline\_} + \sum_j f_j(x_j) ,

        and these functions are exact. Each is centred: its mean over the training examples is zero. F is the score of
        the ensemble, as in `contributions`.

        Trees combine features, and no such functions add up to F. For trees :math:`f_j` is the expectation of F if only
        feature j is known, in the sense of [lundberg2018]_. It does not include interactions, and `exact` is False.

        Returns
        -------
        list of ShapeFunction
            One for each feature, in the order of the columns; zero for features that are not used. With more than two
            classes a list of such lists, one for each class. Positive values favour ``classes_[1]``, or that class.

        References
        ----------
        .. [lundberg2018] S. M. Lundberg, G. G. Erion, S.-I. Lee, "Consistent individualized feature attribution for
           tree ensembles", arXiv:1802.03888 (2018).

        Examples
        --------
        >>> from skewboost import RealBoostClassifier
        >>> from skewboost.datasets import load_rare_cancer
        >>> X, y = load_rare_cancer()
        >>> clf = RealBoostClassifier(n_estimators=5).fit(X, y)
        >>> f = clf.shape_functions()[int(clf.feature_importances_.argmax())]
        >>> print(f.name, f.edges, f.values.round(1), f.support)
        worst perimeter [102.05 127.8 ] [-0.8  2.   4.8] [311.  61.  25.]
        """
        explainers = self._explainers("shape_functions")
        names = getattr(self, "feature_names_in_", [f"x{j}" for j in range(self.n_features_in_)])
        lists = []
        for e in explainers:
            tables = self._sign * e.main_effects()
            kinds = enumerate(zip(names, self._nominal))
            lists.append([_shape(e, tables, self._sign, j, str(name), nominal) for j, (name, nominal) in kinds])
        return lists[0] if len(lists) == 1 else lists

    @property
    def _sign(self) -> float:
        """-1 if the positive class is the first one, because F favours the positive class."""
        return -1.0 if isinstance(self._link, TwoClasses) and self._link.positive == 0 else 1.0

    def _explainers(self, asked: str, error: type[Exception] = InputError) -> list[Explainer]:
        """Return an explainer per output, or raise if the model cannot be explained."""
        check_is_fitted(self)
        name, model = type(self).__name__, on_whole_columns(self._model)
        assert model.support is not None
        if not model.is_sum:
            raise error(
                f"{asked} is not available for {name}: what a round adds depends on the rounds before it, so the score "
                f"is not a sum over features. {INSTEAD}"
            )
        foreign = [term for term in model.scorers[0].others if not isinstance(term, Conjunctive)]
        if foreign:
            inner = type(getattr(foreign[0], "estimator", foreign[0])).__name__
            raise error(
                f"{asked} is not available for {name} with estimators of type {inner}. Boost stumps, trees, histograms "
                f"or lines of skewboost.learners instead. Or: {INSTEAD}"
            )
        return [Explainer(scorer, model.support) for scorer in model.scorers]


def _shape(e: Explainer, tables: Array, sign: float, j: int, name: str, nominal: bool) -> ShapeFunction:
    """Return the function of one feature."""
    if e.bins is None:
        return _line(e, sign, j, name, nominal)
    assert e.support.per_code is not None
    return step_function(j, name, e.bins.features[j], tables[j], e.support.per_code[j], exact=not e.joint)


def step_function(j: int, name: str, feature: Feature, table: Array, counts: Array, *, exact: bool) -> ShapeFunction:
    """Return the function of a binned feature, given its value and the number of training examples per code."""
    missing = float(table[MISSING]), float(counts[MISSING])
    if feature.categories is not None and feature.shared:
        codes = np.array(feature.shared)
        each = counts[codes] / np.bincount(codes)[codes]  # an equal part for each category of a code
        steps = np.empty(0)
        return ShapeFunction(
            j, name, "nominal", table[codes], each, *missing, steps, feature.categories, exact=exact
        )  # fmt: skip
    if feature.categories is not None:
        n = len(feature.categories) + bool(feature.rest)
        own = feature.categories, feature.rest
        return ShapeFunction(j, name, "nominal", table[:n], counts[:n], *missing, np.empty(0), *own, exact=exact)
    values, counts = table[: feature.n_bins], counts[: feature.n_bins]
    starts = np.append(0, 1 + np.flatnonzero(values[1:] != values[:-1]))
    edges = feature.cuts[starts[1:] - 1]
    support = np.add.reduceat(counts, starts)
    return ShapeFunction(j, name, "numeric", values[starts], support, *missing, edges, exact=exact)


def _line(e: Explainer, sign: float, j: int, name: str, nominal: bool) -> ShapeFunction:
    """Return the function of one feature of an ensemble of lines, which ignores categories."""
    spread = e.support.spread
    assert spread is not None
    lines = tuple(line.scaled(sign) for (feature, _), line in e.lines.items() if feature == j)
    known = float(spread.known[j])
    missing = sign * float(e.off[j]), e.support.n_examples - known
    if nominal:
        return ShapeFunction(j, name, "nominal", np.empty(0), np.empty(0), *missing, np.empty(0))
    observed = (float(spread.low[j]), float(spread.high[j])) if known else None
    values, support = np.array([missing[0] + sum(line.intercept for line in lines)]), np.array([known])
    return ShapeFunction(j, name, "line", values, support, *missing, np.empty(0), lines=lines, observed=observed)
