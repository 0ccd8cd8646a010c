"""The meaning of F as steps of an SQL query."""

from __future__ import annotations

from skewboost.boosting.link import ManyClasses
from skewboost.io.export.formula import ExpectedCosts, Formula, Odds
from skewboost.io.export.sql_steps import Query, double, first_case, label, number

# The largest of up to this many numbers is found by comparing all pairs.
COMPARED = 8
# Beyond it the logistic function is 0 or 1. PostgreSQL raises an error where EXP overflows or underflows.
FAR = 700
# Adding and subtracting it rounds to the nearest integer, ties to even, as in the model.
ROUNDER = 1.5 * 2.0**52


def _logistic(t: str) -> str:
    return f"CASE WHEN {t} < -{FAR} THEN 0.0E0 WHEN {t} > {FAR} THEN 1.0E0 ELSE 1.0E0 / (1.0E0 + EXP(-({t}))) END"


def add_link(query: Query, formula: Formula) -> None:
    """Add score, probabilities and label."""
    if isinstance(formula.link, Odds):
        _add_two(query, formula, formula.link)
    elif isinstance(formula.link, ManyClasses):
        _add_many(query, formula, formula.link)
    else:
        _add_by_cost(query, formula, formula.link)


def _add_two(query: Query, formula: Formula, link: Odds) -> None:
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
    labels = [label(c) for c in formula.labels_of_one_type]
    whens = [f"WHEN {decision} >= {number(link.threshold or 0.0)} THEN {labels[link.positive]}"]
    if link.lower is not None:
        whens.append(f"WHEN {decision} >= {number(link.lower)} THEN {labels[2]}")
    query.add("", f"CASE {' '.join(whens)} ELSE {labels[1 - link.positive]} END")


def _add_log_odds(query: Query, link: Odds, odds: str) -> None:
    query.add("log_odds", " + ".join([odds, *map(number, link.shifts)]))
    query.next_step()


def _add_pieces(query: Query, link: Odds) -> None:
    """The log-odds of a probability that is linear in pieces."""
    ends = [piece.start for piece in link.pieces[1:]]
    *pieces, last = link.pieces
    assert last.slope == 0.0

    F = query.get("F")
    heights = [
        f"{number(p.slope)} * ({F} - {number(p.start)}) + {number(p.p)}" if p.slope else number(p.p) for p in pieces
    ]
    query.add("height", first_case([(f"{F} < {number(end)}", p) for end, p in zip(ends, heights)], double(last.p)))
    query.next_step()
    height, low, high = query.get("height"), number(link.margin), number(1.0 - link.margin)
    query.add("inner", f"CASE WHEN {height} < {low} THEN {low} WHEN {height} > {high} THEN {high} ELSE {height} END")
    query.next_step()
    F, inner = query.get("F"), query.get("inner")
    odds = [f"LN({inner} / (1.0E0 - {inner}))" if p.slope else number(p.log_odds) for p in pieces]
    whens = [(f"{F} < {number(end)}", t) for end, t in zip(ends, odds)]
    _add_log_odds(query, link, first_case(whens, double(last.log_odds)))


def _add_many(query: Query, formula: Formula, link: ManyClasses) -> None:
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


def _add_largest(query: Query, names: list[str], called: str = "top") -> str:
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
            query.add(f"{called}_{level}_{g}", f"CASE {' '.join(whens)} ELSE {last} END" if whens else last)
        names, level = [f"{called}_{level}_{g}" for g in range(len(groups))], level + 1
        query.next_step()
    return names[0]


def _add_by_cost(query: Query, formula: Formula, link: ExpectedCosts) -> None:
    K = len(link.costs)
    if link.positive is None:
        _add_softmax(query, K)
    else:
        t = query.get("F") if link.positive == 1 else f"(-{query.get('F')})"
        query.add("score", f"{t} + {number(link.shift)}")
        query.results.append("score")
        for k in range(2):
            query.add(f"probability_{k}", _logistic(t if k else f"-({t})"))
    query.results += [f"probability_{k}" for k in range(K)]
    query.next_step()
    gains = [f"score_{k}" if link.positive is None else f"gain_{k}" for k in range(K)]
    for k, gain in enumerate(gains):
        terms = [f"{query.get(f'probability_{j}')} * {number(cost)}" for j, cost in link.terms(k)]
        query.add(gain, f"-({' + '.join(terms) or double(0.0)})")
    if link.positive is None:
        query.results += gains
    query.next_step()
    top = query.get(_add_largest(query, gains))
    *labels, last = [label(c) for c in formula.labels_of_one_type[:K]]
    whens = [f"WHEN {query.get(gain)} >= {top} THEN {c}" for gain, c in zip(gains, labels)]
    if link.reject_cost is not None:
        whens.insert(0, f"WHEN {top} < {number(-link.reject_cost)} THEN {label(formula.labels_of_one_type[K])}")
    query.add("", f"CASE {' '.join(whens)} ELSE {last} END")


def _add_softmax(query: Query, K: int) -> None:
    """Add probabilities that are the softmax of F."""
    top = _add_largest(query, [f"F_{k}" for k in range(K)], "largest")
    for k in range(K):
        t = f"({query.get(f'F_{k}')} - {query.get(top)})"
        query.add(f"share_{k}", f"CASE WHEN {t} < -{FAR} THEN 0.0E0 ELSE EXP({t}) END")
    query.next_step()
    shares = [f"share_{k}" for k in range(K)]
    query.add("total", " + ".join(map(query.get, shares)))
    query.next_step()
    for k, share in enumerate(shares):
        query.add(f"probability_{k}", f"{query.get(share)} / {query.get('total')}")
