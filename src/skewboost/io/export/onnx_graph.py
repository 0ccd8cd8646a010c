"""The nodes of an ONNX graph.

All step functions and trees are one TreeEnsemble, in which each has a target of its own. A cumulative sum over the
targets adds them in the order of the model. A LabelEncoder turns categories into numbers, NaN if they are unknown:
their position for look-ups, and 0 or 1 for every set of categories that a tree tests.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from onnx import TensorProto, helper, numpy_helper

from skewboost.boosting.link import ManyClasses
from skewboost.errors import InputError
from skewboost.io.export.formula import Formula, Odds, Steps, Tree, utf8
from skewboost.typing import Array

LEQ = 0  # the mode of a node: x <= split
SUM = 1  # of leaves


class Graph:
    """Collects nodes and constants."""

    def __init__(self, used: Sequence[str]) -> None:
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
    graph = Graph([*inputs, *outputs])
    F = _lines(graph, formula, mixed, _sum(graph, formula, mixed))
    if isinstance(formula.link, ManyClasses):
        _many(graph, formula, formula.link, F, outputs)
    else:
        _two(graph, formula, formula.link, F, outputs)
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


def _sum(graph: Graph, formula: Formula, mixed: bool) -> str:
    """F without its lines, ``[row, output]``."""
    columns: list[str] = [c.name for c in formula.columns]  # the columns of the ensemble's input
    place = {j: j for j in range(len(columns))}
    if mixed:
        columns, place = _numeric_columns(graph, formula)
    of_set: dict[tuple[int, Any], int] = {}

    def column_of(node: Any) -> tuple[int, float]:
        if node.sides is None:
            return place[node.feature], node.cut
        key = (node.feature, node.sides)
        if key not in of_set:
            yes, no = node.sides
            ways = {**dict.fromkeys(yes, 0.0), **dict.fromkeys(no, 1.0)}
            columns.append(_encoded(graph, formula, node.feature, ways))
            of_set[key] = len(columns) - 1
        return of_set[key], 0.5

    K, forest = formula.n_outputs, Forest()
    for k, constant in enumerate(formula.constant):
        forest.constant(k, constant)
    n_terms = 1
    for part in formula.tables:
        cuts = part.cuts if isinstance(part, Steps) else tuple(c + 0.5 for c in range(len(part.values) - 1))
        values = part.values or (part.missing,)
        for k in range(K):
            forest.steps(place[part.feature], cuts, [v[k] for v in values], part.missing[k], n_terms * K + k)
        n_terms += 1
    for tree in formula.trees:
        for k in range(K):
            forest.tree(tree, column_of, k, n_terms * K + k)
        n_terms += 1
    X = graph.add("Concat", *columns, axis=1) if mixed else "X"
    terms = graph.add("TreeEnsemble", X, domain="ai.onnx.ml", **forest.attributes(n_terms * K))
    shaped = graph.add("Reshape", terms, graph.constant([-1, n_terms, K], np.int64))
    added = graph.add("CumSum", shaped, graph.constant(1, np.int64))
    return graph.add("Gather", added, graph.constant(n_terms - 1, np.int64), axis=1)


def _numeric_columns(graph: Graph, formula: Formula) -> tuple[list[str], dict[int, int]]:
    """The columns in use as numbers, at least one, and the place of each."""
    columns, place = [], {}
    tested = {part.feature for part in formula.tables}
    for j, column in enumerate(formula.columns):
        if column.categories is None:
            columns.append(column.name)
        elif j in tested:
            columns.append(_encoded(graph, formula, j, {c: float(k) for k, c in enumerate(column.categories)}))
        else:
            continue
        place[j] = len(columns) - 1
    if not columns:
        columns.append(_encoded(graph, formula, 0, {}))
    return columns, place


def _encoded(graph: Graph, formula: Formula, feature: int, values: Mapping[str, float]) -> str:
    """A number per category, NaN for all others."""
    column = formula.columns[feature]
    keys, numbers = list(values or {"": math.nan}), list(values.values() or [math.nan])
    return graph.add(
        "LabelEncoder",
        column.name,
        domain="ai.onnx.ml",
        keys_tensor=helper.make_tensor("keys", TensorProto.STRING, [len(keys)], [utf8(k) for k in keys]),
        values_tensor=numpy_helper.from_array(np.array(numbers)),
        default_tensor=numpy_helper.from_array(np.array([math.nan])),
    )


def _lines(graph: Graph, formula: Formula, mixed: bool, F: str) -> str:
    """F with its lines."""
    if not formula.lines:
        return F
    rest = graph.constant([[0.0]])
    for line in formula.lines:
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
    """The classes as an array of a type that ONNX has."""
    classes = formula.classes
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
    number = graph.constant(link.positive, np.int64), graph.constant(1 - link.positive, np.int64)
    _gather_label(graph, formula, graph.add("Where", positive, *number), outputs[0])


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


# ------------------------------------------------------------------------------------- trees


Child = tuple[int, int]  # the number of a node or leaf, and whether it is a leaf


class Forest:
    """Collects the attributes of a TreeEnsemble."""

    def __init__(self) -> None:
        self.roots: list[int] = []
        self.nodes: list[tuple[int, float, int, Child, Child]] = []  # column, split, whether NaN is yes, yes, no
        self.leaves: list[tuple[int, float]] = []  # target and value

    def leaf(self, target: int, value: float) -> Child:
        """Add a leaf."""
        self.leaves.append((target, value))
        return len(self.leaves) - 1, 1

    def node(self, column: int, split: float, yes: Child, no: Child, nan_is_yes: bool = False) -> Child:
        """Add a node."""
        self.nodes.append((column, split, int(nan_is_yes), yes, no))
        return len(self.nodes) - 1, 0

    def constant(self, target: int, value: float) -> None:
        """Add a tree with the same value everywhere. A root cannot be a leaf."""
        self.roots.append(self.node(0, math.inf, self.leaf(target, value), self.leaf(target, value))[0])

    def steps(self, column: int, cuts: Sequence[float], values: Sequence[float], missing: float, target: int) -> None:
        """Add a step function as a binary search, after a test for missing cells."""

        def between(low: int, high: int) -> Child:
            if low == high:
                return self.leaf(target, values[low])
            middle = (low + high) // 2
            return self.node(column, cuts[middle], between(low, middle), between(middle + 1, high))

        self.roots.append(self.node(column, math.inf, between(0, len(cuts)), self.leaf(target, missing))[0])

    def tree(self, tree: Tree, column_of: Any, output: int, target: int) -> None:
        """Add a tree. A node with a third branch for missing cells becomes two nodes."""
        reached, made = {0}, dict[int, Child]()
        for k, node in enumerate(tree.nodes):
            reached.update(node.links if k in reached else ())

        def child(link: int) -> Child:
            return made[link] if link >= 0 else self.leaf(target, tree.values[~link][output])

        for k in sorted((k for k in reached if k >= 0), reverse=True):
            yes, no, missing = tree.nodes[k].links
            column, cut = (0, 0.0) if yes == no == missing else column_of(tree.nodes[k])
            if yes == no:
                made[k] = child(yes)
            else:
                made[k] = self.node(column, cut, child(yes), child(no), nan_is_yes=missing == yes)
            if missing not in (yes, no):
                made[k] = self.node(column, math.inf, made[k], child(missing))
        number, is_leaf = made[0]
        if is_leaf:
            self.constant(*self.leaves.pop(number))  # the only one
        else:
            self.roots.append(number)

    def attributes(self, n_targets: int) -> dict[str, Any]:
        """The attributes of the operator."""
        columns, splits, nan_is_yes, yes, no = zip(*self.nodes)
        targets, values = zip(*self.leaves)
        return {
            "n_targets": n_targets,
            "aggregate_function": SUM,
            "post_transform": 0,
            "tree_roots": self.roots,
            "nodes_modes": numpy_helper.from_array(np.full(len(columns), LEQ, np.uint8)),
            "nodes_featureids": columns,
            "nodes_splits": numpy_helper.from_array(np.array(splits)),
            "nodes_missing_value_tracks_true": nan_is_yes,
            "nodes_truenodeids": [number for number, _ in yes],
            "nodes_trueleafs": [is_leaf for _, is_leaf in yes],
            "nodes_falsenodeids": [number for number, _ in no],
            "nodes_falseleafs": [is_leaf for _, is_leaf in no],
            "leaf_targetids": targets,
            "leaf_weights": numpy_helper.from_array(np.array(values)),
        }
