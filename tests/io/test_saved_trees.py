"""Trees in files: the same trees, in few bytes, and nothing else than trees."""

from __future__ import annotations

import copy
import json

import numpy as np
import pytest

from engine.random_trees import random_tree, rows_of
from packed_arrays import repacked, unpacked
from skewboost import SkewBoostClassifier
from skewboost.engine import choose
from skewboost.engine.binning import fit_bins
from skewboost.engine.newton import Trees
from skewboost.engine.scoring import Scorer
from skewboost.io import ModelFileError, dumps, loads
from skewboost.io.structure import FieldError, field_of
from stored import rows

FIELD = field_of(Trees)
PACKED = ("n_nodes", "feature", "threshold", "bits", "sets", "values", "covers")


def some_trees(seed, n_trees=6, p=5):
    rng = np.random.default_rng(seed)
    leaf = Trees.joined([random_tree(rng, p, 0)])
    return Trees.joined([leaf, *(random_tree(rng, p, 6) for _ in range(n_trees)), leaf])


@pytest.mark.parametrize("seed", range(8))
def test_trees_are_read_as_they_were_written(seed):
    trees, table = some_trees(seed), rows_of(np.random.default_rng(seed), 50, 5)
    data = FIELD.write(trees)
    again = FIELD.read(json.loads(json.dumps(data)))
    assert FIELD.write(again) == data
    engine = choose("cpu", 1)
    bins = fit_bins(engine, table)
    a, b = (engine.score(Scorer.of_trees(own, 0, bins, 5), table) for own in (trees, again))
    np.testing.assert_array_equal(a, b)
    assert again.mean(0) == pytest.approx(trees.mean(0), abs=1e-12)


def test_a_leaf_takes_some_twenty_bytes():
    X, y = rows()
    clf = SkewBoostClassifier(effort="quick", random_state=0).fit(X, y)
    trees = clf._model.parts[-1].trees
    assert len(json.dumps(FIELD.write(trees))) < 26 * len(trees.covers)


@pytest.mark.parametrize("name", PACKED)
def test_arrays_that_do_not_fit_are_refused(name):
    data = FIELD.write(some_trees(0))
    own = unpacked(data[name])
    for changed in (own[:-1], np.append(own, own[-1:])):
        with pytest.raises(FieldError):
            FIELD.read({**data, name: repacked(changed)})
    for text in (data[name][:-1], data[name] + "=", "|i1:AAAA", "<f4:AAAA", ":", "", "|u1:A A=", None, [1]):
        with pytest.raises(FieldError):
            FIELD.read({**data, name: text})


def test_sides_that_lead_nowhere_are_refused():
    data = FIELD.write(some_trees(1))
    bits = unpacked(data["bits"])
    n_refused = 0
    for k in range(len(bits)):
        for flip in (2, 4, 8):
            changed = bits.copy()
            changed[k] ^= flip
            with pytest.raises(FieldError, match=r"bits|must be below 8"):
                FIELD.read({**data, "bits": repacked(changed)})
            n_refused += 1
    assert n_refused > 60


def test_a_number_of_any_size_is_refused_or_gives_numbers():
    X, y = rows()
    file = json.loads(dumps(SkewBoostClassifier(effort="quick", random_state=0).fit(X, y)))
    n_read = n_refused = 0
    for k, part in enumerate(file["model"]["model"]["parts"]):
        for name in PACKED:
            own = unpacked(part["trees"][name])
            extremes = (0, 1, 254, 255) if own.dtype.kind == "u" else (1e308, -1e308, 1e-308, 0.0, np.nan, np.inf)
            for at in {0, len(own) // 2, len(own) - 1} if len(own) else ():
                for extreme in extremes:
                    changed, values = copy.deepcopy(file), own.copy()
                    values[at] = extreme
                    changed["model"]["model"]["parts"][k]["trees"][name] = repacked(values)
                    try:
                        found = loads(json.dumps(changed)).predict_proba(X[:20])
                    except ModelFileError:
                        n_refused += 1
                        continue
                    n_read += 1
                    assert np.isfinite(found).all()
    assert n_read > 20
    assert n_refused > 20
