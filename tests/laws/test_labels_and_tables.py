"""Every estimator in every configuration: the spelling of labels, and what kind of table holds the same cells."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.exceptions import DataConversionWarning
from sklearn.linear_model import LogisticRegression

from estimators import answers, assert_same, each, fitted, rows, table, three
from hostile import NAMES

X, Y = rows(150)
TABLE, Y_TABLE = table(150)
NEW, TABLE_NEW = rows(50, seed=9)[0], table(50, seed=9)[0]
OF_CLASSES = ("predict_proba", "expected_costs")


def mapped(found, classes, new_classes, names):
    """Answers in terms of other labels: `names` of `classes`, whose sorted order is `new_classes`."""
    renamed = dict(zip(classes.tolist(), names))
    order = [list(names).index(c) for c in new_classes.tolist()]
    result = {}
    for name, values in found.items():
        if name == "predict":
            result[name] = np.array([renamed.get(v, "referred") for v in values.tolist()], dtype=object)
        elif name in OF_CLASSES or values.ndim > 1 + (name == "contributions"):
            result[name] = values[..., order]
        else:  # of two classes: for or against classes_[1]
            result[name] = values if order == [0, 1] else -values
    return result


@pytest.mark.sample(4)
@each()
@pytest.mark.parametrize(
    "names",
    [("no", "yes"), ("b honest", "a fraud"), (False, True), (7, -3), (np.float64(2.0), np.float64(1.0))],
    ids=str,
)
def test_names_of_labels_do_not_matter(configured, names):
    clf = fitted(configured.make(), X, Y)
    renamed = np.where(Y == 1, names[1], names[0])
    # the larger label is positive if both classes are equally frequent, which they are not
    if names[0] > names[1] and configured.exempt("order of classes"):
        return
    other = configured.make()
    if "monotonic" in configured.name and names[0] > names[1]:  # the constraint is about the second class in order
        other.set_params(monotonic_cst=[-1, 0, 0, 0])
    other = fitted(other, X, renamed)
    found = answers(other, NEW)
    expected = mapped(answers(clf, NEW), clf.classes_, other.classes_, names)
    decided = expected["predict"] != "referred"
    found["predict"] = np.where(decided, found["predict"].astype(object), "referred")
    assert_same(expected, found, rtol=1e-9, atol=1e-9)


@pytest.mark.sample(2)
@each(many=True)
@pytest.mark.parametrize("names", [("a", "b", "c"), (-5, 7, 30)], ids=str)
def test_names_of_three_labels_do_not_matter(configured, names):
    y = three(X, Y)
    clf = fitted(configured.make(), X, y)
    other = fitted(configured.make(), X, np.array(names)[y])
    expected = mapped(answers(clf, NEW), clf.classes_, other.classes_, names)
    found = answers(other, NEW)
    found["predict"] = found["predict"].astype(object)
    assert_same(expected, found, rtol=1e-9, atol=1e-9)


@pytest.mark.sample(3)
@each()
def test_labels_may_come_in_any_container(configured):
    named = np.where(Y == 1, "yes", "no")
    expected = answers(fitted(configured.make(), X, named), NEW)
    for y in (
        named.tolist(),
        named.astype(object),
        pd.Series(named, index=np.arange(len(named))[::-1]),
        pd.Series(named).astype("category"),
        pl.Series(named),
        pa.array(named),
    ):
        assert_same(answers(fitted(configured.make(), X, y), NEW), expected)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        found = configured.make().fit(X, named[:, None])
    assert DataConversionWarning in {w.category for w in told}
    assert_same(answers(found, NEW), expected)


@pytest.mark.sample(4)
@each(table=True)
def test_pandas_polars_and_arrow_are_one(configured):
    clf = fitted(configured.make(), TABLE, Y_TABLE)
    expected = answers(clf, TABLE_NEW)
    assert clf.feature_names_in_.tolist() == TABLE.columns.tolist()
    assert clf.n_features_in_ == 4
    for convert in (pl.from_pandas, pa.Table.from_pandas):
        assert_same(answers(clf, convert(TABLE_NEW)), expected)
        assert_same(answers(fitted(configured.make(), convert(TABLE), Y_TABLE), TABLE_NEW), expected)


@pytest.mark.sample(4)
@each()
def test_numbers_of_any_type_and_order_are_one(configured):
    whole = np.round(4 * X)
    new = np.round(4 * NEW)
    expected = answers(fitted(configured.make(), whole, Y), new)
    for change in (
        np.asfortranarray,
        lambda a: a.astype(np.float32),
        lambda a: a.astype(np.int16),
        lambda a: a.astype(">f8"),
        lambda a: np.repeat(a, 2, axis=1)[:, ::2],
        np.ndarray.tolist,
        lambda a: a.astype(object),
        lambda a: pd.DataFrame(a).to_numpy(),
    ):
        # scikit-learn's own regression is fitted in single precision if the data are
        exact = (
            {} if not isinstance(getattr(configured.make(), "estimator", None), LogisticRegression) else {"rtol": 1e-3}
        )
        assert_same(answers(fitted(configured.make(), change(whole), Y), change(new)), expected, **exact)


@pytest.mark.sample(3)
@each()
def test_names_of_columns_do_not_matter(configured):
    names = [NAMES[k] for k in (2, 30, 50, 60)]
    plain = fitted(configured.make(), pd.DataFrame(X, columns=list("abcd")), Y)
    odd = fitted(configured.make(), pd.DataFrame(X, columns=names), Y)
    assert odd.feature_names_in_.tolist() == names
    assert_same(answers(odd, pd.DataFrame(NEW, columns=names)), answers(plain, pd.DataFrame(NEW, columns=list("abcd"))))
    with pytest.raises(ValueError, match="feature names should match"):
        odd.predict(pd.DataFrame(NEW, columns=names[::-1]))
    with pytest.raises(ValueError, match=r"feature names should match|X has 3 features"):
        odd.predict(pd.DataFrame(NEW[:, :3], columns=names[:3]))


@pytest.mark.sample(4)
@each(table=True)
def test_missing_and_unseen_cells_have_finite_answers(configured):
    data = TABLE.assign(nothing=np.nan, one="same")
    clf = fitted(configured.make(**_constraints(configured, data)), data, Y_TABLE)
    new = TABLE_NEW.assign(nothing=1.0, one="other", kind=pd.Categorical(["never seen"] * len(TABLE_NEW)))
    empty = data.iloc[:5].assign(**{c: pd.Series([None] * 5, dtype=data[c].dtype) for c in data})
    for frame in (new, empty):
        found = answers(clf, frame)
        assert all(np.isfinite(v).all() for v in found.values() if v.dtype.kind == "f")
    unseen, missing = (
        TABLE_NEW.assign(nothing=np.nan, one="same", note=pd.Series([cell] * len(TABLE_NEW), dtype=object))
        for cell in ("never seen", None)
    )
    assert_same(answers(clf, unseen), answers(clf, missing))


def _constraints(configured, data):
    return {"monotonic_cst": [1] + [0] * (data.shape[1] - 1)} if "monotonic" in configured.name else {}


@pytest.mark.sample(3)
@each(table=True)
def test_that_a_value_is_missing_is_learned(configured):
    """In nine of ten rows the label is whether a cell is missing."""
    rng = np.random.default_rng(0)
    data, gone = X.copy(), rng.random(len(X)) < 0.4
    data[gone, 1] = np.nan
    y = np.where(rng.random(len(X)) < 0.9, gone, ~gone).astype(int)
    clf = fitted(configured.make(), data, y)
    new = NEW.copy()
    new[::2, 1] = np.nan
    score = clf.decision_function(new) if hasattr(clf, "decision_function") else clf.predict_proba(new)[:, 1]
    assert score[::2].mean() > score[1::2].mean()


@pytest.mark.sample(3)
@each()
def test_extreme_numbers_have_finite_answers(configured):
    """Units do not matter to trees, and no unit makes anything overflow."""
    for scale in (1e-300, 1e-30, 1e30, 1e300):
        if scale != 1e-30 and isinstance(getattr(configured.make(), "estimator", None), LogisticRegression):
            continue  # scikit-learn's regression does not scale
        if abs(np.log10(scale)) > 100 and ("SMOTE" in configured.name or "pasted" in configured.name):
            continue  # distances between rows overflow, and scikit-learn's trees take single precision
        found = answers(fitted(configured.make(), X * scale, Y), NEW * scale)
        assert all(np.isfinite(v).all() for v in found.values() if v.dtype.kind == "f")
