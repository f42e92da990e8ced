"""What a name in a config stands for, and what may be written beside it."""

import difflib
import inspect
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any


@dataclass(frozen=True)
class Component:
    """A class or function that a config can name.

    Attributes
    ----------
    path : str
        ``"module:name"``.
    version : int
        Raised when the same parameters give other numbers, so that stored ones are stale.
    summary : str
        One line for ``kernlearn list``.
    extra : str
        The extra that installs the library it comes from; empty for what is always there.
    plugin : str
        The plug-in that registered it; empty for kernlearn's own.
    """

    path: str
    version: int
    summary: str
    extra: str = ""
    plugin: str = ""

    @property
    def identity(self) -> dict[str, Any]:
        """What a trial's key holds of it besides its name."""
        return {"version": self.version} | ({"plugin": self.plugin} if self.plugin else {})

    @property
    def installed(self) -> bool:
        """Whether the library that it comes from is there."""
        return find_spec(self.path.partition(".")[0]) is not None

    def load(self) -> Any:
        """Import and return the class or function."""
        module, _, name = self.path.partition(":")
        return getattr(import_module(module), name)


@dataclass(frozen=True)
class Metric:
    """What is known of a metric.

    Attributes
    ----------
    label : str
        Head of its column.
    better : {1, -1, 0}
        1 where more is better, -1 where less is, 0 where neither.
    """

    label: str
    better: int


def suggestion(word: str, known: Iterable[str]) -> str:
    """Say what is allowed, and which of it was probably meant.

    Parameters
    ----------
    word : str
        What was written.
    known : iterable of str
        What could have been.

    Returns
    -------
    str
        ``"; did you mean 'x'?"`` or ``"; allowed: a, b, c"``.
    """
    names = sorted(known)
    lowered = {n.lower(): n for n in names}
    close = difflib.get_close_matches(word.lower(), lowered, n=1, cutoff=0.6)
    if close:
        return f"; did you mean {lowered[close[0]]!r}?"
    return f"; allowed: {', '.join(names)}" if names else "; nothing is allowed here"


@cache
def parameter_names(component: Component) -> tuple[str, ...]:
    """Return the names of the parameters that a config may set."""
    return tuple(
        name
        for name, parameter in inspect.signature(component.load()).parameters.items()
        if parameter.kind in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY)
        and name != "random_state"
    )


def kernel_parameter(component: Component) -> str | None:
    """Return the name of the parameter that takes a kernel; None for what takes none."""
    names = parameter_names(component)
    return next((name for name in ("kernel", "similarity") if name in names), None)


