"""Finished fits on disk, one line each, so that nothing is computed twice.

The file is JSON lines. The first says what the file is and which seed the folds were made with; then there is one for
each data set (fingerprints of rows, labels, weights, costs and folds) and one for each fit, in the order in which these
came to an end. A line is written at once and flushed. Whoever is killed while writing leaves half a line at the end,
which the next reader cuts off.
"""

from __future__ import annotations

import json
import math
import os
from pathlib import Path
from typing import Any

FORMAT, VERSION = "skewboost-comparison", 1
WHAT = {"data": "rows, labels or weights", "folds": "folds (cv, repeats or random_state)", "cost": "costs"}

Row = dict[str, Any]
Key = tuple[str, str, int, int]  # data set, method, repeat, fold


class ResultsFileError(ValueError):
    """A results file that cannot be gone on with."""


def settled(row: Row) -> Row:
    """A row as it is when read back from a file, whether or not there is one."""
    return dict(_readable(json.loads(json.dumps(_writable(row)))))


def key_of(row: Row) -> Key:
    """Which fit it is."""
    return row["data_set"], row["method"], row["repeat"], row["fold"]


class ResultsFile:
    """A file of finished fits, or none (`path` None: everything is in memory only).

    Parameters
    ----------
    path : path or None
        Of the file, which need not be there.
    """

    def __init__(self, path: str | os.PathLike[str] | None) -> None:
        if not isinstance(path, str | os.PathLike | None):
            raise ResultsFileError(f"results={path!r} must be the path of a file, or None.")
        self.path = None if path is None else Path(path)
        self.seed: int | None = None
        self.data_sets: dict[str, Row] = {}
        self.fits: dict[Key, Row] = {}
        self._whole = 0  # bytes up to the end of the last whole line
        if self.path is not None and self.path.exists():
            self._read(self.path)

    def begin(self, seed: int) -> None:
        """Say what the file is, unless it does."""
        self.check_seed(seed)
        if self.seed is None:
            self.seed = seed
            self._append({"kind": FORMAT, "version": VERSION, "random_state": seed})

    def check_seed(self, seed: int) -> None:
        """A file goes on with the seed that it has."""
        if self.seed not in (None, seed):
            raise ResultsFileError(
                f"{self.path} was made with random_state={self.seed}, not {seed}, so its folds are others. Leave "
                "random_state at None to go on with it, or choose another file."
            )

    def about(self, name: str, fingerprints: Row) -> None:
        """Say what a data set is; where the file knows it, it must be the same."""
        self.check_data(name, fingerprints)
        if name not in self.data_sets:
            self.data_sets[name] = fingerprints
            self._append({"kind": "data set", "name": name, **fingerprints})

    def check_data(self, name: str, fingerprints: Row) -> None:
        """A data set that the file knows must be the same."""
        known = self.data_sets.get(name, fingerprints)
        other = [WHAT[k] for k in WHAT if known.get(k) != fingerprints[k]]
        if other:
            raise ResultsFileError(
                f"{self.path} holds results for other {' and other '.join(other)} of {name!r}. Nothing was changed. "
                "Choose another file, or delete this one."
            )

    def check_method(self, method: str, fingerprint: str) -> None:
        """Results of a method of that name must be of the same parameters."""
        if any(row["method"] == method and row["made_by"] != fingerprint for row in self.fits.values()):
            raise ResultsFileError(
                f"{self.path} holds results of {method!r} with other parameters, another grid or another tune_for. "
                "Give the method another name, or choose another file."
            )

    def add(self, row: Row) -> None:
        """Another fit."""
        self.fits[key_of(row)] = row
        self._append({"kind": "fit", **row})

    def _append(self, line: Row) -> None:
        if self.path is None:
            return
        data = json.dumps(_writable(line), ensure_ascii=False).encode() + b"\n"
        try:
            with open(self.path, "r+b" if self.path.exists() else "wb") as file:
                file.seek(self._whole)
                file.truncate()  # half a line, if there was one
                file.write(data)
        except OSError as error:
            raise ResultsFileError(
                f"results: {self.path} cannot be written ({error.strerror}). Choose a file in a folder that is there "
                "and may be written to."
            ) from error
        self._whole += len(data)

    def _read(self, path: Path) -> None:
        try:
            *lines, rest = path.read_bytes().split(b"\n")
        except OSError as error:
            raise ResultsFileError(
                f"results: {path} cannot be read ({error.strerror}). Choose another file."
            ) from error
        if not lines and rest and not rest.startswith(b'{"kind": "' + FORMAT.encode()[: max(0, len(rest) - 10)]):
            raise ResultsFileError(f"{path} is no results file of a comparison. Choose another name.")
        for number, raw in enumerate(lines, start=1):
            try:
                line = _readable(json.loads(raw))
                self._take(dict(line), number)
            except (ValueError, TypeError, KeyError) as error:
                if isinstance(error, ResultsFileError):
                    raise
                what = "is no results file of a comparison" if number == 1 else f"is damaged in line {number}"
                why = f"{type(error).__name__}: {error}"
                raise ResultsFileError(f"{path} {what} ({why}). Choose another file.") from error
            self._whole += len(raw) + 1

    def _take(self, line: Row, number: int) -> None:
        kind = line.pop("kind")
        if number == 1:
            if kind != FORMAT:
                raise ValueError(f"the first line is {kind!r}")
            if line["version"] != VERSION:
                raise ResultsFileError(
                    f"{self.path} has version {line['version']} of the format, and this is for version {VERSION}. "
                    "Choose another file."
                )
            self.seed = int(line["random_state"])
        elif kind == "data set":
            self.data_sets[line.pop("name")] = line
        elif kind == "fit":
            self.fits[key_of(line)] = line  # a later line about the same fit counts
        else:
            raise ValueError(f"lines of kind {kind!r} are unknown")


def _writable(value: Any) -> Any:
    """As JSON can say it: NaN as null within measures, what is no JSON by its name."""
    if isinstance(value, dict):
        return {str(k): _writable(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_writable(v) for v in value]
    value = value.item() if hasattr(value, "item") and getattr(value, "ndim", None) == 0 else value
    if isinstance(value, float) and not math.isfinite(value):
        return {"number": repr(value)}
    return value if isinstance(value, str | int | float | bool | None) else repr(value)


def _readable(value: Any) -> Any:
    if isinstance(value, dict):
        return float(value["number"]) if value.keys() == {"number"} else {k: _readable(v) for k, v in value.items()}
    return [_readable(v) for v in value] if isinstance(value, list) else value
