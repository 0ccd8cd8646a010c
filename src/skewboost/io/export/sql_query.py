"""A formula as an SQL query."""

from __future__ import annotations

import math
import sys
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from functools import partial

from skewboost.engine.scoring import LineTerm
from skewboost.errors import InputError
from skewboost.io.export.formula import Cases, Forest, Formula, LookUp, Node, Steps, Sum, Tests, Values, filled
from skewboost.io.export.sql_link import add_link
from skewboost.io.export.sql_steps import Query, cell, double, first_case, literal, number, quoted
from skewboost.meta.portfolio.components import Components

# Terms that one step adds up: parsers limit the depth of an expression, and the planning time of DuckDB grows faster
# than its depth.
MAX_SUM = 40
# Nested cases: SQLite's parser has a stack of a hundred symbols, and each case takes six.
MAX_NESTED = 16
MOST_LEAVES = 2**MAX_NESTED
# Leaves, times outputs, of all trees: databases take milliseconds, and kilobytes of memory, to plan each.
MOST_CASES = 200_000
MOST_LISTED = 1_000_000  # names of categories in all conditions


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
    _check_size(formula)
    query = Query(name)
    _add_cells(query, formula)
    _add_f(query, formula)
    query.next_step()
    add_link(query, formula)
    usage = [
        "",
        f"{name}_score: the decision function{' of each class' if formula.n_outputs > 1 else ''}",
        f"{name}_probability_k: the probability of class k, counted from 0",
        f"{name}: the label",
        "NULL and NaN are missing cells. Categories are text.",
    ]
    comment = "\n".join(f"-- {line}".rstrip() for line in [*formula.header(), *usage])
    return f"{comment}\n{query.text(table, keep)}"


