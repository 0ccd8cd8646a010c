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

    def add(self, op: str, *inputs: str, to: str | None = None, domain: str = "", **attributes: Any) -> str:
        """Add a node, and return the name of its output."""
        name = to or self.new()
        self.nodes.append(helper.make_node(op, list(inputs), [name], domain=domain, **attributes))
        return name

    def cast(self, what: str, kind: int) -> str:
        """Add a cast to another type, and return the name of its output."""
        name = self.new()
        self.nodes.append(helper.make_node("Cast", [what], [name], to=kind))
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
    _, label_kind = _labels(formula)
    given = [
        helper.make_tensor_value_info(outputs[0], label_kind, [n]),
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


def _labels(formula: Formula) -> tuple[Array, int]:
    """The classes as a tensor."""
    classes = formula.classes
    if all(isinstance(c, bool) for c in classes):
        return np.array(classes, dtype=np.bool_), TensorProto.BOOL
    if all(isinstance(c, int) for c in classes):
        if max(map(abs, classes)) >= 2**63:
            raise InputError(f"classes_ holds {max(classes, key=abs)}, but labels are int64 in ONNX. Rename it.")
        return np.array(classes, dtype=np.int64), TensorProto.INT64
    if any(isinstance(c, str) for c in classes):
        return np.array([utf8(str(c)) for c in classes], dtype=object), TensorProto.STRING
    return np.array(classes, dtype=np.float64), TensorProto.DOUBLE


def _gather_label(graph: Graph, formula: Formula, index: str, to: str) -> None:
    classes, kind = _labels(formula)
    graph.add("Gather", graph.constant(classes, object if kind == TensorProto.STRING else classes.dtype), index, to=to)


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
    graph.add("Neg" if link.positive == 0 else "Identity", above, to=outputs[2])
    t = graph.add("Sub", t, graph.constant(link.cost_offset)) if link.cost_offset else t
    one, axis = graph.constant(1.0), graph.constant([1], np.int64)
    p, q = (
        graph.add("Unsqueeze", graph.add("Div", one, graph.add("Add", one, graph.add("Exp", v))), axis)
        for v in (graph.add("Neg", t), t)
    )
    graph.add("Concat", *((q, p) if link.positive == 1 else (p, q)), axis=1, to=outputs[1])
    positive = graph.add("GreaterOrEqual", D, graph.constant(link.threshold or 0.0))
    number = graph.constant(link.positive, np.int64), graph.constant(1 - link.positive, np.int64)
    _gather_label(graph, formula, graph.add("Where", positive, *number), outputs[0])


def _pieces(graph: Graph, link: Odds, F: str) -> str:
    """The log-odds of a probability that is linear in pieces."""
    column = graph.add("Unsqueeze", F, graph.constant([1], np.int64))
    starts = graph.constant([[p.start for p in link.pieces[1:]]])
    passed = graph.cast(graph.add("GreaterOrEqual", column, starts), TensorProto.INT64)
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
    score = graph.add("Div", graph.add("Round", graph.add("Mul", F, big)), big, to=outputs[2])
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
    graph.add("Where", some, share, graph.constant(1.0 / len(link.costs)), to=outputs[1])
    _gather_label(graph, formula, graph.add("ArgMax", score, axis=1, keepdims=0), outputs[0])


# ------------------------------------------------------------------------------------- trees


class Forest:
    """Collects the attributes of a TreeEnsemble."""

    def __init__(self) -> None:
        self.roots: list[int] = []
        self.feature: list[int] = []
        self.split: list[float] = []
        self.nan_is_yes: list[int] = []
        self.to: list[list[tuple[int, int] | None]] = []  # per node (number, whether a leaf) for yes and no
        self.target: list[int] = []
        self.weight: list[float] = []

    def leaf(self, target: int, value: float) -> tuple[int, int]:
        """Add a leaf."""
        self.target.append(target)
        self.weight.append(value)
        return len(self.weight) - 1, 1

    def node(self, feature: int, split: float, nan_is_yes: bool = False) -> int:
        """Add a node, whose branches are set later."""
        self.feature.append(feature)
        self.split.append(split)
        self.nan_is_yes.append(int(nan_is_yes))
        self.to.append([None, None])
        return len(self.feature) - 1

    def constant(self, target: int, value: float) -> None:
        """Add a tree with the same value everywhere."""
        k = self.node(0, math.inf)
        self.roots.append(k)
        self.to[k] = [self.leaf(target, value), self.leaf(target, value)]

    def steps(self, column: int, cuts: Sequence[float], values: Sequence[float], missing: float, target: int) -> None:
        """Add a step function as a binary search, after a test for missing cells."""
        known = self.node(column, math.inf)
        self.roots.append(known)
        self.to[known] = [self._halves(column, cuts, values, target), self.leaf(target, missing)]

    def _halves(self, column: int, cuts: Sequence[float], values: Sequence[float], target: int) -> tuple[int, int]:
        if not cuts:
            return self.leaf(target, values[0])
        middle = len(cuts) // 2
        k = self.node(column, cuts[middle])
        self.to[k][0] = self._halves(column, cuts[:middle], values[: middle + 1], target)
        self.to[k][1] = self._halves(column, cuts[middle + 1 :], values[middle + 1 :], target)
        return k, 0

    def tree(self, tree: Tree, column_of: Any, output: int, target: int) -> None:
        """Add a tree. A node with a third branch for missing cells becomes two nodes."""
        todo: list[tuple[int, int, int]] = []  # link, and its parent: node and side

        def place(link: int, parent: int, side: int) -> None:
            while link >= 0 and len(set(tree.nodes[link].links)) == 1:
                link = tree.nodes[link].links[0]
            if link < 0:
                self._attach(self.leaf(target, tree.values[~link][output]), parent, side)
                return
            node = tree.nodes[link]
            column, cut = column_of(node)
            yes, no, missing = node.links
            if missing not in (yes, no):
                known = self.node(column, math.inf)
                self._attach((known, 0), parent, side)
                todo.append((missing, known, 1))
                if yes == no:
                    todo.append((yes, known, 0))
                    return
                parent, side = known, 0
            k = self.node(column, cut, nan_is_yes=missing == yes)
            self._attach((k, 0), parent, side)
            todo.extend([(yes, k, 0), (no, k, 1)])

        place(0, -1, 0)
        while todo:
            place(*todo.pop())

    def _attach(self, what: tuple[int, int], parent: int, side: int) -> None:
        if parent >= 0:
            self.to[parent][side] = what
        elif what[1]:  # a root cannot be a leaf
            k = self.node(0, math.inf)
            self.roots.append(k)
            self.to[k] = [what, self.leaf(self.target[what[0]], self.weight[what[0]])]
        else:
            self.roots.append(what[0])

    def attributes(self, n_targets: int) -> dict[str, Any]:
        """The attributes of the operator."""
        ways = [[w if w is not None else (0, 1) for w in node] for node in self.to]
        return {
            "n_targets": n_targets,
            "aggregate_function": SUM,
            "post_transform": 0,
            "tree_roots": self.roots,
            "nodes_modes": numpy_helper.from_array(np.full(len(self.feature), LEQ, np.uint8)),
            "nodes_featureids": self.feature,
            "nodes_splits": numpy_helper.from_array(np.array(self.split)),
            "nodes_missing_value_tracks_true": self.nan_is_yes,
            "nodes_truenodeids": [yes[0] for yes, _ in ways],
            "nodes_trueleafs": [yes[1] for yes, _ in ways],
            "nodes_falsenodeids": [no[0] for _, no in ways],
            "nodes_falseleafs": [no[1] for _, no in ways],
            "leaf_targetids": self.target,
            "leaf_weights": numpy_helper.from_array(np.array(self.weight)),
        }
