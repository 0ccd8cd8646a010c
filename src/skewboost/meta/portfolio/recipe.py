"""The families of members, and how much of each is trained.

The values were chosen by ablation on lopsided tables of 150 to 13 000 rows: docs/portfolio.md has the measurements. Few
of them matter much. What matters is that boosters and forests are combined, that thresholds are drawn at random, and
that all weights come from out-of-fold predictions.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from skewboost.engine.newton import TreeSettings
from skewboost.engine.portfolio import BOOSTER, FOREST, MemberSettings

EFFORTS = ("quick", "default", "thorough")
MAX_ROUNDS = 1000
ROUNDS_AT_A_TIME = 25
# A family stops if the loss did not decrease for this many rounds, or for this share of the best number of rounds, …
PATIENCE = 40
PATIENCE_SHARE = 0.3
# … or if it decreased by less than this share of the initial loss over the last rounds, as on separable classes.
SLOW_ROUNDS, SLOW_DECREASE = 50, 0.002
MANY_ROWS, VERY_MANY_ROWS = 2000, 40_000
ENOUGH_EXAMPLES = 300  # of the rarest class, to choose rounds and weights by
ROWS_OF_A_TREE = 20_000  # of a forest


@dataclass(frozen=True)
class Family:
    """Members that differ in their seeds only."""

    name: str
    settings: MemberSettings
    n_members: int  # of a booster: fitted to all rows; of a forest: that share its trees
    n_trees: int = 0  # of a forest
    components: bool = False  # whether the trees know the principal components of the columns, too

    @property
    def is_forest(self) -> bool:
        """Whether the members are forests."""
        return self.settings.kind == FOREST


@dataclass(frozen=True)
class Recipe:
    """What is trained."""

    families: tuple[Family, ...]
    n_folds: int
    n_repeats: int
    n_held_out: int = 0  # of the folds, those that boosters are validated on; 0: all
    regression: bool = True  # whether there is a logistic regression, too


def recipe_for(
    effort: str, n_rows: int, n_rare: int, n_features: int, tree: TreeSettings, n_components: int = 0
) -> Recipe:
    """Return the recipe for a table, given its number of examples, of those of the rarest class, and of columns.

    `tree` has the constraints that all trees must respect. `n_components` is the number of principal components, if
    these may be used.
    """
    # CatBoost's edge on small tables is mostly its rate, which grows with the fourth root of the number of rows
    rate = min(0.12, 0.05 * (n_rows / 200) ** 0.25)
    # some thousand rows do as well with fewer and larger steps; more rows gain by smaller ones, and time allows them
    rate *= min(1.6, max(1.0, (n_rows / 1000) ** 0.4), max(1.25, 1.6 * math.sqrt(6000 / n_rows)))
    rate = min(0.25, rate * max(1.0, math.sqrt(n_rows / 50_000)))  # and then time matters more
    # more rows can tell more leaves apart, and then fewer rounds are needed
    leaves = min(64, int(8 * max(1.0, math.sqrt(n_rows / 4000))))
    boosted = replace(tree, max_leaves=leaves, columns_of_tree=0.6, l2=2.0, min_hessian=1e-3)
    bagged = replace(tree, max_leaves=0, min_hessian=0.5)
    slow = MemberSettings(BOOSTER, boosted, row_fraction=0.8, learning_rate=0.5 * rate)
    fast = MemberSettings(BOOSTER, replace(boosted, random_thresholds=True), row_fraction=0.5, learning_rate=rate)
    # trees of a forest on some of many rows are as good, because there are other trees for the others
    part = max(ROWS_OF_A_TREE / n_rows, ENOUGH_EXAMPLES / n_rare)
    part = part if part < 0.5 else 1.0
    random_forest = MemberSettings(
        FOREST, replace(bagged, columns_of_node=1.0 / math.sqrt(n_features)), row_fraction=part
    )
    extra_trees, with_components = (
        MemberSettings(FOREST, replace(bagged, columns_of_node=_wide(n), random_thresholds=True), row_fraction=part)
        for n in (n_features, n_features + n_components)
    )
    n_trees = {"quick": 200, "default": 560, "thorough": 1120}[effort]
    if n_rows > 1000:  # more rows need fewer trees
        n_trees = max(96, int(n_trees * (1000 / n_rows) ** 0.8) // 8 * 8)
    # the seeds of members hardly matter on many rows
    n_members = {"quick": 1, "default": 3 if n_rows <= 2000 else 2 if n_rows <= 20_000 else 1, "thorough": 8}[effort]
    families = [Family("boosted trees, random thresholds", fast, n_members)]
    forests = [
        Family("forest, random thresholds", extra_trees, 8, n_trees),
        Family("forest, best thresholds", random_forest, 8, n_trees // 16 * 8),
    ]
    if n_components:
        forests[1:] = [Family("forest with principal components", with_components, 8, n_trees, components=True)]
    if effort == "quick":
        families += [forests[-1] if n_components else forests[0]]
    else:
        families += [forests[0], Family("boosted trees, best thresholds", slow, n_members), forests[1]]
    if effort == "thorough":
        large = replace(fast, tree=replace(fast.tree, max_leaves=3 * leaves))
        small = replace(slow, tree=replace(boosted, max_leaves=3))
        families += [
            Family("large boosted trees, random thresholds", large, n_members),
            Family("boosted trees of three leaves", small, n_members),
        ]
    if tree.interactions:  # the log-odds of a mean of trees have interactions that none of the trees has
        families = [family for family in families if not family.is_forest]
    n_folds = min(n_rare, {"quick": 4, "default": 8 if n_rows <= 1000 else 5, "thorough": 8}[effort])
    n_repeats = 3 if effort == "thorough" and n_rare < 100 else 1
    n_held_out = 0
    if effort != "thorough" and n_rows > MANY_ROWS:  # some of the folds have enough rows to judge by
        least = 3 if n_rows <= VERY_MANY_ROWS else 1
        n_held_out = min(n_folds, max(least, math.ceil(n_folds * ENOUGH_EXAMPLES / n_rare)))
    return Recipe(tuple(families), n_folds, n_repeats, n_held_out)


def _wide(n_columns: int) -> float:
    """Return the share of columns to draw: of many, a random threshold in each would leave little that is random."""
    return min(1.0, (16 + max(0, n_columns - 16) / 4) / n_columns)
