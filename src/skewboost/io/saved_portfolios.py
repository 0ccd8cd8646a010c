"""The parts of fitted portfolios in files: trees, families, components, and what must hold between them."""

from __future__ import annotations

from typing import Any

import numpy as np

from skewboost.engine.boundary import MISSING, N_CODES
from skewboost.engine.newton import Trees
from skewboost.io.saved_parts import COUNTS, LARGEST_VALUE, MOST_FEATURES, MULTIPLE, NUMBERS, VALUES
from skewboost.io.structure import Field, array, integer, list_of, nullable, record, register, require
from skewboost.meta.portfolio.components import MOST, Components
from skewboost.meta.portfolio.portfolio_model import Part, PortfolioModel
from skewboost.typing import Array

MOST_PARTS = 16  # a portfolio has at most six families and a regression; each has a table of 256 numbers per column


def _code_sets() -> Field:
    """Sets of codes, as the lists of their codes."""
    lists = list_of(list_of(integer(0, N_CODES - 1), distinct=True))

    def write(value: Array) -> Any:
        return [np.flatnonzero(row).tolist() for row in value]

    def read(data: Any) -> Array:
        found = np.zeros((len(sets := lists.read(data)), N_CODES), dtype=np.bool_)
        for row, codes in zip(found, sets):
            row[codes] = True
        return found

    return Field(write, read)


def _check_trees(trees: Trees) -> None:
    """Every node and leaf but the roots is the child of one node, which comes before it."""
    n_nodes, n_leaves = len(trees.feature), len(trees.covers)
    for name, last in (("first_node", n_nodes), ("first_leaf", n_leaves)):
        first = getattr(trees, name)
        fits = len(first) > 1 and first[0] == 0 and first[-1] == last and (np.diff(first) >= 0).all()
        require(fits, "must rise from 0 to the number of nodes, or leaves", name)
    fits = (np.diff(trees.first_leaf) == np.diff(trees.first_node) + 1).all()
    require(fits and len(trees.first_leaf) == len(trees.first_node), "must have a leaf more than nodes", "first_leaf")
    for name in ("threshold", "which", "missing_left", "links"):
        require(len(getattr(trees, name)) == n_nodes, "must have an entry per node", name)
    require(trees.links.shape == (n_nodes, 2), "must have two links per node", "links")
    require(len(trees.values) == n_leaves and trees.values.ndim == 2, "must have an entry per leaf", "values")
    require((trees.missing_left <= 1).all(), "must be 0 or 1", "missing_left")
    nominal = trees.threshold < 0
    fits = (np.where(nominal, trees.threshold == -1, trees.threshold < MISSING)).all()
    require(fits, f"must be -1, or below {MISSING}", "threshold")
    fits = (np.where(nominal, (trees.which >= 0) & (trees.which < len(trees.sets)), trees.which == -1)).all()
    require(fits, "must be the number of a set where the threshold is -1", "which")
    of_node = np.repeat(np.arange(len(trees.first_node) - 1), np.diff(trees.first_node))
    own, size = np.arange(n_nodes) - trees.first_node[of_node], np.diff(trees.first_node)[of_node]
    to_node = trees.links >= 0
    later = (trees.links > own[:, None]) & (trees.links < size[:, None])
    to_leaf = (~to_node) & (trees.links >= -(size + 1)[:, None])
    require(np.where(to_node, later, to_leaf).all(), "must lead to later nodes, or to leaves", "links")
    places = np.where(
        to_node, trees.links + trees.first_node[of_node][:, None], ~trees.links + trees.first_leaf[of_node][:, None]
    )
    once = len(np.unique(places[to_node])) == to_node.sum() and len(np.unique(places[~to_node])) == (~to_node).sum()
    require(once, "must lead to every node and leaf once", "links")


_WHOLE = array("i", ndim=(1,), low=0)
register(
    Trees,
    _check_trees,
    first_node=_WHOLE,
    first_leaf=_WHOLE,
    feature=_WHOLE,
    threshold=array("i", ndim=(1,), low=-1),
    which=array("i", ndim=(1,), low=-1),
    missing_left=_WHOLE,
    links=array("i", ndim=(2,)),
    sets=_code_sets(),
    values=array(ndim=(2,), most=LARGEST_VALUE),
    covers=COUNTS,
    importances=COUNTS,
)


def _check_part(part: Part) -> None:
    n = len(part.start)
    require(part.trees.values.shape[1] == n, "must have a column per output", "trees.values")
    floor = part.floor
    fits = floor is None or (len(floor) == n and (floor > 0).all() and (floor <= 1).all())
    require(fits, "must be above zero and at most one, one number per output", "floor")


register(Part, _check_part, weight=MULTIPLE, start=VALUES, floor=nullable(NUMBERS))


def _check_components(own: Components) -> None:
    n = len(own.features)
    fits = n > 0 and len(own.centre) == len(own.low) == len(own.high) == n and own.loadings.shape[1] == n
    require(fits and len(own.loadings) > 0, "must have an entry per column", "features")
    require((np.diff(own.features) > 0).all(), "must rise", "features")
    require((own.low <= own.high).all(), "must not be above high", "low")
    require(own.n_components <= MOST, f"must be at most {MOST}", "loadings")
    with np.errstate(over="ignore"):
        terms = np.abs(own.loadings) * np.maximum(own.high - own.centre, own.centre - own.low)
    require((terms <= LARGEST_VALUE).all(), f"must not give terms above {LARGEST_VALUE:.3g}", "loadings")
    require((np.abs(own.loadings * (own.high - own.centre)).max(axis=1) >= 1 / LARGEST_VALUE).all(),
            "must not give a component without terms", "loadings")  # fmt: skip


register(
    Components,
    _check_components,
    features=_WHOLE,
    centre=NUMBERS,
    low=NUMBERS,
    high=NUMBERS,
    loadings=array(ndim=(2,)),
)


def _check_portfolio(model: PortfolioModel) -> None:
    n, own = model.bins.n_features, model.components
    require(model.n_features + (0 if own is None else own.n_components) == n, "must be the number of features",
            "n_features")  # fmt: skip
    require(not model.bins.columns, "must be empty: a column is one feature", "bins.columns")
    if own is not None:
        numeric = own.features[-1] < model.n_features and not model.bins.nominal[own.features].any()
        numeric &= not model.bins.nominal[model.n_features :].any()
        require(numeric, "must be columns of numbers", "components.features")
    counts = model.support.per_code
    require(counts is not None and len(counts) == n, "must have an entry per feature", "support.per_code")
    assert counts is not None
    require((counts.sum(axis=1) > 0).all(), "must have examples of each feature", "support.per_code")
    require(len(model.parts) <= MOST_PARTS, f"must be at most {MOST_PARTS}", "parts")
    nominal, ordered = model.bins.nominal, model.bins.ordered  # in their order, or by sets
    for k, part in enumerate(model.parts):
        require(len(part.start) == model.n_outputs, "must have one number per output", f"parts[{k}].start")
        known = len(part.trees.importances)
        fits = known in (n, model.n_features) and (part.trees.feature < known).all()
        require(fits, f"must be features of the {n}", f"parts[{k}].trees.feature")
        tested, by_set = part.trees.feature, part.trees.threshold < 0
        fits = (ordered[tested] | (nominal[tested] == by_set)).all()
        require(fits, "must be -1 for categories, and only for these", f"parts[{k}].trees.threshold")


register(
    PortfolioModel,
    _check_portfolio,
    parts=list_of(record(Part), tuple),
    offset=VALUES,
    n_features=integer(1, MOST_FEATURES),
    components=nullable(record(Components)),
)
