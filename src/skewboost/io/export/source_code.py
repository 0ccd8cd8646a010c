"""Fitted models as source code in Python, C and SQL."""

from __future__ import annotations

import builtins
import keyword
import re
from collections.abc import Sequence
from typing import Any

from skewboost.errors import InputError
from skewboost.io.export.c_source import write_c
from skewboost.io.export.python_source import write_python
from skewboost.io.export.reading import read_formula
from skewboost.io.export.sql_query import write_sql

WRITERS = {"python": write_python, "c": write_c}
LANGUAGES = (*WRITERS, "sql")
PYTHON_NAMES = frozenset({"math", "CLASSES", "FEATURES"}) | set(dir(builtins))
_RESERVED = (
    "auto break case char const continue default do double else enum extern float for goto if inline int long register "
    "restrict return short signed sizeof static struct switch typedef union unsigned void volatile while asm bool true "
    "false main nullptr typeof alignas alignof constexpr thread_local static_assert class new delete this template "
    "NAN INFINITY NULL HUGE_VAL HUGE_VALF HUGE_VALL size_t ptrdiff_t wchar_t offsetof float_t double_t fpclassify "
    "isfinite isinf isnan isnormal signbit isgreater isless islessgreater isunordered memchr memcmp memcpy memmove "
    "memset strcat strchr strcmp strcoll strcpy strcspn strerror strlen strncat strncmp strncpy strpbrk strrchr strspn "
    "strstr strtok strxfrm abort abs calloc exit free labs malloc printf puts realloc"
)
_MATHS = (  # each for three types
    "acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh erf erfc exp exp2 expm1 fabs fdim floor fma "
    "fmax fmin fmod frexp hypot ilogb ldexp lgamma llrint llround log log10 log1p log2 logb lrint lround modf nan "
    "nearbyint nextafter nexttoward pow remainder remquo rint round scalbln scalbn sin sinh sqrt tan tanh tgamma trunc"
)
C_NAMES = frozenset(_RESERVED.split()) | {f"{maths}{kind}" for maths in _MATHS.split() for kind in ("", "f", "l")}


def to_source(
    model: Any,
    language: str,
    *,
    name: str = "predict",
    table: str | None = None,
    keep: Sequence[str] | None = None,
) -> str:
    """Export a fitted model as a program without dependencies.

    Scores, probabilities and labels are equal to those of the model: sums are added in the same order, and thresholds
    have all their digits. A program of a `SkewBoostClassifier` has some kilobytes per tree.

    Parameters
    ----------
    model : estimator
        A fitted booster of this library whose F is a sum of stumps, trees, histograms, lines or alternating trees; a
        fitted `SkewBoostClassifier`; or a `GoalSearchCV` around one of them, whose threshold is applied.
    language : {"python", "c", "sql"}
        What to write. Python: functions of a mapping or a sequence that import nothing but `math`. C: one file in C99
        that includes nothing but ``math.h``, ``stddef.h`` and ``string.h``. SQL: a query for SQLite,
        PostgreSQL and DuckDB.
    name : str, default="predict"
        The name of the functions or columns: ``{name}`` is the label, ``{name}_score`` the decision function and
        ``{name}_probability`` the probabilities. An identifier.
    table : str or None, default=None
        SQL only: the table to read from. None: ``data``.
    keep : sequence of str or None, default=None
        SQL only: the columns of the table that the query returns. None: all.

    Returns
    -------
    str
        The source code.

    Raises
    ------
    TypeError
        If the model cannot be exported; the message says which models can.
    ValueError
        If the trees of the model are too large for a query, or a name cannot be written.

    Examples
    --------
    >>> from skewboost import RealBoostClassifier
    >>> from skewboost.io import to_source
    >>> clf = RealBoostClassifier(n_estimators=5).fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1])
    >>> program = {}
    >>> exec(to_source(clf, "python"), program)
    >>> program["predict"]([2.5]), program["predict"]({"x0": 0.5})
    (1, 0)
    """
    if language not in LANGUAGES:
        raise InputError(f"language must be one of {', '.join(map(repr, LANGUAGES))}; got {language!r}.")
    _check_name(name, language)
    if language != "sql":
        for option, value in (("table", table), ("keep", keep)):
            if value is not None:
                raise InputError(f"{option}={value!r} has no effect with language={language!r}, only with 'sql'.")
    formula = read_formula(model)
    if language in WRITERS:
        return WRITERS[language](formula, name)
    if isinstance(keep, str):
        raise InputError(f"keep={keep!r} must be a list of column names. For one column pass [{keep!r}].")
    return write_sql(formula, name, "data" if table is None else table, keep)


def _check_name(name: str, language: str) -> None:
    """Check that a name is an identifier of the language."""
    taken = {"python": PYTHON_NAMES | set(keyword.kwlist), "c": C_NAMES, "sql": frozenset[str]()}[language]
    if not isinstance(name, str) or not re.fullmatch(r"[A-Za-z][A-Za-z0-9_]{0,39}", name) or name in taken:
        raise InputError(
            f"name={name!r} must be an identifier of ASCII letters, digits and underscores that starts with a letter, "
            f"has at most 40 characters, and is neither a keyword of {language} nor a name that the program uses."
        )
