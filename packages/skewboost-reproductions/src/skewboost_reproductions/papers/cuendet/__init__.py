"""Cuendet and Labbi on boosting weak predictors: errors over rounds, and two questions that they leave open."""
