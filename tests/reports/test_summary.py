"""From numbers to cells, and from files back: against means worked out one by one."""

import json
from contextlib import nullcontext
from dataclasses import replace
from itertools import product
from pathlib import Path
from shutil import copy
from statistics import fmean, median, stdev

import numpy as np
import pandas as pd
import pytest

from kernlearn.cli.app import stored_plans
from kernlearn.config import load_config
from kernlearn.config.claims import Claim
from kernlearn.engine import make_plan, run_plan
from kernlearn.exceptions import ReportError, SummaryError
from kernlearn.reports import assemble, report_rows, summarise, write_summary
from kernlearn.reports.answers import outcome, totals
from kernlearn.reports.report import NO_CONFIG, read_report, read_reports
from kernlearn.reports.tables import to_markdown
from kernlearn.store import Store


def cell(frame, **labels):
    for label, value in labels.items():
        frame = frame[frame[label].isna() if value is None else frame[label] == value]
    (row,) = frame.to_dict("records")
    return row


def test_every_mean_is_that_of_its_splits(report, rows):
    cells = report.cells
    labels = ["dataset", "kernel", "method", "n_components", "metric"]
    groups = list(rows.groupby(labels, dropna=False))
    for names, group in groups:
        values = group["value"].tolist()
        place = {k: None if pd.isna(v) else v for k, v in zip(labels, names, strict=True)}
        row = cell(cells, **place)
        assert row["mean"] == pytest.approx(fmean(values))
        assert row["std"] == pytest.approx(stdev(values))
        assert row["n_splits"] == 5
        if place["metric"].endswith("_seconds"):
            assert (row["median"], row["low"], row["high"]) == pytest.approx(
                (median(values), min(values), max(values))
            )
    measured = cells[cells["mean"].notna() & ~cells["metric"].str.contains("speedup")]
    assert len(measured) == len(groups)


@pytest.mark.parametrize(("column", "value"), [("max_features", "sqrt"), ("std", 1)])
def test_numbers_stay_with_their_parameters(tmp_path, column, value):
    """A ratio is one on the same data, a reported number that of one cell."""
    (tmp_path / "own.yaml").write_text(
        "{title: t, datasets: {d: {generator: two_moons, noise: [0.1, 0.3]}}, reported: r.csv,\n"
        "methods: {K: {estimator: LinearSVM}, T: {max_features: [sqrt, 3],\n"
        "estimator: sklearn.tree.DecisionTreeClassifier}}, metrics: [accuracy],\n"
        "derived: {speedup: {ratio: fit_seconds, baseline: K}}}"
    )
    reported = f"metric,mean,method,dataset,noise,{column}\nfit_seconds,5,T,d,0.3,{value}\n"
    (tmp_path / "r.csv").write_text(f"{reported}fit_seconds,7,T,d,0.1,3\n")
    rows = [
        ("d", noise, *method, "fit_seconds", 0, noise * seconds)
        for noise in (0.1, 0.3)
        for *method, seconds in (("K", None, 6), ("T", "sqrt", 3), ("T", 3, 2))
    ]
    names = ["dataset", "noise", "method", "max_features", "metric", "split", "value"]
    with nullcontext() if column != "std" else pytest.raises(ReportError, match="several cells"):
        frame = pd.DataFrame(rows, columns=names)
        cells = report_rows(load_config(tmp_path / "own.yaml"), frame).cells
        ratios = cells.loc[cells["metric"] == "speedup", "mean"].tolist()
        assert ratios == pytest.approx([2, 3] * 2)
        assert cell(cells, max_features=3, reported_mean=7)["mean"] == pytest.approx(0.2)


