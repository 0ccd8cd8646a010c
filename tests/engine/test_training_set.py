"""The verbs of a training set, on every engine and for every structure of classes."""

from __future__ import annotations

import numpy as np
import pytest

from engine.partitioned import PartitionedEngine
from engine.tables import assert_same_growth
from skewboost.engine import choose
from skewboost.engine.binning import fit_bins
from skewboost.engine.boundary import ABSTAIN, LEFT, RIGHT, Request
from skewboost.engine.growing import grow
from skewboost.engine.native_set import NativeSet
from skewboost.engine.partition import Partition, View, look_up
from skewboost.engine.scoring import LeafTerm
from skewboost.engine.table import Table
from skewboost.engine.training_set import EXAMPLES, TWO, Classes, Leaves, Limits, W, Y, itself
from support import awkward_data

N = 200
KINDS = {"two": TWO, "many": Classes(1, 4), "very many": Classes(1, 150), "labels": Classes(3, 2)}
each_engine = pytest.mark.parametrize("engine", ["reference", "cpu", PartitionedEngine()], ids=str)
each_kind = pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)


def opened(engine, classes=TWO, examples=None, seed=0):
    """A training set of awkward rows, and their labels."""
    engine = choose(engine, 1)
    X, _ = awkward_data(N, seed)
    table = Table(*X.shape, matrix=X)
    rng = np.random.default_rng(seed)
    shape = N if classes.n_labels == 1 else (N, classes.n_labels)
    labels = rng.integers(0, classes.n_classes, shape).astype(np.uint8)
    rows = engine.training_set(View(engine, table, fit_bins(engine, table, examples)), labels, classes, examples)
    weights = rng.random(np.shape(labels)) + 0.1
    rows.put("start", weights)
    rows.assign(itself, ("start",))
    return rows, labels, weights / weights.sum()


def request_of(classes, **params):
    return Request("class_gini" if classes.n_classes > 2 else "z", **params)


def sums_by_hand(leaf, labels, weights, classes, n_leaves):
    """Row by row, label by label."""
    out = np.zeros((n_leaves, classes.n_labels, classes.n_classes))
    for i in range(N):
        for label, (k, w) in enumerate(zip(np.atleast_1d(labels[i]), np.atleast_1d(weights[i]))):
            out[leaf[i], label, k] += w
    return out.reshape(n_leaves, -1)


# ------------------------------------------------------------------------------ vectors


@each_engine
def test_vectors_come_back_in_the_order_of_the_table(engine):
    rows, labels, w = opened(engine)
    values = np.arange(float(N))
    rows.put("v", values)
    rows.put("five", 5.0)
    np.testing.assert_array_equal(rows.get("v"), values)
    np.testing.assert_array_equal(rows.get("five"), np.full(N, 5.0))
    np.testing.assert_array_equal(rows.get(Y), 2.0 * labels - 1.0)
    np.testing.assert_array_equal(rows.get(EXAMPLES), np.ones(N))
    np.testing.assert_allclose(rows.get(W), w, rtol=1e-14)


@each_engine
def test_functions_are_applied_row_by_row(engine):
    rows, labels, w = opened(engine)
    rows.put("v", np.arange(float(N)))
    rows.map(lambda v, y: (v + 1.0, v * y), ("v", Y), ("v", "signed"))  # an output may be among the inputs
    np.testing.assert_array_equal(rows.get("v"), np.arange(1.0, N + 1))
    np.testing.assert_array_equal(rows.get("signed"), np.arange(N) * (2.0 * labels - 1.0))
    sums = rows.map(lambda v: (2.0 * v, v, v * v), ("v",), ("twice",))  # what is made beyond the outputs is added up
    assert sums == [N * (N + 1) / 2, N * (N + 1) * (2 * N + 1) / 6]
    np.testing.assert_array_equal(rows.get("twice"), 2.0 * np.arange(1.0, N + 1))
    assert rows.sum(itself, ("v",)) == N * (N + 1) / 2
    assert rows.sum(lambda v, w: (v, w), ("v", W)) == (N * (N + 1) / 2, pytest.approx(1.0, abs=1e-13))
    assert rows.max(np.negative, ("v",)) == -1.0
    assert rows.max(itself, (W,)) == pytest.approx(w.max(), rel=1e-13)


