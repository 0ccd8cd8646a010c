"""The figures of Nyga's thesis: one module each."""
