"""Error curves of boosted stumps and alternating trees (Cuendet and Labbi 2002)."""

from __future__ import annotations

from skewboost.reproduce.cuendet_curves.claims import Curves, all_claims
from skewboost.reproduce.cuendet_curves.tables import all_parts
from skewboost.reproduce.cuendet_curves.trials import tasks
from skewboost.reproduce.experiment import Experiment, Results
from skewboost.reproduce.report import Claims, Part


def report(results: Results, quick: bool) -> list[Part]:
    """Return the parts of the page."""
    curves = Curves(results, quick)
    return [Claims(all_claims(curves)), *all_parts(curves)]


PROTOCOL = """
-
"""
DISCUSSION = ""
EXPERIMENT = Experiment(
    name="cuendet-curves",
    title="Error curves of boosted stumps and alternating trees",
    source="cuendet2002",
    shows="figures 3-1 to 3-6",
    protocol=PROTOCOL,
    tasks=tasks,
    report=report,
    discussion=DISCUSSION,
)
