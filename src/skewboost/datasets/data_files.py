"""Files of data sets: tables, checksums, and errors that say which file is damaged and how to mend it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from skewboost.datasets._checks import import_pandas, import_parquet
from skewboost.errors import InputError, SkewBoostError
from skewboost.names import shortened, visible

TABLES = (".csv.gz", ".csv", ".parquet")  # endings of the files that `read_table` reads
TARGET = "target"  # the last column of files in the user's folders
REPLACE = "Replace it by an undamaged copy, or remove it so that the data set is downloaded."
LONGEST = 200  # characters of an error of another package


@contextmanager
def reading(name: str, source: object, remedy: str, error_type: type[InputError] = InputError) -> Iterator[None]:
    """Name the data set, its source and the remedy in whatever a reader raises about contents that it cannot use."""
    try:
        yield
    except (SkewBoostError, ImportError):
        raise
    except Exception as error:  # readers of damaged files raise anything, from EOFError to MemoryError
        raise error_type(f"{source} cannot be used as the data set {name!r}: {reason_of(error)}.", remedy) from error


def reason_of(error: BaseException) -> str:
    """Return what an error says, in one short line."""
    said = getattr(error, "reason", None) or getattr(error, "strerror", None) or error  # of URLError and OSError
    text = visible(" ".join(str(said).split())).rstrip(".")
    return shortened(text, LONGEST) or type(error).__name__


def read_table(path: Path, **options: Any) -> tuple[Any, Any]:
    """Read the features and the labels of a table in the user's folder; `options` are those of ``pandas.read_csv``."""
    pd = import_pandas()
    if path.suffix == ".parquet":
        import_parquet()
        table = pd.read_parquet(path)
    else:
        table = pd.read_csv(path, **options)
    if TARGET not in table.columns:
        raise ValueError(f"it has no column {TARGET!r}")
    column = table.pop(TARGET)
    labels = pd.to_numeric(column, errors="coerce")
    wrong = column[~labels.isin((0, 1))].tolist()
    if wrong:
        raise ValueError(f"the column {TARGET!r} must be 0 or 1 in every row, and has {wrong[0]!r}")
    return table, labels.to_numpy(np.int64)


def digest_of(rows: Iterable[bytes]) -> str:
    """Return a checksum of the contents of a table, whatever the order of its rows and the format of its file."""
    return hashlib.sha256(b"\n".join(sorted(rows))).hexdigest()[:32]


def check_digest(found: str, expected: str, what: str = "checksum") -> None:
    """Raise an error if contents are other than the data set should have; see `reading`."""
    if found != expected:
        raise ValueError(f"its {what} is {found}, not {expected}")
