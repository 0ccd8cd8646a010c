"""Groups and splitters: what early stopping and calibration hold out."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import clone
from sklearn.model_selection import GroupKFold, KFold, PredefinedSplit, StratifiedKFold, TimeSeriesSplit, cross_validate

import skewboost as sb
from skewboost.boosting.row_splits import RowSplits
from skewboost.fold_rows import stratified_units
from support import awkward_data

STOPPED = sb.RealBoostClassifier(n_estimators=40, early_stopping=3, random_state=0)
CALIBRATED = sb.CGAdaClassifier(n_estimators=10, cost=5, calibrate="sigmoid", random_state=0)
each_holding_out = pytest.mark.parametrize("clf", [STOPPED, CALIBRATED], ids=["early stopping", "calibrate"])


@pytest.fixture
def rows():
    """A table, labels, and the group of every row."""
    X, y = awkward_data(400, seed=3)
    return X, y, np.random.default_rng(0).integers(40, size=400)


def scores(clf, X):
    return clf.predict_proba(X)[:, 1]


@pytest.mark.parametrize("fraction", [0.05, 0.1, 0.3, 0.8])
def test_groups_are_on_one_side_and_classes_on_both(fraction):
    for seed in range(20):
        rng = np.random.default_rng(seed)
        classes, units = (rng.random(600) < 0.05).astype(int), rng.integers(60, size=600)
        train, held_out = stratified_units(classes, units, fraction, rng)
        assert sorted([*train, *held_out]) == list(range(600))
        assert not set(units[train]) & set(units[held_out])
        assert set(classes[train]) == set(classes[held_out]) == {0, 1}
        assert len(held_out) == pytest.approx(600 * fraction, abs=40)


def test_a_class_within_one_group_cannot_be_split(rows):
    X, y, groups = rows
    groups = np.where(y == 1, 99, groups)
    with pytest.raises(ValueError, match=r"examples of each class in at least two of the groups.*early_stopping=False"):
        clone(STOPPED).fit(X, y, groups=groups)
    with pytest.raises(ValueError, match="folds"):
        clone(CALIBRATED).fit(X, y, groups=groups)


def test_folds_of_calibration_keep_groups_together(rows):
    _, y, groups = rows
    folds = RowSplits.read(4, groups, y).for_calibration(y == 1, None, seed=0)
    assert len(folds) == 4
    assert sorted(np.concatenate([outer for _, outer in folds])) == list(range(400))
    for inner, outer in folds:
        assert not set(groups[inner]) & set(groups[outer])
        assert y[outer].mean() == pytest.approx(y.mean(), abs=0.05)


@each_holding_out
def test_with_groups_neither_the_order_of_rows_nor_repeating_them_matters(clf, rows):
    X, y, groups = rows
    model = clone(clf).fit(X, y, groups=groups)
    assert not np.array_equal(scores(model, X), scores(clone(clf).fit(X, y), X))  # groups have an effect
    order = np.random.default_rng(1).permutation(len(y))
    shuffled = clone(clf).fit(X[order], y[order], groups=groups[order])
    np.testing.assert_allclose(scores(shuffled, X), scores(model, X), atol=1e-9)
    weights = np.random.default_rng(2).integers(0, 4, size=len(y))
    weighted = clone(clf).fit(X, y, sample_weight=weights, groups=groups)
    again = np.repeat(np.arange(len(y)), weights)
    repeated = clone(clf).fit(X[again], y[again], groups=groups[again])
    np.testing.assert_allclose(scores(weighted, X), scores(repeated, X), atol=1e-9)
    assert np.array_equal(scores(clone(clf).set_params(n_jobs=2).fit(X, y, groups=groups), X), scores(model, X))


def test_early_stopping_validates_on_the_last_split(rows):
    X, y, _ = rows
    last = clone(STOPPED).set_params(splits=TimeSeriesSplit(3)).fit(X, y)
    *_, (train, held_out) = TimeSeriesSplit(3).split(X)
    alone = clone(STOPPED).set_params(early_stopping=False, n_estimators=last.n_estimators_).fit(X[train], y[train])
    np.testing.assert_allclose(scores(alone, X), scores(last, X), atol=1e-12)
    log_loss = -np.log(alone.predict_proba(X[held_out])[np.arange(len(held_out)), y[held_out]]).mean()
    assert max(r["validation_score"] for r in last.history_) == pytest.approx(-log_loss)


def test_calibration_uses_the_folds_of_a_splitter(rows):
    X, y, _ = rows
    made = StratifiedKFold(4, shuffle=True, random_state=7)
    numbers = np.empty(len(y), dtype=int)
    for k, (_, held_out) in enumerate(made.split(X, y)):
        numbers[held_out] = k
    one, other = (clone(CALIBRATED).set_params(splits=cv).fit(X, y) for cv in (made, PredefinedSplit(numbers)))
    assert np.array_equal(scores(one, X), scores(other, X))
    assert not np.array_equal(scores(one, X), scores(clone(CALIBRATED).fit(X, y), X))
    clone(CALIBRATED).set_params(splits=TimeSeriesSplit(3), calibrate="isotonic").fit(X, y)  # not all rows are held out


def test_splits_are_of_the_rows_as_given(rows):
    """Rows of weight 0 count for the splitter, but not for the model."""
    X, y, _ = rows
    weights = (np.arange(len(y)) % 4 > 0).astype(float)
    weighted = clone(STOPPED).set_params(splits=TimeSeriesSplit(3)).fit(X, y, weights)
    *_, (train, held_out) = TimeSeriesSplit(3).split(X)
    kept = np.flatnonzero(weights)
    place = {row: k for k, row in enumerate(kept)}
    cv = [([place[r] for r in train if r in place], [place[r] for r in held_out if r in place])]
    np.testing.assert_allclose(
        scores(clone(STOPPED).set_params(splits=cv).fit(X[kept], y[kept]), X), scores(weighted, X), atol=1e-12
    )


@pytest.mark.parametrize(
    ("params", "groups", "message"),
    [
        ({}, True, "groups have no effect on this RealBoostClassifier, which holds out no rows. Set early_stopping"),
        ({"splits": TimeSeriesSplit()}, False, "splits=TimeSeriesSplit.* has no effect"),
        ({"splits": 3, "early_stopping": True}, False, "splits=3 has no effect on early stopping"),
        (
            {"splits": KFold(), "early_stopping": True, "validation_fraction": 0.2},
            False,
            "validation_fraction=0.2 has no",
        ),
        ({"splits": GroupKFold(3), "early_stopping": True}, False, "needs groups. Pass them to fit"),
        ({"splits": KFold(3), "early_stopping": True}, True, "rows of .* groups both in training and in the test"),
        ({"splits": "time", "early_stopping": True}, False, "splits='time' cannot split"),
    ],
)
def test_what_has_no_effect_raises(rows, params, groups, message):
    X, y, own = rows
    with pytest.raises(ValueError, match=message):
        sb.RealBoostClassifier(**params).fit(X, y, groups=own if groups else None)


def test_groups_are_checked(rows):
    X, y, groups = rows
    with pytest.raises(ValueError, match=r"groups has shape \(3,\)"):
        clone(STOPPED).fit(X, y, groups=[1, 2, 3])
    with pytest.raises(ValueError, match="groups has missing values"):
        clone(STOPPED).fit(X, y, groups=[None, *groups[1:]])
    with pytest.raises(ValueError, match="splits of CGAdaClassifier must be an integer >= 2"):
        clone(CALIBRATED).set_params(splits=1).fit(X, y)
    named = pd.Series([f"patient {g}" if g % 2 else g for g in groups])  # of different types
    clone(STOPPED).fit(X, y, groups=named)


@pytest.mark.parametrize("early_stopping", [False, 3])
def test_routing_passes_groups_where_they_have_an_effect(rows, early_stopping):
    X, y, groups = rows
    seen = []

    class Spy(sb.RealBoostClassifier):
        def fit(self, X, y, sample_weight=None, *, groups=None):
            seen.append(groups is not None)
            return super().fit(X, y, sample_weight, groups=groups)

    with sklearn.config_context(enable_metadata_routing=True):
        clf = Spy(n_estimators=5, early_stopping=early_stopping, random_state=0)
        cross_validate(clf, X, y, params={"groups": groups}, cv=GroupKFold(3), error_score="raise")
    assert seen == [bool(early_stopping)] * 3


@pytest.mark.parametrize("labels", ["classes", "several labels"])
def test_many_classes_and_labels_have_groups_too(rows, labels):
    X, y, groups = rows
    Y = np.column_stack([y, X[:, 0] > 0]).astype(int)
    target = Y if labels == "several labels" else Y @ [1, 2]
    clf = sb.AdaBoostMHClassifier(n_estimators=30, early_stopping=3, random_state=0)
    order = np.random.default_rng(0).permutation(len(y))
    one = clone(clf).fit(X, target, groups=groups)
    other = clone(clf).fit(X[order], target[order], groups=groups[order])
    np.testing.assert_allclose(one.decision_function(X), other.decision_function(X), atol=1e-9)
