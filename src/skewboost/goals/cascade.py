"""A cascade of boosted classifiers, for streams in which nearly all rows are easy negatives."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from sklearn import get_config
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin
from sklearn.utils import get_tags
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.validation import check_is_fitted, has_fit_parameter, validate_data

from skewboost.boosting.estimator import BaseBooster
from skewboost.boosting.variants.csra import CSRAClassifier
from skewboost.engine.computed import ComputedTable
from skewboost.engine.table import as_frame, read_table
from skewboost.errors import InputError, checked_by_scikit_learn
from skewboost.fitting import restore_on_failure, seeded
from skewboost.goals.cascade_rows import Source, StageRows, check_same_kind
from skewboost.goals.cascade_stages import Cascade, Reached, Stage, StageGoal, grown_stage
from skewboost.goals.certificate import Certificate, answers_of, certificate
from skewboost.goals.holdout import HeldOut, hold_out, random_split
from skewboost.goals.labelled_rows import labelled_rows
from skewboost.goals.rows import ROWS, SearchRows, in_order_of_contents
from skewboost.goals.search import Aim
from skewboost.parameters import (
    FRACTION,
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
from skewboost.progress import say
from skewboost.typing import Array

ROUNDS = 200
FEWEST = {"train on": 30, "choose a threshold on": 10}  # negatives of a stage but the first; fewer say next to nothing
ALL_STAGES = "all {} stages done"
OVERALL = "the overall false-alarm rate is reached on the validation rows"
FEW_LEFT = "fewer than {} negatives are left to {}"
LOST = "no positives are left to train on"
NOT_REACHED = "stage {} lets {:.3g} of the negatives pass, more than {:g}, with any number of rounds"
NO_USE = "a stage {} would reject nothing at the detection rate"


@dataclass(eq=False, repr=False)
class CascadeClassifier(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):
    r"""A cascade of boosted classifiers [viola2004]_: a row is positive if it passes all stages, one after the other.

    Each stage is a small ensemble with a low threshold: nearly all positives pass, and many negatives do not. Rows that
    a stage rejects are not looked at again, so that the common, easy negatives cost a few tests each, and only what
    resembles a positive gets the attention of the later, larger stages. That pays where positives are very rare and
    columns are expensive: windows of a picture, events of a stream.

    A stage is trained on the rows that passed the stages before it, positives and negatives, and on new negatives from
    a source if there is one. Rounds are added until some threshold reaches both goals of a stage on validation rows:
    recall of at least `detection_rate` and a false-alarm rate of at most `false_alarm_rate`, [viola2004]_ table 2. K
    stages then find about :math:`d^K` of the positives at :math:`f^K` of the negatives. Training ends after `n_stages`,
    when the overall false-alarm rate is reached, when few negatives are left, or when a stage does not reach its goals
    within the rounds of its booster, which is then the last one; `stop_reason_` says which.

    **The certificate.** The validation rows have chosen thresholds and rounds, so their rates are somewhat too good.
    Other rows are held out of everything, and `certificate_` says what they show about the whole cascade: whether it
    has :math:`d^K` and :math:`f^K` (or `overall_false_alarm_rate`) with the required confidence, and which bounds it
    does have. `fit` does not raise if they are not shown. For a promise, search for the threshold of the whole cascade:
    ``GoalSearchCV(CascadeClassifier(confidence=None), "recall >= 0.9", tune="threshold")``.

    There are no probabilities: a row that the first stage rejects has been compared with little else.

    Parameters
    ----------
    estimator : booster or None, default=None
        The booster of every stage; any of this library for two classes. Its number of rounds is the most that a stage
        may have. None: ``CSRAClassifier(estimator="tree", n_estimators=200)``, whose costs are balanced in every stage.
        Stumps look at fewer columns: take these where columns are expensive.
    n_stages : int, default=10
        The largest number of stages.
    detection_rate : float, default=0.99
        The recall d of each stage.
    false_alarm_rate : float, default=0.5
        The false-alarm rate f of each stage.
    overall_false_alarm_rate : float or None, default=None
        No more stages are added once the product of the false-alarm rates of the stages is as low as this.
    max_negatives : int or None, default=None
        The largest number of negatives that a stage is fitted to, drawn from those that passed. None: all; with a
        source of new negatives, as many as in the first stage.
    validation_fraction : float, default=0.25
        The part of the rows that are not held out on which thresholds and rounds are chosen.
    confidence : float or None, default=0.9
        The confidence of the certificate. None: no rows are held out, and there is no certificate.
    holdout : float, array-like of bool or None, default=None
        As for `GoalSearchCV`: the part of the rows to hold out for the certificate, or a mask of rows. None: a third,
        or up to a half if perfect predictions would need so many.
    weights : {"importance", "counts"}, default="importance"
        As for `GoalSearchCV`: what `sample_weight`, and equal rows, mean.
    pos_label : label or None, default=None
        The positive class; None: the rarer one.
    random_state : int, RandomState or None, default=None
        Seeds the splits of rows, and boosters that use random numbers.
    n_jobs : int or None, default=None
        The number of threads of the boosters; None leaves theirs. It does not change the result.
    verbose : int, default=0
        Whether to print every stage, to stderr.

    Attributes
    ----------
    stages_ : list of Stage
        The stages: `model`, `columns`, `threshold`, `n_rounds`, the `counts` of the validation rows that reached it,
        and whether its goals were `met`.
    history_ : dict of arrays
        The stages as a table, ``pandas.DataFrame(clf.history_)``: rounds, columns, threshold, rows of training, and
        recall and false-alarm rate on validation rows, of the stage and of all stages so far.
    stop_reason_ : str
        Why there are no more stages.
    certificate_ : Certificate or None
        What the held-out rows show about the whole cascade; print it.
    feature_importances_ : ndarray
        The importances of the stages, weighted by their numbers of rounds. Not available for all boosters.
    classes_ : ndarray
    pos_label_ : label
    n_features_in_, feature_names_in_
        As in scikit-learn.

    References
    ----------
    .. [viola2002] P. Viola, M. Jones, "Fast and robust classification using asymmetric AdaBoost and a detector
       cascade", Advances in Neural Information Processing Systems 14 (2002) 1311-1318.
    .. [viola2004] P. Viola, M. J. Jones, "Robust real-time face detection", International Journal of Computer Vision 57
       (2004) 137-154.

    Examples
    --------
    >>> from skewboost import CascadeClassifier
    >>> from skewboost.datasets import make_skewed
    >>> X, y = make_skewed(30_000, positive_share=0.02, overlap=0.02)
    >>> clf = CascadeClassifier(n_stages=3, random_state=0).fit(X[:20_000], y[:20_000])
    >>> found = clf.predict(X[20_000:]) == 1
    >>> print(f"recall {found[y[20_000:] == 1].mean():.2f}, false alarms {found[y[20_000:] == 0].mean():.3f}")
    recall 0.99, false alarms 0.024
    >>> print(f"{clf.stages_used(X[20_000:]).mean():.2f} of {len(clf.stages_)} stages look at a row")
    1.23 of 3 stages look at a row
    >>> clf.certificate_.met
    True
    """

    __metadata_request__fit: ClassVar[dict[str, bool]] = {"groups": True}
    _costs_in_training: ClassVar[bool] = False  # each stage has the threshold that its goals ask for
    cv: ClassVar[None] = None  # rows have no order of time

    estimator: Any = None
    _: KW_ONLY
    n_stages: int = 10
    detection_rate: float = 0.99
    false_alarm_rate: float = 0.5
    overall_false_alarm_rate: float | None = None
    max_negatives: int | None = None
    validation_fraction: float = 0.25
    confidence: float | None = 0.9
    holdout: Any = None
    weights: str = "importance"
    pos_label: Any = None
    random_state: Any = None
    n_jobs: int | None = None
    verbose: int = 0

    @property
    def _base(self) -> Any:
        """The booster of every stage."""
        return CSRAClassifier(estimator="tree", n_estimators=ROUNDS) if self.estimator is None else self.estimator

    @property
    def _passes_params_to(self) -> Any:
        return self._base

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags = get_tags(self._base).input_tags
        tags.classifier_tags.multi_class = False
        tags.classifier_tags.poor_score = True  # stages let many negatives pass
        return tags

    def get_metadata_routing(self) -> MetadataRouter:
        """Return the routing: `groups` for the cascade itself, and what the booster requests for its `fit`."""
        router = MetadataRouter(owner=type(self).__name__).add_self_request(self)
        return router.add(estimator=self._base, method_mapping=MethodMapping().add(caller="fit", callee="fit"))

    # --------------------------------------------------------------------- fitting

    def fit(self, X: Any, y: Any, groups: Any = None, *, negatives: Any = None, **params: Any) -> Self:
        """Train the stages.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            Anything that the booster takes, and the output of `HaarFeatures`.
        y : array-like of shape (n_samples,)
            Labels of two classes.
        groups : array-like of shape (n_samples,), default=None
            Which rows belong together, such as the windows of a picture: they are on one side of every split. None:
            rows whose cells are all equal belong together, unless ``weights="counts"``.
        negatives : iterable of tables, or function that returns one, default=None
            New negatives, with the columns of X. Before each stage but the first they are read until as many as the
            first stage had pass all stages so far, of which some serve for validation. Rows are not read twice.
        **params : dict
            Passed to the `fit` of the boosters, split with the rows. With ``sample_weight`` rates are weighted, too.

        Returns
        -------
        self
        """
        with restore_on_failure(self):
            self._fit(X, y, groups, negatives, params)
        return self

    def _fit(self, X: Any, y: Any, groups: Any, negatives: Any, params: dict[str, Any]) -> None:
        self._check_params()
        if get_config()["enable_metadata_routing"]:
            given = params if groups is None else {"groups": groups, **params}
            params = dict(process_routing(self, "fit", **given).estimator.fit)
        unknown = [name for name in params if not has_fit_parameter(self._base, name)]
        if unknown:
            raise InputError(
                f"fit was given {', '.join(unknown)}, which {type(self._base).__name__}.fit does not take.",
                "Leave it out.",
            )
        if negatives is not None and not set(params) <= {"sample_weight"}:
            raise InputError(
                f"{', '.join(sorted(set(params) - {'sample_weight'}))} cannot be passed with negatives, which have "
                "none.",
                "Leave one of them out.",
            )
        first = X = self._readable(X, reset=True)
        rng = check_random_state(self.random_state)
        rows, self.classes_, self.pos_label_ = labelled_rows(
            self, self._base, X, y, groups, params, relative=negatives is None
        )
        if rows.are == ROWS and not rows.counted:
            rows = replace(rows, units=in_order_of_contents(rows))
        goal = StageGoal(float(self.detection_rate), float(self.false_alarm_rate))
        delta = None if self.confidence is None else 1.0 - self.confidence
        aim = replace(goal.aim, goal=self._overall(goal, self.n_stages), delta=delta)
        held_out = None
        if delta is not None:
            rows, held_out, aim, _ = hold_out(self, aim, rows, rng)

        def readable(table: Any) -> Any:
            check_same_kind(table, first)
            return self._readable(table, reset=False)

        source = Source(negatives, readable)
        self._train(self._parts(rows, aim, rng), goal, source, negatives is not None, rng)
        self.certificate_ = None if held_out is None else self._certificate(goal, aim, held_out)

    def _overall(self, goal: StageGoal, n_stages: int) -> Any:
        return goal.of_stages(n_stages, self.overall_false_alarm_rate)

    def _parts(self, rows: SearchRows, aim: Aim, rng: Any) -> StageRows:
        """Divide the rows into those to train on, and those to choose thresholds on."""
        positive = rows.y == self.pos_label_
        aim = replace(aim, delta=None)  # these rows are for no certificate
        inner, outer = random_split(aim, rows, positive, self.validation_fraction, rng, least=1, use="train")
        (other,) = self.classes_[self.classes_ != self.pos_label_]
        return StageRows(rows.part(inner), rows.part(outer), self.pos_label_, other)

    def _train(self, rows: StageRows, goal: StageGoal, source: Source, scans: bool, rng: Any) -> None:
        """Train stages until there is a reason to stop."""
        n_training, n_validation = rows.n_negatives()
        most = self.max_negatives
        wanted = n_training if most is None else min(most, n_training), n_validation
        self.stages_: list[Stage] = []
        self.stop_reason_ = ""
        while not self.stop_reason_:
            if self.stages_:
                rows = rows.refilled(self._cascade, source, wanted, rng)
                self.stop_reason_ = self._lacking(rows)
                if self.stop_reason_:
                    break
            booster = self._booster(rng)
            training = rows.at_most(wanted[0] if scans or most is not None else None, rng)
            stage = grown_stage(booster, training, rows.validation, self.pos_label_, goal)
            k = len(self.stages_) + 1
            if stage.counts.false_alarm_rate == 1.0 and self.stages_:
                self.stop_reason_ = NO_USE.format(k)
                break
            self.stages_.append(stage)
            self.stop_reason_ = self._reason(stage, k, goal)
            if not self.stop_reason_:
                rows = rows.passing(Cascade((stage,), self.pos_label_))
            if self.verbose:
                self._print(stage, k)
        self.history_ = history(self.stages_)

    def _booster(self, rng: Any) -> BaseBooster:
        """Return the booster of a stage."""
        booster: BaseBooster = seeded(self._base, lambda: int(rng.randint(2**31 - 1)))
        if booster.pos_label is None:
            booster.set_params(pos_label=self.pos_label_)
        return booster if self.n_jobs is None else booster.set_params(n_jobs=self.n_jobs)

    def _lacking(self, rows: StageRows) -> str:
        """Say which rows a further stage lacks, if any."""
        n_negatives = rows.n_negatives()
        for n, (use, fewest) in zip(n_negatives, FEWEST.items()):
            if n < fewest:
                return FEW_LEFT.format(fewest, use)
        return "" if n_negatives[0] < len(rows.training.y) else LOST

    def _reason(self, stage: Stage, k: int, goal: StageGoal) -> str:
        """Say why the stage is the last one, if it is."""
        overall = self.overall_false_alarm_rate
        if overall is not None and history(self.stages_)["overall_false_alarm_rate"][-1] <= overall:
            return OVERALL
        if not stage.met:
            return NOT_REACHED.format(k, stage.counts.false_alarm_rate, goal.false_alarm_rate)
        return ALL_STAGES.format(k) if k == self.n_stages else ""

    def _print(self, stage: Stage, k: int) -> None:
        counts = stage.counts
        say(
            f"stage {k}: {stage.n_rounds} rounds on {stage.n_positives} positives and {stage.n_negatives} negatives, "
            f"recall {counts.recall:.4f}, false_alarm_rate {counts.false_alarm_rate:.4f}\n"
        )

    def _certificate(self, goal: StageGoal, aim: Aim, held_out: HeldOut) -> Certificate:
        """Return what the held-out rows show about the cascade."""
        aim = replace(aim, goal=self._overall(goal, len(self.stages_)))
        return certificate(aim, answers_of(self, held_out), held_out)

    def _check_params(self) -> None:
        check_params(
            self,
            n_stages=integer(1),
            detection_rate=number(0, 1, open_low=True),
            false_alarm_rate=FRACTION,
            overall_false_alarm_rate=optional(FRACTION),
            max_negatives=optional(integer(1)),
            validation_fraction=FRACTION,
            confidence=optional(FRACTION),
            holdout=optional(either(FRACTION, Check(lambda v: np.ndim(v) == 1, "a boolean for each row"))),
            weights=one_of("importance", "counts"),
            n_jobs=N_JOBS,
            verbose=either(one_of(True, False), integer(0)),
        )
        if self.holdout is not None and self.confidence is None:
            raise InputError(
                f"holdout={self.holdout!r} has no effect without a certificate.",
                "Set confidence, or leave holdout at None.",
            )
        self._check_booster()

    def _check_booster(self) -> None:
        """Raise if the estimator is no booster, or one whose parameters would have no effect."""
        booster = self._base
        if isinstance(booster, type) or not isinstance(booster, BaseBooster):
            raise InputError(
                f"estimator={booster!r} is no booster of this library.",
                "Pass one, such as CSRAClassifier(). Transformers come before the cascade: "
                "make_pipeline(HaarFeatures(), CascadeClassifier()).",
            )
        for name in ("early_stopping", "warm_start"):
            if getattr(booster, name):
                raise InputError(
                    f"{name}={getattr(booster, name)!r} of the estimator has no effect: the goals of a stage decide "
                    "how many rounds it has.",
                    "Set it to False.",
                )
        if booster.pos_label is not None and booster.pos_label != self.pos_label:
            raise InputError(
                f"pos_label={booster.pos_label!r} of the estimator is not that of the cascade, {self.pos_label!r}.",
                "Set that of the cascade only.",
            )

    def _readable(self, X: Any, reset: bool) -> Any:
        """Return a table as the boosters read it; arrays are checked once, for all stages."""
        if isinstance(X, ComputedTable) or as_frame(X) is not None:
            with checked_by_scikit_learn():
                validate_data(self, X, reset=reset, skip_check_array=True)
            return X
        return read_table(self, X, reset=reset).matrix

    # ------------------------------------------------------------------ prediction

    @property
    def _cascade(self) -> Cascade:
        return Cascade(tuple(self.stages_), self.pos_label_)

    def _reached(self, X: Any) -> Reached:
        check_is_fitted(self)
        return self._cascade.reached(self._readable(X, reset=False))

    def decision_function(self, X: Any) -> Array:
        r"""Return one number per row, which is positive for rows that pass all stages.

        Let m be the score of a row less the threshold, at the last stage k of K that looks at it. A row that passes all
        stages has m, and one that is rejected has :math:`m / (1 - m) - (K - k)`: from -1 to 0 in the last stage, from
        -2 to -1 in the one before, and so on. Whoever moves the threshold of the cascade to a number in between gets
        the cascade up to stage k, with another threshold there.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            New rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            Positive values predict ``classes_[1]``. If the positive class is ``classes_[0]``, the signs are exchanged.
        """
        found = self._reached(X)
        m = found.margins
        after = found.n_stages - len(self.stages_)
        score = np.where(found.passed, np.maximum(m, np.nextafter(0.0, 1.0)), m / (1.0 + np.abs(m)) + after)
        score = np.where(found.passed, score, np.minimum(score, -np.nextafter(0.0, 1.0)))
        return score if self.classes_[1] == self.pos_label_ else np.negative(score)

    def predict(self, X: Any) -> Array:
        """Predict the positive class for rows that pass all stages.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            New rows.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        return self._labels(self._reached(X).passed)

    def staged_predict(self, X: Any) -> Iterator[Array]:
        """Yield the predictions of the cascade that ends after each stage.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            New rows.

        Yields
        ------
        ndarray of shape (n_samples,)
        """
        found = self._reached(X)
        n_passed = found.n_stages - ~found.passed
        return (self._labels(n_passed > k) for k in range(len(self.stages_)))

    def stages_used(self, X: Any) -> Array:
        """Return the number of stages that look at each row: 1 for rows that the first stage rejects.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            New rows.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        return self._reached(X).n_stages

    @property
    def feature_importances_(self) -> Array:
        """Those of the stages, with the number of rounds of each as its weight, normalised to sum to one."""
        check_is_fitted(self)
        total = np.zeros(self.n_features_in_)
        for stage in self.stages_:
            total[stage.columns] += stage.n_rounds * stage.model.feature_importances_
        return total / total.sum() if total.any() else total

    def _labels(self, positive: Array) -> Array:
        return np.asarray(self.classes_[(positive == (self.classes_[1] == self.pos_label_)).astype(np.intp)])


def history(stages: list[Stage]) -> dict[str, Array]:
    """Return stages as a table: one array per column."""
    recall = np.array([stage.counts.recall for stage in stages])
    false_alarms = np.array([stage.counts.false_alarm_rate for stage in stages])
    return {
        "n_rounds": np.array([stage.n_rounds for stage in stages]),
        "n_columns": np.array([len(stage.columns) for stage in stages]),
        "threshold": np.array([stage.threshold for stage in stages]),
        "n_positives": np.array([stage.n_positives for stage in stages]),
        "n_negatives": np.array([stage.n_negatives for stage in stages]),
        "recall": recall,
        "false_alarm_rate": false_alarms,
        "overall_recall": np.cumprod(recall),
        "overall_false_alarm_rate": np.cumprod(false_alarms),
    }