@each_engine
def test_a_copy_of_a_vector_is_one(engine):
    rows, *_ = opened(engine)
    rows.put("v", 1.0)
    rows.map(itself, ("v",), ("copy",))
    rows.map(lambda v: v + 1.0, ("v",), ("v",))
    assert (rows.max(itself, ("v",)), rows.max(itself, ("copy",))) == (2.0, 1.0)
    rows.map(lambda v: (twice := 2.0 * v, twice), ("v",), ("a", "b"))
    partition = rows.grow(Request("z"), Limits(1)).partition
    rows.evaluate(LeafTerm(partition, np.zeros(partition.n_leaves)), "a")
    assert (rows.max(itself, ("a",)), rows.max(itself, ("b",))) == (0.0, 4.0)


@each_kind
def test_blocks_and_threads_change_nothing(kind, monkeypatch):
    """Sums are added in the order of the blocks, whoever has made them."""
    monkeypatch.setattr(NativeSet, "block", 30)
    found = []
    for engine in ("reference", *(choose("cpu", n_jobs) for n_jobs in (1, 2, 5))):
        rows, *_ = opened(engine, kind)
        sums = rows.map(lambda y, w: (y * w, np.exp(w), w * w), (Y, W), ("a", "b"))
        rows.assign(lambda a, b: np.abs(a) + b, ("a", "b"))
        numbers = [*sums, *rows.sum(lambda a, w: (a, w * w), ("a", W)), rows.max(itself, ("a",))]
        found.append(np.concatenate((numbers, rows.get("a").ravel(), rows.get(W).ravel())))
    for other in found[1:]:
        np.testing.assert_allclose(other, found[0], rtol=1e-12, atol=1e-15)
        np.testing.assert_array_equal(other, found[1])


@pytest.mark.parametrize("engine", ["reference", "cpu"])
def test_a_vector_that_is_not_there_or_not_ones_own_is_refused(engine):
    rows, *_ = opened(engine)
    with pytest.raises(KeyError, match="no vector 'z'"):
        rows.get("z")
    with pytest.raises(ValueError, match="'w' belongs to the training set"):
        rows.put(W, 1.0)
    with pytest.raises(ValueError, match="'y' belongs to the training set"):
        rows.map(itself, (W,), (Y,))


@each_engine
def test_numbers_per_row_broadcast_against_those_per_label(engine):
    rows, labels, _ = opened(engine, KINDS["labels"], examples=np.arange(1.0, N + 1))
    rows.map(lambda n, y: n * y, (EXAMPLES, Y), ("both",))
    np.testing.assert_array_equal(rows.get("both"), np.arange(1, N + 1)[:, None] * (2.0 * labels - 1.0))
    rows.map(lambda n: n + 1.0, (EXAMPLES,), ("one",))
    assert rows.get("one").shape == (N,)
    rows.assign(itself, (EXAMPLES,))  # a row's number is that of all its labels
    np.testing.assert_allclose(rows.get(W)[:, 1], np.arange(1, N + 1) / (1.5 * N * (N + 1)), rtol=1e-13)


# ------------------------------------------------------------------------------ weights


@each_engine
@each_kind
def test_weights_are_the_sample_weights_at_first(engine, kind):
    engine = choose(engine, 1)
    X, _ = awkward_data(N)
    examples = np.random.default_rng(1).random(N)
    labels = np.zeros(N if kind.n_labels == 1 else (N, kind.n_labels), dtype=np.uint8)
    rows = engine.training_set(View(engine, Table(*X.shape, matrix=X), None), labels, kind, examples)
    expected = examples / examples.sum() / kind.n_labels
    np.testing.assert_allclose(rows.get(W).reshape(N, -1), np.tile(expected[:, None], kind.n_labels), rtol=1e-13)


