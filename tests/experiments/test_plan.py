import pytest

from kernlearn.exceptions import DataError
from kernlearn.experiments import load_config, make_plan
from kernlearn.experiments.plan import canonical


def plan_of(path, **options):
    return make_plan(load_config(path, **options))


def test_a_plan_is_the_product_in_the_order_of_the_table(small):
    plan = plan_of(small)
    cells = [(t.labels["dataset"], t.labels["method"], t.labels.get("n_components"), t.split)
             for t in plan.trials]  # fmt: skip
    one = [("K", None), ("RF", 10), ("RF", 40), ("H0/1", 20)]
    other = [("K", None), ("RF", 10), ("RF", 40), ("H0/1", 10)]
    assert cells == [
        (d, m, n, s)
        for d, ms in (("waveform", one), ("moons", other))
        for m, n in ms
        for s in (0, 1)
    ]
    assert plan.axes == ["n_components"]
    assert len({t.key for t in plan.trials}) == len(plan.trials)


def test_only_what_matters_changes_a_key(small):
    before = {t.key for t in plan_of(small).trials}
    text = small.read_text()

    def keys(old, new):
        assert old in text
        small.write_text(text.replace(old, new))
        return {t.key for t in plan_of(small).trials}

    assert keys("title: A small experiment", "title: Another") == before
    assert keys("select: [0.1, 10]", "select: [0.1, 10.0]") == before
    assert keys("metrics: [accuracy, fit_seconds,", "metrics: [accuracy,") == before
    assert keys("seed: 1", "seed: 2").isdisjoint(before)
    assert keys("scale: [zscore, max_norm]", "scale: [zscore]").isdisjoint(before)
    assert keys("select: [0.1, 10]", "select: [0.1]") != before
    assert len(keys("splits: 2", "splits: 3") & before) == len(before)


def test_only_restricts_the_product(small):
    small.write_text(small.read_text() + "only:\n  - {dataset: moons, method: K}\n")
    assert {(t.labels["dataset"], t.labels["method"]) for t in plan_of(small).trials} == {
        ("moons", "K")
    }


def test_generator_parameters_multiply_and_label(small):
    small.write_text(small.read_text().replace("n_samples: 300", "n_samples: [200, 300]"))
    plan = plan_of(small)
    assert plan.axes == ["n_samples", "n_components"]
    assert {t.labels.get("n_samples") for t in plan.trials} == {200, 300, None}


def test_a_method_with_its_own_kernel_runs_once(small):
    text = small.read_text().replace("kernels:\n", "kernels:\n  other: {kernel: VovkKernel}\n")
    text = text.replace("{estimator: KernelSVM,", "{estimator: KernelSVM, kernel: rbf,")
    small.write_text(text)
    kernels = [t.labels["kernel"] for t in plan_of(small).trials if t.labels["method"] == "K"]
    assert set(kernels) == {"other"}


def test_every_missing_data_set_is_named_at_once(tmp_path, monkeypatch):
    monkeypatch.delenv("KERNLEARN_DATA", raising=False)
    monkeypatch.setenv("KERNLEARN_CACHE", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    experiment = load_config("table3_1")
    with pytest.raises(DataError) as caught:
        make_plan(experiment)
    for name in experiment.config.datasets:
        assert name in str(caught.value)
    plan = make_plan(experiment, available=True)
    assert plan.trials == []
    assert plan.left_out == list(experiment.config.datasets)


def test_canonical_json_ignores_order_and_kind_of_number():
    assert canonical({"b": 1.0, "a": (1, 2.5)}) == canonical({"a": [1, 2.5], "b": 1})
    assert canonical(1e300) != canonical(1)
