"""Small data and models that all displays are drawn for."""

from __future__ import annotations

import matplotlib
import numpy as np
import pytest

from skewboost import RealBoostClassifier

matplotlib.use("Agg")


@pytest.fixture(autouse=True)
def _close():
    yield
    import matplotlib.pyplot as plt

    plt.close("all")


@pytest.fixture(scope="session")
def rare():
    """Numbers with a missing cell here and there, and text labels of which "bad" is the rarer."""
    rng = np.random.default_rng(0)
    y = np.where(np.arange(240) % 6 == 0, "bad", "good")
    X = rng.normal(size=(240, 3)) + 1.2 * (y == "bad")[:, None] * [1.0, 0.7, 0.0]
    X[::17, 2] = np.nan
    return X, y


@pytest.fixture(scope="session")
def booster(rare):
    return RealBoostClassifier(n_estimators=12).fit(*rare)


@pytest.fixture(scope="session")
def table(rare):
    """The same as a frame, with a column of 30 categories."""
    pandas = pytest.importorskip("pandas")
    X, y = rare
    rng = np.random.default_rng(1)
    town = rng.integers(0, 30, len(y))
    town[(y == "bad") & (rng.random(len(y)) < 0.7)] = 7
    return pandas.DataFrame(X, columns=["width", "height", "depth"]).assign(town=[f"town {k}" for k in town]), y


def legend(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]
