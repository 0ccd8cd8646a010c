"""A formula as a single file of C99 source."""

from __future__ import annotations

import math
from typing import Any

from skewboost.boosting.link import ManyClasses
from skewboost.errors import InputError
from skewboost.io.export.formula import Formula, LookUp, Odds, Steps, Values, filled, number

FEW = 4  # up to this number of cuts, a step function is a chain of comparisons


def write_c(formula: Formula, name: str) -> str:
    """Return the program."""
    meaning = _many(formula.link, name) if isinstance(formula.link, ManyClasses) else _two(formula.link, name)
    parts = [_head(formula, name), _codes(formula, name), _helpers(formula, name), *_tables(formula, name)]
    parts += [_trees(formula, name), _f(formula, name), meaning]
    return "\n\n".join(part.strip("\n") for part in parts if part) + "\n"


def text(value: str) -> str:
    """A string literal of UTF-8 bytes, written in ASCII."""
    if "\0" in value:
        raise InputError(
            f"{value!r} holds a null character, which ends a string in C. Rename it, or export Python or SQL."
        )
    plain = {34: '\\"', 92: "\\\\", 63: "\\?", 10: "\\n", 9: "\\t", 13: "\\r"}  # ??x could be a trigraph
    chars = [plain.get(b, chr(b) if 32 <= b < 127 else f"\\{b:03o}") for b in value.encode("utf-8", "surrogatepass")]
    return f'"{"".join(chars)}"'


def in_comment(line: str) -> str:
    """A line in ASCII that neither ends its comment nor begins another."""
    return line.encode("ascii", "backslashreplace").decode().replace("*/", "* /").replace("/*", "/ *")


def _head(formula: Formula, name: str) -> str:
    K, many = len(formula.classes), formula.n_outputs > 1
    of_text = any(c.categories is not None for c in formula.columns)
    usage = [
        "",
        f"int {name}(const double *x)                            the number of the label in {name}_classes",
        f"double {name}_score(const double *x)                   the decision function"
        if not many
        else f"void {name}_score(const double *x, double *score)      {K} scores; the label has the largest",
        f"void {name}_probability(const double *x, double *p)    {K} probabilities, in the order of the classes",
        "",
        "x holds one number per feature; NAN is a missing cell. Do not compile with -ffast-math, which ignores NAN.",
        "Use -ffp-contract=off on machines with fused multiply-add, so that sums are equal to the last bit.",
    ]
    if of_text:
        usage.append(f"Pass a category as its code, {name}_code(feature, text), which is NAN for an unknown category.")
    comment = "\n".join(f" * {in_comment(line)}".rstrip() for line in [*formula.header(), *usage])
    includes = "#include <math.h>\n" + ("#include <stddef.h>\n#include <string.h>\n" if of_text else "")
    classes = filled(text(c if isinstance(c, str) else repr(c)) for c in formula.classes)
    prototypes = [
        f"extern const char *const {name}_classes[{K}];",
        f"int {name}(const double *x);",
        f"void {name}_score(const double *x, double *score);" if many else f"double {name}_score(const double *x);",
        f"void {name}_probability(const double *x, double *p);",
        *([f"double {name}_code(int feature, const char *category);"] if of_text else []),
    ]
    listed = "\n".join(prototypes)
    return f"/*\n{comment}\n */\n{includes}\n{listed}\n\nconst char *const {name}_classes[{K}] = {{\n{classes}\n}};\n"


