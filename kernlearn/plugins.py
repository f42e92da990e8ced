'''Registration of user-defined methods, kernels, data sets and metrics.

A Python file registers them:

.. code-block:: python

    # my_methods.py
    import numpy as np
    from sklearn.base import clone
    from sklearn.linear_model import RidgeClassifier
    from sklearn.metrics import balanced_accuracy_score

    from kernlearn.plugins import (
        register_dataset, register_estimator, register_kernel, register_metric,
    )


    @register_estimator(version=1, summary="ridge on the similarities to all training points")
    class SimilarityRidge(RidgeClassifier):
        def __init__(self, similarity=None, alpha=1.0):
            super().__init__(alpha=alpha)
            self.similarity = similarity

        def fit(self, X, y):
            self.similarity_, self.points_ = clone(self.similarity).fit(X, y), X
            return super().fit(self.similarity_(X, X), y)

        def predict(self, X):
            return super().predict(self.similarity_(X, self.points_))


    @register_kernel()
    def inverse_distance(X, Y, width=1.0):
        """1 / (1 + ‖x - y‖ / width)."""
        distances = np.linalg.norm(X[:, None] - Y[None], axis=2)
        return 1 / (1 + distances / width)


    @register_dataset()
    def stripes(n_samples=200, n_stripes=4, random_state=None):
        """Two classes that alternate along the first of two coordinates."""
        X = np.random.RandomState(random_state).uniform(size=(n_samples, 2))
        return X, (X[:, 0] * n_stripes).astype(int) % 2


    @register_metric(task="classification", better="higher")
    def balanced_accuracy(y_true, y_pred):
        return balanced_accuracy_score(y_true, y_pred)

A config in the same folder names the file, and then what the file registers:

.. code-block:: yaml

    # my.yaml
    title: A user-defined method
    plugins: [my_methods.py]
    datasets:
      stripes: {generator: stripes, n_samples: 300, n_stripes: [2, 6]}
      breast_cancer_wdbc: {}
    kernels:
      inverse distance: {kernel: inverse_distance, width: 0.5}
      gaussian: {kernel: gaussian}
    methods:
      mine: {estimator: SimilarityRidge, alpha: {select: [0.01, 0.1, 1]}}
      K: {estimator: KernelSVM, C: {select: [1, 10]}}
    protocol: {splits: 3, scale: [zscore]}
    metrics: [accuracy, balanced_accuracy]
    table: {rows: [dataset, n_stripes, kernel, method]}

``kernlearn list my.yaml`` shows the names, ``kernlearn plan my.yaml`` checks the parameters,
``kernlearn run my.yaml`` runs the experiment. A package can register its methods for all configs
with an entry point that names a module, or a function that is called:

.. code-block:: toml

    [project.entry-points."kernlearn.plugins"]
    my_methods = "my_package.methods"

**A plug-in is a program with all the rights of its user.** A file is executed whenever a config
that lists it under ``plugins`` is read, also by ``plan`` and ``list CONFIG``; an installed
package is loaded with every config. Read the plug-ins of somebody else's config before you use it.

A stored result is identified by the name of the plug-in (of the file or the package), the name of
the component, its parameters and its ``version``: raise ``version`` when the same parameters give
different numbers. The report remarks on results that were measured with a different state of the
file. A file may import any installed package, but no other file in its folder. Outside kernlearn
the decorators check their argument and return it unchanged, so that the file can be imported and
tested as usual.
'''

import inspect
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache, cached_property, partial
from importlib import import_module
from pathlib import Path
from types import FunctionType
from typing import Any, ClassVar, Literal, TypeVar

from kernlearn.lazy import is_installed

Target = TypeVar("Target", bound=Callable[..., Any])

_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)

__all__ = ["register_dataset", "register_estimator", "register_kernel", "register_metric"]


Kind = Literal["estimator", "kernel", "dataset", "metric"]


@cache
def _imported(target: str) -> Any:
    module, _, name = target.partition(":")
    return getattr(import_module(module), name)


