"""What the tests of the command need."""

from __future__ import annotations

import pytest

from command_runner import invoke


@pytest.fixture(scope="session")
def run():
    return invoke