def _codes(formula: Formula, name: str) -> str:
    """A function from category to code, by binary search; `strcmp` compares bytes, which sorts UTF-8 by code point."""
    nominal = [(j, c) for j, c in enumerate(formula.columns) if c.categories is not None]
    if not nominal:
        return ""
    lists, cases = [], []
    for j, column in nominal:
        known = column.categories
        if known:
            lists.append(
                f"/* {in_comment(repr(column.name))} */\n"
                f"static const char *const {name}_categories_{j}[{len(known)}] = {{\n{filled(map(text, known))}\n}};\n"
            )
            cases.append(f"    case {j}: list = {name}_categories_{j}; high = {len(known)}; break;")
    switch = "\n".join([*cases, "    default: return NAN;"])
    return "\n".join(lists) + (
        f"\ndouble {name}_code(int feature, const char *category)\n{{\n"
        "    const char *const *list = NULL;\n    int low = 0, high = 0, last;\n"
        "    if (category == NULL) return NAN;\n"
        f"    switch (feature) {{\n{switch}\n    }}\n"
        "    last = high;\n"
        "    while (low < high) {\n"
        "        int middle = (low + high) / 2;\n"
        "        if (strcmp(list[middle], category) < 0) low = middle + 1;\n"
        "        else high = middle;\n"
        "    }\n"
        "    return low < last && strcmp(list[low], category) == 0 ? (double)low : NAN;\n}\n"
    )


def _helpers(formula: Formula, name: str) -> str:
    """Functions that tables and trees use."""
    found = []
    if formula.tables or formula.trees:
        K = formula.n_outputs
        add = "    F[0] += v[0];\n" if K == 1 else f"    for (int k = 0; k < {K}; k++) F[k] += v[k];\n"
        found.append(f"static void {name}_add(double *F, const double *v)\n{{\n{add}}}\n")
    if any(isinstance(part, Steps) and len(part.cuts) > FEW for part in formula.tables):
        found.append(
            "/* The number of cuts strictly below x. */\n"
            f"static int {name}_below(const double *cuts, int n, double x)\n{{\n"
            "    int low = 0, high = n;\n"
            "    while (low < high) {\n"
            "        int middle = (low + high) / 2;\n"
            "        if (cuts[middle] < x) low = middle + 1;\n"
            "        else high = middle;\n"
            "    }\n    return low;\n}\n"
        )
    nominal_nodes = any(node.sides is not None for tree in formula.trees for node in tree.nodes)
    if nominal_nodes or any(isinstance(part, LookUp) and part.values for part in formula.tables):
        found.append(
            "/* The number of a category; n if it is unknown. */\n"
            f"static int {name}_category(double x, int n)\n{{\n    return x >= 0.0 && x < n ? (int)x : n;\n}}\n"
        )
    return "\n".join(found)


def _rows(values: Any) -> str:
    return filled("{" + ", ".join(map(number, row)) + "}" for row in values)


def _tables(formula: Formula, name: str) -> list[str]:
    """Per feature an array of values, the last one for missing cells, and a function that looks up a cell."""
    K, found = formula.n_outputs, []
    for part in formula.tables:
        j, n = part.feature, len(part.values)
        values = (
            f"static const double {name}_values_{j}[{n + 1}][{K}] = {{\n{_rows((*part.values, part.missing))}\n}};\n"
        )
        if isinstance(part, LookUp):
            at = f"{name}_category(x, {n})" if n else "(void)x, 0"
        elif len(part.cuts) > FEW:
            cuts = filled(map(number, part.cuts))
            values = f"static const double {name}_cuts_{j}[{n - 1}] = {{\n{cuts}\n}};\n{values}"
            at = f"x != x ? {n} : {name}_below({name}_cuts_{j}, {n - 1}, x)"
        else:
            at = (
                f"x != x ? {n} : " + "".join(f"x <= {number(c)} ? {k} : " for k, c in enumerate(part.cuts)) + f"{n - 1}"
            )
        found.append(
            f"/* {in_comment(repr(formula.columns[j].name))} */\n{values}\n"
            f"static const double *{name}_f{j}(double x)\n{{\n    return {name}_values_{j}[{at}];\n}}\n"
        )
    return found