@dataclass(frozen=True)
class Registered:
    """A class or function that configs can name, built in or from a plug-in.

    Attributes
    ----------
    name : str
        Its name in configs.
    target : class, function or str
        ``"module:name"`` is imported on first use.
    version : int
        Raised when the same parameters give different numbers.
    summary : str
        One line for ``kernlearn list``.
    plugin : str
        The plug-in that registers it; empty for kernlearn's own.
    extra : str
        The extra that installs the library it needs, if that is optional.
    needs : str
        The package that it needs, if that is not the one of its target.
    module, line : str, int
        Where a plug-in registers it.
    """

    kind: ClassVar[Kind]

    name: str
    target: Any = None
    version: int = 1
    summary: str = ""
    plugin: str = ""
    extra: str = ""
    needs: str = ""
    module: str = ""
    line: int = 0

    def load(self) -> Any:
        """Import and return the class or function."""
        return _imported(self.target) if isinstance(self.target, str) else self.target

    @property
    def installed(self) -> bool:
        """Whether the library that it comes from, or needs, is installed."""
        if self.needs:
            return is_installed(self.needs)
        return not isinstance(self.target, str) or is_installed(re.split("[.:]", self.target)[0])

    @property
    def identity(self) -> dict[str, Any]:
        """What the key of a trial contains of it besides the name."""
        return {"version": self.version} | ({"plugin": self.plugin} if self.plugin else {})

    @cached_property
    def parameters(self) -> Mapping[str, Any]:
        """The names and defaults of its parameters."""
        return {
            name: parameter.default
            for name, parameter in inspect.signature(self.load()).parameters.items()
            if parameter.kind in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY)
        }

    @cached_property
    def settable(self) -> list[str]:
        """The parameters that a config may set."""
        return [name for name in self.parameters if name != "random_state"]


@dataclass(frozen=True)
class RegisteredEstimator(Registered):
    """An estimator; ``takes`` names its parameter for a kernel, if it has one.

    ``reads_rows`` tells that `fit` takes a source of rows, whose partitions other processes read.
    """

    kind = "estimator"
    takes: str = ""
    reads_rows: bool = False

    @property
    def foreign(self) -> bool:
        """Whether it is of another library."""
        return isinstance(self.target, str) and not self.target.startswith("kernlearn.")

    @cached_property
    def parameters(self) -> Mapping[str, Any]:
        """Its parameters, also those that it takes by ``**kwargs``."""
        kinds = {one.kind for one in inspect.signature(self.load()).parameters.values()}
        keywords = self.foreign and inspect.Parameter.VAR_KEYWORD in kinds
        inner = self.load()().get_params(deep=False) if keywords else {}
        return {**super().parameters, **inner}

    @cached_property
    def settable(self) -> list[str]:
        """The parameters that a config may set: none that names a folder of pickles."""
        return [name for name in super().settable if not (self.foreign and name == "memory")]


@dataclass(frozen=True)
class RegisteredKernel(Registered):
    """A kernel or similarity: a class, or a function of a plug-in.

    ``points`` are what it compares, ``dotted`` is its name in another library.
    """

    kind = "kernel"
    points: str = "vectors"
    dotted: str = ""

    def load(self) -> Any:
        """Import and return the class; for a similarity of a library it has its name."""
        return partial(super().load(), self.dotted) if self.dotted else super().load()

    @cached_property
    def parameters(self) -> Mapping[str, Any]:
        """The names and defaults of its parameters; none if its library is not installed."""
        if not self.dotted:
            return super().parameters
        known = self.load()().get_params(deep=False) if self.installed else {}
        return {name: value for name, value in known.items() if name != "name"}


@dataclass(frozen=True)
class RegisteredDataset(Registered):
    """A function that returns data; with the parameter ``random_state`` a generator.

    ``similarity`` tells what the entries of X are if they compare points.
    """

    kind = "dataset"
    similarity: Literal["similarity", "distance"] | None = None
    file: str = ""

    @property
    def title(self) -> str:
        """Its summary."""
        return self.summary

    @property
    def is_generator(self) -> bool:
        """Whether new data is drawn for every split."""
        return "random_state" in self.parameters


