"""The MIT-CBCL face data: small grey images of faces and of other things."""

from __future__ import annotations

import io
import re
import tarfile
from pathlib import Path
from typing import Any

import numpy as np

from skewboost.datasets.data_files import REPLACE, check_digest, digest_of, read_table, reading
from skewboost.datasets.downloads import downloaded, in_folders
from skewboost.parameters import check_arguments, one_of

URL = "http://www.ai.mit.edu/courses/6.899/lectures/faces.tar.gz"
SIDE = 19  # pixels
DIGESTS = {"train": "cff3be32d7d8c37a4f9cd3178475d2f1", "test": "d77b40a4c8c9750d96a4175b25dd2e36"}
HEADER = re.compile(rb"P5\s+(?:#[^\n]*\n\s*)*(\d+)\s+(\d+)\s+(\d+)\s")


def fetch_faces(part: str = "train") -> tuple[Any, Any]:
    """Load the MIT-CBCL face images, downloading them if necessary.

    Files in the folder ``SKEWBOOST_DATA`` are ``cbcl_faces_train.parquet`` and ``cbcl_faces_test.parquet`` (or .csv.gz,
    .csv), with a column for each pixel, row by row, and the column ``target``.

    Parameters
    ----------
    part : {"train", "test"}, default="train"
        The training images (2429 faces and 4548 others) or the test images (472 and 23 573).

    Returns
    -------
    images : array of shape (n, 19, 19)
        Grey levels from 0 to 255.
    y : array of shape (n,)
        1 for faces, 0 for others.

    References
    ----------
    .. [cbcl] CBCL Face Database #1, MIT Center for Biological and Computational Learning.

    Examples
    --------
    >>> from skewboost.datasets import fetch_faces
    >>> images, y = fetch_faces("train")  # doctest: +SKIP
    >>> images.shape, int(y.sum())  # doctest: +SKIP
    ((6977, 19, 19), 2429)
    """
    check_arguments(part=(part, one_of(*DIGESTS)))
    name = f"cbcl_faces_{part}"
    path = in_folders(name)
    if path is None:
        also = ", after a column for each pixel, row by row"
        return downloaded(name, URL, lambda data: _checked(_of_archive(data, part), part), also)
    with reading(name, path, REPLACE):
        return _checked(_of_folder(path), part)


def _checked(contents: tuple[Any, Any], part: str) -> tuple[Any, Any]:
    """Return images and labels that have the checksum of the data set."""
    check_digest(digest_of(image.tobytes() + bytes([label]) for image, label in zip(*contents)), DIGESTS[part])
    return contents


def _of_folder(path: Path) -> tuple[Any, Any]:
    table, y = read_table(path)
    return table.to_numpy(np.uint8).reshape(len(y), SIDE, SIDE), y


def _of_archive(data: bytes, part: str) -> tuple[Any, Any]:
    """Read the images of an archive, which contains an archive for each part."""
    images, labels = [], []
    with tarfile.open(fileobj=io.BytesIO(data)) as outer:
        inner = next((m for m in outer if m.name.endswith(f"face.{part}.tar.gz")), None)
        packed = None if inner is None else outer.extractfile(inner)
        if packed is None:
            raise ValueError(f"it has no face.{part}.tar.gz")
        with tarfile.open(fileobj=io.BytesIO(packed.read())) as archive:
            for member in sorted(archive.getmembers(), key=lambda m: m.name):
                if member.name.endswith(".pgm"):
                    images.append(read_pgm(archive.extractfile(member).read()))  # type: ignore[union-attr]
                    labels.append(int("/non-face/" not in member.name))
    return np.array(images), np.array(labels, dtype=np.int64)


def read_pgm(data: bytes) -> Any:
    """Return the grey levels of a binary PGM image of one byte per pixel."""
    header = HEADER.match(data)
    if header is None or int(header[3]) > 255:
        raise ValueError("it has a file that is not a binary PGM image of one byte per pixel")
    width, height = int(header[1]), int(header[2])
    return np.frombuffer(data, np.uint8, width * height, header.end()).reshape(height, width)
