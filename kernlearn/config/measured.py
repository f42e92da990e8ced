"""Tasks and metrics: what is measured of a method, with a line on each for reference."""

from dataclasses import dataclass
from typing import Any

from kernlearn.config.costs import FIT_MEMORY
from kernlearn.plugins import Registered, RegisteredMetric, by_name


@dataclass(frozen=True)
class RegisteredTask(Registered):
    """A task: what is done with a method.

    The target is a ``Task`` of supervised learning, or a function that carries out a trial. The
    summary says what is predicted or measured.
    """

    supervised: bool = True


_ENGINE = "kernlearn.engine"


def _task(name: str, target: str, **options: Any) -> RegisteredTask:
    return RegisteredTask(name, f"{_ENGINE}.{target}", **options)


TASKS: dict[str, RegisteredTask] = by_name(
    _task("classification", "tasks:CLASSIFICATION", summary="classes are predicted"),
    _task(
        "bipartite_ranking",
        "tasks:BIPARTITE_RANKING",
        summary="scores by which one class comes before the other",
    ),
    _task("regression", "tasks:REGRESSION", summary="numbers are predicted"),
    _task("ordinal", "tasks:ORDINAL", summary="grades are predicted, classes in an order"),
    _task("ranking", "tasks:RANKING", summary="scores by which the rows of a query are ordered"),
    _task(
        "kernel_approximation",
        "tasks:approximate_kernel",
        supervised=False,
        summary="how near the inner products of features come to a kernel",
    ),
    _task(
        "dataset_statistics",
        "tasks:count_data",
        supervised=False,
        summary="the size of the data, no method is run",
    ),
    _task(
        "rademacher_complexity",
        "tasks:estimate_complexity",
        supervised=False,
        summary="how well classes of functions fit random signs",
    ),
    _task(
        "regret",
        "tasks:measure_regret",
        supervised=False,
        summary="what an online learner of pairs loses to the best fixed weights",
    ),
)

_RUN, _LIB = f"{_ENGINE}.tasks:", "kernlearn.metrics:"
SUPERVISED = tuple(name for name, task in TASKS.items() if task.supervised)


def _metric(name: str, label: str, better: int, *tasks: str, **options: Any) -> RegisteredMetric:
    """Register a metric; the runner measures it itself if there is no target."""
    return RegisteredMetric(
        name, options.pop("target", None), label=label, better=better, tasks=tasks, **options
    )


