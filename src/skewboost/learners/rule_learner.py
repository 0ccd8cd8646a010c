"""HPWR, the rule learner of Wong and Wang: significant patterns that vote with their weight of evidence."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from skewboost.engine.table import Nominal, read_table
from skewboost.fitting import LogProbabilityMixin
from skewboost.learners.discretise import discretise
from skewboost.learners.patterns import Examples, Limits, Patterns, distinct, find_patterns
from skewboost.metrics.targets import check_labels, classes_of, weights_of_fit
from skewboost.names import shown
from skewboost.parameters import check_params, integer, number, one_of
from skewboost.typing import Array

_CELLS = 2**24  # the number of events times rows that are scored at a time


@dataclass(frozen=True)
class Condition:
    """A condition on an attribute: ``"> 6.05"``, ``"in (1.5, 2]"``, ``"= red"`` or ``"is missing"``."""

    attribute: str
    value: str

    def __str__(self) -> str:
        return f"{shown(self.attribute)} {self.value}"


@dataclass(frozen=True)
class EvidenceRule:
    """A significant pattern, and its weight of evidence for a class.

    Attributes
    ----------
    conditions : tuple of Condition
        The pattern.
    label : label
        The class.
    evidence : float
        The weight of evidence: the increase of the log-odds of the class if the conditions are met.
    residual : float
        The adjusted residual of the pattern with the class.
    support : float
        The number of training examples that meet the conditions.
    information : float
        The mutual information of the class and the conditions, ``I(c : x) = ln (P(x | c) / P(x))``, both smoothed by
        1/N. The weight of evidence is ``I(c : x) - I(not c : x)``.
    """

    conditions: tuple[Condition, ...]
    label: Any
    evidence: float
    residual: float
    support: float
    information: float

    def __str__(self) -> str:
        return (
            f"if {' and '.join(map(str, self.conditions))} then {shown(self.label)}: evidence {self.evidence:+.2f} "
            f"(residual {self.residual:.1f}, support {self.support:.6g})"
        )


def _log_ratio(a: Array, b: Array) -> Array:
    """Return the logarithm of a ratio of probabilities, both plus 1/N, given N times each of them."""
    return np.asarray(np.log((np.maximum(a, 0.0) + 1) / (np.maximum(b, 0.0) + 1)))  # in spite of rounding


@dataclass(frozen=True)
class RankedRules:
    """The rules for one target, in the order in which they are applied."""

    log_odds: float  # of the target, without any rule
    patterns: list[Patterns]  # highest order first
    evidence: list[Array]  # of each pattern

    @classmethod
    def of(cls, found: list[Patterns], target: int, prior: float, significance: float) -> RankedRules:
        """The patterns that are significant for the target: by order, then by residual."""
        ranked, evidence = [], []
        for patterns in reversed(found):
            strength = patterns.strength[target]
            order = np.argsort(-strength, kind="stable")
            chosen = patterns.take(order[strength[order] > significance])
            inside = chosen.inside[target]
            outside = chosen.support - inside
            evidence.append(_log_ratio(inside / prior, outside / (1 - prior)))
            ranked.append(chosen)
        return cls(float(np.log(prior / (1 - prior))), ranked, evidence)

    def __iter__(self) -> Iterator[tuple[tuple[int, ...], float]]:
        for patterns, evidence in zip(self.patterns, self.evidence):
            yield from zip(map(tuple, patterns.events.tolist()), evidence.tolist())

    def total(self, occurs: Array) -> Array:
        """The evidence of every row: each rule in turn adds its own, unless one of its attributes is already used."""
        n_rows = occurs.shape[1]
        n_bytes = (n_rows + 7) // 8
        packed = np.packbits(occurs, axis=1, bitorder="little")
        free = [int.from_bytes(bits.tobytes(), "little") for bits in packed]  # Python is fast with long integers
        sums = np.zeros(n_rows)
        for events, evidence in self:
            meets = free[events[0]]
            for e in events[1:]:
                meets &= free[e]
            if meets:
                bits = np.frombuffer(meets.to_bytes(n_bytes, "little"), dtype=np.uint8)
                sums[np.unpackbits(bits, count=n_rows, bitorder="little").view(np.bool_)] += evidence
                if len(events) > 1:  # rules of one condition come last and have no common attributes
                    for e in events:
                        free[e] ^= meets
        return sums


@dataclass(kw_only=True, eq=False, repr=False)
class RuleLearner(LogProbabilityMixin, ClassifierMixin, BaseEstimator):
    r"""HPWR, the rule learner of Wong and Wang: significant patterns that vote with their weight of evidence.

    Numbers are discretised by the entropy method of Fayyad and Irani [fayyad1993]_. Each category is a value, and so is
    "missing". A *pattern* is a set of conditions :math:`x_1, …, x_k`, "attribute = value" for k different attributes.
    It becomes a rule for the class c if its adjusted residual [wong1997]_ with c, or with the rest,

    .. math:: d = \frac{o - e}{\sqrt{e\,v}}, \qquad e = N\,P(c) \prod_i P(x_i),

    exceeds `significance` in absolute value: if it occurs together with c more often, or less often, than independent
    events would. It is then evidence for c, or against it, with the weight [wang2003]_

    .. math:: W = \ln\frac{P(x_1, …, x_k \mid c) + 1/N}{P(x_1, …, x_k \mid \neg c) + 1/N},

    which is added to the log-odds of c. It is the mutual information :math:`I(c : x) = \ln \frac{P(x \mid c)}{P(x)}`
    of the pattern with c less that with the rest. The 1/N keeps it finite. To classify an example, the rules for c
    whose conditions it meets are applied in turn: rules with more conditions first, and among these the larger
    residuals first. A rule that has an attribute in common with an earlier one is skipped. The sum of the weights and
    of the prior log-odds of c are the log-odds of c. The class with the largest sum is predicted.

    Parameters
    ----------
    max_order : int, default=2
        The maximum number of conditions in a rule.
    significance : float, default=1.96
        The threshold of the adjusted residual, which is standard normal under independence; 1.96 is the 5 % level.
        Among thousands of candidates many exceed it by chance: raise it for fewer and more reliable rules.
    min_expected : float, default=5
        The minimum expected count of a pattern with a class that is tested.
    max_patterns : int, default=1000
        The number of patterns of each order, those with the largest residuals, that are kept, significant or not. Only
        these can become rules, and only these are extended by another condition. If there are more, the search is
        greedy.
    prior : bool, default=True
        Whether to add the prior log-odds of a class. The papers do not: then a rare class is predicted wherever the
        evidence favours it, and `predict_proba` refers to equally frequent classes.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels.
    rules_ : list of EvidenceRule
        The rules, the largest weights of evidence first. With two classes, a rule names the class that it is evidence
        for.
    n_features_in_ : int
        The number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        The names of the features, if all of them are strings.

    Notes
    -----
    Wong and Wang use :math:`v = 1 - P(c)\prod_i P(x_i)`, which is correct if the probabilities are known. Here they
    are estimated from the same examples. Then v is the probability that at least two of k + 1 independent events do not
    occur (Haberman [haberman1973]_); for one condition it is :math:`(1 - P(x))(1 - P(c))`. Their v is larger, so that
    frequent events are hardly ever significant. A residual with the rest counts like one with the class, because W
    depends on both; so the sums of two classes only differ in their sign. Because e assumes independent events,
    correlated attributes form patterns with large residuals even if they are weak evidence of the class. This is
    intended: such a rule comes first, and its attributes are not counted separately.

    `sample_weight` counts examples. A booster passes weights that sum to the number of rows, so in later rounds a few
    heavy rows are tested as if they were many, and their rules are less reliable than `significance` suggests. Numbers
    are discretised anew in each round; to cut them once, which is faster, put an `MDLDiscretizer` before the booster.

    References
    ----------
    .. [wong1997] A. K. C. Wong, Y. Wang, "High-order pattern discovery from discrete-valued data", IEEE Transactions on
       Knowledge and Data Engineering 9 (1997) 877-893.
    .. [wang2003] Y. Wang, A. K. C. Wong, "From association to classification: inference using weight of evidence", IEEE
       Transactions on Knowledge and Data Engineering 15 (2003) 764-767.
    .. [fayyad1993] U. M. Fayyad, K. B. Irani, "Multi-interval discretization of continuous-valued attributes for
       classification learning", International Joint Conference on Artificial Intelligence (1993) 1022-1027.
    .. [haberman1973] S. J. Haberman, "The analysis of residuals in cross-classified tables", Biometrics 29 (1973)
       205-220.

    Examples
    --------
    >>> import pandas as pd
    >>> from skewboost import AdaBoostClassifier
    >>> from skewboost.learners import RuleLearner
    >>> X = pd.DataFrame({"colour": ["red", "red", "green", "green"] * 10, "size": [1, 4, 1, 4] * 10})
    >>> y = ["ripe", "unripe", "unripe", "unripe"] * 10
    >>> clf = RuleLearner().fit(X, y)
    >>> print(clf.export_text(max_rules=2))
    if colour = red and size ≤ 2.5 then ripe: evidence +3.71 (residual 6.0, support 10)
    if colour = green then unripe: evidence +3.32 (residual 3.7, support 20)
    >>> new = pd.DataFrame({"colour": ["red", "green"], "size": [2, 2]})
    >>> print(AdaBoostClassifier(estimator=RuleLearner(), n_estimators=5).fit(X, y).predict(new))
    ['ripe' 'unripe']
    """

    max_order: int = 2
    significance: float = 1.96
    min_expected: float = 5
    max_patterns: int = 1000
    prior: bool = True

    takes_tables: ClassVar[bool] = True  # boosters need not convert their rows

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> RuleLearner:
        """Find the significant rules.

        Parameters
        ----------
        X : array-like or pandas, polars or Arrow table of shape (n_samples, n_features)
            Numbers; in tables also categories or text. Cells may be missing.
        y : array-like of shape (n_samples,)
            Class labels.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            The number of examples that a row stands for: a weight of 2 is the same as two rows, and rows of weight 0
            are ignored. So the scale matters: ten times the weight is ten times the examples.

        Returns
        -------
        self
        """
        check_params(
            self,
            max_order=integer(1),
            significance=number(0, None),
            min_expected=number(0, None),
            max_patterns=integer(1),
            prior=one_of(True, False),
        )
        table = read_table(self, X, reset=True)
        labels, weights = check_labels(self, y, table.n_rows), np.ones(table.n_rows)
        if sample_weight is not None:
            weights = weights_of_fit(sample_weight, table.n_rows)
        if not weights.all():
            present = np.flatnonzero(weights)
            table, labels, weights = table.take(present), labels[present], weights[present]
        classes = classes_of(self, labels)
        target = np.searchsorted(classes, labels)
        columns = list(table.every_column())
        values = [discretise(column, target, weights, len(classes)) for column in columns]
        codes = np.array([v.encode(column) for v, column in zip(values, columns)])
        examples = Examples(codes, target, len(classes), weights).merged()
        limits = Limits(self.max_order, self.min_expected, self.max_patterns)
        self._events, found = find_patterns(examples, limits)
        self._ranked = [RankedRules.of(found, t, float(p), self.significance) for t, p in enumerate(examples.priors)]
        self._values, self._prior = values, bool(self.prior)
        self._nominal = [isinstance(column, Nominal) for column in columns]
        self.classes_ = classes
        return self

    # ------------------------------------------------------------------ prediction

    def _sums(self, X: Any) -> Array:
        """The log-odds of every target: ``[target, row]``."""
        check_is_fitted(self)
        table = read_table(self, X, reset=False)
        names: Any = getattr(self, "feature_names_in_", range(table.n_features))
        table = table.conform(self._nominal, list(names))
        codes = np.array([v.encode(table.column(j)) for j, v in enumerate(self._values)])
        first, which = distinct(codes)
        codes = codes[:, first]
        sums = np.empty((len(self._ranked), len(first)))
        step = max(1, _CELLS // max(1, len(self._events)))
        for start in range(0, len(first), step):
            rows = slice(start, start + step)
            occurs = self._events.occur(codes[:, rows])
            for row, ranked in zip(sums, self._ranked):
                row[rows] = ranked.total(occurs)
        if self._prior:
            sums += np.array([[ranked.log_odds] for ranked in self._ranked])
        return np.round(sums, 10)[:, which]  # rounded, so that the order of training rows does not matter

    def decision_function(self, X: Any) -> Array:
        """The log-odds: the sums of the weights of evidence.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            New rows, with the columns of training. A category that did not occur in training counts as missing.

        Returns
        -------
        ndarray of shape (n_samples,), or (n_samples, n_classes) if there are more than two
            The log-odds of ``classes_[1]``, or of each class against the rest.
        """
        sums = self._sums(X)
        return sums[0] if len(self.classes_) == 2 else np.ascontiguousarray(sums.T)

    def predict(self, X: Any) -> Array:
        """The class with the largest log-odds; the first class in case of a tie.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            New rows, with the columns of training.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        sums = self.decision_function(X)
        best = (sums > 0).astype(np.intp) if len(self.classes_) == 2 else sums.argmax(axis=1)
        return np.asarray(self.classes_[best])

    def predict_proba(self, X: Any) -> Array:
        """Class probabilities from the log-odds, normalised.

        Rules are not independent of each other, so probabilities are often too close to 0 or 1.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            New rows, with the columns of training.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
        """
        sums = self.decision_function(X)
        if len(self.classes_) == 2:
            return np.column_stack((expit(-sums), expit(sums)))
        p = expit(sums) + 1e-9 * (1 + sums / (1 + np.abs(sums)))  # the second term breaks ties of p = 1
        return np.asarray(p / p.sum(axis=1, keepdims=True))

    # ------------------------------------------------------------------ inspection

    @property
    def rules_(self) -> list[EvidenceRule]:
        """The rules, the largest weights of evidence first."""
        check_is_fitted(self)
        rules = [rule for target in range(len(self._ranked)) for rule in self._rules_on(target)]
        return sorted(rules, key=lambda rule: -round(abs(rule.evidence), 9))

    def _rules_on(self, target: int) -> Iterator[EvidenceRule]:
        names: Any = getattr(self, "feature_names_in_", [f"x{j}" for j in range(len(self._values))])
        conditions = [
            Condition(str(names[j]), self._values[j].text(v))
            for j, v in zip(self._events.attribute.tolist(), self._events.value.tolist())
        ]
        two = len(self.classes_) == 2
        label = self.classes_[1 if two else target]
        ranked = self._ranked[target]
        prior = expit(ranked.log_odds)
        for patterns, evidence in zip(ranked.patterns, ranked.evidence):
            inside, support = patterns.inside[target], patterns.support
            informations = _log_ratio(inside / prior, support), _log_ratio((support - inside) / (1 - prior), support)
            residuals = patterns.residual[target], patterns.residual_rest[target]
            for k, (events, w) in enumerate(zip(patterns.events, evidence)):
                rest = int(two and w < 0)
                own = self.classes_[0] if rest else label
                numbers = (-w if rest else w, residuals[rest][k], support[k], informations[rest][k])
                yield EvidenceRule(tuple(conditions[e] for e in events), own, *map(float, numbers))

    def export_text(self, max_rules: int = 20) -> str:
        """The rules with the largest weights of evidence, one per line.

        Parameters
        ----------
        max_rules : int, default=20
            The maximum number of rules.

        Returns
        -------
        str
        """
        return "\n".join(map(str, self.rules_[:max_rules]))
