"""Names handed on by a package without importing what stands behind them (PEP 562)."""

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def attach(
    package: str, sources: Mapping[str, str]
) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Make a package's ``__getattr__``, ``__dir__`` and ``__all__``.

    Parameters
    ----------
    package : str
        The package's ``__name__``.
    sources : mapping of str to str
        Public name to the module that defines it, relative to the package: ``"dot_product"``,
        or ``".report"`` in the package above; empty for the submodule of that name itself.

    Returns
    -------
    getattr, dir, all
        To be assigned to the module's ``__getattr__``, ``__dir__`` and ``__all__``.
    """

    def __getattr__(name: str) -> Any:
        try:
            source = sources[name]
        except KeyError:
            raise AttributeError(f"module {package!r} has no attribute {name!r}") from None
        if not source:
            return import_module(f"{package}.{name}")
        return getattr(import_module(f".{source}", package), name)

    public = sorted(sources)
    return __getattr__, lambda: public, public