@dataclass(frozen=True)
class RegisteredMetric(Registered):
    """A metric.

    ``better`` is 1 where more is better, -1 where less is, and 0 for neither; ``label`` is the
    heading of its column; ``scorer`` the name of scikit-learn's scorer, for those. Metrics without
    a target are measured by the runner itself, those that are ``named`` only where a config does.
    """

    kind = "metric"
    label: str = ""
    better: int = 0
    tasks: tuple[str, ...] = ()
    scorer: str = ""
    named: bool = False


@dataclass(frozen=True, eq=False)
class Plugin:
    """A plug-in that has been loaded.

    Attributes
    ----------
    name : str
        Name of the file without its ending, or of the package.
    state : str
        Identifies its present version: a hash of the file, or the version of the package.
    registered : tuple of Registered
    path : Path or None
        The file, unless it is a package.
    """

    name: str
    state: str
    registered: tuple[Registered, ...]
    path: Path | None = None


_R = TypeVar("_R", bound=Registered)


def by_name(*registered: _R) -> dict[str, _R]:
    """Return records by their names, in this order."""
    return {one.name: one for one in registered}


# Everything that has been registered in this process, in order.
_registered: list[Registered] = []


def registrations() -> tuple[Registered, ...]:
    """Return everything that has been registered in this process, in order."""
    return tuple(_registered)


def _decorator(
    check: Callable[[Any], None],
    made: type[Registered],
    name: str | None,
    version: int,
    summary: str,
    **options: Any,
) -> Callable[[Target], Target]:
    """Check the common arguments; return a function that checks and registers its argument.

    The place of registration is the caller of the function that calls this one.
    """
    if isinstance(name, type | FunctionType):
        raise TypeError(f"write the decorator with brackets, as @register_{made.kind}()")
    if name is not None and not (isinstance(name, str) and name.isidentifier()):
        raise ValueError(f"a name must be letters, digits and underscores, not {name!r}")
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise ValueError(f"version must be an integer of at least 1, not {version!r}")
    caller = sys._getframe(2)
    options |= {"module": str(caller.f_globals.get("__name__")), "line": caller.f_lineno}

    def register(target: Target) -> Target:
        check(target)
        called = name or target.__name__
        if not called.isidentifier():
            raise ValueError(f"{called} is no name for a config: give one in the brackets")
        first_line = inspect.cleandoc(target.__doc__ or "").partition("\n")[0]
        one = made(called, target, version, summary or first_line, **options)
        _registered.append(one)
        return target

    return register


def _check_methods(target: type, needed: Iterable[str], base: str) -> None:
    """Refuse a class that lacks methods which a base class would provide."""
    available = {name for parent in target.__mro__ for name in vars(parent)}
    missing = [name for name in needed if name not in available]
    if missing:
        raise TypeError(f"{target.__name__} has no {', '.join(missing)}: derive it from {base}")


def _check_function(target: Any, what: str, n_positional: int, also: str = "") -> None:
    """Refuse anything but a function of so many arguments, and of one more by name."""
    if isinstance(target, type) or not callable(target):
        raise TypeError(f"{what}, not {target!r}")
    parameters = list(inspect.signature(target).parameters.values())
    positional = [p for p in parameters[:n_positional] if p.kind in _POSITIONAL]
    if len(positional) < n_positional:
        raise TypeError(f"{what}; {target.__name__} takes {len(positional)} arguments by position")
    _check_defaults(target, {*(p.name for p in positional), also})


def _check_defaults(target: Any, passed: Iterable[str] = ()) -> None:
    """Refuse parameters that a config cannot name, and those without a default."""
    for parameter in inspect.signature(target).parameters.values():
        if parameter.kind is parameter.VAR_KEYWORD and isinstance(target, type):
            continue  # scikit-learn ignores these too
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            raise TypeError(f"{target.__name__} takes {parameter}: name every parameter")
        if parameter.default is parameter.empty and parameter.name not in passed:
            raise TypeError(
                f"parameter {parameter.name!r} of {target.__name__} needs a default: a config may "
                "leave it out"
            )


