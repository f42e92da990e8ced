"""Similarities by name."""

from typing import Any, NamedTuple

from kernlearn.kernels import Kernel
from kernlearn.kernels.libraries import library_names, library_similarity
from kernlearn.kernels.registry import KERNELS, compared_points


class Named(NamedTuple):
    """A similarity or distance that has a name.

    Attributes
    ----------
    name : str
    kind : str
        "similarity" or "distance"; a distance is turned into a similarity.
    points : str
        "vectors", "strings", "series", "graphs", "sets" or "records".
    installed : bool
        Whether its library is installed.
    extra : str
        The extra of kernlearn that installs it; empty if it is always there.
    """

    name: str
    kind: str
    points: str
    installed: bool
    extra: str


def names(points: str | None = None, *, installed: bool | None = None) -> list[Named]:
    """List the similarities and distances that have a name.

    Each name may be given wherever kernlearn takes a kernel or a similarity.

    Parameters
    ----------
    points : str, default=None
        Only those of "vectors", "strings", "series", "graphs", "sets" or "records".
    installed : bool, default=None
        Only those whose library is installed, or is not.

    Returns
    -------
    list of Named
        kernlearn's own first, then those of libraries.

    Examples
    --------
    >>> from kernlearn.similarities import names
    >>> [one.name for one in names("sets")]
    ['jaccard']
    >>> jaro = next(one for one in names("strings") if one.name == "rapidfuzz.jaro")
    >>> jaro.kind, jaro.extra  # jaro.installed tells whether the extra is there
    ('similarity', 'run')
    """
    own = [
        Named(name, "similarity", compared_points(name), True, "")
        for name in sorted(KERNELS.keys() - {"dot_product"})
    ]
    found = (one for name in library_names() if (one := library_similarity(name)) is not None)
    others = [Named(one.name, one.measure, one.points, one.installed, one.extra) for one in found]
    return [
        one
        for one in own + others
        if points in (None, one.points) and installed in (None, one.installed)
    ]


def named(name: str, **parameters: Any) -> Kernel:
    """Make a similarity of a name.

    Parameters
    ----------
    name : str
        One of :func:`names`.
    **parameters
        Its parameters.

    Returns
    -------
    Kernel

    Raises
    ------
    ValueError
        If there is no such name or parameter.
    ImportError
        If its library is not installed; the message says how to install it.

    Examples
    --------
    >>> from kernlearn.similarities import named
    >>> named("scipy.minkowski", p=1)([[0.0, 0.0]], [[1.0, 2.0]])
    array([[-3.]])
    """
    registered = KERNELS.get(name) or library_similarity(name)
    if registered is None:
        from difflib import get_close_matches

        close = get_close_matches(name, [one.name for one in names()], n=1)
        hint = f"did you mean {close[0]!r}?" if close else "names() lists those that there are"
        raise ValueError(f"no similarity {name!r}; {hint}")
    made: Kernel = registered.load()(**parameters)
    return made
