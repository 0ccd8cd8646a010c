"""The command `goal`, and `fit --goal`: look for a model that reaches a goal, and certify it on held-out rows."""

from __future__ import annotations

import time
import warnings
from dataclasses import asdict, replace
from typing import Any

from skewboost.cli.commands import Fit, Goal
from skewboost.cli.exit_codes import FAILED, CommandError
from skewboost.cli.fit_command import MODEL_SUFFIXES, FitResult, check_multiclass, finish, positive_class, read_all
from skewboost.cli.method_options import MethodOptions
from skewboost.cli.output import fraction, note, waiting
from skewboost.cli.output_files import PICTURES, check_output, save_picture
from skewboost.cli.target_column import Examples, check_columns, find_positive, read_cost


def run(request: Fit) -> None:
    """Search, measure, write and print; exit with code 1 if the goal is not reached."""
    prefix = "" if isinstance(request, Goal) else "`skewboost goal` with "  # `fit --goal` lacks some options
    request = request if isinstance(request, Goal) else Goal(**vars(request))
    check_output(request.output, MODEL_SUFFIXES)
    check_output(request.plot, PICTURES, "--plot")
    result = search(request, prefix)
    model, details = result.model, _describe_search(result.model)
    if request.plot is not None:
        from skewboost.plots import GoalFrontierDisplay

        save_picture(GoalFrontierDisplay.from_estimator(model).figure_, request.plot)
        details.append(f"Written: {request.plot}")
    finish(request, result, result.cost, details, _certificate(model))
    if not _reached(model):
        raise CommandError(f"the goal {model.goal_} was not reached.", exit_code=FAILED)


def search(request: Goal, option_prefix: str) -> FitResult:
    """Read the data and search; `option_prefix` comes before options in remedies."""
    examples, groups = _separate_groups(request, read_all(request))
    options, cost = MethodOptions.of(request), read_cost(request.cost, examples.classes)
    estimator = _prepare(request, options, examples, cost)
    train, test = examples.split(request.test, request.seed)
    if request.counts and train.weights is not None and (train.weights != train.weights.round()).any():
        raise CommandError(
            f"--counts means that --weight {request.weight} counts examples, but it has fractions.",
            "Use a column of whole numbers, or leave --counts out.",
        )
    params = train.fit_params | ({} if groups is None else {"groups": groups})
    started = time.perf_counter()
    with waiting(f"Looking for {request.goal}"):
        _fit(option_prefix, estimator, train, params)
    seconds = time.perf_counter() - started
    positive = positive_class(request, estimator, train)
    return FitResult(estimator, options, train, test, cost, seconds, positive)


def _separate_groups(request: Goal, examples: Examples) -> tuple[Examples, Any]:
    """The examples without the column --groups, and that column."""
    if request.groups is None:
        return examples, None
    if request.counts:
        raise CommandError(
            "--groups means that rows belong together, but --counts means that they are independent.",
            "Leave one of them out.",
        )
    if request.test:
        raise CommandError(
            "--test holds out single rows, but --groups means that rows belong together.",
            "Leave --test out: the certificate uses rows of its own.",
        )
    check_columns(examples.path, list(examples.X.columns), [request.groups], "--groups")
    if examples.X.shape[1] == 1:
        raise CommandError(f"--groups: {request.groups!r} is the only column to learn from.")
    X = examples.X.drop(columns=request.groups)
    return replace(examples, X=X, dropped=(*examples.dropped, request.groups)), examples.X[request.groups]


def _prepare(request: Goal, options: MethodOptions, examples: Examples, cost: Any) -> Any:
    """The search, not fitted."""
    from skewboost import GoalSearchCV, goals
    from skewboost.goals.goal_measures import goal_measure

    check_multiclass(options.named, examples, "a goal")
    label = find_positive(request.positive, examples.classes)
    needs_cost = goals.Goal.of(request.goal).needs_cost
    if request.then is not None:
        needs_cost |= goal_measure(request.then, "--then").needs_cost
    if cost is not None and not needs_cost:
        raise CommandError(
            f"--cost has no effect on the goal {request.goal}.",
            "Leave it out, or use `skewboost goal --then expected_cost`.",
        )
    return GoalSearchCV(
        options.make(label), request.goal, then=request.then, confidence=request.confidence or None, cost=cost,
        pos_label=label, allow_unmet=request.closest, random_state=request.seed,
        weights="counts" if request.counts else "importance",
    )  # fmt: skip


def _fit(options: str, estimator: Any, train: Examples, params: dict[str, Any]) -> None:
    """Fit the search, with remedies in terms of options."""
    from skewboost.goals import GoalNotMetWarning, GoalNotReachableError, LittleUseWarning, RepeatedRowsWarning
    from skewboost.goals.reasons import copies

    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", RepeatedRowsWarning)
            for category in (GoalNotMetWarning, LittleUseWarning):  # the result says so
                warnings.simplefilter("ignore", category)
            estimator.fit(train.X, train.y, **params)
    except GoalNotReachableError as error:
        remedy = f"Use {options}--closest to get the closest model."
        if error.parameter == "confidence":
            remedy = f"Get more rows, or use {options}--confidence 0 for no promise. {remedy}"
        raise CommandError(error.problem, remedy, exit_code=FAILED) from error
    finally:
        for w in caught:
            if isinstance(w.message, RepeatedRowsWarning):
                numbers, certified = (w.message.n_copies, w.message.n_rows), estimator.confidence is not None
                remedies = f"use {options}--counts", f"use {options}--groups COLUMN"
                note(f"warning: {copies(*numbers, certified, train.path, *remedies)}")
            else:
                warnings.warn_explicit(w.message, w.category, w.filename, w.lineno)


def _reached(search: Any) -> bool:
    if search.certificate_ is not None:
        return bool(search.certificate_.met)
    return bool(search.goal_.met(search.counts_, search.cost_matrix_))


def _certificate(search: Any) -> dict[str, Any]:
    from skewboost.goals.certificate import of_little_use

    c = search.certificate_
    document: dict[str, Any] = {
        "goal": str(search.goal_), "met": _reached(search), "threshold": search.threshold_,
        "of_little_use": of_little_use(search.counts_ if c is None else c.counts),
    }  # fmt: skip
    if c is not None:
        document |= {"confidence": c.confidence, "counts": asdict(c.counts), "evidence": asdict(c.evidence)}
        document |= {"shown": c.shown, "text": str(c)}
    return document


def _describe_search(search: Any) -> list[str]:
    from skewboost.goals.certificate import in_words, of_little_use

    lines = []
    if search.cost_ is not None:
        miss, alarm = search.cost_.values()
        lines.append(f"  costs     a miss {miss:.4g}, a false alarm {alarm:.4g}")
    lines += [f"  threshold scores of at least {search.threshold_:.4g} are flagged", ""]
    if search.certificate_ is not None:
        counts = search.certificate_.counts
        rates = [
            f"{name.replace('_', ' ')} {fraction(float(getattr(counts, name)))}"
            for name in ("recall", "precision", "false_alarm_rate", "f1")
        ]
        return [*lines, str(search.certificate_), f"On the rows of the certificate: {', '.join(rates)}."]
    counts = search.counts_
    lines.append(
        f"{search.goal_}: {'reached' if _reached(search) else 'NOT reached'} in cross-validation, without a "
        f"certificate (recall {fraction(float(counts.recall))}, precision {fraction(float(counts.precision))})"
    )
    return [*lines, f"Of little use: {in_words(counts)}"] if of_little_use(counts) else lines
