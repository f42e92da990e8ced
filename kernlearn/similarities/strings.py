"""Similarities of strings by RapidFuzz."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernlearn.constraints import StrOptions
from kernlearn.extras import needed_by
from kernlearn.kernels.pairs import shown
from kernlearn.similarities.library import ThreadedSimilarity

_MEASURES = ("normalized_similarity", "similarity", "normalized_distance", "distance")
# The names of modules and functions there.
_DISTANCES = {
    "damerau_levenshtein": "DamerauLevenshtein",
    "hamming": "Hamming",
    "indel": "Indel",
    "jaro": "Jaro",
    "jaro_winkler": "JaroWinkler",
    "lcs_seq": "LCSseq",
    "levenshtein": "Levenshtein",
    "osa": "OSA",
    "postfix": "Postfix",
    "prefix": "Prefix",
}
_RATIOS = {"q_ratio": "QRatio", "w_ratio": "WRatio"}
_OWN: dict[str, dict[str, Any]] = {
    "hamming": {"pad": True},
    "jaro_winkler": {"prefix_weight": 0.1},
    "levenshtein": {"weights": (1, 1, 1)},
}


class RapidFuzzSimilarity(ThreadedSimilarity):
    r"""A similarity or distance of strings, or other sequences, of RapidFuzz.

    Parameters
    ----------
    name : str
        Of :mod:`rapidfuzz.distance`: "damerau_levenshtein", "hamming", "indel", "jaro",
        "jaro_winkler", "lcs_seq", "levenshtein", "osa", "postfix", "prefix". Of
        :mod:`rapidfuzz.fuzz`: "ratio", "partial_ratio", "token_ratio", "token_set_ratio",
        "token_sort_ratio", "partial_token_ratio", "partial_token_set_ratio",
        "partial_token_sort_ratio", "q_ratio", "w_ratio".
    measure : {"normalized_similarity", "similarity", "normalized_distance", "distance"}, \
            default="normalized_similarity"
        Which number: the normalized ones are in [0, 1], the others count edits or characters.
        Distances are turned. The ratios have the first only: a hundredth of RapidFuzz's.
    turn, sigma
        As for :class:`ScipyDistance`; of no effect for similarities.
    processor : callable, default=None
        What strings are passed through first, such as ``rapidfuzz.utils.default_process``.
    n_jobs : int, default=None
        Number of threads; None is 1, -1 all cores.
    **parameters
        ``prefix_weight`` of "jaro_winkler", ``weights`` of insertions, deletions and replacements
        of "levenshtein", ``pad`` of "hamming".

    Examples
    --------
    >>> from kernlearn.similarities import RapidFuzzSimilarity
    >>> RapidFuzzSimilarity("jaro_winkler")(["martha"], ["marhta", "bertha"]).round(3)
    array([[0.961, 0.778]])
    >>> RapidFuzzSimilarity("osa", measure="distance")(["martha"], ["marhta", "bertha"])
    array([[-1., -2.]])
    """

    library = "rapidfuzz"
    structured = True
    columnwise = True
    _parameter_constraints = {
        **ThreadedSimilarity._parameter_constraints,
        "measure": [StrOptions(set(_MEASURES))],
        "processor": [callable, None],
    }

    def __init__(
        self,
        name: str,
        *,
        measure: str = "normalized_similarity",
        turn: str = "negative",
        sigma: Any = "mean_distance",
        processor: Any = None,
        n_jobs: int | None = None,
        **parameters: Any,
    ) -> None:
        super().__init__(name, turn=turn, sigma=sigma, n_jobs=n_jobs, **parameters)
        self.measure, self.processor = measure, processor

    @staticmethod
    def _own_parameters(name: str) -> Mapping[str, Any]:
        return _OWN.get(name, {})

    @property
    def is_distance(self) -> bool:
        return self.measure.endswith("distance")

    def _compare(self, X: Any, Y: Any) -> NDArray[Any]:
        with needed_by(f"rapidfuzz.{self.name}"):
            from rapidfuzz import distance, fuzz
            from rapidfuzz.process import cdist

        options: dict[str, Any] = {
            "processor": self.processor,
            "dtype": np.float64,
            "workers": self.n_jobs or 1,
        }
        left, right = _texts(X, "X"), _texts(Y, "Y")
        if self.name not in _DISTANCES:
            if self.measure != "normalized_similarity":
                raise ValueError(
                    f"rapidfuzz.{self.name} has no measure {self.measure!r}, only "
                    "'normalized_similarity'"
                )
            scorer = getattr(fuzz, _RATIOS.get(self.name, self.name))
            return cdist(left, right, scorer=scorer, **options) / 100
        own = self._options()
        own = own if own != _OWN.get(self.name, {}) else {}
        if "weights" in own:
            own["weights"] = tuple(own["weights"])
        scorer = getattr(getattr(distance, _DISTANCES[self.name]), self.measure)
        return cdist(left, right, scorer=scorer, scorer_kwargs=own or None, **options)


def _texts(points: Any, name: str) -> list[Any]:
    texts = list(points)
    for place, text in enumerate(texts):
        if not isinstance(text, Sequence):
            raise ValueError(
                f"'{name}' must hold strings or other sequences, got {shown(text)} at {place}"
            )
    return texts
