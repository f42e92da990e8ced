import pytest
from pydantic import ValidationError

from kernlearn.config import load_config
from kernlearn.config.claims import Check, Claim
from tests.config.conftest import SMALL

A_OVER_B = {"better": ["a"], "than": ["b"]}


def test_what_no_shipped_config_asks_can_be_asked():
    flat = {"trend": "flat", "along": "n_components", "by": 0.01}
    for check in ({**A_OVER_B, "over": 0.8, "across": ["C"], "mean_over": ["dataset"]}, flat):
        assert Check.model_validate({"metric": "accuracy", **check}).question in check


@pytest.mark.parametrize(
    ("check", "words"),
    [
        ({**A_OVER_B, "not_worse": ["b"]}, "give one of better, as_good"),
        ({"not_worse": ["a"]}, "not_worse needs than"),
        ({"below": 0.0, "than": ["a"]}, "than goes with"),
        ({"among_best": ["a"], "over": "all", "compare": "kernel"}, "among_best compares methods"),
        ({"as_good": ["a"], "than": ["b"]}, "as_good needs by or times"),
        ({"not_better": ["a"], "than": ["b"], "times": 2, "over": "all"}, "times goes with"),
        ({**A_OVER_B, "times": 2, "along": "C"}, "without along"),
        ({**A_OVER_B, "along": "C", "across": ["C"]}, "in more than one of"),
        ({"trend": "rising"}, "trend needs along"),
        ({"trend": "flat", "along": "C"}, "trend needs by or times"),
        ({"between": [2, 1]}, "the smaller first"),
        ({**A_OVER_B, "by": 1, "times": 2}, "give one of by, times and margin"),
        *(({**A_OVER_B, "over": over}, "over") for over in ("none", 0, 1.5, True)),
    ],
)
def test_what_a_check_cannot_ask(check, words):
    with pytest.raises(ValidationError, match=words):
        Claim.model_validate({"says": "a", "check": {"metric": "accuracy", **check}})


@pytest.mark.parametrize(
    ("check", "words"),
    [
        ("metric: speedups, above: 1", "check.metric: no metric 'speedups'"),
        ("metric: accuracy, better: [RF], than: [KK]", "check: no method 'KK'"),
        ("metric: accuracy, above: 1, of: [RFF]", "check: no method 'RFF'; did you mean 'RF'"),
        ("metric: accuracy, above: 1, where: {dataset: x}", "check: no data set 'x'"),
        ("metric: accuracy, above: 1, where: {n_components: [9]}", "check: no n_components 9"),
        ("metric: accuracy, above: 1, where: {datset: x}", "check.where.datset: no label"),
        ("metric: accuracy, better: [K], than: [RF], across: [n]", "check.across.0: no label 'n'"),
        ("metric: accuracy, trend: rising, along: dataset", "'dataset'"),
        ("metric: accuracy, above: 1, over: most_of", "check.over: 'most_of' is not allowed; did"),
    ],
)
def test_names_that_mean_nothing_are_refused(refused, check, words):
    message = refused(f"{SMALL}claims: [{{says: a, check: {{{check}}}}}]\n")
    assert f"c.yaml:18: claims.0.{words if words[0] == 'c' else ''}" in message
    assert words in message


def test_the_values_of_a_label_are_those_of_results(load, refused):
    claim = "claims: [{says: a, check: {metric: accuracy, above: 1, where: {kernel: KERNEL}}}]\n"
    varied = ("degree: 3", "degree: [2, 3]")
    assert load(SMALL + claim.replace("KERNEL", "polynomial (degree=2)"), varied)
    assert "c.yaml:18: " in refused(SMALL + claim.replace("KERNEL", "polynomial"), varied)
    path = load(SMALL + claim.replace("kernel: KERNEL", "n_components: 40")).path
    assert load_config(path, profile="quick")  # which has no 40


@pytest.mark.parametrize(
    "check", ["metric: speedup, above: 1", "metric: accuracy, trend: rising, along: n_components"]
)
def test_derived_metrics_and_parameters_have_names(load, check):
    assert load(f"{SMALL}claims: [{{says: a, check: {{{check}}}}}]\n").config.claims


def test_where_neither_more_nor_less_is_better_only_a_bound_can_be_asked(load, refused):
    text = (
        "title: Counts\ntask: dataset_statistics\ndatasets: {moons: {generator: two_moons}}\n"
        "methods: {data: {estimator: DummyClassifier}}\nmetrics: [n_samples]\n"
        "claims: [{says: a, check: {metric: n_samples, better: [data], than: [data]}}]\n"
    )
    assert "'n_samples' is neither better nor worse: ask for a bound" in refused(text)
    assert load(text, ("better: [data], than: [data]", "above: 10")).config.claims
