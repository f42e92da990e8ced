"""What a config can name: tasks, metrics, estimators and kernels, and those of plug-ins.

Nothing is imported before it is used. ``package.module.Class`` names an estimator of another
package, if ``names.yaml`` lists the package.
"""

import inspect
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, make_dataclass, replace
from functools import cache, partial
from itertools import product
from math import inf
from pathlib import Path
from types import MappingProxyType
from typing import Any, Self

import numpy as np

from kernlearn import kernels
from kernlearn.checks import suggestion
from kernlearn.config.values import ON_REQUEST
from kernlearn.datasets import generators
from kernlearn.exceptions import ConfigError
from kernlearn.kernels import registry as kernel_names
from kernlearn.plugins import Plugin, Registered, load_file
from kernlearn.yaml import read_yaml

_DOTTED = re.compile(r"[A-Za-z]\w*(\.[A-Za-z]\w*)+")
# Parameters of scikit-learn that are tuples, which YAML has not.
_TUPLES = ("ngram_range", "feature_range", "quantile_range")


_LISTED, _ = read_yaml(Path(__file__).with_name("names.yaml"))

#: What is done with a method: a ``Task`` of supervised learning, or a function that carries out a
#: trial, by name.
TASKS = {name: Registered("task", name, **about) for name, about in _LISTED["tasks"].items()}
#: The tasks in which a method is fitted to targets and its predictions are measured.
SUPERVISED = tuple(k for k, task in TASKS.items() if str(task.target).rpartition(":")[2].isupper())


def _metric(name: str, tasks: str, limits: Sequence[float] = (0, inf), **about: Any) -> Registered:
    applies_to = tuple(tasks.replace("supervised", " ".join(SUPERVISED)).split())
    low, high = limits
    return Registered("metric", name, tasks=applies_to, limits=(low, high), **about)


def _scorer(name: str, scorer: str, tasks: str) -> Registered:
    better, is_share = 1 if name == scorer else -1, scorer in _LISTED["shares"]
    low = 0 if better < 0 or is_share else -inf
    high = 1 if is_share else 0 if name.startswith("neg_") else inf
    return _metric(name, tasks, (low, high), scorer=scorer, better=better)


#: Metrics by name, without scikit-learn's scorers.
METRICS = {name: _metric(name, **about) for name, about in _LISTED["metrics"].items()}
#: Scikit-learn's scorers as metrics, by name; errors also without ``neg_``: less is better.
SCORERS = {
    name: _scorer(name, scorer, tasks)
    for tasks, scorers in _LISTED["scorers"].items()
    for scorer in scorers
    for name in (scorer.removeprefix("neg_"), scorer)
}


def limits(metric: str) -> tuple[float, float]:
    """Return the least and the greatest value that a metric can have, as far as it is known."""
    known = METRICS.get(metric) or SCORERS.get(metric)
    return known.limits if known else (-inf, inf)


def is_time(metric: str) -> bool:
    """Whether a metric is a time, which depends on the machine and on what else runs there."""
    return metric in METRICS and METRICS[metric].measures == "time"


#: Parameters of estimators that act in the choice alone: trials that differ in them share their
#: training.
SHARED: dict[str, list[str]] = _LISTED["shared"]
#: Estimators by name.
ESTIMATORS = {
    name: Registered(
        "estimator", name, f"{module}:{name}", _LISTED["versions"].get(name, 1), title
    )
    for module, titles in _LISTED["estimators"].items()
    for name, title in titles.items()
}


