"""The command `compare`: methods side by side on the same folds."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

from skewboost.boosting.catalogue import ONCE, RECOMMENDED, catalogue
from skewboost.cli.commands import Compare, MatchRate
from skewboost.cli.cross_validation import check_folds, describe_folds, folds_of, interruption_without_warning
from skewboost.cli.exit_codes import CommandError, interrupted_after
from skewboost.cli.fit_command import check_multiclass, read_all
from skewboost.cli.group_and_time import divided_in_time
from skewboost.cli.method_options import MethodOptions, find_learner, multiclass_methods, read_settings, split_methods
from skewboost.cli.output import count, fraction, list_names, note, print_json, print_line, print_table, print_text
from skewboost.cli.output_files import PICTURES, check_output, save_picture
from skewboost.cli.target_column import Examples, describe_cost, find_positive, read_cost
from skewboost.metrics.measures import BINARY, MEASURES
from skewboost.progress import ProgressBar

SOUND, ALL = "sound", "all"
PRINTED = ("cost", "recall", "precision", "g_mean", "pr_auc")
PRINTED_MULTICLASS = ("cost", "accuracy", "balanced_accuracy", "g_mean")


def run(request: Compare) -> None:
    """Compare, print, and exit with code 130 if interrupted."""
    check_output(request.plot, PICTURES, "--plot")
    check_output(request.results)
    examples = read_all(request)
    check_folds(request.cv, request.repeats, examples)
    comparison = compare(request, examples)
    if comparison.folds and not comparison.measures:
        raise CommandError(f"all fits failed: {comparison.failures[0]['failed']}")
    if comparison.folds:
        _check_measure(request.sort_by, comparison.measures)
        if request.plot is not None:
            from skewboost.plots import ComparisonDisplay

            save_picture(ComparisonDisplay.from_comparison(comparison, measure=request.sort_by).figure_, request.plot)
        if request.as_json:
            print_json(_document(comparison, request))
        else:
            _print(comparison, request, examples)
    if not comparison.complete:
        remedy = f"The same command with --results {request.results} continues." if request.results else ""
        raise interrupted_after(len(comparison.folds), comparison.n_fits, "fit", remedy)


def compare(request: Compare, examples: Examples) -> Any:
    """The comparison."""
    from skewboost import evaluate

    _check_measure(request.sort_by, BINARY)
    label = find_positive(request.positive, examples.classes)
    cost = read_cost(request.cost, examples.classes)
    estimators = {name: options.make(label) for name, options in choose_methods(request, examples).items()}
    cv = folds_of(request.cv, examples)
    if examples.times is not None:
        estimators = {name: divided_in_time(estimator) for name, estimator in estimators.items()}
    with ProgressBar(None, "Comparing", transient=True) as bar, interruption_without_warning():

        def update(progress: Any) -> None:
            bar.total = progress.total
            bar.update(progress.done, progress.running[0][:40] if progress.running else None)

        return evaluate.compare(
            estimators, examples.X, examples.y, cost=cost, cv=cv, repeats=request.repeats, results=request.results,
            sample_weight=examples.weights, groups=examples.groups, pos_label=label, n_jobs=request.n_jobs,
            random_state=request.seed, verbose=update,
        )  # fmt: skip


def choose_methods(request: Compare | MatchRate, examples: Examples, default: str = SOUND) -> dict[str, MethodOptions]:
    """The methods by name. --rounds, --learner and --set apply to all methods that have such a parameter."""
    names = _method_names(split_methods(request.methods) or (default,), examples)
    methods = {name: MethodOptions.from_spec(name) for name in names}
    if request.rounds is not None:
        able = [name for name, m in methods.items() if m.named.rounds is not None]
        _note_affected("--rounds", str(request.rounds), able, methods)
        methods |= {name: replace(methods[name], rounds=request.rounds) for name in able}
    if request.learner is not None:
        find_learner(request.learner)
        able = [name for name, m in methods.items() if m.named.takes_learner and m.learner is None]
        _note_affected("--learner", request.learner, able, methods)
        methods |= {name: replace(methods[name], learner=request.learner) for name in able}
    for setting in request.settings or ():
        (parameter,) = read_settings([setting])
        able = [n for n, m in methods.items() if m.has_parameter(parameter) and parameter not in m.parameters]
        _note_affected("--set", setting, able, methods)
        methods |= {name: replace(methods[name], settings=(*methods[name].settings, setting)) for name in able}
    return methods


def _method_names(methods: Sequence[str], examples: Examples) -> list[str]:
    """The names that --methods gives; "sound" and "all" stand for the methods that can take the classes."""
    usable = set(multiclass_methods()) if len(examples.classes) > 2 else {e.name for e in catalogue()}
    names: list[str] = []
    for method in methods:
        if method.lower() in (SOUND, ALL):
            variants = [e for e in catalogue() if e.name in usable and (method.lower() == ALL or e.costs == ONCE)]
            names += [RECOMMENDED, *(e.name for e in variants)]
        else:
            options = MethodOptions.from_spec(method)
            check_multiclass(options.named, examples, option="--methods")
            names.append(options.spec)
    return list(dict.fromkeys(names))


def _note_affected(option: str, value: str, able: Sequence[str], methods: Collection[str]) -> None:
    """Name the methods that an option has an effect on, if not all; raise if it has none."""
    if not able:
        raise CommandError(
            f"{option} {value} has no effect on {list_names(methods)}.", "Leave it out, or compare other methods."
        )
    if len(able) < len(methods):
        note(f"{option} {value} applies to {list_names(able)} only")


def _check_measure(measure: str, known: Sequence[str]) -> None:
    if measure not in known:
        raise CommandError(f"--sort-by {measure!r} is not a measure.", f"Choose one of {', '.join(known)}.")


def _document(comparison: Any, request: Compare) -> dict[str, Any]:
    tested = comparison.complete and len(comparison.methods) > 1 and not comparison.in_order
    test = comparison.test(request.sort_by) if tested else None
    return {
        "data": request.data,
        "target": request.target,
        "complete": comparison.complete,
        "methods": comparison.ordered(request.sort_by),
        "summary": list(comparison.summary()),
        "test": None if test is None else test.as_dict(),
        "folds": comparison.folds,
    }


def _print(comparison: Any, request: Compare, examples: Examples) -> None:
    columns = PRINTED if len(examples.classes) == 2 else PRINTED_MULTICLASS
    measures = [m for m in columns if m in comparison.measures]
    if request.sort_by not in measures:
        measures.insert(0, request.sort_by)
    cells = {(row["method"], row["measure"]): row for row in comparison.summary()}
    rows = []
    for name in comparison.ordered(request.sort_by):
        values = [("*" if cells[name, m]["best"] else "") + fraction(cells[name, m]["mean"]) for m in measures]
        rows.append([name, *values, f"{cells[name, 'fit_seconds']['mean']:.2f}"])
    folds = describe_folds(request, request.cv, request.repeats)
    print_line(f"{count(len(rows), 'method')} on {count(len(examples.y), 'row')} of {examples.path}, {folds}")
    print_table(["method", *(MEASURES[m].label for m in measures), "sec."], rows)
    print_line(f"Means over the folds, sorted by {request.sort_by}; * marks the best of a column.")
    print_line(f"cost is per row: {describe_cost(read_cost(request.cost, examples.classes))}.")
    for name in dict.fromkeys(row["method"] for row in comparison.failures):
        reason = next(row["failed"] for row in comparison.failures if row["method"] == name)
        note(f"{name} failed: {' '.join(str(reason).split())[:200]}")
    if comparison.in_order:
        print_text("Folds in time are no sample, so there is no test; --json has the values of each fold.")
    elif len(rows) > 1 and comparison.complete:
        _print_test(comparison.test(request.sort_by))
    if request.plot:
        print_line(f"Written: {request.plot}")
    if request.results:
        print_line(f"Written: {request.results}; the same command continues from there.")


def _print_test(test: Any) -> None:
    """Print whether the methods differ significantly; --json has all pairs."""
    differ = "some methods differ" if test.significant else "no difference is shown"
    print_text(f"{test.name[0].upper()}{test.name[1:]}: {differ} (p = {test.pvalue:.2g}).")
    for group in test.groups:
        if len(group) < len(test.mean_ranks):
            print_text(f"Not significantly different: {', '.join(group)}.")
