"""A formula as Python source, which imports only `math`."""

from __future__ import annotations

import math
from collections.abc import Iterable

from skewboost.boosting.link import ManyClasses
from skewboost.io.export.formula import Cases, Formula, LookUp, Node, Odds, Steps, Tests, Tree, Values, filled, number

FEW = 4  # up to this number of cuts, a step function is a chain of ifs

BELOW = '''
def _below(cuts, x):
    """The number of cuts strictly below x."""
    low, high = 0, len(cuts)
    while low < high:
        middle = (low + high) // 2
        if cuts[middle] < x:
            low = middle + 1
        else:
            high = middle
    return low
'''

NUMBER = '''
def _number(cell):
    """A cell of a numeric column; None is missing."""
    return math.nan if cell is None else float(cell)
'''

CATEGORY = '''
def _category(cell):
    """The name of a category; None if it is missing."""
    if cell is None or cell != cell:
        return None
    if isinstance(cell, str):
        return str.__str__(cell)
    if isinstance(cell, bool) or type(cell).__name__ in ("bool_", "bool"):
        return str(bool(cell))
    if isinstance(cell, int) or hasattr(cell, "__index__"):
        return str(int(cell))
    if hasattr(cell, "__float__"):
        cell = float(cell)
        return f"{cell:.0f}" if cell.is_integer() else repr(cell)
    return str(cell)
'''

LOGISTIC = """
def _logistic(t):
    return 1.0 / (1.0 + math.exp(-t)) if t > -709.0 else 0.0
"""


HELPERS = {"_number": NUMBER, "_category": CATEGORY, "_below": BELOW, "_logistic": LOGISTIC}


def write_python(formula: Formula, name: str) -> str:
    """Return the program."""
    meaning = _many(formula.link, name) if isinstance(formula.link, ManyClasses) else _two(formula.link, name)
    parts = [_table(part, formula) for part in formula.tables]
    parts += [_tree(k, tree) for k, tree in enumerate(formula.trees)]
    parts += [_score(formula, name), meaning]
    cells = _read(formula)
    helpers = [text for name, text in HELPERS.items() if any(f"{name}(" in part for part in (cells, *parts))]
    return _head(formula, name) + "\n\n".join(part.strip("\n") + "\n" for part in [cells, *helpers, *parts])


def _head(formula: Formula, name: str) -> str:
    usage = [
        "",
        "A row is a mapping from feature names to cells, or a sequence of cells in the order of FEATURES. None and NaN",
        f"are missing cells. {name}(row) returns the label, {name}_score(row) the decision function, and",
        f"{name}_probability(row) the probabilities in the order of CLASSES.",
    ]
    comment = "\n".join(f"# {line}".rstrip() for line in [*formula.header(), *usage])
    classes, names = filled(map(repr, formula.classes)), filled(repr(c.name) for c in formula.columns)
    return f"{comment}\n\nimport math\n\nCLASSES = (\n{classes}\n)\nFEATURES = (\n{names}\n)\n\n\n"


def _read(formula: Formula) -> str:
    kinds = [(j, "_number" if formula.columns[j].categories is None else "_category") for j in formula.used]
    cells = "\n".join(f"    v[{j}] = {kind}(row[{j}])" for j, kind in kinds)
    return (
        "def _cells(row):\n"
        '    """The cells that the model uses, by position."""\n'
        '    if hasattr(row, "keys"):\n'
        "        row = [row[name] for name in FEATURES]\n"
        "    elif len(row) != len(FEATURES):\n"
        '        raise ValueError(f"a row must have {len(FEATURES)} cells; got {len(row)}")\n'
        f"    v = [None] * len(FEATURES)\n{cells}\n    return v\n"
    )


def _value(values: Values) -> str:
    return number(values[0]) if len(values) == 1 else f"({', '.join(map(number, values))})"


def _list(values: tuple[Values, ...]) -> str:
    return f"(\n{filled(map(_value, values))}\n)"


