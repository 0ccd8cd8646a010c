"""Estimators around others: their members are models themselves."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from sklearn.calibration import CalibratedClassifierCV
from sklearn.dummy import DummyClassifier

from skewboost.io.saved_fields import ANY_MODEL, KINDS, LABELS, TABLE, Fitted, check_member, check_table
from skewboost.io.saved_labels import IntegerRows, Labels
from skewboost.io.saved_links import CALIBRATOR
from skewboost.io.schema import (
    Field,
    Flag,
    Floats,
    Integer,
    ListOf,
    MapOf,
    Number,
    Record,
    Text,
    UnknownPartError,
    record,
    require,
)
from skewboost.meta.calibrated_folds import CalibratedFolds, Fold

MEMBERS = ListOf(ANY_MODEL)


class Constant:
    """What is left of a fit to rows of one class: scikit-learn's `DummyClassifier`, which says that class."""

    name = "Constant"
    _fields: ClassVar[Mapping[str, Field]] = {"label": Labels(), "strategy": Text(("prior", "most_frequent"))}

    @staticmethod
    def fits(value: Any) -> bool:
        """Whether a model is one."""
        return type(value) is DummyClassifier and len(value.classes_) == 1

    def write(self, value: Any) -> dict[str, Any]:
        """The class, and how it was asked for."""
        return {"label": Labels().write(value.classes_), "strategy": self._fields["strategy"].write(value.strategy)}

    def read(self, data: Any, at: str) -> Any:
        """One that says that class."""
        told = {
            name: field.read(record(data, tuple(self._fields), at)[name], at) for name, field in self._fields.items()
        }
        require(len(told["label"]) == 1, "must be one class", f"{at}.label")
        return DummyClassifier(strategy=told["strategy"]).fit(np.zeros((1, 1)), told["label"])


CONSTANT = Constant()


class Code(Fitted):
    """A classifier per column of a code."""

    fields: ClassVar[Mapping[str, Field]] = {
        **TABLE,
        "classes": Labels(),
        "code": IntegerRows(-1, 1, np.int8),
        "members": MEMBERS,
    }
    attributes: ClassVar[Mapping[str, str]] = {"code": "code_", "members": "estimators_"}

    def check(self, model: Any) -> None:
        """A row of the code per class, a column per member, each of which tells 0 from 1."""
        check_table(model, kinds=False)
        shape = (len(model.classes_), len(model.estimators_))
        require(model.code_.shape == shape and min(shape) > 0, "must have a row per class, a column per member", "code")
        distinct = len({row.tobytes() for row in model.code_}) == len(model.code_)
        both = (model.code_ == 1).any(axis=0) & (model.code_ == -1).any(axis=0)
        require(distinct and both.all(), "must have distinct rows, and both signs in each column", "code")
        for k, member in enumerate(model.estimators_):
            check_member(member, model, f"members[{k}]", [0, 1])


class Bagging(Fitted):
    """Members that are averaged."""

    fields: ClassVar[Mapping[str, Field]] = {
        **TABLE,
        "empty_columns": KINDS["empty_columns"],
        "classes": Labels(),
        "members": MEMBERS,
    }
    attributes: ClassVar[Mapping[str, str]] = {"members": "estimators_"}

    def check(self, model: Any) -> None:
        """All members know all classes."""
        check_table(model, kinds=False)
        require(model.estimators_, "must not be empty", "members")
        for k, member in enumerate(model.estimators_):
            check_member(member, model, f"members[{k}]", model.classes_)


