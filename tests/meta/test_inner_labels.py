"""Members that are fitted to samples, bites and folds have the positive class of all rows."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone

from skewboost import (
    AdaC2Classifier,
    CSRAClassifier,
    MinimumRiskClassifier,
    PastingVotesClassifier,
    SkewBoostClassifier,
    UnderBaggingClassifier,
)
from skewboost.evaluate import bias_variance, staged_curve

MEMBERS = {
    "under-bagging": lambda member: UnderBaggingClassifier(member, n_estimators=3, random_state=0),
    "pasting": lambda member: PastingVotesClassifier(
        member, n_estimators=3, bite_size=80, class_shares="balanced", random_state=0
    ),
    "minimum risk": lambda member: MinimumRiskClassifier(member, calibrate="sigmoid", cv=3),
}
INNER = {
    "booster": CSRAClassifier(cost=20, n_estimators=5),
    "portfolio": SkewBoostClassifier(effort="quick", random_state=0),
}


def members_of(model):
    folds = getattr(getattr(model, "estimator_", None), "folds", ())
    return [*getattr(model, "estimators_", ()), *(fold.estimator for fold in folds)]


def rows(n_rare, n_common, seed=0):
    rng = np.random.default_rng(seed)
    rare = rng.permutation(np.arange(n_rare + n_common) < n_rare)
    return rng.normal(size=(len(rare), 3)) + 1.5 * rare[:, None], rare


@pytest.mark.sample(7)
@pytest.mark.parametrize("name", MEMBERS)
@pytest.mark.parametrize("inner", INNER)
@pytest.mark.parametrize("sizes", [(40, 400), (100, 101)], ids=str)
def test_the_rarer_class_may_be_the_first(name, inner, sizes):
    # a cost is that of missing the rarer class, whatever it is called and however often it is in a sample
    X, rare = rows(*sizes)
    flagged = []
    for labels in (("a rare", "b common"), ("b rare", "a common")):
        model = MEMBERS[name](clone(INNER[inner])).fit(X, np.where(rare, *labels))
        assert {member.pos_label_ for member in members_of(model)} == {labels[0]}
        flagged.append((model.predict(X) == labels[0]).mean())
    assert flagged[0] == pytest.approx(flagged[1], abs=0.1)  # samples are drawn in the order of the classes


def test_a_vote_by_labels_counts_costs_for_the_rarer_class():
    X, rare = rows(60, 600)
    flagged = []
    for labels in (("a rare", "b common"), ("b rare", "a common")):
        member = AdaC2Classifier(cost=1.2, n_estimators=10)
        model = UnderBaggingClassifier(member, n_estimators=5, random_state=0).fit(X, np.where(rare, *labels))
        flagged.append((model.predict(X) == labels[0]).mean())
    assert flagged[0] == pytest.approx(flagged[1], abs=0.03)


@pytest.mark.parametrize("evaluate", [staged_curve, bias_variance], ids=lambda function: function.__name__)
def test_evaluations_fit_with_the_class_of_all_rows(evaluate, monkeypatch):
    X, rare = rows(40, 41)
    y, fit, seen = np.where(rare, "a", "b"), CSRAClassifier.fit, []

    def spy(self, *args, **kwargs):
        seen.append(fit(self, *args, **kwargs).pos_label_)
        return self

    monkeypatch.setattr(CSRAClassifier, "fit", spy)
    evaluate(CSRAClassifier(cost=5, n_estimators=2), X, y, random_state=0)
    assert len(seen) >= 4
    assert set(seen) == {"a"}
