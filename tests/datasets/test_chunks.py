"""Tables in chunks: every source gives the same rows, few of them are in memory, and errors are clear."""

from __future__ import annotations

import weakref

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from skewboost.datasets.chunks import ChunkRows, MemoryRows, ParquetRows, count_rows, find_files, stack


def table(n_rows=1000, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 3))
    return pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "c": X[:, 2], "y": (X[:, 0] > 0).astype(int)})


def files(folder, frame, n_files=3, **kwargs):
    paths = [folder / f"part{k}.parquet" for k in range(n_files)]
    bounds = np.linspace(0, len(frame), n_files + 1).astype(int)
    for path, start, stop in zip(paths, bounds, bounds[1:]):
        frame.iloc[start:stop].to_parquet(path, row_group_size=70, **kwargs)
    return paths


def test_the_same_rows_from_everywhere(tmp_path):
    frame = table()
    paths = files(tmp_path, frame)
    X, y = frame[["a", "b", "c"]].to_numpy(), frame["y"].to_numpy()
    rows = np.unique(np.random.default_rng(1).integers(0, 1000, 40))
    chunked = ChunkRows(lambda: ((X[k : k + 90], y[k : k + 90]) for k in range(0, 1000, 90)))
    for source in (
        MemoryRows(X, y),
        chunked,
        ParquetRows(paths, "y", batch_rows=32),
        ParquetRows(tmp_path, "y"),
        ParquetRows(str(tmp_path / "part*.parquet"), "y", columns=["a", "b", "c"]),
    ):
        np.testing.assert_array_equal(np.asarray(source.gather(rows)), X[rows])
        np.testing.assert_array_equal(np.concatenate([labels for labels, _ in source.targets()]), y)
        np.testing.assert_array_equal(np.concatenate([np.asarray(t) for t in source.tables()]), X)


def test_only_groups_that_hold_wanted_rows_are_read(tmp_path, monkeypatch):
    (path,) = files(tmp_path, table(), n_files=1)
    read = []
    real = pq.ParquetFile.iter_batches

    def spy(self, batch_size, row_groups, columns):
        read.append((row_groups, columns))
        return real(self, batch_size, row_groups=row_groups, columns=columns)

    monkeypatch.setattr(pq.ParquetFile, "iter_batches", spy)
    source = ParquetRows(path, "y")
    source.gather(np.array([3, 75, 76, 999]))
    assert [groups for groups, _ in read] == [[0], [1], [14]]
    read.clear()
    list(source.targets())
    assert {tuple(columns) for _, columns in read} == {("y",)}


def test_few_chunks_are_held():
    """At most the current chunk and the next one."""
    alive, most = set(), 0

    class Block(np.ndarray):
        pass

    def chunks():
        nonlocal most
        for k in range(20):
            block = np.full((50, 2), float(k)).view(Block)
            alive.add(id(block))
            weakref.finalize(block, alive.discard, id(block))
            most = max(most, len(alive))
            pair = (block, np.zeros(50))
            del block
            yield pair
            del pair

    source = ChunkRows(chunks)
    for _ in source.targets():
        pass
    source.gather(np.array([0, 400, 999]))
    for _ in source.tables():
        pass
    assert most <= 2


def test_tables_of_all_kinds_are_stacked():
    frame = table(10)
    for whole in (frame, pl.from_pandas(frame), pa.Table.from_pandas(frame), frame.to_numpy()):
        source = ChunkRows(lambda whole=whole: iter([whole[:4], whole[4:]]))
        found = source.gather(np.array([1, 5]))
        assert type(found) is type(whole)
        np.testing.assert_array_equal(np.asarray(found), frame.to_numpy()[[1, 5]])
    assert count_rows(stack([frame, frame])) == 20


def test_files_that_cannot_be_read_raise(tmp_path):
    frame = table(100)
    good = tmp_path / "a.parquet"
    frame.to_parquet(good)
    with pytest.raises(FileNotFoundError, match=r"no file .*nowhere"):
        ParquetRows(tmp_path / "nowhere.parquet", "y")
    (tmp_path / "empty").mkdir()
    with pytest.raises(FileNotFoundError, match="has no"):
        find_files(tmp_path / "empty")
    with pytest.raises(ValueError, match="list of Parquet files is empty"):
        find_files([])
    with pytest.raises(ValueError, match="no column 'target'"):
        ParquetRows(good, "target")
    with pytest.raises(ValueError, match="no column 'z'"):
        ParquetRows(good, "y", columns=["z"])
    with pytest.raises(ValueError, match="also listed in columns"):
        ParquetRows(good, "y", columns=["a", "y"])
    bad = tmp_path / "b.parquet"
    bad.write_bytes(b"PAR1 this is no table PAR1")
    with pytest.raises(ValueError, match=r"b\.parquet cannot be read as Parquet"):
        ParquetRows([good, bad], "y")
    broken = bytearray(good.read_bytes())
    broken[4:600] = bytes(596)
    bad.write_bytes(bytes(broken))
    with pytest.raises(ValueError, match=r"b\.parquet cannot be read"):
        list(ParquetRows(bad, "y").tables())
    frame.astype({"b": "float32"}).to_parquet(bad)
    with pytest.raises(ValueError, match=r"Column 'b' is float in .*b\.parquet, but double in .*a\.parquet"):
        ParquetRows([good, bad], "y")
    frame.drop(columns="c").to_parquet(bad)
    with pytest.raises(ValueError, match=r"b\.parquet has no column 'c'"):
        ParquetRows([good, bad], "y")


def test_unusable_labels_raise(tmp_path):
    path = tmp_path / "a.parquet"
    for labels, words in (
        ([0, None, 1], "missing values in rows 0 to 3"),
        ([[1], [2], [3]], "cannot be a label"),
        (pd.date_range("2020", periods=3), "cannot be a label"),
    ):
        pq.write_table(pa.table({"x": [1.0, 2.0, 3.0], "y": pa.array(labels)}), path)
        with pytest.raises(ValueError, match=words):
            list(ParquetRows(path, "y").targets())


def test_inconsistent_chunks_raise():
    with pytest.raises(ValueError, match="Chunk 1 has 3 columns, but the first one had 2"):
        list(ChunkRows(lambda: iter([np.zeros((2, 2)), np.zeros((2, 3))])).tables())
    with pytest.raises(ValueError, match="Chunk 0 has 2 rows in X and 3 labels"):
        list(ChunkRows(lambda: iter([(np.zeros((2, 2)), np.zeros(3))])).targets())
    with pytest.raises(ValueError, match=r"Chunk 0 must be \(X, y\)"):
        list(ChunkRows(lambda: iter([np.zeros((2, 2))])).targets())
    with pytest.raises(ValueError, match="1 of 2 rows that were in the chunks before are missing"):
        ChunkRows(lambda: iter([np.zeros((2, 2))])).gather(np.array([1, 2]))
    with pytest.raises(TypeError, match="must return an iterator; got int"):
        list(ChunkRows(lambda: 3).tables())
    with pytest.raises(ValueError, match="two-dimensional"):
        list(ChunkRows(lambda: iter([np.zeros(3)])).tables())