@pytest.mark.sample(3)
@each_engine
@each_kind
@pytest.mark.parametrize("limits", [Limits(1), Limits(None, 6)], ids=str)
def test_factors_of_leaves_and_planes_move_the_weights(engine, kind, limits):
    """Of the partition that was grown, of an equal one that was not, and of leaves that are given row by row."""
    for how in ("grown", "equal", "given"):
        rows, labels, w = opened(engine, kind)
        for _ in range(3):
            growth = rows.grow(request_of(kind), limits)
            leaf = growth.partition.leaves(rows_view(rows))
            np.testing.assert_allclose(growth.sums, sums_by_hand(leaf, labels, w, kind, len(growth.sums)), atol=1e-13)
            factors = np.random.default_rng(5).uniform(0.2, 3.0, growth.sums.shape)
            partition = growth.partition
            if how == "equal":
                partition = Partition(partition.splits, partition.links, partition.n_leaves)
            elif how == "given":
                rows.put("leaf", leaf)
                partition = Leaves("leaf", partition.n_leaves)
            np.testing.assert_allclose(rows.sums(partition), growth.sums, atol=1e-13)
            planes = kind.n_classes * np.arange(kind.n_labels) + labels.reshape(N, -1)
            moved = w * factors[leaf[:, None], planes].reshape(w.shape)
            assert rows.reweight(partition, factors) == pytest.approx(moved.sum(), rel=1e-12)
            w = moved / moved.sum()
            np.testing.assert_allclose(rows.get(W), w, rtol=1e-11)


def rows_view(rows):
    """The table of `opened` through the bins of a set, by the reference engine."""
    X, _ = awkward_data(N, 0)
    return View(choose("reference", 1), Table(*X.shape, matrix=X), rows.bins)


@each_engine
def test_another_partition_of_the_feature_of_a_stump(engine):
    rows, labels, w = opened(engine)
    growth = rows.grow(Request("z"), Limits(1))
    feature = growth.partition.splits[0].feature
    partition, _ = look_up(feature, np.arange(256) % 3)
    leaf = partition.leaves(rows_view(rows))
    np.testing.assert_allclose(rows.sums(partition), sums_by_hand(leaf, labels, w, TWO, 3), atol=1e-13)
    factors = np.array([[1.0, 2.0], [0.5, 1.0], [3.0, 0.1]])
    moved = w * factors[leaf, labels]
    assert rows.reweight(partition, factors) == pytest.approx(moved.sum(), rel=1e-12)
    np.testing.assert_allclose(rows.get(W), moved / moved.sum(), rtol=1e-11)
    again = rows.grow(Request("z"), Limits(1))
    assert again.sums.sum() == pytest.approx(1.0, abs=1e-12)


@each_engine
@each_kind
def test_all_rows_in_one_leaf(engine, kind):
    rows, labels, w = opened(engine, kind)
    rows.grow(request_of(kind), Limits(1))
    whole, factors = Partition((), (), 1), np.arange(1.0, 1 + kind.n_planes)[None]
    sums = sums_by_hand(np.zeros(N, dtype=int), labels, w, kind, 1)
    np.testing.assert_allclose(rows.sums(whole), sums, atol=1e-13)
    assert rows.reweight(whole, factors) == pytest.approx((sums * factors).sum(), rel=1e-12)
    np.testing.assert_allclose(rows.sums(whole), sums * factors / (sums * factors).sum(), atol=1e-13)
    assert rows.grow(request_of(kind), Limits(1)).sums.sum() == pytest.approx(1.0, abs=1e-12)


# --------------------------------------------------------------------- sums and histograms


