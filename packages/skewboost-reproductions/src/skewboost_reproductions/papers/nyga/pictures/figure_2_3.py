"""Figure 2.3: AdaBoost and AdaC1 on three points."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from skewboost import AdaBoostClassifier, AdaC1Classifier
from skewboost.learners import Stump
from skewboost.plots.style import import_pyplot, look
from skewboost_reproductions.experiment import Results, Task
from skewboost_reproductions.papers.nyga.pictures.panels import entitle, legend_of_lines, panels
from skewboost_reproductions.papers.nyga.pictures.picture import Picture
from skewboost_reproductions.verdicts import Claim, claim_of_fact

X, Y = np.array([[1.0], [2.0], [3.0]]), np.array([-1, 1, -1])
ROUNDS, COST = 10, 3.0
POINTS = ("$x_1$, y = -1", f"$x_2$, y = +1, c = {COST:g}", "$x_3$, y = -1")
BOTH = ("AdaBoost", "AdaC1")
STUMPS = np.array([[-1, 1, 1], [1, -1, -1], [-1, -1, 1], [1, 1, -1], [1, 1, 1], [-1, -1, -1]])


def booster(name: str) -> Any:
    """Return a booster of stumps; constants compete, or three points could not be separated."""
    made: Any = AdaBoostClassifier() if name == "AdaBoost" else AdaC1Classifier(cost={1: COST, -1: 1.0}, alpha="nyga")
    return made.set_params(estimator=Stump(criterion="error", constant=True), n_estimators=ROUNDS, pos_label=1)


def rounds_on_three_points(name: str) -> dict[str, Any]:
    """Return F by round and point, and the steps."""
    model = booster(name).fit(X, Y)
    F = [stage.tolist() for stage in model.staged_decision_function(X)]
    return {"F": F, "steps": [record["step"] for record in model.history_]}


def rounds_until_solved() -> list[int]:
    """Return after how many rounds AdaBoost has no error, for every way to break ties between stumps."""
    paths = _paths(np.full(3, 1 / 3), np.zeros(3), 5)
    return sorted({path.index(0) + 1 for path in paths})


def _paths(w: Any, F: Any, rounds: int) -> Iterator[list[int]]:
    """Yield the numbers of errors by round, for each stump that is best."""
    if rounds == 0:
        yield []
        return
    errors = (STUMPS != Y) @ w
    for h in STUMPS[errors < errors.min() + 1e-9]:
        alpha = 0.5 * np.log((1.0 - errors.min()) / errors.min())
        after, following = F + alpha * h, w * np.exp(-alpha * Y * h)
        for rest in _paths(following / following.sum(), after, rounds - 1):
            yield [int((after * Y <= 0).sum()), *rest]


def errors_by_round(F: Any) -> list[int]:
    """Return how many points are wrong after each round."""
    return [int((np.array(stage) * Y <= 0).sum()) for stage in F]


def claims(results: Results, quick: bool) -> list[Claim]:
    """Return what the text says about the figure."""
    plain, costly = (results.of(rounds_on_three_points, name) for name in BOTH)
    solved, errors = errors_by_round(plain["F"]), errors_by_round(costly["F"])
    first = solved.index(0) + 1
    ties = ", ".join(map(str, results.of(rounds_until_solved)))
    by_round, steps = ", ".join(map(str, errors)), costly["steps"]
    stays = not any(solved[first - 1 :])
    return [
        claim_of_fact(
            "AdaBoost solves it after 4 iterations", first == 4, f"after {first}; {ties} however ties are broken"
        ),
        claim_of_fact("AdaBoost solves it, and stays there", stays, f"no errors from round {first} to {ROUNDS}"),
        claim_of_fact("AdaC1 does not converge, it oscillates", len(set(errors[-4:])) > 1, f"by round: {by_round}"),
        claim_of_fact(
            "In round 2, where AdaC1 constantly predicts the negative class, α is negative", steps[1] < 0,
            f"α₂ = {steps[1]:.2f}; the smallest of all is {min(steps):.2f}",
        ),
    ]  # fmt: skip


def draw(results: Results, quick: bool) -> Any:
    """Draw the errors, and the normalised score of each point, over the rounds."""
    figure, axes = panels(2, 2, (9, 5.4), sharex=True, sharey="row")
    rounds = np.arange(1, ROUNDS + 1)
    lines: list[Any] = []
    for name, above, below in zip(BOTH, axes[:2], axes[2:]):
        found = results.of(rounds_on_three_points, name)
        F = np.array(found["F"])
        above.plot(rounds, errors_by_round(F), color="#1a1a1a", marker="o", lw=1.4)
        above.set(ylim=(-0.15, 2.2), yticks=(0, 1, 2))
        below.axhline(0.0, color="#8c8c8c", lw=0.8)
        votes = np.cumsum(np.abs(found["steps"]))
        lines = []
        for k in range(3):
            color, style, marker = look((1, 0, 2)[k])
            lines += below.plot(rounds, F[:, k] / votes, color=color, ls=style, marker=marker, ms=4, label=POINTS[k])
        below.set(xlabel="rounds", ylim=(-1.1, 1.1), xticks=rounds)
    axes[0].set_ylabel("points that are wrong")
    axes[2].set_ylabel("F / Σ α")
    titles = ("AdaBoost: errors", f"AdaC1, c = {COST:g}: errors", "AdaBoost: score", "AdaC1: score")
    entitle(axes, titles)
    legend_of_lines(figure, lines)
    import_pyplot().setp(axes, xlim=(0.7, ROUNDS + 0.3))
    return figure


PICTURE = Picture(
    number="2.3",
    title="AdaBoost and AdaC1 on three points",
    choices=f"""\
stumps of least error among all cuts and both constants; without constants three points cannot be solved. AdaC1 has the
step (2.58) (`alpha="nyga"`), c = {COST:g} for the point in the middle. All ties of AdaBoost are tried. Panels (c) and
(d) are not in the thesis.""",
    caption="""\
AdaBoost and AdaC1 run on the toy example with c = 3 over 10 iterations: AdaBoost solves the problem after 4 iterations;
AdaC1 shows oscillations.""",
    tasks=lambda quick: [*(Task(rounds_on_three_points, name) for name in BOTH), Task(rounds_until_solved)],
    claims=claims,
    draw=draw,
)
