'''Methods, kernels, data sets and metrics of your own, for configs to name.

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
        """Classes by turns along the first of two coordinates."""
        X = np.random.RandomState(random_state).uniform(size=(n_samples, 2))
        return X, (X[:, 0] * n_stripes).astype(int) % 2


    @register_metric(task="classification", better="higher")
    def balanced_accuracy(y_true, y_pred):
        return balanced_accuracy_score(y_true, y_pred)

and a config beside it names the file, then what the file registers:

.. code-block:: yaml

    # my.yaml
    title: A method of my own
    plugins: [my_methods.py]
    datasets:
      stripes: {generator: stripes, n_samples: 300, n_stripes: [2, 6]}
      breast_cancer_wdbc: {}
    kernels:
      inverse distance: {kernel: inverse_distance, width: 0.5}
      gaussian: {kernel: GaussianKernel}
    methods:
      mine: {estimator: SimilarityRidge, alpha: {select: [0.01, 0.1, 1]}}
      K: {estimator: KernelSVM, C: {select: [1, 10]}}
    protocol: {splits: 3, scale: [zscore]}
    metrics: [accuracy, balanced_accuracy]
    table: {rows: [dataset, n_stripes, kernel, method]}

``kernlearn list my.yaml`` shows the names, ``kernlearn validate my.yaml`` checks the parameters,
``kernlearn run my.yaml`` measures. A package does the same for all configs with an entry point
that names a module, or a function to be called, which registers:

.. code-block:: toml

    [project.entry-points."kernlearn.plugins"]
    my_methods = "my_package.methods"

**A plug-in is a program, and may do whatever its user may.** A file is run when a config that
names it under ``plugins`` is read, be it by ``validate`` or ``list CONFIG``, and never else; an
installed package is loaded with any config. Read the plug-ins that come with somebody else's
config before you use it.

What is stored of a trial is found again by the plug-in's name (that of the file or package), the
component's name, its parameters and its ``version``: raise ``version`` when the same parameters
give other numbers. Numbers of another state of the file are told in the report's remarks. A file
registers what it itself calls these functions for; it may import any installed package, but no
other file beside it. Outside of kernlearn the functions check what they are given and hand it
back, so that the file can be imported and tested like any other.
'''

import inspect
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from types import FunctionType
from typing import Any, Literal, TypeVar

Kind = Literal["estimator", "kernel", "dataset", "metric"]
Target = TypeVar("Target", bound=Callable[..., Any])

_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


@dataclass(frozen=True)
class Registration:
    """What a plug-in registered.

    Attributes
    ----------
    kind : {"estimator", "kernel", "dataset", "metric"}
    name : str
        What configs call it.
    target : class or function
    version : int
    summary : str
        One line for ``kernlearn list``.
    module, line : str, int
        Where it was registered.
    options : mapping
        What else the kind has.
    """

    kind: Kind
    name: str
    target: Callable[..., Any]
    version: int
    summary: str
    module: str
    line: int
    options: Mapping[str, Any] = field(default_factory=dict)


# All that was registered in this process, in its order.
_registered: list[Registration] = []


def registrations() -> tuple[Registration, ...]:
    """Return all that was registered in this process, in its order."""
    return tuple(_registered)


def begin(
    kind: Kind, name: str | None, version: int, summary: str, **options: Any
) -> Callable[[Target], Target]:
    """Check what all kinds have in common, and note who calls the function that calls this.

    Returns
    -------
    callable
        Keeps a class or function as registered there, and hands it back.
    """
    if isinstance(name, type | FunctionType):
        raise TypeError(f"write the decorator with brackets, as @register_{kind}()")
    if name is not None and not (isinstance(name, str) and name.isidentifier()):
        raise ValueError(f"a name must be letters, digits and underscores, not {name!r}")
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise ValueError(f"version must be an integer of at least 1, not {version!r}")
    caller = sys._getframe(2)
    module, line = str(caller.f_globals.get("__name__")), caller.f_lineno

    def keep(target: Target) -> Target:
        called = name or target.__name__
        if not called.isidentifier():
            raise ValueError(f"{called} is no name for a config: give one in the brackets")
        first_line = inspect.cleandoc(target.__doc__ or "").partition("\n")[0]
        _registered.append(
            Registration(
                kind, called, target, version, summary or first_line, module, line, options
            )
        )
        return target

    return keep


