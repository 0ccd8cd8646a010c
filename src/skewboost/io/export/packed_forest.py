"""Trees as compact tables of small numbers, for programs that walk through them in a loop.

In `TwoWay`, missing cells take one of two links. In `Coded`, cells are replaced by codes, so that a node is four small
integers: a column, a key and two links.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from skewboost.io.export.formula import Column, Forest
from skewboost.typing import Array


@dataclass(frozen=True, eq=False)
class TwoWay:
    """Trees whose nodes answer with yes or no only, parents before children.

    A node is answered with yes if ``x <= cut``, or if the category is in ``sets[which]``, which is -1 for numbers.
    Missing cells and unknown categories are answered with yes where `missing_is_yes`.
    """

    roots: Array
    feature: Array
    cut: Array
    which: Array
    sets: tuple[frozenset[str], ...]
    missing_is_yes: Array
    links: Array  # for yes and no; a link < 0 is the leaf ``~link``
    values: Array

    @classmethod
    def of(cls, forest: Forest, columns: Sequence[Column]) -> TwoWay:
        """A node with a link of its own for missing cells becomes two: the first one asks whether there is a cell."""
        yes, no, missing = forest.links.T
        third = (missing != yes) & (missing != no)
        entry = np.arange(forest.n_nodes) + np.cumsum(third) - third  # where the node, or the one that asks, comes
        own, asks = entry + third, entry[third]

        def filled(values: Array, if_asked: Array | float | bool) -> Array:
            found = np.empty((forest.n_nodes + len(asks), *values.shape[1:]), dtype=values.dtype)
            found[own], found[asks] = values, if_asked
            return found

        links = np.where(forest.links >= 0, entry[np.maximum(forest.links, 0)], forest.links)
        missing_is_yes = filled(missing == yes, False)
        which, sets = np.full(len(missing_is_yes), -1), dict[frozenset[str], int]()
        for k in map(int, np.flatnonzero(forest.which >= 0)):
            node, known = forest.node(k), columns[forest.feature[k]].categories
            assert node.sides is not None
            assert known is not None
            on_yes = node.sides[0] if missing[k] != yes[k] else frozenset(known) - node.sides[1]
            which[own[k]] = sets.setdefault(on_yes, len(sets))
            if third[k]:
                which[entry[k]] = sets.setdefault(frozenset.union(*node.sides), len(sets))
        return cls(
            roots=np.where(forest.roots >= 0, entry[np.maximum(forest.roots, 0)] if len(entry) else -1, forest.roots),
            feature=filled(forest.feature, forest.feature[third]),
            cut=filled(forest.cut, math.inf),
            which=which,
            sets=tuple(sets),
            missing_is_yes=missing_is_yes,
            links=filled(links[:, :2], np.column_stack((own[third], links[third, 2]))),
            values=forest.values,
        )

    @classmethod
    def joined(cls, parts: Sequence[TwoWay]) -> TwoWay:
        """The trees of several, one after the other."""
        sets: dict[frozenset[str], int] = {}
        links, roots, which = list[Array](), list[Array](), list[Array]()
        n_nodes = n_leaves = 0
        for part in parts:
            for found, own in ((links, part.links), (roots, part.roots)):
                found.append(np.where(own >= 0, own + n_nodes, own - n_leaves))
            place = np.array([*(sets.setdefault(own, len(sets)) for own in part.sets), -1])
            which.append(place[part.which])  # -1 reads the last entry
            n_nodes, n_leaves = n_nodes + len(part.feature), n_leaves + len(part.values)
        same = {
            name: np.concatenate([getattr(part, name) for part in parts])
            for name in ("feature", "cut", "missing_is_yes", "values")
        }
        return cls(
            roots=np.concatenate(roots),
            links=np.concatenate(links),
            which=np.concatenate(which),
            sets=tuple(sets),
            **same,
        )

    @property
    def tree_of_node(self) -> Array:
        """The tree that each node belongs to."""
        with_nodes = np.flatnonzero(self.roots >= 0)
        place = np.searchsorted(self.roots[with_nodes], np.arange(len(self.feature)), "right") - 1
        return np.asarray(with_nodes[place])

    @property
    def tree_of_leaf(self) -> Array:
        """The tree that each leaf belongs to."""
        found = np.zeros(len(self.values), dtype=np.int64)
        to_leaf = self.links < 0
        found[~self.links[to_leaf]] = np.repeat(self.tree_of_node, to_leaf.sum(axis=1))
        alone = np.flatnonzero(self.roots < 0)
        found[~self.roots[alone]] = alone
        return found


@dataclass(frozen=True, eq=False)
class Coded:
    """The trees of all sums of a formula on codes.

    The code of a number is the number of `cuts` strictly below it. It is in two columns, 2i and 2i + 1 for
    ``numeric[i]``, which differ in missing cells: their code is above all keys in the first one, and below in the
    other.
    Then there is a column per feature in `nominal`, with the position of the category, or with the number of categories
    if the cell is missing or unknown. Node k goes to ``links[k, 0]`` if the code is at most ``key[k]``, or in a column
    of categories if ``sides[key[k] + code]`` is 1, else to ``links[k, 1]``. A link > 0 leads this many nodes on, and a
    link < 0 is the leaf ``~link``. Equal leaves are one.
    """

    numeric: tuple[int, ...]
    cuts: tuple[Array, ...]
    nominal: tuple[int, ...]
    sides: Array
    column: Array
    key: Array
    links: Array
    roots: tuple[Array, ...]  # per sum: nodes, or leaves if negative
    leaves: Array  # [leaf, output]

    @classmethod
    def of(cls, forests: Sequence[Forest], columns: Sequence[Column]) -> Coded:
        """Code the trees."""
        every = [TwoWay.of(forest, columns) for forest in forests]
        nodes = TwoWay.joined(every)
        leaves, leaf = np.unique(nodes.values, axis=0, return_inverse=True)

        def shared(links: Array) -> Array:
            return np.where(links >= 0, links, ~leaf.reshape(-1)[~np.minimum(links, -1)])

        used = np.unique(nodes.feature).tolist()
        numeric = tuple(j for j in used if columns[j].categories is None)
        nominal = tuple(j for j in used if columns[j].categories is not None)
        column, key = np.empty(len(nodes.feature), dtype=np.int64), np.empty(len(nodes.feature), dtype=np.int64)
        cuts = []
        for i, j in enumerate(numeric):
            own = nodes.feature == j
            cuts.append(np.unique(nodes.cut[own & np.isfinite(nodes.cut)]))
            key[own] = np.searchsorted(cuts[-1], nodes.cut[own])
            column[own] = 2 * i + nodes.missing_is_yes[own]
        rows: dict[tuple[int, int, bool], int] = {}
        sides: list[bool] = []
        for k in np.flatnonzero(nodes.which >= 0):
            j = int(nodes.feature[k])
            row = j, int(nodes.which[k]), bool(nodes.missing_is_yes[k])
            if row not in rows:
                rows[row] = len(sides)
                sides += [*(c in nodes.sets[row[1]] for c in columns[j].categories or ()), row[2]]
            key[k] = rows[row]
            column[k] = 2 * len(numeric) + nominal.index(j)
        ends = np.cumsum([len(forest) for forest in forests])[:-1]
        links = shared(nodes.links)
        return cls(
            numeric=numeric,
            cuts=tuple(cuts),
            nominal=nominal,
            sides=np.array(sides, dtype=np.uint8),
            column=column,
            key=key,
            links=np.where(links >= 0, links - np.arange(len(links))[:, None], links),
            roots=tuple(np.split(shared(nodes.roots), ends)),
            leaves=leaves,
        )

    @property
    def n_columns(self) -> int:
        """The number of columns of codes."""
        return 2 * len(self.numeric) + len(self.nominal)

    @property
    def first_nominal(self) -> int:
        """The first column of categories."""
        return 2 * len(self.numeric)
