"""The README's numbers come from the committed results, and its examples run.

``python -m tests.test_readme`` writes the numbers anew.
"""

import doctest
import re
import textwrap
from functools import cache
from pathlib import Path

import pandas as pd

from kernlearn.config import load_config
from kernlearn.engine import make_plan
from kernlearn.reports.check import read_details, read_summary
from kernlearn.reports.claims import Decision
from kernlearn.reports.conclusions import Chance, Conclusion
from kernlearn.reports.totals import SCORES, Measured, Totals, total
from tests.marked_numbers import MARKED, MEASURED, rewritten, wrong_numbers

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"
MARKS = re.compile(r"(<!-- totals -->\n).*?(<!-- end -->)", re.DOTALL)
HEAD = re.compile(r"(<!-- head -->\n).*?(<!-- end -->)", re.DOTALL)

#: What is measured again, and by which experiments.
CHAPTERS = {
    "random Maclaurin features, chapter 3": ["table3_1", "figure3_1", "figure3_2"],
    "landmarks for classification, chapter 4": ["table4_1", "table4_2", "figure4_1", "figure4_2"],
    "landmarks for regression, chapter 5": [
        "table5_1a",
        "table5_1b",
        "figure5_2a",
        "figure5_2b",
        "figure5_3",
        "figure5_4",
        "ranking_mq2008",
    ],
    "learning from pairs, chapter 6": ["figure6_1", "figure6_2", "table6"],
    "voted kernels": ["vkr_table1", "vkr_gaussian", "vkr_table2"],
}

EXPERIMENTS = [name for chapter in CHAPTERS.values() for name in chapter]


def measured(name: str) -> Measured:
    """The committed results of an experiment, with the outcome of every claim of its config."""
    experiment, details = load_config(name), read_details(name, MEASURED)
    decided = {claim["says"]: Decision(**claim) for claim in details.get("claims", [])}
    return Measured(
        experiment,
        read_summary(name, MEASURED),
        [decided[claim.says] for claim in experiment.config.claims],
        [Conclusion(**one) for one in details.get("conclusions", [])],
        [Chance(**one) for one in details.get("chances", [])],
    )


@cache
def totals() -> Totals:
    """Verdicts and claims of the committed results, each config's rules applied anew."""
    return total(map(measured, EXPERIMENTS))


def head() -> str:
    """What came back, what did not and what is not known, in sentences."""
    return (
        "\n".join(
            textwrap.fill(f"- {text}", 104, subsequent_indent="  ") for text in totals().in_words()
        )
        + "\n"
    )


#: Heads of the README's table, with the outcomes that are counted under each.
COLUMNS = {
    "numbers": None,
    "match": ["match"],
    "within spread": ["match within spread"],
    "better": ["better"],
    "baseline better": ["baseline better"],
    "worse": ["worse"],
    "not comparable, not run": ["not comparable", "not run"],
    "differences": None,
    "shown": ["shown"],
    "not shown": ["not shown"],
    "reversed": ["reversed"],
    "not measured": ["not measured"],
    "claims": None,
    "hold": ["holds"],
    "not refuted": ["not refuted"],
    "lean": ["leans for", "leans against"],
    "fail": ["fails"],
    "not measured ": ["not measured"],
}


def counts(names: list[str]) -> list[int]:
    """The counts of :data:`COLUMNS` over some experiments."""
    some = totals() if names == EXPERIMENTS else total(map(measured, names))
    numbers = some.numbers[some.numbers["kind"] == SCORES]
    claims = some.overall_claims()
    frames = iter(
        (numbers, some.conclusions, pd.DataFrame([claims | {"claims": sum(claims.values())}]))
    )
    found = []
    for column, outcomes in COLUMNS.items():
        if outcomes is None:
            frame = next(frames)
            outcomes = ["reported" if column == "numbers" else column]
        found.append(int(frame[outcomes].sum().sum()))
    return found


def table() -> str:
    """The counts of every chapter, and of all."""
    lines = [f"| | {' | '.join(map(str.strip, COLUMNS))} |", "| --- |" + " ---: |" * len(COLUMNS)]
    for what, names in {**CHAPTERS, "**all**": EXPERIMENTS}.items():
        # a number that is not there is no zero that was found
        cells = [str(n) if n else "·" for n in counts(names)]
        lines.append(f"| {what} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def test_the_totals_are_those_of_the_committed_summaries():
    found = MARKS.search(README.read_text(encoding="utf-8"))
    assert found is not None
    assert found[0] == f"{found[1]}{table()}{found[2]}"
    found = HEAD.search(README.read_text(encoding="utf-8"))
    assert found is not None
    assert found[0] == f"{found[1]}{head()}{found[2]}"


def test_every_experiment_that_counts_is_in_the_totals():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    listed = re.search(r"^CONFIGS := ((?:.*\\\n)*.*)$", makefile, re.MULTILINE)
    assert listed is not None
    names = listed[1].replace("\\\n", " ").split()
    counted = {name for name in names if load_config(name).config.variant_of is None}
    assert sorted(EXPERIMENTS) == sorted(counted)
    by_column = dict(zip(COLUMNS, counts(EXPERIMENTS), strict=True))
    overall = totals().overall().set_index("kind").loc[SCORES]
    assert by_column["numbers"] == int(overall["reported"]) == 316
    verdicts = list(COLUMNS)[1:7]
    assert sum(by_column[name] for name in verdicts) == 316
    for name in ("match", "better", "baseline better", "worse"):
        assert by_column[name] == int(overall[name])


def test_the_numbers_in_the_text_are_the_measured_ones():
    text = README.read_text(encoding="utf-8")
    assert len(MARKED.findall(text)) > 5
    assert wrong_numbers(text) == []


def test_the_examples_run():
    failures, count = doctest.testfile(str(README), module_relative=False, encoding="utf-8")
    assert count > 3
    assert failures == 0


def yaml_blocks(page: Path) -> list[str]:
    return re.findall(r"```yaml\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)


def test_the_config_of_four_lines_is_one(tmp_path):
    (block,) = yaml_blocks(README)
    assert block.count("\n") == 4
    (tmp_path / "mine.yaml").write_text(block)
    rows = [f"{i % 5},{i % 3},{'a' if i % 5 > 2 else 'b'}" for i in range(60)]
    (tmp_path / "mine.csv").write_text("\n".join(["x,z,label", *rows]) + "\n")
    plan = make_plan(load_config(tmp_path / "mine.yaml"))
    assert len(plan.trials) == 5
    assert {t.labels["method"] for t in plan.trials} == {"K"}
    # the methods of the page on configs, with the same data
    first, *_ = yaml_blocks(ROOT / "docs" / "configs.md")
    lines = block.splitlines(True)
    (tmp_path / "mine.yaml").write_text("".join([*lines[:2], first, lines[-1]]))
    plan = make_plan(load_config(tmp_path / "mine.yaml"))
    assert {t.labels["method"] for t in plan.trials} == {"K", "boosting", "SVC", "reduced"}
    assert len(plan.trials) == 30


def test_every_file_that_the_readme_names_is_there():
    text = README.read_text(encoding="utf-8")
    links = [t for t in re.findall(r"\]\(([^)#]+)\)", text) if "://" not in t]
    assert links
    for target in links:
        assert (ROOT / target).exists(), target


if __name__ == "__main__":
    text = rewritten(README.read_text(encoding="utf-8"))
    text = MARKS.sub(lambda m: m[1] + table() + m[2], text)
    README.write_text(HEAD.sub(lambda m: m[1] + head() + m[2], text), encoding="utf-8")
