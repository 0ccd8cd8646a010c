"""The command `goal`, and `fit --goal`: look for a model that reaches a goal, and certify it on held-out rows."""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass, replace
from typing import Any

from skewboost.cli.cost_option import read_cost
from skewboost.cli.exit_codes import FAILED, CommandError
from skewboost.cli.fit_command import (
    MODEL_SUFFIXES,
    FitRequest,
    FitResult,
    check_multiclass,
    finish,
    positive_class,
)
from skewboost.cli.model_files import check_output
from skewboost.cli.output import fraction, note, print_line, print_text, waiting
from skewboost.cli.picture_files import PICTURES, save_picture, without_screen
from skewboost.cli.target_column import Examples, check_columns, find_positive


@dataclass(frozen=True)
class GoalRequest(FitRequest):
    """The options of a search for a goal."""

    goal: str = ""
    then: str | None = None
    confidence: float | None = 0.9
    closest: bool = False
    plot: str | None = None
    counts: bool = False
    groups: str | None = None
    option_prefix: str = ""  # in remedies: "`skewboost goal` with " if the command is `fit --goal`


def run(request: GoalRequest) -> None:
    """Search, measure, write and print; exit with code 1 if the goal is not reached."""
    check_output(request.output, MODEL_SUFFIXES)
    check_output(request.plot, PICTURES, "--plot")
    result = search(request)
    if request.plot is not None:
        without_screen()
        from skewboost.plots import GoalFrontierDisplay

        save_picture(GoalFrontierDisplay.from_estimator(result.model).figure_, request.plot)

    def print_details() -> None:
        _print_search(result.model)
        if request.plot is not None:
            print_line(f"Written: {request.plot}")

    finish(request, result, result.cost, print_details, _certificate(result.model))
    if not _reached(result.model):
        raise CommandError(f"the goal {result.model.goal_} was not reached.", exit_code=FAILED)


def search(request: GoalRequest) -> FitResult:
    """Read the data and search."""
    examples, groups = _separate_groups(request, request.read())
    estimator, cost = _prepare(request, examples)
    train, test = (examples, None) if not request.test else examples.split(request.test, request.method.seed)
    if request.counts and train.weights is not None and (train.weights != train.weights.round()).any():
        raise CommandError(
            f"--counts means that --weight {request.weight} counts examples, but it has fractions.",
            "Use a column of whole numbers, or leave --counts out.",
        )
    params = train.fit_params | ({} if groups is None else {"groups": groups})
    started = time.perf_counter()
    with waiting(f"Looking for {request.goal}"):
        _fit(request, estimator, train, params)
    seconds = time.perf_counter() - started
    positive = positive_class(request, estimator, train)
    return FitResult(estimator, train, test, cost, seconds, positive, request.goal)


def _separate_groups(request: GoalRequest, examples: Examples) -> tuple[Examples, Any]:
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


def _prepare(request: GoalRequest, examples: Examples) -> tuple[Any, Any]:
    """The search, not fitted, and the cost as the library takes it."""
    from skewboost import GoalSearchCV
    from skewboost.goals.goal import Goal
    from skewboost.goals.goal_measures import goal_measure

    check_multiclass(request.method.named, examples, request.purpose)
    label = find_positive(request.positive, examples.classes)
    cost = read_cost(request.cost, examples.classes)
    needs_cost = Goal.of(request.goal).needs_cost
    if request.then is not None:
        needs_cost |= goal_measure(request.then, "--then").needs_cost
    if cost is not None and not needs_cost:
        raise CommandError(
            f"--cost has no effect on the goal {request.goal}.",
            "Leave it out, or use `skewboost goal --then expected_cost`.",
        )
    estimator = GoalSearchCV(
        request.method.make(label), request.goal, then=request.then, confidence=request.confidence, cost=cost,
        pos_label=label, allow_unmet=request.closest, random_state=request.method.seed,
        weights="counts" if request.counts else "importance",
    )  # fmt: skip
    return estimator, cost


def _fit(request: GoalRequest, estimator: Any, train: Examples, params: dict[str, Any]) -> None:
    """Fit the search, with remedies in terms of options."""
    from skewboost.goals import GoalNotMetWarning, GoalNotReachableError, LittleUseWarning, RepeatedRowsWarning
    from skewboost.goals.reasons import copies

    options = request.option_prefix
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
                numbers, certified = (w.message.n_copies, w.message.n_rows), request.confidence is not None
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
        counts, evidence = (
            {name: getattr(part, name) for name in ("tp", "fp", "fn", "tn")} for part in (c.counts, c.evidence)
        )
        document |= {"confidence": c.confidence, "counts": counts, "evidence": evidence}
        document |= {"shown": c.shown, "text": str(c)}
    return document


def _print_search(search: Any) -> None:
    from skewboost.goals.certificate import in_words, of_little_use

    if search.cost_ is not None:
        miss, alarm = search.cost_.values()
        print_line(f"  costs     a miss {miss:.4g}, a false alarm {alarm:.4g}")
    print_line(f"  threshold scores of at least {search.threshold_:.4g} are flagged")
    print_line()
    if search.certificate_ is not None:
        print_text(str(search.certificate_))
        counts = search.certificate_.counts
        rates = [
            f"{name.replace('_', ' ')} {fraction(float(getattr(counts, name)))}"
            for name in ("recall", "precision", "false_alarm_rate", "f1")
        ]
        print_text(f"On the rows of the certificate: {', '.join(rates)}.")
        return
    counts = search.counts_
    print_text(
        f"{search.goal_}: {'reached' if _reached(search) else 'NOT reached'} in cross-validation, without a "
        f"certificate (recall {fraction(float(counts.recall))}, precision {fraction(float(counts.precision))})"
    )
    if of_little_use(counts):
        print_text(f"Of little use: {in_words(counts)}")
