"""Split search in compiled loops: the same candidates, options and ties as `reference.ReferenceEngine.search`.

Beyond the reference it weighs the rounding error of derived histograms: if another candidate could be the best one,
given the bounds, the choice is called doubtful.
"""

from __future__ import annotations

import numpy as np

from skewboost.engine.boundary import Array
from skewboost.engine.criterion_kernels import (
    COST_LOSS,
    ERROR,
    GINI,
    Terms,
    Z,
    is_forced,
    loss_before,
    tie_width,
    weight_of,
)
from skewboost.engine.doubt_kernels import choice_is_doubtful
from skewboost.engine.jit import kernel
from skewboost.engine.scan_kernels import (
    Features,
    lowest_cost_loss,
    lowest_of,
    lowest_of_numeric,
    new_scan,
    scan_feature,
    tie_of,
)


@kernel
def fill_child(
    h0: Array,
    h1: Array,
    order: Array,
    nominal: bool,
    criterion: int,
    learn: bool,
    threshold: int,
    option: int,
    mask: int,
    child: Array,
) -> int:
    """The child of every code under a chosen candidate (`reference.make_split`); returns the polarity."""
    forced = is_forced(criterion)
    n_polarities = 2 if forced else 1
    polarity = 1 - 2 * (option % n_polarities) if forced else 0
    missing_to = 2 if not learn else option // n_polarities
    on_left, on_right = 0.0, 0.0
    if nominal:
        for code in range(256):
            child[code] = 3  # not seen in this node
        if mask:
            j = 0
            for code in range(256 if learn else 255):
                if h0[code] + h1[code] > 0.0:
                    child[code] = 0 if (mask >> j) & 1 else 1
                    j += 1
        else:
            for j in range(256):
                if order[j] < 0:
                    break
                child[order[j]] = 0 if j <= threshold else 1
        missing_to = child[255] if learn else 2
    else:
        for code in range(255):
            child[code] = 0 if code <= threshold else 1
    for code in range(255):
        w = weight_of(criterion, h0[code], h1[code])
        if child[code] == 0:
            on_left += w
        elif child[code] == 1:
            on_right += w
    if learn and not weight_of(criterion, h0[255], h1[255]) > 0.0:  # nothing missing to learn from: the heavier side
        missing_to = 0 if 2.0 * on_left >= (on_left + on_right) * (1.0 - 1e-9) else 1
    for code in range(255):
        if child[code] == 3:
            child[code] = missing_to
    child[255] = missing_to
    return polarity


@kernel
def scan_features(
    h0: Array, h1: Array, counts: Array, features: Features, start: int, stop: int, terms: Terms, tie: float, out: Array
) -> None:
    """The lowest criterion of each feature of a range."""
    scan = new_scan()
    criterion = terms.criterion
    # of Z only where the squares of products of weights do not underflow
    simple = criterion in (ERROR, GINI) or (criterion == Z and tie > 1e-70 * terms.tie)
    rough = criterion == COST_LOSS and terms.delta > 1e-30
    for f in range(start, stop):
        plain = counts.shape[1] == 0 and not features.nominal[f] and h0[f, 255] == 0.0 and h1[f, 255] == 0.0
        if plain and simple:
            out[f] = lowest_of_numeric(h0[f], h1[f], features.n_bins[f], criterion, terms.min_weight, scan)
            continue
        if plain and rough:
            out[f] = lowest_cost_loss(h0[f], h1[f], features.n_bins[f], terms, scan)
            continue
        scan_feature(h0, h1, counts, features, f, terms, tie, 2.0 * tie, scan)
        out[f] = lowest_of(scan.value)


@kernel
def choose(
    h0: Array,
    h1: Array,
    counts: Array,
    features: Features,
    terms: Terms,
    tie: float,
    lowest: Array,
    e0: float,
    e1: float,
    child: Array,
    found: Array,
    after_before: Array,
) -> None:
    """The first candidate that ties with the best: ``found = feature, threshold, doubtful, polarity``.

    `lowest` is what `scan_features` found. An error beyond `terms.max_error` makes any choice doubtful, and so does a
    candidate which the bounds e0, e1 on the errors of sums do not rule out: an earlier one must surely be worse than
    the best by more than the tie, a later one must not possibly be better than the chosen by more than the tie.
    The features that matter are scanned a second time, which is cheaper than keeping the candidates of all of them.
    """
    criterion = terms.criterion
    best = np.inf
    for f in range(lowest.shape[0]):
        best = min(best, lowest[f])
    found[0] = -1
    found[2] = 0
    if best == np.inf:
        return
    near = tie_width(criterion, tie, best)
    g, t = 0, 0
    while lowest[g] > best + near:
        g += 1
    scan = new_scan()
    mask = scan_feature(h0, h1, counts, features, g, terms, tie, 2.0 * tie, scan)
    while scan.value[t] > best + near:
        t += 1
    own = scan.value[t]
    t0, t1 = 0.0, 0.0
    for k in range(256):
        t0 += h0[0, k]
        t1 += h1[0, k]
    before = loss_before(terms, t0, t1)
    after_before[0], after_before[1] = own, before
    nominal = features.nominal[g]
    found[0], found[1] = g, -1 if nominal else t
    found[3] = fill_child(h0[g], h1[g], scan.order, nominal, criterion, terms.learn, t, scan.option[t], mask, child)
    if e0 == 0.0 and e1 == 0.0:
        return
    found[2] = choice_is_doubtful(
        h0, h1, counts, features, terms, tie, e0, e1, g, t, best, own, before, lowest, scan
    )  # fmt: skip


@kernel
def search(
    h0: Array,
    h1: Array,
    counts: Array,
    features: Features,
    terms: Terms,
    e0: float,
    e1: float,
    child: Array,
    found: Array,
    after_before: Array,
) -> None:
    """`scan_features` and `choose`."""
    n = features.nominal.shape[0]
    lowest = np.empty(n)
    tie = tie_of(h0[0], h1[0], terms)
    scan_features(h0, h1, counts, features, 0, n, terms, tie, lowest)
    choose(h0, h1, counts, features, terms, tie, lowest, e0, e1, child, found, after_before)
