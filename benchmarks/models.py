"""Model files: how large they are, and how long it takes to write and to read them.

Run with: make benchmark-models
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from data import seconds
from skewboost import CSRAClassifier, SkewBoostClassifier, io
from skewboost.datasets import make_fraud

MODELS = {
    "1000 rounds of stumps": CSRAClassifier(n_estimators=1000),
    "200 trees of 8 leaves": CSRAClassifier(estimator="tree", n_estimators=200),
    "`SkewBoostClassifier`": SkewBoostClassifier(random_state=0),
}


def main() -> None:
    X, y = make_fraud(20_000)
    print("| model | `.json` | `.json.gz` | `save` | `load` |\n|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        plain, packed = Path(folder, "m.json"), Path(folder, "m.json.gz")
        for name, model in MODELS.items():
            model.fit(X, y)
            io.save(model, packed)
            times = [seconds(lambda m=model: io.save(m, plain)), seconds(lambda: io.load(plain))]
            sizes = [f"{path.stat().st_size / 1000:.0f} kB" for path in (plain, packed)]
            print(f"| {name} | {' | '.join(sizes)} | {' | '.join(f'{t:.2f} s' for t in times)} |")


if __name__ == "__main__":
    main()
