"""The command line: what `skewboost demo` prints and writes, and how it refuses bad arguments."""

from __future__ import annotations

import re
import subprocess
import sys

import numpy as np
import pytest
from matplotlib.image import imread
from sklearn.metrics import precision_recall_fscore_support
from typer.testing import CliRunner

import skewboost
import skewboost.io
from skewboost import cli
from skewboost.cli import demo_pictures
from skewboost.cli.app import app
from skewboost.cli.demo_comparison import BOOSTERS, Counts, compare, problems, staged_counts

ROUNDS = 3
METHODS = [
    "everything is common",
    "AdaBoost",
    "RealBoost",
    "GentleBoost",
    "LogitBoost",
    "RealBoost, trees",
    "RealBoost, threshold for 20:1",
    "CSRA, cost 20",
    "CGAda, 20, calibrated",
]


def invoke(*args):
    # wide, so that no line of a table is broken
    return CliRunner().invoke(app, list(map(str, args)), env={"COLUMNS": "160"}, prog_name="skewboost")


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    folder = tmp_path_factory.mktemp("demo") / "new" / "folder"
    result = invoke("demo", "--out", folder, "--rounds", ROUNDS, "--n-jobs", 1)
    assert result.exit_code == 0, result.output
    return folder, result


def rows_of(output):
    """Both tables, as {method: cells}."""
    tables = output.split("Card fraud: the goal")[0].split("Card fraud: ")
    line = re.compile(rf"^ *({'|'.join(map(re.escape, METHODS))})  +([-\d.* ]+)$", re.MULTILINE)
    return [{method: cells.split() for method, cells in line.findall(table)} for table in tables]


def test_there_is_a_table_per_data_set_with_every_method(demo):
    _, result = demo
    assert "Rare cancer: 199 test cases, 20 of them malignant" in result.stdout
    assert "Card fraud: 6000 test cases, 120 of them fraudulent" in result.stdout
    for heading in ("Method", "rounds", "rare:", "common:", "prec.", "recall", "F1", "cost"):
        assert result.stdout.count(heading) >= 2, heading
    assert result.stdout.count("A miss costs 20 false alarms") == 2
    assert "a single malignant case is 0.050 of recall" in " ".join(result.stdout.split())
    for table in rows_of(result.stdout):
        assert list(table) == METHODS
        assert {len(cells) for cells in table.values()} == {9}


def test_never_saying_rare_has_no_precision_and_misses_everything(demo):
    _, result = demo
    for table, n, n_rare in zip(rows_of(result.stdout), (199, 6000), (20, 120)):
        cells = table["everything is common"]
        assert cells[:5] == ["-", "-", "-", "0.000", "0.000"]
        assert cells[5] == f"{1 - n_rare / n:.3f}"
        assert cells[-1].lstrip("*") == str(20 * n_rare)


def test_costs_are_false_alarms_plus_twenty_times_misses(demo):
    _, result = demo
    for table, problem in zip(rows_of(result.stdout), problems()):
        model = skewboost.RealBoostClassifier(n_estimators=ROUNDS).fit(problem.X_train, problem.y_train)
        rare = problem.y_test == 1
        answers = {
            "RealBoost": model.predict(problem.X_test) == 1,
            "RealBoost, threshold for 20:1": model.predict_proba(problem.X_test)[:, 1] > 1 / 21,
        }
        for method, found in answers.items():
            cost = (found & ~rare).sum() + 20 * (~found & rare).sum()
            assert table[method][-1].lstrip("*") == str(cost)


def test_the_lowest_cost_and_no_other_is_marked(demo):
    _, result = demo
    for table in rows_of(result.stdout):
        costs = {method: int(cells[-1].lstrip("*")) for method, cells in table.items()}
        marked = {method for method, cells in table.items() if cells[-1].startswith("*")}
        assert marked == {method for method, cost in costs.items() if cost == min(costs.values())}


def test_pictures_are_written_at_150_dpi(demo):
    folder, result = demo
    sizes = {
        "learning_curves.png": (1200, 1680),
        "decision_boundary.png": (1440, 1500),
        "goal_frontier.png": (720, 1050),
    }
    assert {path.name for path in folder.iterdir()} == {*sizes, "model.json", "report.html"}
    for name, size in sizes.items():
        assert f"Written: {folder / name}\n" in result.stdout
        pixels = imread(folder / name)
        assert pixels.shape[:2] == size
        # neither blank nor a solid block: white paper, several colours of ink
        assert 0.02 < (pixels[..., :3].min(axis=-1) < 0.95).mean() < 0.9
        assert len(np.unique((pixels[..., :3] * 255).astype(int) @ [1, 256, 256**2])) > 20


