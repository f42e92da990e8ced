"""Registration of user-defined methods, kernels, data sets and metrics.

A Python file registers them by the four decorators below, whose examples can be copied into such a
file. A config in the same folder names the file, and then what the file registers:

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
      mine: {estimator: NearestMean}
      K: {estimator: KernelSVM, C: {select: [1, 10]}}
    protocol: {splits: 3, scale: [zscore]}
    metrics: [accuracy]
    table: {rows: [dataset, n_stripes, kernel, method]}

``kernlearn list my.yaml`` shows the names, ``kernlearn plan my.yaml`` checks the parameters,
``kernlearn run my.yaml`` runs the experiment. A class of an installed package takes part by one
line: ``register_estimator(version=1)(my_package.MyClassifier)``.

**A plug-in is a program with all the rights of its user.** It is executed whenever a config that
lists it under ``plugins`` is read, also by ``plan`` and ``list CONFIG``. Read the plug-ins of
somebody else's config before you use it.

A stored result is identified by the name of the file, the name of the component, its parameters
and its ``version``: raise ``version`` when the same parameters give different numbers. The report
remarks on results that were measured with a different state of the file. A file may import any
installed package, but no other file in its folder. Outside kernlearn the decorators check their
argument and return it unchanged, so that the file can be imported and tested as usual.
"""

import inspect
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from hashlib import sha256
from math import inf
from pathlib import Path
from pkgutil import resolve_name
from threading import RLock
from traceback import walk_tb
from types import FunctionType, ModuleType
from typing import Any, Literal, TypeVar

from kernlearn.exceptions import PluginError
from kernlearn.lazy import is_installed, missing_text

Target = TypeVar("Target", bound=Callable[..., Any])

__all__ = ["register_dataset", "register_estimator", "register_kernel", "register_metric"]


@dataclass(frozen=True)
class Registered:
    """A class or function that configs can name, built in or from a plug-in.

    Attributes
    ----------
    kind : {"task", "estimator", "kernel", "dataset", "generator", "metric"}
    name : str
        Its name in configs.
    target : class, function or str
        ``"module:name"`` is imported on first use. None for a metric that the runner measures
        itself.
    version : int
        Raised when the same parameters give different numbers.
    title : str
        One line about it.
    plugin : str
        The plug-in that registers it; empty for kernlearn's own.
    file, line : str, int
        Where a plug-in registers it.
    library : str
        The package that it needs, if that is not the one of its target.
    dotted : str
        Name of a kernel in another library.
    points : str
        What a kernel compares: "vectors", "strings", "series", "graphs", "sets" or "records".
    similarity : {"similarity", "distance"} or None
        What the entries of X are, of a data set or generator, if they compare points.
    label : str
        Heading of a metric's column.
    better : int
        1 where more of a metric is better, -1 where less is, 0 for neither.
    tasks : tuple of str
        The tasks that a metric applies to.
    scorer : str
        Name of a metric among scikit-learn's scorers.
    limits : (float, float)
        The least and the greatest value that a metric can have.
    measures : {"time", ""}
        What a metric measures, if that depends on the machine.
    """

    kind: str
    name: str
    target: Any = None
    version: int = 1
    title: str = ""
    plugin: str = ""
    file: str = ""
    line: int = 0
    library: str = ""
    dotted: str = ""
    points: str = ""
    similarity: Literal["similarity", "distance"] | None = None
    label: str = ""
    better: int = 0
    tasks: tuple[str, ...] = ()
    scorer: str = ""
    limits: tuple[float, float] = (-inf, inf)
    measures: str = ""

    def load(self) -> Any:
        """Import and return the class or function."""
        target = resolve_name(self.target) if isinstance(self.target, str) else self.target
        return partial(target, self.dotted) if self.dotted else target

    @property
    def missing(self) -> str:
        """How to install the package that it needs; empty if that is installed."""
        own = self.target if isinstance(self.target, str) else "kernlearn"
        package = self.library or re.split("[.:]", self.dotted or own)[0]
        return "" if is_installed(package) else missing_text(self.name, package)

    @property
    def foreign(self) -> bool:
        """Whether it is of another library."""
        return isinstance(self.target, str) and not self.target.startswith("kernlearn.")

    @property
    def identity(self) -> dict[str, Any]:
        """What the key of a trial contains of it besides the name."""
        return {"version": self.version} | ({"plugin": self.plugin} if self.plugin else {})

    @cached_property
    def parameters(self) -> Mapping[str, Any]:
        """The names and defaults of its parameters, also of those taken by ``**kwargs``."""
        if self.missing:
            return {}
        made = inspect.signature(self.load()).parameters.values()
        named = {
            p.name: p.default for p in made if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)
        }
        keywords = isinstance(self.target, str) and len(named) < len(made)
        return {**named, **(self.load()().get_params(deep=False) if keywords else {})}

    @property
    def settable(self) -> list[str]:
        """The parameters that a config may set: none that names a folder of pickles."""
        hidden = {"random_state", "name" if self.dotted else "", "memory" if self.foreign else ""}
        return [name for name in self.parameters if name not in hidden]

    @property
    def takes_others(self) -> bool:
        """Whether it takes parameters that it does not name, as LightGBM's models do."""
        if self.missing or not self.foreign:
            return False
        made = inspect.signature(self.load()).parameters.values()
        return any(one.kind is one.VAR_KEYWORD for one in made)

    @property
    def takes(self) -> str:
        """Its parameter for the kernels of a config; empty for dotted names."""
        names = [name for name in ("kernel", "similarity") if name in self.parameters]
        return names[0] if names and "." not in self.name else ""


