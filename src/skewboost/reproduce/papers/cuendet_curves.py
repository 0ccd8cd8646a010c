"""Error curves of boosted stumps and alternating trees (Cuendet and Labbi 2002)."""

from __future__ import annotations

from skewboost.reproduce.cuendet_curves.claims import Curves, all_claims
from skewboost.reproduce.cuendet_curves.curve_tables import all_parts
from skewboost.reproduce.cuendet_curves.curve_trials import (
    DRAWS,
    FOLDS,
    ROUNDS,
    SIZE,
    THIRDS,
    TREE_ROUNDS,
    TRIALS,
    tasks,
)
from skewboost.reproduce.experiment import Experiment, Results
from skewboost.reproduce.page_parts import Claims, Part


def report(results: Results, quick: bool) -> list[Part]:
    """Return the parts of the page."""
    curves = Curves(results, quick)
    return [Claims(all_claims(curves)), *all_parts(curves)]


PROTOCOL = f"""
Training and test errors after each round, averaged over {TRIALS} trials of cross-validation. Plain stumps are those of
confidence-rated AdaBoost; a missing value abstains. *New Z* chooses stumps by Z̄ and has opposite signs on their sides.
Consistent stumps, alternating trees and favoured stumps (β is the ratio of the class frequencies) are as in the report.
There are {ROUNDS} rounds, {TREE_ROUNDS} for trees.

- *Trials* (guess): {FOLDS}, as the caption of figure 3-3 says. The other reading, {THIRDS}, stands beside it.
  Claims are tested by the corrected resampled t-test over trials; its result with the other trials is in the evidence.
- *Discretisation* (guess): quantiles, with at most 10 cuts per continuous attribute; the report does not print k. Other
  numbers of cuts, cuts at equal distances and no discretisation (every cut; of consistent stumps at most 254) are shown
  for cleve and hypothyroid. Cuts are computed from the training rows.
- *8 Gaussians* (guess): {SIZE} rows; the size is not printed, and others are shown. The report has one sample. Here are
  {DRAWS} (three with `--quick`), over which claims are tested. The figures show the first.
- *Project management* (figure 3-3): the data are not public. The figure is drawn for a generated stand-in (800 rows,
  40 % positive, 20 columns of which 8 matter, a tenth of the positives with exchanged labels), which the claims in
  general use as noisy data.
- *cleve*: seven of the 13 attributes are codes and taken as categories. Two thousandths of its cells are missing; the
  report speaks of many missing values.
- *Trees*: where positives are rare (hypothyroid), the tree starts at 0 with balanced classes, as §2.3.1 suggests; the
  table has the tree that starts at the prior, too.
- *Smoothing* (guess): 1/N is added to the weights of a leaf, so that pure leaves have a finite vote.
- *Lowest test error*: the minimum of the mean curve, as one reads it from a figure, which is a little too low.
"""
DISCUSSION = """
## Discussion
"""
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
