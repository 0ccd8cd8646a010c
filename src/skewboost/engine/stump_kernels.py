"""Growing a stump: find its split, then list and sum all children but the largest of each class.

A thread that is called for help takes up to a tenth of a millisecond to come. It is called before the search, so it is
there when there is something to do, and then waits for the signal to start.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from skewboost.engine.boundary import Array
from skewboost.engine.criterion_kernels import Terms
from skewboost.engine.jit import brief, kernel
from skewboost.engine.kernels import add_block, select
from skewboost.engine.scan_kernels import Features
from skewboost.engine.search_kernels import search
from skewboost.engine.turns import call_off, next_task, signal_start, starts, task_done, wait_for_tasks


class Data(NamedTuple):
    """The rows of a node per group, and their values up to a scale."""

    rows: tuple[Array, ...]
    values: tuple[Array, ...]
    scale: Array


class Plan(NamedTuple):
    """How the work of `split_tasks` is divided."""

    parts: Array  # [part, (group, child)]
    chunks: Array  # [chunk, (part, where its rows begin, where they end, where those chosen are put)]
    slices: Array  # [slice, (part, first chunk, last chunk)]


class Room(NamedTuple):
    """Where its results go."""

    turns_of_chunks: Array
    chosen: Array
    weights: Array  # of the chosen rows
    lengths: Array  # how many were chosen, per chunk
    sums: Array  # [slice, block, cell]


@kernel
def sum_tasks(words: Array, plan: Plan, turns: Array, room: Room) -> None:
    """The second half of `split_tasks`: the histograms of the chosen rows."""
    chunks, chosen, weights = plan.chunks, room.chosen, room.weights
    wait_for_tasks(room.turns_of_chunks, chunks.shape[0])
    n_blocks = words.shape[0]
    task = next_task(turns)
    while task < n_blocks * plan.slices.shape[0]:
        which, block = task // n_blocks, task % n_blocks
        sums = room.sums[which, block]
        sums[:] = 0.0
        for chunk in range(plan.slices[which, 1], plan.slices[which, 2]):
            a = chunks[chunk, 3]
            b = a + room.lengths[chunk]
            add_block(words[block], chosen[a:b], weights[a:b], sums)
        task_done(turns)
        task = next_task(turns)


@kernel
def split_tasks(words: Array, feature: int, child: Array, data: Data, plan: Plan, turns: Array, room: Room) -> None:
    """Rows and histograms of parts of a node; a part is the rows of one group that go to one child.

    First its rows are chosen, a task being a chunk of them; then they are summed, a task being a block of features and
    a slice of chunks. Chunks of a slice are summed in their order.
    """
    chunks, chosen, weights = plan.chunks, room.chosen, room.weights
    shift = 8 * (feature & 7)
    task = next_task(room.turns_of_chunks)
    while task < chunks.shape[0]:
        part, a, b, to = chunks[task, 0], chunks[task, 1], chunks[task, 2], chunks[task, 3]
        group, side = plan.parts[part, 0], plan.parts[part, 1]
        values, scale = data.values[group], data.scale[group]
        k = select(words[feature >> 3], shift, data.rows[group][a:b], child, side, chosen[to : to + b - a])
        own_rows, own_weights = chosen[to : to + k], weights[to : to + k]
        for i in range(k):
            own_weights[i] = scale * values[own_rows[i]]
        room.lengths[task] = k
        task_done(room.turns_of_chunks)
        task = next_task(room.turns_of_chunks)
    sum_tasks(words, plan, turns, room)


@kernel
def move_tasks(
    words: Array,
    feature: int,
    moves: Array,
    factors: Array,
    rows: Array,
    values: Array,
    scale: float,
    plan: Plan,
    turns: Array,
    room: Room,
) -> None:
    """Multiply the values of the rows that move by the factors of their codes, and sum the differences."""
    chunks, chosen, differences = plan.chunks, room.chosen, room.weights
    block, shift = words[feature >> 3], np.uint64(8 * (feature & 7))
    task = next_task(room.turns_of_chunks)
    while task < chunks.shape[0]:
        a, b, to = chunks[task, 1], chunks[task, 2], chunks[task, 3]
        k = select(block, 8 * (feature & 7), rows[a:b], moves, 1, chosen[to : to + b - a])
        own_rows, own = chosen[to : to + k], differences[to : to + k]
        for i in range(k):
            row = own_rows[i]
            moved = values[row] * factors[(block[row] >> shift) & np.uint64(255)]
            own[i] = scale * (moved - values[row])
            values[row] = moved
        room.lengths[task] = k
        task_done(room.turns_of_chunks)
        task = next_task(room.turns_of_chunks)
    sum_tasks(words, plan, turns, room)


@brief
def close_up(plan: Plan, room: Room, ends: Array) -> None:
    """Move each part's chosen rows together, and add up its slices; ``ends[part]`` is where they begin and end."""
    chunks, slices, chosen, lengths, out = plan.chunks, plan.slices, room.chosen, room.lengths, room.sums
    ends[:, 0] = -1
    for c in range(chunks.shape[0]):
        part, a = chunks[c, 0], chunks[c, 3]
        if ends[part, 0] < 0:
            ends[part] = a
        to = ends[part, 1]
        if to < a:
            own_rows, place = chosen[a : a + lengths[c]], chosen[to : to + lengths[c]]
            for i in range(lengths[c]):
                place[i] = own_rows[i]
        ends[part, 1] = to + lengths[c]
    for k in range(slices.shape[0]):
        part = slices[k, 0]
        if part != k:
            for j in range(out.shape[1]):
                for i in range(out.shape[2]):
                    out[part, j, i] += out[k, j, i]


