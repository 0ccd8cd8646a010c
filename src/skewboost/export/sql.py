"""A formula as a query."""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Sequence
from functools import cache
from typing import Any

from skewboost.export.formula import Formula, LookUp, ManyClasses, Node, Steps, Tree, TwoClasses
from skewboost.export.layout import filled

# Terms that one sub-query adds up: parsers bound how deep an expression may be.
MAX_SUM = 200


def write_sql(formula: Formula, name: str, table: str, keep: Sequence[str] | None) -> str:
    """The query: sub-queries for F, for what it means, and a SELECT of what is wanted."""
    columns = {column.name for column in formula.columns} | set(keep or ())
    clash = sorted(c for c in columns if c.lower() == name.lower() or c.lower().startswith(f"{name}_".lower()))
    if clash:
        raise ValueError(f"Column {clash[0]!r} and the columns that the query adds have the same name; set name to another.")
    query, outputs = _sums(formula, name, quoted(table))
    stages = _many(formula.link, name) if isinstance(formula.link, ManyClasses) else _two(formula.link, name)
    for stage in stages[:-1]:
        query = _select("*", stage, query)
    labels = [f"{_label(formula, name, outputs)} AS {quoted(name)}"]
    if keep is not None and formula.n_outputs > 1:
        labels += [quoted(f"{name}_score_{k}") for k in range(formula.n_outputs)]
    kept = "*" if keep is None else ", ".join(quoted(c) for c in keep)
    says = [
        "",
        f"{name}_score: the decision function{' of each class' if formula.n_outputs > 1 else ''}",
        f"{name}_probability_k: probability of the k-th class, counted from 0",
        f"{name}: the label",
        "Missing is NULL, and NaN where a database knows it must be turned into NULL; categories are text.",
    ]
    comment = "\n".join(f"-- {line}".rstrip() for line in [*formula.header(), *says])
    return f"{comment}\n{_select(kept, [*stages[-1], *labels], query)}\n"


def quoted(name: str) -> str:
    """A name of a table or column, whatever is in it."""
    if not isinstance(name, str) or not name or "\0" in name:
        raise ValueError(f"{name!r} is no name of a table or column. Pass text that is not empty, without null characters.")
    return '"' + name.replace('"', '""') + '"'


def literal(value: Any) -> str:
    """A label or category."""
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return number(value)
    if "\0" in value:
        raise ValueError(f"{value!r} holds a null character, which SQL has no literal for. Rename it.")
    return "'" + value.replace("'", "''") + "'"


def number(value: float) -> str:
    """A double, which the exponent makes it. In brackets where negative, for two minus signs begin a comment."""
    digits = repr(float(value))
    digits = digits if "e" in digits else f"{digits}E0"
    if not _reads(digits, value):
        digits = _fraction(value)
    return f"({digits})" if digits.startswith("-") else digits


@cache
def _sqlite() -> sqlite3.Connection:
    return sqlite3.connect(":memory:", check_same_thread=False)


def _reads(digits: str, value: float) -> bool:
    """Whether SQLite, which rounds decimals with less care than others, reads this number."""
    return len(digits) < 17 or bool(_sqlite().execute(f"SELECT {digits}").fetchone()[0] == value)


def _fraction(value: float) -> str:
    """A double as whole numbers and powers of two, which everybody reads alike."""
    mantissa, exponent = math.frexp(value)
    text, exponent = f"{int(mantissa * 2**53)} * 1.0E0", exponent - 53
    while exponent:
        step = max(-62, min(62, exponent))
        text += f" {'*' if step > 0 else '/'} {2.0 ** abs(step):.0f}"
        exponent -= step
    return f"({text})"


def _select(kept: str, columns: Sequence[str], source: str) -> str:
    listed = ",\n".join(([kept] if kept else []) + list(columns))
    return f"SELECT\n{_indented(listed)}\nFROM {source if source.startswith(chr(34)) else _nested(source)}"


def _nested(query: str) -> str:
    return f"(\n{query}\n) AS t"  # text of several lines is not indented: a category may hold a line break


def _indented(lines: str) -> str:
    return "  " + lines


# ----------------------------------------------------------------------------------------------------- F


def _sums(formula: Formula, name: str, source: str) -> tuple[str, list[str]]:
    """Sub-queries that add up F, and the columns that hold it."""
    K = formula.n_outputs
    terms = [[_table(part, formula, k) for part in formula.tables] for k in range(K)]
    for k in range(K):
        terms[k] += [_tree(tree, formula, k) for tree in formula.trees]
        if formula.lines:
            terms[k].append("(" + " + ".join(["0.0E0", *(_line(line, formula) for line in formula.lines)]) + ")")
    base = [f"{name}_F" if K == 1 else f"{name}_F_{k}" for k in range(K)]
    sums = [number(c) for c in formula.constant]
    n_stages = max(1, math.ceil(len(terms[0]) / MAX_SUM))
    query = source
    for stage in range(n_stages):
        last = stage == n_stages - 1
        names = base if last else [f"{b}_part_{stage}" for b in base]
        columns = []
        for k in range(K):
            some = terms[k][stage * MAX_SUM : (stage + 1) * MAX_SUM]
            total = "\n  + ".join([sums[k], *some])
            columns.append(f"{total} AS {quoted(names[k])}")
        query = _select("*", columns, query)
        sums = [quoted(n) for n in names]
    return query, base


