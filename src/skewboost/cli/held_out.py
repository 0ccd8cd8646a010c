"""What decisions are worth on rows whose truth is known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from skewboost import metrics
from skewboost.cli.cost_option import in_words
from skewboost.cli.model_files import labels_from
from skewboost.cli.output import SHORT_NAME, count, number, out, prose, say, share, table
from skewboost.cli.target_column import Examples
from skewboost.metrics.costs import cost_matrix
from skewboost.metrics.counts import Counts
from skewboost.metrics.measures import MEASURES, binary_measures, multiclass_measures
from skewboost.metrics.ranking import METHODS, scores_of
from skewboost.names import shown, side_by_side
from skewboost.plots.report.explorer import shortest
from skewboost.typing import Array

SHOWN = (
    *("recall", "precision", "specificity", "f1", "g_mean", "balanced_accuracy"),
    *("mcc", "accuracy", "roc_auc", "pr_auc", "brier", "log_loss"),
)


@dataclass(frozen=True)
class Answers:
    """The truth of some rows, and what a model says of them."""

    classes: Sequence[Any]
    positive: Any  # None where there are more than two classes
    truth: Array
    predicted: Array
    probability: Array | None  # a column per class
    scores: Array | None  # by which rows are ranked: larger where more speaks for the positive class
    weights: Array | None = None

    @classmethod
    def of(cls, model: Any, positive: Any, rows: Examples, threshold: float | None = None) -> Answers:
        """Ask a model; with a threshold rows are flagged from that probability on."""
        probability = model.predict_proba(rows.X) if hasattr(model, "predict_proba") else None
        classes = model.classes_.tolist()
        if threshold is None or probability is None:
            predicted = np.asarray(model.predict(rows.X))
        else:
            predicted = labels_from(threshold, probability, classes, positive)
        ranks = positive is not None and any(hasattr(model, method) for method in METHODS)
        scores = scores_of(model, rows.X, positive) if ranks else None
        return cls(classes, positive, rows.y, predicted, probability, scores, rows.weights)

    @property
    def matrix(self) -> Array:
        """How many examples, ``[true, predicted]``, in the order of the classes."""
        index = {label: k for k, label in enumerate(self.classes)}
        found = np.zeros((len(index), len(index)))
        cells = [index[t] for t in self.truth.tolist()], [index[p] for p in self.predicted.tolist()]
        np.add.at(found, cells, 1.0 if self.weights is None else self.weights)
        return found

    @property
    def counts(self) -> Counts:
        """Of two classes."""
        return Counts.of(self.truth == self.positive, self.predicted == self.positive, self.weights)

    @property
    def p_positive(self) -> Array | None:
        """The probabilities of the positive class."""
        if self.probability is None or self.positive is None:
            return None
        return np.asarray(self.probability[:, list(self.classes).index(self.positive)])

    def measures(self) -> dict[str, float]:
        """All that can be said without prices."""
        if self.positive is not None:
            said = {"scores": self.scores, "probabilities": self.p_positive, "weights": self.weights}
            return binary_measures(self.truth == self.positive, self.predicted == self.positive, **said)
        truth, said_codes = (np.searchsorted(self.classes, labels) for labels in (self.truth, self.predicted))
        found = multiclass_measures(truth, said_codes, 1.0 - np.eye(len(self.classes)), self.weights)
        if self.probability is not None:
            of: dict[str, Any] = {"labels": self.classes, "sample_weight": self.weights}
            found["brier"] = float(metrics.brier_under_prior(self.truth, self.probability, **of))
            found["log_loss"] = float(metrics.log_loss_under_prior(self.truth, self.probability, **of))
        return {name: value for name, value in found.items() if name not in ("cost", "savings")}

    def by_class(self) -> list[dict[str, Any]]:
        """Recall, precision and F1 of each class against the rest."""
        rows = []
        for label in self.classes:
            c = Counts.of(self.truth == label, self.predicted == label, self.weights)
            rates = {"recall": float(c.recall), "precision": float(c.precision), "f1": float(c.f1)}
            rows.append({"class": label, "rows": float(c.positives), **rates})
        return rows

    def bill(self, cost: Any) -> dict[str, Any]:
        """What the decisions cost; for two classes also where the threshold would have cost least."""
        shares = self.matrix.sum(axis=1)
        prices = cost_matrix(cost, np.array(self.classes), self.positive, np.maximum(shares, 1e-300))
        total = float((prices * self.matrix).sum())
        constant = float((shares @ prices).min())
        found: dict[str, Any] = {
            "cost": cost, "total": total, "per_row": total / float(shares.sum()), "best_constant": constant,
            "savings": 1.0 - total / constant if constant > 0 else float("nan"),
        }  # fmt: skip
        if self.p_positive is not None:
            if self.positive == self.classes[0]:
                prices = prices[::-1, ::-1]
            thresholds, counts = Counts.at_thresholds(self.truth == self.positive, self.p_positive, self.weights)
            totals = counts.cost(prices)
            best = int(np.argmin(totals))
            at = _shortest(self.p_positive, float(thresholds[best]))
            found["best_threshold"] = {"probability": at, "total": float(totals[best])}
        return found


def _shortest(probabilities: Array, at: float) -> float:
    """A threshold of few decimals that flags the same of these rows."""
    flagged = probabilities >= at
    if not flagged.any():
        return at
    low = probabilities[~flagged].max(initial=-np.inf)
    return float(shortest(np.array([low]), probabilities[flagged].min(keepdims=True))[0])


def document(answers: Answers, cost: Any) -> dict[str, Any]:
    """All of it, for machines."""
    n = len(answers.truth) if answers.weights is None else float(answers.weights.sum())
    return {
        "rows": n,
        "classes": answers.classes,
        "positive": answers.positive,
        "confusion_matrix": answers.matrix,
        "measures": answers.measures(),
        "by_class": answers.by_class(),
        "bill": None if cost is None else answers.bill(cost),
    }


def show(answers: Answers, cost: Any, heading: str) -> None:
    """All of it, on the screen."""
    console = out()
    say(heading)
    console.print(_confusion(answers), "")
    console.print(_by_class(answers), "")
    found = answers.measures()
    cells = [f"{MEASURES[n].label:<18}{share(found[n]):>7}" for n in SHOWN if n in found]
    half = -(-len(cells) // 2)
    for k in range(half):
        say("    ".join(cells[k::half]).rstrip())
    say()
    if cost is None:
        say("No prices given: `skewboost evaluate MODEL ROWS --cost 20` says what mistakes cost.")
    else:
        _show_bill(answers, cost)


def _order(answers: Answers) -> list[int]:
    """The positive class first."""
    order = list(range(len(answers.classes)))
    return order[::-1] if answers.positive == answers.classes[-1] and len(order) == 2 else order


def _confusion(answers: Answers) -> Any:
    order, matrix = _order(answers), answers.matrix
    names = side_by_side([answers.classes[k] for k in order], SHORT_NAME)
    rows = [[f"really {names[i]}", *(number(matrix[k, j]) for j in order)] for i, k in enumerate(order)]
    return table(["", *(f"said {name}" for name in names)], rows, first=16)


def _by_class(answers: Answers) -> Any:
    told = [answers.by_class()[k] for k in _order(answers)]
    rows = []
    for name, row in zip(side_by_side([row["class"] for row in told], SHORT_NAME), told):
        positive = " (positive)" if answers.positive is not None and row["class"] == answers.positive else ""
        rates = [share(row[name]) for name in ("recall", "precision", "f1")]
        rows.append([f"{name}{positive}", number(row["rows"]), *rates])
    return table(["class", "rows", "recall", "precision", "F1"], rows, first=16)


def _show_bill(answers: Answers, cost: Any) -> None:
    bill = answers.bill(cost)
    prose(f"Cost ({in_words(cost)}): {number(bill['total'])} in all, {bill['per_row']:.4g} per row.")
    saved = bill["savings"]
    if saved == saved:
        word = f"{saved:.0%} less" if saved >= 0 else f"{-saved:.0%} more"
        prose(f"The best constant answer costs {number(bill['best_constant'])}; this is {word}.")
    if saved < 0:
        prose(
            "That is worse than no model; `skewboost compare DATA --methods sound,CGAda:calibrate=sigmoid` shows which "
            "methods do better."
        )
    best = bill.get("best_threshold")
    if best is not None and best["total"] < min(bill["total"], bill["best_constant"]):
        at = repr(best["probability"])  # all digits, so that the command flags just these rows
        prose(
            f"Flagging from a probability of {at} would have cost {number(best['total'])} (chosen on these very rows, "
            f"so it looks a little too good); `skewboost predict MODEL ROWS --threshold {at}` does so."
        )


def rows_in_words(answers: Answers) -> str:
    """How many rows, and how many of them positive."""
    n = len(answers.truth) if answers.weights is None else float(answers.weights.sum())
    if answers.positive is None:
        return count(n, "row")
    return f"{count(n, 'row')}, {number(answers.counts.positives)} of them {shown(answers.positive)}"
