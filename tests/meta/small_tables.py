"""Small, degenerate and noisy tables: draws of training rows and of new rows from the same source."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np


class Draw(NamedTuple):
    """Training rows, what else `fit` is told of them, and new rows."""

    X: np.ndarray
    y: np.ndarray
    told: dict[str, Any]
    X_new: np.ndarray
    y_new: np.ndarray


N_NEW = 2000


def of_source(some, n, told=None):
    """A draw of n rows of at least two classes, and of new ones."""

    def draw(rng):
        X, y = some(rng, n)
        while len(np.unique(y)) < 2:
            X, y = some(rng, n)
        return Draw(X, y, told(rng, y) if told else {}, *some(rng, N_NEW))

    return draw


def rows(n, prior=0.3, signal=0.0):
    def some(rng, m):
        y = (rng.random(m) < prior).astype(int)
        X = rng.normal(size=(m, 3))
        X[:, 0] += signal * y
        return X, y

    return of_source(some, n)


def positives(n, n_positives, signal):
    """So many positives among n rows, and the same share among new ones."""

    def some(rng, m):
        y = (np.arange(m) < round(n_positives * m / n)).astype(int)
        X = rng.normal(size=(m, 3))
        X[:, 0] += signal * y
        return X, y

    return of_source(some, n)


def groups(n_groups, of_one_class, n_rows=5):
    """Groups that differ more than their rows; the class is a matter of the group, or of the row and one column."""

    def some(rng, m):
        group = np.repeat(np.arange(m // n_rows), n_rows)
        X = 3.0 * rng.normal(size=(m // n_rows, 3))[group] + rng.normal(size=(len(group), 3))
        if of_one_class:
            return X, (rng.random(m // n_rows) < 0.4).astype(int)[group]
        y = (rng.random(len(group)) < 0.3).astype(int)
        X[:, 0] += y
        return X, y

    return of_source(some, n_rows * n_groups, lambda rng, y: {"groups": np.arange(len(y)) // n_rows})


def distinct(n_distinct, sure):
    """Fifty rows, few of them different; each decides the class, or says nothing about it."""

    def draw(rng):
        contents = rng.normal(size=(n_distinct, 3))
        chance = (np.arange(n_distinct) < max(1, n_distinct // 3)) if sure else np.full(n_distinct, 0.3)

        def some(rng, m):
            k = rng.integers(0, n_distinct, m)
            return contents[k], (rng.random(m) < chance[k]).astype(int)

        return of_source(some, 50)(rng)

    return draw


def label_as_column(n):
    def some(rng, m):
        y = (rng.random(m) < 0.3).astype(int)
        return y[:, None].astype(float), y

    return of_source(some, n)


def few_with_weight(n):
    """Two hundred rows, of which n have a weight."""

    def some(rng, m):
        return rng.normal(size=(m, 3)), rng.integers(0, 2, m)

    def told(rng, y):
        weights = np.zeros(len(y))
        for k in (0, 1):
            weights[np.flatnonzero(y == k)[: n // 2]] = 1.0
        return {"sample_weight": weights}

    return of_source(some, 200, told)


def classes(n, n_classes, signal):
    def draw(rng):
        def some(m):
            y = rng.integers(0, n_classes, m)
            y[:n_classes] = np.arange(n_classes)
            X = rng.normal(size=(m, 3))
            X[:, 0] += signal * y
            return X, y

        return Draw(*some(n), {}, *some(N_NEW))

    return draw


def noisy_copies(n, signal):
    """Every row five times, and a few labels wrong."""

    def some(rng, m):
        X = rng.normal(size=(m, 3))
        y = rng.random(m) < 1 / (1 + np.exp(1.5 - signal * X[:, 0]))
        return X, y

    def draw(rng):
        X, y = some(rng, n)
        X_new, y_new = some(rng, N_NEW)
        X, y = np.repeat(X, 5, axis=0), np.repeat(y, 5)
        return Draw(
            X,
            (y ^ (rng.random(len(y)) < 0.03)).astype(int),
            {},
            X_new,
            (y_new ^ (rng.random(N_NEW) < 0.03)).astype(int),
        )

    return draw


TABLES = {
    **{f"{n} rows of noise": rows(n) for n in (2, 3, 4, 5, 8, 12, 20, 30, 50)},
    **{f"{n} rows": rows(n, signal=1.5) for n in (2, 3, 4, 5, 8, 12, 20, 30, 50)},
    **{f"one positive of {n}": positives(n, 1, signal) for n, signal in ((5, 0), (10, 2), (20, 0), (50, 2))},
    "two positives of 50": positives(50, 2, 2.0),
    "five positives of 80, noise": positives(80, 5, 0.0),
    **{f"{g} groups of one class": groups(g, of_one_class=True) for g in (2, 3, 4, 6, 8, 10)},
    **{f"{g} groups of both classes": groups(g, of_one_class=False) for g in (2, 3, 4, 6, 8, 10)},
    "20 groups of 20 rows of one class": groups(20, of_one_class=True, n_rows=20),
    **{f"{k} distinct rows of noise": distinct(k, sure=False) for k in (1, 2, 3, 5, 10)},
    **{f"{k} distinct rows that decide": distinct(k, sure=True) for k in (2, 3, 5, 10)},
    **{f"{n} rows with the label as a column": label_as_column(n) for n in (2, 3, 5, 10, 20, 50)},
    **{f"{n} rows with a weight": few_with_weight(n) for n in (2, 4, 8)},
    **{f"{k} classes, {n} rows of noise": classes(n, k, 0.0) for n, k in ((6, 3), (12, 3), (10, 10), (50, 5))},
    **{f"{k} classes, {n} rows": classes(n, k, 1.0) for n, k in ((12, 3), (30, 10), (50, 5))},
    "five noisy copies of 40 rows": noisy_copies(40, 0.0),
    "five noisy copies of 200 rows": noisy_copies(200, 0.0),
    "five noisy copies of 200 rows with a signal": noisy_copies(200, 1.0),
}


def excess(clf, draw):
    """By which share the log-loss of new rows exceeds that of the class frequencies, and the latter."""
    clf.fit(draw.X, draw.y, **draw.told)
    known = np.isin(draw.y_new, clf.classes_)
    X_new, codes = draw.X_new[known], np.searchsorted(clf.classes_, draw.y_new[known])
    p = clf.predict_proba(X_new)
    assert np.isfinite(p).all()
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    loss = -clf.predict_log_proba(X_new)[np.arange(len(codes)), codes].mean()
    weights = draw.told.get("sample_weight", np.ones(len(draw.y)))
    shares = np.array([weights[draw.y == k].sum() for k in clf.classes_]) / weights.sum()
    constant = -np.log(shares)[codes].mean()
    return loss / constant - 1.0, constant
