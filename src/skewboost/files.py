"""Atomic writing of files, and locks between processes.

A file is written under a random name in the same folder, flushed to the disk, and then renamed. If the process is
killed, the unfinished file remains, and the next writer of the same file removes it. An unfinished file is recognised
by its name; it is abandoned if nobody holds its lock, which a writer does for as long as it lives. The folder itself is
not flushed: after a power cut there is the old file or the new one, but never a part of one.
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
PREFIX_LENGTH = 50  # characters of the file's name in that of the unfinished one; names have at most 255 bytes
ABANDONED_AFTER = 60  # seconds before an unfinished file may be removed

# Names of files that this process has open; such a file is written to, never replaced
_OPENED = re.compile(r"/dev/(?:fd/([0-9]{1,9})|(stdout)|(stderr))|/proc/self/fd/([0-9]{1,9})")
_FAR = 2**31 - 2  # the byte that is locked on Windows, beyond the end of most files, since nobody can read it then


@contextmanager
def written_whole(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Open a file for writing that replaces `path` at the end, unless an exception is raised.

    A file that is replaced keeps its permissions and, if that is allowed, its owner and group. If `path` is a symbolic
    link, the file that it points to is replaced. A pipe, or a device such as ``/dev/stdout``, cannot be replaced: it is
    written to directly.

    Parameters
    ----------
    path : path
        The file to write.

    Yields
    ------
    binary file
        The caller must not close it.

    Raises
    ------
    OSError
        If the file cannot be written, or is a folder, a socket or a block device.

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
    target = _target_of(path)
    with _named(path):
        if target.file is None:
            with _opened(target) as stream:
                yield stream
            return
        _remove_abandoned(target.file)
        unfinished = target.file.with_name(f"{_prefix(target.file)}{os.urandom(8).hex()}{UNFINISHED}")
        try:
            with _made(unfinished, private=target.existing is not None) as file:
                yield file
                file.flush()
                if target.existing is not None:
                    _copy_permissions(file.fileno(), target.existing)
                os.fsync(file.fileno())
                os.utime(unfinished)  # it is about to be unlocked, and must not look abandoned
            os.replace(unfinished, target.file)
        except BaseException:
            with suppress(OSError):
                unfinished.unlink()
            raise


def write_whole(path: str | os.PathLike[str], content: str | bytes) -> Path:
    """Write text (as UTF-8) or bytes to a file as `written_whole` does, and return its path."""
    with written_whole(path) as file:
        file.write(content.encode() if isinstance(content, str) else content)
    return Path(path)


def check_writable(path: str | os.PathLike[str]) -> None:
    """Raise an OSError if `written_whole` would, as far as that can be known in advance."""
    target = _target_of(path)
    if target.file is None:
        if target.descriptor is None and not os.access(target.path, os.W_OK):
            raise PermissionError(errno.EACCES, "no permission to write to it. Choose another file", target.path)
        return
    folder = target.file.parent
    if not folder.is_dir():
        raise FileNotFoundError(errno.ENOENT, f"there is no folder {folder}", target.path)
    if not os.access(folder, os.W_OK | os.X_OK):
        problem = f"no permission to write to the folder {folder}. Choose another one"
        raise PermissionError(errno.EACCES, problem, target.path)


class _Target(NamedTuple):
    """The file that a path stands for."""

    path: str
    file: Path | None  # the file to replace; None for pipes and devices, which cannot be replaced
    existing: os.stat_result | None = None
    descriptor: int | None = None  # if the path names an open file


def _target_of(path: str | os.PathLike[str]) -> _Target:
    named = Path(path)
    opened = _OPENED.fullmatch(os.path.normpath(named.absolute()))
    if opened is not None and sys.platform != "win32":
        descriptor = int(opened[1] or opened[4] or ("1" if opened[2] else "2"))
        with _named(path):
            return _Target(str(named), None, os.fstat(descriptor), descriptor)
    try:
        existing = named.stat()
    except FileNotFoundError:
        existing = None
    if existing is None or stat.S_ISREG(existing.st_mode):
        return _Target(str(named), Path(os.path.realpath(named)) if named.is_symlink() else named, existing)
    if stat.S_ISFIFO(existing.st_mode) or stat.S_ISCHR(existing.st_mode):
        return _Target(str(named), None, existing)
    if stat.S_ISDIR(existing.st_mode):
        raise IsADirectoryError(errno.EISDIR, "it is a folder. Choose a file", str(named))
    raise FileExistsError(errno.EEXIST, "it is neither a file nor a pipe. Choose another name", str(named))


def _opened(target: _Target) -> IO[bytes]:
    """Open what cannot be replaced. An open file is continued at its position."""
    if target.descriptor is None:
        return os.fdopen(os.open(target.path, os.O_WRONLY | getattr(os, "O_BINARY", 0)), "wb")
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            stream.flush()  # earlier output comes first
    return os.fdopen(os.dup(target.descriptor), "wb")


def _prefix(file: Path) -> str:
    """The beginning of the names of unfinished files."""
    return f".{file.name[:PREFIX_LENGTH]}."


@contextmanager
def _made(unfinished: Path, private: bool) -> Iterator[IO[bytes]]:
    """Create a file and lock it. If it will replace another one, it is readable by its owner only until then."""
    flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
    with ExitStack() as stack:
        file = stack.enter_context(os.fdopen(os.open(unfinished, flags, 0o600 if private else 0o666), "wb"))
        with suppress(OSError):  # where files cannot be locked, abandoned files are never removed
            stack.enter_context(locked(file))
        yield file


def _copy_permissions(descriptor: int, existing: os.stat_result) -> None:
    """Copy the permissions of the file that is replaced, and its owner and group if that is allowed."""
    if sys.platform == "win32":
        return
    mode = stat.S_IMODE(existing.st_mode) & 0o777
    made = os.fstat(descriptor)
    if (made.st_uid, made.st_gid) != (existing.st_uid, existing.st_gid):
        try:
            os.fchown(descriptor, existing.st_uid, existing.st_gid)
        except OSError:
            try:
                os.fchown(descriptor, -1, existing.st_gid)
            except OSError:  # another group must not get the permissions of that group
                mode &= ~0o070 | (mode & 0o007) << 3
    os.fchmod(descriptor, mode)


def _remove_abandoned(file: Path) -> None:
    """Remove the unfinished files of killed writers of this file."""
    name = re.compile(re.escape(_prefix(file)) + "[0-9a-f]{16}" + re.escape(UNFINISHED))
    with suppress(OSError), os.scandir(file.parent) as entries:
        for entry in entries:
            if name.fullmatch(entry.name):
                with suppress(OSError):
                    _remove_if_abandoned(entry.path)


def _remove_if_abandoned(path: str) -> None:
    """Remove an unfinished file if it is our own, old, and not locked by its writer."""
    about = os.lstat(path)
    ours = stat.S_ISREG(about.st_mode) and (sys.platform == "win32" or about.st_uid == os.geteuid())
    if not ours or time.time() - about.st_mtime < ABANDONED_AFTER:
        return
    with os.fdopen(os.open(path, os.O_RDWR | getattr(os, "O_NOFOLLOW", 0)), "rb") as file, locked(file, wait=False):
        pass  # raises if the writer lives
    os.unlink(path)


@contextmanager
def _named(path: str | os.PathLike[str]) -> Iterator[None]:
    """Make errors name the file that was asked for instead of the unfinished one."""
    try:
        yield
    except OSError as error:
        if error.errno is not None and (error.filename is None or str(error.filename).endswith(UNFINISHED)):
            raise OSError(error.errno, error.strerror, os.fspath(path)) from error
        raise


@contextmanager
def locked(file: IO[Any], *, wait: bool = True) -> Iterator[None]:
    """Lock an open file against other threads and processes that use this function.

    The operating system releases the lock when the process ends, however it ends. Threads must open the file
    separately.

    Parameters
    ----------
    file : file
        Open for writing.
    wait : bool, default=True
        Whether to wait while the file is locked by another. If not, that raises an OSError.

    Raises
    ------
    OSError
        If the file is locked by another, or cannot be locked.
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
    import fcntl  # flock, because lockf ignores threads and ends when any descriptor of the file is closed

    def _lock(descriptor: int, wait: bool) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))

    def _unlock(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_UN)
