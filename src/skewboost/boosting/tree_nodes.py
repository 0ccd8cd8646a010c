"""The nodes of an alternating tree, its text form, and the explanation of a prediction."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from skewboost.engine.binning import Bins, Feature
from skewboost.engine.boundary import ABSTAIN, LEFT, MISSING, RIGHT, Split
from skewboost.engine.growing_alternating import AlternatingPartition
from skewboost.engine.partition import View
from skewboost.engine.scoring import LeafTerm, Term
from skewboost.names import quoted, shown, side_by_side

OTHER, OR_MISSING = "other", "or missing"
LONGEST = 40  # characters of a category
MAX_LISTED = 4  # a condition with more categories lists the excluded ones, if these are fewer


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


def condition(split: Split, side: int, feature: Feature) -> str:
    """Return the condition for one side of a split, such as "≤ 2.5" or "in {a, b}"."""
    text = _of_categories(split, side, feature) if feature.nominal else _of_numbers(split, side, feature)
    takes_missing = split.child[MISSING] == side
    if text and takes_missing:
        return f"{text} {OR_MISSING}"
    return text or ("is missing" if takes_missing else "is nothing")


def _of_numbers(split: Split, side: int, feature: Feature) -> str:
    if split.threshold >= len(feature.cuts):  # all numbers on one side, missing values on the other
        return "is known" if side == LEFT else ""
    sign = "≤" if side == LEFT else ">"
    return f"{sign} {feature.cuts[split.threshold]:.6g}"


def _of_categories(split: Split, side: int, feature: Feature) -> str:
    assert feature.categories is not None
    rest = [OTHER] if feature.rest else []
    known = side_by_side(feature.categories, LONGEST, rest)
    # quoted where they would be ambiguous in the condition
    marks = (", ", "{", "}", OR_MISSING)
    names = [*(quoted(name) if any(mark in name for mark in marks) else name for name in known), *rest]
    own = [name for code, name in enumerate(names) if split.child[code] == side]
    others = [name for code, name in enumerate(names) if split.child[code] not in (side, ABSTAIN)]
    if own and not others:
        return "is known"
    if len(own) > MAX_LISTED and len(others) < len(own):
        return f"≠ {others[0]}" if len(others) == 1 else f"not in {{{', '.join(others)}}}"
    if len(own) == 1:
        return f"= {own[0]}"
    return f"in {{{', '.join(own)}}}" if own else ""
