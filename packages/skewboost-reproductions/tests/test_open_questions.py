"""Experiments on questions that Cuendet and Labbi (2002) left open."""

from __future__ import annotations

import numpy as np
import pytest

from skewboost import RealBoostClassifier
from skewboost.learners import Stump
from skewboost_reproductions.experiment import Results, name_of
from skewboost_reproductions.papers.cuendet import blocks as curve_blocks
from skewboost_reproductions.papers.cuendet import complete as cuendet_complete
from skewboost_reproductions.papers.cuendet import rounds as cuendet_rounds
from skewboost_reproductions.papers.cuendet.blocks import KINDS, Blocks, errors_of_block, rounds_kept
from skewboost_reproductions.verdicts import HELD, NOT_REPRODUCED, UNDECIDED

N, RATIO = 60, 2.0  # rows, and negatives per positive


@pytest.fixture
def small(monkeypatch):
    rng = np.random.default_rng(0)
    y = np.repeat([0, 0, 1], N // 3)
    X = rng.normal(y[:, None], 1.0, (N, 2))
    monkeypatch.setattr(curve_blocks, "rows_of", lambda data: (X, y))
    monkeypatch.setattr(curve_blocks, "TRIALS", 4)
    monkeypatch.setattr(curve_blocks, "BLOCK", 2)
    return X, y


def test_errors_of_all_blocks_are_those_of_all_trials(small):
    made = lambda ratio: RealBoostClassifier(estimator=Stump(), n_estimators=5)  # noqa: E731
    parts = [errors_of_block("any", first, [1, 3, 5, 9], made) for first in (0, 2)]
    found = Blocks(parts, [1, 3, 5, 9], 1.0 / 3.0)
    assert {kind: errors.shape for kind, errors in found.errors.items()} == dict.fromkeys(KINDS, (4, 4))
    np.testing.assert_array_equal(found.at(5), found.at(9))  # a booster that ended keeps its last error
    X, y = small
    model = made(RATIO).fit(X[15:], y[15:])
    assert model.predict(X).shape == y.shape
    assert 0.0 < found.at(5, "train").mean() < found.at(1, "train").mean() < 50.0


def test_weights_make_the_classes_equal(small):
    """A constant is wrong about one class, and so about half of the weight."""

    class Constant:
        def fit(self, X, y):
            return self

        def staged_predict(self, X):
            yield np.zeros(len(X), dtype=int)

    seen = []
    found = errors_of_block("any", 0, [1], lambda ratio: seen.append(ratio) or Constant())
    assert np.ravel(found["weighted train"]) == pytest.approx(50.0)
    assert np.ravel(found["train"]) == pytest.approx(100.0 / 3.0, abs=1.0)
    assert seen == pytest.approx([RATIO] * 2, abs=0.1)


@pytest.mark.parametrize("n", [20, 100, 500, 5000])
def test_rounds_that_are_kept(n):
    kept = rounds_kept(n)
    assert kept == sorted(set(kept))
    assert (kept[0], kept[-1]) == (1, n)
    assert set(range(1, min(n, 50) + 1)) <= set(kept)
    assert len(kept) < 200


def test_the_costs_are_those_of_favoured_stumps():
    """So that only the search differs: β+ = N-/N+ and β- = N+/N-."""
    assert cuendet_complete.costs(20.0) == {1: 20.0, 0: 0.05}
    y = np.repeat([0, 1], [40, 2])
    X = np.arange(42.0)[:, None]
    favoured = cuendet_complete.BOOSTERS[cuendet_complete.FAVOURED](20.0).fit(X, y)
    assert favoured._costs(None, y, None).of_class[::-1].tolist() == pytest.approx([20.0, 0.05])


def changing(size, n_trials=5, n_rounds=cuendet_complete.ROUNDS):
    """Errors that move up and down by a size, with a little noise."""
    noise = np.random.default_rng(round(10 * size)).normal(0.0, 0.01, (n_trials, n_rounds))
    return {kind: (10.0 + size * (-1.0) ** np.arange(n_rounds) + noise).tolist() for kind in KINDS}


def test_stability_is_the_change_from_round_to_round():
    sizes = dict.fromkeys(cuendet_complete.BOOSTERS, 0.1) | {cuendet_complete.FAVOURED: 5.0}
    results = Results(
        {
            name_of(cuendet_complete.stability, data, method, 0): changing(size)
            for data in cuendet_complete.PUBLIC
            for method, size in sizes.items()
        },
        0.0,
    )
    claims = cuendet_complete.report(results, True)[0].claims
    assert not any(claim.of_paper for claim in claims)
    verdicts = {claim.text.split(": ", 1)[1]: claim.verdict for claim in claims}
    assert verdicts["the complete search is more stable in early rounds than favoured stumps"] == HELD
    assert verdicts["it is as stable as plain stumps"] == HELD
    found = Blocks([changing(5.0)], range(1, 101), 0.0)
    assert found.mean(found.changes(1, 20)).mean == pytest.approx(10.0, abs=0.01)


def test_errors_that_fall_rise_or_stay_are_told_apart():
    def curves(first, last, method):
        kept = np.array(cuendet_rounds.kept(method))
        mean = np.interp(np.log(kept), np.log([kept[0], cuendet_rounds.REPORTED[method], kept[-1]]), [9.0, first, last])
        return {kind: (mean + np.linspace(-0.05, 0.05, 5)[:, None] * np.log(kept)).tolist() for kind in KINDS}

    ends = {"alternating tree": (2.0, 0.8), "consistent stumps": (2.0, 6.0), "plain stumps": (1.1, 1.1)}
    settings = cuendet_rounds.settings(True)
    results = {
        name_of(cuendet_rounds.long_curves, data, method, cuts, 0): curves(*ends[method], method)
        for data, method, cuts in settings
    }
    parts = cuendet_rounds.report(Results(results, 0.0), True)
    verdicts = {claim.text: claim.verdict for claim in parts[0].claims}
    at = "hypothyroid, 10 tests"
    assert verdicts[f"{at}, alternating tree: better after round 50 (until 500)"] == HELD
    assert verdicts[f"{at}, consistent stumps: better after round 200 (until 5000)"] == NOT_REPRODUCED
    assert verdicts[f"{at}, plain stumps: better after round 200 (until 5000)"] == UNDECIDED
    rise = "no overfitting (here: a rise of at most 0.5 points from round"
    assert verdicts[f"{at}, consistent stumps: {rise} 200 to 5000)"] == NOT_REPRODUCED
    assert verdicts[f"{at}, plain stumps: {rise} 200 to 5000)"] == HELD
