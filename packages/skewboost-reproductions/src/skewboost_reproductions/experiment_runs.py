"""Running experiments: tasks in parallel, results that are kept in a file, and the page that is made of them."""

from __future__ import annotations

import json
import time
import warnings
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from os import PathLike
from pathlib import Path
from typing import Any

from joblib import Parallel, delayed

from skewboost import __version__
from skewboost.boosting.cost_use import unquestioned_costs
from skewboost.datasets.downloads import DownloadError
from skewboost.errors import InputError
from skewboost.evaluate.running import IncompleteResultWarning
from skewboost.json_lines import JsonLines, Row, as_read_back
from skewboost.names import visible
from skewboost.parameters import N_JOBS, Check, check_arguments, number, one_of, optional
from skewboost.progress import ProgressBar
from skewboost_reproductions import papers
from skewboost_reproductions.experiment import Experiment, Results, Task
from skewboost_reproductions.page import written_index, written_page
from skewboost_reproductions.page_parts import Claims
from skewboost_reproductions.verdicts import Claim

PATH = Check(lambda value: isinstance(value, str | PathLike), "the path of a folder")
YES_NO = one_of(True, False)
SECONDS = number(0, None)  # of a task


def names() -> list[str]:
    """Return the names of all experiments."""
    return list(papers.EXPERIMENTS)


def find(name: str) -> Experiment:
    """Return an experiment by its name."""
    if name not in names():
        raise InputError(f"{name!r} is not an experiment.", f"Choose one of {', '.join(names())}.")
    module = import_module(f"{papers.__name__}.{papers.EXPERIMENTS[name]}")
    found: Experiment = module.EXPERIMENT
    return found


def experiments() -> dict[str, Experiment]:
    """Return all experiments by name.

    Examples
    --------
    >>> from skewboost_reproductions import experiments
    >>> experiments()["masnadi-synthetic"].shows
    'figures 2 and 3'
    """
    return {name: find(name) for name in names()}


@dataclass(frozen=True)
class Reproduction:
    """What `reproduce` did.

    Attributes
    ----------
    page : Path
        The page about the experiment.
    files : tuple of Path
        Its tables and figures.
    claims : tuple of Claim
        The claims of the paper, with verdicts.
    seconds : float
        The time of all tasks together, those of earlier runs included.
    """

    page: Path
    files: tuple[Path, ...]
    claims: tuple[Claim, ...]
    seconds: float


def reproduce(
    name: str, out: Path | str, *, quick: bool = False, again: bool = False, n_jobs: int = -1
) -> Reproduction:
    """Run an experiment, and write a page about it.

    Parameters
    ----------
    name : str
        The name of the experiment.
    out : path
        A folder, which is made. The page is ``name.md`` (``name-quick.md`` with `quick`), its tables and figures are
        files whose names begin like it, and ``results`` has what has been computed: a run that was interrupted is
        continued, and a complete one is only written again.
    quick : bool, default=False
        Whether to make fewer repetitions of the same protocol.
    again : bool, default=False
        Whether to delete earlier results first.
    n_jobs : int, default=-1
        The number of processes; -1 means one per core. Results do not depend on it.

    Returns
    -------
    Reproduction
        The files that were written, and the claims of the paper with verdicts.
    """
    experiment = find(name)
    check_arguments(out=(out, PATH), quick=(quick, YES_NO), again=(again, YES_NO), n_jobs=(n_jobs, N_JOBS))
    folder = _made_folder(Path(out))
    label = f"{name}-quick" if quick else name
    results = run_tasks(experiment, quick, _results_file(folder, name, quick), again=again, n_jobs=n_jobs)
    parts = experiment.report(results, quick)
    page, files = written_page(experiment, parts, results, folder, label, quick)
    claims = tuple(claim for part in parts if isinstance(part, Claims) for claim in part.claims)
    return Reproduction(page, tuple(files), claims, results.seconds)


def reproduce_all(
    out: Path | str,
    *,
    quick: bool = False,
    again: bool = False,
    n_jobs: int = -1,
    finished: Callable[[str, Reproduction], None] | None = None,
) -> dict[str, Reproduction]:
    """Run all experiments as `reproduce` does, and write a page ``index.md`` (``index-quick.md``) with links to theirs.

    `finished` is called with the name and the result of each. An experiment whose data are neither on this machine nor
    can be downloaded does not keep the others from running; the error is raised at the end.
    """
    check_arguments(finished=(finished, optional(Check(callable, "a function"))))
    check_arguments(out=(out, PATH), quick=(quick, YES_NO), again=(again, YES_NO), n_jobs=(n_jobs, N_JOBS))
    runs = [Run(find(name), quick, _results_file(_made_folder(Path(out)), name, quick), again) for name in names()]
    missing = run_together(runs, n_jobs)
    done = {}
    for run in runs:
        name = run.experiment.name
        if name not in missing:
            done[name] = reproduce(name, out, quick=quick, n_jobs=n_jobs)
            if finished is not None:
                finished(name, done[name])
    rows = [(find(name), one.page, one.claims, one.seconds) for name, one in done.items()]
    written_index(rows, Path(out), quick=quick)
    if missing:
        first = next(iter(missing.values()))
        which = f"{', '.join(missing)} did not run" + (f", and {', '.join(done)} did" if done else "")
        raise DownloadError(f"{which}. {first.problem}", first.remedy) from first
    return done


