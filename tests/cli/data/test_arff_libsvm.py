"""ARFF and LIBSVM."""

from __future__ import annotations

import gzip

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import dump_svmlight_file

from skewboost.cli.data import DataError, open_data

ARFF = r"""% a comment
@RELATION 'two words'
@attribute 'body weight' NUMERIC
@ATTRIBUTE n integer
@attribute colour {red, 'dark green', "blue"}
@attribute note string
@attribute day date "yyyy-MM-dd"

@data
1.5, 3, red, 'it\'s', 2026-01-31
% another
?, 4, 'dark green', ?, ?
2,5,?,"a,b",2026-02-01
"""


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("n_rows", [1, 2, 10])
def test_arff(packed, n_rows, tmp_path):
    path = tmp_path / "no_suffix"
    path.write_bytes(gzip.compress(ARFF.encode()) if packed else ARFF.encode())
    source = open_data(path)
    assert source.format == "arff"
    frame = pd.concat(list(source.chunks(n_rows)), ignore_index=True)
    assert list(frame.columns) == ["body weight", "n", "colour", "note", "day"]
    assert frame["body weight"].fillna(-1).tolist() == [1.5, -1, 2]
    assert frame["n"].dtype == np.int64
    assert frame["colour"].cat.categories.tolist() == ["red", "dark green", "blue"]
    assert frame["colour"].isna().tolist() == [False, False, True]
    assert frame["note"].fillna("-").tolist() == ["it's", "-", "a,b"]
    assert frame["day"].dropna().tolist() == [pd.Timestamp("2026-01-31"), pd.Timestamp("2026-02-01")]


def test_sparse_arff_means_zero_and_the_first_category(tmp_path):
    path = tmp_path / "t.arff"
    path.write_text("@relation r\n@attribute a real\n@attribute c {x,y}\n@data\n{0 5}\n{1 y}\n{}\n{0 ?, 1 y}\n")
    frame = open_data(path).read()
    assert frame["a"].fillna(-1).tolist() == [5, 0, 0, -1]
    assert frame["c"].tolist() == ["x", "y", "x", "y"]


HEAD = "@relation r\n@attribute a numeric\n@attribute c {x,y}\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (HEAD, "there is no @data"),
        (HEAD + "@data\n", "no rows"),
        (HEAD + "@data\n1,x\n2\n", "line 6: 1 cell, but there are 2 attributes"),
        (HEAD + "@data\n1,z\n", "line 5, column 'c': 'z' is not a declared category"),
        (HEAD + "@data\none,x\n", "line 5, column 'a': 'one' is not a number"),
        (HEAD + "@data\n1,'x\n", "line 5: a quote is not closed"),
        (HEAD + "@data\n{7 x}\n", "line 5: cannot read this sparse row"),
        (HEAD + "1,x\n", "line 4: '1,x' is not a declaration"),
        ("@relation r\n@attribute b relational\n@data\n", "line 2, column 'b': cannot read the type 'relational'"),
        ("@relation r\n@attribute d date\n@data\n1/2/03\n", "column 'd': its dates are not in ISO format"),
        ("@relation r\n@attribute a real\n@attribute a real\n@data\n1,1\n", "both called 'a'"),
        (HEAD + "@data\n1_000,x\n", "line 5, column 'a': '1_000' is not a number"),
        (HEAD + "@data\n١٢,x\n", "line 5, column 'a': '١٢' is not a number"),
        (HEAD + "@data\n{0 1_0}\n", "line 5, column 'a': '1_0' is not a number"),
        (HEAD + "@data\n{99999999999999999999 1}\n", "line 5: cannot read this sparse row"),
        ("@relation r\n@attribute a %real\n@data\n1\n", "line 2, column 'a': cannot read the type ''"),
        ("@relation r\n@attribute a {x,y,x}\n@data\nx\n", "line 2, column 'a': the list of categories"),
        ("@relation r\n@attribute a {x,'y}\n@data\nx\n", "line 2, column 'a': the list of categories"),
    ],
)
def test_bad_arff_is_refused(text, message, tmp_path):
    (tmp_path / "t.arff").write_text(text)
    with pytest.raises(DataError) as error:
        open_data(tmp_path / "t.arff").read()
    assert message in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("n_rows", [1, 2, 10])
