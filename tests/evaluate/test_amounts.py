"""Numbers that are spelled such that they are read as text."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from skewboost.evaluate.amounts import Amounts, ways_of
from skewboost.evaluate.summary import Summary, summarise

SPELLED = {  # a number, what is wrong with it, and how it should be spelled
    "16508,93": ("decimal commas", "16508.93"),
    "-0,5": ("decimal commas", "-0.5"),
    "€1.234,50": ("decimal commas and thousands separators and currency signs", "1234.50"),
    "1.234.567": ("thousands separators", "1234567"),
    "1,234": ("thousands separators", "1234"),
    "1 234 567,8": ("decimal commas and thousands separators", "1234567.8"),
    "1'234.50": ("thousands separators", "1234.50"),
    "12,3 %": ("decimal commas and percent signs", "12.3"),
    "7%": ("percent signs", "7"),
    "$5": ("currency signs", "5"),
    "EUR -5.20": ("currency signs", "-5.20"),
    "99.90 CHF": ("currency signs", "99.90"),
    "\u22123,5": ("decimal commas", "-3.5"),
}
OTHERS = [
    "",
    "red",
    "A1",
    "12",
    "-1.5",
    "1e3",
    "12.05.2024",
    "192.168.1.1",
    "1,2,3",
    "030 123 456",
    "10-20",
    "(5)",
    "EU",
]


def amounts(*texts):
    found = Amounts()
    found.add(texts, [1] * len(texts))
    return found


@pytest.mark.parametrize("text", SPELLED)
def test_what_is_said_is_true_and_its_remedy_works(text):
    what, plain = SPELLED[text]
    found = amounts(text, "12")
    assert found
    assert found.described == f"numbers with {what}, such as {text!r}"
    assert found.plain == plain
    float(plain)


@pytest.mark.parametrize("text", OTHERS)
def test_other_text_is_no_number(text):
    assert ways_of(text) == set()
    assert not amounts(text)


def test_a_column_is_one_of_numbers_if_nearly_all_cells_are():
    texts = [f"{k},5" for k in range(38)]
    assert amounts(*texts, "unknown", "12")
    assert not amounts(*texts, "unknown", "none", "other")
    assert not amounts("12", "13")


def test_points_divide_thousands_only_if_no_number_has_another_point():
    assert amounts("1.234", "12.500").described == "numbers with thousands separators, such as '12.500'"
    assert not amounts("1.234", "12.5")


def test_the_order_of_chunks_changes_nothing():
    rng = np.random.default_rng(0)
    texts = [f"{k}.{rng.integers(100, 999)},{rng.integers(10)}" for k in range(1, 300)]
    said = set()
    for seed in range(3):
        mixed = pd.Series(np.random.default_rng(seed).permutation(texts * 2))
        parts = [mixed[:100].to_frame("paid"), mixed[100:].to_frame("paid")]
        said.add(Summary.from_chunks(parts).columns[0].amounts)
    assert len(said) == 1
    assert "decimal commas and thousands separators" in said.pop()


def test_a_summary_names_them_also_if_there_are_too_many_to_list():
    texts = [f"{k},{k % 10}" for k in range(10_500)]
    (line,) = (w for w in summarise(pd.DataFrame({"paid": texts})).warnings if w.startswith("'paid' has"))
    assert line.startswith("'paid' has numbers with decimal commas, such as '10000,0', which are read as categories.")
    assert line.endswith("Write them as 10000.0.")
