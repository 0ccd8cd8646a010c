"""The parts of the experiment sun-table1."""
