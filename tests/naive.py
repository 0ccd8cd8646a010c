"""The oracle: stump search and boosting in plain Python, one example at a time, straight from the definitions.

Nothing here is shared with the library, and nothing is fast.
"""

from __future__ import annotations

import itertools
import math


def leaf_loss(criterion: str, a: float, b: float, sign: int = 0) -> float:
    """A leaf with weight a of negatives and b of positives."""
    if criterion == "error":
        return a if sign > 0 else b
    if criterion == "gini":
        total = a + b
        return 0.0 if total == 0 else total * (1 - (a / total) ** 2 - (b / total) ** 2)
    if criterion == "entropy":
        return sum(-w * math.log(w / (a + b)) for w in (a, b) if w > 0)
    if criterion == "z":
        return 2 * math.sqrt(a * b)
    if criterion == "zbar":
        return 2 * math.sqrt(a * b) if (b >= a) == (sign > 0) or a == b else a + b
    if criterion == "zbar_printed":  # the value ±|½ ln(W+ / W-)|
        if (b >= a) == (sign > 0) or a == b:
            return 2 * math.sqrt(a * b)
        return (a * a + b * b) / math.sqrt(a * b) if a * b > 0 else math.inf
    raise ValueError(criterion)


def sides(column, go_left, missing_to, y, w):
    """W-, W+ of the left and right side, and of what abstains."""
    sums = {"left": [0.0, 0.0], "right": [0.0, 0.0], "none": [0.0, 0.0]}
    for x, label, weight in zip(column, y, w):
        side = missing_to if x is None else ("left" if go_left(x) else "right")
        sums[side][int(label > 0)] += weight
    return sums["left"], sums["right"], sums["none"]


def thresholds(column):
    values = sorted({x for x in column if x is not None})
    return [(a + b) / 2 for a, b in itertools.pairwise(values)]


def candidates(columns, nominal, missing, y):
    """Every test of every feature: (feature, description, go_left, where missing goes)."""
    for j, column in enumerate(columns):
        has_missing = any(x is None for x in column)
        if missing == "abstain":
            ways = ["none"]
        else:
            ways = ["left", "right"] if has_missing else ["left"]
        if nominal[j]:
            values = sorted({x for x in column if x is not None})
            for size in range(1, len(values)):
                for left in itertools.combinations(values, size):
                    for way in ways:
                        yield j, frozenset(left), frozenset(left).__contains__, way
            if has_missing and missing == "learn":
                yield j, frozenset(values), frozenset(values).__contains__, "right"
            continue
        for t in thresholds(column):
            for way in ways:
                yield j, t, (lambda x, t=t: x <= t), way
        if has_missing and missing == "learn":
            yield j, math.inf, (lambda x: True), "right"


def best_value(columns, nominal, missing, criterion, y, w):
    """The lowest criterion of all splits, however it is reached."""
    best = math.inf
    for j, _test, go_left, way in candidates(columns, nominal, missing, y):
        (a, b), (c, d), (e, f) = sides(columns[j], go_left, way, y, w)
        if a + b == 0 or c + d == 0:
            continue
        half = (e + f) / 2
        rest = leaf_loss(criterion, half, half, 1)
        for sign in (1, -1):
            best = min(best, leaf_loss(criterion, a, b, -sign) + leaf_loss(criterion, c, d, sign) + rest)
    return best


def boost_stumps(X, y, n_rounds, variant):
    """F on the training rows after every round, for complete numeric data and labels -1, +1."""
    n = len(y)
    w = [1 / n] * n
    F = [0.0] * n
    out = []
    criterion = {"ada": "error", "real": "z", "gentle": "gini"}[variant]
    for _ in range(n_rounds):
        best = None
        for j in range(len(X[0])):
            column = [row[j] for row in X]
            for t in thresholds(column):
                (a, b), (c, d), _none = sides(column, lambda x, t=t: x <= t, "none", y, w)
                for sign in (1, -1):
                    value = leaf_loss(criterion, a, b, -sign) + leaf_loss(criterion, c, d, sign)
                    if best is None or value < best[0] - 1e-12:
                        best = (value, j, t, sign, (a, b), (c, d))
        _, j, t, sign, (a, b), (c, d) = best
        if variant == "ada":
            error = b + c if sign > 0 else a + d
            alpha = 0.5 * math.log((1 - error) / error)
            left, right = -sign * alpha, sign * alpha
        elif variant == "real":
            left = 0.5 * math.log((b + 1 / n) / (a + 1 / n))
            right = 0.5 * math.log((d + 1 / n) / (c + 1 / n))
        else:
            left, right = (b - a) / (a + b), (d - c) / (c + d)
        g = [left if row[j] <= t else right for row in X]
        F = [f + v for f, v in zip(F, g)]
        w = [weight * math.exp(-label * v) for weight, label, v in zip(w, y, g)]
        total = sum(w)
        w = [weight / total for weight in w]
        out.append(list(F))
    return out
