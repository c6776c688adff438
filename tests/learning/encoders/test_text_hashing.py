"""Texts as rows of numbers."""

from __future__ import annotations

import numpy as np

from crowdpilot.learning.encoders.text_hashing import DEFAULT_COLUMNS, hash_texts

TEXTS = ["A good, good film!", "a film", "", "Größe 42", "good film"]


def test_a_text_is_the_same_row_whatever_stands_beside_it() -> None:
    together = hash_texts(TEXTS).toarray()
    assert together.shape == (5, DEFAULT_COLUMNS)
    for n, text in enumerate(TEXTS):
        np.testing.assert_array_equal(hash_texts([text]).toarray()[0], together[n])


def test_rows_have_length_one_and_an_empty_text_is_zero() -> None:
    length = np.linalg.norm(hash_texts(TEXTS).toarray(), axis=1)
    np.testing.assert_allclose(length, [1, 1, 0, 1, 1], rtol=1e-6)


def test_a_word_that_occurs_twice_counts_one_and_log_two() -> None:
    twice, once = hash_texts(["good good film", "good film"]).toarray()
    np.testing.assert_allclose(np.sort(once[once > 0]), [0.5**0.5] * 2, rtol=1e-6)
    parts = np.array([1, 1 + np.log(2)])
    np.testing.assert_allclose(np.sort(twice[twice > 0]), parts / np.linalg.norm(parts), rtol=1e-6)


def test_case_and_signs_make_no_difference() -> None:
    one, other = hash_texts(["Good film!", "good FILM"]).toarray()
    np.testing.assert_array_equal(one, other)
