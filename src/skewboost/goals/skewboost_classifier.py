"""The classifier to take: costs or a goal, and everything else by default."""

from __future__ import annotations

from dataclasses import dataclass

from skewboost.meta.portfolio.portfolio_classifier import PortfolioClassifier


@dataclass(kw_only=True, eq=False, repr=False)
class SkewBoostClassifier(PortfolioClassifier):
    """A portfolio of boosted trees and forests, weighted by evidence, that decides by expected cost."""
