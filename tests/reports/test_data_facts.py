"""What pages say about data: where they come from, what the config asks, what was done to them."""

from dataclasses import dataclass

from kernlearn.config import load_config
from kernlearn.engine import make_plan
from kernlearn.reports.data_facts import data_facts
from tests.engine.stores import row_of


@dataclass
class Prepared:
    sentences: list[str]


class Plan:
    """A plan that knows what loading did."""

    def __init__(self, plan):
        self.experiment, self.trials = plan.experiment, plan.trials
        self.preparations = {"moons": Prepared(["3 of 9 rows are left out"])}


def test_facts_come_from_config_trials_and_loading(tmp_path):
    path = tmp_path / "own.yaml"
    path.write_text(
        "title: Own\n"
        "datasets:\n"
        "  moons: {generator: two_moons, n_samples: 50, noise: 0.2}\n"
        "  iris: {sample: 60, classes: [setosa, versicolor]}\n"
        "methods: {K: {estimator: KernelSVM, kernel: rbf}}\n"
        "metrics: [accuracy]\n"
    )
    plan = make_plan(load_config(path), available=True)
    (trial, *_) = [t for t in plan.trials if t.labels["dataset"] == "moons"]
    result = row_of(trial, info={"positive": ["1"]})
    facts = data_facts(Plan(plan), {trial.key: result})
    assert facts["moons"] == [
        "drawn by the generator two_moons: n_samples 50, noise 0.2",
        "3 of 9 rows are left out",
        "positive classes: 1",
    ]
    assert facts["iris"][0].endswith("150 rows, 4 features, 3 classes")
    assert facts["iris"][-2:] == [
        "classes setosa, versicolor; rows of other classes are left out",
        "a random subsample of 60 rows, the same in all splits",
    ]
