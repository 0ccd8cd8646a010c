"""Whatever columns, categories, classes and files are called, every command says so and takes nothing for mark-up."""

from __future__ import annotations

import csv
import json
import re
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from hostile import NAMES, ODD, PLAIN, TALL
from skewboost.names import shown, side_by_side

POSITIVE, NEGATIVE = "bad [red] $a$ <b>", "good [/x] \x1b[31m"
TARGET = "[/kind] & $y$"
N_COLUMNS = 39  # so many are listed by `info`, with the target
COLUMNS = [*ODD, *TALL, *PLAIN][:N_COLUMNS]
CLASSES = [*PLAIN[:8], *ODD[:4]]  # as many as `info` lists


def table_of(columns, seed=0, n=260):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, len(columns))).round(3)
    score = X.sum(axis=1)
    return pd.DataFrame(dict(zip(columns, X.T))).assign(**{TARGET: np.where(score > 3, POSITIVE, NEGATIVE)})


def checked(result, code=0):
    assert result.exit_code == code, result.output + str(result.exception)
    for said in (result.stdout, result.stderr):
        assert all(line.isprintable() for line in said.split("\n")), said
    return result


@pytest.fixture(scope="module")
def wide(tmp_path_factory):
    """Columns of hostile names, and a model that looks at all of them."""
    folder = tmp_path_factory.mktemp("wide")
    (folder / "[").mkdir()  # so that [/x] is a path
    made = SimpleNamespace(folder=folder, columns=COLUMNS, frame=table_of(COLUMNS))
    made.data, made.model = str(folder / "[red] $a$ :b:.parquet"), str(folder / "[/m] $a$;#.json")
    made.frame.to_parquet(made.data)
    return made


MEAN_EFFECT = " (its mean effect; trees combine it with other columns)"
QUICK = ["-m", "SkewBoost", "--set", "effort=quick"]
METHODS = {
    "booster": ["fit", "-m", "CSRA", "--rounds", 120, "--cost", 5, "--test", 0.2],
    "portfolio": ["fit", *QUICK, "--cost", 5, "--test", 0.2],
    "goal of a portfolio": ["goal", "recall >= 30%", *QUICK, "--confidence", 0.5, "--test", 0.2],
}


@pytest.fixture(
    scope="module", params=["booster", "portfolio", pytest.param("goal of a portfolio", marks=pytest.mark.slow)]
)
def fitted(run, wide, request):
    command, *how = METHODS[request.param]
    model = f"{wide.model}{request.param}.json"
    said = checked(run(command, wide.data, *how, "-t", TARGET, "-o", model))
    return SimpleNamespace(**{**vars(wide), "model": model, "fit": said})


def test_info(run, wide):
    said = checked(run("info", wide.data, "--target", TARGET)).stdout
    lines = said.split("\n")
    first = [line.split("  ")[0] for line in lines]
    for name in (*side_by_side(wide.columns, 28), TARGET):
        assert name in first or f"Target {name}" in first
    assert {shown(POSITIVE), shown(NEGATIVE)} <= {line.split("  ")[0] for line in lines}
    assert wide.data in lines[0]
    found = json.loads(checked(run("info", wide.data, "--target", TARGET, "--json")).stdout)
    assert [column["name"] for column in found["columns"]] == wide.columns


def test_fit_and_evaluate(run, fitted):
    for said in (fitted.fit.stdout, checked(run("evaluate", fitted.model, fitted.data)).stdout):
        for label in (POSITIVE, NEGATIVE):
            assert f"really {shown(label)} " in said
            assert f"predicted {shown(label)}" in said
        assert f"{shown(POSITIVE)} (positive)" in said
    assert f"target    {TARGET}: {POSITIVE} is the positive class" in fitted.fit.stdout
    assert f"skewboost explain '{fitted.model}'" in fitted.fit.stdout
    found = json.loads(checked(run("evaluate", fitted.model, fitted.data, "--json")).stdout)
    assert set(found["classes"]) == {POSITIVE, NEGATIVE}


@pytest.mark.slow
def test_explain(run, fitted):
    name_of = dict(zip(fitted.columns, side_by_side(fitted.columns, 40)))
    told = json.loads(checked(run("explain", fitted.model, "--json", "--top", 60)).stdout)
    used = [name for name, v in told["importances"].items() if v > 0]
    assert len(used) > 30
    said = checked(run("explain", fitted.model, "--top", 60)).stdout.split("\n")
    for name in used:
        assert any(line.removesuffix(MEAN_EFFECT) == shown(name) for line in said), name
    bars = [line.split("  ")[0] for line in said if re.search(r"  0\.\d{3}  +#+ *$", line)]
    assert bars == [name_of[name] for name in used[:15]]
    row = checked(run("explain", fitted.model, fitted.data, "--row", 2, "--top", 60)).stdout
    told = json.loads(checked(run("explain", fitted.model, fitted.data, "--row", 2, "--json")).stdout)
    moves = [c["column"] for c in told["contributions"] if c["adds"]]
    assert f"predicts {shown(told['prediction'])}; the true class is {shown(told['truth'])}." in row
    assert {line.split("  ")[0] for line in row.split("\n")} >= {name_of[name] for name in moves}
    picture = fitted.folder / "[/why] $a$.svg"
    checked(run("explain", fitted.model, fitted.data, "--plot", picture))
    checked(run("explain", fitted.model, "--top", 9, "--plot", picture))


