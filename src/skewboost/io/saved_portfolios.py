"""The parts of fitted portfolios in files: families, components, and what must hold between them."""

from __future__ import annotations

import numpy as np

from skewboost.io import saved_trees  # noqa: F401 - which registers trees
from skewboost.io.saved_parts import LARGEST_VALUE, MOST_FEATURES, MULTIPLE, NUMBERS, VALUES
from skewboost.io.structure import array, integer, list_of, nullable, record, register, require
from skewboost.meta.portfolio.components import MOST, Components
from skewboost.meta.portfolio.portfolio_model import Part, PortfolioModel

MOST_PARTS = 16  # a portfolio has at most six families and a regression; each has a table of 256 numbers per column


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
    features=array("i", ndim=(1,), low=0),
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