def test_numbers_of_arff(n_rows, tmp_path):
    path = tmp_path / "t.arff"
    names = ["whole", "huge", "real", "missing", "special", "longest", "none", "day"]
    kinds = ["date" if name == "day" else "numeric" for name in names]
    path.write_text(
        "@relation r\n" + "".join(f"@attribute {n} {k}\n" for n, k in zip(names, kinds)) + "@data\n"
        f"007,9223372036854775807,1,1,nan,{'9' * 5000},?,?\n"
        "-9223372036854775808,9223372036854775808,.5,?,-inf,-1e400,NaN,?\n"
        "+3,1,1e3,3,infinity,1,?,?\n"
    )  # fmt: skip
    frame = pd.concat(list(open_data(path).chunks(n_rows)), ignore_index=True)
    assert [str(frame[n].dtype) for n in names] == ["int64", *["float64"] * 6, "datetime64[us]"]
    assert frame["whole"].tolist() == [7, -(2**63), 3]
    assert frame["huge"].tolist() == [2.0**63, 2.0**63, 1]
    assert frame["real"].tolist() == [1, 0.5, 1000]
    assert frame["missing"].fillna(-1).tolist() == [1, -1, 3]
    assert frame["special"].fillna(0).tolist() == [0, -np.inf, np.inf]
    assert frame["longest"].tolist() == [np.inf, -np.inf, 1]
    assert frame["none"].isna().all()
    assert frame["day"].isna().all()


@pytest.mark.parametrize("zero_based", [False, True])
@pytest.mark.parametrize("n_rows", [1, 4, 100])
def test_libsvm(zero_based, n_rows, tmp_path):
    rng = np.random.default_rng(0)
    X = np.where(rng.random((9, 5)) < 0.5, 0, rng.normal(size=(9, 5)).round(3))
    X[0, 0] = X[1, 4] = 1.0
    y = rng.choice([-1, 1], 9)
    dump_svmlight_file(X, y, str(tmp_path / "t"), zero_based=zero_based)
    source = open_data(tmp_path / "t")
    assert source.format == "libsvm"
    assert source.columns == ["target", *(f"f{k + 1 - zero_based}" for k in range(5))]
    frame = pd.concat(list(source.chunks(n_rows)), ignore_index=True)
    assert (frame["target"].to_numpy() == y).all()
    assert frame["target"].dtype == np.int64
    assert (frame.iloc[:, 1:].to_numpy() == X).all()


def test_libsvm_has_the_columns_that_a_model_knows(tmp_path):
    (tmp_path / "t.svm").write_text("1 2:5 # a comment\n\n-1\n")
    frame = open_data(tmp_path / "t.svm", columns=["f1", "f4"]).read()
    assert frame.to_numpy().tolist() == [[1, 0, 5, 0, 0], [-1, 0, 0, 0, 0]]


def test_labels_of_libsvm_are_whole_only_if_whole_numbers_can_hold_them(tmp_path):
    (tmp_path / "t.svm").write_text("1e30 1:1\n-1 1:2\n")
    assert open_data(tmp_path / "t.svm").read()["target"].tolist() == [1e30, -1]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1 1:2\n1 3:1 2:1\n", "line 2: the column numbers do not increase"),
        ("1 1:2\nyes 2:1\n", "line 2: the label 'yes' is not a number"),
        ("1 1:2\n1 2:x\n", "cannot be read"),
        ("1 1:2\n1_0 2:1\n", "line 2: there is an underscore"),
        ("1 1:2\n1 2:1_0\n", "line 2: there is an underscore"),
        ("1 1:2\n١ 2:1\n", "line 2: the label '١' is not a number"),
        ("1 1:2\n1 -99999999999999999999:1\n", "cannot be read"),
        (f"1 {'9' * 5000}:1\n", "line 1: a column number is too long"),
        ("1 1:1\n1 2000000000:1\n", "GiB as a dense table"),
        ("1 100000:1\n" * 6000, "GiB as a dense table"),
    ],
)
def test_bad_libsvm_is_refused(text, message, tmp_path):
    (tmp_path / "t.svm").write_text(text)
    with pytest.raises(DataError, match=message):
        open_data(tmp_path / "t.svm").read()
