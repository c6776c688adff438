"""Words that count more the rarer they are: a backbone that is learned from the training texts."""

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
    """How often a word occurs in a text, times log of the share of texts without it; rows of length one.

    Parameters
    ----------
    features
        The most frequent words that are kept at most; None keeps all.
    min_df
        Words that occur in fewer texts are left out; below 1.0 it is a share of the texts.
    ngrams
        Words in a row that count as one more word, at most.
    sublinear
        Whether n occurrences count 1 + log n, not n.

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

    def fit(self, texts: Sequence[str]) -> Words:
        """The words of these texts, and how rare they are."""
        count = self.vectorizer(min_df=self.min_df, max_features=self.features)
        try:
            count.fit(texts)
        except ValueError as error:
            problem = f"no word occurs in {self.min_df} or more of the {len(texts)} texts"
            raise ValueError(f"{problem}; give a smaller min_df to tfidf") from error
        return Words(self, tuple(count.get_feature_names_out().tolist()), count.idf_)

    def restore(self, state: Mapping[str, Tensor]) -> Words:
        """What was fitted, from its `state_dict`."""
        words = bytes(state["words"].numpy()).decode().split("\n")
        return Words(self, tuple(words), state["idf"].numpy())

    def vectorizer(self, **options: Any) -> Any:
        """The vectorizer of scikit-learn with these settings."""
        from sklearn.feature_extraction.text import TfidfVectorizer

        return TfidfVectorizer(ngram_range=(1, self.ngrams), sublinear_tf=self.sublinear, **options)


class Words:
    """From texts to a sparse row each.

    Parameters
    ----------
    settings
        With which it was learned.
    words
        One for each column.
    idf
        What an occurrence of each counts.
    """

    def __init__(self, settings: Tfidf, words: tuple[str, ...], idf: Floats) -> None:
        self.words, self.idf = words, idf
        self._count = settings.vectorizer(vocabulary={word: n for n, word in enumerate(words)})
        self._count.idf_ = idf

    def __call__(self, texts: Sequence[str]) -> csr_array:
        return csr_array(self._count.transform(texts)).astype(np.float32)

    def state_dict(self) -> dict[str, Tensor]:
        """The words, as lines of UTF-8, and their numbers."""
        lines = np.frombuffer("\n".join(self.words).encode(), np.uint8).copy()
        return {"words": torch.from_numpy(lines), "idf": torch.from_numpy(np.array(self.idf))}
