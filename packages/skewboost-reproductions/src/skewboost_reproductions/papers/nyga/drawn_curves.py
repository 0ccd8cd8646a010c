"""Curves of appendix B of Nyga's thesis: precision, recall, F1 and errors after every round, and by parameter."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from skewboost.plots.style import GREY, import_pyplot, look
from skewboost_reproductions.estimates import estimate
from skewboost_reproductions.experiment import Results
from skewboost_reproductions.papers.nyga.problems import PROBLEMS, classifier, column, splits, staged_scores
from skewboost_reproductions.papers.nyga.trials import Tried, estimated

SHOWN = {"P+": "precision", "R+": "recall", "F+": "F1"}
FIRST, STEP = 30, 5  # every round up to the first number, then every fifth
DIGITS = 4


def rounds_shown(n_rounds: int) -> list[int]:
    """Return the rounds of a curve."""
    return [m for m in range(1, n_rounds + 1) if m <= FIRST or m % STEP == 0]


def mean_curves(data: str, algorithm: str, run: int, parameter: float | None = None) -> dict[str, list[float]]:
    """Return measures after the `rounds_shown`, means over the splits of a run.

    They are precision, recall and F1 of the positive class and the error on the test rows, and the error on the
    training rows (``"training error"``).
    """
    test, train = [], []
    at = np.array(rounds_shown(PROBLEMS[data].rounds)) - 1
    for split in splits(data, run):
        model = classifier(data, algorithm, parameter).fit(split.X, split.y)
        test.append(np.asarray(staged_scores(model, split))[at])
        train.append(column(np.asarray(staged_scores(model, split, on_train=True))[at], "error"))
    curves = {measure: _mean(column(test, measure)) for measure in (*SHOWN, "error")}
    return {name: values.round(DIGITS).tolist() for name, values in {**curves, "training error": _mean(train)}.items()}


def _mean(values: Any) -> Any:
    """Return the mean over splits, without those that are NaN."""
    values = np.asarray(values, dtype=np.float64)
    known = np.isfinite(values)
    total, n = np.where(known, values, 0.0).sum(axis=0), known.sum(axis=0)
    return np.divide(total, n, out=np.full(total.shape, np.nan), where=n > 0)


def draw_by_round(
    results: Results, data: str, algorithms: Mapping[str, float | None] | Sequence[str], *, same_scale: bool = True
) -> Any:
    """Draw the `mean_curves` of algorithms, those with a parameter at one: measures above, errors below."""
    given = algorithms if isinstance(algorithms, Mapping) else dict.fromkeys(algorithms)
    rounds = rounds_shown(PROBLEMS[data].rounds)
    figure, axes = import_pyplot().subplots(
        2, len(given), figsize=(2.75 * len(given) + 0.6, 4.6), layout="constrained", squeeze=False,
        sharex=True, sharey="row" if same_scale else "none",
    )  # fmt: skip
    for (upper, lower), (name, parameter) in zip(axes.T, given.items()):
        arguments = (data, name, 0) if parameter is None else (data, name, 0, parameter)
        curves = {m: np.asarray(v, dtype=np.float64) for m, v in results.of(mean_curves, *arguments).items()}
        for k, (measure, label) in enumerate(SHOWN.items()):
            color, style, _ = look(k)
            upper.plot(rounds, curves[measure], color=color, ls=style, label=label)
        for k, (measure, label) in enumerate((("training error", "training error"), ("error", "test error"))):
            color, style, _ = look(k + 3)
            lower.plot(rounds, curves[measure], color=color, ls=style, label=label)
        upper.set_title(name if parameter is None else f"{name}, {parameter:g}", fontsize="medium")
        lower.set(xlabel="round", xscale="log")
        for axis in (upper, lower):
            axis.grid(alpha=0.2)
            axis.spines[["top", "right"]].set_visible(False)
    for axis in axes[1]:
        axis.set_ylim(bottom=0.0)
    handles = [line for axis in axes[:, 0] for line in axis.get_lines()]
    figure.legend(handles=handles, loc="outside lower center", ncols=len(handles), frameon=False, fontsize="small")
    return figure


def draw_by_parameter(
    tuned: Mapping[str, Mapping[str, Tried]],
    symbols: Mapping[str, str],
    reference: Mapping[tuple[str, str], Any],
    excess: Sequence[str] = (),
) -> Any:
    """Draw precision, recall and F1 of the positive class by parameter: a row per algorithm, a column per data set.

    Parameters
    ----------
    tuned : mapping of str to mapping of str to Tried
        The results by algorithm and data set.
    symbols : mapping of str to str
        What the parameter of each algorithm is called.
    reference : mapping of (str, str) to array
        The measures of an algorithm without parameter, by data set and algorithm: their F1 is a dotted line.
    excess : sequence of str
        Algorithms of which the parameter less 1 is drawn.
    """
    sets = list(next(iter(tuned.values())))
    figure, axes = import_pyplot().subplots(
        len(tuned), len(sets), figsize=(2.3 * len(sets) + 0.6, 1.75 * len(tuned) + 0.7), sharey="col", squeeze=False,
        layout="constrained",
    )  # fmt: skip
    for row, (algorithm, by_set) in zip(axes, tuned.items()):
        for axis, (data, one) in zip(row, by_set.items()):
            x = np.array(one.parameters) - (algorithm in excess)
            for k, (measure, label) in enumerate(SHOWN.items()):
                color, style, marker = look(k)
                means = [estimate(values).mean for values in column(one.each, measure)]
                axis.plot(x, means, color=color, ls=style, marker=marker, ms=3, lw=1.2, label=label)
            axis.axhline(estimated(reference[data, algorithm], data, "F+").mean, color=GREY, ls=":", lw=1.2)
            axis.set(xscale="log", xlabel=symbols[algorithm])
            axis.tick_params(labelsize="x-small")
            axis.xaxis.label.set_size("small")
            axis.grid(alpha=0.2)
            axis.spines[["top", "right"]].set_visible(False)
        row[0].set_ylabel(algorithm)
    for axis, data in zip(axes[0], sets):
        axis.set_title(PROBLEMS[data].label, fontsize="medium")
    handles = axes[0, 0].get_lines()[: len(SHOWN)]
    figure.legend(handles=handles, loc="outside lower center", ncols=len(handles), frameon=False, fontsize="small")
    return figure
