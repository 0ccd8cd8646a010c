"""The catalogue of all variants, for tests, documentation, the command line and benchmarks."""

from __future__ import annotations

from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

from skewboost.boosting.cost_use import COMPOUND as COMPOUND
from skewboost.boosting.cost_use import EXPONENT as EXPONENT
from skewboost.boosting.cost_use import ONCE as ONCE
from skewboost.works import cited

NONE = "none"  # how costs enter: not at all, or as below

# Which weak learners a variant can boost: any that answers its question; those that test one feature; stumps and trees;
# or only its own.
ANY, ONE_FEATURE, PARTITIONS, OWN = "any", "stumps and histograms", "stumps and trees", "its own"


@dataclass(frozen=True)
class Entry:
    """A variant and its properties."""

    name: str
    class_name: str
    works: tuple[str, ...]  # keys of references.toml
    equations: str
    needs: str = "labels"  # what it asks its weak learner for
    costs: str = NONE
    regularised: bool = False
    probabilistic: bool = True  # whether a link to P(y | x) follows from what it minimises
    shortcut: bool = True  # whether rounds on stumps and trees are as fast as AdaBoost's
    learners: str = ANY  # which learners it can boost
    reduces_to: str | None = None  # the plain variant that it equals with the parameters `neutral`
    neutral: dict[str, Any] = field(default_factory=dict)  # "criterion" is that of the stump
    plain: dict[str, Any] = field(default_factory=dict)  # the parameters of that plain variant
    verdict: str = ""

    @property
    def paper(self) -> str:
        """The authors and years of its papers."""
        return "; ".join(map(cited, self.works))

    @property
    def cost_sensitive(self) -> bool:
        """Whether it takes `cost` and `sample_cost`."""
        return self.costs != NONE

    @property
    def estimator(self) -> type:
        """The class."""
        return getattr(import_module("skewboost"), self.class_name)  # type: ignore[no-any-return]

    def make(self, n_rounds: int, **params: Any) -> Any:
        """Return an estimator with this number of rounds, whatever the class calls that parameter."""
        return self.estimator(**{self.estimator._rounds: n_rounds}, **params)  # type: ignore[attr-defined]


@dataclass(frozen=True)
class RelatedMethod:
    """A method that is not boosting, or not of this package, and what to use for it."""

    name: str
    works: tuple[str, ...]  # keys of references.toml
    use: tuple[str, ...]  # full names of classes
    advice: str

    @property
    def paper(self) -> str:
        """The authors and years of its papers."""
        return "; ".join(map(cited, self.works))


FREUND, SINGER, FRIEDMAN, JOSHI = ("freund1997",), ("schapire1999",), ("friedman2000",), ("joshi2001",)
TING, FAN, SUN, VIOLA = ("ting1998", "ting2000"), ("fan1999",), ("sun2005",), ("viola2002",)
CUENDET, MASNADI, NIKOLAOU = ("cuendet2002",), ("masnadi2011",), ("nikolaou2016",)
LI = ("li2009", "nyga2010")

