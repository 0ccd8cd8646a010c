"""Files that are written whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def written_whole(path: str | os.PathLike[str]) -> Iterator[Path]:
    """A place to write a file to; it takes the file's place in the end, unless something fails.

    Parameters
    ----------
    path : path
        Of the file; one that is there stays as it is until the new one is complete.

    Yields
    ------
    Path
        Of the unfinished file, in the same folder.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from skewboost.files import written_whole
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with written_whole(Path(folder, "note.txt")) as unfinished:
    ...         _ = unfinished.write_text("all of it")
    ...     print([p.name for p in Path(folder).iterdir()])
    ['note.txt']
    """
    whole = Path(path)
    unfinished = whole.with_name(f".{whole.name}.{os.getpid()}")
    try:
        yield unfinished
        os.replace(unfinished, whole)
    finally:
        unfinished.unlink(missing_ok=True)


def write_whole(path: str | os.PathLike[str], content: str | bytes) -> Path:
    """Write text (as UTF-8) or bytes to a file, which is replaced at once or not at all.

    Parameters
    ----------
    path : path
        Of the file.
    content : str or bytes
        All of it.

    Returns
    -------
    Path
    """
    with written_whole(path) as unfinished:
        unfinished.write_bytes(content.encode() if isinstance(content, str) else content)
    return Path(path)
