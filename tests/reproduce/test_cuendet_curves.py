"""The error curves of Cuendet and Labbi: what is read from curves, the data, and the whole experiment in small."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from skewboost.plots.style import import_pyplot
from skewboost.reproduce.cuendet_curves import trials
from skewboost.reproduce.cuendet_curves.claims import changes
from skewboost.reproduce.cuendet_curves.error_curves import ErrorCurves
from skewboost.reproduce.cuendet_curves.trials import (
    CHESS,
    FOLDS,
    HEART,
    METHODS,
    PLAIN,
    THYROID,
    TREE,
    K,
    errors,
    rows_of,
)
from skewboost.reproduce.printed import printed
from skewboost.reproduce.report import Claims, Figure, Table
from skewboost.reproduce.running import find, run_tasks
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
    # two trials, whose training rows overlap
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
    monkeypatch.setattr(trials, "rows_of", tiny)
    monkeypatch.setattr(trials, "TRIALS", 4)
    monkeypatch.setattr(trials, "ROUNDS", 12)
    monkeypatch.setattr(trials, "TREE_ROUNDS", 6)


def test_a_setting_is_one_curve_per_trial(small):
    found = errors(HEART, PLAIN, K, FOLDS)
    assert np.array(found["test"]).shape == (4, 12)
    assert np.array(errors(HEART, TREE, K, FOLDS)["train"]).shape == (4, 6)
    X, y = tiny(HEART)
    stump = trials.booster(PLAIN, K).set_params(n_estimators=1).fit(X, y)
    first = 100.0 * np.mean(stump.predict(X) != y)
    assert abs(np.mean(np.array(found["train"])[:, 0]) - first) < 5.0  # in percent, of most of the same rows


def test_the_whole_experiment_in_small(small):
    experiment = find("cuendet-curves")
    parts = experiment.report(run_tasks(experiment, True, None), True)
    assert [len(part.claims) for part in parts if isinstance(part, Claims)] == [28]
    (table,) = (part for part in parts if isinstance(part, Table))
    assert len(table.rows) == sum(map(len, METHODS.values()))
    figures = [part for part in parts if isinstance(part, Figure)]
    assert [figure.name for figure in figures][:6] == [f"figure-3-{k}" for k in range(1, 7)]
    for figure in figures:
        import_pyplot().close(figure.draw())


@pytest.mark.slow
def test_the_data_sets_are_those_of_the_report():
    """Except that kr-vs-kp has 3196 rows, not 3198, and that cleve is 54 % positive if the healthy count as such."""
    numbers = {(row["data"], row["what"]): row["value"] for row in printed("cuendet_curves")}
    for data, real in ((CHESS, "kr_vs_kp"), (HEART, "cleveland_heart"), (THYROID, "hypothyroid")):
        load_real(real)  # skips without the files
        X, y = rows_of(data)
        positive = 100.0 * (1.0 - y.mean() if data == HEART else y.mean())
        assert len(X) == numbers[data, "rows"] - 2 * (data == CHESS)
        assert X.shape[1] == numbers[data, "columns"]
        assert positive == pytest.approx(numbers[data, "percent positive"], abs=0.6)
