"""Experiments that resume, and the pages that are made of them."""

from __future__ import annotations

import csv
import json
import math
import warnings
from pathlib import Path

import numpy as np
import pytest
from joblib import Parallel

from skewboost.datasets.downloads import DownloadError
from skewboost.errors import InputError
from skewboost.evaluate import IncompleteResultWarning
from skewboost.plots.style import import_pyplot
from skewboost_reproductions import experiment_runs, experiments
from skewboost_reproductions.estimates import Estimate
from skewboost_reproductions.experiment import Experiment, Task
from skewboost_reproductions.experiment_runs import TaskFile, reproduce, reproduce_all, run_tasks
from skewboost_reproductions.page_parts import Cell, Claims, Figure, Table
from skewboost_reproductions.verdicts import COMPATIBLE, HELD, NOT_REPRODUCED, UNDECIDED, Claim, claim_of_draw

CALLS = []


def square(k):
    CALLS.append(k)
    return {"square": k * k, "nothing": math.nan}


def fail_at(k, worst):
    CALLS.append(k)
    if k == worst and worst not in FORGIVEN:
        raise RuntimeError("no")
    return k


FORGIVEN = set()


def draw():
    figure, axis = import_pyplot().subplots()
    axis.plot([0, 1], [0, 1])
    return figure


def report(results, quick):
    cells = {(f"k = {k}", "square"): Cell(Estimate(results.of(square, k)["square"], 0.5, 4), 3.0) for k in range(3)}
    cells["k = 3", "square"] = Cell(Estimate(math.nan), 9.0)  # printed, but not here
    return [
        Claims([Claim("Squares | grow", HELD, "0 < 1 < 4")]),
        "Some *text*.",
        Table("squares", "Squares", "number", cells, digits=1, note="A note."),
        Figure("line", "A line.", draw),
    ]


def empty(results, quick):
    return ["Nothing."]


def squares(**changes):
    given = {
        "name": "squares", "title": "Squares", "source": "nyga2010", "shows": "table 1", "protocol": "Square numbers.",
        "tasks": lambda quick: [Task(square, k) for k in range(3)], "report": report,
        "discussion": "## Why\n\nBecause.",
    }  # fmt: skip
    return Experiment(**(given | changes))


@pytest.fixture(autouse=True)
def nothing_called():
    CALLS.clear()
    FORGIVEN.clear()


@pytest.fixture
def known(monkeypatch):
    monkeypatch.setattr(experiment_runs, "find", lambda name: squares())


def test_every_experiment_describes_itself():
    found = experiments()
    assert found
    for name, one in found.items():
        assert one.name == name
        assert one.protocol.strip()
        quick, full = one.tasks(True), one.tasks(False)
        assert 0 < len(quick) <= len(full)
        assert len({task.name for task in full}) == len(full)
        json.dumps([task.args for task in full])


def test_an_unknown_experiment_is_refused(tmp_path):
    with pytest.raises(InputError, match="'nope' is not an experiment"):
        reproduce("nope", tmp_path)


def test_finished_tasks_are_not_run_again(tmp_path):
    path = tmp_path / "r.jsonl"
    assert run_tasks(squares(), False, path).of(square, 2)["square"] == 4
    assert math.isnan(run_tasks(squares(), False, path).of(square, 2)["nothing"])
    assert CALLS == [0, 1, 2]
    run_tasks(squares(), False, path, again=True)
    assert len(CALLS) == 6


def test_a_failure_loses_nothing_that_was_finished(tmp_path):
    path = tmp_path / "r.jsonl"
    one = squares(tasks=lambda quick: [Task(fail_at, k, 2) for k in range(4)])
    with pytest.raises(RuntimeError, match="no"):
        run_tasks(one, False, path)
    assert CALLS == [0, 1, 2]
    FORGIVEN.add(2)
    run_tasks(one, False, path)
    assert CALLS == [0, 1, 2, 2, 3]


