"""The command `explain`: what a model looks at, or why it predicts what it predicts for a row."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from skewboost.boosting.explanations import ShapeFunction
from skewboost.cli.commands import Explain
from skewboost.cli.evaluate_command import read_labelled
from skewboost.cli.exit_codes import CommandError
from skewboost.cli.labels import known_spellings
from skewboost.cli.model_files import SavedModel, count_rounds, read_model
from skewboost.cli.output import count, note, number, print_json, print_line, print_table, source_name
from skewboost.cli.output_files import PICTURES, check_output, save_picture
from skewboost.cli.target_column import check_columns
from skewboost.names import shortened, shown, side_by_side, spell

FIRST, WORST = "first", "worst"
MEAN, SUM = "mean of the training rows", "the score F, their sum"
BAR = 20  # characters of the longest bar
MOST_COLUMNS = 15  # whose importance is printed
LONGEST = 40  # characters of a name or a category in a table
MOST_LINES = 8  # of the values of a column
OWN_WORDS = ("missing", "other")  # categories with these names are quoted


def run(request: Explain) -> None:
    """Explain the model, or one row."""
    check_output(request.plot, PICTURES, "--plot")
    for name in ("row", "target", "threshold"):
        if request.data is None and getattr(request, name) is not None:
            raise CommandError(f"--{name} {getattr(request, name)} needs data.", "Give a data file after the model.")
    model = read_model(request.model)
    if request.data is None:
        explanation, X = explain_model(model, request.top), None
    else:
        model.check_threshold(request.threshold)
        explanation, X = explain_row(model, request, request.data)
    if request.as_json:
        print_json(explanation)
    elif request.data is None:
        _print_model(model, explanation)
    else:
        _print_row(model, explanation, request.top)
    if request.plot is not None:
        _draw(model, X, request.top, request.plot)
        if not request.as_json:
            print_line(f"Written: {request.plot}")


def explain_model(model: SavedModel, top: int) -> dict[str, Any]:
    """Importances, shape functions of the most important features, and the alternating tree if there is one."""
    booster = model.booster
    importances = getattr(booster, "feature_importances_", None)
    order = list(range(len(model.columns)))
    if importances is not None:
        order = np.argsort(-importances, kind="stable").tolist()
    return {
        "model": model.path,
        "method": model.name,
        "classes": model.classes,
        "positive": model.positive,
        "rounds": count_rounds(booster),
        "importances": None if importances is None else {model.columns[k]: float(importances[k]) for k in order},
        "shapes": _shapes(model, [k for k in order[:top] if importances is None or importances[k] > 0]),
        "tree": booster.export_text() if hasattr(booster, "export_text") else None,
    }


def _shapes(model: SavedModel, features: list[int]) -> list[dict[str, Any]] | None:
    """The shape functions of some features; None if the booster has none."""
    if len(model.classes) > 2 or not hasattr(model.booster, "shape_functions"):
        return None
    try:
        functions = model.booster.shape_functions()
    except ValueError:  # the weak learners are arbitrary estimators
        return None
    return [
        {"column": model.columns[k], "exact": functions[k].exact, "lines": describe_shape(functions[k], _sign(model))}
        for k in features
    ]


def _sign(model: SavedModel) -> float:
    """1 if the positive class is the second one, which scores are about; else -1."""
    return 1.0 if model.positive is None or model.positive == model.classes[1] else -1.0


def explain_row(model: SavedModel, request: Explain, data: str) -> tuple[dict[str, Any], Any]:
    """What each column adds to the score of one row, and the row."""
    X, k, truth = _find_row(model, request, data)
    one = X.iloc[[k]]
    if not hasattr(model.booster, "contributions"):
        raise CommandError(
            f"{model.name} has no contributions of columns to a row.", "Leave DATA out to see what the model looks at."
        )
    label = model.predict(one, request.threshold).tolist()[0]
    explained = model.positive if model.positive is not None else label
    phi, baseline = model.booster.contributions(one)[0], model.booster.baseline_
    if phi.ndim == 2:
        c = model.classes.index(label)
        phi, baseline = phi[:, c], baseline[c]
    sign = _sign(model)
    explanation = {
        "model": model.path,
        "data": data,
        "row": int(one.index[0]) + 1,  # in the file, also if rows without a label were left out
        "prediction": label,
        "truth": truth,
        "speaks_for": explained,
        "probability": float(model.estimator.predict_proba(one)[0][model.classes.index(explained)]),
        "baseline": sign * float(baseline),
        "score": sign * float(baseline + phi.sum()),
        "contributions": [
            {"column": model.columns[j], "value": _cell(one.iloc[0, j]), "adds": sign * float(phi[j])}
            for j in np.argsort(-np.abs(phi), kind="stable")
        ],
    }
    if request.threshold is not None:
        explanation["flagged_from"] = {"probability": request.threshold}
    elif hasattr(model.estimator, "threshold_"):
        explanation["flagged_from"] = {"score": float(model.estimator.threshold_)}
    return explanation, one


def _cell(value: Any) -> Any:
    if value is None or value != value:
        return None
    return value.item() if isinstance(value, np.generic) else value


def _find_row(model: SavedModel, request: Explain, data: str) -> tuple[Any, int, Any]:
    """The rows, the position of the one to explain, and its label if it is known."""
    row = (request.row or FIRST).lower()
    if row == WORST:
        return _find_worst(model, request, data)
    if row != FIRST and not re.fullmatch("[0-9]{1,18}", row):
        raise CommandError(f"--row {request.row!r} must be a number, first or worst.")
    target = request.target or model.record.get("target")
    source = model.open(data, target=target)
    if request.target is not None:
        check_columns(data, source.columns, [request.target], "--target")
    model.skip_unused(source, [target])
    frame = source.read()
    k = 0 if row == FIRST else int(row) - 1
    if not 0 <= k < len(frame):
        raise CommandError(f"--row {row}: {source_name(data)} has {count(len(frame), 'row')}, numbered from 1.")
    truth = _cell(frame[target].iloc[k]) if target in frame.columns else None
    if truth is not None:  # as the class that is spelled like it
        truth = known_spellings(model.classes, [spell(truth)], model.record.get("labels")).get(spell(truth), truth)
    return model.features(frame, data), k, truth


def _find_worst(model: SavedModel, request: Explain, data: str) -> tuple[Any, int, Any]:
    """The wrong prediction whose true class has the lowest probability; among all rows if none is wrong."""
    examples = read_labelled(model, data, request.target, weight="")
    p = model.estimator.predict_proba(examples.X)
    of_truth = p[np.arange(len(p)), [model.classes.index(t) for t in examples.y.tolist()]]
    wrong = model.predict(examples.X, request.threshold, p) != examples.y
    if wrong.any():  # with costs, a prediction may be right although the probability of its class is low
        of_truth = np.where(wrong, of_truth, np.inf)
    else:
        note("all predictions are right; this is the row whose true class has the lowest probability")
    k = int(np.argmin(of_truth))
    return examples.X, k, examples.y[k]


def _print_model(model: SavedModel, explanation: dict[str, Any]) -> None:
    decision = ""
    if model.positive is not None and hasattr(model.estimator, "decision_function"):
        threshold = getattr(model.estimator, "threshold_", 0.0)
        decision = f"; {shown(model.positive)} is predicted where F is at least {threshold:.4g}"
    print_line(f"{model.name} ({model.path}): {count(explanation['rounds'], 'round')}{decision}")
    print_line()
    if explanation["tree"] is not None:
        for line in explanation["tree"].split("\n"):
            print_line(line)
        print_line()
    if explanation["importances"] is not None:
        used = [(name, v) for name, v in explanation["importances"].items() if v > 0]
        names = dict(zip(model.columns, side_by_side(model.columns, LONGEST)))
        rows = [[names[n], f"{v:.3f}", "#" * round(BAR * v / used[0][1])] for n, v in used[:MOST_COLUMNS]]
        unused = len(explanation["importances"]) - len(used)
        caption = f"{count(unused, 'column')} not used" if unused else None
        print_table(["column", "importance", ""], rows, caption=caption, left=(0, 2))
    for shape in explanation["shapes"] or []:
        rows = [[line["values"], f"{line['adds']:+.3f}", number(line["rows"])] for line in shape["lines"]]
        interacts = "" if shape["exact"] else " (its mean effect; trees combine it with other columns)"
        print_line(shown(shape["column"]) + interacts)
        print_table(["value", "adds to F", "rows"], rows, first_width=24)


def _print_row(model: SavedModel, explanation: dict[str, Any], top: int) -> None:
    row, data = explanation["row"], source_name(explanation["data"])
    truth = "" if explanation["truth"] is None else f"; the true class is {shown(explanation['truth'])}"
    print_line(f"Row {row} of {data}: {model.name} predicts {shown(explanation['prediction'])}{truth}.")
    label, p = shown(explanation["speaks_for"]), explanation["probability"]
    near = "just below 1" if p < 1 and f"{p:.3g}" == "1" else f"{p:.3g}"
    print_line(f"The score for {label} is {explanation['score']:+.3f}, the probability {near}.")
    for what, threshold in explanation.get("flagged_from", {}).items():
        print_line(f"Rows are flagged if the {what} is at least {threshold:.4g}.")
    print_line()
    contributions = [c for c in explanation["contributions"] if c["adds"] != 0]
    names = dict(zip(model.columns, side_by_side(model.columns, LONGEST, (MEAN, SUM))))
    rows = [[MEAN, "", f"{explanation['baseline']:+.3f}", ""]]
    for c in contributions[:top]:
        direction = f"for {label}" if c["adds"] > 0 else f"against {label}"
        value = "missing" if c["value"] is None else shortened(shown(c["value"], ("missing",)), LONGEST)
        rows.append([names[c["column"]], value, f"{c['adds']:+.3f}", direction])
    if len(contributions) > top:
        rest = sum(c["adds"] for c in contributions[top:])
        rows.append([count(len(contributions) - top, "other column"), "", f"{rest:+.3f}", ""])
    rows.append([SUM, "", f"{explanation['score']:+.3f}", ""])
    print_table(["column", "value", "adds to F", ""], rows, left=(0, 3), blank_line=False)


def _draw(model: SavedModel, row: Any, top: int, plot: str) -> None:
    """Draw the contributions to the row, the alternating tree, or the shape functions."""
    from skewboost import plots

    display: Any
    if row is not None:
        display = plots.ContributionDisplay.from_estimator(model.booster, row)
    elif hasattr(model.booster, "plot_tree"):
        display = plots.AlternatingTreeDisplay.from_estimator(model.booster)
    else:
        display = plots.ShapeFunctionDisplay.from_estimator(model.booster, n_features=min(top, 9))
    save_picture(display.figure_, plot)


def describe_shape(f: ShapeFunction, sign: float = 1.0) -> list[dict[str, Any]]:
    """Values, what they add to the score, and how many training rows have them; a few lines, joined if necessary."""
    kinds = {"line": _line, "nominal": _categories}
    rows = kinds.get(f.kind, _intervals)(f)
    if f.missing_support > 0:
        rows.append({"values": "missing", "adds": float(f.missing_value), "rows": float(f.missing_support)})
    return [{**row, "adds": sign * row["adds"]} for row in rows]


def _intervals(f: ShapeFunction) -> list[dict[str, Any]]:
    """The steps of a number. If there are many, neighbours are joined to groups of about the same size."""
    group = np.arange(len(f.values))
    if len(group) > MOST_LINES:
        middle = np.cumsum(f.support) - 0.5 * f.support
        group = np.minimum((MOST_LINES * middle / max(f.support.sum(), 1e-300)).astype(int), MOST_LINES - 1)
    rows, starts = [], np.flatnonzero(np.diff(group, prepend=-1))
    for first, end in zip(starts, [*starts[1:], len(group)]):
        low = None if first == 0 else float(f.edges[first - 1])
        high = None if end == len(group) else float(f.edges[end - 1])
        if low is None:
            values = "any value" if high is None else f"up to {high:.6g}"
        else:
            values = f"above {low:.6g}" if high is None else f"{low:.6g} to {high:.6g}"
        rows.append({"values": values, **_joined(f, slice(first, end))})
    return rows


def _joined(f: ShapeFunction, members: Any) -> dict[str, float]:
    """What some steps or categories add on average, and how many rows they have."""
    support = f.support[members]
    adds = np.average(f.values[members], weights=support if support.any() else None)
    return {"adds": float(adds), "rows": float(support.sum())}


def _categories(f: ShapeFunction) -> list[dict[str, Any]]:
    """The most frequent categories; the others are joined."""
    order = np.argsort(-f.support, kind="stable").tolist()
    listed = order if len(order) <= MOST_LINES else order[: MOST_LINES - 1]
    names = [*side_by_side(f.categories, LONGEST, OWN_WORDS), *(["other"] if f.rest else [])]
    rows: list[dict[str, Any]] = []
    for k in listed:
        category = {"category": f.categories[k]} if k < len(f.categories) else {}
        rows.append({"values": names[k], **category, "adds": float(f.values[k]), "rows": float(f.support[k])})
    others = order[len(listed) :]
    return [*rows, {"values": f"{len(others)} others", **_joined(f, others)}] if others else rows


def _line(f: ShapeFunction) -> list[dict[str, Any]]:
    """The two ends of a line."""
    if f.observed is None:
        return []
    return [{"values": f"at {x:.6g}", "adds": float(f(x)), "rows": float("nan")} for x in f.observed]
