"""The command `match-rate`: methods side by side, each with the cost at which a rate has a given value."""

from __future__ import annotations

import math
from typing import Any

from skewboost.boosting.catalogue import RECOMMENDED_VARIANT
from skewboost.cli.commands import MISTAKES, MatchRate
from skewboost.cli.compare_command import choose_methods
from skewboost.cli.cross_validation import (
    check_choice,
    check_folds,
    check_no_referral,
    describe_folds,
    evaluation_of,
    folds_of,
    interruption_without_warning,
    mean_and_spread,
    print_in_80_columns,
    unfitted,
)
from skewboost.cli.exit_codes import FAILED, CommandError, interrupted_after
from skewboost.cli.fit_command import check_multiclass, read_all
from skewboost.cli.output import count, fraction, list_names, number, print_json, print_line, print_text
from skewboost.cli.target_column import Examples
from skewboost.errors import InputError
from skewboost.goals.goal import CONDITION, SENSES
from skewboost.metrics.measures import BINARY, MEASURES, find_measure
from skewboost.progress import ProgressBar

PRINTED = ("recall", "precision", "f1")
UNBOUNDED = ("cost", "log_loss")  # measures without an upper limit
EXAMPLE = 'Write, for example, "recall=0.9" or "precision=50%".'


def run(request: MatchRate) -> None:
    """Search for each method, and print; exit with code 1 if a rate is not met, and 130 if interrupted."""
    measure, rate = read_rate(request.rate)
    check_choice("--vary", request.vary, MISTAKES)
    if request.cost is not None:
        raise CommandError("--cost has no effect, because the costs are what is looked for.", "Leave it out.")
    if not 1 < request.max_cost < math.inf:
        raise CommandError(f"--max-cost {request.max_cost:g} must be a finite number above 1.")
    examples = read_all(request)
    methods = choose_methods(request, examples, RECOMMENDED_VARIANT)
    for options in methods.values():
        check_multiclass(options.named, examples, "a rate")
        check_no_referral(options)
    check_folds(request.cv, request.repeats, examples)
    estimators = {name: unfitted(request, options, examples) for name, options in methods.items()}
    found: dict[str, Any] = {}
    try:
        for name, estimator in estimators.items():
            found[name] = _match(request, measure, rate, name, estimator, examples)
            if not found[name].complete:
                break
    except KeyboardInterrupt:
        pass
    n_finished = sum(match.complete for match in found.values())
    if found or request.as_json:
        _show(request, measure, rate, examples, found, complete=n_finished == len(estimators))
    if n_finished < len(estimators):
        raise interrupted_after(n_finished, len(estimators), "method")
    missed = [name for name, match in found.items() if not match.met]
    if missed:
        raise CommandError(
            f"{request.rate.strip()} was not met by {list_names(missed)}.",
            "Use a larger --tolerance, --repeats (means then change in smaller steps), --max-points or --max-cost.",
            exit_code=FAILED,
        )


def read_rate(text: str) -> tuple[str, float]:
    """The measure and its value."""
    found = CONDITION.fullmatch(text)
    if found is None:
        raise CommandError(f"{text!r} cannot be read as a rate.", EXAMPLE)
    name, sense, value, percent = found.groups()
    if sense in SENSES:
        raise CommandError(
            f"{text!r} is a bound, but a rate has one value.", f"{EXAMPLE} `skewboost goal` reaches a bound."
        )
    try:
        measure, rate = find_measure(name, among=BINARY), float(value) / (100 if percent else 1)
    except InputError as error:
        raise CommandError(f"{text!r}: {name!r} is not a measure.", error.remedy) from error
    except ValueError:
        raise CommandError(f"{text!r}: {value!r} is not a number.", EXAMPLE) from None
    if not 0 <= rate <= (math.inf if measure.name in UNBOUNDED else 1):
        raise CommandError(f"{text!r}: {measure.name} cannot be {rate:g}.", "Give a value from 0 to 1, or in %.")
    return measure.name, rate


def _match(request: MatchRate, measure: str, rate: float, name: str, estimator: Any, examples: Examples) -> Any:
    """Search for the cost of a method."""
    from skewboost.evaluate import match_rate

    with ProgressBar(request.max_points, name, transient=True) as bar, interruption_without_warning():
        tried = 0

        def update(progress: Any) -> None:
            nonlocal tried
            tried += progress.done == progress.total
            bar.update(tried, f"cost {tried + 1}, fit {progress.done + 1} of {progress.total}")

        try:
            return match_rate(
                estimator, examples.X, examples.y, measure=measure, rate=rate, tolerance=request.tolerance,
                vary=request.vary, cv=folds_of(request.cv, examples), repeats=request.repeats,
                max_points=request.max_points, max_cost=request.max_cost, verbose=update,
                **evaluation_of(request, examples),
            )  # fmt: skip
        except InputError as error:
            if error.problem.startswith("vary="):
                problem = f"--vary {request.vary} has no effect on {name}, which takes costs as weights."
                raise CommandError(problem, "Leave it out.") from error
            raise


def _show(
    request: MatchRate, measure: str, rate: float, examples: Examples, found: dict[str, Any], complete: bool
) -> None:
    if request.as_json:
        print_json({
            "data": request.data, "target": request.target, "measure": measure, "rate": rate,
            "tolerance": request.tolerance, "vary": request.vary, "cv": request.cv, "repeats": request.repeats,
            "complete": complete,
            "methods": [
                {
                    "method": name, "complete": match.complete, "met": match.met, "cost": match.cost,
                    "measures": {
                        m: {"mean": match.mean(m), "sd": match.spread(m), "values": match.values(m)}
                        for m in match.measures
                    },
                    "tried": [{"cost": cost, measure: mean} for cost, mean in match.tried],
                }
                for name, match in found.items()
            ],
        })  # fmt: skip
        return
    folds = describe_folds(request, request.cv, request.repeats)
    print_line(f"{MEASURES[measure].label} = {rate:g} ± {request.tolerance:g}: {count(len(examples.y), 'row')} of "
               f"{examples.path}, {folds}")  # fmt: skip
    columns = [measure, *(m for m in PRINTED if m != measure)]
    begin = [[name, number(match.cost) + _remark(match)] for name, match in found.items()]
    long = [[mean_and_spread(match.mean(m), match.spread(m)) for m in columns] for match in found.values()]
    short = [[fraction(match.mean(m)) for m in columns] for match in found.values()]
    headings = ["method", "cost of a miss", *(MEASURES[m].label for m in columns)]
    print_in_80_columns(headings, begin, long, short, left=(0,))
    print_text(
        "The costs are in false alarms, and chosen on these rows; `skewboost goal` makes promises about new rows."
    )


def _remark(match: Any) -> str:
    """What a cost is followed by."""
    if match.met:
        return ""
    return " (not met)" if match.complete else " (interrupted)"
