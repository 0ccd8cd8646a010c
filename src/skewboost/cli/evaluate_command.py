"""The command `evaluate`: measure a model on rows whose labels are known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.metrics import confusion_matrix

from skewboost import metrics
from skewboost.cli.commands import Evaluate
from skewboost.cli.exit_codes import CommandError
from skewboost.cli.labels import known_spellings
from skewboost.cli.method_options import suggest
from skewboost.cli.model_files import SavedModel, predict_labels, read_model
from skewboost.cli.output import (
    SHORT_NAME,
    count,
    fraction,
    list_names,
    note,
    number,
    print_json,
    print_line,
    print_table,
    print_text,
    source_name,
    warn,
)  # fmt: skip
from skewboost.cli.shift import ShiftDetector
from skewboost.cli.target_column import Examples, check_columns, describe_cost, find_label, labelled_rows, read_cost
from skewboost.fitting import last_step
from skewboost.metrics.costs import cost_matrix
from skewboost.metrics.counts import Counts
from skewboost.metrics.measures import MEASURES, binary_measures, multiclass_measures
from skewboost.metrics.ranking import METHODS, scores_of
from skewboost.metrics.targets import folded
from skewboost.names import shown, side_by_side, spell
from skewboost.plots.report.explorer import shortest
from skewboost.typing import Array

PRINTED = (
    *("recall", "precision", "specificity", "f1", "g_mean", "balanced_accuracy"),
    *("mcc", "accuracy", "roc_auc", "pr_auc", "brier", "log_loss"),
)


@dataclass(frozen=True)
class Predictions:
    """The labels of some rows and what a model predicts for them."""

    classes: Sequence[Any]
    positive: Any  # None if there are more than two classes
    truth: Array
    predicted: Array
    probability: Array | None  # a column per class
    scores: Array | None  # of the positive class, for ranking measures
    weights: Array | None = None
    reject_cost: float = 0.0  # of a row that is referred: its prediction is none of the classes

    @classmethod
    def of(cls, model: Any, positive: Any, rows: Examples, threshold: float | None = None) -> Predictions:
        """Predict; with a threshold, the positive class where its probability is at least the threshold."""
        probability = model.predict_proba(rows.X) if hasattr(model, "predict_proba") else None
        predicted = predict_labels(model, rows.X, positive, threshold, probability)
        has_scores = positive is not None and any(hasattr(model, method) for method in METHODS)
        scores = scores_of(model, rows.X, positive) if has_scores else None
        price = float(getattr(model, "reject_cost", None) or 0.0)
        return cls(model.classes_.tolist(), positive, rows.y, predicted, probability, scores, rows.weights, price)

    @property
    def n_rows(self) -> float:
        """The number of rows, or the sum of their weights."""
        return len(self.truth) if self.weights is None else float(self.weights.sum())

    @property
    def is_decided(self) -> Array:
        """Which rows are not referred to somebody else."""
        return np.isin(self.predicted, self.classes)

    @property
    def n_referred(self) -> float:
        """The number of rows that are referred, or the sum of their weights."""
        referred = ~self.is_decided
        return float(referred.sum() if self.weights is None else self.weights[referred].sum())

    @property
    def decided(self) -> Predictions:
        """The rows that are not referred, which measures are about."""
        rows = self.is_decided
        if rows.all():
            return self
        probability, scores, weights = (
            None if each is None else each[rows] for each in (self.probability, self.scores, self.weights)
        )
        predicted = self.predicted[rows].astype(self.truth.dtype)
        return replace(
            self, truth=self.truth[rows], predicted=predicted, probability=probability, scores=scores, weights=weights
        )

    @property
    def matrix(self) -> Array:
        """The confusion matrix ``[true, predicted]`` of the rows that are not referred, in the order of the classes."""
        if not self.is_decided.all():
            return self.decided.matrix
        counts = confusion_matrix(self.truth, self.predicted, labels=self.classes, sample_weight=self.weights)
        return np.asarray(counts, dtype=np.float64)

    @property
    def p_positive(self) -> Array | None:
        """The probabilities of the positive class."""
        if self.probability is None or self.positive is None:
            return None
        return np.asarray(self.probability[:, list(self.classes).index(self.positive)])

    def measures(self) -> dict[str, float]:
        """All measures that need no costs."""
        if self.positive is not None:
            optional = {"scores": self.scores, "probabilities": self.p_positive, "weights": self.weights}
            return binary_measures(self.truth == self.positive, self.predicted == self.positive, **optional)
        truth, predicted = (np.searchsorted(self.classes, labels) for labels in (self.truth, self.predicted))
        values = multiclass_measures(truth, predicted, 1.0 - np.eye(len(self.classes)), self.weights)
        if self.probability is not None:
            options: dict[str, Any] = {"labels": self.classes, "sample_weight": self.weights}
            values["brier"] = float(metrics.brier_under_prior(self.truth, self.probability, **options))
            values["log_loss"] = float(metrics.log_loss_under_prior(self.truth, self.probability, **options))
        return {name: value for name, value in values.items() if name not in ("cost", "savings")}

    def of_class(self, label: Any) -> dict[str, Any]:
        """Recall, precision and F1 of a class against the rest."""
        c = Counts.of(self.truth == label, self.predicted == label, self.weights)
        rates = {"recall": float(c.recall), "precision": float(c.precision), "f1": float(c.f1)}
        return {"class": label, "rows": float(c.positives), **rates}

    def costs(self, cost: Any) -> dict[str, Any]:
        """The cost of the mistakes; for two classes also the threshold that would have cost least."""
        sizes = np.array([self.of_class(label)["rows"] for label in self.classes])
        prices = cost_matrix(cost, np.array(self.classes), self.positive, np.maximum(sizes, 1e-300))
        referred = self.reject_cost * self.n_referred
        total = float((prices * self.matrix).sum()) + referred
        constant = float((sizes @ prices).min())
        result: dict[str, Any] = {
            "cost": cost, "total": total, "per_row": total / float(sizes.sum()), "best_constant": constant,
            "savings": 1.0 - total / constant if constant > 0 else float("nan"), "referred": referred,
        }  # fmt: skip
        if self.p_positive is not None:
            if self.positive == self.classes[0]:
                prices = prices[::-1, ::-1]
            thresholds, counts = Counts.at_thresholds(self.truth == self.positive, self.p_positive, self.weights)
            totals = counts.cost(prices)
            best = int(np.argmin(totals))
            threshold = _shortest(self.p_positive, float(thresholds[best]))
            result["best_threshold"] = {"probability": threshold, "total": float(totals[best])}
        return result

    def as_dict(self, cost: Any) -> dict[str, Any]:
        """All results, for JSON; those that are not about costs are about the rows that are not referred."""
        decided = self.decided
        return {
            "rows": self.n_rows,
            "rows_referred": self.n_referred,
            "classes": self.classes,
            "positive": self.positive,
            "confusion_matrix": self.matrix,
            "measures": decided.measures() if len(decided.truth) else {},
            "by_class": list(map(decided.of_class, self.classes)),
            "bill": None if cost is None else self.costs(cost),
        }

    def describe_rows(self) -> str:
        """How many rows there are, and how many of them are positive."""
        if self.positive is None:
            return count(self.n_rows, "row")
        n = self.of_class(self.positive)["rows"]
        return f"{count(self.n_rows, 'row')}, {number(n)} of them {shown(self.positive)}"


def run(request: Evaluate) -> None:
    """Predict, and compare with the labels."""
    data, threshold = request.data, request.threshold
    model = read_model(request.model)
    model.check_threshold(threshold)
    costs = costs_for(model, request.cost)
    examples = read_labelled(model, data, request.target, request.weight)
    note_if_training_data(model, data)
    predictions = Predictions.of(model.estimator, model.positive, examples, threshold)
    warnings = warn_of_shift(model, examples, costs, None if threshold is not None else predictions.predicted)
    if request.as_json:
        head = {"model": model.path, "method": model.name, "data": data, "threshold": threshold, "warnings": warnings}
        print_json({**head, **predictions.as_dict(costs)})
    else:
        by = "" if threshold is None else f", with a threshold of {threshold:g} on the probability,"
        print_results(predictions, costs, f"{model.name} ({model.path}){by} on {predictions.describe_rows()}")


def note_if_training_data(model: SavedModel, data: str) -> None:
    """Print a note if a model is measured on the file that it was fitted to."""
    training = model.record.get("data", "")
    if data == training or (Path(training).is_file() and Path(data).is_file() and Path(data).samefile(training)):
        note(f"{model.path} was fitted to rows of {data}, so the results are better than on new rows")


def read_labelled(model: SavedModel, data: str, target: str | None, weight: str | None = None) -> Examples:
    """Rows with the columns of the model, and their labels as the model spells them.

    The target and the weights are those of `fit`, unless others are given; "" means no weights.
    """
    name = target or model.record.get("target")
    if name is None:
        raise CommandError(f"{model.path} does not record its target column.", "Name it with --target.")
    if name in model.columns:
        raise CommandError(f"--target: {name!r} is one of the features of {model.path}.")
    source = model.open(data, target=name)
    if name not in source.columns:
        hint = suggest(name, [c for c in source.columns if c not in model.columns])
        raise CommandError(
            f"--target: {source_name(data)} has no column {name!r}, so its rows cannot be measured.",
            f"{hint} `skewboost predict` predicts for rows without a target.".lstrip(),
        )
    if weight:
        check_columns(data, source.columns, [weight], "--weight")
        if weight == name:
            raise CommandError(f"{name!r} is the target, so it cannot be the weight.")
    elif weight is None:
        weight = _recorded_weight(model, source.columns)
    model.skip_unused(source, [name, weight])
    examples = labelled_rows(source.read(), data, name, model.columns, weight)
    return replace(examples, X=model.features(examples.X, data), y=_labels_of_model(model, examples))


def _recorded_weight(model: SavedModel, columns: list[str]) -> str | None:
    """The column of weights in training, if the data have it."""
    weight: str | None = model.record.get("weight")
    if weight is None:
        return None
    if weight not in columns:
        note(f"there is no column {weight!r}, which weighted the rows in training: all rows have weight 1")
        return None
    note(f"rows are weighted by {weight!r}, as in training; --weight '' gives all rows weight 1")
    return weight


def _labels_of_model(model: SavedModel, examples: Examples) -> Any:
    """The labels, each as the class of the model that is spelled like it."""
    spelled = [spell(v) for v in examples.classes]
    known = known_spellings(model.classes, spelled, model.record.get("labels"))
    unknown = sorted(set(spelled) - set(known))
    if unknown:
        by_fold = {folded(name) for name in known}
        hint = "" if not any(folded(name) in by_fold for name in unknown) else (
            "Some differ from those only in case or in spaces at their ends: correct them, or fit the model with "
            "`skewboost fit --labels fold`."
        )  # fmt: skip
        raise CommandError(
            f"{examples.path}: the target {examples.target!r} has the classes "
            f"{list_names(unknown, 3, quotes=bool(hint))}, but {model.path} knows only {list_names(model.classes)}.",
            hint or "Choose another --target, or other rows.",
        )
    return np.array([known[spell(v)] for v in examples.y.tolist()], dtype=model.estimator.classes_.dtype)


def costs_for(model: SavedModel, cost: str | None) -> Any:
    """The costs that the user gives, else those that the model was fitted with."""
    if cost is not None:
        return read_cost(cost, model.classes)
    recorded = model.record.get("cost", getattr(last_step(model.estimator), "cost", None))
    if not (recorded is None or isinstance(recorded, str | int | float | Mapping)):  # a matrix, saved from Python
        return cost_matrix(recorded, np.array(model.classes), model.positive, np.ones(len(model.classes))).tolist()
    if isinstance(recorded, Mapping):
        return {find_label(spell(label), model.classes, "cost"): value for label, value in recorded.items()}
    return recorded


def warn_of_shift(model: SavedModel, examples: Examples, costs: Any, predicted: Any) -> list[str]:
    """Warn if rows differ clearly from the training rows; `predicted` are the model's own decisions, or None."""
    detector = ShiftDetector(model.profile)
    detector.add_rows(examples.X)
    detector.add_labels(examples.y, examples.weights)
    if predicted is not None:
        detector.add_predictions(predicted)
    warnings = detector.warnings(model.positive, None if predicted is None else _cost_ratio(model, costs))
    warn(warnings)
    return warnings


