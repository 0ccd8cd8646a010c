"""Code matrices and their decoding: published codes, distances, what they correct, what is refused."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from skewboost.meta import code_design
from skewboost.meta.code_matrix import decode
from support import load_trace

SLIDES = [[1, 1, 1, 1, 1, 1, 1], [0, 0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 0, 0, 1], [0, 1, 0, 1, 0, 1, 0]]


def drawn(name, n_classes, n_columns=None, seed=0):
    return getattr(code_design, name)(n_classes, n_columns, np.random.RandomState(seed))


def test_the_code_of_the_slides_is_the_exhaustive_one_of_four_classes():
    np.testing.assert_array_equal(code_design.given_code(SLIDES, np.arange(4)), code_design.exhaustive(4))
    assert code_design.min_distance(code_design.exhaustive(4)) == 4.0
    assert code_design.n_correctable(code_design.exhaustive(4)) == 1


def test_all_bit_strings_are_decoded_as_the_trace_says():
    trace = load_trace("doc_ecoc_hamming")
    code = code_design.given_code(trace["code"], np.arange(4))
    scores = decode(2.0 * np.array(trace["bits"]) - 1.0, code, "hamming")
    np.testing.assert_array_equal(-scores, trace["distances"])
    np.testing.assert_array_equal(scores.argmax(axis=1), trace["decoded"])


@pytest.mark.parametrize("n_classes", range(3, 12))
def test_an_exhaustive_code_has_all_columns_and_its_distance(n_classes):
    """[1] §2.3.1: 2^(K-1) - 1 columns, any two rows 2^(K-2) apart."""
    code = code_design.exhaustive(n_classes)
    assert code_design.useful(code).shape == code.shape == (n_classes, 2 ** (n_classes - 1) - 1)
    off_diagonal = code_design.distances(code)[~np.eye(n_classes, dtype=bool)]
    assert set(off_diagonal.tolist()) == {2.0 ** (n_classes - 2)}


@pytest.mark.parametrize("m", [4, 5, 6])
def test_bch_codes_are_those_of_the_textbooks(m):
    """Lin & Costello's table: (15,5) d=7, (31,6) d=15, (63,7) d=31."""
    words = code_design.bch_words(m)
    assert words.shape == (2 ** (m + 1), 2**m - 1)
    assert min(word.sum() for word in words if word.any()) == 2 ** (m - 1) - 1  # linear: the distance
    assert {tuple(a ^ b) for a in words for b in words[:3]} <= set(map(tuple, words))


def test_the_generator_of_15_5_is_the_published_polynomial():
    """With the bits in the order of the powers of a root of x^4 + x + 1, the code is cyclic."""
    powers = [1]
    while len(powers) < 15:
        powers.append(2 * powers[-1] if powers[-1] < 8 else (2 * powers[-1]) ^ 0b10011)
    words = {tuple(word) for word in code_design.bch_words(4)[:, np.array(powers) - 1].tolist()}
    generator = np.zeros(15, dtype=int)
    generator[[0, 1, 2, 4, 5, 8, 10]] = 1
    assert {tuple(np.roll(generator, k).tolist()) for k in range(15)} <= words


@pytest.mark.parametrize("n_classes", [8, 10, 26])
def test_a_bch_code_keeps_the_distance_of_its_words(n_classes):
    code = drawn("bch", n_classes)
    assert code_design.min_distance(code) >= 15
    assert code_design.n_correctable(code) >= 7
    assert drawn("bch", n_classes, 20).shape[1] <= 20


