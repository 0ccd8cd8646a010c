"""The result of a comparison, and its summaries as text, Markdown and HTML tables."""

from __future__ import annotations

import html
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import KW_ONLY, InitVar, dataclass
from typing import Any

import numpy as np

from skewboost.errors import InputError
from skewboost.evaluate.rank_tests import AUTO, Blocks, RankTest, block_ranks, run_test
from skewboost.evaluate.running import import_pandas
from skewboost.json_lines import Row
from skewboost.metrics.measures import MEASURES, find_measure
from skewboost.names import shown, visible
from skewboost.typing import Array

SECONDS = ("tune_seconds", "fit_seconds", "predict_seconds")
ABOUT = ("data_set", "method", "repeat", "fold", "n_train", "n_test", "params")

SHOWN = ("cost", "recall", "precision", "g_mean", "roc_auc", "brier", "fit_seconds")  # by default
OF_MANY = ("cost", "error", "balanced_accuracy", "g_mean", "fit_seconds")
NONE = "–"
MARKUP = re.compile(r"[\\`*_\[\]<>|~$&#]|:(?=\w+:)")  # characters that Markdown would interpret
MOST_NOTES = 3  # about means over fewer folds


class Summary(list[Row]):
    """Rows of a summary: method, measure, mean, sd, n, n_failed, mean_rank and best; and notes below the table."""

    def __init__(self, rows: list[Row], methods: list[str], notes: Sequence[str] = ()) -> None:
        super().__init__(rows)
        self.methods, self.notes = methods, notes

    @property
    def measures(self) -> list[str]:
        """The measures of the rows."""
        return list(dict.fromkeys(row["measure"] for row in self))

    def as_frame(self) -> Any:
        """Return the rows as a pandas table."""
        return import_pandas().DataFrame(list(self))

    def as_markdown(self) -> str:
        """Return a Markdown table with a row for each method and a column for each measure; the best are bold."""
        heads, rows = self._wide()
        cells = [[f"**{_markdown(c)}**" if b else _markdown(c) for c, b in row] for row in rows]
        lines = ["| " + " | ".join(line) + " |" for line in (heads, *cells)]
        table = [*lines[:1], "|---|" + "---:|" * (len(heads) - 1), *lines[1:], ""]
        notes = ["\n\n".join(map(_markdown, self.notes)), ""] if self.notes else []
        return "\n".join(table + notes)

    def as_html(self) -> str:
        """Return the same as an HTML table."""
        heads, rows = self._wide()
        right, left = ' style="text-align:right"', ' style="text-align:left"'
        head = "".join(f"<th{right if j else left}>{html.escape(h)}</th>" for j, h in enumerate(heads))
        body = "".join(
            "<tr>" + "".join(f"<td{right if j else left}>{_cell(c, b)}</td>" for j, (c, b) in enumerate(row)) + "</tr>"
            for row in rows
        )
        table = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
        below = "".join(f"<p>{html.escape(note)}</p>" for note in self.notes)
        return f"<div>{table}{below}</div>" if below else table

    def __str__(self) -> str:
        heads, rows = self._wide()
        cells = [[f"{head} " for head in heads], *([f"{c}{'*' if b else ' '}" for c, b in row] for row in rows)]
        widths = [max(len(row[j]) for row in cells) for j in range(len(heads))]
        # names are aligned to the left, and numbers to the right
        padded = [[row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])] for row in cells]
        lines = ["  ".join(row).rstrip() for row in padded]
        return "\n".join([*lines, "", *self.notes] if self.notes else lines)

    def _repr_html_(self) -> str:
        return self.as_html()

    def _wide(self) -> tuple[list[str], list[list[tuple[str, bool]]]]:
        """Return the headings, and for each method its cells and whether each is the best of its column."""
        measures, cells = self.measures, {(row["method"], row["measure"]): row for row in self}
        arrows = [f"{MEASURES[m].label} {'↑' if MEASURES[m].higher_is_better else '↓'}" for m in measures]
        rows = []
        for method in self.methods:
            own = [cells[method, m] for m in measures]
            rank = own[0]["mean_rank"]
            values = [(_number(cell["mean"], cell["sd"]), bool(cell["best"]) and len(self.methods) > 1) for cell in own]
            rows.append([(shown(method), False), *values, (NONE if rank is None else f"{rank:.2f}", False)])
        return ["method", *arrows, "rank"], rows


def _number(mean: float, sd: float) -> str:
    if mean != mean:
        return NONE
    digits = 3 if abs(mean) < 10 else 1
    return f"{mean:.{digits}f}" + ("" if sd != sd else f" ± {sd:.{digits}f}")


def _markdown(text: str) -> str:
    """Escape text for Markdown."""
    return MARKUP.sub(r"\\\g<0>", text)


