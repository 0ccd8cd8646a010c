"""What estimators that fit other estimators have in common."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from sklearn.base import clone


def seeded(estimator: Any, draw: Callable[[], int], anew: bool = False) -> Any:
    """A clone with seeds that `draw` gives, one for each `random_state` that is None (`anew`: for every one)."""
    made = clone(estimator)
    names = sorted(k for k, v in made.get_params().items() if k.endswith("random_state") and (anew or v is None))
    return made.set_params(**{name: draw() for name in names})


@contextmanager
def all_or_nothing(estimator: Any) -> Iterator[None]:
    """If something goes wrong, the estimator is as it was before."""
    before = dict(estimator.__dict__)
    try:
        yield
    except BaseException:
        estimator.__dict__.clear()
        estimator.__dict__.update(before)
        raise
