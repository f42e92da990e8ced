"""Resource-efficient kernel learning: estimators, and the experiments that test them.

The estimators live in subpackages named after their subject; nothing is imported until
it is asked for, so that ``import kernlearn`` costs nothing.

"Kar (2013)" or "the thesis" in a docstring is P. Kar, *Topics in Resource-efficient Kernel
Learning*, PhD thesis, Indian Institute of Technology Kanpur, 2013.
"""

from kernlearn.lazy import attach

#: Read by the build and by ``kernlearn --version``.
__version__ = "0.1.0"

__getattr__, __dir__, __all__ = attach(__name__, __file__)
__all__ += ["__version__"]
