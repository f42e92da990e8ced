r"""Losses of a pair of points: convex functions :math:`\varphi` of its margin.

Kar (2013), section 6.6. The margin of a pair is :math:`Y(y, y')\,h(x, x')`. Its label Y is half
the difference of the labels for a linear function that ranks two classes (section 6.6.2), and
their product for a metric, a similarity or a kernel (sections 6.6.3 and 6.6.4).
"""

from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

Array: TypeAlias = NDArray[Any]


class PairwiseLoss(NamedTuple):
    """A loss and its derivative, both of an array of margins.

    Examples
    --------
    >>> import numpy as np
    >>> from kernlearn.pairwise.losses import LOSSES
    >>> hinge = LOSSES["hinge"]
    >>> hinge.value(np.array([-1.0, 0.5, 1.0])), hinge.derivative(np.array([-1.0, 0.5, 1.0]))
    (array([2. , 0.5, 0. ]), array([-1., -1.,  0.]))
    """

    value: Callable[[Array], Array]
    #: A subgradient where there is no derivative.
    derivative: Callable[[Array], Array]


#: The losses by name, in the order of the numbers that `steps.descent` has for them.
LOSSES = {
    "hinge": PairwiseLoss(lambda m: np.maximum(1 - m, 0), lambda m: np.where(m < 1, -1.0, 0.0)),
    "squared_hinge": PairwiseLoss(
        lambda m: np.maximum(1 - m, 0) ** 2, lambda m: 2 * np.minimum(m - 1, 0)
    ),
    "logistic": PairwiseLoss(lambda m: np.logaddexp(0.0, -m), lambda m: -expit(-m)),
    "exponential": PairwiseLoss(lambda m: np.exp(-m), lambda m: -np.exp(-m)),
    "squared": PairwiseLoss(lambda m: (1 - m) ** 2, lambda m: 2 * (m - 1)),
}
