"""Files of public data sets: a folder of the user's is looked at first, then the cache, then the network."""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Iterable
from pathlib import Path
from urllib.error import URLError
from urllib.request import Request, urlopen

from skewboost.errors import InputError
from skewboost.files import written_whole
from skewboost.progress import ProgressBar

FOLDER, CACHE = "SKEWBOOST_DATA", "SKEWBOOST_CACHE"  # environment variables
ENDINGS = (".csv.gz", ".csv", ".parquet", ".npz")
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


def in_folders(name: str) -> Path | None:
    """Return the file of a data set in the user's folders, or None."""
    for folder in data_folders():
        for ending in ENDINGS:
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


def downloaded(name: str, url: str, *, again: bool = False) -> Path:
    """Return the local copy of a file, which is downloaded unless it is in the cache.

    Parameters
    ----------
    name : str
        The name of the data set, for messages.
    url : str
        Where the file is.
    again : bool, default=False
        Whether to ignore the cache.

    Returns
    -------
    Path
        The file in the cache. A download that is interrupted leaves nothing behind.
    """
    folder = cache_folder()
    path = folder / url.rpartition("/")[2]
    if path.is_file() and not again:
        return path
    try:
        folder.mkdir(parents=True, exist_ok=True)
        request = Request(url, headers={"User-Agent": "skewboost"})
        with urlopen(request, timeout=TIMEOUT) as answer, written_whole(path) as file:
            size = int(answer.headers.get("Content-Length") or 0)
            with ProgressBar(size or None, f"bytes of {path.name}", transient=True) as bar:
                done = 0
                while part := answer.read(CHUNK):
                    file.write(part)
                    done += len(part)
                    bar.update(done)
            if size and done != size:
                raise URLError(f"{done} of {size} bytes arrived")
    except OSError as error:  # URLError is one
        reason = getattr(error, "reason", None) or error
        raise DownloadError(
            f"{name!r} is not on this machine, and {url} cannot be downloaded ({reason}).",
            f"Try again with a connection to the internet; or get the file elsewhere and put it into {folder} as "
            f"{path.name}; or set {FOLDER} to a folder that has {name}.csv.gz, with a last column `target` of 0 and 1.",
        ) from error
    return path


def digest_of(rows: Iterable[bytes]) -> str:
    """Return a checksum of the contents of a table, whatever the order of its rows and the format of its file."""
    return hashlib.sha256(b"\n".join(sorted(rows))).hexdigest()[:32]


def check_digest(name: str, found: str, expected: str, path: Path) -> None:
    """Raise an error if a table has other contents than the data set should have."""
    if found != expected:
        raise InputError(
            f"{path} does not have the contents of {name!r}: its checksum is {found}, not {expected}.",
            "Delete the file if it was downloaded, and try again; the source may have changed.",
        )
