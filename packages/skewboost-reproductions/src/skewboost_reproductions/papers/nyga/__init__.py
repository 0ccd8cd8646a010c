"""Nyga's thesis: tables (`costs`, `impact`, `goals`) and `figures`, with a module for each figure in `pictures`."""
