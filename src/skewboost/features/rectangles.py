"""The rectangle features of images of one size: which there are, and how they are sums over an integral image."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from skewboost.typing import Array

# The equal parts of a feature, row by row, and the factor of the pixels in each. The sum of the factors is 0.
KINDS: dict[str, Array] = {
    "two_horizontal": np.array([[-1, 1]]),
    "two_vertical": np.array([[-1], [1]]),
    "three_horizontal": np.array([[-1, 2, -1]]),
    "three_vertical": np.array([[-1], [2], [-1]]),
    "four": np.array([[1, -1], [-1, 1]]),
}
COLUMNS = ("top", "left", "height", "width")


@dataclass(frozen=True)
class Grid:
    """Which positions and sizes there are: the smallest side of a part, and the steps of sides and of positions."""

    shape: tuple[int, int]
    min_size: int
    size_step: int
    step: int

    def sizes(self, kind: str) -> Iterator[tuple[int, int]]:
        """Yield the heights and widths of the features of a kind."""
        down, across = KINDS[kind].shape
        for height in self._sides(self.shape[0], down):
            for width in self._sides(self.shape[1], across):
                yield height, width

    def _sides(self, whole: int, n_parts: int) -> range:
        return range(n_parts * self.min_size, whole + 1, n_parts * self.size_step)

    def positions(self, height: int, width: int) -> tuple[range, range]:
        """Return the tops and the lefts of features of a size."""
        rows, columns = self.shape
        return range(0, rows - height + 1, self.step), range(0, columns - width + 1, self.step)

    def count(self, kinds: Sequence[str]) -> int:
        """Return the number of features."""
        places = (self.positions(*size) for kind in kinds for size in self.sizes(kind))
        return sum(len(tops) * len(lefts) for tops, lefts in places)

    def boxes(self, kind: str) -> Array:
        """Return the features of a kind: a row of `COLUMNS` each, by size, then by position."""
        found = [np.empty((0, len(COLUMNS)), dtype=np.int64)]
        for size in self.sizes(kind):
            tops, lefts = self.positions(*size)
            place = np.stack(np.meshgrid(tops, lefts, indexing="ij"), axis=-1).reshape(-1, 2)
            found.append(np.column_stack((place, np.tile(size, (len(place), 1)))))
        return np.concatenate(found)


def parts_of(kind: str, box: Sequence[Any]) -> list[tuple[int, int, int, int, int]]:
    """Return the rectangles of a feature: the factor of their pixels, their top, left, height and width."""
    factors = KINDS[kind]
    top, left, height, width = map(int, box)
    high, wide = height // factors.shape[0], width // factors.shape[1]
    return [(int(factor), top + i * high, left + j * wide, high, wide) for (i, j), factor in np.ndenumerate(factors)]


def corner_sums(kind: str, boxes: Array, shape: tuple[int, int]) -> csr_array:
    """Return the matrix that makes features of an integral image: ``[feature, corner]``.

    The sum of a rectangle is the sum over the corners of the integral image with the signs +, -, - and +. Parts of a
    feature share corners, so that six to nine of them are read.
    """
    # the factor of a corner of the grid of parts is the mixed difference of the factors of the parts around it
    factors = np.diff(np.diff(np.pad(KINDS[kind], 1), axis=0), axis=1)
    down, across = factors.shape
    top, left, height, width = boxes.T
    y = top[:, None] + np.arange(down) * (height // max(down - 1, 1))[:, None]
    x = left[:, None] + np.arange(across) * (width // max(across - 1, 1))[:, None]
    corners = (y[:, :, None] * (shape[1] + 1) + x[:, None, :]).reshape(len(boxes), -1)
    n = corners.shape[1]
    return csr_array(
        (np.tile(factors.ravel().astype(np.float64), len(boxes)), corners.ravel(), np.arange(len(boxes) + 1) * n),
        shape=(len(boxes), (shape[0] + 1) * (shape[1] + 1)),
    )
