"""Similarities and distances of other libraries by dotted names, such as ``aeon.twe``."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property, partial
from typing import Any

from kernlearn.extras import EXTRAS, MissingExtraError, install_line, missing_text
from kernlearn.registration import RegisteredKernel, is_installed


@dataclass(frozen=True)
class Library:
    """A library whose similarities have dotted names.

    Attributes
    ----------
    name : str
        The first part of the names.
    module : str
        What is imported of it.
    points : str
        What it compares: "vectors", "strings", "series" or "graphs".
    target : str
        The class that stands for all of them.
    kinds : mapping of str to str
        Each name after the dot, and whether it is a "similarity" or a "distance".
    """

    name: str
    module: str
    points: str
    target: str
    kinds: Mapping[str, str]

    @property
    def extra(self) -> str:
        """The extra of kernlearn that installs it; empty if it is always there."""
        return EXTRAS.get(self.module, "")

    @property
    def installed(self) -> bool:
        """Whether it is installed."""
        return is_installed(self.module)

    @property
    def about(self) -> str:
        """What its similarities are called and compare, and how to install it."""
        text = f"as {self.name}.NAME, of {self.points}"
        if self.installed:
            return text
        return f"{text}; not installed: {install_line(self.extra)}"

    def require(self, similarity: str) -> None:
        """Raise an ImportError that says how to install it, if it is not installed."""
        if not self.installed:
            raise MissingExtraError(missing_text(f"{self.name}.{similarity}", self.module))


@dataclass(frozen=True)
class LibrarySimilarity(RegisteredKernel):
    """A similarity or distance of another library."""

    @property
    def _method(self) -> str:
        return self.name.partition(".")[2]

    @property
    def points(self) -> str:
        """What it compares."""
        return self._library.points

    @property
    def measure(self) -> str:
        """Whether it is a similarity or a distance."""
        return self._library.kinds[self._method]

    @property
    def _library(self) -> Library:
        return LIBRARIES[self.name.partition(".")[0]]

    def load(self) -> Any:
        return partial(super().load(), self._method)

    @property
    def stored_name(self) -> str:
        return self.name

    @cached_property
    def parameters(self) -> Mapping[str, Any]:
        """The names and defaults of its parameters; of the library's own only if installed."""
        if not self.installed:
            return {}
        found = self.load()().get_params(deep=False)
        return {name: value for name, value in found.items() if name != "name"}


def _distances(names: str) -> dict[str, str]:
    return dict.fromkeys(names.split(), "distance")


def _similarities(names: str) -> dict[str, str]:
    return dict.fromkeys(names.split(), "similarity")


LIBRARIES: dict[str, Library] = {
    library.name: library
    for library in (
        Library(
            "scipy",
            "scipy",
            "vectors",
            "kernlearn.similarities.vectors:ScipyDistance",
            _distances(
                "braycurtis canberra chebyshev cityblock correlation cosine dice euclidean "
                "hamming jaccard jensenshannon mahalanobis minkowski rogerstanimoto russellrao "
                "seuclidean sokalsneath sqeuclidean yule"
            ),
        ),
        Library(
            "sklearn",
            "sklearn",
            "vectors",
            "kernlearn.similarities.vectors:SklearnSimilarity",
            _distances(
                "braycurtis canberra chebyshev cityblock cosine dice euclidean hamming haversine "
                "jaccard l1 l2 mahalanobis manhattan minkowski nan_euclidean rogerstanimoto "
                "russellrao seuclidean sokalmichener sokalsneath"
            )
            | _similarities(
                "additive_chi2_kernel chi2_kernel cosine_similarity laplacian_kernel "
                "linear_kernel polynomial_kernel rbf_kernel sigmoid_kernel"
            ),
        ),
        Library(
            "rapidfuzz",
            "rapidfuzz",
            "strings",
            "kernlearn.similarities.strings:RapidFuzzSimilarity",
            _similarities(
                "damerau_levenshtein hamming indel jaro jaro_winkler lcs_seq levenshtein osa "
                "postfix prefix partial_ratio partial_token_ratio partial_token_set_ratio "
                "partial_token_sort_ratio q_ratio ratio token_ratio token_set_ratio "
                "token_sort_ratio w_ratio"
            ),
        ),
        Library(
            "aeon",
            "aeon",
            "series",
            "kernlearn.similarities.series:AeonDistance",
            _distances(
                "adtw ddtw dtw dtw_gi edr erp euclidean lcss manhattan minkowski msm sbd "
                "shape_dtw soft_dtw squared twe wddtw wdtw"
            ),
        ),
        Library(
            "grakel",
            "grakel",
            "graphs",
            "kernlearn.similarities.graphs:GrakelKernel",
            _similarities(
                "edge_histogram graph_hopper graphlet hadamard_code "
                "multiscale_laplacian neighborhood_hash "
                "neighborhood_subgraph_pairwise_distance propagation propagation_attr "
                "random_walk random_walk_labeled shortest_path shortest_path_attr "
                "subgraph_matching svm_theta vertex_histogram weisfeiler_lehman "
                "weisfeiler_lehman_optimal_assignment"
            ),
        ),
    )
}


@cache
def library_similarity(name: str) -> LibrarySimilarity | None:
    """Return the similarity of a dotted name, None if there is no such name."""
    prefix, _, method = name.partition(".")
    library = LIBRARIES.get(prefix)
    if library is None or method not in library.kinds:
        return None
    summary = f"{library.kinds[method]} of {library.points}"
    return LibrarySimilarity(
        name, library.target, summary=summary, extra=library.extra, needs=library.module
    )


def library_names() -> list[str]:
    """Return all dotted names, sorted."""
    return sorted(f"{name}.{method}" for name, one in LIBRARIES.items() for method in one.kinds)
