"""The search for the best split of a node in NumPy, which specifies the search of the native core."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from skewboost.engine.boundary import (
    ABSTAIN,
    FORCED,
    LEFT,
    MISSING,
    N_CODES,
    RIGHT,
    TIE,
    ZBAR_PRINTED,
    Request,
    Split,
)
from skewboost.engine.draws import below
from skewboost.engine.losses import one_versus_rest, silent_loss, split_loss, sums_loss
from skewboost.engine.restrictions import Candidates
from skewboost.engine.row_hash import mixed
from skewboost.typing import Array

if TYPE_CHECKING:
    from skewboost.engine.binning import Bins

# The tolerance of limits on sums, so that rounding errors cannot violate them.
SLACK = 1e-9

# For criteria that force opposite signs, all subsets of up to this many categories are candidates. Of more
# categories, only prefixes in the order of p are.
MAX_ENUMERATED = 10


def best_split(
    histogram: Array, counts: Array | None, bins: Bins, request: Request, within: Candidates | None = None
) -> Split | None:
    """Return the best candidate of all features; ties go to the lowest feature, then to the lowest threshold.

    Categories that have an order are split by thresholds, as numbers are.
    """
    sets = bins.nominal & ~bins.ordered
    nominal, numeric = np.flatnonzero(sets), np.flatnonzero(~sets)
    groups: list[Array | list[Array]] = []
    shape = (bins.n_features, MISSING)
    value, option = np.full(shape, np.inf), np.zeros(shape, dtype=np.int64)
    if len(numeric):
        value[numeric], option[numeric] = numeric_candidates(
            histogram[:, numeric], _counts_of(counts, numeric), bins.n_bins[numeric], request, numeric, within
        )
    if len(nominal):
        value[nominal], option[nominal], groups = nominal_candidates(
            histogram[:, nominal], _counts_of(counts, nominal), request, nominal, within
        )
    if within is not None:
        value[~within.columns] = np.inf
    lowest = value.min()
    if not np.isfinite(lowest):
        return None
    level = lowest + tie_width(histogram[:, 0], request, lowest)
    feature, k = divmod(int(np.argmax(value <= level)), value.shape[1])
    left = np.arange(k + 1)
    if sets[feature]:
        group = groups[int(np.searchsorted(nominal, feature))]
        left = group[k] if isinstance(group, list) else group[: k + 1]
    split = make_split(
        feature,
        -1 if sets[feature] else k,
        left,
        int(option[feature, k]),
        float(value[feature, k]),
        histogram[:, feature],
        request,
    )
    if bins.ordered[feature]:
        split.threshold = -1
    return split


def _counts_of(counts: Array | None, features: Array) -> Array | None:
    return None if counts is None else counts[features]


def tie_width(h: Array, request: Request, lowest: Array | float) -> Array:
    """Return the largest difference of tied criteria; `h` is the histogram of any one feature."""
    if request.criterion == "squares":
        return np.asarray(TIE * np.abs(lowest))
    return np.asarray(TIE * h.sum())


def options_of(request: Request) -> list[tuple[int, int]]:
    """Return the options of a candidate, in the order in which ties are resolved.

    An option is the side of missing values, and the polarity: the side that the positives should be on. The polarity is
    0 for criteria without forced signs.
    """
    polarities = (+1, -1) if request.criterion in FORCED else (0,)
    sides = (LEFT, RIGHT) if request.missing == "learn" else (ABSTAIN,)
    return [(side, polarity) for side in sides for polarity in polarities]


def numeric_candidates(
    histogram: Array,
    counts: Array | None,
    n_bins: Array,
    request: Request,
    features: Array,
    within: Candidates | None,
) -> tuple[Array, Array]:
    """Return the criterion and the best option of every (feature, threshold); infinite if it is not allowed."""
    present, missing = histogram[..., :MISSING], histogram[..., MISSING, None]
    left, right = _on_both_sides(present)
    has_missing = (missing != 0).any(axis=0)
    # A threshold after an empty bin splits like the one before it. The one after the last bin separates missing values.
    threshold = np.arange(MISSING)
    candidate = (present != 0).any(axis=0) & (threshold < n_bins[:, None])

    values = []
    for side, polarity in options_of(request):
        if side == RIGHT and not has_missing.any():
            values.append(np.full(candidate.shape, np.inf))  # the same candidates as with missing values on the left
            continue
        a, b = left, right
        rest: Array | float = 0.0
        if side == LEFT:
            a = left + missing
        elif side == RIGHT:
            b = right + missing
        else:
            rest = silent_loss(request.criterion, missing)
        allowed = candidate & _big_enough(a, request) & _big_enough(b, request)
        if counts is not None:
            allowed &= _counted(counts, side, request)
        if side == RIGHT:
            allowed &= has_missing  # without missing values both options are the same
        if within is not None:
            allowed &= within.in_order(features, a, b, polarity, request)
        value = np.full(allowed.shape, np.inf)
        value[allowed] = split_loss(request, a[:, allowed], b[:, allowed], polarity)
        values.append(value + rest)
    value, option = _first_best(np.array(values), histogram[:, 0], request)
    if within is not None and within.keys is not None:
        _keep_random_thresholds(value, option, candidate, has_missing[:, 0], features, within.keys)
    return value, option


def _keep_random_thresholds(
    value: Array, option: Array, candidate: Array, has_missing: Array, features: Array, keys: dict[int, int]
) -> None:
    """Keep one threshold per feature, between the lowest and the highest code of the node.

    It divides the rows as the nearest threshold below it does that is a candidate. If the node has one code only, the
    threshold separates it from missing values.
    """
    for j, feature in enumerate(features.tolist()):
        codes = np.flatnonzero(candidate[j])
        if feature not in keys or not len(codes):
            value[j] = np.inf
            continue
        low, high = int(codes[0]), int(codes[-1])
        threshold = low + below(keys[feature], 0, high - low) if high > low else high
        k = codes[codes <= threshold][-1]
        kept = value[j, k] if high > low or has_missing[j] else np.inf, option[j, k]
        value[j] = np.inf
        value[j, threshold], option[j, threshold] = kept


def _first_best(values: Array, h: Array, request: Request) -> tuple[Array, Array]:
    """Return the value and the number of the first option (first axis) that ties with the best."""
    if len(values) == 1:
        return values[0], np.zeros(values[0].shape, dtype=np.int64)
    lowest = values.min(axis=0)
    with np.errstate(invalid="ignore"):
        option = np.argmax(values <= lowest + tie_width(h, request, lowest), axis=0)
    return np.take_along_axis(values, option[None], axis=0)[0], option


def _big_enough(side: Array, request: Request) -> Array:
    weight = _weight(side, request)
    return np.asarray((weight > 0) & (weight >= request.min_weight * (1 - SLACK)))


def _counted(counts: Array, side: int, request: Request) -> Array:
    present, missing = counts[..., :MISSING], counts[..., MISSING, None]
    left = np.cumsum(present, axis=-1)
    right = left[..., -1:] - left
    left, right = left + missing * (side == LEFT), right + missing * (side == RIGHT)
    enough = request.min_count * (1 - SLACK)
    return np.asarray((left >= enough) & (right >= enough))


def nominal_candidates(
    histogram: Array, counts: Array | None, request: Request, features: Array, within: Candidates | None
) -> tuple[Array, Array, list[Array | list[Array]]]:
    """Return the criterion and option of every candidate partition of categories, and the left sides.

    For two classes and a criterion Σ W φ(p) with concave φ, the best partition is a prefix of the categories sorted by
    p. The last result then has the order per feature, and candidate k has the first k + 1 categories on the left. With
    forced signs, or several labels or classes, the best partition need not be a prefix. Then all subsets of a few
    categories are candidates, and the prefixes in the order of each label's p if there are many. The last result is a
    list of left sides in that case. A random candidate is a random prefix of the categories in a random order.
    """
    usable = _weight(histogram, request) > 0
    if request.missing == "abstain":
        usable[:, MISSING] = False
    forced, joint = request.criterion in FORCED, len(histogram) > 2
    if within is not None and within.keys is not None:
        value, option, orders = _prefix_candidates(histogram, usable, counts, request, features, within)
        return value, option, list(orders)
    if joint:
        shape = (len(usable), MISSING)
        value, option = np.full(shape, np.inf), np.zeros(shape, dtype=np.int64)
        groups: list[Array | list[Array]] = [[] for _ in usable]
    else:
        value, option, orders = _prefix_candidates(histogram, usable, counts, request, features, within)
        groups = list(orders)
    n = usable.sum(axis=1)
    by_sets = (n > 1) & (joint | (forced & (n <= MAX_ENUMERATED)))
    for j in np.flatnonzero(by_sets).tolist():
        codes, h = np.flatnonzero(usable[j]), histogram[:, j]
        few = len(codes) <= MAX_ENUMERATED
        labels = one_versus_rest(request.criterion, h[:, codes])
        is_left = subsets(len(codes), forced) if few else np.vstack(list(map(_prefixes, labels)))
        count = None if counts is None else counts[j]
        value[j], option[j], groups[j] = _set_candidates(h, codes, is_left, count, request)
    return value, option, groups


def _weight(h: Array, request: Request) -> Array:
    return np.asarray(h[0] if request.criterion == "squares" else h.sum(axis=0))


def _prefix_candidates(
    histogram: Array, usable: Array, counts: Array | None, request: Request, features: Array, within: Candidates | None
) -> tuple[Array, Array, Array]:
    """Return the criterion and option of all prefixes of the categories in the order of p, and these orders.

    If thresholds are random, the order is random, and all prefixes but one are infinite.
    """
    used = np.flatnonzero(usable.any(axis=0))  # most columns use only a few of the 256 codes
    usable, h = usable[:, used], histogram[:, :, used]
    keys = None
    if within is not None and within.keys is not None:
        keys = np.array([within.keys.get(j, 0) for j in features.tolist()], dtype=np.uint64)
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        if keys is None:
            key = sort_key(request.criterion, h[0], h[1], usable)
        else:
            key = mixed(keys[:, None] + np.uint64(1) + used.astype(np.uint64))
    order = np.lexsort((key, ~usable), axis=-1)  # unusable codes come last
    left, right = _on_both_sides(np.take_along_axis(np.where(usable, h, 0.0), order[None], axis=-1))
    places, last = np.arange(len(used)), usable.sum(axis=1)[:, None] - 1
    candidate = places < last
    if keys is not None:
        drawn = [below(key, 0, max(n, 1)) for key, n in zip(keys.tolist(), last[:, 0].tolist())]
        candidate &= places == np.array(drawn)[:, None]
    allowed = candidate & _big_enough(left, request) & _big_enough(right, request)
    if within is not None and len(histogram) == 2 and request.criterion not in FORCED:
        allowed &= within.in_order(features, left, right, 0, request)
    if counts is not None:
        own = np.where(usable, counts[:, used], 0.0)
        fewer = np.minimum(*_on_both_sides(np.take_along_axis(own, order, axis=-1)))
        allowed &= fewer >= request.min_count * (1 - SLACK)
    rest = silent_loss(request.criterion, histogram[..., MISSING, None]) if request.missing == "abstain" else 0.0
    polarities = (+1, -1) if request.criterion in FORCED else (0,)
    losses = np.full((len(polarities), len(usable), MISSING), np.inf)
    for loss, polarity in zip(losses, polarities):
        loss[np.nonzero(allowed)] = split_loss(request, left[:, allowed], right[:, allowed], polarity)
    value, option = _first_best(losses + rest, histogram[:, 0], request)
    return value, option, used[order]


def _on_both_sides(h: Array) -> tuple[Array, Array]:
    """Return the sums up to and after each place; both are summed directly, so an empty side is exactly zero."""
    beyond = np.zeros_like(h)
    beyond[..., :-1] = np.cumsum(h[..., :0:-1], axis=-1)[..., ::-1]
    return np.cumsum(h, axis=-1), beyond


def subsets(n: int, forced: bool) -> Array:
    """Return which of n categories are on the left, for every partition of them."""
    # every subset can be the left side, so it is enough to ask for positives on the right
    masks = np.arange(1, 2**n - 1)
    if not forced:
        masks = masks[masks & 1 == 1]  # without signs, a set and its complement are the same partition
    return np.asarray((masks[:, None] >> np.arange(n)) & 1 == 1)


def _prefixes(of_codes: Array) -> Array:
    """Return the prefixes of the codes in the order of p, as masks."""
    with np.errstate(invalid="ignore", divide="ignore"):  # a label may have no weight in a category
        order = np.argsort(sort_key("z", of_codes[0], of_codes[1]), kind="stable")
    rank = np.empty(len(order), dtype=np.intp)
    rank[order] = np.arange(len(order))
    return rank <= np.arange(len(order) - 1)[:, None]


def _set_candidates(
    h: Array, codes: Array, is_left: Array, count: Array | None, request: Request
) -> tuple[Array, Array, list[Array]]:
    """Return the criterion, option and left side of some partitions of one feature's categories."""
    a, b = h[:, codes] @ is_left.T, h[:, codes] @ ~is_left.T
    allowed = _big_enough(a, request) & _big_enough(b, request)
    if count is not None:
        fewer = np.minimum(is_left @ count[codes], ~is_left @ count[codes])
        allowed &= fewer >= request.min_count * (1 - SLACK)
    rest = 0.0 if request.missing == "learn" else silent_loss(request.criterion, h[:, MISSING])
    polarity = +1 if request.criterion in FORCED else 0
    best = np.where(allowed, split_loss(request, a, b, polarity) + rest, np.inf)
    if len(best) > MISSING:  # keep no more candidates than there are thresholds
        tied = best <= best.min() + tie_width(h, request, best.min())
        kept = np.sort(np.argsort(np.where(tied, best.min(), best), kind="stable")[:MISSING])
        best, is_left = best[kept], is_left[kept]
    value = np.full(MISSING, np.inf)
    value[: len(best)] = best
    return value, np.zeros(MISSING, dtype=np.int64), [codes[row] for row in is_left]