def test_the_number_of_processes_changes_nothing(tmp_path):
    one = squares(tasks=lambda quick: [Task(math.sqrt, float(k)) for k in range(5)])
    found = [run_tasks(one, False, None, n_jobs=jobs) for jobs in (1, 2)]
    assert [[r.of(math.sqrt, float(k)) for k in range(5)] for r in found] == [[math.sqrt(k) for k in range(5)]] * 2


@pytest.mark.parametrize("other", [{"name": "cubes"}, {"revision": 2}])
def test_results_of_something_else_are_refused(tmp_path, other):
    path = tmp_path / "r.jsonl"
    run_tasks(squares(), False, path)
    with pytest.raises(InputError, match="another experiment or of another version") as error:
        TaskFile(path, squares(**other))
    assert "--again" in str(error.value)


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"seconds": "nan"}, "seconds is 'nan'"),
        ({"seconds": {"number": "nan"}}, "seconds is nan"),
        ({"seconds": -1.0}, "seconds is -1"),
        ({"seconds": None}, "seconds is None"),
        ({"seconds": 10**400}, "seconds is 1000"),
        ({"seconds": 0.5}, "it does not have the content that was written"),
        ({"value": None}, "it does not have the content that was written"),
        ({"value": "x"}, "it does not have the content that was written"),
        ({"value": {}}, "it does not have the content that was written"),
        ({"name": "another"}, "it does not have the content that was written"),
        ({"check": ...}, "'check'"),
        ({"name": 3}, "name is 3"),
        ({"kind": "fit"}, "lines of kind 'fit' are unknown"),
        ({"seconds": ...}, "'seconds'"),
        ({"value": ...}, "'value'"),
        ({"name": ...}, "'name'"),
        ({"kind": ...}, "'kind'"),
    ],
    ids=str,
)
def test_lines_of_wrong_content_are_damage_like_any_other(tmp_path, known, changes, problem):
    path = tmp_path / "results" / "squares.jsonl"
    reproduce("squares", tmp_path, n_jobs=1)
    lines = path.read_text().splitlines(keepends=True)
    content = {**json.loads(lines[2]), **changes}
    lines[2] = json.dumps({name: value for name, value in content.items() if value is not ...}) + "\n"
    path.write_text("".join(lines))
    with pytest.raises(InputError) as error:
        reproduce("squares", tmp_path, n_jobs=1)
    message = str(error.value)
    for part in (f"{path} is damaged in line 3", problem, "run it with --again (again=True) to start over"):
        assert part in message
    CALLS.clear()
    reproduce("squares", tmp_path, n_jobs=1, again=True)  # as the message says
    assert CALLS == [0, 1, 2]


def test_the_value_of_a_task_may_be_anything(tmp_path):
    """Only the report of an experiment knows what its tasks return."""
    values = [None, "x", [1, {"a": math.inf}], 3.5]
    one = squares(tasks=lambda quick: [Task(values.__getitem__, k) for k in range(len(values))])
    for _ in range(2):
        found = run_tasks(one, False, tmp_path / "r.jsonl")
        assert [found.of(values.__getitem__, k) for k in range(len(values))] == values


def test_a_page_has_the_protocol_the_claims_and_both_numbers(tmp_path, known):
    done = reproduce("squares", tmp_path, n_jobs=1)
    assert done.page == tmp_path / "squares.md"
    text = done.page.read_text()
    for part in (
        "# Squares", 'Table 1 of Nyga 2010: D. Nyga, "Ensemble learning', "Square numbers.", "Some *text*.",
        "| Squares \\| grow | **held** | 0 < 1 < 4 |", "## Why", "| k = 2 | 4.0 ± 0.5<br>3.0 (+1.0) |",
        "| k = 3 | –<br>9.0 |", "1 of 3 differ by at most two standard errors of ours", "A note.",
        "](squares-line.png)",
    ):  # fmt: skip
        assert part in text
    assert {file.name for file in done.files} == {"squares-squares.csv", "squares-squares.png", "squares-line.png"}
    for file in done.files:
        assert file.suffix == ".csv" or file.read_bytes().startswith(b"\x89PNG")
    assert [claim.verdict for claim in done.claims] == [HELD]


