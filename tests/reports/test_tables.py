import io

import numpy as np
import pandas as pd
import pytest
from rich.console import Console

from kernlearn.config import load_config
from kernlearn.config.model import TableSpec
from kernlearn.engine import make_plan
from kernlearn.reports import build_tables, summarise
from kernlearn.reports.summary import tidy_runs
from kernlearn.reports.tables import (
    SYMBOLS,
    Cell,
    Table,
    columns,
    format_number,
    to_csv,
    to_latex,
    to_markdown,
    to_rich,
)
from kernlearn.reports.verdicts import VERDICTS
from tests.engine.stores import row_of


@pytest.fixture
def summary():
    nan = np.nan
    rows = [
        ("moons", "polynomial", "K", None, "accuracy", 0.95, 0.01, 0.94, "match"),
        ("moons", "polynomial", "K", None, "fit_seconds", 0.01234, 0.01, 18.6, ""),
        ("moons", "polynomial", "RF", 10, "accuracy", 0.8, nan, 0.9, "worse"),
        ("moons", "polynomial", "RF", 10, "speedup", 229.4, nan, nan, ""),
        ("rings & co", "polynomial", "K", None, "accuracy", nan, nan, 0.97, "not run"),
    ]
    names = [
        "dataset",
        "kernel",
        "method",
        "n_components",
        "metric",
        "mean",
        "std",
        "reported_mean",
        "verdict",
    ]
    return pd.DataFrame(rows, columns=names)


def test_rows_columns_and_cells(summary, config):
    (table,) = build_tables(summary, config)
    assert table.row_heads == ["dataset", "method", "D"]
    assert table.heads == ["accuracy", "fit s", "speedup"]
    assert [labels for labels, _ in table.rows] == [
        ["moons", "K", ""],
        ["moons", "RF", "10"],
        ["rings & co", "K", ""],
    ]
    assert [str(c) for c in table.rows[0][1]] == ["0.950 ± 0.010 (0.940) ✓", "0.0123 (18.6)", "–"]
    assert [str(c) for c in table.rows[1][1]] == ["0.800 (0.900) ▼", "–", "229"]
    assert [str(c) for c in table.rows[2][1]] == ["– (0.970)", "–", "–"]


def test_a_time_is_a_median_with_its_interval(summary, config):
    rows = summary.assign(median=[np.nan, 0.012, np.nan, np.nan, np.nan], low=0.011, high=0.0139)
    rows.loc[rows["median"].isna(), ["low", "high"]] = np.nan
    (table,) = build_tables(rows, config)
    shown = table.rows[0][1][1]
    assert str(shown) == "0.0120 [0.0110–0.0139] (18.6)"
    assert (shown.number, shown.mean) == (0.012, 0.01234)
    assert table.rows[0][1][0].number == 0.95


def test_numbers_rise_whatever_the_order_they_came_in(summary, config):
    rows = pd.concat([summary.iloc[[2]].assign(n_components=n) for n in (100, 20, None, 3)])
    (table,) = build_tables(rows, config)
    assert [labels[2] for labels, _ in table.rows] == ["", "3", "20", "100"]


def test_methods_side_by_side(summary, small):
    # a list of numbers of features would be a label of rows
    config = load_config(small, profile="quick").config
    spec = config.table.model_copy(
        update={"rows": ["dataset"], "columns": ["method"], "metrics": ["accuracy"]}
    )
    (table,) = build_tables(summary, config.model_copy(update={"table": spec}))
    assert table.heads == ["K", "RF"]
    assert [str(c) for c in table.rows[0][1]] == ["0.950 ± 0.010 (0.940) ✓", "0.800 (0.900) ▼"]


def test_one_table_for_each_value(summary, config):
    spec = config.table.model_copy(update={"each": ["dataset"], "rows": ["method"]})
    tables = build_tables(summary, config.model_copy(update={"table": spec}))
    assert [t.title for t in tables] == [
        "A small experiment — moons",
        "A small experiment — rings & co",
    ]


@pytest.mark.parametrize(
    ("value", "metric", "text"),
    [
        (0.9384, "accuracy", "0.938"),
        (0.00123456, "fit_seconds", "0.00123"),
        (161.2, "fit_seconds", "161"),
        (12.0, "speedup", "12.0"),
        (np.nan, "accuracy", ""),
    ],
)
def test_numbers_have_the_digits_they_deserve(value, metric, text):
    assert format_number(value, metric) == text


def test_markdown(summary, config):
    lines = to_markdown(build_tables(summary, config)[0]).splitlines()
    assert lines[2] == "| dataset | method | D | accuracy | fit s | speedup |"
    assert lines[4] == "| moons | K |  | 0.950 ± 0.010 (0.940) ✓ | 0.0123 (18.6) | – |"


def test_latex_is_escaped_and_plain_ascii(summary, config):
    text = to_latex(build_tables(summary, config)[0])
    assert r"rings \& co" in text
    assert r"0.950 $\pm$ 0.010 (0.940) $\checkmark$" in text
    assert text.split("\n", 1)[1].isascii()


