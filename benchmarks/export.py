"""Exported programs against `predict`: time per row, size, time to compile. Prints a table and ratios.

Each time is the shortest processor time of five runs, on one thread. Needs gcc, onnx and onnxruntime.

Run with: make benchmark-export
"""

from __future__ import annotations

import argparse
import resource
import sqlite3
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
from sklearn.datasets import load_digits, load_iris

from skewboost import RealBoostClassifier, SkewBoostClassifier
from skewboost.datasets import make_fraud
from skewboost.errors import InputError
from skewboost.io import to_onnx, to_source
from skewboost.io.export.reading import read_formula
from skewboost.learners import Tree

HARNESS = """
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
int main(int argc, char **argv)
{
    int n = atoi(argv[2]), d = atoi(argv[3]);
    double *X = malloc(sizeof(double) * n * d), best = 1e9;
    FILE *file = fopen(argv[1], "rb");
    if (argc < 4 || fread(X, sizeof(double), (size_t)n * d, file) != (size_t)n * d) return 1;
    long positives = 0;
    for (int repeat = 0; repeat < 5; repeat++) {
        struct timespec a, b;
        positives = 0;
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &a);
        for (int i = 0; i < n; i++) positives += predict(X + (size_t)i * d);
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &b);
        double took = (b.tv_sec - a.tv_sec) + 1e-9 * (b.tv_nsec - a.tv_nsec);
        if (took < best) best = took;
    }
    printf("%.9g %ld", best / n, positives);
    return 0;
}
"""


def processor_time() -> float:
    """Seconds that the processor worked for this program and those that it started."""
    started = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + started.ru_utime + started.ru_stime


def best(call: Callable[[], Any], repeats: int = 5) -> float:
    """The shortest of some runs, in seconds."""
    times = []
    for _ in range(repeats):
        start = processor_time()
        call()
        times.append(processor_time() - start)
    return min(times)


