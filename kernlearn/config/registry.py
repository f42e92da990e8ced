"""What a config can name: estimators, and the scope of kernlearn's names and of plug-ins."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from itertools import product
from typing import Any

from kernlearn.config.class_weights import weights_by_code
from kernlearn.config.libraries import (
    PACKAGES,
    added_packages,
    as_tuple,
    library_estimator,
    sklearn_estimators,
)
from kernlearn.config.measured import METRICS
from kernlearn.config.pinned import PINNED
from kernlearn.config.scorers import SCORERS
from kernlearn.config.suggestions import closest, suggestion
from kernlearn.kernels import registry as kernel_names
from kernlearn.plugins import (
    Plugin,
    Registered,
    RegisteredDataset,
    RegisteredEstimator,
    RegisteredKernel,
    RegisteredMetric,
    by_name,
)


def _estimator(target: str, summary: str, **options: Any) -> RegisteredEstimator:
    """Register an estimator by the name of its class."""
    name = target.partition(":")[2]
    pinned = PINNED.get(name, {})
    return RegisteredEstimator(name, target, summary=summary, pinned=pinned, **options)


def _on_kernel(target: str, summary: str, **options: Any) -> RegisteredEstimator:
    """Register an estimator with a parameter ``kernel``."""
    return _estimator(target, summary, takes="kernel", **options)


def _on_landmarks(name: str, summary: str, **options: Any) -> RegisteredEstimator:
    """Register an estimator on landmarks, with a parameter ``similarity``."""
    return _estimator(f"kernlearn.landmarks:{name}", summary, takes="similarity", **options)


def _one_pass(name: str, summary: str) -> RegisteredEstimator:
    return _estimator(f"kernlearn.onepass:{name}", summary, reads_rows=True)


_RIVER = "kernlearn.engine.river:RiverClassifier"

ESTIMATORS: dict[str, RegisteredEstimator] = by_name(
    _on_kernel("kernlearn.svm:KernelSVM", "exact kernel SVM by LIBSVM"),
    _estimator("kernlearn.linear:LinearSVM", "linear SVM by LIBLINEAR"),
    _on_kernel("kernlearn.features:MaclaurinSVM", "RF and H0/1: Maclaurin features, LIBLINEAR"),
    _on_kernel("kernlearn.features:RandomMaclaurin", "feature map of a dot-product kernel"),
    _on_kernel("kernlearn.features:CompositionalMaclaurin", "feature map of a composed kernel"),
    _on_kernel("kernlearn.landmarks:NystroemEmbedding", "Nyström features of any kernel"),
    _on_kernel("kernlearn.features:TensorSketch", "sketches for a dot-product kernel"),
    _on_landmarks("BBSClassifier", "BBS: similarities to landmarks as features"),
    _on_landmarks("DBoostClassifier", "DBOOST: boosted comparisons with landmark pairs"),
    _on_landmarks("FTuneClassifier", "FTUNE: pairs with a learnt transfer function"),
    _on_landmarks("LandmarkKNNClassifier", "k nearest neighbours by similarities to landmarks"),
    _on_landmarks("SimilarityKNNClassifier", "k nearest neighbours by similarity"),
    _on_landmarks("SimilarityFeatureSVM", "linear SVM on all similarities"),
    _on_landmarks("SpectrumSVM", "SVM after clipping, flipping or shifting a spectrum"),
    _on_landmarks("KernelRegressor", "KR: weighted mean of training targets"),
    _on_landmarks("RegLand", "RegLand: support vector regression on landmarks", version=2),
    _on_landmarks("SparseRegLand", "RegLand-Sp: few landmarks chosen greedily"),
    _on_landmarks("ORLand", "ORLand: ordinal regression on landmarks"),
    _on_landmarks("RankLand", "ranking on landmarks"),
    _estimator("kernlearn.pairwise:OLP", "OLP: online learning with pairs in a buffer"),
    _estimator("kernlearn.pairwise:OAM", "OAM_gra, OAM_seq: online AUC maximisation"),
    _estimator("kernlearn.pairwise:AllPairsMoments", "large AUC from moments of the classes"),
    _estimator("kernlearn.pairwise:AllPairsSVM", "large AUC from all pairs"),
    _estimator("kernlearn.pairwise:MetricKNNClassifier", "neighbours by a metric learned online"),
    _estimator("kernlearn.pairwise:SimilaritySVM", "SVM with a kernel learned online"),
    _estimator("kernlearn.pairwise:MultipleKernelSVM", "SVM with a sum of kernels learned online"),
    _one_pass("OnePassRidge", "ridge regression from one pass"),
    _one_pass("OnePassRidgeClassifier", "ridge classification from one pass"),
    _estimator("kernlearn.theory:LinearAUC", "ball of linear scores"),
    _on_kernel("kernlearn.theory:KernelAUC", "ball of kernel scores"),
    _estimator("kernlearn.theory:BilinearSimilarity", "ball of bilinear similarities"),
    _estimator("kernlearn.theory:MahalanobisMetric", "ball of Mahalanobis metrics"),
    _estimator("kernlearn.theory:KernelCombination", "combinations of kernels"),
    _on_kernel("sklearn.svm:SVC", "support vector machine by LIBSVM"),
    _estimator("kernlearn.voted:VotedKernelClassifier", "voted kernel regularization"),
    _on_kernel("kernlearn.voted:L1SVMClassifier", "norm-1 SVM"),
    _estimator("sklearn.dummy:DummyClassifier", "the most frequent class"),
    _estimator("sklearn.dummy:DummyRegressor", "the mean"),
    _estimator("sklearn.neighbors:KNeighborsClassifier", "k nearest neighbours"),
    _estimator("sklearn.linear_model:Ridge", "linear least squares, regularised"),
    _on_kernel("sklearn.kernel_ridge:KernelRidge", "kernel ridge regression"),
    _on_kernel("sklearn.svm:SVR", "support vector regression by LIBSVM"),
    _estimator("skordinal.classifiers:LogisticAT", "ordinal logistic regression", extra="bench"),
    _estimator(_RIVER, "a model of river, in one pass", extra="peers", needs="river"),
    _estimator("sklearn.linear_model:LogisticRegression", "logistic regression"),
    _estimator("kernlearn.linear:LinearSVMRegressor", "linear SVR by LIBLINEAR"),
)


def _kernel(one: kernel_names.NamedKernel) -> RegisteredKernel:
    """Register a kernel of the library."""
    extra = kernel_names.LIBRARIES[one.library].extra if one.library else ""
    return RegisteredKernel(
        one.name,
        one.target,
        summary=one.summary,
        extra=extra,
        needs=one.library,
        points=one.points,
        dotted=one.dotted,
    )


@cache
def _library_kernel(name: str) -> RegisteredKernel | None:
    """Return the kernel of a dotted name."""
    found = kernel_names.kernel_of_name(name)
    return None if found is None else _kernel(found)


#: The kernels of kernlearn by name.
KERNELS = {name: _kernel(one) for name, one in kernel_names.KERNELS.items()}
#: The metrics of kernlearn, then scikit-learn's scorers.
ALL_METRICS = {**METRICS, **{name: m for name, m in SCORERS.items() if name not in METRICS}}


@dataclass(frozen=True, eq=False)
class Scope:
    """The names that one config sees: kernlearn's, those of installed packages and of its files.

    Attributes
    ----------
    estimators, kernels, metrics : mapping of str to Registered
    own_datasets : mapping of str to RegisteredDataset
        Data sets and generators of plug-ins.
    plugins : tuple of Plugin
        Those of installed packages, then those that the config names.
    broken : tuple of str
        Errors of installed plug-ins that could not be loaded.
    packages : tuple of str
        Further packages whose estimators may be named by dotted names.
    classes : mapping of str to int
        The labels of the data of a trial with their codes, by which `class_weight` names them.
    comparisons : Comparisons or None
        Where similarities are compared once, what looks their values up.
    """

    estimators: Mapping[str, RegisteredEstimator] = field(default_factory=lambda: ESTIMATORS)
    kernels: Mapping[str, RegisteredKernel] = field(default_factory=lambda: KERNELS)
    metrics: Mapping[str, RegisteredMetric] = field(default_factory=lambda: ALL_METRICS)
    own_datasets: Mapping[str, RegisteredDataset] = field(default_factory=dict)
    plugins: tuple[Plugin, ...] = ()
    broken: tuple[str, ...] = ()
    packages: tuple[str, ...] = ()
    classes: Mapping[str, int] = field(default_factory=dict)
    comparisons: Any = None

    @property
    def allowed_packages(self) -> tuple[str, ...]:
        """The packages whose estimators may be named by dotted names."""
        return tuple(dict.fromkeys([*PACKAGES, *added_packages(), *self.packages]))

    def estimator(self, name: str) -> RegisteredEstimator | None:
        """Return the estimator of a name, or of a dotted name in an allowed package.

        The dotted name of a class that is registered gives the registered estimator.
        """
        if name in self.estimators or "." not in name:
            return self.estimators.get(name)
        same = (e for e in ESTIMATORS.values() if str(e.target).replace(":", ".") == name)
        return next(same, None) or library_estimator(name, self.allowed_packages)

    def estimator_hint(self, name: str) -> str:
        """Suggest an estimator for a name, also one of scikit-learn's."""
        ours = closest(name, self.estimators)
        if ours is None or ours.lower() != name.lower():
            dotted = sklearn_estimators()
            nearest = closest(name, {*dotted, *self.estimators})
            if nearest in dotted and nearest not in self.estimators:
                return "".join([f"; did you mean {dotted[nearest]!r}?", *self._broken_hints])
        return self.hint(name, self.estimators)

    @property
    def files(self) -> tuple[Plugin, ...]:
        """The plug-ins that the config names."""
        return tuple(plugin for plugin in self.plugins if plugin.path is not None)

    @property
    def generators(self) -> Mapping[str, Any]:
        """Generators, which draw new data for every split, by name."""
        from kernlearn.datasets import generators

        own = {name: data for name, data in self.own_datasets.items() if data.is_generator}
        return {**generators(), **own}

    @property
    def datasets(self) -> Mapping[str, RegisteredDataset]:
        """The data sets of plug-ins that are loaded once, by name."""
        return {name: d for name, d in self.own_datasets.items() if not d.is_generator}

    def kernel(self, name: str) -> RegisteredKernel | None:
        """Return the kernel of a name, also of a dotted one."""
        return self.kernels.get(name) or _library_kernel(name)

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

    def own_metrics(self, names: Iterable[str]) -> list[RegisteredMetric]:
        """Return the metrics among some names that are measured only where they are named.

        They are those of plug-ins, scikit-learn's scorers, and memory.
        """
        metrics = (self.metrics.get(name) for name in sorted(set(names)))
        return [m for m in metrics if m is not None and (m.plugin or m.scorer or m.named)]

    def state(self, plugin: str) -> str | None:
        """Return the state of a plug-in; a file comes before a package of the same name."""
        return next((p.state for p in reversed(self.plugins) if p.name == plugin), None)

    def hint(self, word: str, allowed: Iterable[str]) -> str:
        """Suggest a name for an unknown one, and list the plug-ins that could not be loaded."""
        return "".join([suggestion(word, allowed), *self._broken_hints])

    @property
    def _broken_hints(self) -> list[str]:
        return [f"; {text}" for text in self.broken]

    def make(self, component: Registered, parameters: Mapping[str, Any]) -> Any:
        """Make an estimator or kernel; a parameter ``{kernel: NAME, ...}`` becomes a kernel."""
        made = {k: self.made(k, v) for k, v in parameters.items()}
        nested = {k: v for k, v in made.items() if "__" in k}
        given = {k: v for k, v in made.items() if k not in nested}
        if getattr(component, "foreign", False) and _is_kernel(parameters.get("kernel")):
            from kernlearn.config.on_kernel import OnKernel

            kernel = given.pop("kernel")
            found = OnKernel(component.load()(**given), kernel)
        else:
            found = component.load()(**given)
        found = found.set_params(**nested) if nested else found
        if self.comparisons is not None and isinstance(component, RegisteredKernel):
            identity = component.identity | {"state": self.state(component.plugin)}
            return self.comparisons.of(found, identity)
        return found

    def made(self, name: str, value: Any) -> Any:
        """Return a value, or the kernel that it describes; a list in it gives several."""
        parameter = name.rpartition("__")[2]
        if parameter == "class_weight" and isinstance(value, Mapping):
            return weights_by_code(value, self.classes)
        value = as_tuple(parameter, value)
        if isinstance(value, list) and value and all(map(_is_kernel, value)):
            return [self.made(name, one) for one in value]
        if not _is_kernel(value):
            return value
        parameters = {k: v for k, v in value.items() if k != "kernel"}
        kernel = self.kernel(value["kernel"])
        assert kernel is not None
        lists = [v if isinstance(v, list) else [v] for v in parameters.values()]
        variants = product(*lists)
        made = [self.make(kernel, dict(zip(parameters, v, strict=True))) for v in variants]
        if name != "kernels" and len(made) > 1:
            raise ValueError(f"'{name}' takes one kernel, got the parameters of {len(made)}")
        return made if name == "kernels" else made[0]

    def value_error(self, component: Registered, parameters: Mapping[str, Any]) -> str | None:
        """Return why an estimator or kernel refuses parameter values, or None if it takes them."""
        from kernlearn.config.on_kernel import validate_params

        try:
            validate_params(self.make(component, parameters))
        except _expected(component) as error:
            return str(error) or type(error).__name__
        return None


def _is_kernel(value: Any) -> bool:
    """Whether a value is a mapping that describes a kernel."""
    return isinstance(value, Mapping) and "kernel" in value


def _expected(component: Registered) -> Any:
    """Return the errors by which a component refuses values."""
    own = isinstance(component.target, str) and component.target.startswith("kernlearn.")
    # code of others may raise anything
    return (ValueError, TypeError) if own else Exception


#: The names of kernlearn itself.
BUILT_IN = Scope()
