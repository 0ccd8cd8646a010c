"""The estimator of portfolios."""

from __future__ import annotations

import time
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
from joblib import effective_n_jobs
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.model_selection import TimeSeriesSplit
from sklearn.utils.validation import check_is_fitted
from threadpoolctl import threadpool_limits

from skewboost.boosting.explanations import step_function
from skewboost.engine import ENGINES, choose
from skewboost.engine.binning import fit_bins
from skewboost.engine.boundary import N_CODES, Engine
from skewboost.engine.constraints import ordered_columns, read_interactions, read_monotonic
from skewboost.engine.explaining import Support
from skewboost.engine.newton import TreeSettings
from skewboost.engine.partition import View
from skewboost.engine.table import Table, read_table
from skewboost.engine.units import examples_and_units, units_per_class
from skewboost.errors import InputError
from skewboost.fitting import restore_on_failure
from skewboost.fold_rows import Fold, check_groups, folds_of_examples, given_folds, own_folds
from skewboost.memory import warn_of_memory
from skewboost.meta.portfolio.components import MOST, Components, find_components
from skewboost.meta.portfolio.few_units import separate, warn_of_constant
from skewboost.meta.portfolio.memory_use import REMEDY, memory_use
from skewboost.meta.portfolio.portfolio_costs import REJECT_COST, PortfolioCosts
from skewboost.meta.portfolio.portfolio_model import PortfolioModel, log_probabilities, probabilities
from skewboost.meta.portfolio.portfolio_training import Interrupted, Trainer, no_report, search_table
from skewboost.meta.portfolio.recipe import EFFORTS, Recipe, recipe_for
from skewboost.meta.portfolio.target_statistics import Examples, binned, many_categories, random_places
from skewboost.meta.referral import with_referred
from skewboost.metrics.costs import check_cost_of_fit, cost_matrix, expected_costs, mean_costs, read_sample_cost
from skewboost.metrics.inputs import class_shares
from skewboost.metrics.targets import check_labels, choose_positive, classes_of, weights_of_fit
from skewboost.parameters import N_JOBS, check_params, check_random_state, either, integer, one_of
from skewboost.progress import ProgressBar
from skewboost.typing import Array

STOPPED = "rounds and weights of the families chosen on held-out rows"
INTERRUPTED = "interrupted: the members of the folds, as far as they were trained"


