"""What a config can name: tasks, metrics, estimators and kernels, and those of plug-ins.

Nothing is imported before it is used. ``package.module.Class`` names an estimator of another
package, if it is one of :data:`PACKAGES` or in the environment variable :data:`VARIABLE`.
"""

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cache
from itertools import product
from types import MappingProxyType
from typing import Any

from kernlearn.exceptions import ConfigError
from kernlearn.kernels import registry as kernel_names
from kernlearn.lazy import install_line
from kernlearn.plugins import (
    Plugin,
    Registered,
    RegisteredDataset,
    RegisteredEstimator,
    RegisteredKernel,
    RegisteredMetric,
    by_name,
)

#: The packages whose estimators every config may name.
PACKAGES = [
    "aeon",
    "catboost",
    "imblearn",
    "kernlearn",
    "lightgbm",
    "sklearn",
    "sklearnex",
    "skordinal",
    "xgboost",
]
#: The environment variable that adds packages, separated by commas.
VARIABLE = "KERNLEARN_PACKAGES"
#: The greatest memory of a fit, for which a trial needs a process of its own.
FIT_MEMORY = "fit_memory"

# The name of a package in the package index, where it is another one.
_PROJECTS = {
    "sklearn": "scikit-learn",
    "imblearn": "imbalanced-learn",
    "sklearnex": "scikit-learn-intelex",
}
_DOTTED = re.compile(r"[A-Za-z]\w*(\.[A-Za-z]\w*)+")
# Parameters of scikit-learn that are tuples, which YAML has not.
_TUPLES = ("ngram_range", "feature_range", "quantile_range")


def suggestion(word: str, allowed: Iterable[str]) -> str:
    """Say which of the allowed names was probably meant, or list them.

    Parameters
    ----------
    word : str
        What was written.
    allowed : iterable of str

    Returns
    -------
    str
        ``"; did you mean 'x'?"`` or ``"; allowed: a, b, c"``.
    """
    names = {name.lower(): name for name in sorted(allowed)}
    if close := get_close_matches(word.lower(), names, n=1):
        return f"; did you mean {names[close[0]]!r}?"
    return f"; allowed: {', '.join(names.values())}" if names else "; nothing is allowed here"


def is_cost(metric: str) -> bool:
    """Whether a metric is a time or an amount of memory, which depends on the machine."""
    return metric.endswith(("_seconds", "_memory"))


def is_time(metric: str) -> bool:
    """Whether a metric is a time, which other processes on the same cores make longer."""
    return metric.endswith("_seconds")


@dataclass(frozen=True)
class RegisteredTask(Registered):
    """A task: what is done with a method.

    The target is a ``Task`` of supervised learning, or a function that carries out a trial.
    """

    supervised: bool = True


# Name; target in the engine, a `Task` or a function that carries out a trial; description.
_TASKS = """
classification; CLASSIFICATION; classes are predicted
bipartite_ranking; BIPARTITE_RANKING; scores by which one class comes before the other
regression; REGRESSION; numbers are predicted
ordinal; ORDINAL; grades are predicted, classes in an order
ranking; RANKING; scores by which the rows of a query are ordered
kernel_approximation; approximate_kernel; how near inner products of features come to a kernel
dataset_statistics; count_data; the size of the data; no method is run
rademacher_complexity; estimate_complexity; how well classes of functions fit random signs
regret; measure_regret; what an online learner of pairs loses to the best fixed weights
"""


def _tasks() -> Iterator[RegisteredTask]:
    for line in _TASKS.strip().splitlines():
        name, target, summary = line.split("; ", 2)
        place = f"kernlearn.engine.tasks:{target}"
        yield RegisteredTask(name, place, summary=summary, supervised=target.isupper())


TASKS: dict[str, RegisteredTask] = by_name(*_tasks())
SUPERVISED = tuple(name for name, task in TASKS.items() if task.supervised)

