"""Boosting with a sampler, under the names that the papers gave it."""

from __future__ import annotations

from typing import Any

from skewboost.boosting.catalogue import ANY, ONE_FEATURE, Entry, catalogue
from skewboost.boosting.estimator import CostChoice, LearnerChoice, booster
from skewboost.boosting.rule import Rule
from skewboost.boosting.variants.adamec import CalibrateChoice, CGAda
from skewboost.errors import InputError
from skewboost.learners.samplers import DataBoost, Smote, UnderSample
from skewboost.metrics.costs import Costs
from skewboost.parameters import check_params, one_of
from skewboost.typing import Array


@booster
class SampledBoostClassifier(LearnerChoice, CalibrateChoice, CostChoice):
    """A variant with a sampler: AdaBoost, cost-generalised where it is told costs, or any other by its name."""

    variant: str | None = None

    def _rule(self) -> Rule:
        if self.variant is None:
            self._check_calibrate()
            return CGAda()
        check_params(self, variant=one_of(*(e.name for e in catalogue() if _has_a_rule(e))))
        if self.calibrate is not None:
            raise InputError(
                f"calibrate={self.calibrate!r} has no effect with variant={self.variant!r}. Leave variant at None, or "
                "put scikit-learn's CalibratedClassifierCV around this one."
            )
        if self.cost is not None and not self._entry().cost_sensitive:
            raise self._deaf_to(f"cost={self.cost!r}", "leave cost at None")
        rule: Rule = self._boosted()._rule()
        return rule

    def _deaf_to(self, given: str, remedy: str) -> ValueError:
        return ValueError(
            f"{given} has no effect: {self.variant} is not told what mistakes cost. Choose another variant, or "
            f"{remedy}."
        )

    def _entry(self) -> Entry:  # no property: the display of a fitted model looks at all of these
        return next(e for e in catalogue() if e.name == self.variant)

    @property
    def _takes_costs(self) -> bool:
        """Whether `cost` has an effect; searches ask before they set it."""
        return not any(e.name == self.variant and not e.cost_sensitive for e in catalogue())

    def _boosted(self) -> Any:
        """The variant itself, with what it is told of learners and costs."""
        told = {"cost": self.cost} if self._entry().cost_sensitive else {}
        return self._entry().make(self.n_estimators, estimator=self.estimator, **told)

    def _costs(self, each: Array | None, labels: Array, weights: Array | None) -> Costs:
        """As the variant reads them; AdaBoost has none unless it is told."""
        if self.variant is None:
            return Costs() if self.cost is None and each is None else super()._costs(each, labels, weights)
        if not self._entry().cost_sensitive:
            if each is not None:
                raise self._deaf_to("sample_cost", "drop sample_cost")
            return Costs()
        booster = self._boosted()
        booster.classes_, booster.pos_label_ = self.classes_, self.pos_label_
        costs: Costs = booster._costs(each, labels, weights)
        return costs


def _has_a_rule(entry: Entry) -> bool:
    """Whether a variant is a rule for two classes and any learner that answers it, and nothing else."""
    return entry.learners in (ANY, ONE_FEATURE)


@booster
class RUSBoostClassifier(SampledBoostClassifier):
    r"""RUSBoost: AdaBoost whose rounds are fitted to a random under-sample.

    A round draws all examples of the rare class and as many of the other, without replacement, and fits them with their
    current weights. Error, step and new weights are those of all examples, as in [1]_ (which boosts by AdaBoost.M2: a
    round counts with its probabilities; here it counts with its labels, as in AdaBoost). A draw is biased towards the
    rare class, and the more so the rarer that is; what was learned from it then has no edge on all examples. After two
    such draws the round is fitted to all examples, where others stop: with stumps, often after the first.

    It does not balance the decision, since steps are measured on all examples: ``cost="balanced"`` does, and then
    recall is high. `CSRAClassifier` is quicker and ranks about as well (docs/resampling.md has numbers).
    Other boosters are made a RUSBoost by `variant`, or by their own ``sampler=skewboost.learners.UnderSample()``.

    Parameters
    ----------
    ratio : float, default=1.0
        How many examples of the rare class a round sees for one of the other, above 0 and at most 1.
    {preset}
    {calibrate}
    {unsampled}

    References
    ----------
    .. [1] C. Seiffert, T. M. Khoshgoftaar, J. Van Hulse, A. Napolitano, "RUSBoost: a hybrid approach to alleviating
       class imbalance", IEEE Transactions on Systems, Man, and Cybernetics A 40 (2010) 185-197.

    Examples
    --------
    >>> from skewboost import RUSBoostClassifier
    >>> from skewboost.datasets import load_rare_cancer
    >>> X, y = load_rare_cancer()
    >>> clf = RUSBoostClassifier(n_estimators=30, random_state=0).fit(X, y)
    >>> print(f"recall {clf.predict(X)[y == 1].mean():.2f}")
    recall 1.00
    """

    ratio: float = 1.0

    def _sampler(self) -> UnderSample:
        return UnderSample(self.ratio)


