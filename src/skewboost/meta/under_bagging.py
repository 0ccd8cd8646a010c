"""Under-bagging: an ensemble of classifiers fitted to balanced under-samples."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

import numpy as np
from joblib import Parallel, delayed
from sklearn import config_context
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted, validate_data

from skewboost.boosting.variants.realboost import RealBoostClassifier
from skewboost.engine.computed import ComputedTable
from skewboost.engine.row_hash import examples_in_order
from skewboost.engine.table import read_table, sliceable, take_rows
from skewboost.errors import InputError, checked_by_scikit_learn
from skewboost.fitting import MostProbableMixin, restore_on_failure, seeded
from skewboost.fold_rows import check_groups, groups_if_used, uses_groups
from skewboost.learners.adapter import weight_name
from skewboost.learners.samplers.bootstrap import draw_by_weight
from skewboost.learners.samplers.under_sample import under_sampled
from skewboost.meta.inner_labels import with_pos_label
from skewboost.meta.portfolio.portfolio_costs import check_gives_probabilities
from skewboost.metrics.targets import check_labels, check_sample_weight, choose_positive, classes_of, known_labels
from skewboost.parameters import CLASSIFIER, N_JOBS, check_params, check_random_state, integer, number, optional
from skewboost.typing import Array


@dataclass(eq=False, repr=False)
class UnderBaggingClassifier(MostProbableMixin, MetaEstimatorMixin, ClassifierMixin, BaseEstimator):
    """Under-bagging: the mean of members that are fitted to all examples of the rare class and as many of the others.

    Each member has its own sample without replacement, so that together they use most of the data, whereas a single
    under-sample discards it. The decision is balanced: `predict_proba` are probabilities for the class frequencies of
    the samples, not of the data. If you need those of the data, calibrate them
    (`sklearn.calibration.CalibratedClassifierCV`), or use a cost-sensitive booster on all data.

    Parameters
    ----------
    booster : classifier or None, default=None
        The classifier that members are clones of: any booster of this library, or any scikit-learn classifier. None is
        ``RealBoostClassifier()``.
    n_estimators : int, default=10
        The number of members.
    ratio : float, default=1.0
        The number of examples of the rarest class for each one of every other class in a sample, above 0 and at most 1.
    random_state : int, RandomState or None, default=None
        The seed of the samples, and of members that use random numbers.
    n_jobs : int or None, default=None
        The number of members that are fitted in parallel; None is 1, -1 is all cores. The result does not depend on it.

    Attributes
    ----------
    classes_ : ndarray
        The class labels.
    estimators_ : list
        The members.
    estimators_samples_ : list of ndarray
        The rows that each member was fitted to.
    feature_importances_ : ndarray
        The mean of the members' importances, if they have this attribute.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    References
    ----------
    .. [barandela2003] R. Barandela, R. M. Valdovinos, J. S. Sánchez, "New applications of ensembles of classifiers",
       Pattern Analysis and Applications 6 (2003) 245-256.

    Examples
    --------
    >>> from sklearn.model_selection import cross_val_score
    >>> from skewboost import RealBoostClassifier, UnderBaggingClassifier
    >>> from skewboost.datasets import load_rare_cancer
    >>> X, y = load_rare_cancer()
    >>> clf = UnderBaggingClassifier(RealBoostClassifier(n_estimators=20), n_estimators=5, random_state=0)
    >>> print(f"recall {cross_val_score(clf, X, y, scoring='recall', cv=3).mean():.2f}")
    recall 0.92
    """

    __metadata_request__fit: ClassVar[dict[str, bool]] = {"groups": True}

    booster: Any = None
    _: KW_ONLY
    n_estimators: int = 10
    ratio: float = 1.0
    random_state: Any = None
    n_jobs: int | None = None

    def _member(self) -> Any:
        return RealBoostClassifier() if self.booster is None else self.booster

    @property
    def _holds_out(self) -> bool:
        """Whether `groups` have an effect."""
        return uses_groups(self._member())

    def get_metadata_routing(self) -> Any:
        """Return the routing; `groups` are requested if members split rows, unless set by ``set_fit_request``."""
        return groups_if_used(super().get_metadata_routing(), self._holds_out)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = get_tags(self._member())
        tags.input_tags.allow_nan = inner.input_tags.allow_nan
        if inner.classifier_tags is not None:
            tags.classifier_tags.multi_class = inner.classifier_tags.multi_class
        return tags

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> UnderBaggingClassifier:
        """Draw the samples and fit the members.

        Parameters
        ----------
        X : array-like or table of shape (n_samples, n_features)
            Any input that the members accept.
        y : array-like of shape (n_samples,)
            Class labels.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            The number of examples that a row stands for. If all are integers, a row of weight w is the same as w rows.
            Otherwise samples are drawn from the rows, and members are fitted with the weights (or, if they do not
            accept weights, to rows drawn by weight).
        groups : array-like of shape (n_samples,) or None, default=None
            Which rows belong together, for members that split rows, such as boosters with early stopping. Raises if
            they do not.

        Returns
        -------
        self
        """
        with restore_on_failure(self):
            self._fit(X, y, sample_weight, groups)
        return self

    def _check_params(self) -> None:
        check_params(
            self,
            booster=optional(CLASSIFIER),
            n_estimators=integer(1),
            ratio=number(0, 1, open_low=True),
            n_jobs=N_JOBS,
        )
        check_gives_probabilities(type(self).__name__, self._member())

    def _fit(self, X: Any, y: Any, sample_weight: Any, groups: Any) -> None:
        self._check_params()
        if groups is not None and not self._holds_out:
            raise InputError(
                f"groups have no effect, because {self._member()!r} does not split rows.",
                "Set its early_stopping=True, or leave them out.",
            )
        table = read_table(self, X, reset=True)
        labels = check_labels(self, y, table.n_rows)
        weights = np.ones(table.n_rows) if sample_weight is None else check_sample_weight(sample_weight, table.n_rows)
        units = None if groups is None else check_groups(groups, table.n_rows)
        present = np.flatnonzero(weights)
        classes = classes_of(self, labels[present])
        kept = table if len(present) == table.n_rows else table.take(present)
        examples = present[examples_in_order(kept, np.searchsorted(classes, labels[present]), weights[present])]
        member = self._member()
        if len(classes) == 2:  # in balanced samples neither is rarer
            member = with_pos_label(member, classes, choose_positive(labels, classes, None, weights))
        weights = weights / np.maximum(np.bincount(examples, minlength=len(weights)), 1)
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        native = sliceable(X)
        fitted = Parallel(n_jobs=self.n_jobs)(
            delayed(_fit_member)(member, native, labels, weights, units, examples, self.ratio, [seed, k])
            for k in range(self.n_estimators)
        )
        self.classes_ = classes
        self.estimators_, self.estimators_samples_ = map(list, zip(*fitted))

    def predict_proba(self, X: Any) -> Array:
        """The mean of the members' probabilities, or of their votes if they have no `predict_proba`.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            New rows, with the columns of training.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
        """
        check_is_fitted(self)
        as_it_is = hasattr(X, "columns") or isinstance(X, ComputedTable)
        with checked_by_scikit_learn():
            validate_data(self, X, reset=False, skip_check_array=as_it_is, ensure_all_finite=False, dtype=None)
        return np.asarray(np.mean([self._votes(member, X) for member in self.estimators_], axis=0))

    def _votes(self, member: Any, X: Any) -> Array:
        if hasattr(member, "predict_proba"):
            return np.asarray(member.predict_proba(X))
        return np.asarray(member.predict(X)[:, None] == self.classes_, dtype=np.float64)

    @property
    def feature_importances_(self) -> Array:
        """The mean of the members' importances."""
        check_is_fitted(self)
        return np.asarray(np.mean([member.feature_importances_ for member in self.estimators_], axis=0))


def _fit_member(
    member: Any,
    X: Any,
    labels: Array,
    weights: Array,
    units: Array | None,
    examples: Array,
    ratio: float,
    seed: list[int],
) -> tuple[Any, Array]:
    """Fit a member to a sample; returns it and the rows of the sample."""
    rng = np.random.default_rng(seed)
    _, classes = np.unique(labels[examples], return_inverse=True)
    rows = examples[under_sampled(classes, ratio, rng)]
    member, name = seeded(member, lambda: int(rng.integers(2**31))), weight_name(member)
    given = weights[rows]
    params: dict[str, Array] = {}
    if (given != 1.0).any():
        if name is None:
            rows = rows[draw_by_weight(given, rng)]
        else:
            params[name] = given
    if units is not None:
        params["groups"] = units[rows]
    with known_labels(), config_context(enable_metadata_routing=False):  # or pipelines would require requests
        return member.fit(take_rows(X, rows), labels[rows], **params), rows