@kernel
def find_and_split(
    planes: tuple[Array, Array],
    error: tuple[float, float],
    counts: Array,
    features: Features,
    terms: Terms,
    rows_per_code: Array,
    words: Array,
    data: Data,
    plan: Plan,
    turns: Array,
    room: Room,
    child: Array,
    found: Array,
    value: Array,
    sizes: Array,
) -> None:
    """Search the root, note the smaller child of each group in the plan, and go on with `split_tasks`.

    Nothing is split if the choice is doubtful, if a child abstains, or if a side has no rows.
    """
    search(planes[0], planes[1], counts, features, terms, error[0], error[1], child, found, value)
    feature = found[0]
    sizes[:, :] = 0
    if feature >= 0:
        for g in range(2):
            for code in range(256):
                sizes[min(child[code], 1), g] += rows_per_code[g, feature, code]
    empty = sizes[0, 0] + sizes[0, 1] == 0 or sizes[1, 0] + sizes[1, 1] == 0
    if empty or found[2] or child[255] == 2:
        call_off(turns, words.shape[0] * plan.slices.shape[0])
        return
    for g in range(2):
        plan.parts[g, 1] = 1 if sizes[0, g] >= sizes[1, g] else 0
    signal_start(turns)
    split_tasks(words, feature, child, data, plan, turns, room)


@kernel
def lend_a_hand(
    words: Array,
    found: Array,
    child: Array,
    data: Data,
    plan: Plan,
    turns: Array,
    room: Room,
) -> None:
    """What another thread does for `find_and_split`; it does not wait much longer than a search takes."""
    if starts(turns, 10_000 + 500 * 8 * words.shape[0]):
        split_tasks(words, found[0], child, data, plan, turns, room)


@brief
def reweight(whole: Array, parts: tuple[Array, ...], factors: Array) -> None:
    """``whole = Σ factors[k] parts[k] + factors[-1] max(whole - Σ parts, 0)``, all of them histograms."""
    n = len(parts)
    for f in range(whole.shape[0]):
        for k in range(256):
            rest, moved = whole[f, k], 0.0
            for j in range(n):
                rest -= parts[j][f, k]
                moved += factors[j] * parts[j][f, k]
            whole[f, k] = max(rest, 0.0) * factors[n] + moved