def test_methods_of_equal_ranks_are_named_together(tmp_path):
    methods = "{A: {estimator: DummyClassifier}, B: {estimator: LinearSVM}, C: {estimator: SVC}}"
    text = f"{{title: t, datasets: [iris, letter], methods: {methods}, metrics: [accuracy]}}"
    (tmp_path / "own.yaml").write_text(text.replace("SVC", "SVC, kernel: rbf"))
    places = product(["iris", "letter"], "ABC", range(5))
    rows = [(d, m, "accuracy", s, 0.8 + (m < "C") / 9) for d, m, s in places]
    frame = pd.DataFrame(rows, columns=["dataset", "method", "metric", "split", "value"])
    own = load_config(tmp_path / "own.yaml")
    assert "2 data sets: A, B, then C" in outcome(report_rows(own, frame))
    # a method that lacks a data set is not ranked, and the sentence says so
    assert " that have all: A, B" in outcome(report_rows(own, frame[:-5]))


def test_reported_numbers_stand_beside_their_cells(report):
    cells = report.cells
    asked = {"method": "RF", "metric": "accuracy"}
    row = cell(cells, dataset="cod_rna", n_components=500, **asked)
    paper = pd.read_csv(report.experiment.config.reported_path)
    paper = paper[(paper["dataset"] == "cod_rna") & (paper["kernel"] == "polynomial")]
    paper = cell(paper, n_components=500, **asked)
    assert row["reported_mean"] == paper["mean"]
    assert row["verdict"] in ("match", "better", "worse")
    assert cell(cells, dataset="cod_rna", n_components=100, **asked)["verdict"] == ""
    missing = cells[(cells["dataset"] == "nursery") & (cells["metric"] == "accuracy")]
    assert set(missing["verdict"]) == {"not run"}
    assert json.loads(row["params"]) == {"n_components": 500}
    assert not cells.loc[cells["method"] == "guess", "best"].any()
    assert cells["best"].any()
    splits, is_small = report.splits, report.splits["n_components"] == 100
    worse = splits.assign(value=splits["value"].mask(is_small, 0.1))
    best = summarise(worse, report.experiment).groupby(["method", "n_components"])["best"].any()
    assert best["RF", 500]
    assert not best["RF", 100]
    assert not summarise(splits, report.experiment, splits[:0])["best"].any()
    assert not summarise(splits.assign(drift=1.0), report.experiment)["best"].any()


def test_a_written_summary_gives_the_same_report(report, held, tmp_path):
    selected = '{"C":10}'
    report = replace(report, splits=report.splits.assign(selected=selected))
    first = write_summary(report, tmp_path).read_bytes()
    assert write_summary(report, tmp_path).read_bytes() == first
    again = read_report(held, tmp_path)
    pd.testing.assert_frame_equal(again.cells, report.cells, rtol=1e-4)
    is_score = report.cells["metric"] == "accuracy"  # times have six digits
    pd.testing.assert_frame_equal(again.cells[is_score], report.cells[is_score], rtol=1e-14)
    assert set(again.splits["selected"]) == {selected}
    for k in ("claims", "differences", "chances"):
        pd.testing.assert_frame_equal(getattr(again, k), getattr(report, k))
    assert [*map(to_markdown, again.tables)] == [*map(to_markdown, report.tables)]
    assert again.remarks == report.remarks
    assert totals([again]).in_words() == totals([report]).in_words()
    (found,), skipped = read_reports(tmp_path, [held])
    assert (found.cells.equals(again.cells), skipped) == (True, [])
    for end in ("csv.gz", "json"):
        (tmp_path / f"gone.{end}").write_bytes((tmp_path / f"held.{end}").read_bytes())
    assert [one.name for one in read_reports(tmp_path)[1]] == ["gone", "held"]
    with pytest.raises(
        SummaryError, match=r"table3_1.json: no such file; summaries here: gone, held"
    ):
        read_reports(tmp_path, ["table3_1"])


def test_a_smaller_profile_is_written_without_what_is_not_compared(held, rows, tmp_path):
    quick = report_rows(load_config(held, profile="quick"), rows)
    table = pd.read_csv(write_summary(quick, tmp_path))
    assert "accuracy" in table
    assert not {"selected", "fit_seconds", "predict_seconds"} & {*table}


