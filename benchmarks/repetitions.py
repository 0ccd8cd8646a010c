"""Repetitions of an experiment, each kept in a file as soon as it is there, so that a run goes on where it stopped.

A line is one repetition. It counts only for the sources it was computed with: after a change of the package, or of what
computes it, everything is computed again, and the old lines stay in the file.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from joblib import Parallel, delayed

import skewboost

RESULTS = Path(__file__).resolve().parent / "results"
PACKAGE = Path(skewboost.__file__).parent


def sources(*more: Path) -> str:
    """Return a digest of the sources of the package, and of further files."""
    digest = hashlib.sha256()
    for path in [*sorted(p for p in PACKAGE.rglob("*") if p.suffix in (".py", ".h", ".cpp")), *more]:
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def repeated(
    file: Path,
    run: Callable[..., Any],
    jobs: Sequence[tuple[Any, ...]],
    n: int,
    *,
    computed_by: Sequence[Path] = (),
    n_jobs: int = 2,
) -> list[list[Any]]:
    """Return what `run(*job, seed)` returns, for each job and the seeds from 0 to n - 1.

    Jobs, and what is returned, are values that JSON can represent. An exception ends the run, and what was finished
    stays in the file.
    """
    version = sources(*computed_by)
    found: dict[tuple[str, int], Any] = {}
    if file.exists():
        for line in map(json.loads, file.read_text().splitlines()):
            if (line["run"], line["sources"]) == (run.__name__, version):
                found[json.dumps(line["job"]), line["seed"]] = line["found"]
    missing = [(job, seed) for seed in range(n) for job in jobs if (json.dumps(job), seed) not in found]
    file.parent.mkdir(parents=True, exist_ok=True)
    computed = Parallel(n_jobs=n_jobs, return_as="generator")(delayed(run)(*job, seed) for job, seed in missing)
    with file.open("a") as out:
        for done, ((job, seed), values) in enumerate(zip(missing, computed, strict=True), 1):
            line = {"run": run.__name__, "sources": version, "job": job, "seed": seed, "found": values}
            print(json.dumps(line), file=out, flush=True)
            found[json.dumps(job), seed] = values
            if sys.stderr.isatty() and (done % 20 == 0 or done == len(missing)):
                print(f"\r{run.__name__}: {done}/{len(missing)} ", end="", file=sys.stderr, flush=True)
    return [[found[json.dumps(job), seed] for seed in range(n)] for job in jobs]
