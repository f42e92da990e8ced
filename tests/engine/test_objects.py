"""Data sets of strings and graphs go through the runner."""

import textwrap

import numpy as np
import pytest

from kernlearn.config import load_config
from kernlearn.config.spec import ProtocolSpec
from kernlearn.datasets import misspelt_words
from kernlearn.datasets.objects import as_objects, kind_of
from kernlearn.datasets.resources import shipped
from kernlearn.engine import make_plan, run_plan
from kernlearn.engine.plugin_data import as_bunch
from kernlearn.engine.protocol import prepare
from kernlearn.store import Store

STRINGS = """
title: strings
datasets:
  names: {generator: misspelt_words, n_samples: 80, n_classes: 4, typos: 1.0}
kernels:
  edits: {kernel: rapidfuzz.levenshtein}
methods:
  BBS: {estimator: BBSClassifier, n_landmarks: 8, C: {select: [1, 10]}}
  nearest: {estimator: SimilarityKNNClassifier, n_neighbors: 1}
  n-grams:
    steps:
      - estimator: sklearn.feature_extraction.text.TfidfVectorizer
        name: tfidf
        analyzer: char
        ngram_range: {select: [[1, 2], [1, 3]]}
      - {estimator: LinearSVM, name: svm, C: 10}
  majority: {estimator: DummyClassifier}
protocol: {splits: 2, holdout: 0.2}
metrics: [accuracy, comparisons]
"""


def measured(tmp_path, text, **files):
    """Run a config; return the results by data set, kernel, method and split."""
    for name, content in files.items():
        (tmp_path / name.replace("_", ".")).write_text(content)
    path = tmp_path / "config.yaml"
    path.write_text(textwrap.dedent(text))
    plan = make_plan(load_config(path))
    with Store(tmp_path / "store.sqlite") as store:
        run_plan(plan, store)
        results = store.get(trial.key for trial in plan.trials)
    return {
        (t.labels["dataset"], t.labels["kernel"], t.labels["method"], t.split): results[t.key]
        for t in plan.trials
    }


def errors(results):
    return {key: result.error for key, result in results.items() if not result.done}


def test_strings_of_a_generator(tmp_path):
    results = measured(tmp_path, STRINGS)
    assert errors(results) == {}
    by_method = {(key[2], key[3]): result for key, result in results.items()}
    for split in (0, 1):
        assert by_method["BBS", split].metrics["accuracy"] > 0.6
        assert by_method["BBS", split].metrics["comparisons"] == 8
        assert by_method["nearest", split].metrics["comparisons"] == 48
        assert by_method["n-grams", split].metrics["accuracy"] > 0.6
        assert by_method["n-grams", split].info["selected"].keys() == {"tfidf__ngram_range"}
        assert by_method["majority", split].metrics["accuracy"] < 0.6


def test_comparing_once_gives_the_same(tmp_path):
    results = measured(tmp_path, STRINGS)
    once = measured(tmp_path, STRINGS.replace("splits: 2", "splits: 2, compare_once: true"))
    assert errors(once) == {}
    for key, result in results.items():
        assert once[key].metrics["accuracy"] == result.metrics["accuracy"], key


def test_samples_and_classes(tmp_path):
    some = 'typos: 1.0, sample: 40, classes: ["'
    names = misspelt_words(10, n_classes=4, random_state=0).target_names.tolist()
    text = STRINGS.replace("typos: 1.0", some + '", "'.join(names[:2]) + '"]')
    # other draws have other names: only the classes of the draw are known
    results = measured(tmp_path, text)
    assert all("no class" in error for error in errors(results).values())
    file = "name,kind\n" + "".join(f"{name}{i},{name}\n" for i in range(20) for name in names)
    text = STRINGS.replace(
        "{generator: misspelt_words, n_samples: 80, n_classes: 4, typos: 1.0}",
        f"{{file: names.csv, points: name, sample: 30, classes: [{names[0]}, {names[1]}]}}",
    )
    results = measured(tmp_path, text, names_csv=file)
    assert errors(results) == {}
    assert {result.info["n_train"] + result.info["n_test"] for result in results.values()} == {24}


