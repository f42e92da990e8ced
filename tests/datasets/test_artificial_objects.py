"""Generators of strings and graphs: what tells the classes does, and nothing else."""

import runpy
from collections import Counter

import numpy as np
import pandas as pd
import pytest
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.naive_bayes import MultinomialNB

from kernlearn.datasets import (
    block_graphs,
    fingerprint,
    generators,
    load,
    markov_strings,
    misspelt_words,
    molecule_graphs,
    motif_graphs,
    mutated_families,
    random_graphs,
    word_documents,
)
from kernlearn.datasets.resources import shipped
from kernlearn.kernels import named

NAMES = [name for name, one in generators().items() if one.points != "vectors"]


@pytest.mark.parametrize("name", NAMES)
def test_data_comes_as_from_load(name):
    bunch = generators()[name](n_samples=30, random_state=3)
    assert bunch.keys() == load("iris").keys() - {"similarity", "query"}
    assert bunch.data.shape == bunch.target.shape == (30,)
    assert bunch.data.dtype == object
    assert bunch.fingerprint == fingerprint(bunch.data, bunch.target)
    assert len(bunch.feature_names) == 0
    kind = str if generators()[name].points == "strings" else tuple
    assert {type(point) for point in bunch.data} == {kind}


@pytest.mark.parametrize("name", NAMES)
def test_the_seed_decides(name):
    make = generators()[name]
    prints = [make(n_samples=9, random_state=seed).fingerprint for seed in (0, 0, 1)]
    assert prints[0] == prints[1] != prints[2]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("value", [0, 2.5, "3", True])
def test_bad_numbers_of_points(name, value):
    with pytest.raises(ValueError, match="'n_samples' must be an int >= 1, got"):
        generators()[name](n_samples=value)


@pytest.mark.parametrize(
    ("make", "parameters", "message"),
    [
        (markov_strings, {"n_letters": 27}, "'n_letters' must be at most 26, got 27"),
        (markov_strings, {"contrast": 1}, "'contrast' must be a number from 0 to below 1, got 1"),
        (markov_strings, {"length": 1}, "'length' must be at least 2, got 1"),
        (mutated_families, {"mutations": -1}, "'mutations' must be a number from 0"),
        (misspelt_words, {"typos": -1}, "'typos' must be a finite number of 0 or more"),
        (word_documents, {"topic": 1.5}, "'topic' must be a number from 0"),
        (random_graphs, {"n_nodes": 5}, "'n_nodes' must be at least 12, got 5"),
        (block_graphs, {"degree": 9}, "'degree' times 'inside' must be at most 4, .* got 6.75"),
        (motif_graphs, {"extra": 2}, "'extra' must be a number from 0"),
        (molecule_graphs, {"groups": 3}, "'n_nodes' must be at least 24, got 16"),
    ],
)
def test_other_bad_parameters(make, parameters, message):
    with pytest.raises(ValueError, match=message):
        make(10, **parameters)


def letters_right(contrast):
    """The accuracy of counts of pairs of letters, on the second half."""
    data = markov_strings(600, contrast=contrast, random_state=0)
    Z = CountVectorizer(analyzer="char", ngram_range=(2, 2)).fit_transform(data.data)
    return MultinomialNB().fit(Z[:300], data.target[:300]).score(Z[300:], data.target[300:])


def test_pairs_of_letters_tell_languages():
    assert letters_right(0.5) > 0.9
    assert letters_right(0.0) < 0.45


def test_the_nearest_ancestor_tells_families():
    """The medoids of the families stand for the ancestors."""
    data = mutated_families(300, n_classes=3, mutations=0.2, random_state=0)
    S = named("levenshtein")(data.data, data.data)
    medoids = []
    for k in range(3):
        rows = np.flatnonzero(data.target == k)
        medoids.append(rows[S[np.ix_(rows, rows)].sum(axis=1).argmax()])
    assert (S[:, medoids].argmax(axis=1) == data.target).mean() > 0.95


def test_words_without_errors_are_the_names():
    data = misspelt_words(50, typos=0, random_state=0)
    assert data.data.tolist() == data.target_names[data.target].tolist()
    assert len(set(data.target_names)) == 20


