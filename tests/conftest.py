"""What holds for all tests."""

from __future__ import annotations

import pytest
import sklearn

# Of classifiers for two classes it makes the labels by the first one, and shuffles one of the two sides before that.
FLAWED = "check_sample_weight_equivalence_on_dense_data"


def pytest_collection_modifyitems(items):
    major, minor = (int(part) for part in sklearn.__version__.split(".")[:2])
    if (major, minor) >= (1, 7):
        return
    for item in items:
        if FLAWED in item.name:
            item.add_marker(pytest.mark.skip(reason=f"{FLAWED} of scikit-learn 1.6 compares two different problems"))