@pytest.mark.sample(2)
@pytest.mark.parametrize(("name", "factor"), [("dense", 10), ("sparse", 15)])
@pytest.mark.parametrize("n_classes", [3, 6, 26])
def test_random_codes_have_no_useless_columns_and_beat_a_single_draw(name, factor, n_classes):
    code = drawn(name, n_classes)
    wanted = int(np.ceil(factor * np.log2(n_classes)))
    possible = {"dense": 2 ** (n_classes - 1) - 1, "sparse": (3**n_classes - 2 ** (n_classes + 1) + 1) // 2}[name]
    assert code.shape == code_design.useful(code).shape == (n_classes, min(wanted, possible))
    assert not code_design.inseparable(code)
    assert (0 in code) == (name == "sparse")
    np.testing.assert_array_equal(code, drawn(name, n_classes))
    if n_classes >= 10:
        shares = (0.25, 0.5, 0.25) if name == "sparse" else (0.5, 0.0, 0.5)
        single = [code_design._random_columns(n_classes, wanted, shares, np.random.RandomState(s)) for s in range(20)]
        assert code_design.min_distance(code) > np.mean(list(map(code_design.min_distance, single))) + 1


def test_with_few_classes_dense_is_exhaustive():
    for n_classes in (3, 4, 5):
        assert drawn("dense", n_classes).shape == code_design.exhaustive(n_classes).shape


@pytest.mark.parametrize(
    "code",
    [
        code_design.exhaustive(4),
        code_design.exhaustive(5),
        code_design.one_vs_one(5),
        code_design.one_vs_rest(4),
        drawn("dense", 7, 15),
    ],
    ids=["exhaustive4", "exhaustive5", "one_vs_one", "one_vs_rest", "dense"],
)
def test_as_many_wrong_columns_as_promised_are_corrected_and_not_always_more(code):
    """⌊(d - 1)/2⌋ flips of the columns that know the class; whatever those say that do not."""
    n = code_design.n_correctable(code)
    if not (code == 0).any():
        assert n == (code_design.min_distance(code) - 1) // 2
    rng = np.random.default_rng(0)
    mistaken = False
    for k, word in enumerate(code):
        known = np.flatnonzero(word)
        for e in (n, n + 1):
            flips = list(itertools.islice(itertools.combinations(known, e), 3000))
            bits = np.where(word == 0, rng.choice([-1, 1], (len(flips), len(word))), word).astype(float)
            np.put_along_axis(
                bits,
                np.array(flips, dtype=int).reshape(len(flips), e),
                -word[np.array(flips, dtype=int).reshape(len(flips), e)],
                axis=1,
            )
            scores = decode(bits, code, "hamming")
            beaten = (np.delete(scores, k, axis=1) >= scores[:, [k]]).any(axis=1)
            if e == n:
                assert not beaten.any()
            mistaken |= e > n and bool(beaten.any())
    assert mistaken


def test_an_entry_of_zero_counts_one_half():
    code = code_design.one_vs_one(3)
    assert code_design.min_distance(code) == 2.0  # opposite in one column, and one half in each of the others
    scores = decode(np.array([[1.0, 1.0, 1.0]]), code, "hamming")
    assert scores.tolist() == [[-2.5, -1.5, -0.5]]
    even = decode(np.array([[0.5, 0.5, 0.5]]), code, "probability")
    np.testing.assert_allclose(even, 3 * np.log(0.5))


@pytest.mark.parametrize(
    ("code", "message"),
    [
        (np.ones((3, 2)), r"code has 3 rows, but y has 4 classes: \['a', 'b', 'c', 'd'\]"),
        ([[1, 1], [1, 0], [0, 1], [0, 1]], "The classes 'c' and 'd' have the same codeword of code"),
        ([[1, 0], [0, 1], [-1, 0], [0, -1]], "The classes 'a' and 'b' are not separated by any column"),
        ([[1, 1], [1, 0], [1, 1], [1, 0]], "Column 0 of code has all its classes on one side"),
        ([[1, 2], [0, 1], [1, 0], [0, 0]], "code must be a name, a matrix"),
        ("abcd", "code must be a name, a matrix"),
        ({"a": [1], "b": [0], "c": [1]}, "must have a codeword for each class of y"),
        ({"a": [1], "b": [0, 1], "c": [1], "d": [0]}, "must have the same length"),
    ],
)
def test_a_bad_code_raises(code, message):
    with pytest.raises(ValueError, match=message):
        code_design.given_code(code, np.array(["a", "b", "c", "d"]))


def test_codes_that_do_not_exist_raise():
    with pytest.raises(ValueError, match=r"too many .*The limit is K=11\. Use code='dense' or code='bch'"):
        code_design.exhaustive(12)
    with pytest.raises(ValueError, match=r"code='bch' needs at least 8 classes, but y has 5\. Use code='exhaustive'"):
        drawn("bch", 5)
    with pytest.raises(ValueError, match="code_size=8, but 4 classes have only 7 different columns with code='dense'"):
        drawn("dense", 4, 8)
    with pytest.raises(ValueError, match=r"separates all 12 classes\. Set a larger code_size"):
        drawn("sparse", 12, 2)