def check_methods(target: type, needed: Iterable[str], base: str) -> None:
    """Refuse a class without some methods; a base class has them all."""
    found = {name for parent in target.__mro__ for name in vars(parent)}
    missing = [name for name in needed if name not in found]
    if missing:
        raise TypeError(f"{target.__name__} has no {', '.join(missing)}: derive it from {base}")


def check_function(target: Any, what: str, n_given: int, also: str = "") -> None:
    """Refuse what is no function of so many arguments, and of one more by name."""
    if isinstance(target, type) or not callable(target):
        raise TypeError(f"{what}, not {target!r}")
    parameters = list(inspect.signature(target).parameters.values())
    given = [p for p in parameters[:n_given] if p.kind in _POSITIONAL]
    if len(given) < n_given:
        raise TypeError(f"{what}; {target.__name__} takes {len(given)} arguments by position")
    check_defaults(target, {*(p.name for p in given), also})


def check_defaults(target: Any, given: Iterable[str] = ()) -> None:
    """Refuse parameters that a config cannot name, and those that it would have to."""
    for parameter in inspect.signature(target).parameters.values():
        if parameter.kind is parameter.VAR_KEYWORD and isinstance(target, type):
            continue  # scikit-learn passes over these too
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            raise TypeError(f"{target.__name__} takes {parameter}: name every parameter")
        if parameter.default is parameter.empty and parameter.name not in given:
            raise TypeError(
                f"parameter {parameter.name!r} of {target.__name__} needs a default: a config may "
                "leave it out"
            )


__all__ = ["register_dataset", "register_estimator", "register_kernel", "register_metric"]


def register_estimator(
    name: str | None = None, *, version: int = 1, summary: str = ""
) -> Callable[[Target], Target]:
    """Make an estimator known to configs, as ``estimator: NAME``.

    Parameters
    ----------
    name : str, optional
        What configs call it; by default the name of the class.
    version : int, default=1
        To be raised when the same parameters give other numbers.
    summary : str, optional
        One line for ``kernlearn list``; by default the first of the docstring.

    Returns
    -------
    callable
        A decorator for a class that follows scikit-learn's conventions: every parameter has a
        default, ``random_state`` gets the experiment's. One with a parameter ``kernel`` or
        ``similarity`` runs under every kernel of a config, which it is given to fit and to
        call; or "precomputed", where the data is a matrix of similarities.

    Raises
    ------
    TypeError, ValueError
        If the class is no estimator, or an argument is not allowed.
    """
    keep = begin("estimator", name, version, summary)

    def register(target: Target) -> Target:
        if not isinstance(target, type):
            raise TypeError(f"an estimator must be a class, not {target!r}")
        check_methods(target, ("fit", "get_params", "set_params"), "sklearn.base.BaseEstimator")
        check_defaults(target)
        return keep(target)

    return register


def register_kernel(
    name: str | None = None, *, version: int = 1, summary: str = ""
) -> Callable[[Target], Target]:
    """Make a kernel or similarity known to configs, as ``kernel: NAME``.

    Parameters
    ----------
    name : str, optional
        What configs call it; by default the name of the class or function.
    version : int, default=1
        To be raised when the same parameters give other numbers.
    summary : str, optional
        One line for ``kernlearn list``; by default the first of the docstring.

    Returns
    -------
    callable
        A decorator for a subclass of :class:`kernlearn.kernels.Kernel` (or a class with the
        same methods), or for a function (X, Y) -> matrix of shape (n_rows_x, n_rows_y), whose
        further parameters, each with a default, can be set in configs.

    Raises
    ------
    TypeError, ValueError
        If it is no kernel, or an argument is not allowed.
    """
    keep = begin("kernel", name, version, summary)

    def register(target: Target) -> Target:
        if isinstance(target, type):
            needed = ("__call__", "fit", "get_params", "set_params")
            check_methods(target, needed, "kernlearn.kernels.Kernel")
            check_defaults(target)
        else:
            check_function(target, "a kernel must be a class or a function (X, Y) -> matrix", 2)
        return keep(target)

    return register


