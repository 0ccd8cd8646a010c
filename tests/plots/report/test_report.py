"""The page: what is in it, what must not be, and what happens to bad input."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from skewboost import AlternatingTreeClassifier, CSRAClassifier, GoalSearchCV, SkewBoostClassifier
from skewboost.datasets import load_rare_cancer
from skewboost.evaluate import compare, staged_curve
from skewboost.metrics import Counts
from skewboost.plots import Report
from skewboost.plots.report.explorer import ScoreTable
from skewboost.plots.report.number_format import interval
from skewboost.plots.report.page_blocks import svg_element
from skewboost.plots.report.report import render_page

VOID = {"meta", "link", "input", "br", "img", "hr"}


class Page(HTMLParser):
    """Elements, ids, references and texts; complains where tags do not match."""

    def __init__(self, html):
        super().__init__()
        self.open, self.ids, self.references, self.texts, self.headings = [], [], [], [], []
        self.data = None
        self.feed(html)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        if tag not in VOID:
            self.open.append(tag)
        for name, value in attributes:
            if name == "id":
                self.ids.append(value)
            if name in ("src", "href", "xlink:href", "action", "data", "poster", "srcset"):
                self.references.append(value)
            assert not name.startswith("on")
            self.references += re.findall(r"url\(([^)]*)\)", value or "")

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] == "style":
            self.references += re.findall(r"url\(([^)]*)\)|@import (.*)", data)
        if self.open and self.open[-1] == "script":
            self.data = self.data or json.loads(data)
        elif self.open and self.open[-1] == "h2":
            self.headings.append(data)
        else:
            self.texts.append(data)

    @property
    def text(self):
        return " ".join(self.texts)


@pytest.fixture(scope="module")
def cancer():
    X, y = load_rare_cancer()
    X = X.iloc[:, 20:23]
    return X[::2], y[::2], X[1::2], y[1::2]


@pytest.fixture(scope="module")
def booster(cancer):
    return CSRAClassifier(cost=20, n_estimators=10).fit(cancer[0], cancer[1])


@pytest.fixture(scope="module")
def whole(cancer, booster):
    X, y, X_new, y_new = cancer
    report = Report(booster, X_new, y_new, training=(X, y), title="Rare <cancer>", notes="One line\n& another")
    return report, report.html()


def test_the_page_is_whole_and_refers_to_nothing_outside(whole):
    page = Page(whole[1])
    assert len(page.ids) == len(set(page.ids))
    for reference in page.references:
        assert reference.startswith(("#", "data:")), reference
        if reference.startswith("#"):
            assert reference[1:] in page.ids
    assert "default-src 'none'" in whole[1]
    assert page.headings[:3] == ["What it finds", "What do mistakes cost you?", "The data"]
    assert "Rare <cancer>" in page.text
    assert "& another" in page.text


def test_the_headline_says_what_the_model_does(whole, cancer, booster):
    _, _, X, y = cancer
    counts = Counts.of(np.asarray(y) == booster.pos_label_, booster.predict(X) == booster.pos_label_)
    saved = 1 - (20 * counts.fn + counts.fp) / min(20 * counts.positives, counts.negatives)
    lead = Page(whole[1]).text
    assert f"finds {100 * counts.recall:.2g}" in lead
    assert "a miss costs 20 false alarms" in lead
    assert f"saves {100 * saved:.2g}" in lead


def test_costs_are_given_or_those_of_the_model_or_balanced(cancer, booster, as_it_says):
    _, _, X, y = cancer
    for cost, expected, threshold in ((None, (20, 1), 1 / 21), (5, (5, 1), 1 / 21), ({0: 2, 1: 8}, (8, 2), 1 / 21)):
        e = Report(booster, X, y, cost=cost).evidence
        assert (e.costs.positive, e.costs.negative) == expected
        assert e.threshold == pytest.approx(threshold, rel=1e-5)  # the model's own, whatever the report is told
    p = np.linspace(0.01, 0.99, 50)[:, None]
    e = Report(as_it_says(), p, (p[:, 0] > 0.8).astype(int)).evidence
    assert e.costs.ratio == pytest.approx(40 / 10)
    assert e.threshold == 0.5


def test_the_own_threshold_gives_the_models_own_answers(whole, cancer, booster):
    report, _ = whole
    assert report.explorer.counts_at(report.evidence.threshold) == report.evidence.counts
    assert report.explorer.own is not None


QUICK = {"effort": "quick", "random_state": 0}
MODELS = {
    "booster": CSRAClassifier(n_estimators=5, cost=3),
    "portfolio": SkewBoostClassifier(**QUICK, cost=3),
    "portfolio with a goal": SkewBoostClassifier(**QUICK, goal="recall >= 50%", confidence=0.5),
    "goal of a portfolio": GoalSearchCV(
        SkewBoostClassifier(**QUICK), "recall >= 50%", confidence=0.5, cv=2, random_state=0
    ),
}


@pytest.mark.sample(2)
@pytest.mark.filterwarnings("ignore::skewboost.goals.LittleUseWarning")
@pytest.mark.parametrize("name", MODELS)
def test_names_from_outside_do_no_harm(name):
    rng = np.random.default_rng(0)
    evil = "</script><script>alert(1)</script>"
    X = pd.DataFrame({evil: rng.normal(size=120), "<b>&'\"": rng.choice(["<i>a", "</style>"], 120)})
    y = np.where(X[evil] + 0.3 * rng.normal(size=120) > 1, "<img src=x onerror=alert(1)>", "<!--")
    report = Report(clone(MODELS[name]).fit(X, y), X, y, title=evil, notes=evil)
    html = report.html()
    page = Page(html)
    assert report.explorer.counts_at(report.evidence.threshold) == report.evidence.counts
    assert html.count("<script") == 2
    assert html.count("</script") == 2
    assert "<img" not in html
    assert page.data["positiveName"] == "<img src=x onerror=alert(1)>"
    assert evil in page.text


@pytest.mark.slow
def test_many_rows_make_no_large_file(as_it_says):
    """Scores are binned, and Matplotlib simplifies the curves; 20 000 rows and a million give files of one size."""
    rng = np.random.default_rng(0)
    y = rng.random(20_000) < 0.01
    X = rng.beta(np.where(y, 5, 1), 5)[:, None]
    html = Report(as_it_says((False, True)), X, y, cost=20).html()
    assert len(html.encode()) < 300_000
    data = Page(html).data
    assert sum(data["positives"]) + sum(data["negatives"]) == 20_000


@pytest.mark.parametrize(
    "model",
    [make_pipeline(StandardScaler(), LogisticRegression()), make_pipeline(StandardScaler(), LinearSVC())],
)
def test_any_classifier_of_two_classes_will_do(cancer, model, only):
    only("explanation", "caveats")
    X, y, X_new, y_new = cancer
    report = Report(model.fit(X, y), X_new, y_new)
    page = Page(report.html())
    assert "Why it decides as it does" in page.headings
    assert report.explorer.counts_at(report.evidence.threshold) == report.evidence.counts
    assert page.data["kind"] == ("probability" if hasattr(model, "predict_proba") else "decision score")
    assert "No costs were given" in page.text


def test_a_tree_is_drawn_and_written_out(cancer, only):
    only("explanation")
    X, y, X_new, y_new = cancer
    model = AlternatingTreeClassifier(max_rounds=3).fit(X, y)
    html = Report(model, X_new, y_new).html()
    assert model.export_text() in Page(html).text


def test_a_goal_has_its_certificate_and_frontier(cancer, only):
    only("certificate")
    X, y = load_rare_cancer()
    X = X.iloc[:, 20:22]
    model = GoalSearchCV(
        CSRAClassifier(n_estimators=5), "recall >= 0.6", max_points=3, cv=2, random_state=0, allow_unmet=True
    ).fit(X, y)
    page = Page(Report(model, X, y).html())
    assert "The goal: recall >= 0.6" in page.headings
    assert str(model.certificate_) in page.text


def test_comparison_and_learning_curve_have_their_sections(cancer, booster, only):
    only("comparison", "learning")
    X, y, X_new, y_new = cancer
    found = compare({"CSRA": CSRAClassifier(cost=20, n_estimators=3), "<b>": DummyClassifier()}, X, y, cv=2, cost=20)
    curve = staged_curve(CSRAClassifier(cost=20, n_estimators=3), X, y, cv=2, cost=20)
    page = Page(Report(booster, X_new, y_new, comparison=found, staged_curve=curve).html())
    assert "Compared with others" in page.headings
    assert "Learning curves" in page.headings
    assert page.texts.count("<b>") >= 1
    assert len(page.ids) == len(set(page.ids))


def test_the_other_class_can_be_the_positive_one(cancer, booster):
    _, _, X, y = cancer
    report, other = Report(booster, X, y), Report(booster, X, y, pos_label=0, cost=3)
    assert other.evidence.counts == report.evidence.counts.swapped
    assert other.explorer.counts_at(other.evidence.threshold) == other.evidence.counts
    assert (other.evidence.costs.positive, other.evidence.costs.negative) == (3.0, 1.0)


def test_decisions_that_are_no_threshold_are_said_to_be_none(as_it_says, only):
    only("caveats")

    class Erratic(as_it_says):
        def predict(self, X):
            return self.classes_[(X[:, 0] * 10).astype(int) % 2]

    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 200)
    report = Report(Erratic(), np.clip(rng.normal(0.3 + 0.4 * y, 0.2), 0, 0.99)[:, None], y, cost=2)
    page = Page(report.html())
    assert report.evidence.threshold is None
    assert page.data["own"] is None
    assert "not a threshold on its score" in page.text


def test_weights_count_rows(cancer, booster):
    _, _, X, y = cancer
    twice = Report(booster, pd.concat([X, X]), np.concatenate([y, y]))
    weighted = Report(booster, X, y, sample_weight=np.full(len(y), 2.0))
    assert twice.explorer.as_dict() == weighted.explorer.as_dict()
    assert twice.evidence.counts == weighted.evidence.counts


def test_few_positives_are_said_to_be_few(whole):
    report, html = whole
    assert report.evidence.counts.positives < 50
    assert f"There are only {report.evidence.counts.positives:.0f} positives" in Page(html).text


def test_bad_input_is_named(cancer, booster):
    X, _, X_new, y_new = cancer
    three = LogisticRegression().fit(np.arange(6.0)[:, None], [0, 0, 1, 1, 2, 2])
    with pytest.raises(ValueError, match="only one class"):
        Report(booster, X_new[y_new == 0], y_new[y_new == 0]).html()
    with pytest.raises(ValueError, match="knows only"):
        Report(booster, X_new, np.where(y_new == 1, "a", "b")).html()
    with pytest.raises(ValueError, match="inconsistent"):
        Report(booster, X_new, y_new[:-1]).html()
    with pytest.raises(ValueError, match="two classes"):
        Report(three, np.arange(6.0)[:, None], [0, 0, 1, 1, 2, 2]).html()
    with pytest.raises(TypeError, match="fitted instance"):
        Report(CSRAClassifier, X_new, y_new).html()
    with pytest.raises(ValueError, match="training must be"):
        Report(booster, X_new, y_new, training=X)
    with pytest.raises(ValueError, match="inconsistent"):
        Report(booster, X_new, y_new, training=(X, y_new[:-1]))
    with pytest.raises(ValueError, match="greater than 0"):
        Report(booster, X_new, y_new, cost=-1).html()


def test_a_file_is_written_whole_or_not_at_all(cancer, booster, tmp_path, only):
    only()
    _, _, X, y = cancer
    path = tmp_path / "report.html"
    assert Report(booster, X, y).save(path) == path
    before = path.read_text()
    with pytest.raises(ValueError, match="pos_label"):
        Report(booster, X, y, pos_label="none").save(path)
    assert path.read_text() == before
    assert [p.name for p in tmp_path.iterdir()] == ["report.html"]


def test_ids_of_drawings_are_their_own():
    svg = '<?xml?><svg xmlns="n" id="a"><style>*{}</style><g id="b" clip-path="url(#c)"/><use xlink:href="#b"/></svg>'
    assert svg_element(svg, "k-") == '<svg><g id="k-b" clip-path="url(#k-c)"/><use xlink:href="#k-b"/></svg>'


def test_intervals_hold_what_they_promise():
    rng = np.random.default_rng(0)
    for rate, n in ((0.02, 50), (0.9, 20)):
        found = [interval(k, n) for k in rng.binomial(n, rate, 500)]
        assert np.mean([low <= rate <= high for low, high in found]) >= 0.93
    assert interval(0, 10)[0] == 0.0
    assert interval(10, 10)[1] == 1.0


def test_the_script_is_the_only_one_allowed():
    table = ScoreTable.from_scores([0, 1], [0.1, 0.9])
    html = render_page(
        title="t", subtitle="", headline="", notes="", sections=[], explorer_data=table.as_dict(), positive_name="p",
        negative_name="n", score_kind="probability", n_bins=2, has_own=False, explorer_intro="", explorer_note="",
    )  # fmt: skip
    assert re.search(r"script-src 'sha256-[A-Za-z0-9+/=]{44}'", html)
