"""A formula as an SQL query."""

from __future__ import annotations

import math
import sqlite3
import sys
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from typing import Any

from skewboost.boosting.link import ManyClasses
from skewboost.engine.scoring import LineTerm
from skewboost.errors import InputError
from skewboost.io.export.formula import Cases, Formula, LookUp, Node, Odds, Steps, Tests, Tree, filled, utf8

# Terms that one step adds up: parsers limit the depth of an expression, and the planning time of DuckDB grows faster
# than its depth.
MAX_SUM = 40
# Nested cases: SQLite's parser has a stack of a hundred symbols, and each case takes six.
MAX_NESTED = 16
MOST_LEAVES = 2**MAX_NESTED
# The largest of up to this many numbers is found by comparing all pairs.
COMPARED = 8
# Beyond it the logistic function is 0 or 1. PostgreSQL raises an error where EXP overflows or underflows.
FAR = 700
# Adding and subtracting it rounds to the nearest integer, ties to even, as in the model.
ROUNDER = 1.5 * 2.0**52


@dataclass
class _Step:
    """A query that adds columns to the one before."""

    columns: list[tuple[str, str]] = field(default_factory=list)  # name and formula
    uses: set[str] = field(default_factory=set)  # columns of earlier steps


class _Query:
    """The steps of a query; columns are added to the last one."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.steps = [_Step()]
        self.results: list[str] = []  # columns of earlier steps that are results

    def next_step(self) -> None:
        """Start a step, which may use the columns of the steps before."""
        if self.steps[-1].columns:
            self.steps.append(_Step())

    def add(self, name: str, formula: str) -> None:
        """Add a column; the empty name is that of the label."""
        self.steps[-1].columns.append((name, formula))

    def get(self, name: str) -> str:
        """A column of an earlier step, for use in this one."""
        self.steps[-1].uses.add(name)
        return cell(self.called(name))

    def called(self, name: str) -> str:
        """The full name of a column."""
        return f"{self.name}_{name}" if name else self.name

    def text(self, table: str, keep: Sequence[str] | None) -> str:
        """The query. Steps are materialized: otherwise databases copy their formulas to every place of use."""
        written, source, known = [], quoted(table), list[str]()
        for k, step in enumerate(self.steps, 1):
            later = set(self.results).union(*(s.uses for s in self.steps[k:]))
            passed_on = [*(keep or ()), *(self.called(c) for c in known if c in later)]
            columns = ["t.*"] if keep is None else list(map(cell, passed_on))
            columns += [f"{formula} AS {quoted(self.called(c))}" for c, formula in step.columns]
            known += [c for c, _ in step.columns]
            listed = ",\n  ".join(columns)  # a category may hold a line break, so steps are not indented
            written.append(f"SELECT\n  {listed}\nFROM {source} AS t")
            source = quoted(self.called(f"step_{k}"))
        *before, end = written
        steps = [f"{quoted(self.called(f'step_{k}'))} AS MATERIALIZED (\n{s}\n)" for k, s in enumerate(before, 1)]
        return f"WITH {', '.join(steps)}\n{end};\n" if steps else f"{end};\n"


def write_sql(formula: Formula, name: str, table: str, keep: Sequence[str] | None) -> str:
    """Return the query: cells, steps that add up F, steps for the link, and a SELECT of the results."""
    quoted(table)  # raises if it is not a name
    columns = {column.name for column in formula.columns} | set(keep or ())
    clash = sorted(c for c in columns if c.lower() == name.lower() or c.lower().startswith(f"{name}_".lower()))
    if clash:
        raise InputError(
            f"Column {clash[0]!r} and a column that the query adds have the same name. Set name to another prefix."
        )
    if table.lower().startswith(f"{name}_step_".lower()):
        raise InputError(f"table={table!r} is also the name of a step of the query. Set name to another prefix.")
    twice = sorted(c for c, n in Counter(keep or ()).items() if n > 1)
    if twice:
        raise InputError(f"keep={list(keep or ())!r} names {twice[0]!r} twice. Name each column once.")
    query = _Query(name)
    _add_cells(query, formula)
    _add_sums(query, formula)
    query.next_step()
    if isinstance(formula.link, ManyClasses):
        _add_many(query, formula, formula.link)
    else:
        _add_two(query, formula, formula.link)
    usage = [
        "",
        f"{name}_score: the decision function{' of each class' if formula.n_outputs > 1 else ''}",
        f"{name}_probability_k: the probability of class k, counted from 0",
        f"{name}: the label",
        "NULL and NaN are missing cells. Categories are text.",
    ]
    comment = "\n".join(f"-- {line}".rstrip() for line in [*formula.header(), *usage])
    return f"{comment}\n{query.text(table, keep)}"


# ----------------------------------------------------------------------------------------------------- F


def _add_cells(query: _Query, formula: Formula) -> None:
    """Cast numbers to doubles, because databases compare integers exactly, and turn NaN into NULL.

    In databases with NaN, it is larger than all numbers, and so is its negative.
    """
    largest = number(sys.float_info.max)
    for j in formula.used:
        column = formula.columns[j]
        if column.categories is not None:
            query.add(f"x{j}", f"CAST({cell(column.name)} AS VARCHAR)")
            continue
        x = f"CAST({cell(column.name)} AS DOUBLE PRECISION)"
        query.add(f"x{j}", f"CASE WHEN {x} > {largest} AND -{x} > {largest} THEN NULL ELSE {x} END")


def _add_sums(query: _Query, formula: Formula) -> None:
    K = formula.n_outputs
    terms: list[Callable[[int], str]] = [partial(_table, query, formula, part) for part in formula.tables]
    terms += [partial(_tree, query, tree) for tree in formula.trees]
    if formula.lines:
        terms.append(partial(_lines, query, formula.lines))
    names = ["F"] if K == 1 else [f"F_{k}" for k in range(K)]
    n_steps = max(1, math.ceil(len(terms) / MAX_SUM))
    for step in range(n_steps):
        query.next_step()
        some = terms[step * MAX_SUM : (step + 1) * MAX_SUM]
        for k, F in enumerate(names):
            first = query.get(f"{F}_part_{step - 1}") if step else double(formula.constant[k])
            total = "\n  + ".join([first, *(term(k) for term in some)])
            query.add(F if step == n_steps - 1 else f"{F}_part_{step}", total)


def _case(whens: Sequence[tuple[str, str]], other: str, indent: str = "    ") -> str:
    """The first formula whose condition holds. The last one must be a double, so that all others are, too."""
    if not whens:
        return other
    return (
        "CASE\n" + "".join(f"{indent}WHEN {test} THEN {then}\n" for test, then in whens) + f"{indent}ELSE {other} END"
    )


def _table(query: _Query, formula: Formula, part: Steps | LookUp, k: int) -> str:
    missing = part.missing[k]
    if isinstance(part, LookUp):
        of_value: dict[float, list[str]] = {}
        for category, values in zip(formula.columns[part.feature].categories or (), part.values):
            if values[k] != missing:
                of_value.setdefault(values[k], []).append(category)
        if not of_value:
            return double(missing)
        x = query.get(f"x{part.feature}")
        return _case([(f"{x} IN ({_listed(cs)})", number(v)) for v, cs in of_value.items()], double(missing))
    if not part.cuts and part.values[0][k] == missing:
        return double(missing)
    x = query.get(f"x{part.feature}")
    steps = [(f"{x} <= {number(cut)}", number(v[k])) for cut, v in zip(part.cuts, part.values)]
    return _case([(f"{x} IS NULL", number(missing)), *steps], double(part.values[-1][k]))


def _listed(categories: Sequence[str]) -> str:
    if any("\n" in c for c in categories):  # a line break within a category must stay where it is
        return ", ".join(map(literal, categories))
    return filled(map(literal, categories), indent="      ").strip().rstrip(",")


def _lines(query: _Query, lines: Sequence[LineTerm], k: int) -> str:
    terms = ["0.0E0"]
    for line in lines:
        x = query.get(f"x{line.feature}")
        low, high = double(-line.reach), double(line.reach)
        small = ""
        if line.scale > 1.0:  # PostgreSQL raises an error where a quotient underflows
            small = f"WHEN ABS({x}) < {number(line.scale * 2.0**-1000)} THEN 0.0E0 "
        inner = f"CASE WHEN {x} > {high} THEN {high} WHEN {x} < {low} THEN {low} {small}ELSE {x} END"
        height = (
            f"{number(line.rise)} * ({inner} / {number(line.scale)} - {number(line.centre)}) + {number(line.height)}"
        )
        terms.append(f"CASE WHEN {x} IS NULL THEN 0.0E0 ELSE {height} END")
    return f"({' + '.join(terms)})"


def _tree(query: _Query, tree: Tree, k: int) -> str:
    if len(tree.values) > MOST_LEAVES:
        raise InputError(
            f"A tree has {len(tree.values)} leaves, but a query can have at most {MOST_LEAVES}. Set max_leaf_nodes "
            "when fitting, or export C."
        )

    def written(cases: Cases, indent: str) -> str:
        whens = [(test, written(then, f"{indent}  ")) for test, then in cases.tests]
        return _case(whens, double(cases.other[k]), indent) if whens else number(cases.other[k])

    return written(tree.cases(partial(_tests, query)), "    ")


def _tests(query: _Query, node: Node) -> Tests:
    x = query.get(f"x{node.feature}")
    absent = f"{x} IS NULL"
    if node.sides is None and math.isinf(node.cut):
        return Tests((f"{x} IS NOT NULL", ""), ("1 = 1", absent), absent)
    if node.sides is None:
        below, above = f"{x} <= {number(node.cut)}", f"{x} > {number(node.cut)}"
        return Tests((below, above), (f"({below} OR {absent})", f"({above} OR {absent})"), absent)

    def one_of(categories: Collection[str]) -> str:
        return f"{x} IN ({_listed(sorted(categories))})" if categories else ""

    def none_of(categories: Collection[str]) -> str:
        return f"({absent} OR {x} NOT IN ({_listed(sorted(categories))}))" if categories else "1 = 1"

    yes, no = node.sides
    return Tests((one_of(yes), one_of(no)), (none_of(no), none_of(yes)), none_of(yes | no))


# ----------------------------------------------------------------------------------------- what F means


def _logistic(t: str) -> str:
    return f"CASE WHEN {t} < -{FAR} THEN 0.0E0 WHEN {t} > {FAR} THEN 1.0E0 ELSE 1.0E0 / (1.0E0 + EXP(-({t}))) END"


def _add_two(query: _Query, formula: Formula, link: Odds) -> None:
    if link.pieces:
        _add_pieces(query, link)
    else:
        _add_log_odds(query, link, f"{number(link.scale)} * {query.get('F')}")
    shifted = f"({query.get('F')} + {number(link.decision_shift)})" if link.decision_shift else query.get("F")
    decision = f"0.5E0 * {query.get('log_odds')}" if link.calibrated else shifted
    score = decision if link.threshold is None else f"({decision} - {number(link.threshold)})"
    query.add("score", score if link.positive == 1 else f"-({score})")
    t = query.get("log_odds")
    t = f"{t} - {number(link.cost_offset)}" if link.cost_offset else t
    for k in range(2):
        query.add(f"probability_{k}", _logistic(t if k == link.positive else f"-({t})"))
    labels = [label(c) for c in formula.classes]
    at_least = f"{decision} >= {number(link.threshold or 0.0)}"
    query.add("", f"CASE WHEN {at_least} THEN {labels[link.positive]} ELSE {labels[1 - link.positive]} END")


def _add_log_odds(query: _Query, link: Odds, odds: str) -> None:
    query.add("log_odds", " + ".join([odds, *map(number, link.shifts)]))
    query.next_step()


def _add_pieces(query: _Query, link: Odds) -> None:
    """The log-odds of a probability that is linear in pieces."""
    ends = [piece.start for piece in link.pieces[1:]]
    *pieces, last = link.pieces
    assert last.slope == 0.0

    F = query.get("F")
    heights = [
        f"{number(p.slope)} * ({F} - {number(p.start)}) + {number(p.p)}" if p.slope else number(p.p) for p in pieces
    ]
    query.add("height", _case([(f"{F} < {number(end)}", p) for end, p in zip(ends, heights)], double(last.p)))
    query.next_step()
    height, low, high = query.get("height"), number(link.margin), number(1.0 - link.margin)
    query.add("inner", f"CASE WHEN {height} < {low} THEN {low} WHEN {height} > {high} THEN {high} ELSE {height} END")
    query.next_step()
    F, inner = query.get("F"), query.get("inner")
    odds = [f"LN({inner} / (1.0E0 - {inner}))" if p.slope else number(p.log_odds) for p in pieces]
    whens = [(f"{F} < {number(end)}", t) for end, t in zip(ends, odds)]
    _add_log_odds(query, link, _case(whens, double(last.log_odds)))


def _add_many(query: _Query, formula: Formula, link: ManyClasses) -> None:
    K = len(link.costs)
    for k in range(K):
        tens = f"{query.get(f'F_{k}')} * 1.0E10"
        query.add(f"score_{k}", f"({tens} + {number(ROUNDER)} - {number(ROUNDER)}) / 1.0E10")
        query.results.append(f"score_{k}")
    query.next_step()
    top = _add_largest(query, [f"score_{k}" for k in range(K)])
    for k in range(K):
        s = query.get(f"score_{k}")
        if link.softmax:
            t = f"2.0E0 * ({s} - {query.get(top)})"
            query.add(f"share_{k}", f"CASE WHEN {t} < -{FAR} THEN 0.0E0 ELSE EXP({t}) END")
        else:
            little = f"(1.0E0 + 1.0E-9 * {s} / (1.0E0 + ABS({s})))"
            query.add(f"share_{k}", f"({_logistic(f'2.0E0 * {s}')}) * {little} / {number(link.costs[k])}")
    query.next_step()
    shares = [f"share_{k}" for k in range(K)]
    query.add("total", " + ".join(map(query.get, shares)))
    query.next_step()
    total = query.get("total")
    for k, share in enumerate(map(query.get, shares)):
        query.add(f"probability_{k}", f"CASE WHEN {total} > 0 THEN {share} / {total} ELSE {double(1.0 / K)} END")
    *labels, last = [label(c) for c in formula.classes]
    whens = [f"WHEN {query.get(f'score_{k}')} >= {query.get(top)} THEN {c}" for k, c in enumerate(labels)]
    query.add("", f"CASE {' '.join(whens)} ELSE {last} END")


def _add_largest(query: _Query, names: list[str]) -> str:
    """Add a column with the largest of some columns, group by group, and return its name."""
    level = 0
    while len(names) > 1:
        groups = [names[k : k + COMPARED] for k in range(0, len(names), COMPARED)]
        for g, group in enumerate(groups):
            *some, last = map(query.get, group)
            whens = [
                f"WHEN {' AND '.join(f'{s} >= {o}' for o in (*some[k + 1 :], last))} THEN {s}"
                for k, s in enumerate(some)
            ]
            query.add(f"top_{level}_{g}", f"CASE {' '.join(whens)} ELSE {last} END" if whens else last)
        names, level = [f"top_{level}_{g}" for g in range(len(groups))], level + 1
        query.next_step()
    return names[0]


# ----------------------------------------------------------------------------------------- names, texts and numbers


def quoted(name: str) -> str:
    """The name of a table or column in quotes."""
    if not isinstance(name, str) or not name or "\0" in name:
        raise InputError(
            f"{name!r} is not the name of a table or column. Pass a non-empty text without null characters."
        )
    utf8(name)
    return '"' + name.replace('"', '""') + '"'


def cell(name: str) -> str:
    """A column of the step before. Without the ``t.`` SQLite reads an unknown name as a text."""
    return f"t.{quoted(name)}"


def literal(value: str) -> str:
    """A text literal."""
    if "\0" in value:
        raise InputError(f"{value!r} holds a null character, which cannot be written in SQL. Rename it.")
    utf8(value)
    return "'" + value.replace("'", "''") + "'"


def label(value: Any) -> str:
    """A class label: a text, a number or a boolean."""
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, int):
        if not -(2**63) <= value < 2**63:
            raise InputError(f"classes_ holds {value}, but integers have 64 bits in databases. Rename it.")
        return str(value)
    return double(value) if isinstance(value, float) else literal(value)


def double(value: float) -> str:
    """A number of type double."""
    return f"CAST({number(value)} AS DOUBLE PRECISION)"


def number(value: float) -> str:
    """A number for use with doubles, which PostgreSQL may read as a decimal.

    Negative numbers are in brackets, because two minus signs begin a comment.
    """
    digits = repr(float(value))
    digits = digits if "e" in digits else f"{digits}E0"
    if not _reads(digits, value):
        digits = fraction(value)
    return f"({digits})" if digits.startswith("-") else digits


@cache
def _sqlite() -> sqlite3.Connection:
    return sqlite3.connect(":memory:", check_same_thread=False)


def _reads(digits: str, value: float) -> bool:
    """Whether SQLite, which rounds some decimals incorrectly, reads exactly this number."""
    plain = len(digits) < 17 and (value == 0.0 or 1e-9 < abs(value) < 1e9)
    return plain or bool(_sqlite().execute(f"SELECT {digits}").fetchone()[0] == value)


def fraction(value: float) -> str:
    """A double as integers and powers of two, which all databases read exactly."""
    mantissa, exponent = math.frexp(value)
    text, exponent = f"CAST({int(mantissa * 2**53)} AS DOUBLE PRECISION)", exponent - 53
    while exponent:
        step = max(-62, min(62, exponent))
        text += f" {'*' if step > 0 else '/'} {2.0 ** abs(step):.0f}"
        exponent -= step
    return f"({text})"