_ENTRIES = (
    Entry(
        "AdaBoost", "AdaBoostClassifier", FREUND, "fig. 2",
        verdict="The classic. Ignores costs and is overconfident; AdaMEC adds the decision of minimum expected cost.",
    ),
    Entry(
        "RealBoost", "RealBoostClassifier", SINGER, "eq. 9", needs="labels or probabilities",
        verdict="The best plain booster of stumps: every leaf has its own confidence.",
    ),
    Entry(
        "GentleBoost", "GentleBoostClassifier", FRIEDMAN, "algorithm 4", needs="labels or responses or probabilities",
        verdict="The most stable plain booster on noisy data.",
    ),
    Entry(
        "LogitBoost", "LogitBoostClassifier", FRIEDMAN, "algorithm 3", needs="responses", shortcut=False,
        verdict="The best probabilities of the plain four; slower rounds.",
    ),
    Entry(
        "RareBoost", "RareBoostClassifier", JOSHI, "Nyga 2010, algorithm 15",
        reduces_to="RealBoost", plain={"criterion": "error"},
        verdict="RealBoost on error splits under another name; use RealBoost.",
    ),
    Entry(
        "Arcing", "ArcingClassifier", ("breiman1999arcing",), "Cuendet & Labbi 2002, §1.5", costs=ONCE, shortcut=False,
        reduces_to="AdaBoost", neutral={"potential": "exponential", "cost": 1.0},
        verdict="AdaBoost for any convex potential; the logistic one is more robust to label noise. Costs as in CGAda.",
    ),
    Entry(
        "CSB0", "CSB0Classifier", TING, "Nyga 2010, (2.47)", costs=COMPOUND, probabilistic=False,
        verdict="Drifts to recall 1 for any cost; of historical interest. Use CGAda or CSRA.",
    ),
    Entry(
        "CSB1", "CSB1Classifier", TING, "Nyga 2010, (2.48)", costs=COMPOUND, probabilistic=False,
        verdict="Costs compound with the rounds, and the update ignores the step. Use CGAda or CSRA.",
    ),
    Entry(
        "CSB2", "CSB2Classifier", TING, "Nyga 2010, (2.49)", costs=COMPOUND, probabilistic=False,
        reduces_to="AdaBoost", neutral={"cost": 1.0},
        verdict="Costs compound: m rounds apply c^m. Use CGAda or CSRA.",
    ),
    Entry(
        "AdaCost", "AdaCostClassifier", FAN, "Nyga 2010, algorithm 8", costs=EXPONENT, probabilistic=False,
        verdict="Defective: not AdaBoost at equal costs, and recall may fall as the cost rises. Use CGAda or CSRA.",
    ),
    Entry(
        "AdaC1", "AdaC1Classifier", SUN, "eq. 5 and 11", costs=EXPONENT, probabilistic=False,
        reduces_to="AdaBoost", neutral={"cost": 1.0},
        verdict="Decisions do not follow the cost, and weights oscillate if it is large. Use CGAda or CSRA.",
    ),
    Entry(
        "AdaC2", "AdaC2Classifier", SUN, "eq. 6 and 17", costs=COMPOUND, probabilistic=False,
        reduces_to="AdaBoost", neutral={"cost": 1.0},
        verdict="The best of its family, but costs compound: m rounds apply c^m. Set the m-th root, or use CSRA.",
    ),
    Entry(
        "AdaC3", "AdaC3Classifier", SUN, "eq. 7 and 22", costs=COMPOUND, probabilistic=False,
        reduces_to="AdaBoost", neutral={"cost": 1.0},
        verdict="Costs compound as in AdaC2. Set the m-th root, or use CSRA.",
    ),
    Entry(
        "AdaC2M1", "AdaC2M1Classifier", ("sun2006",), "§3", costs=COMPOUND, probabilistic=False,
        learners=PARTITIONS, reduces_to="AdaBoost", neutral={"cost": 1.0, "estimator": "stump"},
        verdict="AdaC2 for many classes; costs compound, and it stops when a round is wrong on half of the weight. "
        "Use AdaBoostMH.",
    ),
    Entry(
        "AsymmetricAdaBoost", "AsymmetricAdaBoostClassifier", VIOLA, "§3", costs=ONCE,
        reduces_to="AdaBoost", neutral={"cost": 1.0},
        verdict="Sound: costs are spread over all rounds. One of three that Nikolaou et al. (2016) found consistent.",
    ),
    Entry(
        "FavoredBoost", "FavoredBoostClassifier", CUENDET, "§2.4.5", needs="labels or probabilities", costs=EXPONENT,
        probabilistic=False,
        reduces_to="RealBoost", neutral={"cost": 1.0},
        verdict="Costs make weights move faster in both directions; recall does not follow the cost. Use CSRA.",
    ),
    Entry(
        "AdaBoostMH", "AdaBoostMHClassifier", SINGER, "§7", costs=ONCE, learners=PARTITIONS,
        reduces_to="RealBoost", neutral={"cost": 1.0},
        verdict="RealBoost for many classes or labels that share their tests: small models that need more rounds.",
    ),
    Entry(
        "ConsistentBoost", "ConsistentBoostClassifier", CUENDET, "§2.2", costs=ONCE, probabilistic=False,
        shortcut=False, learners=ONE_FEATURE,
        verdict="Damps features whose stumps contradict each other: overfits later, but is underconfident. Costs as in "
        "CGAda.",
    ),
    Entry(
        "AlternatingTree", "AlternatingTreeClassifier", ("freund1999",), "§4; Cuendet & Labbi 2002, §2.3",
        costs=ONCE, shortcut=False, learners=OWN,
        verdict="A readable model: ten rounds fit on a page. Overfits sooner than stumps; use early stopping.",
    ),
    Entry(
        "CSRA", "CSRAClassifier", LI, "Nyga 2010, algorithm 12", needs="labels or probabilities", costs=ONCE,
        reduces_to="RealBoost", neutral={"cost": 1.0}, plain={"criterion": "gini"},
        verdict="Sound, fast and stable for any cost: the first choice among the variants.",
    ),
    Entry(
        "CSGA", "CSGAClassifier", LI, "Nyga 2010, algorithm 13", needs="labels or responses or probabilities",
        costs=ONCE, reduces_to="GentleBoost", neutral={"cost": 1.0},
        verdict="Like CSRA, and more stable on noisy data; a very large cost needs many rounds.",
    ),
    Entry(
        "CSLB", "CSLBClassifier", LI, "Nyga 2010, algorithm 14", needs="responses", costs=ONCE, shortcut=False,
        reduces_to="LogitBoost", neutral={"cost": 1.0},
        verdict="Sound; good probabilities, slower rounds.",
    ),
    Entry(
        "CSAdaBoost", "CSAdaBoostClassifier", MASNADI, "algorithm 1, eq. 40 and 41", costs=ONCE,
        reduces_to="AdaBoost", neutral={"cost": 1.0},
        verdict="Sound on large data; on rows that it has learned it loses the costs, or reverses them. CSRA does not.",
    ),
    Entry(
        "CSRealBoost", "CSRealBoostClassifier", MASNADI, "algorithm 2", costs=ONCE,
        reduces_to="RealBoost", neutral={"cost": 1.0, "criterion": "z"},
        verdict="Sound on large data; on small, nearly separable data it loses the costs. Best with Histogram().",
    ),
    Entry(
        "CSGentleBoost", "CSGentleBoostClassifier", ("masnadi2007",), "§4", needs="responses", costs=ONCE,
        shortcut=False, reduces_to="GentleBoost", neutral={"cost": 1.0},
        verdict="Sound on large data; on small tables it loses the costs, and its decisions are dearer. Use CSGA.",
    ),
    Entry(
        "CSLogitBoost", "CSLogitBoostClassifier", MASNADI, "algorithm 3", needs="responses", costs=ONCE, shortcut=False,
        reduces_to="LogitBoost", neutral={"cost": 1.0},
        verdict="Sound; LogitBoost on another scale with its threshold moved to the minimum-risk boundary.",
    ),
    Entry(
        "AdaBoostReg", "AdaBoostRegClassifier", ("ratsch2001",), "Nyga 2010, algorithm 16",
        costs=ONCE, regularised=True, shortcut=False,
        verdict="Regularises examples of large weight: set C per class, or the rare class is lost. Costs as in CGAda.",
    ),
    Entry(
        "WeightBoost", "WeightBoostClassifier", ("jin2003",), "Nyga 2010, algorithm 17", costs=ONCE,
        regularised=True, probabilistic=False, shortcut=False,
        reduces_to="AdaBoost", neutral={"beta": 0.0, "cost": 1.0},
        verdict="Robust to label noise; costs as in CGAda; prediction must replay all rounds.",
    ),
    Entry(
        "SoftMarginBoost", "SoftMarginBoostClassifier", CUENDET, "§2.4.4", costs=EXPONENT, regularised=True,
        probabilistic=False, shortcut=False,
        reduces_to="RealBoost", neutral={"cost": 1.0, "C": 0.0}, plain={"line_search": True},
        verdict="Soft margins with costs; recall does not follow the cost. Use CSRA, or GentleBoost for noisy labels.",
    ),
    Entry(
        "AdaMEC", "AdaMECClassifier", NIKOLAOU, "§4", costs=ONCE,
        reduces_to="AdaBoost", neutral={"cost": 1.0},
        verdict="AdaBoost with the minimum-cost decision; one model serves all costs. With calibrate= among the best.",
    ),
    Entry(
        "CGAda", "CGAdaClassifier", NIKOLAOU, "§4", costs=ONCE,
        reduces_to="AdaBoost", neutral={"cost": 1.0},
        verdict="Sound and simple: AdaBoost from weights in proportion to cost; with calibrate= among the best.",
    ),
)  # fmt: skip


