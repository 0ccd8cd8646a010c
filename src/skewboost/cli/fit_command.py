"""The commands `fit` and `goal`: a model from a table."""

from __future__ import annotations

import shlex
import time
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from skewboost.boosting.catalogue import RECOMMENDED
from skewboost.cli import held_out
from skewboost.cli.cost_option import in_words, read_cost
from skewboost.cli.estimator_names import Wanted, find, for_many_classes, takes_many
from skewboost.cli.exit_codes import FAILED, CommandError
from skewboost.cli.model_files import check_output, write_model
from skewboost.cli.output import count, emit, few, note, number, prose, rounds, say, share, some, waiting
from skewboost.cli.picture_files import PICTURES, save, without_screen
from skewboost.cli.shift import Profile, shares_of
from skewboost.cli.target_column import Examples, check_classes, check_columns, positive_label, read_examples
from skewboost.metrics.targets import choose_positive
from skewboost.names import shown, side_by_side, spell

DEFAULT_TEST = 0.25
MOST_NAMED = 6  # classes
MODEL_SUFFIXES = (".json", ".json.gz")


@dataclass(frozen=True)
class Task:
    """What to learn from, and what is wanted."""

    data: str
    target: str | None
    wanted: Wanted
    positive: str | None = None
    cost: str | None = None
    goal: str | None = None
    drop: tuple[str, ...] = ()
    weight: str | None = None
    test: float | None = None
    output: str | None = None
    as_json: bool = False
    # of the goal only
    then: str | None = None
    confidence: float | None = 0.9
    closest: bool = False
    plot: str | None = None
    counts: bool = False
    groups: str | None = None  # the column that says which rows belong together
    own_options: bool = False  # whether the command is `goal`, which has options for these
    reported: bool = False  # whether a report is wanted

    @property
    def about_two(self) -> str:
        """What is asked for that is about two classes, if anything."""
        return "a goal" if self.goal is not None else "a report" if self.reported else ""

    @property
    def test_share(self) -> float:
        """Of the rows that are held out; a goal holds out its own."""
        if self.test is None:
            return 0.0 if self.goal else DEFAULT_TEST
        return self.test


@dataclass(frozen=True)
class Fitted:
    """A model, and what was used for it."""

    model: Any
    train: Examples
    test: Examples | None
    cost: Any
    seconds: float
    positive: Any = None  # the class to find, of two

    @property
    def booster(self) -> Any:
        """Without the search around it."""
        return getattr(self.model, "estimator_", self.model)

    @property
    def n_rounds(self) -> int:
        """Rounds, or members."""
        return int(getattr(self.booster, "n_estimators_", None) or len(self.booster.estimators_))

    @property
    def stop_reason(self) -> str:
        """Why there are no more."""
        return str(getattr(self.booster, "stop_reason_", f"all {self.n_rounds} members trained"))


def run(task: Task) -> None:
    """Fit, measure, write, tell."""
    check_output(task.output, MODEL_SUFFIXES)
    check_output(task.plot, PICTURES, "--plot")
    fitted = fit(task)
    answers = None
    if fitted.test is not None:
        answers = held_out.Answers.of(fitted.model, fitted.positive, fitted.test)
    cost = fitted.cost if fitted.cost is not None else ("balanced" if task.wanted.entry.balances else None)
    cost = None if task.goal and fitted.cost is None else cost
    facts = facts_of(task, fitted)
    if task.output is not None:
        write_model(fitted.model, task.output, {**facts, "training": profile_of(fitted, answers).as_dict()})
    if task.plot is not None:
        _draw(fitted.model, task.plot)
    if task.as_json:
        measured = None if answers is None else held_out.document(answers, cost)
        emit({**facts, "certificate": _certificate(fitted.model), "held_out": measured, "model": task.output})
    else:
        _show(task, fitted, answers, cost)
    if task.goal and not _met(fitted.model):
        raise CommandError(f"the goal {fitted.model.goal_} was not reached.", FAILED)


