"""The time of a round, for every variant: against AdaBoost where it can use the same shortcut, else against LogitBoost.

200 000 x 30 float32, 2 % positives, stumps, two threads. A round takes what more rounds take longer: the difference of
two fits, each the best of the repeats, all taking turns. A ratio above 1 says that the variant is slower.

Run with: make benchmark-catalogue
"""

from __future__ import annotations

import sys

import skewboost
from data import imbalanced, side_by_side

THREADS = 2
SHORT, LONG = 20, 80
REPEATS = 4


def main(names: list[str]) -> None:
    X, y = imbalanced(200_000, 30)
    entries = [e for e in skewboost.catalogue() if not names or e.name in (*names, "AdaBoost", "LogitBoost")]
    fits = []
    for entry in entries:
        kwargs = {"cost": 2.0} if entry.cost_sensitive else {}
        for n in (SHORT, LONG):
            clf = entry.estimator(n_estimators=n, n_jobs=THREADS, engine="cpu", **kwargs)
            clf.fit(X[:5000], y[:5000])  # compiled code is warm
            fits.append(lambda clf=clf: clf.fit(X, y))
    times = side_by_side(fits, REPEATS)
    rounds = {
        entry.name: (long - short) / (LONG - SHORT) for entry, short, long in zip(entries, times[::2], times[1::2])
    }
    print(f"{'':<24} {'a round':>10} {'ratio':>8}   to             bar")
    for entry in sorted(entries, key=lambda e: (not e.shortcut, rounds[e.name])):
        peer = "AdaBoost" if entry.shortcut else "LogitBoost"
        bar = "3x" if not entry.shortcut or entry.name == "CSAdaBoost" else "1.3x"
        ratio = rounds[entry.name] / rounds[peer]
        print(f"{entry.name:<24} {1e3 * rounds[entry.name]:7.2f} ms {ratio:7.2f}x   {peer:<14} {bar}")


if __name__ == "__main__":
    main(sys.argv[1:])
