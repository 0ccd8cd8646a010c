"""Sweeps change the training parts only, in the same way for everybody, and a level includes the ones before it."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.naive_bayes import GaussianNB

from skewboost import AdaBoostClassifier, AdaBoostRegClassifier, AdaC2Classifier, CSRAClassifier
from skewboost.evaluate import cost_sweep, imbalance_sweep, noise_sweep, size_sweep
from skewboost.evaluate.sweeps import first_examples
from skewboost.metrics import confusion_counts, expected_cost
from support import awkward_data

X, Y = awkward_data(150)
NUMBERED = np.column_stack((np.arange(150.0), np.nan_to_num(X)))
FOLDS = [(np.arange(0, 150, 2), np.arange(1, 150, 2)), (np.arange(1, 150, 2), np.arange(0, 150, 2))]
SEEN: list[tuple[str, np.ndarray, np.ndarray]] = []


class Recorder(ClassifierMixin, BaseEstimator):
    """Notes the rows that it is fitted to; the first column numbers them."""

    def __init__(self, name="a"):
        self.name = name

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        SEEN.append((self.name, X[:, 0].astype(int), np.asarray(y)))
        return self

    def predict(self, X):
        return (X[:, 1] > 1).astype(int)


def seen_of(sweep, estimators, **how):
    SEEN.clear()
    result = sweep(estimators, NUMBERED, Y, cv=FOLDS, random_state=0, **how)
    shape = (len(FOLDS), len(estimators), len(result.levels))
    rows = np.empty(shape, dtype=object)
    for k, seen in enumerate(SEEN):
        rows[np.unravel_index(k, shape)] = seen[1:]
    return result, np.moveaxis(rows, 0, -1)


@pytest.mark.parametrize("flip", ["both", "positive", "negative"])
def test_flips_are_nested_counted_and_the_same_for_all(flip):
    levels = [0.0, 0.1, 0.3]
    result, rows = seen_of(noise_sweep, {"a": Recorder("a"), "b": Recorder("b")}, levels=levels, flip=flip)
    for k, (train, _) in enumerate(FOLDS):
        before: set = set()
        for i, share in enumerate(levels):
            numbers, labels = rows[0, i, k]
            np.testing.assert_array_equal(numbers, train)
            np.testing.assert_array_equal(labels, rows[1, i, k][1])
            flipped = train[labels != Y[train]]
            for c, name in ((1, "positive"), (0, "negative")):
                expected = int(share * (Y[train] == c).sum() + 0.5) if flip in ("both", name) else 0
                assert (Y[flipped] == c).sum() == expected
            assert before <= set(flipped)
            before = set(flipped)
    # the test parts are as they were: this estimator does not learn, so nothing moves
    for measure in ("f1", "error", "cost"):
        assert (result.values(measure, "a") == result.values(measure, "a")[0]).all()


def test_parts_of_the_training_rows_are_nested_and_keep_the_class_frequencies():
    levels = [0.25, 0.5, 1.0]
    result, rows = seen_of(size_sweep, {"a": Recorder("a"), "b": Recorder("b")}, sizes=levels)
    for k, (train, _) in enumerate(FOLDS):
        before: set = set()
        for i, size in enumerate(levels):
            numbers, labels = rows[0, i, k]
            np.testing.assert_array_equal(numbers, rows[1, i, k][0])
            np.testing.assert_array_equal(labels, Y[numbers])
            for c in (0, 1):
                assert (labels == c).sum() == pytest.approx(size * (Y[train] == c).sum(), abs=0.5)
            assert before <= set(numbers) <= set(train)
            before = set(numbers)
    assert before == set(train)
    for measure in ("f1", "error", "cost"):  # this estimator does not learn, so the test rows are the same
        assert (result.values(measure, "a") == result.values(measure, "a")[0]).all()


def test_the_default_sizes_leave_five_rows_of_each_class():
    sweep = size_sweep(Recorder(), NUMBERED, Y, cv=FOLDS)
    fewest = min(np.bincount(Y[train]).min() for train, _ in FOLDS)
    assert sweep.levels[-1] == 1
    assert sweep.levels[0] * fewest >= 5 > sweep.levels[0] * fewest / 2


def test_a_part_has_as_few_groups_as_possible():
    """A learning curve over customers: half of the rows are those of about half of the customers."""
    SEEN.clear()
    groups = np.arange(150) // 5
    size_sweep(Recorder(), NUMBERED, Y, sizes=[0.5, 1.0], cv=2, groups=groups, random_state=0)
    half, whole = ([set(groups[rows]) for _, rows, _ in part] for part in (SEEN[::2], SEEN[1::2]))
    for some, every in zip(half, whole):
        assert len(some) < 0.75 * len(every)
    assert not whole[0] & whole[1]


def test_positives_are_removed_to_the_ratio_nested_and_from_training_only():
    levels = [6.0, 12.0, 24.0]
    result, rows = seen_of(imbalance_sweep, {"a": Recorder()}, ratios=levels)
    for k, (train, test) in enumerate(FOLDS):
        negatives = train[Y[train] == 0]
        before = set(train)
        for i, ratio in enumerate(levels):
            numbers, labels = rows[0, i, k]
            np.testing.assert_array_equal(labels, Y[numbers])
            assert set(numbers[labels == 0]) == set(negatives)
            assert (labels == 1).sum() == pytest.approx(len(negatives) / ratio, abs=0.5)
            assert set(numbers) <= before
            before = set(numbers)
        said = Recorder().predict(NUMBERED[test])
        assert result.values("recall")[:, k] == pytest.approx(confusion_counts(Y[test], said, pos_label=1).recall)


def test_levels_count_examples():
    weights = np.where(np.arange(150) % 3 == 0, 4.0, 1.0)
    seen = []

    class Weighed(Recorder):
        def fit(self, X, y, sample_weight=None):
            seen.append((X[:, 0].astype(int), np.asarray(y), sample_weight))
            return super().fit(X, y)

    noise_sweep(Weighed(), NUMBERED, Y, levels=[0.3], flip="negative", cv=FOLDS, sample_weight=weights, random_state=0)
    for rows, labels, w in seen:
        negative = Y[rows] == 0
        assert w[labels != Y[rows]].sum() == pytest.approx(0.3 * w[negative].sum(), abs=4)
    seen.clear()
    imbalance_sweep(Weighed(), NUMBERED, Y, ratios=[12], cv=FOLDS, sample_weight=weights, random_state=0)
    for _, labels, w in seen:
        assert w[labels == 1].sum() == pytest.approx(w[labels == 0].sum() / 12, abs=4)


@pytest.mark.parametrize("weight", [0.1, 1.0, 7.0])
def test_without_noise_no_label_is_flipped_whatever_a_row_stands_for(weight):
    mass = np.full(1000, weight)
    assert not first_examples(0.0, mass).any()
    assert first_examples(0.1 * mass.sum(), mass).sum() == 100


def test_names_of_the_catalogue_can_be_swept():
    assert noise_sweep(["AdaBoost", "csra"], X, Y, cv=2, levels=[0]).estimators == ("AdaBoost", "CSRA")
    assert cost_sweep("AdaBoostReg", X, Y, cv=2, param="C", costs=3).estimators == ("AdaBoostReg",)


def test_the_default_ratios_start_at_the_data_and_leave_positives():
    result, rows = seen_of(imbalance_sweep, {"a": Recorder()})
    assert len(result.levels) > 1
    assert min((labels == 1).sum() for _, labels in rows.ravel()) >= 4
    np.testing.assert_array_equal(rows[0, 0, 0][0], FOLDS[0][0])


def test_level_zero_is_plain_cross_validation_with_all_measures():
    clf = CSRAClassifier(n_estimators=4, cost=3)
    sweep = noise_sweep(clf, X, Y, levels=[0, 0.2], cv=FOLDS, cost=3)
    for k, (train, test) in enumerate(FOLDS):
        model = clf.fit(X[train], Y[train])
        assert sweep.values("cost")[0, k] == pytest.approx(expected_cost(Y[test], model.predict(X[test]), 3))
    assert {"roc_auc", "pr_auc", "brier", "log_loss"} <= set(sweep.measures)
    frame = sweep.as_frame()
    mine = frame[(frame.measure == "cost") & (frame.level == 0.2)].value
    np.testing.assert_array_equal(mine, sweep.values("cost")[1])


def test_costs_are_told_by_the_parameter_or_by_weights():
    for clf, costs in ((AdaC2Classifier(n_estimators=4), [1, 8]), (GaussianNB(), [1, 8])):
        sweep = cost_sweep(clf, np.nan_to_num(X), Y, costs=costs, cv=FOLDS)
        total = None
        for k, (train, test) in enumerate(FOLDS):
            Z = np.nan_to_num(X)
            if isinstance(clf, GaussianNB):
                w = np.where(Y[train] == 1, 8.0, 1.0)
                model = clf.fit(Z[train], Y[train], w * len(w) / w.sum())
            else:
                model = clf.set_params(cost=8).fit(Z[train], Y[train])
            counts = confusion_counts(Y[test], model.predict(Z[test]), pos_label=1)
            assert sweep.values("recall")[1, k] == pytest.approx(counts.recall)
            total = counts if total is None else total + counts
        assert sweep.pooled("precision")[1] == pytest.approx(total.precision)
        assert sweep.pooled("f1")[1] == pytest.approx(total.f1)


def test_any_parameter_can_be_swept():
    sweep = cost_sweep(AdaBoostRegClassifier(n_estimators=4), X, Y, param="C", costs=[0.0, 5.0], cv=FOLDS)
    plain = cost_sweep(AdaBoostClassifier(), X, Y, param="n_estimators", costs=[4], cv=FOLDS)
    # without regularisation it is AdaBoost, up to the rounding of its steps
    np.testing.assert_allclose(sweep.values("recall")[0], plain.values("recall")[0])
    assert sweep.what == sweep.param == "C"
    assert sweep.best("f1") in (0.0, 5.0)


def test_jobs_do_not_matter():
    one, two = (
        imbalance_sweep(
            [CSRAClassifier(n_estimators=2), AdaBoostClassifier(n_estimators=2)], X, Y, cv=2, n_jobs=n, random_state=0
        )
        for n in (1, 2)
    )
    assert one.as_frame().equals(two.as_frame())
    assert one.estimators == ("CSRA(n_estimators=2)", "AdaBoost(n_estimators=2)")  # as in compare


@pytest.mark.parametrize(
    ("sweep", "change", "message"),
    [
        (noise_sweep, {"levels": [0.6]}, r"levels=\[0.6\] must be fractions of labels from 0 to below 0.5; got 0.6"),
        (noise_sweep, {"levels": []}, "at least one"),
        (noise_sweep, {"flip": "all"}, "flip='all' must be one of"),
        (noise_sweep, {"estimators": []}, "estimators is empty"),
        (noise_sweep, {"estimators": [AdaBoostClassifier(), 3]}, "is not a classifier"),
        (noise_sweep, {"y": Y + (X[:, 1] > 1)}, "y has 3 classes, but sweeps are about two"),
        (imbalance_sweep, {"ratios": [2]}, "ratios has 2 negatives per positive, but the training parts already have"),
        (imbalance_sweep, {"ratios": [500]}, "which leaves 0 positives"),
        (noise_sweep, {"cv": [(np.flatnonzero(Y == 0), np.flatnonzero(Y))]}, "split 0 have no example of 1. Give"),
        (imbalance_sweep, {"cv": [(np.flatnonzero(Y == 0), np.flatnonzero(Y))]}, "split 0 have no example of 1. Give"),
        (size_sweep, {"sizes": [0.5, 2]}, "must be fractions of the training rows, above 0 and up to 1; got 2"),
        (
            size_sweep,
            {"sizes": [0.01]},
            "leaves 0 of 13 rows of class 1 in a training part. Give larger sizes: 0.38 leaves about 5",
        ),
        (cost_sweep, {"costs": [0, 1]}, r"costs=\[0, 1\] must be finite numbers above 0; got 0"),
        (cost_sweep, {"param": "gamma"}, "param='gamma' is not a parameter of AdaBoostClassifier"),
        (cost_sweep, {"estimators": [AdaBoostClassifier()]}, "must be one estimator"),
        (
            cost_sweep,
            {"sample_weight": np.ones(150), "estimators": Recorder()},
            "cannot take costs.* Name another parameter with param",
        ),
    ],
)
def test_bad_input_gets_an_error_that_says_what_to_do(sweep, change, message):
    given = {"estimators": AdaBoostClassifier(n_estimators=2), "X": X, "y": Y, "cv": 2, **change}
    if sweep is cost_sweep:
        given["estimator"] = given.pop("estimators")
    with pytest.raises(ValueError, match=message):
        sweep(**given)


def test_the_priced_class_stays_the_priced_class_when_noise_makes_it_the_larger_one():
    X = np.arange(60.0)[:, None]
    y = (np.arange(60) < 25).astype(int)  # 25 positives; flipping 40 % of the negatives alone makes it 39
    clf = CSRAClassifier(n_estimators=3, cost=50)
    sweep = noise_sweep(clf, X, y, levels=[0.4], flip="negative", cv=3, random_state=0)
    assert sweep.mean("recall")[0] == 1.0