def fit(task: Task) -> Fitted:
    """The model that the task asks for."""
    examples = read_examples(task.data, task.target, drop=task.drop, weight=task.weight)
    check_classes(examples)
    examples, groups = _groups(task, examples)
    estimator, cost = prepare(task, examples)
    train, test = (examples, None) if not task.test_share else examples.split(task.test_share, task.wanted.seed)
    told = {} if train.weights is None else {"sample_weight": train.weights}
    told |= {} if groups is None else {"groups": groups}
    started = time.perf_counter()
    if task.goal is None:
        fit_with_bar(estimator, train, task.wanted.entry.name)
    else:
        with waiting(f"Looking for {task.goal}"):
            _search(task, estimator, train, told)
    seconds = time.perf_counter() - started
    return Fitted(estimator, train, test, cost, seconds, _positive(task, estimator, train))


def _groups(task: Task, examples: Examples) -> tuple[Examples, Any]:
    """The examples without the column that says which rows belong together, and that column."""
    if task.groups is None:
        return examples, None
    if task.counts:
        raise CommandError("--groups says that rows belong together, and --counts that all are independent. Drop one.")
    if task.test_share:
        raise CommandError("--test holds out rows, not --groups. Leave it out: the certificate has rows of its own.")
    check_columns(examples.path, list(examples.X.columns), [task.groups], "--groups")
    if examples.X.shape[1] == 1:
        raise CommandError(f"--groups: without {task.groups!r} there is no column left to learn from.")
    left = replace(examples, X=examples.X.drop(columns=task.groups), dropped=(*examples.dropped, task.groups))
    return left, examples.X[task.groups]


def _positive(task: Task, model: Any, train: Examples) -> Any:
    """The class to find, of two; of models that treat both alike, the one that is said, or the rarer."""
    if len(train.classes) > 2 or hasattr(model, "pos_label_"):
        return getattr(model, "pos_label_", None) if len(train.classes) == 2 else None
    said = positive_label(task.positive, train.classes)
    return choose_positive(train.y, np.array(train.classes), said, train.weights)


def fit_with_bar(estimator: Any, train: Examples, name: str) -> None:
    """Fit a booster, showing its rounds."""
    told = {} if train.weights is None else {"sample_weight": train.weights}
    if "callbacks" not in estimator.get_params():
        with waiting(name):
            estimator.fit(train.X, train.y, **told)
        return
    total = int(getattr(estimator, estimator._rounds))
    with rounds(name, total) as advance:
        estimator.set_params(callbacks=[advance])
        try:
            estimator.fit(train.X, train.y, **told)
        finally:
            estimator.set_params(callbacks=None)


def prepare(task: Task, examples: Examples) -> tuple[Any, Any]:
    """The estimator that the task asks for, not fitted, and the cost as the library takes it."""
    entry, classes = task.wanted.entry, examples.classes
    check_many(entry.name, examples, task.about_two)
    label = positive_label(task.positive, classes)
    cost = read_cost(task.cost, classes)
    if cost is not None and not entry.cost_sensitive and task.goal is None:
        raise CommandError(
            f"{entry.name} is not told what mistakes cost. Leave --cost out, or take --method {RECOMMENDED.name}."
        )
    if task.goal is None:
        return task.wanted.make(label, **({} if cost is None else {"cost": cost})), cost
    from skewboost import GoalSearchCV
    from skewboost.goals.goal import Goal
    from skewboost.goals.goal_measures import goal_measure

    priced = Goal.of(task.goal).needs_cost or (task.then is not None and goal_measure(task.then, "--then").needs_cost)
    if cost is not None and not priced:
        raise CommandError(
            f"--cost has no effect on the goal {task.goal}. Leave it out, or say `skewboost goal --then expected_cost`."
        )
    search = GoalSearchCV(
        task.wanted.make(label), task.goal, then=task.then, confidence=task.confidence, cost=cost, pos_label=label,
        allow_unmet=task.closest, random_state=task.wanted.seed, weights="counts" if task.counts else "importance",
    )  # fmt: skip
    return search, cost


