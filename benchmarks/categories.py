"""Columns of many categories: what target statistics are worth in SkewBoostClassifier.

    python benchmarks/categories.py    # ten minutes

Prints the table of docs/nominal.md: the log-loss on as many new rows as were trained on.
"""

from __future__ import annotations

import warnings
from unittest.mock import patch

import numpy as np
import pandas as pd
from sklearn.metrics import log_loss

from skewboost import SkewBoostClassifier
from skewboost.meta.portfolio import portfolio_classifier, target_statistics

TABLES = (  # ids, rows, whether ids have the frequency 1/rank
    (40, 3_000, True), (100, 3_000, False), (200, 3_000, True), (400, 4_000, True), (5_000, 20_000, False),
    (5_000, 20_000, True),
)  # fmt: skip


def table(n_ids, n_rows, by_rank):
    """Return rows of four numbers and an id with an effect of its own, and their labels."""
    rng = np.random.default_rng(0)
    frequency = 1 / np.arange(1, n_ids + 1) if by_rank else np.ones(n_ids)
    effects = rng.normal(0, 1.2, n_ids)
    own, X = rng.choice(n_ids, n_rows, p=frequency / frequency.sum()), rng.normal(size=(n_rows, 4))
    log_odds = -2.0 + effects[own] + X[:, 0] + X[:, 1] * X[:, 2]
    y = (rng.random(n_rows) < 1 / (1 + np.exp(-log_odds))).astype(int)
    return pd.DataFrame(X, columns=list("abcd")).assign(id=pd.Categorical([f"i{k}" for k in own])), y


def skewboost(X, y, X_new, smoothing):
    """Return probabilities; without statistics if smoothing is None."""
    many = portfolio_classifier.many_categories if smoothing is not None else lambda *_: []
    with (
        patch.object(portfolio_classifier, "many_categories", many),
        patch.multiple(target_statistics, MANY=20, SMOOTHING=smoothing),
    ):
        return SkewBoostClassifier(effort="quick", random_state=0, n_jobs=2).fit(X, y).predict_proba(X_new)


def catboost(X, y, X_new):
    """Return the probabilities of CatBoost's defaults."""
    from catboost import CatBoostClassifier

    made = CatBoostClassifier(verbose=0, thread_count=2, allow_writing_files=False, random_seed=0, cat_features=["id"])
    return made.fit(X, y).predict_proba(X_new)


def main():
    warnings.filterwarnings("ignore")
    for n_ids, n, by_rank in TABLES:
        X, y = table(n_ids, 2 * n, by_rank)
        old, new = X.iloc[:n], X.iloc[n:]
        without = [part.drop(columns="id") for part in (old, new)]
        found = [skewboost(without[0], y[:n], without[1], None), skewboost(old, y[:n], new, None)]
        found += [skewboost(old, y[:n], new, smoothing) for smoothing in (1.0, 10.0, 30.0)]
        found.append(catboost(old, y[:n], new))
        cells = " | ".join(f"{log_loss(y[n:], p):.4f}" for p in found)
        ids = f"{n_ids}, {'frequency 1/rank' if by_rank else 'equally frequent'}"
        print(f"| {ids} | {n} | {cells} |", flush=True)


if __name__ == "__main__":
    main()
