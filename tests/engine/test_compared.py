"""Pairs compared once: the same numbers as comparing anew, from one matrix for all trials."""

from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from kernlearn.config import load_config
from kernlearn.engine import compared, make_plan, run_plan
from kernlearn.engine.compared import Comparisons, is_symmetric
from kernlearn.engine.local import Processes
from kernlearn.exceptions import ConfigError, SimilarityError
from kernlearn.kernels import LibrarySimilarity, named, names
from kernlearn.store import Store

CONFIG = """\
title: t
datasets: {waves: {file: waves.csv}}
kernels:
  canberra: {kernel: scipy.canberra, turn: exponential, sigma: auto}
  minkowski: {kernel: scipy.minkowski, p: [1, 3]}
methods:
  1-NN: {estimator: SimilarityKNNClassifier, n_neighbors: 1}
  BBS: {estimator: BBSClassifier, n_landmarks: [5, 9], C: [[0.1, 10]]}
  shared: {estimator: FTuneClassifier, n_landmarks: 5, selection: shared, C: [[0.1, 10]]}
  refined: {estimator: LandmarkKNNClassifier, n_landmarks: 5, n_refined: 4}
  clipped: {estimator: SpectrumSVM}
  SVM: {estimator: KernelSVM, C: {select: [1, 100]}}
  SVC: {estimator: SVC, C: 10}
  chosen:
    estimator: SimilarityKNNClassifier
    n_neighbors: [[1, 3]]
    similarity:
      select: [{kernel: scipy.cityblock}, {kernel: scipy.canberra}]
  Nystroem:
    steps:
      - estimator: NystroemEmbedding
        name: map
        n_components: 6
        kernel:
          select:
            - {kernel: scipy.cityblock, turn: exponential, sigma: 3}
            - {kernel: scipy.euclidean}
      - {estimator: LinearSVM, name: svm, C: {select: [0.1, 10]}}
  plain: {estimator: LinearSVM}
  default: {estimator: BBSClassifier, n_landmarks: 5, similarity: gaussian, C: 1}
protocol: {splits: 2, train: 0.5, holdout: 0.2, seed: 1}
metrics: [accuracy, comparisons, fit_comparisons]
"""


@pytest.fixture(autouse=True)
def _own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("KERNLEARN_CACHE", str(tmp_path / "cache"))


