"""Class proportions (priors) that differ between training and use."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Real
from typing import Any

import numpy as np
from sklearn import metrics as sk
from sklearn.utils.multiclass import unique_labels
from sklearn.utils.validation import check_array

from skewboost.errors import InputError
from skewboost.metrics.inputs import class_shares, read_truth, which_is_positive
from skewboost.typing import Array

CLEARLY_RARER = 0.4  # in balanced data chance decides which class is the rarer one


def correct_prior(p: Any, train_prior: Any, prior: Any) -> Array:
    r"""Correct probabilities for class proportions that differ from those in training.

    :math:`P'(k|x) \propto P(k|x) \, \pi'_k / \pi_k` ([saerens2002]_ eq. 2.4), which holds if only the class proportions
    have changed, not the distribution within each class. The probabilities must be calibrated to the training
    proportions. Those of a classifier trained with `class_weight="balanced"`, for example, are not, unless it is
    calibrated.

    Parameters
    ----------
    p : array-like of shape (n_samples,) or (n_samples, n_classes)
        Probabilities of the positive class, or of all classes.
    train_prior, prior : number, or array-like of shape (n_classes,)
        The class proportions in training, and those where the model is used. A number is the proportion of the positive
        class, which is the last column.

    Returns
    -------
    ndarray of the shape of `p`

    References
    ----------
    .. [saerens2002] M. Saerens, P. Latinne, C. Decaestecker, "Adjusting the outputs of a classifier to new a priori
       probabilities: a simple procedure", Neural Computation 14 (2002) 21-41.

    Examples
    --------
    >>> from skewboost.metrics import correct_prior
    >>> print(correct_prior([0.5], train_prior=0.5, prior=0.02).round(2))
    [0.02]
    """
    columns, single = _columns(p)
    shares = _shares("prior", prior, columns.shape[1])
    corrected = _reweighted(columns, shares / _shares("train_prior", train_prior, columns.shape[1]))
    return np.asarray(corrected[:, 1] if single else corrected)


def estimate_prior(p: Any, train_prior: Any, *, tol: float = 1e-8, max_iter: int = 10_000) -> Array:
    r"""Estimate the class proportions among new rows without labels, by EM.

    Starting from the training proportions, the probabilities are corrected to the present estimate, and their means are
    the next one ([saerens2002]_ eq. 2.9), until it converges to the maximum of the likelihood of the new rows. The
    estimate is only as good as the probabilities: where 2 % were frauds, boosters calibrated by isotonic regression
    gave 1.5 to 2.3 %, by a sigmoid 1.0 to 1.8 %, and without calibration 3.0 to 3.5 %. Check the result before using
    it.

    Parameters
    ----------
    p : array-like of shape (n_samples,) or (n_samples, n_classes)
        Probabilities of the new rows under the training proportions, of the positive class or of all classes.
    train_prior : number, or array-like of shape (n_classes,)
        The class proportions in training; a number is that of the positive class, which is the last column.
    tol : float, default=1e-8
        The change of a proportion below which the iteration ends.
    max_iter : int, default=10_000
        The largest number of iterations.

    Returns
    -------
    ndarray of shape (n_classes,), or a number if `p` has one dimension
        The estimated proportions, to be passed as `prior`.

    References
    ----------
    .. [saerens2002] M. Saerens, P. Latinne, C. Decaestecker, "Adjusting the outputs of a classifier to new a priori
       probabilities: a simple procedure", Neural Computation 14 (2002) 21-41.

    Examples
    --------
    >>> import numpy as np
    >>> from skewboost.metrics import estimate_prior
    >>> rng = np.random.default_rng(0)
    >>> x = np.concatenate((rng.normal(0, 1, 9000), rng.normal(2, 1, 1000)))  # a tenth are positive
    >>> p = 1 / (1 + np.exp(2 - 2 * x))  # P(+|x) if half were positive
    >>> print(f"{estimate_prior(p, train_prior=0.5):.2f}")
    0.10
    """
    columns, single = _columns(p)
    start = _shares("train_prior", train_prior, columns.shape[1])
    shares = start
    for _ in range(max_iter):
        following = _reweighted(columns, shares / start).mean(axis=0)
        change = float(np.abs(following - shares).max())
        shares = following
        if change < tol:
            break
    return np.asarray(shares[1] if single else shares)[()]


def check_prior(prior: Any, classes: Array, shares: Array, positive: Any, pos_label: Any) -> Array:
    """Return the proportions of sorted classes from a number for the positive one, {label: proportion} or an array.

    `shares` are the proportions in the data, by which one class is `positive` if `pos_label` is None.
    """
    if isinstance(prior, Real) and not isinstance(prior, bool):
        if len(classes) != 2:
            raise InputError(
                f"prior={prior!r} is the proportion of the positive class, but there are {len(classes)} classes.",
                "Give {label: proportion} for all of them.",
            )
        if pos_label is None and shares.min() > CLEARLY_RARER:
            raise InputError(
                f"prior={prior!r} is the proportion of the positive class, by default the rarer one in the data, but "
                f"no class is clearly the rarer: the proportions are {shares.round(3).tolist()}.",
                "Set pos_label, or give {label: proportion}.",
            )
        both = _shares("prior", prior, 2)
        return both if positive == classes[1] else both[::-1]
    if isinstance(prior, Mapping):
        labels = classes.tolist()
        if set(prior) != set(labels):
            raise InputError(f"prior={dict(prior)!r} must have one entry for each class, which are {labels}.")
        prior = [prior[label] for label in labels]
    return _shares("prior", prior, len(classes))


def brier_under_prior(
    y_true: Any, p: Any, *, prior: Any = None, labels: Any = None, pos_label: Any = None, sample_weight: Any = None
) -> float:
    """Brier score of probabilities, estimated for class proportions `prior`.

    It is the mean squared error, of one class if there are two, as in scikit-learn, else summed over the classes.
    scikit-learn's ``brier_score_loss`` has no `prior`, and takes the probabilities of the larger label.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        The true labels.
    p : array-like of shape (n_samples,) or (n_samples, n_classes)
        Probabilities of the positive class, or of all classes in sorted order. With `prior` they must be corrected for
        it: see `correct_prior`.
    prior : number, dict, array-like or None, default=None
        The proportion of the positive class, {label: proportion}, or the proportions of the sorted classes, where the
        model is to be used. Rows then have the weight ``prior / proportion in y_true``. None: the proportions in
        `y_true`.
    labels : list of labels or None, default=None
        The classes; None: those that occur.
    pos_label : label or None, default=None
        The positive class; None: the rarer of the two in `y_true`, the larger label in a tie.
    sample_weight : array-like of shape (n_samples,) or None, default=None
        How many examples a row stands for.

    Returns
    -------
    float

    Examples
    --------
    >>> from skewboost.metrics import brier_under_prior
    >>> print(f"{brier_under_prior([0, 0, 0, 1], [0.1, 0.1, 0.3, 0.6]):.4f}")
    0.0675
    """
    truth, columns, classes, weights = _shifted(y_true, p, prior, labels, pos_label, sample_weight)
    errors = ((columns - (truth[:, None] == classes)) ** 2).sum(axis=1)
    return float(np.average(errors, weights=weights)) / (2.0 if len(classes) == 2 else 1.0)


def log_loss_under_prior(
    y_true: Any, p: Any, *, prior: Any = None, labels: Any = None, pos_label: Any = None, sample_weight: Any = None
) -> float:
    """Log-loss, the mean of ``-ln P(true class)``, estimated for class proportions `prior`.

    Parameters
    ----------
    y_true, p, prior, labels, pos_label, sample_weight
        As in `brier_under_prior`.

    Returns
    -------
    float

    Examples
    --------
    >>> from skewboost.metrics import log_loss_under_prior
    >>> print(f"{log_loss_under_prior([0, 0, 0, 1], [0.1, 0.1, 0.3, 0.6]):.3f}")
    0.270
    """
    truth, columns, classes, weights = _shifted(y_true, p, prior, labels, pos_label, sample_weight)
    return float(sk.log_loss(truth, columns, labels=classes, sample_weight=weights))


def _shifted(
    y_true: Any, p: Any, prior: Any, labels: Any, pos_label: Any, sample_weight: Any
) -> tuple[Array, Array, Array, Array]:
    """Return labels, probabilities of all classes, the classes, and weights that reproduce the prior."""
    truth, weights = read_truth(y_true, p, sample_weight)
    classes = np.asarray(unique_labels(truth) if labels is None else np.unique(np.asarray(labels)))
    columns, single = _columns(p)
    if columns.shape[1] != len(classes):
        raise InputError(
            f"p has {'one column' if single else f'{columns.shape[1]} columns'}, but the classes are "
            f"{classes.tolist()}.",
            "Give a column for each class, and name classes that do not occur with labels.",
        )
    if single or (len(classes) == 2 and prior is not None):
        positive = which_is_positive(truth, classes, pos_label, weights)
        columns = columns[:, ::-1] if single and positive == classes[0] else columns
    elif pos_label is not None:
        raise InputError(
            f"pos_label={pos_label!r} has no effect if p has a column for each class.", "Leave it at None."
        )
    else:
        positive = None
    given = np.ones(len(truth)) if weights is None else weights
    if prior is None:
        return truth, columns, classes, given
    present = class_shares(truth, classes, weights)
    if not present.all():
        raise InputError(f"prior needs examples of every class, but y_true has none of {classes[present == 0]}.")
    ratio = check_prior(prior, classes, present, positive, pos_label) / present
    return truth, columns, classes, given * ratio[np.searchsorted(classes, truth)]


def _columns(p: Any) -> tuple[Array, bool]:
    """Return a column of probabilities for each class, and whether only one was given."""
    columns: Array = check_array(p, ensure_2d=False, dtype=np.float64, input_name="p")
    single = columns.ndim == 1
    if single:
        columns = np.column_stack((1.0 - columns, columns))
    if columns.min() < 0 or columns.max() > 1 or np.abs(columns.sum(axis=1) - 1.0).max() > 1e-4:
        raise InputError("p must have probabilities from 0 to 1, with a sum of 1 in each row.")
    return columns, single


def _shares(name: str, given: Any, n_classes: int) -> Array:
    """Return the proportions of all classes as an array, checked."""
    if isinstance(given, Real) and not isinstance(given, bool) and n_classes != 2:
        raise InputError(
            f"{name}={given!r} is the proportion of one class, but there are {n_classes}.", "Give all proportions."
        )
    try:
        shares = np.asarray([1.0 - given, given] if isinstance(given, Real) else given, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        shares = np.empty(0)
    if shares.shape != (n_classes,) or not (shares > 0).all() or not abs(shares.sum() - 1.0) < 1e-6:
        raise InputError(
            f"{name}={given!r} must be the proportions of {n_classes} classes: numbers greater than 0 with a sum of 1"
            + (", or one number, the proportion of the positive class." if n_classes == 2 else ".")
        )
    return shares


def _reweighted(columns: Array, ratio: Array) -> Array:
    raised = columns * ratio
    return np.asarray(raised / raised.sum(axis=1, keepdims=True))
