"""Figure 1.3: an ensemble of linear discriminants."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from skewboost import AdaBoostClassifier
from skewboost.learners import Stump
from skewboost_reproductions.estimates import difference, estimate
from skewboost_reproductions.experiment import Results, Task
from skewboost_reproductions.papers.nyga.pictures.figure_1_5 import separable
from skewboost_reproductions.papers.nyga.pictures.panels import draw_boundary, entitle, legend_of_classes, panels
from skewboost_reproductions.papers.nyga.pictures.picture import Picture
from skewboost_reproductions.verdicts import Claim, by_construction, claim_of_fact, claim_of_order

N_ROWS, N_TEST = 200, 2000  # of each class
RADIUS = 4.0
SIZES = (1, 2, 40)
ANGLES = np.arange(36) * np.pi / 36  # of the lines
DIRECTIONS = np.array([np.cos(ANGLES), np.sin(ANGLES)])
POOR, HIGH = 0.2, 0.9  # error of one, and accuracy of 40
DRAWS = 10  # per task


def sample(seed: int, n: int) -> tuple[Any, Any]:
    """Return a class that is normal around 0, and one in a ring around it."""
    rng = np.random.default_rng(seed)
    angle, radius = rng.uniform(0.0, 2.0 * np.pi, n), rng.normal(RADIUS, 1.0, n)
    ring = radius[:, None] * np.column_stack((np.cos(angle), np.sin(angle)))
    return np.vstack((rng.standard_normal((n, 2)), ring)), np.repeat([1, 0], n)


def projected(X: Any) -> Any:
    """Return coordinates in all directions, so that a stump is a line across one of them."""
    return np.asarray(X) @ DIRECTIONS


def ensemble(size: int) -> Any:
    """Return AdaBoost on lines of least error, not fitted."""
    booster = AdaBoostClassifier(estimator=Stump(criterion="error", max_bins=None), n_estimators=size, pos_label=1)
    return make_pipeline(FunctionTransformer(projected), booster)


def errors_of_lines(first: int) -> list[list[float]]:
    """Return test errors by draw and `SIZES`."""
    found = []
    for seed in range(first, first + DRAWS):
        (X, y), (X_test, y_test) = sample(seed, N_ROWS), sample(10_000 + seed, N_TEST)
        model = ensemble(SIZES[-1]).fit(X, y)
        stages = list(model[-1].staged_predict(projected(X_test)))
        found.append([float((stages[min(m, len(stages)) - 1] != y_test).mean()) for m in SIZES])
    return found


def blocks(quick: bool) -> range:
    """Return the first seeds of the tasks."""
    return range(0, DRAWS * (1 if quick else 5), DRAWS)


def claims(results: Results, quick: bool) -> list[Claim]:
    """Return what the text says about the figure."""
    one, two, many = np.array([row for first in blocks(quick) for row in results.of(errors_of_lines, first)]).T
    return [
        by_construction(
            claim_of_fact(
                "The two classes are not linearly separable", not separable(*sample(0, N_ROWS)), "linear program"
            )
        ),
        claim_of_order(f"A single one performs poorly (test error less {POOR:g})", estimate(one - POOR)),
        claim_of_order("It is improved by another one (test error of one less that of two)", difference(one, two)),
        claim_of_order(
            f"{SIZES[-1]} separate the classes with high accuracy (here: less {HIGH:g})", estimate(1.0 - many - HIGH)
        ),
    ]


def draw(results: Results, quick: bool) -> Any:
    """Draw the boundaries."""
    figure, axes = panels(1, len(SIZES), (11, 4.1))
    X, y = sample(0, N_ROWS)
    for axis, size in zip(axes, SIZES):
        draw_boundary(axis, ensemble(size).fit(X, y), X, y)
    entitle(axes, ["one line", *(f"{size} lines" for size in SIZES[1:])])
    legend_of_classes(figure, "in the middle", "in the ring")
    return figure


PICTURE = Picture(
    number="1.3",
    title="an ensemble of linear discriminants",
    choices=f"""\
the thesis takes the figure from lecture slides (Sochman and Matas, "AdaBoost"), and prints neither data nor learner.
Here a class of {N_ROWS} normal points is surrounded by as many in a ring of radius {RADIUS:g}; AdaBoost chooses
the line of least error among all in {len(ANGLES)} directions. {len(blocks(False)) * DRAWS} draws
({len(blocks(True)) * DRAWS} with `--quick`), and {2 * N_TEST} test points each. An error above {POOR:g} counts as poor,
and an accuracy above {HIGH:g} as high (guesses).""",
    caption="""\
the individual classifiers perform only poorly, as in (a) and (b); the ensemble of 40 base learners is able to separate
the two classes with high accuracy (c).""",
    tasks=lambda quick: [Task(errors_of_lines, first) for first in blocks(quick)],
    claims=claims,
    draw=draw,
    stand_in=True,
)
