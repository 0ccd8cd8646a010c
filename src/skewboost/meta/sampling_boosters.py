"""RUSBoost, SMOTEBoost and DataBoost-IM: presets of a boosting variant and a sampler."""

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
    """A preset: a variant and a sampler. The default is AdaBoost, or CGAda if there are costs."""

    variant: str | None = None
    _rule_class = CGAda

    def _rule(self) -> Rule:
        if self.variant is None:
            return super()._rule()
        names = [e.name for e in catalogue() if e.learners in (ANY, ONE_FEATURE)]  # for two classes, with any sampler
        check_params(self, variant=one_of(*names))
        if self.calibrate is not None:
            raise InputError(
                f"calibrate={self.calibrate!r} has no effect with variant={self.variant!r}.",
                "Leave variant at None, or put scikit-learn's CalibratedClassifierCV around this classifier.",
            )
        if self.cost is not None and not self._takes_costs:
            raise self._no_costs(f"cost={self.cost!r}", "cost")
        rule: Rule = self._boosted()._rule()
        return rule

    def _no_costs(self, given: str, name: str) -> InputError:
        return InputError(
            f"{given} has no effect, because {self.variant} does not use costs.",
            f"Choose another variant, or leave {name} at None.",
        )

    def _entry(self) -> Entry:
        return next(e for e in catalogue() if e.name == self.variant)

    @property
    def _takes_costs(self) -> bool:
        """Whether `cost` has an effect; searches check this before they set it."""
        return not any(e.name == self.variant and not e.cost_sensitive for e in catalogue())

    def _boosted(self) -> Any:
        """The variant, with the learner and the costs of the preset."""
        costs = {"cost": self.cost} if self._takes_costs else {}
        return self._entry().make(self.n_estimators, estimator=self.estimator, **costs)

    def _costs(self, each: Array | None, labels: Array, weights: Array | None) -> Costs:
        """The costs as the variant reads them; AdaBoost has none unless they are given."""
        if self.variant is None:
            return Costs() if self.cost is None and each is None else super()._costs(each, labels, weights)
        if not self._takes_costs:
            if each is not None:
                raise self._no_costs("sample_cost", "sample_cost")
            return Costs()
        booster = self._boosted()
        booster.classes_, booster.pos_label_ = self.classes_, self.pos_label_
        costs: Costs = booster._costs(each, labels, weights)
        return costs


@booster
class RUSBoostClassifier(SampledBoostClassifier):
    r"""RUSBoost: AdaBoost whose rounds are fitted to a random under-sample.

    A round draws all examples of the rare class and as many of the other, without replacement, and is fitted to them
    with their current weights. Error, step and new weights are those of all examples, as in [seiffert2010]_. (The paper
    boosts by AdaBoost.M2, where a round votes with its probabilities; here it votes with its labels, as in AdaBoost.)
    The sample is biased towards the rare class, so the hypothesis may be no better than chance on all examples. After
    two such samples the round is fitted to all examples; other implementations stop, with stumps often after the first
    round.

    The decision is not balanced, because steps are measured on all examples. Set ``cost="balanced"`` for a high recall.
    `CSRAClassifier` is faster and ranks about as well (see docs/resampling.md). To use another boosting variant, set
    `variant`, or the ``sampler=skewboost.learners.UnderSample()`` of that variant.

    Parameters
    ----------
    ratio : float, default=1.0
        The number of examples of the rare class for each one of the other in a round, above 0 and at most 1.
    {preset}
    {calibrate}
    {unsampled}

    References
    ----------
    .. [seiffert2010] C. Seiffert, T. M. Khoshgoftaar, J. Van Hulse, A. Napolitano, "RUSBoost: a hybrid approach to
       alleviating class imbalance", IEEE Transactions on Systems, Man, and Cybernetics A 40 (2010) 185-197.

    Examples
    --------
    >>> from sklearn.model_selection import cross_val_score
    >>> from skewboost import RUSBoostClassifier
    >>> from skewboost.datasets import load_rare_cancer
    >>> X, y = load_rare_cancer()
    >>> clf = RUSBoostClassifier(cost="balanced", n_estimators=30, random_state=0)
    >>> print(f"recall {cross_val_score(clf, X, y, scoring='recall', cv=3).mean():.2f}")
    recall 0.90
    """

    ratio: float = 1.0

    def _sampler(self) -> UnderSample:
        return UnderSample(self.ratio)


