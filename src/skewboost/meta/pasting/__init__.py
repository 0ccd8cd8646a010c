"""Pasting small votes: classifiers that are each fitted to a small sample of data that need not fit in memory."""
