"""Estimators by their dotted names, kernels in them, pipelines and scorers."""

import json

import numpy as np
import pytest
from sklearn.metrics import get_scorer_names

from kernlearn.config import load_config
from kernlearn.config.libraries import PACKAGES, VARIABLE, name_fault, sklearn_estimators
from kernlearn.config.registry import BUILT_IN
from kernlearn.config.scorers import SCORERS, SINCE_1_8, has_1_8
from kernlearn.engine import make_plan, run_plan
from kernlearn.engine.trial import run_trial
from kernlearn.exceptions import ConfigError
from kernlearn.store import Store

CONFIG = """\
title: t
datasets: {iris: {classes: [versicolor, virginica]}}
methods:
  m: {METHOD}
metrics: [accuracy]
protocol: {splits: 1, scale: [zscore], seed: 3}
"""


@pytest.fixture
def load(tmp_path):
    def call(method, **changes):
        text = CONFIG.replace("{METHOD}", method)
        for old, new in changes.values():
            assert old in text
            text = text.replace(old, new)
        path = tmp_path / "c.yaml"
        path.write_text(text)
        return load_config(path)

    return call


@pytest.fixture
def trials(load):
    def call(method, **changes):
        return make_plan(load(method, **changes)).trials

    return call


def run(trial):
    return run_trial(trial).metrics


def test_any_estimator_of_scikit_learn_runs_by_its_dotted_name(trials):
    name = "sklearn.ensemble.HistGradientBoostingClassifier"
    found = trials(f"{{estimator: {name}, max_iter: [2, 3], max_leaf_nodes: {{select: [3, 5]}}}}")
    assert [t.labels["max_iter"] for t in found] == [2, 3]
    assert found[0].spec.method.name == name
    outcome = run_trial(found[1])
    assert outcome.metrics["accuracy"] > 0.8
    assert outcome.info["selected"].keys() == {"max_leaf_nodes"}


def test_a_dotted_name_of_a_registered_class_is_that_class(trials):
    for dotted, name in (
        ("sklearn.linear_model.LogisticRegression", "LogisticRegression"),
        ("kernlearn.landmarks.BBSClassifier", "BBSClassifier"),
    ):
        (same,), (other,) = trials(f"{{estimator: {dotted}}}"), trials(f"{{estimator: {name}}}")
        assert same.key == other.key


@pytest.mark.parametrize(
    ("estimator", "words"),
    [
        ("HistGradientBoostingClassifier", "'sklearn.ensemble.HistGradientBoostingClassifier'"),
        ("histgradientboostingclasifier", "'sklearn.ensemble.HistGradientBoostingClassifier'"),
        ("KernelSVN", "did you mean 'KernelSVM'?"),
        ("sklearn.svm.NuSVCC", "sklearn.svm has no NuSVCC; did you mean 'sklearn.svm.NuSVC'?"),
        ("sklearn.forest.RandomForestClassifier", "'sklearn.ensemble.RandomForestClassifier'"),
        ("sklearn.metrics.f1_score", "is no estimator: a class with fit, get_params"),
        ("os.path", "the package os is not among those that configs may use"),
        ("sklearn._config.os", "a dotted name is package.module.Class"),
        ("xgboost.XGBClassifier", "is not installed: pip install xgboost"),
    ],
)
def test_an_unknown_estimator_is_told_with_its_dotted_name(load, estimator, words):
    with pytest.raises(ConfigError) as caught:
        load(f"{{estimator: {estimator}}}")
    assert words in str(caught.value)


def test_dotted_names_of_scikit_learn_exist():
    names = sklearn_estimators().values()
    assert len(names) > 180
    assert [name for name in names if name_fault(name, PACKAGES)] == []


