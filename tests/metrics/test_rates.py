"""Rates are those of scikit-learn and imbalanced-learn, of the class that is meant; scorers too."""

from __future__ import annotations

import numpy as np
import pytest
import sklearn
from sklearn import metrics as sk
from sklearn.model_selection import cross_val_score, cross_validate
from sklearn.naive_bayes import GaussianNB

from skewboost import metrics
from skewboost.metrics import get_scorer, scorers

RNG = np.random.default_rng(0)
TRUTH = np.where(RNG.random(300) < 0.2, "rare", "usual")
SAID = np.where(RNG.random(300) < 0.3, "rare", "usual")
SCORE = RNG.normal(size=300) + (TRUTH == "rare")
WEIGHTS = RNG.integers(0, 4, 300).astype(float)
X = RNG.normal(size=(300, 2)) + (TRUTH == "rare")[:, None]
OF_ONE_CLASS = {
    "recall": sk.recall_score,
    "precision": sk.precision_score,
    "f1": sk.f1_score,
}


@pytest.mark.parametrize("weights", [None, WEIGHTS])
@pytest.mark.parametrize("name", OF_ONE_CLASS)
def test_rates_are_of_the_rarer_class_unless_said_otherwise(name, weights):
    ours, theirs = getattr(metrics, name), OF_ONE_CLASS[name]
    rare, usual = (theirs(TRUTH, SAID, pos_label=k, sample_weight=weights) for k in ("rare", "usual"))
    assert ours(TRUTH, SAID, sample_weight=weights) == pytest.approx(rare)
    assert ours(TRUTH, SAID, pos_label="usual", sample_weight=weights) == pytest.approx(usual)
    assert rare != usual


@pytest.mark.parametrize("weights", [None, WEIGHTS])
def test_rates_that_scikit_learn_lacks_are_rates_of_the_other_class(weights):
    def rate(name, **kwargs):
        return getattr(metrics, name)(TRUTH, SAID, sample_weight=weights, **kwargs)

    assert rate("specificity") == pytest.approx(rate("recall", pos_label="usual"))
    assert rate("negative_predictive_value") == pytest.approx(rate("precision", pos_label="usual"))
    assert rate("miss_rate") == pytest.approx(1 - rate("recall"))
    assert rate("false_alarm_rate") == pytest.approx(1 - rate("specificity"))
    assert rate("f_beta", beta=2) == pytest.approx(
        sk.fbeta_score(TRUTH, SAID, beta=2, pos_label="rare", sample_weight=weights)
    )
    assert rate("confusion_counts").total == (300 if weights is None else WEIGHTS.sum())


@pytest.mark.parametrize("weights", [None, WEIGHTS])
@pytest.mark.parametrize("n_classes", [2, 4])
def test_means_are_those_of_imbalanced_learn(n_classes, weights):
    imblearn = pytest.importorskip("imblearn.metrics")
    truth, said = RNG.integers(0, n_classes, (2, 300))
    ours = metrics.g_mean(truth, said, sample_weight=weights)
    assert ours == pytest.approx(imblearn.geometric_mean_score(truth, said, sample_weight=weights))
    if n_classes == 2 and weights is None:  # with weights theirs can be negative: true negatives are counted without
        ours = metrics.specificity(truth, said, pos_label=1)
        assert ours == pytest.approx(imblearn.specificity_score(truth, said))
    assert metrics.g_mean(truth, np.zeros(300, dtype=int)) == 0.0


def test_areas_are_those_of_scikit_learn():
    rare = TRUTH == "rare"
    for weights in (None, WEIGHTS):
        assert metrics.roc_auc(TRUTH, SCORE, sample_weight=weights) == pytest.approx(
            sk.roc_auc_score(rare, SCORE, sample_weight=weights)
        )
        assert metrics.pr_auc(TRUTH, SCORE, sample_weight=weights) == pytest.approx(
            sk.average_precision_score(rare, SCORE, sample_weight=weights)
        )
    columns = np.column_stack((SCORE, -SCORE))  # rare, usual
    assert metrics.pr_auc(TRUTH, columns) == metrics.pr_auc(TRUTH, SCORE)
    assert metrics.pr_auc(TRUTH, columns, pos_label="usual") == metrics.pr_auc(TRUTH, -SCORE, pos_label="usual")


