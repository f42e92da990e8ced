"""Each similarity against the library's function of two points."""

import pickle

import numpy as np
import pytest
from scipy import sparse
from scipy.spatial import distance
from sklearn.base import clone
from sklearn.metrics import DistanceMetric, pairwise

from kernlearn.exceptions import SimilarityError
from kernlearn.kernels import as_kernel
from kernlearn.kernels.libraries import LIBRARIES
from kernlearn.landmarks import BBSClassifier
from kernlearn.similarities import (
    AeonDistance,
    GrakelKernel,
    RapidFuzzSimilarity,
    ScipyDistance,
    SklearnSimilarity,
    named,
    names,
)
from kernlearn.similarities.library import PAIRS_AT_A_TIME
from tests.similarities import objects

RNG = np.random.RandomState(0)
X = RNG.rand(9, 4) + 0.1
Y = RNG.rand(5, 4) + 0.1
WORDS, CLASSES = objects.strings()


def by_hand(function, left, right):
    return np.array([[float(function(x, y)) for y in right] for x in left])


# These take seconds to compile or to compute, by the same lines of ours as the others.
SLOW = {
    "adtw",
    "ddtw",
    "dtw_gi",
    "edr",
    "erp",
    "lcss",
    "minkowski",
    "sbd",
    "shape_dtw",
    "soft_dtw",
    "wddtw",
    "wdtw",
    "multiscale_laplacian",
    "neighborhood_subgraph_pairwise_distance",
    "shortest_path_attr",
}


def kinds(library):
    return sorted(LIBRARIES[library].kinds)


def tried(library):
    slow = pytest.mark.exhaustive
    return [pytest.param(name, marks=slow if name in SLOW else ()) for name in kinds(library)]


def copies_are_equal(similarity, left, right):
    expected = similarity(left, right)
    for copied in (pickle.loads(pickle.dumps(similarity)), clone(similarity).fit(left)):
        np.testing.assert_array_equal(copied(left, right), expected)


@pytest.mark.parametrize("name", kinds("scipy"))
def test_scipy(name):
    similarity = ScipyDistance(name).fit(X)
    own = {
        "seuclidean": lambda: {"V": X.var(axis=0, ddof=1)},
        "mahalanobis": lambda: {"VI": np.linalg.inv(np.cov(X.T))},
    }.get(name, dict)()
    boolean = name in ("dice", "jaccard", "rogerstanimoto", "russellrao", "sokalsneath", "yule")
    left, right = (np.where(Z > 0.5, Z, 0) for Z in (X, Y)) if boolean else (X, Y)
    a, b = (left != 0, right != 0) if boolean else (left, right)
    expected = -by_hand(lambda x, y: getattr(distance, name)(x, y, **own), a, b)
    np.testing.assert_allclose(similarity(left, right), expected, atol=1e-7)
    np.testing.assert_allclose(
        similarity(sparse.csr_array(left), sparse.csr_array(right)), expected, atol=1e-7
    )
    copies_are_equal(similarity, X, X)


@pytest.mark.parametrize("name", kinds("sklearn"))
def test_sklearn(name):
    left, right = (X[:, :2], Y[:, :2]) if name == "haversine" else (X, Y)
    similarity = SklearnSimilarity(name).fit(left)
    if not similarity.is_distance:
        expected = getattr(pairwise, name)(left, right)
    elif name in ("cosine", "nan_euclidean"):
        expected = -getattr(pairwise, f"{name}_distances")(left, right)
    else:
        own = {
            "seuclidean": lambda: {"V": X.var(axis=0, ddof=1)},
            "mahalanobis": lambda: {"VI": np.linalg.inv(np.cov(X.T))},
        }.get(name, dict)()
        metric = DistanceMetric.get_metric(name, **own)
        expected = -by_hand(lambda x, y: metric.pairwise([x], [y])[0, 0], left, right)
    np.testing.assert_allclose(similarity(left, right), expected, atol=1e-7)
    copies_are_equal(similarity, left, left)


