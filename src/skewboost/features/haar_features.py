"""Haar-like rectangle features of grey images, behind scikit-learn's interface."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from math import isqrt
from typing import Any, Literal, Self

import numpy as np
from scipy.sparse import csr_array, vstack
from sklearn import get_config
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from skewboost.errors import InputError, checked_by_scikit_learn
from skewboost.features.haar_table import Factors, HaarTable, Patches, Picture, Windows
from skewboost.features.rectangles import COLUMNS, KINDS, Grid, corner_sums, parts_of
from skewboost.parameters import Check, check_arguments, check_params, either, integer, one_of, optional
from skewboost.typing import Array

MOST = 4_000_000  # features
LARGEST = 1e140  # of pixels, so that the sum of their squares is finite
SHAPE = Check(
    lambda value: (
        isinstance(value, tuple | list) and len(value) == 2 and all(integer(1).passes(side) for side in value)
    ),
    "a pair (height, width) of integers >= 1",
)
NAMES = Check(
    lambda value: (
        isinstance(value, tuple | list)
        and all(isinstance(name, str) and name in KINDS for name in value)
        and 0 < len(value) == len(set(value))
    ),
    f"a list of some of {', '.join(map(repr, KINDS))}, each once",
)


@dataclass(eq=False, repr=False)
class HaarFeatures(TransformerMixin, BaseEstimator):
    r"""Haar-like rectangle features of grey images [papageorgiou1998]_, as for the detection of faces [viola2004]_.

    A feature is the sum of the pixels in some rectangles, less that in others next to them. There are five kinds: two
    or three rectangles beside each other (``two_horizontal``: right minus left; ``three_horizontal``: twice the middle
    minus both sides) or below each other (``two_vertical``, ``three_vertical``), and ``four`` in two rows, of which the
    top left and bottom right ones count positively. All rectangles of a feature have one size. As the middle of three
    counts twice, every feature is 0 on an image of one grey level. There is a feature of each kind at each position in
    each size: 63 960 in images of 19 x 19 pixels, and 162 336 in those of 24 x 24.

    With `normalize`, features are divided by the standard deviation :math:`\sigma` of the pixels of their image, as in
    [viola2004]_ §5.1, so that neither brightness nor contrast change them. An image of one grey level has :math:`\sigma
    = 0`; all its features are 0.

    `transform` returns a table whose columns are computed when they are read. The classifiers of this library read it a
    block of columns at a time, bin it to one byte per cell, and to predict they compute the columns that the model
    tests. Everything else sees an array: ``np.asarray(table)`` has all columns as doubles.

    Parameters
    ----------
    image_shape : (int, int) or None, default=None
        The height and width of the images, whose pixels are the columns of X, row by row. None: square if the number of
        columns is a square number, and a single row of pixels if not.
    kinds : "all" or list of str, default="all"
        The kinds of features: some of ``"two_horizontal"``, ``"two_vertical"``, ``"three_horizontal"``,
        ``"three_vertical"`` and ``"four"``.
    min_size : int, default=1
        The smallest height and width of a rectangle, in pixels. With 2, 19 x 19 pixels have 43 488 features.
    size_step : int, default=1
        By how many pixels the sides of rectangles grow.
    step : int, default=1
        The distance of neighbouring positions, in pixels.
    normalize : bool, default=True
        Whether features are divided by the standard deviation of the pixels of the image.
    output : {"lazy", "array"}, default="lazy"
        Whether `transform` returns a table that is computed when it is read, or an array. With ``set_output`` it is a
        table of that library.

    Attributes
    ----------
    image_shape_ : tuple of int
        The height and width of the images.
    n_features_out_ : int
        The number of features.
    features_ : dict of arrays
        The kind, top, left, height and width of each feature, as a table: ``pandas.DataFrame(haar.features_)``.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    References
    ----------
    .. [papageorgiou1998] C. P. Papageorgiou, M. Oren, T. Poggio, "A general framework for object detection",
       International Conference on Computer Vision (1998) 555-562.
    .. [viola2004] P. Viola, M. J. Jones, "Robust real-time face detection", International Journal of Computer Vision 57
       (2004) 137-154.

    Examples
    --------
    Bright bars on a dark ground, upright or lying:

    >>> import numpy as np
    >>> from sklearn.pipeline import make_pipeline
    >>> from skewboost import RealBoostClassifier
    >>> from skewboost.features import HaarFeatures
    >>> rng = np.random.default_rng(0)
    >>> images, upright = rng.normal(size=(200, 8, 8)), np.arange(200) % 2
    >>> for image, up, at in zip(images, upright, rng.integers(1, 6, 200)):
    ...     (image[:, at] if up else image[at])[:] += 2
    >>> X = images.reshape(200, -1)
    >>> clf = make_pipeline(HaarFeatures(), RealBoostClassifier(n_estimators=20)).fit(X[:100], upright[:100])
    >>> clf.score(X[100:], upright[100:])
    0.98
    """

    image_shape: tuple[int, int] | None = None
    _: KW_ONLY
    kinds: Any = "all"
    min_size: int = 1
    size_step: int = 1
    step: int = 1
    normalize: bool = True
    output: Literal["lazy", "array"] = "lazy"

    @checked_by_scikit_learn()
    def fit(self, X: Any, y: Any = None) -> Self:
        """Find out the shape of the images, and list the features.

        Parameters
        ----------
        X : array-like of shape (n_images, n_pixels)
            Grey images of one size, each as a row of pixels.
        y : None
            Ignored.

        Returns
        -------
        self
        """
        self._check_params()
        _check_flat(X)
        X = _checked(validate_data(self, X, reset=True), "X")
        shape = self._shape(X.shape[1])
        grid = Grid(shape, self.min_size, self.size_step, self.step)
        kinds = list(KINDS) if isinstance(self.kinds, str) else list(self.kinds)
        n = grid.count(kinds)
        if not n:
            raise InputError(
                f"Images of {shape[0]} x {shape[1]} pixels (n_features = {X.shape[1]}) have none of the features asked "
                "for.",
                "Pass larger images, set image_shape, allow other kinds, or a smaller min_size.",
            )
        if n > MOST:
            raise InputError(
                f"Images of {shape[0]} x {shape[1]} pixels have {n} features, more than {MOST}.",
                "Set a larger step, size_step or min_size, fewer kinds, or scale the images down.",
            )
        boxes = [grid.boxes(kind) for kind in kinds]
        self.image_shape_ = shape
        self.n_features_out_ = n
        of_kind = np.repeat(np.array(kinds), [len(own) for own in boxes])
        self.features_ = {"kind": of_kind, **dict(zip(COLUMNS, np.concatenate(boxes).T))}
        parts = [corner_sums(kind, own, shape) for kind, own in zip(kinds, boxes) if len(own)]
        self._factors = Factors(csr_array(vstack(parts, format="csr")))
        return self

    def _check_params(self) -> None:
        check_params(
            self,
            image_shape=optional(SHAPE),
            kinds=either(one_of("all"), NAMES),
            min_size=integer(1),
            size_step=integer(1),
            step=integer(1),
            normalize=one_of(True, False),
            output=one_of("lazy", "array"),
        )

    def _shape(self, n_pixels: int) -> tuple[int, int]:
        """Return the height and width of images of so many pixels."""
        if self.image_shape is None:
            side = isqrt(n_pixels)
            return (side, side) if side * side == n_pixels else (1, n_pixels)
        height, width = map(int, self.image_shape)
        if height * width != n_pixels:
            raise InputError(
                f"image_shape={self.image_shape!r} has {height * width} pixels, but X has {n_pixels} columns.",
                "Set the height and width of the images, or leave it at None for square ones.",
            )
        return height, width

    @checked_by_scikit_learn()
    def transform(self, X: Any) -> Any:
        """Return the features of images.

        Parameters
        ----------
        X : array-like of shape (n_images, n_pixels)
            Grey images, each as a row of pixels.

        Returns
        -------
        table or ndarray of shape (n_images, n_features_out_)
            See `output`.
        """
        check_is_fitted(self)
        _check_flat(X)
        X = _checked(validate_data(self, X, reset=False), "X")
        table = self._table(Patches(X, self.image_shape_))
        container = getattr(self, "_container", None) or get_config()["transform_output"]
        return table if self.output == "lazy" and container == "default" else np.asarray(table)

    def windows(self, picture: Any, step: int = 1) -> tuple[HaarTable, Array]:
        """Return the features of all windows of a picture, without cutting them out.

        The sums over rectangles are read from the integral image of the picture, so that windows that overlap share
        them. If pixels are whole numbers, features have the same bits as those of the windows as images of their own.

        Parameters
        ----------
        picture : array-like of shape (height, width)
            Grey levels; at least as high and wide as the images of training.
        step : int, default=1
            The distance of neighbouring windows, in pixels.

        Returns
        -------
        table : table of shape (n_windows, n_features_out_)
            Features that are computed when they are read, to be passed to the classifier.
        places : ndarray of shape (n_windows, 2)
            The top and left of each window.
        """
        check_is_fitted(self)
        check_arguments(step=(step, integer(1)))
        if len(getattr(picture, "shape", ())) == 3:
            raise InputError(
                f"picture has the shape {picture.shape}: a picture in colours?",
                "Pass its grey levels, such as picture.mean(axis=2).",
            )
        with checked_by_scikit_learn():
            pixels = _checked(check_array(picture, input_name="picture"), "picture")
        height, width = self.image_shape_
        if pixels.shape[0] < height or pixels.shape[1] < width:
            raise InputError(
                f"picture has {pixels.shape[0]} x {pixels.shape[1]} pixels, and windows have {height} x {width}.",
                "Pass a larger picture.",
            )
        tops, lefts = (np.arange(0, n - side + 1, step) for n, side in zip(pixels.shape, self.image_shape_))
        places = np.stack(np.meshgrid(tops, lefts, indexing="ij"), axis=-1).reshape(-1, 2)
        return self._table(Windows(Picture(pixels), self.image_shape_, places)), places

    def _table(self, pixels: Patches | Windows) -> HaarTable:
        return HaarTable(pixels, self._factors, bool(self.normalize))

    def rectangles(self, feature: int) -> list[tuple[int, int, int, int, int]]:
        """Return the rectangles of a feature, for drawing.

        Parameters
        ----------
        feature : int
            The number of a column of the output.

        Returns
        -------
        list of tuple
            The factor of the pixels, the top, left, height and width of each rectangle.
        """
        check_is_fitted(self)
        check_arguments(feature=(feature, integer(0)))
        if feature >= self.n_features_out_:
            raise InputError(
                f"feature={feature} is not among the {self.n_features_out_} features.",
                f"Pass a number up to {self.n_features_out_ - 1}.",
            )
        return parts_of(str(self.features_["kind"][feature]), [self.features_[name][feature] for name in COLUMNS])

    def get_feature_names_out(self, input_features: Sequence[str] | None = None) -> Array:
        """Return names such as ``two_horizontal_y3_x0_4x6``: kind, top, left, height and width.

        Parameters
        ----------
        input_features : array-like of str or None, default=None
            The names of the pixels, which have no effect on those of the features.

        Returns
        -------
        ndarray of str
        """
        check_is_fitted(self)
        if input_features is not None:
            self._check_names(np.asarray(input_features, dtype=object))
        columns = (self.features_[name].tolist() for name in ("kind", *COLUMNS))
        return np.array([f"{kind}_y{y}_x{x}_{h}x{w}" for kind, y, x, h, w in zip(*columns)], dtype=object)

    def _check_names(self, names: Array) -> None:
        known = getattr(self, "feature_names_in_", None)
        if known is not None and not np.array_equal(names, known):
            raise InputError("input_features is not equal to feature_names_in_.", "Leave it out.")
        if len(names) != self.n_features_in_:
            raise InputError(
                f"input_features should have length equal to number of features ({self.n_features_in_}), got "
                f"{len(names)}.",
                "Leave it out.",
            )

    # --------------------------------------------------- containers of other libraries, which read arrays only

    def set_output(self, *, transform: Any = None) -> Self:
        """Set the container of the output, as for all transformers of scikit-learn."""
        if transform is not None:
            self._container = transform
        super().set_output(transform=transform)
        return self

    def __sklearn_clone__(self) -> Self:
        made: Self = super().__sklearn_clone__()
        if hasattr(self, "_container"):
            made._container = self._container
        return made


def _check_flat(X: Any) -> None:
    shape: tuple[int, ...] = tuple(getattr(X, "shape", ()))
    if len(shape) > 2:
        remedy = "Pass a row of pixels for each: X.reshape(len(X), -1)."
        if len(shape) > 3 or shape[1] != shape[2]:
            remedy = "Pass a row of grey levels for each: X.reshape(len(X), -1), and image_shape."
        raise InputError(f"X has the shape {shape}: images that are no rows?", remedy)


def _checked(pixels: Array, name: str) -> Array:
    if pixels.dtype.kind == "f" and float(np.abs(pixels).max()) > LARGEST:  # single precision cannot hold the bound
        raise InputError(f"{name} has pixels above {LARGEST:g}, which cannot be squared and added.", "Scale them.")
    return pixels
