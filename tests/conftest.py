"""What holds for all tests. The process that starts the others reads this too, and need not import the package."""

from __future__ import annotations

import gc
from collections import defaultdict
from functools import cache
from hashlib import md5

import pytest
import typer.testing

gc.disable()  # until all tests are collected

# Typer makes the commands anew for every call of its runner, which takes longer than most of them.
typer.testing._get_command = cache(typer.testing._get_command)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Of tests with the marker `sample(n)` n cases are quick ones, drawn by their names; the others are slow."""
    from support import FLAWED

    cases = defaultdict(list)
    for item in items:
        sample = item.get_closest_marker("sample")
        if sample is not None and hasattr(item, "callspec") and item.get_closest_marker("slow") is None:
            cases[item.path, item.originalname, sample.args[0]].append(item)
    for (_, _, n), drawn in cases.items():
        for item in sorted(drawn, key=lambda item: md5(item.name.encode()).digest())[n:]:
            item.add_marker(pytest.mark.slow)
    for item in items:
        for check, reason in FLAWED.items():
            if check in item.name:
                item.add_marker(pytest.mark.skip(reason=f"{check}: {reason}"))


def pytest_collection_finish():
    """Leave the thousands of collected tests out of garbage collection, each of which would go over them."""
    gc.enable()
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)


@pytest.fixture
def cast(monkeypatch):
    """The votes of ConsistentBoost as they are cast; a model keeps what they change."""
    from skewboost.boosting.rule import leaf_log_odds
    from skewboost.boosting.variants.consistent_boost import ConsistentBoost

    found, vote = [], ConsistentBoost.vote

    def noted(self, state, h):
        found.append(h.term(leaf_log_odds(h, 1.0 / state.n)))
        return vote(self, state, h)

    monkeypatch.setattr(ConsistentBoost, "vote", noted)
    return found


@pytest.fixture
def interrupt(monkeypatch):
    """Let Ctrl-C come when so many fits of `CSRAClassifier` are done, counted from the call on."""
    from skewboost import CSRAClassifier

    whole, fits = CSRAClassifier.fit, []

    def fit(self, *args, **params):
        if len(fits) == fit.done:
            raise KeyboardInterrupt
        fits.append(self)
        return whole(self, *args, **params)

    def after(done):
        fits.clear()
        fit.done = done

    monkeypatch.setattr(CSRAClassifier, "fit", fit)
    after(-1)
    return after
