"""The benchmark of Rätsch: data sets with fixed pairs of training and test rows."""

from __future__ import annotations

import hashlib
import io
from pathlib import Path
from typing import Any
from zipfile import is_zipfile

import numpy as np

from skewboost.datasets._checks import import_pandas
from skewboost.datasets.data_files import REPLACE, TARGET, check_digest, digest_of, read_table, reading
from skewboost.datasets.downloads import downloaded, in_folders
from skewboost.errors import InputError
from skewboost.parameters import check_arguments, one_of

URL = "https://raw.githubusercontent.com/tdiethe/gunnar_raetsch_benchmark_datasets/master/benchmarks.mat"
Splits = list[tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]]

DIGESTS = {  # checksums of the contents, with numbers of six digits
    "banana": "29db97e3f25ca31a8e499c124d00d815",
    "breast_cancer": "092de3ca7d1fed77936c5188af1d2ec2",
    "german": "b1bac8198f3e9d6442f7d36958093e6c",
    "image": "c6ce800c11333fe7f0f91b5704c05b0d",
    "titanic": "e582816351b03935b57be7baf44cdf6f",
    "waveform": "178334467d7cd39a6727630290bc0ca9",
}
SPLIT_DIGESTS = {  # checksums of which rows the first pairs have
    "banana": "44d405da4ad46ca4bcab4ed54eaa0cb0",
    "breast_cancer": "45299dd672fa80a91143da3622278ec9",
    "german": "c38ac68011daee0c6b71fade37cd00db",
    "image": "717e95d165bb87efe2fe3eec112fbf5e",
    "titanic": "be24716beed0cce129fd7aae6aaf605e",
    "waveform": "32059a418935ed75b17e325349a13a0c",
}
CHECKED_PAIRS = 10  # not every copy has more


def fetch_ida(name: str) -> tuple[Any, Any, Splits]:
    """Load a data set of the IDA benchmark with its training and test rows, downloading it if necessary.

    Files in the folder ``SKEWBOOST_DATA`` are ``ida_name.csv.gz`` (see `fetch_uci`) and ``ida_splits.npz`` with the
    arrays ``ida_name_train`` and ``ida_name_test``, a row of row numbers for each pair. There must be ten pairs or
    more; the first ten are compared with a checksum.

    Parameters
    ----------
    name : {"banana", "breast_cancer", "german", "image", "titanic", "waveform"}
        The data set.

    Returns
    -------
    X : pandas.DataFrame
        Numbers.
    y : pandas.Series
        1 for the label +1, and 0 for -1.
    splits : list of (array, array)
        The numbers of the training and of the test rows of each pair: 100 in the benchmark (20 for image), or as many
        as the file in the folder has.

    References
    ----------
    .. [ratsch2001] G. Rätsch, T. Onoda, K.-R. Müller, "Soft margins for AdaBoost", Machine Learning 42 (2001) 287-320.

    Examples
    --------
    >>> from skewboost_reproductions.datasets import fetch_ida
    >>> X, y, splits = fetch_ida("banana")  # doctest: +SKIP
    >>> X.shape, len(splits[0][0])  # doctest: +SKIP
    ((5300, 2), 400)
    """
    check_arguments(name=(name, one_of(*DIGESTS)))
    pd = import_pandas()
    path = in_folders(f"ida_{name}")
    if path is None:
        also = f", and ida_splits.npz with the arrays ida_{name}_train and ida_{name}_test"
        values, labels, splits = downloaded(f"ida_{name}", URL, lambda data: _of_benchmark(data, name), also)
    else:
        values, labels, splits = _of_folder(path, name)
    X = pd.DataFrame(values, columns=[f"x{k + 1}" for k in range(values.shape[1])])
    return X, pd.Series(labels, name=TARGET), splits


def _of_benchmark(data: bytes, name: str) -> tuple[Any, Any, Splits]:
    """Read the file of the benchmark, whose numbers of patterns count from 1."""
    from scipy.io import loadmat

    sets = loadmat(io.BytesIO(data))
    if name not in sets:
        raise ValueError(f"it has no data set {name!r}")
    table = sets[name][0, 0]
    patterns, splits = _unfolded(_pairs(table["train"], table["test"]))
    values = np.asarray(table["x"], dtype=np.float64)[patterns - 1]
    labels = (np.asarray(table["t"]).ravel() > 0).astype(np.int64)[patterns - 1]
    rows = _checked_rows(values, labels, name)
    _check_splits(rows, splits, name)
    return values, labels, splits


