"""Fitted models as ONNX graphs in double precision."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from skewboost import __version__
from skewboost.errors import InputError, MissingPackageError
from skewboost.io.export.formula import Formula
from skewboost.io.export.reading import read_formula

OPSETS = {"": 17, "ai.onnx.ml": 5}  # TreeEnsemble in double precision came with the latter
IR_VERSION = 10
OUTPUTS = ("label", "probabilities", "score")


def to_onnx(model: Any, *, name: str = "skewboost", outputs: Sequence[str] = OUTPUTS) -> Any:
    """Export a fitted model as an ONNX graph.

    The graph computes in double precision, so numbers next to a threshold fall on the same side. It adds up to a
    thousand terms in the order of the model. It needs onnxruntime 1.21, or another runtime with opset 5 of
    ``ai.onnx.ml``.

    Parameters
    ----------
    model : estimator
        A fitted booster of this library whose F is a sum of stumps, trees, histograms, lines or alternating trees; a
        fitted `SkewBoostClassifier`; or a `GoalSearchCV` around one of them, whose threshold is applied.
    name : str, default="skewboost"
        The name of the graph.
    outputs : sequence of three str, default=("label", "probabilities", "score")
        The names of the outputs: the label, of shape (n,); the class probabilities, of shape (n, n_classes); and the
        decision function, of shape (n,) for two classes and (n, n_classes) for more.

    Returns
    -------
    onnx.ModelProto
        If all columns are numeric, the graph has one input ``X``, a tensor(double) of shape (n, n_features). Otherwise
        it has one input of shape (n, 1) per column, with the name of the column: tensor(double) for numbers,
        tensor(string) for categories. NaN is a missing number. A text that was not a category in training, such as an
        empty one, is a missing category.

    Raises
    ------
    TypeError
        If the model cannot be exported; the message says which models can.
    ImportError
        If onnx is not installed.

    Examples
    --------
    >>> from skewboost import RealBoostClassifier
    >>> from skewboost.io import to_onnx
    >>> clf = RealBoostClassifier(n_estimators=5).fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1])
    >>> [output.name for output in to_onnx(clf).graph.output]
    ['label', 'probabilities', 'score']
    """
    formula = read_formula(model)
    _check_names(formula, name, outputs)
    try:
        import onnx
    except ImportError as error:
        raise MissingPackageError(
            "to_onnx needs the package onnx, which is not installed.", 'Run: pip install "skewboost[onnx]".'
        ) from error
    from skewboost.io.export.onnx_graph import write_graph

    graph = write_graph(formula, name, (outputs[0], outputs[1], outputs[2]))
    opsets = [onnx.helper.make_opsetid(domain, version) for domain, version in OPSETS.items()]
    made = onnx.helper.make_model(graph, opset_imports=opsets, ir_version=IR_VERSION)
    made.producer_name, made.producer_version = "skewboost", __version__
    made.doc_string = "\n".join(formula.header())
    facts = {
        "model": formula.title,
        "classes": json.dumps(list(formula.classes)),
        "features": json.dumps([c.name for c in formula.columns]),
        "categories": json.dumps({c.name: c.categories for c in formula.columns if c.categories is not None}),
    }
    onnx.helper.set_model_props(made, facts)
    return made


def _check_names(formula: Formula, name: str, outputs: Sequence[str]) -> None:
    if not isinstance(name, str) or not name:
        raise InputError(f"name={name!r} must be the name of the graph, a non-empty text.")
    ok = not isinstance(outputs, str) and len(outputs) == 3 and all(isinstance(o, str) and o for o in outputs)
    if not ok or len(set(outputs)) < 3:
        raise InputError(
            f"outputs={outputs!r} must be three different names: for the label, the probabilities and the score."
        )
    mixed = any(c.categories is not None for c in formula.columns)
    inputs = [c.name for c in formula.columns] if mixed else ["X"]
    if "" in inputs:
        raise InputError("The name of a column is empty, but inputs of a graph must have a name. Rename the column.")
    for taken in inputs:
        if taken in outputs:
            raise InputError(f"{taken!r} is the name of an input and of an output. Set outputs to other names.")
