"""Do variants decide at the cost that they are asked for? Realised against asked costs where the truth is known.

    python benchmarks/asked_costs.py    # a minute

Two Gaussians, one in five rows positive, three more columns of noise; 100 stumps. The realised cost is the cost ratio
for which the Bayes rule flags as many of 50 000 new rows as the variant does. The regret is the expected cost of the
decisions, by the true probabilities, minus that of the Bayes rule, divided by the cost of the better of "flag all" and
"flag none". Variants whose cost enters in every round are also asked for its 100th root, as the catalogue advises.
"""

from __future__ import annotations

import warnings

import numpy as np
from scipy.special import expit

import skewboost
from skewboost.boosting.catalogue import COMPOUND

ROUNDS, PRIOR, COSTS = 100, 0.2, (2.0, 5.0, 20.0)


def rows(n: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows, labels, and the true probability of the positive class."""
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < PRIOR).astype(int)
    X = rng.normal(size=(n, 5))
    X[:, :2] += 0.8 * y[:, None]
    log_odds = np.log(PRIOR / (1 - PRIOR)) + (0.8 * X[:, :2] - 0.32).sum(axis=1)
    return X, y, expit(log_odds)


def realised(flagged: np.ndarray, p: np.ndarray, cost: float) -> tuple[float, float]:
    """The realised cost ratio, and the regret."""
    n = int(flagged.sum())
    ordered = np.sort(p)[::-1]
    threshold = 1.0 if n == 0 else ordered[n - 1]
    ratio = np.inf if n == len(p) else 0.0 if n == 0 else (1 - threshold) / threshold
    spent = np.where(flagged, 1 - p, cost * p).mean()
    regret = (spent - np.minimum(1 - p, cost * p).mean()) / min((1 - p).mean(), cost * p.mean())
    return float(ratio), float(regret)


def main() -> None:
    warnings.filterwarnings("ignore")
    X, y, _ = rows(4000, 0)
    X_new, _, p = rows(50_000, 1)
    print(f"{'':<28}" + "".join(f"  asked {cost:<4g} regret" for cost in COSTS))
    for entry in (e for e in skewboost.catalogue() if e.cost_sensitive):
        for root in (1, ROUNDS) if entry.costs == COMPOUND else (1,):
            found = [
                realised(
                    entry.make(ROUNDS, cost=cost ** (1 / root), pos_label=1).fit(X, y).predict(X_new) == 1, p, cost
                )
                for cost in COSTS
            ]
            cells = "".join(f"  {ratio:>10.3g} {regret:>6.3f}" for ratio, regret in found)
            print(f"{entry.name + (', root' if root > 1 else ''):<28}{cells}", flush=True)


if __name__ == "__main__":
    main()
