"""An alternating decision tree as a picture."""

from __future__ import annotations

from typing import Any

from sklearn.utils.validation import check_is_fitted

from skewboost.boosting.tree_drawing import draw
from skewboost.boosting.tree_nodes import PredictionNode
from skewboost.errors import InputError
from skewboost.plots.inputs_of_displays import told
from skewboost.plots.style import import_pyplot


class AlternatingTreeDisplay:
    """The tree of an `AlternatingTreeClassifier`, growing from left to right.

    Boxes are tests, with the round in which they came. Rounded boxes are prediction nodes: an example collects the
    numbers of all those whose tests it passes, and their sum is F.

    Parameters
    ----------
    root : PredictionNode
        As `AlternatingTreeClassifier.tree` returns it.
    pos_label : label
        The class that positive numbers speak for.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Of the drawing.

    Examples
    --------
    >>> from skewboost import AlternatingTreeClassifier
    >>> from skewboost.datasets import load_rare_cancer
    >>> from skewboost.plots import AlternatingTreeDisplay
    >>> clf = AlternatingTreeClassifier(max_rounds=3).fit(*load_rare_cancer())
    >>> print(AlternatingTreeDisplay.from_estimator(clf).ax_.get_title(loc="left"))
    Positive numbers speak for 1
    """

    def __init__(self, *, root: PredictionNode, pos_label: Any) -> None:
        self.root = root
        self.pos_label = pos_label

    @classmethod
    def from_estimator(cls, estimator: Any, *, decimals: int = 2, ax: Any = None) -> AlternatingTreeDisplay:
        """Draw a fitted `AlternatingTreeClassifier`.

        Parameters
        ----------
        estimator : AlternatingTreeClassifier
            A fitted one.
        decimals : int, default=2
            Digits behind the point.
        ax : matplotlib Axes or None, default=None
            Where; None makes a figure that is large enough.
        """
        if not hasattr(estimator, "tree") or not hasattr(estimator, "plot_tree"):
            name = type(estimator).__name__
            raise InputError(f"estimator is a {name}, which is no alternating tree. Fit an AlternatingTreeClassifier.")
        check_is_fitted(estimator)
        return cls(root=estimator.tree(), pos_label=estimator.pos_label_).plot(ax, decimals=decimals)

    def plot(self, ax: Any = None, *, decimals: int = 2) -> AlternatingTreeDisplay:
        """Draw it; parameters as in `from_estimator`."""
        import_pyplot()
        self.ax_ = draw(self.root, ax, decimals, f"Positive numbers speak for {told(self.pos_label)}")
        self.figure_ = self.ax_.figure
        return self
