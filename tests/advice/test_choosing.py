"""Which candidate is chosen, and what is said of the others."""

import numpy as np
import pytest
from sklearn.datasets import load_diabetes, make_moons

from kernlearn.advice import advise, shortlist
from kernlearn.advice.candidates import Candidate
from kernlearn.advice.choosing import _choose
from kernlearn.advice.fitting import Done
from kernlearn.advice.records import Record, align
from kernlearn.exceptions import DataError
from tests.advice.conftest import Made, candidate


def chosen(problem, scores, seconds, fit_seconds=600.0):
    """Choose among candidates that were measured on the largest size alone."""
    workers = Made(problem, {name: lambda n, s=s: s for name, s in scores.items()}, seconds)
    records = []
    for name in scores:
        record = Record(candidate(name), problem)
        for size in problem.sizes[-2:]:
            for split in range(3):
                job = type(
                    "Job",
                    (),
                    {
                        "candidate": record.candidate,
                        "size": size,
                        "split": split,
                        "settings": (0, 1),
                    },
                )
                record.add(size, split, next(workers.run([job]))[1])
        records.append(record)
    return _choose(problem, records, {}, fit_seconds, 1.0)


def test_the_best_is_chosen_if_no_other_comes_close(problem):
    found = chosen(problem, {"a": 0.8, "b": 0.9, "c": 0.85}, {"b": 1e-2})
    assert [v.name for v in found.verdicts] == ["b", "c", "a"]
    assert found.chosen is found.best
    assert found.chosen.name == "b"
    assert found.runner_up.name == "c"
    assert found.ties == []
    assert found.chosen.settings == {"C": 2}
    assert list(found.methods) == ["b", "c", "majority"]


def test_of_those_that_cannot_be_told_apart_the_fastest_is_chosen(problem):
    found = chosen(problem, {"slow": 0.9, "fast": 0.9, "a": 0.8985, "far": 0.88}, {"slow": 1e-2})
    assert found.best.name == "slow"
    assert found.chosen.name == "fast"
    assert {tie.verdict.name for tie in found.ties} == {"fast", "a"}
    assert found.runner_up.name == "slow"


def test_one_that_takes_too_long_is_not_chosen(problem):
    scores, seconds = {"slow": 0.95, "fast": 0.9}, {"slow": 1e-2}
    found = chosen(problem, scores, seconds, fit_seconds=10)
    assert found.chosen.name == "fast"
    assert [v.name for v in found.too_slow] == ["slow"]
    assert found.runner_up is None
    # if all take too long it is the fastest
    found = chosen(problem, scores, seconds, fit_seconds=1e-6)
    assert found.chosen.name == "fast"
    assert len(found.too_slow) == 2


def test_nothing_measured_is_an_error(problem):
    records = [Record(candidate("a"), problem, dropped="no time for 133 rows")]
    with pytest.raises(
        DataError,
        match=r"no method could be measured.*with more time some may .no time for 133 rows",
    ):
        _choose(problem, records, {}, 1.0, 1.0)


def test_scores_on_different_splits_are_compared_on_those_that_both_have(problem):
    # the second split is easier by ten points, and only one was measured on it
    made, records = Made(problem, {}), []
    for name, scores in {"one": [0.7, 0.8], "two": [0.72]}.items():
        record = Record(candidate(name), problem)
        for split, score in enumerate(scores):
            fitted = made._fitted(0, score, 1.0, split, problem.n_held_out)
            record.add(133, split, Done((fitted,)))
        records.append(record)
    align(records)
    one, two = records
    assert one.score(133).value == pytest.approx(0.75)
    assert two.score(133).value == pytest.approx(0.77)
    assert two.shift == pytest.approx(0.05)


def test_settings_are_chosen_on_the_validation_part(problem):
    record = Record(candidate("a"), problem)
    made = Made(problem, {})
    good_on_test = made._fitted(0, 0.99, 1.0, 0, problem.n_held_out)
    good_on_validation = made._fitted(1, 0.7, 1.0, 0, problem.n_held_out)
    object.__setattr__(good_on_test, "score", 0.6)
    record.add(133, 0, Done((good_on_test, good_on_validation), ("ValueError: C",)))
    assert record.ranked(133) == [1, 0]
    assert record.score(133).value == pytest.approx(0.7, abs=1e-3)
    assert record.errors == {"ValueError: C": 1}


def test_moons_are_no_task_for_a_line():
    X, y = make_moons(600, noise=0.15, random_state=0)
    names = ("linear SVM", "nearest neighbours")
    found = advise(
        X, y, classification=True, seconds=2, n_jobs=0, candidates=_named(X, True, names)
    )
    assert found.chosen.name == "nearest neighbours"
    assert found.chosen.full.low > 0.9
    assert found.methods["nearest neighbours"]["n_neighbors"]["select"]
    assert list(found.methods) == ["nearest neighbours", "linear SVM", "majority"]
    again = {v.name: v.score.value for v in found.verdicts}
    assert again["linear SVM"] == pytest.approx(0.87, abs=0.03)


def test_numbers_are_judged_by_the_share_of_their_variance():
    X, y = load_diabetes(return_X_y=True)
    found = advise(
        X,
        1000 * y,
        classification=False,
        seconds=1,
        n_jobs=0,
        candidates=_named(X, False, ("ridge",)),
    )
    assert found.chosen.name == "ridge"
    assert found.chosen.score.value == pytest.approx(0.48, abs=0.08)
    assert list(found.methods) == ["ridge", "mean"]


def test_a_setting_that_fails_is_counted_and_others_are_chosen():
    X, y = make_moons(80, noise=0.1, random_state=0)
    entry = {
        "estimator": "sklearn.neighbors.KNeighborsClassifier",
        "n_neighbors": {"select": [3, 40]},
    }
    found = advise(
        X,
        y,
        classification=True,
        seconds=1,
        n_jobs=0,
        candidates=[Candidate("kNN", entry, "n_neighbors")],
    )
    ((text, times),) = found.errors.items()
    assert text.startswith("kNN: ValueError: Expected n_neighbors <= n_samples_fit")
    assert times == 1
    assert found.chosen.settings == {"n_neighbors": 3}


def _named(X, classification, names):
    from kernlearn.advice import Facts

    facts = Facts(classification, len(X), X.shape[1], False, float(np.sqrt(2 * X.shape[1])))
    return [c for c in shortlist(facts) if c.name in names]
