"""The buffer policies by name."""

from collections.abc import Mapping
from typing import Any, TypeAlias

from kernlearn.pairwise.buffers import FIFO, RS, Buffer, RSx, RSx2
from kernlearn.pairwise.drift_buffers import AwareBuffer, ClassBalanced, LossWeighted, TimeBiased

BufferLike: TypeAlias = "Buffer | type[Buffer] | str | Mapping[str, Any]"

#: Constraint of the parameter ``buffer``, which :func:`as_buffer` checks further.
BUFFER = [str, type, Buffer, dict]

_NAMED: dict[str, type[Buffer]] = {
    "fifo": FIFO,
    "rs": RS,
    "rsx": RSx,
    "rsx2": RSx2,
    "time_biased": TimeBiased,
    "class_balanced": ClassBalanced,
    "loss_weighted": LossWeighted,
}


def as_buffer(spec: BufferLike, size: int, *, aware: bool = False) -> Buffer:
    """Return the buffer policy of a name or class.

    Parameters
    ----------
    spec : Buffer, type of Buffer, dict, or {"fifo", "rs", "rsx", "rsx2", "time_biased", \
            "class_balanced", "loss_weighted"}
        A policy of that size, returned unchanged; a class of policies; a name; or a dict with a
        name and further parameters, such as ``{"name": "time_biased", "half_life": 1000}``.
    size : int
        Largest number of points kept.
    aware : bool, default=False
        Whether the policy may look at the points, as an :class:`AwareBuffer` does.

    Returns
    -------
    Buffer

    Raises
    ------
    ValueError
        If `spec` is none of these or of another size, has a parameter that is not allowed, or
        looks at the points and may not; or `size` is not an int of 1 or more.

    Examples
    --------
    >>> from kernlearn.pairwise import as_buffer
    >>> as_buffer("rsx2", 50)
    RSx2(50)
    >>> as_buffer({"name": "time_biased", "half_life": 1000}, 50)
    TimeBiased(50, half_life=1000)
    """
    policy = _made(spec, size)
    if isinstance(policy, AwareBuffer) and not aware:
        raise ValueError(
            f"'buffer' is {policy!r}, which looks at the points: it is for OLP alone; take a "
            "policy that does not, such as 'rsx2'"
        )
    return policy


def _made(spec: BufferLike, size: int) -> Buffer:
    if isinstance(spec, Buffer):
        if spec.size != size:
            raise ValueError(
                f"'buffer' is {spec!r}, of size {spec.size}, but a buffer of size {size} is "
                f"needed: give its name or its class, {type(spec).__name__}"
            )
        return spec
    if isinstance(spec, Mapping) and spec.get("name") in _NAMED:
        known = _NAMED[spec["name"]]
        try:
            return known(size, **{key: value for key, value in spec.items() if key != "name"})
        except TypeError as error:
            raise ValueError(f"'buffer' is {dict(spec)!r}: {error}") from None
    if isinstance(spec, str) and spec in _NAMED:
        return _NAMED[spec](size)
    if isinstance(spec, type) and issubclass(spec, Buffer):
        return spec(size)
    names = ", ".join(map(repr, _NAMED))
    raise ValueError(
        f"'buffer' must be one of {names}, a dict with a name, or a Buffer, got {spec!r}"
    )
