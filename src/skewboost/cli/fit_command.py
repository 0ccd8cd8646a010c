"""The command `fit`: fit a model to a table, measure it on held-out rows, and write it to a file."""

from __future__ import annotations

import shlex
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from skewboost.boosting.catalogue import RECOMMENDED
from skewboost.cli.commands import Fit
from skewboost.cli.evaluate_command import Predictions, print_results
from skewboost.cli.exit_codes import CommandError
from skewboost.cli.group_and_time import divided_in_time, group_params, show_times
from skewboost.cli.method_options import MethodOptions, NamedMethod, multiclass_methods
from skewboost.cli.model_files import booster_of, count_rounds, write_model
from skewboost.cli.options import Fitting, Learning
from skewboost.cli.output import and_more, count, list_names, number, print_json, print_line, print_text, waiting
from skewboost.cli.output_files import check_output
from skewboost.cli.shift import TrainingProfile, class_sizes
from skewboost.cli.target_column import Examples, describe_cost, find_positive, read_cost, read_examples
from skewboost.metrics.targets import choose_positive
from skewboost.names import shown, side_by_side, spell
from skewboost.progress import ProgressBar, on_terminal

DEFAULT_TEST = 0.25
MOST_CLASSES = 6  # that are printed
MODEL_SUFFIXES = (".json", ".json.gz")


@dataclass(frozen=True)
class FitResult:
    """A fitted model and the data that it was fitted to."""

    model: Any
    method: MethodOptions
    train: Examples
    test: Examples | None
    cost: Any
    seconds: float
    positive: Any  # the positive class; None if there are more than two classes

    @property
    def n_rounds(self) -> int:
        """The number of rounds, or of members."""
        return count_rounds(self.model)

    @property
    def stop_reason(self) -> str:
        """Why training ended."""
        return str(getattr(booster_of(self.model), "stop_reason_", f"all {self.n_rounds} members trained"))


def run(request: Fit) -> None:
    """Fit, measure, write and print."""
    started = time.perf_counter()
    check_output(request.output, MODEL_SUFFIXES)
    result = fit(request)
    method = result.method.named
    costs = "balanced" if result.cost is None and method.balanced else result.cost
    details = []
    if method.cost_sensitive and costs is not None:
        details = [f"  cost      {describe_cost(costs, _balanced_ratio(result))}"]
    found = getattr(result.model, "certificate_", None)  # of a cascade
    if found is not None:
        details += ["", f"On further rows that were held out: {found}."]
    certificate = None if found is None else {"met": bool(found.met), **shown_by(found)}
    finish(request, result, costs, details, certificate, started=started)


def fit(request: Fitting, purpose: str = "") -> FitResult:
    """Read the data and fit the estimator; `purpose` is what needs two classes."""
    examples, options = read_all(request), MethodOptions.of(request)
    estimator, cost = prepare(request, examples, purpose)
    train, test = examples.split(DEFAULT_TEST if request.test is None else request.test, options.seed)
    params = train.fit_params | group_params(estimator, train.groups)
    started = time.perf_counter()
    with progress_of(estimator, options.named.name):
        estimator.fit(train.X, train.y, **params)
    seconds = time.perf_counter() - started
    return FitResult(estimator, options, train, test, cost, seconds, positive_class(request, estimator, train))


@contextmanager
def progress_of(estimator: Any, name: str) -> Iterator[None]:
    """Show how far the fit of an estimator is, if it can tell, where the standard error stream is a terminal."""
    can_set = estimator.get_params()
    if "callbacks" in can_set:
        with ProgressBar(int(getattr(estimator, estimator._rounds)), name, transient=True) as bar:
            estimator.set_params(callbacks=[lambda done, _: bar.update(done)])
            try:
                yield
            finally:
                estimator.set_params(callbacks=None)
    elif "verbose" in can_set and on_terminal():
        estimator.set_params(verbose=1)
        try:
            yield
        finally:
            estimator.set_params(verbose=can_set["verbose"])
    else:
        with waiting(name):
            yield


def read_all(request: Learning) -> Examples:
    """The rows to learn from."""
    return read_examples(
        request.data, request.target, drop=request.drop or (), weight=request.weight, group=request.group,
        time=request.time, labels=request.labels,
    )  # fmt: skip


def prepare(request: Fitting, examples: Examples, purpose: str = "") -> tuple[Any, Any]:
    """The unfitted estimator, and the cost as the library takes it."""
    options = MethodOptions.of(request)
    method = options.named
    check_multiclass(method, examples, purpose)
    cost = read_cost(request.cost, examples.classes)
    if cost is not None and not method.cost_sensitive:
        raise CommandError(f"{method.name} has no costs.", f"Leave --cost out, or use --method {RECOMMENDED}.")
    label = find_positive(request.positive, examples.classes)
    estimator = options.make(label, **({} if cost is None else {"cost": cost}))
    return divided_in_time(estimator) if examples.times is not None else estimator, cost


def check_multiclass(method: NamedMethod, examples: Examples, purpose: str = "", option: str = "--method") -> None:
    """Raise if there are more than two classes and the method, or the purpose, allows two only."""
    classes = examples.classes
    if len(classes) == 2:
        return
    target = f"the target {examples.target!r} has {len(classes)} classes ({list_names(classes)})"
    if purpose:
        raise CommandError(f"{target}, but {purpose} needs two.", "Make a column of two classes from it.")
    if not method.multiclass:
        raise CommandError(
            f"{target}, but {method.name} takes two.", f"Use {option} {' or '.join(multiclass_methods())}."
        )