def test_pairs_of_names_differ_in_one_syllable():
    names = misspelt_words(5, random_state=1).target_names.tolist()
    for one, other in zip(names[::2], names[1::2], strict=True):
        assert len(one) == len(other)
        assert sum(one[i : i + 2] != other[i : i + 2] for i in range(0, len(one), 2)) == 1


def test_documents_have_words_of_their_topic():
    data = word_documents(400, topic=0.5, typos=0, random_state=0)
    words: list[Counter] = [Counter() for _ in range(4)]
    for document, k in zip(data.data, data.target, strict=True):
        words[k].update(document.split())
    own = []
    for k in range(4):
        others = set().union(*(words[j] for j in range(4) if j != k))
        own.append(sum(n for w, n in words[k].items() if w not in others) / words[k].total())
    assert all(0.45 < share < 0.6 for share in own)


@pytest.mark.parametrize("name", [n for n in NAMES if generators()[n].points == "graphs"])
def test_graphs_are_simple_and_go_both_ways(name):
    for near, labels in generators()[name](n_samples=40, random_state=0).data:
        assert near.keys() == labels.keys()
        assert all(
            u not in to and all(near[v][u] == w for v, w in to.items()) for u, to in near.items()
        )


def statistics(graphs):
    """Numbers that describe graphs, by their names."""
    plugin = runpy.run_path(str(shipped("configs") / "graph_features.py"))
    return pd.DataFrame([plugin["statistics"](near) for near, _ in graphs])


@pytest.mark.parametrize("rewired", [0.0, 0.3])
def test_networks_have_as_many_edges(rewired):
    for near, _ in random_graphs(60, rewired=rewired, random_state=0).data:
        assert sum(map(len, near.values())) == 2 * (2 * len(near) - 3)


def test_networks_are_of_their_models():
    data = random_graphs(300, rewired=0, random_state=0)
    Z = statistics(data.data)
    means = {
        name: {key: Z[key][data.target == k].mean() for key in ("greatest degree", "clustering")}
        for k, name in enumerate(data.target_names)
    }
    assert means["preferential"]["greatest degree"] > means["random"]["greatest degree"] + 3
    assert means["small_world"]["clustering"] > means["random"]["clustering"] + 0.3


def test_communities_are_found_by_the_spectrum():
    """Eigenvalues of the modularity matrix that are large are one fewer than communities."""
    data = block_graphs(150, n_nodes=80, degree=8, inside=0.9, random_state=0)
    right = 0
    for (near, _), k in zip(data.data, data.target, strict=True):
        A = np.zeros((len(near), len(near)))
        for u, to in near.items():
            A[u, list(to)] = 1
        d = A.sum(axis=0)
        large = np.linalg.eigvalsh(A - np.outer(d, d) / d.sum())[::-1] > 5.2
        right += (large.sum() + 1) == int(data.target_names[k])
    assert right / len(data.data) > 0.7


def test_motifs_have_as_many_edges_and_one_triangle_tells():
    data = motif_graphs(100, extra=0.0, random_state=0)
    Z = statistics(data.data)
    np.testing.assert_array_equal(Z["edges"], Z["nodes"] + 1)
    house = data.target_names[data.target] == "house"
    assert (np.rint(Z["triangles"][house]) == 1).all()
    assert (np.rint(Z["pentagons"]) >= 1).all()
    assert (np.rint(Z["squares"][house]) == 1).all()


def test_molecules_differ_in_common_neighbours_alone():
    data = molecule_graphs(200, noise=0.0, random_state=0)
    for (near, labels), k in zip(data.data, data.target, strict=True):
        assert sum(map(len, near.values())) == 2 * (len(near) - 1)
        assert max(map(len, near.values())) <= 4
        atoms = Counter(labels.values())
        assert atoms["N"] == atoms["O"] in (2, 4)
        groups = {
            tuple(sorted(labels[v] for v in to if labels[v] != "C"))
            for u, to in near.items()
            if labels[u] == "C"
        } - {()}
        expected = {"mixed": {("N", "O")}, "alike": {("N", "N"), ("O", "O")}}
        assert groups == expected[data.target_names[k]]


def test_the_noise_is_the_share_of_wrong_labels():
    kept, wrong = (molecule_graphs(2000, noise=n, random_state=0) for n in (0.0, 0.2))
    assert fingerprint(kept.data) == fingerprint(wrong.data)
    assert abs((kept.target != wrong.target).mean() - 0.2) < 0.03
