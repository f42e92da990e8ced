"""Data sets, kernels and methods: values of parameters, names, pipelines, and what fits a task."""

import json

import numpy as np
import pytest
from sklearn.decomposition import KernelPCA
from sklearn.kernel_ridge import KernelRidge
from sklearn.metrics import get_scorer_names

from kernlearn.config.model import Protocol
from kernlearn.config.names import BUILT_IN, METRICS, SCORERS, SUPERVISED, TASKS
from kernlearn.config.values import Value, unfold, varied
from kernlearn.engine.trial import run_trial
from kernlearn.kernels import GaussianKernel
from kernlearn.kernels.functions import OnKernel
from tests.engine.conftest import card


def parsed(**values):
    return {name: Value.parse(value) for name, value in values.items()}


def test_lists_multiply_and_select_stays_a_grid():
    variants = unfold(parsed(a=[1, 2], b=3, c={"select": [4, 5]}, d=["x", "y"]))
    expected = [{"a": a, "b": 3, "d": d} for a in (1, 2) for d in ("x", "y")]
    assert [fixed for fixed, _ in variants] == expected
    assert all(grid == {"c": [4, 5]} for _, grid in variants)


def test_all_folds_are_tested_on_unless_fewer_splits_are_asked_for():
    assert [Protocol(folds=10).splits, Protocol(folds=10, splits=2).splits] == [10, 2]
    assert Protocol.model_validate({"folds": 10.0}).splits == 10
    assert Protocol(folds="published").splits == Protocol().splits == 5


def test_values_by_data_set_fall_back_on_the_default_and_may_unfold():
    parameters = parsed(a={"by_dataset": {"x": [1, 2], "default": {"select": [3, 4]}}})
    assert unfold(parameters, "x") == [({"a": 1}, {}), ({"a": 2}, {})]
    assert unfold(parameters, "other") == [({}, {"a": [3, 4]})]
    assert parameters["a"].candidates == [1, 2, 3, 4]


def test_a_value_that_is_a_list_is_written_as_a_list_of_lists():
    parameters = parsed(a=[[0, 1]], b=[1], c=2, d={"by_dataset": {"default": 1}})
    assert unfold(parameters)[0][0] == {"a": [0, 1], "b": 1, "c": 2, "d": 1}
    assert varied(parameters) == ["b", "d"]


CONFIG = """\
title: t
datasets: {iris: {classes: [versicolor, virginica]}}
methods:
  m: METHOD
metrics: [accuracy]
protocol: {splits: 1, scale: [zscore], seed: 3}
"""


@pytest.fixture
def trials(planned):
    return lambda method, *changes: planned(CONFIG, ("METHOD", method), *changes).trials


def run(trial):
    return run_trial(trial).metrics


def test_every_task_has_metrics_and_every_metric_a_task():
    for name, task in TASKS.items():
        assert callable(task.load()) != (name in SUPERVISED)
        assert BUILT_IN.task_metrics(name)
    for metric in METRICS.values():
        assert set(metric.tasks) <= set(TASKS)
        assert metric.target is None or callable(metric.load())


def test_scorers_are_those_of_scikit_learn():
    names = {metric.scorer for metric in SCORERS.values()}
    assert names - set(get_scorer_names()) <= {"d2_log_loss_score", "d2_brier_score"}
    rest = set(get_scorer_names()) - names - {"accuracy"}
    # of clusterings and of several labels per row
    assert all(n.endswith(("_samples", "_score", "_index")) for n in rest), rest


def test_any_estimator_of_scikit_learn_runs_by_its_dotted_name(trials):
    name = "sklearn.ensemble.HistGradientBoostingClassifier"
    planned = trials(
        f"{{estimator: {name}, max_iter: [2, 3], max_leaf_nodes: {{select: [3, 5]}}}}"
    )
    assert [t.labels["max_iter"] for t in planned] == [2, 3]
    assert planned[0].spec.method.name == name
    assert run_trial(planned[1]).info["selected"].keys() == {"max_leaf_nodes"}
    # the class of a listed estimator is that one
    for dotted in ("sklearn.linear_model.LogisticRegression", "kernlearn.landmarks.BBSClassifier"):
        same = {trials(f"{{estimator: {n}}}")[0].key for n in (dotted, dotted.split(".")[-1])}
        assert len(same) == 1