def sort_key(criterion: str, a: Array, b: Array, usable: Array | bool = True) -> Array:
    """Return keys that sort categories by p, rounded so that categories of equal p keep the order of their codes.

    The key is the log-odds rather than p, because some criteria are steep near 0 and 1, where p = 1e-13 and p = 1e-15
    are far apart. Mean responses are rounded relative to their root mean square.
    """
    if criterion != "squares":
        return np.asarray(np.floor((np.log(b) - np.log(a)) * 1e11 + 0.5))
    square = np.where(usable, b * b / a, 0.0).sum(axis=-1, keepdims=True)
    scale = np.sqrt(square / np.where(usable, a, 0.0).sum(axis=-1, keepdims=True))
    return np.asarray(np.floor(b / a * np.where(scale > 0, 1e12 / scale, 1.0) + 0.5))


def make_split(
    feature: int,
    threshold: int,
    left: Array,
    option: int,
    value: float,
    h: Array,
    request: Request,
) -> Split:
    """Return the `Split` of a candidate; codes without weight in the node go to the side of missing values."""
    weight = _weight(h, request)
    child = np.full(N_CODES, RIGHT, dtype=np.uint8)
    child[left] = LEFT
    nominal = threshold < 0
    side, polarity = options_of(request)[option]
    if nominal and request.missing == "learn":
        polarity = (+1, -1)[option] if request.criterion in FORCED else 0
        side = int(child[MISSING])
    if request.missing == "learn" and not weight[MISSING] > 0:
        # no missing values in the node: choose the heavier side
        on_left = weight[child == LEFT].sum()
        side = LEFT if 2 * on_left >= weight.sum() * (1 - SLACK) else RIGHT
    child[MISSING] = side
    if nominal:
        child[weight <= 0] = side
    unforced = {"error": "majority", "zbar": "z", ZBAR_PRINTED: "z"}.get(request.criterion, request.criterion)
    before = float(sums_loss(unforced, h.sum(axis=1), 1, request.costs, request.delta))
    return Split(feature, threshold, child, polarity, value, before)