def _check_estimator(target: Any) -> None:
    if not isinstance(target, type):
        raise TypeError(f"an estimator must be a class, not {target!r}")
    _check_methods(target, ("fit", "get_params", "set_params"), "sklearn.base.BaseEstimator")
    _check_defaults(target)


def _check_kernel(target: Any) -> None:
    if isinstance(target, type):
        needed = ("__call__", "fit", "get_params", "set_params")
        _check_methods(target, needed, "kernlearn.kernels.Kernel")
        _check_defaults(target)
    else:
        _check_function(target, "a kernel must be a class or a function (X, Y) -> matrix", 2)


def register_estimator(
    name: str | None = None, *, version: int = 1, summary: str = ""
) -> Callable[[Target], Target]:
    """Register an estimator, which configs name as ``estimator: NAME``.

    Parameters
    ----------
    name : str, optional
        Name in configs; by default the name of the class.
    version : int, default=1
        To be raised when the same parameters give different numbers.
    summary : str, optional
        One line for ``kernlearn list``; by default the first line of the docstring.

    Returns
    -------
    callable
        A decorator for a class that follows scikit-learn's conventions: every parameter has a
        default, and ``random_state`` receives the experiment's seed. An estimator with a
        parameter ``kernel`` or ``similarity`` runs with every kernel of a config: it receives
        the kernel, which it fits and calls, or "precomputed" if the data is a matrix of
        similarities.

    Raises
    ------
    TypeError, ValueError
        If the class is no estimator, or an argument is not allowed.

    Examples
    --------
    >>> from sklearn.neighbors import NearestCentroid
    >>> from kernlearn.plugins import register_estimator
    >>> @register_estimator(version=1, summary="the nearest mean of a class")
    ... class NearestMean(NearestCentroid):
    ...     '''Needs no more than that: parameters with defaults, fit and predict.'''
    >>> NearestMean().fit([[0.0], [1.0], [4.0]], ["a", "a", "b"]).predict([[3.0]]).tolist()
    ['b']
    """
    made = RegisteredEstimator
    return _decorator(_check_estimator, made, name, version, summary)


def register_kernel(
    name: str | None = None, *, version: int = 1, summary: str = ""
) -> Callable[[Target], Target]:
    """Register a kernel or similarity, which configs name as ``kernel: NAME``.

    Parameters
    ----------
    name : str, optional
        Name in configs; by default the name of the class or function.
    version : int, default=1
        To be raised when the same parameters give different numbers.
    summary : str, optional
        One line for ``kernlearn list``; by default the first line of the docstring.

    Returns
    -------
    callable
        A decorator for a subclass of :class:`kernlearn.kernels.Kernel` (or a class with the
        same methods), or for a function (X, Y) -> matrix of shape (n_rows_x, n_rows_y). Further
        parameters of the function, each with a default, can be set in configs.

    Raises
    ------
    TypeError, ValueError
        If it is no kernel, or an argument is not allowed.

    Examples
    --------
    >>> import numpy as np
    >>> from kernlearn.plugins import register_kernel
    >>> @register_kernel()
    ... def inverse_distance(X, Y, width=1.0):
    ...     '''1 / (1 + ‖x - y‖ / width).'''
    ...     return 1 / (1 + np.linalg.norm(X[:, None] - Y[None], axis=2) / width)
    >>> inverse_distance(np.array([[0.0]]), np.array([[0.0], [1.0]])).tolist()
    [[1.0, 0.5]]
    """
    return _decorator(_check_kernel, RegisteredKernel, name, version, summary)


