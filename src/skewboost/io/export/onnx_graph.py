"""The nodes of an ONNX graph.

The step functions and trees of a sum are one TreeEnsemble. Each has a target of its own, and a cumulative sum over the
targets adds them in the order of the model; if there are many, the runtime adds them up. A LabelEncoder turns
categories into their positions, NaN if they are unknown.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from onnx import TensorProto, helper, numpy_helper

from skewboost.boosting.link import ManyClasses
from skewboost.errors import InputError
from skewboost.io.export.formula import ExpectedCosts, Formula, Odds, Steps, Sum, utf8
from skewboost.io.export.onnx_trees import Ensemble
from skewboost.io.export.packed_forest import TwoWay
from skewboost.meta.portfolio.components import Components
from skewboost.typing import Array

# Terms, times outputs, that are added in the order of the model. Each takes 16 bytes per row while the graph runs.
MOST_IN_ORDER = 1000
# Distinct leaves, in their values for all outputs, that are counted rather than added.
MOST_ROWS = 64
# Categories in the sets of all nodes, of which every one is a node in onnxruntime.
MOST_LISTED = 5_000_000


class Graph:
    """Collects nodes and constants."""

    def __init__(self, used: list[str]) -> None:
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self.n_names = 0
        self.stem = "skewboost/"
        while any(name.startswith(self.stem) for name in used):  # a column may have any name
            self.stem = "_" + self.stem

    def new(self) -> str:
        """A new name."""
        self.n_names += 1
        return f"{self.stem}{self.n_names}"

    def constant(self, value: Any, dtype: Any = np.float64) -> str:
        """Add a constant, and return its name."""
        array = np.array(value, dtype=dtype)
        name = self.new()
        self.constants.append(numpy_helper.from_array(array, name))
        return name

    def add(self, op: str, *inputs: str, output: str | None = None, domain: str = "", **attributes: Any) -> str:
        """Add a node, and return the name of its output."""
        name = output or self.new()
        self.nodes.append(helper.make_node(op, list(inputs), [name], domain=domain, **attributes))
        return name


def write_graph(formula: Formula, name: str, outputs: tuple[str, str, str]) -> Any:
    """Return the graph."""
    mixed = any(c.categories is not None for c in formula.columns)
    inputs = [c.name for c in formula.columns] if mixed else ["X"]
    formula.check_listed(MOST_LISTED, "a graph can have")
    graph = Graph([*inputs, *outputs])
    meaning: Any = {Odds: _two, ManyClasses: _many, ExpectedCosts: _by_cost}[type(formula.link)]
    meaning(graph, formula, formula.link, _f(graph, formula, mixed), outputs)
    n, d, K = None, len(formula.columns), len(formula.classes)
    double, text = TensorProto.DOUBLE, TensorProto.STRING
    kinds = [double if c.categories is None else text for c in formula.columns]
    taken = [helper.make_tensor_value_info(c, kind, [n, 1]) for c, kind in zip(inputs, kinds)]
    if not mixed:
        taken = [helper.make_tensor_value_info("X", double, [n, d])]
    given = [
        helper.make_tensor_value_info(outputs[0], helper.np_dtype_to_tensor_dtype(_labels(formula).dtype), [n]),
        helper.make_tensor_value_info(outputs[1], double, [n, K]),
        helper.make_tensor_value_info(outputs[2], double, [n] if formula.n_outputs == 1 else [n, K]),
    ]
    return helper.make_graph(graph.nodes, name, taken, given, graph.constants)


def _f(graph: Graph, formula: Formula, mixed: bool) -> str:
    """F, ``[row, output]``: the sum, or the weighted scores of several."""
    X, place = _numbers(graph, formula) if mixed else ("X", {j: j for j in range(len(formula.columns))})
    if formula.components is not None:
        X, place = _extended(graph, formula.components, X, place, len(formula.columns))
    scores = [_lines(graph, formula, own, mixed, _sum(graph, formula, own, X, place)) for own in formula.sums]
    if formula.is_one_sum:
        return scores[0]
    found = graph.constant([formula.offset])
    if not scores:  # the same for all rows
        n_rows = graph.add("Shape", X, start=0, end=1)
        found = graph.add("Expand", found, graph.add("Concat", n_rows, graph.constant([1], np.int64), axis=0))
    for own, v in zip(formula.sums, scores):
        if own.floor is not None:
            floor = graph.constant([own.floor])
            shares, v = v, graph.add("Log", graph.add("Max", v, floor))
            if len(own.floor) == 1:
                rest = graph.add("Sub", graph.constant(1.0), shares)
                v = graph.add("Sub", v, graph.add("Log", graph.add("Max", rest, floor)))
        found = graph.add("Add", found, graph.add("Mul", graph.constant(own.weight), v))
    return found


def _sum(graph: Graph, formula: Formula, own: Sum, X: str, place: Mapping[int, int]) -> str:
    """A sum without its lines, ``[row, output]``."""
    K, n_terms = formula.n_outputs, 1 + len(own.tables) + len(own.forest)
    trees, ensemble = TwoWay.of(own.forest, formula.tested), Ensemble(place, formula.tested)
    if n_terms * K > MOST_IN_ORDER and K > 1 and not own.tables:
        rows, row_of_leaf = np.unique(trees.values, axis=0, return_inverse=True)
        if len(rows) <= MOST_ROWS:  # as in forests: count them, rather than write the trees once per output
            ensemble.trees(trees, np.ones(len(trees.values)), row_of_leaf.reshape(-1))
            counts = graph.add("TreeEnsemble", X, domain="ai.onnx.ml", **ensemble.attributes(len(rows)))
            return graph.add("Add", graph.constant([own.constant]), graph.add("MatMul", counts, graph.constant(rows)))
    in_order = n_terms * K <= MOST_IN_ORDER
    targets = np.arange(n_terms)[:, None] * (K if in_order else 0) + np.arange(K)  # [term, output]
    for k, constant in enumerate(own.constant):
        ensemble.constant(constant, targets[0, k])
    for term, part in enumerate(own.tables, 1):
        cuts = part.cuts if isinstance(part, Steps) else tuple(c + 0.5 for c in range(len(part.values) - 1))
        values = part.values or (part.missing,)
        for k in range(K):
            ensemble.steps(part.feature, cuts, [v[k] for v in values], part.missing[k], targets[term, k])
    for k in range(K):
        of_tree = targets[1 + len(own.tables) :, k]
        ensemble.trees(trees, trees.values[:, k], of_tree[trees.tree_of_leaf] if len(of_tree) else of_tree)
    terms = graph.add("TreeEnsemble", X, domain="ai.onnx.ml", **ensemble.attributes(int(targets[-1, -1]) + 1))
    if not in_order:
        return terms
    shaped = graph.add("Reshape", terms, graph.constant([-1, n_terms, K], np.int64))
    added = graph.add("CumSum", shaped, graph.constant(1, np.int64))
    return graph.add("Gather", added, graph.constant(n_terms - 1, np.int64), axis=1)


def _numbers(graph: Graph, formula: Formula) -> tuple[str, dict[int, int]]:
    """The columns in use as numbers, at least one, and the place of each."""
    columns, place = [], {}
    for j in formula.used or [0]:
        known = formula.columns[j].categories
        own = formula.columns[j].name
        columns.append(own if known is None else _encoded(graph, own, {c: float(k) for k, c in enumerate(known)}))
        place[j] = len(columns) - 1
    return graph.add("Concat", *columns, axis=1), place


def _extended(
    graph: Graph, own: Components, X: str, place: dict[int, int], n_features: int
) -> tuple[str, dict[int, int]]:
    """The columns with the components behind them, and the place of each. A cumulative sum keeps the order of sums."""
    x = graph.add("Gather", X, graph.constant([place[j] for j in own.features.tolist()], np.int64), axis=1)
    inner = graph.add("Min", graph.add("Max", x, graph.constant([own.low])), graph.constant([own.high]))
    centred = graph.add("Sub", inner, graph.constant([own.centre]))
    centred = graph.add("Where", graph.add("IsNaN", x), graph.constant(0.0), centred)
    each = graph.add("Unsqueeze", centred, graph.constant([1], np.int64))
    terms = graph.add("Mul", each, graph.constant([own.loadings]))
    added = graph.add("CumSum", terms, graph.constant(2, np.int64))
    components = graph.add("Gather", added, graph.constant(len(own.features) - 1, np.int64), axis=2)
    first = max(place.values()) + 1
    more = {n_features + k: first + k for k in range(own.n_components)}
    return graph.add("Concat", X, components, axis=1), {**place, **more}


def _encoded(graph: Graph, column: str, values: Mapping[str, float]) -> str:
    """A number per category, NaN for all others."""
    keys, numbers = list(values or {"": math.nan}), list(values.values() or [math.nan])
    return graph.add(
        "LabelEncoder",
        column,
        domain="ai.onnx.ml",
        keys_tensor=helper.make_tensor("keys", TensorProto.STRING, [len(keys)], [utf8(k) for k in keys]),
        values_tensor=numpy_helper.from_array(np.array(numbers)),
        default_tensor=numpy_helper.from_array(np.array([math.nan])),
    )


def _lines(graph: Graph, formula: Formula, own: Sum, mixed: bool, F: str) -> str:
    """A sum with its lines."""
    if not own.lines:
        return F
    rest = graph.constant([[0.0]])
    for line in own.lines:
        if mixed:
            x = formula.columns[line.feature].name
        else:
            x = graph.add("Gather", "X", graph.constant([line.feature], np.int64), axis=1)
        inner = graph.add("Clip", x, graph.constant(-line.reach), graph.constant(line.reach))
        t = graph.add("Sub", graph.add("Div", inner, graph.constant(line.scale)), graph.constant(line.centre))
        height = graph.add("Add", graph.add("Mul", graph.constant(line.rise), t), graph.constant(line.height))
        height = graph.add("Where", graph.add("IsNaN", x), graph.constant(0.0), height)
        rest = graph.add("Add", rest, height)
    return graph.add("Add", F, rest)


def _labels(formula: Formula) -> Array:
    """The labels as an array of a type that ONNX has."""
    classes = formula.labels_of_one_type
    if any(isinstance(c, str) for c in classes):
        return np.array([utf8(str(c)) for c in classes], dtype=object)
    if all(isinstance(c, int) for c in classes) and max(map(abs, classes)) >= 2**63:
        raise InputError(f"classes_ holds {max(classes, key=abs)}, but labels are int64 in ONNX. Rename it.")
    return np.array(classes)


def _gather_label(graph: Graph, formula: Formula, index: str, output: str) -> None:
    classes = _labels(formula)
    graph.add("Gather", graph.constant(classes, classes.dtype), index, output=output)


def _two(graph: Graph, formula: Formula, link: Odds, F: str, outputs: tuple[str, str, str]) -> None:
    F = graph.add("Squeeze", F, graph.constant([1], np.int64))
    if link.pieces:
        t = _pieces(graph, link, F)
    else:
        t = graph.add("Mul", graph.constant(link.scale), F)
    for shift in link.shifts:
        t = graph.add("Add", t, graph.constant(shift))
    if link.calibrated:
        D = graph.add("Mul", graph.constant(0.5), t)
    else:
        D = graph.add("Add", F, graph.constant(link.decision_shift)) if link.decision_shift else F
    above = D if link.threshold is None else graph.add("Sub", D, graph.constant(link.threshold))
    graph.add("Neg" if link.positive == 0 else "Identity", above, output=outputs[2])
    t = graph.add("Sub", t, graph.constant(link.cost_offset)) if link.cost_offset else t
    one, axis = graph.constant(1.0), graph.constant([1], np.int64)
    p, q = (
        graph.add("Unsqueeze", graph.add("Div", one, graph.add("Add", one, graph.add("Exp", v))), axis)
        for v in (graph.add("Neg", t), t)
    )
    graph.add("Concat", *((q, p) if link.positive == 1 else (p, q)), axis=1, output=outputs[1])
    positive = graph.add("GreaterOrEqual", D, graph.constant(link.threshold or 0.0))
    yes, no = (graph.constant(k, np.int64) for k in (link.positive, 1 - link.positive))
    if link.lower is not None:
        between = graph.add("GreaterOrEqual", D, graph.constant(link.lower))
        no = graph.add("Where", between, graph.constant(2, np.int64), no)
    _gather_label(graph, formula, graph.add("Where", positive, yes, no), outputs[0])


def _pieces(graph: Graph, link: Odds, F: str) -> str:
    """The log-odds of a probability that is linear in pieces."""
    column = graph.add("Unsqueeze", F, graph.constant([1], np.int64))
    starts = graph.constant([[p.start for p in link.pieces[1:]]])
    passed = graph.add("Cast", graph.add("GreaterOrEqual", column, starts), to=TensorProto.INT64)
    k = graph.add("ReduceSum", passed, graph.constant([1], np.int64), keepdims=0)
    start, p, slope, level = (
        graph.add("Gather", graph.constant(values), k)
        for values in (
            [0.0, *(piece.start for piece in link.pieces[1:])],
            [piece.p for piece in link.pieces],
            [piece.slope for piece in link.pieces],
            [piece.log_odds for piece in link.pieces],
        )
    )
    p = graph.add("Add", graph.add("Mul", slope, graph.add("Sub", F, start)), p)
    p = graph.add("Min", graph.add("Max", p, graph.constant(link.margin)), graph.constant(1.0 - link.margin))
    t = graph.add("Log", graph.add("Div", p, graph.add("Sub", graph.constant(1.0), p)))
    return graph.add("Where", graph.add("Equal", slope, graph.constant(0.0)), level, t)


def _many(graph: Graph, formula: Formula, link: ManyClasses, F: str, outputs: tuple[str, str, str]) -> None:
    big, one = graph.constant(1e10), graph.constant(1.0)
    score = graph.add("Div", graph.add("Round", graph.add("Mul", F, big)), big, output=outputs[2])
    axis = graph.constant([1], np.int64)
    if link.softmax:
        top = graph.add("ReduceMax", score, axes=[1])
        p = graph.add("Exp", graph.add("Mul", graph.constant(2.0), graph.add("Sub", score, top)))
    else:
        p = graph.add("Exp", graph.add("Mul", graph.constant(-2.0), score))
        p = graph.add("Div", one, graph.add("Add", one, p))
        little = graph.add("Div", score, graph.add("Add", one, graph.add("Abs", score)))
        p = graph.add("Mul", p, graph.add("Add", one, graph.add("Mul", graph.constant(1e-9), little)))
        p = graph.add("Div", p, graph.constant([list(link.costs)]))
    total = graph.add("ReduceSum", p, axis, keepdims=1)
    some = graph.add("Greater", total, graph.constant(0.0))
    share = graph.add("Div", p, graph.add("Where", some, total, one))
    graph.add("Where", some, share, graph.constant(1.0 / len(link.costs)), output=outputs[1])
    _gather_label(graph, formula, graph.add("ArgMax", score, axis=1, keepdims=0), outputs[0])


def _by_cost(graph: Graph, formula: Formula, link: ExpectedCosts, F: str, outputs: tuple[str, str, str]) -> None:
    K = len(link.costs)
    if link.positive is None:
        shares = graph.add("Exp", graph.add("Sub", F, graph.add("ReduceMax", F, axes=[1])))
        total = graph.add("ReduceSum", shares, graph.constant([1], np.int64), keepdims=1)
        p = graph.add("Div", shares, total, output=outputs[1])
    else:
        t = graph.add("Neg", F) if link.positive == 0 else F
        score = graph.add("Squeeze", t, graph.constant([1], np.int64))
        graph.add("Add", score, graph.constant(link.shift), output=outputs[2])
        one = graph.constant(1.0)
        both = (graph.add("Div", one, graph.add("Add", one, graph.add("Exp", v))) for v in (t, graph.add("Neg", t)))
        p = graph.add("Concat", *both, axis=1, output=outputs[1])
    cost = graph.constant([[0.0] * K])
    for j, row in enumerate(link.costs):  # in the order of the model
        share = graph.add("Gather", p, graph.constant([j], np.int64), axis=1)
        cost = graph.add("Add", cost, graph.add("Mul", share, graph.constant([row])))
    if link.positive is None:
        graph.add("Neg", cost, output=outputs[2])
    best = graph.add("ArgMin", cost, axis=1, keepdims=0)
    if link.reject_cost is not None:
        least = graph.add("ReduceMin", cost, axes=[1], keepdims=0)
        dear = graph.add("Greater", least, graph.constant(link.reject_cost))
        best = graph.add("Where", dear, graph.constant(K, np.int64), best)
    _gather_label(graph, formula, best, outputs[0])
