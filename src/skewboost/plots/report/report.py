"""The report and its HTML page."""

from __future__ import annotations

import base64
import datetime
import hashlib
import json
import os
from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from importlib import resources
from pathlib import Path
from typing import Any

from sklearn.utils import check_consistent_length

from skewboost import __version__
from skewboost.errors import InputError, MissingPackageError, checked_by_scikit_learn
from skewboost.files import write_whole
from skewboost.names import visible
from skewboost.plots.report.evidence import Evidence, compute_evidence
from skewboost.plots.report.explorer import ScoreTable
from skewboost.plots.report.number_format import class_name, class_names, count
from skewboost.plots.report.page_blocks import SvgFigures
from skewboost.plots.report.sections import all_sections, explorer_words, headline


@dataclass(eq=False, repr=False)
class Report:
    """One HTML file about a model, for people who decide whether to use it.

    The page works offline and on a phone, and can be printed. It starts with the results in a sentence, and contains a
    *cost explorer* with sliders for the costs of a miss and of a false alarm, the fraction of positives and the
    threshold. Further sections, where there is data for them, are about the training data, other models, learning
    curves, ROC and precision-recall curves, calibration, the effect of the features or the alternating tree, the
    certificate of a goal, limitations, and the parameters of the model.

    Parameters
    ----------
    model : fitted classifier
        A classifier for two classes, of skewboost or any other package. It is not changed.
    X : table of shape (n_samples, n_features)
        Rows that the model was not fitted to, with the columns of training. All results are for these rows.
    y : array-like of shape (n_samples,)
        Their labels.
    cost : number, "balanced", dict, matrix or None, default=None
        The costs of errors at which the sliders start: a number (how many false alarms a miss costs),
        ``{label: cost}``, or a matrix ``cost[true, predicted]``. None means the costs that the model was trained with,
        else "balanced".
    comparison : Comparison or None, default=None
        The result of `skewboost.evaluate.compare`.
    staged_curve : StagedCurve or None, default=None
        The result of `skewboost.evaluate.staged_curve`.
    training : tuple (X, y) or None, default=None
        The training rows, which are then described instead of the held-out rows.
    title : str or None, default=None
        The title of the page.
    sample_weight : array-like of shape (n_samples,) or None, default=None
        The weights of the rows of X.
    pos_label : label or None, default=None
        The positive class. None means that of the model, else the rarer class.
    threshold : float or None, default=None
        The probability of the positive class from which rows are flagged. None means the decisions of the model.
    notes : str, default=""
        Lines of text of your own, below the summary.

    References
    ----------
    .. [clopper1934] C. Clopper, E. Pearson, "The use of confidence or fiducial limits illustrated in the case of the
       binomial", Biometrika 26 (1934) 404-413. The intervals in the report.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from skewboost import CSRAClassifier
    >>> from skewboost.datasets import load_rare_cancer
    >>> from skewboost.plots import Report
    >>> X, y = load_rare_cancer()
    >>> X = X.iloc[:, :2]
    >>> clf = CSRAClassifier(cost=20, n_estimators=10).fit(X[::2], y[::2])
    >>> report = Report(clf, X[1::2], y[1::2])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     print(report.save(Path(folder, "report.html")).name)
    report.html
    >>> counts = report.explorer.counts_at(0.5)  # the numbers that the page shows at this threshold
    """

    model: Any
    X: Any
    y: Any
    _: KW_ONLY
    cost: Any = None
    comparison: Any = None
    staged_curve: Any = None
    training: Any = None
    title: str | None = None
    sample_weight: Any = None
    pos_label: Any = None
    threshold: float | None = None
    notes: str = ""

    def __post_init__(self) -> None:
        if self.training is not None:
            if not (isinstance(self.training, tuple | list) and len(self.training) == 2):
                kind = type(self.training).__name__
                raise InputError(f"training must be a tuple (X, y) of training rows and labels; got a {kind}.")
            with checked_by_scikit_learn():
                check_consistent_length(*self.training)
        self.figures = SvgFigures()
        import_jinja()

    @cached_property
    def evidence(self) -> Evidence:
        """Scores and decisions of the model on the held-out rows."""
        return compute_evidence(
            self.model, self.X, self.y, self.cost, self.pos_label, self.sample_weight, self.threshold
        )

    @cached_property
    def explorer(self) -> ScoreTable:
        """The numbers of the cost explorer."""
        e = self.evidence
        return ScoreTable.from_scores(
            e.positive, e.scores, threshold=e.threshold, pos_label=True, sample_weight=e.weights
        )

    def html(self) -> str:
        """Return the page as HTML."""
        e, table = self.evidence, self.explorer
        positive, negative = class_names(e.pos_label, e.neg_label)
        explorer_data = {
            **table.as_dict(),
            "kind": e.kind,
            "miss": e.costs.positive,
            "alarm": e.costs.negative,
            "per": "tested",
            "positiveName": positive,
            "negativeName": negative,
        }
        name = type(self.model).__name__
        return render_page(
            title=visible(self.title or "") or f"{name}: finding {class_name(e.pos_label)}",
            subtitle=f"{name} on {count(e.counts.total)} held-out rows",
            headline=headline(e),
            notes=self.notes,
            sections=all_sections(self),
            explorer_data=explorer_data,
            **explorer_words(e, table),
        )

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the page to a file, completely or not at all.

        Parameters
        ----------
        path : path
            The name of the file, such as "report.html".
        """
        return write_whole(path, self.html())


def import_jinja() -> Any:
    """Import Jinja2, or raise an error that names the extra to install."""
    try:
        import jinja2
    except ImportError as error:
        raise MissingPackageError('A report needs Jinja2: pip install "skewboost[report]".') from error
    return jinja2


def render_page(*, explorer_data: dict[str, Any], **context: Any) -> str:
    """Fill in the template. Text of the user is escaped, both in the page and in the data of the script."""
    jinja2 = import_jinja()
    from markupsafe import Markup

    files = resources.files("skewboost.plots.report")
    script, css, page = (files.joinpath(f).read_text("utf-8") for f in ("explorer.js", "page.css", "page.html.jinja"))
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    # "<" could end the script element; its escape is the same JSON
    data = json.dumps(explorer_data, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c")
    environment = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined)
    text: str = environment.from_string(page).render(
        **context,
        explorer_data=Markup(data),
        script=Markup(script),
        script_hash=Markup(f"sha256-{digest}"),
        css=Markup(css),
        version=__version__,
        date=datetime.date.today().isoformat(),
    )
    return text
