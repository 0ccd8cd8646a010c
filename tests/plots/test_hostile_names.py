"""Whatever columns, categories, classes and models are called, every display draws it as it is."""

from __future__ import annotations

import io
import warnings
from dataclasses import replace
from xml.etree import ElementTree

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

from hostile import NAMES, PLAIN, TALL
from skewboost import (
    AdaBoostMHClassifier,
    AlternatingTreeClassifier,
    GoalSearchCV,
    RealBoostClassifier,
    SkewBoostClassifier,
    plots,
)
from skewboost.boosting.explanations import ShapeFunction
from skewboost.evaluate import bias_variance, staged_curve
from skewboost.evaluate.sweeps import CostSweep, Sweep
from skewboost.names import quoted, shown, side_by_side
from skewboost.plots.display_inputs import format_label

POSITIVE, NEGATIVE = "$20,000_$29,999 [/x] \n", "_</text>$"
ROWS = 60
SOME = list(dict.fromkeys([*NAMES[::3], *TALL]))


def words_in(figure):
    """All text of a figure, as a browser finds it."""
    file = io.StringIO()
    with warnings.catch_warnings(), mpl.rc_context({"svg.fonttype": "none"}):
        warnings.filterwarnings("ignore", "Glyph .* missing from font")
        figure.savefig(file, format="svg")
    tree = ElementTree.fromstring(file.getvalue())
    return [node.text for node in tree.iter("{http://www.w3.org/2000/svg}text") if node.text]


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    y = np.where(np.arange(ROWS) % 3 == 0, POSITIVE, NEGATIVE)
    X = pd.DataFrame(rng.normal(size=(ROWS, 3)), columns=["$a$ [/x]", "_b\x1b", ""])
    X.iloc[:, 0] += y == POSITIVE
    return X, y


@pytest.fixture(scope="module")
def model(rows):
    return RealBoostClassifier(n_estimators=5).fit(*rows)


@pytest.fixture(scope="module")
def curve(rows):
    return staged_curve(RealBoostClassifier(n_estimators=3), *rows, cv=2)


def panels(n):
    """Axes for more names than there is room for."""
    figure = Figure(figsize=(4, 4))
    return [figure.add_axes((0.1, 0.1, 0.1, 0.1), label=str(k)) for k in range(n)]


def one_panel():
    return panels(1)[0]


def shape_of(name, categories):
    ones = np.ones(len(categories))
    return ShapeFunction(0, name, "nominal", ones, ones, 0.5, 3.0, np.empty(0), tuple(categories))


def shapes(**_):
    groups = [NAMES[k : k + 12] for k in range(0, len(NAMES), 12)]
    names = ["$a$ [/x]", "_b\x1b", "", *TALL[:3], *PLAIN][: len(groups)]
    functions = [shape_of(*pair) for pair in zip(names, groups)]
    display = plots.ShapeFunctionDisplay(functions=functions, label=POSITIVE).plot(panels(len(groups)))
    titles = side_by_side(names, 30)
    ticks = [f"{name} (1)" for group in groups for name in side_by_side(group, 18, ["missing"])]
    return display, [*titles, *ticks, "missing (3)"]


def contributions(**_):
    display = plots.ContributionDisplay(
        contributions=np.arange(len(SOME)) + 1.0, baseline=0.0, names=SOME, cells=[shown(n) for n in SOME],
        label=POSITIVE, predicted=NEGATIVE,
    ).plot(one_panel(), max_bars=len(SOME))  # fmt: skip
    ticks = [f"{name} = " for name in side_by_side(SOME, 32)]
    axis = f"score F; bars to the right favour {format_label(POSITIVE)}"
    return display, [*ticks, axis, f"Predicted: {format_label(NEGATIVE)}"]


def boundary(rows, **_):
    grid = np.arange(float(len(NAMES)))
    points = np.column_stack([grid, grid])
    display = plots.DecisionBoundaryDisplay(
        horizontal=grid, vertical=grid, response=np.add.outer(grid, grid) - 50, decision=np.add.outer(grid, grid) > 50,
        level=0.5, points=points, positive=grid % 2 == 0, sizes=np.full(len(grid), 9.0), names=("$a$ [/x]", "_b\x1b"),
        categories=(tuple(NAMES), tuple(NAMES[::-1])), labels=("_no$", "$yes$\n"), note="$c$ at its median",
    ).plot(one_panel())  # fmt: skip
    return display, [
        *side_by_side(NAMES, 14),
        "$a$ [/x]",
        r"'_b\x1b'",
        "_no$",
        r"$yes$\n",
        r"P($yes$\n)",
        "$c$ at its median",
    ]


def of_methods(kind):
    display = plots.ComparisonDisplay(
        measure="cost", kind=kind, methods=SOME, centres=np.arange(len(SOME)) + 1.0,
        groups=(tuple(SOME[:2]),) if kind == "ranks" else (),
    ).plot(one_panel())  # fmt: skip
    return display, side_by_side(SOME, 40)


