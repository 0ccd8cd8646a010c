"""Bias and variance: the loss that a method has on average, and the part that depends on the training set."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from skewboost.errors import InputError
from skewboost.evaluate.problem import Problem, Sample, problem_of, read_sample, repeated_folds
from skewboost.evaluate.running import (
    VERBOSE,
    all_finished,
    check_classifier,
    fit_copy,
    import_pandas,
    run_in_parallel,
    seeds_for,
    warn_of_divided_groups,
)
from skewboost.evaluate.stages import check_staged, stages_of
from skewboost.meta.inner_labels import own_pos_label
from skewboost.parameters import N_JOBS, check_arguments, integer, one_of
from skewboost.typing import Array

N_TEST_FOLDS = 3  # one row in three is tested


@dataclass(frozen=True)
class BiasVariance:
    """The result of `bias_variance`; arrays have an entry per round, or a single one.

    Attributes
    ----------
    rounds : ndarray
        The numbers of rounds; a single 0 without `staged`.
    loss : ndarray
        The mean loss over draws and test examples: `bias` + `variance`.
    bias : ndarray
        Domingos: the loss of the main prediction, which is the most frequent one over the draws (in a tie, the first
        class).
        Kohavi and Wolpert: the mean of ``½ Σ_k ([k is true] - P_k)²``, where P_k is how often class k is predicted.
        Squared error: the same with the mean of the predicted probabilities in place of P_k.
    variance : ndarray
        The rest: how much more single models lose than the main prediction. It is
        ``variance_unbiased - variance_biased``; for Kohavi and Wolpert the mean of ``½ (1 - Σ_k P_k²)``, and for the
        squared error half the sum of the variances of the probabilities over the draws.
    variance_unbiased : ndarray or None
        The part of rows where the main prediction is right, so that variation increases the loss.
    variance_biased : ndarray or None
        The part of rows where it is wrong, so that variation decreases the loss.
    n_draws : int
        The number of training sets, or of repetitions of cross-validation, that are finished.
    method, of, name : str
        The decomposition, "error", "cost" or "squared_error", and the estimator.
    complete : bool
        Whether all draws are finished; False after Ctrl-C.
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
    complete: bool = True

    def as_frame(self) -> Any:
        """Return a tidy table with a row per round and part."""
        pd = import_pandas()
        parts = {n: getattr(self, n) for n in ("loss", "bias", "variance", "variance_unbiased", "variance_biased")}
        tables = [
            pd.DataFrame({"round": self.rounds, "part": name, "value": values})
            for name, values in parts.items()
            if values is not None
        ]
        return pd.concat(tables, ignore_index=True)


def decompose(frequencies: Array, truth: Array, matrix: Array, weights: Array | None = None) -> dict[str, float]:
    r"""Decompose the mean loss ``matrix[true, predicted]`` as Domingos does, given how often each class is predicted.

    On a row with the label t and the main prediction m, over draws of the training set,

    .. math:: E\,L(t, y) = L(t, m) + \bigl(E\,L(t, y) - L(t, m)\bigr).

    The first part is the bias. The second is the variance: for 0-1 loss and two classes it is :math:`P(y \ne m)` where
    m is right and :math:`-P(y \ne m)` where it is wrong, :math:`c_1 = \pm 1` of [domingos2000]_ theorem 2. For costs it
    is the variance effect of [james2003]_, which is exact for any loss. Labels are assumed to be right, so noise is
    part of the bias.
    """
    main = np.argmax(np.round(frequencies, 12), axis=1)
    loss, loss_of_main = (frequencies * matrix[truth]).sum(axis=1), matrix[truth, main]
    right = main == truth
    mean = _mean(weights)
    unbiased = mean(np.where(right, loss - loss_of_main, 0.0))
    biased = mean(np.where(right, 0.0, loss_of_main - loss))
    return {
        "bias": mean(loss_of_main),
        "variance_unbiased": unbiased,
        "variance_biased": biased,
        "variance": unbiased - biased,
        "loss": mean(loss),
    }


