"""Pasting small votes: scikit-learn's contract around the loop."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from sklearn.base import BaseEstimator, ClassifierMixin, is_classifier
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils import check_random_state, get_tags

from skewboost.datasets.chunks import MemoryRows, ParquetRows, Rows, count_rows
from skewboost.errors import InputError
from skewboost.meta.pasting.bites import Pools, Whole, open_whole
from skewboost.meta.pasting.row_sources import (
    Targets,
    read_once,
    read_targets,
    source_of,
    targets_in_memory,
)
from skewboost.meta.pasting.vote_counts import VotePredictionMixin
from skewboost.meta.pasting.vote_rounds import Plan, Tally, train
from skewboost.parameters import N_JOBS, Check, check_params, either, integer, number, one_of, optional
from skewboost.progress import track
from skewboost.typing import Array

DEFAULT_PATIENCE = 10


class PastingVotesClassifier(VotePredictionMixin, ClassifierMixin, BaseEstimator):
    r"""Many classifiers, each fitted to a small bite of the data, vote; the data need not fit in memory.

    *Rvotes* (``kind="random"``) fits each member to ``bite_size`` rows drawn at random. *Ivotes*
    (``kind="importance"``) draws rows at random too, but takes a row that the out-of-bag vote gets right only with
    probability

    .. math:: \frac{e(k)}{1 - e(k)}, \qquad e(k) = p\, e(k-1) + (1 - p)\, r(k), \qquad e(1) = r(1),

    and one that it gets wrong always, until the bite is full: about half of a bite is hard. The out-of-bag vote on a
    row is that of the members whose bites it was not in, :math:`r(k)` is its error after k members, and p is
    ``smoothing``. This is like boosting, but a member costs the same however large the data is.

    In detail: rows are drawn with replacement; the first bite is random; ties of a vote are broken at random (a row
    without a vote is a tie of all classes); members vote with equal weight; :math:`r(k)` is measured on all rows where
    these are in memory, and otherwise on the rows that are considered next, of which there are 1000 at least. Two
    safeguards are not the paper's: the probability of taking is never below ``bite_size / pool_size``, so that errors
    that are very rare do not make a bite take for ever, and there are never more rows in a bite than in the data (then
    Rvotes is bagging). Ties in :meth:`predict` go to the class that comes first.

    **Large data.** Rows are drawn ahead in pools of ``pool_size``: each pool is an independent random draw from all
    rows, fetched in one pass over the files, and its rows are considered in the order in which they were drawn. So each
    row that is considered is an independent draw from the whole database, as if it was fetched alone. In memory are one
    pool, the labels (a byte per row where classes are few), and 8 bytes per row if there are weights.

    **Rare classes.** A random bite of 800 rows may hold no example of a class. Its member then always votes for the
    class there is, which is what a tree would learn. Ivotes helps by itself, since rare rows are those that the vote
    gets wrong; ``class_shares="balanced"`` helps both kinds.

    Parameters
    ----------
    estimator : classifier or None, default=None
        What is fitted to a bite: any scikit-learn classifier or pipeline, also those of this package. It gets the
        rows as they are given (those of Parquet files as a pandas table, or an Arrow table where pandas is not
        installed). None is an unpruned decision tree, as in the paper, which takes numbers, also missing ones.
    kind : {"importance", "random"}, default="importance"
        Ivotes or Rvotes. Rvotes are fitted in parallel, but cannot follow a fine boundary. Where labels are noisy they
        are the better choice: Ivotes spends its bites on rows that cannot be got right.
    n_estimators : int, default=100
        The number of members.
    bite_size : int, default=800
        The rows of a bite.
    voting : {"hard", "soft"}, default="hard"
        "hard": each member has one vote, and `predict_proba` is the share of the votes, as in the paper. "soft": the
        probabilities of the members are averaged.
    class_shares : {"data", "balanced"} or dict, default="data"
        The classes of the rows that are considered for a bite: as in the data, all equally often, or shares
        ``{label: share}``. Then :math:`r` and :math:`e` are errors on rows of such classes, and so are the
        probabilities.
    smoothing : float, default=0.75
        p, how slowly the estimate of the error moves.
    pool_size : int, default=200_000
        How many rows are in memory at a time. Data of no more rows are kept in memory as a whole.
    early_stopping : bool or int, default=False
        Stop when the smoothed error has not fallen for this many members (True: 10).
    tol : float or None, default=None
        By how much it must fall to count; None is 0.
    warm_start : bool, default=False
        Keep the members there are and add more of them, up to ``n_estimators``. The data must be the same.
    random_state : int, RandomState or None, default=None
        Determines all draws, and the seeds of the members.
    n_jobs : int or None, default=None
        Threads for votes, and for fitting members of Rvotes; -1 for all cores. Results do not depend on it.
    verbose : int, default=0
        Draws a bar if not 0.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The class labels.
    estimators_ : list of classifiers
        The members.
    estimators_samples_ : list of ndarray
        The numbers of the rows of each bite.
    oob_error_ : float
        The error of the out-of-bag vote of all members: on all rows where these are in memory, else on one more pool.
        For Ivotes on few rows it is too high: hard ones are in many bites, and few members are left to vote on them.
    oob_decision_function_ : ndarray of shape (n_samples, n_classes)
        The shares of the out-of-bag votes on the training rows, NaN where there is none. Only where all rows were in
        memory.
    history_ : list of dict
        For each member: ``bite_size``, ``n_classes`` in the bite, rows ``considered`` for it (the expected number where
        all rows are in memory), its ``hard_share`` (what the vote got wrong; NaN
        where that was not asked), and after it voted ``oob_error`` r(k) and
        ``smoothed_error`` e(k).
    stop_reason_ : str
        Why training ended.
    n_samples_seen_ : int
        The number of rows of the data.
    n_features_in_ : int
        The number of features.
    feature_names_in_ : ndarray
        Their names, if they have any.

    References
    ----------
    .. [1] L. Breiman, "Pasting small votes for classification in large databases and on-line", Machine Learning 36
       (1999) 85-103.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from skewboost import PastingVotesClassifier
    >>> X, y = make_classification(5000, n_informative=8, random_state=0)
    >>> clf = PastingVotesClassifier(bite_size=200, n_estimators=50, random_state=0).fit(X[:4000], y[:4000])
    >>> print(f"out-of-bag {clf.oob_error_:.2f}, test {1 - clf.score(X[4000:], y[4000:]):.2f}")
    out-of-bag 0.08, test 0.08
    """

    def __init__(
        self,
        estimator: Any = None,
        *,
        kind: str = "importance",
        n_estimators: int = 100,
        bite_size: int = 800,
        voting: str = "hard",
        class_shares: Any = "data",
        smoothing: float = 0.75,
        pool_size: int = 200_000,
        early_stopping: bool | int = False,
        tol: float | None = None,
        warm_start: bool = False,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.kind = kind
        self.n_estimators = n_estimators
        self.bite_size = bite_size
        self.voting = voting
        self.class_shares = class_shares
        self.smoothing = smoothing
        self.pool_size = pool_size
        self.early_stopping = early_stopping
        self.tol = tol
        self.warm_start = warm_start
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    _tally: Tally
    _seed: int
    _n_rows: int
    _own: dict[str, str]

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
            that returns a fresh iterator of chunks ``(X, y)`` or ``(X, y, sample_weight)``, which is called for every
            pass over the data; or an iterator of such chunks, of which a random sample of ``pool_size`` rows is kept
            (Ivotes takes one of no more rows than that).
        y : array-like of shape (n_samples,), str or None
            Class labels; the name of their column if X is a path; None if X gives them.
        sample_weight : array-like of shape (n_samples,), str or None, default=None
            How many examples a row stands for: rows are drawn in proportion to it, and it counts in the out-of-bag
            error. In memory a whole number is the row so many times, to the bit. The name of a column if X is a path.

        Returns
        -------
        self
        """
        before = dict(self.__dict__)
        try:
            self._fit(X, y, sample_weight)
        except BaseException as error:
            if not (isinstance(error, KeyboardInterrupt) and self.__dict__.get("_tally") is not before.get("_tally")):
                self.__dict__.clear()
                self.__dict__.update(before)
            raise
        return self

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> None:
        self._check_params()
        going_on = bool(self.warm_start and hasattr(self, "_tally"))
        if not going_on:
            self._seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        source, n_seen = source_of(X, y, sample_weight), None
        self._arrow_as_pandas = isinstance(source, ParquetRows)
        if source is None and hasattr(X, "__next__"):
            rng = np.random.default_rng((self._seed, 3))
            X, y, sample_weight, n_seen = read_once(X, self.pool_size, self.kind == "importance", rng)
        if source is None:
            source = MemoryRows(self._rows(X, reset=not going_on))
            targets = targets_in_memory(self, y, sample_weight, count_rows(source.X))
        else:
            targets = read_targets(self, source)
        if going_on:
            self._check_going_on(targets)
        self.classes_, self._n_rows, self._own = targets.classes, len(targets.codes), self._own_params()
        self.n_samples_seen_ = n_seen or self._n_rows
        tally = self._tally.copy() if going_on else Tally()
        if self._n_rows <= self.pool_size:
            self._vote(self._whole(source, targets, tally), tally)
        else:
            self._vote(self._pools(source, targets, tally), tally)

    def _whole(self, source: Rows, targets: Targets, tally: Tally) -> Whole:
        """All rows in memory."""
        if isinstance(source, MemoryRows):
            X = source.X
        else:
            X = self._rows(source.gather(np.arange(self._n_rows)), reset=not tally.members)
        database = open_whole(X, targets, self.class_shares, self.pool_size, self._voters())
        database.recount(tally.members, tally.bites)
        return database

    def _pools(self, source: Rows, targets: Targets, tally: Tally) -> Pools:
        """Rows are fetched as they are needed."""
        is_checked = isinstance(source, MemoryRows)
        is_known = bool(tally.members)

        def fetch(rows: Array) -> Any:
            nonlocal is_known
            X = source.gather(rows)
            X = X if is_checked else self._rows(X, reset=not is_known)
            is_known = True
            return X

        chances, weights = targets.chances(self.class_shares), targets.weights
        database = Pools(fetch, targets.codes, chances, weights, self.pool_size, self._voters(), self._seed)
        database.resume(tally.members, tally.bites, *tally.pools)
        if tally.ahead:
            database.error(tally.ahead)  # so that the next bite sees what it would have seen without the break
        return database

    def _vote(self, database: Whole | Pools, tally: Tally) -> None:
        """Train, and keep what is finished if that is interrupted."""
        plan = self._plan(min(self.bite_size, database.n_rows))
        n_done = len(tally.members)
        members = train(database, plan, tally, self.classes_)
        try:
            for _ in track(members, plan.n_members, n_done) if self.verbose else members:
                pass
            tally.pools = database.position
            self._finish(database, tally, database.final_error())
        except KeyboardInterrupt:
            n_whole = len(tally.history)
            del tally.members[n_whole:], tally.bites[n_whole:]
            if n_whole > n_done:
                tally.stop_reason, tally.pools = "interrupted", database.position
                self._finish(database, tally, tally.history[-1]["oob_error"])
            raise
        one_class = np.mean([record["n_classes"] == 1 for record in tally.history])
        if one_class > 0.5:
            warnings.warn(
                f"{one_class:.0%} of the bites of {plan.bite_size} rows held one class only, and their members always "
                'vote for it. Set class_shares="balanced", or a larger bite_size.',
                stacklevel=4,
            )

    def _finish(self, database: Whole | Pools, tally: Tally, error: float) -> None:
        self._tally = tally
        self.estimators_ = tally.members
        self.history_ = [dict(record) for record in tally.history]
        self.stop_reason_, self.oob_error_ = tally.stop_reason, error
        self.estimators_samples_ = tally.bites
        self.__dict__.pop("oob_decision_function_", None)
        if isinstance(database, Whole):
            self.estimators_samples_ = [database.numbers[b] for b in tally.bites]
            self.oob_decision_function_ = database.shares(self._n_rows)

    def _plan(self, bite_size: int) -> Plan:
        patience = DEFAULT_PATIENCE if isinstance(self.early_stopping, bool | np.bool_) else int(self.early_stopping)
        return Plan(
            estimator=self._base(),
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
        """The parameters that members depend on, as text."""
        free = ("n_estimators", "early_stopping", "tol", "warm_start", "random_state", "n_jobs", "verbose")
        return {name: repr(value) for name, value in self.get_params(deep=False).items() if name not in free}

    def _check_going_on(self, targets: Targets) -> None:
        """Whether a warm start can go on from what there is."""
        remedy = "set warm_start=False to start anew."
        if self.n_estimators < len(self._tally.members):
            raise InputError(
                f"n_estimators={self.n_estimators} is less than the {len(self._tally.members)} members there are. With "
                f"warm_start=True it can only grow; {remedy}"
            )
        if not np.array_equal(targets.classes, self.classes_) or len(targets.codes) != self._n_rows:
            raise InputError(f"With warm_start=True the data must be the same, and this is other data; {remedy}")
        for name, value in self._own_params().items():
            if value != self._own[name]:
                raise InputError(f"{name}={value}, but training started with {self._own[name]}; {remedy}")

    def _check_params(self) -> None:
        check_params(
            self,
            kind=one_of("importance", "random"),
            n_estimators=integer(1),
            bite_size=integer(1),
            voting=one_of("hard", "soft"),
            class_shares=Check(_are_shares, '"data", "balanced" or a dict {label: share} of positive shares'),
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
                f"pool_size={self.pool_size} must be twice the bite_size={self.bite_size} at least, and better a "
                "hundred times: bites are chosen from pools."
            )
        if self.tol is not None and not self.early_stopping:
            raise InputError(f"tol={self.tol!r} has no effect without early stopping. Set early_stopping=True.")
        given = self.estimator
        if given is not None and (isinstance(given, type) or not (hasattr(given, "fit") and is_classifier(given))):
            raise InputError(f"estimator must be a classifier, or None for a decision tree; got {self.estimator!r}.")
        if self.voting == "soft" and not hasattr(self._base(), "predict_proba"):
            raise InputError(f"voting='soft' needs predict_proba, which {self.estimator!r} has not. Take 'hard'.")


def _are_shares(value: Any) -> bool:
    if isinstance(value, str):
        return value in ("data", "balanced")
    if not isinstance(value, Mapping) or not value:
        return False
    return all(number(0, None, open_low=True).passes(share) for share in value.values())
