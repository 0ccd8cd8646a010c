"""Many classes by a code: one two-class problem per column, and the class of the nearest codeword."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from typing import Any, Literal

import numpy as np
from scipy.sparse import issparse
from scipy.special import logsumexp
from sklearn import get_config
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import check_is_fitted, validate_data

from skewboost.boosting.estimator import CostChoice
from skewboost.boosting.variants.cs_adaboost import CSLogitBoostClassifier
from skewboost.boosting.variants.csra import CSLBClassifier
from skewboost.boosting.variants.logitboost import LogitBoostClassifier
from skewboost.engine.computed import ComputedTable
from skewboost.engine.table import as_frame, take_rows
from skewboost.errors import InputError, checked_by_scikit_learn
from skewboost.fitting import LogProbabilityMixin, restore_on_failure, seeded
from skewboost.learners.adapter import weight_name
from skewboost.meta import code_design
from skewboost.meta.cost_passing import take_params
from skewboost.meta.expected_cost import ExpectedCostMixin
from skewboost.meta.referral import check_refers_no_rows
from skewboost.meta.sampling_boosters import SampledBoostClassifier
from skewboost.metrics.costs import costs_of_mistakes, read_sample_cost
from skewboost.metrics.targets import check_labels, check_sample_weight, choose_positive, classes_of
from skewboost.parameters import CLASSIFIER, N_JOBS, check_params, check_random_state, integer, one_of, optional
from skewboost.typing import Array

RANDOM_CODES: dict[str, Callable[..., Array]] = {
    "dense": code_design.dense,
    "sparse": code_design.sparse,
    "bch": code_design.bch,
}
FIXED_CODES = {
    "exhaustive": code_design.exhaustive,
    "one_vs_rest": code_design.one_vs_rest,
    "one_vs_one": code_design.one_vs_one,
}
COST_SENSITIVE = (CostChoice, ExpectedCostMixin)
MIN_PROBABILITY = 1e-12  # probabilities of bits are clipped to this
LOGISTIC = (LogitBoostClassifier, CSLBClassifier, CSLogitBoostClassifier)  # all others have the exponential loss


@dataclass(eq=False, repr=False)
class CodeMatrixClassifier(LogProbabilityMixin, MetaEstimatorMixin, ClassifierMixin, BaseEstimator):
    r"""Many classes by an error-correcting output code, around any two-class variant or classifier.

    Class k has the codeword :math:`M_{k1} \dots M_{kL}`. For each column s a classifier is fitted that separates the
    classes with +1 from those with -1; classes with 0 are left out. A new row gets L predictions, and the class whose
    codeword is nearest to them. If any two codewords differ in at least d bits, the class is still correct if up to
    :math:`\lfloor (d - 1)/2 \rfloor` columns are wrong.

    Tables are passed to the classifiers unchanged, with their categories and missing values. So ``code="one_vs_one"``
    works with tables that scikit-learn's `OneVsOneClassifier`, which converts them to arrays, cannot use.

    *Costs*: a cost per class does not fit the two-class problems, which have other classes. Pass the cost of each row,
    ``fit(..., sample_cost=...)``, to a variant that accepts it. For a cost of each kind of error, put
    `MinimumRiskClassifier` around this classifier, preferably with ``decoding="probability"``. A variant whose ``cost``
    is None or ``"balanced"`` behaves in each column as usual, which mostly means that it balances the two sides.

    Parameters
    ----------
    estimator : classifier
        Fitted to each column, with the labels 0 and 1: a variant of this library, or any other classifier.
    code : {"dense", "sparse", "exhaustive", "bch", "one_vs_rest", "one_vs_one"}, matrix or dict, default="dense"
        A name, a matrix ``[class, column]`` in the order of `classes_` of 0 and 1, or of -1, 0 and +1 where 0 leaves
        the class out, or a dict ``{label: codeword}``. The names are:

        - ``"dense"``: ⌈10 log₂ K⌉ random columns of -1 and +1, the best of a thousand such codes by the minimum
          distance of two codewords [allwein2000]_. With up to five classes this is ``"exhaustive"``, since there are no
          more columns.
        - ``"sparse"``: ⌈15 log₂ K⌉ random columns that leave out half of the classes, chosen in the same way
        [allwein2000]_.
        - ``"exhaustive"``: all :math:`2^{K-1} - 1` columns, for up to 11 classes [dietterich1995]_.
        - ``"bch"``: a BCH code, for at least 8 classes [dietterich1995]_.
        - ``"one_vs_rest"``, ``"one_vs_one"``: one column per class, or per pair of classes.
    decoding : {"loss", "exponential", "logistic", "probability", "hamming"}, default="loss"
        The distance to a codeword. Ties go to the first class.

        - ``"hamming"``: the number of wrong bits, where an entry of 0 counts one half.
        - ``"exponential"``, ``"logistic"``: :math:`\sum_s \ell(M_{ks} f_s)` with :math:`\ell(z) = e^{-z}` or
          :math:`\ln(1 + e^{-2z})`, where :math:`f_s` is the decision function of column s, or half the log-odds of a
          classifier without one [allwein2000]_.
        - ``"loss"``: the loss of the variant: logistic for the LogitBoost family, exponential for all others.
        - ``"probability"``: minus :math:`\prod_s P(b_s = M_{ks})`, where an entry of 0 counts one half.
    code_size : int or None, default=None
        The number of columns of ``"dense"`` and ``"sparse"``, and the maximum number of ``"bch"``. None: as above.
    random_state : int, RandomState or None, default=None
        The seed of random codes, and of estimators that use random numbers.
    n_jobs : int or None, default=None
        The number of columns that are fitted in parallel. The result does not depend on it.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The class labels.
    code_ : ndarray of shape (n_classes, n_columns)
        The code, of -1, 0 and +1.
    estimators_ : list
        The classifier of each column.
    min_distance_ : float
        The minimum Hamming distance of two codewords, where an entry of 0 counts one half.
    n_correctable_ : int
        The number of wrong columns that ``"hamming"`` always corrects.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    References
    ----------
    .. [dietterich1995] T. G. Dietterich, G. Bakiri, "Solving multiclass learning problems via error-correcting output
       codes", Journal of Artificial Intelligence Research 2 (1995) 263-286.
    .. [allwein2000] E. L. Allwein, R. E. Schapire, Y. Singer, "Reducing multiclass to binary: a unifying approach for
       margin classifiers", Journal of Machine Learning Research 1 (2000) 113-141.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.model_selection import train_test_split
    >>> from skewboost import CodeMatrixClassifier, RealBoostClassifier
    >>> X, X_new, y, y_new = train_test_split(*load_wine(return_X_y=True), random_state=0)
    >>> clf = CodeMatrixClassifier(RealBoostClassifier(n_estimators=20), code="exhaustive").fit(X, y)
    >>> clf.code_
    array([[ 1,  1,  1],
           [-1, -1,  1],
           [-1,  1, -1]], dtype=int8)
    >>> print(clf.min_distance_, round(clf.score(X_new, y_new), 2))
    2.0 0.93
    """

    estimator: Any
    _: KW_ONLY
    code: Any = "dense"
    decoding: Literal["loss", "exponential", "logistic", "probability", "hamming"] = "loss"
    code_size: int | None = None
    random_state: Any = None
    n_jobs: int | None = None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        if hasattr(self.estimator, "fit"):
            inner = get_tags(self.estimator).input_tags
            tags.input_tags.allow_nan, tags.input_tags.sparse = inner.allow_nan, inner.sparse
            tags.input_tags.categorical, tags.input_tags.string = inner.categorical, inner.string
        return tags

    def get_metadata_routing(self) -> MetadataRouter:
        """Route all arguments of `fit` to `estimator`."""
        mapping = MethodMapping().add(caller="fit", callee="fit")
        return MetadataRouter(owner=type(self).__name__).add(estimator=self.estimator, method_mapping=mapping)

    # ------------------------------------------------------------------------ fitting

    def fit(self, X: Any, y: Any, sample_weight: Any = None, **fit_params: Any) -> CodeMatrixClassifier:
        """Fit a classifier to each column of the code.

        Parameters
        ----------
        X : array-like or table of shape (n_samples, n_features)
            Any input that `estimator` accepts.
        y : array-like of shape (n_samples,)
            Class labels.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            The number of examples that a row stands for; passed to `estimator`, which must accept it. Rows of weight
            0 are ignored.
        **fit_params : dict
            Other arguments of its `fit`. Arrays with one entry per row are split like the rows. With scikit-learn's
            metadata routing, only what `estimator` requests. `sample_cost` has one number per row and class of `y`:
            the cost of misclassifying the row if it is of that class.

        Returns
        -------
        self
        """
        with restore_on_failure(self):
            self._fit(X, y, sample_weight, fit_params)
        return self

    def _fit(self, X: Any, y: Any, sample_weight: Any, fit_params: dict[str, Any]) -> None:
        self._check_params()
        X = self._rows(X, reset=True)
        n_rows = X.shape[0]
        labels = check_labels(self, y, n_rows)
        params = {name: value for name, value in fit_params.items() if value is not None}
        rows = np.arange(n_rows)
        if sample_weight is not None:
            weights = check_sample_weight(sample_weight, n_rows)
            rows, params["sample_weight"] = np.flatnonzero(weights), weights
        classes = classes_of(self, labels[rows])
        params = self._routed({name: self._for_columns(name, value, labels, classes) for name, value in params.items()})
        rng = check_random_state(self.random_state)
        code = self._code(classes, rng)
        side = np.zeros((n_rows, code.shape[1]), dtype=np.int8)
        side[rows] = code[np.searchsorted(classes, labels[rows])]
        estimators = [seeded(self.estimator, lambda: int(rng.randint(2**31 - 1))) for _ in range(code.shape[1])]
        fitted = Parallel(n_jobs=self.n_jobs)(
            delayed(_fit_column)(estimator, X, column, params) for estimator, column in zip(estimators, side.T)
        )
        self.classes_, self.code_, self.estimators_ = classes, code, fitted

    def _for_columns(self, name: str, value: Any, labels: Array, classes: Array) -> Any:
        """Return an argument of `fit` for columns, whose classes are other ones: costs of rows by their true class."""
        if name.rpartition("__")[2] != "sample_cost":
            return value
        costs, known = read_sample_cost(value, len(labels)), np.isin(labels, classes)
        positive = choose_positive(labels[known], classes) if len(classes) == 2 else None
        each = np.ones(len(labels))  # those of classes with weight 0 only are not used
        each[known] = costs_of_mistakes(costs[known], None, labels[known], classes, positive)
        return np.column_stack((each, each))

    @checked_by_scikit_learn()
    def _rows(self, X: Any, reset: bool) -> Any:
        """Tables and sparse matrices unchanged, anything else as an array; the estimators check the cells."""
        if issparse(X) or isinstance(X, ComputedTable) or as_frame(X) is not None:
            return validate_data(self, X, skip_check_array=True, reset=reset)
        return validate_data(self, X, reset=reset, dtype=None, ensure_all_finite=False)

    def _check_params(self) -> None:
        check_params(
            self,
            estimator=CLASSIFIER,
            decoding=one_of("loss", "exponential", "logistic", "probability", "hamming"),
            code_size=optional(integer(1)),
            n_jobs=N_JOBS,
        )
        estimator = self.estimator
        if isinstance(self.code, str) and self.code not in (*RANDOM_CODES, *FIXED_CODES):
            names = ", ".join(map(repr, (*RANDOM_CODES, *FIXED_CODES)))
            raise InputError(
                f"code must be one of {names}, a matrix, or a dict {{label: codeword}}; got {self.code!r}."
            )
        if self.code_size is not None and not (isinstance(self.code, str) and self.code in RANDOM_CODES):
            raise InputError(
                f"code_size={self.code_size} only has an effect with the codes 'dense', 'sparse' and 'bch'.",
                "Leave it at None.",
            )
        check_refers_no_rows(type(self).__name__, estimator)
        for part in (estimator, *estimator.get_params().values()):
            cost = getattr(part, "cost", None)
            if isinstance(part, COST_SENSITIVE) and not (cost is None or isinstance(cost, str)):
                raise InputError(
                    f"cost={cost!r} of {type(part).__name__} does not fit the columns of a code, whose classes are 0 "
                    "and 1.",
                    "Leave it at None and pass the cost of each row, fit(sample_cost=...), or put "
                    "MinimumRiskClassifier around CodeMatrixClassifier.",
                )
        either = {"probability": ["predict_proba"], "hamming": ["predict"]}
        methods = either.get(self.decoding, ["decision_function", "predict_proba"])
        if not any(hasattr(estimator, name) for name in methods):
            raise InputError(
                f"decoding={self.decoding!r} needs {' or '.join(methods)}, but {type(estimator).__name__} does not "
                f"have {'either' if len(methods) > 1 else 'it'}.",
                "Set decoding='hamming'.",
            )

    def _routed(self, params: dict[str, Any]) -> dict[str, Any]:
        """The arguments for the `fit` of the columns' estimators."""
        if get_config().get("enable_metadata_routing"):
            return dict(process_routing(self, "fit", **params).estimator.fit)
        if "sample_weight" in params:
            name = weight_name(self.estimator)
            if name is None:
                raise InputError(
                    f"{type(self.estimator).__name__} does not accept sample_weight.",
                    "Leave it out, or choose another estimator.",
                )
            params[name] = params.pop("sample_weight")
        return params

    def _code(self, classes: Array, rng: np.random.RandomState) -> Array:
        if not isinstance(self.code, str):
            return code_design.given_code(self.code, classes)
        if self.code in FIXED_CODES:
            return FIXED_CODES[self.code](len(classes))
        return RANDOM_CODES[self.code](len(classes), None if self.code_size is None else int(self.code_size), rng)

    @property
    def min_distance_(self) -> float:
        """The minimum Hamming distance of two codewords."""
        check_is_fitted(self)
        return code_design.min_distance(self.code_)

    @property
    def n_correctable_(self) -> int:
        """The number of wrong columns that ``"hamming"`` always corrects."""
        check_is_fitted(self)
        return code_design.n_correctable(self.code_)

    # --------------------------------------------------------------------- prediction

    def _scores(self, X: Any) -> Array:
        """Scores ``[row, class]`` of the codewords, rounded so that the order of columns does not matter."""
        check_is_fitted(self)
        X = self._rows(X, reset=False)
        method = {"hamming": _bits, "probability": _probability}.get(self.decoding, _margin)
        predictions = Parallel(n_jobs=self.n_jobs, prefer="threads")(delayed(method)(e, X) for e in self.estimators_)
        return np.round(decode(np.column_stack(predictions), self.code_, self._loss), 10)

    @property
    def _loss(self) -> str:
        if self.decoding != "loss":
            return self.decoding
        booster = self.estimator
        while isinstance(booster, Pipeline):
            booster = booster.steps[-1][1]
        if isinstance(booster, SampledBoostClassifier) and booster.variant is not None:
            booster = booster._boosted()
        return "logistic" if isinstance(booster, LOGISTIC) else "exponential"

    def decision_function(self, X: Any) -> Array:
        r"""The score of each class: the nearer its codeword, the larger.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            New rows, with the columns of training.

        Returns
        -------
        ndarray of shape (n_samples, n_classes), or (n_samples,) for two classes: the second minus the first
            ``"hamming"``: minus the distance. ``"exponential"``: :math:`-\ln \sum_s e^{-M_{ks} f_s}`. ``"logistic"``:
            :math:`-\sum_s \ln(1 + e^{-2 M_{ks} f_s})`. ``"probability"``: :math:`\sum_s \ln P(b_s = M_{ks})`.
        """
        scores = self._scores(X)
        return scores[:, 1] - scores[:, 0] if len(self.classes_) == 2 else scores

    def predict(self, X: Any) -> Array:
        """The class of the nearest codeword; the first class in case of a tie.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            New rows, with the columns of training.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        best = np.argmax(self._scores(X), axis=1)
        return np.asarray(self.classes_[best])

    def predict_proba(self, X: Any) -> Array:
        r"""Class probabilities; `predict` returns the class with the largest.

        ``"probability"`` and ``"logistic"``: the posterior :math:`\propto \prod_s P(b_s = M_{ks})`, which assumes
        that the errors of the columns are independent and that all classes are equally frequent. Errors are not
        independent, so it is overconfident. ``"exponential"``: :math:`\propto 1/\sum_s e^{-M_{ks} f_s}`.
        ``"hamming"``: the proportion of the columns that agree with the codeword, normalised. The latter two only rank
        the classes: calibrate them (scikit-learn's `CalibratedClassifierCV`) before you use them with costs.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            New rows, with the columns of training.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
        """
        scores = self._scores(X)
        if self.decoding == "hamming":
            agreeing = self.code_.shape[1] + scores
            return np.asarray(agreeing / agreeing.sum(axis=1, keepdims=True))
        return np.asarray(np.exp(scores - logsumexp(scores, axis=1, keepdims=True)))


def _fit_column(estimator: Any, X: Any, side: Array, params: dict[str, Any]) -> Any:
    """Fit an estimator to separate +1 from -1; rows with 0 are left out."""
    rows = np.flatnonzero(side)
    target = (side > 0).astype(np.intp)
    if len(rows) == len(side):
        return estimator.fit(X, target, **params)
    return estimator.fit(take_rows(X, rows), target[rows], **take_params(params, rows, len(side)))


# ------------------------------------------------------------------------- decoding


def _bits(estimator: Any, X: Any) -> Array:
    """The predicted bits as -1 and +1."""
    return 2.0 * np.asarray(estimator.predict(X)) - 1.0


def _probability(estimator: Any, X: Any) -> Array:
    """The probability that the bit is 1."""
    return np.asarray(estimator.predict_proba(X))[:, 1]


def _margin(estimator: Any, X: Any) -> Array:
    """The decision function, or half the log-odds of a classifier without one."""
    if hasattr(estimator, "decision_function"):
        return np.asarray(estimator.decision_function(X), dtype=np.float64)
    p = np.clip(_probability(estimator, X), MIN_PROBABILITY, 1.0 - MIN_PROBABILITY)
    return np.asarray(0.5 * (np.log(p) - np.log1p(-p)))


def decode(predictions: Array, code: Array, decoding: str) -> Array:
    """Scores ``[row, class]`` of the codewords, from predictions ``[row, column]``; the largest is the nearest."""
    signs = code.astype(np.float64)
    if decoding == "hamming":  # bits -1 and +1: (L - M b)/2 disagree, an entry of 0 counts one half
        return np.asarray(-(code.shape[1] - predictions @ signs.T) / 2.0)
    if decoding == "probability":  # an entry of 0: ln ½
        p = np.clip(predictions, MIN_PROBABILITY, 1.0 - MIN_PROBABILITY)
        unknown = (code == 0).sum(axis=1) * np.log(0.5)
        return np.asarray(np.log(p) @ (signs > 0).T + np.log1p(-p) @ (signs < 0).T + unknown)
    scores = np.empty((len(predictions), len(code)))
    for k, word in enumerate(signs):
        z = predictions * word
        scores[:, k] = -logsumexp(-z, axis=1) if decoding == "exponential" else -np.logaddexp(0.0, -2.0 * z).sum(axis=1)
    return scores
