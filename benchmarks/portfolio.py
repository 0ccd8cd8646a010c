"""What the ingredients of SkewBoostClassifier are worth, and what more or less effort buys.

    python benchmarks/portfolio.py            # the ablation of docs/portfolio.md: an hour
    python benchmarks/portfolio.py --effort   # quick, default and thorough: an hour
    python benchmarks/portfolio.py --peers    # the table of the README: peers that are installed, side by side
    python benchmarks/portfolio.py --other    # SkewBoost and CatBoost on other tables of the papers
    python benchmarks/portfolio.py --confirmation  # peers on tables that had no part in the choice of defaults
    python benchmarks/portfolio.py --costs    # costs in the training as well as in the decision
    python benchmarks/portfolio.py --sets pima,haberman

The tables are those of the protocol `quality.py`, which is looked for in ../shared and not shipped. Every variant is
fitted to the same five folds of every table. Costs are normalised: 0 is perfect, 1 is the better of "flag all" and
"flag none". Differences from the default are paired by table; ± is their standard error. Every fold is kept in a file,
and a run goes on where it stopped.

The other tables (`--other`) are those of the papers that `quality.py` does not use. Most of them are nearly balanced,
so positives are left out at random until they have the share that `OTHER` names, before anything is fitted. The tables
of `--confirmation`, and those that helped to choose the defaults beside the ones of `quality.py`, are in
`keel_tables.py`.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from unittest.mock import patch

import numpy as np
from sklearn.metrics import average_precision_score, log_loss
from sklearn.model_selection import StratifiedKFold

import keel_tables
from repetitions import RESULTS, repeated
from skewboost import SkewBoostClassifier
from skewboost.meta.portfolio import portfolio_classifier, portfolio_training
from skewboost.meta.portfolio.recipe import Family, Recipe, recipe_for

SHARED = Path(__file__).resolve().parents[2] / "shared"
COLUMNS = ("AP", "log-loss", "f=2", "f=5", "f=10", "f=R", "seconds")
N_FOLDS = 5
SLOW = ("sylva",)  # left out of the ablation


def only(condition: Callable[[Family], bool]) -> Callable[[Recipe], Recipe]:
    """Keep some of the families."""
    return lambda recipe: replace(recipe, families=tuple(filter(condition, recipe.families)))


def tree_setting(**changes: float) -> Callable[[Recipe], Recipe]:
    """Change how the trees of boosters are grown."""

    def changed(family: Family) -> Family:
        tree = replace(family.settings.tree, **changes)
        return family if family.is_forest else replace(family, settings=replace(family.settings, tree=tree))

    return lambda recipe: replace(recipe, families=tuple(map(changed, recipe.families)))


def member_setting(**changes: float) -> Callable[[Recipe], Recipe]:
    """Change how boosters are trained."""

    def changed(family: Family) -> Family:
        return family if family.is_forest else replace(family, settings=replace(family.settings, **changes))

    return lambda recipe: replace(recipe, families=tuple(map(changed, recipe.families)))


def slower(recipe: Recipe) -> Recipe:
    """Halve the learning rates."""

    def changed(family: Family) -> Family:
        settings = replace(family.settings, learning_rate=family.settings.learning_rate / 2)
        return family if family.is_forest else replace(family, settings=settings)

    return replace(recipe, families=tuple(map(changed, recipe.families)))


def one_member(recipe: Recipe) -> Recipe:
    """Fit one booster of each family to all rows instead of three."""
    families = (f if f.is_forest else replace(f, n_members=1) for f in recipe.families)
    return replace(recipe, families=tuple(families))


def equal_weights(scores, classes, weights):
    """Weight all families equally."""
    return np.full(len(scores), 1.0 / len(scores)), np.zeros(scores.shape[2])


ABLATION: dict[str, Callable[[Recipe], Recipe]] = {
    "default": lambda recipe: recipe,
    "without forests": only(lambda family: not family.is_forest),
    "without boosters": only(lambda family: family.is_forest),
    "without random thresholds": only(lambda family: not family.settings.tree.random_thresholds),
    "without logistic regression": lambda recipe: replace(recipe, regression=False),
    "without principal components": lambda recipe: recipe,
    "only boosters with random thresholds": only(
        lambda family: family.settings.tree.random_thresholds and not family.is_forest
    ),
    "only boosters with best thresholds": only(
        lambda family: not family.settings.tree.random_thresholds and not family.is_forest
    ),
    "equal weights": lambda recipe: recipe,
    "no L2 penalty": tree_setting(l2=0.0),
    "all columns": tree_setting(columns_of_tree=1.0),
    "all rows": member_setting(row_fraction=1.0),
    "half the learning rate": slower,
    "one booster instead of three": one_member,
    "four folds": lambda recipe: replace(recipe, n_folds=min(4, recipe.n_folds)),
}
EFFORTS = ("quick", "default", "thorough")
# the share of positives that is kept, and the number of rows before that; None: all
OTHER: dict[str, tuple[float | None, int | None]] = {
    "bupa_liver": (0.1, None), "wdbc": (0.05, None), "wisconsin_original": (0.05, None), "sonar": (0.15, None),
    "cleveland_heart": (0.1, None), "tic_tac_toe": (0.06, None), "kr_vs_kp": (0.02, None), "wpbc": (None, None),
    "ida_banana": (0.03, None), "ida_breast_cancer": (0.12, None), "ida_image": (0.04, None),
    "ida_titanic": (0.08, None), "ida_waveform": (0.05, None), "breast_cancer_ljubljana": (None, None),
    "echocardiogram": (0.15, None), "skin_segmentation": (0.01, 12_000), "fars_injury": (0.02, 12_000),
    "cbcl_faces_test": (None, 4_000),
}  # fmt: skip
TRAINING_COSTS = {
    "default": 0.0,
    "root of the cost in training": 0.5,
    "cost in training": 1.0,
}  # exponents of the weight
PEERS = "skewboost,catboost,random_forest,xgboost,hist_gradient_boosting,adaboost_sigmoid,lightgbm,lightgbm_spw"


def measures(p, y, ratio):
    """Average precision, log-loss and normalised costs."""
    positives, negatives = (y == 1).sum(), (y == 0).sum()
    found = [average_precision_score(y, p), log_loss(y, np.clip(p, 1e-12, 1 - 1e-12))]
    for f in (2, 5, 10, ratio):
        flagged = p >= 1 / (1 + f)
        cost = (flagged & (y == 0)).sum() + f * (~flagged & (y == 1)).sum()
        found.append(cost / min(f * positives, negatives))
    return [float(value) for value in found]


def other_table(load, name):
    """Return a table of `OTHER`, with a part of its rows and of its positives."""
    return keel_tables.thinned(*load(name), *OTHER[name])


def fold_of(s, k):
    """Return the rows and the ratio of negatives to positives of a table, and its k-th fold."""
    sys.path[:0] = [str(SHARED / "data")]
    from load import load

    warnings.filterwarnings("ignore")
    X, y = load(s)[:2]
    train, test = list(StratifiedKFold(N_FOLDS, shuffle=True, random_state=0).split(X, y))[k]
    return X.iloc[train], y[train], X.iloc[test], y[test], round((y == 0).sum() / (y == 1).sum(), 1)


def costs_in_training(name, s, k):
    """Return the measures of a fold if positives also weigh f = 2, 5, 10 and R, or its root, in training."""
    X, y, X_new, y_new, ratio = fold_of(s, k)
    start, costs = time.perf_counter(), []
    for at, f in enumerate((2, 5, 10, ratio)):
        weight = f ** TRAINING_COSTS[name]
        clf = SkewBoostClassifier(random_state=0, n_jobs=2).fit(X, y, sample_weight=np.where(y == 1, weight, 1.0))
        odds = np.exp(np.diff(clf.predict_log_proba(X_new), axis=1)[:, 0]) / weight
        costs.append(measures(odds / (1 + odds), y_new, ratio)[2 + at])
    return [*measures(odds / (1 + odds), y_new, ratio)[:2], *costs, time.perf_counter() - start]


def variant(name, s, k):
    """Return the measures of a fold, and the time, of a variant."""
    X, y, X_new, y_new, ratio = fold_of(s, k)
    clf = SkewBoostClassifier(random_state=0, n_jobs=2, effort=name if name in EFFORTS else "default")
    change = ABLATION.get(name, lambda recipe: recipe)
    n_given = 5 if name == "without principal components" else None  # the last argument is their number
    weights = equal_weights if name == "equal weights" else portfolio_training.fit_weights
    with (
        patch.object(portfolio_classifier, "recipe_for", lambda *given: change(recipe_for(*given[:n_given]))),
        patch.object(portfolio_training, "fit_weights", weights),
    ):
        start = time.perf_counter()
        clf.fit(X, y)
        seconds = time.perf_counter() - start
    return [*measures(clf.predict_proba(X_new)[:, 1], y_new, ratio), seconds]


def report(results, names, reference):
    """Print the means of all variants, and their differences from the reference."""
    sets = sorted(set.intersection(*(set(results[name]) for name in names)))
    print(f"\n{len(sets)} tables\n\n| | {' | '.join(COLUMNS)} |\n|---|{'---|' * len(COLUMNS)}")
    base = np.array([results[reference][s] for s in sets])
    for name in names:
        own = np.array([results[name][s] for s in sets])
        cells = [f"{value:.3f}" for value in own.mean(axis=0)]
        if name != reference and len(sets) > 1:
            off = own - base
            error = off.std(axis=0, ddof=1) / np.sqrt(len(sets))
            pairs = list(zip(cells, off.mean(axis=0), error))
            cells = [f"{cell} ({d:+.3f} ± {e:.3f})" for cell, d, e in pairs[:-1]] + cells[-1:]
        print(f"| {name} | {' | '.join(cells)} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--effort", action="store_true", help="compare quick, default and thorough")
    parser.add_argument("--peers", action="store_true", help="compare with other libraries")
    parser.add_argument("--other", action="store_true", help="compare with CatBoost on other tables")
    parser.add_argument("--confirmation", action="store_true", help="compare with other libraries on tables of KEEL")
    parser.add_argument("--costs", action="store_true", help="compare weights by cost in training")
    parser.add_argument("--sets", default=None, help="names separated by commas")
    parser.add_argument("--variants", default=None, help="names separated by commas")
    parser.add_argument("--results", type=Path, default=RESULTS / "portfolio.jsonl")
    arguments = parser.parse_args()
    if not (SHARED / "quality.py").exists():
        sys.exit("The tables of this benchmark are not shipped: ../shared/quality.py is not there.")
    sys.path[:0] = [str(SHARED), str(SHARED / "data")]
    import quality
    from load import load

    if arguments.peers:
        sys.argv[1:] = ["--models", PEERS, "--out", "peers.jsonl"]
        quality.main()
        return
    if arguments.other:
        chosen = arguments.sets or ",".join(OTHER)
        sys.argv[1:] = ["--models", "skewboost,catboost", "--out", "other.jsonl", "--sets", chosen]
        with patch.object(quality, "load", lambda name: other_table(load, name)):
            quality.main()
        return
    if arguments.confirmation:
        chosen = arguments.sets or ",".join(keel_tables.CONFIRMATION)
        sys.argv[1:] = ["--models", PEERS, "--out", "confirmation.jsonl", "--sets", chosen]
        with patch.object(quality, "load", keel_tables.load):
            quality.main()
        return
    names = list(EFFORTS if arguments.effort else TRAINING_COSTS if arguments.costs else ABLATION)
    if arguments.variants:
        names = [name for name in names if name in ("default", *arguments.variants.split(","))]
    sets = (
        arguments.sets.split(",") if arguments.sets else [s for s in quality.DEV if arguments.effort or s not in SLOW]
    )
    jobs = [(name, s) for name in names for s in sets]
    run = costs_in_training if arguments.costs else variant
    found = repeated(arguments.results, run, jobs, N_FOLDS, computed_by=[Path(__file__)], n_jobs=1)
    results = {name: {} for name in names}
    for (name, s), folds in zip(jobs, found):
        results[name][s] = np.mean(folds, axis=0).tolist()
    report(results, names, "default")


if __name__ == "__main__":
    main()
