"""HPWR: discretisation, patterns, evidence, and what boosting makes of it."""

from __future__ import annotations

import inspect
import itertools
import math
import pickle
from dataclasses import FrozenInstanceError

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.stats import chi2_contingency
from sklearn.base import clone
from sklearn.metrics import f1_score
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from skewboost import (
    AdaBoostClassifier,
    AdaC2Classifier,
    AdaCostClassifier,
    CSB1Classifier,
    RealBoostClassifier,
)
from skewboost.datasets import load_rare_cancer
from skewboost.learners import EvidenceRule, RuleLearner
from skewboost.learners.discretise import mdl_cuts
from skewboost.learners.patterns import adjusted_residual, distinct
from support import awkward_data

# -------------------------------------------------------------------- discretisation


def naive_cuts(x, y, w):
    """Fayyad and Irani by the book: every boundary point of every part, one at a time."""

    def entropy(part):
        n = sum(w[i] for i in part)
        shares = [sum(w[i] for i in part if y[i] == c) / n for c in {y[i] for i in part}]
        return -sum(p * math.log2(p) for p in shares)

    def classes_at(part, value):
        return {y[i] for i in part if x[i] == value}

    part = [i for i in range(len(x)) if w[i] > 0]
    n = sum(w[i] for i in part)
    values = sorted({x[i] for i in part})
    best = None
    for a, b in itertools.pairwise(values):
        if len(classes_at(part, a) | classes_at(part, b)) == 1:
            continue
        left, right = [i for i in part if x[i] <= a], [i for i in part if x[i] > a]
        n_left, n_right = sum(w[i] for i in left), sum(w[i] for i in right)
        after = (n_left * entropy(left) + n_right * entropy(right)) / n
        if best is None or after < best[0] - 1e-10:
            best = (after, left, right, (a + b) / 2)
    if best is None or n < 2:
        return []
    after, left, right, cut = best
    k, k1, k2 = (len({y[i] for i in p}) for p in (part, left, right))
    delta = math.log2(3**k - 2) - (k * entropy(part) - k1 * entropy(left) - k2 * entropy(right))
    if entropy(part) - after <= math.log2(n - 1) / n + delta / n:
        return []

    def within(rows):
        return naive_cuts([x[i] for i in rows], [y[i] for i in rows], [w[i] for i in rows])

    return [*within(left), cut, *within(right)]


@pytest.mark.parametrize("weighting", ["none", "whole", "real"])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("seed", range(2))
def test_cuts_are_those_of_the_naive_recursion(seed, n_classes, weighting):
    rng = np.random.default_rng(seed)
    n = 150
    x = np.round(rng.normal(size=n), 1 + seed % 2)
    y = (np.digitize(x, [-0.6, 0.4, 1.1]) + (rng.random(n) < 0.15)) % n_classes
    w = {"none": np.ones(n), "whole": rng.integers(1, 4, n).astype(float), "real": rng.exponential(size=n)}[weighting]
    expected = naive_cuts(x.tolist(), y.tolist(), w.tolist())
    assert len(expected) >= 2
    np.testing.assert_allclose(mdl_cuts(x, y, w, n_classes), expected, rtol=1e-14)


def cuts(y, weights=None):
    x = np.arange(len(y), dtype=float)
    w = np.ones(len(y)) if weights is None else np.array(weights)
    return mdl_cuts(x, np.array(y, dtype=int), w, 2).tolist()


def test_a_cut_is_made_where_it_pays():
    """One odd example at the end: H(1/n) > (log2(n-1) + log2 7 - 2 H(1/n)) / n holds up to n = 6."""
    assert cuts([1] + [0] * 5) == [0.5]
    assert cuts([1] + [0] * 6) == []
    assert cuts([0, 1]) == [0.5]
    assert cuts([0, 0, 1, 1]) == [1.5]
    assert cuts([0] * 20 + [1] * 20 + [0] * 20) == [19.5, 39.5]
    assert cuts([0, 1] * 20) == []
    assert cuts([0] * 20) == []
    assert cuts([0, 1], weights=[0.9, 0.9]) == []  # less than two examples
    assert cuts([]) == []