def sweep(**_):
    levels, values = np.array([0.0, 0.1]), {(name, "f1"): np.full((2, 2), 0.5) for name in SOME}
    found = Sweep("share of labels flipped", levels, tuple(SOME), ("f1",), 2, POSITIVE, values)
    names = [quoted(n) if n.startswith("_") else n for n in side_by_side(SOME, 32)]
    return plots.SweepDisplay(found).plot(one_panel()), names


def cost_sweep(**_):
    values = {("$a$ [/x]", m): np.full((2, 2), 0.5) for m in ("precision", "recall", "f1")}
    pooled = {m: np.full(2, 0.5) for m in ("precision", "recall", "f1")}
    found = CostSweep(
        "value of $p$_", np.array([1.0, 2.0]), ("$a$ [/x]",), tuple(pooled), 2, POSITIVE, values, "$p$_", pooled
    )
    return plots.CostSweepDisplay(found).plot(), [
        "$a$ [/x] at several values of $p$_, all folds pooled",
        "value of $p$_",
    ]


def tree(rows, **_):
    X, y = rows
    frame = X.assign(**{"[/c] $": np.array(NAMES, dtype=object)[np.arange(ROWS) % 20]})
    display = plots.AlternatingTreeDisplay.from_estimator(AlternatingTreeClassifier(max_rounds=6).fit(frame, y))
    found = {m: s.name for _, _, s in display.root.walk() if s for m in [s.round]}
    return display, [f"Positive numbers favour {quoted(POSITIVE)}", *(f"{m}  {shown(n)}" for m, n in found.items())]


def along(rows, model, feature):
    display = plots.PosteriorDisplay.from_estimator(model, *rows, along=feature)
    return display, [shown(feature), f"P({format_label(POSITIVE)} | x)"]


def margins(rows, model):
    display = plots.MarginDisplay.from_estimator(model, *rows)
    return display, [f"5 rounds, {quoted(c)}" for c in (POSITIVE, NEGATIVE)]


def margins_of_three(rows, **_):
    X, y = rows
    three = np.where(np.arange(ROWS) % 4 == 0, "$b$_\t", y)
    display = plots.MarginDisplay.from_estimator(AdaBoostMHClassifier(n_estimators=5).fit(X, three), X, three)
    return display, [f"5 rounds, {quoted(c)}" for c in (POSITIVE, NEGATIVE, "$b$_\t")]


def frontier(rows, **_):
    search = GoalSearchCV(RealBoostClassifier(n_estimators=2), "recall >= 0.2", confidence=None, max_points=3, cv=2)
    return plots.GoalFrontierDisplay.from_estimator(search.fit(*rows)), ["Goal: recall >= 0.2"]


def staged_boundaries(rows, model):
    names = [*SOME[:8], "_hidden$"]
    display = plots.StagedBoundaryDisplay.from_estimator(dict.fromkeys(names, model), rows[0], feature=0, optimum=0.5)
    labels = [quoted(n) if n.startswith("_") else n for n in side_by_side(names, 32)]
    return display, [*labels, "boundary: $a$ [/x]", "the 2 other features at their medians"]


def one_staged_boundary(rows, model):
    display = plots.StagedBoundaryDisplay.from_estimator({"$n$_": model}, rows[0].iloc[:, [0, 1, 2]], feature="_b\x1b")
    return display, ["$n$_: decision boundary by round", r"boundary: '_b\x1b'"]


