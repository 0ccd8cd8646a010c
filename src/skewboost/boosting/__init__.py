"""One loop, and the variants as rules on it."""
