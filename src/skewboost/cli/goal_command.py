"""The command `goal`, and `fit --goal`: look for a model that reaches a goal, and certify it on held-out rows."""

from __future__ import annotations

import time
import warnings
from typing import Any

import numpy as np
from sklearn import config_context
from sklearn.model_selection import TimeSeriesSplit

from skewboost.cli.commands import Fit, Goal
from skewboost.cli.exit_codes import FAILED, CommandError
from skewboost.cli.fit_command import (
    MODEL_SUFFIXES,
    FitResult,
    check_multiclass,
    finish,
    positive_class,
    progress_of,
    read_all,
    shown_by,
)
from skewboost.cli.group_and_time import cut_in_time, divided_in_time, group_params
from skewboost.cli.method_options import MethodOptions
from skewboost.cli.output import fraction, note, number, waiting
from skewboost.cli.output_files import PICTURES, check_output, save_picture
from skewboost.cli.target_column import Examples, find_positive, read_cost
from skewboost.errors import InputError
from skewboost.goals.rows import independent_rows
from skewboost.names import shown

FOLDS = 5
CERTIFIED = 1 / 3  # fraction of the rows, the latest ones, that a certificate is based on


def run(request: Fit) -> None:
    """Search, measure, write and print; exit with code 1 if the goal is not reached."""
    prefix = "" if isinstance(request, Goal) else "`skewboost goal` with "  # `fit --goal` lacks some options
    started = time.perf_counter()
    request = request if isinstance(request, Goal) else Goal(**vars(request))
    check_output(request.output, MODEL_SUFFIXES)
    check_output(request.plot, PICTURES, "--plot")
    result = search(request, prefix)
    model, details = result.model, _describe_search(result.model)
    if request.plot is not None:
        from skewboost.plots import GoalFrontierDisplay

        save_picture(GoalFrontierDisplay.from_estimator(model).figure_, request.plot)
        details.append(f"Written: {request.plot}")
    finish(request, result, result.cost, details, _certificate(model), started=started)
    if not _reached(model):
        raise CommandError(f"the goal {model.goal_} was not reached.", exit_code=FAILED)


def search(request: Goal, option_prefix: str) -> FitResult:
    """Read the data and search; `option_prefix` comes before options in remedies."""
    if request.group is not None and request.counts:
        raise CommandError(
            "--group means that rows belong together, but --counts means that they are independent.",
            "Leave one of them out.",
        )
    examples = read_all(request)
    options, cost = MethodOptions.of(request), read_cost(request.cost, examples.classes)
    estimator = _prepare(request, options, examples, cost)
    train, test = examples.split(request.test, request.seed)
    if request.counts and train.weights is not None and (train.weights != train.weights.round()).any():
        raise CommandError(
            f"--counts means that --weight {request.weight} counts examples, but it has fractions.",
            "Use a column of whole numbers, or leave --counts out.",
        )
    if train.times is not None:
        _follow_time(request, estimator, train, option_prefix)
    started = time.perf_counter()
    name, searched = f"Looking for {request.goal}", estimator.estimator
    with waiting(name) if "callbacks" in searched.get_params() else progress_of(searched, name):  # one fit, or many
        _fit(option_prefix, estimator, train)
    seconds = time.perf_counter() - started
    positive = positive_class(request, estimator, train)
    return FitResult(estimator, options, train, test, cost, seconds, positive)


def _follow_time(request: Goal, search: Any, train: Examples, options: str) -> None:
    """Let the search hold out the latest rows for the certificate, and use folds that follow time."""
    assert train.times is not None
    n = len(train.y)
    cut = cut_in_time(train.times, (1 - CERTIFIED) * n) if request.confidence else n
    held_out = np.arange(n) >= cut
    for part, where in (
        (train.y[:cut], f"the first {number(cut)} rows"),
        (train.y[cut:], f"the latest {number(n - cut)}"),
    ):
        lacking = [c for c in train.classes if c not in part]
        if lacking and len(part):
            raise CommandError(
                f"the certificate needs later rows than the search, but {where} have no row of class "
                f"{shown(lacking[0])}.", f"Get more rows, or use {options}--confidence 0 for no promise.",
            )  # fmt: skip
    if request.confidence:
        units = np.arange(n) if request.counts else independent_rows(train.X)
        if len(np.intersect1d(units[held_out], units[~held_out])):
            raise CommandError(
                "some of the latest rows, which the certificate needs, are equal to earlier rows.",
                f"If equal rows are independent examples, use {options}--counts.",
            )
        search.set_params(holdout=held_out)
    if search.cv is None and "cv" in search.estimator.get_params():
        return  # the folds are those of the estimator
    folds = (TimeSeriesSplit(k) for k in range(FOLDS, 1, -1))
    whole = (f for f in folds if all(len(np.unique(train.y[rows])) == 2 for rows, _ in f.split(train.y[:cut])))
    found = next(whole, None)
    if found is None:
        raise CommandError(
            f"the first half of the {number(cut)} rows to search on has no row of one class.", "Get more rows of it."
        )
    search.set_params(cv=found)


