"""The nodes of an alternating tree, its text form, and the explanation of a prediction."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from skewboost.boosting.split_conditions import condition
from skewboost.engine.binning import Bins
from skewboost.engine.boundary import LEFT, RIGHT, Split
from skewboost.engine.growing_alternating import AlternatingPartition
from skewboost.engine.partition import View
from skewboost.engine.scoring import LeafTerm, Term
from skewboost.names import quoted, shown


@dataclass
class PredictionNode:
    """A number, and the splitters below it. The root is node 0; splitter m has the nodes 2m-1 and 2m."""

    index: int
    value: float
    test: str = ""  # the condition of this node as text; empty for the root
    splitters: list[SplitterNode] = field(default_factory=list)

    def walk(
        self, depth: int = 0, above: SplitterNode | None = None
    ) -> Iterator[tuple[int, PredictionNode, SplitterNode | None]]:
        """Yield this node and all nodes below it, with their depth and the splitter above them."""
        yield depth, self, above
        for splitter in self.splitters:
            for child in splitter.children:
                yield from child.walk(depth + 1, splitter)


@dataclass
class SplitterNode:
    """A test, and a prediction node for each outcome."""

    round: int
    feature: int
    name: str
    split: Split
    children: tuple[PredictionNode, PredictionNode]


def read_tree(terms: Sequence[Term], bins: Bins, root: float, names: Sequence[str]) -> PredictionNode:
    """Build the tree from the terms of the rounds."""
    nodes = [PredictionNode(0, root)]
    for m, term in enumerate(terms, 1):
        assert isinstance(term, LeafTerm)
        assert isinstance(term.partition, AlternatingPartition)
        split = term.partition.splits[-1]
        name = str(names[split.feature])
        left, right = (
            PredictionNode(
                2 * m - 1 + side,
                float(term.values[side]),
                f"{shown(name)} {condition(split, side, bins.features[split.feature])}",
            )
            for side in (LEFT, RIGHT)
        )
        above = nodes[term.partition.precondition]
        above.splitters.append(SplitterNode(m, split.feature, name, split, (left, right)))
        nodes += [left, right]
    return nodes[0]


def as_text(root: PredictionNode, decimals: int) -> str:
    """Return one line per prediction node, indented by depth; the number in brackets is the round."""
    lines = []
    for depth, node, splitter in root.walk():
        head = f"({splitter.round}) {node.test}: " if splitter else "F = "
        lines.append("|  " * depth + f"{head}{node.value:+.{decimals}f}")
    return "\n".join(lines)


@dataclass(frozen=True)
class Step:
    """A prediction node that an example reaches."""

    node: int
    depth: int
    test: str
    contribution: float


@dataclass(frozen=True)
class Explanation:
    """The nodes that an example reaches. Their contributions add up to its score."""

    label: Any  # the class that positive contributions favour
    score: float
    steps: tuple[Step, ...]

    def __str__(self) -> str:
        lines = [f"{self.score:+.3f} for {quoted(self.label)}, which is the sum of"]
        for step in self.steps:
            lines.append(f"{step.contribution:+.3f}  {'|  ' * step.depth}{step.test or 'all examples'}")
        return "\n".join(lines)


def explain(root: PredictionNode, view: View, label: Any) -> Explanation:
    """Return the nodes that the only row of a view reaches."""
    steps: list[Step] = []

    def visit(node: PredictionNode, depth: int) -> None:
        steps.append(Step(node.index, depth, node.test, node.value))
        for splitter in node.splitters:
            side = int(splitter.split.child[view.column(splitter.feature)[0]])
            if side in (LEFT, RIGHT):
                visit(splitter.children[side], depth + 1)

    visit(root, 0)
    return Explanation(label, sum(s.contribution for s in steps), tuple(steps))
