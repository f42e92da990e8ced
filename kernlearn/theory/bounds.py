r"""Uniform convergence of random Maclaurin features: Kar (2013), theorems 3.10 and 3.14.

All bounds are for points in the 1-norm ball :math:`B_1(0, R)` and for the normalised measure
:math:`P[N = n] = (p - 1) p^{-(n+1)}`. The thesis writes :math:`p^{-(n+1)}`, which is the same at
p = 2; for other p the bounds on the features are divided by p - 1 here, as the features are.
"""

from kernlearn.theory._compositional import (
    InnerMapConstants,
    compositional_failure_probability,
    compositional_n_components,
)
from kernlearn.theory._hoeffding import UniformAccuracy
from kernlearn.theory._maclaurin import (
    maclaurin_failure_probability,
    maclaurin_n_components,
    maclaurin_pointwise_failure_probability,
)

__all__ = [
    "InnerMapConstants",
    "UniformAccuracy",
    "compositional_failure_probability",
    "compositional_n_components",
    "maclaurin_failure_probability",
    "maclaurin_n_components",
    "maclaurin_pointwise_failure_probability",
]
