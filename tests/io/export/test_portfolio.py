"""Exported portfolios predict what the model predicts: beside thresholds, with costs, referred rows and goals."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import skewboost as sb
from program_runners import run_c, run_onnx, run_python, run_sql
from skewboost.io import dumps, loads, to_onnx, to_source
from skewboost.io.export.reading import read_formula
from skewboost.learners import Tree
from skewboost.meta.portfolio.recipe import recipe_for
from skewboost.metrics.costs import expected_costs
from support import awkward_data, edges, nasty_table

X, y = awkward_data(140)
X = X[:, :5]
THREE = y + (np.nan_to_num(X[:, 1]) > 0.6)


@pytest.fixture(autouse=True, scope="module")
def small():
    """Few rounds and trees, so that programs are compiled in no time, and a weight for every family."""

    def recipe(*given):
        found = recipe_for(*given)
        return replace(found, families=tuple(replace(f, n_trees=min(f.n_trees, 24)) for f in found.families))

    def weights(scores, *_):
        return np.linspace(0.5, 0.2, len(scores)), np.full(scores.shape[2], 0.1)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("skewboost.meta.portfolio.portfolio_training.fit_weights", weights)
        patch.setattr("skewboost.meta.portfolio.portfolio_classifier.recipe_for", recipe)
        patch.setattr("skewboost.meta.portfolio.portfolio_training.MAX_ROUNDS", 25)
        yield


def portfolio(**params):
    return sb.SkewBoostClassifier(effort="quick", random_state=0, **params)


def some_edges(model, X, n):
    rows = edges(read_formula(model), X)
    return rows[:: max(1, len(rows) // n)]


def everywhere(model, rows, folder):
    """Compare all four programs with the model; where labels of several types are predicted, as text."""
    for program in (run_python(model, rows), run_c(model, rows, folder), run_sql(model, rows), run_onnx(model, rows)):
        if isinstance(program.label[0], str) and not isinstance(model.classes_[0], str):
            assert list(program.label) == [str(label) for label in model.predict(rows)]
            program.label = model.predict(rows).tolist()
        program.agrees(model, rows)


@pytest.fixture(scope="module")
def two():
    return portfolio(cost=20).fit(X, y)


def test_at_and_beside_thresholds(two, tmp_path):
    boosted, forest, regression = read_formula(two).sums
    assert [own.floor is None for own in (boosted, forest, regression)] == [True, False, True]
    assert [len(own.forest) > 0 for own in (boosted, forest, regression)] == [True, True, False]
    assert len(regression.tables) == 5
    everywhere(two, np.vstack((X[:40], some_edges(two, X, 150), np.full((1, 5), np.nan))), tmp_path)


def test_trees_as_tables_in_python(two, monkeypatch):
    monkeypatch.setattr("skewboost.io.export.python_source.MOST_IFS", 0)
    rows = np.vstack((X[:40], some_edges(two, X, 60)))
    run_python(two, rows).agrees(two, rows)


def test_many_classes_with_a_cost_matrix(tmp_path, monkeypatch):
    model = portfolio(cost=[[0, 1, 2], [5, 0, 1], [9, 3, 0]]).fit(X, THREE)
    rows = np.vstack((X[:30], some_edges(model, X, 40)))
    everywhere(model, rows, tmp_path)
    for limit in ("onnx_graph.MOST_IN_ORDER", "onnx_graph.MOST_ROWS", "python_source.MOST_IFS"):
        monkeypatch.setattr(f"skewboost.io.export.{limit}", 0)
        run_onnx(model, rows).agrees(model, rows)
    run_python(model, rows).agrees(model, rows)


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("labels", "label", "cost"),
    [(y == 1, None, 0.3), (np.array(["a", "b", "c"])[THREE], None, 0.2), (y + 0.0, "ask", 0.3), (y - 7, 3, 0.3)],
    ids=["bool", "text", "float and text", "int"],
)
def test_referred_rows(labels, label, cost, tmp_path):
    model = portfolio(cost="balanced" if len(set(labels)) > 2 else 1, reject_cost=cost, reject_label=label)
    model.fit(X, labels)
    referred = model.predict(X[:60]) == model.reject_label_
    assert 0 < referred.sum() < 60
    everywhere(model, X[:60], tmp_path)


def table(n=150):
    rng = np.random.default_rng(3)
    found = pd.DataFrame(
        {"x": rng.normal(size=n), "c": np.array(list("abcdefgh"), dtype=object)[rng.integers(0, 8, n)]}
    )
    found["it's"] = np.array(["u", "v", "w"], dtype=object)[rng.integers(0, 3, n)]
    noise = rng.normal(size=n)
    labels = np.where(
        found["x"] + found["c"].isin(["b", "e", "g"]) + (found["it's"] == "v") * noise > 0.9, "bad", "good"
    )
    found.loc[rng.random(n) < 0.1, "x"] = np.nan
    found.loc[rng.random(n) < 0.1, "c"] = None
    return found, labels


def test_categories_missing_and_unseen(tmp_path, monkeypatch):
    rows, labels = table()
    model = portfolio(cost={"bad": 6, "good": 1}).fit(rows, labels)
    assert model.pos_label_ == model.classes_[0]
    assert {1, 2} <= set(read_formula(model).sums[0].forest.features)
    new = rows.iloc[:70].copy()
    new.loc[:9, "c"] = "never seen"
    new.loc[5:14, "it's"] = "u'"
    everywhere(model, new, tmp_path)
    monkeypatch.setattr("skewboost.io.export.python_source.MOST_IFS", 0)
    run_python(model, new, by_name=True).agrees(model, new)


@pytest.mark.sample(1)
@pytest.mark.parametrize("pos_label", [0, 1])
@pytest.mark.filterwarnings("ignore::skewboost.goals.reasons.LittleUseWarning")
def test_goals(pos_label, tmp_path):
    model = portfolio(goal="recall >= 0.6", confidence=0.6, pos_label=pos_label).fit(X, y)
    everywhere(model, X[:40], tmp_path)
    around = sb.GoalSearchCV(
        portfolio(pos_label=pos_label), "recall >= 0.6", confidence=None, cv=2, pos_label=pos_label
    ).fit(X, y)
    for program in (run_python(around, X[:40]), run_onnx(around, X[:40])):
        program.agrees(around, X[:40])


@pytest.mark.sample(1)
@pytest.mark.parametrize(("pos_label", "precision"), [("yes", 0.3), ("no", 0.6)])
@pytest.mark.filterwarnings("ignore::skewboost.goals.reasons.LittleUseWarning")
def test_goals_that_refer_rows(pos_label, precision, tmp_path):
    labels = np.where(y == 1, "yes", "no")
    goal = f"precision >= {precision} and referred_share <= 0.5"
    of_portfolio = portfolio(goal=goal, confidence=0.5, pos_label=pos_label).fit(X, labels)
    around = sb.GoalSearchCV(
        sb.CSRAClassifier(n_estimators=4, pos_label=pos_label),
        goal,
        confidence=None,
        cv=2,
        pos_label=pos_label,
        random_state=0,
    ).fit(X, labels)
    for model in (of_portfolio, around):
        assert (model.predict(X[:90]) == "refer").any()
        everywhere(model, X[:90], tmp_path)


def test_constraints(tmp_path):
    """Without interactions there are no forests."""
    model = portfolio(interaction_cst="no_interactions", monotonic_cst=[1, 0, 0, 0, -1]).fit(X, y)
    assert all(own.floor is None for own in read_formula(model).sums)
    everywhere(model, X[:40], tmp_path)


@pytest.mark.sample(1)
@pytest.mark.parametrize("params", [{}, {"reject_cost": 0.3}, {"goal": "recall >= 0.4", "confidence": 0.5}], ids=str)
def test_names_and_categories_of_any_text(params, tmp_path):
    """Names of columns, categories and classes that break whatever does not quote them."""
    rows, labels = nasty_table()
    params = params if "goal" in params else {"cost": 3, **params}
    model = portfolio(**params).fit(rows, labels)
    new = rows.iloc[:60].copy()
    new.loc[:9, "class"] = "never seen"
    new.loc[10:19, "'; DROP TABLE data; --"] = "it''s"
    for program in (run_python(model, new), run_python(model, new, by_name=True), run_c(model, new, tmp_path)):
        program.agrees(model, new)
    run_sql(model, new).agrees(model, new)
    known = new[new["'; DROP TABLE data; --"].notna()]  # the empty text is a category here
    run_onnx(model, known).agrees(model, known)


def test_on_databases(two, database):
    run_sql(two, X[:40], database).agrees(two, X[:40])


def test_referred_rows_on_databases(database):
    model = portfolio(cost=1, reject_cost=0.3).fit(X, y == 1)
    program = run_sql(model, X[:30], database)
    assert list(program.label) == [str(label) for label in model.predict(X[:30])]


def test_the_header_tells_costs_and_families(two):
    head = to_source(two, "c")[:2500]
    n_trees = [len(own.forest) for own in read_formula(two).sums]
    assert f"SkewBoostClassifier, {sum(n_trees)} trees of 2 families and a logistic regression" in head
    assert "Costs, a row per true class and a column per prediction:\n *   0, 1\n *   20, 0\n" in head
    assert f"times the log-odds of a constant + {n_trees[1]} trees" in head


def test_a_model_from_a_file_gives_the_same_program(two):
    for language in ("python", "c", "sql"):
        assert to_source(loads(dumps(two)), language) == to_source(two, language)


def test_a_query_that_no_database_could_plan(two, monkeypatch):
    monkeypatch.setattr("skewboost.io.export.sql_query.MOST_CASES", 50)
    with pytest.raises(
        ValueError, match=r"at most 50 in all, because a database plans every one\. Export C or ONNX"
    ) as e:
        to_source(two, "sql")
    assert "such as CSRA" in str(e.value)  # and not a parameter that the class lacks, or that makes it no smaller
    assert "effort" not in str(e.value)
    assert "max_leaf_nodes" not in str(e.value)
    assert to_source(two, "c")
    assert to_onnx(two).graph.node
    frame, y = sb.datasets.make_fraud(1000)
    assert to_source(sb.CSRAClassifier(n_estimators=20).fit(frame, y), "sql")
    monkeypatch.setattr("skewboost.io.export.sql_query.MOST_LEAVES", 3)
    with pytest.raises(ValueError, match=r"at most 3\. Export C or ONNX, or fit a booster"):
        to_source(two, "sql")


def test_columns_of_many_categories(tmp_path, monkeypatch):
    """Their codes are the order of their target statistics."""
    rng = np.random.default_rng(0)
    number = rng.integers(0, 90, 400)
    rows = pd.DataFrame({"id": [f"c{k}" for k in number], "x": rng.normal(size=400)})
    model = portfolio(cost=4).fit(rows, (number % 5 == 0) ^ (rng.random(400) < 0.1))
    assert model._model.bins.features[0].ordered
    new = rows.iloc[:50].copy()
    new.loc[:4, "id"] = "never seen"
    everywhere(model, new, tmp_path)
    for limit in ("sql_query.MOST_LISTED", "onnx_graph.MOST_LISTED"):
        monkeypatch.setattr(f"skewboost.io.export.{limit}", 10)
    for write in (lambda: to_source(model, "sql"), lambda: to_onnx(model)):
        with pytest.raises(ValueError, match=r"The trees name \d+ categories in all, .* at most 10\. Merge"):
            write()


@pytest.mark.parametrize("missing", ["learn", "abstain"])
def test_tables_and_ifs_of_a_booster_agree(missing, monkeypatch):
    """Nodes with a link of their own for missing cells become two."""
    model = sb.RealBoostClassifier(estimator=Tree(max_leaf_nodes=7, missing=missing), n_estimators=10).fit(*table())
    rows = table()[0]
    ifs = run_python(model, rows).score
    monkeypatch.setattr("skewboost.io.export.python_source.MOST_IFS", 0)
    assert run_python(model, rows).score == ifs == model.decision_function(rows).tolist()


def test_expected_costs_of_a_row_do_not_depend_on_other_rows():
    rng = np.random.default_rng(0)
    p, costs = rng.dirichlet(np.ones(7), size=50), rng.uniform(size=(7, 7))
    alone = np.vstack([expected_costs(p[k : k + 1], costs) for k in range(50)])
    np.testing.assert_array_equal(expected_costs(p, costs), alone)
    np.testing.assert_array_equal(expected_costs(p, np.tile(costs, (50, 1, 1))), alone)
    np.testing.assert_allclose(alone, p @ costs, rtol=1e-14)
