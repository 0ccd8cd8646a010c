"""The results file of a comparison: finished fits, one line each, so that nothing is computed twice.

The format is JSON lines. The first line has the format and the seed of the folds. Then there is a line for each data
set (fingerprints of rows, labels, weights, groups, costs and folds) and one for each fit, in the order in which fits
were finished.

Several runs may share a file (`skewboost.json_lines`).
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from skewboost.errors import InputError
from skewboost.json_lines import JsonLines, Row

WHAT = {"data": "rows, labels, weights or groups", "folds": "folds (cv, repeats or random_state)", "cost": "costs"}

Key = tuple[str, str, int, int]  # data set, method, repeat, fold

_NUMBER: Any = int | float
FIELDS: dict[str, Any] = {  # of a fit
    "data_set": str, "method": str, "repeat": int, "fold": int, "n_train": int, "n_test": int, "params": dict,
    "measures": dict, "tune_seconds": _NUMBER | None, "fit_seconds": _NUMBER | None,
    "predict_seconds": _NUMBER | None, "failed": str | None, "made_by": str,
}  # fmt: skip
SECONDS = ("tune_seconds", "fit_seconds", "predict_seconds")


class ResultsFileError(InputError):
    """A results file that cannot be used for this comparison."""


class OtherSeedError(ResultsFileError):
    """A results file whose folds have another seed."""


def key_of(row: Row) -> Key:
    """Return the key of a fit."""
    return row["data_set"], row["method"], row["repeat"], row["fold"]


class ResultsFile(JsonLines):
    """A file of finished fits; with `path` None results are kept in memory only."""

    format, version = "skewboost-comparison", 1
    argument, contents, line = "results", "a results file of a comparison", "fit"
    error = ResultsFileError

    def __init__(self, path: str | os.PathLike[str] | None) -> None:
        self.seed: int | None = None  # of the folds; None if there is no file yet
        self.data_sets: dict[str, Row] = {}  # fingerprints by data set
        self.fits: dict[Key, Row] = {}  # that are finished
        self._made_by: dict[str, set[str]] = {}
        super().__init__(path)

    def begin(self, seed: int, data_sets: Mapping[str, Row], methods: Mapping[str, str]) -> None:
        """Write the first line and the data sets, or check that those of an existing file are the same."""
        self._check(seed, data_sets, methods)
        if self.seed is not None and data_sets.keys() <= self.data_sets.keys():
            return  # so a complete file need not be writable
        with self.adding() as added:
            self._check(seed, data_sets, methods)  # another run may have started the file
            if self.seed is None:
                added.append(self.first_line(random_state=seed))
            added += [
                {"kind": "data set", "name": name, **fingerprints}
                for name, fingerprints in data_sets.items()
                if name not in self.data_sets
            ]
            self.seed = seed
            self.data_sets.update(data_sets)

    def _check(self, seed: int, data_sets: Mapping[str, Row], methods: Mapping[str, str]) -> None:
        if self.seed not in (None, seed):
            raise OtherSeedError(
                f"{self.path} was made with random_state={self.seed}, not {seed}, so its folds are different.",
                "Leave random_state at None to continue it, or choose another file.",
            )
        for method, fingerprint in methods.items():
            self.check_method(method, fingerprint)
        for name, fingerprints in data_sets.items():
            known = self.data_sets.get(name, fingerprints)
            other = [WHAT[k] for k in WHAT if known.get(k) != fingerprints[k]]
            if other:
                raise ResultsFileError(
                    f"{self.path} has results for other {' and other '.join(other)} of {name!r}. The file was not "
                    "changed.",
                    "Choose another file, or delete this one.",
                )

    def check_method(self, method: str, fingerprint: str) -> None:
        """Check that results of a method of this name have the same parameters."""
        if self._made_by.get(method, set()) - {fingerprint}:
            raise ResultsFileError(
                f"{self.path} has results of {method!r} with other parameters, another grid or another tune_for.",
                "Give the method another name, or choose another file.",
            )

    def add(self, row: Row) -> None:
        """Add a fit, unless another run has finished the same one in the meantime."""
        with self.adding() as added:
            self.check_method(row["method"], row["made_by"])
            known = self.fits.get(key_of(row))
            if known is None or known["failed"] not in (None, row["failed"]):
                added.append({"kind": "fit", **row})
                self._take_fit(row)

    def take(self, line: Row, number: int) -> None:
        """Understand a line."""
        kind = line.pop("kind")
        if number == 1:
            self.check_version(line)
            seed = line["random_state"]
            if type(seed) is not int or seed < 0:
                raise InputError(f"random_state is {seed!r}")
            self.seed = seed
        elif kind == "data set":
            self.data_sets[str(line.pop("name"))] = line
        elif kind == "fit":
            for field, kinds in FIELDS.items():
                if not isinstance(line[field], kinds):
                    raise InputError(f"{field} is {line[field]!r}")
            numbers = [*line["measures"].values(), *(line[field] or 0 for field in SECONDS)]
            if not all(isinstance(value, _NUMBER) for value in numbers):
                raise InputError("measures are not numbers")
            list(map(float, numbers))  # raises an OverflowError if an integer is too large
            self._take_fit(line)  # a later line about the same fit replaces it
        else:
            raise InputError(f"lines of kind {kind!r} are unknown")

    def _take_fit(self, row: Row) -> None:
        self.fits[key_of(row)] = row
        self._made_by.setdefault(row["method"], set()).add(row["made_by"])