def test_a_cut_lies_between_numbers_that_have_nothing_between_them():
    a = 1.0
    b = np.nextafter(a, 2.0)
    (cut,) = mdl_cuts(np.repeat([a, b], 10), np.repeat([0, 1], 10), np.ones(20), 2)
    assert a <= cut < b
    (cut,) = mdl_cuts(np.repeat([-1.7e308, 1.7e308], 10), np.repeat([0, 1], 10), np.ones(20), 2)
    assert cut == 0.0


# ------------------------------------------------------------------------- residuals


def test_the_residual_of_two_events_is_the_root_of_chi_square():
    rng = np.random.default_rng(0)
    for _ in range(20):
        table = rng.integers(5, 60, (2, 2)).astype(float)
        n = table.sum()
        d = adjusted_residual(table[0, 0], n, [table[0].sum() / n, table[:, 0].sum() / n])
        assert d**2 == pytest.approx(chi2_contingency(table, correction=False).statistic, rel=1e-12)
        assert np.sign(d) == np.sign(table[0, 0] * table[1, 1] - table[0, 1] * table[1, 0])


@pytest.mark.parametrize("shares", [(0.9, 0.8), (0.7, 0.6, 0.8), (0.3, 0.9, 0.5, 0.7)])
def test_residuals_of_independent_events_are_standard_normal(shares):
    """The variance must be that with estimated probabilities: 1 - Πp, as published, gives 0.6 and less here."""
    rng = np.random.default_rng(0)
    n = 500
    d = []
    for _ in range(1500):
        happens = rng.random((len(shares), n)) < np.array(shares)[:, None]
        d.append(adjusted_residual(happens.all(axis=0).sum(), n, list(happens.mean(axis=1))))
    assert np.std(d) == pytest.approx(1.0, abs=0.05)
    assert np.mean(np.abs(d) > 1.96) == pytest.approx(0.05, abs=0.02)


# ----------------------------------------------------------------- rules, brute force


def discrete_data(n_classes=2, seed=0, n=400, weighted=True):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({name: rng.choice(list("abcd")[:k], n) for name, k in (("p", 2), ("q", 3), ("r", 4), ("s", 2))})
    score = (X["p"] == "a") * 1.0 + ((X["q"] == "b") & (X["s"] == "a")) * 1.5 + rng.normal(size=n)
    X.loc[rng.random(n) < 0.1, "r"] = None
    y = np.digitize(score, [1.2] if n_classes == 2 else [0.3, 1.5])
    return X, y, rng.exponential(size=n) if weighted else np.ones(n)


def brute_rules(X, y, w, *, max_order, significance=1.96, min_expected=5.0):
    """Every pattern, counted one by one: {(conditions, class): (d, W, support, rank)}."""
    n = w.sum()
    cells = X.fillna("?").to_numpy()
    found = {}
    for order in range(1, max_order + 1):
        for columns in itertools.combinations(range(X.shape[1]), order):
            for values in itertools.product(*(np.unique(cells[:, j]) for j in columns)):
                each = [cells[:, j] == v for j, v in zip(columns, values)]
                p = [w[e].sum() / n for e in each]
                meets = np.logical_and.reduce(each)
                for c in np.unique(y):
                    d, testable = [], []
                    for side in (y == c, y != c):
                        q = [*p, w[side].sum() / n]
                        e = n * np.prod(q)
                        v = 1 - np.prod(q) * (1 + sum((1 - r) / r for r in q))
                        d.append((w[meets & side].sum() - e) / math.sqrt(e * v))
                        testable.append(e >= min_expected)
                    strength = max(abs(a) if t else 0.0 for a, t in zip(d, testable))
                    if strength > significance:
                        a = w[meets & (y == c)].sum() / w[y == c].sum() + 1 / n
                        b = w[meets & (y != c)].sum() / w[y != c].sum() + 1 / n
                        conditions = tuple((X.columns[j], str(v)) for j, v in zip(columns, values))
                        found[conditions, c] = (d[0], math.log(a / b), w[meets].sum(), (-order, -strength))
    return found