# After [tasks]: name; label; whether more (+) or less (-) is better, or neither (0); function,
# unless the runner measures it itself; description.
_METRICS = """
[classification]
accuracy; accuracy; +; engine.tasks:accuracy; share of the rows whose class is predicted
error_percent; error %; -; engine.tasks:error_percent; share of the others, in percent
[bipartite_ranking]
auc; AUC; +; sklearn.metrics:roc_auc_score; share of the pairs of both classes scored in order
[regression]
mse; MSE; -; engine.tasks:mean_squared_error; mean squared error, after `scale_target`
mae; MAE; -; engine.tasks:mean_absolute_error; mean absolute error, after `scale_target`
[ordinal]
aae; AAE; -; metrics:average_absolute_error; average absolute error of predicted grades
macro_aae; macro AAE; -; metrics:macro_average_absolute_error; that of each grade, averaged
zero_one; 0-1 error; -; metrics:zero_one_error; share of the rows whose grade is not predicted
[ranking]
ndcg; NDCG; +; metrics:thesis_ndcg; discounted cumulative gain as in the thesis, mean over queries
ndcg_10; NDCG@10; +; engine.tasks:ndcg_10; the same of the first ten of each query
letor_ndcg_10; NDCG@10 (LETOR); +; engine.tasks:letor_ndcg_10; that of LETOR's evaluation tool
letor_mean_ndcg; mean NDCG (LETOR); +; metrics:letor_mean_ndcg; that tool's mean over all lengths
[rademacher_complexity]
complexity; complexity; -; ; estimate of the Rademacher complexity of a class of functions
complexity_bound; bound; -; ; bound on that complexity
printed_bound; bound as printed; -; ; that bound as the thesis prints it
complexity_share; complexity / bound; -; ; the estimate divided by the bound
[regret]
regret; regret; -; ; loss of OLP on all pairs, less that of the best fixed weights
regret_per_round; regret per round; -; ; that regret divided by the number of rounds
buffer_regret; regret, buffer; -; ; regret on the pairs with points in the buffer alone
[dataset_statistics]
n_samples; rows; 0; ; number of rows of the data
n_features; columns; 0; ; number of columns of the data
[kernel_approximation]
gram_error; mean |K − ZZᵀ|; -; ; mean absolute error of an entry of the Gram matrix of features
relative_gram_error; ‖K − ZZᵀ‖ / ‖K‖; -; ; norm of that error, divided by the norm of the matrix
[supervised kernel_approximation]
fit_seconds; fit s; -; ; seconds of the final fit, without choosing parameters
[supervised]
fit_cpu_seconds; fit cpu s; -; ; processor seconds of the final fit, of all threads
fit_memory; fit MB; -; ; most memory that a fit takes, in MB, in a process of its own
predict_seconds; predict s; -; ; seconds of predicting the test part
predict_cpu_seconds; predict cpu s; -; ; processor seconds of predicting the test part
native_predict_seconds; predict s (LIBSVM); -; ; seconds of LIBSVM's own code, row by row
select_seconds; select s; -; ; seconds of choosing the parameters under `select`
selection_score; held-out score; +; ; score of the chosen parameters on the held-out rows
n_support; support vectors; -; ; number of training points that a prediction needs
n_similarities; similarities; -; ; training points that a prediction compares a point with
comparisons; comparisons; -; ; values of a similarity that the prediction of a point takes
fit_comparisons; fit comparisons; -; ; values of a similarity that the fit asks for
[rademacher_complexity regret]
estimate_seconds; estimate s; -; ; seconds of estimating a complexity or regret
[kernel_approximation]
transform_seconds; transform s; -; ; seconds of computing features of the test part
"""


def _measured() -> Iterator[RegisteredMetric]:
    tasks: tuple[str, ...] = ()
    for line in _METRICS.strip().splitlines():
        if line.startswith("["):
            tasks = tuple(line.strip("[]").replace("supervised", " ".join(SUPERVISED)).split())
            continue
        name, label, sign, target, summary = re.split("; ?", line, maxsplit=4)
        package = "" if target.startswith("sklearn") else "kernlearn."
        yield RegisteredMetric(
            name,
            f"{package}{target}" if target else None,
            summary=summary,
            label=label,
            better={"+": 1, "-": -1, "0": 0}[sign],
            tasks=tasks,
            named=name == FIT_MEMORY,
        )


METRICS: dict[str, RegisteredMetric] = by_name(*_measured())

# Scikit-learn's scorers, by tasks.
_SCORERS = {
    "classification ordinal": """
f1 f1_macro f1_micro f1_weighted jaccard jaccard_macro jaccard_micro jaccard_weighted
precision precision_macro precision_micro precision_weighted
recall recall_macro recall_micro recall_weighted balanced_accuracy matthews_corrcoef
positive_likelihood_ratio neg_negative_likelihood_ratio
""",
    "classification bipartite_ranking": "roc_auc average_precision",
    "classification": """
neg_log_loss neg_brier_score d2_log_loss_score d2_brier_score top_k_accuracy
roc_auc_ovo roc_auc_ovo_weighted roc_auc_ovr roc_auc_ovr_weighted
""",
    "regression": """
r2 explained_variance d2_absolute_error_score neg_mean_absolute_error neg_mean_squared_error
neg_root_mean_squared_error neg_median_absolute_error neg_max_error
neg_mean_absolute_percentage_error neg_mean_squared_log_error neg_root_mean_squared_log_error
neg_mean_poisson_deviance neg_mean_gamma_deviance
""",
}