@cache
def kernel_class(function: Callable[..., Any], name: str) -> type[Any]:
    """Make a kernel class from a function.

    Parameters
    ----------
    function : callable
        (X, Y) -> matrix, or of two points; its further parameters, all with defaults, become the
        kernel's, beside those of :class:`CallableKernel` unless a name is in both.
    name : str
        Name of the class.
    """
    own = [*inspect.signature(function).parameters.values()][2:]
    _, *more = inspect.signature(kernels.CallableKernel).parameters.values()
    turning = [] if {p.name for p in own} & {p.name for p in more} else more

    learnt = {"tried", "sigma_", "n_fit_comparisons_"}

    class FunctionKernel(kernels.Kernel):
        compares = "any"
        _parameter_constraints = kernels.CallableKernel._parameter_constraints if turning else {}

        @property
        def made(self) -> kernels.CallableKernel:
            values = self.get_params(deep=False)
            options = {p.name: values.pop(p.name) for p in turning}
            kernel = kernels.CallableKernel(partial(function, **values), **options)
            kernel.__dict__.update({k: v for k, v in vars(self).items() if k in learnt})
            kernel.__dict__["known_as"] = function, repr(values)
            return kernel

        def fit(self, X: Any, y: Any = None) -> Self:
            fitted = vars(self.made.fit(X, y))
            self.__dict__.update((k, v) for k, v in fitted.items() if k in learnt)
            return self

        def __call__(self, X: Any, Y: Any = None) -> np.ndarray:
            kernel = self.made
            values = kernel(X, Y)
            self.tried = kernel.tried
            return values

        @property
        def data_dependent(self) -> bool:
            return self.made.data_dependent

        @property
        def is_distance(self) -> bool:
            return self.made.is_distance

    parameters = [(p.name, Any, field(default=p.default)) for p in [*own, *turning]]
    body = {"__doc__": function.__doc__, "__module__": function.__module__}
    options: dict[str, Any] = {"eq": False, "repr": False, "kw_only": True}
    return make_dataclass(name, parameters, bases=(FunctionKernel,), namespace=body, **options)


@cache
def _sklearn_names() -> dict[str, str]:
    """Return the dotted names of scikit-learn's estimators by class; imports all of it."""
    from sklearn.utils import all_estimators

    # the public module is what comes before a private one
    return {name: f"{m.__module__.partition('._')[0]}.{name}" for name, m in all_estimators()}


#: The kinds of what a plug-in can register.
KINDS = ("estimator", "kernel", "dataset", "generator", "metric")


