"""Models with a structure of their own."""