def test_predict_and_export(run, fitted):
    rows = json.loads(checked(run("predict", fitted.model, fitted.data, "--json")).stdout)
    assert {row["prediction"] for row in rows} == {POSITIVE, NEGATIVE}
    answers = fitted.folder / "answers.csv"
    said = checked(run("predict", fitted.model, fitted.data, "-o", answers, "--keep", "all"))
    assert f"are {shown(POSITIVE)}" in said.stderr
    kept = pd.read_csv(answers, keep_default_na=False)
    pd.testing.assert_series_equal(kept["prediction"], pd.DataFrame(rows)["prediction"])
    with open(answers, newline="") as file:
        assert next(csv.reader(file))[:-3] == [*fitted.columns, TARGET]
    checked(run("export", fitted.model, "-o", fitted.folder / "[/x].onnx"))
    compile(checked(run("export", fitted.model, "--to", "python")).stdout, "model.py", "exec")
    assert "predict" in checked(run("export", fitted.model, "--to", "c")).stdout
    sql = run("export", fitted.model, "--to", "sql")  # which has no escapes, so that it may hold any character
    assert sql.exit_code == (2 if "a\x00b" in fitted.columns else 0)
    assert sql.exit_code == 0 or "null" in sql.stderr


@pytest.mark.slow
def test_compare_and_goal(run, fitted):
    picture, results = fitted.folder / "[/c].png", fitted.folder / "[/c] $a$.jsonl"
    how = ["-t", TARGET, "--rounds", 2, "--cost", 5]
    said = checked(
        run("compare", fitted.data, *how, "-m", "RealBoost,CSRA", "--cv", 2, "--plot", picture, "--results", results)
    )
    assert fitted.data in said.stdout
    assert f"Written: {picture}" in said.stdout
    goal = [
        "goal",
        fitted.data,
        "recall>=0.1",
        "-t",
        TARGET,
        "-m",
        "CSRA",
        "-r",
        2,
        "--confidence",
        0,
        "--plot",
        picture,
    ]
    assert POSITIVE in checked(run(*goal)).stdout


def test_wrong_names_are_one_line(run, fitted):
    """The names that there are, and the one that is not there, as they are."""
    for name in ("[/no]", "\x1b[31m"):
        for args, there in (
            (("fit", fitted.data, "-t", name), side_by_side(fitted.columns[:30], 60)),
            (("info", fitted.data, "-t", name), side_by_side(fitted.columns[:12], 60)),
            (("fit", fitted.data, "-t", TARGET, "--positive", name), [shown(POSITIVE), shown(NEGATIVE)]),
            (("predict", fitted.model, fitted.data, "--keep", name), side_by_side(fitted.columns[:30], 60)),
        ):
            said = checked(run(*args), 2).stderr
            assert said.count("\n") == 1
            assert repr(name) in said or "Did you mean" in said
            assert "Did you mean" in said or all(other in said for other in there)
        assert "there is no file" in checked(run("explain", f"{name}.json"), 2).stderr
    assert checked(run("list", "[/x]")).stdout.strip().startswith("Name")
    for args in (
        ("[/x]",),
        ("fit", "--[/x]"),
        ("explain", "a", "--row", "[/x]"),
    ):
        said = checked(run(*args), 2).stderr
        assert "[/x]" in said
        assert said.count("\n") == 1


@pytest.fixture(scope="module")
def kinds(tmp_path_factory):
    """Categories and classes of hostile names."""
    folder = tmp_path_factory.mktemp("kinds")
    rng = np.random.default_rng(0)
    n = 8 * len(NAMES)
    of_class = np.arange(n) % len(CLASSES)
    effect = rng.normal(size=len(NAMES))
    which = rng.permutation(np.arange(n) % len(NAMES))
    frame = pd.DataFrame({"[/c]": np.array(NAMES, dtype=object)[which], "x": of_class + rng.normal(size=n)})
    frame.loc[rng.random(n) < 0.05, "[/c]"] = None
    two = frame.assign(**{TARGET: np.where(effect[which] + rng.normal(size=n) > 0.8, POSITIVE, NEGATIVE)})
    many = frame.assign(**{TARGET: np.array(CLASSES, dtype=object)[of_class]})
    made = SimpleNamespace(folder=folder, two=str(folder / "two.parquet"), many=str(folder / "many.parquet"))
    two.to_parquet(made.two)
    many.to_parquet(made.many)
    return made


