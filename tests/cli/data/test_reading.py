"""Tables from files: every format gives the same table, in chunks of any size."""

from __future__ import annotations

import gzip
import io
import os
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from skewboost.cli.data import DataError, open_data
from skewboost.cli.data import content as content_module


def read(path, text):
    source = open_data(path)
    source.text = text
    return source.read()


def make_frame(n_rows=20, seed=0):
    rng = np.random.default_rng(seed)
    return pd.DataFrame({
        "whole": rng.integers(-5, 5, n_rows),
        "real": np.where(rng.random(n_rows) < 0.2, np.nan, rng.normal(size=n_rows)),
        "text": pd.Series(rng.choice(["a", "b c", "x,y", "NA", 'say "so"'], n_rows)).mask(rng.random(n_rows) < 0.2),
        "flag": rng.random(n_rows) < 0.5,
        "maybe": pd.array(rng.random(n_rows) < 0.5, dtype="boolean"),
        "day": pd.to_datetime("2026-01-01") + pd.to_timedelta(rng.integers(0, 99, n_rows), unit="D"),
        "late": [*[1.0] * (n_rows - 1), 0.5],
    }).assign(maybe=lambda f: f["maybe"].mask(f.index % 7 == 3))  # fmt: skip


def write(frame, path):
    """In the format that the name says."""
    name = path.name.removesuffix(".gz")
    if name.endswith((".csv", ".tsv", ".txt", ".data")):
        delimiter = {"tsv": "\t", "txt": ";", "data": "|"}.get(name.split(".")[-1], ",")
        frame.to_csv(path, index=False, sep=delimiter, compression=None)
    elif name.endswith(".parquet"):
        frame.to_parquet(path, row_group_size=7)
    elif name.endswith(".feather"):
        frame.to_feather(path)
    else:
        table = pa.Table.from_pandas(frame)
        with pa.ipc.new_stream(str(path), table.schema) as writer:
            writer.write_table(table, max_chunksize=11)
    if path.name.endswith(".gz"):
        path.write_bytes(gzip.compress(path.read_bytes()))
    return path


FILES = ["t.csv", "t.tsv", "t.txt", "t.data", "t.csv.gz", "t.parquet", "t.parquet.gz", "t.feather", "t.arrows"]


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("renamed", [False, True])
def test_every_format_gives_the_same_table(name, renamed, tmp_path):
    frame = make_frame()
    path = write(frame, tmp_path / name)
    if renamed:  # content tells, not the name
        path = path.rename(tmp_path / "table.xyz")
    source = open_data(path)
    assert source.columns == list(frame.columns)
    assert source.n_bytes == path.stat().st_size
    pd.testing.assert_frame_equal(source.read(), frame.assign(day=frame["day"].astype("datetime64[us]")))


@pytest.mark.sample(7)
@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz", "t.parquet", "t.arrows", "t.feather"])
@pytest.mark.parametrize("n_rows", [1, 7, 1000])
def test_chunks_of_any_size_are_the_table(name, n_rows, tmp_path):
    source = open_data(write(make_frame(), tmp_path / name))
    whole = source.read()
    chunks = list(source.chunks(n_rows))
    assert {len(c) for c in chunks[:-1]} <= {n_rows}
    for chunk in chunks:
        assert (chunk.dtypes == whole.dtypes).all()
    pd.testing.assert_frame_equal(pd.concat(chunks, ignore_index=True), whole)


@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz", "t.parquet", "t.arrows"])
@pytest.mark.parametrize("keep", [False, True])
def test_standard_input_gives_the_same_table(name, keep, tmp_path, monkeypatch):
    path = write(make_frame(), tmp_path / name)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(path.read_bytes())))
    source = open_data("-", keep=keep)
    assert (source.path, source.n_bytes) == ("-", None)
    found = pd.concat(list(source.chunks(7)), ignore_index=True)
    pd.testing.assert_frame_equal(found, open_data(path).read())