def _trees(formula: Formula, name: str) -> str:
    """All trees as one array of nodes, so that a tree of any depth compiles."""
    if not formula.trees:
        return ""
    roots: list[str] = []
    nodes: list[str] = []
    leaves: list[Values] = []
    sides: list[str] = []
    for tree in formula.trees:
        first, first_leaf = len(nodes), len(leaves)
        roots.append(str(first))
        for node in tree.nodes:
            at = [first + k if k >= 0 else ~(first_leaf + ~k) for k in node.links]
            n, offset = 0, 0
            if node.sides is not None:
                known, offset = formula.columns[node.feature].categories or (), len(sides)
                n = len(known)
                sides += ["0" if c in node.sides[0] else "1" if c in node.sides[1] else "2" for c in known]
            cut = "0.0" if node.sides is not None else "INFINITY" if math.isinf(node.cut) else number(node.cut)
            nodes.append(f"{{{cut}, {node.feature}, {n if node.sides is not None else -1}, {offset}, "
                         f"{{{at[0]}, {at[1]}, {at[2]}}}}}")  # fmt: skip
        leaves += tree.values
    has_sets = any(node.sides is not None for tree in formula.trees for node in tree.nodes)
    of_sets = f"static const unsigned char {name}_sides[] = {{\n{filled(sides or ['0'])}\n}};\n\n" if has_sets else ""
    by_set = (
        "        if (node->n >= 0) {\n"
        f"            int code = {name}_category(v, node->n);\n"
        f"            k = node->link[code == node->n ? 2 : {name}_sides[node->offset + code]];\n"
        "        } else\n"
        if has_sets
        else ""
    )
    return (
        "/* Trees: link 0 if x[feature] <= cut, else link 1; link 2 if the cell is missing. A feature with n >= 0\n"
        "   categories takes the link in sides[offset + code]. A link k < 0 is the leaf -k - 1. */\n"
        f"struct {name}_node {{\n    double cut;\n    int feature, n, offset, link[3];\n}};\n\n"
        f"static const struct {name}_node {name}_nodes[{len(nodes)}] = {{\n{filled(nodes)}\n}};\n\n"
        f"static const double {name}_leaves[{len(leaves)}][{formula.n_outputs}] = {{\n{_rows(leaves)}\n}};\n\n"
        f"static const int {name}_roots[{len(roots)}] = {{\n{filled(roots)}\n}};\n\n{of_sets}"
        f"static const double *{name}_tree(int k, const double *x)\n{{\n"
        "    while (k >= 0) {\n"
        f"        const struct {name}_node *node = &{name}_nodes[k];\n"
        f"        double v = x[node->feature];\n{by_set}"
        "        k = node->link[v != v ? 2 : v <= node->cut ? 0 : 1];\n"
        f"    }}\n    return {name}_leaves[-k - 1];\n}}\n"
    )


def _f(formula: Formula, name: str) -> str:
    lines = [f"static void {name}_sum(const double *x, double *F)", "{"]
    if not (formula.tables or formula.trees or formula.lines):
        lines.append("    (void)x;")
    lines += [f"    F[{k}] = {number(c)};" for k, c in enumerate(formula.constant)]
    lines += [f"    {name}_add(F, {name}_f{p.feature}(x[{p.feature}]));" for p in formula.tables]
    if formula.trees:
        tree = f"{name}_tree({name}_roots[t], x)"
        lines.append(f"    for (int t = 0; t < {len(formula.trees)}; t++) {name}_add(F, {tree});")
    if formula.lines:
        lines.append("    double rest = 0.0;")
        for line in formula.lines:
            x = f"x[{line.feature}]"
            inner = f"fmin(fmax({x}, {number(-line.reach)}), {number(line.reach)})"
            t = f"({inner} / {number(line.scale)} - {number(line.centre)})"
            lines.append(f"    if ({x} == {x}) rest += {number(line.rise)} * {t} + {number(line.height)};")
        lines.append("    F[0] += rest;")
    if formula.n_outputs > 1:
        lines.append(f"    for (int k = 0; k < {formula.n_outputs}; k++) F[k] = rint(F[k] * 1e10) / 1e10;")
    return "\n".join([*lines, "}"]) + "\n"


