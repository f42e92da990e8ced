import pytest
from pydantic import ValidationError

from kernlearn.config import load_config
from kernlearn.config.claims import Check, Claim
from kernlearn.exceptions import ConfigError

A_OVER_B = {"better": ["a"], "than": ["b"]}


@pytest.mark.parametrize(
    "check",
    [
        A_OVER_B,
        {**A_OVER_B, "over": "all_but_one", "by": 0.02},
        {**A_OVER_B, "over": 5, "times": 10},
        {**A_OVER_B, "over": 0.8, "across": ["n_components"], "mean_over": ["dataset"]},
        {**A_OVER_B, "along": "n_components"},
        {"better": [300], "than": [30], "compare": "n_landmarks"},
        {"as_good": ["a"], "than": ["b"], "by": 0.02},
        {"as_good": ["a"], "than": ["b"], "times": 2, "over": "most"},
        {"not_better": ["a"], "than": ["b"], "over": "some"},
        {"above": 10, "of": ["a"], "over": "all"},
        {"below": 1},
        {"between": [1, 2]},
        {"trend": "rising", "along": "n_components", "of": ["a"]},
        {"trend": "falling", "along": "n_components", "times": 1.2},
        {"trend": "flat", "along": "n_components", "by": 0.01},
        {"among_best": ["a"], "over": "all_but_one"},
    ],
)
def test_what_a_check_can_ask(check):
    assert Check.model_validate({"metric": "accuracy", **check}).question in check


@pytest.mark.parametrize(
    ("check", "said"),
    [
        ({**A_OVER_B, "not_worse": ["b"]}, "give one of better, as_good"),
        ({"than": ["c"]}, "give one of better, as_good"),
        ({"not_worse": ["a"]}, "not_worse needs than"),
        ({"below": 0.0, "than": ["a"], "over": "all"}, "than goes with"),
        ({"among_best": ["a"], "over": "all", "compare": "kernel"}, "compares methods only"),
        ({"among_best": ["a"]}, "among_best needs over"),
        ({"as_good": ["a"], "than": ["b"]}, "as_good needs by or times"),
        ({"as_good": ["a"], "than": ["b"], "times": 1, "over": "all"}, "needs by or times"),
        ({"not_better": ["a"], "than": ["b"], "times": 2, "over": "all"}, "times goes with"),
        ({**A_OVER_B, "of": ["a"]}, "of goes with below"),
        ({**A_OVER_B, "times": 2}, "cell by cell"),
        ({**A_OVER_B, "times": 2, "by": 1, "over": "all"}, "give by or times"),
        ({**A_OVER_B, "times": 2, "along": "C", "over": "all"}, "not of slopes"),
        ({**A_OVER_B, "along": "C", "across": ["C"]}, "in more than one of"),
        ({**A_OVER_B, "mean_over": ["method"]}, "method is what is compared"),
        ({"above": 1, "across": ["C"]}, "across goes with a comparison"),
        ({"above": 1, "along": "C"}, "along goes with trend"),
        ({"above": 1, "by": 1}, "by goes with trend"),
        ({"trend": "rising"}, "trend needs along"),
        ({"trend": "flat", "along": "C"}, "flat needs by or times"),
        ({"trend": "up", "along": "C"}, "'rising', 'falling' or 'flat'"),
        ({"between": [2, 1]}, "the smaller first"),
        ({**A_OVER_B, "over": "none"}, "must be all, all_but_one, most, some, average, a number"),
        ({**A_OVER_B, "over": 0}, "a number of cells or a share"),
        ({**A_OVER_B, "over": 1.5}, "a number of cells or a share"),
        ({**A_OVER_B, "over": True}, "a number of cells or a share"),
        ({"better": [["a"]], "than": ["b"]}, "must be text or a number"),
        ({**A_OVER_B, "by": -0.1}, "greater than or equal to 0"),
    ],
)
def test_what_a_check_cannot_ask(check, said):
    with pytest.raises(ValidationError, match=said):
        Claim.model_validate({"says": "a", "check": {"metric": "accuracy", **check}})


@pytest.mark.parametrize(
    ("check", "said"),
    [
        (
            "metric: speedups, above: 1",
            "check.metric: no metric 'speedups' of classification; did you mean",
        ),
        ("metric: accuracy, better: [RF], than: [KK]", "check.than: no method 'KK'; did you"),
        ("metric: accuracy, above: 1, of: [RFF]", "check.of: no method 'RFF'; did you mean 'RF'"),
        ("metric: accuracy, above: 1, mean_over: [n]", "check.mean_over: no label 'n'"),
        ("metric: accuracy, better: [K], than: [RF], across: [n]", "check.across: no label 'n'"),
        ("metric: accuracy, trend: rising, along: n_component", "check.along: no label"),
        ("metric: accuracy, trend: rising, along: dataset", "'dataset' is no parameter whose"),
    ],
)
def test_names_that_mean_nothing_are_told(small, check, said):
    small.write_text(f"{small.read_text()}claims: [{{says: a, check: {{{check}}}}}]\n")
    with pytest.raises(ConfigError) as caught:
        load_config(small)
    assert said in str(caught.value)
    assert str(caught.value).startswith(f"{small}:")


@pytest.mark.parametrize(
    "check",
    [
        "metric: speedup, above: 1, of: [RF]",
        "metric: accuracy, trend: rising, along: n_components, of: [H0/1]",
        "metric: accuracy, better: [H0/1], than: [RF], across: [n_components]",
    ],
)
def test_derived_metrics_and_parameters_have_names(small, check):
    small.write_text(f"{small.read_text()}claims: [{{says: a, check: {{{check}}}}}]\n")
    (claim,) = load_config(small).config.claims
    assert claim.says == "a"


def test_where_neither_more_nor_less_is_better_only_a_bound_can_be_asked(tmp_path):
    path = tmp_path / "counts.yaml"
    path.write_text(
        "title: Counts\ntask: dataset_statistics\ndatasets: {moons: {generator: two_moons}}\n"
        "methods: {data: {estimator: DummyClassifier}}\nmetrics: [n_samples]\n"
        "claims: [{says: a, check: {metric: n_samples, better: [data], than: [data]}}]\n"
    )
    with pytest.raises(ConfigError, match="neither more nor less is better: ask for a bound"):
        load_config(path)
    path.write_text(path.read_text().replace("better: [data], than: [data]", "above: 10"))
    assert load_config(path).config.claims