def _check_size(formula: Formula) -> None:
    """Refuse models whose query no database could plan."""
    # A portfolio has no parameters of its trees, and with less effort they may have more leaves.
    instead = "Export C or ONNX" + (
        ", or fit fewer or smaller trees (n_estimators, max_leaf_nodes)."
        if formula.is_one_sum
        else ", or fit a booster with fewer trees, such as CSRA, and export that."
    )
    forests = [own.forest for own in formula.sums]
    largest = max((forest.n_leaves(tree) for forest in forests for tree in range(len(forest))), default=0)
    if largest > MOST_LEAVES:
        raise InputError(f"A tree has {largest} leaves, but a tree of a query can have at most {MOST_LEAVES}.", instead)
    formula.check_listed(MOST_LISTED // formula.n_outputs, "a query can have")
    n_cases = formula.n_outputs * sum(len(forest.values) for forest in forests)
    if n_cases > MOST_CASES:
        per_class = f" for each of {formula.n_outputs} classes" if formula.n_outputs > 1 else ""
        raise InputError(
            f"The trees have {n_cases // formula.n_outputs} leaves{per_class}. That is too much for a query, which can "
            f"have at most {MOST_CASES} in all, because a database plans every one.",
            instead,
        )


# ----------------------------------------------------------------------------------------------------- F


def _add_cells(query: Query, formula: Formula) -> None:
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
    if formula.components is not None:
        _add_components(query, formula.components, len(formula.columns))


def _add_components(query: Query, own: Components, first: int) -> None:
    """Add the numbers that components are sums of, limited and centred, and then the components."""
    query.next_step()
    for j, centre, low, high in zip(own.features.tolist(), own.centre, own.low, own.high):
        x = query.get(f"x{j}")
        ends = f"WHEN {x} < {double(low)} THEN {double(low)} WHEN {x} > {double(high)} THEN {double(high)}"
        inner = f"CASE {ends} ELSE {x} END"
        query.add(f"z{j}", f"CASE WHEN {x} IS NULL THEN 0.0E0 ELSE {inner} - {number(centre)} END")
    query.next_step()
    for k, loadings in enumerate(own.loadings.tolist(), first):
        terms = [f"{number(factor)} * {query.get(f'z{j}')}" for factor, j in zip(loadings, own.features.tolist())]
        query.add(f"x{k}", "\n  + ".join([double(0.0), *terms]))


def _add_f(query: Query, formula: Formula) -> None:
    """Add F: a sum, or weighted scores."""
    K = formula.n_outputs
    names = ["F"] if K == 1 else [f"F_{k}" for k in range(K)]
    if formula.is_one_sum:
        _add_sum(query, formula, formula.sums[0], names)
        return
    scores = [[f"S{s}_{k}" for k in range(K)] for s in range(len(formula.sums))]
    for own, some in zip(formula.sums, scores):
        _add_sum(query, formula, own, some)
    query.next_step()
    for k, F in enumerate(names):
        terms = [double(formula.offset[k])]
        for own, some in zip(formula.sums, scores):
            v = query.get(some[k])
            terms.append(f"{number(own.weight)} * {v if own.floor is None else _log_odds(v, own.floor, k)}")
        query.add(F, "\n  + ".join(terms))


def _log_odds(v: str, floor: Values, k: int) -> str:
    """The log-odds of a share, or its logarithm if there are several."""
    low = number(floor[k])
    log = f"LN(CASE WHEN {v} < {low} THEN {low} ELSE {v} END)"
    rest = f"1.0E0 - {v}"
    return log if len(floor) > 1 else f"({log} - LN(CASE WHEN {rest} < {low} THEN {low} ELSE {rest} END))"


def _add_sum(query: Query, formula: Formula, own: Sum, names: Sequence[str]) -> None:
    """Add a sum, one name per output, in steps of limited size."""
    terms: list[Callable[[int], str]] = [partial(_table, query, formula, part) for part in own.tables]
    terms += [partial(_tree, query, own.forest, tree) for tree in range(len(own.forest))]
    if own.lines:
        terms.append(partial(_lines, query, own.lines))
    n_steps = max(1, math.ceil(len(terms) / MAX_SUM))
    for step in range(n_steps):
        query.next_step()
        some = terms[step * MAX_SUM : (step + 1) * MAX_SUM]
        for k, F in enumerate(names):
            first = query.get(f"{F}_part_{step - 1}") if step else double(own.constant[k])
            total = "\n  + ".join([first, *(term(k) for term in some)])
            query.add(F if step == n_steps - 1 else f"{F}_part_{step}", total)


def _table(query: Query, formula: Formula, part: Steps | LookUp, k: int) -> str:
    missing = part.missing[k]
    if isinstance(part, LookUp):
        of_value: dict[float, list[str]] = {}
        for category, values in zip(formula.columns[part.feature].categories or (), part.values):
            if values[k] != missing:
                of_value.setdefault(values[k], []).append(category)
        if not of_value:
            return double(missing)
        x = query.get(f"x{part.feature}")
        return first_case([(f"{x} IN ({_listed(cs)})", number(v)) for v, cs in of_value.items()], double(missing))
    if not part.cuts and part.values[0][k] == missing:
        return double(missing)
    x = query.get(f"x{part.feature}")
    steps = [(f"{x} <= {number(cut)}", number(v[k])) for cut, v in zip(part.cuts, part.values)]
    return first_case([(f"{x} IS NULL", number(missing)), *steps], double(part.values[-1][k]))


def _listed(categories: Sequence[str]) -> str:
    if any("\n" in c for c in categories):  # a line break within a category must stay where it is
        return ", ".join(map(literal, categories))
    return filled(map(literal, categories), indent="      ").strip().rstrip(",")


def _lines(query: Query, lines: Sequence[LineTerm], k: int) -> str:
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


def _tree(query: Query, forest: Forest, tree: int, k: int) -> str:
    def written(cases: Cases, indent: str) -> str:
        whens = [(test, written(then, f"{indent}  ")) for test, then in cases.tests]
        return first_case(whens, double(cases.other[k]), indent) if whens else number(cases.other[k])

    return written(forest.cases(tree, partial(_tests, query)), "    ")


def _tests(query: Query, node: Node) -> Tests:
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
