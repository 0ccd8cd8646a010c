"""Ctrl-C loses nothing that is finished: evaluations return it, and never pass it off as all."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from skewboost import CSRAClassifier
from skewboost.evaluate import (
    IncompleteResultWarning,
    bias_variance,
    bootstrap_632,
    cost_sweep,
    imbalance_sweep,
    match_rate,
    noise_sweep,
    size_sweep,
    staged_curve,
)
from support import awkward_data

X, Y = awkward_data(150)
CLF = CSRAClassifier(n_estimators=3)
HOW = {"cv": 3, "random_state": 0}


@pytest.fixture
def interrupted(interrupt):
    """The result of an evaluation that Ctrl-C ends after so many fits."""

    def result(evaluate, done, total=None, **how):
        interrupt(done)
        said = f"Interrupted after {done} of {total} fits" if total else "Interrupted after"
        with pytest.warns(IncompleteResultWarning, match=said):
            found = evaluate(CLF, X, Y, **how)
        assert not found.complete
        interrupt(-1)
        return found

    return result


def test_a_curve_has_the_finished_fits(interrupted):
    whole = staged_curve(CLF, X, Y, repeats=2, **HOW)
    part = interrupted(staged_curve, 4, 6, repeats=2, **HOW)
    assert whole.complete
    np.testing.assert_array_equal(part.folds, whole.folds[:4])
    np.testing.assert_array_equal(part.n_rounds, whole.n_rounds[:4])
    np.testing.assert_array_equal(part.values("recall"), whole.values("recall")[:4])
    np.testing.assert_array_equal(part.weight_quantiles, whole.weight_quantiles[:4])


@pytest.mark.parametrize(
    ("sweep", "how"),
    [
        (size_sweep, {"sizes": [0.5, 1]}),
        (noise_sweep, {"levels": [0, 0.1]}),
        (imbalance_sweep, {"ratios": [10, 15]}),
        (cost_sweep, {"costs": [1, 5]}),
    ],
)
def test_a_sweep_has_all_levels_of_the_first_folds(interrupted, sweep, how):
    whole = sweep(CLF, X, Y, **how, **HOW)
    part = interrupted(sweep, 3, 6, **how, **HOW)
    assert whole.complete
    done = np.array([[True, True, False], [True, False, False]])  # by level and fold
    for measure in whole.measures:
        np.testing.assert_array_equal(part.values(measure), np.where(done, whole.values(measure), np.nan))
    assert part.mean("recall")[1] == whole.values("recall")[1, 0]
    if sweep is cost_sweep:
        assert part.pooled("error")[1] == pytest.approx(whole.values("error")[1, 0])


@pytest.mark.parametrize("way", [{}, {"staged": True}, {"of": "squared_error"}, {"scheme": "cv", "cv": 2}])
def test_bias_and_variance_are_those_of_the_finished_draws(interrupted, way):
    fits = 7 if "cv" in way else 3  # the fourth repetition lacks a fold
    part = interrupted(bias_variance, fits, 10 if "cv" in way else 5, draws=5, random_state=0, **way)
    known = bias_variance(CLF, X, Y, draws=3, random_state=0, **way)
    assert known.complete
    assert part.n_draws == 3
    for name in ("loss", "bias", "variance"):
        np.testing.assert_array_equal(getattr(part, name), getattr(known, name))


def test_a_bootstrap_has_the_finished_draws(interrupted):
    part, known = (
        interrupted(bootstrap_632, 3, 6, draws=5, random_state=0),
        bootstrap_632(CLF, X, Y, draws=2, random_state=0),
    )
    assert known.complete
    assert part.estimate == known.estimate
    np.testing.assert_array_equal(part.out_of_bag, known.out_of_bag)


def test_a_search_for_a_rate_has_the_best_cost_so_far(interrupted):
    how = {"rate": 0.77, "tolerance": 1e-9, "cv": 2, "repeats": 1, "max_points": 6, "random_state": 0}
    whole, part = match_rate(CLF, X, Y, **how), interrupted(match_rate, 7, **how)
    assert whole.complete
    assert part.tried == whole.tried[:3]
    cost, mean = min(part.tried, key=lambda tried: abs(tried[1] - 0.77))
    assert (part.cost, part.mean()) == (cost, pytest.approx(mean))


@pytest.mark.parametrize(
    ("evaluate", "done"),
    [(staged_curve, 0), (noise_sweep, 0), (bias_variance, 1), (bootstrap_632, 1), (match_rate, 1)],
)
def test_an_interruption_before_there_is_a_result_is_raised(interrupt, evaluate, done):
    interrupt(done)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(KeyboardInterrupt):
            evaluate(CLF, X, Y)


def test_fits_that_run_at_the_same_time_are_kept_in_their_order():
    def ctrl_c(progress):  # which reaches the main thread, not those that fit
        if progress.done == 5:
            raise KeyboardInterrupt

    whole = staged_curve(CLF, X, Y, repeats=3, **HOW)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        part = staged_curve(CLF, X, Y, repeats=3, n_jobs=2, verbose=ctrl_c, **HOW)
    assert "Interrupted after 5 of 9 fits" in str(said[-1].message)
    assert not part.complete
    kept = [whole.folds.tolist().index(fold) for fold in part.folds.tolist()]
    assert len(kept) == 5
    assert kept == sorted(kept)
    np.testing.assert_array_equal(part.values("error"), whole.values("error")[kept])
