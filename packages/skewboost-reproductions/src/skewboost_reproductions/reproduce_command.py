"""The command `reproduce`: published experiments, with their numbers next to ours."""

from __future__ import annotations

from typing import Any

from skewboost.cli.exit_codes import CommandError
from skewboost.cli.output import print_json, print_line, print_table
from skewboost.progress import clock
from skewboost.works import cited
from skewboost_reproductions import Reproduction, experiments, reproduce, reproduce_all
from skewboost_reproductions.command import Reproduce
from skewboost_reproductions.verdicts import VERDICTS, counted


def run(request: Reproduce) -> None:
    """List the experiments, or run one or all of them."""
    if request.name == "list":
        _list(request.as_json)
        return
    known = experiments()
    if request.name not in (*known, "all"):
        raise CommandError(f"{request.name!r} is not an experiment.", f"Choose one of {', '.join(known)}, or all.")
    options: dict[str, Any] = {"quick": request.quick, "again": request.again, "n_jobs": request.n_jobs}
    if request.name == "all":
        done = reproduce_all(request.out, **options, finished=None if request.as_json else _show)
    else:
        done = {request.name: reproduce(request.name, request.out, **options)}
    if request.as_json:
        print_json({name: _as_dict(one) for name, one in done.items()})
    elif request.name == "all":
        _summarise(done)
    else:
        _show(request.name, done[request.name])


def _list(as_json: bool) -> None:
    found = experiments().values()
    if as_json:
        print_json([{"name": e.name, "source": cited(e.source), "shows": e.shows, "title": e.title} for e in found])
        return
    print_table(
        ["Name", "Paper", "Shows", "About"], [[e.name, cited(e.source), e.shows, e.title] for e in found], left=range(4)
    )
    print_line("Run one with: skewboost reproduce NAME [--quick]")


def _show(name: str, one: Reproduction) -> None:
    if one.claims:
        rows = [[claim.verdict, claim.text] for claim in one.claims]
        print_table(["Here", "What the paper says"], rows, left=range(2), title=name)
    print_line(f"Written: {one.page} and {len(one.files)} tables and figures")
    print_line()


def _summarise(done: dict[str, Reproduction]) -> None:
    rows = []
    for name, one in done.items():
        rows.append([name, *map(str, counted(one.claims).values()), clock(one.seconds)])
    print_table(["Experiment", *VERDICTS, "computing time"], rows, title="Claims")


def _as_dict(one: Reproduction) -> dict[str, object]:
    claims = [{"claim": c.text, "verdict": c.verdict, "evidence": c.evidence} for c in one.claims]
    return {"page": str(one.page), "files": list(map(str, one.files)), "seconds": one.seconds, "claims": claims}
