"""The memory that a portfolio needs while it is trained, roughly."""

from __future__ import annotations

from skewboost.engine.boundary import N_CODES
from skewboost.engine.table import Table
from skewboost.meta.portfolio.portfolio_training import USUAL_ROUNDS
from skewboost.meta.portfolio.recipe import Recipe

COPIES_OF_CODES = 3  # of a byte per cell: in the order of the table, of the examples, and by row
CACHED = 2.0**22  # bytes of a histogram for one output: larger ones are not kept
ROWS_OF_A_LEAF = 3  # of a forest
REMEDY = "Pass fewer columns or rows, or a lower effort."


def memory_use(table: Table, n_rows: int, n_classes: int, recipe: Recipe, n_jobs: int) -> dict[str, float]:
    """Return the bytes of the large arrays of a fit, by what they hold, given the number of examples."""
    n_columns, bytes_of_a_cell = table.n_features, 8 if table.matrix is None else table.matrix.itemsize
    K, cells = 1 if n_classes == 2 else n_classes, n_rows * n_columns
    n_tables = 1 + any(family.components for family in recipe.families)
    n_codes = min(N_CODES, n_rows)
    n_folds = recipe.n_held_out or recipe.n_folds * recipe.n_repeats
    n_members, n_leaves, histograms = 0, 0.0, 0.0
    for family in recipe.families:
        tree = family.settings.tree
        if family.is_forest:
            n_leaves += family.n_trees * n_rows * family.settings.row_fraction / ROWS_OF_A_LEAF
        else:
            n_members += n_folds + family.n_members
            n_leaves += (n_folds + family.n_members) * USUAL_ROUNDS * tree.max_leaves
            own = 16.0 * K * tree.columns_of_tree * n_columns * n_codes
            histograms = max(histograms, tree.max_leaves * (own if K > 1 else min(own, CACHED)))
    return {
        "copies of the table": float(n_tables * cells * bytes_of_a_cell),
        "codes": float(n_tables * cells * COPIES_OF_CODES),
        "counts of codes": 16.0 * n_tables * n_columns * N_CODES,
        "scores": 8.0 * K * n_rows * (n_members + 2 * n_jobs + len(recipe.families)),
        "histograms": n_jobs * histograms,
        "trees": n_leaves * (8.0 * K + 48.0),
    }