def _cell(text: str, best: bool) -> str:
    return f"<b>{html.escape(text)}</b>" if best else html.escape(text)


@dataclass(eq=False, repr=False)
class Comparison:
    """The result of `compare`: every measure of every method on every fold, with summaries and tests.

    Parameters
    ----------
    rows : list of dict
        One for each fit, as a results file has them.
    methods, data_sets : list of str
        Names, in the order in which they were given.
    n_fits : int
        The number of fits of the whole comparison.
    complete : bool, default=True
        Whether all fits are finished; False after an interruption.
    random_state : int or None, default=None
        The seed of the folds.
    pos_labels : dict or None, default=None
        The positive class of each data set; None if there are more than two classes.
    cost_matrices : dict or None, default=None
        ``cost[true, predicted]`` by data set, classes in sorted order.
    in_order : list of str, default=()
        The data sets whose training rows come before the test rows in every fold, as with ``TimeSeriesSplit``.

    Attributes
    ----------
    folds : list of dict
        A row for each fit: data_set, method, repeat, fold, n_train, n_test, params (chosen from the grid), a column for
        each measure (None if the classifier does not allow it, NaN if it is not defined), tune_seconds, fit_seconds (of
        the final fit), predict_seconds (of `predict`), and failed: None, or the error.
    measures : list of str
        The measures that any fit has.
    """

    rows: InitVar[list[Row]]
    _: KW_ONLY
    methods: list[str]
    data_sets: list[str]
    n_fits: int
    complete: bool = True
    random_state: int | None = None
    pos_labels: dict[str, Any] | None = None
    cost_matrices: dict[str, Array] | None = None
    in_order: Sequence[str] = ()

    def __post_init__(self, rows: list[Row]) -> None:
        self.pos_labels, self.cost_matrices = self.pos_labels or {}, self.cost_matrices or {}
        self.measures = [name for name in MEASURES if any(name in row["measures"] for row in rows)]
        self.folds = [
            {
                **{name: row[name] for name in ABOUT},
                **{name: row["measures"].get(name) for name in self.measures},
                **{name: row[name] for name in SECONDS},
                "failed": row["failed"],
            }
            for row in rows
        ]

    @property
    def failures(self) -> list[Row]:
        """The rows of failed fits."""
        return [row for row in self.folds if row["failed"] is not None]

    def as_frame(self) -> Any:
        """Return the rows of `folds` as a pandas table."""
        return import_pandas().DataFrame(self.folds, columns=[*ABOUT, *self.measures, *SECONDS, "failed"])

    def values(self, measure: str) -> dict[str, Array]:
        """Return the values of a measure by method, one per (data set, repeat, fold); NaN where there is none."""
        _, table = self._table(self._check(measure, SECONDS))
        return {method: table[:, j] for j, method in enumerate(self.methods)}

    def summary(self, measure: str | None = None, *, data_set: str | None = None) -> Summary:
        """Return the mean, standard deviation and mean rank of each method.

        Parameters
        ----------
        measure : str or None, default=None
            One measure, also "fit_seconds" and other times; None: all.
        data_set : str or None, default=None
            One data set; None: all data sets, with equal weight.

        Returns
        -------
        Summary
            A list of dicts with method, measure, mean, sd (over the folds of a single data set, else over the means of
            the data sets), n (the number of fits with the measure), n_failed, mean_rank and best (among methods with
            the largest n). It prints as a table, and has `as_frame`, `as_markdown` and `as_html`.
        """
        if data_set is not None:
            return self.of(data_set).summary(measure)
        names = [*self.measures, *SECONDS] if measure is None else [self._check(measure, SECONDS)]
        return Summary([row for name in names for row in self._summary_of(name)], self.ordered(names[0]))

    def _summary_of(self, measure: str) -> list[Row]:
        values, rows = self.values(measure), []
        places, _ = self._table(measure)
        ranks = self._ranks(measure)
        means = {m: _mean_of_means(v, places, len(self.data_sets) > 1) for m, v in values.items()}
        n = {method: int(np.isfinite(v).sum()) for method, v in values.items()}
        # a method that failed on a hard fold has a better mean, so only methods with all folds can be the best
        known = [mean for method, (mean, _) in means.items() if mean == mean and n[method] == max(n.values())]
        top = None if not known else (max if MEASURES[measure].higher_is_better else min)(known)
        for method in self.methods:
            mean, sd = means[method]
            failed = sum(row["method"] == method and row["failed"] is not None for row in self.folds)
            best = mean == top and n[method] == max(n.values())
            rows.append({"method": method, "measure": measure, "mean": mean, "sd": sd, "n": n[method],
                         "n_failed": failed, "mean_rank": ranks.get(method), "best": best})  # fmt: skip
        return rows

    def ranks(self, measure: str) -> dict[str, float]:
        """Return the mean rank of each method, the best first; 1 is the best.

        Ranks are averaged over the folds of a single data set, else over data sets, by the means of their folds. Only
        folds on which all methods have the measure are used. Methods that never have it are left out.
        """
        return self._ranks(self._check(measure))

    def _ranks(self, measure: str) -> dict[str, float]:
        blocks = self.blocks(measure)
        if not blocks.values.size:
            return {}
        mean = block_ranks(blocks.values, MEASURES[measure].higher_is_better).mean(axis=0).tolist()
        return dict(sorted(zip(blocks.methods, mean), key=lambda item: item[1]))

    def best(self, measure: str = "cost") -> str:
        """Return the best method: by the mean of the measure on a single data set, else by the mean rank."""
        blocks = self.blocks(self._check(measure))
        if not blocks.values.size:
            raise InputError(f"No fold has {measure!r} for all methods, so none is the best.", "See failures.")
        return self.ordered(measure)[0]

    def ordered(self, measure: str = "cost") -> list[str]:
        """Return all methods, the best first, as `best` compares them; those without the measure come last."""
        measure = find_measure(measure).name
        blocks = self.blocks(measure)
        if not blocks.values.size:
            return list(self.methods)
        if blocks.kind == "folds":
            mean = dict(zip(blocks.methods, (-MEASURES[measure].sign * blocks.values.mean(axis=0)).tolist()))
        else:
            mean = self._ranks(measure)
        return sorted(self.methods, key=lambda method: mean.get(method, np.inf))

    def test(self, measure: str = "cost", *, method: str = AUTO, alpha: float = 0.05) -> RankTest:
        """Test whether methods differ by more than chance.

        Parameters
        ----------
        measure : str, default="cost"
            The measure to compare.
        method : {"auto", "friedman", "wilcoxon", "corrected_t"}, default="auto"
            "auto": for several data sets Friedman's test with Nemenyi's critical difference, or Wilcoxon's test if
            there are two methods; for the folds of a single data set the corrected resampled t-test of all pairs,
            because folds overlap. Friedman's and Wilcoxon's tests can be chosen for folds by name, with a caveat. For
            folds in the order of time no test is valid, and it raises an error.
        alpha : float, default=0.05
            The level of significance.

        References
        ----------
        .. [demsar2006] J. Demšar, "Statistical comparisons of classifiers over multiple data sets", Journal of Machine
           Learning Research 7 (2006) 1-30.
        .. [garcia2008] S. García, F. Herrera, "An extension on 'Statistical comparisons of classifiers over multiple
           data sets' for all pairwise comparisons", Journal of Machine Learning Research 9 (2008) 2677-2694.
        .. [nadeau2003] C. Nadeau, Y. Bengio, "Inference for the generalization error", Machine Learning 52 (2003)
           239-281.
        .. [benavoli2016] A. Benavoli, G. Corani, F. Mangili, "Should we really use post-hoc tests based on
           mean-ranks?", Journal of Machine Learning Research 17 (2016) 1-10.
        """
        measure = self._check(measure)
        return run_test(self.blocks(measure), measure, MEASURES[measure].higher_is_better, method, alpha)

    def of(self, data_set: str) -> Comparison:
        """Return the comparison on one data set."""
        if data_set not in self.data_sets:
            raise InputError(
                f"There is no data set {data_set!r}.", f"Choose one of {', '.join(map(repr, self.data_sets))}."
            )
        part = object.__new__(Comparison)
        part.__dict__.update(self.__dict__, data_sets=[data_set])
        part.folds = [row for row in self.folds if row["data_set"] == data_set]
        return part

    def as_markdown(self, measures: list[str] | None = None) -> str:
        """Return a table of means and standard deviations in Markdown; the best are bold."""
        return self._overview(measures).as_markdown() if self.folds else f"{self}\n"

    def __str__(self) -> str:
        return str(self._overview()) if self.folds else f"No fit is finished: 0 of {self.n_fits}."

    def __repr__(self) -> str:
        whole = "" if self.complete else f", {len(self.folds)} of {self.n_fits} fits"
        return f"Comparison({', '.join(map(shown, self.methods))} on {', '.join(map(shown, self.data_sets))}{whole})"

    def _repr_html_(self) -> str:
        return self._overview().as_html() if self.folds else f"<p>{self}</p>"

    def _overview(self, measures: list[str] | None = None) -> Summary:
        """Return a table of some measures, with notes on the folds, missing values and failures."""
        if measures is None:
            available = [*self.measures, "fit_seconds"]
            measures = [m for m in (SHOWN if "recall" in available else OF_MANY) if m in available]
        if not measures:
            raise InputError("measures is empty.", "Name some, or leave it at None.")
        rows = [row for m in measures for row in self.summary(m)]
        return Summary(rows, self.ordered(rows[0]["measure"]), self._notes(rows))

    def _notes(self, rows: list[Row]) -> list[str]:
        n_sets = len(self.data_sets)
        n_folds = len({(row["data_set"], row["repeat"], row["fold"]) for row in self.folds})
        where, over = (f"{n_sets} data sets", "data sets") if n_sets > 1 else ("one data set", "folds")
        folds = f"{n_folds} fold{'s' * (n_folds > 1)}"
        lines = [f"{folds} of {where}; mean ± standard deviation over {over}; rank by the first measure."]
        if not self.complete:
            lines.append(f"Interrupted: {len(self.folds)} of {self.n_fits} fits are finished.")
        most: Counter[str] = Counter()
        for row in rows:
            most[row["measure"]] = max(most[row["measure"]], row["n"])
        fewer = [row for row in rows if 0 < row["n"] < most[row["measure"]]]
        for row in fewer[:MOST_NOTES]:
            of = f"{row['n']} of {most[row['measure']]} folds only"
            label = MEASURES[row["measure"]].label
            lines.append(f"{shown(row['method'])} has {label} on {of}: its mean cannot be compared.")
        if len(fewer) > MOST_NOTES:
            lines.append(f"The same holds for {len(fewer) - MOST_NOTES} other means: see n in summary().")
        for method in self.methods:
            messages = [row["failed"] for row in self.failures if row["method"] == method]
            if messages:
                total = sum(row["method"] == method for row in self.folds)
                lines.append(f"{shown(method)} failed in {len(messages)} of {total} fits: {visible(messages[0])}")
        return lines

    def _check(self, measure: str, more: tuple[str, ...] = ()) -> str:
        if not self.measures and measure not in more:
            raise InputError(f"measure={measure!r} is not available because no fit has succeeded.", "See failures.")
        return find_measure(measure, among=(*self.measures, *more)).name

    def _table(self, measure: str) -> tuple[list[tuple[str, int, int]], Array]:
        """Return values by (data set, repeat, fold) and method; NaN where there are none."""
        places = list(dict.fromkeys((row["data_set"], row["repeat"], row["fold"]) for row in self.folds))
        row_of, column_of = ({key: k for k, key in enumerate(keys)} for keys in (places, self.methods))
        table = np.full((len(places), len(self.methods)), np.nan)
        for row in self.folds:
            value = row[measure]
            if value is not None:
                table[row_of[row["data_set"], row["repeat"], row["fold"]], column_of[row["method"]]] = value
        return places, table

    def blocks(self, measure: str) -> Blocks:
        """Return the table that tests use: methods with the measure, and folds on which all of them have it.

        With several data sets, it has the means of their folds.
        """
        places, table = self._table(self._check(measure, SECONDS))
        finite: Array = np.isfinite(table)
        has: Array = np.asarray(finite.any(axis=0))
        whole: Array = np.asarray(finite[:, has].all(axis=1))
        methods = tuple(m for m, there in zip(self.methods, has) if there)
        caveats = []
        if not has.all():
            out = ", ".join(m for m, there in zip(self.methods, has) if not there)
            caveats.append(f"Left out because they have no {measure}: {out}.")
        if not whole.all():
            n_out = int((~whole).sum())
            caveats.append(f"{n_out} of {len(whole)} folds are left out because not all methods have {measure} there.")
        kept = [place for place, there in zip(places, whole) if there]
        values = table[whole][:, has]
        if len(self.data_sets) == 1:
            sizes = {(r["repeat"], r["fold"]): r["n_test"] / r["n_train"] for r in self.folds}
            ratio = float(np.mean([sizes[place[1:]] for place in kept])) if kept else 0.0
            in_order = self.data_sets[0] in self.in_order
            return Blocks(values, methods, "folds", ratio, tuple(caveats), in_order)
        names = list(dict.fromkeys(place[0] for place in kept))
        means = [values[[place[0] == name for place in kept]].mean(axis=0) for name in names]
        return Blocks(np.array(means).reshape(len(names), len(methods)), methods, "data sets", 0.0, tuple(caveats))


def _mean_of_means(values: Array, places: list[tuple[str, int, int]], several: bool) -> tuple[float, float]:
    """Return mean and standard deviation over folds, or over the means of the data sets."""
    finite = np.isfinite(values)
    names = [name for (name, *_), is_finite in zip(places, finite) if is_finite]
    known = values[finite]
    if several:
        known = np.array([known[[n == name for n in names]].mean() for name in dict.fromkeys(names)])
    if not len(known):
        return float("nan"), float("nan")
    return float(known.mean()), float(known.std(ddof=1)) if len(known) > 1 else float("nan")
