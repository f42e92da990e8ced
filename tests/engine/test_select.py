from dataclasses import replace
from typing import ClassVar

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.metrics import f1_score
from sklearn.model_selection import ParameterGrid
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from kernlearn.config.model import Protocol
from kernlearn.config.names import BUILT_IN
from kernlearn.datasets import two_moons
from kernlearn.engine import run_plan, search
from kernlearn.engine.build import build_estimator, load_parts
from kernlearn.engine.preparation import Parts, prepare
from kernlearn.engine.search import measure_grid
from kernlearn.engine.splits import generator
from kernlearn.engine.tasks import BIPARTITE_RANKING, CLASSIFICATION, Predictions
from kernlearn.engine.trial import run_trial
from kernlearn.kernels import PolynomialKernel
from kernlearn.landmarks import BBSClassifier, FTuneClassifier, RegLand
from kernlearn.store import Row, Store, chosen_by_mean
from kernlearn.svm import KernelSVM
from kernlearn.voted import L1SVMClassifier

FOLDS = """\
title: t
datasets: {moons: {generator: two_moons, n_samples: 100, noise: 0.3}}
methods:
  SVM: {estimator: SVC, kernel: rbf, gamma: {select: [0.01, 1, 100]}, C: {select: [0.1, 10]}}
  L1-SVM:
    estimator: L1SVMClassifier
    kernel: {kernel: polynomial, coef0: 1}
    kernel__degree: {select: [1, 3]}
    beta: {select: [0.1, 0.001]}
  first: {estimator: DummyClassifier}
protocol: {folds: 5, splits: 5, select_by_mean: true, seed: 1}
metrics: [error_percent, n_support]
"""


@pytest.fixture
def parts() -> Parts:
    data = two_moons(90, noise=0.3, random_state=0)
    return prepare(data, data.target, Protocol(folds=3), 0)


def test_every_point_is_measured(parts):
    grid = {"gamma": [0.1, 10.0], "C": [1.0, 100.0]}
    found = measure_grid(SVC(), list(ParameterGrid(grid)), parts, CLASSIFICATION)
    assert [point["parameters"] for point in found] == list(ParameterGrid(grid))
    for point in found:
        model = SVC(**point["parameters"]).fit(parts.train.X, parts.train.y)
        assert point["score"] == np.mean(model.predict(parts.val.X) == parts.val.y)
        assert point["metrics"]["accuracy"] == model.score(parts.test.X, parts.test.y)
        assert point["metrics"]["n_support"] == model.n_support_.sum()


def test_a_path_gives_what_single_fits_do(parts):
    model = L1SVMClassifier(PolynomialKernel())
    grid = {"kernel__degree": [1, 4], "beta": [0.1, 0.01]}
    found = measure_grid(model, list(ParameterGrid(grid)), parts, CLASSIFICATION)
    points = [(p["parameters"]["kernel__degree"], p["parameters"]["beta"]) for p in found]
    assert sorted(points) == [(1, 0.01), (1, 0.1), (4, 0.01), (4, 0.1)]
    for point in found:
        alone = clone(model).set_params(**point["parameters"]).fit(parts.train.X, parts.train.y)
        assert point["score"] == alone.score(parts.val.X, parts.val.y)
        assert point["metrics"]["accuracy"] == alone.score(parts.test.X, parts.test.y)
        assert point["metrics"]["n_support"] == alone.n_support_


NESTED = """\
title: t
datasets: {moons: {generator: two_moons, n_samples: 90, noise: 0.3}}
methods:
  L1-SVM:
    {estimator: L1SVMClassifier, kernel: {kernel: polynomial}, kernel__degree: {select: [1, 4]},
     beta: {select: [1, 0.1, 0.001]}}
  L2-SVM:
    {estimator: KernelSVM, solver: interior_point, kernel: poly, gamma: 1,
     degree: {select: [1, 4]}, C: {select: [0.01, 1, 100]}}
protocol: {folds: 3, splits: 3, seed: 1}
metrics: [accuracy]
"""