def decompose_kohavi_wolpert(frequencies: Array, truth: Array, weights: Array | None = None) -> dict[str, float]:
    r"""Decompose the error into ``½ Σ_k ([k is true] - P_k)²`` and ``½ (1 - Σ_k P_k²)`` ([kohavi1996]_ eq. 5).

    Both are never negative, and add up to :math:`1 - P_t`. Labels are assumed to be right.
    """
    one_hot = np.eye(frequencies.shape[1])[truth]
    mean = _mean(weights)
    bias = mean(0.5 * ((one_hot - frequencies) ** 2).sum(axis=1))
    variance = mean(0.5 * (1.0 - (frequencies**2).sum(axis=1)))
    return {"bias": bias, "variance": variance, "loss": mean(1.0 - (one_hot * frequencies).sum(axis=1))}


def decompose_squared(mean: Array, square: Array, truth: Array, weights: Array | None = None) -> dict[str, float]:
    r"""Decompose the squared error of the probabilities, given their means and mean squares over the draws.

    With :math:`t_k = [k\text{ is true}]` the loss is :math:`\frac12 \sum_k (p_k - t_k)^2`, for two classes the Brier
    score. Its mean over the draws is ([nyga2010]_ (1.2), (1.3))

    .. math:: \frac12 \sum_k (E\,p_k - t_k)^2 + \frac12 \sum_k E\,(p_k - E\,p_k)^2 .
    """
    one_hot = np.eye(mean.shape[1])[truth]
    average = _mean(weights)
    bias = average(0.5 * ((mean - one_hot) ** 2).sum(axis=1))
    variance = average(0.5 * np.maximum(square - mean**2, 0.0).sum(axis=1))
    return {
        "bias": bias,
        "variance": variance,
        "loss": average(0.5 * (square - 2 * one_hot * mean + one_hot).sum(axis=1)),
    }


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
    groups: Any = None,
    n_jobs: int | None = None,
    verbose: Any = 0,
    random_state: Any = None,
) -> BiasVariance:
    r"""Decompose the loss into bias and variance, by fits to many training sets.

    The default is Domingos' decomposition [domingos2000]_, because its parts are easy to interpret: bias is the loss of
    the vote of all models, and variance is what a single model loses in addition. On rows where the vote is wrong,
    variance helps, so it is reported separately there. Kohavi and Wolpert's [kohavi1996]_ parts are never negative, but
    mix the two: a model that errs on a row half of the time has a bias there. Both add up to the mean loss exactly.

    Labels are assumed to be right: noise, which no model can learn, is part of the bias. Bootstrap draws have fewer
    distinct rows than the data, so the loss is that of a somewhat smaller training set.

    Parameters
    ----------
    estimator : classifier
        The estimator, which is fitted `draws` times.
    X, y
        Rows and labels.
    draws : int, default=25
        The number of training sets; an odd number leaves no ties between two classes. With ``scheme="cv"`` the number
        of repetitions.
    scheme : {"bootstrap", "subsample", "cv"}, default="bootstrap"
        How training sets are drawn. "bootstrap": a third of the rows of each class form the test set, the same for all
        draws, and training sets are drawn from the other rows with replacement, within each class, with as many rows
        as there are. "subsample": half of the other rows, without replacement. "cv": repeated cross-validation, in
        which every row is tested once in each repetition.
    cv : int, default=5
        The number of folds of ``scheme="cv"``.
    staged : bool, default=False
        Whether to decompose the loss after every round of a booster.
    method : {"domingos", "kohavi_wolpert"}, default="domingos"
        The decomposition.
    of : {"error", "cost", "squared_error"}, default="error"
        The loss. For costs only Domingos' form is available, as the variance effect of James [james2003]_. The squared
        error is that of the predicted probabilities, :math:`\frac12 \sum_k (p_k - [k\text{ is true}])^2`, for two
        classes the Brier score. Its bias is the squared error of the mean prediction, and its variance that of the
        predictions around their mean ([nyga2010]_ (1.2) and (1.3)), to which Domingos' form reduces for this loss.
    cost : number, "balanced", dict, matrix or None, default=None
        What mistakes cost, with ``of="cost"``; as in `skewboost.metrics.expected_cost`.
    sample_weight : array-like of shape (n_samples,) or None, default=None
        How many examples a row stands for. Examples are drawn one by one, after rounding the weights.
    groups : array-like of shape (n_samples,) or None, default=None
        Which rows belong together: those of a group are all drawn from or all tested. Estimators whose `fit` takes
        `groups` get them. There is a `DividedGroupsWarning` about others that hold out training rows.
    n_jobs, verbose, random_state
        As in `staged_curve`.

    Returns
    -------
    BiasVariance
        After Ctrl-C it is about the finished draws, if there are two, and ``complete`` is False, with an
        `IncompleteResultWarning`. A draw of ``scheme="cv"`` is finished when all its folds are.

    References
    ----------
    .. [domingos2000] P. Domingos, "A unified bias-variance decomposition and its applications", International
       Conference on Machine Learning (2000) 231-238.
    .. [kohavi1996] R. Kohavi, D. Wolpert, "Bias plus variance decomposition for zero-one loss functions", International
       Conference on Machine Learning (1996) 275-283.
    .. [nyga2010] D. Nyga, "Ensemble learning for classification of imbalanced data", Master's thesis, Technische
       Universität München (2010), D. Nyga.
    .. [james2003] G. James, "Variance and bias for general loss functions", Machine Learning 51 (2003) 115-135.

    Examples
    --------
    >>> from skewboost import AdaBoostClassifier
    >>> from skewboost.datasets import load_rare_cancer
    >>> from skewboost.evaluate import bias_variance
    >>> result = bias_variance(AdaBoostClassifier(n_estimators=10), *load_rare_cancer(), draws=5, random_state=0)
    >>> bool(abs(result.bias + result.variance - result.loss)[0] < 1e-12)
    True
    """
    check_classifier(estimator)
    if staged:
        check_staged(estimator)
    check_arguments(
        draws=(draws, integer(2)),
        scheme=(scheme, one_of("bootstrap", "subsample", "cv")),
        cv=(cv, integer(2)),
        method=(method, one_of("domingos", "kohavi_wolpert")),
        of=(of, one_of("error", "cost", "squared_error")),
        n_jobs=(n_jobs, N_JOBS),
        verbose=(verbose, VERBOSE),
    )
    _check_combination(scheme, cv, method, of, cost)
    if of == "squared_error":
        _check_probabilities(estimator, staged)
    sample = read_sample(estimator, X, y, sample_weight, groups)
    name = type(estimator).__name__.removesuffix("Classifier")
    if groups is not None:
        warn_of_divided_groups({name: estimator})
    problem = problem_of(estimator, sample.y, sample.weights, cost, own_pos_label(estimator))
    model = problem.copy_of(estimator)
    (seed,) = seeds_for(random_state, 1)
    splits, test = _splits(sample, scheme, draws, cv, seed)
    tasks = [
        (model, train, sample.part(tested), problem, own, staged, of == "squared_error")
        for (train, tested), own in zip(splits, seeds_for(seed, len(splits)))
    ]
    per_draw = cv if scheme == "cv" else 1
    fewest = 2 * per_draw  # a single draw has no variance
    results = run_in_parallel(
        _predictions, tasks, n_jobs, verbose, lambda found: len(_finished(found, per_draw)) >= fewest
    )
    finished = _finished(results, per_draw)
    splits, predictions = [splits[k] for k in finished], [results[k] for k in finished]
    draws = len(finished) // per_draw
    n_rounds = max(map(len, predictions))
    tested_part = sample.part(test)
    truth, weights = problem.codes(tested_part.y), tested_part.weights
    position = np.full(len(sample.y), -1)
    position[test] = np.arange(len(test))
    matrix = problem.matrix if of == "cost" else 1.0 - np.eye(len(problem.classes))
    parts = []
    for k in range(n_rounds):
        mean, square = np.zeros((2, len(test), len(problem.classes)))
        for predicted, (_, tested) in zip(predictions, splits):  # every row is tested as often, and once in a split
            each = predicted[min(k, len(predicted) - 1)]
            probabilities = each if of == "squared_error" else np.eye(len(problem.classes))[each]
            mean[position[tested]] += probabilities / draws
            square[position[tested]] += probabilities**2 / draws
        if of == "squared_error":
            parts.append(decompose_squared(mean, square, truth, weights))
        elif method == "domingos":
            parts.append(decompose(mean, truth, matrix, weights))
        else:
            parts.append(decompose_kohavi_wolpert(mean, truth, weights))
    values: dict[str, Any] = {"variance_unbiased": None, "variance_biased": None}
    values |= {name: np.array([p[name] for p in parts]) for name in parts[0]}
    rounds = np.arange(1, n_rounds + 1) if staged else np.array([0])
    complete = all_finished(results)
    return BiasVariance(rounds=rounds, **values, n_draws=draws, method=method, of=of, name=name, complete=complete)


