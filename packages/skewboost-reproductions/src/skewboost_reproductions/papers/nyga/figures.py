"""The figures of Nyga's thesis."""

from __future__ import annotations

from skewboost_reproductions.experiment import Experiment, Results, Task
from skewboost_reproductions.page_parts import Claims, Part
from skewboost_reproductions.papers.nyga.pictures import (
    appendix_banana,
    appendix_crash,
    appendix_precision,
    figure_1_1,
    figure_1_3,
    figure_1_5,
    figure_2_1,
    figure_2_2,
    figure_2_3,
    figure_2_4,
    figure_3_1,
    figure_3_2,
    figure_3_3,
    figure_3_4,
    figure_3_5,
    figure_3_6,
    figure_3_7,
    figure_3_8,
    figure_4_1,
)

PICTURES = [
    module.PICTURE
    for module in (
        figure_1_1, figure_1_3, figure_1_5, figure_2_1, figure_2_2, figure_2_3, figure_2_4, figure_3_1, figure_3_2,
        figure_3_3, figure_3_4, figure_3_5, figure_3_6, figure_3_7, figure_3_8, figure_4_1, appendix_banana,
        appendix_crash, appendix_precision,
    )
]  # fmt: skip


def tasks(quick: bool) -> list[Task]:
    """Return the tasks of all figures, the slow ones of the appendix first."""
    return [task for picture in reversed(PICTURES) for task in picture.tasks(quick)]


def report(results: Results, quick: bool) -> list[Part]:
    """Return the claims about all figures, and the figures."""
    claims = Claims([claim for picture in PICTURES for claim in picture.numbered_claims(results, quick)])
    return [claims, *(part for picture in PICTURES for part in picture.parts(results, quick))]


_CHOICES = "\n".join(f"- *{picture.number}*: {' '.join(picture.choices.split())}" for picture in PICTURES)
PROTOCOL = f"""
The figures whose contents follow from the text, and of appendix B those that show boundaries or whose captions say
something. Figures 1.2 and 1.4 are schemes. The other curves of appendix B are drawn in [nyga-impact](nyga-impact.md)
and [nyga-costs](nyga-costs.md). Each claim of the text about a figure is tested over repetitions: draws of generated
data, pairs of training and test rows of the banana data, or folds of repeated cross-validation, whose errors take the
overlap of training rows into account. Data sets, learners and numbers of rounds are those of the experiments about
tables 3.2 to 3.5, unless stated otherwise.

{_CHOICES}
"""
DISCUSSION = """
## Discussion

*One line and 40 (1.3).* One line errs on 35 % of the points. A second one cannot improve it: the vote of two
classifiers is that of the one with the larger step, and the text is right from the third on only.

*Stumps or trees (2.1).* With stumps, as the thesis says, the training error is 4.5 % after four rounds, and one fit in
four still has errors after a hundred. With trees of 8 leaves it is zero after three or four rounds, and the test error
then falls from 4.6 % to 3.3 %. This is what the text describes, so the figure was probably made with larger trees. Not
all margins grow: the smallest does, the median falls, and the 5 % quantile stays where it is.

*One size of trees does not give all of 3.3.* The size is not printed. With 3 leaves RealBoost has no training errors
after about 100 rounds, as printed, but AdaBoost-Reg keeps improving until the end. With 8 leaves it stagnates after 30
rounds, at a training error well above 0 for C from 40 on, but RealBoost needs 30 rounds, not 100. In both cases
AdaBoost-Reg has far fewer insular regions, and a smaller test error, not a larger one. Its F1 is clearly larger with 8
leaves only.

*Slips.* The minus sign of (2.27). AdaBoost solves the three points after 3 rounds, not 4, whichever of several equal
stumps is taken (2.3). AdaC1 oscillates there although every α is positive: the reason is the exponent c α, which takes
more weight from the costly point when it is right than it gives to the others when they are wrong.

*Hard margins (2.4).* The sketch fits the SVM. Stumps cannot follow a diagonal, so AdaBoost is far from the optimum
without noise; but a single outlier costs it one percentage point, as it cuts a narrow strip, and the SVM fourteen.

*AdaC1 (3.5)* settles for costs up to 2, where its steps shrink to zero within 80 rounds, with errors left. From 3 on it
never does. On the banana data precision and recall move against each other. On the cancer data they mostly jump
together, as every other round exchanges most predictions.

*AdaBoost-Reg on the cancer data (3.4)* is not best near C = 0: F1 is largest at about 30, though the difference is not
significant. A much larger C does harm. WeightBoost is not better than it.

*Costs (3.7).* A recall of 85 % takes c = 1.2, and one of 95 % c = 8100: the trees leave no errors on the training rows,
and costs hardly change a decision that looks certain.

*Why recall drops in 3.8.* Spread over the rounds as algorithm 13 has it, c = 10 changes next to nothing on the
generated data. If c = 10 is applied in every round, recall drops after about 15 rounds (35 in the thesis), from 0.83 to
0.62. The thesis conjectures that misclassified positives overwhelm the negatives; for this reading the reverse is true.
The negatives soon have all the weight, so GentleBoost adds -1, round after round, in every leaf with a negative. Only
attacks that some stump separates from all negatives gain +1. The others lose what they had gained in the first rounds,
until they are taken for normal connections. Precision then rises to 1. That it drops as well, as printed, is not found.

*Captions of appendix B.* The training error of AdaBoost-Reg does not stop decreasing with trees of 3 leaves (B.4; see
3.3 for 8). On the generated crash data 100 rounds gain nothing over the first one (B.7), and LogitBoost gets worse.
Three of four algorithms reach a precision of 100 % (B.11), by flagging next to nothing ([nyga-goals](nyga-goals.md)
has their recall); AdaC2 comes to 98 %.
"""
EXPERIMENT = Experiment(
    name="nyga-figures",
    title="The figures of a thesis on boosting imbalanced data",
    source="nyga2010",
    shows="figures 1.1, 1.3, 1.5, 2.1 to 2.4, 3.1 to 3.8, 4.1 and B.1 to B.11",
    revision=2,
    protocol=PROTOCOL,
    tasks=tasks,
    report=report,
    discussion=DISCUSSION,
)
