"""The commands `curve`, `bias-variance` and `match-rate` print what the functions of `skewboost.evaluate` find."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from skewboost import CSRAClassifier, evaluate
from skewboost.cli import match_rate_command
from skewboost.cli.curve_command import read_over
from skewboost.cli.match_rate_command import read_rate
from skewboost.cli.options import Command
from skewboost.evaluate import bias_variance, cost_sweep, imbalance_sweep, match_rate, noise_sweep, size_sweep

TOLD = ["-t", "kind", "--drop", "id,times", "-r", 3]
CSRA = [*TOLD, "-m", "CSRA"]
TWO = ["--cv", 2]
CLF = CSRAClassifier(n_estimators=3)


def rows_of(small):
    return small.frame.drop(columns=["id", "times", "kind"]), small.frame["kind"].to_numpy()


def printed(result):
    """What a command has printed, which fits on a terminal of 80 columns but for sentences, which wrap."""
    assert result.exit_code == 0, result.output
    table = [line for line in result.stdout.split("\n") if "  " in line or "──" in line]
    assert table
    assert max(map(len, table)) <= 80
    return result.stdout


# ---------------------------------------------------------------------------------- curve


@pytest.mark.parametrize(
    ("over", "sweep", "how"),
    [
        ("rows", size_sweep, {}),
        ("rows=0.5,1", size_sweep, {"sizes": [0.5, 1]}),
        ("noise=0,0.2", noise_sweep, {"levels": [0, 0.2]}),
        ("imbalance=5,9", imbalance_sweep, {"ratios": [5, 9]}),
        ("cost=1,5", cost_sweep, {"costs": [1, 5]}),
        ("learning_rate=1,0.3", cost_sweep, {"costs": [0.3, 1], "param": "learning_rate"}),
    ],
)
def test_curves_are_those_of_the_library(small, run, over, sweep, how):
    told = ["curve", small.train, *CSRA, "--over", over, "--cost", 5, *TWO, "--seed", 4]
    found = json.loads(run(*told, "--json").stdout)
    estimator = CLF if over.startswith("cost") else CSRAClassifier(n_estimators=3, cost=5)
    known = sweep(estimator, *rows_of(small), cost=5, cv=2, random_state=4, **how)
    assert found["levels"] == known.levels.tolist()
    assert (found["positive"], found["fits"]) == ("bad", 2)
    assert set(found["measures"]) == set(known.measures)
    for measure, values in found["measures"].items():
        np.testing.assert_array_equal(np.array(values["values"], dtype=float), known.values(measure))
        np.testing.assert_array_equal(np.array(values["mean"], dtype=float), known.mean(measure))
    assert ("pooled" in found["measures"]["recall"]) == (sweep is cost_sweep)
    text = printed(run(*told))
    assert f"{known.mean('recall')[-1]:.3f} ±{known.spread('recall')[-1]:.3f}" in text
    assert "a miss costs 5 false alarms" in text


def test_the_curve_over_rounds_has_training_and_test_rows(small, run, tmp_path):
    told = ["curve", small.train, *CSRA, "--over", "rounds", *TWO, "--cost", 5, "--measures", "MCC,recall"]
    found = json.loads(run(*told, "--json").stdout)
    curve = evaluate.staged_curve(CSRAClassifier(n_estimators=3, cost=5), *rows_of(small), cost=5, cv=2, random_state=0)
    for measure in curve.measures:
        for part in ("train", "test"):
            assert found["measures"][measure][part]["values"] == curve.values(measure, part).tolist()
    assert found["best"] == {"measure": "mcc", "round": curve.best_round("mcc")}
    assert found["rounds_of_fits"] == [3, 3]
    assert np.shape(found["weights"]["of_positives"]) == (2, 3)
    text = printed(run(*told, "--plot", tmp_path / "rounds.png"))
    assert (
        f"training: the mean MCC on the training rows.\nThe mean MCC is best at round {curve.best_round('mcc')}" in text
    )
    assert f"{curve.mean('mcc', 'train')[-1]:.3f}   {curve.mean('mcc')[-1]:.3f}" in text
    assert (tmp_path / "rounds.png").stat().st_size > 5000


def test_curves_of_many_classes_are_over_rounds(small, run, refused):
    many = ["curve", small.many, "-t", "kind", "-m", "AdaBoostMH", "-r", 3, *TWO]
    assert "balanced accuracy" in printed(run(*many, "--over", "rounds"))
    assert "but a curve over rows needs two" in refused(*many)


def test_many_measures_are_printed_without_their_spread(small, run):
    told = ["--measures", "recall,precision,f1,mcc,error,cost", "--over", "cost=1,2", *TWO]
    assert "±" not in printed(run("curve", small.train, *CSRA, *told))


def test_parameters_of_learners_and_whole_numbers(small, run):
    told = ["--learner", "tree", "--over", "estimator__max_depth=1,2", *TWO]
    found = json.loads(run("curve", small.train, *CSRA, *told, "--json").stdout)
    assert found["levels"] == [1, 2]
    assert found["what"] == "estimator__max_depth"
    assert found["measures"]["recall"]["mean"][0] != found["measures"]["recall"]["mean"][1]
    assert read_over("max_depth = 1, 2.5") == ("max_depth", [1, 2.5])


def test_what_no_curve_can_be_drawn_of(small, refused):
    def said(*told):
        return refused("curve", small.train, *CSRA, *TWO, *told)

    assert "'speed' is none of rows, rounds, cost, noise, imbalance, and has no values" in said("--over", "speed")
    assert "Did you mean 'rounds'" in said("--over", "round")
    assert "CSRA has no parameter 'speed'" in said("--over", "speed=1,2")
    assert "--over rounds takes no values. All rounds" in said("--over", "rounds=10")
    assert "Use --seed" in said("--over", "random_state=1,2")
    assert "--set learning_rate has no effect" in said("--over", "learning_rate=1", "--set", "learning_rate=1")
    assert "'tree' is not allowed" in said("--over", "criterion=tree")
    for over, words in {
        "rows=0,1": "'0' is not allowed. Give fractions of the training rows",
        "noise=0.5": "fractions of the labels below 0.5",
        "cost=0": "costs of a miss above 0",
        "cost=": "'' is not allowed",
        "cost=nan": "'nan' is not allowed",
        "imbalance=-1": "negatives per positive",
        "rows=0.001": "--over rows has 0.001, which leaves 0 of",
        "imbalance=1.1": "Start at ",
        "imbalance=1000": "which leaves 0 positives in a training part. Give smaller ratios",
    }.items():
        assert words in said("--over", over), over
    assert "or name the other class with --positive" in said("--over", "imbalance=1.1")
    assert "'speed' is not a measure of this curve. Choose one of" in said("--measures", "speed")
    assert "'pr_auc' is not a measure of this curve" in said("--over", "rounds", "--measures", "pr_auc")
    assert "Give --cv" in said("--cv", 200)
    assert "reject_cost refers some" in refused("curve", small.train, *TOLD[:4], "--set", "reject_cost=0.1")
    assert "reject_cost refers some" in refused("curve", small.train, *TOLD[:4], "--over", "reject_cost=0.1,0.2")
    assert "learning_rate of CSRAClassifier must be a number" in said("--over", "learning_rate=9,10")
    assert "Use --method CSRA" in refused("curve", small.train, *TOLD[:4], "--over", "rounds")
    assert "--plot" in said("--plot", "picture.bmp")


# ------------------------------------------------------------------------- bias, variance


@pytest.mark.parametrize(
    ("told", "how"),
    [
        ([], {}),
        (["--staged", "--of", "cost", "--cost", 5], {"staged": True, "of": "cost", "cost": 5}),
        (["--of", "squared_error", "--scheme", "subsample"], {"of": "squared_error", "scheme": "subsample"}),
        (
            ["--decomposition", "kohavi_wolpert", "--scheme", "cv", "--cv", 2],
            {"method": "kohavi_wolpert", "scheme": "cv", "cv": 2},
        ),
    ],
)
def test_bias_and_variance_are_those_of_the_library(small, run, told, how):
    told = ["bias-variance", small.train, *CSRA, "--draws", 3, *told]
    found = json.loads(run(*told, "--json").stdout)
    estimator = CSRAClassifier(n_estimators=3, cost=how.get("cost"))
    known = bias_variance(estimator, *rows_of(small), draws=3, random_state=0, **how)
    for part in ("loss", "bias", "variance"):
        assert found[part] == getattr(known, part).tolist()
    assert (found["variance_biased"] is None) == (known.variance_biased is None)
    text = printed(run(*told))
    assert (f"{known.bias[-1]:.3f}" if known.rounds[0] else f"{known.bias[0]:.4f}") in text


def test_what_cannot_be_decomposed(small, refused):
    def said(*told):
        return refused("bias-variance", small.train, *TOLD[:4], "--draws", 2, *told)

    assert "--of 'money' is unknown. Choose one of error, cost" in said("--of", "money")
    assert "--scheme 'x' is unknown" in said("--scheme", "x")
    assert "--decomposition 'x' is unknown" in said("--decomposition", "x")
    assert "is for the error only" in said("--of", "cost", "--decomposition", "kohavi_wolpert")
    assert "--cv has no effect with --scheme bootstrap" in said("--cv", 3)
    assert "--time has no effect" in said("--time", "age")
    assert "the rounds of SkewBoost cannot be measured" in said("--staged")
    assert "RealBoost has no costs, so --cost has no effect. Use --of cost" in said("-m", "RealBoost", "--cost", 5)
    assert "Cascade has no probabilities" in said("-m", "Cascade", "--of", "squared_error")
    assert "Give --cv" in said("--scheme", "cv", "--cv", 200)


def test_a_third_of_each_class_is_needed(small, refused, tmp_path):
    small.frame.assign(kind=["bad"] * 2 + ["good"] * 238).to_csv(tmp_path / "few.csv", index=False)
    assert "a third of each class is held out, but bad has 2 rows" in refused("bias-variance", "few.csv", *CSRA)


# -------------------------------------------------------------------------------- a rate


def test_methods_are_compared_at_the_same_rate(small, run):
    told = ["match-rate", small.train, "sensitivity = 80%", *TOLD, "-m", "CSRA,AdaC2:learning_rate=0.5", *TWO]
    found = json.loads(run(*told, "--tolerance", 0.05, "--json").stdout)
    how = {"rate": 0.8, "tolerance": 0.05, "cv": 2, "repeats": 1, "random_state": 0}
    known = match_rate(CLF, *rows_of(small), **how)
    assert known.met
    assert (found["measure"], found["rate"], found["complete"]) == ("recall", 0.8, True)
    first, second = found["methods"]
    assert (first["method"], second["method"]) == ("CSRA", "AdaC2:learning_rate=0.5")
    assert first["cost"] == known.cost
    assert first["measures"]["precision"]["values"] == known.values("precision").tolist()
    assert [(row["cost"], row["recall"]) for row in first["tried"]] == known.tried
    for row in found["methods"]:
        assert row["met"]
        assert row["measures"]["recall"]["mean"] == pytest.approx(0.8, abs=0.05)
    assert f"{known.mean('precision'):.3f}" in printed(run(*told, "--tolerance", 0.05))


def test_a_rate_that_is_not_met_is_a_failure(small, run):
    told = ["match-rate", small.train, "precision=0.99", *TOLD, *TWO, "--max-points", 2]
    result = run(*told)
    assert result.exit_code == 1
    assert "(not met)" in result.stdout
    assert "precision=0.99 was not met by CSRA. Use a larger --tolerance" in result.stderr
    assert "--max-points" in result.stderr
    assert json.loads(run(*told, "--json").stdout)["methods"][0]["met"] is False
    assert run(*told, "--tolerance", 0.9).exit_code == 0  # the remedy


def test_ctrl_c_prints_the_methods_that_are_finished(small, run, monkeypatch):
    whole = match_rate_command._match

    def interrupted(request, measure, rate, name, estimator, examples):
        if name != "CSRA":
            raise KeyboardInterrupt
        return whole(request, measure, rate, name, estimator, examples)

    monkeypatch.setattr(match_rate_command, "_match", interrupted)
    told = ["match-rate", small.train, "recall=0.8", *TOLD, "-m", "CSRA,AdaC2", *TWO, "--tolerance", 0.2]
    result = run(*told)
    assert result.exit_code == 130
    assert "CSRA" in result.stdout
    assert result.stderr == "error: interrupted after 1 of 2 methods.\n"
    assert json.loads(run(*told, "--json").stdout)["complete"] is False


def test_ctrl_c_prints_the_best_cost_so_far(small, run, interrupt):
    told = ["match-rate", small.train, "recall=0.77", *CSRA, *TWO, "--tolerance", 1e-6]
    interrupt(5)
    result = run(*told)
    assert result.exit_code == 130
    assert "(interrupted)" in result.stdout
    assert result.stderr == "error: interrupted after 0 of 1 method.\n"
    interrupt(5)
    found = json.loads(run(*told, "--json").stdout)
    assert found["complete"] is found["methods"][0]["complete"] is False
    assert len(found["methods"][0]["tried"]) == 2
    interrupt(1)
    assert run(*told).stdout == ""


@pytest.mark.parametrize(
    ("args", "done", "total"),
    [
        (["curve", "--over", "rows=0.5,1", "--cv", 3], 4, 6),
        (["curve", "--over", "rounds", "--cv", 3], 2, 3),
        (["curve", "--over", "cost=1,5", "--cv", 3], 3, 6),
        (["curve", "--over", "learning_rate=0.5,1", "--cv", 3], 2, 6),
        (["bias-variance", "--draws", 5], 3, 5),
        (["bias-variance", "--draws", 3, "--scheme", "cv", "--cv", 2, "--staged"], 5, 6),
    ],
)
def test_ctrl_c_prints_and_draws_what_is_finished(small, run, interrupt, tmp_path, args, done, total):
    told = [args[0], small.train, *CSRA, *args[1:]]
    whole = json.loads(run(*told, "--json").stdout)
    interrupt(done)
    result = run(*told, "--plot", tmp_path / "picture.png")
    assert result.exit_code == 130
    assert "──" in result.stdout
    assert "is best at" not in result.stdout
    assert (", interrupted\n" in result.stdout) == (args[0] == "curve")
    assert result.stderr == f"error: interrupted after {done} of {total} fits.\n"
    assert (tmp_path / "picture.png").exists()
    interrupt(done)
    part = json.loads(run(*told, "--json").stdout)
    assert whole["complete"] is True
    assert part["complete"] is False
    if args[0] == "bias-variance":
        assert part["draws"] == (2 if "cv" in args else done)
        return
    for measure, values in part["measures"].items():
        finished, all_fits = (each["measures"][measure].get("test", values) for each in (part, whole))
        finished, all_fits = (np.array(each["values"], dtype=float) for each in (finished, all_fits))
        assert np.isfinite(finished).any()
        np.testing.assert_array_equal(finished[np.isfinite(finished)], all_fits[: len(finished)][np.isfinite(finished)])


@pytest.mark.parametrize(
    ("args", "done", "total"),
    [(["curve", *TWO], 0, 6), (["curve", "--over", "rounds", *TWO], 0, 2), (["bias-variance", "--draws", 3], 1, 3)],
)
def test_ctrl_c_says_so_if_that_is_too_few_fits_for_a_result_and_writes_nothing(
    small, refused, interrupt, args, done, total
):
    interrupt(done)
    line = refused(args[0], small.train, *CSRA, *args[1:], "--plot", "picture.png", code=130)
    assert line == f"error: interrupted after {done} of {total} fits. That is too few for a result.\n"


def test_a_report_with_an_interrupted_curve_is_not_written(small, refused, interrupt):
    interrupt(5)  # the model, and the methods on three folds, come before the curve
    line = refused("report", small.train, *CSRA, "--methods", "CSRA", "-o", "report.html", code=130)
    assert line == "error: interrupted after 1 of 3 fits.\n"


def test_what_is_no_rate(small, refused):
    for text, words in {
        "recall>=0.9": "is a bound, but a rate has one value",
        "recall": "cannot be read as a rate",
        "speed=0.9": "'speed' is not a measure. Choose one of",
        "recall=90": "recall cannot be 90. Give a value from 0 to 1, or in %",
        "recall=0.9.1": "'0.9.1' is not a number",
        "recall=0.9 and precision=0.5": "cannot be read as a rate",
    }.items():
        assert words in refused("match-rate", small.train, text, *TOLD), text
    assert read_rate("log-loss == 1.5") == ("log_loss", 1.5)

    def said(*told):
        return refused("match-rate", small.train, "recall=0.9", *TOLD, *TWO, *told)

    assert "--cost has no effect" in said("--cost", 5)
    assert "--vary 'both' is unknown" in said("--vary", "both")
    assert "--max-cost 1 must be" in said("--max-cost", 1)
    assert "--vary false_alarm has no effect on RealBoost" in said("-m", "RealBoost", "--vary", "false_alarm")
    assert "but a rate needs two" in refused("match-rate", small.many, "recall=0.9", "-t", "kind", "-m", "AdaBoostMH")
    assert "reject_cost refers some" in refused(
        "match-rate", small.train, "recall=0.9", *TOLD[:4], "-m", "SkewBoost:reject_cost=0.1"
    )


def test_a_goal_of_one_value_is_a_rate(small, refused):
    line = refused("goal", small.train, "recall = 90%", *CSRA)
    assert "asks for an exact value" in line
    assert "`skewboost match-rate` finds the cost" in line


# ------------------------------------------------------------------------------ divisions


@pytest.fixture
def fits(monkeypatch):
    seen = []

    def fit(self, X, y, *args, fit=CSRAClassifier.fit, **params):
        seen.append(X.index.to_numpy())
        return fit(self, X, y, *args, **params)

    monkeypatch.setattr(CSRAClassifier, "fit", fit)
    return seen


DIVIDING = ["-t", "kind", "--drop", "id,times", "-r", 2, "-m", "CSRA"]
COMMANDS = [
    (["curve"], ["--over", "rows=0.5,1", *TWO]),
    (["curve"], ["--over", "rounds", *TWO]),
    (["curve"], ["--over", "cost=1,2", *TWO]),
    (["match-rate"], ["recall=0.5", "--tolerance", 0.5, *TWO]),
    (["bias-variance"], ["--draws", 3]),
]


@pytest.mark.parametrize(("command", "args"), COMMANDS)
def test_groups_are_not_divided(small, run, fits, tmp_path, command, args):
    frame = small.frame.assign(customer=np.arange(len(small.frame)) // 6)
    frame.to_csv(tmp_path / "t.csv", index=False)
    result = run(*command, tmp_path / "t.csv", *args, *DIVIDING, "--group", "customer")
    assert result.exit_code == 0, result.output
    assert "whole groups" in result.stdout
    customers = [set(frame["customer"].iloc[rows]) for rows in fits]
    if command == ["bias-variance"]:
        customers = [set.union(*customers)]  # all training sets are drawn from the same ones
    else:
        whole = [(own, rows) for own, rows in zip(customers, fits) if len(rows) > 100]  # without parts of training rows
        assert len(whole) >= 2
        assert not any(own & set(frame["customer"].drop(rows)) for own, rows in whole)
    assert max(map(len, customers)) < 30


@pytest.mark.parametrize(("command", "args"), COMMANDS[:4])
def test_no_model_sees_later_rows(small, run, fits, tmp_path, command, args):
    frame = small.frame.assign(day=np.arange(len(small.frame))[::-1] // 2)
    frame.to_csv(tmp_path / "t.csv", index=False)
    result = run(*command, tmp_path / "t.csv", *args, *DIVIDING, "--time", "day")
    assert result.exit_code == 0, result.output
    assert "2 folds in time (day)" in result.stdout
    whole = [rows for rows in fits if len(rows) in (80, 160)]
    assert {len(rows) for rows in whole} == {80, 160}
    for rows in whole:
        assert frame["day"].iloc[rows].max() < frame["day"].drop(rows).min()


def test_weights_count_examples(small, run, tmp_path):
    told = ["curve", small.train, "-t", "kind", "--drop", "id", "-r", 2, "-m", "CSRA", *TWO, "--weight", "times"]
    found = json.loads(run(*told, "--over", "cost=1", "--json").stdout)
    X, y = rows_of(small)
    known = cost_sweep(
        CSRAClassifier(n_estimators=2), X, y, costs=[1], cv=2, sample_weight=small.frame["times"], random_state=0
    )
    assert found["measures"]["recall"]["values"] == known.values("recall").tolist()


def test_names_of_commands_are_those_of_their_classes():
    class BiasVariance(Command):
        pass

    assert BiasVariance.command_name() == "bias-variance"
    assert BiasVariance().module == "bias_variance_command"


def test_hostile_names(run, tmp_path):
    rng = np.random.default_rng(0)
    x = rng.normal(size=120)
    frame = pd.DataFrame({"[x] $a$": x, "\x1b[31m": np.where(x + rng.normal(size=120) > 0.5, "[/bad]", "$g$")})
    frame.to_parquet(tmp_path / "[t].parquet")
    for args in (["curve", "--over", "cost=1,2", *TWO], ["bias-variance", "--draws", 2]):
        how = ["-t", "\x1b[31m", "-m", "CSRA", "-r", 2, "--plot", tmp_path / "[p].png"]
        result = run(args[0], tmp_path / "[t].parquet", *how, *args[1:])
        assert result.exit_code == 0, result.output
        assert "[t].parquet" in result.stdout
        assert (tmp_path / "[p].png").stat().st_size > 5000
        (tmp_path / "[p].png").unlink()