@booster
class SMOTEBoostClassifier(SampledBoostClassifier):
    r"""SMOTEBoost: AdaBoost whose rounds also see synthetic examples of the rare class.

    A round is fitted to all examples with their current weights, and to synthetic ones between neighbours of the rare
    class, which are made anew in every round and weigh as much as an example of their class does on average. Error,
    step and new weights are those of the real examples. [1]_ boosts by AdaBoost.M2; here a round counts with its
    labels, as in AdaBoost. If two draws leave no edge on the real examples, the round is fitted to these alone.

    It is slow, as neighbours are searched in every round; its synthetic examples have values that no real one has in
    columns of few values, which mislead stumps; and the decision is not balanced unless ``cost="balanced"``. On none of
    the data sets in docs/resampling.md did it rank best: `CSRAClassifier` is the quicker and better choice.
    Other boosters are made a SMOTEBoost by `variant`, or by their own ``sampler=skewboost.learners.Smote()``.
    Needs imbalanced-learn: ``pip install "skewboost[samplers]"``.

    Parameters
    ----------
    ratio : float, default=1.0
        How many examples of the rare class a round sees for one of the other, above 0 and at most 1.
    k_neighbors : int, default=5
        Between how many neighbours of an example to choose; fewer where a class is too small.
    {preset}
    {calibrate}
    {unsampled}

    References
    ----------
    .. [1] N. V. Chawla, A. Lazarevic, L. O. Hall, K. W. Bowyer, "SMOTEBoost: improving prediction of the minority class
       in boosting", PKDD (2003) 107-119.

    Examples
    --------
    >>> from skewboost import SMOTEBoostClassifier
    >>> from skewboost.datasets import load_rare_cancer
    >>> X, y = load_rare_cancer()
    >>> clf = SMOTEBoostClassifier(estimator="tree", n_estimators=10, random_state=0).fit(X, y)
    >>> print(f"recall {clf.predict(X)[y == 1].mean():.2f}")
    recall 1.00
    """

    ratio: float = 1.0
    k_neighbors: int = 5

    def _sampler(self) -> Smote:
        return Smote(self.ratio, self.k_neighbors)


@booster
class DataBoostIMClassifier(SampledBoostClassifier):
    r"""DataBoost-IM: AdaBoost whose rounds also see synthetic examples made from the hardest of both classes.

    A round is fitted to all examples, to synthetic ones made from the heaviest of both classes, and with weights that
    sum to the same for both (`skewboost.learners.DataBoost` says how). Error, step and new weights are those of the
    real examples. If two draws leave no edge on these, the round is fitted to them alone.

    The synthetic examples need neither neighbours nor numbers, so it is quicker than SMOTEBoost and takes any table.
    With trees it ranked best on the noisier data sets of docs/resampling.md. With stumps it did not; what is
    hardest may be noise, which it multiplies; and the decision is not balanced unless ``cost="balanced"``.
    Other boosters are made a DataBoost by `variant`, or by their own ``sampler=skewboost.learners.DataBoost()``.

    Parameters
    ----------
    {preset}
    {calibrate}
    {unsampled}

    References
    ----------
    .. [1] H. Guo, H. L. Viktor, "Learning from imbalanced data sets with boosting and data generation: the DataBoost-IM
       approach", SIGKDD Explorations 6 (2004) 30-39.

    Examples
    --------
    >>> from skewboost import DataBoostIMClassifier
    >>> from skewboost.datasets import load_rare_cancer
    >>> X, y = load_rare_cancer()
    >>> clf = DataBoostIMClassifier(n_estimators=30, random_state=0).fit(X, y)
    >>> print(f"recall {clf.predict(X)[y == 1].mean():.2f}")
    recall 1.00
    """

    def _sampler(self) -> DataBoost:
        return DataBoost()
