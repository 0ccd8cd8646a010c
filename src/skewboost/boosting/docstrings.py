"""Descriptions of parameters and attributes that several variants share, for their docstrings."""

from __future__ import annotations

LEARNER = """\
Parameters
----------
estimator : {"stump", "tree"} or learner, default="stump"
    The weak learner: a name, an object from `skewboost.learners`, or any scikit-learn classifier (or regressor, if the
    variant asks for responses). Estimators that do not accept `sample_weight` are boosted by resampling.
n_estimators : int, default=100
    The number of rounds.
"""
SAMPLER = """\
sampler : "bootstrap", float, sampler or None, default=None
    Boosting by resampling: each round is fitted to a sample of the rows. Votes, errors and new weights are computed on
    all original rows.

    - ``"bootstrap"``: as many rows as in the training data, drawn with replacement in proportion to the current
      weights. If a hypothesis is wrong on more than half of the weight, the weights are reset and the rows are drawn
      again. Training stops after 25 unsuccessful samples in a row.
    - A fraction between 0 and 1: this fraction of the rows, without replacement, with their current weights.
    - A sampler of imbalanced-learn (any object with `fit_resample`): rows and their copies keep their current weights;
      a synthetic row gets the mean weight of its class. For the sampler the positive class is 1 and the other is 0;
      more than two classes are numbered as in `classes_`.
    - A sampler from `skewboost.learners`.

    All but the bootstrap are biased on purpose. If two samples in a row give no edge on all rows, the round is fitted
    to all rows with their weights.
resample : bool, default=False
    The same as ``sampler="bootstrap"``.
"""
UNSAMPLED = """\
learning_rate : float, default=1.0
    The factor of each round; at most 2.
pos_label : label or None, default=None
    The positive class. None means the rarer class, or the second of `classes_` if both are equally frequent. It is
    predicted where the score is exactly zero.
early_stopping : bool or int, default=False
    Hold out a stratified part of the training data, and stop when its score has not improved for this number of rounds
    (True means 10). The model keeps the best number of rounds.
validation_fraction : float or None, default=None
    The fraction of the rows that early stopping holds out. None means 0.1.
scoring : str, callable or None, default=None
    The validation score of early stopping: a scikit-learn scorer, for which the positive class is 1 and the other is 0.
    None means the log-loss, with rows weighted by their costs.
splits : splitter, int, iterable or None, default=None
    How rows are held out, if neither random splits nor `groups` in `fit` are right, for example
    ``TimeSeriesSplit()``. Early stopping validates on its last split, and ``calibrate``, where a variant has it, uses
    its folds; those that have only one class to train on are left out. An integer is the number of folds of
    ``calibrate``. None means random stratified splits.
callbacks : list of callables or None, default=None
    Called after every round as ``callback(round, record)`` with the record of the round in `history_`. Training stops
    if one of them returns True.
warm_start : bool, default=False
    Whether `fit` on the same data continues with the rounds trained so far, up to `n_estimators`. The `estimator` must
    not change. Callbacks see the new rounds only.
random_state : int, RandomState or None, default=None
    The seed of the split for early stopping, of resampling and of randomised estimators. Stumps and trees are not
    randomised.
n_jobs : int or None, default=None
    The number of threads. None means 1, -1 all cores, -2 all cores but one. The model does not depend on it.
verbose : int, default=0
    Whether to show a progress bar on stderr.
engine : {"auto", "cpu", "reference"}, default="auto"
    The compiled engine or the reference in NumPy. ``"auto"`` takes the compiled one if it is available.
"""
COST = """\
cost : number, "balanced", dict, matrix or None, default=None
    The misclassification costs: a number (the cost of a miss of the positive class, in false alarms), ``"balanced"``
    (both classes have the same total cost), a dict ``{label: cost of misclassifying it}``, or a matrix
    ``cost[true, predicted]`` in the order of `classes_`. None means ``"balanced"``, unless `fit` gets `sample_cost`.
    Training cannot undo costs: if they are set to others after `fit`, `predict` raises an error.
"""
FREE_COST = COST.replace(
    "Training cannot undo costs: if they are set to others after `fit`, `predict` raises an error.",
    'They may be set after `fit`, except to ``"balanced"``, which needs the training rows.',
)
EQUAL_COST = COST.replace('None means ``"balanced"``, unless', "None means equal costs, unless")
COST_ON = """\
cost_on : {"all", "errors"}, default="all"
    Whether costs apply to all examples, or only to those that the round misclassifies, as in Ting's papers.
"""
PRIOR = r"""prior : {"data", "balanced"}, default="data"
    Initial weights of 1/N, with which costs have their plain meaning; or of :math:`1/(2N_\pm)` as in the paper, with
    which costs multiply balanced classes.
"""
CALIBRATE = """\
calibrate : {"sigmoid", "isotonic"} or None, default=None
    Calibrate the scores by cross-validation, in five folds unless `splits` says otherwise, with a logistic curve or an
    isotonic regression (recommended from about a thousand examples of the rarer class). Training takes six times as
    long. Scores grow with the rounds, so calibrators are fitted for several numbers of rounds, and stages and truncated
    models are calibrated too.
"""
SMOOTHING = r"""smoothing : float or None, default=None
    What is added to the weights of both classes in a leaf, :math:`\frac12 \ln \frac{W^+_j + \delta}{W^-_j + \delta}`,
    where the weights of all rows sum to one. None means 1/N. With 0, as in papers that print no smoothing, and with
    very small numbers the size of the logarithm is bounded, so that no vote changes the odds by more than e^23.
"""
MAX_STEP = """max_step : float or None, default=4.0
    The largest change of half the log-odds in a round. Newton steps are not bounded where P is close to 0 or 1; 4 is a
    factor of 3000 in the odds. None means plain Newton steps, as papers print them; they may diverge.
"""
FEW_VALUES = """\
**Columns with few distinct values.** A stump votes +α on one side and -α on the other. On columns with two or three
values such votes cannot add up to a constant, so the ensemble cannot express the class frequencies, and costs are not
honoured. `fit` warns in this case. Use ``Stump(constant=True)``, ``"tree"`` or `CSRAClassifier` there.
"""
SEE_ALSO = """\
See Also
--------
skewboost.SkewBoostClassifier : Take it unless you need this very variant.
"""

