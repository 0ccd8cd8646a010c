"""Tables from files and pipes, for the command line.

What a file is, is told by its content first and its name second. A table comes out whole (`Source.read`) or in pieces
(`Source.chunks`), with the same types either way: a column's type is settled before the first row is handed out.

- A column in which every cell is a number is a number: int64 where all are whole and none is missing, else float64.
  1e-3, .5 and inf are numbers; 1_000 is none, though Python would take it for one.
- One of nothing but true and false (also True, TRUE) is boolean, and one of nothing but ISO dates is a date.
- Every other column is text, cell by cell as it is spelled: 1 and 1.0 are two categories there.
- Missing in numbers, booleans and dates: an empty cell, ?, NA, N/A, n/a, NaN, nan, NULL, null, None, <NA>, #N/A, -, and
  a lone point. Missing in text: an empty cell, ?, NaN, nan, NULL, null, <NA> and #N/A. The others may be categories of
  their own (Namibia is NA), so they stay.
- Blank lines are skipped, and so are spaces after a delimiter.
"""

from skewboost._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
