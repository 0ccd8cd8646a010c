"""The results file of a comparison: finished fits, one line each, so that nothing is computed twice.

The format is JSON lines. The first line has the format and the seed of the folds. Then there is a line for each data
set (fingerprints of rows, labels, weights, groups, costs and folds) and one for each fit, in the order in which fits
were finished.

Several runs may share a file. A run that adds lines locks the file, reads the lines of others, and appends whole lines.
Complete lines never change, so reading needs no lock. A run that is killed while writing leaves half a line at the end,
which the next run that writes cuts off. Lines are not synced to disk one by one: if a process is killed none are lost,
but a power cut may lose the last ones.
"""

from __future__ import annotations

import json
import math
import os
import threading
import warnings
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, Any

from skewboost.errors import InputError
from skewboost.files import locked

FORMAT, VERSION = "skewboost-comparison", 1
WHAT = {"data": "rows, labels, weights or groups", "folds": "folds (cv, repeats or random_state)", "cost": "costs"}
BEGINNING = b'{"kind": "' + FORMAT.encode() + b'"'

Row = dict[str, Any]
Key = tuple[str, str, int, int]  # data set, method, repeat, fold

_NUMBER: Any = int | float
FIELDS: dict[str, Any] = {  # of a fit
    "data_set": str, "method": str, "repeat": int, "fold": int, "n_train": int, "n_test": int, "params": dict,
    "measures": dict, "tune_seconds": _NUMBER | None, "fit_seconds": _NUMBER | None,
    "predict_seconds": _NUMBER | None, "failed": str | None, "made_by": str,
}  # fmt: skip


class ResultsFileError(InputError):
    """A results file that cannot be used for this comparison."""


class OtherSeedError(ResultsFileError):
    """A results file whose folds have another seed."""


def as_read_back(row: Row) -> Row:
    """Return a row as it would be read back from a file, so that results do not depend on whether there is one."""
    return dict(_readable(json.loads(json.dumps(_writable(row)))))


def key_of(row: Row) -> Key:
    """Return the key of a fit."""
    return row["data_set"], row["method"], row["repeat"], row["fold"]