def _cost_ratio(model: SavedModel, costs: Any) -> float | None:
    """The cost of a miss in false alarms; None if it is not known, or depends on the rows."""
    if isinstance(costs, Mapping) and model.positive is not None:
        (other,) = (c for c in model.classes if c != model.positive)
        return float(costs[model.positive] / costs[other])
    return float(costs) if isinstance(costs, int | float) else None


def _shortest(probabilities: Array, threshold: float) -> float:
    """A threshold of few decimals that flags the same rows."""
    flagged = probabilities >= threshold
    if not flagged.any():
        return threshold
    low = probabilities[~flagged].max(initial=-np.inf)
    return float(shortest(np.array([low]), probabilities[flagged].min(keepdims=True))[0])


def print_results(predictions: Predictions, cost: Any, heading: str) -> None:
    """Print the confusion matrix, the classes, the measures and the costs."""
    print_line(heading)
    decided = predictions.decided
    if decided is not predictions:
        n = predictions.n_referred
        print_line(f"{count(n, 'row')} ({n / predictions.n_rows:.1%}) referred; tables and measures are without them")
    if not len(decided.truth):
        return
    positive, labels, matrix = predictions.positive, predictions.classes, predictions.matrix
    if positive is not None and positive == labels[1]:  # the positive class first
        labels, matrix = labels[::-1], matrix[::-1, ::-1]
    names = side_by_side(labels, SHORT_NAME)
    rows = [[f"really {name}", *map(number, cells)] for name, cells in zip(names, matrix)]
    print_table(["", *(f"predicted {name}" for name in names)], rows, first_width=16)
    rows = []
    for name, row in zip(names, map(decided.of_class, labels)):
        mark = " (positive)" if positive is not None and row["class"] == positive else ""
        rates = [fraction(row[measure]) for measure in ("recall", "precision", "f1")]
        rows.append([f"{name}{mark}", number(row["rows"]), *rates])
    print_table(["class", "rows", "recall", "precision", "F1"], rows, first_width=16)
    values = decided.measures()
    cells = [f"{MEASURES[name].label:<18}{fraction(values[name]):>7}" for name in PRINTED if name in values]
    half = -(-len(cells) // 2)
    for k in range(half):
        print_line("    ".join(cells[k::half]).rstrip())
    print_line()
    if cost is None:
        print_line("No costs given: `skewboost evaluate MODEL ROWS --cost 20` computes the cost of the mistakes.")
    else:
        _print_costs(predictions.costs(cost), cost)


def _print_costs(costs: dict[str, Any], cost: Any) -> None:
    referred = f", {number(costs['referred'])} of it for referred rows" if costs["referred"] else ""
    total = f"{number(costs['total'])} in total{referred}, {costs['per_row']:.4g} per row"
    print_text(f"Cost ({describe_cost(cost)}): {total}.")
    saved = costs["savings"]
    if saved == saved:
        difference = f"{saved:.0%} less" if saved >= 0 else f"{-saved:.0%} more"
        print_text(f"The best constant prediction costs {number(costs['best_constant'])}; this is {difference}.")
    if saved < 0:
        print_text(
            "That is worse than no model; `skewboost compare DATA --methods sound,CGAda:calibrate=sigmoid` shows which "
            "methods do better."
        )
    best = costs.get("best_threshold")
    if best is not None and best["total"] < min(costs["total"], costs["best_constant"]):
        threshold = repr(best["probability"])  # all digits, so that the command flags the same rows
        print_text(
            f"A threshold of {threshold} on the probability would have cost {number(best['total'])}. It was chosen on "
            f"these rows, so expect a little more on new ones. `skewboost predict MODEL ROWS --threshold {threshold}` "
            "uses it."
        )
