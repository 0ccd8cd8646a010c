"""Data sets of the UCI repository and of the IDA benchmark: how their files are read, and that contents are checked."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest
from scipy.io import savemat

from skewboost.datasets import downloads
from skewboost.datasets.data_files import digest_of
from skewboost.errors import InputError
from skewboost_reproductions.datasets import fetch_ida, fetch_uci
from skewboost_reproductions.datasets import ida_benchmark as ida
from skewboost_reproductions.datasets import uci_repository as uci
from support import SHARED

TEXT = b"7, 1.50,M,red\n8,?,B,blue\n9,2e3,M,?\n\n"
COLUMNS = ("size", "colour")


def toy_source(url, monkeypatch, text=TEXT):
    source = uci.Source(url, COLUMNS, 2, ("M",), "", nominal=("colour",), first=1)
    rows = [["1.5", "red"], [None, "blue"], ["2000", None]]
    source = uci.Source(url, COLUMNS, 2, ("M",), digest_of(uci._as_bytes(rows, [1, 0, 1], source)), ("colour",), 1)
    monkeypatch.setitem(uci.SOURCES, "toy", source)


def test_a_file_is_downloaded_once_and_read(served, monkeypatch):
    (served.folder / "toy.data").write_bytes(TEXT)
    toy_source(served.url + "toy.data", monkeypatch)
    for _ in range(2):
        X, y = fetch_uci("toy")
    assert served.asked == ["/toy.data"]
    assert y.tolist() == [1, 0, 1]
    np.testing.assert_array_equal(X["size"], [1.5, np.nan, 2000])
    assert X["colour"].cat.categories.tolist() == ["blue", "red"]
    assert X["colour"].isna().tolist() == [False, False, True]


def test_other_contents_are_refused(served, monkeypatch):
    (served.folder / "toy.data").write_bytes(TEXT.replace(b"red", b"green"))
    toy_source(served.url + "toy.data", monkeypatch)
    with pytest.raises(InputError, match=r"toy\.data cannot be used as the data set 'toy': its checksum is"):
        fetch_uci("toy")


def test_row_order_and_notation_do_not_matter(served, monkeypatch):
    (served.folder / "toy.data").write_bytes(b"9,2000.0,M,?\n8,?,B,blue\n7,1.5,M,red\n")
    toy_source(served.url + "toy.data", monkeypatch)
    assert fetch_uci("toy")[1].tolist() == [1, 0, 1]


def test_a_folder_comes_first(monkeypatch, tmp_path):
    toy_source("http://127.0.0.1:9/toy.data", monkeypatch)
    monkeypatch.setenv("SKEWBOOST_DATA", str(tmp_path))
    table = pd.DataFrame({"size": [1.5, None, 2000], "colour": ["red", "blue", None], "target": [1, 0, 1]})
    table.to_csv(tmp_path / "toy.csv.gz", index=False)
    assert fetch_uci("toy")[1].tolist() == [1, 0, 1]
    table.drop(columns="colour").to_csv(tmp_path / "toy.csv.gz", index=False)
    with pytest.raises(InputError, match="no column 'colour'"):
        fetch_uci("toy")


@pytest.mark.parametrize("value", ["iris", ["pima"], None])
@pytest.mark.parametrize(
    ("fetch", "words"),
    [(fetch_uci, "name={} .*'pima'"), (fetch_ida, "name={} .*'banana'")],
)
def test_unknown_names(fetch, words, value):
    with pytest.raises(InputError, match=words.format(re.escape(repr(value)))):
        fetch(value)


def known_benchmark(name, X, y, splits, monkeypatch):
    rows = ida._as_bytes(np.asarray(X), np.asarray(y))
    monkeypatch.setitem(ida.DIGESTS, name, digest_of(rows))
    monkeypatch.setitem(ida.SPLIT_DIGESTS, name, ida.digest_of_splits(rows, splits))


def test_the_benchmark_file_of_ida(served, monkeypatch):
    rng = np.random.default_rng(0)
    X, t = rng.normal(size=(6, 2)), np.array([[1], [-1], [1], [-1], [1], [-1]])
    table = {"x": X, "t": t, "train": np.array([[1, 2, 3], [4, 5, 6]]), "test": np.array([[4, 5, 6], [1, 2, 3]])}
    savemat(served.folder / "benchmarks.mat", {"banana": table})
    monkeypatch.setattr(ida, "URL", served.url + "benchmarks.mat")
    known_benchmark(
        "banana", X, (t > 0).astype(int).ravel(), [([0, 1, 2], [3, 4, 5]), ([3, 4, 5], [0, 1, 2])], monkeypatch
    )
    read, y, splits = fetch_ida("banana")
    np.testing.assert_array_equal(read, X)
    assert y.tolist() == [1, 0, 1, 0, 1, 0]
    assert [(a.tolist(), b.tolist()) for a, b in splits] == [([0, 1, 2], [3, 4, 5]), ([3, 4, 5], [0, 1, 2])]


@pytest.mark.parametrize("name", sorted(uci.SOURCES))
def test_a_file_of_the_repository_gives_the_same_table_as_the_folder(served, monkeypatch, name):
    """A file in the layout of the repository is made from the table, with its id and label columns."""
    path = SHARED / "data" / f"{name}.csv.gz"
    if not path.is_file():
        pytest.skip("the data sets are not shipped")
    source = uci.SOURCES[name]
    rows, labels = uci.of_folder(path, source.columns)
    lines = []
    for row, label in zip(rows, labels):
        line = ["?"] * 14 if name.startswith("echo") else []
        cells = ["?" if cell is None else cell for cell in row]
        text = source.positive[-1] if label else "none"
        if name.startswith("echo"):
            line[source.first : source.first + len(cells)] = cells
            line[source.label] = text
        elif source.label < source.first:
            line = [*(["1"] * source.first), *cells]
            line[source.label] = text
        else:
            line = [*(["1"] * source.first), *cells, text]
        lines.append(",".join(line))
    (served.folder / "table.data").write_text("\n".join(lines) + "\n")
    moved = uci.Source(**{**vars(source), "url": served.url + "table.data"})
    monkeypatch.setitem(uci.SOURCES, name, moved)
    X, y = fetch_uci(name)
    assert y.tolist() == labels
    assert list(X.columns) == list(source.columns)
    assert {c for c in X.columns if X[c].dtype == "category"} == set(source.nominal)


PAGE = b"<html><body>Please log in, to, use, wifi</body></html>"


CSV = b"size,colour,target\n1.50,red,1\n,blue,0\n2e3,,1\n"
DAMAGED = {
    "cut line": (".csv", CSV[:-4], "'target' must be 0 or 1 in every row, and has nan"),
    "text": (".csv", CSV.replace(b"1.50", b"long"), "could not convert string to float: 'long'"),
    "no column": (".csv", CSV.replace(b"colour", b"color"), "it has no column 'colour'"),
    "parquet": (".parquet", CSV, "[Pp]arquet"),
    "other": (".csv", CSV.replace(b"red", b"green"), "its checksum is"),
}


@pytest.mark.parametrize("damage", DAMAGED)
def test_a_damaged_file_in_the_folder_is_named(monkeypatch, tmp_path, damage):
    ending, content, reason = DAMAGED[damage]
    toy_source("http://127.0.0.1:9/toy.data", monkeypatch)
    monkeypatch.setenv("SKEWBOOST_DATA", str(tmp_path))
    path = tmp_path / f"toy{ending}"
    path.write_bytes(content)
    words = rf"{re.escape(str(path))} cannot be used as the data set 'toy': .*({reason}).*\. Replace it by an undamaged"
    with pytest.raises(InputError, match=words):
        fetch_uci("toy")


def test_damaged_archives(served, monkeypatch, tmp_path):
    file, name = "benchmarks.mat", "ida_banana"
    monkeypatch.setattr(ida, "URL", served.url + file)
    with pytest.raises(downloads.DownloadError, match=rf"'{name}' is not on this machine.* has {name}\.csv\.gz"):
        fetch_ida("banana")
    for junk in (b"", b"junk" * 100, PAGE * 20, b"MATLAB 5.0 MAT-file".ljust(124) + b"\x00\x01IM" + b"\xff" * 50):
        (served.folder / file).write_bytes(junk)
        with pytest.raises(
            downloads.DownloadError, match=rf"{file} cannot be used as the data set '{name}': .+ not kept"
        ):
            fetch_ida("banana")
        cached = tmp_path / "cache" / file
        cached.write_bytes(junk)
        with pytest.raises(InputError, match=rf"{re.escape(str(cached))} cannot .* '{name}': .+ Delete it"):
            fetch_ida("banana")
        cached.unlink()


def test_without_a_connection_all_files_are_named(served, monkeypatch):
    monkeypatch.setattr(ida, "URL", served.url + "benchmarks.mat")
    with pytest.raises(
        downloads.DownloadError, match=r"ida_banana\.csv\.gz, .*and ida_splits\.npz with .*ida_banana_test"
    ):
        fetch_ida("banana")


def ida_folder(folder, monkeypatch):
    """A folder with a small benchmark, of which two rows are equal."""
    X, y = np.array([[0.5, 1], [2, 3], [0.5, 1], [4, 5]]), np.array([0, 1, 0, 1])
    train, test = np.array([[0, 1], [2, 3], [0, 3]]), np.array([[2, 3], [0, 1], [1, 2]])
    known_benchmark("banana", X, y, list(zip(train, test)), monkeypatch)
    monkeypatch.setenv("SKEWBOOST_DATA", str(folder))
    table = pd.DataFrame(X, columns=["a", "b"]).assign(target=y)
    table.to_csv(folder / "ida_banana.csv", index=False)
    np.savez(folder / "ida_splits.npz", ida_banana_train=train, ida_banana_test=test)
    return table, train, test


def test_the_splits_have_a_checksum_of_their_contents(monkeypatch, tmp_path):
    table, train, test = ida_folder(tmp_path, monkeypatch)
    _, _, splits = fetch_ida("banana")
    np.testing.assert_array_equal([a for a, _ in splits], train)
    np.testing.assert_array_equal([b for _, b in splits], test)

    order = np.array([2, 0, 3, 1])  # a copy with other numbers of rows
    table.iloc[order].to_csv(tmp_path / "ida_banana.csv", index=False)
    number = np.argsort(order)
    np.savez(tmp_path / "ida_splits.npz", ida_banana_train=number[train], ida_banana_test=number[test])
    X, _, splits = fetch_ida("banana")
    np.testing.assert_array_equal(X.to_numpy()[splits[1][0]], [[0.5, 1], [4, 5]])

    for wrong in ((train, test), (number[test], number[train]), (number[train[:2]], number[test[:2]])):
        np.savez(tmp_path / "ida_splits.npz", ida_banana_train=wrong[0], ida_banana_test=wrong[1])
        with pytest.raises(
            InputError, match=r"ida_splits\.npz cannot .* 'ida_banana': its checksum of the first 10 splits"
        ):
            fetch_ida("banana")


@pytest.mark.parametrize(
    ("splits", "reason"),
    [
        ({"train": [[0, 1]], "test": [[2, 4]]}, "every row from 0 to 3 once"),
        ({"train": [[0, 1]], "test": [[2, -1]]}, "every row from 0 to 3 once"),
        ({"train": [[0, 1]], "test": [[2, 2]]}, "every row from 0 to 3 once"),
        ({"train": [[0, 1]], "test": [[2, 3]] * 2}, "1 training sets and 2 test sets"),
        ({"train": [[0, 1]]}, "no array 'ida_banana_test'"),
        ({"train": [], "test": []}, "checksum"),
        (b"junk", r"not an \.npz file"),
        (b"", r"not an \.npz file"),
        (b"PK\x05\x06".ljust(22, b"\x01"), "[Bb]ad|[Cc]orrupt"),
    ],
)
def test_damaged_splits_are_named(monkeypatch, tmp_path, splits, reason):
    ida_folder(tmp_path, monkeypatch)
    path = tmp_path / "ida_splits.npz"
    if isinstance(splits, bytes):
        path.write_bytes(splits)
    else:
        np.savez(path, **{f"ida_banana_{part}": rows for part, rows in splits.items()})
    words = rf"{re.escape(str(path))} cannot .* 'ida_banana': .*{reason}.*undamaged copy, or remove .*ida_banana\.csv"
    with pytest.raises(InputError, match=words):
        fetch_ida("banana")
    path.unlink()
    with pytest.raises(InputError, match=r"has no ida_splits\.npz\. Add it, or remove ida_banana\.csv"):
        fetch_ida("banana")


def test_a_damaged_table_of_ida_is_named(monkeypatch, tmp_path):
    table, _, _ = ida_folder(tmp_path, monkeypatch)
    path = tmp_path / "ida_banana.csv"
    for damaged, reason in (
        (table.drop(columns="target"), "no column 'target'"),
        (table.assign(a="x"), "could not convert"),
        (table * 1.5, "'target' must be 0 or 1"),
        (table.iloc[:3], "its checksum is"),
    ):
        damaged.to_csv(path, index=False)
        with pytest.raises(
            InputError, match=rf"{re.escape(str(path))} cannot .* 'ida_banana': .*{reason}.* Replace it"
        ):
            fetch_ida("banana")


@pytest.mark.parametrize("name", ["breast_cancer", "titanic"])
def test_equal_rows_are_one_pattern_in_the_benchmark(served, monkeypatch, name):
    """The benchmark has each pattern once. The same rows and pairs as those of the folder are made of it."""
    if not (SHARED / "data" / "ida_splits.npz").is_file():
        pytest.skip("the data sets are not shipped")
    table = pd.read_csv(SHARED / "data" / f"ida_{name}.csv.gz").to_numpy(float)
    patterns, pattern_of = np.unique(table, axis=0, return_inverse=True)
    assert len(patterns) < len(table)
    with np.load(SHARED / "data" / "ida_splits.npz") as stored:
        train, test = (stored[f"ida_{name}_{part}"] for part in ("train", "test"))
    content = {"x": patterns[:, :-1], "t": 2 * patterns[:, -1:] - 1}
    content |= {"train": pattern_of[train] + 1, "test": pattern_of[test] + 1}
    savemat(served.folder / "benchmarks.mat", {name: content})
    monkeypatch.setattr(ida, "URL", served.url + "benchmarks.mat")
    X, y, splits = fetch_ida(name)
    read = np.column_stack([X, y])
    for k, (a, b) in enumerate(splits):
        np.testing.assert_array_equal(np.sort(np.concatenate((a, b))), np.arange(len(table)))
        np.testing.assert_array_equal(read[a], table[train[k]])
        np.testing.assert_array_equal(read[b], table[test[k]])
