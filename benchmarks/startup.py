"""What a new process waits for: importing the package, and a first fit on a small table.

Compared with scikit-learn's own in the same run. Each time is the median of fresh processes, interleaved.

Run with: make benchmark
"""

from __future__ import annotations

import subprocess
import sys
import time

import numpy as np

REPEATS = 9
TASKS = {
    "import sklearn": "import sklearn",
    "import skewboost": "import skewboost",
    "from sklearn.ensemble import AdaBoostClassifier": "from sklearn.ensemble import AdaBoostClassifier",
    "from skewboost import AdaBoostClassifier": "from skewboost import AdaBoostClassifier",
    "skewboost: import and fit 1000 x 10, 100 rounds": (
        "import numpy as np; from skewboost import RealBoostClassifier; "
        "X = np.random.default_rng(0).normal(size=(1000, 10)); RealBoostClassifier().fit(X, X[:, 0] > 1)"
    ),
    "HistGradientBoosting: the same": (
        "import numpy as np; from sklearn.ensemble import HistGradientBoostingClassifier; "
        "X = np.random.default_rng(0).normal(size=(1000, 10)); HistGradientBoostingClassifier().fit(X, X[:, 0] > 1)"
    ),
}


def main() -> None:
    times: dict[str, list[float]] = {name: [] for name in TASKS}
    for _ in range(REPEATS + 1):
        for name, code in TASKS.items():
            started = time.perf_counter()
            subprocess.run([sys.executable, "-c", code], check=True)
            times[name].append(time.perf_counter() - started)
    found = {name: float(np.median(t[1:])) for name, t in times.items()}
    for name, t in found.items():
        print(f"{name:<52} {t:6.3f} s")
    names = list(TASKS)
    print(f"\nimport skewboost / import sklearn: {found[names[1]] / found[names[0]]:.2f}x   (bar: below 1.2x)")
    print(f"AdaBoostClassifier here / there:   {found[names[3]] / found[names[2]]:.2f}x   (bar: below 1.2x)")
    print(f"first fit here / there:            {found[names[4]] / found[names[5]]:.2f}x   (bar: at most 1x)")


if __name__ == "__main__":
    main()
