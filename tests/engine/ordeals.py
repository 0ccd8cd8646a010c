"""Fits that are interrupted, forked, crowded or starved: programs, each run in a process of its own by the tests.

Usage: python ordeals.py NAME [full] [SEED]. Without "full" there are fewer rows and repetitions.
"""

from __future__ import annotations

import hashlib
import multiprocessing
import os
import resource
import signal
import sys
import threading
import time
import traceback
from functools import partial

import numpy as np

from skewboost import (
    AdaBoostMHClassifier,
    AlternatingTreeClassifier,
    GentleBoostClassifier,
    GoalSearchCV,
    LogitBoostClassifier,
    RealBoostClassifier,
    SkewBoostClassifier,
)
from skewboost.learners import Histogram, Tree

FOREVER = 10**6
FULL = "full" in sys.argv
# of spare memory, in megabytes: from nothing to enough for all but the largest trees
LEVELS = range(0, 25, 2) if FULL else (0, 3, 8, 20)


def data(n_rows, n_features, seed=0):
    """Rows that no number of rounds fits, a few of them positive."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_features))
    score = X[:, 0] + X[:, -1] + rng.normal(size=n_rows)
    X[rng.random(X.shape) < 0.03] = np.nan
    return X, score > 1.5


def models(n_rounds, n_jobs):
    """One of each way through the engine."""
    tree = Tree(max_leaf_nodes=9)
    return [
        RealBoostClassifier(n_estimators=n_rounds, n_jobs=n_jobs),
        RealBoostClassifier(n_estimators=n_rounds, n_jobs=n_jobs, estimator=tree),
        LogitBoostClassifier(n_estimators=n_rounds, n_jobs=n_jobs, estimator=tree),
        AdaBoostMHClassifier(n_estimators=n_rounds, n_jobs=n_jobs),
        AlternatingTreeClassifier(max_rounds=n_rounds, n_jobs=n_jobs),
        GentleBoostClassifier(n_estimators=n_rounds, n_jobs=n_jobs, estimator=Histogram(max_bins=9)),
    ]


def portfolios(n_jobs):
    """Portfolios train members on threads of their own, and searches fit them."""
    own = {"effort": "quick", "random_state": 0, "n_jobs": n_jobs}
    goal = {"goal": "recall >= 50%"}
    search = GoalSearchCV(SkewBoostClassifier(**own, cost=1), **goal, random_state=0, tune="threshold")
    return [SkewBoostClassifier(**own, cost=9), search, SkewBoostClassifier(**own, **goal)]


def scores(model, X, y, most=1000):
    if not hasattr(model, "_rounds"):  # a portfolio has more to do
        X, y = X[:most], y[:most]
    return model.fit(X, y).decision_function(X).tobytes()


def interrupted():
    """Ctrl-C at random moments: what is finished is kept, and is what a fit of so many rounds gives."""
    signal.signal(signal.SIGINT, signal.default_int_handler)  # also where a shell has started this in the background
    rng = np.random.default_rng(int(sys.argv[-1]) if FULL else 0)
    n_times = 30 if FULL else 10
    X, y = data(20_000, 12)
    n_kept = 0
    most = []  # seconds of training: where builds, or machines, are slow, until some rounds are done
    for model in models(1, 1):
        started = time.perf_counter()
        model.fit(X, y)
        most.append(max(0.3 if FULL else 0.15, 3.0 * (time.perf_counter() - started)))
    for k in range(n_times):
        n_jobs = 1 + k % 3
        model = models(FOREVER, n_jobs)[k % 5]  # the last one finds nothing more to learn
        timer = threading.Timer(rng.uniform(0.0, most[k % 5]), os.kill, (os.getpid(), signal.SIGINT))
        try:
            timer.start()
            model.fit(X, y)
        except KeyboardInterrupt:
            pass
        else:
            raise AssertionError("it was not interrupted")
        timer.join()
        if not hasattr(model, "n_estimators_"):
            continue  # not even one round
        n_kept += 1
        kept = model.decision_function(X)
        n_rounds = model.n_estimators_
        assert np.isfinite(kept).all()
        if 0 < n_rounds <= (60 if FULL else 30):
            whole = models(n_rounds, n_jobs)[k % 5].fit(X, y)
            np.testing.assert_array_equal(kept, whole.decision_function(X))
    assert n_kept > n_times // 3
    for model in models(3, 2):
        scores(model, X, y)
    interrupted_portfolios(rng, X, y)


def interrupted_portfolios(rng, X, y):
    """They keep the members that they have, or nothing; and a fit after that is a fit."""
    X, y = X[:3000], y[:3000]
    n_interrupted = 0
    for k in range(12 if FULL else 4):
        model = portfolios(1 + k // 3 % 3)[k % 3]
        timer = threading.Timer(rng.uniform(0.0, 0.4), os.kill, (os.getpid(), signal.SIGINT))
        try:
            timer.start()
            model.fit(X, y)
            timer.join()
            time.sleep(0.01)  # for the signal, if it came to this
        except KeyboardInterrupt:
            n_interrupted += 1
        timer.join()
        if hasattr(model, "classes_"):
            kept = model.decision_function(X)
            assert kept.shape == y.shape
            assert np.isfinite(kept).all()
    assert n_interrupted > 1
    assert [scores(m, X, y) for m in portfolios(2)] == [scores(m, X, y) for m in portfolios(3)]


def in_a_child(work):
    """What work answers in a forked child that has a minute for it."""
    receiver, sender = os.pipe()
    child = os.fork()
    if child == 0:
        signal.alarm(300)
        try:
            os.write(sender, work())
            os._exit(0)
        except BaseException:
            traceback.print_exc()
        os._exit(1)
    os.close(sender)
    with os.fdopen(receiver, "rb") as answer:
        told = answer.read()
    assert os.waitpid(child, 0)[1] == 0
    return told


def digests(n_jobs):
    X, y = data(60_000 if FULL else 15_000, 9)
    return b"".join(scores(model, X, y)[:4000] for model in models(3, n_jobs) + portfolios(n_jobs))


def forked():
    """After a fit on several threads children fit too: by os.fork, from a pool, and while another thread is fitting."""
    expected = digests(3)
    assert in_a_child(lambda: digests(3)) == expected
    assert in_a_child(lambda: in_a_child(lambda: digests(2))) == expected
    with multiprocessing.get_context("fork").Pool(2) as pool:
        assert pool.map(digests, [1, 2, 3, 2]) == [expected] * 4
    stop = threading.Event()

    def keep_fitting():
        while not stop.is_set():
            digests(2)

    busy = threading.Thread(target=keep_fitting)
    busy.start()
    for _ in range(6 if FULL else 2):
        time.sleep(0.05)
        assert in_a_child(lambda: digests(2)) == expected
    stop.set()
    busy.join()
    assert digests(3) == expected


def crowded():
    """Eight fits at a time, from threads of Python, give the models that they give one after the other."""
    X, y = data(40_000 if FULL else 15_000, 9)
    for n_jobs in (1, 2):
        kinds = models(6 if FULL else 3, n_jobs) + portfolios(n_jobs)
        kinds = [kinds[k % len(kinds)] for k in range(8)]
        expected = [scores(type(model)(**model.get_params(deep=False)), X, y) for model in kinds]
        found = {}

        def fit(k, found=found, kinds=kinds):
            model = type(kinds[k])(**kinds[k].get_params(deep=False))
            found[k] = scores(model, X, y)

        for _ in range(2 if FULL else 1):
            found.clear()
            threads = [threading.Thread(target=fit, args=(k,)) for k in range(8)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            assert [found[k] for k in range(8)] == expected


def starved():
    """With little memory to be had there is a MemoryError or the right model; and with enough of it the right one."""
    X, y = data(120_000, 20)
    kinds = [*models(3, 2), RealBoostClassifier(n_estimators=2, estimator=Tree(max_leaf_nodes=400), n_jobs=2)]
    kinds += portfolios(2)

    _, most = resource.getrlimit(resource.RLIMIT_AS)

    def answer(model):
        return hashlib.sha256(scores(type(model)(**model.get_params(deep=False)), X, y, most=12_000)).digest()

    def answers():
        return b"".join(answer(model) for model in kinds)

    def starve(model, right):
        """Whether memory was lacking at each level."""
        lacking = []
        for spare in LEVELS:
            resource.setrlimit(resource.RLIMIT_AS, (pages("size") + spare * 2**20, most))
            try:
                lacking.append(0)
                assert answer(model) == right
            except MemoryError:
                lacking[-1] = 1
            finally:
                resource.setrlimit(resource.RLIMIT_AS, (most, most))
        assert answer(model) == right
        return bytes(lacking)

    for model in kinds:  # what is imported and loaded by a first fit
        scores(model, X[:1000], y[:1000])
    expected = in_a_child(answers)
    for k, model in enumerate(kinds):
        lacking = in_a_child(partial(starve, model, expected[32 * k : 32 * (k + 1)]))
        sys.stdout.write(f"{model}: {list(lacking)}\n")
        assert 1 in lacking


def pages(what):
    """Bytes of this process: its whole size, or what of it is in memory."""
    with open("/proc/self/statm") as told:
        size, resident, *_ = (int(number) for number in told.read().split())
    return {"size": size, "resident": resident}[what] * resource.getpagesize()


def repeated():
    """Memory after hundreds of fits is what it is after a few."""
    runs = ((500, 10, 200, 4), (20_000, 30, 20, 12)) if FULL else ((500, 10, 60, 4), (20_000, 30, 6, 12))
    for n_rows, n_features, n_fits, most in runs:
        X, y = data(n_rows, n_features)
        used = []
        for k in range(n_fits):
            for model in models(4, 2) + (portfolios(2) if k % 5 == 0 else []):
                scores(model, X, y)
            if k >= n_fits // 4:
                used.append(pages("resident") / 2**20)
        sys.stdout.write(f"{n_rows} rows: {used[0]:.1f} MB, then {used[-1]:.1f} MB\n")
        assert used[-1] - used[0] < most


if __name__ == "__main__":
    {each.__name__: each for each in (interrupted, forked, crowded, starved, repeated)}[sys.argv[1]]()
