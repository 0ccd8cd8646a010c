"""A formula as a single file of C99 source."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from skewboost.boosting.link import ManyClasses
from skewboost.errors import InputError
from skewboost.io.export.formula import ExpectedCosts, Formula, LookUp, Odds, Steps, Sum, filled, number
from skewboost.io.export.packed_forest import Coded

FEW = 4  # up to this number of cuts, a step function is a chain of comparisons


def write_c(formula: Formula, name: str) -> str:
    """Return the program."""
    forests = [own.forest for own in formula.sums]
    coded = Coded.of(forests, formula.tested) if any(map(len, forests)) else None
    meaning: Any = {Odds: _two, ManyClasses: _many, ExpectedCosts: _by_cost}[type(formula.link)]
    parts = [_head(formula, name), _codes(formula, name), _helpers(formula, coded, name), *_tables(formula, name)]
    parts += [_trees(formula, coded, name), _components(formula, name), _f(formula, coded, name)]
    parts.append(meaning(formula.link, name))
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
    K, n_labels, many = len(formula.classes), len(formula.labels), formula.n_outputs > 1
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
    classes = filled(text(c if isinstance(c, str) else repr(c)) for c in formula.labels)
    if n_labels > K:
        usage.insert(1, f"{name}_classes[{K}] is the label of rows that are referred to somebody else.")
    prototypes = [
        f"extern const char *const {name}_classes[{n_labels}];",
        f"int {name}(const double *x);",
        f"void {name}_score(const double *x, double *score);" if many else f"double {name}_score(const double *x);",
        f"void {name}_probability(const double *x, double *p);",
        *([f"double {name}_code(int feature, const char *category);"] if of_text else []),
    ]
    listed = "\n".join(prototypes)
    listed += f"\n\nconst char *const {name}_classes[{n_labels}] = {{\n{classes}\n}};"
    return f"/*\n{comment}\n */\n{includes}\n{listed}\n"


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


def _helpers(formula: Formula, coded: Coded | None, name: str) -> str:
    """Functions that tables and trees use."""
    found, tables = [], [part for own in formula.sums for part in own.tables]
    if tables or coded:
        K = formula.n_outputs
        add = "    F[0] += v[0];\n" if K == 1 else f"    for (int k = 0; k < {K}; k++) F[k] += v[k];\n"
        found.append(f"static void {name}_add(double *F, const double *v)\n{{\n{add}}}\n")
    if (coded and coded.numeric) or any(isinstance(part, Steps) and len(part.cuts) > FEW for part in tables):
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
    if (coded and coded.nominal) or any(isinstance(part, LookUp) and part.values for part in tables):
        found.append(
            "/* The number of a category; n if it is unknown. */\n"
            f"static int {name}_category(double x, int n)\n{{\n    return x >= 0.0 && x < n ? (int)x : n;\n}}\n"
        )
    return "\n".join(found)


def _rows(values: Any) -> str:
    return filled("{" + ", ".join(map(number, row)) + "}" for row in values)


def _numbers(values: Iterable[int]) -> str:
    return filled(map(str, values))


def _tables(formula: Formula, name: str) -> list[str]:
    """Per feature an array of values, the last one for missing cells, and a function that looks up a cell."""
    K, found = formula.n_outputs, []
    for s, part in [(s, part) for s, own in enumerate(formula.sums) for part in own.tables]:
        j, n = part.feature, len(part.values)
        tag = f"{s}_{j}" if s else f"{j}"
        values = (
            f"static const double {name}_values_{tag}[{n + 1}][{K}] = {{\n{_rows((*part.values, part.missing))}\n}};\n"
        )
        if isinstance(part, LookUp):
            at = f"{name}_category(x, {n})" if n else "(void)x, 0"
        elif len(part.cuts) > FEW:
            cuts = filled(map(number, part.cuts))
            values = f"static const double {name}_cuts_{tag}[{n - 1}] = {{\n{cuts}\n}};\n{values}"
            at = f"x != x ? {n} : {name}_below({name}_cuts_{tag}, {n - 1}, x)"
        else:
            at = (
                f"x != x ? {n} : " + "".join(f"x <= {number(c)} ? {k} : " for k, c in enumerate(part.cuts)) + f"{n - 1}"
            )
        found.append(
            f"/* {in_comment(repr(formula.tested[j].name))} */\n{values}\n"
            f"static const double *{name}_f{tag}(double x)\n{{\n    return {name}_values_{tag}[{at}];\n}}\n"
        )
    return found


def _trees(formula: Formula, coded: Coded | None, name: str) -> str:
    """All trees as one array of small integers, so that any number of trees of any depth compiles."""
    if coded is None:
        return ""
    rows = zip(coded.column.tolist(), coded.key.tolist(), *coded.links.T.tolist())
    nodes = ["{" + ",".join(map(str, row)) + "}" for row in rows] or ["{0, 0, 0, 0}"]
    roots = [root for own in coded.roots for root in own.tolist()]
    by_set, answer = "", "code <= node->key"
    if coded.nominal:
        by_set = (
            "/* Whether a node is answered with yes, by its key plus the number of the category. */\n"
            f"static const unsigned char {name}_sides[] = {{\n{_numbers(coded.sides.tolist())}\n}};\n\n"
        )
        answer = f"node->column < {coded.first_nominal} ? ({answer}) : {name}_sides[node->key + code]"
    return (
        f"{_code_function(formula, coded, name)}\n"
        "/* A node goes on by the link yes if the code in its column is at most the key, else by no. A link > 0 leads\n"
        "   this many nodes on; a link k < 0 is the leaf -k - 1. */\n"
        f"struct {name}_node {{\n    int column, key, yes, no;\n}};\n\n"
        f"static const struct {name}_node {name}_nodes[{len(nodes)}] = {{\n{filled(nodes)}\n}};\n\n"
        f"static const double {name}_leaves[{len(coded.leaves)}][{formula.n_outputs}] = {{\n"
        f"{_rows(coded.leaves.tolist())}\n}};\n\n"
        f"static const int {name}_roots[{len(roots)}] = {{\n{_numbers(roots)}\n}};\n\n{by_set}"
        f"static const double *{name}_tree(int k, const int *c)\n{{\n"
        "    while (k >= 0) {\n"
        f"        const struct {name}_node *node = &{name}_nodes[k];\n"
        "        int code = c[node->column];\n"
        f"        int link = ({answer}) ? node->yes : node->no;\n"
        "        k = link < 0 ? link : k + link;\n"
        f"    }}\n    return {name}_leaves[-k - 1];\n}}\n"
    )


def _code_function(formula: Formula, coded: Coded, name: str) -> str:
    """A function from cells to codes, and the cuts that it uses."""
    lists, lines = [], []
    most = max((len(cuts) for cuts in coded.cuts), default=0) + 1
    for i, (j, cuts) in enumerate(zip(coded.numeric, coded.cuts)):
        known = filled(map(number, cuts)) if len(cuts) else "    0.0"
        lists.append(f"/* {in_comment(repr(formula.tested[j].name))} */\n"
                     f"static const double {name}_tests_{j}[] = {{\n{known}\n}};\n")  # fmt: skip
        lines.append(f"    {name}_place(x[{j}], {name}_tests_{j}, {len(cuts)}, c + {2 * i});")
    for i, j in enumerate(coded.nominal, coded.first_nominal):
        lines.append(f"    c[{i}] = {name}_category(x[{j}], {len(formula.columns[j].categories or ())});")
    place = (
        f"/* The code of a number, in two forms: a missing cell is above all keys, or below. */\n"
        f"static void {name}_place(double x, const double *cuts, int n, int *c)\n{{\n"
        f"    c[0] = x != x ? {most} : {name}_below(cuts, n, x);\n    c[1] = x != x ? -1 : c[0];\n}}\n\n"
        if coded.numeric
        else ""
    )
    listed = "\n".join(lines) if lines else "    (void)x, (void)c;"
    head = f"static void {name}_encode(const double *x, int *c)"
    return "\n".join([*lists, f"{place}{head}\n{{\n{listed}\n}}\n"])


def _components(formula: Formula, name: str) -> str:
    """A function that puts the components behind the cells."""
    own, d = formula.components, len(formula.columns)
    if own is None:
        return ""
    n, m = own.loadings.shape
    rows = zip(own.centre.tolist(), own.low.tolist(), own.high.tolist())
    return (
        "/* A component is a sum over columns, limited and centred. */\n"
        f"static const int {name}_in[{m}] = {{\n{_numbers(own.features.tolist())}\n}};\n\n"
        f"static const double {name}_range[{m}][3] = {{\n{_rows(rows)}\n}};\n\n"
        f"static const double {name}_loadings[{n}][{m}] = {{\n{_rows(own.loadings.tolist())}\n}};\n\n"
        f"static void {name}_extend(const double *cells, double *x)\n{{\n"
        f"    for (int j = 0; j < {d}; j++) x[j] = cells[j];\n"
        f"    for (int k = 0; k < {n}; k++) {{\n"
        f"        double total = 0.0;\n"
        f"        for (int i = 0; i < {m}; i++) {{\n"
        f"            const double *range = {name}_range[i];\n"
        f"            double cell = cells[{name}_in[i]];\n"
        f"            if (cell == cell)\n"
        f"                total += {name}_loadings[k][i] * (fmin(fmax(cell, range[1]), range[2]) - range[0]);\n"
        f"        }}\n        x[{d} + k] = total;\n    }}\n}}\n"
    )


def _f(formula: Formula, coded: Coded | None, name: str) -> str:
    K, first = formula.n_outputs, 0
    if formula.components is None:
        lines = [f"static void {name}_sum(const double *x, double *F)", "{"]
    else:
        lines = [f"static void {name}_sum(const double *cells, double *F)", "{"]
        lines += [f"    double x[{len(formula.tested)}];", f"    {name}_extend(cells, x);"]
    if not formula.used:
        lines.append("    (void)x;")
    if coded:
        lines += [f"    int c[{max(coded.n_columns, 1)}];", f"    {name}_encode(x, c);"]
    if not formula.is_one_sum:
        lines += [f"    F[{k}] = {number(c)};" for k, c in enumerate(formula.offset)]
    for s, own in enumerate(formula.sums):
        trees = range(first, first := first + len(own.forest))
        if formula.is_one_sum:
            lines += _added(own, s, trees, "F", name)
        else:
            score = [*_added(own, s, trees, "v", name), *_log_odds_of_shares(own)]
            score.append(f"    for (int k = 0; k < {K}; k++) F[k] += {number(own.weight)} * v[k];")
            lines += ["    {", f"        double v[{K}];", *(f"    {line}" for line in score), "    }"]
    if isinstance(formula.link, ManyClasses):
        lines.append(f"    for (int k = 0; k < {K}; k++) F[k] = rint(F[k] * 1e10) / 1e10;")
    return "\n".join([*lines, "}"]) + "\n"


def _added(own: Sum, s: int, trees: range, F: str, name: str) -> list[str]:
    """Statements that compute a sum."""
    lines = [f"    {F}[{k}] = {number(c)};" for k, c in enumerate(own.constant)]
    for part in own.tables:
        tag = f"{s}_{part.feature}" if s else f"{part.feature}"
        lines.append(f"    {name}_add({F}, {name}_f{tag}(x[{part.feature}]));")
    if trees:
        tree = f"{name}_tree({name}_roots[t], c)"
        lines.append(f"    for (int t = {trees.start}; t < {trees.stop}; t++) {name}_add({F}, {tree});")
    if own.lines:
        lines.append("    double rest = 0.0;")
        for line in own.lines:
            x = f"x[{line.feature}]"
            inner = f"fmin(fmax({x}, {number(-line.reach)}), {number(line.reach)})"
            t = f"({inner} / {number(line.scale)} - {number(line.centre)})"
            lines.append(f"    if ({x} == {x}) rest += {number(line.rise)} * {t} + {number(line.height)};")
        lines.append(f"    {F}[0] += rest;")
    return lines


def _log_odds_of_shares(own: Sum) -> list[str]:
    """Statements that turn the shares v into log-odds, or into logarithms if there are several."""
    if own.floor is None:
        return []
    if len(own.floor) == 1:
        floor = number(own.floor[0])
        return [f"    v[0] = log(fmax(v[0], {floor})) - log(fmax(1.0 - v[0], {floor}));"]
    return [f"    v[{k}] = log(fmax(v[{k}], {number(floor)}));" for k, floor in enumerate(own.floor)]


def _two(link: Odds, name: str) -> str:
    shifts = "".join(f"    t += {number(shift)};\n" for shift in link.shifts)
    first = link.positive == 0
    shifted = f"F + {number(link.decision_shift)}" if link.decision_shift else "F"
    decision = f"0.5 * {name}_log_odds(F)" if link.calibrated else shifted
    above = "D" if link.threshold is None else f"(D - {number(link.threshold)})"
    p, q = ("p[0]", "p[1]") if first else ("p[1]", "p[0]")
    taken_off = f" - {number(link.cost_offset)}" if link.cost_offset else ""
    at_least, yes, no = number(link.threshold or 0.0), link.positive, 1 - link.positive
    below = f"{no}" if link.lower is None else f"D >= {number(link.lower)} ? 2 : {no}"
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
        f"    double D = {name}_decision(x);\n    return D >= {at_least} ? {yes} : {below};\n}}\n"
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


def _by_cost(link: ExpectedCosts, name: str) -> str:
    K = len(link.costs)
    if link.positive is None:
        odds = ""
        score = (
            f"void {name}_score(const double *x, double *score)\n{{\n    double p[{K}];\n"
            f"    {name}_probability(x, p);\n    {name}_expected(p, score);\n"
            f"    for (int k = 0; k < {K}; k++) score[k] = -score[k];\n}}\n"
        )
        shares = (
            f"    double F[{K}], total = 0.0;\n    {name}_sum(x, F);\n"
            f"    double top = F[0];\n    for (int k = 1; k < {K}; k++) top = fmax(top, F[k]);\n"
            f"    for (int k = 0; k < {K}; k++) total += p[k] = exp(F[k] - top);\n"
            f"    for (int k = 0; k < {K}; k++) p[k] /= total;\n"
        )
    else:
        odds = (
            f"/* Log-odds of {name}_classes[1]. */\nstatic double {name}_log_odds(const double *x)\n{{\n"
            f"    double F;\n    {name}_sum(x, &F);\n    return {'-' if link.positive == 0 else ''}F;\n}}\n\n"
        )
        shift = f" + {number(link.shift)}" if link.shift else ""
        score = f"double {name}_score(const double *x)\n{{\n    return {name}_log_odds(x){shift};\n}}\n"
        shares = (
            f"    double t = {name}_log_odds(x);\n    p[0] = 1.0 / (1.0 + exp(t));\n    p[1] = 1.0 / (1.0 + exp(-t));\n"
        )
    refer = ""
    if link.reject_cost is not None:
        refer = f"    if (cost[best] > {number(link.reject_cost)}) return {K};\n"
    return (
        f"/* Costs: a row per true class, a column per prediction. */\n"
        f"static const double {name}_costs[{K}][{K}] = {{\n{_rows(link.costs)}\n}};\n\n"
        f"static void {name}_expected(const double *p, double *cost)\n{{\n"
        f"    for (int k = 0; k < {K}; k++) cost[k] = 0.0;\n"
        f"    for (int j = 0; j < {K}; j++)\n"
        f"        for (int k = 0; k < {K}; k++) cost[k] += p[j] * {name}_costs[j][k];\n}}\n\n"
        f"{odds}void {name}_probability(const double *x, double *p)\n{{\n{shares}}}\n\n{score}\n"
        f"int {name}(const double *x)\n{{\n"
        f"    double p[{K}], cost[{K}];\n    int best = 0;\n"
        f"    {name}_probability(x, p);\n    {name}_expected(p, cost);\n"
        f"    for (int k = 1; k < {K}; k++) if (cost[k] < cost[best]) best = k;\n{refer}    return best;\n}}\n"
    )