@pytest.mark.parametrize("place", [0, 1])
def test_a_split_chooses_from_a_grid_along_the_path(parts, planned, monkeypatch, place):
    trial = planned(NESTED).trials[3 * place]
    models = [
        L1SVMClassifier(PolynomialKernel()),
        KernelSVM(solver="interior_point", kernel="poly", gamma=1),
    ]
    model, grid = models[place], dict(trial.spec.method.select)
    slow = []
    for point in ParameterGrid(grid):
        alone = clone(model).set_params(**point).fit(parts.train.X, parts.train.y)
        error = 1 - alone.score(parts.val.X, parts.val.y)
        slow.append((error, np.sum(alone.n_support_), point))
    with monkeypatch.context() as patched:
        patched.setattr(search, "fit_given", None)  # no point is fitted by itself
        chosen = search.select(model, parts, trial, CLASSIFICATION, BUILT_IN).parameters
    (found,) = [one for one in slow if one[2] == chosen]
    # the least error, and of equals the fewest support vectors
    assert found[:2] == min(one[:2] for one in slow)
    assert len({one[0] for one in slow}) > 1


def selecting(trial, grid):
    """The same trial with another grid."""
    method = replace(trial.spec.method, select=grid)
    return replace(trial, spec=replace(trial.spec, method=method))


class CountedScaler(StandardScaler):
    """Counts its fits."""

    n_fits = 0

    def fit(self, X, y=None, sample_weight=None):
        CountedScaler.n_fits += 1
        return super().fit(X, y)


@pytest.mark.parametrize("output", ["predict", "decision_function"])
def test_steps_of_a_pipeline_are_fitted_once_for_all_values_of_the_last(output, parts, planned):
    svm = {"svc__C": [0.1, 3.0, 50.0], "svc__gamma": [0.1, 2.0]}
    grid = {**svm, "scaler__with_std": [True, False]}
    trial = selecting(planned(NESTED).trials[0], grid)
    task = CLASSIFICATION if output == "predict" else BIPARTITE_RANKING
    model = Pipeline([("scaler", CountedScaler()), ("svc", SVC())])
    scores = {}
    for point in ParameterGrid(grid):
        alone = clone(model).set_params(**point).fit(parts.train.X, parts.train.y)
        predicted = getattr(alone, output)(parts.val.X)
        scores[str(point)] = task.score(Predictions(parts.val, predicted))
    CountedScaler.n_fits = 0
    selection = search.select(model, parts, trial, task, BUILT_IN)
    chosen = selection.parameters
    assert CountedScaler.n_fits == 2
    assert len(set(scores.values())) > 1
    # the first of the best in the order of the grid
    assert str(chosen) == max(scores, key=scores.get)
    # a list of numbers is open where its last value is chosen and better than the one before
    for name, values in svm.items():
        side = {values[0]: "low", values[-1]: "high"}.get(chosen[name])
        near = values[1 if side == "low" else -2]
        rises = side and scores[str({**chosen, name: near})] < selection.score
        assert selection.open_ends.get(name) == (side if rises else None)


@pytest.mark.parametrize(
    ("scores", "ends"),
    [
        ([0.5, 0.6, 0.7], {"C": "high"}),
        ([0.7, 0.6, 0.5], {"C": "low"}),
        ([0.5, 0.7, 0.7 + 1e-9], {}),  # nothing is gained at the end
    ],
)
def test_an_end_is_open_where_the_score_still_rises(scores, ends):
    points = [{"C": C, "loss": "hinge", "dual": True} for C in (1, 10, 100)]
    grid = {"C": [1, 10, 100], "loss": ["hinge"], "dual": [True]}
    assert search.open_ends(grid, points, np.array(scores), int(np.argmax(scores))) == ends