METRICS: dict[str, RegisteredMetric] = by_name(
    _metric(
        "accuracy",
        "accuracy",
        1,
        "classification",
        target=_RUN + "accuracy",
        summary="share of the rows whose class is predicted",
    ),
    _metric(
        "error_percent",
        "error %",
        -1,
        "classification",
        target=_RUN + "error_percent",
        summary="share of the rows with another class, in percent",
    ),
    _metric(
        "auc",
        "AUC",
        1,
        "bipartite_ranking",
        target="sklearn.metrics:roc_auc_score",
        summary="share of the pairs of a positive and a negative row scored in order",
    ),
    _metric(
        "mse",
        "MSE",
        -1,
        "regression",
        target=_RUN + "mean_squared_error",
        summary="mean squared error, of targets as `scale_target` leaves them",
    ),
    _metric(
        "mae",
        "MAE",
        -1,
        "regression",
        target=_RUN + "mean_absolute_error",
        summary="mean absolute error, of targets as `scale_target` leaves them",
    ),
    _metric(
        "aae",
        "AAE",
        -1,
        "ordinal",
        target=_LIB + "average_absolute_error",
        summary="average absolute error of predicted grades",
    ),
    _metric(
        "macro_aae",
        "macro AAE",
        -1,
        "ordinal",
        target=_LIB + "macro_average_absolute_error",
        summary="average absolute error of each grade, averaged over the grades",
    ),
    _metric(
        "zero_one",
        "0-1 error",
        -1,
        "ordinal",
        target=_LIB + "zero_one_error",
        summary="share of the rows whose grade is not predicted exactly",
    ),
    _metric(
        "ndcg",
        "NDCG",
        1,
        "ranking",
        target=_LIB + "thesis_ndcg",
        summary="discounted cumulative gain, normalised as in the thesis, mean over queries",
    ),
    _metric(
        "ndcg_10",
        "NDCG@10",
        1,
        "ranking",
        target=_RUN + "ndcg_10",
        summary="the same of the first ten of each query",
    ),
    _metric(
        "letor_ndcg_10",
        "NDCG@10 (LETOR)",
        1,
        "ranking",
        target=_RUN + "letor_ndcg_10",
        summary="that of LETOR's evaluation tool, of the first ten",
    ),
    _metric(
        "letor_mean_ndcg",
        "mean NDCG (LETOR)",
        1,
        "ranking",
        target=_LIB + "letor_mean_ndcg",
        summary="that of LETOR's evaluation tool, averaged over all lengths of the list",
    ),
    _metric(
        "complexity",
        "complexity",
        -1,
        "rademacher_complexity",
        summary="estimate of the Rademacher complexity of the class on the training part",
    ),
    _metric(
        "complexity_bound",
        "bound",
        -1,
        "rademacher_complexity",
        summary="bound on that complexity",
    ),
    _metric(
        "printed_bound",
        "bound as printed",
        -1,
        "rademacher_complexity",
        summary="that bound as the thesis prints it",
    ),
    _metric(
        "complexity_share",
        "complexity / bound",
        -1,
        "rademacher_complexity",
        summary="the estimate divided by the bound",
    ),
    _metric(
        "regret",
        "regret",
        -1,
        "regret",
        summary="loss of OLP on all pairs, less that of the best fixed weights",
    ),
    _metric(
        "regret_per_round",
        "regret per round",
        -1,
        "regret",
        summary="that regret divided by the number of rounds",
    ),
    _metric(
        "buffer_regret",
        "regret, buffer",
        -1,
        "regret",
        summary="regret on the pairs with points in the buffer alone",
    ),
    _metric("n_samples", "rows", 0, "dataset_statistics", summary="number of rows of the data"),
    _metric(
        "n_features", "columns", 0, "dataset_statistics", summary="number of columns of the data"
    ),
    _metric(
        "gram_error",
        "mean |K − ZZᵀ|",
        -1,
        "kernel_approximation",
        summary="mean absolute error of an entry of the Gram matrix of features",
    ),
    _metric(
        "relative_gram_error",
        "‖K − ZZᵀ‖ / ‖K‖",
        -1,
        "kernel_approximation",
        summary="norm of the error of the Gram matrix, divided by that of the matrix",
    ),
    _metric(
        "fit_seconds",
        "fit s",
        -1,
        *SUPERVISED,
        "kernel_approximation",
        summary="seconds of the final fit, without choosing parameters",
    ),
    _metric(
        "fit_cpu_seconds",
        "fit cpu s",
        -1,
        *SUPERVISED,
        summary="processor seconds of the final fit, of all threads",
    ),
    _metric(
        FIT_MEMORY,
        "fit MB",
        -1,
        *SUPERVISED,
        named=True,
        summary="most memory that a fit takes, in MB, in a process of its own",
    ),
    _metric(
        "predict_seconds",
        "predict s",
        -1,
        *SUPERVISED,
        summary="seconds of predicting the test part",
    ),
    _metric(
        "predict_cpu_seconds",
        "predict cpu s",
        -1,
        *SUPERVISED,
        summary="processor seconds of predicting the test part",
    ),
    _metric(
        "native_predict_seconds",
        "predict s (LIBSVM)",
        -1,
        *SUPERVISED,
        summary="seconds of predicting it by LIBSVM's own code, row by row",
    ),
    _metric(
        "select_seconds",
        "select s",
        -1,
        *SUPERVISED,
        summary="seconds of choosing the parameters under `select`",
    ),
    _metric(
        "selection_score",
        "held-out score",
        1,
        *SUPERVISED,
        summary="score of the chosen parameters on the held-out rows",
    ),
    _metric(
        "estimate_seconds",
        "estimate s",
        -1,
        "rademacher_complexity",
        "regret",
        summary="seconds of estimating a complexity or regret",
    ),
    _metric(
        "transform_seconds",
        "transform s",
        -1,
        "kernel_approximation",
        summary="seconds of computing features of the test part",
    ),
    _metric(
        "n_support",
        "support vectors",
        -1,
        *SUPERVISED,
        summary="number of training points that a prediction needs",
    ),
    _metric(
        "n_similarities",
        "similarities",
        -1,
        *SUPERVISED,
        summary="number of training points that a prediction compares a point with",
    ),
    _metric(
        "comparisons",
        "comparisons",
        -1,
        *SUPERVISED,
        summary="values of a similarity that the prediction of a point takes",
    ),
    _metric(
        "fit_comparisons",
        "fit comparisons",
        -1,
        *SUPERVISED,
        summary="values of a similarity that the fit asks for",
    ),
    _metric(
        "comparison_seconds",
        "comparison s",
        -1,
        *SUPERVISED,
        summary="processor seconds that the comparisons of a point take",
    ),
)
