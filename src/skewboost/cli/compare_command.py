"""The command `compare`: methods side by side on the same folds."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from skewboost.boosting.catalogue import ONCE, catalogue
from skewboost.cli.cost_option import in_words, read_cost
from skewboost.cli.estimator_names import Wanted, for_many_classes, learner_called, read_settings
from skewboost.cli.exit_codes import INTERRUPTED, CommandError
from skewboost.cli.fit_command import check_many
from skewboost.cli.model_files import check_output
from skewboost.cli.output import count, emit, note, out, progress, prose, say, share, some, table
from skewboost.cli.picture_files import PICTURES, save, without_screen
from skewboost.cli.target_column import Examples, check_classes, positive_label, read_examples
from skewboost.metrics.measures import BINARY, MEASURES

SOUND, ALL = "sound", "all"
SHOWN = ("cost", "recall", "precision", "g_mean", "pr_auc")
SHOWN_OF_MANY = ("cost", "accuracy", "balanced_accuracy", "g_mean")


@dataclass(frozen=True)
class Contest:
    """Who is compared on what."""

    data: str
    target: str | None
    methods: tuple[str, ...] = ()
    positive: str | None = None
    cost: str | None = None
    drop: tuple[str, ...] = ()
    weight: str | None = None
    rounds: int | None = None
    learner: str | None = None
    settings: tuple[str, ...] = ()
    cv: int = 5
    repeats: int = 1
    results: str | None = None
    sort_by: str = "cost"
    plot: str | None = None
    seed: int = 0
    n_jobs: int = 1
    as_json: bool = False


def run(contest: Contest) -> None:
    """Compare, print, and say so where it was interrupted."""
    check_output(contest.plot, PICTURES, "--plot")
    check_output(contest.results, ())
    examples = read_examples(contest.data, contest.target, drop=contest.drop, weight=contest.weight)
    check_classes(examples)
    fewest = int(np.unique(examples.y, return_counts=True)[1].min())
    if contest.cv > fewest:
        remedy = f"Give --cv {fewest} at most." if fewest > 1 else "Get more rows of it, or choose another --target."
        told = f"each fold needs a row of every class, and the rarest has {count(fewest, 'row')}"
        raise CommandError(f"--cv {contest.cv}: {told}. {remedy}")
    found = compare(contest, examples)
    if found.folds and not found.measures:
        raise CommandError(f"no fit came to an end: {found.failures[0]['failed']}")
    if found.folds:
        _check_measure(contest.sort_by, found.measures)
        if contest.plot is not None:
            without_screen()
            from skewboost.plots import ComparisonDisplay

            save(ComparisonDisplay.from_comparison(found, measure=contest.sort_by).figure_, contest.plot)
        emit(document(found, contest)) if contest.as_json else _show(found, contest, examples)
    if not found.complete:
        again = f"; the same command with --results {contest.results} goes on" if contest.results else ""
        raise CommandError(f"interrupted after {len(found.folds)} of {found.n_fits} fits{again}.", INTERRUPTED)


def compare(contest: Contest, examples: Examples) -> Any:
    """The comparison."""
    import warnings

    from skewboost.evaluate import compare as of_library
    from skewboost.evaluate.comparison import IncompleteComparisonWarning

    _check_measure(contest.sort_by, BINARY)
    label = positive_label(contest.positive, examples.classes)
    cost = read_cost(contest.cost, examples.classes)
    estimators = {name: wanted.make(label) for name, wanted in contestants(contest, examples).items()}
    with progress() as bar, warnings.catch_warnings():
        warnings.simplefilter("ignore", IncompleteComparisonWarning)  # the last line says so
        task = bar.add_task("Comparing", total=None)

        def tell(now: Any) -> None:
            running = now.running[0] if now.running else "Comparing"
            bar.update(task, completed=now.done, total=now.total, description=running[:40])

        return of_library(
            estimators, examples.X, examples.y, cost=cost, cv=contest.cv, repeats=contest.repeats,
            results=contest.results, sample_weight=examples.weights, pos_label=label, n_jobs=contest.n_jobs,
            random_state=contest.seed, verbose=tell,
        )  # fmt: skip


def contestants(contest: Contest, examples: Examples) -> dict[str, Wanted]:
    """Who takes part, by name, with what is said about one of them or about all."""
    found = {method: Wanted.of_spec(method, contest.rounds) for method in chosen(contest.methods, examples)}
    if contest.learner is not None:
        learner_called(contest.learner)
        able = [m for m, w in found.items() if w.takes_learner and w.learner is None]
        _note_others("--learner", contest.learner, able, found)
        found |= {m: replace(found[m], learner=contest.learner) for m in able}
    for setting in contest.settings:
        (parameter,) = read_settings([setting])
        able = [m for m, w in found.items() if w.knows(parameter) and parameter not in read_settings(w.settings)]
        _note_others("--set", setting, able, found)
        found |= {m: replace(found[m], settings=(*found[m].settings, setting)) for m in able}
    return found


def _note_others(option: str, value: str, able: Sequence[str], everyone: Collection[str]) -> None:
    """Say for whom an option has an effect, if not for all; raise if for none."""
    if not able:
        raise CommandError(f"{option} {value} has no effect on {some(everyone)}. Leave it out, or compare others.")
    if len(able) < len(everyone):
        note(f"{option} {value} is for {some(able)}; the others are as they were")


def chosen(methods: Sequence[str], examples: Examples) -> list[str]:
    """Names of the catalogue, with their own settings behind them; "sound" and "all" are those that fit the classes."""
    fitting = set(for_many_classes()) if len(examples.classes) > 2 else {e.name for e in catalogue()}
    names: list[str] = []
    for method in methods or (SOUND,):
        if method.lower() in (SOUND, ALL):
            group = [e for e in catalogue() if e.name in fitting and (method.lower() == ALL or e.costs == ONCE)]
            names += [e.name for e in group]
        else:
            wanted = Wanted.of_spec(method)
            check_many(wanted.entry.name, examples, option="--methods")
            names.append(wanted.spec)
    return list(dict.fromkeys(names))


def _check_measure(measure: str, known: Sequence[str]) -> None:
    if measure not in known:
        raise CommandError(f"--sort-by {measure!r} is none of {', '.join(known)}.")


def document(found: Any, contest: Contest) -> dict[str, Any]:
    """All of it, for machines."""
    return {
        "data": contest.data,
        "target": contest.target,
        "complete": found.complete,
        "methods": found.ordered(contest.sort_by),
        "summary": list(found.summary()),
        "test": found.test(contest.sort_by).as_dict() if found.complete and len(found.methods) > 1 else None,
        "folds": found.folds,
    }


def _show(found: Any, contest: Contest, examples: Examples) -> None:
    measures = [m for m in (SHOWN if len(examples.classes) == 2 else SHOWN_OF_MANY) if m in found.measures]
    if contest.sort_by not in measures:
        measures.insert(0, contest.sort_by)
    cells = {(row["method"], row["measure"]): row for row in found.summary()}
    rows = []
    for name in found.ordered(contest.sort_by):
        told = [cells[name, m] for m in measures]
        values = [("*" if cell["best"] else "") + share(_known(cell["mean"])) for cell in told]
        rows.append([name, *values, f"{_known(cells[name, 'fit_seconds']['mean']):.2f}"])
    folds = f"{contest.cv} folds" + (f", {contest.repeats} times" if contest.repeats > 1 else "")
    say(f"{count(len(rows), 'method')} on {count(len(examples.y), 'row')} of {examples.path}, {folds}")
    out().print(table(["method", *(MEASURES[m].label for m in measures), "sec."], rows), "")
    say(f"Means over the folds, best first by {contest.sort_by}; * is the best of a column.")
    say(f"cost is per row: {in_words(read_cost(contest.cost, examples.classes))}.")
    for name in dict.fromkeys(row["method"] for row in found.failures):
        why = next(row["failed"] for row in found.failures if row["method"] == name)
        note(f"{name} failed: {' '.join(str(why).split())[:200]}")
    if len(rows) > 1 and found.complete:
        _show_test(found.test(contest.sort_by))
    if contest.plot:
        say(f"Written: {contest.plot}")
    if contest.results:
        say(f"Written: {contest.results}; the same command goes on from there.")


def _show_test(test: Any) -> None:
    """What is beyond chance, in two lines; --json has all pairs."""
    differ = "some methods differ" if test.significant else "no difference is shown"
    prose(f"{test.name[0].upper()}{test.name[1:]}: {differ} (p = {test.pvalue:.2g}).")
    for group in test.groups:
        if len(group) < len(test.mean_ranks):
            prose(f"Cannot be told apart: {', '.join(group)}.")


def _known(value: Any) -> float:
    return float("nan") if value is None else float(value)
