"""The report itself."""

from __future__ import annotations

import base64
import datetime
import hashlib
import json
import os
from functools import cached_property
from importlib import resources
from pathlib import Path
from typing import Any

from sklearn.utils import check_consistent_length

from skewboost import __version__
from skewboost.errors import InputError, MissingPackageError
from skewboost.files import write_whole
from skewboost.names import visible
from skewboost.plots.report.evidence import Evidence, gather
from skewboost.plots.report.explorer import ScoreTable
from skewboost.plots.report.sections import Subject, all_sections, explorer_words, headline
from skewboost.plots.report.words import class_name, class_names, count


class Report:
    """One HTML file about a model, for those who decide whether to use it.

    It opens without a network and on a phone, and can be printed. It has, as far as there is something to say: what
    the model finds in a sentence, a *cost explorer* with sliders for the costs of a miss and of a false alarm, the
    share of positives and the threshold, the data, a comparison with other models, learning curves, ROC and
    precision-recall curves, calibration, what the features do or the alternating tree, a certificate, what to mind.

    Parameters
    ----------
    model : fitted classifier
        Of skewboost or any other, for two classes. It is not changed.
    X : table of shape (n_samples, n_features)
        Rows that the model has not been fitted to, with the columns of training. All numbers are about these.
    y : array-like of shape (n_samples,)
        Their labels.
    cost : number, "balanced", dict, matrix or None, default=None
        What mistakes cost, where the sliders start: a number says how many false alarms a miss costs, or
        ``{label: cost}``, or a matrix ``cost[true, predicted]``. None: as the model was told, else "balanced".
    comparison : Comparison or None, default=None
        What `skewboost.evaluate.compare` found.
    learning_curve : StagedCurve or None, default=None
        What `skewboost.evaluate.staged_curve` found.
    training : tuple (X, y) or None, default=None
        The rows of training, to be described. None: the held-out rows are.
    title : str or None, default=None
        Of the page.
    sample_weight : array-like of shape (n_samples,) or None, default=None
        How many examples a row of X stands for.
    pos_label : label or None, default=None
        The positive class. None: as the model has it, else the rarer one.
    threshold : float or None, default=None
        Rows are flagged from this probability of the positive class on. None: as the model decides.
    notes : str, default=""
        A few lines of your own, below the summary.

    References
    ----------
    .. [1] C. Clopper, E. Pearson, "The use of confidence or fiducial limits illustrated in the case of the binomial",
       Biometrika 26 (1934) 404-413. The intervals in the report.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from skewboost import CSRAClassifier
    >>> from skewboost.datasets import load_rare_cancer
    >>> from skewboost.plots import Report
    >>> X, y = load_rare_cancer()
    >>> X = X.iloc[:, :3]
    >>> clf = CSRAClassifier(cost=20, n_estimators=10).fit(X[::2], y[::2])
    >>> report = Report(clf, X[1::2], y[1::2])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     print(report.save(Path(folder, "report.html")).name)
    report.html
    >>> counts = report.explorer.counts_at(0.5)  # the numbers that the page shows at this threshold
    """

    def __init__(
        self,
        model: Any,
        X: Any,
        y: Any,
        *,
        cost: Any = None,
        comparison: Any = None,
        learning_curve: Any = None,
        training: Any = None,
        title: str | None = None,
        sample_weight: Any = None,
        pos_label: Any = None,
        threshold: float | None = None,
        notes: str = "",
    ) -> None:
        self.model = model
        self.X = X
        self.y = y
        self.cost = cost
        self.comparison = comparison
        self.learning_curve = learning_curve
        self.training = training
        self.title = title
        self.sample_weight = sample_weight
        self.pos_label = pos_label
        self.threshold = threshold
        self.notes = notes
        if training is not None and not (isinstance(training, tuple | list) and len(training) == 2):
            raise InputError(f"training must be the rows and labels (X, y) of training; got {type(training).__name__}.")
        if training is not None:
            check_consistent_length(*training)
        import_jinja()

    @cached_property
    def evidence(self) -> Evidence:
        """What the model says of the rows."""
        return gather(self.model, self.X, self.y, self.cost, self.pos_label, self.sample_weight, self.threshold)

    @cached_property
    def explorer(self) -> ScoreTable:
        """The numbers of the cost explorer."""
        e = self.evidence
        return ScoreTable.from_scores(
            e.positive, e.scores, threshold=e.threshold, pos_label=True, sample_weight=e.weights
        )

    def html(self) -> str:
        """The page.

        Returns
        -------
        str
        """
        e, table = self.evidence, self.explorer
        subject = Subject(self.model, self.X, e, table, self.comparison, self.learning_curve, self.training)
        return page(
            title=visible(self.title or "") or f"{type(self.model).__name__}: finding {class_name(e.pos_label)}",
            subtitle=f"{type(self.model).__name__} on {count(e.counts.total)} held-out rows",
            headline=headline(e),
            notes=self.notes,
            sections=all_sections(subject),
            explorer_data=explorer_data(e, table),
            **explorer_words(e, table),
        )

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the page to a file, whole or not at all.

        Parameters
        ----------
        path : path
            Of the file, "report.html", say.

        Returns
        -------
        Path
        """
        return write_whole(path, self.html())


def explorer_data(evidence: Evidence, table: ScoreTable) -> dict[str, Any]:
    """What `explorer.js` reads."""
    positive, negative = class_names(evidence.pos_label, evidence.neg_label)
    return {
        **table.as_dict(),
        "kind": evidence.kind,
        "miss": evidence.costs.positive,
        "alarm": evidence.costs.negative,
        "per": "tested",
        "positiveName": positive,
        "negativeName": negative,
    }


def import_jinja() -> Any:
    """Jinja2, which is an extra, or an error that says so."""
    try:
        import jinja2
    except ImportError as error:
        raise MissingPackageError('a report needs Jinja2: pip install "skewboost[report]".') from error
    return jinja2


def page(*, explorer_data: dict[str, Any], **context: Any) -> str:
    """Fill in the template. What comes from the user is escaped, in the page and in the data for the script."""
    jinja2 = import_jinja()
    from markupsafe import Markup

    files = resources.files("skewboost.plots.report")
    script = files.joinpath("explorer.js").read_text(encoding="utf-8")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    # "<" could end the script element; as an escape it is the same JSON
    data = json.dumps(explorer_data, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c")
    environment = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined)
    template = environment.from_string(files.joinpath("page.html.jinja").read_text(encoding="utf-8"))
    text: str = template.render(
        **context,
        explorer_data=Markup(data),
        script=Markup(script),
        script_hash=Markup(f"sha256-{digest}"),
        css=Markup(files.joinpath("page.css").read_text(encoding="utf-8")),
        version=__version__,
        date=datetime.date.today().isoformat(),
    )
    return text
