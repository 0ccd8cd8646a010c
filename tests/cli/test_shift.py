"""Warnings that rows are unlike those of training: none by chance, all that matter, chunk by chunk."""

from __future__ import annotations

import json
import re

import numpy as np
import pandas as pd
import pytest
from scipy.stats import hypergeom

from skewboost.cli import predict_command
from skewboost.cli.shift import RISK, ShiftDetector, TrainingProfile, class_sizes, split_p_value
from skewboost.datasets import load_rare_cancer, make_fraud
from skewboost.plots import Report


def warned(profile, X, y=None, said=None, weights=None, n_chunk=10_000):
    watch = ShiftDetector(profile)
    for k in range(0, len(X), n_chunk):
        watch.add_rows(X.iloc[k : k + n_chunk])
    if y is not None:
        watch.add_labels(y, weights)
    if said is not None:
        watch.add_predictions(said)
    return watch.warnings("yes")


def payments(n, seed):
    X, y = make_fraud(n, random_state=seed)
    return X.reset_index(drop=True), np.where(y == 1, "yes", "no")


@pytest.mark.slow
def test_rows_that_are_dealt_at_random_are_not_warned_of():
    alarms = 0
    for k in range(6):
        rng = np.random.default_rng(k)
        for X, y in ((load_rare_cancer()), payments(400, k)):
            rows, n = rng.permutation(len(X)), len(X) * 2 // 3
            y = np.where(np.isin(np.asarray(y), (1, "yes")), "yes", "no")
            profile = TrainingProfile.of(X.iloc[rows[:n]], class_sizes(y[rows[:n]]), class_sizes(y[rows[:n]]))
            alarms += bool(warned(profile, X.iloc[rows[n:]], y[rows[n:]], y[rows[n:]]))
    assert alarms == 0  # the risk that this fails for one seed or other is 12 * RISK at most, and RISK is a bound


def test_the_chance_of_a_difference_is_that_of_dealing():
    assert split_p_value(5, 100, 5, 100) == 1.0
    assert split_p_value(0, 100, 6, 50) == pytest.approx(2 * hypergeom(150, 6, 50).sf(5))
    assert split_p_value(2, 100, 20, 100) < 1e-4 < RISK


X0, Y0 = payments(3000, 0)


def changed(column, how):
    X = payments(600, 1)[0]
    return X.assign(**{column: how(X[column])})


@pytest.mark.parametrize(
    ("X", "words"),
    [
        (changed("amount", lambda c: 100 * c), "'amount' is outside of the training range"),
        (changed("amount", lambda c: c.mask(c > 20, 20)), "'amount' is at most"),
        (changed("hour", lambda c: c.mask(c.index % 2 == 0)), "'hour' is missing in 50% of the rows, against 0"),
        (changed("country", lambda c: c.astype(object).mask(c.index % 5 == 0, "Atlantis")), "such as 'Atlantis'"),
        (changed("device", lambda c: pd.Series(["phone"] * len(c))), "'device' is phone in 100% of the rows"),
        (changed("card_present", lambda c: ~c), "'card_present' is at most 0 in"),
    ],
)
def test_a_column_that_has_changed_is_named(X, words):
    profile = TrainingProfile.of(X0, class_sizes(Y0), {})
    told = warned(profile, X)
    assert words in told[0]
    assert len(told) == 2
    assert "fit it again" in told[1]
    assert warned(profile, X, n_chunk=37) == told
    assert warned(TrainingProfile.from_dict(json.loads(json.dumps(profile.as_dict()))), X) == told


def test_names_of_rows_are_new_in_every_table():
    columns = pd.DataFrame({"id": [f"row {k}" for k in range(300)], "day": [f"day {k // 10}" for k in range(300)]})
    columns["id"] = columns["id"].astype("category")
    mixed = columns.sample(frac=1, random_state=0)
    assert warned(TrainingProfile.of(mixed[:200], {}, {}), mixed[200:]) == []
    (told, _) = warned(
        TrainingProfile.of(columns[:200], {}, {}), columns[200:]
    )  # but days repeat, and these are other ones
    assert "'day' has categories in 100% of the rows that training did not have" in told


def test_more_categories_than_are_noted_are_not_taken_for_new():
    rng = np.random.default_rng(0)
    many = pd.DataFrame({"zip": pd.Series(rng.integers(0, 900, 5000).astype(str))})
    assert warned(TrainingProfile.of(many[:4000], {}, {}), many[4000:]) == []


