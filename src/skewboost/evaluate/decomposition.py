"""Of what the loss is made: what a method gets wrong on average, and what depends on the training set.

References
----------
.. [1] P. Domingos, "A unified bias-variance decomposition and its applications", International Conference on Machine
   Learning (2000) 231-238.
.. [2] R. Kohavi, D. Wolpert, "Bias plus variance decomposition for zero-one loss functions", International Conference
   on Machine Learning (1996) 275-283.
.. [3] G. James, "Variance and bias for general loss functions", Machine Learning 51 (2003) 115-135.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from skewboost.errors import InputError
from skewboost.evaluate.problem import Problem, problem_of
from skewboost.evaluate.running import (
    Rows,
    check_estimator_is_one,
    check_jobs,
    fitted,
    in_parallel,
    read_rows,
    seeds_for,
)
from skewboost.evaluate.splitting import repeated_folds
from skewboost.evaluate.stages import check_staged, own_pos_label, stages_of
from skewboost.typing import Array

METHODS = ("domingos", "kohavi_wolpert")
SCHEMES = ("bootstrap", "subsample", "cv")
TEST_SHARE = 3  # one row in three is tested


@dataclass(frozen=True)
class BiasVariance:
    """What `bias_variance` found; arrays have an entry per round, or one.

    Attributes
    ----------
    rounds : ndarray
        After which rounds; a single 0 where stages were not looked at.
    loss : ndarray
        The mean loss over draws and test examples: `bias` + `variance`.
    bias : ndarray
        Domingos: the loss of the main prediction, the most frequent one over the draws (in a tie, the first class).
        Kohavi and Wolpert: the mean of ``½ Σ_k ([k is true] - P_k)²``, where P_k is how often class k is predicted.
    variance : ndarray
        What is left: by how much the single models lose more than the main prediction does. It is
        ``variance_unbiased - variance_biased``; for Kohavi and Wolpert the mean of ``½ (1 - Σ_k P_k²)``.
    variance_unbiased : ndarray or None
        The part from rows that the main prediction gets right, where to vary is to lose.
    variance_biased : ndarray or None
        The part from rows that it gets wrong, where to vary is to gain.
    n_draws : int
        How many training sets.
    method, of, name : str
        The decomposition, "error" or "cost", and the estimator.
    """

    rounds: Array
    loss: Array
    bias: Array
    variance: Array
    variance_unbiased: Array | None
    variance_biased: Array | None
    n_draws: int
    method: str
    of: str
    name: str

    def as_frame(self) -> Any:
        """A tidy table: a row per round and part."""
        import pandas as pd

        parts = {n: getattr(self, n) for n in ("loss", "bias", "variance", "variance_unbiased", "variance_biased")}
        tables = [
            pd.DataFrame({"round": self.rounds, "part": name, "value": values})
            for name, values in parts.items()
            if values is not None
        ]
        return pd.concat(tables, ignore_index=True)


def decompose(shares: Array, truth: Array, matrix: Array, weights: Array | None = None) -> dict[str, float]:
    r"""Domingos' parts of the mean loss ``matrix[true, predicted]``, from how often each row is given each class.

    On a row with the label t and the main prediction m, over draws of the training set,

    .. math:: E\,L(t, y) = L(t, m) + \bigl(E\,L(t, y) - L(t, m)\bigr).

    The first part is the bias. The second is the variance: for 0-1 loss and two classes it is :math:`P(y \ne m)` where
    m is right and :math:`-P(y \ne m)` where it is wrong, :math:`c_1 = \pm 1` of [1]_ theorem 2. For costs it is the
    variance effect of [3]_, which is exact for any loss. The labels are taken for the truth, so noise is in the bias.

    Parameters
    ----------
    shares : ndarray of shape (n_rows, n_classes)
        The share of the draws in which a row is given a class.
    truth : ndarray of shape (n_rows,)
        The numbers of the true classes.
    matrix : ndarray of shape (n_classes, n_classes)
        What decisions cost.
    weights : ndarray or None
        How many examples a row stands for.
    """
    rows = np.arange(len(truth))
    main = np.argmax(np.round(shares, 12), axis=1)
    at_main = matrix[truth, main]
    more = (shares * matrix[truth]).sum(axis=1) - at_main
    right = main == truth
    mean = _mean(weights)
    found = {
        "bias": mean(at_main),
        "variance_unbiased": mean(np.where(right, more, 0.0)),
        "variance_biased": mean(np.where(right, 0.0, -more)),
    }
    found["variance"] = found["variance_unbiased"] - found["variance_biased"]
    found["loss"] = mean((shares * matrix[truth])[rows].sum(axis=1))
    return found


def decompose_kohavi_wolpert(shares: Array, truth: Array, weights: Array | None = None) -> dict[str, float]:
    r"""Kohavi and Wolpert's parts of the error: ``½ Σ_k ([k is true] - P_k)²`` and ``½ (1 - Σ_k P_k²)`` ([2]_ eq. 5).

    Both are never negative, and add up to :math:`1 - P_t`. The labels are taken for the truth.
    """
    hit = np.eye(shares.shape[1])[truth]
    mean = _mean(weights)
    bias = mean(0.5 * ((hit - shares) ** 2).sum(axis=1))
    variance = mean(0.5 * (1.0 - (shares**2).sum(axis=1)))
    return {"bias": bias, "variance": variance, "loss": mean(1.0 - (hit * shares).sum(axis=1))}


def _mean(weights: Array | None) -> Any:
    return lambda values: float(np.average(values, weights=weights))


def bias_variance(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    draws: int = 25,
    scheme: str = "bootstrap",
    cv: Any = 5,
    staged: bool = False,
    method: str = "domingos",
    of: str = "error",
    cost: Any = None,
    sample_weight: Any = None,
    n_jobs: int | None = None,
    verbose: int = 0,
    random_state: Any = None,
) -> BiasVariance:
    r"""Decompose the loss into bias and variance, by fits to many training sets.

    The default is Domingos' decomposition [1]_, because its parts mean something to somebody who classifies: bias is
    the loss of the vote of all models, and variance what a single model loses on top. On rows that the vote gets wrong
    variance helps, so that it is counted apart there. Kohavi and Wolpert's [2]_ parts are never negative, but mix the
    two: a model that errs on a row half of the time has a bias there. Both add up to the mean loss exactly.

    Labels are taken for the truth: noise, which nothing can learn, is part of the bias. Bootstrap draws hold fewer
    different rows than there are, so the loss is that of a somewhat smaller training set.

    Parameters
    ----------
    estimator : classifier
        Is fitted `draws` times.
    X, y
        Rows and labels.
    draws : int, default=25
        The number of training sets; an odd number leaves no ties between two classes. With ``scheme="cv"`` the number
        of repetitions.
    scheme : {"bootstrap", "subsample", "cv"}, default="bootstrap"
        Where training sets come from. "bootstrap": a third of the rows of each class are the test set, the same
        for all, and as many as are left are drawn from the others with replacement, within each class. "subsample":
        half of the others, without replacement. "cv": repeated cross-validation, in which every row is tested once in
        each repetition.
    cv : int, default=5
        The number of folds of ``scheme="cv"``.
    staged : bool, default=False
        Whether to look at every round of a booster.
    method : {"domingos", "kohavi_wolpert"}, default="domingos"
        The decomposition.
    of : {"error", "cost"}, default="error"
        The loss. For costs there is Domingos' form only, as the variance effect of James [3]_.
    cost : number, "balanced", dict, matrix or None, default=None
        What mistakes cost, with ``of="cost"``; as in `skewboost.metrics.expected_cost`.
    sample_weight : array-like of shape (n_samples,) or None, default=None
        How many examples a row stands for, rounded where they are drawn; each is drawn on its own.
    n_jobs, verbose, random_state
        As in `learning_curve`.

    Returns
    -------
    BiasVariance

    References
    ----------
    .. [1] P. Domingos, "A unified bias-variance decomposition and its applications", International Conference on
       Machine Learning (2000) 231-238.
    .. [2] R. Kohavi, D. Wolpert, "Bias plus variance decomposition for zero-one loss functions", International
       Conference on Machine Learning (1996) 275-283.
    .. [3] G. James, "Variance and bias for general loss functions", Machine Learning 51 (2003) 115-135.

    Examples
    --------
    >>> from skewboost import AdaBoostClassifier
    >>> from skewboost.datasets import load_rare_cancer
    >>> from skewboost.evaluate import bias_variance
    >>> found = bias_variance(AdaBoostClassifier(n_estimators=10), *load_rare_cancer(), draws=5, random_state=0)
    >>> bool(abs(found.bias + found.variance - found.loss)[0] < 1e-12)
    True
    """
    _check(estimator, draws, scheme, cv, staged, method, of, cost, n_jobs, verbose)
    rows = read_rows(estimator, X, y, sample_weight)
    problem = problem_of(estimator, rows.y, rows.weights, cost, own_pos_label(estimator))
    (seed,) = seeds_for(random_state, 1)
    splits, test = _splits(rows, scheme, draws, cv, seed)
    tasks = [
        (estimator, train, rows.part(tested), problem, own, staged)
        for (train, tested), own in zip(splits, seeds_for(seed, len(splits)))
    ]
    answers = in_parallel(_answers, tasks, n_jobs, verbose)
    n_rounds = max(len(a) for a in answers)
    truth = problem.codes(rows.y[test])
    weights = None if rows.weights is None else rows.weights[test]
    place = np.full(len(rows.y), -1)
    place[test] = np.arange(len(test))
    matrix = problem.matrix if of == "cost" else 1.0 - np.eye(len(problem.classes))
    parts = []
    for k in range(n_rounds):
        votes = np.zeros((len(test), len(problem.classes)))
        for said, (_, tested) in zip(answers, splits):
            votes[place[tested], said[min(k, len(said) - 1)]] += 1.0  # no row is tested twice in a split
        shares = votes / votes.sum(axis=1, keepdims=True)
        parts.append(
            decompose(shares, truth, matrix, weights)
            if method == "domingos"
            else decompose_kohavi_wolpert(shares, truth, weights)
        )
    got = {name: np.array([p[name] for p in parts]) for name in parts[0]}
    rounds = np.arange(1, n_rounds + 1) if staged else np.array([0])
    name = type(estimator).__name__.removesuffix("Classifier")
    return BiasVariance(
        rounds, got["loss"], got["bias"], got["variance"], got.get("variance_unbiased"), got.get("variance_biased"),
        int(draws), method, of, name,
    )  # fmt: skip


def _check(
    estimator: Any, draws: Any, scheme: Any, cv: Any, staged: bool, method: Any, of: Any, cost: Any, n_jobs: Any,
    verbose: Any,
) -> None:  # fmt: skip
    check_estimator_is_one(estimator)
    check_jobs(n_jobs, verbose)
    if staged:
        check_staged(estimator)
    for name, value, known in (("scheme", scheme, SCHEMES), ("method", method, METHODS), ("of", of, ("error", "cost"))):
        if value not in known:
            raise InputError(f"{name}={value!r} must be one of {', '.join(map(repr, known))}.")
    if isinstance(draws, bool) or not isinstance(draws, int | np.integer) or draws < 2:
        raise InputError(
            f"draws={draws!r} must be a whole number of training sets, 2 at least; 25 or more tell something."
        )
    if scheme == "cv" and (isinstance(cv, bool) or not isinstance(cv, int | np.integer)):
        raise InputError(f"cv={cv!r} must be a number of folds, as every row is to be tested in each repetition.")
    if scheme != "cv" and cv != 5:
        raise InputError(f"cv={cv!r} has no effect with scheme={scheme!r}. Set scheme='cv', or leave cv at 5.")
    if of == "error" and cost is not None:
        raise InputError(f"cost={cost!r} has no effect with of='error'. Set of='cost', or leave cost at None.")
    if of == "cost" and method != "domingos":
        raise InputError(f"method={method!r} decomposes the error only. With of='cost' take method='domingos'.")


def _splits(rows: Rows, scheme: str, draws: int, cv: int, seed: int) -> tuple[list[tuple[Rows, Array]], Array]:
    """What each fit is trained on and the rows that it is tested on, and all rows that are tested."""
    if scheme == "cv":
        folds = repeated_folds(cv, rows.y, draws, seed, weights=rows.weights)
        return [(rows.part(train), test) for train, test in folds], np.unique(np.concatenate([t for _, t in folds]))
    train, test = repeated_folds(TEST_SHARE, rows.y, 1, seed, weights=rows.weights)[0]
    rng = np.random.default_rng(seed)
    return [(_drawn(rows, train, scheme, rng), test) for _ in range(draws)], test


def _drawn(rows: Rows, train: Array, scheme: str, rng: np.random.Generator) -> Rows:
    """A training set out of these rows, with every class as frequent as it is.

    Examples are drawn: those of a row with a weight go their own ways, and how many were drawn is its new weight.
    """
    found = []
    for label in np.unique(rows.y[train]):
        own = train[rows.y[train] == label]
        if rows.weights is not None:
            own = np.repeat(own, np.maximum(np.rint(rows.weights[own]), 1).astype(np.intp))
        if scheme == "subsample":
            found.append(rng.permutation(own)[: max(1, round(len(own) / 2))])
        else:
            found.append(rng.choice(own, len(own)))
    drawn = np.concatenate(found)
    if rows.weights is None:
        return rows.part(drawn)
    there, examples = np.unique(drawn, return_counts=True)
    return replace(rows.part(there), weights=examples.astype(np.float64))


def _answers(estimator: Any, train: Rows, test: Rows, problem: Problem, seed: int, staged: bool) -> list[Array]:
    """The numbers of the predicted classes, of all rounds or after each."""
    model = fitted(estimator, train, seed)
    if not staged:
        return [problem.codes(model.predict(test.X)).astype(np.int16)]
    found = [stage.said.astype(np.int16) for stage in stages_of(model, test.X, problem)]
    return found or [problem.codes(model.predict(test.X)).astype(np.int16)]
