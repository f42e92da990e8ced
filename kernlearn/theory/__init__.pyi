# Written by `python -m tests.test_lazy` from the table in __init__.py.
from kernlearn.theory import bounds as bounds
from kernlearn.theory import goodness as goodness
from kernlearn.theory import pairwise_bounds as pairwise_bounds
from kernlearn.theory import rademacher as rademacher
from kernlearn.theory.bounds import InnerMapConstants as InnerMapConstants
from kernlearn.theory.bounds import UniformAccuracy as UniformAccuracy
from kernlearn.theory.bounds import compositional_failure_probability as compositional_failure_probability
from kernlearn.theory.bounds import compositional_n_components as compositional_n_components
from kernlearn.theory.bounds import maclaurin_failure_probability as maclaurin_failure_probability
from kernlearn.theory.bounds import maclaurin_n_components as maclaurin_n_components
from kernlearn.theory.bounds import maclaurin_pointwise_failure_probability as maclaurin_pointwise_failure_probability
from kernlearn.theory.voted import VotedBound as VotedBound
from kernlearn.theory.voted import voted_bound as voted_bound

__all__ = [
    "InnerMapConstants",
    "UniformAccuracy",
    "VotedBound",
    "bounds",
    "compositional_failure_probability",
    "compositional_n_components",
    "goodness",
    "maclaurin_failure_probability",
    "maclaurin_n_components",
    "maclaurin_pointwise_failure_probability",
    "pairwise_bounds",
    "rademacher",
    "voted_bound",
]
