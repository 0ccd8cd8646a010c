"""Queries on real databases: their predictions, and that the work grows in proportion to the model."""

from __future__ import annotations

import json
import subprocess
import sys
from functools import cache

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

import skewboost as sb
from program_runners import columns_of, query_predictions, run_sql
from skewboost.io import to_source
from skewboost.io.export.reading import read_formula
from skewboost.learners import Line, Stump, Tree
from sql_databases import BIGINT, DOUBLE, REAL, SQLite
from support import awkward_data

X, y = awkward_data(200)
THREE = np.array(["a", "b", "c"])[y + (np.nan_to_num(X[:, 1]) > 0.8)]


def mixed(n=240, seed=1):
    """Doubles, integers that are none, single precision and categories, with names and cells that need quotes."""
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(
        {
            'quo"te ; --': rng.normal(size=n),
            "select": 2**53 + rng.integers(0, 40, n),
            "größe µ\\n": rng.normal(size=n).round(1).astype(np.float32),
            "'; DROP TABLE data; --": np.array(["it's", 'say "hi"', "\\x", "two\nlines", "", "NULL", "☃", "1"])[
                rng.integers(0, 8, n)
            ],
            "t": np.array(["u", "v", "w"])[rng.integers(0, 3, n)],
        }
    ).astype({"'; DROP TABLE data; --": object, "t": object})
    score = table['quo"te ; --'] + (table["select"] % 8 > 4) + (table["t"] == "v") * table["größe µ\\n"]
    for name in table.columns:
        if table[name].dtype.kind != "i":
            table.loc[rng.random(n) < 0.08, name] = None
    return table, np.where(score + 0.3 * rng.normal(size=n) > 0.8, "it's bad\n\"\\", "gut µ %")


MODELS = {
    "stumps": sb.RealBoostClassifier(n_estimators=30),
    "stumps that abstain": sb.RealBoostClassifier(estimator=Stump(missing="abstain"), n_estimators=20),
    "trees": sb.RealBoostClassifier(estimator=Tree(max_leaf_nodes=9), n_estimators=8),
    "trees that abstain": sb.RealBoostClassifier(estimator=Tree(max_leaf_nodes=9, missing="abstain"), n_estimators=8),
    "deep trees": sb.RealBoostClassifier(estimator=Tree(max_depth=30, max_leaf_nodes=None), n_estimators=1),
    "alternating": sb.AlternatingTreeClassifier(max_rounds=10, cost=4),
    "lines": sb.LogitBoostClassifier(estimator=Line(), n_estimators=8),
}


@cache
def fitted(name):
    return clone(MODELS[name]).fit(*mixed())


@pytest.mark.sample(2)
def test_sums_are_equal_to_the_last_bit(database):
    new, _ = mixed(seed=2)
    new = new.iloc[:100].copy()
    new.loc[:9, "t"] = "never seen"
    database.load(columns_of(new))
    for name in MODELS:
        model = fitted(name)
        predictions = query_predictions(database, model)
        predictions.agrees(model, new)
        assert np.array_equal(predictions.score, model.decision_function(new)), name


ALONG = np.arange(60.0)[:, None]
PORTFOLIO = sb.SkewBoostClassifier(effort="quick", random_state=0, cv=2)
LINKS = {
    "isotonic": (sb.AdaMECClassifier(n_estimators=10, estimator="tree", calibrate="isotonic", random_state=0), X, y),
    "sigmoid": (sb.CGAdaClassifier(n_estimators=10, cost=20, calibrate="sigmoid", random_state=0), X, y),
    "goal": (
        sb.GoalSearchCV(sb.CSRAClassifier(n_estimators=8), "recall >= 0.9", confidence=None, cv=2, random_state=0),
        X,
        y,
    ),
    "portfolio": (PORTFOLIO, X, y),
    "portfolio of many classes": (sb.SkewBoostClassifier(effort="quick", random_state=0, cv=2), X, THREE),
    "portfolio with a goal": (
        sb.SkewBoostClassifier(effort="quick", random_state=0, cv=2, goal="recall >= 0.5", confidence=0.5),
        X,
        y,
    ),
    "goal of a portfolio": (
        sb.GoalSearchCV(PORTFOLIO, "recall >= 0.6", confidence=None, cv=2, random_state=0),
        X,
        y,
    ),
    "far": (sb.GentleBoostClassifier(n_estimators=400), ALONG, ALONG[:, 0] > 30),
    "votes of many": (sb.AdaC2M1Classifier(estimator=Tree(max_leaf_nodes=9), n_estimators=8), X, THREE),
    "many": (sb.AdaBoostMHClassifier(estimator="tree", n_estimators=8, cost={"a": 1, "b": 4, "c": 2}), X, THREE),
    "many, far": (sb.AdaBoostMHClassifier(n_estimators=600), ALONG, np.digitize(ALONG[:, 0], [20, 40])),
}


