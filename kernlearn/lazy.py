"""Names handed on by a package without importing what stands behind them (PEP 562)."""

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

from kernlearn.extras import needed_by


def attach(
    package: str, modules: Mapping[str, str]
) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Make a package's ``__getattr__``, ``__dir__`` and ``__all__``.

    Parameters
    ----------
    package : str
        The package's ``__name__``.
    modules : mapping of str to str
        Each module, relative to the package, such as ``"dot_product"``, or ``".report"`` in the
        package above, to the public names it defines, separated by blanks. Those of the empty
        module are submodules themselves.

    Returns
    -------
    getattr, dir, all
        To be assigned to the module's ``__getattr__``, ``__dir__`` and ``__all__``. A name whose
        module needs a library of an extra that is not installed gives an ImportError that says
        how to install it.
    """
    sources = {name: module for module, names in modules.items() for name in names.split()}

    def __getattr__(name: str) -> Any:
        try:
            source = sources[name]
        except KeyError:
            raise AttributeError(f"module {package!r} has no attribute {name!r}") from None
        with needed_by(f"{package}.{name}"):
            if not source:
                return import_module(f"{package}.{name}")
            return getattr(import_module(f".{source}", package), name)

    public = sorted(sources)
    return __getattr__, lambda: public, public
