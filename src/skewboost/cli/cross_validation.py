"""What the commands that fit many times have in common: folds, the estimator, measures, progress and Ctrl-C."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from skewboost.boosting.catalogue import RECOMMENDED_VARIANT
from skewboost.cli.exit_codes import CommandError, interrupted_after
from skewboost.cli.group_and_time import divided_in_time, folds_in_time
from skewboost.cli.method_options import MethodOptions
from skewboost.cli.options import Learning, OneMethod
from skewboost.cli.output import count, fraction, print_table, print_text
from skewboost.cli.target_column import Examples, find_positive
from skewboost.errors import InputError
from skewboost.evaluate.problem import fewest_of_a_class
from skewboost.metrics.measures import find_measure
from skewboost.names import shown
from skewboost.progress import ProgressBar
from skewboost.typing import Array

GAP = "   "  # between the columns of a table


def check_choice(option: str, value: str, known: Sequence[str]) -> None:
    """Raise if the value of an option is not one of the known ones."""
    if value not in known:
        raise CommandError(f"{option} {value!r} is unknown.", f"Choose one of {', '.join(known)}.")


def check_folds(cv: int, repeats: int, examples: Examples) -> None:
    """Raise if there are not enough rows, or groups, of a class for so many folds."""
    if examples.times is not None:
        if repeats > 1:
            raise CommandError(
                "--repeats draws other folds, but --time allows one division only.", "Leave --repeats out."
            )
        return
    fewest, rarest = fewest_of_a_class(examples.y, examples.groups)
    if cv > fewest:
        where = f"has {count(fewest, 'row')}" if examples.groups is None else f"is in {count(fewest, 'group')}"
        raise CommandError(
            f"--cv {cv}: each fold needs a row of every class, but {shown(rarest)} {where}.",
            f"Give --cv {fewest} at most." if fewest > 1 else "Get more rows of it, or choose another --target.",
        )


def folds_of(cv: int, examples: Examples) -> Any:
    """The number of folds, or the rows of each where the rows are ordered in time."""
    return cv if examples.times is None else folds_in_time(examples.times, cv, examples.y)


def describe_folds(request: Learning, cv: int, repeats: int) -> str:
    """The folds in words, such as "5 folds, 2 times of whole groups (customer)"."""
    folds = f"{cv} folds" + (f", {repeats} times" if repeats > 1 else "")
    if request.group is not None:
        return f"{folds} of whole groups ({shown(request.group)})"
    return folds if request.time is None else f"{folds} in time ({shown(request.time)})"


def options_of(request: OneMethod) -> MethodOptions:
    """The method, without a seed and without threads of its own: those are of the evaluation."""
    options = replace(MethodOptions.of(request), seed=None, n_jobs=None)
    check_no_referral(options)
    return options


def check_no_referral(options: MethodOptions) -> None:
    """Raise if the method refers rows, so that its decisions cannot be measured by the usual measures."""
    if options.parameters.get("reject_cost") is not None:
        raise CommandError(
            "the measures are about decisions on all rows, but reject_cost refers some.", "Leave it out."
        )


def unfitted(request: Learning, options: MethodOptions, examples: Examples, cost: Any = None) -> Any:
    """The estimator, with the costs if it takes any."""
    label = find_positive(request.positive, examples.classes)
    estimator = options.make(label, **({"cost": cost} if cost is not None and options.named.cost_sensitive else {}))
    return estimator if examples.times is None else divided_in_time(estimator)


def evaluation_of(request: Any, examples: Examples) -> dict[str, Any]:
    """The arguments that functions of `skewboost.evaluate` have in common."""
    return {
        "sample_weight": examples.weights, "groups": examples.groups, "n_jobs": request.n_jobs,
        "random_state": request.seed,
    }  # fmt: skip


def measure_names(texts: Iterable[str] | None, known: Sequence[str]) -> list[str]:
    """The measures that --measures names, separated by commas."""
    names = [name.strip() for text in texts or () for name in text.split(",") if name.strip()]
    found = []
    for name in names:
        try:
            found.append(find_measure(name, among=known).name)
        except InputError as error:
            raise CommandError(f"--measures: {name!r} is not a measure of this curve.", error.remedy) from error
    return list(dict.fromkeys(found))


def check_rounds(options: MethodOptions, estimator: Any, instead: str) -> None:
    """Raise if the rounds of a method cannot be measured."""
    if not hasattr(estimator, "staged_predict"):
        raise CommandError(
            f"the rounds of {options.named.name} cannot be measured one by one.",
            f"Use --method {RECOMMENDED_VARIANT}, for example. {instead}",
        )


def shown_rounds(rounds: Array, best: int | None = None) -> list[int]:
    """The indices of the rounds to print: 1, 2, 5, 10, 20, … the best and the last one."""
    n = len(rounds)
    some = {c * 10**k for k in range(len(str(n))) for c in (1, 2, 5)} | {n} | ({best} if best else set())
    return [r - 1 for r in sorted(some) if r <= n]


def mean_and_spread(mean: float, spread: float) -> str:
    """A mean and the standard deviation over the fits, such as "0.853 ±0.031"."""
    return fraction(mean) if spread != spread else f"{fraction(mean)} ±{fraction(spread)}"


def print_in_80_columns(
    headings: Sequence[str], begin: Sequence[list[str]], long: Sequence[list[str]], short: Sequence[list[str]],
    left: Sequence[int] = (),
) -> None:  # fmt: skip
    """Print means ± standard deviations (`long`), or means alone (`short`) where there is no room for both."""
    table = [[*first, *rest] for first, rest in zip(begin, long)]
    width = sum(max(map(len, column)) + len(GAP) for column in zip(headings, *table)) - len(GAP)
    room = width <= 80
    print_table(headings, table if room else [[*first, *rest] for first, rest in zip(begin, short)], left=left)
    print_text(f"Means{' ± standard deviations' if room else ''} over the test parts; --json has all values.")


@contextmanager
def in_words_of_options(words: Mapping[str, str]) -> Iterator[None]:
    """Errors of the library in terms of options: words about arguments are replaced."""
    try:
        yield
    except InputError as error:

        def said(text: str) -> str:
            return re.sub(rf"\b({'|'.join(words)})\b", lambda found: words[found[1]], text)

        raise CommandError(said(error.problem), said(error.remedy)) from error


@contextmanager
def interruption_without_warning() -> Iterator[None]:
    """Do not warn that a result is incomplete: the exit code and the last line of the command say so."""
    from skewboost.evaluate import IncompleteResultWarning

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", IncompleteResultWarning)
        yield


class Fits:
    """How many fits of a function of `skewboost.evaluate` are done, so that Ctrl-C can say so."""

    def __init__(self) -> None:
        self.done = self.total = 0

    @contextmanager
    def shown(self, what: str) -> Iterator[Callable[[Any], None]]:
        """Show which fits are done; what is yielded is the argument `verbose` of the function."""
        with ProgressBar(None, what, transient=True) as bar, interruption_without_warning():

            def update(progress: Any) -> None:
                self.done, self.total = progress.done, progress.total
                bar.total = self.total
                bar.update(self.done)

            try:
                yield update
            except KeyboardInterrupt:
                raise self._interrupted("That is too few for a result.") from None

    def check_all_done(self) -> None:
        """Raise after Ctrl-C, once the finished part is printed."""
        if self.done < self.total:
            raise self._interrupted()

    def _interrupted(self, remedy: str = "") -> CommandError:
        return interrupted_after(self.done, self.total, "fit", remedy)
