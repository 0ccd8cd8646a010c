"""Nikolaou and others on whether cost-sensitive boosters are needed."""
