"""The content of programs, and models and arguments that are refused."""

from __future__ import annotations

import builtins
import ctypes
import json
import math
import sqlite3

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import AdaBoostClassifier as Foreign
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import skewboost as sb
from program_runners import compiled, run_python, run_sql
from skewboost.io import to_onnx, to_source
from skewboost.io.export.sql_steps import fraction, number
from skewboost.learners import RuleLearner, Tree
from support import awkward_data

X, y = awkward_data(120)
STUMPS = sb.CSRAClassifier(n_estimators=8, cost=5).fit(X, y)


def random_numbers(n=3000):
    """Numbers of all magnitudes, with all their digits."""
    rng = np.random.default_rng(0)
    return (rng.normal(size=n) * 10.0 ** rng.uniform(-30, 30, n)).tolist()


def test_sqlite_reads_every_number_as_it_was():
    connection = sqlite3.connect(":memory:")
    for x in [*random_numbers(), 0.0, -0.5, 5e-324, 1.7976931348623157e308]:
        assert connection.execute(f"SELECT {number(x)}").fetchone()[0] == x


def test_fractions_are_exact():
    connection = sqlite3.connect(":memory:")
    for x in [*random_numbers(500), 0.1, -0.1, 1e300, 2.0**-1000]:
        assert connection.execute(f"SELECT {fraction(x)}").fetchone()[0] == x


def test_python_imports_nothing_but_math(monkeypatch):
    plain, imported = builtins.__import__, []

    def note(name, *args, **kwargs):
        imported.append(name)
        return plain(name, *args, **kwargs)

    space = {"__builtins__": {**vars(builtins), "__import__": note}}
    exec(to_source(STUMPS, "python", name="says"), space)
    assert imported == ["math"]
    assert space["says"](X[0].tolist()) == STUMPS.predict(X[:1])[0]
    with pytest.raises(ValueError, match="9 cells"):
        space["says"]([1.0])
    with pytest.raises(KeyError):
        space["says"]({"x0": 1.0})


def test_categories_have_codes_in_c(tmp_path):
    table = pd.DataFrame({"x": np.arange(40.0), "c": ["ä", "b", "ß?", "d"] * 10})
    model = sb.RealBoostClassifier(n_estimators=5).fit(table, np.arange(40) % 4 == 1)
    library = compiled(to_source(model, "c", name="m"), tmp_path, "-O2")
    library.m_code.restype = ctypes.c_double
    codes = [library.m_code(1, c.encode()) for c in sorted(table["c"].unique())]
    assert codes == [0, 1, 2, 3]
    assert math.isnan(library.m_code(1, b"z"))
    assert math.isnan(library.m_code(1, None))
    assert math.isnan(library.m_code(0, b"b"))


def test_a_query_keeps_columns():
    connection = sqlite3.connect(":memory:")
    names = ", ".join(f"x{j} REAL" for j in range(X.shape[1]))
    connection.execute(f'CREATE TABLE "my ""rows""" (id TEXT, {names})')
    connection.execute(f'INSERT INTO "my ""rows""" (id, x0) VALUES (\'a\', {X[0, 0]})')
    found = connection.execute(to_source(STUMPS, "sql", table='my "rows"', keep=["id"], name="p"))
    assert [c[0] for c in found.description] == ["id", "p_score", "p_probability_0", "p_probability_1", "p"]
    everything = connection.execute(to_source(STUMPS, "sql", table='my "rows"'))
    assert {"id", "x8", "predict", "predict_score"} <= {c[0] for c in everything.description}


def test_a_column_that_is_not_there_is_an_error_in_sql():
    """SQLite reads an unknown quoted name as a text, unless it is qualified."""
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE data (x1 REAL)")
    with pytest.raises(sqlite3.OperationalError, match="no such column"):
        connection.execute(to_source(STUMPS, "sql"))


@pytest.mark.parametrize("language", ["python", "c", "sql"])
def test_the_header_tells_what_it_is(language):
    head = to_source(STUMPS, language)[:1500]
    for fact in ("CSRAClassifier, 8 rounds", "Classes: 0, 1", "Positive class: 1", "costs 5 times", "0: 'x0'"):
        assert fact in head