def listed(clf):
    def value(text):
        return "?" if text == "is missing" else text.removeprefix("= ")

    return {
        (tuple((c.attribute, value(c.value)) for c in r.conditions), r.label): (r.residual, r.evidence, r.support)
        for r in clf.rules_
    }


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("max_order", [1, 2, 3])
def test_rules_are_the_significant_patterns_of_a_brute_force_count(max_order, weighted, n_classes):
    X, y, w = discrete_data(n_classes, weighted=weighted)
    clf = RuleLearner(max_order=max_order).fit(X, y, sample_weight=w)
    brute = brute_rules(X, y, w, max_order=max_order)
    if n_classes == 2:  # each pattern is listed for the class that it speaks for
        brute = {key: found for key, found in brute.items() if found[1] >= 0}
    rules = listed(clf)
    assert len(rules) == len(clf.rules_)
    assert max(len(conditions) for conditions, _ in rules) == max_order
    assert rules.keys() == brute.keys()
    for key, found in rules.items():
        np.testing.assert_allclose(found, brute[key][:3], rtol=1e-9, atol=1e-9)
    if n_classes == 3:
        assert {np.sign(e) for _, e, _ in rules.values()} == {-1.0, 1.0}


@pytest.mark.parametrize("n_classes", [2, 3])
def test_evidence_is_a_difference_of_mutual_informations(n_classes):
    X, y, w = discrete_data(n_classes)
    n, cells = w.sum(), X.fillna("?")
    for rule in RuleLearner(max_order=2).fit(X, y, sample_weight=w).rules_:
        values = {c.attribute: "?" if c.value == "is missing" else c.value.removeprefix("= ") for c in rule.conditions}
        meets = np.logical_and.reduce([(cells[name] == value).to_numpy() for name, value in values.items()])
        of_class, of_rest = (w[meets & own].sum() / w[own].sum() for own in (y == rule.label, y != rule.label))
        informations = [math.log((p + 1 / n) / (w[meets].sum() / n + 1 / n)) for p in (of_class, of_rest)]
        assert rule.information == pytest.approx(informations[0], abs=1e-9)
        assert rule.evidence == pytest.approx(informations[0] - informations[1], abs=1e-9)
        assert np.sign(rule.information) == np.sign(rule.evidence)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_an_example_adds_up_the_best_rules_that_share_no_attribute(n_classes):
    X, y, w = discrete_data(n_classes)
    clf = RuleLearner(max_order=3).fit(X, y, sample_weight=w)
    brute = brute_rules(X, y, w, max_order=3)
    F = clf.decision_function(X)
    for i in range(0, len(X), 7):
        row = X.iloc[i].fillna("?").to_dict()
        for c in range(n_classes):
            share = w[y == c].sum() / w.sum()
            total, used = math.log(share / (1 - share)), set()
            for (conditions, of), found in sorted(brute.items(), key=lambda item: item[1][3]):
                attributes = {a for a, _ in conditions}
                if of == c and not used & attributes and all(row[a] == v for a, v in conditions):
                    total += found[1]
                    used |= attributes
            expected = F[i, c] if n_classes == 3 else (F[i] if c == 1 else -F[i])
            assert total == pytest.approx(expected, abs=1e-8)


def test_a_rule_reads_as_a_sentence():
    X = pd.DataFrame({"colour": ["red", "red", "green", "green"] * 10, "size": [1, 4, 1, 4] * 10})
    clf = RuleLearner().fit(X, ["ripe", "unripe", "unripe", "unripe"] * 10)
    rule = clf.rules_[0]
    # 10 of 40 meet it, all ripe, and all of the ripe: W = ln (1 + 1/40) / (0 + 1/40) = ln 41; e = 40/2/2/4 = 2.5
    assert rule.evidence == pytest.approx(math.log(41))
    # P(x | c) = 1 and P(x) = 1/4: I = ln (1 + 1/40) / (1/4 + 1/40) = ln 41/11; of the rest ln (1/40) / (11/40)
    assert rule.information == pytest.approx(math.log(41 / 11))
    assert rule.evidence == pytest.approx(rule.information - math.log(1 / 11))
    assert rule.residual == pytest.approx(7.5 / math.sqrt(2.5 * (1 - 1 / 16 * (1 + 1 + 1 + 3))))
    assert str(rule) == "if colour = red and size ≤ 2.5 then ripe: evidence +3.71 (residual 6.0, support 10)"
    with pytest.raises(FrozenInstanceError):
        rule.evidence = 0.0
    assert isinstance(rule, EvidenceRule)
    assert clf.export_text(max_rules=3).splitlines() == [str(r) for r in clf.rules_[:3]]
    evidence = [abs(r.evidence) for r in clf.rules_]
    assert evidence == sorted(evidence, reverse=True)


