"""The ten-point line of the lecture slides: bagging and boosting come out as printed (figures 5.35 to 5.39)."""

from __future__ import annotations

import numpy as np
import pytest

from skewboost_reproductions.papers.slides.work import X, Y, boosted, drawn, labels_of_stump
from support import load_trace


def test_bagging_comes_out_as_printed():
    trace = load_trace("doc_slides_bagging")
    samples = drawn(5.35)
    assert [X[rows].tolist() for rows in samples] == [bag["x"] for bag in trace["bags"]]
    votes = sum(labels_of_stump(rows, X) for rows in samples)
    assert votes.tolist() == trace["votes"]
    assert (np.sign(votes) == Y).all()


@pytest.mark.parametrize(("name", "slip"), [("printed", True), ("standard", False)])
def test_boosting_comes_out_as_printed(name, slip):
    """Boosting by resampling, on the samples as they were drawn (the second is of one class).

    The printed steps 1.738, 2.7784 and 4.1195 rest on the slip; the standard error gives the other trace.
    """
    trace = load_trace(f"doc_slides_boosting_{name}")
    assert (X.tolist(), Y.tolist()) == (trace["X"], trace["y"])
    assert [X[rows].tolist() for rows in drawn(5.39)] == trace["samples"]
    clf = boosted(slip)
    np.testing.assert_allclose([r["step"] for r in clf.history_], [r["alpha"] for r in trace["rounds"]], atol=1e-9)
    np.testing.assert_allclose(clf.decision_function(X[:, None]), trace["F_train"], atol=1e-9)
    for F, expected in zip(clf.staged_decision_function(X[:, None]), trace["rounds"], strict=True):
        np.testing.assert_allclose(F, expected["F_train"], atol=1e-9)
    if slip:
        assert [round(r["step"], 3) for r in clf.history_] == [1.738, 2.778, 4.119]
    assert (clf.predict(X[:, None]) == Y).all()
