"""One HTML file about a model: what it finds, what it costs, why, and how far to trust that."""
