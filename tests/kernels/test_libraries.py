"""Each similarity of a library against its function of two points, and against itself in parts."""

import pickle
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from scipy.spatial import distance
from sklearn.base import clone
from sklearn.metrics import pairwise

from kernlearn.exceptions import SimilarityError
from kernlearn.kernels import LibrarySimilarity, as_kernel, known_pairs, libraries, named, names
from kernlearn.kernels.registry import LIBRARIES
from kernlearn.landmarks import BBSClassifier
from tests.kernels import objects
from tests.kernels.objects import by_hand

RNG = np.random.RandomState(0)
X = RNG.rand(9, 4) + 0.1
Y = RNG.rand(5, 4) + 0.1
WORDS, CLASSES = objects.strings()
SERIES, SPEEDS = objects.series(12)
# These take seconds to compile or to compute, by the same lines of ours as the others.
SLOW = """
    aeon.adtw aeon.ddtw aeon.dtw_gi aeon.lcss aeon.minkowski aeon.sbd aeon.shape_dtw aeon.wddtw
    aeon.wdtw grakel.shortest_path_attr
"""


def tried(*libraries, few=""):
    """Names of similarities; those that are slow, or not among a few, are exhaustive."""
    names = [f"{library}.{name}" for library in libraries for name in LIBRARIES[library].kinds]
    slow = pytest.mark.exhaustive
    return [
        pytest.param(
            name, marks=slow if name in SLOW.split() or name not in (few.split() or names) else ()
        )
        for name in sorted(names)
    ]


def copies_are_equal(similarity, left, right):
    expected = similarity(left, right)
    for copied in (pickle.loads(pickle.dumps(similarity)), clone(similarity)):
        assert copied.get_params() == similarity.get_params()
        np.testing.assert_array_equal(copied(left, right), expected)


def labelled(name, n):
    """Graphs of many sizes and labels, as the kernel needs them."""
    rng, graphs = np.random.RandomState(0), []
    vectors = name.endswith(("graph_hopper", "propagation_attr", "shortest_path_attr"))
    for i in range(n):
        size = 4 if name == "grakel.subgraph_matching" else rng.randint(3, 11)
        edges = [(u, u + 1) for u in range(size - 1)]  # connected
        drawn = np.argwhere(np.triu(rng.rand(size, size) < 0.3, 1)).tolist()
        both = [pair for u, v in [*edges, *drawn] for pair in ((u, v), (v, u))]
        near = {u: [v for w, v in sorted(set(both)) if w == u] for u in range(size)}
        labels = {
            u: rng.rand(3).tolist() if vectors else str(rng.randint(i % 7 + 1)) for u in near
        }
        marks = {pair: str(rng.randint(i % 3 + 1)) for pair in both}
        graphs.append([near, labels, marks])
    return graphs


def points_of(name, n=12):
    """Points of several kinds that a similarity compares."""
    kind = LIBRARIES[name.partition(".")[0]].points
    if kind == "strings":
        return [WORDS[:n], ["", "a b c", "martha", "Martha", *WORDS[: n - 4]]]
    if kind == "graphs":
        return [labelled(name, n)]
    if kind == "series":
        lengths = RNG.randint(8, 14, n)
        return [
            RNG.randn(n, 10),
            [RNG.randn(m) for m in lengths],
            [RNG.randn(2, m) for m in lengths],
            RNG.randn(n, 3, 9),
        ]
    return [RNG.rand(n, 2) - 0.3 * (name == "sklearn.haversine")]


#: Each way in which a library is called.
FEW = """
    aeon.dtw aeon.euclidean grakel.weisfeiler_lehman rapidfuzz.jaro_winkler rapidfuzz.ratio
    scipy.cityblock scipy.jaccard sklearn.cosine sklearn.haversine sklearn.nan_euclidean
"""


@pytest.mark.parametrize("name", tried(*LIBRARIES, few=FEW))
def test_a_value_depends_on_the_pair_alone(name):
    """Whichever points are in a call, and in what order, the values are those of all pairs."""
    pytest.importorskip(name.partition(".")[0])
    rng = np.random.RandomState(1)
    for points in points_of(name):
        n, variants = len(points), [{}]
        if "window" in named(name).get_params():
            variants.append({"window": 0.2})
        for options in variants:
            similarity = named(name, **options)
            whole = similarity(points, points)
            assert np.isfinite(whole).all()
            for _ in range(12):
                i, j = (rng.choice(n, rng.randint(1, n + 1), replace=False) for _ in range(2))
                left, right = (
                    points[k] if isinstance(points, np.ndarray) else [points[a] for a in k]
                    for k in (i, j)
                )
                fresh = named(name, **options)
                for one in (similarity, fresh):
                    values, expected = one(left, right), whole[np.ix_(i, j)]
                    if similarity.columnwise:
                        np.testing.assert_array_equal(values, expected)
                    else:  # of a matrix product the last digits differ
                        np.testing.assert_allclose(values, expected, rtol=1e-12, atol=1e-7)