def write_waves(folder: Path) -> Path:
    rng = np.random.default_rng(0)
    times = np.linspace(0, 1, 12)
    rows = []
    for i in range(60):
        wave = np.sin((3 + 2 * (i % 3)) * times + rng.normal(0, 0.5)) + rng.normal(0, 0.3, 12)
        rows.append(",".join([*(f"{v:.6f}" for v in wave), "abc"[i % 3]]))
    columns = ",".join([*(f"t{i}" for i in range(12)), "class"])
    (folder / "waves.csv").write_text("\n".join([columns, *rows, ""]))
    return folder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with series of three classes."""
    return write_waves(tmp_path)


class Kept(NamedTuple):
    """A run that has compared once: its cache, its metrics and the pairs of each block."""

    cache: Path
    metrics: dict[str, dict[str, float]]
    sizes: list[int]


@pytest.fixture(scope="module")
def kept(tmp_path_factory) -> Kept:
    folder = write_waves(tmp_path_factory.mktemp("kept"))
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setenv("KERNLEARN_CACHE", str(folder / "cache"))
        sizes = pairs_compared(monkeypatch)
        found = measured(planned(folder), folder / "kept.sqlite")
    return Kept(folder / "cache", found, sizes)


def planned(folder: Path, once: bool = True, text: str = CONFIG, **options):
    path = folder / f"c{once}.yaml"
    path.write_text(text.replace("seed: 1", f"seed: 1{', compare_once: true' if once else ''}"))
    return make_plan(load_config(path, **options))


def measured(plan, place: Path, executor=None) -> dict[str, dict[str, float]]:
    """The metrics of each trial by its name."""
    with Store(place) as store:
        run_plan(plan, store, executor=executor, allow_contention=True)
        results = store.get([t.key for t in plan.trials])
    errors = {str(t): results[t.key].error for t in plan.trials if not results[t.key].done}
    assert not errors
    return {str(t): results[t.key].metrics for t in plan.trials}


def pairs_compared(monkeypatch) -> list[int]:
    """The number of pairs of each block that a similarity of a library is asked for."""
    sizes = []
    plain = LibrarySimilarity._compare

    def compare(self, X, Y):
        values = plain(self, X, Y)
        sizes.append(values.size)
        return values

    monkeypatch.setattr(LibrarySimilarity, "_compare", compare)
    return sizes


def test_the_numbers_are_those_of_comparing_anew(kept, folder, tmp_path):
    kept = kept.metrics
    anew = measured(planned(folder, False), tmp_path / "anew.sqlite")
    assert kept.keys() == anew.keys()
    for trial, metrics in anew.items():
        assert kept[trial]["accuracy"] == metrics["accuracy"], trial
        assert kept[trial].get("selection_score") == metrics.get("selection_score"), trial
        if "comparisons" in metrics:  # what the estimator has counted is what was looked up
            assert kept[trial]["comparisons"] == metrics["comparisons"], trial
            assert kept[trial]["fit_comparisons"] == metrics["fit_comparisons"], trial


def test_predictions_by_support_vectors_count_these(kept):
    for trial, metrics in kept.metrics.items():
        if " SVM " in trial:
            assert metrics["comparisons"] == metrics["n_support"]
        if "SVC" in trial or "1-NN" in trial or "clipped" in trial:
            assert metrics["comparisons"] == 30  # all training points
        if "plain" in trial:
            assert "comparisons" not in metrics


def test_a_pair_is_compared_once_for_all_trials_and_runs(kept, folder, tmp_path, monkeypatch):
    n_distances, triangle, warm_up = 5, 60 * 61 // 2, 4
    squares = sum(kept.sizes) - n_distances * (triangle + warm_up)
    assert 0 <= squares <= n_distances * 60 * 59 // 2  # blocks are rectangles
    monkeypatch.setenv("KERNLEARN_CACHE", str(kept.cache))
    sizes = pairs_compared(monkeypatch)
    measured(planned(folder), tmp_path / "two.sqlite")
    assert sizes == []
    other = planned(folder, text=CONFIG.replace("scipy.cityblock", "scipy.braycurtis"))
    measured(other, tmp_path / "three.sqlite")
    assert sum(sizes) > 0


def test_two_jobs_give_the_same(kept, folder, tmp_path):
    executor = Processes(2)
    try:
        two = measured(planned(folder), tmp_path / "two.sqlite", executor)
    finally:
        executor.close()
    for trial, metrics in kept.metrics.items():
        assert two[trial]["accuracy"] == metrics["accuracy"]


def test_a_cache_that_cannot_be_written_breaks_nothing(kept, folder, tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setenv("KERNLEARN_CACHE", str(tmp_path / "file" / "below"))
    found = measured(planned(folder), tmp_path / "two.sqlite")
    assert {t: m["accuracy"] for t, m in found.items()} == {
        t: m["accuracy"] for t, m in kept.metrics.items()
    }


def test_times_contain_the_comparisons(kept):
    for trial, found in kept.metrics.items():
        if "1-NN" in trial:
            assert found["predict_seconds"] > 18 * found["comparison_seconds"] > 0
            assert found["fit_seconds"] > 0


def test_what_changes_values_changes_the_matrix():
    points = np.random.default_rng(0).normal(size=(5, 3))
    identity = {"version": 1, "state": None}

    def key(similarity, points=points, **other):
        return Comparisons(points).of(similarity, identity | other).key

    first = named("scipy.minkowski", p=3)
    same = [
        key(named("scipy.minkowski", p=3, turn="exponential")),
        key(named("scipy.minkowski", p=3, sigma=2.0)),
        key(first, points.copy()),
    ]
    others = [
        key(named("scipy.minkowski", p=4)),
        key(named("scipy.cityblock")),
        key(first, points[::-1].copy()),
        key(first, points + 1),
        key(first, version=2),
        key(first, plugin="mine", state="abc"),
    ]
    assert {*same} == {key(first)}
    assert len({key(first), *others}) == 1 + len(others)


@pytest.mark.parametrize("symmetric", [False, True])
def test_blocks_cover_every_pair(monkeypatch, symmetric):
    monkeypatch.setattr(compared, "_BLOCK", 7)
    points = np.random.default_rng(0).normal(size=13)

    def compare(rows, columns):
        return np.abs(points[rows, np.newaxis] - points[columns])

    values, seconds = compared._computed("key", compare, 13, symmetric)
    np.testing.assert_array_equal(values, compare(slice(0, 13), slice(0, 13)))
    assert seconds >= 0


@pytest.mark.parametrize("kernel", ["gaussian", "value_difference"])
def test_what_is_fast_or_learns_from_points_is_refused(folder, tmp_path, kernel):
    text = f"""\
