"""The classifier to take: say what mistakes cost, or what must be reached, and leave the rest to the defaults."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from sklearn import get_config
from sklearn.utils.validation import check_is_fitted

from skewboost.errors import InputError
from skewboost.goals.certificate import answers_of, check_answers
from skewboost.goals.goal import Goal
from skewboost.goals.goal_search import GoalSearchCV
from skewboost.goals.trials import above
from skewboost.goals.unreachable import GoalNotReachableError
from skewboost.meta.portfolio.portfolio_classifier import PortfolioClassifier
from skewboost.meta.referral import with_referred
from skewboost.metrics.costs import cost_matrix
from skewboost.metrics.counts import check_scores
from skewboost.parameters import FRACTION, check_params
from skewboost.typing import Array

# What a search for a goal leaves; `lower_threshold_` only if rows may be referred
GOAL_ATTRIBUTES = ("certificate_", "threshold_", "lower_threshold_")

# What to do if a goal is not reached, by the parameter of the search that could be changed
REMEDIES = {
    "allow_unmet": "GoalSearchCV(goal=..., allow_unmet=True) returns the closest model.",
    "confidence": "Get more examples or a lower confidence. GoalSearchCV(goal=..., confidence=None) promises nothing.",
}


@dataclass(kw_only=True, eq=False, repr=False)
class SkewBoostClassifier(PortfolioClassifier):
    r"""The classifier to take if one class is rare, or one kind of mistake costs more than the other.

    It trains a portfolio of boosted trees, forests and a logistic regression, and weights them by their predictions of
    rows that they were not trained on. Costs do not change the training: they enter the decision only, which is the
    class of least expected cost by the probabilities. On the 28 lopsided tables that its defaults were chosen on, its
    decisions were cheaper on average than those of CatBoost, LightGBM, XGBoost, random forests and AdaBoost
    (docs/portfolio.md).

    1. Boosters minimise the log-loss, on random samples of rows and columns with an L2 penalty, one with the best and
       one with randomly drawn thresholds. They are trained on cross-validation folds until the loss over all held-out
       rows no longer decreases.
    2. Forests with random thresholds are judged by the trees whose bootstrap samples lack a row. One of them also knows
       the principal components of the columns of numbers [rodriguez2006]_.
    3. A logistic regression, whose L2 penalty is chosen on the same folds, knows what trees need many splits for.
    4. The score is the weighted sum of their log-odds. The weights minimise the log-loss of the held-out scores and are
       shrunk towards equal ones; a family that does not help gets the weight zero.
    5. The boosters that have a weight are trained again on all rows, for the number of rounds that was found.

    Parameters
    ----------
    cost : number, "balanced", dict, matrix or None, default=None
        A number (two classes: the cost of a miss, in false alarms), ``{label: cost of misclassifying it}``, a matrix
        ``cost[true, predicted]`` with the classes in sorted order (or a pandas table with their names), or "balanced":
        the cost of a class is inversely proportional to its frequency. None is "balanced". With a goal it is what
        mistakes cost in the goal's measure `expected_cost`, and None otherwise.
    reject_cost : float or None, default=None
        What it costs to refer a row to somebody else, in the unit of `cost`. `predict` then returns `reject_label`
        where every decision has a higher expected cost. Raises if that is so for no probabilities (of more than 300
        classes this is not checked).
    reject_label : label or None, default=None
        The prediction for referred rows. None: -1 if labels are numbers, else "refer".
    goal : str, Goal or None, default=None
        What must be reached, such as ``"recall >= 95%"``: see `GoalSearchCV`. Then some rows are held out, the model is
        fitted to the others, and its threshold is chosen so that the goal holds on new rows with the given confidence.
        With ``"precision >= 90% and referred_share <= 10%"`` up to a tenth of the rows is referred. Two classes only.
    confidence : float, default=0.9
        The confidence of the certificate of a goal.
    effort : {"quick", "default", "thorough"}, default="default"
        How much is trained. Compared with the default, "quick" (one booster, one forest, the regression, four folds)
        takes about 60 % of the time, and "thorough" (seven families, more members, three repetitions of the folds if a
        class has fewer than a hundred examples) four times as long, which made no measurable difference on the average
        of 25 tables (docs/portfolio.md).
    cv : int, splitter, iterable or None, default=None
        The folds: their number, or a splitter such as ``TimeSeriesSplit()`` if rows are ordered in time (for a goal,
        the latest rows are then held out). None: from 3 to 8 stratified folds, depending on the number of rows.
    monotonic_cst : array-like of int, dict or None, default=None
        Whether P(classes_[1]) must rise (1) or fall (-1) with a column: one number per column, 0 for no constraint, or
        a dict by name. For two classes, and columns of numbers. The constraint holds exactly, everywhere.
    interaction_cst : "pairwise", "no_interactions", sequence of sets or None, default=None
        Which columns may act together, as in scikit-learn's gradient boosting: sets of their numbers or names; columns
        in no set form another one. The log-odds are then a sum of functions of these sets, and forests, whose log-odds
        would not be, are left out. (With either constraint there are no principal components, which mix columns.)
    pos_label : label or None, default=None
        The positive class of two. None: the rarer class, or the larger label if both are equally frequent.
    random_state : int, RandomState or None, default=None
        The seed of folds and samples.
    n_jobs : int or None, default=None
        The number of threads; None is 1, -1 is all cores. It does not change the result.
    verbose : int, default=0
        Whether to show what is being trained, and how much of it is done, on stderr.
    engine : {"auto", "cpu", "reference"}, default="auto"
        The implementation: compiled, or in NumPy.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted.
    pos_label_ : label
        The positive class, if there are two classes.
    cost_ : ndarray of shape (n_classes, n_classes)
        The cost matrix. `cost` may be set after `fit`, since training does not depend on it; not with a goal. With a
        goal and without `cost`, all mistakes cost 1.
    reject_label_ : label
        With `reject_cost`, or a goal on `referred_share`: the prediction for referred rows.
    search_ : dict of lists
        What was tried: the families with their number of rounds, held-out log-loss and weight, as a table:
        ``pandas.DataFrame(clf.search_)``.
    stop_reason_ : str
        Why training ended. An interrupted fit keeps a model of what was finished: the boosters of the folds.
    certificate_ : Certificate
        With a goal: what the held-out rows show; print it.
    threshold_ : float
        With a goal: the log-odds from which on the positive class is predicted.
    lower_threshold_ : float
        With a goal on `referred_share`: the log-odds from which on rows are referred.
    baseline_ : float or ndarray
        The score to which `contributions` are relative.
    feature_importances_ : ndarray of shape (n_features_in_,)
        The share of each feature in the decrease of the loss.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    References
    ----------
    .. [elkan2001] C. Elkan, "The foundations of cost-sensitive learning", International Joint Conference on Artificial
       Intelligence (2001) 973-978.
    .. [rodriguez2006] J. J. Rodríguez, L. I. Kuncheva, C. J. Alonso, "Rotation forest: a new classifier ensemble
       method", IEEE Transactions on Pattern Analysis and Machine Intelligence 28 (2006) 1619-1630.

    Examples
    --------
    >>> from sklearn.model_selection import train_test_split
    >>> from skewboost import SkewBoostClassifier
    >>> from skewboost.datasets import load_rare_cancer
    >>> X, y = load_rare_cancer()
    >>> X, X_new, y, y_new = train_test_split(X, y, stratify=y, random_state=0)
    >>> clf = SkewBoostClassifier(cost=20, effort="quick", random_state=0).fit(X, y)
    >>> print(f"recall {clf.predict(X_new)[y_new == 1].mean():.2f}")
    recall 1.00
    """

    goal: Any = None
    confidence: float = 0.9

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = tags.classifier_tags.multi_class and self.goal is None
        return tags

    def _fit(self, X: Any, y: Any, sample_weight: Any, groups: Any, sample_cost: Any) -> None:
        for name in (*GOAL_ATTRIBUTES, "_out_of_fold"):
            self.__dict__.pop(name, None)  # of an earlier fit
        if self.goal is None:
            super()._fit(X, y, sample_weight, groups, sample_cost)
            return
        self._check_params()
        if sample_cost is not None:
            raise InputError("sample_cost has no effect with a goal.", "Leave it out, or fit without goal.")
        if self.reject_cost is not None:
            raise InputError(
                f"reject_cost={self.reject_cost!r} has no effect with a goal.",
                "Leave it at None and say in the goal how many rows may be referred: referred_share <= 10%.",
            )
        goal = Goal.of(self.goal)
        if self.cost is not None and not goal.needs_cost:
            raise InputError(
                f"cost={self.cost!r} has no effect with the goal {goal}, which is not about expected_cost.",
                "Leave it at None, or add a condition, such as expected_cost <= 0.5.",
            )
        own = {f.name for f in fields(PortfolioClassifier)} - {"cost", "reject_label"}
        portfolio = PortfolioClassifier(**{name: getattr(self, name) for name in own}, cost=1)
        params = {} if sample_weight is None else {"sample_weight": sample_weight}
        if params and get_config()["enable_metadata_routing"]:
            portfolio.set_fit_request(sample_weight=True)
        search = GoalSearchCV(
            portfolio, self.goal, tune="threshold", confidence=self.confidence, cost=self.cost,
            pos_label=self.pos_label, reject_label=self.reject_label, random_state=self.random_state,
        )  # fmt: skip
        with _own_remedies():
            certified = search._fit_and_hold_out(X, y, groups, params)
        for name, value in vars(search.estimator_).items():
            if name.endswith("_") or name in ("_model", "_nominal", "_empty_columns", "_class_shares"):
                setattr(self, name, value)
        for name in GOAL_ATTRIBUTES:
            value = getattr(search, name, None)
            if value is not None:
                setattr(self, name, value)
        cost = 1 if self.cost is None else self.cost
        self._keep_costs(cost_matrix(cost, self.classes_, self._positive, self._class_shares))
        self._costs_are_means = False
        assert certified is not None
        held_out, answers = certified
        check_answers(answers_of(self, held_out), answers)

    def _check_params(self) -> None:
        super()._check_params()
        check_params(self, confidence=FRACTION)

    def _check_costs(self) -> None:
        """Raise if costs have been set since a fit to a goal."""
        if not hasattr(self, "threshold_"):
            return
        for name, is_set in (("cost", self._cost_was_set), ("reject_cost", self.reject_cost is not None)):
            if is_set:
                raise InputError(
                    f"{name}={getattr(self, name)!r} was set after fit, but the threshold for the goal "
                    f"{self.certificate_.goal} was chosen without it.",
                    "Call fit again, or set it back.",
                )

    def _check_referral(self, has_effect: bool = True) -> None:
        """Raise if rows cannot be referred as `reject_cost` and `reject_label` say."""
        self._check_costs()
        if not hasattr(self, "threshold_"):
            super()._check_referral(has_effect)

    @property
    def _refers(self) -> bool:
        """Whether rows may be referred."""
        return hasattr(self, "lower_threshold_") if hasattr(self, "threshold_") else super()._refers

    @property
    def _cost_offset(self) -> float:
        """What costs, or the threshold of the goal, add to the log-odds of the second class."""
        if not hasattr(self, "threshold_"):
            return super()._cost_offset
        self._check_costs()
        return -self._sign * float(self.threshold_)

    def predict(self, X: Any, sample_cost: Any = None) -> Array:
        """Return the class of least expected cost; with a goal, the positive class from the threshold on.

        Rows that are referred get `reject_label_`.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            New rows, with the columns of the training data.
        sample_cost : array-like of shape (n_samples,), (n_samples, K) or (n_samples, K, K), or None, default=None
            Costs of the individual rows, here and in `fit`; not with a goal.

            - (n_samples,), two classes only: the cost of missing the positive class, such as the amount of a payment.
              All other costs are those of `cost`; a false alarm costs 1, unless `cost` is a dict or a matrix.
            - (n_samples, K): the cost of misclassifying the row if it is of that class.
            - (n_samples, K, K): a matrix ``[true, predicted]`` for each row.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        if not hasattr(self, "threshold_"):
            return super().predict(X, sample_cost)
        self._check_costs()
        if sample_cost is not None:
            raise InputError(
                "sample_cost has no effect on a model that was fitted to a goal.", "Leave it out, or fit without goal."
            )
        scores = self._finite_scores(X)
        positive = scores >= self.threshold_
        decided = np.asarray(self.classes_[(positive != self._first_is_positive).astype(np.intp)])
        if not hasattr(self, "lower_threshold_"):
            return decided
        return with_referred(decided, (scores >= self.lower_threshold_) & ~positive, self.reject_label_)

    def _finite_scores(self, X: Any) -> Array:
        """Return the scores that are compared with the threshold of the goal."""
        return check_scores(self._scores(X)[:, 0])

    def decision_function(self, X: Any) -> Array:
        """Return the score that `predict` decides by.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            New rows, with the columns of the training data.

        Returns
        -------
        ndarray of shape (n_samples,), or (n_samples, n_classes) if there are more than two
            For two classes, the log-odds of ``classes_[1]`` plus the part of the costs, or less the threshold of the
            goal: positive where it is predicted. For more, minus the expected cost of each class.
        """
        if not hasattr(self, "threshold_"):
            return super().decision_function(X)
        self._check_costs()
        return above(self._finite_scores(X), self.threshold_, not self._first_is_positive)

    def report(self, X: Any, y: Any, **options: Any) -> Any:
        """Return a report about the fitted model: one HTML file with figures and a cost explorer, for two classes.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            Rows that the model was not fitted to. All results are for these rows.
        y : array-like of shape (n_samples,)
            Their labels.
        **options
            Further arguments of `skewboost.plots.Report`, such as `cost`, `comparison` or `title`.

        Returns
        -------
        Report
            ``report(X, y).save("report.html")`` writes the file.
        """
        from skewboost.plots import Report

        check_is_fitted(self)
        return Report(self, X, y, **options)


@contextmanager
def _own_remedies() -> Iterator[None]:
    """Replace remedies that are parameters of the search by what is in the hands of the caller."""
    try:
        yield
    except GoalNotReachableError as error:
        remedy = REMEDIES[error.parameter]
        raise GoalNotReachableError(error.problem, remedy, search=error.search_, parameter=error.parameter) from error
