import numpy as np
import pandas as pd
import pytest

from kernlearn.config.claims import Claim
from kernlearn.reports.claims import decide_claims

N_SPLITS = 10


def splits(rows, columns=("dataset", "metric", "split", "method", "value")):
    return pd.DataFrame(rows, columns=[*columns]).assign(ratio=0.0, drift=0.0)


def table(values, metric="accuracy"):
    """Rows of the numbers of each data set and method, one for each split."""
    return splits(
        (dataset, metric, split, method, value)
        for (dataset, method), numbers in values.items()
        for split, value in enumerate(numbers)
    )


def decision(config, runs, datasets, reported=None, never_run=(), **check):
    """Decide a claim of data sets, on the methods that ran and some that never did."""
    asked = {"says": "a", "section": "1", "check": {"metric": "accuracy", **check}}
    entries = dict.fromkeys(datasets, next(iter(config.datasets.values())))
    there = {*runs["method"], *never_run} if len(runs) else config.methods
    methods = {k: v for k, v in config.methods.items() if k in there}
    update = {"claims": [Claim.model_validate(asked)], "datasets": entries, "methods": methods}
    config = config.model_copy(update=update)
    reported = runs[:0] if reported is None else reported
    (decided,) = decide_claims(runs, config, reported).itertuples()
    return decided


@pytest.fixture
def decide(config):
    def decided(gains, direction=1, drift=0.0, level=0.8, select=None, absent=0, **asked):
        """Decide a claim on RF against K, which RF betters by the gains in each data set."""
        metric = {1: "accuracy", -1: "mse"}[direction]
        rng, values = np.random.default_rng(0), {}
        for i, gain in enumerate(gains):
            base, wobble = level + 0.05 * rng.normal(size=N_SPLITS), rng.normal(size=N_SPLITS)
            ahead = gain + 0.002 * (wobble - wobble.mean())
            values |= {(f"d{i}", "K"): base, (f"d{i}", "RF"): base + direction * ahead}
        runs = table(values, metric).assign(drift=drift)
        runs = runs if select is None else runs[select(runs)]
        datasets = [f"d{i}" for i in range(len(gains) + absent)]
        return decision(config, runs, datasets, metric=metric, **asked)

    return decided


RF_OVER_K = {"better": ["RF"], "than": ["K"]}


@pytest.mark.parametrize("better", [1, -1])
@pytest.mark.parametrize(
    ("gains", "on", "outcome"),
    [
        ([0.05, 0.04], "all", "holds"),
        ([0.05, 0.0001], "all", "leans for"),
        ([0.05, -0.0001], "all", "leans against"),
        ([0.05, -0.05], "all", "fails"),
        ([0.05, 0.04, -0.05], "most", "holds"),
        ([0.05, 0.0005, -0.0005, -0.0005], "most", "leans against"),
        ([0.05, -0.05, -0.04], "most", "fails"),
        ([0.05, -0.01], "average", "holds"),
        ([0.05, -0.0502], "average", "leans against"),
        ([0.01, -0.05], "average", "fails"),
    ],
)
def test_outcomes(decide, gains, on, outcome, better):
    assert decide(gains, better, over=on, **RF_OVER_K).outcome == outcome


NOT_WORSE = {"not_worse": ["RF"], "than": ["K"]}
ALIKE = {"indistinguishable": ["RF"], "than": ["K"]}
NEAR = {"as_good": ["RF"], "than": ["K"], "by": 0.02}
BEST = {"among_best": ["RF"], "over": "most"}


