"""The parts of fitted models in files: bins, splits, rounds, links, calibrators, rules and certificates.

All of them are dataclasses, and files have the same attributes. Here is only what annotations do not say: attributes
with a shorter form in files, and what must hold between attributes.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from skewboost.boosting.calibration import Calibrator, Isotonic, Sigmoid
from skewboost.boosting.link import Labels, ManyClasses, TwoClasses
from skewboost.boosting.model import Model, Round
from skewboost.engine.binning import MAX_BINS, Feature
from skewboost.engine.boundary import ABSTAIN, LEFT, MISSING, N_CODES, RIGHT, Split
from skewboost.engine.explaining import Spread, Support
from skewboost.engine.growing_alternating import REST, AlternatingPartition
from skewboost.engine.partition import Partition
from skewboost.engine.scoring import LeafTerm, LineTerm
from skewboost.goals.cascade_stages import Stage
from skewboost.goals.certificate import Certificate
from skewboost.goals.goal import Condition, Goal
from skewboost.goals.search import Point
from skewboost.io.structure import (
    ANY_NUMBER,
    COUNT,
    NOT_NEGATIVE,
    POSITIVE,
    Field,
    array,
    field_of,
    integer,
    list_of,
    map_of,
    name_of,
    nullable,
    number,
    one_of,
    read_entries,
    record,
    register,
    require,
    text,
    tuple_of,
)
from skewboost.learners.adapter import ClassifierTerm
from skewboost.learners.discretise import Categories, Intervals
from skewboost.learners.patterns import Events, Patterns
from skewboost.learners.probabilities import ProbabilityTerm, half_log_odds, identity, mean_label
from skewboost.metrics.counts import Counts, ReferralCounts
from skewboost.typing import Array

MOST_FEATURES = 2**20
MOST_CELLS = 2**19  # features times outputs: a loaded model has a table of 256 numbers for each
LARGEST_VALUE = 2.0**500  # of what is added up, so that sums and their multiples stay finite
LARGEST_COUNT = 2.0**100  # of examples; those of a fit sum to less than 10^18, and a forest has some hundred trees
NUMBERS = array(ndim=(1,))
VALUES = array(ndim=(1,), most=LARGEST_VALUE)
COUNTS = array(ndim=(1,), low=0, most=LARGEST_COUNT)
VALUE = number(-LARGEST_VALUE, LARGEST_VALUE)
MULTIPLE = number(above=0, high=LARGEST_VALUE)
RISING = array(ndim=(1,), rises=True)
FEATURE = integer(0, MOST_FEATURES - 1)


def check_size(n_features: int, n_outputs: int) -> None:
    """Raise unless the tables of a model, one for each feature and output, fit into memory."""
    fits = n_features * n_outputs <= MOST_CELLS
    require(fits, f"times the number of classes must not be above {MOST_CELLS}", "n_features_in")


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
    entries = {"n": places, "at": list_of(places), "values": VALUES}

    def write(value: Any) -> Any:
        numbers = np.asarray(value, dtype=np.float64)
        at = np.flatnonzero(numbers)
        return {"n": len(numbers), "at": at.tolist(), "values": numbers[at].tolist()}

    def read(data: Any) -> Array:
        n, at, values = read_entries(data, entries).values()
        fits = len(at) == len(values) and (np.diff(at) > 0).all() and all(place < n for place in at)
        require(fits, "must have a place below n for each value, in rising order")
        found = np.zeros(n)
        found[at] = values
        return found

    return Field(write, read)


def _code_counts() -> Field:
    """One number per feature and code. Each row starts with missing cells and ends with the last code in use."""
    rows_of = list_of(NUMBERS)

    def write(value: Array) -> Any:
        return rows_of.write([np.append(row[MISSING], np.trim_zeros(row[:MISSING], "b")) for row in value])

    def read(data: Any) -> Array:
        rows = rows_of.read(data)
        require(len(rows) <= MOST_CELLS, f"must not have more than {MOST_CELLS} rows")
        found = np.zeros((len(rows), N_CODES))
        for row, own in zip(found, rows):
            require(1 <= len(own) <= N_CODES, f"must have 1 to {N_CODES} numbers in each row")
            row[MISSING], row[: len(own) - 1] = own[0], own[1:]
        fits = ((found >= 0) & (found <= LARGEST_COUNT)).all()
        require(fits, f"must hold numbers from 0 to {LARGEST_COUNT:.3g}")
        return found

    return Field(write, read)


# ------------------------------------------------------------------------------------------ bins and counts


def _check_feature(feature: Feature) -> None:
    own = (feature.categories or ()) if feature.nominal else feature.cuts
    n_bins = max(1, len(own) + bool(feature.rest)) if feature.nominal else len(own) + 1
    if feature.shared:
        require(feature.ordered and len(feature.shared) == len(own), "must have a code for each category", "shared")
        require(0 < feature.n_bins < N_CODES, f"must be from 1 to {N_CODES - 1}", "n_bins")
        require(all(0 <= code < feature.n_bins for code in feature.shared), "must hold codes below n_bins", "shared")
    else:
        require(feature.n_bins == n_bins, f"must be {n_bins}", "n_bins")
    require(not feature.nominal or not len(feature.cuts), "must be empty for a nominal feature", "cuts")
    require(feature.nominal or not feature.rest, "must be empty for a numeric feature", "rest")
    require(feature.rest.isdisjoint(feature.categories or ()), "must not hold categories with a code", "rest")
    require(not feature.ordered or (feature.nominal and not feature.rest), "must be false", "ordered")


def _check_lengths(arrays: Any) -> None:
    require(len({len(array) for array in vars(arrays).values()}) == 1, "must have arrays of one length")


def _check_support(support: Support) -> None:
    require(support.per_code is None or support.spread is None, "must be null where per_code is not", "spread")
    known = np.zeros(1) if support.per_code is None else support.per_code.sum(axis=1)
    known = known if support.spread is None else support.spread.known
    fits = known.max(initial=0.0) <= 2.0 * support.n_examples  # it is at most equal, up to rounding
    require(fits, "must not be less than the examples with a known value", "n_examples")


register(
    Feature,
    _check_feature,
    cuts=RISING,
    categories=nullable(list_of(text(), tuple, distinct=True)),
    n_bins=integer(1, MAX_BINS),
)
register(Spread, _check_lengths, known=COUNTS, mean=NUMBERS, rest=NUMBERS, low=NUMBERS, high=NUMBERS)
register(
    Support, _check_support, n_examples=number(1 / LARGEST_COUNT, LARGEST_COUNT), per_code=nullable(_code_counts())
)


# ------------------------------------------------------------------------------------- splits and partitions


def _check_split(split: Split) -> None:
    t = split.threshold
    agree = t < 0 or ((split.child[: t + 1] == LEFT).all() and (split.child[t + 1 : MISSING] == RIGHT).all())
    require(agree and split.child[MISSING] <= (ABSTAIN if t >= 0 else MISSING), "does not match threshold", "child")


def _check_links(partition: Partition) -> None:
    """Parents come before their children, and each child has one parent. So there are no cycles and no loose ends."""
    splits, links, n_leaves = partition.splits, partition.links, partition.n_leaves
    require(splits or n_leaves == 1, "must be 1 without splits", "n_leaves")
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
    require(covers is None or len(covers) == partition.n_leaves, "must have one number per leaf", "covers")


def _check_alternating(partition: AlternatingPartition) -> None:
    require(partition.n_leaves == 3, "must be 3", "n_leaves")
    _check_links(partition)
    *chain, last = partition.links
    require(last == (~LEFT, ~RIGHT, ~REST), "must end in the three leaves", "links")
    steps = all(
        len(own) == 3 and k + 1 in own[:2] and sum(link != ~REST for link in own) == 1 for k, own in enumerate(chain)
    )
    require(steps, "must be a single path to the last split", "links")
    covers, n = partition.covers, len(partition.splits)
    fits = covers is not None and len(covers) == n + 2 and (covers[:n] > 0).all()
    require(fits, "must have a positive number per split and a number for each side of the last", "covers")
    assert covers is not None
    before = np.append(covers[:n], covers[n - 1])  # sums of weights may differ in their last digits
    require((covers[1:] <= before * (1.0 + 1e-9)).all(), "must not rise along the path", "covers")


register(
    Split,
    _check_split,
    feature=FEATURE,
    threshold=integer(-1, MISSING - 1),
    polarity=integer(-1, 1),
    child=_code_runs(),
    value=ANY_NUMBER,
    before=ANY_NUMBER,
)
_PARTITION = {"n_leaves": integer(1, 2**31), "covers": nullable(COUNTS)}
register(Partition, _check_partition, **_PARTITION)
register(
    AlternatingPartition,
    _check_alternating,
    splits=list_of(record(Split), tuple, least=1),
    precondition=integer(0),
    **_PARTITION,
)


# ---------------------------------------------------------------------------------------------- rounds


def _estimator() -> Field:
    from skewboost.io.saved_estimators import ESTIMATOR  # which is made of these parts

    return ESTIMATOR


ANY_MODEL = Field(lambda value: _estimator().write(value), lambda data: _estimator().read(data))


def _check_leaves(term: LeafTerm) -> None:
    require(len(term.values) == term.partition.n_leaves, "must have an entry per leaf", "values")


def _check_classifier(term: Any) -> None:
    """The classes of a classifier that a round has fitted are numbers of classes."""
    values = getattr(term, "values", np.zeros(2))
    classes = term.estimator.classes_
    fits = classes.dtype.kind in "iu" and classes.min() >= 0 and classes.max() < len(values)
    require(fits, f"must be integers below {len(values)}", "estimator.classes")


def _check_model(model: Model) -> None:
    n_rounds, link = model.n_rounds, model.link
    require(min(1, len(model.rounds)) <= n_rounds <= len(model.rounds), "must not exceed the rounds", "n_rounds")
    shape = () if link.n_outputs == 1 else (link.n_outputs,)
    for k, r in enumerate(model.rounds):
        own = np.shape(getattr(r.term, "values", [0.0]))[1:]
        require(own == shape, "must have one column per output of the link", f"rounds[{k}].term.values")
    schedule = getattr(link, "schedule", None)
    require(schedule is None or n_rounds <= schedule, "must not be less than n_rounds", "link.schedule")


_LEAVES = array(most=LARGEST_VALUE)
register(LeafTerm, _check_leaves, partition=one_of(Partition, AlternatingPartition), values=_LEAVES)
register(LineTerm, feature=FEATURE, rise=VALUE, height=VALUE, centre=VALUE, scale=POSITIVE)
register(ClassifierTerm, _check_classifier, estimator=ANY_MODEL, values=_LEAVES)
register(
    ProbabilityTerm,
    _check_classifier,
    estimator=ANY_MODEL,
    scale=VALUE,
    margin=number(high=0.5, above=0),
    link=name_of({f.__name__: f for f in (half_log_odds, mean_label, identity)}),
)
register(
    Round,
    term=one_of(LeafTerm, LineTerm, ClassifierTerm, ProbabilityTerm),
    record=map_of(ANY_NUMBER),
    importances=nullable(_sparse_numbers()),
)
register(Model, _check_model, link=one_of(TwoClasses, ManyClasses, Labels), n_features=None)


# --------------------------------------------------------------------------------- links and calibrators


def _check_isotonic(calibrator: Isotonic) -> None:
    scores, levels = calibrator.scores, calibrator.levels
    require(0 < len(scores) == len(levels), "must have one level per score", "levels")
    require((np.diff(levels) >= 0).all() and levels[0] >= 0 and levels[-1] <= 1, "must rise from 0 to 1", "levels")


register(Isotonic, _check_isotonic, scores=RISING, levels=NUMBERS, margin=number(0, 0.5))
register(Sigmoid, slope=VALUE, intercept=VALUE)
register(
    TwoClasses,
    scale=MULTIPLE,
    offset=VALUE,
    cost_offset=VALUE,
    pending=VALUE,
    schedule=nullable(integer(1)),
    damping=number(0, LARGEST_VALUE),
    calibrators=list_of(tuple_of(integer(1), field_of(Calibrator)), tuple),
    cost_ratio=POSITIVE,
    positive=integer(0, 1),
)
register(ManyClasses, costs=list_of(MULTIPLE, tuple))


# ----------------------------------------------------------------------------------------- rule learner


def _check_patterns(patterns: Patterns) -> None:
    n, order = patterns.events.shape
    require(order > 0, "must not be empty", "events")
    require(len(patterns.support) == n, "must have one number per pattern", "support")


_PLACES = array("i", ndim=(1,), low=0)
_MATRIX = array(ndim=(2,), most=LARGEST_VALUE)
register(Intervals, cuts=RISING)
register(Categories, categories=list_of(text(), tuple, distinct=True))
register(Events, _check_lengths, attribute=_PLACES, value=_PLACES, probability=COUNTS)
register(
    Patterns,
    _check_patterns,
    events=array("i", ndim=(2,), low=0),
    support=COUNTS,
    inside=_MATRIX,
    residual=_MATRIX,
    residual_rest=_MATRIX,
    strength=_MATRIX,
)


# ------------------------------------------------------------------------------------------------- goals

register(Goal, conditions=list_of(record(Condition), tuple, least=1))
_CELLS: dict[str, Any] = dict.fromkeys(("tp", "fp", "fn", "tn"), NOT_NEGATIVE)
register(Counts, **_CELLS)
register(ReferralCounts, **_CELLS, referred_positives=NOT_NEGATIVE, referred_negatives=NOT_NEGATIVE)
register(Certificate, confidence=number(0, 1), p_value=number(0, finite=False), shown=map_of(ANY_NUMBER))
register(
    Stage,
    model=ANY_MODEL,
    columns=array("i", ndim=(1,)),
    threshold=number(),
    n_positives=COUNT,
    n_negatives=COUNT,
)
register(
    Point,
    ratio=ANY_NUMBER,
    costs=nullable(tuple_of(POSITIVE, POSITIVE)),
    n_rounds=nullable(integer(1)),
    threshold=ANY_NUMBER,
    rank=list_of(ANY_NUMBER, tuple, least=1),
    lower=nullable(ANY_NUMBER),
    curve=None,
)
