"""What does a false alarm cost you? From a price list to decisions, payment by payment."""

from __future__ import annotations

import numpy as np
from sklearn.model_selection import train_test_split

from skewboost import LogitBoostClassifier, MinimumRiskClassifier
from skewboost.datasets import make_fraud
from skewboost.metrics import savings_score

X, y = make_fraud()
X_train, X_new, y_train, y_new = train_test_split(X, y, test_size=0.3, stratify=y, random_state=0)

# One price list for all: calling a customer costs 5, whether or not it was fraud, and a fraud that goes through 150.
prices = np.array([[0.0, 5.0], [150.0, 5.0]])  # [true, predicted]
clf = MinimumRiskClassifier(LogitBoostClassifier(n_estimators=100), cost=prices, calibrate="sigmoid")
clf.fit(X_train, y_train)
plain = clf.predict_proba(X_new).argmax(axis=1)
print(f"likeliest class: saves {savings_score(y_new, plain, cost=prices):.0%} of the bill")
print(f"minimum risk:    saves {savings_score(y_new, clf.predict(X_new), cost=prices):.0%}")

# Better: a fraud costs what was paid. The price of a miss is the amount of the payment itself.
amount = X_new["amount"].fillna(X_new["amount"].median()).to_numpy()
bills = np.zeros((len(X_new), 2, 2))
bills[:, :, 1] = 5.0
bills[:, 1, 0] = amount
for name, answers in {
    "likeliest class": plain,
    "one price for all": clf.predict(X_new),
    "its own price": clf.predict(X_new, sample_cost=bills),
}.items():
    paid = bills[np.arange(len(y_new)), y_new, answers].sum()
    print(f"{name:18} {paid:9.0f} paid, {answers.mean():.1%} of the payments checked")