ESTIMATORS: dict[str, Component] = {
    "KernelSVM": Component("kernlearn.solvers:KernelSVM", 1, "exact kernel SVM by LIBSVM"),
    "LinearSVM": Component("kernlearn.solvers:LinearSVM", 1, "linear SVM by LIBLINEAR"),
    "MaclaurinSVM": Component(
        "kernlearn.features:MaclaurinSVM", 1, "RF and H0/1: random Maclaurin features, LIBLINEAR"
    ),
    "RandomMaclaurin": Component(
        "kernlearn.features:RandomMaclaurin", 1, "feature map of a dot-product kernel"
    ),
    "CompositionalMaclaurin": Component(
        "kernlearn.features:CompositionalMaclaurin", 1, "feature map of a composed kernel"
    ),
    "BBSClassifier": Component(
        "kernlearn.landmarks:BBSClassifier", 1, "BBS: similarities to landmarks as features"
    ),
    "DBoostClassifier": Component(
        "kernlearn.landmarks:DBoostClassifier",
        1,
        "DBOOST: boosted comparisons with landmark pairs",
    ),
    "FTuneClassifier": Component(
        "kernlearn.landmarks:FTuneClassifier", 1, "FTUNE: landmark pairs, transfer function learnt"
    ),
    "SimilarityKNNClassifier": Component(
        "kernlearn.landmarks:SimilarityKNNClassifier", 1, "k nearest neighbours by similarity"
    ),
    "SimilarityFeatureSVM": Component(
        "kernlearn.landmarks:SimilarityFeatureSVM", 1, "linear SVM on all similarities"
    ),
    "SpectrumSVM": Component(
        "kernlearn.landmarks:SpectrumSVM", 1, "SVM after clipping, flipping or shifting a spectrum"
    ),
    "KernelRegressor": Component(
        "kernlearn.landmarks:KernelRegressor", 1, "KR: weighted mean of training targets"
    ),
    "RegLand": Component(
        "kernlearn.landmarks:RegLand", 2, "RegLand: support vector regression on landmarks"
    ),
    "SparseRegLand": Component(
        "kernlearn.landmarks:SparseRegLand", 1, "RegLand-Sp: few landmarks chosen greedily"
    ),
    "ORLand": Component(
        "kernlearn.landmarks:ORLand", 1, "ORLand: ordinal regression on landmarks"
    ),
    "RankLand": Component("kernlearn.landmarks:RankLand", 1, "ranking on landmarks"),
    "OLP": Component("kernlearn.pairwise:OLP", 1, "OLP: online learning with pairs in a buffer"),
    "OAM": Component("kernlearn.pairwise:OAM", 1, "OAM_gra, OAM_seq: online AUC maximisation"),
    "AllPairsSVM": Component("kernlearn.pairwise:AllPairsSVM", 1, "large AUC from all pairs"),
    "LinearAUC": Component("kernlearn.theory.rademacher:LinearAUC", 1, "a ball of linear scores"),
    "KernelAUC": Component("kernlearn.theory.rademacher:KernelAUC", 1, "a ball of kernel scores"),
    "BilinearSimilarity": Component(
        "kernlearn.theory.rademacher:BilinearSimilarity", 1, "a ball of bilinear similarities"
    ),
    "MahalanobisMetric": Component(
        "kernlearn.theory.rademacher:MahalanobisMetric", 1, "a ball of Mahalanobis metrics"
    ),
    "KernelCombination": Component(
        "kernlearn.theory.rademacher:KernelCombination", 1, "combinations of kernels"
    ),
    "SVC": Component("sklearn.svm:SVC", 1, "support vector machine by LIBSVM"),
    "VotedKernelClassifier": Component(
        "kernlearn.voted:VotedKernelClassifier", 1, "voted kernel regularization"
    ),
    "L1SVMClassifier": Component("kernlearn.voted:L1SVMClassifier", 1, "norm-1 SVM"),
    "DummyClassifier": Component("sklearn.dummy:DummyClassifier", 1, "the most frequent class"),
    "DummyRegressor": Component("sklearn.dummy:DummyRegressor", 1, "the mean"),
    "Ridge": Component("sklearn.linear_model:Ridge", 1, "linear least squares, regularised"),
    "KernelRidge": Component("sklearn.kernel_ridge:KernelRidge", 1, "kernel ridge regression"),
    "SVR": Component("sklearn.svm:SVR", 1, "support vector regression by LIBSVM"),
    "LogisticAT": Component(
        "skordinal.classifiers:LogisticAT",
        1,
        "ordinal logistic regression, all thresholds",
        extra="bench",
    ),
    "LogisticRegression": Component(
        "sklearn.linear_model:LogisticRegression", 1, "logistic regression"
    ),
    "LinearSVMRegressor": Component(
        "kernlearn.solvers:LinearSVMRegressor", 1, "linear support vector regression by LIBLINEAR"
    ),
}