@pytest.mark.parametrize("library", LIBRARIES)
def test_what_depends_on_more_than_the_pair_is_refused(library):
    pytest.importorskip(library)
    for name in LIBRARIES[library].refused:
        for make in (named, as_kernel, LibrarySimilarity):
            with pytest.raises(ValueError, match=rf"^{library}.{name} is refused, because"):
                make(f"{library}.{name}")
    if library == "grakel":
        similarity = named("grakel.weisfeiler_lehman", base_graph_kernel="random_walk")
        with pytest.raises(ValueError, match="random_walk is refused"):
            similarity(labelled("", 2))


def aligned(x, y, match, up=None, left=None):
    """The least cost of an alignment; a step costs as much as a match by default."""
    D = np.full((len(x), len(y)), np.inf)
    for i, j in np.ndindex(D.shape):
        D[i, j] = min(
            match(i, j) if i == j == 0 else np.inf,
            D[i - 1, j - 1] + match(i, j) if i and j else np.inf,
            D[i - 1, j] + (up or match)(i, j) if i else np.inf,
            D[i, j - 1] + (left or match)(i, j) if j else np.inf,
        )
    return D[-1, -1]


def warped(x, y):
    return aligned(x, y, lambda i, j: (x[i] - y[j]) ** 2)


def split_or_merge(x, y):
    def cost(a, b, c):
        return 1.0 + (0.0 if min(b, c) <= a <= max(b, c) else min(abs(a - b), abs(a - c)))

    return aligned(
        x,
        y,
        lambda i, j: abs(x[i] - y[j]),
        lambda i, j: cost(x[i], x[i - 1], y[j]),
        lambda i, j: cost(y[j], x[i], y[j - 1]),
    )


def edited(x, y, nu=0.001, gap=1.0):
    x, y = np.append(0.0, x), np.append(0.0, y)

    def match(i, j):
        return abs(x[i] - y[j]) + abs(x[i - 1] - y[j - 1]) + 2 * nu * abs(i - j) if i or j else 0

    return aligned(
        x,
        y,
        match,
        lambda i, j: abs(x[i] - x[i - 1]) + nu + gap if j else np.inf,
        lambda i, j: abs(y[j] - y[j - 1]) + nu + gap if i else np.inf,
    )


ELASTIC = {"aeon.dtw": warped, "aeon.msm": split_or_merge, "aeon.twe": edited}


@pytest.mark.parametrize("name", ELASTIC)
def test_elastic_distances_are_those_of_the_definition(name):
    pytest.importorskip("aeon")
    rng = np.random.RandomState(0)
    left, right = rng.choice([-2.0, -1.0, 0.0, 0.0, 0.5, 3.0], size=(2, 200, 5))
    expected = [-ELASTIC[name](x, y) for x, y in zip(left, right, strict=True)]
    np.testing.assert_allclose(named(name)(left, right).diagonal(), expected, rtol=1e-7, atol=1e-7)


@pytest.mark.parametrize("name", tried("scipy"))
def test_scipy(name):
    similarity, function = named(name), getattr(distance, name.partition(".")[2])
    boolean = name.endswith(("dice", "jaccard", "moto", "rao", "sneath", "yule"))
    left, right = (np.where(Z > 0.5, Z, 0) for Z in (X, Y)) if boolean else (X, Y)
    a, b = (left != 0, right != 0) if boolean else (left, right)
    expected = -by_hand(function, a, b)
    np.testing.assert_allclose(similarity(left, right), expected, atol=1e-7)
    by_sparse = similarity(sparse.csr_array(left), sparse.csr_array(right))
    np.testing.assert_allclose(by_sparse, expected, atol=1e-7)
    copies_are_equal(similarity, X, X)


@pytest.mark.parametrize("name", tried("sklearn"))
def test_sklearn(name):
    left, right = (X[:, :2], Y[:, :2]) if name == "sklearn.haversine" else (X, Y)
    similarity, method = named(name), name.partition(".")[2]
    if similarity.is_distance:
        function = pairwise.PAIRWISE_DISTANCE_FUNCTIONS[method]
        expected = -by_hand(lambda x, y: function([x], [y])[0, 0], left, right)
    else:
        expected = getattr(pairwise, method)(left, right)
    np.testing.assert_allclose(similarity(left, right), expected, atol=1e-7)
    copies_are_equal(similarity, left, left)


