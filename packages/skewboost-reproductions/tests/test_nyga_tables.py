"""Tables 3.2 to 3.4 of Nyga's thesis: the printed numbers, the choice of parameters, and the claims."""

from __future__ import annotations

import numpy as np
import pytest

from skewboost.plots.style import import_pyplot
from skewboost_reproductions.estimates import Estimate
from skewboost_reproductions.experiment_runs import find, run_tasks
from skewboost_reproductions.page_parts import Claims, Figure, Table
from skewboost_reproductions.papers.nyga import problems as nyga
from skewboost_reproductions.papers.nyga import trials as nyga_trials
from skewboost_reproductions.papers.nyga.drawn_curves import mean_curves, rounds_shown
from skewboost_reproductions.papers.nyga.problems import (
    ANALOGUES,
    COST_SENSITIVE,
    MEASURES,
    PLAIN,
    PROBLEMS,
    PUBLIC,
    REGULARISED,
    Split,
    classifier,
    scores,
    splits,
    trained_scores,
)
from skewboost_reproductions.papers.nyga.trials import Tried, parameters, plain_scores, scores_by_parameter
from skewboost_reproductions.papers.nyga.tuned_tables import SIZES
from skewboost_reproductions.printed import printed
from skewboost_reproductions.verdicts import HELD, NOT_REPRODUCED, UNDECIDED, claim_of_all, claim_of_equal_means
from support import SHARED

needs_data = pytest.mark.skipif(not (SHARED / "data").is_dir(), reason="needs the data sets of the papers")


@pytest.mark.parametrize("name", ["impact", "costs", "goals"])
def test_printed_numbers_are_rates_and_agree(name):
    """F1 is near the harmonic mean of P and R, except where the comments of the file say so."""
    rows = printed("nyga", name)
    assert len(rows) == {"impact": 48, "costs": 30, "goals": 35}[name]
    apart = {}
    for row in rows:
        assert all(0.0 <= row[m] <= 1.0 for m in "PRF")
        apart[row["data"], row["algorithm"], row.get("goal")] = abs(
            row["F"] - 2 * row["P"] * row["R"] / (row["P"] + row["R"])
        )
    known = {("cancer", "AdaCost", None), ("airbag", "AdaCost", None)} | {
        ("banana", "AdaC3", f"R = {r} %") for r in (85, 90, 95)
    }
    assert {key for key, d in apart.items() if d > 0.015} == {key for key in known if key in apart}


def test_tables_of_the_thesis_have_every_algorithm_and_data_set():
    costs = {(row["data"], row["algorithm"]) for row in printed("nyga", "costs")}
    assert costs == {(d, a) for d in PROBLEMS for a in COST_SENSITIVE}
    impact = {(row["data"], row["algorithm"]) for row in printed("nyga", "impact") if row["class"] == "+"}
    assert impact == {(d, a) for d in PROBLEMS for a in (*PLAIN, *REGULARISED)}


def test_measures_of_both_classes():
    y, predicted = [1, 1, 1, 0, 0, 0, 0, 0], [1, 0, 0, 1, 0, 0, 0, 0]
    found = dict(zip(MEASURES, scores(y, predicted)))
    assert found == pytest.approx(
        {"P+": 1 / 2, "R+": 1 / 3, "F+": 2 / 5, "P-": 4 / 6, "R-": 4 / 5, "F-": 8 / 11, "error": 3 / 8}
    )
    nothing = dict(zip(MEASURES, scores(y, [0] * 8)))
    assert np.isnan(nothing["P+"])
    assert (nothing["R+"], nothing["F+"]) == (0.0, 0.0)


def test_ten_parameters_span_the_range_and_fewer_are_some_of_them():
    for data in PROBLEMS:
        for algorithm in (*REGULARISED, *COST_SENSITIVE):
            ten = parameters(data, algorithm)
            assert len(ten) == 10
            assert list(ten) == sorted(ten)
            four = parameters(data, algorithm, 4)
            assert set(four) < set(ten)
            assert (four[0], four[-1]) == (ten[0], ten[-1])


