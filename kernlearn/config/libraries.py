"""Estimators that configs name by their dotted names, from packages that the user allows.

``sklearn.ensemble.HistGradientBoostingClassifier`` is a class of the package ``sklearn``. Only
modules of the packages in :data:`PACKAGES`, and of those that the environment variable
:data:`VARIABLE` lists, are imported for a config.
"""

import inspect
import os
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from importlib import import_module
from typing import Any

from kernlearn.config.suggestions import closest
from kernlearn.lazy import install_line
from kernlearn.plugins import Registered, RegisteredEstimator

#: The packages whose estimators every config may name.
PACKAGES = (
    "aeon",
    "catboost",
    "imblearn",
    "kernlearn",
    "lightgbm",
    "sklearn",
    "sklearnex",
    "skordinal",
    "xgboost",
)
# Parameters of scikit-learn that are tuples, which YAML has not.
_TUPLES = ("ngram_range", "feature_range", "quantile_range")
#: The environment variable that adds packages, separated by commas.
VARIABLE = "KERNLEARN_PACKAGES"

# The name of a package on PyPI, where it is another one.
_PROJECTS = {
    "sklearn": "scikit-learn",
    "imblearn": "imbalanced-learn",
    "sklearnex": "scikit-learn-intelex",
}
_DOTTED = re.compile(r"[A-Za-z]\w*(\.[A-Za-z]\w*)+")
_EXPERIMENTAL = ("HalvingGridSearchCV", "HalvingRandomSearchCV", "IterativeImputer")
_METHODS = ("fit", "get_params", "set_params")


def added_packages() -> tuple[str, ...]:
    """Return the packages that the environment adds."""
    names = (name.strip() for name in os.environ.get(VARIABLE, "").split(","))
    return tuple(dict.fromkeys(name for name in names if name))


def as_tuple(parameter: str, value: Any) -> Any:
    """Return a list as a tuple, if a parameter of this name must be one."""
    return tuple(value) if parameter in _TUPLES and isinstance(value, list) else value


@dataclass(frozen=True)
class LibraryEstimator(RegisteredEstimator):
    """An estimator of another package, by its dotted name."""

    @cached_property
    def parameters(self) -> Mapping[str, Any]:
        """Its parameters, also those that it takes by ``**kwargs``."""
        kinds = [one.kind for one in inspect.signature(self.load()).parameters.values()]
        if inspect.Parameter.VAR_KEYWORD not in kinds:
            return super().parameters
        return {**super().parameters, **self.load()().get_params(deep=False)}

    @property
    def settable(self) -> list[str]:
        # a folder of pickles would be read
        return [name for name in super().settable if name != "memory"]

    @property
    def package(self) -> str:
        """The package that it comes from."""
        return self.name.partition(".")[0]


def library_estimator(name: str, packages: Collection[str]) -> LibraryEstimator | None:
    """Return the estimator of a dotted name, unless its package is not among the allowed ones."""
    if not _DOTTED.fullmatch(name) or name.partition(".")[0] not in packages:
        return None
    module, _, attribute = name.rpartition(".")
    return LibraryEstimator(name, f"{module}:{attribute}")


def name_fault(name: str, packages: Collection[str]) -> str | None:
    """Say why a dotted name is that of no estimator, or return None; it is imported.

    An estimator of a package that is not installed has no fault.
    """
    package, estimator = name.partition(".")[0], library_estimator(name, packages)
    if not _DOTTED.fullmatch(name):
        return f"no estimator {name!r}: a dotted name is package.module.Class"
    if estimator is None:
        return (
            f"the package {package} is not among those that configs may use, "
            f"{', '.join(sorted(packages))}; {VARIABLE}={package} adds it"
        )
    if not estimator.installed:
        return None
    module, _, attribute = name.rpartition(".")
    try:
        found = getattr(import_module(module), attribute, None)
    except ImportError as error:
        return f"{module} cannot be imported: {error}{_nearest(attribute, package)}"
    if found is None:
        return f"{module} has no {attribute}{_nearest(attribute, package)}"
    if not isinstance(found, type) or not all(hasattr(found, method) for method in _METHODS):
        return (
            f"{name} is no estimator: a class with {', '.join(_METHODS[:-1])} and {_METHODS[-1]}"
        )
    return None


def install_hint(component: Registered) -> str:
    """Return the command that installs the library of an estimator or a similarity."""
    if isinstance(component, LibraryEstimator):
        return f"pip install {_PROJECTS.get(component.package, component.package)}"
    return install_line(component.extra)


def _nearest(attribute: str, package: str) -> str:
    names = sklearn_estimators() if package == "sklearn" else {}
    close = closest(attribute, names)
    return f"; did you mean {names[close]!r}?" if close else ""


@cache
def sklearn_estimators() -> dict[str, str]:
    """Return the dotted names of scikit-learn's estimators by the names of their classes.

    All modules of scikit-learn are imported, which takes a second. Experimental estimators, which
    have to be enabled by an import, are left out.
    """
    from sklearn.utils import all_estimators

    return {
        name: f"{_public(made)}.{name}"
        for name, made in all_estimators()
        if name not in _EXPERIMENTAL
    }


def _public(made: type) -> str:
    """Return the public module of a class that is defined in a private one."""
    parts = made.__module__.split(".")
    private = next((i for i, part in enumerate(parts) if part.startswith("_")), len(parts))
    return ".".join(parts[:private])
