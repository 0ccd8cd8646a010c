"""Files of JSON lines that several runs may share: complete lines never change, and none is written twice.

A run that adds lines locks the file, reads the lines of others, and appends whole lines, so reading needs no lock. A
run that is killed while writing leaves half a line at the end, which the next run that writes cuts off. Lines are not
synced to disk one by one: if a process is killed none are lost, but a power cut may lose the last ones.
"""

from __future__ import annotations

import json
import math
import os
import threading
import warnings
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, Any, ClassVar

from skewboost.errors import InputError
from skewboost.files import locked

Row = dict[str, Any]


class JsonLines:
    """A file of JSON lines; with `path` None lines are kept in memory only.

    A subclass says how each line is understood (`take`), and describes itself in its attributes.
    """

    format: ClassVar[str]  # the kind of the first line, with which each file begins
    version: ClassVar[int]  # which the first line also has
    argument: ClassVar[str]  # how messages call the path
    contents: ClassVar[str]  # what the file is, for messages
    line: ClassVar[str]  # what a line is, for messages
    error: ClassVar[type[InputError]] = InputError
    remedy: ClassVar[str] = "Delete that line, or choose another file."  # if a line is damaged

    def __init__(self, path: str | os.PathLike[str] | None) -> None:
        if not isinstance(path, str | os.PathLike | None):
            raise self.error(f"{self.argument}={path!r} must be the path of a file, or None.")
        self.path = None if path is None else Path(path)
        self._end = 0  # of the last line that is known, in bytes
        self._n_lines = 0
        self._turn = threading.RLock()  # one thread adds lines, others read them
        self._lockable = True
        self.news = 0  # lines that other runs have added since the file was opened
        self.read()
        self.news = 0

    def take(self, line: Row, number: int) -> None:
        """Understand a line, or raise a ValueError, TypeError, KeyError, AttributeError or OverflowError."""
        raise NotImplementedError

    def first_line(self, **fields: Any) -> Row:
        """Return the first line of the file, with these fields."""
        return {"kind": self.format, "version": self.version, **fields}

    def check_version(self, line: Row) -> None:
        """Raise an error if the first line is that of another version of the format."""
        if line["version"] != self.version:
            raise self.error(
                f"{self.path} has version {line['version']} of the format, but this release reads version "
                f"{self.version}.",
                "Choose another file.",
            )

    def read(self) -> None:
        """Read the lines that other runs have added."""
        if self.path is None or not self.path.exists():
            return
        if not self.path.is_file():
            raise self.error(f"{self.argument}: {self.path} is not a file.", "Choose another path.")
        try:
            with self._turn, open(self.path, "rb", buffering=0) as file:
                self._take_in(file)
        except OSError as error:
            raise self.error(
                f"{self.argument}: {self.path} cannot be read ({error.strerror}).", "Choose another file."
            ) from error

    def check_writable(self) -> None:
        """Raise an error, before any work is done, if lines cannot be added."""
        if self.path is not None and not os.access(self.path, os.W_OK):
            raise self._not_writable("no permission")

    @contextmanager
    def adding(self) -> Iterator[list[Row]]:
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
                f"{self.line} is computed again.",
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
                        f"{self.path} cannot be locked ({error.strerror}). Let only one run at a time use it.",
                        stacklevel=2,
                    )
            yield file

    def _write(self, file: IO[bytes], data: bytes) -> None:
        """Append lines, all or none of them."""
        if not data:
            return
        if file.seek(0, os.SEEK_END) < self._end:
            raise self.error(
                f"{self.path} became shorter while this program ran. Nothing was written to it.",
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

    def _not_writable(self, why: str | None) -> InputError:
        return self.error(
            f"{self.argument}: {self.path} cannot be written ({why}).",
            "Choose a file in an existing folder with write permission.",
        )

    def _take_in(self, file: IO[bytes]) -> bytes:
        """Read new lines, and return what follows the last line end."""
        file.seek(0)
        beginning = b'{"kind": "' + self.format.encode() + b'"'
        begins = file.read(len(beginning))
        if begins != beginning[: len(begins)]:
            raise self.error(f"{self.path} is not {self.contents}.", "Choose another path.")
        file.seek(self._end)
        *lines, rest = file.read().split(b"\n")
        for raw in lines:
            number = self._n_lines + 1
            try:
                self.take(dict(_readable(json.loads(raw))), number)
            except (ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError) as error:
                if isinstance(error, self.error):
                    raise
                raise self.error(
                    f"{self.path} is damaged in line {number} ({type(error).__name__}: {error}).",
                    self.remedy,
                ) from error
            self._end += len(raw) + 1
            self._n_lines = number
            self.news += 1
        return rest


def as_read_back(row: Row) -> Row:
    """Return a row as it would be read back from a file, so that results do not depend on whether there is one."""
    return dict(_readable(json.loads(json.dumps(_writable(row)))))


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