def positive_class(request: Fitting, model: Any, train: Examples) -> Any:
    """The positive class of two. Models without one get that of --positive, or the rarer one."""
    if len(train.classes) > 2:
        return None
    if hasattr(model, "pos_label_"):
        return model.pos_label_
    label = find_positive(request.positive, train.classes)
    return choose_positive(train.y, np.array(train.classes), label, train.weights)


def shown_by(certificate: Any) -> dict[str, Any]:
    """What held-out rows show, for JSON."""
    of_rows = {"counts": asdict(certificate.counts), "evidence": asdict(certificate.evidence)}
    return {"confidence": certificate.confidence, **of_rows, "shown": certificate.shown, "text": str(certificate)}


def finish(
    request: Fit,
    result: FitResult,
    costs: Any,
    details: Sequence[str],
    certificate: dict[str, Any] | None = None,
    *,
    started: float,
) -> None:
    """Measure the model on the held-out rows, write it, and print the result; `started` is when the command was."""
    predictions = None if result.test is None else Predictions.of(result.model, result.positive, result.test)
    record = _record(request, result)
    if request.output is not None:
        profile = _profile(result, predictions)
        write_model(result.model, request.output, {**record, "training": profile.as_dict()})
    in_all = time.perf_counter() - started
    if request.as_json:
        held_out = None if predictions is None else predictions.as_dict(costs)
        done = {"seconds_in_all": round(in_all, 3), "certificate": certificate, "held_out": held_out}
        print_json({**record, **done, "model": request.output})
        return
    train = result.train
    rows, columns = count(len(train.y), "row"), count(train.X.shape[1], "column")
    print_line(f"{result.method.named.name} on {rows} and {columns} of {train.path}")
    print_line(f"  target    {shown(train.target)}: {_describe_classes(result)}")
    for line in _describe_order(request, result):
        print_line(line)
    print_line(f"  rounds    {result.n_rounds}; {result.stop_reason}")
    print_line(f"  took      {in_all:.1f} s, of which training {result.seconds:.1f} s")
    for line in details:
        print_text(line)
    print_line()
    if predictions is not None:
        print_results(predictions, costs, f"On {predictions.describe_rows()}, {_held_out(result.train)}")
        print_line()
    elif request.goal is None:
        print_text("No rows were held out, so the model was not measured; `skewboost evaluate` measures it.")
        print_line()
    if request.output is None:
        print_line("Nothing was written; -o model.json keeps the model.")
    else:
        print_line(f"Written: {request.output}")
        model = shlex.quote(request.output)
        print_line("Next:")
        print_line(f"  skewboost explain {model}")
        print_line(f"  skewboost evaluate {model} OTHER_ROWS")
        print_line(f"  skewboost predict {model} NEW_ROWS -o predictions.csv")


def _record(request: Fit, result: FitResult) -> dict[str, Any]:
    """What the model file records about the fit."""
    classes, n = np.unique(result.train.y, return_counts=True)
    return {
        "method": result.method.named.name,
        "target": result.train.target,
        "dropped": list(result.train.dropped),
        "weight": request.weight,
        "group": request.group,
        "time": request.time,
        "labels": request.labels,
        "positive": result.positive,
        "cost": result.cost,
        "goal": request.goal,
        "data": result.train.path,
        "rows": len(result.train.y),
        "rows_held_out": 0 if result.test is None else len(result.test.y),
        "rows_of_class": {spell(c): int(k) for c, k in zip(classes, n)},
        "columns": list(map(str, result.train.X.columns)),
        "rounds": result.n_rounds,
        "stop_reason": result.stop_reason,
        "seconds": round(result.seconds, 3),
    }


def _profile(result: FitResult, predictions: Predictions | None) -> TrainingProfile:
    """What later commands compare new rows with."""
    train, certificate = result.train, getattr(result.model, "certificate_", None)
    predicted = {} if predictions is None else class_sizes(predictions.predicted)
    if predictions is None and certificate is not None and train.weights is None:
        (other,) = (c for c in train.classes if c != result.positive)
        flagged, total = float(certificate.counts.flagged), float(certificate.counts.total)
        predicted = {spell(result.positive): flagged, spell(other): total - flagged}
    return TrainingProfile.of(train.X, class_sizes(train.y, train.weights), predicted)


def _describe_classes(result: FitResult) -> str:
    classes, n = np.unique(result.train.y, return_counts=True)
    if len(classes) > 2:
        texts = [f"{c} ({number(int(k))})" for c, k in zip(side_by_side(classes[:MOST_CLASSES]), n)]
        return and_more(texts, len(classes))
    positives = float((result.train.y == result.positive).mean())
    return f"{shown(result.positive)} is the positive class, {positives:.1%} of the rows"


def _describe_order(request: Fit, result: FitResult) -> list[str]:
    """How many groups, or from when to when the training rows are."""
    train = result.train
    if train.groups is not None:
        return [f"  groups    {shown(request.group)}: {number(len(np.unique(train.groups)))}, none of them divided"]
    if train.times is not None:
        first, last = show_times(train.times)
        later = [] if result.test is None or result.test.times is None else show_times(result.test.times)
        held_out = f"; held out: {later[0]} to {later[1]}" if later else ""
        return [f"  time      {shown(request.time)}: {first} to {last}{held_out}"]
    return []


def _held_out(train: Examples) -> str:
    """How the rows were held out."""
    if train.groups is not None:
        return "of other groups, held out of the fit"
    return "held out of the fit" if train.times is None else "the latest, held out of the fit"


def _balanced_ratio(result: FitResult) -> float | None:
    """The cost of a miss with balanced costs."""
    if len(result.train.classes) > 2:
        return None
    w = np.ones(len(result.train.y)) if result.train.weights is None else result.train.weights
    positive = result.train.y == result.positive
    return float(w[~positive].sum() / w[positive].sum())