@dataclass(frozen=True, eq=False)
class Plugin:
    """A plug-in file that has been executed.

    Attributes
    ----------
    path : Path
        The file; its stem is the name of the plug-in.
    state : str
        A hash of its content.
    registered : tuple of Registered
    """

    path: Path
    state: str
    registered: tuple[Registered, ...]


# Files that this process has executed, by path and hash.
_loaded: dict[tuple[Path, str | None], Plugin] = {}
_loading = RLock()
# Everything that has been registered in this process, in order.
_registered: list[Registered] = []


def load_file(path: Path, *, shown: str = "", digest: str | None = None) -> Plugin:
    """Execute a plug-in file, unless that has been done and the file has not changed.

    Parameters
    ----------
    path : Path
    shown : str, optional
        Its name in errors.
    digest : str, optional
        Expected hash of the content.

    Raises
    ------
    PluginError
        If it cannot be read or executed, has changed, or registers nothing.
    """
    shown = shown or str(path)
    with _loading:
        if (path, digest) in _loaded:
            return _loaded[path, digest]
        try:
            content = path.read_bytes()
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", error)
            raise PluginError(f"{shown}: cannot be read: {reason}") from None
        state = sha256(content).hexdigest()
        if digest is not None and state != digest:
            raise PluginError(f"{shown}: has changed since the trials were planned; run again")
        path = path.resolve()
        if (path, state) not in _loaded:
            _loaded[path, state] = _executed(path, shown, content, state)
        return _loaded[path, state]


def _executed(path: Path, shown: str, content: bytes, state: str) -> Plugin:
    """Execute a file as a module with a unique name."""
    mark = sha256(f"{path}\n{state}".encode()).hexdigest()[:8]
    module = ModuleType(f"kernlearn_plugin_{path.stem}_{mark}")
    module.__file__, before = str(path), len(_registered)
    # pickle, dataclasses and type hints look the module of a class up here
    sys.modules[module.__name__] = module
    try:
        exec(compile(content, str(path), "exec", dont_inherit=True), module.__dict__)
    except (Exception, SystemExit) as error:
        text = blame(error, str(path), shown)
        if isinstance(error, ModuleNotFoundError) and path.with_name(f"{error.name}.py").exists():
            text += "; a plug-in imports no file of its folder: install it as a package"
        raise PluginError(text) from error
    own = [replace(r, plugin=path.stem) for r in _registered[before:] if r.file == str(path)]
    if not own:
        raise PluginError(f"{shown}: registers nothing; `kernlearn.plugins` says how")
    return Plugin(path, state, tuple(own))


def blame(error: BaseException, file: str, shown: str = "") -> str:
    """Describe an error, with the line of a file if it was raised there.

    Parameters
    ----------
    error : BaseException
    file : str
        As compiled; empty for a file that is not the user's.
    shown : str, optional
        Its name in the message.
    """
    steps = walk_tb(error.__traceback__)
    lines = [number for frame, number in steps if frame.f_code.co_filename == file]
    place = ":".join(str(part) for part in (shown or file, *lines[-1:]) if part)
    return ": ".join(part for part in (place, type(error).__name__, str(error)) if part)


