"""The experiment nikolaou: its weak learner, its split of the rows, its loss, and the claims."""

from __future__ import annotations

import math

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from skewboost import AdaBoostClassifier, AdaMECClassifier
from skewboost.datasets import load_rare_cancer
from skewboost.plots.style import import_pyplot
from skewboost_reproductions.experiment_runs import run_tasks
from skewboost_reproductions.papers.nikolaou import variants as nikolaou
from skewboost_reproductions.papers.nikolaou.univariate_logistic import UnivariateLogisticRegression
from skewboost_reproductions.papers.nikolaou.variants import (
    BY_FOLDS,
    CALIBRATED,
    CONSTANT,
    EXPERIMENT,
    LEARNERS,
    METHODS,
    RATIOS,
    STUMPS,
)
from skewboost_reproductions.superiority import claim_of_superiority, rank_test
from skewboost_reproductions.verdicts import HELD, NOT_REPRODUCED, UNDECIDED
from support import SHARED

needs_data = pytest.mark.skipif(not (SHARED / "data").is_dir(), reason="needs the data sets of the papers")


def test_the_weak_learner_is_the_logistic_regression_of_the_best_column():
    X, y = map(np.asarray, load_rare_cancer())
    X = X[:, :8]
    w = np.random.default_rng(0).uniform(0.2, 2.0, len(y)) * np.where(y == 1, 5.0, 1.0)
    found = UnivariateLogisticRegression().fit(X, y, w)
    errors = []
    for j in range(X.shape[1]):
        one = X[:, [j]]
        scale = one.std()
        model = LogisticRegression(C=1e6, tol=1e-8, max_iter=1000).fit(one / scale, y, w)
        errors.append(w[model.predict(one / scale) != y].sum())
        if j == found.column_:
            boundary = -model.intercept_[0] / model.coef_[0, 0] * scale
    assert w[found.predict(X) != y].sum() == pytest.approx(min(errors), rel=0.02)
    assert -found.intercept_ / found.slope_ == pytest.approx(boundary, rel=0.01)


def test_there_are_21_cost_ratios_and_15_methods():
    assert len(RATIOS) == 21
    assert np.allclose(np.log(RATIOS), -np.log(RATIOS)[::-1])
    assert len(METHODS) == 15


def test_the_loss_is_that_of_equally_frequent_classes():
    y = np.array([1, 1, 1, 1, 0, 0])
    positive = np.array([True, True, True, False, True, False])
    assert nikolaou.loss(positive, y, 3.0) == pytest.approx(0.75 * 1 / 4 + 0.25 * 1 / 2)
    assert nikolaou.loss(np.ones(6, dtype=bool), y, 3.0) == 0.25


def test_rows_are_divided_into_balanced_and_disjoint_parts():
    y = np.array([1] * 40 + [0] * 1000)
    train, calibration, test = nikolaou.parts(y, 0)
    assert [len(rows) for rows in (train, calibration, test)] == [30, 30, 20]
    assert len(np.unique(np.concatenate((train, calibration, test)))) == 80
    assert all(y[rows].mean() == 0.5 for rows in (train, calibration, test))
    assert not np.array_equal(nikolaou.parts(y, 1)[2], test)


def test_adamec_is_the_shifted_decision_of_adaboost():
    X, y = load_rare_cancer()
    plain = 2.0 * AdaBoostClassifier(n_estimators=20, pos_label=1).fit(X, y).decision_function(X)
    for c in (0.1, 7.0):
        model = AdaMECClassifier(n_estimators=20, pos_label=1, cost=c).fit(X, y)
        assert ((plain + math.log(c) >= 0) == (model.predict(X) == 1)).all()


def test_superiority_is_tested_against_each_other_method():
    rng = np.random.default_rng(0)
    best, noise = rng.uniform(1.0, 2.0, 12), rng.uniform(0.0, 0.1, 12)
    better, same = best + 1.0 + noise, best + np.where(np.arange(12) % 2, noise, -noise)
    assert claim_of_superiority("", best, {"a": better, "b": better + noise}).verdict == HELD
    claim = claim_of_superiority("", best, {"a": better, "b": same})
    assert claim.verdict == UNDECIDED
    assert "lower: a; no difference shown: b" in claim.evidence
    assert claim_of_superiority("", better, {"a": best, "b": same}).verdict == NOT_REPRODUCED
    pairs = claim_of_superiority("", {"x": best, "y": better}, {"x": better, "y": same})
    assert "lower: x; higher: y" in pairs.evidence
    assert list(rank_test({"a": better, "b": best, "c": better + noise}).mean_ranks) == ["b", "a", "c"]


@needs_data
def test_a_small_run_makes_all_parts_of_the_page(monkeypatch):
    monkeypatch.setattr(nikolaou, "ROUNDS", 3)
    monkeypatch.setattr(nikolaou, "SETS", ("haberman", "wpbc"))
    results = run_tasks(EXPERIMENT, True, None)
    claims, by_ratio, *ranks, table_of_ranks, losses, about, _ = nikolaou.report(results, True)
    assert len(claims.claims) == 6 * len(LEARNERS)
    assert len(ranks) == len(LEARNERS)
    assert set(losses.rows) == {*METHODS, BY_FOLDS, CONSTANT}
    assert "p = " in about
    for learner in LEARNERS:
        of_all = [table_of_ranks.cells[a, f"{learner}, all"].ours.mean for a in METHODS]
        assert np.mean(of_all) == pytest.approx(8.0)
    import_pyplot().close(by_ratio.draw())


@pytest.mark.slow
@needs_data
def test_calibrated_adaboost_loses_less_than_variants_whose_costs_compound():
    sets = ("pima", "cleveland_heart", "wdbc", "ida_german", "tic_tac_toe", "wisconsin_original")
    found = [[nikolaou.losses(s, STUMPS, r, True) for r in range(4)] for s in sets]
    mean = {a: np.mean([[one[a] for one in own] for own in found], axis=(1, 2)) for a in METHODS}
    for a in CALIBRATED:
        for other in ("AdaBoost", "AdaCost", "CSB1"):
            assert (mean[a] < mean[other]).mean() > 0.8, (a, other)
