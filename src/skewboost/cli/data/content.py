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
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import IO, Any

from skewboost.errors import InputError

HEAD = 1 << 18  # the number of bytes that are read to recognise the format
IN_MEMORY = 1 << 26  # a copy is kept in memory up to this size, then in a temporary file
GZIP = b"\x1f\x8b"


class DataError(InputError):
    """A file that cannot be read as a table: which file, where in it, what is wrong, and what to do."""


class Content:
    """The bytes of a file or a pipe, which can be opened several times: a pipe is copied first.

    Gzip is recognised by its first bytes and unpacked. The first unpacked bytes are available as `head`.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = str(path)
        self.name = "standard input" if self.path == "-" else self.path
        self.n_bytes: int | None = None
        self._pipe: IO[bytes] | None = None  # a copy of a pipe
        self._unpacked: IO[bytes] | None = None  # a copy of what was packed
        if is_pipe(path):
            with self.explained(), self._open_pipe() as stream:
                self._pipe = self._copy(stream)
        else:
            self._check_file()
        self.packed = False
        with self.open() as stream:
            self.packed = stream.read(2) == GZIP
        with self.explained(), self.open() as stream:
            self.head: bytes = stream.read(HEAD)

    def _check_file(self) -> None:
        file = Path(self.path)
        if file.is_dir():
            raise DataError(f"{self.path}: this is a folder.", "Name a file in it.")
        if not file.exists():
            raise DataError(f"{self.path}: there is no such file.", "Check the spelling, and the folder you are in.")
        self.n_bytes = file.stat().st_size
        try:
            open(file, "rb").close()
        except OSError as error:
            raise DataError(f"{self.path}: cannot be opened: {error.strerror}.", "Check its permissions.") from error

    def _open_pipe(self) -> Any:
        if self.path != "-":
            return open(self.path, "rb")
        if sys.stdin is None or sys.stdin.closed:  # as `<&-` and some schedulers leave it
            raise DataError(f"{self.name}: it is closed.", "Pipe a table into the command, or name a file.")
        return nullcontext(getattr(sys.stdin, "buffer", sys.stdin))

    def _copy(self, stream: Any) -> IO[bytes]:
        copy: Any = tempfile.SpooledTemporaryFile(max_size=IN_MEMORY)  # noqa: SIM115
        weakref.finalize(self, copy.close)
        shutil.copyfileobj(stream, copy, HEAD)
        return copy  # type: ignore[no-any-return]

    def open(self) -> Any:
        """Return a binary stream of the unpacked bytes."""
        place: Any = self.path if self._pipe is None else _reopened(self._pipe)
        if self.packed:
            return gzip.open(place, "rb")
        return open(self.path, "rb") if self._pipe is None else place

    def open_seekable(self) -> Any:
        """Return a path or a seekable stream of the unpacked bytes, for formats that are read from the end."""
        if not self.packed:
            return self.path if self._pipe is None else _reopened(self._pipe)
        if self._unpacked is None:
            with self.explained(), self.open() as stream:
                self._unpacked = self._copy(stream)
        return _reopened(self._unpacked)

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
            raise self._not_utf8() from error
        except OSError as error:
            raise DataError(f"{self.name}: cannot be read: {error.strerror or error}.") from error

    def _not_utf8(self) -> DataError:
        remedy = "Convert it, if it is Latin-1 with: iconv -f latin1 -t utf-8 FILE > utf8.csv"
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


def is_pipe(path: str | Path) -> bool:
    """Whether a path can be read only once: standard input, or what the shell makes of ``<(zcat new.csv.gz)``."""
    try:
        return str(path) == "-" or stat.S_IFMT(os.stat(path).st_mode) not in (stat.S_IFREG, stat.S_IFDIR)
    except OSError:
        return False


def _reopened(file: IO[bytes]) -> IO[bytes]:
    return io.BufferedReader(_Reopened(file), HEAD)


class _Reopened(io.RawIOBase):
    """A temporary file with a position of its own, which stays open when its reader is closed."""

    def __init__(self, file: IO[bytes]) -> None:
        self.file, self.position = file, 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = 0) -> int:
        self.file.seek(self.position)
        self.position = self.file.seek(offset, whence)
        return self.position

    def readinto(self, buffer: Any) -> int:
        self.file.seek(self.position)
        data = self.file.read(len(buffer))
        self.position += len(data)
        buffer[: len(data)] = data
        return len(data)