def test_intervals_and_missing_cells_read_as_such():
    x = np.repeat([0.0, 1.0, 2.0, np.nan], 30)
    y = np.repeat([0, 1, 0, 1], 30)
    blank = np.where(y == 1, np.nan, np.arange(120) % 7)  # known or not is all that matters
    clf = RuleLearner(max_order=1).fit(np.column_stack((x, blank)), y)
    texts = {str(c) for r in clf.rules_ for c in r.conditions}
    assert texts == {"x0 ≤ 0.5", "x0 in (0.5, 1.5]", "x0 > 1.5", "x0 is missing", "x1 is known", "x1 is missing"}


# ------------------------------------------------------------------------------ laws


def mixed_data(n=500, seed=0):
    X, y = awkward_data(n, seed)
    frame = pd.DataFrame(X, columns=list("abcdefghi"))
    rng = np.random.default_rng(seed)
    frame["kind"] = np.where(
        rng.random(n) < 0.1, None, np.where(y == 1, rng.choice(list("xy"), n), rng.choice(list("yz"), n))
    )
    return frame, y


@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_weight_is_a_repetition_and_none_is_absence(n_classes):
    X, y = mixed_data()
    y = y + (n_classes == 3) * (X["a"].to_numpy() > 0.3)
    w = np.random.default_rng(1).integers(0, 4, len(y))
    weighted = RuleLearner().fit(X, y, sample_weight=w)
    rows = np.repeat(np.arange(len(y)), w)
    repeated = RuleLearner().fit(X.iloc[rows], y[rows])
    np.testing.assert_array_equal(weighted.decision_function(X), repeated.decision_function(X))
    assert weighted.export_text(10**6) == repeated.export_text(10**6)
    assert weighted.export_text(10**6) != RuleLearner().fit(X, y).export_text(10**6)


def test_the_order_of_rows_and_columns_does_not_matter():
    X, y = mixed_data()
    w = np.random.default_rng(1).exponential(size=len(y))
    clf = RuleLearner().fit(X, y, sample_weight=w)
    F = clf.decision_function(X)
    order = np.random.default_rng(2).permutation(len(y))
    shuffled = RuleLearner().fit(X.iloc[order], y[order], sample_weight=w[order])
    np.testing.assert_allclose(shuffled.decision_function(X), F, atol=1e-9)
    assert len(shuffled.rules_) == len(clf.rules_)
    turned = RuleLearner().fit(X[X.columns[::-1]], y, sample_weight=w)
    np.testing.assert_allclose(turned.decision_function(X[X.columns[::-1]]), F, atol=1e-9)


def test_what_speaks_for_a_class_speaks_against_the_other():
    X, y = mixed_data()
    F = RuleLearner().fit(X, y).decision_function(X)
    np.testing.assert_allclose(RuleLearner().fit(X, 1 - y).decision_function(X), -F, atol=1e-9)
    assert np.abs(F).max() > 1


def test_more_examples_are_more_significant():
    X, y = mixed_data()
    once, ten = (RuleLearner().fit(X, y, sample_weight=np.full(len(y), k)) for k in (1, 10))
    assert len(ten.rules_) > 2 * len(once.rules_)


def test_rounding_decides_nothing():
    """Tenths of examples do not add up exactly; limits that are met to the digit, and ties, must not notice."""
    X = pd.DataFrame({"x": list("aaaaaaaabbbbbbbb")}).loc[np.repeat(np.arange(16), 10)]
    y = np.repeat(np.array([1] * 6 + [0] * 2 + [1] * 2 + [0] * 6), 10)
    w = np.full(160, 0.1)
    # e = 4 and v = 1/4, so d = (6 - 4) / 1
    d = [RuleLearner(min_expected=4, significance=s).fit(X, y, sample_weight=w).rules_ for s in (1.999, 2.0)]
    assert [r.residual for r in d[0]] == pytest.approx([2.0, 2.0])
    assert d[1] == []
    # with a quarter of positives 16 · 1/2 · 3/4 = 6 are expected of each value and the negatives
    rows = np.repeat(np.arange(16), 20)
    twentieths = RuleLearner(min_expected=6)
    twentieths.fit(pd.DataFrame({"x": np.where(rows < 8, "a", "b")}), rows >= 12, sample_weight=np.full(320, 0.05))
    assert len(twentieths.rules_) == 2
    undecided = RuleLearner().fit(np.zeros((6, 1)), [0, 0, 0, 1, 1, 1], sample_weight=[0.1, 0.2, 0.3, 0.3, 0.2, 0.1])
    assert undecided.decision_function([[0.0]]) == 0.0


