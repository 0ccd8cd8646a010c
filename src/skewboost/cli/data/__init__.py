"""Tables from files and pipes, for the command line.

The format of a file is recognised by its content first and by its name second. A table is read at once (`Source.read`)
or in chunks (`Source.chunks`). The types of its columns are the same either way, because they are settled before the
first row is returned:

- A column in which every cell is a number is numeric: int64 if all numbers are integers and no cell is missing, else
  float64. 1e-3, .5 and inf are numbers; 1_000 is not, although Python would accept it.
- A column of true and false (also True, TRUE) is boolean, and a column of ISO dates holds dates.
- Every other column is text, and its cells keep their spelling: 1 and 1.0 are two categories there.
- Missing in numbers, booleans and dates: an empty cell, ?, NA, N/A, n/a, NaN, nan, NULL, null, None, <NA>, #N/A, -, and
  a single point. Missing in text: an empty cell, ?, NaN, nan, NULL, null, <NA> and #N/A. The others may be categories
  (NA is Namibia), so they are kept.
- Blank lines and spaces after a delimiter are skipped.
"""

from skewboost.cli.data.content import DataError
from skewboost.cli.data.formats import open_data
from skewboost.cli.data.source import Source

__all__ = ["DataError", "Source", "open_data"]
