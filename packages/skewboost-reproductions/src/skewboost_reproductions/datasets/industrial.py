"""Stand-ins for three industrial data sets that are not public."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from skewboost.datasets._checks import checked_count, checked_rng, import_pandas
from skewboost.parameters import check_arguments, one_of

Columns = dict[str, Any]
LEVELS, VARIANTS = 30, 6  # of payloads: degrees from text to binary, and payloads of each


def make_industrial(kind: str, n_rows: int | None = None, random_state: int = 0) -> tuple[Any, Any]:
    """Generate a table like one of the industrial data sets of [nyga2010]_, which are not public.

    The columns, the numbers of rows and the proportions of positives are those of the thesis; everything else is made
    up, so that results can be compared in kind but not in number.

    ============= ==== ========= ====================================================================================
    kind          rows positives columns
    ============= ==== ========= ====================================================================================
    "intrusion"   2530 1.18 %    seven statistics of the payload of a network connection; the classes overlap by degrees
    "fire"        1600 12.5 %    gradients of three gas sensors; the classes hardly overlap
    "airbag"      2500 12 %      time since contact and deceleration; the classes overlap in large areas
    ============= ==== ========= ====================================================================================

    Parameters
    ----------
    kind : {"intrusion", "fire", "airbag"}
        The data set.
    n_rows : int, optional
        Another number of rows than that of the thesis, at least 100.
    random_state : int, default=0
        The seed of the generator.

    Returns
    -------
    X : pandas.DataFrame
        Numbers.
    y : pandas.Series
        1 for attacks, fires and crashes, 0 otherwise.

    References
    ----------
    .. [nyga2010] D. Nyga, "Ensemble learning for classification of imbalanced data", Master's thesis, Technische
       Universität München (2010), §3.1.

    Examples
    --------
    >>> from skewboost_reproductions.datasets import make_industrial
    >>> X, y = make_industrial("airbag")
    >>> X.shape, int(y.sum())
    ((2500, 2), 300)
    """
    check_arguments(kind=(kind, one_of(*KINDS)))
    make, default, share = KINDS[kind]
    pd = import_pandas()
    n = default if n_rows is None else checked_count("n_rows", n_rows, 100, None, "for some positives")
    rng = checked_rng(random_state)
    y = rng.permutation((np.arange(n) < round(share * n)).astype(np.int64))
    return pd.DataFrame(make(rng, y == 1)), pd.Series(y, name="target")


def _intrusion(rng: np.random.Generator, attack: Any) -> Columns:
    """Connections repeat payloads of a catalogue, and the more binary one is, the likelier it is an attack.

    Four in five attacks have payloads that normal connections do not have. For the others the odds fall by degrees,
    from one attack in two down to one in a thousand.
    """
    n = len(attack)
    binary = np.where(attack, rng.beta(1.5, 0.8, n), rng.beta(1.0, 20.0, n))
    level = np.minimum((binary * LEVELS).astype(np.int64), LEVELS - 1)
    chosen = level * VARIANTS + rng.integers(0, VARIANTS, n)
    return {name: values[chosen] for name, values in _payloads().items()}


@cache
def _payloads() -> Columns:
    """Return the statistics of the payloads, from texts to binaries, some of each degree; always the same ones."""
    rng = np.random.default_rng(1)
    binary = np.repeat(np.arange(1, LEVELS + 1) / LEVELS, VARIANTS)
    n = len(binary)
    length = np.ceil(rng.lognormal(5.2 + 1.4 * binary, 0.25))
    distinct = np.clip(np.round(rng.normal(52 + 78 * binary, 4.5)), 5, 256)
    entropy = np.log2(distinct) - np.abs(rng.normal(0.7, 0.1, n))
    has_low, has_high = rng.random((2, n)) < binary
    return {
        "length": length,
        "entropy": entropy.round(4),
        "smallest_byte": np.where(has_low, rng.integers(0, 12, n), rng.choice([10, 13, 32], n, p=[0.6, 0.3, 0.1])),
        "largest_byte": np.where(has_high, rng.integers(190, 256, n), rng.integers(116, 127, n)),
        "distinct_bytes": distinct,
        "non_printable": rng.binomial(length.astype(np.int64), 0.02 + 0.23 * binary),
        "punctuation": rng.binomial(length.astype(np.int64), 0.11 - 0.05 * binary),
    }


def _fire(rng: np.random.Generator, fire: Any) -> Columns:
    """Two kinds of fire, each of which shows in two sensors; clean air drifts around zero."""
    n = len(fire)
    open_fire = fire & (rng.random(n) < 0.5)
    smouldering = fire & ~open_fire
    return {
        "platinum": rng.normal(np.where(open_fire, 3.2, np.where(smouldering, 0.6, 0.0)), 0.6),
        "titanium_nitride": rng.normal(np.where(open_fire, 2.4, np.where(smouldering, 2.0, 0.0)), 0.6),
        "phthalocyanine": rng.normal(np.where(smouldering, 3.0, 0.0), 0.6),
    }


def _airbag(rng: np.random.Generator, crash: Any) -> Columns:
    """The deceleration of a crash rises with time; half of the crashes are slow at first, like rough roads."""
    n = len(crash)
    time = rng.uniform(0.0, 60.0, n)
    hard = crash & (rng.random(n) < 0.5)
    mean = np.where(hard, 4.0 + 0.16 * time, np.where(crash, 2.0 + 0.05 * time, 1.5 + 0.6 * np.sin(time / 6.0)))
    return {"milliseconds": time.round(2), "deceleration": (mean + rng.gamma(2.0, 0.8, n)).round(3)}


KINDS: dict[str, tuple[Callable[[np.random.Generator, Any], Columns], int, float]] = {
    "intrusion": (_intrusion, 2530, 0.0118),
    "fire": (_fire, 1600, 0.125),
    "airbag": (_airbag, 2500, 0.12),
}
