"""The parameters and attributes that several variants share, for their docstrings."""

from __future__ import annotations

LEARNER = """\
Parameters
----------
estimator : {"stump", "tree"} or learner, default="stump"
    What a round fits: a name, an object from `skewboost.learners`, or any scikit-learn classifier (or regressor,
    where the variant asks for responses). One that takes no `sample_weight` is boosted by resampling.
n_estimators : int, default=100
    The number of rounds.
"""
SAMPLER = """\
sampler : "bootstrap", float, sampler or None, default=None
    Boost by resampling: a round is fitted to rows that are drawn for it, anew in every round. Votes, errors and new
    weights are those of all rows, and of real ones only. ``"bootstrap"``: as many rows as there are, without weights,
    drawn with replacement in proportion to the current weights (`sample_weight` changes the weights, not the number).
    If a hypothesis is wrong on more weight than it is right on, the weights start anew and the rows are drawn again;
    after 25 draws without success training stops. A fraction between 0 and 1: that share of the rows, without
    replacement, with their current weights. A sampler of imbalanced-learn (anything with `fit_resample`): rows keep
    their current weights, copies of them too; a synthetic row weighs as much as the rows of its class do on average.
    To the sampler the positive class is 1 and the other 0; more classes are their places in `classes_`. Or an object
    from `skewboost.learners`. Such draws are biased on purpose: if neither of two has an edge on all rows, the round is
    fitted to all rows, with their weights.
resample : bool, default=False
    Short for ``sampler="bootstrap"``.
"""
UNSAMPLED = """\
learning_rate : float, default=1.0
    What each round is multiplied by before it is added; at most 2.
pos_label : label or None, default=None
    The positive class; None takes the rarer one (the second of `classes_` if both are as frequent). It has the
    last word when the ensemble is undecided.
early_stopping : bool or int, default=False
    Hold out part of the training data, stratified and with at least one example of each class on both sides, and
    stop when its score has not improved for so many rounds (True: 10). The model keeps the best number of rounds.
validation_fraction : float or None, default=None
    The share that early stopping holds out; None means 0.1.
scoring : str, callable or None, default=None
    What early stopping watches: a scikit-learn scorer, to which the positive class is 1 and the other 0; None is
    the log-loss of the odds that the model decides by, in which a row counts as much as it costs.
callbacks : list of callables or None, default=None
    Called after every round as ``callback(round, scores)`` with what `history_` notes of it. Training stops if one
    returns True.
warm_start : bool, default=False
    Let `fit` on the same data go on from the rounds there are up to `n_estimators`, instead of starting anew. The
    `estimator` must stay; callbacks see the new rounds only.
random_state : int, RandomState or None, default=None
    Seeds the split for early stopping, resampling, and estimators that draw at random. Stumps and trees do not.
n_jobs : int or None, default=None
    Threads; None is 1, -1 is all cores, -2 all but one. The model is the same, to the bit, for any number.
verbose : int, default=0
    Draw a progress bar on stderr.
engine : {"auto", "cpu", "reference"}, default="auto"
    Compiled or NumPy; "auto" chooses by the size of the work, so that small tables never wait for a compiler.
"""
COST = """\
cost : number, "balanced", dict, matrix or None, default=None
    What mistakes cost: a number says how many false alarms a miss of the positive class costs; ``"balanced"`` makes
    the classes cost the same in total; ``{label: cost of getting it wrong}``; or a matrix ``cost[true, predicted]``
    in the order of `classes_`. None is ``"balanced"``, unless `fit` is given `sample_cost`.
"""
COST_ON = """\
cost_on : {"all", "errors"}, default="all"
    Costs on all examples, or only on those that the round gets wrong, as in Ting's own papers.
"""
PRIOR = r"""prior : {"data", "balanced"}, default="data"
    Initial weights of 1/N, with which a cost means what it says; or of :math:`1/(2N_\pm)` as in the paper, with
    which it is a cost on top of a balance of the classes.
"""
CALIBRATE = """\
calibrate : {"sigmoid", "isotonic"} or None, default=None
    Learn what a score means from rows that were held out, in five folds: a logistic curve, or, from a thousand
    examples of the rarer class up, steps. Training takes six times as long. Scores grow with the rounds, so this is
    learned for several numbers of rounds, and stages and truncated models are calibrated too.
"""
FEW_VALUES = """\
**Columns of few values.** A vote is +α on one side of a test and -α on the other. On columns of two or three values
such votes cannot add up to a constant, so the ensemble cannot say how frequent the classes are, and the costs are not
honoured; `fit` warns of it. Use ``Stump(constant=True)`` or ``"tree"`` there, or `CSRAClassifier`.
"""
ATTRIBUTES = """\
Attributes
----------
classes_ : ndarray
    The class labels.
pos_label_ : label
    The positive class (two classes only).
estimators_ : list
    What the rounds added.
n_estimators_ : int
    The number of rounds in use.
feature_importances_ : ndarray
    By how much the splits on each feature lowered the loss, as shares of 1. Not for estimators that do not tell.
baseline_ : float
    The mean of F over the training examples, from which `contributions` count. Not where the score is no sum over
    features.
history_ : list of dict
    What happened in each round: the criterion, the training loss, the validation score, … With resampling the
    criterion is the weighted error, `resets` says how often the weights started anew before the round, and a loss that
    is a product of normalisers counts from there; `all_rows` is 1 where the draws of a round had no edge and it was
    fitted to all rows.
stop_reason_ : str
    Why training ended.
n_features_in_, feature_names_in_
    As in scikit-learn.
"""

PRESET = """\
variant : str or None, default=None
    The variant of the catalogue to boost by, such as "RealBoost" or "CSRA", with its own parameters at their defaults.
    None is AdaBoost as published.
cost : number, "balanced", dict, matrix or None, default=None
    What mistakes cost. AdaBoost starts from weights in proportion to it, as in `CGAdaClassifier`, and None means that
    all mistakes cost the same, unless `fit` is given `sample_cost`. Other variants treat it in their own way.
estimator : {"stump", "tree"} or learner, default="stump"
    What a round fits, as in `AdaBoostClassifier`.
n_estimators : int, default=100
    The number of rounds.
"""

PLACEHOLDERS = {
    "{parameters}\n": LEARNER + SAMPLER + UNSAMPLED,
    "{common}\n": SAMPLER + UNSAMPLED,
    "{unsampled}\n": UNSAMPLED,
    "{cost}\n": COST,
    "{cost_on}\n": COST_ON,
    "{prior}\n": PRIOR,
    "{calibrate}\n": CALIBRATE,
    "{few_values}\n": FEW_VALUES,
    "{preset}\n": PRESET,
}