def test_missing_entries():
    holes = np.where(np.arange(4) == np.arange(40)[:, None] % 9, np.nan, RNG.rand(40, 4))
    y = np.arange(40) % 2
    model = BBSClassifier(10, similarity="sklearn.nan_euclidean", random_state=0).fit(holes, y)
    assert np.isin(model.predict(holes), y).all()
    with pytest.raises(ValueError, match="NaN"):
        BBSClassifier(10, similarity="sklearn.manhattan").fit(holes, y)


@pytest.mark.parametrize("name", tried("rapidfuzz"))
def test_rapidfuzz(name):
    from rapidfuzz import distance as of_strings
    from rapidfuzz import fuzz

    left, right = ["", "martha", "new york mets", *WORDS[:3]], ["marhta", "mets york", ""]
    method = name.partition(".")[2]
    modules = {module.lower(): module for module in of_strings.__all__}
    if (spelled := method.replace("_", "")) in modules:
        module = getattr(of_strings, modules[spelled])
        for measure in ("normalized_similarity", "similarity", "normalized_distance", "distance"):
            similarity = named(name, measure=measure)
            sign = -1 if measure.endswith("distance") else 1
            expected = sign * by_hand(getattr(module, measure), left, right)
            np.testing.assert_allclose(similarity(left, right), expected, rtol=1e-12)
    else:
        function = getattr(fuzz, {"q_ratio": "QRatio", "w_ratio": "WRatio"}.get(method, method))
        similarity = named(name, n_jobs=2)
        expected = by_hand(function, left, right) / 100
        np.testing.assert_allclose(similarity(left, right), expected, rtol=1e-12)
        with pytest.raises(ValueError, match="no parameter measure"):
            named(name, measure="distance")
    copies_are_equal(similarity, left, right)


def slow_edits(a, b):
    if not a or not b:
        return len(a) + len(b)
    return min(
        slow_edits(a[1:], b) + 1,
        slow_edits(a, b[1:]) + 1,
        slow_edits(a[1:], b[1:]) + (a[0] != b[0]),
    )


WORD = st.text("abü", max_size=5)


@given(a=st.lists(WORD, min_size=1, max_size=3), b=st.lists(WORD, min_size=1, max_size=3))
def test_edit_distance_is_the_slow_version(a, b):
    distances = by_hand(slow_edits, a, b)
    longer = by_hand(lambda x, y: max(len(x), len(y), 1), a, b)
    np.testing.assert_array_equal(named("levenshtein", measure="distance")(a, b), -distances)
    np.testing.assert_allclose(as_kernel("levenshtein")(a, b), 1 - distances / longer, rtol=1e-15)


def test_parameters_of_rapidfuzz():
    from rapidfuzz.distance import JaroWinkler, Levenshtein

    similarity = named("rapidfuzz.jaro_winkler", prefix_weight=0.25)
    expected = by_hand(
        lambda x, y: JaroWinkler.similarity(x, y, prefix_weight=0.25), WORDS[:5], WORDS
    )
    np.testing.assert_allclose(similarity(WORDS[:5], WORDS), expected)
    weighted = named("rapidfuzz.levenshtein", weights=[1, 2, 3], measure="distance")
    expected = by_hand(lambda x, y: -Levenshtein.distance(x, y, weights=(1, 2, 3)), WORDS, WORDS)
    np.testing.assert_allclose(weighted(WORDS), expected)
    with pytest.raises(ValueError, match="got 3 at 1"):
        weighted(["a", 3])
    with pytest.raises(ValueError, match="got the single text"):
        weighted("abc")


@pytest.mark.parametrize("name", tried("aeon"))
def test_aeon(name):
    distances = pytest.importorskip("aeon.distances")
    function = getattr(distances, f"{name.partition('.')[2]}_distance")
    similarity = named(name)
    for points in points_of(name):
        some = points[1:4]
        # of one length on the right, or of several
        for others in (points[:1], points):
            expected = -by_hand(lambda x, y: function(np.asarray(x), np.asarray(y)), some, others)
            np.testing.assert_allclose(similarity(some, others), expected, rtol=1e-9, atol=1e-9)
            expected = expected.T
            if name != "aeon.dtw_gi":  # which is not symmetric
                np.testing.assert_allclose(
                    similarity(others, some), expected, rtol=1e-9, atol=1e-9
                )
    copies_are_equal(similarity, SERIES, SERIES)


