"""The alternating decision tree: the golden traces, an exhaustive oracle, and what its readers are shown."""

from __future__ import annotations

import itertools
import math
import re

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold

from skewboost import AlternatingTreeClassifier, RealBoostClassifier
from skewboost.datasets import load_rare_cancer
from skewboost.engine.growing_alternating import AlternatingGrowth
from skewboost.learners import AlternatingTree, Stump
from support import awkward_data, each_engine, load_real, load_trace, load_trace_data

mpl.use("Agg")
TOLERANCE = 1e-9


@each_engine
@pytest.mark.parametrize("init", ["prior", "balanced"])
@pytest.mark.parametrize("data", ["A", "B", "Am"])
def test_every_round_matches_the_trace(data, init, engine):
    trace = load_trace(f"{data}_adt_{init}")
    X, y, X_test = load_trace_data(data)
    clf = AlternatingTreeClassifier(init=init, max_rounds=len(trace["rounds"]), pos_label=1.0, engine=engine).fit(X, y)
    assert clf.tree().value == pytest.approx(trace["params"]["root_value"], abs=TOLERANCE)
    np.testing.assert_allclose(clf.decision_function(X), trace["F_train"], atol=TOLERANCE, rtol=0)
    np.testing.assert_allclose(clf.decision_function(X_test), trace["F_test"], atol=TOLERANCE, rtol=0)
    bins = clf._model.bins
    rounds = zip(clf.estimators_, clf.staged_decision_function(X), clf.history_, trace["rounds"], strict=True)
    for term, F, record, expected in rounds:
        split = term.partition.splits[-1]
        assert (term.partition.precondition, split.feature) == (expected["precondition"], expected["feature"])
        low, high = expected["threshold_range"]
        assert low < bins.features[split.feature].cuts[split.threshold] < high
        np.testing.assert_allclose(term.values[:2], expected["leaf_values"], atol=TOLERANCE, rtol=0)
        assert record["criterion"] == pytest.approx(expected["criterion"], abs=TOLERANCE)
        np.testing.assert_allclose(F, expected["F_train"], atol=TOLERANCE, rtol=0)


# ------------------------------------------------------------------------------- an oracle


def every_test_of(column, nominal):
    """Every test of a column: the set of values that pass it."""
    values = sorted({v for v in column if v is not None})
    if not nominal:
        return [set(values[: k + 1]) for k in range(len(values) - 1)]
    return [
        {first, *rest}
        for first in values[:1]
        for n in range(len(values) - 1)
        for rest in itertools.combinations(values[1:], n)
    ]


def naive_tree(columns, nominal, y, w, n_rounds):
    """Freund and Mason by brute force: every precondition with every test, from balanced weights and a root of 0."""
    n = len(y)
    w = [v / sum(u for u, s in zip(w, y) if s == t) / 2 for v, t in zip(w, y)]
    delta = 1.0 / n
    F, preconditions, stages = [0.0] * n, [set(range(n))], []
    for _ in range(n_rounds):
        best = None
        for rows in preconditions:
            for column, is_nominal in zip(columns, nominal):
                for passing in every_test_of(column, is_nominal):
                    known = {i for i in rows if column[i] is not None}
                    left = {i for i in known if column[i] in passing}
                    right = known - left
                    if not left or not right:
                        continue
                    sums = [[sum(w[i] for i in side if y[i] == s) for s in (-1, 1)] for side in (left, right)]
                    Z = sum(2 * math.sqrt(a * b) for a, b in sums) + 1.0 - sum(map(sum, sums))
                    if best is None or best[0] - 1e-12 > Z:
                        best = (Z, left, right, sums)
        Z, left, right, sums = best
        for side, (a, b) in zip((left, right), sums):
            value = 0.5 * math.log((b + delta) / (a + delta))
            for i in side:
                F[i] += value
                w[i] *= math.exp(-y[i] * value)
        total = sum(w)
        w = [v / total for v in w]
        preconditions += [left, right]
        stages.append((Z, list(F)))
    return stages


