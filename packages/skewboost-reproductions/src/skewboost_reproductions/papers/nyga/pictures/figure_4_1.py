"""Figure 4.1: the example of the toolbox."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.stats import norm

from skewboost.toolbox import boost_learn, show_decision_boundary
from skewboost_reproductions.estimates import difference, estimate
from skewboost_reproductions.experiment import Results, Task
from skewboost_reproductions.papers.nyga.pictures.picture import Picture
from skewboost_reproductions.verdicts import Claim, claim_of_equality, claim_of_order

N, M = 1000, 50
BAYES = float(norm.cdf(-3.0 / np.sqrt(2.0)))  # half of the distance between the means is 3 / sqrt(2)
DRAWS = 10  # per task


def clusters(seed: int) -> tuple[Any, Any]:
    """Return the rows of the example: ``[randn(N, 2); randn(N, 2) + 3]``."""
    randn = np.random.default_rng(seed).standard_normal
    return np.vstack((randn((N, 2)), randn((N, 2)) + 3.0)), np.repeat([1, -1], N)


def errors_of_the_example(first: int) -> list[list[float]]:
    """Return training error and error on other rows by draw."""
    found = []
    for seed in range(first, first + DRAWS):
        X, Y = clusters(seed)
        boost = boost_learn(X, Y, "adaboost", "stump", M)
        X_test, Y_test = clusters(seed + 10_000)
        found.append([float(boost.train.error[-1]), float((boost.estimator.predict(X_test) != Y_test).mean())])
    return found


def tasks(quick: bool) -> list[Task]:
    """Return blocks of draws."""
    return [Task(errors_of_the_example, first) for first in blocks(quick)]


def blocks(quick: bool) -> range:
    """Return the first seeds of the tasks."""
    return range(0, DRAWS * (1 if quick else 3), DRAWS)


def claims(results: Results, quick: bool) -> list[Claim]:
    """Return what the text says about the figure."""
    train, test = np.array([row for first in blocks(quick) for row in results.of(errors_of_the_example, first)]).T
    overlap = "The clusters overlap slightly (here: the training error is above 0)"
    return [
        claim_of_order(overlap, estimate(train)),
        claim_of_equality(f"The example separates them (here: error on other rows, less Bayes' {BAYES:.4f})",
                          difference(test, np.full(len(test), BAYES)), 0.01),
    ]  # fmt: skip


def draw(results: Results, quick: bool) -> Any:
    """Draw the boundary as the toolbox does."""
    X, Y = clusters(0)
    axes = show_decision_boundary(boost_learn(X, Y, "adaboost", "stump", M), X, Y)
    axes.figure.set_size_inches(6.6, 5.8)
    return axes.figure


PICTURE = Picture(
    number="4.1",
    title="the example of the toolbox",
    choices=f"""\
the code of the example with the functions of `skewboost.toolbox`: two clusters of {N} rows, AdaBoost on {M} stumps;
{len(blocks(False)) * DRAWS} draws ({len(blocks(True)) * DRAWS} with `--quick`).""",
    caption="decision boundary of the code example: two slightly overlapping Gaussian clusters.",
    tasks=tasks,
    claims=claims,
    draw=draw,
)