@pytest.mark.sample(5)
@pytest.mark.parametrize("name", LINKS)
def test_links(name, database):
    model, rows, labels = LINKS[name]
    if not hasattr(model, "classes_"):
        model.fit(rows, labels)
    if "far" in name:
        F = model.decision_function(rows)
        assert F.min() < -375
        assert F.max() > 375  # where EXP(-2 F) underflows
    rows = np.vstack((rows[:60], np.full((1, rows.shape[1]), np.nan)))
    run_sql(model, rows, database).agrees(model, rows)


def test_more_classes_than_are_compared_at_once(database):
    """The first of several that tie wins, and the steps that find the largest are linear in their number."""
    model = sb.AdaBoostMHClassifier(n_estimators=2).fit(X, np.arange(len(X)) % 20)
    run_sql(model, X[:40], database).agrees(model, X[:40])


def test_labels_keep_their_type(database):
    database.load(columns_of(X[:40]))
    for labels in (y == 1, y + 0.0, np.where(y, -(2**63), 2**63 - 1)):
        model = sb.RealBoostClassifier(n_estimators=3).fit(X, labels)
        query_predictions(database, model).agrees(model, X[:40])


@cache
def on_numbers(first):
    numbers = first + 2.0 * np.arange(60.0)[:, None]
    return numbers, sb.RealBoostClassifier(n_estimators=20).fit(numbers, np.arange(60) % 7 < 3)


def test_numbers_of_any_type(database):
    for kind in (DOUBLE, BIGINT, "SMALLINT", "NUMERIC(30, 2)", REAL):
        numbers, model = on_numbers(2**53 if kind in (BIGINT, "NUMERIC(30, 2)") else 0)
        cells = [*map(int, numbers[:, 0]), None]
        if kind == BIGINT:  # odd numbers are rounded to doubles, as in the model
            cells = [*(c + 1 for c in cells[:-1]), None]
        rows = np.array([[np.nan if c is None else float(c)] for c in cells])
        database.load({"row number": (BIGINT, list(range(len(cells)))), "x0": (kind, cells)})
        assert np.array_equal(query_predictions(database, model).score, model.decision_function(rows)), kind


def test_nan_is_missing_and_infinities_are_not(database):
    if not database.has_nan:
        pytest.skip("it has no NaN")
    model = sb.RealBoostClassifier(estimator=Tree(max_leaf_nodes=4, missing="abstain"), n_estimators=5).fit(X, y)
    columns = columns_of(X[:40])
    for j, cell in enumerate([np.nan, np.inf, -np.inf, np.nan]):
        columns[f"x{j}"][1][j::4] = [cell] * 10
    far = np.array(
        [[np.nan if c is None else np.clip(c, -1e300, 1e300) for c in cells] for _, cells in columns.values()]
    )
    database.load(columns)
    assert np.array_equal(query_predictions(database, model).score, model.decision_function(far[1:].T))


def test_lines_on_the_smallest_and_the_largest_numbers(database):
    """PostgreSQL has errors for numbers that are too large or too small."""
    model = sb.LogitBoostClassifier(estimator=Line(), n_estimators=10).fit(1e5 * np.nan_to_num(X), y)
    far = np.random.default_rng(0).choice(
        [5e-324, -1e-310, 1e-300, 0.0, 1e300, -1.7e308, 3.0, np.nan], (60, X.shape[1])
    )
    assert np.array_equal(run_sql(model, far, database).score, model.decision_function(far))


def test_categories_that_are_integers(database):
    table = pd.DataFrame({"c": pd.Categorical([3, 1, 2, None] * 30), "x": np.arange(120.0) % 11})
    model = sb.RealBoostClassifier(n_estimators=10).fit(table, np.array([0, 1, 0, 1, 1, 1] * 20))
    columns = columns_of(table)
    columns["c"] = BIGINT, [3, 1, 2, None] * 30
    database.load(columns)
    assert np.array_equal(query_predictions(database, model).score, model.decision_function(table))


def test_a_model_without_rounds(database):
    model = sb.AdaBoostClassifier().fit(np.zeros((12, 2)), np.arange(12) % 2)
    assert model.n_estimators_ == 0
    run_sql(model, np.array([[0.0, 1.0], [np.nan, 2.0]]), database).agrees(model, np.array([[0.0, 1.0], [np.nan, 2.0]]))


