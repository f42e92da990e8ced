"""``docs/claims.md`` lists the claims of all configs, and the sentences that have no check.

``python -m tests.reports.test_claims_doc`` writes it.
"""

from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path

import yaml

from kernlearn.config import load_config
from kernlearn.reports.claims import check_text
from tests.shipped import NEEDED

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "claims.md"
WITHOUT_CHECK = ROOT / "docs" / "claims_without_check.yaml"
THESIS, VOTED = "Kar (2013)", "Cortes, Goyal, Kuznetsov & Mohri (2015)"
HEAD = """\
# The papers' claims

Every sentence of the papers' experimental sections that states a result is a claim under
`claims:` in a config, but for those listed at the end of each paper, with the reason. This page
is generated from the configs by `python -m tests.reports.test_claims_doc`.

A check compares on the same splits, at level 0.05 for all of its cells together; a cell is a
data set with a kernel and parameters. `kernlearn/reports/significance.py` documents the tests.
A report shows the outcome of each claim and the numbers that decide it:

- *holds*: shown by the tests. An equality is shown by an equivalence test, with the margin that
  the check states.
- *not refuted*: the claim says that there is no difference, and the tests find none. This does not
  show that there is none.
- *leans for*, *leans against*: neither shown nor refuted; the means alone would agree, or not.
- *fails*: refuted by the tests.
- *not measured*: no data.

A data set that could not be measured counts as one in which nothing is known: a claim about all
data sets does not hold on those that are there. Every claim is also held against the numbers
that the paper itself reports, and a page says where these contradict it. A sentence that several
experiments test counts once, with its worst outcome. The papers' words are interpreted as follows:

- *all*, *each*: in all cells; *almost always*, *almost all*: in at least four fifths of them;
  *some*: in at least one; *consistently*, or no word at all: in most cells, or on average.
- *superior*, *better*: shown to be; *did not*, *no difference*: refuted where one is shown, and
  shown where the interval lies within the margin.
- *competitive*: shown to be no more than two points of accuracy or AUC behind; *much higher*:
  more than two points ahead.
- Where the paper gives no number for *moderate*, *slightly* or *spectacular*, the claim states
  in brackets which one is used.
"""


@cache
def claims() -> list[tuple[str, ...]]:
    """Return the paper, section, sentence, config and check of every claim."""
    found = []
    for path in sorted((ROOT / "configs").glob("*.yaml")):
        if path.stem.startswith("demo_") or path.stem in NEEDED:
            continue  # the same claims, on other data than the papers'; and those without claims
        config = load_config(path).config
        for claim in config.claims:
            paper = config.source.partition(")")[0] + ")"
            found.append((paper, claim.section, claim.says, path.stem, check_text(claim.check)))
    return found


def without_check():
    """Yield the paper, section, sentence and reason of every sentence that has no check."""
    for entry in yaml.safe_load(WITHOUT_CHECK.read_text(encoding="utf-8")):
        yield entry["paper"], entry["section"], entry["says"], entry["why"]


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    lines = [heads, ["---"] * len(heads), *rows]
    return [f"| {' | '.join(cell.replace('|', '/') for cell in line)} |" for line in lines]


def page() -> str:
    def place(row: Sequence[str]) -> list[int]:
        return [int(part) for part in row[0].partition(",")[0].split(".")]

    lines = [HEAD]
    for paper in (THESIS, VOTED):
        rows = [
            (section, says, f"[{config}](../configs/{config}.yaml)", check)
            for of, section, says, config, check in claims()
            if of == paper
        ]
        heads = ("section", "claim", "config", "check")
        lines += [f"## {paper}", "", *table(heads, sorted(rows, key=place)), ""]
        rows = [tuple(rest) for of, *rest in without_check() if of == paper]
        lines += ["Without a check:", "", *table(("section", "sentence", "why"), rows), ""]
    return "\n".join(lines)


def test_the_page_is_that_of_the_configs():
    assert PAGE.read_text(encoding="utf-8") == page()


def test_every_section_with_results_has_checks():
    sections = {(paper, section) for paper, section, *_ in claims()}
    experimental = ("3.6.1", "3.6.2", "3.6.3", "4.3.1", "4.3.2", "4.3.3", "5.4", "6.8", "6.13")
    assert {(THESIS, section) for section in experimental} <= sections
    assert (VOTED, "6") in sections
    assert {paper for paper, *_ in [*sections, *without_check()]} == {THESIS, VOTED}


def test_no_claim_stands_twice_in_a_config():
    said = [(config, says) for _, _, says, config, _ in claims()]
    assert len(said) == len(set(said))


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
