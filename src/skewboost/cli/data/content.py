"""The bytes of a file or a pipe, unpacked."""

from __future__ import annotations

import gzip
import io
import os
import shutil
import stat
import sys
import tempfile
import weakref
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from skewboost.errors import InputError

HEAD = 1 << 18  # the number of bytes that are read to recognise the format
LONGEST_HEAD = 1 << 24  # if the first lines are longer
LINES = 3  # that the head has if they are not longer than that
IN_MEMORY = 1 << 26  # a copy is kept in memory up to this size, then in a temporary file
GZIP = b"\x1f\x8b"


class DataError(InputError):
    """A file that cannot be read as a table: which file, where in it, what is wrong, and what to do."""


class Content:
    """The bytes of a file or a pipe. Gzip is recognised by its first bytes and unpacked.

    A file can be opened several times. A pipe can be opened once, unless `keep_all` made a copy of it before. The first
    unpacked bytes are available as `head` in either case, and `head_is_all` says whether there are more.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = str(path)
        self.is_pipe = is_pipe(path)
        self.name = "standard input" if self.path == "-" else self.path
        self.n_bytes: int | None = None
        self.packed = False
        self._copy: IO[bytes] | None = None  # unpacked
        self._pipe: Any = None
        if self.is_pipe:
            with self.explained():
                self._pipe = self._open_pipe()
                self.head, self.head_is_all = _read_head(self._pipe)
        else:
            self._check_file()
            with self.explained(), self.open() as stream:
                self.head, self.head_is_all = _read_head(stream)

    def _check_file(self) -> None:
        file = Path(self.path)
        if file.is_dir():
            raise DataError(f"{self.path}: this is a folder.", "Name a file in it.")
        if not file.exists():
            raise DataError(f"{self.path}: there is no such file.", "Check the spelling, and the folder you are in.")
        self.n_bytes = file.stat().st_size
        with self.explained(), open(file, "rb") as stream:
            self.packed = stream.read(2) == GZIP

    def _open_pipe(self) -> Any:
        if self.path != "-":
            raw: Any = open(self.path, "rb")  # noqa: SIM115
            weakref.finalize(self, raw.close)
        elif sys.stdin is None or sys.stdin.closed:  # as `<&-` and some schedulers leave it
            raise DataError(f"{self.name}: it is closed.", "Pipe a table into the command, or name a file.")
        else:
            raw = getattr(sys.stdin, "buffer", sys.stdin)
        first = raw.read(2)
        self.packed = first == GZIP
        joined = _joined(first, raw)
        return gzip.GzipFile(fileobj=joined) if self.packed else joined

    @property
    def rereadable(self) -> bool:
        """Whether it can be opened again."""
        return not self.is_pipe or self._copy is not None

    def keep_all(self) -> None:
        """Copy a pipe, so that it can be opened again. A file stays as it is."""
        if not self.rereadable:
            self._copy_unpacked()

    def _copy_unpacked(self) -> None:
        copy: Any = tempfile.SpooledTemporaryFile(max_size=IN_MEMORY)  # noqa: SIM115
        weakref.finalize(self, copy.close)
        with self.explained(), self.open() as stream:
            shutil.copyfileobj(stream, copy, HEAD)
        self._copy = copy

    def open_seekable(self) -> Any:
        """Return a path or a seekable stream of the unpacked bytes, for formats that are read from the end."""
        if (self.is_pipe or self.packed) and self._copy is None:
            self._copy_unpacked()
        return self.path if self._copy is None else self.open()

    def open(self) -> Any:
        """Return a binary stream of the unpacked bytes."""
        if self._copy is not None:
            return io.BufferedReader(_Reopened(self._copy), HEAD)
        if not self.is_pipe:
            return gzip.open(self.path, "rb") if self.packed else open(self.path, "rb")
        if self._pipe is None:
            raise DataError(f"{self.name}: it was read already.", "Save it to a file to read it twice.")
        stream, self._pipe = _joined(self.head, self._pipe), None
        return stream

    @contextmanager
    def explained(self) -> Iterator[None]:
        """Turn errors of unpacking, reading and decoding into a `DataError`."""
        try:
            yield
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise DataError(
                f"{self.name}: the gzip data is damaged or cut short ({error}).", "Fetch it again."
            ) from error
        except UnicodeDecodeError as error:
            raise self._not_utf8(error) from error
        except OSError as error:
            raise DataError(f"{self.name}: cannot be read: {error.strerror or error}.") from error

    def _not_utf8(self, error: UnicodeDecodeError) -> DataError:
        remedy = "Convert it, if it is Latin-1 with: iconv -f latin1 -t utf-8 FILE > utf8.csv"
        if not self.rereadable:
            return DataError(f"{self.name}: it is not UTF-8 (byte 0x{error.object[error.start]:02x}).", remedy)
        offset = 0
        with self.open() as stream:
            for number, line in enumerate(stream, 1):
                try:
                    line.decode()
                except UnicodeDecodeError as found:
                    byte = f"byte {offset + found.start} (0x{line[found.start]:02x})"
                    return DataError(f"{self.name}, line {number}: {byte} is not UTF-8.", remedy)
                offset += len(line)
        return DataError(f"{self.name}: it is not UTF-8.", remedy)


def _read_head(stream: Any) -> tuple[bytes, bool]:
    """The first bytes, with whole lines if it is text, and whether they are all."""
    head = b""
    while len(head) < LONGEST_HEAD:
        size = max(HEAD, len(head))
        read = stream.read(size)
        head += read
        if len(read) < size:
            return head, True
        if head.count(b"\n") >= LINES or b"\0" in head:
            break
    return head, False


def is_pipe(path: str | Path) -> bool:
    """Whether a path can be read only once: standard input, or what the shell makes of ``<(zcat new.csv.gz)``."""
    try:
        return str(path) == "-" or stat.S_IFMT(os.stat(path).st_mode) not in (stat.S_IFREG, stat.S_IFDIR)
    except OSError:
        return False


def _joined(head: bytes, rest: Any) -> Any:
    """Bytes that were read already, and then the rest of a stream."""
    first = io.BytesIO(head)
    available = getattr(rest, "read1", rest.read)  # without waiting for a full buffer
    return io.BufferedReader(_Reading(lambda n: first.read(n) or available(n)), HEAD)


class _Reading(io.RawIOBase):
    """A stream from a function that reads up to n bytes."""

    def __init__(self, read: Callable[[int], bytes]) -> None:
        self._read_up_to = read

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._read_up_to(len(buffer))
        buffer[: len(data)] = data
        return len(data)


class _Reopened(_Reading):
    """A temporary file with a position of its own, which stays open when its reader is closed."""

    def __init__(self, file: IO[bytes]) -> None:
        super().__init__(self._read_here)
        self.file, self.position = file, 0

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = 0) -> int:
        self.file.seek(self.position)
        self.position = self.file.seek(offset, whence)
        return self.position

    def _read_here(self, n: int) -> bytes:
        self.file.seek(self.position)
        data = self.file.read(n)
        self.position += len(data)
        return data