@pytest.mark.parametrize(("values", "remarks"), [([1e4, 1e5, 1e6], 1), ([1e-6, 1e-5, 10, 1e6], 0)])
def test_a_list_that_ends_too_early_is_a_remark(tmp_path, values, remarks):
    config = tmp_path / "short.yaml"
    method = f"{{estimator: Ridge, alpha: {{select: {values}}}}}"
    method += ", failing: {estimator: sklearn.svm.SVR, kernel: precomputed}"
    config.write_text(
        f"title: t\ntask: regression\ndatasets: [diabetes_sklearn]\nmethods: {{ridge: {method}}}\n"
        "protocol: {splits: 3, train: 0.5, scale: [zscore]}\nmetrics: [mse]\n"
        "table: {rows: [method]}\n"
    )
    plan = make_plan(load_config(config))
    with Store(tmp_path / "runs.sqlite") as store:
        run_plan(plan, store)
        notes = assemble(plan, store).remarks
    assert sum("ridge alpha low" in text for text in notes) == remarks
    assert sum("split 1 and 2 more" in text for text in notes) == 1  # one error, three trials


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"method": {"RF": "RFX"}}, "method is RFX; did you mean 'RF'.* --summary .* writes"),
        ({"n_components": {100: 101}}, "n_components is 101 for RF"),
        ({}, "no metric 'accuracyX'"),
    ],
)
def test_a_summary_of_another_config_is_refused(report, held, tmp_path, change, text):
    path = write_summary(report, tmp_path)
    table = pd.read_csv(path).replace(change)
    table = table if change else table.rename(columns={"accuracy": "accuracyX"})
    table.to_csv(path, index=False)
    with pytest.raises(ReportError, match=text):
        read_report(held, tmp_path)


def test_a_broken_summary_is_one_line(report, held, tmp_path):
    def refuses(message):
        with pytest.raises(SummaryError, match=message):
            read_report(held, tmp_path)

    refuses(r"held\.json: no such file")
    path = write_summary(report, tmp_path)
    whole = path.read_bytes()
    for content in (b"", b"a,b", whole[:200], whole[:-1] + b"x"):
        path.write_bytes(content)
        refuses("held.csv.gz: cannot be read")
    path.unlink()
    refuses("held.csv.gz: cannot be read")
    for text, message in (("{", "cannot be read"), ("[]", "expected"), ('{"profile": 1}', "exp")):
        (tmp_path / "held.json").write_text(text)
        refuses(f"held.json: {message}")


def test_labels_that_look_like_numbers_or_like_nothing_stay_texts(tmp_path):
    names = ["1", "1.0", "NA", "None", "=1"]
    methods = "".join(f'  "{name}": {{estimator: DummyClassifier}}\n' for name in names)
    config = tmp_path / "own.yaml"
    config.write_text(f"title: t\ndatasets: [iris]\nmethods:\n{methods}metrics: [accuracy]\n")
    rows = [("iris", name, "accuracy", split, 0.5) for name in names for split in range(2)]
    frame = pd.DataFrame(rows, columns=["dataset", "method", "metric", "split", "value"])
    write_summary(report_rows(load_config(config), frame), tmp_path)
    assert [*read_report(config, tmp_path).cells["method"]] == names


# ---- rows of any program ----


