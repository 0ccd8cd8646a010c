"""Figure 2.4: boundaries of hard-margin classifiers without noise, with an outlier, and with noise."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.svm import SVC

from skewboost import AdaBoostClassifier
from skewboost.learners import Stump
from skewboost.plots.style import INK
from skewboost_reproductions.estimates import difference, estimate
from skewboost_reproductions.experiment import Results, Task
from skewboost_reproductions.page_parts import Cell, Table
from skewboost_reproductions.papers.nyga.pictures.panels import draw_boundary, entitle, legend_of_classes, panels
from skewboost_reproductions.papers.nyga.pictures.picture import Picture
from skewboost_reproductions.verdicts import Claim, claim_of_equality, claim_of_order

N_ROWS, ROUNDS = 60, 200
GAP = 0.25  # in x1 + x2, between the classes
OUTLIER = (-0.35, -0.45)
SHARE = 0.1  # of wrong labels
SETTINGS = {"none": "noiseless", "outlier": "an outlier", "noise": f"{SHARE:.0%} wrong labels"}
CLASSIFIERS = ("AdaBoost", "SVM")
DRAWS = 10  # per task
_LINE = np.linspace(-0.99, 0.99, 100)
TEST = np.stack(np.meshgrid(_LINE, _LINE), axis=-1).reshape(-1, 2)


def truth(X: Any) -> Any:
    """Return the class, which a line separates."""
    return (X.sum(axis=1) > 0.0).astype(int)


def training_set(seed: int, setting: str) -> tuple[Any, Any]:
    """Return rows of two classes with a gap between them, the same in all settings but for the noise."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1.0, 1.0, (8 * N_ROWS, 2))
    X = X[np.abs(X.sum(axis=1)) > GAP][:N_ROWS]
    y = truth(X)
    if setting == "outlier":
        return np.vstack((X, OUTLIER)), np.append(y, 1)
    if setting == "noise":
        wrong = rng.choice(N_ROWS, round(SHARE * N_ROWS), replace=False)
        y[wrong] = 1 - y[wrong]
    return X, y


def hard_margin(name: str) -> Any:
    """Return a classifier that fits all training rows."""
    if name == "SVM":
        return SVC(kernel="rbf", gamma=1.0, C=1e6)
    return AdaBoostClassifier(estimator=Stump(criterion="error"), n_estimators=ROUNDS, pos_label=1)


def errors_of_hard_margins(name: str, first: int) -> list[Any]:
    """Return training and test error by draw and setting."""
    found = []
    for seed in range(first, first + DRAWS):
        row = []
        for setting in SETTINGS:
            X, y = training_set(seed, setting)
            model = hard_margin(name).fit(X, y)
            row.append([1.0 - float(model.score(X, y)), 1.0 - float(model.score(TEST, truth(TEST)))])
        found.append(row)
    return found


def blocks(quick: bool) -> range:
    """Return the first seeds of the tasks."""
    return range(0, DRAWS * (2 if quick else 10), DRAWS)


def tasks(quick: bool) -> list[Task]:
    """Return a task per classifier and block of draws."""
    return [Task(errors_of_hard_margins, name, first) for name in CLASSIFIERS for first in blocks(quick)]


def errors(results: Results, quick: bool, name: str) -> Any:
    """Return an array by draw, setting, and training and test error."""
    return np.array([row for first in blocks(quick) for row in results.of(errors_of_hard_margins, name, first)])


def claims(results: Results, quick: bool) -> list[Claim]:
    """Return what the text says about the figure."""
    found = []
    for name in CLASSIFIERS:
        train, test = np.moveaxis(errors(results, quick, name), -1, 0)
        text = "without noise the optimal boundary is estimated successfully (here: an error of at most 0.05)"
        found += [
            claim_of_equality(f"{name}: {text}", estimate(test[:, 0]), 0.05),
            claim_of_order(
                f"{name}: an outlier corrupts the boundary (test error less that without)",
                difference(test[:, 1], test[:, 0]),
            ),
            claim_of_order(f"{name}: so does noise", difference(test[:, 2], test[:, 0])),
            claim_of_equality(f"{name}: all training rows are fitted, noise included", estimate(train[:, 2]), 0.01),
        ]
    return found


def tables(results: Results, quick: bool) -> list[Table]:
    """Return the errors."""
    cells = {}
    for name in CLASSIFIERS:
        found = errors(results, quick, name)
        for k, title in enumerate(SETTINGS.values()):
            for column, part in enumerate(("training error", "test error")):
                cells[f"{name}, {title}", part] = Cell(estimate(found[:, k, column]))
    return [Table("2.4-errors", "Figure 2.4: errors of hard-margin classifiers", "", cells, drawn=False)]


def draw(results: Results, quick: bool) -> Any:
    """Draw the boundaries of both classifiers in the three settings."""
    figure, axes = panels(2, 3, (10, 6.8))
    titles = [f"{name}: {title}" for name in CLASSIFIERS for title in SETTINGS.values()]
    places = [(name, setting) for name in CLASSIFIERS for setting in SETTINGS]
    for axis, (name, setting) in zip(axes, places):
        X, y = training_set(0, setting)
        draw_boundary(axis, hard_margin(name).fit(X, y), X, y, corners=((-1.0, -1.0), (1.0, 1.0)), area=22.0)
        axis.axline((0.0, 0.0), slope=-1.0, color=INK, lw=1, ls=":")
    entitle(axes, titles)
    legend_of_classes(figure)
    return figure


PICTURE = Picture(
    number="2.4",
    title="hard margins without noise, with an outlier, and with noise",
    choices=f"""\
the figure is a sketch without coordinates. {N_ROWS} points of a square whose diagonal separates the classes, with a
gap; one point more, of one class in the middle of the other; and {SHARE:.0%} wrong labels on the same points. AdaBoost
has {ROUNDS} stumps, the SVM a Gaussian kernel and C = 10⁶. {len(blocks(False)) * DRAWS} draws
({len(blocks(True)) * DRAWS} with `--quick`). The test error is that on the whole square, and the dotted line the true
boundary.""",
    caption="""\
decision boundaries of hard margin classifiers in a noiseless setting, presence of an outlier and a noisy setting. A
large margin classifier, such as an SVM or AdaBoost, can successfully estimate the optimal boundary without noise; a
single outlier corrupts it, and noise does as well.""",
    tasks=tasks,
    claims=claims,
    draw=draw,
    tables=tables,
    stand_in=True,
)