class Votes(Fitted):
    """Members that vote."""

    fields: ClassVar[Mapping[str, Field]] = {
        **TABLE,
        "empty_columns": KINDS["empty_columns"],
        "classes": Labels(),
        "arrow_as_pandas": Flag(),
        "n_samples_seen": Integer(),
        "stop_reason": Text(),
        "oob_error": Number(finite=False),
        "history": ListOf(MapOf(Number(finite=False, whole=True))),
        "members": MEMBERS,
    }
    attributes: ClassVar[Mapping[str, str]] = {
        "arrow_as_pandas": "_arrow_as_pandas",
        "n_samples_seen": "n_samples_seen_",
        "stop_reason": "stop_reason_",
        "oob_error": "oob_error_",
        "history": "history_",
        "members": "estimators_",
    }

    def check(self, model: Any) -> None:
        """Members know some of the classes."""
        check_table(model, kinds=False)
        require(model.estimators_ and model.estimator is not None, "must be models of this package", "members")
        known = model.classes_.tolist()
        for k, member in enumerate(model.estimators_):
            if type(member) is not DummyClassifier:  # which looks at no feature
                check_member(member, model, f"members[{k}]")
            fits = all(label in known for label in member.classes_.tolist())
            require(
                fits and member.classes_.dtype.kind == model.classes_.dtype.kind, "must be classes", f"members[{k}]"
            )


# ---------------------------------------------------------------------- decisions of least cost


FOLD = Record(Fold, {"estimator": ANY_MODEL, "calibrators": ListOf(CALIBRATOR, tuple)})


def _check_folds(folds: CalibratedFolds) -> None:
    require(folds.folds, "must not be empty", "folds")
    K = len(folds.classes_)
    for k, fold in enumerate(folds.folds):
        check_member(fold.estimator, folds.folds[0].estimator, f"folds[{k}].estimator", folds.classes_)
        require(len(fold.calibrators) == (1 if K == 2 else K), "must have one per class", f"folds[{k}].calibrators")


FOLDS = Record(CalibratedFolds, {"classes_": Labels(), "folds": ListOf(FOLD, tuple)}, check=_check_folds)


class Source:
    """What gives probabilities: a model, or calibrated ones."""

    def write(self, value: Any) -> Any:
        """Those of scikit-learn as their parts."""
        if type(value) is CalibratedClassifierCV:
            try:
                value = CalibratedFolds.of(value)
            except TypeError as error:
                raise UnknownPartError(str(error)) from error
        if isinstance(value, CalibratedFolds):
            return {"calibrated": FOLDS.write(value)}
        return {"model": ANY_MODEL.write(value)}

    def read(self, data: Any, at: str) -> Any:
        """One of both."""
        if type(data) is dict and set(data) == {"calibrated"}:
            return FOLDS.read(data["calibrated"], f"{at}.calibrated")
        return ANY_MODEL.read(record(data, ("model",), at)["model"], f"{at}.model")


class Risk(Fitted):
    """Decisions of least expected cost."""

    fields: ClassVar[Mapping[str, Field]] = {
        **TABLE,
        **LABELS,
        "cost": Floats(2),
        "train_prior": Floats(low=0.0),
        "prior": Floats(low=0.0),
        "source": Source(),
    }
    attributes: ClassVar[Mapping[str, str]] = {
        "cost": "cost_",
        "train_prior": "train_prior_",
        "prior": "prior_",
        "source": "estimator_",
    }

    def check(self, model: Any) -> None:
        """A cost per pair of classes, a share per class."""
        check_table(model, kinds=False)
        n = len(model.classes_)
        require(n > 1, "must be two at least", "classes")
        require(n > 2 or hasattr(model, "pos_label_"), "must be known", "positive")
        require(model.cost_.shape == (n, n), "must have a row and a column per class", "cost")
        for name in ("train_prior", "prior"):
            shares = getattr(model, f"{name}_")
            fits = len(shares) == n and (shares > 0).all() and abs(shares.sum() - 1.0) < 1e-6
            require(fits, "must be shares of the classes", name)
        check_member(model.estimator_, model, "source", model.classes_)
        if not isinstance(model.estimator_, CalibratedFolds):
            require(hasattr(model.estimator_, "predict_proba"), "must have probabilities", "source")
