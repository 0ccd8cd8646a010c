"""More than two classes, and several labels per example."""
