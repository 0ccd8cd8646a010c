"""Every estimator in every configuration: what the order, number and weights of rows, and threads, may change."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone

from estimators import answers, assert_same, each, fitted, rows, three, without_words
from messages import is_ours

ROUNDING = {"rtol": 1e-9, "atol": 1e-9}
X, Y = rows(150)
X_NEW, Y_NEW = rows(60, seed=9)


def labels_of(configured):
    """Labels of two classes; of three for some of those that take them."""
    return three(X, Y) if configured.many and len(configured.name) % 2 else Y


@pytest.mark.sample(2)
@each("order")
def test_the_order_of_rows_does_not_matter(configured):
    y, order = labels_of(configured), np.random.default_rng(0).permutation(len(X))
    a, b = fitted(configured.make(), X, y), fitted(configured.make(), X[order], y[order])
    assert_same(answers(a, X_NEW), answers(b, X_NEW), **ROUNDING)


@pytest.mark.sample(2)
@each("repetition")
def test_an_integer_weight_is_a_repetition_and_zero_is_absence(configured):
    weights = np.random.default_rng(1).integers(0, 4, len(X))
    y, n = labels_of(configured), np.repeat(np.arange(len(X)), weights)
    weighted = fitted(configured.make(), X, y, sample_weight=weights)
    repeated = fitted(configured.make(), X[n], y[n])
    assert_same(answers(weighted, X_NEW), answers(repeated, X_NEW), **ROUNDING)


@pytest.mark.sample(2)
@each("absence")
def test_a_row_of_weight_zero_is_absent(configured):
    """Also where the folds of a search make repetition another matter."""
    y = labels_of(configured)
    present = np.arange(len(X)) % 5 > 0
    weighted = fitted(configured.make(), X, y, sample_weight=np.where(present, 2.0, 0.0))
    absent = fitted(configured.make(), X[present], y[present], sample_weight=np.full(present.sum(), 2.0))
    assert_same(answers(weighted, X_NEW), answers(absent, X_NEW), **ROUNDING)


@pytest.mark.sample(3)
@each()
@pytest.mark.parametrize("n_copies", [0, 40])
def test_weights_of_one_change_nothing(configured, n_copies):
    rows = np.r_[: len(X), :n_copies]
    y = labels_of(configured)[rows]
    weighted = fitted(configured.make(), X[rows], y, sample_weight=np.ones(len(rows)))
    assert_same(answers(weighted, X_NEW), answers(fitted(configured.make(), X[rows], y), X_NEW), **ROUNDING)


@pytest.mark.sample(3)
@each()
def test_the_number_of_threads_changes_no_bit(configured):
    given = configured.make().get_params()
    inner = given.get("estimator")
    names = {"n_jobs", *(["estimator__n_jobs"] if is_ours(inner) else ())}
    threads = {name: 2 for name in names if name in given}
    y = labels_of(configured)
    a, b = fitted(configured.make(), X, y), fitted(configured.make().set_params(**threads), X, y)
    assert threads
    assert_same(answers(a, X_NEW), answers(b, X_NEW))


@pytest.mark.sample(3)
@each()
def test_a_second_fit_and_a_clone_are_the_first_fit(configured):
    y, clf = labels_of(configured), configured.make()
    first = answers(fitted(clf, X, y), X_NEW)
    assert_same(answers(fitted(clf, X, y), X_NEW), first)
    assert_same(answers(fitted(clone(clf), X, y), X_NEW), first)
    fitted(clf, X_NEW, labels_of(configured)[: len(X_NEW)])  # other rows in between
    assert_same(answers(fitted(clf, X, y), X_NEW), first)


@pytest.mark.sample(4)
@each()
def test_a_row_is_predicted_alone_as_among_others(configured):
    clf = fitted(configured.make(), X, labels_of(configured))
    together = answers(clf, X_NEW)
    order = np.random.default_rng(3).permutation(len(X_NEW))
    assert_same(answers(clf, X_NEW[order]), {name: found[order] for name, found in together.items()}, **ROUNDING)
    for i in (0, 17):
        assert_same(answers(clf, X_NEW[[i]]), {name: found[[i]] for name, found in together.items()}, **ROUNDING)


@pytest.mark.sample(3)
@each()
def test_neither_data_nor_parameters_are_changed(configured):
    data = X.copy(), labels_of(configured).copy(), np.arange(len(X)) % 3 + 1.0
    for own in data:
        own.setflags(write=False)
    clf = configured.make()
    before = repr(clf), repr(clf.get_params())
    answers(fitted(clf, *data[:2], sample_weight=data[2]), data[0])
    assert (repr(clf), repr(clf.get_params())) == before


@pytest.mark.sample(2)
@each()
@pytest.mark.parametrize("bad", ["one class", "too few labels", "infinite", "no rows"])
def test_a_failed_fit_keeps_the_old_model_or_none(configured, bad):
    y = labels_of(configured)
    cases = {
        "one class": (X, np.zeros(len(X), dtype=int)),
        "too few labels": (X, y[:-1]),
        "infinite": (np.where(X > 2, np.inf, X), y),
        "no rows": (X[:0], y[:0]),
    }
    clf = configured.make()
    with pytest.raises(ValueError, match=r"\w"), without_words():
        clf.fit(*cases[bad])
    assert not [name for name in vars(clf) if name.endswith("_") and not name.startswith("_")]
    before = answers(fitted(clf, X, y), X_NEW)
    with pytest.raises(ValueError, match=r"\w"), without_words():
        clf.fit(*cases[bad])
    assert_same(answers(clf, X_NEW), before)


@pytest.mark.sample(4)
@each()
def test_decisions_scores_and_probabilities_agree(configured):
    y = labels_of(configured)
    clf = fitted(configured.make(), X, y)
    found = answers(clf, X_NEW)
    assert all(np.isfinite(v).all() for v in found.values() if v.dtype.kind == "f")
    referred = ~np.isin(found["predict"], clf.classes_)
    assert referred.any() == (referred.any() and hasattr(clf, "reject_label_"))
    if "predict_proba" in found:
        assert found["predict_proba"].shape == (len(X_NEW), len(clf.classes_))
        np.testing.assert_allclose(found["predict_proba"].sum(axis=1), 1.0)
        assert (found["predict_proba"] >= 0).all()
    if "decision_function" in found and len(clf.classes_) == 2:
        flagged = found["predict"] == clf.classes_[1]
        np.testing.assert_array_equal((found["decision_function"] > 0)[~referred], flagged[~referred])
    if "contributions" in found and configured.exempt("sum") is None:
        total, scores = found["contributions"].sum(axis=1) + clf.baseline_, found["decision_function"]
        if scores.ndim == 2:  # those of many classes count relative to each other
            scores = np.log(found["predict_proba"])
            total, scores = total - total[:, :1], scores - scores[:, :1]
        np.testing.assert_allclose(total, scores, atol=1e-9)
    if "expected_costs" in found and not hasattr(clf, "threshold_"):
        best = clf.classes_[found["expected_costs"].argmin(axis=1)]
        np.testing.assert_array_equal(found["predict"][~referred], best[~referred])