def test_missing_entries():
    holes = np.where(np.arange(4) == np.arange(40)[:, None] % 9, np.nan, RNG.rand(40, 4))
    y = np.arange(40) % 2
    model = BBSClassifier(10, similarity="sklearn.nan_euclidean", random_state=0).fit(holes, y)
    assert np.isin(model.predict(holes), y).all()
    with pytest.raises(ValueError, match="NaN"):
        BBSClassifier(10, similarity="sklearn.manhattan").fit(holes, y)


@pytest.mark.parametrize("name", kinds("rapidfuzz"))
def test_rapidfuzz(name):
    from rapidfuzz import distance as of_strings
    from rapidfuzz import fuzz

    left, right = ["", "martha", "new york mets", *WORDS[:3]], ["marhta", "mets york", ""]
    spelled = name.replace("_", "")
    modules = {module.lower(): module for module in of_strings.__all__}
    if spelled in modules:
        module = getattr(of_strings, modules[spelled])
        for measure in ("normalized_similarity", "similarity", "normalized_distance", "distance"):
            similarity = RapidFuzzSimilarity(name, measure=measure)
            sign = -1 if measure.endswith("distance") else 1
            expected = sign * by_hand(getattr(module, measure), left, right)
            np.testing.assert_allclose(similarity(left, right), expected, rtol=1e-12)
    else:
        function = getattr(fuzz, {"q_ratio": "QRatio", "w_ratio": "WRatio"}.get(name, name))
        similarity = RapidFuzzSimilarity(name, n_jobs=2)
        expected = by_hand(function, left, right) / 100
        np.testing.assert_allclose(similarity(left, right), expected, rtol=1e-12)
        with pytest.raises(ValueError, match="no measure 'distance'"):
            RapidFuzzSimilarity(name, measure="distance")(left)
    copies_are_equal(similarity, left, right)


def test_parameters_of_rapidfuzz():
    from rapidfuzz.distance import JaroWinkler, Levenshtein
    from rapidfuzz.utils import default_process

    similarity = RapidFuzzSimilarity("jaro_winkler", prefix_weight=0.25)
    expected = by_hand(
        lambda x, y: JaroWinkler.similarity(x, y, prefix_weight=0.25), WORDS[:5], WORDS
    )
    np.testing.assert_allclose(similarity(WORDS[:5], WORDS), expected)
    weighted = RapidFuzzSimilarity("levenshtein", weights=[1, 2, 3], measure="distance")
    expected = by_hand(lambda x, y: -Levenshtein.distance(x, y, weights=(1, 2, 3)), WORDS, WORDS)
    np.testing.assert_allclose(weighted(WORDS), expected)
    plain = RapidFuzzSimilarity("ratio", processor=default_process)
    assert plain(["ABC!"], ["abc"]) == [[1.0]]
    lists = RapidFuzzSimilarity("levenshtein", measure="distance")
    np.testing.assert_array_equal(lists([["a", "bc"]], [["bc"], ["a", "bc"]]), [[-1, 0]])
    with pytest.raises(ValueError, match="got 3 at 1"):
        plain(["a", 3])


SERIES, SPEEDS = objects.series(12)


@pytest.mark.parametrize("name", tried("aeon"))
def test_aeon(name):
    distances = pytest.importorskip("aeon.distances")
    function = getattr(distances, f"{name}_distance")
    equal = [one[:15] for one in SERIES]
    several = [np.stack([one[:15], one[:15] ** 2]) for one in SERIES]
    for points in (SERIES, equal, np.array(equal), several, np.array(several)):
        similarity = AeonDistance(name)
        some = points[1:4]
        # of one length on the right, or of several
        for others in (points[:1], points):
            expected = -by_hand(lambda x, y: function(np.asarray(x), np.asarray(y)), some, others)
            np.testing.assert_allclose(similarity(some, others), expected, rtol=1e-9, atol=1e-9)
            expected = expected.T
            if name != "dtw_gi":  # which is not symmetric
                np.testing.assert_allclose(
                    similarity(others, some), expected, rtol=1e-9, atol=1e-9
                )
    copies_are_equal(similarity, SERIES, SERIES)


