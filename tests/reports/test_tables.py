"""Tables: layouts, formats, and what does not fit."""

import io

import numpy as np
import pandas as pd
import pytest

from kernlearn.config.model import TableSpec
from kernlearn.reports import build_tables
from kernlearn.reports.tables import (
    Cell,
    Table,
    format_number,
    make_cell,
    to_csv,
    to_latex,
    to_markdown,
)
from kernlearn.reports.verdicts import SYMBOLS, VERDICTS


def tables(report, **layout):
    config = report.experiment.config
    methods = {"guess": config.methods["guess"], **config.methods}  # listed first
    spec = TableSpec(**{"rows": ["dataset", "method", "n_components"], **layout})
    return build_tables(
        report.cells, config.model_copy(update={"table": spec, "methods": methods})
    )


def test_rows_columns_and_cells(report):
    (table,) = report.tables
    assert table.row_heads == ["dataset", "method", "D"]
    assert table.heads == ["accuracy", "fit s", "fit speedup"]
    assert [labels for labels, _ in table.rows][:5] == [
        ["spambase", "K", ""],
        ["spambase", "RF", "100"],
        ["spambase", "RF", "500"],
        ["spambase", "H0/1", "50"],
        ["spambase", "guess (baseline)", ""],
    ]
    assert table.missing == ("not measured: nursery",)
    row = report.cells[(report.cells["method"] == "K") & (report.cells["metric"] == "accuracy")]
    first = row[row["dataset"] == "spambase"].iloc[0]
    text = f"{first['mean']:.3f} ± {first['std']:.3f} ({first['reported_mean']:.3f})"
    assert str(table.rows[0][1][0]) == f"{text} {SYMBOLS[first['verdict']]}"


def test_methods_side_by_side_with_baselines_last_unless_too_wide(report):
    sides = {"rows": ["dataset"], "columns": ["method", "n_components"]}
    (table,) = tables(report, **sides, metrics=["accuracy"])
    assert table.heads == ["K", "RF 100", "RF 500", "H0/1 50", "guess (baseline)"]
    assert table.varied == "number of features D"
    (table,) = tables(report, **sides)
    assert table.row_heads == ["method", "D"]
    metrics = ("accuracy", "fit s", "fit speedup")
    assert table.heads == [f"{d} {m}" for d in ("spambase", "cod_rna") for m in metrics]
    (table,) = tables(report, **{**sides, "rows": ["dataset", "kernel"]})
    assert len(table.heads) <= 8


def test_one_table_for_each_value(report):
    found = tables(report, each=["n_components"], rows=["dataset", "method"])
    titles = [table.title.rpartition(" — ")[2] for table in found]
    assert titles == ["100 features", "500 features", "50 features"]
    # methods without the parameter stand in each
    assert all(["spambase", "K"] in [labels for labels, _ in t.rows] for t in found)


def test_numbers_have_the_digits_that_suit_them():
    texts = {
        (0.9384, "accuracy"): "0.938",
        (0.00123456, "fit_seconds"): "0.00123",
        (161.2, "fit_seconds"): "161",
        (12.0, "speedup"): "12.0",
        (12.0, "comparisons"): "12",
        (-0.000213, "neg_mean_squared_error"): "-0.000213",
        (np.nan, "accuracy"): "",
    }
    assert {number: format_number(*number) for number in texts} == texts
    row = {"mean": 0.01234, "median": 0.012, "low": 0.011, "high": 0.0139, "verdict": ""}
    assert str(make_cell(row, "fit_seconds")) == "0.0120 [0.0110–0.0139]"
    assert str(make_cell({**row, "not_converged": 2}, "fit_seconds")).endswith("!")


STRANGE = Table(
    "t",
    ["=label"],
    ["a|b", "c & d"],
    [(["x_1 & co|"], [Cell("0.9", "± 0.1", "0.8", "match", True), Cell("0.5")])],
)


def test_markdown_and_latex_and_csv_are_escaped():
    _, _, *lines = to_markdown(STRANGE).splitlines()
    assert lines == [
        r"| =label | a\|b | c & d |",
        "| --- | ---: | ---: |",
        r"| x\_1 & co\| | **0.9 ± 0.1 (0.8) ✓** | 0.5 |",
    ]
    nasty = "a\n\\input{x} <b> ![](u) `c` *d*"
    shown = r"a \\input{x} \<b\> !\[\](u) \`c\` \*d\*"
    title, _, *lines = to_markdown(
        Table(nasty, [nasty], [nasty], [([nasty], [Cell(nasty)])])
    ).splitlines()
    assert (title, lines[0], lines[2]) == (f"**{shown}**", *[f"| {shown} | {shown} |"] * 2)
    latex = to_latex(STRANGE)
    assert r"\begin{tabular}{lrr}" in latex
    assert latex.splitlines()[3].count("&") == 3  # one of them escaped
    assert r"x\_1 \& co\textbar{}" in latex
    assert r"\textbf{0.9 $\pm$ 0.1 (0.8) $\checkmark$}" in latex
    assert latex.isascii()
    frame = pd.read_csv(io.StringIO(to_csv(STRANGE)))
    assert list(frame)[:3] == ["'=label", "a|b", "a|b reported"]
    assert frame.iloc[0].tolist()[1:5] == ["0.9 ± 0.1", 0.8, "match", "best"]


@pytest.mark.parametrize("verdict", VERDICTS)
def test_every_verdict_has_a_sign_of_its_own_that_latex_can_set(verdict):
    assert len(set(SYMBOLS.values())) == len(VERDICTS)
    table = Table("t", ["d"], ["a"], [(["x"], [Cell("0.9", "", "0.8", verdict)])])
    assert SYMBOLS[verdict] in to_markdown(table)
    assert to_latex(table).isascii()
