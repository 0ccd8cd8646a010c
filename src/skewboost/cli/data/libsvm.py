"""LIBSVM, also called svmlight: a label and the columns that are not zero, row by row."""

from __future__ import annotations

import io
import re
from collections.abc import Collection, Iterator
from itertools import islice, pairwise
from typing import Any

from skewboost.cli.data.content import Content
from skewboost.cli.data.kinds import as_number
from skewboost.cli.data.source import CHUNK_ROWS, Source

TARGET = "target"
MOST_CELLS = 1 << 28  # of a dense chunk: two gigabytes
MOST_IN_ALL = 1 << 29
MOST_COLUMNS = 1_000_000
_INDEX = re.compile(rb"\s(\d+):")
_NUMBERED = re.compile(r"f([0-9]{1,9})")


class Libsvm(Source):
    """Columns are called f1, f2, …, or f0, f1, … where the file counts from zero; the label is `target`.

    The table is dense: what is not mentioned is zero.
    """

    format = "libsvm"

    def __init__(self, content: Content, text: Collection[str] = (), columns: Collection[str] = ()) -> None:
        super().__init__(content, text)
        content.keep_all()  # how many columns there are is known at the end
        self._whole = True  # whether all labels are whole numbers
        self.first, last, self.n_rows = self._scan()
        wanted = [int(found[1]) for name in columns if (found := _NUMBERED.fullmatch(name))]
        if 0 in wanted:
            self.first = 0
        self.last = max([last, *wanted])
        self._check_size(MOST_COLUMNS, MOST_CELLS, least_rows=1)
        self.columns = [TARGET, *(f"f{k}" for k in range(self.first, self.last + 1))]
        self.check_names()

    def _scan(self) -> tuple[int, int, int]:
        lowest, highest, n_rows = 1, 0, 0
        with self.content.explained(), self.content.open() as stream:
            for number, line in enumerate(stream, 1):
                row = line.split(b"#")[0].strip()
                if not row:
                    continue
                n_rows += 1
                try:
                    found = [int(k) for k in _INDEX.findall(row)]
                except ValueError:
                    raise self.fail("a column number has thousands of digits", "Mend that row.", line=number) from None
                if any(a >= b for a, b in pairwise(found)):
                    raise self.fail("the column numbers do not rise", "Sort them, and name each once.", line=number)
                if found:
                    lowest, highest = min(lowest, found[0]), max(highest, found[-1])
                if b"_" in row:  # scikit-learn would read 1_000 as a number
                    raise self.fail("there is an underscore", "A row is: label column:value …", line=number)
                label = row.split()[0].decode(errors="replace")
                try:
                    value = as_number(label)
                except ValueError:
                    raise self.fail(f"the label {label!r} is not a number", "Give one number.", line=number) from None
                self._whole = self._whole and value.is_integer() and abs(value) < 2**53
        if n_rows == 0:
            raise self.fail("there are no rows", "Pass a table.")
        return lowest, highest, n_rows

    def chunks(self, n_rows: int = CHUNK_ROWS) -> Iterator[Any]:
        """Pandas tables of so many rows each."""
        width = len(self.columns)
        if min(n_rows, self.n_rows) * width > MOST_CELLS:
            n_rows = max(1, MOST_CELLS // width)
        row_number = 0
        with self.content.explained(), self.content.open() as stream:
            rows = (line for line in stream if line.split(b"#")[0].strip())
            while block := list(islice(rows, n_rows)):
                yield self._dense(block, row_number)
                row_number += len(block)

    def _dense(self, block: list[bytes], row_number: int) -> Any:
        import numpy as np
        import pandas as pd
        from sklearn.datasets import load_svmlight_file

        n_features = self.last - self.first + 1
        try:
            X, y = load_svmlight_file(
                io.BytesIO(b"".join(block)), n_features=max(1, n_features), zero_based=self.first == 0
            )
        except (ValueError, OverflowError) as error:
            where = f"data rows {row_number + 1} to {row_number + len(block)}"
            raise self.fail(
                f"{where} cannot be read: {error}", "A row is: label column:value column:value …"
            ) from error
        labels = y.astype(np.int64) if self._whole else y
        frame = pd.DataFrame(X.toarray()[:, :n_features], columns=self.columns[1:])
        frame.insert(0, TARGET, labels)
        for name in self.text:
            frame[name] = self.as_text(frame[name])
        return frame

    def read(self) -> Any:
        """All rows, unless they do not fit in memory when zeros are written out."""
        self._check_size(MOST_COLUMNS, MOST_IN_ALL, least_rows=self.n_rows)
        return super().read()

    def _check_size(self, most_columns: int, most_cells: int, least_rows: int) -> None:
        width = self.last - self.first + 2
        if width > most_columns or width * least_rows > most_cells:
            gigabytes = width * self.n_rows * 8 / 2**30
            raise self.fail(
                f"{self.n_rows:,} rows of {width:,} columns would take {gigabytes:.3g} GiB when dense",
                "Select columns first: skewboost bins dense tables.",
            )
