"""Error curves of boosted stumps and alternating trees (Cuendet and Labbi 2002)."""

from __future__ import annotations

from skewboost_reproductions.experiment import Experiment, Results
from skewboost_reproductions.page_parts import Claims, Part
from skewboost_reproductions.papers.cuendet.claims import Curves, all_claims
from skewboost_reproductions.papers.cuendet.curve_tables import all_parts
from skewboost_reproductions.papers.cuendet.curve_trials import (
    DRAWS,
    FOLDS,
    ROUNDS,
    SIZE,
    THIRDS,
    TREE_ROUNDS,
    TRIALS,
    tasks,
)


def report(results: Results, quick: bool) -> list[Part]:
    """Return the parts of the page."""
    curves = Curves(results, quick)
    return [Claims(all_claims(curves)), *all_parts(curves)]


PROTOCOL = f"""
Training and test errors after each round, averaged over {TRIALS} trials of cross-validation. Plain stumps are those of
confidence-rated AdaBoost; a missing value abstains. *New Z* chooses stumps by Z̄ and has opposite signs on their sides.
Consistent stumps and favoured stumps (β is the ratio of the class frequencies) are as in the report, and alternating
trees, too, but for the update of the weights after the root, which the report omits. There are {ROUNDS} rounds,
{TREE_ROUNDS} for trees; the report says so for some of the data sets, for the others it is a guess.

- *Trials* (guess): {FOLDS}, as the caption of figure 3-3 says. The other reading, {THIRDS}, stands beside it.
  Claims are tested by the corrected resampled t-test over trials; its result with the other trials is in the evidence.
- *Discretisation*: percentiles, as in the report, which does not print how many; at most 10 cuts per continuous
  attribute are a guess. Other
  numbers of cuts, cuts at equal distances and no discretisation (every cut; of consistent stumps at most 254) are shown
  for cleve and hypothyroid. Cuts are computed from the training rows.
- *8 Gaussians* (guess): {SIZE} rows; the size is not printed, and others are shown. The report has one sample. Here are
  {DRAWS} (three with `--quick`), over which claims are tested. The figures show the first.
- *Project management* (figure 3-3): the data are not public. The figure is drawn for a generated stand-in (800 rows,
  40 % positive, 20 columns of which 8 matter, a tenth of the positives with exchanged labels). Claims about noisy data
  are about it and cleve; the other claims in general are about the three public sets.
- *cleve*: seven of the 13 attributes are codes and taken as categories (a guess). Two thousandths of its cells are
  missing; the report speaks of many missing values.
- *Trees*: where positives are rare (hypothyroid), the tree starts at 0 with balanced classes, as §2.3.1 suggests; the
  table has the tree that starts at the prior, too.
- *Smoothing*: 1/N is added to the weights of a leaf, so that pure leaves have a finite vote. The report has "on the
  order of 1/N" for confidence-rated stumps; the same for Z̄ and trees is a guess.
- *Lowest test error*: the minimum of the mean curve, as one reads it from a figure, which is a little too low.
"""
DISCUSSION = """
## Discussion

**What is said about training errors holds**: they fall to the end with all boosters, below 3 % with stumps on kr-vs-kp,
and much faster with trees. So do the statements on large or clear differences in test errors: the tree on kr-vs-kp
(0.5 % against 3 %), percentiles against equal distances on hypothyroid, and both criteria Z alike on each data set.
Favoured stumps are unstable where positives are rare, on hypothyroid; the complete cost-sensitive search is less so
([cuendet-complete](cuendet-complete.md)).

**What is said about which booster is best cannot be decided**, on cleve and hypothyroid at least. There the differences
are of the size of one or two rows per trial: on cleve plain and consistent stumps are the same for three rounds, in the
last of which each has its lowest test error. 20 folds of 303 rows have a standard error of 2.5 points, and two standard
deviations over trials are 17 points, more than any difference. The claim that consistent boosting is better than all
others has a difference of 0.0 ± 0.1 points. That the tree overfits more than stumps on cleve is not significant
either, although it is visible in figure 3-5: it is true of 20 folds (a rise of 7 points against 3), but not with a
third held out (3 against 4).

**Overfitting on the eight normal distributions depends on the sample**, whose size is not printed: from the lowest test
error to round 200 it rises by 4.7 points with 200 rows and by 0.4 with 2000.

**Freund and Mason's errors on hypothyroid are reached with every cut.** The report suspects its discretisation, and is
right: with every cut the alternating tree has its lowest error, 0.8 %, after 8 rounds (0.8 % after 7 in their paper),
and stumps 1.1 % at the end. With ten cuts neither gets below 1.2 %, and 20 or 50 are in between. More rounds do not
help ([cuendet-rounds](cuendet-rounds.md)).

**The tree that starts at 0 is the slower one here.** §2.3.1 suggests balanced classes where positives are rare. After
four rounds its error trebles, and needs 50 rounds to come down again; its training error is then 0.5 %, not 0. The
tree that starts at the prior has 0.2 %.
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
