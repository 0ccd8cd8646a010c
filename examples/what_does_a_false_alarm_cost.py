"""Decide by costs: the same for all payments, or different for each payment."""

from __future__ import annotations

import numpy as np
from sklearn.model_selection import train_test_split

from skewboost import LogitBoostClassifier, MinimumRiskClassifier
from skewboost.datasets import make_fraud
from skewboost.metrics import savings_score

X, y = make_fraud()
X_train, X_new, y_train, y_new = train_test_split(X, y, test_size=0.3, stratify=y, random_state=0)

# The same costs for all payments: calling the customer costs 5, a missed fraud costs 150.
costs = np.array([[0.0, 5.0], [150.0, 5.0]])  # [true, predicted]
clf = MinimumRiskClassifier(LogitBoostClassifier(n_estimators=100), cost=costs, calibrate="sigmoid")
clf.fit(X_train, y_train)
plain = clf.predict_proba(X_new).argmax(axis=1)
print(f"most probable class: saves {savings_score(y_new, plain, cost=costs):.0%} of the cost")
print(f"minimum risk:        saves {savings_score(y_new, clf.predict(X_new), cost=costs):.0%}")

# Different costs for each payment: a missed fraud costs the amount of the payment.
amount = X_new["amount"].fillna(X_new["amount"].median()).to_numpy()
costs_of_rows = np.zeros((len(X_new), 2, 2))
costs_of_rows[:, :, 1] = 5.0
costs_of_rows[:, 1, 0] = amount
for name, predicted in {
    "most probable class": plain,
    "same costs for all": clf.predict(X_new),
    "costs of each payment": clf.predict(X_new, sample_cost=costs_of_rows),
}.items():
    paid = costs_of_rows[np.arange(len(y_new)), y_new, predicted].sum()
    print(f"{name:22} {paid:9.0f} paid, {predicted.mean():.1%} of the payments checked")
