"""Reach 95 % recall on card fraud, with a certificate for new payments."""

from __future__ import annotations

from sklearn.model_selection import train_test_split

from skewboost import CSRAClassifier, GoalSearchCV
from skewboost.datasets import make_fraud
from skewboost.metrics import Counts

X, y = make_fraud()
X_train, X_new, y_train, y_new = train_test_split(X, y, test_size=0.3, stratify=y, random_state=0)

booster = CSRAClassifier(n_estimators=50)
clf = GoalSearchCV(booster, goal="recall >= 95%", confidence=0.9, max_points=12, random_state=0)
clf.fit(X_train, y_train)

print(clf.certificate_)
print(f"trained with a miss at {clf.cost_[1]:.3g} and a false alarm at {clf.cost_[0]:.3g}")
counts = Counts.of(y_new == 1, clf.predict(X_new) == 1)
print(f"new payments: recall {counts.recall:.1%}, {counts.flagged_share:.1%} of all are flagged")

# A goal that cannot be reached raises an error that says how close the search came.
try:
    clf.set_params(goal="recall >= 90% and precision >= 90%").fit(X_train, y_train)
except ValueError as reason:
    print(reason)