def _scorers() -> Iterator[RegisteredMetric]:
    """Yield scorers; errors also without ``neg_``, of which less is better."""
    for tasks, names in _SCORERS.items():
        for scorer in names.split():
            plain = scorer.removeprefix("neg_")
            for name, better in {scorer: 1, **({plain: -1} if plain != scorer else {})}.items():
                yield RegisteredMetric(
                    name, scorer=scorer, better=better, tasks=tuple(tasks.split())
                )


#: Scikit-learn's scorers as metrics, by name.
SCORERS: dict[str, RegisteredMetric] = by_name(*_scorers())


def _estimator(target: str, summary: str, **options: Any) -> RegisteredEstimator:
    """Register an estimator by the name of its class."""
    return RegisteredEstimator(target.partition(":")[2], target, summary=summary, **options)


def _on_kernel(target: str, summary: str) -> RegisteredEstimator:
    """Register an estimator with a parameter ``kernel``."""
    return _estimator(target, summary, takes="kernel")


def _on_landmarks(name: str, summary: str) -> RegisteredEstimator:
    """Register an estimator on landmarks, with a parameter ``similarity``."""
    return _estimator(f"kernlearn.landmarks:{name}", summary, takes="similarity")


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
    _on_landmarks("RegLand", "RegLand: support vector regression on landmarks"),
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
    _estimator(
        "kernlearn.onepass:OnePassRidge", "ridge regression from one pass", reads_rows=True
    ),
    _estimator(
        "kernlearn.onepass:OnePassRidgeClassifier",
        "ridge classification from one pass",
        reads_rows=True,
    ),
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


#: The kernels of kernlearn by name.
KERNELS = {name: _kernel(one) for name, one in kernel_names.KERNELS.items()}


@cache
def _of_library(name: str) -> RegisteredKernel | None:
    """Return the similarity of a library by its dotted name."""
    kernel = kernel_names.kernel_of_name(name)
    return None if kernel is None else _kernel(kernel)


def added_packages() -> tuple[str, ...]:
    """Return the packages that the environment adds."""
    names = (name.strip() for name in os.environ.get(VARIABLE, "").split(","))
    return tuple(dict.fromkeys(name for name in names if name))


def install_hint(component: Registered) -> str:
    """Return the command that installs the library of an estimator or a similarity."""
    if component.extra:
        return install_line(component.extra)
    package = str(component.target).partition(":")[0].partition(".")[0]
    return f"pip install {_PROJECTS.get(package, package)}"