def _check_combination(scheme: str, cv: Any, method: str, of: str, cost: Any) -> None:
    """Raise an error if an argument would have no effect."""
    if scheme != "cv" and cv != 5:
        raise InputError(f"cv={cv!r} has no effect with scheme={scheme!r}.", "Set scheme='cv', or leave cv at 5.")
    if of != "cost" and cost is not None:
        raise InputError(f"cost={cost!r} has no effect with of={of!r}.", "Set of='cost', or leave cost at None.")
    if of != "error" and method != "domingos":
        raise InputError(f"method={method!r} decomposes the error only.", f"With of={of!r} use method='domingos'.")


def _check_probabilities(estimator: Any, staged: bool) -> None:
    """Raise an error unless an estimator has probabilities, after every round if they are asked for."""
    needed = "staged_predict_proba" if staged else "predict_proba"
    last = estimator.steps[-1][1] if staged and isinstance(estimator, Pipeline) else estimator
    if not hasattr(last, needed):
        raise InputError(
            f"{type(last).__name__} has no method {needed}, so of='squared_error' cannot be measured.",
            "Leave of at 'error', or pass a classifier with probabilities.",
        )


def _splits(sample: Sample, scheme: str, draws: int, cv: int, seed: int) -> tuple[list[tuple[Sample, Array]], Array]:
    """Return the training sample and the test rows of each fit, and all test rows."""
    if scheme == "cv":
        folds = repeated_folds(cv, sample.y, draws, seed, weights=sample.weights, groups=sample.groups)
        return [(sample.part(train), test) for train, test in folds], np.unique(np.concatenate([t for _, t in folds]))
    train, test = repeated_folds(N_TEST_FOLDS, sample.y, 1, seed, weights=sample.weights, groups=sample.groups)[0]
    rng = np.random.default_rng(seed)
    return [(_draw(sample, train, scheme, rng), test) for _ in range(draws)], test


