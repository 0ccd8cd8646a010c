"""A formula as an ONNX graph in double precision."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from skewboost import __version__
from skewboost.errors import InputError, MissingPackageError
from skewboost.io.export.formula import Formula
from skewboost.io.export.from_model import read_formula

OPSETS = {"": 17, "ai.onnx.ml": 5}  # TreeEnsemble in double precision came with the latter
IR_VERSION = 10
OUTPUTS = ("label", "probabilities", "score")


def to_onnx(model: Any, *, name: str = "skewboost", outputs: Sequence[str] = OUTPUTS) -> Any:
    """Write a fitted model as an ONNX graph.

    The graph is in double precision throughout, so that numbers next to a threshold fall on the same side as in the
    model, and it adds up in the same order. It takes onnxruntime 1.21, or another runtime that knows opset 5 of
    ``ai.onnx.ml``.

    Parameters
    ----------
    model : estimator
        A fitted booster of this library whose F is a sum of stumps, trees, histograms, lines or an alternating tree;
        or a `GoalSearchCV` around one, whose threshold is heeded.
    name : str, default="skewboost"
        What the graph is called.
    outputs : sequence of three str, default=("label", "probabilities", "score")
        What the outputs are called: the label, of shape (n,); the class probabilities, (n, n_classes); what
        `decision_function` says, (n,) for two classes and (n, n_classes) for more.

    Returns
    -------
    onnx.ModelProto
        If all columns are numbers, with one input ``X``, a tensor(double) of shape (n, n_features). Otherwise with one
        input per column, of shape (n, 1) and the column's name: tensor(double) for numbers, tensor(string) for
        categories. NaN is a missing number. A text that is none of the categories of training, such as an empty one, is
        a missing category.

    Raises
    ------
    TypeError
        If the model is none that can be exported; the message says what can.
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
            'to_onnx needs onnx, which is not installed: pip install "skewboost[onnx]".'
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
        raise InputError(f"name={name!r} must be the name of the graph, text that is not empty.")
    ok = not isinstance(outputs, str) and len(outputs) == 3 and all(isinstance(o, str) and o for o in outputs)
    if not ok or len(set(outputs)) < 3:
        raise InputError(
            f"outputs={outputs!r} must be three different names: for the label, the probabilities and the score."
        )
    mixed = any(c.categories is not None for c in formula.columns)
    inputs = [c.name for c in formula.columns] if mixed else ["X"]
    if "" in inputs:
        raise InputError("A column has no name (an empty text), but inputs of a graph must have one. Rename it.")
    for taken in inputs:
        if taken in outputs:
            raise InputError(f"{taken!r} is the name of an input and of an output; set outputs to other names.")