@dataclass(frozen=True, eq=False)
class Scope:
    """The names that one config sees: kernlearn's and those of its plug-ins.

    Attributes
    ----------
    estimators, kernels, metrics : mapping of str to Registered
    datasets : mapping of str to Registered
        The data sets of plug-ins, which are loaded once.
    generators : mapping of str to Registered
        They draw new data for every split.
    plugins : tuple of Plugin
    classes : mapping of str to int
        The labels of the data of a trial with their codes, by which `class_weight` names them.
    """

    estimators: Mapping[str, Registered] = field(default_factory=lambda: ESTIMATORS)
    kernels: Mapping[str, Registered] = field(default_factory=lambda: kernel_names.KERNELS)
    metrics: Mapping[str, Registered] = field(default_factory=lambda: {**METRICS, **SCORERS})
    datasets: Mapping[str, Registered] = field(default_factory=dict)
    generators: Mapping[str, Registered] = field(default_factory=generators)
    plugins: tuple[Plugin, ...] = ()
    classes: Mapping[str, int] = field(default_factory=dict)

    def extended(self, plugin: Plugin) -> "Scope":
        """Return these names with those of a plug-in."""
        sections = {f"{kind}s": dict(getattr(self, f"{kind}s")) for kind in KINDS}
        for one in plugin.registered:
            if one.kind == "kernel" and not isinstance(one.target, type):
                one = replace(one, target=kernel_class(one.target, one.name))
            sections[f"{one.kind}s"][one.name] = one
        return replace(self, plugins=(*self.plugins, plugin), **sections)

    def estimator(self, name: str) -> Registered:
        """Return the estimator of a name, or of a dotted name in an allowed package.

        The dotted name of a registered class gives the registered estimator.

        Raises
        ------
        ConfigError
            If there is no such name; a dotted name may still be that of no class.
        """
        if name in self.estimators:
            return self.estimators[name]
        targets = {str(one.target).replace(":", "."): one for one in self.estimators.values()}
        if name in targets:
            return targets[name]
        if not _DOTTED.fullmatch(name):
            hint = suggestion(name, self.estimators, _sklearn_names())
            raise ConfigError(f"no estimator {name!r}{hint}")
        package = name.partition(".")[0]
        if package not in _LISTED["packages"]:
            listed = ", ".join(_LISTED["packages"])
            text = f"the package {package} is not among those that configs may name, {listed}"
            raise ConfigError(f"{text}; a plug-in can register the class")
        return Registered("estimator", name, ":".join(name.rsplit(".", 1)))

    def kernel(self, name: str) -> Registered:
        """Return the kernel of a name, also of a dotted one.

        Raises
        ------
        ConfigError, ValueError
            If there is none, its library is not installed, or the library's is refused.
        """
        if kernel := self.kernels.get(name) or kernel_names.kernel_of_name(name):
            if kernel.missing:
                raise ConfigError(kernel.missing)
            return kernel
        kernel_names.library_of(name)
        hint = suggestion(name, self.kernels)
        if "." in name:
            hint = f"; its library is none of {', '.join(kernel_names.LIBRARIES)}"
            hint += "; a file under `plugins` can register it, by a name without a dot"
        raise ConfigError(f"no kernel {name!r}{hint}")

    def task_metrics(self, task: str) -> tuple[str, ...]:
        """Return the metrics that a task can measure; none for an unknown task."""
        return tuple(name for name, metric in self.metrics.items() if task in metric.tasks)

    def label(self, metric: str) -> str:
        """Return the heading of a metric's column; for a derived metric that is its name."""
        label = self.metrics[metric].label if metric in self.metrics else ""
        return label or metric.replace("_", " ")

    def better(self, metric: str) -> int:
        """Return 1 where more of a metric is better, -1 where less is, otherwise 0."""
        return self.metrics[metric].better if metric in self.metrics else 0

    def own_metrics(self, names: Iterable[str]) -> list[Registered]:
        """Return the metrics among some names that are measured only where they are named.

        They are those of plug-ins, scikit-learn's scorers and a few of kernlearn.
        """
        metrics = [self.metrics[name] for name in sorted(set(names)) if name in self.metrics]
        return [m for m in metrics if m.plugin or m.scorer or m.name in ON_REQUEST]

    def state(self, plugin: str) -> str | None:
        """Return the state of a plug-in of the config; None if it has no such one."""
        return next((p.state for p in self.plugins if p.path.stem == plugin), None)

    def make(self, component: Registered, parameters: Mapping[str, Any]) -> Any:
        """Make an estimator or kernel, and check its parameters.

        A parameter ``{kernel: NAME, ...}`` becomes a kernel, ``{estimator: NAME, ...}`` an
        estimator.

        Raises
        ------
        ConfigError
            For a parameter that it does not have, and a kernel that there is not.
        Exception
            Of any library, for a value that it refuses.
        """
        for key in parameters:
            if key.partition("__")[0] not in component.settable and not component.takes_others:
                hint = suggestion(key, component.settable)
                if key == "random_state":
                    hint = ": it is set from the seed of the protocol"
                raise ConfigError(f"{component.name} has no parameter {key!r}{hint}")
        if str(component.target).startswith("kernlearn."):
            for name in ("kernel", "similarity"):  # which would be looked up in `fit`
                value = parameters.get(name)
                known = (*kernel_names.LIBSVM, "precomputed")
                if isinstance(value, str) and value not in known and self.kernel(value).plugin:
                    raise ConfigError(f"{name}: of a plug-in, write {{kernel: {value}}}")
        values = self.made_values({k: v for k, v in parameters.items() if "__" not in k})
        for name in [name for name in parameters if name not in values]:
            owner, _, inner = name.partition("__")
            if not hasattr(values.get(owner), "set_params"):
                of_estimator = "arguments: {estimator: {estimator: NAME}}"
                way = of_estimator if owner == "estimator" else f"{owner}: {{kernel: NAME}}"
                raise ConfigError(f"needs the {owner} itself too, as `{way}`")
            own = {inner: parameters[name]}
            values[owner] = _checked(values[owner].set_params(**own), own)
        if component.foreign and is_kernel(parameters.get("kernel")):
            from kernlearn.kernels.functions import OnKernel

            kernel = values.pop("kernel")
            made = OnKernel(component.load()(**values), kernel)
            made._validate_params()
            return made
        return _checked(component.load()(**values), values)

    def value(self, name: str, value: Any) -> Any:
        """Return the value of a parameter: a kernel or estimator for a mapping that describes one.

        Estimators may stand in lists, such as those of a ColumnTransformer. Under ``kernels``
        lists in such mappings give several kernels.
        """
        parameter = name.rpartition("__")[2]
        if parameter == "class_weight" and isinstance(value, Mapping):
            return self._weights(value)
        if parameter in _TUPLES and isinstance(value, list):
            return tuple(value)
        are_kernels = isinstance(value, list) and bool(value) and all(map(is_kernel, value))
        if are_kernels or (isinstance(value, list) and _has_estimator(value)):
            return [self.value(parameter, one) for one in value]
        if _has_estimator(value):
            own = {key: one for key, one in value.items() if key != "estimator"}
            return self.make(self.estimator(str(value["estimator"])), own)
        if not is_kernel(value):
            return value
        kernel = self.kernel(str(value["kernel"]))
        own = {k: v if isinstance(v, list) else [v] for k, v in value.items() if k != "kernel"}
        made = [self.make(kernel, dict(zip(own, v, strict=True))) for v in product(*own.values())]
        if parameter != "kernels" and len(made) != 1:
            raise ValueError(f"{name} takes one kernel, and its lists describe {len(made)}")
        return made if parameter == "kernels" else made[0]

    def nested(self, value: Any) -> Iterator[Registered]:
        """Yield the kernels and estimators that mappings in a value describe."""
        if is_kernel(value):
            yield self.kernel(str(value["kernel"]))
        elif isinstance(value, Mapping) and "estimator" in value:
            yield self.estimator(str(value["estimator"]))
        inner = value.values() if isinstance(value, Mapping) else value
        for one in inner if isinstance(value, (Mapping, list)) else ():
            yield from self.nested(one)

    def _weights(self, weights: Mapping[Any, Any]) -> dict[Any, Any]:
        """Return weights by codes; keys are labels, or codes where no key is a label."""
        if not self.classes:  # before data is read
            return dict(weights)
        from kernlearn.datasets.tables import canonical_label

        by_label = {canonical_label(key): weight for key, weight in weights.items()}
        codes = {str(code): code for code in self.classes.values()}
        known = self.classes if by_label.keys() & self.classes.keys() else codes
        if unknown := [key for key in by_label if key not in known]:
            listed = ", ".join(self.classes)
            raise ValueError(f"class_weight: no class {', '.join(unknown)}; the data has {listed}")
        return {known[key]: weight for key, weight in by_label.items()}

    def make_method(
        self,
        parts: Sequence[tuple[str, Registered]],
        parameters: Mapping[str, Any],
        grid: Mapping[str, Sequence[Any]] = MappingProxyType({}),
    ) -> Any:
        """Make the estimator of a method: that of its only part, or a pipeline of all.

        Parameters
        ----------
        parts : sequence of (str, Registered)
            Each estimator with the label of its step, "" for a single one.
        parameters : mapping
            Parameters, those of a step after its label and ``__``.
        grid : mapping of str to sequence
            Candidates of further parameters: the first kernels among them are set, since an
            estimator that is to try kernels is made with one.
        """
        first = {k: v for k, values in grid.items() for v in reversed(values) if is_kernel(v)}
        settings = {**parameters, **first}
        if not parts[0][0]:
            return self.make(parts[0][1], settings)
        from sklearn.pipeline import Pipeline

        steps = []
        for label, component in parts:
            prefix = f"{label}__"
            own = {k.removeprefix(prefix): v for k, v in settings.items() if k.startswith(prefix)}
            steps.append((label, self.make(component, own)))
        return Pipeline(steps)

    def made_values(self, parameters: Mapping[str, Any]) -> dict[str, Any]:
        """Return parameters with the kernels that mappings among them describe."""
        return {key: self.value(key, value) for key, value in parameters.items()}


def is_kernel(value: Any) -> bool:
    """Whether a value is a mapping that describes a kernel."""
    return isinstance(value, Mapping) and "kernel" in value and "estimator" not in value


def _has_estimator(value: Any) -> bool:
    """Whether a value describes an estimator, or is a list in which some do."""
    if isinstance(value, list):
        return any(map(_has_estimator, value))
    return isinstance(value, Mapping) and "estimator" in value


def _checked(made: Any, values: dict[str, Any]) -> Any:
    """Check the parameters that are set, as far as the estimator or kernel states constraints."""
    if constraints := getattr(made, "_parameter_constraints", None):
        from sklearn.utils._param_validation import validate_parameter_constraints

        validate_parameter_constraints(constraints, values, type(made).__name__)
    return made


#: The names of kernlearn itself.
BUILT_IN = Scope()


def load_plugins(files: Iterable[Sequence[str]]) -> Scope:
    """Return the names that a trial sees, for the (path, hash) of each plug-in of its source.

    Files that are loaded already are not executed again; a PluginError is raised if one cannot be
    loaded, or has changed since the trial was planned.
    """
    scope = BUILT_IN
    for path, digest in files:
        scope = scope.extended(load_file(Path(path), digest=digest))
    return scope
