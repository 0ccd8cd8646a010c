"""The decision of least expected cost, around any classifier."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

import numpy as np
import sklearn
from joblib import effective_n_jobs
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin
from sklearn.calibration import CalibratedClassifierCV
from sklearn.frozen import FrozenEstimator
from sklearn.utils import get_tags, indexable
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.validation import check_is_fitted

from skewboost.engine.table import as_frame, take_rows
from skewboost.errors import InputError, checked_by_scikit_learn
from skewboost.fitting import LogProbabilityMixin, last_step, restore_on_failure
from skewboost.fold_rows import check_groups, folds_of_examples, given_folds, own_folds, uses_groups
from skewboost.meta.calibrated_folds import CalibratedFolds
from skewboost.meta.cost_free import CostFree, OfLabels
from skewboost.meta.cost_passing import cost_param_of, take_params
from skewboost.meta.expected_cost import ExpectedCostMixin
from skewboost.meta.inner_labels import with_pos_label
from skewboost.meta.portfolio.portfolio_costs import PortfolioCosts, check_gives_probabilities
from skewboost.metrics.costs import cost_matrix
from skewboost.metrics.inputs import class_shares
from skewboost.metrics.priors import check_prior, correct_prior
from skewboost.metrics.targets import check_labels, check_sample_weight, choose_positive, classes_of, known_labels
from skewboost.parameters import CLASSIFIER, N_JOBS, check_params, integer, one_of, optional
from skewboost.typing import Array

CALIBRATIONS = ("sigmoid", "isotonic", "temperature")
N_FOLDS = 5


@dataclass(eq=False, repr=False)
class MinimumRiskClassifier(ExpectedCostMixin, LogProbabilityMixin, ClassifierMixin, MetaEstimatorMixin, BaseEstimator):
    r"""Predict the class of least expected cost, from the probabilities of any classifier.

    The prediction is :math:`\arg\min_k \sum_j P(j|x) \, C_{jk}` for costs :math:`C_{jk}` of predicting k where j is
    true [elkan2001]_. With two classes and no cost of correct predictions it is positive where
    :math:`P(+|x) > C_{-+} / (C_{-+} + C_{+-})`. Ties go to the first class. The matrix may also have costs of correct
    predictions, and each row may have its own costs.

    The predictions are only as good as the probabilities. Boosters on few rows are overconfident, and that matters more
    the further the threshold is from ½: set ``calibrate``. A cost-sensitive booster such as `CSRAClassifier` uses the
    costs in training and concentrates on the rows near the decision boundary. With this class, the costs can change
    after training, and may be K x K matrices or differ from row to row at prediction time. `SkewBoostClassifier`
    decides in the same way, from probabilities that were better on average than those of any booster measured.

    Parameters
    ----------
    estimator : classifier
        A classifier with `predict_proba`, or with `decision_function` if ``calibrate`` is set. It is cloned and fitted.
        To use a model that is already fitted, pass ``sklearn.frozen.FrozenEstimator(model)``.
    cost : number, "balanced", dict, matrix or None, default=None
        A number (two classes: the cost of a false negative; a false positive costs 1), ``{label: cost of
        misclassifying it}``, a matrix ``cost[true, predicted]`` with the classes in sorted order (or a pandas table
        with their names), or "balanced": the cost of a class is inversely proportional to its frequency where the
        model is used. None is "balanced". With ``cost=1`` the most probable class is predicted.
    calibrate : "sigmoid", "isotonic", "temperature" or None, default=None
        Calibrate the probabilities on held-out folds, with scikit-learn's `CalibratedClassifierCV`. A sigmoid works
        with few examples of a class. Isotonic regression needs more of them, and returns 0 or 1 where a step is pure,
        which no cost can overrule. Temperature scaling, a single factor of the log-odds, is meant for many classes and
        needs scikit-learn 1.8. What is calibrated does not contain the costs of the estimator.
    ensemble : bool or "auto", default="auto"
        True: average the estimators of all folds, each with its own calibration. False: one estimator fitted to all
        rows, with one calibration from all folds. "auto": True, unless the estimator is frozen. An ensemble takes
        longer to predict and is more accurate, in particular on few rows.
    prior : number, dict, array-like or None, default=None
        The class frequencies where the model is used, if they differ from those in training: the proportion of the
        positive class, ``{label: proportion}``, or an array in the order of the sorted classes. Probabilities are then
        corrected [saerens2002]_. This assumes that the probabilities of the estimator reflect the training frequencies;
        with `class_weight="balanced"` they do not, unless it is calibrated. `estimate_prior` estimates the frequencies
        from unlabelled rows.
    cv : int, splitter, iterable or None, default=None
        The folds of `calibrate`. None: 5 stratified folds, without shuffling, or with `groups` 5 folds that keep them
        together, as for an integer. Folds of a splitter that have not all classes to train on, such as the first ones
        of ``TimeSeriesSplit()``, are left out. With ``ensemble=False`` each row must be held out once.
    pos_label : label or None, default=None
        The positive class of two. None: the rarer class, or the larger label if both are equally frequent.
    n_jobs : int or None, default=None
        The number of folds of `calibrate` that are fitted in parallel.

    Attributes
    ----------
    estimator_ : classifier
        The fitted source of the probabilities: the estimator, or with `calibrate` an object with ``folds``, where
        ``folds[k].estimator`` is the estimator of fold k and ``folds[k].calibrators`` its calibrators
        (``calibrate="temperature"``: scikit-learn's `CalibratedClassifierCV`).
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted.
    pos_label_ : label
        The positive class, if there are two classes.
    cost_ : ndarray of shape (n_classes, n_classes)
        The cost matrix. `cost` may be set after `fit`, since the probabilities do not depend on it.
    train_prior_, prior_ : ndarray of shape (n_classes,)
        The class frequencies in training, and where the model is used.
    n_features_in_ : int
        The number of features, if the estimator has this attribute.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        The names of the features, if the estimator has this attribute.

    References
    ----------
    .. [elkan2001] C. Elkan, "The foundations of cost-sensitive learning", International Joint Conference on Artificial
       Intelligence (2001) 973-978.
    .. [saerens2002] M. Saerens, P. Latinne, C. Decaestecker, "Adjusting the outputs of a classifier to new a priori
       probabilities: a simple procedure", Neural Computation 14 (2002) 21-41.

    Examples
    --------
    >>> from sklearn.model_selection import train_test_split
    >>> from skewboost import LogitBoostClassifier, MinimumRiskClassifier
    >>> from skewboost.datasets import load_rare_cancer
    >>> X, y = load_rare_cancer()
    >>> X, X_new, y, y_new = train_test_split(X, y, stratify=y, random_state=0)
    >>> clf = MinimumRiskClassifier(LogitBoostClassifier(n_estimators=30), cost=20, calibrate="sigmoid").fit(X, y)
    >>> print(f"recall {clf.predict(X_new)[y_new == 1].mean():.2f}")
    recall 1.00
    >>> print(clf.cost_)
    [[ 0.  1.]
     [20.  0.]]
    >>> costs = [0.1 if small else 20.0 for small in X_new["mean radius"] < 12]  # of a false negative, per row
    >>> int((clf.predict(X_new) != clf.predict(X_new, sample_cost=costs)).sum())
    10
    """

    __metadata_request__fit: ClassVar[dict[str, bool]] = {"groups": True}

    estimator: Any
    _: KW_ONLY
    cost: Any = None
    calibrate: str | None = None
    ensemble: bool | str = "auto"
    prior: Any = None
    cv: Any = None
    pos_label: Any = None
    n_jobs: int | None = None

    def __sklearn_tags__(self) -> Any:
        tags, inner = super().__sklearn_tags__(), get_tags(self.estimator)
        tags.input_tags = inner.input_tags
        tags.non_deterministic = inner.non_deterministic
        if inner.classifier_tags is not None:
            tags.classifier_tags.multi_class = inner.classifier_tags.multi_class
            tags.classifier_tags.poor_score = inner.classifier_tags.poor_score
        return tags

    @property
    def _holds_out(self) -> bool:
        """Whether `groups` have an effect."""
        return self.calibrate is not None or uses_groups(self.estimator)

    @property
    def _passes_params_to(self) -> Any:
        return self._source()

    def get_metadata_routing(self) -> MetadataRouter:
        """Route all arguments of `fit` to the estimator; `groups` are for the folds of calibration, too."""
        router = MetadataRouter(owner=type(self).__name__).add_self_request(self)
        return router.add(estimator=self._source(), method_mapping=MethodMapping().add(caller="fit", callee="fit"))

    # ------------------------------------------------------------------------ fitting

    def fit(self, X: Any, y: Any, groups: Any = None, **params: Any) -> MinimumRiskClassifier:
        """Fit the estimator, and calibrate it.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            Any input that the estimator accepts.
        y : array-like of shape (n_samples,)
            Class labels.
        groups : array-like of shape (n_samples,) or None, default=None
            Which rows belong together, such as those of a patient. Rows of a group are in the same fold of `calibrate`.
            The `fit` of the estimator gets them too if it splits rows, as boosters with early stopping do. Raises if
            neither is the case.
        **params : dict
            Passed to the `fit` of the estimator, for example `sample_weight`, or the `sample_cost` of a booster. With
            metadata routing, only what the estimator requests. `train_prior_` is weighted by `sample_weight`, and rows
            of weight 0 are left out.

        Returns
        -------
        self
        """
        with restore_on_failure(self):
            self._fit(X, y, groups, params)
        return self

    def _fit(self, X: Any, y: Any, groups: Any, params: dict[str, Any]) -> None:
        self._check_params()
        with checked_by_scikit_learn():
            as_frame(X)  # says how to read a table that is not in memory
            X, y = indexable(X, y)
        labels = check_labels(self, y, 0 if y is None else len(y))
        params = self._params_of_estimator(groups, params)
        weights = _weights(params, len(labels))
        present = np.arange(len(labels)) if weights is None else np.flatnonzero(weights)
        lost = np.setdiff1d(labels, labels[present])
        if len(lost) and len(np.unique(labels[present])) == 1:
            raise InputError(
                f"All rows of the classes {lost.tolist()} have sample_weight 0, so that one class is left.",
                "Give some of them a weight above 0.",
            )
        classes = classes_of(self, labels[present])
        cv = self._folds(labels, groups, present)
        if weights is not None and len(present) < len(labels):  # scikit-learn would put rows of weight 0 into its folds
            X, params = take_rows(X, present), take_params(params, present, len(labels))
            labels, weights = labels[present], weights[present]
        frequencies = class_shares(labels, classes, weights)
        positive = self._positive_of(labels, classes, weights)
        self.train_prior_ = self.prior_ = frequencies
        if self.prior is not None:
            self.prior_ = check_prior(self.prior, classes, frequencies, positive, self.pos_label)
        self.classes_ = classes
        self._keep_costs(cost_matrix(self.cost, classes, positive, self.prior_))
        self._check_folds(labels, classes)
        source = self._source(cv, classes)
        with known_labels(workers=effective_n_jobs(self.n_jobs) > 1):
            fitted = with_pos_label(source, classes, positive).fit(X, labels, **params)
        if not np.array_equal(fitted.classes_, classes):
            raise InputError(
                f"The fitted estimator has the classes {fitted.classes_.tolist()}, but y has {classes.tolist()}.",
                "Fit with examples of all of them.",
            )
        for name, value in (
            ("pos_label_", positive),
            ("n_features_in_", getattr(fitted, "n_features_in_", None)),
            ("feature_names_in_", getattr(fitted, "feature_names_in_", None)),
        ):
            self.__dict__.pop(name, None)  # of an earlier fit
            if value is not None:
                setattr(self, name, value)
        self.estimator_ = CalibratedFolds.of(fitted) if self.calibrate in ("sigmoid", "isotonic") else fitted

    def _params_of_estimator(self, groups: Any, params: dict[str, Any]) -> dict[str, Any]:
        """The arguments for the `fit` of the estimator."""
        if isinstance(last_step(self.estimator), PortfolioCosts):
            for name in params:
                if name.rpartition("__")[2] == "sample_cost":
                    raise InputError(
                        f"{name} has no effect on the training of {type(last_step(self.estimator)).__name__}.",
                        "Pass it to predict: predict(X, sample_cost=...).",
                    )
        if groups is None:
            given = params
        elif self._holds_out:
            given = {"groups": groups, **params}
        else:
            raise InputError(
                "groups have no effect, because neither MinimumRiskClassifier nor its estimator splits rows.",
                "Set calibrate, or leave them out.",
            )
        if _routing():
            return dict(process_routing(self, "fit", **given).estimator.fit) if given else {}
        return given if uses_groups(self.estimator) else params

    def _folds(self, labels: Array, groups: Any, present: Array) -> Any:
        """The folds of calibration, as scikit-learn expects them for the rows that have a weight."""
        whole = self.cv is None or isinstance(self.cv, int | np.integer)
        n_folds = N_FOLDS if self.cv is None else self.cv
        if self.calibrate is None or (groups is None and whole):
            return n_folds
        units = None if groups is None else check_groups(groups, len(labels))
        numbers = np.unique(labels[present], return_inverse=True)[1]
        if not whole:  # splits are of the rows as given
            return folds_of_examples(given_folds(self.cv, labels, units), present, numbers)
        assert units is not None
        units = np.unique(units[present], return_inverse=True)[1]
        n_units = min(len(np.unique(units[numbers == k])) for k in range(int(numbers.max()) + 1))
        folds = own_folds(numbers, units, min(int(n_folds), n_units), 1, 0)
        if folds is None:
            raise InputError(
                f"calibrate={self.calibrate!r} needs at least two groups with examples of each class.",
                "Provide more groups, or set calibrate=None.",
            )
        return folds_of_examples(folds, np.arange(len(numbers)), numbers)

    def _source(self, cv: Any = N_FOLDS, classes: Any = ()) -> Any:
        """The unfitted source of the probabilities."""
        estimator, ensemble = self.estimator, self.ensemble
        if self.calibrate is None:
            return estimator
        ensemble = not isinstance(estimator, FrozenEstimator) if ensemble == "auto" else ensemble
        labels = np.asarray(classes)
        if self._scores_have_costs(len(classes)):
            estimator = CostFree(estimator, labels=labels, of_classes=self.calibrate != "temperature")
        elif not ensemble and labels.dtype.kind not in "iu":
            estimator = OfLabels(estimator, labels=labels)
        source = CalibratedClassifierCV(estimator, method=self.calibrate, cv=cv, ensemble=ensemble, n_jobs=self.n_jobs)
        return source.set_fit_request(sample_weight=True) if _routing() else source

    def _scores_have_costs(self, n_classes: int) -> bool:
        """Whether the scores of the estimator may contain costs that the calibration would take for probability.

        The log-odds of two classes contain costs as a constant, which sigmoids and isotonic regression leave out.
        """
        if not hasattr(self.estimator, "predict_proba"):
            return False
        fitted = isinstance(self.estimator, FrozenEstimator)
        name = cost_param_of(self.estimator.estimator if fitted else self.estimator) or ""
        return self.calibrate == "temperature" or (n_classes > 2 and name.rpartition("__")[2] == "cost")

    def _check_params(self) -> None:
        check_params(
            self,
            estimator=CLASSIFIER,
            calibrate=optional(one_of(*CALIBRATIONS)),
            ensemble=one_of("auto", True, False),
            n_jobs=N_JOBS,
        )
        check_gives_probabilities(type(self).__name__, self.estimator)
        if isinstance(self.cv, bool) or (isinstance(self.cv, int | np.integer) and not integer(2).passes(self.cv)):
            raise InputError(f"cv of MinimumRiskClassifier must be an integer >= 2, or a splitter; got {self.cv!r}.")
        if self.calibrate is None:
            for name, unset in (("cv", self.cv is None), ("ensemble", self.ensemble == "auto")):
                if not unset:
                    raise InputError(
                        f"{name}={getattr(self, name)!r} has no effect without calibration.",
                        f"Set calibrate, or leave {name} out.",
                    )
        if self.calibrate == "temperature" and _version() < (1, 8):
            raise InputError(
                f"calibrate='temperature' needs scikit-learn 1.8, but {sklearn.__version__} is installed.",
                "Set calibrate='sigmoid', or install a newer scikit-learn.",
            )
        if self.calibrate is None and not hasattr(self.estimator, "predict_proba"):
            raise InputError(
                f"{type(self.estimator).__name__} has no predict_proba.",
                "Set calibrate='sigmoid' to compute probabilities from its scores, or choose another estimator.",
            )

    def _positive_of(self, labels: Array, classes: Array, weights: Array | None) -> Any:
        """The positive class of two."""
        if len(classes) == 2:
            return choose_positive(labels, classes, self.pos_label, weights)
        if self.pos_label is not None:
            raise InputError(f"pos_label={self.pos_label!r} has no effect, because y has {len(classes)} classes.")
        return None

    def _check_folds(self, labels: Array, classes: Array) -> None:
        """Check that every class has enough rows for the folds."""
        n_folds = N_FOLDS if self.cv is None else self.cv
        if self.calibrate is None or not isinstance(n_folds, int | np.integer):
            return
        counts = np.bincount(np.searchsorted(classes, labels))
        if counts.min() < n_folds:
            raise InputError(
                f"calibrate={self.calibrate!r} with {n_folds} folds needs {n_folds} examples of each class, but there "
                f"are {counts.min()} of {classes.tolist()[int(counts.argmin())]!r}.",
                "Lower cv, or set calibrate=None.",
            )

    # --------------------------------------------------------------------- prediction

    @property
    def _shares(self) -> Array:
        return self.prior_

    def predict_proba(self, X: Any) -> Array:
        """Class probabilities of the estimator, calibrated and corrected to `prior`.

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

    def predict(self, X: Any, sample_cost: Any = None) -> Array:
        """Predict the class of least expected cost.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            New rows.
        sample_cost : array-like of shape (n_samples,), (n_samples, K) or (n_samples, K, K), or None, default=None
            Costs of the individual rows.

            - (n_samples,), two classes only: the cost of missing the positive class, such as the amount of a payment.
              All other costs are those of `cost`; a false alarm costs 1, unless `cost` is a dict or a matrix.
            - (n_samples, K): the cost of misclassifying the row if it is of that class.
            - (n_samples, K, K): a matrix ``[true, predicted]`` for each row.

            It means the same in the `fit` of estimators that use costs in training.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        costs = self.expected_costs(X, sample_cost)
        return np.asarray(self.classes_[costs.argmin(axis=1)])

    def decision_function(self, X: Any, sample_cost: Any = None) -> Array:
        """The difference of the expected costs of two classes, or minus the expected cost of each of several.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            New rows.
        sample_cost : array-like or None, default=None
            As in `predict`.

        Returns
        -------
        ndarray of shape (n_samples,), or (n_samples, n_classes) if there are more than two
            Positive where `predict` returns ``classes_[1]``; of several classes the one with the largest value.
        """
        costs = self.expected_costs(X, sample_cost)
        return np.asarray(costs[:, 0] - costs[:, 1] if costs.shape[1] == 2 else -costs)


def _weights(params: dict[str, Any], n_rows: int) -> Array | None:
    """The weights of the rows among the arguments of `fit`; None if there are none, or of several steps."""
    given = [value for name, value in params.items() if name.rpartition("__")[2] == "sample_weight"]
    return check_sample_weight(given[0], n_rows) if len(given) == 1 and given[0] is not None else None


def _routing() -> bool:
    return bool(sklearn.get_config()["enable_metadata_routing"])


def _version() -> tuple[int, ...]:
    return tuple(int(part) for part in sklearn.__version__.split(".")[:2])
