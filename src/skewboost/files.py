"""Files that are written whole or not at all, and locks that two processes can rely on.

A new file is written beside its place under a name that nobody can foresee, is forced to the disk, and then takes its
place. A process that is killed leaves its unfinished file behind, and the next writer of the same file removes it. It
is known by its name, and it will never be finished if nobody holds its lock, as a writer does for as long as it lives.
The folder is not forced to the disk: after a power cut the file is the old one or the new one, but not a part of one.
"""

from __future__ import annotations

import errno
import os
import re
import stat
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import IO, Any, NamedTuple

UNFINISHED = ".unfinished"
MOST_OF_NAME = 50  # characters of the file's name in that of the unfinished one: names end at 255 bytes
LEFT_OVER_SECONDS = 60  # before that, nobody asks whether a writer still lives

# Names of files that this process has open: what is behind them is never replaced
_OPENED = re.compile(r"/dev/(?:fd/([0-9]{1,9})|(stdout)|(stderr))|/proc/self/fd/([0-9]{1,9})")
_FAR = 2**31 - 2  # the byte that is locked on Windows, where nobody else can read it: few files are as long


# ------------------------------------------------------------------------------- writing


@contextmanager
def written_whole(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """A file to write bytes to; it takes its place in the end, unless something fails.

    A file that is replaced keeps its permissions and, where that is allowed, its owner and group. A symbolic link
    stays, and the file that it names is replaced. A pipe, or a device such as ``/dev/stdout``, cannot be replaced: it
    is written to at once, and holds what was written if something fails.

    Parameters
    ----------
    path : path
        Of the file; one that is there stays as it is until the new one is complete.

    Yields
    ------
    binary file
        Open for writing. It must not be closed.

    Raises
    ------
    OSError
        If it cannot be written; also for a folder, a socket or a disk.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from skewboost.files import written_whole
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with written_whole(Path(folder, "note.txt")) as file:
    ...         _ = file.write(b"all of it")
    ...     print([p.name for p in Path(folder).iterdir()])
    ['note.txt']
    """
    place = _place_of(path)
    with _named(path):
        if place.whole is None:
            with _opened(place) as stream:
                yield stream
            return
        _clear_left_overs(place.whole)
        unfinished = place.whole.with_name(f"{_beginning(place.whole)}{os.urandom(8).hex()}{UNFINISHED}")
        try:
            with _made(unfinished, private=place.there is not None) as file:
                yield file
                file.flush()
                if place.there is not None:
                    _give_rights(file.fileno(), place.there)
                os.fsync(file.fileno())
                os.utime(unfinished)  # as it is about to be unlocked, and must not look like an old left-over
            os.replace(unfinished, place.whole)
        except BaseException:
            with suppress(OSError):
                unfinished.unlink()
            raise


def write_whole(path: str | os.PathLike[str], content: str | bytes) -> Path:
    """Write text (as UTF-8) or bytes to a file, which is replaced at once or not at all.

    Parameters
    ----------
    path : path
        Of the file; see `written_whole`.
    content : str or bytes
        All of it.

    Returns
    -------
    Path
    """
    with written_whole(path) as file:
        file.write(content.encode() if isinstance(content, str) else content)
    return Path(path)


def check_writable(path: str | os.PathLike[str]) -> None:
    """Raise an OSError where `written_whole` would, as far as that can be known before there is anything to write.

    Parameters
    ----------
    path : path
        Of the file.
    """
    place = _place_of(path)
    if place.whole is None:
        if place.descriptor is None and not os.access(place.path, os.W_OK):
            raise PermissionError(errno.EACCES, "no permission to write to it. Name another one", place.path)
        return
    folder = place.whole.parent
    if not folder.is_dir():
        raise FileNotFoundError(errno.ENOENT, f"there is no folder {folder}", place.path)
    if not os.access(folder, os.W_OK | os.X_OK):
        what = f"no permission to write to the folder {folder}. Name another one"
        raise PermissionError(errno.EACCES, what, place.path)


class _Place(NamedTuple):
    """Where a file of a name is written."""

    path: str
    whole: Path | None  # the file to replace; None where nothing can be replaced, as pipes cannot
    there: os.stat_result | None = None  # what is there already
    descriptor: int | None = None  # of a name that says which open file is meant


def _place_of(path: str | os.PathLike[str]) -> _Place:
    named = Path(path)
    opened = _OPENED.fullmatch(os.path.normpath(named.absolute()))
    if opened is not None and sys.platform != "win32":
        descriptor = int(opened[1] or opened[4] or ("1" if opened[2] else "2"))
        with _named(path):
            return _Place(str(named), None, os.fstat(descriptor), descriptor)
    try:
        there = named.stat()
    except FileNotFoundError:
        there = None
    if there is None or stat.S_ISREG(there.st_mode):
        return _Place(str(named), Path(os.path.realpath(named)) if named.is_symlink() else named, there)
    if stat.S_ISFIFO(there.st_mode) or stat.S_ISCHR(there.st_mode):
        return _Place(str(named), None, there)
    if stat.S_ISDIR(there.st_mode):
        raise IsADirectoryError(errno.EISDIR, "it is a folder; give the name of a file", str(named))
    raise FileExistsError(errno.EEXIST, "it is neither a file nor a pipe; give another name", str(named))


def _opened(place: _Place) -> IO[bytes]:
    """What cannot be replaced, open for writing; whoever has it open already goes on from where it stands."""
    if place.descriptor is None:
        return os.fdopen(os.open(place.path, os.O_WRONLY | getattr(os, "O_BINARY", 0)), "wb")
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            stream.flush()  # what was said before comes first
    return os.fdopen(os.dup(place.descriptor), "wb")


def _beginning(whole: Path) -> str:
    """Of the names of unfinished files."""
    return f".{whole.name[:MOST_OF_NAME]}."


@contextmanager
def _made(unfinished: Path, private: bool) -> Iterator[IO[bytes]]:
    """A file that was not there, locked while it is open; if it replaces one, nobody else may read it meanwhile."""
    flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
    with ExitStack() as stack:
        file = stack.enter_context(os.fdopen(os.open(unfinished, flags, 0o600 if private else 0o666), "wb"))
        with suppress(OSError):  # where files cannot be locked, nobody removes left-overs
            stack.enter_context(locked(file))
        yield file


def _give_rights(descriptor: int, there: os.stat_result) -> None:
    """The permissions of the file that is to be replaced, and its owner and group if that is allowed."""
    if sys.platform == "win32":
        return
    mode = stat.S_IMODE(there.st_mode) & 0o777
    made = os.fstat(descriptor)
    if (made.st_uid, made.st_gid) != (there.st_uid, there.st_gid):
        try:
            os.fchown(descriptor, there.st_uid, there.st_gid)
        except OSError:
            try:
                os.fchown(descriptor, -1, there.st_gid)
            except OSError:  # another group must not get what was meant for that one
                mode &= ~0o070 | (mode & 0o007) << 3
    os.fchmod(descriptor, mode)


def _clear_left_overs(whole: Path) -> None:
    """Remove the unfinished files that killed writers of this file have left."""
    name = re.compile(re.escape(_beginning(whole)) + "[0-9a-f]{16}" + re.escape(UNFINISHED))
    with suppress(OSError), os.scandir(whole.parent) as entries:
        for entry in entries:
            if name.fullmatch(entry.name):
                with suppress(OSError):
                    _clear(entry.path)


def _clear(left: str) -> None:
    """Remove an unfinished file, if it is a file of ours, old, and nobody is at work on it."""
    about = os.lstat(left)
    ours = stat.S_ISREG(about.st_mode) and (sys.platform == "win32" or about.st_uid == os.geteuid())
    if not ours or time.time() - about.st_mtime < LEFT_OVER_SECONDS:
        return
    with os.fdopen(os.open(left, os.O_RDWR | getattr(os, "O_NOFOLLOW", 0)), "rb") as file, locked(file, wait=False):
        pass  # an error unless the writer is gone
    os.unlink(left)


@contextmanager
def _named(path: str | os.PathLike[str]) -> Iterator[None]:
    """Errors name the file that was asked for, rather than the unfinished one, or none."""
    try:
        yield
    except OSError as error:
        if error.errno is not None and (error.filename is None or str(error.filename).endswith(UNFINISHED)):
            raise OSError(error.errno, error.strerror, os.fspath(path)) from error
        raise


# ------------------------------------------------------------------------------- locks


@contextmanager
def locked(file: IO[Any], *, wait: bool = True) -> Iterator[None]:
    """Have an open file for oneself, among all threads and processes that ask for it likewise.

    The operating system keeps the lock, and takes it back when the process ends, however it ends. Two threads must have
    opened the file for themselves.

    Parameters
    ----------
    file : file
        Open for writing.
    wait : bool, default=True
        For whoever has it; otherwise that is an OSError.

    Raises
    ------
    OSError
        If somebody else has it, or files cannot be locked there.
    """
    descriptor = file.fileno()
    _lock(descriptor, wait)
    try:
        yield
    finally:
        _unlock(descriptor)


if sys.platform == "win32":
    import msvcrt

    def _lock(descriptor: int, wait: bool) -> None:
        at = os.lseek(descriptor, 0, os.SEEK_CUR)
        os.lseek(descriptor, _FAR, os.SEEK_SET)
        try:
            while True:
                try:
                    return msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
                except OSError as error:
                    if not wait or error.errno not in (errno.EACCES, errno.EDEADLK):
                        raise
                time.sleep(0.01)
        finally:
            os.lseek(descriptor, at, os.SEEK_SET)

    def _unlock(descriptor: int) -> None:
        at = os.lseek(descriptor, 0, os.SEEK_CUR)
        os.lseek(descriptor, _FAR, os.SEEK_SET)
        msvcrt.locking(descriptor, msvcrt.LK_UNLCK, 1)
        os.lseek(descriptor, at, os.SEEK_SET)

else:
    import fcntl  # flock, not lockf: the latter does not know threads, and forgets when any copy of a file is closed

    def _lock(descriptor: int, wait: bool) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))

    def _unlock(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_UN)