def test_parameters_of_aeon():
    distances = pytest.importorskip("aeon.distances")
    similarity = named("aeon.twe", nu=0.1, lmbda=0.5, window=0.2, n_jobs=2)
    assert {"nu": 0.1, "lmbda": 0.5, "turn": "negative"}.items() <= similarity.get_params().items()
    expected = by_hand(
        lambda x, y: -distances.twe_distance(x, y, nu=0.1, lmbda=0.5, window=0.2), SERIES, SERIES
    )
    np.testing.assert_allclose(similarity(SERIES), expected, rtol=1e-9, atol=1e-9)
    for some in (SERIES[:1], SERIES[3:5]):  # whatever the points compared with
        values = similarity(SERIES, some)
        np.testing.assert_array_equal(
            values, similarity(SERIES)[:, [0] if len(some) == 1 else [3, 4]]
        )
    turned = similarity.set_params(turn="exponential", nu=0.5).fit(SERIES)
    assert turned(SERIES).max() == 1.0
    with pytest.raises(ValueError, match=r"aeon.twe has no parameter mu; it has .*nu"):
        AeonDistance("twe", mu=1)


def test_bad_series():
    pytest.importorskip("aeon")
    similarity = AeonDistance("dtw")
    broken = [*SERIES[:3], np.array([1.0, np.nan])]
    with pytest.raises(ValueError, match=r"without NaN and infinity, got one at 3: \[1, nan\]"):
        similarity(SERIES, broken)
    with pytest.raises(ValueError, match="got 'text' at 1"):
        similarity([SERIES[0], "text"])
    with pytest.raises(ValueError, match="have 1 channels and those of 'Y' 2"):
        similarity(SERIES[:2], [np.ones((2, 5))])
    with pytest.raises(ValueError, match=r"same number of channels, got \[1, 2\]"):
        similarity([SERIES[0], np.ones((2, 5))])


def test_blocks_of_series_are_those_of_all_at_once(monkeypatch):
    pytest.importorskip("aeon")
    expected = AeonDistance("msm")(SERIES)
    assert PAIRS_AT_A_TIME > 1000
    monkeypatch.setattr("kernlearn.similarities.library.PAIRS_AT_A_TIME", 25)
    np.testing.assert_array_equal(AeonDistance("msm")(SERIES), expected)


NEED_LABELS = ("edge_histogram", "neighborhood_subgraph_pairwise_distance", "subgraph_matching")
NEED_VECTORS = (
    "graph_hopper",
    "multiscale_laplacian",
    "propagation_attr",
    "shortest_path_attr",
)


def labelled(name, n=10):
    points, _ = objects.networks(n)
    rng = np.random.RandomState(0)
    for graph in points:
        graph.add_edges_from((node, node + 1) for node in range(7))  # connected
        for node in graph:
            vector = [float(v) for v in rng.rand(3)]
            graph.nodes[node]["label"] = vector if name in NEED_VECTORS else int(rng.randint(3))
        for edge in graph.edges:
            graph.edges[edge]["label"] = int(rng.randint(2))
    return points