@pytest.mark.parametrize("name", ["dynamic_time_warping", "aeon.euclidean", "aeon.msm"])
def test_a_series_has_one_value_in_every_form(name):
    """All names take series as (n_channels, length), or (length,) for one channel."""
    pytest.importorskip("aeon")
    similarity = as_kernel(name)
    rows = RNG.randn(4, 15)
    for form in ([*rows], [*rows[:, None]], rows[:, None, :], rows.tolist()):
        np.testing.assert_array_equal(similarity(form), similarity(rows))
    channels = RNG.randn(4, 2, 15)
    whole = similarity(channels)
    np.testing.assert_array_equal(similarity(list(channels)), whole)
    if name == "dynamic_time_warping":
        assert not np.allclose(whole, similarity(channels.swapaxes(1, 2)))
        spike = np.r_[np.zeros(5), 1.0, np.zeros(4)]
        assert similarity([spike], [np.roll(spike, 2)]) == 0
        assert named(name, window=0.1)([spike], [np.roll(spike, 2)]) < 0


def test_parameters_of_aeon():
    distances = pytest.importorskip("aeon.distances")
    similarity = named("aeon.twe", nu=0.1, lmbda=0.5, window=0.2, n_jobs=2)
    assert {"nu": 0.1, "lmbda": 0.5, "turn": "negative"}.items() <= similarity.get_params().items()
    expected = by_hand(
        lambda x, y: -distances.twe_distance(x, y, nu=0.1, lmbda=0.5, window=0.2), SERIES, SERIES
    )
    np.testing.assert_allclose(similarity(SERIES), expected, rtol=1e-9, atol=1e-9)
    turned = similarity.set_params(turn="exponential", nu=0.5).fit(SERIES)
    assert turned(SERIES).max() == 1.0
    with pytest.raises(ValueError, match=r"aeon.twe has no parameter mu; it has .*nu"):
        named("aeon.twe", mu=1)


def test_bad_series():
    pytest.importorskip("aeon")
    similarity = named("aeon.dtw")
    broken = [*SERIES[:3], np.array([1.0, np.nan])]
    with pytest.raises(ValueError, match=r"got one at 3"):
        similarity(SERIES, broken)
    with pytest.raises(ValueError, match="got 'text' at 1"):
        similarity([SERIES[0], "text"])
    with pytest.raises(ValueError, match="channels and those of 'Y'"):
        similarity(SERIES[:2], [np.ones((2, 5))])
    with pytest.raises(ValueError, match=r"channels, got \[1, 2\]"):
        similarity([SERIES[0], np.ones((2, 5))])


@pytest.mark.parametrize("symmetric", [False, True])
@pytest.mark.parametrize("most", [2**20, 200, 50])
def test_known_pairs_have_the_values_of_direct_calls(monkeypatch, most, symmetric):
    monkeypatch.setattr(known_pairs, "_MOST_KNOWN", most)
    monkeypatch.setattr(known_pairs, "_known", known_pairs._Known())
    rng, n_computed = np.random.RandomState(0), [0, 0]
    functions = [distance.cityblock, distance.euclidean]

    def compare(which, left, right):
        n_computed[which] += len(left) * len(right)
        return by_hand(functions[which], left, right)

    for _ in range(60):
        which, some, others = rng.randint(2), rng.randint(9, size=4), rng.randint(9, size=3)
        with known_pairs.knowing_pairs():
            values = known_pairs.known_values(
                which, partial(compare, which), X[some], X[others], symmetric=symmetric
            )
        np.testing.assert_array_equal(values, by_hand(functions[which], X[some], X[others]))
        assert known_pairs._known.size() <= most
    n_pairs = 2 * (45 if symmetric else 81)
    assert (sum(n_computed) <= n_pairs) == (most > 200), n_computed


def test_pairs_are_known_by_the_parameters():
    pytest.importorskip("aeon")
    narrow, wide = (named("aeon.dtw", window=window) for window in (0.1, 0.9))
    expected = narrow(SERIES), wide(SERIES)
    assert not np.array_equal(*expected)
    with known_pairs.knowing_pairs():
        np.testing.assert_array_equal((narrow(SERIES), wide(SERIES)), expected)


def test_blocks_are_those_of_all_at_once(monkeypatch):
    pytest.importorskip("aeon")
    expected = named("aeon.msm")(SERIES)
    monkeypatch.setattr("kernlearn.kernels.libraries.PAIRS_AT_A_TIME", 25)
    np.testing.assert_array_equal(named("aeon.msm")(SERIES), expected)