@pytest.mark.parametrize(
    ("method", "kernel", "said"),
    [
        ("{estimator: LinearSVM}", "", "needs vectors, and the points are strings: take one with"),
        ("{estimator: sklearn.ensemble.RandomForestClassifier}", "", "needs vectors, and the poi"),
        ("{estimator: KNeighborsClassifier}", "", "text.TfidfVectorizer"),
        (
            "{estimator: BBSClassifier}",
            "kernels: {g: {kernel: gaussian}}",
            "the kernel gaussian compares vectors, and the points are strings",
        ),
        (
            "{estimator: BBSClassifier, similarity: {kernel: scipy.canberra}}",
            "",
            "the kernel scipy.canberra compares vectors, and the points are strings",
        ),
    ],
)
def test_what_needs_vectors_says_so(tmp_path, method, kernel, said):
    text = f"""
    title: t
    datasets: {{names: {{generator: misspelt_words, n_samples: 40}}}}
    {kernel}
    methods: {{m: {method}}}
    protocol: {{splits: 1}}
    metrics: [accuracy]
    """
    (error,) = errors(measured(tmp_path, text)).values()
    assert said in error


def test_objects_are_not_scaled():
    points = as_objects(["a", "b", "c", "d"])
    protocol = ProtocolSpec(0.5, None, None, ("zscore",), 0.2, 0, 1)
    with pytest.raises(ValueError, match=r"scale: strings have no features to scale; give \[\]"):
        prepare(points, np.zeros(4), protocol, 0)


GRAPHS = """
title: graphs
plugins: [PLUGIN]
datasets: {molecules: {generator: molecule_graphs, n_samples: 60, noise: 0.0}}
methods:
  counts:
    steps:
      - {estimator: WeisfeilerLehmanFeatures, name: counts}
      - {estimator: LinearSVM, name: svm, C: 100}
  BBS:
    estimator: BBSClassifier
    n_landmarks: 20
    similarity: {kernel: grakel.weisfeiler_lehman, n_iter: 2}
    optional: true
protocol: {splits: 1}
metrics: [accuracy]
"""


def test_graphs_of_a_generator(tmp_path):
    text = GRAPHS.replace("PLUGIN", str(shipped("configs") / "graph_features.py"))
    try:
        import grakel  # noqa: F401
    except ImportError:
        text = text.partition("  BBS:")[0] + text[text.index("protocol") :]
    results = measured(tmp_path, text)
    assert errors(results) == {}
    found = {key[2]: result.metrics["accuracy"] for key, result in results.items()}
    assert found["counts"] > 0.9
    assert found.get("BBS", 1) > 0.8


PLUGIN = '''
from kernlearn.plugins import register_dataset


@register_dataset("tags")
def tags():
    """Baskets."""
    X = [{"tea", "milk"}, {"tea", "cup"}, {"ski", "snow"}, {"ski", "ice"}] * 10
    return X, ["drinks", "drinks", "winter", "winter"] * 10
'''


def test_objects_of_a_plugin(tmp_path):
    text = """
    title: t
    plugins: [own.py]
    datasets: {tags: {}}
    methods: {m: {estimator: BBSClassifier, n_landmarks: 4, similarity: {kernel: jaccard}}}
    protocol: {splits: 1}
    metrics: [accuracy]
    """
    (result,) = measured(tmp_path, text, own_py=PLUGIN).values()
    assert result.done, result.error
    assert result.metrics["accuracy"] == 1


@pytest.mark.parametrize(
    ("points", "kind"),
    [
        (["a", "b"], "strings"),
        (np.array(["a", "b"]), "strings"),
        ([{"a"}, {"b"}], "sets"),
        ([np.zeros(2), np.zeros(3)], "series"),
        ([({0: {}}, {0: 1}), ({0: {}}, {0: 2})], "graphs"),
        ([[0.0, 1.0], [2.0, 3.0]], "vectors"),
    ],
)
def test_what_plugins_return(points, kind):
    bunch = as_bunch((points, [0, 1]), numbers=False)
    assert kind_of(bunch.data) == kind
    assert bunch.data.shape[0] == 2
    assert bunch.fingerprint
