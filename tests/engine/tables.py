"""Training sets of given codes, and the best split of all their rows: what the tests of engines share."""

from __future__ import annotations

import numpy as np
import pytest

from engine.partitioned import PartitionedEngine
from skewboost.engine import choose
from skewboost.engine.binning import Bins, Feature
from skewboost.engine.boundary import MISSING
from skewboost.engine.partition import View
from skewboost.engine.table import Nominal, Table
from skewboost.engine.training_set import TWO, Limits, itself

REFERENCE, CPU = choose("reference", 1), choose("cpu", 1)
ENGINES = [REFERENCE, CPU, PartitionedEngine()]
each_engine = pytest.mark.parametrize("engine", ENGINES, ids=lambda engine: engine.name)
each_missing = pytest.mark.parametrize("missing", ["learn", "abstain"])


def bins_of(n_bins, nominal):
    """Bins of so many codes per feature; those of categories are told by their names."""
    features = [
        Feature(categories=tuple(f"c{k:03}" for k in range(n)), n_bins=n)
        if is_nominal
        else Feature(cuts=np.arange(n - 1) + 0.5, n_bins=n)
        for n, is_nominal in zip(n_bins, nominal, strict=True)
    ]
    return Bins(tuple(features))


def table_of(codes, bins):
    """A table that has these codes ``[feature, row]`` in these bins."""
    columns = []
    for own, feature in zip(codes, bins.features, strict=True):
        missing = own == MISSING
        if feature.categories is None:
            columns.append(np.where(missing, np.nan, own))
        else:
            columns.append(Nominal(np.where(missing, -1, own.astype(int)), feature.categories))
    return Table(codes.shape[1], len(codes), columns=tuple(columns))


def opened(engine, codes, bins, labels, weights=None, classes=TWO, examples=None):
    """A training set of rows with these codes, labels and weights."""
    view = View(engine, table_of(codes, bins), bins)
    rows = engine.training_set(view, np.asarray(labels, dtype=np.uint8), classes, examples)
    if weights is not None:
        rows.put("given", weights)
        rows.assign(itself, ("given",))
    return rows


def best_split(rows, request):
    """The best split of all rows, or None; as a stump, and where nodes can be asked for as one: the same."""
    stump = rows.grow(request, Limits(1)).partition.splits
    split = stump[0] if stump else None
    if rows.classes.two and request.criterion != "squares":
        assert_same_split(rows.search(rows.root(), request), split)
    return split


def best_split_of_responses(rows, z, weights, request):
    """The best split of a weighted least-squares fit."""
    rows.put("z", z)
    rows.put("weights of z", weights)
    stump = rows.grow_responses("z", "weights of z", request, Limits(1)).partition.splits
    return stump[0] if stump else None


def one_feature(h, codes, labels=(0, 1)):
    """Codes, labels and weights of rows whose sums of one feature are ``h[class, code]``: one row for each."""
    n = len(codes)
    return np.tile(np.asarray(codes, dtype=np.uint8), len(labels))[None], np.repeat(labels, n), np.concatenate(h)


def sums_of(codes, labels, weights, n_classes=2):
    """The histogram ``[class, feature, code]``, added up cell by cell."""
    h = np.zeros((n_classes, len(codes), MISSING + 1))
    for j, own in enumerate(codes):
        np.add.at(h, (np.asarray(labels, dtype=int), j, own), weights)
    return h


def assert_same_split(a, b, tolerance=1e-12):
    """Two splits, or two times none, that send every code to the same side for the same reason."""
    if a is None or b is None:
        assert a is b
        return
    assert (a.feature, a.threshold, a.polarity) == (b.feature, b.threshold, b.polarity)
    np.testing.assert_array_equal(a.child, b.child)
    assert a.value == pytest.approx(b.value, rel=tolerance, abs=tolerance)
    assert a.before == pytest.approx(b.before, rel=tolerance, abs=tolerance)


def assert_same_growth(a, b, tolerance=1e-12, of_values=None):
    """Two partitions with the same splits, links, sums, covers and importances.

    The criterion of a split is that of sums which may be derived: where a side has nothing of a class but a trace of
    rounding, its root is a larger trace. Sums and importances are those of the rows.
    """
    assert a.partition.links == b.partition.links
    for one, other in zip(a.partition.splits, b.partition.splits, strict=True):
        assert_same_split(one, other, of_values or tolerance)
    np.testing.assert_allclose(a.sums, b.sums, rtol=tolerance, atol=tolerance)
    assert a.squares == pytest.approx(b.squares, rel=1e-12)
    np.testing.assert_array_equal(a.abstains, b.abstains)
    for one, other in zip(sorted(a.importances), sorted(b.importances), strict=True):
        assert one == pytest.approx(other, rel=tolerance, abs=tolerance)
    assert (a.partition.covers is None) == (b.partition.covers is None)
    if a.partition.covers is not None:
        np.testing.assert_allclose(a.partition.covers, b.partition.covers, rtol=1e-12)