@each_engine
@each_kind
def test_sums_of_weights_times_a_vector(engine, kind):
    rows, labels, w = opened(engine, kind)
    cost = np.random.default_rng(2).random(N)
    rows.put("cost", cost)
    growth = rows.grow(request_of(kind), Limits(None, 5))
    leaf = growth.partition.leaves(rows_view(rows))
    expected = sums_by_hand(leaf, labels, (w.T * cost).T, kind, len(growth.sums))
    np.testing.assert_allclose(rows.sums(growth.partition, "cost"), expected, atol=1e-13)


@each_engine
@each_kind
def test_histograms_add_up_cells(engine, kind):
    rows, labels, w = opened(engine, kind)
    view = rows_view(rows)
    planes = rows.histogram()
    assert planes.shape == (kind.n_planes, rows.bins.n_features, 256)
    values = np.random.default_rng(2).random(N)
    rows.put("v", values)
    (of_v,) = rows.histogram("v")
    for j in range(rows.bins.n_features):
        codes = view.column(j)
        np.testing.assert_allclose(of_v[j], np.bincount(codes, values, minlength=256), atol=1e-13)
        by_code = sums_by_hand(codes, labels, w, kind, 256)
        np.testing.assert_allclose(planes[:, j], by_code.T, atol=1e-13)


@each_engine
def test_examples_are_counted_at_every_split(engine):
    examples = np.random.default_rng(3).integers(1, 4, N).astype(float)
    rows, *_ = opened(engine, examples=examples)
    partition = rows.grow(Request("gini", "abstain"), Limits(None, 6)).partition
    counts, view = rows.count(partition), rows_view(rows)
    for k, here in enumerate(partition.rows_at_splits(view)):
        codes = view.column(partition.splits[k].feature)[here]
        np.testing.assert_allclose(counts[k], np.bincount(codes, examples[here], minlength=256))
    np.testing.assert_allclose(partition.counted(counts).covers, partition.covers)
    np.testing.assert_allclose(partition.covers, np.bincount(partition.leaves(view), examples))


# ------------------------------------------------------------------------------ nodes


@pytest.mark.sample(4)
@each_engine
@each_kind
@pytest.mark.parametrize("missing", ["learn", "abstain"])
@pytest.mark.parametrize("limits", [Limits(1), Limits(3), Limits(None, 7)], ids=str)
def test_node_by_node_grows_what_is_grown_in_one_go(engine, kind, missing, limits):
    rows, *_ = opened(engine, kind)
    request = request_of(kind, missing=missing)
    if engine == "cpu" and not kind.two:
        with pytest.raises(NotImplementedError, match="call grow"):
            rows.root()
        return
    assert_same_growth(grow(rows, rows.root(), request, limits), rows.grow(request, limits))


@each_engine
def test_children_share_the_rows_of_their_parent(engine):
    examples = np.random.default_rng(3).integers(1, 4, N).astype(float)
    rows, *_ = opened(engine, examples=examples)
    root = rows.root()
    split = rows.search(root, Request("z", "abstain"))
    children = rows.split(root, split)
    assert len(children) == 1 + (ABSTAIN if (split.child == ABSTAIN).any() else RIGHT)
    np.testing.assert_allclose(sum(rows.totals(c) for c in children), rows.totals(root), atol=1e-13)
    assert sum(rows.examples(c) for c in children) == pytest.approx(rows.examples(root)) == examples.sum()
    child = split.child[rows_view(rows).column(split.feature)]
    assert rows.examples(children[LEFT]) == pytest.approx(examples[child == LEFT].sum())


