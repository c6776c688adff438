"""TF-IDF: word counts weighted by inverse document frequency, learned from the training texts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from scipy.sparse import csr_array
from torch import Tensor

from crowdpilot.arrays import Floats


@dataclass(frozen=True)
class Tfidf:
    """TF-IDF, tf · (1 + log((1 + n) / (1 + df))) for n texts; each row is scaled to unit length.

    Parameters
    ----------
    features
        Maximum size of the vocabulary, by frequency; None keeps all words.
    min_df
        Minimum document frequency of a word: a number of texts, or below 1.0 a share of them.
    ngrams
        Maximum length of the n-grams of words.
    sublinear
        Whether n occurrences count as 1 + log n, not n.

    References
    ----------
    Salton and Buckley, Term-weighting approaches in automatic text retrieval, 1988.
    https://doi.org/10.1016/0306-4573(88)90021-0
    """

    features: int | None = 20_000
    min_df: int | float = 2
    ngrams: int = 2
    sublinear: bool = True

    def __post_init__(self) -> None:
        for name in ("features", "ngrams"):
            if (value := getattr(self, name)) is not None and not (isinstance(value, int) and value > 0):
                raise ValueError(f"{name} of tfidf is {value!r}, expected a whole number from 1")
        is_share = isinstance(self.min_df, float)
        if not (0 < self.min_df <= 1 if is_share else isinstance(self.min_df, int) and self.min_df > 0):
            raise ValueError(f"min_df of tfidf is {self.min_df!r}, expected a number of texts or a share")

    def fit(self, texts: Sequence[str]) -> FittedTfidf:
        """The vocabulary of these texts, and the weight of each word."""
        vectorizer = self.vectorizer(min_df=self.min_df, max_features=self.features)
        try:
            vectorizer.fit(texts)
        except ValueError as error:
            problem = f"no word occurs in {self.min_df} or more of the {len(texts)} texts"
            raise ValueError(f"{problem}; give a smaller min_df to tfidf") from error
        return FittedTfidf(self, tuple(vectorizer.get_feature_names_out().tolist()), vectorizer.idf_)

    def restore(self, state: Mapping[str, Tensor]) -> FittedTfidf:
        """The fitted encoder from its `state_dict`."""
        words = bytes(state["words"].numpy()).decode().split("\n")
        return FittedTfidf(self, tuple(words), state["idf"].numpy())

    def vectorizer(self, **options: Any) -> Any:
        """The vectorizer of scikit-learn with these settings."""
        from sklearn.feature_extraction.text import TfidfVectorizer

        return TfidfVectorizer(ngram_range=(1, self.ngrams), sublinear_tf=self.sublinear, **options)


class FittedTfidf:
    """A function from texts to sparse features, (texts, words).

    Parameters
    ----------
    settings
        With which it was fitted.
    words
        One for each column.
    idf
        The weight of each.
    """

    def __init__(self, settings: Tfidf, words: tuple[str, ...], idf: Floats) -> None:
        self.words, self.idf = words, idf
        self._vectorizer = settings.vectorizer(vocabulary={word: n for n, word in enumerate(words)})
        self._vectorizer.idf_ = idf

    def __call__(self, texts: Sequence[str]) -> csr_array:
        return csr_array(self._vectorizer.transform(texts)).astype(np.float32)

    def state_dict(self) -> dict[str, Tensor]:
        """The words as lines of UTF-8, and their weights."""
        lines = np.frombuffer("\n".join(self.words).encode(), np.uint8).copy()
        return {"words": torch.from_numpy(lines), "idf": torch.from_numpy(np.array(self.idf))}
