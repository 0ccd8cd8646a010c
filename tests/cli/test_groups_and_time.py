"""--group and --time: the columns are no features, no split divides a group, and no model sees later rows."""

from __future__ import annotations

import json
from functools import wraps

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import TimeSeriesSplit

import skewboost
from skewboost.cli.group_and_time import cut_in_time, folds_in_time
from skewboost.cli.target_column import read_examples
from skewboost.fold_rows import whole_units
from skewboost.io import load

CSRA = ["-t", "kind", "-m", "CSRA", "-r", 3]
QUICK = ["-t", "kind", "--set", "effort=quick"]
NO_GROUPS, NO_TIMES = ["--drop", "id,times,customer"], ["--drop", "id,times,day"]


@pytest.fixture(scope="module")
def visits(small, tmp_path_factory):
    """The small table, with customers who come several times, on days that are not in order."""
    rng = np.random.default_rng(5)
    days = pd.Timestamp("2025-01-01") + pd.to_timedelta(rng.integers(0, 60, len(small.frame)), "D")
    frame = small.frame.assign(customer=rng.integers(0, 40, len(small.frame)), day=days.strftime("%Y-%m-%d"))
    path = tmp_path_factory.mktemp("visits") / "visits.csv"
    frame.to_csv(path, index=False)
    return str(path)


@pytest.fixture
def fits(monkeypatch):
    """What the classifiers are fitted to: their rows, parameters and groups."""
    seen = []
    for name in ("SkewBoostClassifier", "CSRAClassifier"):
        cls = getattr(skewboost, name)

        def fit(self, X, y, *args, fit=cls.fit, **params):
            seen.append((X.index.to_numpy(), self, params.get("groups")))
            return fit(self, X, y, *args, **params)

        monkeypatch.setattr(cls, "fit", wraps(cls.fit)(fit))
    return seen


def test_whole_groups_are_held_out(visits, run, tmp_path, fits):
    path, frame = tmp_path / "m.json", pd.read_csv(visits)
    result = run("fit", visits, *QUICK, *NO_TIMES, "--group", "customer", "-o", path)
    assert result.exit_code == 0, result.output
    ((rows, _, groups),) = fits
    inside = frame["customer"].iloc[rows]
    assert groups is not None
    assert len(np.unique(groups)) == inside.nunique()
    assert not set(inside) & set(frame["customer"].drop(rows))
    assert 0.2 < 1 - len(rows) / len(frame) < 0.3
    held_out = (frame["kind"].drop(rows) == "bad").sum() / (frame["kind"] == "bad").sum()
    assert 0.2 < held_out < 0.3
    assert "customer: " in result.stdout
    # the column is known and not used
    for command in ("predict", "evaluate"):
        after = run(command, path, visits)
        assert after.exit_code == 0
        assert "ignored" not in after.stderr
    assert "customer" not in load(path).feature_names_in_


@pytest.mark.parametrize("kind", ["dates", "numbers", "stamps", "parquet"])
def test_the_latest_rows_are_held_out(visits, run, tmp_path, fits, kind):
    frame = pd.read_csv(visits, parse_dates=["day"])
    path = tmp_path / ("t.parquet" if kind == "parquet" else "t.csv")
    if kind == "parquet":
        frame.to_parquet(path)
    else:
        as_kind = {
            "dates": frame["day"].dt.strftime("%Y-%m-%d"),
            "numbers": (frame["day"] - frame["day"].min()).dt.days / 7,
            "stamps": frame["day"].dt.strftime("%Y-%m-%dT00:00:00+02:00"),
        }
        frame.assign(day=as_kind[kind]).to_csv(path, index=False)
    result = run("fit", path, *QUICK, *NO_GROUPS, "--time", "day", "--json")
    assert result.exit_code == 0, result.output
    ((rows, model, _),) = fits
    assert frame["day"].iloc[rows].max() < frame["day"].drop(rows).min()  # and equal days are on one side
    assert 0.2 < 1 - len(rows) / len(frame) < 0.3
    assert frame["day"].iloc[rows].is_monotonic_increasing
    assert isinstance(model.cv, TimeSeriesSplit)
    told = json.loads(result.stdout)
    assert (told["time"], told["dropped"][-1]) == ("day", "day")
    assert "day" not in told["columns"]