def test_categories(run, kinds):
    """A tree lists them by name; shape functions have the most frequent."""
    model = str(kinds.folder / "model.json")
    checked(run("info", kinds.two, "-t", TARGET))
    checked(run("fit", kinds.two, "-t", TARGET, "-o", model, "--rounds", 5, "--method", "AlternatingTree"))
    said = checked(run("explain", model)).stdout
    assert "[/c] in {" in said or "[/c] = " in said or "[/c] not in {" in said
    for row in (1, 20, 40):
        told = json.loads(checked(run("explain", model, kinds.two, "--row", row, "--json")).stdout)
        value = next(c["value"] for c in told["contributions"] if c["column"] == "[/c]")
        told_of = checked(run("explain", model, kinds.two, "--row", row)).stdout
        word = "missing" if value is None else side_by_side([value], 40, ["missing"])[0]
        assert f"[/c]  {word} " in re.sub("  +", "  ", told_of) or "[/c]" not in told_of
    for how in (["-m", "CSRA", "--rounds", 20], QUICK):
        checked(run("fit", kinds.two, "-t", TARGET, "-o", model, *how))
        checked(run("explain", model, kinds.two, "--row", 20))
        shapes = json.loads(checked(run("explain", model, "--json")).stdout)["shapes"]
        shape = next(s for s in shapes if s["column"] == "[/c]")
        assert {line["category"] for line in shape["lines"] if "category" in line} <= set(NAMES)
        assert len({line["values"] for line in shape["lines"]}) == len(shape["lines"])


@pytest.mark.parametrize(
    "how",
    [["-m", "AdaBoostMH", "--rounds", 20], pytest.param(QUICK, marks=pytest.mark.slow)],
    ids=["booster", "portfolio"],
)
def test_classes(run, kinds, how):
    model, answers = str(kinds.folder / "many.json"), kinds.folder / "answers.csv"
    said = checked(run("info", kinds.many, "-t", TARGET)).stdout
    assert {line.split("  ")[0] for line in said.split("\n")} >= set(map(shown, CLASSES))
    how = [*how, "-o", model]
    for command in (("fit", kinds.many, "-t", TARGET, *how), ("evaluate", model, kinds.many)):
        said = checked(run(*command)).stdout
        assert {line.split("  ")[0] for line in said.split("\n")} >= set(side_by_side(CLASSES))
    checked(run("predict", model, kinds.many, "-o", answers))
    found = pd.read_csv(answers, keep_default_na=False)
    assert set(found["prediction"]) <= set(CLASSES)
    assert [f"probability_{c}" for c in sorted(CLASSES)] == found.columns[1 : 1 + len(CLASSES)].tolist()
    priced = ",".join(f"{c}=2" for c in CLASSES if "," not in c)
    refused = checked(run("fit", kinds.many, "-t", TARGET, *how, "--cost", priced), 2 if "," in "".join(CLASSES) else 0)
    assert "has no cost for class" in refused.stderr or refused.exit_code == 0
    checked(run("explain", model, kinds.many, "--row", 3))


def test_a_label_of_referred_rows(run, kinds):
    """It is in decisions and programs, as classes are."""
    model, answers = str(kinds.folder / "referred.json"), kinds.folder / "referred.csv"
    label = "*/ [/ask] $b$"
    how = [*QUICK, "--cost", 2, "--set", "reject_cost=0.2", "--set", f"reject_label={label}"]
    checked(run("fit", kinds.two, "-t", TARGET, "-o", model, *how))
    checked(run("evaluate", model, kinds.two))
    checked(run("predict", model, kinds.two, "-o", answers))
    assert label in set(pd.read_csv(answers, keep_default_na=False)["prediction"])
    compile(checked(run("export", model, "--to", "python")).stdout, "model.py", "exec")


def test_shells_are_offered_names_that_they_do_not_act_on(wide):
    from skewboost.cli.options import complete_column

    context = SimpleNamespace(params={"data": wide.data}, args=[])
    offered = complete_column(context, "")
    assert all(name.isprintable() and not set(name) & set("$`'\"\\;&|<>(){}[]*?!#~") for name in offered)
    assert ":smile:" in offered


def test_a_file_whose_name_is_no_text(run, tmp_path):
    """Names of files are bytes; what is no UTF-8 is shown, too."""
    path = str(tmp_path / "caf\udce9 x].csv")
    try:
        with open(path, "w") as file:
            file.write("x,y\n" + "1,0\n2,1\n" * 20)
    except OSError:
        pytest.skip("this system has no such names")
    assert r"caf\udce9 x].csv: csv" in checked(run("info", path)).stdout
    assert r"caf\udce9 x].csv" in checked(run("info", path, "--json")).stdout
    assert r"caf\udce9" in checked(run("info", path + "?"), 2).stderr
