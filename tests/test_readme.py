"""The README's table comes from the committed summary, and its examples run.

``python -m tests.test_readme`` writes the table anew.
"""

import doctest
import re
from pathlib import Path

import pandas as pd

from kernlearn.experiments import load_config, make_plan

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"
MARKS = re.compile(r"(<!-- table3_1 -->\n).*?(<!-- end -->)", re.DOTALL)
METHODS = ("K", "RF", "H0/1")


def table() -> str:
    """Accuracies in percent, measured and (reported); seconds of K and times faster."""
    frame = pd.read_csv(ROOT / "results" / "measured" / "table3_1.csv")
    frame = frame[frame["kernel"] == "polynomial"]

    def number(dataset: str, method: str, metric: str, column: str = "mean") -> float:
        row = frame[
            (frame["dataset"] == dataset)
            & (frame["method"] == method)
            & (frame["metric"] == metric)
        ]
        return row[column].item()

    heads = ["accuracy K", "RF", "H0/1", "K fits in", "RF", "H0/1", "K predicts in", "RF", "H0/1"]
    lines = [f"| data set | {' | '.join(heads)} |", "| --- |" + " ---: |" * len(heads)]
    for dataset in dict.fromkeys(frame["dataset"]):
        cells = [dataset]
        for method in METHODS:
            measured = number(dataset, method, "accuracy")
            reported = number(dataset, method, "accuracy", "reported_mean")
            cells.append(f"{100 * measured:.1f} ({100 * reported:.1f})")
        for seconds, speedup in (
            ("fit_seconds", "fit_speedup"),
            ("native_predict_seconds", "predict_speedup"),
        ):
            cells.append(f"{number(dataset, 'K', seconds):.2g} s")
            factors = [number(dataset, m, speedup) for m in METHODS[1:]]
            cells += [f"{f:.0f}×" if f >= 10 else f"{f:.1f}×" for f in factors]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def test_the_table_is_that_of_the_committed_summary():
    found = MARKS.search(README.read_text(encoding="utf-8"))
    assert found is not None
    assert found[0] == f"{found[1]}{table()}{found[2]}"


def test_the_examples_run():
    failures, count = doctest.testfile(str(README), module_relative=False, encoding="utf-8")
    assert count > 3
    assert failures == 0


def test_the_config_of_four_lines_is_one(tmp_path):
    (block,) = re.findall(r"```yaml\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    assert block.count("\n") == 4
    (tmp_path / "mine.yaml").write_text(block)
    rows = [f"{i % 5},{i % 3},{'a' if i % 5 > 2 else 'b'}" for i in range(60)]
    (tmp_path / "mine.csv").write_text("\n".join(["x,z,label", *rows]) + "\n")
    plan = make_plan(load_config(tmp_path / "mine.yaml"))
    assert len(plan.trials) == 5
    assert {t.labels["method"] for t in plan.trials} == {"K"}


def test_every_file_that_the_readme_names_is_there():
    text = README.read_text(encoding="utf-8")
    links = [t for t in re.findall(r"\]\(([^)#]+)\)", text) if "://" not in t]
    assert links
    for target in links:
        assert (ROOT / target).exists(), target


if __name__ == "__main__":
    text = README.read_text(encoding="utf-8")
    README.write_text(MARKS.sub(lambda m: m[1] + table() + m[2], text), encoding="utf-8")