@pytest.mark.parametrize("seconds", [1e-5, 0.01, 1.0])  # of a pair
@pytest.mark.parametrize("fewest", [1, 50])
def test_an_interruption_waits_for_few_pairs(monkeypatch, seconds, fewest):
    calls, clock = [], iter(range(10**6))
    monkeypatch.setattr(
        libraries, "perf_counter", lambda: sum(calls) * seconds + 1e-9 * next(clock)
    )

    def compare(some, others):
        calls.append(len(some) * len(others))
        return np.subtract.outer(some, others)

    left, right = list(range(300)), list(range(50))
    values = libraries._by_blocks(compare, left, right, left, right, fewest)
    np.testing.assert_array_equal(values, np.subtract.outer(left, right))
    assert sum(calls) == 300 * 50
    assert calls[0] == max(8, fewest)
    assert max(calls[1:]) <= max(0.2 / seconds, fewest)
    assert len(calls) <= 300 * 50 / min(max(0.1 / seconds, fewest), 8000) + 60


@pytest.mark.parametrize("name", tried("grakel"))
def test_grakel(name):
    kernels = pytest.importorskip("grakel.kernels")
    networkx = pytest.importorskip("networkx")
    points = labelled(name, 8)
    title = "".join(part.title() for part in name.partition(".")[2].split("_"))
    own = {"random_state": 0} if "random_state" in named(name).get_params() else {}
    model = getattr(kernels, title)(normalize=True, **own).fit(points)
    np.testing.assert_allclose(named(name)(points[:4], points), model.transform(points[:4]))
    np.testing.assert_allclose(np.diagonal(named(name)(points)), 1.0)
    graphs = []
    for near, labels, marks in points:
        graphs.append(networkx.from_dict_of_lists(near))
        networkx.set_node_attributes(graphs[-1], labels, "label")
        marks = {pair: marks[pair] for pair in graphs[-1].edges}
        networkx.set_edge_attributes(graphs[-1], marks, "label")
    if name not in ("grakel.edge_histogram", "grakel.subgraph_matching"):  # have directed labels
        np.testing.assert_allclose(named(name)(graphs), named(name)(points))
    copies_are_equal(named(name), graphs, graphs)


def test_landmarks_are_parsed_once(monkeypatch):
    grakel = pytest.importorskip("grakel.kernels")
    pytest.importorskip("networkx")
    points, classes = objects.networks(30)
    similarity = named("grakel.shortest_path")
    model = BBSClassifier(10, similarity=similarity, C=1, random_state=0).fit(points, classes)
    expected = model.predict(points[:5])
    monkeypatch.setattr(grakel.ShortestPath, "fit", None)
    np.testing.assert_array_equal(model.predict(points[:5]), expected)
    monkeypatch.undo()
    with pytest.raises(SimilarityError, match=r"X\[1\]"):
        model.predict([points[0], [1, 2, 3]])
    with pytest.raises(ValueError, match=r"got 'text' at 1"):
        model.predict([points[0], "text"])
    # other parameters, and other landmarks, are not those of the last call
    changed = named("grakel.weisfeiler_lehman", n_iter=1)
    others = changed(points[:3], points[6:9])
    before = changed(points[:3], points[3:6])
    assert not np.allclose(before, others)
    fresh = named("grakel.weisfeiler_lehman", n_iter=4)(points[:3], points[3:6])
    np.testing.assert_array_equal(changed.set_params(n_iter=4)(points[:3], points[3:6]), fresh)
    assert not np.allclose(before, fresh)


def test_a_library_that_is_not_installed(monkeypatch):
    for module in ("kernels.registry", "plugins"):
        monkeypatch.setattr(f"kernlearn.{module}.is_installed", lambda package: False)
    expected = {
        "aeon.twe": "aeon.twe needs .*series",
        "dynamic_time_warping": "aeon.dtw needs .*series",
        "levenshtein": "rapidfuzz.levenshtein needs .*run",
        "grakel.shortest_path": "grakel.shortest_path needs .*graphs",
    }
    for name, message in expected.items():
        with pytest.raises(ImportError, match=message):
            as_kernel(name)
        assert name in names()
    with pytest.raises(ImportError, match="not installed"):
        BBSClassifier(similarity="aeon.twe").fit(SERIES, SPEEDS)


def test_another_name_has_its_own_defaults():
    similarity = named("rapidfuzz.jaro_winkler", prefix_weight=0.2, turn="reciprocal")
    similarity.set_params(name="rapidfuzz.levenshtein", weights=(1, 2, 3))
    expected = named("rapidfuzz.levenshtein", weights=(1, 2, 3), turn="reciprocal")
    assert similarity.get_params() == expected.get_params()
    with pytest.raises(ValueError, match="no parameter prefix_weight"):
        similarity.set_params(prefix_weight=0.1)