@pytest.mark.parametrize("verdict", VERDICTS)
def test_every_verdict_has_a_sign_of_its_own_that_latex_can_set(verdict):
    assert len({SYMBOLS[v] for v in VERDICTS}) == len(VERDICTS)
    table = Table("t", ["dataset"], ["accuracy"], [(["d"], [Cell("0.9", "0.8", verdict)])], [""])
    assert SYMBOLS[verdict] in to_markdown(table)
    assert to_latex(table).isascii()
    assert to_csv(table).splitlines()[1] == f"d,0.9,0.8,{verdict}"


def test_csv_keeps_measured_and_reported_apart(summary, config):
    frame = pd.read_csv(io.StringIO(to_csv(build_tables(summary, config)[0])))
    assert list(frame.columns) == [
        "dataset",
        "method",
        "D",
        "accuracy",
        "accuracy reported",
        "accuracy verdict",
        "fit s",
        "fit s reported",
        "speedup",
    ]
    assert frame.loc[0, "accuracy reported"] == 0.94
    assert frame.loc[1, "accuracy verdict"] == "worse"


def test_terminal_table_shows_every_cell_and_can_be_cut(summary, config):
    table = build_tables(summary, config)[0]
    console = Console(width=200, file=io.StringIO())
    console.print(to_rich(table))
    for labels, cells in table.rows:
        for text in (*labels, *map(str, cells)):
            assert text in console.file.getvalue()
    part = columns(table, 1, 2)
    assert part.heads == ["fit s"]
    assert all(len(cells) == 1 for _, cells in part.rows)


@pytest.fixture
def grouped(summary, config):
    """K is a baseline without a number of features; RF is best at 10 and at 20."""
    methods = {k: m.model_copy(update={"baseline": k == "K"}) for k, m in config.methods.items()}
    more = summary[summary["method"] == "RF"].assign(n_components=20)
    frame = pd.concat([summary, more], ignore_index=True)
    frame["best"] = frame["method"] == "RF"
    order = frame.sort_values("method", ascending=False, kind="stable")
    spec = config.table.model_copy(
        update={
            "each": ["n_components"],
            "rows": ["dataset"],
            "columns": ["method"],
            "metrics": ["accuracy"],
        }
    )
    return build_tables(order, config.model_copy(update={"table": spec, "methods": methods}))


def test_a_baseline_stands_in_every_table_under_its_heading(grouped):
    assert [t.title for t in grouped] == [
        "A small experiment — 10 features",
        "A small experiment — 20 features",
    ]
    for table in grouped:
        assert table.heads == ["RF", "K"]
        assert table.spans == [("", 1), ("baselines", 1)]
        assert columns(table, 1, 2).spans == [("baselines", 1)]
        assert [str(c) for c in table.rows[0][1]] == [
            "0.800 (0.900) ▼",
            "0.950 ± 0.010 (0.940) ✓",
        ]


def test_the_best_is_bold_in_every_format(grouped):
    table = grouped[0]
    assert "| **0.800 (0.900) ▼** |" in to_markdown(table)
    assert "K (baseline)" in to_markdown(table)
    assert r"\textbf{0.800 (0.900) $\blacktriangledown$}" in to_latex(table)
    frame = pd.read_csv(io.StringIO(to_csv(table)))
    assert list(frame["RF best"].fillna("")) == ["best", ""]
    console = Console(width=200, record=True, color_system="truecolor", file=io.StringIO())
    console.print(to_rich(table))
    text = console.export_text(styles=True)
    assert "baselines" in text
    assert "\x1b[1;33m0.800 (0.900) ▼" in text


def test_a_method_without_a_kernel_stands_among_the_others(tmp_path):
    path = tmp_path / "c.yaml"
    path.write_text(
        "title: t\n"
        "datasets: {moons: {generator: two_moons, n_samples: 60}, rings: {generator: rings}}\n"
        "kernels: {a: {kernel: gaussian}, b: {kernel: sigmoid}}\n"
        "methods: {BBS: {estimator: BBSClassifier, n_landmarks: 5},"
        " first: {estimator: DummyClassifier, baseline: true}}\n"
        "protocol: {splits: 1}\nmetrics: [accuracy]\n"
        "table: {each: [kernel], rows: [dataset, method]}\n"
    )
    plan = make_plan(load_config(path))
    results = {t.key: row_of(t, metrics={"accuracy": 0.5}) for t in plan.trials}
    summary = summarise(plan, tidy_runs(plan, results))
    for table in build_tables(summary, plan.experiment.config):
        assert [labels for labels, _ in table.rows] == [
            ["moons", "BBS"],
            ["moons", "first (baseline)"],
            ["rings", "BBS"],
            ["rings", "first (baseline)"],
        ]
    rows = TableSpec(rows=["kernel", "method"])
    (table,) = build_tables(summary, plan.experiment.config.model_copy(update={"table": rows}))
    assert [labels[0] for labels, _ in table.rows] == ["a", "b", ""]