def seconds_in_c(source: str, X: np.ndarray) -> tuple[float, float, int]:
    """Time to compile, time per row, and how many rows are positive."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "model.c").write_text(source)
        compiling = best(
            lambda: subprocess.run(["gcc", "-O2", "-c", "model.c", "-o", "model.o"], cwd=folder, check=True), 1
        )
        (folder / "main.c").write_text("#define _POSIX_C_SOURCE 199309L\nint predict(const double *x);\n" + HARNESS)
        subprocess.run(["gcc", "-O2", "main.c", "model.o", "-o", "main", "-lm"], cwd=folder, check=True)
        (folder / "X").write_bytes(np.ascontiguousarray(X).tobytes())
        said = subprocess.run(
            [str(folder / "main"), str(folder / "X"), str(len(X)), str(X.shape[1])],
            check=True,
            capture_output=True,
            text=True,
        ).stdout.split()
    return compiling, float(said[0]), int(said[1])


def seconds_in_sqlite(model: Any, X: np.ndarray) -> tuple[float, int]:
    """Time per row, and how many rows are positive."""
    connection, d = sqlite3.connect(":memory:"), X.shape[1]
    connection.execute(f"CREATE TABLE data ({', '.join(f'x{j} REAL' for j in range(d))})")
    connection.executemany(f"INSERT INTO data VALUES ({', '.join('?' * d)})", X.tolist())
    query = to_source(model, "sql", keep=[])
    took = best(lambda: connection.execute(query).fetchall())
    return took / len(X), sum(row[-1] for row in connection.execute(query))


def measure(name: str, model: Any, X: np.ndarray, n_in_sqlite: int | None = None) -> None:
    sources = {language: to_source(model, language) for language in ("python", "c", "sql")}
    graph = to_onnx(model).SerializeToString()
    labels = model.predict(X)  # compiles what is to be compiled
    batch = best(lambda: model.predict(X)) / len(X)
    single = best(lambda: [model.predict(X[k : k + 1]) for k in range(20)]) / 20
    compiling, in_c, positives = seconds_in_c(sources["c"], X)
    in_sqlite, positives_in_sqlite = seconds_in_sqlite(model, X[:n_in_sqlite])
    assert positives == labels.sum()
    assert positives_in_sqlite == labels[:n_in_sqlite].sum()
    space: dict[str, Any] = {}
    exec(sources["python"], space)
    some = X[:500].tolist()
    in_python = best(lambda: [space["predict"](row) for row in some]) / len(some)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(graph, options, providers=["CPUExecutionProvider"])
    in_onnx = best(lambda: session.run(["label"], {"X": X})) / len(X)
    one_in_onnx = best(lambda: [session.run(["label"], {"X": X[k : k + 1]}) for k in range(200)]) / 200
    assert (session.run(["label"], {"X": X})[0] == labels).all()
    print(f"\n{name}")
    print(f"  predict, {len(X)} rows at once   {1e6 * batch:10.3f} µs per row")
    at_once = (("C", in_c), ("ONNX, all rows at once", in_onnx), ("Python", in_python), ("SQLite", in_sqlite))
    for what, seconds in at_once:
        print(f"  {what:28} {1e6 * seconds:10.3f} µs per row   {batch / seconds:8.2f} times as fast as predict at once")
    print(f"  predict, one row             {1e6 * single:10.3f} µs")
    for what, seconds in (("C, one row", in_c), ("ONNX, one row", one_in_onnx), ("Python, one row", in_python)):
        print(f"  {what:28} {1e6 * seconds:10.3f} µs           {single / seconds:8.0f} times as fast as predict")
    sizes = {**{language: len(s.encode()) for language, s in sources.items()}, "onnx": len(graph)}
    print("  size in kB: " + ", ".join(f"{k} {v / 1000:.0f}" for k, v in sizes.items()))
    print(f"  gcc -O2: {compiling:.2f} s")


def sizes(name: str, model: Any) -> None:
    """Print how large the programs are, and how long it takes to write them."""
    forests = [own.forest for own in read_formula(model).sums]
    n_trees, n_nodes = sum(map(len, forests)), sum(forest.n_nodes for forest in forests)
    found = {}
    for form in ("python", "c", "sql", "onnx"):
        try:
            found[form] = len(to_onnx(model).SerializeToString() if form == "onnx" else to_source(model, form).encode())
        except InputError:
            found[form] = 0  # too large for a query
    listed = ", ".join(f"{form} {n / 1000:.0f}" if n else f"{form} refused" for form, n in found.items())
    print(f"  {name}: {n_trees} trees, {n_nodes} nodes; kB: {listed}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=20_000)
    rows = parser.parse_args().rows
    rng = np.random.default_rng(0)
    X = rng.normal(size=(rows, 30))
    y = (X[:, :10].sum(axis=1) + X[:, 0] * X[:, 1] + 2 * rng.normal(size=rows) > 5).astype(int)
    measure("500 stumps, 30 features", RealBoostClassifier(n_estimators=500, n_jobs=1).fit(X, y), X)
    for leaves in (8, 64):
        trees = RealBoostClassifier(estimator=Tree(max_leaf_nodes=leaves, max_depth=leaves), n_estimators=100, n_jobs=1)
        measure(f"100 trees of {leaves} leaves, 30 features", trees.fit(X, y), X)
    portfolio = SkewBoostClassifier(random_state=0, n_jobs=1).fit(X[:2000], y[:2000])
    measure(f"portfolio of {portfolio.n_estimators_} trees, fitted to 2000 rows", portfolio, X[:5000], 2000)
    print("\nportfolios, sizes of programs")
    tables = {"make_fraud, 2000 rows": make_fraud(2000), "make_fraud, 20 000 rows": make_fraud(20_000)}
    tables |= {"iris": load_iris(return_X_y=True), "digits": load_digits(return_X_y=True)}
    for name, table in tables.items():
        for effort in ("quick", "default"):
            sizes(f"{name}, {effort}", SkewBoostClassifier(effort=effort, random_state=0, n_jobs=-1).fit(*table))


if __name__ == "__main__":
    main()
