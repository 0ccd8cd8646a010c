"""Models predict what they did, and public names have their signatures: `tests/stored.py` writes both anew."""

from __future__ import annotations

import difflib
import json

import numpy as np
import pytest

import stored

CASES = {name: (configured, make, many) for name, configured, make, many in stored.cases()}
PREDICTIONS = json.loads(stored.PREDICTIONS.read_text())
CHANGED = "If this is meant, write them anew: python tests/stored.py --write"


def test_every_model_is_stored():
    assert list(CASES) == list(PREDICTIONS), CHANGED


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=pytest.mark.slow) if c.slow else n for n, (c, _, _) in CASES.items()]
)
def test_predictions_are_those_that_are_stored(name):
    found = stored.predicted(*CASES[name])
    found.pop("contributions", None)
    assert found.keys() == PREDICTIONS[name].keys(), CHANGED
    for key, values in found.items():
        was, message = np.array(PREDICTIONS[name][key]), f"{name}, {key}. {CHANGED}"
        if values.dtype.kind == "f":
            np.testing.assert_allclose(values, was, stored.TOLERANCE, stored.TOLERANCE, err_msg=message)
        else:
            np.testing.assert_array_equal(values, was, err_msg=message)


def test_public_names_and_signatures_are_those_that_are_stored():
    was = stored.NAMES.read_text().splitlines()
    changes = list(difflib.unified_diff(was, stored.public_names(), "stored", "now", lineterm="", n=0))
    assert not changes, "\n".join([*changes, CHANGED])