def _prepare(request: Goal, options: MethodOptions, examples: Examples, cost: Any) -> Any:
    """The search, not fitted."""
    from skewboost import GoalSearchCV, goals
    from skewboost.goals.goal_measures import goal_measure

    check_multiclass(options.named, examples, "a goal")
    label = find_positive(request.positive, examples.classes)
    try:
        needs_cost = goals.Goal.of(request.goal).needs_cost
    except InputError as error:
        if "exact value" not in error.problem:
            raise
        raise CommandError(
            error.problem,
            "Use '>=' or '<='. `skewboost match-rate` finds the cost at which cross-validation has that value.",
        ) from error
    if request.then is not None:
        needs_cost |= goal_measure(request.then, "--then").needs_cost
    if cost is not None and not needs_cost:
        raise CommandError(
            f"--cost has no effect on the goal {request.goal}.",
            "Leave it out, or use `skewboost goal --then expected_cost`.",
        )
    for name in ("reject_cost", "reject_label"):
        if options.parameters.get(name) is not None:
            raise CommandError(f"--set {name} has no effect with a goal.", "Leave it out.")
    costs_in_training = getattr(options.named.estimator, "_costs_in_training", True)
    neutral = {} if costs_in_training or not options.named.cost_sensitive else {"cost": 1}
    estimator = options.make(label, **neutral)  # scores are then the log-odds
    if examples.times is not None:
        estimator = divided_in_time(estimator)
    return GoalSearchCV(
        estimator, request.goal, then=request.then, confidence=request.confidence or None, cost=cost, pos_label=label,
        allow_unmet=request.closest, random_state=request.seed, weights="counts" if request.counts else "importance",
    )  # fmt: skip


def _fit(options: str, estimator: Any, train: Examples) -> None:
    """Fit the search, with remedies in terms of options."""
    from skewboost.goals import GoalNotMetWarning, GoalNotReachableError, LittleUseWarning, RepeatedRowsWarning
    from skewboost.goals.reasons import copies

    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", RepeatedRowsWarning)
            for category in (GoalNotMetWarning, LittleUseWarning):  # the result says so
                warnings.simplefilter("ignore", category)
            _fit_search(estimator, train)
    except GoalNotReachableError as error:
        remedy = f"Use {options}--closest to get the closest model."
        if error.parameter == "confidence":
            remedy = f"Get more rows, or use {options}--confidence 0 for no promise. {remedy}"
        raise CommandError(error.problem, remedy, exit_code=FAILED) from error
    finally:
        for w in caught:
            if isinstance(w.message, RepeatedRowsWarning):
                numbers, certified = (w.message.n_copies, w.message.n_rows), estimator.confidence is not None
                remedies = f"use {options}--counts", f"use {options}--group COLUMN"
                note(f"warning: {copies(*numbers, certified, train.path, *remedies)}")
            else:
                warnings.warn_explicit(w.message, w.category, w.filename, w.lineno)


def _fit_search(search: Any, train: Examples) -> None:
    """Fit the search; groups are for its own splits, and for those of the estimator."""
    params, groups = train.fit_params, group_params(search.estimator, train.groups)
    if train.groups is None:
        search.fit(train.X, train.y, **params)
    elif not groups:
        search.fit(train.X, train.y, groups=train.groups, **params)
    else:
        if params:
            search.estimator.set_fit_request(sample_weight=True)
        with config_context(enable_metadata_routing=True):
            search.fit(train.X, train.y, groups=train.groups, **params)
    search.set_params(holdout=None)  # the rows are not part of the model


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
    return document if c is None else document | shown_by(c)


def _describe_search(search: Any) -> list[str]:
    from skewboost.goals.certificate import in_words, of_little_use

    lines = []
    if search.cost_ is not None:
        miss, alarm = search.cost_.values()
        lines.append(f"  costs     a miss {miss:.4g}, a false alarm {alarm:.4g}")
    lower = getattr(search, "lower_threshold_", None)
    referred = "" if lower is None else f"; from {lower:.4g} on they are referred ({search.reject_label_})"
    lines += [f"  threshold scores of at least {search.threshold_:.4g} are flagged{referred}", ""]
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