@dataclass(kw_only=True, eq=False, repr=False)
class PortfolioClassifier(PortfolioCosts, ClassifierMixin, BaseEstimator):
    """A portfolio of boosted trees and forests that decides by expected cost; see `SkewBoostClassifier`."""

    __metadata_request__fit: ClassVar[dict[str, bool]] = {"groups": True}
    _costs_in_training: ClassVar[bool] = False

    cost: Any = None
    reject_cost: float | None = None
    reject_label: Any = None
    effort: str = "default"
    cv: Any = None
    monotonic_cst: Any = None
    interaction_cst: Any = None
    pos_label: Any = None
    random_state: Any = None
    n_jobs: int | None = None
    verbose: int = 0
    engine: Any = "auto"

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    # ------------------------------------------------------------------------------------------------ fitting

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None, sample_cost: Any = None) -> Self:
        """Fit the portfolio.

        Parameters
        ----------
        X : array-like or pandas, polars or Arrow table of shape (n_samples, n_features)
            Training data. Tables may also hold categories or text. Values may be missing.
        y : array-like of shape (n_samples,)
            Class labels.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            The number of examples that each row stands for. A weight of 2 equals a repeated row, a weight of 0 an
            absent one.
        groups : array-like of shape (n_samples,) or None, default=None
            Which rows belong together, such as those of a patient. Rows of a group are on one side of every split.
            None: copies of a row belong together; rows that are equal by chance do not.
        sample_cost : array-like of shape (n_samples,), (n_samples, K) or (n_samples, K, K), or None, default=None
            Costs of the individual rows, as in `predict`. They do not change the training: their means over the rows of
            each class are what `predict` reckons with, unless it is given the costs of the new rows, which is better.

        Returns
        -------
        self
        """
        with restore_on_failure(self, keep_interrupted=lambda: getattr(self, "stop_reason_", None) == INTERRUPTED):
            self._fit(X, y, sample_weight, groups, sample_cost)
        return self

    def _fit(self, X: Any, y: Any, sample_weight: Any, groups: Any, sample_cost: Any) -> None:
        started = time.monotonic()
        self._check_params()
        self.__dict__.pop("stop_reason_", None)  # of an earlier fit
        table = read_table(self, X, reset=True).in_memory
        labels = check_labels(self, y, table.n_rows)
        weights = np.ones(table.n_rows)
        if sample_weight is not None:
            weights = weights_of_fit(sample_weight, table.n_rows)
        units = None if groups is None else check_groups(groups, table.n_rows)
        folds = given_folds(self.cv, labels, units) if self._cv_is_given else None
        present = np.flatnonzero(weights)
        if len(present) < table.n_rows:
            table = table.take(present)
        costs = None if sample_cost is None else self._read_sample_cost(sample_cost, len(labels))[present]
        self._set_classes(labels[present], classes_of(self, labels[present]), weights[present], costs)
        order, own_units = examples_and_units(table, self._numbers(labels[present]), weights[present])
        rows = present[order]  # of every example
        each = (weights / np.maximum(np.bincount(rows, minlength=len(labels)), 1))[rows]
        engine, numbers = self._engine(), self._numbers(labels[rows])
        if units is None:
            of_example = separate(numbers, order, own_units, self._label)
        else:
            of_example = np.unique(units[rows], return_inverse=True)[1]
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        place = rows if isinstance(self.cv, TimeSeriesSplit) else random_places(of_example, seed)
        examples = Examples(numbers == 1, each, place)
        likely = self._recipe(table, numbers, of_example, 0 if self._constrained else MOST)
        n_jobs = effective_n_jobs(self.n_jobs)
        warn_of_memory(memory_use(table, len(numbers), len(self.classes_), likely, n_jobs), REMEDY)
        view = self._view(engine, table, order, weights[present], examples)
        components = self._components(view.table, each)
        recipe = self._recipe(table, numbers, of_example, 0 if components is None else components.n_components)
        if not any(family.components for family in recipe.families):
            components = None
        if folds is not None:
            held_out: list[Fold] | None = folds_of_examples(folds, rows, numbers)
        else:
            held_out = own_folds(numbers, of_example, recipe.n_folds, recipe.n_repeats, seed)
            if held_out is None:
                warn_of_constant(numbers, of_example, "rows" if units is None else "groups", self._label)
            elif recipe.n_held_out:
                held_out = held_out[: recipe.n_held_out]
        portfolio, extended = engine.portfolio(view, numbers, len(self.classes_), of_example), None
        if components is not None:
            longer = components.beside(view, table, order, weights[present])
            extended = engine.portfolio(longer, numbers, len(self.classes_), of_example)
        with ProgressBar(100, type(self).__name__, since=started) if self.verbose else nullcontext() as bar:
            report = no_report if bar is None else partial(_show, bar)
            trainer = Trainer(portfolio, each, recipe, held_out, folds is None, seed, report, extended)
            try:
                # its matrices are small, and threads of BLAS would wait for each other on a busy machine
                with threadpool_limits(1, user_api="blas"):
                    trained, stop = trainer.train(), None
            except Interrupted as interruption:
                trained, stop = interruption.trained, interruption
            report(1.0, "")
        if any((part.trees.feature >= table.n_features).any() for part in trained.parts):
            view = longer
        else:
            components = None
        assert view.bins is not None
        support = Support(float(each.sum()), _examples_per_code(view, each))
        self._model = PortfolioModel(trained.parts, trained.offset, view.bins, support, table.n_features, components)
        self._nominal = table.nominal
        self.search_ = search_table(trained)
        self._out_of_fold = mean_of_rows(trained.scores, rows, len(labels))
        self.stop_reason_ = STOPPED if stop is None else INTERRUPTED
        if stop is not None:
            raise stop

    def _view(self, engine: Engine, table: Table, order: Array, weights: Array, examples: Examples) -> View:
        """Return the examples of a table in order, with their codes."""
        in_order = ordered_columns(self._monotonic(table), table)
        many = many_categories(table, in_order) if len(self.classes_) == 2 else []
        ordered = table.take(order)
        if many:
            return View(engine, ordered, *binned(engine, ordered, many, examples, in_order))
        bins = fit_bins(engine, table, None if (weights == 1.0).all() else weights, ordered=in_order)
        return View(engine, ordered, bins, engine.take(engine.encode(table, bins), order))

    @property
    def _constrained(self) -> bool:
        return self.monotonic_cst is not None or self.interaction_cst is not None

    def _components(self, table: Table, weights: Array) -> Components | None:
        """Return the principal components of the columns, which constraints on single columns forbid."""
        return None if self._constrained else find_components(table, weights)

    @property
    def _cv_is_given(self) -> bool:
        return self.cv is not None and not isinstance(self.cv, int | np.integer)

    def _label(self, number: int) -> str:
        """Return the class of a number, for messages."""
        return repr(self.classes_[self._numbers(self.classes_) == number].item())

    def _recipe(self, table: Table, numbers: Array, units: Array, n_components: int) -> Recipe:
        several = units_per_class(numbers, units, len(self.classes_)) >= 2  # others cannot be held out
        n_rare = int(np.bincount(numbers)[several].min()) if several.sum() >= 2 else 1
        constraints = TreeSettings(
            monotonic=self._monotonic(table), interactions=read_interactions(self.interaction_cst, table)
        )
        recipe = recipe_for(self.effort, len(numbers), n_rare, table.n_features, constraints, n_components)
        if self.cv is None or self._cv_is_given:
            return recipe
        return replace(recipe, n_folds=min(int(self.cv), n_rare), n_held_out=0)

    def _monotonic(self, table: Table) -> tuple[int, ...] | None:
        """Return the directions of the score of the positive class; the user's are those of ``classes_[1]``."""
        directions = read_monotonic(self.monotonic_cst, table)
        if directions is None:
            return None
        if len(self.classes_) > 2:
            raise InputError(
                f"monotonic_cst is for two classes, but y has {len(self.classes_)}.",
                "Leave it at None, or pass y == label.",
            )
        return tuple(-d for d in directions) if self._first_is_positive else directions

    def _check_params(self) -> None:
        check_params(
            self,
            effort=one_of(*EFFORTS),
            reject_cost=REJECT_COST,
            n_jobs=N_JOBS,
            verbose=either(one_of(True, False), integer(0)),
        )
        if self.engine not in ENGINES if isinstance(self.engine, str) else not hasattr(self.engine, "portfolio"):
            raise InputError(f"engine must be one of {', '.join(map(repr, ENGINES))}; got {self.engine!r}.")
        if isinstance(self.cv, int | np.integer) and not integer(2).passes(self.cv):
            raise InputError(f"cv of {type(self).__name__} must be an integer >= 2, or a splitter; got {self.cv!r}.")

    def _read_sample_cost(self, sample_cost: Any, n_rows: int) -> Array:
        """Return the costs of rows, if `cost` says nothing else."""
        check_cost_of_fit(self.cost, sample_cost)
        return read_sample_cost(sample_cost, n_rows)

    def _set_classes(self, labels: Array, classes: Array, weights: Array, costs: Array | None) -> None:
        """Set `classes_`, `pos_label_` and the costs, of which rows may have their own."""
        self.__dict__.pop("pos_label_", None)
        if len(classes) == 2:
            self.pos_label_ = choose_positive(labels, classes, self.pos_label, weights)
        elif self.pos_label is not None:
            raise InputError(f"pos_label={self.pos_label!r} has no effect, because y has {len(classes)} classes.")
        self.classes_, self._class_shares = classes, class_shares(labels, classes, weights)
        if costs is None:
            matrix = cost_matrix(self.cost, classes, self._positive, self._class_shares)
        else:
            matrix = mean_costs(costs, self.cost, labels, classes, self._positive, weights)
        self._keep_costs(matrix)
        self._costs_are_means = costs is not None
        self._check_referral()

    def _numbers(self, labels: Array) -> Array:
        """Return the class number of every row: 1 for the positive of two classes, else the place of the class."""
        if len(self.classes_) == 2:
            return np.asarray(labels == self.pos_label_, dtype=np.intp)
        return np.searchsorted(self.classes_, labels)

    def _held_out_decisions(self) -> Array | None:
        """Return what `decision_function` says of every training row by the members that it was held out of.

        For two classes; NaN for rows that were never held out, or are of weight 0. None: this is not known. The weights
        of the families were chosen on these scores, which are therefore slightly better than those of new rows.
        """
        scores = getattr(self, "_out_of_fold", None)
        if scores is None or scores.shape[1] > 1:
            return None
        return np.asarray(self._sign * scores[:, 0] + self._cost_offset)

    # --------------------------------------------------------------------------------------------- prediction

    def _engine(self) -> Engine:
        return choose(self.engine, effective_n_jobs(self.n_jobs))

    def _new_rows(self, X: Any) -> Table:
        """Read new rows as a table with the columns of the training data."""
        check_is_fitted(self)
        table = read_table(self, X, reset=False)
        names: Any = getattr(self, "feature_names_in_", range(table.n_features))
        return table.conform(self._nominal, list(names))

    def _scores(self, X: Any) -> Array:
        table = self._new_rows(X)
        return self._model.score(self._engine(), table)

    def _in_order(self, columns: Array) -> Array:
        """Return columns, the positive class last, in the order of `classes_`."""
        return columns[:, ::-1] if self._first_is_positive else columns

    def predict_proba(self, X: Any) -> Array:
        """Return class probabilities, which do not depend on the costs.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            New rows, with the columns of the training data.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
        """
        return self._in_order(probabilities(self._scores(X)))

    def predict_log_proba(self, X: Any) -> Array:
        """Return the logarithms of `predict_proba`, which stay distinct where probabilities round to 0 or 1.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            New rows, with the columns of the training data.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
        """
        return self._in_order(log_probabilities(self._scores(X)))

    def predict(self, X: Any, sample_cost: Any = None) -> Array:
        """Return the class of least expected cost.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            New rows, with the columns of the training data.
        sample_cost : array-like of shape (n_samples,), (n_samples, K) or (n_samples, K, K), or None, default=None
            Costs of the individual rows, here and in `fit`.

            - (n_samples,), two classes only: the cost of missing the positive class, such as the amount of a payment.
              All other costs are those of `cost`; a false alarm costs 1, unless `cost` is a dict or a matrix.
            - (n_samples, K): the cost of misclassifying the row if it is of that class.
            - (n_samples, K, K): a matrix ``[true, predicted]`` for each row.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        check_is_fitted(self)
        self._check_referral(sample_cost is None)
        costs = self.expected_costs(X, sample_cost)
        decided = np.asarray(self.classes_[costs.argmin(axis=1)])
        if self.reject_cost is None:
            return decided
        return with_referred(decided, costs.min(axis=1) > self.reject_cost, self.reject_label_)

    def decision_function(self, X: Any) -> Array:
        """Return the score that `predict` decides by.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            New rows, with the columns of the training data.

        Returns
        -------
        ndarray of shape (n_samples,), or (n_samples, n_classes) if there are more than two
            For two classes, the log-odds of ``classes_[1]`` plus the part of the costs: positive where it is predicted.
            For more, minus the expected cost of each class.
        """
        scores = self._scores(X)
        if len(self.classes_) > 2:
            return -expected_costs(probabilities(scores), self.cost_)
        return np.asarray(self._sign * scores[:, 0] + self._cost_offset)

    # ------------------------------------------------------------------------------------------- explanations

    def contributions(self, X: Any) -> Array:
        """Return what each feature adds to the score of each row, relative to `baseline_`.

        They add up exactly to the score: for two classes to `decision_function`, which includes the costs, and for
        more to the logarithms of the probabilities up to a constant per row. The boosted trees contribute their
        Shapley values [lundberg2018]_. A forest contributes the Shapley values of its mean vote, times the slope of the
        log-odds between this vote and the mean over the training rows.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            Rows to explain, with the columns of the training data.

        Returns
        -------
        ndarray of shape (n_samples, n_features), or (n_samples, n_features, n_classes) if there are more than two
            Positive values favour ``classes_[1]``, or the class of the last axis.

        References
        ----------
        .. [lundberg2018] S. M. Lundberg, G. G. Erion, S.-I. Lee, "Consistent individualized feature attribution for
           tree ensembles", arXiv:1802.03888 (2018).
        """
        table = self._new_rows(X)
        found = self._model.contributions(self._engine(), table)
        return found if len(self.classes_) > 2 else self._sign * found[:, :, 0]

    @property
    def baseline_(self) -> Any:
        """The score to which `contributions` are relative; one per class if there are more than two."""
        check_is_fitted(self)
        baseline = self._model.baseline(self._engine())
        return baseline if len(baseline) > 1 else self._sign * float(baseline[0]) + self._cost_offset

    def shape_functions(self) -> list[Any]:
        """Return the score as a function of each feature alone, with the other features unknown.

        It is the score of the mean prediction of the trees given that feature only, less that of their mean
        [lundberg2018]_. Interactions are not included, so the functions add up to the score only with
        ``interaction_cst="no_interactions"``; then `exact` is True.

        Returns
        -------
        list of ShapeFunction
            One for each feature, in the order of the columns; zero for features that are not used. With more than two
            classes a list of such lists, one for each class. Positive values favour ``classes_[1]``, or that class.

        References
        ----------
        .. [lundberg2018] S. M. Lundberg, G. G. Erion, S.-I. Lee, "Consistent individualized feature attribution for
           tree ensembles", arXiv:1802.03888 (2018).
        """
        check_is_fitted(self)
        model = self._model
        counts = model.support.per_code
        assert counts is not None
        names = getattr(self, "feature_names_in_", [f"x{j}" for j in range(self.n_features_in_)])
        effects, exact = model.main_effects(self._engine()), model.is_additive
        if model.n_outputs == 1:
            effects = self._sign * effects
        found = [
            [
                step_function(j, str(name), model.bins.features[j], own[j], counts[j], exact=exact)
                for j, name in enumerate(names)
            ]
            for own in effects
        ]
        return found[0] if len(found) == 1 else found

    @property
    def n_estimators_(self) -> int:
        """The number of trees."""
        check_is_fitted(self)
        return self._model.n_trees

    @property
    def feature_importances_(self) -> Array:
        """The share of each feature in the decrease of the loss, over all trees by the weight of their family."""
        check_is_fitted(self)
        total = self._model.importances()
        return np.asarray(total / total.sum() if total.sum() > 0 else total)


def _show(bar: ProgressBar, share: float, note: str) -> None:
    """Show the share of a fit that is done. Shares are guesses, and the bar does not go back if one was too large."""
    bar.update(max(bar.done, int(100 * share)), note)


def _examples_per_code(view: View, weights: Array) -> Array:
    """Return the number of examples ``[feature, code]``, by the codes that they would have as new rows."""
    assert view.bins is not None
    coded_anew = any(feature.shared for feature in view.bins.features)
    codes = view.engine.encode(view.table, view.bins) if coded_anew else view.codes
    columns = (view.engine.column(codes, j) for j in range(view.table.n_features))
    return np.array([np.bincount(own, weights, minlength=N_CODES) for own in columns])


def mean_of_rows(values: Array, rows: Array, n_rows: int) -> Array:
    """Return the mean of ``[example, output]`` over the examples of each row; NaN for rows without examples."""
    counts = np.bincount(rows, minlength=n_rows)
    sums = np.array([np.bincount(rows, column, n_rows) for column in values.T]).T
    return np.asarray(sums / np.where(counts > 0, counts, np.nan)[:, None])
