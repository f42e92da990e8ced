# Written by `python -m tests.test_lazy` from the table in __init__.py.
from kernlearn.similarities.cache import PairCache as PairCache
from kernlearn.similarities.checking import check_similarity as check_similarity
from kernlearn.similarities.columns import ColumnSimilarity as ColumnSimilarity
from kernlearn.similarities.functions import FunctionSimilarity as FunctionSimilarity
from kernlearn.similarities.graphs import GrakelKernel as GrakelKernel
from kernlearn.similarities.listing import named as named
from kernlearn.similarities.listing import names as names
from kernlearn.similarities.matrices import MatrixSimilarity as MatrixSimilarity
from kernlearn.similarities.series import AeonDistance as AeonDistance
from kernlearn.similarities.shortlists import POINTS as POINTS
from kernlearn.similarities.shortlists import shortlist as shortlist
from kernlearn.similarities.strings import RapidFuzzSimilarity as RapidFuzzSimilarity
from kernlearn.similarities.turning import TURNS as TURNS
from kernlearn.similarities.vectors import ScipyDistance as ScipyDistance
from kernlearn.similarities.vectors import SklearnSimilarity as SklearnSimilarity

__all__ = [
    "AeonDistance",
    "ColumnSimilarity",
    "FunctionSimilarity",
    "GrakelKernel",
    "MatrixSimilarity",
    "POINTS",
    "PairCache",
    "RapidFuzzSimilarity",
    "ScipyDistance",
    "SklearnSimilarity",
    "TURNS",
    "check_similarity",
    "named",
    "names",
    "shortlist",
]