# ------------------------------------------------------------------------- behaviour


def test_pairs_find_what_single_conditions_cannot():
    X = pd.DataFrame(list(itertools.product("ab", repeat=4)) * 40, columns=list("pqrs"))
    two = (X["p"] == X["q"]).to_numpy()
    three = two ^ (X["r"] == "a").to_numpy()
    assert RuleLearner(max_order=1).fit(X, two).score(X, two) < 0.7
    assert RuleLearner(max_order=2).fit(X, two).score(X, two) == 1.0
    assert RuleLearner(max_order=2).fit(X, three).score(X, three) < 0.7
    assert RuleLearner(max_order=3).fit(X, three).score(X, three) == 1.0


def test_missing_is_a_value_of_its_own():
    rng = np.random.default_rng(0)
    x = rng.normal(size=300)
    y = rng.random(300) < 0.3
    x[y] = np.nan
    assert RuleLearner().fit(x[:, None], y).score(x[:, None], y) == 1.0
    kind = pd.DataFrame({"kind": np.where(y, None, "a")})
    assert RuleLearner().fit(kind, y).score(kind, y) == 1.0


def test_what_training_did_not_see_meets_no_rule():
    X = pd.DataFrame({"kind": ["a", "b"] * 50, "x": [0.0, 1.0] * 50})
    y = np.array([0, 1] * 50)
    y[:10] = 0
    clf = RuleLearner().fit(X, y)
    strange = pd.DataFrame({"kind": ["c", None], "x": [np.nan, np.nan]})
    np.testing.assert_allclose(clf.predict_proba(strange)[:, 1], y.mean())
    holed = X.assign(kind=X["kind"].where(np.arange(100) < 80, None))
    clf = RuleLearner().fit(holed, np.where(holed["kind"].isna(), 1, y * (np.arange(100) < 40)))
    unseen, missing = clf.decision_function(strange)
    assert unseen == missing
    assert clf.predict(strange).tolist() == [1, 1]


def test_without_rules_the_prior_decides():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 3)), np.repeat([0, 1, 2], [100, 60, 40])
    clf = RuleLearner(significance=50.0).fit(X, y)
    assert clf.rules_ == []
    assert clf.export_text() == ""
    np.testing.assert_allclose(clf.predict_proba(X), np.tile([0.5, 0.3, 0.2], (200, 1)), atol=1e-8)
    assert (clf.predict(X) == 0).all()


def test_the_prior_can_be_left_out():
    X, y = mixed_data()
    with_prior, without = (RuleLearner(prior=p).fit(X, y) for p in (True, False))
    difference = with_prior.decision_function(X) - without.decision_function(X)
    np.testing.assert_allclose(difference, np.log(y.mean() / (1 - y.mean())), atol=1e-9)
    assert without.predict(X).sum() > with_prior.predict(X).sum()


def test_three_classes():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 4))
    y = np.array(["a", "b", "c"])[(X[:, 0] > 0.5).astype(int) + (X[:, 1] > 1.0)]
    clf = RuleLearner().fit(X, y)
    assert clf.score(X, y) > 0.9
    assert clf.decision_function(X).shape == (600, 3)
    np.testing.assert_allclose(clf.predict_proba(X).sum(axis=1), 1.0)
    np.testing.assert_array_equal(clf.classes_[clf.predict_proba(X).argmax(axis=1)], clf.predict(X))


def test_limits_limit():
    X, y = mixed_data(2000)
    n_rules = {}
    for name, value in [("max_order", 1), ("significance", 6.0), ("min_expected", 200.0), ("max_patterns", 7)]:
        clf = RuleLearner(**{name: value}).fit(X, y)
        n_rules[name] = len(clf.rules_)
        if name == "max_patterns":
            by_order = [sum(len(r.conditions) == k for r in clf.rules_) for k in (1, 2)]
            assert max(by_order) <= 7
        if name == "min_expected":
            assert min(r.support for r in clf.rules_) > 100
        if name == "significance":
            assert max(abs(r.residual) for r in clf.rules_) > 6
    everything = len(RuleLearner().fit(X, y).rules_)
    assert all(0 < n < everything for n in n_rules.values())


