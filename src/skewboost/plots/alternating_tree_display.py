"""Drawing of an alternating decision tree."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sklearn.utils.validation import check_is_fitted

from skewboost.boosting.tree_drawing import draw
from skewboost.boosting.tree_nodes import PredictionNode
from skewboost.errors import InputError
from skewboost.plots.display import Display
from skewboost.plots.display_inputs import format_label
from skewboost.plots.style import import_pyplot


@dataclass(eq=False, repr=False, kw_only=True)
class AlternatingTreeDisplay(Display):
    """The tree of an `AlternatingTreeClassifier`, from left to right.

    Boxes are tests, with the round that added them. Rounded boxes are prediction nodes. The score F of an example is
    the sum of the numbers in all prediction nodes whose tests it passes.

    Parameters
    ----------
    root : PredictionNode
        The result of `AlternatingTreeClassifier.tree`.
    pos_label : label
        The class that positive numbers favour.

    Examples
    --------
    >>> from skewboost import AlternatingTreeClassifier
    >>> from skewboost.datasets import load_rare_cancer
    >>> from skewboost.plots import AlternatingTreeDisplay
    >>> clf = AlternatingTreeClassifier(max_rounds=3).fit(*load_rare_cancer())
    >>> print(AlternatingTreeDisplay.from_estimator(clf).ax_.get_title(loc="left"))
    Positive numbers favour 1
    """

    root: PredictionNode
    pos_label: Any

    @classmethod
    def from_estimator(cls, estimator: Any, *, decimals: int = 2, ax: Any = None) -> AlternatingTreeDisplay:
        """Draw a fitted `AlternatingTreeClassifier`.

        Parameters
        ----------
        estimator : AlternatingTreeClassifier
            A fitted tree.
        decimals : int, default=2
            The number of decimals.
        ax : matplotlib Axes or None, default=None
            The axes to draw on; None makes a figure of a suitable size.
        """
        if not hasattr(estimator, "tree") or not hasattr(estimator, "plot_tree"):
            name = type(estimator).__name__
            raise InputError(f"estimator is a {name}, not an alternating tree. Fit an AlternatingTreeClassifier.")
        check_is_fitted(estimator)
        return cls(root=estimator.tree(), pos_label=estimator.pos_label_).plot(ax, decimals=decimals)

    def plot(self, ax: Any = None, *, decimals: int = 2) -> AlternatingTreeDisplay:
        """Draw the tree; parameters as in `from_estimator`."""
        import_pyplot()
        return self._finish(draw(self.root, ax, decimals, f"Positive numbers favour {format_label(self.pos_label)}"))
