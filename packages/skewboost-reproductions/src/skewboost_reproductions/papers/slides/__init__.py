"""The worked examples of the lecture slides."""