@pytest.mark.parametrize("language", ["python", "c", "sql"])
def test_stumps_on_one_feature_are_one_step_function(language):
    """So the size does not grow with the rounds once all thresholds are there."""
    few = np.round(np.nan_to_num(X[:, :2]))
    sizes = [len(to_source(sb.RealBoostClassifier(n_estimators=n).fit(few, y), language)) for n in (150, 300)]
    assert sizes[1] < 1.1 * sizes[0]


def test_onnx_says_who_made_it():
    made = to_onnx(STUMPS, name="mine", outputs=("a", "b", "c"))
    facts = {p.key: p.value for p in made.metadata_props}
    assert (made.producer_name, made.producer_version, made.graph.name) == ("skewboost", sb.__version__, "mine")
    assert json.loads(facts["classes"]) == [0, 1]
    assert json.loads(facts["features"]) == [f"x{j}" for j in range(9)]
    assert [o.name for o in made.graph.output] == ["a", "b", "c"]
    assert "costs 5 times" in made.doc_string


def test_onnx_that_is_not_installed(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "onnx", None)
    with pytest.raises(ImportError, match=r'pip install "skewboost\[onnx\]"'):
        to_onnx(STUMPS)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"language": "java"}, "language must be one of 'python', 'c', 'sql'; got 'java'"),
        ({"language": "c", "name": "int"}, "name='int' must be an identifier"),
        ({"language": "c", "name": "sinf"}, "name='sinf' must be an identifier"),
        ({"language": "c", "name": "size_t"}, "name='size_t' must be an identifier"),
        ({"language": "python", "name": "a b"}, "must be an identifier"),
        ({"language": "python", "name": "x;import os"}, "must be an identifier"),
        ({"language": "python", "name": "math"}, "must be an identifier"),
        ({"language": "sql", "name": 'x" --'}, "must be an identifier"),
        ({"language": "c", "table": "t"}, "table='t' has no effect with language='c'"),
        ({"language": "python", "keep": ["a"]}, "has no effect"),
        ({"language": "sql", "keep": "id"}, "must be a list of column names"),
        ({"language": "sql", "table": ""}, "is not the name of a table"),
        ({"language": "sql", "name": "X0"}, "have the same name"),
        ({"language": "sql", "table": "Predict_step_1"}, "is also the name of a step"),
        ({"language": "sql", "keep": ["a", "b", "a"]}, "names 'a' twice"),
    ],
)
def test_bad_arguments(arguments, message):
    with pytest.raises(ValueError, match=message):
        to_source(STUMPS, **arguments)


def test_bad_names_in_onnx():
    with pytest.raises(ValueError, match="three different names"):
        to_onnx(STUMPS, outputs=("a", "a", "b"))
    with pytest.raises(ValueError, match="input and of an output"):
        to_onnx(STUMPS, outputs=("X", "a", "b"))
    with pytest.raises(ValueError, match="name of the graph"):
        to_onnx(STUMPS, name="")


def fitted(model, labels=y):
    return model.fit(np.nan_to_num(X), labels)


REFUSED = {
    "another library's": (lambda: fitted(Foreign(n_estimators=3)), "AdaBoostClassifier cannot be exported"),
    "no sum": (lambda: fitted(sb.WeightBoostClassifier(n_estimators=3)), "F is not a sum"),
    "another library's learner": (
        lambda: fitted(sb.AdaBoostClassifier(estimator=DecisionTreeClassifier(max_depth=1), n_estimators=3)),
        "Fit a booster of stumps or trees",
    ),
    "rules": (
        lambda: fitted(sb.AdaBoostClassifier(estimator=RuleLearner(), n_estimators=2)),
        "rounds are of type ClassifierTerm",
    ),
    "a pipeline": (lambda: fitted(make_pipeline(StandardScaler(), sb.AdaBoostClassifier(n_estimators=2))), "last step"),
    "a search": (
        lambda: fitted(GridSearchCV(sb.AdaBoostClassifier(), {"n_estimators": [2, 3]}, cv=2)),
        "Export its best_estimator_",
    ),
    "minimum risk": (
        lambda: fitted(sb.MinimumRiskClassifier(sb.RealBoostClassifier(n_estimators=3), cost=3)),
        "Export its estimator_",
    ),
    "a class": (lambda: sb.AdaBoostClassifier, "Pass a fitted instance"),
    "several labels": (
        lambda: fitted(sb.AdaBoostMHClassifier(n_estimators=3), np.column_stack((y, 1 - y))),
        "several labels per example",
    ),
    "a goal around another library's": (
        lambda: fitted(
            sb.GoalSearchCV(
                DecisionTreeClassifier(max_depth=2, random_state=0),
                "recall >= 0.5",
                cv=2,
                confidence=None,
                random_state=0,
            )
        ),
        "GoalSearchCV around DecisionTreeClassifier cannot be exported",
    ),
}


