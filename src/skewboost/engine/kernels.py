"""The loops of the CPU engine. Plain loops over plain arrays: no decisions, no Python objects, no threads.

A binned table is ``words[block, row]``: eight features of a row share one 64-bit word, feature ``8·block + k`` in
byte k. Summing a block needs one load per row for eight features, and its histogram (8 × 256 × 8 bytes) stays in
the first-level cache.

Where threads share the work, a kernel takes one task after the other in a single call: a thread that comes back for the
next one has to wait for the interpreter, which the others keep taking from it.
"""

from __future__ import annotations

import numpy as np

from skewboost.engine.boundary import Array
from skewboost.engine.jit import brief, kernel
from skewboost.engine.turns import next_task, task_done

_BYTE = np.uint64(255)
_MISSING = np.uint64(255)
_CHUNK = 2048  # rows that are gone through column by column, or tree by tree: they stay in the second-level cache
_FETCH = 1024  # scattered words that are fetched in one go


# ------------------------------------------------------------------------------ binning


@kernel
def sort_keys_32(keys: Array, a: Array, b: Array) -> None:
    """Radix-sort the bit patterns of float32 numbers into `b`: three passes of eleven bits; `a` is scratch.

    Flipping the sign bit of a positive number, and every bit of a negative one, makes patterns sort like numbers.
    """
    n = keys.shape[0]
    sign, low = np.uint32(0x80000000), np.uint32(2047)
    s1, s2, s31 = np.uint32(11), np.uint32(22), np.uint32(31)
    c0, c1, c2 = np.zeros(2048, np.int64), np.zeros(2048, np.int64), np.zeros(1024, np.int64)
    for i in range(n):
        k = keys[i]
        k = np.uint32(k ^ (sign | np.uint32(np.uint32(0) - (k >> s31))))
        a[i] = k
        c0[k & low] += 1
        c1[(k >> s1) & low] += 1
        c2[k >> s2] += 1
    t0, t1, t2 = 0, 0, 0
    for j in range(2048):
        c0[j], t0 = t0, t0 + c0[j]
        c1[j], t1 = t1, t1 + c1[j]
    for j in range(1024):
        c2[j], t2 = t2, t2 + c2[j]
    for i in range(n):
        d = a[i] & low
        b[c0[d]] = a[i]
        c0[d] += 1
    for i in range(n):
        d = (b[i] >> s1) & low
        a[c1[d]] = b[i]
        c1[d] += 1
    for i in range(n):
        k = a[i]
        d = k >> s2
        b[c2[d]] = k ^ (sign | np.uint32((k >> s31) - np.uint32(1)))
        c2[d] += 1


@kernel
def encode(X: Array, columns: Array, start: int, stop: int, cuts: Array, features: Array, words: Array) -> None:
    """Bin rows ``start:stop`` of numeric columns; ``columns[c]`` of X becomes ``features[c]``.

    The code is the number of cuts below x, found by eight halvings without a branch (`cuts` is padded with infinity).
    """
    for a in range(start, stop, _CHUNK):
        b = min(a + _CHUNK, stop)
        for c in range(columns.shape[0]):
            cut, column = cuts[c], columns[c]
            block, shift = features[c] >> 3, np.uint64(8 * (features[c] & 7))
            for i in range(a, b):
                x = np.float64(X[i, column])
                k = _count_below(cut, x)
                if x != x:
                    k = _MISSING
                words[block, i] |= k << shift


@kernel
def _count_below(cut: Array, x: float) -> np.uint64:
    """The number of cuts below x."""
    k = np.uint64(0)
    k += np.uint64(128) * np.uint64(cut[k + np.uint64(127)] < x)
    k += np.uint64(64) * np.uint64(cut[k + np.uint64(63)] < x)
    k += np.uint64(32) * np.uint64(cut[k + np.uint64(31)] < x)
    k += np.uint64(16) * np.uint64(cut[k + np.uint64(15)] < x)
    k += np.uint64(8) * np.uint64(cut[k + np.uint64(7)] < x)
    k += np.uint64(4) * np.uint64(cut[k + np.uint64(3)] < x)
    k += np.uint64(2) * np.uint64(cut[k + np.uint64(1)] < x)
    k += np.uint64(cut[k] < x)
    return k


