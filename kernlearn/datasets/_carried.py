"""Reader for the data sets that scikit-learn carries."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from kernlearn.datasets._formats import Carried
from kernlearn.datasets._labels import canonical_labels, coder
from kernlearn.datasets._readers import Expected, Table


def read_carried(paths: Sequence[Path], options: Carried, expected: Expected) -> Table:
    """Take a data set out of scikit-learn.

    Parameters
    ----------
    paths : sequence of pathlib.Path
        Empty.
    options : Carried
        Which data set.
    expected : Expected
        What it must hold.

    Returns
    -------
    Table
    """
    from sklearn import datasets

    bunch = getattr(datasets, options.loader)()
    names = tuple(map(str, bunch.feature_names))
    if expected.classes is None:
        return Table(bunch.data, np.asarray(bunch.target, dtype=np.float64), names)
    code = coder(expected.classes)
    codes = np.array([code(label) for label in canonical_labels(bunch.target_names)])
    return Table(bunch.data, codes[bunch.target], names)
