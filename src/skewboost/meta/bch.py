"""Binary BCH codes of length 2^m - 1, narrow-sense and primitive.

References
----------
.. [1] R. C. Bose, D. K. Ray-Chaudhuri, "On a class of error correcting binary group codes", Information and Control 3
   (1960) 68-79.
"""

from __future__ import annotations

import numpy as np

from skewboost.typing import Array

# Primitive polynomials of degree m over GF(2); bit k is the coefficient of x^k.
PRIMITIVE = {
    3: 0b1011, 4: 0b10011, 5: 0b100101, 6: 0b1000011, 7: 0b10001001, 8: 0b100011101, 9: 0b1000010001,
    10: 0b10000001001, 11: 0b100000000101, 12: 0b1000001010011,
}  # fmt: skip


def powers(m: int) -> list[int]:
    """α^0, α^1, … of a primitive element of GF(2^m), each as the bits of a polynomial in α."""
    found, element = [], 1
    for _ in range(2**m - 1):
        found.append(element)
        element <<= 1
        if element >> m:
            element ^= PRIMITIVE[m]
    return found


def generator(m: int, distance: int) -> Array:
    """The generator polynomial, lowest power first: the product of (x - β) over all conjugates of α, …, α^(δ-1)."""
    n, alpha = 2**m - 1, powers(m)
    log = {element: k for k, element in enumerate(alpha)}
    roots = {i * 2**j % n for i in range(1, distance) for j in range(m)}
    g = [1]
    for root in sorted(roots):
        shifted = [0, *g]
        scaled = [alpha[(log[c] + root) % n] if c else 0 for c in g] + [0]
        g = [a ^ b for a, b in zip(shifted, scaled)]
    assert set(g) <= {0, 1}, "conjugate roots give coefficients in GF(2)"
    return np.array(g, dtype=np.uint8)


def codewords(m: int, distance: int) -> Array:
    """All words of the code of length 2^m - 1 with this designed distance: ``[word, bit]`` of 0 and 1."""
    n, g = 2**m - 1, generator(m, distance)
    k = n - len(g) + 1
    basis = np.array([np.concatenate((np.zeros(s, np.uint8), g, np.zeros(k - 1 - s, np.uint8))) for s in range(k)])
    messages = (np.arange(2**k)[:, None] >> np.arange(k)) & 1
    return np.asarray(messages @ basis % 2, dtype=np.uint8)
