"""The benchmark of Rätsch: data sets with fixed pairs of training and test rows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from skewboost.datasets._checks import import_pandas
from skewboost.datasets.downloads import check_digest, digest_of, downloaded, in_folders
from skewboost.datasets.uci import TARGET
from skewboost.errors import InputError

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


def fetch_ida(name: str) -> tuple[Any, Any, Splits]:
    """Load a data set of the IDA benchmark with its training and test rows, downloading it if necessary.

    Files in the folder ``SKEWBOOST_DATA`` are ``ida_name.csv.gz`` (see `fetch_uci`) and ``ida_splits.npz`` with the
    arrays ``ida_name_train`` and ``ida_name_test``, a row of row numbers for each pair.

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
    >>> from skewboost.datasets import fetch_ida
    >>> X, y, splits = fetch_ida("banana")  # doctest: +SKIP
    >>> X.shape, len(splits[0][0])  # doctest: +SKIP
    ((5300, 2), 400)
    """
    if name not in DIGESTS:
        raise InputError(f"name={name!r} is not a data set.", f"Choose one of {', '.join(DIGESTS)}.")
    pd = import_pandas()
    path = in_folders(f"ida_{name}")
    if path is None:
        path = downloaded(f"ida_{name}", URL)
        values, labels, splits = _of_benchmark(path, name)
    else:
        values, labels, splits = _of_folder(path, name)
    check_digest(f"ida_{name}", digest_of(_as_bytes(values, labels)), DIGESTS[name], path)
    X = pd.DataFrame(values, columns=[f"x{k + 1}" for k in range(values.shape[1])])
    return X, pd.Series(labels, name=TARGET), splits


def _of_benchmark(path: Path, name: str) -> tuple[Any, Any, Splits]:
    from scipy.io import loadmat

    table = loadmat(path)[name][0, 0]
    labels = (np.asarray(table["t"]).ravel() > 0).astype(np.int64)
    pairs = zip(np.asarray(table["train"]), np.asarray(table["test"]))
    splits = [(train.astype(np.intp) - 1, test.astype(np.intp) - 1) for train, test in pairs]  # they count from 1
    return np.asarray(table["x"], dtype=np.float64), labels, splits


def _of_folder(path: Path, name: str) -> tuple[Any, Any, Splits]:
    table = import_pandas().read_csv(path)
    labels = table.pop(TARGET).to_numpy(np.int64)
    rows = in_folders("ida_splits")
    if rows is None:
        raise InputError(f"{path.parent} has no ida_splits.npz.", "Add it, or remove the file of the data set.")
    with np.load(rows) as stored:
        pairs = zip(stored[f"ida_{name}_train"], stored[f"ida_{name}_test"])
        splits = [(train.astype(np.intp), test.astype(np.intp)) for train, test in pairs]
    return table.to_numpy(np.float64), labels, splits


def _as_bytes(values: Any, labels: Any) -> list[bytes]:
    """Return the rows as text; copies of the benchmark differ in the last digits."""
    return [
        ",".join([*(f"{value:.6g}" for value in row), str(label)]).encode()
        for row, label in zip(values.tolist(), labels.tolist())
    ]
