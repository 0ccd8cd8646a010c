"""Stumps and trees with sampled columns, random thresholds, penalties and constraints, in boosters."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import polars as pl
import pytest

import skewboost as sb
from skewboost.errors import InputError
from skewboost.io import load, save
from skewboost.learners import Stump, Tree

LEVELS = ["none", "low", "medium", "high", "extreme"]
RISING = {"number": 1, "level": 1, "other": -1}


def table_with_levels(n=400, seed=0):
    """Numbers, ordered and unordered categories, with missing cells; the direction of the signal is not all rising."""
    rng = np.random.default_rng(seed)
    level, number, other = rng.integers(0, 4, n), rng.normal(size=n), rng.normal(size=n)  # nothing is "extreme"
    group = rng.integers(0, 6, n)
    signal = number + 0.7 * (level - 1) + np.sin(3 * other) + 0.5 * (group % 3) + 0.8 * np.sin(2.5 * number)
    y = (signal + rng.normal(size=n) > 1.8).astype(int)
    X = pd.DataFrame(
        {
            "number": np.where(rng.random(n) < 0.05, np.nan, number.round(1)),
            "level": pd.Categorical.from_codes(level, LEVELS, ordered=True),
            "other": other.round(1),
            "group": pd.Categorical([f"g{k}" for k in group]),
        }
    )
    X.loc[rng.random(n) < 0.05, "level"] = np.nan
    return X, y


def assert_monotonic(clf, X, directions=RISING, n_contexts=12):
    """P(classes_[1]) never moves against a direction, over all values of a column, with everything else fixed."""
    rng = np.random.default_rng(1)
    values = {"number": np.linspace(-4, 4, 60), "other": np.linspace(-4, 4, 60), "level": LEVELS}
    for name, direction in directions.items():
        grid = X.iloc[np.repeat(rng.integers(0, len(X), n_contexts), len(values[name]))]
        own = list(values[name]) * n_contexts
        column = pd.Categorical(own, LEVELS, ordered=True) if name == "level" else np.array(own)
        p = clf.predict_proba(grid.assign(**{name: column}))[:, 1].reshape(n_contexts, -1)
        assert (direction * np.diff(p, axis=1) >= 0.0).all(), name


def same(a, b, X):
    return a.decision_function(X).tobytes() == b.decision_function(X).tobytes()


@pytest.mark.parametrize("name", ["AdaBoost", "CSRA", "LogitBoost", "AdaBoostMH"])
def test_all_columns_and_no_penalty_are_the_default_to_the_bit(name):
    X, y = table_with_levels()
    cls = getattr(sb, f"{name}Classifier")
    for plain, full in [
        (Tree(), Tree(max_features=1.0, max_features_per_tree=4, l2_regularization=0, monotonic_cst=[0] * 4)),
        (Stump(), Stump(max_features=4)),
    ]:
        a, b = (cls(estimator=e, n_estimators=6, random_state=0).fit(X, y) for e in (plain, full))
        assert same(a, b, X)


@pytest.mark.parametrize(
    "tree",
    [
        Tree(max_features=2, max_features_per_tree=0.8),
        Tree(splitter="random", max_leaf_nodes=5),
        Tree(monotonic_cst=RISING, interaction_cst=[{"number", "level"}, {"other", "group"}]),
        Stump(max_features="sqrt", splitter="random"),
    ],
    ids=["columns", "thresholds", "constraints", "stump"],
)
@pytest.mark.parametrize("name", ["CSRA", "CSLB"])
def test_neither_order_of_rows_nor_weights_as_repetitions_nor_threads_nor_engine_matter(name, tree):
    X, y = table_with_levels(300)
    cls = getattr(sb, f"{name}Classifier")

    def fitted(rows, weights=None, **params):
        clf = cls(estimator=tree, n_estimators=6, random_state=3, cost=4, **params)
        return clf.fit(X.iloc[rows], y[rows], sample_weight=weights)

    rng = np.random.default_rng(0)
    weights = rng.integers(1, 4, len(y))
    rows = np.arange(len(y))
    first = fitted(rows, weights)
    assert same(first, fitted(rows, weights, n_jobs=2), X)
    for other in (
        fitted(order := rng.permutation(len(y)), weights[order]),
        fitted(np.repeat(rows, weights)),
        fitted(rows, weights, engine="reference"),
    ):
        np.testing.assert_allclose(other.decision_function(X), first.decision_function(X), rtol=0, atol=1e-9)


def test_random_draws_differ_by_round_and_by_seed_and_are_reproducible():
    X, y = table_with_levels()
    for tree in (Tree(splitter="random"), Tree(max_features=1)):
        a, b, c = (sb.RealBoostClassifier(estimator=tree, n_estimators=6, random_state=s).fit(X, y) for s in (0, 0, 1))
        assert same(a, b, X)
        assert not same(a, c, X)
        splits = [[(s.feature, s.threshold, s.child.tobytes()) for s in t.partition.splits] for t in a.estimators_]
        assert all(one != other for one, other in itertools.combinations(splits, 2))
        longer = sb.RealBoostClassifier(estimator=tree, n_estimators=3, random_state=0, warm_start=True).fit(X, y)
        longer.set_params(n_estimators=6).fit(X, y)
        np.testing.assert_allclose(longer.decision_function(X), a.decision_function(X), rtol=0, atol=1e-12)


def test_a_tree_uses_no_more_columns_than_were_drawn_for_it():
    X, y = table_with_levels()
    clf = sb.RealBoostClassifier(estimator=Tree(max_features_per_tree=2), n_estimators=20, random_state=0).fit(X, y)
    used = [frozenset(s.feature for s in term.partition.splits) for term in clf.estimators_]
    assert max(map(len, used)) == 2
    assert len(set(used)) > 3


def paths_of(partition):
    """The columns that are tested on the way to each leaf."""
    ways = {0: frozenset()}
    for k, links in enumerate(partition.links):
        own = ways.pop(k) | {partition.splits[k].feature}
        ways.update(dict.fromkeys(links, own))
    return ways.values()


@pytest.mark.parametrize("name", ["AdaBoost", "CSRA", "LogitBoost", "AdaBoostMH"])
def test_every_path_stays_within_a_set_of_columns(name):
    X, y = table_with_levels()
    y = np.digitize(X["other"] * (X["level"] > "low"), [-0.5, 0.5]) if name == "AdaBoostMH" else y
    cls, sets = getattr(sb, f"{name}Classifier"), [{"number", "level"}, {"level", "other"}]
    together = [{0, 1}, {1, 2}, {3}]  # what is in no set forms another
    clf = cls(estimator=Tree(interaction_cst=sets), n_estimators=8).fit(X, y)
    terms = clf._model.terms
    assert all(any(path <= group for group in together) for term in terms for path in paths_of(term.partition))
    assert any(len(path) > 1 for term in terms for path in paths_of(term.partition))
    alone = cls(estimator=Tree(interaction_cst="no_interactions"), n_estimators=4).fit(X, y)
    assert all(len(path) == 1 for term in alone._model.terms for path in paths_of(term.partition))


VARIANTS = [
    "AdaBoost", "RealBoost", "GentleBoost", "LogitBoost", "RareBoost", "Arcing", "CSRA", "CSGA", "CSLB", "CSAdaBoost",
    "CSRealBoost", "CSLogitBoost", "AsymmetricAdaBoost", "CGAda", "AdaMEC", "CSB2", "AdaCost", "AdaC1", "AdaC2",
    "AdaC3", "FavoredBoost", "AdaBoostReg", "SoftMarginBoost", "AdaBoostMH", "AdaC2M1",
]  # fmt: skip


@pytest.mark.sample(14)
@pytest.mark.parametrize("estimator", [Tree, Stump], ids=["tree", "stump"])
@pytest.mark.parametrize("name", VARIANTS)
def test_scores_are_monotonic_on_grids_of_all_values(name, estimator):
    X, y = table_with_levels()
    params = {"cost": 5} if name in ("CSRA", "CSLB", "CSAdaBoost", "AdaC2") else {}
    clf = getattr(sb, f"{name}Classifier")(
        estimator=estimator(monotonic_cst=RISING), n_estimators=15, random_state=0, **params
    )
    assert_monotonic(clf.fit(X, y), X)
    if name in ("AdaBoost", "CSRA", "LogitBoost"):
        assert_monotonic(clf.set_params(pos_label=0).fit(X, y), X)


@pytest.mark.parametrize(
    "params",
    [
        {"early_stopping": True, "cost": 8},
        {"sampler": 0.5},
        {"resample": True},
        {"learning_rate": 0.3, "engine": "reference"},
    ],
    ids=str,
)
@pytest.mark.parametrize("name", ["CSRA", "CSLB"])
def test_scores_are_monotonic_with_early_stopping_and_sampled_rows(name, params):
    X, y = table_with_levels()
    tree = Tree(monotonic_cst=RISING, splitter="random" if "sampler" in params else "best", max_features=3)
    clf = getattr(sb, f"{name}Classifier")(estimator=tree, n_estimators=12, random_state=0, **params).fit(X, y)
    assert_monotonic(clf, X)
    free = getattr(sb, f"{name}Classifier")(estimator="tree", n_estimators=12, random_state=0, **params).fit(X, y)
    with pytest.raises(AssertionError):
        assert_monotonic(free, X)  # the test can fail


def test_ordered_categories_of_polars_and_of_the_portfolio_are_monotonic():
    X, y = table_with_levels()
    enum = pl.DataFrame(X.assign(level=X["level"].astype(object).where(X["level"].notna(), None))).with_columns(
        pl.col("level").cast(pl.Enum(LEVELS)), pl.col("group").cast(pl.Categorical)
    )
    tree = Tree(monotonic_cst={"level": -1})
    a, b = (sb.CSRAClassifier(estimator=tree, n_estimators=5).fit(given, y) for given in (X, enum))
    assert a.decision_function(X).tobytes() == b.decision_function(enum).tobytes()
    clf = sb.SkewBoostClassifier(effort="quick", monotonic_cst=RISING, random_state=0).fit(X, y)
    assert_monotonic(clf, X)


def test_a_split_of_ordered_categories_is_a_threshold():
    X, y = table_with_levels()
    clf = sb.CSRAClassifier(estimator=Tree(monotonic_cst={"level": 1}), n_estimators=10).fit(X, y)
    splits = [s for term in clf.estimators_ for s in term.partition.splits if s.feature == 1]
    assert splits
    for split in splits:
        assert split.threshold == -1  # models, exports and drawings know sets of categories
        assert (np.diff(split.child[: len(LEVELS)].astype(int)) >= 0).all()
    assert clf._model.bins.features[1].categories == tuple(LEVELS)


def test_penalties_of_newton_leaves():
    X, y = table_with_levels()
    plain, shrunk, heavy = (
        sb.LogitBoostClassifier(estimator=tree, n_estimators=1).fit(X, y)
        for tree in (Tree(max_leaf_nodes=3), Tree(max_leaf_nodes=3, l2_regularization=1e6), Tree(min_hessian_leaf=30))
    )
    largest = [np.abs(clf.decision_function(X)).max() for clf in (plain, shrunk)]
    assert largest[1] < 1e-3 * largest[0]
    # the Hessian of the first round is ¼ per row
    assert min(heavy.estimators_[0].partition.covers) >= 4 * 30
    assert (
        min(sb.LogitBoostClassifier(estimator="tree", n_estimators=1).fit(X, y).estimators_[0].partition.covers)
        < 4 * 30
    )


@pytest.mark.parametrize("name", ["GentleBoost", "CSGA"])
def test_a_penalty_has_the_unit_of_an_example_also_where_weights_sum_to_one(name):
    """In the first round the weights are equal: the values of leaves are Σy / (n + λ)."""
    X, y = table_with_levels()
    clf = getattr(sb, f"{name}Classifier")(estimator=Tree(l2_regularization=50.0), n_estimators=1)
    term = clf.fit(X, y, **({"sample_cost": np.ones((len(y), 2))} if name == "CSGA" else {})).estimators_[0]
    scores = clf.decision_function(X)
    assert len(np.unique(scores)) == term.partition.n_leaves > 3
    for value in np.unique(scores):
        own = scores == value
        assert value == pytest.approx((2 * y[own] - 1).sum() / (own.sum() + 50.0))


def test_errors():
    X, y = table_with_levels(120)

    def fails(match, clf, labels=y):
        with pytest.raises(InputError, match=match):
            clf.fit(X, labels)

    for name in ("l2_regularization", "min_hessian_leaf"):
        for learner in (Tree, Stump):
            fails("no effect", sb.AdaBoostClassifier(estimator=learner(**{name: 1.0})))
            fails("no effect", sb.CSRAClassifier(estimator=learner(**{name: 1.0}), sampler=0.5))
    fails("not a sum", sb.WeightBoostClassifier(estimator=Tree(monotonic_cst=[1, 0, 0, 0])))
    fails("not a sum", sb.ConsistentBoostClassifier(estimator=Stump(monotonic_cst=[1, 0, 0, 0])))
    fails("two classes", sb.AdaBoostMHClassifier(estimator=Tree(monotonic_cst=[1, 0, 0, 0])), np.arange(120) % 3)
    fails("abstain", sb.RealBoostClassifier(estimator=Tree(monotonic_cst=[1, 0, 0, 0], missing="abstain")))
    fails("without an order", sb.RealBoostClassifier(estimator=Tree(monotonic_cst={"group": 1})))
    fails("more than the 4 columns", sb.RealBoostClassifier(estimator=Tree(max_features=5)))
    fails("max_features", sb.RealBoostClassifier(estimator=Stump(max_features=0.0)))
    fails("splitter", sb.RealBoostClassifier(estimator=Stump(splitter="worst")))
    fails("interaction_cst", sb.RealBoostClassifier(estimator=Tree(interaction_cst="some")))


def test_a_round_whose_columns_cannot_be_split_uses_all():
    """Eleven of twelve columns are constant, so most draws of one column allow no split."""
    X = np.zeros((200, 12))
    X[:, 5] = np.arange(200)
    y = (X[:, 5] + 40 * np.random.default_rng(0).normal(size=200) > 100).astype(int)
    for cls in (sb.AdaBoostClassifier, sb.LogitBoostClassifier, sb.CSRAClassifier):
        clf = cls(estimator=Stump(max_features=1), n_estimators=20, random_state=0).fit(X, y)
        assert clf.n_estimators_ == 20
        assert all(term.partition.splits for term in clf.estimators_)


def test_a_model_file_keeps_the_parameters_the_order_of_categories_and_every_bit(tmp_path):
    X, y = table_with_levels(200)
    tree = Tree(max_features=0.7, splitter="random", monotonic_cst=RISING, interaction_cst=[{0, 1}, {"other"}])
    clf = sb.CSRAClassifier(estimator=tree, n_estimators=3, random_state=0, warm_start=True).fit(X, y)
    save(clf, tmp_path / "model.json")
    loaded = load(tmp_path / "model.json")
    assert loaded.estimator.get_params() == tree.get_params()
    assert same(clf, loaded, X)
    assert loaded._model.bins.features[1].ordered
    np.testing.assert_allclose(
        clf.contributions(X).sum(axis=1), loaded.contributions(X).sum(axis=1), rtol=0, atol=1e-12
    )


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"interaction_cst": {0, 1}}, r"interaction_cst={0, 1} is not a constraint.*such as \[{0, 1}, \{2\}\]"),
        ({"interaction_cst": [0, 1]}, r"interaction_cst=\[0, 1\] is not a constraint"),
        ({"interaction_cst": ["ab", "c"]}, "is not a constraint"),
        ({"interaction_cst": {"a": {0, 1}}}, "is not a constraint"),
        ({"interaction_cst": 1}, "interaction_cst=1 is not a constraint"),
        ({"interaction_cst": [{0, 1.5}]}, "names the column 1.5"),
        ({"interaction_cst": [[[0], 1]]}, r"names the column \[0\]"),
        ({"interaction_cst": [{0, True}]}, "names the column True"),
        ({"monotonic_cst": 1}, "monotonic_cst=1 is not a constraint"),
        ({"monotonic_cst": "+000"}, r"monotonic_cst='\+000' is not a constraint"),
        ({"monotonic_cst": {-1, 0, 1, 2}}, "monotonic_cst={.*} is not a constraint"),
        ({"monotonic_cst": np.array(1)}, "is not a constraint"),
        ({"monotonic_cst": np.zeros((4, 2), dtype=int)}, r"monotonic_cst has array\(\[0, 0\]\) for column '"),
        ({"monotonic_cst": [0, 1, None, 0]}, "monotonic_cst has None for column 'other'"),
        ({"monotonic_cst": {(0,): 1}}, r"names the column \(0,\)"),
    ],
)
@pytest.mark.parametrize(
    "with_constraint",
    [
        lambda params: sb.RealBoostClassifier(estimator=Tree(**params), n_estimators=2),
        lambda params: sb.SkewBoostClassifier(effort="quick", **params),
    ],
    ids=["Tree", "SkewBoost"],
)
def test_what_is_no_constraint_is_said_to_be_none(with_constraint, params, message):
    with pytest.raises(InputError, match=message):
        with_constraint(params).fit(*table_with_levels(120))


def test_numbers_of_columns_may_be_of_numpy():
    X, y = table_with_levels(200)
    one, other = (
        sb.RealBoostClassifier(estimator=Tree(interaction_cst=cst, monotonic_cst=directions), n_estimators=3).fit(X, y)
        for cst, directions in (([{0, 1}, {2}], [1, 0, 0, 0]), ([np.array([0, 1]), [np.int64(2)]], np.eye(4)[0]))
    )
    np.testing.assert_array_equal(one.decision_function(X), other.decision_function(X))
