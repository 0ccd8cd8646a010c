"""What scores mean: the numbers of a link."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from skewboost.boosting.calibration import Isotonic, Sigmoid
from skewboost.boosting.link import Labels, ManyClasses, TwoClasses
from skewboost.io.schema import Flag, Floats, Integer, ListOf, Maybe, Number, OneOf, Record, require

_POSITIVE = Number(0.0, above=True)


def _check_isotonic(calibrator: Isotonic) -> None:
    fits = 0 < len(calibrator.scores) == len(calibrator.levels)
    require(fits, "must have a level for each score", "levels")
    require((np.diff(calibrator.scores) > 0).all(), "must rise", "scores")
    rising = (np.diff(calibrator.levels) >= 0).all() and calibrator.levels[-1] <= 1.0
    require(rising, "must rise, up to 1 at most", "levels")


CALIBRATOR = OneOf(
    {
        "sigmoid": Record(Sigmoid, {"slope": Number(), "intercept": Number()}),
        "isotonic": Record(
            Isotonic,
            {"scores": Floats(), "levels": Floats(low=0.0), "margin": Number(0.0, 0.5)},
            check=_check_isotonic,
        ),
    },
    "a calibrator",
)


class Calibrators:
    """Numbers of rounds, each with a calibrator."""

    _pairs = ListOf(Record(dict, {"n_rounds": Integer(1), "calibrator": CALIBRATOR}, dict))

    def write(self, value: Iterable[tuple[int, Any]]) -> Any:
        """One object for each."""
        return [{"n_rounds": n, "calibrator": CALIBRATOR.write(calibrator)} for n, calibrator in value]

    def read(self, data: Any, at: str) -> tuple[tuple[int, Any], ...]:
        """As pairs."""
        return tuple((pair["n_rounds"], pair["calibrator"]) for pair in self._pairs.read(data, at))


LINK = OneOf(
    {
        "two classes": Record(
            TwoClasses,
            {
                "scale": _POSITIVE,
                "offset": Number(),
                "cost_offset": Number(),
                "pending": Number(),
                "schedule": Maybe(Integer(1)),
                "damping": Number(0.0),
                "calibrators": Calibrators(),
                "cost_ratio": _POSITIVE,
                "positive": Integer(0, 1),
            },
        ),
        "many classes": Record(ManyClasses, {"costs": ListOf(_POSITIVE, tuple), "softmax": Flag()}),
        "labels": Record(Labels, {"cost_offsets": ListOf(Number(), tuple)}),
    },
    "a link",
)