def _draw(sample: Sample, train: Array, scheme: str, rng: np.random.Generator) -> Sample:
    """Draw a training set from these rows, with the same class frequencies.

    The examples of a weighted row are drawn one by one, and their number is its new weight.
    """
    draws = []
    for label in np.unique(sample.y[train]):
        own = train[sample.y[train] == label]
        if sample.weights is not None:
            own = np.repeat(own, np.maximum(np.rint(sample.weights[own]), 1).astype(np.intp))
        if scheme == "subsample":
            draws.append(rng.permutation(own)[: max(1, round(len(own) / 2))])
        else:
            draws.append(rng.choice(own, len(own)))
    drawn = np.concatenate(draws)
    if sample.weights is None:
        return sample.part(drawn)
    rows, examples = np.unique(drawn, return_counts=True)
    return replace(sample.part(rows), weights=examples.astype(np.float64))


def _finished(results: list[Any], per_draw: int) -> list[int]:
    """Return the numbers of the fits of the draws that are finished: each has as many fits, one after the other."""
    starts = [k for k in range(0, len(results), per_draw) if all_finished(results[k : k + per_draw])]
    return [k + j for k in starts for j in range(per_draw)]


def _predictions(
    estimator: Any, train: Sample, test: Sample, problem: Problem, seed: int, staged: bool, probabilities: bool
) -> list[Array]:
    """Return the numbers of the predicted classes, or the probabilities, of the whole model or after each round."""
    model = fit_copy(estimator, train, seed)
    if probabilities:
        return list(_probabilities(model, test.X, problem, staged))
    stages = [stage.predicted.astype(np.int16) for stage in stages_of(model, test.X, problem)] if staged else []
    return stages or [problem.codes(model.predict(test.X)).astype(np.int16)]


def _probabilities(model: Any, X: Any, problem: Problem, staged: bool) -> Iterator[Array]:
    """Yield the probabilities of all classes, 0 for a class that was not in the training rows."""
    if staged and isinstance(model, Pipeline):
        X = model[:-1].transform(X) if len(model.steps) > 1 else X
        model = model.steps[-1][1]
    places = problem.codes(model.classes_)
    for own in model.staged_predict_proba(X) if staged else [model.predict_proba(X)]:
        whole = np.zeros((len(own), len(problem.classes)))
        whole[:, places] = own
        yield whole
