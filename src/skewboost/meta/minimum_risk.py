"""The decision of least expected cost, around any classifier.

References
----------
.. [1] C. Elkan, "The foundations of cost-sensitive learning", International Joint Conference on Artificial Intelligence
   (2001) 973-978.
.. [2] M. Saerens, P. Latinne, C. Decaestecker, "Adjusting the outputs of a classifier to new a priori probabilities: a
   simple procedure", Neural Computation 14 (2002) 21-41.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import sklearn
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone, is_classifier
from sklearn.calibration import CalibratedClassifierCV
from sklearn.utils import get_tags, indexable
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.validation import check_is_fitted

from skewboost.errors import InputError, InputTypeError
from skewboost.metrics.costs import cost_matrix, expected_costs, row_matrices
from skewboost.metrics.inputs import class_shares
from skewboost.metrics.priors import check_prior, correct_prior
from skewboost.metrics.targets import check_labels, check_sample_weight, choose_positive, classes_of
from skewboost.parameters import N_JOBS, check_params, integer, one_of, optional
from skewboost.typing import Array

CALIBRATIONS = ("sigmoid", "isotonic", "temperature")
N_FOLDS = 5


class MinimumRiskClassifier(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):
    r"""Decides for the class of least expected cost, by the probabilities of any classifier.

    The decision is :math:`\arg\min_k \sum_j P(j|x) \, C_{jk}` for costs :math:`C_{jk}` of deciding k where j is true
    [1]_; with two classes and free right answers it is positive where
    :math:`P(+|x) > C_{-+} / (C_{-+} + C_{+-})`. Ties go to the class that comes first. Any matrix will do, also one
    with costs of right answers, and rows may have costs of their own.

    It is as good as the probabilities are. Those of boosters on few rows are overconfident, and the dearer a mistake,
    the further from ½ the threshold and the more that matters: give ``calibrate``. A booster that is told the costs
    in training (such as `CSRAClassifier`) spends its rounds where the decision is; this one can change its mind about
    the costs after training, and can be told what no booster can: K x K matrices and, when it predicts, costs of rows.

    Parameters
    ----------
    estimator : classifier
        With `predict_proba`, or with `decision_function` if ``calibrate`` is set. It is cloned and fitted. To decide
        by a model that is fitted already, wrap it: ``sklearn.frozen.FrozenEstimator(model)``.
    cost : number, "balanced", dict, matrix or None, default=None
        A number (two classes: a miss of the positive class costs as much as so many false alarms), {label: cost of
        getting it wrong}, a matrix ``cost[true, predicted]`` with the classes in sorted order (or a pandas table with
        their names), or "balanced", which None means too: classes cost in inverse proportion to their share where
        the model is used. `cost=1`, or a 1 for every class in a dict, is the class of the largest probability.
    calibrate : "sigmoid", "isotonic", "temperature" or None, default=None
        Calibrate the probabilities on held-out folds, by scikit-learn's `CalibratedClassifierCV`. A sigmoid is safe
        with few examples of a class; isotonic wants more of them, and says 0 and 1 where a step is pure, which high
        costs then cannot change; temperature, a single factor of the log-odds, is meant for many classes and needs
        scikit-learn 1.8.
    ensemble : bool or "auto", default="auto"
        Whether the estimators of all folds decide together, each with its own calibration, or one that is fitted to
        all rows, with the calibration that the folds have together. "auto": all, unless the estimator is frozen.
        Five are dearer to ask than one and decide better, the more so the fewer rows there are.
    prior : number, dict, array-like or None, default=None
        The shares of the classes where the model is used, if they differ from those in training: of the positive
        class, {label: share}, or of the sorted classes. Probabilities are then corrected [2]_, which takes for granted
        that those of the estimator are of the training shares (with `class_weight="balanced"` they are not, unless it
        is calibrated). `estimate_prior` finds them from rows without labels.
    cv : int, splitter, iterable or None, default=None
        The folds of `calibrate`; None: 5 stratified ones, in the order of the rows. Each row must be held out once.
    pos_label : label or None, default=None
        The positive class of two, whose misses a number prices. None: the rarer, the larger label in a tie.
    n_jobs : int or None, default=None
        How many folds of `calibrate` are fitted at the same time.

    Attributes
    ----------
    estimator_ : classifier
        What gives the probabilities: the estimator, or the `CalibratedClassifierCV` around it, in which
        ``calibrated_classifiers_[k].estimator`` is that of fold k.
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted.
    pos_label_ : label
        The positive class, if there are two classes.
    cost_ : ndarray of shape (n_classes, n_classes)
        The matrix in use.
    train_prior_, prior_ : ndarray of shape (n_classes,)
        The shares of the classes in training, and where the model is used.
    n_features_in_ : int
        The number of columns, if the estimator tells it.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if the estimator tells them.

    References
    ----------
    .. [1] C. Elkan, "The foundations of cost-sensitive learning", International Joint Conference on Artificial
       Intelligence (2001) 973-978.
    .. [2] M. Saerens, P. Latinne, C. Decaestecker, "Adjusting the outputs of a classifier to new a priori
       probabilities: a simple procedure", Neural Computation 14 (2002) 21-41.

    Examples
    --------
    >>> from skewboost import LogitBoostClassifier, MinimumRiskClassifier
    >>> from skewboost.datasets import load_rare_cancer
    >>> X, y = load_rare_cancer()
    >>> clf = MinimumRiskClassifier(LogitBoostClassifier(n_estimators=30), cost=20, calibrate="sigmoid").fit(X, y)
    >>> print(f"recall {clf.predict(X)[y == 1].mean():.2f}")
    recall 1.00
    >>> print(clf.cost_)
    [[ 0.  1.]
     [20.  0.]]
    >>> misses = [0.1 if small else 20.0 for small in X["mean radius"] < 12]  # what a miss costs on each row
    >>> int((clf.predict(X) != clf.predict(X, sample_cost=misses)).sum())
    11
    """

    estimator_: Any
    classes_: Array
    pos_label_: Any
    cost_: Array
    train_prior_: Array
    prior_: Array

    def __init__(
        self,
        estimator: Any,
        *,
        cost: Any = None,
        calibrate: str | None = None,
        ensemble: bool | str = "auto",
        prior: Any = None,
        cv: Any = None,
        pos_label: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.cost = cost
        self.calibrate = calibrate
        self.ensemble = ensemble
        self.prior = prior
        self.cv = cv
        self.pos_label = pos_label
        self.n_jobs = n_jobs

    def __sklearn_tags__(self) -> Any:
        tags, inner = super().__sklearn_tags__(), get_tags(self.estimator)
        tags.input_tags = inner.input_tags
        tags.non_deterministic = inner.non_deterministic
        if inner.classifier_tags is not None:
            tags.classifier_tags.multi_class = inner.classifier_tags.multi_class
            tags.classifier_tags.poor_score = inner.classifier_tags.poor_score
        return tags

    def get_metadata_routing(self) -> MetadataRouter:
        """What is passed on: everything that `fit` is given, to the estimator."""
        router = MetadataRouter(owner=type(self).__name__).add_self_request(self)
        return router.add(estimator=self._source(), method_mapping=MethodMapping().add(caller="fit", callee="fit"))

    # ------------------------------------------------------------------------ fitting

    def fit(self, X: Any, y: Any, **params: Any) -> MinimumRiskClassifier:
        """Fit the estimator, and calibrate it.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            Whatever the estimator takes.
        y : array-like of shape (n_samples,)
            Class labels.
        **params : dict
            Passed on to the `fit` of the estimator: `sample_weight`, say, or the `sample_cost` of a booster. With
            metadata routing, those that it requests. The shares of the classes are weighted by `sample_weight`.

        Returns
        -------
        self
        """
        self._check_params()
        X, y = indexable(X, y)
        labels = check_labels(self, y, 0 if y is None else len(y))
        classes = classes_of(self, labels)
        if _routing():
            params = process_routing(self, "fit", **params).estimator.fit if params else {}
        shares, positive = self._shares_and_positive(labels, classes, params)
        prior = shares if self.prior is None else check_prior(self.prior, classes, shares, positive, self.pos_label)
        matrix = cost_matrix(self.cost, classes, positive, prior)
        self._check_folds(labels, classes)
        source = self._source()
        fitted = (clone(source) if source is self.estimator else source).fit(X, labels, **params)
        if not np.array_equal(fitted.classes_, classes):
            raise InputError(
                f"The estimator knows the classes {fitted.classes_.tolist()}, but y has {classes.tolist()}. Fit with "
                "examples of all of them."
            )
        self.estimator_, self.classes_, self.cost_ = fitted, classes, matrix
        self.train_prior_, self.prior_ = shares, prior
        for name, value in (
            ("pos_label_", positive),
            ("n_features_in_", getattr(fitted, "n_features_in_", None)),
            ("feature_names_in_", getattr(fitted, "feature_names_in_", None)),
        ):
            self.__dict__.pop(name, None)  # of an earlier fit
            if value is not None:
                setattr(self, name, value)
        return self

    def _source(self) -> Any:
        """What gives probabilities, not fitted."""
        if self.calibrate is None:
            return self.estimator
        cv = N_FOLDS if self.cv is None else self.cv
        source = CalibratedClassifierCV(
            self.estimator, method=self.calibrate, cv=cv, ensemble=self.ensemble, n_jobs=self.n_jobs
        )
        return source.set_fit_request(sample_weight=True) if _routing() else source

    def _check_params(self) -> None:
        check_params(
            self,
            calibrate=optional(one_of(*CALIBRATIONS)),
            ensemble=one_of("auto", True, False),
            n_jobs=N_JOBS,
        )
        if isinstance(self.cv, bool) or (isinstance(self.cv, int | np.integer) and not integer(2).passes(self.cv)):
            raise InputError(f"cv of MinimumRiskClassifier must be an integer >= 2, or a splitter; got {self.cv!r}.")
        if self.calibrate is None:
            for name, unset in (("cv", self.cv is None), ("ensemble", self.ensemble == "auto")):
                if not unset:
                    raise InputError(
                        f"{name}={getattr(self, name)!r} has no effect without calibration. Set calibrate, or leave "
                        f"{name} out."
                    )
        if self.calibrate == "temperature" and _version() < (1, 8):
            raise InputError(
                f"calibrate='temperature' needs scikit-learn 1.8, and this is {sklearn.__version__}. Set "
                "calibrate='sigmoid', or install a newer scikit-learn."
            )
        if isinstance(self.estimator, type):
            name = self.estimator.__name__
            raise InputTypeError(
                f"estimator is the class {name}; pass an instance: MinimumRiskClassifier({name}(...))."
            )
        if not hasattr(self.estimator, "fit") or not is_classifier(self.estimator):
            raise InputTypeError(f"estimator must be a classifier; got {self.estimator!r}.")
        if self.calibrate is None and not hasattr(self.estimator, "predict_proba"):
            raise InputError(
                f"{type(self.estimator).__name__} has no predict_proba to decide by. Set calibrate='sigmoid' to make "
                "probabilities of its scores, or take another estimator."
            )

    def _shares_and_positive(self, labels: Array, classes: Array, params: dict[str, Any]) -> tuple[Array, Any]:
        """The shares of the classes in training, and the positive one of two."""
        given = [value for name, value in params.items() if name.split("__")[-1] == "sample_weight"]
        weights = None
        if len(given) == 1 and given[0] is not None:
            weights = check_sample_weight(given[0], len(labels))
        shares = class_shares(labels, classes, weights)
        if not shares.all():
            raise InputError(f"All examples of {classes[shares == 0].tolist()} have the sample_weight 0. Drop them.")
        if len(classes) == 2:
            return shares, choose_positive(labels, classes, self.pos_label, weights)
        if self.pos_label is not None:
            raise InputError(f"pos_label={self.pos_label!r} has no effect: y has {len(classes)} classes.")
        return shares, None

    def _check_folds(self, labels: Array, classes: Array) -> None:
        """Whether there are enough of each class to hold some out."""
        n_folds = N_FOLDS if self.cv is None else getattr(self.cv, "n_splits", self.cv)
        if self.calibrate is None or not isinstance(n_folds, int | np.integer):
            return
        counts = np.bincount(np.searchsorted(classes, labels))
        if counts.min() < n_folds:
            raise InputError(
                f"calibrate={self.calibrate!r} with {n_folds} folds needs {n_folds} examples of each class, but there "
                f"are {counts.min()} of {classes.tolist()[int(counts.argmin())]!r}. Lower cv, or set calibrate=None."
            )

    # --------------------------------------------------------------------- prediction

    def predict_proba(self, X: Any) -> Array:
        """Class probabilities: of the estimator, calibrated and corrected to `prior`.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            New rows.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
        """
        check_is_fitted(self)
        p = np.asarray(self.estimator_.predict_proba(X), dtype=np.float64)
        same = np.array_equal(self.prior_, self.train_prior_)
        return p if same else correct_prior(p, self.train_prior_, self.prior_)

    def expected_costs(self, X: Any, sample_cost: Any = None) -> Array:
        """What each decision is expected to cost.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            New rows.
        sample_cost : array-like or None, default=None
            As in `predict`.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            A column for each decision, in the order of `classes_`.
        """
        p = self.predict_proba(X)
        if sample_cost is None:
            return expected_costs(p, self.cost_)
        positive = self.classes_.tolist().index(self.pos_label_) if len(self.classes_) == 2 else None
        return expected_costs(p, row_matrices(sample_cost, self.cost_, len(p), positive))

    def predict(self, X: Any, sample_cost: Any = None) -> Array:
        """Decide for the class of least expected cost.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            New rows.
        sample_cost : array-like of shape (n_samples,), (n_samples, K) or (n_samples, K, K), or None, default=None
            Costs of each row, where rows differ.

            - (n_samples,), two classes only: what a *miss* costs on the row, the amount of a payment, say. All else is
              as `cost` says: a false alarm costs 1, unless `cost` is a matrix or a dict that says otherwise.
            - (n_samples, K): what it costs to get the row wrong if it is of that class; right answers are free.
            - (n_samples, K, K): a matrix ``[true, predicted]`` for each row.

            Unlike the `sample_cost` that boosters are fitted with, which is about the one class that the row is known
            to be of, this says what could go wrong.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        costs = self.expected_costs(X, sample_cost)
        return np.asarray(self.classes_[costs.argmin(axis=1)])

    def decision_function(self, X: Any, sample_cost: Any = None) -> Array:
        """What the decision is worth: how much more the other costs, or minus the expected costs.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            New rows.
        sample_cost : array-like or None, default=None
            As in `predict`.

        Returns
        -------
        ndarray of shape (n_samples,), or (n_samples, n_classes) if there are more than two
            Positive where `predict` says ``classes_[1]``; the largest is what it says.
        """
        costs = self.expected_costs(X, sample_cost)
        return np.asarray(costs[:, 0] - costs[:, 1] if costs.shape[1] == 2 else -costs)


def _routing() -> bool:
    return bool(sklearn.get_config()["enable_metadata_routing"])


def _version() -> tuple[int, ...]:
    return tuple(int(part) for part in sklearn.__version__.split(".")[:2])
