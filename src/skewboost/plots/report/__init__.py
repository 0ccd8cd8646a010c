"""The report: one HTML file about a model and its results on held-out rows."""
