"""The interface of the Matlab toolbox of [1]: fourteen boosters behind three functions.

For those who have its scripts, or its text, at hand: names, options and meanings are those of its chapter 4, and every
method is one of the estimators of `skewboost`, which are the better choice for anything new. `METHODS` says which.

================================  =====================================================================================
``boost_learn(X, Y, method, …)``  trains, and notes error, precision, recall and F1 after every round
``boost_eval(boost, X, Y)``       returns F(x) and, given labels, prints what the predictions are worth
``show_decision_boundary(…)``     draws F for two features
``show_learning_curves(boost)``   draws what was noted: what ``plot=True`` does
================================  =====================================================================================

Labels are -1 and +1 (0 is read as -1), and +1 is the positive class, rare or not. Matlab's ``'yes'`` and ``'no'`` work,
and so do True and False. There are as many rounds as M says unless the weak learner has no edge left, or makes no error
at all: ``boost.estimator.stop_reason_`` then says so, and the curves go on at their last value.

References
----------
.. [1] D. Nyga, "Ensemble learning for classification of imbalanced data", Master's thesis, Technische Universität
   München (2010), chapter 4.

Examples
--------
The example of the thesis: two overlapping Gaussian clusters, and Discrete AdaBoost on stumps.

>>> import numpy as np
>>> from skewboost.toolbox import boost_eval, boost_learn, show_decision_boundary
>>> randn = np.random.default_rng(0).standard_normal
>>> N = 1000
>>> M = 50
>>> X = randn((N, 2))
>>> X = np.vstack((X, randn((N, 2)) + 3))
>>> Y = np.ones(2 * N)
>>> Y[N:] = -1
>>> boost = boost_learn(X, Y, "adaboost", "stump", M)
>>> ax = show_decision_boundary(boost, X, Y)
>>> F = boost_eval(boost, X, Y)
ada_boost on 2000 rows: error 0.011, precision 0.989, recall 0.989, F1 0.989
"""

from __future__ import annotations

from skewboost.toolbox.interface import Boost, boost_eval, boost_learn
from skewboost.toolbox.pictures import show_decision_boundary, show_learning_curves
from skewboost.toolbox.toolbox_measures import Curves, Measures
from skewboost.toolbox.toolbox_methods import METHODS, Method

__all__ = [
    "METHODS",
    "Boost",
    "Curves",
    "Measures",
    "Method",
    "boost_eval",
    "boost_learn",
    "show_decision_boundary",
    "show_learning_curves",
]
