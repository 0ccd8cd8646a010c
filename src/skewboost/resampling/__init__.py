"""Ensembles for lopsided data that resample: presets of boosting with a sampler, and bagging of under-samples."""
