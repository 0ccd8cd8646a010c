"""One module per experiment."""
