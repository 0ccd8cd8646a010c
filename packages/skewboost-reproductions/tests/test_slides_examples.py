"""The examples of the lecture slides: the printed numbers, and each example as it is worked out there."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from skewboost_reproductions import reproduce
from skewboost_reproductions.papers.slides import examples as slides_examples
from skewboost_reproductions.papers.slides import work as slides_work
from skewboost_reproductions.papers.slides.work import (
    CODE,
    STRINGS,
    X,
    Y,
    bagging,
    boosting,
    class_at,
    cut_and_classes,
    decoded_with_errors,
    decoding,
    drawn,
    estimates_of_errors,
    random_ensembles,
)
from skewboost_reproductions.printed import printed
from skewboost_reproductions.verdicts import HELD, NOT_REPRODUCED
from support import load_trace

COLUMNS = [f"x = {x:.1f}" for x in X]


def printed_rows(figure):
    rows = [row for row in printed("slides", "rows") if row["figure"] == figure]
    return {row["row"]: np.array([row[c] for c in COLUMNS]) for row in rows}


def test_the_printed_rows_add_up():
    rows = printed_rows(5.36)
    total = sum(rows[float(k)] for k in range(1, 11))
    np.testing.assert_array_equal(total, rows["sum"])
    np.testing.assert_array_equal(np.sign(total), rows["sign"])
    np.testing.assert_array_equal(rows["true class"], Y)
    steps = [row["alpha"] for row in printed("slides", "stumps") if row["figure"] == 5.39]
    rows = printed_rows(5.39)
    weighted = sum(step * rows[float(k)] for k, step in enumerate(steps, 1))
    np.testing.assert_allclose(weighted, rows["sum"], atol=5e-3)


def test_printed_weights_sum_to_one_except_for_the_slip_of_round_3():
    totals = [round(row.sum(), 3) for row in printed_rows(5.38).values()]
    assert totals == [1.0, 1.003, 1.026]
    assert round(1.026 - 3 * (0.009 - 0.0009), 3) == 1.002


def test_every_sample_has_ten_rows():
    for figure, n in ((5.35, 10), (5.39, 3)):
        samples = drawn(figure)
        assert [len(rows) for rows in samples] == [10] * n
        assert set(np.concatenate(samples)) <= set(range(10))


def test_a_cut_is_found_where_the_class_changes():
    line = np.arange(0.005, 1.1, 0.01)
    assert cut_and_classes(np.where(line < 0.35, 1, -1)) == {"cut": 0.35, "left": 1, "right": -1}
    constant = cut_and_classes(np.ones(len(line)))
    assert np.isnan(constant.pop("cut"))
    assert constant == {"left": 1, "right": 1}


def test_stumps_of_bagging_are_those_of_the_figure():
    """A constant stands for a printed cut with the same class on both sides, or with no row on its left."""
    for ours, paper in zip(bagging(), (r for r in printed("slides", "stumps") if r["figure"] == 5.35), strict=True):
        if np.isnan(ours["cut"]):
            assert paper["left"] == paper["right"] == ours["left"] or paper["cut"] < X[0]
        else:
            assert (ours["cut"], ours["left"], ours["right"]) == (paper["cut"], paper["left"], paper["right"])


@pytest.mark.parametrize("slip", [True, False])
def test_weights_of_a_round_are_those_that_the_steps_give(slip):
    found = boosting(slip)
    w = np.full(10, 0.1)
    for r in found["rounds"]:
        labels = np.array(r["labels"])
        np.testing.assert_allclose(r["weights"], w, atol=1e-12)
        error = w[labels != Y].sum() / (10 if slip else 1)
        assert r["alpha"] == pytest.approx(0.5 * np.log((1 - error) / error))
        w = w * np.exp(-r["alpha"] * Y * labels)
        w /= w.sum()


def test_strings_are_decoded_as_the_trace_says():
    found, trace = decoding(), load_trace("doc_ecoc_hamming")
    np.testing.assert_array_equal(STRINGS, trace["bits"])
    np.testing.assert_array_equal(list(CODE.values()), trace["code"])
    np.testing.assert_array_equal(found["distances"], trace["distances"])
    assert (found["smallest"], found["correctable"]) == (4.0, 1)


def test_one_wrong_bit_is_corrected_and_two_never_lead_to_another_class():
    counts = decoded_with_errors(decoding()["distances"])
    assert [sum(row) for row in counts] == [4 * len(list(combinations(range(7), k))) for k in range(8)]
    assert counts[0] == (4, 0, 0)
    assert counts[1] == (28, 0, 0)
    assert counts[2][2] == 0 < counts[2][1]


def test_random_samples_are_bootstrap_samples(monkeypatch):
    monkeypatch.setattr(slides_work, "BLOCK", 20)
    distinct, member, bagged, boosted = np.array(random_ensembles(0)).mean(axis=0)
    assert abs(distinct - (1 - 0.9**10)) < 0.02
    assert member > bagged > boosted == 0.0  # no stump is right everywhere; ten boosted ones are


def test_errors_are_estimated_for_the_same_problem(monkeypatch):
    monkeypatch.setattr(slides_work, "BLOCK", 10)
    for row in estimates_of_errors(0):
        assert all(0.0 < error < 0.6 for error in row)
    assert class_at(np.array([0.34, 0.36, 0.74, 0.76])).tolist() == [1, -1, -1, 1]


def test_a_run_writes_the_page(tmp_path, monkeypatch):
    monkeypatch.setattr(slides_work, "BLOCK", 5)
    monkeypatch.setattr(slides_examples, "blocks", lambda quick: range(0, 10, 5))
    done = reproduce("slides-examples", tmp_path, quick=True, n_jobs=1)
    verdicts = {claim.text: claim.verdict for claim in done.claims}
    of_figures = {text: verdict for text, verdict in verdicts.items() if text.startswith("Figure")}
    not_held = {text for text, verdict in of_figures.items() if verdict != HELD}
    assert not_held == {
        "Figure 5.35: the cuts of the ten stumps, and their classes",  # a constant has no cut
        "Figure 5.39: the cuts of the three stumps, and their classes",
        "Figure 5.39: the steps, by the first definition of the error, Σ w",
        "Figure 5.38: the weights, with the error divided by N",
    }
    assert {of_figures[text] for text in not_held} == {NOT_REPRODUCED}
    evidence = {claim.text: claim.evidence for claim in done.claims}
    assert evidence["Figure 5.35: the cuts of the ten stumps, and their classes"].startswith(
        "8 of 10 equal; rounds 2 and 10 have no cut"
    )
    assert sum(file.suffix == ".png" for file in done.files) == 4
