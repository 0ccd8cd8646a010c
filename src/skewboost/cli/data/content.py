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
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from skewboost.cli.data.data_error import DataError

HEAD = 1 << 18  # bytes that are looked at to tell what a file is
IN_MEMORY = 1 << 26  # a pipe is kept in memory up to this size, then in a temporary file
GZIP = b"\x1f\x8b"


class Content:
    """What is in a file, or comes down a pipe; gzip is unpacked, by content rather than by name.

    A file can be opened again and again. A pipe can be read once, unless `keep_all` was called before; the
    beginning that was looked at (`head`) is read from memory.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = str(path)
        self.is_pipe = is_pipe(path)
        self.name = "standard input" if self.path == "-" else self.path
        self.n_bytes: int | None = None
        self._kept: IO[bytes] | None = None
        self._pipe: Any = None
        self.head: bytes = b""
        if self.is_pipe:
            self._open_pipe()
        else:
            self._open_file()

    def _open_file(self) -> None:
        file = Path(self.path)
        if file.is_dir():
            raise DataError(f"{self.path}: this is a folder. Name a file in it.")
        if not file.exists():
            raise DataError(f"{self.path}: there is no such file. Check the spelling, and the folder you are in.")
        self.n_bytes = file.stat().st_size
        try:
            self.packed = _begins(file) == GZIP
        except OSError as error:
            raise DataError(f"{self.path}: cannot be opened: {error.strerror}. Check its permissions.") from error
        with self.open() as stream, self.explained():
            self.head = stream.read(HEAD)

    def _open_pipe(self) -> None:
        with self.explained():
            raw = self._raw_pipe()
            begin = raw.read(2)
            joined: Any = io.BufferedReader(_Joined(begin, raw), HEAD)
            self.packed = begin == GZIP
            self._pipe = gzip.GzipFile(fileobj=joined) if self.packed else joined
            pieces, size = [], 0
            while size < HEAD and (piece := self._pipe.read(HEAD - size)):
                pieces.append(piece)
                size += len(piece)
        self.head = b"".join(pieces)

    def _raw_pipe(self) -> Any:
        if self.path != "-":
            named = open(self.path, "rb")  # noqa: SIM115
            weakref.finalize(self, named.close)
            return named
        if sys.stdin is None or sys.stdin.closed:  # as `<&-` and some schedulers leave it
            raise DataError(f"{self.name}: it is closed. Pipe a table into the command, or name a file.")
        return getattr(sys.stdin, "buffer", sys.stdin)

    @property
    def rereadable(self) -> bool:
        """Whether it can be opened twice."""
        return not self.is_pipe or self._kept is not None

    def keep_all(self) -> None:
        """Read a pipe to its end into memory or, where it is large, a temporary file; a file is left alone."""
        if self.rereadable:
            return
        self._kept = self._copied()

    def _copied(self) -> IO[bytes]:
        kept: Any = tempfile.SpooledTemporaryFile(max_size=IN_MEMORY)  # noqa: SIM115
        with self.explained(), self.open() as stream:
            shutil.copyfileobj(stream, kept, HEAD)
        kept.seek(0)
        weakref.finalize(self, kept.close)
        return kept  # type: ignore[no-any-return]

    def open_seekable(self) -> str | IO[bytes]:
        """For formats that are read from the end: a path, or a copy of a pipe or of what was packed."""
        if not self.is_pipe and not self.packed:
            return self.path
        if self._kept is None:
            self._kept = self._copied()
        self._kept.seek(0)
        return _Unclosed(self._kept)  # type: ignore[return-value]

    def open(self) -> Any:
        """A binary stream, from the first byte on."""
        if not self.is_pipe:
            return gzip.open(self.path, "rb") if self.packed else open(self.path, "rb")
        if self._kept is not None:
            self._kept.seek(0)
            return _Unclosed(self._kept)
        if self._pipe is None:
            raise DataError(f"{self.name}: it was read already. Save it to a file to read it twice.")
        stream = io.BufferedReader(_Joined(self.head, self._pipe), HEAD)
        self._pipe = None
        return stream

    @contextmanager
    def explained(self) -> Iterator[None]:
        """Errors of unpacking, reading and decoding, in one line."""
        try:
            yield
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise DataError(f"{self.name}: the gzip data is damaged or cut short ({error}). Fetch it again.") from error
        except UnicodeDecodeError as error:
            raise self._not_utf8(error) from error
        except OSError as error:
            raise DataError(f"{self.name}: cannot be read: {error.strerror or error}.") from error

    def _not_utf8(self, error: UnicodeDecodeError) -> DataError:
        remedy = "Convert it, if it is Latin-1 with: iconv -f latin1 -t utf-8 FILE > utf8.csv"
        if not self.rereadable:
            byte = error.object[error.start]
            return DataError(f"{self.name}: it is not UTF-8 (byte 0x{byte:02x}). {remedy}")
        offset = lines = 0
        with self.open() as stream:
            for line in stream:
                try:
                    line.decode()
                except UnicodeDecodeError as found:
                    at = offset + found.start
                    byte = line[found.start]
                    return DataError(f"{self.name}, line {lines + 1}: byte {at} (0x{byte:02x}) is not UTF-8. {remedy}")
                offset, lines = offset + len(line), lines + 1
        return DataError(f"{self.name}: it is not UTF-8. {remedy}")


def is_pipe(path: str | Path) -> bool:
    """Whether it can be read once only: standard input, or what the shell makes of ``<(zcat new.csv.gz)``."""
    try:
        return str(path) == "-" or stat.S_IFMT(os.stat(path).st_mode) not in (stat.S_IFREG, stat.S_IFDIR)
    except OSError:
        return False


class _Joined(io.RawIOBase):
    """The head, and then the rest."""

    def __init__(self, head: bytes, rest: Any) -> None:
        self.head, self.rest = io.BytesIO(head), rest

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        # what is there, rather than waiting for all that was asked for
        data = self.head.read(len(buffer)) or getattr(self.rest, "read1", self.rest.read)(len(buffer))
        buffer[: len(data)] = data
        return len(data)


class _Unclosed(io.RawIOBase):
    """A file that stays open when its reader closes it."""

    def __init__(self, file: IO[bytes]) -> None:
        self.file = file

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = 0) -> int:
        return self.file.seek(offset, whence)

    def tell(self) -> int:
        return self.file.tell()

    def readinto(self, buffer: Any) -> int:
        data = self.file.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)


def _begins(file: Path) -> bytes:
    with open(file, "rb") as stream:
        return stream.read(2)