def test_links_to_the_documentation_are_kept_where_it_is(tmp_path, monkeypatch):
    text = "See [others](others.md), [printed](../as_printed.md#switches), [CSV](squares-squares.csv)."
    monkeypatch.setattr(experiment_runs, "find", lambda name: squares(protocol=text))
    elsewhere = reproduce("squares", tmp_path / "out", n_jobs=1).page.read_text()
    assert "See others, printed, [CSV](squares-squares.csv)." in elsewhere
    (tmp_path / "docs" / "pages").mkdir(parents=True)
    for name in ("references.md", "as_printed.md"):
        (tmp_path / "docs" / name).write_text("")
    inside = reproduce("squares", tmp_path / "docs" / "pages", n_jobs=1).page.read_text()
    assert "See others, [printed](../as_printed.md#switches)" in inside
    assert "Table 1 of [Nyga 2010](../references.md#nyga2010): D. Nyga" in inside


def test_data_that_are_missing_do_not_keep_other_experiments_from_running(tmp_path, monkeypatch):
    def unavailable():
        raise DownloadError("'x' is not on this machine.", "Get it.")

    found = {"squares": squares(), "data": squares(name="data", tasks=lambda quick: [Task(unavailable)])}
    monkeypatch.setattr(experiment_runs, "find", found.__getitem__)
    monkeypatch.setattr(experiment_runs, "names", lambda: ["data", "squares"])
    seen = []
    with pytest.raises(DownloadError, match=r"^data did not run, and squares did\. 'x' is not on"):
        reproduce_all(tmp_path, n_jobs=1, finished=lambda name, one: seen.append(name))
    assert seen == ["squares"]
    index = (tmp_path / "index.md").read_text()
    assert "[squares](squares.md): Squares | Nyga 2010, table 1 | 1 | 0 | 0 | 0 | 0 | 0 | 0 |" in index
    assert "| all | | 1 | 0 | 0 | 0 | 0 | 0 | 0 |" in index
    assert "What they say about the choice" in index
    assert "data.md" not in index


def test_all_experiments_share_one_pool_of_processes(tmp_path, monkeypatch):
    found = {"squares": squares(), "roots": squares(name="roots", tasks=lambda quick: [Task(square, 7)], report=empty)}
    monkeypatch.setattr(experiment_runs, "find", found.__getitem__)
    monkeypatch.setattr(experiment_runs, "names", lambda: ["roots", "squares"])
    pools = []
    monkeypatch.setattr(experiment_runs, "Parallel", lambda **given: pools.append(given) or Parallel(**given))
    done = reproduce_all(tmp_path, n_jobs=1)
    assert (len(pools), CALLS) == (1, [7, 0, 1, 2])
    assert list(done) == ["roots", "squares"]
    CALLS.clear()
    (tmp_path / "results" / "roots.jsonl").unlink()
    reproduce_all(tmp_path, n_jobs=1)
    assert CALLS == [7]  # what is missing


def test_a_printed_number_is_compared_with_the_spread_of_draws():
    draws = np.random.default_rng(0).normal(1.0, 0.1, 10)
    mean, deviation = draws.mean(), draws.std(ddof=1)
    half = 2.262 * deviation * math.sqrt(1.1)  # Student's t with nine degrees of freedom
    verdicts = [claim_of_draw("", draws, mean + at * half).verdict for at in (-1.01, -0.99, 0.99, 1.01)]
    assert verdicts == [NOT_REPRODUCED, COMPATIBLE, COMPATIBLE, NOT_REPRODUCED]
    assert claim_of_draw("", draws[:2], draws[:2].mean()).verdict == UNDECIDED