KERNELS: dict[str, Component] = {
    "HomogeneousPolynomialKernel": Component(
        "kernlearn.kernels:HomogeneousPolynomialKernel", 1, "⟨x, y⟩^degree"
    ),
    "PolynomialKernel": Component(
        "kernlearn.kernels:PolynomialKernel", 1, "(⟨x, y⟩ + coef0)^degree"
    ),
    "ExponentialKernel": Component("kernlearn.kernels:ExponentialKernel", 1, "exp(⟨x, y⟩ / σ²)"),
    "VovkKernel": Component("kernlearn.kernels:VovkKernel", 1, "(1 - ⟨x, y⟩^p) / (1 - ⟨x, y⟩)"),
    "DotProductKernel": Component(
        "kernlearn.kernels:DotProductKernel", 1, "Σ aₙ ⟨x, y⟩ⁿ from its coefficients"
    ),
    "LinearKernel": Component("kernlearn.kernels:LinearKernel", 1, "⟨x, y⟩"),
    "GaussianKernel": Component("kernlearn.kernels:GaussianKernel", 1, "exp(-‖x - y‖² / 2σ²)"),
    "LaplacianKernel": Component("kernlearn.kernels:LaplacianKernel", 1, "exp(-‖x - y‖₁ / σ)"),
    "SigmoidKernel": Component("kernlearn.kernels:SigmoidKernel", 1, "tanh(a ⟨x, y⟩ + r)"),
    "ManhattanSimilarity": Component("kernlearn.kernels:ManhattanSimilarity", 1, "-‖x - y‖₁"),
    "EuclideanSimilarity": Component("kernlearn.kernels:EuclideanSimilarity", 1, "-‖x - y‖²"),
    "CosineSimilarity": Component("kernlearn.kernels:CosineSimilarity", 1, "cosine of the angle"),
    "LevenshteinSimilarity": Component(
        "kernlearn.kernels:LevenshteinSimilarity", 1, "of strings, by their edit distance"
    ),
    "JaccardSimilarity": Component("kernlearn.kernels:JaccardSimilarity", 1, "of sets"),
    "DynamicTimeWarpingSimilarity": Component(
        "kernlearn.kernels:DynamicTimeWarpingSimilarity", 1, "of sequences of any lengths"
    ),
    "ValueDifferenceSimilarity": Component(
        "kernlearn.kernels:ValueDifferenceSimilarity", 1, "of nominal columns, learnt from labels"
    ),
}

METRICS: dict[str, Metric] = {
    "accuracy": Metric("accuracy", 1),
    "error_percent": Metric("error %", -1),
    "auc": Metric("AUC", 1),
    "mse": Metric("MSE", -1),
    "mae": Metric("MAE", -1),
    "aae": Metric("AAE", -1),
    "macro_aae": Metric("macro AAE", -1),
    "zero_one": Metric("0-1 error", -1),
    "ndcg": Metric("NDCG", 1),
    "ndcg_10": Metric("NDCG@10", 1),
    "letor_ndcg_10": Metric("NDCG@10 (LETOR)", 1),
    "letor_mean_ndcg": Metric("mean NDCG (LETOR)", 1),
    "complexity": Metric("complexity", -1),
    "complexity_bound": Metric("bound", -1),
    "printed_bound": Metric("bound as printed", -1),
    "complexity_share": Metric("complexity / bound", -1),
    "n_samples": Metric("rows", 0),
    "n_features": Metric("columns", 0),
    "gram_error": Metric("mean |K − ZZᵀ|", -1),
    "fit_seconds": Metric("fit s", -1),
    "fit_cpu_seconds": Metric("fit cpu s", -1),
    "predict_seconds": Metric("predict s", -1),
    "predict_cpu_seconds": Metric("predict cpu s", -1),
    "native_predict_seconds": Metric("predict s (LIBSVM)", -1),
    "select_seconds": Metric("select s", -1),
    "estimate_seconds": Metric("estimate s", -1),
    "transform_seconds": Metric("transform s", -1),
    "n_support": Metric("support vectors", -1),
}

_COSTS = (
    "fit_seconds", "fit_cpu_seconds", "predict_seconds", "predict_cpu_seconds",
    "native_predict_seconds", "select_seconds", "n_support",
)  # fmt: skip
#: Metrics that each task can measure; not every method gives every one.
TASK_METRICS: dict[str, tuple[str, ...]] = {
    "classification": ("accuracy", "error_percent", *_COSTS),
    "bipartite_ranking": ("auc", *_COSTS),
    "regression": ("mse", "mae", *_COSTS),
    "ordinal": ("aae", "macro_aae", "zero_one", *_COSTS),
    "ranking": ("ndcg", "ndcg_10", "letor_ndcg_10", "letor_mean_ndcg", *_COSTS),
    "kernel_approximation": ("gram_error", "fit_seconds", "transform_seconds"),
    "dataset_statistics": ("n_samples", "n_features"),
    "rademacher_complexity": (
        "complexity", "complexity_bound", "printed_bound", "complexity_share", "estimate_seconds",
    ),
}  # fmt: skip