@pytest.mark.parametrize("Cs", [(1e-9, 1e-3), (1e-3, 1e-1, 1e9), (10, 100)])
@pytest.mark.parametrize("model", [BBSClassifier(20), FTuneClassifier(20), RegLand(20)])
def test_what_an_estimator_chooses_by_itself_has_open_ends(parts, model, Cs):
    fitted = clone(model).set_params(C=Cs, random_state=0).fit(parts.train.X, parts.train.y)
    found = search.chosen_inside(fitted)
    assert found["selected"].get("C") in (fitted.C_, None)
    axes, scores = [*fitted.grid_], fitted.validation_scores_
    each = scores if scores.ndim > len(axes) else scores[None]  # one problem of two classes
    along = np.reshape(np.moveaxis(each[0], axes.index("C"), 0), (len(Cs), -1))
    row = Cs.index(*np.ravel(fitted.C_))
    at = along[:, along[row].argmax()]
    ends = {0: ("low", at[row] > at[1]), len(Cs) - 1: ("high", at[row] > at[-2])}
    side, rises = ends.get(row, ("", False))
    assert found["open_ends"].get("C") == (side if rises else None)


@pytest.mark.parametrize(
    ("n_points", "n_rows", "sizes"),
    [(9, 16_000, [1777, 5333, 16_000]), (9, 2500, [2500]), (8, 16_000, [5333, 16_000])],
)
def test_rounds_of_halving(n_points, n_rows, sizes):
    assert search.round_sizes(n_points, n_rows) == sizes


@given(st.integers(1, 60), st.lists(st.integers(0, 20), min_size=60, max_size=60))
def test_a_round_trains_on_every_class(size, y):
    order = np.random.default_rng(0).permutation(60)
    rows = search.enough_rows(order, size, np.array(y))
    assert rows[:size].tolist() == order[:size].tolist()
    assert len(set(rows)) == len(rows) <= size + len(set(y))
    if len(set(y)) < size:
        assert {y[row] for row in rows} == set(y)


class CountedSVC(SVC):
    """Notes the numbers of rows that it is fitted on, with C."""

    tried: ClassVar[list[tuple[int, float]]] = []

    def fit(self, X, y, sample_weight=None):
        CountedSVC.tried.append((len(y), self.C))
        return super().fit(X, y, sample_weight)