def check_many(method: str, examples: Examples, about_two: str = "", option: str = "--method") -> None:
    """Raise where there are more classes than the method can tell apart; `option` names others."""
    classes = examples.classes
    if len(classes) == 2:
        return
    told = f"the target {examples.target!r} has {len(classes)} classes ({some(classes)})"
    if about_two:
        raise CommandError(
            f"{told}, and {about_two} is about finding one of two. Make a column of two classes from it."
        )
    if not takes_many(find(method).estimator):
        raise CommandError(f"{told}, and {method} takes two. Use {option} {' or '.join(for_many_classes())}.")


def _search(task: Task, search: Any, train: Examples, told: dict[str, Any]) -> None:
    """Look for the goal; the remedy of the library is said in the words of the command line."""
    import warnings

    from skewboost.goals import GoalNotMetWarning, GoalNotReachableError, LittleUseWarning, RepeatedRowsWarning
    from skewboost.goals.reasons import CLOSEST, copies

    by = "" if task.own_options else "`skewboost goal` with "  # `fit --goal` has no such options
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", RepeatedRowsWarning)
            for category in (GoalNotMetWarning, LittleUseWarning):  # the end of the result says so
                warnings.simplefilter("ignore", category)
            search.fit(train.X, train.y, **told)
    except ValueError as error:
        message = str(error).replace(CLOSEST, f"{by}--closest gives the closest all the same.")
        message = message.replace("set confidence=None", f"use {by}--confidence 0")
        message = message.replace("leave weights at 'importance'", "leave --counts out")
        message = message.replace("weights='counts'", "--counts")
        if isinstance(error, GoalNotReachableError):
            raise CommandError(message, FAILED) from error
        if message != str(error):
            raise CommandError(message.replace("sample_weight", f"--weight {task.weight}")) from error
        raise
    finally:
        for w in caught:
            if isinstance(w.message, RepeatedRowsWarning):
                n, certified = (w.message.n_copies, w.message.n_rows), task.confidence is not None
                remedies = f"use {by}--counts", f"use {by}--groups COLUMN"
                note(f"warning: {copies(*n, certified, train.path, *remedies)}")
            else:
                warnings.warn_explicit(w.message, w.category, w.filename, w.lineno)


def _met(search: Any) -> bool:
    if search.certificate_ is not None:
        return bool(search.certificate_.met)
    return bool(search.goal_.met(search.counts_, search.cost_matrix_))


def _certificate(model: Any) -> dict[str, Any] | None:
    from skewboost.goals.certificate import of_little_use

    if not hasattr(model, "certificate_"):
        return None
    c = model.certificate_
    found: dict[str, Any] = {"goal": str(model.goal_), "met": _met(model), "threshold": model.threshold_}
    found["of_little_use"] = of_little_use(model.counts_ if c is None else c.counts)
    if c is not None:
        counts = {name: getattr(c.counts, name) for name in ("tp", "fp", "fn", "tn")}
        evidence = {name: getattr(c.evidence, name) for name in counts}
        found |= {"confidence": c.confidence, "counts": counts, "evidence": evidence, "shown": c.shown, "text": str(c)}
    return found


def facts_of(task: Task, fitted: Fitted) -> dict[str, Any]:
    """What the model file should remember."""
    classes, n = np.unique(fitted.train.y, return_counts=True)
    return {
        "method": task.wanted.entry.name,
        "target": fitted.train.target,
        "dropped": list(fitted.train.dropped),
        "weight": task.weight,
        "positive": fitted.positive,
        "cost": fitted.cost,
        "goal": task.goal,
        "data": fitted.train.path,
        "rows": len(fitted.train.y),
        "rows_held_out": 0 if fitted.test is None else len(fitted.test.y),
        "rows_of_class": {spell(c): int(k) for c, k in zip(classes, n)},
        "columns": list(map(str, fitted.train.X.columns)),
        "rounds": fitted.n_rounds,
        "stop_reason": fitted.stop_reason,
        "seconds": round(fitted.seconds, 3),
    }