def test_rows_and_a_store_give_the_same_report(held, tmp_path):
    path = Path(copy(held, tmp_path))
    smaller = path.read_text().replace("splits: 5", "splits: 2").replace("[100, 500]", "[100]")
    path.write_text(smaller)
    experiment = load_config(path)
    plan = make_plan(experiment)
    with Store(tmp_path / "s.sqlite") as store:
        run_plan(plan, store)
        measured = assemble(plan, store)
        asked = "method == 'RF' and metric == 'accuracy' and n_splits > 0"
        drifts = measured.cells.query(asked).assign(drift=0.02, profile="full")
        drifts.to_csv(tmp_path / "processors.csv", index=False)
        moved = assemble(plan, store).cells.set_index("metric")
        assert moved["drift"].gt(0).tolist() == [
            cell in drifts.index for cell in measured.cells.index
        ]
        assert stored_plans(store) == ([], [("held", NO_CONFIG)])
        path.write_text(smaller.replace("splits: 2", "splits: 3"))
        part = assemble(make_plan(load_config(path)), store)
    assert set(part.cells["verdict"]) == {"", "not run"}
    assert set(part.claims["outcome"]) == {"not measured"}
    assert any("means lack splits" in text for text in part.remarks)
    file = tmp_path / "rows.csv"
    # as ten lines of any program write them
    columns = ["dataset", "kernel", "method", "n_components", "metric", "split", "value"]
    plain = measured.splits[columns].assign(n_train=100, n_test=100 * measured.splits["ratio"])
    plain.to_csv(file, index=False)
    other = report_rows(experiment, pd.read_csv(file).assign(repetition=0))
    pd.testing.assert_frame_equal(other.cells, measured.cells, check_dtype=False)
    assert set(measured.cells["verdict"]) > {""}
    assert set(measured.splits["ratio"]) == {0}  # new data for every split
    for part in ("claims", "differences", "chances"):
        pd.testing.assert_frame_equal(getattr(other, part), getattr(measured, part))


def test_the_results_of_benchopt_are_rows(report, rows):
    """In the layout of the Parquet files of version 1.10."""
    labels = ["dataset", "method", "n_components", "split"]
    wide = rows.pivot(index=labels, columns="metric", values="value").reset_index()
    named = ["dataset_name", "solver_name", "p_solver_n_components", "idx_rep"]
    named = dict(zip(labels, named, strict=True)) | {"fit_seconds": "time"}
    runs = wide.rename(columns={**named, "accuracy": "objective_accuracy"}).assign(
        dataset_name=wide["dataset"] + "[n=3]",
        solver_description="",
        stop_val=2,
        objective_value=1.0,
        objective_n_train=80,
        objective_n_test=20,
    )
    worse = runs.assign(stop_val=1, objective_accuracy=0.1)
    config = report.experiment.config.model_copy(update={"kernels": {}})
    plain = report.experiment.model_copy(update={"config": config})
    of_benchopt = report_rows(plain, pd.concat([runs, worse]))
    old = runs.rename(columns={"dataset_name": "data_name"})
    old = report_rows(plain, old[old["idx_rep"] == 0].drop(columns="idx_rep"))
    assert old.cells["mean"].notna().sum() == of_benchopt.cells["mean"].notna().sum()
    assert set(of_benchopt.splits["ratio"]) == {0.25, 0}
    found = of_benchopt.cells
    names = ["dataset", "method", "n_components", "metric"]
    same = report.cells.merge(found, on=names, suffixes=("", "_of_benchopt"))
    same = same[same["metric"].isin(["accuracy", "fit_seconds"]) & same["mean"].notna()]
    assert len(same) == 2 * 5 * 2
    assert same["mean_of_benchopt"].tolist() == pytest.approx(same["mean"].tolist())


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda f: f.drop(columns="metric"), "lack the column metric"),
        (lambda f: f.drop(columns="kernel"), "lack the column kernel"),
        (lambda f: f.replace({"method": {"RF": "R"}}), "row 16: method is R; did you mean 'RF'?"),
        (lambda f: f.replace({"dataset": {"cod_rna": "x"}}), "row 76: dataset is x"),
        (lambda f: f.replace({"kernel": {"polynomial": "poly"}}), "poly for K on .* 'polynomial'"),
        (lambda f: f.assign(kernel="polynomial"), "for guess on spambase; leave it empty"),
        (lambda f: f.replace({"n_components": {100: 101}}), "is 101 for RF on .*mean '100'"),
        (lambda f: f.replace({"metric": {"accuracy": "acuracy"}}), "no metric 'acuracy'"),
        (lambda f: pd.concat([f, f[:2]]), "2 numbers occur a second time, such as spambase"),
        (lambda f: f.assign(value=["x", *f["value"][1:]]), "row 1: value is x"),
        (lambda f: f.assign(value=[np.inf, *f["value"][1:]]), "row 1: value is inf, exp"),
        (lambda f: f.assign(metric=[np.nan, *f["metric"][1:]]), "no metric 'nan'"),
        (lambda f: f.drop(columns="n_components"), "components is missing for RF on .*: 100, 500"),
        (lambda f: f.assign(unit="%")[f["metric"] == "fit_seconds"], "unit is %"),
    ],
)
def test_rows_that_do_not_fit_are_refused(report, rows, change, message):
    with pytest.raises(ReportError, match=message):
        report_rows(report.experiment, change(rows))