@pytest.mark.parametrize(
    ("method", "words"),
    [
        ("{estimator: histgradientboostingclasifier}", "mean 'sklearn.ensemble.HistGradientBoo"),
        ("{estimator: KernelSVM, kernel: rbff}", "methods.m.kernel: no kernel 'rbff'"),
        ("{estimator: sklearn.svm.NuSVCC}", "has no attribute 'NuSVCC'"),
        ("{estimator: sklearn.metrics.f1_score}", "is no estimator: a class with fit"),
        ("{estimator: xgboost.XGBClassifier}", "is not installed: pip install xgboost"),
        ("{estimator: os.path.Thing}", "the package os is not among those that configs may name"),
        ("{estimator: sklearn.svm.LinearSVC, C: {select: [1, -1]}}", "methods.m.C: The 'C' par"),
        ("{estimator: sklearn.ensemble.VotingClassifier}", "missing 1 required positional arg"),
        ("{estimator: sklearn.cluster.FeatureAgglomeration, memory: /x}", "no parameter 'memory'"),
        ("{estimator: sklearn.neighbors.KernelDensity, kernel: {kernel: linear}}", "The 'kernel'"),
        ("{estimator: KernelSVM, kernel: typo.typos}", "a file under `plugins` can register"),
        ("{estimator: SVC, kernel: {kernel: gaussian}, kernel__y: 1}", "methods.m.kernel__y: "),
        ("{estimator: KernelSVM}", "methods.m: KernelSVM"),
        ("{estimator: SVC, kernel: rbf, shown_as: {D: C}}", "shown_as.D:"),
        ("{steps: [LinearSVM, SVC]}", "steps.1: SVC needs a kernel"),
        ("{steps: [sklearn.decomposition.PCA]}", "PCA has no method predict"),
        ("{steps: [LinearSVM, LinearSVM]}", "methods.m.steps.0: has no method transform"),
        ("{steps: [sklearn.decomposition.PCA, Ridge]}", "Ridge predicts numbers"),
        ("{steps: [LinearSVM], estimator: SVC}", "methods.m: give an estimator, or steps"),
        ("{steps: [LinearSVM], C: 3}", "methods.m: give C to the step it belongs to"),
        ("{steps: [{estimator: LinearSVM, name: a__b}]}", "give each step a name of its own"),
    ],
)
def test_faults_of_methods(refused, method, words):
    assert words in refused(CONFIG.replace("METHOD", method))


@pytest.mark.parametrize("estimator", ["SVC", "sklearn.svm.NuSVC"])
def test_a_kernel_is_a_parameter_of_an_estimator_of_scikit_learn(trials, estimator):
    own = "nu: 0.3" if "Nu" in estimator else "C: {select: [1, 10]}"
    grid = "kernel: {kernel: laplacian}, kernel__sigma: {select: [0.001, 2.0]}"
    (trial,) = trials(f"{{estimator: {estimator}, {grid}, {own}}}")
    outcome = run_trial(trial)
    assert outcome.info["selected"]["kernel__sigma"] == 2.0
    assert outcome.metrics["accuracy"] > 0.8


def test_a_kernel_as_a_parameter_gives_what_one_of_the_section_gives(trials):
    kernels = ("methods:", "kernels: {g: {kernel: gaussian}}\nmethods:")
    (one,) = trials("{estimator: SVC, C: 1}", kernels)
    (other,) = trials("{estimator: SVC, C: 1, kernel: {kernel: gaussian}}")
    for name in ("accuracy", "n_support"):
        assert run(one)[name] == run(other)[name]
    (trial,) = trials(
        "{estimator: SVC, kernel: {select: [{kernel: gaussian, sigma: 0.001}, {kernel: linear}]}}"
    )
    outcome = run_trial(trial)
    assert outcome.info["selected"] == {"kernel": {"kernel": "linear"}}
    json.dumps(outcome.info)


