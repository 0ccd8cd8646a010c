"""An alternating tree as a picture, growing from left to right."""

from __future__ import annotations

from typing import Any

from skewboost.trees.structure import PredictionNode

POSITIVE, NEGATIVE = "#b2182b", "#2166ac"  # told apart by the colour-blind, and by the signs in black and white
STEP = 3.2  # from a prediction node to those below it
LINE = 0.42  # inches per line


def draw(root: PredictionNode, axes: Any, decimals: int, title: str) -> Any:
    """Draw a tree; makes a figure of the right size if no axes are given."""
    import matplotlib.pyplot as plt

    heights, n_lines = _places(root)
    depth = max(d for d, _, _ in root.walk())
    if axes is None:
        _, axes = plt.subplots(figsize=(3.0 + 3.4 * depth, 1.0 + LINE * n_lines), layout="constrained")
    largest = max(abs(node.value) for _, node, _ in root.walk()) or 1.0
    _draw_node(axes, root, 0, heights, largest, decimals)
    axes.set_xlim(-0.6, STEP * depth + 0.8)
    axes.set_ylim(n_lines - 0.3, -0.7)
    axes.set_title(title, fontsize=11, loc="left")
    axes.set_axis_off()
    return axes


def _places(root: PredictionNode) -> tuple[dict[int, float], int]:
    """The height of every prediction node: nodes without splitters have a line each, others are amid theirs."""
    heights: dict[int, float] = {}
    n_lines = 0

    def place(node: PredictionNode) -> float:
        nonlocal n_lines
        below = [place(child) for splitter in node.splitters for child in splitter.children]
        if below:
            heights[node.index] = (below[0] + below[-1]) / 2
        else:
            heights[node.index] = float(n_lines)
            n_lines += 1
        return heights[node.index]

    place(root)
    return heights, n_lines


def _draw_node(
    axes: Any, node: PredictionNode, depth: int, heights: dict[int, float], largest: float, decimals: int
) -> None:
    x, y = STEP * depth, heights[node.index]
    for splitter in node.splitters:
        at = sum(heights[child.index] for child in splitter.children) / 2
        middle = x + 0.36 * STEP
        axes.plot([x, middle], [y, at], color="0.75", lw=1, zorder=1)
        for child in splitter.children:
            end = heights[child.index]
            axes.plot([middle, x + STEP], [at, end], color="0.75", lw=1, zorder=1)
            words = child.test[len(splitter.name) :].strip()
            axes.text(
                x + 0.72 * STEP, at + (end - at) * 0.5625, words, fontsize=8, ha="center", va="center", zorder=3,
                bbox={"boxstyle": "round,pad=0.1", "fc": "white", "ec": "none"},
            )  # fmt: skip
            _draw_node(axes, child, depth + 1, heights, largest, decimals)
        axes.text(
            middle, at, f"{splitter.round}  {splitter.name}", fontsize=8.5, ha="center", va="center", zorder=4,
            bbox={"boxstyle": "square,pad=0.3", "fc": "0.95", "ec": "0.4"},
        )  # fmt: skip
    colour = POSITIVE if node.value > 0 else NEGATIVE
    strength = 0.15 + 0.6 * abs(node.value) / largest
    axes.text(
        x, y, f"{node.value:+.{decimals}f}", fontsize=9, ha="center", va="center", zorder=4,
        bbox={"boxstyle": "round,pad=0.35,rounding_size=0.9", "fc": _lighter(colour, strength), "ec": colour},
    )  # fmt: skip


def _lighter(colour: str, strength: float) -> tuple[float, ...]:
    from matplotlib.colors import to_rgb

    return tuple(1 - strength * (1 - c) for c in to_rgb(colour))