@each_engine
def test_a_node_knows_the_weights_of_the_moment(engine):
    """After some have moved and it was told, after all have moved by class, and after they were assigned anew."""
    rows, *_ = opened(engine)
    root = rows.root()
    request = Request("z")
    left, right, *_ = rows.split(root, rows.search(root, request))
    nodes = (root, left, right)

    def check():
        fresh = rows.root()
        for node, same in zip(nodes, (fresh, *rows.split(fresh, first))):
            a, b = rows.search(node, request), rows.search(same, request)
            assert (a.feature, a.threshold) == (b.feature, b.threshold)
            assert a.value == pytest.approx(b.value, abs=1e-12)
            np.testing.assert_allclose(rows.totals(node), rows.totals(same), atol=1e-13)

    first = rows.search(root, request)
    check()
    growth = rows.grow(request, Limits(None, 5))
    rows.reweight(growth.partition, np.random.default_rng(0).uniform(0.3, 3.0, growth.sums.shape))
    for node in nodes:
        rows.forget(node)
    check()
    rows.reweight(Partition((), (), 1), np.array([[1.0, 3.0]]))
    check()
    rows.put("new", np.random.default_rng(1).random(N))
    rows.assign(itself, ("new",))
    check()


# ------------------------------------------------------------------------------ terms


@each_engine
@pytest.mark.parametrize("limits", [Limits(1), Limits(None, 5)], ids=str)
def test_terms_become_vectors(engine, limits):
    rows, *_ = opened(engine)
    partition = rows.grow(Request("z"), limits).partition
    term = LeafTerm(partition, np.random.default_rng(0).normal(size=partition.n_leaves))
    expected = term.values[partition.leaves(rows_view(rows))]
    rows.evaluate(term, "g")
    np.testing.assert_array_equal(rows.get("g"), expected)
    rows.put("F", 1.0)
    rows.add(term, "F")
    rows.add(term, "F")
    np.testing.assert_allclose(rows.get("F"), 1.0 + 2 * expected, rtol=1e-14)


@each_engine
def test_codes_of_some_rows_open_another_set(engine):
    rows, labels, _ = opened(engine)
    owner = choose(engine, 1)
    X, _ = awkward_data(N, 0)
    chosen = np.random.default_rng(0).integers(0, N, 77)
    view = View(owner, Table(77, X.shape[1], matrix=X[chosen]), rows.bins, rows.take(chosen))
    some = owner.training_set(view, labels[chosen], TWO, None)
    other = owner.training_set(View(owner, view.table, rows.bins), labels[chosen], TWO, None)
    np.testing.assert_array_equal(some.histogram(), other.histogram())


@pytest.mark.sample(3)
@each_engine
@each_kind
@pytest.mark.parametrize("limits", [Limits(1), Limits(None, 6), Limits(3)], ids=str)
def test_terms_of_what_was_grown_are_evaluated_by_its_leaves(engine, kind, limits):
    """Whatever else was asked of the set since, and also if it was grown long ago."""
    rows, *_ = opened(engine, kind)
    request, rng = request_of(kind), np.random.default_rng(0)
    rows.map(lambda n: n, (EXAMPLES,), ("n",))
    rows.put("z", rng.normal(size=N))
    since = [
        lambda growth: None,
        lambda growth: rows.reweight(growth.partition, 0.5 + rng.random((growth.partition.n_leaves, kind.n_planes))),
        lambda growth: rows.assign(itself, ("start",)),
        lambda growth: rows.histogram(),
        lambda growth: rows.sums(growth.partition),
        lambda growth: rows.grow(request, Limits(2)),
        lambda growth: rows.grow_responses("z", "n", Request("squares"), Limits(None, 4)),
    ]
    for grow_one in (
        lambda: rows.grow(request, limits),
        lambda: rows.grow_responses("z", "n", Request("squares"), limits),
    ):
        for then in since:
            growth = grow_one()
            term = LeafTerm(growth.partition, rng.normal(size=growth.partition.n_leaves))
            if growth.sums.shape[1] == kind.n_planes:
                then(growth)
            rows.evaluate(term, "g")
            np.testing.assert_array_equal(rows.get("g"), term.on(opened("reference", kind)[0].view))