def _unfolded(pairs: Splits) -> tuple[Any, Splits]:
    """Return the patterns of the rows, and the pairs as numbers of rows instead of patterns.

    The benchmark has equal rows only once, as one pattern. A pattern that several rows have is in a pair several times.
    """
    patterns = np.sort(np.concatenate(pairs[0]))
    splits = []
    for train, test in pairs:
        both = np.concatenate((train, test))
        order = np.argsort(both, kind="stable")
        if not np.array_equal(both[order], patterns):
            raise ValueError("its splits are of different rows")
        rows = np.empty_like(order)
        rows[order] = np.arange(len(order))
        splits.append((rows[: len(train)], rows[len(train) :]))
    return patterns, splits


def _of_folder(path: Path, name: str) -> tuple[Any, Any, Splits]:
    """Read the table and the splits in the user's folder."""
    with reading(f"ida_{name}", path, REPLACE):
        table, labels = read_table(path)
        values = table.to_numpy(np.float64)
        rows = _checked_rows(values, labels, name)
    stored = in_folders("ida_splits", (".npz",))
    if stored is None:
        raise InputError(f"{path.parent} has no ida_splits.npz.", f"Add it, or remove {path.name}.")
    remedy = f"Replace it by an undamaged copy, or remove {path} so that the data set is downloaded."
    with reading(f"ida_{name}", stored, remedy):
        splits = _of_arrays(stored, name)
        _check_splits(rows, splits, name)
    return values, labels, splits


def _of_arrays(path: Path, name: str) -> Splits:
    if not is_zipfile(path):  # NumPy would advise to load it unsafely
        raise ValueError("it is not an .npz file")
    with path.open("rb") as file, np.load(file) as stored:  # given a path, NumPy leaves a damaged file open
        for part in ("train", "test"):
            if f"ida_{name}_{part}" not in stored:
                raise ValueError(f"it has no array 'ida_{name}_{part}'")
        return _pairs(stored[f"ida_{name}_train"], stored[f"ida_{name}_test"])


def _pairs(train: Any, test: Any) -> Splits:
    """Return pairs of training and test rows, given as arrays with a row for each pair."""
    if len(train) != len(test):
        raise ValueError(f"it has {len(train)} training sets and {len(test)} test sets")
    return [(np.asarray(a).astype(np.intp), np.asarray(b).astype(np.intp)) for a, b in zip(train, test)]


def _checked_rows(values: Any, labels: Any, name: str) -> list[bytes]:
    """Return the rows as text if they have the checksum of the data set."""
    rows = _as_bytes(values, labels)
    check_digest(digest_of(rows), DIGESTS[name])
    return rows


def _check_splits(rows: list[bytes], splits: Splits, name: str) -> None:
    """Raise an error unless every pair has all rows, and the first pairs have the checksum of the benchmark."""
    every = np.arange(len(rows))
    if not all(np.array_equal(np.sort(np.concatenate(pair)), every) for pair in splits):
        raise ValueError(f"a pair of its splits does not have every row from 0 to {len(rows) - 1} once")
    check_digest(digest_of_splits(rows, splits), SPLIT_DIGESTS[name], f"checksum of the first {CHECKED_PAIRS} splits")


def digest_of_splits(rows: list[bytes], splits: Splits) -> str:
    """Return a checksum of which rows the first pairs have, whatever the order of the rows in the file.

    Copies of the benchmark number the rows differently, so that their contents are compared.
    """
    sets = [digest_of(rows[k] for k in part).encode() for pair in splits[:CHECKED_PAIRS] for part in pair]
    return hashlib.sha256(b"\n".join(sets)).hexdigest()[:32]


def _as_bytes(values: Any, labels: Any) -> list[bytes]:
    """Return the rows as text; copies of the benchmark differ in the last digits."""
    return [
        ",".join([*(f"{value:.6g}" for value in row), str(label)]).encode()
        for row, label in zip(values.tolist(), labels.tolist())
    ]
