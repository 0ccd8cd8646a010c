"""The parts of the experiment cuendet-curves."""