_RELATED = (
    RelatedMethod(
        "Bagging", ("breiman1996",), ("sklearn.ensemble.BaggingClassifier",),
        "Averages classifiers of bootstrap samples. With oob_score=True each row is predicted by the members that did "
        "not see it: oob_score_ is their accuracy, oob_decision_function_ their probabilities. For costs put it into "
        "MinimumRiskClassifier; for a rare class take UnderBaggingClassifier, for large data PastingVotesClassifier.",
    ),
    RelatedMethod(
        "Random forest", ("breiman2001",), ("sklearn.ensemble.RandomForestClassifier",),
        "Bagging of trees that draw columns at every node. oob_score=True as for bagging, or a measure such as "
        "oob_score=skewboost.metrics.g_mean. For costs put it into MinimumRiskClassifier; SkewBoostClassifier includes "
        "forests.",
    ),
    RelatedMethod(
        "MetaCost", ("domingos1999",), ("skewboost.MinimumRiskClassifier",),
        "Gives training rows the label of least expected cost, by the probabilities of bagging, and trains on these "
        "labels. MinimumRiskClassifier decides in the same way, but on new rows: around any classifier, for any cost "
        "matrix, and costs can be changed without training.",
    ),
    RelatedMethod(
        "Cost-proportionate sampling", ("zadrozny2003",), ("skewboost.CGAdaClassifier", "skewboost.CSRAClassifier"),
        "Weights or draws training rows in proportion to their cost. fit(sample_cost=...) starts from these weights; "
        "with resample=True each round is fitted to rows drawn by weight.",
    ),
    RelatedMethod(
        "One-class learning", ("scholkopf2001",), ("sklearn.svm.OneClassSVM", "sklearn.ensemble.IsolationForest"),
        "Describes the frequent class only, and flags what differs from it. Use it if there are no positives to learn "
        "from. With labelled positives take a cost-sensitive booster, which learns from both classes.",
    ),
)  # fmt: skip