def test_the_csv_file_has_all_numbers(tmp_path, known):
    reproduce("squares", tmp_path, n_jobs=1)
    rows = list(csv.DictReader((tmp_path / "squares-squares.csv").read_text().splitlines()))
    assert rows[2] == {
        "row": "k = 2", "column": "square", "ours": "4", "standard_error": "0.5", "n": "4", "printed": "3",
        "difference": "1",
    }  # fmt: skip
    assert (rows[3]["ours"], rows[3]["printed"], rows[3]["difference"]) == ("", "9", "")


def test_a_quick_run_does_not_overwrite_a_full_one(tmp_path, known):
    reproduce("squares", tmp_path, n_jobs=1)
    full = (tmp_path / "squares.md").read_text()
    quick = reproduce("squares", tmp_path, quick=True, n_jobs=1).page.read_text()
    assert (tmp_path / "squares.md").read_text() == full
    assert "squares --quick`" in quick
    assert "Because." in full
    assert "Because." not in quick  # a discussion is about a full run


def test_the_same_results_give_the_same_files(tmp_path, known):
    reproduce("squares", tmp_path, n_jobs=1)
    before = {p.name: p.read_bytes() for p in tmp_path.iterdir() if p.is_file()}
    reproduce("squares", tmp_path, n_jobs=1)
    assert {p.name: p.read_bytes() for p in tmp_path.iterdir() if p.is_file()} == before


def test_a_file_is_no_folder(tmp_path, known):
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot be made"):
        reproduce("squares", Path(tmp_path / "file"))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"out": None}, "out=None must be the path of a folder"),
        ({"out": 3}, "out=3 must be the path of a folder"),
        ({"n_jobs": 0}, "n_jobs=0 must be an integer other than 0"),
        ({"n_jobs": 1.5}, "n_jobs=1.5 must be an integer"),
        ({"quick": "no"}, "quick='no' must be one of True, False"),
        ({"again": "no"}, "again='no' must be one of True, False"),
    ],
    ids=str,
)
def test_bad_arguments_are_refused_before_anything_is_written(tmp_path, known, monkeypatch, arguments, message):
    monkeypatch.setattr(experiment_runs, "names", lambda: ["squares"])
    given = {"out": tmp_path / "new", "n_jobs": 1, **arguments}
    out = given.pop("out")
    for call in (lambda: reproduce("squares", out, **given), lambda: reproduce_all(out, **given)):
        with pytest.raises(InputError, match=message):
            call()
    assert not CALLS
    assert not list(tmp_path.iterdir())


def test_what_is_called_after_each_experiment_is_a_function(tmp_path, known):
    with pytest.raises(InputError, match="finished='print' must be a function, or None"):
        reproduce_all(tmp_path / "new", finished="print")
    assert not list(tmp_path.iterdir())


def test_no_more_numbers_than_both_have_are_compared():
    table = Table("t", "T", "row", {("a", "b"): Cell(Estimate(1.0))})
    assert table.agreement() == ""
    assert table.markdown().splitlines()[-1] == "| a | 1.000 |"


def test_a_table_need_not_be_drawn(tmp_path, known, monkeypatch):
    table = Table("t", "T", "row", {("a", "b"): Cell(Estimate(1.0), 1.0004)}, drawn=False)
    monkeypatch.setattr(experiment_runs, "find", lambda name: squares(report=lambda results, quick: [table]))
    done = reproduce("squares", tmp_path, n_jobs=1)
    assert [file.name for file in done.files] == ["squares-t.csv"]
    assert "1.000<br>1.000 (+0.000)" in done.page.read_text()  # and not -0.000


def _interrupted():
    warnings.warn("Interrupted after 2 of 3 fits.", IncompleteResultWarning, stacklevel=1)
    return 1.0


def test_an_interrupted_task_has_no_result(tmp_path):
    """What an evaluation returns after Ctrl-C is a part of its result."""
    with pytest.raises(KeyboardInterrupt):
        run_tasks(squares(tasks=lambda quick: [Task(square, 3), Task(_interrupted)]), False, tmp_path / "r.jsonl")
    (line,) = (json.loads(line) for line in (tmp_path / "r.jsonl").read_text().splitlines()[1:])
    assert line["name"] == '["square", 3]'