def test_the_share_of_a_class_counts_examples():
    y = np.array(["yes"] * 10 + ["no"] * 490)
    profile = TrainingProfile.of(pd.DataFrame(), class_sizes(y), {})
    more = np.array(["yes"] * 50 + ["no"] * 450)
    assert "10% of the rows are yes, against 2.0% in training" in warned(profile, pd.DataFrame(), more)[0]
    weights = np.where(more == "yes", 1.0, 5.0)  # as they are counted, there are as few as ever
    assert warned(profile, pd.DataFrame(), more, weights=weights) == []
    one = np.where(np.arange(500) == 0, 1e4, 1.0)  # one row of great weight is one row
    assert warned(profile, pd.DataFrame(), y, weights=one) == []


def test_many_classes_are_each_compared():
    profile = TrainingProfile.of(pd.DataFrame(), class_sizes(np.repeat(["a", "b", "c"], [300, 100, 20])), {})
    watch = ShiftDetector(profile)
    watch.add_labels(np.repeat(["a", "b", "c"], [300, 100, 120]))
    (told, _) = watch.warnings(None)
    assert told.startswith("23% of the rows are c, against 4.8% in training")


NUMBERS = {"n": 1, "missing": 0, "low": 0, "high": 1, "cuts": [1], "below": [1]}


@pytest.mark.parametrize(
    "told",
    [
        None, 7, [], {}, {"columns": 3, "labels": {}, "predictions": {}},
        {"columns": {}, "labels": {"a": "b"}, "predictions": {}},
        *({"columns": {"x": about}, "labels": {}, "predictions": {}} for about in (
            7, {}, {**NUMBERS, "below": []}, {**NUMBERS, "cuts": ["a"]}, {**NUMBERS, "n": float("inf")},
            {**NUMBERS, "more": 1}, {**NUMBERS, "n": -1}, {**NUMBERS, "n": float("nan")},
            {"n": 1, "missing": 0, "counts": [1]}, {"n": 1, "missing": 0, "counts": {"a": []}},
        )),
    ],
)  # fmt: skip
def test_what_is_no_profile_says_nothing(told):
    assert TrainingProfile.from_dict(told) is None
    assert warned(None, X0, Y0) == []


def test_profiles_of_nothing_say_nothing():
    for about in (
        {"n": 3, "missing": 0, "counts": {}},
        {"n": 3, "missing": 0},
        {"n": 0, "missing": 0, "counts": {"a": 0}},
    ):
        profile = TrainingProfile.from_dict(
            {"columns": {"amount": about, "device": about, "gone": about}, "labels": {}, "predictions": {}}
        )
        assert warned(profile, X0, Y0, Y0) == []


# --------------------------------------------------------------------------- the commands


@pytest.fixture(scope="module")
def fraud(tmp_path_factory, run):
    """A model of payments, and a table in which a quarter is fraudulent."""
    folder = tmp_path_factory.mktemp("fraud")
    X, y = payments(7000, 2)
    table = X.assign(fraud=y)
    table[:4000].to_csv(folder / "train.csv", index=False)
    later = table[4000:]
    later.to_csv(folder / "later.csv", index=False)
    rare = later[later["fraud"] == "yes"]
    pd.concat([rare, later[later["fraud"] == "no"][: 3 * len(rare)]]).to_csv(folder / "shifted.csv", index=False)
    result = run(
        "fit", folder / "train.csv", "-t", "fraud", "--cost", 20, "-m", "CSRA", "-r", 50, "-o", folder / "m.json"
    )
    assert result.exit_code == 0, result.output
    return folder


@pytest.mark.slow
def test_commands_warn_of_shifted_rows_only(fraud, run, tmp_path, monkeypatch):
    monkeypatch.setattr(predict_command, "CHUNK", 500)
    monkeypatch.setattr(Report, "save", lambda self, path: None)
    out = tmp_path / "out.csv"
    for command in (["predict", "-o", out], ["evaluate"], ["report", "-o", tmp_path / "r.html"]):
        fine, shifted = (
            run(command[0], fraud / "m.json", fraud / name, *command[1:], "--json")
            for name in ("later.csv", "shifted.csv")
        )
        assert "warning" not in fine.stderr
        assert json.loads(fine.stdout)["warnings"] == []
        told = json.loads(shifted.stdout)["warnings"]
        assert shifted.stderr.count("warning: ") == len(told) == 2
        assert f"warning: {told[0]}\n" in shifted.stderr
        what = "are predicted to be yes, against" if command[0] == "predict" else "of the rows are yes, against"
        assert what in told[0]


def test_the_threshold_for_another_share_of_positives_is_cheaper(fraud, run):
    def bill(*told):
        result = run("evaluate", fraud / "m.json", fraud / "shifted.csv", *told, "--json")
        return json.loads(result.stdout)["bill"]["total"], result.stderr

    before, told = bill()
    (advised,) = re.findall(r"--threshold (\S+) corrects for it", told)
    assert bill("--threshold", advised)[0] < 0.7 * before
    assert "MinimumRiskClassifier(prior=0.25)" in told
    assert "--threshold" not in bill("--cost", "balanced")[1]  # which does not depend on the share