@pytest.mark.parametrize(("make", "message"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_written_is_refused(make, message):
    model = make()
    for write in (lambda: to_source(model, "python"), lambda: to_onnx(model)):
        with pytest.raises(TypeError, match=message):
            write()


def test_unfitted():
    for write in (lambda m: to_source(m, "c"), to_onnx):
        for model in (sb.AdaBoostClassifier(), sb.GoalSearchCV(sb.CSRAClassifier(), "recall >= 0.9")):
            with pytest.raises(NotFittedError):
                write(model)


def test_integers_that_databases_do_not_have_are_refused():
    model = sb.RealBoostClassifier(n_estimators=2).fit(X, np.array([1, 2**63], dtype=np.uint64)[y])
    with pytest.raises(ValueError, match="9223372036854775808, but integers have 64 bits"):
        to_source(model, "sql")


def test_a_tree_that_is_too_large_for_a_parser(monkeypatch):
    monkeypatch.setattr("skewboost.io.export.sql_query.MOST_LEAVES", 3)
    model = sb.RealBoostClassifier(n_estimators=2, estimator=Tree(max_leaf_nodes=4)).fit(X, y)
    with pytest.raises(ValueError, match=r"A tree has 4 leaves, .* at most 3\. Export C or ONNX, .*max_leaf_nodes"):
        to_source(model, "sql")


def test_null_characters_are_refused_where_there_is_no_way_to_write_them():
    table = pd.DataFrame({"c": ["a\0b", "b\0", "c", "d\0"] * 10, "x": np.arange(40.0)})
    labels = np.array([0, 1, 0, 1] * 10)
    model = sb.RealBoostClassifier(n_estimators=3, estimator=Tree(max_leaf_nodes=3)).fit(table, labels)
    for language in ("c", "sql"):
        with pytest.raises(ValueError, match="null character"):
            to_source(model, language)
    space: dict = {}
    exec(to_source(model, "python"), space)
    assert [space["predict"](list(row)) for row in table.itertuples(index=False)] == model.predict(table).tolist()


def test_labels_and_names_do_not_end_the_comment_they_are_in(tmp_path):
    evil = "*/ int injected(void) { return 1; } /*"
    table = pd.DataFrame({evil: X[:, 0], "c": np.where(y, evil, "other")})
    for positive in (evil, "good"):
        model = sb.CSRAClassifier(n_estimators=3, cost=5, pos_label=positive).fit(table, np.where(y, evil, "good"))
        assert not hasattr(compiled(to_source(model, "c"), tmp_path), "injected")
        (tmp_path / "model.so").unlink()  # a library that is loaded must not be overwritten


@pytest.mark.slow
def test_labels_of_referred_rows_and_costs_do_not_end_the_comment_they_are_in(tmp_path):
    evil = "*/ int injected(void) { return 1; } /*"
    table = pd.DataFrame({evil: X[:, 0], "c": np.where(np.nan_to_num(X[:, 1]) > 0, evil, "other")})
    model = sb.SkewBoostClassifier(
        effort="quick", random_state=0, cost={evil: 3, "good": 1}, reject_cost=0.3, reject_label=evil + "?"
    ).fit(table, np.where(y, evil, "good"))
    assert not hasattr(compiled(to_source(model, "c"), tmp_path), "injected")
    assert evil + "?" in model.predict(table)
    run_python(model, table).agrees(model, table)
    run_sql(model, table).agrees(model, table)


@pytest.mark.parametrize(
    "labels", [np.array([1, 2**63], dtype=np.uint64), np.array(["b", "a\ud800"])], ids=["int", "str"]
)
def test_labels_that_graphs_have_no_type_for(labels):
    model = sb.RealBoostClassifier(n_estimators=2).fit(X, labels[y])
    with pytest.raises(ValueError, match=r"labels are int64|half a surrogate"):
        to_onnx(model)
    to_source(model, "python").encode()
    if labels.dtype.kind == "U":
        with pytest.raises(ValueError, match="half a surrogate"):
            to_source(model, "sql")
