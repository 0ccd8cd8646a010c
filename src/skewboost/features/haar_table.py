"""Rectangle features of patches or of the windows of a picture, computed when they are read.

Of an integral image each sum over a rectangle is four numbers [viola2004]_, of a patch or of a window within a large
picture alike. Integral images are kept with the rows (of the table) side by side, so that a feature is a sum of six to
nine long vectors. All sums of whole-numbered pixels are exact, so that windows and patches give the same bits.

References
----------
.. [viola2004] P. Viola, M. J. Jones, "Robust real-time face detection", International Journal of Computer Vision 57
   (2004) 137-154, §2.1 and §5.1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Protocol, Self

import numpy as np
from scipy.sparse import csr_array

from skewboost.engine.computed import PART, ComputedTable
from skewboost.errors import InputError
from skewboost.fitting import KeepsNoCaches
from skewboost.typing import Array

_BLOCK = 1024  # rows whose integral images are computed together
_MOST_PARTS = 64  # sets of features whose factors are kept
FLAT = 1e-12  # a variance below this fraction of the mean square is due to rounding


class Pixels(Protocol):
    """The pixels of rows as integral images."""

    part: ClassVar[int]  # rows that are scored together

    @property
    def shape(self) -> tuple[int, int]:
        """The height and width of the image of a row."""

    def __len__(self) -> int:
        """Return the number of rows."""

    @property
    def source(self) -> Array:
        """What is known of each row."""

    @property
    def deviations(self) -> Array:
        """The standard deviation of the pixels of each row; 1 if all are equal."""

    def combined(self, sums: Sums) -> Array:
        """Return weighted sums of the corners of the integral images, ``[sum, row]``."""

    def take(self, rows: Array) -> Pixels:
        """Return the rows of these numbers."""


def integral(pixels: Array) -> Array:
    """Replace pixels ``[y, x, ...]`` by the sums over those above and to the left, themselves included."""
    for y in range(1, pixels.shape[0]):
        pixels[y] += pixels[y - 1]
    for x in range(1, pixels.shape[1]):
        pixels[:, x] += pixels[:, x - 1]
    return pixels


def deviations(total: Array, squares: Array, n: int) -> Array:
    """Return standard deviations from sums over n pixels and over their squares; 1 where all pixels are equal."""
    variance = n * squares - total * total  # times n², and exact for whole numbers
    return np.where(variance > FLAT * n * squares, np.sqrt(np.maximum(variance, 0.0)) / n, 1.0)


@dataclass
class Patches(KeepsNoCaches):
    """Rows that are images of their own."""

    pixels: Array  # [row, pixel]
    shape: tuple[int, int]
    part: ClassVar[int] = PART

    def __len__(self) -> int:
        return len(self.pixels)

    @property
    def source(self) -> Array:
        """The pixels."""
        return self.pixels

    @cached_property
    def _images(self) -> tuple[Array, Array]:
        """The integral images, ``[corner, row]``, and the standard deviations of the pixels.

        They are of the pixels less the first one, so that sums of equal pixels are 0 without rounding. In a block of
        rows that fits into the cache, sums are taken in one order, however many rows there are.
        """
        height, width = self.shape
        sums, squares = np.zeros((height + 1, width + 1, len(self))), np.zeros(len(self))
        for start in range(0, len(self), _BLOCK):
            rows = slice(start, start + _BLOCK)
            relative = self.pixels[rows].T.astype(np.float64, order="C")
            relative -= relative[0].copy()
            for pixel in relative:
                squares[rows] += pixel * pixel
            sums[1:, 1:, rows] = integral(relative.reshape(height, width, -1))
        flat = sums.reshape(-1, len(self))
        return flat, deviations(flat[-1], squares, height * width)

    @property
    def sums(self) -> Array:
        """The integral images, ``[corner, row]``."""
        return self._images[0]

    @property
    def deviations(self) -> Array:
        """The standard deviation of the pixels of each row; 1 if all are equal."""
        return self._images[1]

    def combined(self, sums: Sums) -> Array:
        """Return weighted sums of the corners, ``[sum, row]``."""
        return np.asarray(sums.factors @ self.sums)

    def take(self, rows: Array) -> Pixels:
        """Return the rows of these numbers; integral images that are known are not computed again."""
        if "_images" in self.__dict__:
            return Selected(self, rows)
        one_block = len(rows) > 1 and bool((np.diff(rows) == 1).all())  # which need not be copied
        return Patches(self.pixels[rows[0] : rows[-1] + 1] if one_block else self.pixels[rows], self.shape)


@dataclass
class Selected:
    """Some of the rows of patches whose integral images are known."""

    patches: Patches
    rows: Array
    part: ClassVar[int] = PART

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def shape(self) -> tuple[int, int]:
        """The height and width of the image of a row."""
        return self.patches.shape

    @property
    def source(self) -> Array:
        """The pixels."""
        return np.asarray(self.patches.pixels[self.rows])

    @property
    def deviations(self) -> Array:
        """The standard deviation of the pixels of each row; 1 if all are equal."""
        return np.asarray(self.patches.deviations[self.rows])

    def combined(self, sums: Sums) -> Array:
        """Return weighted sums of the corners, ``[sum, row]``."""
        used, own = sums.gathered
        return np.asarray(own @ self.patches.sums[used[:, None], self.rows])

    def take(self, rows: Array) -> Selected:
        """Return the rows of these numbers."""
        return Selected(self.patches, self.rows[rows])


class Picture:
    """A picture with its integral images, of the pixels and of their squares."""

    def __init__(self, pixels: Array) -> None:
        relative = pixels.astype(np.float64)
        relative -= relative[0, 0]
        self.pixels = pixels
        self.sums, self.squares = (np.pad(integral(own), ((1, 0), (1, 0))) for own in (relative, relative**2))


@dataclass
class Windows:
    """Rows that are windows of a picture, whose integral image they share."""

    picture: Picture
    shape: tuple[int, int]
    places: Array  # the top and left of each window
    part: ClassVar[int] = 1 << 15  # nothing is kept for them

    def __len__(self) -> int:
        return len(self.places)

    @property
    def source(self) -> Array:
        """The pixels."""
        height, width = self.shape
        y = self.places[:, 0, None] + np.arange(height)
        x = self.places[:, 1, None] + np.arange(width)
        return self.picture.pixels[y[:, :, None], x[:, None, :]].reshape(len(self), -1)

    @cached_property
    def deviations(self) -> Array:
        """The standard deviation of the pixels of each row; 1 if all are equal."""
        height, width = self.shape
        start, below = self._starts, height * self.picture.sums.shape[1]

        def total(sums: Array) -> Array:
            flat = sums.ravel()
            lower = flat[start + (below + width)] - flat[start + below]
            return np.asarray(lower - (flat[start + width] - flat[start]))

        return deviations(total(self.picture.sums), total(self.picture.squares), height * width)

    @cached_property
    def _starts(self) -> Array:
        """Where in the integral image the top left corner of each window is."""
        top, left = self.places.T
        return np.asarray(top * self.picture.sums.shape[1] + left)

    def combined(self, sums: Sums) -> Array:
        """Return weighted sums of the corners, ``[sum, row]``."""
        used, own = sums.gathered
        y, x = np.divmod(used, self.shape[1] + 1)
        corners = y * self.picture.sums.shape[1] + x
        found, flat = np.empty((own.shape[0], len(self))), self.picture.sums.ravel()
        for first in range(0, len(self), _BLOCK):  # whose corners stay in the cache
            rows = slice(first, first + _BLOCK)
            found[:, rows] = own @ flat[corners[:, None] + self._starts[rows]]
        return found

    def take(self, rows: Array) -> Windows:
        """Return the rows of these numbers; what is known of them is not computed again."""
        made = Windows(self.picture, self.shape, self.places[rows])
        for name in ("deviations", "_starts"):
            if name in self.__dict__:
                made.__dict__[name] = self.__dict__[name][rows]
        return made


class Sums:
    """Weighted sums of corners of an integral image: the matrix of the factors, ``[sum, corner]``."""

    def __init__(self, factors: csr_array) -> None:
        self.factors = factors

    @cached_property
    def gathered(self) -> tuple[Array, csr_array]:
        """The corners that are used, and the matrix for these alone."""
        own = self.factors
        used, places = np.unique(own.indices, return_inverse=True)
        return used, csr_array((own.data, places, own.indptr), shape=(own.shape[0], len(used)))


class Factors:
    """The matrix that makes features of integral images, ``[feature, corner]``, and parts of it that are used often."""

    def __init__(self, matrix: csr_array) -> None:
        self.matrix = matrix
        self._parts: dict[bytes, Sums] = {}

    def of(self, features: Array) -> Sums:
        """Return the sums of some features; to select them takes as long as to compute them for a thousand images."""
        key = features.tobytes()
        if key not in self._parts:
            if len(self._parts) >= _MOST_PARTS:
                self._parts.clear()
            self._parts[key] = Sums(csr_array(self.matrix[features]))
        return self._parts[key]

    def equal(self, other: Factors) -> bool:
        """Return whether others make the same features."""
        own, its = self.matrix, other.matrix
        return own is its or (
            own.shape == its.shape
            and all(np.array_equal(getattr(own, k), getattr(its, k)) for k in ("indptr", "indices", "data"))
        )


class HaarTable(ComputedTable):
    """The rectangle features of rows: weighted sums of corners of integral images."""

    def __init__(self, pixels: Pixels, factors: Factors, normalize: bool) -> None:
        self._pixels, self._factors, self._normalize = pixels, factors, normalize
        self.part = pixels.part

    @property
    def shape(self) -> tuple[int, int]:
        """The number of rows and features."""
        return len(self._pixels), self._factors.matrix.shape[0]

    @property
    def source(self) -> Array:
        """The pixels of each row."""
        return self._pixels.source

    def compute(self, features: Array) -> Array:
        """Return some features, ``[row, feature]``."""
        cells = self._pixels.combined(self._factors.of(features))
        if self._normalize:
            cells /= self._pixels.deviations
        return cells.T

    def __getitem__(self, key: Any) -> Any:
        """Return rows as a table, or cells as an array, as NumPy does; rows and columns cannot both be lists."""
        if isinstance(key, tuple) and len(key) == 2 and all(np.ndim(part) > 0 for part in key):
            raise InputError(
                "Rows and columns are both given as lists, of which an array would make pairs.",
                "Select the columns of some rows by table[rows][:, columns].",
            )
        return super().__getitem__(key)

    def take(self, rows: Array) -> Self:
        """Return a table of the rows of these numbers."""
        return type(self)(self._pixels.take(rows), self._factors, self._normalize)

    def followed_by(self, others: Sequence[Any]) -> Self | None:
        """Return a table of these rows and those of others, as images of their own; windows are cut out."""
        for other in others:
            if not isinstance(other, HaarTable) or other._normalize != self._normalize:
                return None
            if other._pixels.shape != self._pixels.shape or not other._factors.equal(self._factors):
                return None
        pixels = np.concatenate([self.source, *(other.source for other in others)])
        return type(self)(Patches(pixels, self._pixels.shape), self._factors, self._normalize)