def sklearn_estimators() -> dict[str, str]:
    """Return the dotted names of scikit-learn's estimators by class; imports all of it."""
    from sklearn.utils import all_estimators

    # the public module is what comes before a private one
    modules = {name: made.__module__.partition("._")[0] for name, made in all_estimators()}
    return {name: f"{module}.{name}" for name, module in modules.items()}


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
    """

    estimators: Mapping[str, RegisteredEstimator] = field(default_factory=lambda: ESTIMATORS)
    kernels: Mapping[str, RegisteredKernel] = field(default_factory=lambda: KERNELS)
    metrics: Mapping[str, RegisteredMetric] = field(default_factory=lambda: {**METRICS, **SCORERS})
    own_datasets: Mapping[str, RegisteredDataset] = field(default_factory=dict)
    plugins: tuple[Plugin, ...] = ()
    broken: tuple[str, ...] = ()
    packages: tuple[str, ...] = ()
    classes: Mapping[str, int] = field(default_factory=dict)

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

    def estimator(self, name: str) -> RegisteredEstimator:
        """Return the estimator of a name, or of a dotted name in an allowed package.

        The dotted name of a registered class gives the registered estimator.

        Raises
        ------
        ConfigError
            If there is no such name; a dotted name may still be that of no class.
        """
        if name in self.estimators:
            return self.estimators[name]
        dotted = {str(e.target).replace(":", "."): e for e in self.estimators.values()}
        if name in dotted:
            return dotted[name]
        allowed = dict.fromkeys([*PACKAGES, *added_packages(), *self.packages])
        if not _DOTTED.fullmatch(name):
            known = {**sklearn_estimators(), **{own: own for own in self.estimators}}
            meant = re.search("'(.+)'", suggestion(name, known))
            text = (
                f"; did you mean {known[meant[1]]!r}?"
                if meant
                else self.hint(name, self.estimators)
            )
            raise ConfigError(f"no estimator {name!r}{text}")
        package = name.partition(".")[0]
        if package not in allowed:
            listed = ", ".join(sorted(allowed))
            raise ConfigError(
                f"the package {package} is not among those that configs may use, {listed}; "
                f"{VARIABLE}={package} adds it"
            )
        return RegisteredEstimator(name, ":".join(name.rsplit(".", 1)))

    def kernel(self, name: str) -> RegisteredKernel:
        """Return the kernel of a name, also of a dotted one; a ConfigError if there is none."""
        kernel = self.kernels.get(name) or _of_library(name)
        if kernel is not None:
            return kernel
        if reason := kernel_names.refusal(name):
            raise ConfigError(f"no kernel {name!r}; {name} {reason}")
        known = kernel_names.library_names() if "." in name else self.kernels
        raise ConfigError(f"no kernel {name!r}{self.hint(name, known)}")

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
        """Suggest a name for an unknown one, and name the plug-ins that could not be loaded."""
        return "; ".join([suggestion(word, allowed), *self.broken])

    def make(self, component: Registered, parameters: Mapping[str, Any]) -> Any:
        """Make an estimator or kernel, and check its parameters.

        A parameter ``{kernel: NAME, ...}`` becomes a kernel.
        """
        if str(component.target).startswith("kernlearn."):
            self._refuse_unknown_kernels(parameters)
        values = {name: self.value(name, value) for name, value in parameters.items()}
        nested = {name: values.pop(name) for name in parameters if "__" in name}
        for name, value in nested.items():
            owner, _, inner = name.partition("__")
            values[owner] = _checked(values[owner].set_params(**{inner: value}))
        foreign = isinstance(component, RegisteredEstimator) and component.foreign
        if foreign and _is_kernel(parameters.get("kernel")):
            from kernlearn.kernels.on_kernel import OnKernel

            kernel = values.pop("kernel")
            return _checked(OnKernel(component.load()(**values), kernel))
        return _checked(component.load()(**values))

    def _refuse_unknown_kernels(self, parameters: Mapping[str, Any]) -> None:
        """Refuse names of kernels that estimators of kernlearn would look up in `fit`."""
        for name in ("kernel", "similarity"):
            value = parameters.get(name)
            if isinstance(value, str) and value not in _OWN_KERNELS:
                self.kernel(value)

    def value(self, name: str, value: Any) -> Any:
        """Return the value of a parameter: a kernel for a mapping that describes one.

        Under ``kernels`` lists in such mappings give several kernels.
        """
        parameter = name.rpartition("__")[2]
        if parameter == "class_weight" and isinstance(value, Mapping):
            return self._weights(value)
        if parameter in _TUPLES and isinstance(value, list):
            return tuple(value)
        if isinstance(value, list) and value and all(map(_is_kernel, value)):
            return [self.value(parameter, one) for one in value]
        if not _is_kernel(value):
            return value
        kernel = self.kernel(str(value["kernel"]))
        if not kernel.installed:
            raise ConfigError(f"{kernel.name} is not installed: {install_hint(kernel)}")
        own = {k: v for k, v in value.items() if k != "kernel"}
        refuse_unknown(kernel, own)
        lists = [v if isinstance(v, list) else [v] for v in own.values()]
        made = [self.make(kernel, dict(zip(own, v, strict=True))) for v in product(*lists)]
        if parameter != "kernels" and len(made) != 1:
            raise ValueError(f"{name} takes one kernel, and its lists describe {len(made)}")
        return made if parameter == "kernels" else made[0]

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
        parts: Sequence[tuple[str, RegisteredEstimator]],
        parameters: Mapping[str, Any],
        grid: Mapping[str, Sequence[Any]] = MappingProxyType({}),
    ) -> Any:
        """Make the estimator of a method: that of its only part, or a pipeline of all.

        Parameters
        ----------
        parts : sequence of (str, RegisteredEstimator)
            Each estimator with the label of its step, "" for a single one.
        parameters : mapping
            Parameters, those of a step after its label and ``__``.
        grid : mapping of str to sequence
            Candidates of further parameters: the first kernels among them are set, since an
            estimator that is to try kernels is made with one.
        """
        first = {k: next((v for v in values if _is_kernel(v)), None) for k, values in grid.items()}
        settings = {**parameters, **{k: v for k, v in first.items() if v is not None}}
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


# Names that are no kernels of kernlearn: LIBSVM's, and matrices.
_OWN_KERNELS = ("linear", "poly", "rbf", "sigmoid", "precomputed")


def _is_kernel(value: Any) -> bool:
    """Whether a value is a mapping that describes a kernel."""
    return isinstance(value, Mapping) and "kernel" in value


def _checked(made: Any) -> Any:
    """Check the parameters of an estimator or kernel, as far as it states constraints."""
    if hasattr(made, "_parameter_constraints"):
        made._validate_params()
    return made


def refuse_unknown(component: Registered, parameters: Iterable[str]) -> None:
    """Raise a ConfigError for a parameter that a component does not have."""
    for key in parameters:
        if key.partition("__")[0] not in component.settable:
            hint = suggestion(key, component.settable)
            raise ConfigError(f"{component.name} has no parameter {key!r}{hint}")


#: The names of kernlearn itself.
BUILT_IN = Scope()