# The default of `skewboost fit`, named in its advice and in the documentation; and the variant to begin with
RECOMMENDED, RECOMMENDED_VARIANT = "SkewBoost", "CSRA"


def catalogue() -> tuple[Entry, ...]:
    """Return all variants.

    Returns
    -------
    tuple of Entry
        The name, class, paper and equations of each variant, its properties, and a verdict.

    Examples
    --------
    >>> import skewboost
    >>> [entry.name for entry in skewboost.catalogue() if entry.cost_sensitive and entry.regularised]
    ['AdaBoostReg', 'WeightBoost', 'SoftMarginBoost']
    """
    return _ENTRIES


def related_methods() -> tuple[RelatedMethod, ...]:
    """Return methods of the literature that are not variants of boosting, and what to use for them.

    Returns
    -------
    tuple of RelatedMethod
        The name and paper of each method, the classes to use, and how they are used with costs and a rare class.

    Examples
    --------
    >>> import skewboost
    >>> [(method.name, *method.use) for method in skewboost.related_methods()][0]
    ('Bagging', 'sklearn.ensemble.BaggingClassifier')
    """
    return _RELATED


HEADER = """\
# The catalogue

All variants of the literature, as `skewboost.catalogue()` lists them. **Take `SkewBoostClassifier`
([portfolio.md](portfolio.md)) unless you need one of them**; [choosing.md](choosing.md) has the measurements. Where a
paper prints another form, [as_printed.md](as_printed.md) says why, and which switch gives it. The class of a variant is
its name with `Classifier` appended; its docstring has the formula and an example. *Costs* says how costs enter. *Once*
means that a cost has its plain meaning. *In every round* means that m rounds apply its m-th power. *In the exponent*
means that weights move faster in both directions. `fit` warns (`skewboost.errors.CostWarning`) if the latter two are
asked for a cost. *P* marks variants whose loss defines a probability P(y | x). *Fast* marks variants whose rounds on
stumps are as cheap as those of AdaBoost.

| name | paper | equations | costs | regularised | P | fast | verdict |
|---|---|---|---|---|---|---|---|
"""


RELATED_HEADER = """
## Related methods

Methods that are no variants of boosting, as `skewboost.related_methods()` lists them, and what to use for them.

| name | paper | use | how |
|---|---|---|---|
"""


def as_markdown() -> str:
    """Return the catalogue as a page; ``python -m skewboost.boosting.catalogue > docs/catalogue.md`` writes it."""
    rows = []
    for e in _ENTRIES:
        flags = ["✓" if flag else "" for flag in (e.regularised, e.probabilistic, e.shortcut)]
        costs = e.costs if e.cost_sensitive else ""
        rows.append(_row(f"`{e.name}`", _linked(e.works), e.equations, costs, *flags, e.verdict))
    related = [_row(m.name, _linked(m.works), ", ".join(f"`{u}`" for u in m.use), m.advice) for m in _RELATED]
    return HEADER + "".join(rows) + RELATED_HEADER + "".join(related)


def _linked(works: tuple[str, ...]) -> str:
    return "; ".join(f"[{cited(key)}](references.md#{key})" for key in works)


def _row(*cells: str) -> str:
    return "| " + " | ".join(cells) + " |\n"


if __name__ == "__main__":
    print(as_markdown(), end="")
