"""DataBoost-IM: synthetic examples from the hard examples of both classes, and classes of equal weight."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from sklearn.base import BaseEstimator

from skewboost.errors import InputError
from skewboost.learners.samplers.sampler import Drawn, classes_of_rows
from skewboost.learners.samplers.synthetic_rows import gathered
from skewboost.typing import Array

if TYPE_CHECKING:
    from skewboost.learners.learner import Data


class DataBoost(BaseEstimator):
    r"""All examples, synthetic ones made from the hardest of both classes, and weights that sum to the same per class.

    *Seeds* are the hardest examples, those that weigh more than the mean: of these, with M of the larger and m of the
    smaller class, the heaviest :math:`M_L = \min(N_L/N_S, M)` of the larger and :math:`M_S = \min(M_L N_L/N_S, m)` of
    the smaller class. After a round of AdaBoost the examples above the mean are those that it got wrong, which is how
    [1]_ counts the hard ones; at first all weigh the same, and nothing is made.

    A seed of a class of n examples makes n synthetic ones, which share its weight. In each of them every cell is the
    seed's or, with probability ½, that of any example of the class: categories and numbers keep the distribution that
    they have there, and missing cells stay missing. The paper draws numbers from a normal distribution instead. All
    seeds together make no more examples than there are; where they would, each makes fewer, of larger weight. At the
    end the lighter class is multiplied up to the weight of the heavier one.

    References
    ----------
    .. [1] H. Guo, H. L. Viktor, "Learning from imbalanced data sets with boosting and data generation: the DataBoost-IM
       approach", SIGKDD Explorations 6 (2004) 30-39.

    Examples
    --------
    >>> from skewboost import RealBoostClassifier
    >>> from skewboost.datasets import load_rare_cancer
    >>> from skewboost.learners.samplers import DataBoost
    >>> X, y = load_rare_cancer()
    >>> clf = RealBoostClassifier(sampler=DataBoost(), n_estimators=10, random_state=0).fit(X, y)
    >>> print(f"recall {clf.predict(X)[y == 1].mean():.2f}")
    recall 1.00
    """

    resets = False

    def draw(self, data: Data, weights: Array, rng: np.random.Generator) -> Drawn:
        """All examples, and after them the synthetic ones of the larger and of the smaller class."""
        if not data.classes.two:
            raise InputError(
                "sampler=DataBoost() balances two classes, but there are more. Use another sampler, or a booster that "
                "trains each class against the rest."
            )
        examples = data.in_order
        classes = classes_of_rows(data, "DataBoost()")[examples]
        own = data.weight_of_examples(weights)
        seeds, copies = _seeds(classes, own)
        if not len(seeds):
            return Drawn(examples, balanced(own, classes))
        parents = np.repeat(seeds, copies)
        made = gathered(data.table, examples[_mixed(parents, classes, data.table.n_features, rng)])
        both = np.append(own, np.repeat(own[seeds] / copies, copies))
        return Drawn(examples, balanced(both, np.append(classes, classes[parents])), made, classes[parents])


def balanced(weights: Array, classes: Array) -> Array:
    """Weights of two classes, of which the lighter one is multiplied up to the heavier one."""
    totals = np.bincount(classes, weights, minlength=2)
    if not totals.all():
        return weights
    return np.asarray(weights * (totals.max() / totals)[classes])


def _seeds(classes: Array, weights: Array) -> tuple[Array, Array]:
    """The places of the seeds, and how many examples each makes."""
    counts = np.bincount(classes, minlength=2)
    larger = int(counts[1] > counts[0])
    n_large, n_small = counts[larger], counts[1 - larger]
    scaled = np.round(weights / weights.mean(), 9)  # rounding must not choose among equals
    order = np.argsort(-scaled, kind="stable")
    hard = order[scaled[order] > 1.0]
    of_larger, of_smaller = hard[classes[hard] == larger], hard[classes[hard] != larger]
    if not n_small:
        return hard[:0], hard[:0]
    n_seeds = min(math.ceil(n_large / n_small), len(of_larger))
    n_others = min(math.ceil(max(n_seeds, 1) * n_large / n_small), len(of_smaller))
    seeds = np.append(of_larger[:n_seeds], of_smaller[:n_others])
    copies = np.repeat([n_large, n_small], [n_seeds, n_others])
    share = min(1.0, len(classes) / max(int(copies.sum()), 1))
    return seeds, np.maximum(1, np.rint(share * copies)).astype(np.intp)


def _mixed(parents: Array, classes: Array, n_features: int, rng: np.random.Generator) -> Array:
    """For each ``[feature, synthetic example]`` the place to take the cell from: the parent, or any of its class."""
    others = np.empty((n_features, len(parents)), dtype=np.intp)
    for label in (0, 1):
        of_class, here = np.flatnonzero(classes == label), np.flatnonzero(classes[parents] == label)
        if len(here):
            others[:, here] = rng.choice(of_class, (n_features, len(here)))
    return np.where(rng.random(others.shape) < 0.5, parents, others)
