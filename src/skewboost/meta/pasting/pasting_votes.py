"""Pasting small votes, with the interface of scikit-learn."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from contextlib import nullcontext
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from skewboost.datasets.chunks import ChunkRows, MemoryRows, ParquetRows, Rows, count_rows, is_path
from skewboost.errors import InputError
from skewboost.fitting import MostProbableMixin, restore_on_failure
from skewboost.meta.inner_labels import with_pos_label
from skewboost.meta.pasting.bites import RowPools, RowsInMemory, Voters, rows_in_memory
from skewboost.meta.pasting.row_sources import (
    Targets,
    read_once,
    read_targets,
    rows_for_members,
    source_of,
    targets_in_memory,
)
from skewboost.meta.pasting.vote_rounds import Plan, VoteState, train
from skewboost.parameters import (
    CLASSIFIER,
    N_JOBS,
    Check,
    check_params,
    check_random_state,
    either,
    integer,
    number,
    one_of,
    optional,
)
from skewboost.progress import ProgressBar
from skewboost.typing import Array

DEFAULT_PATIENCE = 10


@dataclass(eq=False, repr=False)
class PastingVotesClassifier(MostProbableMixin, ClassifierMixin, BaseEstimator):
    r"""An ensemble of classifiers that are each fitted to a small sample of the data, which need not fit in memory.

    Breiman [breiman1999pasting]_ calls such a sample a *bite*. *Rvotes* (``kind="random"``) fits each member to
    ``bite_size`` random rows. *Ivotes* (``kind="importance"``) draws random rows too, and always accepts a row that the
    out-of-bag vote gets wrong, but accepts a row that it gets right only with probability

    .. math:: \frac{e(k)}{1 - e(k)}, \qquad e(k) = p\, e(k-1) + (1 - p)\, r(k), \qquad e(1) = r(1),

    until the bite is full. So about half of the rows of a bite are hard. The out-of-bag vote on a row is that of the
    members whose bites do not contain it, :math:`r(k)` is its error after k members, and p is ``smoothing``. This
    resembles boosting, but the time per member does not depend on the size of the data.

    Rows are drawn with replacement, and the first bite is random. Ties of the out-of-bag vote are broken at random; a
    row without a vote is a tie of all classes. All members have equal weight. :math:`r(k)` is measured on all rows if
    these are in memory, and otherwise on the rows that are considered next, at least 1000. Two details are not in the
    paper: the probability of acceptance is never below ``bite_size / pool_size``, so that a bite does not take too long
    if errors are very rare, and a bite never has more rows than the data (Rvotes is then bagging). Ties in
    :meth:`predict` go to the first class.

    **Large data.** Rows are drawn ahead in pools of ``pool_size``. Each pool is an independent random draw from all
    rows, fetched in one pass over the files, and its rows are considered in the order of the draws. So each row that is
    considered is an independent draw from the whole data. One pool and the labels (one byte per row if there are few
    classes) are kept in memory, and 8 bytes per row if there are weights.

    **Rare classes.** A random bite of 800 rows may have no example of a class. Its member then always votes for the
    only class it has seen, as a tree would. Ivotes finds rare classes by itself, because the vote gets them wrong at
    first; ``class_shares="balanced"`` helps both kinds.

    Parameters
    ----------
    estimator : classifier or None, default=None
        The classifier that is fitted to a bite: any scikit-learn classifier or pipeline, or one of this package. It
        gets the rows as they are given (rows of Parquet files as a pandas table, or as an Arrow table if pandas is not
        installed). None is an unpruned decision tree, as in the paper, which needs numbers; they may be missing.
    kind : {"importance", "random"}, default="importance"
        Ivotes or Rvotes. Members of Rvotes are fitted in parallel, but approximate a complex boundary less well. With
        noisy labels Rvotes is the better choice, because Ivotes concentrates on rows that cannot be predicted.
    n_estimators : int, default=100
        The number of members.
    bite_size : int, default=800
        The number of rows in a bite.
    voting : {"hard", "soft"}, default="hard"
        "hard": each member has one vote, and `predict_proba` is the fraction of the votes, as in the paper. "soft": the
        probabilities of the members are averaged.
    class_shares : {"data", "balanced"} or dict, default="data"
        The class frequencies of the rows that are considered for a bite: those of the data, all equal, or
        ``{label: proportion}``. Errors :math:`r` and :math:`e` and probabilities then refer to these frequencies.
    smoothing : float, default=0.75
        p, the inertia of the error estimate.
    pool_size : int, default=200_000
        The number of rows in memory at a time. Smaller data is kept in memory as a whole.
    early_stopping : bool or int, default=False
        Stop when the smoothed error has not fallen for this many members (True: 10).
    tol : float or None, default=None
        The minimum decrease that counts for early stopping; None is 0.
    warm_start : bool, default=False
        Keep the members of the last fit and add more, up to ``n_estimators``. The data must be the same.
    random_state : int, RandomState or None, default=None
        The seed of all draws and of the members.
    n_jobs : int or None, default=None
        The number of threads for votes, and for fitting members of Rvotes; -1 for all cores. Results do not depend on
        it.
    verbose : int, default=0
        Show a progress bar if not 0.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The class labels.
    estimators_ : list of classifiers
        The members.
    estimators_samples_ : list of ndarray
        The numbers of the rows of each bite.
    oob_error_ : float
        The error of the out-of-bag vote of all members, on all rows if these are in memory, otherwise on one more pool.
        On few rows the error of Ivotes is too high: hard rows are in many bites, and few members vote on them.
    oob_decision_function_ : ndarray of shape (n_samples, n_classes)
        The fractions of the out-of-bag votes on the training rows, NaN where there are none. Only if all rows were in
        memory.
    history_ : list of dict
        For each member: ``bite_size``, the number of classes in the bite ``n_classes``, the number of rows
        ``considered`` for it (its expectation if all rows are in memory), the fraction ``hard_share`` that the vote got
        wrong (NaN if the vote was not needed), and with the new member ``oob_error`` r(k) and ``smoothed_error`` e(k).
    stop_reason_ : str
        Why training ended.
    n_samples_seen_ : int
        The number of rows of the data.
    n_features_in_ : int
        The number of features.
    feature_names_in_ : ndarray
        The names of the features, if they have any.

    References
    ----------
    .. [breiman1999pasting] L. Breiman, "Pasting small votes for classification in large databases and on-line", Machine
       Learning 36 (1999) 85-103.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from skewboost import PastingVotesClassifier
    >>> X, y = make_classification(5000, n_informative=8, random_state=0)
    >>> clf = PastingVotesClassifier(bite_size=200, n_estimators=50, random_state=0).fit(X[:4000], y[:4000])
    >>> print(f"out-of-bag {clf.oob_error_:.2f}, test {1 - clf.score(X[4000:], y[4000:]):.2f}")
    out-of-bag 0.08, test 0.07
    """

    estimator: Any = None
    _: KW_ONLY
    kind: str = "importance"
    n_estimators: int = 100
    bite_size: int = 800
    voting: str = "hard"
    class_shares: Any = "data"
    smoothing: float = 0.75
    pool_size: int = 200_000
    early_stopping: bool | int = False
    tol: float | None = None
    warm_start: bool = False
    random_state: Any = None
    n_jobs: int | None = None
    verbose: int = 0

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = get_tags(self._base())
        tags.input_tags.allow_nan = inner.input_tags.allow_nan
        if inner.classifier_tags is not None:
            tags.classifier_tags.multi_class = inner.classifier_tags.multi_class
        return tags

    def _base(self) -> Any:
        return DecisionTreeClassifier() if self.estimator is None else self.estimator

    # --------------------------------------------------------------------- fitting

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> PastingVotesClassifier:
        """Fit the members.

        Parameters
        ----------
        X : table, path or list of paths, :class:`~skewboost.datasets.chunks.Rows`, callable or iterator
            An array or a pandas, polars or Arrow table; Parquet files (a file, a list, a folder, a pattern); a function
            that returns a new iterator of chunks ``(X, y)`` or ``(X, y, sample_weight)``, which is called for every
            pass over the data; or an iterator of such chunks, of which a random sample of ``pool_size`` rows is kept
            (Ivotes accepts an iterator only if it has no more rows than that).
        y : array-like of shape (n_samples,), str or None
            Class labels; the name of their column if X is a path; None if X yields them.
        sample_weight : array-like of shape (n_samples,), str or None, default=None
            The number of examples that a row stands for. Rows are drawn in proportion to it, and it counts in the
            out-of-bag error. In memory, a row of integer weight w is exactly the same as w rows. The name of a column
            if X is a path.

        Returns
        -------
        self
        """
        before = getattr(self, "_state", None)
        with restore_on_failure(self, keep_interrupted=lambda: getattr(self, "_state", None) is not before):
            self._fit(X, y, sample_weight)
        return self

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> None:
        self._check_params()
        continues = bool(self.warm_start and hasattr(self, "_state"))
        if not continues:
            self._seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        source, n_seen = source_of(X, y, sample_weight), None
        self._arrow_as_pandas = isinstance(source, ParquetRows)
        if source is None and hasattr(X, "__next__"):
            rng = np.random.default_rng((self._seed, 3))
            X, y, sample_weight, n_seen = read_once(X, self.pool_size, self.kind == "importance", rng)
        if source is None:
            source = MemoryRows(self._rows(X, reset=not continues))
            targets = targets_in_memory(self, y, sample_weight, count_rows(source.X))
        else:
            targets = read_targets(self, source)
        if continues:
            self._check_warm_start(targets)
        self.classes_, self._n_rows, self._own = targets.classes, len(targets.codes), self._own_params()
        self.n_samples_seen_ = n_seen or self._n_rows
        state = self._state.copy() if continues else VoteState()
        in_memory = self._n_rows <= self.pool_size
        member = with_pos_label(self._base(), targets.classes, targets.positive)
        self._train((self._in_memory if in_memory else self._pools)(source, targets, state), state, member)

    def _in_memory(self, source: Rows, targets: Targets, state: VoteState) -> RowsInMemory:
        if isinstance(source, MemoryRows):
            X = source.X
        else:
            X = self._rows(source.gather(np.arange(self._n_rows)), reset=not state.members)
        rows = rows_in_memory(X, targets, self.class_shares, self.pool_size, self._voters())
        rows.recount(state.members, state.bites)
        return rows

    def _pools(self, source: Rows, targets: Targets, state: VoteState) -> RowPools:
        is_checked = isinstance(source, MemoryRows)
        has_features = bool(state.members)

        def fetch(rows: Array) -> Any:
            nonlocal has_features
            X = source.gather(rows)
            X = X if is_checked else self._rows(X, reset=not has_features)
            has_features = True
            return X

        chances, weights = targets.chances(self.class_shares), targets.weights
        pools = RowPools(fetch, targets.codes, chances, weights, self.pool_size, self._voters(), self._seed)
        pools.resume(state.members, state.bites, *state.pools)
        if state.ahead:
            pools.error(state.ahead)  # so that the next bite is the same as without the interruption
        return pools

    def _train(self, rows: RowsInMemory | RowPools, state: VoteState, member: Any) -> None:
        """Train copies of a member; after an interruption, keep those that are finished."""
        plan = self._plan(min(self.bite_size, rows.n_rows), member)
        n_before = len(state.members)
        try:
            with ProgressBar(plan.n_members, "members") if self.verbose else nullcontext() as bar:
                for k, error in enumerate(train(rows, plan, state, self.classes_), n_before + 1):
                    if bar is not None:
                        bar.update(k, f"error {error:.4g}")
            state.pools = rows.position
            self._finish(rows, state, rows.final_error())
        except KeyboardInterrupt:
            n_finished = len(state.history)
            del state.members[n_finished:], state.bites[n_finished:]
            if n_finished > n_before:
                state.stop_reason, state.pools = "interrupted", rows.position
                self._finish(rows, state, state.history[-1]["oob_error"])
            raise
        one_class = np.mean([record["n_classes"] == 1 for record in state.history])
        if one_class > 0.5:
            warnings.warn(
                f"{one_class:.0%} of the bites of {plan.bite_size} rows have only one class, so their members always "
                'vote for it. Set class_shares="balanced", or a larger bite_size.',
                stacklevel=4,
            )

    def _finish(self, rows: RowsInMemory | RowPools, state: VoteState, error: float) -> None:
        self._state = state
        self.estimators_ = state.members
        self.history_ = [dict(record) for record in state.history]
        self.stop_reason_, self.oob_error_ = state.stop_reason, error
        self.estimators_samples_ = state.bites
        self.__dict__.pop("oob_decision_function_", None)
        if isinstance(rows, RowsInMemory):
            self.estimators_samples_ = [rows.numbers[b] for b in state.bites]
            self.oob_decision_function_ = rows.vote_fractions(self._n_rows)

    def _plan(self, bite_size: int, member: Any) -> Plan:
        patience = DEFAULT_PATIENCE if isinstance(self.early_stopping, bool | np.bool_) else int(self.early_stopping)
        return Plan(
            estimator=member,
            importance=self.kind == "importance",
            n_members=self.n_estimators,
            bite_size=bite_size,
            pool_size=self.pool_size,
            smoothing=self.smoothing,
            patience=patience if self.early_stopping else None,
            tol=self.tol or 0.0,
            seed=self._seed,
            n_jobs=effective_n_jobs(self.n_jobs),
        )

    def _own_params(self) -> dict[str, str]:
        """The parameters that must stay the same in a warm start, as text."""
        free = ("n_estimators", "early_stopping", "tol", "warm_start", "random_state", "n_jobs", "verbose")
        return {name: repr(value) for name, value in self.get_params(deep=False).items() if name not in free}

    def _check_warm_start(self, targets: Targets) -> None:
        remedy = "Set warm_start=False to start anew."
        n_members = len(self._state.members)
        if self.n_estimators < n_members:
            raise InputError(
                f"With warm_start=True, n_estimators={self.n_estimators} must be at least the {n_members} members of "
                "the last fit.",
                remedy,
            )
        if not np.array_equal(targets.classes, self.classes_) or len(targets.codes) != self._n_rows:
            raise InputError("With warm_start=True, the data must be the same as in the last fit.", remedy)
        for name, value in self._own_params().items():
            if value != self._own[name]:
                raise InputError(f"{name}={value}, but training started with {self._own[name]}.", remedy)

    def _check_params(self) -> None:
        check_params(
            self,
            estimator=optional(CLASSIFIER),
            kind=one_of("importance", "random"),
            n_estimators=integer(1),
            bite_size=integer(1),
            voting=one_of("hard", "soft"),
            class_shares=Check(_are_shares, '"data", "balanced" or a dict {label: proportion} of positive numbers'),
            smoothing=number(0, 0.999),
            pool_size=integer(1),
            early_stopping=either(one_of(True, False), integer(1)),
            tol=optional(number(0, 1)),
            warm_start=one_of(True, False),
            n_jobs=N_JOBS,
            verbose=either(one_of(True, False), integer(0)),
        )
        if self.pool_size < 2 * self.bite_size:
            raise InputError(
                f"pool_size={self.pool_size} must be at least twice bite_size={self.bite_size}.",
                "A hundred times is better: bites are chosen from pools.",
            )
        if self.tol is not None and not self.early_stopping:
            raise InputError(f"tol={self.tol!r} has no effect without early stopping.", "Set early_stopping=True.")
        if self.voting == "soft" and not hasattr(self._base(), "predict_proba"):
            raise InputError(
                f"voting='soft' needs predict_proba, but {self.estimator!r} does not have it.", "Set voting='hard'."
            )

    # ------------------------------------------------------------------ prediction

    def _voters(self) -> Voters:
        return Voters(self.classes_, self.voting == "soft", effective_n_jobs(self.n_jobs))

    def _rows(self, X: Any, *, reset: bool) -> Any:
        if is_path(X):
            raise InputError("X is the path of files, which are read in chunks.", "Call predict_chunks(X).")
        return rows_for_members(self, X, reset, default=self.estimator is None, arrow_as_pandas=self._arrow_as_pandas)

    def predict_proba(self, X: Any) -> Array:
        """The fraction of the votes for each class, or the mean of the members' probabilities.

        Parameters
        ----------
        X : array-like or table of shape (n_samples, n_features)
            New rows, with the columns of training.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
        """
        check_is_fitted(self)
        votes = self._voters().count(self.estimators_, self._rows(X, reset=False))
        return np.asarray(votes / len(self.estimators_))

    def predict_chunks(self, X: Any, method: str = "predict") -> Iterator[Array]:
        """Predict rows that do not fit in memory, chunk by chunk.

        Parameters
        ----------
        X : path or list of paths, :class:`~skewboost.datasets.chunks.Rows`, callable or iterator
            Parquet files, of which the columns of training are read; or chunks: X, or tuples that begin with X.
        method : {"predict", "predict_proba"}, default="predict"
            The method to call for each chunk.

        Yields
        ------
        ndarray
            The predictions for each chunk, in order.
        """
        check_is_fitted(self)
        if method not in ("predict", "predict_proba"):
            raise InputError(f"method must be 'predict' or 'predict_proba'; got {method!r}.")
        if is_path(X):
            X = ParquetRows(X, columns=getattr(self, "feature_names_in_", None))
        if not isinstance(X, Rows):
            if not callable(X) and not hasattr(X, "__next__"):
                raise InputError(
                    "X must be paths, or a function or iterator of chunks.", "For a table, call predict(X)."
                )
            chunks = X
            X = ChunkRows(chunks if callable(chunks) else lambda: chunks)
        return (getattr(self, method)(table) for table in X.tables())


def _are_shares(value: Any) -> bool:
    if isinstance(value, str):
        return value in ("data", "balanced")
    if not isinstance(value, Mapping) or not value:
        return False
    return all(number(0, None, open_low=True).passes(share) for share in value.values())