def test_the_user_allows_further_packages(load, tmp_path, monkeypatch):
    (tmp_path / "my_models.py").write_text(
        "from sklearn.dummy import DummyClassifier\nclass Mine(DummyClassifier): pass\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ConfigError, match=f"{VARIABLE}=my_models adds it"):
        load("{estimator: my_models.Mine}")
    monkeypatch.setenv(VARIABLE, "other, my_models")
    (trial,) = make_plan(load("{estimator: my_models.Mine, strategy: prior}")).trials
    monkeypatch.delenv(VARIABLE)  # a worker elsewhere
    assert "accuracy" in run(trial)


def test_parameters_of_an_estimator_by_its_dotted_name_are_checked(load):
    with pytest.raises(ConfigError, match=r"has no such parameter; did you mean 'max_iter'\?"):
        load("{estimator: sklearn.svm.LinearSVC, max_itr: 3}")
    with pytest.raises(
        ConfigError, match=r"c.yaml:4: methods.m.C: The 'C' parameter of LinearSVC"
    ):
        load("{estimator: sklearn.svm.LinearSVC, C: {select: [1, -1]}}")
    with pytest.raises(ConfigError, match=r"cannot be made: .*missing .*'estimators'"):
        load("{estimator: sklearn.ensemble.VotingClassifier}")
    # joblib's folders hold pickles
    with pytest.raises(ConfigError, match=r"memory: .* has no such parameter"):
        load("{estimator: sklearn.cluster.FeatureAgglomeration, memory: /tmp/x}")


WIDTHS = "C: {select: [1, 10]}"


@pytest.mark.parametrize("estimator", ["SVC", "sklearn.svm.NuSVC"])
def test_a_kernel_is_a_parameter_of_an_estimator_of_scikit_learn(trials, estimator):
    own = "nu: 0.3" if "Nu" in estimator else WIDTHS
    kernel = "kernel: {kernel: gaussian, sigma: mean_distance}"
    (trial,) = trials(f"{{estimator: {estimator}, {kernel}, {own}}}")
    assert run(trial)["accuracy"] > 0.8
    grid = "kernel: {kernel: laplacian}, kernel__sigma: {select: [0.001, 2.0]}"
    (trial,) = trials(f"{{estimator: {estimator}, {grid}, {own}}}")
    assert run_trial(trial).info["selected"]["kernel__sigma"] == 2.0


def test_a_kernel_as_a_parameter_gives_what_one_of_the_section_gives(trials):
    kernels = ("methods:", "kernels: {g: {kernel: gaussian, sigma: mean_distance}}\nmethods:")
    (one,) = trials("{estimator: SVC, C: 1}", kernels=kernels)
    (other,) = trials("{estimator: SVC, C: 1, kernel: {kernel: gaussian}}")
    for name in ("accuracy", "n_support"):
        assert run(one)[name] == run(other)[name]


REGRESSION = {
    "task": ("title: t", "title: t\ntask: regression"),
    "data": ("iris: {classes: [versicolor, virginica]}", "abalone: {sample: 120}"),
    "metrics": ("[accuracy]", "[mse, r2, root_mean_squared_error, neg_mean_absolute_error]"),
}


@pytest.mark.data
@pytest.mark.parametrize(
    "estimator", ["SVR", "KernelRidge", "sklearn.gaussian_process.GaussianProcessRegressor"]
)
def test_regressors_take_kernels_as_parameters(trials, estimator):
    method = f"{{estimator: {estimator}, kernel: {{kernel: gaussian}}}}"
    (trial,) = trials(method, **REGRESSION)
    found = run(trial)
    assert found["root_mean_squared_error"] == pytest.approx(found["mse"] ** 0.5)
    assert found["neg_mean_absolute_error"] == -found["mae"]


@pytest.mark.data
def test_kernel_ridge_runs_with_the_kernels_of_the_config(trials):
    kernels = ("methods:", "kernels: {g: {kernel: gaussian}}\nmethods:")
    (one,) = trials("{estimator: KernelRidge}", kernels=kernels, **REGRESSION)
    (other,) = trials("{estimator: KernelRidge, kernel: {kernel: gaussian}}", **REGRESSION)
    assert run(one)["mse"] == pytest.approx(run(other)["mse"])


def test_candidates_of_a_selection_may_be_kernels(trials):
    (trial,) = trials(
        "{estimator: SVC, kernel: {select: [{kernel: gaussian, sigma: 0.001}, {kernel: linear}]}}"
    )
    outcome = run_trial(trial)
    assert outcome.info["selected"] == {"kernel": {"kernel": "linear"}}
    assert outcome.metrics["accuracy"] > 0.8
    json.dumps(outcome.info)


def test_an_estimator_that_takes_no_kernel_refuses_one(load):
    with pytest.raises(ConfigError, match="The 'kernel' parameter of KernelDensity must be"):
        load("{estimator: sklearn.neighbors.KernelDensity, kernel: {kernel: gaussian}}")


PIPELINE = """
    steps:
      - sklearn.preprocessing.StandardScaler
      - {estimator: sklearn.decomposition.PCA, name: axes, n_components: [1, 2]}
      - {estimator: SVC, kernel: {kernel: gaussian}, C: {select: [1, 10]}, kernel__sigma: 1.0}"""


def test_a_pipeline_has_the_parameters_of_its_steps(trials):
    found = trials(PIPELINE)
    assert [t.labels["axes__n_components"] for t in found] == [1, 2]
    spec = found[0].spec.method
    assert [step["step"] for step in spec.steps] == ["standardscaler", "axes", "svc"]
    assert spec.parameters["svc__kernel"] == {"kernel": "gaussian"}
    outcome = run_trial(found[1])
    assert outcome.info["selected"].keys() == {"svc__C"}
    assert outcome.metrics["accuracy"] > 0.7
    # another key than that of the same method with another step
    assert found[0].key != trials(PIPELINE.replace("StandardScaler", "MinMaxScaler"))[0].key


def test_a_step_sees_what_the_steps_before_it_make(trials):
    # the width of the kernel is learnt behind the scaler
    method = "\n    steps: [{}{{estimator: SVC, kernel: {{kernel: gaussian}}}}]"
    unscaled = ("scale: [zscore], ", "")
    (one,) = trials(method.format("sklearn.preprocessing.StandardScaler, "), scale=unscaled)
    (other,) = trials("{estimator: SVC, kernel: {kernel: gaussian}}")
    assert run(one)["n_support"] == run(other)["n_support"]


@pytest.mark.parametrize(
    ("steps", "words"),
    [
        ("[LinearSVM, SVC]", "steps.1: SVC needs a kernel: give the step one"),
        ("[LinearSVM, LinearSVM]", "LinearSVM has no method transform"),
        ("[sklearn.decomposition.PCA]", "PCA has no method predict"),
        ("[{estimator: LinearSVM, C: -1}]", "c.yaml:4: methods.m.steps.0.C: The 'C' parameter"),
        ("[{estimator: LinearSVM, CC: 1}]", "methods.m.steps.0.CC: LinearSVM has no such param"),
        ("[LinearSVN]", "methods.m.steps.0.estimator: no estimator 'LinearSVN'; did you mean"),
        ("[LinearSVM], estimator: SVC", "give estimator or steps"),
        ("[LinearSVM], C: 3", "methods.m.C: is no key beside steps"),
        ("[{estimator: LinearSVM, name: a__b}]", "methods.m.steps.0.name: 'a__b'"),
        ("[]", "methods.m.steps: "),
    ],
)
def test_faults_of_steps_are_told_with_their_place(load, steps, words):
    with pytest.raises(ConfigError) as caught:
        load(f"{{steps: {steps}}}")
    assert words in str(caught.value)


def test_steps_of_one_class_are_numbered(trials):
    scaler = "sklearn.preprocessing.StandardScaler"
    (trial,) = trials(f"{{steps: [{scaler}, {scaler}, LinearSVM]}}")
    labels = [step["step"] for step in trial.spec.method.steps]
    assert labels == ["standardscaler-1", "standardscaler-2", "linearsvm"]
    assert run(trial)["accuracy"] > 0.8


def test_steps_are_seeded(trials):
    forest = "{estimator: sklearn.ensemble.RandomForestClassifier, n_estimators: 3}"
    (trial,) = trials(f"{{steps: [sklearn.preprocessing.StandardScaler, {forest}]}}")
    assert run(trial)["accuracy"] == run(trial)["accuracy"]
    assert BUILT_IN.packages == ()


def test_scorers_are_those_of_scikit_learn():
    names = {metric.scorer for metric in SCORERS.values()}
    missing = names - set(get_scorer_names())
    assert missing == (set() if has_1_8() else set(SINCE_1_8))
    rest = set(get_scorer_names()) - names - {"accuracy"}
    # of clusterings and of several labels per row
    assert all(n.endswith(("_samples", "_score", "_index")) for n in rest), rest


def test_scorers_of_a_newer_scikit_learn_are_refused(trials, monkeypatch):
    monkeypatch.setattr("kernlearn.config.scorers.version", lambda name: "1.7.2")
    with pytest.raises(ConfigError, match=r"d2_brier_score needs scikit-learn 1\.8 or newer"):
        trials("{estimator: LogisticRegression}", metrics=("[accuracy]", "[d2_brier_score]"))


def test_scorers_are_metrics(trials):
    names = "accuracy, f1, balanced_accuracy, roc_auc, neg_log_loss, log_loss"
    metrics = ("[accuracy]", f"[{names}]")
    (trial,) = trials("{estimator: LogisticRegression}", metrics=metrics)
    (plain,) = trials("{estimator: LogisticRegression}")
    assert plain.key != trial.key
    found = run(trial)
    assert found["neg_log_loss"] == -found["log_loss"]
    assert found["accuracy"] == run(plain)["accuracy"]
    assert found["roc_auc"] > 0.95
    assert BUILT_IN.better("f1") == 1
    assert BUILT_IN.better("log_loss") == -1


def test_scorers_judge_the_grades_of_ordinal_regression(trials):
    changes = {
        "task": ("title: t", "title: t\ntask: ordinal"),
        "metrics": ("[accuracy]", "[zero_one, f1_macro]"),
        "data": ("{classes: [versicolor, virginica]}", "{}"),
    }
    (trial,) = trials("{estimator: Ridge}", **changes)
    found = run(trial)
    assert 0.5 < found["f1_macro"] <= 1 - found["zero_one"] + 0.1


def test_a_scorer_is_not_for_a_grid_that_is_chosen_by_mean(load):
    folds = ("seed: 3", "folds: 5, select_by_mean: true")
    metrics = ("[accuracy]", "[accuracy, f1]")
    with pytest.raises(ConfigError, match="f1 cannot be measured with select_by_mean"):
        load(f"{{estimator: LinearSVM, {WIDTHS}}}", folds=folds, metrics=metrics)


SPARSE = """\
title: t
datasets: {d: {file: data.libsvm}}
methods: {m: {estimator: sklearn.ensemble.HistGradientBoostingClassifier, max_iter: 2}}
metrics: [accuracy]
protocol: {splits: 1}
"""


def test_an_estimator_that_refuses_sparse_data_gets_it_dense(tmp_path):
    rng = np.random.default_rng(0)
    rows = [f"{i % 2} {rng.integers(1, 30)}:1 {31 + i % 2}:1" for i in range(80)]
    (tmp_path / "data.libsvm").write_text("\n".join(rows) + "\n")
    path = tmp_path / "c.yaml"
    path.write_text(SPARSE)
    (trial,) = make_plan(load_config(path)).trials
    with pytest.raises(ValueError, match="give the method `dense: true`"):
        run(trial)
    path.write_text(SPARSE.replace("max_iter: 2", "max_iter: 2, dense: true"))
    (dense,) = make_plan(load_config(path)).trials
    assert dense.key != trial.key
    assert "accuracy" in run(dense)


def test_results_of_a_pipeline_are_kept_and_shown(load, tmp_path):
    plan = make_plan(load(PIPELINE, metrics=("[accuracy]", "[accuracy, f1]")))
    with Store(tmp_path / "s.sqlite") as store:
        assert run_plan(plan, store).done == 2
        assert run_plan(plan, store).cached == 2


def test_experimental_estimators_have_no_names():
    # what another import has enabled in this process changes nothing
    import sklearn.experimental.enable_halving_search_cv  # noqa: F401

    assert not [name for name in sklearn_estimators() if "Halving" in name]
