"""What is held out is whole, and what counts as evidence is an independent sample of what is promised."""

from __future__ import annotations

import warnings
from itertools import product

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB

from goals.ruler import Parrot, Ruler, draw
from skewboost import CSRAClassifier, GoalSearchCV
from skewboost.goals import (
    Goal,
    GoalNotMetWarning,
    GoalNotReachableError,
    RepeatedRowsWarning,
    bounds,
    false_alarm_rate,
)
from skewboost.goals.holdout import draw_evidence, fraction_needed, one_per_unit, random_split
from skewboost.goals.rows import SearchRows, Units
from skewboost.goals.search import Aim
from skewboost.goals.trials import folds_of
from skewboost.metrics import Counts

GOALS = [
    "recall >= 0.5",
    "false_alarm_rate <= 0.2",
    "g_mean >= 0.5",
    "precision >= 0.5",
    "recall >= 0.5 and fpr <= 0.4",
]


def aim_of(goal):
    return Aim(Goal.of(goal), false_alarm_rate, delta=0.1)


def some_rows(seed, n=120, kind="mixed"):
    """Rows of units of several sizes, of one class or of both, with weights."""
    rng = np.random.default_rng(seed)
    units = rng.integers(0, n // 3, n)
    y = rng.integers(0, 2, n) if kind == "mixed" else units % 2
    return SearchRows(rng.normal(size=(n, 1)), y, units, {"sample_weight": rng.uniform(0.5, 4.0, n)})


@pytest.mark.parametrize("kind", ["mixed", "pure"])
@pytest.mark.parametrize("goal", GOALS)
def test_units_are_never_torn(goal, kind):
    aim, rng = aim_of(goal), np.random.RandomState(0)
    for seed in range(10):
        rows = some_rows(seed, kind=kind)
        positive = rows.y == 1
        inner, outer = random_split(aim, rows, positive, fraction_needed(aim, rows, positive), rng)
        assert ((inner == 1) ^ (outer == 1)).all()
        searched, held = rows.part(inner), rows.part(outer)
        assert not set(searched.units) & set(held.units)
        np.testing.assert_array_equal(held.weights, rows.weights[outer == 1])
        folds = folds_of(4, searched, searched.y == 1, Ruler(), True, rng)
        assert sorted(np.concatenate([test.X[:, 0] for _, test in folds])) == sorted(searched.X[:, 0])
        for train, test in folds:
            assert not set(train.units) & set(test.units)
            assert set(train.y) == {0, 1}
        found, _ = draw_evidence(aim, searched, held, 1, rng)
        apart = goal != "precision >= 0.5" and (goal != "g_mean >= 0.5" or kind == "pure")
        for side in (held.y == 0, held.y == 1) if apart else (np.ones(len(held.y), dtype=bool),):
            assert np.bincount(held.units[side], found.examples[side]).max() <= 1  # one of a unit at most


def test_what_is_drawn_is_a_sample_by_weight():
    # 30 000 units of up to 4 rows, heavier where more of their rows are found
    rng = np.random.RandomState(0)
    of_row = np.repeat(np.arange(30_000), rng.randint(1, 5, 30_000))
    found = rng.uniform(size=len(of_row)) < rng.uniform(size=30_000)[of_row]
    weights = rng.uniform(0.2, 1.0, len(of_row)) * (1 + 2 * found)
    units = Units(of_row, np.ones(30_000, dtype=int), np.zeros((2, 30_000), dtype=bool))
    everything = np.ones(len(of_row), dtype=bool)
    heaviest = units.total_weight(weights).max()
    drawn = one_per_unit(units, weights, everything, heaviest, heaviest, rng)
    n, share = drawn.sum(), np.average(found, weights=weights)
    assert n == pytest.approx(units.total_weight(weights).sum() / heaviest, rel=0.03)
    assert abs((drawn * found).sum() / n - share) < 4 * np.sqrt(share * (1 - share) / n)
    assert abs(found.mean() - share) > 0.1  # as rows, they are others
    # those that are heavier than any in the search are not drawn
    limited = one_per_unit(units, weights, everything, 2.0, heaviest, rng)
    light = (units.total_weight(weights) <= 2.0)[of_row]
    assert not limited[~light].any()
    n, share = limited.sum(), np.average(found[light], weights=weights[light])
    assert abs((limited * found).sum() / n - share) < 4 * np.sqrt(share * (1 - share) / n)


# units of a class: (probability, weight, part that is found)
POPULATIONS = [
    [(0.5, 1.0, 1.0), (0.3, 1.0, 0.0), (0.2, 5.0, 1.0)],
    [(0.8, 1.0, 1.0), (0.05, 1.0, 0.0), (0.15, 4.0, 0.0)],  # what is heavy is missed
    [(0.4, 3.0, 2 / 3), (0.5, 2.0, 1.0), (0.1, 1.0, 0.0)],  # groups, of which part is found
]


@pytest.mark.parametrize("population", POPULATIONS)
def test_promises_on_rates_by_weight_are_not_broken_too_often(population):
    # all outcomes of six units and of what is drawn of them, at the true rate, where a promise is most easily wrong
    chance, weight, part = np.array(population).T
    rate = (chance * weight * part).sum() / (chance * weight).sum()
    heaviest, n = weight.max(), 6
    # of a unit nothing is drawn, a row that is found, or one that is missed
    taken = chance * weight / heaviest
    outcome = np.array([1 - taken.sum(), (taken * part).sum(), (taken * (1 - part)).sum()])
    outcomes = np.array(list(product(range(3), repeat=n)))
    probability = outcome[outcomes].prod(axis=1)
    hits, drawn = (outcomes == 1).sum(axis=1), (outcomes > 0).sum(axis=1)
    at_least, at_most = bounds.at_least(hits, drawn, rate), bounds.at_most(hits, drawn, rate)
    for delta in (0.3, 0.1, 0.02):
        assert probability[at_least <= delta].sum() <= delta
        assert probability[at_most <= delta].sum() <= delta
    if population is POPULATIONS[1]:  # to take the weights for numbers of examples is another matter
        hits, counted = ((weight * part)[outcomes].sum(axis=1), weight[outcomes].sum(axis=1))
        assert chance[outcomes].prod(axis=1)[bounds.at_least(hits, counted, rate) <= 0.1].sum() > 0.25


@pytest.mark.parametrize("goal", ["recall >= 0.7", "precision >= 0.35", "g_mean >= 0.5"])
def test_a_factor_of_all_weights_changes_nothing(goal):
    X, y = draw(900, 1)
    clf = GoalSearchCV(Ruler(), goal, tune="threshold", cv=2, random_state=0)
    plain = clf.fit(X, y)
    found, threshold = plain.certificate_, plain.threshold_
    assert found.evidence == found.counts
    for weight in (0.25, 8.0):
        clf.fit(X, y, sample_weight=np.full(900, weight))
        assert clf.threshold_ == threshold
        assert clf.certificate_.evidence == found.evidence
        assert clf.certificate_.shown == found.shown
    weights = np.random.default_rng(0).integers(1, 6, 900)
    scaled = [clf.fit(X, y, sample_weight=f * weights).certificate_ for f in (1.0, 2.0)]
    assert scaled[0].evidence == scaled[1].evidence
    assert scaled[0].evidence.total < 300  # of those held out, the lighter ones count in part


def test_copies_are_one_row_and_told():
    X, y = draw(600, 2)
    clf = GoalSearchCV(Parrot(), "recall >= 0.7", tune="threshold", random_state=0)
    with pytest.warns(RepeatedRowsWarning, match="1200 of the 1800 rows of X repeat another row"):
        clf.fit(np.repeat(X, 3, axis=0), np.repeat(y, 3))
    assert clf.certificate_.counts.total == 200
    assert clf.certificate_.evidence == clf.certificate_.counts
    assert "held-out and new distinct rows" in str(clf.certificate_)
    grouped = GoalSearchCV(Parrot(), "recall >= 0.7", tune="threshold", random_state=0)
    grouped.fit(np.repeat(X, 3, axis=0), np.repeat(y, 3), groups=np.repeat(np.arange(600), 3))  # which is no news
    assert grouped.certificate_.evidence.total == 200


def test_rows_that_are_equal_by_chance_are_independent():
    X, y = draw(900, 3)
    X = np.round(X, 1)
    for weights in ("importance", "counts"):
        clf = GoalSearchCV(Ruler(), "recall >= 0.7", tune="threshold", random_state=0, weights=weights).fit(X, y)
        assert clf.certificate_.evidence == clf.certificate_.counts
        assert clf.certificate_.counts.total == 300


@pytest.mark.parametrize("remedy", ["counts", "groups"])
def test_copies_are_independent_examples_if_the_user_says_so(remedy):
    X, y = draw(600, 2)
    X, y = np.repeat(X, 3, axis=0), np.repeat(y, 3)
    clf = GoalSearchCV(Parrot(), "recall >= 0.7", tune="threshold", random_state=0)
    if remedy == "counts":
        clf.set_params(weights="counts").fit(X, y)
    else:
        clf.fit(X, y, groups=np.arange(len(X)))  # as the warning says
    assert clf.certificate_.evidence.total == clf.certificate_.counts.total == 600


@pytest.mark.parametrize("goal", ["recall >= 0.7", "precision >= 0.35", "g_mean >= 0.5", "flagged_share <= 0.4"])
@pytest.mark.parametrize("n_copies", [1, 10, 60])
def test_the_effect_of_copies_is_as_small_as_they_are(goal, n_copies):
    X, y = draw(1500, 1)
    again = np.r_[np.arange(1500), np.random.default_rng(0).integers(0, 1500, n_copies)]
    clf = GoalSearchCV(Ruler(), goal, tune="threshold", random_state=0, allow_unmet=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        plain = clf.fit(X, y).certificate_
        with_copies = clf.fit(X[again], y[again]).certificate_
    assert abs(with_copies.evidence.total - plain.evidence.total) <= 2
    assert with_copies.met == plain.met


@pytest.mark.parametrize("goal", ["recall >= 0.5", "precision >= 0.5"])
def test_counts_are_split_like_examples(goal):
    # a row that stands for many examples is split like them, as if it were repeated
    positive = np.array([True, True, True, False, False, False])
    weights = np.array([60.0, 30.0, 10.0, 300.0, 1.0, 99.0])
    rows = SearchRows(np.zeros((6, 1)), positive, np.arange(6), {"sample_weight": weights}, counted=True)
    rng = np.random.RandomState(0)
    draws = [random_split(aim_of(goal), rows, positive, 0.25, rng) for _ in range(200)]
    assert all((left + held == weights).all() and held.sum() == 125 for left, held in draws)
    np.testing.assert_allclose(np.mean([held for _, held in draws], axis=0), 0.25 * weights, atol=1.5)
    if goal == "recall >= 0.5":
        assert all(held[positive].sum() == 25 for _, held in draws)


@pytest.mark.parametrize("meaning", ["counts", "importance"])
def test_frequent_rows_are_no_independent_examples(meaning):
    # Half of the positives are one frequent row, which no model can tell from negatives. If it is on the side of the
    # search, the others must not be taken for all.
    rng = np.random.default_rng(0)
    x = np.concatenate((rng.normal(3.0, 0.01, 50), [-3.0], rng.normal(-3.0, 0.01, 200)))[:, None]
    y = np.concatenate((np.ones(51, int), np.zeros(200, int)))
    weights = np.concatenate((np.ones(50), [50.0], np.ones(200)))
    for seed in range(5):
        clf = GoalSearchCV(GaussianNB(), "recall >= 0.7", tune="threshold", pos_label=1, cv=2, random_state=seed)
        clf.set_params(allow_unmet=True, weights=meaning)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            clf.fit(x, y, sample_weight=weights)
        assert not clf.certificate_.met or clf.predict([[-3.0]])[0] == 1


@pytest.mark.filterwarnings("ignore::skewboost.goals.LittleUseWarning")
def test_fractions_weigh_but_do_not_count():
    X, y = draw(300, 0)
    half = np.where(np.arange(300) % 3, 0.5, 0.25)
    clf = GoalSearchCV(CSRAClassifier(n_estimators=3), "recall >= 0.6", cv=2, max_points=5, random_state=0)
    found = clf.fit(X, y, sample_weight=half).certificate_
    assert 0.25 * 100 < found.counts.total < 0.5 * 100 < found.evidence.total < 100
    found = clf.fit(X, y, sample_weight=np.full(300, 0.5)).certificate_  # which is as if there were none
    assert found.counts.total == found.evidence.total == 100
    with pytest.raises(ValueError, match="sample_weight has fractions, but weights='counts'"):
        clf.set_params(weights="counts").fit(X, y, sample_weight=half)
    with pytest.raises(ValueError, match="groups says that rows belong together, but weights='counts'"):
        clf.fit(X, y, groups=np.arange(300))


def test_heavy_rows_that_are_missed_are_not_forgotten():
    # a tenth of the positives weighs nine times as much as the others together, and is hard to find
    X, y = draw(3000, 5)
    heavy = (y == 1) & (np.arange(3000) % 10 == 0)
    X[heavy] = np.random.default_rng(0).normal(-3.0, 1.0, (heavy.sum(), 1))
    weights = np.where(heavy, 81.0, 1.0)
    clf = GoalSearchCV(Ruler(), "recall >= 0.5", tune="threshold", random_state=0, allow_unmet=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        clf.fit(X, y, sample_weight=weights)
    by_weight = Counts.of(y == 1, clf.predict(X) == 1, weights)
    assert not clf.certificate_.met or by_weight.recall > 0.5


def test_what_the_user_holds_out_must_not_be_torn():
    X, y = draw(600, 0)
    twice, late = np.repeat(X, 2, axis=0), np.arange(1200) % 2 == 0
    clf = GoalSearchCV(Ruler(), "recall >= 0.7", holdout=late, random_state=0)
    with (
        pytest.warns(RepeatedRowsWarning),
        pytest.raises(ValueError, match="holdout has 600 rows that are equal to rows"),
    ):
        clf.fit(twice, np.repeat(y, 2))
    with pytest.raises(ValueError, match="in the same group"):
        clf.fit(np.repeat(X, 2, axis=0), np.repeat(y, 2), groups=np.repeat(np.arange(600), 2))
    whole = np.repeat(np.arange(600) % 3 == 0, 2)
    clf.set_params(holdout=whole).fit(twice, np.repeat(y, 2), groups=np.repeat(np.arange(600), 2))
    assert clf.certificate_.counts.total == whole.sum()


def test_too_few_groups_are_told():
    X, y = draw(400, 0)
    clf = GoalSearchCV(Ruler(), "recall >= 0.7", cv=2, random_state=0)
    with pytest.raises(ValueError, match=r"in 2 groups or sets of equal rows: too few"):
        clf.fit(X, y, groups=np.arange(400) % 2)
    with pytest.raises(GoalNotReachableError, match=r"but there are \d \(with .* independent by weight and group"):
        clf.fit(X, y, groups=np.arange(400) % 12)
    with pytest.raises(ValueError, match=r"A class has 1 independent example\(s\) to search on"):
        clf.set_params(confidence=None).fit(X, y, groups=np.zeros(400))
    with pytest.warns(GoalNotMetWarning, match="independent examples among the held-out rows"):
        clf.set_params(confidence=0.9, allow_unmet=True).fit(X, y, groups=np.arange(400) % 12)
