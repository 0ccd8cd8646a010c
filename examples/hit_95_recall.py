"""Hit 95 % recall on card fraud, with a promise that holds on payments nobody has seen yet."""

from __future__ import annotations

from sklearn.model_selection import train_test_split

from skewboost import CSRAClassifier, GoalSearchCV
from skewboost.datasets import make_fraud
from skewboost.metrics import Counts

X, y = make_fraud()
X_train, X_new, y_train, y_new = train_test_split(X, y, test_size=0.3, stratify=y, random_state=0)

clf = GoalSearchCV(CSRAClassifier(n_estimators=100), goal="recall >= 95%", confidence=0.9, random_state=0)
clf.fit(X_train, y_train)

print(clf.certificate_)
print(f"trained with a miss at {clf.cost_[1]:.3g} and a false alarm at {clf.cost_[0]:.3g}")
counts = Counts.of(y_new == 1, clf.predict(X_new) == 1)
print(f"new payments: recall {counts.recall:.1%}, {counts.flagged_share:.1%} of all are flagged")

# Not every goal can be had, and then that is the answer:
try:
    GoalSearchCV(CSRAClassifier(n_estimators=100), "recall >= 90% and precision >= 90%", random_state=0).fit(
        X_train, y_train
    )
except ValueError as reason:
    print(reason)
