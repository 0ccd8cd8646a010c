"""Every estimator in every configuration: copies, files, programs, engines, interruptions and processes."""

from __future__ import annotations

import copy
import json
import multiprocessing
import pickle
import re
import signal
import warnings

import numpy as np
import pytest
from joblib import hash as fingerprint
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from estimators import CONFIGURED, answers, assert_same, each, fitted, rows, table, three
from messages import is_ours
from program_runners import run_python
from skewboost.errors import SkewBoostError
from skewboost.io import ModelFileError, dumps, loads

X, Y = rows(150)
TABLE, Y_TABLE = table(150)
NEW, TABLE_NEW = rows(40, seed=9)[0], table(40, seed=9)[0]


def trained(configured):
    """A model with rows to ask it about: a table, many classes, or numbers."""
    if configured.table and len(configured.name) % 3:
        return fitted(configured.make(), TABLE, Y_TABLE), TABLE_NEW
    y = three(X, Y) if configured.many else Y
    return fitted(configured.make(), X, y), NEW


@pytest.mark.sample(4)
@each()
def test_copies_of_a_model_are_the_model(configured):
    clf, new = trained(configured)
    expected = answers(clf, new)
    for again in (pickle.loads(pickle.dumps(clf)), copy.deepcopy(clf), copy.copy(clf)):
        assert_same(answers(again, new), expected)
    fresh = clone(clf)
    assert repr(fresh) == repr(clf)
    with pytest.raises(NotFittedError):
        fresh.predict(new)
    assert fingerprint(clf.get_params()) == fingerprint(fresh.get_params())


@pytest.mark.sample(4)
@each()
def test_a_model_file_holds_the_model(configured):
    clf, new = trained(configured)
    if configured.foreign:
        with pytest.raises(SkewBoostError, match=r"cannot be saved: .* of type sklearn\."):
            dumps(clf)
        return
    text = dumps(clf)
    again = loads(text)
    assert_same(answers(again, new), answers(clf, new))
    assert dumps(again) == text
    assert type(again) is type(clf)


@pytest.mark.sample(2)
@each()
def test_a_defect_file_is_refused_or_works(configured):
    """Some places of a file changed in some ways; tests/io has all of them, for fewer models."""
    if configured.foreign:
        return
    clf, new = trained(configured)
    whole = json.loads(dumps(clf))
    rng = np.random.default_rng(0)
    for _ in range(25):
        damaged = copy.deepcopy(whole)
        at, last = damaged, None
        while isinstance(at, dict | list) and len(at) and (last is None or rng.random() < 0.8):
            keys = list(at) if isinstance(at, dict) else range(len(at))
            last = (at, keys[rng.integers(len(keys))])
            at = at[last[1]]
        last[0][last[1]] = [None, "x", -1, 1e300, [], {}, 10**12][rng.integers(7)]
        try:
            again = loads(json.dumps(damaged))
        except ModelFileError:
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            answers(again, new)


@pytest.mark.sample(2)
@each()
def test_an_exported_program_is_the_model_or_says_why_not(configured):
    clf, new = trained(configured)
    try:
        program = run_python(clf, new)
    except SkewBoostError as error:
        told = str(error)
    else:
        told = ""
        program.agrees(clf, new)
    assert not told or re.search(r"(cannot be exported|only .* can).*\.$", told)


@pytest.mark.slow
@each(slow=False)
def test_engines_agree(configured):
    """Portfolios on few rows, because the reference is slow."""
    x, y = (X[:24, :2], Y[:24]) if "portfolio" in configured.name else (X, Y)
    if "portfolio" in configured.name and configured.make().get_params().get("goal", "") is not None:
        pytest.skip("tests/engine compares portfolios; there are too few rows for a goal here")
    given = configured.make().get_params()
    names = [name for name in ("engine", "estimator__engine") if name in given]
    if not names or "monotonic" in configured.name:
        pytest.skip("has no engine of its own")
    found = [fitted(configured.make().set_params(**{names[0]: engine}), x, y) for engine in ("cpu", "reference")]
    new = NEW[:, : x.shape[1]]
    assert_same(answers(found[0], new), answers(found[1], new), rtol=1e-9, atol=1e-9)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # a file that was just being read
@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no timer that interrupts")
@each()
def test_an_interrupted_fit_leaves_the_old_model_or_one_that_works(configured):
    clf, new = fitted(configured.make(), X, Y), NEW
    before, seconds = answers(clf, new), 0.02
    interrupted = []
    handler = signal.signal(signal.SIGALRM, signal.default_int_handler)
    try:
        for k in range(8):
            again = copy.deepcopy(clf)
            signal.setitimer(signal.ITIMER_REAL, seconds * (1 + k) ** 2 / 20)
            try:
                fitted(again, X[::-1], 1 - Y)
            except (KeyboardInterrupt, TypeError) as error:
                # NumPy turns the one into the other if it is interrupted while it compares types
                interrupted.append(error)
                found = answers(again, new)
                assert all(np.isfinite(v).all() for v in found.values() if v.dtype.kind == "f")
            finally:
                signal.setitimer(signal.ITIMER_REAL, 0)
    finally:
        signal.signal(signal.SIGALRM, handler)
    assert all(isinstance(error, KeyboardInterrupt) or "np.result_type" in str(error) for error in interrupted)
    assert_same(answers(fitted(again, X, Y), new), before)


@pytest.mark.slow
@pytest.mark.parametrize("method", multiprocessing.get_all_start_methods())
def test_other_processes_predict_and_fit_the_same(method):
    kinds = [c for c in CONFIGURED if is_ours(c.make()) and not c.slow]
    jobs = [(c.name, answers(fitted(c.make(), X, Y), NEW)) for c in kinds]
    with multiprocessing.get_context(method).Pool(2) as pool:
        for (_, expected), found in zip(jobs, pool.map(_fit_there, [name for name, _ in jobs]), strict=True):
            assert_same(found, expected)


def _fit_there(name):
    configured = next(c for c in CONFIGURED if c.name == name)
    return answers(fitted(configured.make(), X, Y), NEW)