def test_many_categories_do_not_blow_up():
    """Ten thousand names are ten thousand events; most are too rare to be tested, and the rest is capped."""
    rng = np.random.default_rng(0)
    n = 8000
    X = pd.DataFrame({"id": pd.Categorical(np.arange(n).astype(str)), "city": rng.integers(0, 800, n).astype(str)})
    X["street"], y = rng.integers(0, 800, n).astype(str), rng.random(n) < 0.1
    clf = RuleLearner(max_order=3, max_patterns=300).fit(X, y)
    assert all(r.conditions[0].attribute != "id" for r in clf.rules_)
    assert len(clf.rules_) <= 900


# ---------------------------------------------------------------- scikit-learn's contract


@parametrize_with_checks([RuleLearner()])
@pytest.mark.filterwarnings("ignore:invalid value encountered in cast:RuntimeWarning")
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def test_clone_pickle_and_search():
    X, y = awkward_data(missing=0.0)
    search = GridSearchCV(
        make_pipeline(StandardScaler(), RuleLearner()),
        {"rulelearner__significance": [1.96, 12.0]},
        cv=3,
        scoring="roc_auc",
    ).fit(X, y)
    assert search.best_score_ > 0.8
    assert len(set(search.cv_results_["mean_test_score"])) == 2
    clf = RuleLearner(max_order=3, significance=3.0).fit(X, y)
    again = pickle.loads(pickle.dumps(clf))
    np.testing.assert_array_equal(again.decision_function(X), clf.decision_function(X))
    fresh = clone(clf)
    assert not hasattr(fresh, "classes_")
    assert fresh.get_params() == clf.get_params()
    np.testing.assert_array_equal(fresh.fit(X, y).decision_function(X), clf.decision_function(X))


def test_pandas_polars_arrow_and_numpy_are_one():
    X, y = mixed_data()
    clf = RuleLearner().fit(X, y)
    F = clf.decision_function(X)
    assert clf.feature_names_in_.tolist() == [*"abcdefghi", "kind"]
    assert {"a", "kind"} <= {c.attribute for r in clf.rules_ for c in r.conditions}
    polars = pl.from_pandas(X)
    for table in (polars, polars.to_arrow(), X.assign(kind=X["kind"].astype("category"))):
        np.testing.assert_array_equal(clf.decision_function(table), F)
        np.testing.assert_array_equal(RuleLearner().fit(table, y).decision_function(X), F)
    numbers = X.drop(columns="kind")
    framed = RuleLearner().fit(numbers, y).decision_function(numbers)
    matrix = numbers.to_numpy()
    np.testing.assert_array_equal(RuleLearner().fit(matrix, y).decision_function(matrix), framed)


def test_a_column_may_not_change_its_kind():
    X, y = mixed_data()
    clf = RuleLearner().fit(X, y)
    with pytest.raises(ValueError, match="column 'kind' held categories in training and holds numbers now"):
        clf.predict(X.assign(kind=1.0))


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"max_order": 0}, "max_order of RuleLearner must be an integer >= 1; got 0"),
        ({"significance": -1.0}, "significance of RuleLearner must be a number >= 0; got -1.0"),
        ({"min_expected": "5"}, "min_expected of RuleLearner must be a number >= 0; got '5'"),
        ({"max_patterns": 2.5}, "max_patterns of RuleLearner must be an integer >= 1; got 2.5"),
        ({"prior": None}, "prior of RuleLearner must be one of True, False; got None"),
    ],
)
def test_parameters_are_checked(params, message):
    with pytest.raises(ValueError, match=message):
        RuleLearner(**params).fit([[0.0], [1.0]], [0, 1])


