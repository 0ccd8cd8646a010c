"""Random tables and models: engines, files and programs agree to the last bit, stages up to rounding."""

from __future__ import annotations

from copy import copy

import numpy as np
import pandas as pd
import pytest

import skewboost as sb
from program_runners import run_c, run_onnx, run_python, run_sql
from skewboost.io import dumps, loads
from skewboost.learners import AlternatingTree, Histogram, Line, Stump, Tree
from sql_databases import DuckDB
from support import usable

TEXTS = np.array(["it's", "a", "b", "NULL", "ü☃", "two\nlines", "1", "1.0", "x\\y", "--", '"q"'], dtype=object)
LEARNERS = [
    Stump(),
    Stump(missing="abstain"),
    Tree(max_leaf_nodes=9),
    Tree(max_depth=12, max_leaf_nodes=None, missing="abstain"),
    Histogram(max_bins=9),
    Line(),
    AlternatingTree(),
]
COLUMNS = [
    lambda rng, n: rng.normal(size=n),
    lambda rng, n: rng.normal(size=n) * 10.0 ** rng.integers(-320, 300),
    lambda rng, n: rng.integers(-9, 10, n) * 5e-324,
    lambda rng, n: 1.7e308 * rng.uniform(-1, 1, n),
    lambda rng, n: 1e15 + rng.integers(0, 30, n),
    lambda rng, n: np.full(n, 1e308),
    lambda rng, n: rng.normal(size=n).astype(np.float32),
    lambda rng, n: rng.integers(0, 5, n),
    lambda rng, n: 2**53 + rng.integers(-3, 60, n),
    lambda rng, n: np.array([-(2**63), 2**63 - 1, 0, 2**62])[rng.integers(0, 4, n)],
    lambda rng, n: TEXTS[rng.integers(0, rng.integers(2, len(TEXTS)), n)],
    lambda rng, n: TEXTS[rng.integers(0, 3, n)],
]


def random_table(rng, n):
    columns = {}
    for j in range(rng.integers(1, 6)):
        cells = COLUMNS[rng.integers(0, len(COLUMNS))](rng, n)
        if cells.dtype.kind in "fO":
            cells = cells.copy()
            cells[rng.random(n) < rng.choice([0.0, 0.1, 0.5])] = None if cells.dtype == object else np.nan
        columns[f"c{j}" if j % 2 else f"n'\"{j} --"] = pd.Series(cells, dtype=cells.dtype)
    return pd.DataFrame(columns)


def random_model(rng, table, labels):
    """A fitted booster on a learner that it can boost, drawn or not."""
    learner = LEARNERS[rng.integers(0, len(LEARNERS))]
    if isinstance(learner, Line) and all(kind.kind == "O" for kind in table.dtypes):
        learner = LEARNERS[0]
    many = len(np.unique(labels)) > 2
    entries = [e for e in sb.catalogue() if e.name != "WeightBoost" and learner in usable(e, [learner])]
    entries = [e for e in entries if e.name in ("AdaBoostMH", "AdaC2M1")] if many else entries
    if not entries:
        entries, learner = [e for e in sb.catalogue() if e.name == "AdaBoostMH"], LEARNERS[0]
    entry = entries[rng.integers(0, len(entries))]
    given = {"sampler": "bootstrap"} if rng.random() < 0.2 else {}
    given |= {"estimator": learner} if entry.estimator._rounds == "n_estimators" else {}
    return entry.make(int(rng.integers(1, 25)), random_state=0, **given).fit(table, labels)


def some_rows(rng, table):
    """Rows of a table, and one that is unlike them."""
    new = pd.DataFrame({name: table[name].iloc[rng.integers(0, len(table), 20)].to_numpy() for name in table})
    for name in new:
        if new[name].dtype.kind == "f" and new[name].dtype != np.float32:
            new.loc[3, name] = rng.choice([1e10, -1e10, 0.0])
        elif new[name].dtype.kind not in "iuf":
            new.loc[3, name] = "never seen"
    return new


