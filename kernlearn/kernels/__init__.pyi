from kernlearn.kernels.base import Kernel as Kernel
from kernlearn.kernels.distances import EuclideanSimilarity as EuclideanSimilarity
from kernlearn.kernels.distances import GaussianKernel as GaussianKernel
from kernlearn.kernels.distances import LaplacianKernel as LaplacianKernel
from kernlearn.kernels.distances import ManhattanSimilarity as ManhattanSimilarity
from kernlearn.kernels.distances import mean_distance as mean_distance
from kernlearn.kernels.dot_product import BaseDotProductKernel as BaseDotProductKernel
from kernlearn.kernels.dot_product import BilinearSimilarity as BilinearSimilarity
from kernlearn.kernels.dot_product import CosineSimilarity as CosineSimilarity
from kernlearn.kernels.dot_product import DotProductKernel as DotProductKernel
from kernlearn.kernels.dot_product import ExponentialKernel as ExponentialKernel
from kernlearn.kernels.dot_product import (
    HomogeneousPolynomialKernel as HomogeneousPolynomialKernel,
)
from kernlearn.kernels.dot_product import LinearKernel as LinearKernel
from kernlearn.kernels.dot_product import PolynomialKernel as PolynomialKernel
from kernlearn.kernels.dot_product import SigmoidKernel as SigmoidKernel
from kernlearn.kernels.dot_product import VovkKernel as VovkKernel
from kernlearn.kernels.functions import CallableKernel as CallableKernel
from kernlearn.kernels.functions import NormalizedKernel as NormalizedKernel
from kernlearn.kernels.functions import WeightedKernelSum as WeightedKernelSum
from kernlearn.kernels.functions import as_kernel as as_kernel
from kernlearn.kernels.libraries import LibrarySimilarity as LibrarySimilarity
from kernlearn.kernels.records import ColumnSimilarity as ColumnSimilarity
from kernlearn.kernels.records import GowerSimilarity as GowerSimilarity
from kernlearn.kernels.records import JaccardSimilarity as JaccardSimilarity
from kernlearn.kernels.records import ValueDifferenceSimilarity as ValueDifferenceSimilarity
from kernlearn.kernels.registry import named as named
from kernlearn.kernels.registry import names as names
