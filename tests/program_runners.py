"""Runs exported programs on tables, so that tests can compare them with the model."""

from __future__ import annotations

import ctypes
import math
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from skewboost.io import to_onnx, to_source
from sql_databases import BIGINT, DOUBLE, REAL, TEXT, SQLite, nulls

GCC = ["gcc", "-std=c99", "-Wall", "-Wextra", "-Werror", "-ffp-contract=off", "-shared", "-fPIC"]


@dataclass
class Predictions:
    """The predictions of a program."""

    score: Any
    probability: Any
    label: Any

    def agrees(self, model, X, tolerance=1e-12):
        """Compare them with those of the model."""
        np.testing.assert_allclose(self.score, model.decision_function(X), rtol=tolerance, atol=tolerance)
        np.testing.assert_allclose(self.probability, model.predict_proba(X), rtol=0, atol=tolerance)
        expected = model.predict(X)
        assert list(self.label) == expected.tolist()


def rows_of(X):
    """Rows as lists of Python objects."""
    if hasattr(X, "itertuples"):
        return [list(row) for row in X.itertuples(index=False, name=None)]
    return [list(row) for row in np.asarray(X, dtype=float).tolist()]


def is_missing(cell):
    return cell is None or (isinstance(cell, float) and math.isnan(cell))


def run_python(model, X, by_name=False, **options):
    space: dict[str, Any] = {}
    exec(to_source(model, "python", **options), space)
    rows = rows_of(X)
    if by_name:
        rows = [dict(zip(space["FEATURES"], row)) for row in rows]
    return Predictions(*([space[f](row) for row in rows] for f in ("predict_score", "predict_probability", "predict")))


def compiled(source, folder, optimise="-O0"):
    """Compile a source with all warnings as errors, and load it."""
    path = folder / "model.c"
    path.write_text(source, encoding="utf-8")
    subprocess.run([*GCC, optimise, str(path), "-o", str(folder / "model.so"), "-lm"], check=True)
    return ctypes.CDLL(str(folder / "model.so"))


def run_c(model, X, folder):
    folder = Path(tempfile.mkdtemp(dir=folder))  # a library that is loaded must not be overwritten
    library, K = compiled(to_source(model, "c"), folder), len(model.classes_)
    vector = ctypes.c_double * K
    library.predict_score.restype = ctypes.c_double if K == 2 else None
    if hasattr(library, "predict_code"):
        library.predict_code.restype = ctypes.c_double
    scores, probabilities, labels = [], [], []
    for row in rows_of(X):
        cells = [_cell(library, j, cell) for j, cell in enumerate(row)]
        x = (ctypes.c_double * len(row))(*cells)
        out = vector()
        if K == 2:
            scores.append(library.predict_score(x))
        else:
            library.predict_score(x, out)
            scores.append(list(out))
        library.predict_probability(x, out)
        probabilities.append(list(out))
        labels.append([*model.classes_.tolist(), getattr(model, "reject_label_", None)][library.predict(x)])
    return Predictions(scores, probabilities, labels)


def _cell(library, j, cell):
    if is_missing(cell):
        return math.nan
    return library.predict_code(j, cell.encode()) if isinstance(cell, str) else float(cell)


def columns_of(X):
    """A table as databases load it, rows numbered."""
    if not hasattr(X, "columns"):
        X = pd.DataFrame(X, columns=[f"x{j}" for j in range(np.shape(X)[1])])
    columns = {"row number": (BIGINT, list(range(len(X))))}
    for name, column in X.items():
        cells = column.tolist()
        if column.dtype.kind in "iu":
            columns[str(name)] = BIGINT, cells
        elif column.dtype == np.float32:
            columns[str(name)] = REAL, nulls(cells)
        else:
            is_text = any(isinstance(c, str) for c in cells)
            columns[str(name)] = TEXT if is_text else DOUBLE, [None if is_missing(c) else c for c in cells]
    return columns


def run_sql(model, X, database=None, **options):
    database = SQLite() if database is None else database
    database.load(columns_of(X))
    return query_predictions(database, model, **options)


def query_predictions(database, model, **options):
    """The predictions of a query for the table that a database has loaded."""
    columns, rows = database.run(to_source(model, "sql", keep=["row number"], **options))
    found = np.array(sorted(rows, key=lambda r: r[0]), dtype=object)
    K = len(model.classes_)
    at = columns.index
    score = found[:, at("predict_score")] if K == 2 else found[:, [at(f"predict_score_{k}") for k in range(K)]]
    probability = found[:, [at(f"predict_probability_{k}") for k in range(K)]]
    return Predictions(score.astype(float), probability.astype(float), found[:, at("predict")])


def run_onnx(model, X):
    import onnx
    import onnxruntime

    made = to_onnx(model)
    onnx.checker.check_model(made, full_check=True)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(made.SerializeToString(), options, providers=["CPUExecutionProvider"])
    kinds = {i.name: i.type for i in session.get_inputs()}
    if list(kinds) == ["X"]:
        feed = {"X": np.asarray(X, dtype=float)}
    else:
        feed = {}
        for j, (name, kind) in enumerate(kinds.items()):
            cells = [row[j] for row in rows_of(X)]
            if kind == "tensor(string)":
                feed[name] = np.array([["" if is_missing(c) else c] for c in cells], dtype=object)
            else:
                feed[name] = np.array([[math.nan if is_missing(c) else c] for c in cells], dtype=float)
    label, probability, score = session.run(["label", "probabilities", "score"], feed)
    return Predictions(score, probability, label.tolist())
