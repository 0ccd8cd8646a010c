"""Fayyad and Irani's discretisation as a transformer: the attributes are cut once, before anything is trained."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import narwhals as nw
import numpy as np
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from skewboost.engine.table import Nominal, Table, read_table
from skewboost.learners.discretise import Intervals, discretise, interval_names
from skewboost.metrics.targets import check_labels, classes_of, weights_of_fit
from skewboost.parameters import check_params, one_of
from skewboost.typing import Array

MISSING_VALUE = "?"  # the category of missing cells, if they have one


@dataclass(kw_only=True, eq=False, repr=False)
class MDLDiscretizer(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    r"""Turn numeric columns into categories by the entropy method of Fayyad and Irani [fayyad1993]_.

    The cut of a set S of examples into S₁ and S₂ that leaves the smallest class entropy is accepted if it shortens the
    description length of the classes,

    .. math:: \mathrm{Ent}(S) - \sum_j \frac{N_j}{N} \mathrm{Ent}(S_j) >
              \frac{\log_2(N - 1) + \log_2(3^k - 2) - k\,\mathrm{Ent}(S) + \sum_j k_j \mathrm{Ent}(S_j)}{N} ,

    where N is the weight of S, k the number of its classes, and :math:`N_j`, :math:`k_j` are those of the parts. Then
    both parts are cut again. A column whose best cut is not accepted becomes a single interval: alone, it says too
    little about the class. Columns of categories or text are left alone.

    A table (pandas, polars, Arrow) becomes a table with categories such as ``"(13.4, 15]"``, which all boosters and
    `RuleLearner` read as categories. In pandas and polars they are ordered, as monotonic constraints need it. An array
    becomes an array of the numbers of the intervals, 0, 1, …, which a learner would read as numbers again. So pass a
    table if the columns should be categories, also with ``set_output(transform="pandas")``.

    `RuleLearner` cuts numbers itself, in every round of boosting, by the weights of the round. Discretise before
    boosting to cut them once, by all examples alike, as [sun2005]_ did (§4.2).

    Parameters
    ----------
    missing : {"keep", "value"}, default="keep"
        Whether missing cells stay missing, or become a category ``"?"`` of their own, also in columns of categories.
        In arrays, they stay NaN, or become the number after that of the last interval. With ``"?"``, categories are not
        ordered.

    Attributes
    ----------
    cuts_ : list of ndarray or None
        The cuts of each column, ascending and halfway between neighbouring values; x is to the left of a cut if x ≤
        cut. None for columns of categories.
    classes_ : ndarray of shape (n_classes,)
        The labels.
    n_features_in_ : int
        The number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        The names of the features, if all of them are strings.

    See Also
    --------
    sklearn.preprocessing.KBinsDiscretizer : Intervals of equal width or frequency, without regard to the classes.

    Notes
    -----
    The cuts depend on the labels. Fit the transformer on the training rows only, for example in a pipeline: cuts that
    were chosen with the labels of test rows make the results on these too good.

    References
    ----------
    .. [fayyad1993] U. M. Fayyad, K. B. Irani, "Multi-interval discretization of continuous-valued attributes for
       classification learning", International Joint Conference on Artificial Intelligence (1993) 1022-1027.
    .. [sun2005] Y. Sun, A. K. C. Wong, Y. Wang, "Parameter inference of cost-sensitive boosting algorithms", Machine
       Learning and Data Mining in Pattern Recognition (2005) 21-30.

    Examples
    --------
    >>> import pandas as pd
    >>> from skewboost.learners import MDLDiscretizer
    >>> X = pd.DataFrame({"size": [1.0, 2.0, 3.0, 4.0] * 10, "age": [7, 9] * 20})
    >>> y = (X["size"] > 2).astype(int)
    >>> discretizer = MDLDiscretizer().fit(X, y)
    >>> discretizer.cuts_
    [array([2.5]), array([], dtype=float64)]
    >>> discretizer.transform(pd.DataFrame({"size": [0.0, 2.6, None], "age": [8, 8, 8]}))["size"].tolist()
    ['(-inf, 2.5]', '(2.5, inf)', nan]
    """

    missing: Literal["keep", "value"] = "keep"

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.target_tags.required = True
        tags.transformer_tags.preserves_dtype = []
        return tags

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> MDLDiscretizer:
        """Find the cuts.

        Parameters
        ----------
        X : array-like or pandas, polars or Arrow table of shape (n_samples, n_features)
            Numbers; in tables also categories or text. Cells may be missing; those of a column are left out when it is
            cut.
        y : array-like of shape (n_samples,)
            Class labels.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            The number of examples that a row stands for: a weight of 2 is the same as two rows, and rows of weight 0
            are ignored. So the scale matters: more examples allow more cuts.

        Returns
        -------
        self
        """
        check_params(self, missing=one_of("keep", "value"))
        table = read_table(self, X, reset=True)
        labels, weights = check_labels(self, y, table.n_rows), np.ones(table.n_rows)
        if sample_weight is not None:
            weights = weights_of_fit(sample_weight, table.n_rows)
        present = np.flatnonzero(weights)
        table, labels, weights = table.take(present), labels[present], weights[present]
        self.classes_ = classes_of(self, labels)
        target = np.searchsorted(self.classes_, labels)
        self.cuts_: list[Array | None] = []
        for j in range(table.n_features):
            values = discretise(table.column(j), target, weights, len(self.classes_))
            self.cuts_.append(values.cuts if isinstance(values, Intervals) else None)
        return self

    def transform(self, X: Any) -> Any:
        """Turn numbers into intervals.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            Rows with the columns of training. Every number is in one of the intervals, of which the outer two have no
            end. Categories that did not occur in training are left as they are.

        Returns
        -------
        table of the type of X, or ndarray of shape (n_samples, n_features)
            Categories; for an array the numbers of the intervals.
        """
        check_is_fitted(self)
        table = read_table(self, X, reset=False)
        names: Any = self.get_feature_names_out()
        table = table.conform([cuts is None for cuts in self.cuts_], list(names))
        if table.frame is None:
            return np.column_stack([self._numbers(table.column(j), cuts) for j, cuts in enumerate(self.cuts_)])
        return self._as_categories(table, list(names))

    def _numbers(self, column: Array | Nominal, cuts: Array | None) -> Array:
        """The numbers of the intervals of an array's column."""
        assert cuts is not None  # arrays have no categories
        codes = Intervals(cuts, missing=True).encode(column).astype(np.float64)
        if self.missing == "keep":
            codes[codes > len(cuts)] = np.nan
        return codes

    def _as_categories(self, table: Table, names: list[str]) -> Any:
        """A table of the type of the user's, with its index, if it has one."""
        native = nw.get_native_namespace(table.frame)
        series = []
        for j, (name, cuts) in enumerate(zip(names, self.cuts_)):
            column = table.column(j)
            if isinstance(column, Nominal):
                categories: Sequence[str] = column.categories
                codes = np.where(column.codes < 0, len(categories), column.codes)
            else:
                assert cuts is not None
                categories, codes = interval_names(cuts), Intervals(cuts, missing=True).encode(column)
            if cuts is None and (self.missing == "keep" or codes.max() < len(categories)):
                series.append(table.frame[:, j].alias(name))
            else:
                series.append(self._gathered(name, categories, codes, native))
        frame = table.frame.rename(dict(zip(table.frame.columns, names)))
        return frame.with_columns(*series).to_native()

    def _gathered(self, name: str, categories: Sequence[str], codes: Array, native: Any) -> Any:
        """A column of categories by their numbers; the number after the last one is a missing cell."""
        is_value = self.missing == "value"
        values = [*categories, MISSING_VALUE if is_value else None]
        levels = nw.new_series(name, values, nw.String, backend=native)
        ordered = not is_value and not levels.implementation.is_pyarrow()  # Arrow has no ordered categories by name
        return levels.cast(nw.Enum(categories) if ordered else nw.Categorical())[codes]