def test_folds_of_comparisons(visits, run, fits):
    frame = pd.read_csv(visits, parse_dates=["day"])
    methods = ["--methods", "SkewBoost:effort=quick,CSRA", "-t", "kind", "--cv", 3]
    grouped = run("compare", visits, *methods, *NO_TIMES, "--group", "customer")
    assert grouped.exit_code == 0, grouped.output
    assert "3 folds of whole groups (customer)" in grouped.stdout
    assert "Corrected resampled t" in grouped.stdout
    assert len(fits) == 6
    for rows, _, _ in fits:
        assert not set(frame["customer"].iloc[rows]) & set(frame["customer"].drop(rows))
    fits.clear()
    ordered = run("compare", visits, *methods, *NO_GROUPS, "--time", "day")
    assert ordered.exit_code == 0, ordered.output
    assert "3 folds in time (day)" in ordered.stdout
    assert "there is no test" in ordered.stdout
    for rows, _, _ in fits:
        assert frame["day"].iloc[rows].max() < frame["day"].drop(rows).min()
    told = json.loads(run("compare", visits, *methods, *NO_GROUPS, "--time", "day", "--json").stdout)
    assert told["test"] is None
    assert [row["n_test"] for row in told["folds"]] == pytest.approx([60] * 6, abs=6)


def test_goals_keep_groups_and_time(visits, run, tmp_path, fits):
    frame = pd.read_csv(visits, parse_dates=["day"])
    grouped = run("goal", visits, "recall>=0.5", *QUICK, *NO_TIMES, "--group", "customer", "--test", 0.2)
    assert grouped.exit_code == 0, grouped.output
    for rows, _, groups in fits:
        assert len(np.unique(groups)) == frame["customer"].iloc[rows].nunique()
        assert not set(frame["customer"].iloc[rows]) & set(frame["customer"].drop(rows))
    fits.clear()
    path = tmp_path / "m.json"
    ordered = run("goal", visits, "recall>=0.5", *QUICK, *NO_GROUPS, "--time", "day", "-o", path)
    assert ordered.exit_code == 0, ordered.output
    for rows, model, _ in fits[1:]:  # a fold cuts between two rows, of which both may be of one day
        assert frame["day"].iloc[rows].max() <= frame["day"].drop(rows).min()
        assert isinstance(model.cv, TimeSeriesSplit)
    latest = max(len(rows) for rows, _, _ in fits)
    assert 0.6 < latest / len(frame) < 0.72  # a third is for the certificate
    assert load(path).holdout is None


def test_a_report_keeps_groups(visits, run, tmp_path, fits, monkeypatch):
    frame = pd.read_csv(visits)
    monkeypatch.setattr("skewboost.plots.Report.save", lambda self, path: None)  # drawing takes long
    told = ["--group", "customer", "--methods", "RealBoost", "-o", tmp_path / "r.html"]
    result = run("report", visits, *CSRA, *NO_TIMES, *told)
    assert result.exit_code == 0, result.output
    assert len(fits) == 1 + 3 + 3  # the model, the comparison, the learning curve
    for rows, _, _ in fits:
        assert not set(frame["customer"].iloc[rows]) & set(frame["customer"].drop(rows))


