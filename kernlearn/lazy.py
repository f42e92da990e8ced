"""Names handed on by a package without importing what stands behind them (PEP 562)."""

import ast
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from kernlearn.exceptions import KernlearnError

# Each extra with the modules that it installs; experiments and reports need those of `run`.
_MODULES = {
    "run": (
        "arff filelock h5py jinja2 loky pandas platformdirs pooch pyarrow "
        "pydantic rapidfuzz rich ruamel typer vl_convert yaml"
    ),
    "bench": "skordinal",
    "cluster": "dask distributed",
    "excel": "python_calamine pyreadstat",
    "graphs": "grakel",
    "peers": "rdkit river sklearnex",
    "series": "aeon",
}
#: The extra that installs a module.
EXTRAS = {module: extra for extra, modules in _MODULES.items() for module in modules.split()}

# The name of a package in the package index, where it is another one.
_PROJECTS = {"imblearn": "imbalanced-learn"}


class MissingExtraError(KernlearnError, ImportError):
    """A library is missing that an extra installs; the message says how."""


@cache
def is_installed(package: str) -> bool:
    """Tell whether a package can be imported, without importing it."""
    return find_spec(package) is not None


def missing_text(what: str, module: str) -> str:
    """Say that something needs a module that is not installed, and how to install it."""
    top = module.partition(".")[0]
    of_extra = f"'kernlearn[{EXTRAS[top]}]'" if top in EXTRAS else ""
    how = f"pip install {of_extra or _PROJECTS.get(top, top)}"
    return f"{what} needs {top}, which is not installed: {how}"


@contextmanager
def needed_by(what: str) -> Iterator[None]:
    """Raise a MissingExtraError where an import within the block finds no such library.

    Other errors pass, also that of a module that belongs to no extra.

    Parameters
    ----------
    what : str
        What the library is imported for; the message begins with it.

    Examples
    --------
    >>> from kernlearn.lazy import needed_by
    >>> with needed_by("a table"):
    ...     raise ModuleNotFoundError(name="pandas")
    Traceback (most recent call last):
    kernlearn.lazy.MissingExtraError: a table needs pandas, which is not installed: pip install
    'kernlearn[run]'
    """
    try:
        yield
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in EXTRAS:
            raise
        raise MissingExtraError(missing_text(what, error.name or ""), name=error.name) from None


def attach(
    package: str, file: str
) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Make a package's ``__getattr__``, ``__dir__`` and ``__all__`` from the imports of its stub.

    The stub ``__init__.pyi`` is what type checkers and editors read, too.

    Parameters
    ----------
    package, file : str
        The package's ``__name__`` and ``__file__``.

    Returns
    -------
    getattr, dir, all
        To be assigned to the module's ``__getattr__``, ``__dir__`` and ``__all__``. A name whose
        module needs a library of an extra that is not installed gives an ImportError that says
        how to install it.
    """
    sources = stub_names(Path(file).with_suffix(".pyi"))

    def __getattr__(name: str) -> Any:
        if name not in sources:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        with needed_by(f"{package}.{name}"):
            if sources[name] == package:
                return import_module(f"{package}.{name}")
            return getattr(import_module(sources[name]), name)

    public = sorted(sources)
    return __getattr__, lambda: public, public


def stub_names(stub: Path) -> dict[str, str]:
    """Return the module from which a stub imports each name."""
    nodes = ast.parse(stub.read_text("utf-8")).body
    imports = [node for node in nodes if isinstance(node, ast.ImportFrom)]
    return {alias.name: node.module or "" for node in imports for alias in node.names}