def _made_folder(folder: Path) -> Path:
    try:
        (folder / "results").mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"The folder {folder} cannot be made ({error.strerror}).", "Choose another one.") from error
    return folder


def _results_file(folder: Path, name: str, quick: bool) -> Path:
    return folder / "results" / f"{name}{'-quick' if quick else ''}.jsonl"


def run_tasks(
    experiment: Experiment, quick: bool, path: Path | None, *, again: bool = False, n_jobs: int = 1
) -> Results:
    """Run the tasks that have no result in the file yet; without a file, all of them."""
    run = Run(experiment, quick, path, again)
    for error in run_together([run], n_jobs).values():
        raise error
    return run.results()


class Run:
    """The tasks of an experiment, and the results of those that are finished."""

    def __init__(self, experiment: Experiment, quick: bool, path: Path | None, again: bool) -> None:
        if again and path is not None:
            path.unlink(missing_ok=True)
        self.experiment = experiment
        self.tasks = experiment.tasks(quick)
        self.file = TaskFile(path, experiment)

    def missing(self) -> list[Task]:
        """Return the tasks without a result."""
        return [task for task in self.tasks if task.name not in self.file.results]

    def results(self) -> Results:
        """Return the results of all tasks."""
        names = [task.name for task in self.tasks]
        seconds = sum(self.file.seconds[name] for name in names)
        return Results({name: self.file.results[name] for name in names}, seconds)


def run_together(runs: Sequence[Run], n_jobs: int) -> dict[str, DownloadError]:
    """Run what is missing in one pool of processes, which are busy until all is done.

    An experiment whose data cannot be had does not keep the others from running: its error is returned by its name.
    """
    missing = [(k, task) for k, run in enumerate(runs) for task in run.missing()]
    done = total = sum(len(run.tasks) for run in runs)
    done -= len(missing)
    errors: dict[str, DownloadError] = {}
    if not missing:
        return errors
    for k in dict.fromkeys(k for k, _ in missing):
        runs[k].file.begin()
    jobs = Parallel(n_jobs=n_jobs, return_as="generator_unordered", batch_size=1)
    finished = jobs(delayed(_timed)(k, task) for k, task in missing)
    with ProgressBar(total, runs[0].experiment.name if len(runs) == 1 else "experiments") as bar:
        bar.update(done)
        for k, task, value, seconds in finished:
            if isinstance(value, DownloadError):
                errors[runs[k].experiment.name] = value
            else:
                runs[k].file.add(task.name, value, seconds)
            done += 1
            bar.update(done, visible(str(task)))
    return errors


def _timed(run: int, task: Task) -> tuple[int, Task, Any, float]:
    started = time.process_time()  # a busy machine does not make it longer
    try:
        with unquestioned_costs(), warnings.catch_warnings():  # the papers did ask for them
            warnings.simplefilter("error", IncompleteResultWarning)  # an interrupted task has no result
            value = as_read_back({"value": task.work(*task.args)})["value"]
    except DownloadError as error:
        value = error
    except IncompleteResultWarning as error:
        raise KeyboardInterrupt from error
    return run, task, value, time.process_time() - started


class TaskFile(JsonLines):
    """The results of the tasks of an experiment; with `path` None they are kept in memory only."""

    format, version = "skewboost-reproduction", 2
    argument, contents, line = "results", "a file of results of an experiment", "task"
    remedy = "Delete that line, or run it with --again (again=True) to start over."

    def __init__(self, path: Path | None, experiment: Experiment) -> None:
        self.made_by = {"experiment": experiment.name, "release": __version__, "revision": experiment.revision}
        self.results: dict[str, Any] = {}
        self.seconds: dict[str, float] = {}
        self._begun = False
        super().__init__(path)

    def begin(self) -> None:
        """Write the first line, unless there is one."""
        with self.adding() as added:
            if not self._begun:
                added.append(self.first_line(**self.made_by))
                self._begun = True

    def add(self, name: str, value: Any, seconds: float) -> None:
        """Add a result, unless another run has added it in the meantime."""
        with self.adding() as added:
            if name not in self.results:
                line = as_read_back({"kind": "task", "name": name, "seconds": round(seconds, 3), "value": value})
                added.append({**line, "check": _check_of(line)})
                self._keep(line)

    def take(self, line: Row, number: int) -> None:
        """Understand a line."""
        kind = line.pop("kind")
        if number == 1:
            self.check_version(line)
            if any(line[name] != value for name, value in self.made_by.items()):
                raise InputError(
                    f"{self.path} has results of another experiment or of another version of it.",
                    "Run it with --again (again=True) to start over, or choose another folder.",
                )
            self._begun = True
        elif kind == "task":
            if not isinstance(line["name"], str):
                raise TypeError(f"name is {line['name']!r}")
            if not SECONDS.passes(line["seconds"]):
                raise ValueError(f"seconds is {line['seconds']!r}")
            if line["check"] != _check_of(line):
                raise ValueError("it does not have the content that was written")
            self._keep(line)
        else:
            raise ValueError(f"lines of kind {kind!r} are unknown")

    def _keep(self, line: Row) -> None:
        self.results[line["name"]] = line["value"]  # which may be anything: only the report knows what it should be
        self.seconds[line["name"]] = float(line["seconds"])


def _check_of(line: Row) -> int:
    """A number that is another one if what a line says is changed; only reports know what values should look like."""
    return zlib.crc32(json.dumps([line[field] for field in ("name", "seconds", "value")]).encode())