def test_methods_that_would_divide_groups_say_so(visits, run):
    told = ["--set", "early_stopping=true", "--test", 0]
    result = run("fit", visits, *CSRA, *NO_TIMES, "--group", "customer", *told)
    assert result.exit_code == 0, result.output
    takes = "groups" in skewboost.CSRAClassifier.fit.__code__.co_varnames
    assert ("CSRA may divide groups" in result.stderr) != takes


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["--group", "customr"], "--group: "),
        (["--group", "kind"], "--group: 'kind' is the target"),
        (["--group", "colour"], "has an empty cell in column 'colour' (row"),
        (["--group", "one"], "the same value of 'one' in all rows"),
        (["--group", "customer", "--time", "day"], "--group and --time cannot be combined"),
        (["--time", "colour"], "in column 'colour' (row"),
        (["--time", "size"], "has an empty cell in column 'size'"),
        (["--time", "one"], "the same value of 'one' in all rows"),
        (["--time", "wrong"], "has '31.1.2025' in column 'wrong' (row 4), which is not a time. Use numbers, or dates"),
        (["--time", "first"], "the latest rows are held out (60 of 240), and among them there is no row of class bad"),
        (["--group", "halves"], "whole groups are held out"),
    ],
)
def test_what_cannot_be_divided(visits, refused, tmp_path, args, words):
    frame = pd.read_csv(visits).assign(one=1)
    frame["wrong"] = frame["day"].where(frame.index != 3, "31.1.2025")
    frame["first"] = np.argsort(np.argsort(frame["kind"] == "good", kind="stable"))  # all that is bad comes first
    frame["halves"] = frame["kind"].map({"good": 1, "bad": 2})
    frame.to_csv(tmp_path / "t.csv", index=False)
    drop = [] if "day" in args else ["--drop", "day"]
    assert words in refused("fit", "t.csv", "-t", "kind", *args, *drop)


def test_comparisons_that_time_or_groups_do_not_allow(visits, refused, tmp_path):
    frame = pd.read_csv(visits).drop(columns="day")
    frame["year"] = 2020 + frame.index // 80
    frame["pair"] = frame.index % 2
    frame.to_csv(tmp_path / "t.csv", index=False)
    assert "too many rows have the same time (3 different times)" in refused(
        "compare", "t.csv", *CSRA[:4], "--time", "year"
    )
    assert "--time allows one division only" in refused("compare", "t.csv", *CSRA[:4], "--time", "id", "--repeats", 2)
    assert "bad is in 2 groups. Give --cv 2 at most" in refused("compare", "t.csv", *CSRA[:4], "--group", "pair")


# --------------------------------------------------------------------------------- splits


def test_cuts_are_where_times_change():
    times = np.array([1, 1, 1, 2, 2, 3, 3, 3, 3, 4.0])
    assert [cut_in_time(times, k) for k in (0, 2, 4.5, 7, 10)] == [3, 3, 5, 5, 9]


def test_folds_are_those_of_scikit_learn_if_times_differ():
    times, y = np.arange(60.0), np.arange(60) % 2
    own = folds_in_time(times, 5, y)
    for (train, test), (known_train, known_test) in zip(own, TimeSeriesSplit(5).split(times), strict=True):
        assert train.tolist() == known_train.tolist()
        assert test.tolist() == known_test.tolist()


@pytest.mark.parametrize("fraction", [0.1, 0.25, 0.5])
@pytest.mark.parametrize("seed", [0, 1])
def test_whole_groups_have_about_the_fraction_of_each_class(fraction, seed):
    rng = np.random.default_rng(seed)
    groups = np.unique(rng.zipf(1.6, 3000) % 400, return_inverse=True)[1]
    y = rng.random(3000) < 0.03 + 0.1 * (groups % 10 == 0)
    held_out = whole_units(y.astype(int), groups, fraction, rng)
    assert not set(groups[held_out]) & set(groups[~held_out])
    largest = np.bincount(groups).max() / len(groups)
    for label in (False, True):
        assert held_out[y == label].mean() == pytest.approx(fraction, abs=max(0.05, largest))


def test_rows_are_sorted_stably(visits):
    read = read_examples(visits, "kind", drop=["id", "times", "customer"], time="day")
    days = pd.read_csv(visits)["day"]
    assert read.X.index.tolist() == days.sort_values(kind="stable").index.tolist()