def _table(part: Steps | LookUp, formula: Formula, k: int) -> str:
    column = quoted(formula.columns[part.feature].name)
    missing = number(part.missing[k])
    if isinstance(part, LookUp):
        of_value: dict[float, list[str]] = {}
        for category, values in zip(formula.columns[part.feature].categories or (), part.values):
            if values[k] != part.missing[k]:
                of_value.setdefault(values[k], []).append(category)
        if not of_value:
            return missing
        whens = "".join(f"    WHEN {column} IN ({_listed(cs)}) THEN {number(v)}\n" for v, cs in of_value.items())
        return f"CASE\n{whens}    ELSE {missing} END"
    whens = "".join(f"    WHEN {column} <= {number(cut)} THEN {number(v[k])}\n" for cut, v in zip(part.cuts, part.values))
    if not part.cuts and part.values[0][k] == part.missing[k]:
        return missing
    return f"CASE\n    WHEN {column} IS NULL THEN {missing}\n{whens}    ELSE {number(part.values[-1][k])} END"


def _listed(categories: Sequence[str]) -> str:
    if any("\n" in c for c in categories):  # a line break that is part of a category must stay where it is
        return ", ".join(map(literal, categories))
    return filled(map(literal, categories), indent="      ").strip().rstrip(",")


def _line(line: Any, formula: Formula) -> str:
    x = quoted(formula.columns[line.feature].name)
    return f"CASE WHEN {x} IS NULL THEN 0.0E0 ELSE {number(line.slope)} * {x} + {number(line.intercept)} END"


def _tree(tree: Tree, formula: Formula, k: int) -> str:
    """A tree as a list of rules, one per way to a leaf; nesting would be too deep for parsers."""
    rules: list[tuple[tuple[str, ...], float]] = []
    stack: list[tuple[int, tuple[str, ...]]] = [(0, ())]
    while stack:
        link, conditions = stack.pop()
        if link < 0:
            rules.append((conditions, tree.values[~link][k]))
            continue
        stack += [(to, (*conditions, *test)) for to, test in reversed(_ways(tree.nodes[link], formula))]
    counts: dict[float, int] = {}
    for _, value in rules:
        counts[value] = counts.get(value, 0) + 1
    other = max(counts, key=lambda v: counts[v])
    whens = "".join(f"    WHEN {' AND '.join(c)} THEN {number(v)}\n" for c, v in rules if v != other)
    return f"CASE\n{whens}    ELSE {number(other)} END" if whens else number(other)


def _ways(node: Node, formula: Formula) -> list[tuple[int, tuple[str, ...]]]:
    """Where a node leads, and what it takes to go there. No two conditions hold together."""
    yes, no, missing = node.links
    if yes == no == missing:
        return [(yes, ())]
    x = quoted(formula.columns[node.feature].name)
    absent = f"{x} IS NULL"
    if node.left is None:
        tests = {"yes": f"{x} <= {number(node.cut)}", "no": f"{x} > {number(node.cut)}"}
        if math.isinf(node.cut):
            tests = {"yes": f"{x} IS NOT NULL", "no": ""}
        unknown = dict.fromkeys(tests, absent)
        alone = absent
    else:
        known = formula.columns[node.feature].categories or ()
        sides = {"yes": [c for k, c in enumerate(known) if k in node.left]}
        sides["no"] = [c for k, c in enumerate(known) if k not in node.left]
        tests = {side: f"{x} IN ({_listed(cs)})" if cs else "" for side, cs in sides.items()}
        other = {"yes": sides["no"], "no": sides["yes"]}
        tests_other = {side: f"{x} NOT IN ({_listed(cs)})" if cs else "1 = 1" for side, cs in other.items()}
        unknown = {side: f"{absent} OR {tests_other[side]}" for side in tests}
        alone = f"({absent} OR {x} NOT IN ({_listed(known)}))" if known else "1 = 1"
    found = []
    for side, link in (("yes", yes), ("no", no)):
        if missing == link and yes != no:
            joined = unknown[side] if node.left is not None else f"{tests[side]} OR {absent}" if tests[side] else absent
            found.append((link, (f"({joined})",)))
        elif tests[side]:
            found.append((link, (tests[side],)))
    if missing not in (yes, no):
        found.append((missing, (alone,)))
    return found


# ----------------------------------------------------------------------------------------- what F means


