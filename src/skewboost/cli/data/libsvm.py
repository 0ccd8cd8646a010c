"""LIBSVM, also called svmlight: each row has a label and the columns that are not zero."""

from __future__ import annotations

import io
import re
from collections.abc import Collection, Iterator, Sequence
from itertools import islice, pairwise
from typing import Any

from skewboost.cli.data.column_types import as_number
from skewboost.cli.data.content import Content
from skewboost.cli.data.source import Source, cells_of

TARGET = "target"
MAX_CHUNK_CELLS = 1 << 28  # two gigabytes
MAX_CELLS = 1 << 29
MAX_COLUMNS = 1_000_000
_INDEX = re.compile(rb"\s(\d+):")
_NUMBERED = re.compile(r"f([0-9]{1,9})")


class Libsvm(Source):
    """A LIBSVM file as a dense table: cells that are not mentioned are zero.

    The columns are f1, f2, …, or f0, f1, … if the file counts from zero; the label is `target`.
    """

    format = "libsvm"

    def __init__(self, content: Content, columns: Collection[str] = ()) -> None:
        super().__init__(content)
        content.keep_all()  # the last row may add columns
        self._whole = True  # whether all labels are integers
        self.first, last, self.n_rows = self._scan()
        known = [int(found[1]) for name in columns if (found := _NUMBERED.fullmatch(name))]
        if 0 in known:
            self.first = 0
        self.last = max([last, *known])
        self._check_size(1, MAX_CHUNK_CELLS)
        self.columns = [TARGET, *(f"f{k}" for k in range(self.first, self.last + 1))]
        self.check_names()

    def _scan(self) -> tuple[int, int, int]:
        """Return the lowest and the highest column number and the number of rows."""
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
                    raise self.fail("a column number is too long", "Correct that row.", line=number) from None
                if any(a >= b for a, b in pairwise(found)):
                    raise self.fail("the column numbers do not increase", "Sort them, without repeats.", line=number)
                if found:
                    lowest, highest = min(lowest, found[0]), max(highest, found[-1])
                if b"_" in row:  # scikit-learn would read 1_000 as a number
                    raise self.fail("there is an underscore", "Write rows as: label column:value …", line=number)
                label = row.split()[0].decode(errors="replace")
                try:
                    value = as_number(label)
                except ValueError:
                    raise self.fail(f"the label {label!r} is not a number", "Give one number.", line=number) from None
                self._whole = self._whole and value.is_integer() and abs(value) < 2**53
        if n_rows == 0:
            raise self.fail("there are no rows", "Pass a table.")
        return lowest, highest, n_rows

    def chunks_and_cells(self, n_rows: int, names: Sequence[str]) -> Iterator[tuple[Any, Any]]:
        """Yield pandas tables of `n_rows` rows each, or of fewer if they would not fit in memory, and cells as text."""
        width = len(self.columns)
        if min(n_rows, self.n_rows) * width > MAX_CHUNK_CELLS:
            n_rows = max(1, MAX_CHUNK_CELLS // width)
        row_number = 0
        with self.content.explained(), self.content.open() as stream:
            rows = (line for line in stream if line.split(b"#")[0].strip())
            while block := list(islice(rows, n_rows)):
                yield self._dense(block, row_number), self._cells(block, names)
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
            problem = f"data rows {row_number + 1} to {row_number + len(block)} cannot be read: {error}"
            raise self.fail(problem, "Write rows as: label column:value column:value …") from error
        labels = y.astype(np.int64) if self._whole else y
        frame = pd.DataFrame(X.toarray()[:, :n_features], columns=self.columns[1:])
        frame.insert(0, TARGET, labels)
        for name in self.text:
            frame[name] = self.as_text(frame[name])
        return frame

    def _cells(self, block: list[bytes], names: Sequence[str]) -> Any:
        """The cells of some columns as they are written; one that is not mentioned is 0."""
        if not names:
            return None
        rows = []
        for line in block:
            words = line.split(b"#")[0].decode(errors="replace").split()
            pairs = (word.split(":", 1) for word in words[1:] if not word.startswith("qid:"))
            rows.append({TARGET: words[0], **{f"f{int(k)}": cell for k, cell in pairs}})
        return cells_of([[row.get(name, "0") for name in names] for row in rows], names, names)

    def read(self) -> Any:
        """Return all rows, unless they would not fit in memory as a dense table."""
        self._check_size(self.n_rows, MAX_CELLS)
        return super().read()

    def _check_size(self, n_rows: int, max_cells: int) -> None:
        """Raise if so many rows at a time are too large."""
        width = self.last - self.first + 2
        if width > MAX_COLUMNS or width * n_rows > max_cells:
            gigabytes = width * self.n_rows * 8 / 2**30
            raise self.fail(
                f"{self.n_rows:,} rows of {width:,} columns would take {gigabytes:.3g} GiB as a dense table",
                "Select columns first, because skewboost bins dense tables.",
            )
