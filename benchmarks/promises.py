"""How often is a promise with confidence 0.9 broken? Simulated where the truth is known.

600 repetitions of 400 rows, a fifth of them positive, for every goal and everything that can be tuned; then 300 of 600
independent rows or groups with weights, copies and groups of several kinds, with the threshold tuned (where rows weigh
something or are repeated, by a classifier that knows the rows it was fitted to by heart); then 300 of 800 rows or
groups for goals with referral; then 100 of 500 rows, of which more than a third is positive, with
`SkewBoostClassifier`, whose promises are compared with its predictions of 20 000 new rows. Printed: the share of all
repetitions in which a goal was certified but is not met by the returned decisions (at most 0.1 is allowed), and in
brackets the share in which one was certified at all.

    python benchmarks/promises.py            an hour
    python benchmarks/promises.py 50         so many repetitions
    python benchmarks/promises.py --referral only the table of goals with referral
    python benchmarks/promises.py --portfolio only the last table
"""

from __future__ import annotations

import sys
from pathlib import Path

from joblib import Parallel, delayed

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from goals.promises import (
    CASES,
    GOALS,
    PORTFOLIO_CASES,
    PORTFOLIO_GOALS,
    REFERRAL_GOALS,
    broken_on_new_rows,
    broken_promises,
)

TUNE = ("threshold", "cost", "both")


def by_what_is_tuned(n: int) -> None:
    jobs = [(goal, params, tune) for goal, params in GOALS for tune in TUNE]
    found = Parallel(n_jobs=2)(delayed(broken_promises)(goal, tune, n, 400, **params) for goal, params, tune in jobs)
    print(f"| goal, {n} repetitions | " + " | ".join(f"`{tune!r}`" for tune in TUNE) + " |\n|---|---|---|---|")
    for k, (goal, _) in enumerate(GOALS):
        print(f"| `{goal}` | " + " | ".join(cell(n, *made) for made in found[3 * k : 3 * k + 3]) + " |")


def by_what_rows_mean(n: int) -> None:
    jobs = [(case, goal, params) for case in CASES for goal, params in GOALS]
    found = Parallel(n_jobs=2)(
        delayed(broken_promises)(goal, "threshold", n, 600, case, **params) for case, goal, params in jobs
    )
    print(
        f"| rows, {n} repetitions | "
        + " | ".join(f"`{goal}`" for goal, _ in GOALS)
        + " |"
        + "\n|---|"
        + "---|" * len(GOALS)
    )
    for k, case in enumerate(CASES):
        cells = (cell(n, *made) for made in found[len(GOALS) * k : len(GOALS) * (k + 1)])
        print(f"| {case} | " + " | ".join(cells) + " |")


def with_referral(n: int) -> None:
    cases = ("plain", "weights 1 to 5, the harder the heavier", "groups of 10 of both classes")
    jobs = [(case, goal, params) for goal, params in REFERRAL_GOALS for case in cases]
    found = Parallel(n_jobs=2)(
        delayed(broken_promises)(goal, "threshold", n, 800, case, **params) for case, goal, params in jobs
    )
    print(f"| goal, {n} repetitions | " + " | ".join(cases) + " |\n|---|" + "---|" * len(cases))
    for k, (goal, params) in enumerate(REFERRAL_GOALS):
        then = f", `then={params['then']!r}`" if "then" in params else ""
        cells = (cell(n, *made) for made in found[len(cases) * k : len(cases) * (k + 1)])
        print(f"| `{goal}`{then} | " + " | ".join(cells) + " |")


def of_the_portfolio(n: int) -> None:
    jobs = [(case, goal) for case in PORTFOLIO_CASES for goal in PORTFOLIO_GOALS]
    found = Parallel(n_jobs=2)(delayed(broken_on_new_rows)(case, goal, n, 500) for case, goal in jobs)
    print(f"| rows, {n} repetitions | " + " | ".join(f"`{goal}`" for goal in PORTFOLIO_GOALS) + " |")
    print("|---|" + "---|" * len(PORTFOLIO_GOALS))
    for k, case in enumerate(PORTFOLIO_CASES):
        own = found[len(PORTFOLIO_GOALS) * k : len(PORTFOLIO_GOALS) * (k + 1)]
        print(f"| {case} | " + " | ".join(cell(n, *made, None) for made in own) + " |")


def cell(n: int, made: int, broken: int, _: object) -> str:
    return f"{broken / n:.3f} ({made / n:.2f})"


def main() -> None:
    given = next((int(word) for word in sys.argv[1:] if word.isdigit()), None)
    only = [word for word in sys.argv if word.startswith("--")]
    if not only:
        by_what_is_tuned(given or 600)
        print()
        by_what_rows_mean(given or 300)
        print()
    if not only or "--referral" in only:
        with_referral(given or 300)
        print()
    if not only or "--portfolio" in only:
        of_the_portfolio(given or 100)


if __name__ == "__main__":
    main()
