"""The command `curve`: measures over training rows, rounds, costs, noise, imbalance or a parameter."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from skewboost.boosting.catalogue import RECOMMENDED_VARIANT
from skewboost.cli.commands import OVER, Curve
from skewboost.cli.cross_validation import (
    Fits,
    check_folds,
    check_no_referral,
    check_rounds,
    describe_folds,
    evaluation_of,
    folds_of,
    in_words_of_options,
    mean_and_spread,
    measure_names,
    options_of,
    print_in_80_columns,
    shown_rounds,
    unfitted,
)
from skewboost.cli.exit_codes import CommandError
from skewboost.cli.fit_command import check_multiclass, read_all
from skewboost.cli.method_options import OPTIONS, MethodOptions, read_value, suggest
from skewboost.cli.output import SHORT_NAME, count, fraction, number, print_json, print_line, print_text
from skewboost.cli.output_files import PICTURES, check_output, save_picture
from skewboost.cli.target_column import Examples, describe_cost, read_cost
from skewboost.metrics.measures import BINARY, COSTS, COUNTS, MARGINS, MEASURES
from skewboost.names import side_by_side
from skewboost.typing import Array

PRINTED = ("cost", "recall", "precision", "f1")
PRINTED_MULTICLASS = ("cost", "error", "balanced_accuracy", "g_mean")
OF_ROUNDS = tuple(name for name, m in MEASURES.items() if m.needs in (COUNTS, COSTS, MARGINS))
OF_ROUNDS_MULTICLASS = ("error", "accuracy", "balanced_accuracy", "g_mean", "cost", "savings")

# What each sweep calls its levels, and which ones it takes
LEVELS: dict[str, tuple[str, Callable[[float], bool], str]] = {
    "rows": ("sizes", lambda v: 0 < v <= 1, "fractions of the training rows, such as 0.25,0.5,1"),
    "cost": ("costs", lambda v: 0 < v < math.inf, "costs of a miss above 0, such as 1,5,20"),
    "noise": ("levels", lambda v: 0 <= v < 0.5, "fractions of the labels below 0.5, such as 0,0.1,0.2"),
    "imbalance": ("ratios", lambda v: 0 < v < math.inf, "numbers of negatives per positive, such as 50,100"),
}
HEADINGS = {"rows": "part", "noise": "flipped", "imbalance": "neg. per pos.", "cost": "cost of a miss"}
ONLY_WORSE = ("rows", "noise", "imbalance")  # there is nothing to choose


def run(request: Curve) -> None:
    """Measure, draw and print; exit with code 130 if interrupted."""
    check_output(request.plot, PICTURES, "--plot")
    over, levels = read_over(request.over)
    examples, options = read_all(request), options_of(request)
    check_multiclass(options.named, examples, "" if over == "rounds" else f"a curve over {over}")
    check_folds(request.cv, request.repeats, examples)
    cost = read_cost(request.cost, examples.classes)
    two = len(examples.classes) == 2
    known: Sequence[str] = BINARY
    if over == "rounds":
        known = OF_ROUNDS if two else OF_ROUNDS_MULTICLASS
    measures = measure_names(request.measures, known) or list(PRINTED if two else PRINTED_MULTICLASS)
    fits = Fits()
    if over == "rounds":
        _over_rounds(request, options, examples, cost, measures, fits)
    else:
        _over_levels(request, options, examples, cost, measures, over, levels, fits)
    if request.plot is not None and not request.as_json:
        print_line(f"Written: {request.plot}")
    fits.check_all_done()


def read_over(text: str) -> tuple[str, list[Any] | None]:
    """What --over names, and its values, if they are given."""
    name, equals, values = (part.strip() for part in text.partition("="))
    if not equals:
        if name not in OVER:
            remedy = suggest(name, OVER) or "Write --over learning_rate=0.1,1, for example."
            raise CommandError(f"--over {name!r} is none of {', '.join(OVER)}, and has no values.", remedy)
        return name, None
    if name in ("rounds", "n_estimators", "max_rounds"):
        raise CommandError(f"--over {name} takes no values.", "All rounds are measured: --over rounds --rounds 200.")
    if name in OPTIONS and name not in OVER:
        raise CommandError(f"--over cannot vary {name!r}.", f"Use {OPTIONS[name]}.")
    _, allowed, what = LEVELS.get(name, ("", math.isfinite, "finite numbers, such as 0.1,1"))
    levels = [read_value(value.strip()) for value in values.split(",")]
    for value in levels:
        if isinstance(value, bool) or not isinstance(value, int | float) or not allowed(value):
            with_others = f"{RECOMMENDED_VARIANT}:{name}=A,{RECOMMENDED_VARIANT}:{name}=B"
            compare = "" if name in OVER else f" `skewboost compare --methods {with_others}` takes others."
            raise CommandError(f"--over {text!r}: {str(value)!r} is not allowed.", f"Give {what}.{compare}")
    return name, levels


# -------------------------------------------------------------------------------- rounds


def _over_rounds(
    request: Curve, options: MethodOptions, examples: Examples, cost: Any, measures: list[str], fits: Fits
) -> None:
    """Measure after each round."""
    from skewboost import evaluate, plots

    estimator = unfitted(request, options, examples, cost)
    check_rounds(options, estimator, "--over rows has a curve of any method.")
    with fits.shown("Curve over rounds") as update:
        curve = evaluate.staged_curve(
            estimator, examples.X, examples.y, cv=folds_of(request.cv, examples), repeats=request.repeats, cost=cost,
            verbose=update, **evaluation_of(request, examples),
        )  # fmt: skip
    _check_measured(measures, curve.measures, options)
    first = measures[0]
    if request.plot is not None:
        save_picture(plots.StagedCurveDisplay(curve, measures=first).plot().figure_, request.plot)
    best = best_level(curve.rounds, curve.mean(first), first) if curve.complete else None
    if request.as_json:
        print_json({
            **_described(request, options, curve.pos_label, cost), "complete": curve.complete,
            "fits": len(curve.folds), "rounds": curve.rounds, "rounds_of_fits": curve.n_rounds,
            "best": {"measure": first, "round": best},
            "measures": {m: {part: _values(curve, m, part) for part in ("train", "test")} for m in curve.measures},
            "margins": {"kind": curve.margins, "levels": curve.margin_levels, "quantiles": curve.margin_quantiles},
            "weights": {
                "levels": curve.weight_levels, "quantiles": curve.weight_quantiles,
                "of_positives": curve.weight_of_positives,
            },
        })  # fmt: skip
        return
    which = shown_rounds(curve.rounds, best)
    begin = [[number(k + 1), fraction(curve.mean(first, "train")[k])] for k in which]
    _print(request, options, examples, ["round", "training"], begin, curve, measures, which)
    print_line(f"training: the mean {MEASURES[first].label} on the training rows.")
    if curve.n_rounds.min() < curve.n_rounds.max():
        lengths = f"{curve.n_rounds.min()} to {curve.n_rounds.max()}"
        print_text(f"The fits have {lengths} rounds; the measures of those that ended earlier are repeated.")
    _print_end(measures, cost, best, "round", len(which))


# -------------------------------------------------------------------------------- levels


def _over_levels(
    request: Curve, options: MethodOptions, examples: Examples, cost: Any, measures: list[str], over: str, levels: Any,
    fits: Fits,
) -> None:  # fmt: skip
    """Measure at the levels of a sweep."""
    sweep = _sweep(request, options, examples, cost, over, levels, fits)
    _check_measured(measures, sweep.measures, options)
    if request.plot is not None:
        save_picture(_picture(sweep, measures).figure_, request.plot)
    chooses = over not in ONLY_WORSE and sweep.complete
    best = best_level(sweep.levels, sweep.mean(measures[0]), measures[0]) if chooses else None
    sizes = {"rows": _n_rows(sweep.levels, request, examples)} if over == "rows" else {}
    if request.as_json:
        values = {m: _values(sweep, m) for m in sweep.measures}
        for m in values if hasattr(sweep, "pooled") else ():
            if MEASURES[m].needs in (COUNTS, COSTS):
                values[m]["pooled"] = sweep.pooled(m)
        chosen = {} if over in ONLY_WORSE else {"best": {"measure": measures[0], "level": best}}
        print_json({
            **_described(request, options, sweep.pos_label, cost), "complete": sweep.complete, "fits": sweep.n_fits,
            "what": sweep.what, "levels": sweep.levels, **sizes, **chosen, "measures": values,
        })  # fmt: skip
        return
    heading = HEADINGS.get(over) or side_by_side([over], SHORT_NAME)[0]
    if over in ("rows", "noise"):
        names = [f"{100 * level:.3g}%" for level in sweep.levels]
    else:
        names = [f"{level:.3g}" if over == "imbalance" else f"{level:g}" for level in sweep.levels]
    begin = [[name, *(number(n[k]) for n in sizes.values())] for k, name in enumerate(names)]
    _print(request, options, examples, [heading, *sizes], begin, sweep, measures, range(len(names)))
    _print_end(measures, cost, best, heading, len(names))


def _sweep(
    request: Curve, options: MethodOptions, examples: Examples, cost: Any, over: str, levels: Any, fits: Fits
) -> Any:
    """Fit at all levels."""
    from skewboost import evaluate

    rows = examples.X, examples.y
    how = {"cv": folds_of(request.cv, examples), "repeats": request.repeats, "cost": cost}
    how |= evaluation_of(request, examples)
    if over not in OVER:
        estimator = _with_parameter(request, options, examples, cost, over, levels)
        with fits.shown(f"Curve over {over}") as update:
            return evaluate.cost_sweep(estimator, *rows, param=over, costs=levels, verbose=update, **how)
    estimator = unfitted(request, options, examples, None if over == "cost" else cost)
    argument = LEVELS[over][0]
    how |= {} if levels is None else {argument: levels}
    words = {f"{argument} has": f"--over {over} has", "pos_label": "--positive"}
    with fits.shown(f"Curve over {over}") as update, in_words_of_options(words):
        if over == "cost":
            return evaluate.cost_sweep(estimator, *rows, verbose=update, **how)
        sweeps: dict[str, Callable[..., Any]] = {
            "rows": evaluate.size_sweep, "noise": evaluate.noise_sweep, "imbalance": evaluate.imbalance_sweep,
        }  # fmt: skip
        return sweeps[over]({options.spec: estimator}, *rows, verbose=update, **how)


def _with_parameter(
    request: Curve, options: MethodOptions, examples: Examples, cost: Any, name: str, levels: Any
) -> Any:
    """The estimator, which has this parameter; with its default value, because figures name parameters that are set."""
    if name in options.parameters:
        raise CommandError(f"--set {name} has no effect with --over {name}.", "Leave it out.")
    options = replace(options, settings=(*options.settings, f"{name}={levels[0]}"))
    check_no_referral(options)
    estimator = unfitted(request, options, examples, cost)  # for estimator__max_depth with a learner that has it
    owner, _, own = name.rpartition("__")
    default = type(estimator.get_params()[owner] if owner else estimator)().get_params()[own]
    return estimator.set_params(**{name: default})


def _n_rows(levels: Array, request: Curve, examples: Examples) -> Array:
    """The mean numbers of training rows at these fractions."""
    folds = folds_of(request.cv, examples)
    of_fold = [len(train) for train, _ in folds] if examples.times is not None else len(examples.y) * (1 - 1 / folds)
    return np.asarray(np.rint(levels * np.mean(of_fold)))


def _picture(sweep: Any, measures: Sequence[str]) -> Any:
    """A curve per measure over costs or a parameter, else one of the first measure."""
    from skewboost import plots
    from skewboost.plots.display import UNBOUNDED

    if not hasattr(sweep, "pooled"):
        return plots.SweepDisplay(sweep, measure=measures[0]).plot()
    rates = [m for m in measures if m not in UNBOUNDED]  # which have one axis
    return plots.CostSweepDisplay(sweep, measures=rates or measures[:1], pooled=False).plot()


# -------------------------------------------------------------------------------- common


def _check_measured(wanted: Sequence[str], measured: Sequence[str], options: MethodOptions) -> None:
    """Raise if a measure is not there, such as the log-loss of a method without probabilities."""
    missing = [name for name in wanted if name not in measured]
    if missing:
        raise CommandError(f"--measures: {options.named.name} has no {missing[0]}.", "Leave it out.")


def best_level(levels: Array, mean: Array, measure: str) -> Any:
    """The level with the best mean, the first one in a tie; None if there is none."""
    values = MEASURES[measure].sign * mean
    return None if np.isnan(values).all() else levels[np.nanargmax(values)].item()


def _values(result: Any, measure: str, *part: str) -> dict[str, Any]:
    kinds = {"mean": result.mean, "sd": result.spread, "values": result.values}
    return {kind: function(measure, *part) for kind, function in kinds.items()}


def _described(request: Curve, options: MethodOptions, positive: Any, cost: Any) -> dict[str, Any]:
    return {
        "data": request.data, "target": request.target, "method": options.spec, "over": request.over,
        "positive": positive, "cost": cost, "cv": request.cv, "repeats": request.repeats,
    }  # fmt: skip


def _print(
    request: Curve, options: MethodOptions, examples: Examples, headings: list[str], begin: list[list[str]],
    result: Any, measures: Sequence[str], which: Sequence[int],
) -> None:  # fmt: skip
    """Print the means at some levels after the first cells of each row, with standard deviations if there is room."""
    folds = describe_folds(request, request.cv, request.repeats) + ("" if result.complete else ", interrupted")
    print_line(f"{options.spec} on {count(len(examples.y), 'row')} of {examples.path}, {folds}")
    means = [(result.mean(m), result.spread(m)) for m in measures]
    short = [[fraction(mean[k]) for mean, _ in means] for k in which]
    long = [[mean_and_spread(mean[k], s[k]) for mean, s in means] for k in which]
    print_in_80_columns([*headings, *(MEASURES[m].label for m in measures)], begin, long, short)


def _print_end(measures: Sequence[str], cost: Any, best: Any, where: str, n_levels: int) -> None:
    if "cost" in measures:
        print_line(f"cost is per row: {describe_cost(cost)}.")
    if best is not None and n_levels > 1:
        where = f"round {best}" if where == "round" else f"{where} = {best:g}"
        print_text(f"The mean {MEASURES[measures[0]].label} is best at {where}; expect a little worse on new rows.")