@kernel
def store_codes(codes: Array, feature: int, words: Array) -> None:
    """Put the ready codes of one feature into the table."""
    block, shift = feature >> 3, np.uint64(8 * (feature & 7))
    for i in range(codes.shape[0]):
        words[block, i] |= np.uint64(codes[i]) << shift


@kernel
def lookup(words: Array, shift: int, values: Array, out: Array) -> None:
    """``out = values[code]`` of the feature at a shift."""
    s = np.uint64(shift)
    for i in range(words.shape[0]):
        out[i] = values[(words[i] >> s) & _BYTE]


# --------------------------------------------------------------------------- histograms


@kernel
def _add_word(v: np.uint64, x: float, out: Array) -> None:
    """Add x to the cells of one row in a block's histogram of 8 × 256."""
    out[v & _BYTE] += x
    out[np.uint64(256) + ((v >> np.uint64(8)) & _BYTE)] += x
    out[np.uint64(512) + ((v >> np.uint64(16)) & _BYTE)] += x
    out[np.uint64(768) + ((v >> np.uint64(24)) & _BYTE)] += x
    out[np.uint64(1024) + ((v >> np.uint64(32)) & _BYTE)] += x
    out[np.uint64(1280) + ((v >> np.uint64(40)) & _BYTE)] += x
    out[np.uint64(1536) + ((v >> np.uint64(48)) & _BYTE)] += x
    out[np.uint64(1792) + (v >> np.uint64(56))] += x


@kernel
def add_block(words: Array, rows: Array, values: Array, out: Array) -> None:
    """Add ``values[i]`` to the cells of row ``rows[i]``.

    Where rows lie far apart every word is a wait for memory. A loop that does nothing but fetch them has many
    requests on the way at once; one that updates eight cells per word has room for few.
    """
    n = rows.shape[0]
    if n == 0 or np.int64(rows[n - 1]) - np.int64(rows[0]) < 8 * n:
        for i in range(n):
            _add_word(words[rows[i]], values[i], out)
        return
    fetched = np.empty(_FETCH, np.uint64)
    for a in range(0, n, _FETCH):
        m = min(_FETCH, n - a)
        for i in range(m):
            fetched[i] = words[rows[a + i]]
        for i in range(m):
            _add_word(fetched[i], values[a + i], out)


@kernel
def add_whole_block(words: Array, values: Array, out: Array) -> None:
    """`add_block` for a range of consecutive rows."""
    for i in range(words.shape[0]):
        _add_word(words[i], values[i], out)


@kernel
def gather(values: Array, rows: Array, out: Array) -> None:
    """``out = values[rows]``."""
    for i in range(rows.shape[0]):
        out[i] = values[rows[i]]


@kernel
def add_all(words: Array, rows: Array, values: tuple[Array, ...], out: Array) -> None:
    """The histogram of all planes and blocks in one call."""
    gathered = np.empty(rows.shape[0])
    for plane in range(len(values)):
        gather(values[plane], rows, gathered)
        for block in range(words.shape[0]):
            add_block(words[block], rows, gathered, out[plane, block])


@kernel
def add_tasks(words: Array, rows: Array, values: tuple[Array, ...], bounds: Array, turns: Array, out: Array) -> None:
    """Histograms, a task being a plane, a chunk of rows and a block of features.

    As many rows as the table has are all of them, in order, and need no look-up.
    """
    n_blocks, n_chunks = words.shape[0], bounds.shape[0] - 1
    n_tasks = len(values) * n_chunks * n_blocks
    whole = rows.shape[0] == words.shape[1]
    gathered = np.empty(0)
    known = -1
    task = next_task(turns)
    while task < n_tasks:
        part, block = task // n_blocks, task % n_blocks
        plane, chunk = part // n_chunks, part % n_chunks
        a, b = bounds[chunk], bounds[chunk + 1]
        sums = out[chunk, plane, block]
        sums[:] = 0.0
        if whole:
            add_whole_block(words[block, a:b], values[plane][a:b], sums)
        else:
            if known != part:
                gathered = np.empty(b - a)
                gather(values[plane], rows[a:b], gathered)
                known = part
            add_block(words[block], rows[a:b], gathered, sums)
        task_done(turns)
        task = next_task(turns)