@pytest.fixture
def small(monkeypatch):
    """Few rounds, and a problem of few rows in place of the public data."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(160, 2))
    y = (X[:, 0] + X[:, 1] + rng.normal(size=160) > 0.7).astype(int)

    def splits(data, run):
        rows = np.random.default_rng(run).permutation(160)
        train, test = rows[:100], rows[100:]
        return [Split(X[train], y[train], X[test], y[test])]

    few = {k: nyga.Problem(p.label, p.trees, 6, 2, p.public, p.test_to_train) for k, p in PROBLEMS.items()}
    for module in ("problems", "trials", "drawn_curves", "tuned_tables"):
        name = f"skewboost_reproductions.papers.nyga.{module}"
        monkeypatch.setattr(f"{name}.splits", splits, raising=False)
        monkeypatch.setattr(f"{name}.PROBLEMS", few, raising=False)
    return splits


def test_validation_does_not_see_the_test_rows(small, monkeypatch):
    before = scores_by_parameter("banana", "CSRA", 0, 4, True)

    def other_test_rows(data, run):
        (split,) = small(data, run)
        return [Split(split.X, split.y, split.X_test[::-1], 1 - split.y_test)]

    monkeypatch.setattr(nyga_trials, "splits", other_test_rows)
    after = scores_by_parameter("banana", "CSRA", 0, 4, True)
    assert before["chosen"] == after["chosen"]
    assert before["each"] != after["each"]


def test_the_best_parameter_is_at_least_as_good_as_the_validated_ones(small):
    found = scores_by_parameter("banana", "CSGA", 0, 10, True)
    one = Tried(parameters("banana", "CSGA"), np.array(found["each"]), np.array(found["chosen"]))
    F = MEASURES.index("F+")
    assert one.best[:, F].mean() == one.each[:, :, F].mean(axis=1).max()
    assert one.best[:, F].mean() >= one.validated[:, F].mean()


def test_curves_end_with_the_scores_of_the_whole_ensemble(small):
    curves = mean_curves("cancer", "GentleBoost", 0)
    (whole,) = plain_scores("cancer", "GentleBoost", 0)
    assert len(curves["F+"]) == len(rounds_shown(6)) == 6
    for measure in ("P+", "R+", "F+", "error"):
        assert curves[measure][-1] == pytest.approx(whole[MEASURES.index(measure)], abs=1e-4)
    assert curves["training error"][-1] <= curves["training error"][0]


@pytest.mark.parametrize("name", ["nyga-impact", "nyga-costs"])
def test_a_small_run_makes_all_parts_of_the_page(small, name):
    experiment = find(name)
    results = run_tasks(experiment, True, None)
    parts = experiment.report(results, True)
    assert isinstance(parts[0], Claims)
    assert {claim.verdict for claim in parts[0].claims} <= {HELD, UNDECIDED, NOT_REPRODUCED}
    tables = {part.name: part for part in parts if isinstance(part, Table)}
    for part in parts:
        if isinstance(part, Figure):
            import_pyplot().close(part.draw())
    for table_name, table in tables.items():
        assert any(cell.printed is not None for cell in table.cells.values()) == ("stand-ins" not in table_name)
    leaves = tables["leaves"]
    assert [f"{k} leaves" for k in SIZES[:-1]] + ["fully grown"] == list(leaves.columns)
    others = {PROBLEMS[data].label for data in PROBLEMS if data not in PUBLIC}
    for table_name, table in tables.items():
        if table_name != "leaves":
            shown = {row.split(": ")[0] for row in table.rows}
            assert shown == others if "stand-ins" in table_name else not shown & others


def test_a_claim_of_several_differences_needs_all_of_them():
    sure, no, against = Estimate(0.1, 0.01, 10), Estimate(0.01, 0.01, 10), Estimate(-0.1, 0.01, 10)
    assert claim_of_all("", {"a": sure, "b": sure}).verdict == HELD
    assert claim_of_all("", {"a": sure, "b": no}).verdict == UNDECIDED
    assert claim_of_all("", {"a": sure, "b": against}).verdict == NOT_REPRODUCED


def test_equal_means_are_within_the_margin_for_all_pairs_at_once():
    near, far, wide = Estimate(0.001, 0.001, 10), Estimate(0.05, 0.001, 10), Estimate(0.001, 0.02, 10)
    assert claim_of_equal_means("", {"a": near, "b": near}, 0.01).verdict == HELD
    assert claim_of_equal_means("", {"a": near, "b": wide}, 0.01).verdict == UNDECIDED
    claim = claim_of_equal_means("", {"a": near, "b": far}, 0.01)
    assert claim.verdict == NOT_REPRODUCED
    assert "largest difference b 0.050" in claim.evidence
    # within the margin by its own interval, and not by that of ten
    close = Estimate(0.0075, 0.001, 10)
    assert claim_of_equal_means("", {"a": close}, 0.01).verdict == HELD
    assert claim_of_equal_means("", {str(k): close for k in range(10)}, 0.01).verdict == UNDECIDED


def mean_of(data, algorithm, parameter, runs, measure="F+", leaves=3):
    found = [
        trained_scores(classifier(data, algorithm, parameter, leaves=leaves), split)
        for run in range(runs)
        for split in splits(data, run)
    ]
    return float(np.nanmean(np.array(found)[:, MEASURES.index(measure)]))


@pytest.mark.slow
@needs_data
@pytest.mark.parametrize("algorithm", PLAIN)
def test_plain_variants_score_about_what_is_printed_and_about_the_same(algorithm):
    rows = {(row["data"], row["algorithm"]): row["F"] for row in printed("nyga", "impact") if row["class"] == "+"}
    assert mean_of("cancer", algorithm, None, 3) == pytest.approx(rows["cancer", algorithm], abs=0.012)
    assert mean_of("banana", algorithm, None, 5) == pytest.approx(rows["banana", algorithm], abs=0.025)
    assert mean_of("cancer", algorithm, None, 3) == pytest.approx(mean_of("cancer", "AdaBoost", None, 3), abs=0.01)


@pytest.mark.slow
@needs_data
@pytest.mark.parametrize("algorithm", ["AdaC2", "AdaC3", "CSRA", "CSGA", "CSLB"])
def test_costs_exchange_precision_for_recall_and_hardly_change_f1(algorithm):
    ten = parameters("banana", algorithm)
    recall, precision = ([mean_of("banana", algorithm, c, 5, m) for c in (ten[0], ten[-1])] for m in ("R+", "P+"))
    assert recall[1] > recall[0] + 0.02
    assert precision[1] < precision[0] - 0.02
    best = max(mean_of("banana", algorithm, c, 5) for c in ten)
    plain = mean_of("banana", ANALOGUES[algorithm], None, 5)
    assert plain - 0.01 < best < plain + 0.02


@pytest.mark.slow
@needs_data
def test_adacost_needs_large_trees_on_banana():
    assert mean_of("banana", "AdaCost", 0.1, 5, leaves=3) < 0.78
    assert mean_of("banana", "AdaCost", 0.1, 5, leaves=8) > 0.82
