"""Where public data sets are: a folder of the user's is looked at first, then the cache, then the network."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from http.client import HTTPException
from pathlib import Path
from typing import TypeVar
from urllib.error import URLError
from urllib.request import Request, urlopen

from skewboost.datasets.data_files import TABLES, TARGET, reading, reason_of
from skewboost.errors import InputError
from skewboost.files import write_whole
from skewboost.progress import ProgressBar

T = TypeVar("T")

FOLDER, CACHE = "SKEWBOOST_DATA", "SKEWBOOST_CACHE"  # environment variables
TIMEOUT = 30  # seconds without an answer
CHUNK = 1 << 16  # bytes


class DownloadError(InputError):
    """A data set that is neither on this machine nor reachable."""


def data_folders() -> list[Path]:
    """Return the folders that are looked at before anything is downloaded.

    These are the folder that the environment variable ``SKEWBOOST_DATA`` names and, in a clone of the repository,
    ``shared/data`` beside the clone.
    """
    named = os.environ.get(FOLDER)
    if named:
        folder = Path(named).expanduser()
        if not folder.is_dir():
            raise InputError(
                f"{FOLDER}={named} is not a folder.", "Set it to the folder with the data sets, or unset it."
            )
        return [folder]
    beside = Path(__file__).resolve().parents[4] / "shared" / "data"
    return [beside] if beside.is_dir() else []


def in_folders(name: str, endings: Sequence[str] = TABLES) -> Path | None:
    """Return the file of a data set in the user's folders, or None."""
    for folder in data_folders():
        for ending in endings:
            path = folder / f"{name}{ending}"
            if path.is_file():
                return path
    return None


def cache_folder() -> Path:
    """Return the folder for downloaded files: ``SKEWBOOST_CACHE``, or ``skewboost`` in the user's cache folder."""
    named = os.environ.get(CACHE)
    if named:
        return Path(named).expanduser()
    if sys.platform == "win32":
        home = os.environ.get("LOCALAPPDATA") or "~/AppData/Local"
    elif sys.platform == "darwin":
        home = "~/Library/Caches"
    else:
        home = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(home).expanduser() / "skewboost" / "datasets"


def downloaded(name: str, url: str, read: Callable[[bytes], T], also: str = "") -> T:
    """Return what a file contains, which is downloaded unless it is in the cache.

    Parameters
    ----------
    name : str
        The name of the data set, for messages.
    url : str
        Where the file is.
    read : callable
        Returns the contents of the bytes of the file. It raises an error if they are not those of the data set.
    also : str, default=""
        What the user's folder needs besides the table, for messages.

    Returns
    -------
    object
        What `read` returns. Only a file that it can read is put into the cache.
    """
    path = cache_folder() / url.rpartition("/")[2]
    if path.is_file():
        with reading(name, path, "Delete it, and try again with a connection to the internet."):
            return read(path.read_bytes())
    elsewhere = (
        f"get the file elsewhere and put it into {path.parent} as {path.name}; or set {FOLDER} to a folder that has "
        f"{name}.csv.gz, with a last column `{TARGET}` of 0 and 1{also}."
    )
    with _writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
    try:
        data = _answer(url, path.name)
    except (OSError, HTTPException, ValueError) as error:  # URLError is an OSError; a bad header is a ValueError
        raise DownloadError(
            f"{name!r} is not on this machine, and {url} cannot be downloaded ({reason_of(error)}).",
            f"Try again with a connection to the internet; or {elsewhere}",
        ) from error
    remedy = f"It was not kept. Try again, perhaps in a network that does not ask you to log in; or {elsewhere}"
    with reading(name, f"The answer of {url}", remedy, DownloadError):
        found = read(data)
    with _writing(path):
        write_whole(path, data)
    return found


def _answer(url: str, what: str) -> bytes:
    """Return the whole answer of a server."""
    parts: list[bytes] = []
    with urlopen(Request(url, headers={"User-Agent": "skewboost"}), timeout=TIMEOUT) as answer:
        size = int(answer.headers.get("Content-Length") or 0)
        with ProgressBar(size or None, f"bytes of {what}", transient=True) as bar:
            done = 0
            while part := answer.read(CHUNK):
                parts.append(part)
                done += len(part)
                bar.update(done)
        if size and done != size:
            raise URLError(f"{done} of {size} bytes arrived")
    return b"".join(parts)


@contextmanager
def _writing(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        problem = f"{path} cannot be written to the cache ({reason_of(error)})."
        raise DownloadError(problem, f"Set {CACHE} to a folder that can be written to.") from error