def register_dataset(
    name: str | None = None,
    *,
    version: int = 1,
    summary: str = "",
    similarity: Literal["similarity", "distance"] | None = None,
) -> Callable[[Target], Target]:
    """Make a data set known to configs.

    Parameters
    ----------
    name : str, optional
        What configs call it; by default the name of the function.
    version : int, default=1
        To be raised when the same parameters give other data.
    summary : str, optional
        One line for ``kernlearn list``; by default the first of the docstring.
    similarity : {"similarity", "distance"}, optional
        What the entries of X are, where it is a square matrix that compares points.

    Returns
    -------
    callable
        A decorator for a function whose parameters, each with a default, can be set in
        configs. With ``random_state`` it is a generator, ``generator: NAME``, called anew for
        every split; without, a data set, ``name: NAME``, which is loaded once and known by its
        content. It returns (X, y), or a Bunch with ``data``, ``target`` and, where there are
        such, ``target_names``, ``query``, ``fold`` and ``note`` as :func:`kernlearn.datasets.load`
        has them. y may hold text or numbers: for regression they are taken as they are, else
        their distinct values are the classes or grades, in order.

    Raises
    ------
    TypeError, ValueError
        If it is no such function, or an argument is not allowed.
    """
    if similarity not in (None, "similarity", "distance"):
        raise ValueError(f"similarity must be 'similarity' or 'distance', not {similarity!r}")
    keep = begin("dataset", name, version, summary, similarity=similarity)

    def register(target: Target) -> Target:
        text = "a data set must be a function that returns (X, y)"
        check_function(target, text, 0, "random_state")
        return keep(target)

    return register


def register_metric(
    name: str | None = None,
    *,
    task: str | Iterable[str],
    better: Literal["higher", "lower"] | None,
    label: str | None = None,
    version: int = 1,
    summary: str = "",
) -> Callable[[Target], Target]:
    """Make a metric known to configs: it is measured where one names it.

    Parameters
    ----------
    name : str, optional
        What configs call it; by default the name of the function.
    task : str or iterable of str
        The tasks that it judges: "classification", "bipartite_ranking" (which gives it scores),
        "regression", "ordinal" or "ranking".
    better : {"higher", "lower"} or None
        Which direction is the good one; None where neither is.
    label : str, optional
        Head of its column; by default the name, with blanks for underscores.
    version : int, default=1
        To be raised when it gives other numbers.
    summary : str, optional
        One line for ``kernlearn list``; by default the first of the docstring.

    Returns
    -------
    callable
        A decorator for a function ``f(y_true, y_pred) -> float``. Classes are codes 0, 1, ...
        A function with a parameter ``query`` is given the query of each row, for ranking.

    Raises
    ------
    TypeError, ValueError
        If it is no such function, or an argument is not allowed.
    """
    if better not in ("higher", "lower", None):
        raise ValueError(f"better must be 'higher', 'lower' or None, not {better!r}")
    tasks = (task,) if isinstance(task, str) else tuple(task)
    direction = {"higher": 1, "lower": -1, None: 0}[better]
    keep = begin("metric", name, version, summary, tasks=tasks, better=direction, label=label)

    def register(target: Target) -> Target:
        text = "a metric must be a function (y_true, y_pred) -> float"
        check_function(target, text, 2, "query")
        return keep(target)

    return register
