"""Kernels and similarities by name, kernlearn's own and those of other libraries."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from kernlearn.checks import suggestion
from kernlearn.lazy import MissingExtraError, is_installed, missing_text
from kernlearn.plugins import Registered

if TYPE_CHECKING:
    from kernlearn.kernels.base import Kernel


#: The names of LIBSVM's own kernels, by its numbers.
LIBSVM = ("linear", "poly", "rbf")


@dataclass(frozen=True)
class Library:
    """A library whose distances and similarities have dotted names.

    Attributes
    ----------
    name : str
        The first part of the names, and the module that is imported.
    points : str
        What it compares: "vectors", "strings", "series" or "graphs".
    distances, similarities : str
        The second parts of the names, separated by blanks.
    refused : mapping of str to str
        Names that are not available, and why.
    """

    name: str
    points: str
    distances: str = ""
    similarities: str = ""
    refused: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def kinds(self) -> Mapping[str, str]:
        """Whether each is a "distance" or a "similarity"."""
        kinds = dict.fromkeys(self.distances.split(), "distance")
        return kinds | dict.fromkeys(self.similarities.split(), "similarity")


_PAIR = "the value of two points must depend on them alone: "
_SCALED = dict.fromkeys(
    ("mahalanobis", "seuclidean"),
    f"{_PAIR}scale the points, by StandardScaler or PCA(whiten=True), and take the Euclidean one",
)
_SAMPLES = f"{_PAIR}it draws random samples from all graphs of a call"
_LABELS = f"{_PAIR}it numbers the labels of all graphs of a call"
_DECAY = f"{_PAIR}its decay is that of the densest graph of a call"

#: Other libraries by name.
LIBRARIES: Mapping[str, Library] = {
    library.name: library
    for library in (
        Library(
            "scipy",
            "vectors",
            "braycurtis canberra chebyshev cityblock correlation cosine dice euclidean hamming "
            "jaccard jensenshannon minkowski rogerstanimoto russellrao sokalsneath sqeuclidean "
            "yule",
            refused=_SCALED,
        ),
        Library(
            "sklearn",
            "vectors",
            "cityblock cosine euclidean haversine l1 l2 manhattan nan_euclidean",
            "additive_chi2_kernel chi2_kernel cosine_similarity laplacian_kernel linear_kernel "
            "polynomial_kernel rbf_kernel sigmoid_kernel",
            refused=_SCALED,
        ),
        Library(
            "rapidfuzz",
            "strings",
            similarities="damerau_levenshtein hamming indel jaro jaro_winkler lcs_seq levenshtein "
            "osa postfix prefix partial_ratio partial_token_ratio partial_token_set_ratio "
            "partial_token_sort_ratio q_ratio ratio token_ratio token_set_ratio "
            "token_sort_ratio w_ratio",
        ),
        Library(
            "aeon",
            "series",
            "adtw ddtw dtw dtw_gi euclidean lcss manhattan minkowski msm sbd shape_dtw squared "
            "twe wddtw wdtw",
            refused={
                "edr": "aeon leaves ends free, and equal series without spread are apart",
                "erp": "aeon counts the first gap as much as all gaps together",
                "soft_dtw": "aeon returns the absolute values of what may be negative",
            },
        ),
        Library(
            "grakel",
            "graphs",
            similarities="edge_histogram graph_hopper propagation_attr shortest_path "
            "shortest_path_attr subgraph_matching vertex_histogram weisfeiler_lehman "
            "weisfeiler_lehman_optimal_assignment",
            refused={
                **dict.fromkeys(("graphlet", "multiscale_laplacian"), _SAMPLES),
                **dict.fromkeys(("hadamard_code", "neighborhood_hash", "propagation"), _LABELS),
                **dict.fromkeys(("random_walk", "random_walk_labeled"), _DECAY),
                "neighborhood_subgraph_pairwise_distance": f"{_PAIR}it is normalized by all",
                "svm_theta": f"{_PAIR}it changes from call to call",
            },
        ),
    )
}


def _of_library(dotted: str, title: str, name: str = "") -> Registered:
    points = LIBRARIES[dotted.partition(".")[0]].points
    target = "kernlearn.kernels.libraries:LibrarySimilarity"
    return Registered("kernel", name or dotted, target, title=title, points=points, dotted=dotted)


def _own(name: str, target: str, title: str, points: str = "vectors") -> Registered:
    return Registered("kernel", name, f"kernlearn.kernels.{target}", title=title, points=points)


#: Kernels by the names that configs give them; each is imported when it is used.
KERNELS: dict[str, Registered] = {
    kernel.name: kernel
    for kernel in (
        _own("homogeneous_polynomial", "dot_product:HomogeneousPolynomialKernel", "⟨x, y⟩^degree"),
        _own("polynomial", "dot_product:PolynomialKernel", "(⟨x, y⟩ + coef0)^degree"),
        _own("exponential", "dot_product:ExponentialKernel", "exp(⟨x, y⟩ / σ²)"),
        _own("vovk", "dot_product:VovkKernel", "1 / (1 - ⟨x, y⟩)"),
        _own("dot_product", "dot_product:DotProductKernel", "Σ aₙ ⟨x, y⟩ⁿ from its coefficients"),
        _own("linear", "dot_product:LinearKernel", "⟨x, y⟩"),
        _own("gaussian", "distances:GaussianKernel", "exp(-‖x - y‖² / 2σ²)"),
        _own("laplacian", "distances:LaplacianKernel", "exp(-‖x - y‖₁ / σ)"),
        _own("sigmoid", "dot_product:SigmoidKernel", "tanh(a ⟨x, y⟩ + r)"),
        _own("manhattan", "distances:ManhattanSimilarity", "-‖x - y‖₁"),
        _own("euclidean", "distances:EuclideanSimilarity", "-‖x - y‖²"),
        _own("cosine", "dot_product:CosineSimilarity", "cosine of the angle"),
        _own(
            "gower",
            "records:GowerSimilarity",
            "similarity of records that mix numbers and nominal values",
            "records",
        ),
        _own("jaccard", "records:JaccardSimilarity", "similarity of sets", "sets"),
        _own(
            "value_difference",
            "records:ValueDifferenceSimilarity",
            "similarity of nominal columns, learnt from labels",
            "records",
        ),
        _of_library(
            "rapidfuzz.levenshtein", "similarity of strings by their edit distance", "levenshtein"
        ),
        _of_library("aeon.dtw", "series of any lengths, warped in time", "dynamic_time_warping"),
    )
}

#: Those of other libraries, by their dotted names.
OF_LIBRARIES: dict[str, Registered] = {
    (dotted := f"{library.name}.{method}"): _of_library(dotted, f"{kind} of {library.points}")
    for _, library in sorted(LIBRARIES.items())
    for method, kind in sorted(library.kinds.items())
}


def kernel_of_name(name: str) -> Registered | None:
    """Return the kernel of a name, dotted or not; None if there is no such name."""
    return OF_LIBRARIES.get(name) or KERNELS.get(name)


def names(points: str | None = None) -> list[str]:
    """List the names of similarities and distances.

    Each name may be given wherever kernlearn takes a kernel or a similarity.

    Parameters
    ----------
    points : str, default=None
        Only those of "vectors", "strings", "series", "graphs", "sets" or "records".

    Returns
    -------
    list of str
        kernlearn's own first, then those of libraries.

    Examples
    --------
    >>> from kernlearn.kernels import names
    >>> names("records")
    ['gower', 'value_difference']
    >>> names("graphs")[:2]
    ['grakel.edge_histogram', 'grakel.graph_hopper']
    """
    every = dict(sorted(KERNELS.items())) | OF_LIBRARIES
    del every["dot_product"]
    return [name for name, one in every.items() if points in (None, one.points)]


def named(name: str, **parameters: Any) -> "Kernel":
    """Make the similarity of a name, with its parameters.

    Parameters
    ----------
    name : str
        One of :func:`names`.
    **parameters
        Its parameters.

    Returns
    -------
    Kernel

    Raises
    ------
    ValueError
        If there is no such name or parameter, or the similarity is refused.
    ImportError
        If its library is not installed; the message says how to install it.

    Examples
    --------
    >>> from kernlearn.kernels import named
    >>> named("scipy.minkowski", p=1)([[0.0, 0.0]], [[1.0, 2.0]])
    array([[-3.]])
    """
    record = kernel_of_name(name)
    if record is None:
        library_of(name)
        dotted = {one: one for one in OF_LIBRARIES} | {"rbf": "gaussian"}
        raise ValueError(f"no similarity {name!r}{suggestion(name, KERNELS, dotted)}")
    return record.load()(**parameters)


def library_of(name: str) -> Library | None:
    """Return the library of a dotted name; None if it is of no library.

    Raises
    ------
    ValueError
        If the library has no such name, or it is refused.
    ImportError
        If the library is not installed; the message says how to install it.
    """
    prefix, _, method = name.partition(".")
    library = LIBRARIES.get(prefix)
    if library is None:
        return None
    if reason := library.refused.get(method):
        raise ValueError(f"{name} is refused, because {reason}")
    if method not in library.kinds:
        own = [f"{prefix}.{one}" for one in library.kinds]
        raise ValueError(f"no similarity {name!r}{suggestion(name, own)}")
    if not is_installed(library.name):
        raise MissingExtraError(missing_text(name, library.name))
    return library