def test_a_long_pipe_is_streamed_and_a_late_misfit_is_an_error(monkeypatch):
    n_rows = 3000
    monkeypatch.setattr(content_module, "HEAD", 2 * n_rows)  # half of the rows settle the types
    text = "a,b\n" + "1,x\n" * n_rows

    def pipe(content):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content.encode())))

    pipe(text + "2.5,y\n,\n")
    chunks = list(open_data("-").chunks(1000))
    assert sum(map(len, chunks)) == n_rows + 2
    assert {str(c["a"].dtype) for c in chunks} == {"float64"}
    pipe(text + "oops,y\n")
    with pytest.raises(DataError, match=rf"standard input, column 'a': data row {n_rows + 1} holds 'oops'"):
        list(open_data("-").chunks(1000))
    pipe(text + "true,y\n" * 5)  # true is not 1
    with pytest.raises(DataError, match=rf"data row {n_rows + 1} holds 'True'"):
        list(open_data("-").chunks(n_rows))
    pipe(text + "oops,y\n")
    monkeypatch.setattr(content_module, "IN_MEMORY", len(text) // 2)  # the rest goes to a temporary file
    assert open_data("-", keep=True).read()["a"].iloc[-1] == "oops"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes with names")
@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz", "t.parquet", "t.arrows"])
def test_a_pipe_with_a_name_gives_the_same_table(name, tmp_path):
    """As the shell makes one of <(zcat t.csv.gz)."""
    path, pipe = write(make_frame(), tmp_path / name), tmp_path / "pipe"
    os.mkfifo(pipe)
    with ThreadPoolExecutor(1) as pool:
        sent = pool.submit(pipe.write_bytes, path.read_bytes())
        source = open_data(pipe)
        found = pd.concat(list(source.chunks(7)), ignore_index=True)
        sent.result()
    assert (source.path, source.n_bytes) == (str(pipe), None)
    pd.testing.assert_frame_equal(found, open_data(path).read())
    if "csv" in name:  # the others keep a copy
        with pytest.raises(DataError, match="pipe: it was read already"):
            source.content.open()


@pytest.mark.parametrize("block", [1, 2, 3, 100])
def test_types_do_not_depend_on_where_blocks_end(block, tmp_path, monkeypatch):
    path = tmp_path / "t.csv"
    path.write_text(
        "int,late,mixed,flag,half,huge,day,nearly,none\n"
        "1,1,1,true,true,1,2026-01-01,2026-01-01,\n"
        "2,2,2,FALSE,?,99999999999999999999,2026-01-02 10:00,2026-01-02,NA\n"
        "3,3.5,x,True,,-,?,2026-02-30,?\n"
        "4,,1.0,false,false,18446744073709551615,2026-01-04,2026-01-04,\n"
    )
    monkeypatch.setattr("skewboost.cli.data.source.SETTLING_ROWS", block)
    frame = open_data(path).read()
    kinds = ["int64", "float64", "str", "bool", "boolean", "float64", "datetime64[us]", "str", "float64"]
    assert [str(d) for d in frame.dtypes] == [k if k != "str" else str(pd.Series(["a"]).dtype) for k in kinds]
    assert frame["mixed"].tolist() == ["1", "2", "x", "1.0"]
    assert frame["huge"].tolist()[1] == 1e20


def test_numbers_are_read_to_the_last_digit(tmp_path):
    rng = np.random.default_rng(3)
    x = rng.normal(size=1000) * 10.0 ** rng.integers(-30, 30, 1000)
    (tmp_path / "t.csv").write_text("a,b\n" + "".join(f"{v!r},1\n" for v in x.tolist()))
    assert (open_data(tmp_path / "t.csv").read()["a"].to_numpy() == x).all()


def test_missing_cells_are_spelled_otherwise_in_text_than_in_numbers(tmp_path):
    (tmp_path / "t.csv").write_text("number,text\n1,NA\n?,?\nNA,None\n-,\nn/a,nan\n2,-\n3,x\n")
    frame = open_data(tmp_path / "t.csv").read()
    assert frame["number"].isna().tolist() == [False, True, True, True, True, False, False]
    assert frame["text"].fillna("missing").tolist() == ["NA", "missing", "None", "missing", "missing", "-", "x"]


def test_text_stays_as_it_is_spelled(tmp_path):
    (tmp_path / "t.csv").write_text("zip,flag,b\n01,true,1\n1.0,false,2\n,true,3\n")
    frame = read(tmp_path / "t.csv", text={"zip": (), "flag": ()})
    assert frame["zip"].tolist()[:2] == ["01", "1.0"]
    assert frame["zip"].isna().tolist() == [False, False, True]
    assert frame["flag"].tolist() == ["true", "false", "true"]
    assert frame["b"].tolist() == [1, 2, 3]


@pytest.mark.parametrize("name", ["t.csv", "t.parquet"])
def test_known_categories_are_spelled_as_in_training(name, tmp_path):
    frame = pd.DataFrame({"code": [1.0, 2.0, np.nan, 2.5], "flag": [True, False, True, True]})
    path = write(frame, tmp_path / name)
    found = read(path, text={"code": ["1", "2", "2.5"], "flag": ["True", "False"]})
    assert found["code"].fillna("missing").tolist() == ["1", "2", "missing", "2.5"]
    assert found["flag"].tolist() == ["True", "False", "True", "True"]
    if name == "t.csv":  # a model that was trained on text knows the category 1.0
        assert read(path, text={"code": ["1.0", "2.0"]})["code"].tolist()[:2] == ["1.0", "2.0"]


def test_arrow_dictionaries_are_categories_even_of_numbers(tmp_path):
    frame = pd.DataFrame({"k": pd.Categorical([3, 1, 3]), "x": [1, 2, 3]}, index=[5, 6, 7])
    frame.to_parquet(tmp_path / "t.parquet")
    found = open_data(tmp_path / "t.parquet").read()
    assert list(found.columns) == ["k", "x"]  # the index is none of the columns
    assert found["k"].tolist() == ["3", "1", "3"]


@pytest.mark.parametrize(
    ("text", "columns", "first"),
    [
        ("a;b\n1,5;x\n2,5;y\n", ["a", "b"], [1.5, "x"]),
        ("5.1,red\n4.9,blue\n", ["c1", "c2"], [5.1, "red"]),
        ("x,o,yes\no,x,no\nx,x,yes\no,o,no\n", ["c1", "c2", "c3"], ["x", "o", "yes"]),
        ("0,1,2\n5,6,7\n8,9,1\n", ["0", "1", "2"], [5, 6, 7]),
        ("name, age\nann, 5\nbob, 6\n", ["name", "age"], ["ann", 5]),
        ('"a,b"\t"c\nd"\n1\t2\n', ["a,b", "c\nd"], [1, 2]),
        ("\ufeffa,b\n1,2\n", ["a", "b"], [1, 2]),
        (",a\n0,x\n1,y\n", ["Unnamed: 0", "a"], [0, "x"]),
        ("only\n1\n2\n", ["only"], [1]),
        ("1.5   2 a\n3.5  10 b\n", ["c1", "c2", "c3"], [1.5, 2, "a"]),
        ("title\none two\nthree\n", ["title"], ["one two"]),
        ("a,b\r\n1,x\r\n", ["a", "b"], [1, "x"]),
    ],
)
def test_delimiter_header_and_decimal_mark_are_found(text, columns, first, tmp_path):
    (tmp_path / "t").write_bytes(text.encode())
    source = open_data(tmp_path / "t")
    assert source.columns == columns
    assert source.read().iloc[0].tolist() == first


def test_numbers_that_only_python_reads_are_text(tmp_path):
    (tmp_path / "t.csv").write_text("a,b\n1_000,١\n2_000,٢\n")
    assert [str(d) for d in open_data(tmp_path / "t.csv").read().dtypes] == [str(pd.Series(["a"]).dtype)] * 2
    (tmp_path / "t.csv").write_text("1_000,b\n1,2\n3,4\n")
    assert open_data(tmp_path / "t.csv").columns == ["1_000", "b"]  # a name
    (tmp_path / "t.csv").write_text("a,b\n1_0,1\n10.0,2\n")
    assert read(tmp_path / "t.csv", text={"a": ["10"]})["a"].tolist() == ["1_0", "10"]
