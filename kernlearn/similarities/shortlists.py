"""The similarities that are worth a first try, by the kind of points."""

from kernlearn.kernels.libraries import library_similarity

_SHORTLISTS = {
    "vectors": (
        "gaussian laplacian linear polynomial cosine manhattan scipy.euclidean scipy.chebyshev "
        "scipy.canberra scipy.braycurtis scipy.correlation scipy.mahalanobis"
    ),
    "strings": (
        "levenshtein rapidfuzz.indel rapidfuzz.osa rapidfuzz.jaro_winkler rapidfuzz.lcs_seq "
        "rapidfuzz.partial_ratio rapidfuzz.token_sort_ratio rapidfuzz.token_set_ratio "
        "rapidfuzz.w_ratio"
    ),
    "series": (
        "aeon.euclidean aeon.sbd aeon.dtw aeon.ddtw aeon.wdtw aeon.adtw aeon.erp aeon.edr "
        "aeon.lcss aeon.msm aeon.twe aeon.shape_dtw"
    ),
    "graphs": (
        "grakel.vertex_histogram grakel.weisfeiler_lehman "
        "grakel.weisfeiler_lehman_optimal_assignment grakel.shortest_path "
        "grakel.neighborhood_hash grakel.propagation"
    ),
    "sets": "jaccard",
    "records": "gower",
}

POINTS = tuple(_SHORTLISTS)
"""The kinds of points for which there is a shortlist.

Examples
--------
>>> from kernlearn.similarities import POINTS, shortlist
>>> POINTS
('vectors', 'strings', 'series', 'graphs', 'sets', 'records')
>>> {points: len(shortlist(points)) for points in POINTS}
{'vectors': 12, 'strings': 9, 'series': 12, 'graphs': 6, 'sets': 1, 'records': 1}
"""


def shortlist(points: str, *, installed: bool | None = None) -> list[str]:
    """Return names of similarities to compare, those of a kind of points.

    Parameters
    ----------
    points : {"vectors", "strings", "series", "graphs", "sets", "records"}
    installed : bool, default=None
        Only those whose library is installed, or is not.

    Returns
    -------
    list of str
        Names for :func:`named`, unlike each other; :func:`names` lists all.

    Raises
    ------
    ValueError
        If there is no such kind of points.

    Examples
    --------
    >>> from kernlearn.similarities import shortlist
    >>> shortlist("strings")[:3]
    ['levenshtein', 'rapidfuzz.indel', 'rapidfuzz.osa']
    """
    if points not in _SHORTLISTS:
        raise ValueError(f"'points' must be one of {', '.join(POINTS)}, got {points!r}")
    found = []
    for name in _SHORTLISTS[points].split():
        library = library_similarity(name)
        if installed in (None, library is None or library.installed):
            found.append(name)
    return found
