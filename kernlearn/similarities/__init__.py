"""Similarities and distances of points of any kind: of libraries by name, and one's own."""

from kernlearn.lazy import attach

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        "cache": "PairCache",
        "checking": "check_similarity",
        "columns": "ColumnSimilarity",
        "functions": "FunctionSimilarity",
        "graphs": "GrakelKernel",
        "listing": "named names",
        "matrices": "MatrixSimilarity",
        "series": "AeonDistance",
        "shortlists": "POINTS shortlist",
        "strings": "RapidFuzzSimilarity",
        "turning": "TURNS",
        "vectors": "ScipyDistance SklearnSimilarity",
    },
)
