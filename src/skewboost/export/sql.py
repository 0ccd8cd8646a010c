"""A formula as a query."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Sequence
from typing import Any

from skewboost.export.formula import Formula, LookUp, ManyClasses, Node, Steps, Tree, TwoClasses
from skewboost.export.layout import filled
from skewboost.export.sql_text import cell, literal, number, quoted

# Terms that one step adds up: parsers bound how deep an expression may be.
MAX_SUM = 200
# Cases within cases: SQLite's parser has a stack of a hundred symbols, and each takes some five of them.
MAX_NESTED = 8


def write_sql(formula: Formula, name: str, table: str, keep: Sequence[str] | None) -> str:
    """The query: steps that add up F, steps for what it means, and a SELECT of what is wanted."""
    columns = {column.name for column in formula.columns} | set(keep or ())
    clash = sorted(c for c in columns if c.lower() == name.lower() or c.lower().startswith(f"{name}_".lower()))
    if clash:
        raise ValueError(
            f"Column {clash[0]!r} and the columns that the query adds have the same name; set name to another."
        )
    link = formula.link
    *stages, last = _sums(formula, name) + (_many(link, name) if isinstance(link, ManyClasses) else _two(link, name))
    labels = [f"{_label(formula, name)} AS {quoted(name)}"]
    if keep is not None and formula.n_outputs > 1:
        labels += [cell(f"{name}_score_{k}") for k in range(formula.n_outputs)]
    kept = ["t.*"] if keep is None else [cell(c) for c in keep]
    says = [
        "",
        f"{name}_score: the decision function{' of each class' if formula.n_outputs > 1 else ''}",
        f"{name}_probability_k: probability of the k-th class, counted from 0",
        f"{name}: the label",
        "Missing is NULL, and NaN where a database knows it must be turned into NULL; categories are text.",
    ]
    comment = "\n".join(f"-- {line}".rstrip() for line in [*formula.header(), *says])
    steps, source = [], quoted(table)
    for k, stage in enumerate(stages, 1):
        steps.append(f"{quoted(f'{name}_step_{k}')} AS (\n{_select(['t.*'], stage, source)}\n)")
        source = quoted(f"{name}_step_{k}")
    return f"{comment}\nWITH {', '.join(steps)}\n{_select(kept, [*last, *labels], source)};\n"


def _select(kept: Sequence[str], columns: Sequence[str], source: str) -> str:
    listed = ",\n  ".join((*kept, *columns))  # a category may hold a line break, so steps are not indented
    return f"SELECT\n  {listed}\nFROM {source} AS t"


# ----------------------------------------------------------------------------------------------------- F


def _sums(formula: Formula, name: str) -> list[list[str]]:
    """Columns that add up F, stage by stage."""
    K = formula.n_outputs
    terms = [[_table(part, formula, k) for part in formula.tables] for k in range(K)]
    for k in range(K):
        terms[k] += [_tree(tree, formula, k) for tree in formula.trees]
        if formula.lines:
            terms[k].append("(" + " + ".join(["0.0E0", *(_line(line, formula) for line in formula.lines)]) + ")")
    base = [f"{name}_F" if K == 1 else f"{name}_F_{k}" for k in range(K)]
    sums = [number(c) for c in formula.constant]
    n_stages = max(1, math.ceil(len(terms[0]) / MAX_SUM))
    stages = []
    for stage in range(n_stages):
        last = stage == n_stages - 1
        names = base if last else [f"{b}_part_{stage}" for b in base]
        columns = []
        for k in range(K):
            some = terms[k][stage * MAX_SUM : (stage + 1) * MAX_SUM]
            total = "\n  + ".join([sums[k], *some])
            columns.append(f"{total} AS {quoted(names[k])}")
        stages.append(columns)
        sums = [cell(n) for n in names]
    return stages


def _table(part: Steps | LookUp, formula: Formula, k: int) -> str:
    column = cell(formula.columns[part.feature].name)
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
    whens = "".join(
        f"    WHEN {column} <= {number(cut)} THEN {number(v[k])}\n" for cut, v in zip(part.cuts, part.values)
    )
    if not part.cuts and part.values[0][k] == part.missing[k]:
        return missing
    return f"CASE\n    WHEN {column} IS NULL THEN {missing}\n{whens}    ELSE {number(part.values[-1][k])} END"


def _listed(categories: Sequence[str]) -> str:
    if any("\n" in c for c in categories):  # a line break that is part of a category must stay where it is
        return ", ".join(map(literal, categories))
    return filled(map(literal, categories), indent="      ").strip().rstrip(",")


def _line(line: Any, formula: Formula) -> str:
    x = cell(formula.columns[line.feature].name)
    height = f"{number(line.rise)} * ({x} / {number(line.scale)} - {number(line.centre)}) + {number(line.height)}"
    return f"CASE WHEN {x} IS NULL THEN 0.0E0 ELSE {height} END"


def _tree(tree: Tree, formula: Formula, k: int) -> str:
    """A tree as nested cases; what is below these as lists of rules, for parsers bear no depth."""

    def cases(link: int, depth: int) -> str:
        if link < 0:
            return number(tree.values[~link][k])
        if depth > MAX_NESTED:
            return _rules(tree, link, formula, k)
        *ways, (other, _) = _ways(tree.nodes[link], formula)  # where no other way is open, the last one is
        indent = "  " * (depth + 1)
        whens = "".join(f"{indent}WHEN {' AND '.join(test)} THEN {cases(to, depth + 1)}\n" for to, test in ways)
        rest = cases(other, depth + 1)
        return f"CASE\n{whens}{indent}ELSE {rest} END" if whens else rest

    return cases(0, 1)


def _rules(tree: Tree, link: int, formula: Formula, k: int) -> str:
    """One rule per way from a node to a leaf."""
    rules: list[tuple[tuple[str, ...], float]] = []
    stack: list[tuple[int, tuple[str, ...]]] = [(link, ())]
    while stack:
        link, conditions = stack.pop()
        if link < 0:
            rules.append((conditions, tree.values[~link][k]))
            continue
        stack += [(to, (*conditions, *test)) for to, test in reversed(_ways(tree.nodes[link], formula))]
    counts = Counter(value for _, value in rules)
    other = max(counts, key=lambda v: counts[v])
    whens = "".join(f"    WHEN {' AND '.join(c)} THEN {number(v)}\n" for c, v in rules if v != other)
    return f"CASE\n{whens}    ELSE {number(other)} END" if whens else number(other)


def _ways(node: Node, formula: Formula) -> list[tuple[int, tuple[str, ...]]]:
    """Where a node leads, and what it takes to go there. No two conditions hold together."""
    yes, no, missing = node.links
    if yes == no == missing:
        return [(yes, ())]
    x = cell(formula.columns[node.feature].name)
    plain, with_missing, absent = _of_numbers(x, node.cut) if node.sides is None else _of_categories(x, *node.sides)
    if missing not in (yes, no):
        found = [(link, (test,)) for link, test in zip((yes, no), plain) if test]
        return [*found, (missing, (absent,))]
    tests = (with_missing[0], plain[1]) if missing == yes else (plain[0], with_missing[1])
    return [(link, (test,)) for link, test in zip((yes, no), tests) if test]


Tests = tuple[tuple[str, str], tuple[str, str], str]  # for yes and no; the same, missing included; for missing


def _of_numbers(x: str, cut: float) -> Tests:
    absent = f"{x} IS NULL"
    if math.isinf(cut):
        return (f"{x} IS NOT NULL", ""), ("1 = 1", absent), absent
    below, above = f"{x} <= {number(cut)}", f"{x} > {number(cut)}"
    return (below, above), (f"({below} OR {absent})", f"({above} OR {absent})"), absent


def _of_categories(x: str, yes: Collection[str], no: Collection[str]) -> Tests:
    def one_of(categories: Collection[str]) -> str:
        return f"{x} IN ({_listed(sorted(categories))})" if categories else ""

    def none_of(categories: Collection[str]) -> str:
        if not categories:
            return "1 = 1"
        return f"({x} IS NULL OR {x} NOT IN ({_listed(sorted(categories))}))"

    return (one_of(yes), one_of(no)), (none_of(no), none_of(yes)), none_of({*yes, *no})


# ----------------------------------------------------------------------------------------- what F means


def _decision(link: TwoClasses, name: str) -> str:
    return f"0.5E0 * {cell(f'{name}_log_odds')}" if link.halved else cell(f"{name}_F")


def _two(link: TwoClasses, name: str) -> list[list[str]]:
    """Columns to add, stage by stage; those of the last are wanted, all but the label."""
    F, t = cell(f"{name}_F"), cell(f"{name}_log_odds")
    stages, odds = [], f"{number(link.scale)} * {F}"
    if link.pieces:
        stages.append([f"{_height(link, F)} AS {quoted(f'{name}_height')}"])
        odds = _pieces(link, F, cell(f"{name}_height"))
    stages.append([" + ".join([odds, *map(number, link.shifts)]) + f" AS {quoted(f'{name}_log_odds')}"])
    score = _decision(link, name)
    score = score if link.threshold is None else f"({score} - {number(link.threshold)})"
    score = score if link.positive == 1 else f"-({score})"
    tilted = f"{t} - {number(link.tilt)}" if link.tilt else t
    p = f"CASE WHEN {tilted} < -700 THEN 0.0E0 ELSE 1.0E0 / (1.0E0 + EXP(-({tilted}))) END"
    both = [f"1.0E0 - {p}", p] if link.positive == 1 else [p, f"1.0E0 - {p}"]
    probabilities = [f"{q} AS {quoted(f'{name}_probability_{k}')}" for k, q in enumerate(both)]
    return [*stages, [f"{score} AS {quoted(f'{name}_score')}", *probabilities]]


def _height(link: TwoClasses, F: str) -> str:
    """The probability, where it is not level; between its margins."""
    whens = []
    for piece, following in zip(link.pieces, [*(p.start for p in link.pieces[1:]), math.inf]):
        p = number(piece.p)
        if piece.slope != 0.0:
            p = f"{number(piece.slope)} * ({F} - {number(piece.start)}) + {number(piece.p)}"
        whens.append(
            f"    WHEN {F} < {number(following)} THEN {p}\n" if math.isfinite(following) else f"    ELSE {p} END"
        )
    return "CASE\n" + "".join(whens)


def _pieces(link: TwoClasses, F: str, height: str) -> str:
    low, high = number(link.margin), number(1.0 - link.margin)
    sloped = f"CASE WHEN {height} < {low} THEN LN({low} / (1.0E0 - {low})) "
    sloped += f"WHEN {height} > {high} THEN LN({high} / (1.0E0 - {high})) ELSE LN({height} / (1.0E0 - {height})) END"
    whens = []
    for piece, following in zip(link.pieces, [*(p.start for p in link.pieces[1:]), math.inf]):
        t = sloped if piece.slope != 0.0 else number(piece.log_odds)
        whens.append(
            f"    WHEN {F} < {number(following)} THEN {t}\n" if math.isfinite(following) else f"    ELSE {t} END"
        )
    return "CASE\n" + "".join(whens)


def _many(link: ManyClasses, name: str) -> list[list[str]]:
    K = len(link.costs)
    scores, raw, shares = ([cell(f"{name}_{what}_{k}") for k in range(K)] for what in ("score", "raw", "share"))
    rounded = [f"ROUND({cell(f'{name}_F_{k}')} * 1.0E10) / 1.0E10 AS {quoted(f'{name}_score_{k}')}" for k in range(K)]
    stages = [rounded]
    if link.softmax:
        top = cell(f"{name}_top")
        whens = " ".join(f"WHEN {' AND '.join(f'{s} >= {o}' for o in scores)} THEN {s}" for s in scores[:-1])
        stages.append([f"CASE {whens} ELSE {scores[-1]} END AS {quoted(f'{name}_top')}"])
        formulas = [f"CASE WHEN {s} - {top} < -350 THEN 0.0E0 ELSE EXP(2.0E0 * ({s} - {top})) END" for s in scores]
    else:
        stages.append(
            [
                f"CASE WHEN {s} < -350 THEN 0.0E0 ELSE 1.0E0 / (1.0E0 + EXP(-2.0E0 * {s})) END"
                f" + 1.0E-9 * {s} / (1.0E0 + ABS({s})) AS {quoted(f'{name}_raw_{k}')}"
                for k, s in enumerate(scores)
            ]
        )
        formulas = [f"CASE WHEN {r} > 0 THEN {r} / {number(c)} ELSE 0.0E0 END" for r, c in zip(raw, link.costs)]
    stages.append([f"{f} AS {quoted(f'{name}_share_{k}')}" for k, f in enumerate(formulas)])
    total = cell(f"{name}_total")
    stages.append([f"{' + '.join(shares)} AS {quoted(f'{name}_total')}"])
    uniform = number(1.0 / K)
    stages.append(
        [
            f"CASE WHEN {total} > 0 THEN {s} / {total} ELSE {uniform} END AS {quoted(f'{name}_probability_{k}')}"
            for k, s in enumerate(shares)
        ]
    )
    return stages


def _label(formula: Formula, name: str) -> str:
    labels = [literal(c) for c in formula.classes]
    link = formula.link
    if isinstance(link, TwoClasses):
        at_least = f"{_decision(link, name)} >= {number(link.threshold or 0.0)}"
        return f"CASE WHEN {at_least} THEN {labels[link.positive]} ELSE {labels[1 - link.positive]} END"
    scores = [cell(f"{name}_score_{k}") for k in range(formula.n_outputs)]
    whens = " ".join(
        f"WHEN {' AND '.join(f'{s} >= {o}' for o in scores if o != s)} THEN {label}" for s, label in zip(scores, labels)
    )
    return f"CASE {whens} END"
