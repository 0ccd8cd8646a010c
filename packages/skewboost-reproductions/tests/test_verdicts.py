"""What counts as held, and what does not."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from skewboost_reproductions.estimates import Estimate
from skewboost_reproductions.page import written_index
from skewboost_reproductions.papers.cuendet.complete import EXPERIMENT as QUESTION
from skewboost_reproductions.papers.masnadi import synthetic as masnadi_synthetic
from skewboost_reproductions.papers.nyga.trials import claim_of_number, on_sets
from skewboost_reproductions.papers.slides import examples as slides_examples
from skewboost_reproductions.verdicts import (
    BY_CONSTRUCTION,
    COMPATIBLE,
    HELD,
    HELD_ON_STAND_INS,
    MEANINGS,
    NOT_ON_STAND_INS,
    NOT_REPRODUCED,
    UNDECIDED,
    VERDICTS,
    Claim,
    asked,
    by_construction,
    claim_of_draw,
    counted,
    of_chosen_reading,
    on_stand_ins,
)


def claim(verdict):
    return Claim("It holds", verdict, "1 > 0")


@pytest.mark.parametrize(
    ("change", "of_held", "of_failed"),
    [
        (on_stand_ins, HELD_ON_STAND_INS, NOT_ON_STAND_INS),
        (by_construction, BY_CONSTRUCTION, NOT_REPRODUCED),  # what cannot fail and does is an error
        (of_chosen_reading, COMPATIBLE, NOT_REPRODUCED),
    ],
)
def test_nothing_is_held_that_rests_on_a_stand_in_a_choice_or_nothing(change, of_held, of_failed):
    found = [change(claim(verdict)).verdict for verdict in (HELD, UNDECIDED, NOT_REPRODUCED)]
    assert found == [of_held, UNDECIDED, of_failed]
    assert HELD not in found


def test_a_claim_about_several_data_sets_is_one_about_stand_ins_if_one_is():
    assert on_sets(claim(HELD), ["banana", "cancer"]).verdict == HELD
    assert on_sets(claim(HELD), ["banana", "fire"]).verdict == HELD_ON_STAND_INS


def test_a_number_of_one_draw_never_holds():
    draws = np.random.default_rng(0).normal(size=20)
    assert claim_of_draw("", draws, draws.mean()).verdict == COMPATIBLE


def test_the_step_that_chose_the_cost_follows_from_it():
    stumps = np.random.default_rng(0).normal([[0.0, 0.9056], [-0.6, 0.24]], 0.4, (10, 2, 2))
    verdicts = [one.verdict for one in masnadi_synthetic._claims_of_stumps(stumps)]
    assert verdicts == [COMPATIBLE, BY_CONSTRUCTION, COMPATIBLE, COMPATIBLE]


def test_a_constant_has_no_cut():
    printed = {"cut": 0.65, "left": 1.0, "right": 1.0}
    assert slides_examples._has_the_cut({"cut": 0.65, "left": 1, "right": 1}, printed)
    assert not slides_examples._has_the_cut({"cut": float("nan"), "left": 1, "right": 1}, printed)
    assert not slides_examples._has_the_cut({"cut": 0.6, "left": 1, "right": 1}, printed)


def test_the_index_says_what_each_verdict_means_and_counts_claims_of_papers(tmp_path):
    claims = [*map(claim, VERDICTS), claim(HELD), asked(claim(HELD))]
    answers = [asked(claim(HELD)), asked(claim(UNDECIDED))]
    paper = replace(QUESTION, name="squares", asks="")
    rows = [(paper, tmp_path / "squares.md", claims, 61.0), (QUESTION, tmp_path / "q.md", answers, 5.0)]
    text = written_index(rows, tmp_path, quick=True).read_text()
    for verdict, meaning in MEANINGS.items():
        assert f"- *{verdict}*: {meaning}" in text
    first, second = text.split("## Questions that papers leave open")
    assert "| 2 | 1 | 1 | 1 | 1 | 1 | 1 | 1:01 |" in first  # what the paper does not say is not counted
    assert "| all | | 2 | 1 | 1 | 1 | 1 | 1 | 1 | 1:01 |" in first
    assert f"| {QUESTION.asks} (Cuendet & Labbi 2002, section 3.3) | 1 | 0 | 0 | 0 | 1 | 0 | 0 | 0:05 |" in second
    assert counted(answers)[HELD] == 1


def test_a_claim_about_a_number_of_data_sets_is_tested_on_each():
    sure, none, lost = (Estimate(mean, 0.01, 20) for mean in (0.1, 0.0, -0.1))
    on = lambda *leads: claim_of_number("", {str(k): [sure, lead] for k, lead in enumerate(leads)}, 2).verdict  # noqa: E731
    assert on(sure, sure, lost) == HELD
    assert on(sure, none, none) == UNDECIDED
    assert on(sure, lost, lost) == NOT_REPRODUCED
    found = claim_of_number("", {"a": [sure], "b": [sure]}, 2, margin=0.2)
    assert found.verdict == NOT_REPRODUCED  # both are better, but not by that much
    assert "shown on 0, refuted on 2" in found.evidence
