"""Ensembles of classifiers that were each fitted to a small bite of the data, which need not fit in memory."""

from __future__ import annotations

from skewboost.votes.estimator import PastingVotesClassifier

__all__ = ["PastingVotesClassifier"]