def test_what_fit_is_given_is_checked():
    X, y = np.arange(20.0)[:, None], np.arange(20) % 2
    for weights, message in [
        (np.full(20, -1.0), "sample_weight has a negative entry"),
        (np.zeros(20), "sample_weight is zero for every row"),
        (np.ones(19), r"sample_weight has shape \(19,\), but X has 20 rows"),
        (np.full(20, 1e-12), "sample_weight sums to 2e-11, but weights count examples"),
    ]:
        with pytest.raises(ValueError, match=message):
            RuleLearner().fit(X, y, sample_weight=weights)
    with pytest.raises(ValueError, match="at least 2 classes, but y has only one class"):
        RuleLearner().fit(X, y, sample_weight=y)
    with pytest.raises(ValueError, match="y has missing values"):
        RuleLearner().fit(X, np.array(["a", None] * 10, dtype=object))
    with pytest.raises(ValueError, match="cannot be sorted"):
        RuleLearner().fit(X, np.array(["a", 1] * 10, dtype=object))


def test_a_class_that_weighs_next_to_nothing_is_no_trouble():
    X, y = mixed_data()
    F = RuleLearner(min_expected=0).fit(X, y, sample_weight=np.where(y, 1e-30, 1.0)).decision_function(X)
    assert np.isfinite(F).all()
    assert (F < 0).all()


def test_every_parameter_is_documented():
    for name in RuleLearner().get_params():
        assert f"\n{name} : " in inspect.cleandoc(RuleLearner.__doc__)


# -------------------------------------------------------------------------- boosted


LABEL_BOOSTERS = [AdaBoostClassifier, AdaC2Classifier, AdaCostClassifier, CSB1Classifier, RealBoostClassifier]


@pytest.mark.sample(3)
@pytest.mark.parametrize("booster", LABEL_BOOSTERS)
def test_every_booster_takes_it(booster):
    X, y = mixed_data(300)
    cost = {} if booster in (AdaBoostClassifier, RealBoostClassifier) else {"cost": 1.5}
    clf = booster(estimator=RuleLearner(), n_estimators=4, **cost).fit(X, y)
    single = RuleLearner().fit(X, y)
    assert f1_score(y, clf.predict(X)) > 0.75
    if cost:
        recalled = clf.predict(X)[y == 1].mean()
        assert recalled >= single.predict(X)[y == 1].mean()
    if booster is AdaBoostClassifier:
        assert clf.score(X, y) > single.score(X, y)


def test_the_first_round_is_the_learner_itself():
    X, y = mixed_data()
    clf = AdaBoostClassifier(estimator=RuleLearner(), n_estimators=1).fit(X, y)
    np.testing.assert_array_equal(clf.predict(X), RuleLearner().fit(X, y).predict(X))


class Converting(RuleLearner):
    """Reads the user's table in every round."""

    takes_tables = False


@pytest.mark.parametrize("sampled", [False, True])
def test_a_table_that_the_booster_has_read_is_the_users_table(sampled):
    X, y = mixed_data()
    X["void"] = np.where(np.arange(len(y)) == 0, 1.0, np.nan)  # empty in some samples of rows
    X["nothing"] = np.nan
    given = {"n_estimators": 5, "random_state": 0, "sampler": "bootstrap" if sampled else None}
    own, converted = (AdaBoostClassifier(estimator=e, **given).fit(X, y) for e in (RuleLearner(), Converting()))
    np.testing.assert_array_equal(own.decision_function(X), converted.decision_function(X))
    assert own.n_features_in_ == 12


@pytest.mark.parametrize("n_values", [2, 1000])
def test_rows_are_merged_if_all_their_values_are_equal(n_values):
    """1000 values in 12 columns are more combinations than an integer can count."""
    rng = np.random.default_rng(0)
    codes = rng.integers(-1, n_values, size=(12, 40))[:, rng.integers(40, size=300)]
    first, which = distinct(codes)
    assert len(first) == len(np.unique(codes, axis=1).T)
    np.testing.assert_array_equal(codes[:, first][:, which], codes)


def cross_validated_f1(clf, X, y):
    return f1_score(y, cross_val_predict(clf, X, y, cv=StratifiedKFold(3, shuffle=True, random_state=0)))


@pytest.mark.slow
def test_boosting_and_the_prior_both_help_a_rare_class():
    """Sun, Wong and Wang's finding for AdaBoost on HPWR, which does not use the prior."""
    X, y = load_rare_cancer()
    plain = cross_validated_f1(RuleLearner(prior=False), X, y)
    assert cross_validated_f1(AdaBoostClassifier(estimator=RuleLearner(prior=False), n_estimators=5), X, y) > plain
    assert cross_validated_f1(RuleLearner(), X, y) > plain
