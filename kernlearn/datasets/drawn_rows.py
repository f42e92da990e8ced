"""Rows drawn in chunks, for data sets of any length, and the names of such streams."""

import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np

from kernlearn import checks
from kernlearn.datasets.chunks import Chunk, Seed, gaussian_stream, generator_of
from kernlearn.datasets.partitions import Partition
from kernlearn.datasets.sources import RowSource

_BLOCK = 1024  # rows with a seed of their own
# Arguments that a stream has from what reads it.
_OF_READER = ("n_samples", "batch_size", "random_state", "numbers")


def product_rows(
    n_samples: int | None = None,
    n_features: int = 54,
    noise: float = 1.0,
    batch_size: int = 10_000,
    random_state: Seed = None,
    *,
    numbers: bool = False,
) -> RowSource:
    r"""Draw rows in the unit ball whose target is that of a product and a linear part.

    With standard normal :math:`z_j`, cut at ±2, a row is :math:`x = z / (2 \sqrt d)`, and its
    target :math:`t = z_1 z_2 + z_3 + \epsilon`, or whether t is positive. A linear function finds
    the second part alone. Blocks of 1024 rows have a seed each: the rows do not depend on the
    batch size, and each chunk can be drawn by itself, on any machine.

    Parameters
    ----------
    n_samples : int or None, default=None
        The number of rows; None for an endless stream.
    n_features : int, default=54
        The number of columns d, at least 3.
    noise : float, default=1.0
        Standard deviation of the normal noise ε.
    batch_size : int, default=10000
        Rows per chunk; the last may have fewer.
    random_state : int, RandomState instance or None, default=None
        The random seed or generator.
    numbers : bool, default=False
        Whether the target is t itself; otherwise it is the class, 0 or 1.

    Returns
    -------
    RowSource
        Divided into chunks, unless it is endless.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    Examples
    --------
    >>> from kernlearn.datasets import product_rows
    >>> [X.shape for X, y in product_rows(2500, n_features=5, batch_size=1000, random_state=0)]
    [(1000, 5), (1000, 5), (500, 5)]
    """
    checks.check_count(n_features=n_features, batch_size=batch_size)
    if n_samples is not None:
        checks.check_count(n_samples=n_samples)
    if n_features < 3:
        raise ValueError(f"'n_features' must be at least 3, got {n_features}")
    checks.check_nonnegative(noise=noise)
    seed = random_state
    if seed is None or isinstance(seed, np.random.RandomState):
        seed = int(generator_of(seed).randint(2**31))
    drawn = seed, n_features, noise, numbers
    if n_samples is None:
        return RowSource(lambda: _endless(batch_size, drawn))
    starts = range(0, n_samples, batch_size)
    parts = [
        Partition(f"rows {a} to {(b := min(a + batch_size, n_samples)) - 1}", _rows, (a, b, drawn))
        for a in starts
    ]
    return RowSource.of_partitions(lambda: parts)


def _endless(size: int, drawn: tuple[Any, ...]) -> Iterator[Chunk]:
    start = 0
    while True:
        yield from _rows(start, start + size, drawn)
        start += size


def _rows(start: int, end: int, drawn: tuple[Any, ...]) -> Iterator[Chunk]:
    """Yield one chunk: the rows of some numbers."""
    _, n_features, _, numbers = drawn
    X = np.empty((end - start, n_features))
    t = np.empty(end - start)
    for block in range(start // _BLOCK, -(-end // _BLOCK)):
        first = block * _BLOCK
        a, b = max(start, first), min(end, first + _BLOCK)
        z, targets = _block(block, *drawn[:3])
        X[a - start : b - start], t[a - start : b - start] = (
            z[a - first : b - first],
            targets[a - first : b - first],
        )
    X /= 2 * np.sqrt(n_features)
    yield X, t if numbers else (t > 0).astype(np.int64)


def _block(block: int, seed: int, n_features: int, noise: float) -> Chunk:
    rng = np.random.default_rng([seed, block])
    z = rng.standard_normal((_BLOCK, n_features))
    np.clip(z, -2, 2, out=z)
    return z, z[:, 0] * z[:, 1] + z[:, 2] + noise * rng.standard_normal(_BLOCK)


@dataclass(frozen=True)
class StreamGenerator:
    """A stream of drawn rows by name, for configs.

    Parameters
    ----------
    name : str
        The name in a configuration.
    make : callable
        The function that draws it.
    draws_numbers : bool, default=False
        Whether it can draw numbers as targets, beside classes 0 and 1.
    divided : bool, default=False
        Whether each chunk can be drawn by itself.
    """

    name: str
    make: Callable[..., Any]
    draws_numbers: bool = False
    divided: bool = False

    @property
    def title(self) -> str:
        """The first line of the function's documentation."""
        return (inspect.getdoc(self.make) or self.name).splitlines()[0]

    @property
    def parameters(self) -> Mapping[str, Any]:
        """The parameters that a config may set, and their defaults."""
        parameters = inspect.signature(self.make).parameters.values()
        given = {p.name: p.default for p in parameters if p.name not in _OF_READER}
        return MappingProxyType(given)

    def source(
        self, n_rows: int | None, chunk_size: int, seed: int, numbers: bool, **parameters: Any
    ) -> RowSource:
        """Return the rows, the first so many or without end, with numbers or classes."""
        given = {"n_samples": n_rows, "batch_size": chunk_size, "random_state": seed}
        if self.draws_numbers:
            given["numbers"] = numbers
        first = self.make(**given, **parameters)  # also checks the parameters
        if isinstance(first, RowSource):
            return first
        return RowSource(lambda: self.make(**given, **parameters))


#: Streams of drawn rows by name.
STREAMS: Mapping[str, StreamGenerator] = MappingProxyType(
    {
        "gaussian_stream": StreamGenerator("gaussian_stream", gaussian_stream),
        "product_rows": StreamGenerator("product_rows", product_rows, True, True),
    }
)