@booster
class SMOTEBoostClassifier(SampledBoostClassifier):
    r"""SMOTEBoost: AdaBoost whose rounds also see synthetic examples of the rare class.

    A round is fitted to all examples with their current weights, and to new synthetic examples between neighbours of
    the rare class, whose weight is the mean weight of their class. Error, step and new weights are those of the real
    examples. [chawla2003]_ boosts by AdaBoost.M2; here a round votes with its labels, as in AdaBoost. If the hypotheses
    of two samples are no better than chance on the real examples, the round is fitted to these alone.

    It is slow, because neighbours are searched in every round. In columns of few values, synthetic examples have values
    that no real example has, which mislead stumps. The decision is not balanced unless ``cost="balanced"``. It ranked
    best on none of the data sets in docs/resampling.md: `CSRAClassifier` is faster and better. To use another boosting
    variant, set `variant`, or the ``sampler=skewboost.learners.Smote()`` of that variant. Needs imbalanced-learn:
    ``pip install "skewboost[samplers]"``.

    Parameters
    ----------
    ratio : float, default=1.0
        The number of examples of the rare class for each one of the other in a round, above 0 and at most 1.
    k_neighbors : int, default=5
        The number of nearest neighbours among which one is chosen; fewer if a class is too small.
    {preset}
    {calibrate}
    {unsampled}

    References
    ----------
    .. [chawla2003] N. V. Chawla, A. Lazarevic, L. O. Hall, K. W. Bowyer, "SMOTEBoost: improving prediction of the
       minority class in boosting", European Conference on Principles of Data Mining and Knowledge Discovery (2003)
       107-119.

    Examples
    --------
    >>> from sklearn.model_selection import cross_val_score
    >>> from skewboost import SMOTEBoostClassifier
    >>> from skewboost.datasets import load_rare_cancer
    >>> X, y = load_rare_cancer()
    >>> clf = SMOTEBoostClassifier(cost="balanced", n_estimators=3, random_state=0)
    >>> print(f"recall {cross_val_score(clf, X, y, scoring='recall', cv=3).mean():.2f}")
    recall 0.90
    """

    ratio: float = 1.0
    k_neighbors: int = 5

    def _sampler(self) -> Smote:
        return Smote(self.ratio, self.k_neighbors)


@booster
class DataBoostIMClassifier(SampledBoostClassifier):
    r"""DataBoost-IM: AdaBoost whose rounds also see synthetic examples made from the hardest of both classes.

    A round is fitted to all examples and to synthetic ones made from the heaviest of both classes, with an equal total
    weight per class (see `skewboost.learners.DataBoost`). Error, step and new weights are those of the real examples.
    If the hypotheses of two samples are no better than chance on these, the round is fitted to them alone.

    Synthetic examples need neither neighbours nor numbers, so it is faster than SMOTEBoost and accepts any table. With
    trees it ranked best on the noisier data sets of docs/resampling.md; with stumps it did not. The hardest examples
    may be noise, which it multiplies. The decision is not balanced unless ``cost="balanced"``. To use another boosting
    variant, set `variant`, or the ``sampler=skewboost.learners.DataBoost()`` of that variant.

    Parameters
    ----------
    {preset}
    {calibrate}
    {unsampled}

    References
    ----------
    .. [guo2004] H. Guo, H. L. Viktor, "Learning from imbalanced data sets with boosting and data generation: the
       DataBoost-IM approach", SIGKDD Explorations 6 (2004) 30-39.

    Examples
    --------
    >>> from sklearn.model_selection import cross_val_score
    >>> from skewboost import DataBoostIMClassifier
    >>> from skewboost.datasets import load_rare_cancer
    >>> X, y = load_rare_cancer()
    >>> clf = DataBoostIMClassifier(cost="balanced", n_estimators=10, random_state=0)
    >>> print(f"recall {cross_val_score(clf, X, y, scoring='recall', cv=3).mean():.2f}")
    recall 0.90
    """

    def _sampler(self) -> DataBoost:
        return DataBoost()