def test_a_kernel_is_no_matrix_of_distances(trials, tmp_path):
    (tmp_path / "d.csv").write_text("a,b,c,d,l\n0,1,2,3,x\n1,0,1,2,y\n2,1,0,1,x\n3,2,1,0,y\n")
    data = ("iris: {classes: [versicolor, virginica]}", "d: {file: d.csv, matrix: distance}")
    with pytest.raises(ValueError, match="SVC needs a kernel"):
        run(*trials("{estimator: SVC, kernel: precomputed}", data, ("scale: [zscore], ", "")))


def test_an_estimator_on_a_kernel_predicts_as_on_the_matrix():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 3)), rng.normal(size=40)
    K = GaussianKernel(sigma=2.0)
    ridge = OnKernel(KernelRidge(alpha=0.1), GaussianKernel(sigma=1.0))
    ridge.set_params(kernel__sigma=2.0, alpha=0.5)
    expected = KernelRidge(alpha=0.5, kernel="precomputed").fit(K(X), y).predict(K(X[:5], X))
    np.testing.assert_array_equal(ridge.fit(X, y).predict(X[:5]), expected)
    components = OnKernel(KernelPCA(2), K)
    assert not hasattr(components, "predict")
    assert components.fit(X).transform(X[:5]).shape == (5, 2)


PIPELINE = """
    steps:
      - sklearn.preprocessing.StandardScaler
      - {estimator: sklearn.decomposition.PCA, name: axes, n_components: [1, 2]}
      - {estimator: SVC, kernel: {kernel: gaussian}, C: {select: [1, 10]}, kernel__sigma: 1.0}"""


def test_a_pipeline_has_the_parameters_of_its_steps(trials):
    planned = trials(PIPELINE)
    assert [t.labels["axes__n_components"] for t in planned] == [1, 2]
    spec = planned[0].spec.method
    assert [step["step"] for step in spec.steps] == ["standardscaler", "axes", "svc"]
    assert spec.parameters["svc__kernel"] == {"kernel": "gaussian"}
    outcome = run_trial(planned[1])
    assert outcome.info["selected"].keys() == {"svc__C"}
    assert outcome.metrics["accuracy"] > 0.7
    # another key than that of the same method with another step
    assert planned[0].key != trials(PIPELINE.replace("StandardScaler", "MinMaxScaler"))[0].key
    scaler = "sklearn.preprocessing.StandardScaler"
    (trial,) = trials(f"{{steps: [{scaler}, {scaler}, LinearSVM]}}")
    labels = [step["step"] for step in trial.spec.method.steps]
    assert labels == ["standardscaler-1", "standardscaler-2", "linearsvm"]


def test_scorers_are_metrics(trials):
    names = "accuracy, f1, roc_auc, neg_log_loss, log_loss"
    (trial,) = trials("{estimator: LogisticRegression}", ("[accuracy]", f"[{names}]"))
    (plain,) = trials("{estimator: LogisticRegression}")
    assert plain.key != trial.key
    metrics = run(trial)
    assert metrics["neg_log_loss"] == -metrics["log_loss"]
    assert metrics["accuracy"] == run(plain)["accuracy"]
    assert (BUILT_IN.better("f1"), BUILT_IN.better("log_loss")) == (1, -1)


