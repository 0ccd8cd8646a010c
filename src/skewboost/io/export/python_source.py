"""A formula as Python source, which imports only `math`."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from skewboost.boosting.link import ManyClasses
from skewboost.io.export.formula import (
    WIDTH,
    Cases,
    ExpectedCosts,
    Formula,
    LookUp,
    Node,
    Odds,
    Steps,
    Sum,
    Tests,
    Values,
    filled,
    number,
)
from skewboost.io.export.packed_forest import Coded
from skewboost.typing import Array

FEW = 4  # up to this number of cuts, a step function is a chain of ifs
# Trees with up to this many nodes in all are nested ifs, which take a third of the time of a loop over tables. Python
# compiles some ten thousand nodes per second and takes a kilobyte for each.
MOST_IFS = 10_000

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


PLUS = """
def _plus(F, values, weight=1.0):
    return tuple(f + weight * g for f, g in zip(F, values))
"""

INTS = """
def _ints(text, size):
    data = bytes.fromhex(text)
    return [int.from_bytes(data[k : k + size], "big", signed=True) for k in range(0, len(data), size)]
"""

HELPERS = {
    "_number": NUMBER,
    "_category": CATEGORY,
    "_below": BELOW,
    "_logistic": LOGISTIC,
    "_plus": PLUS,
    "_ints": INTS,
}


def write_python(formula: Formula, name: str) -> str:
    """Return the program."""
    forests = [own.forest for own in formula.sums]
    coded = None
    if sum(forest.n_nodes + forest.n_listed // 10 for forest in forests) > MOST_IFS:
        coded = Coded.of(forests, formula.tested)
    parts = [_table(part, s, formula) for s, own in enumerate(formula.sums) for part in own.tables]
    parts += [_packed(formula, coded)] if coded else [_nested(s, own) for s, own in enumerate(formula.sums)]
    meaning: Any = {Odds: _two, ManyClasses: _many, ExpectedCosts: _by_cost}[type(formula.link)]
    parts += [_f(formula, coded, name), meaning(formula.link, name)]
    cells = _read(formula)
    helpers = [text for name, text in HELPERS.items() if any(f"{name}(" in part for part in (cells, *parts))]
    written = [part.strip("\n") + "\n" for part in [cells, *helpers, *parts] if part]
    return _head(formula, name) + "\n\n".join(written)


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
    own, lists = formula.components, ""
    if own is not None:
        columns = zip(own.features.tolist(), own.centre.tolist(), own.low.tolist(), own.high.tolist())
        listed = filled(f"({j}, {', '.join(map(number, rest))})" for j, *rest in columns)
        loadings = _list([tuple(row) for row in own.loadings.tolist()])
        lists = (
            "# A component is a sum over columns, limited and centred: position, centre, lowest and highest number.\n"
            f"_CENTRED = (\n{listed}\n)\n_LOADINGS = {loadings}\n\n\n"
        )
        cells += (
            "\n    x = [min(max(v[j], low), high) - c if v[j] == v[j] else 0.0 for j, c, low, high in _CENTRED]"
            "\n    v += [_component(x, loadings) for loadings in _LOADINGS]"
        )
        lists += (
            "def _component(x, loadings):\n    total = 0.0\n    for factor, value in zip(loadings, x):\n"
            "        total += factor * value\n    return total\n\n\n"
        )
    return (
        f"{lists}def _cells(row):\n"
        '    """The cells that the model uses, by position."""\n'
        '    if hasattr(row, "keys"):\n'
        "        row = [row[name] for name in FEATURES]\n"
        "    elif len(row) != len(FEATURES):\n"
        '        raise ValueError(f"a row must have {len(FEATURES)} cells; got {len(row)}")\n'
        f"    v = [None] * len(FEATURES)\n{cells}\n    return v\n"
    )


def _value(values: Values) -> str:
    return number(values[0]) if len(values) == 1 else f"({', '.join(map(number, values))})"


def _list(values: Sequence[Values]) -> str:
    return f"(\n{filled(map(_value, values))}\n)"


def _table(part: Steps | LookUp, s: int, formula: Formula) -> str:
    """A function of one feature."""
    j, column = _tag(part, s), formula.tested[part.feature]
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


def _tag(part: Steps | LookUp, s: int) -> str:
    """What tells the function of a feature from others."""
    return f"{s}_{part.feature}" if s else f"{part.feature}"


def _nested(s: int, own: Sum) -> str:
    """Trees as nested ifs."""
    trees = [
        f"def _tree_{s}_{k}(v):\n{_branches(own.forest.cases(k, _tests), '    ')}\n\n" for k in range(len(own.forest))
    ]
    listed = filled(f"_tree_{s}_{k}" for k in range(len(trees)))
    return f"{''.join(trees)}_TREES_{s} = (\n{listed}\n)\n" if trees else ""


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


def _packed(formula: Formula, coded: Coded) -> str:
    """Trees as tables, and functions that code a row and find its leaf."""
    known = [
        f"# {formula.tested[j].name!r}\n_TESTS_{j} = (\n{filled(map(number, cuts))}\n)\n"
        for j, cuts in zip(coded.numeric, coded.cuts)
    ]
    codes = ["    c = []", *(f"    _place(c, v[{j}], _TESTS_{j})" for j in coded.numeric)]
    answer, sides = "c[_COLUMN[k]] <= _KEY[k]", ""
    if coded.nominal:
        for j in coded.nominal:
            places = filled(f"{c!r}: {k}" for k, c in enumerate(formula.columns[j].categories or ()))
            known.append(f"# {formula.columns[j].name!r}\n_PLACES_{j} = {{\n{places}\n}}\n")
            codes.append(f"    c.append(_PLACES_{j}.get(v[{j}], len(_PLACES_{j})))")
        sides = f"_SIDES = {_hex(coded.sides)}\n"
        answer = f"{answer} if _COLUMN[k] < {coded.first_nominal} else _SIDES[_KEY[k] + c[_COLUMN[k]]]"
    first = "".join(f"_ROOTS_{s} = {_hex(roots)}\n" for s, roots in enumerate(coded.roots))
    listed = "\n".join(codes)
    return (
        f"{''.join(known)}\n\n"
        "def _place(c, x, cuts):\n"
        '    """Append the code of a number in two forms: a missing cell is above all keys, or below."""\n'
        "    code = _below(cuts, x) if x == x else -1\n"
        "    c += (code if x == x else math.inf, code)\n\n\n"
        f"def _codes(v):\n{listed}\n    return c\n\n\n"
        "# A node goes on by _YES if the code in its column is at most its key, else by _NO. A link > 0 leads this\n"
        "# many nodes on; a link < 0 is a leaf.\n"
        f"_COLUMN = {_hex(coded.column)}\n_KEY = {_hex(coded.key)}\n"
        f"_YES = {_hex(coded.links[:, 0])}\n_NO = {_hex(coded.links[:, 1])}\n{sides}{first}"
        f"_LEAVES = {_list([tuple(row) for row in coded.leaves.tolist()])}\n\n\n"
        "def _leaf(c, k):\n"
        "    while k >= 0:\n"
        f"        link = _YES[k] if {f'({answer})' if sides else answer} else _NO[k]\n"
        "        k = link if link < 0 else k + link\n"
        "    return _LEAVES[~k]\n"
    )


def _hex(values: Array) -> str:
    """Integers as hexadecimal digits, which Python reads in no time."""
    size = 1
    while len(values) and not -(2 ** (8 * size - 1)) <= values.min() <= values.max() < 2 ** (8 * size - 1):
        size += 1
    digits = (values.astype(np.int64).astype(">i8").view(np.uint8).reshape(-1, 8)[:, 8 - size :]).tobytes().hex()
    lines = "\n".join(f'    "{digits[k : k + WIDTH]}"' for k in range(0, len(digits), WIDTH)) or '    ""'
    return f"_ints(\n{lines},\n    {size},\n)"


def _f(formula: Formula, coded: Coded | None, name: str) -> str:
    """F from the cells of a row."""
    lines = [
        f"def _{name}_f(row):",
        '    """F, which decisions and probabilities follow from."""',
        "    v = _cells(row)",
    ]
    lines += ["    c = _codes(v)"] if coded else []
    one, whole = formula.n_outputs == 1, formula.is_one_sum
    if not whole:
        lines.append(f"    F = {_value(formula.offset)}")
    for s, own in enumerate(formula.sums):
        lines += _added(own, s, coded, "F" if whole else "s")
        if own.floor is not None and one:
            floor = number(own.floor[0])
            lines.append(f"    s = math.log(max(s, {floor})) - math.log(max(1.0 - s, {floor}))")
        elif own.floor is not None:
            lines.append(f"    s = [math.log(max(t, floor)) for t, floor in zip(s, {_value(own.floor)})]")
        if not whole:
            weight = number(own.weight)
            lines.append(f"    F += {weight} * s" if one else f"    F = _plus(F, s, {weight})")
    rounded = isinstance(formula.link, ManyClasses)
    lines.append("    return tuple(round(f * 1e10) / 1e10 for f in F)" if rounded else "    return F")
    return "\n".join(lines) + "\n"


def _added(own: Sum, s: int, coded: Coded | None, F: str) -> list[str]:
    """Statements that compute a sum."""
    one = len(own.constant) == 1

    def plus(value: str) -> str:
        return f"    {F} += {value}" if one else f"    {F} = _plus({F}, {value})"

    lines = [f"    {F} = {_value(own.constant)}"]
    lines += [plus(f"_f{_tag(part, s)}(v[{part.feature}])") for part in own.tables]
    if len(own.forest):
        lines.append(f"    for k in _ROOTS_{s}:" if coded else f"    for tree in _TREES_{s}:")
        lines.append("    " + plus("_leaf(c, k)" if coded else "tree(v)"))
    if own.lines:
        lines += ["    rest = 0.0"]
        for line in own.lines:
            x = f"v[{line.feature}]"
            inner = f"min(max({x}, {number(-line.reach)}), {number(line.reach)})"
            t = f"({inner} / {number(line.scale)} - {number(line.centre)})"
            lines.append(f"    rest += {number(line.rise)} * {t} + {number(line.height)} if {x} == {x} else 0.0")
        lines += [f"    {F} += rest"]
    return lines


def _two(link: Odds, name: str) -> str:
    log_odds, pieces = _log_odds(link, name)
    above = "D" if link.threshold is None else f"(D - {number(link.threshold)})"
    shifted = f"F + {number(link.decision_shift)}" if link.decision_shift else "F"
    decision = f"0.5 * _{name}_log_odds(F)" if link.calibrated else shifted
    score = f"    F = _{name}_f(row)\n    D = {decision}\n"
    sign = "" if link.positive == 1 else "-"
    yes, no = (1, 0) if link.positive == 1 else (0, 1)
    at_least, refer = number(link.threshold or 0.0), ""
    if link.lower is not None:
        refer = f"    if {number(link.lower)} <= D < {at_least}:\n        return {link.reject_label!r}\n"
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
        f"{score}{refer}    return CLASSES[{yes} if D >= {at_least} else {no}]\n"
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


def _by_cost(link: ExpectedCosts, name: str) -> str:
    if link.positive is None:
        shares = (
            f"    F = _{name}_f(row)\n    top = max(F)\n    p = [math.exp(f - top) for f in F]\n"
            "    total = sum(p)\n    return tuple(q / total for q in p)\n"
        )
        score = (
            f'    """Minus the expected cost of each class."""\n'
            f"    return tuple(-cost for cost in _expected({name}_probability(row)))\n"
        )
    else:
        sign = "-" if link.positive == 0 else ""
        shares = f"    t = {sign}_{name}_f(row)\n    return _logistic(-t), _logistic(t)\n"
        score = (
            f'    """The log-odds of CLASSES[1] plus the part of the costs."""\n'
            f"    return {sign}_{name}_f(row) + {number(link.shift)}\n"
        )
    refer = ""
    if link.reject_cost is not None:
        refer = f"    if min(costs) > {number(link.reject_cost)}:\n        return {link.reject_label!r}\n"
    costs = "\n".join(f"    {_value(row)}," for row in link.costs)
    return (
        f"# Costs: a row per true class, a column per prediction.\n_COSTS = (\n{costs}\n)\n\n\n"
        'def _expected(p):\n    """The expected cost of each prediction."""\n'
        "    costs = [0.0] * len(p)\n    for q, row in zip(p, _COSTS):\n"
        "        costs = [cost + q * c for cost, c in zip(costs, row)]\n    return costs\n\n\n"
        f"def {name}_score(row):\n{score}\n\n"
        f'def {name}_probability(row):\n    """Probabilities in the order of CLASSES."""\n{shares}\n\n'
        f'def {name}(row):\n    """The label: the class of least expected cost."""\n'
        f"    costs = _expected({name}_probability(row))\n{refer}"
        "    return CLASSES[costs.index(min(costs))]\n"
    )