class ResultsFile:
    """A file of finished fits; with `path` None results are kept in memory only."""

    def __init__(self, path: str | os.PathLike[str] | None) -> None:
        if not isinstance(path, str | os.PathLike | None):
            raise ResultsFileError(f"results={path!r} must be the path of a file, or None.")
        self.path = None if path is None else Path(path)
        self.seed: int | None = None  # of the folds; None if there is no file yet
        self.data_sets: dict[str, Row] = {}  # fingerprints by data set
        self.fits: dict[Key, Row] = {}  # that are finished
        self._made_by: dict[str, set[str]] = {}
        self._end = 0  # of the last line that is known, in bytes
        self._n_lines = 0
        self._turn = threading.RLock()  # one thread adds fits, others read them
        self._lockable = True
        self.news = 0  # lines that other runs have added since the file was opened
        self.read()
        self.news = 0

    def read(self) -> None:
        """Read the lines that other runs have added."""
        if self.path is None or not self.path.exists():
            return
        if not self.path.is_file():
            raise ResultsFileError(f"results: {self.path} is not a file.", "Choose another path.")
        try:
            with self._turn, open(self.path, "rb", buffering=0) as file:
                self._take_in(file)
        except OSError as error:
            raise ResultsFileError(
                f"results: {self.path} cannot be read ({error.strerror}).", "Choose another file."
            ) from error

    def begin(self, seed: int, data_sets: Mapping[str, Row], methods: Mapping[str, str]) -> None:
        """Write the first line and the data sets, or check that those of an existing file are the same."""
        self._check(seed, data_sets, methods)
        if self.seed is not None and data_sets.keys() <= self.data_sets.keys():
            return  # so a complete file need not be writable
        with self._adding() as added:
            self._check(seed, data_sets, methods)  # another run may have started the file
            if self.seed is None:
                added.append({"kind": FORMAT, "version": VERSION, "random_state": seed})
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

    def check_writable(self) -> None:
        """Raise an error, before any work is done, if fits cannot be added."""
        if self.path is not None and not os.access(self.path, os.W_OK):
            raise self._not_writable("no permission")

    def add(self, row: Row) -> None:
        """Add a fit, unless another run has finished the same one in the meantime."""
        with self._adding() as added:
            self.check_method(row["method"], row["made_by"])
            known = self.fits.get(key_of(row))
            if known is None or known["failed"] not in (None, row["failed"]):
                added.append({"kind": "fit", **row})
                self._take_fit(row)

    @contextmanager
    def _adding(self) -> Iterator[list[Row]]:
        """Yield a list of lines to add, while the file is locked and up to date."""
        added: list[Row] = []
        if self.path is None:
            yield added
            return
        create = os.O_CREAT if self._end == 0 else 0
        flags = os.O_RDWR | create | getattr(os, "O_BINARY", 0)
        torn = b""
        try:
            with self._turn, self._locked(os.open(self.path, flags, 0o666)) as file:
                torn = self._take_in(file)
                yield added
                self._write(file, b"".join(map(_as_line, added)))
        except OSError as error:
            raise self._not_writable(error.strerror) from error
        if torn and added:
            warnings.warn(
                f"{self.path} ended in half a line, as a run that was killed leaves it. The line was removed, and its "
                "fit is computed again.",
                stacklevel=2,
            )

    @contextmanager
    def _locked(self, descriptor: int) -> Iterator[IO[bytes]]:
        """Yield the locked file; if it cannot be locked, warn once and continue."""
        with ExitStack() as stack:
            file = stack.enter_context(os.fdopen(descriptor, "r+b", buffering=0))
            try:
                stack.enter_context(locked(file))
            except OSError as error:
                if self._lockable:
                    self._lockable = False
                    warnings.warn(
                        f"{self.path} cannot be locked ({error.strerror}). Let only one comparison at a time use it.",
                        stacklevel=2,
                    )
            yield file

    def _write(self, file: IO[bytes], data: bytes) -> None:
        """Append lines, all or none of them."""
        if not data:
            return
        if file.seek(0, os.SEEK_END) < self._end:
            raise ResultsFileError(
                f"{self.path} became shorter while this comparison ran. Nothing was written to it.",
                "Choose another file.",
            )
        file.truncate(self._end)  # half a line, if there was one
        file.seek(self._end)
        rest = memoryview(data)
        try:
            while rest:
                rest = rest[file.write(rest) :]
        except BaseException:
            file.truncate(self._end)
            raise
        self._end += len(data)
        self._n_lines += data.count(b"\n")

    def _not_writable(self, why: str | None) -> ResultsFileError:
        return ResultsFileError(
            f"results: {self.path} cannot be written ({why}).",
            "Choose a file in an existing folder with write permission.",
        )

    def _take_in(self, file: IO[bytes]) -> bytes:
        """Read new lines, and return what follows the last line end."""
        file.seek(0)
        begins = file.read(len(BEGINNING))
        if begins != BEGINNING[: len(begins)]:
            raise ResultsFileError(f"{self.path} is not a results file of a comparison.", "Choose another path.")
        file.seek(self._end)
        *lines, rest = file.read().split(b"\n")
        for raw in lines:
            number = self._n_lines + 1
            try:
                self._take(dict(_readable(json.loads(raw))), number)
            except (ValueError, TypeError, KeyError, RecursionError) as error:
                if isinstance(error, ResultsFileError):
                    raise
                raise ResultsFileError(
                    f"{self.path} is damaged in line {number} ({type(error).__name__}: {error}).",
                    "Delete that line, or choose another file.",
                ) from error
            self._end += len(raw) + 1
            self._n_lines = number
            self.news += 1
        return rest

    def _take(self, line: Row, number: int) -> None:
        kind = line.pop("kind")
        if number == 1:
            if line["version"] != VERSION:
                raise ResultsFileError(
                    f"{self.path} has version {line['version']} of the format, but this release reads version "
                    f"{VERSION}.",
                    "Choose another file.",
                )
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
            if not all(isinstance(value, _NUMBER) for value in line["measures"].values()):
                raise InputError("measures are not numbers")
            self._take_fit(line)  # a later line about the same fit replaces it
        else:
            raise InputError(f"lines of kind {kind!r} are unknown")

    def _take_fit(self, row: Row) -> None:
        self.fits[key_of(row)] = row
        self._made_by.setdefault(row["method"], set()).add(row["made_by"])


def _as_line(row: Row) -> bytes:
    return json.dumps(_writable(row), ensure_ascii=False).encode("utf-8", "surrogatepass") + b"\n"


def _writable(value: Any) -> Any:
    """Return a value that JSON can represent; other objects are replaced by their repr."""
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