def profile_of(fitted: Fitted, answers: held_out.Answers | None) -> Profile:
    """What later commands compare new rows with."""
    train, certificate = fitted.train, getattr(fitted.model, "certificate_", None)
    said = {} if answers is None else shares_of(answers.predicted)
    if answers is None and certificate is not None and train.weights is None:  # the rows that a goal was certified on
        (other,) = (c for c in train.classes if c != fitted.positive)
        flagged, total = float(certificate.counts.flagged), float(certificate.counts.total)
        said = {spell(fitted.positive): flagged, spell(other): total - flagged}
    return Profile.of(train.X, shares_of(train.y, train.weights), said)


def _show(task: Task, fitted: Fitted, answers: held_out.Answers | None, cost: Any) -> None:
    entry, train = task.wanted.entry, fitted.train
    say(f"{entry.name} on {count(len(train.y), 'row')} and {count(train.X.shape[1], 'column')} of {train.path}")
    say(f"  target    {shown(train.target)}: {_classes(fitted)}")
    if entry.cost_sensitive and task.goal is None and cost is not None:
        say(f"  cost      {in_words(cost, _balanced(fitted))}")
    say(f"  rounds    {fitted.n_rounds} in {fitted.seconds:.1f} s; {fitted.stop_reason}")
    if task.goal:
        _show_goal(fitted.model)
    say()
    if answers is not None:
        held_out.show(answers, cost, f"On {held_out.rows_in_words(answers)}, held out of the fit")
        say()
    elif not task.goal:
        prose("No rows were held out, so nothing is known about new ones; `skewboost evaluate` measures.")
        say()
    if task.plot:
        say(f"Written: {task.plot}")
    if task.output is None:
        say("Nothing was written; -o model.json keeps the model.")
    else:
        say(f"Written: {task.output}")
        _show_next(task)


def _show_goal(search: Any) -> None:
    from skewboost.goals.certificate import in_words, of_little_use

    if search.cost_ is not None:
        miss, alarm = search.cost_.values()
        say(f"  told      a miss costs {miss:.4g}, a false alarm {alarm:.4g}")
    say(f"  flags     scores from {search.threshold_:.4g}")
    say()
    if search.certificate_ is not None:
        prose(str(search.certificate_))
        rates = [f"{name.replace('_', ' ')} {share(float(getattr(search.certificate_.counts, name)))}"
                 for name in ("recall", "precision", "false_alarm_rate", "f1")]  # fmt: skip
        prose(f"There: {', '.join(rates)}.")
    else:
        counts, reached = search.counts_, "reached" if _met(search) else "NOT reached"
        prose(
            f"{search.goal_}: {reached} in cross-validation, which promises nothing "
            f"(recall {share(float(counts.recall))}, precision {share(float(counts.precision))})"
        )
        if of_little_use(counts):
            prose(f"Of little use: {in_words(counts)}")


def _classes(fitted: Fitted) -> str:
    classes, n = np.unique(fitted.train.y, return_counts=True)
    if len(classes) > 2:
        return few([f"{c} ({number(int(k))})" for c, k in zip(side_by_side(classes[:MOST_NAMED]), n)], len(classes))
    positive = fitted.positive
    share_of = float((fitted.train.y == positive).mean())
    return f"{shown(positive)} is the positive class, {share_of:.1%} of the rows"


def _balanced(fitted: Fitted) -> float | None:
    if len(fitted.train.classes) > 2:
        return None
    w = np.ones(len(fitted.train.y)) if fitted.train.weights is None else fitted.train.weights
    positive = fitted.train.y == fitted.positive
    return float(w[~positive].sum() / w[positive].sum())


def _show_next(task: Task) -> None:
    model = shlex.quote(str(task.output))
    say("Next:")
    say(f"  skewboost explain {model}")
    say(f"  skewboost evaluate {model} OTHER_ROWS")
    say(f"  skewboost predict {model} NEW_ROWS -o predictions.csv")


def _draw(search: Any, path: str) -> None:
    without_screen()
    from skewboost.plots import GoalFrontierDisplay

    save(GoalFrontierDisplay.from_estimator(search).figure_, path)