def register_dataset(
    name: str | None = None,
    *,
    version: int = 1,
    summary: str = "",
    similarity: Literal["similarity", "distance"] | None = None,
) -> Callable[[Target], Target]:
    """Register a data set or a generator.

    Parameters
    ----------
    name : str, optional
        Name in configs; by default the name of the function.
    version : int, default=1
        To be raised when the same parameters give different data.
    summary : str, optional
        One line for ``kernlearn list``; by default the first line of the docstring.
    similarity : {"similarity", "distance"}, optional
        What the entries of X are, if X is a square matrix that compares points.

    Returns
    -------
    callable
        A decorator for a function whose parameters, each with a default, can be set in
        configs. With ``random_state`` it is a generator, ``generator: NAME``, and is called for
        every split; without it, it is a data set, ``name: NAME``, which is loaded once and
        identified by its content. It returns (X, y), or a Bunch with ``data``, ``target`` and
        optionally ``target_names``, ``query``, ``fold`` and ``note`` as in
        :func:`kernlearn.datasets.load`. y may contain text or numbers: for regression the
        numbers are used as they are, otherwise the distinct values are the classes or grades,
        in order.

    Raises
    ------
    TypeError, ValueError
        If it is no such function, or an argument is not allowed.

    Examples
    --------
    >>> import numpy as np
    >>> from kernlearn.plugins import register_dataset
    >>> @register_dataset(summary="two classes that alternate along the first coordinate")
    ... def stripes(n_samples=200, n_stripes=4, random_state=None):
    ...     X = np.random.RandomState(random_state).uniform(size=(n_samples, 2))
    ...     return X, (X[:, 0] * n_stripes).astype(int) % 2
    >>> X, y = stripes(n_samples=100, random_state=0)
    >>> X.shape, sorted(set(y.tolist()))
    ((100, 2), [0, 1])
    """
    if similarity not in (None, "similarity", "distance"):
        raise ValueError(f"similarity must be 'similarity' or 'distance', not {similarity!r}")
    what = "a data set must be a function that returns (X, y)"
    check = partial(_check_function, what=what, n_positional=0, also="random_state")
    made = RegisteredDataset
    return _decorator(check, made, name, version, summary, similarity=similarity)


def register_metric(
    name: str | None = None,
    *,
    task: str | Iterable[str],
    better: Literal["higher", "lower"] | None,
    label: str | None = None,
    version: int = 1,
    summary: str = "",
) -> Callable[[Target], Target]:
    """Register a metric, which is measured where a config names it.

    Parameters
    ----------
    name : str, optional
        Name in configs; by default the name of the function.
    task : str or iterable of str
        The tasks that it applies to: "classification", "bipartite_ranking" (for which it
        receives scores), "regression", "ordinal" or "ranking".
    better : {"higher", "lower"} or None
        Which direction is better, if any.
    label : str, optional
        Heading of its column; by default the name, with spaces for underscores.
    version : int, default=1
        To be raised when it gives different numbers.
    summary : str, optional
        One line for ``kernlearn list``; by default the first line of the docstring.

    Returns
    -------
    callable
        A decorator for a function ``f(y_true, y_pred) -> float``. Classes are encoded as 0, 1, ...
        A function with a parameter ``query`` receives the query of each row, for ranking.

    Raises
    ------
    TypeError, ValueError
        If it is no such function, or an argument is not allowed.

    Examples
    --------
    >>> import numpy as np
    >>> from kernlearn.plugins import register_metric
    >>> @register_metric(task="regression", better="lower")
    ... def largest_error(y_true, y_pred):
    ...     '''The largest absolute error of a point.'''
    ...     return float(np.max(np.abs(np.asarray(y_true) - y_pred)))
    >>> largest_error([1.0, 2.0], np.array([1.5, 2.0]))
    0.5
    """
    if better not in ("higher", "lower", None):
        raise ValueError(f"better must be 'higher', 'lower' or None, not {better!r}")
    tasks = (task,) if isinstance(task, str) else tuple(task)
    direction = {"higher": 1, "lower": -1, None: 0}[better]
    what = "a metric must be a function (y_true, y_pred) -> float"
    check = partial(_check_function, what=what, n_positional=2, also="query")
    options = {"tasks": tasks, "better": direction, "label": label or ""}
    return _decorator(check, RegisteredMetric, name, version, summary, **options)
