"""Detect three kinds of intrusion: several classes and a cost matrix."""

from __future__ import annotations

import numpy as np
from sklearn.metrics import balanced_accuracy_score
from sklearn.model_selection import train_test_split

from skewboost import (
    AdaBoostMHClassifier,
    AdaC2M1Classifier,
    CodeMatrixClassifier,
    MinimumRiskClassifier,
    RealBoostClassifier,
)
from skewboost.datasets import make_intrusions
from skewboost.metrics import expected_cost

X, y = make_intrusions()
X_train, X_new, y_train, y_new = train_test_split(X, y, test_size=0.3, stratify=y, random_state=0)

# Columns: predicted break-in, dos, normal, probe
costs = np.array([
    [0, 20, 100, 20],  # true break-in; predicting normal is the most expensive mistake
    [5, 0, 20, 5],
    [2, 2, 0, 1],  # true normal: false alarms
    [2, 2, 5, 0],
])  # fmt: skip

models = {
    "AdaBoost.MH": AdaBoostMHClassifier(n_estimators=100),
    "AdaC2.M1 of trees": AdaC2M1Classifier(
        estimator="tree", n_estimators=20, cost={"normal": 1} | dict.fromkeys(["break-in", "dos", "probe"], 1.2)
    ),
    "RealBoost, one vs one": CodeMatrixClassifier(RealBoostClassifier(n_estimators=100), code="one_vs_one"),
    "AdaBoost.MH at minimum risk": MinimumRiskClassifier(AdaBoostMHClassifier(n_estimators=100), cost=costs),
}
print(f"{'':28} balanced accuracy   cost per connection")
for name, model in models.items():
    predicted = model.fit(X_train, y_train).predict(X_new)
    cost = expected_cost(y_new, predicted, costs)
    print(f"{name:28} {balanced_accuracy_score(y_new, predicted):17.3f} {cost:21.3f}")