@pytest.mark.parametrize("name", tried("grakel"))
def test_grakel(name):
    grakel = pytest.importorskip("grakel.kernels")
    pytest.importorskip("networkx")
    points = labelled(name)
    own = {"k": 3} if name in ("graphlet", "subgraph_matching") else {}
    similarity = GrakelKernel(name, normalize=False, **own)
    made = [similarity._of_networkx(graph) for graph in points]
    spelled = {"graphlet": "GraphletSampling"}.get(name) or "".join(
        part.title() for part in name.split("_")
    )
    if "random_state" in similarity.get_params():
        own["random_state"] = 0
    model = getattr(grakel, spelled)(**own).fit(made)
    np.testing.assert_allclose(similarity(points[:4], points), model.transform(made[:4]))
    # graphs of GraKeL's own form
    np.testing.assert_allclose(similarity(made[:4], made), similarity(points[:4], points))
    normal = GrakelKernel(name, **own)
    if name not in ("graphlet", "propagation_attr", "multiscale_laplacian", *NEED_LABELS[1:2]):
        np.testing.assert_allclose(np.diagonal(normal(points)), 1.0)
        np.testing.assert_allclose(normal(points)[2:5], normal(points[2:5], points))
    copies_are_equal(normal, points, points)


def test_landmarks_are_parsed_once(monkeypatch):
    pytest.importorskip("grakel")
    pytest.importorskip("networkx")
    points, classes = objects.networks(30)
    model = BBSClassifier(10, similarity="grakel.shortest_path", C=1, random_state=0)
    model.fit(points, classes)
    model.predict(points[:2])
    fits = []
    fit = GrakelKernel._fit
    monkeypatch.setattr(GrakelKernel, "_fit", lambda self, g: fits.append(1) or fit(self, g))
    model.predict(points[:5])
    assert not fits
    with pytest.raises(SimilarityError, match=r"X\[1\] .*cannot be computed"):
        model.predict([points[0], [1, 2, 3]])


def test_names_are_found_where_kernels_are():
    for one in names():
        if one.installed:
            assert as_kernel(one.name).structured == (
                one.points in ("strings", "series", "graphs", "sets")
            )
    assert {one.points for one in names()} == {
        "vectors",
        "strings",
        "series",
        "graphs",
        "sets",
        "records",
    }
    assert {one.name for one in names("graphs")} == {f"grakel.{n}" for n in kinds("grakel")}
    assert names(installed=True) + names(installed=False) != []
    with pytest.raises(ValueError, match=r"did you mean 'scipy.canberra'"):
        named("scipy.canbera")
    with pytest.raises(ValueError, match=r"dotted name such as 'scipy.canberra'"):
        as_kernel("scipy.canbera")


def test_a_library_that_is_not_installed(monkeypatch):
    for module in ("kernels.libraries", "registration"):
        monkeypatch.setattr(f"kernlearn.{module}.is_installed", lambda package: False)
    for name, extra in (("aeon.twe", "series"), ("grakel.shortest_path", "graphs")):
        with pytest.raises(ImportError, match=rf"{name} needs .*'kernlearn\[{extra}\]'"):
            as_kernel(name)
        assert not next(one for one in names() if one.name == name).installed
    with pytest.raises(ImportError, match="not installed"):
        BBSClassifier(similarity="aeon.twe").fit(SERIES, SPEEDS)


def test_another_name_keeps_what_it_has_too():
    similarity = RapidFuzzSimilarity(
        "jaro_winkler", measure="distance", n_jobs=2, turn="reciprocal"
    )
    similarity.set_params(name="levenshtein", weights=(1, 2, 3))
    assert repr(similarity) == repr(
        RapidFuzzSimilarity(
            "levenshtein", measure="distance", n_jobs=2, turn="reciprocal", weights=(1, 2, 3)
        )
    )
    similarity.set_params(weights=(1, 1, 2))
    with pytest.warns(UserWarning, match=r"rapidfuzz.jaro has no .* weights=\(1, 1, 2\): dropped"):
        similarity.set_params(name="jaro")
    assert not hasattr(similarity, "weights")
    assert clone(similarity).get_params() == similarity.get_params()


def test_another_name_has_its_own_defaults():
    pytest.importorskip("aeon")
    similarity = AeonDistance("lcss").set_params(name="edr")
    assert similarity.get_params() == AeonDistance("edr").get_params()