@pytest.mark.parametrize(
    ("column", "values"),
    [
        ("split", (-1, 1.5, None, "")),
        ("n_train", (0, -5, None)),
        ("n_test", (-1, "")),
        ("unit", ("ms", "percent")),
        ("ratio", (-1.0, "x")),
        ("converged", ("False", 2)),
    ],
)
def test_entries_that_do_not_fit_are_refused(report, rows, column, values):
    for value in values:
        wrong = rows.assign(**{"n_train": 7, "n_test": 3, column: value})
        with pytest.raises(ReportError, match=f"row 1: {column} is {value}"):
            report_rows(report.experiment, wrong)


@pytest.mark.parametrize(
    ("metric", "value", "message"),
    [
        ("accuracy", 95, "accuracy is 95.0"),
        ("accuracy", -3, "accuracy is -3.0"),
        ("error_percent", 101, "not between 0 and 100"),
        ("fit_seconds", -1, "not 0 or more"),
        ("log_loss", -3, "not 0 or more"),
    ],
)
def test_impossible_values_are_refused(report, rows, metric, value, message):
    wrong = rows[rows["metric"] == "accuracy"].assign(metric=metric, value=0.5)
    wrong.iloc[3, wrong.columns.get_loc("value")] = value
    with pytest.raises(ReportError, match=f"row 4: .*{message}"):
        report_rows(report.experiment, wrong)


@pytest.mark.parametrize(
    ("metric", "mean", "std", "says"),
    [
        ("accuracy", 0.95, 1.5, "std is 1.5"),
        ("accuracy", 0.95, 0.5, "std is 0.5"),
        ("accuracy", 1.0, 0.001, ""),
        ("error_percent", 0.3, 0.01, "a hundredth of those measured"),
        ("error_percent", 29.0, 1.5, ""),
    ],
)
def test_reported_numbers_in_other_units_are_noticed(tmp_path, metric, mean, std, says):
    (tmp_path / "own.yaml").write_text(
        "{title: t, datasets: {d: {generator: rings}}, reported: r.csv,"
        f"methods: {{A: {{estimator: LinearSVM, C: [1, 2, 3]}}}}, metrics: [{metric}]}}"
    )
    reported = [f"d,A,{C},{metric},{mean},{std}" for C in (1, 2, 3)]
    (tmp_path / "r.csv").write_text("\n".join(["dataset,method,C,metric,mean,std", *reported]))
    value = 30.0 if metric == "error_percent" else 0.7
    labels = {"dataset": "d", "method": "A", "kernel": None, "metric": metric}
    rows = [{**labels, "C": C, "split": s, "value": value} for C in (1, 2, 3) for s in (1, 2)]
    experiment = load_config(tmp_path / "own.yaml")
    is_refused = says.startswith("std")
    with pytest.raises(ReportError, match=says) if is_refused else nullcontext():
        remarks = " ".join(report_rows(experiment, pd.DataFrame(rows)).remarks)
        assert ("compare the units" in remarks) == bool(says)
        assert says in remarks


def test_a_column_says_that_shares_are_in_per_cent(report, rows):
    is_share = rows["metric"] == "accuracy"
    values = rows["value"].mask(is_share, 100 * rows["value"]).astype(str)
    per_cent = rows.assign(value=values, unit=is_share.map({True: "%"}))
    found = report_rows(report.experiment, per_cent).cells
    pd.testing.assert_frame_equal(found, report.cells)