@pytest.mark.parametrize(
    ("asked", "gains", "outcome"),
    [
        (NOT_WORSE, [0.05, 0.04], "holds"),
        (NOT_WORSE, [0.05, 0.0], "not refuted"),
        (NOT_WORSE, [0.05, -0.05], "fails"),
        ({**NOT_WORSE, "over": 1}, [0.05, -0.05], "holds"),
        ({**NOT_WORSE, "margin": 0.0005}, [0.0, 0.0], "not refuted"),  # without power
        ({**RF_OVER_K, "over": 2}, [0.05, 0.04, -0.05], "holds"),
        (ALIKE, [0.0, 0.0], "not refuted"),
        (ALIKE, [0.0, 0.05], "fails"),
        *(
            ({**NEAR, "over": over}, [gain] * 2, outcome)
            for over in ("all", "average")
            for gain, outcome in ((-0.01, "holds"), (-0.03, "fails"), (-0.0201, "leans against"))
        ),
        (BEST, [0.05, 0.04, -0.05], "holds"),
        # not significantly worse is not shown to be as good, but for a margin
        (BEST, [0.05, 0.0, -0.05], "not refuted"),
        ({**BEST, "margin": 0.01}, [0.05, 0.0, -0.05], "holds"),
        (BEST, [0.05, -0.05, -0.05], "fails"),
        ({**BEST, "over": "all"}, [0.05, 0.0, -0.05], "fails"),
        # K scores 0.8 or so, RF 0.9
        ({"below": 1.05}, [0.1, 0.1], "holds"),
        ({"above": 0.6}, [0.1, 0.1], "holds"),
        ({"between": [0.7, 1]}, [0.1, 0.1], "holds"),
        ({"above": 0.85, "of": ["K", "RF"]}, [0.1, 0.1], "fails"),
        # of several methods the worst outcome counts
        ({"better": ["RF", "K"], "than": ["K"]}, [0.05], "leans against"),
        ({"better": ["K", "RF"], "than": ["RF"]}, [0.05], "fails"),
        # only the cells that are asked for count
        ({**RF_OVER_K, "where": {"dataset": "d0"}}, [0.05, -0.05, -0.05], "holds"),
        ({**RF_OVER_K, "where": {"dataset": ["d0", "d1"]}}, [0.05, -0.05, -0.05], "fails"),
    ],
)
def test_outcomes_of_all_questions(decide, asked, gains, outcome):
    found = decide(gains, **{"over": "all", **asked})
    assert found.outcome == outcome
    assert all(f"{name}: " in found.check for name in asked)


@pytest.mark.parametrize(("gain", "outcome"), [(0.05, "holds"), (-0.05, "fails")])
@pytest.mark.parametrize("check", [RF_OVER_K, {"among_best": ["RF"]}])
def test_what_another_processor_could_undo_is_not_decided(decide, gain, outcome, check):
    for drift, is_decided in ((0.01, True), (0.03, False)):
        found = decide([gain], drift=drift, over="all", **check)
        assert (found.outcome == outcome) == is_decided


def test_a_rival_that_never_ran_leaves_open_what_is_best(decide):
    asked = {"among_best": ["RF"], "over": "all"}
    assert decide([0.05, 0.05], **asked).outcome == "holds"
    assert decide([0.05, 0.05], never_run=["H0/1"], **asked).outcome == "not measured"


def test_cells_whose_methods_share_no_split_are_not_measured(decide):
    def half(runs):
        """K ran on the first splits of d1, RF on the others."""
        is_late = runs["split"] >= N_SPLITS // 2
        return (runs["dataset"] == "d0") | (is_late == (runs["method"] == "RF"))

    for over in ("all", "average"):
        assert decide([0.05, 0.05], over=over, **RF_OVER_K).outcome == "holds"
        found = decide([0.05, 0.05], over=over, select=half, **RF_OVER_K)
        assert found.outcome == "leans for"
        assert "not measured with all methods and values: d1" in found.numbers


@pytest.mark.parametrize("question", ["indistinguishable", "not_worse", "among_best"])
@pytest.mark.parametrize(
    ("gain", "outcome"), [(-0.03, "holds"), (-0.0501, "leans against"), (-0.08, "fails")]
)
def test_a_shown_difference_within_the_margin_does_not_refute(decide, question, gain, outcome):
    asked = {question: ["RF"], "margin": 0.05, "over": "all"}
    asked |= {} if question == "among_best" else {"than": ["K"]}
    assert decide([gain] * 3, **asked).outcome == outcome


def test_a_part_of_the_cells_is_where_a_method_is_ahead_of_all_others(config):
    """RF is ahead of K in d0 and d1, of H0/1 in d1 and d2."""
    gains = {"K": [0.05, 0.05, -0.05], "H0/1": [-0.05, 0.05, 0.05], "RF": [0.0] * 3}
    wobble = 0.001 * np.arange(N_SPLITS)
    runs = table(
        {(f"d{i}", m): 0.8 - gains[m][i] + wobble * (m == "RF") for m in gains for i in range(3)}
    )
    for over, outcome in ((1, "holds"), (2, "fails"), ("most", "fails")):
        asked = {"better": ["RF"], "than": ["K"]}
        assert decision(config, runs, ["d0", "d1", "d2"], over=2, **asked).outcome == "holds"
        asked["than"] = ["K", "H0/1"]
        found = decision(config, runs, ["d0", "d1", "d2"], over=over, **asked)
        assert found.outcome == outcome
        assert "RF against the best of K and H0/1: better in 1" in found.numbers


