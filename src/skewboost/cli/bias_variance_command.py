"""The command `bias-variance`: the parts of the loss of a method."""

from __future__ import annotations

from typing import Any

from skewboost.boosting.catalogue import RECOMMENDED, RECOMMENDED_VARIANT
from skewboost.cli.commands import DECOMPOSITIONS, LOSSES, SCHEMES, BiasVariance
from skewboost.cli.cross_validation import (
    Fits,
    check_choice,
    check_folds,
    check_rounds,
    evaluation_of,
    options_of,
    shown_rounds,
    unfitted,
)
from skewboost.cli.exit_codes import CommandError
from skewboost.cli.fit_command import check_multiclass, read_all
from skewboost.cli.method_options import MethodOptions
from skewboost.cli.output import count, fraction, print_json, print_line, print_table, print_text
from skewboost.cli.output_files import PICTURES, check_output, save_picture
from skewboost.cli.target_column import Examples, describe_cost, read_cost
from skewboost.evaluate.decomposition import N_TEST_FOLDS
from skewboost.evaluate.problem import fewest_of_a_class
from skewboost.names import shown

PARTS = {
    "loss": "loss", "bias": "bias", "variance": "variance", "variance_unbiased": "harms", "variance_biased": "helps",
}  # fmt: skip
FOLDS = 5


def run(request: BiasVariance) -> None:
    """Fit to many training sets, draw and print; exit with code 130 if interrupted."""
    check_output(request.plot, PICTURES, "--plot")
    _check_options(request)
    examples, options = read_all(request), options_of(request)
    check_multiclass(options.named, examples)
    _check_rows(request, examples)
    cost = read_cost(request.cost, examples.classes)
    estimator = _estimator(request, options, examples, cost)
    fits = Fits()
    result = _decomposed(request, estimator, examples, cost, fits)
    if request.plot is not None:
        from skewboost.plots import BiasVarianceDisplay

        save_picture(BiasVarianceDisplay(result).plot().figure_, request.plot)
    if request.as_json:
        print_json({
            "data": request.data, "target": request.target, "method": options.spec, "of": result.of,
            "decomposition": result.method, "scheme": request.scheme, "draws": result.n_draws, "cost": cost,
            "complete": result.complete, "rounds": result.rounds if request.staged else None,
            **{part: getattr(result, part) for part in PARTS},
        })  # fmt: skip
    else:
        _print(request, options, examples, cost, result)
    fits.check_all_done()


def _check_options(request: BiasVariance) -> None:
    check_choice("--of", request.of, LOSSES)
    check_choice("--decomposition", request.decomposition, DECOMPOSITIONS)
    check_choice("--scheme", request.scheme, SCHEMES)
    if request.time is not None:
        raise CommandError(
            "--time has no effect, because the training sets are drawn from all rows at random.",
            f"Use --drop {request.time}; `skewboost compare` measures on later rows.",
        )
    if request.cv is not None and request.scheme != "cv":
        raise CommandError(f"--cv has no effect with --scheme {request.scheme}.", "Use --scheme cv, or leave it out.")
    if request.of != "error" and request.decomposition != DECOMPOSITIONS[0]:
        raise CommandError(
            f"--decomposition {request.decomposition} is for the error only.", f"Leave it out, or --of {request.of}."
        )


def _check_rows(request: BiasVariance, examples: Examples) -> None:
    """Raise if there are too few rows, or groups, of a class."""
    if request.scheme == "cv":
        check_folds(request.cv or FOLDS, 1, examples)
        return
    fewest, rarest = fewest_of_a_class(examples.y, examples.groups)
    if fewest < N_TEST_FOLDS:
        where = f"has {count(fewest, 'row')}" if examples.groups is None else f"is in {count(fewest, 'group')}"
        raise CommandError(f"a third of each class is held out, but {shown(rarest)} {where}.", "Get more rows of it.")


def _estimator(request: BiasVariance, options: MethodOptions, examples: Examples, cost: Any) -> Any:
    """The estimator, which must allow what is asked for."""
    named = options.named
    if cost is not None and not named.cost_sensitive and request.of != "cost":
        raise CommandError(
            f"{named.name} has no costs, so --cost has no effect.", f"Use --of cost, or --method {RECOMMENDED}."
        )
    estimator = unfitted(request, options, examples, cost)
    if request.staged:
        check_rounds(options, estimator, "Or leave --staged out.")
    if request.of == "squared_error" and not hasattr(estimator, f"{'staged_' * request.staged}predict_proba"):
        raise CommandError(
            f"{named.name} has no probabilities, so --of squared_error cannot be measured.",
            f"Use --of error, or --method {RECOMMENDED_VARIANT}.",
        )
    return estimator


def _decomposed(request: BiasVariance, estimator: Any, examples: Examples, cost: Any, fits: Fits) -> Any:
    from skewboost.evaluate import bias_variance

    folds = {} if request.cv is None else {"cv": request.cv}
    with fits.shown("Fitting") as update:
        return bias_variance(
            estimator, examples.X, examples.y, draws=request.draws, scheme=request.scheme, staged=request.staged,
            method=request.decomposition, of=request.of, cost=cost if request.of == "cost" else None, verbose=update,
            **folds, **evaluation_of(request, examples),
        )  # fmt: skip


def _print(request: BiasVariance, options: MethodOptions, examples: Examples, cost: Any, result: Any) -> None:
    groups = "" if request.group is None else f", whole groups ({shown(request.group)}) tested"
    sets = count(result.n_draws, "repetition" if request.scheme == "cv" else "training set")
    print_line(f"{options.spec} on {count(len(examples.y), 'row')} of {examples.path}, {sets}{groups}")
    parts = {name: values for name in PARTS if (values := getattr(result, name)) is not None}
    if request.staged:
        rows = [
            [str(result.rounds[k]), *(fraction(values[k]) for values in parts.values())]
            for k in shown_rounds(result.rounds)
        ]
        print_table(["round", *(PARTS[name] for name in parts)], rows, left=())
    else:
        loss = float(result.loss[0])
        rows = []
        for name, values in parts.items():
            label = {"variance_unbiased": "variance that harms", "variance_biased": "variance that helps"}.get(
                name, name
            )
            value = float(values[0])
            rows.append([label, f"{value:.4f}", f"{value / loss:.0%}" if loss else "-"])
        print_table(["part", request.of.replace("_", " "), "of the loss"], rows)
    if "variance_unbiased" in parts:
        print_text("loss = bias + variance; variance = what harms, where most models are right, less what helps.")
    else:
        print_text("loss = bias + variance.")
    if request.of == "cost":
        print_line(f"cost is per row: {describe_cost(cost)}.")
    if request.plot is not None:
        print_line(f"Written: {request.plot}")