@each_engine
@pytest.mark.parametrize("seed", range(4))
def test_it_grows_as_brute_force_does(seed, engine):
    rng = np.random.default_rng(seed)
    n = 36
    x, z = np.round(rng.normal(size=n), 1), rng.integers(0, 6, n)
    colour = rng.choice(["red", "green", "blue", "grey"], n).astype(object)
    y = np.where(x + (colour == "red") * (z > 2) + 0.7 * rng.normal(size=n) > 0.6, 1, -1)
    lost = rng.random((3, n)) < 0.12
    colour[lost[2]] = None
    frame = pd.DataFrame(
        {"x": np.where(lost[0], np.nan, x), "z": np.where(lost[1], np.nan, z), "colour": pd.Categorical(colour)}
    )
    columns = [[None if v != v else v for v in frame[c]] for c in ("x", "z")] + [colour.tolist()]
    clf = AlternatingTreeClassifier(init="balanced", max_rounds=7, pos_label=1, engine=engine).fit(frame, y)
    stages = naive_tree(columns, [False, False, True], y.tolist(), [1.0] * n, 7)
    for F, record, (Z, expected) in zip(clf.staged_decision_function(frame), clf.history_, stages, strict=True):
        assert record["criterion"] == pytest.approx(Z, abs=1e-10)
        np.testing.assert_allclose(F, expected, atol=1e-9)


# -------------------------------------------------------------------------------------- laws


def test_both_starts_grow_the_same_tree():
    X, y = awkward_data()
    prior, balanced = (AlternatingTreeClassifier(init=i, max_rounds=15).fit(X, y) for i in ("prior", "balanced"))
    root = 0.5 * np.log((y == 1).sum() / (y == 0).sum())
    assert prior.tree().value == pytest.approx(root)
    difference = prior.decision_function(X) - balanced.decision_function(X)
    np.testing.assert_allclose(difference, root, atol=1e-9)
    np.testing.assert_allclose(prior.predict_proba(X), balanced.predict_proba(X), atol=1e-9)


def test_costs_of_classes_move_the_root():
    """After the prior's root both classes weigh the same whatever they cost; balanced weights are tilted by costs."""
    X, y = awkward_data(2000)
    plain, costly = (AlternatingTreeClassifier(cost=c, max_rounds=8, pos_label=1).fit(X, y) for c in (None, 3.0))
    difference = costly.decision_function(X) - plain.decision_function(X)
    np.testing.assert_allclose(difference, 0.5 * np.log(3.0), atol=1e-9)
    np.testing.assert_allclose(costly.predict_proba(X), plain.predict_proba(X), atol=1e-9)
    tilted = AlternatingTreeClassifier(cost=3.0, init="balanced", max_rounds=8, pos_label=1).fit(X, y)
    assert tilted.tree().value == 0.0
    assert (tilted.predict(X) == 1).sum() > (costly.predict(X) == 1).sum() > (plain.predict(X) == 1).sum()


def test_equal_costs_are_no_costs():
    X, y = awkward_data()
    a, b = (AlternatingTreeClassifier(cost=c, max_rounds=12).fit(X, y) for c in (1.0, None))
    np.testing.assert_array_equal(a.decision_function(X), b.decision_function(X))


@pytest.mark.slow
@pytest.mark.parametrize("missing", ["abstain", "learn"])
def test_what_is_kept_between_rounds_changes_nothing(missing, monkeypatch):
    """Forgetting every histogram and gain after every round gives the same tree."""
    X, y = awkward_data(3000, seed=4)
    kept = AlternatingTreeClassifier(max_rounds=60, missing=missing, engine="cpu").fit(X, y)
    grow = AlternatingGrowth.grow

    def forgetful(self, *args):
        self.forget()
        return grow(self, *args)

    monkeypatch.setattr(AlternatingGrowth, "grow", forgetful)
    again = AlternatingTreeClassifier(max_rounds=60, missing=missing, engine="cpu").fit(X, y)
    assert kept.export_text() == again.export_text()
    np.testing.assert_allclose(kept.decision_function(X), again.decision_function(X), atol=1e-9)


def test_only_nodes_that_share_rows_with_the_precondition_are_searched_again(monkeypatch):
    X, y = awkward_data(3000, seed=4, missing=0.0)
    searched = []
    search = AlternatingGrowth._search

    def noting(self, node):
        searched.append((len(self.splits), self.nodes.index(node)))
        return search(self, node)

    monkeypatch.setattr(AlternatingGrowth, "_search", noting)
    clf = AlternatingTreeClassifier(max_rounds=30).fit(X, y)
    paths = [()]
    for m, term in enumerate(clf.estimators_):
        above = paths[term.partition.precondition]
        paths += [(*above, (m, side)) for side in (0, 1)]
    spared = 0
    for m, term in enumerate(clf.estimators_[:-1]):
        chosen = dict(paths[term.partition.precondition])
        for k in range(2 * m + 1):  # the nodes that were there before the round
            disjoint = any(chosen.get(splitter, side) != side for splitter, side in paths[k])
            if disjoint and (m, k) in searched:
                assert (m + 1, k) not in searched
                spared += 1
    assert spared > 20