@brief
def total(values: Array, rows: Array) -> float:
    """Σ values[rows], in blocks so that the error does not grow with the number of rows."""
    result = 0.0
    for start in range(0, rows.shape[0], 1024):
        part = 0.0
        for i in range(start, min(start + 1024, rows.shape[0])):
            part += values[rows[i]]
        result += part
    return result


@brief
def scale(values: Array, rows: Array, factor: float) -> None:
    """``values[rows] *= factor``."""
    for i in range(rows.shape[0]):
        values[rows[i]] *= factor


@kernel
def select(words: Array, shift: int, rows: Array, child: Array, wanted: int, out: Array) -> int:
    """Copy the rows whose code goes to the wanted child; returns how many."""
    s = np.uint64(shift)
    k = 0
    for i in range(rows.shape[0]):
        r = rows[i]
        out[k] = r
        k += child[(words[r] >> s) & _BYTE] == wanted
    return k


@kernel
def divide(words: Array, shift: int, rows: Array, child: Array, left: Array, right: Array) -> int:
    """Copy the rows of child 0 to `left` and all others to `right`; returns how many went left."""
    s = np.uint64(shift)
    k = 0
    for i in range(rows.shape[0]):
        r = rows[i]
        left[k] = r
        right[i - k] = r
        k += child[(words[r] >> s) & _BYTE] == 0
    return k


@kernel
def divide_tasks(
    words: Array, shift: int, rows: Array, bounds: Array, child: Array, turns: Array, left: Array, right: Array,
    lengths: Array,
) -> None:  # fmt: skip
    """`divide`, a task being a chunk of rows."""
    n_tasks = bounds.shape[0] - 1
    chunk = next_task(turns)
    while chunk < n_tasks:
        a, b = bounds[chunk], bounds[chunk + 1]
        lengths[chunk] = divide(words, shift, rows[a:b], child, left[a:b], right[a:b])
        task_done(turns)
        chunk = next_task(turns)


# ------------------------------------------------------------------------------ scoring


@kernel
def add_steps(
    X: Array, columns: Array, start: int, stop: int, cuts: Array, values: Array, missing: Array, F: Array
) -> None:
    """Add each column's step function to F: ``values[c, number of cuts below x]``, ``missing[c]`` for NaN."""
    for a in range(start, stop, _CHUNK):
        b = min(a + _CHUNK, stop)
        for c in range(columns.shape[0]):
            cut, column, value, absent = cuts[c], columns[c], values[c], missing[c]
            for i in range(a, b):
                x = np.float64(X[i, column])
                v = value[_count_below(cut, x)]
                F[i] += absent if x != x else v


@kernel
def add_trees(
    words: Array,
    start: int,
    stop: int,
    roots: Array,
    feature: Array,
    threshold: Array,
    which: Array,
    sets: Array,
    links: Array,
    values: Array,
    F: Array,
) -> None:
    """Add to F the leaf values of rows ``start:stop`` in every tree."""
    for a in range(start, stop, _CHUNK):
        b = min(a + _CHUNK, stop)
        for t in range(roots.shape[0]):
            for i in range(a, b):
                k = roots[t]
                while k >= 0:
                    f = feature[k]
                    code = (words[f >> 3, i] >> np.uint64(8 * (f & 7))) & _BYTE
                    if code == _MISSING:
                        k = links[k, 2]
                    elif threshold[k] >= 0:
                        k = links[k, 1 if np.int64(code) > threshold[k] else 0]
                    else:
                        k = links[k, sets[which[k], code]]
                F[i] += values[~k]
