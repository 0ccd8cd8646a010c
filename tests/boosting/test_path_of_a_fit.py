"""Few calls lie between the loop and the first kernel of a round."""

from __future__ import annotations

import sys

import numpy as np
import pytest

import skewboost as sb
from skewboost.boosting import loop
from skewboost.engine.native import native_core

MOST = 5  # calls, that of the kernel included


@pytest.mark.skipif(native_core() is None, reason="the native core is not built")
@pytest.mark.parametrize("estimator", ["stump", "tree"])
def test_at_most_five_calls_from_the_loop_to_the_first_kernel(estimator, monkeypatch):
    core, paths = native_core(), []
    kernel = core.grow

    def grow(*args):
        frame, path = sys._getframe(1), ["kernel"]
        while frame.f_code is not loop._rounds.__code__:
            path.append(frame.f_code.co_qualname)
            frame = frame.f_back
        paths.append(path[::-1])
        return kernel(*args)

    monkeypatch.setattr(core, "grow", grow)
    X = np.random.default_rng(0).normal(size=(1000, 5))
    sb.CSRAClassifier(estimator=estimator, cost=5, n_estimators=3).fit(X, X[:, 0] + X[:, 1] > 1)
    assert paths
    assert max(map(len, paths)) <= MOST, paths[0]