def test_the_longest_name(database):
    """PostgreSQL cuts names off after 63 bytes."""
    name = "n" * 40
    with pytest.raises(ValueError, match="at most 40 characters"):
        to_source(fitted("stumps"), "sql", name=name + "n")
    database.load(columns_of(mixed()[0]))
    columns, _ = database.run(to_source(fitted("stumps"), "sql", name=name, keep=[]))
    assert columns == [f"{name}_score", f"{name}_probability_0", f"{name}_probability_1", name]


# ---------------------------------------------------------------------------------------------- growth


@cache
def chain(n):
    """A tree that is as deep as it can be."""
    x = np.arange(n, dtype=float)[:, None]
    model = sb.RealBoostClassifier(estimator=Tree(max_depth=n, max_leaf_nodes=None), n_estimators=1)
    return model.fit(x, np.arange(n) % 2)


@cache
def isotonic(n):
    return sb.AdaMECClassifier(n_estimators=n, estimator="tree", calibrate="isotonic", random_state=0).fit(X, y)


@cache
def five_classes(n):
    return sb.AdaBoostMHClassifier(n_estimators=n, estimator="tree").fit(X, np.arange(len(X)) % 5)


@cache
def classes(n):
    return sb.AdaBoostMHClassifier(n_estimators=1).fit(X, np.arange(len(X)) % n)


GROWING = {
    "rounds": (isotonic, 5),
    "rounds, five classes": (five_classes, 3),
    "depth": (chain, 40),
    "classes": (classes, 8),
}


def n_numbers(model):
    """The size of a model: the number of its tests and values."""
    formula = read_formula(model)
    K, (own,) = formula.n_outputs, formula.sums
    n = own.forest.n_nodes + K * len(own.forest.values)
    n += sum(len(getattr(part, "cuts", ())) + K * len(part.values) for part in own.tables)
    return n + len(getattr(formula.link, "pieces", formula.classes))


@pytest.mark.sample(4)
@pytest.mark.parametrize("kind", GROWING)
def test_queries_and_plans_grow_in_proportion_to_the_model(kind, database):
    """The plan of a database per number of the model does not grow with the model."""
    make, n = GROWING[kind]
    sizes, plans = [], []
    for factor in (1, 4):
        model = make(factor * n)
        query = to_source(model, "sql", keep=["row number"])
        database.load(columns_of(np.full((1, model.n_features_in_), 0.5)))
        plan = database.plan(query)
        assert plan < 5 * len(query)  # otherwise the larger model may exhaust the memory
        sizes.append(len(query) / n_numbers(model))
        plans.append(plan / n_numbers(model))
    assert sizes[1] < 1.15 * sizes[0]
    assert plans[1] < 1.15 * plans[0]


def test_sqlite_takes_as_many_steps_per_row_as_the_query_has_instructions():
    """Every formula is computed once per row."""
    steps = [0]

    def count():
        steps[0] += 1
        return 0

    database, model = SQLite(), isotonic(20)
    query = to_source(model, "sql", keep=["row number"])
    for n_rows in (5, 60):
        database.load(columns_of(X[:n_rows]))
        database.connection.set_progress_handler(count, 1)
        steps[0] = 0
        database.run(query)
        database.connection.set_progress_handler(None, 1)
        assert steps[0] < n_rows * database.plan(query)


WITH_LITTLE_MEMORY = """
import json, resource, sqlite3, sys
resource.setrlimit(resource.RLIMIT_AS, (192 << 20, 192 << 20))
given = json.load(sys.stdin)
connection = sqlite3.connect(":memory:")
connection.execute(given["create"])
connection.executemany(given["insert"], given["rows"])
print(len(connection.execute(given["query"]).fetchall()))
"""


def test_sqlite_needs_little_memory():
    columns = columns_of(np.tile(X, (5, 1)))
    marks = ", ".join("?" * len(columns))
    given = {
        "create": f"CREATE TABLE data ({', '.join(f'{chr(34)}{name}{chr(34)} REAL' for name in columns)})",
        "insert": f"INSERT INTO data VALUES ({marks})",
        "rows": list(zip(*(cells for _, cells in columns.values()))),
        "query": to_source(isotonic(20), "sql"),
    }
    done = subprocess.run(
        [sys.executable, "-I", "-c", WITH_LITTLE_MEMORY], input=json.dumps(given), capture_output=True, text=True
    )
    assert (done.returncode, done.stdout.strip()) == (0, "1000"), done.stderr