@pytest.mark.parametrize("in_pipeline", [False, True])
def test_the_best_third_goes_on_to_more_rows(in_pipeline, parts, planned, monkeypatch):
    monkeypatch.setattr(search, "_LEAST_ROWS", 3)
    Cs, model, prefix = [10.0**k for k in range(4, -5, -1)], CountedSVC(), ""
    if in_pipeline:
        model, prefix = Pipeline([("s", StandardScaler()), ("svc", model)]), "svc__"
    plan = planned(NESTED, ("splits: 3", "splits: 3, search: halving"))
    trial = selecting(plan.trials[0], {f"{prefix}C": Cs})
    CountedSVC.tried.clear()
    chosen = search.select(model, parts, trial, CLASSIFICATION, BUILT_IN)
    tried = list(CountedSVC.tried)
    # written out: nine values, the best three, the best one
    n, left = len(parts.train.y), Cs
    order = generator(1, "search", trial.split).permutation(n)
    expected = []
    for size in (n // 9, n // 3):
        rows, scores = search.enough_rows(order, size, parts.train.y), {}
        for C in left:
            one = clone(model).set_params(**{f"{prefix}C": C})
            one.fit(parts.train.X[rows], parts.train.y[rows])
            scores[C] = one.score(parts.val.X, parts.val.y)
            expected.append((len(rows), C))
        kept = sorted(left, key=lambda C: -scores[C])[: len(left) // 3]
        left = [C for C in left if C in kept]
    assert tried == expected
    assert chosen.parameters == {f"{prefix}C": left[0]}
    assert chosen.score == scores[left[0]]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_points_whose_solver_stopped_early_say_so(parts):
    found = measure_grid(SVC(max_iter=20), [{"C": 0.001}, {"C": 1000.0}], parts, CLASSIFICATION)
    assert [point.get("converged", True) for point in found] == [True, False]
    model = L1SVMClassifier("gaussian", max_iter=1)
    found = measure_grid(model, [{"beta": 100.0}, {"beta": 1e-5}], parts, CLASSIFICATION)
    assert [point.get("converged", True) for point in found] == [True, False]


def test_the_best_mean_over_the_splits_is_taken(planned):
    plan = planned(FOLDS)

    def point(parameters, score, n_support):
        metrics = {"error_percent": 100 - score, "n_support": n_support}
        return {"parameters": parameters, "score": score, "metrics": metrics}

    # b is never the best of a split, but in the mean; c is as good and needs fewer points
    scores = {"a": (99, 0, 99, 0, 99), "b": (80, 80, 80, 80, 80), "c": (90, 70, 80, 90, 70)}
    scores["d"] = (0, 99, 0, 99, 0)
    results = {}
    for trial in plan.trials:
        split = trial.split
        sizes = {"c": 5}
        grid = [point({"p": p}, of[split], sizes.get(p, 9)) for p, of in scores.items()]
        info = {"grid": grid} if trial.labels["method"] == "SVM" else {}
        results[trial.key] = Row(trial.key, metrics={"error_percent": 50.0}, info=info)
    found = chosen_by_mean(results)
    for trial in plan.trials:
        result = found[trial.key]
        if trial.labels["method"] == "SVM":
            assert result.info["selected"] == {"p": "c"}
            assert result.metrics["error_percent"] == 100 - scores["c"][trial.split]
        else:
            assert result is results[trial.key]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_choice_in_several_processes_is_the_same(planned, tmp_path, monkeypatch):
    protocol = "protocol: {splits: 1, seed: 1}\nmetrics: [accuracy]\n"
    text = FOLDS.partition("  L1-SVM:")[0] + protocol
    plan = planned(text, ("estimator: SVC,", "estimator: SVC, max_iter: 12,"))
    found = []
    for seconds in (np.inf, -1.0):
        monkeypatch.setattr(search, "_LONG_FIT", seconds)
        with Store(tmp_path / f"{seconds}.sqlite") as store:
            run_plan(plan, store)
            (result,) = store.get(t.key for t in plan.trials).values()
        info = result.info
        found.append((info["selected"], result.metrics["accuracy"], info["warnings"]))
    assert found[0] == found[1]
    assert found[0][2]


UNBALANCED = """\
title: t
datasets: {wine: {}}
methods:
  k-NN: {estimator: KNeighborsClassifier, n_neighbors: {select: [1, 5, 41]}}
protocol: {splits: 3}
metrics: [accuracy, f1_macro]
"""


@pytest.mark.parametrize(
    "change",
    [
        ("[accuracy, f1_macro]", "[f1_macro, accuracy]"),
        ("splits: 3", "splits: 3, select_by: f1_macro"),
    ],
)
def test_parameters_are_chosen_by_a_metric(planned, change):
    """By the first of `metrics`, or the one asked for."""
    assert planned(UNBALANCED).trials[0].spec.protocol.select_by is None
    plan = planned(UNBALANCED, change)
    assert plan.trials[0].spec.protocol.select_by == "f1_macro"
    for trial in plan.trials:
        _, parts = load_parts(trial, BUILT_IN, CLASSIFICATION.target, {})
        parts, scores = search.with_validation(parts, trial), {}
        for k in (1, 5, 41):
            model = KNeighborsClassifier(k).fit(parts.train.X, parts.train.y)
            scores[k] = f1_score(parts.val.y, model.predict(parts.val.X), average="macro")
        outcome = run_trial(trial)
        assert outcome.metrics["selection_score"] == pytest.approx(max(scores.values()))
        assert outcome.info["selected"] == {"n_neighbors": max(scores, key=scores.get)}
    # what chooses by itself does so by the same score
    method = "KNeighborsClassifier, n_neighbors: {select: [1, 5, 41]}"
    (own, *_) = planned(UNBALANCED, change, (method, "BBSClassifier")).trials
    assert build_estimator(own, BUILT_IN, None).scoring == "f1_macro"