def test_it_is_realboost_where_only_the_root_is_split():
    """Votes on one binary feature leave nothing to split below."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (400, 1)).astype(float)
    y = (rng.random(400) < 0.3 + 0.4 * X[:, 0]).astype(int)
    tree = RealBoostClassifier(estimator=AlternatingTree(), n_estimators=6).fit(X, y)
    stumps = RealBoostClassifier(n_estimators=6).fit(X, y)
    np.testing.assert_allclose(tree.decision_function(X), stumps.decision_function(X), atol=1e-9)


def test_missing_values_stop_the_path_or_take_a_side():
    X, y = awkward_data(800, missing=0.3)
    nothing = np.full((1, X.shape[1]), np.nan)
    abstaining = AlternatingTreeClassifier(max_rounds=10).fit(X, y)
    assert abstaining.decision_function(nothing)[0] == pytest.approx(abstaining.tree().value)
    assert len(abstaining.explain(nothing[0]).steps) == 1
    learned = AlternatingTreeClassifier(max_rounds=10, missing="learn").fit(X, y)
    assert len(learned.explain(nothing[0]).steps) > 1
    assert "or missing" in learned.export_text()


# ------------------------------------------------------------------------------ for its readers


def test_an_explanation_adds_up_to_the_score():
    X, y = awkward_data(500)
    clf = AlternatingTreeClassifier(max_rounds=20, pos_label=1).fit(X, y)
    F = clf.decision_function(X)
    for i in range(0, 500, 25):
        why = clf.explain(X[i])
        assert why.label == 1
        assert why.score == pytest.approx(F[i], abs=1e-12)
        assert sum(s.contribution for s in why.steps) == pytest.approx(F[i], abs=1e-12)
        assert why.steps[0].node == 0
        assert f"{F[i]:+.3f}" in str(why)


def test_the_text_says_what_the_tree_does():
    X, y = load_rare_cancer()
    clf = AlternatingTreeClassifier(max_rounds=12).fit(X, y)
    lines = clf.export_text(decimals=9).splitlines()
    assert len(lines) == 1 + 2 * 12
    # follow the text by hand
    for i in range(0, len(X), 40):
        row, total, open_at = X.iloc[i], 0.0, 0
        for line in lines:
            depth = line.count("|  ")
            if depth > open_at:
                continue
            found = re.fullmatch(r"(?:\|  )*(?:\(\d+\) (.+) ([≤>]) (\S+): |F = )(\S+)", line)
            name, sign, threshold, value = found.groups()
            passes = name is None or ((row[name] <= float(threshold)) == (sign == "≤"))
            open_at = depth + 1 if passes else depth
            total += float(value) if passes else 0.0
        assert total == pytest.approx(clf.decision_function(X.iloc[[i]])[0], abs=1e-6)


def test_categories_are_told_by_name():
    rng = np.random.default_rng(0)
    shop = pd.Categorical(rng.choice(["food", "fuel", "toys", "arms", "cars", "pets"], 500))
    y = (shop == "toys") | (rng.random(500) < 0.1)
    clf = AlternatingTreeClassifier(max_rounds=1).fit(pd.DataFrame({"shop": shop}), y)
    text = clf.export_text()
    assert "shop = toys: " in text
    assert "shop ≠ toys: " in text
    assert "shop = toys" in str(clf.explain(pd.DataFrame({"shop": ["toys"]})))


def test_missing_against_known():
    rng = np.random.default_rng(0)
    y = rng.random(400) < 0.3
    lost = y ^ (rng.random(400) < 0.1)
    for column in (np.where(lost, np.nan, 1.0), pd.Categorical(np.where(lost, None, "seen"))):
        clf = AlternatingTreeClassifier(max_rounds=1, missing="learn").fit(pd.DataFrame({"x": column}), y)
        assert "x is known: -" in clf.export_text()
        assert "x is missing: +" in clf.export_text()


def test_long_conditions_are_drawn_in_lines_that_fit():
    import matplotlib.pyplot as plt

    rng = np.random.default_rng(0)
    names = [f"a category of many letters {k}" for k in range(8)]
    shop = rng.integers(0, 8, 900)
    X = pd.DataFrame({"shop": pd.Categorical.from_codes(shop, names), "x": rng.normal(size=900)})
    clf = AlternatingTreeClassifier(max_rounds=6).fit(X, rng.random(900) < 0.2 + 0.5 * (shop % 2))
    axes = clf.plot_tree()
    assert max(len(line) for text in axes.texts for line in text.get_text().split("\n")) <= 26
    axes.figure.canvas.draw()
    boxes = [t.get_window_extent() for t in axes.texts]
    width, height = axes.figure.canvas.get_width_height()
    for k, a in enumerate(boxes):
        assert 0 <= a.x0 <= a.x1 <= width
        assert 0 <= a.y0 <= a.y1 <= height
        assert not any(a.overlaps(b) for b in boxes[:k])
    plt.close("all")


def test_the_picture_shows_every_node():
    import matplotlib.pyplot as plt

    X, y = load_rare_cancer()
    clf = AlternatingTreeClassifier(max_rounds=8).fit(X, y)
    axes = clf.plot_tree(decimals=3)
    said = [t.get_text() for t in axes.texts]
    nodes = list(clf.tree().walk())
    for _, node, splitter in nodes:
        assert f"{node.value:+.3f}" in said
        if splitter:
            assert f"{splitter.round}  {splitter.name}" in said
            assert node.test.removeprefix(splitter.name).strip() in [" ".join(text.split()) for text in said]
    assert len(said) == 17 + 8 + 16
    assert "predict 1" in axes.get_title(loc="left")
    _, given = plt.subplots()
    assert clf.plot_tree(ax=given) is given
    plt.close("all")


def test_mistakes_are_told():
    X, y = awkward_data(100)
    with pytest.raises(TypeError, match="unexpected keyword argument 'n_estimators'"):
        AlternatingTreeClassifier(n_estimators=5)
    for params, message in (
        ({"init": "zero"}, "init of AlternatingTreeClassifier must be one of 'prior', 'balanced'; got 'zero'"),
        ({"max_rounds": 0}, "max_rounds of AlternatingTreeClassifier must be an integer >= 1; got 0"),
        ({"missing": "skip"}, "missing of AlternatingTree must be one of 'abstain', 'learn'; got 'skip'"),
    ):
        with pytest.raises(ValueError, match=message):
            AlternatingTreeClassifier(**params).fit(X, y)
    clf = AlternatingTreeClassifier(max_rounds=4, warm_start=True).fit(X, y)
    with pytest.raises(ValueError, match="explain takes one example, but x has 100 rows"):
        clf.explain(X)
    with pytest.raises(ValueError, match="max_rounds=3 is smaller than the 4 rounds"):
        clf.set_params(max_rounds=3).fit(X, y)


def cross_validated_error(clf, X, y, n_folds=10):
    """The mean error on held-out rows after every round."""
    errors = []
    for inner, outer in StratifiedKFold(n_folds, shuffle=True, random_state=0).split(X, y):
        stages = clone(clf).fit(X.iloc[inner], y[inner]).staged_predict(X.iloc[outer])
        errors.append([np.mean(said != y[outer]) for said in stages])
    return np.mean(errors, axis=0)


@pytest.mark.slow  # on data of the papers
def test_fifty_rounds_bring_the_training_error_of_hypothyroid_next_to_zero():
    """[cuendet2002] §3.2.5: to zero, where stumps leave many more wrong."""
    X, y = load_real("hypothyroid")
    tree = AlternatingTreeClassifier(max_rounds=50).fit(X, y)
    stumps = RealBoostClassifier(n_estimators=50).fit(X, y)
    assert (tree.predict(X) != y).sum() <= 2
    assert (stumps.predict(X) != y).sum() >= 10


@pytest.mark.slow  # on data of the papers
def test_seven_rounds_do_on_hypothyroid_what_sixty_stumps_do_not():
    """[freund1999] reports 0.8 % after 7 rounds, 1.1 % for stumps after 60; [cuendet2002] §3.2.5 did not get there."""
    X, y = load_real("hypothyroid")
    tree = cross_validated_error(AlternatingTreeClassifier(max_rounds=7), X, y)
    assert tree[-1] == pytest.approx(0.008, abs=0.0025)
    abstaining = RealBoostClassifier(estimator=Stump(missing="abstain"), n_estimators=60)
    assert cross_validated_error(abstaining, X, y)[-1] == pytest.approx(0.011, abs=0.0025)


@pytest.mark.slow  # on data of the papers
def test_it_overfits_sooner_than_stumps():
    """[cuendet2002] fig. 3-5: on cleveland the training error is gone after 50 rounds, and the test error is worse."""
    X, y = load_real("cleveland_heart")
    tree = cross_validated_error(AlternatingTreeClassifier(max_rounds=50), X, y)
    stumps = cross_validated_error(RealBoostClassifier(n_estimators=50), X, y)
    assert tree[-1] > stumps[-1] + 0.01
    assert tree.argmin() < 15
    assert tree[-1] > tree.min() + 0.03
