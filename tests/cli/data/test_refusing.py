"""Bad files: one line that says where and what, and the remedy."""

from __future__ import annotations

import gzip
import sys

import numpy as np
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
    "blank": (b"\n \n", "it contains only blank lines"),
    "header only": (b"a,b\n", "column names, but no rows"),
    "duplicate": (b"a,b,a\n1,2,3\n", "columns 1 and 3 are both called 'a'"),
    "short": (b"a,b\n1,2\n3\n4,5\n", "line 3: 1 cell, but there are 2 columns"),
    "short after quotes": (b'a,b\n"1\n\n",2\n3\n', "line 5: 1 cell, but there are 2 columns"),
    "long": (b"a,b\n1,2\n3,4,5\n", "line 3: 3 cells, but there are 2 columns"),
    "all long": (b"a,b\n1,2,3\n3,4,5\n", "line 2: 3 cells, but there are 2 columns"),
    "open quote": (b'a,b\n1,"x\n2,y\n', "line 2: the quote of a cell is not closed"),
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


def test_late_bytes_that_are_not_utf8_are_found(tmp_path, monkeypatch):
    monkeypatch.setattr("skewboost.cli.data.content.HEAD", 1000)
    path = tmp_path / "t.csv"
    path.write_bytes(b"a,b\n" + b"1,x\n" * 2000 + b"2,\xff\n")
    with pytest.raises(DataError, match=r"line 2002: byte 8006 \(0xff\)"):
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


def arrow_bytes(table):
    out = pa.BufferOutputStream()
    with pa.ipc.new_file(out, table.schema) as writer:
        writer.write_table(table)
    return out.getvalue().to_pybytes()


NOTES = {
    "no JSON": b"{",
    "no text": b"\xff",
    "no object": b"[]",
    "no list": b'{"index_columns": 3}',
    "no columns": b'{"columns": [1]}',
    "no name": b'{"columns": [{"pandas_type": "categorical"}]}',
    "a list for a name": b'{"columns": [{"pandas_type": "categorical", "name": []}]}',
    "too deep": b"[" * 100_000,
}


@pytest.mark.parametrize("notes", NOTES.values(), ids=NOTES)
@pytest.mark.parametrize("name", ["t.parquet", "t.feather"])
def test_damaged_notes_of_pandas_are_refused(notes, name, tmp_path):
    table, path = pa.table({"a": [1, 2]}).replace_schema_metadata({b"pandas": notes}), tmp_path / name
    if name == "t.parquet":
        pa.parquet.write_table(table, path)
    else:
        path.write_bytes(arrow_bytes(table))
    with pytest.raises(DataError) as error:
        open_data(path)
    assert str(error.value).startswith(str(path))
    assert "\n" not in str(error.value)


def test_offsets_and_indices_out_of_bounds_are_refused(tmp_path):
    """Followed, they end the process."""
    good = arrow_bytes(pa.table({"a": ["wxyz", "abcd"], "b": pa.array(["u", "v"]).dictionary_encode()}))
    offsets, indices = np.array([0, 4, 8], "<i4").tobytes(), np.array([0, 1], "<i4").tobytes()
    for found, put in (
        (offsets, np.array([0, 4, 2**30], "<i4").tobytes()),
        (offsets, np.array([0, -4, 8], "<i4").tobytes()),
        (indices, np.array([0, 2**30], "<i4").tobytes()),
        (b"wxyz", b"\xff\xff\xff\xff"),
    ):
        assert found in good
        (tmp_path / "t.feather").write_bytes(good.replace(found, put))
        with pytest.raises(DataError, match="arrow data is damaged or cut short"):
            open_data(tmp_path / "t.feather").read()


def test_names_that_are_no_text_and_dates_beyond_reason_are_refused(tmp_path):
    path = tmp_path / "t.feather"
    path.write_bytes(arrow_bytes(pa.table({"wxyz": [1, 2]})).replace(b"wxyz", b"\xff\xff\xff\xff"))
    with pytest.raises(DataError, match="arrow data is damaged or cut short"):
        open_data(path)
    path.write_bytes(arrow_bytes(pa.table({"day": pa.array([2**30], pa.date32())})))
    source = open_data(path)
    source.text = {"day": ()}
    with pytest.raises(DataError, match="column 'day': a cell cannot be read"):
        source.read()


@pytest.mark.sample(4)
@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz", "t.parquet", "t.feather", "t.arff", "t.svm"])
def test_a_file_with_any_byte_changed_is_read_or_refused_in_one_line(name, tmp_path):
    frame = pd.DataFrame({"a": [1, 2, None], "b": ["x", "y,z", "w"], "c": pd.Categorical(["u", "v", "u"])})
    path = tmp_path / name
    if name == "t.parquet":
        frame.to_parquet(path)
    elif name == "t.feather":
        frame.to_feather(path, compression="uncompressed")
    elif name == "t.arff":
        path.write_text("@relation r\n@attribute a real\n@attribute b {x,'y z'}\n@data\n1.5,x\n?,'y z'\n{0 2,1 x}\n")
    elif name == "t.svm":
        path.write_text("1 1:0.5 3:2\n-1 2:1e-3 # c\n1 qid:2 1:4\n")
    else:
        frame.to_csv(path, index=False)
    good, rng, outcomes = path.read_bytes(), np.random.default_rng(0), set()
    for _ in range(50):
        bad, at = bytearray(good), int(rng.integers(len(good)))
        kind = rng.integers(4)
        if kind == 0:
            bad[at] ^= 1 << int(rng.integers(8))
        elif kind == 1:
            bad[at] = int(rng.integers(256))
        elif kind == 2:
            del bad[at : at + int(rng.integers(1, 9))]
        else:
            bad[at:at] = bytes(rng.choice([b"1_0", b"\n", b'"', b"\0", b"9" * 25, b"nan", b"\xff\xff\xff\x7f"]))
        path.write_bytes(bad)
        try:
            open_data(path).read()
            outcomes.add("read")
        except DataError as error:
            one_line_with_the_name = str(path) in str(error) and "\n" not in str(error)
            outcomes.add("refused" if one_line_with_the_name else str(error))
    assert outcomes == {"read", "refused"}


def test_nested_columns_and_rowless_files_are_refused(tmp_path):
    pa.parquet.write_table(pa.table({"a": [[1], [2]], "b": [1, 2]}), tmp_path / "t.parquet")
    source = open_data(tmp_path / "t.parquet")
    with pytest.raises(DataError, match="column 'a': the type list"):
        source.read()
    source.leave_out(["a"])
    assert source.read().to_dict("list") == {"b": [1, 2]}
    categories = pa.DictionaryArray.from_arrays(pa.array([0, 0]), pa.array([{"x": 1}]))
    (tmp_path / "t.feather").write_bytes(arrow_bytes(pa.table({"a": categories})))
    with pytest.raises(DataError, match="column 'a': the type dictionary"):
        open_data(tmp_path / "t.feather").read()
    pa.parquet.write_table(pa.table({"a": pa.array([], pa.int64())}), tmp_path / "t.parquet")
    with pytest.raises(DataError, match="no rows"):
        open_data(tmp_path / "t.parquet").read()


def test_without_pyarrow_the_extra_is_named(tmp_path, monkeypatch):
    parquet_bytes(tmp_path)
    monkeypatch.setitem(sys.modules, "skewboost.cli.data.arrow", None)
    with pytest.raises(DataError, match=r'pip install "skewboost\[parquet\]"'):
        open_data(tmp_path / "good.parquet")
