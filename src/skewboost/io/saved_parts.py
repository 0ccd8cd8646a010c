"""The parts of fitted models in files: bins, splits, rounds, links, calibrators, rules and certificates.

All of them are dataclasses, and files have the same attributes. Here is only what annotations do not say: attributes
with a shorter form in files, and what must hold between attributes.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from skewboost.boosting.calibration import Isotonic
from skewboost.boosting.link import Labels, ManyClasses, TwoClasses
from skewboost.boosting.model import Model, Round
from skewboost.engine.binning import MAX_BINS, Feature
from skewboost.engine.boundary import ABSTAIN, LEFT, MISSING, N_CODES, RIGHT, Split
from skewboost.engine.explaining import Spread, Support
from skewboost.engine.growing_alternating import REST, AlternatingPartition
from skewboost.engine.partition import Partition
from skewboost.engine.scoring import LeafTerm, LineTerm
from skewboost.goals.certificate import Certificate
from skewboost.goals.goal import Goal
from skewboost.goals.search import Point
from skewboost.io.structure import (
    ANY_NUMBER,
    Field,
    array,
    integer,
    list_of,
    map_of,
    name_of,
    nullable,
    number,
    one_of,
    read_entries,
    register,
    require,
)
from skewboost.learners.adapter import ClassifierTerm
from skewboost.learners.discretise import Categories, Intervals
from skewboost.learners.patterns import Events, Patterns
from skewboost.learners.probabilities import ProbabilityTerm, half_log_odds, identity, mean_label
from skewboost.metrics.counts import Counts
from skewboost.typing import Array

MOST_FEATURES = 2**20
MOST_CELLS = 2**19  # features times outputs: a loaded model has a table of 256 numbers for each
LARGEST_VALUE = 2.0**500  # of a leaf, so that sums and their multiples stay finite
LIST = array(ndim=(1,))
_INTEGERS = array("i", ndim=(1,))


def rises(values: Array) -> bool:
    """Whether every number is larger than the one before."""
    return bool((np.diff(values) > 0).all())


def is_share(value: float, most: float = 1.0) -> bool:
    """Whether a number is between 0 and the most it can be."""
    return 0.0 <= value <= most


# ----------------------------------------------------------------------------------- shorter forms in files


def _code_runs() -> Field:
    """One byte for each of the 256 codes, as runs: a value, how often it is repeated, the next value, and so on."""
    numbers = list_of(integer(0, N_CODES))

    def write(value: Array) -> Any:
        starts = np.append(0, 1 + np.flatnonzero(np.diff(value)))
        lengths = np.diff(np.append(starts, len(value)))
        return np.column_stack((value[starts], lengths)).ravel().tolist()

    def read(data: Any) -> Array:
        runs = numbers.read(data)
        values, lengths = runs[::2], runs[1::2]
        require(len(values) == len(lengths) and sum(lengths) == N_CODES, f"must be runs of {N_CODES} codes in total")
        require(max(values) < N_CODES, f"must hold values below {N_CODES}")
        return np.repeat(np.array(values, dtype=np.uint8), lengths)

    return Field(write, read)


def _sparse_numbers() -> Field:
    """Numbers of which most are zero: how many there are, and the places and values of the others."""
    places = integer(0, MOST_FEATURES)
    entries = {"n": places, "at": list_of(places), "values": LIST}

    def write(value: Any) -> Any:
        numbers = np.asarray(value, dtype=np.float64)
        at = np.flatnonzero(numbers)
        return {"n": len(numbers), "at": at.tolist(), "values": numbers[at].tolist()}

    def read(data: Any) -> Array:
        n, at, values = read_entries(data, entries).values()
        fits = len(at) == len(values) and rises(at) and all(place < n for place in at)
        require(fits, "must have a place below n for each value, in rising order")
        found = np.zeros(n)
        found[at] = values
        return found

    return Field(write, read)


def _code_counts() -> Field:
    """One number per feature and code. Each row starts with missing cells and ends with the last code in use."""
    rows_of = list_of(LIST)

    def write(value: Array) -> Any:
        return rows_of.write([np.append(row[MISSING], np.trim_zeros(row[:MISSING], "b")) for row in value])

    def read(data: Any) -> Array:
        rows = rows_of.read(data)
        require(len(rows) <= MOST_CELLS, f"must not have more than {MOST_CELLS} rows")
        found = np.zeros((len(rows), N_CODES))
        for row, own in zip(found, rows):
            require(1 <= len(own) <= N_CODES, f"must have 1 to {N_CODES} numbers in each row")
            row[MISSING], row[: len(own) - 1] = own[0], own[1:]
        require((found >= 0).all(), "must not hold negative numbers")
        return found

    return Field(write, read)


# ------------------------------------------------------------------------------------------ bins and counts


def _check_feature(feature: Feature) -> None:
    own = (feature.categories or ()) if feature.nominal else feature.cuts
    n_bins = max(1, len(own) + bool(feature.rest)) if feature.nominal else len(own) + 1
    require(feature.n_bins == n_bins, f"must be {n_bins}", "n_bins")
    require(n_bins <= MAX_BINS, f"must not be above {MAX_BINS}", "n_bins")
    require(rises(feature.cuts), "must rise", "cuts")
    require(not feature.nominal or not len(feature.cuts), "must be empty for a nominal feature", "cuts")
    require(feature.nominal or not feature.rest, "must be empty for a numeric feature", "rest")
    require(len({*own}) == len(own), "must not hold a value twice", "categories")
    require(feature.rest.isdisjoint(feature.categories or ()), "must not hold categories with a code", "rest")


def _check_spread(spread: Spread) -> None:
    arrays = (spread.known, spread.mean, spread.rest, spread.low, spread.high)
    require(len({array.shape for array in arrays}) == 1, "must have arrays of one length")
    require((spread.known >= 0).all(), "must not hold negative numbers", "known")


def _check_support(support: Support) -> None:
    require(support.n_examples > 0, "must be above 0", "n_examples")
    require(support.per_code is None or support.spread is None, "must be null where per_code is not", "spread")


register(Feature, _check_feature, cuts=LIST)
register(Spread, _check_spread, known=LIST, mean=LIST, rest=LIST, low=LIST, high=LIST)
register(Support, _check_support, per_code=nullable(_code_counts()))


# ------------------------------------------------------------------------------------- splits and partitions


def _check_split(split: Split) -> None:
    t = split.threshold
    require(0 <= split.feature < MOST_FEATURES, f"must be from 0 to {MOST_FEATURES - 1}", "feature")
    require(-1 <= t < MISSING, f"must be from -1 to {MISSING - 1}", "threshold")
    require(split.polarity in (-1, 0, 1), "must be -1, 0 or 1", "polarity")
    agree = t < 0 or ((split.child[: t + 1] == LEFT).all() and (split.child[t + 1 : MISSING] == RIGHT).all())
    require(agree and split.child[MISSING] <= (ABSTAIN if t >= 0 else MISSING), "does not match threshold", "child")


def _check_links(partition: Partition) -> None:
    """Parents come before their children, and each child has one parent. So there are no cycles and no loose ends."""
    splits, links, n_leaves = partition.splits, partition.links, partition.n_leaves
    require(
        1 <= n_leaves <= 2**31 and (splits or n_leaves == 1), "must be 1 without splits, and at least 1", "n_leaves"
    )
    require(len(splits) == len(links), "must have one entry per split", "links")
    for k, (split, own) in enumerate(zip(splits, links)):
        require(split.child.max() < len(own), "has a side without a link", f"splits[{k}].child")
        forward = all(k < link < len(splits) or -n_leaves <= link < 0 for link in own)
        require(forward, "must lead to later splits or to leaves", f"links[{k}]")
        if len(splits) > 1:
            two = 2 <= len(own) <= 3 and split.child.max() <= ABSTAIN
            two &= (split.child != ABSTAIN).all() or split.child[MISSING] == ABSTAIN  # scoring relies on it
            require(two, "must have two sides, and at most one more for missing cells", f"splits[{k}].child")
    reached = sorted(link for own in links for link in own if link >= 0)
    require(reached == list(range(1, len(splits))), "must lead to every split but the first once", "links")


def _check_partition(partition: Partition) -> None:
    _check_links(partition)
    leaves = [~link for own in partition.links for link in own if link < 0]
    whole = not partition.splits or len(leaves) == len(set(leaves)) == partition.n_leaves
    require(whole, "must lead to every leaf once", "links")
    covers = partition.covers
    require(covers is not None or len(partition.splits) < 2, "must not be null for a tree", "covers")
    fits = covers is None or (covers.shape == (partition.n_leaves,) and (covers >= 0).all())
    require(fits, "must have one number per leaf, none of them negative", "covers")


def _check_alternating(partition: AlternatingPartition) -> None:
    require(partition.splits, "must not be empty", "splits")
    require(partition.precondition >= 0, "must not be negative", "precondition")
    require(partition.n_leaves == 3, "must be 3", "n_leaves")
    _check_links(partition)
    *chain, last = partition.links
    require(last == (~LEFT, ~RIGHT, ~REST), "must end in the three leaves", "links")
    steps = all(
        len(own) == 3 and k + 1 in own[:2] and sum(link != ~REST for link in own) == 1 for k, own in enumerate(chain)
    )
    require(steps, "must be a single path to the last split", "links")
    covers, n = partition.covers, len(partition.splits)
    fits = covers is not None and covers.shape == (n + 2,) and (covers >= 0).all() and (covers[:n] > 0).all()
    require(fits, "must have a positive number per split and a number for each side of the last", "covers")


register(Split, _check_split, child=_code_runs(), value=ANY_NUMBER, before=ANY_NUMBER)
register(Partition, _check_partition)
register(AlternatingPartition, _check_alternating)


# ---------------------------------------------------------------------------------------------- rounds


def _estimator() -> Field:
    from skewboost.io.saved_estimators import ESTIMATOR  # which is made of these parts

    return ESTIMATOR


ANY_MODEL = Field(lambda value: _estimator().write(value), lambda data: _estimator().read(data))


def _check_values(values: Array) -> None:
    require((np.abs(values) <= LARGEST_VALUE).all(), f"must hold numbers of at most {LARGEST_VALUE:.3g}", "values")


def _check_leaves(term: LeafTerm) -> None:
    require(len(term.values) == term.partition.n_leaves, "must have an entry per leaf", "values")
    _check_values(term.values)


def _check_line(term: LineTerm) -> None:
    require(0 <= term.feature < MOST_FEATURES, f"must be from 0 to {MOST_FEATURES - 1}", "feature")
    require(term.scale > 0, "must be above 0", "scale")


def _check_class_numbers(estimator: Any, n: int) -> None:
    """The classes of a classifier that a round has fitted are integers below n."""
    classes = estimator.classes_
    fits = classes.dtype.kind in "iu" and classes.min() >= 0 and classes.max() < n
    require(fits, f"must be integers below {n}", "estimator.classes")


def _check_classifier(term: ClassifierTerm) -> None:
    _check_class_numbers(term.estimator, len(term.values))
    _check_values(term.values)


def _check_probability(term: ProbabilityTerm) -> None:
    require(0 < term.margin <= 0.5, "must be above 0 and at most 0.5", "margin")
    _check_class_numbers(term.estimator, 2)


def _check_model(model: Model) -> None:
    n_rounds, link = model.n_rounds, model.link
    require(min(1, len(model.rounds)) <= n_rounds <= len(model.rounds), "must not exceed the rounds", "n_rounds")
    shape = () if link.n_outputs == 1 else (link.n_outputs,)
    for k, r in enumerate(model.rounds):
        own = np.shape(getattr(r.term, "values", [0.0]))[1:]
        require(own == shape, "must have one column per output of the link", f"rounds[{k}].term.values")
    schedule = getattr(link, "schedule", None)
    require(schedule is None or n_rounds <= schedule, "must not be less than n_rounds", "link.schedule")


register(LeafTerm, _check_leaves, partition=one_of(Partition, AlternatingPartition))
register(LineTerm, _check_line)
register(ClassifierTerm, _check_classifier, estimator=ANY_MODEL)
register(
    ProbabilityTerm,
    _check_probability,
    estimator=ANY_MODEL,
    link=name_of({f.__name__: f for f in (half_log_odds, mean_label, identity)}),
)
register(
    Round,
    term=one_of(LeafTerm, LineTerm, ClassifierTerm, ProbabilityTerm),
    record=map_of(ANY_NUMBER),
    importances=nullable(_sparse_numbers()),
)
register(Model, _check_model, link=one_of(TwoClasses, ManyClasses, Labels), n_features=None, _scorers=None)


# --------------------------------------------------------------------------------- links and calibrators


def _check_isotonic(calibrator: Isotonic) -> None:
    scores, levels = calibrator.scores, calibrator.levels
    require(0 < len(scores) == len(levels), "must have one level per score", "levels")
    require(rises(scores), "must rise", "scores")
    require((np.diff(levels) >= 0).all() and levels[0] >= 0 and levels[-1] <= 1, "must rise from 0 to 1", "levels")
    require(is_share(calibrator.margin, 0.5), "must be from 0 to 0.5", "margin")


def _check_two_classes(link: TwoClasses) -> None:
    for name in ("scale", "cost_ratio"):
        require(getattr(link, name) > 0, "must be above 0", name)
    require(link.damping >= 0, "must not be negative", "damping")
    require(link.schedule is None or link.schedule > 0, "must be above 0", "schedule")
    require(link.positive in (0, 1), "must be 0 or 1", "positive")
    require(all(n_rounds > 0 for n_rounds, _ in link.calibrators), "must be for at least 1 round each", "calibrators")


def _check_many_classes(link: ManyClasses) -> None:
    require(all(cost > 0 for cost in link.costs), "must be above 0", "costs")


register(Isotonic, _check_isotonic, scores=LIST, levels=LIST)
register(TwoClasses, _check_two_classes)
register(ManyClasses, _check_many_classes)


# ----------------------------------------------------------------------------------------- rule learner


def _check_intervals(values: Intervals) -> None:
    require(rises(values.cuts), "must rise", "cuts")


def _check_categories(values: Categories) -> None:
    require(len(set(values.categories)) == len(values.categories), "must not hold a value twice", "categories")


def _check_events(events: Events) -> None:
    n = len(events.attribute)
    require(len(events.value) == len(events.probability) == n, "must have arrays of one length")
    for name in ("attribute", "value", "probability"):
        require((getattr(events, name) >= 0).all(), "must not hold negative numbers", name)


def _check_patterns(patterns: Patterns) -> None:
    n, order = patterns.events.shape
    require(order > 0 and (patterns.events >= 0).all(), "must hold numbers of events", "events")
    require(len(patterns.support) == n and (patterns.support >= 0).all(), "must have one number per pattern", "support")


_MATRIX = array(ndim=(2,))
register(Intervals, _check_intervals, cuts=LIST)
register(Categories, _check_categories)
register(Events, _check_events, attribute=_INTEGERS, value=_INTEGERS, probability=LIST)
register(
    Patterns,
    _check_patterns,
    events=array("i", ndim=(2,)),
    support=LIST,
    inside=_MATRIX,
    residual=_MATRIX,
    residual_rest=_MATRIX,
    strength=_MATRIX,
)


# ------------------------------------------------------------------------------------------------- goals


def _check_counts(counts: Counts) -> None:
    for name in ("tp", "fp", "fn", "tn"):
        require(getattr(counts, name) >= 0, "must not be negative", name)


def _check_certificate(certificate: Certificate) -> None:
    require(is_share(certificate.confidence), "must be from 0 to 1", "confidence")
    require(certificate.p_value >= 0, "must be at least 0", "p_value")


def _check_point(point: Point) -> None:
    require(point.costs is None or min(point.costs) > 0, "must be above 0", "costs")
    require(point.n_rounds is None or point.n_rounds > 0, "must be above 0", "n_rounds")
    require(point.rank, "must not be empty", "rank")


def _check_goal(goal: Goal) -> None:
    require(goal.conditions, "must not be empty", "conditions")


_NUMBER = number()
register(Goal, _check_goal)
register(Counts, _check_counts, tp=_NUMBER, fp=_NUMBER, fn=_NUMBER, tn=_NUMBER)
register(Certificate, _check_certificate, p_value=ANY_NUMBER, shown=map_of(ANY_NUMBER))
register(
    Point, _check_point, ratio=ANY_NUMBER, threshold=ANY_NUMBER, rank=list_of(ANY_NUMBER, tuple), curve=None
)  # fmt: skip