def test_the_rarer_of_two_and_the_larger_in_a_tie():
    assert metrics.recall([0, 0, 1], [0, 1, 0]) == 0.0
    assert metrics.recall([0, 1, 1], [1, 1, 1]) == 0.0  # of 0
    assert metrics.recall([0, 0, 1, 1], [0, 0, 0, 1]) == 0.5  # of 1
    assert metrics.recall([0, 1, 1], [0, 1, 0], sample_weight=[5, 1, 1]) == 0.5  # weights make 1 the rarer
    assert metrics.recall([0, 1, 2, 2], [0, 0, 2, 1], pos_label=2) == 0.5  # one against the rest
    assert np.isnan(metrics.recall([0, 0], [0, 0], pos_label=1))  # a fold may lack the positives
    assert np.isnan(metrics.precision([0, 0, 1], [0, 0, 0]))
    with pytest.raises(ValueError, match=r"the rarer of two classes, but there are 3: \[0, 1, 2\]\. Set pos_label"):
        metrics.recall([0, 1, 2], [0, 1, 2])
    with pytest.raises(ValueError, match="pos_label=7 is not among the classes"):
        metrics.recall([0, 1], [0, 1], pos_label=7)
    with pytest.raises(ValueError, match=r"numbers such as 0\.3, which are not class labels"):
        metrics.recall([0, 1, 0], [0.3, 0.9, 1.0])
    with pytest.raises(ValueError, match="only one class"):
        metrics.roc_auc([1, 1], [0.1, 0.2])
    with pytest.raises(ValueError, match="y_true is empty"):
        metrics.miss_rate([], [])


@pytest.mark.parametrize("pos_label", [None, "rare", "usual"])
def test_scorers_are_the_measures_of_what_a_model_says(pos_label):
    clf = GaussianNB().fit(X, TRUTH)
    said, p = clf.predict(X), clf.predict_proba(X)
    told = {} if pos_label is None else {"pos_label": pos_label}
    found = {name: scorer(clf, X, TRUTH) for name, scorer in scorers(pos_label=pos_label).items()}
    assert found["recall"] == metrics.recall(TRUTH, said, **told)
    assert found["specificity"] == metrics.specificity(TRUTH, said, **told)
    assert found["neg_miss_rate"] == -metrics.miss_rate(TRUTH, said, **told)
    assert found["neg_false_alarm_rate"] == -metrics.false_alarm_rate(TRUTH, said, **told)
    assert found["g_mean"] == metrics.g_mean(TRUTH, said)
    assert found["mcc"] == sk.matthews_corrcoef(TRUTH, said)
    assert found["roc_auc"] == pytest.approx(metrics.roc_auc(TRUTH, p, **told))
    assert found["pr_auc"] == pytest.approx(metrics.pr_auc(TRUTH, p, **told))
    assert get_scorer("pr_auc", pos_label=pos_label)(clf, X, TRUTH) == found["pr_auc"]


def test_scorers_work_in_cross_validation_with_weights():
    found = cross_validate(GaussianNB(), X, TRUTH, scoring=scorers(), cv=3)
    assert all(np.isfinite(found[f"test_{name}"]).all() for name in scorers())
    with sklearn.config_context(enable_metadata_routing=True):
        for name in ("pr_auc", "recall"):
            scorer = get_scorer(name).set_score_request(sample_weight=True)
            clf = GaussianNB().set_fit_request(sample_weight=False)
            weighted = cross_val_score(clf, X, TRUTH, scoring=scorer, params={"sample_weight": WEIGHTS}, cv=3)
            assert not np.allclose(weighted, found[f"test_{name}"])
    clf = GaussianNB().fit(X, TRUTH)
    assert get_scorer("G-mean")(clf, X, TRUTH) == scorers()["g_mean"](clf, X, TRUTH)
    with pytest.raises(ValueError, match=r"name='savings' is not available here\. Choose one of error, accuracy, "):
        get_scorer("savings")
