"""Texts as rows of numbers that need nothing to be learned first."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.sparse import csr_array

COLUMNS = 1 << 14  # a quarter of it costs up to 5 points of accuracy on three sets of reviews


def hash_texts(texts: Sequence[str], columns: int = COLUMNS) -> csr_array:
    """How often words occur, as 1 + log of it, each text scaled to length one.

    A word has the column that its hash says, so that nothing must be kept to read other texts in
    the same way, and two words may share a column.

    Parameters
    ----------
    texts
        One for each row; an empty one is a row of zeros.
    columns
        How many there are.

    References
    ----------
    Weinberger et al., Feature hashing for large scale multitask learning, ICML 2009.
    https://arxiv.org/abs/0902.2206
    """
    from sklearn.feature_extraction.text import HashingVectorizer
    from sklearn.preprocessing import normalize

    count = HashingVectorizer(n_features=columns, norm=None, alternate_sign=False)
    found = csr_array(count.transform(texts))
    found.data = 1 + np.log(found.data)
    return csr_array(normalize(found)).astype(np.float32)
