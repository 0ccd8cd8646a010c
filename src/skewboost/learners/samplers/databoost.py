"""DataBoost-IM: synthetic examples from the hard examples of both classes, and classes of equal weight."""

from __future__ import annotations

import math

import numpy as np
from sklearn.base import BaseEstimator

from skewboost.errors import InputError
from skewboost.learners.samplers.sampler import Sample, classes_of_rows
from skewboost.learners.samplers.synthetic_rows import gathered
from skewboost.learners.training_data import TrainingData
from skewboost.typing import Array


class DataBoost(BaseEstimator):
    r"""All examples, synthetic ones made from the hardest of both classes, and an equal total weight per class.

    *Seeds* are the hardest examples: those whose weight is above the mean. With M of them in the larger and m in the
    smaller class, the heaviest :math:`M_L = \min(N_L/N_S, M)` of the larger and :math:`M_S = \min(M_L N_L/N_S, m)` of
    the smaller class are used. After a round of AdaBoost the examples above the mean are the misclassified ones, which
    is how [guo2004]_ defines hard examples. In the first round all weights are equal, and there are no synthetic
    examples.

    For a class of n examples, n synthetic examples are made from each seed, and the weight of the seed is divided
    among them. Each of their cells is copied from the seed or, with probability ½, from any example of the class. So
    categories and numbers keep their distribution within the class, and missing cells stay missing. The paper draws
    numbers from a normal distribution instead. There are never more synthetic examples than real ones: if necessary,
    fewer are made from each seed, of larger weight. Finally the weights of the lighter class are scaled up to the
    total of the heavier one.

    References
    ----------
    .. [guo2004] H. Guo, H. L. Viktor, "Learning from imbalanced data sets with boosting and data generation: the
       DataBoost-IM approach", SIGKDD Explorations 6 (2004) 30-39.

    Examples
    --------
    >>> from sklearn.model_selection import cross_val_score
    >>> from skewboost import RealBoostClassifier
    >>> from skewboost.datasets import load_rare_cancer
    >>> from skewboost.learners.samplers import DataBoost
    >>> X, y = load_rare_cancer()
    >>> clf = RealBoostClassifier(sampler=DataBoost(), n_estimators=10, random_state=0)
    >>> print(f"recall {cross_val_score(clf, X, y, scoring='recall', cv=3).mean():.2f}")
    recall 0.90
    """

    resets = False

    def draw(self, data: TrainingData, weights: Array, rng: np.random.Generator) -> Sample:
        """All examples, and after them the synthetic ones of the larger and of the smaller class."""
        if not data.classes.two:
            raise InputError(
                "DataBoost balances two classes, but y has more.",
                "Use another sampler, or a booster that trains each class against the rest.",
            )
        examples = data.ordered_examples
        classes = classes_of_rows(data, "DataBoost()")[examples]
        own = data.weight_of_examples(weights)
        seeds, copies = _seeds(classes, own)
        if not len(seeds):
            return Sample(examples, balanced(own, classes))
        parents = np.repeat(seeds, copies)
        synthetic = gathered(data.table, examples[_cell_sources(parents, classes, data.table.n_features, rng)])
        both = np.append(own, np.repeat(own[seeds] / copies, copies))
        return Sample(examples, balanced(both, np.append(classes, classes[parents])), synthetic, classes[parents])


def balanced(weights: Array, classes: Array) -> Array:
    """Scale the weights of the lighter of two classes up to the total of the heavier one."""
    totals = np.bincount(classes, weights, minlength=2)
    if not totals.all():
        return weights
    return np.asarray(weights * (totals.max() / totals)[classes])


def _seeds(classes: Array, weights: Array) -> tuple[Array, Array]:
    """The positions of the seeds, and the number of synthetic examples made from each."""
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
    scale = min(1.0, len(classes) / max(int(copies.sum()), 1))
    return seeds, np.maximum(1, np.rint(scale * copies)).astype(np.intp)


def _cell_sources(parents: Array, classes: Array, n_features: int, rng: np.random.Generator) -> Array:
    """The position that each cell ``[feature, synthetic example]`` is copied from: the parent, or any of its class."""
    others = np.empty((n_features, len(parents)), dtype=np.intp)
    for label in (0, 1):
        of_class, here = np.flatnonzero(classes == label), np.flatnonzero(classes[parents] == label)
        if len(here):
            others[:, here] = rng.choice(of_class, (n_features, len(here)))
    return np.where(rng.random(others.shape) < 0.5, parents, others)