def test_to_be_ahead_of_the_nearest_is_not_to_be_ahead_of_all(config):
    """RF is ahead of K by a little on every split, of H0/1 by more on most."""
    gains = {"K": [0.01, 0.012] * 5, "H0/1": [0.2, -0.16] * 5, "RF": [0] * N_SPLITS}
    runs = table({("d", method): 0.8 - np.array(values) for method, values in gains.items()})
    for than, outcome in ((["K"], "holds"), (["K", "H0/1"], "leans for")):
        asked = {"better": ["RF"], "than": than, "over": "some"}
        assert decision(config, runs, ["d"], **asked).outcome == outcome


def test_one_of_two_comparisons_refutes_at_half_the_level(config):
    """RF is behind K by 2.45 standard errors: p = 0.037."""
    noise = np.random.default_rng(0).normal(size=N_SPLITS)
    behind = (noise - noise.mean()) / noise.std(ddof=1) + 2.45 / np.sqrt(N_SPLITS)
    gains = {"K": behind, "RF": 0 * noise, "H0/1": 0.1 * noise}
    runs = table({("d", method): 0.8 + 0.01 * gain for method, gain in gains.items()})
    for than, level, outcome in (
        (["K"], 0.05, "fails"),
        (["K", "H0/1"], 0.05, "not refuted"),
        (["K", "H0/1"], 0.1, "fails"),
    ):
        asked = {"not_worse": ["RF"], "than": than, "over": "all", "level": level}
        assert decision(config, runs, ["d"], **asked).outcome == outcome


def test_the_numbers_that_decided_are_named(decide):
    numbers = decide([0.05, -0.05], over="all", **RF_OVER_K).numbers
    for part in ("better in 1", "worse in 1 (d1 -0.05)", "+0.05 (d0)"):
        assert part in numbers
    assert "×1.99 (d0)" in decide([0.8], over="all", times=1.5, **RF_OVER_K).numbers


@pytest.mark.parametrize(
    ("level", "direction", "gain", "times", "outcome"),
    [
        (0.8, 1, 0.8, 1.5, "holds"),  # twice as much
        (0.8, 1, 0.8, 2.5, "fails"),
        (0.8, -1, 0.4, 1.5, "holds"),  # half as much
        (0.8, -1, 0.4, 2.5, "fails"),
        (-0.8, 1, 0.4, 1.5, "holds"),  # half a negative error
        (-0.8, 1, 0.4, 2.5, "fails"),
    ],
)
def test_a_factor(decide, level, direction, gain, times, outcome):
    asked = {**RF_OVER_K, "times": times, "over": "all"}
    assert decide([gain, gain], direction, level=level, **asked).outcome == outcome


def test_an_average_of_factors_takes_data_sets_of_unlike_scale_alike(config):
    """RF's error is half as large on one data set, and a tenth larger on one of large errors."""
    rng, values = np.random.default_rng(0), {}
    for dataset, error, factor in (("d0", 0.1, 0.5), ("d1", 100, 1.1)):
        one, other = rng.normal(1, 0.01, (2, N_SPLITS))
        values |= {(dataset, "K"): error * one, (dataset, "RF"): error * factor * other}
    runs, asked = table(values, "mse"), {"metric": "mse", "over": "average", **RF_OVER_K}
    for times, outcome in ((None, "fails"), (1, "holds"), (1.5, "fails")):
        found = decision(config, runs, ["d0", "d1"], times=times, **asked)
        assert found.outcome == outcome
        assert ("×1.3" in found.numbers) == (times is not None)  # (2 / 1.1) ** 0.5 = 1.35


@pytest.mark.parametrize("asked", [RF_OVER_K, NEAR, {"above": 0.1}, {**BEST, "over": "all"}])
def test_one_split_decides_nothing(config, asked):
    found = decision(config, table({("d0", "K"): [0.8], ("d0", "RF"): [0.9]}), ["d0"], **asked)
    assert found.outcome in ("leans for", "leans against")