def _table(part: Steps | LookUp, formula: Formula) -> str:
    """A function of one feature."""
    j, column = part.feature, formula.columns[part.feature]
    head = f"def _f{j}(x):\n    # {column.name!r}\n"
    if isinstance(part, LookUp):
        assert column.categories is not None
        items = (f"{c!r}: {_value(v)}" for c, v in zip(column.categories, part.values) if v != part.missing)
        return (
            f"_VALUES_{j} = {{\n{filled(items)}\n}}\n\n\n{head}    return _VALUES_{j}.get(x, {_value(part.missing)})\n"
        )
    head += f"    if x != x:\n        return {_value(part.missing)}\n"
    if len(part.cuts) <= FEW:
        tests = [
            f"    if x <= {number(cut)}:\n        return {_value(value)}\n"
            for cut, value in zip(part.cuts, part.values)
        ]
        return f"{head}{''.join(tests)}    return {_value(part.values[-1])}\n"
    cuts = f"(\n{filled(map(number, part.cuts))}\n)"
    lists = f"_CUTS_{j} = {cuts}\n_VALUES_{j} = {_list(part.values)}\n\n\n"
    return f"{lists}{head}    return _VALUES_{j}[_below(_CUTS_{j}, x)]\n"


def _tree(k: int, tree: Tree) -> str:
    return f"def _tree_{k}(v):\n{_branches(tree.cases(_tests), '    ')}"


def _branches(cases: Cases, indent: str) -> str:
    """Nested ifs."""
    ifs = [f"{indent}if {test}:\n{_branches(then, indent + '    ')}" for test, then in cases.tests]
    return f"{''.join(ifs)}{indent}return {_value(cases.other)}\n"


def _tests(node: Node) -> Tests:
    x = f"v[{node.feature}]"
    if node.sides is None and math.isinf(node.cut):
        return Tests((f"{x} == {x}", ""), ("True", f"{x} != {x}"), f"{x} != {x}")
    if node.sides is None:
        below, above = f"{x} <= {number(node.cut)}", f"{x} > {number(node.cut)}"
        return Tests((below, above), (f"not {above}", f"not {below}"), f"{x} != {x}")
    yes, no, both = map(_set, (*node.sides, frozenset.union(*node.sides)))
    return Tests((f"{x} in {yes}", f"{x} in {no}"), (f"{x} not in {no}", f"{x} not in {yes}"), f"{x} not in {both}")


def _set(categories: Iterable[str]) -> str:
    items = ", ".join(map(repr, sorted(categories)))
    return f"{{{items}}}" if items else "()"


def _score(formula: Formula, name: str) -> str:
    calls = [f"_f{part.feature}(v[{part.feature}])" for part in formula.tables]
    one = formula.n_outputs == 1
    lines = [
        f"def _{name}_f(row):",
        '    """F: the sum of all parts."""',
        "    v = _cells(row)",
        f"    F = {_value(formula.constant)}",
    ]
    lines += [f"    F += {call}" if one else f"    F = _plus(F, {call})" for call in calls]
    if formula.trees:
        lines += ["    for tree in _TREES:", "        F += tree(v)" if one else "        F = _plus(F, tree(v))"]
    if formula.lines:
        lines += ["    rest = 0.0"]
        for line in formula.lines:
            x = f"v[{line.feature}]"
            inner = f"min(max({x}, {number(-line.reach)}), {number(line.reach)})"
            t = f"({inner} / {number(line.scale)} - {number(line.centre)})"
            lines.append(f"    rest += {number(line.rise)} * {t} + {number(line.height)} if {x} == {x} else 0.0")
        lines += ["    F += rest"]
    if not one:
        lines += ["    return tuple(round(f * 1e10) / 1e10 for f in F)"]
    else:
        lines += ["    return F"]
    trees = f"_TREES = (\n{filled(f'_tree_{k}' for k in range(len(formula.trees)))}\n)\n\n\n" if formula.trees else ""
    plus = "" if one else "def _plus(F, values):\n    return tuple(f + g for f, g in zip(F, values))\n\n\n"
    return trees + plus + "\n".join(lines) + "\n"


