"""AdaMEC and CGAda: AdaBoost with costs in the decision or in the initial weights, and their calibration."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from skewboost.boosting.calibration import CALIBRATORS, rounds_to_calibrate
from skewboost.boosting.estimator import BaseBooster, CostSensitiveClassifier, booster
from skewboost.boosting.link import Link, TwoClasses
from skewboost.boosting.model import Model
from skewboost.boosting.row_splits import RowSplits
from skewboost.boosting.rule import Rule
from skewboost.boosting.state import State
from skewboost.boosting.training import Problem, train
from skewboost.boosting.variants.adaboost import AdaBoost
from skewboost.engine.partition import View
from skewboost.engine.training_set import EXAMPLES
from skewboost.errors import InputError
from skewboost.fold_rows import Fold
from skewboost.learners.learner import Learner
from skewboost.metrics.costs import check_cost, costs_of
from skewboost.parameters import check_params, integer, one_of, optional
from skewboost.typing import Array


class SoundAdaBoost(AdaBoost):
    """AdaBoost whose F is half the log-odds, including the costs, at the optimum."""

    def missing_constant(self, state: State) -> float:
        """``ln(W+ / W-)``, which is 0 at the optimum."""
        return state.log_ratio_of_weights()


class AdaMEC(SoundAdaBoost):
    """AdaBoost with the decision of minimum expected cost."""

    def link(self, state: State) -> TwoClasses:
        """Training ignores the costs; all of ln(C+ / C-) is added to the log-odds."""
        log_ratio = math.log(state.costs.ratio)
        return replace(super().link(state), cost_offset=log_ratio, pending=log_ratio)


class CGAda(SoundAdaBoost):
    """AdaBoost with initial weights in proportion to the costs."""

    def start(self, state: State) -> None:
        """``w ∝ c``."""
        super().start(state)
        state.assign(np.multiply, (EXAMPLES, state.cost))

    def link(self, state: State) -> TwoClasses:
        """F is half the log-odds plus half of ln(C+ / C-)."""
        return replace(super().link(state), cost_offset=math.log(state.costs.ratio))


@booster
class CalibrateChoice(BaseBooster):
    """Base class of boosters with optional calibration by cross-validation."""

    calibrate: str | None = None

    def _rule(self) -> Rule:
        check_params(self, calibrate=optional(one_of(*CALIBRATORS)))
        return super()._rule()

    @property
    def _holds_out(self) -> bool:
        return super()._holds_out or self.calibrate is not None

    def _check_n_folds(self) -> None:
        if self.calibrate is None:
            super()._check_n_folds()
        check_params(self, splits=integer(2))

    def _why_no_splits(self) -> str:
        return "holds out no rows. Set early_stopping=True or calibrate='sigmoid', or leave it out."

    def _finish(self, learner: Learner, problem: Problem, state: State, splits: RowSplits) -> None:
        if self.calibrate is None:
            super()._finish(learner, problem, state, splits)
            return
        positive, weights = problem.target, problem.weights
        rarer = min(int(positive.sum()), int((~positive).sum()))
        if rarer < 2:
            raise InputError(
                f"calibrate={self.calibrate!r} needs at least 2 examples of each class, but one class has {rarer}. Set "
                "calibrate=None."
            )
        folds = splits.for_calibration(positive, weights, self._seed)
        rows = np.concatenate([outer for _, outer in folds])
        order = np.argsort(rows, kind="stable")  # so that sums do not depend on the folds
        rows = rows[order]
        given = np.ones(len(positive)) if weights is None else weights
        shares = (given / np.maximum(np.bincount(rows, minlength=len(given)), 1))[rows]  # of rows held out repeatedly
        calibrator, scores = CALIBRATORS[self.calibrate], self._held_out_scores(learner, problem, folds)
        calibrators = tuple((n, calibrator.fit(F[order], positive[rows], shares)) for n, F in scores.items())
        assert isinstance(self._model.link, TwoClasses)
        self._model.link = replace(self._model.link, calibrators=calibrators)

    def _held_out_scores(self, learner: Learner, problem: Problem, folds: list[Fold]) -> dict[int, Array]:
        """Return the scores of the held-out rows, fold by fold, for several numbers of rounds.

        The ensembles of the folds have as many rounds as the whole one, and the same cost schedule. They neither stop
        early nor call callbacks.
        """
        engine = self._engine()
        numbers = rounds_to_calibrate(max(1, self._model.n_rounds))
        scores: dict[int, list[Array]] = {n: [] for n in numbers}
        quiet = replace(self._settings(), callbacks=(lambda n, _: n >= numbers[-1],), verbose=0)
        for inner, outer in folds:
            fold = Model(bins=self._model.bins)
            train(replace(problem.take(inner), rule=self._rule()), learner, engine, quiet, None, fold)
            stages = fold.staged(View(engine, problem.table.take(outer), fold.bins))
            F = next(stages)
            for n in range(1, 1 + numbers[-1]):
                F = next(stages, F)  # an ensemble that ended earlier keeps its F
                if n in scores:
                    scores[n].append(np.array(F))
        return {n: np.concatenate(found) for n, found in scores.items()}


@booster
class CalibratedClassifier(CalibrateChoice, CostSensitiveClassifier):
    """Base class of cost-sensitive boosters with optional calibration."""


@booster
class AdaMECClassifier(CalibratedClassifier):
    r"""AdaMEC: AdaBoost, then the decision of minimum expected cost.

    Training is that of AdaBoost and ignores the costs. The decision is positive where :math:`P(+) C_+ > P(-) C_-` with
    :math:`P(+) = 1/(1+e^{-2F})`, so the threshold of F is :math:`-\frac12 \ln(C_+/C_-)`. `decision_function` is F
    shifted so that the threshold is zero. The same ensemble serves any cost. AdaBoost's probabilities are
    overconfident, so set ``calibrate``: [nikolaou2016]_ compared fifteen cost-sensitive variants on eighteen data sets,
    and calibrated AdaMEC, CGAda and asymmetric AdaBoost were the best. If rows differ in cost (`sample_cost`), the
    threshold follows from the class means.

    {few_values}

    {parameters}
    {free_cost}
    {calibrate}

    References
    ----------
    .. [nikolaou2016] N. Nikolaou, N. Edakunni, M. Kull, P. Flach, G. Brown, "Cost-sensitive boosting algorithms: do we
       really need them?", Machine Learning 104 (2016) 359-384.

    Examples
    --------
    >>> from sklearn.model_selection import train_test_split
    >>> from skewboost import AdaMECClassifier
    >>> from skewboost.datasets import load_rare_cancer
    >>> X, y = load_rare_cancer()
    >>> X, X_test, y, y_test = train_test_split(X, y, stratify=y, random_state=0)
    >>> clf = AdaMECClassifier(cost=20, calibrate="sigmoid", n_estimators=30).fit(X, y)
    >>> print(f"recall {clf.predict(X_test)[y_test == 1].mean():.2f}")
    recall 1.00
    """

    _rule_class = AdaMEC

    def _with_other_costs(self, link: Link) -> Link:
        """Training ignores the costs, so others can be honoured; balanced ones would need the rows of training."""
        if not self._asks_for_costs:
            return super()._with_other_costs(link)
        check_cost(self.cost, self.classes_)
        ratio = costs_of(self.cost, None, self.classes_, self.pos_label_, self.classes_, None).ratio
        assert isinstance(link, TwoClasses)
        return replace(link, cost_offset=math.log(ratio), pending=math.log(ratio), cost_ratio=ratio)


@booster
class CGAdaClassifier(CalibratedClassifier):
    r"""CGAda: cost-generalised AdaBoost, which starts from weights in proportion to the costs.

    With initial weights :math:`w \propto c` the rounds are those of AdaBoost. CGAda minimises the exponential loss
    weighted by cost: F is half the log-odds plus :math:`\frac12 \ln(C_+/C_-)`, its zero is the minimum-risk boundary,
    and :math:`P(+) = 1/(1 + e^{-2F} C_+/C_-)`. It is simple and sound, and with ``calibrate`` among the best in the
    comparison of [nikolaou2016]_. At equal costs it is AdaBoost.

    {few_values}

    {parameters}
    {cost}
    {calibrate}

    References
    ----------
    .. [nikolaou2016] N. Nikolaou, N. Edakunni, M. Kull, P. Flach, G. Brown, "Cost-sensitive boosting algorithms: do we
       really need them?", Machine Learning 104 (2016) 359-384.

    Examples
    --------
    >>> from sklearn.model_selection import train_test_split
    >>> from skewboost import CGAdaClassifier
    >>> from skewboost.datasets import load_rare_cancer
    >>> X, y = load_rare_cancer()
    >>> X, X_test, y, y_test = train_test_split(X, y, stratify=y, random_state=0)
    >>> clf = CGAdaClassifier(cost=20, n_estimators=30).fit(X, y)
    >>> print(f"recall {clf.predict(X_test)[y_test == 1].mean():.2f}")
    recall 0.90
    """

    _rule_class = CGAda