def _check(kind: str, target: Any) -> None:
    """Refuse a class that lacks methods, and parameters that would have no value."""
    arguments = [None, None] if kind in ("kernel", "metric") else []
    if kind == "estimator" or (kind == "kernel" and isinstance(target, type)):
        arguments, methods = [], ("fit", "get_params", "set_params")
        if missing := [name for name in methods if not hasattr(target, name)]:
            called = getattr(target, "__name__", target)
            base = "sklearn.base.BaseEstimator, a kernel from kernlearn.kernels.Kernel"
            raise TypeError(f"{called} has no {', '.join(missing)}: derive a class from {base}")
    signature = inspect.signature(target)
    by_name = {"random_state", "query", "qid"} & signature.parameters.keys()
    try:
        signature.bind(*arguments, **dict.fromkeys(by_name))
    except TypeError as error:
        how = f"it is called with {len(arguments)} arguments, and every other one needs a default"
        raise TypeError(f"{target.__name__}: {error}; {how}") from None


def _registering(
    kind: str, name: str | None, version: int, summary: str, **options: Any
) -> Callable[[Target], Target]:
    """Return a function that checks and records its argument.

    The place of registration is the caller of the function that calls this one.
    """
    if isinstance(name, type | FunctionType):
        raise TypeError(f"write the decorator with brackets, as @register_{kind}()")
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise ValueError(f"version must be an integer of at least 1, not {version!r}")
    caller = sys._getframe(2)
    options |= {"file": caller.f_code.co_filename, "line": caller.f_lineno}

    def register(target: Target) -> Target:
        called = str(name or getattr(target, "__name__", ""))
        if not called.isidentifier():
            raise ValueError(f"a name must be letters, digits and underscores, not {called!r}")
        _check(kind, target)
        draws = "random_state" in inspect.signature(target).parameters
        actual = "generator" if kind == "dataset" and draws else kind
        title = summary or inspect.cleandoc(target.__doc__ or "").partition("\n")[0]
        _registered.append(Registered(actual, called, target, version, title, **options))
        return target

    return register


def register_estimator(
    name: str | None = None, *, version: int = 1, summary: str = "", library: str = ""
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
    library : str, optional
        A package that it imports in ``fit``. Without it a method that is ``optional: true`` is
        left out.

    Returns
    -------
    callable
        A decorator for a class that follows scikit-learn's conventions: every parameter has a
        default, and ``random_state`` receives the experiment's seed. An estimator with a parameter
        ``kernel`` or ``similarity`` runs with every kernel of a config. It receives the kernel,
        which it fits and calls, or "precomputed" if the data is a matrix of similarities.

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
    return _registering("estimator", name, version, summary, library=library)


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
        same methods), or for a function (X, Y) -> matrix of shape (n_rows_x, n_rows_y), or of
        two points. Further parameters of the function, each with a default, can be set in
        configs, and those of :class:`kernlearn.kernels.CallableKernel`, such as ``kind``, unless
        a name is in both.

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
    return _registering("kernel", name, version, summary)


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
        A decorator for a function whose parameters, each with a default, can be set in configs.
        With ``random_state`` it is a generator, ``generator: NAME``, and is called for every
        split; without it, it is a data set, ``name: NAME``, which is loaded once and identified by
        its content. It returns (X, y), or a Bunch with ``data``, ``target`` and optionally
        ``target_names``, ``query``, ``fold`` and ``note`` as in :func:`kernlearn.datasets.load`.
        The target may contain text or numbers. For regression the numbers are used as they are,
        otherwise the distinct values are the classes or grades, in order.

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
    return _registering("dataset", name, version, summary, similarity=similarity)


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
    directions = {"higher": 1, "lower": -1, None: 0}
    if better not in directions:
        raise ValueError(f"better must be 'higher', 'lower' or None, not {better!r}")
    options = {"better": directions[better], "label": label or ""}
    options["tasks"] = (task,) if isinstance(task, str) else tuple(task)
    return _registering("metric", name, version, summary, **options)