def _two(link: Odds, name: str) -> str:
    shifts = "".join(f"    t += {number(shift)};\n" for shift in link.shifts)
    first = link.positive == 0
    shifted = f"F + {number(link.decision_shift)}" if link.decision_shift else "F"
    decision = f"0.5 * {name}_log_odds(F)" if link.calibrated else shifted
    above = "D" if link.threshold is None else f"(D - {number(link.threshold)})"
    p, q = ("p[0]", "p[1]") if first else ("p[1]", "p[0]")
    taken_off = f" - {number(link.cost_offset)}" if link.cost_offset else ""
    at_least = number(link.threshold or 0.0)
    return (
        f"{_pieces(link, name)}\n"
        "/* Log-odds of the positive class, including the costs. */\n"
        f"static double {name}_log_odds(double F)\n{{\n{_log_odds(link, name)}{shifts}    return t;\n}}\n\n"
        "/* At least the threshold where the positive class is predicted. */\n"
        f"static double {name}_decision(const double *x)\n{{\n"
        f"    double F;\n    {name}_sum(x, &F);\n    return {decision};\n}}\n\n"
        f"double {name}_score(const double *x)\n{{\n"
        f"    double D = {name}_decision(x);\n    return {'-' if first else ''}{above};\n}}\n\n"
        f"void {name}_probability(const double *x, double *p)\n{{\n"
        f"    double F, t;\n    {name}_sum(x, &F);\n    t = {name}_log_odds(F){taken_off};\n"
        f"    {p} = 1.0 / (1.0 + exp(-t));\n    {q} = 1.0 / (1.0 + exp(t));\n}}\n\n"
        f"int {name}(const double *x)\n{{\n"
        f"    return {name}_decision(x) >= {at_least} ? {link.positive} : {1 - link.positive};\n}}\n"
    )


def _pieces(link: Odds, name: str) -> str:
    if not link.pieces:
        return ""
    rows = _rows((p.start if k else 0.0, p.p, p.slope, p.log_odds) for k, p in enumerate(link.pieces))
    return (
        "/* Probability by F: start, probability there, slope, log-odds if the slope is zero. */\n"
        f"static const double {name}_pieces[{len(link.pieces)}][4] = {{\n{rows}\n}};\n"
    )


def _log_odds(link: Odds, name: str) -> str:
    if not link.pieces:
        return f"    double t = {number(link.scale)} * F;\n"
    low, high = number(link.margin), number(1.0 - link.margin)
    return (
        f"    int k = {len(link.pieces) - 1};\n"
        f"    while (k > 0 && F < {name}_pieces[k][0]) k--;\n"
        f"    const double *piece = {name}_pieces[k];\n"
        "    double t = piece[3];\n"
        "    if (piece[2] != 0.0) {\n"
        f"        double p = fmin(fmax(piece[2] * (F - piece[0]) + piece[1], {low}), {high});\n"
        "        t = log(p / (1.0 - p));\n    }\n"
    )


def _many(link: ManyClasses, name: str) -> str:
    K = len(link.costs)
    if link.softmax:
        before = f"    double top = F[0];\n    for (int k = 1; k < {K}; k++) top = fmax(top, F[k]);\n"
        share = "exp(2.0 * (F[k] - top))"
    else:
        before = f"    static const double costs[{K}] = {{{', '.join(map(number, link.costs))}}};\n"
        share = "(1.0 + 1e-9 * F[k] / (1.0 + fabs(F[k]))) / (1.0 + exp(-2.0 * F[k])) / costs[k]"
    return (
        f"void {name}_score(const double *x, double *score)\n{{\n    {name}_sum(x, score);\n}}\n\n"
        f"void {name}_probability(const double *x, double *p)\n{{\n"
        f"    double F[{K}], total = 0.0;\n    {name}_sum(x, F);\n{before}"
        f"    for (int k = 0; k < {K}; k++) total += p[k] = {share};\n"
        f"    for (int k = 0; k < {K}; k++) p[k] = total > 0.0 ? p[k] / total : 1.0 / {K};\n}}\n\n"
        f"int {name}(const double *x)\n{{\n"
        f"    double F[{K}];\n    int best = 0;\n    {name}_sum(x, F);\n"
        f"    for (int k = 1; k < {K}; k++) if (F[k] > F[best]) best = k;\n    return best;\n}}\n"
    )
