"""Ensembles of classifiers that were each fitted to a small part of the data, which need not fit in memory."""
