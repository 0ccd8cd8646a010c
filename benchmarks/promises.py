"""How often is a promise with confidence 0.9 broken? Simulated where the truth is known.

600 repetitions of 400 rows, a fifth of them positive, for every goal and everything that can be tuned. Printed: the
share of all repetitions in which a goal was certified but is not met by the returned decisions (at most 0.1 is
allowed), and in brackets the share in which one was certified at all.

    python benchmarks/promises.py            a quarter of an hour
    python benchmarks/promises.py 50         so many repetitions
"""

from __future__ import annotations

import sys
from pathlib import Path

from joblib import Parallel, delayed

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from goals.promises import GOALS, broken_promises

TUNE = ("threshold", "cost", "both")


def main() -> None:
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 600
    jobs = [(goal, params, tune) for goal, params in GOALS for tune in TUNE]
    found = Parallel(n_jobs=2)(delayed(broken_promises)(goal, tune, n, 400, **params) for goal, params, tune in jobs)
    print(f"| goal, {n} repetitions | " + " | ".join(f"`{tune!r}`" for tune in TUNE) + " |\n|---|---|---|---|")
    for k, (goal, _) in enumerate(GOALS):
        cells = [f"{broken / n:.3f} ({made / n:.2f})" for made, broken, _ in found[3 * k : 3 * k + 3]]
        print(f"| `{goal}` | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