def _two(link: TwoClasses, name: str) -> list[list[str]]:
    """Columns to add, stage by stage; those of the last are wanted, all but the label."""
    F, t = quoted(f"{name}_F"), quoted(f"{name}_log_odds")
    stages, odds = [], f"{number(link.scale)} * {F}"
    if link.pieces:
        stages.append([f"{_height(link, F)} AS {quoted(f'{name}_height')}"])
        odds = _pieces(link, F, quoted(f"{name}_height"))
    stages.append([" + ".join([odds, *map(number, link.shifts)]) + f" AS {t}"])
    D = f"0.5E0 * {t}" if link.halved else F
    stages.append([f"{D} AS {quoted(f'{name}_decision')}"])
    D = quoted(f"{name}_decision")
    above = D if link.threshold is None else f"({D} - {number(link.threshold)})"
    tilted = f"{t} - {number(link.tilt)}" if link.tilt else t
    p = f"CASE WHEN {tilted} < -700 THEN 0.0E0 ELSE 1.0E0 / (1.0E0 + EXP(-({tilted}))) END"
    both = [f"1.0E0 - {p}", p] if link.positive == 1 else [p, f"1.0E0 - {p}"]
    stages.append(
        [
            f"{'-' if link.positive == 0 else ''}{above} AS {quoted(f'{name}_score')}",
            *(f"{q} AS {quoted(f'{name}_probability_{k}')}" for k, q in enumerate(both)),
        ]
    )
    return stages


def _height(link: TwoClasses, F: str) -> str:
    """The probability, where it is not level; between its margins."""
    whens = []
    for piece, following in zip(link.pieces, [*(p.start for p in link.pieces[1:]), math.inf]):
        p = number(piece.p)
        if piece.slope != 0.0:
            p = f"{number(piece.slope)} * ({F} - {number(piece.start)}) + {number(piece.p)}"
        whens.append(f"    WHEN {F} < {number(following)} THEN {p}\n" if math.isfinite(following) else f"    ELSE {p} END")
    return "CASE\n" + "".join(whens)


def _pieces(link: TwoClasses, F: str, height: str) -> str:
    low, high = number(link.margin), number(1.0 - link.margin)
    sloped = f"CASE WHEN {height} < {low} THEN LN({low} / (1.0E0 - {low})) "
    sloped += f"WHEN {height} > {high} THEN LN({high} / (1.0E0 - {high})) ELSE LN({height} / (1.0E0 - {height})) END"
    whens = []
    for piece, following in zip(link.pieces, [*(p.start for p in link.pieces[1:]), math.inf]):
        t = sloped if piece.slope != 0.0 else number(piece.log_odds)
        whens.append(f"    WHEN {F} < {number(following)} THEN {t}\n" if math.isfinite(following) else f"    ELSE {t} END")
    return "CASE\n" + "".join(whens)


def _many(link: ManyClasses, name: str) -> list[list[str]]:
    K = len(link.costs)
    scores = [quoted(f"{name}_score_{k}") for k in range(K)]
    rounded = [f"ROUND({quoted(f'{name}_F_{k}')} * 1.0E10) / 1.0E10 AS {scores[k]}" for k in range(K)]
    shares = [quoted(f"{name}_share_{k}") for k in range(K)]
    stages = [rounded]
    if link.softmax:
        top = quoted(f"{name}_top")
        whens = " ".join(f"WHEN {' AND '.join(f'{s} >= {o}' for o in scores)} THEN {s}" for s in scores[:-1])
        stages.append([f"CASE {whens} ELSE {scores[-1]} END AS {top}"])
        formulas = [f"CASE WHEN {s} - {top} < -350 THEN 0.0E0 ELSE EXP(2.0E0 * ({s} - {top})) END" for s in scores]
    else:
        raw = [quoted(f"{name}_raw_{k}") for k in range(K)]
        stages.append(
            [
                f"CASE WHEN {s} < -350 THEN 0.0E0 ELSE 1.0E0 / (1.0E0 + EXP(-2.0E0 * {s})) END"
                f" + 1.0E-9 * {s} / (1.0E0 + ABS({s})) AS {r}"
                for s, r in zip(scores, raw)
            ]
        )
        formulas = [f"CASE WHEN {r} > 0 THEN {r} / {number(c)} ELSE 0.0E0 END" for r, c in zip(raw, link.costs)]
    stages.append([f"{f} AS {s}" for f, s in zip(formulas, shares)])
    total = quoted(f"{name}_total")
    stages.append([f"{' + '.join(shares)} AS {total}"])
    uniform = number(1.0 / K)
    stages.append(
        [
            f"CASE WHEN {total} > 0 THEN {s} / {total} ELSE {uniform} END AS {quoted(f'{name}_probability_{k}')}"
            for k, s in enumerate(shares)
        ]
    )
    return stages


def _label(formula: Formula, name: str, outputs: list[str]) -> str:
    labels = [literal(c) for c in formula.classes]
    link = formula.link
    if isinstance(link, TwoClasses):
        at_least = f"{quoted(f'{name}_decision')} >= {number(link.threshold or 0.0)}"
        return f"CASE WHEN {at_least} THEN {labels[link.positive]} ELSE {labels[1 - link.positive]} END"
    scores = [quoted(f"{name}_score_{k}") for k in range(len(outputs))]
    whens = " ".join(
        f"WHEN {' AND '.join(f'{s} >= {o}' for o in scores if o != s)} THEN {label}" for s, label in zip(scores, labels)
    )
    return f"CASE {whens} END"
