"""What holds for all tests."""

from __future__ import annotations

import pytest

from skewboost.boosting.rule import leaf_log_odds
from skewboost.boosting.variants.consistent_boost import ConsistentBoost
from support import FLAWED


def pytest_collection_modifyitems(items):
    for item in items:
        for check, reason in FLAWED.items():
            if check in item.name:
                item.add_marker(pytest.mark.skip(reason=f"{check}: {reason}"))


@pytest.fixture
def cast(monkeypatch):
    """The votes of ConsistentBoost as they are cast; a model keeps what they change."""
    found, vote = [], ConsistentBoost.vote

    def noted(self, state, h):
        found.append(h.term(leaf_log_odds(h, 1.0 / state.n)))
        return vote(self, state, h)

    monkeypatch.setattr(ConsistentBoost, "vote", noted)
    return found