def test_a_derived_metric_is_decided_split_by_split(config):
    """Both slow down threefold from split to split; RF is twice as fast on each."""
    seconds = np.array([1.0, 3.0, 9.0, 27.0])
    wobble = 1 + 0.01 * np.random.default_rng(0).normal(size=4)
    native = table({("d", "K"): 2 * seconds}, "native_predict_seconds")
    others = {("d", "K"): 0 * seconds + 100, ("d", "RF"): seconds * wobble}
    runs = pd.concat([native, table(others, "predict_seconds")]).assign(kernel="polynomial")

    def outcome(**asked):
        return decision(config, runs, ["d"], metric="speedup", over="all", **asked).outcome

    assert outcome(above=1.9) == "holds"
    assert outcome(above=2.1) == "fails"
    assert outcome(between=[1.9, 2.1], of=["RF"]) == "holds"
    assert outcome(above=1, of=["H0/1"]) == "not measured"


@pytest.mark.parametrize(
    ("over", "gains", "missing", "outcome"),
    [
        ("all", [0.05, 0.05], 0, "holds"),
        ("all", [0.05, 0.05], 1, "leans for"),
        ("all", [0.05, -0.05], 1, "fails"),
        ("all", [0.05, 0.05], "RF", "leans for"),
        ("average", [0.05, 0.05], "RF", "leans for"),
        ("some", [0.05, 0.05], "RF", "holds"),
        ("all_but_one", [0.05, 0.05], 6, "leans for"),  # two of eight
        ("some", [0.05], 6, "holds"),
        (5, [-0.05] * 7, 4, "fails"),
        ("most", [0.05, 0.05, -0.05], 1, "leans against"),  # three of four,
        ("average", [0.05, 0.04], 1, "leans for"),
    ],
)
def test_data_sets_that_are_missing_count(decide, over, gains, missing, outcome):
    """Some data sets were not measured, or one method not on the last of them."""

    def measured(runs):
        return (runs["method"] != missing) | (runs["dataset"] != f"d{len(gains) - 1}")

    absent = 0 if missing == "RF" else missing
    found = decide(gains, over=over, absent=absent, select=measured, **RF_OVER_K)
    assert found.outcome == outcome
    assert ("; not measured" in found.numbers) == bool(missing)


def test_a_label_that_one_method_lacks_parts_no_cells(config):
    runs = pd.concat(
        table({("d", method): level + 0.001 * np.arange(10)}).assign(n_components=size)
        for method, size, level in (("K", None, 0.8), ("RF", 10, 0.9), ("RF", 40, 0.95))
    )
    assert decision(config, runs, ["d"], among_best=["K"], over="all").outcome == "fails"
    both = runs.fillna({"n_components": 5})
    assert "`across`" in decision(config, both, ["d"], **RF_OVER_K).numbers


@pytest.mark.parametrize(
    ("reported", "asked", "words"),
    [
        ([0.05, 0.05], {"over": "all", **RF_OVER_K}, "agree: RF against K: in 2 of 2 cells"),
        ([0.05, -0.05], {"over": "all", **RF_OVER_K}, "contradict it: RF against K: in 1 of 2"),
        ([0.0, -0.05], {"not_worse": ["RF"], "than": ["K"], "margin": 0.06}, "agree"),
        ([0.0, -0.05], {"not_worse": ["RF"], "than": ["K"]}, ""),
        ([-0.05, 0.05], {"among_best": ["RF"], "over": "all", "margin": 0.01}, "contradict it"),
        ([-0.05, 0.05], {"among_best": ["RF"], "over": "all"}, ""),
        ([0.05, 0.05], {"above": 0.82, "of": ["K", "RF"], "over": "all"}, "contradict it"),
        ([0.05, 0.05], {"better": ["H0/1"], "than": ["K"]}, ""),
    ],
)
def test_a_claim_is_held_against_the_reported_numbers(config, reported, asked, words):
    cells = [(f"d{i}", method, gain) for i, gain in enumerate(reported) for method in ("K", "RF")]
    paper = table({(d, method): [0.8 + gain * (method == "RF")] for d, method, gain in cells})
    found = decision(config, paper[:0], ["d0", "d1"], paper, **asked)
    assert found.outcome == "not measured"
    assert found.on_reported.startswith(words and f"the paper's own numbers {words}")
    assert bool(found.on_reported) == bool(words)