def test_weights_of_classes_go_by_labels_then_by_codes(tmp_path, planned):
    rows = "".join(f"{i % 7},{['rose', 'tulip'][i % 5 == 0]}\n" for i in range(80))
    (tmp_path / "f.csv").write_text("a,kind\n" + rows)
    weights = ["{rose: 1, tulip: 9}", "{0: 1, 1: 9}", "balanced", "{tulips: 9}"]
    method = "{{estimator: LogisticRegression, class_weight: {}}}"
    methods = ", ".join(f"{i}: {method.format(w)}" for i, w in enumerate(weights))
    text = (
        f"title: t\ndatasets: {{m: {{file: f.csv}}}}\nmethods: {{{methods}}}\nmetrics: [recall]\n"
    )
    trials = planned(text + "protocol: {splits: 1}\n").trials
    recall = [run(trial)["recall"] for trial in trials[:3]]
    assert recall[0] == recall[1] > 0.5
    with pytest.raises(ValueError, match="no class tulips"):
        run_trial(trials[3])
    scope = type(BUILT_IN)(classes={"1": 0, "2": 1})
    assert scope.value("class_weight", {1: 5, 2.0: 7}) == {0: 5, 1: 7}


TASK = """\
title: t
task: classification
datasets: {d: {name: iris}}
methods: {m: {estimator: KNeighborsClassifier}}
metrics: [fit_seconds]
protocol: {splits: 1}
"""


@pytest.mark.parametrize(
    ("task", "data", "estimator", "words"),
    [
        ("regression", "name: iris", "Ridge", "iris is data for `task: classification`, not"),
        ("classification", "name: abalone", "SVC, kernel: rbf", "is data for `task: regression`"),
        ("ordinal", "name: iris, binarize: random", "Ridge", "binarize: has no effect"),
        ("ordinal", "name: abalone", "Ridge", "`bins` cuts them into grades"),
        ("ordinal", "name: iris, bins: 3", "Ridge", "bins cut numbers into grades, and"),
        ("regression", "generator: two_moons", "Ridge", "two_moons draws classes"),
        ("regression", f"file: {__file__}, matrix: distance", "RegLand", "a matrix has classes"),
        ("bipartite_ranking", "name: spambase", "KNeighborsClassifier", "decision_function"),
        ("classification", "name: iris, sheet: 1", "Ridge", "sheet: has no effect"),
        ("classification", "file: gone.csv", "Ridge", "d.file: no file 'gone.csv'"),
    ],
)
def test_what_does_not_fit_is_refused_before_data_is_read(refused, task, data, estimator, words):
    changes = [("task: classification", f"task: {task}"), ("{name: iris}", f"{{{data}}}")]
    changes += [("{estimator: KNeighborsClassifier}", f"{{estimator: {estimator}}}")]
    assert words in refused(TASK, *changes)


def test_keys_of_a_protocol_have_an_effect(refused, planned):
    strata = ("splits: 1", "splits: 1, stratify: true")
    assert planned(TASK, strata).trials
    numbers = [("task: classification", "task: regression"), ("iris", "abalone")]
    numbers += [("KNeighborsClassifier", "Ridge")]
    assert "stratify: is for classes" in refused(TASK, strata, *numbers)
    # rows of all folds but one are held out with `refit` alone
    assert planned(TASK, ("splits: 1", "folds: 3, refit: true, validation: 0.1")).trials
    assert "validation: has no effect" in refused(TASK, ("splits: 1", "folds: 3, validation: 0.1"))


FORM = """\
{files: [grades.csv], format: {kind: delimited, header: true, target: y}, rows: 40,
 classes: {"0": 20, "1": 20}}
"""


def test_a_card_beside_the_config_is_a_data_set(planned, refused, tmp_path):
    rows = "".join(f"{i},{i % 2}\n" for i in range(40))
    (tmp_path / "grades.csv").write_text("a,y\n" + rows)
    (tmp_path / "grades.yaml").write_text(card("grades", FORM))
    for entry in ("{name: grades}", "{file: grades.yaml}"):
        change = ("{name: iris}", entry)
        assert run_trial(planned(TASK, change).trials[0]).info["n_train"] == 24
    regression = [("task: classification", "task: regression"), ("KNeighborsClassifier", "Ridge")]
    assert "grades is data for `task: class" in refused(TASK, change, *regression)
    (tmp_path / "grades.yaml").write_text(card("grades", FORM.replace("rows: 40", "rows: 41")))
    assert "the counts sum to 40, rows is 41" in refused(TASK, ("name: iris", "name: grades"))