MAKERS = {
    "AlternatingTreeDisplay": [tree],
    "BiasVarianceDisplay": [
        lambda rows, **_: (
            plots.BiasVarianceDisplay(
                replace(bias_variance(RealBoostClassifier(n_estimators=2), *rows, draws=2), name="$a$ [/x]")
            ).plot(),
            ["$a$ [/x]: error = bias"],
        )
    ],
    "CalibrationDisplay": [
        lambda rows, model, **_: (
            plots.CalibrationDisplay.from_estimator(model, *rows),
            [f"predicted probability of {format_label(POSITIVE)}", f"observed frequency of {format_label(POSITIVE)}"],
        )
    ],
    "ComparisonDisplay": [lambda **_: of_methods("ranks"), lambda **_: of_methods("values")],
    "ContributionDisplay": [
        contributions,
        lambda rows, model, **_: (
            plots.ContributionDisplay.from_estimator(model, rows[0][:1]),
            [f"Predicted: {format_label(model.predict(rows[0][:1])[0])}", "$a$ [/x] = "],
        ),
    ],
    "CostCurveDisplay": [lambda rows, model, **_: (plots.CostCurveDisplay.from_estimator(model, *rows), [])],
    "CostSweepDisplay": [cost_sweep],
    "DecisionBoundaryDisplay": [
        boundary,
        lambda rows, model, **_: (
            plots.DecisionBoundaryDisplay.from_estimator(model, *rows, features=(0, 2), grid=5),
            ["$a$ [/x]", "''", quoted(POSITIVE), quoted(NEGATIVE), r"'_b\x1b' at its median"],
        ),
    ],
    "GoalFrontierDisplay": [frontier],
    "StagedBoundaryDisplay": [
        lambda rows, model, **_: staged_boundaries(rows, model),
        lambda rows, model, **_: one_staged_boundary(rows, model),
    ],
    "StagedCurveDisplay": [
        lambda curve, **_: (
            plots.StagedCurveDisplay(replace(curve, name="$a$ [/x]")).plot(),
            ["$a$ [/x]: error by round"],
        )
    ],
    "MarginDisplay": [lambda rows, model, **_: margins(rows, model), margins_of_three],
    "OperatingPointDisplay": [
        lambda rows, model, **_: (
            plots.OperatingPointDisplay.from_estimator(model, *rows),
            [f"recall of {format_label(POSITIVE)}"],
        )
    ],
    "PosteriorDisplay": [
        lambda rows, model, **_: along(rows, model, "$a$ [/x]"),
        lambda rows, model, **_: along(rows, model, "_b\x1b"),
    ],
    "ShapeFunctionDisplay": [
        shapes,
        lambda rows, model, **_: (
            plots.ShapeFunctionDisplay.from_estimator(model, rows[0]),
            [f" to F by feature value: above zero, it favours {format_label(POSITIVE)}", "$a$ [/x]"],
        ),
    ],
    "SweepDisplay": [sweep],
    "WeightQuantileDisplay": [
        lambda curve, **_: (
            plots.WeightQuantileDisplay(replace(curve, name="$a$ [/x]")).plot(),
            ["$a$ [/x]: quantiles of the weights"],
        )
    ],
}  # fmt: skip


def test_every_display_is_tried():
    assert set(MAKERS) == {name for name in plots.__all__ if name.endswith("Display")}


@pytest.mark.sample(2)
@pytest.mark.filterwarnings("ignore::skewboost.goals.LittleUseWarning")  # of two rounds on a dozen rows
@pytest.mark.parametrize(("display", "k"), [(name, k) for name, makers in MAKERS.items() for k in range(len(makers))])
def test_names_are_drawn_as_they_are(display, k, rows, model, curve):
    drawn, expected = MAKERS[display][k](rows=rows, model=model, curve=curve)
    assert type(drawn).__name__ == display
    words = words_in(drawn.figure_)
    for name in expected:
        assert any(word.startswith(name) or word.endswith(name) for word in words), (name, words)


OF_ANY_MODEL = [
    *(("CalibrationDisplay", 0), ("ContributionDisplay", 1), ("CostCurveDisplay", 0), ("DecisionBoundaryDisplay", 1)),
    *(("OperatingPointDisplay", 0), ("PosteriorDisplay", 0), ("PosteriorDisplay", 1), ("ShapeFunctionDisplay", 1)),
]


@pytest.fixture(
    scope="module", params=["portfolio", "referring portfolio", "portfolio with a goal", "goal of a portfolio"]
)
def of_trees(request, rows):
    own = {"effort": "quick", "random_state": 0}
    goal = {"goal": "recall >= 20%", "confidence": 0.5}
    return {
        "portfolio": lambda: SkewBoostClassifier(**own),
        "referring portfolio": lambda: SkewBoostClassifier(**own, cost=3, reject_cost=0.2, reject_label="_$r$"),
        "portfolio with a goal": lambda: SkewBoostClassifier(**own, **goal),
        "goal of a portfolio": lambda: GoalSearchCV(SkewBoostClassifier(**own), **goal, cv=2, random_state=0),
    }[request.param]().fit(*rows)


@pytest.mark.sample(4)
@pytest.mark.filterwarnings("ignore::skewboost.goals.LittleUseWarning")
@pytest.mark.parametrize(("display", "k"), OF_ANY_MODEL)
def test_names_of_portfolios_are_drawn_as_they_are(display, k, rows, of_trees, curve):
    explains = display in ("ContributionDisplay", "ShapeFunctionDisplay")
    model = getattr(of_trees, "estimator_", of_trees) if explains else of_trees
    test_names_are_drawn_as_they_are(display, k, rows, model, curve)


@pytest.mark.slow
def test_toolbox_names_its_axes():
    from skewboost.toolbox import boost_learn, show_decision_boundary

    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(40, 2)), columns=["$a$", "b\n"])
    Y = np.where(X["$a$"] > 0, 1, -1)
    ax = show_decision_boundary(boost_learn(X, Y, "real_boost", "stump", 3), X, Y)
    assert {"$a$", r"'b\n'"} <= set(words_in(ax.figure))
