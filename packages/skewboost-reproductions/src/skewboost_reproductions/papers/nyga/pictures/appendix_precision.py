"""Figure B.11: 100 % precision on the crash data."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.neighbors import NearestNeighbors

from skewboost_reproductions.estimates import difference, estimate
from skewboost_reproductions.experiment import Results, Task
from skewboost_reproductions.papers.nyga.goal_tasks import RAISED, TOLERANCE, matched, model_with
from skewboost_reproductions.papers.nyga.pictures.panels import draw_boundary, entitle, legend_of_classes, panels
from skewboost_reproductions.papers.nyga.pictures.picture import Picture
from skewboost_reproductions.papers.nyga.problems import LEAVES, PROBLEMS, splits
from skewboost_reproductions.verdicts import Claim, claim_of_all, claim_of_equal_means, claim_of_fact

ALGORITHMS = ("AdaC2", "CSRA", "CSGA", "CSLB")
OVERLAP = PROBLEMS["airbag"].test_to_train
NEIGHBOURS, OTHERS = 10, 3  # of a row in the area of overlap, and how many of the other class
NONE = 0.01  # a share of false positives that counts as none


def overlapping(split: Any) -> Any:
    """Return which negative test rows are in the area of overlap: some of their neighbours in training are positive."""
    centre, scale = split.X.mean(axis=0), split.X.std(axis=0)
    neighbours = NearestNeighbors(n_neighbors=NEIGHBOURS).fit((split.X - centre) / scale)
    near = neighbours.kneighbors((split.X_test - centre) / scale, return_distance=False)
    return (split.y_test == 0) & ((split.y[near] == 1).sum(axis=1) >= OTHERS)


def at_full_precision(algorithm: str, most: int) -> dict[str, Any]:
    """Return the cost for a mean precision of 100 %, and the share of false positives in the area of overlap."""
    found = matched("airbag", "precision", 1.0, algorithm, RAISED, 1, most)
    model = model_with("airbag", "precision", algorithm, RAISED)
    shares = []
    for split in splits("airbag", 0):
        rows = overlapping(split)
        each = [model(cost).fit(split.X, split.y).predict(split.X_test[rows]) for cost in (found["cost"], 1.0)]
        shares.append([float((flagged == 1).mean()) for flagged in each])
    precision = float(np.nanmean(np.asarray(found["each"], dtype=np.float64)[:, 0]))
    return {"cost": found["cost"], "met": found["met"], "precision": precision, "shares": shares}


def most_costs(quick: bool) -> int:
    """Return how many costs are tried."""
    return 8 if quick else 30


def tasks(quick: bool) -> list[Task]:
    """Return a task per algorithm."""
    return [Task(at_full_precision, name, most_costs(quick)) for name in ALGORITHMS]


def claims(results: Results, quick: bool) -> list[Claim]:
    """Return what the caption says."""
    found = {name: results.of(at_full_precision, name, most_costs(quick)) for name in ALGORITHMS}
    shares = {name: np.array(one["shares"]) for name, one in found.items()}
    reached = ", ".join(f"{name} {one['precision']:.4f}" for name, one in found.items())
    return [
        claim_of_fact(
            f"A precision of 100 % ± {TOLERANCE:g} is achieved by all four",
            all(one["met"] for one in found.values()),
            reached,
        ),
        claim_of_equal_means(
            "There are no false positives in the area of overlapping class distributions (share of negatives there)",
            {name: estimate(one[:, 0], OVERLAP) for name, one in shares.items()},
            NONE,
        ),
        claim_of_all(
            "… where there are some with equal costs (share with these less that at the goal)",
            {name: difference(one[:, 1], one[:, 0], OVERLAP) for name, one in shares.items()},
        ),
    ]


def draw(results: Results, quick: bool) -> Any:
    """Draw the boundaries at the goal."""
    figure, axes = panels(1, len(ALGORITHMS), (12, 3.6))
    split, titles = splits("airbag", 0)[0], []
    for axis, name in zip(axes, ALGORITHMS):
        cost = results.of(at_full_precision, name, most_costs(quick))["cost"]
        model = model_with("airbag", "precision", name, RAISED)(cost).fit(split.X, split.y)
        draw_boundary(axis, model, split.X, split.y, area=5.0)
        titles.append(f"{name}, ratio {cost:.3g}")
    entitle(axes, titles)
    legend_of_classes(figure, "crash", "no crash")
    return figure


PICTURE = Picture(
    number="B.11",
    title="a precision of 100 % on the crash data",
    choices=f"""\
a generated set in place of the crash data, {PROBLEMS["airbag"].rounds} trees of {LEAVES} leaves. The cost is that at
which mean precision over the test rows of one run (five folds of each of two sets) is 100 %, found by `match_rate` with
at most {most_costs(False)} costs ({most_costs(True)} with `--quick`); the ratio in the figure is that of the cost of a
miss to that of a false alarm. A negative test row is in the area of overlap if at least {OTHERS} of its {NEIGHBOURS}
nearest training rows are positive (a guess); a share of up to {NONE:g} counts as none.""",
    caption="""\
achieving classification goal of 100% precision on crash data by AdaC2, CSRA, CSGA and CSLB: there are no false-positive
cases in the area of overlapping class distributions.""",
    tasks=tasks,
    claims=claims,
    draw=draw,
    stand_in=True,
)