def test_rows_without_their_numbers_of_rows_have_those_of_the_protocol(report, rows):
    scores = report.splits["metric"] == "accuracy"
    assert report.splits.loc[scores, "ratio"].unique() == pytest.approx([0.4 / 0.6])
    counted = report_rows(report.experiment, rows.assign(n_train=80, n_test=20))
    assert set(counted.splits.loc[scores, "ratio"]) == {0.25}
    assert set(counted.splits.loc[~scores, "ratio"]) == {0}
    of_protocol = report_rows(report.experiment, rows.assign(n_train=80))
    for one, says in ((report, True), (of_protocol, True), (counted, False)):
        assert ("0.667 test rows to a training row" in " ".join(one.remarks)) == says


@pytest.mark.parametrize(("metric", "outcome"), [("fit_speedup", "holds"), ("accuracy", None)])
def test_costs_have_no_correction_for_shared_rows(report, rows, metric, outcome):
    """Speed-ups of 80 to 318 are three times and more, though most rows are test rows."""
    rng = np.random.default_rng(0)
    planted = rows[rows["metric"].isin(["accuracy", "fit_seconds"])]
    is_k, is_time = planted["method"] == "K", planted["metric"] == "fit_seconds"
    numbers = rng.uniform(80, 318, len(planted))
    planted = planted.assign(value=np.where(is_time, np.where(is_k, numbers, 1), numbers / 1e3))
    check = {"metric": metric, "above": 3 if outcome else 0.03, "over": "all", "of": ["RF"]}
    claim = Claim.model_validate({"says": "a", "check": check})
    datasets = {k: v for k, v in report.experiment.config.datasets.items() if k != "nursery"}
    changes = {"claims": [claim], "datasets": datasets}
    config = report.experiment.config.model_copy(update=changes)
    experiment = report.experiment.model_copy(update={"config": config})
    for n_test in (0, 60):
        found = report_rows(experiment, planted.assign(n_train=10, n_test=n_test)).claims
        assert found["outcome"].tolist() == [outcome or ("leans for" if n_test else "holds")]


@pytest.mark.parametrize(
    ("changes", "indicative"),
    [
        ({"profile": "quick"}, True),
        ({"settings": ["train=0.7", "threads=2"]}, True),
        ({"settings": ["seed=2", "protocol.threads=2", "splits=5"]}, False),
    ],
)
def test_numbers_of_another_protocol_are_marked_and_not_counted(held, rows, changes, indicative):
    found = report_rows(load_config(held, **changes), rows)
    assert found.experiment.indicative == indicative
    cells = [cell for table in found.tables for _, cells in table.rows for cell in cells]
    assert any(cell.verdict or cell.best for cell in cells) != indicative
    assert bool(totals([found]).in_words()) != indicative


def test_a_statement_of_the_page_itself_is_no_claim_of_the_paper(report):
    assert sum(totals([report]).claims.values()) == len(report.claims)
    own = replace(report, claims=report.claims.assign(of_paper=[True, False]))
    assert sum(totals([own]).claims.values()) == 1


def test_half_a_run_is_summarised_as_far_as_it_goes(report, rows):
    few = report_rows(report.experiment, rows[rows["split"] < 1])
    assert set(few.cells["n_splits"].dropna()) == {1}
    assert set(few.cells["verdict"]) == {"", "not run"}
    assert "30 of 30 means are of a single split: no intervals" in few.remarks
    is_k = (rows["method"] == "K") & (rows["dataset"] == "cod_rna")
    apart = report_rows(report.experiment, rows.assign(split=rows["split"] + 9 * is_k))
    remark = next(text for text in apart.remarks if "different splits" in text)
    assert remark.startswith("1 of 2 data sets")
    assert "on 1 some share none" in remark
    none = report_rows(report.experiment, rows[:0])
    assert none.cells["mean"].isna().all()
    assert set(none.claims["outcome"]) == {"not measured"}
    assert np.isnan(none.cells["std"].astype(float)).all()