def _two(link: Odds, name: str) -> str:
    log_odds, pieces = _log_odds(link, name)
    above = "D" if link.threshold is None else f"(D - {number(link.threshold)})"
    shifted = f"F + {number(link.decision_shift)}" if link.decision_shift else "F"
    decision = f"0.5 * _{name}_log_odds(F)" if link.calibrated else shifted
    score = f"    F = _{name}_f(row)\n    D = {decision}\n"
    sign = "" if link.positive == 1 else "-"
    yes, no = (1, 0) if link.positive == 1 else (0, 1)
    at_least = number(link.threshold or 0.0)
    plain = f"_{name}_log_odds(_{name}_f(row))" + (f" - {number(link.cost_offset)}" if link.cost_offset else "")
    signs = ("-t", "t") if link.positive == 1 else ("t", "-t")
    return (
        f"{pieces}{log_odds}\n\n"
        f"def {name}_score(row):\n"
        f'    """The decision function: positive values favour CLASSES[1]."""\n'
        f"{score}    return {sign}{above}\n\n\n"
        f"def {name}_probability(row):\n"
        f'    """Probabilities in the order of CLASSES."""\n'
        f"    t = {plain}\n    return _logistic({signs[0]}), _logistic({signs[1]})\n\n\n"
        f"def {name}(row):\n"
        f'    """The label."""\n'
        f"{score}    return CLASSES[{yes} if D >= {at_least} else {no}]\n"
    )


def _log_odds(link: Odds, name: str) -> tuple[str, str]:
    """A function from F to log-odds, and the list that it uses."""
    head = f'def _{name}_log_odds(F):\n    """Log-odds of CLASSES[{link.positive}], including the costs."""\n'
    shifts = "".join(f"    t += {number(shift)}\n" for shift in link.shifts)
    if not link.pieces:
        return f"{head}    t = {number(link.scale)} * F\n{shifts}    return t\n", ""
    items = [
        f"({number(p.start) if k else number(0.0)}, {number(p.p)}, {number(p.slope)}, {number(p.log_odds)})"
        for k, p in enumerate(link.pieces)
    ]
    pieces = (
        "# Probability by F: start, probability there, slope, log-odds if the slope is zero.\n"
        f"_PIECES = (\n{filled(items)}\n)\n\n\n"
    )
    low, high = number(link.margin), number(1.0 - link.margin)
    body = (
        "    k = len(_PIECES) - 1\n"
        "    while k > 0 and F < _PIECES[k][0]:\n        k -= 1\n"
        "    start, p, slope, t = _PIECES[k]\n"
        "    if slope != 0.0:\n"
        f"        p = min(max(slope * (F - start) + p, {low}), {high})\n"
        "        t = math.log(p / (1.0 - p))\n"
    )
    return f"{head}{body}{shifts}    return t\n", pieces


def _many(link: ManyClasses, name: str) -> str:
    if link.softmax:
        shares = "    top = max(F)\n    p = [math.exp(2.0 * (f - top)) for f in F]\n"
    else:
        costs = ", ".join(map(number, link.costs))
        shares = (
            f"    costs = ({costs},)\n"
            "    p = [\n"
            "        _logistic(2.0 * f) * (1.0 + 1e-9 * f / (1.0 + abs(f))) / cost for f, cost in zip(F, costs)\n"
            "    ]\n"
        )
    return (
        f'def {name}_score(row):\n    """F of each class, rounded to ten decimals."""\n    return _{name}_f(row)\n\n\n'
        f"def {name}_probability(row):\n"
        '    """Probabilities in the order of CLASSES."""\n'
        f"    F = _{name}_f(row)\n{shares}"
        "    total = sum(p)\n"
        "    return tuple(q / total if total > 0.0 else 1.0 / len(p) for q in p)\n\n\n"
        f"def {name}(row):\n"
        '    """The label: the class of the largest score, the first one if several tie."""\n'
        f"    F = _{name}_f(row)\n    return CLASSES[F.index(max(F))]\n"
    )
