"""Figure 1.1: models of high bias and of high variance."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.polynomial import Polynomial

from skewboost.plots.style import GREEN, GREY, INK, RED
from skewboost_reproductions.estimates import difference
from skewboost_reproductions.experiment import Results, Task
from skewboost_reproductions.papers.nyga.pictures.panels import entitle, legend_of_lines, panels
from skewboost_reproductions.papers.nyga.pictures.picture import Picture
from skewboost_reproductions.verdicts import Claim, by_construction, claim_of_fact, claim_of_order

X = np.linspace(0.0, 1.5 * np.pi, 10)
GRID = np.linspace(X[0], X[-1], 121)
NOISE = 0.3
LINE, HIGHEST = 1, len(X) - 1
DEGREES = range(1, HIGHEST + 1)
SETS = 100  # per task
DRAWN = ((1, RED, "^"), (11, GREEN, "o"))  # the training sets of the figure


def sample(seed: int) -> Any:
    """Return a training set: a cosine with additive normal noise."""
    return np.cos(X) + np.random.default_rng(seed).normal(0.0, NOISE, len(X))


def fitted(degree: int, y: Any) -> Polynomial:
    """Return the polynomial of least squares."""
    return Polynomial.fit(X, y, degree)


def bias_and_variance(first: int) -> list[list[float]]:
    """Return bias², variance, squared error and the largest residual, by degree, over training sets from a seed on."""
    found = []
    for degree in DEGREES:
        models = [(fitted(degree, y), y) for y in map(sample, range(first, first + SETS))]
        predictions = np.array([model(GRID) for model, _ in models])
        bias = ((predictions.mean(axis=0) - np.cos(GRID)) ** 2).mean()
        error = ((predictions - np.cos(GRID)) ** 2).mean()
        residual = max(float(np.abs(model(X) - y).max()) for model, y in models)
        found.append([float(bias), float(predictions.var(axis=0).mean()), float(error), residual])
    return found


def tasks(quick: bool) -> list[Task]:
    """Return blocks of training sets."""
    return [Task(bias_and_variance, first) for first in seeds(quick)]


def seeds(quick: bool) -> range:
    """Return the first seed of each block."""
    return range(0, SETS * (5 if quick else 20), SETS)


def by_block(results: Results, quick: bool) -> Any:
    """Return an array by block, degree, and bias², variance, error and residual."""
    return np.array([results.of(bias_and_variance, first) for first in seeds(quick)])


def claims(results: Results, quick: bool) -> list[Claim]:
    """Return what the text says about the figure."""
    bias, variance, error, residual = np.moveaxis(by_block(results, quick), -1, 0)
    line, high = LINE - 1, HIGHEST - 1
    best = int(error.mean(axis=0).argmin())
    off = float(np.abs(bias + variance - error).max())
    trade = "A tradeoff is better (squared error of degree {} less that of degree {})"
    perfect = f"largest residual {residual[:, high].max():.0e}"
    return [
        by_construction(
            claim_of_fact("The expected squared error is (1.2) + (1.3)", off < 1e-9, f"at most {off:.0e} apart")
        ),
        claim_of_order("Lines have large bias (bias² less variance)", difference(bias[:, line], variance[:, line])),
        claim_of_order("Polynomials have high variance (less bias²)", difference(variance[:, high], bias[:, high])),
        by_construction(
            claim_of_fact("The polynomials fit their training sets perfectly", residual[:, high].max() < 1e-6, perfect)
        ),
        claim_of_order(
            "Two lines resemble more than two polynomials (variance of these less that of lines)",
            difference(variance[:, high], variance[:, line]),
        ),
        *(claim_of_order(trade.format(k + 1, best + 1), difference(error[:, k], error[:, best])) for k in (line, high)),
    ]


def draw(results: Results, quick: bool) -> Any:
    """Draw two models of each kind, and bias² and variance by degree."""
    figure, axes = panels(1, 3, (11.5, 3.8))
    for axis, degree in zip(axes, (LINE, HIGHEST)):
        lines = axis.plot(GRID, np.cos(GRID), color=GREY, ls="--", lw=1.5, label="cosine")
        for number, (seed, color, marker) in enumerate(DRAWN, 1):
            y = sample(seed)
            axis.plot(X, y, marker, color=color, ms=5, mfc="none")
            curve = fitted(degree, y)(GRID)
            lines += axis.plot(GRID, curve, color=color, lw=1.6, label=f"training set {number}")
        axis.set(xlabel="x", ylim=(-2.1, 2.1))
    bias, variance, error, _ = np.moveaxis(by_block(results, quick), -1, 0).mean(axis=1)
    for values, color, style, label in (
        (bias, INK, "--", "bias²"), (variance, INK, ":", "variance"), (error, INK, "-", "squared error"),
    ):  # fmt: skip
        lines += axes[2].plot(list(DEGREES), values, color=color, ls=style, lw=1.6, marker=".", label=label)
    axes[2].set(xlabel="degree of the polynomial", yscale="log", xticks=list(DEGREES))
    entitle(axes, ("Lines: high bias", f"Polynomials of degree {HIGHEST}: high variance", "Over many training sets"))
    legend_of_lines(figure, lines)
    return figure


PICTURE = Picture(
    number="1.1",
    title="models of high bias and of high variance",
    choices=f"""\
a cosine on the interval from 0 to 1.5 π at {len(X)} equidistant points, with normal noise of standard deviation
{NOISE:g} (guesses); lines, and polynomials of degree {HIGHEST}, chosen as the lowest that fits every training set
perfectly. Bias and variance are means over the interval. {SETS} training sets are a block, and errors are over
{len(seeds(False))} blocks ({len(seeds(True))} with `--quick`). Two training sets are drawn whose polynomials fit into
the panel. Panel (c) is not in the thesis.""",
    caption="""\
two linear models closely resemble, but are far from the true data, so that they exhibit large bias; two higher-order
polynomials fit their training sets perfectly, but depend on the data, so that they have high variance.""",
    tasks=tasks,
    claims=claims,
    draw=draw,
)
