"""Columns that say how rows may be divided: groups that stay together, and times that keep their order."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.model_selection import TimeSeriesSplit

from skewboost.cli.exit_codes import CommandError
from skewboost.cli.output import count, note, number
from skewboost.evaluate.running import divides_rows, groups_name
from skewboost.names import shown
from skewboost.typing import Array

Split = tuple[Array, Array]
SPLITS = ("cv", "splits")  # parameters of estimators for the folds that they make


def read_groups(column: Any, path: str) -> Array:
    """The number of the group of each row, from the column --group."""
    import pandas as pd

    missing = np.flatnonzero(column.isna().to_numpy())
    if len(missing):
        raise CommandError(
            f"--group: {path} has an empty cell in column {column.name!r} ({_row(column, missing[0])}).",
            "Fill it; a row that belongs to no other needs a value of its own.",
        )
    codes, names = pd.factorize(column)
    if len(names) < 2:
        raise CommandError(f"--group: {path} has the same value of {column.name!r} in all rows, so there is one group.")
    return np.asarray(codes)


def read_times(column: Any, path: str) -> Array:
    """The times of the column --time, as numbers or as dates."""
    import pandas as pd

    missing = column.isna().to_numpy()
    if pd.api.types.is_bool_dtype(column.dtype):
        raise CommandError(f"--time: the column {column.name!r} of {path} has truth values, not times.")
    if pd.api.types.is_datetime64_any_dtype(column.dtype):
        times = pd.to_datetime(column, utc=True).dt.tz_localize(None)
        bad = missing
    else:
        times = pd.to_numeric(column, errors="coerce")
        bad = ~np.isfinite(times.to_numpy(dtype=np.float64))
        if bad.any() and not pd.api.types.is_numeric_dtype(column.dtype):
            parsed = pd.to_datetime(column.astype(object), format="ISO8601", utc=True, errors="coerce")
            if parsed.isna().sum() < bad.sum():
                times, bad = parsed.dt.tz_localize(None), parsed.isna().to_numpy()
    if (bad | missing).any():
        k = int(np.flatnonzero(bad | missing)[0])
        cell = "an empty cell" if missing[k] else f"'{column.iloc[k]}'"
        raise CommandError(
            f"--time: {path} has {cell} in column {column.name!r} ({_row(column, k)}), which is not a time.",
            "Use numbers, or dates such as 2026-01-31 or 2026-01-31T12:30:00.",
        )
    found = times.to_numpy(dtype="datetime64[ns]" if times.dtype.kind == "M" else np.float64)
    if (found == found[0]).all():
        raise CommandError(f"--time: {path} has the same value of {column.name!r} in all rows.")
    return np.asarray(found)


def _row(column: Any, k: int) -> str:
    return f"row {number(int(column.index[k]) + 1)}"


def show_times(times: Array) -> tuple[str, str]:
    """The first and the last time as text; without the time of day if it is always midnight."""
    first, last = times.min(), times.max()
    if times.dtype.kind != "M":
        return number(float(first)), number(float(last))
    unit = "datetime64[D]" if (times == times.astype("datetime64[D]")).all() else "datetime64[s]"
    return str(first.astype(unit)), str(last.astype(unit))


# ------------------------------------------------------------------------------- splits


def cut_in_time(times: Array, place: float) -> int:
    """The number of rows before a cut that is as close as possible to a place; rows of equal times stay together.

    Times are sorted.
    """
    starts = 1 + np.flatnonzero(times[1:] != times[:-1])
    return int(starts[np.abs(starts - place).argmin()])


def folds_in_time(times: Array, n_folds: int, y: Array) -> list[Split]:
    """Folds of about the same size, each tested by a model that is fitted to all earlier rows.

    These are the folds of ``TimeSeriesSplit``, except that rows of equal times stay together. Times are sorted.
    """
    n = len(times)
    cuts = sorted({cut_in_time(times, n * k / (n_folds + 1)) for k in range(1, n_folds + 1)})
    if len(cuts) < n_folds:
        n_times = count(len(np.unique(times)), "different time")
        remedy = f"Use {len(cuts)} folds at most." if len(cuts) > 1 else "Use another column."
        raise CommandError(
            f"{n_folds} folds in time cannot be made: too many rows have the same time ({n_times}).", remedy
        )
    lacking = np.setdiff1d(y, y[: cuts[0]]).tolist()
    if lacking:
        raise CommandError(
            f"{n_folds} folds in time cannot be made: the first {number(cuts[0])} rows, which the first model would be "
            f"fitted to, have no row of class {shown(lacking[0])}.",
            "Use fewer folds, so that these are more rows.",
        )
    return [(np.arange(a), np.arange(a, b)) for a, b in zip(cuts, [*cuts[1:], n])]


# ----------------------------------------------------------------------------- estimators


def divided_in_time(estimator: Any) -> Any:
    """The estimator, with folds that keep the order of the rows if it divides them and has such a parameter."""
    params = estimator.get_params(deep=False)
    name = next((name for name in SPLITS if name in params), None)
    if name is not None and getattr(estimator, "_holds_out", True):
        n = params[name]
        return estimator.set_params(**{name: TimeSeriesSplit(n) if isinstance(n, int) else TimeSeriesSplit()})
    how = divides_rows(estimator)
    if how is not None:
        note(f"warning: {_name(estimator)} holds out training rows by chance ({how}), not the latest ones")
    return estimator


def group_params(estimator: Any, groups: Array | None) -> dict[str, Any]:
    """The argument of `fit` for groups, if there are any and the estimator takes them."""
    if groups is None:
        return {}
    how = divides_rows(estimator)
    if how is not None:
        note(f"warning: {_name(estimator)} may divide groups of the training rows, because of {how}")
    name = groups_name(estimator)
    return {} if name is None else {name: groups}


def _name(estimator: Any) -> str:
    return type(estimator).__name__.removesuffix("Classifier")
