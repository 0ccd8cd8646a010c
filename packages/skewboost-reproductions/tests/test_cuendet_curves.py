"""The error curves of Cuendet and Labbi: what is read from curves, the data, and the whole experiment in small."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from skewboost.plots.style import import_pyplot
from skewboost_reproductions.experiment_runs import find, run_tasks
from skewboost_reproductions.page_parts import Claims, Figure, Table
from skewboost_reproductions.papers.cuendet import curve_trials
from skewboost_reproductions.papers.cuendet.claims import changes
from skewboost_reproductions.papers.cuendet.curve_trials import (
    CHESS,
    FAVOURED,
    FOLDS,
    HEART,
    METHODS,
    NEW_Z,
    PLAIN,
    THYROID,
    TREE,
    K,
    errors,
    rows_of,
)
from skewboost_reproductions.papers.cuendet.error_curves import ErrorCurves
from skewboost_reproductions.printed import printed
from support import load_real

CURVES = ErrorCurves(
    np.array([[8.0, 6.0, 4.0, 3.0], [9.0, 5.0, 4.0, 1.0]]), np.array([[9.0, 4.0, 5.0, 6.0], [7.0, 6.0, 5.0, 8.0]]), 0.5
)


def test_what_is_read_from_curves():
    assert CURVES.best_round == 2  # means 8, 5, 5, 7
    assert CURVES.lowest.tolist() == [4.0, 6.0]
    assert CURVES.overfitting.tolist() == [2.0, 2.0]
    assert CURVES.at(3, "train").tolist() == [4.0, 4.0]
    assert CURVES.at(200).tolist() == [6.0, 8.0]
    assert CURVES.spread == pytest.approx(2.0 * np.mean([np.sqrt(2), np.sqrt(2), 0.0, np.sqrt(2)]))
    assert changes(CURVES).tolist() == pytest.approx([5.0 / 3.0, 8.0 / 3.0])
    # two curve_trials, whose training rows overlap
    assert CURVES.mean(CURVES.test[:, -1]).error == pytest.approx(np.sqrt((1 / 2 + 0.5) * 2.0))


def tiny(data):
    rng = np.random.default_rng(0)
    y = np.arange(60) % 2
    kind = np.where(rng.random(60) < 0.2, "c", np.where(y == 1, "a", "b"))
    X = pd.DataFrame({"size": y + rng.normal(size=60), "kind": pd.Categorical(kind)})
    X.loc[::7, "size"] = np.nan
    return X, pd.Series(y)


@pytest.fixture
def small(monkeypatch):
    """Few rows and rounds."""
    monkeypatch.setattr(curve_trials, "rows_of", tiny)
    monkeypatch.setattr(curve_trials, "TRIALS", 4)
    monkeypatch.setattr(curve_trials, "ROUNDS", 12)
    monkeypatch.setattr(curve_trials, "TREE_ROUNDS", 6)


def test_a_setting_is_one_curve_per_trial(small):
    found = errors(HEART, PLAIN, K, FOLDS)
    assert np.array(found["test"]).shape == (4, 12)
    assert np.array(errors(HEART, TREE, K, FOLDS)["train"]).shape == (4, 6)
    X, y = tiny(HEART)
    stump = curve_trials.booster(PLAIN, K).set_params(n_estimators=1).fit(X, y)
    first = 100.0 * np.mean(stump.predict(X) != y)
    assert abs(np.mean(np.array(found["train"])[:, 0]) - first) < 5.0  # in percent, of most of the same rows


def test_the_whole_experiment_in_small(small):
    experiment = find("cuendet-curves")
    parts = experiment.report(run_tasks(experiment, True, None), True)
    assert [len(part.claims) for part in parts if isinstance(part, Claims)] == [29]
    (table,) = (part for part in parts if isinstance(part, Table))
    assert len(table.rows) == sum(map(len, METHODS.values()))
    figures = [part for part in parts if isinstance(part, Figure)]
    assert [figure.name for figure in figures][:6] == [f"figure-3-{k}" for k in range(1, 7)]
    for figure in figures:
        import_pyplot().close(figure.draw())


@pytest.mark.slow
def test_the_data_sets_are_those_of_the_report():
    """Except that kr-vs-kp has 3196 rows, not 3198, and that cleve is 54 % positive if the healthy count as such."""
    numbers = {(row["data"], row["what"]): row["value"] for row in printed("cuendet", "curves")}
    for data, real in ((CHESS, "kr_vs_kp"), (HEART, "cleveland_heart"), (THYROID, "hypothyroid")):
        load_real(real)  # skips without the files
        X, y = rows_of(data)
        positive = 100.0 * (1.0 - y.mean() if data == HEART else y.mean())
        assert len(X) == numbers[data, "rows"] - 2 * (data == CHESS)
        assert X.shape[1] == numbers[data, "columns"]
        assert positive == pytest.approx(numbers[data, "percent positive"], abs=0.6)


def curves_of(data, method=PLAIN, cuts=K):
    found = errors(data, method, cuts, FOLDS)
    return ErrorCurves(np.array(found["train"]), np.array(found["test"]), 1.0 / 19.0)


@pytest.mark.slow
def test_trees_learn_chess_faster_than_stumps():
    load_real("kr_vs_kp")
    plain, tree = curves_of(CHESS), curves_of(CHESS, TREE)
    assert plain.at(200, "train").mean() < 3.0
    assert plain.mean(plain.at(200) - plain.at(200, "train")).interval()[1] < 2.0  # test errors are hardly larger
    assert plain.mean(plain.at(50) - tree.at(50)).interval()[0] > 1.5


@pytest.mark.slow
def test_coarse_cuts_cost_accuracy_and_the_two_criteria_agree():
    load_real("hypothyroid")
    coarse, exact, new = curves_of(THYROID), curves_of(THYROID, PLAIN, "every cut"), curves_of(THYROID, NEW_Z)
    assert coarse.mean(coarse.at(60) - exact.at(60)).p_value < 0.05
    low, high = coarse.mean((coarse.test - new.test)[:, 9:].mean(axis=1)).interval()
    assert max(-low, high) < 0.3


@pytest.mark.slow
def test_favoured_stumps_are_unstable_at_first():
    load_real("hypothyroid")
    plain, favoured = curves_of(THYROID), curves_of(THYROID, FAVOURED)
    assert plain.mean(changes(favoured) - changes(plain)).interval()[0] > 5.0


@pytest.mark.slow
def test_a_tree_learns_noise_by_heart():
    load_real("cleveland_heart")
    plain, tree = curves_of(HEART), curves_of(HEART, TREE)
    assert tree.mean(tree.test[:, -1] - tree.train[:, -1]).interval()[0] > 10.0
    assert tree.mean(plain.at(50, "train") - tree.at(50, "train")).interval()[0] > 10.0
