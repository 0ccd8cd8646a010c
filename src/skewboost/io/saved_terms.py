"""What rounds add: leaves of partitions, lines, and classifiers of this package."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from skewboost.boosting.model import Round
from skewboost.engine.boundary import ABSTAIN, LEFT, MISSING, N_CODES, RIGHT, Split
from skewboost.engine.growing_alternating import REST, AlternatingPartition
from skewboost.engine.partition import Partition
from skewboost.engine.scoring import LeafTerm, LineTerm
from skewboost.io.saved_fields import ANY_MODEL, MOST_FEATURES
from skewboost.io.schema import (
    DefectError,
    Field,
    Floats,
    Integer,
    Integers,
    ListOf,
    MapOf,
    Maybe,
    Number,
    OneOf,
    Record,
    require,
)
from skewboost.learners.adapter import ClassifierTerm
from skewboost.learners.probabilities import ProbabilityTerm, as_it_is, half_log_odds, mean_label
from skewboost.typing import Array

FEATURE = Integer(0, MOST_FEATURES)


class Runs:
    """A byte per code, as runs: a value, how often it comes, the next value, …"""

    _numbers = Integers(0, N_CODES)

    def write(self, value: Array) -> Any:
        """Values and lengths in turn."""
        starts = np.append(0, 1 + np.flatnonzero(np.diff(value)))
        lengths = np.diff(np.append(starts, len(value)))
        return np.column_stack((value[starts], lengths)).ravel().tolist()

    def read(self, data: Any, at: str) -> Array:
        """All codes."""
        runs = self._numbers.read(data, at)
        require(len(runs) % 2 == 0 and runs[1::2].sum() == N_CODES, f"must be runs of {N_CODES} codes in total", at)
        require((runs[::2] < N_CODES).all(), f"must hold values below {N_CODES}", at)
        return np.repeat(runs[::2], runs[1::2]).astype(np.uint8)


def _check_split(split: Split) -> None:
    t = split.threshold
    agree = t < 0 or ((split.child[: t + 1] == LEFT).all() and (split.child[t + 1 : MISSING] == RIGHT).all())
    require(agree and split.child[MISSING] <= (ABSTAIN if t >= 0 else MISSING), "does not go with threshold", "child")


SPLIT = Record(
    Split,
    {
        "feature": FEATURE,
        "threshold": Integer(-1, MISSING - 1),
        "child": Runs(),
        "polarity": Integer(-1, 1),
        "value": Number(finite=False),
        "before": Number(finite=False),
    },
    check=_check_split,
)


def _check_links(partition: Partition) -> None:
    """Parents come before their children, each of which has one; so there is neither a cycle nor a loose end."""
    splits, links = partition.splits, partition.links
    require(len(splits) == len(links), "must have an entry for each of splits", "links")
    require(splits or partition.n_leaves == 1, "must be 1 without splits", "n_leaves")
    for k, (split, own) in enumerate(zip(splits, links)):
        require(split.child.max() < len(own), "leads nowhere", f"splits[{k}].child")
        forward = all(k < link < len(splits) or -partition.n_leaves <= link < 0 for link in own)
        require(forward, "must lead to later splits or to leaves", f"links[{k}]")
        if len(splits) > 1:
            two = 2 <= len(own) <= 3 and split.child.max() <= ABSTAIN
            two &= (split.child != ABSTAIN).all() or split.child[MISSING] == ABSTAIN  # what scoring takes for granted
            require(two, "must have two sides, and one more for what is missing", f"splits[{k}].child")
    reached = Counter(link for own in links for link in own if link >= 0)
    require(reached == Counter(range(1, len(splits))), "must lead to every split but the first once", "links")


def _check_partition(partition: Partition) -> None:
    _check_links(partition)
    leaves = [~link for own in partition.links for link in own if link < 0]  # all of them below n_leaves
    whole = not partition.splits or len(leaves) == len(set(leaves)) == partition.n_leaves
    require(whole, "must lead to every leaf once", "links")
    known = partition.covers is not None
    require(known or len(partition.splits) < 2, "must be known for trees", "covers")
    require(not known or len(partition.covers) == partition.n_leaves, "must have an entry per leaf", "covers")  # type: ignore[arg-type]


def _check_alternating(partition: AlternatingPartition) -> None:
    require(partition.splits, "must not be empty", "splits")
    require(partition.n_leaves == 3, "must be 3", "n_leaves")
    _check_links(partition)
    *chain, last = partition.links
    require(last == (~LEFT, ~RIGHT, ~REST), "must end in the three leaves", "links")
    steps = all(
        len(own) == 3 and k + 1 in own[:2] and sum(link != ~REST for link in own) == 1 for k, own in enumerate(chain)
    )
    require(steps, "must be one way to the last split", "links")
    covers, n = partition.covers, len(partition.splits)
    require(covers is not None and len(covers) == n + 2, "must have an entry per split, and two more", "covers")
    require((covers[:n] > 0).all(), "must be above 0 at splits", "covers")  # type: ignore[index]


_PARTITION: dict[str, Field] = {
    "splits": ListOf(SPLIT, tuple),
    "links": ListOf(ListOf(Integer(-(2**31), 2**31), tuple), tuple),
    "n_leaves": Integer(1, 2**31),
    "covers": Maybe(Floats(low=0.0)),
}
PARTITION = OneOf(
    {
        "partition": Record(Partition, _PARTITION, check=_check_partition),
        "alternating": Record(
            AlternatingPartition, {**_PARTITION, "precondition": Integer()}, check=_check_alternating
        ),
    },
    "a partition",
)


def _check_leaves(term: LeafTerm) -> None:
    require(len(term.values) == term.partition.n_leaves, "must have an entry per leaf", "values")


_LINE: dict[str, Field] = {
    "feature": FEATURE,
    "rise": Number(),
    "height": Number(),
    "centre": Number(),
    "scale": Number(0.0, above=True),
}


def classes_are_numbers(model: Any, n: int) -> None:
    """A classifier that a round has fitted knows classes by their numbers, which are below n."""
    classes = model.classes_
    require(
        classes.dtype.kind in "iu" and classes.min() >= 0 and classes.max() < n,
        f"must be below {n}",
        "estimator.classes",
    )


def _check_classifier(term: ClassifierTerm) -> None:
    classes_are_numbers(term.estimator, len(term.values))


LINKS = {"half_log_odds": half_log_odds, "mean_label": mean_label, "as_it_is": as_it_is}


class LinkField:
    """What is made of a probability, by name."""

    def write(self, value: Any) -> Any:
        """Its name."""
        return next(name for name, link in LINKS.items() if link is value)

    def read(self, data: Any, at: str) -> Any:
        """One of those there are."""
        if type(data) is not str or data not in LINKS:
            raise DefectError(f"must be one of {', '.join(map(repr, LINKS))}", at)
        return LINKS[data]


class Values:
    """A number per leaf, or a list of numbers where there are several outputs."""

    _one, _several = Floats(), Floats(2)

    def write(self, value: Array) -> Any:
        """By the number of dimensions."""
        return (self._one if value.ndim == 1 else self._several).write(value)

    def read(self, data: Any, at: str) -> Array:
        """A list, or a table."""
        return (self._several if type(data) is dict else self._one).read(data, at)


TERM = OneOf(
    {
        "leaves": Record(LeafTerm, {"partition": PARTITION, "values": Values()}, check=_check_leaves),
        "line": Record(LineTerm, _LINE),
        "classifier": Record(ClassifierTerm, {"estimator": ANY_MODEL, "values": Values()}, check=_check_classifier),
        "probability": Record(
            ProbabilityTerm,
            {"estimator": ANY_MODEL, "margin": Number(0.0, 0.5, above=True), "link": LinkField(), "scale": Number()},
            check=lambda term: classes_are_numbers(term.estimator, 2),
        ),
    },
    "what a round adds,",
)


class Sparse:
    """Numbers of which most are zero: how many, where, which."""

    _fields = Record(dict, {"n": Integer(0, MOST_FEATURES), "at": Integers(0, MOST_FEATURES), "values": Floats()}, dict)

    def write(self, value: Any) -> Any:
        """Those that are not zero."""
        array = np.asarray(value, dtype=np.float64)
        at = np.flatnonzero(array)
        return {"n": len(array), "at": at.tolist(), "values": array[at].tolist()}

    def read(self, data: Any, at: str) -> Array:
        """All of them."""
        told = self._fields.read(data, at)
        where = told["at"]
        fits = len(where) == len(told["values"]) and (np.diff(where) > 0).all() and (where < told["n"]).all()
        require(fits, "must have a place below n for each value, in order", at)
        found = np.zeros(told["n"])
        found[where] = told["values"]
        return found


_RECORD = MapOf(Number(finite=False, whole=True))
ROUND = Record(Round, {"term": TERM, "record": _RECORD, "importances": Maybe(Sparse())})
