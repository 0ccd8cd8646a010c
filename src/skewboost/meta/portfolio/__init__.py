"""A portfolio of boosters and forests, weighted by their predictions of rows that they were not trained on."""