ATTRIBUTES = """\
Attributes
----------
classes_ : ndarray
    The class labels.
pos_label_ : label
    The positive class (two classes only).
estimators_ : list
    The fitted terms, one per round.
n_estimators_ : int
    The number of rounds in use.
feature_importances_ : ndarray
    The decrease of the loss due to the splits on each feature, normalised to sum to 1. Not available for all
    estimators.
baseline_ : float
    The mean of F over the training examples, to which `contributions` are relative. Not available if the score is not
    a sum over features.
history_ : list of dict
    The record of each round: criterion, training loss, validation score, … With resampling the criterion is the
    weighted error, `resets` is the number of resets of the weights before the round (the loss starts again with each),
    and `all_rows` is 1 if the round was fitted to all rows because samples gave no edge.
stop_reason_ : str
    Why training ended.
n_features_in_, feature_names_in_
    As in scikit-learn.
"""

PRESET = """\
variant : str or None, default=None
    The boosting variant, by its name in the catalogue, such as "RealBoost" or "CSRA", with default parameters. None
    means AdaBoost, as published.
cost : number, "balanced", dict, matrix or None, default=None
    The misclassification costs. AdaBoost starts from weights in proportion to them, as in `CGAdaClassifier`; None means
    equal costs, unless `fit` gets `sample_cost`. Other variants use costs in their own way.
estimator : {"stump", "tree"} or learner, default="stump"
    The weak learner, as in `AdaBoostClassifier`.
n_estimators : int, default=100
    The number of rounds.
"""

PLACEHOLDERS = {
    "{parameters}\n": LEARNER + SAMPLER + UNSAMPLED,
    "{common}\n": SAMPLER + UNSAMPLED,
    "{unsampled}\n": UNSAMPLED,
    "{cost}\n": COST,
    "{equal_cost}\n": EQUAL_COST,
    "{free_cost}\n": FREE_COST,
    "{cost_on}\n": COST_ON,
    "{prior}\n": PRIOR,
    "{calibrate}\n": CALIBRATE,
    "{smoothing}\n": SMOOTHING,
    "{max_step}\n": MAX_STEP,
    "{few_values}\n": FEW_VALUES,
    "{preset}\n": PRESET,
}
