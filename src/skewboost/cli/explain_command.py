"""The command `explain`: what a model looks at, or why it says what it says of a row."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np

from skewboost.cli import shapes
from skewboost.cli.data.content import is_pipe
from skewboost.cli.evaluate_command import read_known
from skewboost.cli.exit_codes import CommandError
from skewboost.cli.model_files import Model, check_output, labels_from, read_model
from skewboost.cli.output import count, emit, named, note, number, out, say, table
from skewboost.cli.picture_files import PICTURES, without_screen
from skewboost.cli.picture_files import save as save_picture
from skewboost.cli.target_column import check_columns
from skewboost.names import shortened, shown, side_by_side, spell

FIRST, WORST = "first", "worst"
MEAN, SUM = "mean of the training rows", "the score F, their sum"
BAR = 20  # the longest bar, in characters
MOST_COLUMNS = 15  # of which the importance is shown
LONGEST = 40  # letters of a name in a table


@dataclass(frozen=True)
class Asked:
    """Which row is to be explained, and how it is decided."""

    data: str
    row: str = FIRST
    target: str | None = None
    threshold: float | None = None


def run(
    model_path: str,
    data: str | None,
    row: str | None,
    target: str | None,
    threshold: float | None,
    top: int,
    plot: str | None,
    as_json: bool,
) -> None:
    """Explain the model, or one row."""
    check_output(plot, PICTURES, "--plot")
    for option, value in (("--row", row), ("--target", target), ("--threshold", threshold)):
        if data is None and value is not None:
            raise CommandError(f"{option} {value} of which data? Give the file after the model.")
    model = read_model(model_path)
    if data is None:
        told = of_model(model, top)
        _show_model(model, told) if not as_json else emit(told)
    else:
        model.check_threshold(threshold)
        told, X = of_row(model, Asked(data, row or FIRST, target, threshold))
        _show_row(model, told, top) if not as_json else emit(told)
    if plot is not None:
        _draw(model, None if data is None else X, top, plot)
        if not as_json:
            say(f"Written: {plot}")


def booster_of(model: Model) -> Any:
    """The ensemble, without a search around it."""
    return getattr(model.estimator, "estimator_", model.estimator)


def of_model(model: Model, top: int) -> dict[str, Any]:
    """Importances, shape functions of the most important features, and the tree where there is one."""
    booster = booster_of(model)
    importances = getattr(booster, "feature_importances_", None)
    order = list(range(len(model.columns)))
    if importances is not None:
        order = np.argsort(-importances, kind="stable").tolist()
    told: dict[str, Any] = {
        "model": model.path,
        "method": model.name,
        "classes": model.classes,
        "positive": model.positive,
        "rounds": int(getattr(booster, "n_estimators_", None) or len(booster.estimators_)),
        "importances": None if importances is None else {model.columns[k]: float(importances[k]) for k in order},
        "shapes": _shapes(model, booster, order[:top], importances),
        "tree": booster.export_text() if hasattr(booster, "export_text") else None,
    }
    return told


def _shapes(model: Model, booster: Any, features: list[int], importances: Any) -> list[dict[str, Any]] | None:
    """Of these features, those that matter; None where the booster has no such functions."""
    if len(model.classes) > 2 or not hasattr(booster, "shape_functions"):
        return None
    try:
        functions = booster.shape_functions()
    except ValueError:  # its rounds are models into which it cannot look
        return None
    sign = _sign(model)
    used = [k for k in features if importances is None or importances[k] > 0]
    return [
        {"column": model.columns[k], "exact": functions[k].exact, "lines": shapes.lines(functions[k], sign)}
        for k in used
    ]


def _sign(model: Model) -> float:
    """Scores speak for the second class; people are told about the positive one."""
    return 1.0 if model.positive is None or model.positive == model.classes[1] else -1.0


def of_row(model: Model, asked: Asked) -> tuple[dict[str, Any], Any]:
    """What each column adds to the score of one row."""
    X, k, truth = _find(model, asked)
    booster, one = booster_of(model), X.iloc[[k]]
    if not hasattr(booster, "contributions"):
        raise CommandError(f"{model.name} cannot be taken apart for one row. Leave DATA out to see what it looks at.")
    label = _decided(model, one, asked.threshold)[0]
    speaks_for = model.positive if model.positive is not None else label
    phi, baseline = booster.contributions(one)[0], booster.baseline_
    if phi.ndim == 2:
        c = model.classes.index(label)
        phi, baseline = phi[:, c], baseline[c]
    sign = _sign(model)
    order = np.argsort(-np.abs(phi), kind="stable")
    told = {
        "model": model.path,
        "data": asked.data,
        "row": int(one.index[0]) + 1,  # in the file, whether or not rows without a label were left out
        "prediction": label,
        "truth": truth,
        "speaks_for": speaks_for,
        "probability": float(model.estimator.predict_proba(one)[0][model.classes.index(speaks_for)]),
        "baseline": sign * float(baseline),
        "score": sign * float(baseline + phi.sum()),
        "contributions": [
            {"column": model.columns[j], "value": _cell(one.iloc[0, j]), "adds": sign * float(phi[j])} for j in order
        ],
    }
    if asked.threshold is not None:
        told["flagged_from"] = {"probability": asked.threshold}
    elif hasattr(model.estimator, "threshold_"):
        told["flagged_from"] = {"score": float(model.estimator.threshold_)}
    return told, one


def _decided(model: Model, X: Any, threshold: float | None) -> Any:
    if threshold is None:
        return model.estimator.predict(X)
    return labels_from(threshold, model.estimator.predict_proba(X), model.classes, model.positive)


def _cell(value: Any) -> Any:
    if value is None or value != value:
        return None
    return value.item() if isinstance(value, np.generic) else value


def _find(model: Model, asked: Asked) -> tuple[Any, int, Any]:
    """The rows, which of them is meant, and its true label if it is known."""
    data, row = asked.data, asked.row.lower()
    if row == WORST:
        examples = read_known(model, data, asked.target, weight="")
        p = model.estimator.predict_proba(examples.X)
        of_truth = p[np.arange(len(p)), [model.classes.index(t) for t in examples.y.tolist()]]
        wrong = _decided(model, examples.X, asked.threshold) != examples.y
        if wrong.any():  # where costs decide, an answer may be right though its probability is low
            of_truth = np.where(wrong, of_truth, np.inf)
        else:
            note("all answers are right; this is the row whose class it finds least likely")
        k = int(np.argmin(of_truth))
        return examples.X, k, examples.y[k]
    if row != FIRST and not re.fullmatch("[0-9]{1,18}", row):
        raise CommandError(f"--row {asked.row!r} is neither a number, nor first, nor worst.")
    target = asked.target or model.facts.get("target")
    source = model.open(data, truth=None if is_pipe(data) else target)
    if asked.target is not None:
        check_columns(data, source.columns, [asked.target], "--target")
    model.leave_out_others(source, [target])
    frame = source.read()
    k = 0 if row == FIRST else int(row) - 1
    if not 0 <= k < len(frame):
        raise CommandError(f"--row {row}: {named(data)} has {count(len(frame), 'row')}, the first of which is 1.")
    truth = _cell(frame[target].iloc[k]) if target in frame.columns else None
    if truth is not None:  # the class that is spelled like it
        truth = {spell(c): c for c in model.classes}.get(spell(truth), truth)
    return model.pick(frame, data), k, truth


def _show_model(model: Model, told: dict[str, Any]) -> None:
    console, about = out(), ""
    if model.positive is not None and hasattr(model.estimator, "decision_function"):
        about = f"; F from {getattr(model.estimator, 'threshold_', 0.0):.4g} on is {shown(model.positive)}"
    say(f"{model.name} ({model.path}): {count(told['rounds'], 'round')}{about}")
    say()
    if told["tree"] is not None:
        for line in told["tree"].split("\n"):
            say(line)
        say()
    if told["importances"] is not None:
        used = [(name, v) for name, v in told["importances"].items() if v > 0]
        names = dict(zip(model.columns, side_by_side(model.columns, LONGEST)))
        rows = [[names[n], f"{v:.3f}", "#" * round(BAR * v / used[0][1])] for n, v in used[:MOST_COLUMNS]]
        unused = len(told["importances"]) - len(used)
        caption = f"{count(unused, 'column')} not looked at" if unused else None
        console.print(table(["column", "importance", ""], rows, caption=caption, left=(0, 2)), "")
    for shape in told["shapes"] or []:
        rows = [[line["values"], f"{line['adds']:+.3f}", number(line["rows"])] for line in shape["lines"]]
        say(shown(shape["column"]) + ("" if shape["exact"] else " (its mean effect; trees look at others too)"))
        console.print(table(["value", "adds to F", "rows"], rows, first=24), "")


def _show_row(model: Model, told: dict[str, Any], top: int) -> None:
    truth = "" if told["truth"] is None else f"; in truth it is {shown(told['truth'])}"
    say(f"Row {told['row']} of {named(told['data'])}: {model.name} says {shown(told['prediction'])}{truth}.")
    who = shown(told["speaks_for"])
    p = told["probability"]
    near = "just below 1" if p < 1 and f"{p:.3g}" == "1" else f"{p:.3g}"
    say(f"The score for {who} is {told['score']:+.3f}, the probability {near}.")
    for what, threshold in told.get("flagged_from", {}).items():
        say(f"Rows are flagged from a {what} of {threshold:.4g} on.")
    say()
    moves = [c for c in told["contributions"] if c["adds"] != 0]
    rows = [[MEAN, "", f"{told['baseline']:+.3f}", ""]]
    names = dict(zip(model.columns, side_by_side(model.columns, LONGEST, (MEAN, SUM))))
    for c in moves[:top]:
        direction = f"for {who}" if c["adds"] > 0 else f"against {who}"
        value = "missing" if c["value"] is None else shortened(shown(c["value"], ("missing",)), LONGEST)
        rows.append([names[c["column"]], value, f"{c['adds']:+.3f}", direction])
    if len(moves) > top:
        rest = sum(c["adds"] for c in moves[top:])
        rows.append([f"{count(len(moves) - top, 'other column')}", "", f"{rest:+.3f}", ""])
    rows.append([SUM, "", f"{told['score']:+.3f}", ""])
    out().print(table(["column", "value", "adds to F", ""], rows, left=(0, 3)))


def _draw(model: Model, row: Any, top: int, plot: str) -> None:
    """The row's contributions, the alternating tree, or the shape functions."""
    without_screen()
    from skewboost import plots

    booster = booster_of(model)
    display: Any
    if row is not None:
        display = plots.ContributionDisplay.from_estimator(booster, row)
    elif hasattr(booster, "plot_tree"):
        display = plots.AlternatingTreeDisplay.from_estimator(booster)
    else:
        display = plots.ShapeFunctionDisplay.from_estimator(booster, n_features=min(top, 9))
    save_picture(display.figure_, plot)
