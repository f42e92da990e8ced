# Written by `python -m tests.test_lazy` from the table in __init__.py.
from kernlearn.kernels.base import Kernel as Kernel
from kernlearn.kernels.composite import NormalizedKernel as NormalizedKernel
from kernlearn.kernels.composite import WeightedKernelSum as WeightedKernelSum
from kernlearn.kernels.composite import as_kernel as as_kernel
from kernlearn.kernels.distances import EuclideanSimilarity as EuclideanSimilarity
from kernlearn.kernels.distances import GaussianKernel as GaussianKernel
from kernlearn.kernels.distances import LaplacianKernel as LaplacianKernel
from kernlearn.kernels.distances import ManhattanSimilarity as ManhattanSimilarity
from kernlearn.kernels.distances import mean_distance as mean_distance
from kernlearn.kernels.dot_product import BaseDotProductKernel as BaseDotProductKernel
from kernlearn.kernels.dot_product import DotProductKernel as DotProductKernel
from kernlearn.kernels.dot_product import KernelProduct as KernelProduct
from kernlearn.kernels.dot_product import KernelSum as KernelSum
from kernlearn.kernels.functions import CallableKernel as CallableKernel
from kernlearn.kernels.gaussian_process import GaussianProcessKernel as GaussianProcessKernel
from kernlearn.kernels.gower import GowerSimilarity as GowerSimilarity
from kernlearn.kernels.inner_product import BilinearSimilarity as BilinearSimilarity
from kernlearn.kernels.inner_product import CosineSimilarity as CosineSimilarity
from kernlearn.kernels.inner_product import ExponentialKernel as ExponentialKernel
from kernlearn.kernels.inner_product import HomogeneousPolynomialKernel as HomogeneousPolynomialKernel
from kernlearn.kernels.inner_product import LinearKernel as LinearKernel
from kernlearn.kernels.inner_product import PolynomialKernel as PolynomialKernel
from kernlearn.kernels.inner_product import SigmoidKernel as SigmoidKernel
from kernlearn.kernels.inner_product import VovkKernel as VovkKernel
from kernlearn.kernels.structured import DynamicTimeWarpingSimilarity as DynamicTimeWarpingSimilarity
from kernlearn.kernels.structured import JaccardSimilarity as JaccardSimilarity
from kernlearn.kernels.structured import LevenshteinSimilarity as LevenshteinSimilarity
from kernlearn.kernels.value_difference import ValueDifferenceSimilarity as ValueDifferenceSimilarity

__all__ = [
    "BaseDotProductKernel",
    "BilinearSimilarity",
    "CallableKernel",
    "CosineSimilarity",
    "DotProductKernel",
    "DynamicTimeWarpingSimilarity",
    "EuclideanSimilarity",
    "ExponentialKernel",
    "GaussianKernel",
    "GaussianProcessKernel",
    "GowerSimilarity",
    "HomogeneousPolynomialKernel",
    "JaccardSimilarity",
    "Kernel",
    "KernelProduct",
    "KernelSum",
    "LaplacianKernel",
    "LevenshteinSimilarity",
    "LinearKernel",
    "ManhattanSimilarity",
    "NormalizedKernel",
    "PolynomialKernel",
    "SigmoidKernel",
    "ValueDifferenceSimilarity",
    "VovkKernel",
    "WeightedKernelSum",
    "as_kernel",
    "mean_distance",
]
