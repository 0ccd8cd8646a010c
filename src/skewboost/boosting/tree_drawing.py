"""Drawing of alternating trees, from left to right. Coordinates are in inches."""

from __future__ import annotations

from dataclasses import dataclass
from textwrap import wrap
from typing import Any

from skewboost.boosting.tree_nodes import PredictionNode, SplitterNode
from skewboost.names import literal, shown, side_by_side

POSITIVE, NEGATIVE = "#b2182b", "#2166ac"  # safe for colour-blind readers
LINE = 0.42  # the distance of prediction nodes without splitters
LETTER = 0.066  # the width of a character
NODE = 0.55  # the width of a prediction node
LONGEST_NAME = 40  # characters of a feature name
LONGEST = 26  # characters in a line of a condition


def draw(root: PredictionNode, axes: Any, decimals: int, title: str) -> Any:
    """Draw a tree, on a new figure of the right size if no axes are given."""
    import matplotlib.pyplot as plt

    plan = _Plan.of(root)
    if axes is None:
        _, axes = plt.subplots(figsize=(plan.width + 0.4, plan.height + 0.5), layout="constrained")
    _draw_node(axes, root, 0.0, plan, decimals)
    axes.set_xlim(-NODE / 2 - 0.1, plan.width - NODE / 2)
    axes.set_ylim(plan.height - LINE / 2, -LINE / 2 - 0.1)
    axes.set_title(literal(title), fontsize=11, loc="left")
    axes.set_axis_off()
    return axes


@dataclass(frozen=True)
class _Plan:
    """The layout of the drawing."""

    labels: dict[int, str]  # of splitters, by round
    heights: dict[int, float]  # the vertical positions of prediction nodes
    box: float  # the width of a splitter
    step: float  # the horizontal distance of a prediction node from those below it
    width: float
    height: float
    largest: float  # the largest absolute number

    @classmethod
    def of(cls, root: PredictionNode) -> _Plan:
        nodes = list(root.walk())
        splitters = {splitter.round: splitter.name for _, _, splitter in nodes if splitter}
        names = dict(zip(splitters, side_by_side(splitters.values(), LONGEST_NAME)))
        labels = {m: f"{m}  {name}" for m, name in names.items()}
        lines = [len(line) for _, node, splitter in nodes if splitter for line in _condition(node, splitter)]
        box = LETTER * max(map(len, labels.values()), default=0) + 0.2
        step = NODE + box + LETTER * max(lines, default=0) + 0.55
        heights, height = _heights(root)
        depth = max(d for d, _, _ in nodes)
        largest = max(abs(n.value) for _, n, _ in nodes) or 1.0
        return cls(labels, heights, box, step, step * depth + NODE, height, largest)


def _heights(root: PredictionNode) -> tuple[dict[int, float], float]:
    """Return the vertical positions of the nodes, and the total height. Inner nodes are centred on their children."""
    heights: dict[int, float] = {}
    n_lines = 0

    def place(node: PredictionNode) -> float:
        nonlocal n_lines
        below = [place(child) for splitter in node.splitters for child in splitter.children]
        if below:
            heights[node.index] = (below[0] + below[-1]) / 2
        else:
            heights[node.index] = LINE * n_lines
            n_lines += 1
        return heights[node.index]

    place(root)
    return heights, LINE * n_lines


def _condition(node: PredictionNode, splitter: SplitterNode) -> list[str]:
    """Return the test of a node without the name of the feature, wrapped."""
    lines = wrap(node.test.removeprefix(shown(splitter.name)).strip(), LONGEST, break_long_words=True)
    return lines if len(lines) <= 3 else [*lines[:2], lines[2][: LONGEST - 2] + " …"]


def _draw_node(axes: Any, node: PredictionNode, x: float, plan: _Plan, decimals: int) -> None:
    y = plan.heights[node.index]
    left = x + NODE / 2 + 0.15  # the left edge of the splitters
    turn = left + plan.box + 0.15  # where lines bend towards the nodes below
    for splitter in node.splitters:
        ends = [plan.heights[child.index] for child in splitter.children]
        at = sum(ends) / 2
        axes.plot([x, left, left + plan.box / 2], [y, at, at], color="0.75", lw=1, zorder=1)
        for child, end in zip(splitter.children, ends):
            axes.plot([left, turn, turn, x + plan.step], [at, at, end, end], color="0.75", lw=1, zorder=1)
            axes.text(
                turn + 0.06, end, literal("\n".join(_condition(child, splitter))), fontsize=8, va="center", zorder=3,
                linespacing=1.0, bbox={"boxstyle": "round,pad=0.1", "fc": "white", "ec": "none"},
            )  # fmt: skip
            _draw_node(axes, child, x + plan.step, plan, decimals)
        axes.text(
            left, at, literal(plan.labels[splitter.round]), fontsize=8.5, va="center", zorder=4,
            bbox={"boxstyle": "square,pad=0.3", "fc": "0.95", "ec": "0.4"},
        )  # fmt: skip
    colour = POSITIVE if node.value > 0 else NEGATIVE
    strength = 0.15 + 0.6 * abs(node.value) / plan.largest
    axes.text(
        x, y, f"{node.value:+.{decimals}f}", fontsize=9, ha="center", va="center", zorder=4,
        bbox={"boxstyle": "round,pad=0.35,rounding_size=0.9", "fc": _lighter(colour, strength), "ec": colour},
    )  # fmt: skip


def _lighter(colour: str, strength: float) -> tuple[float, ...]:
    from matplotlib.colors import to_rgb

    return tuple(1 - strength * (1 - c) for c in to_rgb(colour))