def check(seed, folder=None):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(12, 90))
    table = random_table(rng, n)
    labels = rng.integers(0, 3 if rng.random() < 0.15 else 2, n)
    labels[:2] = [0, 1]
    model = random_model(rng, table, labels)
    new = some_rows(rng, table)
    F = model.decision_function(new)
    assert np.isfinite(F).all()
    for engine in ("reference", "cpu"):
        np.testing.assert_array_equal(copy(model).set_params(engine=engine).decision_function(new), F)
    np.testing.assert_array_equal(loads(dumps(model)).decision_function(new), F)
    *_, last = model.staged_decision_function(new)
    np.testing.assert_allclose(last, F, rtol=1e-9, atol=1e-9)
    programs = [run_python(model, new), run_sql(model, new), run_onnx(model, new)]
    if folder is not None:
        programs += [run_c(model, new, folder), run_sql(model, new, DuckDB())]
    for program in programs:
        program.agrees(model, new)
        np.testing.assert_array_equal(program.score, F)


def random_portfolio(rng, table, labels):
    """A fitted portfolio, or a search for a goal around one, with costs or referred rows or without."""
    many = len(np.unique(labels)) > 2
    clf = sb.SkewBoostClassifier(effort="quick", random_state=0, cv=2)
    kind = rng.integers(0, 5)
    if kind == 1:
        clf.set_params(cost="balanced" if many else 7, reject_cost=0.2)
    elif kind == 2:
        clf.set_params(interaction_cst="no_interactions")
    elif kind == 3 and not many:
        clf = sb.GoalSearchCV(clf, "recall >= 50%", confidence=None, allow_unmet=True, random_state=0)
    elif kind == 4 and not many:
        goal = "recall >= 30% and referred_share <= 50%"
        clf = sb.GoalSearchCV(clf, goal, confidence=None, allow_unmet=True, random_state=0)
    return clf.fit(table, labels)


def check_portfolio(seed, folder=None):
    rng = np.random.default_rng([seed, 1])
    n = int(rng.integers(30, 90))
    table = random_table(rng, n)
    labels = rng.integers(0, 3 if rng.random() < 0.2 else 2, n)
    labels[:4] = [0, 1, 0, 1]
    model = random_portfolio(rng, table, labels)
    new = some_rows(rng, table)
    F = model.decision_function(new)
    assert np.isfinite(F).all()
    again = loads(dumps(model))
    np.testing.assert_array_equal(again.decision_function(new), F)
    np.testing.assert_array_equal(again.predict_proba(new), model.predict_proba(new))
    getattr(again, "estimator_", again).set_params(engine="reference")
    np.testing.assert_allclose(again.decision_function(new), F, rtol=1e-9, atol=1e-9)
    programs = [run_python(model, new), run_sql(model, new), run_onnx(model, new)]
    if folder is not None:
        programs += [run_c(model, new, folder), run_sql(model, new, DuckDB())]
    for program in programs:
        if isinstance(program.label[0], str):  # where referred rows are predicted as text
            assert list(program.label) == [str(label) for label in model.predict(new)]
            program.label = model.predict(new).tolist()
        program.agrees(model, new)


TOLD = [
    f"ignore::skewboost.{name}"
    for name in (
        "errors.SkewBoostWarning",
        "goals.LittleUseWarning",
        "goals.GoalNotMetWarning",
        "goals.RepeatedRowsWarning",
    )
]


@pytest.mark.filterwarnings(*TOLD)
@pytest.mark.parametrize("seed", [0, 1, 2, 161, 173])
def test_all_agree_on_portfolios(seed):
    check_portfolio(seed)


@pytest.mark.slow
@pytest.mark.filterwarnings(*TOLD)
@pytest.mark.parametrize("seed", range(100, 160))
def test_all_agree_on_many_portfolios(seed, tmp_path):
    check_portfolio(seed, tmp_path)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("seed", range(8))
def test_all_agree(seed):
    check(seed)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("seed", range(100, 200))
def test_all_agree_on_many(seed, tmp_path):
    check(seed, tmp_path)