title: t
datasets: {{waves: {{file: waves.csv}}}}
kernels: {{k: {{kernel: {kernel}}}}}
methods: {{BBS: {{estimator: BBSClassifier, n_landmarks: 5}}, plain: {{estimator: LinearSVM}}}}
protocol: {{splits: 1, seed: 1}}
metrics: [accuracy]
"""
    plan = planned(folder, text=text)
    with Store(tmp_path / "s.sqlite") as store:
        run_plan(plan, store)
        results = store.get([t.key for t in plan.trials])
    errors = {t.labels["method"]: results[t.key].error for t in plan.trials}
    assert errors["plain"] is None
    assert "compare_once: " in errors["BBS"]


@pytest.mark.parametrize("where", ["protocol", "dataset"])
def test_scaling_that_is_learnt_is_refused(folder, where):
    text = CONFIG
    if where == "protocol":
        text = text.replace("seed: 1", "scale: [zscore], seed: 1")
    else:
        text = text.replace("file: waves.csv", "file: waves.csv, scale: [minmax]")
    with pytest.raises(ConfigError, match=r"learnt on the training part.*give \[\] or"):
        planned(folder, text=text)


def test_rows_of_unit_length_are_compared(folder, tmp_path):
    text = CONFIG.replace("seed: 1", "scale: [unit_norm], seed: 1")
    kept = measured(planned(folder, text=text), tmp_path / "kept.sqlite")
    anew = measured(planned(folder, False, text=text), tmp_path / "anew.sqlite")
    assert {t: m["accuracy"] for t, m in kept.items()} == {
        t: m["accuracy"] for t, m in anew.items()
    }


def test_a_task_without_predictions_is_refused(folder):
    text = "title: t\ntask: dataset_statistics\ndatasets: {w: {file: waves.csv}}\n"
    text += (
        "methods: {d: {estimator: DummyClassifier}}\nprotocol: {seed: 1}\nmetrics: [n_samples]\n"
    )
    with pytest.raises(ConfigError, match="for methods that predict"):
        planned(folder, text=text)


def test_sparse_points_are_refused(folder, tmp_path):
    rows = [f"{i % 2} {1 + i % 5}:{1 + i} {6 + 100 * i}:1" for i in range(30)]
    (folder / "s.svm").write_text("\n".join([*rows, ""]))
    text = """\
title: t
datasets: {s: {file: s.svm}}
methods: {k: {estimator: SimilarityKNNClassifier, similarity: {kernel: scipy.canberra}}}
protocol: {splits: 1, seed: 1}
metrics: [accuracy]
"""
    plan = planned(folder, text=text)
    with Store(tmp_path / "s.sqlite") as store:
        run_plan(plan, store)
        (result,) = store.get([t.key for t in plan.trials]).values()
    assert result.error == "ValueError: compare_once: the data is sparse; leave compare_once out"


def test_a_kernel_of_another_library_by_name_is_refused(folder, tmp_path):
    text = """\
title: t
datasets: {waves: {file: waves.csv}}
methods:
  S: {estimator: SVC, kernel: {kernel: scipy.canberra, turn: exponential}}
  R: {estimator: sklearn.svm.NuSVC, kernel: rbf}
protocol: {splits: 1, seed: 1}
metrics: [accuracy]
"""
    kept = measured(planned(folder, text=text), tmp_path / "s.sqlite")
    assert {("comparisons" in m) for t, m in kept.items() if " S " in t} == {True}
    assert {("comparisons" in m) for t, m in kept.items() if " R " in t} == {False}


def test_a_value_that_is_no_number_names_its_points():
    points = np.array([[1.0, 1.0], [0.0, 0.0], [2.0, 1.0], [0.0, 0.0]])
    with pytest.raises(SimilarityError, match="NaN"):
        Comparisons(points).of(named("scipy.cosine"), {})


def vectors() -> np.ndarray:
    return np.abs(np.random.default_rng(1).normal(size=(7, 5))) + 0.1


def compiled_slowly(name):
    """Numba compiles those of aeon in each process anew, for seconds each."""
    return name.startswith("aeon.") and name not in ("aeon.dtw", "aeon.euclidean")


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.exhaustive if compiled_slowly(name) else ())
        for kind in ("vectors", "series")
        for name in names(kind, installed=True)
        if name != "vovk"  # whose inner products must be small
    ],
)
def test_what_is_taken_as_symmetric_is(name):
    similarity = named(name)
    if not isinstance(similarity, LibrarySimilarity) or not is_symmetric(similarity):
        pytest.skip("compared both ways")
    X = vectors()[:, :2] if name == "sklearn.haversine" else vectors()
    values = similarity.fit(X)(X)
    np.testing.assert_allclose(values, values.T, rtol=1e-9, atol=1e-12)