def test_goals_prices_samplers_and_many_classes_are_shown(demo):
    _, result = demo
    certified = re.search(r"test set +(\d+) of 120 +(\d\.\d+) +(\d\.\d+)$", result.stdout, re.MULTILINE)
    assert int(certified[1]) / 120 == pytest.approx(float(certified[2]), abs=6e-4)
    paid = {
        name: int(bill.replace(",", ""))
        for name, bill in re.findall(r"^ *([a-z ]+?)  +[\d.]+% +([\d,]+) *$", result.stdout, re.MULTILINE)
    }
    assert paid["each its own price"] < paid["one price for all"] < paid["call nobody"]
    for name in ("RUSBoost", "SMOTEBoost of trees", "bagged under-samples", "pasted small votes", "AdaC2.M1 of trees"):
        assert re.search(rf"^{name} +\d\.\d+ +\d\.\d+$", result.stdout, re.MULTILINE), name


def test_it_ends_with_the_report_and_says_where_it_is(demo):
    folder, result = demo
    page = (folder / "report.html").read_text()
    assert "Card fraud: what does a false alarm cost you?" in page
    for section in ("Compared with others", "Learning curves", "Why it decides as it does"):
        assert section in page, section
    assert f"Open {folder / 'report.html'} in a browser" in result.stdout


def test_the_suggested_command_about_the_model_works(demo):
    folder, result = demo
    (command,) = re.findall(r"^  skewboost (explain .*)$", result.stdout, re.MULTILINE)
    told = invoke(*command.split(" ", 1))
    assert told.exit_code == 0
    assert "amount" in told.stdout
    model = skewboost.io.load(folder / "model.json")
    again = skewboost.CSRAClassifier(cost=20, n_estimators=ROUNDS).fit(problems()[1].X_train, problems()[1].y_train)
    X = problems()[1].X_test
    np.testing.assert_array_equal(model.decision_function(X), again.decision_function(X))


def test_counts_agree_with_scikit_learn():
    rng = np.random.default_rng(0)
    truth, answers = rng.integers(0, 2, (2, 200))
    counts = Counts.of(truth, answers)
    precision, recall, f1, _ = precision_recall_fscore_support(truth, answers, labels=[1, 0])
    for i, c in enumerate((counts, counts.swapped)):
        assert (c.precision, c.recall, c.f1) == pytest.approx((precision[i], recall[i], f1[i]))


def test_one_round_is_drawn_without_a_warning(tmp_path, monkeypatch):
    monkeypatch.setattr(demo_pictures, "GRID", 20)
    problem, boosters = problems()[0], {name: booster(n_estimators=1) for name, booster in BOOSTERS.items()}
    models = {name: b.fit(problem.X_train, problem.y_train) for name, b in boosters.items()}
    demo_pictures.save(demo_pictures.draw_curves([(problem, staged_counts(problem, models))]), tmp_path / "a.png")
    demo_pictures.save(demo_pictures.draw_boundaries(problem, boosters), tmp_path / "b.png")
    assert min((tmp_path / name).stat().st_size for name in ("a.png", "b.png")) > 10_000


def test_every_method_is_announced_and_told_its_rounds():
    heard = {}

    def announce(method):
        heard[method] = []
        return lambda done, _: heard[method].append(done)

    compare(problems()[0], 4, 1, announce)
    assert heard == {method: [1, 2, 3, 4] for method in METHODS[1:] if "threshold" not in method}


def a_file(tmp_path):
    (tmp_path / "taken").write_text("mine")
    return tmp_path / "taken"


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (lambda p: ["--out", a_file(p)], "taken is a file, not a folder"),
        (lambda p: ["--out", a_file(p) / "below"], "cannot make the folder"),
        (lambda p: ["--out", p, "--rounds", "0"], "--rounds"),
        (lambda p: ["--out", p, "--rounds", "many"], "--rounds"),
        (lambda p: ["--out", p, "--n-jobs", "0"], "0 is neither -1 (all cores) nor a number of threads"),
        (lambda p: ["--inn", p], "--inn"),
    ],
)
def test_bad_arguments_are_refused_in_one_line(tmp_path, args, words):
    result = invoke("demo", *args(tmp_path))
    assert result.exit_code == 2
    assert result.stdout == ""
    assert re.fullmatch(r"error: .*\n", result.stderr)
    assert words in result.stderr
    assert not list(tmp_path.glob("*.png"))


def test_version_help_and_unknown_commands():
    assert invoke("--version").stdout == f"skewboost {skewboost.__version__}\n"
    assert "demo" in invoke().stdout
    assert "--rounds" in invoke("demo", "--help").stdout
    unknown = invoke("dmeo")
    assert (unknown.exit_code, unknown.stderr.count("\n")) == (2, 1)


@pytest.mark.parametrize("package", ["typer", "rich", "pandas", "matplotlib"])
def test_without_its_extra_the_command_says_so_in_one_line(package, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(SystemExit) as left:
        cli.main()
    assert left.value.code == 2
    assert capsys.readouterr().err == 'the command line needs its extra: pip install "skewboost[cli]"\n'


def test_importing_the_command_line_imports_none_of_its_extra():
    code = "import sys, skewboost.cli; print({'typer', 'rich', 'pandas', 'matplotlib'} & set(sys.modules))"
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "set()"
