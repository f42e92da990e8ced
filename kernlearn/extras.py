"""Libraries that only an extra of kernlearn installs, and what is said where one is missing."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from importlib.util import find_spec
from types import MappingProxyType

from kernlearn.exceptions import KernlearnError

# Each extra with the modules that it installs; experiments and reports need those of `run`.
_MODULES = {
    "run": (
        "altair filelock h5py jinja2 loky pandas platformdirs pooch psutil pyarrow pydantic "
        "rapidfuzz rich typer vl_convert yaml"
    ),
    "bench": "skordinal",
    "cluster": "dask distributed",
    "crate": "rocrate",
    "excel": "python_calamine",
    "graphs": "grakel",
    "peers": "river sklearnex",
    "series": "aeon",
}
#: The extra that installs a module.
EXTRAS: Mapping[str, str] = MappingProxyType(
    {module: extra for extra, modules in _MODULES.items() for module in modules.split()}
)


class MissingExtraError(KernlearnError, ImportError):
    """A library is missing that an extra installs; the message says how."""


@cache
def is_installed(package: str) -> bool:
    """Tell whether a package can be imported, without importing it."""
    return find_spec(package) is not None


def install_line(extra: str) -> str:
    """Return the command that installs an extra."""
    return f"pip install 'kernlearn[{extra}]'"


def missing_text(what: str, module: str) -> str:
    """Say that something needs a module that is not installed, and how to install it."""
    top = module.partition(".")[0]
    extra = EXTRAS.get(top)
    how = f": {install_line(extra)}" if extra else ""
    return f"{what} needs {top}, which is not installed{how}"


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
    >>> from kernlearn.extras import needed_by
    >>> with needed_by("a table"):
    ...     raise ModuleNotFoundError(name="pandas")
    Traceback (most recent call last):
    kernlearn.extras.MissingExtraError: a table needs pandas, which is not installed: pip install
    'kernlearn[run]'
    """
    try:
        yield
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in EXTRAS:
            raise
        raise MissingExtraError(missing_text(what, error.name or ""), name=error.name) from None
