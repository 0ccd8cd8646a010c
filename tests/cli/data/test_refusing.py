"""Bad files: one line that says where and what, and the remedy."""

from __future__ import annotations

import gzip
import sys

import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest

from skewboost.cli.data import DataError, open_data


def parquet_bytes(tmp_path):
    pd.DataFrame({"a": range(100)}).to_parquet(tmp_path / "good.parquet")
    return (tmp_path / "good.parquet").read_bytes()


BAD = {
    "empty": (b"", "it is empty"),
    "blank": (b"\n \n", "nothing in it but blank lines"),
    "header only": (b"a,b\n", "column names, but no rows"),
    "duplicate": (b"a,b,a\n1,2,3\n", "columns 1 and 3 are both called 'a'"),
    "short": (b"a,b\n1,2\n3\n4,5\n", "line 3: 1 cell, but there are 2 columns"),
    "short after quotes": (b'a,b\n"1\n\n",2\n3\n', "line 5: 1 cell, but there are 2 columns"),
    "long": (b"a,b\n1,2\n3,4,5\n", "line 3: 3 cells, but there are 2 columns"),
    "all long": (b"a,b\n1,2,3\n3,4,5\n", "line 2: 3 cells, but there are 2 columns"),
    "open quote": (b'a,b\n1,"x\n2,y\n', "cannot be read"),
    "latin-1": ("a,b\n1,x\n2,caf\xe9\n".encode("latin-1"), r"line 3: byte 13 \(0xe9\) is not UTF-8.*iconv"),
    "utf-16": ("a,b\n1,2\n".encode("utf-16"), "UTF-16.*iconv"),
    "binary": (b"ab\0\1\2", r"binary file \(byte 2 is zero\)"),
    "excel": (b"PK\x03\x04rest", "Excel"),
    "gzip": (b"\x1f\x8bnothing", "gzip data is damaged"),
    "cut gzip": (gzip.compress(b"a,b\n1,2\n" * 99)[:-9], "gzip data is damaged or cut short"),
}


@pytest.mark.parametrize(("content", "message"), BAD.values(), ids=BAD)
def test_bad_text_is_refused(content, message, tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes(content)
    with pytest.raises(DataError, match=message) as error:
        open_data(path).read()
    assert str(error.value).startswith(str(path))
    assert "\n" not in str(error.value)


def test_late_bytes_that_are_not_utf8_are_found(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes(b"a,b\n" + b"1,x\n" * 100_000 + b"2,\xff\n")
    with pytest.raises(DataError, match=r"line 100002: byte 400006 \(0xff\)"):
        open_data(path).read()


def test_what_is_no_file_is_refused(tmp_path):
    with pytest.raises(DataError, match="there is no such file"):
        open_data(tmp_path / "nothing.csv")
    with pytest.raises(DataError, match="this is a folder"):
        open_data(tmp_path)


def test_damaged_parquet_is_refused(tmp_path):
    good = parquet_bytes(tmp_path)
    for content in (good[: len(good) // 2], good[:60] + b"\xff" * 40 + good[100:]):
        (tmp_path / "t.parquet").write_bytes(content)
        with pytest.raises(DataError, match="parquet data is damaged or cut short"):
            open_data(tmp_path / "t.parquet").read()
    (tmp_path / "t.parquet").write_text("a,b\n1,2\n")
    with pytest.raises(DataError, match="this is text, not parquet"):
        open_data(tmp_path / "t.parquet")


def test_nested_columns_and_rowless_files_are_refused(tmp_path):
    pa.parquet.write_table(pa.table({"a": [[1], [2]], "b": [1, 2]}), tmp_path / "t.parquet")
    source = open_data(tmp_path / "t.parquet")
    with pytest.raises(DataError, match="column 'a': the type list"):
        source.read()
    source.leave_out(["a"])
    assert source.read().to_dict("list") == {"b": [1, 2]}
    pa.parquet.write_table(pa.table({"a": pa.array([], pa.int64())}), tmp_path / "t.parquet")
    with pytest.raises(DataError, match="no rows"):
        open_data(tmp_path / "t.parquet").read()


def test_without_pyarrow_the_extra_is_named(tmp_path, monkeypatch):
    parquet_bytes(tmp_path)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(DataError, match=r'pip install "skewboost\[parquet\]"'):
        open_data(tmp_path / "good.parquet")


def test_arguments_are_checked(tmp_path):
    (tmp_path / "t.csv").write_text("a,b\n1,2\n")
    with pytest.raises(DataError, match="no format 'xls'"):
        open_data(tmp_path / "t.csv", format="xls")
    with pytest.raises(DataError, match=r"no column 'z'\. The columns are a, b"):
        open_data(tmp_path / "t.csv", text=["z"])
